//! Policies: the examples that users copy, what a finding of one is like, and what is wrong with one.

use std::fs;

use crate::cli_tree::run;
use crate::run::{Run, directory, in_process};
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
