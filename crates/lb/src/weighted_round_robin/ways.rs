//! How clients of each family go by weights (A58 leaves that open).

use super::{DeadlineScheduler, Scheduler, StaticStrideScheduler, StrideLimits};
use xdsctl_model::profile::{Feature, Profile};
use xdsctl_model::rng::Rng;

/// How a client goes by weights.
#[derive(Debug, Clone, Copy)]
pub(super) struct WeightWays {
    /// Endpoints are taken in the order of their addresses, and a picker without weights begins anywhere. Otherwise they are taken in
    /// the order of their list, by the sequence that schedules go by.
    pub by_address: bool,
    /// What is left of unequal weights.
    limits: StrideLimits,
    /// A sequence begins anywhere with each picker.
    pub restarts: bool,
    /// The weight of an endpoint is forgotten when its connection comes about.
    pub forgets: bool,
    /// Turns go by deadlines, which chance puts anew in each update period, and only `application_utilization` counts.
    pub by_deadline: bool,
}

impl WeightWays {
    /// Those of a client.
    pub fn of(profile: &Profile) -> WeightWays {
        let limits = match (profile.has(Feature::WrrUnlimited), profile.has(Feature::WrrLeastTenth)) {
            (true, _) => StrideLimits::None,
            (false, true) => StrideLimits::Tenth,
            (false, false) => StrideLimits::Hundredth,
        };
        WeightWays {
            by_address: profile.has(Feature::WrrByAddress),
            limits,
            restarts: profile.has(Feature::WrrUnlimited),
            forgets: profile.has(Feature::WrrWeightsLost),
            by_deadline: profile.has(Feature::WrrDeadlines),
        }
    }

    /// The period of updates begins with each picker; otherwise with each update of the configuration.
    pub const fn period_of_picker(&self) -> bool {
        self.by_address || self.restarts
    }

    /// The schedule of endpoints with these weights, 0 where none is known; `None` where they take plain turns.
    pub fn schedule(&self, weights: &[f64], chance: &mut Rng) -> Option<Scheduler> {
        match self.by_deadline {
            true => Some(Scheduler::Deadlines(DeadlineScheduler::new(weights, chance))),
            false => StaticStrideScheduler::new(weights, self.limits).map(Scheduler::Strides),
        }
    }
}
