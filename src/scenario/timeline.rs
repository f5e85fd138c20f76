//! What happens in the course of a test, event by event.

use super::run::{Caller, Effort, Manner, Trouble, addresses, channels, check};
use super::{PlannedStep, Test};
use crate::lb::log::{MAX_TOLD, Told};
use crate::lb::runtime::Time;
use crate::sim::Channel;
use crate::sim::script::Player;

/// Events of a timeline, of which a line has some hundred bytes.
const MAX_TOLD_IN_ALL: usize = 1_000_000;

/// Receives what happens: before a step that step, then what happened in its course, with the number of the client.
pub trait Listener {
    /// A step begins.
    fn step(&mut self, planned: &PlannedStep, now: Time);

    /// Something happened; `false` to hear of no more.
    fn told(&mut self, client: usize, told: &Told) -> bool;

    /// What people should hear of a step.
    fn note(&mut self, planned: &PlannedStep, now: Time, note: &str);
}

/// Plays a test and tells what happens, step by step and in the order of time, up to `until`.
///
/// # Errors
/// Why the test could not be played to its end.
pub fn timeline(
    test: &Test,
    callers: &[Caller],
    manner: Manner,
    until: Time,
    listener: &mut dyn Listener,
) -> Result<(), Trouble> {
    let mut channels = channels(test, callers, manner, |_, options| {
        options.log = true;
        options.places = true;
    });
    if let Some(trouble) = check(test, &addresses(test, &channels)) {
        return Err(trouble);
    }
    let mut player = Player::default();
    let mut effort = Effort::new(manner);
    let mut told_before = 0;
    for planned in &test.steps {
        let now = channels.first().map_or(0, Channel::now);
        if now > until || !tell(&mut channels, until, &mut told_before, listener).0 {
            return Ok(());
        }
        let Some(step) = &planned.step else { continue };
        listener.step(planned, now);
        let told = player.play_on(step, &mut channels, test.clients_of(planned), &mut |_| effort.take(0));
        let (goes_on, left_out) = tell(&mut channels, until, &mut told_before, listener);
        let told = told.map_err(|limit| Trouble {
            span: planned.span,
            why: limit.to_string(),
        })?;
        for note in &told.notes {
            listener.note(planned, now, note);
        }
        if let Some(fault) = told.faults.into_iter().next() {
            return Err(Trouble {
                span: planned.span,
                why: fault,
            });
        }
        if left_out > 0 {
            return Err(Trouble {
                span: planned.span,
                why: format!(
                    "the step has {left_out} more events than are kept of one (limit `timeline`: {MAX_TOLD}): split it into several steps"
                ),
            });
        }
        if effort.is_over() {
            return Err(effort.trouble(planned));
        }
        if told_before >= MAX_TOLD_IN_ALL {
            return Err(Trouble {
                span: planned.span,
                why: format!("the timeline has more than {MAX_TOLD_IN_ALL} events: --until ends it before"),
            });
        }
        if !goes_on {
            return Ok(());
        }
    }
    Ok(())
}

/// Tells what has happened in all channels, in the order of time; of one moment, client by client. Says whether more is wanted,
/// and how much was not kept.
fn tell(channels: &mut [Channel], until: Time, told_before: &mut usize, listener: &mut dyn Listener) -> (bool, u64) {
    let mut all: Vec<(usize, Told)> = Vec::new();
    let mut all_left_out = 0;
    for (client, channel) in channels.iter_mut().enumerate() {
        let (told, left_out) = channel.take_log();
        all.extend(told.into_iter().map(|told| (client, told)));
        all_left_out += left_out;
    }
    all.sort_by_key(|(client, told)| (told.at, *client));
    let due = all.iter().take_while(|(_, told)| told.at <= until);
    let mut due = due.take(MAX_TOLD_IN_ALL.saturating_sub(*told_before));
    *told_before += all.len();
    let goes_on = due.all(|(client, told)| listener.told(*client, told));
    (goes_on, all_left_out)
}
