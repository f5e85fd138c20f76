//! `load_balancing_policy`, as grpc-js-xds reads it (lb-policy-registry.ts,
//! lb-policy-registry/*.ts).
//!
//! The first entry of a registered type is converted to JSON, which the policy's own parser must
//! accept. A policy below a WrrLocality is converted too, but no parser reads it before it is used.
//! An exception counts as one fault of the cluster.

use super::{OBJECT_PROTOTYPE, decode, is_url_of, lb_json};
use crate::shared::names::{PICK_FIRST, RING_HASH, ROUND_ROBIN, WRR, WRR_LOCALITY};
use crate::shared::{Checked, ConverterStop, first_policy, reject};
use xdsctl_document::proto::any::{TYPED_STRUCT_NOT_JSON, TYPED_STRUCTS};
use xdsctl_document::proto::pb::Any;
use xdsctl_document::proto::pb::envoy::config::cluster::v3::LoadBalancingPolicy;
use xdsctl_document::proto::pb::envoy::extensions::load_balancing_policies::client_side_weighted_round_robin::v3::ClientSideWeightedRoundRobin;
use xdsctl_document::proto::pb::envoy::extensions::load_balancing_policies::pick_first::v3::PickFirst;
use xdsctl_document::proto::pb::envoy::extensions::load_balancing_policies::ring_hash::v3::RingHash;
use xdsctl_document::proto::pb::envoy::extensions::load_balancing_policies::wrr_locality::v3::WrrLocality;
use xdsctl_document::proto::pb::xds::r#type::v3::TypedStruct;
use xdsctl_lb::priority::LB_PRIORITY_UNKNOWN;
use xdsctl_lb::ring_hash::{LB_RING_HASH_FUNCTION, LB_RING_HASH_FUNCTION_UNSET};
use xdsctl_lb::usable::LB_RING_HASH_BELOW_LOCALITIES;
use xdsctl_lb::weighted_round_robin::LB_WRR_PENALTY_NEGATIVE;
use xdsctl_lb::wrr_locality::LB_WRR_LOCALITY_WITHOUT_CHILD;
use xdsctl_lb::xds::{LB_CONFIG_REJECTED, LB_NESTING_TOO_DEEP};
use xdsctl_model::diag::{Path, Rule, Validation, rules};
use xdsctl_model::profile::Feature;

rules! {
    /// The RingHash extension sets a ring size, which the policy gets as a text and rejects.
    RING_SIZE_SET = "lb-ring-hash-size-set", Lb, Nack, "grpc-js-xds load-balancer-ring-hash.ts convertToLoadBalancingPolicy";
    /// A TypedStruct that configures an LB policy has no value.
    TYPED_STRUCT_WITHOUT_VALUE = "lb-typed-struct-without-value", Lb, Nack, "grpc-js-xds lb-policy-registry/typed-struct.ts";
}

/// How many levels of lists the client follows below the first.
const MAX_DEPTH: usize = 16;

/// Checks a list of policies (`convertToLoadBalancingConfig`), and at depth 0 also its JSON with
/// the policy's own parser.
pub(super) fn list(policy: &LoadBalancingPolicy, depth: usize, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    if depth > MAX_DEPTH {
        let why = format_args!("LB policies are nested more than {MAX_DEPTH} deep");
        return Err(reject(&LB_NESTING_TOO_DEEP, at, why, cx));
    }
    first_policy(policy, |any, at, cx| entry_is_taken(any, depth, at, cx), at, cx)
}

/// Converts an entry; says whether its type is registered.
fn entry_is_taken(any: &Any, depth: usize, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked<bool> {
    let url = any.type_url.as_str();
    let is_parsed = depth == 0;
    if OBJECT_PROTOTYPE.contains(&url) {
        return Err(no_policy(url, at, cx));
    }
    // WrrLocality is registered a second time, without the usual prefix of type URLs, for a policy
    // that does not exist.
    if url == WRR_LOCALITY && cx.has(Feature::WrrLocalityTwice) {
        wrr_locality(any, depth, at, cx)?;
        return if is_parsed {
            Err(no_policy(url, at, cx))
        } else {
            Ok(true)
        };
    }
    let Some(type_name) = url.strip_prefix(super::URL_PREFIX) else {
        return Ok(false);
    };
    match type_name {
        ROUND_ROBIN => {}
        RING_HASH if cx.has(Feature::RingHashPolicy) => ring_hash(any, is_parsed, at, cx)?,
        WRR_LOCALITY => wrr_locality(any, depth, at, cx)?,
        PICK_FIRST if cx.has(Feature::PickFirstMessage) => _ = decode::<PickFirst>(&any.value, PICK_FIRST, at, cx)?,
        WRR if cx.has(Feature::WeightedRoundRobinMessage) => {
            let message: ClientSideWeightedRoundRobin = decode(&any.value, WRR, at, cx)?;
            if message.error_utilization_penalty.is_some_and(|penalty| penalty < 0.0) {
                let at = at.value(WRR);
                let why = "error_utilization_penalty is negative";
                let at = at.field("error_utilization_penalty");
                unparsable(&LB_WRR_PENALTY_NEGATIVE, why, is_parsed, &at, cx)?;
            }
        }
        _ => return typed_struct(any, is_parsed, at, cx),
    }
    Ok(true)
}

fn no_policy(url: &str, at: &Path<'_>, cx: &mut Validation<'_>) -> ConverterStop {
    let why = format_args!("`{url}` leads to no LB policy");
    reject(&LB_CONFIG_REJECTED, at, why, cx)
}

fn wrr_locality(any: &Any, depth: usize, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let message: WrrLocality = decode(&any.value, WRR_LOCALITY, at, cx)?;
    let at = at.value(WRR_LOCALITY);
    let at = at.field("endpoint_picking_policy");
    match &message.endpoint_picking_policy {
        Some(below) => list(below, depth + 1, &at, cx),
        None => {
            let why = format_args!("endpoint_picking_policy is missing, must be set");
            Err(reject(&LB_WRR_LOCALITY_WITHOUT_CHILD, &at, why, cx))
        }
    }
}

fn ring_hash(any: &Any, is_parsed: bool, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    const XX_HASH: i32 = 1;
    let message: RingHash = decode(&any.value, RING_HASH, at, cx)?;
    let at = at.value(RING_HASH);
    if message.hash_function != XX_HASH {
        let is_unset = message.hash_function == 0;
        let rule = if is_unset {
            &LB_RING_HASH_FUNCTION_UNSET
        } else {
            &LB_RING_HASH_FUNCTION
        };
        let why = format_args!("hash function is {}, must be XX_HASH", message.hash_function);
        return Err(reject(rule, &at.field("hash_function"), why, cx));
    }
    for (field, size) in [
        ("minimum_ring_size", message.minimum_ring_size),
        ("maximum_ring_size", message.maximum_ring_size),
    ] {
        if size.is_some() {
            let why = "a ring size is set, and the policy wants a number where it gets a text";
            unparsable(&RING_SIZE_SET, why, is_parsed, &at.field(field), cx)?;
        }
    }
    if !is_parsed {
        let why = format_args!("ring_hash below weighted localities never connects: RPCs wait for ever");
        cx.report_if_accepted(&LB_RING_HASH_BELOW_LOCALITIES, &at, why);
    }
    Ok(())
}

/// Converts a TypedStruct, which is skipped if it names no registered policy.
fn typed_struct(any: &Any, is_parsed: bool, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked<bool> {
    let Some(wrapper) = TYPED_STRUCTS.into_iter().find(|name| is_url_of(&any.type_url, name)) else {
        return Ok(false);
    };
    let message: TypedStruct = decode(&any.value, wrapper, at, cx)?;
    let at = at.value(wrapper);
    let at = at.field("value");
    let Some(config) = &message.value else {
        let why = format_args!("value is missing, must be set");
        return Err(reject(&TYPED_STRUCT_WITHOUT_VALUE, &at, why, cx));
    };
    let name = message.type_url.rsplit('/').next().unwrap_or_default();
    if !lb_json::is_registered(name, cx.profile()) {
        return Ok(false);
    }
    if lb_json::has_value_without_kind(config) {
        let why = format_args!("a value in it has no kind");
        return Err(reject(&TYPED_STRUCT_NOT_JSON, &at, why, cx));
    }
    if is_parsed && lb_json::has_unknown_priority(name, config) {
        let why =
            format_args!("priorities names a child that is not there: it is accepted, and the process dies of it");
        cx.report_if_accepted(&LB_PRIORITY_UNKNOWN, &at, why);
    }
    if let Err(fault) = lb_json::parse(name, config, cx.profile()) {
        let why = format!("the policy's own parser rejects the config of `{name}`: {fault}");
        unparsable(&LB_CONFIG_REJECTED, &why, is_parsed, &at, cx)?;
    }
    Ok(true)
}

/// Reports a config that its policy's parser rejects. Below a WrrLocality the config is only parsed
/// when there are endpoints, and nobody catches the exception then.
fn unparsable(rule: &'static Rule, why: &str, is_parsed: bool, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    if is_parsed {
        return Err(reject(rule, at, format_args!("{why}"), cx));
    }
    let why = format_args!("{why}; it is accepted, and the process dies when there are endpoints");
    cx.report_if_accepted(rule, at, why);
    Ok(())
}
