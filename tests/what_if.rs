//! Tests of `pick`, `tree` and `route` where something differs from the input, or is missing:
//! endpoints that `--health` and `--remove` change by the client's own rules, a channel without a
//! Listener, an RPC without a route, and shares of a ring.

use serde_json::{Value, json};

use crate::cli_tree::run;
use crate::run::Run;

const CHECKOUT: &str = "--method /shop.Checkout/Pay fixtures/examples/checkout.yaml";

/// Makes a cluster `c` with these endpoints, all in one locality.
fn world(lb_endpoints: &Value) -> String {
    let world = json!({"resources": [
        {
            "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
            "name": "c",
            "type": "EDS",
            "eds_cluster_config": {"eds_config": {"ads": {}}},
        },
        {
            "@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",
            "cluster_name": "c",
            "endpoints": [{"locality": {"region": "r"}, "load_balancing_weight": 1, "lb_endpoints": lb_endpoints}],
        },
    ]});
    world.to_string()
}

/// Runs `pick` on a cluster with these endpoints.
fn pick(arguments: &str, lb_endpoints: &Value) -> Run {
    run(&format!("pick --cluster c {arguments}"), &world(lb_endpoints))
}

fn endpoint(ip: &str, health: &str) -> Value {
    json!({
        "endpoint": {"address": {"socket_address": {"address": ip, "port_value": 80}}},
        "health_status": health,
    })
}

/// Returns the backends that serve one of many RPCs.
fn backends(run: &Run) -> Vec<String> {
    let answer: Value = serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{}{}", run.out, run.err));
    let shares = answer["shares"].as_array().unwrap().iter();
    let taken = shares.filter(|share| share["count"] != 0);
    taken.map(|share| share["label"].as_str().unwrap().to_owned()).collect()
}

fn of_checkout(arguments: &str) -> Vec<String> {
    backends(&run(
        &format!("pick --count 50 --format json {arguments} {CHECKOUT}"),
        "",
    ))
}

#[test]
fn a_change_of_health_is_what_an_update_would_be() {
    assert_eq!(of_checkout(""), ["10.0.0.1:8080", "10.0.1.1:8080"]);
    assert_eq!(of_checkout("--health 10.0.0.1:8080=DRAINING"), ["10.0.1.1:8080"]);
    assert_eq!(of_checkout("--remove 10.0.0.1:8080"), ["10.0.1.1:8080"]);
    assert_eq!(
        of_checkout("--health 10.0.0.2:8080=healthy"),
        ["10.0.0.1:8080", "10.0.0.2:8080", "10.0.1.1:8080"]
    );
    for dropped in ["UNHEALTHY", "TIMEOUT", "DEGRADED"] {
        let run = run(
            &format!(
                "tree --health 10.0.0.1:8080={dropped} {}",
                "fixtures/examples/checkout.yaml"
            ),
            "",
        );
        assert!(!run.out.contains("10.0.0.1:8080"), "{}", run.out);
        let note = format!("note: 10.0.0.1:8080 is {dropped}: the client drops it\n");
        assert!(run.err.starts_with(&note), "{}", run.err);
    }
}

#[test]
fn an_endpoint_that_was_dropped_comes_back() {
    let list = json!([endpoint("10.0.0.1", "HEALTHY"), endpoint("10.0.0.2", "UNHEALTHY")]);
    let back = pick("--count 10 --format json --health 10.0.0.2:80=HEALTHY", &list);
    assert_eq!(backends(&back), ["10.0.0.1:80", "10.0.0.2:80"]);
    // This is how a dual-stack socket writes the address.
    let other = pick(
        "--count 10 --format json --remove [::ffff:10.0.0.1]:80 --health 10.0.0.2:80=UNKNOWN",
        &list,
    );
    assert_eq!(backends(&other), ["10.0.0.2:80"]);
}

/// The address occurs twice. That is not a fault as long as one of the two is dropped before the
/// check.
#[test]
fn an_update_that_the_client_rejects_changes_nothing() {
    let list = json!([endpoint("10.0.0.1", "HEALTHY"), endpoint("10.0.0.1", "UNHEALTHY")]);
    let run = pick("--health 10.0.0.1:80=DRAINING", &list);
    assert!(run.out.starts_with("OK from 10.0.0.1:80"), "{}", run.out);
    assert!(
        run.err.contains(
            "note: ClusterLoadAssignment `c` is left out, its earlier version stays: rejected, at endpoints[0].lb_endpoints[1]"
        ),
        "{}",
        run.err
    );
}

#[test]
fn an_address_that_no_endpoint_has_is_refused() {
    let file = "fixtures/examples/checkout.yaml";
    let dns = "--resolve checkout.example.com:443=10.9.9.9:443";
    for (arguments, message) in [
        (
            "--remove 10.0.0.1:8081",
            "--remove: no endpoint of the channel has the address `10.0.0.1:8081`, did you mean 10.0.0.1:8080?",
        ),
        (
            "--health 192.0.2.77:1=DRAINING",
            "--health: no endpoint of the channel has the address `192.0.2.77:1`; there is `10.0.0.1:8080`, `10.0.0.2:8080`, `10.0.1.1:8080`",
        ),
        (
            "--remove 10.9.9.9:443",
            "--remove: `10.9.9.9:443` comes from DNS, of which there is no update by EDS; --resolve gives other addresses",
        ),
        (
            "--health 10.0.0.1:8080=SICK",
            "--health `10.0.0.1:8080=SICK` must be IP:PORT=HEALTH, where HEALTH is one of UNKNOWN, HEALTHY, UNHEALTHY, \
             DRAINING, TIMEOUT, DEGRADED",
        ),
        ("--remove near", "--remove `near` must be an address like 10.0.0.1:80"),
    ] {
        for command in [
            "pick --method /shop.Checkout/Pay",
            "tree",
            "route --method /shop.Checkout/Pay",
        ] {
            let run = run(&format!("{command} {dns} {arguments} {file}"), "");
            assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{arguments}");
            assert_eq!(run.err, format!("xdsctl: {message}\n"));
        }
    }
}

/// The expected shares are the same figures as those that `tree` gives for the ring.
#[test]
fn the_share_of_the_ring_is_what_many_rpcs_show() {
    let file = "fixtures/examples/clean/ring-hash.yaml";
    let tree = run(&format!("tree {file}"), "").out;
    let picks = run(&format!("pick --count 10 --method /a/b --format json {file}"), "");
    let answer: Value = serde_json::from_str(&picks.out).unwrap();
    let shares = answer["shares"].as_array().unwrap();
    assert_eq!(shares.len(), 2);
    for share in shares {
        let percent = share["expected"].as_f64().unwrap() * 100.0;
        let of_tree = format!("share of the ring {percent:.2} % of the hash space, 512 of 1024 entries");
        assert!(tree.contains(&of_tree), "{of_tree}\n{tree}");
    }
}

#[test]
fn shares_are_explained_by_an_example_of_each_kind() {
    let count = |more: &str| run(&format!("pick --count 20 {more} {CHECKOUT}"), "").out;
    let (plain, explained) = (count(""), count("--explain"));
    let (shares, examples) = explained.split_once("\nfor example\n").unwrap();
    assert_eq!(shares, plain);
    let first_lines = examples
        .split("\nfor example\n")
        .map(|example| example.lines().next().unwrap());
    let backends: Vec<&str> = first_lines.map(|line| line.split(" (").next().unwrap()).collect();
    assert_eq!(backends, ["OK from 10.0.0.1:8080", "OK from 10.0.1.1:8080"]);
    assert!(examples.contains("  round_robin  "), "{examples}");
}

#[test]
fn an_rpc_that_no_route_takes_shows_the_routes_that_were_tried() {
    let run = run("pick --method /other/x fixtures/examples/checkout.yaml", "");
    assert_eq!(
        run.out,
        "UNAVAILABLE: No matching route found in xDS route config (fail, 0 ms)\n  \
         virtual host  \"shop\" by its domain `checkout`\n  \
         route         routes[0]: no, path is `/shop.Checkout/Pay`, it is `/other/x`\n  \
         route         routes[1]: no, path begins with `/shop.Checkout/`, it is `/other/x`\n"
    );
    assert_eq!(run.code, Some(1));
}

/// Makes a RouteConfiguration `r` with a virtual host for each of these domains, and a cluster `c`
/// with an endpoint.
fn routes(domains: &[&str]) -> String {
    let hosts = domains
        .iter()
        .map(|domain| json!({"domains": [domain], "routes": [{"match": {"prefix": "/"}, "route": {"cluster": "c"}}]}));
    let routes = json!({
        "@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration",
        "name": "r",
        "virtual_hosts": hosts.collect::<Vec<_>>(),
    });
    let mut world: Value = serde_json::from_str(&world(&json!([endpoint("10.0.0.1", "HEALTHY")]))).unwrap();
    world["resources"].as_array_mut().unwrap().push(routes);
    world.to_string()
}

#[test]
fn a_dump_without_a_listener_starts_at_its_routes() {
    let no_start = run("pick --method /a/b", &routes(&["*.example"]));
    assert_eq!(
        (no_start.code, no_start.err.as_str()),
        (
            Some(2),
            "xdsctl: the input has no Listener; start at a RouteConfiguration with --route-config: `r`; \
             start at a cluster with --cluster: `c`\n"
        )
    );
    let picked = run("pick --route-config r --method /a/b", &routes(&["*.example"]));
    assert!(
        picked.out.starts_with("OK from 10.0.0.1:80 "),
        "{}{}",
        picked.out,
        picked.err
    );
    assert_eq!(
        picked.err,
        "note: the channel starts at the routes, no HTTP filter of a listener applies\n"
    );
    let tree = run("tree --route-config r", &routes(&["*.example"]));
    let start = "channel  RouteConfiguration r · virtual host #0, whose domain `*.example` matches `*.example`\n";
    assert!(tree.out.starts_with(start), "{}", tree.out);
    let two = run("route --route-config r --method /a/b", &routes(&["a", "b"]));
    assert_eq!(
        (two.code, two.err.as_str()),
        (
            Some(2),
            "xdsctl: `r` has several virtual hosts, choose one with --authority: `a`, `b`\n"
        )
    );
    let chosen = run(
        "route --route-config r --authority b --method /a/b",
        &routes(&["a", "b"]),
    );
    assert!(chosen.out.contains("domain `b` matches `b` exactly"), "{}", chosen.out);
    let missing = run("tree --route-config q", &routes(&["a"]));
    assert_eq!(missing.err, "xdsctl: no RouteConfiguration `q`, there is `r`\n");
}

/// Standard output has only the answer, so that it can be stored or piped.
#[test]
fn notes_are_not_on_standard_output() {
    let input = routes(&["*"]);
    for command in [
        "tree",
        "route",
        "pick",
        "pick --count 5",
        "pick --address 10.9.9.9:80",
        "retry",
    ] {
        let line = format!("{command} --route-config r --health 10.0.0.1:80=UNHEALTHY");
        let run = run(&line, &input);
        assert!(run.err.contains("note: the channel starts"), "{command}: {}", run.err);
        for word in ["note: ", "help: ", "warning: "] {
            let is_there = run.out.lines().any(|line| line.starts_with(word));
            assert!(!is_there, "{command}: {}", run.out);
        }
    }
}

#[test]
fn a_session_for_an_rpc_that_no_route_takes_is_answered_all_the_same() {
    let run = run(
        "pick --session 10.0.0.2:8080 --method /no/such fixtures/examples/checkout.yaml",
        "",
    );
    assert_eq!(run.code, Some(1));
    assert!(run.out.contains("routes[1]: no, "), "{}", run.out);
    let said = "note: no route takes the RPC to a cluster, so it has no session\n";
    assert!(run.err.contains(said), "{}", run.err);
}
