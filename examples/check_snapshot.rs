//! A control plane's test: would a gRPC client accept what the control plane is about to send?
//!
//! `cargo run --example check_snapshot`

use xdsctl::{ResourceType, Verdict};

/// Makes what a control plane under test would send.
fn snapshot() -> String {
    r#"
resources:
- "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
  name: cart
  type: EDS
  eds_cluster_config: {eds_config: {ads: {}}}
  lb_policy: MAGLEV
- "@type": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment
  cluster_name: cart
  endpoints:
  - lb_endpoints:
    - endpoint: {address: {socket_address: {address: 10.0.0.1, port_value: 80}}}
"#
    .to_owned()
}

pub(crate) fn main() {
    let report = xdsctl::check(snapshot());
    print!("{report}");

    // gRPC does not support MAGLEV; the problem says at which field.
    assert_eq!(report.verdict(ResourceType::Cluster, "cart"), Some(Verdict::Rejected));
    let error = report.errors().next().expect("the cluster is rejected");
    assert_eq!(
        (error.rule, error.path.as_str()),
        ("cds-lb-policy-unsupported", "lb_policy")
    );
    assert_eq!((error.line, error.column), (7, 14));

    // The endpoints are accepted. Their locality has no weight, so the client drops it with them.
    let endpoints = report.verdict(ResourceType::Endpoints, "cart");
    assert_eq!(endpoints, Some(Verdict::Accepted));
    let lost = report
        .problems
        .iter()
        .find(|problem| problem.rule == "eds-without-localities");
    assert!(lost.is_some());
}
