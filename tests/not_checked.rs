//! Checks that what is not known does not count as clean: clients and versions that were not
//! measured, kinds of finding that a client does not have, and switches.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::cli::xdsctl;
use crate::run::Run;

/// A route to a misspelt cluster, a header name in upper case, and endpoints without any.
const FAULTS: &str = r#"{"resources": [
    {"@type": "type.googleapis.com/envoy.config.listener.v3.Listener", "name": "shop", "api_listener": {"api_listener": {
        "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
        "rds": {"route_config_name": "rc", "config_source": {"ads": {}}},
        "http_filters": [{"name": "router", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}]}}},
    {"@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration", "name": "rc", "virtual_hosts": [{"domains": ["*"], "routes": [
        {"match": {"prefix": "", "headers": [{"name": "X-Tier", "exact_match": "gold"}]}, "route": {"cluster": "cartt"}},
        {"match": {"prefix": ""}, "route": {"cluster": "cart"}}]}]},
    {"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "cart", "type": "EDS", "eds_cluster_config": {"eds_config": {"ads": {}}}},
    {"@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment", "cluster_name": "cart", "endpoints": []}]}"#;

/// An aggregate without a child: grpc-java rejects it since a version between 1.74 and 1.77.
const AGGREGATE: &str = r#"{"resources": [
    {"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "all", "cluster_type": {"name": "envoy.clusters.aggregate",
        "typed_config": {"@type": "type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig", "clusters": []}}},
    {"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "cart", "type": "EDS", "eds_cluster_config": {"eds_config": {"ads": {}}}}]}"#;

/// A switch of grpc-java whose effect is not known.
const UNMODELLED: &str = "GRPC_EXPERIMENTAL_XDS_FALLBACK";

fn validate(args: &[&str], text: &str) -> Run {
    xdsctl(&[&["validate"], args, &["-"]].concat(), text)
}

fn last_line(run: &Run) -> &str {
    run.out.trim_end().lines().next_back().unwrap_or_default()
}

#[test]
fn a_version_beyond_what_was_measured_is_refused_by_every_command() {
    let newer = "`go@1.99` is not known: it is newer than every version that was measured, the nearest are go@1.85.0 and go@1.84.0";
    for command in [
        &["validate"][..],
        &["validate", "--matrix"],
        &["validate", "--format=concise"],
        &["pick"],
        &["route"],
        &["tree"],
        &["retry"],
    ] {
        let run = xdsctl(&[command, &["--client=go@1.99", "-"]].concat(), FAULTS);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{command:?}");
        assert!(run.err.contains(newer), "{command:?}: {}", run.err);
    }
    let older = validate(&["--client=cpp,java@1.33"], FAULTS);
    assert_eq!((older.code, older.out.as_str()), (Some(2), ""));
    assert!(older.err.contains("older than every version"), "{}", older.err);
}

#[test]
fn a_project_names_no_version_beyond_what_was_measured() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("not-checked.toml");
    fs::write(&file, "clients = [\"go\", \"node@1.15\"]\n").unwrap();
    let run = validate(&["--config", file.to_str().unwrap()], FAULTS);
    assert_eq!((run.code, run.out.as_str()), (Some(2), ""));
    assert!(
        run.err.contains("the nearest are node@1.14.1 and node@1.14.0"),
        "{}",
        run.err
    );
    fs::write(
        &file,
        "clients = [\"java\"]\nfail-on = \"not-checked\"\n[rules]\nall = \"off\"\n",
    )
    .unwrap();
    let switch = format!("--env={UNMODELLED}=true");
    let run = validate(
        &["--config", file.to_str().unwrap(), &switch, "--format=concise"],
        FAULTS,
    );
    assert_eq!(run.code, Some(1), "{}", run.err);
}

#[test]
fn between_two_versions_the_older_answers_where_both_agree() {
    let run = validate(&["--client=java@1.74.1", "--format=json"], AGGREGATE);
    assert_eq!(run.code, Some(2), "{}", run.err);
    let report = run.json();
    let verdict = |number: usize| report["resources"][number]["clients"]["java@1.74.1"].clone();
    assert_eq!(verdict(0)["verdict"], "not_known");
    assert_eq!(verdict(1)["verdict"], "accepted");
    assert_eq!(verdict(1)["as"], serde_json::json!(["1.74.0", "1.75.0"]));
    assert_eq!(report["client"], "java@1.74.1 (as 1.74.0 and 1.75.0 answer)");
    let first = &report["not_checked"][0];
    assert_eq!((&first["kind"], &first["resources"]), (&"verdict".into(), &1.into()));

    // If both neighbouring versions agree, the verdict is known, and the report says so.
    let run = validate(&["--client=java@1.74.1"], FAULTS);
    assert_eq!(run.code, Some(1), "{}", run.out);
    assert!(
        run.out.contains("asked: java@1.74.1 (as 1.74.0 and 1.75.0 answer)\n"),
        "{}",
        run.out
    );
}

#[test]
fn a_verdict_that_is_not_known_is_told_in_every_form() {
    let what = "java@1.74.1: the verdict on Cluster `all`";
    let args = ["--client=java,java@1.74.1", "--format"];
    for format in [
        "human", "concise", "github", "sarif", "junit", "markdown", "jsonl", "json",
    ] {
        let text = AGGREGATE.replace('\n', " ");
        let run = validate(&[&args[..], &[format]].concat(), &text);
        assert_eq!(run.code, Some(2), "{format}");
        let what = match format {
            "json" | "jsonl" | "markdown" => "the verdict on Cluster `all`",
            _ => what,
        };
        assert!(run.out.contains(what), "{format}: {}", run.out);
    }
    let gitlab = validate(&[&args[..], &["gitlab"]].concat(), AGGREGATE);
    assert_eq!(gitlab.code, Some(2));
    let junit = validate(&["--client=java@1.74.1", "--format=junit"], AGGREGATE);
    assert!(
        junit
            .out
            .contains("<skipped message=\"the verdict of java@1.74.1 is not known\"/>"),
        "{}",
        junit.out
    );
    let quiet = validate(&["--client=java@1.74.1", "-q"], AGGREGATE);
    assert!(quiet.out.contains(what), "{}", quiet.out);
}

/// Returns the findings of a run as `rule who`.
fn rules(clients: &str, args: &[&str]) -> Vec<String> {
    rules_of(FAULTS, clients, args)
}

fn rules_of(text: &str, clients: &str, args: &[&str]) -> Vec<String> {
    let run = validate(
        &[&[clients, "--format=json", "--min-severity=warning"], args].concat(),
        text,
    );
    let report = run.json();
    let resources = report["resources"].as_array().unwrap().iter();
    let findings = resources.flat_map(|resource| resource["findings"].as_array().unwrap());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    findings
        .map(|finding| {
            format!("{} {}", text(&finding["rule"]), text(&finding["who"]))
                .trim()
                .to_owned()
        })
        .collect()
}

#[test]
fn what_needs_no_asking_is_found_for_every_client() {
    let complete = &["--complete"];
    // Go has this check since 1.85.0.
    assert_eq!(
        rules("--client=go", complete),
        ["reference-to-nothing", "eds-without-localities"]
    );
    assert_eq!(
        rules("--client=go@1.84.0", complete),
        [
            "header-name-upper-case",
            "reference-to-nothing",
            "eds-without-localities"
        ]
    );
    // Java and Node make header names lower case before they compare.
    assert_eq!(
        rules("--client=java", complete),
        ["reference-to-nothing", "eds-without-localities"]
    );
    assert_eq!(
        rules("--client=cpp@1.62,cpp,go,node", complete),
        [
            "header-name-upper-case advice in cpp",
            "reference-to-nothing",
            "eds-without-localities"
        ]
    );
    assert_eq!(
        rules("--client=go", &["--target=xds:///cart"]),
        ["rds-cluster-missing", "eds-without-localities"]
    );
    let run = validate(&["--client=go", "--complete"], FAULTS);
    assert_eq!(run.code, Some(1), "{}", run.out);
}

/// Resources that C-core accepts and Go and Java reject, or that C-core and Node reject and the
/// others accept.
const REJECTED: &str = r#"{"resources": [
    {"@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration", "name": "rc", "virtual_hosts": [{"domains": ["*"], "routes": [
        {"match": {"prefix": "/a"}, "route": {"cluster": "tls"}}, {"match": {"prefix": ""}, "route": {"cluster": "least"}}]}]},
    {"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "tls", "type": "EDS", "eds_cluster_config": {"eds_config": {"ads": {}}},
        "transport_socket_matches": [{"name": "x"}]},
    {"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "least", "type": "EDS", "eds_cluster_config": {"eds_config": {"ads": {}}},
        "lb_policy": "LEAST_REQUEST"}]}"#;

#[test]
fn a_reference_goes_by_the_verdict_of_the_client_that_is_asked() {
    let of = |clients: &str| rules_of(REJECTED, clients, &[]);
    let (tls, least) = ("cds-transport-socket-matches", "cds-lb-policy-unsupported");
    assert_eq!(of("--client=go"), ["reference-to-rejected", tls]);
    assert_eq!(
        of("--client=node"),
        ["reference-to-rejected", "security-field-ignored", least]
    );
    assert_eq!(
        of("--client=cpp,go,java,node"),
        [
            "reference-to-rejected fails in go, java".to_owned(),
            "reference-to-rejected fails in cpp, node".to_owned(),
            format!("{tls} nack in go, java; ignored in cpp"),
            "security-field-ignored ignored in node".to_owned(),
            format!("{least} nack in cpp, node"),
        ]
    );
    // If a rejection is allowed, its consequences are allowed, too.
    assert_eq!(rules_of(REJECTED, "--client=go", &["-A", tls]), [""; 0]);
}

#[test]
fn grpc_js_waits_where_others_fail() {
    let text = FAULTS.replace("\"X-Tier\", \"exact_match\"", "\"x-tier\", \"contains_match\"");
    let message = |clients: &str| {
        let run = validate(&[clients, "--format=json"], &text);
        let report = run.json();
        let findings = report["resources"][0]["findings"].as_array().unwrap().clone();
        let found = findings.iter().find(|found| found["rule"] == "reference-to-rejected");
        found.map(|found| found["message"].as_str().unwrap().to_owned())
    };
    let node = "RouteConfiguration `rc` is rejected: every RPC of the channel waits until its deadline";
    assert_eq!(message("--client=node").as_deref(), Some(node));
    assert_eq!(message("--client=java"), None);
}

#[test]
fn letter_case_hides_a_virtual_host_from_go_and_node() {
    let text = FAULTS
        .replace("\"shop\"", "\"Shop.example\"")
        .replace("[\"*\"]", "[\"shop.example\"]");
    let of = |clients: &str, args: &[&str]| {
        let mut rules = rules_of(&text, clients, args);
        rules.retain(|rule| rule.contains("virtual-host"));
        rules
    };
    for client in ["--client=go", "--client=node"] {
        assert_eq!(of(client, &[]), ["lds-no-virtual-host"]);
        let target = "--target=xds:///Shop.example";
        assert_eq!(of(client, &[target]), ["target-without-virtual-host"]);
        assert_eq!(of(client, &[target, "--authority=shop.example"]), [""; 0]);
    }
    assert_eq!(of("--client=cpp,java", &[]), [""; 0]);
    assert_eq!(of("--client=cpp,go,java", &[]), ["lds-no-virtual-host advice in go"]);
}

#[test]
fn weights_and_hashes_that_nobody_looks_at_are_told_to_everybody() {
    let world = |policies: &str| {
        format!(
            r#"{{"resources": [{{"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "c", "type": "EDS",
                "eds_cluster_config": {{"eds_config": {{"ads": {{}}}}}}, "load_balancing_policy": {{"policies": [{policies}]}}}},
            {{"@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment", "cluster_name": "c", "endpoints": [
                {{"locality": {{"zone": "z"}}, "load_balancing_weight": 1, "lb_endpoints": [
                    {{"load_balancing_weight": 1, "endpoint": {{"address": {{"socket_address": {{"address": "10.0.0.1", "port_value": 80}}}}}}}},
                    {{"load_balancing_weight": 9, "endpoint": {{"address": {{"socket_address": {{"address": "10.0.0.2", "port_value": 80}}}}}}}}]}}]}}]}}"#
        )
    };
    let policy = |name: &str| {
        let url = format!("type.googleapis.com/envoy.extensions.load_balancing_policies.{name}");
        format!(r#"{{"typed_extension_config": {{"name": "p", "typed_config": {{"@type": "{url}"}}}}}}"#)
    };
    let of = |policies: &[String]| {
        let args = ["--client=cpp,go,java,node", "--format=json"];
        let report = validate(&args, &world(&policies.join(","))).json();
        let findings = report["resources"][0]["findings"].as_array().unwrap().clone();
        let found = findings.iter().find(|found| found["rule"] == "cds-weights-unused");
        found.unwrap()["who"].as_str().unwrap_or_default().to_owned()
    };
    let (round, least) = (
        policy("round_robin.v3.RoundRobin"),
        policy("least_request.v3.LeastRequest"),
    );
    let weighted = policy("client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin");
    assert_eq!(of(std::slice::from_ref(&round)), "");
    assert_eq!(of(&[weighted, round.clone()]), "advice in cpp, go, java");
    // Go and Java have this policy, and it ignores weights, too.
    assert_eq!(of(&[least, round]), "");
    // Only Go has it beside localities: Java puts it inside them.
    let of_localities = |client: &str, policy: &str| {
        let world = format!(
            r#"{{"resources": [{{"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "c", "type": "EDS",
                "eds_cluster_config": {{"eds_config": {{"ads": {{}}}}}}, {policy}}},
            {{"@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment", "cluster_name": "c", "endpoints": [
                {{"locality": {{"zone": "a"}}, "load_balancing_weight": 9, "lb_endpoints": [
                    {{"endpoint": {{"address": {{"socket_address": {{"address": "10.0.0.1", "port_value": 80}}}}}}}}]}},
                {{"locality": {{"zone": "b"}}, "load_balancing_weight": 1, "lb_endpoints": [
                    {{"endpoint": {{"address": {{"socket_address": {{"address": "10.0.0.2", "port_value": 80}}}}}}}}]}}]}},
            {{"@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration", "name": "r", "virtual_hosts": [
                {{"name": "v", "domains": ["*"], "routes": [{{"match": {{"prefix": ""}}, "route": {{
                    "cluster": "c", "hash_policy": [{{"header": {{"header_name": "x"}}}}]}}}}]}}]}}]}}"#
        );
        rules_of(&world, client, &["-W", "cds-weights-unused,rds-hash-policy-unused"])
    };
    let plain = r#""lb_policy": "LEAST_REQUEST""#;
    let listed = format!(
        r#""load_balancing_policy": {{"policies": [{}]}}"#,
        policy("least_request.v3.LeastRequest")
    );
    // The policy ignores the hash, too.
    let both = ["cds-weights-unused", "rds-hash-policy-unused"];
    assert_eq!(of_localities("--client=go", plain), both);
    assert_eq!(of_localities("--client=java", plain), both[1..]);
    for client in ["--client=go", "--client=java"] {
        assert_eq!(of_localities(client, &listed), both);
    }
}

#[test]
fn the_header_of_a_hash_policy_has_its_case_in_c_core_alone() {
    let text = FAULTS.replace("\"X-Tier\"", "\"x-tier\"").replace(
        "{\"cluster\": \"cart\"}",
        "{\"cluster\": \"cart\", \"hash_policy\": [{\"header\": {\"header_name\": \"X-User\"}}]}",
    );
    let mut rules = rules_of(&text, "--client=cpp,go,java,node", &[]);
    rules.retain(|rule| rule.starts_with("header-"));
    assert_eq!(rules, ["header-name-upper-case advice in cpp"]);
}

#[test]
fn what_a_client_rejects_has_no_other_fault_in_it() {
    let text = FAULTS.replace(
        "\"virtual_hosts\"",
        "\"cluster_specifier_plugins\": [{}], \"virtual_hosts\"",
    );
    let run = validate(&["--client=go", "--complete", "--format=json"], &text);
    let report = run.json();
    let findings = report["resources"][1]["findings"].as_array().unwrap().iter();
    let effects: Vec<&Value> = findings.map(|finding| &finding["effect"]).collect();
    assert_eq!(effects, ["nack"], "{}", run.out);
}

#[test]
fn every_report_ends_with_what_was_not_checked_for_whom() {
    let switch = format!("--env={}=true", UNMODELLED);
    let java = format!("not checked: java: what `{}` changes", UNMODELLED);
    let concise = validate(&["--client=java", &switch, "--format=concise", "-A=all"], FAULTS);
    assert_eq!(concise.code, Some(0));
    assert!(last_line(&concise).starts_with(&java), "{}", concise.out);
    let human = validate(&["--client=java", &switch], FAULTS);
    assert!(human.out.contains(&format!("\n{java}")), "{}", human.out);
    // Each of these has its own worlds, alone and among other clients.
    for known in [
        "go",
        "java",
        "node",
        "node@1.10.1",
        "go,java,node",
        "cpp,cpp@1.62,go@1.72",
    ] {
        let run = validate(&[&format!("--client={known}"), "--format=concise", "-A=all"], FAULTS);
        assert_eq!((run.code, run.out.as_str()), (Some(0), ""), "{known}");
    }
    for clients in ["--client=cpp", "--client=cpp,java,node"] {
        let json = validate(&[clients, "--format=json"], FAULTS).json();
        assert_eq!(json["not_checked"], serde_json::json!([]), "{clients}");
    }
    assert!(!validate(&[], FAULTS).out.contains("not checked:"));
}

#[test]
fn what_was_not_checked_fails_the_run_if_it_is_to() {
    let code = |args: &[&str]| validate(&[&["-A=all", "--format=concise"], args].concat(), FAULTS).code;
    let switch = format!("--env={}=true", UNMODELLED);
    assert_eq!(code(&["--client=java", &switch]), Some(0));
    assert_eq!(code(&["--client=java", &switch, "--fail-on=not-checked"]), Some(1));
    assert_eq!(
        code(&["--client=java", &switch, "--fail-on=warning,not-checked"]),
        Some(1)
    );
    assert_eq!(code(&["--client=java,node", "--fail-on=not-checked"]), Some(0));
    let run = validate(
        &[
            "-A=all",
            "--client=java",
            &switch,
            "--fail-on=not-checked",
            "--format=jsonl",
        ],
        &FAULTS.replace('\n', " "),
    );
    assert_eq!((run.code, run.json()["verdict"].as_str()), (Some(1), Some("fail")));
}

#[test]
fn what_core_rejects_and_another_client_takes_refers_to_what_that_client_holds() {
    // C-core rejects the policy, and Java does not.
    let text = AGGREGATE
        .replace("\"clusters\": []", "\"clusters\": [\"cartt\"]")
        .replace(
            "\"name\": \"cart\", \"type\": \"EDS\"",
            "\"name\": \"cart\", \"type\": \"EDS\", \"lb_policy\": \"LEAST_REQUEST\"",
        );
    let missing = "warning aggregate-child-missing: Cluster `all`: Cluster `cartt`";
    let run = validate(&["--client=cpp,java", "--format=concise"], &text);
    assert!(
        run.out.contains(missing) && run.out.contains("(advice in cpp, java)"),
        "{}",
        run.out
    );
    // Java has a cluster that C-core rejects.
    let without = run.out.lines().find(|line| line.contains("aggregate-without-leaf"));
    assert!(without.unwrap().contains("(fails in cpp)"), "{}", run.out);
    let alone = validate(&["--client=java", "--format=concise"], &text);
    assert!(alone.out.contains(missing), "{}", alone.out);
    for run in [run, alone] {
        assert!(!run.out.contains("not checked"), "{}", run.out);
    }
}

#[test]
fn forms_for_programs_name_the_clients_of_a_finding() {
    for format in ["concise", "github", "sarif", "junit", "gitlab", "markdown"] {
        let of = |clients: &str, named: &str| {
            let run = validate(&[clients, "--complete", "--format", format], FAULTS);
            let reference = run.out.lines().filter(|line| line.contains("cartt"));
            let text: String = reference.collect();
            assert_eq!(
                text.contains(named),
                clients.contains(','),
                "{format} {clients}: {}",
                run.out
            );
        };
        of("--client=cpp,go", "fails in cpp, go");
        of("--client=go", " in go");
    }
}

#[test]
fn a_switch_whose_effect_is_not_known_is_taken_and_listed() {
    let name = UNMODELLED;
    let env = format!("--env={name}=true");
    let what = format!("what `{name}` changes is not known here");
    let java = validate(&[&env, "--client=java", "--format=concise", "-A=all"], FAULTS);
    assert_eq!(java.code, Some(0), "{}", java.err);
    assert!(last_line(&java).ends_with(&format!(": java: {what}")), "{}", java.out);
    let core = validate(&[&env, "--format=json"], FAULTS).json();
    assert_eq!(core["not_checked"][0]["kind"], "switch");
    assert_eq!(core["not_checked"][0]["clients"], serde_json::json!([]));
    // A command whose answer has no such list reports it beside the answer.
    let route = xdsctl(&["route", &env, "-"], FAULTS);
    assert!(
        route.err.contains(&format!("note: `{name}` changes nothing: ")),
        "{}",
        route.err
    );
    let wrong = validate(&["--env=GRPC_EXPERIMENTAL_XDS_FALLBAC=true"], FAULTS);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.err.contains(&format!("did you mean `{name}`?")), "{}", wrong.err);
}

#[test]
fn a_bootstrap_is_read_as_each_client_reads_it() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("not-checked-bootstrap.json");
    fs::write(
        &file,
        r#"{"xds_servers": [{"server_uri": "a:1", "channel_creds": [{"type": "insecure"}]}]}"#,
    )
    .unwrap();
    let file = file.to_str().unwrap();
    for taken in ["--client=cpp", "--client=go", "--client=java", "--client=cpp,go,java"] {
        let run = validate(&[taken, "--bootstrap", file, "--format=concise"], FAULTS);
        assert!(
            !run.out.contains("bootstrap") && !run.out.contains("not checked"),
            "{}",
            run.out
        );
    }
    // grpc-js-xds accepts no bootstrap without a node.
    let node = validate(&["--client=node", "--bootstrap", file, "--format=concise"], FAULTS);
    assert!(node.out.contains("error bootstrap-field-missing"), "{}", node.out);
    let all = validate(
        &["--client=cpp,go,java,node", "--bootstrap", file, "--format=concise"],
        FAULTS,
    );
    let missing = all.out.lines().find(|line| line.contains("bootstrap-field-missing"));
    assert!(missing.unwrap().contains("(in node)"), "{}", all.out);
}

#[test]
fn a_page_says_for_whom_a_rule_is_reported_and_why() {
    let page = xdsctl(&["explain", "aggregate-too-deep"], "");
    assert!(
        page.out
            .contains("reported for go too: grpc-go gives up at the same depth"),
        "{}",
        page.out
    );
    let page = xdsctl(&["explain", "header-name-upper-case"], "");
    let of_clients =
        "clients, with the first rejected example: advice in cpp, go <1.85; resource accepted by go >=1.85, java, node";
    assert!(page.out.contains(of_clients), "{}", page.out);
    let page = xdsctl(&["explain", "rds-cluster-missing"], "");
    assert!(
        page.out
            .contains("reported for every client: every client asks for what"),
        "{}",
        page.out
    );
    let list = xdsctl(&["clients"], "");
    let switch = "GRPC_EXPERIMENTAL_XDS_AUTHORITY_REWRITE";
    assert!(list.out.contains(switch), "{}", list.out);
}
