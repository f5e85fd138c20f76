//! From what clients hold to the outcome of `validate`: advice, and what comes to pass in the whole.
//!
//! [`check`] takes what [`client`](xdsctl_channel::client) has decided and adds what the resources of each world show together:
//! references, aggregate graphs, which failures nobody would see, and whether the whole thing was made for a proxy.

mod others;
mod proxy;
mod shared;
mod unharmed;
mod withheld;
mod worlds;

pub use withheld::{Reason, Withheld, WithheldFinding};
pub use worlds::{InputScope, check};

use xdsctl_channel::client::{Checked, World};
use xdsctl_document::envelope::{Finding, WorldId};
use xdsctl_model::diag::{Rule, rules};

rules! {
    /// No listener has an api_listener: the configuration was made for a proxy, not for a gRPC client.
    MADE_FOR_PROXY = "dump-made-for-proxy", Dump, Advice, "gRFC A27: a client takes API listeners only";
    /// Resources of a dump come from the proxy's own bootstrap: no gRPC client gets them, and they are not checked.
    STATIC_NOT_JUDGED = "dump-static-not-judged", Dump, Advice as Note, "Envoy admin interface, static_ lists of /config_dump";
    /// A dump holds EDS clusters and no endpoints.
    ENDPOINTS_NOT_INCLUDED = "dump-endpoints-not-included", Dump, Advice as Note, "Envoy admin interface, /config_dump?include_eds";
    /// A line of a log tells of a fault that the dump does not have.
    FAULT_GONE = "dump-fault-gone", Dump, Advice, "xdsctl validate --explain-error";
}

/// The rules of this folder's other files.
pub static PART_RULES: &[&[&Rule]] = &[unharmed::RULES];

/// The outcome of a run.
#[derive(Debug, Default)]
pub struct CheckOutcome {
    /// Every resource, in the order of the documents.
    pub resources: Vec<Checked>,
    /// Findings on documents.
    pub findings: Vec<Finding>,
    /// Worlds made for a proxy; their resources are not checked unless that was asked for.
    pub proxy_worlds: Vec<WorldId>,
    /// What each client holds, by the resources' numbers.
    pub worlds: Vec<World>,
    /// Findings that are not shown, if somebody asks for them.
    pub withheld: Withheld,
}
