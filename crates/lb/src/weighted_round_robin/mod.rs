//! weighted_round_robin: RPCs go to the endpoints in turn, by weights from their load reports (A58,
//! A114).

mod deadlines;
mod machine;
mod sorted;
mod stride;
mod ways;
pub mod weight;

pub use machine::WeightedRoundRobinPolicy;
pub use stride::{StaticStrideScheduler, StrideLimits};
pub use xdsctl_model::resource::lb_policy::{Metric, WeightedRoundRobinConfig};

use serde_json::{Map, Value, json};

use deadlines::DeadlineScheduler;
use ways::WeightWays;

use super::config::number;
use super::done;
use super::json::{self, ConfigPlace, Faults};
use super::xds::PolicyEntry;
use xdsctl_document::proto::duration;
use xdsctl_document::proto::pb::envoy::extensions::load_balancing_policies::client_side_weighted_round_robin::v3::ClientSideWeightedRoundRobin;
use xdsctl_model::diag::{Validation, rules};
use xdsctl_model::profile::{Feature, Profile};
use xdsctl_model::resource::Millis;

rules! {
    /// The penalty for errors is negative.
    LB_WRR_PENALTY_NEGATIVE = "lb-wrr-penalty-negative", Lb, Nack, "gRFC A58; C-core WeightedRoundRobinConfig::JsonPostLoad";
    /// A metric name for the utilization is not one that the client has.
    LB_WRR_METRIC_UNKNOWN = "lb-wrr-metric-unknown", Lb, Nack, "gRFC A114; C-core WeightedRoundRobinConfig::JsonPostLoad";
}

/// The name under which gRPC registers the policy, and which configs use.
pub const NAME: &str = "weighted_round_robin";

/// The smallest `weightUpdatePeriod`; smaller ones are raised to it (A58).
pub const MIN_WEIGHT_UPDATE_PERIOD: Millis = Millis(100);

/// The field with the names of metrics (A114).
const METRIC_NAMES: &str = "metricNamesForComputingUtilization";

/// A schedule that gives endpoints turns by their weights.
#[derive(Debug)]
enum Scheduler {
    Strides(StaticStrideScheduler),
    Deadlines(DeadlineScheduler),
}

impl Scheduler {
    /// Returns the index of the next endpoint.
    fn pick(&mut self, sequence: &mut u32) -> usize {
        match self {
            Scheduler::Strides(scheduler) => scheduler.pick(sequence),
            Scheduler::Deadlines(scheduler) => scheduler.pick(),
        }
    }

    /// Returns how often an endpoint has its turn, in any unit.
    fn rate(&self, index: usize) -> f64 {
        match self {
            Scheduler::Strides(scheduler) => scheduler.weights().get(index).map_or(0.0, |weight| f64::from(*weight)),
            Scheduler::Deadlines(scheduler) => scheduler.rate(index),
        }
    }
}

/// Writes only the fields that the message has, as the client does. The loader knows the defaults.
pub(crate) fn from_proto(entry: &mut PolicyEntry<'_, '_>, cx: &mut Validation<'_>) -> Option<Value> {
    let pb: ClientSideWeightedRoundRobin = entry.decode(cx)?;
    let at = entry.at;
    let mut config = Map::new();
    if pb.enable_oob_load_report == Some(true) {
        config.insert("enableOobLoadReport".to_owned(), Value::Bool(true));
    }
    let expiration = match cx.has(Feature::BlackoutForExpiration) {
        true => pb.blackout_period,
        false => pb.weight_expiration_period,
    };
    for (field, name, period) in [
        ("oob_reporting_period", "oobReportingPeriod", pb.oob_reporting_period),
        ("blackout_period", "blackoutPeriod", pb.blackout_period),
        ("weight_update_period", "weightUpdatePeriod", pb.weight_update_period),
        ("weight_expiration_period", "weightExpirationPeriod", expiration),
    ] {
        if let Some(period) = period {
            let period = duration::parse(&period, &at.field(field), cx);
            config.insert(name.to_owned(), json::duration_to_json(period));
        }
    }
    if let Some(penalty) = pb.error_utilization_penalty {
        if penalty < 0.0 {
            cx.report(
                &LB_WRR_PENALTY_NEGATIVE,
                &at.field("error_utilization_penalty"),
                format_args!("error utilization penalty is {penalty}, must not be negative"),
            );
        }
        config.insert("errorUtilizationPenalty".to_owned(), number::float_to_json(penalty));
    }
    if !pb.metric_names_for_computing_utilization.is_empty() {
        let names = pb
            .metric_names_for_computing_utilization
            .into_iter()
            .map(Value::String)
            .collect();
        config.insert(METRIC_NAMES.to_owned(), Value::Array(names));
    }
    Some(Value::Object(config))
}

/// Reads the JSON config.
///
/// # Errors
/// Fails if a field has the wrong type, the penalty is negative, or the name of a metric is
/// unknown.
pub fn from_json(config: &Map<String, Value>, profile: &Profile) -> Result<WeightedRoundRobinConfig, Faults> {
    let mut faults = Faults::new();
    let at = ConfigPlace::TOP;
    let default = WeightedRoundRobinConfig::default();
    let mut period = |name: &str, default: Millis| json::optional_duration(config, name, default, &at, &mut faults);
    let oob_reporting_period = period("oobReportingPeriod", default.oob_reporting_period);
    let blackout_period = period("blackoutPeriod", default.blackout_period);
    let weight_update_period = period("weightUpdatePeriod", default.weight_update_period);
    let weight_expiration_period = period("weightExpirationPeriod", default.weight_expiration_period);
    let error_utilization_penalty = json::optional(config, "errorUtilizationPenalty")
        .and_then(|value| json::float(value, &at.field("errorUtilizationPenalty"), &mut faults))
        .unwrap_or(default.error_utilization_penalty);
    if error_utilization_penalty < 0.0 {
        at.field("errorUtilizationPenalty").fault(
            &LB_WRR_PENALTY_NEGATIVE,
            format_args!("error utilization penalty is {error_utilization_penalty}, must not be negative"),
            &mut faults,
        );
    }
    let config = WeightedRoundRobinConfig {
        enable_oob_load_report: json::optional_bool(config, "enableOobLoadReport", &at, &mut faults),
        oob_reporting_period,
        blackout_period,
        weight_update_period: weight_update_period.max(MIN_WEIGHT_UPDATE_PERIOD),
        weight_expiration_period,
        error_utilization_penalty,
        metric_names: if profile.has(Feature::WrrMetricNames) {
            metric_names(config, &mut faults)
        } else {
            Vec::new()
        },
    };
    done(config, faults)
}

/// Reads the metric names. Null is a fault. If an element is not a text, the names are not checked.
fn metric_names(config: &Map<String, Value>, faults: &mut Faults) -> Vec<Metric> {
    let at = ConfigPlace::TOP.field(METRIC_NAMES);
    let Some(names) = config.get(METRIC_NAMES).and_then(|list| json::list(list, &at, faults)) else {
        return Vec::new();
    };
    let before = faults.len();
    for (i, name) in names.iter().enumerate() {
        json::text(name, &at.index(i), faults);
    }
    if faults.len() > before {
        return Vec::new();
    }
    let mut metrics = Vec::with_capacity(names.len());
    for (i, name) in names.iter().filter_map(Value::as_str).enumerate() {
        match Metric::parse(name) {
            Some(metric) => metrics.push(metric),
            None => at.index(i).fault(
                &LB_WRR_METRIC_UNKNOWN,
                format_args!(
                    "metric `{name}` is unknown, must be cpu_utilization, mem_utilization, application_utilization, \
                     named_metrics.<key> or utilization.<key>"
                ),
                faults,
            ),
        }
    }
    metrics
}

/// Writes the config as the client does, with a value for every field.
pub fn to_json(config: &WeightedRoundRobinConfig) -> Value {
    let mut written = json!({
        "enableOobLoadReport": config.enable_oob_load_report,
        "oobReportingPeriod": json::duration_to_json(config.oob_reporting_period),
        "blackoutPeriod": json::duration_to_json(config.blackout_period),
        "weightUpdatePeriod": json::duration_to_json(config.weight_update_period),
        "weightExpirationPeriod": json::duration_to_json(config.weight_expiration_period),
        "errorUtilizationPenalty": number::float_to_json(config.error_utilization_penalty),
    });
    if !config.metric_names.is_empty() {
        written[METRIC_NAMES] = config.metric_names.iter().map(Metric::name).collect();
    }
    written
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(config: &Value) -> Result<WeightedRoundRobinConfig, Vec<String>> {
        from_json(config.as_object().unwrap(), &Profile::default())
            .map_err(|faults| faults.into_iter().map(|f| f.path).collect())
    }

    #[test]
    fn short_update_periods_are_raised() {
        let config = read(&json!({"weightUpdatePeriod": "0.05s"})).unwrap();
        assert_eq!(config.weight_update_period, Millis(100));
    }

    #[test]
    fn null_metric_names_are_no_list() {
        assert_eq!(read(&json!({METRIC_NAMES: null})), Err(vec![METRIC_NAMES.to_owned()]));
    }

    #[test]
    fn a_foreign_element_hides_unknown_names() {
        let config = json!({METRIC_NAMES: ["nope", 5]});
        assert_eq!(
            read(&config),
            Err(vec!["metricNamesForComputingUtilization[1]".to_owned()])
        );
        let config = json!({METRIC_NAMES: ["cpu_utilization", "nope", "utilization.", "named_metrics.a.b"]});
        assert_eq!(
            read(&config),
            Err(vec!["metricNamesForComputingUtilization[1]".to_owned()])
        );
    }

    #[test]
    fn defaults_survive_a_round_trip() {
        let config = WeightedRoundRobinConfig::default();
        assert_eq!(read(&to_json(&config)), Ok(config));
    }
}
