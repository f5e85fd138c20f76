//! Objects around a known shape, such as `{namespace: {pod: {"configs": [...]}}}` of `egctl config`: searched, each key
//! with something in it a world.

use super::walker::Walker;
use super::{Result, Shape};

/// Any other object.
pub(super) static SHAPE: Shape = Shape {
    claims: |_| false,
    walk: walk_keys,
};

/// An operation of a JSON patch, as in the `diff` of `kumactl inspect`: its value is a piece of a resource.
pub(super) static PATCH: Shape = Shape {
    claims: |clue| clue.is("op", b'"'),
    walk: |walker| {
        let start = walker.pos();
        let mut is_patch = true;
        let result = walker.fields(&mut |walker, key| {
            is_patch &= matches!(key, "op" | "path" | "value" | "from");
            walker.skip()
        });
        if is_patch {
            return result;
        }
        walker.tc.scan.set_pos(start);
        walk_keys(walker)
    },
};

fn walk_keys(walker: &mut Walker<'_, '_>) -> Result<()> {
    walker.keys(&mut |walker, key| {
        if !matches!(walker.tc.scan.peek(), b'{' | b'[') {
            return walker.skip();
        }
        let name = walker.unescaped(key);
        walker.wrappers.push(name);
        let outer = walker.world.take();
        walker.value()?;
        walker.world = outer;
        walker.wrappers.pop();
        Ok(())
    })
}
