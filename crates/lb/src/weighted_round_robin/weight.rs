//! An endpoint's weight, from its load reports (A58).
//!
//! Follows C-core weighted_round_robin.cc `AddressWeight` and, where they differ, grpc-go
//! balancer/weightedroundrobin/balancer.go `endpointWeight` and grpc-js
//! load-balancer-weighted-round-robin.ts `updateWeight`.

use super::{Metric, WeightedRoundRobinConfig};
use crate::policy::LoadReport;

/// What is known about one endpoint's weight.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EndpointWeight {
    weight: f64,
    /// The time of the last report; `None` before the first one.
    last_update: Option<i64>,
    /// The time since which there are reports without a gap.
    non_empty_since: Option<i64>,
}

/// Returns the weight that follows from a report; 0 for a report without usable numbers.
/// `reads_cpu` says whether the client falls back to `cpu_utilization`.
pub fn of_report(report: &LoadReport, config: &WeightedRoundRobinConfig, reads_cpu: bool) -> f64 {
    let mut utilization = 0.0_f64;
    for metric in &config.metric_names {
        let value = match metric {
            Metric::Cpu => Some(report.cpu_utilization),
            Metric::Mem => Some(report.mem_utilization),
            Metric::Application => Some(report.application_utilization),
            Metric::Named(name) => report.named_metrics.get(name).copied(),
            Metric::Utilization(name) => report.utilization.get(name).copied(),
        };
        utilization = utilization.max(value.unwrap_or(0.0));
    }
    if utilization <= 0.0 {
        utilization = report.application_utilization;
    }
    if utilization <= 0.0 && reads_cpu {
        utilization = report.cpu_utilization;
    }
    if report.qps <= 0.0 || utilization <= 0.0 {
        return 0.0;
    }
    let penalty_factor = f64::from(config.error_utilization_penalty);
    let penalty = if report.eps > 0.0 && penalty_factor > 0.0 {
        report.eps / report.qps * penalty_factor
    } else {
        0.0
    };
    report.qps / (utilization + penalty)
}

impl EndpointWeight {
    /// Takes the weight of a load report, as [`of_report`] returns it.
    pub fn report(&mut self, weight: f64, now: i64) {
        if weight == 0.0 {
            return;
        }
        self.non_empty_since.get_or_insert(now);
        self.weight = weight;
        self.last_update = Some(now);
    }

    /// Returns the weight that counts now: 0 before the blackout is over, and after the last report
    /// has expired.
    pub fn current(&mut self, config: &WeightedRoundRobinConfig, now: i64) -> f64 {
        let expiration = config.weight_expiration_period.0;
        if self.last_update.is_none_or(|last| now - last >= expiration) {
            self.non_empty_since = None;
            return 0.0;
        }
        let blackout = config.blackout_period.0;
        if blackout > 0 && self.non_empty_since.is_none_or(|since| now - since < blackout) {
            return 0.0;
        }
        self.weight
    }

    /// Returns when the weight that counts now will change without a report; `None` if it stays.
    pub fn next_change(&self, config: &WeightedRoundRobinConfig, now: i64) -> Option<i64> {
        let expires = self.last_update?.saturating_add(config.weight_expiration_period.0);
        let shows = match config.blackout_period.0 {
            blackout if blackout > 0 => self.non_empty_since?.saturating_add(blackout),
            _ => now,
        };
        let next = if shows > now { shows.min(expires) } else { expires };
        (next > now).then_some(next)
    }

    /// Restarts the blackout of an endpoint that has connected again. If the client `forgets`, it
    /// then has no weight.
    pub fn reset(&mut self, forgets: bool) {
        self.non_empty_since = None;
        if forgets {
            self.last_update = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(qps: f64, eps: f64, cpu: f64, application: f64) -> LoadReport {
        LoadReport {
            qps,
            eps,
            cpu_utilization: cpu,
            application_utilization: application,
            ..LoadReport::default()
        }
    }

    #[test]
    fn weight_is_queries_by_utilization_with_a_penalty_for_errors() {
        let config = WeightedRoundRobinConfig::default();
        assert_eq!(of_report(&report(100.0, 0.0, 0.5, 0.0), &config, true), 200.0);
        assert_eq!(of_report(&report(100.0, 0.0, 0.5, 0.25), &config, true), 400.0);
        assert_eq!(of_report(&report(100.0, 50.0, 0.5, 0.0), &config, true), 100.0);
        assert_eq!(of_report(&report(100.0, 0.0, 0.5, 0.0), &config, false), 0.0);
        assert_eq!(of_report(&report(0.0, 0.0, 0.5, 0.0), &config, true), 0.0);
        assert_eq!(of_report(&report(100.0, 0.0, 0.0, 0.0), &config, true), 0.0);
    }

    #[test]
    fn blackout_and_expiration_hide_the_weight() {
        let config = WeightedRoundRobinConfig::default();
        let mut weight = EndpointWeight::default();
        assert_eq!(weight.current(&config, 0), 0.0);
        weight.report(200.0, 1000);
        assert_eq!(weight.current(&config, 10_999), 0.0);
        assert_eq!(weight.current(&config, 11_000), 200.0);
        assert_eq!(weight.current(&config, 180_999), 200.0);
        assert_eq!(weight.current(&config, 181_000), 0.0);
        weight.report(200.0, 181_001);
        assert_eq!(weight.current(&config, 181_001), 0.0);
    }

    #[test]
    fn the_next_change_is_the_end_of_the_blackout_and_then_expiration() {
        let config = WeightedRoundRobinConfig::default();
        let mut weight = EndpointWeight::default();
        assert_eq!(weight.next_change(&config, 0), None);
        weight.report(200.0, 1000);
        assert_eq!(weight.next_change(&config, 1000), Some(11_000));
        assert_eq!(weight.next_change(&config, 11_000), Some(181_000));
        assert_eq!(weight.next_change(&config, 181_000), None);
        // After it connects again, only a report begins another blackout.
        weight.reset(false);
        assert_eq!(weight.next_change(&config, 12_000), None);
        let config = WeightedRoundRobinConfig {
            blackout_period: xdsctl_model::resource::Millis(0),
            ..config
        };
        assert_eq!(weight.next_change(&config, 12_000), Some(181_000));
        weight.reset(true);
        assert_eq!(weight.next_change(&config, 12_000), None);
        assert_eq!(weight.current(&config, 12_000), 0.0);
    }
}
