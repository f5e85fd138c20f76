//! Fault injection (A33): delays and aborts a share of the RPCs. Clients only; an override has the
//! same type.
//!
//! Follows C-core `XdsHttpFaultFilterFactory::ParseTopLevelConfig` (xds_http_fault_filter.cc) and
//! `FaultInjectionFilter::MakeInjectionDecision` (fault_injection_filter.cc).

use super::FilterType;
use crate::shared::names::FAULT;
use crate::shared::read::{self, fraction};
use crate::shared::rules::FAULT_STATUS_UNKNOWN;
use xdsctl_document::proto::any::Extension;
use xdsctl_document::proto::duration;
use xdsctl_document::proto::pb::envoy::extensions::filters::common::fault::v3::FaultDelay;
use xdsctl_document::proto::pb::envoy::extensions::filters::common::fault::v3::fault_delay::FaultDelaySecifier as Delay;
use xdsctl_document::proto::pb::envoy::extensions::filters::http::fault::v3::fault_abort::ErrorType;
use xdsctl_document::proto::pb::envoy::extensions::filters::http::fault::v3::{FaultAbort, HttpFault};
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::resource::Millis;
use xdsctl_model::resource::filter::{Fault, FilterConfig};
use xdsctl_model::status::Code;

rules! {
    /// A fault's abort or delay can never happen: it has no percentage, no status code or no duration.
    FAULT_NEVER_INJECTED = "fault-never-injected", Filter, Advice, "C-core fault_injection_filter.cc MakeInjectionDecision",
        also [Go Java Node] "a percentage of 0 injects nothing in any client";
}

/// The filter's place in the registry.
pub static TYPE: FilterType = FilterType {
    type_name: FAULT,
    override_type: Some((FAULT, parse)),
    on_client: true,
    on_server: false,
    is_terminal: false,
    guard: None,
    parse,
    parse_in_composite: None,
};

/// The default of `max_active_faults`: in practice, no limit.
pub const MAX_ACTIVE_FAULTS: u32 = u32::MAX;

/// The largest gRPC status code, UNAUTHENTICATED.
const MAX_STATUS: u32 = 16;

fn parse(extension: &Extension<'_>, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<FilterConfig> {
    let message: HttpFault = extension.decode(at, cx)?;
    let mut fault = Fault {
        abort_denominator: 100,
        delay_denominator: 100,
        max_active_faults: message.max_active_faults.unwrap_or(MAX_ACTIVE_FAULTS),
        ..Fault::default()
    };
    if let Some(abort) = &message.abort {
        read_abort(abort, &mut fault, &at.field("abort"), cx);
    }
    if let Some(delay) = &message.delay {
        read_delay(delay, &mut fault, &at.field("delay"), cx);
    }
    Some(FilterConfig::Fault(fault))
}

fn read_abort(abort: &FaultAbort, fault: &mut Fault, at: &Path<'_>, cx: &mut Validation<'_>) {
    match abort.error_type {
        Some(ErrorType::GrpcStatus(code)) if code > MAX_STATUS => {
            cx.report(
                &FAULT_STATUS_UNKNOWN,
                &at.field("grpc_status"),
                format_args!("grpc_status is {code}, must be 0 to {MAX_STATUS}"),
            );
            return;
        }
        Some(ErrorType::GrpcStatus(code)) => fault.abort_code = code,
        Some(ErrorType::HttpStatus(status)) => fault.abort_code = status_of_http(status) as u32,
        Some(ErrorType::HeaderAbort(_)) => fault.abort_from_header = true,
        None => {}
    }
    (fault.abort_numerator, fault.abort_denominator) = fraction(abort.percentage.as_ref());
    let reason = if abort.percentage.is_none() {
        "it has no percentage, which counts as 0"
    } else if fault.abort_code == 0 && !fault.abort_from_header {
        "it has no status code other than OK"
    } else {
        return;
    };
    cx.report(
        &FAULT_NEVER_INJECTED,
        at,
        format_args!("the abort never happens: {reason}"),
    );
}

fn read_delay(delay: &FaultDelay, fault: &mut Fault, at: &Path<'_>, cx: &mut Validation<'_>) {
    match &delay.fault_delay_secifier {
        Some(Delay::FixedDelay(fixed)) => fault.delay = duration::parse(fixed, &at.field("fixed_delay"), cx),
        Some(Delay::HeaderDelay(_)) => fault.delay_from_header = true,
        None => {}
    }
    (fault.delay_numerator, fault.delay_denominator) = fraction(delay.percentage.as_ref());
    let reason = if delay.percentage.is_none() {
        "it has no percentage, which counts as 0"
    } else if fault.delay == Millis(0) && !fault.delay_from_header {
        "its duration is less than 1 ms"
    } else {
        return;
    };
    cx.report(
        &FAULT_NEVER_INJECTED,
        at,
        format_args!("the delay never happens: {reason}"),
    );
}

/// Returns the gRPC status code for an HTTP status (C-core `grpc_http2_status_to_grpc_status`).
const fn status_of_http(status: u32) -> Code {
    match status {
        0 | 200 => Code::Ok,
        _ => read::status_of_http(status),
    }
}

#[cfg(test)]
mod tests {
    use prost::Message as _;

    use super::*;
    use xdsctl_document::proto::any::extract;
    use xdsctl_document::proto::pb::Any;
    use xdsctl_document::proto::pb::envoy::extensions::filters::common::fault::v3::fault_delay::HeaderDelay;
    use xdsctl_document::proto::pb::envoy::r#type::v3::FractionalPercent;
    use xdsctl_model::profile::{Profile, ServerFacts};

    fn fault(message: &HttpFault) -> Fault {
        let (profile, server) = (Profile::default(), ServerFacts::default());
        let mut cx = Validation::new(&profile, &server);
        let any = Any {
            type_url: format!("type.googleapis.com/{FAULT}"),
            value: message.encode_to_vec().into(),
        };
        let extension = extract(Some(&any), &Path::ROOT, &mut cx).unwrap();
        match parse(&extension, &Path::ROOT, &mut cx) {
            Some(FilterConfig::Fault(fault)) => fault,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn nothing_configured_injects_nothing() {
        let expected = Fault {
            abort_denominator: 100,
            delay_denominator: 100,
            max_active_faults: u32::MAX,
            ..Fault::default()
        };
        assert_eq!(fault(&HttpFault::default()), expected);
    }

    #[test]
    fn percentages_keep_their_denominator_and_unknown_ones_are_hundreds() {
        let percent = |denominator| {
            Some(FractionalPercent {
                numerator: 250,
                denominator,
            })
        };
        let message = HttpFault {
            abort: Some(FaultAbort {
                percentage: percent(2),
                error_type: Some(ErrorType::HttpStatus(503)),
            }),
            delay: Some(FaultDelay {
                percentage: percent(7),
                fault_delay_secifier: Some(Delay::HeaderDelay(HeaderDelay {})),
            }),
            max_active_faults: Some(0),
        };
        let expected = Fault {
            abort_code: 14,
            abort_numerator: 250,
            abort_denominator: 1_000_000,
            delay_from_header: true,
            delay_numerator: 250,
            delay_denominator: 100,
            ..Fault::default()
        };
        assert_eq!(fault(&message), expected);
    }
}
