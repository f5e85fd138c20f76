//! Which values are shown, by type and text.

use super::*;

fn told(type_name: &str, text: &str) -> [Vec<String>; 2] {
    let marks = marks(text.as_bytes(), 0, SecretPlace::root(tables::message(type_name)));
    [marks.shown, marks.hidden].map(|spans| spans.into_iter().map(|span| text[span.range()].to_owned()).collect())
}

fn hidden(type_name: &str, text: &str) -> Vec<String> {
    let [_, hidden] = told(type_name, text);
    hidden
}

#[test]
fn a_value_is_shown_if_its_field_is_known_to_be_harmless() {
    const TLS: &str = "envoy.extensions.transport_sockets.tls.v3.";
    for (type_name, text, expected) in [
        (
            "TlsCertificate",
            r#"{"privateKey":{"inlineBytes":"a","filename":"f"},"password":{"inline_string":"b"}}"#,
            &["a", "b"][..],
        ),
        // A text in the place of an object that would hold a text.
        (
            "TlsCertificate",
            r#"{"private_key":"a","password":[1,"b"],"certificate_chain":"c"}"#,
            &["a", "1", "b", "c"],
        ),
        // An unknown field of a message, and everything in it.
        (
            "CommonTlsContext",
            r#"{"tls_certificate":[{"x":"a"}],"alpn_protocols":["h2"]}"#,
            &["tls_certificate", "x", "a"],
        ),
        (
            "TlsCertificate",
            r#"{"password":{"inline_string":"b","def":null}}"#,
            &["b", "def", "null"],
        ),
        // Escapes hide nothing.
        ("TlsCertificate", r#"{"pass\u0077ord":{"inline_string":"b"}}"#, &["b"]),
        ("TlsCertificate", r#"{"password":{"inline_string":"[redacted]"}}"#, &[]),
        (
            "Secret",
            r#"{"name":"my-token","session_ticket_keys":{"keys":[{"inline_bytes":"a"}]}}"#,
            &["a"],
        ),
        (
            "TlsCertificate",
            r#"{"private_key_provider":{"provider_name":"p","typed_config":{"@type":"t/envoy.config.core.v3.Locality","zone":"a"}}}"#,
            &["a"],
        ),
    ] {
        assert_eq!(hidden(&format!("{TLS}{type_name}"), text), expected, "{text}");
    }
    let route = "envoy.config.route.v3.RouteMatch";
    for (text, expected) in [
        (
            r#"{"headers":[{"string_match":{"exact":"a"},"name":"Authorization"},{"name":"x-env","exact_match":"b"}]}"#,
            &["a"][..],
        ),
        (r#"{"headers":[{"exact_match":"a","na\u006de":"x-api-key"}]}"#, &["a"]),
        (r#"{"cookies":[{"name":"n","string_match":{"exact":"a"}}]}"#, &["a"]),
        (r#"{"prefix":"/","case_sensitive":false}"#, &[]),
        // A value that looks like a credential is hidden in any field, whatever its escapes.
        (
            r#"{"prefix":"https:\/\/h?a\u0026token=b","path":"\u0042earer abcdefg1"}"#,
            &[r"https:\/\/h?a\u0026token=b", r"\u0042earer abcdefg1"],
        ),
    ] {
        assert_eq!(hidden(route, text), expected, "{text}");
    }
}

#[test]
fn what_no_descriptor_has_is_hidden() {
    for (text, expected) in [
        (r#"{"a":{"token":"x","n":5}}"#, &["a", "token", "x", "n", "5"][..]),
        (
            r#"{"@type":"t/envoy.config.route.v3.Route","typed_per_filter_config":{"f":{"@type":"t/a.B","x":"a"}}}"#,
            &["x", "a"],
        ),
        (
            r#"{"@type":"t/envoy.config.core.v3.Metadata","filter_metadata":{"a":{"b":true}}}"#,
            &["b", "true"],
        ),
        (
            r#"{"a":[{"@type":"t/envoy.config.core.v3.HeaderValue","key":"x-env","value":"a"}]}"#,
            &[
                "a",
                "@type",
                "t/envoy.config.core.v3.HeaderValue",
                "key",
                "x-env",
                "value",
                "a",
            ],
        ),
        // A value in the place of an Any that is not an Any.
        (
            r#"{"@type":"t/envoy.config.route.v3.Route","name":"n","typed_per_filter_config":{"x":["a"],"y":"b"}}"#,
            &["a", "b"],
        ),
        (r#"{"@type":"t/x.Y","@value":"CgVo"}"#, &["@value", "CgVo"]),
        (r#"{"@type":"t/google.protobuf.StringValue","value":"a"}"#, &["a"]),
        (r#"{"@type":"t/google.protobuf.Duration","value":"1s"}"#, &[]),
        // The first of two types counts, as in the reader of resources.
        (
            r#"{"@type":"t/x.Y","name":"n","@type":"t/envoy.config.route.v3.Route"}"#,
            &["name", "n"],
        ),
        (r#"{"password":"abc"#, &["password", "abc"]),
    ] {
        assert_eq!(hidden("", text), expected, "{text}");
    }
}

#[test]
fn policies_and_bootstraps_are_known_by_their_keys() {
    let of = |policy: &str| {
        let config = r#"{"childPolicy":[{"round_robin":{}},{"mine":{"a":1}}],"minRingSize":7,"user":"u"}"#;
        format!(r#"{{"@type":"t/xds.type.v3.TypedStruct","type_url":"t/{policy}","value":{config}}}"#)
    };
    assert_eq!(
        hidden("", &of("ring_hash_experimental")),
        ["mine", "a", "1", "user", "u"]
    );
    assert!(hidden("", &of("mine")).contains(&"7".to_owned()));
    let clusters = br#"{"cluster_statuses":[{"name":"c","host_statuses":[{"address":{"socket_address":{"address":"10.0.0.1","port_value":80}},"x":"y"}]}]}"#;
    let hidden = marks(clusters, 0, SecretPlace::CLUSTERS).hidden;
    assert_eq!(hidden.len(), 2, "x and y");
    let bootstrap = br#"{"xds_servers":[{"server_uri":"a:1","channel_creds":[{"type":"x","config":{"token":"t"}}]}],"node":{"id":"n","metadata":{"a":"b"}}}"#;
    let hidden = marks(bootstrap, 0, SecretPlace::BOOTSTRAP).hidden;
    let hidden: Vec<_> = hidden
        .iter()
        .map(|span| std::str::from_utf8(&bootstrap[span.range()]).unwrap())
        .collect();
    assert_eq!(hidden, ["token", "t", "metadata", "a", "b"]);
}

#[test]
fn a_text_where_a_harmless_message_should_be_is_shown() {
    let cluster = "envoy.config.cluster.v3.Cluster";
    assert_eq!(
        hidden(cluster, r#"{"connect_timeout":"x","upstream_bind_config":"y"}"#),
        ["y"]
    );
    let endpoint = "envoy.config.endpoint.v3.Endpoint";
    assert_eq!(
        hidden(endpoint, r#"{"address":"10.0.0.1","health_check_config":"b"}"#),
        [""; 0]
    );
}

#[test]
fn the_parsed_form_hides_structs_and_credentials() {
    let mut value = serde_json::json!({
        "lb_policy": [{"ring_hash_experimental": {"minRingSize": 1, "x": "a"}}, {"mine": {"y": "b"}}],
        "metadata": {"m": {"type": "Struct", "value": {"k": "c"}}, "n": {"type": "Address", "address": "10.0.0.1:80"}},
        "headers": [
            {"name": "authorization", "string_match": {"exact": "d"}},
            {"name": "x-env", "string_match": {"exact": "e"}},
        ],
        "name": "https://u:fgh@h",
    });
    SecretPlace::PARSED.redact(&mut value);
    let expected = serde_json::json!({
        "lb_policy": [{"ring_hash_experimental": {"minRingSize": 1, "[redacted]": "[redacted]"}}, {"[redacted]": "[redacted]"}],
        "metadata": {"m": {"type": "Struct", "value": "[redacted]"}, "n": {"type": "Address", "address": "10.0.0.1:80"}},
        "headers": [
            {"name": "authorization", "string_match": "[redacted]"},
            {"name": "x-env", "string_match": {"exact": "e"}},
        ],
        "name": "https://u:***@h",
    });
    assert_eq!(value, expected);
}

#[test]
fn a_document_is_known_by_its_keys_and_a_suite_by_its_members() {
    let hidden = |place: SecretPlace, text: &str| -> Vec<String> {
        let spans = marks(text.as_bytes(), 0, place).hidden;
        spans.into_iter().map(|span| text[span.range()].to_owned()).collect()
    };
    for (text, expected) in [
        (
            r#"{"version_info":"1","resources":[{"@type":"t/envoy.config.core.v3.Locality","zone":"a"},{"zone":"b"},"c"],"x":"d"}"#,
            &["zone", "b", "c", "x", "d"][..],
        ),
        (
            r#"{"static_resources":{"clusters":[{"name":"a","x":"b"}]}}"#,
            &["x", "b"],
        ),
        (
            r#"{"@type":"t/envoy.config.core.v3.Locality","zone":"a","x":1}"#,
            &["x", "1"],
        ),
        (
            r#"{"apiVersion":"v1","metadata":{"name":"a","labels":{"b":"c"}},"data":{"f":"d"},"spec":{"resources":[{"e":1}]}}"#,
            &["labels", "b", "c", "d", "e", "1"],
        ),
        (
            r#"{"kind":"a","metadata":{"name":"b"}}"#,
            &["kind", "a", "metadata", "name", "b"],
        ),
        (r#"[{"name":"a"}]"#, &["name", "a"]),
    ] {
        assert_eq!(hidden(SecretPlace::DOCUMENT, text), expected, "{text}");
    }
    for (text, expected) in [
        (
            r#"{"world":["a",{"@type":"t/envoy.config.core.v3.Locality","zone":"b","x":"c"},{"zone":"d"}],"steps":[{"settle":5}]}"#,
            &["x", "c", "zone", "d"][..],
        ),
        (
            r#"{"pick":{"headers":{"x-env":"a","cookie":"b"},"method":"/c/D"}}"#,
            &["b"],
        ),
        (r#"{"pick":{"headers":[["x-env","a"],["authorization","b"]]}}"#, &["b"]),
        (
            r#"{"env":{"GRPC_X":true,"API_TOKEN":"a"},"shares":{"c":{"at":1}},"x":1}"#,
            &["a", "x", "1"],
        ),
    ] {
        assert_eq!(hidden(SecretPlace::SUITE, text), expected, "{text}");
    }
}

#[test]
fn words_that_are_known_are_those_of_the_descriptors() {
    for word in [
        "name",
        "connectTimeout",
        "@type",
        "minRingSize",
        "xds_servers",
        "ROUND_ROBIN",
        "envoy.config.core.v3.Node",
    ] {
        assert!(is_known_word(word), "{word}");
    }
    for word in ["hunter2", "", "10.0.0.1", "nam"] {
        assert!(!is_known_word(word), "{word}");
    }
    assert!(is_enum_value("ROUND_ROBIN") && !is_enum_value("name"));
}
