//! Which clients `validate` and `diff` ask: those of `--client` and `--client-from`, of the project, or the reference.

use std::collections::BTreeSet;
use std::path::Path;

use crate::args::ClientArgs;
use crate::config::ProjectConfig;
use crate::io::input::cannot_read;
use crate::{Error, Io};
use xdsctl_document::envelope::{LoadOptions, Loader};
use xdsctl_document::source::SourceMap;
use xdsctl_model::profile::{Agent, Client, Fleet, UserAgent};

/// Clients that are asked at a time.
const MAX_CLIENTS: usize = 1_000;

/// The clients that are asked.
pub(super) struct AskedClients {
    pub fleet: Fleet,
    /// Where they are named, if not in an argument.
    pub from: Option<String>,
    /// Clients of a dump whose version cannot be read.
    pub unread: Vec<String>,
}

/// Reads who is asked: the arguments, then the project, then these.
///
/// # Errors
/// A name that is none, a file that cannot be read or has no gRPC client in it.
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
    if clients.is_empty() {
        match &config.clients {
            Some(setting) => {
                let place = config.place(setting);
                clients = read(&setting.value.join(","), &place)?;
                from = Some(place);
            }
            None => clients = otherwise,
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
    })
}

/// The clients whose nodes are in a dump; says who else is there.
fn of_dump(file: &Path, unread: &mut Vec<String>, io: &mut Io<'_>) -> Result<Vec<Client>, Error> {
    let mut sources = SourceMap::new();
    let id = sources.add_file(file).map_err(|error| cannot_read(file, error))?;
    let mut loader = Loader::new();
    if let Some(source) = sources.get(id) {
        loader.document(id, source, LoadOptions::default(), &mut |_| {});
    }
    let name = file.display();
    let mut clients = Vec::new();
    for agent in &loader.agents {
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
        let what = match loader.agents.is_empty() {
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

/// Why a node leads to no client.
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
