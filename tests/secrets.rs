//! Plants secrets wherever gRPC or Envoy reads one, in every format, in valid documents and in
//! broken ones: no output may contain them.
//!
//! The places come from the descriptor tables: each text field of a message that holds credentials,
//! reached from a resource by the shortest way. A list has the places that the tables do not know:
//! Structs, headers, URLs, the bootstrap.

mod forms;
mod harmless;
mod places;
mod runs;
mod single;

use serde_json::{Value, json};
use xdsctl_model::rng::Rng;

use crate::run::run;
use forms::{FORMS, unescaped, write};
use places::{BOOTSTRAPS, Step, TEMPLATES, resource, targets};
use runs::{LOG, RUNS, fetched, filed_leak, leak_in, leaks};

/// The number of secrets that a run plants. `XDSCTL_SECRETS=10000` plants more, and
/// `XDSCTL_SECRETS_SEED` repeats the secrets of a run.
const PLANTED: usize = 300;

/// Makes a text that occurs nowhere else.
fn secret(rng: &mut Rng) -> String {
    const LETTERS: &[u8] = b"abcdefghkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
    (0..16)
        .map(|_| char::from(LETTERS[rng.below(LETTERS.len() as u64) as usize]))
        .collect()
}

/// Makes a value that contains a secret, in one of several shapes.
fn value(secret: &str, rng: &mut Rng) -> String {
    match rng.below(12) {
        0 => format!("-----BEGIN PRIVATE KEY-----\n{secret}\"{secret}\n-----END PRIVATE KEY-----"),
        1 => format!("BEARER {secret}"),
        2 => format!("{secret}\u{7}"),
        3 => format!("https://user:{secret}@host"),
        4 => format!("*{secret}"),
        5 => format!("a, {secret}: b"),
        6 => format!("{secret} {secret}"),
        _ => secret.to_owned(),
    }
}

/// Makes fields that cause findings beside a secret, or that break the object that has it.
fn beside(rng: &mut Rng, secret: &str) -> Vec<(String, Value)> {
    match rng.below(6) {
        0 => vec![("bogus".to_owned(), json!(1))],
        1 => vec![("aaa_unknown".to_owned(), json!({ "x": secret }))],
        2 => vec![
            ("inline_strng".to_owned(), json!(secret)),
            ("valeu".to_owned(), json!([secret])),
        ],
        3 => vec![("filename".to_owned(), json!({ "password": secret }))],
        _ => Vec::new(),
    }
}

/// Returns another seed each time, unless one is set.
fn seed() -> u64 {
    let asked = std::env::var("XDSCTL_SECRETS_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let now = || {
        std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(7, |now| now.subsec_nanos())
    };
    asked.unwrap_or_else(|| now().into())
}

#[test]
fn planted_secrets_appear_in_no_output() {
    let wanted = std::env::var("XDSCTL_SECRETS")
        .ok()
        .and_then(|count| count.parse().ok());
    let wanted: usize = wanted.unwrap_or(PLANTED);
    let targets = targets();
    let names: Vec<String> = targets
        .iter()
        .map(|t| format!("{:?}", t.steps.last().unwrap()))
        .collect();
    assert!(targets.len() > 40, "{names:?}");
    let seed = seed();
    println!("XDSCTL_SECRETS_SEED={seed}");
    let mut rng = Rng::stream(seed, "planted secrets");
    let (mut planted, mut round, mut failures) = (0, 0, Vec::new());
    let started = std::time::Instant::now();
    while planted < wanted {
        let form = FORMS[round % FORMS.len()];
        let (secret, other) = (secret(&mut rng), self::secret(&mut rng));
        let secrets = [secret.clone(), other.clone()];
        let place = rng.below((targets.len() + 2 * TEMPLATES.len()) as u64) as usize;
        let value = match targets.get(place) {
            Some(target) => {
                let mut target = target.clone();
                // Sometimes the text replaces the object that should have it.
                let is_short = rng.below(8) == 0 && matches!(target.steps.iter().rev().nth(1), Some(Step::Field(..)));
                if is_short {
                    target.steps.pop();
                }
                let target = &target;
                let text = value(&secret, &mut rng);
                let leaf = match rng.below(10) {
                    0 => json!([text]),
                    1 => json!({ "x": text }),
                    _ if target.is_bytes => {
                        use base64::Engine as _;
                        // Text that is not base64 is quoted; its base64 is as secret.
                        if rng.below(2) == 0 {
                            json!(text)
                        } else {
                            json!(base64::engine::general_purpose::STANDARD.encode(&text))
                        }
                    }
                    _ => json!(text),
                };
                // The fields beside that object are in another message.
                let beside = beside(&mut rng, &secret);
                resource(target, "n", leaf, if is_short { &[] } else { &beside })
            }
            None => {
                let text = TEMPLATES[(place - targets.len()) % TEMPLATES.len()];
                let text = text
                    .replace(
                        "\"@type\":\"R\"",
                        "\"@type\":\"type.googleapis.com/envoy.config.route.v3.RouteConfiguration\"",
                    )
                    .replace(
                        "\"@type\":\"C\"",
                        "\"@type\":\"type.googleapis.com/envoy.config.cluster.v3.Cluster\"",
                    )
                    .replace(
                        "\"@type\":\"L\"",
                        "\"@type\":\"type.googleapis.com/envoy.config.listener.v3.Listener\"",
                    )
                    .replace('$', &secret);
                serde_json::from_str(&text).unwrap()
            }
        };
        round += 1;
        let Some(mut document) = write(&value, form, &secrets) else {
            continue;
        };
        // The document is broken: cut somewhere in its second half, with a stray byte, or with one
        // brace too many.
        match rng.below(5) {
            0 => document.truncate(document.len() - rng.below(document.len() as u64 / 2 + 1) as usize),
            1 => {
                let at = rng.below(document.len() as u64) as usize;
                let mut broken = document.clone();
                broken.insert(at, b"\"{}:,\\\n"[rng.below(7) as usize]);
                // A scheme that is cut in two is not a scheme.
                let tokens = |document: &[u8]| {
                    let text = unescaped(&String::from_utf8_lossy(document));
                    // Double-quoted YAML goes on in the next line.
                    let lines = text.split("\\\n").enumerate();
                    let text: String = lines
                        .map(|(i, line)| if i > 0 { line.trim_start() } else { line })
                        .collect();
                    text.matches(&format!("Bearer {secret}")).count()
                };
                if tokens(&broken) == tokens(&document) {
                    document = broken;
                }
            }
            2 => document.extend_from_slice(b"\n}]"),
            _ => {}
        }
        planted += 1;
        let runs = if planted % 8 == 0 { RUNS } else { &RUNS[..2] };
        let leak = leaks(&document, &secrets, runs).or_else(|| leak_in(&fetched(&value), &secrets, &["fetch"]));
        let log = LOG.replace('$', &secret);
        let leak = leak.or_else(|| {
            let runs: &[&[&str]] = &[&["explain", "-"], &["explain", "--format=json", "-"]];
            leaks(log.as_bytes(), &secrets, runs).filter(|_| planted % 8 == 1)
        });
        let leak = leak.or_else(|| {
            let changed: Value = serde_json::from_str(&value.to_string().replace(&secret, &other)).unwrap();
            let changed = write(&changed, form, &secrets).unwrap_or_default();
            filed_leak(planted, [&document, &changed], &value, form, &secrets)
        });
        if let Some(leak) = leak {
            failures.push(format!("{form:?}\n{}\n{leak}", String::from_utf8_lossy(&document)));
        }
    }
    let places = targets.len() + TEMPLATES.len();
    println!("{planted} secrets in {places} places, {:?}", started.elapsed());
    assert!(
        failures.is_empty(),
        "{} of {planted} leak with XDSCTL_SECRETS_SEED={seed}:\n{}",
        failures.len(),
        failures[..failures.len().min(12)].join("\n\n")
    );
}

#[test]
fn a_bootstrap_keeps_its_secrets() {
    let directory = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("secret-bootstraps");
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("bootstrap.json");
    let mut rng = Rng::stream(7, "bootstraps");
    for template in BOOTSTRAPS {
        for broken in [false, true] {
            let secret = secret(&mut rng);
            let text = template.replace('$', &secret);
            let text = if broken {
                text[..text.len() - 2].to_owned()
            } else {
                text
            };
            std::fs::write(&path, &text).unwrap();
            let option = format!("--bootstrap={}", path.display());
            for form in [
                text.clone(),
                serde_json::from_str::<Value>(&text).map_or(text, |value| format!("{value:#}")),
            ] {
                let runs: &[&[&str]] = &[
                    &["validate", "--as=bootstrap", "--all", "--min-severity=note"],
                    &["validate", "--as=bootstrap", "--format=json"],
                    &["validate", &option, "--all", "--min-severity=note"],
                    &["tree", &option],
                ];
                assert_eq!(
                    leaks(form.as_bytes(), std::slice::from_ref(&secret), runs),
                    None,
                    "{form}"
                );
            }
        }
    }
}

#[test]
fn secrets_are_shown_to_those_who_ask() {
    let value = json!({
        "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "c", "type": "EDS",
        "eds_cluster_config": { "eds_config": { "ads": {} } },
        "metadata": { "filter_metadata": { "m": { "password": "hunter2hunter2" } } },
    });
    let document = json!({ "resources": [value] }).to_string();
    for (args, shown) in [
        (&["validate", "--show=parsed"][..], false),
        (&["validate", "--show=parsed", "--show-secrets"], true),
        (&["validate", "--show=parsed", "--format=json"], false),
        (&["validate", "--show=parsed", "--format=json", "--show-secrets"], true),
    ] {
        let (out, _) = run(args.iter().copied(), document.as_bytes());
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.contains("hunter2hunter2"), shown, "{text}");
        assert_eq!(text.contains("[redacted]"), !shown, "{text}");
    }
}

/// Breaks that once let a secret past the masks; `$` stands for it.
const BROKEN: &[(&str, &str)] = &[
    // An object with too little indentation is in another message.
    (
        "c.yaml",
        "\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: n\nhealth_checks:\n- http_health_check: {}\n- header:\n    value: $\n",
    ),
    // A text of two lines replaces the message, and its second line looks like a key.
    (
        "r.yaml",
        "\"@type\": type.googleapis.com/envoy.config.route.v3.RouteConfiguration\nname: n\ntyped_per_filter_config:\n  k:\n    \"@type\": type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthz\n    grpc_service:\n      google_grpc:\n        call_credentials:\n        - google_iam:\n            a, $: b\n",
    ),
    // A text among extensions has the name of a secret.
    (
        "l.yaml",
        "\"@type\": type.googleapis.com/envoy.config.listener.v3.Listener\nname: n\nmetadata:\n  typed_filter_metadata:\n    inline_string: $\n",
    ),
    // A line follows the one that ends the document.
    (
        "b.yaml",
        "\"@type\": type.googleapis.com/envoy.config.route.v3.RouteConfiguration\nname: r\nvirtual_hosts:\n- name: v\n  request_headers_to_add:\n  - header:\n      value: |\n   , x\n        name: $\n",
    ),
    // A brace is in the middle of a key.
    (
        "k.yaml",
        "\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: n\ntransport_socket:\ninline_{string: $\nname: *a\n",
    ),
    (
        "u.json",
        r#"{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"n","nam":"https:\/\/user:$@host\/x"}"#,
    ),
];

#[test]
fn what_a_break_makes_of_a_secret_is_masked() {
    let secret = "qRtZ4mWkP7xL";
    let of = |args: &[&str], document: &str| {
        let (out, err) = run(args.iter().copied(), document.replace('$', secret).as_bytes());
        (String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
    };
    let mut leaking = Vec::new();
    for (name, document) in BROKEN {
        let stdin = format!("--stdin-filename={name}");
        for args in [
            &["validate", "--all", "--min-severity=note", "--show=parsed", &stdin][..],
            &["validate", "--format=json", "--show=parsed", &stdin],
            &["validate", "--format=github", &stdin],
        ] {
            let (out, err) = of(args, document);
            leaking.extend((out + &err).contains(secret).then_some((*name, args.len())));
        }
        let (shown, _) = of(
            &["validate", "--all", "--min-severity=note", "--show-secrets", &stdin],
            document,
        );
        assert!(shown.contains(secret), "{name}: nothing would be shown anyway\n{shown}");
    }
    let suite = "{\"world\": [{\"@type\": \"type.googleapis.com/envoy.config.cluster.v3.Cluster\", \"name\": \"n\", \"x\": [\n{\n\"inline_string\": \"$\"\n]}], \"steps\": []}\n";
    for args in [&["test"][..], &["test", "--format=json"], &["simulate"]] {
        let (out, err) = of(&[args, &["-"]].concat(), suite);
        leaking.extend((out + &err).contains(secret).then_some(("suite", args.len())));
    }
    assert_eq!(leaking, [("", 0); 0]);
    let (shown, _) = of(&["test", "--show-secrets", "-"], suite);
    assert!(shown.contains(secret), "{shown}");
}
