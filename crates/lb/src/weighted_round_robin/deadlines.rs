//! The scheduler of grpc-js: it picks the endpoint with the earliest deadline
//! (load-balancer-weighted-round-robin.ts `WeightedRoundRobinPicker`).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use xdsctl_model::rng::Rng;

/// A schedule in which each endpoint has one turn in each of its periods.
#[derive(Debug)]
pub(super) struct DeadlineScheduler {
    periods: Vec<f64>,
    /// The deadline and the index of each endpoint. Deadlines are not negative, so their bits are
    /// in the order of their values.
    due: BinaryHeap<Reverse<(u64, usize)>>,
}

impl DeadlineScheduler {
    /// Makes a schedule. The period of an endpoint is 1 divided by its weight. Without a known
    /// weight, the client uses the mean of the weights itself as the period, not 1 divided by it;
    /// or 1, if fewer than two weights are known. The first deadline is at a random place in the
    /// first period.
    pub fn new(weights: &[f64], chance: &mut Rng) -> DeadlineScheduler {
        let known: Vec<f64> = weights.iter().copied().filter(|weight| *weight > 0.0).collect();
        let unknown = match known.len() {
            0 | 1 => 1.0,
            count => known.iter().sum::<f64>() / count as f64,
        };
        let period = |weight: &f64| if *weight > 0.0 { 1.0 / weight } else { unknown };
        let periods: Vec<f64> = weights.iter().map(period).collect();
        let first = |(index, period): (usize, &f64)| Reverse(((chance.unit() * period).to_bits(), index));
        let due = periods.iter().enumerate().map(first).collect();
        DeadlineScheduler { periods, due }
    }

    /// Returns how often an endpoint has its turn, in any unit.
    pub fn rate(&self, index: usize) -> f64 {
        self.periods.get(index).map_or(0.0, |period| 1.0 / period)
    }

    /// Returns the index of the next endpoint.
    pub fn pick(&mut self) -> usize {
        let Some(mut next) = self.due.peek_mut() else { return 0 };
        let Reverse((deadline, index)) = *next;
        let period = self.periods.get(index).copied().unwrap_or(1.0);
        *next = Reverse(((f64::from_bits(deadline) + period).to_bits(), index));
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
