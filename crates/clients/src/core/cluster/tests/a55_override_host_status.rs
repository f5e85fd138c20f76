//! common_lb_config.override_host_status (A55).

use super::*;

fn with(statuses: &[i32]) -> Pb {
    Pb {
        common_lb_config: Some(CommonLbConfig {
            override_host_status: Some(HealthStatusSet {
                statuses: statuses.to_vec(),
            }),
        }),
        ..eds()
    }
}

#[test]
fn unknown_and_healthy_where_the_message_is_absent() {
    let message = Pb {
        common_lb_config: Some(CommonLbConfig::default()),
        ..eds()
    };
    let default = BTreeSet::from([HealthStatus::Unknown, HealthStatus::Healthy]);
    assert_eq!(kept(&message).override_host_statuses, default);
}

#[test]
fn unknown_healthy_and_draining_are_kept() {
    for (number, status) in [
        (0, HealthStatus::Unknown),
        (1, HealthStatus::Healthy),
        (3, HealthStatus::Draining),
    ] {
        assert_eq!(kept(&with(&[number])).override_host_statuses, BTreeSet::from([status]));
    }
}

#[test]
fn every_other_status_is_ignored_not_rejected() {
    let at = "common_lb_config.override_host_status";
    let (value, findings) = run(&with(&[2, 1, 4, 5, 99]), &[]);
    assert_eq!(
        value.unwrap().override_host_statuses,
        BTreeSet::from([HealthStatus::Healthy])
    );
    let ignored = |i: usize| ("cds-override-host-status-unsupported", format!("{at}.statuses[{i}]"));
    assert_eq!(pairs(&findings), [ignored(0), ignored(2), ignored(3), ignored(4)]);
}

#[test]
fn a_set_without_a_known_status_is_empty() {
    let at = "common_lb_config.override_host_status";
    let (value, _) = run(&with(&[]), &[]);
    assert_eq!(value.unwrap().override_host_statuses, BTreeSet::new());
    check(&with(&[]), &[("cds-override-host-status-empty", at)]);
    check(
        &with(&[2]),
        &[
            ("cds-override-host-status-unsupported", &format!("{at}.statuses[0]")),
            ("cds-override-host-status-empty", at),
        ],
    );
}
