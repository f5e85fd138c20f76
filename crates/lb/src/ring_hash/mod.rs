//! ring_hash: an RPC's hash picks the endpoint on a ring (A42, A76).

mod by_key;
mod machine;
mod order;
mod ring;
mod sockets;
mod ways;

pub use machine::RingHashPolicy;
pub use ring::{Ring, RingEntry, Size, hash};
pub use ways::{RingMember, RingWays};
pub use xdsctl_model::resource::lb_policy::{DEFAULT_MAX_RING_SIZE, DEFAULT_MIN_RING_SIZE, RingHashConfig};

use serde_json::{Map, Value, json};

use super::done;
use super::json::{self, ConfigPlace, Faults, LoadedNumber};
use super::xds::PolicyEntry;
use xdsctl_document::proto::pb::envoy::extensions::load_balancing_policies::ring_hash::v3 as pb;
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::profile::{Feature, Profile};

rules! {
    /// A ring size is 0 or above 8,388,608.
    LB_RING_HASH_SIZE = "lb-ring-hash-size", Lb, Nack, "gRFC A42; C-core RingHashLbPolicyConfigFactory, RingHashLbConfig::JsonPostLoad";
    /// The minimum ring size is above the maximum.
    LB_RING_HASH_MIN_ABOVE_MAX = "lb-ring-hash-min-above-max", Lb, Nack, "gRFC A42; C-core RingHashLbPolicyConfigFactory, RingHashLbConfig::JsonPostLoad";
    /// The hash function of a ring is not XX_HASH.
    LB_RING_HASH_FUNCTION = "lb-ring-hash-function", Lb, Nack, "gRFC A42; C-core RingHashLbPolicyConfigFactory";
    /// The hash function of a ring is not set, which other clients reject.
    LB_RING_HASH_FUNCTION_UNSET = "lb-ring-hash-function-unset", Lb, Spec, "gRFC A52; C-core RingHashLbPolicyConfigFactory; grpc-go converter.go convertRingHashProtoToServiceConfig, grpc-java LoadBalancerConfigFactory";
    /// The minimum ring size is above what the client builds.
    LB_RING_HASH_CAPPED = "lb-ring-hash-capped", Lb, Advice, "gRFC A42; C-core ring_hash.cc kRingSizeCapDefault",
        also [Go Java Node] "all cap a ring at 4096 entries (A42)";
}

/// The name under which gRPC registers the policy, and which configs use.
pub const NAME: &str = "ring_hash_experimental";

/// The largest ring size that a config may have (C-core ring_hash.cc,
/// xds_bootstrap_grpc_builder.cc).
pub const MAX_RING_SIZE: u64 = 8_388_608;

/// The value to which the client caps both sizes when it builds a ring
/// (`grpc.lb.ring_hash.ring_size_cap`).
pub const RING_SIZE_CAP: u64 = 4096;

pub(crate) fn from_proto(entry: &mut PolicyEntry<'_, '_>, cx: &mut Validation<'_>) -> Option<Value> {
    let message: pb::RingHash = entry.decode(cx)?;
    let at = entry.at;
    check_hash_function(message.hash_function, &at.field("hash_function"), cx);
    let max = message.maximum_ring_size.unwrap_or(MAX_RING_SIZE);
    let min = message.minimum_ring_size.unwrap_or(DEFAULT_MIN_RING_SIZE);
    check_size(max, &at.field("maximum_ring_size"), cx);
    let at_min = at.field("minimum_ring_size");
    check_size(min, &at_min, cx);
    if min > max {
        let origin = if message.minimum_ring_size.is_none() {
            ", which is the default,"
        } else {
            ""
        };
        cx.report(
            &LB_RING_HASH_MIN_ABOVE_MAX,
            &at_min,
            format_args!("minimum ring size {min}{origin} is above the maximum {max}"),
        );
    } else if min > RING_SIZE_CAP && min <= MAX_RING_SIZE {
        cx.report(
            &LB_RING_HASH_CAPPED,
            &at_min,
            format_args!("minimum ring size is {min}, the client builds at most {RING_SIZE_CAP} entries"),
        );
    }
    Some(sizes_to_json(min, max))
}

fn check_hash_function(hash_function: i32, at: &Path<'_>, cx: &mut Validation<'_>) {
    use pb::ring_hash::HashFunction;
    match HashFunction::try_from(hash_function) {
        Ok(HashFunction::XxHash) => {}
        Ok(HashFunction::DefaultHash) => {
            cx.report(
                &LB_RING_HASH_FUNCTION_UNSET,
                at,
                format_args!("hash function is not set, must be XX_HASH for clients other than C-core"),
            );
        }
        Ok(HashFunction::MurmurHash2) | Err(_) => {
            cx.report(
                &LB_RING_HASH_FUNCTION,
                at,
                format_args!("hash function is {hash_function}, must be XX_HASH"),
            );
        }
    }
}

fn check_size(size: u64, at: &Path<'_>, cx: &mut Validation<'_>) {
    if !(1..=MAX_RING_SIZE).contains(&size) {
        cx.report(
            &LB_RING_HASH_SIZE,
            at,
            format_args!("ring size is {size}, must be 1 to {MAX_RING_SIZE}"),
        );
    }
}

/// Writes the JSON that the client generates from xDS.
pub fn sizes_to_json(min: u64, max: u64) -> Value {
    json!({ "minRingSize": min, "maxRingSize": max })
}

/// Reads the JSON config.
///
/// # Errors
/// Fails if a size is out of range, or the minimum is above the maximum. `requestHashHeader` is
/// read only with its switch on.
pub fn from_json(config: &Map<String, Value>, profile: &Profile) -> Result<RingHashConfig, Faults> {
    let mut faults = Faults::new();
    let at = ConfigPlace::TOP;
    let min = size(config, "minRingSize", DEFAULT_MIN_RING_SIZE, &mut faults);
    let max = size(config, "maxRingSize", DEFAULT_MAX_RING_SIZE, &mut faults);
    let mut request_hash_header = String::new();
    if profile.has(Feature::RingHashSetRequestHashKey)
        && let Some(value) = json::optional(config, "requestHashHeader")
        && let Some(text) = json::text(value, &at.field("requestHashHeader"), &mut faults)
    {
        text.clone_into(&mut request_hash_header);
    }
    for (name, loaded) in [("minRingSize", min), ("maxRingSize", max)] {
        if loaded.sound && !(1..=MAX_RING_SIZE).contains(&loaded.value) {
            at.field(name).fault(
                &LB_RING_HASH_SIZE,
                format_args!("ring size is {}, must be 1 to {MAX_RING_SIZE}", loaded.value),
                &mut faults,
            );
        }
    }
    // The client also compares what is left of sizes that it could not read.
    if min.value > max.value {
        at.fault(
            &LB_RING_HASH_MIN_ABOVE_MAX,
            format_args!("minimum ring size {} is above the maximum {}", min.value, max.value),
            &mut faults,
        );
    }
    let config = RingHashConfig {
        min_ring_size: min.value,
        max_ring_size: max.value,
        request_hash_header,
    };
    done(config, faults)
}

fn size(config: &Map<String, Value>, name: &str, default: u64, faults: &mut Faults) -> LoadedNumber<u64> {
    match json::optional(config, name) {
        Some(value) => json::unsigned(value, u64::MAX, default, &ConfigPlace::TOP.field(name), faults),
        None => LoadedNumber::default(default),
    }
}

/// Writes the config as the client does.
pub fn to_json(config: &RingHashConfig) -> Value {
    let mut written = sizes_to_json(config.min_ring_size, config.max_ring_size);
    if !config.request_hash_header.is_empty() {
        written["requestHashHeader"] = config.request_hash_header.as_str().into();
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(config: &Value) -> Vec<String> {
        match from_json(config.as_object().unwrap(), &Profile::default()) {
            Ok(_) => Vec::new(),
            Err(faults) => faults.into_iter().map(|f| f.path).collect(),
        }
    }

    #[test]
    fn sizes_are_1_to_8388608_and_in_order() {
        for (min, max, wanted) in [
            (1, 8_388_608, vec![]),
            (0, 8_388_608, vec!["minRingSize"]),
            (1, 8_388_609, vec!["maxRingSize"]),
            (1025, 1024, vec![""]),
            (1024, 1024, vec![]),
        ] {
            assert_eq!(paths(&json!({"minRingSize": min, "maxRingSize": max})), wanted);
        }
    }

    #[test]
    fn a_size_that_cannot_be_read_is_compared_as_far_as_it_was_read() {
        assert_eq!(paths(&json!({"minRingSize": "9999999x"})), ["minRingSize", ""]);
        assert_eq!(paths(&json!({"minRingSize": "x"})), ["minRingSize"]);
        assert_eq!(paths(&json!({"maxRingSize": "x"})), ["maxRingSize", ""]);
        assert_eq!(paths(&json!({"minRingSize": true})), ["minRingSize"]);
    }

    #[test]
    fn json_defaults_are_1024_and_4096() {
        let config = from_json(&Map::new(), &Profile::default()).unwrap();
        assert_eq!(config, RingHashConfig::default());
        assert_eq!(to_json(&config), json!({"minRingSize": 1024, "maxRingSize": 4096}));
    }
}
