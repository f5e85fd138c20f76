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

fn walk_object(walker: &mut Walker<'_, '_>) -> Result<()> {
    walker.fields(&mut |walker, key| match key {
        "items" => walker.objects(&mut Walker::value),
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
