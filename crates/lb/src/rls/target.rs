//! A target of rls, and the policies for it.

use crate::picker::{Pick, PickArgs, PickCx};
use crate::run::children::NamedChild;
use crate::runtime::Connectivity;
use xdsctl_model::status::Status;

/// A target and the policies for it.
pub(super) type Target = NamedChild<TargetState>;

/// What is known about a target.
#[derive(Debug)]
pub(super) struct TargetState {
    /// How many cache entries name the target, and one more if it is the default target.
    pub uses: usize,
    /// The state that counts: after TRANSIENT_FAILURE, only a report of READY changes it.
    pub state: Connectivity,
    /// The status with which picks fail while the state is TRANSIENT_FAILURE.
    pub failure: Option<Status>,
    /// The status of picks if the child's config is rejected with this target.
    pub broken: Option<Status>,
}

impl Target {
    /// Picks from the child.
    pub fn pick(&mut self, args: &PickArgs<'_>, cx: &mut PickCx<'_>) -> Pick {
        if let Some(status) = &self.data.broken {
            return Pick::Fail(status.clone());
        }
        let pick = self.child.pick(args, cx);
        if self.data.state != Connectivity::TransientFailure {
            return pick;
        }
        // After a failure, nothing that the child does is seen until it is READY: the picker of the
        // failure stays.
        match pick {
            Pick::Fail(status) => Pick::Fail(self.data.failure.get_or_insert(status).clone()),
            Pick::Queue => match &self.data.failure {
                Some(status) => Pick::Fail(status.clone()),
                None => Pick::Queue,
            },
            Pick::Complete(_) | Pick::Drop(_) => pick,
        }
    }
}
