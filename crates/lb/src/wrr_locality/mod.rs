//! xds_wrr_locality: chooses the locality by weight, and lets the child policy choose in it (A52).
//!
//! At run time it generates a weighted_target with one target for each locality.

mod machine;

pub use machine::WrrLocalityPolicy;
pub use xdsctl_model::resource::lb_policy::WrrLocalityConfig;

use serde_json::{Map, Value, json};

use super::child;
use super::json::{ConfigPlace, Faults};
use super::xds::PolicyEntry;
use xdsctl_document::proto::pb::envoy::extensions::load_balancing_policies::wrr_locality::v3::WrrLocality;
use xdsctl_model::diag::{Validation, rules};
use xdsctl_model::profile::Profile;

rules! {
    /// A WrrLocality has no endpoint picking policy.
    LB_WRR_LOCALITY_WITHOUT_CHILD = "lb-wrr-locality-without-child", Lb, Nack, "gRFC A52; C-core WrrLocalityLbPolicyConfigFactory";
}

/// The name under which gRPC registers the policy, and which configs use.
pub const NAME: &str = "xds_wrr_locality_experimental";

pub(crate) fn from_proto(entry: &mut PolicyEntry<'_, '_>, cx: &mut Validation<'_>) -> Option<Value> {
    let message: WrrLocality = entry.decode(cx)?;
    let at = entry.at;
    let at = at.field("endpoint_picking_policy");
    let Some(policy) = message.endpoint_picking_policy.as_ref() else {
        cx.report(
            &LB_WRR_LOCALITY_WITHOUT_CHILD,
            &at,
            format_args!("missing, must name the policy that picks the endpoint in a locality"),
        );
        return None;
    };
    let child_policy = entry.convert_below(policy, &at, cx)?;
    Some(json!({ "childPolicy": child_policy }))
}

/// Reads the JSON config.
///
/// # Errors
/// Fails if `childPolicy` is missing or rejected.
pub fn from_json(config: &Map<String, Value>, profile: &Profile) -> Result<WrrLocalityConfig, Faults> {
    let mut faults = Faults::new();
    match child(config, "childPolicy", &ConfigPlace::TOP, profile, &mut faults) {
        Some(child_policy) => Ok(WrrLocalityConfig { child_policy }),
        None => Err(faults),
    }
}

/// Writes the config as the client does.
pub fn to_json(config: &WrrLocalityConfig) -> Value {
    json!({ "childPolicy": super::to_json(&config.child_policy) })
}
