//! What the queue of the runtime holds.

use crate::policy::{PolicyEvent, TreePath};

/// What can happen at a time: to a policy, to a connection, or to the channel that owns the
/// runtime.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// Something happens to the policy at this place.
    Policy(TreePath, PolicyEvent),
    /// The same, by the pick of an RPC, which waits for what comes behind it.
    PolicyFirst {
        /// Number of the RPC.
        call: u64,
        /// The place of the policy.
        at: TreePath,
        /// What happens.
        what: PolicyEvent,
    },
    /// A subchannel may connect again.
    BackoffOver {
        /// Number of the subchannel.
        subchannel: u32,
        /// Its generation when the back-off began.
        generation: u32,
    },
    /// An attempt to connect comes to its end.
    ConnectOver {
        /// Number of the subchannel.
        subchannel: u32,
        /// Its generation when the attempt began.
        generation: u32,
    },
    /// A backend reports its load out of band.
    LoadReport {
        /// Number of the subchannel.
        subchannel: u32,
        /// Number of the stream.
        serial: u64,
    },
    /// A backend answers an attempt.
    Answer {
        /// Number of the RPC.
        call: u64,
        /// Number of the attempt.
        serial: u64,
    },
    /// The next attempt of an RPC begins, or the first one after a delay.
    Attempt {
        /// Number of the RPC.
        call: u64,
        /// Number of the attempt before it, or of the delay.
        serial: u64,
    },
    /// RPCs that wait get the picker once more.
    PickAgain,
    /// The time of an RPC is over.
    Deadline {
        /// Number of the RPC.
        call: u64,
    },
    /// The configuration is made anew: a resource has been waited for long enough, or other
    /// clusters are wanted.
    Resolve,
}
