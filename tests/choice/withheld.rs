//! Tests of `validate --explain-suppressed`: for each reason there is a finding that is withheld,
//! and a similar one that is shown.

use super::{Project, cluster, maglev, routes};

const NACK: &str = "cds-lb-policy-unsupported";

/// Makes an assignment without endpoints, which fails the RPCs of a cluster that uses it.
fn without_endpoints(name: &str) -> String {
    format!("\"@type\": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment\ncluster_name: {name}\n")
}

/// Makes a client's listener that takes its routes from a RouteConfiguration.
fn listener(name: &str, routes: &str) -> String {
    let manager = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
    let router = "envoy.extensions.filters.http.router.v3.Router";
    format!(
        "\"@type\": type.googleapis.com/envoy.config.listener.v3.Listener\nname: {name}\napi_listener:\n  api_listener:\n    \
         \"@type\": type.googleapis.com/{manager}\n    \
         rds: {{route_config_name: {routes}, config_source: {{ads: {{}}}}}}\n    \
         http_filters: [{{name: router, typed_config: {{\"@type\": type.googleapis.com/{router}}}}}]\n"
    )
}

/// Joins several resources in one document.
fn all(resources: &[String]) -> String {
    resources.join("---\n")
}

/// Returns the findings that are shown and withheld of the resource `name`, or of documents: `rule`
/// and `rule: reason`.
fn told(project: &Project, name: &str, args: &[&str]) -> Vec<String> {
    let all: Vec<&str> = ["--explain-suppressed"].iter().chain(args).copied().collect();
    let run = project.validate(&all);
    let report = run.json();
    let mut told = Vec::new();
    for owner in report["resources"].as_array().unwrap().iter().chain([&report]) {
        if owner["name"].as_str().unwrap_or("-") != name {
            continue;
        }
        let rules = owner["findings"].as_array().unwrap().iter();
        told.extend(rules.map(|one| one["rule"].as_str().unwrap().to_owned()));
        for one in owner["withheld"].as_array().unwrap() {
            assert!(!one["why"].as_str().unwrap().is_empty());
            told.push(format!(
                "{}: {}",
                one["rule"].as_str().unwrap(),
                one["reason"].as_str().unwrap()
            ));
        }
    }
    told
}

fn of(resources: &[String], name: &str, args: &[&str]) -> Vec<String> {
    let project = Project::new("withheld", &[("a.yaml", &all(resources))]);
    let args: Vec<&str> = args.iter().copied().chain(["a.yaml"]).collect();
    told(&project, name, &args)
}

#[test]
fn a_failure_that_no_rpc_meets_is_unused() {
    let resources = |used: &str| {
        [
            listener("l", "r"),
            routes("r", &[used]),
            cluster("a"),
            cluster("b"),
            without_endpoints("b"),
        ]
    };
    assert_eq!(of(&resources("b"), "b", &[]), ["eds-without-localities"]);
    let unused = of(&resources("a"), "b", &[]);
    assert_eq!(unused, ["cds-cluster-unused", "eds-without-localities: unused"]);
}

#[test]
fn a_leaf_of_an_aggregate_cluster_is_passed_over() {
    let aggregate = |children: &str| {
        format!(
            "\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: all\ncluster_type:\n  \
             name: envoy.clusters.aggregate\n  typed_config:\n    \"@type\": \
             type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig\n    clusters: [{children}]\n"
        )
    };
    let good = "\"@type\": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment\ncluster_name: good\nendpoints:\n\
                - locality: {region: x}\n  load_balancing_weight: 1\n  \
                lb_endpoints: [{endpoint: {address: {socket_address: {address: 10.0.0.1, port_value: 80}}}}]\n";
    let resources = |children: &str| {
        [
            listener("l", "r"),
            routes("r", &["all"]),
            aggregate(children),
            cluster("good"),
            good.to_owned(),
            cluster("bad"),
            without_endpoints("bad"),
        ]
    };
    assert_eq!(of(&resources("bad"), "bad", &[]), ["eds-without-localities"]);
    let passed = of(&resources("bad, good"), "bad", &[]);
    assert_eq!(
        passed,
        ["aggregate-leaf-passed-over", "eds-without-localities: passed-over"]
    );
}

#[test]
fn a_field_whose_value_cannot_be_read_has_one_finding() {
    let with = |weight: &str| {
        let locality = |zone: &str, weight: &str| {
            format!(
                "- locality: {{zone: {zone}}}\n  load_balancing_weight: {weight}\n  \
                 lb_endpoints: [{{endpoint: {{address: {{socket_address: {{address: 10.0.0.{zone}, port_value: 80}}}}}}}}]\n"
            )
        };
        let text = without_endpoints("c") + "endpoints:\n" + &locality("1", "1") + &locality("2", weight);
        of(&[text], "c", &[])
    };
    assert_eq!(with("0"), ["eds-locality-without-weight"]);
    assert_eq!(with("many"), ["dump-bad-value", "eds-locality-without-weight: unread"]);
}

#[test]
fn what_was_made_for_a_proxy_is_withheld() {
    let proxys = "\"@type\": type.googleapis.com/envoy.config.listener.v3.Listener\nname: l\n\
                  address: {socket_address: {address: 0.0.0.0, port_value: 80}}\nreuse_port: true\n";
    let resources = [proxys.to_owned(), maglev("c")];
    assert_eq!(of(&resources, "c", &[]), [format!("{NACK}: for-proxy")]);
    assert_eq!(of(&resources, "c", &["--all"]), [NACK]);
}

#[test]
fn another_world_may_use_a_resource() {
    let unused = |second: &str| {
        let shared = cluster("shared");
        let project = Project::new(
            "worlds",
            &[
                ("one/a.yaml", &all(&[listener("l", "r"), routes("r", &["shared"])])),
                (
                    "two/a.yaml",
                    &all(&[listener("l", "r"), routes("r", &[second]), cluster("own")]),
                ),
                ("shared.yaml", &shared),
            ],
        );
        told(&project, "shared", &["."])
    };
    let without = |told: Vec<String>| {
        let of_use = told.into_iter().filter(|one| one.starts_with("cds-cluster-unused"));
        of_use.collect::<Vec<_>>()
    };
    assert_eq!(without(unused("shared")), [""; 0]);
    assert_eq!(without(unused("own")), ["cds-cluster-unused: used-elsewhere"]);
}

#[test]
fn a_line_of_a_log_is_about_one_finding() {
    let resources = [maglev("a"), cluster("b").replace("type: EDS", "type: STATIC")];
    let line = "--explain-error=errors validating Cluster resource: [field:lb_policy error:LB policy is not supported]";
    assert_eq!(of(&resources, "a", &[line]), [NACK]);
    assert_eq!(of(&resources, "b", &[line]), ["cds-discovery-unsupported: other-line"]);
}

#[test]
fn a_suppression_says_why() {
    let with = |rule: &str| {
        let comment = format!("lb_policy: MAGLEV # xdsctl: ignore[{rule}] on purpose\n");
        Project::new("why", &[("a.yaml", &(cluster("c") + &comment))])
    };
    assert_eq!(told(&with("nack"), "c", &["a.yaml"]), [format!("{NACK}: suppressed")]);
    assert_eq!(told(&with("spec"), "c", &["a.yaml"]), [NACK]);
    let report = with("nack").run(&["validate", "--explain-suppressed", "--no-config", "a.yaml"]);
    assert!(report.out.contains("\n    suppressed: on purpose\n"), "{}", report.out);
}

#[test]
fn what_is_in_the_baseline_is_withheld() {
    let project = Project::new("baseline", &[("a.yaml", &maglev("c"))]);
    assert_eq!(told(&project, "c", &["a.yaml"]), [NACK]);
    project.run(&["validate", "--write-baseline=known.json", "a.yaml"]);
    let known = told(&project, "c", &["--baseline=known.json", "a.yaml"]);
    assert_eq!(known, [format!("{NACK}: baseline")]);
}

#[test]
fn what_follows_from_a_silent_rejection_is_silent() {
    let resources = [listener("l", "r"), routes("r", &["c"]), maglev("c")];
    assert_eq!(of(&resources, "r", &[]), ["reference-to-rejected"]);
    assert_eq!(
        of(&resources, "r", &["-A", NACK]),
        ["reference-to-rejected: consequence"]
    );
    assert_eq!(of(&resources, "c", &["-A", NACK]), [format!("{NACK}: switched-off")]);
}

#[test]
fn what_no_client_reads_is_told_of_each_that_is_asked() {
    let text = [cluster("c") + "connect_timeout: 5s\n"];
    assert_eq!(of(&text, "c", &["--client=cpp"]), ["field-ignored"]);
    // The fields that other clients drop or never read are worked out for each of them.
    assert_eq!(of(&text, "c", &["--client=node"]), ["field-ignored"]);
    assert_eq!(of(&text, "c", &["--client=go"]), ["field-ignored"]);
}

#[test]
fn what_is_too_quiet_is_withheld() {
    let text = [cluster("c") + "connect_timeout: 5s\n"];
    assert_eq!(of(&text, "c", &[]), ["field-ignored"]);
    let quiet = of(&text, "c", &["--min-severity=warning"]);
    assert_eq!(quiet, ["field-ignored: below-severity"]);
}

#[test]
fn of_many_alike_a_few_are_listed() {
    let fields: String = (0..9).map(|n| format!("{}---\n", maglev(&format!("c{n}")))).collect();
    let project = Project::new("many", &[("a.yaml", &fields)]);
    let args = ["validate", "--explain-suppressed", "-A", NACK, "a.yaml"];
    let lines = |args: &[&str]| {
        let run = project.run(args);
        let listed = run.out.lines().filter(|line| line.contains("MAGLEV")).count();
        (listed, run.out.contains(&format!("4 more {NACK} (switched-off)")))
    };
    assert_eq!(lines(&args), (5, true));
    let every: Vec<&str> = args.iter().copied().chain(["--all-findings"]).collect();
    assert_eq!(lines(&every), (9, false));
}

#[test]
fn without_the_option_nothing_is_added() {
    let project = Project::new("without", &[("a.yaml", &maglev("c"))]);
    let report = project.validate(&["-A", NACK, "a.yaml"]).json();
    assert!(report.get("withheld").is_none() && report["resources"][0].get("withheld").is_none());
}
