//! Objects around a known shape, such as `{namespace: {pod: {"configs": [...]}}}` of `egctl config`: searched, each key
//! with something in it a world.

use super::walker::Walker;
use super::{Result, Shape};

/// Any other object.
pub(super) static SHAPE: Shape = Shape {
    claims: |_| false,
    walk: walk_keys,
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
