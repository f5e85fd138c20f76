//! What the headers of an RPC ask the fault filter for, as each family reads them.
//!
//! C-core reads `x-envoy-fault-abort-percentage`. All others read
//! `x-envoy-fault-abort-request-percentage`, and an HTTP status besides the gRPC one.

use std::num::ParseIntError;

use super::Request;
use xdsctl_model::resource::Millis;
use xdsctl_model::resource::filter::{Fault, FaultHeaders};
use xdsctl_model::status::{Code, Status, of_http_error, of_http_error_in_java};

const ABORT_GRPC: &str = "x-envoy-fault-abort-grpc-request";
const ABORT_HTTP: &str = "x-envoy-fault-abort-request";
const ABORT_SHARE: &str = "x-envoy-fault-abort-request-percentage";
const ABORT_SHARE_OF_CORE: &str = "x-envoy-fault-abort-percentage";
const DELAY: &str = "x-envoy-fault-delay-request";
const DELAY_SHARE: &str = "x-envoy-fault-delay-request-percentage";

/// What may happen to an RPC, and to which share of such RPCs.
pub(super) struct FaultChances {
    pub abort: Option<Status>,
    /// The share, as numerator and denominator.
    pub abort_share: (u32, u32),
    /// The delay; 0 or less for none.
    pub delay: Millis,
    pub delay_share: (u32, u32),
}

/// Reads the fault of a filter, with the values of the RPC's headers.
pub(super) fn asked(fault: &Fault, request: &Request<'_>) -> FaultChances {
    let asked = FaultChances {
        abort: configured(fault),
        abort_share: (fault.abort_numerator, fault.abort_denominator),
        delay: fault.delay,
        delay_share: (fault.delay_numerator, fault.delay_denominator),
    };
    let values = Values(request);
    match fault.headers {
        FaultHeaders::Core => of_core(asked, fault, &values),
        FaultHeaders::Go => of_go(asked, fault, &values),
        FaultHeaders::Java => of_java(asked, fault, &values),
        FaultHeaders::Node => of_node(asked, fault, &values),
    }
}

/// The status of an abort that the configuration sets.
fn configured(fault: &Fault) -> Option<Status> {
    let code = || Code::from_number(fault.abort_code);
    match fault.headers {
        _ if fault.abort_code == 0 && !fault.aborts_with_ok => None,
        FaultHeaders::Core => Some(injected(code())),
        FaultHeaders::Node => Some(rejected(code())),
        FaultHeaders::Go => Some(terminated(code())),
        FaultHeaders::Java => Some(terminated_with(i64::from(fault.abort_code))),
    }
}

/// The status in the words of C-core. A code that does not exist becomes UNKNOWN.
fn injected(code: Option<Code>) -> Status {
    Status::new(code.unwrap_or(Code::Unknown), "Fault injected")
}

/// The status in the words of grpc-js-xds. There, a call that ends with OK lacks a response.
fn rejected(code: Option<Code>) -> Status {
    match code {
        Some(Code::Ok) => Status::new(Code::Unimplemented, "No message received"),
        code => injected(code),
    }
}

/// The status in the words of grpc-go. There, a stream that ends with OK has no response.
fn terminated(code: Option<Code>) -> Status {
    match code.unwrap_or(Code::Unknown) {
        Code::Ok => Status::new(Code::Unknown, "EOF"),
        code => Status::new(code, TERMINATED),
    }
}

/// The status of a code in the words of grpc-java.
fn terminated_with(code: i64) -> Status {
    match u32::try_from(code).ok().and_then(Code::from_number) {
        Some(code) => Status::new(code, TERMINATED),
        None => Status::new(Code::Unknown, format!("{TERMINATED}: Unknown code {code}")),
    }
}

const TERMINATED: &str = "RPC terminated due to fault injection";

/// The headers of an RPC.
struct Values<'r>(&'r Request<'r>);

impl Values<'_> {
    fn of<'v>(&'v self, name: &'static str) -> impl DoubleEndedIterator<Item = &'v str> {
        let of_name = self.0.headers.iter().filter(move |(key, _)| key == name);
        of_name.map(|(_, value)| value.as_str())
    }

    fn last(&self, name: &'static str) -> Option<&str> {
        self.of(name).next_back()
    }

    /// The number in the first value with a digit, as grpc-js-xds reads it.
    fn leading(&self, name: &'static str) -> Option<i64> {
        let value = self
            .of(name)
            .find(|value| value.contains(|c: char| c.is_ascii_digit()))?;
        Some(leading_number(value))
    }
}

/// Reads the headers as C-core does. It ignores an HTTP status. A value that is no number is an
/// unknown code, or asks for the whole share.
fn of_core(mut asked: FaultChances, fault: &Fault, values: &Values<'_>) -> FaultChances {
    let limited = |configured: u32, name| match values.0.joined(name) {
        Some(value) => parse::<u32>(&value).unwrap_or(u32::MAX).min(configured),
        None => configured,
    };
    if fault.abort_from_header {
        if fault.abort_code == 0
            && let Some(value) = values.0.joined(ABORT_GRPC)
        {
            let status = injected(parse::<u32>(&value).and_then(Code::from_number));
            asked.abort = Some(status).filter(|status| status.code != Code::Ok);
        }
        asked.abort_share.0 = limited(asked.abort_share.0, ABORT_SHARE_OF_CORE);
    }
    if fault.delay_from_header {
        if fault.delay == Millis(0)
            && let Some(value) = values.0.joined(DELAY)
        {
            asked.delay = Millis(parse::<i64>(&value).unwrap_or(0));
        }
        asked.delay_share.0 = limited(asked.delay_share.0, DELAY_SHARE);
    }
    asked
}

/// Reads the headers as grpc-go does (`injectAbort`, `injectDelay`). An HTTP status has precedence
/// over a gRPC one, even if it is invalid, and a share below 0 counts as 0.
fn of_go(mut asked: FaultChances, fault: &Fault, values: &Values<'_>) -> FaultChances {
    let number = |name| values.last(name).and_then(|value| value.parse::<i64>().ok());
    let limited = |configured: u32, name| match number(name) {
        Some(share) if share < i64::from(configured) => u32::try_from(share).unwrap_or(0),
        _ => configured,
    };
    if fault.abort_from_header {
        asked.abort = match values.last(ABORT_HTTP) {
            Some(_) => {
                let status = number(ABORT_HTTP).filter(|status| (200..600).contains(status));
                let status = status.and_then(|status| u32::try_from(status).ok());
                status.map(|status| terminated(Some(of_http_error(status))))
            }
            // A code has the low 32 bits of the number.
            None => number(ABORT_GRPC).map(|code| terminated(Code::from_number((code & 0xffff_ffff) as u32))),
        };
        asked.abort_share.0 = limited(asked.abort_share.0, ABORT_SHARE);
    }
    if fault.delay_from_header {
        asked.delay = Millis(number(DELAY).unwrap_or(0));
        asked.delay_share.0 = limited(asked.delay_share.0, DELAY_SHARE);
    }
    asked
}

/// Reads the headers as grpc-java does (`determineFaultAbortStatus`, `determineFaultDelayNanos`).
/// An HTTP status has precedence over a gRPC one. A header that is no number of 32 bits prevents
/// the abort or the delay.
fn of_java(mut asked: FaultChances, fault: &Fault, values: &Values<'_>) -> FaultChances {
    let number = |name| values.last(name).map(|value| value.parse::<i32>()).transpose();
    // A configured share of 2^31 or more is negative there, and below every other one.
    let limited = |share: (u32, u32), name| -> Result<(u32, u32), ParseIntError> {
        let of_header = number(name)?.and_then(|share| u32::try_from(share).ok());
        let of_header = of_header.filter(|_| share.0.cast_signed() >= 0);
        Ok((of_header.unwrap_or(u32::MAX).min(share.0), share.1))
    };
    if fault.abort_from_header {
        let mut read = || -> Result<Option<Status>, ParseIntError> {
            let grpc = number(ABORT_GRPC)?.map(|code| terminated_with(code.into()));
            let http = number(ABORT_HTTP)?.map(of_http_of_java);
            asked.abort_share = limited(asked.abort_share, ABORT_SHARE)?;
            Ok(http.or(grpc))
        };
        asked.abort = read().unwrap_or(None);
    }
    if fault.delay_from_header {
        let mut read = || -> Result<Option<i32>, ParseIntError> {
            let delay = number(DELAY)?;
            asked.delay_share = limited(asked.delay_share, DELAY_SHARE)?;
            Ok(delay)
        };
        asked.delay = Millis(read().unwrap_or(None).unwrap_or(0).into());
    }
    asked.abort_share = of_million(asked.abort_share);
    asked.delay_share = of_million(asked.delay_share);
    asked
}

/// The status for an HTTP status, in the words of grpc-java.
fn of_http_of_java(status: i32) -> Status {
    let code = u32::try_from(status).map_or(Code::Unknown, of_http_error_in_java);
    Status::new(code, format!("{TERMINATED}: HTTP status code {status}"))
}

/// Computes `getRatePerMillion`, which counts in signed 32 bits. A product that does not fit gives
/// the whole, or by chance a part of it.
fn of_million((numerator, denominator): (u32, u32)) -> (u32, u32) {
    const MILLION: i32 = 1_000_000;
    let factor = MILLION / i32::try_from(denominator.max(1)).unwrap_or(MILLION);
    let share = numerator.cast_signed().wrapping_mul(factor);
    let share = if (0..=MILLION).contains(&share) { share } else { MILLION };
    (share.unsigned_abs(), MILLION.unsigned_abs())
}

/// Reads the headers as grpc-js-xds does. A gRPC status has precedence over an HTTP one, and a
/// value without a digit counts as missing.
fn of_node(mut asked: FaultChances, fault: &Fault, values: &Values<'_>) -> FaultChances {
    let limited = |configured: u32, name| match values.leading(name) {
        Some(share) if share < i64::from(configured) => u32::try_from(share).unwrap_or(0),
        _ => configured,
    };
    if fault.abort_from_header {
        let code = |code: i64| u32::try_from(code).ok().and_then(Code::from_number);
        let of_http = |status: i64| u32::try_from(status).ok().map(of_http_error);
        let grpc = values.leading(ABORT_GRPC).map(code);
        let code = grpc.or_else(|| values.leading(ABORT_HTTP).map(of_http));
        asked.abort = code.map(rejected);
        asked.abort_share.0 = limited(asked.abort_share.0, ABORT_SHARE);
    }
    if fault.delay_from_header {
        asked.delay = Millis(values.leading(DELAY).unwrap_or(0));
        asked.delay_share.0 = limited(asked.delay_share.0, DELAY_SHARE);
    }
    asked
}

/// The number at the beginning of a text, as JavaScript's `parseInt` reads it: `0x` begins a
/// hexadecimal number. 0 if there is none.
fn leading_number(text: &str) -> i64 {
    let text = text.trim_start();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let hex = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
    let (digits, radix) = hex.map_or((digits, 10), |hex| (hex, 16));
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    let number = digits
        .get(..end)
        .and_then(|digits| i64::from_str_radix(digits, radix).ok());
    number.map_or(0, |number| sign * number)
}

fn parse<T: std::str::FromStr>(text: &str) -> Option<T> {
    text.trim_matches([' ', '\t', '\n', '\x0b', '\x0c', '\r']).parse().ok()
}
