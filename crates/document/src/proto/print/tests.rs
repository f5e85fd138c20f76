//! Whatever the message, the printed text is read back as the same message.

use std::io::Read as _;
use std::sync::LazyLock;

use prost_reflect::{DescriptorPool, DynamicMessage};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::*;
use crate::proto::transcode::{TranscodeOptions, json};

static POOL: LazyLock<DescriptorPool> = LazyLock::new(|| DescriptorPool::decode(xdsctl_proto::DESCRIPTOR_SET).unwrap());

const CLUSTER: &str = "envoy.config.cluster.v3.Cluster";
const ANY: &str = "google.protobuf.Any";

fn printed(bytes: &[u8], name: &str, redacts: bool) -> String {
    let mut printer = Printer::new(redacts);
    printer.message(bytes, tables::message(name).unwrap());
    String::from_utf8(printer.out).unwrap()
}

fn dynamic(bytes: &[u8], name: &str) -> DynamicMessage {
    DynamicMessage::decode(POOL.get_message_by_name(name).unwrap(), bytes).unwrap()
}

/// Prints, reads, and compares field by field; messages in an Any are compared by what they print.
#[track_caller]
fn returns(bytes: &[u8], name: &str) -> String {
    let text = printed(bytes, name, false);
    let read = json(
        text.as_bytes(),
        tables::message(name).unwrap(),
        TranscodeOptions::default(),
    );
    assert_eq!(read.stop, None, "{text}");
    for note in &read.notes {
        // The contents of an Any of an unknown type are not read.
        let is_unknown = ["dump-unknown-any-type", "dump-misspelt-type"].contains(&note.diagnostic.rule.id);
        assert!(is_unknown, "{} {text}", note.diagnostic.rule.id);
    }
    if read.notes.is_empty() {
        assert_eq!(printed(&read.bytes, name, false), text);
    }
    text
}

#[derive(serde::Deserialize)]
struct Row {
    any_b64: Option<String>,
}

fn rows(name: &str) -> Vec<Row> {
    let path = format!(
        "{}/../../fixtures/conformance/{name}.jsonl.gz",
        env!("CARGO_MANIFEST_DIR")
    );
    let mut text = String::new();
    let file = std::fs::File::open(path).unwrap();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

/// Returns what prost-reflect prints of an Any; `None` if it does not know a type in it.
fn reflected(bytes: &[u8]) -> Option<serde_json::Value> {
    serde_json::to_value(dynamic(bytes, ANY)).ok()
}

#[test]
fn recorded_resources_return_as_they_were() {
    let mut count = 0;
    for name in ["validate", "rules-lds", "rules-rds", "rules-cds-eds", "fresh"] {
        for (number, bytes) in rows(name).into_iter().filter_map(|row| row.any_b64).enumerate() {
            let bytes = STANDARD.decode(bytes).unwrap();
            let text = returns(&bytes, ANY);
            let read = json(
                text.as_bytes(),
                tables::message(ANY).unwrap(),
                TranscodeOptions::default(),
            );
            // Reading with prost-reflect is slow.
            if number % 32 != 0 {
                continue;
            }
            if let Some(before) = reflected(&bytes).filter(|_| read.notes.is_empty()) {
                assert_eq!(reflected(&read.bytes), Some(before), "{text}");
                count += 1;
            }
        }
    }
    assert!(count > 150, "{count}");
}

/// Returns a text without the numbers of masked keys.
fn unnumbered(text: &str) -> String {
    let pieces = text
        .split("[redacted] ")
        .enumerate()
        .map(|(number, piece)| match number {
            0 => piece,
            _ => piece.trim_start_matches(|c: char| c.is_ascii_digit()),
        });
    pieces.collect::<Vec<_>>().join("[redacted]")
}

/// Masking a resource while it is printed gives the same as masking its text.
#[test]
fn recorded_resources_are_masked_as_their_text_is() {
    let mut count = 0;
    for bytes in ["validate", "rules-lds", "rules-rds", "rules-cds-eds", "fresh"]
        .map(rows)
        .into_iter()
        .flatten()
        .filter_map(|row| row.any_b64)
    {
        let bytes = STANDARD.decode(bytes).unwrap();
        let plain = printed(&bytes, ANY, false);
        // The text does not show whether unprintable bytes hold a secret, or whether an empty key
        // is one.
        if plain.contains("@value") || plain.contains(r#""":"#) {
            continue;
        }
        let masked = printed(&bytes, ANY, true);
        count += usize::from(masked != plain);
        // The text does not show which of its strings are bytes either.
        let of_text = String::from_utf8(redacted(plain.into_bytes(), "")).unwrap();
        let masked = masked.replace(REDACTED_BYTES, secret::REDACTED);
        assert_eq!(unnumbered(&masked), unnumbered(&of_text));
    }
    assert!(count > 20, "{count}");
}

#[test]
fn what_json_cannot_hold_stays_bytes() {
    let any = |value: &[u8]| {
        let url = format!("type.googleapis.com/{CLUSTER}");
        let mut bytes = vec![0x0a, url.len() as u8];
        bytes.extend(url.as_bytes());
        bytes.extend([0x12, value.len() as u8]);
        bytes.extend(value);
        bytes
    };
    let plain = returns(&any(b"\x0a\x01a"), ANY);
    assert_eq!(
        plain,
        format!(r#"{{"@type":"type.googleapis.com/{CLUSTER}","name":"a"}}"#)
    );
    for bytes in [
        &b"\x0a\x02\xc3\x28"[..],                                    // not UTF-8
        b"\x0a\x01a\xf8\xff\x0f\x01",                                // an unknown field
        b"\x0a\x05a",                                                // cut off
        b"\x22\x0c\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01\x10", // a cut Duration
        b"\x22\x04\x08\x01\x10\xff",                                 // the same
        b"\x10\x03\x10\x04\x0a\x01a",                                // a scalar twice
    ] {
        let text = returns(&any(bytes), ANY);
        assert!(text.contains("@value"), "{text}");
        let read = json(
            text.as_bytes(),
            tables::message(ANY).unwrap(),
            TranscodeOptions::default(),
        );
        assert_eq!(
            WireFields::new(&read.bytes)
                .flatten()
                .filter(|item| item.number == 2)
                .map(|item| item.value)
                .next(),
            Some(WireValue::Bytes(bytes))
        );
    }
}

#[test]
fn special_forms() {
    for (bytes, name, text) in [
        (
            &b"\x08\x01\x10\x80\xca\xb5\xee\x01"[..],
            "google.protobuf.Duration",
            "\"1.500s\"",
        ),
        (
            b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
            "google.protobuf.Duration",
            "\"-1s\"",
        ),
        (
            b"\x08\x80\xa3\x05",
            "google.protobuf.Timestamp",
            "\"1970-01-02T00:00:00Z\"",
        ),
        (
            b"\x08\x80\xf0\xb2\xf5\x05",
            "google.protobuf.Timestamp",
            "\"2020-09-13T12:26:40Z\"",
        ),
        (b"\x08\x05", "google.protobuf.UInt32Value", "5"),
        (b"", "google.protobuf.BoolValue", "false"),
        (b"\x08\x05", "google.protobuf.UInt64Value", "\"5\""),
        (b"\x0a\x05\x0a\x01a\x12\x00", "google.protobuf.Struct", "{\"a\":null}"),
        (
            b"\x0a\x07\x0a\x01a\x12\x02\x20\x01",
            "google.protobuf.Struct",
            "{\"a\":true}",
        ),
        (b"", "google.protobuf.Struct", "{}"),
        (b"", "google.protobuf.ListValue", "[]"),
        (b"\x0a\x02\x20\x00", "google.protobuf.ListValue", "[false]"),
        (b"\x0a\x07foo_bar\x0a\x01b", "google.protobuf.FieldMask", "\"fooBar,b\""),
    ] {
        if name.ends_with("Timestamp") && bytes.len() > 4 {
            let seconds = 1_600_000_000u64;
            let mut wire = vec![0x08];
            let mut rest = seconds;
            while rest > 127 {
                wire.push((rest & 127) as u8 | 128);
                rest >>= 7;
            }
            wire.push(rest as u8);
            assert_eq!(printed(&wire, name, false), text);
            continue;
        }
        assert_eq!(printed(bytes, name, false), text);
    }
}

#[test]
fn no_message_has_more_oneofs_than_are_counted() {
    assert!(tables::MESSAGES.iter().all(|message| message.oneofs.len() <= 64));
}

#[test]
fn a_field_a_line() {
    let text = r#"{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"x,{\"y:","upstream_config":{},"metadata":{"filter_metadata":{"a":{},"b":{"c":[],"d":[1.0,{"e":null}]}}}}"#;
    let read = json(
        text.as_bytes(),
        tables::message(ANY).unwrap(),
        TranscodeOptions::default(),
    );
    assert!(read.notes.is_empty());
    let mut printer = Printer::new(false).with_lines();
    printer.message(&read.bytes, tables::message(ANY).unwrap());
    let lines = r#"{
 "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
 "name": "x,{\"y:",
 "metadata": {
  "filter_metadata": {
   "a": {},
   "b": {
    "c": [],
    "d": [
     1.0,
     {
      "e": null
     }
    ]
   }
  }
 },
 "upstream_config": {}
}"#;
    assert_eq!(String::from_utf8(printer.out).unwrap(), lines);
}

/// Returns the wire bytes of the resource in a text.
fn resource(text: &str) -> Vec<u8> {
    let read = json(
        text.as_bytes(),
        tables::message(ANY).unwrap(),
        TranscodeOptions::default(),
    );
    assert!(read.notes.is_empty(), "{text}");
    read.bytes
}

#[test]
fn what_is_masked_is_told_by_field_by_header_and_by_looks() {
    let secret = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";
    for (text, masked) in [
        // By the name of a header, wherever the matcher is.
        (
            r#"{"@type":"type.googleapis.com/envoy.config.route.v3.RouteMatch","prefix":"/","headers":[{"name":"x-api-key","string_match":{"exact":"abc"}},{"name":"x-env","string_match":{"exact":"def"}}]}"#.to_owned(),
            vec!["abc"],
        ),
        // By its field, with everything below it.
        (
            format!(r#"{{"@type":"{secret}","name":"def","tls_certificate":{{"private_key_provider":{{"provider_name":"def","typed_config":{{"@type":"type.googleapis.com/google.protobuf.StringValue","value":"abc"}}}}}}}}"#),
            vec!["abc"],
        ),
        // By its form. The name of a resource is no reason to mask.
        (
            r#"{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"token-service","alt_stat_name":"Bearer abc12345","edsClusterConfig":{"service_name":"def"}}"#.to_owned(),
            vec!["abc12345"],
        ),
    ] {
        let bytes = resource(&text);
        let found = printed(&bytes, ANY, true);
        for secret in &masked {
            assert!(!found.contains(secret), "{found}");
        }
        // Everything but the masked text is the same.
        let plain = printed(&bytes, ANY, false);
        let mut hidden = plain.clone();
        for secret in masked {
            let stars = if secret.len() > 3 { "*".repeat(secret.len()) } else { "[redacted]".to_owned() };
            hidden = hidden.replace(secret, &stars);
        }
        assert_eq!(found, hidden);
        let one = String::from_utf8(redacted(plain.into_bytes(), "")).unwrap();
        assert_eq!(found, one, "masked afterwards it is the same");
    }
}

#[test]
fn a_struct_keeps_its_shape_alone() {
    for (text, masked) in [
        (
            r#"{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"c","metadata":{"filter_metadata":{"f":{"a":"b","c":[1,{"d":true}]}}}}"#,
            r#"{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"c","metadata":{"filter_metadata":{"f":{"[redacted] 1":"[redacted]","[redacted] 3":[0,{"[redacted] 5":true}]}}}}"#,
        ),
        (
            r#"{"@type":"type.googleapis.com/google.protobuf.Struct","value":{"a":"b"}}"#,
            r#"{"@type":"type.googleapis.com/google.protobuf.Struct","value":{"[redacted] 1":"[redacted]"}}"#,
        ),
        (
            r#"{"@type":"type.googleapis.com/xds.type.v3.TypedStruct","type_url":"t/ring_hash_experimental","value":{"minRingSize":7,"a":8}}"#,
            r#"{"@type":"type.googleapis.com/xds.type.v3.TypedStruct","type_url":"t/ring_hash_experimental","value":{"[redacted] 1":0,"minRingSize":7.0}}"#,
        ),
    ] {
        let masked_too = printed(&resource(text), ANY, true);
        let sorted = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(
            unnumbered(&sorted(&masked_too).to_string()),
            unnumbered(&sorted(masked).to_string())
        );
    }
}

/// The raw bytes would still have the secret that is masked in JSON.
#[test]
fn a_secret_beside_what_json_cannot_hold_is_not_kept_as_bytes() {
    let text = r#"{"@type":"type.googleapis.com/envoy.config.core.v3.DataSource","inline_string":"abc"}"#;
    let mut bytes = resource(text);
    let unknown = b"\xf8\xff\x0f\x01";
    let at = bytes.len() - b"\x1a\x03abc".len();
    let inner = [&bytes[at..], unknown].concat();
    bytes.truncate(memchr::memmem::find(&bytes, b"DataSource").unwrap() + b"DataSource".len());
    bytes.push(0x12);
    bytes.push(inner.len() as u8);
    bytes.extend(inner);
    assert!(printed(&bytes, ANY, false).contains("@value"));
    let mut printer = Printer::new(true);
    printer.named(&bytes, ANY);
    assert_eq!(printer.lossy(), 1);
    assert!(
        String::from_utf8(printer.out)
            .unwrap()
            .ends_with(r#""inline_string":"[redacted]"}"#)
    );
}

#[test]
fn secrets_are_masked_and_the_rest_is_left() {
    let text = r#"{"@type":"type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret","name":"s","tls_certificate":{"certificate_chain":{"filename":"a"},"private_key":{"inline_string":"abc"},"password":{"inline_bytes":"cHc="}}}"#;
    let read = json(
        text.as_bytes(),
        tables::message(ANY).unwrap(),
        TranscodeOptions::default(),
    );
    let masked = printed(&read.bytes, ANY, true);
    assert!(!masked.contains("abc") && !masked.contains("cHc="), "{masked}");
    assert!(
        masked.contains(r#""filename":"a""#) && masked.contains(r#""inline_bytes":"W3JlZGFjdGVkXQ==""#),
        "{masked}"
    );
    assert_eq!(returns(&read.bytes, ANY), text);
}
