//! How much is done and told for two clients: tables that are compared route by route, and host by host, must end.

/// Steps that are made for all route tables of two clients: some four seconds' work at most.
pub const MAX_STEPS: u64 = 250_000_000;

/// Steps that are made for two tables: comparisons of one route with one RPC or route, a second's work at most.
pub const MAX_ROUTE_STEPS: u64 = 50_000_000;

/// Clusters that are told of all RPCs that go elsewhere, with the share of each.
pub const MAX_SHARES: usize = 1_000_000;

/// Steps that may still be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Steps {
    left: u64,
}

impl Steps {
    /// Makes so many; false if there were not as many left.
    pub fn take(&mut self, steps: u64) -> bool {
        let left = self.left.checked_sub(steps);
        self.left = left.unwrap_or(0);
        left.is_some()
    }

    /// No step is left.
    pub fn are_made(self) -> bool {
        self.left == 0
    }
}

/// What may still be done for two clients.
#[derive(Debug, Clone, Copy)]
pub(super) struct DiffBudget {
    pub steps: Steps,
    /// Shares that may still be told.
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
    /// Does something with the steps of two tables, which are gone from all.
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
        // One is left.
        assert!(!budget.for_tables(|steps, _| steps.take(2)));
        assert!(budget.steps.are_made());
        assert!(!budget.for_tables(|steps, _| steps.take(1)));
    }
}
