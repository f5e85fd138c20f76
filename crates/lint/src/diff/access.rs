//! Who gains and who loses access to servers. It compares each server's access table before and
//! after ([`xdsctl_server::who`]).

use std::net::SocketAddr;

use xdsctl_channel::client::Client;
use xdsctl_channel::client::server::ListeningServer;
use xdsctl_server::dialect::ServerDialect;
use xdsctl_server::handshake::Program;
use xdsctl_server::routing::Routes;
use xdsctl_server::serving::{Serving, serving};
use xdsctl_server::who::{AccessChanges, Table, compare};

/// A server whose access changes, or may change.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerAccess {
    /// Name of the server's Listener.
    pub listener: String,
    /// What changes; `None` if there is too much to compare.
    pub changes: Option<AccessChanges>,
}

impl ServerAccess {
    /// Says whether a limit was reached, so that access may change that is not listed.
    pub fn is_cut(&self) -> bool {
        self.changes.as_ref().is_none_or(|changes| changes.is_cut)
    }
}

/// Returns the servers of a client whose access changes, in the order of their Listeners' names.
pub(super) fn changes(before: &Client, after: &Client) -> Vec<ServerAccess> {
    let Some(dialect) = ServerDialect::of(&before.profile) else {
        return Vec::new();
    };
    let names = super::names(&before.resources.listeners, &after.resources.listeners);
    let changed = names.into_iter().filter_map(|name| {
        let (was, is) = (served(name, before, &dialect), served(name, after, &dialect));
        if was.is_none() && is.is_none() || is_same(was.as_ref(), is.as_ref(), (before, after)) {
            return None;
        }
        let changes = of_tables((was.as_ref(), before), (is.as_ref(), after), &dialect);
        let access = ServerAccess {
            listener: name.clone(),
            changes,
        };
        let is_changed = access
            .changes
            .as_ref()
            .is_some_and(|changes| !changes.chains.is_empty());
        (is_changed || access.is_cut()).then_some(access)
    });
    changed.collect()
}

/// Returns what a server with this Listener serves with, at the address of the Listener.
fn served(name: &str, client: &Client, dialect: &ServerDialect) -> Option<Serving> {
    let listener = client.resources.listeners.get(name)?.value()?.tcp()?;
    let server = ListeningServer {
        address: listener.address.clone(),
        listener: name.to_owned(),
    };
    serving(&server, client, dialect).ok()
}

/// Says whether access is certainly the same on both sides.
fn is_same(was: Option<&Serving>, is: Option<&Serving>, (before, after): (&Client, &Client)) -> bool {
    let (Some(was), Some(is)) = (was, is) else { return false };
    let mut chains = was.listener.used_chains();
    was.listener == is.listener
        && chains.all(|(_, chain)| {
            let routes = &chain.http_connection_manager.routes;
            Routes::of(routes, before) == Routes::of(routes, after)
        })
}

fn of_tables(
    (was, before): (Option<&Serving>, &Client),
    (is, after): (Option<&Serving>, &Client),
    dialect: &ServerDialect,
) -> Option<AccessChanges> {
    let mut names = was.map(|was| Table::names(&was.listener, before)).unwrap_or_default();
    if let Some(is) = is {
        names.join(&Table::names(&is.listener, after));
    }
    let program = Program::default();
    let port = |own: &Serving| own.listener.address.parse().map_or(0, |own: SocketAddr| own.port());
    let was = was.map(|own| Table::with(&own.listener, port(own), names.clone(), before, &program, dialect));
    let is = is.map(|own| Table::with(&own.listener, port(own), names.clone(), after, &program, dialect));
    let (was, is) = (was.transpose().ok()?, is.transpose().ok()?);
    Some(compare(was.as_ref(), is.as_ref()))
}
