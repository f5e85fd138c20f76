//! The answer of `pick`: what happened to RPCs, the way of one RPC through the layers, and the
//! shares of many.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use anstyle::AnsiColor;
use serde_json::{Value, json};

use crate::edge;
use crate::told::KeptAnswer;
use xdsctl_channel::sim::{Class, Outcome};
use xdsctl_lb::picker::{StepKind, TraceStep};
use xdsctl_model::status::Code;

/// Name of the schema of `--format json`.
const SCHEMA: &str = "xdsctl.pick/v1";

/// Width of a full bar, in columns.
const BAR: usize = 40;

/// Longest label, in characters, that is on the same line as its numbers.
const LABEL: usize = 80;

/// Most outcomes that are shown one by one, if no shares are asked for.
const SHOWN: u64 = 200;

/// Most kinds of outcomes that are explained besides the shares.
const EXAMPLES: usize = 20;

/// How the answer is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PickStyle {
    /// Whether the answer is JSON instead of text.
    pub is_json: bool,
    /// Whether the share of each endpoint is printed instead of each RPC.
    pub is_counted: bool,
    /// Whether the trace of each RPC is printed (`--explain`).
    pub explains: bool,
    /// Whether the text has colours.
    pub colour: bool,
    /// Seed of the random numbers.
    pub seed: u64,
}

/// Writes outcomes one by one, so that ten million of them need no more memory than one.
pub struct Telling<'o> {
    style: PickStyle,
    out: &'o mut dyn Write,
    told: u64,
    failed: u64,
    shares: BTreeMap<String, u64>,
    /// The first outcome of each kind, if shares are to be explained.
    examples: BTreeMap<String, Outcome>,
    /// The answer as a document, if a caller keeps it.
    kept: Option<&'o mut Value>,
    picks: Vec<Value>,
}

/// Returns the label under which an outcome counts in the shares.
fn label(outcome: &Outcome) -> String {
    match &outcome.backend {
        Some(backend) => backend.clone(),
        None => kind(&format!("{}: {}", outcome.code, outcome.details)),
    }
}

/// Returns a failure message without the address of the last error, which varies from RPC to RPC.
fn kind(failure: &str) -> String {
    let is_address = |word: &str| word.ends_with(':') && (word.starts_with("ipv4:") || word.starts_with("ipv6:"));
    let words: Vec<&str> = failure.split(' ').filter(|word| !is_address(word)).collect();
    words.join(" ")
}

fn share(count: u64, total: u64) -> f64 {
    if total == 0 { 0.0 } else { count as f64 / total as f64 }
}

impl<'o> Telling<'o> {
    /// Begins the answer.
    ///
    /// # Errors
    /// If writing to `out` fails.
    pub fn begin(style: PickStyle, out: &'o mut dyn Write) -> io::Result<Telling<'o>> {
        if style.is_json {
            write!(out, "{{\n  \"picks\": [")?;
        }
        Ok(Telling::new(style, out, None))
    }

    /// Begins an answer that is kept, together with the text for people. The style must be one for
    /// people.
    pub fn keeping(style: PickStyle, KeptAnswer { text, json }: &'o mut KeptAnswer) -> Telling<'o> {
        Telling::new(style, text, Some(json))
    }

    const fn new(style: PickStyle, out: &'o mut dyn Write, kept: Option<&'o mut Value>) -> Telling<'o> {
        Telling {
            style,
            out,
            told: 0,
            failed: 0,
            shares: BTreeMap::new(),
            examples: BTreeMap::new(),
            kept,
            picks: Vec::new(),
        }
    }

    /// Returns the number of RPCs that failed.
    pub const fn failed(&self) -> u64 {
        self.failed
    }

    /// Writes the next outcome.
    ///
    /// # Errors
    /// If writing to `out` fails.
    pub fn tell(&mut self, outcome: &Outcome) -> io::Result<()> {
        self.failed += u64::from(outcome.code != Code::Ok);
        self.told += 1;
        if self.style.is_counted {
            let label = label(outcome);
            let is_example = self.style.explains && !self.style.is_json && self.examples.len() < EXAMPLES;
            if is_example && !self.examples.contains_key(&label) {
                self.examples.insert(label.clone(), outcome.clone());
            }
            *self.shares.entry(label).or_default() += 1;
        }
        if self.kept.is_some() {
            self.picks.push(json_of(outcome));
        }
        if self.style.is_json {
            let comma = if self.told == 1 { "" } else { "," };
            let text = serde_json::to_string_pretty(&json_of(outcome))?;
            return write!(self.out, "{comma}\n    {}", text.replace('\n', "\n    "));
        }
        if self.style.is_counted || self.told > SHOWN {
            return Ok(());
        }
        if self.told > 1 {
            writeln!(self.out)?;
        }
        write_outcome(outcome, self.style.explains, self.style.colour, self.out)
    }

    /// Ends the answer. `expected` has the expected shares by backend or failure; it is empty if
    /// they are not known. `error` says why there are no more outcomes.
    ///
    /// # Errors
    /// If writing to `out` fails.
    pub fn end(mut self, expected: &BTreeMap<String, f64>, error: Option<&str>) -> io::Result<()> {
        let mut by_kind = BTreeMap::new();
        for (label, part) in expected {
            *by_kind.entry(kind(label)).or_default() += part;
        }
        let expected = &by_kind;
        let picks = std::mem::take(&mut self.picks);
        if let Some(kept) = self.kept.take() {
            *kept = self.rest(expected, error);
            kept["picks"] = picks.into();
        }
        if self.style.is_json {
            let end = if self.told == 0 { "" } else { "\n  " };
            // These members follow the first one, which has been written.
            let text = serde_json::to_string_pretty(&self.rest(expected, error))?;
            return writeln!(self.out, "{end}],{}", text.strip_prefix('{').unwrap_or(&text));
        }
        if self.style.is_counted {
            write_shares(&self.shares, self.told, expected, self.style, self.out)?;
            for outcome in self.examples.values() {
                writeln!(self.out, "\nfor example")?;
                write_outcome(outcome, false, self.style.colour, self.out)?;
            }
            let more = self.shares.len() - self.examples.len();
            if self.style.explains && more > 0 {
                writeln!(self.out, "\n... and {more} more kinds, all RPCs with --format json")?;
            }
            return Ok(());
        }
        let more = self.told.saturating_sub(SHOWN);
        if more > 0 {
            writeln!(self.out)?;
            say!(self.out, "... and {more} more, all of them with --format json")?;
        }
        Ok(())
    }

    /// Returns the members of the document besides the RPCs.
    fn rest(&self, expected: &BTreeMap<String, f64>, error: Option<&str>) -> Value {
        let mut rest = json!({ "schema": SCHEMA, "seed": self.style.seed });
        if let Some(error) = error {
            rest["error"] = error.into();
        }
        if self.style.is_counted {
            let labels: BTreeSet<&String> = self.shares.keys().chain(expected.keys()).collect();
            let list = labels.into_iter().map(|label| {
                let count = self.shares.get(label).copied().unwrap_or(0);
                json!({
                    "label": label,
                    "count": count,
                    "simulated": share(count, self.told),
                    "expected": expected.get(label),
                })
            });
            rest["shares"] = list.collect();
        }
        rest
    }
}

pub(crate) fn json_of(outcome: &Outcome) -> Value {
    let steps = outcome.trace.iter();
    let trace: Vec<Value> = steps
        .map(|step| json!({ "layer": step.kind.layer(), "what": step.text }))
        .collect();
    json!({
        "result": outcome.class.name(),
        "code": outcome.code.name(),
        "backend": outcome.backend,
        "set_cookie": outcome.set_cookie,
        "attempts": outcome.attempts,
        "cluster": outcome.cluster.as_deref(),
        "authority": outcome.authority.as_deref(),
        "details": outcome.details,
        "began_ms": outcome.began,
        "ended_ms": outcome.ended,
        "trace": trace,
        "trace_left_out": outcome.trace_left_out,
    })
}

fn paint(colour: AnsiColor, colours: bool, text: &str) -> String {
    edge::paint(colour.on_default(), colours, text)
}

pub(crate) fn write_outcome(outcome: &Outcome, explains: bool, colours: bool, out: &mut dyn Write) -> io::Result<()> {
    let colour = if outcome.code == Code::Ok {
        AnsiColor::Green
    } else {
        AnsiColor::Red
    };
    let what = match (&outcome.backend, outcome.class) {
        (Some(backend), _) => format!("OK from {backend}"),
        // The RPC is queued before anything is picked.
        (None, Class::Queue) if explains && outcome.trace.is_empty() => {
            format!("{}: still queued, the channel has no configuration yet", outcome.code)
        }
        (None, Class::Queue) => format!("{}: still queued", outcome.code),
        (None, _) => format!("{}: {}", outcome.code, outcome.details),
    };
    let took = outcome.ended - outcome.began;
    let what = paint(colour, colours, &what);
    say!(out, "{what} ({}, {took} ms)", outcome.class.name())?;
    if outcome.attempts.len() > 1 || (outcome.backend.is_none() && !outcome.attempts.is_empty()) {
        say!(out, "attempts: {}", outcome.attempts.join(", "))?;
    }
    if let Some(why) = outcome.lost_session() {
        say!(out, "session not kept: {why}")?;
    }
    for cookie in &outcome.set_cookie {
        let place = if outcome.cookie_in_trailers {
            " (in the trailers)"
        } else {
            ""
        };
        say!(out, "set-cookie: {cookie}{place}")?;
    }
    let steps = if explains {
        outcome.trace.clone()
    } else {
        last_way(&outcome.trace)
    };
    let width = steps.iter().map(|step| step.kind.layer().len()).max().unwrap_or(0);
    for step in &steps {
        let layer = paint(AnsiColor::Cyan, colours, &format!("{:width$}", step.kind.layer()));
        say!(out, "  {layer}  {}", step.text)?;
    }
    Ok(())
}

/// Splits off the steps before the picks, and those of the last pick.
pub(super) fn around_picks<S>(steps: &[S], is_pick: impl Fn(&S) -> bool) -> (&[S], &[S]) {
    let first = steps.iter().position(&is_pick).unwrap_or(steps.len());
    let last = steps.iter().rposition(&is_pick).unwrap_or(steps.len());
    (steps.split_at(first).0, steps.split_at(last).1)
}

/// Returns the steps before the picks, and those of the last pick.
fn last_way(trace: &[TraceStep]) -> Vec<TraceStep> {
    let (before, after) = around_picks(trace, |step| step.kind == StepKind::Pick);
    // If no route takes the RPC, all routes are shown.
    let is_taken = |step: &TraceStep| step.kind == StepKind::Route { is_taken: true };
    let hides_routes = before.iter().any(is_taken);
    let is_shown = |step: &&TraceStep| match step.kind {
        StepKind::SetCookie => false,
        StepKind::Route { is_taken } => is_taken || !hides_routes,
        _ => true,
    };
    before.iter().chain(after).filter(is_shown).cloned().collect()
}

fn write_shares(
    simulated: &BTreeMap<String, u64>,
    total: u64,
    expected: &BTreeMap<String, f64>,
    style: PickStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut labels: Vec<(&String, u64)> = simulated.iter().map(|(label, count)| (label, *count)).collect();
    let others = expected.keys().filter(|label| !simulated.contains_key(*label));
    labels.extend(others.map(|label| (label, 0)));
    labels.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let width = labels
        .iter()
        .map(|(label, _)| label.chars().count())
        .filter(|width| *width <= LABEL)
        .max()
        .unwrap_or(0);
    say!(out, "{total} RPCs, seed {}", style.seed)?;
    let head = if expected.is_empty() { "" } else { "expected" };
    say!(out, "{:width$}  {:>9}  {:>9}  {head:>9}", "", "RPCs", "share")?;
    for (label, count) in labels {
        let part = share(count, total);
        let expected = match expected.get(label) {
            Some(part) => format!("{:8.2}%", part * 100.0),
            None if expected.is_empty() => String::new(),
            None => "-".to_owned(),
        };
        // A share is at most one, so the bar has at most its full length.
        let bar = "█".repeat((part * BAR as f64).round() as usize);
        let bar = paint(AnsiColor::Blue, style.colour, &bar);
        let percent = part * 100.0;
        let label = match label.chars().count() > LABEL {
            true => {
                say!(out, "{label}")?;
                ""
            }
            false => label,
        };
        say!(out, "{label:width$}  {count:>9}  {percent:>8.2}%  {expected:>9}  {bar}")?;
    }
    Ok(())
}
