//! Checks that all commands have the same view of the client: `tree`, `route` and `pick` use what
//! `validate` says that the client holds.
//!
//! There is one test for each way in which they once differed.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::run::{Run, program, spawned};

fn run(args: &[&str], input: &str) -> Run {
    spawned(program(args), input)
}

/// Returns the verdicts in order, and the rules of all findings on resources, except for unread
/// fields.
fn validate(input: &str) -> (Vec<String>, Vec<String>) {
    let run = run(&["validate", "--format", "json"], input);
    let report: Value = serde_json::from_str(&run.out).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let resources = report["resources"].as_array().unwrap();
    let findings = resources
        .iter()
        .flat_map(|resource| resource["findings"].as_array().unwrap());
    (
        resources.iter().map(|resource| text(&resource["verdict"])).collect(),
        findings
            .filter(|finding| finding["effect"] != "ignored")
            .map(|finding| text(&finding["rule"]))
            .collect(),
    )
}

const LISTENER: &str = "type.googleapis.com/envoy.config.listener.v3.Listener";
const CLUSTER: &str = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const ENDPOINTS: &str = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";

/// Makes a listener whose routes lead to `cluster`.
fn listener(cluster: &str) -> Value {
    json!({"@type": LISTENER, "name": "svc", "api_listener": {"api_listener": {
        "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
        "http_filters": [{"name": "router", "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}],
        "route_config": {"virtual_hosts": [{"domains": ["*"], "routes": [
            {"match": {"prefix": ""}, "route": {"cluster": cluster}}]}]}}}})
}

/// Makes a cluster that the client accepts. The limit of its requests in flight is `limit`, which
/// the tree shows.
fn good(name: &str, limit: u32) -> Value {
    json!({"@type": CLUSTER, "name": name, "type": "EDS", "eds_cluster_config": {"eds_config": {"ads": {}}, "service_name": "e"},
        "circuit_breakers": {"thresholds": [{"max_requests": limit}]}})
}

/// Makes a cluster that the client rejects.
fn bad(name: &str) -> Value {
    let mut cluster = good(name, 1);
    cluster["lb_policy"] = json!("MAGLEV");
    cluster
}

fn endpoints(name: &str) -> Value {
    json!({"@type": ENDPOINTS, "cluster_name": name, "endpoints": [{"locality": {}, "load_balancing_weight": 1,
        "lb_endpoints": [{"endpoint": {"address": {"socket_address": {"address": "10.0.0.1", "port_value": 80}}}}]}]})
}

/// Makes an Envoy admin dump of one cluster `c`: static, active and warming versions.
fn envoy_dump(fixed: &[Value], active: &[Value], warming: &[Value]) -> String {
    let list =
        |clusters: &[Value]| -> Vec<Value> { clusters.iter().map(|cluster| json!({"cluster": cluster})).collect() };
    let configs = json!({"configs": [
        {"@type": "type.googleapis.com/envoy.admin.v3.ClustersConfigDump", "static_clusters": list(fixed),
            "dynamic_active_clusters": list(active), "dynamic_warming_clusters": list(warming)},
        {"@type": "type.googleapis.com/envoy.admin.v3.EndpointsConfigDump",
            "dynamic_endpoint_configs": [{"endpoint_config": endpoints("e")}]},
        {"@type": "type.googleapis.com/envoy.admin.v3.ListenersConfigDump", "dynamic_listeners": [
            {"name": "svc", "active_state": {"listener": listener("c")}}]},
    ]});
    configs.to_string()
}

const REJECTED: &str =
    "rejected, at lb_policy: lb_policy 5 (MAGLEV) is not supported, must be ROUND_ROBIN or RING_HASH";

#[test]
fn a_rejected_version_never_takes_the_place_of_a_good_one_of_another_rank() {
    let cases = [
        // The newer version is known: the client reports it beside the one that it uses.
        (envoy_dump(&[], &[good("c", 7)], &[bad("c")]), true),
        (envoy_dump(&[], &[bad("c")], &[good("c", 7)]), false),
        (envoy_dump(&[good("c", 7)], &[bad("c")], &[]), true),
        (envoy_dump(&[bad("c")], &[good("c", 7)], &[]), false),
    ];
    for (dump, is_news) in cases {
        let (mut verdicts, rules) = validate(&dump);
        verdicts.sort();
        assert_eq!(verdicts, ["accepted", "accepted", "accepted", "rejected"], "{dump}");
        assert!(!rules.iter().any(|rule| rule == "reference-to-rejected"), "{rules:?}");
        let tree = run(&["tree"], &dump);
        assert_eq!(tree.code, Some(0), "{tree:?}");
        assert!(tree.out.contains("at most 7 RPCs"), "{tree:?}");
        let note = format!("note: Cluster `c` is left out, its earlier version stays: {REJECTED}\n");
        assert_eq!(tree.err, if is_news { note.as_str() } else { "" }, "{dump}");
    }
}

#[test]
fn among_good_versions_what_is_in_use_wins() {
    let dump = envoy_dump(&[good("c", 5)], &[good("c", 7)], &[good("c", 9)]);
    let tree = run(&["tree"], &dump);
    assert!(tree.out.contains("at most 7 RPCs"), "{tree:?}");
    assert_eq!((tree.code, tree.err.as_str()), (Some(0), ""));
}

fn directory(test: &str) -> PathBuf {
    crate::run::directory("same_client", test)
}

#[test]
fn every_command_follows_the_files_of_a_bootstrap() {
    let directory = directory("every_command_follows");
    let bootstrap = json!({"dynamic_resources": {
        "lds_config": {"path_config_source": {"path": "lds.json"}},
        "cds_config": {"path_config_source": {"path": "cds.json"}}}});
    let mut cluster = good("c", 7);
    cluster["eds_cluster_config"]["eds_config"] = json!({"path_config_source": {"path": "eds.json"}});
    cluster["eds_cluster_config"]["eds_config"]["resource_api_version"] = json!("V3");
    for (file, text) in [
        ("bootstrap.json", bootstrap),
        ("lds.json", json!({"resources": [listener("c")]})),
        ("cds.json", json!({"resources": [good("c", 7)]})),
    ] {
        fs::write(directory.join(file), text.to_string()).unwrap();
    }
    let file = directory.join("bootstrap.json").display().to_string();
    let tree = run(&["tree", &file], "");
    assert!(tree.out.contains("at most 7 RPCs"), "{tree:?}");
    let route = run(&["route", "--method", "/a/b", &file], "");
    assert!(route.out.contains("cluster       c\n"), "{route:?}");
    // A named file that is missing counts as a part of the input that could not be read.
    fs::remove_file(directory.join("cds.json")).unwrap();
    let tree = run(&["tree", &file], "");
    assert_eq!(tree.code, Some(1));
    assert!(
        tree.err.contains("warning: the answer is based on incomplete input\n"),
        "{tree:?}"
    );
}

#[test]
fn names_and_wrappers_count_for_every_command() {
    // These are a name that the client cannot read, a resource of another type than its response,
    // and an empty wrapper.
    let response =
        |resources: Value| json!({"version_info": "1", "type_url": CLUSTER, "resources": resources}).to_string();
    let rest = json!({"resources": [listener("c"), endpoints("e")]}).to_string();
    let sent_as = |name: &str| json!([{"@type": "type.googleapis.com/envoy.service.discovery.v3.Resource", "name": name, "resource": good("c", 7)}]);
    let fails = |input: String, verdict: &str, words: &str| {
        let input = format!("{input}\n{rest}");
        let (verdicts, _) = validate(&input);
        assert_eq!(verdicts[0], verdict, "{input}");
        let tree = run(&["tree"], &input);
        assert_eq!(tree.code, Some(1), "{input}\n{tree:?}");
        assert!(tree.err.contains(words), "{tree:?}");
        let pick = run(&["pick", "--method", "/a/b"], &input);
        assert_eq!(pick.code, Some(1), "{pick:?}");
    };
    let mut named = good("c", 7);
    named["name"] = json!("xdstp://a/b/c");
    fails(
        response(json!([named])),
        "rejected",
        "Cluster `xdstp://a/b/c` is left out: rejected, ",
    );
    fails(
        response(sent_as("xdstp://a/b/c")),
        "rejected",
        "Cluster `xdstp://a/b/c` is left out: rejected, ",
    );
    let mut other = good("c", 7);
    other["@type"] = json!("other.com/envoy.config.cluster.v3.Cluster");
    fails(
        response(json!([other])),
        "rejected",
        "Cluster `c` is left out: rejected, ",
    );
    // The name of the wrapper counts.
    let input = format!(
        "{}\n{}",
        response(sent_as("d")),
        json!({"resources": [listener("d"), endpoints("e")]})
    );
    let tree = run(&["tree"], &input);
    assert!(tree.code == Some(0) && tree.out.contains("at most 7 RPCs"), "{tree:?}");
}

#[test]
fn half_a_document_is_no_success() {
    let whole = json!({"resources": [listener("c"), good("c", 7), endpoints("e"), good("d", 1)]}).to_string();
    let half = &whole[..whole.len() - 40];
    for command in [
        &["tree"][..],
        &["tree", "--format", "json"],
        &["route", "--method", "/a/b"],
        &["route", "--method", "/a/b", "--format", "json"],
        &["pick", "--method", "/a/b"],
    ] {
        let of_whole = run(command, &whole);
        assert_eq!((of_whole.code, of_whole.err.as_str()), (Some(0), ""), "{of_whole:?}");
        let of_half = run(command, half);
        assert_eq!((of_half.code, &of_half.out), (Some(1), &of_whole.out), "{of_half:?}");
        let fault = of_half.err.lines().next().unwrap();
        assert!(
            fault.starts_with("warning: -:1:") && fault.ends_with(", nothing is read from here on"),
            "{fault}"
        );
        assert_eq!(
            of_half.err.lines().last(),
            Some("warning: the answer is based on incomplete input")
        );
    }
    let retry = run(&["retry", "--method", "/a/b"], half);
    assert_eq!(retry.code, Some(1), "{retry:?}");
}

#[test]
fn a_value_that_cannot_be_used_is_no_success() {
    let mut cluster = good("c", 7);
    cluster["connect_timeout"] = json!("5 parsecs");
    let input = json!({"resources": [listener("c"), cluster, endpoints("e")]}).to_string();
    let tree = run(&["tree"], &input);
    assert_eq!(tree.code, Some(1));
    assert!(tree.err.contains("5 parsecs"), "{tree:?}");
}

#[test]
fn what_a_live_client_rejects_is_rejected() {
    let entry = |status: &str, config: Value| {
        let mut entry = json!({"type_url": CLUSTER, "name": "c", "client_status": status,
            "error_state": {"details": "no such policy"}});
        if config.is_object() {
            entry["xds_config"] = config;
        }
        let other = |url: &str, name: &str, config: Value| json!({"type_url": url, "name": name, "client_status": "ACKED", "xds_config": config});
        json!({"config": [{"node": {"id": "n"}, "generic_xds_configs": [
            other(LISTENER, "svc", listener("c")), entry, other(ENDPOINTS, "e", endpoints("e"))]}]})
        .to_string()
    };
    // No version was ever accepted.
    let never = entry("NACKED", Value::Null);
    let (_, rules) = validate(&never);
    assert!(rules.contains(&"reference-to-rejected".to_owned()), "{rules:?}");
    let tree = run(&["tree"], &never);
    assert_eq!(tree.code, Some(1), "{tree:?}");
    assert!(tree.out.contains("invalid resource: no such policy"), "{tree:?}");
    // The dump shows the version that was accepted.
    let update = entry("NACKED", good("c", 7));
    let tree = run(&["tree"], &update);
    assert_eq!(tree.code, Some(0), "{tree:?}");
    assert!(tree.out.contains("at most 7 RPCs"), "{tree:?}");
    assert_eq!(
        tree.err,
        "note: Cluster `c` is left out, its earlier version stays: invalid resource: no such policy\n"
    );
    // An error that is not about the version in use leaves that version in use.
    let tree = run(&["tree"], &entry("RECEIVED_ERROR", good("c", 7)));
    assert_eq!((tree.code, tree.err.as_str()), (Some(0), ""), "{tree:?}");
    assert!(tree.out.contains("at most 7 RPCs"), "{tree:?}");
}

/// Plays steps on a channel. Returns the codes of the RPCs.
fn play(name: &str, resources: &Value, steps: &[Value]) -> Vec<String> {
    let directory = directory(name);
    let file = directory.join("resources.json");
    fs::write(&file, json!({ "resources": resources }).to_string()).unwrap();
    let text: Vec<String> = steps.iter().map(Value::to_string).collect();
    let file = file.display().to_string();
    let pick = run(
        &["pick", "--requests", "-", "--format", "json", "--method", "/a/b", &file],
        &text.join("\n"),
    );
    let answer: Value = serde_json::from_str(&pick.out).unwrap_or_else(|_| panic!("{pick:?}"));
    let outcomes = answer["picks"].as_array().unwrap_or_else(|| panic!("{answer}"));
    outcomes
        .iter()
        .map(|outcome| outcome["code"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn updates_of_a_script_take_the_same_way() {
    let pick = json!({"pick": {"method": "/a/b", "timeout": 1}});
    let resources = json!([listener("c"), good("c", 7), endpoints("e")]);
    // A rejected update leaves the version before it in use.
    let steps = [pick.clone(), json!({"update": [bad("c")]}), pick.clone()];
    assert_eq!(play("rejected", &resources, &steps), ["OK", "OK"]);
    // A wrapper's name counts, and a wrapper that the client cannot read is rejected.
    let wrapped = |name: &str| {
        json!({"update": [listener("d"), {"@type": "type.googleapis.com/envoy.service.discovery.v3.Resource", "name": name,
            "resource": good("x", 7)}]})
    };
    let steps = [pick.clone(), wrapped("d"), pick.clone()];
    assert_eq!(play("wrapped", &resources, &steps), ["OK", "OK"]);
    let mut with_bad_name = wrapped("xdstp://a/b/c");
    with_bad_name["update"][0] = listener("xdstp://a/b/c");
    let steps = [pick.clone(), with_bad_name, pick.clone()];
    assert_eq!(play("bad_name", &resources, &steps), ["OK", "UNAVAILABLE"]);
    // The last resource of a name wins, but a rejected one does not replace a valid one.
    let steps = [json!({"update": [good("c", 7), bad("c")]}), pick];
    assert_eq!(play("twice", &resources, &steps), ["OK"]);
}

#[test]
fn a_tree_that_no_rpc_gets_through_exits_with_1() {
    let code = |resources: Value, cluster: &str| {
        run(
            &["tree", "--cluster", cluster],
            &json!({ "resources": resources }).to_string(),
        )
        .code
    };
    assert_eq!(code(json!([good("c", 7), endpoints("e")]), "c"), Some(0));
    // The endpoints are missing, there are none, or they take no new RPCs.
    assert_eq!(code(json!([good("c", 7)]), "c"), Some(1));
    let mut none = endpoints("e");
    none["endpoints"] = json!([]);
    assert_eq!(code(json!([good("c", 7), none]), "c"), Some(1));
    let mut draining = endpoints("e");
    draining["endpoints"][0]["lb_endpoints"][0]["health_status"] = json!("DRAINING");
    assert_eq!(code(json!([good("c", 7), draining]), "c"), Some(1));
    // Every RPC is dropped.
    let mut dropping = endpoints("e");
    dropping["policy"] = json!({"drop_overloads": [{"category": "all", "drop_percentage": {"numerator": 100}}]});
    assert_eq!(code(json!([good("c", 7), dropping]), "c"), Some(1));
    // DNS answers are not known, so the three commands about RPCs agree until they are given.
    let dns = json!({"@type": CLUSTER, "name": "d", "type": "LOGICAL_DNS", "load_assignment": {"endpoints": [{"lb_endpoints": [
        {"endpoint": {"address": {"socket_address": {"address": "a.example", "port_value": 80}}}}]}]}});
    let dns = json!({ "resources": [dns] }).to_string();
    let help = "help: DNS is not asked, RPCs that need an address of `a.example:80` fail; give it with --resolve a.example:80=IP:PORT\n";
    for command in ["tree", "route", "pick"] {
        let method = if command == "tree" {
            &[][..]
        } else {
            &["--method", "/s/M"]
        };
        let asked = [&[command, "--cluster", "d"], method].concat();
        let without = run(&asked, &dns);
        assert_eq!((without.code, without.err.as_str()), (Some(1), help), "{command}");
        let with = run(&[&asked[..], &["--resolve", "a.example:80=10.0.0.1:80"]].concat(), &dns);
        assert_eq!((with.code, with.err.as_str()), (Some(0), ""), "{command}");
    }
}
