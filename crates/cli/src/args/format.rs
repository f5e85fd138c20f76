//! `--format FORMAT[=FILE]`: the forms of a report, and where each goes.

use std::ffi::OsStr;
use std::marker::PhantomData;
use std::path::PathBuf;

use clap::ValueEnum;
use clap::builder::{EnumValueParser, PossibleValue, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Forms of the report of `validate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReportFormat {
    /// For people, with the lines around each finding
    Human,
    /// One finding a line: `path:line:col: severity rule: message`
    Concise,
    /// Everything, for programs
    Json,
    /// One verdict a line, for each line of the input (a stream of snapshots) or each version of a running system
    Jsonl,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// JUnit XML, with a test case for each resource
    Junit,
    /// Annotations and a step summary in GitHub Actions
    Github,
    /// GitLab's code quality report
    Gitlab,
    /// A comment for a pull request
    Markdown,
}

/// A form and its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportDestination<F = ReportFormat> {
    /// The form.
    pub format: F,
    /// The file; `None` for standard output.
    pub file: Option<PathBuf>,
}

/// Parses a [`ReportDestination`].
#[derive(Debug, Clone, Copy)]
pub struct DestinationParser<F = ReportFormat>(PhantomData<F>);

impl<F> Default for DestinationParser<F> {
    fn default() -> Self {
        DestinationParser(PhantomData)
    }
}

impl<F: ValueEnum + Send + Sync + 'static> TypedValueParser for DestinationParser<F> {
    type Value = ReportDestination<F>;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<ReportDestination<F>, clap::Error> {
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
        let format = EnumValueParser::<F>::new().parse_ref(command, arg, OsStr::new(name))?;
        let file = file.filter(|file| *file != "-").map(PathBuf::from);
        Ok(ReportDestination { format, file })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let variants = F::value_variants().iter();
        Some(Box::new(variants.filter_map(ValueEnum::to_possible_value)))
    }
}
