//! How a finding is recognised from one run to the next: in a baseline, and in code scanning.
//!
//! A fingerprint is made from things that an edit elsewhere does not change: the document, the
//! resource, the rule, the fields of the path without their positions in lists, and the values that
//! the message quotes. It contains no lines, no columns and none of a message's other words. Equal
//! findings of a document are numbered in the order of the report, so that one more of them is a
//! new finding.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hasher as _;

use twox_hash::XxHash64;

use super::{FieldPath, Rule, Seg};

/// The seed of the hash. A change of the seed, or of what is hashed, changes every fingerprint.
const SEED: u64 = 1;

/// The document and the resource that a finding is about.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    /// The name of the document, in a form that does not depend on where the command runs.
    pub file: &'a str,
    /// The type of the resource; empty for a finding on the document.
    pub type_name: &'a str,
    /// The name of the resource; empty if it has none.
    pub name: &'a str,
}

/// The fingerprint of a finding: 16 hexadecimal digits as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint(u64);

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl std::str::FromStr for Fingerprint {
    type Err = std::num::ParseIntError;

    /// Reads a fingerprint in its text form.
    ///
    /// # Errors
    /// The text is not a hexadecimal number of 64 bits.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        u64::from_str_radix(text, 16).map(Fingerprint)
    }
}

/// Gives out the fingerprints of a report, finding after finding.
///
/// ```
/// use xdsctl_model::diag::{About, FieldPath, Fingerprints};
/// # use xdsctl_model::diag::{Effect, Rule, Severity, SharedBy, Subject};
/// # let rule = &Rule {
/// #     id: "rds-cluster-missing", summary: "", subject: Subject::Snapshot, effect: Effect::Fails,
/// #     severity: Severity::Error, source: "", page: "", shared: SharedBy { families: &[], why: "" },
/// # };
/// let about = About { file: "a.yaml", type_name: "RouteConfiguration", name: "shop" };
/// let mut first = Fingerprints::default();
/// let mut second = Fingerprints::default();
/// let path = FieldPath::default();
/// let known = first.next(about, rule, &path, "Cluster `cart` is not there");
/// assert_eq!(known, second.next(about, rule, &path, "no Cluster `cart` in this world"));
/// assert_ne!(known, first.next(about, rule, &path, "Cluster `cart` is not there"), "a second one is a new one");
/// ```
#[derive(Debug, Clone, Default)]
pub struct Fingerprints {
    /// How many equal findings there were so far, by hash; never iterated.
    seen: HashMap<u64, u64>,
}

impl Fingerprints {
    /// Returns the fingerprint of the next finding. The parts of `message` in backticks count as
    /// its values.
    pub fn next(&mut self, about: About<'_>, rule: &Rule, path: &FieldPath, message: &str) -> Fingerprint {
        let mut hash = XxHash64::with_seed(SEED);
        for text in [about.file, about.type_name, about.name, rule.id] {
            put(&mut hash, text);
        }
        for step in path.segs() {
            match step {
                Seg::Index(_) => put(&mut hash, "[]"),
                Seg::Field(text) | Seg::Key(text) | Seg::JsonKey(text) | Seg::Quoted(text) => put(&mut hash, text),
                Seg::Value { wrapper, type_name } => {
                    put(&mut hash, wrapper.unwrap_or_default());
                    put(&mut hash, type_name);
                }
            }
        }
        for value in message.split('`').skip(1).step_by(2) {
            put_value(&mut hash, value);
        }
        self.numbered(hash)
    }

    /// Returns the fingerprint of the next item that these texts describe.
    pub fn next_of(&mut self, texts: &[&str]) -> Fingerprint {
        let mut hash = XxHash64::with_seed(SEED);
        texts.iter().for_each(|text| put(&mut hash, text));
        self.numbered(hash)
    }

    fn numbered(&mut self, mut hash: XxHash64) -> Fingerprint {
        let key = hash.finish();
        let number = self.seen.entry(key).or_default();
        hash.write_u64(number.to_le());
        *number += 1;
        Fingerprint(hash.finish())
    }
}

/// Adds a text and a byte that ends it.
fn put(hash: &mut XxHash64, text: &str) {
    hash.write(text.as_bytes());
    hash.write(&[0xff]);
}

/// Adds a quoted value, without the positions in a quoted path (`routes[2]`).
fn put_value(hash: &mut XxHash64, value: &str) {
    let mut rest = value;
    while let Some((before, after)) = rest.split_once('[') {
        hash.write(before.as_bytes());
        hash.write(b"[");
        rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    put(hash, rest);
}

#[cfg(test)]
mod tests {
    use super::super::Path;
    use super::super::rule::examples::IGNORED;
    use super::*;

    const ABOUT: About<'_> = About {
        file: "f",
        type_name: "Cluster",
        name: "c",
    };

    fn at(index: usize) -> FieldPath {
        Path::ROOT.field("routes").index(index).field("route").to_owned()
    }

    #[test]
    fn positions_in_lists_and_words_do_not_count() {
        let first = Fingerprints::default().next(ABOUT, &IGNORED, &at(1), "is hidden by `routes[0]`");
        assert_eq!(
            first,
            Fingerprints::default().next(ABOUT, &IGNORED, &at(7), "`routes[12]` hides it")
        );
    }

    #[test]
    fn file_resource_field_and_value_count() {
        let of = |about, path: &FieldPath, message: &str| Fingerprints::default().next(about, &IGNORED, path, message);
        let own = of(ABOUT, &at(0), "no `x`");
        let others = [
            of(About { file: "g", ..ABOUT }, &at(0), "no `x`"),
            of(About { name: "d", ..ABOUT }, &at(0), "no `x`"),
            of(ABOUT, &FieldPath::default(), "no `x`"),
            of(ABOUT, &at(0), "no `y`"),
        ];
        assert!(!others.contains(&own));
    }

    #[test]
    fn a_fingerprint_is_read_as_it_is_written() {
        let own = Fingerprints::default().next(ABOUT, &IGNORED, &at(0), "");
        assert_eq!(own.to_string().len(), 16);
        assert_eq!(own.to_string().parse(), Ok(own));
    }
}
