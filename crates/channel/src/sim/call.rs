//! One RPC on its way: waiting, being picked for, under way, between two attempts.

use std::sync::Arc;

use super::network::Reply;
use super::outcome::{EndpointPlace, Outcome, Trace};
use super::selection::Selected;
use crate::rpc::{CLUSTER_PREFIX, Retries};
use xdsctl_lb::picker::Complete;
use xdsctl_lb::runtime::{Time, TimerId};
use xdsctl_model::status::Status;

/// Deadline of an RPC that says nothing about it, in milliseconds: longer than a failover takes (10
/// s), so that an RPC to a priority that does not answer still finds its way.
pub const DEFAULT_TIMEOUT_MS: i64 = 20_000;

/// What an application sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rpc {
    /// `/package.Service/Method`.
    pub method: String,
    /// Metadata in order, keys in lower case.
    pub headers: Vec<(String, String)>,
    /// The application's deadline in milliseconds from the start; `None` for none.
    pub timeout_ms: Option<i64>,
    /// Failures to connect are waited out.
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

/// Where an RPC is.
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

/// An RPC that has ended, until somebody asks what became of it.
#[derive(Debug)]
pub(super) struct Ended {
    pub outcome: Box<Outcome>,
    /// Number of steps that its trace keeps.
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
    /// Those of the policy that was selected.
    pub retries: Retries,
    /// A server did not see an attempt, which was made anew for that.
    pub was_unseen: bool,
    /// It has waited for a configuration or a connection, or had one.
    pub used_channel: bool,
    /// Number of the attempt that is under way, so that late events of others are not taken for it.
    pub serial: u64,
    pub backends: Vec<String>,
    /// The address list of the last pick, for the session cookie.
    pub actual_hosts: Option<Arc<str>>,
    /// `:authority` of the last attempt.
    pub authority: Option<Arc<str>>,
    /// Where a lookup (RLS) led the last attempt, if that is asked for.
    pub target: Option<Arc<str>>,
    /// Where the endpoint of the last attempt stands.
    pub place: Option<EndpointPlace>,
    /// Why it waits, if a pick failed that waits for ready.
    pub last_failure: Option<Status>,
    /// The virtual host in use, if that is asked for.
    pub virtual_host: Option<Arc<str>>,
    /// Position of the route, and its name if that is asked for.
    pub route: Option<(usize, Option<Arc<str>>)>,
    /// The RPC tells its way.
    pub is_traced: bool,
    /// Its outcome waits for nobody: see [`Channel::take_ended`](super::Channel::take_ended).
    pub is_let_go: bool,
    pub trace: Trace,
    /// Fingerprint of the last pick's steps, to see whether another one brought anything new.
    pub last_pick: u64,
}

impl Call {
    /// The child of the cluster manager to which it has been sent.
    pub fn key(&self) -> Option<&str> {
        Some(self.selected.as_ref()?.key.as_str())
    }

    /// The cluster to which it has been sent.
    pub fn cluster(&self) -> Option<&str> {
        self.key()?.strip_prefix(CLUSTER_PREFIX)
    }
}
