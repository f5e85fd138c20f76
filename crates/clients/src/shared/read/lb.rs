//! The JSON that a client makes of `load_balancing_policy` (A52).

use serde_json::{Map, Value, json};

use super::FamilyReader;
use crate::shared::names::{LEAST_REQUEST, PICK_FIRST, RING_HASH, ROUND_ROBIN, WRR, WRR_LOCALITY};
use xdsctl_document::proto::any::{TYPED_STRUCTS, struct_to_json};
use xdsctl_document::proto::pb::Any;
use xdsctl_document::proto::pb::envoy::config::cluster::v3::LoadBalancingPolicy;
use xdsctl_document::proto::pb::envoy::extensions::load_balancing_policies::client_side_weighted_round_robin::v3::ClientSideWeightedRoundRobin;
use xdsctl_document::proto::pb::envoy::extensions::load_balancing_policies::least_request::v3::LeastRequest;
use xdsctl_document::proto::pb::envoy::extensions::load_balancing_policies::pick_first::v3::PickFirst;
use xdsctl_document::proto::pb::envoy::extensions::load_balancing_policies::ring_hash::v3::RingHash;
use xdsctl_document::proto::pb::envoy::extensions::load_balancing_policies::wrr_locality::v3::WrrLocality;
use xdsctl_document::proto::pb::xds::r#type::v3::TypedStruct;
use xdsctl_model::profile::Feature;

/// How many endpoints least_request compares by default.
pub(super) const CHOICES: u32 = 2;

impl FamilyReader<'_> {
    /// Returns a list with the first policy that the client has; empty if it has none.
    pub(super) fn policies(&self, list: &LoadBalancingPolicy) -> Value {
        let mut entries = list.policies.iter();
        let found = entries.find_map(|entry| {
            let any = entry.typed_extension_config.as_ref()?.typed_config.as_ref()?;
            self.policy(any)
        });
        match found {
            Some((name, config)) => json!([{ name: config }]),
            None => json!([]),
        }
    }

    /// Returns the name and config of an entry; `None` for a policy that the client does not have.
    fn policy(&self, any: &Any) -> Option<(String, Value)> {
        fn decoded<T: prost::Message + Default>(any: &Any) -> T {
            T::decode(any.value.clone()).unwrap_or_default()
        }
        let (name, config) = match any.type_url.rsplit('/').next()? {
            ROUND_ROBIN => ("round_robin", json!({})),
            PICK_FIRST if self.has(Feature::PickFirstMessage) => {
                let message: PickFirst = decoded(any);
                (
                    "pick_first",
                    json!({ "shuffleAddressList": message.shuffle_address_list }),
                )
            }
            RING_HASH => {
                let message: RingHash = decoded(any);
                (
                    "ring_hash_experimental",
                    self.ring(message.minimum_ring_size, message.maximum_ring_size),
                )
            }
            LEAST_REQUEST if self.dialect.reads_least_request || self.has(Feature::LeastRequest) => {
                let message: LeastRequest = decoded(any);
                let count = message.choice_count.filter(|count| *count > 0);
                (
                    "least_request_experimental",
                    json!({ "choiceCount": count.unwrap_or(CHOICES) }),
                )
            }
            WRR => (
                "weighted_round_robin",
                weighted_round_robin(&decoded(any), &self.dialect.weighted_round_robin),
            ),
            WRR_LOCALITY => {
                let message: WrrLocality = decoded(any);
                let below = self.policies(&message.endpoint_picking_policy.unwrap_or_default());
                ("xds_wrr_locality_experimental", json!({ "childPolicy": below }))
            }
            wrapper if TYPED_STRUCTS.contains(&wrapper) => {
                let message: TypedStruct = decoded(any);
                let name = message.type_url.rsplit('/').next().unwrap_or_default();
                if !(self.dialect.has_policy)(name, self.profile) {
                    return None;
                }
                let config = message.value.as_ref().and_then(|value| struct_to_json(Some(value)));
                return Some((name.to_owned(), config.unwrap_or(Value::Null)));
            }
            _ => return None,
        };
        Some((name.to_owned(), config))
    }

    /// Returns the config of ring_hash with these sizes.
    pub(super) fn ring(&self, min: Option<u64>, max: Option<u64>) -> Value {
        let (min, max) = (self.dialect.ring)(min, max);
        json!({ "minRingSize": min, "maxRingSize": max })
    }
}

/// How a client writes the config of weighted_round_robin.
#[derive(Debug)]
pub struct WeightedForm {
    /// Fields that are 0 count as not set.
    pub omits_zero: bool,
    /// The names of `enable_oob_load_report`, `oob_reporting_period`, `blackout_period`, `weight_expiration_period`,
    /// `weight_update_period` and `error_utilization_penalty`.
    pub names: [&'static str; 6],
}

impl WeightedForm {
    /// The names of the fields in the gRFC (A58).
    pub const NAMES: [&'static str; 6] = [
        "enableOobLoadReport",
        "oobReportingPeriod",
        "blackoutPeriod",
        "weightExpirationPeriod",
        "weightUpdatePeriod",
        "errorUtilizationPenalty",
    ];
}

/// Writes the config of weighted_round_robin. A field that is not set is left out, so that the
/// policy uses its default.
fn weighted_round_robin(message: &ClientSideWeightedRoundRobin, form: &WeightedForm) -> Value {
    let is_kept = |is_zero: bool| !(form.omits_zero && is_zero);
    let [enable, oob, blackout, expiration, update, error_penalty] = form.names;
    let mut config = Map::new();
    if message.enable_oob_load_report == Some(true) {
        config.insert(enable.to_owned(), Value::Bool(true));
    }
    for (name, period) in [
        (oob, message.oob_reporting_period),
        (blackout, message.blackout_period),
        (expiration, message.weight_expiration_period),
        (update, message.weight_update_period),
    ] {
        if let Some(period) = period.filter(|period| is_kept(period.seconds == 0 && period.nanos == 0)) {
            config.insert(name.to_owned(), Value::String(duration(&period)));
        }
    }
    if let Some(penalty) = message
        .error_utilization_penalty
        .filter(|penalty| is_kept(*penalty == 0.0))
    {
        config.insert(error_penalty.to_owned(), f64::from(penalty).into());
    }
    Value::Object(config)
}

/// Prints a duration as protobuf does; the client holds no more than 292 years.
fn duration(period: &prost_types::Duration) -> String {
    const MOST: i64 = i64::MAX / 1_000_000_000;
    let seconds = period.seconds.clamp(-MOST, MOST);
    match period.nanos {
        0 => format!("{seconds}s"),
        nanos => {
            let sign = if seconds < 0 || nanos < 0 { "-" } else { "" };
            format!("{sign}{}.{:09}s", seconds.unsigned_abs(), nanos.unsigned_abs())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prost_types::Duration;

    #[test]
    fn what_is_zero_may_be_left_out() {
        let message = ClientSideWeightedRoundRobin {
            blackout_period: Some(Duration::default()),
            weight_update_period: Some(Duration {
                seconds: 1,
                nanos: 500_000_000,
            }),
            error_utilization_penalty: Some(0.0),
            ..Default::default()
        };
        let form = |omits_zero| WeightedForm {
            omits_zero,
            names: WeightedForm::NAMES,
        };
        assert_eq!(
            weighted_round_robin(&message, &form(true)),
            json!({ "weightUpdatePeriod": "1.500000000s" })
        );
        let whole = weighted_round_robin(&message, &form(false));
        assert_eq!(whole["blackoutPeriod"], json!("0s"));
    }
}
