//! `load_balancing_policy`, as grpc-go reads it (xdslbregistry, and each balancer's `ParseConfig`).
//!
//! The first entry of a known type is converted to JSON, and the JSON is read by the balancers' own
//! parsers.

use serde_json::Value;

use self::balancer::{GoBalancer, MAX_RING_SIZE, ring_defaults};
use super::{URL_PREFIX, cluster, is_url_of, unmarshal};
use crate::shared::names::{LEAST_REQUEST, PICK_FIRST, RING_HASH, ROUND_ROBIN, WRR, WRR_LOCALITY};
use crate::shared::{Checked, first_policy, reject};
use xdsctl_document::proto::any::{TYPED_STRUCT_NOT_JSON, TYPED_STRUCTS, struct_to_json};
use xdsctl_document::proto::pb::Any;
use xdsctl_document::proto::pb::envoy::config::cluster::v3::LoadBalancingPolicy;
use xdsctl_document::proto::pb::envoy::extensions::load_balancing_policies::client_side_weighted_round_robin::v3::ClientSideWeightedRoundRobin;
use xdsctl_document::proto::pb::envoy::extensions::load_balancing_policies::least_request::v3::LeastRequest;
use xdsctl_document::proto::pb::envoy::extensions::load_balancing_policies::pick_first::v3::PickFirst;
use xdsctl_document::proto::pb::envoy::extensions::load_balancing_policies::ring_hash::v3::RingHash;
use xdsctl_document::proto::pb::envoy::extensions::load_balancing_policies::wrr_locality::v3::WrrLocality;
use xdsctl_document::proto::pb::xds::r#type::v3::TypedStruct;
use xdsctl_lb::ring_hash::{LB_RING_HASH_FUNCTION, LB_RING_HASH_MIN_ABOVE_MAX, LB_RING_HASH_SIZE};
use xdsctl_lb::weighted_round_robin::LB_WRR_PENALTY_NEGATIVE;
use xdsctl_lb::xds::{LB_CONFIG_REJECTED, LB_NESTING_TOO_DEEP};
use xdsctl_model::diag::{Path, Validation};
use xdsctl_model::profile::{Feature, Profile};

mod balancer;
mod object;

pub(super) use balancer::of_list;

/// How many levels of lists the client follows.
const MAX_DEPTH: usize = 16;

/// The smallest and largest size of a ring where the message sets none.
const MESSAGE_RING: (u64, u64) = (1024, MAX_RING_SIZE);

/// Returns the smallest and largest size of a ring in xDS, with the defaults where they are not
/// set.
pub(super) fn ring(min: Option<u64>, max: Option<u64>) -> (u64, u64) {
    (min.unwrap_or(MESSAGE_RING.0), max.unwrap_or(MESSAGE_RING.1))
}

/// Says whether a balancer of this name is registered.
pub(super) fn is_registered(name: &str, profile: &Profile) -> bool {
    GoBalancer::by_name(name, profile).is_some()
}

/// Checks a list of policies (`ConvertToServiceConfig`), and its JSON with the balancer's own
/// parser; `depth` is the number of lists around it in the cluster with this name.
pub(super) fn list(
    policy: &LoadBalancingPolicy,
    (cluster, depth): (&str, usize),
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Checked {
    if depth >= MAX_DEPTH {
        let message = format_args!("LB policies are nested more than {MAX_DEPTH} deep");
        return Err(reject(&LB_NESTING_TOO_DEEP, at, message, cx));
    }
    let takes = |any: &Any, at: &Path<'_>, cx: &mut Validation<'_>| entry_is_taken(any, (cluster, depth), at, cx);
    first_policy(policy, takes, at, cx)
}

/// Converts an entry; says whether the client has its policy.
fn entry_is_taken(any: &Any, (cluster, depth): (&str, usize), at: &Path<'_>, cx: &mut Validation<'_>) -> Checked<bool> {
    let Some(type_name) = any.type_url.strip_prefix(URL_PREFIX) else {
        return Ok(false);
    };
    match type_name {
        ROUND_ROBIN => {}
        PICK_FIRST if cx.has(Feature::PickFirstMessage) => _ = unmarshal::<PickFirst>(&any.value, PICK_FIRST, at, cx)?,
        RING_HASH if cx.has(Feature::RingHashPolicy) => {
            let message: RingHash = unmarshal(&any.value, RING_HASH, at, cx)?;
            let at = at.value(RING_HASH);
            if message.hash_function != 1 {
                let why = format_args!("hash function is {}, must be XX_HASH", message.hash_function);
                return Err(reject(&LB_RING_HASH_FUNCTION, &at.field("hash_function"), why, cx));
            }
            let sizes = ring(message.minimum_ring_size, message.maximum_ring_size);
            ring_sizes(sizes, true, &at, cx)?;
        }
        LEAST_REQUEST if cx.has(Feature::LeastRequest) => {
            let message: LeastRequest = unmarshal(&any.value, LEAST_REQUEST, at, cx)?;
            // The JSON that the client makes of the message leaves out a 0, so that the default
            // counts.
            let count = message.choice_count.filter(|count| *count > 0);
            cluster::choice_count(count, &at.value(LEAST_REQUEST).field("choice_count"), cx)?;
        }
        WRR => {
            let message: ClientSideWeightedRoundRobin = unmarshal(&any.value, WRR, at, cx)?;
            let penalty = message.error_utilization_penalty;
            if penalty.is_some_and(|penalty| penalty < 0.0 || !penalty.is_finite()) {
                let at = at.value(WRR);
                let why = format_args!("error_utilization_penalty is negative or no number");
                let at = at.field("error_utilization_penalty");
                return Err(reject(&LB_WRR_PENALTY_NEGATIVE, &at, why, cx));
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

/// Converts a TypedStruct of a registered policy (`convertCustomPolicy`).
fn custom(any: &Any, cluster: &str, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked<bool> {
    let Some(wrapper) = TYPED_STRUCTS.into_iter().find(|name| is_url_of(&any.type_url, name)) else {
        return Ok(false);
    };
    let message: TypedStruct = unmarshal(&any.value, wrapper, at, cx)?;
    let name = message.type_url.rsplit('/').next().unwrap_or_default();
    let Some(policy) = GoBalancer::by_name(name, cx.profile()) else {
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
    if let Err(why) = policy.read(&config, cx.profile()) {
        let message = format_args!("the balancer's own parser rejects the config of `{name}`: {why}");
        return Err(reject(&LB_CONFIG_REJECTED, &at.field("value"), message, cx));
    }
    policy.note_death(&config, cluster, &at, cx);
    Ok(true)
}

/// Checks the sizes of a ring as they are in a message. With `has_defaults`, defaults replace a 0
/// before the sizes are compared.
pub(super) fn ring_sizes(
    (min, max): (u64, u64),
    has_defaults: bool,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Checked {
    for (field, size) in [("minimum_ring_size", min), ("maximum_ring_size", max)] {
        if size > MAX_RING_SIZE {
            let message = format_args!("{field} is {size}, must be at most {MAX_RING_SIZE}");
            return Err(reject(&LB_RING_HASH_SIZE, &at.field(field), message, cx));
        }
    }
    let (min, max) = if has_defaults {
        ring_defaults(min, max)
    } else {
        (min, max)
    };
    if min > max {
        let message = format_args!("minimum ring size {min} is above the maximum {max}");
        let at = at.field("minimum_ring_size");
        return Err(reject(&LB_RING_HASH_MIN_ABOVE_MAX, &at, message, cx));
    }
    Ok(())
}
