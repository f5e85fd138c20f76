//! A suppression: a finding that somebody has looked at and accepts, perhaps until a day.

use std::ops::RangeInclusive;

use super::{Date, FilePattern, RuleSelector, Wildcard};
use xdsctl_document::source::{SourceId, Span};
use xdsctl_model::diag::{Effect, Rule};

/// The place where a suppression is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SuppressionPlace {
    /// The suppression is in a configuration file, and applies to every document.
    Config,
    /// The suppression is in a comment, and applies to findings that start on these lines of the
    /// same document.
    Comment(RangeInclusive<usize>),
}

/// Which findings are suppressed, and why. A finding must meet all conditions.
#[derive(Debug, Clone)]
pub struct Ignore {
    /// The finding must be of one of these rules.
    pub rules: Vec<RuleSelector>,
    /// Pattern for the name of the resource; `None` for any.
    pub resource: Option<Wildcard>,
    /// Pattern for the path in the client's notation; `None` for any.
    pub path: Option<Wildcard>,
    /// Pattern for the name of the document, as the caller of [`suppress`](crate::decide::suppress)
    /// names it; `None` for any.
    pub file: Option<FilePattern>,
    /// The author's reason, for people.
    pub reason: String,
    /// The last day on which the suppression applies; `None` if it has no end.
    pub until: Option<Date>,
}

/// An [`Ignore`] and the place where it is written.
#[derive(Debug, Clone)]
pub struct Suppression {
    /// Which findings are suppressed.
    pub ignore: Ignore,
    /// Whether the suppression is in a configuration file or in a comment.
    pub written: SuppressionPlace,
    /// The document in which the suppression is written.
    pub source: SourceId,
    /// Place of the suppression in that document.
    pub span: Span,
}

/// The properties of a finding that decide whether it is suppressed, apart from its place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FindingTraits<'a> {
    pub rule: &'static Rule,
    pub effect: Effect,
    pub field: Option<&'a str>,
}

impl Suppression {
    /// Says whether the last day of the suppression is over.
    pub fn is_expired(&self, today: Date) -> bool {
        self.ignore.until.is_some_and(|until| until < today)
    }

    /// Says whether the suppression is in a configuration file and can apply to this document.
    pub(crate) fn is_of_file(&self, file: &str) -> bool {
        self.written == SuppressionPlace::Config
            && self.ignore.file.as_ref().is_none_or(|pattern| pattern.matches(file))
    }

    /// Says whether the suppression can apply to a resource of this name.
    pub(crate) fn is_of_resource(&self, resource: Option<&str>) -> bool {
        let pattern = self.ignore.resource.as_ref();
        pattern.is_none_or(|pattern| resource.is_some_and(|name| pattern.matches(name)))
    }

    /// Says whether the suppression applies to a finding with these properties, wherever it is.
    pub(crate) fn takes(&self, asked: FindingTraits<'_>) -> bool {
        self.ignore
            .rules
            .iter()
            .any(|rules| rules.takes((asked.rule, asked.effect), asked.field))
    }

    /// Says whether the suppression can apply to a finding at this path.
    pub(crate) fn is_at(&self, path: &str) -> bool {
        self.ignore.path.as_ref().is_none_or(|pattern| pattern.matches(path))
    }

    /// Says whether the suppression names a document or a resource, so that one can tell whether
    /// its subject was in the input.
    pub(crate) const fn is_narrow(&self) -> bool {
        matches!(self.written, SuppressionPlace::Comment(_))
            || self.ignore.file.is_some()
            || self.ignore.resource.is_some()
    }
}
