//! Tests of `validate --explain-error`: from a line of a client's log to the place in a dump.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::cli::xdsctl;
use crate::run::Run;
use crate::support::{recorded, root};
use crate::told::line;

const CLUSTER: &str = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

fn cluster(name: &str, policy: &str, source: &Value) -> Value {
    json!({"@type": CLUSTER, "name": name, "type": "EDS", "eds_cluster_config": {"eds_config": source}, "lb_policy": policy})
}

/// Makes four clusters, three of which have the same fault.
fn clusters() -> String {
    let ads = json!({"ads": {}});
    let all = [
        cluster("a", "MAGLEV", &ads),
        cluster("b", "LEAST_REQUEST", &ads),
        cluster("c", "MAGLEV", &json!({"path": "x"})),
        cluster("d", "ROUND_ROBIN", &ads),
    ];
    all.map(|cluster| format!("{cluster}\n")).concat()
}

/// Runs `validate --explain-error`. Returns its findings as `resource rule path line`; the resource
/// is `-` if there is none.
fn found(line: &str, dump: &str) -> (Run, Vec<String>) {
    let run = xdsctl(&["validate", "--format=json", "--explain-error", line, "-"], dump);
    let report = run.json();
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let mut found = Vec::new();
    let of_resources = report["resources"].as_array().unwrap().iter();
    for owner in of_resources.chain([&report]) {
        for f in owner["findings"].as_array().unwrap() {
            found.push(format!(
                "{} {} {} {}",
                text(&owner["name"]),
                text(&f["rule"]),
                text(&f["path"]),
                f["line"]
            ));
        }
    }
    (run, found)
}

#[test]
fn the_name_in_the_line_chooses_among_resources_with_the_same_fault() {
    let errors = "errors validating Cluster resource: [field:lb_policy error:LB policy is not supported]";
    for (name, row) in [("a", 1), ("b", 2), ("c", 3)] {
        let (run, found) = found(&line("envoy.config.cluster.v3.Cluster", name, errors), &clusters());
        assert_eq!(found, [format!("{name} cds-lb-policy-unsupported lb_policy {row}")]);
        assert_eq!(run.code, Some(1));
        // This is the text as an RPC prints it.
        let rpc = format!("CDS resource {name}: invalid resource: {errors} (node ID:n)");
        assert_eq!(self::found(&rpc, &clusters()).1, found);
    }
}

#[test]
fn what_a_live_client_says_itself_is_not_gone() {
    let errors = "errors validating Cluster resource: [field:lb_policy error:LB policy is not supported]";
    let entry = json!({"type_url": CLUSTER, "name": "a", "client_status": "NACKED",
        "error_state": {"details": format!("invalid resource: {errors}")}});
    let dump = json!({"config": [{"generic_xds_configs": [entry]}]}).to_string();
    let (run, told) = found(&line("envoy.config.cluster.v3.Cluster", "a", errors), &dump);
    assert_eq!(told, ["a live-resource-rejected  1"]);
    assert_eq!(run.code, Some(1));
    let (_, told) = found(&line("envoy.config.cluster.v3.Cluster", "b", errors), &dump);
    assert!(told.iter().all(|found| found.contains(" dump-fault-gone ")), "{told:?}");
    // No command repeats the beginning of the client's words.
    let run = xdsctl(&["tree", "--cluster", "a", "-"], &dump);
    assert!(
        run.err.contains("`a` is left out: invalid resource: errors validating"),
        "{}",
        run.err
    );
}

#[test]
fn without_a_name_all_that_a_line_tells_chooses() {
    let one = "[field:lb_policy error:LB policy is not supported]";
    let rows = |found: Vec<String>| {
        found
            .iter()
            .map(|f| f.split(' ').next().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(rows(found(one, &clusters()).1), ["a", "b", "c"]);
    let two = "[field:eds_cluster_config.eds_config error:ConfigSource is not ads or self; field:lb_policy error:LB policy is not supported]";
    assert_eq!(rows(found(two, &clusters()).1), ["c", "c"]);
    // A value in the client's words decides between the resources.
    let hosts = |name: &str, domain: &str| json!({"@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration", "name": name, "virtual_hosts": [{"domains": [domain]}]});
    let dump = format!("{}\n{}\n", hosts("x", "a*b"), hosts("y", "c*d"));
    let line = "field:virtual_hosts[0].domains[0] error:invalid domain pattern \"c*d\"";
    assert_eq!(
        found(line, &dump).1,
        ["y rds-domain-pattern virtual_hosts[0].domains[0] 2"]
    );
}

#[test]
fn a_dump_without_the_fault_is_said_to_be_so() {
    let errors = "errors validating Cluster resource: [field:lb_policy error:LB policy is not supported]";
    // The resource is there and has no fault.
    let (run, there) = found(&line("envoy.config.cluster.v3.Cluster", "d", errors), &clusters());
    assert_eq!(there, ["d dump-fault-gone  4"]);
    assert_eq!(run.code, Some(0));
    assert!(
        run.out.contains("Cluster `d`, which is there without it"),
        "{}",
        run.out
    );
    // The resource is not there.
    let (run, absent) = found(&line("envoy.config.cluster.v3.Cluster", "z", errors), &clusters());
    assert_eq!(absent, ["- dump-fault-gone  1"]);
    assert!(
        run.out.contains("Cluster `z`, which is not in the input"),
        "{}",
        run.out
    );
}

#[test]
fn a_fault_is_not_gone_if_nothing_was_checked() {
    let errors = "errors validating Cluster resource: [field:lb_policy error:LB policy is not supported]";
    let line = line("envoy.config.cluster.v3.Cluster", "a", errors);
    let run = xdsctl(
        &["validate", "--client", "go@1.20", "--explain-error", &line, "-"],
        clusters(),
    );
    assert_eq!(run.code, Some(2), "{}{}", run.out, run.err);
    assert!(!run.out.contains("dump-fault-gone"), "{}", run.out);
}

/// The page of a rule need not have the client's words: the line names the resource and the field.
#[test]
fn a_line_without_a_page_finds_the_rejection_at_the_field_that_it_names() {
    let words = "error parsing response: resource \"a\": the value of lb_policy is beyond what this client can do";
    assert_eq!(found(words, &clusters()).1, ["a cds-lb-policy-unsupported lb_policy 1"]);
    // Java's line says that the resource is rejected, whatever words follow.
    let java = |name: &str| format!("CDS response Cluster '{name}' validation error: words of another version");
    assert_eq!(
        found(&java("a"), &clusters()).1,
        ["a cds-lb-policy-unsupported lb_policy 1"]
    );
}

#[test]
fn what_an_rpc_prints_is_found_where_it_comes_from() {
    let shop = std::fs::read_to_string(root().join("fixtures/examples/shop.yaml")).unwrap();
    let rpc = |words: &str| found(words, &shop).1;
    let missing = "UNAVAILABLE: empty address list (LDS resource svc: does not exist (node ID:n))";
    assert_eq!(rpc(missing), ["- target-listener-missing  1"]);
    let retry = "could not create ConfigSelector: errors validating service config: [field:methodConfig[0].retryPolicy.initialBackoff \
                 error:must be greater than 0]";
    // The path is that of the service config, which is made from the route.
    let of_route = "shop rds-retry-back-off-zero-fails virtual_hosts[0].routes[0].route.retry_policy.retry_back_off.base_interval 24";
    assert_eq!(rpc(retry), [of_route]);
    let run = xdsctl(&["validate", "--explain-error", "Tls handshake failed", "-"], &shop);
    assert!(
        run.err
            .contains("`xdsctl explain tls-handshake-failing` says where to look"),
        "{}",
        run.err
    );
    let run = xdsctl(&["validate", "--explain-error", "all is well", "-"], &shop);
    assert_eq!(run.code, Some(2));
}

/// Makes a route to a cluster that does not exist, behind a listener of one virtual host.
fn misspelt() -> String {
    let shop = std::fs::read_to_string(root().join("fixtures/examples/shop.yaml")).unwrap();
    let misspelt = shop.replace("cluster: cart", "cluster: crat");
    assert_ne!(misspelt, shop);
    misspelt
}

#[test]
fn a_missing_resource_is_found_where_it_is_referred_to() {
    let place = "virtual_hosts[0].routes[0].route.cluster";
    for words in [
        "CDS resource crat does not exist",
        "UNAVAILABLE: CDS resource crat: does not exist (fail, 0 ms)",
        "timeout obtaining resource {type=envoy.config.cluster.v3.Cluster name=crat} from xds server",
        "xds: ClusterResource target crat not found, watcher timeout",
    ] {
        for flags in [&[][..], &["--complete"]] {
            let args = ["validate", "--format=concise", "--explain-error", words, "-"];
            let run = xdsctl(&[&args, flags].concat(), misspelt());
            assert!(
                run.out.contains("`crat` is not there"),
                "{words}: {}{}",
                run.out,
                run.err
            );
            assert!(
                run.out.contains(place) || run.out.contains("reference-to-nothing"),
                "{}",
                run.out
            );
            assert!(!run.out.contains("dump-fault-gone"), "{}", run.out);
            assert_eq!(run.code, Some(1), "{words}");
        }
    }
    // Nothing refers to the resource.
    let (_, gone) = found("CDS resource other does not exist", &misspelt());
    assert_eq!(gone, ["- dump-fault-gone  1"]);
    // The missing resource is the target's listener.
    let target = "rpc error: code = Unavailable desc = name resolver error: xds: ListenerResource target shop:443 not found, watcher timeout";
    let (run, missing) = found(target, &misspelt());
    assert_eq!(missing, ["- target-listener-missing  1"]);
    assert_eq!(run.code, Some(1));
}

#[test]
fn nobody_knows_whether_a_fault_that_is_not_recognised_is_gone() {
    let shop = std::fs::read_to_string(root().join("fixtures/examples/shop.yaml")).unwrap();
    let line = |name: &str| {
        format!(
            "[resource index 0: {name}: INVALID_ARGUMENT: errors validating Cluster resource: [field:foo.bar error:is new]]"
        )
    };
    let run = xdsctl(&["validate", "--explain-error", &line("cart"), "-"], &shop);
    assert_eq!(run.code, Some(2), "{}{}", run.out, run.err);
    assert!(run.err.contains("a fault that is not recognised"), "{}", run.err);
    assert!(!run.out.contains("dump-fault-gone"), "{}", run.out);
    let run = xdsctl(&["validate", "--explain-error", &line("nosuch"), "-"], &shop);
    assert!(run.out.contains("dump-fault-gone"), "{}", run.out);
}

#[test]
fn a_fault_that_was_not_looked_for_is_not_gone() {
    let shop = std::fs::read_to_string(root().join("fixtures/examples/shop.yaml")).unwrap();
    for (words, wanted) in [
        ("no matching virtual host found for \"shopp\"", "--authority shopp"),
        (
            "UNAVAILABLE: empty address list (RDS resource shop: could not find VirtualHost for shopp in RouteConfiguration)",
            "--authority shopp",
        ),
        (
            "UNAVAILABLE: failed to connect to all addresses",
            "nothing that could be looked for",
        ),
    ] {
        let run = xdsctl(&["validate", "--explain-error", words, "-"], &shop);
        assert_eq!(run.code, Some(2), "{words}: {}{}", run.out, run.err);
        assert!(run.err.contains(wanted), "{}", run.err);
        assert!(!run.out.contains("dump-fault-gone"), "{}", run.out);
    }
    let line = "rpc error: code = Unavailable desc = no matching virtual host found for \"shopp\"";
    let with = |authority: &str| {
        let target = format!("--authority={authority}");
        let args = [
            "validate",
            "--target=xds:///shop.example.com",
            &target,
            "--explain-error",
            line,
            "-",
        ];
        xdsctl(&args, &shop)
    };
    let run = with("shopp");
    assert!(
        run.out.contains("target-without-virtual-host"),
        "{}{}",
        run.out,
        run.err
    );
    assert_eq!(run.code, Some(1));
    assert_eq!(with("other").code, Some(2));
}

/// Each of some recorded resources is found by its own line, in a dump of all of them.
#[test]
fn a_line_finds_its_resource_in_a_dump_of_rejected_ones() {
    let bootstrap = root().join("fixtures/conformance/bootstrap.json").display().to_string();
    let rows: Vec<Value> = recorded("messages")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|row: &Value| !row["resource"].is_null() && row["env"].is_null() && row["bootstrap"].is_null())
        .step_by(5)
        .collect();
    let mut dump = String::new();
    for row in &rows {
        let mut resource = row["resource"].clone();
        let field = if row["kind"] == "eds" { "cluster_name" } else { "name" };
        resource[field] = row["id"].clone();
        dump += &format!("{resource}\n");
    }
    assert!(rows.len() > 40, "{}", rows.len());
    for (number, row) in rows.iter().enumerate() {
        let words = row["words"].as_str().unwrap().trim_start_matches("invalid resource: ");
        let name = row["id"].as_str().unwrap();
        let line = format!("[resource index 7: {name}: INVALID_ARGUMENT: {words}]");
        let args = [
            "validate",
            "--format=json",
            "--bootstrap",
            &bootstrap,
            "--explain-error",
            &line,
            "-",
        ];
        let report = xdsctl(&args, &dump).json();
        let mut paths: BTreeSet<&str> = BTreeSet::new();
        for resource in report["resources"].as_array().unwrap() {
            for f in resource["findings"].as_array().unwrap() {
                assert_eq!(
                    (&resource["name"], &f["line"]),
                    (&row["id"], &json!(number + 1)),
                    "{line}"
                );
                paths.insert(f["path"].as_str().unwrap());
                // The consequences of the finding are in the same line of the log.
                let related = f["related"].as_array().into_iter().flatten();
                let follows = related.filter(|other| other["rule"].is_string());
                paths.extend(follows.map(|other| other["path"].as_str().unwrap()));
            }
        }
        let mut expected: BTreeSet<&str> = row["fields"]
            .as_array()
            .unwrap()
            .iter()
            .map(|p| p.as_str().unwrap())
            .collect();
        if expected.is_empty() {
            expected.insert("");
        }
        assert_eq!(paths, expected, "{line}");
    }
}
