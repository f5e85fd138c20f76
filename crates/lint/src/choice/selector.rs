//! Rules by name: `eds-locality-without-weight`, a family (`cds-dns`), an effect (`spec`), `all`,
//! or fields of any of these (`field-ignored=name,connect_timeout`).

use xdsctl_document::proto::known_field;
use xdsctl_document::proto::wire::{BEHAVIOUR_FIELD_IGNORED, FIELD_IGNORED, SECURITY_FIELD_IGNORED};
use xdsctl_model::diag::{Effect, Rule, Severity};
use xdsctl_model::text::nearest;
use xdsctl_policy::is_failed;

/// Most names in one list; a limit, because each finding is compared with all of them.
const MAX_LISTED: usize = 1_000;

/// The name that selects every rule.
const ALL: &str = "all";

/// A set of rules, or of the findings of these rules at certain fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleSelector {
    rules: Rules,
    /// The innermost fields of the findings that are selected; empty for all.
    fields: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Rules {
    All,
    Effect(Effect),
    One(&'static Rule),
    /// The rules whose ids begin with these words.
    Family(String),
}

impl RuleSelector {
    /// Reads a list separated by commas. What follows `=` are fields of the rule before it.
    ///
    /// ```
    /// use xdsctl_lint::{catalogue, choice::RuleSelector};
    /// let known: Vec<_> = catalogue::rules().collect();
    /// assert_eq!(RuleSelector::list("spec,cds-dns,field-ignored=name,connect_timeout", &known).unwrap().len(), 3);
    /// assert_eq!(RuleSelector::list("cds-dnss", &known).unwrap_err(), "no rule, family of rules or effect `cds-dnss`");
    /// ```
    ///
    /// # Errors
    /// Rejects a name that is neither an effect nor a rule nor a prefix of a rule in `known` (the
    /// message proposes the nearest rule), and a text that cannot be a field.
    pub fn list(text: &str, known: &[&'static Rule]) -> Result<Vec<RuleSelector>, String> {
        let (rules, fields) = match text.split_once('=') {
            Some((rules, fields)) => (rules, Some(fields)),
            None => (text, None),
        };
        if text.matches(',').count() >= MAX_LISTED {
            return Err(format!("a list of more than {MAX_LISTED} names"));
        }
        let mut selectors = rules
            .split(',')
            .map(|name| {
                Ok(RuleSelector {
                    rules: Rules::read(name.trim(), known)?,
                    fields: Vec::new(),
                })
            })
            .collect::<Result<Vec<_>, String>>()?;
        if let (Some(fields), Some(last)) = (fields, selectors.last_mut()) {
            for name in fields.split(',').map(str::trim) {
                last.fields.push(last.rules.field(name)?);
            }
        }
        Ok(selectors)
    }

    /// Says whether a finding of this rule, with this effect, at a field of this name is selected.
    pub fn takes(&self, (rule, effect): (&Rule, Effect), field: Option<&str>) -> bool {
        self.rules.take(rule, effect)
            && (self.fields.is_empty() || field.is_some_and(|name| self.fields.iter().any(|f| f == name)))
    }
}

impl Rules {
    fn read(name: &str, known: &[&'static Rule]) -> Result<Rules, String> {
        if name.is_empty() {
            return Err(
                "an empty name would mean every rule: give a rule, the beginning of one, an effect, or `all`"
                    .to_owned(),
            );
        }
        if name == ALL {
            return Ok(Rules::All);
        }
        if let Some(effect) = Effect::ALL.into_iter().find(|effect| effect.name() == name) {
            return Ok(Rules::Effect(effect));
        }
        if let Some(rule) = known.iter().find(|rule| rule.id == name) {
            return Ok(Rules::One(rule));
        }
        let family = Rules::Family(name.trim_end_matches('-').to_owned());
        if known.iter().any(|rule| family.take(rule, rule.effect)) {
            return Ok(family);
        }
        let names = known.iter().map(|rule| rule.id).chain(Effect::ALL.map(Effect::name));
        let hint = nearest(name, names).map(|id| format!(", did you mean `{id}`?"));
        Err(format!(
            "no rule, family of rules or effect `{name}`{}",
            hint.unwrap_or_default()
        ))
    }

    /// Checks the name of a field after `=`. Keys of a bootstrap may have any letters.
    fn field(&self, name: &str) -> Result<String, String> {
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '@');
        if name.is_empty() || !name.chars().all(is_name) {
            return Err(format!(
                "`{name}` is no name of a field, and after `=` there are fields only: name other rules before it"
            ));
        }
        if let (Rules::One(rule), Err(nearest)) = (self, known_field(name))
            && [&FIELD_IGNORED, &BEHAVIOUR_FIELD_IGNORED, &SECURITY_FIELD_IGNORED].contains(rule)
        {
            let hint = nearest
                .map(|name| format!(", did you mean `{name}`?"))
                .unwrap_or_default();
            return Err(format!("no message has a field `{name}`{hint}"));
        }
        Ok(name.to_owned())
    }

    fn take(&self, rule: &Rule, effect: Effect) -> bool {
        match self {
            Rules::All => true,
            Rules::Effect(wanted) => effect == *wanted,
            Rules::One(one) => *one == rule,
            Rules::Family(words) => rule
                .id
                .strip_prefix(words.as_str())
                .is_some_and(|rest| rest.starts_with('-')),
        }
    }
}

/// The severities that the user has chosen. If several choices match a finding, the last one
/// counts.
#[derive(Debug, Clone, Default)]
pub struct Severities {
    choices: Vec<(RuleSelector, Option<Severity>)>,
}

impl Severities {
    /// Adds a choice after the others: a severity, or `None` to switch the findings off.
    pub fn add(&mut self, selectors: Vec<RuleSelector>, severity: Option<Severity>) {
        self.choices
            .extend(selectors.into_iter().map(|selector| (selector, severity)));
    }

    /// Returns the severity of a finding of a rule with this effect whose innermost field is
    /// `field`; `None` if it is switched off. A policy that could not be evaluated is always an
    /// error.
    pub fn of(&self, (rule, effect): (&Rule, Effect), field: Option<&str>) -> Option<Severity> {
        if is_failed(rule, effect) {
            return Some(Severity::Error);
        }
        let mut latest = self.choices.iter().rev();
        latest
            .find(|(selector, _)| selector.takes((rule, effect), field))
            .map_or(Some(rule.severity_of(effect)), |(_, severity)| *severity)
    }
}
