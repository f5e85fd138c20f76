//! The service config that the resolver hands to the channel: one cds policy for each cluster of the virtual host.
//!
//! The client pastes names into JSON text without escaping them, and parses the text. A name with a quotation mark makes
//! the text unreadable, one with a backslash names another child. Follows C-core `XdsResolver::CreateServiceConfig`
//! (xds_resolver.cc); timeouts and retries are in a config of each route, not here.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::build::{cds_policy, object, policy_list};
use crate::client::config::XdsConfig;
use crate::rpc::{CLUSTER_PREFIX, PLUGIN_PREFIX};
use xdsctl_clients::bootstrap::client_json::{self, Json};
use xdsctl_lb::cluster_manager;
use xdsctl_model::resource::route::{Action, Destination};
use xdsctl_model::status::{Code, Status};
use xdsctl_model::text::first_escaped;

/// Keys of the cluster manager with the config of each child as JSON.
fn children(config: &XdsConfig) -> BTreeMap<String, Value> {
    let mut children = BTreeMap::new();
    for route in config.virtual_host().into_iter().flat_map(|host| &host.routes) {
        let Action::Route(action) = &route.action else {
            continue;
        };
        match &action.destination {
            Destination::Cluster(name) => {
                children.insert(format!("{CLUSTER_PREFIX}{name}"), cds_policy(name));
            }
            Destination::WeightedClusters(entries) => {
                for entry in entries {
                    children.insert(format!("{CLUSTER_PREFIX}{}", entry.name), cds_policy(&entry.name));
                }
            }
            Destination::Plugin(name) => {
                let policy = config.route_config.cluster_specifier_plugins.get(name);
                let policy = policy.cloned().unwrap_or(Value::Null);
                children.insert(format!("{PLUGIN_PREFIX}{name}"), policy);
            }
        }
    }
    children
}

/// Generates the service config.
///
/// # Errors
/// The status of every RPC of the channel if the client cannot read its own text back.
pub fn generate(config: &XdsConfig) -> Result<Value, Status> {
    let children = children(config);
    if children.keys().all(|key| is_plain(key)) {
        let children: Map<String, Value> = children
            .into_iter()
            .map(|(key, policy)| (key, object([("childPolicy", policy)])))
            .collect();
        let manager = object([("children", Value::Object(children))]);
        return Ok(object([(
            "loadBalancingConfig",
            policy_list(cluster_manager::NAME, manager),
        )]));
    }
    let text = text(&children);
    let json = client_json::parse(text.as_bytes()).map_err(|fault| {
        let message = format!("JSON parsing failed: [JSON parse error at index {}]", fault.offset);
        Status::new(Code::InvalidArgument, message).from_control_plane("resolver")
    })?;
    Ok(to_value(json))
}

/// A name that JSON does not need to escape.
fn is_plain(name: &str) -> bool {
    first_escaped(name).is_none()
}

/// The text that the client writes, space by space: positions in it are quoted in its error message.
fn text(children: &BTreeMap<String, Value>) -> String {
    let mut text = String::from(
        "{  \"loadBalancingConfig\":[\n    { \"xds_cluster_manager_experimental\":{\n      \"children\":{\n",
    );
    for (number, (key, policy)) in children.iter().enumerate() {
        if number > 0 {
            text.push_str(",\n");
        }
        // Writing to a String cannot fail.
        let _ = match key.strip_prefix(CLUSTER_PREFIX) {
            Some(name) => write!(
                text,
                "      \"{key}\":{{\n        \"childPolicy\":[ {{\n          \"cds_experimental\":{{\n            \
                 \"cluster\": \"{name}\"\n          }}\n        }} ]\n       }}"
            ),
            None => write!(text, "      \"{key}\":{{\n        \"childPolicy\": {policy}\n       }}"),
        };
    }
    text.push_str("    }\n    } }\n  ]}");
    text
}

fn to_value(json: Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(value),
        Json::Number(text) => serde_json::from_str(&text).unwrap_or(Value::Null),
        Json::String(text) => Value::String(text),
        Json::Array(elements) => elements.into_iter().map(to_value).collect(),
        Json::Object(entries) => entries.into_iter().map(|(key, json)| (key, to_value(json))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(names: &[&str]) -> Result<Vec<String>, usize> {
        let children: BTreeMap<String, Value> = names
            .iter()
            .map(|name| (format!("{CLUSTER_PREFIX}{name}"), Value::Null))
            .collect();
        let text = text(&children);
        let json = client_json::parse(text.as_bytes()).map_err(|fault| fault.offset)?;
        let keys = to_value(json);
        let keys = keys
            .pointer("/loadBalancingConfig/0/xds_cluster_manager_experimental/children")
            .and_then(Value::as_object);
        Ok(keys.into_iter().flatten().map(|(key, _)| key.clone()).collect())
    }

    #[test]
    fn names_are_pasted_without_escapes() {
        assert_eq!(read(&["a b", "é{,"]).unwrap(), ["cluster:a b", "cluster:é{,"]);
        assert_eq!(read(&[r"a\nb"]).unwrap(), ["cluster:a\nb"]);
        assert!(read(&["a\"b"]).is_err());
        assert!(is_plain("é{,") && !is_plain("a\"") && !is_plain("\\") && !is_plain("\n"));
    }
}
