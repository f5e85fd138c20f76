//! outlier_detection (A50).

use super::*;

fn with(outlier_detection: pb::OutlierDetection) -> Pb {
    Pb {
        outlier_detection: Some(outlier_detection),
        ..eds()
    }
}

fn failure_percentage(enforcing: Option<u32>, threshold: Option<u32>) -> Pb {
    with(pb::OutlierDetection {
        enforcing_success_rate: Some(1),
        enforcing_failure_percentage: enforcing,
        failure_percentage_threshold: threshold,
        ..pb::OutlierDetection::default()
    })
}

#[test]
fn defaults_are_the_clients() {
    let kept = kept(&with(pb::OutlierDetection {
        enforcing_success_rate: Some(1),
        enforcing_failure_percentage: Some(2),
        ..pb::OutlierDetection::default()
    }));
    assert_eq!(
        kept.outlier_detection,
        Some(cluster::OutlierDetection {
            interval: Millis(10_000),
            base_ejection_time: Millis(30_000),
            max_ejection_time: Millis(30_000),
            max_ejection_percent: 10,
            success_rate: Some(cluster::SuccessRateEjection {
                stdev_factor: 1900,
                enforcement_percentage: 1,
                minimum_hosts: 5,
                request_volume: 100,
            }),
            failure_percentage: Some(cluster::FailurePercentageEjection {
                threshold: 85,
                enforcement_percentage: 2,
                minimum_hosts: 5,
                request_volume: 50,
            }),
        })
    );
}

#[test]
fn an_algorithm_exists_only_while_enforced() {
    let (value, findings) = run(&with(pb::OutlierDetection::default()), &[]);
    let kept = value.unwrap().outlier_detection.unwrap();
    assert_eq!((kept.success_rate, kept.failure_percentage), (None, None));
    assert_eq!(
        pairs(&findings),
        [("cds-outlier-without-algorithm", "outlier_detection".to_owned())]
    );
    check(
        &with(pb::OutlierDetection {
            enforcing_success_rate: Some(0),
            success_rate_minimum_hosts: Some(7),
            failure_percentage_request_volume: Some(7),
            ..pb::OutlierDetection::default()
        }),
        &[
            (
                "cds-outlier-algorithm-not-enforced",
                "outlier_detection.success_rate_minimum_hosts",
            ),
            (
                "cds-outlier-algorithm-not-enforced",
                "outlier_detection.failure_percentage_request_volume",
            ),
        ],
    );
}

#[test]
fn percentages_end_at_100() {
    check(
        &with(pb::OutlierDetection {
            max_ejection_percent: Some(101),
            enforcing_success_rate: Some(101),
            enforcing_failure_percentage: Some(101),
            ..pb::OutlierDetection::default()
        }),
        &[
            (
                "cds-outlier-percentage-above-100",
                "outlier_detection.max_ejection_percent",
            ),
            (
                "cds-outlier-percentage-above-100",
                "outlier_detection.enforcing_success_rate",
            ),
            (
                "cds-outlier-percentage-above-100",
                "outlier_detection.enforcing_failure_percentage",
            ),
        ],
    );
}

#[test]
fn the_threshold_is_judged_by_the_enforcement_percentage() {
    let at = "outlier_detection.failure_percentage_threshold";
    let enforcing = "outlier_detection.enforcing_failure_percentage";
    check(&failure_percentage(Some(100), Some(100)), &[]);
    check(
        &failure_percentage(Some(101), Some(1)),
        &[
            ("cds-outlier-percentage-above-100", enforcing),
            ("cds-outlier-percentage-above-100", at),
        ],
    );
    check(
        &failure_percentage(Some(100), Some(101)),
        &[
            ("cds-outlier-threshold-above-100", at),
            ("cds-outlier-threshold-fails", at),
        ],
    );
    for enforcing in [None, Some(0)] {
        check(
            &failure_percentage(enforcing, Some(101)),
            &[
                ("cds-outlier-threshold-above-100", at),
                ("cds-outlier-algorithm-not-enforced", at),
            ],
        );
    }
}
