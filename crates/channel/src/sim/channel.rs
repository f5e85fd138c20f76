//! A client channel: the LB policies, the connections, and the RPCs that wait for them.
//!
//! Follows C-core client_channel.cc (what becomes of a pick), retry_filter.cc (what becomes of a
//! failed attempt) and xds_resolver.cc (what becomes of an update).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::call::{Call, Ended, Phase, RpcId};
use super::clusters::ConfigView;
use super::network::{Network, Reachability};
use super::outcome::{Class, Outcome, TRACES_KEPT};
use super::place::LocalityPlaces;
use crate::client::config::{ChannelFailure, RoutesHeld, XdsConfig};
use crate::client::{Client, Start};
use crate::rpc::{Draws, Selector};
use idleness::Idleness;
pub use limit::LimitReached;
use resolution::ResolutionRate;
use watched::Watched;
use xdsctl_lb::LbConfig;
use xdsctl_lb::log::{LogEntry, LogEvent};
use xdsctl_lb::picker::TraceStep;
use xdsctl_lb::policy::{PolicyCx, PolicyEvent, Reports, StateReport};
use xdsctl_lb::run::child::Child;
use xdsctl_lb::runtime::{Connectivity, Event, LbOptions, NOWHERE, Runtime, Time};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::ResourceType;
use xdsctl_model::rng::Rng;
use xdsctl_model::status::Status;

mod access;
mod authority;
mod calls;
mod idleness;
mod limit;
mod outside;
mod resolution;
mod resolve;
mod rpc;
mod shares;
mod unsent;
mod visited;
mod watched;

/// How long a client waits for a resource before it concludes that there is none.
pub const RESOURCE_TIMEOUT_MS: i64 = 15_000;

/// The most events that are handled for one step or RPC, unless [`ChannelOptions::max_events`] says
/// otherwise. It makes sure that nothing runs for ever.
pub const MAX_EVENTS: u64 = 5_000_000;

/// The most LB policies and connections that a channel may have at a time, unless
/// [`ChannelOptions::max_machines`] has more.
pub const MAX_MACHINES: usize = 250_000;

/// How a channel runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChannelOptions {
    /// The seed of all random numbers.
    pub seed: u64,
    /// The options that the LB policies read.
    pub lb: LbOptions,
    /// Whether the channel waits for missing resources as a client does, instead of treating them
    /// as not existing.
    pub waits_for_missing: bool,
    /// Whether each RPC records a trace.
    pub traces: bool,
    /// Whether the channel records events, which [`Channel::take_log`] returns.
    pub log: bool,
    /// Whether the fields of [`Outcome`] are filled that name the route, virtual host, cluster and
    /// endpoint.
    pub places: bool,
    /// The most events of one step or RPC; `None` for [`MAX_EVENTS`].
    pub max_events: Option<u64>,
    /// The most LB policies and connections at a time; `None` for [`MAX_MACHINES`].
    pub max_machines: Option<usize>,
    /// Whether traces show the values of headers that hold secrets.
    pub shows_secrets: bool,
    /// How long the channel stays in use without an RPC, in milliseconds; 0 for ever, `None` for
    /// the clients' 30 minutes.
    pub idle_timeout_ms: Option<i64>,
    /// Whether the channel is idle until its first RPC, like one that an application has just made.
    /// Otherwise it is in use from time 0.
    pub starts_idle: bool,
}

/// A client channel in simulated time.
#[derive(Debug)]
pub struct Channel {
    runtime: Runtime,
    network: Network,
    client: Client,
    start: Start,
    options: ChannelOptions,
    view: ConfigView,
    root: Child,
    selector: Option<Arc<Selector>>,
    /// The last service config that the client could read.
    lb_config: Option<LbConfig>,
    /// The children of `lb_config` that exist only for RPCs under way, with the number of these
    /// RPCs.
    kept_children: BTreeMap<String, usize>,
    /// Why the service config cannot be used. RPCs fail with this status.
    broken: Option<Status>,
    /// Why there is no configuration, if no RPC waits for one. All RPCs fail with this status.
    refusal: Option<Status>,
    /// Whether the client's process has died. It then takes no update.
    is_dead: bool,
    /// Whether there is a configuration, or a failure instead of one.
    is_resolved: bool,
    /// What the client watches.
    watched: Watched,
    /// The last routes of the channel. The client goes on with them while it waits for others.
    routes: Option<RoutesHeld>,
    /// The failure that the last update of the routes caused.
    route_failure: Option<ChannelFailure>,
    /// The configuration that was last accepted, whether or not it is in use yet.
    taken: Option<Arc<XdsConfig>>,
    /// Missing resources for which the configuration does not wait.
    unneeded: BTreeSet<(ResourceType, String)>,
    /// When the wait for each missing resource began.
    asked: BTreeMap<(ResourceType, String), Time>,
    calls: BTreeMap<u64, Box<Call>>,
    /// Ended RPCs whose outcome has not been collected yet.
    ended: BTreeMap<u64, Ended>,
    next_call: u64,
    serial: u64,
    active_faults: u32,
    /// Counters of attempts that no circuit breaker has counted, and when the last of them began.
    uncounted: Vec<u32>,
    uncounted_since: Time,
    /// RPCs that have ended and for which nobody waits.
    let_go: Vec<(RpcId, Box<Outcome>)>,
    places: LocalityPlaces,
    /// The authority of RPCs that have none of their own.
    authority: Arc<str>,
    /// The channel's state as it was last logged.
    told_state: Option<Connectivity>,
    draws: Draws,
    connect_time: Rng,
    answers: Rng,
    /// The order in which clusters of routes are resolved, where the client has none.
    root_order: Rng,
    /// Events that the last pick leaves for policies.
    events_of_pick: Vec<(xdsctl_lb::policy::TreePath, PolicyEvent)>,
    /// RPCs that wait for a picker.
    queued: BTreeSet<u64>,
    resolutions: ResolutionRate,
    idleness: Idleness,
    /// The steps of the current pick.
    steps: Vec<TraceStep>,
    /// How many more steps the RPCs under way may keep.
    trace_steps_left: usize,
    /// Timers that fired and changes of connections since the last [`Channel::take_worked`].
    worked: u64,
}

impl Channel {
    /// Makes a channel at time 0, with its first configuration.
    pub fn new(client: Client, start: Start, network: Network, options: ChannelOptions) -> Channel {
        let seed = options.seed;
        let lb_options = LbOptions {
            weighted_shuffling: client.profile.has(Feature::PfWeightedShuffling),
            ..options.lb.clone()
        };
        let mut client = client;
        client
            .lookup_targets
            .extend(network.lookups.targets().map(str::to_owned));
        let idleness = Idleness::new(&options, &client.profile);
        let mut channel = Channel {
            runtime: Runtime::new(seed, lb_options),
            network,
            view: ConfigView::new(client.profile.clone()),
            client,
            start,
            root: Child::new(Arc::from([])),
            selector: None,
            lb_config: None,
            kept_children: BTreeMap::new(),
            broken: None,
            refusal: None,
            is_dead: false,
            is_resolved: false,
            watched: Watched::default(),
            routes: None,
            route_failure: None,
            taken: None,
            unneeded: BTreeSet::new(),
            asked: BTreeMap::new(),
            calls: BTreeMap::new(),
            ended: BTreeMap::new(),
            next_call: 0,
            serial: 0,
            active_faults: 0,
            uncounted: Vec::new(),
            uncounted_since: 0,
            draws: Draws::new(seed),
            connect_time: Rng::stream(seed, "connect time"),
            answers: Rng::stream(seed, "backend"),
            root_order: Rng::stream(seed, "order of roots"),
            let_go: Vec::new(),
            places: LocalityPlaces::default(),
            authority: "".into(),
            told_state: None,
            events_of_pick: Vec::new(),
            queued: BTreeSet::new(),
            resolutions: ResolutionRate::default(),
            idleness,
            steps: Vec::new(),
            trace_steps_left: TRACES_KEPT,
            worked: 0,
            options,
        };
        channel.runtime.max_machines = channel.options.max_machines.unwrap_or(MAX_MACHINES);
        if channel.options.log {
            channel.runtime.log.listen();
        }
        if channel.is_idle() {
            channel.told_state = Some(Connectivity::Idle);
        }
        channel.resolve();
        channel
    }

    /// Returns the events since the last call, in the order of time, and how many more were not
    /// kept; nothing without [`ChannelOptions::log`].
    pub fn take_log(&mut self) -> (Vec<LogEntry>, u64) {
        self.runtime.log.take()
    }

    /// Ends the work on an event: connections start, and waiting RPCs get a new picker.
    fn end_event(&mut self, reports: &Reports) {
        if let Some(last) = reports.last().filter(|_| self.runtime.log.is_on()) {
            self.note_state(last);
        }
        self.runtime.end_event();
        self.turn_outside();
        if !reports.is_empty() {
            self.note_idle(reports);
            self.pick_queued();
        }
    }

    /// Gives the picker to the RPCs that wait.
    fn pick_queued(&mut self) {
        for id in std::mem::take(&mut self.queued) {
            let call = self.calls.get(&id);
            if call.is_some_and(|call| matches!(call.phase, Phase::Queued)) {
                self.pick(id);
            }
        }
    }

    /// Logs a change of the channel's state.
    fn note_state(&mut self, last: &StateReport) {
        if self.told_state != Some(last.state) {
            self.told_state = Some(last.state);
            self.runtime.say(&NOWHERE, || LogEvent::ChannelState {
                state: last.state,
                why: last.status.as_ref().map(|status| status.message.to_string()),
            });
        }
    }

    /// Returns how many timers fired and connections changed since the last call. This is the work
    /// that no RPC causes.
    pub const fn take_worked(&mut self) -> u64 {
        std::mem::replace(&mut self.worked, 0)
    }

    /// The most events of one step or RPC.
    pub const fn max_events(&self) -> u64 {
        match self.options.max_events {
            Some(limit) => limit,
            None => MAX_EVENTS,
        }
    }

    fn step(&mut self, event: Event) {
        let is_own = matches!(
            event,
            Event::Policy(_, PolicyEvent::Timer(_) | PolicyEvent::Subchannel { .. }) | Event::BackoffOver { .. }
        );
        self.worked += u64::from(is_own);
        let mut reports = Reports::new();
        // An RPC is not picked for again because of what its own pick brings about.
        let mut picking = None;
        match event {
            // The client is stuck in an endless loop and handles no more events.
            Event::Policy(..) | Event::PolicyFirst { .. } if self.runtime.endless.is_some() => {}
            Event::Policy(at, what) => reports = self.tell(&at, &what),
            Event::PolicyFirst { call, at, what } => {
                picking = self.queued.take(&call);
                reports = self.tell(&at, &what);
            }
            Event::BackoffOver { subchannel, generation } => self.runtime.backoff_over(subchannel, generation),
            Event::ConnectOver { subchannel, generation } => self.finish_connect(subchannel, generation),
            Event::LoadReport { subchannel, serial } => self.report_load(subchannel, serial),
            Event::Answer { call, serial } => self.on_answer(call, serial),
            Event::Attempt { call, serial } => self.on_attempt(call, serial),
            Event::Deadline { call } => self.on_deadline(call),
            Event::Resolve => self.resolve(),
            Event::PickAgain => self.pick_again(),
        }
        self.end_event(&reports);
        self.queued.extend(picking);
        self.note_death();
    }

    fn tell(&mut self, at: &[u32], what: &PolicyEvent) -> Reports {
        let mut cx = PolicyCx {
            runtime: &mut self.runtime,
            clusters: &self.view,
        };
        self.root.handle(at, what, &mut cx)
    }

    /// Ends all RPCs if the process has died.
    pub(super) fn note_death(&mut self) {
        let Some(why) = self.runtime.died.take() else { return };
        let status = Status::unavailable(format!("the client's process has died: {why}"));
        self.is_dead = true;
        self.is_resolved = true;
        self.refusal = Some(status.clone());
        let all: Vec<u64> = self.calls.keys().copied().collect();
        for id in all {
            self.end(id, Class::Fail, &status);
        }
    }

    fn finish_connect(&mut self, subchannel: u32, generation: u32) {
        let Some(found) = self.runtime.pool.get(subchannel) else {
            return;
        };
        let address = found.address.clone();
        match self.network.reach(&address.socket) {
            Reachability::Accepts => self.runtime.connected(subchannel, generation),
            Reachability::Refuses => {
                let status = Network::refusal(&address, &self.client.profile);
                self.runtime.refused(subchannel, generation, status);
            }
            Reachability::Hangs => {
                let status = Network::timeout(&address, &self.client.profile);
                self.runtime.refused(subchannel, generation, status);
            }
        }
    }
}
