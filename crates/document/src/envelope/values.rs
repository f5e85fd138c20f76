//! Decides which values of one JSON text, such as the lines of a file, are worlds of their own.
//!
//! In a text with several values, each dump is a world. So is each snapshot (a value with resources
//! of several types) if another snapshot shares a type with it. All other values together are one
//! world. A world that is not the first is named by the number of its value. The documents of a
//! YAML file are always one world.

use std::collections::BTreeMap;

use super::raw::WorldId;
use super::walker::Walker;
use super::wrapper::{WrapperContents, held};

/// Which of the values of a text are worlds, as far as the text has been read.
pub(super) struct Values {
    /// Whether values of this text may be worlds of their own.
    is_open: bool,
    /// How many values have begun.
    count: usize,
    /// The offset at which the first value starts.
    first: usize,
    /// For each value, whether it is a world of its own. Set when the second value begins.
    apart: Vec<bool>,
    /// The world of the other values, while a value that is a world of its own is read.
    others: Option<Option<WorldId>>,
}

impl Values {
    pub(super) const fn of(walker: &Walker<'_, '_>) -> Values {
        Values {
            is_open: walker.world.is_none() && !walker.options.transcode.bare_strings,
            count: 0,
            first: 0,
            apart: Vec::new(),
            others: None,
        }
    }

    /// Notes that the next value starts at the scanner.
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

    /// Notes that the value has been read.
    pub(super) fn end(&mut self, walker: &mut Walker<'_, '_>) {
        walker.wrappers.clear();
        if let Some(others) = self.others.take() {
            walker.loader.dumps.extend(walker.world);
            walker.world = others;
        }
    }
}

/// Looks at each value from the scanner on, until one is cut off. Returns for each whether it is a
/// world of its own.
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
