//! The user's say in how loud a rule is: `-A`, `-W` and `-D` with a rule id, the beginning of one, or an effect.

use xdsctl::catalogue;
use xdsctl::diag::{Effect, Rule, Severity};

/// Severities by rule, the last matching choice wins.
#[derive(Debug, Clone, Default)]
pub struct Severities {
    choices: Vec<(String, Option<Severity>)>,
}

impl Severities {
    /// Adds a choice: a severity, or `None` to drop the findings.
    ///
    /// # Errors
    /// A text that is no effect, no rule id and no beginning of one; with the nearest rule id.
    pub fn add(&mut self, selector: &str, severity: Option<Severity>) -> Result<(), String> {
        if selector.is_empty() {
            return Err(
                "an empty pattern would mean every rule: give a rule, the beginning of one, or an effect".to_owned(),
            );
        }
        let is_effect = EFFECTS.iter().any(|e| e.name() == selector);
        if !is_effect && !catalogue::rules().any(|rule| rule.id.starts_with(selector)) {
            let hint = catalogue::nearest(selector)
                .map(|id| format!(", did you mean `{id}`?"))
                .unwrap_or_default();
            return Err(format!("no rule or effect `{selector}`{hint}"));
        }
        self.choices.push((selector.to_owned(), severity));
        Ok(())
    }

    /// How loud a finding of `rule` with this effect is; `None` to drop it.
    pub fn of(&self, rule: &Rule, effect: Effect) -> Option<Severity> {
        self.choices
            .iter()
            .rev()
            .find(|(selector, _)| effect.name() == selector || rule.id.starts_with(selector.as_str()))
            .map_or(Some(rule.severity_of(effect)), |(_, severity)| *severity)
    }
}

/// Every effect.
const EFFECTS: [Effect; 6] = [
    Effect::Nack,
    Effect::Fails,
    Effect::Spec,
    Effect::Dropped,
    Effect::Ignored,
    Effect::Advice,
];
