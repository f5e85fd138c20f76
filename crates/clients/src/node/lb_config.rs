//! What the policies of grpc-js keep of their JSON, once their parsers have accepted it
//! (`createFromJson` of each load-balancer-*.ts).
//!
//! Here, JSON that was made from a message has C-core's names, and JSON from a TypedStruct has the
//! client's own.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::lb_json::is_registered;
use xdsctl_model::profile::Profile;
use xdsctl_model::resource::Millis;
use xdsctl_model::resource::cluster::{FailurePercentageEjection, OutlierDetection, SuccessRateEjection};
use xdsctl_model::resource::lb_policy::{
    CdsConfig, ClusterManagerConfig, DEFAULT_MAX_RING_SIZE, DEFAULT_MIN_RING_SIZE, LbConfig, NamedClusterConfig,
    OutlierDetectionConfig, PickFirstConfig, PriorityChild, PriorityConfig, RingHashConfig, RoundRobinConfig,
    WeightedChild, WeightedRoundRobinConfig, WeightedTargetConfig, WrrLocalityConfig,
};

/// A config, or why there is none.
type Kept<T> = Result<T, String>;

/// The suffix of the names that C-core gives to policies.
const OF_CORE: &str = "_experimental";

/// Reads a list of policies, of which the first registered one counts.
///
/// # Errors
/// No policy is registered, or the config of the first registered one cannot be read.
pub(super) fn of_list(list: &Value, profile: &Profile) -> Kept<LbConfig> {
    let entries = list.as_array().into_iter().flatten().filter_map(Value::as_object);
    let mut known = entries
        .filter_map(|entry| entry.iter().next())
        .filter_map(|(name, config)| {
            let name = name.strip_suffix(OF_CORE).unwrap_or(name);
            is_registered(name, profile).then_some((name, config))
        });
    let (name, config) = known.next().ok_or("no policy of the list is registered")?;
    let empty = Map::new();
    kept(name, config.as_object().unwrap_or(&empty), profile)
}

fn kept(name: &str, config: &Map<String, Value>, profile: &Profile) -> Kept<LbConfig> {
    Ok(match name {
        "round_robin" => LbConfig::RoundRobin(RoundRobinConfig {}),
        "pick_first" => LbConfig::PickFirst(PickFirstConfig {
            shuffle_address_list: is_true(config, "shuffleAddressList"),
        }),
        "ring_hash" => LbConfig::RingHash(RingHashConfig {
            min_ring_size: size(config, ["min_ring_size", "minRingSize"]).unwrap_or(DEFAULT_MIN_RING_SIZE),
            max_ring_size: size(config, ["max_ring_size", "maxRingSize"]).unwrap_or(DEFAULT_MAX_RING_SIZE),
            request_hash_header: String::new(),
        }),
        "xds_wrr_locality" => LbConfig::WrrLocality(WrrLocalityConfig {
            child_policy: child(config, profile)?,
        }),
        "weighted_target" => LbConfig::WeightedTarget(WeightedTargetConfig {
            targets: children(config, "targets", |target| {
                Ok(WeightedChild {
                    weight: whole(target, "weight").unwrap_or(0),
                    child_policy: child(target, profile)?,
                })
            })?,
        }),
        "weighted_round_robin" => LbConfig::WeightedRoundRobin(weighted_round_robin(config)),
        "cds" => LbConfig::Cds(CdsConfig {
            cluster: text(config, "cluster"),
            is_dynamic: false,
        }),
        "xds_cluster_impl" => LbConfig::ClusterImpl(NamedClusterConfig {
            cluster_name: text(config, "cluster"),
            child_policy: child(config, profile)?,
        }),
        "xds_cluster_manager" => LbConfig::ClusterManager(ClusterManagerConfig {
            children: children(config, "children", |below| Ok(*child(below, profile)?))?,
        }),
        "priority" => LbConfig::Priority(PriorityConfig {
            children: children(config, "children", |below| {
                Ok(PriorityChild {
                    config: Box::new(of_list(below.get("config").unwrap_or(&Value::Null), profile)?),
                    ignore_reresolution_requests: is_true(below, "ignore_reresolution_requests"),
                })
            })?,
            priorities: names(config, "priorities"),
        }),
        "outlier_detection" => LbConfig::OutlierDetection(OutlierDetectionConfig {
            detection: detection(config),
            child_policy: child(config, profile)?,
        }),
        _ => return Err(format!("it is not known what `{name}` does")),
    })
}

fn weighted_round_robin(config: &Map<String, Value>) -> WeightedRoundRobinConfig {
    /// The shortest period between updates of weights.
    const MIN_UPDATE: Millis = Millis(100);
    let usual = WeightedRoundRobinConfig::default();
    let period = |name, default: Millis| duration(config.get(name)).unwrap_or(default);
    let penalty = config.get("error_utilization_penalty").and_then(Value::as_f64);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the factor has the size that it has in C-core"
    )]
    let penalty = penalty.map(|penalty| penalty as f32);
    WeightedRoundRobinConfig {
        enable_oob_load_report: is_true(config, "enable_oob_load_report"),
        oob_reporting_period: period("oob_load_reporting_period", usual.oob_reporting_period),
        blackout_period: period("blackout_period", usual.blackout_period),
        weight_update_period: period("weight_update_period", usual.weight_update_period).max(MIN_UPDATE),
        weight_expiration_period: period("weight_expiration_period", usual.weight_expiration_period),
        error_utilization_penalty: penalty.unwrap_or(usual.error_utilization_penalty),
        metric_names: Vec::new(),
    }
}

fn detection(config: &Map<String, Value>) -> OutlierDetection {
    let part = |name| config.get(name).and_then(Value::as_object);
    let or = |part: &Map<String, Value>, name, default| whole(part, name).unwrap_or(default);
    let period = |name, default| duration(config.get(name)).unwrap_or(default);
    let default = OutlierDetection::DEFAULT;
    let (rate, failures) = (SuccessRateEjection::DEFAULT, FailurePercentageEjection::DEFAULT);
    OutlierDetection {
        interval: period("interval", default.interval),
        base_ejection_time: period("base_ejection_time", default.base_ejection_time),
        max_ejection_time: period("max_ejection_time", default.max_ejection_time),
        max_ejection_percent: or(config, "max_ejection_percent", default.max_ejection_percent),
        success_rate: part("success_rate_ejection").map(|part| SuccessRateEjection {
            stdev_factor: or(part, "stdev_factor", rate.stdev_factor),
            enforcement_percentage: or(part, "enforcement_percentage", rate.enforcement_percentage),
            minimum_hosts: or(part, "minimum_hosts", rate.minimum_hosts),
            request_volume: or(part, "request_volume", rate.request_volume),
        }),
        failure_percentage: part("failure_percentage_ejection").map(|part| FailurePercentageEjection {
            threshold: or(part, "threshold", failures.threshold),
            enforcement_percentage: or(part, "enforcement_percentage", failures.enforcement_percentage),
            minimum_hosts: or(part, "minimum_hosts", failures.minimum_hosts),
            request_volume: or(part, "request_volume", failures.request_volume),
        }),
    }
}

/// Reads the child policy.
fn child(config: &Map<String, Value>, profile: &Profile) -> Kept<Box<LbConfig>> {
    let list = config.get("child_policy").or_else(|| config.get("childPolicy"));
    of_list(list.unwrap_or(&Value::Null), profile).map(Box::new)
}

fn children<T>(
    config: &Map<String, Value>,
    name: &str,
    read: impl Fn(&Map<String, Value>) -> Kept<T>,
) -> Kept<BTreeMap<String, T>> {
    let children = config.get(name).and_then(Value::as_object).into_iter().flatten();
    let children = children.filter_map(|(name, child)| Some((name, child.as_object()?)));
    children.map(|(name, child)| Ok((name.clone(), read(child)?))).collect()
}

fn names(config: &Map<String, Value>, name: &str) -> Vec<String> {
    let list = config.get(name).and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn is_true(config: &Map<String, Value>, name: &str) -> bool {
    config.get(name).and_then(Value::as_bool).unwrap_or(false)
}

fn text(config: &Map<String, Value>, name: &str) -> String {
    let text = config.get(name).and_then(Value::as_str);
    text.unwrap_or_default().to_owned()
}

/// Returns a number without its fraction; a negative number is 0.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` cuts off what is too large, and below 0"
)]
fn whole(config: &Map<String, Value>, name: &str) -> Option<u32> {
    config.get(name)?.as_f64().map(|number| number as u32)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` cuts off what is too large, and below 0"
)]
fn size(config: &Map<String, Value>, names: [&str; 2]) -> Option<u64> {
    let found = names.into_iter().find_map(|name| config.get(name))?;
    found.as_f64().map(|number| number.ceil() as u64)
}

/// Reads a duration, which is `{seconds, nanos}` or a text like `1.5s`.
#[expect(clippy::cast_possible_truncation, reason = "`as` cuts off what is too large")]
fn duration(value: Option<&Value>) -> Option<Millis> {
    let seconds = match value? {
        Value::String(text) => text.strip_suffix('s')?.parse::<f64>().ok()?,
        Value::Object(parts) => {
            let part = |name| parts.get(name).and_then(Value::as_f64).unwrap_or(0.0);
            part("seconds") + part("nanos") / 1e9
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => return None,
    };
    Some(Millis((seconds * 1000.0) as i64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use xdsctl_model::profile::{Client, Profile};

    fn read(list: &Value) -> Kept<LbConfig> {
        of_list(list, &Profile::of(Client::parse_one("node").unwrap()))
    }

    #[test]
    fn names_of_messages_and_of_structs_are_read_alike() {
        let of_message = json!([{"xds_wrr_locality_experimental": {"childPolicy": [{"round_robin": {}}]}}]);
        let of_struct = json!([{"xds_wrr_locality": {"child_policy": [{"unknown": {}}, {"round_robin": {}}]}}]);
        assert_eq!(read(&of_message).unwrap(), read(&of_struct).unwrap());
        assert!(read(&json!([{"least_request_experimental": {}}])).is_err());
    }

    #[test]
    fn a_ring_has_whatever_sizes_it_is_given() {
        let ring = json!([{"ring_hash": {"min_ring_size": 1024, "max_ring_size": 0}}]);
        let LbConfig::RingHash(ring) = read(&ring).unwrap() else {
            panic!("no ring");
        };
        assert_eq!((ring.min_ring_size, ring.max_ring_size), (1024, 0));
    }
}
