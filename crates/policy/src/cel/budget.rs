//! Counts steps: how many an evaluation takes, and how many are left.

use std::cell::Cell;
use std::rc::Rc;

use super::evaluate::EvaluationStop;

/// The most steps of one evaluation. A step is a part of an expression, an element of a list, or 16
/// bytes of a text that is made.
pub const MAX_STEPS: u64 = 1_000_000;

/// Bytes of a text that count as a step.
const BYTES_A_STEP: usize = 16;

/// Steps that views take to make a value. They are counted together with that value.
#[derive(Debug, Clone, Default)]
pub struct Work(Rc<Cell<usize>>);

impl Work {
    /// Adds steps.
    pub fn add(&self, steps: usize) {
        self.0.set(self.0.get().saturating_add(steps));
    }
}

/// How many steps are left.
#[derive(Debug)]
pub struct Budget {
    /// The steps that are left of this evaluation.
    own: u64,
    /// The steps that are left of all evaluations.
    all: u64,
    work: Work,
}

impl Budget {
    /// Makes a budget of this many steps for all evaluations together.
    pub fn new(all: u64) -> Budget {
        Budget {
            own: 0,
            all,
            work: Work::default(),
        }
    }

    /// Returns where views count their steps.
    pub fn work(&self) -> Work {
        self.work.clone()
    }

    /// Begins an evaluation.
    pub const fn begin(&mut self) {
        self.own = MAX_STEPS;
    }

    /// Returns how many steps of all evaluations are left.
    pub const fn left(&self) -> u64 {
        self.all
    }

    /// Takes steps of all evaluations. Says whether any are left.
    pub const fn spend(&mut self, steps: u64) -> bool {
        self.all = self.all.saturating_sub(steps);
        self.all > 0
    }

    /// Takes steps. An evaluation that wants more than it has ends, and all that it has are used
    /// up.
    #[inline]
    pub(super) fn take(&mut self, steps: usize) -> Result<(), EvaluationStop> {
        let steps = steps as u64;
        match (self.own.checked_sub(steps), self.all.checked_sub(steps)) {
            (Some(own), Some(all)) => {
                (self.own, self.all) = (own, all);
                Ok(())
            }
            _ => {
                self.all = self.all.saturating_sub(self.own.min(steps));
                self.own = 0;
                Err(EvaluationStop::Limit)
            }
        }
    }

    /// Takes steps, and those that views have counted.
    #[inline]
    pub(super) fn take_work(&mut self, steps: usize) -> Result<(), EvaluationStop> {
        self.take(steps.saturating_add(self.work.0.take()))
    }

    /// Takes the steps for a text of this many bytes.
    #[inline]
    pub(super) fn text(&mut self, bytes: usize) -> Result<(), EvaluationStop> {
        self.take(bytes / BYTES_A_STEP)
    }
}
