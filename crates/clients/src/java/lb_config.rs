//! The parsers of grpc-java's balancers (`LoadBalancerProvider.parseLoadBalancingPolicyConfig`),
//! for configs in a TypedStruct.

use serde_json::{Map, Value};

use super::json::{JavaObject, JavaParsed};
use super::rls;
use xdsctl_lb::json::words;
use xdsctl_model::profile::{Feature, Profile};
use xdsctl_model::resource::LbConfig;

/// The smallest choice_count of least_request.
pub(super) const MIN_CHOICE_COUNT: i32 = 2;

/// The smallest and largest size of a ring where the config sets none.
pub(super) const RING: (i64, i64) = (1024, 4096);

/// The size at which the client caps a ring.
const RING_CAP: i64 = 4096;

/// A balancer that is registered with grpc-xds and grpc-rls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JavaBalancer {
    /// This balancer takes any config.
    RoundRobin,
    PickFirst,
    RingHash,
    WeightedRoundRobin,
    WeightedTarget,
    WrrLocality,
    LeastRequest,
    OutlierDetection,
    RandomSubsetting,
    ClusterManager,
    Cds,
    Rls,
    Grpclb,
    /// Balancers that take no config, because only the client itself makes them.
    Internal,
}

impl JavaBalancer {
    /// Returns the balancer registered under a name (`LoadBalancerRegistry.getProvider`).
    pub(super) fn by_name(name: &str, profile: &Profile) -> Option<Self> {
        Some(match name {
            "round_robin" => JavaBalancer::RoundRobin,
            "pick_first" => JavaBalancer::PickFirst,
            "ring_hash_experimental" => JavaBalancer::RingHash,
            "weighted_round_robin" if profile.has(Feature::WrrPlainName) => JavaBalancer::WeightedRoundRobin,
            "weighted_round_robin_experimental" if !profile.has(Feature::WrrPlainName) => {
                JavaBalancer::WeightedRoundRobin
            }
            "weighted_target_experimental" => JavaBalancer::WeightedTarget,
            "wrr_locality_experimental" => JavaBalancer::WrrLocality,
            "least_request_experimental" => JavaBalancer::LeastRequest,
            "outlier_detection_experimental" => JavaBalancer::OutlierDetection,
            "random_subsetting_experimental" if profile.has(Feature::RandomSubsetting) => {
                JavaBalancer::RandomSubsetting
            }
            "cluster_manager_experimental" => JavaBalancer::ClusterManager,
            "cds_experimental" => JavaBalancer::Cds,
            "rls_experimental" => JavaBalancer::Rls,
            "grpclb" if profile.has(Feature::Grpclb) => JavaBalancer::Grpclb,
            "priority_experimental" | "cluster_impl_experimental" => JavaBalancer::Internal,
            "cluster_resolver_experimental" if profile.has(Feature::ClusterResolverPolicy) => JavaBalancer::Internal,
            _ => return None,
        })
    }

    /// Reads a config.
    pub(super) fn read(self, config: JavaObject<'_>, profile: &Profile) -> JavaParsed {
        match self {
            JavaBalancer::RoundRobin => {}
            JavaBalancer::PickFirst if profile.has(Feature::PickFirstJson) => {
                config.bool("shuffleAddressList")?;
            }
            JavaBalancer::PickFirst => {}
            JavaBalancer::RingHash => {
                let (min, max) = (config.long("minRingSize")?, config.long("maxRingSize")?);
                if profile.has(Feature::RingHashSetRequestHashKey) {
                    config.text("requestHashHeader")?;
                }
                let (min, max) = ring_sizes(min, max);
                if min <= 0 || max <= 0 || min > max {
                    return Err(format!(
                        "minRingSize {min} must be above 0 and at most maxRingSize {max}"
                    ));
                }
            }
            JavaBalancer::WeightedRoundRobin => weighted_round_robin(config, profile)?,
            JavaBalancer::WeightedTarget => {
                for (name, target) in children(config, "targets")? {
                    if target.integer("weight")?.is_none_or(|weight| weight < 1) {
                        return Err(format!("the weight of target `{name}` is below 1"));
                    }
                    child(target, "childPolicy", profile)?;
                }
            }
            JavaBalancer::WrrLocality => child(config, "childPolicy", profile)?,
            JavaBalancer::LeastRequest => {
                let count = config.integer("choiceCount")?;
                if count.is_some_and(|count| count < MIN_CHOICE_COUNT) {
                    return Err("choiceCount is below 2".to_owned());
                }
            }
            JavaBalancer::OutlierDetection => outlier_detection(config, profile)?,
            JavaBalancer::RandomSubsetting => {
                if config.long("subsetSize")?.is_none_or(|size| size <= 0) {
                    return Err("subsetSize is not above 0".to_owned());
                }
                child(config, "childPolicy", profile)?;
            }
            JavaBalancer::ClusterManager => {
                for (_, policy) in children(config, "childPolicy")? {
                    child(policy, "lbPolicy", profile)?;
                }
            }
            JavaBalancer::Cds => {
                if config.text("cluster")?.is_none_or(str::is_empty) {
                    return Err("cluster is empty".to_owned());
                }
                if profile.has(Feature::DynamicCluster) {
                    config.bool("is_dynamic")?;
                }
            }
            JavaBalancer::Rls => {
                rls::read(config)?;
                rls_child(config, profile)?;
            }
            JavaBalancer::Grpclb => {
                config.text("serviceName")?;
                config.objects("childPolicy")?;
            }
            JavaBalancer::Internal => return Err("the policy takes no config".to_owned()),
        }
        Ok(())
    }

    /// Says whether the parser throws an exception at this config, where others return an error.
    pub(super) fn throws(self, config: JavaObject<'_>, profile: &Profile) -> bool {
        match self {
            JavaBalancer::RingHash => config.long("minRingSize").and(config.long("maxRingSize")).is_err(),
            JavaBalancer::WeightedRoundRobin => weighted_round_robin(config, profile).is_err(),
            JavaBalancer::OutlierDetection => ejections(config).is_err(),
            JavaBalancer::Internal => true,
            _ => false,
        }
    }
}

/// Says whether a balancer of this name is registered.
pub(super) fn is_registered(name: &str, profile: &Profile) -> bool {
    JavaBalancer::by_name(name, profile).is_some()
}

/// Policies whose name in grpc-java differs: the name there, and the one elsewhere.
const OWN_NAMES: [(&str, &str); 4] = [
    ("weighted_round_robin_experimental", "weighted_round_robin"),
    ("wrr_locality_experimental", "xds_wrr_locality_experimental"),
    ("cluster_impl_experimental", "xds_cluster_impl_experimental"),
    ("cluster_manager_experimental", "xds_cluster_manager_experimental"),
];

/// Reads a list of policies, of which the first registered one counts.
pub(super) fn of_list(list: &Value, profile: &Profile) -> Result<LbConfig, String> {
    xdsctl_lb::parse_list(&renamed(list), profile).map_err(|faults| words(&faults))
}

fn renamed(value: &Value) -> Value {
    match value {
        Value::Array(list) => list.iter().map(renamed).collect(),
        Value::Object(object) => {
            let other_name = |name: &String| match OWN_NAMES.iter().find(|(own, _)| own == name) {
                Some((_, other)) => (*other).to_owned(),
                None => name.clone(),
            };
            let fields = object.iter();
            Value::Object(fields.map(|(name, value)| (other_name(name), renamed(value))).collect())
        }
        value => value.clone(),
    }
}

/// Returns the smallest and largest size of a ring, with defaults and the cap applied.
pub(super) fn ring_sizes(min: Option<i64>, max: Option<i64>) -> (i64, i64) {
    (min.unwrap_or(RING.0).min(RING_CAP), max.unwrap_or(RING.1).min(RING_CAP))
}

fn weighted_round_robin(config: JavaObject<'_>, profile: &Profile) -> JavaParsed {
    for field in [
        "blackoutPeriod",
        "weightExpirationPeriod",
        "oobReportingPeriod",
        "weightUpdatePeriod",
    ] {
        config.duration(field)?;
    }
    config.bool("enableOobLoadReport")?;
    config.double("errorUtilizationPenalty")?;
    let is_number = matches!(config.get("errorUtilizationPenalty"), Some(Value::Number(_)));
    if is_number && !profile.has(Feature::WrrPenaltyAsNumber) {
        return Err("errorUtilizationPenalty is a number, which this version does not take".to_owned());
    }
    if profile.has(Feature::WrrMetricNames) {
        config.texts("metricNamesForComputingUtilization")?;
    }
    Ok(())
}

fn outlier_detection(config: JavaObject<'_>, profile: &Profile) -> JavaParsed {
    ejections(config)?;
    child(config, "childPolicy", profile)
}

/// Checks the fields of outlier detection but its child.
fn ejections(config: JavaObject<'_>) -> JavaParsed {
    for field in ["interval", "baseEjectionTime", "maxEjectionTime"] {
        config.duration(field)?;
    }
    config.integer("maxEjectionPercentage")?;
    let within = |part: JavaObject<'_>, field: &str, max: i32| match part.integer(field)? {
        Some(value) if !(0..=max).contains(&value) => Err(format!("{field} is not from 0 to {max}")),
        _ => Ok(()),
    };
    for (name, percentage) in [
        ("successRateEjection", None),
        ("failurePercentageEjection", Some("threshold")),
    ] {
        let Some(part) = config.object(name)? else {
            continue;
        };
        match percentage {
            Some(field) => within(part, field, 100)?,
            None => _ = part.integer("stdevFactor")?,
        }
        within(part, "enforcementPercentage", 100)?;
        within(part, "minimumHosts", i32::MAX)?;
        within(part, "requestVolume", i32::MAX)?;
    }
    Ok(())
}

/// Returns the entries of an object whose values are objects. The object must be there and not be
/// empty.
fn children<'v>(config: JavaObject<'v>, name: &str) -> JavaParsed<Vec<(&'v str, JavaObject<'v>)>> {
    let Some(object) = config.object(name)?.filter(|object| !object.0.is_empty()) else {
        return Err(format!("{name} is missing or empty"));
    };
    let children = object.0.iter().map(|(key, child)| match child.as_object() {
        Some(child) => Ok((key.as_str(), JavaObject(child))),
        None => Err(format!("`{key}` in {name} is no object")),
    });
    children.collect()
}

/// Checks a list of policies that the client has made itself.
pub(super) fn read_list(list: &Value, profile: &Profile) -> JavaParsed {
    let name = "childPolicy";
    let config = Map::from_iter([(name.to_owned(), list.clone())]);
    child(JavaObject(&config), name, profile)
}

/// Checks a list of policies, of which the first registered one counts
/// (`GracefulSwitchLoadBalancer.parseLoadBalancingPolicyConfig`).
fn child(config: JavaObject<'_>, name: &str, profile: &Profile) -> JavaParsed {
    let mut entries = Vec::new();
    for entry in config.objects(name)?.unwrap_or_default() {
        let mut pairs = entry.0.iter();
        let (Some((policy, config)), None) = (pairs.next(), pairs.next()) else {
            return Err(format!("an entry of {name} is not exactly one policy"));
        };
        let Some(config) = config.as_object() else {
            return Err(format!("the config of `{policy}` in {name} is no object"));
        };
        entries.push((policy, JavaObject(config)));
    }
    let known = entries
        .iter()
        .find_map(|(name, config)| Some((JavaBalancer::by_name(name, profile)?, *config)));
    match known {
        Some((policy, config)) => policy.read(config, profile),
        None => Err(format!("{name} has no policy that is known")),
    }
}

/// Checks the child of RLS. The client reads the child's own config only when there is a target to
/// fill in (`ChildLoadBalancingPolicy.create`).
fn rls_child(config: JavaObject<'_>, profile: &Profile) -> JavaParsed {
    let target = config.text("childPolicyConfigTargetFieldName")?;
    let list = config.objects("childPolicy")?;
    let Some(list) = list else {
        return Err("childPolicy is missing".to_owned());
    };
    for entry in list {
        let mut pairs = entry.0.iter();
        let Some((name, config)) = pairs.next() else {
            continue;
        };
        if pairs.next().is_some() {
            return Err("an entry of childPolicy is more than one policy".to_owned());
        }
        if JavaBalancer::by_name(name, profile).is_none() {
            continue;
        }
        if config.is_null() {
            return Err(format!("the config of `{name}` in childPolicy is null"));
        }
        return match target {
            Some(target) if !target.is_empty() => Ok(()),
            _ => Err("childPolicyConfigTargetFieldName is empty".to_owned()),
        };
    }
    Err("childPolicy has no policy that is known".to_owned())
}
