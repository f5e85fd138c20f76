//! The arguments of the commands about changes and references: `diff`, `who`.

use super::{Format, InputArgs};
use crate::io::ColourChoice;
use clap::ValueEnum;
use xdsctl::model::ResourceType;

/// `xdsctl diff`
#[derive(Debug, clap::Args)]
#[command(override_usage = "xdsctl diff [OPTIONS] BEFORE AFTER")]
pub struct DiffArgs {
    /// The two inputs: files, directories, `-`, or `git:REVISION:PATH`
    #[command(flatten)]
    pub input: InputArgs,
    /// Exit with 1 if anything changes
    #[arg(long)]
    pub exit_code: bool,
    /// Show every change, and values in full
    #[arg(long)]
    pub all: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
    /// When to colour the report
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub color: ColourChoice,
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
    /// Only a resource of this type
    #[arg(long = "type", value_enum, value_name = "TYPE")]
    pub resource_type: Option<Kind>,
    /// Show every place that refers
    #[arg(long)]
    pub all: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

/// A type of resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Listener
    Lds,
    /// RouteConfiguration
    Rds,
    /// Cluster
    Cds,
    /// ClusterLoadAssignment
    Eds,
}

impl Kind {
    /// The type.
    pub const fn resource_type(self) -> ResourceType {
        match self {
            Kind::Lds => ResourceType::Listener,
            Kind::Rds => ResourceType::RouteConfiguration,
            Kind::Cds => ResourceType::Cluster,
            Kind::Eds => ResourceType::Endpoints,
        }
    }
}
