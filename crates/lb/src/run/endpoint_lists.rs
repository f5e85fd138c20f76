//! Lists with one pick_first for each endpoint, as round_robin and weighted_round_robin have them.
//! A newer list waits until it can do better than the old one.
//!
//! A change of an endpoint costs as much with many endpoints as with few: states are counted, not
//! looked up, and a newer list takes over the connected endpoints of the old one ([`adoption`]).
//! Follows C-core endpoint_list.cc. Other clients change the list in use ([`in_place`]).

mod adoption;
mod in_place;
mod members;
mod plan;

use std::collections::VecDeque;

use super::endpoint::{self, EndpointList};
use super::log::LogEvent;
use super::picker::{Pick, PickArgs, PickCx, PickShares};
use super::policy::{PolicyCx, PolicyEvent, Reports, StateMachine as _, StateReport, TreePath, Update};
use super::runtime::Connectivity;
use super::tally::{StateTally, Weights};
use adoption::{ADOPTED, Adoption};
pub use members::ListedEndpoint;
use members::ListedEndpoints;
use xdsctl_model::profile::Feature;
use xdsctl_model::rng::Rng;
use xdsctl_model::status::Status;

/// Reports of endpoints of a list, each with the endpoint's index.
pub type EndpointReports = VecDeque<(usize, StateReport)>;

/// What endpoints of a list reported, for [`EndpointLists::note`].
#[derive(Debug, Default)]
pub struct ListNews {
    /// The number of the list.
    pub number: u32,
    /// The reports of its endpoints.
    pub said: EndpointReports,
    /// What the policy itself reports because of an update.
    pub reports: Reports,
}

/// The list in use and, while a newer one is connecting, that one. `R` is what the policy keeps
/// while endpoints are READY.
#[derive(Debug)]
pub struct EndpointLists<R> {
    at: TreePath,
    /// What the policy last reported, and answers picks with.
    pub shown: ListPicker<R>,
    connect_order: Rng,
    next_number: u32,
    /// The endpoints of all lists.
    members: ListedEndpoints,
    current: Option<ConnectedList>,
    pending: Option<ConnectedList>,
    /// A newer list that has taken over most of its endpoints from the list in use.
    adoption: Option<Adoption>,
    last_failure: Option<Status>,
    /// Whether failures of endpoints are passed on in their own words.
    hands_on: bool,
}

/// A list of endpoints, each with its own connection.
#[derive(Debug)]
struct ConnectedList {
    /// The number by which members know their list. It stays when an update changes `number`.
    id: u32,
    number: u32,
    /// The endpoints that it was made from.
    endpoints: EndpointList,
    /// The index of the member at each place; [`GAP`] where a member was removed.
    places: Vec<u32>,
    /// The places that are not gaps, each with weight 1; `None` if there are no gaps.
    filled: Option<Weights>,
    tally: StateTally,
    /// The places of the READY members, each with weight 1.
    ready: Weights,
    /// Why endpoints may be missing, in the client's words; appended to failure messages.
    note: String,
}

/// The index at a place without a member.
const GAP: u32 = u32::MAX;

/// What a policy over lists answers picks with. `R` is what it keeps while endpoints are READY.
#[derive(Debug)]
pub enum ListPicker<R> {
    /// No endpoint is connected yet.
    Queue,
    /// All endpoints have failed.
    Fail(Status),
    /// Some endpoints are READY.
    Ready(R),
}

impl<R> ListPicker<R> {
    /// Answers a pick while no endpoint is READY.
    pub fn wait(&self, policy: &'static str, cx: &mut PickCx<'_>) -> Pick {
        match self {
            ListPicker::Fail(status) => {
                cx.say(policy, format_args!("fails: {}", status.message));
                Pick::Fail(status.clone())
            }
            ListPicker::Queue | ListPicker::Ready(_) => {
                cx.say(policy, format_args!("no endpoint is connected yet"));
                Pick::Queue
            }
        }
    }

    /// Adds up where picks go while no endpoint is READY.
    fn waiting_shares(&self, share: f64, out: &mut PickShares) {
        match self {
            ListPicker::Fail(status) => out.add_status(status, share),
            ListPicker::Queue | ListPicker::Ready(_) => out.add(PickShares::QUEUED, share),
        }
    }

    /// Makes picks fail from now on. Returns the report of that.
    fn fail(&mut self, status: Status) -> StateReport {
        *self = ListPicker::Fail(status.clone());
        StateReport::failure(status)
    }
}

impl<R> EndpointLists<R> {
    /// Makes the lists of a policy of this name, of which there are none yet.
    pub fn new(name: &str, at: TreePath, cx: &PolicyCx<'_>) -> Self {
        EndpointLists {
            shown: ListPicker::Queue,
            connect_order: cx.runtime.stream(&format!("{name}/connect order"), &at),
            members: ListedEndpoints::new(at.clone()),
            at,
            next_number: 0,
            current: None,
            pending: None,
            adoption: None,
            last_failure: None,
            hands_on: false,
        }
    }

    /// Says whether there has been a list.
    pub const fn has_list(&self) -> bool {
        self.current.is_some()
    }

    /// Takes over the endpoints of an update. An update without endpoints changes nothing if there
    /// is a list.
    pub fn update(&mut self, update: &Update<'_>, cx: &mut PolicyCx<'_>) -> ListNews {
        match update.endpoints {
            Ok(endpoints) => self.take(endpoints, update, cx),
            Err(_) if self.has_list() => ListNews::default(),
            Err(_) => self.take(endpoint::none(), update, cx),
        }
    }

    /// Takes over new endpoints. They start to connect in their order, beginning with a random one.
    pub fn take(&mut self, endpoints: &EndpointList, update: &Update<'_>, cx: &mut PolicyCx<'_>) -> ListNews {
        let start = self.connect_order.index(endpoints.len());
        self.hands_on = cx.clusters.profile().has(Feature::FailuresHandedOn);
        let number = self.next_number;
        self.next_number += 1;
        if cx.clusters.profile().has(Feature::EndpointsInPlace) && !endpoints.is_empty() {
            let said = self.change(number, (endpoints, start), update.note, cx);
            return ListNews::of(number, said);
        }
        let at_once = cx.clusters.profile().has(Feature::ListsReplacedAtOnce);
        if !at_once && let Some(said) = self.adopt(number, (endpoints, start), update.note, cx) {
            return ListNews::of(number, said);
        }
        let (list, said) = ConnectedList::new(number, (endpoints, start), update.note, &mut self.members, cx);
        self.drop_pending(cx);
        if endpoints.is_empty() {
            if let Some(old) = self.current.replace(list) {
                old.shutdown(&mut self.members, cx);
            }
            let status = update.endpoints.err().cloned();
            let text = match self.hands_on {
                true => "no children to pick from",
                false => "empty address list",
            };
            let status = status.unwrap_or_else(|| Status::unavailable(text));
            return ListNews {
                reports: vec![self.shown.fail(status.with_note(update.note))],
                ..ListNews::default()
            };
        }
        if self.current.is_none() || at_once {
            if let Some(old) = self.current.replace(list) {
                old.shutdown(&mut self.members, cx);
            }
        } else {
            self.pending = Some(list);
        }
        ListNews::of(number, said)
    }

    /// Drops the newer list.
    fn drop_pending(&mut self, cx: &mut PolicyCx<'_>) {
        if let Some(adoption) = self.adoption.take() {
            adoption.shutdown(&mut self.members, cx);
        }
        if let Some(old) = self.pending.take() {
            old.shutdown(&mut self.members, cx);
        }
    }

    fn lists(&self) -> impl Iterator<Item = &ConnectedList> {
        [self.current.as_ref(), self.pending.as_ref()].into_iter().flatten()
    }

    /// Returns the number of the list that a report of a member counts for.
    fn number_of(&self, member: &ListedEndpoint) -> Option<u32> {
        let adoption = self.adoption.as_ref();
        let of_list = self.lists().find(|list| list.id == member.list).map(|list| list.number);
        of_list.or_else(|| Some(adoption.filter(|adoption| adoption.number == member.list)?.number))
    }

    /// Passes an event to an endpoint; `path` begins with the endpoint's index.
    pub fn handle(&mut self, path: &[u32], what: &PolicyEvent, cx: &mut PolicyCx<'_>) -> ListNews {
        let (number, said) = self.pass(path, what, cx).unwrap_or_default();
        ListNews::of(number, said)
    }

    fn pass(&mut self, path: &[u32], what: &PolicyEvent, cx: &mut PolicyCx<'_>) -> Option<(u32, EndpointReports)> {
        let (&index, rest) = path.split_first()?;
        if index == ADOPTED {
            return self.adopted(what);
        }
        self.split(index, what, cx);
        let index = index as usize;
        let number = self.number_of(self.members.get(index)?)?;
        let reports = self.members.get_mut(index)?.child.handle(rest, what, cx);
        Some((number, reports.into_iter().map(|report| (index, report)).collect()))
    }

    /// Handles what endpoints of a list reported. Returns what the policy reports. `ready` makes
    /// the picker for a number of READY endpoints.
    pub fn note_all(
        &mut self,
        mut news: ListNews,
        cx: &mut PolicyCx<'_>,
        mut ready: impl FnMut(usize) -> R,
    ) -> Reports {
        while let Some((index, report)) = news.said.pop_front() {
            self.note(&mut news, index, &report, cx);
            let last = report.status.map(|status| status.message.to_string());
            news.reports.extend(self.show(news.number, last, &mut ready));
        }
        news.reports
    }

    /// Notes the report of an endpoint. Makes an idle endpoint connect, and adds what it reports
    /// then to `news`. Replaces the old list by the newer one if it is time to. Returns the
    /// previous state of the endpoint.
    pub fn note(
        &mut self,
        news: &mut ListNews,
        index: usize,
        report: &StateReport,
        cx: &mut PolicyCx<'_>,
    ) -> Option<Connectivity> {
        let before = self.count(news, index, report, cx);
        if self.promote(news.number, cx) {
            self.shown = ListPicker::Queue;
        }
        before
    }

    fn count(
        &mut self,
        news: &mut ListNews,
        index: usize,
        report: &StateReport,
        cx: &mut PolicyCx<'_>,
    ) -> Option<Connectivity> {
        let number = news.number;
        let member = self.members.get_mut(index)?;
        let (before, place) = (member.state.replace(report.state), member.place);
        cx.runtime.say(&self.at, || LogEvent::EndpointState {
            list: i64::from(number).saturating_add(1),
            index: i64::from(place),
            address: member.endpoint.name().clone(),
            from: before.map_or("new", Connectivity::name),
            state: report.state,
        });
        if report.state == Connectivity::Idle {
            let more = member.child.exit_idle(cx);
            news.said.extend(more.into_iter().map(|report| (index, report)));
        }
        if let Some(adoption) = self.adoption.as_mut().filter(|adoption| adoption.number == number) {
            adoption.tally.change(before, Some(report.state));
            return before;
        }
        let lists = [self.current.as_mut(), self.pending.as_mut()];
        let list = lists.into_iter().flatten().find(|list| list.number == number)?;
        list.tally.change(before, Some(report.state));
        match (before == Some(Connectivity::Ready), report.state == Connectivity::Ready) {
            (false, true) => list.ready.add(place as usize, 1),
            (true, false) => list.ready.take(place as usize, 1),
            (true, true) | (false, false) => {}
        }
        before
    }

    /// Replaces the old list by the newer one if it is time to. Says whether it did.
    fn promote(&mut self, number: u32, cx: &mut PolicyCx<'_>) -> bool {
        if self.adoption.as_ref().is_some_and(|adoption| adoption.number == number) {
            return self.take_over(cx);
        }
        let current = self.current.as_ref();
        let newer = self
            .pending
            .take_if(|list| list.number == number && list.replaces(current));
        let Some(newer) = newer else { return false };
        if let Some(old) = self.current.replace(newer) {
            old.shutdown(&mut self.members, cx);
        }
        true
    }

    /// Shows what the list of this number amounts to, if that list is in use. Returns what the
    /// policy reports.
    ///
    /// `last` is the text of an endpoint that failed. `ready` makes the picker for that many READY
    /// endpoints.
    pub fn show(&mut self, number: u32, last: Option<String>, ready: impl FnOnce(usize) -> R) -> Option<StateReport> {
        let list = self.current.as_ref().filter(|list| list.number == number)?;
        let count = |state| list.tally.count(state);
        if count(Connectivity::Ready) > 0 {
            self.shown = ListPicker::Ready(ready(self.ready()));
            Some(StateReport::new(Connectivity::Ready))
        } else if count(Connectivity::Connecting) + count(Connectivity::Idle) > 0 {
            self.shown = ListPicker::Queue;
            Some(StateReport::new(Connectivity::Connecting))
        } else {
            // Some endpoints may not have reported yet.
            let have_all_failed = count(Connectivity::TransientFailure) == list.endpoints.len();
            have_all_failed.then(|| {
                let status = self.failure(last);
                self.shown.fail(status)
            })
        }
    }

    /// Returns the status of picks while all endpoints of the list in use fail. `last` is the text
    /// of the last failure.
    fn failure(&mut self, last: Option<String>) -> Status {
        if let Some(last) = last {
            let text = match self.hands_on {
                true => last,
                false => format!("connections to all backends failing; last error: {last}"),
            };
            self.last_failure = Some(Status::unavailable(text));
        }
        let status = self.last_failure.clone().unwrap_or_else(|| Status::unavailable(""));
        status.with_note(self.current.as_ref().map_or("", |list| list.note.as_str()))
    }

    /// Returns the number of READY endpoints of the list in use.
    pub fn ready(&self) -> usize {
        self.current.as_ref().map_or(0, ConnectedList::ready)
    }

    /// Returns the index of the READY endpoint of this rank.
    pub fn nth_ready(&self, rank: usize) -> Option<usize> {
        let list = self.current.as_ref()?;
        list.index_at(list.ready.find(rank as u64)?)
    }

    /// Returns the endpoint at an index.
    pub fn get(&self, index: usize) -> Option<&ListedEndpoint> {
        self.members.get(index)
    }

    /// Returns the endpoint at an index, for a pick.
    pub fn get_mut(&mut self, index: usize) -> Option<&mut ListedEndpoint> {
        self.members.get_mut(index)
    }

    /// Returns the READY endpoints of the list in use with their indices, in order.
    pub fn all_ready(&self) -> impl Iterator<Item = (usize, &ListedEndpoint)> {
        let indices = self.current.iter().flat_map(ConnectedList::indices);
        let members = indices.filter_map(|index| Some((index, self.members.get(index)?)));
        members.filter(|(_, member)| member.state == Some(Connectivity::Ready))
    }

    /// Adds up where picks go if all READY endpoints get the same share.
    pub fn shares(&self, args: &PickArgs<'_>, share: f64, out: &mut PickShares) {
        if !matches!(self.shown, ListPicker::Ready(_)) {
            return self.shown.waiting_shares(share, out);
        }
        let each = share / self.ready() as f64;
        for (_, member) in self.all_ready() {
            member.child.shares(args, each, out);
        }
    }

    /// Shuts down all endpoints.
    pub fn shutdown(&mut self, cx: &mut PolicyCx<'_>) {
        self.shown = ListPicker::Queue;
        if let Some(list) = self.current.take() {
            list.shutdown(&mut self.members, cx);
        }
        self.drop_pending(cx);
    }
}

impl ListNews {
    fn of(number: u32, said: EndpointReports) -> ListNews {
        let reports = Reports::new();
        ListNews { number, said, reports }
    }
}

impl ConnectedList {
    fn new(
        number: u32,
        (endpoints, start): (&EndpointList, usize),
        note: &str,
        members: &mut ListedEndpoints,
        cx: &mut PolicyCx<'_>,
    ) -> (ConnectedList, EndpointReports) {
        let count = endpoints.len();
        let places = members.add_all(endpoints, number);
        let mut said = EndpointReports::new();
        for place in (0..count).map(|i| (start + i) % count) {
            if let Some(index) = places.get(place) {
                members.start(*index as usize, &mut said, cx);
            }
        }
        let list = ConnectedList {
            id: number,
            number,
            endpoints: endpoints.clone(),
            places,
            filled: None,
            tally: StateTally::default(),
            ready: Weights::new(count),
            note: note.to_owned(),
        };
        (list, said)
    }

    /// Returns the number of READY members.
    const fn ready(&self) -> usize {
        // There are no more of them than members.
        self.ready.total() as usize
    }

    /// Returns the index of the member at a place.
    fn index_at(&self, place: usize) -> Option<usize> {
        self.places
            .get(place)
            .filter(|index| **index != GAP)
            .map(|index| *index as usize)
    }

    /// Returns the indices of the members, in the order of the list.
    fn indices(&self) -> impl Iterator<Item = usize> {
        let indices = self.places.iter().filter(|index| **index != GAP);
        indices.map(|index| *index as usize)
    }

    /// Says whether this newer list replaces `old`.
    fn replaces(&self, old: Option<&ConnectedList>) -> bool {
        let has_all_reported = self.tally.total() == self.endpoints.len();
        old.is_none_or(|old| old.tally.count(Connectivity::Ready) == 0)
            || (self.tally.count(Connectivity::Ready) > 0 && has_all_reported)
            || self.tally.count(Connectivity::TransientFailure) == self.endpoints.len()
    }

    fn shutdown(self, members: &mut ListedEndpoints, cx: &mut PolicyCx<'_>) {
        for index in self.indices() {
            members.remove(index, cx);
        }
    }
}
