//! A cache of large character classes: a dump has the same `\pL` in thousands of patterns.
//!
//! Parsing a class takes microseconds, and counting its instructions takes tens of them. Both
//! results are cached by the class's text.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use super::error::RegexError;
use super::ranges::{self, Range};
use super::trie::{Size, class_size};
use super::unicode::{Group, GroupKey};

/// The most classes that a thread remembers.
const MAX_CLASSES: usize = 64;

/// The longest text of a class that is remembered, in bytes.
const MAX_TEXT_BYTES: usize = 64;

/// The fewest ranges of a class that is remembered: a smaller class is parsed as fast as it is
/// looked up.
const FEWEST_RANGES: usize = 16;

/// A set of code points.
#[derive(Debug)]
pub(super) struct Class {
    pub(super) ranges: Vec<Range>,
    size: OnceCell<Size>,
}

impl Class {
    pub(super) fn new(ranges: Vec<Range>) -> Class {
        let size = OnceCell::new();
        Class { ranges, size }
    }

    /// Returns the number of instructions of a class that is neither empty nor full.
    pub(super) fn size(&self) -> Size {
        *self.size.get_or_init(|| class_size(&self.ranges))
    }
}

/// Classes by their text: the class as written, and the class with both cases of each letter.
type Known = HashMap<Box<str>, [Option<Rc<Class>>; 2]>;

/// The ranges of groups, as they are (`false`) and with both cases of each letter (`true`).
type GroupRanges = HashMap<(GroupKey, bool), Rc<[Range]>>;

thread_local! {
    /// Only looked up, never iterated.
    static KNOWN: RefCell<Known> = RefCell::default();
    /// At most a few hundred entries. Only looked up, never iterated.
    static GROUPS: RefCell<GroupRanges> = RefCell::default();
}

/// Returns the members of a group as they are, or with both cases of each letter.
pub(super) fn group(group: Group, folds: bool) -> Rc<[Range]> {
    let build = || {
        let mut members = Vec::new();
        group.extend(&mut members);
        ranges::normalize(&mut members);
        if folds {
            ranges::close_under_folding(&mut members);
        }
        members.into()
    };
    let key = (group.key(), folds);
    GROUPS.with_borrow_mut(|groups| Rc::clone(groups.entry(key).or_insert_with(build)))
}

/// Returns the class of a text. `build` parses it, unless this thread has done so recently.
pub(super) fn class(
    text: &str,
    folds: bool,
    build: impl FnOnce() -> Result<Vec<Range>, RegexError>,
) -> Result<Rc<Class>, RegexError> {
    let place = usize::from(folds);
    let found = KNOWN.with_borrow(|known| known.get(text).and_then(|both| both.get(place)?.clone()));
    if let Some(class) = found {
        return Ok(class);
    }
    let class = Rc::new(Class::new(build()?));
    if text.len() <= MAX_TEXT_BYTES && class.ranges.len() >= FEWEST_RANGES {
        KNOWN.with_borrow_mut(|known| {
            if known.len() >= MAX_CLASSES {
                known.clear();
            }
            if let Some(slot) = known.entry(text.into()).or_default().get_mut(place) {
                *slot = Some(Rc::clone(&class));
            }
        });
    }
    Ok(class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_class_is_read_once_for_each_way_of_its_case() {
        let ranges = |first: u32| Ok((0..40).map(|i| (first + 3 * i, first + 3 * i)).collect());
        let plain = class("[large]", false, || ranges(0x100)).unwrap();
        let again = class("[large]", false, || panic!("read again")).unwrap();
        assert!(Rc::ptr_eq(&plain, &again));
        let folded = class("[large]", true, || ranges(0x200)).unwrap();
        assert_ne!(plain.ranges, folded.ranges);
        assert_eq!(plain.size(), class_size(&plain.ranges));
    }

    #[test]
    fn many_classes_are_not_all_remembered() {
        for number in 0..10 * MAX_CLASSES {
            let ranges = (0..20).map(|i| (0x100 + 3 * i, 0x100 + 3 * i)).collect();
            class(&format!("[many{number}]"), false, || Ok(ranges)).unwrap();
        }
        assert!(KNOWN.with_borrow(HashMap::len) <= MAX_CLASSES);
    }
}
