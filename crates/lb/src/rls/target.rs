//! A target of rls, and the policies for it.

use crate::picker::{Pick, PickArgs, PickCx};
use crate::run::child::Child;
use crate::runtime::Connectivity;
use xdsctl_model::status::Status;

/// A target and the policies for it.
#[derive(Debug)]
pub(super) struct Target {
    pub number: u32,
    pub child: Child,
    /// Entries that name it, and the default.
    pub uses: usize,
    /// What counts of what the child reported: after TRANSIENT_FAILURE only READY does.
    pub state: Connectivity,
    /// What picks fail with while the state is TRANSIENT_FAILURE.
    pub failure: Option<Status>,
    /// The child's config is refused with this target.
    pub broken: Option<Status>,
}

impl Target {
    /// Picks from it.
    pub fn pick(&mut self, args: &PickArgs<'_>, cx: &mut PickCx<'_>) -> Pick {
        if let Some(status) = &self.broken {
            return Pick::Fail(status.clone());
        }
        let pick = self.child.pick(args, cx);
        if self.state != Connectivity::TransientFailure {
            return pick;
        }
        // What a child does after a failure is not seen until it is READY: the picker of the
        // failure stays.
        match pick {
            Pick::Fail(status) => Pick::Fail(self.failure.get_or_insert(status).clone()),
            Pick::Queue => match &self.failure {
                Some(status) => Pick::Fail(status.clone()),
                None => Pick::Queue,
            },
            Pick::Complete(_) | Pick::Drop(_) => pick,
        }
    }
}
