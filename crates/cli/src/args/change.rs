//! The arguments of the commands about changes and references: `diff`, `who`.

use super::format::{DestinationParser, OF_DIFF, ReportDestination, ReportFormat};
use super::rule::one_of;
use super::{ClientArgs, Format, InputArgs};
use crate::io::ColourChoice;
use clap::ValueEnum;
use xdsctl_model::resource::ResourceType;

/// `xdsctl diff`
#[derive(Debug, clap::Args)]
#[command(override_usage = "xdsctl diff [OPTIONS] BEFORE AFTER")]
pub struct DiffArgs {
    /// The two inputs: files, directories, `-`, or `git:REVISION:PATH`
    #[command(flatten)]
    pub input: InputArgs,
    /// Who is asked
    #[command(flatten)]
    pub clients: ClientArgs,
    /// Compare only what a channel to this target uses
    #[arg(long, value_name = "xds:///NAME")]
    pub target: Option<String>,
    /// Authority of that channel, instead of the target's name
    #[arg(long, value_name = "AUTHORITY", requires = "target")]
    pub authority: Option<String>,
    /// Exit with 1 if anything changes
    #[arg(long, conflicts_with = "fail_on")]
    pub exit_code: bool,
    /// Exit with 1 if this changes, and only then: where RPCs go, or verdicts; or if something was not compared; a list for any
    #[arg(long, value_enum, value_name = "WHAT,...", value_delimiter = ',')]
    pub fail_on: Vec<ChangeOf>,
    /// Show every change, and values in full
    #[arg(long)]
    pub all: bool,
    /// Form of the report, and the file that it goes to instead of standard output; may be repeated [default: human]
    #[arg(long = "format", value_name = "FORMAT[=FILE]", value_parser = DestinationParser(OF_DIFF))]
    pub formats: Vec<ReportDestination>,
    /// When to colour the report
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub color: ColourChoice,
}

impl DiffArgs {
    /// Says whether standard output is for people.
    pub(super) fn is_folded(&self) -> bool {
        let is_other = |form: &ReportDestination| form.file.is_none() && form.format != ReportFormat::Human;
        !self.formats.iter().any(is_other)
    }
}

/// The kinds of change that can fail the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ChangeOf {
    /// Where RPCs go: what stands under `For RPCs`
    Rpcs,
    /// Which resources the client rejects
    Verdicts,
    /// Whom servers let in: what stands under `For servers`
    Access,
    /// What the report lists as not checked
    NotChecked,
}

/// `xdsctl who`
#[derive(Debug, clap::Args)]
pub struct WhoArgs {
    /// Name of the resource
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Inputs
    #[command(flatten)]
    pub input: InputArgs,
    /// Only this world, if there are several: `xds/prod`, as standard error names it
    #[arg(long = "in", value_name = "WORLD")]
    pub in_world: Option<String>,
    /// Only a resource of this type
    #[arg(long = "type", value_name = "TYPE", value_parser = one_of(TYPES))]
    pub resource_type: Option<ResourceType>,
    /// Show every place that refers
    #[arg(long)]
    pub all: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

/// The types of resources, each with its word and its help.
const TYPES: &[(&str, ResourceType, &str)] = &[
    ("lds", ResourceType::Listener, "Listener"),
    ("rds", ResourceType::RouteConfiguration, "RouteConfiguration"),
    ("cds", ResourceType::Cluster, "Cluster"),
    ("eds", ResourceType::Endpoints, "ClusterLoadAssignment"),
];
