//! The limits of the simulation. What lies beyond them is not guessed: the simulation ends and says
//! so.

use crate::sim::clusters::MAX_NESTED_CDS;
use xdsctl_lb::runtime::Time;
use xdsctl_model::resource::Millis;

/// Why the simulation goes no further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LimitReached {
    /// A step needs more events than one step may have.
    #[error(
        "the simulation ends after {events} events (limit `--max-events`), at {} of simulated time: nothing is known of \
         what comes then",
        Millis(*.now)
    )]
    Events {
        /// How many events there may be.
        events: u64,
        /// Simulated time, in milliseconds.
        now: Time,
    },
    /// All steps of a script together need more timers and changes of connections than they may
    /// have.
    #[error(
        "the steps so far needed more than {0} timers and changes of connections, which is the limit for all steps (four times \
         `--max-events`)"
    )]
    Steps(u64),
    /// The channel needs too many LB policies and connections.
    #[error(
        "the channel needs more than {0} LB policies and connections, which is the limit: nothing is known of its RPCs"
    )]
    Machines(usize),
    /// Too many clusters lead to each other by their LB policies, one inside of the other.
    #[error(
        "more than {MAX_NESTED_CDS} clusters lead to each other by their LB policies, which is the limit: nothing is known of \
         the channel's RPCs"
    )]
    Nested,
}
