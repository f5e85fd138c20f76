//! override_host at work: sends an RPC to the host of its session cookie, whatever the policies
//! below would do (A55, A75).
//!
//! The policy knows every address of the cluster, including those of all priorities and of draining
//! endpoints. A subchannel belongs to the policies below as long as they hold it. If they release
//! it while a session still uses it, this policy keeps it until a sweep finds it idle. Follows
//! C-core xds_override_host.cc.

mod connections;
mod session;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::SocketAddr;
use std::sync::Arc;

use super::NAME;
use super::entry::{HeldSubchannel, HostEntry, address_list};
use crate::LbConfig;
use crate::endpoint::{Address, Endpoint, EndpointList};
use crate::log::LogEvent;
use crate::picker::{Pick, PickArgs, PickCx, PickShares};
use crate::policy::{PolicyCx, PolicyEvent, Reports, StateReport, TreePath, Update};
use crate::run::child::Child;
use crate::runtime::{Connectivity, Handle, SubchannelChange, TimerId, below};
use xdsctl_model::resource::cluster::HealthStatus;
use xdsctl_model::resource::pieces::Pieces;
use xdsctl_model::status::Status;

/// The number of the timer that decides about orphans when the work at hand is done. The timer of
/// the sweep is number 0.
const ORPHANS: u64 = 1;

/// The shortest time between two sweeps (C-core xds_override_host.cc).
pub const MIN_SWEEP_MS: i64 = 5000;

/// The state of an override_host policy.
#[derive(Debug)]
pub struct OverrideHostPolicy {
    at: TreePath,
    child: Child,
    statuses: BTreeSet<HealthStatus>,
    idle_timeout: i64,
    /// The entries, in the order of their addresses.
    entries: Vec<HostEntry>,
    /// The endpoint for which each of the child's subchannels was made, by handle.
    lists: BTreeMap<u64, Arc<Endpoint>>,
    /// The address of the entry of each watch. The map is only looked up in, never iterated over.
    watches: HashMap<u64, SocketAddr>,
    /// The endpoints that the entries were made from, and whether an address occurred twice.
    taken: (EndpointList, bool),
    /// Whether some entry may have been used within the idle timeout.
    is_used: bool,
    timer: Option<TimerId>,
    /// Subchannels that the policies below have just released, by handle. They are held until it is
    /// decided whether a session keeps them.
    orphans: Vec<(u64, Handle)>,
    failure: Option<Status>,
}

impl OverrideHostPolicy {
    /// Makes a policy without addresses.
    pub fn new(at: TreePath) -> OverrideHostPolicy {
        OverrideHostPolicy {
            child: Child::new(below(&at, 0)),
            statuses: BTreeSet::new(),
            idle_timeout: 0,
            entries: Vec::new(),
            lists: BTreeMap::new(),
            watches: HashMap::new(),
            taken: (EndpointList::default(), false),
            is_used: false,
            timer: None,
            orphans: Vec::new(),
            failure: None,
            at,
        }
    }

    /// Changes only the entries of endpoints that differ from the previous list. Says whether that
    /// was possible.
    fn change_endpoints(&mut self, endpoints: &EndpointList, cx: &mut PolicyCx<'_>) -> bool {
        let (before, has_twice) = std::mem::take(&mut self.taken);
        // The log names every address, so all of them must be gone through.
        if has_twice || before.is_empty() || cx.runtime.log.is_on() {
            return false;
        }
        let difference = before.difference(endpoints, Arc::ptr_eq);
        let addresses = |list: &[&Arc<Endpoint>]| -> Vec<(SocketAddr, Arc<Endpoint>)> {
            let kept = list.iter().filter(|endpoint| self.takes(endpoint));
            let all = kept.flat_map(|endpoint| endpoint.addresses.iter().map(|one| (one.socket, Arc::clone(endpoint))));
            all.collect()
        };
        let (old, new) = (addresses(&difference.old), addresses(&difference.new));
        let wanted: BTreeMap<SocketAddr, &Arc<Endpoint>> =
            new.iter().map(|(socket, endpoint)| (*socket, endpoint)).collect();
        let known: BTreeSet<SocketAddr> = old.iter().map(|(socket, _)| *socket).collect();
        let is_elsewhere = |socket: &SocketAddr| !known.contains(socket) && self.find(socket).is_some();
        if wanted.len() < new.len() || wanted.keys().any(is_elsewhere) {
            return false;
        }
        for socket in known.iter().filter(|socket| !wanted.contains_key(*socket)) {
            if let Some(index) = self.find(socket) {
                let mut gone = self.entries.remove(index);
                self.disconnect(&mut gone.connection, cx);
            }
        }
        for (socket, endpoint) in wanted {
            let Some(address) = endpoint.addresses.iter().find(|address| address.socket == socket) else {
                continue;
            };
            match self.entries.binary_search_by_key(&socket, |entry| entry.address.socket) {
                Ok(index) => {
                    if let Some(entry) = self.entries.get_mut(index) {
                        entry.set(address, endpoint);
                        if let HeldSubchannel::Child { handle, .. } = &entry.connection {
                            self.lists.insert(handle.id, endpoint.clone());
                        }
                    }
                }
                Err(index) => self.entries.insert(index, HostEntry::new(address, endpoint)),
            }
        }
        self.taken = (endpoints.clone(), false);
        true
    }

    /// Says whether the addresses of an endpoint get entries.
    fn takes(&self, endpoint: &Endpoint) -> bool {
        endpoint.health != HealthStatus::Draining || self.statuses.contains(&HealthStatus::Draining)
    }

    fn set_endpoints(&mut self, endpoints: &EndpointList, cx: &mut PolicyCx<'_>) {
        let mut wanted: Vec<(&Address, &Arc<Endpoint>)> = Vec::with_capacity(endpoints.len());
        for endpoint in endpoints.iter() {
            if !self.takes(endpoint) {
                cx.runtime.say(&self.at, || LogEvent::DrainingIgnored {
                    address: endpoint.name().clone(),
                });
                continue;
            }
            wanted.extend(endpoint.addresses.iter().map(|address| (address, endpoint)));
        }
        // If an address occurs twice, the first endpoint counts.
        wanted.sort_by_key(|(address, _)| address.socket);
        let count = wanted.len();
        wanted.dedup_by_key(|(address, _)| address.socket);
        self.taken = (endpoints.clone(), wanted.len() < count);
        // Entries that are no longer listed are removed first.
        let (kept, gone): (Vec<HostEntry>, Vec<HostEntry>) =
            std::mem::take(&mut self.entries).into_iter().partition(|entry| {
                let found = wanted.binary_search_by_key(&entry.address.socket, |(address, _)| address.socket);
                found.is_ok()
            });
        for mut entry in gone {
            let text = &entry.address.text;
            cx.runtime
                .say(&self.at, || LogEvent::HostRemoved { address: text.clone() });
            self.disconnect(&mut entry.connection, cx);
        }
        let mut kept = kept.into_iter().peekable();
        self.entries.reserve_exact(wanted.len());
        for (address, endpoint) in wanted {
            let known = kept.next_if(|entry| entry.address.socket == address.socket);
            if known.is_none() {
                cx.runtime.say(&self.at, || LogEvent::HostAdded {
                    address: address.text.clone(),
                });
            }
            cx.runtime.say(&self.at, || LogEvent::HostSet {
                address: address.text.clone(),
                health: endpoint.health,
                list: address_list(&address.text, endpoint),
            });
            let mut entry = known.unwrap_or_else(|| HostEntry::new(address, endpoint));
            entry.set(address, endpoint);
            self.entries.push(entry);
        }
    }

    /// Returns the index of the entry of an address.
    fn find(&self, address: &SocketAddr) -> Option<usize> {
        self.entries
            .binary_search_by_key(address, |entry| entry.address.socket)
            .ok()
    }

    /// Returns the index of the entry of an address in a cookie, which must be spelled as the
    /// client spells it.
    fn find_text(&self, text: &str) -> Option<usize> {
        let index = self.find(&text.parse().ok()?)?;
        self.entries
            .get(index)
            .is_some_and(|entry| *entry.address.text == *text)
            .then_some(index)
    }

    /// Releases a subchannel that this policy holds, or ends the watch of one that it does not
    /// hold.
    fn disconnect(&mut self, connection: &mut HeldSubchannel, cx: &mut PolicyCx<'_>) {
        let connection = std::mem::replace(connection, HeldSubchannel::None);
        let watch = connection.watch();
        if let (Some(watch), HeldSubchannel::Child { handle, .. } | HeldSubchannel::Owned(handle)) = (watch, connection)
        {
            cx.runtime.pool.unwatch(handle.subchannel, watch);
            self.watches.remove(&watch);
        }
    }

    /// Replaces the connection of an entry.
    fn connect(&mut self, index: usize, connection: HeldSubchannel, cx: &mut PolicyCx<'_>) {
        let Some(entry) = self.entries.get_mut(index) else {
            return;
        };
        let (watch, address) = (connection.watch(), entry.address.socket);
        let mut old = std::mem::replace(&mut entry.connection, connection);
        self.disconnect(&mut old, cx);
        if let Some(watch) = watch {
            self.watches.insert(watch, address);
        }
    }

    /// Has the child do something, and handles the subchannels that the policies below create or
    /// release meanwhile.
    fn watched(
        &mut self,
        cx: &mut PolicyCx<'_>,
        work: impl FnOnce(&mut Child, &mut PolicyCx<'_>) -> Reports,
    ) -> Reports {
        let since = cx.runtime.changes.len();
        let reports = work(&mut self.child, cx);
        for index in since..cx.runtime.changes.len() {
            match cx.runtime.changes.get(index).cloned() {
                Some(SubchannelChange::Created { handle, .. }) => self.on_created(handle, cx),
                Some(SubchannelChange::Released { id, address }) => self.on_released(id, &address, cx),
                None => break,
            }
        }
        reports
    }
}

/// Returns the endpoints that are open to new RPCs: those that are not draining. Pieces without a
/// draining endpoint stay the same.
fn open(endpoints: &EndpointList) -> EndpointList {
    let is_open = |endpoint: &&Arc<Endpoint>| endpoint.health != HealthStatus::Draining;
    let pieces = endpoints
        .pieces()
        .iter()
        .map(|piece| match piece.iter().all(|endpoint| is_open(&endpoint)) {
            true => piece.clone(),
            false => piece.iter().filter(is_open).cloned().collect(),
        });
    Arc::new(Pieces::of(pieces))
}

impl crate::policy::StateMachine for OverrideHostPolicy {
    fn update(&mut self, update: Update<'_>, cx: &mut PolicyCx<'_>) -> Reports {
        let LbConfig::OverrideHost(config) = update.config else {
            return Reports::new();
        };
        let Some(leaf) = cx.clusters.leaf(&config.cluster_name) else {
            self.shutdown(cx);
            let status = Status::new(
                xdsctl_model::status::Code::Internal,
                format!("xDS config has no entry for cluster {}", config.cluster_name),
            );
            self.failure = Some(status.clone());
            return vec![StateReport::failure(status)];
        };
        self.failure = None;
        if self.statuses != leaf.cluster.override_host_statuses {
            self.statuses.clone_from(&leaf.cluster.override_host_statuses);
            self.taken = (EndpointList::default(), false);
        }
        self.idle_timeout = leaf.cluster.connection_idle_timeout.0;
        cx.runtime.say(&self.at, || LogEvent::OverrideHostConfigured {
            statuses: self.status_names(),
            idle_timeout: format!("{}ms", self.idle_timeout),
        });
        let endpoints = match update.endpoints {
            Ok(endpoints) => {
                if !self.change_endpoints(endpoints, cx) {
                    self.set_endpoints(endpoints, cx);
                }
                self.set_timer(cx);
                Ok(open(endpoints))
            }
            Err(status) => Err(status),
        };
        let update = Update {
            config: &config.child_policy,
            endpoints: endpoints.as_ref().map_err(|status| *status),
            ..update
        };
        self.watched(cx, |child, cx| child.update(update, cx))
    }

    fn handle(&mut self, path: &[u32], what: &PolicyEvent, cx: &mut PolicyCx<'_>) -> Reports {
        if let Some((_, rest)) = path.split_first() {
            return self.watched(cx, |child, cx| child.handle(rest, what, cx));
        }
        match what {
            PolicyEvent::Timer(ORPHANS) => self.decide_orphans(cx),
            PolicyEvent::Timer(_) => self.sweep(cx),
            PolicyEvent::Subchannel { handle, state, .. } => return self.on_state(*handle, *state),
            PolicyEvent::Connect(subchannel) => cx.runtime.connect(u32::try_from(*subchannel).unwrap_or(u32::MAX)),
            PolicyEvent::CreateSubchannel(address) => return self.create_owned(address, cx),
            PolicyEvent::Wake
            | PolicyEvent::Ejected { .. }
            | PolicyEvent::Ended { .. }
            | PolicyEvent::Load { .. }
            | PolicyEvent::Lookup(_)
            | PolicyEvent::LookedUp { .. } => {}
        }
        Reports::new()
    }

    fn exit_idle(&mut self, cx: &mut PolicyCx<'_>) -> Reports {
        self.watched(cx, Child::exit_idle)
    }

    fn pick(&mut self, args: &PickArgs<'_>, cx: &mut PickCx<'_>) -> Pick {
        if let Some(status) = &self.failure {
            return Pick::Fail(status.clone());
        }
        let Some(hosts) = args.session else {
            cx.say(NAME, format_args!("no session filter is active"));
            return self.child.pick(args, cx);
        };
        if hosts.is_empty() {
            cx.say(NAME, format_args!("no host in a cookie"));
        } else if let Some(pick) = self.pick_session(hosts, args.now, cx) {
            return pick;
        }
        let mut pick = self.child.pick(args, cx);
        if let Pick::Complete(complete) = &mut pick
            && let Some(endpoint) = self.lists.get(&complete.handle)
        {
            let found = self.find_text(&complete.address);
            complete.actual_hosts = Some(match found.and_then(|index| self.entries.get_mut(index)) {
                Some(entry) => {
                    entry.last_used = Some(args.now);
                    self.is_used = true;
                    entry.list()
                }
                None => address_list(&complete.address, endpoint),
            });
        }
        pick
    }

    fn shares(&self, args: &PickArgs<'_>, share: f64, out: &mut PickShares) {
        if let Some(status) = &self.failure {
            return out.add_status(status, share);
        }
        let hosts = args.session.unwrap_or_default();
        let usable = |address: &str| {
            let entry = self.entries.get(self.find_text(address)?)?;
            let has_connection = !matches!(entry.connection, HeldSubchannel::None);
            (has_connection && entry.state == Connectivity::Ready && self.statuses.contains(&entry.endpoint.health))
                .then_some(())
        };
        match hosts.split(',').find(|address| usable(address).is_some()) {
            Some(address) => out.add(address, share),
            None => self.child.shares(args, share, out),
        }
    }

    fn priorities(&self, cluster: &str, tell: &mut dyn FnMut(&str, Option<usize>)) {
        self.child.priorities(cluster, tell);
    }

    fn shutdown(&mut self, cx: &mut PolicyCx<'_>) {
        if self.timer.is_some() {
            cx.runtime.say(&self.at, || LogEvent::SweepCancelled {});
        }
        cx.runtime.cancel(&mut self.timer);
        self.child.shutdown(cx);
        for (_, held) in std::mem::take(&mut self.orphans) {
            cx.runtime.pool.unwatch(held.subchannel, held.id);
        }
        for mut entry in std::mem::take(&mut self.entries) {
            self.disconnect(&mut entry.connection, cx);
        }
        self.taken = (EndpointList::default(), false);
        self.lists.clear();
    }
}
