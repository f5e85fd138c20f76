use super::*;
use crate::source::SourceMap;

/// What a document yields: for each resource its bytes as text, its notes with the text they are at; then the findings.
fn load(name: &str, bytes: &[u8]) -> Vec<String> {
    let mut sources = SourceMap::new();
    let id = sources.add(name, bytes.to_vec());
    let source = sources.get(id).unwrap();
    let text = |span: Span| String::from_utf8_lossy(&source.bytes()[span.range()]).into_owned();
    let loaded = crate::load::run(Some(1), |l, e| l.document(id, source, Options::default(), e), |r| r);
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
    let loaded = crate::load::run(Some(1), |l, e| l.document(id, source, Options::default(), e), |r| r);
    let root = crate::diag::Path::ROOT;
    let find = |resource: usize, path: &crate::diag::Path<'_>| {
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
