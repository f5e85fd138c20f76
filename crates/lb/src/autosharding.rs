//! autosharding: the value of a header picks the shard. The client registers the policy, but a
//! cluster's config cannot give it a sharding service to ask.

use serde_json::{Map, Value, json};
pub use xdsctl_model::resource::lb_policy::AutoshardingConfig;

use super::done;
use super::json::{self, ConfigPlace, Faults};
use xdsctl_model::diag::rules;
use xdsctl_model::profile::Profile;
use xdsctl_model::resource::Millis;

rules! {
    /// The timeout for the first assignment of shards is 0.
    LB_AUTOSHARDING_TIMEOUT_ZERO = "lb-autosharding-timeout-zero", Lb, Nack, "C-core AutoShardingLbConfig::JsonPostLoad";
}

/// The name under which gRPC registers the policy, and which configs use.
pub const NAME: &str = "autosharding_experimental";

/// The default of `initialAssignmentTimeout` (C-core autosharding.h).
pub const DEFAULT_INITIAL_ASSIGNMENT_TIMEOUT: Millis = Millis(60_000);

/// Reads the JSON config.
///
/// # Errors
/// Fails if a text is missing or empty, or the timeout is below 1 ms.
pub fn from_json(config: &Map<String, Value>, _profile: &Profile) -> Result<AutoshardingConfig, Faults> {
    let mut faults = Faults::new();
    let at = ConfigPlace::TOP;
    let channel_factory_key = filled_text(config, "channelFactoryKey", &mut faults);
    let autosharding_target = filled_text(config, "autoshardingTarget", &mut faults);
    let key_header_name = filled_text(config, "keyHeaderName", &mut faults);
    let enable_fallback = json::optional_bool(config, "enableFallback", &at, &mut faults);
    let initial_assignment_timeout = json::optional_duration(
        config,
        "initialAssignmentTimeout",
        DEFAULT_INITIAL_ASSIGNMENT_TIMEOUT,
        &at,
        &mut faults,
    );
    if initial_assignment_timeout.0 <= 0 {
        at.field("initialAssignmentTimeout").fault(
            &LB_AUTOSHARDING_TIMEOUT_ZERO,
            format_args!("timeout is {initial_assignment_timeout}, must be at least 0.001s"),
            &mut faults,
        );
    }
    let config = AutoshardingConfig {
        channel_factory_key,
        autosharding_target,
        key_header_name,
        enable_fallback,
        initial_assignment_timeout,
    };
    done(config, faults)
}

fn filled_text(config: &Map<String, Value>, name: &str, faults: &mut Faults) -> String {
    let text = json::required_text(config, name, &ConfigPlace::TOP, faults);
    if text == Some("") {
        json::empty(&ConfigPlace::TOP.field(name), faults);
    }
    text.unwrap_or_default().to_owned()
}

/// Writes the config as the client does.
pub fn to_json(config: &AutoshardingConfig) -> Value {
    json!({
        "channelFactoryKey": config.channel_factory_key,
        "autoshardingTarget": config.autosharding_target,
        "keyHeaderName": config.key_header_name,
        "enableFallback": config.enable_fallback,
        "initialAssignmentTimeout": json::duration_to_json(config.initial_assignment_timeout),
    })
}
