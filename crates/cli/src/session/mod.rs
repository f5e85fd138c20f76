//! Turns arguments into a session: which client is asked, what the inputs hold, and where the
//! channel starts.

mod request;
pub mod server;
pub mod suite;
pub mod words;

use std::net::SocketAddr;

use crate::args::{ChannelArgs, RequestArgs};
use crate::config::ProjectConfig;
use crate::fleet::{self, Senders};
use crate::io::input::{self, Inputs};
use crate::{Error, Io};
use words::ARGUMENTS;
use xdsctl_channel::client::EndpointChange;
use xdsctl_channel::client::dns::DnsAnswers;
use xdsctl_channel::client::target::Target;
use xdsctl_channel::session::{self, PlannedStart, Session, SessionPlan};
use xdsctl_clients::bootstrap::Bootstrap;
use xdsctl_model::profile::{self, Fleet};

pub use request::{headers, method, millis, pairs, refuse_method, request, rpc, say_method, seconds};

/// The exit code for RPCs that fail.
const EXIT_FAILS: u8 = 1;

/// Returns the exit code of a command about RPCs.
pub const fn exit(fails: bool) -> u8 {
    if fails { EXIT_FAILS } else { 0 }
}

/// Opens the channel that the arguments name. Standard error says what could not be read, and what
/// the client leaves out.
///
/// # Errors
/// The inputs cannot be read, the target is not an xDS target, or there is none and several are
/// possible.
pub fn open(args: &ChannelArgs, io: &mut Io<'_>) -> Result<Session, Error> {
    open_if(args, of_channel, io)
}

/// Opens the channel of one RPC. If the arguments do not name its method, says which one is used.
///
/// # Errors
/// The same as for [`open`], or the regexes of the routes need too much to be matched against the
/// method.
pub fn open_for(args: &ChannelArgs, rpc: &RequestArgs, io: &mut Io<'_>) -> Result<Session, Error> {
    let opened = open(args, io)?;
    opened.check_effort(Some(method(rpc)))?;
    say_method(rpc, io)?;
    Ok(opened)
}

/// Opens a channel of a client if it can be asked, which `asked` decides; see [`open`].
///
/// # Errors
/// The same as for [`open`].
pub fn open_if(args: &ChannelArgs, asked: AskClient, io: &mut Io<'_>) -> Result<Session, Error> {
    let config = ProjectConfig::of(&args.input.config, io)?;
    let fleet = client(args, &config, asked, io)?;
    let mut inputs = input::open_for(&args.input, &config, fleet, io)?;
    if args.client.is_none()
        && config.clients.is_none()
        && let Some(fleet) = sender(&inputs, asked, io)?
    {
        inputs.ask(fleet)?;
    }
    inputs.refuse_broken_bootstrap()?;
    let dns = dns_answers(&args.resolve)?;
    let inputs = inputs.hold(io)?;
    let plan = SessionPlan {
        world: args.in_world.clone(),
        start: match (&args.cluster, &args.route_config, &args.target) {
            (Some(name), _, _) => PlannedStart::Cluster(name.clone()),
            (None, Some(name), _) => PlannedStart::RouteConfig(name.clone()),
            (None, None, Some(uri)) => PlannedStart::Target(uri.clone()),
            (None, None, None) => PlannedStart::Listener,
        },
        authority: args.authority.clone(),
        dns,
        endpoints: changes(args)?,
    };
    let mut notes = Vec::new();
    let opened = inputs.open(&plan, 1, &mut notes);
    for line in words::notes(&notes) {
        say!(io.err, "note: {line}")?;
    }
    opened.map_err(|error| Error::Usage(words::error(&error, &ARGUMENTS)))
}

/// Reads `--target` and `--authority`.
///
/// # Errors
/// No channel can be created with the target.
pub fn target(uri: &str, authority: Option<&str>, bootstrap: &Bootstrap) -> Result<Target, Error> {
    session::target(uri, authority, bootstrap).map_err(|error| Error::Usage(words::error(&error, &ARGUMENTS)))
}

/// A function that returns the fleet for a client, or says why the client cannot be asked.
type AskClient = fn(profile::Client) -> Result<Fleet, String>;

/// Returns the fleet for a client whose channels can be followed.
///
/// # Errors
/// It is not known where the client's RPCs go.
pub fn of_channel(client: profile::Client) -> Result<Fleet, String> {
    Fleet::of_channel(client).map_err(|error| error.to_string())
}

/// Returns the client that `--client` names, or else the only one of the project. If that one
/// cannot be asked, or the project has several, returns the reference client and says so.
///
/// # Errors
/// `--client` names no client or several, or one that cannot be asked.
pub fn client(args: &ChannelArgs, config: &ProjectConfig, asked: AskClient, io: &mut Io<'_>) -> Result<Fleet, Error> {
    if let Some(name) = &args.client {
        let usage = |why: String| Error::Usage(format!("--client: {why}"));
        let client = profile::Client::parse_one(name).map_err(|error| usage(error.to_string()))?;
        return asked(client).map_err(usage);
    }
    let Some(setting) = &config.clients else {
        return Ok(Fleet::default());
    };
    let place = config.place(setting);
    let clients = profile::Client::parse_list(&setting.value.join(","))
        .map_err(|error| Error::Usage(format!("{place}: {error}")))?;
    let why = match clients.as_slice() {
        [client] => match asked(*client) {
            Ok(fleet) => {
                say!(io.err, "note: as {client}, which {place} asks")?;
                return Ok(fleet);
            }
            Err(why) => why,
        },
        several => format!(
            "it asks {} clients, a channel has one: choose it with --client",
            several.len()
        ),
    };
    let base = Fleet::default().base().name();
    say!(io.err, "note: as {base}, and not as {place} says: {why}")?;
    Ok(Fleet::default())
}

/// Returns the client that sent the inputs. If it cannot be asked, or if there are several, says
/// so.
fn sender(inputs: &Inputs, asked: AskClient, io: &mut Io<'_>) -> Result<Option<Fleet>, Error> {
    let Some(Senders { clients, from }) = fleet::senders(inputs) else {
        return Ok(None);
    };
    let why = match clients.as_slice() {
        [client] => match asked(*client) {
            Ok(fleet) => {
                say!(io.err, "note: as {client}, the sender of {from}")?;
                return Ok(Some(fleet));
            }
            Err(why) => match client.nearest_picked().map(|nearest| (nearest, asked(nearest))) {
                Some((nearest, Ok(fleet))) => {
                    say!(
                        io.err,
                        "note: as {nearest}, and not as {client}, the sender of {from}: {why}"
                    )?;
                    return Ok(Some(fleet));
                }
                _ => why,
            },
        },
        several => {
            let count = several.len();
            format!("it is of {count} clients, a channel has one: choose it with --client")
        }
    };
    let base = Fleet::default().base().name();
    say!(io.err, "note: as {base}, and not as the sender of {from}: {why}")?;
    Ok(None)
}

/// Reads an address.
///
/// # Errors
/// The text is not an address.
pub fn address(argument: &str, text: &str) -> Result<SocketAddr, Error> {
    text.parse()
        .map_err(|_| Error::Usage(format!("{argument} `{text}` must be an address like 10.0.0.1:80")))
}

fn dns_answers(arguments: &[String]) -> Result<DnsAnswers, Error> {
    let mut answers = DnsAnswers::new();
    for argument in arguments {
        let wrong = || Error::Usage(format!("--resolve `{argument}` must be HOST:PORT=IP:PORT,..."));
        let (name, list) = argument.split_once('=').ok_or_else(wrong)?;
        let addresses: Result<Vec<SocketAddr>, _> = list.split(',').map(str::parse).collect();
        answers.insert(name.to_owned(), Ok(addresses.map_err(|_| wrong())?));
    }
    Ok(answers)
}

/// Returns the changes to endpoints by `--health` and `--remove`.
fn changes(args: &ChannelArgs) -> Result<Vec<EndpointChange>, Error> {
    let healths = args.health.iter().map(|argument| {
        let read = argument
            .rsplit_once('=')
            .and_then(|(address, health)| EndpointChange::health(address.parse().ok()?, &health.to_ascii_uppercase()));
        read.ok_or_else(|| {
            let names: Vec<&str> = EndpointChange::health_names().collect();
            let names = names.join(", ");
            Error::Usage(format!(
                "--health `{argument}` must be IP:PORT=HEALTH, where HEALTH is one of {names}"
            ))
        })
    });
    let removals = args.remove.iter();
    let removals = removals.map(|argument| address("--remove", argument).map(EndpointChange::removal));
    healths.chain(removals).collect()
}
