//! The arguments of `validate`.

use std::path::PathBuf;

use clap::ValueEnum;

use super::fail_on::{FailOn, FailOnParser};
use super::format::{DestinationParser, OF_VALIDATE, ReportDestination};
use super::{ChoiceArgs, ClientArgs, InputArgs};
use crate::io::ColourChoice;
use xdsctl_lint::choice::Date;
use xdsctl_model::diag::Severity;

/// `xdsctl validate`
#[derive(Debug, clap::Args)]
pub struct ValidateArgs {
    /// Inputs
    #[command(flatten)]
    pub input: InputArgs,
    /// Who is asked
    #[command(flatten)]
    pub clients: ClientArgs,
    /// Print a table of resources and clients, then the reasons, instead of the findings
    #[arg(long, conflicts_with_all = ["statistics", "diff"])]
    pub matrix: bool,
    /// Check also what happens to a channel to this target. The input is all that it gets
    #[arg(long, value_name = "xds:///NAME")]
    pub target: Option<String>,
    /// Authority of that channel, instead of the target's name
    #[arg(long, value_name = "AUTHORITY", requires = "target")]
    pub authority: Option<String>,
    /// Check also what a gRPC server that listens on this address asks for. The input is all that it gets
    #[arg(long, value_name = "HOST:PORT")]
    pub listen: Option<String>,
    /// The input is complete: a reference that leads to nothing is an error
    #[arg(long)]
    pub complete: bool,
    /// Show the place that a line of a client's log, or the error message of an RPC, is about
    #[arg(long, value_name = "LINE", conflicts_with = "write_baseline")]
    pub explain_error: Option<String>,
    /// Format of the report, and the file for it instead of standard output; may be repeated [default: human]
    #[arg(long = "format", value_name = "FORMAT[=FILE]", value_parser = DestinationParser(OF_VALIDATE))]
    pub formats: Vec<ReportDestination>,
    /// Exit with 1 if a finding is at least this severe; after it, `not-checked` and clients that count: the others only warn [default: error]
    #[arg(long, value_parser = FailOnParser, value_name = "SEVERITY,CLIENT,...", hide_possible_values = true)]
    pub fail_on: Option<FailOn>,
    /// Show findings of at least this severity, and count the others [default: warning, in JSON note]
    #[arg(long, value_enum, value_name = "SEVERITY")]
    pub min_severity: Option<Level>,
    /// Leave out the findings that this file lists
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Write the present findings to this file, for --baseline
    #[arg(long, value_name = "FILE")]
    pub write_baseline: Option<PathBuf>,
    /// Keep watching a running system, check each new version, and exit with 1 at the first bad one
    #[arg(long, conflicts_with_all = ["explain_error", "fix", "diff", "write_baseline"])]
    pub watch: bool,
    /// Apply the fixes that are certain to the JSON and YAML files
    #[arg(long, conflicts_with = "explain_error")]
    pub fix: bool,
    /// Print those fixes as a patch instead of the report. Change nothing
    #[arg(long, visible_alias = "dry-run", conflicts_with_all = ["explain_error", "formats", "statistics", "show", "write_baseline"])]
    pub diff: bool,
    /// Day on which suppressions end, instead of today
    #[arg(long, value_name = "YYYY-MM-DD", hide = true)]
    pub today: Option<Date>,
    /// Show every finding, not five of a rule
    #[arg(long)]
    pub all_findings: bool,
    /// Show at most so many findings of each severity, and count the others
    #[arg(long, value_name = "NUMBER", conflicts_with = "explain_suppressed")]
    pub max_findings: Option<usize>,
    /// Judge also what was made for a proxy, and show every finding
    #[arg(long)]
    pub all: bool,
    /// Print also the findings that are not shown, each with the reason. For the formats human and json
    #[arg(long, conflicts_with_all = ["matrix", "statistics", "diff"])]
    pub explain_suppressed: bool,
    /// Print the number of findings of each rule instead of the findings
    #[arg(long)]
    pub statistics: bool,
    /// Print findings only, no summary and no progress
    #[arg(short, long)]
    pub quiet: bool,
    /// Print also what the client keeps of each accepted resource
    #[arg(long, value_enum, value_name = "WHAT", conflicts_with_all = ["matrix", "statistics"])]
    pub show: Vec<Show>,
    /// With `--show reached`, begin at the resources of this name; may be repeated
    #[arg(long, value_name = "NAME", requires = "show")]
    pub reach: Vec<String>,
    /// How loud rules are
    #[command(flatten)]
    pub choice: ChoiceArgs,
    /// When to colour the report
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub color: ColourChoice,
}

/// A severity as an argument.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Errors only
    #[default]
    Error,
    /// Warnings and errors
    Warning,
    /// Everything
    Note,
}

impl Level {
    /// Returns the severity.
    pub const fn severity(self) -> Severity {
        match self {
            Level::Error => Severity::Error,
            Level::Warning => Severity::Warning,
            Level::Note => Severity::Note,
        }
    }
}

/// What `--show` adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Show {
    /// What the client keeps of each accepted resource. For the formats human and json
    Parsed,
    /// What each resource refers to, and what the client keeps of those that channels reach first. For the format json
    Reached,
}
