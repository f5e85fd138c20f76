//! Many findings of one resource in little memory.
//!
//! A dump of a proxy has a quarter of a million fields that gRPC never reads, in a few patterns. Neighbours share most of
//! their path, and few words differ; so a path is kept as what differs from the one before, and each pair of rule and
//! message once. About twenty bytes a finding, where a [`Diagnostic`] takes two hundred.

use super::{Diagnostic, FieldPath, Rule, Segs};

/// Messages that are looked through for an equal one; more are just added.
const COMPARED: usize = 64;

/// Findings with a rule, a path and a message, in the order in which they were added.
#[derive(Debug, Default)]
pub struct Packed {
    /// For each finding: bytes shared with the path before, bytes of its own, these bytes, position in `texts`.
    bytes: Vec<u8>,
    texts: Vec<(&'static Rule, Box<str>)>,
    /// The last path.
    last: Vec<u8>,
    len: usize,
}

impl Packed {
    /// Takes out of `diagnostics` what `wanted` says and can be packed: findings without help and related places.
    pub fn take(diagnostics: &mut Vec<Diagnostic>, wanted: impl Fn(&Diagnostic) -> bool) -> Packed {
        let mut packed = Packed::default();
        diagnostics.retain(|diagnostic| {
            let take = diagnostic.help.is_none() && diagnostic.related.is_empty() && wanted(diagnostic);
            if take {
                packed.push(diagnostic.rule, &diagnostic.path, &diagnostic.message);
            }
            !take
        });
        diagnostics.shrink_to_fit();
        packed.bytes.shrink_to_fit();
        packed.texts.shrink_to_fit();
        packed.last = Vec::new();
        packed
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Says whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn push(&mut self, rule: &'static Rule, path: &FieldPath, message: &str) {
        let path = path.packed();
        let shared = path.iter().zip(&self.last).take_while(|(a, b)| a == b).count();
        let own = path.get(shared..).unwrap_or_default();
        self.number(shared);
        self.number(own.len());
        self.bytes.extend_from_slice(own);
        let is_equal = |(r, m): &(&'static Rule, Box<str>)| std::ptr::eq(*r, rule) && **m == *message;
        let text = match self.texts.iter().take(COMPARED).position(is_equal) {
            Some(known) => known,
            None => {
                self.texts.push((rule, message.into()));
                self.texts.len() - 1
            }
        };
        self.number(text);
        self.last.truncate(shared);
        self.last.extend_from_slice(own);
        self.len += 1;
    }

    fn number(&mut self, mut number: usize) {
        while number > 0x7f {
            self.bytes.push((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push((number & 0x7f) as u8);
    }

    /// Calls `each` with the rule and the steps of every finding.
    pub fn for_each(&self, mut each: impl FnMut(&'static Rule, Segs<'_>)) {
        self.unpack(|rule, _, path| each(rule, Segs::of(path)));
    }

    /// Appends every finding to `diagnostics`.
    pub fn unpack_into(&self, diagnostics: &mut Vec<Diagnostic>) {
        diagnostics.reserve(self.len);
        self.unpack(|rule, message, path| {
            diagnostics.push(Diagnostic {
                rule,
                path: FieldPath::from_packed(path),
                message: message.to_owned(),
                help: None,
                related: Vec::new(),
            });
        });
    }

    fn unpack(&self, mut each: impl FnMut(&'static Rule, &str, &[u8])) {
        let mut path = Vec::new();
        let mut rest = self.bytes.as_slice();
        while let Some((shared, after)) = split_number(rest)
            && let Some((own, after)) = split_number(after)
            && let Some((own, after)) = after.split_at_checked(own)
            && let Some((text, after)) = split_number(after)
            && let Some((rule, message)) = self.texts.get(text)
        {
            path.truncate(shared);
            path.extend_from_slice(own);
            each(rule, message, &path);
            rest = after;
        }
    }
}

fn split_number(packed: &[u8]) -> Option<(usize, &[u8])> {
    let mut number = 0;
    for (i, byte) in packed.iter().enumerate() {
        number |= usize::from(byte & 0x7f).checked_shl(7 * u32::try_from(i).ok()?)?;
        if byte & 0x80 == 0 {
            return Some((number, packed.get(i + 1..)?));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Path;
    use crate::proto::any::ANY_MISSING as B;
    use crate::proto::wire::FIELD_IGNORED as A;

    #[test]
    fn what_is_packed_comes_out_again() {
        let mut diagnostics = Vec::new();
        for i in 0..300 {
            let list = Path::ROOT.field("endpoints");
            let element = list.index(i);
            for (rule, name, message) in [(&A, "x", "same"), (&A, "y", "other"), (&B, "x", "same")] {
                diagnostics.push(Diagnostic {
                    rule,
                    path: element.field(name).to_owned(),
                    message: format!("{message} {}", if i % 7 == 0 { i } else { 0 }),
                    help: (i == 100).then(|| "help".to_owned()),
                    related: Vec::new(),
                });
            }
        }
        let is_a = |d: &Diagnostic| d.rule == &A;
        let (wanted, kept): (Vec<_>, Vec<_>) = diagnostics.iter().cloned().partition(|d| is_a(d) && d.help.is_none());
        let packed = Packed::take(&mut diagnostics, is_a);
        assert_eq!(diagnostics, kept);
        assert_eq!(packed.len(), wanted.len());
        let mut unpacked = Vec::new();
        packed.unpack_into(&mut unpacked);
        assert_eq!(unpacked, wanted);
        assert!(packed.bytes.len() < 12 * wanted.len());
    }
}
