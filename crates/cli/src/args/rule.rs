//! Arguments that select rules: completed with their ids, read by who knows what they mean.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use xdsctl_lint::catalogue;
use xdsctl_model::diag::Effect;

/// Takes any text; offers the ids of rules and the effects.
#[derive(Debug, Clone, Copy)]
pub struct RuleParser;

impl TypedValueParser for RuleParser {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let effects = Effect::ALL.iter().map(|effect| effect.name());
        let rules = catalogue::rules().map(|rule| rule.id);
        Some(Box::new(effects.chain(rules).map(PossibleValue::new)))
    }
}
