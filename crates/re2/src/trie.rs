//! The number of instructions that RE2's compiler spends on a class of characters.
//!
//! A class compiles into a trie of byte ranges: each range of code points is cut into sequences of
//! UTF-8 byte ranges, sequences share their beginnings, and continuation bytes that are ranges
//! share their ends through a cache. To share a beginning with a cached byte, RE2 clones that byte
//! first and then gives back the byte that is no longer needed. So the count has a peak above its
//! end (RE2, `AddRuneRangeUTF8`).

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::sync::LazyLock;

use super::ranges::{self, RUNE_MAX, Range};

/// The number of sequences for which room is reserved: Unicode's letters have a thousand.
const USUAL_SEQUENCES: usize = 1024;

/// The number of instructions of the finished trie, and the most while it was built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) end: u64,
    pub(super) peak: u64,
}

/// Counts the instructions of a class that is neither empty nor full.
pub(super) fn class_size(ranges: &[Range]) -> Size {
    let has = |rune| ranges::contains(ranges, rune);
    // If all letters are there in both cases, RE2 leaves the capitals out and lets the small
    // letters match either case.
    let folds = (0x41..=0x5A).all(|upper| has(upper) == has(upper + 0x20));
    let mut trie = Trie {
        instructions: vec![Instruction::Alt { second: 0 }],
        cache: HashMap::with_capacity_and_hasher(ranges.len().min(USUAL_SEQUENCES), Quick),
        root: 0,
        peak: 0,
    };
    for &(low, high) in ranges {
        if folds && 0x41 <= low && high <= 0x5A {
            continue;
        }
        let all_or_none = (low <= 0x41 && 0x7A <= high) || high < 0x41 || 0x7A < low || (0x5A < low && high < 0x61);
        trie.add(low, high, folds && !all_or_none);
    }
    Size {
        end: trie.instructions.len() as u64 - 1,
        peak: trie.peak as u64,
    }
}

/// A byte range, whether it folds, and the instruction that follows; 0 is the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Bytes {
    low: u8,
    high: u8,
    folds: bool,
    next: usize,
}

impl Bytes {
    fn same_input(self, other: Self) -> bool {
        (self.low, self.high, self.folds) == (other.low, other.high, other.folds)
    }
}

impl Hash for Bytes {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let small = u64::from(self.low) | u64::from(self.high) << 8 | u64::from(self.folds) << 16;
        state.write_u64(small | (self.next as u64) << 17);
    }
}

/// Builds [`Quick64`] hashers. A Unicode class makes thousands of lookups, for which the standard
/// hash would take most of the time.
#[derive(Debug, Clone, Copy)]
struct Quick;

/// A hash of one multiplication. It starts from a value that differs in each process, so that no
/// pattern can be written to collide.
#[derive(Debug, Clone, Copy)]
struct Quick64(u64);

static START: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(0));

impl BuildHasher for Quick {
    type Hasher = Quick64;

    fn build_hasher(&self) -> Quick64 {
        Quick64(*START)
    }
}

impl Hasher for Quick64 {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        // Uses both halves of the product: the table takes an entry's place from the low bits and
        // its tag from the high ones.
        let product = u128::from(self.0 ^ number) * 0x9e37_79b9_7f4a_7c15;
        let [low, high] = [product & u128::from(u64::MAX), product >> 64].map(|half| u64::try_from(half).unwrap_or(0));
        self.0 = low ^ high;
    }
}

#[derive(Debug, Clone, Copy)]
enum Instruction {
    /// Two branches. Only the second can be shared, so the first need not be known.
    Alt {
        second: usize,
    },
    Bytes(Bytes),
}

struct Trie {
    /// The instructions. The first entry stands for the end.
    instructions: Vec<Instruction>,
    /// The shared instructions; only looked up, never iterated.
    cache: HashMap<Bytes, usize, Quick>,
    root: usize,
    peak: usize,
}

impl Trie {
    fn allocate(&mut self, instruction: Instruction) -> usize {
        self.instructions.push(instruction);
        self.peak = self.peak.max(self.instructions.len() - 1);
        self.instructions.len() - 1
    }

    fn bytes(&mut self, low: u8, high: u8, folds: bool, next: usize) -> usize {
        self.allocate(Instruction::Bytes(Bytes { low, high, folds, next }))
    }

    /// Adds the sequences for a range of code points. Each step halves the work left, so the
    /// recursion is at most a dozen levels deep.
    fn add(&mut self, low: u32, high: u32, folds: bool) {
        if low > high {
            return;
        }
        if (low, high) == (0x80, RUNE_MAX) {
            return self.add_all_but_ascii();
        }
        for last in [0x7F, 0x7FF, 0xFFFF] {
            if low <= last && last < high {
                self.add(low, last, folds);
                return self.add(last + 1, high, folds);
            }
        }
        if high <= 0x7F {
            let id = self.bytes(low.to_le_bytes()[0], high.to_le_bytes()[0], folds, 0);
            return self.add_sequence(id);
        }
        for mask in [0x3F, 0xFFF, 0x3_FFFF] {
            if low & !mask != high & !mask {
                if low & mask != 0 {
                    self.add(low, low | mask, folds);
                    return self.add((low | mask) + 1, high, folds);
                }
                if high & mask != mask {
                    self.add(low, (high & !mask) - 1, folds);
                    return self.add(high & !mask, high, folds);
                }
            }
        }
        let (first, count) = encode(low);
        let (last, _) = encode(high);
        let mut id = 0;
        for (place, (&from, &to)) in first.iter().zip(&last).enumerate().take(count).rev() {
            // A leading byte may become a shared beginning; the last byte never does.
            if place == count - 1 || (from < to && place != 0) {
                let key = Bytes {
                    low: from,
                    high: to,
                    folds: false,
                    next: id,
                };
                id = match self.cache.get(&key) {
                    Some(&known) => known,
                    None => {
                        let new = self.allocate(Instruction::Bytes(key));
                        self.cache.insert(key, new);
                        new
                    }
                };
            } else {
                id = self.bytes(from, to, false, id);
            }
        }
        self.add_sequence(id);
    }

    /// Adds everything above ASCII in a short form, which accepts overlong encodings.
    fn add_all_but_ascii(&mut self) {
        let mut next = 0;
        for (low, high) in [(0xC2, 0xDF), (0xE0, 0xEF), (0xF0, 0xF4)] {
            next = self.bytes(0x80, 0xBF, false, next);
            let id = self.bytes(low, high, false, next);
            self.add_sequence(id);
        }
    }

    fn add_sequence(&mut self, id: usize) {
        self.root = if self.root == 0 { id } else { self.merge(self.root, id) };
    }

    /// Inserts the sequence at `id` into the trie at `root` and returns the new root. The recursion
    /// is at most four levels deep.
    fn merge(&mut self, root: usize, id: usize) -> usize {
        let Some(&Instruction::Bytes(new)) = self.instructions.get(id) else {
            return root;
        };
        let found = match self.instructions.get(root) {
            Some(&Instruction::Bytes(bytes)) => Some((None, root, bytes)),
            // The ranges come sorted, so only the latest branch can begin the same way.
            Some(&Instruction::Alt { second }) => match self.instructions.get(second) {
                Some(&Instruction::Bytes(bytes)) => Some((Some(root), second, bytes)),
                _ => None,
            },
            None => None,
        };
        let Some((alt, mut place, bytes)) = found.filter(|(_, _, bytes)| bytes.same_input(new)) else {
            return self.allocate(Instruction::Alt { second: id });
        };
        let mut root = root;
        if self.cache.contains_key(&bytes) {
            place = self.allocate(Instruction::Bytes(bytes));
            match alt.and_then(|alt| self.instructions.get_mut(alt)) {
                Some(Instruction::Alt { second }) => *second = place,
                _ => root = place,
            }
        }
        if !self.cache.contains_key(&new) {
            self.instructions.pop();
        }
        let below = self.merge(bytes.next, new.next);
        if let Some(Instruction::Bytes(bytes)) = self.instructions.get_mut(place) {
            bytes.next = below;
        }
        root
    }
}

/// Returns the code point's bytes in UTF-8 (surrogates too, as RE2 encodes them), and their number.
fn encode(rune: u32) -> ([u8; 4], usize) {
    let low_byte = |value: u32| value.to_le_bytes()[0];
    let tail = |shift: u32| 0x80 | (low_byte(rune >> shift) & 0x3F);
    match rune {
        0..=0x7F => ([low_byte(rune), 0, 0, 0], 1),
        0x80..=0x7FF => ([0xC0 | low_byte(rune >> 6), tail(0), 0, 0], 2),
        0x800..=0xFFFF => ([0xE0 | low_byte(rune >> 12), tail(6), tail(0), 0], 3),
        _ => ([0xF0 | low_byte(rune >> 18), tail(12), tail(6), tail(0)], 4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_reference() {
        let size = |ranges: &[Range]| class_size(ranges).end;
        assert_eq!(size(&[(0x61, 0x63)]), 1);
        // `[A-Za-z]`: the capitals are left out, the rest folds.
        assert_eq!(size(&[(0x41, 0x5A), (0x61, 0x7A)]), 1);
        // There are two ranges below 0x80, and above it six bytes and four branches.
        assert_eq!(size(&[(0, 9), (0x0B, RUNE_MAX)]), 12);
        // `\W`.
        assert_eq!(
            size(&[(0, 0x2F), (0x3A, 0x40), (0x5B, 0x5E), (0x60, 0x60), (0x7B, RUNE_MAX)]),
            18
        );
    }

    #[test]
    fn a_shared_beginning_gives_an_instruction_back() {
        // 3042 and 3044 share E3 81; the second sequence is built whole before its head is dropped.
        let size = class_size(&[(0x3042, 0x3042), (0x3044, 0x3044)]);
        assert_eq!(size, Size { end: 5, peak: 6 });
    }

    #[test]
    fn encoding_is_utf8() {
        for c in [
            '\0',
            '\u{7F}',
            '\u{80}',
            '\u{7FF}',
            '\u{800}',
            '\u{FFFF}',
            '\u{10000}',
            '\u{10FFFF}',
        ] {
            let (bytes, count) = encode(c.into());
            assert_eq!(&bytes[..count], c.to_string().as_bytes());
        }
    }
}
