//! How to connect and what to ask for.

use std::time::Duration;

/// What is fetched, how long it may take, and with which credentials.
#[derive(Clone)]
pub struct FetchOptions {
    /// The TLS settings; `None` for plain text.
    pub tls: Option<Tls>,
    /// The token for `authorization: Bearer TOKEN`.
    pub token: Option<String>,
    /// How long to wait for everything that was asked for.
    pub timeout: Duration,
    /// How many times to try again if the system cannot be reached.
    pub retries: u32,
    /// The largest message that is accepted, and the most that is kept of an ADS stream, in bytes.
    pub max_message_bytes: usize,
    /// Whether to write what has arrived of an ADS stream if it fails.
    pub is_partial: bool,
    /// The text of a gRPC bootstrap, for the node and the server.
    pub bootstrap: Option<Vec<u8>>,
    /// `node.id`, instead of the bootstrap's.
    pub node: Option<String>,
    /// The targets of the channels whose resources are asked for. If empty, everything is asked
    /// for, as a proxy does.
    pub targets: Vec<String>,
    /// Whether to use Delta instead of state-of-the-world.
    pub delta: bool,
    /// The only `client_scope` of a CSDS answer to keep.
    pub scope: Option<String>,
    /// Whether to mask secrets. Has no effect on wire format.
    pub redacts: bool,
    /// Whether to write a serialized ClientStatusResponse instead of JSON.
    pub is_wire: bool,
    /// Returns the time in milliseconds since 1970. The caller has the clock.
    pub now: fn() -> u64,
    /// The client whose verdicts are sent to the control plane.
    pub profile: xdsctl_model::profile::Profile,
    /// The facts from the bootstrap that validation needs.
    pub server: xdsctl_model::profile::ServerFacts,
}

/// TLS settings, all in PEM. They cannot be printed for debugging, because of the key.
#[derive(Clone, Default)]
pub struct Tls {
    /// The certificates that are trusted; `None` for the system's.
    pub ca: Option<Vec<u8>>,
    /// The client's certificate chain and private key.
    pub identity: Option<(Vec<u8>, Vec<u8>)>,
    /// The name that the server's certificate must have, instead of the host.
    pub server_name: Option<String>,
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

/// How long gRPC clients wait for a resource before they assume that it does not exist (gRFC A57;
/// the same in C-core, Go, Java and Node).
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(15);

/// The default for the largest message that is accepted, and for the most that is kept of an ADS
/// stream, in bytes.
pub const MAX_MESSAGE_BYTES: usize = 1 << 30;
