//! Maps from type URL to resources by name, as `kumactl inspect dataplane --type config` prints
//! them.

use xdsctl_proto::tables;

use super::entries::OBJECT;
use super::slot::SlotPlace;
use super::walker::Walker;
use super::{Clue, Result, Shape};

/// The shape `{"type.googleapis.com/envoy.config.cluster.v3.Cluster": {"name": {...}}}`.
pub(super) static SHAPE: Shape = Shape {
    claims: |clue| matches!(clue, Clue::Key { written, value: b'{', .. } if is_type_url(written)),
    walk: |walker| {
        walker.recognised = true;
        walker.keys(&mut |walker, key| {
            let url = walker.unescaped(key);
            if is_type_url(&url) {
                walk_type(walker, &url)
            } else {
                walker.beside(&url)
            }
        })
    },
};

fn is_type_url(key: &str) -> bool {
    key.starts_with("type.googleapis.com/")
}

fn walk_type(walker: &mut Walker<'_, '_>, url: &str) -> Result<()> {
    let place = SlotPlace {
        message: url.rsplit('/').next().and_then(tables::message),
        ..SlotPlace::default()
    };
    walker.keys(&mut |walker, key| {
        let name = walker.unescaped(key);
        match walker.tc.scan.peek() {
            b'{' => {}
            b'n' if walker.options.nulls_are_explained => return walker.skip(),
            _ => return walker.wrong_kind(OBJECT),
        }
        let mut pending = walker.slot(place)?;
        if pending.raw.type_url.is_empty() {
            url.clone_into(&mut pending.raw.type_url);
        }
        pending.raw.wrapper_name = Some(name);
        walker.push(vec![pending]);
        Ok(())
    })
}
