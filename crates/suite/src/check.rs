//! What can be expected of an RPC, of all RPCs of a step together, of an update, or of a channel.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::ops::RangeInclusive;

use super::shares::ExpectedShares;
use xdsctl_document::source::Span;
use xdsctl_lb::runtime::{Connectivity, Time};
use xdsctl_model::diag::Rule;
use xdsctl_model::status::Code;
use xdsctl_policy::cel::Program;

/// One expectation, of a kind that a step of a channel or of a server can have.
#[derive(Debug, Clone)]
pub struct Check<K = CheckKind> {
    /// The bytes of the document that hold the expectation.
    pub span: Span,
    /// The bytes of the document that hold the value of the expectation.
    pub value: Span,
    /// The kind of expectation, with its value.
    pub what: K,
}

/// What is expected. Lists of possible values are sorted, without duplicates.
#[derive(Debug, Clone)]
pub enum CheckKind {
    /// What each RPC does.
    Rpc(RpcCheck),
    /// The RPCs are distributed like this.
    Shares(ExpectedShares),
    /// The RPCs end at this many different backends.
    Backends(RangeInclusive<u64>),
    /// There are this many RPCs.
    Count(RangeInclusive<u64>),
    /// The update is rejected by these rules; without rules, it is accepted.
    Nack(Vec<&'static Rule>),
    /// The states of connections, and of the channel.
    States(BTreeMap<StatePlace, Option<Connectivity>>),
    /// The priority in use by cluster, from 0; `None` if no priority is in use.
    Priority(BTreeMap<String, Option<u64>>),
    /// The tree of LB policies has a policy of this name.
    Has(String),
    /// The tree of LB policies has no policy of this name.
    Lacks(String),
}

/// What is expected of an RPC. Lists of possible values are sorted, without duplicates.
#[derive(Debug, Clone)]
pub enum RpcCheck {
    /// The status code of each RPC is one of these.
    Status(Vec<Code>),
    /// The message of each RPC contains this text.
    Message(String),
    /// Every RPC fails; with `false`, no RPC fails.
    Fails(bool),
    /// The backend of each RPC is one of these.
    Address(Vec<SocketAddr>),
    /// The cluster of each RPC's route, or the leaf below it, is one of these; an empty list
    /// expects none.
    Cluster(Vec<String>),
    /// The virtual host in use is one of these; an empty list expects none.
    VirtualHost(Vec<String>),
    /// `:authority` of each RPC is one of these.
    Authority(Vec<String>),
    /// The locality of each RPC is one of these.
    Locality(Vec<String>),
    /// The route that takes each RPC, by position or name.
    Route(Vec<String>),
    /// Each RPC has this many attempts.
    Attempts(RangeInclusive<u64>),
    /// The attempts of each RPC are at these addresses, in this order.
    AttemptsAt(Vec<SocketAddr>),
    /// Each RPC ends within this many milliseconds.
    Within(Time),
    /// What each answer does with the session cookie.
    Cookie(Cookie),
    /// The RPC of a session ends at another backend than the one before it in its jar; with
    /// `false`, it does not.
    Moves(bool),
    /// This expression is true of each RPC.
    That(Box<Program>),
}

/// What an answer does with the session cookie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cookie {
    /// The answer sets no cookie.
    None,
    /// The answer sets a cookie.
    Set,
    /// The answer sets a cookie for this address.
    For(SocketAddr),
}

/// A thing that has a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StatePlace {
    /// The channel as a whole.
    Channel,
    /// The connection to an address.
    Address(SocketAddr),
}

impl CheckKind {
    /// Says whether the check is about the RPCs of the step.
    pub const fn is_of_rpcs(&self) -> bool {
        matches!(
            self,
            CheckKind::Rpc(_) | CheckKind::Shares(_) | CheckKind::Backends(_) | CheckKind::Count(_)
        )
    }
}
