//! Tests of `diff` for named clients: whose verdicts change, whose RPCs are compared, and what is
//! said about the others.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::cli::xdsctl;
use crate::run::Run;

/// Makes a Listener with a route to `cart`, the Cluster with this policy, and endpoints with these
/// weights.
fn world(policy: &str, weights: &[u64]) -> String {
    let manager = json!({
        "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
        "route_config": {"virtual_hosts": [{"domains": ["*"], "routes": [
            {"match": {"prefix": ""}, "route": {"cluster": "cart"}}]}]},
        "http_filters": [{"name": "router", "typed_config":
            {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}],
    });
    let endpoint = |(port, weight): (usize, &u64)| {
        json!({"endpoint": {"address": {"socket_address": {"address": "10.0.0.1", "port_value": port + 1}}},
            "load_balancing_weight": weight})
    };
    json!({"resources": [
        {"@type": "type.googleapis.com/envoy.config.listener.v3.Listener", "name": "shop",
            "api_listener": {"api_listener": manager}},
        {"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "cart", "type": "EDS",
            "lb_policy": policy, "eds_cluster_config": {"eds_config": {"ads": {}}}},
        {"@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment", "cluster_name": "cart",
            "endpoints": [{"locality": {"region": "r"}, "load_balancing_weight": 1,
                "lb_endpoints": weights.iter().enumerate().map(endpoint).collect::<Vec<_>>()}]},
    ]})
    .to_string()
}

/// Weights whose sum only grpc-go rejects.
const TOO_MUCH: [u64; 2] = [u32::MAX as u64, 1];

struct Files(PathBuf);

impl Files {
    fn new(test: &str) -> Files {
        Files(crate::run::directory("change_clients", test))
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

fn diff(args: &[&str], before: &str, after: &str) -> Run {
    xdsctl(&[&["diff"], args, &[before, after]].concat(), "")
}

/// Returns the kinds of comparison that were not made, with their clients.
fn not_checked(answer: &Value) -> Vec<String> {
    let list = answer["not_checked"].as_array().unwrap().iter();
    let entry = |entry: &Value| {
        let clients = entry["clients"].as_array().unwrap().iter();
        let clients: Vec<&str> = clients.map(|client| client.as_str().unwrap()).collect();
        format!("{} {}", entry["kind"].as_str().unwrap(), clients.join(" "))
    };
    list.map(entry).collect()
}

#[test]
fn the_client_that_is_asked_decides_over_resources() {
    let files = Files::new("verdicts");
    let plain = files.write("plain.json", &world("ROUND_ROBIN", &[1, 1]));
    let least = files.write("least.json", &world("LEAST_REQUEST", &[1, 1]));
    let sum = files.write("sum.json", &world("ROUND_ROBIN", &TOO_MUCH));
    // Each case is (after, client, exit code of verdicts, change of the verdict).
    for (after, client, code, said) in [
        (&least, "cpp", 1, "~ Cluster cart: is rejected now: at lb_policy"),
        (&least, "go", 0, "~ Cluster cart\n"),
        (&sum, "cpp", 0, "~ ClusterLoadAssignment cart\n"),
        (&sum, "go", 1, "~ ClusterLoadAssignment cart: is rejected now: "),
        (&sum, "go@1.72", 0, "~ ClusterLoadAssignment cart\n"),
        (&sum, "java", 0, "~ ClusterLoadAssignment cart\n"),
    ] {
        let run = diff(&["--client", client, "--fail-on", "verdicts"], &plain, after);
        assert_eq!(run.code, Some(code), "{after} {client}: {}{}", run.out, run.err);
        assert!(run.out.contains(said), "{after} {client}: {}", run.out);
    }
    // `--client=go` compares what grpc-go keeps, even if C-core rejects it.
    let run = diff(&["--client=go", "--exit-code", "--format=json"], &plain, &least);
    assert_eq!(run.code, Some(1));
    assert_eq!(not_checked(&run.json()), ["values go@1.85.0"]);
    let run = diff(&["--client=go", "--fail-on=rpcs"], &plain, &least);
    assert_eq!(run.code, Some(1), "{}", run.out);
    let told = "LB policy: xds_wrr_locality over round_robin → least_request";
    assert!(run.out.contains(told), "{}", run.out);
}

#[test]
fn the_clients_of_the_project_are_asked() {
    let files = Files::new("project");
    let plain = files.write("plain.json", &world("ROUND_ROBIN", &[1, 1]));
    let sum = files.write("sum.json", &world("ROUND_ROBIN", &TOO_MUCH));
    let settings = files.write("xdsctl.toml", "clients = [\"go\"]\n");
    let run = diff(&["--config", &settings, "--fail-on=verdicts"], &plain, &sum);
    assert_eq!(run.code, Some(1), "{}", run.out);
    assert!(
        run.out.ends_with(&format!("asked: go@1.85.0 (from {settings}:1)\n")),
        "{}",
        run.out
    );
    // The argument overrides the setting.
    let run = diff(
        &["--config", &settings, "--client=cpp", "--fail-on=verdicts"],
        &plain,
        &sum,
    );
    assert_eq!(run.code, Some(0), "{}", run.out);
}

#[test]
fn clients_that_are_told_the_same_are_told_together() {
    let files = Files::new("groups");
    let plain = world("ROUND_ROBIN", &[1, 1]);
    let sum = files.write("sum.json", &world("ROUND_ROBIN", &TOO_MUCH));
    // Standard input is read only once, however many clients are asked.
    let args = ["diff", "--client=cpp,cpp@1.72.2,node@1.10,node@1.13,go", "-", &sum];
    let run = xdsctl(&args, &plain);
    let heads: Vec<&str> = run.out.lines().filter(|line| line.starts_with("for ")).collect();
    assert_eq!(
        heads,
        ["for cpp, node >=1.13", "for node <1.13", "for go"],
        "{}",
        run.out
    );
    let answer = xdsctl(&[&args[..], &["--format=json"]].concat(), &plain).json();
    let of = |world: &Value| world["clients"].as_array().unwrap().len();
    let groups: Vec<usize> = answer["worlds"].as_array().unwrap().iter().map(of).collect();
    assert_eq!(groups, [3, 1, 1]);
    assert_eq!(
        answer["client"],
        "cpp@1.85.1, cpp@1.72.2, node@1.10.1, node@1.13.0, go@1.85.0"
    );
    let github = xdsctl(&[&args[..], &["--format=github"]].concat(), &plain);
    assert!(
        github.out.contains("title=rejected::go: ClusterLoadAssignment cart"),
        "{}",
        github.out
    );
    assert!(
        github
            .out
            .contains("::notice title=xdsctl::not checked: node <1.13: where RPCs go"),
        "{}",
        github.out
    );
    let markdown = xdsctl(&[&args[..], &["--format=markdown"]].concat(), &plain);
    assert!(markdown.out.contains("\n### For node &lt;1.13\n"), "{}", markdown.out);
}

#[test]
fn rpcs_are_compared_for_those_that_pick_follows() {
    let files = Files::new("rpcs");
    let two = files.write("two.json", &world("ROUND_ROBIN", &[1, 1]));
    let three = files.write("three.json", &world("ROUND_ROBIN", &[1, 1, 1]));
    for (clients, code) in [("cpp", 1), ("go", 1), ("cpp@1.62.3", 1), ("java,go", 1)] {
        let run = diff(&["--client", clients, "--fail-on=rpcs"], &two, &three);
        assert_eq!(run.code, Some(code), "{clients}: {}{}", run.out, run.err);
        assert!(
            run.out.contains("For RPCs\n  cluster cart\n    endpoints: 2 → 3"),
            "{clients}: {}",
            run.out
        );
    }
    for (client, why) in [
        (
            "node@1.10",
            "node@1.10.1 go: RPCs were sent with 1.13.0, 1.14.1; the nearest is node@1.13.0",
        ),
        (
            "cpp@1.56",
            "cpp@1.56.2 go: RPCs were sent with 1.62.3, 1.72.2, 1.85.1; the nearest is cpp@1.62.3",
        ),
    ] {
        let run = diff(&["--client", client, "--fail-on=rpcs"], &two, &three);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{client}");
        assert_eq!(
            run.err,
            format!("xdsctl: --fail-on rpcs: it is not known where RPCs of {why}\n")
        );
        let run = diff(&["--client", client, "--format=json"], &two, &three);
        assert_eq!(run.code, Some(0), "{client}: {}", run.err);
        let world = run.json()["worlds"][0].clone();
        assert_eq!(
            (&world["clusters"], world["resources"].as_array().unwrap().len()),
            (&json!([]), 1)
        );
        assert!(world["rpcs_not_known"].is_string(), "{client}");
        let run = diff(&["--client", client, "--fail-on=not-checked"], &two, &two);
        assert_eq!(run.code, Some(1), "{client}: {}", run.err);
        assert!(
            !run.out.contains("For RPCs") && run.out.contains("not checked: "),
            "{}",
            run.out
        );
    }
    let run = diff(&["--fail-on=not-checked,rpcs"], &two, &two);
    assert_eq!(
        (run.code, run.out.as_str()),
        (Some(0), "nothing changes for a client\nasked: gRPC C-core 1.85.1\n")
    );
}

#[test]
fn domains_are_compared_as_the_client_does() {
    let files = Files::new("own-way");
    let of = |domain: &str| {
        let text = world("ROUND_ROBIN", &[1, 1]);
        let own = text.replace(r#""domains":["*"]"#, &format!(r#""domains":["{domain}"]"#));
        assert_ne!(text, own);
        files.write(&format!("{domain}.json"), &own)
    };
    let (lower, upper) = (of("shop"), of("Shop"));
    // C-core and Java ignore case. In Go and Node, the authority `shop` then has no virtual host.
    for (client, code) in [("cpp", 0), ("java", 0), ("go", 1), ("node", 1)] {
        for (before, after) in [(&lower, &upper), (&upper, &lower)] {
            let client = format!("--client={client}");
            let run = diff(&[&client, "--fail-on=rpcs", "--format=json"], before, after);
            assert_eq!(run.code, Some(code), "{client}: {}", run.err);
        }
    }
}

#[test]
fn a_verdict_that_is_not_known_is_trouble() {
    let files = Files::new("unknown");
    // It has no child: grpc-java rejects that since a version between 1.74 and 1.77.
    let aggregate = |clusters: &[&str]| {
        let config = json!({"@type": "type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig",
            "clusters": clusters});
        json!({"resources": [{"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "all",
            "cluster_type": {"name": "envoy.clusters.aggregate", "typed_config": config}}]})
        .to_string()
    };
    let before = files.write("before.json", &aggregate(&["a"]));
    let after = files.write("after.json", &aggregate(&[]));
    for args in [&[][..], &["--exit-code"], &["--fail-on=verdicts"], &["--format=github"]] {
        let run = diff(&[&["--client=java@1.74.1"], args].concat(), &before, &after);
        assert_eq!(run.code, Some(2), "{args:?}: {}{}", run.out, run.err);
    }
    let run = diff(&["--client=java@1.74.1", "--format=json"], &before, &after);
    let change = &run.json()["worlds"][0]["resources"][0];
    assert_eq!(
        (&change["before"]["state"], &change["after"]["state"]),
        (&json!("accepted"), &json!("not_known"))
    );
    assert_eq!(not_checked(&run.json())[0], "verdict java@1.74.1");
    let run = diff(&["--client=java@1.74.1"], &before, &after);
    let said = "~ Cluster all: it is not known whether the client takes it\n";
    assert!(run.out.contains(said), "{}", run.out);
    let run = diff(&["--client=java@1.74.1", "--format=github"], &before, &after);
    assert!(
        run.out
            .contains("::error title=xdsctl::not checked: java@1.74.1: the verdict on"),
        "{}",
        run.out
    );
}

#[test]
fn who_is_asked_is_chosen_as_for_validate() {
    let files = Files::new("choice");
    let one = files.write("one.json", &world("ROUND_ROBIN", &[1]));
    let run = diff(&["--client=go@1.99"], &one, &one);
    assert_eq!((run.code, run.out.as_str()), (Some(2), ""));
    assert!(run.err.contains("`go@1.99` is not known: it is newer"), "{}", run.err);
    let run = diff(&["--client-from", &one], &one, &one);
    assert!(
        run.code == Some(2) && run.err.contains("--client-from: "),
        "{}",
        run.err
    );
    // A switch that the client does not have is listed, and reported once.
    let run = diff(
        &["--client=java,go", "--env=GRPC_EXPERIMENTAL_XDS_RLS_LB=true"],
        &one,
        &one,
    );
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{}", run.out);
    let run = diff(&["--env=GRPC_NOTHING=true"], &one, &one);
    assert!(run.code == Some(2) && run.err.contains("GRPC_NOTHING"), "{}", run.err);
    assert!(Path::new(&one).exists());
}

/// Makes the world with further fields in its cluster.
fn with_fields(fields: &Value) -> String {
    let mut world: Value = serde_json::from_str(&world("ROUND_ROBIN", &[1, 1])).unwrap();
    let cluster = world["resources"][1].as_object_mut().unwrap();
    cluster.extend(fields.as_object().unwrap().clone());
    world.to_string()
}

#[test]
fn what_a_client_dies_of_later_is_told_of_its_rpcs() {
    let files = Files::new("fails");
    let sound = json!({"interval": "5s", "success_rate_minimum_hosts": 5, "success_rate_request_volume": 100});
    let plain = files.write("plain.json", &with_fields(&json!({"outlier_detection": sound})));
    let zero = json!({"interval": "0s", "success_rate_minimum_hosts": 5, "success_rate_request_volume": 100});
    let zero = files.write("zero.json", &with_fields(&json!({"outlier_detection": zero})));
    let unset = files.write(
        "unset.json",
        &with_fields(&json!({"outlier_detection": {"interval": "5s"}})),
    );
    // Each case is (after, client, whether its RPCs fail).
    for (after, client, fails) in [
        (&zero, "java", true),
        (&zero, "cpp", false),
        (&unset, "node", true),
        (&unset, "java", false),
    ] {
        let run = diff(&["--client", client, "--fail-on=rpcs"], &plain, after);
        assert_eq!(
            run.code,
            Some(i32::from(fails)),
            "{after} {client}: {}{}",
            run.out,
            run.err
        );
        assert_eq!(
            run.out.contains("    RPCs fail: outlier_detection"),
            fails,
            "{after} {client}: {}",
            run.out
        );
        let back = diff(&["--client", client, "--fail-on=rpcs"], after, &plain);
        assert_eq!(
            back.out.contains("    RPCs no longer fail: outlier_detection"),
            fails,
            "{}",
            back.out
        );
    }
}

#[test]
fn the_policy_of_an_aggregate_counts_for_clients_that_use_it() {
    let files = Files::new("aggregate");
    let aggregate = |policy: &str| {
        let mut world: Value = serde_json::from_str(&world("ROUND_ROBIN", &[1, 1])).unwrap();
        let resources = world["resources"].as_array_mut().unwrap();
        let any = "type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig";
        resources.push(json!({
            "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "all", "lb_policy": policy,
            "cluster_type": {"name": "envoy.clusters.aggregate",
                "typed_config": {"@type": any, "clusters": ["cart"]}},
        }));
        world
            .to_string()
            .replace(r#"{"cluster":"cart"}"#, r#"{"cluster":"all"}"#)
    };
    let plain = files.write("plain.json", &aggregate("ROUND_ROBIN"));
    let ring = files.write("ring.json", &aggregate("RING_HASH"));
    for (client, counts) in [
        ("cpp", false),
        ("go", true),
        ("java@1.74", true),
        ("java@1.75", false),
        ("java", false),
        ("node@1.13", false),
        ("node", false),
    ] {
        let run = diff(&["--client", client, "--fail-on=rpcs"], &plain, &ring);
        assert_eq!(run.code, Some(i32::from(counts)), "{client}: {}{}", run.out, run.err);
        assert_eq!(run.out.contains("    LB policy: "), counts, "{client}: {}", run.out);
        assert!(run.out.contains("~ Cluster all"), "{client}: {}", run.out);
    }
}

/// Returns each endpoint's share of the ring, as `tree` prints it.
fn ring_shares(client: &str, file: &str) -> Vec<String> {
    let run = xdsctl(&["tree", "--client", client, file], "");
    assert_eq!(run.code, Some(0), "{}", run.err);
    let shares = run.out.lines().filter(|line| line.contains("of the hash space"));
    shares.map(|line| line.trim().to_owned()).collect()
}

#[test]
fn a_tree_has_the_ring_of_its_client() {
    let files = Files::new("rings");
    let plain = world("RING_HASH", &[1, 1, 1]);
    let mut keyed: Value = serde_json::from_str(&plain).unwrap();
    for (number, endpoint) in keyed["resources"][2]["endpoints"][0]["lb_endpoints"]
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .enumerate()
    {
        endpoint["metadata"] = json!({"filter_metadata": {"envoy.lb": {"hash_key": format!("k{number}")}}});
    }
    let (plain, keyed) = (
        files.write("plain.json", &plain),
        files.write("keyed.json", &keyed.to_string()),
    );
    let share = |line: &String| {
        line.split(" % of the hash space")
            .next()
            .unwrap()
            .rsplit(' ')
            .next()
            .unwrap()
            .to_owned()
    };
    let shares = |client, file| ring_shares(client, file).iter().map(share).collect::<Vec<_>>();
    assert_eq!(shares("java", &plain).len(), 3);
    // grpc-java does not read hash keys, and names the entries otherwise than C-core.
    assert_eq!(shares("java", &plain), shares("java", &keyed));
    assert_ne!(shares("java", &plain), shares("cpp", &plain));
    assert_ne!(shares("go", &plain), shares("go", &keyed));
    let moved = |client| {
        let run = diff(&["--client", client, "--fail-on=rpcs"], &plain, &keyed);
        (run.code, run.out.contains("of all request hashes"))
    };
    assert_eq!(moved("java"), (Some(0), false));
    assert_eq!(moved("go"), (Some(1), true));
}

/// The client dies if a cluster that RPCs use becomes an aggregate of another one. The client of
/// `kind-agg-leaf` and other rows in `conformance/changes.jsonl.gz` died of it.
#[test]
fn a_cluster_that_becomes_an_aggregate_kills_the_client() {
    let files = Files::new("kind");
    let world = |is_aggregate: bool, routed: &str| {
        let leaf = |name: &str| {
            json!({"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": name, "type": "EDS",
                "eds_cluster_config": {"eds_config": {"ads": {}}}})
        };
        let aggregate = |name: &str, of: &str| {
            json!({"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": name, "cluster_type": {
                "name": "envoy.clusters.aggregate", "typed_config": {"clusters": [of],
                    "@type": "type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig"}}})
        };
        let inner = if is_aggregate {
            aggregate("inner", "leaf")
        } else {
            leaf("inner")
        };
        let routes = json!({"@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration", "name": "r",
            "virtual_hosts": [{"domains": ["*"], "routes": [{"match": {"prefix": ""}, "route": {"cluster": routed}}]}]});
        json!({"resources": [routes, aggregate("outer", "inner"), inner, leaf("leaf")]}).to_string()
    };
    for (routed, client, dies) in [
        ("inner", "cpp", true),
        ("inner", "cpp@1.60.2", false),
        ("inner", "go", false),
        // The aggregate has the policies of its leaves, which then differ.
        ("outer", "cpp", false),
    ] {
        let before = files.write("before.json", &world(false, routed));
        let after = files.write("after.json", &world(true, routed));
        for (before, after) in [(&before, &after), (&after, &before)] {
            let run = diff(&["--client", client, "--fail-on=rpcs"], before, after);
            let told = run
                .out
                .contains("    RPCs fail: the client's process dies if it uses the cluster");
            assert_eq!(told, dies, "{routed} {client}: {}{}", run.out, run.err);
        }
    }
}

/// Makes routes to a plugin, with or without a default target, and to a cluster.
fn looked_up(is_plugin: bool, has_other: bool, default: &str) -> String {
    let plugin = json!({"extension": {"name": "looked-up", "typed_config": {
        "@type": "type.googleapis.com/grpc.lookup.v1.RouteLookupClusterSpecifier", "route_lookup_config": {
            "lookup_service": "127.0.0.1:1", "cache_size_bytes": 1000, "default_target": default,
            "grpc_keybuilders": [{"names": [{"service": "shop.Cart"}]}]}}}});
    let leads = |is_plugin: bool| match is_plugin {
        true => json!({"cluster_specifier_plugin": "looked-up"}),
        false => json!({"cluster": "c"}),
    };
    let routes = json!({"@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration", "name": "r",
        "cluster_specifier_plugins": [plugin], "virtual_hosts": [{"domains": ["*"], "routes": [
            {"match": {"path": "/shop.Cart/Get"}, "route": leads(has_other)}, {"match": {"prefix": ""}, "route": leads(is_plugin)}]}]});
    let cluster = json!({"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "c", "type": "EDS",
        "eds_cluster_config": {"eds_config": {"ads": {}}}});
    json!({"resources": [routes, cluster]}).to_string()
}

/// The client dies if the last route to a plugin that RPCs use leads to a cluster instead.
#[test]
fn a_plugin_that_no_route_leads_to_any_more_kills_the_client() {
    let files = Files::new("plugin");
    for (has_other, client, dies) in [
        (false, "cpp", true),
        (false, "cpp@1.63.2", false),
        (false, "go", false),
        (true, "cpp", false),
    ] {
        let before = files.write("before.json", &looked_up(true, has_other, "c"));
        let after = files.write("after.json", &looked_up(false, has_other, "c"));
        let run = diff(&["--client", client, "--fail-on=rpcs"], &before, &after);
        let told = "    RPCs fail: no route leads to the plugin `looked-up` any more, and the process of a client that uses it dies";
        assert_eq!(
            run.out.contains(told),
            dies,
            "{has_other} {client}: {}{}",
            run.out,
            run.err
        );
        let back = diff(&["--client", client], &after, &before);
        assert!(!back.out.contains("the process of a client"), "{}", back.out);
    }
}

/// If a plugin loses its default target, grpc-go goes on with one without a name.
#[test]
fn a_default_target_that_goes_lets_rpcs_wait_in_go() {
    let files = Files::new("default");
    let before = files.write("before.json", &looked_up(true, true, "c"));
    let after = files.write("after.json", &looked_up(true, true, ""));
    let told = "    RPCs fail: the plugin `looked-up` has no default target any more";
    for (client, waits) in [("go", true), ("cpp", false)] {
        let run = diff(&["--client", client, "--with=rls", "--fail-on=rpcs"], &before, &after);
        assert_eq!(run.out.contains(told), waits, "{client}: {}{}", run.out, run.err);
        let back = diff(&["--client", client, "--with=rls"], &after, &before);
        assert!(!back.out.contains(told), "{}", back.out);
    }
}
