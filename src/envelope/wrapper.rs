//! Objects around a known shape: searched. Each key is a world if one of them holds what a client has, a dump or resources
//! of several types, such as `{namespace: {pod: {"configs": [...]}}}` of `egctl config`. Else all is one world, such as a
//! snapshot that is a map by type and name.

use std::collections::BTreeSet;

use super::walker::{MAX_NESTING, Walker};
use super::{DUMPS, Result, Shape, csds, discovery, legacy, snapshot, untyped};
use crate::model::ResourceType;
use crate::proto::transcode::TypeUrl;

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
    if discovery::is_misspelt(walker)? {
        return (discovery::SHAPE.walk)(walker);
    }
    let divides = !walker.is_one_world && are_worlds(walker)?;
    let was_one = std::mem::replace(&mut walker.is_one_world, !divides);
    let result = walker.keys(&mut |walker, key| {
        if !matches!(walker.tc.scan.peek(), b'{' | b'[') {
            return walker.skip();
        }
        if !divides {
            return walker.value();
        }
        let name = walker.unescaped(key);
        walker.wrappers.push(name);
        let outer = walker.world.take();
        walker.value()?;
        walker.world = outer;
        walker.wrappers.pop();
        Ok(())
    });
    walker.is_one_world = was_one;
    result
}

/// What a client may hold, as far as it was looked at.
#[derive(Default)]
struct Held {
    types: BTreeSet<ResourceType>,
    is_dump: bool,
}

impl Held {
    fn is_of_client(&self) -> bool {
        self.is_dump || self.types.len() > 1
    }
}

/// Says whether a key of the object at the scanner holds what one client has. The scanner stays where it is.
fn are_worlds(walker: &mut Walker<'_, '_>) -> Result<bool> {
    let start = walker.pos();
    let mut are_worlds = false;
    walker.keys(&mut |walker, _| {
        if are_worlds {
            return walker.skip();
        }
        let mut held = Held::default();
        look(walker, &mut held, 1)?;
        are_worlds = held.is_of_client();
        Ok(())
    })?;
    walker.tc.scan.set_pos(start);
    Ok(are_worlds)
}

/// Looks at the value at the scanner, and passes it.
fn look(walker: &mut Walker<'_, '_>, held: &mut Held, level: usize) -> Result<()> {
    let first = walker.tc.scan.peek();
    if level > MAX_NESTING || held.is_of_client() || !matches!(first, b'{' | b'[') {
        return walker.skip();
    }
    if first == b'[' {
        return walker.elements(&mut |walker, _| look(walker, held, level + 1));
    }
    let start = walker.pos();
    let shape = walker.shape()?;
    walker.tc.scan.set_pos(start);
    let is = |other: &'static Shape| std::ptr::eq(shape, other);
    let whole = [&csds::RESPONSE, &csds::CLIENT, &legacy::SHAPE];
    if DUMPS.iter().copied().chain(whole).any(is) {
        held.is_dump = true;
        return walker.skip();
    }
    if is(&untyped::UNTYPED) {
        let message = walker.assume.or(walker.guess);
        held.types
            .extend(message.and_then(|message| ResourceType::from_type_name(message.full_name)));
        return walker.skip();
    }
    if is(&untyped::TYPED) {
        if let TypeUrl::First(url) | TypeUrl::Later(url) = walker.tc.type_url()? {
            let url = String::from_utf8_lossy(walker.tc.scan.slice(url.start, url.end));
            held.types
                .extend(url.rsplit('/').next().and_then(ResourceType::from_type_name));
        }
        walker.tc.scan.set_pos(start);
        return walker.skip();
    }
    walker.fields(&mut |walker, key| {
        if walker.tc.scan.peek() == b'[' && is(&snapshot::SHAPE) {
            held.types.extend(snapshot::listed(key));
        }
        look(walker, held, level + 1)
    })
}
