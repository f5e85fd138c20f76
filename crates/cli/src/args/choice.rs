//! `-D`, `-W` and `-A`: collects all three in one list, in the order in which they were given,
//! because the last one counts.

use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches};
use xdsctl_model::diag::Severity;

use super::rule::RuleParser;

/// A flag, and the severity that it gives to rules.
struct Flag {
    id: &'static str,
    short: char,
    severity: Option<Severity>,
    help: &'static str,
}

const FLAGS: [Flag; 3] = [
    Flag {
        id: "deny",
        short: 'D',
        severity: Some(Severity::Error),
        help: "Make findings of these rules, families, effects or `all` errors; the last of -D, -W and -A counts",
    },
    Flag {
        id: "warn",
        short: 'W',
        severity: Some(Severity::Warning),
        help: "Make them warnings",
    },
    Flag {
        id: "allow",
        short: 'A',
        severity: None,
        help: "Drop them; RULE=FIELD,... means these fields only",
    },
];

/// The choices of the command line in order: rules as they were written, each with the new
/// severity, or `None` to drop their findings.
#[derive(Debug, Clone, Default)]
pub struct ChoiceArgs(pub Vec<(String, Option<Severity>)>);

impl clap::Args for ChoiceArgs {
    fn augment_args(command: Command) -> Command {
        command.args(FLAGS.iter().map(|flag| {
            Arg::new(flag.id)
                .short(flag.short)
                .long(flag.id)
                .value_name("RULE,...")
                .value_parser(RuleParser)
                .hide_possible_values(true)
                .action(ArgAction::Append)
                .help(flag.help)
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ChoiceArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut choices = Vec::new();
        for flag in &FLAGS {
            let places = matches.indices_of(flag.id).into_iter().flatten();
            let values = matches.get_many::<String>(flag.id).into_iter().flatten();
            choices.extend(places.zip(values).map(|(place, value)| (place, value, flag.severity)));
        }
        choices.sort_by_key(|(place, ..)| *place);
        let choices = choices
            .into_iter()
            .map(|(_, value, severity)| (value.clone(), severity));
        Ok(ChoiceArgs(choices.collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
