//! How long a subchannel waits between attempts to connect (C-core subchannel.cc).

use crate::backoff::{Backoff, Growth};

/// The wait from the start of one attempt to that of the next.
const GROWTH: Growth = Growth {
    initial_ms: 1000,
    multiplier: 1.6,
    max_ms: 120_000,
};

/// Time that an attempt gets at least; a longer back-off gives it more.
pub const ATTEMPT_TIMEOUT_MS: i64 = 20_000;

/// The back-off of one subchannel, before its first attempt.
pub const fn of_subchannel() -> Backoff {
    Backoff::new(GROWTH)
}
