//! The static stride scheduler: weighted round robin without a queue, shared by all pickers of a
//! policy.
//!
//! It is bit by bit what the client computes, single-precision division included. Follows C-core
//! static_stride_scheduler.cc, grpc-java WeightedRoundRobinLoadBalancer.java
//! `StaticStrideScheduler` and grpc-go balancer/weightedroundrobin/scheduler.go.

/// The value to which the largest weight is scaled.
const MAX_WEIGHT: u16 = u16::MAX;

/// The largest ratio of a weight to the mean.
const MAX_RATIO: f64 = 10.0;

/// How a client limits unequal weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StrideLimits {
    /// C-core: at least a hundredth of the mean, and at most ten times the mean.
    Hundredth,
    /// grpc-java: at least a tenth of the mean, and at most ten times the mean.
    Tenth,
    /// grpc-go: weights are not limited.
    None,
}

/// Moves the turns of neighbouring endpoints apart.
const OFFSET: u64 = (MAX_WEIGHT / 2) as u64;

/// A schedule of endpoints by weight.
///
/// ```
/// use xdsctl_lb::weighted_round_robin::{StaticStrideScheduler, StrideLimits};
/// let scheduler = StaticStrideScheduler::new(&[1.0, 2.0, 3.0], StrideLimits::Hundredth).unwrap();
/// let mut sequence = 0;
/// let picks: Vec<usize> = (0..6).map(|_| scheduler.pick(&mut sequence)).collect();
/// assert_eq!(picks, [1, 2, 2, 0, 1, 2]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaticStrideScheduler {
    weights: Vec<u16>,
}

impl StaticStrideScheduler {
    /// Makes a schedule for these weights, none of which is negative. A weight of 0 counts as the
    /// mean of the others.
    ///
    /// Returns `None` with fewer than two endpoints, or with too few weights above 0 to tell
    /// endpoints apart. Then the client uses plain round robin.
    pub fn new(weights: &[f64], limits: StrideLimits) -> Option<StaticStrideScheduler> {
        let known = weights.iter().filter(|weight| **weight != 0.0).count();
        let needed = if limits == StrideLimits::None { 2 } else { 1 };
        if weights.len() < 2 || known < needed {
            return None;
        }
        let weights = match limits {
            StrideLimits::None => as_they_are(weights, known),
            StrideLimits::Hundredth | StrideLimits::Tenth => limited(weights, known, limits),
        };
        Some(StaticStrideScheduler { weights })
    }

    /// Returns the scaled weights.
    pub fn weights(&self) -> &[u16] {
        &self.weights
    }

    /// Returns the index of the next endpoint. `sequence` is shared by all schedules of a policy
    /// and wraps at 32 bits.
    pub fn pick(&self, sequence: &mut u32) -> usize {
        let len = self.weights.len() as u64;
        loop {
            let turn = u64::from(*sequence);
            *sequence = sequence.wrapping_add(1);
            let index = turn % len;
            let generation = turn / len;
            // The index is below the number of weights.
            let weight = self.weights.get(index as usize).copied().unwrap_or(MAX_WEIGHT);
            let position = (u64::from(weight) * generation + index * OFFSET) % u64::from(MAX_WEIGHT);
            // An endpoint of the largest weight is picked in every generation, so this ends.
            if position >= u64::from(MAX_WEIGHT - weight) {
                return index as usize;
            }
        }
    }
}

/// Scales the weights so that the largest becomes [`MAX_WEIGHT`].
fn as_they_are(weights: &[f64], known: usize) -> Vec<u16> {
    let sum: f64 = weights.iter().sum();
    let scale = f64::from(MAX_WEIGHT) / weights.iter().copied().fold(0.0, f64::max);
    let mean = round(scale * (sum / known as f64));
    let scaled = |weight: &f64| if *weight == 0.0 { mean } else { round(scale * weight) };
    weights.iter().map(scaled).collect()
}

/// Scales the weights in single precision, and limits them as `limits` says.
fn limited(weights: &[f64], known: usize, limits: StrideLimits) -> Vec<u16> {
    let weights: Vec<f32> = weights.iter().map(|weight| *weight as f32).collect();
    let sum: f64 = weights.iter().map(|weight| f64::from(*weight)).sum();
    let mean = sum / known as f64;
    let mut largest = weights.iter().copied().fold(0.0, f32::max);
    if f64::from(largest) / mean > MAX_RATIO {
        largest = (MAX_RATIO * mean) as f32;
    }
    // The client divides in single precision and widens afterwards, which makes some weights
    // smaller by one.
    let scale = f64::from(f32::from(MAX_WEIGHT) / largest);
    let mean_scaled = round(scale * mean);
    let floor = match limits {
        StrideLimits::Tenth => (scale * mean * 0.1).ceil() as u16,
        _ => round(f64::from(mean_scaled) * 0.01).max(1),
    };
    let scaled = |weight: &f32| match *weight == 0.0 {
        true => mean_scaled,
        false => round(f64::from(weight.min(largest)) * scale).max(floor),
    };
    weights.iter().map(scaled).collect()
}

/// Rounds to 16 bits, halves away from zero, as `lround` does.
fn round(value: f64) -> u16 {
    value.round() as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scaled_by(weights: &[f64], limits: StrideLimits) -> Vec<u16> {
        StaticStrideScheduler::new(weights, limits).unwrap().weights().to_vec()
    }

    #[track_caller]
    fn check(weights: &[f64], scaled: &[u16], picks: &[usize]) {
        let scheduler = StaticStrideScheduler::new(weights, StrideLimits::Hundredth).unwrap();
        assert_eq!(scheduler.weights(), scaled);
        let mut sequence = 0;
        let picked: Vec<usize> = picks.iter().map(|_| scheduler.pick(&mut sequence)).collect();
        assert_eq!(picked, picks);
    }

    #[test]
    fn weights_and_picks_are_the_clients() {
        check(
            &[1.0, 2.0, 3.0],
            &[21845, 43690, 65535],
            &[1, 2, 2, 0, 1, 2, 1, 2, 2, 0, 1, 2],
        );
        check(
            &[100.0, 200.0, 0.0],
            &[32767, 65535, 49151],
            &[1, 2, 1, 2, 0, 1, 2, 1, 0, 1, 2, 1],
        );
        check(&[4.0, 4.0], &[65535, 65535], &[0, 1, 0, 1]);
    }

    #[test]
    fn a_weight_is_at_most_ten_times_the_mean() {
        let mut weights = vec![0.1; 11];
        weights.push(100.0);
        let mut scaled = vec![78; 11];
        scaled.push(65535);
        assert_eq!(scaled_by(&weights, StrideLimits::Hundredth), scaled);
        let least = |limits| scaled_by(&[1.0, 1.0, 100.0], limits)[0];
        assert_eq!(least(StrideLimits::Hundredth), 655);
        assert_eq!(least(StrideLimits::Tenth), 2229);
        assert_eq!(least(StrideLimits::None), 655);
        assert_eq!(scaled_by(&weights, StrideLimits::None)[0], 66);
    }

    #[test]
    fn one_endpoint_or_no_weight_is_plain_round_robin() {
        for limits in [StrideLimits::Hundredth, StrideLimits::Tenth, StrideLimits::None] {
            assert_eq!(StaticStrideScheduler::new(&[1.0], limits), None);
            assert_eq!(StaticStrideScheduler::new(&[0.0, 0.0], limits), None);
        }
        assert_eq!(StaticStrideScheduler::new(&[7.0, 0.0], StrideLimits::None), None);
        assert_eq!(scaled_by(&[7.0, 0.0], StrideLimits::Tenth), [65535, 65535]);
    }
}
