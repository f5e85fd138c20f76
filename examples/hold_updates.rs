//! A control plane's test: an update that a client rejects must leave the last good version in use.
//!
//! `cargo run --example hold_updates`

use serde_json::json;

fn cluster(lb_policy: &str) -> serde_json::Value {
    json!({
        "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
        "name": "cart",
        "type": "EDS",
        "eds_cluster_config": {"eds_config": {"ads": {}}},
        "lb_policy": lb_policy,
    })
}

pub(crate) fn main() {
    let first = json!({ "resources": [cluster("ROUND_ROBIN")] });
    let mut client = xdsctl::hold(first.to_string()).expect("the document can be read");
    let cart = client.resources.clusters.get("cart").expect("it was sent");
    assert_eq!((cart.is_accepted(), cart.rejected()), (true, None));

    // The client answers with a NACK, and keeps the version that it has.
    client.update(&json!([cluster("MAGLEV")]));
    let cart = client.resources.clusters.get("cart").expect("it is still there");
    assert!(cart.is_accepted());
    let why = cart.rejected().expect("the update was rejected");
    println!("{why}");
    assert!(why.starts_with("rejected, at lb_policy: lb_policy 5 (MAGLEV) is not supported"));

    // A valid version ends the rejection.
    client.update(&json!([cluster("RING_HASH")]));
    let cart = client.resources.clusters.get("cart").expect("it is still there");
    assert_eq!(cart.rejected(), None);
}
