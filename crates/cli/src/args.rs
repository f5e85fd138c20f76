//! The arguments. Help texts are one line per flag; the details are in the man page and `explain`.

mod admit;
mod change;
mod channel;
mod choice;
mod examples;
mod fail_on;
mod format;
mod live;
mod policy;
mod rule;
mod suite;
mod validate;

use std::path::PathBuf;
use std::sync::LazyLock;

use clap::{CommandFactory as _, Parser, Subcommand, ValueEnum};

pub use channel::{
    ChannelArgs, CookieArgs, CookieCommand, Layout, PickArgs, RequestArgs, RetryArgs, RouteArgs, TreeArgs, TreeFormat,
};

pub use admit::{AdmitArgs, AdmitFormat};
pub use change::{ChangeOf, DiffArgs, WhoArgs};
pub use choice::ChoiceArgs;

pub use fail_on::FailOn;
pub use format::{ReportDestination, ReportFormat};
pub use live::{ConnectArgs, FetchArgs, ServeArgs, UiArgs};
pub use policy::{PolicyArgs, PolicyCommand, PolicyNewArgs, PolicyTestArgs};
pub use suite::{SimulateArgs, TestArgs, TimelineFormat};
pub use validate::{Level, Show, ValidateArgs};

use rule::{RuleParser, one_of};
use xdsctl_model::profile::{Package, Profile};

/// Says what a gRPC client would do with xDS configuration, and why
#[derive(Debug, Parser)]
#[command(name = "xdsctl", version = version(), about, max_term_width = 100, after_help = examples::ALL)]
pub struct Args {
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Say which resources a gRPC client would reject, drop or ignore, and at which field
    #[command(visible_alias = "lint", after_help = examples::VALIDATE)]
    Validate(ValidateArgs),
    /// Explain a rule or a line of a client's log, or list all rules
    #[command(after_help = examples::EXPLAIN)]
    Explain(ExplainArgs),
    /// List the clients that xdsctl knows, and what each has since which version
    #[command(after_help = examples::CLIENTS)]
    Clients(ClientsArgs),
    /// Show the tree of LB policies that a channel builds
    #[command(after_help = examples::TREE)]
    Tree(TreeArgs),
    /// Say which route takes an RPC, and why not the others
    #[command(after_help = examples::ROUTE)]
    Route(RouteArgs),
    /// Follow an RPC to its endpoint, with the reason at each layer
    #[command(after_help = examples::PICK)]
    Pick(Box<PickArgs>),
    /// Say which connection a server takes and which RPC it lets in, and why
    #[command(after_help = examples::ADMIT)]
    Admit(Box<AdmitArgs>),
    /// Run suites: what clients, backends and a control plane do over time, and what is expected of it
    #[command(after_help = examples::TEST)]
    Test(TestArgs),
    /// Show event by event what happens during a test of a suite
    #[command(after_help = examples::SIMULATE)]
    Simulate(SimulateArgs),
    /// Test the project's own policies, or write one to start from
    #[command(after_help = examples::POLICY)]
    Policy(PolicyArgs),
    /// Show what the client makes of a retry policy
    #[command(after_help = examples::RETRY)]
    Retry(RetryArgs),
    /// Read or write session cookies
    #[command(after_help = examples::COOKIE)]
    Cookie(CookieArgs),
    /// Write an xdsctl.toml with the defaults
    #[command(after_help = examples::INIT)]
    Init(InitArgs),
    /// Show the settings of the project
    #[command(after_help = examples::CONFIG)]
    Config(ConfigCommandArgs),
    /// Say what changes for a client from one configuration to another
    #[command(after_help = examples::DIFF)]
    Diff(DiffArgs),
    /// Say what refers to a resource, and what it leads to
    #[command(after_help = examples::WHO)]
    Who(WhoArgs),
    /// Save what a running client, proxy or control plane has as one dump
    #[command(after_help = examples::FETCH)]
    Fetch(Box<FetchArgs>),
    /// Serve a dump to real clients, and compare their verdicts with the prediction
    #[command(after_help = examples::SERVE)]
    Serve(Box<ServeArgs>),
    /// Show all of it in a browser: what a client holds, where RPCs go, and what if
    #[command(after_help = examples::UI)]
    Ui(Box<UiArgs>),
    /// Serve an editor: findings, meanings and names while one types
    #[command(after_help = examples::LSP)]
    Lsp(LspArgs),
    /// Print the completion script of a shell
    #[command(after_help = examples::COMPLETIONS)]
    Completions(CompletionsArgs),
    /// Print a document as a report may quote it
    #[command(hide = true)]
    Mask(MaskArgs),
    /// Write the man pages
    #[command(hide = true)]
    Generate(GenerateArgs),
}

/// Inputs and the client that looks at them, common to all commands that read xDS resources.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct InputArgs {
    /// Dumps, resources, directories, or running systems such as `csds://HOST:PORT`; `-` is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub files: Vec<PathBuf>,
    /// Read bare resources and arrays as this type
    #[arg(long = "as", value_name = "TYPE")]
    pub as_type: Option<AsType>,
    /// Name to show for standard input
    #[arg(long, value_name = "NAME")]
    pub stdin_filename: Option<String>,
    /// Use this gRPC bootstrap file. Without it, certificate providers are not checked
    #[arg(long, value_name = "FILE")]
    pub bootstrap: Option<PathBuf>,
    /// Set an environment switch of the client; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// Answer for a program that brings this, too; may be repeated
    #[arg(long = "with", value_name = "PACKAGE", value_parser = one_of(PACKAGES))]
    pub with: Vec<Package>,
    /// Which files are one world, what one client sees; default is `auto`
    #[arg(long, value_enum, value_name = "WHAT", conflicts_with = "merge")]
    pub world: Option<WorldMode>,
    /// Take all inputs for one world: `--world all`
    #[arg(long)]
    pub merge: bool,
    /// Where the settings of the project are
    #[command(flatten)]
    pub config: ConfigArgs,
    /// Print passwords, keys and tokens instead of masking them
    #[arg(long)]
    pub show_secrets: bool,
    /// How to connect to running systems
    #[command(flatten)]
    pub connect: ConnectArgs,
}

/// The configuration file.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ConfigArgs {
    /// Use this configuration file; the default is xdsctl.toml in this directory or one above
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Use no configuration file
    #[arg(long, conflicts_with = "config")]
    pub no_config: bool,
    /// Let files name files below this directory, not only below their own; may be repeated
    #[arg(long, value_name = "DIR")]
    pub allow_read: Vec<PathBuf>,
}

/// Which files one client sees.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorldMode {
    /// All files but dumps; where two directories have the same names, each of the two
    #[default]
    Auto,
    /// Each file is a world
    File,
    /// The files of each directory are a world
    Dir,
    /// All inputs are one world
    All,
}

/// The packages that a program may add to its client, each with its word and its help.
const PACKAGES: &[(&str, Package, &str)] = &[
    (
        "rls",
        Package::Rls,
        "The RLS LB policy: `google.golang.org/grpc/balancer/rls` of grpc-go",
    ),
    (
        "tls",
        Package::Tls,
        "TLS of tonic-xds: its Cargo feature `tls-ring` or `tls-aws-lc`",
    ),
];

impl InputArgs {
    /// Returns what `--world` and `--merge` ask for.
    pub fn world(&self) -> Option<WorldMode> {
        if self.merge { Some(WorldMode::All) } else { self.world }
    }

    /// Says whether resources come from standard input.
    pub fn reads_stdin(&self) -> bool {
        self.files.iter().any(|file| file.as_os_str() == "-")
    }
}

impl Args {
    /// Says whether `--show-secrets` was given.
    pub const fn shows_secrets(&self) -> bool {
        match &self.command {
            Command::Validate(validate) => validate.input.show_secrets,
            Command::Tree(tree) => tree.channel.input.show_secrets,
            Command::Route(route) => route.channel.input.show_secrets,
            Command::Pick(pick) => pick.channel.input.show_secrets,
            Command::Admit(admit) => admit.input.show_secrets,
            Command::Test(test) => test.show_secrets,
            Command::Simulate(simulate) => simulate.show_secrets,
            Command::Retry(retry) => retry.channel.input.show_secrets,
            Command::Diff(diff) => diff.input.show_secrets,
            Command::Who(who) => who.input.show_secrets,
            Command::Serve(serve) => serve.input.show_secrets,
            // The user wants to see the contents of a cookie.
            Command::Cookie(_) => true,
            _ => false,
        }
    }
}

/// Says whether arguments that clap rejected ask for `--format github` on standard output.
pub fn are_for_github(args: &[std::ffi::OsString]) -> bool {
    let text = |arg: &std::ffi::OsString| arg.to_string_lossy().into_owned();
    let line = args.iter().map(text).collect::<Vec<_>>().join("\0");
    // A flag and its value are one argument or two arguments.
    let mut asked = line
        .split("\0--format")
        .skip(1)
        .filter_map(|rest| rest.strip_prefix(['=', '\0']));
    asked.any(|form| ["github", "github=-"].contains(&form.split('\0').next().unwrap_or_default()))
}

impl Args {
    /// Says whether standard output has the form of GitHub's workflow commands.
    pub fn is_for_github(&self) -> bool {
        let formats = match &self.command {
            Command::Validate(validate) => &validate.formats,
            Command::Diff(diff) => &diff.formats,
            Command::Test(test) => &test.formats,
            _ => return false,
        };
        formats.iter().any(|to| to.is_shown_as(ReportFormat::Github))
    }
}

impl Args {
    /// Says whether standard output is a dump. A dump needs no masking: it was masked field by
    /// field, or the user wants secrets.
    pub const fn prints_dump(&self) -> bool {
        matches!(self.command, Command::Fetch(_))
    }

    /// Says whether standard output is for a program that counts its bytes and writes some of them
    /// into documents. The command masks and escapes these texts itself.
    pub const fn is_protocol(&self) -> bool {
        matches!(self.command, Command::Lsp(_))
    }

    /// Says whether long lines of the output are wrapped at the width of the terminal. The other
    /// commands wrap their own lines.
    pub fn is_folded(&self) -> bool {
        let format = match &self.command {
            Command::Route(route) => route.format,
            Command::Pick(pick) => pick.format,
            Command::Retry(retry) => retry.format,
            Command::Diff(diff) => return diff.is_folded(),
            Command::Who(who) => who.format,
            _ => return false,
        };
        matches!(format, Format::Human)
    }
}

/// Which clients are asked.
#[derive(Debug, Clone, clap::Args)]
pub struct ClientArgs {
    /// Clients to ask instead of C-core 1.85.1: `cpp@1.66.2,go,java@1.80,node`, `python@1.70`, `current` or `all`
    #[arg(long, value_name = "LIST")]
    pub client: Option<String>,
    /// Ask the clients that sent this: a CSDS dump, or requests, with the user agent of each node
    #[arg(long, value_name = "FILE")]
    pub client_from: Option<PathBuf>,
}

/// `xdsctl explain`
#[derive(Debug, clap::Args)]
pub struct ExplainArgs {
    /// Rule id, any line of a client's log, or words; `-` reads lines from standard input
    #[arg(value_name = "RULE|LINE", value_parser = RuleParser, hide_possible_values = true)]
    pub rule: Vec<String>,
    /// List all rules
    #[arg(long)]
    pub list: bool,
    /// Whose policies are explained too
    #[command(flatten)]
    pub config: ConfigArgs,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

/// `xdsctl clients`
#[derive(Debug, clap::Args)]
pub struct ClientsArgs {
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

/// `xdsctl lsp`
#[derive(Debug, clap::Args)]
pub struct LspArgs {
    /// Arguments of `validate` that hold for every project, such as `--client cpp,go`
    #[arg(last = true, value_name = "ARGUMENT")]
    pub validate: Vec<String>,
    /// Speak on standard input and output, as some editors ask for: there is no other way
    #[arg(long, hide = true)]
    pub stdio: bool,
}

/// `xdsctl completions`
#[derive(Debug, clap::Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

/// `xdsctl init`
#[derive(Debug, clap::Args)]
pub struct InitArgs {
    /// Directory for the file
    #[arg(value_name = "DIRECTORY", default_value = ".")]
    pub directory: PathBuf,
}

/// `xdsctl config`
#[derive(Debug, clap::Args)]
pub struct ConfigCommandArgs {
    /// What to do
    #[command(subcommand)]
    pub command: ConfigCommand,
}

/// What `config` does.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Print each setting, its value, and where it comes from
    Show(ConfigShowArgs),
}

/// `xdsctl config show`
#[derive(Debug, clap::Args)]
pub struct ConfigShowArgs {
    /// Which file
    #[command(flatten)]
    pub config: ConfigArgs,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

/// `xdsctl mask`
#[derive(Debug, clap::Args)]
pub struct MaskArgs {
    /// The document
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// `xdsctl generate`
#[derive(Debug, clap::Args)]
pub struct GenerateArgs {
    /// What to write
    #[arg(value_enum)]
    pub what: Generated,
    /// Directory to write to
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// What `generate` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Generated {
    /// Man pages
    Man,
    /// Completion scripts, one for each shell
    Completions,
}

impl Generated {
    /// Returns the directory in the source tree for what is generated.
    pub const fn default_dir(self) -> &'static str {
        match self {
            Generated::Man => "man",
            Generated::Completions => "completions",
        }
    }
}

/// Output formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Human,
    /// For programs
    Json,
}

/// A type for bare resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AsType {
    /// Listener
    Lds,
    /// RouteConfiguration
    Rds,
    /// Cluster
    Cds,
    /// ClusterLoadAssignment
    Eds,
    /// gRPC bootstrap file
    Bootstrap,
    /// DiscoveryResponse
    DiscoveryResponse,
    /// ClientStatusResponse
    Csds,
    /// Envoy admin config dump
    ConfigDump,
    /// google.protobuf.Any
    Any,
}

/// Returns the text of `--version`: xdsctl's version, and the client that it models by default.
fn version() -> &'static str {
    static VERSION: LazyLock<String> =
        LazyLock::new(|| format!("{} ({})", env!("CARGO_PKG_VERSION"), Profile::default().name()));
    &VERSION
}

/// Returns the whole command, for help, man pages and completions.
pub fn command() -> clap::Command {
    Args::command()
}
