//! Where a client's first RPC goes, before anything of its test has happened: what an editor shows
//! beside a target.

use super::Test;
use super::run::{RunOptions, channels};
use xdsctl_channel::session::Session;
use xdsctl_channel::sim::{LimitReached, Outcome, Rpc};

/// Sends the RPC of the first step that sends one, else one without a method of its own, and says
/// what became of it. `session` is that of the test's first client. `None` if it does not end.
///
/// # Errors
/// A limit of the simulation.
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
