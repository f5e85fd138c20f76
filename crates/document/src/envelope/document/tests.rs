//! Documents of every format, whole, cut, changed and hostile.

use super::*;
use crate::source::SourceMap;

/// Returns what a document yields: for each resource its bytes as text and its notes with their
/// texts, then the findings.
fn load(name: &str, bytes: &[u8]) -> Vec<String> {
    let mut sources = SourceMap::new();
    let id = sources.add(name, bytes.to_vec());
    let source = sources.get(id).unwrap();
    let text = |span: Span| String::from_utf8_lossy(&source.bytes()[span.range()]).into_owned();
    let loaded = crate::load::run(Some(1), |l, e| l.document(id, source, LoadOptions::default(), e), |r| r);
    let mut lines = Vec::new();
    for r in loaded.results {
        lines.push(format!("{}: {}", r.world.0, r.bytes.unwrap_or_default().escape_ascii()));
        for note in r.notes {
            lines.push(format!(
                "{} {} at {}",
                note.diagnostic.rule.id,
                note.diagnostic.path,
                text(note.span)
            ));
        }
    }
    for finding in loaded.loader.findings {
        lines.push(format!("{} {}", finding.diagnostic.rule.id, finding.span.start));
    }
    lines
}

#[test]
fn yaml_documents_share_a_world_and_keep_their_places() {
    let text = "\
'@type': t/envoy.config.cluster.v3.Cluster
name: 007
nme: x
---
'@type': t/envoy.config.cluster.v3.Cluster
connect_timeout: 5s
perConnectionBufferLimitBytes: 0x10
type: EDSS
";
    assert_eq!(
        load("-", text.as_bytes()),
        [
            "0: \\n\\x03007",
            "dump-unknown-field nme at nme",
            "0: \\\"\\x82\\x80\\x80\\x00\\x08\\x05*\\x82\\x80\\x80\\x00\\x08\\x10",
            "dump-unknown-enum-value type at EDSS",
        ]
    );
}

#[test]
fn a_cut_document_keeps_its_whole_resources() {
    let text = "\
resources:
- {'@type': t/envoy.config.cluster.v3.Cluster, name: a}
- {'@type': t/envoy.config.cluster.v3.Cluster, name: b
---
'@type': t/envoy.config.cluster.v3.Cluster
name: c
";
    let loaded = load("-", text.as_bytes());
    assert_eq!(loaded[..2], ["0: \\n\\x01a", "0: \\n\\x01c"]);
    assert_eq!(loaded.len(), 3, "{loaded:?}");
}

#[test]
fn documents_that_are_nothing_are_one_finding() {
    assert_eq!(load("-", b""), ["dump-empty 0"]);
    assert_eq!(load("-", b"\x1f\x8b\x08\0"), ["dump-not-configuration 0"]);
    assert_eq!(load("-", b"just words"), ["dump-unknown-shape 0"]);
}

#[test]
fn fields_are_found_in_yaml() {
    let text = "\
base: &base
  connect_timeout: 5s
  circuit_breakers:
    thresholds: [{max_requests: 1}]
resources:
- '@type': t/envoy.config.cluster.v3.Cluster
  <<: *base
  name: a
- '@type': t/envoy.config.endpoint.v3.ClusterLoadAssignment
  endpoints:
  - lb_endpoints:
    - loadBalancingWeight: 0
";
    let mut sources = SourceMap::new();
    let id = sources.add("-", text.as_bytes().to_vec());
    let source = sources.get(id).unwrap();
    let loaded = crate::load::run(Some(1), |l, e| l.document(id, source, LoadOptions::default(), e), |r| r);
    let root = xdsctl_model::diag::Path::ROOT;
    let find = |resource: usize, path: &xdsctl_model::diag::Path<'_>| {
        let span = source.locate(loaded.results[resource].origin.span, &path.to_owned());
        (&text[span.range()], source.line_column(span.start).line)
    };
    let endpoints = root.field("endpoints");
    let locality = endpoints.index(0);
    let lb_endpoints = locality.field("lb_endpoints");
    let endpoint = lb_endpoints.index(0);
    assert_eq!(find(1, &endpoint.field("load_balancing_weight")), ("0", 12));
    assert_eq!(find(1, &endpoint.field("health_status")), ("loadBalancingWeight", 12));
    assert_eq!(find(1, &root), ("'@type'", 9));
    assert_eq!(find(0, &root.field("name")), ("a", 8));
    assert_eq!(find(0, &root.field("connect_timeout")), ("5s", 2));
    let thresholds = root.field("circuit_breakers");
    let thresholds = thresholds.field("thresholds");
    let threshold = thresholds.index(0);
    assert_eq!(find(0, &threshold.field("max_requests")), ("1", 4));
}

/// Returns a small response in every format but JSON.
fn samples() -> Vec<(&'static str, Vec<u8>)> {
    let yaml = "\
version_info: '1'
resources:
- &a
  '@type': t/envoy.config.cluster.v3.Cluster
  name: \"a\\u00e9\"
  connect_timeout: 5s
- <<: *a
  metadata: {filter_metadata: {x: {y: [1, ~, |
";
    let yaml = yaml.replace(", |\n", ", 'é']}}}\n---\n# end\n");
    let text = "\
# proto-message: envoy.service.discovery.v3.DiscoveryResponse
version_info: '1'
resources { [t/envoy.config.cluster.v3.Cluster] { name: 'a\\303\\251' connect_timeout: <seconds: 0x5> } }
resources: [{ type_url: \"t/envoy.config.cluster.v3.Cluster\" value: '\\n\\x01' \"b\" }]
";
    let cluster = b"\x12\x28\x0a\x21t/envoy.config.cluster.v3.Cluster\x12\x03\x0a\x01a";
    let binary = [&b"\x0a\x011"[..], cluster, cluster].concat();
    vec![
        ("x.yaml", yaml.into_bytes()),
        ("x.textproto", text.into()),
        ("-", binary),
    ]
}

#[test]
fn every_prefix_of_a_document_is_read_without_harm() {
    for (name, bytes) in samples() {
        let whole = load(name, &bytes);
        let resources = whole.iter().filter(|line| line.starts_with("0: ")).count();
        assert_eq!(resources, 2, "{name} {whole:?}");
        for end in 0..bytes.len() {
            let lines = load(name, &bytes[..end]);
            assert!(lines.len() < 8, "{name} {end} {lines:?}");
        }
    }
}

#[test]
fn every_changed_byte_is_read_without_harm() {
    for (name, bytes) in samples() {
        for at in 0..bytes.len() {
            for byte in [0, b'\n', b'"', b'{', b'[', b'*', b'\\', 0x7f, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[at] = byte;
                load(name, &changed);
                load("-", &changed);
            }
        }
    }
}

#[test]
fn hostile_documents_end_with_one_finding() {
    let brackets = 100_000;
    let many = "x".repeat(10_000_000);
    for (name, text, expected) in [
        ("deep.yaml", "[".repeat(brackets), "dump-limit-exceeded"),
        (
            "deep.yaml",
            "a:\n ".to_owned() + &"- ".repeat(brackets),
            "dump-limit-exceeded",
        ),
        ("deep.yaml", "{a: ".repeat(brackets), "dump-limit-exceeded"),
        ("deep.textproto", "a {".repeat(brackets), "dump-limit-exceeded"),
        ("nul.yaml", "resources:\0".to_owned(), "dump-syntax"),
        ("nul.textproto", "resources\0{}".to_owned(), "dump-syntax"),
        ("alias.yaml", "resources: [*gone]".to_owned(), "dump-syntax"),
        ("long.yaml", format!("resources: ['{many}"), "dump-syntax"),
        ("long.textproto", format!("version_info: '{many}"), "dump-syntax"),
        ("key.yaml", format!("{many}: 1"), "dump-syntax"),
    ] {
        let lines = load(name, text.as_bytes());
        let rules: Vec<&str> = lines.iter().map(|line| line.split(' ').next().unwrap()).collect();
        assert_eq!(rules, [expected], "{name} {:.60}", text);
    }
}

#[test]
fn text_format_is_loaded_with_its_places() {
    let text = "\
resources {
  [t/envoy.config.cluster.v3.Cluster] {
    name: 'a'
    typ: EDS
    lb_policy: RING_HSAH
    connect_timeout { seconds: 315576000001 }
    transport_socket { typed_config { [t/acme.X] { y: 1 } } }
  }
}
";
    assert_eq!(
        load("-", text.as_bytes()),
        [
            r#"0: \n\x01a\"\x87\x80\x80\x00\x08\x81\xbc\xae\xce\x97\t\xc2\x01\xb9\x80\x80\x00\x1a\xb4\x80\x80\x00\n\x08t/acme.X\x12(\xff\xffxdsctl-json\x00{\"@type\":\"t/acme.X\",\"y\":1}"#,
            "dump-unknown-enum-value lb_policy at RING_HSAH",
            "dump-unknown-any-type transport_socket.typed_config at { [t/acme.X] { y: 1 } }",
            "dump-unknown-field typ at typ",
        ]
    );
}

#[test]
fn a_binary_resource_is_shown_as_text() {
    let (_, bytes) = samples().pop().unwrap();
    let mut sources = SourceMap::new();
    let id = sources.add("x.pb", bytes);
    let source = sources.get(id).unwrap();
    let loaded = crate::load::run(Some(1), |l, e| l.document(id, source, LoadOptions::default(), e), |r| r);
    let place = loaded.results[0].origin.span;
    let decoded = source.decoded(place, "envoy.config.cluster.v3.Cluster").unwrap();
    assert_eq!(
        (decoded.name(), decoded.bytes()),
        ("x.pb (decoded)", &b"name: \"a\"\n"[..])
    );
    let path = xdsctl_model::diag::Path::ROOT;
    let all = Span::new(0, decoded.bytes().len());
    assert_eq!(decoded.locate(all, &path.field("name").to_owned()), Span::new(6, 9));
    assert_eq!(decoded.locate(all, &path.field("type").to_owned()), Span::new(0, 4));
}
