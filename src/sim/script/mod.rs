//! Scripts: steps in JSON, one an object, played on one channel.
//!
//! `{"pick": {"method", "headers", "count", "timeout", "wait_for_ready"}}` sends RPCs one after the other, `{"begin":
//! {..., "name"}}` and `{"finish": name}` at the same time, `{"sleep": seconds}` lets time pass, `{"stop": address}` and
//! `{"start": address}` take a backend away and bring it back, `{"silence": address}` and `{"speak": address}` do so with one
//! that takes connections and never speaks, `{"orca": {address: report}}` sets load reports, `{"update": [resource]}` and
//! `{"remove": [[type, name]]}` change what the control plane sends.
//!
//! A step that says something else than this is refused, so that no word of a script is passed over.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use super::Rpc;
use crate::client::Sent;
use crate::lb::policy::LoadReport;
use crate::model::ResourceType;

mod check;
mod fault;
mod once;
mod orca;
mod play;
mod read;

pub use check::{added, check};
pub use fault::StepError;
pub use orca::load_reports;
pub use play::Player;

/// Most RPCs of one step.
pub const MAX_COUNT: u64 = 10_000_000;

/// Most RPCs under way at a time: each is kept in memory until it has ended.
pub const MAX_UNDER_WAY: u64 = 100_000;

/// A step of a script.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// RPCs one after the other.
    Pick {
        /// What is sent.
        rpc: Rpc,
        /// How often.
        count: u64,
    },
    /// RPCs at the same time.
    Begin {
        /// Identifies them.
        name: String,
        /// What is sent.
        rpc: Rpc,
        /// How many.
        count: u64,
        /// Time until the next step.
        settle_ms: i64,
    },
    /// Waits for RPCs.
    Finish(String),
    /// Lets time pass.
    Sleep(i64),
    /// A backend goes away.
    Stop(SocketAddr),
    /// A backend is there.
    Start(SocketAddr),
    /// An address takes connections and never speaks.
    Silence(SocketAddr),
    /// The control plane sends these resources.
    Update {
        /// As text, which takes a fiftieth of the space of its values.
        sent: Sent,
        /// The addresses in them.
        addresses: Vec<SocketAddr>,
    },
    /// The control plane no longer sends these.
    Remove(Vec<(ResourceType, String)>),
    /// Load reports by address.
    Load(BTreeMap<String, Arc<LoadReport>>),
}

impl Step {
    /// The addresses that the step is about, with its verb.
    fn addresses(&self) -> (&'static str, Vec<SocketAddr>) {
        match self {
            Step::Stop(address) => ("stop", vec![*address]),
            Step::Start(address) => ("start", vec![*address]),
            Step::Silence(address) => ("silence", vec![*address]),
            Step::Load(reports) => ("orca", reports.keys().filter_map(|text| text.parse().ok()).collect()),
            Step::Pick { .. }
            | Step::Begin { .. }
            | Step::Finish(_)
            | Step::Sleep(_)
            | Step::Update { .. }
            | Step::Remove(_) => ("", Vec::new()),
        }
    }
}

#[cfg(test)]
mod tests;
