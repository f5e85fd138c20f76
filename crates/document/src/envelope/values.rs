//! The values of one JSON text, such as the lines of a file: which of them are worlds by
//! themselves.
//!
//! A dump is a world if it does not stand alone, and so is a snapshot: a value with resources of
//! several types, of which another such value has one, too. All other values complete each other. A
//! world that is not the first is named by the number of its value. The documents of a YAML file
//! are one world, whatever they hold.

use std::collections::BTreeMap;

use super::raw::WorldId;
use super::walker::Walker;
use super::wrapper::{WrapperContents, held};

/// Which of the values of a text are worlds, as far as it has been read.
pub(super) struct Values {
    /// The values may be worlds.
    is_open: bool,
    /// How many have begun.
    count: usize,
    /// Where the first one starts.
    first: usize,
    /// Which of them are worlds, once there is a second one.
    apart: Vec<bool>,
    /// The world of the others, while one by itself is read.
    others: Option<Option<WorldId>>,
}

impl Values {
    pub(super) const fn of(walker: &Walker<'_, '_>) -> Values {
        Values {
            is_open: walker.world.is_none() && !walker.has_bare_strings(),
            count: 0,
            first: 0,
            apart: Vec::new(),
            others: None,
        }
    }

    /// The next value starts at the scanner.
    pub(super) fn begin(&mut self, walker: &mut Walker<'_, '_>) {
        self.count += 1;
        if !self.is_open {
            return;
        }
        if self.count == 1 {
            self.first = walker.pos();
            return;
        }
        let is_apart = |apart: &[bool], number: usize| apart.get(number).copied().unwrap_or_default();
        if self.count == 2 {
            let here = walker.pos();
            walker.tc.scan.set_pos(self.first);
            self.apart = apart(walker);
            walker.tc.scan.set_pos(here);
            if is_apart(&self.apart, 0) {
                walker.loader.dumps.extend(walker.world.take());
            }
        }
        if self.apart.contains(&true) {
            walker.wrappers.push(format!("{}#{}", walker.name, self.count));
        }
        if is_apart(&self.apart, self.count - 1) {
            self.others = Some(walker.world.take());
        }
    }

    /// The value has been read.
    pub(super) fn end(&mut self, walker: &mut Walker<'_, '_>) {
        walker.wrappers.clear();
        if let Some(others) = self.others.take() {
            walker.loader.dumps.extend(walker.world);
            walker.world = others;
        }
    }
}

/// Looks at each value from the scanner on, up to one that breaks off, and says which are worlds.
fn apart(walker: &mut Walker<'_, '_>) -> Vec<bool> {
    let mut values: Vec<WrapperContents> = Vec::new();
    while !walker.tc.scan.at_end() {
        let (held, passed) = held(walker);
        values.push(held);
        if passed.is_err() {
            break;
        }
    }
    let mut snapshots = BTreeMap::new();
    for resource_type in values
        .iter()
        .filter(|held| held.is_snapshot())
        .flat_map(|held| &held.types)
    {
        *snapshots.entry(*resource_type).or_insert(0) += 1;
    }
    let is_again = |held: &WrapperContents| {
        held.types
            .iter()
            .any(|of| snapshots.get(of).is_some_and(|count| *count > 1))
    };
    let is_apart = |held: &WrapperContents| held.is_dump || held.is_snapshot() && is_again(held);
    values.iter().map(is_apart).collect()
}
