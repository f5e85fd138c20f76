//! Scenarios: what happens to clients, backends and configuration over time, and what is expected
//! of it.
//!
//! ```text
//! suite.yaml ─ read ─ Suite ─ Test ─┬─ steps        the language of sim::script, one step an object
//!                                   ├─ expect       checks of a step's RPCs, updates, channel
//!                                   └─ never        what no RPC of the whole run may do
//! Test + clients ─ run ─ Played: failures, each with its place, what happened, and the trace of the RPC
//! ```
//!
//! A [`Draft`] goes the other way, to the text of a suite: [`capture()`] makes one from a client's
//! log. [`rewrite()`] changes values in a text.
//!
//! [`Suite::read`] reports every unknown member of a file. [`run()`] plays a test on channels that
//! share one clock. If an RPC did what it must not, it plays the test once more with traces, so that
//! the failure can show what the RPC did. This crate opens no files: the caller opens the world of a
//! suite.

mod capture;
mod channel;
mod check;
mod coverage;
mod doubt;
mod draft;
mod expect;
mod first;
mod fleet;
mod judge;
mod names;
mod read;
mod rewrite;
mod router_check;
mod run;
mod seen;
mod server;
mod shares;
mod timeline;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

pub use capture::{Captured, TRACES, capture};
pub use check::{Check, CheckKind, RpcCheck};
pub use coverage::{Coverage, CoverageKind};
pub use draft::{Draft, DraftAction, DraftOutcome, Drafted, Expected, SEEDS, Unmet, headers};
pub use first::first_rpc;
pub use read::TEST_MEMBERS;
pub use rewrite::{Rewrite, Rewritten, rewrite, yaml};
pub use run::{Failed, Failure, MAX_RPCS, Played, RunOptions, TestStop, run};
pub use server::{PlannedServer, ServerTest, run_server};
pub use shares::{ExpectedShares, Share};
pub use timeline::{Listener, timeline};

use xdsctl_channel::session::PlannedStart;
use xdsctl_channel::sim::Lookups;
use xdsctl_channel::sim::script::{Player, Setting, Step};
use xdsctl_document::source::Span;
use xdsctl_model::profile;

/// The JSON Schema of a suite.
pub const SCHEMA: &str = include_str!("../scenario.json");

/// A fault in a suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuiteFault {
    /// The bytes of the suite that hold the fault.
    pub span: Span,
    /// A sentence, as in a finding.
    pub message: String,
}

/// The tests of a file.
#[derive(Debug, Clone, Default)]
pub struct Suite {
    /// The tests in the order of the file; at least one.
    pub tests: Vec<Test>,
}

/// A part of the configuration that clients get at first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InitialConfig {
    /// A file or directory, relative to the directory of the suite.
    Path(String, Span),
    /// A resource in the suite itself, as JSON.
    Inline(String, Span),
}

/// A test. The tests of a file share what they have in common.
#[derive(Debug, Clone, Default)]
pub struct Test {
    /// The name of the test; the first test of a file without `tests` has none.
    pub name: String,
    /// The bytes of the document in which the test is written.
    pub span: Span,
    /// What the control plane has sent when the test begins.
    pub world: Arc<[InitialConfig]>,
    /// The gRPC bootstrap file, relative to the directory of the suite.
    pub bootstrap: Option<String>,
    /// Environment switches of the clients.
    pub env: Arc<[(String, String)]>,
    /// The addresses of DNS names.
    pub resolve: Arc<BTreeMap<String, Vec<SocketAddr>>>,
    /// The clients, at least one.
    pub clients: Arc<[PlannedClient]>,
    /// The clients of a fleet with their shares, until the test is split into one for each client.
    pub(crate) fleet: Arc<[PlannedClient]>,
    /// What backends do at first.
    pub backends: Arc<[Setting]>,
    /// What lookup services answer at first.
    pub lookups: Lookups,
    /// What no RPC may do.
    pub never: Arc<[Never]>,
    /// Notes that people should read before anything happens.
    pub notes: Vec<(Span, String)>,
    /// The steps, in order. The test of a server has none here, but its own in `server`.
    pub steps: Vec<PlannedStep>,
    /// The server and its steps, if this is a test of a server.
    pub server: Option<Arc<ServerTest>>,
}

/// A client of a test.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlannedClient {
    /// The name of the client; empty for the only one.
    pub name: String,
    /// The bytes of the document in which it is written.
    pub span: Span,
    /// The client's family and version; `None` leaves them to the caller.
    pub kind: Option<profile::Client>,
    /// The client's share of all RPCs, in millionths; 0 if RPCs are distributed in turn.
    pub weight: u64,
    /// The seed of the client's random numbers.
    pub seed: u64,
    /// Where the client's channel starts; by default at the only API listener.
    pub start: PlannedStart,
    /// The authority of the channel, in place of the target's name.
    pub authority: Option<String>,
    /// How long the channel stays active without an RPC, in milliseconds; 0 for ever, `None` for 30
    /// minutes.
    pub idle_timeout_ms: Option<i64>,
    /// Whether the channel is idle until the first RPC; otherwise it is in use from the beginning.
    pub starts_idle: bool,
}

/// A step and what is expected of it.
#[derive(Debug, Clone)]
pub struct PlannedStep {
    /// The bytes of the document in which it is written.
    pub span: Span,
    /// What happens; `None` if the step only has expectations.
    pub step: Option<Step>,
    /// The number of the client that the step is for; `None` for all clients.
    pub client: Option<usize>,
    /// What must hold when the step has ended; in a fleet, for each client.
    pub expect: Vec<Check>,
    /// What is expected of all RPCs of a fleet, until the test is split.
    pub(crate) of_all: Vec<Check>,
}

/// What no RPC of a run may do: the checks must not all hold for one RPC.
#[derive(Debug, Clone)]
pub struct Never {
    /// The bytes of the document in which it is written.
    pub span: Span,
    /// The checks, of which at least one must fail for each RPC.
    pub checks: Vec<Check>,
}

impl PlannedStep {
    /// Returns why a test ends at this step.
    pub(crate) fn stop(&self, why: impl ToString) -> TestStop {
        let (span, why) = (self.span, why.to_string());
        TestStop { span, why }
    }
}

impl Test {
    /// Makes the player of the steps. It distributes RPCs in turn, or by the clients' weights.
    pub(crate) fn player(&self) -> Player {
        match self.clients.iter().all(|client| client.weight > 0) {
            true => Player::weighed(self.clients.iter().map(|client| client.weight)),
            false => Player::default(),
        }
    }

    /// Returns the numbers of the clients that a step is for.
    pub fn clients_of(&self, planned: &PlannedStep) -> std::ops::Range<usize> {
        match planned.client {
            Some(number) => number..number + 1,
            None => 0..self.clients.len(),
        }
    }
}
