//! weighted_target: each RPC goes to one of several children, at random by fixed weights (A28,
//! A56).

mod machine;

pub use machine::WeightedTargetPolicy;
pub use xdsctl_model::resource::lb_policy::{WeightedChild, WeightedTargetConfig};

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::json::{self, ConfigPlace, Faults};
use super::{child, done};
use xdsctl_model::diag::rules;
use xdsctl_model::profile::Profile;

rules! {
    /// A target has weight 0, on which the client's process aborts.
    LB_WEIGHTED_TARGET_ZERO = "lb-weighted-target-zero", Lb, Fails, "C-core weighted_target.cc; seen in the client";
}

/// The name under which gRPC registers the policy, and which configs use.
pub const NAME: &str = "weighted_target_experimental";

/// Reads the JSON config.
///
/// # Errors
/// Fails if `targets` is missing, or a target has no weight or a rejected policy.
pub fn from_json(config: &Map<String, Value>, profile: &Profile) -> Result<WeightedTargetConfig, Faults> {
    let mut faults = Faults::new();
    let at = ConfigPlace::TOP;
    let at_targets = at.field("targets");
    let listed = json::required(config, "targets", &at, &mut faults)
        .and_then(|value| json::object(value, &at_targets, &mut faults));
    let mut targets = BTreeMap::new();
    for (name, value) in listed.into_iter().flatten() {
        if let Some(target) = read_target(value, &at_targets.key(name), profile, &mut faults) {
            targets.insert(name.clone(), target);
        }
    }
    done(WeightedTargetConfig { targets }, faults)
}

fn read_target(value: &Value, at: &ConfigPlace<'_>, profile: &Profile, faults: &mut Faults) -> Option<WeightedChild> {
    let map = json::object(value, at, faults)?;
    let weight =
        json::required(map, "weight", at, faults).map(|value| json::u32_of(value, 0, &at.field("weight"), faults));
    let child_policy = child(map, "childPolicy", at, profile, faults)?;
    Some(WeightedChild {
        weight: weight?.value,
        child_policy,
    })
}

/// Writes the config as the client does.
pub fn to_json(config: &WeightedTargetConfig) -> Value {
    let targets: Map<String, Value> = config
        .targets
        .iter()
        .map(|(name, target)| {
            let value = json!({ "weight": target.weight, "childPolicy": super::to_json(&target.child_policy) });
            (name.clone(), value)
        })
        .collect();
    json!({ "targets": targets })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weight_and_policy_of_a_target_are_both_looked_at() {
        let config = json!({"targets": {
            "a": {"childPolicy": [{"round_robin": {}}]},
            "b": {"weight": 4_294_967_296_u64},
            "c": 3,
            "d": {"weight": 0, "childPolicy": [{"round_robin": {}}]},
        }});
        let faults = from_json(config.as_object().unwrap(), &Profile::default()).unwrap_err();
        let paths: Vec<_> = faults.iter().map(|f| f.path.as_str()).collect();
        assert_eq!(
            paths,
            [
                "targets[\"a\"].weight",
                "targets[\"b\"].weight",
                "targets[\"b\"].childPolicy",
                "targets[\"c\"]"
            ]
        );
    }
}
