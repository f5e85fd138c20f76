//! Checks findings that are made for C-core and are also true of other clients, and where they are
//! not.

use crate::cli::xdsctl;

/// Returns the findings on routes and clusters, as `rule` or `rule of client`.
fn found(clients: &str, text: &str) -> Vec<String> {
    let args = [&format!("--client={clients}"), "--format=json", "--min-severity=note"];
    let report = xdsctl(&[&["validate", "-"], &args[..]].concat(), text).json();
    let resources = report["resources"].as_array().unwrap().iter();
    let findings = resources.flat_map(|resource| resource["findings"].as_array().unwrap());
    let rules = findings.map(|finding| finding["rule"].as_str().unwrap().to_owned());
    rules.collect()
}

fn resources(list: &str) -> String {
    let list = list
        .replace(
            "ROUTES",
            r#""@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration", "name": "r", "virtual_hosts""#,
        )
        .replace(
            "CLUSTER",
            r#""@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name""#,
        )
        .replace(
            "EDS",
            r#""type": "EDS", "eds_cluster_config": {"eds_config": {"ads": {}}}"#,
        );
    format!(r#"{{"resources": [{list}]}}"#)
}

/// Asks all clients for one rule, and returns those that have the finding.
fn who_has(rule: &str, list: &str) -> String {
    let text = resources(list);
    let has = |client: &&str| found(client, &text).iter().any(|found| found == rule);
    let who: Vec<&str> = ["cpp", "go", "java", "node"].into_iter().filter(has).collect();
    who.join(" ")
}

fn one_host(domains: &str, routes: &str) -> String {
    format!(r#"{{ROUTES: [{{"domains": [{domains}], "routes": [{routes}]}}]}}"#)
}

#[test]
fn a_cluster_of_weight_zero_gets_nothing_in_other_clients_either() {
    let of = |weight: u32| {
        let clusters = format!(r#"[{{"name": "a", "weight": 100}}, {{"name": "b", "weight": {weight}}}]"#);
        let route =
            format!(r#"{{"match": {{"prefix": ""}}, "route": {{"weighted_clusters": {{"clusters": {clusters}}}}}}}"#);
        who_has("rds-cluster-weight-zero", &one_host("\"*\"", &route))
    };
    assert_eq!(of(0), "cpp go java node");
    assert_eq!(of(1), "");
}

#[test]
fn a_circuit_breaker_that_admits_nothing_admits_nothing_in_any_client() {
    let of = |thresholds: &str| {
        let cluster = format!(r#"{{CLUSTER: "c", EDS, "circuit_breakers": {{"thresholds": [{thresholds}]}}}}"#);
        who_has("cds-circuit-breaker-zero", &cluster)
    };
    assert_eq!(of(r#"{"max_requests": 0}"#), "cpp go java node");
    assert_eq!(of(r#"{"max_requests": 1}"#), "");
    // Java and Node use the last threshold.
    assert_eq!(of(r#"{"max_requests": 0}, {"max_requests": 5}"#), "cpp go");
}

#[test]
fn a_drop_of_everything_drops_everything_in_any_client() {
    let of = |percent: u32| {
        let percentage = format!(r#"{{"numerator": {percent}}}"#);
        let policy = format!(r#"{{"drop_overloads": [{{"category": "x", "drop_percentage": {percentage}}}]}}"#);
        let endpoints = r#"[{"locality": {}, "load_balancing_weight": 1, "lb_endpoints": [{"endpoint": {"address":
            {"socket_address": {"address": "10.0.0.1", "port_value": 80}}}}]}]"#;
        let text = format!(
            r#"{{"@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment", "cluster_name": "c",
            "policy": {policy}, "endpoints": {endpoints}}}"#
        );
        who_has("eds-drop-all", &text)
    };
    assert_eq!(of(100), "cpp go java node");
    assert_eq!(of(99), "");
    assert_eq!(of(150), "cpp");
}

#[test]
fn routes_that_no_rpc_takes_are_told_for_those_who_leave_them_out_or_fail() {
    let route = r#"{"match": {"prefix": "", "query_parameters": [{"name": "a"}]}, "route": {"cluster": "c"}}"#;
    // Node drops only the condition.
    assert_eq!(
        who_has("rds-route-query-parameters", &one_host("\"*\"", route)),
        "cpp go java"
    );
    let text = |side: &str| {
        format!(
            r#"{{"@type": "type.googleapis.com/envoy.config.listener.v3.Listener", "name": "l", {}}}"#,
            side.replace(
                "HCM",
                r#""@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
                "http_filters": [{"name": "router", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}],
                "route_config""#
            )
        )
    };
    let rule = "hcm-route-action-for-other-side";
    let channel = r#""api_listener": {"api_listener": {HCM: {"virtual_hosts": [{"domains": ["*"], "routes": [{"match": {"prefix": ""}, "non_forwarding_action": {}}]}]}}}"#;
    assert_eq!(who_has(rule, &text(channel)), "cpp go java");
    let server = r#""address": {"socket_address": {"address": "0.0.0.0", "port_value": 80}}, "filter_chains": [{"filters": [{"name": "h", "typed_config":
        {HCM: {"virtual_hosts": [{"domains": ["*"], "routes": [{"match": {"prefix": ""}, "route": {"cluster": "c"}}]}]}}}]}]"#;
    assert_eq!(who_has(rule, &text(server)), "cpp go java");
}

#[test]
fn a_retry_policy_without_codes_has_none_in_any_client() {
    let of = |retry_on: &str| {
        let policy = format!(r#""retry_policy": {{"retry_on": "{retry_on}"}}"#);
        let route = format!(r#"{{"match": {{"prefix": ""}}, "route": {{"cluster": "c", {policy}}}}}"#);
        who_has("rds-retry-policy-without-codes", &one_host("\"*\"", &route))
    };
    assert_eq!(of("5xx,connect-failure"), "cpp go java node");
    assert_eq!(of(" UNAVAILABLE"), "cpp node");
    // Java compares the word with the names of status codes.
    assert_eq!(of("deadline_exceeded"), "cpp node");
    assert_eq!(of("cancelled"), "");
    let host = r#"{ROUTES: [{"domains": ["*"], "retry_policy": {"retry_on": "5xx"}, "routes": [{"match": {"prefix": ""}, "route": {"cluster": "c"}}]}]}"#;
    assert_eq!(who_has("rds-retry-policy-without-codes", host), "cpp go node");
}

#[test]
fn ring_hash_without_a_hash_policy_is_random_in_every_client() {
    let rule = "rds-ring-hash-without-hash-policy";
    let routes = |name: &str| {
        let route = format!(r#"{{"match": {{"prefix": ""}}, "route": {{"cluster": "{name}"}}}}"#);
        one_host("\"*\"", &route)
    };
    let ring = r#"{CLUSTER: "c", "lb_policy": "RING_HASH", EDS}"#;
    assert_eq!(who_has(rule, &format!("{}, {ring}", routes("c"))), "cpp go java node");
    // Before A75, the aggregate's own policy is used.
    let all = r#"{CLUSTER: "all", "cluster_type": {"name": "envoy.clusters.aggregate", "typed_config": {
        "@type": "type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig", "clusters": ["c"]}}}"#;
    assert_eq!(who_has(rule, &format!("{}, {ring}, {all}", routes("all"))), "cpp");
    // Go and Java use the first entry.
    let policy = |name: &str, config: &str| {
        format!(
            r#"{{"typed_extension_config": {{"name": "p", "typed_config": {{
                "@type": "type.googleapis.com/envoy.extensions.load_balancing_policies.{name}"{config}}}}}}}"#
        )
    };
    let hash = policy("ring_hash.v3.RingHash", r#", "hash_function": "XX_HASH""#);
    let least = policy("least_request.v3.LeastRequest", "");
    let list = |list: &str| format!(r#"{{CLUSTER: "c", EDS, "load_balancing_policy": {{"policies": [{list}]}}}}"#);
    let ask = |entries: &str| who_has(rule, &format!("{}, {}", routes("c"), list(entries)));
    assert_eq!(ask(&hash), "cpp go java node");
    assert_eq!(ask(&format!("{least}, {hash}")), "cpp");
}

#[test]
fn a_hash_policy_without_ring_hash_has_no_effect_in_any_client() {
    let route =
        r#"{"match": {"prefix": ""}, "route": {"cluster": "c", "hash_policy": [{"header": {"header_name": "x"}}]}}"#;
    let list = format!(r#"{}, {{CLUSTER: "c", EDS}}"#, one_host("\"*\"", route));
    assert_eq!(who_has("rds-hash-policy-unused", &list), "cpp go java node");
}

#[test]
fn an_action_that_grpc_has_not_fails_in_go_too() {
    let redirect = r#"{"match": {"prefix": ""}, "redirect": {"host_redirect": "x"}}"#;
    // Java and Node reject the route because of it.
    assert_eq!(
        who_has("rds-route-action-unknown", &one_host("\"*\"", redirect)),
        "cpp go java node"
    );
}

#[test]
fn a_domain_is_taken_for_those_who_compare_so() {
    let of = |domains: &str| {
        let route = r#"{"match": {"prefix": ""}, "route": {"cluster": "c"}}"#;
        let hosts = domains
            .split(' ')
            .map(|domain| format!(r#"{{"domains": [{domain}], "routes": [{route}]}}"#));
        let hosts: Vec<String> = hosts.collect();
        who_has("rds-domain-taken", &format!("{{ROUTES: [{}]}}", hosts.join(",")))
    };
    assert_eq!(of(r#""a.b" "a.b""#), "cpp go java node");
    assert_eq!(of(r#""a.b" "A.b""#), "cpp java");
    // In Java, the last one wins.
    assert_eq!(of(r#""*.b" "*.b""#), "cpp go node");
    assert_eq!(of(r#""*","*""#), "cpp go java node");
    assert_eq!(of(r#""*.b" "*.B""#), "cpp");
}

#[test]
fn a_route_is_out_of_reach_for_those_who_keep_the_one_before() {
    let of = |first: &str, rest: &str, second: &str| {
        let routes =
            format!(r#"{{"match": {{{first}}}, {rest}}}, {{"match": {{{second}}}, "route": {{"cluster": "d"}}}}"#);
        who_has("rds-route-unreachable", &one_host("\"*\"", &routes))
    };
    let route = r#""route": {"cluster": "c"}"#;
    assert_eq!(of(r#""prefix": """#, route, r#""prefix": "/a""#), "cpp go java node");
    // Without case_sensitive, `/A` equals `/a` in Java.
    assert_eq!(of(r#""prefix": "/a""#, route, r#""prefix": "/a/b""#), "cpp go node");
    assert_eq!(of(r#""prefix": """#, r#""redirect": {}"#, r#""prefix": "/a""#), "cpp");
}

#[test]
fn an_aggregate_that_loops_or_repeats_does_so_in_go_too() {
    let of = |clusters: &str| {
        format!(
            r#"{{CLUSTER: "all", "cluster_type": {{"name": "envoy.clusters.aggregate", "typed_config": {{
            "@type": "type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig", "clusters": [{clusters}]}}}}}}, {{CLUSTER: "c", EDS}}"#
        )
    };
    assert_eq!(who_has("aggregate-loop", &of(r#""c", "all""#)), "cpp go");
    assert_eq!(who_has("aggregate-duplicate", &of(r#""c", "c""#)), "cpp go");
}

#[test]
fn a_field_that_no_client_reads_is_missed_in_every_client() {
    let route = r#"{"match": {"prefix": ""}, "request_headers_to_add": [{"header": {"key": "x", "value": "y"}}],
        "route": {"cluster": "c", "timeout": "5s", "host_rewrite_literal": "x"}}"#;
    let text = resources(&one_host("\"*\"", route));
    for client in ["cpp", "go@1.60", "go", "java", "node"] {
        let found = found(client, &text);
        let count = found.iter().filter(|rule| *rule == "behaviour-field-ignored").count();
        assert_eq!(count, 3, "{client}: {found:?}");
    }
    // What only Go drops is not checked. A field that some clients read is reported for those that
    // do not.
    let matches = r#"{CLUSTER: "c", EDS, "transport_socket_matches": [{"name": "x"}]}"#;
    assert_eq!(who_has("security-field-ignored", matches), "cpp node");
}

#[test]
fn a_star_may_stand_for_nothing_in_go_and_node() {
    let listener = |name: &str, domain: &str| {
        format!(
            r#"{{"resources": [{{"@type": "type.googleapis.com/envoy.config.listener.v3.Listener", "name": "{name}", "api_listener": {{"api_listener": {{
        "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
        "route_config": {{"name": "r", "virtual_hosts": [{{"domains": ["{domain}"], "routes": [{{"match": {{"prefix": ""}}, "route": {{"cluster": "c"}}}}]}}]}},
        "http_filters": [{{"name": "router", "typed_config": {{"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}}}]}}}}}}]}}"#
        )
    };
    let who = |text: &str, target: &[&str], rule: &str| {
        let has = |client: &&str| {
            let client = format!("--client={client}");
            let args = [&["validate", "-", "--format=json", &client][..], target].concat();
            xdsctl(&args, text).out.contains(rule)
        };
        let who: Vec<&str> = ["cpp", "go@1.60", "go", "java", "node"]
            .into_iter()
            .filter(has)
            .collect();
        who.join(" ")
    };
    let target = &["--target=xds:///shop"];
    for (domain, expected) in [("*shop", "cpp java"), ("shops", "cpp go@1.60 go java node"), ("*", "")] {
        let text = listener("shop", domain);
        assert_eq!(who(&text, &[], "lds-no-virtual-host"), expected, "{domain}");
        assert_eq!(who(&text, target, "target-without-virtual-host"), expected, "{domain}");
    }
}

#[test]
fn what_no_client_that_was_asked_has_is_not_fixed() {
    // C-core does not know the code in upper case; Go does.
    let route = r#"{"match": {"prefix": ""}, "route": {"cluster": "c", "retry_policy": {"retry_on": "UNAVAILABLE"}}}"#;
    let text = resources(&one_host("\"*\"", route));
    let says = |client: &str| xdsctl(&["validate", "-", client], &text).out.contains("can be fixed");
    assert!(says("--client=cpp"), "{}", xdsctl(&["validate", "-"], &text).out);
    assert!(!says("--client=go"));
    assert!(says("--client=go,cpp"));
}

/// The oldest releases that were measured, each with something that it does not do yet (public
/// threads name these gaps).
#[test]
fn the_oldest_clients_are_asked_themselves() {
    let has = |client: &str, rule: &str, list: &str| found(client, &resources(list)).iter().any(|found| found == rule);
    let regex = r#"{ROUTES: [{"domains": ["*"], "routes": [{"match": {"safe_regex": {"regex": "("}}, "route": {"cluster": "c"}}]}]}"#;
    // Until 1.37, a regex is compiled when a channel uses the routes, so the resource is accepted.
    for client in ["go@1.35", "go@1.36", "go@1.37", "go@1.38"] {
        assert!(has(client, "regex-not-re2", regex), "{client}");
    }
    let gap = r#"{ROUTES: [{"domains": ["*"], "routes": [{"match": {}, "route": {"cluster": "c"}}]}]}"#;
    let good = r#"{ROUTES: [{"domains": ["*"], "routes": [{"match": {"prefix": ""}, "route": {"cluster": "c"}}]}]}"#;
    for client in ["go@1.35", "java@1.34", "java@1.36.3", "java@1.37", "java@1.38"] {
        assert!(has(client, "rds-path-specifier-unsupported", gap), "{client}");
        assert!(!has(client, "rds-path-specifier-unsupported", good), "{client}");
    }
    let ring = r#"{CLUSTER: "c", EDS, "lb_policy": "RING_HASH"}"#;
    let round_robin = r#"{CLUSTER: "c", EDS, "lb_policy": "ROUND_ROBIN"}"#;
    for (client, knows_rings) in [("java@1.36", false), ("java@1.37", true)] {
        assert_eq!(has(client, "cds-lb-policy-unsupported", ring), !knows_rings, "{client}");
        assert!(!has(client, "cds-lb-policy-unsupported", round_robin), "{client}");
    }
    // The locality has no weight: grpc-java#7996 asks about this.
    let eds = r#""@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment", "cluster_name": "c""#;
    let address = r#""endpoint": {"address": {"socket_address": {"address": "10.0.0.1", "port_value": 443}}}"#;
    let endpoints = |more: &str| {
        format!(
            r#"{{{eds}, "endpoints": [{{"locality": {{"region": "r"}}, {more} "lb_endpoints": [{{{address}}}]}}]}}"#
        )
    };
    assert!(has("java@1.36", "eds-without-localities", &endpoints("")));
    assert!(!has(
        "java@1.36",
        "eds-without-localities",
        &endpoints(r#""load_balancing_weight": 1,"#)
    ));
}

#[test]
fn what_an_aggregate_sets_for_nothing_is_told_of_the_clients_that_look_at_its_leaves() {
    let of = |client: &str, more: &str| {
        let any =
            r#""@type": "type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig", "clusters": ["a"]"#;
        let kind = format!(r#""cluster_type": {{"name": "envoy.clusters.aggregate", "typed_config": {{{any}}}}}"#);
        let found = found(client, &resources(&format!(r#"{{CLUSTER: "c", {kind} {more}}}"#)));
        found.iter().any(|rule| rule == "cds-aggregate-field-unused")
    };
    let ring = r#", "lb_policy": "RING_HASH""#;
    for client in ["cpp", "java", "java@1.75", "node"] {
        assert!(of(client, ring), "{client}");
        assert!(!of(client, ""), "{client}");
    }
    assert!(!of("java@1.74", ring));
}

/// Makes an EDS resource with an endpoint of this address, beside a valid endpoint.
fn with_address(address: &str) -> String {
    format!(
        r#"{{"resources": [
            {{"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "c", "type": "EDS",
                "eds_cluster_config": {{"eds_config": {{"ads": {{}}}}}}}},
            {{"@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment", "cluster_name": "c", "endpoints": [
                {{"locality": {{"region": "r"}}, "load_balancing_weight": 1, "lb_endpoints": [{{"endpoint": {address}}},
                    {{"endpoint": {{"address": {{"socket_address": {{"address": "10.0.0.2", "port_value": 80}}}}}}}}]}}]}}]}}"#
    )
}

/// The rows of `live/addresses` show what channels do with these endpoints.
#[test]
fn clients_that_take_any_address_say_what_becomes_of_it() {
    let socket = |address: &str, port: u32| {
        format!(r#"{{"address": {{"socket_address": {{"address": "{address}", "port_value": {port}}}}}}}"#)
    };
    for (client, address, rule, effect) in [
        ("go", socket("10.0.0.1", 70_000), "port-out-of-range", "fails"),
        ("node", socket("10.0.0.1", 70_000), "port-out-of-range", "fails"),
        ("rust", socket("10.0.0.1", 70_000), "port-out-of-range", "fails"),
        ("go", socket("shop.svc", 80), "address-not-ip", "advice"),
        ("rust", socket("shop.svc", 80), "address-not-ip", "advice"),
        ("go", socket("10.0.0.1:80", 80), "address-not-ip", "fails"),
        ("rust", socket("10.0.0.1:80", 80), "address-not-ip", "fails"),
        ("go", "{}".to_owned(), "address-missing", "fails"),
        (
            "go",
            r#"{"address": {"pipe": {"path": "/p"}}}"#.to_owned(),
            "address-not-socket-address",
            "fails",
        ),
    ] {
        let text = with_address(&address);
        let report = xdsctl(&["validate", "-", "--client", client, "--format=json"], &text).json();
        let of_endpoints = &report["resources"][1];
        assert_eq!(of_endpoints["verdict"], "accepted", "{client} {address}");
        let mut findings = of_endpoints["findings"].as_array().unwrap().iter();
        let told = findings.any(|finding| finding["rule"] == rule && finding["effect"] == effect);
        assert!(told, "{client} {address}: {of_endpoints}");
        // Where RPCs go depends on DNS only if the client asks DNS.
        let tree = xdsctl(&["tree", "-", "--client", client, "--cluster", "c"], &text);
        let told = tree.err.contains("an endpoint has the address `shop.svc`, which");
        assert_eq!(
            (told, tree.code),
            (effect == "advice", Some(if told { 2 } else { 0 })),
            "{client} {address}: {}",
            tree.err
        );
    }
    for client in ["cpp", "java", "node"] {
        let report = xdsctl(
            &["validate", "-", "--client", client, "--format=json"],
            with_address(&socket("shop.svc", 80)),
        );
        assert_eq!(report.json()["resources"][1]["verdict"], "rejected", "{client}");
    }
}

#[test]
fn an_override_of_ext_authz_is_taken_by_java_since_it_has_the_filter() {
    let of = |client: &str, any: &str| {
        let text = resources(&format!(
            r#"{{ROUTES: [{{"domains": ["*"], "routes": [{{"match": {{"prefix": ""}}, "route": {{"cluster": "c"}}}}],
                "typed_per_filter_config": {{"f": {any}}}}}]}}"#
        ));
        found(client, &text)
            .into_iter()
            .filter(|rule| rule == "filter-override-type-unknown" || rule == "any-undecodable")
            .collect::<Vec<_>>()
    };
    for name in ["ExtAuthz", "ExtAuthzPerRoute"] {
        let url = format!("type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.{name}");
        let plain = format!(r#"{{"@type": "{url}"}}"#);
        assert_eq!(of("java", &plain), [""; 0]);
        for client in ["java@1.83.1", "go", "cpp"] {
            assert_eq!(of(client, &plain), ["filter-override-type-unknown"], "{client}");
        }
        let within = format!(r#"{{"@type": "type.googleapis.com/xds.type.v3.TypedStruct", "type_url": "{url}"}}"#);
        assert_eq!(of("java", &within), ["any-undecodable"]);
    }
}
