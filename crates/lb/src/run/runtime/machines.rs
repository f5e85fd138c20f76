//! Counts the policies of a channel, for the limit.

use std::sync::Arc;

/// Counts the policies of a channel.
#[derive(Debug, Default)]
pub(super) struct Machines(Arc<()>);

/// A policy, which counts as long as this value lives.
#[derive(Debug)]
pub(in crate::run) struct OneMachine(#[expect(dead_code, reason = "it is there to be counted")] Arc<()>);

impl Machines {
    /// Returns the number of policies.
    pub(super) fn count(&self) -> usize {
        Arc::strong_count(&self.0) - 1
    }

    /// Counts one more policy, as long as the returned value lives.
    pub(super) fn one(&self) -> OneMachine {
        OneMachine(Arc::clone(&self.0))
    }
}
