//! A finding that somebody has looked at and decided to live with, until a day.

use std::ops::RangeInclusive;

use super::{Date, FilePattern, Selector, Wildcard};
use xdsctl_document::source::{SourceId, Span};
use xdsctl_model::diag::{Effect, Rule};

/// Where a suppression is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SuppressionPlace {
    /// In a configuration: it is about every document.
    Config,
    /// In a comment: it is about findings that start on these lines of the same document.
    Comment(RangeInclusive<usize>),
}

/// What is taken out, and why: findings that meet all conditions.
#[derive(Debug, Clone)]
pub struct Ignore {
    /// The rules; a finding of any of them.
    pub rules: Vec<Selector>,
    /// Name of the resource.
    pub resource: Option<Wildcard>,
    /// Path in the client's notation.
    pub path: Option<Wildcard>,
    /// Name of the document, as the caller of [`suppress`](crate::decide::suppress) names it.
    pub file: Option<FilePattern>,
    /// The reason that its author gives, for people.
    pub reason: String,
    /// The last day on which it counts; `None` for ever.
    pub until: Option<Date>,
}

/// An [`Ignore`] with its place.
#[derive(Debug, Clone)]
pub struct Suppression {
    /// What it takes out.
    pub ignore: Ignore,
    /// How it was written.
    pub written: SuppressionPlace,
    /// The document in which it stands.
    pub source: SourceId,
    /// Where in it.
    pub span: Span,
}

/// What of a finding decides, but for its place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FindingTraits<'a> {
    pub rule: &'static Rule,
    pub effect: Effect,
    pub field: Option<&'a str>,
}

impl Suppression {
    /// Says whether its day is over.
    pub fn is_expired(&self, today: Date) -> bool {
        self.ignore.until.is_some_and(|until| until < today)
    }

    /// Says whether it stands in a configuration and can be about this document.
    pub(crate) fn is_of_file(&self, file: &str) -> bool {
        self.written == SuppressionPlace::Config
            && self.ignore.file.as_ref().is_none_or(|pattern| pattern.matches(file))
    }

    /// Says whether it can be about a resource of this name.
    pub(crate) fn is_of_resource(&self, resource: Option<&str>) -> bool {
        let pattern = self.ignore.resource.as_ref();
        pattern.is_none_or(|pattern| resource.is_some_and(|name| pattern.matches(name)))
    }

    /// Says whether it is about findings like this, wherever they are.
    pub(crate) fn takes(&self, asked: FindingTraits<'_>) -> bool {
        self.ignore
            .rules
            .iter()
            .any(|rules| rules.takes((asked.rule, asked.effect), asked.field))
    }

    /// Says whether it can be about a finding at this path.
    pub(crate) fn is_at(&self, path: &str) -> bool {
        self.ignore.path.as_ref().is_none_or(|pattern| pattern.matches(path))
    }

    /// Says whether it names what it is about closely enough to know that it was in the input.
    pub(crate) const fn is_narrow(&self) -> bool {
        matches!(self.written, SuppressionPlace::Comment(_))
            || self.ignore.file.is_some()
            || self.ignore.resource.is_some()
    }
}
