//! Makes the Listener of a server with RBAC policies.

use serde_json::{Value, json};

/// Makes a plaintext server with an RBAC filter for each `(name, action, policies)`, and one
/// virtual host with these routes.
pub fn listener(filters: &[(&str, &str, &Value)], routes: &Value) -> Value {
    let rbac = |(name, action, policies): &(&str, &str, &Value)| {
        json!({"name": name, "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC",
            "rules": {"action": action, "policies": policies},
        }})
    };
    let router = "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router";
    let router = json!({"name": "router", "typed_config": {"@type": router}});
    let filters: Vec<Value> = filters.iter().map(rbac).chain([router]).collect();
    json!({"resources": [{
        "@type": "type.googleapis.com/envoy.config.listener.v3.Listener",
        "name": "server",
        "address": {"socket_address": {"address": "0.0.0.0", "port_value": 8443}},
        "default_filter_chain": {"filters": [{"name": "manager", "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
            "http_filters": filters,
            "route_config": {"name": "r", "virtual_hosts": [{"name": "h", "domains": ["*"], "routes": routes}]},
        }}]},
    }]})
}

/// Makes one route, which matches every RPC.
pub fn any_route() -> Value {
    json!([{"match": {"prefix": ""}, "non_forwarding_action": {}}])
}
