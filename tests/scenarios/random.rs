//! Plays random steps on a real world. RPCs must be conserved, nothing may be left over, two runs
//! must be equal, and twice the steps must be twice the work.

#[path = "../support/steps.rs"]
pub mod steps;

use xdsctl_channel::client::Start;
use xdsctl_channel::client::target::Target;
use xdsctl_channel::sim::script::{Player, Step};
use xdsctl_channel::sim::{Channel, ChannelOptions, Network};
use xdsctl_lb::log::LogEvent;

/// The number of steps in a run.
const STEPS: usize = 40;

/// The number of runs; XDSCTL_RUNS overrides it.
const RUNS: u64 = 12;

/// The number of steps in a long run; XDSCTL_STEPS overrides it.
const LONG: usize = 10_000;

fn world() -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/suites/world/shop.yaml");
    std::fs::read_to_string(path).unwrap()
}

/// The result of a run.
#[derive(Debug, PartialEq, Eq)]
struct Ran {
    /// How each RPC ended, in the order in which they ended.
    ends: Vec<String>,
    /// The number of connections and events that were left after each step.
    left: Vec<usize>,
    /// The number of events that happened.
    events: u64,
}

/// Plays a random script to its end.
fn play(seed: u64, count: usize) -> Ran {
    let client = xdsctl::hold(world()).unwrap();
    let start = Start::Target(Target::of_listener("shop", None));
    let options = ChannelOptions {
        seed,
        waits_for_missing: true,
        log: true,
        ..ChannelOptions::default()
    };
    let mut channel = Channel::new(client, start, Network::default(), options);
    let mut player = Player::default();
    let (mut begun, mut taken) = (0, 0);
    let (mut ends, mut left) = (Vec::new(), Vec::new());
    for json in &steps::steps(seed, count) {
        let step = Step::read(&json.to_string()).unwrap_or_else(|error| panic!("{error}: {json}"));
        player
            .play(&step, &mut channel, &mut |_| {
                taken += 1;
                true
            })
            .unwrap();
        for told in channel.take_log().0 {
            match told.event {
                LogEvent::RpcBegun { .. } => begun += 1,
                LogEvent::RpcEnded { .. } => ends.push(format!("{} {:?}", told.at, told.event)),
                _ => {}
            }
        }
        let runtime = channel.runtime();
        left.push(runtime.pool.len() + runtime.pending() + runtime.machines());
    }
    assert_eq!(
        (begun, taken),
        (ends.len(), ends.len()),
        "seed {seed}: RPCs that began, were taken, ended"
    );
    let runtime = channel.runtime();
    // Without a configuration, only the policy at the root is left.
    assert_eq!(
        (runtime.pool.len(), runtime.pending(), runtime.machines()),
        (0, 0, 1),
        "seed {seed}: connections, events and policies that are left"
    );
    let events = runtime.events();
    Ran { ends, left, events }
}

#[test]
fn random_steps_lose_no_rpc_and_leave_nothing_behind() {
    let runs = std::env::var("XDSCTL_RUNS").map_or(RUNS, |runs| runs.parse().unwrap());
    let mut rpcs = 0;
    for seed in 0..runs {
        let ran = play(seed, STEPS);
        rpcs += ran.ends.len();
        if seed % 8 == 0 {
            assert_eq!(play(seed, STEPS), ran, "seed {seed}");
        }
    }
    assert!(rpcs as u64 > 10 * runs, "{rpcs}");
}

#[test]
fn a_long_run_holds_no_more_than_a_short_one_and_costs_as_much_a_step() {
    let count = std::env::var("XDSCTL_STEPS").map_or(LONG, |steps| steps.parse().unwrap());
    let (long, short) = (play(1000, count), play(1000, count / 2));
    let most = |left: &[usize]| left.iter().copied().max().unwrap();
    let (before, after) = long.left.split_at(count / 2);
    // Leaks grow with the steps; what is in use goes up and down.
    assert!(
        most(after) <= 2 * most(before),
        "most that was left: {} in the first half, {} in the second",
        most(before),
        most(after)
    );
    assert!(
        long.events <= 3 * short.events,
        "{} events in {count} steps, {} in half of them",
        long.events,
        short.events
    );
}
