//! What happens during a test, event by event.

use super::run::{Effort, RunOptions, TestStop, addresses, channels, check};
use super::{PlannedStep, Test};
use xdsctl_channel::session::Session;
use xdsctl_channel::sim::Channel;
use xdsctl_lb::log::{LogEntry, MAX_ENTRIES};
use xdsctl_lb::runtime::Time;

/// The most events of a timeline. Each is a line of some hundred bytes.
const MAX_ENTRIES_IN_ALL: usize = 1_000_000;

/// Receives the events of a test: each step before it runs, then the events of each client during
/// it.
pub trait Listener {
    /// Receives the beginning of a step, at a simulated time.
    fn step(&mut self, planned: &PlannedStep, now: Time);

    /// Receives an event of a client. Returns `false` to receive no more.
    fn event(&mut self, client: usize, told: &LogEntry) -> bool;

    /// Receives a note on a step, for people.
    fn note(&mut self, planned: &PlannedStep, now: Time, note: &str);
}

/// Plays a test and passes on what happens, step by step and in the order of time, up to
/// [`RunOptions::until`].
///
/// # Errors
/// Fails if the test could not be played to its end, and says why.
pub fn timeline(
    test: &Test,
    sessions: &[Session],
    run_options: RunOptions,
    listener: &mut dyn Listener,
) -> Result<(), TestStop> {
    let most = run_options.max_entries.unwrap_or(MAX_ENTRIES_IN_ALL);
    let until = run_options.until.unwrap_or(Time::MAX);
    let mut left = most;
    let mut channels = channels(test, sessions, run_options, |_, options| {
        options.log = true;
        options.places = true;
    });
    if let Some(stop) = check(test, &addresses(test, &channels)) {
        return Err(stop);
    }
    let mut player = test.player();
    let mut effort = Effort::new(run_options);
    for planned in &test.steps {
        let now = channels.first().map_or(0, Channel::now);
        if now > until || !tell(&mut channels, until, &mut left, listener).goes_on {
            return Ok(());
        }
        let Some(step) = &planned.step else { continue };
        listener.step(planned, now);
        let told = player.play_on(step, &mut channels, test.clients_of(planned), &mut |_| effort.take(0));
        let Heard {
            goes_on,
            left_out,
            is_cut,
        } = tell(&mut channels, until, &mut left, listener);
        let told = told.map_err(|limit| planned.stop(limit))?;
        for note in &told.notes {
            listener.note(planned, now, note);
        }
        if let Some(fault) = told.faults.into_iter().next() {
            return Err(planned.stop(fault));
        }
        if left_out > 0 {
            return Err(planned.stop(format!(
                "the step has {left_out} more events than are kept of one (limit `timeline`: {MAX_ENTRIES}): split it into several steps"
            )));
        }
        if effort.is_over() {
            return Err(effort.stop(planned));
        }
        if is_cut {
            let why = format!("the timeline has more than {most} events: --until ends it before");
            return Err(planned.stop(why));
        }
        if !goes_on {
            return Ok(());
        }
    }
    Ok(())
}

/// The result of passing events on to the listener.
struct Heard {
    /// Whether the listener wants more events.
    goes_on: bool,
    /// The number of events that were not kept.
    left_out: u64,
    /// Whether there are more events than the timeline may have.
    is_cut: bool,
}

/// Passes on what has happened in all channels, in the order of time. Events of the same moment
/// come client by client. `left` is how many more events may be passed on.
fn tell(channels: &mut [Channel], until: Time, left: &mut usize, listener: &mut dyn Listener) -> Heard {
    let mut all: Vec<(usize, LogEntry)> = Vec::new();
    let mut left_out = 0;
    for (client, channel) in channels.iter_mut().enumerate() {
        let (told, lost) = channel.take_log();
        all.extend(told.into_iter().map(|told| (client, told)));
        left_out += lost;
    }
    all.sort_by_key(|(client, told)| (told.at, *client));
    let due = all.partition_point(|(_, told)| told.at <= until);
    let is_cut = due > *left;
    let mut due = all.iter().take(due.min(*left));
    *left -= due.len();
    let goes_on = due.all(|(client, told)| listener.event(*client, told));
    Heard {
        goes_on,
        left_out,
        is_cut,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Suite;
    use xdsctl_channel::client::Start;
    use xdsctl_document::source::SourceMap;

    #[derive(Default)]
    struct Counter {
        steps: usize,
        events: usize,
    }

    impl Listener for Counter {
        fn step(&mut self, _: &PlannedStep, _: Time) {
            self.steps += 1;
        }

        fn event(&mut self, _: usize, _: &LogEntry) -> bool {
            self.events += 1;
            true
        }

        fn note(&mut self, _: &PlannedStep, _: Time, _: &str) {}
    }

    /// Returns the numbers of steps and events of ten RPCs, sent one by one, and why the timeline
    /// ended.
    fn of_at_most(most: usize) -> (usize, usize, Option<String>) {
        let suite = format!("cluster: c\nsteps: [{}]\n", "{pick: {}}, ".repeat(10));
        let mut sources = SourceMap::new();
        let id = sources.add("x.yaml", suite.into_bytes());
        let suite = Suite::read(sources.get(id).unwrap()).unwrap();
        let world = r#"{"resources": [{"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "c", "type": "EDS",
            "eds_cluster_config": {"eds_config": {"ads": {}}}}, {"@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",
            "cluster_name": "c", "endpoints": [{"locality": {}, "load_balancing_weight": 1, "lb_endpoints": [{"endpoint": {"address":
            {"socket_address": {"address": "10.0.0.1", "port_value": 80}}}}]}]}]}"#;
        let session = Session::of(xdsctl::hold(world).unwrap(), Start::Cluster("c".to_owned()));
        let mut heard = Counter::default();
        let run_options = RunOptions {
            max_entries: Some(most),
            ..RunOptions::default()
        };
        let played = timeline(&suite.tests[0], &[session], run_options, &mut heard);
        (heard.steps, heard.events, played.err().map(|stop| stop.why))
    }

    #[test]
    fn a_timeline_ends_at_its_limit() {
        let (steps, all, why) = of_at_most(usize::MAX);
        assert!(steps == 10 && all > 20 && why.is_none(), "{steps} {all} {why:?}");
        assert_eq!(of_at_most(all), (10, all, None));
        let words = |most: usize| {
            Some(format!(
                "the timeline has more than {most} events: --until ends it before"
            ))
        };
        assert_eq!(of_at_most(all - 1), (10, all - 1, words(all - 1)));
        let (steps, told, why) = of_at_most(all / 2);
        assert!(steps < 10 && told == all / 2, "{steps} {told}");
        assert_eq!(why, words(all / 2));
    }
}
