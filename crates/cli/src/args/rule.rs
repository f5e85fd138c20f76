//! Values of arguments that clap cannot derive: rules, which are completed with their ids and
//! parsed by the commands, and values of other crates, each of which has a word.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
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

/// Returns a parser of words, each with the value that it stands for and its help.
pub fn one_of<T: Copy + Send + Sync>(
    words: &'static [(&'static str, T, &'static str)],
) -> impl TypedValueParser<Value = T> {
    let values = words
        .iter()
        .map(|(word, _, help)| PossibleValue::new(*word).help(*help));
    PossibleValuesParser::new(values).try_map(|word| {
        let known = words.iter().find(|(own, ..)| *own == word);
        known.map(|(_, value, _)| *value).ok_or("it is not one of the words")
    })
}
