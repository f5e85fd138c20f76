//! The balancers that are registered in a grpc-go client, and what each reads in its JSON and keeps
//! of it (`ParseConfig`).

use serde_json::{Map, Value};

use super::object::{GoObject, GoParsed, Kept};
use crate::shared::rules::{LB_CONFIG_KILLS, OTHER_CLUSTER_KILLS};
use xdsctl_model::diag::{Effect, Path, Validation};
use xdsctl_model::profile::{Feature, Profile};
use xdsctl_model::resource::Millis;
use xdsctl_model::resource::cluster::{FailurePercentageEjection, OutlierDetection, SuccessRateEjection};
use xdsctl_model::resource::lb_policy::{
    CdsConfig, ClusterManagerConfig, LbConfig, LeastRequestConfig, NamedClusterConfig, OutlierDetectionConfig,
    PickFirstConfig, PriorityChild, PriorityConfig, RingHashConfig, RoundRobinConfig, WeightedChild,
    WeightedRoundRobinConfig, WeightedTargetConfig, WrrLocalityConfig,
};

/// The largest ring, in entries (`ringHashSizeUpperBound`).
pub(super) const MAX_RING_SIZE: u64 = 8 * 1024 * 1024;

/// The shortest period between updates of weights.
const MIN_UPDATE: Millis = Millis(100);

/// The smallest and largest size of a ring where the JSON sets none, or 0.
const JSON_RING: (u64, u64) = (1024, 4096);

/// Returns the sizes of a ring; the balancer's own default replaces a 0.
pub(super) fn ring_defaults(min: u64, max: u64) -> (u64, u64) {
    let or = |size: u64, default: u64| if size == 0 { default } else { size };
    (or(min, JSON_RING.0), or(max, JSON_RING.1))
}

/// A balancer that is registered with `import _ "google.golang.org/grpc/xds"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GoBalancer {
    /// This balancer takes any config.
    RoundRobin,
    PickFirst,
    RingHash,
    WeightedRoundRobin,
    WeightedTarget,
    WrrLocality,
    LeastRequest,
    OutlierDetection,
    Priority,
    ClusterImpl,
    ClusterManager,
    ClusterResolver,
    Cds,
}

impl GoBalancer {
    pub(super) fn by_name(name: &str, profile: &Profile) -> Option<Self> {
        let lower;
        let name = if profile.has(Feature::PolicyNamesExact) {
            name
        } else {
            lower = name.to_lowercase();
            lower.as_str()
        };
        Some(match name {
            "round_robin" => GoBalancer::RoundRobin,
            "pick_first" => GoBalancer::PickFirst,
            "ring_hash_experimental" => GoBalancer::RingHash,
            "weighted_round_robin" if profile.has(Feature::WeightedRoundRobin) => GoBalancer::WeightedRoundRobin,
            "weighted_target_experimental" => GoBalancer::WeightedTarget,
            "xds_wrr_locality_experimental" => GoBalancer::WrrLocality,
            "least_request_experimental" if profile.has(Feature::LeastRequestPolicy) => GoBalancer::LeastRequest,
            "outlier_detection_experimental" => GoBalancer::OutlierDetection,
            "priority_experimental" => GoBalancer::Priority,
            "xds_cluster_impl_experimental" => GoBalancer::ClusterImpl,
            "xds_cluster_manager_experimental" => GoBalancer::ClusterManager,
            "cluster_resolver_experimental" if profile.has(Feature::ClusterResolverPolicy) => {
                GoBalancer::ClusterResolver
            }
            "cds_experimental" => GoBalancer::Cds,
            _ => return None,
        })
    }

    /// Reads a config (`ParseConfig`).
    pub(super) fn read(self, config: &Value, profile: &Profile) -> GoParsed<Kept<LbConfig>> {
        let empty = Map::new();
        let config = match config {
            Value::Object(config) => GoObject(config),
            _ if config.is_null() || self == GoBalancer::RoundRobin => GoObject(&empty),
            _ => return Err("the config is no object".to_owned()),
        };
        Ok(match self {
            GoBalancer::RoundRobin => Ok(LbConfig::RoundRobin(RoundRobinConfig {})),
            GoBalancer::PickFirst => Ok(LbConfig::PickFirst(PickFirstConfig {
                shuffle_address_list: config.bool("shuffleAddressList")?,
            })),
            GoBalancer::RingHash => Ok(LbConfig::RingHash(ring_hash(config, profile)?)),
            GoBalancer::WeightedRoundRobin => Ok(LbConfig::WeightedRoundRobin(weighted_round_robin(config)?)),
            GoBalancer::LeastRequest => Ok(LbConfig::LeastRequest(least_request(config)?)),
            GoBalancer::WeightedTarget => {
                let targets = config.children("targets", |target| {
                    let weight = target.number32("weight", 0)?;
                    let child = target.child("childPolicy", profile)?;
                    Ok(child.map(|child_policy| WeightedChild { weight, child_policy }))
                })?;
                targets.map(|targets| LbConfig::WeightedTarget(WeightedTargetConfig { targets }))
            }
            GoBalancer::WrrLocality if config.get("childPolicy").is_none() => {
                return Err("childPolicy is missing".to_owned());
            }
            GoBalancer::WrrLocality => {
                let child = config.child("childPolicy", profile)?;
                child.map(|child_policy| LbConfig::WrrLocality(WrrLocalityConfig { child_policy }))
            }
            GoBalancer::OutlierDetection => {
                let detection = outlier_detection(config)?;
                let child = config.child("childPolicy", profile)?;
                child.map(|child_policy| {
                    LbConfig::OutlierDetection(OutlierDetectionConfig {
                        detection,
                        child_policy,
                    })
                })
            }
            GoBalancer::Priority => priority(config, profile)?.map(LbConfig::Priority),
            GoBalancer::ClusterImpl => {
                let cluster_name = config.text("cluster")?.to_owned();
                let child = config.child("childPolicy", profile)?;
                child.map(|child_policy| {
                    LbConfig::ClusterImpl(NamedClusterConfig {
                        cluster_name,
                        child_policy,
                    })
                })
            }
            GoBalancer::ClusterManager => {
                let children = config.children("Children", |child| {
                    Ok(child.child("ChildPolicy", profile)?.map(|policy| *policy))
                })?;
                children.map(|children| LbConfig::ClusterManager(ClusterManagerConfig { children }))
            }
            GoBalancer::ClusterResolver => Err("it is not known what cluster_resolver does".to_owned()),
            GoBalancer::Cds => Ok(LbConfig::Cds(CdsConfig {
                cluster: config.text("cluster")?.to_owned(),
                is_dynamic: config.bool("isDynamic")?,
            })),
        })
    }

    /// Reports a config that is accepted, and then kills the process when the cluster is used.
    pub(super) fn note_death(self, config: &Value, cluster: &str, at: &Path<'_>, cx: &mut Validation<'_>) {
        let child = config
            .as_object()
            .and_then(|config| GoObject(config).get("childPolicy"));
        let has_child = child.is_some();
        if matches!(self, GoBalancer::ClusterImpl | GoBalancer::OutlierDetection) && !has_child {
            let message = format_args!("the policy has no childPolicy, the process dies when the cluster is used");
            cx.report_as(Effect::Fails, &LB_CONFIG_KILLS, &at.field("value"), message);
        }
        let named = config.get("cluster").and_then(Value::as_str).unwrap_or_default();
        // Versions in which policies do not look their cluster up in the channel's configuration
        // ignore the name.
        let is_looked_up = !cx.has(Feature::ClustersAlone);
        if self == GoBalancer::ClusterImpl && has_child && named != cluster && is_looked_up {
            let message = format_args!(
                "the policy is for cluster `{named}` and stands in another, the process dies when it is used"
            );
            cx.report_as(Effect::Fails, &OTHER_CLUSTER_KILLS, &at.field("value"), message);
        }
    }
}

fn ring_hash(config: GoObject<'_>, profile: &Profile) -> GoParsed<RingHashConfig> {
    let min = config.unsigned("minRingSize", u64::MAX)?.unwrap_or(0);
    let max = config.unsigned("maxRingSize", u64::MAX)?.unwrap_or(0);
    if profile.has(Feature::RingHashRequestHeader) {
        config.text("requestHashHeader")?;
    }
    let name = config.get("requestHashHeader").and_then(Value::as_str);
    let name = name.filter(|_| profile.has(Feature::RingHashSetRequestHashKey));
    let name = name.map_or_else(String::new, str::to_lowercase);
    let is_plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.');
    // The client does not check the rest of a name that begins with `:`, like that of a
    // pseudo-header (`ValidateKey`).
    let is_name = name.starts_with(':') || name.bytes().all(is_plain);
    if name.ends_with("-bin") || !is_name {
        return Err(format!("requestHashHeader `{name}` is no header name"));
    }
    if min.max(max) > MAX_RING_SIZE {
        return Err(format!("a ring size is above {MAX_RING_SIZE}"));
    }
    let (min, max) = ring_defaults(min, max);
    if min > max {
        return Err(format!("minRingSize {min} is above maxRingSize {max}"));
    }
    Ok(RingHashConfig {
        min_ring_size: min,
        max_ring_size: max,
        request_hash_header: name,
    })
}

fn weighted_round_robin(config: GoObject<'_>) -> GoParsed<WeightedRoundRobinConfig> {
    let default = WeightedRoundRobinConfig::default();
    let period = |name, default: Millis| Ok::<_, String>(config.duration(name)?.unwrap_or(default));
    Ok(WeightedRoundRobinConfig {
        enable_oob_load_report: config.bool("enableOobLoadReport")?,
        oob_reporting_period: period("oobReportingPeriod", default.oob_reporting_period)?,
        blackout_period: period("blackoutPeriod", default.blackout_period)?,
        weight_expiration_period: period("weightExpirationPeriod", default.weight_expiration_period)?,
        weight_update_period: period("weightUpdatePeriod", default.weight_update_period)?.max(MIN_UPDATE),
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the factor has the size that it has in C-core"
        )]
        error_utilization_penalty: match config.number("errorUtilizationPenalty")? {
            Some(penalty) if penalty < 0.0 => return Err("errorUtilizationPenalty is negative".to_owned()),
            Some(penalty) => penalty as f32,
            None => default.error_utilization_penalty,
        },
        metric_names: Vec::new(),
    })
}

fn least_request(config: GoObject<'_>) -> GoParsed<LeastRequestConfig> {
    match config.number32("choiceCount", 2)? {
        0 | 1 => Err("choiceCount is below 2".to_owned()),
        count => Ok(LeastRequestConfig {
            choice_count: count.min(LeastRequestConfig::MAX_CHOICES),
        }),
    }
}

fn outlier_detection(config: GoObject<'_>) -> GoParsed<OutlierDetection> {
    let time = |name: &str, default| match config.duration(name)? {
        Some(time) if time < Millis(0) => Err(format!("{name} is negative")),
        time => Ok(time.unwrap_or(default)),
    };
    let percentage = |part: GoObject<'_>, name: &str, default| match part.number32(name, default)? {
        value if value > 100 => Err(format!("{name} is above 100")),
        value => Ok(value),
    };
    let default = OutlierDetection::DEFAULT;
    let success_rate = |part: GoObject<'_>| {
        let rate = SuccessRateEjection::DEFAULT;
        Ok(SuccessRateEjection {
            stdev_factor: part.number32("stdevFactor", rate.stdev_factor)?,
            minimum_hosts: part.number32("minimumHosts", rate.minimum_hosts)?,
            request_volume: part.number32("requestVolume", rate.request_volume)?,
            enforcement_percentage: percentage(part, "enforcementPercentage", rate.enforcement_percentage)?,
        })
    };
    let failures = |part: GoObject<'_>| {
        let failures = FailurePercentageEjection::DEFAULT;
        Ok(FailurePercentageEjection {
            minimum_hosts: part.number32("minimumHosts", failures.minimum_hosts)?,
            request_volume: part.number32("requestVolume", failures.request_volume)?,
            threshold: percentage(part, "threshold", failures.threshold)?,
            enforcement_percentage: percentage(part, "enforcementPercentage", 0)?,
        })
    };
    Ok(OutlierDetection {
        interval: time("interval", default.interval)?,
        base_ejection_time: time("baseEjectionTime", default.base_ejection_time)?,
        max_ejection_time: time("maxEjectionTime", default.max_ejection_time)?,
        max_ejection_percent: percentage(config, "maxEjectionPercent", default.max_ejection_percent)?,
        success_rate: config
            .object("successRateEjection", success_rate)?
            .filter(|rate| rate.enforcement_percentage > 0),
        failure_percentage: config
            .object("failurePercentageEjection", failures)?
            .filter(|failures| failures.enforcement_percentage > 0),
    })
}

fn priority(config: GoObject<'_>, profile: &Profile) -> GoParsed<Kept<PriorityConfig>> {
    let names = config.get("children").and_then(Value::as_object);
    let names: Vec<&String> = names.into_iter().flat_map(Map::keys).collect();
    let children = config.children("children", |child| {
        let ignores = child.bool("ignoreReresolutionRequests")?;
        Ok(child.child("config", profile)?.map(|config| PriorityChild {
            config,
            ignore_reresolution_requests: ignores,
        }))
    })?;
    let listed = match config.get("priorities") {
        None => &[][..],
        Some(Value::Array(listed)) => listed,
        Some(_) => return Err("priorities is no list".to_owned()),
    };
    let mut priorities = Vec::new();
    for name in listed {
        match name {
            Value::String(name) => priorities.push(name.clone()),
            Value::Null => priorities.push(String::new()),
            _ => return Err("a priority is no text".to_owned()),
        }
    }
    if let Some(name) = priorities.iter().find(|name| !names.contains(name)) {
        return Err(format!("priority `{name}` is no child"));
    }
    match names.iter().find(|name| !priorities.contains(name)) {
        Some(name) => Err(format!("child `{name}` is no priority")),
        None => Ok(children.map(|children| PriorityConfig { children, priorities })),
    }
}

/// Returns the balancer of a list that counts, which is the first registered one, and its config
/// (`BalancerConfig.UnmarshalJSON`).
fn chosen<'v>(list: &'v Value, profile: &Profile) -> GoParsed<(GoBalancer, &'v Value)> {
    let Value::Array(entries) = list else {
        return Err("a list of policies is no list".to_owned());
    };
    for entry in entries {
        let mut pairs = match entry {
            Value::Object(entry) => entry.iter(),
            _ => return Err("an entry is not exactly one policy".to_owned()),
        };
        let (Some((name, config)), None) = (pairs.next(), pairs.next()) else {
            return Err("an entry is not exactly one policy".to_owned());
        };
        if let Some(balancer) = GoBalancer::by_name(name, profile) {
            return Ok((balancer, config));
        }
    }
    Err("no policy of a list is known".to_owned())
}

/// Reads a list of balancers, of which the first registered one counts.
pub(in crate::go) fn of_list(list: &Value, profile: &Profile) -> GoParsed<LbConfig> {
    read_list(list, profile)?
}

fn read_list(list: &Value, profile: &Profile) -> GoParsed<Kept<LbConfig>> {
    let (balancer, config) = chosen(list, profile)?;
    balancer.read(config, profile)
}

impl GoObject<'_> {
    /// Reads the balancer below this one. Without one, the config is accepted, but what is kept is
    /// not known.
    fn child(self, name: &str, profile: &Profile) -> GoParsed<Kept<Box<LbConfig>>> {
        match self.get(name) {
            Some(list) => Ok(read_list(list, profile)?.map(Box::new)),
            None => Ok(Err(format!("{name} is missing"))),
        }
    }
}
