//! `xdsctl retry`: what becomes of a retry policy.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::args::{Format, RetryArgs};
use super::channel;
use super::{Error, Io};
use crate::model::Millis;
use crate::model::route::{Action, RetryPolicy};
use crate::report::retry::{self, Answer};
use crate::rng::Rng;
use crate::select::retry::{AttemptEnd, JITTER_MAX, JITTER_MIN, TOKENS};
use crate::select::{Channel, Request, Selector};

/// Back-off of a policy that sets none.
const BASE_INTERVAL: Millis = Millis(25);

/// Exit code for a channel or RPC that fails anyway.
const EXIT_FAILS: u8 = 1;

/// The longest back-off is this many times the base if it is not set.
const MAX_FACTOR: i64 = 10;

pub(super) fn run(args: &RetryArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    let script = args
        .script
        .iter()
        .map(|text| text.parse::<AttemptEnd>().map_err(Error::Usage))
        .collect::<Result<Vec<_>, _>>()?;
    if let Some(retry_on) = &args.retry_on {
        let (policy, dropped) = from_arguments(args, retry_on)?;
        return write(args, Some(&policy), "arguments", &dropped, &script, io);
    }
    let headers = channel::headers(&args.request)?;
    let opened = channel::open(&args.channel, io)?;
    let config = match &opened.config {
        Ok(config) => Arc::clone(config),
        Err(failure) => {
            writeln!(io.out, "UNAVAILABLE: {failure}")?;
            if let Some(hint) = channel::hint(&opened) {
                writeln!(io.err, "help: {hint}")?;
            }
            return Ok(EXIT_FAILS);
        }
    };
    let request = Request {
        path: &args.request.method,
        headers: &headers,
        timeout: args.request.timeout.map(channel::millis),
    };
    let selector = Selector::new(config);
    let mut rng = Rng::stream(args.request.seed, "route");
    let mut draw = |_, bound| if bound == 0 { rng.next_u64() } else { rng.below(bound) };
    match selector.select(&request, Channel::default(), &mut draw, None) {
        Err(refusal) => {
            writeln!(io.out, "{}", refusal.status())?;
            Ok(EXIT_FAILS)
        }
        Ok(selection) => {
            let action = selector.routes().get(selection.route).map(|route| &route.action);
            let inherited = matches!(action, Some(Action::Route(action)) if action.retry_policy_inherited);
            let origin = if inherited { "virtual host" } else { "route" };
            write(args, selection.retry, origin, &[], &script, io)
        }
    }
}

fn write(
    args: &RetryArgs,
    policy: Option<&RetryPolicy>,
    origin: &str,
    dropped: &[(String, &'static str)],
    script: &[AttemptEnd],
    io: &mut Io<'_>,
) -> Result<u8, Error> {
    let mut rng = Rng::stream(args.request.seed, "retry back-off");
    let outcome = retry::play(policy, script, &mut || {
        // 53 bits are what a double holds.
        let unit = (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        JITTER_MIN + (JITTER_MAX - JITTER_MIN) * unit
    });
    let answer = Answer {
        policy,
        origin,
        dropped,
        script,
        outcome: outcome.as_ref(),
        seed: args.request.seed,
    };
    match args.format {
        Format::Human => retry::write_text(&answer, &mut io.out)?,
        Format::Json => retry::write_json(&answer, &mut io.out)?,
    }
    Ok(0)
}

/// A policy and the tokens that it loses.
type Converted = (RetryPolicy, Vec<(String, &'static str)>);

/// Converts the policy of the arguments as the client does.
fn from_arguments(args: &RetryArgs, retry_on: &str) -> Result<Converted, Error> {
    if args.num_retries == 0 {
        return Err(Error::Usage(
            "num_retries is 0, which makes the client reject the resource: at least 1".to_owned(),
        ));
    }
    let mut kept = BTreeSet::new();
    let mut dropped = Vec::new();
    for token in retry_on.split(',') {
        match TOKENS.iter().find(|(name, _)| *name == token) {
            Some((_, on)) => {
                kept.insert(*on);
            }
            None => dropped.push((token.to_owned(), why_dropped(token))),
        }
    }
    let base = args.base_interval.map(channel::millis);
    let max = args.max_interval.map(channel::millis);
    let base_interval = base.unwrap_or(BASE_INTERVAL);
    let policy = RetryPolicy {
        retry_on: kept,
        num_retries: args.num_retries,
        base_interval,
        max_interval: max.unwrap_or(Millis(base_interval.0.saturating_mul(MAX_FACTOR))),
    };
    Ok((policy, dropped))
}

fn why_dropped(token: &str) -> &'static str {
    let plain = token.trim().to_ascii_lowercase().replace('_', "-");
    let is_known = TOKENS.iter().any(|(name, _)| *name == plain);
    if !is_known {
        "gRPC does not retry on it"
    } else if token.trim() != token {
        "spaces around a token are not taken off"
    } else {
        "tokens are in lower case, with hyphens"
    }
}
