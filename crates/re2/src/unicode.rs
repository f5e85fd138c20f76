//! Unicode 14: the general categories, the scripts and the simple case folding that RE2 knows.
//!
//! gRPC C-core 1.85.1 contains an RE2 of 2022 whose tables stop at Unicode 14. Newer tables name
//! scripts that it rejects (`Kawi`), and have letters that it does not count as letters.
//! `unicode.bin` packs the groups as: name length, name, data length (u16, little endian), then for
//! each range the gap since the previous one and its length less one, as LEB128 numbers; a zero
//! ends the list. The case folds follow as gap, length less one, and the zigzag distance to the
//! next member of the cycle, where a distance of 1 pairs even code points with the odd ones above,
//! and -1 odd with even.

use std::sync::LazyLock;

use super::ranges::{RUNE_MAX, Range};

static DATA: &[u8] = include_bytes!("unicode.bin");

/// The categories whose members may occur in the name of a group.
const NAME_CATEGORIES: [&str; 10] = ["Lu", "Ll", "Lt", "Lm", "Lo", "Nl", "Mn", "Mc", "Nd", "Pc"];

/// A named set of code points: a category, a script, or `Any`.
#[derive(Debug, Clone, Copy)]
pub(super) enum Group {
    /// Every code point.
    Any,
    /// The packed ranges of a script or a two-letter category.
    Packed(&'static [u8]),
    /// The union of the two-letter categories that begin with this letter.
    Letter(u8),
}

/// A key that differs for different groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct GroupKey(u8, usize, usize);

impl Group {
    /// Finds a group by its exact name.
    pub(super) fn find(name: &str) -> Option<Self> {
        if name == "Any" {
            return Some(Self::Any);
        }
        if let [letter @ (b'C' | b'L' | b'M' | b'N' | b'P' | b'S' | b'Z')] = name.as_bytes() {
            return Some(Self::Letter(*letter));
        }
        Entries { rest: DATA }
            .find(|entry| entry.0 == name.as_bytes())
            .map(|entry| Self::Packed(entry.1))
    }

    /// Returns a key that differs for different groups.
    pub(super) fn key(self) -> GroupKey {
        match self {
            Self::Any => GroupKey(0, 0, 0),
            Self::Packed(data) => GroupKey(1, data.as_ptr().addr(), data.len()),
            Self::Letter(letter) => GroupKey(2, letter.into(), 0),
        }
    }

    /// Adds the members to `out`, in no particular order.
    pub(super) fn extend(self, out: &mut Vec<Range>) {
        match self {
            Self::Any => out.push((0, RUNE_MAX)),
            Self::Packed(data) => out.extend(Unpacked { rest: data, next: 0 }),
            Self::Letter(letter) => {
                // `Yi` is the only script with a name of two letters, and Y is not a category.
                let entries =
                    Entries { rest: DATA }.filter(|(name, _)| name.len() == 2 && name.first() == Some(&letter));
                for (_, data) in entries {
                    out.extend(Unpacked { rest: data, next: 0 });
                }
            }
        }
    }
}

/// Says whether the character may occur in the name of a group (RE2, `IsValidCaptureName`).
pub(super) fn is_name_char(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_';
    }
    let rune = u32::from(c);
    Entries { rest: DATA }
        .filter(|(name, _)| NAME_CATEGORIES.iter().any(|category| category.as_bytes() == *name))
        .any(|(_, data)| Unpacked { rest: data, next: 0 }.any(|(low, high)| (low..=high).contains(&rune)))
}

/// Returns the next member of the code point's case-folding cycle; the code point itself if it has
/// no other case.
pub(super) fn next_fold(rune: u32) -> u32 {
    let after = FOLDS.partition_point(|fold| fold.low <= rune);
    match after.checked_sub(1).and_then(|i| FOLDS.get(i)) {
        Some(fold) if rune <= fold.high => fold.apply(rune),
        _ => rune,
    }
}

/// Adds what the members of `range` fold to, one step along their cycles.
pub(super) fn fold_images((low, high): Range, out: &mut Vec<Range>) {
    let first = FOLDS.partition_point(|fold| fold.high < low);
    for fold in FOLDS.iter().skip(first).take_while(|fold| fold.low <= high) {
        let (from, to) = (low.max(fold.low), high.min(fold.high));
        match fold.delta {
            // The pairs are whole within the entry, so widening the range to pairs stays inside it.
            1 => out.push((from & !1, to | 1)),
            -1 => out.push(((from - 1) | 1, (to + 1) & !1)),
            delta => out.push((from.saturating_add_signed(delta), to.saturating_add_signed(delta))),
        }
    }
}

struct Fold {
    low: u32,
    high: u32,
    delta: i32,
}

impl Fold {
    fn apply(&self, rune: u32) -> u32 {
        match self.delta {
            1 => rune ^ 1,
            -1 => ((rune - 1) ^ 1) + 1,
            delta => rune.saturating_add_signed(delta),
        }
    }
}

static FOLDS: LazyLock<Vec<Fold>> = LazyLock::new(|| {
    let mut entries = Entries { rest: DATA };
    entries.by_ref().for_each(drop);
    let mut rest = entries.rest.get(1..).unwrap_or_default();
    let mut folds = Vec::with_capacity(400);
    let mut next = 0;
    while let (Some(gap), Some(length), Some(zigzag)) = (varint(&mut rest), varint(&mut rest), varint(&mut rest)) {
        let low = next + gap;
        let magnitude = i32::try_from(zigzag.div_ceil(2)).unwrap_or_default();
        let delta = if zigzag % 2 == 0 { magnitude } else { -magnitude };
        folds.push(Fold {
            low,
            high: low + length,
            delta,
        });
        next = low + length + 1;
    }
    folds
});

/// Iterates over (name, packed ranges).
struct Entries {
    rest: &'static [u8],
}

impl Iterator for Entries {
    type Item = (&'static [u8], &'static [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (&length, rest) = self.rest.split_first().filter(|(length, _)| **length != 0)?;
        let (name, rest) = rest.split_at_checked(usize::from(length))?;
        let (size, rest) = rest.split_first_chunk::<2>()?;
        let (data, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes(*size)))?;
        self.rest = rest;
        Some((name, data))
    }
}

/// Iterates over the ranges of one group, in ascending order.
struct Unpacked {
    rest: &'static [u8],
    next: u32,
}

impl Iterator for Unpacked {
    type Item = Range;

    fn next(&mut self) -> Option<Range> {
        let low = self.next + varint(&mut self.rest)?;
        let high = low + varint(&mut self.rest)?;
        self.next = high + 1;
        Some((low, high))
    }
}

fn varint(rest: &mut &'static [u8]) -> Option<u32> {
    let mut value = 0;
    let mut shift = 0;
    loop {
        let (&byte, after) = rest.split_first()?;
        *rest = after;
        value |= u32::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Some(value);
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use super::super::ranges::{complement, normalize};
    use super::*;

    fn members(group: Group) -> Vec<Range> {
        let mut members = Vec::new();
        group.extend(&mut members);
        normalize(&mut members);
        members
    }

    /// Returns the group as a newer Unicode has it, less everything assigned after version 14.
    fn independent(name: &str) -> Vec<Range> {
        let pattern = format!(r"[\p{{{name}}}&&\p{{age:14.0}}]");
        let hir = regex_syntax::parse(&pattern).unwrap();
        match hir.kind() {
            regex_syntax::hir::HirKind::Class(regex_syntax::hir::Class::Unicode(class)) => class
                .iter()
                .map(|range| (u32::from(range.start()), u32::from(range.end())))
                .collect(),
            // A single member becomes a literal.
            regex_syntax::hir::HirKind::Literal(literal) => {
                let text = std::str::from_utf8(&literal.0).unwrap();
                text.chars().map(|c| (u32::from(c), u32::from(c))).collect()
            }
            other => panic!("{name}: {other:?}"),
        }
    }

    fn each(set: &[Range]) -> std::collections::BTreeSet<u32> {
        set.iter().flat_map(|&(low, high)| low..=high).collect()
    }

    #[test]
    fn groups_are_those_of_unicode_14() {
        let mut changed = std::collections::BTreeSet::new();
        for (name, data) in (Entries { rest: DATA }) {
            let name = std::str::from_utf8(name).unwrap();
            // Surrogates are not characters, so the other table has none.
            if name != "Cs" {
                let (ours, newer) = (each(&members(Group::Packed(data))), each(&independent(name)));
                changed.extend(ours.symmetric_difference(&newer).map(|rune| (name.to_owned(), *rune)));
            }
        }
        let changed: Vec<(&str, u32)> = changed.iter().map(|(name, rune)| (name.as_str(), *rune)).collect();
        assert_eq!(changed, RECLASSIFIED);
    }

    /// The Ahom consonant sign, which Unicode 16 has turned into a nonspacing mark.
    const RECLASSIFIED: [(&str, u32); 2] = [("Mc", 0x1171E), ("Mn", 0x1171E)];

    #[test]
    fn a_category_letter_is_the_union_of_its_categories() {
        let separators = [
            (0x20, 0x20),
            (0xA0, 0xA0),
            (0x1680, 0x1680),
            (0x2000, 0x200A),
            (0x2028, 0x2029),
        ];
        let rest = [(0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000)];
        let group = Group::find("Z").unwrap();
        assert_eq!(members(group), [&separators[..], &rest[..]].concat());
    }

    #[test]
    fn only_exact_names_of_unicode_14_are_known() {
        for name in ["Any", "L", "Lu", "Greek", "Yi", "Vithkuqi", "Cs", "Co"] {
            assert!(Group::find(name).is_some(), "{name}");
        }
        for name in ["", "Y", "Cn", "LC", "Kawi", "Letter", "greek", "Grek", "Unknown", "any"] {
            assert!(Group::find(name).is_none(), "{name}");
        }
        assert_eq!(complement(&members(Group::find("Any").unwrap())), []);
    }

    #[test]
    fn a_fold_cycle_comes_back_to_its_beginning() {
        let cycle = |first: u32| -> Vec<u32> {
            let rest = std::iter::successors(Some(next_fold(first)), |rune| Some(next_fold(*rune)));
            std::iter::once(first)
                .chain(rest.take_while(|rune| *rune != first))
                .collect()
        };
        assert_eq!(cycle(0x4B), [0x4B, 0x6B, 0x212A]);
        assert_eq!(cycle(0x53), [0x53, 0x73, 0x17F]);
        assert_eq!(cycle(0x31), [0x31]);
        assert_eq!(cycle(0x1C5), [0x1C5, 0x1C6, 0x1C4]);
        assert_eq!(cycle(0x100), [0x100, 0x101]);
        assert_eq!(cycle(0x139), [0x139, 0x13A]);
        assert!((0..=RUNE_MAX).all(|rune| cycle(rune).len() <= 4));
    }

    #[test]
    fn folding_is_that_of_unicode_14() {
        // Letters whose other case was added after Unicode 14 do not fold here.
        for rune in (0..=RUNE_MAX).filter_map(char::from_u32) {
            let mut ours = Vec::new();
            fold_images((rune.into(), rune.into()), &mut ours);
            let has_fold = next_fold(rune.into()) != u32::from(rune);
            assert_eq!(!ours.is_empty(), has_fold, "{rune:?}");
        }
        assert_eq!(next_fold(0xA7CB), 0xA7CB);
        assert_eq!(next_fold(0x264), 0x264);
    }
}
