//! The LB policy of a cluster: `load_balancing_policy` (A52), or else the `lb_policy` enum (A27,
//! A42).
//!
//! Follows C-core `ParseLbPolicyConfig` (xds_cluster_parser.cc). With `load_balancing_policy`
//! present the enum and its configs are not read at all. An aggregate cluster must have a valid
//! policy too, though its leaves use their own (A75).

use std::sync::{Arc, LazyLock};

use serde_json::json;

use crate::shared::rules::LB_POLICY_UNSUPPORTED;
use xdsctl_document::proto::pb::envoy::config::cluster::v3::Cluster as Pb;
use xdsctl_document::proto::pb::envoy::config::cluster::v3::cluster::{LbConfig as PbConfig, LbPolicy as PbPolicy};
use xdsctl_document::proto::pb::envoy::config::cluster::v3::cluster::{
    RingHashLbConfig, ring_hash_lb_config::HashFunction,
};
use xdsctl_lb::json::words;
use xdsctl_lb::ring_hash::{
    DEFAULT_MIN_RING_SIZE, LB_RING_HASH_CAPPED, LB_RING_HASH_FUNCTION, LB_RING_HASH_MIN_ABOVE_MAX, LB_RING_HASH_SIZE,
    MAX_RING_SIZE, RING_SIZE_CAP,
};
use xdsctl_lb::usable::Owner;
use xdsctl_lb::{parse_list, xds};
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::lb_policy::{LbConfig, LbPolicy, RingHashConfig, RoundRobinConfig, WrrLocalityConfig};

rules! {
    /// maximum_ring_size is below the default of an absent minimum_ring_size, so the LB policy rejects its config and RPCs fail.
    RING_MAXIMUM_BELOW_DEFAULT = "cds-ring-maximum-below-default", Cluster, Fails, "gRFC A42; C-core ParseLbPolicyConfig, ring_hash.cc";
    /// The lb_policy enum or its config is not read, because the cluster's policy is given elsewhere.
    LB_POLICY_SUPERSEDED = "cds-lb-policy-superseded", Cluster, Ignored, "gRFC A52; C-core ParseLbPolicyConfig",
        also [Go Java Node] "all take load_balancing_policy before lb_policy";
}

/// Returns the policy of a cluster that sets none, and of one with `lb_policy: ROUND_ROBIN`.
pub fn default_policy() -> &'static Arc<LbPolicy> {
    static DEFAULT: LazyLock<Arc<LbPolicy>> = LazyLock::new(|| {
        let child_policy = Box::new(LbConfig::RoundRobin(RoundRobinConfig {}));
        Arc::new(LbPolicy {
            config: LbConfig::WrrLocality(WrrLocalityConfig { child_policy }),
            refusal: None,
            json: json!([{"xds_wrr_locality_experimental": {"childPolicy": [{"round_robin": {}}]}}]),
        })
    });
    &DEFAULT
}

/// Converts the cluster's LB policy.
///
/// Reports the rules of [`xdsctl_lb::xds`](xdsctl_lb::xds) at `load_balancing_policy`, or
/// [`LB_POLICY_UNSUPPORTED`] at `lb_policy` and those of
/// [`xdsctl_lb::ring_hash`](xdsctl_lb::ring_hash) below `ring_hash_lb_config`.
pub(super) fn lb_policy(message: &Pb, aggregate: bool, cx: &mut Validation<'_>) -> Option<Arc<LbPolicy>> {
    let list = message.load_balancing_policy.as_ref();
    if let Some(policy) = list.filter(|_| cx.has(Feature::CustomLbConfig)) {
        superseded(message, cx);
        let owner = match (aggregate, cx.has(Feature::AggregateClusterBackwardCompat)) {
            (false, _) => Owner::Leaf(&message.name),
            (true, false) => Owner::Unused,
            // The policy goes to leaves that are not known here.
            (true, true) => Owner::Unknown,
        };
        return xds::from_proto(policy, &owner, &Path::ROOT.field("load_balancing_policy"), cx);
    }
    let ring_hash = match &message.lb_config {
        Some(PbConfig::RingHashLbConfig(config)) => Some(config),
        Some(_) | None => None,
    };
    match PbPolicy::try_from(message.lb_policy) {
        Ok(PbPolicy::RoundRobin) => {
            unread_lb_config(message.lb_config.as_ref(), cx);
            Some(default_policy().clone())
        }
        Ok(PbPolicy::RingHash) => {
            if ring_hash.is_none() {
                unread_lb_config(message.lb_config.as_ref(), cx);
            }
            // The leaves of an aggregate have policies of their own, unless the old behaviour is
            // switched on.
            let used = !aggregate || cx.has(Feature::AggregateClusterBackwardCompat);
            Some(Arc::new(ring_hash_policy(ring_hash, used, cx)))
        }
        other => {
            cx.report(
                &LB_POLICY_UNSUPPORTED,
                &Path::ROOT.field("lb_policy"),
                format_args!(
                    "lb_policy {} ({}) is not supported, must be ROUND_ROBIN or RING_HASH",
                    message.lb_policy,
                    other.map_or("an unknown number", |p| p.as_str_name())
                ),
            )
            .help(match other {
                Ok(PbPolicy::ClusterProvided) if aggregate => {
                    "leave lb_policy out: the clusters of the aggregate have LB policies of their own"
                }
                Ok(PbPolicy::LeastRequest) => {
                    "set ROUND_ROBIN, or load_balancing_policy with LeastRequest first, for the clients that have it, and RoundRobin after it"
                }
                _ => "set load_balancing_policy, beside which lb_policy is not read",
            });
            None
        }
    }
}

/// Reports the enum and its config beside `load_balancing_policy`.
fn superseded(message: &Pb, cx: &mut Validation<'_>) {
    let is_set = message.lb_policy != PbPolicy::RoundRobin as i32;
    // Clients are told apart only where there is something to report.
    let is_any = is_set || message.lb_config.is_some();
    if !is_any || !cx.of_reader(|reader| reader.has(Feature::CustomLbConfig)) {
        return;
    }
    if is_set {
        cx.report(
            &LB_POLICY_SUPERSEDED,
            &Path::ROOT.field("lb_policy"),
            format_args!("not read, load_balancing_policy is set"),
        );
    }
    unread_lb_config(message.lb_config.as_ref(), cx);
}

/// Reports an LB config that does not belong to the policy in use.
fn unread_lb_config(config: Option<&PbConfig>, cx: &mut Validation<'_>) {
    let field = match config {
        Some(PbConfig::RingHashLbConfig(_)) => "ring_hash_lb_config",
        Some(PbConfig::MaglevLbConfig(_)) => "maglev_lb_config",
        Some(PbConfig::OriginalDstLbConfig(_)) => "original_dst_lb_config",
        Some(PbConfig::LeastRequestLbConfig(_)) => "least_request_lb_config",
        Some(PbConfig::RoundRobinLbConfig(_)) => "round_robin_lb_config",
        None => return,
    };
    cx.report(
        &LB_POLICY_SUPERSEDED,
        &Path::ROOT.field(field),
        format_args!("not read, it does not belong to the LB policy in use"),
    );
}

/// Converts RING_HASH; `used` says whether the client creates an LB policy from the config.
fn ring_hash_policy(config: Option<&RingHashLbConfig>, used: bool, cx: &mut Validation<'_>) -> LbPolicy {
    let at = Path::ROOT.field("ring_hash_lb_config");
    let (minimum, maximum) = config.map_or((None, None), |c| (c.minimum_ring_size, c.maximum_ring_size));
    ring_size(maximum, "maximum_ring_size", &at, cx);
    ring_size(minimum, "minimum_ring_size", &at, cx);
    let max = maximum.unwrap_or(MAX_RING_SIZE);
    let min = minimum.unwrap_or(DEFAULT_MIN_RING_SIZE);
    if min > max {
        report_reversed(minimum.is_some(), min, max, used, &at, cx);
    } else if min > RING_SIZE_CAP && min <= MAX_RING_SIZE && used {
        cx.report(
            &LB_RING_HASH_CAPPED,
            &at.field("minimum_ring_size"),
            format_args!("minimum_ring_size is {min}, the ring is capped to {RING_SIZE_CAP} entries"),
        );
    }
    let function = config.map_or(HashFunction::XxHash as i32, |config| config.hash_function);
    let (is_xx_hash, function_at) = (function == HashFunction::XxHash as i32, at.field("hash_function"));
    let why = format_args!("hash_function is {function}, must be XX_HASH (0)");
    cx.check(is_xx_hash, &LB_RING_HASH_FUNCTION, &function_at, why);
    let json = json!([{"ring_hash_experimental": {"minRingSize": min, "maxRingSize": max}}]);
    LbPolicy {
        config: LbConfig::RingHash(RingHashConfig {
            min_ring_size: min,
            max_ring_size: max,
            ..RingHashConfig::default()
        }),
        refusal: parse_list(&json, cx.profile()).err().map(|faults| words(&faults)),
        json,
    }
}

fn ring_size(size: Option<u64>, field: &str, at: &Path<'_>, cx: &mut Validation<'_>) {
    let Some(size) = size else { return };
    let why = format_args!("{field} is {size}, must be 1 to {MAX_RING_SIZE}");
    let is_valid = (1..=MAX_RING_SIZE).contains(&size);
    cx.check(is_valid, &LB_RING_HASH_SIZE, &at.field(field), why);
}

/// Reports a minimum above the maximum, which the client notices only if the minimum is set.
fn report_reversed(minimum_is_set: bool, min: u64, max: u64, used: bool, at: &Path<'_>, cx: &mut Validation<'_>) {
    if minimum_is_set {
        cx.report(
            &LB_RING_HASH_MIN_ABOVE_MAX,
            &at.field("minimum_ring_size"),
            format_args!("minimum_ring_size is {min}, must not be greater than maximum_ring_size, {max}"),
        );
    } else if used && max > 0 {
        cx.report(
            &RING_MAXIMUM_BELOW_DEFAULT,
            &at.field("maximum_ring_size"),
            format_args!(
                "maximum_ring_size is {max} and minimum_ring_size defaults to {min}: the ring_hash policy rejects this and RPCs fail with INTERNAL"
            ),
        )
        .help("set minimum_ring_size as well");
    }
}
