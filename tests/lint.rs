//! Tests of what several resources show together, on whole worlds. Above all, a partial world must
//! not be judged as a whole one.

use serde_json::Value;

use crate::run::run;

const ADS: &str = "eds_cluster_config: {eds_config: {ads: {}}}";

fn cluster(name: &str) -> String {
    format!("\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: {name}\ntype: EDS\n{ADS}\n")
}

fn ring(name: &str) -> String {
    format!("{}lb_policy: RING_HASH\n", cluster(name))
}

fn aggregate(name: &str, children: &str) -> String {
    format!(
        "\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: {name}\ncluster_type:\n  typed_config: {{\"@type\": type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig, clusters: [{children}]}}\n"
    )
}

/// Makes a RouteConfiguration with one virtual host for every authority.
fn routes(name: &str, routes: &str) -> String {
    format!(
        "\"@type\": type.googleapis.com/envoy.config.route.v3.RouteConfiguration\nname: {name}\nvirtual_hosts:\n- domains: [\"*\"]\n  routes: [{routes}]\n"
    )
}

/// Makes a client's listener with routes by RDS; `filters` come before the router.
fn listener(name: &str, rds: &str, filters: &str) -> String {
    format!(
        "\"@type\": type.googleapis.com/envoy.config.listener.v3.Listener\nname: {name}\napi_listener:\n  api_listener:\n    {}\n",
        hcm(rds, filters)
    )
}

/// Makes a server's listener with routes by RDS.
fn server(name: &str, rds: &str) -> String {
    format!(
        "\"@type\": type.googleapis.com/envoy.config.listener.v3.Listener\nname: {name}\naddress: {{socket_address: {{address: 127.0.0.1, port_value: 80}}}}\nfilter_chains:\n- filters:\n  - typed_config: {{{}}}\n",
        hcm(rds, "").replace("\n    ", ", ")
    )
}

fn hcm(rds: &str, filters: &str) -> String {
    format!(
        "\"@type\": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager\n    rds: {{config_source: {{ads: {{}}}}, route_config_name: {rds}}}\n    http_filters: [{filters}{{name: router, typed_config: {{\"@type\": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}}}]"
    )
}

/// The rule for RPCs that fail because the input, or the channel, lacks a resource.
const NOTHING: &str = "reference-to-nothing";

const FAULT: &str =
    "{name: fault, typed_config: {\"@type\": type.googleapis.com/envoy.extensions.filters.http.fault.v3.HTTPFault}}, ";

/// Makes a route to `c` with an override of the fault filter under this name.
fn with_override(name: &str) -> String {
    format!(
        "{{match: {{prefix: \"\"}}, route: {{cluster: c}}, typed_per_filter_config: {{{name}: {{\"@type\": type.googleapis.com/envoy.extensions.filters.http.fault.v3.HTTPFault}}}}}}"
    )
}

const TO_C: &str = "{match: {prefix: \"\"}, route: {cluster: c}}";
const TO_C_HASHED: &str = "{match: {prefix: /h/}, route: {cluster: c, hash_policy: [{header: {header_name: h}}]}}";
const REJECTED_LISTENER: &str = "\"@type\": type.googleapis.com/envoy.config.listener.v3.Listener\nname: bad\n";

/// Checks the rules of the findings, each as often as it is found.
#[track_caller]
fn check(world: &[String], expected: &[&str]) {
    check_with(&[], world, expected);
}

/// Checks the rules of the findings with these arguments.
#[track_caller]
fn check_with(arguments: &[&str], world: &[String], expected: &[&str]) {
    let input = world.join("---\n");
    let args = ["validate", "--format=json", "--stdin-filename=world.yaml", "-"];
    let (out, err) = run(args.iter().chain(arguments), input.as_bytes());
    let report: Value = serde_json::from_slice(&out).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&err)));
    let mut found: Vec<&str> = report["resources"]
        .as_array()
        .unwrap()
        .iter()
        .chain([&report])
        .flat_map(|resource| resource["findings"].as_array().unwrap())
        .map(|finding| finding["rule"].as_str().unwrap())
        // This fault is in one resource of the world, and is not a lint.
        .filter(|rule| !rule.starts_with("lds-neither"))
        .collect();
    found.sort_unstable();
    assert_eq!(found, expected, "{input}");
}

#[test]
fn unused_resources_need_a_world_that_shows_who_asks() {
    check(&[cluster("c")], &[]);
    check(&[cluster("c"), cluster("d")], &[]);
    check(&[routes("r", TO_C)], &[]);
    check(
        &[routes("r", TO_C), cluster("c"), cluster("d")],
        &["cds-cluster-unused"],
    );
    check(
        &[listener("l", "r", ""), routes("r", TO_C), cluster("c"), cluster("d")],
        &["cds-cluster-unused"],
    );
    // Another client's routes are not in the input.
    check(
        &[
            listener("l", "r", ""),
            listener("m", "s", ""),
            routes("r", TO_C),
            cluster("c"),
            cluster("d"),
        ],
        &["lds-route-config-missing"],
    );
    check(
        &[
            listener("l", "r", ""),
            REJECTED_LISTENER.to_owned(),
            routes("r", TO_C),
            cluster("c"),
            cluster("d"),
        ],
        &[],
    );
    check(
        &[routes("r", TO_C), aggregate("c", "d, e"), cluster("d"), cluster("e")],
        &[],
    );
    check(
        &[
            listener("l", "r", ""),
            routes("r", TO_C),
            routes("s", TO_C),
            cluster("c"),
        ],
        &["rds-route-config-unused"],
    );
    check(
        &[
            server("l", "s"),
            routes("s", "{match: {prefix: \"\"}, non_forwarding_action: {}}"),
        ],
        &[],
    );
}

#[test]
fn ring_hash_wants_a_hash_policy_on_some_route() {
    check(&[routes("r", TO_C), ring("c")], &["rds-ring-hash-without-hash-policy"]);
    check(&[routes("r", &format!("{TO_C_HASHED}, {TO_C}")), ring("c")], &[]);
    check(&[ring("c")], &[]);
    let both = "{match: {prefix: \"\"}, route: {cluster: a}}";
    check(
        &[routes("r", both), aggregate("a", "c, d"), ring("c"), cluster("d")],
        &["rds-ring-hash-without-hash-policy"],
    );
    // The other routes are not in the input.
    check(
        &[
            listener("l", "r", ""),
            listener("m", "s", ""),
            routes("r", TO_C),
            ring("c"),
        ],
        &["lds-route-config-missing"],
    );
}

#[test]
fn a_hash_policy_wants_ring_hash_on_some_cluster() {
    check(&[routes("r", TO_C_HASHED), cluster("c")], &["rds-hash-policy-unused"]);
    check(&[routes("r", TO_C_HASHED), ring("c")], &[]);
    check(&[routes("r", TO_C_HASHED)], &[]);
    check(
        &[
            routes("r", TO_C_HASHED),
            aggregate("c", "d, e"),
            cluster("d"),
            ring("e"),
        ],
        &[],
    );
    check(
        &[
            routes("r", TO_C_HASHED),
            aggregate("c", "d, e"),
            cluster("d"),
            cluster("e"),
        ],
        &["rds-hash-policy-unused"],
    );
    check(
        &[routes("r", TO_C_HASHED), aggregate("c", "d, e"), cluster("d")],
        &["aggregate-child-missing"],
    );
    let split = "{match: {prefix: \"\"}, route: {hash_policy: [{header: {header_name: h}}], weighted_clusters: {clusters: [{name: c, weight: 1}, {name: d, weight: 1}]}}}";
    check(&[routes("r", split), cluster("c"), ring("d")], &[]);
    check(
        &[routes("r", split), cluster("c"), cluster("d")],
        &["rds-hash-policy-unused"],
    );
}

#[test]
fn an_override_names_a_filter_of_some_listener() {
    check(&[routes("r", &with_override("fualt"))], &[]);
    check(
        &[listener("l", "r", FAULT), routes("r", &with_override("fualt"))],
        &["filter-override-unused"],
    );
    check(&[listener("l", "r", FAULT), routes("r", &with_override("fault"))], &[]);
    check(
        &[
            listener("l", "r", ""),
            listener("m", "r", FAULT),
            routes("r", &with_override("fault")),
        ],
        &[],
    );
    check(
        &[
            listener("l", "r", ""),
            REJECTED_LISTENER.to_owned(),
            routes("r", &with_override("fault")),
        ],
        &[],
    );
}

#[test]
fn routes_by_rds_are_for_the_side_that_uses_them() {
    let handled = "{match: {prefix: \"\"}, non_forwarding_action: {}}";
    check(&[routes("r", handled)], &[]);
    check(&[server("s", "r"), routes("r", handled)], &[]);
    check(
        &[server("s", "r"), routes("r", TO_C)],
        &["hcm-route-action-for-other-side"],
    );
    // The cluster appears to be a proxy's.
    check(
        &[server("s", "r"), routes("r", TO_C), cluster("c"), cluster("d")],
        &["dump-made-for-proxy"],
    );
    let mixed = format!("{{match: {{prefix: /a/}}, non_forwarding_action: {{}}}}, {TO_C}");
    check(
        &[server("s", "r"), routes("r", &mixed), cluster("c")],
        &["hcm-route-action-for-other-side"],
    );
    check(
        &[listener("l", "r", ""), routes("r", handled)],
        &["hcm-route-action-for-other-side"],
    );
    check(&[listener("l", "r", ""), server("s", "r"), routes("r", handled)], &[]);
    check(&[listener("l", "r", ""), server("s", "r"), routes("r", TO_C)], &[]);
}

#[test]
fn with_a_target_the_input_is_all_that_the_channel_gets() {
    let target = |name: &'static str| ["--target", name];
    check(&[listener("l", "r", "")], &[]);
    check_with(&target("xds:///l"), &[listener("l", "r", "")], &[NOTHING]);
    let world = [listener("l", "r", ""), routes("r", TO_C)];
    check(&world, &[]);
    check_with(&target("l"), &world, &[NOTHING]);
    check_with(
        &target("l"),
        &[listener("l", "r", ""), routes("r", TO_C), cluster("c")],
        &[NOTHING],
    );
    check_with(&target("xds:///other"), &world, &["target-listener-missing"]);
    check_with(&target("xds:///s"), &[server("s", "r")], &["target-listener-not-api"]);
}

#[test]
fn a_target_looks_for_its_authority_among_the_domains() {
    let for_shop = routes("r", TO_C).replace("\"*\"", "shop");
    let world = [listener("l", "r", ""), for_shop];
    check(&world, &["lds-no-virtual-host"]);
    let missing = "rds-cluster-missing";
    check_with(&["--target=l"], &world, &[missing, "target-without-virtual-host"]);
    check_with(&["--target=l", "--authority=shop"], &world, &[NOTHING]);
}

#[test]
fn a_failure_counts_in_the_virtual_host_of_the_targets_authority() {
    let retry =
        "{match: {prefix: \"\"}, route: {cluster: c, retry_policy: {retry_on: unavailable, num_retries: 4294967295}}}";
    let other = "- domains: [l]\n  routes: []\n";
    let world = [listener("l", "r", ""), routes("r", retry) + other];
    let fails = "rds-num-retries-too-big";
    let (missing, empty) = ("rds-cluster-missing", "rds-virtual-host-without-routes");
    check_with(&["--target=l"], &world, &[missing, empty]);
    check_with(&["--target=l", "--authority=shop"], &world, &[fails, empty, NOTHING]);
}

#[test]
fn an_aggregate_fails_only_where_a_channel_gets_to_it() {
    // In the virtual host of `foo`, the leaf goes to `a`, which sorts first, and `b` has no leaf.
    let both = "- domains: [foo]\n  routes: [{match: {prefix: /a}, route: {cluster: a}}, {match: {prefix: \"\"}, route: {cluster: b}}]\n";
    let world = [
        listener("l", "r", ""),
        routes("r", "{match: {prefix: \"\"}, route: {cluster: b}}") + both,
        aggregate("a", "c"),
        aggregate("b", "c"),
        cluster("c"),
    ];
    let (shared, missing) = ("aggregate-shared-leaf", NOTHING);
    check(&world, &[shared]);
    check_with(&["--target=l"], &world, &[shared, missing]);
    let fails = "aggregate-without-leaf";
    check_with(&["--target=l", "--authority=foo"], &world, &[shared, fails, missing]);
}

/// Returns the report, with a line for each finding.
fn concise(world: &[String]) -> String {
    let args = [
        "validate",
        "--no-config",
        "--format=concise",
        "--stdin-filename=world.yaml",
        "-",
    ];
    let (out, _) = run(args, world.join("---\n").as_bytes());
    String::from_utf8(out).unwrap()
}

#[test]
fn sessions_are_warned_of_where_the_cookie_leads() {
    let filter = "{name: s, typed_config: {\"@type\": type.googleapis.com/envoy.extensions.filters.http.stateful_session.v3.StatefulSession, session_state: {name: c, typed_config: {\"@type\": type.googleapis.com/envoy.extensions.http.stateful_session.cookie.v3.CookieBasedSessionState, cookie: {name: c, path: /shop.Cart}}}}}, ";
    let draining = "common_lb_config: {override_host_status: {statuses: [HEALTHY, DRAINING]}}\n";
    let world = |table: &str| {
        [
            listener("l", "r", filter),
            routes("r", table),
            cluster("c"),
            cluster("cart") + draining,
        ]
    };
    let lost = "stateful-session-without-draining";
    for (table, expected) in [
        ("{match: {prefix: /shop.Cart/}, route: {cluster: c}}", true),
        ("{match: {path: /shop.Cart/Add}, route: {cluster: c}}", true),
        ("{match: {prefix: \"\"}, route: {cluster: c}}", true),
        ("{match: {prefix: /shop.Search/}, route: {cluster: c}}", false),
        ("{match: {prefix: /shop.Carts/}, route: {cluster: c}}", false),
    ] {
        let table = format!("{{match: {{path: /x/y}}, route: {{cluster: cart}}}}, {table}");
        // A cookie whose path matches no route is a session that no RPC has.
        let expected = if expected {
            lost
        } else {
            "stateful-session-path-misses-route"
        };
        check(&world(&table), &[expected]);
    }
    // RPCs that the cookie covers never reach a route behind one that matches all of them.
    let first =
        "{match: {prefix: /shop.Cart/HEADERS}, route: {cluster: cart}}, {match: {prefix: \"\"}, route: {cluster: c}}";
    check(&world(&first.replace("HEADERS", "")), &[]);
    let canary = ", headers: [{name: canary, present_match: true}]";
    check(&world(&first.replace("HEADERS", canary)), &[lost]);
}

#[test]
fn a_leaf_without_endpoints_costs_no_rpcs_while_there_is_another() {
    let endpoints = |name: &str| {
        format!(
            "\"@type\": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment\ncluster_name: {name}\nendpoints: [{{locality: {{zone: z}}, load_balancing_weight: 1, lb_endpoints: [{{endpoint: {{address: {{socket_address: {{address: 10.0.0.1, port_value: 80}}}}}}}}]}}]\n"
        )
    };
    let world = |table: &str, there: &str| {
        [
            listener("l", "r", ""),
            routes("r", table),
            aggregate("a", "c, d"),
            cluster("c"),
            cluster("d"),
            endpoints(there),
        ]
    };
    let to_a = "{match: {prefix: \"\"}, route: {cluster: a}}";
    let complete = ["--complete"];
    check_with(&complete, &world(to_a, "c"), &["cds-endpoints-missing"]);
    check_with(&["--target=l"], &world(to_a, "c"), &["cds-endpoints-missing"]);
    let both = world(to_a, "e");
    check_with(&complete, &both, &["eds-endpoints-unused", NOTHING, NOTHING]);
    let too = format!("{{match: {{prefix: /d}}, route: {{cluster: d}}}}, {to_a}");
    check_with(&complete, &world(&too, "c"), &[NOTHING]);
    let text = concise(&world(to_a, "c"));
    let told = "the client waits 15 s for it, then RPCs go to the other leaves of aggregate `a`, without this one to fail over to";
    assert!(text.contains(told), "{text}");
}

#[test]
fn a_weighted_cluster_fails_its_share_of_the_rpcs() {
    let split = "{match: {prefix: \"\"}, route: {weighted_clusters: {clusters: [{name: c, weight: 95}, {name: d, weight: 5}]}}}";
    let bad = cluster("d").replace("EDS", "STATIC");
    let told = concise(&[routes("r", split), cluster("c"), bad]);
    assert!(
        told.contains("`d` is rejected: 5 % of the RPCs on this route fail"),
        "{told}"
    );
    let told = concise(&[routes("r", split), cluster("c")]);
    assert!(
        told.contains("the client waits 15 s for it, then 5 % of the RPCs on this route fail"),
        "{told}"
    );
}
