//! ring_hash at work: endpoints connect when a request hash leads to them.
//!
//! A pick walks the ring from the entry of its hash, past endpoints that cannot be reached, and
//! connects the first idle one. Follows C-core ring_hash.cc
//! (`UpdateAggregatedConnectivityStateLocked`, `Picker::Pick`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use super::{Ring, RingMember, RingWays, Size, by_key, hash, sockets};
use crate::LbConfig;
use crate::endpoint::{AddressSet, Endpoint, EndpointList};
use crate::metadata::joined;
use crate::picker::{Pick, PickArgs, PickCx, PickShares};
use crate::policy::{PolicyCx, PolicyEvent, Reports, StateMachine as _, StateReport, TreePath, Update};
use crate::run::looks::look;
use crate::run::tally::StateTally;
use crate::runtime::{Connectivity, below};
use crate::{pick_first, ring_hash};
use xdsctl_model::profile::Feature;
use xdsctl_model::rng::Rng;
use xdsctl_model::status::Status;

/// The state of a ring_hash policy.
#[derive(Debug)]
pub struct RingHashPolicy {
    at: TreePath,
    /// Built for the first pick: a channel may have thousands of these policies and use one.
    ring: OnceLock<Ring>,
    /// The least and the most entries of the ring.
    ring_size: Size,
    /// How the client builds the ring.
    ways: RingWays,
    /// Whether the client refuses weights that do not fit into 32 bits.
    checks_weights: bool,
    members: Vec<Member>,
    /// The list that the members were made from.
    taken: EndpointList,
    /// The index of each member, by its number.
    index_of: BTreeMap<u32, usize>,
    tally: StateTally,
    /// The ranks of the IDLE members.
    idle: BTreeSet<usize>,
    /// The numbers of the members, in the order of their address sets.
    by_rank: Vec<u32>,
    next_number: u32,
    note: String,
    request_hash_header: String,
    last_failure: Option<Status>,
    /// The status of RPCs while there are no endpoints to use; the ring is not asked then.
    empty: Option<Status>,
    random_hash: Rng,
    /// Decides which of several members with the same key gets the picks, in clients that draw it.
    drawn: u64,
    /// Whether several members have the same key; `None` until it is asked about these endpoints.
    has_twins: Option<bool>,
}

#[derive(Debug)]
struct Member {
    number: u32,
    /// The place in the order of address sets.
    rank: usize,
    endpoint: Arc<Endpoint>,
    weight: i64,
    address_set: AddressSet,
    child: Option<pick_first::PickFirstPolicy>,
    state: Connectivity,
    status: Option<Status>,
}

/// Returns the weight of an endpoint. Most clients read it as a signed number.
fn weight_of(endpoint: &Endpoint, is_plain: bool) -> i64 {
    match is_plain {
        true => endpoint.weight.into(),
        false => endpoint.weight.cast_signed().into(),
    }
}

/// Adds up the weights of an endpoint that is listed twice.
const fn sum_of(one: i64, other: i64, is_plain: bool) -> i64 {
    match is_plain {
        true => one.saturating_add(other),
        false => (one as i32).wrapping_add(other as i32) as i64,
    }
}

impl RingHashPolicy {
    /// Makes a policy without endpoints.
    pub fn new(at: TreePath, cx: &mut PolicyCx<'_>) -> RingHashPolicy {
        let random_hash = cx.runtime.stream("ring_hash/random hash", &at);
        RingHashPolicy {
            at,
            ring: OnceLock::new(),
            ring_size: Size::default(),
            ways: RingWays::of(cx.clusters.profile()),
            checks_weights: cx.clusters.profile().has(Feature::RingWeightsChecked),
            members: Vec::new(),
            taken: EndpointList::default(),
            index_of: BTreeMap::new(),
            tally: StateTally::default(),
            idle: BTreeSet::new(),
            by_rank: Vec::new(),
            next_number: 0,
            note: String::new(),
            request_hash_header: String::new(),
            last_failure: None,
            empty: None,
            random_hash,
            drawn: 0,
            has_twins: None,
        }
    }

    /// Takes over endpoints with the same addresses, in the same order, as before. Returns `None`
    /// if they differ in that.
    fn change_endpoints(&mut self, endpoints: &EndpointList, cx: &mut PolicyCx<'_>) -> Option<Vec<(u32, StateReport)>> {
        let has_same = |one: &Endpoint, other: &Endpoint| one.addresses == other.addresses;
        // Weights of endpoints with the same addresses are added up, which this does not do.
        let is_plain = self.taken.len() == self.members.len() && self.taken.len() == endpoints.len();
        let difference = self.taken.difference(endpoints, Arc::ptr_eq);
        let pairs = || difference.old.iter().zip(&difference.new);
        if !is_plain || self.members.is_empty() || !pairs().all(|(one, other)| has_same(one, other)) {
            return None;
        }
        for (index, endpoint) in (difference.before..).zip(&difference.new) {
            if let Some(member) = self.members.get_mut(index) {
                let is_elsewhere =
                    member.endpoint.hash_key != endpoint.hash_key || member.endpoint.weight != endpoint.weight;
                if is_elsewhere {
                    self.ring = OnceLock::new();
                    self.has_twins = None;
                }
                member.endpoint = Arc::clone(endpoint);
                member.weight = weight_of(endpoint, self.ways.takes_zero);
            }
        }
        self.taken = endpoints.clone();
        let mut said = Vec::new();
        for member in self.members.iter_mut() {
            if let Some(child) = &mut member.child {
                let reports = child.set(Ok(std::slice::from_ref(&member.endpoint)), false, "", cx);
                said.extend(reports.into_iter().map(|report| (member.number, report)));
            }
        }
        Some(said)
    }

    fn set_endpoints(&mut self, endpoints: &EndpointList, cx: &mut PolicyCx<'_>) -> Vec<(u32, StateReport)> {
        self.taken = endpoints.clone();
        self.ring = OnceLock::new();
        self.has_twins = None;
        let mut old: BTreeMap<AddressSet, Member> = std::mem::take(&mut self.members)
            .into_iter()
            .map(|member| (member.address_set.clone(), member))
            .collect();
        let mut index_of: BTreeMap<AddressSet, usize> = BTreeMap::new();
        let mut said = Vec::new();
        for endpoint in endpoints.iter() {
            let address_set = endpoint.address_set();
            let weight = weight_of(endpoint, self.ways.takes_zero);
            if let Some(member) = index_of
                .get(&address_set)
                .and_then(|index| self.members.get_mut(*index))
            {
                member.weight = sum_of(member.weight, weight, self.ways.takes_zero);
                continue;
            }
            index_of.insert(address_set.clone(), self.members.len());
            let mut member = match old.remove(&address_set) {
                Some(member) => member,
                None => {
                    self.next_number += 1;
                    Member {
                        number: self.next_number,
                        rank: 0,
                        endpoint: endpoint.clone(),
                        weight,
                        address_set,
                        child: None,
                        state: Connectivity::Idle,
                        status: None,
                    }
                }
            };
            member.endpoint = endpoint.clone();
            member.weight = weight;
            if let Some(child) = &mut member.child {
                let reports = child.set(Ok(std::slice::from_ref(endpoint)), false, "", cx);
                said.extend(reports.into_iter().map(|report| (member.number, report)));
            }
            self.members.push(member);
        }
        for member in old.values_mut() {
            if let Some(child) = &mut member.child {
                child.shutdown(cx);
            }
        }
        self.rank(index_of.into_values());
        said
    }

    /// Sets the members' ranks in the order of their address sets, and counts their states.
    fn rank(&mut self, in_order: impl Iterator<Item = usize>) {
        self.by_rank.clear();
        self.idle.clear();
        self.index_of.clear();
        self.tally = StateTally::default();
        for (rank, index) in in_order.enumerate() {
            let Some(member) = self.members.get_mut(index) else {
                continue;
            };
            member.rank = rank;
            self.by_rank.push(member.number);
            self.index_of.insert(member.number, index);
            self.tally.change(None, Some(member.state));
            if member.state == Connectivity::Idle {
                self.idle.insert(rank);
            }
        }
    }

    /// Handles endpoints that the client refuses. A ring that works stays in use; any other fails
    /// until one of its endpoints has a new state.
    fn refuse(&mut self, status: Status) -> Reports {
        if self.tally.count(Connectivity::Ready) > 0 {
            return Reports::new();
        }
        self.empty = Some(status.clone());
        vec![StateReport::failure(status)]
    }

    fn member(&mut self, number: u32) -> Option<&mut Member> {
        look(1);
        self.members.get_mut(*self.index_of.get(&number)?)
    }

    fn connect(&mut self, number: u32, cx: &mut PolicyCx<'_>, reports: &mut Reports) {
        let at = below(&self.at, number);
        let Some(member) = self.member(number) else { return };
        let said = if let Some(child) = &mut member.child {
            child.exit_idle(cx)
        } else {
            let mut child = pick_first::PickFirstPolicy::new(at, true);
            let said = child.set(Ok(std::slice::from_ref(&member.endpoint)), false, "", cx);
            member.child = Some(child);
            said
        };
        self.note(number, said, cx, reports);
    }

    fn note(&mut self, number: u32, said: Reports, cx: &mut PolicyCx<'_>, reports: &mut Reports) {
        for report in said {
            let Some(member) = self.member(number) else { return };
            let before = std::mem::replace(&mut member.state, report.state);
            member.status.clone_from(&report.status);
            let rank = member.rank;
            self.tally.change(Some(before), Some(report.state));
            if report.state == Connectivity::Idle {
                self.idle.insert(rank);
            } else {
                self.idle.remove(&rank);
            }
            self.aggregate(report.status, cx, reports);
        }
    }

    fn aggregate(&mut self, status: Option<Status>, cx: &mut PolicyCx<'_>, reports: &mut Reports) {
        self.empty = None;
        let count = |state| self.tally.count(state);
        let failed = count(Connectivity::TransientFailure);
        let connecting = count(Connectivity::Connecting);
        let idle = count(Connectivity::Idle);
        let state = if count(Connectivity::Ready) > 0 {
            Connectivity::Ready
        } else if failed >= 2 {
            Connectivity::TransientFailure
        } else if connecting > 0 || (failed == 1 && self.members.len() > 1) {
            Connectivity::Connecting
        } else if idle > 0 {
            Connectivity::Idle
        } else {
            Connectivity::TransientFailure
        };
        let mut report = StateReport::new(state);
        if state == Connectivity::TransientFailure {
            if let Some(status) = status {
                let text = format!("no reachable endpoints; last error: {}", status.message);
                self.last_failure = Some(Status::unavailable(text));
            }
            report.status.clone_from(&self.last_failure);
        }
        reports.push(report);
        self.draw_twins();
        // There may never be another pick, so the policy itself looks for an endpoint that answers.
        if matches!(state, Connectivity::Connecting | Connectivity::TransientFailure) && connecting == 0 {
            let first = self.idle.first().and_then(|rank| self.by_rank.get(*rank).copied());
            if let Some(number) = first {
                self.connect(number, cx, reports);
            }
        }
    }

    /// Draws again which of several members with the same key gets the picks, as a new picker does.
    fn draw_twins(&mut self) {
        if !self.ways.is_by_key {
            return;
        }
        let has_twins = match self.has_twins {
            Some(has_twins) => has_twins,
            None => by_key::has_twins(&self.on_the_ring()),
        };
        self.has_twins = Some(has_twins);
        if has_twins {
            self.drawn = self.random_hash.next_u64();
            self.ring = OnceLock::new();
        }
    }

    /// Returns the members as the ring gets them.
    fn on_the_ring(&self) -> Vec<RingMember<'_>> {
        let least = i64::from(!self.ways.takes_zero);
        look(self.members.len());
        let members = self.members.iter().map(|member| RingMember {
            addresses: &member.endpoint.addresses,
            hash_key: member.endpoint.hash_key.as_deref(),
            weight: match self.ways.is_by_key {
                true => self.ways.weight(member.endpoint.weight),
                false => u32::try_from(member.weight.max(least)).unwrap_or(u32::MAX),
            },
        });
        members.collect()
    }

    fn ring(&self) -> &Ring {
        self.ring
            .get_or_init(|| self.ways.ring(&self.on_the_ring(), self.ring_size, self.drawn))
    }

    /// Returns the index of the member at an entry of the ring.
    fn index_on_ring(&self, index: usize) -> Option<usize> {
        Some(self.ring().entries().get(index)?.endpoint as usize)
    }

    /// Returns the member at an entry of the ring.
    fn on_ring(&self, index: usize) -> Option<&Member> {
        look(1);
        self.members.get(self.index_on_ring(index)?)
    }

    fn pick_from(&mut self, start: usize, args: &PickArgs<'_>, cx: &mut PickCx<'_>) -> Pick {
        let len = self.ring().entries().len();
        for step in 0..len {
            let index = (start + step) % len;
            let Some(member) = self.index_on_ring(index).and_then(|place| self.members.get_mut(place)) else {
                break;
            };
            look(1);
            let state = member.state;
            let told = match state {
                Connectivity::Ready => "READY",
                Connectivity::Idle => "IDLE: it connects",
                Connectivity::Connecting => "CONNECTING",
                Connectivity::TransientFailure => "which cannot be reached: tries those after it",
            };
            if step == 0 || state != Connectivity::TransientFailure {
                let name = member.endpoint.name();
                cx.say(
                    ring_hash::NAME,
                    format_args!("entry {index} of {len} is {name}, {told}"),
                );
            }
            match (state, &mut member.child) {
                (Connectivity::Ready, Some(child)) => return child.pick(args, cx),
                (Connectivity::Idle, _) => {
                    let what = PolicyEvent::Connect(u64::from(member.number));
                    cx.after.push((self.at.clone(), what));
                    return Pick::Queue;
                }
                (Connectivity::Ready | Connectivity::Connecting, _) => return Pick::Queue,
                (Connectivity::TransientFailure, _) => {}
            }
        }
        self.no_endpoint(start)
    }

    /// Picks for a random hash, for which the first connected endpoint will do.
    fn pick_any(&mut self, start: usize, args: &PickArgs<'_>, cx: &mut PickCx<'_>) -> Pick {
        let len = self.ring().entries().len();
        let mut has_requested = self.tally.count(Connectivity::Connecting) > 0;
        for index in (0..len).map(|step| (start + step) % len) {
            let Some(member) = self.index_on_ring(index).and_then(|place| self.members.get_mut(place)) else {
                break;
            };
            if member.state == Connectivity::Ready
                && let Some(child) = &mut member.child
            {
                return child.pick(args, cx);
            }
            if member.state == Connectivity::Idle && !has_requested {
                has_requested = true;
                cx.after
                    .push((self.at.clone(), PolicyEvent::Connect(u64::from(member.number))));
            }
        }
        if has_requested {
            Pick::Queue
        } else {
            self.no_endpoint(start)
        }
    }

    /// Returns whether a pick goes no further than this entry of the ring.
    fn ends_at(&self, index: usize) -> bool {
        self.on_ring(index)
            .is_some_and(|member| member.state != Connectivity::TransientFailure)
    }

    /// Returns, for each entry of the ring, the entry at which a pick ends that begins there.
    fn ends(&self) -> Vec<Option<usize>> {
        let len = self.ring().entries().len();
        let mut ends = vec![None; len];
        let mut end = None;
        // The second round knows what the first entries of the ring lead to.
        for index in (0..len).rev().chain((0..len).rev()) {
            if self.ends_at(index) {
                end = Some(index);
            }
            if let Some(slot) = ends.get_mut(index) {
                *slot = end;
            }
        }
        ends
    }

    /// Adds up where picks go that begin at an entry and end at another one.
    fn share_from(&self, start: usize, end: Option<usize>, args: &PickArgs<'_>, share: f64, out: &mut PickShares) {
        match end.and_then(|end| self.on_ring(end)) {
            Some(Member {
                child: Some(child),
                state: Connectivity::Ready,
                ..
            }) => child.shares(args, share, out),
            // The endpoint connects as soon as a pick reaches it.
            Some(member) => out.add(member.endpoint.name(), share),
            None => {
                if let Pick::Fail(status) = self.no_endpoint(start) {
                    out.add_status(&status, share);
                }
            }
        }
    }

    fn no_endpoint(&self, start: usize) -> Pick {
        let first = self.on_ring(start).and_then(|member| member.status.as_ref());
        if let Some(status) = first.filter(|_| self.ways.is_by_key) {
            return Pick::Fail(status.clone());
        }
        let why = first.map(|status| &*status.message).unwrap_or_default();
        let text = format!("ring hash cannot find a connected endpoint; first failure: {why}");
        Pick::Fail(Status::unavailable(text).with_note(&self.note))
    }
}

impl crate::policy::StateMachine for RingHashPolicy {
    fn update(&mut self, update: Update<'_>, cx: &mut PolicyCx<'_>) -> Reports {
        let LbConfig::RingHash(config) = update.config else {
            return Reports::new();
        };
        config.request_hash_header.clone_into(&mut self.request_hash_header);
        update.note.clone_into(&mut self.note);
        if let (true, Ok(endpoints)) = (self.checks_weights, update.endpoints)
            && let Some(status) = sockets::refused(endpoints)
        {
            return self.refuse(status);
        }
        let mut reports = Reports::new();
        let said = match update.endpoints {
            Ok(endpoints) => match self.change_endpoints(endpoints, cx) {
                Some(said) => said,
                None => self.set_endpoints(endpoints, cx),
            },
            Err(_) => Vec::new(),
        };
        if self.members.is_empty() {
            let status = match update.endpoints {
                Ok(_) if self.ways.is_by_key => Status::unavailable("produced zero addresses"),
                Ok(_) => Status::unavailable(format!("empty address list: {}", self.note)),
                Err(status) => status.clone(),
            };
            self.empty = Some(status.clone());
            return vec![StateReport::failure(status)];
        }
        let ring_size = self.ways.size(config, cx.runtime.options.ring_size_cap);
        if self.ring_size != ring_size {
            self.ring_size = ring_size;
            self.ring = OnceLock::new();
        }
        for (number, report) in said {
            self.note(number, vec![report], cx, &mut reports);
        }
        self.aggregate(None, cx, &mut reports);
        reports
    }

    fn handle(&mut self, path: &[u32], what: &PolicyEvent, cx: &mut PolicyCx<'_>) -> Reports {
        let mut reports = Reports::new();
        if let Some((&number, rest)) = path.split_first() {
            let Some(child) = self.member(number).and_then(|member| member.child.as_mut()) else {
                return reports;
            };
            let said = child.handle(rest, what, cx);
            self.note(number, said, cx, &mut reports);
        } else if let PolicyEvent::Connect(number) = what {
            self.connect(u32::try_from(*number).unwrap_or(0), cx, &mut reports);
        }
        reports
    }

    fn exit_idle(&mut self, _cx: &mut PolicyCx<'_>) -> Reports {
        // The client does nothing here: endpoints connect when a hash leads to them. That is why
        // ring_hash below weighted_target, whose idle children get no picks, never connects.
        Reports::new()
    }

    fn pick(&mut self, args: &PickArgs<'_>, cx: &mut PickCx<'_>) -> Pick {
        if let Some(status) = &self.empty {
            cx.say(ring_hash::NAME, format_args!("has no endpoint"));
            return Pick::Fail(status.clone());
        }
        if self.request_hash_header.is_empty() {
            let Some(request_hash) = args.request_hash else {
                return Pick::Fail(Status::internal("hash attribute not present"));
            };
            let start = self.ring().locate(request_hash);
            return self.pick_from(start, args, cx);
        }
        let value = match self.ways.sees_sent_headers {
            true => joined(args.metadata.headers, &self.request_hash_header),
            false => args.metadata.value(&self.request_hash_header),
        };
        match value {
            None => {
                let random = self.random_hash.next_u64();
                let start = self.ring().locate(random);
                self.pick_any(start, args, cx)
            }
            Some(value) => {
                let start = self.ring().locate(hash(value.as_bytes()));
                self.pick_from(start, args, cx)
            }
        }
    }

    fn shares(&self, args: &PickArgs<'_>, share: f64, out: &mut PickShares) {
        if let Some(status) = &self.empty {
            return out.add_status(status, share);
        }
        if self.ring().entries().is_empty() {
            return;
        }
        if let Some(request_hash) = args.request_hash {
            let (start, len) = (self.ring().locate(request_hash), self.ring().entries().len());
            let mut onwards = (0..len).map(|step| (start + step) % len);
            let end = onwards.find(|index| self.ends_at(*index));
            return self.share_from(start, end, args, share, out);
        }
        for ((index, arc), end) in self.ring().arcs().enumerate().zip(self.ends()) {
            self.share_from(index, end, args, share * arc, out);
        }
    }

    fn shutdown(&mut self, cx: &mut PolicyCx<'_>) {
        for member in self.members.iter_mut() {
            if let Some(child) = &mut member.child {
                child.shutdown(cx);
            }
        }
        self.members.clear();
        self.rank(std::iter::empty());
    }
}
