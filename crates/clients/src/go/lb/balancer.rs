//! The balancers that are registered in a grpc-go client, and what each reads in its JSON
//! (`ParseConfig`).

use serde_json::{Map, Value};

use super::object::{GoObject, GoParsed};
use crate::shared::rules::{LB_CONFIG_KILLS, OTHER_CLUSTER_KILLS};
use xdsctl_model::diag::{Effect, Path, Validation};
use xdsctl_model::profile::{Feature, Profile};
use xdsctl_model::resource::Millis;

/// Largest ring, in entries (`ringHashSizeUpperBound`).
pub(super) const MAX_RING_SIZE: u64 = 8 * 1024 * 1024;

/// Sizes of a ring where the JSON has none, or 0.
const JSON_RING: (u64, u64) = (1024, 4096);

/// 0 is no size: the balancer's own default takes its place.
pub(super) fn ring_defaults(min: u64, max: u64) -> Ring {
    let or = |size: u64, default: u64| if size == 0 { default } else { size };
    Ring {
        min: or(min, JSON_RING.0),
        max: or(max, JSON_RING.1),
    }
}

/// Sizes of a ring, in entries.
pub(super) struct Ring {
    pub min: u64,
    pub max: u64,
}

/// A balancer that is registered with `import _ "google.golang.org/grpc/xds"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GoBalancer {
    /// Takes any config.
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

    /// `ParseConfig`.
    pub(super) fn read(self, config: &Value, profile: &Profile) -> GoParsed {
        if self == GoBalancer::RoundRobin {
            return Ok(());
        }
        let empty = Map::new();
        let config = match config {
            Value::Object(config) => GoObject(config),
            Value::Null if self == GoBalancer::WrrLocality => return Err("childPolicy is missing".to_owned()),
            Value::Null => GoObject(&empty),
            _ => return Err("the config is no object".to_owned()),
        };
        match self {
            GoBalancer::RoundRobin => {}
            GoBalancer::PickFirst => config.bool("shuffleAddressList")?,
            GoBalancer::RingHash => {
                let min = config.unsigned("minRingSize", u64::MAX)?.unwrap_or(0);
                let max = config.unsigned("maxRingSize", u64::MAX)?.unwrap_or(0);
                if profile.has(Feature::RingHashRequestHeader) {
                    config.text("requestHashHeader")?;
                }
                if profile.has(Feature::RingHashSetRequestHashKey)
                    && let Some(Value::String(name)) = config.get("requestHashHeader")
                {
                    let name = name.to_lowercase();
                    let is_plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.');
                    if name.ends_with("-bin") || !name.bytes().all(is_plain) {
                        return Err(format!("requestHashHeader `{name}` is no header name"));
                    }
                }
                if min.max(max) > MAX_RING_SIZE {
                    return Err(format!("a ring size is above {MAX_RING_SIZE}"));
                }
                let Ring { min, max } = ring_defaults(min, max);
                if min > max {
                    return Err(format!("minRingSize {min} is above maxRingSize {max}"));
                }
            }
            GoBalancer::WeightedRoundRobin => {
                config.bool("enableOobLoadReport")?;
                for field in [
                    "oobReportingPeriod",
                    "blackoutPeriod",
                    "weightExpirationPeriod",
                    "weightUpdatePeriod",
                ] {
                    config.duration(field)?;
                }
                if config
                    .number("errorUtilizationPenalty")?
                    .is_some_and(|penalty| penalty < 0.0)
                {
                    return Err("errorUtilizationPenalty is negative".to_owned());
                }
            }
            GoBalancer::WeightedTarget => config.children("targets", |target| {
                target.unsigned("weight", u32::MAX.into())?;
                target.policy("childPolicy", profile).map(drop)
            })?,
            GoBalancer::WrrLocality => {
                if !config.policy("childPolicy", profile)? {
                    return Err("childPolicy is missing".to_owned());
                }
            }
            GoBalancer::LeastRequest => {
                if config
                    .unsigned("choiceCount", u32::MAX.into())?
                    .is_some_and(|count| count < 2)
                {
                    return Err("choiceCount is below 2".to_owned());
                }
            }
            GoBalancer::OutlierDetection => outlier_detection(config, profile)?,
            GoBalancer::Priority => priority(config, profile)?,
            GoBalancer::ClusterImpl => {
                config.text("cluster")?;
                config.policy("childPolicy", profile)?;
            }
            GoBalancer::ClusterManager => {
                config.children("Children", |child| child.policy("ChildPolicy", profile).map(drop))?;
            }
            GoBalancer::ClusterResolver => {}
            GoBalancer::Cds => {
                config.text("cluster")?;
                config.bool("isDynamic")?;
            }
        }
        Ok(())
    }

    /// Reports a config that is accepted, and of which the process dies when the cluster is used.
    pub(super) fn note_death(self, config: &Value, cluster: &str, at: &Path<'_>, cx: &mut Validation<'_>) {
        let has_child = config
            .as_object()
            .is_some_and(|config| GoObject(config).get("childPolicy").is_some());
        if matches!(self, GoBalancer::ClusterImpl | GoBalancer::OutlierDetection) && !has_child {
            let message = format_args!("the policy has no childPolicy, the process dies when the cluster is used");
            cx.report_as(Effect::Fails, &LB_CONFIG_KILLS, &at.field("value"), message);
        }
        let named = config.get("cluster").and_then(Value::as_str).unwrap_or_default();
        // Before policies look their cluster up in the channel's configuration, the name means
        // nothing.
        let is_looked_up = !cx.has(Feature::ClustersAlone);
        if self == GoBalancer::ClusterImpl && has_child && named != cluster && is_looked_up {
            let message = format_args!(
                "the policy is for cluster `{named}` and stands in another, the process dies when it is used"
            );
            cx.report_as(Effect::Fails, &OTHER_CLUSTER_KILLS, &at.field("value"), message);
        }
    }
}

fn outlier_detection(config: GoObject<'_>, profile: &Profile) -> GoParsed {
    for field in ["interval", "baseEjectionTime", "maxEjectionTime"] {
        if config.duration(field)?.is_some_and(|time| time < Millis(0)) {
            return Err(format!("{field} is negative"));
        }
    }
    let percentage = |config: GoObject<'_>, field: &str| match config.unsigned(field, u32::MAX.into())? {
        Some(value) if value > 100 => Err(format!("{field} is above 100")),
        _ => Ok(()),
    };
    percentage(config, "maxEjectionPercent")?;
    config.object("successRateEjection", |sub| {
        for field in ["stdevFactor", "minimumHosts", "requestVolume"] {
            sub.unsigned(field, u32::MAX.into())?;
        }
        percentage(sub, "enforcementPercentage")
    })?;
    config.object("failurePercentageEjection", |sub| {
        for field in ["minimumHosts", "requestVolume"] {
            sub.unsigned(field, u32::MAX.into())?;
        }
        percentage(sub, "threshold")?;
        percentage(sub, "enforcementPercentage")
    })?;
    config.policy("childPolicy", profile).map(drop)
}

fn priority(config: GoObject<'_>, profile: &Profile) -> GoParsed {
    let mut children = Vec::new();
    if let Some(Value::Object(map)) = config.get("children") {
        children.extend(map.keys().map(String::as_str));
    }
    config.children("children", |child| {
        child.bool("ignoreReresolutionRequests")?;
        child.policy("config", profile).map(drop)
    })?;
    let names = match config.get("priorities") {
        None => &[][..],
        Some(Value::Array(names)) => names,
        Some(_) => return Err("priorities is no list".to_owned()),
    };
    let mut listed = Vec::new();
    for name in names {
        match name {
            Value::String(name) => listed.push(name.as_str()),
            Value::Null => listed.push(""),
            _ => return Err("a priority is no text".to_owned()),
        }
    }
    if let Some(name) = listed.iter().find(|name| !children.contains(name)) {
        return Err(format!("priority `{name}` is no child"));
    }
    match children.iter().find(|name| !listed.contains(name)) {
        Some(name) => Err(format!("child `{name}` is no priority")),
        None => Ok(()),
    }
}

/// The balancer of a list that counts, the first registered one, and its config
/// (`BalancerConfig.UnmarshalJSON`).
pub(super) fn chosen<'v>(list: &'v Value, profile: &Profile) -> GoParsed<(GoBalancer, &'v Value)> {
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

impl GoObject<'_> {
    /// Reads a list of balancers; says whether it is there.
    fn policy(self, name: &str, profile: &Profile) -> GoParsed<bool> {
        match self.get(name) {
            None => Ok(false),
            Some(list) => {
                let (balancer, config) = chosen(list, profile)?;
                balancer.read(config, profile).map(|()| true)
            }
        }
    }
}
