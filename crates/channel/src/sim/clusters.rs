//! What the cds policies run: child configs, endpoints and notes, made from the channel's
//! configuration.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::leaf::Endpoints;
use crate::client::config::{ClusterFailureClass, ClusterState, Leaf, XdsConfig};
use crate::client::{dns, policy};
use crate::tree::build::Cds;
use crate::tree::flat::{FlatCluster, FlatNames};
use crate::tree::names::{ChildNumbers, NamedLeaf};
use xdsctl_lb::policy::{ClusterChild, ClusterUpdate, Clusters, LeafView, TreePath};
use xdsctl_lb::{LbConfig, endpoint};
use xdsctl_model::profile::{Family, Feature, Profile};
use xdsctl_model::resource::Cluster;
use xdsctl_model::resource::cluster::Discovery;
use xdsctl_model::resource::lb_policy::P2cConfig;
use xdsctl_model::status::Status;

/// How deep cds policies may be nested. Each costs the policies above it work for every change. The
/// client has no bound and was seen to work with 100.
pub const MAX_NESTED_CDS: usize = 32;

/// The channel's configuration as the policies see it.
#[derive(Debug)]
pub struct ConfigView {
    /// The configuration; `None` before the first one, and while the channel fails.
    pub config: Option<Arc<XdsConfig>>,
    /// The clusters that wait for a resource, in clients whose channel itself does not wait
    /// ([`Feature::ClustersAlone`]).
    pub awaited: BTreeSet<String>,
    profile: Profile,
    /// Leaves of earlier configurations, to which the policy of a failed cluster may still turn
    /// ([`Feature::FailedClusterKept`]).
    lost: BTreeMap<String, Leaf>,
    /// What each cds policy remembers, by its place.
    policies: RefCell<BTreeMap<TreePath, CdsState>>,
    wanted: RefCell<WantedClusters>,
}

/// Clusters that cds policies want although no route names them, by the places of the policies.
#[derive(Debug, Default)]
struct WantedClusters {
    by_place: BTreeMap<TreePath, String>,
    has_changed: bool,
}

#[derive(Debug, Default)]
struct CdsState {
    cluster: String,
    numbers: ChildNumbers,
    names: FlatNames,
    last: Option<Leaf>,
    /// Whether its resolver hangs, so that it gets no more updates ([`Feature::LiteralDnsHangs`]).
    is_hung: bool,
    /// Whether it has made a child policy.
    is_made: bool,
    endpoints: Endpoints,
    /// The last config of a leaf, with the cluster and the numbers of its priorities from which it
    /// was made.
    config: Option<(Arc<Cluster>, Vec<u64>, Arc<LbConfig>)>,
}

impl ConfigView {
    /// A view without a configuration.
    pub fn new(profile: Profile) -> ConfigView {
        ConfigView {
            config: None,
            awaited: BTreeSet::new(),
            profile,
            lost: BTreeMap::new(),
            policies: RefCell::default(),
            wanted: RefCell::default(),
        }
    }

    /// Takes another configuration. `used` are the clusters to which RPCs under way were sent.
    ///
    /// If a configuration in between lacks a cluster, the cluster is new to its policy when it
    /// comes back, even if it has not changed: the client compares the resources that it holds, and
    /// has asked for others by then (C-core cds.cc). RPCs under way hold their clusters.
    pub fn take<'u>(&mut self, config: Arc<XdsConfig>, used: impl Iterator<Item = &'u str> + Clone) {
        let before = self.config.replace(config.clone());
        if self.profile.has(Feature::FailedClusterKept) {
            for (name, state) in before.iter().flat_map(|before| &before.clusters) {
                if let (ClusterState::Leaf(leaf), None) = (state, config.leaf(name)) {
                    self.lost.insert(name.clone(), leaf.clone());
                }
            }
        }
        let leads_to = |used: &str, cluster: &str| {
            let state = before.as_ref().and_then(|before| before.clusters.get(used));
            used == cluster
                || matches!(state, Some(ClusterState::Aggregate(aggregate)) if aggregate.leaves.iter().any(|leaf| leaf == cluster))
        };
        for remembered in self.policies.get_mut().values_mut() {
            let cluster = &remembered.cluster;
            let is_there = matches!(config.clusters.get(cluster), Some(ClusterState::Leaf(_)));
            if !is_there && remembered.last.is_some() && !used.clone().any(|used| leads_to(used, cluster)) {
                remembered.last = None;
            }
        }
    }

    /// The clusters that policies want although no route names them, because lookups (RLS) led
    /// there.
    pub fn wanted(&self) -> BTreeSet<String> {
        self.wanted.borrow().by_place.values().cloned().collect()
    }

    /// Says whether the policies want other clusters than at the last call.
    pub fn wants_others(&self) -> bool {
        std::mem::take(&mut self.wanted.borrow_mut().has_changed)
    }

    /// The clusters of the cds policies above a place, the nearest first.
    fn above<'p>(policies: &'p BTreeMap<TreePath, CdsState>, at: &'p TreePath) -> impl Iterator<Item = &'p str> {
        (0..at.len())
            .rev()
            .filter_map(|len| policies.get(at.get(..len)?))
            .map(|state| state.cluster.as_str())
    }

    fn child(&self, cds: &Cds<'_>, state: &ClusterState, remembered: &mut CdsState) -> Result<ClusterChild, Status> {
        if let Some(flat) = cds.flat() {
            return self.flat_child(&flat, remembered);
        }
        let leaf = match state {
            ClusterState::Leaf(leaf) => leaf,
            ClusterState::Aggregate(aggregate) => {
                return Ok(ClusterChild {
                    config: Arc::new(cds.child_config(&mut remembered.numbers)?),
                    endpoints: endpoint::none().clone(),
                    note: aggregate.note.clone(),
                });
            }
            // RPCs wait for the cluster.
            ClusterState::Error(_) if self.profile.has(Feature::WaitsForResources) => {
                return Ok(ClusterChild {
                    config: Arc::new(LbConfig::P2c(P2cConfig {})),
                    endpoints: endpoint::none().clone(),
                    note: String::new(),
                });
            }
            ClusterState::Error(failure) => return Err(failure.status()),
        };
        let config = self.leaf_config(cds, leaf, remembered)?;
        Ok(ClusterChild {
            config,
            endpoints: remembered.endpoints.update(
                &[NamedLeaf::numbered(
                    cds.cluster,
                    leaf,
                    remembered.numbers.numbers(),
                    self.profile.client().family,
                )],
                cds.below,
                &self.profile,
            ),
            note: leaf.note.clone(),
        })
    }

    /// Makes one policy for all leaves.
    fn flat_child(&self, flat: &FlatCluster<'_>, remembered: &mut CdsState) -> Result<ClusterChild, Status> {
        flat.accept()?;
        let leaves = flat.named(&mut remembered.names);
        Ok(ClusterChild {
            config: Arc::new(flat.config(&leaves)),
            endpoints: remembered.endpoints.update(&leaves, None, &self.profile),
            note: String::new(),
        })
    }

    /// Says whether cds policies below a leaf watch their clusters by themselves.
    fn has_policies_that_watch(&self, leaf: &Leaf) -> bool {
        self.profile.has(Feature::ClustersAlone) && !policy::clusters(&leaf.cluster.lb_policy.config).is_empty()
    }

    /// Says whether the client makes no policy for a cluster and reports nothing, because the
    /// cluster has no leaf.
    fn hears_nothing(&self, state: &ClusterState) -> bool {
        state.failure_class() == Some(ClusterFailureClass::NoLeaf) && self.profile.has(Feature::LeaflessAwaited)
    }

    /// Says whether the policy of a cluster goes on while the cluster fails.
    fn goes_on(&self, why: ClusterFailureClass) -> bool {
        let feature = match why {
            ClusterFailureClass::Missing => Feature::RemovedClusterGoesOn,
            _ => Feature::FailedClusterGoesOn,
        };
        self.profile.has(feature)
    }

    /// Whether the child policy of an aggregate stays while the aggregate is too deep (grpc-js-xds
    /// load-balancer-cds.ts `updateAddressList`).
    fn stays_too_deep(&self, state: &ClusterState) -> bool {
        self.profile.has(Feature::TooDeepGoesOn) && state.failure_class() == Some(ClusterFailureClass::Depth)
    }

    /// Says whether the policy of a cluster is stuck in the resolver of a leaf.
    fn hangs(&self, config: &XdsConfig, cluster: &str) -> bool {
        let hangs = |leaf: &Leaf| matches!(&leaf.cluster.discovery, Discovery::LogicalDns { hostname } if dns::is_literal(hostname, &self.profile));
        self.profile.has(Feature::LiteralDnsHangs) && config.leaves_of(cluster).into_iter().any(|(_, leaf)| hangs(leaf))
    }

    /// The config below a leaf. It is reused if an update changes only endpoints, as most do.
    fn leaf_config(&self, cds: &Cds<'_>, leaf: &Leaf, remembered: &mut CdsState) -> Result<Arc<LbConfig>, Status> {
        let policy = match cds.lb_policy(leaf) {
            Ok(policy) => policy,
            Err(status) => {
                remembered.numbers.reset();
                return Err(status);
            }
        };
        let numbers = remembered.numbers.update(leaf.endpoints.as_deref());
        // With the switch the config depends on the cluster above too, and in grpc-java on the
        // endpoints that can be used.
        let is_own =
            !self.profile.has(Feature::AggregateClusterBackwardCompat) && self.profile.client().family != Family::Java;
        if let Some((cluster, known, config)) = remembered.config.as_ref().filter(|_| is_own)
            && Arc::ptr_eq(cluster, &leaf.cluster)
            && known == numbers
        {
            return Ok(config.clone());
        }
        cds.accept(leaf, policy, numbers)?;
        let config = Arc::new(cds.leaf_config(leaf, numbers, &policy.config));
        remembered.config = Some((leaf.cluster.clone(), numbers.to_vec(), config.clone()));
        Ok(config)
    }
}

impl Clusters for ConfigView {
    fn update(&self, at: &TreePath, cluster: &str) -> ClusterUpdate {
        let Some(config) = &self.config else {
            return ClusterUpdate::Missing;
        };
        let Some(state) = config.clusters.get(cluster) else {
            return ClusterUpdate::Missing;
        };
        let mut policies = self.policies.borrow_mut();
        if !matches!(state, ClusterState::Error(_)) && Self::above(&policies, at).any(|above| above == cluster) {
            return ClusterUpdate::Loop;
        }
        if Self::above(&policies, at).count() >= MAX_NESTED_CDS {
            return ClusterUpdate::TooDeep;
        }
        let above = Self::above(&policies, at).next().map(str::to_owned);
        let remembered = policies.entry(at.clone()).or_default();
        cluster.clone_into(&mut remembered.cluster);
        if remembered.is_hung {
            return ClusterUpdate::Awaited;
        }
        if let ClusterState::Leaf(leaf) = state
            && remembered.last.as_ref() == Some(leaf)
            && !self.profile.has(Feature::AggregateIsFlat)
            && !self.has_policies_that_watch(leaf)
        {
            return ClusterUpdate::Same;
        }
        let cds = Cds {
            config,
            cluster,
            below: above.as_deref(),
            profile: &self.profile,
        };
        // A policy that refuses a config waits for another one.
        let is_refused = || cds.flat().is_some_and(|flat| flat.accept().is_err());
        let hears_nothing = || self.hears_nothing(state);
        if self.awaited.contains(cluster)
            || self.profile.has(Feature::ClustersAlone) && (is_refused() || hears_nothing())
        {
            return ClusterUpdate::Awaited;
        }
        if let ClusterState::Error(failure) = state
            && remembered.is_made
            && self.goes_on(failure.class)
        {
            return ClusterUpdate::Same;
        }
        remembered.is_hung |= self.hangs(config, cluster);
        if remembered.is_hung {
            return ClusterUpdate::Awaited;
        }
        if let (ClusterState::Leaf(leaf), true) = (state, remembered.is_made)
            && let Some(status) = cds.loses_endpoints(leaf)
        {
            remembered.numbers.update(leaf.endpoints.as_deref());
            remembered.last = None;
            return ClusterUpdate::Lost(status);
        }
        match self.child(&cds, state, remembered) {
            Ok(child) => {
                remembered.is_made = true;
                remembered.last = state.leaf().cloned();
                ClusterUpdate::Child(Box::new(child))
            }
            Err(status) if self.stays_too_deep(state) => ClusterUpdate::ErrorBesideChild(status),
            Err(status) => ClusterUpdate::Error(match self.profile.has(Feature::NodeIdFirst) && above.is_none() {
                true => {
                    let text = format!(
                        "failed to push new configuration &{{<nil> {cluster} false}} to child \"cluster:{cluster}\": {}",
                        status.message
                    );
                    Status::new(status.code, text)
                }
                false => status,
            }),
        }
    }

    fn forget(&self, at: &TreePath) {
        self.policies.borrow_mut().remove(at);
    }

    fn subscribe(&self, at: &TreePath, cluster: &str) {
        let mut wanted = self.wanted.borrow_mut();
        if !wanted.by_place.contains_key(at) {
            // A cluster that is there already is no change, so a policy that waits for a change
            // gets none.
            let is_there = self
                .config
                .as_ref()
                .is_some_and(|config| config.clusters.contains_key(cluster));
            wanted.has_changed |= !is_there || !self.profile.has(Feature::SubscribesFirst);
            wanted.by_place.insert(at.clone(), cluster.to_owned());
        }
    }

    fn unsubscribe(&self, at: &TreePath) {
        let mut wanted = self.wanted.borrow_mut();
        wanted.has_changed |= wanted.by_place.remove(at).is_some();
    }

    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn leaf(&self, cluster: &str) -> Option<LeafView> {
        let config = self.config.as_ref()?;
        let leaf = config.leaf(cluster).or_else(|| self.lost.get(cluster))?;
        Some(LeafView {
            cluster: leaf.cluster.clone(),
            drops: leaf.endpoints.as_ref().and_then(|endpoints| endpoints.drops.clone()),
        })
    }
}
