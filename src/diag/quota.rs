//! How many findings of one rule are kept: enough for any reader, and not as many as a hostile document asks for.

use super::{Diagnostic, FieldPath, Rule};

/// Findings of one rule that are kept of one resource, or of one document; the rest is counted.
///
/// A document of 4 MB can make two million of them, and each takes hundreds of bytes.
pub const MAX_FINDINGS_PER_RULE: usize = 10_000;

/// How many findings there have been of each rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Quota(Vec<(&'static Rule, usize)>);

impl Quota {
    /// Counts a finding; says whether it is to be kept.
    pub fn admits(&mut self, rule: &'static Rule) -> bool {
        // Few rules report anything of one resource.
        match self.0.iter_mut().find(|(known, _)| std::ptr::eq(*known, rule)) {
            Some((_, count)) => {
                *count += 1;
                *count <= MAX_FINDINGS_PER_RULE
            }
            None => {
                self.0.push((rule, 1));
                true
            }
        }
    }

    /// Forgets what was counted of a rule.
    pub fn forget(&mut self, rule: &'static Rule) {
        self.0.retain(|(known, _)| !std::ptr::eq(*known, rule));
    }

    /// Counts so many findings of a rule, whatever was counted before.
    pub fn recount(&mut self, rule: &'static Rule, kept: usize) {
        self.forget(rule);
        if kept > 0 {
            self.0.push((rule, kept));
        }
    }

    /// Forgets what was counted.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// How many findings of each rule were not kept.
    pub fn omitted(&self) -> impl Iterator<Item = (&'static Rule, usize)> {
        self.0
            .iter()
            .filter_map(|(rule, count)| Some((*rule, count.checked_sub(MAX_FINDINGS_PER_RULE)?)))
            .filter(|(_, count)| *count > 0)
    }

    /// A finding for each rule that stands for those that were not kept.
    pub fn closing(&self) -> impl Iterator<Item = Diagnostic> {
        self.omitted().map(|(rule, count)| Diagnostic {
            rule,
            effect: rule.effect,
            path: FieldPath::default(),
            message: format!("{count} more findings of this rule are not listed, after {MAX_FINDINGS_PER_RULE}"),
            help: None,
            related: Vec::new(),
            cause: None,
            count,
        })
    }
}
