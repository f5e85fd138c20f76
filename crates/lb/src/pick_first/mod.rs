//! pick_first: the first address that connects gets all RPCs (A61, A62).

mod interleave;
mod machine;

pub use machine::PickFirstPolicy;
pub use xdsctl_model::resource::lb_policy::PickFirstConfig;

use serde_json::{Map, Value, json};

use super::done;
use super::json::{self, ConfigPlace, Faults};
use super::xds::PolicyEntry;
use xdsctl_document::proto::pb::envoy::extensions::load_balancing_policies::pick_first::v3::PickFirst;
use xdsctl_model::diag::Validation;
use xdsctl_model::profile::{Feature, Profile};

/// The delay between attempts of one pass (`grpc.happy_eyeballs_connection_attempt_delay_ms`, from
/// 100 to 2000).
pub const DEFAULT_ATTEMPT_DELAY_MS: i64 = 250;

/// The name under which gRPC registers the policy, and which configs use.
pub const NAME: &str = "pick_first";

pub(crate) fn from_proto(entry: &mut PolicyEntry<'_, '_>, cx: &mut Validation<'_>) -> Option<Value> {
    let message: PickFirst = entry.decode(cx)?;
    let config = PickFirstConfig {
        shuffle_address_list: message.shuffle_address_list,
    };
    Some(to_json(&config))
}

/// Reads the JSON config.
///
/// # Errors
/// Fails if `shuffleAddressList` is not a boolean.
pub fn from_json(config: &Map<String, Value>, profile: &Profile) -> Result<PickFirstConfig, Faults> {
    if !profile.has(Feature::PickFirstJson) {
        return Ok(PickFirstConfig::default());
    }
    let mut faults = Faults::new();
    let shuffle_address_list = json::optional_bool(config, "shuffleAddressList", &ConfigPlace::TOP, &mut faults);
    done(PickFirstConfig { shuffle_address_list }, faults)
}

/// Writes the config as the client does.
pub fn to_json(config: &PickFirstConfig) -> Value {
    json!({ "shuffleAddressList": config.shuffle_address_list })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffling_must_be_a_boolean_and_may_be_null() {
        let read = |value: Value| {
            let config = json!({ "shuffleAddressList": value });
            from_json(config.as_object().unwrap(), &Profile::default())
        };
        assert_eq!(read(json!(true)).map(|c| c.shuffle_address_list), Ok(true));
        assert_eq!(read(Value::Null).map(|c| c.shuffle_address_list), Ok(false));
        assert_eq!(read(json!("true")).unwrap_err()[0].path, "shuffleAddressList");
    }
}
