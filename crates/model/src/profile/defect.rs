//! Known defects of clients: what some versions do wrong with configuration that is right.
//!
//! They are data. Each stands in the file of its family, in a line of `defects!`; `lint/defects.rs` looks for what triggers them.

use super::family::Family;
use super::version::Version;

/// What in the resources of a world makes a defect show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DefectTrigger {
    /// A target whose Listener has another name than the channel's authority.
    OtherAuthority,
    /// A LOGICAL_DNS cluster with an LB policy that is not pick_first.
    DnsLbPolicy,
    /// A LOGICAL_DNS cluster.
    Dns,
    /// A LOGICAL_DNS cluster whose host name is an IP address.
    DnsLiteral,
    /// A weighted_round_robin policy with a blackout or expiration period of its own.
    WeightPeriods,
    /// A ring_hash cluster with endpoints in several priorities.
    RingOfPriorities,
    /// A ring_hash cluster with endpoints by EDS.
    Ring,
    /// A ring_hash cluster whose EDS service another cluster has, too.
    RingOfShared,
    /// Endpoints in several priorities.
    Priorities,
    /// An aggregate cluster with leaves that have one EDS service.
    SharedService,
    /// An aggregate cluster of a route that is below another cluster of a route, and has other leaves there.
    NestedRoot,
    /// Routes by lookups (RLS) whose answers are renewed before they are too old.
    RenewedAnswers,
    /// A virtual host without a route that takes every RPC.
    Unrouted,
    /// A server's filter chain with its routes by RDS.
    ServerRoutes,
    /// A server's filter chain without routes.
    NoServerRoutes,
    /// A server that gets a Listener for clients.
    ServerApi,
}

/// A known defect of some versions of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Defect {
    /// The first version that has it; `None` if every version before `until` has it.
    pub since: Option<Version>,
    /// The version that no longer has it; `None` if every later version has it.
    pub until: Option<Version>,
    /// What makes it show.
    pub trigger: DefectTrigger,
    /// What the client does, in a sentence that follows its name.
    pub what: &'static str,
    /// Where it is known from.
    pub source: &'static str,
    /// Every RPC that comes to it fails, or the process dies; else it may be meant.
    pub is_fatal: bool,
}

impl Defect {
    /// Says whether a version has it.
    ///
    /// ```
    /// use xdsctl_model::profile::{Family, Version};
    /// let by_listener = &Family::Go.defects()[0];
    /// assert!(by_listener.is_in(Version::new(1, 62, 0)));
    /// assert!(!by_listener.is_in(Version::new(1, 62, 1)));
    /// ```
    pub fn is_in(&self, version: Version) -> bool {
        self.since.is_none_or(|since| since <= version) && self.until.is_none_or(|until| version < until)
    }

    /// The versions that have it: `before 1.62.1`, `1.56.0 to 1.80.0`, `since 1.40.0`.
    ///
    /// The second version of a range no longer has it.
    pub fn versions(&self) -> String {
        match (self.since, self.until) {
            (None, Some(until)) => format!("before {until}"),
            (Some(since), Some(until)) => format!("from {since}, before {until}"),
            (Some(since), None) => format!("since {since}"),
            (None, None) => "every version".to_owned(),
        }
    }
}

impl Family {
    /// The known defects of its versions.
    pub const fn defects(self) -> &'static [Defect] {
        self.facts().defects
    }
}
