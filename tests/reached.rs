//! Checks that a limit that is reached is reported, and that the work just below it is done.

use serde_json::{Map, Value, json};

use crate::run::{Run, directory, in_process};

const ENVOY: &str = "type.googleapis.com/envoy";

fn run(args: &[&str], input: &Value) -> Run {
    in_process(args, input.to_string(), |_| {})
}

fn cluster(name: &str) -> Value {
    json!({
        "@type": format!("{ENVOY}.config.cluster.v3.Cluster"), "name": name, "type": "EDS",
        "eds_cluster_config": {"eds_config": {"ads": {}}},
    })
}

#[test]
fn regexes_of_routes_that_need_too_much_are_not_matched() {
    let routes = |count: usize| {
        let regex = |i: usize| json!({"match": {"safe_regex": {"regex": format!("[\\pL{i}]{{300}}")}}, "route": {"cluster": "c"}});
        let hosts = json!([{"name": "v", "domains": ["*"], "routes": (0..count).map(regex).collect::<Vec<_>>()}]);
        json!([cluster("c"), {
            "@type": format!("{ENVOY}.config.route.v3.RouteConfiguration"), "name": "r", "virtual_hosts": hosts,
        }])
    };
    let words = "the regexes of the routes that may take the RPC need more than 20000000 instructions, the limit for one channel";
    for command in ["route", "pick", "retry"] {
        let args = [command, "--route-config=r", "--method=/a.B/C", "-"];
        let beyond = run(&args, &routes(100));
        assert_eq!((beyond.code, beyond.out.as_str()), (Some(2), ""), "{}", beyond.err);
        assert!(beyond.err.contains(words), "{}", beyond.err);
        let within = run(&args, &routes(1));
        assert_eq!(within.code, Some(1), "{}", within.err);
    }
}

#[test]
fn more_files_than_a_bootstrap_may_name_are_not_opened() {
    let directory = directory("reached", "files");
    let entry = |i: usize| {
        let path = directory.join(format!("{i}.json"));
        std::fs::write(&path, "{\"resources\":[]}").unwrap();
        let mut cluster = cluster(&format!("c{i}"));
        cluster["eds_cluster_config"]["eds_config"] = json!({"path_config_source": {"path": path}});
        cluster
    };
    let bootstrap = |count: usize| {
        let clusters: Vec<Value> = (0..count).map(entry).collect();
        json!({"node": {"id": "n", "cluster": "n"}, "static_resources": {"clusters": clusters}})
    };
    let words = "more than 1000 files are named";
    let report = |count: usize| {
        let allow = format!("--allow-read={}", directory.display());
        run(&["validate", "--format=json", &allow, "-"], &bootstrap(count))
    };
    let beyond = report(1001);
    assert_eq!(beyond.out.matches(words).count(), 1, "{}", beyond.err);
    let within = report(1000);
    assert!(
        !within.out.contains(words) && within.out.contains("c999"),
        "{}",
        within.err
    );
}

#[test]
fn distinct_faults_of_a_log_beyond_the_limit_are_counted() {
    let line = |i: usize| {
        format!(
            "[resource index 0: c{i}: INVALID_ARGUMENT: errors validating Cluster resource: [field:lb_policy error:LB policy is not supported]]\n"
        )
    };
    let read = |count: usize| in_process(&["explain", "-"], (0..count).map(line).collect::<String>(), |_| {});
    let beyond = read(1002);
    assert_eq!(beyond.code, Some(2));
    let words = "the log has more than 1000 distinct faults: 2 messages of others are left out";
    assert!(beyond.err.contains(words), "{}", beyond.err);
    assert_eq!(read(1000).code, Some(0));
}

#[test]
fn a_shape_is_looked_for_in_few_objects() {
    let around = |levels: usize| (0..levels).fold(cluster("a"), |inner, _| json!({"x": inner}));
    let rules = |levels: usize| run(&["validate", "--format=json", "-"], &around(levels)).findings();
    assert_eq!(rules(7), [""; 0]);
    assert_eq!(rules(8), ["dump-unknown-shape"]);
}

/// Makes a HttpConnectionManager without a route.
fn connection_manager() -> Value {
    json!({
        "@type": format!("{ENVOY}.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"),
        "route_config": {"virtual_hosts": []},
        "http_filters": [{"name": "r", "typed_config": {"@type": format!("{ENVOY}.extensions.filters.http.router.v3.Router")}}],
    })
}

#[test]
fn combinations_of_filter_chains_are_counted_before_they_are_compared() {
    let hcm = connection_manager();
    let ranges = |net: usize, count: usize| -> Vec<Value> {
        let range = |i: usize| json!({"address_prefix": format!("{net}.{}.{}.0", i >> 8, i & 255), "prefix_len": 24});
        (0..count).map(range).collect()
    };
    let listener = |sources: usize| {
        json!([{
            "@type": format!("{ENVOY}.config.listener.v3.Listener"), "name": "l",
            "address": {"socket_address": {"address": "0.0.0.0", "port_value": 80}},
            "filter_chains": [{
                "filter_chain_match": {"prefix_ranges": ranges(10, 500), "source_prefix_ranges": ranges(11, sources)},
                "filters": [{"name": "h", "typed_config": hcm}],
            }],
        }])
    };
    let words = "filter chains have more than 200000 combinations, the rest is not compared";
    for client in ["--client=node", "--client=go"] {
        let told = |sources: usize| run(&["validate", client, "--format=json", "-"], &listener(sources)).out;
        assert!(told(401).contains(words), "{client}");
        assert!(!told(400).contains(words), "{client}");
    }
}

#[test]
fn filter_chains_are_compared_up_to_a_limit() {
    let hcm = connection_manager();
    let range =
        |net: usize, i: usize| json!({"address_prefix": format!("{net}.{}.{}.0", i >> 8, i & 255), "prefix_len": 24});
    let chain =
        |matches: Value| json!({"filter_chain_match": matches, "filters": [{"name": "h", "typed_config": hcm}]});
    // The first chain is compared with another one at each of its ranges, each time with its 4,000
    // sources. The reference never reaches the comparison of those with protocols.
    let listener = |count: usize, protocols: &[&str]| {
        let of =
            |net: usize, from: usize, count: usize| (from..from + count).map(|i| range(net, i)).collect::<Vec<_>>();
        let matches = |destinations: Vec<Value>, sources: Vec<Value>| {
            chain(
                json!({"prefix_ranges": destinations, "source_prefix_ranges": sources, "application_protocols": protocols}),
            )
        };
        let first = matches(of(10, 0, count), of(11, 0, 4000));
        let other = |i: usize| matches(of(10, i, 1), of(12, i, 1));
        json!([{
            "@type": format!("{ENVOY}.config.listener.v3.Listener"), "name": "l",
            "address": {"socket_address": {"address": "0.0.0.0", "port_value": 80}},
            "filter_chains": std::iter::once(first).chain((0..count).map(other)).collect::<Vec<_>>(),
        }])
    };
    for (client, protocols, words) in [
        (
            "--client=cpp",
            &[][..],
            "more than 1000000 combinations of ranges and ports",
        ),
        ("--client=java", &["h2"], "more than 1000000 pairs of chains and ranges"),
    ] {
        let told = |count: usize| run(&["validate", client, "--format=json", "-"], &listener(count, protocols)).out;
        let beyond = told(260);
        assert!(beyond.contains(words), "{client}: {beyond}");
        let within = told(230);
        assert!(
            within.contains("\"accepted\"") && !within.contains("1000000"),
            "{client}: {within}"
        );
    }
}

#[test]
fn route_tables_that_take_too_many_steps_are_not_compared_to_the_end() {
    let directory = directory("reached", "tables");
    // No route matches any RPC, so every RPC of two of them goes through both tables.
    let file = |count: usize, value: &str| {
        let fraction = json!({"default_value": {"numerator": 0, "denominator": "HUNDRED"}});
        let route = |i: usize| {
            let header = json!({"name": format!("h{i}"), "string_match": {"exact": value}});
            json!({"match": {"prefix": "/", "headers": [header], "runtime_fraction": fraction}, "route": {"cluster": "c"}})
        };
        let hosts = json!([{"name": "v", "domains": ["*"], "routes": (0..count).map(route).collect::<Vec<_>>()}]);
        let routes = json!([cluster("c"), {
            "@type": format!("{ENVOY}.config.route.v3.RouteConfiguration"), "name": "r", "virtual_hosts": hosts,
        }]);
        let path = directory.join(format!("{count}-{value}.json"));
        std::fs::write(&path, routes.to_string()).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let told = |count: usize| {
        let (before, after) = (file(count, "a"), file(count, "b"));
        in_process(&["diff", "--fail-on=not-checked", &before, &after], "", |_| {})
    };
    let words = "the route tables are too large to be compared in full, RPCs may move that are not listed";
    let beyond = told(320);
    assert!(beyond.err.contains(words), "{}{}", beyond.out, beyond.err);
    let open = "where RPCs go: there is too much to compare in full";
    assert!(beyond.out.contains(open) && beyond.code == Some(1), "{}", beyond.out);
    let within = told(30);
    assert_eq!(within.code, Some(0), "{}", within.out);
    assert!(!within.err.contains(words), "{}{}", within.out, within.err);
}

#[test]
fn a_test_has_so_many_clients_and_tells_so_many_ways() {
    let test = |clients: usize, steps: usize| {
        let names: Map<String, Value> = (0..clients).map(|i| (format!("c{i}"), Value::Null)).collect();
        let step = json!({"pick": {}, "expect": {"status": "OK"}});
        let suite = json!({"cluster": "c", "world": [cluster("c")], "clients": names, "steps": vec![step; steps]});
        run(&["test", "--format=json", "-"], &suite)
    };
    let beyond = test(1001, 1);
    assert_eq!(beyond.code, Some(2), "{}", beyond.err);
    assert!(
        beyond.out.contains("must be an object of clients by name, 1 to 1000"),
        "{}",
        beyond.out
    );
    assert_eq!(test(1000, 1).code, Some(1));
    let failures = test(1, 1002).json()["suites"][0]["tests"][0]["failures"].clone();
    let failures = failures.as_array().unwrap();
    let ways = failures.iter().filter(|failure| failure["rpc"].is_object()).count();
    assert_eq!((failures.len(), ways), (1002, 1000));
}
