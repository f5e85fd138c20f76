//! Many findings of one resource in little memory.
//!
//! A dump of a proxy has a quarter of a million fields that gRPC never reads, in a few patterns.
//! Neighbours share most of their path, and few words differ; so a path is kept as what differs
//! from the one before, and each pair of rule and message once. About twenty bytes a finding, where
//! a [`Diagnostic`] takes two hundred.

use super::{Diagnostic, FieldPath, Path, Quota, Rule, Segs};

/// Texts that are looked through for an equal one; more are just added.
const COMPARED: usize = 64;

/// Findings with a rule, a path and a message, in the order in which they were added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Packed {
    /// For each finding: bytes shared with the path before, bytes of its own, these bytes, position
    /// in `texts`.
    bytes: Vec<u8>,
    texts: Vec<PackedText>,
    /// The kinds of [`push_kind`](Self::push_kind) with their positions in `texts`.
    kinds: Vec<(usize, usize)>,
    /// The last path.
    last: Vec<u8>,
    /// A path that is being packed.
    next: Vec<u8>,
    len: usize,
    quota: Quota,
}

/// What a number of findings have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedText {
    /// The rule to which they belong, with its effect.
    pub rule: &'static Rule,
    message: Box<str>,
    help: Option<&'static str>,
    /// The innermost field of their paths.
    field: Option<Box<str>>,
    count: usize,
}

impl PackedText {
    /// The innermost field of the paths of these findings.
    pub fn field(&self) -> Option<&str> {
        self.field.as_deref()
    }

    /// The one of these findings that has this path.
    pub fn at(&self, path: FieldPath) -> Diagnostic {
        Diagnostic {
            path,
            help: self.help.map(str::to_owned),
            ..Diagnostic::of_whole(self.rule, self.message.as_ref().to_owned())
        }
    }
}

impl Packed {
    /// Takes out of `diagnostics` what `wanted` says and can be packed: findings without help and
    /// related places.
    pub fn take_from(&mut self, diagnostics: &mut Vec<Diagnostic>, wanted: impl Fn(&Diagnostic) -> bool) {
        diagnostics.retain(|diagnostic| {
            let take = diagnostic.help.is_none() && diagnostic.related.is_empty() && wanted(diagnostic);
            if take {
                self.push(diagnostic.rule, &diagnostic.path, &diagnostic.message, None);
            }
            !take
        });
        diagnostics.shrink_to_fit();
    }

    /// Asks for each finding, in order, whether it stays. What was left out before stays counted.
    pub fn retain(&mut self, mut stays: impl FnMut() -> bool) {
        let mut kept = Packed::default();
        self.unpack(|_, text, path| {
            if stays() {
                kept.push(text.rule, &FieldPath::from_packed(path), &text.message, text.help);
            }
        });
        kept.quota = std::mem::take(&mut self.quota);
        *self = kept;
        self.shrink();
    }

    /// Gives back the memory that only adding needs.
    pub fn shrink(&mut self) {
        self.bytes.shrink_to_fit();
        self.texts.shrink_to_fit();
        (self.kinds, self.last, self.next) = (Vec::new(), Vec::new(), Vec::new());
    }

    /// How many are kept.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Says whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds a finding at the field `field`, where `at` ends. Findings of one `kind` have the same
    /// rule and message.
    pub(super) fn push_kind(
        &mut self,
        kind: usize,
        field: &str,
        at: &Path<'_>,
        say: impl FnOnce() -> (&'static Rule, String, Option<&'static str>),
    ) {
        let text = match self.kinds.iter().find(|(known, _)| *known == kind) {
            Some((_, text)) => *text,
            None => {
                let (rule, message, help) = say();
                self.kinds.push((kind, self.texts.len()));
                self.add_text((rule, message.into(), help), Some(field))
            }
        };
        let Some(rule) = self.texts.get(text).map(|text| text.rule) else {
            return;
        };
        if !self.quota.admits(rule) {
            return;
        }
        let mut next = std::mem::take(&mut self.next);
        next.clear();
        at.pack(&mut next);
        self.push_path(&next, text);
        self.next = next;
    }

    fn push(&mut self, rule: &'static Rule, path: &FieldPath, message: &str, help: Option<&'static str>) {
        if !self.quota.admits(rule) {
            return;
        }
        let field = path.segs().last_field();
        let is_equal = |text: &PackedText| {
            std::ptr::eq(text.rule, rule)
                && *text.message == *message
                && text.help == help
                && text.field.as_deref() == field
        };
        let text = match self.texts.iter().take(COMPARED).position(is_equal) {
            Some(known) => known,
            None => self.add_text((rule, message.into(), help), field),
        };
        self.push_path(path.packed(), text);
    }

    fn add_text(
        &mut self,
        (rule, message, help): (&'static Rule, Box<str>, Option<&'static str>),
        field: Option<&str>,
    ) -> usize {
        self.texts.push(PackedText {
            rule,
            message,
            help,
            field: field.map(Into::into),
            count: 0,
        });
        self.texts.len() - 1
    }

    fn push_path(&mut self, path: &[u8], text: usize) {
        let shared = shared_len(path, &self.last);
        let own = path.get(shared..).unwrap_or_default();
        self.number(shared);
        self.number(own.len());
        self.bytes.extend_from_slice(own);
        self.number(text);
        self.last.truncate(shared);
        self.last.extend_from_slice(own);
        self.len += 1;
        if let Some(text) = self.texts.get_mut(text) {
            text.count += 1;
        }
    }

    fn number(&mut self, mut number: usize) {
        while number > 0x7f {
            self.bytes.push((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push((number & 0x7f) as u8);
    }

    /// How many findings there are of each rule at fields of each name.
    pub fn counts(&self) -> impl Iterator<Item = (&'static Rule, Option<&str>, usize)> {
        let listed = self.texts.iter();
        listed
            .map(|text| (text.rule, text.field.as_deref(), text.count))
            .chain(self.quota.omitted().map(|(rule, count)| (rule, None, count)))
    }

    /// Calls `each` with the rule and the steps of every finding.
    pub fn for_each(&self, mut each: impl FnMut(&'static Rule, Segs<'_>)) {
        self.unpack(|_, text, path| each(text.rule, Segs::of(path)));
    }

    /// What findings have in common.
    pub fn texts(&self) -> &[PackedText] {
        &self.texts
    }

    /// Calls `each` for every finding with the number of its text among [`texts`](Self::texts), and
    /// with its steps.
    pub fn for_each_of_text(&self, mut each: impl FnMut(usize, Segs<'_>)) {
        self.unpack(|number, _, path| each(number, Segs::of(path)));
    }

    /// A finding for each rule of which some are not kept, after all others.
    pub fn closing(&self) -> impl Iterator<Item = Diagnostic> {
        self.quota.closing()
    }

    /// Appends every finding to `diagnostics`.
    pub fn unpack_into(&self, diagnostics: &mut Vec<Diagnostic>) {
        diagnostics.reserve(self.len);
        self.unpack_if(|_| true, diagnostics);
    }

    /// Appends the first findings of each of [`counts`](Self::counts): as many as `wanted` says of
    /// it, where what is left to want stays.
    pub fn unpack_first(&self, wanted: &mut [usize], diagnostics: &mut Vec<Diagnostic>) {
        if wanted.iter().all(|wanted| *wanted == 0) {
            return;
        }
        let takes = |of: usize| match wanted.get_mut(of) {
            Some(left) if *left > 0 => {
                *left -= 1;
                true
            }
            _ => false,
        };
        self.unpack_if(takes, diagnostics);
    }

    /// Appends those of which `takes` says so, by their number among [`counts`](Self::counts).
    fn unpack_if(&self, mut takes: impl FnMut(usize) -> bool, diagnostics: &mut Vec<Diagnostic>) {
        self.unpack(|number, text, path| {
            if takes(number) {
                diagnostics.push(text.at(FieldPath::from_packed(path)));
            }
        });
        let closing = (self.texts.len()..).zip(self.closing());
        diagnostics.extend(closing.filter(|(number, _)| takes(*number)).map(|(_, closing)| closing));
    }

    /// Calls `each` for every finding with the number of what it has in common with others.
    fn unpack(&self, mut each: impl FnMut(usize, &PackedText, &[u8])) {
        let mut path = Vec::new();
        let mut rest = self.bytes.as_slice();
        while let Some((shared, after)) = split_number(rest)
            && let Some((own, after)) = split_number(after)
            && let Some((own, after)) = after.split_at_checked(own)
            && let Some((number, after)) = split_number(after)
            && let Some(text) = self.texts.get(number)
        {
            path.truncate(shared);
            path.extend_from_slice(own);
            each(number, text, &path);
            rest = after;
        }
    }
}

/// How many bytes two paths have in common; eight are compared at a time.
fn shared_len(one: &[u8], other: &[u8]) -> usize {
    let (words, _) = one.as_chunks::<8>();
    let words = words.iter().zip(other.as_chunks::<8>().0);
    let whole = 8 * words.take_while(|(one, other)| one == other).count();
    let rest = one.iter().zip(other).skip(whole);
    whole + rest.take_while(|(one, other)| one == other).count()
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
    use super::super::rule::examples::IGNORED as A;
    use super::super::rule::examples::REJECTED as B;
    use super::*;

    #[test]
    fn what_is_packed_comes_out_again() {
        let mut diagnostics = Vec::new();
        for i in 0..300 {
            let list = Path::ROOT.field("endpoints");
            let element = list.index(i);
            for (rule, name, message) in [(&A, "x", "same"), (&A, "y", "other"), (&B, "x", "same")] {
                let message = format!("{message} {}", if i % 7 == 0 { i } else { 0 });
                diagnostics.push(Diagnostic {
                    path: element.field(name).to_owned(),
                    help: (i == 100).then(|| "help".to_owned()),
                    ..Diagnostic::of_whole(rule, message)
                });
            }
        }
        let is_a = |d: &Diagnostic| d.rule == &A;
        let (wanted, kept): (Vec<_>, Vec<_>) = diagnostics.iter().cloned().partition(|d| is_a(d) && d.help.is_none());
        let mut packed = Packed::default();
        packed.take_from(&mut diagnostics, is_a);
        assert_eq!(diagnostics, kept);
        assert_eq!(packed.len(), wanted.len());
        let mut unpacked = Vec::new();
        packed.unpack_into(&mut unpacked);
        assert_eq!(unpacked, wanted);
        assert!(packed.bytes.len() < 12 * wanted.len());
        let count = |field: &str| {
            let of_field = packed.counts().filter(|(_, f, _)| *f == Some(field));
            of_field.map(|(_, _, count)| count).sum::<usize>()
        };
        let is_x = |d: &&Diagnostic| d.path.segs().last_field() == Some("x");
        assert_eq!(count("x"), wanted.iter().filter(is_x).count());
        assert_eq!(count("x") + count("y"), wanted.len());
    }

    #[test]
    fn what_paths_have_in_common_ends_with_the_first_byte_that_differs() {
        let path: Vec<u8> = (0..40).collect();
        for len in 0..path.len() {
            let mut other = path.clone();
            other[len] = 99;
            assert_eq!(shared_len(&path, &other), len);
            assert_eq!(shared_len(&path, &path[..len]), len);
        }
        assert_eq!(shared_len(&path, &path), path.len());
    }

    #[test]
    fn findings_of_a_kind_are_packed_without_their_words() {
        let mut packed = Packed::default();
        let list = Path::ROOT.field("list");
        for i in 0..200 {
            let element = list.index(i);
            let (kind, field) = if i % 3 == 0 { (1, "x") } else { (2, "y") };
            packed.push_kind(kind, field, &element.field(field), || (&A, format!("no {field}"), None));
        }
        packed.shrink();
        let mut unpacked = Vec::new();
        packed.unpack_into(&mut unpacked);
        assert_eq!(unpacked.len(), 200);
        assert_eq!(unpacked[3].path.to_string(), "list[3].x");
        assert_eq!(unpacked[4].message, "no y");
        let counts: Vec<_> = packed
            .counts()
            .map(|(_, field, count)| (field.unwrap(), count))
            .collect();
        assert_eq!(counts, [("x", 67), ("y", 133)]);
        unpacked.clear();
        packed.unpack_first(&mut [0, 2], &mut unpacked);
        let paths: Vec<_> = unpacked.iter().map(|diagnostic| diagnostic.path.to_string()).collect();
        assert_eq!(paths, ["list[1].y", "list[2].y"]);
    }
}
