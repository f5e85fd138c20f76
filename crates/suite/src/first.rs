//! Where a client's first RPC goes before anything in its test has happened. An editor shows it
//! next to a target.

use super::Test;
use super::run::{RunOptions, channels};
use xdsctl_channel::session::Session;
use xdsctl_channel::sim::{LimitReached, Outcome, Rpc};

/// Sends the RPC of the first step that sends one, or else an RPC without a method, and returns it
/// with its outcome. `session` is that of the test's first client. Returns `None` if the RPC does
/// not end.
///
/// # Errors
/// Fails if a limit of the simulation is reached.
pub fn first_rpc(
    test: &Test,
    session: &Session,
    run_options: RunOptions,
) -> Result<Option<(Rpc, Outcome)>, LimitReached> {
    let steps = test.steps.iter().filter_map(|planned| planned.step.as_ref());
    let rpc = steps
        .filter_map(|step| step.sending())
        .map(|sending| sending.rpc.clone())
        .next();
    let rpc = rpc.unwrap_or_default();
    let mut channels = channels(test, std::slice::from_ref(session), run_options, |_, options| {
        options.places = true;
        // An RPC that waits for resources waits for ever.
        options.waits_for_missing = false;
    });
    let Some(channel) = channels.first_mut() else {
        return Ok(None);
    };
    Ok(channel.call(rpc.clone())?.map(|outcome| (rpc, outcome)))
}
