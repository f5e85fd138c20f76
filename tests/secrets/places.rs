//! The places of secrets: those that the descriptor tables know, and a list of others.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Map, Value, json};
use xdsctl_document::proto::pb::tables::{self, Cardinality, Kind, Message, WellKnown};

/// The resource types at which the walk over the tables starts.
const ROOTS: [&str; 4] = [
    "envoy.config.cluster.v3.Cluster",
    "envoy.config.listener.v3.Listener",
    "envoy.config.route.v3.RouteConfiguration",
    "envoy.config.endpoint.v3.ClusterLoadAssignment",
];

/// The message types that an Any may hold.
const PACKED: &[&str] = &[
    "envoy.extensions.filters.http.ext_authz.v3.ExtAuthz",
    "envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor",
    "envoy.extensions.filters.http.gcp_authn.v3.Audience",
    "envoy.extensions.filters.http.rbac.v3.RBAC",
    "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
    "envoy.extensions.grpc_service.call_credentials.access_token.v3.AccessTokenCredentials",
    "envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext",
    "envoy.extensions.transport_sockets.tls.v3.Secret",
    "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
];

/// A step from a resource to a field: a name, and for an Any the type in it.
#[derive(Clone, Debug)]
pub enum Step {
    Field(&'static str, bool, Option<&'static str>),
    Packed(&'static str),
}

/// The place of a secret: a way from a resource to a field.
#[derive(Clone, Debug)]
pub struct Target {
    root: &'static str,
    pub steps: Vec<Step>,
    pub is_bytes: bool,
}

/// Returns the shortest ways to the text fields of every message that has secret fields.
pub fn targets() -> Vec<Target> {
    let mut found = Vec::new();
    for root in ROOTS {
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        let mut open: VecDeque<(&'static Message, Vec<Step>)> = VecDeque::new();
        open.push_back((tables::message(root).unwrap(), Vec::new()));
        while let Some((message, steps)) = open.pop_front() {
            let holds = message.fields.iter().any(|field| !field.shown);
            // There are a few ways to a message that has a secret, and one to other messages.
            let count = seen.entry(message.full_name).or_default();
            *count += 1;
            if *count > if holds { 12 } else { 1 } {
                continue;
            }
            for field in message.fields {
                if field.deprecated && !holds {
                    continue;
                }
                let is_list = matches!(field.cardinality, Cardinality::Repeated);
                let (kind, key) = match field.cardinality {
                    Cardinality::Map { value, .. } => (value, Some("k")),
                    Cardinality::Singular | Cardinality::Repeated => (field.kind, None),
                };
                let mut way = steps.clone();
                way.push(Step::Field(field.name, is_list, key));
                match kind {
                    Kind::String | Kind::Bytes if !field.shown => found.push(Target {
                        root,
                        steps: way,
                        is_bytes: kind == Kind::Bytes,
                    }),
                    _ => {
                        let Some(below) = kind.message() else { continue };
                        match below.well_known {
                            WellKnown::None => open.push_back((below, way)),
                            WellKnown::Any => {
                                for name in PACKED {
                                    let mut way = way.clone();
                                    way.push(Step::Packed(name));
                                    open.push_back((tables::message(name).unwrap(), way));
                                }
                            }
                            _ => {}
                        }
                    }
                }
            }
        }
    }
    found
}

/// Makes the JSON of a resource with `leaf` at the end of the way, and `beside` next to it.
pub fn resource(target: &Target, name: &str, leaf: Value, beside: &[(String, Value)]) -> Value {
    let mut value = leaf;
    let mut is_first = true;
    for step in target.steps.iter().rev() {
        value = match step {
            Step::Packed(type_name) => {
                let mut map = Map::new();
                map.insert("@type".to_owned(), format!("type.googleapis.com/{type_name}").into());
                map.extend(value.as_object().cloned().unwrap_or_default());
                Value::Object(map)
            }
            Step::Field(field, is_list, key) => {
                let mut value = value;
                if let Some(key) = key {
                    value = json!({ *key: value });
                }
                if *is_list {
                    value = json!([value]);
                }
                let mut map = Map::new();
                if is_first {
                    map.extend(beside.iter().cloned());
                    is_first = false;
                }
                map.insert((*field).to_owned(), value);
                Value::Object(map)
            }
        };
    }
    let mut map = Map::new();
    map.insert(
        "@type".to_owned(),
        format!("type.googleapis.com/{}", target.root).into(),
    );
    map.insert(
        if target.root.ends_with("Assignment") {
            "cluster_name"
        } else {
            "name"
        }
        .to_owned(),
        name.into(),
    );
    map.extend(value.as_object().cloned().unwrap_or_default());
    Value::Object(map)
}

/// Places that the tables do not know; `$` stands for the secret.
pub const TEMPLATES: &[&str] = &[
    r#"{"@type":"R","name":"r","virtual_hosts":[{"name":"v","domains":["*"],"routes":[{"match":{"prefix":"","headers":[{"name":"authorization","string_match":{"exact":"Bearer $"}}]},"route":{"cluster":"c"}}]}]}"#,
    r#"{"@type":"R","name":"r","virtual_hosts":[{"name":"v","domains":["*"],"routes":[{"match":{"prefix":"","headers":[{"exact_match":"$","name":"X-Api-Key"}]},"route":{"cluster":"c"}}]}]}"#,
    r#"{"@type":"R","name":"r","virtual_hosts":[{"name":"v","domains":["*"],"routes":[{"match":{"prefix":"","headers":[{"name":"cookie","safe_regex_match":{"regex":"($"}}]},"route":{"cluster":"c"}}]}]}"#,
    r#"{"@type":"R","name":"r","virtual_hosts":[{"name":"v","domains":["*"],"routes":[{"match":{"prefix":"","headers":[{"name":"authorization","string_match":{"safe_regex":{"regex":"a{$"}}}]},"route":{"cluster":"c"}}]}]}"#,
    r#"{"@type":"R","name":"r","virtual_hosts":[{"name":"v","domains":["*"],"request_headers_to_add":[{"header":{"key":"x","value":"$"}}],"routes":[{"match":{"prefix":"/","cookies":[{"name":"n","string_match":{"exact":"$"}}]},"route":{"cluster":"c"}}]}]}"#,
    r#"{"@type":"C","name":"c","type":"EDS","eds_cluster_config":{"eds_config":{"ads":{}}},"metadata":{"filter_metadata":{"m":{"password":"$","user":"u"}}}}"#,
    r#"{"@type":"C","name":"c","type":"EDS","eds_cluster_config":{"eds_config":{"ads":{}}},"metadata":{"filter_metadata":{"m":{"a":{"client_secret":["$"]}}}}}"#,
    r#"{"@type":"C","name":"c","type":"EDS","eds_cluster_config":{"eds_config":{"ads":{}}},"metadata":{"typed_filter_metadata":{"m":{"@type":"type.googleapis.com/x.Y","api_key":"$"}}}}"#,
    r#"{"@type":"C","name":"c","type":"EDS","eds_cluster_config":{"eds_config":{"ads":{}}},"metadata":{"filter_metadata":{"m":{"url":"https://user:$@host/x"}}}}"#,
    r#"{"@type":"C","name":"c","type":"EDS","eds_cluster_config":{"eds_config":{"ads":{}}},"transport_socket":{"name":"t","typed_config":{"@type":"type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext","common_tls_context":{"tls_certificates":[{"pasword":{"inline_string":"$"}}]}}}}"#,
    r#"{"@type":"C","name":"c","type":"EDS","eds_cluster_config":{"eds_config":{"ads":{}}},"transport_socket":{"name":"t","typed_config":{"@type":"type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext","common_tls_context":{"tls_certificates":[{"private_ky":"$"}]}}}}"#,
    r#"{"@type":"C","name":"c","type":"EDS","load_balancing_policy":{"policies":[{"typed_extension_config":{"name":"l","typed_config":{"@type":"type.googleapis.com/xds.type.v3.TypedStruct","type_url":"type.googleapis.com/x.Y","value":{"token":"$"}}}}]},"eds_cluster_config":{"eds_config":{"ads":{}}}}"#,
    // These names are harmless elsewhere, but here no descriptor has them.
    r#"{"@type":"C","name":"c","type":"EDS","eds_cluster_config":{"eds_config":{"ads":{}}},"metadata":{"filter_metadata":{"m":{"name":"$","address":{"path":["$"]},"$":1,"port":{"$":true}}}}}"#,
    r#"{"@type":"C","name":"c","type":"EDS","eds_cluster_config":{"eds_config":{"ads":{}}},"metadata":{"typed_filter_metadata":{"m":{"@type":"type.googleapis.com/x.Y","name":"$","domains":["$"]}}}}"#,
    r#"{"@type":"C","name":"c","type":"EDS","eds_cluster_config":{"eds_config":{"ads":{}}},"load_balancing_policy":{"policies":[{"typed_extension_config":{"name":"l","typed_config":{"@type":"type.googleapis.com/xds.type.v3.TypedStruct","type_url":"type.googleapis.com/ring_hash_experimental","value":{"minRingSize":"x","note":"$","deep":{"name":"$"}}}}}]}}"#,
    // These are many unknown names, some of them nearly known.
    r#"{"@type":"C","name":"c","type":"EDS","eds_cluster_config":{"eds_config":{"ads":{}}},"k1":"$","k2":"$","k3":"$","k4":"$","k5":"$","k6":"$","k7":"$","k8":"$","k9":"$","l1":"$","l2":"$","l3":"$","l4":"$","nam":"$","connect_timeot":"$","metdata":{"x":"$"}}"#,
    r#"{"@type":"R","name":"r","request_headers_to_ad":[{"header":{"key":"x","value":"$"}}],"virtual_hosts":[{"name":"v","domains":["*"],"bogus":{"prefix":"$"},"response_headers_to_add":[{"header":{"key":"x","valeu":"$"}}],"routes":[{"match":{"prefix":""},"route":{"cluster":"c"},"metadata":{"filter_metadata":{"m":{"prefix":"$"}}}}]}]}"#,
    // These look like credentials in a harmless field.
    r#"{"@type":"R","name":"r","virtual_hosts":[{"name":"v","domains":["*"],"bogus":1,"routes":[{"match":{"prefix":"https://h/?x=1&token=$"},"route":{"cluster":"c","bogus":1}},{"match":{"prefix":"Bearer $"},"bogus":2}]}]}"#,
    r#"{"@type":"C","name":"https://user:$@host/c","bogus":1,"type":"EDS","eds_cluster_config":{"eds_config":{"ads":{}},"service_name":"Bearer $","bogus":2}}"#,
    r#"{"@type":"L","name":"l","api_listener":{"api_listener":{"@type":"type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager","rds":{"route_config_name":"r","config_source":{"ads":{}}},"http_filters":[{"name":"f","typed_config":{"@type":"type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC","rules":{"policies":{"p":{"permissions":[{"header":{"name":"x-auth-token","string_match":{"prefix":"$"}}}],"principals":[{"any":true}]}}}}},{"name":"r","typed_config":{"@type":"type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}]}}}"#,
    r#"{"@type":"L","name":"l","api_listener":{"api_listener":{"@type":"type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager","rds":{"route_config_name":"r","config_source":{"ads":{}}},"http_filters":[{"name":"f","typed_config":{"@type":"type.googleapis.com/x.OAuth2Credentials","x":"$"}},{"name":"r","typed_config":{"@type":"type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}]}}}"#,
];

pub const BOOTSTRAPS: &[&str] = &[
    r#"{"xds_servers":[{"server_uri":"a:1","channel_creds":[{"type":"google_default","config":{"token":"$"}}]}],"node":{"id":"n"}}"#,
    r#"{"xds_servers":[{"server_uri":"a:1","channel_creds":[{"type":"tls","config":{"x":"$"}}],"call_creds":[{"type":"jwt_token_file","config":{"jwt":"$"}}]}],"node":{"id":"n"}}"#,
    r#"{"xds_servers":[{"server_uri":"https://user:$@host:1","channel_creds":[{"type":"insecure"}]}],"node":{"id":"n","metadata":{"api_key":"$"}}}"#,
    r#"{"xds_servers":[{"server_uri":"a:1","channel_creds":[{"type":"insecure"}],"note":"$"}],"node":{"id":1,"metadata":{"name":"$"}},"other":["$"]}"#,
    r#"{"xds_servers":[{"server_uri":"a:1?token=$","channel_creds":"$"}],"node":{"id":"n"},"certificate_providers":{"p":{"plugin_name":"file_watcher","config":{"certificate_file":"c","pem":"$"}}}}"#,
];
