//! Fixes that are certain: for a finding, the bytes of the document to replace so that the finding
//! is gone and nothing else changes for the client.
//!
//! Each rule that can be fixed has a [`Fixer`] in [`FIXERS`], with a file for each kind. A fix
//! changes one scalar, in the quotes that it has, or one key; the other bytes of the document stay.
//! If the text is not plainly the value (an escape, a block scalar, a value that an alias repeats),
//! there is no fix. There are no fixes that are guesses; `docs/validate.md` promises that.
//!
//! This module knows documents and findings. The command reads and writes files.

mod domain;
mod duplicate_key;
mod enum_value;
mod header_name;
mod member;
mod retry_on;
mod scalar;
mod type_url;
mod unknown_field;

use std::cell::OnceCell;
use std::collections::BTreeSet;

use member::JsonFields;
use xdsctl_channel::client::Checked;
use xdsctl_document::source::sniff::DocumentFormat;
use xdsctl_document::source::{Source, Span, configmap};
use xdsctl_model::diag::{Diagnostic, FieldPath, Rule};
use xdsctl_model::resource::ResourceType;

/// A replacement of bytes of a document.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edit {
    /// The bytes to replace.
    pub span: Span,
    /// The text that replaces the bytes.
    pub text: String,
}

/// The identity of a finding that has a fix, among the findings of its resource.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Fixed {
    rule: &'static str,
    path: FieldPath,
    place: Option<Span>,
}

impl Fixed {
    /// Returns the identity of a finding. A finding on the text has a place.
    pub fn of(diagnostic: &Diagnostic, place: Option<Span>) -> Fixed {
        Fixed {
            rule: diagnostic.rule.id,
            path: diagnostic.path.clone(),
            place,
        }
    }
}

/// How findings of a rule are fixed.
struct Fixer {
    rule: &'static Rule,
    fix: Fix,
}

/// Which part of the document a fix changes.
enum Fix {
    /// The scalar at the finding's path. The function returns the new value for the old one and its
    /// place.
    Scalar(fn(&str, FindingPlace<'_>) -> Option<String>),
    /// Removes the scalar at the finding's path from its list, if the function says that this is
    /// certain.
    Element(fn(&Diagnostic) -> bool),
    /// The key at the finding's place.
    Key(fn(&JsonFields<'_>, usize, FindingPlace<'_>) -> Option<Change>),
}

/// What happens to a key.
enum Change {
    /// The key is renamed to this.
    Rename(&'static str),
    /// The key is removed with its value.
    Remove,
}

/// The place of a finding.
#[derive(Clone, Copy)]
struct FindingPlace<'a> {
    /// The type of the resource.
    type_name: &'a str,
    path: &'a FieldPath,
}

static FIXERS: &[Fixer] = &[
    retry_on::FIXER,
    retry_on::ALONE,
    header_name::FIXER,
    type_url::FIXER,
    enum_value::FIXER,
    unknown_field::FIXER,
    duplicate_key::FIXER,
    domain::FIXER,
];

fn fixer(rule: &Rule) -> Option<&'static Fixer> {
    FIXERS.iter().find(|fixer| fixer.rule.id == rule.id)
}

/// Returns the rules that have a fix for some of their findings.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    FIXERS.iter().map(|fixer| fixer.rule)
}

/// Says whether findings on documents in this format can be fixed.
pub const fn is_fixable(format: DocumentFormat) -> bool {
    matches!(format, DocumentFormat::Json | DocumentFormat::Yaml)
}

/// A document whose findings are to be fixed.
#[derive(Debug)]
pub struct Document<'s> {
    source: &'s Source,
    /// The positions where texts start that aliases repeat.
    repeated: OnceCell<BTreeSet<usize>>,
}

impl<'s> Document<'s> {
    /// Prepares a document; `None` if its format has no fixes ([`is_fixable`]), or if its texts
    /// contain documents.
    pub fn new(source: &'s Source) -> Option<Self> {
        let is_plain = source.format().is_some_and(is_fixable) && !configmap::may_be(source.bytes());
        is_plain.then(|| Document {
            source,
            repeated: OnceCell::new(),
        })
    }

    /// Returns the fixes, with their findings, for those findings of a resource of this document
    /// that `wants` accepts.
    ///
    /// All places are found in one walk over the text of the resource.
    pub fn edits(&self, checked: &Checked, wants: impl Fn(&Diagnostic) -> bool) -> Vec<(Edit, Fixed)> {
        let unread = unread(checked);
        let wanted: Vec<_> = fixable(checked, &unread, wants).collect();
        if wanted.is_empty() {
            return Vec::new();
        }
        let path_of = |(diagnostic, _, fixer): &(&Diagnostic, _, &Fixer)| match fixer.fix {
            Fix::Scalar(_) | Fix::Element(_) => diagnostic.path.clone(),
            Fix::Key(_) => diagnostic.path.holder(),
        };
        let paths: Vec<FieldPath> = wanted.iter().map(path_of).collect();
        let paths: Vec<&FieldPath> = paths.iter().collect();
        let (text, starts) = self.source.values(checked.origin.span, &paths);
        let mut fixing = Fixing {
            source: self.source,
            text,
            type_name: checked.resource_type.map_or("", ResourceType::type_name),
            repeated: self.repeated.get_or_init(|| self.source.repeated()),
            members: None,
        };
        let found = wanted.into_iter().zip(starts);
        found
            .filter_map(|((diagnostic, span, fixer), start)| {
                let edit = fixing.edit(fixer, diagnostic, span, start?)?;
                Some((edit, Fixed::of(diagnostic, span)))
            })
            .collect()
    }
}

/// Says whether `wants` accepts a finding whose rule has fixes.
pub fn may_be_fixed(checked: &Checked, wants: impl Fn(&Diagnostic) -> bool) -> bool {
    fixable(checked, &unread(checked), wants).next().is_some()
}

/// Returns the findings on fields that are never read, which are kept packed, if one of them has a
/// rule with a fixer.
fn unread(checked: &Checked) -> Vec<Diagnostic> {
    let mut unpacked = Vec::new();
    if checked.ignored.counts().any(|(rule, ..)| fixer(rule).is_some()) {
        checked.ignored.unpack_into(&mut unpacked);
        // Findings above the limit are a count only, and have no place.
        unpacked.truncate(checked.ignored.len());
    }
    unpacked
}

/// Returns the findings of all clients whose rules have a fixer; those on the text have a place.
fn fixable<'c>(
    checked: &'c Checked,
    unread: &'c [Diagnostic],
    wants: impl Fn(&Diagnostic) -> bool,
) -> impl Iterator<Item = (&'c Diagnostic, Option<Span>, &'static Fixer)> {
    // Most versions of a client have the same findings.
    let lists = checked.answers.chunk_by(|one, next| one.is_as(next));
    let of_clients = lists
        .filter_map(<[_]>::first)
        .flat_map(|answer| answer.diagnostics.iter());
    let of_fields = checked.diagnostics.iter().chain(unread).chain(of_clients);
    let of_fields = of_fields.map(|diagnostic| (diagnostic, None));
    let notes = checked.notes.iter().map(|note| (&note.diagnostic, Some(note.span)));
    of_fields
        .chain(notes)
        .filter_map(|(diagnostic, span)| Some((diagnostic, span, fixer(diagnostic.rule)?)))
        .filter(move |(diagnostic, ..)| wants(diagnostic))
}

/// The state while fixes of one resource are made.
struct Fixing<'s> {
    source: &'s Source,
    /// The document as JSON.
    text: &'s [u8],
    type_name: &'s str,
    repeated: &'s BTreeSet<usize>,
    /// The object that was read last.
    members: Option<JsonFields<'s>>,
}

impl<'s> Fixing<'s> {
    fn edit(&mut self, fixer: &Fixer, diagnostic: &Diagnostic, span: Option<Span>, start: usize) -> Option<Edit> {
        let at = FindingPlace {
            type_name: self.type_name,
            path: &diagnostic.path,
        };
        let edit = match fixer.fix {
            Fix::Scalar(fix) => {
                let old = scalar::at(self.text, start)?;
                let place = self.source.to_document(old.span);
                scalar::replaced(self.source, place, &old.value, &fix(&old.value, at)?)?
            }
            Fix::Element(is_certain) => is_certain(diagnostic)
                .then(|| domain::removed(self.source, self.text, start))
                .flatten()?,
            Fix::Key(fix) => {
                if self.members.as_ref().is_none_or(|members| members.start != start) {
                    self.members = Some(JsonFields::read(self.source, self.text, start)?);
                }
                let members = self.members.as_ref()?;
                let number = members.at(span?.start)?;
                match fix(members, number, at)? {
                    Change::Rename(name) => {
                        let key = members.list.get(number)?;
                        scalar::replaced(self.source, key.name_place, &key.name, name)?
                    }
                    Change::Remove => members.removed(number)?,
                }
            }
        };
        let repeated = self
            .repeated
            .range(edit.span.start..edit.span.end.max(edit.span.start + 1));
        (repeated.count() == 0).then_some(edit)
    }
}
