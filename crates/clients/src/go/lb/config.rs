//! What a balancer keeps of its JSON, once its parser has taken it: the defaults of `ParseConfig`.

use serde_json::{Map, Value};

use super::balancer::{GoBalancer, Ring, chosen, ring_defaults};
use super::object::{GoObject, GoParsed};
use xdsctl_model::profile::{Feature, Profile};
use xdsctl_model::resource::Millis;
use xdsctl_model::resource::cluster::{FailurePercentageEjection, OutlierDetection, SuccessRateEjection};
use xdsctl_model::resource::lb_policy::{
    CdsConfig, ClusterManagerConfig, LbConfig, LeastRequestConfig, NamedClusterConfig, OutlierDetectionConfig,
    PickFirstConfig, PriorityChild, PriorityConfig, RingHashConfig, RoundRobinConfig, WeightedChild,
    WeightedRoundRobinConfig, WeightedTargetConfig, WrrLocalityConfig,
};

/// Smallest period between updates of weights.
const MIN_UPDATE: Millis = Millis(100);

/// Reads a list of balancers, of which the first registered one counts.
pub(in crate::go) fn of_list(list: &Value, profile: &Profile) -> GoParsed<LbConfig> {
    let (balancer, config) = chosen(list, profile)?;
    balancer.read(config, profile)?;
    let empty = Map::new();
    kept(balancer, GoObject(config.as_object().unwrap_or(&empty)), profile)
}

fn kept(balancer: GoBalancer, config: GoObject<'_>, profile: &Profile) -> GoParsed<LbConfig> {
    Ok(match balancer {
        GoBalancer::RoundRobin => LbConfig::RoundRobin(RoundRobinConfig {}),
        GoBalancer::PickFirst => LbConfig::PickFirst(PickFirstConfig {
            shuffle_address_list: is_true(config, "shuffleAddressList"),
        }),
        GoBalancer::RingHash => {
            let Ring { min, max } = ring_defaults(size(config, "minRingSize"), size(config, "maxRingSize"));
            let header = config.get("requestHashHeader").and_then(Value::as_str);
            LbConfig::RingHash(RingHashConfig {
                min_ring_size: min,
                max_ring_size: max,
                request_hash_header: header
                    .filter(|_| profile.has(Feature::RingHashSetRequestHashKey))
                    .map_or_else(String::new, str::to_lowercase),
            })
        }
        GoBalancer::WeightedRoundRobin => LbConfig::WeightedRoundRobin(weighted_round_robin(config)?),
        GoBalancer::WeightedTarget => {
            let target = |target: GoObject<'_>| {
                Ok(WeightedChild {
                    weight: number(target, "weight")?.unwrap_or(0),
                    child_policy: child(target, "childPolicy", profile)?,
                })
            };
            LbConfig::WeightedTarget(WeightedTargetConfig {
                targets: children(config, "targets", target)?,
            })
        }
        GoBalancer::WrrLocality => LbConfig::WrrLocality(WrrLocalityConfig {
            child_policy: child(config, "childPolicy", profile)?,
        }),
        GoBalancer::LeastRequest => LbConfig::LeastRequest(LeastRequestConfig {
            choice_count: number(config, "choiceCount")?
                .unwrap_or(2)
                .min(LeastRequestConfig::MAX_CHOICES),
        }),
        GoBalancer::OutlierDetection => LbConfig::OutlierDetection(OutlierDetectionConfig {
            detection: detection(config)?,
            child_policy: child(config, "childPolicy", profile)?,
        }),
        GoBalancer::Priority => LbConfig::Priority(priority(config, profile)?),
        GoBalancer::ClusterImpl => LbConfig::ClusterImpl(NamedClusterConfig {
            cluster_name: text(config, "cluster"),
            child_policy: child(config, "childPolicy", profile)?,
        }),
        GoBalancer::ClusterManager => {
            let below = |below: GoObject<'_>| Ok(*child(below, "ChildPolicy", profile)?);
            LbConfig::ClusterManager(ClusterManagerConfig {
                children: children(config, "Children", below)?,
            })
        }
        GoBalancer::Cds => LbConfig::Cds(CdsConfig {
            cluster: text(config, "cluster"),
            is_dynamic: is_true(config, "isDynamic"),
        }),
        GoBalancer::ClusterResolver => return Err("it is not known what cluster_resolver does".to_owned()),
    })
}

fn weighted_round_robin(config: GoObject<'_>) -> GoParsed<WeightedRoundRobinConfig> {
    let default = WeightedRoundRobinConfig::default();
    let period = |name, default: Millis| Ok::<_, String>(config.duration(name)?.unwrap_or(default));
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the factor has the size that it has in C-core"
    )]
    let penalty = config.number("errorUtilizationPenalty")?.map(|penalty| penalty as f32);
    Ok(WeightedRoundRobinConfig {
        enable_oob_load_report: is_true(config, "enableOobLoadReport"),
        oob_reporting_period: period("oobReportingPeriod", default.oob_reporting_period)?,
        blackout_period: period("blackoutPeriod", default.blackout_period)?,
        weight_update_period: period("weightUpdatePeriod", default.weight_update_period)?.max(MIN_UPDATE),
        weight_expiration_period: period("weightExpirationPeriod", default.weight_expiration_period)?,
        error_utilization_penalty: penalty.unwrap_or(default.error_utilization_penalty),
        metric_names: Vec::new(),
    })
}

fn detection(config: GoObject<'_>) -> GoParsed<OutlierDetection> {
    let time = |name, default| Ok::<_, String>(config.duration(name)?.unwrap_or(Millis(default)));
    let part = |name| config.get(name).and_then(Value::as_object).map(GoObject);
    let or = |part: GoObject<'_>, name, default| Ok::<_, String>(number(part, name)?.unwrap_or(default));
    let success_rate = match part("successRateEjection") {
        Some(part) => Some(SuccessRateEjection {
            stdev_factor: or(part, "stdevFactor", 1900)?,
            enforcement_percentage: or(part, "enforcementPercentage", 100)?,
            minimum_hosts: or(part, "minimumHosts", 5)?,
            request_volume: or(part, "requestVolume", 100)?,
        }),
        None => None,
    };
    let failure_percentage = match part("failurePercentageEjection") {
        Some(part) => Some(FailurePercentageEjection {
            threshold: or(part, "threshold", 85)?,
            enforcement_percentage: or(part, "enforcementPercentage", 0)?,
            minimum_hosts: or(part, "minimumHosts", 5)?,
            request_volume: or(part, "requestVolume", 50)?,
        }),
        None => None,
    };
    Ok(OutlierDetection {
        interval: time("interval", 10_000)?,
        base_ejection_time: time("baseEjectionTime", 30_000)?,
        max_ejection_time: time("maxEjectionTime", 300_000)?,
        max_ejection_percent: or(config, "maxEjectionPercent", 10)?,
        success_rate: success_rate.filter(|rate| rate.enforcement_percentage > 0),
        failure_percentage: failure_percentage.filter(|failures| failures.enforcement_percentage > 0),
    })
}

fn priority(config: GoObject<'_>, profile: &Profile) -> GoParsed<PriorityConfig> {
    let names = config.get("priorities").and_then(Value::as_array);
    let names = names.into_iter().flatten();
    Ok(PriorityConfig {
        children: children(config, "children", |below| {
            Ok(PriorityChild {
                config: child(below, "config", profile)?,
                ignore_reresolution_requests: is_true(below, "ignoreReresolutionRequests"),
            })
        })?,
        priorities: names.map(|name| name.as_str().unwrap_or_default().to_owned()).collect(),
    })
}

/// The balancer below; one that runs without is not known.
fn child(config: GoObject<'_>, name: &str, profile: &Profile) -> GoParsed<Box<LbConfig>> {
    match config.get(name) {
        Some(list) => of_list(list, profile).map(Box::new),
        None => Err(format!("{name} is missing")),
    }
}

fn children<'v, T>(
    config: GoObject<'v>,
    name: &str,
    read: impl Fn(GoObject<'v>) -> GoParsed<T>,
) -> GoParsed<std::collections::BTreeMap<String, T>> {
    let children = config.get(name).and_then(Value::as_object);
    let children = children.into_iter().flatten();
    children
        .filter_map(|(name, child)| Some((name, child.as_object()?)))
        .map(|(name, child)| Ok((name.clone(), read(GoObject(child))?)))
        .collect()
}

fn is_true(config: GoObject<'_>, name: &str) -> bool {
    config.get(name).and_then(Value::as_bool).unwrap_or(false)
}

fn text(config: GoObject<'_>, name: &str) -> String {
    let text = config.get(name).and_then(Value::as_str);
    text.unwrap_or_default().to_owned()
}

fn size(config: GoObject<'_>, name: &str) -> u64 {
    config.unsigned(name, u64::MAX).ok().flatten().unwrap_or(0)
}

fn number(config: GoObject<'_>, name: &str) -> GoParsed<Option<u32>> {
    let number = config.unsigned(name, u32::MAX.into())?;
    Ok(number.and_then(|number| u32::try_from(number).ok()))
}
