//! Documents that mean harm: each ends with located findings, in time and memory that its size bounds.
//!
//! Prefixes and changed bytes of harmless documents are tried beside the loaders (`src/envelope/document_tests.rs`);
//! `fuzz/` tries the rest.

use std::collections::BTreeSet;

use xdsctl::cli::{Io, run};

/// The rules of the findings of `xdsctl validate` on a document named `name`; panics if one has no place.
fn findings(name: &str, document: &[u8]) -> BTreeSet<String> {
    let mut out = Vec::new();
    let mut io = Io {
        input: Box::new(document),
        out: Box::new(&mut out),
        err: Box::new(std::io::sink()),
        out_is_terminal: false,
        err_is_terminal: false,
        colour: Default::default(),
        width: 100,
    };
    let file = format!("--stdin-filename={name}");
    run(["xdsctl", "validate", "--format=json", &file, "-"], &mut io);
    drop(io);
    let report: serde_json::Value = serde_json::from_slice(&out).unwrap_or_else(|e| panic!("{name}: {e}"));
    let of_resources = report["resources"].as_array().unwrap().iter().map(|r| &r["findings"]);
    of_resources
        .chain([&report["findings"]])
        .flat_map(|list| list.as_array().unwrap())
        .map(|finding| {
            let end = finding["byte_end"]
                .as_u64()
                .unwrap_or_else(|| panic!("{name}: no place: {finding}"));
            assert!(end <= document.len() as u64, "{name}: {finding}");
            assert!(finding["line"].as_u64() >= Some(1), "{name}: {finding}");
            finding["rule"].as_str().unwrap().to_owned()
        })
        .collect()
}

#[track_caller]
fn check(name: &str, document: impl AsRef<[u8]>, expected: &[&str]) {
    let found = findings(name, document.as_ref());
    let expected: BTreeSet<String> = expected.iter().map(|rule| (*rule).to_owned()).collect();
    assert_eq!(found, expected, "{name}");
}

/// A cluster without a fault, with more fields.
fn cluster(more: &str) -> String {
    format!(
        r#"{{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"a","type":"EDS","eds_cluster_config":{{"eds_config":{{"ads":{{}}}}}}{more}}}"#
    )
}

#[test]
fn a_billion_laughs() {
    let mut text = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n".to_owned();
    for i in 1..10 {
        let before = vec![format!("*a{}", i - 1); 9].join(", ");
        text += &format!("a{i}: &a{i} [{before}]\n");
    }
    text += "resources: *a9\n";
    let found = findings("laughs.yaml", text.as_bytes());
    assert!(found.contains("dump-limit-exceeded"), "{found:?}");
}

#[test]
fn a_hundred_thousand_brackets() {
    let open = "[".repeat(100_000);
    check("open.json", &open, &["dump-syntax"]);
    let closed = open.clone() + &"]".repeat(100_000);
    assert!(!findings("closed.json", closed.as_bytes()).is_empty());
    let objects = r#"{"a":"#.repeat(100_000);
    check("objects.json", &objects, &["dump-syntax"]);
    let in_field = cluster(&format!(r#","metadata":{open}"#));
    assert!(findings("field.json", in_field.as_bytes()).contains("dump-syntax"));
}

#[test]
fn a_string_of_64_mib() {
    let long = "x".repeat(64 << 20);
    check(
        "name.json",
        cluster(&format!(r#","alt_stat_name":"{long}""#)),
        &["field-ignored"],
    );
    let unclosed = cluster(&format!(r#","alt_stat_name":"{long}"#));
    let cut = unclosed.trim_end_matches('}');
    assert!(findings("cut.json", cut.as_bytes()).contains("dump-syntax"));
}

#[test]
fn bytes_that_are_no_text() {
    check("nul.json", cluster(",\"alt_stat_name\":\"a\0b\""), &["dump-syntax"]);
    check("nul.json", b"\0\0\0\0", &["dump-syntax"]);
    check(
        "surrogate.json",
        cluster(r#","alt_stat_name":"\ud83d""#),
        &["dump-bad-value"],
    );
    let mut bytes = cluster(r#","alt_stat_name":"?""#).into_bytes();
    for byte in &mut bytes {
        if *byte == b'?' {
            *byte = 0xff;
        }
    }
    check("utf8.json", bytes, &["dump-bad-value"]);
    check(
        "dump.json.gz",
        b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xab\xae\x05\0",
        &["dump-not-configuration"],
    );
    check(
        "dump.png",
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        &["dump-not-configuration"],
    );
}

#[test]
fn names_given_twice() {
    let bare = findings("plain.json", cluster("").as_bytes());
    let with = |more: &str| &findings("twice.json", cluster(more).as_bytes()) - &bare;
    let only = |rule: &str| BTreeSet::from([rule.to_owned()]);
    assert_eq!(with(r#","name":"b""#), only("dump-duplicate-key"));
    assert_eq!(with(r#","edsClusterConfig":{}"#), only("dump-duplicate-key"));
    assert_eq!(with(r#","cluster_type":{"name":"x"}"#), only("dump-two-oneof-members"));
}

#[test]
fn numbers_of_every_kind() {
    let weight = |value: &str| {
        let text = format!(
            r#"{{"@type":"type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment","cluster_name":"a","endpoints":[{{"locality":{{}},"load_balancing_weight":{value},"lb_endpoints":[{{"endpoint":{{"address":{{"socket_address":{{"address":"1.2.3.4","port_value":80}}}}}}}}]}}]}}"#
        );
        findings("number.json", text.as_bytes()).contains("dump-bad-value")
    };
    for good in ["1", "\"1\"", "1.0", "1e1", "4294967295"] {
        assert!(!weight(good), "{good}");
    }
    let huge = "9".repeat(100_000);
    for bad in ["4294967296", "-1", "1.5", "1e400", "\"x\"", "{}", "true", &huge] {
        assert!(weight(bad), "{bad:.20}");
    }
}

#[test]
fn an_any_whose_bytes_lie() {
    // Ten bytes of a Cluster are promised, one is there.
    let any = b"\x0a\x33type.googleapis.com/envoy.config.cluster.v3.Cluster\x12\x02\x0a\x0a";
    check("lie.binpb", any, &["resource-undecodable"]);
    // ... and inside JSON, as grpcurl prints an Any that it cannot open.
    let text = cluster(
        r#","transport_socket":{"name":"t","typed_config":{"@type":"type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext","@value":"Cgo="}}"#,
    );
    assert!(findings("lie.json", text.as_bytes()).contains("any-undecodable"));
}

#[test]
fn a_stream_that_is_cut_off_keeps_what_came_before() {
    let whole = cluster("");
    let half = &whole[..whole.len() / 2];
    let text = format!("[{},{half}", vec![whole.as_str(); 1000].join(","));
    let found = findings("cut.json", text.as_bytes());
    assert!(found.contains("dump-syntax"), "{found:?}");
    assert!(found.contains("dump-duplicate-resource"), "{found:?}");
}

#[test]
fn a_secret_is_never_printed() {
    let key = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7";
    let common = "\"@type\": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext";
    let document = format!(
        "\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster
name: a
transport_socket:
  name: tls
  typed_config:
    {common}
    common_tls_context:
      tls_certificates:
      - private_key: \"{key}\"
        unknown: 1
      - private_key: {{inline_bytes: \"{key}!\", inline_byte: 1}}
      - private_key:
          unknown: 1
          inline_string: |
            -----BEGIN PRIVATE KEY-----
            {key}
            -----END PRIVATE KEY-----
        unknown: 1
      validation_context: {{trusted_ca: {{inline_strings: 1, inline_string: {key}}}}}
"
    );
    for format in ["human", "json"] {
        let mut out = Vec::new();
        let mut io = Io {
            input: Box::new(document.as_bytes()),
            out: Box::new(&mut out),
            err: Box::new(std::io::sink()),
            out_is_terminal: false,
            err_is_terminal: false,
            colour: Default::default(),
            width: 100,
        };
        run(["xdsctl", "validate", "--all", "--format", format, "-"], &mut io);
        drop(io);
        let report = String::from_utf8(out).unwrap();
        assert!(report.contains("dump-bad-value"), "{report}");
        assert!(report.contains("dump-unknown-field"), "{report}");
        assert!(!report.contains(&key[..12]), "{report}");
    }
}
