//! Attacks by servers with hostile policies and clients with hostile certificates: they must cause
//! no panic and no unbounded work, and move no cursor.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use xdsctl_report::edge::is_plain;

use crate::attack;
use crate::rbac::{TEXTS, policies};
use crate::run::{Run, in_process};
use crate::server::{any_route, listener};

/// A certificate of `openssl req -x509`, which the attacks change.
const CERTIFICATE: &str = "MIIBjjCCATWgAwIBAgIBATAKBggqhkjOPQQDAjAeMQ0wCwYDVQQKDARTaG9wMQ0wCwYDVQQDDARjYXJ0MB4XDTI2MTEwMTAwMDAwMFoXDTI2MTIwMTAwMDAwMFowHjENMAsGA1UECgwEU2hvcDENMAsGA1UEAwwEY2FydDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABOsynE5V3tQwLukvsyCCpyWUbgFrABm7DFPl0rY0YmZhanCJWf5BheyTKBXfF3c8taBWUPgpUa7u8L4z+kBm136jZDBiMEEGA1UdEQQ6MDiGFXNwaWZmZTovL3Nob3Avc2EvY2FydIIJY2FydC5zaG9wgQ5jYXJ0QHNob3AudGVzdIcECgAAATAdBgNVHQ4EFgQULxPdsZVCNk/rrlnp80RiEnfIa/QwCgYIKoZIzj0EAwIDRwAwRAIgRqpT1yzjICdkz2rOePof3YpaLBVTydRx+8yQojTUgiACIG8C+FKbU41jIEfJXN/pKyIJQW9IZWG8GF6G7Na12O13";

fn asked(args: &[&str], input: &str) -> Run {
    let run = in_process(args, input, |_| {});
    assert!(run.code.is_some(), "{args:?}");
    for text in [&run.out, &run.err] {
        assert!(text.chars().all(is_plain), "{args:?}: {text}");
    }
    run
}

/// Makes a plaintext server with these policies.
fn server(policies: &Value, action: &str, routes: &Value) -> String {
    listener(&[("rbac", action, policies)], routes).to_string()
}

const CALL: &[&str] = &["admit", "--from=10.0.0.1", "--method=/a.S/M", "--header=te=x"];

#[test]
fn policies_of_any_form_are_asked() {
    attack("admit-policies", |chance, _| {
        let path = json!({"prefix": chance.one(TEXTS)});
        let routes = json!([{"match": path, "non_forwarding_action": {}}, {"match": {"prefix": ""}, "non_forwarding_action": {}}]);
        let text = server(&policies(chance), chance.one(&["ALLOW", "DENY", "LOG"]), &routes);
        let client = chance.one(&[
            "--client=cpp",
            "--client=cpp@1.62.3",
            "--client=go",
            "--client=go@1.60.0",
            "--client=java",
            "--client=node",
        ]);
        for format in ["--format=human", "--format=json", "--format=svg"] {
            asked(&[CALL, &[client, format]].concat(), &text);
        }
        for format in ["--format=human", "--format=json"] {
            asked(&["admit", "--who", client, format], &text);
        }
    });
}

#[test]
fn certificates_of_any_form_are_read() {
    let text = server(
        &json!({"p": {"permissions": [{"any": true}], "principals": [{"any": true}]}}),
        "ALLOW",
        &any_route(),
    );
    attack("admit-certificates", |chance, directory: &Path| {
        let mut body = CERTIFICATE.as_bytes().to_vec();
        for _ in 0..chance.between(1, 4) {
            let place = chance.below(body.len());
            match chance.below(3) {
                0 => body[place] = *b"AZaz09+/=\n\x1b".get(chance.below(11)).unwrap(),
                1 => body.truncate(place.max(1)),
                _ => drop(body.splice(place..place, b"QUJD".repeat(chance.below(50)))),
            }
        }
        let body = String::from_utf8(body).unwrap();
        let key = "-----BEGIN PRIVATE KEY-----\nTk9UIEEgS0VZ\n-----END PRIVATE KEY-----\n";
        let file = directory.join("cert.pem");
        fs::write(
            &file,
            format!("{key}-----BEGIN CERTIFICATE-----\n{body}\n-----END CERTIFICATE-----\n{key}"),
        )
        .unwrap();
        let argument = format!("--certificate={}", file.display());
        let run = asked(&[CALL, &[&argument, "--at=2026-11-24T18:00:00Z"]].concat(), &text);
        assert!(!run.out.contains("Tk9U") && !run.err.contains("Tk9U"));
    });
}

#[test]
fn files_of_certificates_have_a_bound() {
    let text = server(&json!({}), "ALLOW", &any_route());
    let directory = crate::run::directory("attacks", "admit-many");
    let file = directory.join("cert.pem");
    let argument = format!("--certificate={}", file.display());
    let one = format!("-----BEGIN CERTIFICATE-----\n{CERTIFICATE}\n-----END CERTIFICATE-----\n");
    for (content, why) in [
        (one.repeat(1001), "there are more than 1000 certificates in it"),
        (
            format!("-----BEGIN CERTIFICATE-----\n{}", "A".repeat(2 << 20)),
            "a certificate in it has no end",
        ),
        (
            "-----BEGIN CERTIFICATE-----\n".repeat(1000),
            "a certificate in it has no end",
        ),
    ] {
        fs::write(&file, content).unwrap();
        let run = asked(&[CALL, &[&argument]].concat(), &text);
        assert_eq!(run.code, Some(2), "{why}");
        assert!(run.err.contains(why), "{}", run.err);
    }
}

/// Policies that are nested far deeper than a client accepts do not end the program.
#[test]
fn deep_policies_do_not_end_the_program() {
    for depth in [10, 16, 17, 100, 1000] {
        let mut text = "{\"any\":true}".to_owned();
        for level in 0..depth {
            text = match level % 2 {
                0 => format!("{{\"not_id\":{text}}}"),
                _ => format!("{{\"or_ids\":{{\"ids\":[{text}]}}}}"),
            };
        }
        let whole = server(
            &json!({"p": {"permissions": [{"any": true}], "principals": ["DEEP"]}}),
            "ALLOW",
            &any_route(),
        );
        let whole = whole.replace("\"DEEP\"", &text);
        asked(CALL, &whole);
        asked(&["admit", "--who"], &whole);
    }
}

/// Four times the policies take about four times as long, not sixteen times.
#[test]
fn wide_policies_take_time_in_proportion() {
    let wide = |count: usize| {
        let policies = (0..count).map(|number| {
            let policy = json!({
                "permissions": [{"url_path": {"path": {"exact": format!("/a.S/M{number}")}}}],
                "principals": [{"authenticated": {"principal_name": {"safe_regex": {"regex": format!("a{number}.*")}}}}],
            });
            (format!("p{number}"), policy)
        });
        server(&Value::Object(policies.collect()), "ALLOW", &any_route())
    };
    let time = |args: &[&str], text: &str| {
        let start = Instant::now();
        asked(args, text);
        start.elapsed()
    };
    let (small, large) = (wide(500), wide(2000));
    for args in [CALL, &["admit", "--who", "--format=json"]] {
        let one = time(args, &small).min(time(args, &small));
        let four = time(args, &large);
        assert!(
            four < one * 12 + Duration::from_secs(2),
            "{args:?}: {one:?}, then {four:?}"
        );
    }
}

/// A table of all ports of all ranges would be many times larger than the Listener, so it is
/// refused.
#[test]
fn a_table_that_is_too_large_is_refused() {
    let mut text: Value = serde_json::from_str(&server(&json!({}), "ALLOW", &any_route())).unwrap();
    let listener = &mut text["resources"][0];
    let ranges = (0..400)
        .map(|number| json!({"address_prefix": format!("10.{}.{}.0", number / 200, number % 200), "prefix_len": 24}));
    let mut chain = listener["default_filter_chain"].clone();
    chain["filter_chain_match"] = json!({
        "source_prefix_ranges": ranges.collect::<Vec<_>>(),
        "source_ports": (1..=400).collect::<Vec<_>>(),
    });
    listener["filter_chains"] = json!([chain]);
    let run = asked(&["admit", "--who"], &text.to_string());
    assert_eq!(run.code, Some(2), "{}", run.out);
    assert!(
        run.err
            .contains("filter chains, routes and policies are too many for a table"),
        "{}",
        run.err
    );
    assert_eq!(asked(CALL, &text.to_string()).code, Some(1));
}
