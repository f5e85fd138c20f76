//! How much of a listener is compared: a real one has thousands of combinations, and a hostile one
//! billions.

use xdsctl_document::proto::transcode::LIMIT_EXCEEDED;
use xdsctl_model::diag::{Path, Validation};

/// How many pairs of a chain and one of its source ranges or ports are compared for each
/// destination. The client makes a tuple of each: a real listener has thousands, and one of 10 MB
/// could have billions.
pub const MAX_TUPLES: usize = 1_000_000;

/// How many combinations of a listener's ranges and ports are compared for clients that make all of
/// them (grpc-go, grpc-js-xds) and look into the chain at each.
pub const MAX_COMBINATIONS: usize = 200_000;

/// Reports that the match at `at` exceeds [`MAX_COMBINATIONS`].
pub fn not_compared(at: &Path<'_>, cx: &mut Validation<'_>) {
    let why = format_args!("filter chains have more than {MAX_COMBINATIONS} combinations, the rest is not compared");
    cx.report_as(LIMIT_EXCEEDED.effect, &LIMIT_EXCEEDED, at, why);
}
