//! A control plane's test: where does an RPC go, and what happens when a backend is drained?
//!
//! `cargo run --example send_rpc`

use serde_json::{Value, json};
use xdsctl::{Code, Rpc};

const TYPE: &str = "type.googleapis.com/envoy";

/// Makes the resources that a control plane under test would send for a service with these
/// backends, given by address and health.
fn snapshot(backends: &[(&str, &str)]) -> Value {
    let endpoint = |(address, health): &(&str, &str)| json!({"health_status": health, "endpoint": {"address": {"socket_address": {"address": address, "port_value": 80}}}});
    let endpoints: Vec<Value> = backends.iter().map(endpoint).collect();
    let manager = json!({
        "@type": format!("{TYPE}.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"),
        "http_filters": [{"name": "router", "typed_config": {"@type": format!("{TYPE}.extensions.filters.http.router.v3.Router")}}],
        "route_config": {"virtual_hosts": [{"domains": ["shop"], "routes": [
            {"match": {"prefix": "/shop.Cart/"}, "route": {"cluster": "cart"}}]}]},
    });
    json!([
        {"@type": format!("{TYPE}.config.listener.v3.Listener"), "name": "shop", "api_listener": {"api_listener": manager}},
        {"@type": format!("{TYPE}.config.cluster.v3.Cluster"), "name": "cart", "type": "EDS",
            "eds_cluster_config": {"eds_config": {"ads": {}}}},
        {"@type": format!("{TYPE}.config.endpoint.v3.ClusterLoadAssignment"), "cluster_name": "cart",
            "endpoints": [{"locality": {}, "load_balancing_weight": 1, "lb_endpoints": endpoints}]},
    ])
}

pub(crate) fn main() {
    let two = snapshot(&[("10.0.0.1", "HEALTHY"), ("10.0.0.2", "HEALTHY")]);
    let client = xdsctl::hold(json!({ "resources": two }).to_string()).expect("the document can be read");

    // One RPC, and one for which there is no route.
    let send = |method| xdsctl::send(client.clone(), "xds:///shop", method).expect("a target of xDS");
    let outcome = send("/shop.Cart/Get");
    println!("{} from {:?}", outcome.code, outcome.backend);
    assert_eq!(outcome.code, Code::Ok);
    assert_eq!(send("/shop.Stock/Get").code, Code::Unavailable);

    // Several RPCs on one channel, with an update between them.
    let mut channel = xdsctl::channel(client.clone(), "xds:///shop").expect("a target of xDS");
    let rpc = Rpc {
        method: "/shop.Cart/Get".to_owned(),
        ..Rpc::default()
    };
    let backends = |channel: &mut xdsctl::Channel| {
        let outcomes = (0..10).filter_map(|_| channel.call(rpc.clone()).expect("no limit is near"));
        outcomes
            .filter_map(|outcome| outcome.backend)
            .collect::<std::collections::BTreeSet<String>>()
    };
    assert_eq!(backends(&mut channel).len(), 2);
    channel
        .client_mut()
        .update(&snapshot(&[("10.0.0.1", "HEALTHY"), ("10.0.0.2", "DRAINING")]));
    channel.resolve();
    let left: Vec<String> = backends(&mut channel).into_iter().collect();
    println!("after the drain: {left:?}");
    assert_eq!(left, ["10.0.0.1:80"]);
}
