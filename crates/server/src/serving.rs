//! Whether a server serves: it has a Listener, one for servers, for its own address (A36).

use crate::dialect::ServerDialect;
use xdsctl_channel::client::Client;
use xdsctl_channel::client::server::ListeningServer;
use xdsctl_model::resource::listener::TcpListener;
use xdsctl_model::resource::{Listener, ResourceType};
use xdsctl_model::text;

/// Why a server does not serve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotServing {
    /// It cannot ask for a Listener of that name, for this reason.
    NotAskedFor(String),
    /// There is no Listener of that name.
    Missing {
        /// A name that may have been meant.
        near: Option<String>,
    },
    /// The client rejects it, for this reason.
    Rejected(String),
    /// It is for clients.
    ApiListener,
    /// It is for another address.
    OtherAddress(String),
}

/// The Listener of a server that serves.
#[derive(Debug, Clone)]
pub struct Serving {
    /// The Listener.
    pub listener: TcpListener,
    /// Why a newer version of the Listener was rejected, if so; the one before it stays in use.
    pub rejected: Option<String>,
}

/// The Listener that a server serves with.
///
/// # Errors
/// Why it does not serve.
pub fn serving(server: &ListeningServer, client: &Client, dialect: &ServerDialect) -> Result<Serving, NotServing> {
    let name = server.listener.as_str();
    client
        .ask(ResourceType::Listener, name)
        .map_err(|fault| NotServing::NotAskedFor(fault.words(name)))?;
    let listeners = &client.resources.listeners;
    let held = listeners.get(name).ok_or_else(|| NotServing::Missing {
        near: text::nearest(name, listeners.keys().map(String::as_str)).map(str::to_owned),
    })?;
    let rejected = held.rejected().map(str::to_owned);
    let Some(listener) = held.value() else {
        return Err(NotServing::Rejected(rejected.unwrap_or_default()));
    };
    let Listener::Tcp(tcp) = &**listener else {
        return Err(NotServing::ApiListener);
    };
    if dialect.compares_address && !server.is_meant(&tcp.address) {
        return Err(NotServing::OtherAddress(tcp.address.clone()));
    }
    Ok(Serving {
        listener: tcp.clone(),
        rejected,
    })
}
