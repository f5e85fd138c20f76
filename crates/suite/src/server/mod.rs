//! Tests of a server: which connections and RPCs it lets in, while Listeners change and
//! certificates are rotated.
//!
//! ```text
//! server, steps ─ read ─ ServerTest ─ play ─ Played
//!                                      RunningServer of xdsctl_server
//! ```
//!
//! A test with a `server` has steps of its own, and none of a channel's.

mod check;
mod cover;
mod play;
mod read;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::check::Check;

use check::ServerCheckKind;
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
    /// The bytes of the document in which the server is written.
    pub span: Span,
    /// The address that the server's program listens on, as `host:port`.
    pub listen: String,
    /// Whether the server's program has no xDS credentials.
    pub has_no_credentials: bool,
    /// The server's certificate providers by name; `None` if each has whatever it is used for.
    pub providers: Option<BTreeMap<String, Provider>>,
    /// The grace for drained connections in milliseconds, if the server's program sets one.
    pub drain_grace: Option<i64>,
    /// The time at the beginning, in seconds since 1970.
    pub at: Option<i64>,
}

/// A test of a server.
#[derive(Debug, Clone)]
pub struct ServerTest {
    /// The server.
    pub server: Arc<PlannedServer>,
    /// The family and version of the server; `None` leaves them to the caller.
    pub kind: Option<profile::Client>,
    /// The steps, in order.
    pub(crate) steps: Vec<ServerStep>,
}

/// A step, and what is expected of it.
#[derive(Debug, Clone)]
pub(crate) struct ServerStep {
    pub span: Span,
    /// What happens; `None` if the step only has expectations.
    pub action: Option<Action>,
    pub expect: Vec<Check<ServerCheckKind>>,
}

/// What happens to a server.
#[derive(Debug, Clone)]
pub(crate) enum Action {
    /// A client connects. If the test gives only a part of the server's address, the rest comes
    /// from the address that the server listens on.
    Connect { name: String, connection: Connection },
    /// An RPC is sent on a connection and ends.
    Call { on: String, call: TestRpc },
    /// An RPC is sent that goes on while the next steps are played.
    Begin { name: String, on: String, call: TestRpc },
    /// The RPC of this name ends.
    Finish(String),
    /// The control plane sends these resources.
    Update(SentTexts),
    /// The control plane no longer has these resources.
    Remove(Vec<(ResourceType, String)>),
    /// The files of certificate providers are replaced, by the provider's name.
    Rotate(Vec<(String, NewFiles)>),
    /// This many milliseconds pass.
    Sleep(i64),
}

/// An RPC of a test. Without an `authority` of its own it has that of the server.
#[derive(Debug, Clone)]
pub(crate) struct TestRpc {
    pub rpc: Rpc,
    pub has_authority: bool,
}
