//! What the queue of the runtime holds.

use crate::policy::{PolicyEvent, TreePath};

/// An event at a point in time: for a policy, a connection, or the channel that owns the runtime.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// An event for the policy at this place.
    Policy(TreePath, PolicyEvent),
    /// A pick of an RPC causes something for the policy at this place. The RPC waits for what
    /// follows from it.
    PolicyFirst {
        /// The number of the RPC.
        call: u64,
        /// The place of the policy.
        at: TreePath,
        /// What happens.
        what: PolicyEvent,
    },
    /// A subchannel may connect again.
    BackoffOver {
        /// The number of the subchannel.
        subchannel: u32,
        /// The subchannel's generation when the back-off began.
        generation: u32,
    },
    /// An attempt to connect ends.
    ConnectOver {
        /// The number of the subchannel.
        subchannel: u32,
        /// The subchannel's generation when the attempt began.
        generation: u32,
    },
    /// A backend reports its load out of band.
    LoadReport {
        /// The number of the subchannel.
        subchannel: u32,
        /// The number of the stream.
        serial: u64,
    },
    /// A backend answers an attempt.
    Answer {
        /// The number of the RPC.
        call: u64,
        /// The number of the attempt.
        serial: u64,
    },
    /// The next attempt of an RPC begins, or the first one after a delay.
    Attempt {
        /// The number of the RPC.
        call: u64,
        /// The number of the attempt before it, or of the delay.
        serial: u64,
    },
    /// RPCs that wait ask the picker again.
    PickAgain,
    /// The deadline of an RPC has come.
    Deadline {
        /// The number of the RPC.
        call: u64,
    },
    /// The configuration is made again: a resource has been awaited for long enough, or other
    /// clusters are wanted.
    Resolve,
}
