//! The LB config that a cds policy generates for its child (A37, A74, A75).
//!
//! A leaf cluster always has all four wrappers: outlier detection, cluster impl, override host,
//! priority. Its own LB policy is below each priority. An aggregate cluster is a priority policy
//! over the cds policies of its leaves, and nothing else in its resource is read. Follows C-core
//! cds.cc.

use std::collections::BTreeMap;

use serde_json::Value;

use super::flat::{FlatCluster, FlatNames};
use super::form::TreeForm;
use super::java;
use super::layers::{self, JsonForm, Layer, own_detection};
use super::names::ChildNumbers;
use super::service_config::ServiceConfig;
use crate::client::config::{ClusterState, Leaf, XdsConfig};
use xdsctl_lb::json::ConfigPlace;
use xdsctl_lb::{cluster_impl, outlier_detection, override_host, priority};
use xdsctl_model::profile::{Family, Feature, Profile};
use xdsctl_model::resource::cluster::Discovery;
use xdsctl_model::resource::lb_policy::{LbConfig, LbPolicy};
use xdsctl_model::status::{Code, Status};

/// The form of C-core, and of grpc-go: all four wrappers.
pub(super) const FORM: TreeForm = TreeForm {
    layers: &[
        Layer::OutlierDetection,
        Layer::ClusterImpl,
        Layer::OverrideHost,
        Layer::Priority,
    ],
    has_child: |_, _| true,
    shows_childless: true,
    child_name: |cluster, number| format!("{{cluster={cluster}, child_number={number}}}"),
    json: JsonForm {
        cluster: "clusterName",
        child_policy: "childPolicy",
        ignores: "ignore_reresolution_requests",
        ignores_of_dns: None,
        ignores_of_aggregate: None,
        detection: own_detection,
        lb_policy: |json| json,
        policy_name: |name| name,
    },
    has_bare_keys: false,
    around: &[],
    service_config: ServiceConfig::to_json,
    is_of_all_versions: false,
};

/// One cds policy of the tree.
#[derive(Debug, Clone, Copy)]
pub struct Cds<'a> {
    /// The configuration of the channel.
    pub config: &'a XdsConfig,
    /// The cluster that the policy stands for.
    pub cluster: &'a str,
    /// The aggregate cluster above, whose LB policy counts with
    /// GRPC_XDS_AGGREGATE_CLUSTER_BACKWARD_COMPAT.
    pub below: Option<&'a str>,
    /// The client whose tree it is. Versions build it differently.
    pub profile: &'a Profile,
}

/// From what a cds policy makes its child.
#[derive(Debug, Clone)]
enum CdsChild<'a> {
    /// A cluster with endpoints, and the LB policy below its priorities.
    Leaf(&'a Leaf, &'a LbPolicy),
    /// The leaves of an aggregate.
    Aggregate(&'a [String]),
    /// A cluster with all its leaves, in clients that have one policy for all of them.
    Flat(Box<FlatCluster<'a>>),
}

impl<'a> Cds<'a> {
    /// Generates the config of the child policy, and numbers the priorities.
    ///
    /// # Errors
    /// The status that every pick of the cluster gets. The child, if there was one, is gone, and
    /// its numbers with it.
    pub fn child_config(&self, numbers: &mut ChildNumbers) -> Result<LbConfig, Status> {
        Ok(match self.origin(numbers)? {
            CdsChild::Leaf(leaf, policy) => self.leaf_config(leaf, numbers.numbers(), &policy.config),
            CdsChild::Aggregate(leaves) => layers::aggregate(leaves),
            CdsChild::Flat(flat) => flat.config(&flat.named(&mut FlatNames::default())),
        })
    }

    const fn family(&self) -> Family {
        self.profile.client().family
    }

    fn form(&self) -> &'static TreeForm {
        TreeForm::of(self.family())
    }

    /// The config below the policy of a leaf, as the family builds it. `numbers` has one number for
    /// each priority.
    pub fn leaf_config(&self, leaf: &Leaf, numbers: &[u64], lb_policy: &LbConfig) -> LbConfig {
        let form = self.form();
        layers::config(form.layers, &form.named(self.cluster, leaf, numbers), lb_policy)
    }

    /// The config of the child policy, as the client writes it.
    fn child_json(&self) -> Result<Value, Status> {
        let mut numbers = ChildNumbers::default();
        let form = self.form();
        Ok(match self.origin(&mut numbers)? {
            CdsChild::Leaf(leaf, policy) => {
                let leaf = form.named(self.cluster, leaf, numbers.numbers());
                let lb_policy = (form.json.lb_policy)(policy.json.clone());
                form.json.config(form.layers, &leaf, &lb_policy)
            }
            CdsChild::Aggregate(leaves) => form.json.aggregate(leaves),
            CdsChild::Flat(flat) => flat.json(&flat.named(&mut FlatNames::default())),
        })
    }

    /// The cluster with all its leaves, in clients that have one policy for all of them; see
    /// [`flat`](super::flat).
    pub fn flat(&self) -> Option<FlatCluster<'a>> {
        let is_flat = self.profile.has(Feature::AggregateIsFlat);
        is_flat.then(|| FlatCluster::of(self)).flatten()
    }

    fn origin(&self, numbers: &mut ChildNumbers) -> Result<CdsChild<'a>, Status> {
        let origin = match self.config.clusters.get(self.cluster) {
            None => Err(Status::unavailable(format!(
                "xDS config has no entry for static cluster {}",
                self.cluster
            ))),
            Some(ClusterState::Error(failure)) => Err(failure.status()),
            Some(ClusterState::Leaf(leaf)) => self.lb_policy(leaf).map(|policy| CdsChild::Leaf(leaf, policy)),
            Some(ClusterState::Aggregate(aggregate)) => Ok(CdsChild::Aggregate(&aggregate.leaves)),
        };
        match &origin {
            Ok(CdsChild::Leaf(leaf, _)) => _ = numbers.update(leaf.endpoints.as_deref()),
            Ok(CdsChild::Aggregate(_) | CdsChild::Flat(_)) | Err(_) => numbers.reset(),
        }
        match (origin, self.flat()) {
            (Ok(_), Some(flat)) => flat.accept().map(|()| CdsChild::Flat(Box::new(flat))),
            (origin, _) => origin,
        }
    }

    /// Says why a cluster has no endpoints to use, in clients whose policy is told that in place of
    /// an update (grpc-java `CdsLoadBalancer2`). In older versions a separate policy resolves
    /// clusters, and ends what is below it.
    pub fn loses_endpoints(&self, leaf: &Leaf) -> Option<Status> {
        let hears = self.family() == Family::Java && !self.profile.has(Feature::ClustersAlone);
        hears.then(|| java::no_endpoint(self.cluster, leaf)).flatten()
    }

    /// The LB policy below the priorities of a leaf: its own, or with
    /// [`Feature::AggregateClusterBackwardCompat`] that of the aggregate cluster above it.
    ///
    /// # Errors
    /// The aggregate cluster is no longer usable.
    pub fn lb_policy<'l>(&self, leaf: &'l Leaf) -> Result<&'l LbPolicy, Status>
    where
        'a: 'l,
    {
        let Some(above) = self
            .below
            .filter(|_| self.profile.has(Feature::AggregateClusterBackwardCompat))
        else {
            return Ok(&leaf.cluster.lb_policy);
        };
        match self.config.clusters.get(above) {
            None => Err(Status::unavailable(format!(
                "xDS config has no entry for aggregate cluster {above}"
            ))),
            Some(ClusterState::Error(failure)) => Err(failure.status()),
            Some(ClusterState::Leaf(_)) if self.profile.has(Feature::AggregateByLevels) => Ok(&leaf.cluster.lb_policy),
            // The aggregate is a leaf by now.
            Some(ClusterState::Leaf(above)) => Ok(&above.cluster.lb_policy),
            Some(ClusterState::Aggregate(aggregate)) => Ok(&aggregate.cluster.lb_policy),
        }
    }

    /// Checks that the policy works, as far as that depends on configs.
    ///
    /// # Errors
    /// The errors of [`Cds::child_config`] and [`Cds::accept`].
    pub fn check(&self) -> Result<(), Status> {
        let mut numbers = ChildNumbers::default();
        match self.origin(&mut numbers)? {
            CdsChild::Leaf(leaf, policy) => self.accept(leaf, policy, numbers.numbers()),
            CdsChild::Aggregate(_) | CdsChild::Flat(_) => Ok(()),
        }
    }

    /// Checks that the generated policies accept their configs. `numbers` has one number for each
    /// priority.
    ///
    /// # Errors
    /// The status of all picks of the cluster. It is INTERNAL if a value passed the check of the
    /// Cluster, but not the LB policy's own.
    pub fn accept(&self, leaf: &Leaf, policy: &LbPolicy, numbers: &[u64]) -> Result<(), Status> {
        if self.family() == Family::Java
            && let Some(status) = java::no_endpoint(self.cluster, leaf)
        {
            return Err(status);
        }
        let mut faults: Vec<String> = Vec::new();
        if let Some(detection) = &leaf.cluster.outlier_detection {
            faults.extend(outlier_detection::check_threshold(detection));
        }
        if let Some(why) = &policy.refusal {
            let rejects = |name: &str, why: &str| format!("`{name}` rejects its config ({why})");
            let mut names: Vec<String> = numbers
                .iter()
                .map(|number| (self.form().child_name)(self.cluster, *number))
                .collect();
            names.sort();
            let own = rejects(xdsctl_lb::name_of(&policy.config), why);
            let children = names.iter().map(|name| {
                let children = ConfigPlace::TOP.field("children");
                format!("at {}: {own}", children.key(name).field("config"))
            });
            let innermost = children.collect::<Vec<_>>().join("; ");
            let outer = [priority::NAME, override_host::NAME, cluster_impl::NAME];
            faults.push(outer.iter().fold(innermost, |inner, name| {
                format!("at childPolicy: {}", rejects(name, &inner))
            }));
        }
        match faults.as_slice() {
            [] => Ok(()),
            faults => {
                let message = format!("{}: its LB config is refused, {}", self.cluster, faults.join("; "));
                Err(Status::new(Code::Internal, message))
            }
        }
    }
}

/// Makes an object of these entries. It moves the values, where `json!` would copy them.
pub(super) fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Object(
        entries
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect(),
    )
}

pub(super) fn is_dns(leaf: &Leaf) -> bool {
    matches!(leaf.cluster.discovery, Discovery::LogicalDns { .. })
}

/// What all cds policies of a channel generate.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Generated {
    /// LB config below the cds policy, by cluster.
    pub children: BTreeMap<String, Value>,
    /// The status of all picks, by cluster.
    pub errors: BTreeMap<String, Status>,
}

/// All cds policies of a channel, as for its first update. Those that a priority has not started
/// yet are included.
pub fn cds_policies<'a>(
    config: &'a XdsConfig,
    service_config: &'a ServiceConfig,
    profile: &'a Profile,
) -> Vec<Cds<'a>> {
    let mut all = Vec::new();
    for root in service_config.clusters() {
        let cds = |cluster: &'a str, below| Cds {
            config,
            cluster,
            below,
            profile,
        };
        all.push(cds(root, None));
        let has_policies = !profile.has(Feature::AggregateIsFlat);
        if let Some(ClusterState::Aggregate(aggregate)) = config.clusters.get(root).filter(|_| has_policies) {
            all.extend(aggregate.leaves.iter().map(|leaf| cds(leaf, Some(root))));
        }
    }
    all
}

/// Generates the configs of all cds policies of a channel.
///
/// A cluster may have several policies, which may differ with the switch for aggregates. The last
/// one is shown: the policy of a root comes after those below an aggregate of lower name.
pub fn generate(config: &XdsConfig, service_config: &ServiceConfig, profile: &Profile) -> Generated {
    let mut generated = Generated::default();
    for cds in cds_policies(config, service_config, profile) {
        let name = cds.cluster;
        if let Ok(child) = cds.child_json() {
            generated.children.insert(name.to_owned(), child);
        }
        if let Err(status) = cds.check() {
            generated.errors.insert(name.to_owned(), status);
        }
    }
    generated
}
