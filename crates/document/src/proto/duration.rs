//! `google.protobuf.Duration` as the client reads it.
//!
//! Range 0 to 315,576,000,000 s and 0 to 999,999,999 ns; kept in whole milliseconds, nanoseconds
//! rounded down (C-core `ParseDuration`, xds_common_types_parser.cc).

use prost_types::Duration;

use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::resource::{MAX_DURATION_SECONDS, Millis};

rules! {
    /// A Duration's seconds or nanos are out of range.
    DURATION_OUT_OF_RANGE = "duration-out-of-range", Common, Nack, "C-core xds_common_types_parser.cc ParseDuration";
}

/// The largest number of nanoseconds.
const MAX_NANOS: i64 = 999_999_999;

/// Checks a Duration and converts it.
///
/// Reports [`DURATION_OUT_OF_RANGE`] at `.seconds` and at `.nanos`, each on its own. The value
/// returned for a Duration out of range has no meaning; the resource is rejected.
pub fn parse(duration: &Duration, at: &Path<'_>, cx: &mut Validation<'_>) -> Millis {
    let parts = [
        ("seconds", duration.seconds, MAX_DURATION_SECONDS),
        ("nanos", duration.nanos.into(), MAX_NANOS),
    ];
    for (name, value, most) in parts {
        if !(0..=most).contains(&value) {
            let message = format_args!("{name} is {value}, must be 0 to {most}");
            cx.report(&DURATION_OUT_OF_RANGE, &at.field(name), message);
        }
    }
    Millis(
        duration
            .seconds
            .saturating_mul(1000)
            .saturating_add(i64::from(duration.nanos) / 1_000_000),
    )
}
