//! Which findings of an outcome have a fix.

use std::collections::HashSet;

use xdsctl_document::source::Span;
use xdsctl_lint::fix::Fixed;
use xdsctl_model::diag::Diagnostic;

/// Findings that `--fix` would fix. Only asked, never listed: a set without an order will do.
#[derive(Debug, Default)]
pub struct Fixable(HashSet<(usize, Fixed)>);

impl Fixable {
    /// Adds a finding of the resource with this number in the outcome.
    pub fn add(&mut self, resource: usize, fixed: Fixed) {
        self.0.insert((resource, fixed));
    }

    /// Says whether the finding of a resource is one; a note on the text has a place.
    pub fn holds(&self, resource: usize, diagnostic: &Diagnostic, place: Option<Span>) -> bool {
        !self.0.is_empty() && self.0.contains(&(resource, Fixed::of(diagnostic, place)))
    }
}
