//! The answer of `retry`: what the client makes of a policy, when it tries again, and what becomes of a script of statuses.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::model::Millis;
use crate::model::route::{RetryOn, RetryPolicy};
use crate::select::retry::{AttemptEnd, JITTER_MAX, JITTER_MIN, Retries, Stop, code, nominal_backoff};
use crate::snapshot::retry::{MAX_ATTEMPTS, faults, max_attempts, written_attempts};

/// Name of the schema of `--format json`.
const SCHEMA: &str = "xdsctl.retry/v1";

/// What is shown.
#[derive(Debug)]
pub struct Answer<'a> {
    /// The policy after conversion; `None` if the route has none.
    pub policy: Option<&'a RetryPolicy>,
    /// Where it comes from: `route`, `virtual host`, `arguments`.
    pub origin: &'a str,
    /// Parts of `retry_on` that were dropped, with the reason.
    pub dropped: &'a [(String, &'static str)],
    /// How the attempts end; the last end for all that follow. Empty to simulate nothing.
    pub script: &'a [AttemptEnd],
    /// What the script leads to.
    pub outcome: Option<&'a Outcome>,
    /// Start of the random numbers.
    pub seed: u64,
}

/// The attempts of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// How each attempt ended, and the wait after it.
    pub attempts: Vec<(AttemptEnd, Option<Millis>)>,
    /// Why there is no other one.
    pub stop: Stop,
}

/// Plays a script; `jitter` gives the factor of each back-off.
pub fn play(policy: Option<&RetryPolicy>, script: &[AttemptEnd], jitter: &mut dyn FnMut() -> f64) -> Option<Outcome> {
    let mut retries = Retries::new(policy);
    let mut attempts = Vec::new();
    let mut ends = script.iter().copied();
    let mut end = ends.next()?;
    loop {
        match retries.after(end, jitter()) {
            Ok(wait) => attempts.push((end, Some(wait))),
            Err(stop) => {
                attempts.push((end, None));
                return Some(Outcome { attempts, stop });
            }
        }
        end = ends.next().unwrap_or(end);
    }
}

/// The name of a code that a policy retries.
pub fn code_name(on: RetryOn) -> &'static str {
    code(on).name()
}

/// A policy in the form of the client's method config.
pub fn policy_json(policy: &RetryPolicy) -> Value {
    let codes: Vec<&str> = policy.retry_on.iter().map(|on| code_name(*on)).collect();
    json!({
        "retryableStatusCodes": codes,
        "maxAttempts": max_attempts(policy),
        "initialBackoff": crate::lb::json::duration_to_json(policy.base_interval),
        "maxBackoff": crate::lb::json::duration_to_json(policy.max_interval),
        "backoffMultiplier": 2,
    })
}

const fn stop_words(stop: Stop) -> &'static str {
    match stop {
        Stop::Ok => "it worked",
        Stop::NoPolicy => "there is no policy that retries",
        Stop::NotRetryable => "the policy does not name this status",
        Stop::Committed => "the response had begun",
        Stop::Exhausted => "all attempts are used up",
        Stop::Pushback => "the server asked not to retry",
    }
}

/// The range of the wait before retry `k`.
fn range(policy: &RetryPolicy, k: u32) -> (Millis, Millis) {
    let nominal = nominal_backoff(policy, k).0 as f64;
    (
        Millis((nominal * JITTER_MIN) as i64),
        Millis((nominal * JITTER_MAX) as i64),
    )
}

/// Writes the answer for people.
///
/// # Errors
/// Those of `out`.
pub fn write_text(answer: &Answer<'_>, out: &mut dyn Write) -> io::Result<()> {
    let Some(policy) = answer.policy else {
        writeln!(out, "no retry policy: neither the route nor its virtual host has one")?;
        return write_outcome(answer, out);
    };
    writeln!(out, "policy    from the {}", answer.origin)?;
    let codes: Vec<&str> = policy.retry_on.iter().map(|on| code_name(*on)).collect();
    if codes.is_empty() {
        writeln!(out, "retries   nothing: no token of retry_on is one that gRPC retries")?;
    } else {
        writeln!(out, "retries   {}", codes.join(", "))?;
    }
    for (token, why) in answer.dropped {
        writeln!(out, "dropped   `{token}`: {why}")?;
    }
    if !codes.is_empty() {
        let written = written_attempts(policy);
        let attempts = max_attempts(policy);
        if written > attempts {
            writeln!(
                out,
                "attempts  {attempts}, capped: num_retries {} asks for {written}",
                policy.num_retries
            )?;
        } else {
            writeln!(
                out,
                "attempts  {attempts}: num_retries {} and the first one",
                policy.num_retries
            )?;
        }
        writeln!(
            out,
            "back-off  {} doubling up to {}",
            policy.base_interval, policy.max_interval
        )?;
        for k in 1..attempts {
            let (least, most) = range(policy, k);
            writeln!(
                out,
                "  retry {k}  after {least} to {most} (nominal {})",
                nominal_backoff(policy, k)
            )?;
        }
    }
    for (field, fault) in faults(policy) {
        writeln!(
            out,
            "breaks    the whole channel: {field} {fault}; every RPC fails with UNAVAILABLE"
        )?;
    }
    write_outcome(answer, out)
}

fn write_outcome(answer: &Answer<'_>, out: &mut dyn Write) -> io::Result<()> {
    let Some(outcome) = answer.outcome else {
        return Ok(());
    };
    writeln!(out, "outcome   seed {}", answer.seed)?;
    let mut at = 0;
    for (number, (end, wait)) in outcome.attempts.iter().enumerate() {
        write!(out, "  attempt {} at {}: {}", number + 1, Millis(at), end.code)?;
        match (wait, end.pushback) {
            (Some(wait), Some(_)) => writeln!(out, ", the server asks to wait for {wait}")?,
            (Some(wait), None) => writeln!(out, ", waits for {wait}")?,
            (None, _) => writeln!(out, ", the RPC ends: {}", stop_words(outcome.stop))?,
        }
        at += wait.map_or(0, |wait| wait.0);
    }
    Ok(())
}

/// Writes the answer for programs.
///
/// # Errors
/// Those of `out`.
pub fn write_json(answer: &Answer<'_>, out: &mut dyn Write) -> io::Result<()> {
    let schedule = |policy: &RetryPolicy| -> Vec<Value> {
        (1..max_attempts(policy))
            .map(|k| {
                let (least, most) = range(policy, k);
                json!({ "retry": k, "nominal_ms": nominal_backoff(policy, k).0, "least_ms": least.0, "most_ms": most.0 })
            })
            .collect()
    };
    let dropped: Vec<Value> = answer
        .dropped
        .iter()
        .map(|(token, why)| json!({ "token": token, "why": why }))
        .collect();
    let outcome = answer.outcome.map(|outcome| {
        let attempts: Vec<Value> = outcome
            .attempts
            .iter()
            .map(|(end, wait)| json!({ "code": end.code.name(), "wait_ms": wait.map(|wait| wait.0) }))
            .collect();
        json!({ "attempts": attempts, "stop": stop_words(outcome.stop) })
    });
    let faults = answer.policy.map(|policy| {
        let list = faults(policy).into_iter();
        list.map(|(field, fault)| json!({ "field": field, "fault": fault }))
            .collect::<Vec<Value>>()
    });
    let document = json!({
        "schema": SCHEMA,
        "from": answer.origin,
        "policy": answer.policy.map(policy_json),
        "max_attempts_cap": MAX_ATTEMPTS,
        "dropped": dropped,
        "schedule": answer.policy.map(schedule),
        "breaks_channel": faults,
        "outcome": outcome,
        "seed": answer.seed,
    });
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}
