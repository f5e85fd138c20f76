//! Fault injection for one RPC (A33): a delay, then an abort.
//!
//! Follows C-core `FaultInjectionFilter` (fault_injection_filter.cc). `max_active_faults` limits
//! delays: at the limit no new delay starts, and an abort without a delay does not happen.

use super::{Draw, Purpose, Request};
use xdsctl_model::resource::Millis;
use xdsctl_model::resource::filter::Fault;
use xdsctl_model::status::{Code, Status};

/// What the fault filters do to an RPC.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FaultOutcome {
    /// Time that the RPC waits before it goes on or is aborted.
    pub delay: Millis,
    /// The status that it ends with.
    pub abort: Option<Status>,
}

/// Decides for one filter. `active` is the number of RPCs that are being delayed in this process.
pub fn decide(fault: &Fault, request: &Request<'_>, active: u32, draw: &mut Draw<'_>) -> FaultOutcome {
    if fault.of_metadata {
        return decide(
            &of_metadata(fault, request),
            &Request {
                headers: &[],
                ..*request
            },
            active,
            draw,
        );
    }
    let mut code = Code::from_number(fault.abort_code).unwrap_or(Code::Unknown);
    let mut abort_numerator = fault.abort_numerator;
    if fault.abort_from_header {
        if code == Code::Ok
            && let Some(value) = request.joined("x-envoy-fault-abort-grpc-request")
        {
            code = parse::<u32>(&value)
                .and_then(Code::from_number)
                .unwrap_or(Code::Unknown);
        }
        abort_numerator = limited(abort_numerator, "x-envoy-fault-abort-percentage", request);
    }
    let mut delay = fault.delay;
    let mut delay_numerator = fault.delay_numerator;
    if fault.delay_from_header {
        if delay == Millis(0)
            && let Some(value) = request.joined("x-envoy-fault-delay-request")
        {
            delay = Millis(parse::<i64>(&value).unwrap_or(0).max(0));
        }
        delay_numerator = limited(delay_numerator, "x-envoy-fault-delay-request-percentage", request);
    }
    let delays = delay != Millis(0) && falls_below(Purpose::FaultDelay, delay_numerator, fault.delay_denominator, draw);
    let aborts = code != Code::Ok && falls_below(Purpose::FaultAbort, abort_numerator, fault.abort_denominator, draw);
    let has_quota = active < fault.max_active_faults;
    FaultOutcome {
        delay: if delays && has_quota { delay } else { Millis(0) },
        abort: (aborts && (delays || has_quota)).then(|| Status::new(code, "Fault injected")),
    }
}

/// The fault with the values that headers set, as grpc-js-xds reads them
/// (fault-injection-filter.ts): of several values of a header the first with a digit counts, and of
/// it the leading number. An HTTP status is accepted too.
fn of_metadata(fault: &Fault, request: &Request<'_>) -> Fault {
    let number = |name: &str| {
        let values = request.headers.iter().filter(|(key, _)| key == name);
        let mut values = values.map(|(_, value)| value.as_str());
        let value = values.find(|value| value.contains(|c: char| c.is_ascii_digit()))?;
        u32::try_from(leading_number(value)).ok()
    };
    let share = |configured: u32, name: &str| number(name).map_or(configured, |share| share.min(configured));
    let mut fault = Fault {
        of_metadata: false,
        ..fault.clone()
    };
    if std::mem::take(&mut fault.abort_from_header) {
        let of_http = || number("x-envoy-fault-abort-request").map(xdsctl_model::status::of_http_error);
        let code = number("x-envoy-fault-abort-grpc-request").or_else(of_http);
        fault.abort_code = code.unwrap_or(0);
        fault.abort_numerator = share(fault.abort_numerator, "x-envoy-fault-abort-request-percentage");
    }
    if std::mem::take(&mut fault.delay_from_header) {
        fault.delay = Millis(number("x-envoy-fault-delay-request").unwrap_or(0).into());
        fault.delay_numerator = share(fault.delay_numerator, "x-envoy-fault-delay-request-percentage");
    }
    fault
}

/// The number at the beginning of a text, as JavaScript's `parseInt` reads it; 0 if there is none.
fn leading_number(text: &str) -> i64 {
    let text = text.trim_start();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let number = digits.get(..end).and_then(|digits| digits.parse::<i64>().ok());
    number.map_or(0, |number| sign * number)
}

/// The share that a header asks for, at most the configured one; a header that is no number asks
/// for all of it.
fn limited(configured: u32, header: &str, request: &Request<'_>) -> u32 {
    request
        .joined(header)
        .map_or(configured, |value| parse(&value).unwrap_or(u32::MAX).min(configured))
}

fn parse<T: std::str::FromStr>(text: &str) -> Option<T> {
    text.trim_matches([' ', '\t', '\n', '\x0b', '\x0c', '\r']).parse().ok()
}

fn falls_below(purpose: Purpose, numerator: u32, denominator: u32, draw: &mut Draw<'_>) -> bool {
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
            of_metadata: true,
            abort_from_header: true,
            abort_numerator: 100,
            ..fault()
        };
        let code = "x-envoy-fault-abort-grpc-request";
        check(&header, &[], 0, 0, None);
        check(&header, &[(code, "x"), (code, "5x")], 0, 0, Some(Code::NotFound));
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
