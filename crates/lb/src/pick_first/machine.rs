//! pick_first at work: one connection, found by happy eyeballs (A61, A62).
//!
//! Addresses of a list are tried in order: the next one when the last one failed, or after a short
//! delay. The first connection wins; the others are released. When every address has failed once,
//! all are tried for ever in parallel. Follows C-core pick_first.cc.

use std::sync::Arc;

use super::interleave::interleave;
use crate::LbConfig;
use crate::endpoint::{Address, Endpoint};
use crate::picker::{Complete, Pick, PickArgs, PickCx, PickShares};
use crate::policy::{PolicyCx, PolicyEvent, Reports, StateReport, TreePath, Update};
use crate::runtime::{Connectivity, Handle, TimerId};
use xdsctl_model::profile::Feature;
use xdsctl_model::rng::Rng;
use xdsctl_model::status::Status;

/// The owner of pooled connections that were made for a list of endpoints. The owner of those that
/// were made for a single endpoint is 0.
const OF_LISTS: u64 = 1;

/// The state of a pick_first policy.
#[derive(Debug)]
pub struct PickFirstPolicy {
    at: TreePath,
    /// Whether the policy belongs to one that has a pick_first for each endpoint. If so, health
    /// counts, and status texts are shorter.
    is_member: bool,
    /// The random numbers for shuffling. Made when first needed: most lists are not shuffled.
    shuffle: Option<Box<Rng>>,
    /// The owner of the policy's subchannels; 0 while it has none, or if they are shared.
    owner: u64,
    latest: Option<Result<Arc<[Address]>, Status>>,
    note: Box<str>,
    /// The subchannels that are being tried. Boxed, because most policies are done with theirs.
    list: Option<Box<List>>,
    selected: Option<Handle>,
    state: Connectivity,
    shown: PickFirstReport,
    timer_number: u64,
}

/// What a pick returns.
#[derive(Debug)]
enum PickFirstReport {
    /// RPCs wait until there is a connection.
    Queue,
    /// RPCs wait, and the policy starts to connect.
    Wake,
    /// RPCs go to the selected connection.
    Ready,
    /// RPCs fail with this status.
    Fail(Status),
    /// RPCs fail with a text made from this status of the connection. Sharing the status saves
    /// memory when a large cluster is down as a whole.
    FailAs(Status),
}

/// The subchannels that are being tried.
#[derive(Debug)]
struct List {
    members: Vec<Member>,
    seen_initial: usize,
    attempting: usize,
    timer: Option<TimerId>,
    last_failure: Option<Status>,
    failures: usize,
    /// How many members have failed.
    failed: usize,
}

#[derive(Debug)]
struct Member {
    handle: Handle,
    state: Option<Connectivity>,
    has_failed: bool,
    is_ejected: bool,
}

impl List {
    fn is_pass_complete(&self) -> bool {
        self.attempting >= self.members.len() && self.failed == self.members.len()
    }

    /// Returns the index of the member with a handle. Handles are numbered in the order of the
    /// list.
    fn index(&self, handle: u64) -> Option<usize> {
        self.members
            .binary_search_by_key(&handle, |member| member.handle.id)
            .ok()
    }
}

impl PickFirstPolicy {
    /// Makes a policy without addresses.
    pub fn new(at: TreePath, is_member: bool) -> PickFirstPolicy {
        PickFirstPolicy {
            at,
            is_member,
            shuffle: None,
            owner: 0,
            latest: None,
            note: Box::default(),
            list: None,
            selected: None,
            state: Connectivity::Connecting,
            shown: PickFirstReport::Queue,
            timer_number: 0,
        }
    }

    /// Makes a policy of a list of endpoints, already connected to an address.
    pub fn connected(at: TreePath, endpoint: &Endpoint, address: &Address, cx: &mut PolicyCx<'_>) -> PickFirstPolicy {
        let handle = cx.runtime.acquire(address, 0, &at);
        PickFirstPolicy {
            latest: Some(Ok(endpoint.addresses.clone())),
            selected: Some(handle),
            state: Connectivity::Ready,
            shown: PickFirstReport::Ready,
            ..PickFirstPolicy::new(at, true)
        }
    }

    /// Returns the connection in use.
    pub const fn selected(&self) -> Option<&Handle> {
        self.selected.as_ref()
    }

    /// Takes over a list of endpoints.
    pub fn set(
        &mut self,
        endpoints: Result<&[Arc<Endpoint>], &Status>,
        shuffle: bool,
        note: &str,
        cx: &mut PolicyCx<'_>,
    ) -> Reports {
        match endpoints {
            Ok([]) => self.latest = Some(Err(no_address(note, cx))),
            Ok(endpoints) => self.latest = Some(Ok(self.order(endpoints, shuffle, cx))),
            // An error leaves the previous list in place.
            Err(status) => {
                self.latest.get_or_insert_with(|| Err(status.clone()));
            }
        }
        let note = if hands_on(cx) { "" } else { note };
        if *self.note != *note {
            self.note = note.into();
        }
        let mut reports = Reports::new();
        if self.state != Connectivity::Idle {
            self.start(cx, &mut reports);
        }
        reports
    }

    /// Returns the addresses in the order in which they are tried.
    fn order(&mut self, endpoints: &[Arc<Endpoint>], shuffle: bool, cx: &PolicyCx<'_>) -> Arc<[Address]> {
        if let [endpoint] = endpoints
            && endpoint.addresses.len() == 1
            && !shuffle
        {
            return endpoint.addresses.clone();
        }
        let mut endpoints: Vec<&Endpoint> = endpoints.iter().map(|endpoint| &**endpoint).collect();
        if shuffle {
            let make = || Box::new(cx.runtime.stream("pick_first/shuffle", &self.at));
            let chance = self.shuffle.get_or_insert_with(make);
            if cx.runtime.options.weighted_shuffling {
                let mut keyed: Vec<(f64, &Endpoint)> = endpoints
                    .into_iter()
                    .map(|endpoint| {
                        let exponential = -(1.0 - chance.unit()).ln();
                        (exponential / f64::from(endpoint.positive_weight()), endpoint)
                    })
                    .collect();
                keyed.sort_by(|(a, _), (b, _)| a.total_cmp(b));
                endpoints = keyed.into_iter().map(|(_, endpoint)| endpoint).collect();
            } else if cx.clusters.profile().has(Feature::ShuffleSparesFirst) {
                // The client's loop stops before index 1.
                for place in (2..endpoints.len()).rev() {
                    endpoints.swap(place, chance.index(place + 1));
                }
            } else {
                chance.shuffle(&mut endpoints);
            }
        }
        let addresses = endpoints.into_iter().flat_map(|endpoint| endpoint.addresses.iter());
        interleave(addresses.cloned()).into()
    }

    /// Makes a new list of subchannels out of the latest addresses and waits for their states.
    fn start(&mut self, cx: &mut PolicyCx<'_>, reports: &mut Reports) {
        let old = self.list.take();
        let is_pooled = is_pooled(cx);
        if self.owner == 0 && cx.clusters.profile().has(Feature::ConnectionsApart) {
            self.owner = cx.runtime.new_owner();
        } else if is_pooled && !self.is_member {
            self.owner = OF_LISTS;
        }
        match self.latest.clone() {
            Some(Ok(addresses)) => {
                let members: Vec<Member> = addresses
                    .iter()
                    .map(|address| Member {
                        handle: cx.runtime.acquire(address, self.owner, &self.at),
                        state: None,
                        has_failed: false,
                        is_ejected: false,
                    })
                    .collect();
                let is_ready = |member: &Member| cx.runtime.pool.is_ready(member.handle.subchannel);
                let ready = members.iter().position(is_ready).filter(|_| is_pooled);
                // The client sees the state of the last one first. So if several are connected
                // already, the last one is selected.
                for member in members.iter().rev().filter(|_| ready.is_none()) {
                    cx.runtime.tell_initial(&member.handle, &self.at);
                }
                self.list = Some(Box::new(List {
                    members,
                    seen_initial: 0,
                    attempting: 0,
                    timer: None,
                    last_failure: None,
                    failures: 0,
                    failed: 0,
                }));
                drop_list(old, cx);
                if let Some(ready) = ready {
                    self.select(ready, cx, reports);
                }
            }
            Some(Err(status)) => {
                drop_list(old, cx);
                self.fail(status, reports);
                self.unselect(cx);
            }
            None => drop_list(old, cx),
        }
    }

    fn fail(&mut self, status: Status, reports: &mut Reports) {
        let status = status.with_note(&self.note);
        self.state = Connectivity::TransientFailure;
        self.shown = PickFirstReport::Fail(status.clone());
        reports.push(StateReport::failure(status));
    }

    fn show_connecting(&mut self, reports: &mut Reports) {
        self.state = Connectivity::Connecting;
        self.shown = PickFirstReport::Queue;
        reports.push(StateReport::new(Connectivity::Connecting));
    }

    fn unselect(&mut self, cx: &mut PolicyCx<'_>) {
        if let Some(handle) = self.selected.take() {
            cx.runtime.release(&handle);
        }
    }

    fn go_idle(&mut self, cx: &mut PolicyCx<'_>, reports: &mut Reports) {
        self.unselect(cx);
        drop_list(self.list.take(), cx);
        self.state = Connectivity::Idle;
        self.shown = PickFirstReport::Wake;
        reports.push(StateReport::new(Connectivity::Idle));
    }

    fn select(&mut self, index: usize, cx: &mut PolicyCx<'_>, reports: &mut Reports) {
        let Some(mut list) = self.list.take() else { return };
        self.unselect(cx);
        if index < list.members.len() {
            let member = list.members.swap_remove(index);
            self.show_health(&member.handle, member.is_ejected, reports);
            self.selected = Some(member.handle);
        }
        drop_list(Some(list), cx);
    }

    /// Reports READY, or a failure if outlier detection has ejected the selected connection.
    fn show_health(&mut self, handle: &Handle, is_ejected: bool, reports: &mut Reports) {
        if is_ejected && self.is_member {
            let why = format!("{}: subchannel ejected by outlier detection", handle.address.uri());
            let status = Status::unavailable(format!("health watch: {why}")).with_note(&self.note);
            self.shown = PickFirstReport::Fail(status);
            reports.push(StateReport::failure(Status::unavailable(why)));
        } else {
            self.state = Connectivity::Ready;
            self.shown = PickFirstReport::Ready;
            reports.push(StateReport::new(Connectivity::Ready));
        }
    }

    fn on_state(
        &mut self,
        handle: u64,
        state: Connectivity,
        status: Option<&Status>,
        cx: &mut PolicyCx<'_>,
        reports: &mut Reports,
    ) {
        if self.selected.as_ref().is_some_and(|selected| selected.id == handle) {
            match state {
                Connectivity::Ready => {}
                // The policy goes on with the list that it is trying meanwhile.
                _ if self.list.is_some() && is_pooled(cx) => {
                    self.unselect(cx);
                    self.show_connecting(reports);
                    self.finish_pass(cx, reports);
                }
                Connectivity::Idle => self.go_idle(cx, reports),
                Connectivity::Connecting | Connectivity::TransientFailure => {
                    self.show_connecting(reports);
                    self.start(cx, reports);
                    self.unselect(cx);
                }
            }
            return;
        }
        let Some(list) = &mut self.list else { return };
        let Some(index) = list.index(handle) else { return };
        if state == Connectivity::Ready {
            self.select(index, cx, reports);
            return;
        }
        let Some(member) = list.members.get_mut(index) else {
            return;
        };
        let is_first = member.state.replace(state).is_none();
        let subchannel = member.handle.subchannel;
        if state == Connectivity::TransientFailure {
            list.last_failure = status.cloned();
        }
        if is_first {
            list.seen_initial += 1;
        }
        if list.seen_initial < list.members.len() {
            return;
        }
        if is_first {
            if self.selected.is_some() && !is_pooled(cx) {
                if !cx.clusters.profile().has(Feature::LostAddressReplaced) {
                    return self.go_idle(cx, reports);
                }
                self.unselect(cx);
                self.show_connecting(reports);
            }
            return self.connect_next(cx, reports);
        }
        match state {
            Connectivity::TransientFailure => self.on_failure(index, status, cx, reports),
            Connectivity::Idle if list.is_pass_complete() => cx.runtime.connect(subchannel),
            Connectivity::Connecting if self.state != Connectivity::TransientFailure && self.selected.is_none() => {
                self.show_connecting(reports);
            }
            Connectivity::Idle | Connectivity::Connecting | Connectivity::Ready => {}
        }
    }

    fn on_failure(&mut self, index: usize, status: Option<&Status>, cx: &mut PolicyCx<'_>, reports: &mut Reports) {
        let Some(list) = &mut self.list else { return };
        let Some(member) = list.members.get_mut(index) else {
            return;
        };
        if !member.has_failed {
            member.has_failed = index <= list.attempting;
            list.failed += usize::from(member.has_failed);
            if index == list.attempting {
                cx.runtime.cancel(&mut list.timer);
                list.attempting += 1;
                self.connect_next(cx, reports);
            } else {
                self.finish_pass(cx, reports);
            }
        } else if list.is_pass_complete() {
            list.failures += 1;
            if list.failures.is_multiple_of(list.members.len()) {
                let status = status.cloned();
                self.fail_all(status, cx, reports);
            }
        }
    }

    /// Starts the next attempt of the first pass over the list.
    fn connect_next(&mut self, cx: &mut PolicyCx<'_>, reports: &mut Reports) {
        let Some(list) = &mut self.list else { return };
        while let Some(member) = list.members.get_mut(list.attempting) {
            if member.state == Some(Connectivity::TransientFailure) {
                list.failed += usize::from(!member.has_failed);
                member.has_failed = true;
                list.attempting += 1;
                continue;
            }
            let subchannel = member.handle.subchannel;
            let is_in_turn = cx.clusters.profile().has(Feature::AddressesInTurn);
            if list.attempting + 1 < list.members.len() && !is_in_turn {
                self.timer_number += 1;
                let delay = cx.runtime.options.connection_attempt_delay_ms;
                list.timer = Some(cx.runtime.timer(delay, &self.at, PolicyEvent::Timer(self.timer_number)));
            }
            cx.runtime.connect(subchannel);
            return;
        }
        self.finish_pass(cx, reports);
    }

    fn finish_pass(&mut self, cx: &mut PolicyCx<'_>, reports: &mut Reports) {
        let Some(list) = &mut self.list else { return };
        if !list.is_pass_complete() {
            return;
        }
        let idle: Vec<u32> = list
            .members
            .iter()
            .filter(|member| member.state == Some(Connectivity::Idle))
            .map(|member| member.handle.subchannel)
            .collect();
        let failure = list.last_failure.clone();
        self.fail_all(failure, cx, reports);
        if !is_pooled(cx) {
            self.unselect(cx);
        }
        for subchannel in idle {
            cx.runtime.connect(subchannel);
        }
    }

    fn fail_all(&mut self, last: Option<Status>, cx: &PolicyCx<'_>, reports: &mut Reports) {
        match last {
            // The connection to an address of the previous list stays in use.
            _ if self.selected.is_some() && is_pooled(cx) => {}
            Some(last) if hands_on(cx) => self.fail(last, reports),
            Some(last) if self.is_member => {
                self.state = Connectivity::TransientFailure;
                reports.push(StateReport::failure(self.as_member(&last)));
                self.shown = PickFirstReport::FailAs(last);
            }
            last => {
                let last = last.map(|status| status.to_string()).unwrap_or_default();
                let text = match self.is_member {
                    true => last,
                    false => format!("failed to connect to all addresses; last error: {last}"),
                };
                self.fail(Status::unavailable(text), reports);
            }
        }
    }

    /// Returns the status that a member of a list reports when its connection fails.
    fn as_member(&self, last: &Status) -> Status {
        Status::unavailable(last.to_string()).with_note(&self.note)
    }
}

/// Says whether connections come from a pool that all clusters share (grpc-js
/// load-balancer-pick-first.ts, subchannel-pool.ts).
fn is_pooled(cx: &PolicyCx<'_>) -> bool {
    cx.clusters.profile().has(Feature::ConnectionsPooled)
}

/// Says whether the policy passes on failures of connections in their own words.
fn hands_on(cx: &PolicyCx<'_>) -> bool {
    cx.clusters.profile().has(Feature::FailuresHandedOn)
}

/// Returns the failure of an empty address list. `note` says why the list is empty.
fn no_address(note: &str, cx: &PolicyCx<'_>) -> Status {
    Status::unavailable(match (hands_on(cx), note) {
        (false, _) => "empty address list".to_owned(),
        (true, "") => "name resolver error: produced zero addresses".to_owned(),
        (true, note) => format!("name resolver error: {note}"),
    })
}

fn drop_list(list: Option<Box<List>>, cx: &mut PolicyCx<'_>) {
    let Some(mut list) = list else { return };
    cx.runtime.cancel(&mut list.timer);
    for member in &list.members {
        cx.runtime.release(&member.handle);
    }
}

impl crate::policy::StateMachine for PickFirstPolicy {
    fn lose(&mut self, why: &Status, cx: &mut PolicyCx<'_>) -> Reports {
        let mut reports = Reports::new();
        self.latest = Some(Err(why.clone()));
        self.start(cx, &mut reports);
        reports
    }

    fn update(&mut self, update: Update<'_>, cx: &mut PolicyCx<'_>) -> Reports {
        let shuffle = matches!(update.config, LbConfig::PickFirst(config) if config.shuffle_address_list);
        let all: Vec<Arc<Endpoint>> = update
            .endpoints
            .into_iter()
            .flat_map(|list| list.iter())
            .cloned()
            .collect();
        self.set(update.endpoints.map(|_| all.as_slice()), shuffle, update.note, cx)
    }

    fn handle(&mut self, _path: &[u32], what: &PolicyEvent, cx: &mut PolicyCx<'_>) -> Reports {
        let mut reports = Reports::new();
        match what {
            PolicyEvent::Subchannel { handle, state, status } => {
                self.on_state(*handle, *state, status.as_ref(), cx, &mut reports);
            }
            PolicyEvent::Ejected { handle, is_ejected } => {
                if let Some(selected) = self.selected.take_if(|selected| selected.id == *handle) {
                    self.show_health(&selected, *is_ejected, &mut reports);
                    self.selected = Some(selected);
                } else if let Some(list) = &mut self.list
                    && let Some(member) = list.index(*handle).and_then(|index| list.members.get_mut(index))
                {
                    member.is_ejected = *is_ejected;
                }
            }
            PolicyEvent::Timer(number) if *number == self.timer_number => {
                if let Some(list) = &mut self.list
                    && list.timer.take().is_some()
                    && self.selected.is_none()
                {
                    list.attempting += 1;
                    self.connect_next(cx, &mut reports);
                }
            }
            PolicyEvent::Wake => reports = self.exit_idle(cx),
            PolicyEvent::Timer(_)
            | PolicyEvent::Connect(_)
            | PolicyEvent::CreateSubchannel(_)
            | PolicyEvent::Ended { .. }
            | PolicyEvent::Load { .. }
            | PolicyEvent::Lookup(_)
            | PolicyEvent::LookedUp { .. } => {}
        }
        reports
    }

    fn exit_idle(&mut self, cx: &mut PolicyCx<'_>) -> Reports {
        let mut reports = Reports::new();
        if self.state == Connectivity::Idle {
            // The policies above do not see CONNECTING yet, but a second request to connect must
            // not start over.
            self.state = Connectivity::Connecting;
            self.start(cx, &mut reports);
        }
        reports
    }

    fn pick(&mut self, _args: &PickArgs<'_>, cx: &mut PickCx<'_>) -> Pick {
        match (&self.shown, &self.selected) {
            (PickFirstReport::Ready, Some(handle)) => {
                cx.say(super::NAME, format_args!("connected to {}", handle.address.text));
                Pick::Complete(Complete::new(handle.id, handle.subchannel, &handle.address))
            }
            (PickFirstReport::Fail(status), _) => {
                cx.say(super::NAME, format_args!("fails: {}", status.message));
                Pick::Fail(status.clone())
            }
            (PickFirstReport::FailAs(last), _) => {
                let status = self.as_member(last);
                cx.say(super::NAME, format_args!("fails: {}", status.message));
                Pick::Fail(status)
            }
            (PickFirstReport::Wake, _) => {
                cx.say(super::NAME, format_args!("is idle: starts to connect"));
                cx.after.push((self.at.clone(), PolicyEvent::Wake));
                Pick::Queue
            }
            (PickFirstReport::Queue | PickFirstReport::Ready, _) => {
                cx.say(super::NAME, format_args!("is connecting"));
                Pick::Queue
            }
        }
    }

    fn shares(&self, _args: &PickArgs<'_>, share: f64, out: &mut PickShares) {
        match (&self.shown, &self.selected) {
            (PickFirstReport::Ready, Some(handle)) => out.add(&handle.address.text, share),
            (PickFirstReport::Fail(status), _) => out.add_status(status, share),
            (PickFirstReport::FailAs(last), _) => out.add_status(&self.as_member(last), share),
            (PickFirstReport::Queue | PickFirstReport::Wake | PickFirstReport::Ready, _) => {
                out.add(PickShares::QUEUED, share)
            }
        }
    }

    fn shutdown(&mut self, cx: &mut PolicyCx<'_>) {
        self.unselect(cx);
        drop_list(self.list.take(), cx);
        self.shown = PickFirstReport::Queue;
    }
}
