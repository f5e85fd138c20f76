//! override_host at work: sends an RPC to the host of its session cookie, whatever the policies below would do (A55, A75).
//!
//! The policy knows every address of the cluster, those of all priorities and of draining endpoints included. A
//! subchannel belongs to the policies below as long as they hold it; one that they let go of while a session still used it
//! is kept here, until a sweep finds it idle. Follows C-core xds_override_host.cc.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{NAME, SessionHosts};
use crate::lb::Config;
use crate::lb::endpoint::{Address, Endpoint};
use crate::lb::picker::{Complete, Pick, PickArgs, PickCx, Shares};
use crate::lb::policy::{PolicyCx, Report, Reports, TreePath, Update, What};
use crate::lb::run::child::Child;
use crate::lb::runtime::{Change, Connectivity, Handle, TimerId, below};
use crate::model::cluster::HealthStatus;
use crate::status::Status;

/// Shortest time between two sweeps (C-core xds_override_host.cc).
pub const MIN_SWEEP_MS: i64 = 5000;

/// The state of an override_host policy.
#[derive(Debug)]
pub struct Machine {
    at: TreePath,
    child: Child,
    statuses: BTreeSet<HealthStatus>,
    idle_timeout: i64,
    entries: BTreeMap<Arc<str>, Entry>,
    /// Addresses of the child's subchannels, and the endpoints under which they were made, by handle.
    lists: BTreeMap<u64, (Arc<str>, Arc<Endpoint>)>,
    /// Address of each watch.
    watches: BTreeMap<u64, Arc<str>>,
    timer: Option<TimerId>,
    failure: Option<Status>,
}

/// One address.
#[derive(Debug)]
struct Entry {
    address: Address,
    endpoint: Arc<Endpoint>,
    /// This address first, then the others of its endpoint; made when a pick first needs it, since the lists of all the
    /// addresses of one endpoint are the square of it.
    list: Option<Arc<str>>,
    health: HealthStatus,
    state: Connectivity,
    last_used: Option<i64>,
    connection: Connection,
}

/// Who holds the subchannel of an address.
#[derive(Debug)]
enum Connection {
    /// Nobody.
    None,
    /// The policies below; `watch` tells its state.
    Child { handle: Handle, watch: u64 },
    /// This policy.
    Owned(Handle),
}

impl Machine {
    /// A policy without addresses.
    pub fn new(at: TreePath) -> Machine {
        Machine {
            child: Child::new(below(&at, 0)),
            statuses: BTreeSet::new(),
            idle_timeout: 0,
            entries: BTreeMap::new(),
            lists: BTreeMap::new(),
            watches: BTreeMap::new(),
            timer: None,
            failure: None,
            at,
        }
    }

    fn set_endpoints(&mut self, endpoints: &[Arc<Endpoint>], cx: &mut PolicyCx<'_>) {
        let mut wanted: BTreeMap<Arc<str>, (Address, Arc<Endpoint>)> = BTreeMap::new();
        for endpoint in endpoints {
            if endpoint.health == HealthStatus::Draining && !self.statuses.contains(&HealthStatus::Draining) {
                continue;
            }
            for address in &endpoint.addresses {
                wanted
                    .entry(address.text.clone())
                    .or_insert_with(|| (address.clone(), endpoint.clone()));
            }
        }
        let gone: Vec<Arc<str>> = self
            .entries
            .keys()
            .filter(|address| !wanted.contains_key(*address))
            .cloned()
            .collect();
        for address in gone {
            if let Some(mut entry) = self.entries.remove(&address) {
                self.disconnect(&mut entry, cx);
            }
        }
        for (text, (address, endpoint)) in wanted {
            let entry = self.entries.entry(text).or_insert_with(|| Entry {
                address,
                endpoint: endpoint.clone(),
                list: None,
                health: endpoint.health,
                state: Connectivity::Idle,
                last_used: None,
                connection: Connection::None,
            });
            entry.health = endpoint.health;
            entry.endpoint = endpoint;
            entry.list = None;
        }
    }

    /// Lets go of a subchannel that this policy holds, and of a watch of one that it does not.
    fn disconnect(&mut self, entry: &mut Entry, cx: &mut PolicyCx<'_>) {
        match std::mem::replace(&mut entry.connection, Connection::None) {
            Connection::None => {}
            Connection::Child { handle, watch } => {
                cx.runtime.drop_watch(handle.subchannel, watch);
                self.watches.remove(&watch);
            }
            Connection::Owned(handle) => {
                cx.runtime.drop_watch(handle.subchannel, handle.id);
                self.watches.remove(&handle.id);
            }
        }
    }

    /// Looks at what the policies below did to subchannels.
    fn note_changes(&mut self, (reports, changes): (Reports, Vec<Change>), cx: &mut PolicyCx<'_>) -> Reports {
        for change in changes {
            match change {
                Change::Created { handle, .. } => self.on_created(handle, cx),
                Change::Released { id, address } => self.on_released(id, &address, cx),
            }
        }
        reports
    }

    fn on_created(&mut self, handle: Handle, cx: &mut PolicyCx<'_>) {
        let text = handle.address.text.clone();
        let Some(mut entry) = self.entries.remove(&text) else {
            return;
        };
        self.lists.insert(handle.id, (text.clone(), entry.endpoint.clone()));
        let watch = cx.runtime.watch(&handle, &self.at);
        (entry.state, _) = cx.runtime.pool.state_of(handle.subchannel);
        self.disconnect(&mut entry, cx);
        self.watches.insert(watch, text.clone());
        entry.connection = Connection::Child { handle, watch };
        self.entries.insert(text, entry);
    }

    fn on_released(&mut self, id: u64, address: &Address, cx: &mut PolicyCx<'_>) {
        self.lists.remove(&id);
        let Some(mut entry) = self.entries.remove(&address.text) else {
            return;
        };
        if matches!(&entry.connection, Connection::Child { handle, .. } if handle.id == id) {
            let threshold = cx.runtime.now - self.idle_timeout;
            let is_in_use = entry.last_used.is_some_and(|used| used >= threshold);
            if is_in_use {
                let owned = cx.runtime.hold(&entry.address, &self.at);
                self.disconnect(&mut entry, cx);
                self.watches.insert(owned.id, address.text.clone());
                entry.connection = Connection::Owned(owned);
            } else {
                self.disconnect(&mut entry, cx);
            }
        }
        self.entries.insert(address.text.clone(), entry);
    }

    /// Sets the timer to the moment when the first address in use may have become idle.
    fn set_timer(&mut self, cx: &mut PolicyCx<'_>) {
        let now = cx.runtime.now;
        let threshold = now - self.idle_timeout;
        let next = self
            .entries
            .values()
            .filter_map(|entry| entry.last_used)
            .filter(|used| *used > threshold)
            .map(|used| used + self.idle_timeout - now)
            .fold(self.idle_timeout, i64::min);
        cx.runtime.cancel(&mut self.timer);
        self.timer = Some(cx.runtime.timer(next.max(MIN_SWEEP_MS), &self.at, What::Timer(0)));
    }

    fn sweep(&mut self, cx: &mut PolicyCx<'_>) {
        self.timer = None;
        if self.entries.is_empty() {
            return;
        }
        let threshold = cx.runtime.now - self.idle_timeout;
        let idle: Vec<Arc<str>> = self
            .entries
            .iter()
            .filter(|(_, entry)| matches!(entry.connection, Connection::Owned(_)))
            .filter(|(_, entry)| entry.last_used.is_none_or(|used| used <= threshold))
            .map(|(address, _)| address.clone())
            .collect();
        for address in idle {
            if let Some(mut entry) = self.entries.remove(&address) {
                self.disconnect(&mut entry, cx);
                self.entries.insert(address, entry);
            }
        }
        self.set_timer(cx);
    }

    /// A new picker with the child's state.
    fn renew(&self) -> Reports {
        self.child.last().cloned().into_iter().collect()
    }

    fn create_owned(&mut self, address: &str, cx: &mut PolicyCx<'_>) -> Reports {
        let Some((text, mut entry)) = self.entries.remove_entry(address) else {
            return Reports::new();
        };
        let is_owned = matches!(entry.connection, Connection::Owned(_));
        if !is_owned {
            let owned = cx.runtime.hold(&entry.address, &self.at);
            self.disconnect(&mut entry, cx);
            self.watches.insert(owned.id, text.clone());
            entry.connection = Connection::Owned(owned);
        }
        self.entries.insert(text, entry);
        if is_owned { Reports::new() } else { self.renew() }
    }

    fn on_state(&mut self, watch: u64, state: Connectivity) -> Reports {
        let Some(entry) = self
            .watches
            .get(&watch)
            .and_then(|address| self.entries.get_mut(address))
        else {
            return Reports::new();
        };
        let changed = std::mem::replace(&mut entry.state, state) != state;
        let is_owned = matches!(&entry.connection, Connection::Owned(handle) if handle.id == watch);
        if changed && is_owned {
            self.renew()
        } else {
            Reports::new()
        }
    }

    /// The pick that the cookie decides; `None` leaves it to the child.
    fn pick_session(&mut self, hosts: SessionHosts<'_>, now: i64, cx: &mut PickCx<'_>) -> Option<Pick> {
        let mut without_connection = None;
        let mut idle = None;
        let mut is_connecting = false;
        for address in hosts.addresses.split(',') {
            let Some(entry) = self.entries.get_mut(address) else {
                cx.say(NAME, || {
                    format!("cookie host {address} is not an address of the cluster")
                });
                continue;
            };
            if !self.statuses.contains(&entry.health) {
                let health = entry.health.name();
                cx.say(NAME, || {
                    format!("cookie host {address} is {health}, which override_host_status lacks")
                });
                continue;
            }
            let handle = match &entry.connection {
                Connection::None => {
                    cx.say(NAME, || format!("cookie host {address} has no connection"));
                    without_connection.get_or_insert(address);
                    continue;
                }
                Connection::Child { handle, .. } | Connection::Owned(handle) => handle,
            };
            let state = entry.state;
            cx.say(NAME, || format!("cookie host {address} is {state}"));
            match state {
                Connectivity::Ready => {
                    entry.last_used = Some(now);
                    let mut complete = Complete::new(handle.id, handle.subchannel, entry.address.text.clone());
                    complete.actual_hosts = Some(entry.list());
                    return Some(Pick::Complete(complete));
                }
                Connectivity::Idle => {
                    idle.get_or_insert(handle.subchannel);
                }
                Connectivity::Connecting => is_connecting = true,
                Connectivity::TransientFailure => {}
            }
        }
        if let Some(subchannel) = idle {
            cx.after.push((self.at.clone(), What::Connect(u64::from(subchannel))));
            return Some(Pick::Queue);
        }
        if is_connecting {
            return Some(Pick::Queue);
        }
        let address = without_connection?;
        cx.after.push((self.at.clone(), What::CreateSubchannel(address.into())));
        Some(Pick::Queue)
    }
}

impl Entry {
    fn list(&mut self) -> Arc<str> {
        let list = self
            .list
            .get_or_insert_with(|| address_list(&self.address.text, &self.endpoint));
        list.clone()
    }
}

/// An address, then the others of its endpoint in order.
fn address_list(first: &Arc<str>, endpoint: &Endpoint) -> Arc<str> {
    let mut others = endpoint.addresses.iter().filter(|address| address.text != *first);
    let Some(second) = others.next() else {
        return first.clone();
    };
    let mut list = first.to_string();
    for address in std::iter::once(second).chain(others) {
        list.push(',');
        list.push_str(&address.text);
    }
    list.into()
}

impl crate::lb::policy::Machine for Machine {
    fn update(&mut self, update: Update<'_>, cx: &mut PolicyCx<'_>) -> Reports {
        let Config::OverrideHost(config) = update.config else {
            return Reports::new();
        };
        let Some(leaf) = cx.clusters.leaf(&config.cluster_name) else {
            self.shutdown(cx);
            let status = Status::new(
                crate::status::Code::Internal,
                format!("xDS config has no entry for cluster {}", config.cluster_name),
            );
            self.failure = Some(status.clone());
            return vec![Report::failure(status)];
        };
        self.failure = None;
        self.statuses.clone_from(&leaf.cluster.override_host_statuses);
        self.idle_timeout = leaf.cluster.connection_idle_timeout.0;
        let mut for_child = Vec::new();
        let endpoints = match update.endpoints {
            Ok(endpoints) => {
                self.set_endpoints(endpoints, cx);
                self.set_timer(cx);
                for_child.extend(
                    endpoints
                        .iter()
                        .filter(|endpoint| endpoint.health != HealthStatus::Draining)
                        .cloned(),
                );
                Ok(for_child.as_slice())
            }
            Err(status) => Err(status),
        };
        let update = Update {
            config: &config.child_policy,
            endpoints,
            ..update
        };
        let said = self.child.watched(cx, |child, cx| child.update(update, cx));
        self.note_changes(said, cx)
    }

    fn handle(&mut self, path: &[u32], what: &What, cx: &mut PolicyCx<'_>) -> Reports {
        if let Some((_, rest)) = path.split_first() {
            let said = self.child.watched(cx, |child, cx| child.handle(rest, what, cx));
            return self.note_changes(said, cx);
        }
        match what {
            What::Timer(_) => self.sweep(cx),
            What::Subchannel { handle, state, .. } => return self.on_state(*handle, *state),
            What::Connect(subchannel) => cx.runtime.connect(u32::try_from(*subchannel).unwrap_or(u32::MAX)),
            What::CreateSubchannel(address) => return self.create_owned(address, cx),
            What::Wake | What::Ejected { .. } | What::Ended { .. } | What::Load { .. } => {}
        }
        Reports::new()
    }

    fn exit_idle(&mut self, cx: &mut PolicyCx<'_>) -> Reports {
        let said = self.child.watched(cx, Child::exit_idle);
        self.note_changes(said, cx)
    }

    fn pick(&mut self, args: &PickArgs<'_>, cx: &mut PickCx<'_>) -> Pick {
        if let Some(status) = &self.failure {
            return Pick::Fail(status.clone());
        }
        let Some(hosts) = args.session else {
            cx.say(NAME, || "no session filter is active".to_owned());
            return self.child.pick(args, cx);
        };
        if hosts.addresses.is_empty() {
            cx.say(NAME, || "no host in a cookie".to_owned());
        } else if let Some(pick) = self.pick_session(hosts, args.now, cx) {
            return pick;
        }
        let mut pick = self.child.pick(args, cx);
        if let Pick::Complete(complete) = &mut pick
            && let Some((address, endpoint)) = self.lists.get(&complete.handle)
        {
            complete.actual_hosts = Some(match self.entries.get_mut(address) {
                Some(entry) => {
                    entry.last_used = Some(args.now);
                    entry.list()
                }
                None => address_list(address, endpoint),
            });
        }
        pick
    }

    fn shares(&self, args: &PickArgs<'_>, share: f64, out: &mut Shares) {
        if let Some(status) = &self.failure {
            return out.add_status(status, share);
        }
        let hosts = args.session.map_or("", |hosts| hosts.addresses);
        let usable = |address: &str| {
            let entry = self.entries.get(address)?;
            let has_connection = !matches!(entry.connection, Connection::None);
            (has_connection && entry.state == Connectivity::Ready && self.statuses.contains(&entry.health))
                .then_some(())
        };
        match hosts.split(',').find(|address| usable(address).is_some()) {
            Some(address) => out.add(address, share),
            None => self.child.shares(args, share, out),
        }
    }

    fn shutdown(&mut self, cx: &mut PolicyCx<'_>) {
        cx.runtime.cancel(&mut self.timer);
        self.child.shutdown(cx);
        for (_, mut entry) in std::mem::take(&mut self.entries) {
            self.disconnect(&mut entry, cx);
        }
        self.lists.clear();
    }
}
