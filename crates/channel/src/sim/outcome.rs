//! How an RPC ended.

use std::collections::VecDeque;
use std::sync::Arc;

use xdsctl_lb::picker::{StepKind, TraceStep};
use xdsctl_lb::runtime::Time;
use xdsctl_model::status::Code;

/// How the last pick ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// An endpoint was chosen.
    Complete,
    /// The RPC waited until its deadline.
    Queue,
    /// The RPC failed before or in a pick.
    Fail,
    /// The RPC was dropped on purpose.
    Drop,
}

impl Class {
    /// The word used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Class::Complete => "complete",
            Class::Queue => "queue",
            Class::Fail => "fail",
            Class::Drop => "drop",
        }
    }
}

/// How many steps of one RPC are kept from its beginning, and as many again from its end.
pub const TRACE_KEPT: usize = 500;

/// How many steps of all RPCs under way on a channel are kept, about 100 bytes each.
pub const TRACES_KEPT: usize = 200_000;

/// The way of an RPC through the layers. A long one keeps its beginning and its end: an RPC that
/// waits for a week is picked for ten thousand times. If there are many RPCs, the steps that come
/// first are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    first: Vec<TraceStep>,
    last: VecDeque<TraceStep>,
    /// The number of steps between `first` and `last` that were not kept.
    between: u64,
    /// The number of steps after `last` that were not kept.
    behind: u64,
}

impl Trace {
    /// Adds a step. `room` is how many more steps all RPCs may keep.
    pub fn push(&mut self, step: TraceStep, room: &mut usize) {
        if self.last.len() == TRACE_KEPT && self.behind == 0 {
            self.last.pop_front();
            self.between += 1;
            self.last.push_back(step);
        } else if *room == 0 || self.behind > 0 {
            self.behind += 1;
        } else if self.first.len() < TRACE_KEPT {
            *room -= 1;
            self.first.push(step);
        } else {
            *room -= 1;
            self.last.push_back(step);
        }
    }

    /// The number of steps that are kept.
    pub fn kept(&self) -> usize {
        self.first.len() + self.last.len()
    }

    /// The number of steps that were not kept.
    pub const fn left_out(&self) -> u64 {
        self.between + self.behind
    }

    /// The steps that were kept, in order, with a note on those that were not.
    pub fn into_steps(self) -> Vec<TraceStep> {
        let mut steps = self.first;
        steps.reserve_exact(self.last.len() + usize::from(self.between > 0) + usize::from(self.behind > 0));
        let kind = StepKind::LeftOut;
        if self.between > 0 {
            let text = format!(
                "{} steps are left out here (limit `trace`: the first and the last {TRACE_KEPT} are kept)",
                self.between
            );
            steps.push(TraceStep { kind, text });
        }
        steps.extend(self.last);
        if self.behind > 0 {
            let text = format!(
                "{} steps are left out here (limit `trace`: {TRACES_KEPT} are kept of all RPCs under way)",
                self.behind
            );
            steps.push(TraceStep { kind, text });
        }
        steps
    }
}

/// Where in the configuration the endpoint of an attempt stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointPlace {
    /// The leaf cluster.
    pub cluster: Arc<str>,
    /// `REGION/ZONE/SUB_ZONE`, without slashes at its end; empty if the configuration has no such
    /// endpoint any more.
    pub locality: Arc<str>,
}

/// What became of an RPC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// How the last pick ended.
    pub class: Class,
    /// The status code that the application gets.
    pub code: Code,
    /// The status message; empty with OK.
    pub details: String,
    /// The address that answered OK.
    pub backend: Option<String>,
    /// The `set-cookie` headers of the answer.
    pub set_cookie: Vec<String>,
    /// Whether the cookies came with the trailers, because the answer had no headers.
    pub cookie_in_trailers: bool,
    /// The address of each attempt that reached a backend.
    pub attempts: Vec<String>,
    /// The position of the route that took the RPC; `None` if none did.
    pub route: Option<usize>,
    /// The name of that route; set only with
    /// [`ChannelOptions::places`](super::ChannelOptions::places).
    pub route_name: Option<Arc<str>>,
    /// The virtual host in use; set only with
    /// [`ChannelOptions::places`](super::ChannelOptions::places).
    pub virtual_host: Option<Arc<str>>,
    /// The cluster that the route, the session's cookie or a lookup (RLS) chose; set only with
    /// [`ChannelOptions::places`](super::ChannelOptions::places).
    pub cluster: Option<Arc<str>>,
    /// The place of the last attempt's endpoint; set only with
    /// [`ChannelOptions::places`](super::ChannelOptions::places).
    pub place: Option<EndpointPlace>,
    /// `:authority` of the last attempt; `None` if there was none.
    pub authority: Option<Arc<str>>,
    /// When the RPC began, in simulated milliseconds.
    pub began: Time,
    /// When the RPC ended, in simulated milliseconds.
    pub ended: Time,
    /// The way through the layers. A long one has only its beginning and its end.
    pub trace: Vec<TraceStep>,
    /// The number of steps that `trace` leaves out.
    pub trace_left_out: u64,
}

impl Outcome {
    /// Why another endpoint than the cookie's got the RPC, from the trace of the last pick.
    pub fn lost_session(&self) -> Option<&str> {
        self.backend.as_ref()?;
        let of_pick = self.trace.iter().rev().take_while(|step| step.kind != StepKind::Pick);
        let hosts = of_pick.filter_map(|step| match step.kind {
            StepKind::CookieHost { is_ready } => Some((is_ready, step.text.as_str())),
            _ => None,
        });
        let hosts: Vec<(bool, &str)> = hosts.collect();
        let is_kept = hosts.iter().any(|(is_ready, _)| *is_ready);
        hosts.last().map(|(_, text)| *text).filter(|_| !is_kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(number: usize) -> TraceStep {
        TraceStep {
            kind: StepKind::Pick,
            text: number.to_string(),
        }
    }

    #[test]
    fn a_long_trace_keeps_beginning_and_end_and_says_so() {
        let trace = |len: usize| {
            let mut trace = Trace::default();
            let mut room = TRACES_KEPT;
            (0..len).for_each(|number| trace.push(step(number), &mut room));
            assert_eq!(room + trace.kept(), TRACES_KEPT);
            (trace.left_out(), trace.into_steps())
        };
        let (left_out, steps) = trace(2 * TRACE_KEPT);
        assert_eq!((left_out, steps.len()), (0, 2 * TRACE_KEPT));
        let (left_out, steps) = trace(2 * TRACE_KEPT + 3);
        assert_eq!((left_out, steps.len()), (3, 2 * TRACE_KEPT + 1));
        let at = |index: usize| steps[index].text.as_str();
        assert_eq!((at(TRACE_KEPT - 1), at(TRACE_KEPT + 1)), ("499", "503"));
        assert_eq!(
            at(TRACE_KEPT),
            "3 steps are left out here (limit `trace`: the first and the last 500 are kept)"
        );
    }

    #[test]
    fn traces_of_all_rpcs_share_their_room() {
        let mut room = 3;
        let mut traces = [Trace::default(), Trace::default()];
        for number in 0..2 {
            for trace in &mut traces {
                trace.push(step(number), &mut room);
            }
        }
        // What was cut stays cut, in order.
        room = 1;
        traces[1].push(step(2), &mut room);
        let texts = traces.map(|trace| trace.into_steps().into_iter().map(|step| step.text).collect::<Vec<_>>());
        let cut = "2 steps are left out here (limit `trace`: 200000 are kept of all RPCs under way)";
        assert_eq!(
            (texts[0].as_slice(), texts[1].as_slice()),
            (&["0".into(), "1".into()][..], &["0".into(), cut.into()][..])
        );
    }
}
