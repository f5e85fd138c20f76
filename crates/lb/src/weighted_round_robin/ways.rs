//! How clients of each family use weights (A58 leaves that open).

use super::{DeadlineScheduler, Scheduler, StaticStrideScheduler, StrideLimits};
use xdsctl_model::profile::{Feature, Profile};
use xdsctl_model::rng::Rng;

/// How a client uses weights.
#[derive(Debug, Clone, Copy)]
pub(super) struct WeightWays {
    /// Whether endpoints are ordered by their addresses, and a picker without weights begins at a
    /// random endpoint. Otherwise they are in the order of their list, and the sequence of the
    /// schedules says which is next.
    pub by_address: bool,
    /// How unequal weights are limited.
    limits: StrideLimits,
    /// Whether each picker starts a new sequence at a random number.
    pub restarts: bool,
    /// Whether the weight of an endpoint is forgotten when it connects.
    pub forgets: bool,
    /// Whether turns are decided by deadlines, which are drawn again in each update period. Only
    /// `application_utilization` counts then.
    pub by_deadline: bool,
}

impl WeightWays {
    /// Returns how a client uses weights.
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

    /// Says whether the update period begins with each picker. Otherwise it begins with each update
    /// of the configuration.
    pub const fn period_of_picker(&self) -> bool {
        self.by_address || self.restarts
    }

    /// Returns the schedule of endpoints with these weights, 0 where none is known. `None` means
    /// plain round robin.
    pub fn schedule(&self, weights: &[f64], chance: &mut Rng) -> Option<Scheduler> {
        match self.by_deadline {
            true => Some(Scheduler::Deadlines(DeadlineScheduler::new(weights, chance))),
            false => StaticStrideScheduler::new(weights, self.limits).map(Scheduler::Strides),
        }
    }
}
