//! Plays a test: its channels, its steps, and what is watched.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::Value;

use super::channel::Policies;
use super::coverage::Coverage;
use super::judge::{self, Ended, First, Guard, Sessions, Watched};
use super::names::MentionedNames;
use super::{PlannedStep, Test};
use xdsctl_channel::rpc::Selector;
use xdsctl_channel::session::Session;
use xdsctl_channel::sim::script::{self, Done, Step, StepResult};
use xdsctl_channel::sim::{Channel, ChannelOptions, LimitReached, MAX_MACHINES, Network, Outcome};
use xdsctl_document::source::Span;
use xdsctl_lb::runtime::Time;
use xdsctl_policy::EndedRpc;

/// The most unmet expectations for which the trace of an RPC is kept.
const MAX_WAYS: usize = 1000;

/// The most RPCs of a test, which take some seconds. Every ten `never` entries and expectations
/// that are checked on an RPC count as one RPC more.
pub const MAX_RPCS: u64 = 10_000_000;

/// How many checks take as long as an RPC.
const CHECKS_A_RPC: u64 = 10;

/// The RPCs of a test, and how many there may be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Effort {
    /// The effort so far, in tenths of an RPC.
    done: u64,
    most: u64,
}

impl Effort {
    pub fn new(run_options: RunOptions) -> Effort {
        Effort {
            done: 0,
            most: run_options.max_rpcs.unwrap_or(MAX_RPCS),
        }
    }

    /// Counts an RPC that is held against this many checks. Says whether more RPCs may follow.
    pub const fn take(&mut self, checks: usize) -> bool {
        self.done = self.done.saturating_add(CHECKS_A_RPC + checks as u64);
        !self.is_over()
    }

    pub const fn is_over(self) -> bool {
        self.done / CHECKS_A_RPC > self.most
    }

    /// Returns why a test ends at a step.
    pub fn stop(self, step: &PlannedStep) -> TestStop {
        step.stop(format!(
            "the test has more than {} RPCs, each counted once more for {CHECKS_A_RPC} `never` and expectations: --max-rpcs raises the \
             limit",
            self.most
        ))
    }
}

/// How a test is run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunOptions {
    /// The most events of one step; `None` for the default of a channel.
    pub max_events: Option<u64>,
    /// The most RPCs of the test; `None` for [`MAX_RPCS`].
    pub max_rpcs: Option<u64>,
    /// Whether to record which parts of the configuration are used.
    pub covers: bool,
    /// Whether traces have the values of headers that hold secrets.
    pub shows_secrets: bool,
    /// The most events that a timeline has; `None` for a million.
    pub max_entries: Option<usize>,
    /// The simulated time at which a timeline ends, in milliseconds; `None` for the end of the
    /// test.
    pub until: Option<Time>,
    /// Whether each failure has the value that would be recorded, instead of the trace of an RPC.
    pub records: bool,
}

/// The result of a test.
#[derive(Debug, Clone, Default)]
pub struct Played {
    /// Expectations that were not met, in the order of the steps; those of `never` come last.
    pub failures: Vec<Failure>,
    /// Remarks for the user, each with the step that it is about.
    pub notes: Vec<(Span, String)>,
    /// The `backends` of the test that no endpoint has at any time. Tests of a file may share them.
    pub unused_backends: Vec<(Span, String)>,
    /// Why the test could not be run to its end.
    pub stop: Option<TestStop>,
    /// Which parts of the configuration were met, if that was asked for.
    pub coverage: Coverage,
    /// How many expectations were checked.
    pub checks: u64,
    /// How many RPCs have ended.
    pub rpcs: u64,
    /// The simulated time at the end, in milliseconds.
    pub ended: Time,
}

/// An expectation that was not met.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// The bytes of the document in which the expectation is written.
    pub span: Span,
    /// Whether the expectation is an entry of `never`.
    pub is_never: bool,
    /// What happened instead, as half a sentence.
    pub happened: String,
    /// How many more RPCs failed the expectation.
    pub more: u64,
    /// The first RPC that failed the expectation.
    pub rpc: Option<Failed>,
    /// The bytes of the document that hold the value of the expectation.
    pub value: Span,
    /// With [`RunOptions::records`], the value with which the expectation would hold, or why there
    /// is none.
    pub recorded: Option<Result<Value, &'static str>>,
}

/// An RPC that did what it must not.
#[derive(Debug, Clone, PartialEq)]
pub struct Failed {
    /// The name of the client that sent the RPC; empty for the only client.
    pub client: String,
    /// The number of the RPC among those of its client, in the order of sending, from 1.
    pub number: u64,
    /// The outcome of the RPC, with the trace.
    pub outcome: Outcome,
}

/// A test that could not be run to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestStop {
    /// The step at which the test ends.
    pub span: Span,
    /// Why the test cannot go on, in words for people.
    pub why: String,
}

/// Runs a test. `sessions` has a session for each of its clients, in their order.
///
/// If an RPC does what it must not, the test is played once more, in a run that is the same but has
/// traces. It is not known beforehand which RPC that is, and to trace all of them in the first run
/// takes half as long again.
///
/// Calls `heard` with the number of RPCs so far.
pub fn run(test: &Test, sessions: &[Session], run_options: RunOptions, heard: &dyn Fn(u64)) -> Played {
    let played = Run::new(test, sessions, run_options, false, heard).play();
    let is_told = played.failures.iter().any(|failure| failure.rpc.is_some());
    match is_told {
        true => Run::new(test, sessions, run_options, true, heard).play(),
        false => played,
    }
}

/// What is watched while a test runs.
struct Watch<'t> {
    /// The expectations of each step.
    steps: Vec<Vec<Watched<'t>>>,
    guards: Vec<Guard<'t>>,
    sessions: Sessions,
    rpcs: u64,
    effort: Effort,
    /// Called after each RPC with the number of RPCs so far.
    heard: &'t dyn Fn(u64),
    coverage: Option<Coverage>,
    /// The configurations in use, by client.
    selectors: Vec<Option<Arc<Selector>>>,
}

impl Watch<'_> {
    /// Holds the checks against an RPC of the step.
    fn see(&mut self, step: usize, done: &Done<'_>) {
        self.rpcs += 1;
        (self.heard)(self.rpcs);
        let moved_from = self.sessions.note(done);
        let ended = Ended {
            client: done.client,
            id: done.id.number(),
            rpc: EndedRpc {
                outcome: &done.outcome,
                moved_from: moved_from.as_deref(),
            },
        };
        let checks = self.steps.get(step).map_or(0, Vec::len) + self.guards.len();
        self.effort.take(checks);
        let watched = self.steps.get_mut(step).into_iter().flatten();
        watched.for_each(|watched| watched.see(&ended));
        self.guards.iter_mut().for_each(|guard| guard.see(&ended));
        let selector = self.selectors.get(done.client).and_then(Option::as_deref);
        if let (Some(coverage), Some(selector)) = (&mut self.coverage, selector) {
            coverage.outcome(&done.outcome, selector);
        }
    }

    /// Adds the configurations in use to the coverage.
    fn configurations(&mut self, channels: &[Channel]) {
        let Some(coverage) = &mut self.coverage else { return };
        self.selectors.resize_with(channels.len(), || None);
        for (known, channel) in self.selectors.iter_mut().zip(channels) {
            let Some(selector) = channel.selector() else { continue };
            if known.as_ref().is_none_or(|known| !Arc::ptr_eq(known, &selector)) {
                coverage.configuration(&selector);
                *known = Some(selector);
            }
        }
    }
}

/// How many LB policies and connections the channels of all clients of a test may have together. A
/// single channel may have [`MAX_MACHINES`].
const MACHINES_OF_ALL: usize = 500_000;

/// Makes the channels of a test's clients. `with` sets what is particular to a client, by its
/// number.
pub(super) fn channels(
    test: &Test,
    sessions: &[Session],
    run_options: RunOptions,
    mut with: impl FnMut(usize, &mut ChannelOptions),
) -> Vec<Channel> {
    let mut network = Network::default();
    test.backends.iter().for_each(|setting| setting.apply(&mut network));
    network.lookups = test.lookups.clone();
    let clients = sessions.iter().zip(test.clients.iter()).enumerate();
    let most_machines = MAX_MACHINES.min(MACHINES_OF_ALL / sessions.len().max(1));
    let channels = clients.map(|(number, (session, planned))| {
        let mut options = ChannelOptions {
            seed: planned.seed,
            waits_for_missing: true,
            max_events: run_options.max_events,
            max_machines: Some(most_machines),
            shows_secrets: run_options.shows_secrets,
            idle_timeout_ms: planned.idle_timeout_ms,
            starts_idle: planned.starts_idle,
            ..ChannelOptions::default()
        };
        with(number, &mut options);
        session.clone().channel(network.clone(), options)
    });
    channels.collect()
}

/// Returns the addresses that exist before the first step.
pub(super) fn addresses(test: &Test, channels: &[Channel]) -> Vec<SocketAddr> {
    let steps = test.steps.iter().filter_map(|planned| planned.step.as_ref());
    let targets: BTreeSet<String> = script::lookup_targets(steps);
    let mut known: Vec<SocketAddr> = Vec::new();
    for channel in channels {
        known.extend(channel.addresses(&targets));
        known.extend(channel.dns_addresses());
    }
    known
}

/// Returns what is wrong with the steps as a whole; `known` are the [`addresses`].
pub(super) fn check(test: &Test, known: &[SocketAddr]) -> Option<TestStop> {
    let doing = |planned: &&PlannedStep| planned.step.is_some();
    let planned: Vec<&PlannedStep> = test.steps.iter().filter(doing).collect();
    let steps: Vec<&Step> = planned.iter().filter_map(|planned| planned.step.as_ref()).collect();
    let (number, error) = script::check(steps, known).err()?;
    Some(planned.get(number)?.stop(error))
}

/// Returns, for each `begin`, the step that waits for its RPCs. Both are numbers of steps.
fn finishes(steps: &[PlannedStep]) -> BTreeMap<usize, usize> {
    let mut found = BTreeMap::new();
    let mut open: BTreeMap<&str, usize> = BTreeMap::new();
    for (number, planned) in steps.iter().enumerate() {
        match &planned.step {
            Some(Step::Begin { name, .. }) => _ = open.insert(name, number),
            Some(Step::Finish(name)) => found.extend(open.remove(name.as_str()).map(|begin| (begin, number))),
            _ => {}
        }
    }
    found
}

/// One run of a test.
struct Run<'t> {
    test: &'t Test,
    channels: Vec<Channel>,
    policies: Policies,
    names: MentionedNames,
    watch: Watch<'t>,
    played: Played,
    /// How many more failures may have the trace of an RPC.
    ways_left: usize,
}

impl<'t> Run<'t> {
    fn new(
        test: &'t Test,
        sessions: &[Session],
        run_options: RunOptions,
        traces: bool,
        heard: &'t dyn Fn(u64),
    ) -> Run<'t> {
        let channels = channels(test, sessions, run_options, |_, options| {
            options.traces = traces;
            options.places = true;
        });
        let watched = |step: &'t PlannedStep| {
            step.expect
                .iter()
                .map(|check| Watched::new(check, run_options.records))
                .collect()
        };
        Run {
            test,
            channels,
            policies: Policies::default(),
            names: MentionedNames::default(),
            watch: Watch {
                steps: test.steps.iter().map(watched).collect(),
                guards: test.never.iter().map(Guard::new).collect(),
                sessions: Sessions::default(),
                rpcs: 0,
                effort: Effort::new(run_options),
                heard,
                coverage: run_options.covers.then(Coverage::default),
                selectors: Vec::new(),
            },
            played: Played::default(),
            ways_left: if run_options.records { 0 } else { MAX_WAYS },
        }
    }

    fn play(mut self) -> Played {
        let mut player = self.test.player();
        let mut open: BTreeMap<&str, usize> = BTreeMap::new();
        let known = addresses(self.test, &self.channels);
        if let Some(stop) = check(self.test, &known) {
            self.played.stop = Some(stop);
            return self.played;
        }
        self.names = MentionedNames::of(self.test, &known);
        let finishes = finishes(&self.test.steps);
        for (number, planned) in self.test.steps.iter().enumerate() {
            if let Some(Step::Begin { name, .. }) = &planned.step {
                open.insert(name, finishes.get(&number).copied().unwrap_or(number));
            }
            self.watch.configurations(&self.channels);
            self.names.configurations(&self.channels);
            let told = match &planned.step {
                None => Ok(StepResult::default()),
                Some(step) => {
                    let watch = &mut self.watch;
                    let clients = self.test.clients_of(planned);
                    player.play_on(step, &mut self.channels, clients, &mut |done| {
                        let of = done.name.and_then(|name| open.get(name).copied()).unwrap_or(number);
                        watch.see(of, &done);
                        !watch.effort.is_over()
                    })
                }
            };
            if self.watch.effort.is_over() {
                self.played.stop = Some(self.watch.effort.stop(planned));
                break;
            }
            if !self.judge(number, planned, told) {
                break;
            }
        }
        let guards = std::mem::take(&mut self.watch.guards);
        for guard in guards {
            self.played.checks += 1;
            if let Some(first) = guard.first {
                let failure = Failure {
                    is_never: true,
                    recorded: None,
                    ..failure(guard.never.span, guard.bad, &first.happened)
                };
                self.fail(failure, Some(first));
            }
        }
        self.names.configurations(&self.channels);
        if self.played.stop.is_none() {
            let (of_checks, of_backends) = self.names.missing();
            self.played.notes.extend(of_checks);
            self.played.unused_backends = of_backends;
        }
        self.watch.configurations(&self.channels);
        self.played.coverage = self.watch.coverage.take().unwrap_or_default();
        self.played.rpcs = self.watch.rpcs;
        self.played.ended = self.channels.first().map_or(0, Channel::now);
        self.played
    }

    /// Holds a step against its expectations. Says whether the next step can be played.
    fn judge(&mut self, number: usize, planned: &PlannedStep, told: Result<StepResult, LimitReached>) -> bool {
        let told = match told {
            Ok(told) => told,
            Err(limit) => {
                self.played.stop = Some(planned.stop(limit));
                return false;
            }
        };
        if let Some(fault) = told.faults.first() {
            self.played.stop = Some(planned.stop(fault));
            return false;
        }
        let expects_nack = planned
            .expect
            .iter()
            .any(|check| matches!(check.what, super::CheckKind::Nack(_)));
        if !expects_nack {
            self.played
                .notes
                .extend(told.notes.into_iter().map(|note| (planned.span, note)));
        }
        let watched = self.watch.steps.get_mut(number).map(std::mem::take).unwrap_or_default();
        for watched in watched {
            self.played.checks += 1;
            let span = watched.check.span;
            let recorded = watched.seen.as_ref().map(|seen| {
                let clients = self.channels.get(self.test.clients_of(planned));
                seen.value(&watched, &told.updates, clients.unwrap_or_default())
            });
            let of_updates = told
                .updates
                .iter()
                .find_map(|(_, updated)| judge::of_update(watched.check, updated));
            let (channels, policies) = (&self.channels, &mut self.policies);
            let of_channels = self.test.clients_of(planned).find_map(|client| {
                let channel = channels.get(client)?;
                judge::of_channel(watched.check, client, channel, policies)
            });
            let sends = matches!(planned.step, Some(Step::Pick(_) | Step::Finish(_)));
            let of_step = watched
                .of_step()
                .filter(|_| sends && watched.first.is_none() && watched.check.what.is_of_rpcs());
            let value = watched.check.value;
            let idle = watched.cannot_fail().filter(|_| sends);
            self.played.notes.extend(idle.map(|note| (span, note)));
            let whole = of_updates.or(of_channels).or(of_step);
            let first = watched.first.filter(|_| whole.is_none());
            let (bad, happened) = match (&whole, &first) {
                (Some(happened), _) => (1, happened),
                (None, Some(first)) => (watched.bad, &first.happened),
                (None, None) => continue,
            };
            let failure = Failure {
                value,
                recorded,
                ..failure(span, bad, happened)
            };
            self.fail(failure, first);
        }
        true
    }

    /// Adds a failure, with the trace of the first RPC that did what it must not.
    fn fail(&mut self, mut failure: Failure, first: Option<First>) {
        if self.ways_left > 0
            && let Some(first) = first
        {
            self.ways_left -= 1;
            let client = self.test.clients.get(first.client);
            failure.rpc = Some(Failed {
                client: client.map_or_else(String::new, |client| client.name.clone()),
                number: first.id + 1,
                outcome: first.outcome,
            });
        }
        self.played.failures.push(failure);
    }
}

/// Makes the failure of an expectation that `bad` RPCs did not meet.
pub(super) fn failure(span: Span, bad: u64, happened: &str) -> Failure {
    Failure {
        span,
        is_never: false,
        happened: happened.to_owned(),
        more: bad.saturating_sub(1),
        rpc: None,
        value: span,
        recorded: None,
    }
}
