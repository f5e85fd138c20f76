//! `--fail-on SEVERITY,CLIENT,...`: the severity from which findings fail the run, the clients
//! whose findings count, and whether something that was not checked fails the run.

use std::ffi::OsStr;
use std::fmt;
use std::str::FromStr;

use clap::ValueEnum;
use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use xdsctl_model::profile::{Client, Family, Fleet};

use super::Level;

/// What fails a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FailOn {
    /// Findings of this severity and above fail the run.
    pub level: Level,
    /// The clients whose findings count, as they were written; empty if all that are asked count.
    /// Findings of the others only warn.
    pub clients: Vec<String>,
    /// Whether something that was not checked fails the run, too.
    pub not_checked: bool,
}

/// The word that lets something that was not checked fail the run.
const NOT_CHECKED: &str = "not-checked";

impl FailOn {
    /// Returns the clients of a fleet whose findings count; empty if all do.
    ///
    /// # Errors
    /// A client is named that is not asked.
    pub fn counted(&self, fleet: &Fleet) -> Result<Vec<Client>, String> {
        let mut counted = Vec::new();
        for word in &self.clients {
            let named = Client::parse_list(word).map_err(|error| error.to_string())?;
            let families: Vec<Family> = named.iter().map(|client| client.family).collect();
            let is_named = |client: &&Client| match word.contains('@') {
                true => named.contains(client),
                false => families.contains(&client.family),
            };
            let before = counted.len();
            counted.extend(fleet.clients().iter().filter(is_named));
            if counted.len() == before {
                let asked: Vec<String> = fleet.clients().iter().map(Client::to_string).collect();
                return Err(format!("`{word}` is not asked, asked are {}", asked.join(", ")));
            }
        }
        Ok(counted)
    }
}

impl FromStr for FailOn {
    type Err = String;

    fn from_str(text: &str) -> Result<FailOn, String> {
        let (mut level, mut not_checked) = (None, false);
        let mut clients = Vec::new();
        for word in text.split(',').map(str::trim) {
            if word == NOT_CHECKED {
                not_checked = true;
                continue;
            }
            match Level::from_str(word, false) {
                Ok(_) if level.is_some() => return Err(format!("`{word}` is a second severity")),
                Ok(word) => level = Some(word),
                Err(_) => match Client::parse_list(word) {
                    Ok(_) => clients.push(word.to_owned()),
                    Err(why) => {
                        let levels =
                            "must be `error`, `warning` or `note`, `not-checked`, and clients whose findings count";
                        return Err(format!("{levels}: {why}"));
                    }
                },
            }
        }
        Ok(FailOn {
            level: level.unwrap_or_default(),
            clients,
            not_checked,
        })
    }
}

impl fmt::Display for FailOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.level.severity().name())?;
        if self.not_checked {
            write!(f, ",{NOT_CHECKED}")?;
        }
        self.clients.iter().try_for_each(|client| write!(f, ",{client}"))
    }
}

/// Parses a [`FailOn`].
#[derive(Debug, Clone, Copy)]
pub struct FailOnParser;

impl TypedValueParser for FailOnParser {
    type Value = FailOn;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<FailOn, clap::Error> {
        let Some(text) = value.to_str() else {
            return Err(clap::Error::new(ErrorKind::InvalidUtf8).with_cmd(command));
        };
        text.parse().map_err(|why: String| {
            let mut error = clap::Error::new(ErrorKind::ValueValidation).with_cmd(command);
            if let Some(arg) = arg {
                error.insert(ContextKind::InvalidArg, ContextValue::String(arg.to_string()));
            }
            error.insert(ContextKind::InvalidValue, ContextValue::String(text.to_owned()));
            error.insert(
                ContextKind::Suggested,
                ContextValue::StyledStrs(vec![clap::builder::StyledStr::from(why)]),
            );
            error
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let levels = Level::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let families = Family::ALL.iter().map(|family| PossibleValue::new(family.name()));
        let not_checked = [PossibleValue::new(NOT_CHECKED)];
        Some(Box::new(levels.chain(not_checked).chain(families)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_severity_and_clients_in_any_order() {
        let shown = |text: &str| text.parse::<FailOn>().map(|fail_on| fail_on.to_string());
        assert_eq!(shown("warning"), Ok("warning".to_owned()));
        assert_eq!(shown("cpp,go@1.70"), Ok("error,cpp,go@1.70".to_owned()));
        assert_eq!(shown("go, note"), Ok("note,go".to_owned()));
        assert_eq!(shown("go,not-checked"), Ok("error,not-checked,go".to_owned()));
        assert!(shown("error,note").is_err());
        assert!(shown("erorr").is_err());
    }

    #[test]
    fn only_clients_that_are_asked_count() {
        let fleet = Fleet::new(&Client::parse_list("cpp,java@1.74,java@1.80").unwrap());
        let counted = |text: &str| {
            let counted = text.parse::<FailOn>().unwrap().counted(&fleet);
            counted.map(|list| list.iter().map(Client::to_string).collect::<Vec<_>>().join(" "))
        };
        assert_eq!(counted("error"), Ok(String::new()));
        assert_eq!(counted("java"), Ok("java@1.74.0 java@1.80.0".to_owned()));
        assert_eq!(counted("python,java@1.80"), Ok("cpp@1.85.1 java@1.80.0".to_owned()));
        assert!(counted("go").is_err());
    }
}
