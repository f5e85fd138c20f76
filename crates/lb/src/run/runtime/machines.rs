//! How many policies there are.

use std::sync::Arc;

/// Counts the policies of a channel.
#[derive(Debug, Default)]
pub(super) struct Machines(Arc<()>);

/// A policy, which is counted as long as this is there.
#[derive(Debug)]
pub(in crate::run) struct OneMachine(#[expect(dead_code, reason = "it is there to be counted")] Arc<()>);

impl Machines {
    /// How many there are.
    pub(super) fn count(&self) -> usize {
        Arc::strong_count(&self.0) - 1
    }

    /// Counts one state machine more, while the answer lives.
    pub(super) fn one(&self) -> OneMachine {
        OneMachine(Arc::clone(&self.0))
    }
}
