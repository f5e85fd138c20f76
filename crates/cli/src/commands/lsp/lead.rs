//! Where the first RPC of a suite's channel goes, for the code lens at its target.

use std::path::Path;

use crate::Io;
use crate::io::reach::AllowedDirectories;
use crate::session::suite;
use xdsctl_channel::session::PlannedStart;
use xdsctl_channel::sim::{Outcome, Rpc};
use xdsctl_document::secret;
use xdsctl_document::source::{Source, Span};
use xdsctl_model::status::Code;
use xdsctl_model::text::beginning;
use xdsctl_suite::{RunOptions, Suite, Test, first_rpc};

/// The number of characters of a reason that fit on a line.
const MAX_REASON: usize = 160;

/// Follows the RPC of the target at this span of a suite. Returns the text to show above the
/// target.
pub(super) fn told(file: &Path, source: &Source, target: Span, io: &mut Io<'_>) -> String {
    let test = match Suite::read(source) {
        Ok(read) => alone(read, source, target),
        Err(_) => return "the suite has faults, no RPC can be sent".to_owned(),
    };
    let Some(test) = test else {
        return "no test has this target".to_owned();
    };
    let name = file.display().to_string();
    let from = suite::TestOrigin {
        file: &name,
        world: &[],
        reach: &AllowedDirectories::of(&[] as &[std::path::PathBuf]),
        allow_read: &[],
        client: None,
    };
    let opened = match suite::open(&test, from, &mut Vec::new(), io) {
        Ok(opened) => opened,
        Err((_, error)) => return format!("no RPC can be sent: {}", short(&error.to_string())),
    };
    let Some(session) = opened.sessions.first() else {
        return "no RPC can be sent".to_owned();
    };
    match first_rpc(&test, session, RunOptions::default()) {
        Ok(Some((rpc, outcome))) => said(&test, &rpc, &outcome),
        Ok(None) => "RPC waits without an end".to_owned(),
        Err(limit) => format!("the RPC cannot be followed: {}", short(&limit.to_string())),
    }
}

/// Returns the test of a target, with only the channel of that target.
fn alone(read: Suite, source: &Source, target: Span) -> Option<Test> {
    let text = std::str::from_utf8(source.bytes().get(target.range())?).ok()?;
    let text = text.trim_matches(['"', '\'']);
    let starts_there = |start: &PlannedStart| matches!(start, PlannedStart::Target(own) if own == text);
    let is_around = |span: Span| span.start <= target.start && target.end <= span.end;
    let mut tests = read.tests;
    // A target inside a test belongs to that test. A target for the whole file is in no test.
    let has_own = tests.iter().any(|test| is_around(test.span));
    tests.retain(|test| !has_own || is_around(test.span));
    tests.into_iter().find_map(|mut test| {
        let mut clients = test.clients.iter().filter(|client| starts_there(&client.start));
        let own = clients.clone().find(|client| is_around(client.span));
        let client = own.or_else(|| clients.next()).cloned()?;
        test.clients = [client].into();
        Some(test)
    })
}

fn said(test: &Test, rpc: &Rpc, outcome: &Outcome) -> String {
    let sends = test
        .steps
        .iter()
        .any(|planned| planned.step.as_ref().is_some_and(|step| step.sending().is_some()));
    let rpc = match sends {
        true => format!("RPC {}", rpc.method),
        false => "RPC".to_owned(),
    };
    let cluster = outcome
        .place
        .as_ref()
        .map(|place| &*place.cluster)
        .or(outcome.cluster.as_deref());
    let cluster = cluster
        .map(|cluster| format!(", cluster {cluster}"))
        .unwrap_or_default();
    match &outcome.backend {
        Some(backend) if outcome.code == Code::Ok => short(&format!("{rpc} goes to {backend}{cluster}")),
        _ => {
            let why = format!("{rpc} fails: {} {}", outcome.code.name(), outcome.details);
            short(why.trim())
        }
    }
}

/// Returns the first line of a text, without secrets and shortened.
fn short(text: &str) -> String {
    let text = secret::hide(text);
    beginning(text.lines().next().unwrap_or_default(), MAX_REASON).into_owned()
}
