//! least_request: draws some endpoints at random, and picks the one with the fewest RPCs in flight
//! (A48). C-core does not have it.

mod machine;

pub use machine::LeastRequestPolicy;
pub use xdsctl_model::resource::lb_policy::LeastRequestConfig;

use serde_json::{Map, Value, json};

use super::done;
use super::json::{self, ConfigPlace, Faults};
use xdsctl_model::profile::Profile;

/// The name under which gRPC registers the policy, and which configs use.
pub const NAME: &str = "least_request_experimental";

/// Reads the JSON config.
///
/// # Errors
/// Fails if `choiceCount` is not a whole number.
pub fn from_json(config: &Map<String, Value>, _profile: &Profile) -> Result<LeastRequestConfig, Faults> {
    let mut faults = Faults::new();
    let default = LeastRequestConfig::default().choice_count;
    let choice_count = match json::optional(config, "choiceCount") {
        Some(value) => {
            let at = ConfigPlace::TOP.field("choiceCount");
            let read = json::unsigned(value, u32::MAX.into(), default.into(), &at, &mut faults);
            u32::try_from(read.value)
                .unwrap_or(default)
                .min(LeastRequestConfig::MAX_CHOICES)
        }
        None => default,
    };
    done(LeastRequestConfig { choice_count }, faults)
}

/// Writes the config as the client does.
pub fn to_json(config: &LeastRequestConfig) -> Value {
    json!({ "choiceCount": config.choice_count })
}
