//! The LB config below a cds policy in clients that have one list of priorities for an aggregate
//! cluster.
//!
//! A leaf cluster is outlier detection over cluster impl over its priorities. An aggregate is one
//! priority policy with the priorities of all its leaves, each of which has outlier detection and
//! cluster impl of its own. Older versions build a leaf in that way too. The LB policy below is
//! always the root's, except for LOGICAL_DNS clusters in older versions, and there is no policy for
//! sessions. Follows grpc-go cdsbalancer/configbuilder.go and clusterresolver/configbuilder.go.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::build::{Cds, FORM, is_dns, object};
use super::layers::{self, JsonForm, Layer};
use super::names::NamedLeaf;
use crate::client::config::{ClusterState, Leaf};
use xdsctl_lb::json::duration_to_json;
use xdsctl_lb::{named, outlier_detection, ring_hash};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::cluster::Discovery;
use xdsctl_model::resource::endpoints::LocalityName;
use xdsctl_model::resource::lb_policy::{LbConfig, LbPolicy, PickFirstConfig, PriorityChild};
use xdsctl_model::resource::{Endpoints, Millis};
use xdsctl_model::status::Status;

/// A cluster with its leaves; a leaf has itself.
#[derive(Debug, Clone)]
pub struct FlatCluster<'a> {
    /// The LB policy below the priorities.
    pub policy: &'a LbPolicy,
    /// The leaves, in order of priority.
    leaves: Vec<(&'a str, &'a Leaf)>,
    is_aggregate: bool,
    /// Whether outlier detection and the limits of a cluster are below its priorities.
    limits_priorities: bool,
    /// The LB policy of LOGICAL_DNS clusters, if they have one of their own.
    dns_policy: Option<LbConfig>,
}

/// The policies below a priority of an aggregate.
pub(super) const OF_PRIORITY: [Layer; 2] = [Layer::OutlierDetection, Layer::ClusterImpl];

/// How the policies are written.
const JSON: JsonForm = JsonForm {
    cluster: "cluster",
    ignores: "ignoreReresolutionRequests",
    detection,
    ..FORM.json
};

/// The names of the priorities of one cds policy, which survive updates: `priority-0-1`.
#[derive(Debug, Default)]
pub struct FlatNames {
    /// The names by EDS service or DNS name. Two leaves that share one of these have the same
    /// names.
    leaves: BTreeMap<String, LeafNames>,
}

/// The names of the priorities of a leaf cluster.
#[derive(Debug, Default)]
struct LeafNames {
    number: usize,
    next: u64,
    /// The name of each priority, the highest first.
    names: Vec<String>,
    of_locality: BTreeMap<LocalityName, String>,
}

impl<'a> FlatCluster<'a> {
    /// The cluster of a cds policy; `None` if the cluster fails.
    pub fn of(cds: &Cds<'a>) -> Option<FlatCluster<'a>> {
        let (cluster, config) = (cds.cluster, cds.config);
        let (policy, is_aggregate) = match config.clusters.get(cluster)? {
            ClusterState::Leaf(leaf) => (&leaf.cluster.lb_policy, false),
            ClusterState::Aggregate(aggregate) => (&aggregate.cluster.lb_policy, true),
            ClusterState::Error(_) => return None,
        };
        let dns_policy = || LbConfig::PickFirst(PickFirstConfig::default());
        Some(FlatCluster {
            policy,
            leaves: config.leaves_of(cluster),
            is_aggregate,
            limits_priorities: is_aggregate || cds.profile.has(Feature::LimitsByPriority),
            dns_policy: cds.profile.has(Feature::DnsChildPickFirst).then(dns_policy),
        })
    }

    /// The LB policy below the priorities of a leaf.
    pub fn policy_of(&self, leaf: &Leaf) -> &LbConfig {
        let dns_policy = self.dns_policy.as_ref().filter(|_| is_dns(leaf));
        dns_policy.unwrap_or(&self.policy.config)
    }

    /// Says whether the priorities of several clusters are in one list.
    pub const fn is_aggregate(&self) -> bool {
        self.is_aggregate
    }

    /// Checks that the generated policies accept their configs.
    ///
    /// # Errors
    /// The status of all picks of the cluster: a value passed the check of the Cluster, but not the
    /// LB policy's own.
    pub fn accept(&self) -> Result<(), Status> {
        match &self.policy.refusal {
            None => Ok(()),
            Some(why) => {
                let name = xdsctl_lb::name_of(&self.policy.config);
                let refused = format!("error parsing loadBalancingConfig for policy \"{name}\": {why}");
                Err(Status::unavailable(format!(
                    "error unmarshalling xDS LB Policy: {refused}"
                )))
            }
        }
    }

    /// Names the priorities of all leaves.
    pub fn named(&self, names: &mut FlatNames) -> Vec<NamedLeaf<'a>> {
        let leaves = self.leaves.iter();
        leaves
            .map(|&(cluster, leaf)| NamedLeaf {
                cluster,
                leaf,
                names: names.of(cluster, leaf),
            })
            .collect()
    }

    /// The policies between the cds policy of a cluster that is no aggregate and its LB policy.
    pub const fn layers(&self) -> &'static [Layer] {
        match self.limits_priorities {
            true => &[Layer::Priority, Layer::OutlierDetection, Layer::ClusterImpl],
            false => &[Layer::OutlierDetection, Layer::ClusterImpl, Layer::Priority],
        }
    }

    /// The config below the cds policy.
    pub fn config(&self, leaves: &[NamedLeaf<'_>]) -> LbConfig {
        let of = |layers: &[Layer], leaf: &NamedLeaf<'_>| layers::config(layers, leaf, self.policy_of(leaf.leaf));
        match leaves {
            [leaf] if !self.is_aggregate => of(self.layers(), leaf),
            _ => layers::failover(each(leaves).map(|(name, leaf)| {
                let child = PriorityChild {
                    config: Box::new(of(&OF_PRIORITY, leaf)),
                    ignore_reresolution_requests: !is_dns(leaf.leaf),
                };
                (name.clone(), child)
            })),
        }
    }

    /// The config below the cds policy, as the client writes it.
    pub fn json(&self, leaves: &[NamedLeaf<'_>]) -> Value {
        let of = |layers: &[Layer], leaf: &NamedLeaf<'_>| {
            let lb_policy = as_read(self.policy_of(leaf.leaf), &self.policy.json);
            JSON.config(layers, leaf, &lb_policy)
        };
        match leaves {
            [leaf] if !self.is_aggregate => of(self.layers(), leaf),
            _ => JSON.failover(each(leaves).map(|(name, leaf)| {
                let ignores = (!is_dns(leaf.leaf)).then_some(true);
                (name, of(&OF_PRIORITY, leaf), ignores)
            })),
        }
    }
}

/// The fields of a leaf's outlier detection, with the client's defaults and its way to write durations.
fn detection(leaf: &Leaf) -> Value {
    let mut json = outlier_detection::fields_to_json(&leaf.outlier_detection());
    for duration in json.as_object_mut().into_iter().flat_map(Map::values_mut) {
        if let Some(short) = duration.as_str().map(shortened) {
            *duration = short.into();
        }
    }
    json
}

/// The longest duration that the client can hold, in nanoseconds of 64 bits.
const LONGEST: &str = "9223372036.854775807s";

/// Writes a duration with as many digits as it needs, three at a time.
fn shortened(duration: &str) -> String {
    let mut digits = duration.trim_end_matches('s');
    let seconds = digits.split('.').next().and_then(|whole| whole.parse::<u64>().ok());
    if seconds.is_some_and(|seconds| i64::try_from(u128::from(seconds) * 1_000_000_000).is_err()) {
        return LONGEST.to_owned();
    }
    while let Some(rest) = digits.strip_suffix("000").filter(|_| digits.contains('.')) {
        digits = rest;
    }
    format!("{}s", digits.trim_end_matches('.'))
}

/// Writes an LB policy as the client does after it has read it: with its defaults.
fn as_read(config: &LbConfig, json: &Value) -> Value {
    let size = |size: u64| Value::from(size.min(ring_hash::RING_SIZE_CAP));
    let duration = |duration: Millis| Value::from(shortened(duration_to_json(duration).as_str().unwrap_or_default()));
    let number = |number: f64| match number.fract() == 0.0 && number.abs() < 1e15 {
        true => Value::from(number as i64),
        false => Value::from(number),
    };
    let fields = match config {
        LbConfig::RoundRobin(_) => object([]),
        LbConfig::PickFirst(config) => object([("shuffleAddressList", config.shuffle_address_list.into())]),
        LbConfig::RingHash(config) => {
            let mut fields = object([
                ("minRingSize", size(config.min_ring_size)),
                ("maxRingSize", size(config.max_ring_size)),
            ]);
            if !config.request_hash_header.is_empty() {
                fields["requestHashHeader"] = config.request_hash_header.as_str().into();
            }
            fields
        }
        LbConfig::WeightedRoundRobin(config) => {
            let penalty = f64::from(config.error_utilization_penalty);
            let mut fields = object([
                ("blackoutPeriod", duration(config.blackout_period)),
                ("weightExpirationPeriod", duration(config.weight_expiration_period)),
                ("weightUpdatePeriod", duration(config.weight_update_period)),
                ("errorUtilizationPenalty", number(penalty)),
            ]);
            if config.enable_oob_load_report {
                fields["enableOobLoadReport"] = true.into();
                fields["oobReportingPeriod"] = duration(config.oob_reporting_period);
            }
            fields
        }
        LbConfig::WrrLocality(config) => {
            let name = xdsctl_lb::wrr_locality::NAME;
            object([(
                "childPolicy",
                as_read(&config.child_policy, &json[0][name]["childPolicy"]),
            )])
        }
        _ => return json.clone(),
    };
    named(xdsctl_lb::name_of(config), fields)
}

/// The names of the priorities of these leaves, each with its leaf.
fn each<'l, 'a>(leaves: &'l [NamedLeaf<'a>]) -> impl Iterator<Item = (&'l String, &'l NamedLeaf<'a>)> {
    leaves
        .iter()
        .flat_map(|leaf| leaf.names.iter().map(move |name| (name, leaf)))
}

impl FlatNames {
    /// The names of the priorities of a leaf.
    fn of(&mut self, cluster: &str, leaf: &Leaf) -> Vec<String> {
        let discovery = &leaf.cluster.discovery;
        let key = match discovery {
            Discovery::LogicalDns { hostname } => hostname.as_str(),
            Discovery::Eds { .. } | Discovery::Aggregate { .. } => discovery.eds_name(cluster).unwrap_or(cluster),
        };
        let number = self.leaves.len();
        let names = self.leaves.entry(key.to_owned()).or_insert_with(|| LeafNames {
            number,
            ..LeafNames::default()
        });
        match discovery {
            Discovery::LogicalDns { .. } => vec![format!("priority-{}", names.number)],
            Discovery::Eds { .. } | Discovery::Aggregate { .. } => names.update(leaf.endpoints.as_deref()).to_vec(),
        }
    }
}

impl LeafNames {
    /// Names the priorities of an update. A priority keeps the name in its place if it shares a
    /// locality with the priority that had it. After that, the others get the name of any priority
    /// that is left and with which they share a locality. No endpoints count as one priority
    /// without localities.
    fn update(&mut self, endpoints: Option<&Endpoints>) -> &[String] {
        let priorities: Vec<Vec<&LocalityName>> = endpoints
            .into_iter()
            .flat_map(|endpoints| &endpoints.priorities)
            .map(|priority| priority.iter().map(|locality| &locality.name).collect())
            .collect();
        let priorities = if priorities.is_empty() {
            vec![Vec::new()]
        } else {
            priorities
        };
        let known = |locality: &&LocalityName| self.of_locality.get(*locality);
        let in_place = priorities.iter().enumerate().map(|(place, localities)| {
            let name = self.names.get(place)?;
            let is_known = localities.iter().filter_map(known).any(|of| of == name);
            is_known.then(|| name.clone())
        });
        let mut names: Vec<Option<String>> = in_place.collect();
        let mut used: BTreeSet<String> = names.iter().flatten().cloned().collect();
        for (name, localities) in names.iter_mut().zip(&priorities).filter(|(name, _)| name.is_none()) {
            *name = localities
                .iter()
                .filter_map(known)
                .find(|of| !used.contains(*of))
                .cloned();
            used.extend(name.clone());
        }
        let mut next = self.next;
        let number = self.number;
        let named = names.into_iter().map(|name| {
            name.unwrap_or_else(|| {
                next += 1;
                format!("priority-{number}-{}", next - 1)
            })
        });
        let names: Vec<String> = named.collect();
        let of_localities = priorities.iter().zip(&names).flat_map(|(localities, name)| {
            let of = move |locality: &&LocalityName| ((*locality).clone(), name.clone());
            localities.iter().map(of)
        });
        self.of_locality = of_localities.collect();
        self.next = next;
        self.names = names;
        &self.names
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xdsctl_model::resource::endpoints::Locality;
    use xdsctl_model::resource::pieces::Pieces;

    /// Priorities as texts, one letter a locality.
    fn endpoints(priorities: &[&str]) -> Endpoints {
        let locality = |name: char| Locality {
            index: 0,
            name: LocalityName {
                region: name.into(),
                ..LocalityName::default()
            },
            weight: 1,
            left_out_weight: 0,
            endpoints: Pieces::new(),
        };
        Endpoints {
            priorities: priorities.iter().map(|p| p.chars().map(locality).collect()).collect(),
            drops: None,
            host_name: None,
        }
    }

    #[track_caller]
    fn check(updates: &[(&[&str], &[u64])]) {
        let mut names = LeafNames::default();
        for (update, expected) in updates {
            let expected: Vec<String> = expected.iter().map(|number| format!("priority-0-{number}")).collect();
            assert_eq!(names.update(Some(&endpoints(update))), expected, "{update:?}");
        }
    }

    #[test]
    fn durations_have_no_digits_to_spare() {
        for (long, short) in [
            ("30.000000000s", "30s"),
            ("0.500000000s", "0.500s"),
            ("100.000100000s", "100.000100s"),
            ("100s", "100s"),
            ("9223372037.000000000s", LONGEST),
        ] {
            assert_eq!(shortened(long), short);
        }
    }

    /// grpc-go nameGenerator.generate.
    #[test]
    fn a_priority_keeps_its_name_in_its_place_first() {
        check(&[
            (&["A", "B", "C"], &[0, 1, 2]),
            (&["AB", "C"], &[0, 2]),
            (&["A", "D"], &[0, 3]),
        ]);
        check(&[(&["A", "B"], &[0, 1]), (&["B", "A"], &[1, 0])]);
        check(&[(&["A", "B"], &[0, 1]), (&["BA", "B"], &[0, 1])]);
        check(&[(&["A"], &[0]), (&[], &[1])]);
    }
}
