//! Fixes that are certain: for a finding, the bytes of the document to replace, so that it is gone
//! and the client keeps all else as it was.
//!
//! Each rule that can be fixed has a [`Fixer`] in [`FIXERS`], one file a kind. What it changes is
//! one scalar, in the quotes that it has, or one key; the other bytes of the document stay. Where
//! the text is not plainly the value (an escape, a block scalar, a value that an alias repeats)
//! there is no fix, and none that is a guess: `docs/validate.md` says so to the reader.
//!
//! Knows documents and findings. Files are the command's.

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

/// Bytes of a document to be replaced.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edit {
    /// The bytes to replace.
    pub span: Span,
    /// What stands there afterwards.
    pub text: String,
}

/// What a finding that has a fix is known by among those of its resource.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Fixed {
    rule: &'static str,
    path: FieldPath,
    place: Option<Span>,
}

impl Fixed {
    /// The finding; one on the text has a place.
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

/// What of the document a fix changes.
enum Fix {
    /// The scalar at the finding's path: from the value and its place to the new value.
    Scalar(fn(&str, FindingPlace<'_>) -> Option<String>),
    /// The scalar at the finding's path goes from its list, if that is certain.
    Element(fn(&Diagnostic) -> bool),
    /// The key at the finding's place.
    Key(fn(&JsonFields<'_>, usize, FindingPlace<'_>) -> Option<Change>),
}

/// What becomes of a key.
enum Change {
    /// It gets this name.
    Rename(&'static str),
    /// It goes, with its value.
    Remove,
}

/// Where a finding is.
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

/// The rules of which some findings have a fix.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    FIXERS.iter().map(|fixer| fixer.rule)
}

/// Says whether findings of the documents in this format can be fixed.
pub const fn is_fixable(format: DocumentFormat) -> bool {
    matches!(format, DocumentFormat::Json | DocumentFormat::Yaml)
}

/// A document whose findings are to be fixed.
#[derive(Debug)]
pub struct Document<'s> {
    source: &'s Source,
    /// Starts of what aliases repeat.
    repeated: OnceCell<BTreeSet<usize>>,
}

impl<'s> Document<'s> {
    /// The document in this form; `None` if it is not one that is fixed ([`is_fixable`]), or has
    /// documents inside of texts.
    pub fn new(source: &'s Source) -> Option<Self> {
        let is_plain = source.format().is_some_and(is_fixable) && !configmap::may_be(source.bytes());
        is_plain.then(|| Document {
            source,
            repeated: OnceCell::new(),
        })
    }

    /// The fixes of those findings that `wants` takes, of a resource that stands in the document,
    /// with the findings.
    ///
    /// One walk over the text of the resource finds all places.
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

/// Says whether a finding that `wants` takes is of a rule that has fixes.
pub fn may_be_fixed(checked: &Checked, wants: impl Fn(&Diagnostic) -> bool) -> bool {
    fixable(checked, &unread(checked), wants).next().is_some()
}

/// The findings that are kept packed, if one of them is of a rule with a fixer.
fn unread(checked: &Checked) -> Vec<Diagnostic> {
    let mut unpacked = Vec::new();
    if checked.ignored.counts().any(|(rule, ..)| fixer(rule).is_some()) {
        checked.ignored.unpack_into(&mut unpacked);
        // What is beyond the quota is a count, and has no place.
        unpacked.truncate(checked.ignored.len());
    }
    unpacked
}

/// The findings of all clients that are of rules with a fixer, those on the text with their places.
fn fixable<'c>(
    checked: &'c Checked,
    unread: &'c [Diagnostic],
    wants: impl Fn(&Diagnostic) -> bool,
) -> impl Iterator<Item = (&'c Diagnostic, Option<Span>, &'static Fixer)> {
    // Most versions of a client say the same.
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

/// The fixes of one resource while they are made.
struct Fixing<'s> {
    source: &'s Source,
    /// The document as JSON.
    text: &'s [u8],
    type_name: &'s str,
    repeated: &'s BTreeSet<usize>,
    /// The object that was looked at last.
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
