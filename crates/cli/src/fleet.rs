//! Decides which clients `validate` and `diff` ask: those of `--client` and `--client-from`, of the
//! project, of the input, or the reference client.

use std::collections::BTreeSet;
use std::path::Path;

use crate::args::ClientArgs;
use crate::config::ProjectConfig;
use crate::io::input::{Inputs, cannot_read};
use crate::{Error, Io};
use memchr::memmem;
use xdsctl_document::envelope::{LoadOptions, Loader};
use xdsctl_document::source::sniff::{DocumentFormat, Sniffed};
use xdsctl_document::source::{Source, SourceMap};
use xdsctl_lint::recognise;
use xdsctl_model::profile::{Agent, Client, Family, Fleet, UserAgent};

/// The beginning of every gRPC client's `user_agent_name`.
const NAMES_BEGIN: &[u8] = b"gRPC ";

/// The most clients that a run asks.
const MAX_CLIENTS: usize = 1_000;

/// The clients of a run.
pub(super) struct AskedClients {
    pub fleet: Fleet,
    /// Where the clients are named, if not in an argument.
    pub from: Option<String>,
    /// Clients of a dump whose version cannot be read.
    pub unread: Vec<String>,
    /// Whether neither arguments nor the project name the clients.
    pub is_default: bool,
}

/// The clients that sent the inputs.
pub(super) struct Senders {
    /// The clients in order, each once. For a version newer than all that were measured, the
    /// nearest one that was.
    pub clients: Vec<Client>,
    /// The document that names them, and a remark on it.
    pub from: String,
}

/// Reads which clients to ask: from the arguments, then from the project, then `otherwise`.
///
/// # Errors
/// A name is not a client, or a file cannot be read or has no gRPC client in it.
pub(super) fn asked(
    args: &ClientArgs,
    config: &ProjectConfig,
    otherwise: Vec<Client>,
    io: &mut Io<'_>,
) -> Result<AskedClients, Error> {
    let read =
        |list: &str, from: &str| Client::parse_list(list).map_err(|error| Error::Usage(format!("{from}: {error}")));
    let mut clients = match &args.client {
        Some(list) => read(list, "--client")?,
        None => Vec::new(),
    };
    let (mut from, mut unread) = (None, Vec::new());
    if let Some(file) = &args.client_from {
        let known: BTreeSet<Client> = clients.iter().copied().collect();
        let of_dump = of_dump(file, &mut unread, io)?.into_iter();
        clients.extend(of_dump.filter(|client| !known.contains(client)));
        from = Some(file.display().to_string());
    }
    let mut is_default = false;
    if clients.is_empty() {
        match &config.clients {
            Some(setting) => {
                let place = config.place(setting);
                clients = read(&setting.value.join(","), &place)?;
                from = Some(place);
            }
            None => (clients, is_default) = (otherwise, true),
        }
    }
    if clients.len() > MAX_CLIENTS {
        let count = clients.len();
        return Err(Error::Usage(format!(
            "{count} clients are to be asked, the limit is {MAX_CLIENTS}"
        )));
    }
    Ok(AskedClients {
        fleet: Fleet::new(&clients),
        from,
        unread,
        is_default,
    })
}

/// Returns the clients that sent the inputs, recognised by the nodes in them or by the lines of a
/// log. Returns `None` if they are asked anyway, or if they are not gRPC clients.
pub(super) fn senders(inputs: &Inputs) -> Option<Senders> {
    let mut clients = BTreeSet::new();
    let mut from = Vec::new();
    for id in &inputs.documents {
        let Some(source) = inputs.sources.get(*id) else {
            continue;
        };
        let of_document = senders_of(source);
        if let Some((_, why)) = of_document.first() {
            from.push(match why {
                Some(why) => format!("{}, {why}", source.name()),
                None => source.name().to_owned(),
            });
        }
        clients.extend(of_document.into_iter().map(|(client, _)| client));
    }
    let clients: Vec<Client> = clients.into_iter().take(MAX_CLIENTS).collect();
    let first = from.first()?;
    let more = from.len() - 1;
    let from = if more == 0 {
        first.clone()
    } else {
        format!("{first} and {more} more")
    };
    (clients != [Client::REFERENCE]).then_some(Senders { clients, from })
}

/// Returns the clients of a document, each with a remark if another version is asked.
fn senders_of(source: &Source) -> Vec<(Client, Option<String>)> {
    let is_there = memmem::find(source.bytes(), NAMES_BEGIN).is_some();
    let named = if is_there { agents(source) } else { BTreeSet::new() };
    let mut found: Vec<_> = named.iter().filter_map(sender).collect();
    let is_log = || source.sniffed() == Sniffed::Format(DocumentFormat::Log);
    if found.is_empty()
        && named.is_empty()
        && is_log()
        && let Some(family) = recognise::writer_of(&String::from_utf8_lossy(source.bytes()))
    {
        let client = newest(family);
        found.push((
            client,
            Some(format!("a log of {} at an unknown version", family.project())),
        ));
    }
    found
}

/// Returns the client to ask for the sender of a node, and the reason if it is another version.
pub(super) fn sender(agent: &UserAgent) -> Option<(Client, Option<String>)> {
    match agent.agent() {
        Agent::Clients(named) => {
            let named = named.into_iter().max()?;
            let asked = named.nearest();
            let why = (asked != named).then(|| {
                let side = if named > asked { "newer" } else { "older" };
                format!("whose {named} is {side} than every version that was measured")
            });
            Some((asked, why))
        }
        Agent::UnknownVersion(family) => Some((newest(family), Some(format!("whose {agent} is of no known version")))),
        Agent::Other | Agent::Nobody => None,
    }
}

fn newest(family: Family) -> Client {
    let version = family.newest();
    Client { family, version }
}

/// Returns the user agents of the nodes in a document.
fn agents(source: &Source) -> BTreeSet<UserAgent> {
    // Use a copy of the document: reading stores results in it, and its next reader may read it
    // differently.
    let mut sources = SourceMap::new();
    let id = sources.add(source.name(), source.bytes().to_vec());
    let mut loader = Loader::new();
    if let Some(source) = sources.get(id) {
        loader.document(id, source, LoadOptions::default(), &mut |_| {});
    }
    loader.agents
}

/// Returns the clients whose nodes are in a dump, and prints which other nodes there are.
fn of_dump(file: &Path, unread: &mut Vec<String>, io: &mut Io<'_>) -> Result<Vec<Client>, Error> {
    let mut sources = SourceMap::new();
    let id = sources.add_file(file).map_err(|error| cannot_read(file, error))?;
    let agents = sources.get(id).map(agents).unwrap_or_default();
    let name = file.display();
    let mut clients = Vec::new();
    for agent in &agents {
        match agent.agent() {
            Agent::Clients(named) => clients.extend(named),
            other => {
                if matches!(other, Agent::UnknownVersion(_)) {
                    unread.push(agent.to_string());
                }
                say!(io.err, "xdsctl: {name}: {}", why_not(agent, &other))?;
            }
        }
    }
    clients.sort_unstable();
    clients.dedup();
    if clients.is_empty() {
        let what = match agents.is_empty() {
            true => "has no node",
            false => "names no gRPC client",
        };
        return Err(Error::Usage(format!(
            "--client-from: `{name}` {what}: say who is to be asked with --client"
        )));
    }
    io.err.flush()?;
    Ok(clients)
}

/// Returns why a node leads to no client.
fn why_not(sent: &UserAgent, agent: &Agent) -> String {
    match agent {
        Agent::UnknownVersion(family) => {
            format!(
                "{sent} is {} at an unknown version, so xdsctl does not ask it",
                family.project()
            )
        }
        Agent::Other => format!("{sent} is not a gRPC client, so xdsctl does not ask it"),
        Agent::Nobody | Agent::Clients(_) => "a node without a user agent: its client is not known".to_owned(),
    }
}
