//! Known defects of clients: what some versions do wrong with correct configuration.
//!
//! Defects are data. Each is a line of `defects!` in the file of its family; `lint/defects.rs`
//! looks for what triggers it.

use super::family::Family;
use super::version::Version;

/// What in the resources of a world triggers a defect.
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
    /// A weighted_round_robin policy that sets a blackout or expiration period.
    WeightPeriods,
    /// A ring_hash cluster with endpoints in several priorities.
    RingOfPriorities,
    /// A ring_hash cluster whose endpoints come from EDS.
    Ring,
    /// A ring_hash cluster that shares its EDS service with another cluster.
    RingOfShared,
    /// Endpoints in several priorities.
    Priorities,
    /// An aggregate cluster with several leaves that share one EDS service.
    SharedService,
    /// An aggregate cluster of a route that is below another cluster of a route, and has other leaves there.
    NestedRoot,
    /// Routes by lookups (RLS) whose answers are renewed before they expire.
    RenewedAnswers,
    /// A virtual host without a route that matches every RPC.
    Unrouted,
    /// A filter chain of a server that gets its routes by RDS.
    ServerRoutes,
    /// A filter chain of a server without routes.
    NoServerRoutes,
    /// A server that receives a Listener for clients.
    ServerApi,
}

/// A known defect of some versions of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Defect {
    /// The first version that has the defect; `None` if every version before `until` has it.
    pub since: Option<Version>,
    /// The first version that no longer has the defect; `None` if every later version has it.
    pub until: Option<Version>,
    /// What triggers the defect.
    pub trigger: DefectTrigger,
    /// What the client does, as the rest of a sentence that begins with the client's name.
    pub what: &'static str,
    /// The source for the defect, such as a release note.
    pub source: &'static str,
    /// Every RPC that the defect affects fails, or the process dies; otherwise the behaviour may be
    /// wanted.
    pub is_fatal: bool,
}

impl Defect {
    /// Says whether a version has the defect.
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

    /// Returns the versions that have the defect: `before 1.62.1`, `from 1.56.0, before 1.80.0`,
    /// `since 1.40.0`.
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
    /// Returns the known defects of the family's versions.
    pub const fn defects(self) -> &'static [Defect] {
        self.facts().defects
    }
}
