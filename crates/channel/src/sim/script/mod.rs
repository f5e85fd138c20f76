//! Scripts: steps in JSON or YAML, one an object, played on one channel or several.
//!
//! `{"pick": {"method", "headers", "count", "rate", "timeout", ...}}` sends RPCs one after the
//! other, or at a rate, `{"begin": {..., "name"}}` and `{"finish": name}` at the same time as what
//! stands between them, `{"sleep": seconds}` and `{"at": seconds}` let time pass. `stop`, `start`,
//! `silence`, `speak`, `drop`, `orca` and `backend` say what backends do, `lookups` what lookup
//! services answer; `update` and `remove` change what the control plane sends, `drain`, `health`,
//! `weight` and `scale` its EDS resources.
//!
//! A step with a member that is unknown or of the wrong type is refused: nothing in a script is
//! silently ignored.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use crate::client::{EndpointChange, SentTexts};
use crate::sim::Lookups;
use xdsctl_lb::policy::LoadReport;
use xdsctl_lb::runtime::Time;
use xdsctl_model::resource::ResourceType;

mod backend;
mod check;
mod endpoints;
mod fault;
mod jar;
mod lookups;
mod orca;
mod play;
mod read;
mod rpc;
mod send;
pub mod value;

pub use backend::{OTHERS, Setting, code, settings};
pub use check::{added, check, lookup_targets};
pub use endpoints::{MAX_SCALE, Scale};
pub use fault::StepError;
pub use lookups::lookups;
pub use orca::load_reports;
pub use play::{Player, StepResult};
pub use read::{is_verb, read};
pub use rpc::{MAX_RATE, Sending, pairs};
pub use send::Done;
pub use value::Located;

/// What a step can do.
pub const VERBS: [&str; 19] = [
    "pick", "begin", "finish", "sleep", "at", "stop", "start", "silence", "speak", "drop", "orca", "backend",
    "lookups", "update", "remove", "drain", "health", "weight", "scale",
];

/// Most RPCs of one step.
pub const MAX_COUNT: u64 = 10_000_000;

/// Most RPCs of one step at a rate: those that have ended are not kept.
pub const MAX_RATED: u64 = 1_000_000_000;

/// Most RPCs of all steps together: a million takes about a second.
pub const MAX_SENT: u64 = 1_000_000_000;

/// Timers and changes of connections of all steps and clients, as a multiple of the most events of
/// one step.
pub const MAX_STEPS_WORK: u64 = 4;

/// Most RPCs under way at a time: each is kept in memory until it has ended.
pub const MAX_UNDER_WAY: u64 = 100_000;

/// Most `begin`s at a rate that go on at a time.
pub const MAX_AT_A_RATE: usize = 1_000;

/// A step of a script.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// RPCs, until the last one has ended.
    Pick(Sending),
    /// RPCs, while the next steps are played.
    Begin {
        /// The name by which later steps call these RPCs.
        name: String,
        /// The RPCs that are sent.
        sending: Sending,
        /// Time until the next step.
        settle_ms: i64,
    },
    /// Waits for the RPCs of the `begin` with this name.
    Finish(String),
    /// Lets so many simulated milliseconds pass.
    Sleep(i64),
    /// Lets time pass until this one.
    At(Time),
    /// The backends of these addresses go away: connections break, and none is accepted.
    Stop(Vec<SocketAddr>),
    /// The backends of these addresses accept connections from now on.
    Start(Vec<SocketAddr>),
    /// Addresses take connections and never speak.
    Silence(Vec<SocketAddr>),
    /// Backends close their connections, and take new ones.
    Drop(Vec<SocketAddr>),
    /// What backends do from now on.
    Backend(Vec<Setting>),
    /// The control plane sends these resources.
    Update {
        /// As text: parsed values would take fifty times the memory.
        sent: SentTexts,
        /// The addresses in them.
        addresses: Vec<SocketAddr>,
    },
    /// The control plane no longer sends these.
    Remove(Vec<(ResourceType, String)>),
    /// The control plane sends EDS with other endpoints.
    Endpoints(Vec<EndpointChange>),
    /// The control plane sends EDS with more or fewer endpoints.
    Scale(Vec<Scale>),
    /// What lookup services answer.
    Lookups(Lookups),
    /// Load reports by address.
    Load(BTreeMap<String, Arc<LoadReport>>),
}

impl Step {
    /// The RPCs that the step sends.
    pub const fn sending(&self) -> Option<&Sending> {
        match self {
            Step::Pick(sending) | Step::Begin { sending, .. } => Some(sending),
            _ => None,
        }
    }

    /// The addresses that the step is about, with its verb.
    fn addresses(&self) -> (&'static str, Vec<SocketAddr>) {
        match self {
            Step::Stop(addresses) => ("stop", addresses.clone()),
            Step::Start(addresses) => ("start", addresses.clone()),
            Step::Silence(addresses) => ("silence", addresses.clone()),
            Step::Drop(addresses) => ("drop", addresses.clone()),
            Step::Load(reports) => ("orca", reports.keys().filter_map(|text| text.parse().ok()).collect()),
            Step::Backend(settings) => (
                "backend",
                settings.iter().filter_map(|setting| setting.address).collect(),
            ),
            // Endpoints that the client drops are no addresses of the channel, and can be changed
            // nevertheless.
            Step::Endpoints(_)
            | Step::Pick(_)
            | Step::Begin { .. }
            | Step::Finish(_)
            | Step::Sleep(_)
            | Step::At(_)
            | Step::Update { .. }
            | Step::Remove(_)
            | Step::Lookups(_)
            | Step::Scale(_) => ("", Vec::new()),
        }
    }
}

#[cfg(test)]
mod tests;
