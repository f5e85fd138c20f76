//! The findings of an outcome that have a fix.

use std::collections::HashMap;

use xdsctl_document::source::Span;
use xdsctl_lint::fix::{Edit, Fixed};
use xdsctl_model::diag::Diagnostic;

/// The findings that `--fix` would fix, and how. The map is never iterated, so its order does not
/// matter.
#[derive(Debug, Default)]
pub struct Fixable(HashMap<(usize, Fixed), Edit>);

impl Fixable {
    /// Adds the fix of a finding on the resource with this index in the outcome.
    pub fn add(&mut self, resource: usize, fixed: Fixed, edit: Edit) {
        self.0.insert((resource, fixed), edit);
    }

    /// Returns the fix of a finding on a resource, if there is one. A note on the text has a place.
    pub fn fix(&self, resource: usize, diagnostic: &Diagnostic, place: Option<Span>) -> Option<Edit> {
        let known = || self.0.get(&(resource, Fixed::of(diagnostic, place)));
        (!self.0.is_empty()).then(known)?.cloned()
    }
}
