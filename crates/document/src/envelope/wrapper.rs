//! Objects around a known shape. They are searched for resources.
//!
//! Each key is a world if one of them holds a dump or resources of several types, as in
//! `{namespace: {pod: {"configs": [...]}}}` of `egctl config`. Each key is also a world if all of
//! them hold resources by type, as in `{node: {"listeners": [...]}}`. Otherwise the object is one
//! world, such as a snapshot that is a map by type and name.

use std::collections::BTreeSet;

use super::walker::{MAX_NESTING, Walker};
use super::{DUMPS, Result, Shape, config_dump, csds, discovery, legacy, snapshot, untyped};
use xdsctl_model::resource::ResourceType;

/// Any other object.
pub(super) static SHAPE: Shape = Shape {
    claims: |_| false,
    walk: walk_keys,
};

/// An operation of a JSON patch, as in the `diff` of `kumactl inspect`. Its value is a part of a
/// resource.
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
    if discovery::is_without_list(walker)? {
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

/// The kinds of contents that a value has, as far as it was looked at.
#[derive(Default)]
pub(super) struct WrapperContents {
    pub types: BTreeSet<ResourceType>,
    pub is_dump: bool,
    /// Whether it has a part of a dump, which may stand alone.
    is_part: bool,
    /// Whether its resources are in lists or maps that are named by their types.
    is_by_type: bool,
    /// Whether to look for all types. Otherwise looking stops at the second type.
    wants_all: bool,
}

impl WrapperContents {
    fn is_of_client(&self) -> bool {
        self.is_dump || self.is_snapshot()
    }

    /// Says whether looking further would change nothing.
    fn is_enough(&self) -> bool {
        self.is_of_client() && (self.is_dump || !self.wants_all)
    }

    /// Says whether there are resources of several types.
    pub(super) fn is_snapshot(&self) -> bool {
        self.types.len() > 1
    }

    /// Says whether this is the node of a snapshot: its resources are in lists that are named by
    /// type, and `key` does not itself name a type.
    fn is_node(&self, key: &str) -> bool {
        self.is_by_type && !self.types.iter().any(|held| snapshot::is_named(key, *held))
    }
}

/// Skips the value at the scanner and returns what it holds. If the value is cut off, the contents
/// are those before the cut, and the result is an error.
pub(super) fn held(walker: &mut Walker<'_, '_>) -> (WrapperContents, Result<()>) {
    let mut held = WrapperContents {
        wants_all: true,
        ..WrapperContents::default()
    };
    let passed = look(walker, &mut held, 0);
    (held, passed)
}

/// Says whether the keys of the object at the scanner are worlds, because they hold what one client
/// has. The scanner stays where it is.
fn are_worlds(walker: &mut Walker<'_, '_>) -> Result<bool> {
    let start = walker.pos();
    let mut are_worlds = false;
    let (mut keys, mut by_type, mut nodes) = (0, 0, 0);
    walker.keys(&mut |walker, key| {
        if are_worlds {
            return walker.skip();
        }
        let mut held = WrapperContents::default();
        look(walker, &mut held, 1)?;
        are_worlds = held.is_of_client() || held.is_part;
        keys += usize::from(!held.types.is_empty());
        by_type += usize::from(held.is_by_type);
        nodes += usize::from(held.is_node(&walker.unescaped(key)));
        Ok(())
    })?;
    walker.tc.scan.set_pos(start);
    Ok(are_worlds || keys > 1 && by_type == keys && nodes > 0)
}

/// Skips the value at the scanner, and adds what it holds to `held`.
fn look(walker: &mut Walker<'_, '_>, held: &mut WrapperContents, level: usize) -> Result<()> {
    let first = walker.tc.scan.peek();
    if level > MAX_NESTING || held.is_enough() || !matches!(first, b'{' | b'[') {
        return walker.skip();
    }
    if first == b'[' {
        return walker.elements(&mut |walker, _| look(walker, held, level + 1));
    }
    let start = walker.pos();
    let shape = walker.shape()?;
    walker.tc.scan.set_pos(start);
    let is = |other: &'static Shape| std::ptr::eq(shape, other);
    let parts = [&config_dump::SECTION, &csds::OLD_CONFIG];
    if parts.into_iter().any(is) {
        held.is_part = true;
        return walker.skip();
    }
    let whole = [&csds::RESPONSE, &csds::CLIENT, &legacy::SHAPE];
    if DUMPS.iter().copied().chain(whole).any(is) {
        held.is_dump = true;
        return walker.skip();
    }
    if is(&discovery::SHAPE)
        && let Some(said) = discovery::said_type(walker)?
    {
        held.types.insert(said);
        return walker.skip();
    }
    if is(&untyped::UNTYPED) {
        let message = walker.assume.or(walker.guess);
        held.types
            .extend(message.and_then(|message| ResourceType::from_type_name(message.full_name)));
        return walker.skip();
    }
    if is(&untyped::TYPED) {
        let url = walker.type_ahead()?.unwrap_or_default();
        held.types
            .extend(url.rsplit('/').next().and_then(ResourceType::from_type_name));
        return walker.skip();
    }
    walker.fields(&mut |walker, key| {
        let first = walker.tc.scan.peek();
        let listed = snapshot::listed(key).filter(|_| matches!(first, b'{' | b'['));
        held.is_by_type |= level == 1 && listed.is_some();
        if first == b'[' && is(&snapshot::SHAPE) {
            held.types.extend(listed);
        }
        look(walker, held, level + 1)
    })
}
