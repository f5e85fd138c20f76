//! Limits on the work and on the output of a comparison of two clients. Tables are compared route
//! by route and host by host, and that must end.

/// Most steps for all route tables of two clients: about four seconds of work.
pub const MAX_STEPS: u64 = 250_000_000;

/// Most steps for two tables. A step compares one route with one RPC or with another route; the
/// limit is about a second of work.
pub const MAX_ROUTE_STEPS: u64 = 50_000_000;

/// Most clusters that are listed, each with its share, as destinations of RPCs that go elsewhere.
pub const MAX_SHARES: usize = 1_000_000;

/// The number of steps that may still be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Steps {
    left: u64,
}

impl Steps {
    /// Makes this many steps; `false` if fewer were left.
    pub fn take(&mut self, steps: u64) -> bool {
        let left = self.left.checked_sub(steps);
        self.left = left.unwrap_or(0);
        left.is_some()
    }

    /// Says whether no step is left.
    pub fn are_made(self) -> bool {
        self.left == 0
    }
}

/// The work and output that are left for two clients.
#[derive(Debug, Clone, Copy)]
pub(super) struct DiffBudget {
    pub steps: Steps,
    /// How many shares may still be listed.
    pub shares: usize,
}

impl Default for DiffBudget {
    fn default() -> DiffBudget {
        DiffBudget {
            steps: Steps { left: MAX_STEPS },
            shares: MAX_SHARES,
        }
    }
}

impl DiffBudget {
    /// Runs `work` with the steps that two tables may take. The steps that it makes are subtracted
    /// from those of all tables.
    pub fn for_tables<T>(&mut self, work: impl FnOnce(&mut Steps, &mut usize) -> T) -> T {
        let most = self.steps.left.min(MAX_ROUTE_STEPS);
        let mut steps = Steps { left: most };
        let done = work(&mut steps, &mut self.shares);
        self.steps.left -= most - steps.left;
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_two_tables_are_gone_from_all() {
        let mut budget = DiffBudget::default();
        for _ in 0..4 {
            assert!(budget.for_tables(|steps, _| steps.take(MAX_ROUTE_STEPS)));
        }
        assert!(budget.for_tables(|steps, _| steps.take(MAX_ROUTE_STEPS - 1)));
        // One step is left.
        assert!(!budget.for_tables(|steps, _| steps.take(2)));
        assert!(budget.steps.are_made());
        assert!(!budget.for_tables(|steps, _| steps.take(1)));
    }
}
