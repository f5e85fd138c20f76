//! Text format to JSON: forms, types, faults, places.

use super::*;

fn json(text: &str) -> String {
    let view = view(text.as_bytes(), None);
    assert_eq!(view.faults, [], "{text}");
    String::from_utf8(view.json).unwrap().trim_end().to_owned()
}

/// Returns the JSON of a Cluster's fields.
fn cluster(text: &str) -> String {
    let text = format!("# proto-message: envoy.config.cluster.v3.Cluster\n{text}");
    let json = json(&text);
    let head = r#"{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster""#;
    json.strip_prefix(head)
        .unwrap()
        .trim_start_matches(',')
        .trim_end_matches('}')
        .to_owned()
}

#[test]
fn every_form_of_a_field_is_read() {
    for (text, expected) in [
        ("name: 'a' \"b\" # c\n 'c'", r#""name":"abc""#),
        (
            r#"name: "\n\x41\101\u00e9\U0001F600\"\0""#,
            "\"name\":\"\\nAAé\u{1f600}\\\"\\u0000\"",
        ),
        ("type: EDS; lb_policy: 2,", r#""type":"EDS","lb_policy":2"#),
        (
            "per_connection_buffer_limit_bytes { value: 0x10 }",
            r#""per_connection_buffer_limit_bytes":16"#,
        ),
        (
            "per_connection_buffer_limit_bytes: < value: 010 >",
            r#""per_connection_buffer_limit_bytes":8"#,
        ),
        (
            "per_connection_buffer_limit_bytes { }",
            r#""per_connection_buffer_limit_bytes":0"#,
        ),
        (
            "connection_pool_per_downstream_connection: t",
            r#""connection_pool_per_downstream_connection":true"#,
        ),
        ("connect_timeout { seconds: - 5 nanos: 1 ", ""),
    ] {
        if !expected.is_empty() {
            assert_eq!(cluster(text), expected, "{text}");
        }
    }
    assert_eq!(
        cluster("lb_subset_config { subset_selectors { keys: ['a', 'b'] keys: 'c' } subset_selectors: [{}, <>] }"),
        r#""lb_subset_config":{"subset_selectors":[{"keys":["a","b","c"]},{},{"#.to_owned() + "}]"
    );
}

#[test]
fn maps_structs_and_packed_messages_take_their_json_form() {
    let text = r#"
metadata { filter_metadata { key: "k" value {
  fields { key: "n" value { number_value: 1.5 } }
  fields { key: "l" value { list_value { values { bool_value: true } values { null_value: NULL_VALUE } } } }
  fields { key: "s" value { struct_value { } } }
  fields { key: "none" value { } }
  fields { key: "gone" }
} } }"#;
    assert_eq!(
        cluster(text),
        r#""metadata":{"filter_metadata":{"k":{"n":1.5,"l":[true,null],"s":{},"none":{"@wire":""},"gone":{"@wire":""#
            .to_owned()
            + "\""
    );
    assert_eq!(
        json(
            "resources { [t/envoy.config.cluster.v3.Cluster] { name: \"a\" } } resources { type_url: \"t/x\" value: \"\\001\" }"
        ),
        r#"{"resources":[{"@type":"t/envoy.config.cluster.v3.Cluster","name":"a"},{"@type":"t/x","@value":"AQ=="}]}"#
    );
    assert_eq!(
        json("[t/google.protobuf.Duration] { seconds: 1 }"),
        r#"{"@type":"t/google.protobuf.Duration","value":{"seconds":1}}"#
    );
    assert_eq!(
        json("[t/acme.X] { a: 1 b { } a: c }"),
        r#"{"@type":"t/acme.X","a":[1,"c"],"b":{}}"#
    );
}

#[test]
fn the_type_is_what_fits() {
    for (text, expected) in [
        ("cluster_name: 'a'", "ClusterLoadAssignment"),
        ("name: 'a' virtual_hosts { }", "RouteConfiguration"),
        ("name: 'a' filter_chains { }", "Listener"),
        ("name: 'a'", "Cluster"),
    ] {
        assert!(json(text).contains(expected), "{text}");
    }
    assert_eq!(
        json("config { node { id: 'a' } }"),
        r#"{"config":[{"node":{"id":"a"}}]}"#
    );
    assert_eq!(json("acme: 1"), r#"{"acme":1}"#);
}

#[track_caller]
fn fault(text: &str, at: usize, message: &str) {
    let view = view(text.as_bytes(), None);
    assert_eq!(view.faults.len(), 1, "{text} {:?}", view.faults);
    assert_eq!(
        (view.faults[0].span.start, view.faults[0].message.as_str()),
        (at, message)
    );
}

#[test]
fn what_is_not_text_format_is_one_fault() {
    fault(
        "name",
        4,
        "the text ends inside a message, nothing is read from here on",
    );
    fault(
        "name 'a'",
        5,
        "expected `:` or `{` after the field name, nothing is read from here on",
    );
    fault(
        "name: 'a",
        8,
        "the text ends inside a message, nothing is read from here on",
    );
    fault(
        "name: 'a\n'",
        8,
        "the string is not closed, nothing is read from here on",
    );
    fault("name: }", 6, "expected a value, nothing is read from here on");
    fault("name: a", 6, "a string must be in quotes");
    fault(
        "resources: [{} {}]",
        15,
        "expected `,` or `]`, nothing is read from here on",
    );
}

#[test]
fn whole_resources_of_a_broken_text_are_kept() {
    let text = "resources { [t/envoy.config.cluster.v3.Cluster] { name: 'a' } } resources { [t/envoy.config.cluster.v3.Cluster] { name: 'b'";
    let view = view(text.as_bytes(), None);
    let json = std::str::from_utf8(&view.json).unwrap().trim_end();
    assert_eq!(
        json,
        r#"{"resources":[{"@type":"t/envoy.config.cluster.v3.Cluster","name":"a"}]}"#
    );
    assert_eq!(view.faults.len(), 1);
}

#[test]
fn deep_nesting_ends_with_one_fault() {
    for text in ["a{".repeat(100_000), "a:[".repeat(100_000), "a<a[".repeat(50_000)] {
        let view = view(text.as_bytes(), None);
        assert_eq!(view.faults.len(), 1, "{:?}", view.faults);
    }
}

#[test]
fn nothing_panics_on_the_prefixes_of_a_document() {
    let text = "# proto-message: envoy.config.cluster.v3.Cluster\nname: \"\\x4\\u00e9\" metadata { filter_metadata { key: 'k' value { fields { key: 'a' value { number_value: -inf } } } } } typed_extension_protocol_options { key: 'x' value { [t/a.B] < c: [1, {}] > } }";
    for end in 0..text.len() {
        view(&text.as_bytes()[..end], None);
    }
}

#[test]
fn every_token_leads_back_to_its_text() {
    let text = "name: 'a'\nconnect_timeout { seconds: 5 }\nhealth_checks { timeout { } }\n";
    let view = view(text.as_bytes(), None);
    let json = std::str::from_utf8(&view.json).unwrap();
    for (token, expected) in [
        ("\"name\"", "name"),
        ("\"a\"", "'a'"),
        ("\"seconds\"", "seconds"),
        ("5", "5"),
        ("{\"seconds\":5}", "{ seconds: 5 }"),
        ("\"timeout\":{}", "timeout { }"),
    ] {
        let at = json.find(token).unwrap();
        assert_eq!(
            &text[view.to_document(Span::new(at, at + token.len())).range()],
            expected
        );
    }
}
