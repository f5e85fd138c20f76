//! What happens in the course of a test, event by event.

use super::run::{Caller, Manner, Trouble, addresses, channels, check};
use super::{PlannedStep, Test};
use crate::lb::log::{MAX_TOLD, Told};
use crate::lb::runtime::Time;
use crate::sim::Channel;
use crate::sim::script::Player;

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
    for planned in &test.steps {
        let now = channels.first().map_or(0, Channel::now);
        if now > until || !tell(&mut channels, until, listener).0 {
            return Ok(());
        }
        let Some(step) = &planned.step else { continue };
        listener.step(planned, now);
        let told = player.play_on(step, &mut channels, test.clients_of(planned), &mut |_| true);
        let (goes_on, left_out) = tell(&mut channels, until, listener);
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
                    "the step has {left_out} more events than are kept of one (limit `timeline`: {MAX_TOLD}): make several steps of it"
                ),
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
fn tell(channels: &mut [Channel], until: Time, listener: &mut dyn Listener) -> (bool, u64) {
    let mut all: Vec<(usize, Told)> = Vec::new();
    let mut all_left_out = 0;
    for (client, channel) in channels.iter_mut().enumerate() {
        let (told, left_out) = channel.take_log();
        all.extend(told.into_iter().map(|told| (client, told)));
        all_left_out += left_out;
    }
    all.sort_by_key(|(client, told)| (told.at, *client));
    let mut due = all.iter().take_while(|(_, told)| told.at <= until);
    let goes_on = due.all(|(client, told)| listener.told(*client, told));
    (goes_on, all_left_out)
}
