//! Fault injection for one RPC (A33): a delay, then an abort.
//!
//! Follows C-core `FaultInjectionFilter` (fault_injection_filter.cc), grpc-go `fault.go`, grpc-java
//! `FaultFilter` and grpc-js-xds `fault-injection-filter.ts`. `max_active_faults` limits delays: at
//! the limit no new delay starts, and an abort happens only together with a delay. At the limit
//! Node never aborts, and Go and Java inject no fault at all.

use super::fault_headers::{FaultChances, asked};
use super::{Draw, Purpose, Request};
use xdsctl_model::resource::Millis;
use xdsctl_model::resource::filter::{Fault, FaultHeaders};
use xdsctl_model::status::Status;

/// What the fault filters do to an RPC.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FaultOutcome {
    /// The time that the RPC waits before it goes on or is aborted.
    pub delay: Millis,
    /// The status with which the RPC is aborted.
    pub abort: Option<Status>,
    /// The share of such RPCs that the filter aborts, from 0 to 1.
    pub abort_share: f64,
}

/// Decides what one filter does. `active` is the number of RPCs that are being delayed in this
/// process.
pub fn decide(fault: &Fault, request: &Request<'_>, active: u32, draw: &mut Draw<'_>) -> FaultOutcome {
    let has_quota = active < fault.max_active_faults;
    if !has_quota && matches!(fault.headers, FaultHeaders::Go | FaultHeaders::Java) {
        return FaultOutcome::default();
    }
    let FaultChances {
        abort,
        abort_share,
        delay,
        delay_share,
    } = asked(fault, request);
    let delays = delay > Millis(0) && falls_below(Purpose::FaultDelay, delay_share, draw);
    let aborts = abort.is_some() && falls_below(Purpose::FaultAbort, abort_share, draw);
    let delay_counts = delays && fault.headers != FaultHeaders::Node;
    FaultOutcome {
        delay: if delays && has_quota { delay } else { Millis(0) },
        abort: abort.filter(|_| aborts && (delay_counts || has_quota)),
        abort_share: (f64::from(abort_share.0) / f64::from(abort_share.1.max(1))).min(1.0),
    }
}

fn falls_below(purpose: Purpose, (numerator, denominator): (u32, u32), draw: &mut Draw<'_>) -> bool {
    if numerator == 0 {
        false
    } else if numerator >= denominator {
        true
    } else {
        draw(purpose, u64::from(denominator)) < u64::from(numerator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xdsctl_model::status::Code;

    fn fault() -> Fault {
        Fault {
            abort_denominator: 100,
            delay_denominator: 100,
            max_active_faults: u32::MAX,
            ..Fault::default()
        }
    }

    #[track_caller]
    fn check(fault: &Fault, headers: &[(&str, &str)], active: u32, delay: i64, abort: Option<Code>) {
        let headers: Vec<_> = headers.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
        let request = Request {
            path: "/",
            headers: &headers,
            timeout: None,
        };
        let outcome = decide(fault, &request, active, &mut |_, bound| bound / 2);
        assert_eq!(
            (outcome.delay.0, outcome.abort.map(|a| a.code)),
            (delay, abort),
            "{fault:?}"
        );
    }

    #[test]
    fn shares_are_drawn_and_headers_only_lower_them() {
        let half = Fault {
            abort_code: 14,
            abort_numerator: 50,
            ..fault()
        };
        check(&half, &[], 0, 0, None);
        let more = Fault {
            abort_numerator: 51,
            ..half
        };
        check(&more, &[], 0, 0, Some(Code::Unavailable));
        let header = Fault {
            abort_from_header: true,
            abort_numerator: 100,
            ..fault()
        };
        let code = "x-envoy-fault-abort-grpc-request";
        check(&header, &[], 0, 0, None);
        check(&header, &[(code, "5")], 0, 0, Some(Code::NotFound));
        check(&header, &[(code, "x")], 0, 0, Some(Code::Unknown));
        check(
            &header,
            &[(code, "5"), ("x-envoy-fault-abort-percentage", "3")],
            0,
            0,
            None,
        );
    }

    #[test]
    fn of_metadata_the_first_value_with_a_digit_counts() {
        let header = Fault {
            headers: FaultHeaders::Node,
            abort_from_header: true,
            abort_numerator: 100,
            ..fault()
        };
        let code = "x-envoy-fault-abort-grpc-request";
        check(&header, &[], 0, 0, None);
        check(&header, &[(code, "x"), (code, "5x")], 0, 0, Some(Code::NotFound));
        check(&header, &[(code, "0xE")], 0, 0, Some(Code::Unavailable));
        check(
            &header,
            &[("x-envoy-fault-abort-request", "404")],
            0,
            0,
            Some(Code::Unimplemented),
        );
        let share = |name| [(code, "5"), (name, "0")];
        check(
            &header,
            &share("x-envoy-fault-abort-percentage"),
            0,
            0,
            Some(Code::NotFound),
        );
        check(&header, &share("x-envoy-fault-abort-request-percentage"), 0, 0, None);
    }

    #[test]
    fn a_spent_quota_takes_the_delay_and_the_abort_without_one() {
        let both = Fault {
            abort_code: 14,
            abort_numerator: 100,
            delay: Millis(30),
            delay_numerator: 100,
            max_active_faults: 1,
            ..fault()
        };
        check(&both, &[], 0, 30, Some(Code::Unavailable));
        check(&both, &[], 1, 0, Some(Code::Unavailable));
        let abort = Fault {
            delay: Millis(0),
            ..both
        };
        check(&abort, &[], 1, 0, None);
    }
}
