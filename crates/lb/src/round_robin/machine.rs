//! round_robin at work: sends RPCs to every connected endpoint in turn.
//!
//! A new list of endpoints waits until it can do better than the old one. Each report of any
//! endpoint makes a new picker, which starts at a random endpoint. Follows C-core round_robin.cc.

use crate::picker::{Pick, PickArgs, PickCx, PickShares};
use crate::policy::{PolicyCx, PolicyEvent, Reports, TreePath, Update};
use crate::run::endpoint_lists::{EndpointLists, ListNews, ListPicker};
use xdsctl_model::rng::Rng;

/// The state of a round_robin policy.
#[derive(Debug)]
pub struct RoundRobinPolicy {
    /// The lists, with the rank, among the READY endpoints, of the endpoint that the next RPC gets.
    lists: EndpointLists<usize>,
    start: Rng,
}

impl RoundRobinPolicy {
    /// Makes a policy without endpoints.
    pub fn new(at: TreePath, cx: &mut PolicyCx<'_>) -> RoundRobinPolicy {
        RoundRobinPolicy {
            start: cx.runtime.stream("round_robin/start", &at),
            lists: EndpointLists::new("round_robin", at, cx),
        }
    }

    /// Handles the reports of endpoints of a list.
    fn note(&mut self, news: ListNews, cx: &mut PolicyCx<'_>) -> Reports {
        self.lists.note_all(news, cx, |ready| self.start.index(ready))
    }
}

impl crate::policy::StateMachine for RoundRobinPolicy {
    fn update(&mut self, update: Update<'_>, cx: &mut PolicyCx<'_>) -> Reports {
        let news = self.lists.update(&update, cx);
        self.note(news, cx)
    }

    fn handle(&mut self, path: &[u32], what: &PolicyEvent, cx: &mut PolicyCx<'_>) -> Reports {
        let news = self.lists.handle(path, what, cx);
        self.note(news, cx)
    }

    fn pick(&mut self, args: &PickArgs<'_>, cx: &mut PickCx<'_>) -> Pick {
        let count = self.lists.ready();
        match &mut self.lists.shown {
            ListPicker::Ready(next) => {
                let turn = *next;
                *next = if turn + 1 < count { turn + 1 } else { 0 };
                let member = self.lists.nth_ready(turn).and_then(|index| self.lists.get_mut(index));
                let Some(member) = member else { return Pick::Queue };
                cx.say(
                    super::NAME,
                    format_args!(
                        "endpoint {} of {count} that are READY: {}",
                        turn + 1,
                        member.endpoint.name()
                    ),
                );
                member.child.pick(args, cx)
            }
            waiting => waiting.wait(super::NAME, cx),
        }
    }

    fn shares(&self, args: &PickArgs<'_>, share: f64, out: &mut PickShares) {
        self.lists.shares(args, share, out);
    }

    fn shutdown(&mut self, cx: &mut PolicyCx<'_>) {
        self.lists.shutdown(cx);
    }
}
