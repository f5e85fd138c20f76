//! Attacks by policies that need much work or memory, and by invalid expressions: each meets a
//! limit, and the output says so.

use std::fs;
use std::path::{Path, PathBuf};

use crate::attack;
use crate::chance::Chance;
use crate::run::{Run, directory, in_process};
use xdsctl_policy::Element;
use xdsctl_policy::schema::{Kind, SCHEMA};

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

/// Returns a directory for this test. Tests run side by side, each in a thread that has its name.
fn own_directory() -> PathBuf {
    let test = std::thread::current().name().map(|name| name.replace(':', "-"));
    directory("attacks", test.as_deref().unwrap_or("policy"))
}

/// Runs `validate` with policies, on a cluster with this many endpoints.
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
    let directory = own_directory();
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
    let directory = own_directory();
    let many: String = (0..100)
        .map(|number| policy(&format!("team-x{number}"), "endpoint", "parsed == null"))
        .collect();
    let ran = checked(&directory, &many, 2_500);
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
    let directory = own_directory();
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
    // Engines with backtracking never finish with this pattern.
    let pattern = policy(
        "team-pattern",
        "cluster",
        "!(parsed.name + 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!').matches('^(a|aa)+$')",
    );
    assert_eq!(checked(&directory, &pattern, 1).code, Some(0));
}

#[test]
fn what_is_small_to_write_is_not_large_to_hold() {
    let directory = own_directory();
    let run = |element: &str, expression: &str, more: &str| {
        checked(
            &directory,
            &format!("{}{more}\n", policy("team-dense", element, expression)),
            10,
        )
    };
    let is_too_much = |ran: &Run, what: &str| {
        assert_eq!(ran.code, Some(2), "{what}: {}", ran.err);
        assert!(
            ran.out.contains("it takes more steps than there may be"),
            "{what}: {}",
            ran.out
        );
    };
    // Each list occurs twice in the next one: there are few parts, but very many to compare.
    let doubled = format!("[[parsed.name]]{}", ".map(x, [x, x])".repeat(60));
    is_too_much(&run("cluster", &format!("{doubled} == {doubled}"), ""), "equal");
    is_too_much(&run("cluster", &format!("{doubled}[0] in {doubled}"), ""), "in");
    is_too_much(
        &run("cluster", &format!("({doubled} + {doubled}).distinct().size() > 0"), ""),
        "distinct",
    );
    // Such a list cannot become a text, even where its type is not known in advance.
    let ran = run("cluster", &format!("string([1, {doubled}][1]) == ''"), "");
    assert_eq!(ran.code, Some(2));
    assert!(ran.out.contains("string(): it does not take a list"), "{}", ran.out);
    // Nested brackets are read once each.
    let brackets = format!(
        "resource{} == null",
        "['metadata']['filter_metadata']".to_owned() + &"['x']".repeat(90)
    );
    let ran = run("cluster", &brackets, "");
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    // Variables that name each other are as deep as the variables that they name.
    let chain = |count: usize| {
        let one = |number: usize| match number {
            0 => "{name = \"v0\", expression = \"[parsed.name]\"}".to_owned(),
            _ => format!(
                "{{name = \"v{number}\", expression = \"[[variables.v{}]]\"}}",
                number - 1
            ),
        };
        let all: Vec<String> = (0..count).map(one).collect();
        format!("variables = [{}]", all.join(", "))
    };
    assert_eq!(run("cluster", "variables.v20.size() == 1", &chain(21)).code, Some(0));
    let ran = run("cluster", "variables.v80.size() == 1", &chain(81));
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.err
            .contains("more than 100 parts inside each other, those of variables counted"),
        "{}",
        ran.err
    );
    let many: Vec<String> = (0..101)
        .map(|number| format!("{{name = \"v{number}\", expression = \"parsed.name\"}}"))
        .collect();
    let ran = run(
        "cluster",
        "variables.v0 == ''",
        &format!("variables = [{}]", many.join(", ")),
    );
    assert!(ran.err.contains("more than 100 variables, the limit"), "{}", ran.err);
}

#[test]
fn the_deepest_expression_is_evaluated() {
    let directory = own_directory();
    let brackets = |count: usize| format!("{}parsed.name == 'x'{}", "(".repeat(count), ")".repeat(count));
    let macros = |count: usize| {
        (0..count).fold("true".to_owned(), |inner, number| {
            format!("[1].all(x{number}, {inner})")
        })
    };
    let signs = |count: usize| format!("{}(parsed.name == '')", "!".repeat(count));
    for expression in [brackets(98), format!("{} && parsed.name != ''", macros(48)), signs(97)] {
        let ran = checked(&directory, &policy("team-deep", "cluster", &expression), 1);
        assert!(matches!(ran.code, Some(0 | 1)), "{expression}: {}{}", ran.out, ran.err);
    }
}

#[test]
fn long_texts_have_a_limit() {
    let directory = own_directory();
    let long = "x".repeat(5_000);
    for key in ["message", "help", "resource", "target"] {
        let text = format!(
            "{}{key} = \"{long}\"\n",
            policy("team-long", "cluster", "parsed.name == ''")
        );
        let ran = checked(&directory, &text, 1);
        assert_eq!(ran.code, Some(2), "{key}: {}", ran.out);
        assert!(
            ran.err.contains("more than 4096 bytes, the limit"),
            "{key}: {}",
            ran.err
        );
    }
    // An error quotes only the beginning of a text.
    let text = policy(
        "team-long",
        "cluster",
        &format!("int('{}') > 0 || parsed.name == ''", "7x".repeat(3_000)),
    );
    let ran = checked(&directory, &text, 1);
    assert_eq!(ran.code, Some(2));
    assert!(ran.out.contains("7x7x...` is no whole number"), "{}", ran.out);
}

#[test]
fn messages_show_no_secret() {
    let directory = own_directory();
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
        let case = "\n[[policy.rejected]]\nfiles = [\"x.yaml\"]\n";
        let config = directory.join("policies.toml");
        fs::write(&config, text + case).unwrap();
        let ran = in_process(&["policy", "test", config.to_str().unwrap()], b"", |_| {});
        assert!(matches!(ran.code, Some(0..=2)), "{expression}");
    });
}

/// Returns a field on a random way through the schema, and its kind.
fn field_of_chance(chance: &mut Chance, mut at: String, mut kind: Kind) -> (String, Kind) {
    loop {
        let next = match &kind {
            Kind::Object(object) => {
                let fields: Vec<(&str, &Kind)> = SCHEMA.fields(object).collect();
                let (name, kind) = fields[chance.below(fields.len())];
                (format!("{at}.{name}"), kind.clone())
            }
            Kind::List(of) if chance.below(2) == 0 => (format!("{at}[0]"), (**of).clone()),
            _ => return (at, kind),
        };
        (at, kind) = next;
        if chance.below(8) == 0 {
            return (at, kind);
        }
    }
}

/// Every field that a policy may name is there, or null, both where it is checked and where it is
/// printed.
#[test]
fn fields_of_chance_are_there_or_null() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let files = ["listeners", "routes", "clusters", "endpoints", "filters"];
    let mut files: Vec<String> = files.map(|name| format!("fixtures/parsed/{name}.yaml")).to_vec();
    files.push("fixtures/examples/checkout.yaml".to_owned());
    let files: Vec<String> = files.iter().map(|file| root.join(file).display().to_string()).collect();
    attack("policy-fields", |chance: &mut Chance, directory: &Path| {
        let element = chance.of(&Element::ALL);
        let (root, object) = chance.of(&[("parsed", element.name()), ("world", element.world())]);
        let (field, kind) = field_of_chance(chance, root.to_owned(), Kind::Object(object));
        let test = match &kind {
            Kind::Bool => field.clone(),
            Kind::Int => format!("{field} > 0"),
            Kind::Double => format!("{field} > 0.5"),
            Kind::Duration => format!("{field} > duration('1s')"),
            Kind::Text | Kind::Word(_) | Kind::List(_) | Kind::Map(_) => format!("{field}.size() > 0"),
            Kind::Any | Kind::Null | Kind::Object(_) | Kind::Message(_) => format!("{field} != null"),
        };
        let text = policy("team-chance", element.name(), &format!("({test}) ? false : false"));
        let config = directory.join("xdsctl.toml");
        fs::write(&config, format!("{text}messageExpression = '''string({test})'''\n")).unwrap();
        let config = format!("--config={}", config.display());
        let client = format!("--client={}", chance.one(&["cpp", "go", "java", "go@1.80.0", "cpp,go"]));
        let mut args = vec!["validate", &config, &client, "--all", "--format=json"];
        args.extend(files.iter().map(String::as_str));
        let ran = in_process(&args, b"", |_| {});
        assert!(
            matches!(ran.code, Some(0..=2)) && !ran.err.contains("xdsctl: "),
            "{test}: {}",
            ran.err
        );
        // The printed form has the same fields.
        assert!(!ran.out.contains("messageExpression"), "{test}: {}", ran.out);
        if ran.code == Some(2) && ran.out.contains("cannot be checked here") {
            let is_told = [
                "is null and has no",
                "null has no element",
                "null and a",
                "there is no element",
                "does not take null",
                "not null",
            ];
            assert!(
                is_told.iter().any(|words| ran.out.contains(words)),
                "{test}: {}",
                ran.out
            );
        }
    });
}
