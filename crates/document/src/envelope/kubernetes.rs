//! Kubernetes objects that have xDS resources in `spec.resources` (CiliumEnvoyConfig and similar
//! kinds), and lists of such objects.

use super::walker::Walker;
use super::{Result, Shape};
use crate::proto::transcode::decode_base64;
use crate::source::Span;
use crate::source::json::Str;

/// The shape `{"apiVersion": ..., "kind": ..., "spec": {"resources": [...]}}`, or a list with
/// `items`.
pub(super) static SHAPE: Shape = Shape {
    claims: |clue| clue.is("api_version", b'"'),
    walk: walk_object,
};

/// A list of objects whose `items` come first.
pub(super) static LIST: Shape = Shape {
    claims: |clue| clue.is("items", b'['),
    walk: walk_object,
};

/// Words that show that a text in a ConfigMap is xDS configuration.
const SIGNS: &[&str] = &[
    "static_resources",
    "dynamic_resources",
    "xds_servers",
    "type.googleapis.com/envoy.",
    "eds_cluster_config",
    "edsClusterConfig",
    "load_assignment",
    "virtual_hosts",
    "virtualHosts",
    "api_listener",
    "apiListener",
    "lb_endpoints",
    "lbEndpoints",
];

/// Says whether the text under a key of a ConfigMap is xDS configuration.
pub(super) fn is_xds(key: &str, text: &str) -> bool {
    // Files with these extensions are not YAML.
    let is_other = key.ends_with(".lua") || key.ends_with(".sh") || key.ends_with(".md");
    !is_other && SIGNS.iter().any(|sign| text.contains(sign))
}

fn walk_object(walker: &mut Walker<'_, '_>) -> Result<()> {
    walker.is_manifest = true;
    walker.fields(&mut |walker, key| match key {
        "items" => walker.objects(&mut walk_item),
        "kind" if walker.tc.scan.peek() == b'"' => walker.text().map(|kind| walker.kind = kind),
        "data" => walker.keys(&mut |walker, key| {
            if walker.tc.scan.peek() != b'"' {
                return walker.skip();
            }
            let text = walker.text()?.unwrap_or_default();
            let key = walker.unescaped(key);
            if is_xds(&key, &text) {
                walker.holds_text = true;
                if !walker.options.config_maps_are_open {
                    walker.embedded = Some(format!("data.{key}"));
                }
            }
            Ok(())
        }),
        "spec" => walker.fields(&mut |walker, key| match key {
            "resources" => {
                walker.recognised = true;
                walker.elements(&mut |walker, _| walker.entry())
            }
            _ => walker.skip(),
        }),
        "binary_data" => walker.keys(&mut binary),
        key => walker.beside(key),
    })
}

/// Skips an entry of a ConfigMap's `binaryData`, and reports it if it is xDS configuration, because
/// such entries are not read.
fn binary(walker: &mut Walker<'_, '_>, key: Str) -> Result<()> {
    let start = walker.pos();
    let text = walker.text()?.unwrap_or_default();
    let key = walker.unescaped(key);
    if decode_base64(text.as_bytes()).is_some_and(|bytes| is_xds(&key, &String::from_utf8_lossy(&bytes))) {
        walker.holds_text = true;
        let span = Span::new(start, walker.pos());
        walker.unchecked(span, format!("the resources in `binaryData.{key}` are not checked"));
    }
    Ok(())
}

/// Reads an object of a list, which counts as if it stood alone.
fn walk_item(walker: &mut Walker<'_, '_>) -> Result<()> {
    let (was_recognised, before, kind) = (walker.recognised, walker.is_manifest, walker.kind.take());
    (walker.recognised, walker.is_manifest) = (false, false);
    walker.tc.scan.peek();
    let start = walker.pos();
    walker.value()?;
    let span = Span::new(start, walker.pos());
    walker.manifest(span);
    walker.recognised |= was_recognised;
    (walker.is_manifest, walker.kind) = (before, kind);
    Ok(())
}
