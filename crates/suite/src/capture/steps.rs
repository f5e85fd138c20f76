//! Makes the steps of a suite from a log. What was there when the first RPC was sent is the world;
//! the rest happens in steps.

mod rpc;

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use serde_json::Value as Json;

use self::rpc::{comment_of, expected, members_of, place_of};
use super::super::draft::{Draft, DraftAction, Drafted, Expected};
use super::calls::{Calls, ConnectionChange, LoggedRpc};
use super::sent::{CapturedResource, CapturedResponse};
use xdsctl_document::source::node::JsonNode;
use xdsctl_lb::runtime::{Connectivity, Time};
use xdsctl_model::resource::ResourceType;
use xdsctl_model::status::Code;

/// RPCs of one kind that are fewer microseconds apart than this are sent without a pause.
const TOGETHER: i64 = 50_000;

/// The resources that the control plane has sent so far.
type SentResources<'s> = BTreeMap<(ResourceType, &'s str), &'s CapturedResource>;

/// An event in a log, from which steps are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A response, by its number.
    Sent(usize),
    /// An event of a backend, by its number.
    Backend(usize),
    /// RPCs that belong together, as a range: the number of the first, and one more than the last.
    Calls(usize, usize),
}

/// An event of a backend: its time, the verb of the step, and the backend's address.
type Doing = (i64, &'static str, SocketAddr);

/// Makes the suite from what a log says.
pub(super) fn draft(sent: &[CapturedResponse], calls: Calls) -> Draft {
    let Calls {
        mut calls,
        connections,
        targets,
        ..
    } = calls;
    let begin = begin(sent, &calls);
    // RPCs that began before there was a configuration waited for it.
    calls.iter_mut().for_each(|call| call.began = call.began.max(begin));
    calls.sort_by_key(|call| call.began);
    let mut used: Vec<String> = Vec::new();
    for call in &calls {
        if call.target.starts_with("xds:") && !used.contains(&call.target) {
            used.push(call.target.clone());
        }
    }
    if used.is_empty() {
        used.extend(targets.into_iter().take(1));
    }
    let mut held = SentResources::new();
    let initial = sent.iter().take_while(|sent| sent.at <= begin);
    initial.for_each(|sent| _ = apply(sent, &mut held));
    let (unreachable, doings) = backends(&connections, begin);
    let mut writer = StepWriter {
        draft: Draft {
            world: held.values().map(|resource| resource.node.clone()).collect(),
            targets: used,
            unreachable,
            ..Draft::default()
        },
        held,
        at: begin,
        begun: 0,
        last: None,
    };
    let others = others(sent, &doings, begin);
    for (at, event) in events(&calls, &others) {
        match event {
            Event::Calls(from, to) => {
                let calls = calls.get(from..to).unwrap_or_default();
                writer.calls(calls, inner(calls, &others), sent, &doings, at);
            }
            other => writer.event(other, sent, &doings),
        }
    }
    if writer.draft.steps.is_empty() {
        writer.push(
            DraftAction::Sleep(1000),
            None,
            "the log has no RPC: this is where yours go".to_owned(),
            Vec::new(),
        );
    }
    writer.draft
}

/// Returns when the first RPC had its configuration; without RPCs, the time of the last response
/// before a resource changes.
fn begin(sent: &[CapturedResponse], calls: &[LoggedRpc]) -> i64 {
    let picked = calls.iter().filter_map(|call| call.picked.or(call.ended)).min();
    picked.unwrap_or_else(|| {
        let mut held = SentResources::new();
        let mut last = 0;
        for sent in sent {
            let is_again = sent.resources.iter().any(|resource| {
                let known = held.get(&(sent.resource_type, resource.name.as_str()));
                known.is_some_and(|known| !known.is_same(resource))
            });
            if is_again {
                break;
            }
            apply(sent, &mut held);
            last = sent.at;
        }
        last
    })
}

/// Applies a response. Returns the resources that are new or changed, and the names of those that
/// are gone.
fn apply<'s>(sent: &'s CapturedResponse, held: &mut SentResources<'s>) -> (Vec<&'s CapturedResource>, Vec<&'s str>) {
    let of_type = sent.resource_type;
    let mut changed = Vec::new();
    for resource in &sent.resources {
        let key = (of_type, resource.name.as_str());
        let known = held.get(&key);
        if known.is_some_and(|known| known.is_same(resource)) {
            continue;
        }
        changed.push(resource);
        // The version before it stays in use.
        if !resource.is_rejected || known.is_none() {
            held.insert(key, resource);
        }
    }
    let names: BTreeSet<&str> = sent.resources.iter().map(|resource| resource.name.as_str()).collect();
    // A Listener or Cluster that is missing from a response does not exist.
    let has_all = matches!(of_type, ResourceType::Listener | ResourceType::Cluster);
    let is_gone = |(kind, name): &(ResourceType, &'s str)| *kind == of_type && has_all && !names.contains(name);
    let gone: Vec<&str> = held.keys().filter(|key| is_gone(key)).map(|(_, name)| *name).collect();
    gone.iter().for_each(|name| _ = held.remove(&(of_type, *name)));
    (changed, gone)
}

/// Returns the backends that could not be reached at first, and what backends did later.
fn backends(connections: &[ConnectionChange], begin: i64) -> (Vec<(SocketAddr, bool)>, Vec<Doing>) {
    #[derive(Default)]
    struct Known {
        was_ready: bool,
        is_down: bool,
        left: Option<i64>,
        connecting: i64,
    }
    let mut known: BTreeMap<SocketAddr, Known> = BTreeMap::new();
    let (mut unreachable, mut doings) = (Vec::new(), Vec::new());
    for &ConnectionChange {
        at,
        address,
        state,
        is_silent,
    } in connections
    {
        let of = known.entry(address).or_default();
        match state {
            Connectivity::TransientFailure if !of.is_down => {
                of.is_down = true;
                let verb = if is_silent { "silence" } else { "stop" };
                match of.was_ready {
                    true => doings.push((of.left.take().unwrap_or(at), verb, address)),
                    // The first attempt to connect shows it; it may have been so from the
                    // beginning.
                    false => unreachable.push((address, is_silent)),
                }
            }
            Connectivity::Ready => {
                if of.is_down {
                    doings.push((of.connecting.max(begin), "start", address));
                } else if let Some(left) = of.left.take().filter(|left| *left > begin) {
                    doings.push((left, "drop", address));
                }
                (of.was_ready, of.is_down, of.left) = (true, false, None);
            }
            Connectivity::Idle if of.was_ready && !of.is_down => of.left = Some(at),
            Connectivity::Connecting => of.connecting = at,
            Connectivity::Idle | Connectivity::TransientFailure => {}
        }
    }
    doings.sort_by_key(|(at, _, address)| (*at, *address));
    (unreachable, doings)
}

/// Returns the events in the order of time. What happens while RPCs are in flight is left to these.
fn events(calls: &[LoggedRpc], others: &[(i64, Event)]) -> Vec<(i64, Event)> {
    let mut events: Vec<(i64, Event)> = Vec::new();
    let mut spans: Vec<(i64, i64)> = Vec::new();
    let mut from = 0;
    while let Some(first) = calls.get(from) {
        let mut end = first.ended.unwrap_or(first.began);
        let mut to = from + 1;
        while let Some(next) = calls.get(to).filter(|next| next.began < end) {
            end = end.max(next.ended.unwrap_or(next.began));
            to += 1;
        }
        events.push((first.began, Event::Calls(from, to)));
        spans.push((first.began, end));
        from = to;
    }
    let is_inner = |at: i64| {
        let after = spans.partition_point(|(start, _)| *start < at);
        let before = after.checked_sub(1).and_then(|before| spans.get(before));
        before.is_some_and(|(_, end)| at < *end)
    };
    events.extend(others.iter().copied().filter(|(at, _)| !is_inner(*at)));
    events.sort();
    events
}

/// Returns the responses, and what backends do, after `begin` in the order of time.
fn others(sent: &[CapturedResponse], doings: &[Doing], begin: i64) -> Vec<(i64, Event)> {
    let later = sent.iter().enumerate().filter(|(_, sent)| sent.at > begin);
    let later = later.map(|(number, sent)| (sent.at, Event::Sent(number)));
    let doings = doings
        .iter()
        .enumerate()
        .map(|(number, (at, ..))| (*at, Event::Backend(number)));
    let mut all: Vec<(i64, Event)> = later.chain(doings).collect();
    all.sort();
    all
}

/// Returns what happens while some RPCs are in flight.
fn inner<'o>(calls: &[LoggedRpc], others: &'o [(i64, Event)]) -> &'o [(i64, Event)] {
    let start = calls.first().map_or(0, |call| call.began);
    let end = calls.iter().filter_map(|call| call.ended).max().unwrap_or(start);
    let from = others.partition_point(|(at, _)| *at <= start);
    let to = others.partition_point(|(at, _)| *at < end);
    others.get(from..to).unwrap_or_default()
}

/// What the RPCs of one step have in common.
#[derive(Debug, Clone, PartialEq)]
struct StepShape {
    client: Option<usize>,
    members: Vec<(&'static str, Json)>,
    hidden: Vec<String>,
    code: Option<Code>,
    attempts: usize,
}

struct StepWriter<'s> {
    draft: Draft,
    held: SentResources<'s>,
    /// The time of the log up to which steps are written.
    at: i64,
    /// How many groups of RPCs were given a name.
    begun: usize,
    /// The shape, the number and the addresses of the RPCs of the last step, if more can be added
    /// to it.
    last: Option<(StepShape, usize, Vec<SocketAddr>)>,
}

impl<'s> StepWriter<'s> {
    fn push(&mut self, deed: DraftAction, client: Option<usize>, comment: String, expect: Vec<Expected>) {
        self.last = None;
        self.draft.steps.push(Drafted {
            // On a step with RPCs, a comment can only be about headers whose values are not logged.
            is_partial: !comment.is_empty() && matches!(deed, DraftAction::Pick(_) | DraftAction::Finish(_)),
            comment,
            client,
            action: deed,
            expect,
        });
    }

    /// Adds a step of all clients, of which nothing is expected.
    fn act(&mut self, deed: DraftAction) {
        self.push(deed, None, String::new(), Vec::new());
    }

    /// Adds a pause until a time of the log.
    fn until(&mut self, at: i64) {
        let gap = at - self.at;
        if gap >= TOGETHER && !self.draft.steps.is_empty() {
            self.act(DraftAction::Sleep(Time::max(10, gap / 10_000 * 10)));
        }
        self.at = self.at.max(at);
    }

    fn sent(&mut self, sent: &'s CapturedResponse) {
        let (changed, gone) = apply(sent, &mut self.held);
        if changed.is_empty() && gone.is_empty() {
            return;
        }
        self.until(sent.at);
        if !changed.is_empty() {
            let rejected: Vec<&&CapturedResource> = changed.iter().filter(|resource| resource.is_rejected).collect();
            let rules: BTreeSet<&str> = rejected
                .iter()
                .flat_map(|resource| resource.rules.iter().copied())
                .collect();
            let rules: Vec<Json> = rules.into_iter().map(Json::from).collect();
            let mut comment = String::new();
            let value = match rules.as_slice() {
                [] if !rejected.is_empty() => {
                    let name = rejected.first().map_or("", |resource| resource.name.as_str());
                    comment = format!("the client rejected `{name}`, and no rule says why");
                    None
                }
                [] if !sent.tells_verdicts => None,
                [] => Some("none".into()),
                [one] => Some(one.clone()),
                _ => Some(rules.into()),
            };
            let expect = value.map(|value| expected("nack", value)).into_iter().collect();
            let nodes: Vec<JsonNode> = changed.iter().map(|resource| resource.node.clone()).collect();
            self.push(DraftAction::Update(nodes), None, comment, expect);
        }
        if !gone.is_empty() {
            let names = gone.into_iter().map(|name| (sent.resource_type, name.to_owned()));
            self.act(DraftAction::Remove(names.collect()));
        }
    }

    fn backend(&mut self, (at, verb, address): Doing) {
        if at - self.at < TOGETHER
            && let Some(Drafted {
                action: DraftAction::Backends(known, addresses),
                ..
            }) = self.draft.steps.last_mut()
            && *known == verb
        {
            addresses.push(address);
            return;
        }
        self.until(at);
        self.act(DraftAction::Backends(verb, vec![address]));
    }

    /// Writes RPCs that overlap in time, and what happened meanwhile.
    fn calls(
        &mut self,
        calls: &[LoggedRpc],
        inner: &[(i64, Event)],
        sent: &'s [CapturedResponse],
        doings: &[Doing],
        at: i64,
    ) {
        let end = calls.iter().filter_map(|call| call.ended).max().unwrap_or(at);
        if let ([call], []) = (calls, inner) {
            let shape = self.shape(call);
            let is_soon = at - self.at < TOGETHER;
            if let Some((_, count, places)) = self.last.take().filter(|(known, ..)| is_soon && *known == shape) {
                self.draft.steps.pop();
                self.pick(shape, count + 1, places, call);
            } else {
                self.until(at);
                self.pick(shape, 1, Vec::new(), call);
            }
            self.at = self.at.max(end);
            return;
        }
        self.until(at);
        let mut open: Vec<(String, StepShape, usize, Vec<SocketAddr>)> = Vec::new();
        let mut events = inner.iter().peekable();
        for call in calls {
            while let Some((_, event)) = events.next_if(|(at, _)| *at <= call.began) {
                self.event(*event, sent, doings);
            }
            let shape = self.shape(call);
            let is_soon = call.began - self.at < TOGETHER;
            match (open.last_mut(), self.draft.steps.last()) {
                (
                    Some((_, known, count, places)),
                    Some(Drafted {
                        action: DraftAction::Begin(_),
                        ..
                    }),
                ) if is_soon && *known == shape => {
                    *count += 1;
                    places.extend(place_of(call));
                    let members = members_of(&shape, *count);
                    if let Some(Drafted {
                        action: DraftAction::Begin(begun),
                        ..
                    }) = self.draft.steps.last_mut()
                    {
                        begun.retain(|(member, _)| matches!(*member, "name" | "settle"));
                        begun.extend(members);
                    }
                }
                _ => {
                    self.until(call.began);
                    self.begun += 1;
                    let name = format!("rpcs-{}", self.begun);
                    let mut members = vec![("name", Json::from(name.as_str())), ("settle", Json::from(0))];
                    members.extend(members_of(&shape, 1));
                    let comment = comment_of(&shape);
                    self.push(DraftAction::Begin(members), shape.client, comment, Vec::new());
                    open.push((name, shape, 1, place_of(call).into_iter().collect()));
                }
            }
        }
        for (_, event) in events {
            self.event(*event, sent, doings);
        }
        self.until(end);
        for (name, shape, _, places) in open {
            let expect = self.expect(&shape, &places);
            self.push(DraftAction::Finish(name), None, comment_of(&shape), expect);
        }
    }

    fn event(&mut self, event: Event, sent: &'s [CapturedResponse], doings: &[Doing]) {
        match event {
            Event::Sent(number) => sent.get(number).into_iter().for_each(|sent| self.sent(sent)),
            Event::Backend(number) => doings.get(number).into_iter().for_each(|doing| self.backend(*doing)),
            Event::Calls(..) => {}
        }
    }

    fn pick(&mut self, shape: StepShape, count: usize, mut places: Vec<SocketAddr>, call: &LoggedRpc) {
        places.extend(place_of(call));
        let expect = self.expect(&shape, &places);
        self.push(
            DraftAction::Pick(members_of(&shape, count)),
            shape.client,
            comment_of(&shape),
            expect,
        );
        self.last = Some((shape, count, places));
    }
}
