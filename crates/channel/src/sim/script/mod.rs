//! Scripts: steps in JSON or YAML, each an object, played on one channel or several.
//!
//! `{"pick": {"method", "headers", "count", "rate", "timeout", ...}}` sends RPCs one after the
//! other, or at a rate. `{"begin": {..., "name"}}` and `{"finish": name}` send RPCs at the same
//! time as the steps between them are played. `{"sleep": seconds}` and `{"at": seconds}` let time
//! pass. `stop`, `start`, `silence`, `speak`, `drop`, `orca` and `backend` say what backends do,
//! and `lookups` what lookup services answer. `update` and `remove` change what the control plane
//! sends, and `drain`, `health`, `weight` and `scale` change its EDS resources.
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

/// The verbs of all steps.
pub const VERBS: [&str; 19] = [
    "pick", "begin", "finish", "sleep", "at", "stop", "start", "silence", "speak", "drop", "orca", "backend",
    "lookups", "update", "remove", "drain", "health", "weight", "scale",
];

/// The most RPCs of one step.
pub const MAX_COUNT: u64 = 10_000_000;

/// The most RPCs of one step at a rate. Those that have ended are not kept.
pub const MAX_RATED: u64 = 1_000_000_000;

/// The most RPCs of all steps together. A million takes about a second.
pub const MAX_SENT: u64 = 1_000_000_000;

/// The most timers and changes of connections for all steps and clients, as a multiple of the most
/// events of one step.
pub const MAX_STEPS_WORK: u64 = 4;

/// The most RPCs under way at a time. Each is kept in memory until it has ended.
pub const MAX_UNDER_WAY: u64 = 100_000;

/// The most `begin`s at a rate that go on at a time.
pub const MAX_AT_A_RATE: usize = 1_000;

/// A step of a script.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Sends RPCs, and waits until the last one has ended.
    Pick(Sending),
    /// Sends RPCs while the next steps are played.
    Begin {
        /// The name by which a later `finish` refers to these RPCs.
        name: String,
        /// The RPCs that are sent.
        sending: Sending,
        /// The time until the next step, in milliseconds.
        settle_ms: i64,
    },
    /// Waits for the RPCs of the `begin` with this name.
    Finish(String),
    /// Lets this many simulated milliseconds pass.
    Sleep(i64),
    /// Lets time pass until this point in time.
    At(Time),
    /// Stops the backends of these addresses: connections break, and none is accepted.
    Stop(Vec<SocketAddr>),
    /// The backends of these addresses accept connections from now on.
    Start(Vec<SocketAddr>),
    /// Makes these addresses accept connections and never speak.
    Silence(Vec<SocketAddr>),
    /// Makes the backends of these addresses close their connections, and accept new ones.
    Drop(Vec<SocketAddr>),
    /// Sets what backends do from now on.
    Backend(Vec<Setting>),
    /// The control plane sends these resources.
    Update {
        /// The resources as text: parsed values would take fifty times the memory.
        sent: SentTexts,
        /// The addresses in the resources.
        addresses: Vec<SocketAddr>,
    },
    /// The control plane no longer sends these resources.
    Remove(Vec<(ResourceType, String)>),
    /// The control plane sends EDS with other endpoints.
    Endpoints(Vec<EndpointChange>),
    /// The control plane sends EDS with more or fewer endpoints.
    Scale(Vec<Scale>),
    /// Sets what lookup services answer.
    Lookups(Lookups),
    /// Sets load reports by address.
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
            // Endpoints that the client drops are no addresses of the channel, but can be changed
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
