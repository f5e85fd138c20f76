//! The arguments of `admit`: which server, which connection, which RPC.

use std::path::PathBuf;

use clap::ValueEnum;

use super::InputArgs;
use crate::io::ColourChoice;

/// `xdsctl admit`
#[derive(Debug, Clone, clap::Args)]
pub struct AdmitArgs {
    /// Inputs
    #[command(flatten)]
    pub input: InputArgs,
    /// Server to simulate, instead of C-core 1.85.1: `cpp@1.62`; several, as in `cpp,cpp@1.62`, are compared
    #[arg(long, value_name = "CLIENT")]
    pub client: Option<String>,
    /// World of the server, if there are several: `xds/prod`, as standard error names it
    #[arg(long = "in", value_name = "WORLD")]
    pub in_world: Option<String>,
    /// Address that the server listens on; the bootstrap makes the name of its Listener of it. Default is the only server's Listener
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<String>,
    /// Address at the other end of the connection; a port of 0 is one that no chain names [default: 127.0.0.1]
    #[arg(long, value_name = "IP[:PORT]")]
    pub from: Option<String>,
    /// The server's own address, which the connection is to [default: that of --listen, or 127.0.0.1]
    #[arg(long, value_name = "IP")]
    pub to: Option<std::net::IpAddr>,
    /// The client speaks TLS; it shows a certificate if there is one of the following
    #[arg(long, conflicts_with = "plaintext")]
    pub over_tls: bool,
    /// The client speaks plaintext, which is the default
    #[arg(long, conflicts_with_all = ["certificate", "san", "subject"])]
    pub plaintext: bool,
    /// Certificate that the client shows, in PEM; keys in the file are passed over
    #[arg(long, value_name = "FILE", conflicts_with_all = ["san", "subject"])]
    pub certificate: Option<PathBuf>,
    /// Alternative names of the certificate that the client shows: `dns:a.example`, `uri:spiffe://prod/cart`, `email:`, `ip:`
    #[arg(long, value_name = "KIND:NAME,...", value_delimiter = ',')]
    pub san: Vec<String>,
    /// Subject of the certificate that the client shows, as in `CN=cart,O=Shop`
    #[arg(long, value_name = "NAME")]
    pub subject: Option<String>,
    /// The server's program has no xDS credentials: what the Listener says of TLS is not read
    #[arg(long)]
    pub no_xds_credentials: bool,
    /// Roots that the server trusts, in PEM; without them it trusts every certificate
    #[arg(long, value_name = "FILE")]
    pub roots: Option<PathBuf>,
    /// Time at which certificates must be valid; without it any time will do
    #[arg(long, value_name = "YYYY-MM-DDTHH:MM:SSZ")]
    pub at: Option<String>,
    /// Method of the RPC; without it the answer ends with the connection
    #[arg(long, value_name = "/PKG.SERVICE/METHOD")]
    pub method: Option<String>,
    /// Show as a table who may call the method, or without --method each one that routes and policies name
    #[arg(long, conflicts_with_all = ["from", "to", "over_tls", "plaintext", "certificate", "san", "subject", "roots", "at", "authority", "headers", "unimplemented"])]
    pub who: bool,
    /// Authority of the RPC [default: that of --listen]
    #[arg(long, value_name = "AUTHORITY", requires = "method")]
    pub authority: Option<String>,
    /// Metadata of the RPC, also as `NAME: VALUE`; may be repeated
    #[arg(long = "header", value_name = "NAME=VALUE", requires = "method")]
    pub headers: Vec<String>,
    /// The server has no such method
    #[arg(long, requires = "method")]
    pub unimplemented: bool,
    /// Start of the random numbers
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    pub seed: u64,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub format: AdmitFormat,
    /// When to colour the text
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub color: ColourChoice,
}

/// Forms of the answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum AdmitFormat {
    /// For people
    #[default]
    Human,
    /// For programs
    Json,
    /// Picture
    Svg,
}
