//! The answer of `pick`: what became of RPCs, the way of one through the layers, the shares of many.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anstyle::AnsiColor;
use serde_json::{Value, json};

use super::edge;
use xdsctl::lb::picker::Step;
use xdsctl::sim::{Class, Outcome};
use xdsctl::status::Code;

/// Name of the schema of `--format json`.
const SCHEMA: &str = "xdsctl.pick/v1";

/// Columns of a full bar.
const BAR: usize = 40;

/// Outcomes shown one by one at most, when no shares are asked for.
const SHOWN: usize = 200;

/// What was simulated.
#[derive(Debug)]
pub struct Answer<'a> {
    /// RPCs in order.
    pub outcomes: &'a [Outcome],
    /// Expected share by backend or failure; empty if not known.
    pub expected: &'a BTreeMap<String, f64>,
    /// Shares are asked for, not the single RPCs.
    pub is_counted: bool,
    /// Everything is to be told.
    pub explains: bool,
    /// Start of the random numbers.
    pub seed: u64,
}

/// What an outcome counts as in the shares.
pub fn label(outcome: &Outcome) -> String {
    match &outcome.backend {
        Some(backend) => backend.clone(),
        None => format!("{}: {}", outcome.code, outcome.details),
    }
}

fn shares(outcomes: &[Outcome]) -> BTreeMap<String, u64> {
    let mut shares = BTreeMap::new();
    for outcome in outcomes {
        *shares.entry(label(outcome)).or_default() += 1;
    }
    shares
}

fn share(count: u64, total: usize) -> f64 {
    if total == 0 { 0.0 } else { count as f64 / total as f64 }
}

/// Writes the answer as JSON.
///
/// # Errors
/// Those of `out`.
pub fn write_json(answer: &Answer<'_>, out: &mut dyn Write) -> io::Result<()> {
    let picks: Vec<Value> = answer
        .outcomes
        .iter()
        .map(|outcome| {
            let trace: Vec<Value> = outcome
                .trace
                .iter()
                .map(|step| json!({ "layer": step.layer, "what": step.what }))
                .collect();
            json!({
                "result": outcome.class.name(),
                "code": outcome.code.name(),
                "backend": outcome.backend,
                "set_cookie": outcome.set_cookie,
                "attempts": outcome.attempts,
                "details": outcome.details,
                "began_ms": outcome.began,
                "ended_ms": outcome.ended,
                "trace": trace,
            })
        })
        .collect();
    let mut json = json!({ "schema": SCHEMA, "seed": answer.seed, "picks": picks });
    if answer.is_counted {
        let simulated = shares(answer.outcomes);
        let labels: std::collections::BTreeSet<&String> = simulated.keys().chain(answer.expected.keys()).collect();
        let list: Vec<Value> = labels
            .into_iter()
            .map(|label| {
                let count = simulated.get(label).copied().unwrap_or(0);
                json!({
                    "label": label,
                    "count": count,
                    "simulated": share(count, answer.outcomes.len()),
                    "expected": answer.expected.get(label),
                })
            })
            .collect();
        if let Some(map) = json.as_object_mut() {
            map.insert("shares".to_owned(), Value::Array(list));
        }
    }
    serde_json::to_writer_pretty(&mut *out, &json)?;
    writeln!(out)
}

/// Writes the answer for people.
///
/// # Errors
/// Those of `out`.
pub fn write_text(answer: &Answer<'_>, colours: bool, out: &mut dyn Write) -> io::Result<()> {
    if answer.is_counted {
        return write_shares(answer, colours, out);
    }
    for (number, outcome) in answer.outcomes.iter().take(SHOWN).enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        write_outcome(outcome, answer.explains, colours, out)?;
    }
    let more = answer.outcomes.len().saturating_sub(SHOWN);
    if more > 0 {
        writeln!(out, "\n... and {more} more, all of them with --format json")?;
    }
    Ok(())
}

fn paint(colour: AnsiColor, colours: bool, text: &str) -> String {
    edge::paint(colour.on_default(), colours, text)
}

fn write_outcome(outcome: &Outcome, explains: bool, colours: bool, out: &mut dyn Write) -> io::Result<()> {
    let colour = if outcome.code == Code::Ok {
        AnsiColor::Green
    } else {
        AnsiColor::Red
    };
    let what = match (&outcome.backend, outcome.class) {
        (Some(backend), _) => format!("OK from {backend}"),
        (None, Class::Queue) => format!("{}: still queued", outcome.code),
        (None, _) => format!("{}: {}", outcome.code, outcome.details),
    };
    let took = outcome.ended - outcome.began;
    let what = paint(colour, colours, &what);
    writeln!(out, "{what} ({}, {took} ms)", outcome.class.name())?;
    if outcome.attempts.len() > 1 || (outcome.backend.is_none() && !outcome.attempts.is_empty()) {
        writeln!(out, "attempts: {}", outcome.attempts.join(", "))?;
    }
    for cookie in &outcome.set_cookie {
        let place = if outcome.cookie_in_trailers {
            " (in the trailers)"
        } else {
            ""
        };
        writeln!(out, "set-cookie: {cookie}{place}")?;
    }
    let steps = if explains {
        outcome.trace.clone()
    } else {
        last_way(&outcome.trace)
    };
    let width = steps.iter().map(|step| step.layer.len()).max().unwrap_or(0);
    for step in &steps {
        let layer = paint(AnsiColor::Cyan, colours, &format!("{:width$}", step.layer));
        writeln!(out, "  {layer}  {}", step.what)?;
    }
    Ok(())
}

/// The steps before the picks, and those of the last pick.
fn last_way(trace: &[Step]) -> Vec<Step> {
    let is_pick = |step: &Step| step.layer == "pick";
    let first = trace.iter().position(is_pick).unwrap_or(trace.len());
    let last = trace.iter().rposition(is_pick).unwrap_or(trace.len());
    let (before, _) = trace.split_at(first);
    let (_, after) = trace.split_at(last);
    before
        .iter()
        .chain(after)
        .filter(|step| step.layer != "set-cookie" && step.layer != "route" || step.what.contains("takes it"))
        .cloned()
        .collect()
}

fn write_shares(answer: &Answer<'_>, colours: bool, out: &mut dyn Write) -> io::Result<()> {
    let simulated = shares(answer.outcomes);
    let mut labels: Vec<(&String, u64)> = simulated.iter().map(|(label, count)| (label, *count)).collect();
    labels.extend(
        answer
            .expected
            .keys()
            .filter(|label| !simulated.contains_key(*label))
            .map(|label| (label, 0)),
    );
    labels.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let total = answer.outcomes.len();
    let width = labels
        .iter()
        .map(|(label, _)| label.chars().count())
        .max()
        .unwrap_or(0)
        .min(60);
    writeln!(out, "{total} RPCs, seed {}", answer.seed)?;
    let head = if answer.expected.is_empty() { "" } else { "expected" };
    writeln!(out, "{:width$}  {:>9}  {:>9}  {head:>9}", "", "RPCs", "share")?;
    for (label, count) in labels {
        let part = share(count, total);
        let expected = match answer.expected.get(label) {
            Some(expected) => format!("{:8.2}%", expected * 100.0),
            None if answer.expected.is_empty() => String::new(),
            None => "-".to_owned(),
        };
        // A share of at most one makes a bar of at most the full length.
        let bar = "█".repeat((part * BAR as f64).round() as usize);
        let bar = paint(AnsiColor::Blue, colours, &bar);
        let percent = part * 100.0;
        writeln!(out, "{label:width$}  {count:>9}  {percent:>8.2}%  {expected:>9}  {bar}")?;
    }
    Ok(())
}
