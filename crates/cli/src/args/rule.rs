//! Arguments that select rules. They are completed with the ids of rules; the commands parse them.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use xdsctl_lint::catalogue;
use xdsctl_model::diag::Effect;

/// Accepts any text. Offers the ids of rules and the effects for completion.
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
