//! Checks that people get the findings that they need, and only those: how many are shown, which
//! are warnings, and what is said about sessions, shares and authorities.

use std::fmt::Write as _;
use std::fs;

use crate::run::{self, Run, in_process};

fn xdsctl(args: &[&str], input: &str) -> Run {
    in_process(args, input, |_| {})
}

/// Returns `rule severity` for every finding.
fn severities(input: &str) -> Vec<String> {
    let report = xdsctl(&["validate", "--format", "json", "-"], input).json();
    let of_resources = report["resources"].as_array().unwrap().iter();
    let findings = of_resources.flat_map(|resource| resource["findings"].as_array().unwrap());
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    findings
        .map(|finding| format!("{} {}", text(&finding["rule"]), text(&finding["severity"])))
        .collect()
}

const CLUSTER: &str = "\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\ntype: EDS\neds_cluster_config: {eds_config: {ads: {}}}\n";

fn cluster(name: &str, rest: &str) -> String {
    format!("---\n{CLUSTER}name: {name}\n{rest}\n")
}

fn routes(list: &str) -> String {
    format!(
        "---\n\"@type\": type.googleapis.com/envoy.config.route.v3.RouteConfiguration\nname: routes\nvirtual_hosts:\n- domains: [\"*\"]\n  routes: [{list}]\n"
    )
}

fn endpoints(name: &str, list: &str) -> String {
    format!(
        "---\n\"@type\": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment\ncluster_name: {name}\nendpoints: [{{locality: {{region: a}}, load_balancing_weight: 1, lb_endpoints: [{list}]}}]\n"
    )
}

fn endpoint(address: &str, rest: &str) -> String {
    format!("{{endpoint: {{address: {{socket_address: {{address: {address}, port_value: 80}}}}}}{rest}}}")
}

/// Makes the listener of a channel `shop` with the routes `routes`, and a session cookie on this
/// path, if any.
fn listener(cookie_path: Option<&str>) -> String {
    let session = cookie_path.map_or(String::new(), |path| {
        let of = "type.googleapis.com/envoy.extensions";
        format!(
            "{{name: session, typed_config: {{\"@type\": {of}.filters.http.stateful_session.v3.StatefulSession, session_state: {{name: cookie, typed_config: {{\"@type\": {of}.http.stateful_session.cookie.v3.CookieBasedSessionState, cookie: {{name: cart, path: {path}}}}}}}}}}}, "
        )
    });
    format!(
        "\"@type\": type.googleapis.com/envoy.config.listener.v3.Listener\nname: shop\napi_listener:\n  api_listener:\n    \"@type\": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager\n    rds: {{config_source: {{ads: {{}}}}, route_config_name: routes}}\n    http_filters: [{session}{{name: router, typed_config: {{\"@type\": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}}}]\n"
    )
}

#[test]
fn people_see_five_of_a_rule_and_programs_all() {
    let mut text = String::new();
    for number in 0..40 {
        text += &cluster(&format!("c{number}"), "lb_policy: MAGLEV");
    }
    let shown = |args: &[&str]| xdsctl(args, &text).out.matches("must be ROUND_ROBIN").count();
    let run = xdsctl(&["validate", "-"], &text);
    assert_eq!(shown(&["validate", "-"]), 5, "{}", run.out);
    assert!(
        run.out
            .contains("error: 35 more cds-lb-policy-unsupported in 35 resources: lb_policy (35)\n")
    );
    assert!(
        run.out
            .contains("5 findings of a rule are shown, --all-findings shows every one\n")
    );
    assert!(run.out.contains("40 errors, 0 warnings"), "{}", run.out);
    assert_eq!(shown(&["validate", "--all-findings", "-"]), 40);
    for format in ["json", "concise", "sarif", "junit"] {
        assert!(shown(&["validate", "--format", format, "-"]) >= 40, "{format}");
    }
    // A report for programs beside the one for people changes neither of them.
    let file = run::directory("needed", "both").join("out.json");
    let both = xdsctl(
        &[
            "validate",
            "--format",
            "human",
            "--format",
            &format!("json={}", file.display()),
            "-",
        ],
        &text,
    );
    assert_eq!(both.out, run.out);
    assert_eq!(
        fs::read_to_string(file).unwrap().matches("must be ROUND_ROBIN").count(),
        40
    );
}

#[test]
fn five_are_shown_of_many_in_one_resource() {
    let mut list = String::new();
    for number in 0..40 {
        let _ = write!(
            list,
            "{{match: {{prefix: /a.B{number}/}}, route: {{cluster: c, timeout: {number}s}}}}, "
        );
    }
    let run = xdsctl(&["validate", "-"], &routes(&list));
    assert_eq!(
        run.out.matches("gRPC does not read `timeout`").count(),
        5,
        "{}",
        run.out
    );
    let more = "warning: 34 more behaviour-field-ignored in 1 resource: timeout (34)\nnote: 1 field-ignored in 1 resource: timeout\n";
    assert!(run.out.contains(more), "{}", run.out);
}

#[test]
fn findings_of_one_rule_are_counted_by_severity() {
    let both = cluster("c", "connect_timeout: 1s\nalt_stat_name: a\ncleanup_interval: 1s");
    let run = xdsctl(&["validate", "-W", "field-ignored=alt_stat_name", "-"], &both);
    assert_eq!(run.out.matches("gRPC does not read").count(), 1, "{}", run.out);
    assert!(
        run.out
            .contains("note: 2 field-ignored in 1 resource: cleanup_interval, connect_timeout\n"),
        "{}",
        run.out
    );
}

#[test]
fn a_field_that_will_be_missed_is_a_warning_and_another_a_note() {
    let action = "{match: {prefix: \"\"}, route: {cluster: c, timeout: 5s, retry_policy: {retry_on: unavailable, per_try_timeout: 1s}}}";
    assert_eq!(
        severities(&routes(action)),
        ["behaviour-field-ignored warning", "behaviour-field-ignored warning"]
    );
    let ejection = "outlier_detection: {consecutive_5xx: 5, enforcing_success_rate: 100}";
    assert_eq!(severities(&cluster("c", ejection)), ["behaviour-field-ignored warning"]);
    assert_eq!(
        severities(&cluster("c", "outlier_detection: {}")),
        ["cds-outlier-without-algorithm warning"]
    );
    // A timeout of 0 asks for nothing, so nothing is missed.
    let off = "{match: {prefix: \"\"}, route: {cluster: c, timeout: 0s}}";
    assert_eq!(severities(&routes(off)), ["field-ignored note"]);
    let no_limit = "circuit_breakers: {thresholds: [{max_connections: 4294967295, max_requests: 9}]}";
    assert_eq!(severities(&cluster("c", no_limit)), ["field-ignored note"]);
    assert_eq!(severities(&cluster("c", "alt_stat_name: a")), ["field-ignored note"]);

    let code = |args: &[&str]| xdsctl(&[&["validate", "-"], args].concat(), &routes(action)).code;
    assert_eq!(code(&[]), Some(0));
    assert_eq!(code(&["--fail-on", "warning"]), Some(1));
    assert_eq!(
        code(&[
            "--fail-on",
            "warning",
            "-A",
            "behaviour-field-ignored=timeout,per_try_timeout"
        ]),
        Some(0)
    );
    let run = xdsctl(&["validate", "-"], &routes(action));
    assert!(
        run.out.contains("help: for a deadline gRPC reads max_stream_duration"),
        "{}",
        run.out
    );
}

/// Makes a channel with a session whose second endpoint is draining; no session goes there.
fn draining() -> String {
    let list = [
        endpoint("10.0.0.1", ""),
        endpoint("10.0.0.2", ", health_status: DRAINING"),
    ]
    .join(", ");
    let route = "{match: {prefix: /shop.Cart/}, route: {cluster: cart}}";
    [
        listener(Some("/shop.Cart")),
        routes(route),
        cluster("cart", ""),
        endpoints("cart", &list),
    ]
    .concat()
}

#[test]
fn a_session_with_a_draining_endpoint_is_told_of_its_health_and_the_list() {
    let pick = |args: &[&str]| xdsctl(&[&["pick"], args, &["-"]].concat(), &draining());
    let run = pick(&["--method", "/shop.Cart/Add", "--session", "10.0.0.2:80", "--explain"]);
    let told = "cookie host 10.0.0.2:80 is DRAINING, which override_host_status {UNKNOWN, HEALTHY} lacks";
    assert!(run.out.contains(told), "{}", run.out);
    assert!(!run.out.contains("not an address of the cluster"), "{}", run.out);
    // The cause is on top only if the session is lost.
    assert_eq!(
        run.out.lines().nth(1),
        Some(format!("session not kept: {told}").as_str())
    );
    let kept = pick(&["--method", "/shop.Cart/Add", "--session", "10.0.0.1:80"]);
    assert!(kept.out.starts_with("OK from 10.0.0.1:80"), "{}", kept.out);
    assert!(!kept.out.contains("session not kept"), "{}", kept.out);

    let run = pick(&["--address", "10.0.0.2:80"]);
    assert!(
        run.out
            .contains("cookie    none: override_host_status {UNKNOWN, HEALTHY} lacks DRAINING\n"),
        "{}",
        run.out
    );
    assert!(!run.out.contains("by way of"), "{}", run.out);
    let json = pick(&["--address", "10.0.0.2:80", "--format", "json"]).json();
    assert_eq!(json["places"][0]["cookies"], serde_json::json!([]));
    assert!(
        pick(&["--address", "10.0.0.1:80"])
            .out
            .contains("by way of cluster \"cart\"")
    );
}

#[test]
fn a_share_below_what_is_printed_is_still_one() {
    let split = "{match: {prefix: \"\"}, route: {weighted_clusters: {clusters: [{name: cart, weight: 999995}, {name: canary, weight: 5}]}}}";
    let world = [
        listener(None),
        routes(split),
        cluster("cart", ""),
        cluster("canary", ""),
    ]
    .concat();
    let run = xdsctl(&["route", "--method", "/a.B/C", "-"], &world);
    assert!(
        run.out.contains("99.9995 %") && run.out.contains("0.0005 %"),
        "{}",
        run.out
    );
    let path = "virtual_hosts[0].routes[0].route.weighted_clusters.clusters[1].weight";
    let found = xdsctl(&["validate", "--format", "json", "-"], &world).findings();
    assert_eq!(found, [format!("rds-share-negligible {path}")]);

    let fraction = |numerator: u32, denominator: &str| {
        let value = format!("{{default_value: {{numerator: {numerator}, denominator: {denominator}}}}}");
        severities(&routes(&format!(
            "{{match: {{prefix: \"\", runtime_fraction: {value}}}, route: {{cluster: c}}}}"
        )))
    };
    assert_eq!(fraction(0, "HUNDRED"), ["rds-share-negligible warning"]);
    assert_eq!(fraction(99, "MILLION"), ["rds-share-negligible warning"]);
    assert_eq!(fraction(100, "MILLION"), [""; 0]);
    assert_eq!(fraction(1, "HUNDRED"), [""; 0]);
}

#[test]
fn an_aggregate_is_told_to_leave_its_policy_out() {
    let aggregate = "---\n\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: all\nlb_policy: CLUSTER_PROVIDED\ncluster_type: {name: a, typed_config: {\"@type\": type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig, clusters: [c]}}\n";
    let run = xdsctl(&["validate", "-"], aggregate);
    assert!(run.out.contains("help: leave lb_policy out"), "{}", run.out);
    let without = aggregate.replace("lb_policy: CLUSTER_PROVIDED\n", "");
    assert_eq!(xdsctl(&["validate", "-"], &without).code, Some(0));
}

#[test]
fn a_single_misspelt_condition_of_retry_on_has_a_fix_as_one_of_two_has() {
    let text = routes("{match: {prefix: \"\"}, route: {cluster: c, retry_policy: {retry_on: \"UNAVAILABLE\"}}}");
    let run = xdsctl(&["validate", "--diff", "-"], &text);
    assert!(
        run.out.contains(
            "+  routes: [{match: {prefix: \"\"}, route: {cluster: c, retry_policy: {retry_on: \"unavailable\"}}}]"
        ),
        "{}",
        run.out
    );
    let run = xdsctl(&["validate", "--diff", "-"], &text.replace("UNAVAILABLE", "5xx"));
    assert_eq!((run.code, run.out.as_str()), (Some(0), ""), "{}", run.err);
}

#[test]
fn a_filter_without_a_config_is_missing_its_typed_config_in_every_client() {
    let text = listener(None).replace("http_filters: [", "http_filters: [{name: a}, ");
    for client in ["cpp", "go", "java", "node"] {
        let run = xdsctl(&["validate", "--client", client, "-"], &text);
        assert_eq!(run.code, Some(1), "{client}");
        assert!(
            !run.out.contains("``") && run.out.contains("typed_config"),
            "{client}: {}",
            run.out
        );
    }
}

/// A listener with a socket, as Envoy Gateway makes it for its proxies.
const SOCKET: &str = "\"@type\": type.googleapis.com/envoy.config.listener.v3.Listener\nname: edge\naddress: {socket_address: {address: 0.0.0.0, port_value: 80}}\ndefault_filter_chain:\n  filters:\n  - typed_config:\n      \"@type\": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager\n      rds: {config_source: {ads: {}}, route_config_name: edge}\n      REST\n      http_filters: [{name: router, typed_config: {\"@type\": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}]\n";

#[test]
fn a_listener_for_the_edge_is_a_proxys() {
    let of = |rest: &str| xdsctl(&["validate", "-"], &SOCKET.replace("REST", rest));
    let run = of("use_remote_address: true");
    assert_eq!(run.code, Some(2));
    assert!(run.out.contains("dump-made-for-proxy"), "{}", run.out);
    assert!(
        run.out
            .contains("`use_remote_address`, which is about HTTP at the edge"),
        "{}",
        run.out
    );
    assert_eq!(of("stat_prefix: a").code, Some(0));
}

#[test]
fn a_target_is_told_of_a_rejected_listener_too_that_it_is_no_client() {
    let text = SOCKET.replace("REST", "xff_num_trusted_hops: 1");
    let run = xdsctl(&["validate", "--target", "xds:///edge", "--format", "json", "-"], &text);
    let rules: Vec<String> = run
        .findings()
        .iter()
        .map(|f| f.split(' ').next().unwrap().to_owned())
        .collect();
    assert_eq!(
        rules,
        ["target-listener-not-api", "hcm-xff-num-trusted-hops"],
        "{}",
        run.out
    );
    let run = xdsctl(&["validate", "--format", "json", "-"], &text);
    assert_eq!(run.findings().len(), 1, "{}", run.out);
}

#[test]
fn the_authority_of_an_rpc_is_always_said() {
    let route = "{match: {prefix: \"\"}, route: {cluster: cart, auto_host_rewrite: true}}";
    let list = endpoint("10.0.0.1", "").replace("{endpoint: {", "{endpoint: {hostname: one.example, ");
    let world = |route: &str| {
        [
            listener(None),
            routes(route),
            cluster("cart", ""),
            endpoints("cart", &list),
        ]
        .concat()
    };
    let pick =
        |args: &[&str], route: &str| xdsctl(&[&["pick", "--method", "/a.B/C"], args, &["-"]].concat(), &world(route));
    let plain = pick(&[], &route.replace(", auto_host_rewrite: true", ""));
    assert!(plain.out.contains("`shop`, the channel's\n"), "{}", plain.out);

    let bootstrap = run::directory("needed", "authority").join("bootstrap.json");
    let text = r#"{"xds_servers": [{"server_uri": "a:1", "channel_creds": [{"type": "insecure"}], "server_features": ["trusted_xds_server"]}]}"#;
    fs::write(&bootstrap, text).unwrap();
    let rewritten = pick(&["--bootstrap", bootstrap.to_str().unwrap()], route);
    let told = "`one.example`, the endpoint's hostname (auto_host_rewrite, which leaves the SNI of TLS as it is)\n";
    assert!(rewritten.out.contains(told), "{}", rewritten.out);
}

#[test]
fn arguments_that_are_mixed_up_get_a_hint() {
    for command in ["pick", "route"] {
        let run = xdsctl(&[command, "/shop.Cart/Add", "-"], &draining());
        assert_eq!(run.code, Some(2));
        let hint = format!("the method of the RPC is an option, `xdsctl {command} --method /shop.Cart/Add FILE`");
        assert!(run.err.contains(&hint), "{}", run.err);
    }
    let file = run::directory("needed", "swapped").join("xds.yaml");
    fs::write(&file, draining()).unwrap();
    let file = file.to_str().unwrap();
    let run = xdsctl(&["who", file, "cart"], "");
    assert_eq!(run.code, Some(2));
    assert!(run.err.contains(&format!("`xdsctl who cart {file}`")), "{}", run.err);
    let (lint, validate) = (xdsctl(&["lint", file], ""), xdsctl(&["validate", file], ""));
    assert_eq!((lint.code, lint.out), (validate.code, validate.out));
}

#[test]
fn what_is_down_may_be_a_list() {
    let list = [
        endpoint("10.0.0.1", ""),
        endpoint("10.0.0.2", ""),
        endpoint("10.0.0.3", ""),
    ]
    .join(", ");
    let route = "{match: {prefix: \"\"}, route: {cluster: cart}}";
    let world = [
        listener(None),
        routes(route),
        cluster("cart", ""),
        endpoints("cart", &list),
    ]
    .concat();
    let pick = |down: &str| xdsctl(&["pick", "--method", "/a.B/C", "--down", down, "-"], &world);
    assert!(pick("10.0.0.1:80,10.0.0.3:80").out.starts_with("OK from 10.0.0.2:80 "));
    assert_eq!(pick("10.0.0.1:80, cart").code, Some(1));
    let run = pick("10.0.0.1:80,crat");
    assert_eq!(run.code, Some(2));
    assert!(
        run.err.contains("--down `crat` is not an address, locality"),
        "{}",
        run.err
    );
}

#[test]
fn a_bootstrap_that_cannot_be_read_is_named_for_what_it_is() {
    let directory = run::directory("needed", "bootstrap");
    let file = directory.join("bootstrap.json");
    let asked = |args: &[&str]| {
        xdsctl(
            &[args, &["--bootstrap", file.to_str().unwrap(), "-"]].concat(),
            &draining(),
        )
    };
    let run = asked(&["validate"]);
    assert_eq!(run.code, Some(2));
    let told = format!("xdsctl: cannot read the bootstrap `{}`: ", file.display());
    assert!(run.err.starts_with(&told), "{}", run.err);

    fs::write(&file, "xds_servers: []").unwrap();
    let run = asked(&["validate"]);
    assert_eq!(run.code, Some(1));
    assert!(run.out.contains("× a value must start here"), "{}", run.out);
    let run = asked(&["pick", "--method", "/a.B/C"]);
    assert!(
        run.err.contains("bootstrap.json`: a value must start here"),
        "{}",
        run.err
    );
}

#[test]
fn a_server_without_a_template_does_not_start_and_a_client_needs_none() {
    let file = run::directory("needed", "template").join("bootstrap.json");
    fs::write(
        &file,
        r#"{"xds_servers": [{"server_uri": "a:1", "channel_creds": [{"type": "insecure"}]}]}"#,
    )
    .unwrap();
    let of = |text: &str| {
        let args = [
            "validate",
            "--format",
            "json",
            "--bootstrap",
            file.to_str().unwrap(),
            "-",
        ];
        let found = xdsctl(&args, text).findings();
        found
            .iter()
            .filter(|finding| finding.starts_with("bootstrap-"))
            .cloned()
            .collect::<Vec<_>>()
    };
    let server = SOCKET.replace("REST", "stat_prefix: a");
    assert_eq!(of(&server), ["bootstrap-server-template-missing"]);
    assert_eq!(of(&format!("{}---\n{server}", listener(None))), [""; 0]);
    assert_eq!(of(&listener(None)), [""; 0]);
}
