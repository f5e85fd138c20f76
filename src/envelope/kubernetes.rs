//! Kubernetes objects that carry xDS resources in `spec.resources` (CiliumEnvoyConfig and its like), and lists of them.

use super::walker::Walker;
use super::{Result, Shape};

/// `{"apiVersion": ..., "kind": ..., "spec": {"resources": [...]}}`; also a list with `items`.
pub(super) static SHAPE: Shape = Shape {
    claims: |clue| clue.is("api_version", b'"'),
    walk: walk_object,
};

/// A list of objects, when `items` comes first.
pub(super) static LIST: Shape = Shape {
    claims: |clue| clue.is("items", b'['),
    walk: walk_object,
};

/// What says that a text in a ConfigMap is xDS configuration.
const SIGNS: &[&str] = &[
    "static_resources",
    "dynamic_resources",
    "xds_servers",
    "type.googleapis.com/envoy.",
];

fn walk_object(walker: &mut Walker<'_, '_>) -> Result<()> {
    walker.is_manifest = true;
    walker.fields(&mut |walker, key| match key {
        "items" => walker.objects(&mut Walker::value),
        "data" => walker.keys(&mut |walker, key| {
            if walker.tc.scan.peek() != b'"' {
                return walker.skip();
            }
            let text = walker.text()?.unwrap_or_default();
            if SIGNS.iter().any(|sign| text.contains(sign)) {
                walker.embedded = Some(format!("data.{}", walker.unescaped(key)));
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
        _ => walker.skip(),
    })
}
