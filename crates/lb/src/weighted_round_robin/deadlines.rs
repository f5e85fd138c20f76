//! The scheduler of grpc-js: the endpoint whose deadline is the next (load-balancer-weighted-round-robin.ts
//! `WeightedRoundRobinPicker`).

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use xdsctl_model::rng::Rng;

/// An endpoint's next turn.
#[derive(Debug, Clone, Copy)]
struct Due {
    deadline: f64,
    index: usize,
}

impl Ord for Due {
    fn cmp(&self, other: &Due) -> Ordering {
        let by_deadline = self.deadline.total_cmp(&other.deadline);
        by_deadline.then_with(|| self.index.cmp(&other.index))
    }
}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Due) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Due {
    fn eq(&self, other: &Due) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Due {}

/// A schedule in which each endpoint has a turn once in its period.
#[derive(Debug)]
pub(super) struct DeadlineScheduler {
    periods: Vec<f64>,
    due: BinaryHeap<Reverse<Due>>,
}

impl DeadlineScheduler {
    /// The period of an endpoint is 1 by its weight. Where none is known it is the mean of the weights, not 1 by it, as the client has it;
    /// 1 if fewer than two weights are known. The first deadline is anywhere in the first period.
    pub fn new(weights: &[f64], chance: &mut Rng) -> DeadlineScheduler {
        let known: Vec<f64> = weights.iter().copied().filter(|weight| *weight > 0.0).collect();
        let unknown = match known.len() {
            0 | 1 => 1.0,
            count => known.iter().sum::<f64>() / count as f64,
        };
        let period = |weight: &f64| if *weight > 0.0 { 1.0 / weight } else { unknown };
        let periods: Vec<f64> = weights.iter().map(period).collect();
        let first = |(index, period): (usize, &f64)| {
            Reverse(Due {
                deadline: chance.unit() * period,
                index,
            })
        };
        let due = periods.iter().enumerate().map(first).collect();
        DeadlineScheduler { periods, due }
    }

    /// How often an endpoint has its turn, in any unit.
    pub fn rate(&self, index: usize) -> f64 {
        self.periods.get(index).map_or(0.0, |period| 1.0 / period)
    }

    /// The next endpoint's index.
    pub fn pick(&mut self) -> usize {
        let Some(mut next) = self.due.peek_mut() else { return 0 };
        let Reverse(due) = &mut *next;
        let index = due.index;
        due.deadline += self.periods.get(index).copied().unwrap_or(1.0);
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picks(weights: &[f64], count: usize) -> Vec<usize> {
        let mut scheduler = DeadlineScheduler::new(weights, &mut Rng::stream(3, "deadlines"));
        let mut picks = vec![0; weights.len()];
        (0..count).for_each(|_| picks[scheduler.pick()] += 1);
        picks
    }

    #[test]
    fn turns_go_by_weights() {
        let many = picks(&[1.0, 3.0], 4000);
        assert!((999..=1001).contains(&many[0]), "{many:?}");
        assert_eq!(picks(&[0.0, 0.0, 0.0], 30), [10, 10, 10]);
    }

    #[test]
    fn who_has_no_weight_has_hardly_a_turn() {
        assert!(picks(&[200.0, 0.0, 200.0], 1000)[1] <= 1);
        assert!(picks(&[200.0, 0.0], 1000)[1] <= 6);
    }
}
