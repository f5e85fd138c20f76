//! `--format FORMAT[=FILE]`: the forms of a report, and where each goes.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Forms of a report; each command offers some of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReportFormat {
    /// For people.
    Human,
    /// One finding a line.
    Concise,
    /// Everything, for programs.
    Json,
    /// One verdict a line.
    Jsonl,
    /// SARIF 2.1.0.
    Sarif,
    /// JUnit XML.
    Junit,
    /// Annotations in GitHub Actions.
    Github,
    /// GitLab's code quality report.
    Gitlab,
    /// A comment for a pull request.
    Markdown,
}

/// The formats that a command offers, each with its help text.
pub type OfferedFormats = &'static [(ReportFormat, &'static str)];

/// The formats that `validate` offers.
pub static OF_VALIDATE: OfferedFormats = &[
    (ReportFormat::Human, "For people, with the lines around each finding"),
    (
        ReportFormat::Concise,
        "One finding a line: `path:line:col: severity rule: message`",
    ),
    (ReportFormat::Json, "Everything, for programs"),
    (
        ReportFormat::Jsonl,
        "One verdict a line, for each line of the input (a stream of snapshots) or each version of a running system",
    ),
    (ReportFormat::Sarif, "SARIF 2.1.0, for code scanning"),
    (ReportFormat::Junit, "JUnit XML, with a test case for each resource"),
    (ReportFormat::Github, "Annotations and a step summary in GitHub Actions"),
    (ReportFormat::Gitlab, "GitLab's code quality report"),
    (ReportFormat::Markdown, "A comment for a pull request"),
];

/// The formats that `test` offers.
pub static OF_TEST: OfferedFormats = &[
    (ReportFormat::Human, "For people, with the lines around each failure"),
    (ReportFormat::Json, "Everything, for programs"),
    (
        ReportFormat::Junit,
        "JUnit XML, with a suite for each file and a case for each test",
    ),
    (ReportFormat::Sarif, "SARIF 2.1.0, for code scanning"),
    (ReportFormat::Github, "Annotations in GitHub Actions"),
    (ReportFormat::Gitlab, "GitLab's code quality report"),
    (ReportFormat::Markdown, "A comment for a pull request"),
];

/// The formats that `diff` offers.
pub static OF_DIFF: OfferedFormats = &[
    (ReportFormat::Human, "For people"),
    (ReportFormat::Json, "Everything, for programs"),
    (ReportFormat::Github, "Annotations and a step summary in GitHub Actions"),
    (ReportFormat::Markdown, "A comment for a pull request"),
];

/// A format and the file for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportDestination {
    /// The format.
    pub format: ReportFormat,
    /// The file; `None` for standard output.
    pub file: Option<PathBuf>,
}

impl ReportDestination {
    /// Says whether standard output has this format.
    pub fn is_shown_as(&self, format: ReportFormat) -> bool {
        self.file.is_none() && self.format == format
    }
}

/// Parses a [`ReportDestination`] with one of the formats that a command offers.
#[derive(Debug, Clone, Copy)]
pub struct DestinationParser(pub OfferedFormats);

impl DestinationParser {
    fn values(self) -> impl Iterator<Item = PossibleValue> {
        let value = |(format, help): &(ReportFormat, &'static str)| Some(format.to_possible_value()?.help(*help));
        self.0.iter().filter_map(value)
    }
}

impl TypedValueParser for DestinationParser {
    type Value = ReportDestination;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<ReportDestination, clap::Error> {
        let Some(text) = value.to_str() else {
            return Err(clap::Error::new(ErrorKind::InvalidUtf8).with_cmd(command));
        };
        let (name, file) = match text.split_once('=') {
            Some((name, file)) => (name, Some(file)),
            None => (text, None),
        };
        if file == Some("") {
            let mut error = clap::Error::new(ErrorKind::InvalidValue).with_cmd(command);
            if let Some(arg) = arg {
                error.insert(ContextKind::InvalidArg, ContextValue::String(arg.to_string()));
            }
            error.insert(ContextKind::InvalidValue, ContextValue::String(text.to_owned()));
            return Err(error);
        }
        let name = PossibleValuesParser::new(self.values()).parse_ref(command, arg, OsStr::new(name))?;
        let format = ReportFormat::from_str(&name, false).map_err(|_| clap::Error::new(ErrorKind::InvalidValue))?;
        let file = file.filter(|file| *file != "-").map(PathBuf::from);
        Ok(ReportDestination { format, file })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.values()))
    }
}
