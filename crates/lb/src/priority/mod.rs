//! priority: the first child that works gets all RPCs (A56).

mod machine;
mod places;

pub use machine::PriorityPolicy;
pub use xdsctl_model::resource::lb_policy::{PriorityChild, PriorityConfig};

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::json::{self, ConfigPlace, Faults};
use super::{child, done};
use xdsctl_model::diag::rules;
use xdsctl_model::profile::Profile;

rules! {
    /// A priority names no child.
    LB_PRIORITY_UNKNOWN = "lb-priority-unknown", Lb, Nack, "gRFC A56; C-core PriorityLbConfig::JsonPostLoad";
}

/// How long a child may take to connect before the next one is tried
/// (`grpc.priority_failover_timeout_ms`).
pub const DEFAULT_FAILOVER_MS: i64 = 10_000;

/// The name under which gRPC registers the policy, and which configs use.
pub const NAME: &str = "priority_experimental";

/// Reads the JSON config.
///
/// # Errors
/// Fails if a child is missing or rejected, or a priority names no child.
pub fn from_json(config: &Map<String, Value>, profile: &Profile) -> Result<PriorityConfig, Faults> {
    let mut faults = Faults::new();
    let at = ConfigPlace::TOP;
    let listed = json::required(config, "children", &at, &mut faults)
        .and_then(|value| json::object(value, &at.field("children"), &mut faults));
    let at_children = at.field("children");
    let mut children = BTreeMap::new();
    for (name, value) in listed.into_iter().flatten() {
        if let Some(child) = read_child(value, &at_children.key(name), profile, &mut faults) {
            children.insert(name.clone(), child);
        }
    }
    let at_priorities = at.field("priorities");
    let names = json::required(config, "priorities", &at, &mut faults)
        .and_then(|value| json::list(value, &at_priorities, &mut faults))
        .unwrap_or_default();
    let mut priorities = Vec::with_capacity(names.len());
    let mut unknown = BTreeSet::new();
    for (i, name) in names.iter().enumerate() {
        // A name that is not a text is read as empty, and the empty name is looked up like any
        // other.
        let name = json::text(name, &at_priorities.index(i), &mut faults).unwrap_or_default();
        if !listed.is_some_and(|children| children.contains_key(name)) {
            unknown.insert(name);
        }
        priorities.push(name.to_owned());
    }
    if !unknown.is_empty() {
        let names = unknown.into_iter().collect::<Vec<_>>().join("`, `");
        at.fault(
            &LB_PRIORITY_UNKNOWN,
            format_args!("priorities name children that are not there: `{names}`"),
            &mut faults,
        );
    }
    done(PriorityConfig { children, priorities }, faults)
}

fn read_child(value: &Value, at: &ConfigPlace<'_>, profile: &Profile, faults: &mut Faults) -> Option<PriorityChild> {
    let map = json::object(value, at, faults)?;
    let ignore_reresolution_requests = json::optional_bool(map, "ignore_reresolution_requests", at, faults);
    let config = child(map, "config", at, profile, faults)?;
    Some(PriorityChild {
        config,
        ignore_reresolution_requests,
    })
}

/// Writes the config as the client does.
pub fn to_json(config: &PriorityConfig) -> Value {
    let children: Map<String, Value> = config
        .children
        .iter()
        .map(|(name, child)| {
            let value = json!({
                "config": super::to_json(&child.config),
                "ignore_reresolution_requests": child.ignore_reresolution_requests,
            });
            (name.clone(), value)
        })
        .collect();
    json!({ "children": children, "priorities": config.priorities })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_priority_needs_a_child() {
        let config = json!({
            "children": {"a": {"config": [{"round_robin": {}}]}, "b": {"config": []}},
            "priorities": ["a", "b", "c", 5],
        });
        let faults = from_json(config.as_object().unwrap(), &Profile::default()).unwrap_err();
        let paths: Vec<_> = faults.iter().map(|f| f.path.as_str()).collect();
        assert_eq!(paths, ["children[\"b\"].config", "priorities[3]", ""]);
        assert_eq!(
            faults[2].message,
            "priorities name children that are not there: ``, `c`"
        );
    }
}
