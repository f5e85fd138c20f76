//! A small world in which every command works, in every format.

use serde_json::{Value, json};

use crate::run::run_with_exit;

fn type_url(name: &str) -> String {
    format!("type.googleapis.com/envoy.{name}")
}

/// Makes a Cluster without a fault.
pub fn cluster(name: &str) -> Value {
    json!({
        "@type": type_url("config.cluster.v3.Cluster"), "name": name, "type": "EDS",
        "eds_cluster_config": { "eds_config": { "ads": {} } },
    })
}

/// Makes the resources of a channel to cluster `a`, and `further` more clusters.
pub fn resources(further: usize) -> Vec<Value> {
    let router =
        json!({ "name": "r", "typed_config": { "@type": type_url("extensions.filters.http.router.v3.Router") } });
    let routes = json!({ "virtual_hosts": [{ "domains": ["*"], "routes": [
        { "match": { "prefix": "" }, "route": { "cluster": "a" } },
    ]}]});
    let endpoint =
        json!({ "endpoint": { "address": { "socket_address": { "address": "10.0.0.1", "port_value": 80 } } } });
    let mut resources = vec![
        json!({ "@type": type_url("config.listener.v3.Listener"), "name": "l", "api_listener": { "api_listener": {
            "@type": type_url("extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"),
            "route_config": routes, "http_filters": [router],
        }}}),
        cluster("a"),
        json!({
            "@type": type_url("config.endpoint.v3.ClusterLoadAssignment"), "cluster_name": "a",
            "endpoints": [{ "locality": {}, "load_balancing_weight": 1, "lb_endpoints": [endpoint] }],
        }),
    ];
    resources.extend((0..further).map(|number| cluster(&format!("further{number}"))));
    resources
}

/// Makes the world as a document.
pub fn document(further: usize) -> Value {
    json!({ "resources": resources(further) })
}

/// Writes a value in block style.
pub fn yaml(value: &Value) -> String {
    fn write(value: &Value, indent: usize, out: &mut String) {
        let pad = "  ".repeat(indent);
        match value {
            Value::Object(fields) if !fields.is_empty() => {
                for (key, value) in fields {
                    out.push_str(&format!("{pad}{}:", json!(key)));
                    below(value, indent, out);
                }
            }
            Value::Array(list) if !list.is_empty() => {
                for value in list {
                    out.push_str(&format!("{pad}-"));
                    below(value, indent, out);
                }
            }
            _ => out.push_str(&format!("{pad}{value}\n")),
        }
    }
    fn below(value: &Value, indent: usize, out: &mut String) {
        let is_block = value.as_object().is_some_and(|fields| !fields.is_empty())
            || value.as_array().is_some_and(|list| !list.is_empty());
        out.push_str(if is_block { "\n" } else { " " });
        write(value, if is_block { indent + 1 } else { 0 }, out);
    }
    let mut out = String::new();
    write(value, 0, &mut out);
    out
}

/// Writes the bytes in the format of `gzip`, stored without compression.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let bytes = &bytes[..bytes.len().min(usize::from(u16::MAX))];
    let length = u16::try_from(bytes.len()).unwrap();
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff, 1];
    out.extend(length.to_le_bytes());
    out.extend((!length).to_le_bytes());
    out.extend(bytes);
    out.extend([0; 4]);
    out.extend(u32::from(length).to_le_bytes());
    out
}

#[test]
fn every_format_of_the_world_works() {
    let world = document(2);
    for text in [world.to_string(), yaml(&world)] {
        let (exit, _, err) = run_with_exit(["pick", "-"], text.as_bytes());
        assert_eq!(
            exit,
            std::process::ExitCode::SUCCESS,
            "{}\n{text}",
            String::from_utf8_lossy(&err)
        );
    }
}
