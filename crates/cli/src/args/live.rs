//! The arguments about running systems: how to connect, `fetch`, `serve`, and `ui`, which serves a
//! browser.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::{ConfigArgs, InputArgs};

/// How to connect to `csds://`, `ads://` and `envoy://`.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Running systems")]
pub struct ConnectArgs {
    /// Node id for `ads://`, instead of the bootstrap's
    #[arg(long, value_name = "ID")]
    pub node: Option<String>,
    /// Speak TLS, and trust the system's certificates
    #[arg(long)]
    pub tls: bool,
    /// Speak TLS, and trust the certificates in this PEM file
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// Own certificate chain for mTLS, PEM
    #[arg(long, value_name = "FILE", requires = "key")]
    pub cert: Option<PathBuf>,
    /// Private key of --cert, PEM
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub key: Option<PathBuf>,
    /// Name that the server's certificate must have, if it is not the host
    #[arg(long, value_name = "NAME")]
    pub server_name: Option<String>,
    /// Send the token in this file as `authorization: Bearer`
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Longest wait for all answers together, in seconds; a gRPC client waits 15
    #[arg(long, value_name = "SECONDS", default_value_t = WAIT, value_parser = seconds)]
    pub wait: f64,
    /// Largest size in MiB, of one message and of all that is kept of an `ads://` stream
    #[arg(long, value_name = "MIB", default_value_t = SIZE_MIB, value_parser = clap::value_parser!(u64).range(1..=MAX_SIZE_MIB))]
    pub max_size: u64,
    /// How often to try again if the address cannot be reached, after 1 s, 2 s, 4 s, ...
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub retries: u32,
}

/// The default size limit, in MiB.
const SIZE_MIB: u64 = 1024;

/// The largest size of a gRPC message, in MiB: its length has 32 bits.
const MAX_SIZE_MIB: u64 = 4095;

/// How long a gRPC client waits for a resource, in seconds.
const WAIT: f64 = 15.0;

impl Default for ConnectArgs {
    /// Returns the values without any flag.
    fn default() -> Self {
        ConnectArgs {
            node: None,
            tls: false,
            ca: None,
            cert: None,
            key: None,
            server_name: None,
            token_file: None,
            wait: WAIT,
            max_size: SIZE_MIB,
            retries: 0,
        }
    }
}

/// The longest wait, in seconds: a day.
const MAX_WAIT: f64 = 86_400.0;

fn seconds(text: &str) -> Result<f64, String> {
    let value: f64 = text
        .parse()
        .map_err(|_| format!("`{text}` is not a number of seconds"))?;
    if value > 0.0 && value <= MAX_WAIT {
        Ok(value)
    } else {
        Err(format!("must be above 0 and at most {MAX_WAIT} seconds"))
    }
}

/// `xdsctl fetch`
#[derive(Debug, clap::Args)]
pub struct FetchArgs {
    /// `csds://HOST:PORT`, `ads://HOST:PORT?node=ID`, `envoy://HOST:PORT`, or `csds+unix:///PATH` and so on
    #[arg(value_name = "SOURCE")]
    pub source: String,
    /// File for the dump, instead of standard output. With --raw, `.pb` and `.binpb` are in wire format
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Keep passwords, keys and tokens instead of masking them
    #[arg(long, conflicts_with = "redact")]
    pub raw: bool,
    /// Mask passwords, keys and tokens; this is the default
    #[arg(long)]
    pub redact: bool,
    /// Write also an incomplete dump. The exit code is still 2
    #[arg(long)]
    pub partial: bool,
    /// Keep running, write the dump again after each change, and print a line for each
    #[arg(long)]
    pub watch: bool,
    /// Ask an `ads://` control plane only for what a channel to this target needs; may be repeated
    #[arg(long, value_name = "xds:///NAME")]
    pub target: Vec<String>,
    /// Speak Delta to an `ads://` control plane
    #[arg(long)]
    pub delta: bool,
    /// Take only the client of this `client_scope` of a CSDS answer
    #[arg(long, value_name = "SCOPE")]
    pub scope: Option<String>,
    /// gRPC bootstrap file with the node and the server of `ads://`; default is GRPC_XDS_BOOTSTRAP, GRPC_XDS_BOOTSTRAP_CONFIG
    #[arg(long, value_name = "FILE")]
    pub bootstrap: Option<PathBuf>,
    /// Set an environment switch of the client that judges for `ads://`; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// Print no progress
    #[arg(short, long)]
    pub quiet: bool,
    /// Where the settings of the project are
    #[command(flatten)]
    pub config: ConfigArgs,
    /// How to connect
    #[command(flatten)]
    pub connect: ConnectArgs,
}

/// `xdsctl serve`
#[derive(Debug, clap::Args)]
pub struct ServeArgs {
    /// Inputs
    #[command(flatten)]
    pub input: InputArgs,
    /// Address to listen on; port 0 for a free one
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:18000")]
    pub listen: SocketAddr,
    /// Speak TLS with this certificate chain, PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// Private key of --tls-cert, PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// Accept only clients with a certificate from an authority in this PEM file
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub client_ca: Option<PathBuf>,
    /// End when the first client disconnects. Exit with 1 if a verdict differs from the prediction
    #[arg(long)]
    pub compare: bool,
    /// Write the bootstrap for a gRPC client to this file
    #[arg(long, value_name = "FILE")]
    pub write_bootstrap: Option<PathBuf>,
    /// Print only rejections and differences
    #[arg(short, long)]
    pub quiet: bool,
}

/// `xdsctl ui`
#[derive(Debug, clap::Args)]
pub struct UiArgs {
    /// What to open: dumps, resources, suites, directories, or running systems such as `csds://HOST:PORT`
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Show new versions of what is open as they come
    #[arg(long)]
    pub watch: bool,
    /// Port of this machine to listen on; 0 for a free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub port: u16,
    /// How to connect to running systems
    #[command(flatten)]
    pub connect: ConnectArgs,
}
