//! The arguments of the commands that follow one channel: `tree`, `route`, `pick`, `retry`, `cookie`.

use clap::{Subcommand, ValueEnum};
use xdsctl_channel::sim::MAX_EVENTS;

use super::{Format, InputArgs};
use crate::io::ColourChoice;
use crate::session::seconds;

/// Which channel.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ChannelArgs {
    /// Inputs
    #[command(flatten)]
    pub input: InputArgs,
    /// Client to simulate, instead of C-core 1.85.1: `go`, `cpp@1.62`; several, as in `go,java,cpp`, are compared
    #[arg(long, value_name = "CLIENT")]
    pub client: Option<String>,
    /// World of the channel, if there are several: `xds/prod`, as standard error names it
    #[arg(long = "in", value_name = "WORLD")]
    pub in_world: Option<String>,
    /// Target of the channel; default is the only API listener
    #[arg(long, value_name = "xds:///NAME")]
    pub target: Option<String>,
    /// Authority of the channel, instead of the target's name
    #[arg(long, value_name = "AUTHORITY")]
    pub authority: Option<String>,
    /// Start at this RouteConfiguration, without a listener and its filters
    #[arg(long, value_name = "NAME", conflicts_with_all = ["target", "cluster"])]
    pub route_config: Option<String>,
    /// Start at this cluster, without listener and routes
    #[arg(long, value_name = "NAME", conflicts_with_all = ["target", "authority"])]
    pub cluster: Option<String>,
    /// Addresses of a DNS name; may be repeated
    #[arg(long, value_name = "HOST:PORT=IP:PORT,...")]
    pub resolve: Vec<String>,
    /// Health of an endpoint instead of the one in EDS, such as DRAINING; may be repeated
    #[arg(long, value_name = "IP:PORT=HEALTH")]
    pub health: Vec<String>,
    /// Endpoint to remove from EDS; may be repeated
    #[arg(long, value_name = "IP:PORT")]
    pub remove: Vec<String>,
}

/// An RPC before it is picked.
#[derive(Debug, Clone, clap::Args)]
pub struct RequestArgs {
    /// Method of the RPC [default: /pkg.Service/Method]
    #[arg(long, value_name = "/PKG.SERVICE/METHOD")]
    pub method: Option<String>,
    /// Metadata of the RPC, also as `NAME: VALUE`; may be repeated
    #[arg(long = "header", value_name = "NAME=VALUE")]
    pub headers: Vec<String>,
    /// Cookie of the RPC, as a client sends it; may be repeated
    #[arg(long = "cookie", value_name = "NAME=VALUE")]
    pub cookies: Vec<String>,
    /// Deadline that the application sets
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    pub timeout: Option<f64>,
    /// Start of the random numbers
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    pub seed: u64,
}

/// `xdsctl tree`
#[derive(Debug, Clone, clap::Args)]
pub struct TreeArgs {
    /// Which channel
    #[command(flatten)]
    pub channel: ChannelArgs,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub format: TreeFormat,
    /// Which client's tree
    #[arg(long, value_enum, default_value_t)]
    pub layout: Layout,
    /// Show everything that is dropped, however much it is
    #[arg(long)]
    pub all: bool,
    /// When to colour the text
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub color: ColourChoice,
}

/// Forms of the tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum TreeFormat {
    /// For people
    #[default]
    Human,
    /// The LB configs as the client generates them
    Json,
    /// Graphviz
    Dot,
    /// Mermaid flow chart
    Mermaid,
    /// Picture
    Svg,
}

/// Layouts of the tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Layout {
    /// A cds policy for each leaf of an aggregate cluster (gRFC A75)
    #[default]
    A75,
    /// One cluster resolver below an aggregate cluster (gRFC A37, gRPC C-core up to 1.62)
    A37,
}

/// `xdsctl route`
#[derive(Debug, Clone, clap::Args)]
pub struct RouteArgs {
    /// Which channel
    #[command(flatten)]
    pub channel: ChannelArgs,
    /// The RPC
    #[command(flatten)]
    pub request: RequestArgs,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
    /// When to colour the text
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub color: ColourChoice,
}

/// `xdsctl pick`
#[derive(Debug, Clone, clap::Args)]
pub struct PickArgs {
    /// Which channel
    #[command(flatten)]
    pub channel: ChannelArgs,
    /// The RPC
    #[command(flatten)]
    pub request: RequestArgs,
    /// Send the RPC this often and show the shares
    #[arg(long, default_value_t = 1, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub count: u64,
    /// Give the RPC the session cookie of this address
    #[arg(long, value_name = "IP:PORT", conflicts_with = "cookies")]
    pub session: Option<String>,
    /// Show where this address is in the tree, instead of sending an RPC
    #[arg(long, value_name = "IP:PORT")]
    pub address: Option<String>,
    /// Addresses that accept connections. All others refuse; by default all accept
    #[arg(long, value_name = "IP:PORT,...", value_delimiter = ',')]
    pub reachable: Vec<String>,
    /// Addresses, localities or clusters that refuse connections; may be repeated
    #[arg(long, value_name = "WHAT,...")]
    pub down: Vec<String>,
    /// State of the connection to an address; may be repeated
    #[arg(long, value_name = "IP:PORT=STATE")]
    pub state: Vec<String>,
    /// Address that outlier detection has ejected; may be repeated
    #[arg(long, value_name = "IP:PORT")]
    pub eject: Vec<String>,
    /// Let the first N attempts of each RPC fail with this code
    #[arg(long, value_name = "CODE:N")]
    pub respond: Option<String>,
    /// Cluster that the lookup service (RLS) returns for every lookup; repeat it for clusters to use when the first one fails
    #[arg(long, value_name = "CLUSTER")]
    pub lookup: Vec<String>,
    /// Wait for a connection instead of failing
    #[arg(long)]
    pub wait_for_ready: bool,
    /// Play these steps on the channel, one JSON object a line; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["count", "session", "address"])]
    pub requests: Option<std::path::PathBuf>,
    /// Limit of events for one RPC or step; beyond it the simulation ends with an error
    #[arg(long, default_value_t = MAX_EVENTS, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_events: u64,
    /// Show everything, also picks that were queued
    #[arg(long)]
    pub explain: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
    /// When to colour the text
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub color: ColourChoice,
}

/// `xdsctl retry`
#[derive(Debug, Clone, clap::Args)]
pub struct RetryArgs {
    /// Which channel; not needed with --retry-on
    #[command(flatten)]
    pub channel: ChannelArgs,
    /// The RPC whose route's policy is shown
    #[command(flatten)]
    pub request: RequestArgs,
    /// Show a policy with this retry_on instead of a route's policy
    #[arg(long, value_name = "TOKEN,...")]
    pub retry_on: Option<String>,
    /// The field num_retries
    #[arg(long, requires = "retry_on", default_value_t = 1, value_name = "NUMBER")]
    pub num_retries: u32,
    /// The field retry_back_off.base_interval
    #[arg(long, requires = "retry_on", value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    pub base_interval: Option<f64>,
    /// The field retry_back_off.max_interval
    #[arg(long, requires = "base_interval", value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    pub max_interval: Option<f64>,
    /// Statuses of the attempts in order. The last one repeats. CODE:MS asks for a delay
    #[arg(long, value_name = "CODE,...", value_delimiter = ',')]
    pub script: Vec<String>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

/// `xdsctl cookie`
#[derive(Debug, clap::Args)]
pub struct CookieArgs {
    /// Which way
    #[command(subcommand)]
    pub command: CookieCommand,
}

/// Both ways.
#[derive(Debug, Subcommand)]
pub enum CookieCommand {
    /// Write the value of a session cookie
    Encode {
        /// Addresses of the endpoint, the one in use first
        #[arg(value_name = "IP:PORT", required = true)]
        addresses: Vec<String>,
        /// Cluster that the endpoint is in
        #[arg(long, default_value = "", value_name = "NAME")]
        cluster: String,
        /// Name of the cookie, to print NAME=VALUE
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
    },
    /// Read the value of a session cookie
    Decode {
        /// A value, NAME=VALUE, or a whole set-cookie header
        value: String,
        /// Output format
        #[arg(long, value_enum, default_value_t = Format::Human)]
        format: Format,
    },
}
