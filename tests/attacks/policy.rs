//! Policies that ask for much work or room, and expressions that are none: each meets a limit, which is said.

use std::fs;
use std::path::Path;

use crate::attack;
use crate::chance::Chance;
use crate::run::{Run, directory, in_process};

const RESOURCES: &str = r#"
"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
name: cart
type: EDS
eds_cluster_config: {eds_config: {ads: {}}}
---
"@type": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment
cluster_name: cart
endpoints:
- load_balancing_weight: 1
  locality: {region: eu}
  lb_endpoints: [LIST]
"#;

/// A run with policies, over a cluster with this many endpoints.
fn checked(at: &Path, policies: &str, endpoints: usize) -> Run {
    let one = |number: usize| {
        let (a, b) = (number / 250, number % 250);
        format!(
            "{{endpoint: {{address: {{socket_address: {{address: 10.{}.{}.{b}, port_value: 80}}}}}}}}",
            a / 250,
            a % 250
        )
    };
    let list: Vec<String> = (0..endpoints).map(one).collect();
    let file = at.join("x.yaml");
    fs::write(&file, RESOURCES.replace("LIST", &list.join(", "))).unwrap();
    let config = at.join("xdsctl.toml");
    fs::write(&config, policies).unwrap();
    let config = format!("--config={}", config.display());
    in_process(
        &["validate", &config, "--format=json", file.to_str().unwrap()],
        b"",
        |_| {},
    )
}

fn policy(id: &str, element: &str, expression: &str) -> String {
    format!("[[policy]]\nid = \"{id}\"\nmatch = \"{element}\"\nexpression = '''{expression}'''\n")
}

#[test]
fn work_and_room_are_counted() {
    let directory = directory("attacks", "policy");
    let all = |inner: String, number: usize| {
        format!("parsed.priorities[0].localities[0].lb_endpoints.all(x{number}, {inner})")
    };
    let nested = (0..5).fold("true".to_owned(), all);
    let doubled = (0..30).fold("parsed.name".to_owned(), |inner, _| {
        format!("[{inner}].map(x, x + x)[0]")
    });
    let grown = "parsed.priorities[0].localities[0].lb_endpoints.map(a, parsed.priorities[0].localities[0].lb_endpoints.map(b, a))";
    for expression in [
        nested,
        format!("{doubled} == ''"),
        format!("{grown}.size() == 0"),
        format!("{grown}.distinct().size() == 0"),
    ] {
        let ran = checked(&directory, &policy("team-much", "endpoints", &expression), 2_000);
        assert_eq!(ran.code, Some(2), "{expression}: {}", ran.err);
        assert!(
            ran.out.contains("it takes more steps than there may be"),
            "{expression}: {}",
            ran.out
        );
    }
}

#[test]
fn findings_are_counted_too() {
    let directory = directory("attacks", "policy");
    let many: String = (0..100)
        .map(|number| policy(&format!("team-x{number}"), "endpoint", "parsed == null"))
        .collect();
    let ran = checked(&directory, &many, 1_200);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.out.contains("it takes more steps than there may be"));
    let beyond: String = (0..1_001)
        .map(|number| policy(&format!("team-x{number}"), "cluster", "parsed != null"))
        .collect();
    let ran = checked(&directory, &beyond, 1);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("more than 1000 policies, the limit"), "{}", ran.err);
}

#[test]
fn what_is_too_deep_too_long_or_too_large_is_refused() {
    let directory = directory("attacks", "policy");
    for (expression, expected) in [
        (
            format!("{}1{} == parsed.x", "(".repeat(4_000), ")".repeat(4_000)),
            "more than 100 parts inside each other",
        ),
        (
            format!("{}parsed", "!".repeat(8_000)),
            "more than 100 parts inside each other",
        ),
        (
            format!("parsed{}", ".name".repeat(1_500)),
            "more than 100 parts inside each other",
        ),
        (
            format!("parsed.name == '{}'", "x".repeat(9_000)),
            "more than 8192 bytes, the limit",
        ),
        ("parsed.name.matches('((a{1000}){1000}){1000}')".to_owned(), ""),
    ] {
        let ran = checked(&directory, &policy("team-deep", "cluster", &expression), 1);
        assert_eq!(ran.code, Some(2), "{expected}: {}", ran.out);
        assert!(ran.err.contains(expected), "{expected}: {}", ran.err);
    }
    // A pattern that engines with backtracking never end with.
    let pattern = policy(
        "team-pattern",
        "cluster",
        "!(parsed.name + 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!').matches('^(a|aa)+$')",
    );
    assert_eq!(checked(&directory, &pattern, 1).code, Some(0));
}

#[test]
fn messages_show_no_secret() {
    let directory = directory("attacks", "policy");
    let shown = policy("team-secret", "cluster", "parsed.name == ''")
        + "messageExpression = '''string(resource.metadata.filter_metadata['envoy.lb'].password) + string(parsed.metadata['envoy.lb'].value.password)'''\n";
    let file = directory.join("x.yaml");
    let secret = "hunter2-hunter2";
    let metadata = format!("metadata: {{filter_metadata: {{envoy.lb: {{password: {secret}}}}}}}\n---");
    fs::write(&file, RESOURCES.replacen("---", &metadata, 1).replace("LIST", "")).unwrap();
    let config = directory.join("xdsctl.toml");
    fs::write(&config, shown).unwrap();
    let config = format!("--config={}", config.display());
    for format in ["human", "json", "sarif", "junit"] {
        let args = [
            "validate",
            &config,
            &format!("--format={format}"),
            file.to_str().unwrap(),
        ];
        let ran = in_process(&args, b"", |_| {});
        assert!(ran.out.contains("team-secret"), "{}{}", ran.out, ran.err);
        assert!(
            !ran.out.contains(secret) && !ran.err.contains(secret),
            "{format}: {}",
            ran.out
        );
    }
}

#[test]
fn expressions_of_chance_end() {
    const WORDS: [&str; 40] = [
        "parsed",
        "world",
        "resource",
        ".name",
        ".x",
        "[",
        "]",
        "(",
        ")",
        "{",
        "}",
        ",",
        ":",
        "?",
        "!",
        "-",
        "+",
        "*",
        "/",
        "%",
        "&&",
        "||",
        "==",
        "<",
        " in ",
        "1",
        "1.5",
        "'a'",
        "\"",
        "'''",
        "has(",
        ".all(x, ",
        ".map(x, ",
        "x",
        "null",
        "true",
        "duration('1s')",
        ".matches('a+')",
        "\\",
        "é",
    ];
    attack("policy-words", |chance: &mut Chance, directory: &Path| {
        let expression: String = (0..chance.below(30)).map(|_| chance.one(&WORDS)).collect();
        let text = policy("team-chance", "cluster", &expression.replace("'''", "''"));
        let ran = checked(directory, &text, 2);
        assert!(ran.code.is_some(), "{expression}");
    });
}
