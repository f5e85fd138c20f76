//! The run-time side of LB policies: explicit state machines, driven by updates and events.
//!
//! A policy owns its children. Events are passed down from the root along a path of child numbers
//! ([`TreePath`]), and what a policy reports goes up as the return value ([`Reports`]). Time,
//! chance and connections are in [`PolicyCx::runtime`]; [`Clusters`] says what a cluster is made
//! of. A picker is not a value of its own: each policy keeps what it last reported and answers
//! [`StateMachine::pick`] from that.

use std::fmt;
use std::sync::Arc;

use super::endpoint::EndpointList;
use super::picker::{Pick, PickArgs, PickCx, PickShares};
use super::runtime::{Connectivity, Runtime};
use crate::LbConfig;
use xdsctl_model::profile::Profile;
use xdsctl_model::resource::Cluster;
use xdsctl_model::resource::endpoints::DropConfig;
use xdsctl_model::status::Status;

/// A place in the tree of policies: the numbers of the children from the root down.
pub type TreePath = Arc<[u32]>;

/// An event for a policy.
#[derive(Debug, Clone, PartialEq)]
pub enum PolicyEvent {
    /// A subchannel that the policy watches is in this state.
    Subchannel {
        /// The number of the handle or watch.
        handle: u64,
        /// The state that the subchannel is in now.
        state: Connectivity,
        /// Why the subchannel failed, if it did.
        status: Option<Status>,
    },
    /// outlier_detection ejected a subchannel, or put it back.
    Ejected {
        /// The number of the policy's handle of the subchannel.
        handle: u64,
        /// Whether the subchannel is ejected; `false` if it is back.
        is_ejected: bool,
    },
    /// A timer fired; the number is the policy's own.
    Timer(u64),
    /// A pick found the policy idle.
    Wake,
    /// A pick wants this child of the policy to connect.
    Connect(u64),
    /// A cookie names this address, to which there is no subchannel.
    CreateSubchannel(Arc<str>),
    /// An attempt to the endpoint of this number ended.
    Ended {
        /// The index of the endpoint.
        endpoint: u32,
        /// Whether the RPC ended with OK.
        is_ok: bool,
    },
    /// A pick wants this lookup to be made.
    Lookup(u64),
    /// The lookup service has answered.
    LookedUp {
        /// The number of the lookup.
        number: u64,
        /// The answer, or why there is none.
        result: LookupResult,
    },
    /// The endpoint of this number reported its load.
    Load {
        /// The index of the endpoint.
        endpoint: u32,
        /// The load that the backend reports (ORCA).
        report: Arc<LoadReport>,
    },
}

/// The answer of a lookup service: `grpc.lookup.v1.RouteLookupResponse`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LookupAnswer {
    /// `targets`, at least one.
    pub targets: Vec<Arc<str>>,
    /// `header_data`; empty if there is none.
    pub header_data: Arc<str>,
}

/// The answer of a lookup service, or why there is none.
pub type LookupResult = Arc<Result<LookupAnswer, Status>>;

/// What a backend says about its load: `xds.data.orca.v3.OrcaLoadReport` as far as
/// weighted_round_robin reads it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LoadReport {
    /// `cpu_utilization`.
    pub cpu_utilization: f64,
    /// `mem_utilization`.
    pub mem_utilization: f64,
    /// `application_utilization`.
    pub application_utilization: f64,
    /// `rps_fractional`.
    pub qps: f64,
    /// `eps`.
    pub eps: f64,
    /// `named_metrics`.
    pub named_metrics: std::collections::BTreeMap<String, f64>,
    /// `utilization`.
    pub utilization: std::collections::BTreeMap<String, f64>,
}

/// A policy's report of its state.
#[derive(Debug, Clone, PartialEq)]
pub struct StateReport {
    /// The connectivity that the policy reports to its parent.
    pub state: Connectivity,
    /// Why the policy failed, if the state is TRANSIENT_FAILURE.
    pub status: Option<Status>,
}

impl StateReport {
    /// Makes a report without a failure.
    pub const fn new(state: Connectivity) -> StateReport {
        StateReport { state, status: None }
    }

    /// Makes a report of TRANSIENT_FAILURE.
    pub const fn failure(status: Status) -> StateReport {
        StateReport {
            state: Connectivity::TransientFailure,
            status: Some(status),
        }
    }
}

/// What a policy reported during one call, oldest first. Each report brings a new picker.
pub type Reports = Vec<StateReport>;

/// A new configuration for a policy.
#[derive(Debug, Clone, Copy)]
pub struct Update<'a> {
    /// The config of the policy.
    pub config: &'a LbConfig,
    /// The endpoints of the policy, or why there are none.
    pub endpoints: Result<&'a EndpointList, &'a Status>,
    /// How many names of the endpoints' hierarchical paths the policies above have used.
    pub depth: usize,
    /// Why endpoints may be missing, in the client's words; appended to failure messages.
    pub note: &'a str,
}

/// A leaf cluster as cluster_impl and override_host look it up.
#[derive(Debug, Clone)]
pub struct LeafView {
    /// The validated Cluster resource.
    pub cluster: Arc<Cluster>,
    /// `drop_overloads` of its endpoints.
    pub drops: Option<DropConfig>,
}

/// What a cds policy gets for its cluster.
#[derive(Debug, Clone)]
pub enum ClusterUpdate {
    /// The policy is inside more cds policies than are simulated.
    TooDeep,
    /// The cluster is not in the configuration.
    Missing,
    /// RPCs fail with this status.
    Error(Status),
    /// RPCs fail with this status until the child policy, which stays, reports again.
    ErrorBesideChild(Status),
    /// The cluster is as it was before.
    Same,
    /// There are no longer any endpoints, and the child gets this status.
    Lost(Status),
    /// The client waits for resources of the cluster, and goes on with what it has.
    Awaited,
    /// The policy is somewhere below a cds policy of the same cluster.
    Loop,
    /// The generated child policy, its endpoints and its note.
    Child(Box<ClusterChild>),
}

/// The child that cds generates.
#[derive(Debug, Clone)]
pub struct ClusterChild {
    /// The config of the policy.
    pub config: Arc<LbConfig>,
    /// The endpoints of a leaf; empty for an aggregate, whose children fetch their own.
    pub endpoints: EndpointList,
    /// Why endpoints may be missing, in the client's words; appended to failure messages.
    pub note: String,
}

/// The channel's xDS configuration, as the policies below the resolver see it.
pub trait Clusters {
    /// Returns what the cds policy at `at` is to run. The numbers of priority children are kept per
    /// policy.
    fn update(&self, at: &TreePath, cluster: &str) -> ClusterUpdate;

    /// Notes that the cds policy at `at` has dropped its child, or is gone: its numbering starts
    /// over.
    fn forget(&self, at: &TreePath);

    /// Notes that the cds policy at `at` wants a cluster that no route names, until it
    /// unsubscribes.
    fn subscribe(&self, at: &TreePath, cluster: &str);

    /// Notes that the cds policy at `at` no longer wants its cluster.
    fn unsubscribe(&self, at: &TreePath);

    /// Returns the client's version and switches.
    fn profile(&self) -> &Profile;

    /// Returns a leaf cluster of the configuration.
    fn leaf(&self, cluster: &str) -> Option<LeafView>;
}

/// What a policy acts on.
pub struct PolicyCx<'a> {
    /// Time, chance and connections.
    pub runtime: &'a mut Runtime,
    /// The channel's configuration.
    pub clusters: &'a dyn Clusters,
}

/// The state machine of a policy.
pub trait StateMachine: fmt::Debug {
    /// Takes over a new configuration.
    fn update(&mut self, update: Update<'_>, cx: &mut PolicyCx<'_>) -> Reports;

    /// Handles an event for the policy itself (`path` is empty) or for a policy below it.
    fn handle(&mut self, path: &[u32], what: &PolicyEvent, cx: &mut PolicyCx<'_>) -> Reports;

    /// Connects, if the policy is idle.
    fn exit_idle(&mut self, _cx: &mut PolicyCx<'_>) -> Reports {
        Reports::new()
    }

    /// Handles the loss of the cluster's endpoints, in clients that report it without an update
    /// (grpc-java `handleNameResolutionError`). A policy with endpoints that work keeps them.
    fn lose(&mut self, _why: &Status, _cx: &mut PolicyCx<'_>) -> Reports {
        Reports::new()
    }

    /// Decides where an attempt goes, by what the policy last reported.
    fn pick(&mut self, args: &PickArgs<'_>, cx: &mut PickCx<'_>) -> Pick;

    /// Adds up where picks go, for `share` of all picks, by what the policy last reported. Without
    /// a request hash in `args`, the hash is random.
    fn shares(&self, args: &PickArgs<'_>, share: f64, out: &mut PickShares);

    /// Tells which priority is in use in each priority policy from here down, and for which
    /// cluster. `cluster` is the cluster that this policy is for. Only policies that may stand
    /// above a priority policy implement this.
    fn priorities(&self, _cluster: &str, _tell: &mut dyn FnMut(&str, Option<usize>)) {}

    /// Releases timers and subchannels.
    fn shutdown(&mut self, cx: &mut PolicyCx<'_>);
}
