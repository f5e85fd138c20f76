//! Tests of the transcoder: against prost-reflect where both accept, and note by note where they do not.

use std::sync::LazyLock;

use prost_reflect::{DescriptorPool, DynamicMessage, SerializeOptions};

use super::*;

static POOL: LazyLock<DescriptorPool> = LazyLock::new(|| DescriptorPool::decode(xdsctl_proto::DESCRIPTOR_SET).unwrap());

const CLUSTER: &str = "envoy.config.cluster.v3.Cluster";
const EXTENSION: &str = "envoy.config.core.v3.TypedExtensionConfig";
const ENDPOINT: &str = "envoy.config.endpoint.v3.LbEndpoint";
const RETRY: &str = "envoy.config.route.v3.RetryPolicy";
const BYTES: &str = "envoy.config.core.v3.DataSource";
const RING_HASH: &str = "type.googleapis.com/envoy.extensions.load_balancing_policies.ring_hash.v3.RingHash";

fn dynamic(message: &str, bytes: &[u8]) -> DynamicMessage {
    DynamicMessage::decode(POOL.get_message_by_name(message).unwrap(), bytes).unwrap()
}

fn print(message: &DynamicMessage) -> String {
    let mut out = Vec::new();
    let mut serializer = serde_json::Serializer::new(&mut out);
    let options = SerializeOptions::new().use_proto_field_name(true);
    message.serialize_with_options(&mut serializer, &options).unwrap();
    String::from_utf8(out).unwrap()
}

fn read(message: &str, text: &str) -> Transcoded {
    json(
        text.as_bytes(),
        tables::message(message).unwrap(),
        TranscodeOptions::default(),
    )
}

/// Returns the printed form of the message that was read, and the rule, path and quoted text of
/// each note.
fn outcome(message: &str, text: &str) -> (String, Vec<(&'static str, String, String)>) {
    let read = read(message, text);
    assert_eq!(read.stop, None, "{text}");
    let notes = read
        .notes
        .iter()
        .map(|n| {
            (
                n.diagnostic.rule.id,
                n.diagnostic.path.to_string(),
                text[n.span.range()].to_owned(),
            )
        })
        .collect();
    (print(&dynamic(message, &read.bytes)), notes)
}

#[track_caller]
fn check(message: &str, text: &str, printed: &str, notes: &[(&str, &str, &str)]) {
    let (got, got_notes) = outcome(message, text);
    let got_notes: Vec<(&str, &str, &str)> = got_notes.iter().map(|(a, b, c)| (*a, b.as_str(), c.as_str())).collect();
    assert_eq!((got.as_str(), got_notes.as_slice()), (printed, notes), "{text}");
}

/// Checks that the result is that of prost-reflect for the same text, without a note.
#[track_caller]
fn plain(message: &str, text: &str) {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let theirs = DynamicMessage::deserialize(POOL.get_message_by_name(message).unwrap(), &mut deserializer).unwrap();
    check(message, text, &print(&theirs), &[]);
}

#[test]
fn agrees_with_prost_reflect_where_both_accept() {
    for (message, text) in [
        (
            CLUSTER,
            r#"{"name":"a","connect_timeout":"0.25s","lb_policy":"RING_HASH"}"#,
        ),
        (
            CLUSTER,
            r#"{"name":"a","connectTimeout":"0.250s","lbPolicy":"RING_HASH"}"#,
        ),
        (CLUSTER, r#"{"lb_policy":99}"#),
        (ENDPOINT, r#"{"load_balancing_weight":7}"#),
        (ENDPOINT, r#"{"load_balancing_weight":"7"}"#),
        (ENDPOINT, r#"{"load_balancing_weight":1e1}"#),
        (ENDPOINT, r#"{"load_balancing_weight":7.0}"#),
        (ENDPOINT, r#"{"load_balancing_weight":0}"#),
        (RETRY, r#"{"host_selection_retry_max_attempts":"5"}"#),
        (
            RETRY,
            r#"{"host_selection_retry_max_attempts":5,"retriable_status_codes":[1,0,2]}"#,
        ),
        ("google.protobuf.UInt64Value", r#""18446744073709551615""#),
        ("google.protobuf.Int64Value", r#""-9223372036854775808""#),
        (BYTES, r#"{"inline_bytes":"aGVsbG8="}"#),
        (BYTES, r#"{"inline_bytes":"_-8"}"#),
        ("google.protobuf.Duration", r#""-1.000000001s""#),
        ("google.protobuf.Timestamp", r#""2026-11-20T10:00:00.123Z""#),
        ("google.protobuf.Timestamp", r#""2026-11-20T10:00:00.123+02:00""#),
        ("google.protobuf.Timestamp", r#""1900-02-28T23:59:59-11:30""#),
        ("google.protobuf.Struct", r#"{"a":[1,"x",null,true,{"b":2.5}],"":{}}"#),
        ("google.protobuf.FieldMask", r#""a,b.fooBar""#),
        (CLUSTER, r#"{"name":null,"connect_timeout":null}"#),
        ("envoy.type.v3.Percent", r#"{"value":"NaN"}"#),
        ("envoy.type.v3.Percent", r#"{"value":-1.5e-3}"#),
        (CLUSTER, r#"{"name":"\ud83d\ude00é\n"}"#),
        (
            CLUSTER,
            r#"{"filters":[],"metadata":{"filter_metadata":{"x":{"y":null}}}}"#,
        ),
        (CLUSTER, r#"{"n\u0061me":"escaped key"}"#),
        (CLUSTER, r#"{"type":"\u0045DS","connect_timeout":"\u0031s"}"#),
        (ENDPOINT, r#"{"load_balancing_weight":"\u0037"}"#),
        (ENDPOINT, r#"{"load_balancing_weight":"+007"}"#),
        ("envoy.type.v3.Percent", r#"{"value":"+0\u0031.50"}"#),
        (BYTES, r#"{"inline_bytes":"\u0061GVsbG8"}"#),
        ("google.protobuf.FieldMask", r#""a\u002cb""#),
        ("google.protobuf.Timestamp", r#""2026-11-20\u005410:00:00Z""#),
        (
            "google.protobuf.Any",
            r#"{"val\u0075e":"1.5s","\u0040type":"t/google.protobuf.Duration"}"#,
        ),
        ("google.api.expr.v1alpha1.Constant", r#"{"null_value":null}"#),
    ] {
        plain(message, text);
    }
}

#[test]
fn an_any_is_read_by_its_type_wherever_the_type_stands() {
    for text in [
        format!(r#"{{"name":"rr","typed_config":{{"@type":"{RING_HASH}","minimum_ring_size":"1024"}}}}"#),
        format!(r#"{{"name":"rr","typed_config":{{"minimum_ring_size":"1024","@type":"{RING_HASH}"}}}}"#),
        r#"{"typed_config":{"@type":"type.googleapis.com/google.protobuf.Struct","value":{"a":1}}}"#.to_owned(),
        r#"{"typed_config":{"value":"1.5s","@type":"type.googleapis.com/google.protobuf.Duration"}}"#.to_owned(),
        r#"{"typed_config":{"@type":"type.googleapis.com/xds.type.v3.TypedStruct","type_url":"t/acme.X","value":{"a":1}}}"#
            .to_owned(),
    ] {
        plain(EXTENSION, &text);
    }
}

#[test]
fn what_cannot_be_used_is_noted_at_its_place_and_left_out() {
    check(
        CLUSTER,
        r#"{"connect_timeout":"1s","connectTimeout":"2s"}"#,
        r#"{"connect_timeout":"1s"}"#,
        &[("dump-duplicate-key", "connect_timeout", r#""connectTimeout""#)],
    );
    check(
        CLUSTER,
        r#"{"name":"a","name":"b"}"#,
        r#"{"name":"a"}"#,
        &[("dump-duplicate-key", "name", r#""name""#)],
    );
    check(
        "envoy.config.route.v3.RouteMatch",
        r#"{"prefix":"/","path":"/x"}"#,
        r#"{"prefix":"/"}"#,
        &[("dump-two-oneof-members", "path", r#""path""#)],
    );
    check(
        CLUSTER,
        r#"{"nam":1,"name":"a"}"#,
        r#"{"name":"a"}"#,
        &[("dump-unknown-field", "nam", r#""nam""#)],
    );
    check(
        CLUSTER,
        r#"{"lb_policy":"QUANTUM"}"#,
        "{}",
        &[("dump-unknown-enum-value", "lb_policy", r#""QUANTUM""#)],
    );
    for bad in [
        "7.5",
        "-1",
        "4294967296",
        "\"x\"",
        "{}",
        "[]",
        "true",
        "1e400",
        "00",
        "\"\"",
    ] {
        check(
            ENDPOINT,
            &format!(r#"{{"load_balancing_weight":{bad}}}"#),
            "{}",
            &[("dump-bad-value", "load_balancing_weight", bad)],
        );
    }
    for (message, bad) in [
        ("google.protobuf.Duration", "5"),
        ("google.protobuf.Duration", "\"5\""),
        ("google.protobuf.Duration", "\"9223372036854775808s\""),
        ("google.protobuf.Duration", "\"1.0000000001s\""),
        ("google.protobuf.Duration", "\"+1s\""),
        ("google.protobuf.Timestamp", "\"2026-02-29T10:00:00Z\""),
        ("google.protobuf.Timestamp", "\"2026-02-28 10:00:00Z\""),
        ("google.protobuf.BoolValue", "\"true\""),
        ("google.protobuf.BytesValue", "\"*\""),
        ("google.protobuf.FloatValue", "1e39"),
        ("google.protobuf.StringValue", "\"\\ud83d\""),
        ("google.protobuf.StringValue", "\"\\x\""),
        ("google.protobuf.StringValue", "5"),
    ] {
        let (_, notes) = outcome(message, bad);
        assert_eq!(
            notes,
            [("dump-bad-value", String::new(), bad.to_owned())],
            "{message} {bad}"
        );
    }
    check(
        CLUSTER,
        r#"{"name":"a","filters":[{"name":"x"},5,null,{"name":7}]}"#,
        r#"{"name":"a","filters":[{"name":"x"},{}]}"#,
        &[
            ("dump-bad-value", "filters[1]", "5"),
            ("dump-bad-value", "filters[2]", "null"),
            ("dump-bad-value", "filters[3].name", "7"),
        ],
    );
    check(
        "envoy.config.core.v3.Metadata",
        r#"{"filter_metadata":{"a":{},"a":{"x":1},"b":5}}"#,
        r#"{"filter_metadata":{"a":{}}}"#,
        &[
            ("dump-duplicate-key", "filter_metadata[a]", r#""a""#),
            ("dump-bad-value", "filter_metadata[b]", "5"),
        ],
    );
}

#[test]
fn many_map_keys_are_compared_in_a_set() {
    let keys: Vec<String> = (0..100).map(|i| format!(r#""k{i}":{{}}"#)).collect();
    let text = format!(r#"{{"filter_metadata":{{{},"k50":{{}},"k3":{{}}}}}}"#, keys.join(","));
    let read = read("envoy.config.core.v3.Metadata", &text);
    let paths: Vec<String> = read.notes.iter().map(|n| n.diagnostic.path.to_string()).collect();
    assert_eq!(paths, ["filter_metadata[k50]", "filter_metadata[k3]"]);
}

#[test]
fn a_redacted_value_is_never_a_finding() {
    check(
        BYTES,
        r#"{"inline_bytes":"[redacted]"}"#,
        r#"{"inline_bytes":"W3JlZGFjdGVkXQ=="}"#,
        &[],
    );
    check(ENDPOINT, r#"{"load_balancing_weight":"[redacted]"}"#, "{}", &[]);
    check(CLUSTER, r#"{"lb_policy":"[redacted]"}"#, "{}", &[]);
}

#[test]
fn durations_out_of_range_are_read() {
    let bytes = |text: &str| {
        let read = read("google.protobuf.Duration", text);
        assert_eq!(read.notes.len(), usize::from(text.starts_with('{')), "{text}");
        let duration = <prost_types::Duration as prost::Message>::decode(read.bytes.as_slice()).unwrap();
        (duration.seconds, duration.nanos)
    };
    assert_eq!(bytes(r#""315576000001s""#), (315_576_000_001, 0));
    assert_eq!(bytes(r#""-9223372036854775808s""#), (i64::MIN, 0));
    assert_eq!(bytes(r#""-0.5s""#), (0, -500_000_000));
    assert_eq!(bytes(r#"{"seconds":"-5","nanos":1000000000}"#), (-5, 1_000_000_000));
}

#[test]
fn an_any_of_unknown_type_is_kept() {
    let text = r#"{"name":"x","typed_config":{"@type":"type.googleapis.com/acme.Unknown","a":1}}"#;
    let read = read(EXTENSION, text);
    assert_eq!(read.notes[0].diagnostic.rule.id, "dump-unknown-any-type");
    assert_eq!(read.notes[0].diagnostic.path.to_string(), "typed_config");
    let extension = dynamic(EXTENSION, &read.bytes);
    let any = extension.get_field_by_name("typed_config").unwrap();
    let any = any.as_message().unwrap();
    assert_eq!(
        any.get_field_by_name("type_url").unwrap().as_str(),
        Some("type.googleapis.com/acme.Unknown")
    );
    let value = any.get_field_by_name("value").unwrap().as_bytes().unwrap().clone();
    assert_eq!(
        value.strip_prefix(crate::proto::any::OPAQUE),
        Some(br#"{"@type":"type.googleapis.com/acme.Unknown","a":1}"#.as_slice())
    );
}

#[test]
fn odd_forms_of_any_are_read() {
    let empty = read(EXTENSION, r#"{"typed_config":{}}"#);
    assert_eq!(
        (empty.bytes.as_slice(), empty.notes.len()),
        (b"\x12\x80\x80\x80\x00".as_slice(), 0)
    );
    let grpcurl = format!(r#"{{"typed_config":{{"@type":"{RING_HASH}","@value":"EgMIgAg="}}}}"#);
    let read = read(EXTENSION, &grpcurl);
    assert_eq!(read.notes, []);
    assert_eq!(
        print(&dynamic(EXTENSION, &read.bytes)),
        format!(r#"{{"typed_config":{{"@type":"{RING_HASH}","minimum_ring_size":"1024"}}}}"#)
    );
    let error = format!(r#"{{"typed_config":{{"@type":"{RING_HASH}","@error":"no"}}}}"#);
    assert_eq!(
        self::read(EXTENSION, &error).notes[0].diagnostic.rule.id,
        "dump-unknown-any-type"
    );
    let both = error.replace(r#""no""#, r#""see @value","@value":"EgMIgAg=""#);
    let both = self::read(EXTENSION, &both);
    assert_eq!((both.notes, both.bytes), (vec![], read.bytes));
    let inside = r#"{"typed_config":{"@type":"t/envoy.config.core.v3.TypedExtensionConfig","typed_config":{"@type":"t/acme.Y"}}}"#;
    assert_eq!(
        self::read(EXTENSION, inside).notes[0].diagnostic.path.to_string(),
        "typed_config.value[envoy.config.core.v3.TypedExtensionConfig].typed_config"
    );
    let untyped = self::read(EXTENSION, r#"{"typed_config":{"a":1}}"#);
    assert_eq!(untyped.notes[0].diagnostic.rule.id, "dump-any-without-type");
}

#[test]
fn bare_tokens_are_strings_when_asked_for() {
    let options = TranscodeOptions {
        bare_strings: true,
        ..TranscodeOptions::default()
    };
    let read = json(
        br#"{"name":1.10,"alt_stat_name":true}"#,
        tables::message(CLUSTER).unwrap(),
        options,
    );
    assert_eq!(read.notes, []);
    assert_eq!(
        print(&dynamic(CLUSTER, &read.bytes)),
        r#"{"name":"1.10","alt_stat_name":"true"}"#
    );
}

#[test]
fn broken_json_ends_the_message_at_its_place() {
    for (text, at) in [
        (r#"{"name":"a""#, 11),
        (r#"{"name":"a"} x"#, 13),
        (r#"{"name" "a"}"#, 8),
        ("", 0),
        ("\u{0}", 0),
        (r#"{"filters":[{]}"#, 13),
        ("{\"name\":\"a\nb\"}", 10),
        (r#"{"lb_policy":RING}"#, 13),
    ] {
        let Some(TranscodeStop::Syntax(syntax)) = read(CLUSTER, text).stop else {
            panic!("{text} is read");
        };
        assert_eq!(syntax.at, at, "{text}");
    }
}

#[test]
fn depth_is_bounded_and_what_the_client_rejects_stays_too_deep() {
    const DEPTH: usize = 5000;
    let matcher = |depth: usize| {
        let text = r#"{"not_id":"#.repeat(depth) + "{}" + &"}".repeat(depth);
        read("envoy.config.rbac.v3.Principal", &text)
    };
    let profile = xdsctl_model::profile::Profile::default();
    let server = xdsctl_model::profile::ServerFacts::default();
    for (depth, verdict) in [(99, Ok(())), (100, Ok(())), (101, Err(())), (DEPTH, Err(()))] {
        let read = matcher(depth);
        assert_eq!((read.stop, read.notes.len()), (None, 0));
        let mut cx = xdsctl_model::diag::Validation::new(&profile, &server);
        let message = tables::message("envoy.config.rbac.v3.Principal").unwrap();
        let checked = super::super::wire::check(&bytes::Bytes::from(read.bytes), message, true, &Path::ROOT, &mut cx);
        assert_eq!(checked.map(drop).map_err(drop), verdict, "{depth}");
    }
    let head = r#"{"@type":"t/envoy.config.core.v3.TypedExtensionConfig","typed_config":"#;
    let any = format!(r#"{{"typed_config":{}{{}}{}}}"#, head.repeat(DEPTH), "}".repeat(DEPTH));
    let read = read(EXTENSION, &any);
    assert_eq!(read.stop, None);
    assert_eq!(read.notes[0].diagnostic.rule.id, "dump-limit-exceeded");
    let lists = "[".repeat(DEPTH) + &"]".repeat(DEPTH);
    let text = format!(r#"{{"a":{lists}}}"#);
    assert_eq!(self::read("google.protobuf.Struct", &text).stop, None);
}

#[test]
fn every_truncation_and_every_changed_byte_ends_well() {
    let text = format!(
        r#"{{"name":"a\u00e9b","connect_timeout":"1.5s","filters":[{{"typed_config":{{"@type":"{RING_HASH}","minimum_ring_size":"1024"}}}}],"metadata":{{"filter_metadata":{{"x":{{"y":[1,null,{{}}]}}}}}}}}"#
    );
    let message = tables::message(CLUSTER).unwrap();
    for end in 0..text.len() {
        assert!(
            json(&text.as_bytes()[..end], message, TranscodeOptions::default())
                .stop
                .is_some()
        );
        for byte in [0, b'"', b'{', b'}', b'[', b']', b',', b':', b'\\', b'0', b'x', 0xff] {
            let mut changed = text.clone().into_bytes();
            changed[end] = byte;
            let read = json(&changed, message, TranscodeOptions::default());
            if read.stop.is_none() {
                dynamic(CLUSTER, &read.bytes);
            }
        }
    }
}

#[test]
fn no_message_has_more_fields_than_are_tracked() {
    assert!(
        tables::MESSAGES
            .iter()
            .all(|m| m.fields.len() <= 128 && m.oneofs.len() <= 64)
    );
}

/// A protobuf reader (Python's json_format 7.36) rejects each of these, and they are read here all
/// the same.
#[test]
fn what_protobuf_refuses_is_noted_and_read() {
    let bad = "dump-bad-value";
    let timeout = |value: &str| format!(r#"{{"connect_timeout":{value}}}"#);
    check(
        CLUSTER,
        &timeout("{}"),
        r#"{"connect_timeout":"0s"}"#,
        &[(bad, "connect_timeout", "{}")],
    );
    let seconds = r#"{"seconds":1}"#;
    check(
        CLUSTER,
        &timeout(seconds),
        r#"{"connect_timeout":"1s"}"#,
        &[(bad, "connect_timeout", seconds)],
    );
    for (text, noted) in [
        (r#""2020-01-01T00:00:00Z""#, false),
        (r#""2020-01-01t00:00:00Z""#, true),
        (r#""2020-01-01T00:00:00z""#, true),
    ] {
        let notes = [(bad, "", text)];
        let notes = if noted { notes.as_slice() } else { &[] };
        check("google.protobuf.Timestamp", text, r#""2020-01-01T00:00:00Z""#, notes);
    }
    let mask = r#""a_b,cD""#;
    let read = read("google.protobuf.FieldMask", mask);
    assert_eq!(read.bytes, b"\x0a\x03a_b\x0a\x03c_d");
    assert_eq!(read.notes[0].diagnostic.rule.id, bad);
}

#[test]
fn a_duration_beyond_its_range_is_noted_where_nobody_else_would() {
    // gRPC does not read cleanup_interval, but reads the other field.
    let long = r#""315576000001s""#;
    for (text, notes) in [
        (format!(r#"{{"cleanup_interval":{long}}}"#), 1),
        (format!(r#"{{"health_checks":[{{"timeout":{long}}}]}}"#), 1),
        (format!(r#"{{"outlier_detection":{{"interval":{long}}}}}"#), 0),
        (r#"{"cleanup_interval":"315576000000s"}"#.to_owned(), 0),
        (r#"{"cleanup_interval":"-315576000000s"}"#.to_owned(), 0),
    ] {
        assert_eq!(read(CLUSTER, &text).notes.len(), notes, "{text}");
    }
}

#[test]
fn a_type_that_is_given_twice_is_noted() {
    let other = "type.googleapis.com/google.protobuf.Duration";
    for (keys, notes) in [
        (format!(r#""@type":"{RING_HASH}","@type":"{other}""#), 1),
        (format!(r#""@type":"{RING_HASH}","@type":"{RING_HASH}""#), 1),
        (
            format!(r#""minimum_ring_size":5,"@type":"{RING_HASH}","@type":"{other}""#),
            1,
        ),
        (
            format!(r#""@type":"{RING_HASH}","minimum_ring_size":5,"@type":"{other}""#),
            1,
        ),
        (format!(r#""@type":"{other}","value":"1s","@type":"{RING_HASH}""#), 1),
        (format!(r#""value":"1s","@type":"{other}""#), 0),
        (format!(r#""minimum_ring_size":5,"@type":"{RING_HASH}""#), 0),
    ] {
        let read = read(EXTENSION, &format!(r#"{{"typed_config":{{{keys}}}}}"#));
        let rules: Vec<&str> = read.notes.iter().map(|note| note.diagnostic.rule.id).collect();
        assert_eq!(rules, vec!["dump-duplicate-key"; notes], "{keys}");
    }
}

#[test]
fn a_type_with_a_form_of_its_own_has_it_under_value() {
    let any = |name: &str, more: &str| {
        let text = format!(r#"{{"typed_config":{{"@type":"type.googleapis.com/google.protobuf.{name}"{more}}}}}"#);
        let notes = read(EXTENSION, &text).notes;
        notes.iter().map(|note| note.diagnostic.rule.id).collect::<Vec<_>>()
    };
    assert_eq!(any("Duration", r#","value":"1s""#), [""; 0]);
    assert_eq!(any("Duration", ""), ["dump-bad-value"]);
    assert_eq!(any("StringValue", ""), ["dump-bad-value"]);
    assert_eq!(any("Struct", r#","a":1"#), ["dump-unknown-field", "dump-bad-value"]);
    assert_eq!(any("Duration", r#","value":"1s","value":"2s""#), ["dump-duplicate-key"]);
    // Go writes the first form, Python the second.
    assert_eq!(any("Empty", r#","value":{}"#), [""; 0]);
    assert_eq!(any("Empty", ""), [""; 0]);
    assert_eq!(any("Empty", r#","value":{"a":1}"#), ["dump-unknown-field"]);
    assert_eq!(any("Empty", r#","value":1"#), ["dump-bad-value"]);
}

#[test]
fn a_number_in_quotes_is_the_enum_of_that_number() {
    let rule = "dump-unknown-enum-value";
    for (value, printed) in [("3", "EDS"), ("+3", "EDS"), ("03", "EDS"), ("0", "STATIC")] {
        let text = format!(r#"{{"type":"{value}"}}"#);
        let quoted = format!("\"{value}\"");
        check(
            CLUSTER,
            &text,
            &format!(r#"{{"type":"{printed}"}}"#),
            &[(rule, "type", &quoted)],
        );
    }
    check(CLUSTER, r#"{"type":"3.0"}"#, "{}", &[(rule, "type", r#""3.0""#)]);
}
