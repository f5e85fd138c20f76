//! How to connect and what to ask for.

use std::time::Duration;

/// What is fetched, how long it may take, and with which credentials.
#[derive(Debug, Clone)]
pub struct FetchOptions {
    /// TLS; `None` for plain text.
    pub tls: Option<Tls>,
    /// Sent as `authorization: Bearer TOKEN`.
    pub token: Option<String>,
    /// How long to wait for all that was asked for.
    pub timeout: Duration,
    /// How often to try again what cannot be reached.
    pub retries: u32,
    /// The largest message that is taken, and the most that is kept of an ADS stream, in bytes.
    pub max_message_bytes: usize,
    /// Write what has arrived of an ADS stream when something goes wrong.
    pub is_partial: bool,
    /// The text of a gRPC bootstrap, for the node and the server.
    pub bootstrap: Option<Vec<u8>>,
    /// `node.id`, instead of the bootstrap's.
    pub node: Option<String>,
    /// `node.cluster`, instead of the bootstrap's.
    pub cluster: Option<String>,
    /// Ask for what channels to these targets need; empty to ask for everything, as a proxy does.
    pub targets: Vec<String>,
    /// Speak Delta instead of state-of-the-world.
    pub delta: bool,
    /// Take only this `client_scope` of a CSDS answer.
    pub scope: Option<String>,
    /// Mask secrets; not in wire form.
    pub redacts: bool,
    /// Write a serialized ClientStatusResponse instead of JSON.
    pub is_wire: bool,
    /// The time of day, in milliseconds since 1970; the caller has the clock.
    pub now: fn() -> u64,
    /// The client whose verdicts are sent to the control plane.
    pub profile: xdsctl_model::profile::Profile,
    /// What the bootstrap says to validation.
    pub server: xdsctl_model::profile::ServerFacts,
}

/// TLS, all of it PEM.
#[derive(Clone, Default)]
pub struct Tls {
    /// Certificates that are trusted; `None` for the system's.
    pub ca: Option<Vec<u8>>,
    /// Certificate chain and private key of this end.
    pub identity: Option<(Vec<u8>, Vec<u8>)>,
    /// Name that the server's certificate must have, instead of the host.
    pub server_name: Option<String>,
}

impl std::fmt::Debug for Tls {
    /// Leaves the key out.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls")
            .field("has_ca", &self.ca.is_some())
            .field("has_identity", &self.identity.is_some())
            .field("server_name", &self.server_name)
            .finish()
    }
}

impl Default for FetchOptions {
    fn default() -> Self {
        FetchOptions {
            tls: None,
            token: None,
            timeout: DEFAULT_TIMEOUT,
            retries: 0,
            max_message_bytes: MAX_MESSAGE_BYTES,
            is_partial: false,
            bootstrap: None,
            node: None,
            cluster: None,
            targets: Vec::new(),
            delta: false,
            scope: None,
            redacts: true,
            is_wire: false,
            now: || 0,
            profile: Default::default(),
            server: Default::default(),
        }
    }
}

/// How long gRPC clients wait for a resource before they believe that there is none (gRFC A57;
/// C-core, Go, Java and Node alike).
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(15);

/// The largest message that is taken, and the most that is kept of an ADS stream, in bytes, if
/// nothing else is said.
pub const MAX_MESSAGE_BYTES: usize = 1 << 30;
