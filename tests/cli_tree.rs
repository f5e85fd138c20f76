//! Tests of `tree`, `route`, `retry` and `cookie` from outside: the whole text of each answer, exit
//! codes, and bad input.
//!
//! `fixtures/tree/*.out` have the command, exit code, standard output and standard error;
//! `XDSCTL_BLESS=1` rewrites them.

use std::fmt::Write as _;

use serde_json::Value;

use crate::run::{Run, program, spawned};
use crate::support::root;

/// Runs `xdsctl LINE`, whose words are separated by spaces, on this standard input.
pub fn run(line: &str, input: &str) -> Run {
    run_args(&line.split_whitespace().collect::<Vec<_>>(), input)
}

/// Runs xdsctl with arguments that may contain spaces.
pub fn run_args(args: &[&str], input: &str) -> Run {
    let mut command = program(args);
    command.current_dir(root());
    spawned(command, input)
}

/// Compares the answers of several command lines with a golden file.
#[track_caller]
fn golden(name: &str, lines: &[&str]) {
    let mut found = String::new();
    for line in lines {
        let run = run(line, "");
        let code = run.code.unwrap();
        write!(found, "$ xdsctl {line}\n{}", run.out).unwrap();
        for text in run.err.lines() {
            writeln!(found, "stderr: {text}").unwrap();
        }
        writeln!(found, "exit code {code}\n").unwrap();
    }
    let path = root().join(format!("fixtures/tree/{name}.out"));
    if std::env::var_os("XDSCTL_BLESS").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    assert_eq!(found, std::fs::read_to_string(&path).unwrap(), "{name}");
}

/// Compares the whole of standard error for a usage error.
#[track_caller]
fn usage(line: &str, message: &str) {
    let run = run(line, "");
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(2), "", message));
}

fn json(line: &str, code: i32) -> Value {
    let run = run(line, "");
    assert_eq!(run.code, Some(code), "{}", run.err);
    // The schema is the first member.
    assert!(run.out.starts_with("{\n  \"schema\": \"xdsctl."), "{}", run.out);
    serde_json::from_str(&run.out).unwrap()
}

/// Makes aggregate clusters `c0` to `c{depth - 1}`, each over the next one, and a leaf with one
/// endpoint.
fn chain(depth: usize) -> String {
    let mut text = String::new();
    for i in 0..depth {
        writeln!(
            text,
            "---\n\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: c{i}\ncluster_type: {{typed_config: \
             {{\"@type\": type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig, clusters: [c{}]}}}}",
            i + 1
        )
        .unwrap();
    }
    writeln!(
        text,
        "---\n\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: c{depth}\ntype: EDS\n\
         eds_cluster_config: {{eds_config: {{ads: {{}}}}}}\n---\n\
         \"@type\": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment\ncluster_name: c{depth}\n\
         endpoints:\n- locality: {{}}\n  load_balancing_weight: 1\n  lb_endpoints:\n  - endpoint: {{address: {{socket_address: {{address: 10.0.0.1, port_value: 80}}}}}}"
    )
    .unwrap();
    text
}

#[test]
fn tree_follows_an_aggregate_with_sessions() {
    golden(
        "checkout-tree",
        &[
            "tree fixtures/examples/checkout.yaml",
            "tree --resolve checkout.example.com:443=192.0.2.1:443,192.0.2.2:443 --cluster anywhere fixtures/examples/checkout.yaml",
            "tree --layout a37 fixtures/examples/checkout.yaml",
            "tree --format json fixtures/examples/checkout.yaml",
        ],
    );
}

#[test]
fn tree_names_what_is_lost() {
    golden(
        "lost",
        &[
            "tree fixtures/tree/missing-child.yaml",
            "tree fixtures/tree/loop.yaml",
            "tree fixtures/tree/dns.yaml",
            "tree fixtures/tree/plugin.yaml",
            "tree --env GRPC_XDS_AGGREGATE_CLUSTER_BACKWARD_COMPAT=true fixtures/tree/loop.yaml",
        ],
    );
}

#[test]
fn names_are_equal_in_any_spelling_if_federation_is_on() {
    golden(
        "spellings",
        &[
            "validate fixtures/tree/spellings.yaml",
            "tree fixtures/tree/spellings.yaml",
            "tree --env GRPC_EXPERIMENTAL_XDS_FEDERATION=false fixtures/tree/spellings.yaml",
        ],
    );
}

/// tonic-xds has no LB policies of gRPC: neither priorities nor localities, and no service config.
#[test]
fn the_tree_of_tonic_xds_has_layers_and_a_balancer_for_each_cluster() {
    golden(
        "layers",
        &[
            "tree --client rust fixtures/examples/shop.yaml",
            "tree --client rust --format json fixtures/examples/shop.yaml",
        ],
    );
}

#[test]
fn what_a_later_response_takes_away_is_not_there() {
    golden(
        "deleted",
        &[
            "tree --client cpp fixtures/tree/deleted.log",
            "route --client cpp --target old fixtures/tree/deleted.log",
        ],
    );
}

#[test]
fn route_says_why_not_the_others() {
    golden(
        "route",
        &[
            "route --method /a.B/C fixtures/tree/weighted.yaml",
            "route --method /a.B/C --header tenant=gold fixtures/tree/weighted.yaml",
            "route --method /a.B/D --header user=joe fixtures/tree/weighted.yaml",
            "route --method /r.X/Y fixtures/tree/weighted.yaml",
            "route --method z.X/Y fixtures/tree/weighted.yaml",
            "route fixtures/tree/plugin.yaml",
            "route --authority a.example.org fixtures/tree/hosts.yaml",
            "route --method /shop.Checkout/Pay --cookie cart=MTAuMC4wLjI6ODA4MDtjaGVja291dA== fixtures/examples/checkout.yaml",
            "route --method /shop.Checkout/Pay --cookie cart=%% fixtures/examples/checkout.yaml",
        ],
    );
}

#[test]
fn retry_shows_what_is_kept_and_plays_a_script() {
    golden(
        "retry",
        &[
            "retry --method /a.B/D --script UNAVAILABLE,UNAVAILABLE:100,OK fixtures/tree/weighted.yaml",
            "retry --method /a.B/D --script UNAVAILABLE fixtures/tree/weighted.yaml",
            "retry --method /a.B/C --header tenant=gold fixtures/tree/weighted.yaml",
            "retry --method /z.X/Y fixtures/tree/weighted.yaml",
            "retry --retry-on 5xx,Unavailable",
            "retry --retry-on unavailable --num-retries 2 --base-interval 0.0005",
        ],
    );
}

#[test]
fn a_channel_that_fails_says_what_would_have_worked() {
    golden(
        "fails",
        &[
            "tree fixtures/tree/hosts.yaml",
            "route --authority shop.example.con fixtures/tree/hosts.yaml",
            "tree --target xds:///svx fixtures/tree/hosts.yaml",
            "tree fixtures/tree/rejected-listener.yaml",
            "route --format json fixtures/tree/hosts.yaml",
            "retry --format json fixtures/tree/hosts.yaml",
        ],
    );
}

#[test]
fn usage_errors_are_one_sentence() {
    usage(
        "tree fixtures/tree/two-listeners.yaml",
        "xdsctl: several listeners, name one with --target xds:///NAME: `other`, `svc`\n",
    );
    usage(
        "tree --target dns:///svc fixtures/tree/hosts.yaml",
        "xdsctl: `dns:///svc` is not an xDS target, expected `xds:///NAME`\n",
    );
    usage(
        "route --cluster f fixtures/tree/loop.yaml",
        "xdsctl: no cluster `f`, there is `a`, `b`, `e`\n",
    );
    usage(
        "tree --resolve db.example.com=10.0.0.1 fixtures/tree/dns.yaml",
        "xdsctl: --resolve `db.example.com=10.0.0.1` must be HOST:PORT=IP:PORT,...\n",
    );
    usage(
        "route --header tenant fixtures/tree/weighted.yaml",
        "xdsctl: --header must be NAME=VALUE or `NAME: VALUE`, one has neither `=` nor `:`\n",
    );
    usage(
        "retry --retry-on unavailable --num-retries 0",
        "xdsctl: num_retries is 0, with which a client rejects the resource or fails each RPC: at least 1\n",
    );
    usage(
        "cookie encode 10.0.0.1",
        "xdsctl: `10.0.0.1` is not an address, expected IP:PORT such as 10.0.0.1:80 or [2001:db8::1]:80\n",
    );
    usage(
        "cookie decode %%",
        "xdsctl: `%%` is not the value of a session cookie, which is `ADDRESS[,ADDRESS...];CLUSTER` in base64: byte 0 is `%`, \
         which is not in the standard base64 alphabet\n",
    );
    assert_eq!(run("route --timeout nan fixtures/tree/weighted.yaml", "").code, Some(2));
}

#[test]
fn an_unused_name_of_resolve_is_noted() {
    let run = run(
        "tree --resolve db.example.org:443=10.0.0.1:443 fixtures/tree/dns.yaml",
        "",
    );
    let note = "note: no DNS name `db.example.org:443`, did you mean `db.example.com:443`?\n";
    assert!(run.err.starts_with(note), "{}", run.err);
}

#[test]
fn an_aggregate_of_depth_17_fails() {
    let deep = run("tree --cluster c0 -", &chain(17));
    assert_eq!(deep.code, Some(1));
    let expected = "one cluster, without routes
└─ xds_cluster_manager_experimental
   └─ \"cluster:c0\" → cds_experimental  cluster c0
      │    skipped clusters[0] of `c15` `c16`: is at depth 16, which is too deep
      └─ UNAVAILABLE  message aggregate cluster graph exceeds max depth
";
    assert_eq!(deep.out, expected);
    assert_eq!(run("tree --cluster c0 -", &chain(15)).code, Some(0));
}

#[test]
fn json_has_the_documented_keys() {
    let keys = |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    let tree = json("tree --format json fixtures/examples/checkout.yaml", 0);
    assert_eq!(keys(&tree), ["cds_children", "errors", "schema", "service_config"]);
    assert_eq!(keys(&tree["cds_children"]), ["anywhere", "checkout", "near"]);
    let failed = json("tree --format json fixtures/tree/hosts.yaml", 1);
    assert_eq!(failed["service_config"], Value::Null);
    assert_eq!(failed["errors"][0]["code"], "UNAVAILABLE");
    json("route --format json fixtures/tree/weighted.yaml", 1);
    json("retry --format json --retry-on unavailable", 0);
    json("cookie decode --format json MTAuMC4wLjI6ODA4MDtjaGVja291dA==", 0);
}

#[test]
fn pictures_have_every_node_and_a_legend() {
    for (format, endpoint, legend) in [
        ("dot", "10.0.0.1:8080", "not started yet"),
        ("mermaid", "10.0.0.1:8080", "not started yet"),
        ("svg", "10.0.0.1:8080", "not started yet"),
    ] {
        let picture = run(&format!("tree --format {format} fixtures/examples/checkout.yaml"), "");
        assert_eq!(picture.code, Some(0));
        assert!(
            picture.out.contains(endpoint) && picture.out.contains(legend),
            "{}",
            picture.out
        );
        // The note about the skipped cluster is on standard error, not in the picture.
        assert!(
            picture.err.starts_with("note: Cluster `spare` is left out: "),
            "{}",
            picture.err
        );
    }
}

#[test]
fn cookies_go_both_ways() {
    let value = "MTAuMC4wLjI6ODA4MDtjaGVja291dA==";
    let encoded = run("cookie encode 10.0.0.2:8080 --cluster checkout --name cart", "");
    assert_eq!(encoded.out, format!("cart={value}\n"));
    for text in [
        value.to_owned(),
        format!("cart={value}"),
        format!("cart={value};Path=/;Max-Age=3600"),
    ] {
        let decoded = run(&format!("cookie decode {text}"), "");
        let end = "addresses  10.0.0.2:8080\ncluster    checkout\n";
        assert!(decoded.out.ends_with(end), "{}", decoded.out);
    }
}

/// A world that every client accepts, with endpoints in two localities and a name to resolve.
const TAKEN_BY_ALL: &str = r#"
"@type": type.googleapis.com/envoy.config.listener.v3.Listener
name: svc
api_listener:
  api_listener:
    "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
    route_config:
      virtual_hosts:
      - domains: ["*"]
        routes:
        - {match: {prefix: "/dns/"}, route: {cluster: dns}}
        - {match: {prefix: ""}, route: {cluster: c}}
    http_filters: [{name: router, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}]
---
"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
name: c
type: EDS
eds_cluster_config: {eds_config: {ads: {}}}
circuit_breakers: {thresholds: [{max_requests: 7}]}
---
"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
name: dns
type: LOGICAL_DNS
load_assignment:
  endpoints:
  - lb_endpoints: [{endpoint: {address: {socket_address: {address: shop.example, port_value: 80}}}}]
---
"@type": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment
cluster_name: c
endpoints:
- locality: {region: a}
  load_balancing_weight: 1
  lb_endpoints: [{endpoint: {address: {socket_address: {address: 10.0.0.1, port_value: 80}}}}]
- locality: {region: b}
  load_balancing_weight: 1
  lb_endpoints: [{endpoint: {address: {socket_address: {address: 10.0.0.2, port_value: 80}}}}]
"#;

/// Each family has its own names for its LB policies and their members, and none of them is masked
/// as a secret.
#[test]
fn the_names_of_lb_policies_are_shown_for_every_client() {
    for client in ["cpp", "go", "go@1.48", "java", "java@1.46", "node", "node@1.13"] {
        let line =
            format!("tree --format=json --client {client} --target xds:///svc --resolve shop.example:80=10.0.0.3:80 -");
        let report = run(&line, TAKEN_BY_ALL);
        assert!(
            report.out.contains("priority"),
            "{client}: {} {}",
            report.out,
            report.err
        );
        assert!(!report.out.contains("[redacted]"), "{client}: {}", report.out);
    }
}
