//! The random numbers of one channel: one stream for each purpose, the same for every command.
//!
//! `route`, `retry`, `pick` and the simulator draw from here, so one seed gives all of them the
//! same route, cluster, hash and back-off. Each purpose has its own stream, so that one more draw
//! for one purpose does not shift those of another.

use xdsctl_model::rng::Rng;

/// What a random number is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// `runtime_fraction` of a route.
    RouteFraction,
    /// The choice among weighted clusters.
    ClusterWeight,
    /// The hash of an RPC without a hash policy that applies.
    RequestHash,
    /// The share of RPCs that a fault delays.
    FaultDelay,
    /// The share of RPCs that a fault aborts.
    FaultAbort,
}

/// Draws a number in `0..bound`; for a bound of 0 a number of all 64 bits.
pub type Draw<'d> = dyn FnMut(Purpose, u64) -> u64 + 'd;

/// The streams of one channel.
#[derive(Debug, Clone)]
pub struct Draws {
    channel_id: u64,
    fraction: Rng,
    weight: Rng,
    hash: Rng,
    delay: Rng,
    abort: Rng,
    backoff: Rng,
}

impl Draws {
    /// Makes the streams of a seed.
    pub fn new(seed: u64) -> Draws {
        let stream = |name: &str| Rng::stream(seed, name);
        Draws {
            channel_id: stream("channel id").next_u64(),
            fraction: stream("runtime fraction"),
            weight: stream("weighted clusters"),
            hash: stream("request hash"),
            delay: stream("fault delay"),
            abort: stream("fault abort"),
            backoff: stream("retry back-off"),
        }
    }

    /// The channel's own random number, which `filter_state` policies hash.
    pub const fn channel_id(&self) -> u64 {
        self.channel_id
    }

    /// Draws for the config selector and the filters; see [`Draw`].
    pub fn draw(&mut self, purpose: Purpose, bound: u64) -> u64 {
        let rng = match purpose {
            Purpose::RouteFraction => &mut self.fraction,
            Purpose::ClusterWeight => &mut self.weight,
            Purpose::RequestHash => &mut self.hash,
            Purpose::FaultDelay => &mut self.delay,
            Purpose::FaultAbort => &mut self.abort,
        };
        if bound == 0 { rng.next_u64() } else { rng.below(bound) }
    }

    /// Draws the jitter of a retry, from `[0, 1)`.
    pub fn backoff_unit(&mut self) -> f64 {
        self.backoff.unit()
    }
}
