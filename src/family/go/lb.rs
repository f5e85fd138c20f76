//! `load_balancing_policy`, as grpc-go reads it (xdslbregistry, and each balancer's `ParseConfig`).
//!
//! The first entry of a known type is converted to JSON, and the JSON is read by the balancers' own parsers. Go's JSON takes keys in
//! any case, passes over unknown ones, and leaves a field as it is where there is null.

use serde_json::{Map, Value};

use super::{URL_PREFIX, cluster, unmarshal};
use crate::diag::{Cx, Effect, Path};
use crate::family::rules::{LB_CONFIG_KILLS, OTHER_CLUSTER_KILLS};
use crate::family::{Checked, reject};
use crate::lb::ring_hash::{LB_RING_HASH_FUNCTION, LB_RING_HASH_MIN_ABOVE_MAX, LB_RING_HASH_SIZE};
use crate::lb::weighted_round_robin::LB_WRR_PENALTY_NEGATIVE;
use crate::lb::xds::{LB_CONFIG_REJECTED, LB_NESTING_TOO_DEEP, LB_NO_SUPPORTED_POLICY};
use crate::profile::Feature;
use crate::proto::any::{TYPED_STRUCT_NOT_JSON, struct_to_json};
use crate::proto::pb::Any;
use crate::proto::pb::envoy::config::cluster::v3::LoadBalancingPolicy;
use crate::proto::pb::envoy::extensions::load_balancing_policies::client_side_weighted_round_robin::v3::ClientSideWeightedRoundRobin;
use crate::proto::pb::envoy::extensions::load_balancing_policies::least_request::v3::LeastRequest;
use crate::proto::pb::envoy::extensions::load_balancing_policies::pick_first::v3::PickFirst;
use crate::proto::pb::envoy::extensions::load_balancing_policies::ring_hash::v3::RingHash;
use crate::proto::pb::envoy::extensions::load_balancing_policies::wrr_locality::v3::WrrLocality;
use crate::proto::pb::xds::r#type::v3::TypedStruct;

const WRR: &str =
    "envoy.extensions.load_balancing_policies.client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin";
const LEAST_REQUEST: &str = "envoy.extensions.load_balancing_policies.least_request.v3.LeastRequest";
const PICK_FIRST: &str = "envoy.extensions.load_balancing_policies.pick_first.v3.PickFirst";
const RING_HASH: &str = "envoy.extensions.load_balancing_policies.ring_hash.v3.RingHash";
const ROUND_ROBIN: &str = "envoy.extensions.load_balancing_policies.round_robin.v3.RoundRobin";
const WRR_LOCALITY: &str = "envoy.extensions.load_balancing_policies.wrr_locality.v3.WrrLocality";

/// Levels of lists that the client follows.
const MAX_DEPTH: usize = 16;

/// Largest ring, in entries (`ringHashSizeUpperBound`).
const MAX_RING_SIZE: u64 = 8 * 1024 * 1024;

/// Sizes of a ring where the message has none.
const MESSAGE_RING: (u64, u64) = (1024, MAX_RING_SIZE);

/// Sizes of a ring where the JSON has none, or 0.
const JSON_RING: (u64, u64) = (1024, 4096);

/// Converts the policy at `at`, of the cluster of this name.
pub(super) fn from_proto(policy: &LoadBalancingPolicy, cluster: &str, at: &Path<'_>, cx: &mut Cx<'_>) -> Checked {
    list(policy, (cluster, 0), at, cx)
}

/// `ConvertToServiceConfig`, and what the balancer's parser says to the result.
fn list(policy: &LoadBalancingPolicy, (cluster, depth): (&str, usize), at: &Path<'_>, cx: &mut Cx<'_>) -> Checked {
    if depth >= MAX_DEPTH {
        let message = format_args!("LB policies are nested more than {MAX_DEPTH} deep");
        return Err(reject(&LB_NESTING_TOO_DEEP, at, message, cx));
    }
    let entries = at.field("policies");
    for (i, entry) in policy.policies.iter().enumerate() {
        let any = entry
            .typed_extension_config
            .as_ref()
            .and_then(|config| config.typed_config.as_ref());
        let Some(any) = any else { continue };
        let at = entries.index(i);
        let at = at.field("typed_extension_config");
        let at = at.field("typed_config");
        if entry_is_taken(any, (cluster, depth), &at, cx)? {
            return Ok(());
        }
    }
    let message = format_args!("none of the {} listed policies is supported", policy.policies.len());
    Err(reject(&LB_NO_SUPPORTED_POLICY, at, message, cx))
}

/// Converts an entry; says whether it is one that the client has.
fn entry_is_taken(any: &Any, (cluster, depth): (&str, usize), at: &Path<'_>, cx: &mut Cx<'_>) -> Checked<bool> {
    let Some(type_name) = any.type_url.strip_prefix(URL_PREFIX) else {
        return Ok(false);
    };
    match type_name {
        ROUND_ROBIN => {}
        PICK_FIRST => _ = unmarshal::<PickFirst>(&any.value, PICK_FIRST, at, cx)?,
        RING_HASH => {
            let message: RingHash = unmarshal(&any.value, RING_HASH, at, cx)?;
            let at = at.value(RING_HASH);
            if message.hash_function != 1 {
                let why = format_args!("hash function is {}, must be XX_HASH", message.hash_function);
                return Err(reject(&LB_RING_HASH_FUNCTION, &at.field("hash_function"), why, cx));
            }
            let min = message.minimum_ring_size.unwrap_or(MESSAGE_RING.0);
            let max = message.maximum_ring_size.unwrap_or(MESSAGE_RING.1);
            ring_sizes(min, max, &at, cx)?;
        }
        LEAST_REQUEST if cx.has(Feature::LeastRequest) => {
            let message: LeastRequest = unmarshal(&any.value, LEAST_REQUEST, at, cx)?;
            // The JSON that is made of it leaves out a 0, which then is the default.
            let count = message.choice_count.filter(|count| *count > 0);
            cluster::choice_count(count, &at.value(LEAST_REQUEST).field("choice_count"), cx)?;
        }
        WRR => {
            let message: ClientSideWeightedRoundRobin = unmarshal(&any.value, WRR, at, cx)?;
            if message
                .error_utilization_penalty
                .is_some_and(|penalty| penalty < 0.0 || !penalty.is_finite())
            {
                let at = at.value(WRR);
                let why = format_args!("error_utilization_penalty is negative or no number");
                return Err(reject(
                    &LB_WRR_PENALTY_NEGATIVE,
                    &at.field("error_utilization_penalty"),
                    why,
                    cx,
                ));
            }
        }
        WRR_LOCALITY => {
            let message: WrrLocality = unmarshal(&any.value, WRR_LOCALITY, at, cx)?;
            let at = at.value(WRR_LOCALITY);
            let empty = LoadBalancingPolicy::default();
            let below = message.endpoint_picking_policy.as_ref().unwrap_or(&empty);
            list(below, (cluster, depth + 1), &at.field("endpoint_picking_policy"), cx)?;
        }
        _ => return custom(any, cluster, at, cx),
    }
    Ok(true)
}

/// A TypedStruct of a registered policy (`convertCustomPolicy`).
fn custom(any: &Any, cluster: &str, at: &Path<'_>, cx: &mut Cx<'_>) -> Checked<bool> {
    let wrapper = ["xds.type.v3.TypedStruct", "udpa.type.v1.TypedStruct"]
        .into_iter()
        .find(|name| any.type_url.strip_prefix(URL_PREFIX) == Some(name));
    let Some(wrapper) = wrapper else {
        return Ok(false);
    };
    let message: TypedStruct = unmarshal(&any.value, wrapper, at, cx)?;
    let name = message.type_url.rsplit('/').next().unwrap_or_default();
    let Some(policy) = Policy::by_name(name, cx) else {
        return Ok(false);
    };
    let at = at.value(wrapper);
    let config = match &message.value {
        None => Value::Null,
        value => match struct_to_json(value.as_ref()) {
            Some(config) => config,
            None => {
                let why = format_args!("a value in it has no kind or is not a finite number");
                return Err(reject(&TYPED_STRUCT_NOT_JSON, &at.field("value"), why, cx));
            }
        },
    };
    if let Err(why) = policy.read(&config, cx) {
        let message = format_args!("the balancer's own parser rejects the config of `{name}`: {why}");
        return Err(reject(&LB_CONFIG_REJECTED, &at.field("value"), message, cx));
    }
    policy.note_death(&config, cluster, &at, cx);
    Ok(true)
}

fn ring_sizes(min: u64, max: u64, at: &Path<'_>, cx: &mut Cx<'_>) -> Checked {
    for (field, size) in [("minimum_ring_size", min), ("maximum_ring_size", max)] {
        if size > MAX_RING_SIZE {
            let message = format_args!("{field} is {size}, must be at most {MAX_RING_SIZE}");
            return Err(reject(&LB_RING_HASH_SIZE, &at.field(field), message, cx));
        }
    }
    let (min, max) = ring_defaults(min, max);
    if min > max {
        let message = format_args!("minimum ring size {min} is above the maximum {max}");
        return Err(reject(
            &LB_RING_HASH_MIN_ABOVE_MAX,
            &at.field("minimum_ring_size"),
            message,
            cx,
        ));
    }
    Ok(())
}

/// 0 is no size: the balancer's own default takes its place.
fn ring_defaults(min: u64, max: u64) -> (u64, u64) {
    let or = |size: u64, default: u64| if size == 0 { default } else { size };
    (or(min, JSON_RING.0), or(max, JSON_RING.1))
}

/// A balancer that is registered with `import _ "google.golang.org/grpc/xds"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Policy {
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

/// Why a balancer's parser refuses a config.
type Read<T = ()> = Result<T, String>;

impl Policy {
    fn by_name(name: &str, cx: &Cx<'_>) -> Option<Self> {
        let lower;
        let name = if cx.has(Feature::PolicyNamesExact) {
            name
        } else {
            lower = name.to_lowercase();
            lower.as_str()
        };
        Some(match name {
            "round_robin" => Policy::RoundRobin,
            "pick_first" => Policy::PickFirst,
            "ring_hash_experimental" => Policy::RingHash,
            "weighted_round_robin" => Policy::WeightedRoundRobin,
            "weighted_target_experimental" => Policy::WeightedTarget,
            "xds_wrr_locality_experimental" => Policy::WrrLocality,
            "least_request_experimental" => Policy::LeastRequest,
            "outlier_detection_experimental" => Policy::OutlierDetection,
            "priority_experimental" => Policy::Priority,
            "xds_cluster_impl_experimental" => Policy::ClusterImpl,
            "xds_cluster_manager_experimental" => Policy::ClusterManager,
            "cluster_resolver_experimental" if cx.has(Feature::ClusterResolverPolicy) => Policy::ClusterResolver,
            "cds_experimental" => Policy::Cds,
            _ => return None,
        })
    }

    /// `ParseConfig`.
    fn read(self, config: &Value, cx: &Cx<'_>) -> Read {
        if self == Policy::RoundRobin {
            return Ok(());
        }
        let empty = Map::new();
        let config = match config {
            Value::Object(config) => Object(config),
            Value::Null if self == Policy::WrrLocality => return Err("childPolicy is missing".to_owned()),
            Value::Null => Object(&empty),
            _ => return Err("the config is no object".to_owned()),
        };
        match self {
            Policy::RoundRobin => {}
            Policy::PickFirst => config.bool("shuffleAddressList")?,
            Policy::RingHash => {
                let min = config.unsigned("minRingSize", u64::MAX)?.unwrap_or(0);
                let max = config.unsigned("maxRingSize", u64::MAX)?.unwrap_or(0);
                if cx.has(Feature::RingHashRequestHeader) {
                    config.text("requestHashHeader")?;
                }
                if cx.has(Feature::RingHashSetRequestHashKey)
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
                let (min, max) = ring_defaults(min, max);
                if min > max {
                    return Err(format!("minRingSize {min} is above maxRingSize {max}"));
                }
            }
            Policy::WeightedRoundRobin => {
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
            Policy::WeightedTarget => config.children("targets", |target| {
                target.unsigned("weight", u32::MAX.into())?;
                target.policy("childPolicy", cx).map(drop)
            })?,
            Policy::WrrLocality => {
                if !config.policy("childPolicy", cx)? {
                    return Err("childPolicy is missing".to_owned());
                }
            }
            Policy::LeastRequest => {
                if config
                    .unsigned("choiceCount", u32::MAX.into())?
                    .is_some_and(|count| count < 2)
                {
                    return Err("choiceCount is below 2".to_owned());
                }
            }
            Policy::OutlierDetection => outlier_detection(config, cx)?,
            Policy::Priority => priority(config, cx)?,
            Policy::ClusterImpl => {
                config.text("cluster")?;
                config.policy("childPolicy", cx)?;
            }
            Policy::ClusterManager => {
                config.children("Children", |child| child.policy("ChildPolicy", cx).map(drop))?;
            }
            Policy::ClusterResolver => {}
            Policy::Cds => {
                config.text("cluster")?;
                config.bool("isDynamic")?;
            }
        }
        Ok(())
    }

    /// Reports a config that is accepted, and of which the process dies when the cluster is used.
    fn note_death(self, config: &Value, cluster: &str, at: &Path<'_>, cx: &mut Cx<'_>) {
        let has_child = config
            .as_object()
            .is_some_and(|config| Object(config).get("childPolicy").is_some());
        if matches!(self, Policy::ClusterImpl | Policy::OutlierDetection) && !has_child {
            let message = format_args!("the policy has no childPolicy, the process dies when the cluster is used");
            cx.report_as(Effect::Fails, &LB_CONFIG_KILLS, &at.field("value"), message);
        }
        let named = config.get("cluster").and_then(Value::as_str).unwrap_or_default();
        if self == Policy::ClusterImpl && has_child && named != cluster {
            let message = format_args!(
                "the policy is for cluster `{named}` and stands in another, the process dies when it is used"
            );
            cx.report_as(Effect::Fails, &OTHER_CLUSTER_KILLS, &at.field("value"), message);
        }
    }
}

fn outlier_detection(config: Object<'_>, cx: &Cx<'_>) -> Read {
    for field in ["interval", "baseEjectionTime", "maxEjectionTime"] {
        if config.duration(field)?.is_some_and(|is_negative| is_negative) {
            return Err(format!("{field} is negative"));
        }
    }
    let percentage = |config: Object<'_>, field: &str| match config.unsigned(field, u32::MAX.into())? {
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
    config.policy("childPolicy", cx).map(drop)
}

fn priority(config: Object<'_>, cx: &Cx<'_>) -> Read {
    let mut children = Vec::new();
    if let Some(Value::Object(map)) = config.get("children") {
        children.extend(map.keys().map(String::as_str));
    }
    config.children("children", |child| {
        child.bool("ignoreReresolutionRequests")?;
        child.policy("config", cx).map(drop)
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

/// A list of balancers, of which the first registered one counts (`BalancerConfig.UnmarshalJSON`).
fn policy_list(list: &Value, cx: &Cx<'_>) -> Read {
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
        if let Some(policy) = Policy::by_name(name, cx) {
            return policy.read(config, cx);
        }
    }
    Err("no policy of a list is known".to_owned())
}

/// An object as Go's encoding/json fills a struct of it: the functions check the type of a field.
#[derive(Debug, Clone, Copy)]
struct Object<'v>(&'v Map<String, Value>);

impl<'v> Object<'v> {
    /// The value of a field; `None` for null. Case does not count where there is no exact key.
    fn get(self, name: &str) -> Option<&'v Value> {
        let folded = || {
            let mut entries = self.0.iter();
            entries
                .find(|(key, _)| key.eq_ignore_ascii_case(name))
                .map(|(_, value)| value)
        };
        self.0.get(name).or_else(folded).filter(|value| !value.is_null())
    }

    fn bool(self, name: &str) -> Read {
        match self.get(name) {
            None | Some(Value::Bool(_)) => Ok(()),
            Some(_) => Err(format!("{name} is no boolean")),
        }
    }

    fn text(self, name: &str) -> Read {
        match self.get(name) {
            None | Some(Value::String(_)) => Ok(()),
            Some(_) => Err(format!("{name} is no text")),
        }
    }

    fn number(self, name: &str) -> Read<Option<f64>> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Number(number)) => Ok(number.as_f64()),
            Some(_) => Err(format!("{name} is no number")),
        }
    }

    /// A whole number up to `max`, as protobuf prints it: from 1e21 on with an exponent, which is no integer for Go.
    fn unsigned(self, name: &str, max: u64) -> Read<Option<u64>> {
        let Some(number) = self.number(name)? else {
            return Ok(None);
        };
        let is_whole = number.fract() == 0.0 && number.is_sign_positive() && number < 1e20;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole and below 2^67"
        )]
        let value = if is_whole {
            u64::try_from(number as u128).ok()
        } else {
            None
        };
        match value.filter(|value| *value <= max) {
            Some(value) => Ok(Some(value)),
            None => Err(format!("{name} is no number of 0 to {max}")),
        }
    }

    /// Checks a duration; says whether it is negative.
    fn duration(self, name: &str) -> Read<Option<bool>> {
        let text = match self.get(name) {
            None => return Ok(None),
            Some(Value::String(text)) => text,
            Some(_) => return Err(format!("{name} is no duration")),
        };
        match duration_is_negative(text) {
            Some(is_negative) => Ok(Some(is_negative)),
            None => Err(format!("{name} is no duration")),
        }
    }

    fn object(self, name: &str, read: impl Fn(Object<'v>) -> Read) -> Read {
        match self.get(name) {
            None => Ok(()),
            Some(Value::Object(object)) => read(Object(object)),
            Some(_) => Err(format!("{name} is no object")),
        }
    }

    fn children(self, name: &str, read: impl Fn(Object<'v>) -> Read) -> Read {
        self.object(name, |children| {
            for child in children.0.values() {
                match child {
                    Value::Null => {}
                    Value::Object(child) => read(Object(child))?,
                    _ => return Err(format!("a child in {name} is no object")),
                }
            }
            Ok(())
        })
    }

    /// Reads a list of balancers; says whether it is there.
    fn policy(self, name: &str, cx: &Cx<'_>) -> Read<bool> {
        match self.get(name) {
            None => Ok(false),
            Some(list) => policy_list(list, cx).map(|()| true),
        }
    }
}

/// Reads a duration like `-1.5s`; `None` for any other text (`internal/serviceconfig/duration.go`).
fn duration_is_negative(text: &str) -> Option<bool> {
    const MAX_SECONDS: i64 = 315_576_000_000;
    let text = text.strip_suffix('s')?;
    let (is_negative, text) = match text.strip_prefix('-') {
        Some(text) => (true, text),
        None => (false, text),
    };
    let (seconds, fraction) = match text.split_once('.') {
        Some((seconds, fraction)) => (seconds, fraction),
        None => (text, ""),
    };
    if seconds.is_empty() && fraction.is_empty() || fraction.len() > 9 {
        return None;
    }
    let mut is_zero = true;
    for part in [seconds, fraction] {
        if part.is_empty() {
            continue;
        }
        let number: i64 = part.parse().ok()?;
        is_zero &= number == 0;
        if number > MAX_SECONDS {
            return None;
        }
    }
    Some(is_negative && !is_zero)
}
