//! Which findings of an outcome have a fix.

use std::collections::HashMap;

use xdsctl_document::source::Span;
use xdsctl_lint::fix::{Edit, Fixed};
use xdsctl_model::diag::Diagnostic;

/// Findings that `--fix` would fix, and how. Only asked, never listed: a map without an order will
/// do.
#[derive(Debug, Default)]
pub struct Fixable(HashMap<(usize, Fixed), Edit>);

impl Fixable {
    /// Adds a finding of the resource with this number in the outcome.
    pub fn add(&mut self, resource: usize, fixed: Fixed, edit: Edit) {
        self.0.insert((resource, fixed), edit);
    }

    /// How the finding of a resource is fixed, if it is; a note on the text has a place.
    pub fn fix(&self, resource: usize, diagnostic: &Diagnostic, place: Option<Span>) -> Option<Edit> {
        let known = || self.0.get(&(resource, Fixed::of(diagnostic, place)));
        (!self.0.is_empty()).then(known)?.cloned()
    }
}
