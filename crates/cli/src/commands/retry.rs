//! `xdsctl retry`: what the client makes of a retry policy.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;

use super::several::{self, ClientsQuestion};
use crate::args::{Format, RetryArgs};
use crate::config::ProjectConfig;
use crate::session::{self, words};
use crate::{Error, Io};
use xdsctl_channel::rpc::retry::{AttemptEnd, RetryStop};
use xdsctl_channel::rpc::{Draws, Selector};
use xdsctl_model::profile::Profile;
use xdsctl_model::resource::retry::{DEFAULT_BASE_INTERVAL, default_max_interval};
use xdsctl_model::resource::route::{RetryBounds, RetryOn, RetryPolicy, Route};
use xdsctl_model::status::Status;
use xdsctl_report::channel::layers::Question;
use xdsctl_report::channel::retry::{self, RetryAnswer};
use xdsctl_report::told::Told;

pub(super) fn run(args: &RetryArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    let asked = ClientsQuestion::of_channel(Question::Retry, &args.channel, args.format == Format::Json);
    several::run(asked, io, &mut |one, told, io| {
        let mut args = args.clone();
        one.put_into(&mut args.channel.client);
        answer(&args, told, io)
    })
}

fn answer(args: &RetryArgs, told: &mut Told, io: &mut Io<'_>) -> Result<u8, Error> {
    let script = args
        .script
        .iter()
        .map(|text| text.parse::<AttemptEnd>().map_err(Error::Usage))
        .collect::<Result<Vec<_>, _>>()?;
    if let Some(retry_on) = &args.retry_on {
        let config = ProjectConfig::of(&args.channel.input.config, io)?;
        let fleet = session::client(&args.channel, &config, session::of_channel, io)?;
        let policy = from_arguments(args, retry_on, fleet.base())?;
        return write(args, Some(&policy), ("arguments", None), &script, told, io);
    }
    let headers = session::headers(&args.request)?;
    let opened = session::open_for(&args.channel, &args.request, io)?;
    let config = match &opened.config {
        Ok(config) => Arc::clone(config),
        Err(failure) => {
            let status = failure.status();
            fails(args, &status, told, io)?;
            words::say_hint(&opened, io)?;
            return Ok(session::exit(true));
        }
    };
    let request = session::request(&args.request, &headers);
    let selector = Selector::new(config);
    match selector.select_first(&request, args.request.seed, None) {
        Err(refusal) => {
            let status = refusal.status(selector.config().asked, request.path);
            fails(args, &status, told, io)?;
            Ok(session::exit(true))
        }
        Ok(selection) => {
            let action = selector.routes().get(selection.route).and_then(Route::route_action);
            let inherited = action.is_some_and(|action| action.retry_policy_inherited);
            let origin = if inherited { "virtual host" } else { "route" };
            let rpc = session::rpc(&args.request)?;
            let failure = match &selection.fault.abort {
                Some(abort) => Some(abort.clone()),
                None => opened.failure(rpc, args.request.seed)?,
            };
            write(args, selection.retry, (origin, failure.as_ref()), &script, told, io)
        }
    }
}

/// Writes the status of an RPC that no route takes.
fn fails(args: &RetryArgs, status: &Status, told: &mut Told, io: &mut Io<'_>) -> Result<(), Error> {
    let answer = retry::failure(status, args.request.seed);
    let write_text = |out: &mut dyn Write| say!(out, "{status}");
    Ok(told.tell(&mut io.out, || retry::document(&answer), write_text)?)
}

fn write(
    args: &RetryArgs,
    policy: Option<&RetryPolicy>,
    (origin, failure): (&str, Option<&Status>),
    script: &[AttemptEnd],
    told: &mut Told,
    io: &mut Io<'_>,
) -> Result<u8, Error> {
    let mut draws = Draws::new(args.request.seed);
    let outcome = retry::play(policy, script, &mut || draws.backoff_unit());
    let answer = RetryAnswer {
        policy,
        origin,
        failure,
        outcome: outcome.as_ref(),
        seed: args.request.seed,
    };
    let write_text = |out: &mut dyn Write| retry::write_text(&answer, out);
    told.tell(&mut io.out, || retry::document(&answer), write_text)?;
    let breaks = policy.is_some_and(|policy| !policy.unusable().is_empty());
    let ends_badly = outcome.as_ref().is_some_and(|outcome| outcome.stop != RetryStop::Ok);
    Ok(session::exit(breaks || ends_badly || failure.is_some()))
}

/// Converts the policy of the arguments as the client does.
fn from_arguments(args: &RetryArgs, retry_on: &str, profile: &Profile) -> Result<RetryPolicy, Error> {
    if args.num_retries == 0 {
        return Err(Error::Usage(
            "num_retries is 0, with which a client rejects the resource or fails each RPC: at least 1".to_owned(),
        ));
    }
    let mut kept = BTreeSet::new();
    let mut lost_tokens = Vec::new();
    for token in retry_on.split(',') {
        match RetryOn::of_word(token, |feature| profile.has(feature)) {
            Some(on) => {
                kept.insert(on);
            }
            None if token.trim().is_empty() => {}
            None => lost_tokens.push(token.to_owned()),
        }
    }
    let base = args.base_interval.map(session::millis);
    let max = args.max_interval.map(session::millis);
    let base_interval = base.unwrap_or(DEFAULT_BASE_INTERVAL);
    Ok(RetryPolicy {
        retry_on: kept,
        num_retries: args.num_retries,
        base_interval,
        max_interval: max.unwrap_or(default_max_interval(base_interval)),
        lost_tokens,
        bounds: RetryBounds::of(|feature| profile.has(feature)),
    })
}
