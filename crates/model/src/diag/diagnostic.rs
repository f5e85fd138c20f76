//! One finding, as data.

use super::{Effect, FieldPath, Rule, Severity};
use crate::profile::Family;

/// A finding on a resource (or on a document, then with an empty path).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The rule to which the finding belongs.
    pub rule: &'static Rule,
    /// What the client does: the rule's effect, unless this client treats the fault differently.
    pub effect: Effect,
    /// The field, in the client's notation; empty for the resource as a whole.
    pub path: FieldPath,
    /// One lower-case sentence without a stop: what is wrong, the value, the limit.
    pub message: String,
    /// One action that the reader can take.
    pub help: Option<String>,
    /// Other places that belong to the finding.
    pub related: Vec<Related>,
    /// The index, in the outcome, of the resource whose rejection causes this finding.
    pub cause: Option<usize>,
    /// How many findings this one stands for: 1, or more for the last of
    /// [`MAX_FINDINGS_PER_RULE`](super::MAX_FINDINGS_PER_RULE).
    pub count: usize,
    /// The other families for which the finding holds if they accept the resource: those of the
    /// rule, or fewer.
    pub shared: &'static [Family],
}

/// A second place of a finding, in the same resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Related {
    /// The second field, in the client's notation.
    pub path: FieldPath,
    /// What the place has to do with the finding: "first used here".
    pub message: String,
    /// The rule of a consequence at this place, which is not a finding of its own; `None` if the
    /// place is part of the fault.
    pub rule: Option<&'static Rule>,
}

impl Diagnostic {
    /// Makes a finding on a resource or a document as a whole.
    pub fn of_whole(rule: &'static Rule, message: String) -> Self {
        Diagnostic {
            rule,
            effect: rule.effect,
            path: FieldPath::default(),
            message,
            help: None,
            related: Vec::new(),
            cause: None,
            count: 1,
            shared: rule.shared.families,
        }
    }

    /// Restricts the families that share the rule's finding to these.
    pub fn shared_with(&mut self, families: &'static [Family]) -> &mut Self {
        self.shared = families;
        self
    }

    /// Makes the finding that stands for `count` findings of a rule that are not listed, after
    /// `kept` that are.
    pub(super) fn omitted(rule: &'static Rule, count: usize, kept: usize) -> Self {
        let message = format!("{count} more findings of this rule are not listed, after {kept}");
        Diagnostic {
            count,
            ..Diagnostic::of_whole(rule, message)
        }
    }

    /// Returns how loud the finding is: as the rule says, or as its effect says if that differs
    /// from the rule's effect.
    pub fn severity(&self) -> Severity {
        self.rule.severity_of(self.effect)
    }

    /// Makes it a finding of another rule.
    pub fn turn_into(&mut self, rule: &'static Rule) {
        (self.rule, self.effect, self.shared) = (rule, rule.effect, rule.shared.families);
    }

    /// Says that the finding follows from the rejection of the resource with this index.
    pub fn follows_from(&mut self, cause: usize) -> &mut Self {
        self.cause = Some(cause);
        self
    }

    /// Adds the one action that the reader can take.
    pub fn help(&mut self, text: impl Into<String>) -> &mut Self {
        self.help = Some(text.into());
        self
    }

    /// Adds another place that the finding is about, with what it is.
    pub fn related(&mut self, path: FieldPath, message: impl Into<String>) -> &mut Self {
        // Most findings have one related place, and a list that grows by itself begins with room
        // for four.
        if self.related.is_empty() {
            self.related.reserve_exact(1);
        }
        self.related.push(Related {
            path,
            message: message.into(),
            rule: None,
        });
        self
    }

    /// Returns the rules and places of the finding and of its consequences. A client's log names
    /// all of them.
    pub fn said(&self) -> impl Iterator<Item = (&'static Rule, &FieldPath)> {
        let follows = self.related.iter();
        let follows = follows.filter_map(|related| Some((related.rule?, &related.path)));
        std::iter::once((self.rule, &self.path)).chain(follows)
    }
}
