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

/// The largest number of seconds.
pub const MAX_SECONDS: i64 = MAX_DURATION_SECONDS;

/// The largest number of nanoseconds.
pub const MAX_NANOS: i32 = 999_999_999;

/// Checks a Duration and converts it.
///
/// Reports [`DURATION_OUT_OF_RANGE`] at `.seconds` and at `.nanos`, each on its own. The value
/// returned for a Duration out of range has no meaning; the resource is rejected.
pub fn parse(duration: &Duration, at: &Path<'_>, cx: &mut Validation<'_>) -> Millis {
    if !(0..=MAX_SECONDS).contains(&duration.seconds) {
        cx.report(
            &DURATION_OUT_OF_RANGE,
            &at.field("seconds"),
            format_args!("seconds is {}, must be 0 to {MAX_SECONDS}", duration.seconds),
        );
    }
    if !(0..=MAX_NANOS).contains(&duration.nanos) {
        cx.report(
            &DURATION_OUT_OF_RANGE,
            &at.field("nanos"),
            format_args!("nanos is {}, must be 0 to {MAX_NANOS}", duration.nanos),
        );
    }
    Millis(
        duration
            .seconds
            .saturating_mul(1000)
            .saturating_add(i64::from(duration.nanos) / 1_000_000),
    )
}
