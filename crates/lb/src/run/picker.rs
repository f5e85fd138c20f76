//! A pick: what the channel asks of the policies for each attempt of an RPC, and what they answer.
//!
//! Nothing on the way of a pick that completes allocates, unless a trace is asked for. Side
//! effects, such as waking an idle policy, are collected and carried out after the pick, as the
//! client's work serializer does.

use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::net::SocketAddr;
use std::sync::Arc;

use super::endpoint::Address;
use super::log::LogEvent;
use super::metadata::Metadata;
use super::policy::{PolicyEvent, TreePath};
use super::runtime::InFlight;
use crate::override_host;
use xdsctl_model::status::Status;

/// What the policies know about an RPC.
#[derive(Debug, Clone, Copy)]
pub struct PickArgs<'a> {
    /// The cluster that the config selector chose: `cluster:<name>` or
    /// `cluster_specifier_plugin:<name>`.
    pub cluster_key: &'a str,
    /// The request hash, which the config selector always computes; `None` without an xDS config.
    pub request_hash: Option<u64>,
    /// The addresses in the session cookie, separated by commas, the most wanted first; empty
    /// without a usable cookie. `None` without an active session filter.
    pub session: Option<&'a str>,
    /// The path and headers, for `requestHashHeader` of ring_hash and the keys of rls.
    pub metadata: Metadata<'a>,
    /// Simulated time of the pick, in milliseconds.
    pub now: i64,
}

/// The answer of a policy to a pick.
#[derive(Debug, Clone, PartialEq)]
pub enum Pick {
    /// Send the attempt to this subchannel.
    Complete(Complete),
    /// Wait for the next picker.
    Queue,
    /// Fail, unless the RPC waits for ready.
    Fail(Status),
    /// Fail in any case, without a retry.
    Drop(Status),
}

impl Pick {
    /// Names the kind of answer in one word.
    pub const fn class(&self) -> &'static str {
        match self {
            Pick::Complete(_) => "complete",
            Pick::Queue => "queue",
            Pick::Fail(_) => "fail",
            Pick::Drop(_) => "drop",
        }
    }
}

/// A chosen subchannel, and the policies that want to hear how the attempt ends.
#[derive(Debug, Clone, PartialEq)]
pub struct Complete {
    /// The number of the handle through which the subchannel was chosen.
    pub handle: u64,
    /// The number of the subchannel. None is chosen if the attempt connects by itself.
    pub subchannel: u32,
    /// Whether the attempt connects by itself, and fails if it cannot.
    pub connects: bool,
    /// The IP address and port that the attempt goes to.
    pub socket: SocketAddr,
    /// The address as text.
    pub address: Arc<str>,
    /// The target that a lookup (RLS) led to; `None` if no rls policy was asked.
    pub target: Option<Arc<str>>,
    /// The leaf cluster; `None` if no cluster_impl policy was asked.
    pub cluster: Option<Arc<str>>,
    /// The outlier_detection policy that counts the attempt, and the endpoint's number there.
    pub outlier: Option<(TreePath, u32)>,
    /// The weighted_round_robin policy that reads load reports, and the endpoint's number there.
    pub load: Option<(TreePath, u32)>,
    /// The cluster's counter of requests in flight, if it counts the attempt.
    pub in_flight: Option<u32>,
    /// The endpoint's counter of requests in flight; `None` if no policy picks by it.
    pub in_flight_of_endpoint: Option<u32>,
    /// The chosen endpoint's addresses for the session cookie; `None` if override_host did not
    /// record any.
    pub actual_hosts: Option<Arc<str>>,
}

impl Complete {
    /// Makes a pick of a subchannel, as pick_first does.
    pub fn new(handle: u64, subchannel: u32, address: &Address) -> Complete {
        Complete {
            handle,
            subchannel,
            connects: false,
            socket: address.socket,
            address: address.text.clone(),
            target: None,
            cluster: None,
            outlier: None,
            load: None,
            in_flight: None,
            in_flight_of_endpoint: None,
            actual_hosts: None,
        }
    }

    /// Returns the counters of requests in flight that count the attempt.
    pub fn counters(&self) -> impl Iterator<Item = u32> + use<> {
        self.in_flight.into_iter().chain(self.in_flight_of_endpoint)
    }
}

/// The expected shares of picks by address, or by status for those that fail.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PickShares(pub std::collections::BTreeMap<String, f64>);

impl PickShares {
    /// The label of picks that wait.
    pub const QUEUED: &'static str = "queued";

    /// Adds a share, from 0 to 1, to that of a label.
    pub fn add(&mut self, label: &str, share: f64) {
        if share > 0.0 {
            *self.0.entry(label.to_owned()).or_default() += share;
        }
    }

    /// Adds a share of picks that fail with this status.
    pub fn add_status(&mut self, status: &Status, share: f64) {
        self.add(&status.to_string(), share);
    }
}

/// What a step in the trace of an RPC is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepKind {
    /// The channel does nothing any more.
    Channel,
    /// Which virtual host is in use.
    VirtualHost,
    /// Whether a route takes the RPC, and why not if it does not.
    Route {
        /// Whether the route takes the RPC.
        is_taken: bool,
    },
    /// The request hash.
    RequestHash,
    /// What a session filter does with the cookie.
    StatefulSession,
    /// The cluster of the cookie is used instead of the route's.
    Cluster,
    /// A fault is injected.
    Fault,
    /// The configured timeout.
    Timeout,
    /// A pick begins; the steps of the policies follow.
    Pick,
    /// What the policy of this name did, and why.
    Policy(&'static str),
    /// What override_host knows about a host that the cookie names.
    CookieHost {
        /// Whether the host gets the RPC.
        is_ready: bool,
    },
    /// Which `:authority` an attempt has.
    Authority,
    /// An attempt is followed by another.
    Retry,
    /// A cookie of the answer.
    SetCookie,
    /// Steps are left out.
    LeftOut,
}

impl StepKind {
    /// Returns the policy, or the part of the client, that the step belongs to.
    pub const fn layer(self) -> &'static str {
        match self {
            StepKind::Channel => "channel",
            StepKind::VirtualHost => "virtual host",
            StepKind::Route { .. } => "route",
            StepKind::RequestHash => "request hash",
            StepKind::StatefulSession => "stateful session",
            StepKind::Cluster => "cluster",
            StepKind::Fault => "fault",
            StepKind::Timeout => "timeout",
            StepKind::Pick => "pick",
            StepKind::Policy(name) => name,
            StepKind::CookieHost { .. } => override_host::NAME,
            StepKind::Authority => "authority",
            StepKind::Retry => "retry",
            StepKind::SetCookie => "set-cookie",
            StepKind::LeftOut => "trace",
        }
    }
}

/// One step in the trace of an RPC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceStep {
    /// What the step is about.
    pub kind: StepKind,
    /// What was done and why, for people.
    pub text: String,
}

impl fmt::Display for TraceStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.layer(), self.text)
    }
}

/// Returns a number for the steps of a pick that differs if they differ, except with a chance of 1
/// in 2^64.
pub fn fingerprint(steps: &[TraceStep]) -> u64 {
    let mut hash = DefaultHasher::new();
    for step in steps {
        (step.kind.layer(), &step.text).hash(&mut hash);
    }
    hash.finish()
}

/// What a pick may look at and leave behind.
#[derive(Debug)]
pub struct PickCx<'a> {
    /// The requests in flight.
    pub in_flight: &'a InFlight,
    /// Events to deliver to policies after the pick.
    pub after: &'a mut Vec<(TreePath, PolicyEvent)>,
    /// Where steps are written, if they are wanted.
    pub trace: Option<&'a mut Vec<TraceStep>>,
    /// The events of the pick, such as what a cookie led to, if somebody listens. The number is
    /// that of the RPC.
    pub told: Option<(i64, &'a mut Vec<LogEvent>)>,
}

impl PickCx<'_> {
    /// Adds a step of a policy to the trace, if there is one.
    pub fn say(&mut self, policy: &'static str, what: fmt::Arguments<'_>) {
        self.step(StepKind::Policy(policy), what);
    }

    /// Adds a step to the trace, if there is one.
    pub fn step(&mut self, kind: StepKind, what: fmt::Arguments<'_>) {
        if let Some(trace) = &mut self.trace {
            let text = what.to_string();
            trace.push(TraceStep { kind, text });
        }
    }

    /// Adds an event to those of the pick, if somebody listens.
    pub fn tell(&mut self, event: impl FnOnce(i64) -> LogEvent) {
        if let Some((rpc, told)) = &mut self.told {
            told.push(event(*rpc));
        }
    }

    /// Adds a step whose text is costly to make: `what` is called only if there is a trace.
    pub fn say_of(&mut self, policy: &'static str, what: impl FnOnce() -> String) {
        if self.trace.is_some() {
            self.say(policy, format_args!("{}", what()));
        }
    }
}
