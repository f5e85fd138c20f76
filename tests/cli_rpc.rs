//! Tests that `route`, `retry` and `pick` agree about an RPC (one seed, one cluster, one exit
//! code), and of what `pick` refuses.

use serde_json::{Value, json};

use crate::cli_tree::{run, run_args};
use crate::run::Run;

/// Makes a world of an API listener `svc` with these routes, and of these clusters and endpoints.
fn world(routes: Value, others: &[Value]) -> String {
    let prefix = "type.googleapis.com/envoy";
    let listener = json!({
        "@type": format!("{prefix}.config.listener.v3.Listener"),
        "name": "svc",
        "api_listener": {"api_listener": {
            "@type": format!("{prefix}.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"),
            "route_config": {"name": "r", "virtual_hosts": [{"domains": ["*"], "routes": routes}]},
            "http_filters": [{"name": "router", "typed_config": {
                "@type": format!("{prefix}.extensions.filters.http.router.v3.Router"),
            }}],
        }},
    });
    let resources: Vec<&Value> = std::iter::once(&listener).chain(others).collect();
    json!({ "resources": resources }).to_string()
}

fn to(route: Value) -> Value {
    json!([{"match": {"prefix": ""}, "route": route}])
}

fn cluster(name: &str) -> Value {
    json!({
        "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
        "name": name,
        "type": "EDS",
        "eds_cluster_config": {"eds_config": {"ads": {}}},
    })
}

fn aggregate(name: &str, child: &str) -> Value {
    json!({
        "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
        "name": name,
        "cluster_type": {"name": "envoy.clusters.aggregate", "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig",
            "clusters": [child],
        }},
    })
}

fn endpoints(cluster: &str, addresses: &[&str]) -> Value {
    let list: Vec<Value> = addresses
        .iter()
        .map(|address| json!({"endpoint": {"address": {"socket_address": {"address": address, "port_value": 80}}}}))
        .collect();
    json!({
        "@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",
        "cluster_name": cluster,
        "endpoints": [{"locality": {"region": "r"}, "load_balancing_weight": 1, "lb_endpoints": list}],
    })
}

/// Makes a cluster that works.
fn working(name: &str) -> [Value; 2] {
    [cluster(name), endpoints(name, &["10.0.0.1"])]
}

/// Returns for each case a world, what happens to an RPC there, and the exit code.
fn cases() -> Vec<(&'static str, String, i32)> {
    let with = |routes: Value| world(routes, &working("c"));
    let deep: Vec<Value> = (0..20)
        .map(|level| aggregate(&format!("a{level}"), &format!("a{}", level + 1)))
        .chain([cluster("a20")])
        .collect();
    let rejected = json!({
        "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
        "name": "c",
        "type": "EDS",
        "lb_policy": "MAGLEV",
        "eds_cluster_config": {"eds_config": {"ads": {}}},
    });
    let retries = |back_off: Value| {
        with(to(
            json!({"cluster": "c", "retry_policy": {"retry_on": "unavailable", "retry_back_off": back_off}}),
        ))
    };
    vec![
        ("works", with(to(json!({"cluster": "c"}))), 0),
        ("works with retries", retries(json!({"base_interval": "1s"})), 0),
        ("absent cluster", with(to(json!({"cluster": "d"}))), 1),
        ("rejected cluster", world(to(json!({"cluster": "c"})), &[rejected]), 1),
        ("cluster too deep", world(to(json!({"cluster": "a0"})), &deep), 1),
        ("no endpoints", world(to(json!({"cluster": "c"})), &[cluster("c")]), 1),
        (
            "empty locality",
            world(to(json!({"cluster": "c"})), &[cluster("c"), endpoints("c", &[])]),
            1,
        ),
        (
            "no route",
            with(json!([{"match": {"path": "/x/y"}, "route": {"cluster": "c"}}])),
            1,
        ),
        (
            "unsupported action",
            with(json!([{"match": {"prefix": ""}, "redirect": {}}])),
            1,
        ),
        (
            "no usable retry policy",
            retries(json!({"base_interval": "0.0001s"})),
            1,
        ),
        (
            "back-off without a limit",
            retries(json!({"base_interval": "31557600001s"})),
            1,
        ),
        (
            "back-off with a limit",
            retries(json!({"base_interval": "31557600001s", "max_interval": "31557600001s"})),
            0,
        ),
    ]
}

#[test]
fn route_retry_and_pick_have_one_exit_code() {
    let mut wrong = Vec::new();
    for (name, world, expected) in cases() {
        for command in ["route", "retry", "pick"] {
            for format in ["human", "json"] {
                let Run { code, out, err } = run(&format!("{command} --format {format} -"), &world);
                if code != Some(expected) {
                    wrong.push(format!(
                        "{name}: {command} exits with {code:?}, not {expected}\n{out}{err}"
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn one_seed_is_one_cluster_one_hash_and_one_back_off() {
    let clusters =
        json!({"clusters": [{"name": "a", "weight": 1}, {"name": "b", "weight": 1}, {"name": "c", "weight": 1}]});
    let policy = json!({"retry_on": "unavailable", "num_retries": 4});
    let routes = to(json!({"weighted_clusters": clusters, "retry_policy": policy}));
    let others: Vec<Value> = ["a", "b", "c"].into_iter().flat_map(working).collect();
    let world = world(routes, &others);
    let mut chosen = std::collections::BTreeSet::new();
    for seed in 0..12 {
        let json = |line: String| -> Value { serde_json::from_str(&run(&line, &world).out).unwrap() };
        let route = json(format!("route --seed {seed} --format json -"));
        let pick = json(format!("pick --seed {seed} --respond UNAVAILABLE:4 --format json -"));
        let retry = json(format!("retry --seed {seed} --script UNAVAILABLE --format json -"));
        let steps: Vec<(&str, &str)> = pick["picks"][0]["trace"]
            .as_array()
            .unwrap()
            .iter()
            .map(|step| (step["layer"].as_str().unwrap(), step["what"].as_str().unwrap()))
            .collect();
        let of = |layer: &str| steps.iter().find(|step| step.0 == layer).unwrap().1;
        let key = route["route"]["key"].as_str().unwrap();
        assert_eq!(of("route"), format!("routes[0]: takes it to {key}, with 1 of 3"));
        assert!(of("request hash").starts_with(&format!("0x{}", route["route"]["hash"].as_str().unwrap())));
        let waits: Vec<String> = retry["outcome"]["attempts"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|attempt| attempt["wait_ms"].as_i64())
            .map(|ms| format!("tries again in {ms} ms"))
            .collect();
        let waited = steps.iter().filter(|step| step.0 == "retry");
        let waited: Vec<String> = waited
            .map(|step| step.1.rsplit_once(": ").unwrap().1.to_owned())
            .collect();
        assert_eq!((waits.len(), &waits), (4, &waited), "seed {seed}");
        chosen.insert(key.to_owned());
    }
    assert_eq!(chosen.len(), 3, "{chosen:?}");
}

#[test]
fn a_limit_that_is_reached_is_an_error_with_its_name() {
    let world = world(to(json!({"cluster": "c"})), &working("c"));
    let path = std::env::temp_dir().join(format!("xdsctl-limit-{}.json", std::process::id()));
    std::fs::write(&path, &world).unwrap();
    let file = path.display();
    let waits = run(
        &format!("pick --max-events 20000 --down c --wait-for-ready --timeout 1e9 {file}"),
        "",
    );
    let sleeps = run(
        &format!("pick --max-events 20000 --down c --requests - --format json {file}"),
        "{\"begin\": {\"name\": \"b\", \"wait_for_ready\": true, \"timeout\": 1e9}}\n{\"pick\": {\"timeout\": 1}}\n{\"sleep\": 1e9}\n{\"finish\": \"b\"}\n",
    );
    std::fs::remove_file(&path).unwrap();
    let words = "the simulation ends after 20000 events (limit `--max-events`)";
    assert_eq!(waits.code, Some(2));
    assert!(waits.err.contains(&format!("xdsctl: {words}")), "{}", waits.err);
    assert_eq!(sleeps.code, Some(2));
    assert!(
        sleeps.err.starts_with(&format!("xdsctl: -:3: {words}")),
        "{}",
        sleeps.err
    );
    let told: Value = serde_json::from_str(&sleeps.out).unwrap();
    assert_eq!(told["picks"].as_array().unwrap().len(), 1);
    assert!(told["error"].as_str().unwrap().starts_with(&format!("-:3: {words}")));
}

#[test]
fn what_would_do_nothing_is_refused() {
    let file = "fixtures/tree/weighted.yaml";
    for (line, steps, words) in [
        (
            "pick --eject 10.0.0.9:80",
            "",
            "--eject: no endpoint of the channel has the address `10.0.0.9:80`",
        ),
        (
            "pick --eject nope",
            "",
            "--eject `nope` must be an address like 10.0.0.1:80",
        ),
        (
            "pick --state 10.0.0.9:80=IDLE",
            "",
            "--state: no endpoint of the channel has the address `10.0.0.9:80`",
        ),
        (
            "pick --reachable 10.0.0.9:80",
            "",
            "--reachable: no endpoint of the channel has the address `10.0.0.9:80`",
        ),
        (
            "pick --down 192.168.7.7:443",
            "",
            "--down: no endpoint of the channel has the address `192.168.7.7:443`; there is `10.0.0.1:80`",
        ),
        (
            "pick --requests -",
            "{\"pick\":{\"count\":1,\"count\":2}}",
            "-:1: `count` occurs twice in one object, where only one can count",
        ),
        (
            "pick --requests -",
            "{\"pick\":{\"metod\":\"/a/b\"}}",
            "-:1: pick has no `metod`, did you mean `method`?",
        ),
        (
            "pick --reachable 10.0.0.9:80",
            "",
            "--reachable: no endpoint of the channel has the address `10.0.0.9:80`",
        ),
        ("pick --requests -", "\n\n", "-: there is no step in it"),
        (
            "pick --requests -",
            "- pick: {}",
            "-:1: a step is a JSON object in a line of its own, such as `{\"pick\": {}}`",
        ),
        (
            "pick --requests -",
            "\n{\"finish\":\"a\"}",
            "-:2: `finish` names `a`, which no `begin` before it has",
        ),
        (
            "pick --requests -",
            "{\"stop\":\"10.0.0.9:80\"}",
            "-:1: `stop` names 10.0.0.9:80, which is no address",
        ),
        ("validate -A=", "", "an empty name would mean every rule"),
    ] {
        let Run { code, out, err } = run(&format!("{line} {file}"), steps);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{line}: {err}");
        assert!(err.contains(words), "{line}: {err}");
    }
}

#[test]
fn a_script_without_rpcs_says_that_it_has_no_answer() {
    let run = run("pick --requests - fixtures/tree/weighted.yaml", "{\"sleep\":1}\n");
    let words = "note: -: no step sends an RPC, so there is no answer\n";
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(0), "", words));
}

#[test]
fn a_rejected_update_is_told_and_the_earlier_version_stays() {
    let mut bad = cluster("f");
    bad["lb_policy"] = "MAGLEV".into();
    let steps = format!(
        "{}\n{}\n",
        json!({"update": [bad]}),
        json!({"pick": {"method": "/a.B/C"}})
    );
    let run = run("pick --requests - fixtures/tree/weighted.yaml", &steps);
    assert_eq!(run.code, Some(0), "{}", run.err);
    let words = "note: -:1: Cluster `f` is rejected, its earlier version stays: at lb_policy: ";
    assert!(run.err.starts_with(words), "{}", run.err);
}

#[test]
fn a_broken_bootstrap_is_no_bootstrap() {
    let path = std::env::temp_dir().join(format!("xdsctl-bootstrap-{}.json", std::process::id()));
    std::fs::write(&path, "{\"xds_servers\": 3}").unwrap();
    for command in ["tree", "route", "retry", "pick"] {
        let run = run(
            &format!("{command} --bootstrap {} fixtures/tree/weighted.yaml", path.display()),
            "",
        );
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{command}");
        let words = format!(
            "xdsctl: a client cannot start with the bootstrap `{}`: ",
            path.display()
        );
        assert!(run.err.starts_with(&words), "{}", run.err);
    }
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn where_an_address_stands_is_told_to_programs_too() {
    let run = run(
        "pick --address 10.0.0.2:8080 --resolve checkout.example.com:443=10.9.9.9:443 --format json fixtures/examples/checkout.yaml",
        "",
    );
    assert_eq!(run.code, Some(0), "{}", run.err);
    let told: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(told["schema"], "xdsctl.address/v1");
    let place = &told["places"][0];
    assert_eq!(told["places"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&place["cluster"], &place["priority"], &place["health"]),
        (&json!("near"), &json!(0), &json!("DRAINING"))
    );
    let by_way_of = place["cookies"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cookie| &cookie["cluster"]);
    assert_eq!(by_way_of.collect::<Vec<_>>(), ["checkout", "near"]);
}

#[test]
fn waits_that_no_clock_has_room_for_are_added_up() {
    let most = i64::MAX;
    let run = run(
        &format!("retry --retry-on unavailable --num-retries 4 --script UNAVAILABLE:{most}"),
        "",
    );
    let lines = run.out.lines().map(str::trim);
    let attempts: Vec<&str> = lines.filter_map(|line| line.strip_prefix("attempt ")).collect();
    assert!(attempts.len() > 2, "{}{}", run.out, run.err);
    assert!(attempts[0].starts_with("1 at 0s: "), "{}", run.out);
    assert!(attempts[2].starts_with("3 at 9223372036854775.807s: "), "{}", run.out);
}

#[test]
fn a_header_is_taken_as_curl_takes_it() {
    let file = "fixtures/tree/weighted.yaml";
    let gold = run(&format!("route --method /a.B/C --header tenant=gold {file}"), "");
    assert!(gold.out.contains("✓ routes[0] `gold`"), "{}", gold.out);
    let curl = run_args(&["route", "--method", "/a.B/C", "--header", "Tenant: gold", file], "");
    assert_eq!((curl.out, curl.code), (gold.out, gold.code));
}

#[test]
fn a_default_method_is_announced() {
    let said = "note: no --method, the RPC is to `/pkg.Service/Method`\n";
    for command in ["route", "pick", "retry"] {
        let file = "fixtures/tree/hosts.yaml --authority shop.example.com";
        assert!(run(&format!("{command} {file}"), "").err.contains(said), "{command}");
        assert!(
            !run(&format!("{command} --method /a/b {file}"), "").err.contains(said),
            "{command}"
        );
    }
}

#[test]
fn an_address_that_is_gone_is_said_to_be_and_answered() {
    let file = "--method /shop.Checkout/Pay fixtures/examples/checkout.yaml";
    let session = run(&format!("pick --session 10.9.9.9:80 {file}"), "");
    assert!(
        session
            .err
            .contains("has the address `10.9.9.9:80`: the session is one with an endpoint that is gone"),
        "{}",
        session.err
    );
    assert!(session.out.contains("OK from "), "{}", session.out);
    let place = run(&format!("pick --address 10.9.9.9:80 {file}"), "");
    assert!(
        place.out.starts_with("10.9.9.9:80 is in no cluster") && place.out.contains("; the channel has "),
        "{}{}",
        place.out,
        place.err
    );
    assert_eq!(place.code, Some(1));
}

#[test]
fn a_path_that_no_method_has_is_noted() {
    let file = "fixtures/tree/weighted.yaml";
    for path in ["a.B/C", "/a.B.C", "/a.B/", "//C"] {
        let said = format!("note: `{path}` is no path of a method, which is /PKG.SERVICE/METHOD\n");
        let err = run(&format!("route --method {path} {file}"), "").err;
        assert!(err.contains(&said), "{path}: {err}");
    }
    for path in ["/a.B/C", "/a/B/C"] {
        let err = run(&format!("route --method {path} {file}"), "").err;
        assert!(!err.contains("no path of a method"), "{path}: {err}");
    }
}

#[test]
fn failures_at_several_addresses_are_one_share() {
    let line = "pick --method /shop.Search/Find --count 100 --down search fixtures/suites/world/shop.yaml";
    let told = run(line, "").out;
    let shares: Vec<&str> = told.lines().filter(|line| line.contains('%')).collect();
    assert_eq!(shares.len(), 1, "{told}");
    assert_eq!(shares[0].matches("100.00%").count(), 2, "{told}");
    // A failure that is wider than the column is printed above its numbers.
    assert!(told.contains("Connection refused\n"), "{told}");
    let json = run(&format!("{line} --format json"), "").json();
    assert_eq!(json["shares"].as_array().unwrap().len(), 1, "{}", json["shares"]);
    assert!(json["shares"][0]["expected"].as_f64().unwrap() > 0.999);
}
