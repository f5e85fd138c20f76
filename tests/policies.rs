//! Tests of policies: the examples that users copy, the form of a policy's finding, and the faults
//! in a policy.

use std::fs;

use crate::cli_tree::run;
use crate::run::{Run, directory, in_process, program, spawned};
use crate::support::root;

const ROUTES: &str = r#"
"@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration
name: shop
virtual_hosts:
- domains: ["*"]
  routes:
  - {match: {prefix: /a}, route: {cluster: cart, timeout: 5s}}
  - {match: {prefix: /b}, route: {cluster: cart, max_stream_duration: {max_stream_duration: 5s}}}
"#;

const DEADLINE: &str = r#"
[[policy]]
id = "team-deadline"
match = "route"
expression = "has(parsed.route.max_stream_duration)"
message = "no deadline"
severity = "error"
help = "set max_stream_duration"
"#;

/// Runs a command on routes and policies.
fn with(policies: &str, args: &[&str]) -> Run {
    with_input(policies, ROUTES, args)
}

fn with_input(policies: &str, input: &str, args: &[&str]) -> Run {
    // Tests run side by side, each in a thread that has its name.
    let test = std::thread::current().name().map(|name| name.replace(':', "-"));
    let directory = directory("policies", test.as_deref().unwrap_or_default());
    let write = |name: &str, text: &str| {
        let file = directory.join(name);
        fs::write(&file, text).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let (config, file) = (write("xdsctl.toml", policies), write("routes.yaml", input));
    let config = format!("--config={config}");
    let args: Vec<&str> = args
        .iter()
        .map(|arg| match *arg {
            "CONFIG" => config.as_str(),
            "FILE" => file.as_str(),
            other => other,
        })
        .collect();
    in_process(&args, b"", |_| {})
}

fn validate(policies: &str, more: &[&str]) -> Run {
    with(policies, &[&["validate", "CONFIG", "FILE"], more].concat())
}

#[test]
fn the_policies_that_users_copy_pass_their_cases() {
    let Run { code, out, err } = run("policy test fixtures/policies", "");
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
    let files = fs::read_dir(root().join("fixtures/policies")).unwrap();
    let texts = files.map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap());
    let count: usize = texts.map(|text| text.matches("[[policy]]").count()).sum();
    assert!(count >= 12, "{count}");
}

#[test]
fn a_policy_finds_what_the_client_makes_of_a_field_and_not_what_stands_there() {
    let ran = validate(DEADLINE, &["--format=json"]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    let found = ran.findings();
    assert!(
        found.contains(&"team-deadline virtual_hosts[0].routes[0]".to_owned()),
        "{found:?}"
    );
    assert!(
        !found.contains(&"team-deadline virtual_hosts[0].routes[1]".to_owned()),
        "{found:?}"
    );
}

#[test]
fn a_finding_of_a_policy_is_in_every_format() {
    for format in [
        "human", "concise", "json", "jsonl", "sarif", "junit", "github", "gitlab", "markdown",
    ] {
        let ran = validate(DEADLINE, &[&format!("--format={format}")]);
        assert_eq!(ran.code, Some(1), "{format}: {}{}", ran.out, ran.err);
        let named = format == "jsonl" || ran.out.contains("team-deadline");
        assert!(named && ran.out.contains("no deadline"), "{format}: {}", ran.out);
    }
}

#[test]
fn a_finding_of_a_policy_is_chosen_suppressed_and_known_like_any_other() {
    let quiet = |more: &str| {
        let ran = validate(&format!("{DEADLINE}{more}"), &["--format=json"]);
        (
            ran.code,
            ran.findings().iter().any(|found| found.starts_with("team-deadline")),
        )
    };
    assert_eq!(quiet(""), (Some(1), true));
    assert_eq!(quiet("[rules]\nteam-deadline = \"warning\"\n"), (Some(0), true));
    assert_eq!(
        quiet("[[ignore]]\nrule = \"team-deadline\"\nreason = \"known\"\n"),
        (Some(0), false)
    );
    let ran = validate(DEADLINE, &["--format=json", "-A", "team-deadline"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let commented = ROUTES.replace("timeout: 5s}}", "timeout: 5s}} # xdsctl: ignore[team-deadline] known");
    let ran = with_input(DEADLINE, &commented, &["validate", "CONFIG", "FILE", "--format=json"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
}

#[test]
fn each_client_is_asked_about_what_it_keeps() {
    let policy = r#"
[[policy]]
id = "team-attempts"
match = "retry_policy"
expression = "!has(parsed.grpc) || parsed.grpc.max_attempts <= 5"
messageExpression = "world.client.family + ' makes ' + string(parsed.grpc.max_attempts)"
"#;
    let routes = ROUTES.replace(
        "cluster: cart, timeout: 5s",
        "cluster: cart, retry_policy: {retry_on: unavailable, num_retries: 20}",
    );
    let found = |clients: &str| {
        let ran = with_input(
            policy,
            &routes,
            &["validate", "CONFIG", "FILE", "--format=json", clients],
        );
        let findings = ran.findings();
        let count = findings
            .iter()
            .filter(|found| found.starts_with("team-attempts"))
            .count();
        (count, ran.out.contains("go makes 21"))
    };
    assert_eq!(found("--client=cpp"), (0, false));
    assert_eq!(found("--client=cpp,go"), (1, true));
}

#[test]
fn explain_has_the_page_of_a_policy() {
    let ran = with(DEADLINE, &["explain", "CONFIG", "team-deadline"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("has(parsed.route.max_stream_duration)"), "{}", ran.out);
}

#[test]
fn what_is_wrong_with_a_policy_is_said_at_its_place() {
    for (from, to, expected) in [
        (
            "max_stream_duration)",
            "max_stream_durations)",
            "xdsctl.toml:5:32: route_action has no field `max_stream_durations`, did you mean `max_stream_duration`?",
        ),
        (
            "\"route\"",
            "\"rout\"",
            "a policy matches no `rout`, did you mean `route`?",
        ),
        ("team-deadline", "Team", "an id has small letters"),
        ("team-deadline", "field-ignored", "xdsctl has a rule `"),
        (
            "has(parsed.route.max_stream_duration)",
            "1 < 2",
            "the expression looks at nothing",
        ),
        (
            "has(parsed.route.max_stream_duration)",
            "parsed.name",
            "the expression is a text, and must be a bool",
        ),
        ("help", "hilfe", "unknown field `hilfe`"),
    ] {
        let known = if to == "field-ignored" {
            "behaviour-field-ignored"
        } else {
            to
        };
        let ran = validate(&DEADLINE.replacen(from, known, 1), &[]);
        assert_eq!(ran.code, Some(2), "{to}: {}", ran.out);
        assert!(ran.err.contains(expected), "{to}: {}", ran.err);
    }
}

#[test]
fn what_cannot_be_computed_fails_the_run_and_names_the_resource() {
    let policy = DEADLINE.replace(
        "has(parsed.route.max_stream_duration)",
        "parsed.route.max_stream_duration < duration('9s')",
    );
    let ran = validate(&policy, &[]);
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    assert!(
        ran.out
            .contains("cannot be checked here: null and a duration have no order"),
        "{}",
        ran.out
    );
    assert!(
        ran.out
            .contains("policy `team-deadline` at 1 place, the first in RouteConfiguration `shop`"),
        "{}",
        ran.out
    );
}

#[test]
fn a_case_that_shows_nothing_fails() {
    let case = |text: &str| {
        let ran = with(&format!("{DEADLINE}{text}"), &["policy", "test", "CONFIG"]);
        (ran.code, ran.out)
    };
    let routes = |kind: &str, more: &str, text: &str| format!("[[policy.{kind}]]\n{more}\nyaml = '''{text}'''\n");
    let good = ROUTES.replace("timeout: 5s", "max_stream_duration: {max_stream_duration: 5s}");
    let both = |accepted: &str, rejected: &str, more: &str| {
        case(&(routes("accepted", "", accepted) + &routes("rejected", more, rejected)))
    };
    assert_eq!(both(&good, ROUTES, "at = [\"virtual_hosts[0].routes[0]\"]").0, Some(0));
    for ((code, out), expected) in [
        (case(""), "it has no rejected case"),
        (case(&routes("rejected", "", ROUTES)), "it has no accepted case"),
        (
            both(ROUTES, ROUTES, ""),
            "the policy finds `no deadline` at virtual_hosts[0].routes[0]",
        ),
        (both(&good, &good, ""), "the policy finds nothing"),
        (
            both(&good, ROUTES, "at = [\"virtual_hosts[0]\"]"),
            "the policy finds nothing at virtual_hosts[0]",
        ),
        (
            both(&good, ROUTES, "message = \"other\""),
            "no message has `other` in it",
        ),
        (
            both(&good.replace("prefix: /b", "prefix: b"), ROUTES, ""),
            "the policy finds",
        ),
        (
            both(&good.replace("RouteConfiguration", "Nothing"), ROUTES, ""),
            "the policy looks at nothing",
        ),
    ] {
        if expected != "the policy finds" {
            assert_eq!(code, Some(1), "{expected}: {out}");
            assert!(out.contains(expected), "{expected}: {out}");
        }
    }
}

#[test]
fn a_new_policy_is_one_that_holds() {
    let file = "fixtures/examples/checkout.yaml";
    let text = fs::read_to_string(root().join(file)).unwrap();
    let mut made = 0;
    for line in 1..=text.lines().count() {
        let ran = run(&format!("policy new --from {file}:{line}"), "");
        if ran.code != Some(0) {
            continue;
        }
        made += 1;
        let checked = with(
            &ran.out,
            &[
                "validate",
                "CONFIG",
                root().join(file).to_str().unwrap(),
                "--format=json",
            ],
        );
        assert_ne!(checked.code, Some(2), "{line}: {}{}", ran.out, checked.err);
    }
    assert!(made > 5, "{made}");
}

#[test]
fn an_expression_is_expected_of_rpcs() {
    let suite = |that: &str| {
        let text = format!(
            "world: fixtures/suites/world/shop.yaml\nsteps:\n- pick: {{method: /shop.Checkout/Pay}}\n  expect: {{that: \"{that}\"}}\n"
        );
        let ran = run("test -", &text);
        (ran.code, ran.out)
    };
    assert_eq!(
        suite("rpc.status == 'OK' && rpc.attempts == 1 && rpc.duration < duration('1s')").0,
        Some(0)
    );
    assert_eq!(suite("rpc.backend.address == 'nowhere'").0, Some(1));
    let (code, out) = suite("rpc.backend.adress == ''");
    assert_eq!(code, Some(2), "{out}");
    assert!(
        out.contains("rpc_backend has no field `adress`, did you mean `address`?"),
        "{out}"
    );
}

#[test]
fn the_page_has_every_function() {
    let page = fs::read_to_string(root().join("docs/policies.md")).unwrap();
    for function in xdsctl_policy::cel::FUNCTIONS {
        let row = format!("| `{}` | {} |", function.name, function.what);
        assert!(page.contains(&row), "{row}");
    }
}

#[test]
fn the_schema_is_the_one_that_is_published() {
    let published = fs::read_to_string(root().join("docs/schemas/policy.json")).unwrap();
    assert_eq!(published, xdsctl_policy::schema::SCHEMA_TEXT);
}

/// Two listeners with their own routes, cluster and endpoints, and one listener with inline routes.
const SHOPS: &str = r#"
resources:
- "@type": type.googleapis.com/envoy.config.listener.v3.Listener
  name: shop-eu
  api_listener: {api_listener: {"@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager, rds: {route_config_name: eu, config_source: {ads: {}}}, http_filters: [{name: router, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}]}}
- "@type": type.googleapis.com/envoy.config.listener.v3.Listener
  name: shop-us
  api_listener: {api_listener: {"@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager, rds: {route_config_name: us, config_source: {ads: {}}}, http_filters: [{name: router, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}]}}
- "@type": type.googleapis.com/envoy.config.listener.v3.Listener
  name: inline
  api_listener: {api_listener: {"@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager, route_config: {name: own, validate_clusters: true, virtual_hosts: [{domains: ["*"], routes: [{match: {prefix: ""}, route: {cluster: us}}]}]}, http_filters: [{name: router, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}]}}
- {"@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration, name: eu, virtual_hosts: [{domains: ["*"], routes: [{match: {prefix: ""}, route: {cluster: eu}}]}]}
- {"@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration, name: us, virtual_hosts: [{domains: ["*"], routes: [{match: {prefix: ""}, route: {cluster: us}}]}]}
- {"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: eu, type: EDS, eds_cluster_config: {eds_config: {ads: {}}}}
- {"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: us, type: EDS, eds_cluster_config: {eds_config: {ads: {}}}}
- {"@type": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment, cluster_name: eu, endpoints: [{locality: {region: eu}, load_balancing_weight: 1, lb_endpoints: [{endpoint: {address: {socket_address: {address: 10.0.0.1, port_value: 80}}}}]}]}
- {"@type": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment, cluster_name: us, endpoints: [{locality: {region: us}, load_balancing_weight: 1, lb_endpoints: [{endpoint: {address: {socket_address: {address: 10.1.0.1, port_value: 80}}}}]}]}
"#;

/// Returns where a policy that always fails finds something in the shops.
fn found_in_shops(more: &str) -> Vec<String> {
    let policy = format!("[[policy]]\nid = \"team-x\"\nexpression = \"parsed == null\"\n{more}\n");
    let ran = with_input(&policy, SHOPS, &["validate", "CONFIG", "FILE", "--format=json"]);
    assert_ne!(ran.code, Some(2), "{more}: {}{}", ran.out, ran.err);
    let json = ran.json();
    let resources = json["resources"].as_array().unwrap();
    let of_resource = |resource: &serde_json::Value| {
        let findings = resource["findings"].as_array().unwrap().iter();
        let own = findings.filter(|found| found["rule"] == "team-x");
        let place = |found: &serde_json::Value| {
            let (name, path) = (resource["name"].as_str().unwrap(), found["path"].as_str().unwrap());
            format!("{name} {path}").trim().to_owned()
        };
        own.map(place).collect::<Vec<_>>()
    };
    resources.iter().flat_map(of_resource).collect()
}

#[test]
fn a_policy_is_about_what_a_target_leads_to() {
    const INLINE: &str = "inline api_listener.api_listener.value[envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager].route_config.virtual_hosts[0].routes[0]";
    for (element, target, expected) in [
        ("listener", "shop-eu", vec!["shop-eu"]),
        ("listener", "shop-*", vec!["shop-eu", "shop-us"]),
        ("route", "shop-eu", vec!["eu virtual_hosts[0].routes[0]"]),
        ("route", "inline", vec![INLINE]),
        ("cluster", "shop-eu", vec!["eu"]),
        ("cluster", "inline", vec!["us"]),
        ("cluster", "*", vec!["eu", "us"]),
        ("cluster", "shop", vec![]),
        ("endpoints", "shop-us", vec!["us"]),
        ("locality", "*-us", vec!["us endpoints[0]"]),
        ("endpoint", "shop-eu", vec!["eu endpoints[0].lb_endpoints[0]"]),
    ] {
        let found = found_in_shops(&format!("match = \"{element}\"\ntarget = \"{target}\""));
        assert_eq!(found, expected, "{element} {target}");
    }
    let both = found_in_shops("match = \"cluster\"\ntarget = \"shop-*\"\nresource = \"e*\"");
    assert_eq!(both, ["eu"]);
}

#[test]
fn what_is_written_is_read_of_routes_that_stand_in_a_listener_too() {
    let policy = |expression: &str| {
        format!("[[policy]]\nid = \"team-x\"\nmatch = \"virtual_host\"\nexpression = '''{expression}'''\n")
    };
    let run = |expression: &str| {
        with_input(
            &policy(expression),
            SHOPS,
            &["validate", "CONFIG", "FILE", "--format=json"],
        )
    };
    let ran = run("has(resource.validate_clusters) && resource.virtual_hosts.size() == 1");
    let found: Vec<String> = ran
        .findings()
        .into_iter()
        .filter(|found| found.starts_with("team-x"))
        .collect();
    assert_eq!(found, ["team-x virtual_hosts[0]", "team-x virtual_hosts[0]"]);
    let ran = run("resource.validate_cluster");
    assert_eq!(ran.code, Some(2));
    let expected = "RouteConfiguration has no field `validate_cluster`, did you mean `validate_clusters`?";
    assert!(ran.err.contains(expected), "{}", ran.err);
}

#[test]
fn a_finding_of_a_policy_is_in_a_baseline_until_it_is_another() {
    let directory = directory("policies", "baseline");
    let config = directory.join("xdsctl.toml");
    let file = directory.join("routes.yaml");
    let known = directory.join("known.json");
    let write = |policy: &str, routes: &str| {
        fs::write(&config, policy).unwrap();
        fs::write(&file, routes).unwrap();
    };
    let validate = |more: &str| {
        let (config, more) = (
            format!("--config={}", config.display()),
            format!("{more}={}", known.display()),
        );
        let args = ["validate", &config, &more, "--format=json", file.to_str().unwrap()];
        in_process(&args, b"", |_| {})
    };
    write(DEADLINE, ROUTES);
    let written = validate("--write-baseline");
    assert_eq!(written.code, Some(0), "{}{}", written.out, written.err);
    let ran = validate("--baseline");
    assert_eq!(ran.code, Some(0), "{}", ran.out);
    assert!(!ran.out.contains("team-deadline"), "{}", ran.out);
    // One more finding is new.
    write(
        DEADLINE,
        &ROUTES.replace("max_stream_duration: {max_stream_duration: 5s}", "timeout: 1s"),
    );
    let ran = validate("--baseline");
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    assert!(
        ran.findings()
            .contains(&"team-deadline virtual_hosts[0].routes[1]".to_owned()),
        "{}",
        ran.out
    );
}

#[test]
fn a_finding_that_is_suppressed_is_explained() {
    let suppressed = format!("{DEADLINE}[[ignore]]\nrule = \"team-deadline\"\nreason = \"known\"\n");
    let ran = validate(&suppressed, &["--explain-suppressed"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    for part in ["team-deadline", "known"] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
}

/// An aggregate that grpc-java accepts until 1.74.0, and rejects from 1.75.0 on.
const AGGREGATE: &str = r#"{"resources": [
    {"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "all", "cluster_type": {"name": "envoy.clusters.aggregate",
        "typed_config": {"@type": "type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig", "clusters": []}}},
    {"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "cart", "type": "EDS", "eds_cluster_config": {"eds_config": {"ads": {}}}}]}"#;

#[test]
fn what_a_client_keeps_that_was_not_measured_is_not_checked_and_that_is_said() {
    let policy = "[[policy]]\nid = \"team-x\"\nmatch = \"cluster\"\nexpression = \"parsed == null\"\n";
    let run = |client: &str| {
        with_input(
            policy,
            AGGREGATE,
            &["validate", "CONFIG", "FILE", client, "--format=json"],
        )
    };
    let found = |ran: &Run| {
        let found = ran.named_findings();
        found
            .into_iter()
            .filter(|found| found.starts_with("team-x"))
            .collect::<Vec<_>>()
    };
    let before = run("--client=java@1.74.0");
    assert_eq!(found(&before), ["team-x all", "team-x cart"]);
    let between = run("--client=java@1.74.1");
    assert_eq!(
        (found(&between), between.code),
        (vec!["team-x cart".to_owned()], Some(2))
    );
    let human = with_input(
        policy,
        AGGREGATE,
        &["validate", "CONFIG", "FILE", "--client=java@1.74.1"],
    );
    assert!(
        human
            .out
            .contains("not checked: java@1.74.1: the verdict on Cluster `all`"),
        "{}",
        human.out
    );
    let beyond = run("--client=go@1.99");
    assert_eq!((beyond.code, beyond.out.as_str()), (Some(2), ""));
    assert!(beyond.err.contains("`go@1.99` is not known"), "{}", beyond.err);
}

#[test]
fn a_message_has_no_control_characters_and_is_no_longer_than_allowed() {
    let routes = ROUTES.replace("name: shop", "name: \"shop\\e[31m\\u202e\"");
    let policy = "[[policy]]\nid = \"team-x\"\nmatch = \"route_configuration\"\nexpression = \"parsed.name == ''\"\nmessageExpression = \"parsed.name + ' is here'\"\n";
    for format in [
        "human", "json", "sarif", "junit", "github", "markdown", "concise", "gitlab",
    ] {
        let ran = with_input(
            policy,
            &routes,
            &["validate", "CONFIG", "FILE", &format!("--format={format}")],
        );
        assert!(ran.out.contains("is here"), "{format}: {}{}", ran.out, ran.err);
        assert!(
            ran.out.chars().all(xdsctl_report::edge::is_plain),
            "{format}: {}",
            ran.out
        );
    }
    let long = policy.replace(
        "parsed.name + ' is here'",
        "[parsed.name].map(x, x + x + x + x).map(x, x + x + x + x)[0]",
    );
    let routes = ROUTES.replace("name: shop", &format!("name: {}", "n".repeat(400)));
    let ran = with_input(&long, &routes, &["validate", "CONFIG", "FILE"]);
    assert!(
        ran.out.contains("its messageExpression gives more than 4096 bytes"),
        "{}{}",
        ran.out,
        ran.err
    );
}

/// The documents in which each line is turned into a policy.
const STARTS: [&str; 7] = [
    "fixtures/examples/checkout.yaml",
    "fixtures/examples/shop.yaml",
    "fixtures/suites/world/shop.yaml",
    "fixtures/parsed/listeners.yaml",
    "fixtures/parsed/routes.yaml",
    "fixtures/parsed/clusters.yaml",
    "fixtures/parsed/endpoints.yaml",
];

#[test]
fn a_new_policy_passes_its_cases_or_says_what_is_to_be_written() {
    let (mut whole, mut open) = (0, 0);
    let mut elements = std::collections::BTreeSet::new();
    for file in STARTS {
        let text = fs::read_to_string(root().join(file)).unwrap();
        // Only every third line is tested: each takes dozens of small runs.
        for line in (1..=text.lines().count()).step_by(3) {
            let ran = run(&format!("policy new --from {file}:{line}"), "");
            if ran.code != Some(0) {
                assert!(
                    ran.err.contains("no resource that a gRPC client takes"),
                    "{file}:{line}: {}",
                    ran.err
                );
                continue;
            }
            let tested = with(&ran.out, &["policy", "test", "CONFIG"]);
            match ran.out.contains("# To be written") {
                true => {
                    open += 1;
                    assert_ne!(tested.code, Some(0), "{file}:{line}: {}", ran.out);
                }
                false => {
                    whole += 1;
                    let matches = ran.out.lines().find(|line| line.starts_with("match = ")).unwrap();
                    elements.insert(matches.to_owned());
                    assert_eq!(
                        tested.code,
                        Some(0),
                        "{file}:{line}: {}{}{}",
                        ran.out,
                        tested.out,
                        tested.err
                    );
                }
            }
        }
    }
    assert_eq!(elements.len(), 10, "{elements:?}");
    assert!(whole > 2 * open, "{whole} are whole, {open} are not");
}

/// Returns the findings of a rule, with their messages and clients.
fn told(ran: &Run, rule: &str) -> Vec<String> {
    let json = ran.json();
    let resources = json["resources"].as_array().unwrap().iter();
    let found = resources.flat_map(|resource| resource["findings"].as_array().unwrap());
    let own = found.filter(|found| found["rule"] == rule);
    own.map(|found| {
        format!(
            "{}: {}",
            found["who"].as_str().unwrap_or_default(),
            found["message"].as_str().unwrap()
        )
    })
    .collect()
}

#[test]
fn each_client_has_the_message_of_what_it_keeps() {
    // grpc-java makes five attempts at most, whatever the policy says; grpc-go makes as many as it
    // says.
    let policy = r#"
[[policy]]
id = "team-attempts"
match = "retry_policy"
expression = "parsed.grpc.max_attempts < 2"
messageExpression = "string(parsed.grpc.max_attempts) + ' attempts'"

[[policy]]
id = "team-retries"
match = "retry_policy"
expression = "parsed.num_retries < 2"
messageExpression = "string(parsed.num_retries) + ' retries'"
"#;
    let routes = ROUTES.replace(
        "cluster: cart, timeout: 5s",
        "cluster: cart, retry_policy: {retry_on: unavailable, num_retries: 20}",
    );
    let ran = with_input(
        policy,
        &routes,
        &["validate", "CONFIG", "FILE", "--format=json", "--client=cpp,go"],
    );
    assert_eq!(told(&ran, "team-attempts").len(), 2, "{}", ran.out);
    for (client, message) in [("cpp", "5 attempts"), ("go", "21 attempts")] {
        let own = told(&ran, "team-attempts")
            .into_iter()
            .filter(|found| found.contains(client));
        let own: Vec<String> = own.collect();
        assert!(own.len() == 1 && own[0].ends_with(message), "{client}: {own:?}");
    }
    // A finding of all clients is reported once.
    assert_eq!(told(&ran, "team-retries").len(), 1, "{}", ran.out);
}

#[test]
fn clients_that_keep_the_same_are_told_apart_where_a_policy_asks() {
    let policy = r#"
[[policy]]
id = "team-version"
match = "route"
expression = "world.client.version != '1.80.0'"
messageExpression = "world.client.name + ' is too old'"
"#;
    for clients in ["go@1.70.0,go@1.80.0", "go@1.80.0,go@1.70.0"] {
        let clients = format!("--client={clients}");
        let ran = with(policy, &["validate", "CONFIG", "FILE", "--format=json", &clients]);
        let found = told(&ran, "team-version");
        assert_eq!(found.len(), 2, "{clients}: {}", ran.out);
        assert!(
            found.iter().all(|found| found.ends_with("go@1.80.0 is too old")),
            "{found:?}"
        );
    }
}

const HCM: &str =
    "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
const ROUTER: &str =
    r#"{name: router, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}"#;

#[test]
fn filters_have_the_overrides_of_weighted_clusters() {
    let cookie = |ttl: &str| {
        format!(
            r#"session_state: {{name: cookie, typed_config: {{"@type": type.googleapis.com/envoy.extensions.http.stateful_session.cookie.v3.CookieBasedSessionState, cookie: {{name: cart, ttl: {ttl}}}}}}}"#
        )
    };
    let session = "type.googleapis.com/envoy.extensions.filters.http.stateful_session.v3.StatefulSession";
    let shop = format!(
        r#"
"@type": type.googleapis.com/envoy.config.listener.v3.Listener
name: shop
api_listener:
  api_listener:
    "@type": {HCM}
    route_config:
      virtual_hosts:
      - domains: ["*"]
        routes:
        - match: {{prefix: ""}}
          route:
            weighted_clusters:
              clusters:
              - {{name: one, weight: 1, typed_per_filter_config: {{session: {{"@type": {session}PerRoute, stateful_session: {{{long}}}}}}}}}
              - {{name: two, weight: 1}}
              - {{name: three, weight: 1, typed_per_filter_config: {{session: {{"@type": {session}PerRoute, disabled: true}}}}}}
    http_filters:
    - {{name: session, typed_config: {{"@type": {session}, {short}}}}}
    - {ROUTER}
---
{{"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: one, type: EDS, eds_cluster_config: {{eds_config: {{ads: {{}}}}}}}}
---
{{"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: two, type: EDS, eds_cluster_config: {{eds_config: {{ads: {{}}}}}}}}
"#,
        long = cookie("96400s"),
        short = cookie("60s"),
    );
    let policy = |element: &str| {
        format!(
            r#"
[[policy]]
id = "team-ttl"
match = "{element}"
expression = "world.filters.all(filter, !has(filter.config.cookie) || filter.config.cookie.ttl <= duration('1s'))"
messageExpression = "world.filters.filter(filter, has(filter.config.cookie)).map(filter, filter.cluster + ' ' + string(filter.config.cookie.ttl)).join(', ')"
"#
        )
    };
    let found = |element: &str| {
        let ran = with_input(
            &policy(element),
            &shop,
            &["validate", "CONFIG", "FILE", "--format=json"],
        );
        assert_ne!(ran.code, Some(2), "{}{}", ran.out, ran.err);
        told(&ran, "team-ttl")
    };
    assert_eq!(found("route"), [": one 96400s, two 60s"]);
    assert_eq!(found("cluster"), [": one 96400s", ": two 60s"]);
}

#[test]
fn every_client_shows_the_rules_of_a_server() {
    let server = |principals: &str| {
        format!(
            r#"
"@type": type.googleapis.com/envoy.config.listener.v3.Listener
name: server
address: {{socket_address: {{address: 0.0.0.0, port_value: 80}}}}
default_filter_chain:
  filters:
  - name: hcm
    typed_config:
      "@type": {HCM}
      route_config: {{name: in, virtual_hosts: [{{domains: ["*"], routes: [{{match: {{prefix: ""}}, non_forwarding_action: {{}}}}]}}]}}
      http_filters:
      - name: who
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC
          rules: {{action: ALLOW, policies: {{web: {{permissions: [{{any: true}}], principals: [{principals}]}}}}}}
      - {ROUTER}
"#
        )
    };
    let policy = r#"
[[policy]]
id = "team-nobody-else"
match = "listener"
variables = [{name = "rules", expression = "world.filters.map(filter, filter.config.rules)"}]
expression = "variables.rules.all(rules, rules.policies.all(name, !rules.policies[name].principals.exists(who, has(who.any))))"
messageExpression = "'everybody is let in: ' + variables.rules[0].action"
"#;
    for client in ["cpp", "go", "java"] {
        let client = format!("--client={client}");
        let found = |principals: &str| {
            let ran = with_input(
                policy,
                &server(principals),
                &["validate", "CONFIG", "FILE", "--format=json", "--all", &client],
            );
            assert_ne!(ran.code, Some(2), "{client}: {}{}", ran.out, ran.err);
            told(&ran, "team-nobody-else")
        };
        assert_eq!(found("{any: true}"), [": everybody is let in: ALLOW"], "{client}");
        let team = "{authenticated: {principal_name: {exact: team-a}}}";
        assert!(found(team).is_empty(), "{client}");
    }
}

#[test]
fn a_policy_that_looks_at_nothing_is_named() {
    let idle = DEADLINE.replace("[[policy]]", "[[policy]]\nresource = \"nothing\"");
    let human = with(&idle, &["validate", "CONFIG", "FILE"]);
    assert_eq!(human.code, Some(0), "{}{}", human.out, human.err);
    assert!(
        human.out.contains("1 policy, 1 looked at nothing: team-deadline"),
        "{}",
        human.out
    );
    let json = with(&idle, &["validate", "CONFIG", "FILE", "--format=json"]).json();
    assert_eq!(json["summary"]["idle_policies"], serde_json::json!(["team-deadline"]));
    let complete = with(&idle, &["validate", "CONFIG", "FILE", "--format=concise", "--complete"]);
    assert!(
        complete.out.contains("xdsctl.toml:4:6: ") && complete.out.contains("policy-idle"),
        "{}",
        complete.out
    );
    // A policy that looks at something is not reported.
    let ran = with(DEADLINE, &["validate", "CONFIG", "FILE", "--complete"]);
    assert!(
        !ran.out.contains("looked at nothing") && !ran.out.contains("policy-idle"),
        "{}",
        ran.out
    );
}

#[test]
fn policies_below_a_directory_are_found_and_none_is_an_error() {
    let directory = directory("policies", "below");
    let deep = directory.join("policies/more");
    fs::create_dir_all(&deep).unwrap();
    fs::create_dir_all(directory.join("none")).unwrap();
    fs::write(deep.join("routes.toml"), DEADLINE).unwrap();
    fs::write(directory.join("routes.yaml"), ROUTES).unwrap();
    let config = directory.join("xdsctl.toml");
    let argument = format!("--config={}", config.display());
    let file = directory.join("routes.yaml").display().to_string();
    fs::write(&config, "policies = [\"policies\"]\n").unwrap();
    let ran = in_process(&["validate", &argument, &file], b"", |_| {});
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    let ran = in_process(&["config", "show", &argument], b"", |_| {});
    assert!(ran.out.contains("policies: team-deadline"), "{}{}", ran.out, ran.err);
    fs::write(&config, "policies = [\"none\"]\n").unwrap();
    let ran = in_process(&["validate", &argument, &file], b"", |_| {});
    assert_eq!(ran.code, Some(2), "{}", ran.out);
    assert!(ran.err.contains("has no .toml file, here or below"), "{}", ran.err);
}

#[test]
fn nothing_silences_that_a_policy_could_not_be_checked() {
    let policy = DEADLINE.replace(
        "has(parsed.route.max_stream_duration)",
        "parsed.route.max_stream_duration < duration('9s')",
    );
    let ignore = format!("{policy}[[ignore]]\nrule = \"team-deadline\"\nreason = \"known\"\n");
    for (config, more) in [
        (&policy, vec!["-A", "team-deadline"]),
        (&policy, vec!["-A", "fails"]),
        (&policy, vec!["-A", "all"]),
        (&ignore, vec![]),
    ] {
        let ran = validate(config, &more);
        assert_eq!(ran.code, Some(2), "{more:?}: {}{}", ran.out, ran.err);
        assert!(
            ran.out.contains("policy `team-deadline` at 1 place"),
            "{more:?}: {}",
            ran.out
        );
    }
    // A finding of the policy can be silenced.
    let ran = validate(DEADLINE, &["-A", "team-deadline"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
}

#[test]
fn null_is_told_with_what_is_null() {
    let policy = DEADLINE.replace(
        "has(parsed.route.max_stream_duration)",
        "parsed.route.retry_policy.num_retries < 3",
    );
    let ran = validate(&policy, &[]);
    let expected = "`parsed.route.retry_policy` is null and has no `num_retries`: ask `has(parsed.route.retry_policy) && ...` first";
    assert!(ran.out.contains(expected), "{}", ran.out);
    // In a variable, the error quotes the text of the variable.
    let policy = DEADLINE.replace(
        "\"has(parsed.route.max_stream_duration)\"",
        "\"variables.retries < 3\"\nvariables = [{name = \"retries\", expression = \"0 + parsed.route.retry_policy.num_retries\"}]",
    );
    let ran = validate(&policy, &[]);
    assert!(ran.out.contains(expected), "{}", ran.out);
}

#[test]
fn a_finding_points_at_the_field_that_is_named() {
    let clusters = "\n\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: cart\ntype: EDS\neds_cluster_config: {eds_config: {ads: {}}}\noutlier_detection: {max_ejection_percent: 80} # xdsctl: ignore[team-ejects] known\n";
    let policy = |at: &str| {
        format!(
            "[[policy]]\nid = \"team-ejects\"\nmatch = \"cluster\"\n{at}\nexpression = \"parsed.outlier_detection.max_ejection_percent <= 50\"\n"
        )
    };
    let run = |at: &str, format: &str| with_input(&policy(at), clusters, &["validate", "CONFIG", "FILE", format]);
    let at = "at = \"outlier_detection.max_ejection_percent\"";
    let ran = run(at, "--format=json");
    assert!(
        told(&ran, "team-ejects").is_empty() && !ran.out.contains("suppression-unused"),
        "{}",
        ran.out
    );
    let ran = run("", "--format=json");
    assert_eq!(told(&ran, "team-ejects").len(), 1, "{}", ran.out);
    assert!(
        ran.out
            .contains("matches no finding (the nearest of team-ejects is in line 2): known"),
        "{}",
        ran.out
    );
    let ran = run("at = \"outlier_detection.max_ejection\"", "--format=json");
    assert_eq!(ran.code, Some(2), "{}", ran.out);
    assert!(
        ran.err
            .contains("xdsctl.toml:4:7: OutlierDetection has no field `max_ejection`"),
        "{}",
        ran.err
    );
}

#[test]
fn cases_are_run_for_each_client_that_is_asked() {
    let policy = r#"
[[policy]]
id = "team-attempts"
match = "retry_policy"
expression = "parsed.grpc.max_attempts <= 5"
"#;
    let routes = |retries: u32| {
        ROUTES.replace(
            "cluster: cart, timeout: 5s",
            &format!("cluster: cart, retry_policy: {{retry_on: unavailable, num_retries: {retries}}}"),
        )
    };
    let cases = format!(
        "{policy}[[policy.accepted]]\nname = \"few\"\nyaml = '''{}'''\n[[policy.rejected]]\nname = \"many\"\nyaml = '''{}'''\n",
        routes(2),
        routes(9)
    );
    let ran = with(&cases, &["policy", "test", "CONFIG", "--client=cpp,go"]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("4 tests: 3 passed, 1 failed"), "{}", ran.out);
    assert!(ran.out.contains("team-attempts rejects many for cpp@"), "{}", ran.out);
    // The clients are those of the project, and the one that a case names.
    let of_project = format!("clients = [\"cpp\", \"go\"]\n{cases}");
    let ran = with(&of_project, &["policy", "test", "CONFIG"]);
    assert!(ran.out.contains("4 tests: 3 passed, 1 failed"), "{}", ran.out);
    let named = of_project.replace("name = \"many\"", "name = \"many\"\nclient = \"go\"");
    let ran = with(&named, &["policy", "test", "CONFIG"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("3 tests: 3 passed"), "{}", ran.out);
}

/// If one client rejects a case, the report proposes to give the case another client.
#[test]
fn a_case_that_a_client_rejects_is_proposed_to_be_of_another() {
    let case = |client: &str| {
        format!(
            r#"
[[policy]]
id = "team-ring"
match = "cluster"
expression = "parsed.discovery.type == 'EDS'"

[[policy.accepted]]
{client}
yaml = '''
"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
name: cart
type: EDS
eds_cluster_config: {{eds_config: {{ads: {{}}}}}}
lb_policy: RING_HASH
ring_hash_lb_config: {{minimum_ring_size: 9000000}}
'''
"#
        )
    };
    let cure = |client: &str, of: &str| {
        let ran = with(&case(client), &["policy", "test", "CONFIG", of]);
        assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
        assert_eq!(
            ran.out.matches("the client rejects Cluster `cart`").count(),
            usize::from(client.is_empty())
        );
        ran.out
            .contains("; if the case is not for this client, write `client = \"go\"` in it")
    };
    assert!(cure("", "--client=cpp,go"));
    assert!(!cure("", "--client=cpp"));
    assert!(!cure("client = \"go\"", "--client=cpp,go"));
}

#[test]
fn a_policy_that_is_almost_named_is_proposed() {
    let ran = with(DEADLINE, &["explain", "CONFIG", "team-deadlin"]);
    assert_eq!(ran.code, Some(2), "{}", ran.out);
    assert!(ran.err.contains("did you mean `team-deadline`?"), "{}", ran.err);
    // The summary of the rule is the expression without comments.
    let policy = DEADLINE.replace("message = \"no deadline\"\n", "").replace(
        "\"has(parsed.route.max_stream_duration)\"",
        "'''has(parsed.route.max_stream_duration) // or else\n'''",
    );
    let ran = with(&policy, &["explain", "CONFIG", "--list"]);
    assert!(
        ran.out
            .contains("each route has `has(parsed.route.max_stream_duration)`")
            && !ran.out.contains("or else"),
        "{}",
        ran.out
    );
}

/// Makes a world in which RPCs to `shop` go to the first cluster of some resources.
fn world_of(resources: &str) -> String {
    let name = resources.lines().find_map(|line| line.strip_prefix("name: ")).unwrap();
    format!(
        "\"@type\": type.googleapis.com/envoy.config.listener.v3.Listener\nname: shop\napi_listener:\n  api_listener:\n    \"@type\": {HCM}\n    \
         route_config: {{virtual_hosts: [{{domains: [\"*\"], routes: [{{match: {{prefix: \"\"}}, route: {{cluster: {name}}}}}]}}]}}\n    \
         http_filters: [{ROUTER}]\n---\n{}",
        resources.trim()
    )
}

/// Policies that print the shares of the cluster's only priority and of each locality.
const SHARES: &str = r#"
[[policy]]
id = "team-of-cluster"
match = "cluster"
expression = "world.name == ''"
messageExpression = "world.priorities[0].localities.map(of, has(of.share) ? string(of.share) : 'null').join(' ')"

[[policy]]
id = "team-of-locality"
match = "locality"
expression = "world.name == ''"
messageExpression = "has(world.share) ? string(world.share) : 'null'"
"#;

#[test]
fn the_default_target_of_an_rls_plugin_is_the_cluster_of_its_route() {
    let policies = r#"
[[policy]]
id = "team-route"
match = "route"
expression = "world.name == ''"
messageExpression = "world.clusters.map(of, of.name + (has(of.share) ? ' with' : ' without')).join(' ') + ' ' + string(world.priorities.size())"

[[policy]]
id = "team-cluster"
match = "cluster"
expression = "world.name == ''"
messageExpression = "'by ' + world.routes.map(of, of.name + (has(of.share) ? ' with' : ' without')).join(' ') + ' ' + world.listeners.map(of, of.name).join(' ')"
"#;
    let plugin = |target: &str| {
        format!(
            "{{extension: {{name: p, typed_config: {{\"@type\": type.googleapis.com/grpc.lookup.v1.RouteLookupClusterSpecifier, \
             route_lookup_config: {{grpc_keybuilders: [{{names: [{{service: s.S}}]}}], lookup_service: \"rls:1\", \
             lookup_service_timeout: 2s, cache_size_bytes: 1000{target}}}}}}}}}"
        )
    };
    for (target, route, cluster) in [
        (", default_target: d", "d without 1", "by looked without shop"),
        ("", "0", "by"),
    ] {
        let world = format!(
            "\"@type\": type.googleapis.com/envoy.config.listener.v3.Listener\nname: shop\napi_listener:\n  api_listener:\n    \
             \"@type\": {HCM}\n    rds: {{route_config_name: r, config_source: {{ads: {{}}}}}}\n    http_filters: [{ROUTER}]\n---\n\
             \"@type\": type.googleapis.com/envoy.config.route.v3.RouteConfiguration\nname: r\nvirtual_hosts: [{{domains: [\"*\"], \
             routes: [{{name: looked, match: {{prefix: \"\"}}, route: {{cluster_specifier_plugin: p}}}}]}}]\n\
             cluster_specifier_plugins: [{}]\n---\n\
             \"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: d\ntype: EDS\n\
             eds_cluster_config: {{eds_config: {{ads: {{}}}}}}\n---\n\
             \"@type\": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment\ncluster_name: d\nendpoints:\n\
             - {{load_balancing_weight: 1, locality: {{zone: z}}, lb_endpoints: [{{endpoint: {{address: {{socket_address: \
             {{address: 10.0.0.1, port_value: 80}}}}}}}}]}}\n",
            plugin(target)
        );
        let ran = with_input(policies, &world, &["validate", "CONFIG", "FILE", "--format=json"]);
        for (rule, expected) in [("team-route", route), ("team-cluster", cluster)] {
            let found = told(&ran, rule);
            let [found] = found.as_slice() else {
                panic!("{}{}", ran.out, ran.err)
            };
            let (_, message) = found.split_once(": ").unwrap();
            assert_eq!(message.trim(), expected, "{target}: {}", ran.err);
        }
    }
}

#[test]
fn a_locality_has_the_share_that_pick_counts() {
    let custom = |name: &str, message: &str| {
        format!(
            "load_balancing_policy: {{policies: [{{typed_extension_config: {{name: p, typed_config: {{\"@type\": \
             type.googleapis.com/envoy.extensions.load_balancing_policies.{name}.v3.{message}}}}}}}]}}"
        )
    };
    let (round_robin, first) = (custom("round_robin", "RoundRobin"), custom("pick_first", "PickFirst"));
    let busy = custom("least_request", "LeastRequest");
    let weighted = custom("client_side_weighted_round_robin", "ClientSideWeightedRoundRobin");
    let ring = "lb_policy: RING_HASH";
    // The weight of each locality, with the health and weight of its endpoints.
    type Localities<'l> = &'l [(u32, &'l [(&'l str, u32)])];
    let two: &[(&str, u32)] = &[("UNKNOWN", 1), ("HEALTHY", 1)];
    let drained: &[(&str, u32)] = &[("DRAINING", 1), ("DRAINING", 1)];
    let ill: &[(&str, u32)] = &[("UNHEALTHY", 1), ("TIMEOUT", 1)];
    let half: &[(&str, u32)] = &[("HEALTHY", 1), ("DRAINING", 1)];
    let nine: &[(&str, u32)] = &[("HEALTHY", 1); 9];
    let one = &nine[..1];
    let heavy: &[(&str, u32)] = &[("HEALTHY", 9)];
    let cases: [(&str, Localities<'_>, Option<&[f64]>); 13] = [
        (
            "lb_policy: ROUND_ROBIN",
            &[(33, two), (50, two), (17, two)],
            Some(&[0.33, 0.5, 0.17]),
        ),
        (
            "",
            &[(33, drained), (50, two), (17, two)],
            Some(&[0.0, 50.0 / 67.0, 17.0 / 67.0]),
        ),
        (
            "",
            &[(33, ill), (50, two), (17, half)],
            Some(&[0.0, 50.0 / 67.0, 17.0 / 67.0]),
        ),
        (
            "",
            &[(33, &[]), (50, two), (17, two)],
            Some(&[0.0, 50.0 / 67.0, 17.0 / 67.0]),
        ),
        (&round_robin, &[(1, nine), (1, one)], Some(&[0.9, 0.1])),
        (&round_robin, &[(1, nine), (99, one)], Some(&[0.9, 0.1])),
        (&round_robin, &[(1, half), (1, one)], Some(&[0.5, 0.5])),
        (ring, &[(1, heavy), (1, one)], None),
        (ring, &[(3, two), (1, drained), (1, two)], None),
        (&first, &[(1, drained), (1, one)], Some(&[0.0, 1.0])),
        // The configuration does not fix the shares of the cases below.
        (&first, &[(1, two), (1, one)], Some(&[])),
        (&busy, &[(1, two), (1, one)], Some(&[])),
        (&weighted, &[(1, two), (1, one)], Some(&[])),
    ];
    let mut counted = 0;
    for (policy, localities, expected) in cases {
        let mut world = world_of(&format!(
            "\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: c\ntype: EDS\n\
             eds_cluster_config: {{eds_config: {{ads: {{}}}}}}\n{policy}\n---\n\
             \"@type\": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment\ncluster_name: c\nendpoints:\n"
        ));
        world.push('\n');
        for (at, (weight, endpoints)) in localities.iter().enumerate() {
            let list = endpoints.iter().enumerate().map(|(number, (health, weight))| {
                format!(
                    "{{endpoint: {{address: {{socket_address: {{address: 10.0.{at}.{number}, port_value: 80}}}}}}, \
                     health_status: {health}, load_balancing_weight: {weight}}}"
                )
            });
            let list = list.collect::<Vec<_>>().join(", ");
            world.push_str(&format!(
                "- {{load_balancing_weight: {weight}, locality: {{zone: z{at}}}, lb_endpoints: [{list}]}}\n"
            ));
        }
        let what = format!("{policy} {localities:?}");
        // C-core has no least_request.
        let client = if policy == busy { "--client=go" } else { "--client=cpp" };
        let ran = with_input(SHARES, &world, &["validate", "CONFIG", "FILE", "--format=json", client]);
        let messages = |rule: &str| told(&ran, rule).join(" ").replace(": ", " ");
        let numbers = |text: &str| {
            let words = text
                .split_whitespace()
                .filter(|word| *word == "null" || word.parse::<f64>().is_ok());
            words.map(|word| word.parse().ok()).collect::<Vec<Option<f64>>>()
        };
        let shares = numbers(&messages("team-of-cluster"));
        assert_eq!(shares.len(), localities.len(), "{what}: {}{}", ran.out, ran.err);
        assert_eq!(numbers(&messages("team-of-locality")), shares, "{what}");
        let pick = with_input(
            "",
            &world,
            &["pick", "FILE", "--method=/s/m", "--count=1000", "--format=json", client],
        );
        let pick = pick.json();
        for (at, share) in shares.iter().enumerate() {
            let Some(share) = share else {
                assert!(expected.is_some_and(<[f64]>::is_empty), "{what}");
                continue;
            };
            let own = pick["shares"].as_array().unwrap().iter();
            let own = own.filter(|one| one["label"].as_str().unwrap().contains(&format!("10.0.{at}.")));
            let (mut count, mut exact) = (0.0, 0.0);
            for one in own {
                count += one["count"].as_f64().unwrap() / 1000.0;
                exact += one["expected"].as_f64().unwrap();
            }
            // The bound is six standard deviations for a thousand RPCs.
            assert!((share - count).abs() < 0.1, "{what}: {share}, and {count} are counted");
            assert!((share - exact).abs() < 1e-6, "{what}: {share}, and {exact} are to be");
            if let Some(known) = expected {
                assert!((share - known[at]).abs() < 1e-6, "{what}: {share}");
            }
            counted += 1;
        }
    }
    assert_eq!(counted, 25);
}

/// A suite of RPCs while one zone of eu is lost and another one is not.
const STAY_IN_EU: &str = r#"
world: world.yaml
steps:
- pick: {count: 100}
  expect: {that: "rpc.backend.locality.region == 'eu'"}
- stop: [10.1.0.1:80]
- pick: {count: 100}
  expect: {that: "rpc.status == 'OK' && rpc.backend.locality.region == 'eu'"}
"#;

#[test]
fn rpcs_leave_their_region_where_the_policy_says_so() {
    let text = fs::read_to_string(root().join("fixtures/policies/regions.toml")).unwrap();
    let file: toml::Value = toml::from_str(&text).unwrap();
    let policy = &file["policy"][0];
    let directory = directory("policies", "regions");
    let mut played = 0;
    for (kind, expected) in [("accepted", Some(0)), ("rejected", Some(1))] {
        for case in policy[kind].as_array().unwrap() {
            fs::write(directory.join("world.yaml"), world_of(case["yaml"].as_str().unwrap())).unwrap();
            fs::write(directory.join("suite.yaml"), STAY_IN_EU).unwrap();
            let suite = directory.join("suite.yaml").display().to_string();
            let ran = in_process(&["test", &suite], b"", |_| {});
            assert_eq!(ran.code, expected, "{case:?}: {}{}", ran.out, ran.err);
            played += 1;
        }
    }
    assert_eq!(played, 5);
}

#[test]
fn the_example_of_the_page_is_played() {
    let page = fs::read_to_string(root().join("docs/policies.md")).unwrap();
    let (_, rest) = page
        .split_once("<!-- tests/policies.rs plays this policy and this suite -->")
        .unwrap();
    let block = |kind: &str| {
        let (_, rest) = rest.split_once(&format!("```{kind}\n")).unwrap();
        rest.split_once("```").unwrap().0.to_owned()
    };
    let (policy, suite) = (block("toml"), block("yaml"));
    let endpoints = |locality: &str, priority: u32, address: &str| {
        format!(
            "- {{load_balancing_weight: 1, priority: {priority}, locality: {locality}, lb_endpoints: [{{endpoint: {{address: {{socket_address: \
             {{address: {address}, port_value: 80}}}}}}}}]}}\n"
        )
    };
    let world = |us: u32, eu: u32| {
        let cluster = "\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: cart-eu\ntype: EDS\neds_cluster_config: {eds_config: {ads: {}}}\n";
        let assignment = "---\n\"@type\": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment\ncluster_name: cart-eu\nendpoints:\n";
        world_of(
            &[
                cluster,
                assignment,
                &endpoints("{region: eu, zone: a}", 0, "10.1.0.1"),
                &endpoints("{region: eu, zone: b}", eu, "10.1.1.1"),
                &endpoints("{region: us, zone: a}", us, "10.2.0.1"),
            ]
            .concat(),
        )
    };
    let directory = directory("policies", "page");
    let write = |name: &str, text: &str| {
        let file = directory.join(name);
        fs::write(&file, text).unwrap();
        file.display().to_string()
    };
    for (world, is_accepted) in [
        (world(1, 0), true),
        (world(2, 1), true),
        (world(1, 2), false),
        (world(0, 0), false),
    ] {
        let file = write("shop-eu.yaml", &world);
        let config = format!("--config={}", write("xdsctl.toml", &policy));
        let ran = in_process(&["validate", &config, "--format=json", &file], b"", |_| {});
        assert_eq!(
            told(&ran, "team-region-left-early").is_empty(),
            is_accepted,
            "{world}: {}{}",
            ran.out,
            ran.err
        );
        let ran = in_process(&["test", &write("suite.yaml", &suite)], b"", |_| {});
        let expected = if is_accepted { Some(0) } else { Some(1) };
        assert_eq!(ran.code, expected, "{world}: {}{}", ran.out, ran.err);
    }
}

/// Makes a server with two filter chains: connections from client port 1234 match the first, all
/// others the second.
fn two_chains(rbac: [bool; 2], second: &str, routes: impl Fn(usize) -> String, more: [&str; 2]) -> String {
    let rbac_filter = r#"{name: rbac, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC, rules: {action: ALLOW, policies: {web: {permissions: [{any: true}], principals: [{authenticated: {principal_name: {exact: "spiffe://web"}}}]}}}}}, "#;
    let chain = |number: usize| {
        let filter = if rbac[number] { rbac_filter } else { "" };
        let (routes, more) = (routes(number), more[number]);
        format!(
            r#"filters: [{{name: hcm, typed_config: {{"@type": {HCM}, {routes}, {more} http_filters: [{filter}{ROUTER}]}}}}]"#
        )
    };
    let second = match second {
        "default" => format!("default_filter_chain: {{{}}}", chain(1)),
        _ => format!("- {{{}}}", chain(1)),
    };
    format!(
        r#"
"@type": type.googleapis.com/envoy.config.listener.v3.Listener
name: s
address: {{socket_address: {{address: 0.0.0.0, port_value: 8080}}}}
filter_chains:
- {{filter_chain_match: {{source_ports: [1234]}}, {}}}
{second}
"#,
        chain(0),
    )
}

/// What a policy says about a way without RBAC is what a client experiences that comes this way.
#[test]
fn rbac_on_every_way_is_what_each_filter_chain_of_the_server_does() {
    let policy = r#"
[[policy]]
id = "team-rbac"
match = "route"
expression = "world.listeners.all(l, world.filters.exists(f, f.listener == l.name && f.chain == l.chain && f.type == 'rbac' && has(f.config.rules)))"
messageExpression = "world.listeners.filter(l, !world.filters.exists(f, f.listener == l.name && f.chain == l.chain && f.type == 'rbac' && has(f.config.rules))).map(l, l.chain).join(' ')"
"#;
    let off = r#", typed_per_filter_config: {rbac: {"@type": type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBACPerRoute}}"#;
    let mut open_and_closed = [0, 0];
    for rbac in [[true, false], [false, true], [true, true], [false, false]] {
        for second in ["default", "filter_chains[1]"] {
            for (inline, is_off) in [(true, false), (true, true), (false, false), (false, true)] {
                let off = if is_off { off } else { "" };
                let hosts = format!(
                    r#"virtual_hosts: [{{domains: ["*"], routes: [{{match: {{prefix: /}}, non_forwarding_action: {{}}{off}}}]}}]"#
                );
                let routes = |_| match inline {
                    true => format!("route_config: {{name: r, {hosts}}}"),
                    false => "rds: {route_config_name: r, config_source: {ads: {}}}".to_owned(),
                };
                let mut server = two_chains(rbac, second, routes, ["", ""]);
                if !inline {
                    server += &format!(
                        "---\n\"@type\": type.googleapis.com/envoy.config.route.v3.RouteConfiguration\nname: r\n{hosts}\n"
                    );
                }
                let ran = with_input(policy, &server, &["validate", "CONFIG", "FILE", "--format=json"]);
                assert_ne!(ran.code, Some(2), "{}{}", ran.out, ran.err);
                let told = told(&ran, "team-rbac");
                let told = told.iter().flat_map(|found| found.trim_start_matches(": ").split(' '));
                let told: std::collections::BTreeSet<&str> = told.collect();
                let second = if second == "default" {
                    "default_filter_chain"
                } else {
                    second
                };
                for (port, chain) in [("1234", "filter_chains[0]"), ("999", second)] {
                    let from = format!("--from=10.9.9.9:{port}");
                    let args = ["admit", &from, "--method=/a.B/Get", "--format=json", "FILE"];
                    let answer = with_input("", &server, &args).json();
                    assert_eq!(answer["filter_chain"], chain, "{server}");
                    let is_open = answer["end"] == "served";
                    assert!(is_open || answer["end"] == "denied", "{answer}");
                    assert_eq!(told.contains(chain), is_open, "{chain}: {told:?}: {server}");
                    open_and_closed[usize::from(is_open)] += 1;
                }
            }
        }
    }
    // Half of the chains have RBAC, and half of the routes leave it on.
    assert_eq!(open_and_closed, [16, 48]);
}

/// Inline routes of a filter chain have the filters, the deadline and the clusters of that chain
/// only.
#[test]
fn what_stands_in_a_filter_chain_sees_that_chain() {
    let routes = |number| {
        format!(
            r#"route_config: {{name: r, virtual_hosts: [{{domains: ["*"], routes: [{{match: {{prefix: /}}, route: {{cluster: c{number}}}}}]}}]}}"#
        )
    };
    let limit = "common_http_protocol_options: {max_stream_duration: 5s},";
    let server = two_chains([true, false], "default", routes, [limit, ""]);
    let says = |element: &str, message: &str| {
        let policy = format!(
            "[[policy]]\nid = \"team-says\"\nmatch = \"{element}\"\nexpression = \"world.name == ''\"\nmessageExpression = \"\"\"{message}\"\"\"\n"
        );
        let ran = with_input(&policy, &server, &["validate", "CONFIG", "FILE", "--format=json"]);
        assert_ne!(ran.code, Some(2), "{}{}", ran.out, ran.err);
        told(&ran, "team-says")
    };
    let ways =
        "world.listeners.map(l, l.chain).join(' ') + ': ' + world.filters.map(f, f.name + ' of ' + f.chain).join(' ')";
    let of_first = ": filter_chains[0]: rbac of filter_chains[0]";
    for element in ["route_configuration", "virtual_host", "route"] {
        assert_eq!(says(element, ways), [of_first, ": default_filter_chain:"], "{element}");
    }
    // The first chain has two filters, RBAC and the router; the second has only the router.
    assert_eq!(says("filter", ways), [of_first, of_first, ": default_filter_chain:"]);
    let both = ": filter_chains[0] default_filter_chain: rbac of filter_chains[0]";
    assert_eq!(says("listener", ways), [both]);
    let deadline = "has(world.deadline) ? string(world.deadline) : 'none'";
    assert_eq!(says("route", deadline), [": 5s", ": none"]);
    let clusters = "world.clusters.map(c, c.name).join(' ')";
    assert_eq!(says("filter", clusters), [": c0", ": c0", ": c1"]);
}

#[test]
fn settings_around_the_input_alone_are_named_and_not_used() {
    let project = directory("policies", "passed_over");
    fs::create_dir_all(project.join("xds")).unwrap();
    fs::create_dir_all(project.join("elsewhere/.git")).unwrap();
    fs::write(project.join("xdsctl.toml"), DEADLINE).unwrap();
    let routes = project.join("xds/routes.yaml");
    fs::write(&routes, ROUTES).unwrap();
    let validate = |place: &str, more: &[&str]| {
        let mut command = program(&[&["validate", routes.to_str().unwrap()], more].concat());
        command.current_dir(project.join(place));
        spawned(command, b"")
    };
    let ran = validate("elsewhere", &[]);
    let note = "note: the settings in `../xdsctl.toml` are not used: this directory is not below them; \
                `--config ../xdsctl.toml` uses them\n";
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), note), "{}", ran.out);
    assert_eq!(validate("elsewhere", &["--no-config"]).err, "");
    for place in ["", "xds"] {
        let ran = validate(place, &[]);
        assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""), "{}", ran.out);
    }
}

#[test]
fn a_case_fails_if_its_message_cannot_be_made() {
    let cases = |message: &str| {
        let good = ROUTES.replace("timeout: 5s", "max_stream_duration: {max_stream_duration: 5s}");
        let policy = DEADLINE.replace(
            "message = \"no deadline\"",
            &format!("messageExpression = \"{message}\""),
        );
        let text =
            format!("{policy}[[policy.accepted]]\nyaml = '''{good}'''\n[[policy.rejected]]\nyaml = '''{ROUTES}'''\n");
        with(&text, &["policy", "test", "CONFIG"])
    };
    assert_eq!(cases("'no deadline: ' + parsed.route.cluster").code, Some(0));
    let ran = cases("'no deadline for ' + parsed.route.retry_policy.from");
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    let why = "(its messageExpression fails: `parsed.route.retry_policy` is null and has no `from`";
    assert!(ran.out.contains("there is no message: `"), "{}", ran.out);
    assert!(ran.out.contains(why), "{}", ran.out);
}

/// A case may name files anywhere in the project, but not outside of it.
#[test]
fn the_files_of_a_case_stand_in_the_project() {
    let around = directory("policies", "files_of_a_case");
    let project = around.join("project");
    for directory in ["policies", "t"] {
        fs::create_dir_all(project.join(directory)).unwrap();
    }
    let good = ROUTES.replace("timeout: 5s", "max_stream_duration: {max_stream_duration: 5s}");
    fs::write(project.join("xdsctl.toml"), "policies = [\"policies\"]\n").unwrap();
    fs::write(project.join("t/bad.yaml"), ROUTES).unwrap();
    fs::write(around.join("outside.yaml"), &good).unwrap();
    fs::write(project.join("t/good.yaml"), &good).unwrap();
    let config = format!("--config={}", project.join("xdsctl.toml").display());
    for (file, code) in [("../t/good.yaml", 0), ("../../outside.yaml", 2)] {
        let cases =
            format!("[[policy.accepted]]\nfiles = [\"{file}\"]\n[[policy.rejected]]\nfiles = [\"../t/bad.yaml\"]\n");
        fs::write(project.join("policies/a.toml"), format!("{DEADLINE}{cases}")).unwrap();
        let ran = in_process(&["policy", "test", &config], b"", |_| {});
        assert_eq!(ran.code, Some(code), "{file}: {}{}", ran.out, ran.err);
        assert_eq!(ran.out.contains("--allow-read"), code == 2, "{}", ran.out);
    }
}

#[test]
fn the_summary_of_a_policy_has_the_beginning_of_its_expression() {
    let long = "parsed.name != 'a' && ".repeat(10) + "parsed.name != 'b'";
    let policy = format!("[[policy]]\nid = \"team-long\"\nmatch = \"cluster\"\nexpression = \"{long}\"\n");
    let ran = with(&policy, &["explain", "--list", "CONFIG"]);
    let line = ran.out.lines().find(|line| line.contains("team-long")).unwrap();
    let summary = "A policy: each cluster has `parsed.name != 'a' && parsed.name != 'a' && parsed.name != '...`";
    assert!(line.contains(summary), "{line}");
}
