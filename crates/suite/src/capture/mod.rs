//! Suites made from the verbose log of a client: what its control plane sent, which RPCs it had,
//! and where they went.
//!
//! ```text
//! log ─┬─ line ─ calls     RPCs, attempts, connections
//!      └─ source::log ─ sent   responses, and which resources were rejected
//!                          └─ steps ─ Draft
//! ```
//!
//! What the log does not show is not made up: values of headers, deadlines that did not pass, what
//! a backend was busy with. From grpc-go's log only what was sent is read, because it does not show
//! RPCs.

mod calls;
mod line;
mod sent;
mod steps;

use std::collections::BTreeSet;

use super::draft::Draft;
use calls::Calls;
use line::CapturedLine;
use xdsctl_document::source::{Source, SourceId};
use xdsctl_model::text::plural;

/// The traces that a log needs so that all can be read from it.
pub const TRACES: &str = "xds_client,client_channel,client_channel_call,client_channel_lb_call,subchannel,retry";

/// A suite made from a log.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Captured {
    /// The suite.
    pub draft: Draft,
    /// The number of RPCs in the suite.
    pub rpcs: usize,
    /// What could not be read, in sentences.
    pub notes: Vec<String>,
}

/// Makes a suite from a log. `shows_secrets` leaves secrets in resources as they are.
///
/// # Errors
/// Fails if there is nothing to make a suite from, and says why.
pub fn capture(id: SourceId, source: &Source, shows_secrets: bool) -> Result<Captured, String> {
    let lines: Vec<CapturedLine<'_>> = line::lines(source.bytes()).collect();
    let responses = sent::responses(id, source, &lines, shows_secrets);
    if responses.sent.is_empty() {
        return Err(format!(
            "no response of a control plane is in this log: it needs GRPC_VERBOSITY=debug and GRPC_TRACE={TRACES}"
        ));
    }
    let mut calls = Calls::default();
    lines.iter().for_each(|line| calls.line(line));
    calls.finish();
    let mut notes = Vec::new();
    if responses.unreadable > 0 {
        let resources = plural(responses.unreadable, "resource");
        notes.push(format!("{resources} of the log cannot be read, see `xdsctl validate`"));
    }
    if responses.masked > 0 {
        notes.push("secrets are masked, which `--show-secrets` writes as they are".to_owned());
    }
    let without_end = calls.calls.iter().filter(|call| call.ended.is_none()).count();
    if without_end > 0 {
        let rpcs = plural(without_end, "RPC");
        notes.push(format!("{rpcs} had not ended when the log did, and are left out"));
    }
    calls.calls.retain(|call| call.ended.is_some());
    if calls.calls.is_empty() {
        notes.push(format!(
            "the log shows no RPC that ended: C-core does with GRPC_TRACE={TRACES}"
        ));
    }
    if calls.lacks_addresses {
        notes.push("where RPCs went is not in the log: it needs the traces client_channel and subchannel".to_owned());
    }
    let unknown = calls.calls.iter().filter(|call| call.code.is_none()).count();
    if unknown > 0 {
        notes.push(format!(
            "how {unknown} of the RPCs ended is not in the log: it needs the trace retry"
        ));
    }
    let hidden: BTreeSet<&str> = calls
        .calls
        .iter()
        .flat_map(|call| &call.hidden)
        .map(String::as_str)
        .collect();
    if !hidden.is_empty() {
        let names: Vec<&str> = hidden.into_iter().collect();
        notes.push(format!(
            "the client does not log the values of the headers `{}`: RPCs that depend on them go elsewhere until the suite has them",
            names.join("`, `")
        ));
    }
    let rpcs = calls.calls.len();
    let draft = steps::draft(&responses.sent, calls);
    Ok(Captured { draft, rpcs, notes })
}
