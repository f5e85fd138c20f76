//! Tests of a server: who gets a connection and an RPC, while Listeners change and certificates are rotated.
//!
//! ```text
//! server, steps ─ read ─ ServerTest ─ play ─ Played
//!                                      RunningServer of xdsctl_server
//! ```
//!
//! A test with a `server` has steps of its own; none of a channel's.

mod check;
mod cover;
mod play;
mod read;

use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) use check::ServerCheck;
pub use play::run_server;

use xdsctl_channel::client::SentTexts;
use xdsctl_document::source::Span;
use xdsctl_model::profile;
use xdsctl_model::resource::ResourceType;
use xdsctl_server::handshake::Provider;
use xdsctl_server::running::NewFiles;
use xdsctl_server::{Connection, Rpc};

/// The server of a test.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlannedServer {
    /// The bytes of the document in which it is written.
    pub span: Span,
    /// The address that its program listens on, as `host:port`.
    pub listen: String,
    /// Its program has no xDS credentials.
    pub has_no_credentials: bool,
    /// Its certificate providers by name; `None` if each has what it is used for.
    pub providers: Option<BTreeMap<String, Provider>>,
    /// Milliseconds of grace for drained connections, if its program says so.
    pub drain_grace: Option<i64>,
    /// The time at the beginning, in seconds since 1970.
    pub at: Option<i64>,
}

/// A test of a server.
#[derive(Debug, Clone)]
pub struct ServerTest {
    /// The server.
    pub server: Arc<PlannedServer>,
    /// Its family and version; `None` leaves them to the caller.
    pub kind: Option<profile::Client>,
    /// What happens, in order.
    pub(crate) steps: Vec<ServerStep>,
}

/// A step, and what is expected of it.
#[derive(Debug, Clone)]
pub(crate) struct ServerStep {
    pub span: Span,
    /// What happens; `None` where something is only looked at.
    pub action: Option<Action>,
    pub expect: Vec<ServerCheck>,
}

/// What happens to a server.
#[derive(Debug, Clone)]
pub(crate) enum Action {
    /// A client connects. The server's own address is completed by that on which it listens.
    Connect { name: String, connection: Connection },
    /// An RPC on a connection.
    Call { on: String, call: TestRpc },
    /// An RPC that goes on while the next steps are played.
    Begin { name: String, on: String, call: TestRpc },
    /// The RPC of this name ends.
    Finish(String),
    /// The control plane sends these resources.
    Update(SentTexts),
    /// The control plane has these no more.
    Remove(Vec<(ResourceType, String)>),
    /// Files of certificate providers are replaced, by the provider's name.
    Rotate(Vec<(String, NewFiles)>),
    /// So many milliseconds pass.
    Sleep(i64),
}

/// An RPC of a test; without an `authority` it has that of the server.
#[derive(Debug, Clone)]
pub(crate) struct TestRpc {
    pub rpc: Rpc,
    pub has_authority: bool,
}
