//! The LB policy of a cluster, as grpc-java reads it (LoadBalancerConfigFactory): it is converted
//! to JSON, which the balancers' own parsers read.
//!
//! `load_balancing_policy` hides the older fields. The first entry of a known type counts. A
//! TypedStruct is of a known type if its policy is registered.

use super::json::{self, JavaObject};
use super::lb_config::{self, JavaBalancer};
use super::{holds, is_valid, thrown, unpack_as};
use crate::shared::names::{LEAST_REQUEST, PICK_FIRST, RING_HASH, ROUND_ROBIN, WRR, WRR_LOCALITY};
use crate::shared::rules::LEAST_REQUEST_CHOICES;
use crate::shared::{Checked, alike, first_policy, reject};
use xdsctl_document::proto::any::{TYPED_STRUCT_NOT_JSON, TYPED_STRUCTS};
use xdsctl_document::proto::duration::DURATION_OUT_OF_RANGE;
use xdsctl_document::proto::pb::Any;
use xdsctl_document::proto::pb::envoy::config::cluster::v3::cluster::{LbConfig, LbPolicy};
use xdsctl_document::proto::pb::envoy::config::cluster::v3::{Cluster, LoadBalancingPolicy};
use xdsctl_document::proto::pb::envoy::extensions::load_balancing_policies::client_side_weighted_round_robin::v3::ClientSideWeightedRoundRobin;
use xdsctl_document::proto::pb::envoy::extensions::load_balancing_policies::least_request::v3::LeastRequest;
use xdsctl_document::proto::pb::envoy::extensions::load_balancing_policies::pick_first::v3::PickFirst;
use xdsctl_document::proto::pb::envoy::extensions::load_balancing_policies::ring_hash::v3::RingHash;
use xdsctl_document::proto::pb::envoy::extensions::load_balancing_policies::wrr_locality::v3::WrrLocality;
use xdsctl_document::proto::pb::xds::r#type::v3::TypedStruct;
use xdsctl_lb::ring_hash::{LB_RING_HASH_FUNCTION, LB_RING_HASH_MIN_ABOVE_MAX, LB_RING_HASH_SIZE};
use xdsctl_lb::xds::{LB_CONFIG_REJECTED, LB_NESTING_TOO_DEEP};
use xdsctl_model::diag::{Path, Validation};
use xdsctl_model::profile::Feature;

/// How many levels of lists the client follows below the first.
const MAX_DEPTH: usize = 16;

/// XX_HASH of the ring_hash message; the older field counts from 0.
const XX_HASH: i32 = 1;

/// The largest ring, in entries, for versions that do not cap sizes.
const MAX_RING_SIZE: i64 = 8_388_608;

/// Returns the smallest and the largest size of a ring, capped as the client does.
pub(super) fn ring(min: Option<u64>, max: Option<u64>) -> (u64, u64) {
    let (min, max) = lb_config::ring_sizes(min.map(u64::cast_signed), max.map(u64::cast_signed));
    (min.unsigned_abs(), max.unsigned_abs())
}

/// Converts the policy of a cluster (`newConfig`).
pub(super) fn of_cluster(message: &Cluster, root: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let policy = message.load_balancing_policy.as_ref();
    match policy.filter(|_| cx.has(Feature::CustomLbConfig)) {
        Some(policy) => list(policy, 0, &root.field("load_balancing_policy"), cx),
        None => of_enum(message, root, cx),
    }
}

/// Checks the `lb_policy` enum and its config (`LegacyLoadBalancingPolicyConverter`).
fn of_enum(message: &Cluster, root: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    match LbPolicy::try_from(message.lb_policy) {
        Ok(LbPolicy::RoundRobin) => Ok(()),
        Ok(LbPolicy::RingHash) if cx.has(Feature::RingHashPolicy) => {
            let Some(LbConfig::RingHashLbConfig(config)) = &message.lb_config else {
                return Ok(());
            };
            let at = root.field("ring_hash_lb_config");
            alike::hash_function(config.hash_function, &at, cx)?;
            let sizes = (config.minimum_ring_size, config.maximum_ring_size);
            if !cx.has(Feature::RingSizesChecked) {
                return Ok(());
            }
            match cx.has(Feature::ClusterRingChecked) {
                true => uncapped_sizes(sizes, &at, cx),
                false => ring_sizes(sizes.0, sizes.1, &at, cx),
            }
        }
        Ok(LbPolicy::LeastRequest) if cx.has(Feature::LeastRequest) => match &message.lb_config {
            Some(LbConfig::LeastRequestLbConfig(config)) => {
                choice_count(config.choice_count, &root.field("least_request_lb_config"), cx)
            }
            _ => Ok(()),
        },
        _ => Err(alike::no_lb_policy(message.lb_policy, root, cx)),
    }
}

/// Checks a list of policies (`LoadBalancingPolicyConverter.convertToServiceConfig`).
fn list(policy: &LoadBalancingPolicy, depth: usize, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    if depth > MAX_DEPTH {
        let message = format_args!("LB policies are nested more than {MAX_DEPTH} deep");
        return Err(reject(&LB_NESTING_TOO_DEEP, at, message, cx));
    }
    first_policy(policy, |any, at, cx| entry_is_taken(any, depth, at, cx), at, cx)
}

/// Converts an entry; says whether the client has its policy.
fn entry_is_taken(any: &Any, depth: usize, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked<bool> {
    let known = [RING_HASH, WRR_LOCALITY, ROUND_ROBIN, LEAST_REQUEST, WRR, PICK_FIRST];
    match known.into_iter().find(|name| holds(any, name)) {
        Some(WRR) if !cx.has(Feature::WeightedRoundRobinMessage) => return Ok(false),
        Some(PICK_FIRST) if !cx.has(Feature::PickFirstMessage) => return Ok(false),
        Some(RING_HASH) => {
            let message: RingHash = unpack_as(any, RING_HASH, at, cx)?;
            let at = at.value(RING_HASH);
            if message.hash_function != XX_HASH {
                let why = format_args!("hash function is {}, must be XX_HASH", message.hash_function);
                return Err(reject(&LB_RING_HASH_FUNCTION, &at.field("hash_function"), why, cx));
            }
            ring_sizes(message.minimum_ring_size, message.maximum_ring_size, &at, cx)?;
        }
        Some(WRR_LOCALITY) => {
            let message: WrrLocality = unpack_as(any, WRR_LOCALITY, at, cx)?;
            let at = at.value(WRR_LOCALITY);
            let empty = LoadBalancingPolicy::default();
            let below = message.endpoint_picking_policy.as_ref().unwrap_or(&empty);
            list(below, depth + 1, &at.field("endpoint_picking_policy"), cx)?;
        }
        Some(ROUND_ROBIN) => {}
        Some(LEAST_REQUEST) => {
            let message: LeastRequest = unpack_as(any, LEAST_REQUEST, at, cx)?;
            choice_count(message.choice_count, &at.value(LEAST_REQUEST), cx)?;
        }
        Some(WRR) => {
            let message: ClientSideWeightedRoundRobin = unpack_as(any, WRR, at, cx)?;
            weighted_round_robin(&message, &at.value(WRR), cx)?;
        }
        Some(_) => _ = unpack_as::<PickFirst>(any, PICK_FIRST, at, cx)?,
        None => return custom(any, at, cx),
    }
    Ok(true)
}

/// Converts a TypedStruct of a registered policy (`convertCustomConfig`).
fn custom(any: &Any, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked<bool> {
    let Some(wrapper) = TYPED_STRUCTS.into_iter().find(|name| holds(any, name)) else {
        return Ok(false);
    };
    let message: TypedStruct = unpack_as(any, wrapper, at, cx)?;
    let name = message.type_url.rsplit('/').next().unwrap_or_default();
    let at = at.value(wrapper);
    let Some(config) = json::of_struct(message.value.as_ref()) else {
        let why = format_args!("a number in it is infinite or none");
        return Err(thrown(&TYPED_STRUCT_NOT_JSON, &at.field("value"), why, cx));
    };
    let Some(policy) = JavaBalancer::by_name(name, cx.profile()) else {
        return Ok(false);
    };
    match policy.read(JavaObject(&config), cx.profile()) {
        Ok(()) => Ok(true),
        Err(why) => {
            let message = format_args!("the balancer's own parser rejects the config of `{name}`: {why}");
            let is_caught =
                cx.has(Feature::PolicyExceptionsCaught) || !policy.throws(JavaObject(&config), cx.profile());
            let stop = if is_caught { reject } else { thrown };
            Err(stop(&LB_CONFIG_REJECTED, &at.field("value"), message, cx))
        }
    }
}

/// Checks the sizes of a ring. They are negative from 2^63 on. They are compared after the client
/// has capped them, so a minimum above the maximum may be valid.
fn ring_sizes(min: Option<u64>, max: Option<u64>, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let sizes = (min.map(u64::cast_signed), max.map(u64::cast_signed));
    for (field, size) in [("minimum_ring_size", sizes.0), ("maximum_ring_size", sizes.1)] {
        if let Some(size) = size.filter(|size| *size <= 0) {
            let message = format_args!("{field} is {size} in Java, must be at least 1");
            return Err(reject(&LB_RING_HASH_SIZE, &at.field(field), message, cx));
        }
    }
    let (min, max) = lb_config::ring_sizes(sizes.0, sizes.1);
    if min > max {
        let message = format_args!("minimum ring size {min} is above the maximum {max}");
        let at = at.field("minimum_ring_size");
        return Err(reject(&LB_RING_HASH_MIN_ABOVE_MAX, &at, message, cx));
    }
    Ok(())
}

/// Checks the sizes of a ring in versions that do not cap them; the minimum may be below 1.
fn uncapped_sizes((min, max): (Option<u64>, Option<u64>), at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let size = |size: Option<u64>, or: i64| size.map_or(or, u64::cast_signed);
    let (min, max) = (size(min, lb_config::RING.0), size(max, MAX_RING_SIZE));
    if max > MAX_RING_SIZE {
        let message = format_args!("maximum_ring_size is {max}, must be at most {MAX_RING_SIZE}");
        return Err(reject(&LB_RING_HASH_SIZE, &at.field("maximum_ring_size"), message, cx));
    }
    if min > max {
        let message = format_args!("minimum ring size {min} is above the maximum {max}");
        let at = at.field("minimum_ring_size");
        return Err(reject(&LB_RING_HASH_MIN_ABOVE_MAX, &at, message, cx));
    }
    Ok(())
}

fn choice_count(count: Option<u32>, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let count = count.map(u32::cast_signed);
    match count.filter(|count| *count < lb_config::MIN_CHOICE_COUNT) {
        Some(count) => {
            let message = format_args!("choice_count is {count} in Java, must be at least 2");
            Err(reject(&LEAST_REQUEST_CHOICES, &at.field("choice_count"), message, cx))
        }
        None => Ok(()),
    }
}

/// Checks weighted_round_robin: durations must be valid, but neither their sign nor the penalty is
/// checked.
fn weighted_round_robin(message: &ClientSideWeightedRoundRobin, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    for (field, duration) in [
        ("blackout_period", &message.blackout_period),
        ("weight_expiration_period", &message.weight_expiration_period),
        ("oob_reporting_period", &message.oob_reporting_period),
        ("weight_update_period", &message.weight_update_period),
    ] {
        if let Some(duration) = duration.as_ref().filter(|duration| !is_valid(duration)) {
            let why = format_args!("{} s and {} ns are no duration", duration.seconds, duration.nanos);
            return Err(reject(&DURATION_OUT_OF_RANGE, &at.field(field), why, cx));
        }
    }
    Ok(())
}
