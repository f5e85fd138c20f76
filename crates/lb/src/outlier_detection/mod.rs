//! outlier_detection: hides endpoints that fail from the child policy for a while (A50).

mod machine;

pub use machine::OutlierDetectionPolicy;
pub use xdsctl_model::resource::lb_policy::OutlierDetectionConfig;

use serde_json::{Map, Value, json};

use super::child;
use super::json::{self, ConfigPlace, Faults};
use xdsctl_model::diag::rules;
use xdsctl_model::profile::Profile;
use xdsctl_model::resource::Millis;
use xdsctl_model::resource::cluster::{FailurePercentageEjection, OutlierDetection, SuccessRateEjection};

rules! {
    /// A percentage of outlier detection is above 100.
    LB_OUTLIER_DETECTION_PERCENTAGE = "lb-outlier-detection-percentage", Lb, Nack, "gRFC A50; C-core OutlierDetectionConfig::JsonPostLoad";
}

/// The name under which gRPC registers the policy, and which configs use.
pub const NAME: &str = "outlier_detection_experimental";

/// The largest valid percentage.
pub const MAX_PERCENTAGE: u32 = 100;

/// `maxEjectionTime` if the JSON has null for it (C-core outlier_detection.h).
const NULL_MAX_EJECTION_TIME: Millis = Millis(30_000);

/// Reads the JSON config.
///
/// # Errors
/// Fails if a field has the wrong type, a percentage is above 100 (the fault names the field in
/// snake case, as the client does), or `childPolicy` is missing or rejected.
pub fn from_json(config: &Map<String, Value>, profile: &Profile) -> Result<OutlierDetectionConfig, Faults> {
    let mut faults = Faults::new();
    let at = ConfigPlace::TOP;
    let default = OutlierDetection::DEFAULT;
    let mut time = |name, default| json::optional_duration(config, name, default, &at, &mut faults);
    let interval = time("interval", default.interval);
    let base_ejection_time = time("baseEjectionTime", default.base_ejection_time);
    let max_ejection_time = if config.contains_key("maxEjectionTime") {
        time("maxEjectionTime", NULL_MAX_EJECTION_TIME)
    } else {
        base_ejection_time.max(default.max_ejection_time)
    };
    let percent = default.max_ejection_percent;
    let max_ejection_percent = json::optional_u32(config, "maxEjectionPercent", percent, &at, &mut faults).value;
    let success_rate = json::optional(config, "successRateEjection")
        .and_then(|value| success_rate(value, &at.field("successRateEjection"), &mut faults));
    let failure_percentage = json::optional(config, "failurePercentageEjection")
        .and_then(|value| failure_percentage(value, &at.field("failurePercentageEjection"), &mut faults));
    check_percentage(max_ejection_percent, &at.field("max_ejection_percent"), &mut faults);
    let child_policy = child(config, "childPolicy", &at, profile, &mut faults);
    match child_policy {
        Some(child_policy) if faults.is_empty() => Ok(OutlierDetectionConfig {
            detection: OutlierDetection {
                interval,
                base_ejection_time,
                max_ejection_time,
                max_ejection_percent,
                success_rate,
                failure_percentage,
            },
            child_policy,
        }),
        Some(_) | None => Err(faults),
    }
}

fn success_rate(value: &Value, at: &ConfigPlace<'_>, faults: &mut Faults) -> Option<SuccessRateEjection> {
    let map = json::object(value, at, faults)?;
    let mut number = |name, default| json::optional_u32(map, name, default, at, faults).value;
    let default = SuccessRateEjection::DEFAULT;
    let ejection = SuccessRateEjection {
        stdev_factor: number("stdevFactor", default.stdev_factor),
        enforcement_percentage: number("enforcementPercentage", default.enforcement_percentage),
        minimum_hosts: number("minimumHosts", default.minimum_hosts),
        request_volume: number("requestVolume", default.request_volume),
    };
    let at = at.field("enforcement_percentage");
    check_percentage(ejection.enforcement_percentage, &at, faults);
    Some(ejection)
}

fn failure_percentage(value: &Value, at: &ConfigPlace<'_>, faults: &mut Faults) -> Option<FailurePercentageEjection> {
    let map = json::object(value, at, faults)?;
    let mut number = |name, default| json::optional_u32(map, name, default, at, faults).value;
    let default = FailurePercentageEjection::DEFAULT;
    let ejection = FailurePercentageEjection {
        threshold: number("threshold", default.threshold),
        enforcement_percentage: number("enforcementPercentage", default.enforcement_percentage),
        minimum_hosts: number("minimumHosts", default.minimum_hosts),
        request_volume: number("requestVolume", default.request_volume),
    };
    check_percentage(
        ejection.enforcement_percentage,
        &at.field("enforcement_percentage"),
        faults,
    );
    check_percentage(ejection.threshold, &at.field("threshold"), faults);
    Some(ejection)
}

/// Returns the faults in a threshold that the check of the Cluster accepts (1.85.1), in words.
pub fn check_threshold(detection: &OutlierDetection) -> Option<String> {
    let mut faults = Faults::new();
    let ejection = detection.failure_percentage.as_ref()?;
    let at = ConfigPlace::TOP.field("failurePercentageEjection");
    check_percentage(ejection.threshold, &at.field("threshold"), &mut faults);
    (!faults.is_empty()).then(|| json::words(&faults))
}

/// Checks the range of a percentage. After a fault in reading it, the value that was kept is
/// checked.
fn check_percentage(percentage: u32, at: &ConfigPlace<'_>, faults: &mut Faults) {
    if percentage > MAX_PERCENTAGE {
        at.fault(
            &LB_OUTLIER_DETECTION_PERCENTAGE,
            format_args!("percentage is {percentage}, must be at most {MAX_PERCENTAGE}"),
            faults,
        );
    }
}

/// Writes the config as the client does.
pub fn to_json(config: &OutlierDetectionConfig) -> Value {
    let mut json = fields_to_json(&config.detection);
    json["childPolicy"] = super::to_json(&config.child_policy);
    json
}

/// Writes the fields of outlier detection as the client does, without a child policy.
pub fn fields_to_json(detection: &OutlierDetection) -> Value {
    let mut config = json!({
        "interval": json::duration_to_json(detection.interval),
        "baseEjectionTime": json::duration_to_json(detection.base_ejection_time),
        "maxEjectionTime": json::duration_to_json(detection.max_ejection_time),
        "maxEjectionPercent": detection.max_ejection_percent,
    });
    if let Some(ejection) = &detection.success_rate {
        config["successRateEjection"] = json!({
            "stdevFactor": ejection.stdev_factor,
            "enforcementPercentage": ejection.enforcement_percentage,
            "minimumHosts": ejection.minimum_hosts,
            "requestVolume": ejection.request_volume,
        });
    }
    if let Some(ejection) = &detection.failure_percentage {
        config["failurePercentageEjection"] = json!({
            "threshold": ejection.threshold,
            "enforcementPercentage": ejection.enforcement_percentage,
            "minimumHosts": ejection.minimum_hosts,
            "requestVolume": ejection.request_volume,
        });
    }
    config
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(mut config: Value) -> Result<OutlierDetection, Vec<String>> {
        config["childPolicy"] = json!([{"round_robin": {}}]);
        from_json(config.as_object().unwrap(), &Profile::default())
            .map(|config| config.detection)
            .map_err(|faults| faults.into_iter().map(|f| f.path).collect())
    }

    #[test]
    fn the_longest_ejection_depends_on_the_base_only_when_absent() {
        let time = |config| read(config).unwrap().max_ejection_time;
        assert_eq!(time(json!({})), Millis(300_000));
        assert_eq!(time(json!({"baseEjectionTime": "400s"})), Millis(400_000));
        assert_eq!(time(json!({"maxEjectionTime": null})), Millis(30_000));
        assert_eq!(time(json!({"maxEjectionTime": "1s"})), Millis(1000));
    }

    #[test]
    fn percentages_above_100_are_named_in_snake_case() {
        let config = json!({
            "maxEjectionPercent": 101,
            "successRateEjection": {"enforcementPercentage": 101},
            "failurePercentageEjection": {"enforcementPercentage": 101, "threshold": "101x"},
        });
        assert_eq!(
            read(config).unwrap_err(),
            [
                "successRateEjection.enforcement_percentage",
                "failurePercentageEjection.threshold",
                "failurePercentageEjection.enforcement_percentage",
                "failurePercentageEjection.threshold",
                "max_ejection_percent",
            ]
        );
    }
}
