//! One RPC on its way: waiting, being picked for, under way, or between two attempts.

use std::sync::Arc;

use super::network::Reply;
use super::outcome::{EndpointPlace, Outcome, Trace};
use super::selection::Selected;
use crate::rpc::{CLUSTER_PREFIX, Retries};
use xdsctl_lb::picker::Complete;
use xdsctl_lb::runtime::{Time, TimerId};
use xdsctl_model::status::Status;

/// The deadline of an RPC that sets none, in milliseconds. It is longer than a failover takes (10
/// s), so that an RPC to a priority that does not answer still finds its way.
pub const DEFAULT_TIMEOUT_MS: i64 = 20_000;

/// An RPC as an application sends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rpc {
    /// The path of the method, `/package.Service/Method`.
    pub method: String,
    /// Metadata in order, keys in lower case.
    pub headers: Vec<(String, String)>,
    /// The application's deadline in milliseconds from the start; `None` for none.
    pub timeout_ms: Option<i64>,
    /// Whether the RPC waits while connections fail.
    pub wait_for_ready: bool,
}

impl Default for Rpc {
    fn default() -> Self {
        Rpc {
            method: "/pkg.Service/Method".to_owned(),
            headers: Vec::new(),
            timeout_ms: Some(DEFAULT_TIMEOUT_MS),
            wait_for_ready: false,
        }
    }
}

/// Identifies an RPC of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RpcId(pub(super) u64);

impl RpcId {
    /// The number of the RPC, in the order in which the channel was given them, from 0.
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// How far an RPC has come.
#[derive(Debug)]
pub(super) enum Phase {
    /// There is no configuration yet.
    Resolving,
    /// Fault injection holds it back.
    Delayed,
    /// It waits for a picker that takes it.
    Queued,
    /// A backend has it.
    UnderWay { complete: Box<Complete>, reply: Reply },
    /// It waits for the next attempt.
    BackingOff,
}

/// An RPC that has ended, and whose outcome nobody has asked for yet.
#[derive(Debug)]
pub(super) struct Ended {
    pub outcome: Box<Outcome>,
    /// The number of steps that its trace keeps.
    pub kept: usize,
}

/// An RPC under way.
#[derive(Debug)]
pub(super) struct Call {
    pub rpc: Rpc,
    pub phase: Phase,
    pub began: Time,
    pub deadline: Option<TimerId>,
    pub deadline_at: Option<Time>,
    pub selected: Option<Arc<Selected>>,
    /// The retries of the policy that was selected.
    pub retries: Retries,
    /// Whether an attempt was repeated because a server had not seen it.
    pub was_unseen: bool,
    /// Whether the RPC has waited for a configuration or a connection, or had one.
    pub used_channel: bool,
    /// The number of the current attempt, by which late events of other attempts are recognised.
    pub serial: u64,
    pub backends: Vec<String>,
    /// The address list of the last pick, for the session cookie.
    pub actual_hosts: Option<Arc<str>>,
    /// `:authority` of the last attempt.
    pub authority: Option<Arc<str>>,
    /// Where a lookup (RLS) led the last attempt, if places are recorded.
    pub target: Option<Arc<str>>,
    /// Where in the configuration the endpoint of the last attempt stands.
    pub place: Option<EndpointPlace>,
    /// The failure of the last pick, if the RPC waits for ready in spite of it.
    pub last_failure: Option<Status>,
    /// The virtual host in use, if places are recorded.
    pub virtual_host: Option<Arc<str>>,
    /// The position of the route, and its name if places are recorded.
    pub route: Option<(usize, Option<Arc<str>>)>,
    /// Whether the RPC records its way.
    pub is_traced: bool,
    /// Whether nobody waits for its outcome: see
    /// [`Channel::take_ended`](super::Channel::take_ended).
    pub is_let_go: bool,
    pub trace: Trace,
    /// The fingerprint of the last pick's steps, to see whether another pick brought anything new.
    pub last_pick: u64,
}

impl Call {
    /// The child of the cluster manager to which the RPC was sent.
    pub fn key(&self) -> Option<&str> {
        Some(self.selected.as_ref()?.key.as_str())
    }

    /// The cluster to which the RPC was sent.
    pub fn cluster(&self) -> Option<&str> {
        self.key()?.strip_prefix(CLUSTER_PREFIX)
    }
}
