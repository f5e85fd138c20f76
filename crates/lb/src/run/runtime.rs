//! Time, timers and connections: everything outside the policies that the policies act on.
//!
//! One queue of events, ordered by time and then by the order of scheduling, stands for the
//! client's work serializer. Nothing here reads a clock: [`Runtime::now`] moves when the owner
//! takes the next event. The network is not here either: [`Runtime::take_attempts`] returns the
//! subchannels that want to connect, and [`Runtime::connected`] and its siblings take the outcome.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use super::endpoint::Address;
use super::log::{Log, LogEvent};
use super::policy::{PolicyEvent, TreePath};
use xdsctl_model::rng::Rng;
use xdsctl_model::status::Status;

mod backoff;
mod event;
mod load;
mod pool;
mod queue;

use load::LoadStreams;
use queue::Queue;

pub use backoff::ATTEMPT_TIMEOUT_MS;
pub use event::Event;
pub use pool::{Connectivity, Pool, Subchannel};

/// The place of an event that is not a policy's.
pub static NOWHERE: LazyLock<TreePath> = LazyLock::new(|| Arc::from([]));

/// How many changes of subchannels the buffer keeps room for from event to event.
const KEPT_ROOM: usize = 64;

/// Milliseconds since the start of the simulation.
pub type Time = i64;

/// Identifies a timer until it fires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimerId(Time, u64);

/// A subchannel as one policy holds it. Several policies may hold the same subchannel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handle {
    /// A number that is unique in the runtime.
    pub id: u64,
    /// The number of the subchannel.
    pub subchannel: u32,
    /// The address that it connects to.
    pub address: Address,
}

/// A policy took or released a subchannel. The wrappers above the policy look at these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubchannelChange {
    /// A policy took a subchannel.
    Created {
        /// The handle of the subchannel.
        handle: Handle,
        /// The place of the policy that asked for it.
        at: TreePath,
    },
    /// A policy released a subchannel.
    Released {
        /// The number of the handle.
        id: u64,
        /// The address that it connected to.
        address: Address,
    },
}

/// The channel arguments that the policies read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LbOptions {
    /// `grpc.priority_failover_timeout_ms`; the default is 10 s.
    pub priority_failover_ms: i64,
    /// `grpc.lb.ring_hash.ring_size_cap`; the default is 4096.
    pub ring_size_cap: u64,
    /// `grpc.happy_eyeballs_connection_attempt_delay_ms`, from 100 to 2000; the default is 250.
    pub connection_attempt_delay_ms: i64,
    /// Whether pick_first shuffles by weight (A113). A channel takes it from the client's switch.
    pub weighted_shuffling: bool,
    /// Addresses that the caller declares to be ejected by outlier detection. They stay ejected.
    pub ejected: BTreeSet<String>,
}

impl Default for LbOptions {
    fn default() -> Self {
        LbOptions {
            priority_failover_ms: crate::priority::DEFAULT_FAILOVER_MS,
            ring_size_cap: crate::ring_hash::RING_SIZE_CAP,
            connection_attempt_delay_ms: crate::pick_first::DEFAULT_ATTEMPT_DELAY_MS,
            weighted_shuffling: false,
            ejected: BTreeSet::new(),
        }
    }
}

/// Requests in flight: by cluster for circuit breaking, and by endpoint for least_request and p2c.
#[derive(Debug, Clone, Default)]
pub struct InFlight {
    numbers: BTreeMap<(String, String), u32>,
    counts: Vec<u32>,
}

impl InFlight {
    /// Returns the number of the counter of a cluster and its EDS service name.
    pub fn counter(&mut self, cluster: &str, service_name: &str) -> u32 {
        let next = u32::try_from(self.counts.len()).unwrap_or(u32::MAX);
        let key = (cluster.to_owned(), service_name.to_owned());
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.counts.push(0);
        }
        number
    }

    /// Returns the number of requests in flight.
    pub fn get(&self, counter: u32) -> u32 {
        self.counts.get(counter as usize).copied().unwrap_or(0)
    }

    /// Counts one more RPC in flight.
    pub fn begin(&mut self, counter: u32) {
        if let Some(count) = self.counts.get_mut(counter as usize) {
            *count += 1;
        }
    }

    /// Counts one RPC in flight less.
    pub fn end(&mut self, counter: u32) {
        if let Some(count) = self.counts.get_mut(counter as usize) {
            *count = count.saturating_sub(1);
        }
    }
}

/// A policy's question to a lookup service (RLS) where RPCs go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lookup {
    /// The policy, which gets [`PolicyEvent::LookedUp`].
    pub at: TreePath,
    /// The number that the policy gave the lookup.
    pub number: u64,
    /// The target URI of the service.
    pub service: String,
    /// The keys of the lookup (RLS).
    pub keys: Arc<BTreeMap<String, String>>,
    /// How long the policy waits for the answer, in milliseconds.
    pub timeout_ms: i64,
}

/// Time, events, chance and connections of a channel.
#[derive(Debug)]
pub struct Runtime {
    /// Simulated time, in milliseconds since the channel was made.
    pub now: Time,
    /// The subchannels of the channel.
    pub pool: Pool,
    /// The requests in flight.
    pub in_flight: InFlight,
    /// The streams of out-of-band load reports.
    pub load: LoadStreams,
    /// The channel arguments that the policies read.
    pub options: LbOptions,
    /// What the policies did to subchannels since the owner last cleared this.
    pub changes: Vec<SubchannelChange>,
    /// Lookups that began since the owner last took them.
    pub lookups: Vec<Lookup>,
    /// The events of the channel, if somebody listens.
    pub log: Log,
    /// The clusters whose cds policies are taking an update, the outermost first.
    pub building: Vec<String>,
    /// The cluster whose policy leads back to it while it is being built, which never ends in the
    /// client.
    pub endless: Option<String>,
    /// Why the client's process has died.
    pub died: Option<String>,
    /// How many policies, and handles and watches of subchannels, there may be at a time.
    pub max_machines: usize,
    /// The limit of policies, once it was reached: no policy has been made since.
    pub is_full: Option<usize>,
    /// Whether more cds policies are inside each other than are simulated.
    pub is_too_deep: bool,
    /// Each policy has a clone of this, so that they can be counted.
    machines: Arc<()>,
    seed: u64,
    queue: Queue,
    next_handle: u64,
    events: u64,
    attempts: Vec<u32>,
    jitter: Rng,
}

impl Runtime {
    /// Makes a runtime at time 0 without connections.
    pub fn new(seed: u64, options: LbOptions) -> Runtime {
        Runtime {
            now: 0,
            pool: Pool::default(),
            in_flight: InFlight::default(),
            options,
            changes: Vec::new(),
            lookups: Vec::new(),
            log: Log::default(),
            building: Vec::new(),
            endless: None,
            died: None,
            is_full: None,
            is_too_deep: false,
            machines: Arc::default(),
            max_machines: usize::MAX,
            load: LoadStreams::default(),
            seed,
            queue: Queue::default(),
            next_handle: 0,
            events: 0,
            attempts: Vec::new(),
            jitter: Rng::stream(seed, "subchannel/backoff"),
        }
    }

    /// Logs an event at a place of the tree, if somebody listens.
    pub fn say(&mut self, at: &TreePath, event: impl FnOnce() -> LogEvent) {
        self.log.tell(self.now, at, event);
    }

    /// Counts one more policy until the returned value is dropped. Returns `None` if the limit is
    /// reached.
    pub(super) fn machine(&mut self) -> Option<Arc<()>> {
        if self.machines() + self.pool.watches() >= self.max_machines {
            self.is_full = Some(self.max_machines);
        }
        self.is_full.is_none().then(|| Arc::clone(&self.machines))
    }

    /// Returns the random numbers for one use at one place in the tree.
    pub fn stream(&self, name: &str, at: &TreePath) -> Rng {
        Rng::stream(self.seed, &format!("{name}/{at:?}"))
    }

    /// Schedules an event. Events at the same time come in the order of these calls.
    pub fn schedule(&mut self, delay_ms: i64, event: Event) -> TimerId {
        let at = self.now.saturating_add(delay_ms.max(0));
        self.queue.add(self.now, at, event)
    }

    /// Schedules an event for a policy.
    pub fn timer(&mut self, delay_ms: i64, at: &TreePath, what: PolicyEvent) -> TimerId {
        self.schedule(delay_ms, Event::Policy(at.clone(), what))
    }

    /// Makes an event for a policy the next one of all.
    pub fn tell_next(&mut self, at: &TreePath, what: PolicyEvent) {
        self.queue.add_first(Event::Policy(at.clone(), what));
    }

    /// Repeats pending news for other policies: `other` says which policy gets an event too, and as
    /// what. It gets the event right after the first policy.
    pub fn tell_too(&mut self, other: impl Fn(&TreePath, &PolicyEvent) -> Option<(TreePath, PolicyEvent)>) {
        self.queue.repeat(|event| {
            let Event::Policy(at, what) = event else { return None };
            other(at, what).map(|(at, what)| Event::Policy(at, what))
        });
    }

    /// Removes an event from the queue, if it is still there.
    pub fn cancel(&mut self, timer: &mut Option<TimerId>) {
        if let Some(id) = timer.take() {
            self.queue.cancel(id);
        }
    }

    /// Returns the number of events that have not happened yet.
    pub fn pending(&self) -> usize {
        self.queue.len()
    }

    /// Returns the number of events that have happened, as a measure of work.
    pub const fn events(&self) -> u64 {
        self.events
    }

    /// Returns the number of policies.
    pub fn machines(&self) -> usize {
        Arc::strong_count(&self.machines) - 1
    }

    /// Says whether an event is pending that was due when it was scheduled, such as news of
    /// connections.
    pub fn has_news(&self) -> bool {
        self.queue.has_due()
    }

    /// Returns the time of the next event.
    pub fn next_time(&self) -> Option<Time> {
        self.queue.next_time()
    }

    /// Ends the work on an event: drops subchannels that nobody holds any more.
    pub fn end_event(&mut self) {
        self.changes.clear();
        self.changes.shrink_to(KEPT_ROOM);
        let (log, now) = (&mut self.log, self.now);
        self.pool.collect(|address| {
            log.tell(now, &NOWHERE, || LogEvent::ConnectionLetGo {
                cluster: cluster_of(address),
                address: address.text.clone(),
            });
        });
    }

    /// Takes the next event if it is due at `until` or before, and moves the time to it.
    pub fn next_event(&mut self, until: Time) -> Option<Event> {
        if self.next_time()? > until {
            return None;
        }
        let (time, event) = self.queue.pop()?;
        self.events += 1;
        self.now = self.now.max(time);
        Some(event)
    }

    /// Makes a subchannel for a policy, or joins one of the same owner with the same address and
    /// scope. The policy gets no event with the state unless it calls [`Runtime::tell_initial`].
    pub fn acquire(&mut self, address: &Address, owner: u64, at: &TreePath) -> Handle {
        let handle = self.join(address, owner, at);
        self.changes.push(SubchannelChange::Created {
            handle: handle.clone(),
            at: at.clone(),
        });
        handle
    }

    /// Acquires a subchannel for a wrapper's own use: unlike [`Runtime::acquire`], it notes no
    /// [`SubchannelChange`].
    pub fn hold(&mut self, address: &Address, at: &TreePath) -> Handle {
        let handle = self.join(address, 0, at);
        self.tell_initial(&handle, at);
        handle
    }

    /// Returns a number that no other owner of subchannels has.
    pub const fn new_owner(&mut self) -> u64 {
        self.next_handle += 1;
        self.next_handle
    }

    fn join(&mut self, address: &Address, owner: u64, at: &TreePath) -> Handle {
        self.next_handle += 1;
        if self.log.is_on() && self.pool.find(address, owner).is_none() {
            self.say(&NOWHERE, || LogEvent::ConnectionMade {
                cluster: cluster_of(address),
                address: address.text.clone(),
            });
        }
        let handle = Handle {
            id: self.next_handle,
            subchannel: self.pool.join(address, owner),
            address: address.clone(),
        };
        self.pool.watch(handle.subchannel, handle.id, at, true);
        handle
    }

    /// Watches the subchannel of another handle without keeping it alive. Returns the number that
    /// the events have.
    ///
    /// Such a watch gets each change before the handles do, as a wrapper does. It gets no event
    /// with the present state.
    pub fn watch(&mut self, handle: &Handle, at: &TreePath) -> u64 {
        self.next_handle += 1;
        self.pool.watch(handle.subchannel, self.next_handle, at, false);
        self.next_handle
    }

    /// Schedules an event with the present state of a subchannel.
    pub fn tell_initial(&mut self, handle: &Handle, at: &TreePath) {
        let (state, status) = self.pool.state_of(handle.subchannel);
        let handle = handle.id;
        self.timer(0, at, PolicyEvent::Subchannel { handle, state, status });
    }

    /// Releases a subchannel that [`Runtime::acquire`] returned.
    pub fn release(&mut self, handle: &Handle) {
        self.pool.unwatch(handle.subchannel, handle.id);
        self.changes.push(SubchannelChange::Released {
            id: handle.id,
            address: handle.address.clone(),
        });
    }

    /// Asks an idle subchannel to connect; does nothing in any other state.
    pub fn connect(&mut self, subchannel: u32) {
        let now = self.now;
        if self.pool.start_attempt(subchannel, now) {
            self.attempts.push(subchannel);
            self.tell(subchannel);
        }
    }

    /// Returns the subchannels that began to connect since the last call.
    pub fn take_attempts(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.attempts)
    }

    /// Notes that the attempt of a subchannel succeeded.
    pub fn connected(&mut self, subchannel: u32, generation: u32) {
        if self.pool.succeed(subchannel, generation) {
            self.tell(subchannel);
            if let Some(found) = self.pool.get(subchannel) {
                self.load.connected(&found.address);
            }
        }
    }

    /// Returns the streams of load reports that begin since the last call: the subchannel and the
    /// number of each stream.
    pub fn take_load_starts(&mut self) -> Vec<(u32, u64)> {
        let starts = self.load.take_starts().into_iter();
        let of = |(address, serial): (Address, u64)| Some((self.pool.ready(&address)?, serial));
        starts.filter_map(of).collect()
    }

    /// Notes that the attempt of a subchannel failed. It may try again when its back-off is over.
    pub fn refused(&mut self, subchannel: u32, generation: u32, status: Status) {
        let jitter = self.jitter.unit();
        let now = self.now;
        if let Some(retry_at) = self.pool.fail(subchannel, generation, status, jitter) {
            self.tell(subchannel);
            self.schedule(retry_at - now, Event::BackoffOver { subchannel, generation });
        }
    }

    /// Notes that the back-off of a subchannel is over.
    pub fn backoff_over(&mut self, subchannel: u32, generation: u32) {
        if self.pool.rest(subchannel, generation, Connectivity::TransientFailure) {
            self.tell(subchannel);
        }
    }

    /// Notes that a connection was lost.
    pub fn lost(&mut self, subchannel: u32) {
        let generation = self.pool.get(subchannel).map_or(0, |s| s.generation);
        if self.pool.rest(subchannel, generation, Connectivity::Ready) {
            self.tell(subchannel);
        }
    }

    /// Puts a subchannel into a state, as a user of the simulator may.
    pub fn force(&mut self, subchannel: u32, state: Connectivity, status: Option<Status>) {
        self.pool.force(subchannel, state, status);
        self.tell(subchannel);
    }

    fn tell(&mut self, subchannel: u32) {
        let Some(subchannel) = self.pool.get(subchannel) else {
            return;
        };
        self.log.tell(self.now, &NOWHERE, || {
            let failed = subchannel.state == Connectivity::TransientFailure;
            let status = subchannel.status.as_ref().filter(|_| failed);
            LogEvent::ConnectionState {
                cluster: cluster_of(&subchannel.address),
                address: subchannel.address.text.clone(),
                state: subchannel.state,
                why: status.map(|status| status.message.to_string()),
            }
        });
        for (handle, at) in subchannel.watchers() {
            let what = PolicyEvent::Subchannel {
                handle,
                state: subchannel.state,
                status: subchannel.status.clone(),
            };
            self.queue.add(self.now, self.now, Event::Policy(at.clone(), what));
        }
    }
}

/// Returns the place of a policy's child.
pub fn below(at: &TreePath, child: u32) -> TreePath {
    let mut path = Vec::with_capacity(at.len() + 1);
    path.extend_from_slice(at);
    path.push(child);
    Arc::from(path)
}

/// Returns the cluster of a connection; `None` in a channel that has no clusters.
fn cluster_of(address: &Address) -> Option<Arc<str>> {
    Some(&address.scope.cluster)
        .filter(|cluster| !cluster.is_empty())
        .cloned()
}
