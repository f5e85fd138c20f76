//! What a finding is known by from one run to the next: a baseline's entries, the fingerprints of
//! code scanning.
//!
//! A fingerprint is made of what an edit elsewhere leaves alone: the document, the resource, the
//! rule, the fields of the path without their positions in lists, and the values that the message
//! quotes. Lines, columns and the wording of messages are not in it. Equal findings of a document
//! are numbered in the order of the report, so that one more of them is a new one.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hasher as _;

use twox_hash::XxHash64;

use super::{FieldPath, Rule, Seg};

/// Seed of the hash. Another one makes every fingerprint a new one, as does any change of what is
/// hashed.
const SEED: u64 = 1;

/// What a finding is about.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    /// Name of the document, in a form that does not depend on where the command runs.
    pub file: &'a str,
    /// Type of the resource; empty for a finding on the document.
    pub type_name: &'a str,
    /// Name of the resource; empty if it has none.
    pub name: &'a str,
}

/// What a finding is known by; 16 hexadecimal digits as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint(u64);

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl std::str::FromStr for Fingerprint {
    type Err = std::num::ParseIntError;

    /// # Errors
    /// Not a hexadecimal number of 64 bits.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        u64::from_str_radix(text, 16).map(Fingerprint)
    }
}

/// Hands out the fingerprints of a report, finding after finding.
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
    /// How many equal ones there were; never iterated.
    seen: HashMap<u64, u64>,
}

impl Fingerprints {
    /// The fingerprint of the next finding. What `message` has in backticks counts as its values.
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

    /// The fingerprint of the next of what these texts say it is.
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

/// Adds a text and its end.
fn put(hash: &mut XxHash64, text: &str) {
    hash.write(text.as_bytes());
    hash.write(&[0xff]);
}

/// Adds a quoted value; the positions in a path that is quoted (`routes[2]`) are left out.
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
