//! The answer of `retry`: how the client converts a policy, when it tries again, and what happens
//! with a script of statuses.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Value, json};

use xdsctl_channel::rpc::retry::{AttemptEnd, Retries, RetryStop, schedule};
use xdsctl_model::resource::Millis;
use xdsctl_model::resource::retry::{BACKOFF_MULTIPLIER, MAX_ATTEMPTS};
use xdsctl_model::resource::route::{RetryOn, RetryPolicy};
use xdsctl_model::status::Status;

/// Name of the schema of `--format json`.
const SCHEMA: &str = "xdsctl.retry/v1";

/// The answer of `xdsctl retry`.
#[derive(Debug)]
pub struct RetryAnswer<'a> {
    /// The policy after conversion; `None` if the route has none.
    pub policy: Option<&'a RetryPolicy>,
    /// Where the policy comes from: `route`, `virtual host`, `arguments`.
    pub origin: &'a str,
    /// The status of an RPC that fails although all backends answer, whatever the policy.
    pub failure: Option<&'a Status>,
    /// What happens with the script, if there is one.
    pub outcome: Option<&'a AttemptsOfScript>,
    /// Seed of the random numbers.
    pub seed: u64,
}

/// The attempts of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptsOfScript {
    /// How each attempt ended, and the wait after it, if there was one.
    pub attempts: Vec<(AttemptEnd, Option<Millis>)>,
    /// Why there is no further attempt.
    pub stop: RetryStop,
}

/// Plays a script that says how the attempts end; further attempts end like the last one. `unit`
/// draws the jitter of each back-off, from `[0, 1)`.
pub fn play(
    policy: Option<&RetryPolicy>,
    script: &[AttemptEnd],
    unit: &mut dyn FnMut() -> f64,
) -> Option<AttemptsOfScript> {
    let mut retries = Retries::new(policy);
    let mut attempts = Vec::new();
    let mut ends = script.iter().copied();
    let mut end = ends.next()?;
    loop {
        match retries.after(end, &mut *unit) {
            Ok(wait) => attempts.push((end, Some(wait))),
            Err(stop) => {
                attempts.push((end, None));
                return Some(AttemptsOfScript { attempts, stop });
            }
        }
        end = ends.next().unwrap_or(end);
    }
}

const fn stop_words(stop: RetryStop) -> &'static str {
    match stop {
        RetryStop::Ok => "it worked",
        RetryStop::NoPolicy => "there is no policy that retries",
        RetryStop::NotRetryable => "the policy does not name this status",
        RetryStop::Committed => "the response had begun",
        RetryStop::Exhausted => "all attempts are used up",
        RetryStop::Pushback => "the server asked not to retry",
        RetryStop::LostTimer => "a wait of 0 ms never ends: the RPC hangs until its deadline",
    }
}

/// Says why the client drops a token of `retry_on`.
fn why_dropped(token: &str) -> &'static str {
    let plain = token.trim().to_ascii_lowercase().replace('_', "-");
    if RetryOn::from_token(&plain).is_none() {
        "gRPC does not retry on it"
    } else if token.trim() != token {
        "spaces around a token are not taken off"
    } else {
        "tokens are in lower case, with hyphens"
    }
}

/// Writes the answer for people.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_text(answer: &RetryAnswer<'_>, out: &mut dyn Write) -> io::Result<()> {
    let Some(policy) = answer.policy else {
        say!(out, "no retry policy: neither the route nor its virtual host has one")?;
        write_failure_text(answer, out)?;
        return write_outcome(answer, out);
    };
    say!(out, "policy    from the {}", answer.origin)?;
    let codes: Vec<&str> = policy.retry_on.iter().map(|on| on.code().name()).collect();
    if codes.is_empty() {
        say!(out, "retries   nothing: no token of retry_on is one that gRPC retries")?;
    } else {
        say!(out, "retries   {}", codes.join(", "))?;
    }
    for token in &policy.lost_tokens {
        say!(out, "dropped   `{token}`: {}", why_dropped(token))?;
    }
    if !codes.is_empty() {
        let written = policy.written_attempts();
        let attempts = policy.max_attempts();
        if written > attempts {
            say!(
                out,
                "attempts  {attempts}, capped: num_retries {} asks for {written}",
                policy.num_retries
            )?;
        } else {
            say!(
                out,
                "attempts  {attempts}: num_retries {} and the first one",
                policy.num_retries
            )?;
        }
        say!(
            out,
            "back-off  {} doubling up to {}",
            policy.base_interval,
            policy.max_interval
        )?;
        for wait in schedule(policy) {
            say!(
                out,
                "  retry {}  after {} to {} (nominal {})",
                wait.retry,
                wait.least,
                wait.most,
                wait.nominal
            )?;
        }
    }
    for fault in policy.unusable() {
        say!(
            out,
            "breaks    the whole channel: {} {}; every RPC fails with UNAVAILABLE",
            fault.field(),
            fault.error()
        )?;
    }
    write_failure_text(answer, out)?;
    write_outcome(answer, out)
}

fn write_failure_text(answer: &RetryAnswer<'_>, out: &mut dyn Write) -> io::Result<()> {
    match answer.failure {
        Some(failure) => say!(out, "fails     {failure}"),
        None => Ok(()),
    }
}

fn write_outcome(answer: &RetryAnswer<'_>, out: &mut dyn Write) -> io::Result<()> {
    let Some(outcome) = answer.outcome else {
        return Ok(());
    };
    say!(out, "outcome   seed {}", answer.seed)?;
    let mut at = 0_i64;
    for (number, (end, wait)) in outcome.attempts.iter().enumerate() {
        write!(out, "  attempt {} at {}: {}", number + 1, Millis(at), end.code)?;
        match (wait, end.pushback) {
            (Some(wait), Some(_)) => say!(out, ", the server asks to wait for {wait}")?,
            (Some(wait), None) => say!(out, ", waits for {wait}")?,
            (None, _) => say!(out, ", the RPC ends: {}", stop_words(outcome.stop))?,
        }
        // A server may ask for any wait, so the clock stops at its greatest value.
        at = at.saturating_add(wait.map_or(0, |wait| wait.0));
    }
    Ok(())
}

/// The answer for programs.
#[derive(Serialize)]
struct RetryJson<'a> {
    schema: &'static str,
    /// Where the policy comes from; null if no route takes the RPC.
    from: Option<&'a str>,
    /// The policy in the form of the client's method config; null if there is none.
    policy: Option<MethodConfigPolicy>,
    max_attempts_cap: u32,
    /// Tokens of `retry_on` that the client drops.
    dropped: Vec<Value>,
    schedule: Vec<Wait>,
    /// Fields that make every RPC of the channel fail.
    breaks_channel: Vec<Fault>,
    outcome: Option<Value>,
    /// The status of an RPC that fails whatever the policy.
    error: Option<Value>,
    seed: u64,
}

/// A policy in the form of the client's method config.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MethodConfigPolicy {
    max_attempts: u32,
    initial_backoff: Value,
    max_backoff: Value,
    backoff_multiplier: u32,
    retryable_status_codes: Vec<&'static str>,
}

/// Returns the status of an RPC that fails, as JSON.
pub fn failed(status: &Status) -> Value {
    json!({ "code": status.code.name(), "message": &*status.message })
}

#[derive(Serialize)]
struct Wait {
    retry: u32,
    least_ms: i64,
    nominal_ms: i64,
    most_ms: i64,
}

#[derive(Serialize)]
struct Fault {
    field: &'static str,
    fault: &'static str,
}

impl MethodConfigPolicy {
    /// Converts a policy to the form of a method config.
    pub fn new(policy: &RetryPolicy) -> MethodConfigPolicy {
        MethodConfigPolicy {
            max_attempts: policy.max_attempts(),
            initial_backoff: json!(xdsctl_lb::json::duration_to_json(policy.base_interval)),
            max_backoff: json!(xdsctl_lb::json::duration_to_json(policy.max_interval)),
            backoff_multiplier: BACKOFF_MULTIPLIER,
            retryable_status_codes: policy.retry_on.iter().map(|on| on.code().name()).collect(),
        }
    }
}

fn waits(policy: &RetryPolicy) -> Vec<Wait> {
    schedule(policy)
        .map(|wait| Wait {
            retry: wait.retry,
            least_ms: wait.least.0,
            nominal_ms: wait.nominal.0,
            most_ms: wait.most.0,
        })
        .collect()
}

fn played(outcome: &AttemptsOfScript) -> Value {
    let attempts = outcome
        .attempts
        .iter()
        .map(|(end, wait)| json!({ "code": end.code.name(), "wait_ms": wait.map(|wait| wait.0) }));
    json!({ "attempts": attempts.collect::<Value>(), "stop": stop_words(outcome.stop) })
}

/// Returns the answer as a document.
pub fn document(answer: &RetryAnswer<'_>) -> impl Serialize {
    let tokens = answer.policy.map_or(&[][..], |policy| &policy.lost_tokens);
    let dropped = tokens
        .iter()
        .map(|token| json!({ "token": token, "why": why_dropped(token) }));
    let unusable = answer.policy.map(RetryPolicy::unusable).unwrap_or_default();
    RetryJson {
        schema: SCHEMA,
        from: answer.policy.map(|_| answer.origin),
        policy: answer.policy.map(MethodConfigPolicy::new),
        max_attempts_cap: MAX_ATTEMPTS,
        dropped: dropped.collect(),
        schedule: answer.policy.map(waits).unwrap_or_default(),
        breaks_channel: unusable
            .iter()
            .map(|why| Fault {
                field: why.field(),
                fault: why.error(),
            })
            .collect(),
        outcome: answer.outcome.map(played),
        error: answer.failure.map(failed),
        seed: answer.seed,
    }
}

/// Makes the answer for the case that no route takes the RPC.
pub const fn failure(status: &Status, seed: u64) -> RetryAnswer<'_> {
    RetryAnswer {
        policy: None,
        origin: "",
        failure: Some(status),
        outcome: None,
        seed,
    }
}
