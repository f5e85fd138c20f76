//! autosharding: a header's value picks the shard. Registered in this client; nothing in a cluster's config can feed it.

use serde_json::{Map, Value, json};

use super::json::{self, At, Faults, LB_JSON_EMPTY};
use super::{PolicyType, done};
use xdsctl_model::diag::rules;
use xdsctl_model::profile::Profile;
use xdsctl_model::resource::Millis;

rules! {
    /// The timeout for the first assignment of shards is 0.
    LB_AUTOSHARDING_TIMEOUT_ZERO = "lb-autosharding-timeout-zero", Lb, Nack, "C-core AutoShardingLbConfig::JsonPostLoad";
}

/// The registered name.
pub const NAME: &str = "autosharding_experimental";

/// `initialAssignmentTimeout` where the config has none (C-core autosharding.h).
pub const DEFAULT_INITIAL_ASSIGNMENT_TIMEOUT: Millis = Millis(60_000);

/// The policy's place in the registry.
pub static TYPE: PolicyType = PolicyType {
    name: NAME,
    message: None,
    from_json: |config, profile| from_json(config, profile).map(super::LbConfig::Autosharding),
    machine: |at, _| Box::new(super::run::unsimulated::UnsimulatedPolicy::new(at)),
};

/// The config of autosharding (C-core autosharding.h `AutoShardingLbConfig`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AutoshardingConfig {
    /// Not empty.
    pub channel_factory_key: String,
    /// Not empty.
    pub autosharding_target: String,
    /// The header with the key; not empty.
    pub key_header_name: String,
    /// Default false.
    pub enable_fallback: bool,
    /// At least 1 ms; default [`DEFAULT_INITIAL_ASSIGNMENT_TIMEOUT`].
    pub initial_assignment_timeout: Millis,
}

/// Reads the JSON config.
///
/// # Errors
/// Missing or empty texts, a timeout below 1 ms.
pub fn from_json(config: &Map<String, Value>, _profile: &Profile) -> Result<AutoshardingConfig, Faults> {
    let mut faults = Faults::new();
    let at = At::TOP;
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
    let text = json::required_text(config, name, &At::TOP, faults);
    if text == Some("") {
        At::TOP
            .field(name)
            .fault(&LB_JSON_EMPTY, format_args!("is empty, must not be"), faults);
    }
    text.unwrap_or_default().to_owned()
}

impl AutoshardingConfig {
    /// The config in the client's form.
    pub fn to_json(&self) -> Value {
        json!({
            "channelFactoryKey": self.channel_factory_key,
            "autoshardingTarget": self.autosharding_target,
            "keyHeaderName": self.key_header_name,
            "enableFallback": self.enable_fallback,
            "initialAssignmentTimeout": json::duration_to_json(self.initial_assignment_timeout),
        })
    }
}
