//! How an RPC ended.

use std::collections::VecDeque;

use crate::lb::picker::TraceStep;
use crate::lb::runtime::Time;
use crate::status::Code;

/// What the last pick came to.
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

/// Steps of one RPC that are kept from its beginning, and as many again from its end.
pub const TRACE_KEPT: usize = 500;

/// The way of an RPC through the layers. Of a long one, beginning and end are kept: an RPC that waits for a week is picked
/// for ten thousand times.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    first: Vec<TraceStep>,
    last: VecDeque<TraceStep>,
    left_out: u64,
}

impl Trace {
    /// Adds a step.
    pub fn push(&mut self, step: TraceStep) {
        if self.first.len() < TRACE_KEPT {
            self.first.push(step);
            return;
        }
        if self.last.len() == TRACE_KEPT {
            self.last.pop_front();
            self.left_out += 1;
        }
        self.last.push_back(step);
    }

    /// Steps between beginning and end that were not kept.
    pub const fn left_out(&self) -> u64 {
        self.left_out
    }

    /// The steps that were kept, in order, with a word on those that were not.
    pub fn into_steps(self) -> Vec<TraceStep> {
        let mut steps = self.first;
        if self.left_out > 0 {
            steps.push(TraceStep {
                layer: "trace",
                what: format!(
                    "{} steps are left out here (limit `trace`: the first and the last {TRACE_KEPT} are kept)",
                    self.left_out
                ),
            });
        }
        steps.extend(self.last);
        steps
    }
}

impl Extend<TraceStep> for Trace {
    fn extend<I: IntoIterator<Item = TraceStep>>(&mut self, steps: I) {
        steps.into_iter().for_each(|step| self.push(step));
    }
}

/// What became of an RPC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// What the last pick came to.
    pub class: Class,
    /// The code.
    pub code: Code,
    /// The message; empty with OK.
    pub details: String,
    /// The address that answered OK.
    pub backend: Option<String>,
    /// `set-cookie` headers of the answer.
    pub set_cookie: Vec<String>,
    /// The cookies came with the trailers, as the answer had no headers.
    pub cookie_in_trailers: bool,
    /// The address of each attempt that reached one.
    pub attempts: Vec<String>,
    /// When the RPC began.
    pub began: Time,
    /// When it ended.
    pub ended: Time,
    /// The way through the layers; of a long one, beginning and end.
    pub trace: Vec<TraceStep>,
    /// Steps that `trace` leaves out.
    pub trace_left_out: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_trace_keeps_beginning_and_end_and_says_so() {
        let step = |number: usize| TraceStep {
            layer: "pick",
            what: number.to_string(),
        };
        let trace = |len: usize| {
            let mut trace = Trace::default();
            trace.extend((0..len).map(step));
            (trace.left_out(), trace.into_steps())
        };
        let (left_out, steps) = trace(2 * TRACE_KEPT);
        assert_eq!((left_out, steps.len()), (0, 2 * TRACE_KEPT));
        let (left_out, steps) = trace(2 * TRACE_KEPT + 3);
        assert_eq!((left_out, steps.len()), (3, 2 * TRACE_KEPT + 1));
        let at = |index: usize| steps[index].what.as_str();
        assert_eq!((at(TRACE_KEPT - 1), at(TRACE_KEPT + 1)), ("499", "503"));
        assert_eq!(
            at(TRACE_KEPT),
            "3 steps are left out here (limit `trace`: the first and the last 500 are kept)"
        );
    }
}
