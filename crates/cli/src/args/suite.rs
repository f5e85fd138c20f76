//! The arguments of the commands that play scenarios: `test` and `simulate`.

use std::path::PathBuf;

use clap::ValueEnum;
use xdsctl_channel::sim::MAX_EVENTS;
use xdsctl_model::profile::Client;
use xdsctl_suite::MAX_RPCS;

use super::format::{DestinationParser, OF_TEST, ReportDestination};
use crate::io::ColourChoice;
use crate::session::seconds;

/// `xdsctl test`
#[derive(Debug, clap::Args)]
pub struct TestArgs {
    /// Suites, or directories in which every suite is run; `-` is standard input. With --init a world, with --record a log
    #[arg(value_name = "FILE", required_unless_present = "schema")]
    pub files: Vec<PathBuf>,
    /// World for tests that name none, such as files of router_check_tool; may be repeated
    #[arg(long, value_name = "FILE")]
    pub world: Vec<PathBuf>,
    /// Client of tests that name none with `kind`, instead of C-core 1.85.1: `go`, `java@1.80`
    #[arg(long, value_name = "CLIENT", value_parser = Client::parse_one)]
    pub client: Option<Client>,
    /// Let a suite name files below this directory, not only below its own; may be repeated
    #[arg(long, value_name = "DIR")]
    pub allow_read: Vec<PathBuf>,
    /// Run only tests whose name, as `FILE: NAME`, matches this
    #[arg(long, value_name = "REGEX")]
    pub run: Option<regex::Regex>,
    /// Format of the report, and the file for it instead of standard output; may be repeated [default: human]
    #[arg(long = "format", value_name = "FORMAT[=FILE]", value_parser = DestinationParser(OF_TEST))]
    pub formats: Vec<ReportDestination>,
    /// Replace what the suites expected by what happened, and run them again
    #[arg(long)]
    pub update: bool,
    /// Print a suite with a step for each route of the files. The files are its world
    #[arg(long, conflicts_with_all = ["update", "record"])]
    pub init: bool,
    /// Print the JSON Schema of a suite, for editors
    #[arg(long, conflicts_with_all = ["files", "init", "update", "record"])]
    pub schema: bool,
    /// Print a suite made from a client's verbose log
    #[arg(long, conflicts_with = "update")]
    pub record: bool,
    /// Show the whole path of an RPC, also picks that were queued
    #[arg(long)]
    pub explain: bool,
    /// List the routes, clusters and endpoints that no RPC has used
    #[arg(long)]
    pub coverage: bool,
    /// Exit with 1 if less of the configuration was used
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    pub fail_under: Option<u8>,
    /// Do not print tests that pass
    #[arg(short, long)]
    pub quiet: bool,
    /// Limit of events for one step; beyond it the test ends with an error
    #[arg(long, default_value_t = MAX_EVENTS, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_events: u64,
    /// Most RPCs of a test, after which it ends with an error; ten `never` and expectations count as one
    #[arg(long, default_value_t = MAX_RPCS, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_rpcs: u64,
    /// Print passwords, keys and tokens instead of masking them
    #[arg(long)]
    pub show_secrets: bool,
    /// When to colour the report
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub color: ColourChoice,
}

/// `xdsctl simulate`
#[derive(Debug, clap::Args)]
pub struct SimulateArgs {
    /// A suite; `-` is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// World for a test that names none; may be repeated
    #[arg(long, value_name = "FILE")]
    pub world: Vec<PathBuf>,
    /// Client of tests that name none with `kind`, instead of C-core 1.85.1: `go`, `java@1.80`
    #[arg(long, value_name = "CLIENT", value_parser = Client::parse_one)]
    pub client: Option<Client>,
    /// Let a suite name files below this directory, not only below its own; may be repeated
    #[arg(long, value_name = "DIR")]
    pub allow_read: Vec<PathBuf>,
    /// The test whose name matches this; needed where there are several
    #[arg(long, value_name = "REGEX")]
    pub run: Option<regex::Regex>,
    /// Stop after so many seconds of simulated time
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub until: Option<f64>,
    /// Seed for chance, instead of the suite's
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// Show these layers only, such as `step,rpc,priority`
    #[arg(long, value_name = "LAYER,...", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Show charts below: RPCs, latency and connections by backend
    #[arg(long)]
    pub chart: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = TimelineFormat::Human)]
    pub format: TimelineFormat,
    /// Most events of one step, after which the simulation ends with an error
    #[arg(long, default_value_t = MAX_EVENTS, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_events: u64,
    /// Most RPCs of a test, after which it ends with an error; ten `never` and expectations count as one
    #[arg(long, default_value_t = MAX_RPCS, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_rpcs: u64,
    /// Print passwords, keys and tokens instead of masking them
    #[arg(long)]
    pub show_secrets: bool,
    /// When to colour the text
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub color: ColourChoice,
}

/// Forms of a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TimelineFormat {
    /// For people
    Human,
    /// An event a line, for programs
    Jsonl,
    /// The charts as a picture
    Svg,
}
