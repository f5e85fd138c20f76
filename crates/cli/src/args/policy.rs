//! The arguments of `policy`.

use std::path::PathBuf;

use clap::Subcommand;

use super::format::{DestinationParser, OF_TEST, ReportDestination};
use super::{ClientArgs, ConfigArgs};
use crate::io::ColourChoice;

/// `xdsctl policy`
#[derive(Debug, clap::Args)]
pub struct PolicyArgs {
    /// What to do
    #[command(subcommand)]
    pub command: PolicyCommand,
}

/// What `policy` does.
#[derive(Debug, Subcommand)]
pub enum PolicyCommand {
    /// Run the cases of policies: what each must accept and reject
    Test(PolicyTestArgs),
    /// Print a policy about what stands in a line of a file
    New(PolicyNewArgs),
    /// Print the JSON Schema of what an expression may look at
    Schema,
}

/// `xdsctl policy test`
#[derive(Debug, clap::Args)]
pub struct PolicyTestArgs {
    /// Files of policies, or directories of them; without one those of the project
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Where the settings of the project are
    #[command(flatten)]
    pub config: ConfigArgs,
    /// The clients of cases that name none, each on its own; without one those of the project
    #[command(flatten)]
    pub clients: ClientArgs,
    /// Run only cases whose name, as `ID accepts NAME`, matches this
    #[arg(long, value_name = "REGEX")]
    pub run: Option<regex::Regex>,
    /// Format of the report, and the file for it instead of standard output; may be repeated [default: human]
    #[arg(long = "format", value_name = "FORMAT[=FILE]", value_parser = DestinationParser(OF_TEST))]
    pub formats: Vec<ReportDestination>,
    /// Do not print cases that pass
    #[arg(short, long)]
    pub quiet: bool,
    /// When to colour the report
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub color: ColourChoice,
}

/// `xdsctl policy new`
#[derive(Debug, clap::Args)]
pub struct PolicyNewArgs {
    /// The file with the resource, and the line of the field
    #[arg(long, value_name = "FILE:LINE")]
    pub from: String,
}
