//! LB policies: the configs that `lb` reads, with their defaults, and the policy that a resource
//! brings along.
//!
//! These types are plain data. The policy's folder of `lb` says what the fields mean, which values
//! are accepted and how the client prints them.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use serde_json::Value;

use super::Millis;
use super::cluster::OutlierDetection;

/// The LB policy of a cluster, or the one that a cluster specifier plugin stands for.
///
/// Two policies are equal if the client generates the same JSON for both.
#[derive(Debug, Clone)]
pub struct LbPolicy {
    /// The config as the policy reads it.
    pub config: LbConfig,
    /// Why the policy rejects the config although it was read, so that RPCs fail; `None` for nearly
    /// every policy.
    pub refusal: Option<String>,
    /// The JSON that the client generates, for reports: an array with one object of one key.
    pub json: Value,
}

impl PartialEq for LbPolicy {
    fn eq(&self, other: &LbPolicy) -> bool {
        self.json == other.json
    }
}

impl Eq for LbPolicy {}

impl Hash for LbPolicy {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.json.hash(state);
    }
}

/// The validated config of any policy.
#[derive(Debug, Clone, PartialEq)]
pub enum LbConfig {
    /// `autosharding_experimental`.
    Autosharding(AutoshardingConfig),
    /// `cds_experimental`.
    Cds(CdsConfig),
    /// `xds_cluster_impl_experimental`.
    ClusterImpl(NamedClusterConfig),
    /// `xds_cluster_manager_experimental`.
    ClusterManager(ClusterManagerConfig),
    /// `grpclb`.
    Grpclb(GrpclbConfig),
    /// `least_request_experimental`.
    LeastRequest(LeastRequestConfig),
    /// `outlier_detection_experimental`.
    OutlierDetection(OutlierDetectionConfig),
    /// `xds_override_host_experimental`.
    OverrideHost(NamedClusterConfig),
    /// `p2c`: the less busy of two random endpoints, the only policy of tonic-xds.
    P2c(P2cConfig),
    /// `pick_first`.
    PickFirst(PickFirstConfig),
    /// `priority_experimental`.
    Priority(PriorityConfig),
    /// `ring_hash_experimental`.
    RingHash(RingHashConfig),
    /// `rls_experimental`.
    Rls(RlsConfig),
    /// `round_robin`.
    RoundRobin(RoundRobinConfig),
    /// `weighted_round_robin`.
    WeightedRoundRobin(WeightedRoundRobinConfig),
    /// `weighted_target_experimental`.
    WeightedTarget(WeightedTargetConfig),
    /// `xds_wrr_locality_experimental`.
    WrrLocality(WrrLocalityConfig),
}

impl LbConfig {
    /// Returns the configs of the policies directly below.
    pub fn children(&self) -> Vec<&LbConfig> {
        match self {
            LbConfig::ClusterManager(config) => config.children.values().collect(),
            LbConfig::Priority(config) => config.children.values().map(|child| &*child.config).collect(),
            LbConfig::WeightedTarget(config) => config.targets.values().map(|target| &*target.child_policy).collect(),
            other => other.only_child().into_iter().collect(),
        }
    }

    /// Returns the config of the child of a policy that never has more than one child; `None` for
    /// other policies.
    pub fn only_child(&self) -> Option<&LbConfig> {
        match self {
            LbConfig::ClusterImpl(config) | LbConfig::OverrideHost(config) => Some(&config.child_policy),
            LbConfig::Grpclb(config) => Some(&config.child_policy),
            LbConfig::OutlierDetection(config) => Some(&config.child_policy),
            LbConfig::Rls(config) => Some(&config.child_policy),
            LbConfig::WrrLocality(config) => Some(&config.child_policy),
            LbConfig::Autosharding(_)
            | LbConfig::Cds(_)
            | LbConfig::ClusterManager(_)
            | LbConfig::LeastRequest(_)
            | LbConfig::P2c(_)
            | LbConfig::PickFirst(_)
            | LbConfig::Priority(_)
            | LbConfig::RingHash(_)
            | LbConfig::RoundRobin(_)
            | LbConfig::WeightedRoundRobin(_)
            | LbConfig::WeightedTarget(_) => None,
        }
    }
}

/// The config of autosharding (C-core autosharding.h `AutoShardingLbConfig`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AutoshardingConfig {
    /// The key of the channel factory; not empty.
    pub channel_factory_key: String,
    /// The name of the autosharding target; not empty.
    pub autosharding_target: String,
    /// The name of the header that has the key; not empty.
    pub key_header_name: String,
    /// Whether the policy falls back; default false.
    pub enable_fallback: bool,
    /// How long the first assignment may take, at least 1 ms; default 60 s.
    pub initial_assignment_timeout: Millis,
}

/// The config of cds (C-core cds.cc `CdsLbConfig`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CdsConfig {
    /// The cluster's name. The loader accepts an empty one.
    pub cluster: String,
    /// The cluster is not in the routes but named by an RLS answer; default false.
    pub is_dynamic: bool,
}

/// A cluster's name and the config of the policy below (C-core `XdsClusterImplLbConfig`,
/// `XdsOverrideHostLbConfig`).
#[derive(Debug, Clone, PartialEq)]
pub struct NamedClusterConfig {
    /// The name of the cluster whose resources are used. The loader accepts an empty one.
    pub cluster_name: String,
    /// The config of the policy below.
    pub child_policy: Box<LbConfig>,
}

/// The config of xds_cluster_manager (C-core xds_cluster_manager.cc `XdsClusterManagerLbConfig`).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClusterManagerConfig {
    /// The child policies by the name that the config selector uses: `cluster:<name>` or
    /// `cluster_specifier_plugin:<name>`.
    pub children: BTreeMap<String, LbConfig>,
}

/// The config of grpclb (C-core grpclb.cc `GrpcLbConfig`).
#[derive(Debug, Clone, PartialEq)]
pub struct GrpclbConfig {
    /// The policy for the backends; default round_robin.
    pub child_policy: Box<LbConfig>,
    /// The name sent to the balancer instead of the target; empty for none.
    pub service_name: String,
}

/// The config of outlier_detection (C-core outlier_detection.cc `OutlierDetectionLbConfig`).
#[derive(Debug, Clone, PartialEq)]
pub struct OutlierDetectionConfig {
    /// What counts as an outlier.
    pub detection: OutlierDetection,
    /// The policy whose endpoints are watched.
    pub child_policy: Box<LbConfig>,
}

/// The config of least_request, which C-core does not have (grpc-go leastrequest `LBConfig`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeastRequestConfig {
    /// How many endpoints are drawn and compared: 2 to [`MAX_CHOICES`](Self::MAX_CHOICES), default
    /// 2.
    pub choice_count: u32,
}

impl LeastRequestConfig {
    /// The most endpoints that are compared, whatever the config asks for.
    pub const MAX_CHOICES: u32 = 10;
}

impl Default for LeastRequestConfig {
    fn default() -> Self {
        LeastRequestConfig { choice_count: 2 }
    }
}

/// The config of p2c, which has no settings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct P2cConfig {}

/// The config of pick_first (C-core pick_first.cc `PickFirstConfig`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PickFirstConfig {
    /// Whether the policy shuffles the endpoints before it tries them; default false.
    pub shuffle_address_list: bool,
}

/// The config of priority (C-core priority.cc `PriorityLbConfig`).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PriorityConfig {
    /// The children by name; some may be in no priority.
    pub children: BTreeMap<String, PriorityChild>,
    /// The names of the children by priority, the highest first; may be empty.
    pub priorities: Vec<String>,
}

/// A child of priority.
#[derive(Debug, Clone, PartialEq)]
pub struct PriorityChild {
    /// The config of the child's policy.
    pub config: Box<LbConfig>,
    /// Requests of the child to resolve names again are dropped; default false.
    pub ignore_reresolution_requests: bool,
}

/// `minRingSize` where the JSON has none, and `minimum_ring_size` where the xDS message has none.
pub const DEFAULT_MIN_RING_SIZE: u64 = 1024;

/// `maxRingSize` where the JSON has none; the default of the xDS message is 8,388,608.
pub const DEFAULT_MAX_RING_SIZE: u64 = 4096;

/// The config of ring_hash (C-core ring_hash.cc `RingHashLbConfig`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RingHashConfig {
    /// The smallest size of the ring, from 1 to 8,388,608 entries, and not above the maximum.
    pub min_ring_size: u64,
    /// The largest size of the ring, from 1 to 8,388,608 entries.
    pub max_ring_size: u64,
    /// The header whose value is hashed instead of what the route says (A76); empty for none.
    pub request_hash_header: String,
}

impl Default for RingHashConfig {
    fn default() -> Self {
        RingHashConfig {
            min_ring_size: DEFAULT_MIN_RING_SIZE,
            max_ring_size: DEFAULT_MAX_RING_SIZE,
            request_hash_header: String::new(),
        }
    }
}

/// The config of rls (C-core rls.h `RlsLbConfig`).
#[derive(Debug, Clone, PartialEq)]
pub struct RlsConfig {
    /// How the lookup service is asked.
    pub route_lookup: RouteLookup,
    /// The service config of the channel to the lookup service.
    pub channel_service_config: Option<Value>,
    /// The config of the chosen child policy as JSON; its target field is filled in for validation.
    pub child_policy_json: Value,
    /// The config of the child policy, read with the default target, or with a made-up one if there
    /// is none.
    pub child_policy: Box<LbConfig>,
    /// The field of the child policy's config that gets the target.
    pub target_field_name: String,
}

/// The settings of lookups, `routeLookupConfig`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteLookup {
    /// The key builder for each path: `/service/method`, or `/service/` for all methods.
    pub key_builders: BTreeMap<String, KeyBuilder>,
    /// The target URI of the lookup service.
    pub lookup_service: String,
    /// How long a lookup may take; default 10 s.
    pub lookup_service_timeout: Millis,
    /// How long an answer is valid; default 5 min. Without `staleAge` it is at most 5 min.
    pub max_age: Millis,
    /// The age from which an answer is renewed, at most `max_age` and 5 min.
    pub stale_age: Millis,
    /// The size of the cache in bytes, from 1 to 5 MiB.
    pub cache_size_bytes: i64,
    /// The target that is used when a lookup fails; empty for none.
    pub default_target: String,
}

impl RouteLookup {
    /// Returns the target that is used when a lookup fails, if there is one.
    pub fn default_cluster(&self) -> Option<&str> {
        Some(self.default_target.as_str()).filter(|target| !target.is_empty())
    }
}

/// The keys of a lookup, for the methods of one key builder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyBuilder {
    /// For each key the headers that may give its value; the first header that is present counts.
    pub header_keys: BTreeMap<String, Vec<String>>,
    /// The key whose value is the host; empty for none.
    pub host_key: String,
    /// The key whose value is the service; empty for none.
    pub service_key: String,
    /// The key whose value is the method; empty for none.
    pub method_key: String,
    /// The keys with a fixed value, and these values.
    pub constant_keys: BTreeMap<String, String>,
}

/// The config of round_robin (C-core round_robin.cc `RoundRobinConfig`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RoundRobinConfig {}

/// The config of weighted_round_robin (C-core weighted_round_robin.h `WeightedRoundRobinConfig`).
#[derive(Debug, Clone, PartialEq)]
pub struct WeightedRoundRobinConfig {
    /// Weights come from out-of-band reports instead of the trailers of RPCs; default false.
    pub enable_oob_load_report: bool,
    /// How often a backend is asked for its load; default 10 s.
    pub oob_reporting_period: Millis,
    /// The time after an endpoint's first report before its weight is used; default 10 s.
    pub blackout_period: Millis,
    /// The time between two updates of the weights, at least 100 ms; default 1 s.
    pub weight_update_period: Millis,
    /// How long a weight stays valid after its report; default 3 min.
    pub weight_expiration_period: Millis,
    /// The factor on errors per query; default 1. It is not negative, but may be NaN or infinite.
    pub error_utilization_penalty: f32,
    /// The metrics of which the largest is the utilization. If none is given or none has a value,
    /// application utilization counts, then CPU utilization.
    pub metric_names: Vec<Metric>,
}

impl Default for WeightedRoundRobinConfig {
    fn default() -> Self {
        WeightedRoundRobinConfig {
            enable_oob_load_report: false,
            oob_reporting_period: Millis(10_000),
            blackout_period: Millis(10_000),
            weight_update_period: Millis(1000),
            weight_expiration_period: Millis(180_000),
            error_utilization_penalty: 1.0,
            metric_names: Vec::new(),
        }
    }
}

/// A metric of a load report (A114).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Metric {
    /// `cpu_utilization`.
    Cpu,
    /// `mem_utilization`.
    Mem,
    /// `application_utilization`.
    Application,
    /// `named_metrics.<key>`.
    Named(String),
    /// `utilization.<key>`.
    Utilization(String),
}

impl Metric {
    /// Reads a metric's name. The key after the dot may be empty.
    pub fn parse(name: &str) -> Option<Metric> {
        Some(match name {
            "cpu_utilization" => Metric::Cpu,
            "mem_utilization" => Metric::Mem,
            "application_utilization" => Metric::Application,
            _ => match name.split_once('.')? {
                ("named_metrics", key) => Metric::Named(key.to_owned()),
                ("utilization", key) => Metric::Utilization(key.to_owned()),
                _ => return None,
            },
        })
    }

    /// Returns the metric's name.
    pub fn name(&self) -> String {
        match self {
            Metric::Cpu => "cpu_utilization".to_owned(),
            Metric::Mem => "mem_utilization".to_owned(),
            Metric::Application => "application_utilization".to_owned(),
            Metric::Named(key) => format!("named_metrics.{key}"),
            Metric::Utilization(key) => format!("utilization.{key}"),
        }
    }
}

/// The config of weighted_target (C-core weighted_target.cc `WeightedTargetLbConfig`).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WeightedTargetConfig {
    /// The children by name.
    pub targets: BTreeMap<String, WeightedChild>,
}

/// A child of weighted_target.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightedChild {
    /// The weight of the child. 0 is accepted, but then the client aborts.
    pub weight: u32,
    /// The config of the child's policy.
    pub child_policy: Box<LbConfig>,
}

/// The config of xds_wrr_locality (C-core xds_wrr_locality.cc `XdsWrrLocalityLbConfig`).
#[derive(Debug, Clone, PartialEq)]
pub struct WrrLocalityConfig {
    /// The policy in each locality.
    pub child_policy: Box<LbConfig>,
}
