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
    /// The steps that may be taken: the lesser of the two below, less those that were taken since
    /// it was set.
    free: u64,
    /// The value of `free` when steps were last counted.
    begun: u64,
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
            free: 0,
            begun: 0,
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
    pub fn begin(&mut self) {
        self.settle();
        self.own = MAX_STEPS;
        self.free();
    }

    /// Returns how many steps of all evaluations are left.
    pub const fn left(&self) -> u64 {
        self.all - (self.begun - self.free)
    }

    /// Takes steps of all evaluations. Says whether any are left.
    pub fn spend(&mut self, steps: u64) -> bool {
        self.settle();
        self.all = self.all.saturating_sub(steps);
        self.free();
        self.all > 0
    }

    /// Counts the steps that were taken.
    const fn settle(&mut self) {
        let taken = self.begun - self.free;
        self.begun = self.free;
        self.own -= taken;
        self.all -= taken;
    }

    fn free(&mut self) {
        self.begun = self.own.min(self.all);
        self.free = self.begun;
    }

    /// Ends an evaluation that wants more steps than it has. All that it has are used up.
    #[cold]
    fn end(&mut self, steps: u64) -> EvaluationStop {
        self.settle();
        self.all = self.all.saturating_sub(self.own.min(steps));
        self.own = 0;
        self.free();
        EvaluationStop::Limit
    }

    /// Takes steps.
    #[inline]
    pub(super) fn take(&mut self, steps: usize) -> Result<(), EvaluationStop> {
        match self.free.checked_sub(steps as u64) {
            Some(free) => {
                self.free = free;
                Ok(())
            }
            None => Err(self.end(steps as u64)),
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
