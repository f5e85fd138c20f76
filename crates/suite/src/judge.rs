//! Compares what RPCs, updates and channels did with the expectations.

use std::collections::{BTreeMap, BTreeSet};

use super::Never;
use super::channel::{self, Policies};
use super::check::{Check, CheckKind, Cookie, RpcCheck, StatePlace};
use super::seen::StepValues;
use super::shares::{cannot_fail, labels, off};
use xdsctl_channel::client::Updated;
use xdsctl_channel::sim::script::Done;
use xdsctl_channel::sim::{Channel, Outcome};
use xdsctl_model::cookie::SessionCookie;
use xdsctl_model::status::Code;
use xdsctl_model::text::plural;
use xdsctl_policy::{EndedRpc, is_true_of};

/// An RPC that has ended, with what depends on the RPCs before it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ended<'d> {
    /// The number of its client among those of the test.
    pub client: usize,
    /// The number of the RPC in that client.
    pub id: u64,
    /// The RPC, with the backend at which the previous one with the same cookie jar ended, if it was
    /// another one.
    pub rpc: EndedRpc<'d>,
}

/// The first RPC that broke an expectation.
#[derive(Debug)]
pub(super) struct First {
    /// The number of its client.
    pub client: usize,
    /// The number of the RPC in that client, from 0.
    pub id: u64,
    /// What the RPC did instead.
    pub happened: String,
    /// The outcome, with its trace.
    pub outcome: Outcome,
}

impl First {
    fn of(ended: &Ended<'_>, happened: String) -> First {
        First {
            client: ended.client,
            id: ended.id,
            happened,
            outcome: ended.rpc.outcome.clone(),
        }
    }
}

/// How many unexpected places are named if shares are wrong.
const ELSEWHERE_SHOWN: usize = 3;

/// A check, with what the RPCs of its step have done so far.
#[derive(Debug)]
pub(super) struct Watched<'t> {
    pub check: &'t Check,
    /// The number of RPCs that broke the check.
    pub bad: u64,
    pub first: Option<First>,
    total: u64,
    /// The number of RPCs, by the labels of the shares.
    counts: BTreeMap<&'t str, u64>,
    backends: BTreeSet<String>,
    /// The number of RPCs that count for no label of the shares, by backend or code.
    elsewhere: BTreeMap<String, u64>,
    /// What the RPCs did, if that is to be recorded.
    pub seen: Option<StepValues>,
}

impl<'t> Watched<'t> {
    pub fn new(check: &'t Check, records: bool) -> Watched<'t> {
        let counts = match &check.what {
            CheckKind::Shares(shares) => shares.of.keys().map(|label| (label.as_str(), 0)).collect(),
            _ => BTreeMap::new(),
        };
        Watched {
            check,
            bad: 0,
            first: None,
            total: 0,
            counts,
            backends: BTreeSet::new(),
            elsewhere: BTreeMap::new(),
            seen: records.then(StepValues::default),
        }
    }

    /// Holds the check against an RPC of the step.
    pub fn see(&mut self, ended: &Ended<'_>) {
        let outcome = ended.rpc.outcome;
        self.total += 1;
        match &self.check.what {
            CheckKind::Shares(_) => {
                let mut is_named = false;
                for (number, label) in labels(outcome).enumerate() {
                    let is_again = labels(outcome).take(number).any(|before| before == label);
                    if let Some(count) = self.counts.get_mut(label).filter(|_| !is_again) {
                        *count += 1;
                        is_named = true;
                    }
                }
                if !is_named {
                    let label = outcome.backend.as_deref().unwrap_or(outcome.code.name());
                    *self.elsewhere.entry(label.to_owned()).or_default() += 1;
                }
            }
            CheckKind::Backends(_) => {
                if let Some(backend) = &outcome.backend
                    && !self.backends.contains(backend)
                {
                    self.backends.insert(backend.clone());
                }
            }
            CheckKind::Rpc(what) => {
                if let Some(seen) = &mut self.seen {
                    seen.rpc(what, ended);
                }
                if let Err(happened) = holds(what, ended) {
                    self.bad += 1;
                    self.first.get_or_insert_with(|| First::of(ended, happened));
                }
            }
            _ => {}
        }
    }

    /// Returns the numbers of different backends and of RPCs.
    pub fn counts(&self) -> (u64, u64) {
        (self.backends.len() as u64, self.total)
    }

    /// Says why the `shares` of this step cannot fail: too few RPCs, or too large a tolerance.
    pub fn cannot_fail(&self) -> Option<String> {
        match &self.check.what {
            CheckKind::Shares(shares) if self.total > 0 => cannot_fail(shares, self.total),
            _ => None,
        }
    }

    /// Says what all RPCs together did wrong.
    pub fn of_step(&self) -> Option<String> {
        let total = self.total;
        match &self.check.what {
            CheckKind::Shares(_) if total == 0 => Some("there was no RPC".to_owned()),
            CheckKind::Shares(shares) => {
                let counted = shares.of.iter().zip(self.counts.values());
                let wrong =
                    counted.filter_map(|((label, share), count)| off(label, *count, total, *share, shares.tolerance));
                let mut wrong: Vec<String> = wrong.collect();
                if !wrong.is_empty() && !self.elsewhere.is_empty() {
                    let mut elsewhere: Vec<(&String, &u64)> = self.elsewhere.iter().collect();
                    elsewhere.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
                    let shown = elsewhere.iter().take(ELSEWHERE_SHOWN);
                    let shown: Vec<String> = shown.map(|(label, count)| format!("{count} to {label}")).collect();
                    let more = if elsewhere.len() > shown.len() { ", ..." } else { "" };
                    wrong.push(format!("elsewhere {}{more}", shown.join(", ")));
                }
                (!wrong.is_empty()).then(|| wrong.join("; "))
            }
            CheckKind::Backends(range) => {
                let count = self.backends.len();
                let list: Vec<&str> = self.backends.iter().take(5).map(String::as_str).collect();
                let more = if self.backends.len() > list.len() { ", ..." } else { "" };
                let backends = plural(count, "backend");
                let colon = if count == 0 { "" } else { ": " };
                (!range.contains(&(count as u64))).then(|| format!("{backends}{colon}{}{more}", list.join(", ")))
            }
            CheckKind::Count(range) => (!range.contains(&total)).then(|| format!("{total} RPCs")),
            // No RPC has done what each must do.
            _ if total == 0 => Some("there was no RPC".to_owned()),
            _ => None,
        }
    }
}

/// A `never` of the test, and the RPCs that broke it.
#[derive(Debug)]
pub(super) struct Guard<'t> {
    pub never: &'t Never,
    pub bad: u64,
    pub first: Option<First>,
}

impl<'t> Guard<'t> {
    pub const fn new(never: &'t Never) -> Guard<'t> {
        Guard {
            never,
            bad: 0,
            first: None,
        }
    }

    /// Holds the checks against an RPC of the run.
    pub fn see(&mut self, ended: &Ended<'_>) {
        // An expression that cannot be evaluated counts as true, so that it does not pass unseen.
        let cannot =
            |what: &RpcCheck| matches!(what, RpcCheck::That(program) if is_true_of(program, ended.rpc).is_err());
        let is_so = |check: &Check| match &check.what {
            CheckKind::Rpc(what) => holds(what, ended).is_ok() || cannot(what),
            _ => true,
        };
        if self.never.checks.iter().all(is_so) {
            self.bad += 1;
            self.first.get_or_insert_with(|| First::of(ended, end(ended)));
        }
    }
}

/// Says how an RPC ended.
fn end(ended: &Ended<'_>) -> String {
    let outcome = ended.rpc.outcome;
    let mut words = match &outcome.backend {
        Some(backend) => format!("OK from {backend}"),
        None => format!("{}: {}", outcome.code, outcome.details),
    };
    if let Some(before) = ended.rpc.moved_from {
        words.push_str(&format!(", the one before in its session was at {before}"));
    }
    words
}

/// Holds an expectation against an RPC. The error says what the RPC did instead.
fn holds(what: &RpcCheck, ended: &Ended<'_>) -> Result<(), String> {
    let outcome = ended.rpc.outcome;
    let or = |is_so: bool, words: &dyn Fn() -> String| if is_so { Ok(()) } else { Err(words()) };
    let end = || end(ended);
    match what {
        RpcCheck::Status(codes) => or(codes.contains(&outcome.code), &end),
        RpcCheck::Message(part) => or(outcome.details.contains(part), &end),
        RpcCheck::Fails(fails) => or((outcome.code != Code::Ok) == *fails, &end),
        RpcCheck::Address(addresses) => {
            let backend = outcome.backend.as_ref().and_then(|backend| backend.parse().ok());
            or(
                backend.is_some_and(|backend| addresses.binary_search(&backend).is_ok()),
                &end,
            )
        }
        RpcCheck::Cluster(names) => {
            let leaf = outcome.place.as_ref().map(|place| &*place.cluster);
            let of_route = outcome.cluster.as_deref();
            let both = || leaf.into_iter().chain(of_route);
            let is_so = match names.is_empty() {
                true => both().next().is_none(),
                false => both().any(|cluster| has(names, cluster)),
            };
            or(is_so, &|| match leaf.or(of_route) {
                Some(cluster) => format!("{}, in cluster `{cluster}`", end()),
                None => end(),
            })
        }
        RpcCheck::VirtualHost(names) => {
            let host = outcome.virtual_host.as_deref();
            let is_so = match host {
                Some(host) => has(names, host),
                None => names.is_empty(),
            };
            or(is_so, &|| match host {
                Some(host) => format!("the virtual host is `{host}`"),
                None => format!("there is no virtual host: {}", end()),
            })
        }
        RpcCheck::Authority(names) => {
            let authority = outcome.authority.as_deref();
            let is_so = authority.is_some_and(|authority| names.iter().any(|name| name == authority));
            or(is_so, &|| match authority {
                Some(authority) => format!("the authority is `{authority}`"),
                None => end(),
            })
        }
        RpcCheck::Locality(names) => {
            let locality = outcome.place.as_ref().map(|place| &*place.locality);
            let is_so = locality.is_some_and(|locality| has(names, locality));
            or(is_so, &|| match locality {
                Some(locality) => format!("{}, in locality `{locality}`", end()),
                None => end(),
            })
        }
        RpcCheck::Route(names) => {
            let number = outcome.route.map(|route| route.to_string());
            let route_name = outcome.route_name.as_deref();
            let mut both = number.as_deref().into_iter().chain(route_name);
            or(both.any(|name| has(names, name)), &|| match (&number, route_name) {
                (Some(number), Some("") | None) => format!("routes[{number}] takes it"),
                (Some(number), Some(name)) => format!("routes[{number}] `{name}` takes it"),
                (None, _) => format!("no route takes it: {}", end()),
            })
        }
        RpcCheck::Attempts(range) => or(range.contains(&(outcome.attempts.len() as u64)), &|| attempts(outcome)),
        RpcCheck::AttemptsAt(addresses) => {
            let same = addresses
                .iter()
                .map(ToString::to_string)
                .eq(outcome.attempts.iter().cloned());
            or(same, &|| attempts(outcome))
        }
        RpcCheck::Within(ms) => {
            let took = outcome.ended - outcome.began;
            or(took <= *ms, &|| format!("{}, after {} s", end(), took as f64 / 1000.0))
        }
        RpcCheck::Cookie(cookie) => {
            let set: Vec<SessionCookie> = outcome.set_cookie.iter().filter_map(|header| session(header)).collect();
            let first = |session: &SessionCookie| session.addresses.split(',').next().map(str::to_owned);
            let is_so = match cookie {
                Cookie::None => outcome.set_cookie.is_empty(),
                Cookie::Set => !outcome.set_cookie.is_empty(),
                Cookie::For(address) => set.iter().any(|session| first(session) == Some(address.to_string())),
            };
            or(is_so, &|| match set.first() {
                Some(session) => format!(
                    "the answer sets a cookie for {} in `{}`",
                    session.addresses, session.cluster
                ),
                None => format!("the answer sets no cookie: {}", end()),
            })
        }
        RpcCheck::Moves(moves) => or(ended.rpc.moved_from.is_some() == *moves, &end),
        RpcCheck::That(program) => match is_true_of(program, ended.rpc) {
            Ok(is_so) => or(is_so, &end),
            Err(why) => Err(format!("{why}: {}", end())),
        },
    }
}

/// Says whether a sorted list has a name.
fn has(names: &[String], name: &str) -> bool {
    names.binary_search_by(|known| known.as_str().cmp(name)).is_ok()
}

fn attempts(outcome: &Outcome) -> String {
    let count = outcome.attempts.len();
    match count {
        0 => format!("no attempt: {}: {}", outcome.code, outcome.details),
        1 => format!("1 attempt: {}", outcome.attempts.join(", ")),
        2..=10 => format!("{count} attempts: {}", outcome.attempts.join(", ")),
        _ => format!("{count} attempts"),
    }
}

/// Reads the session of a `set-cookie` header.
pub(super) fn session(header: &str) -> Option<SessionCookie> {
    let pair = header.split(';').next()?;
    SessionCookie::decode(pair.split_once('=')?.1).ok()
}

/// Says what is wrong with an update, compared with the rules that are to reject it.
pub(super) fn of_update(check: &Check, updated: &Updated) -> Option<String> {
    let CheckKind::Nack(rules) = &check.what else {
        return None;
    };
    let faults = || updated.nacked.iter().flat_map(|nacked| &nacked.faults);
    let missing = rules.iter().find(|rule| !faults().any(|(met, _)| met.id == rule.id));
    if missing.is_none() && (!rules.is_empty() || updated.nacked.is_empty()) {
        return None;
    }
    let Some(nacked) = updated.nacked.first() else {
        return Some("the client accepts the update".to_owned());
    };
    let rules: BTreeSet<&str> = faults().map(|(rule, _)| rule.id).collect();
    let rules: Vec<&str> = rules.into_iter().collect();
    let (kind, name) = (nacked.resource_type.short_name(), &nacked.name);
    Some(format!("the client rejects {kind} `{name}`: {}", rules.join(", ")))
}

/// Says what is wrong with a client's channel.
pub(super) fn of_channel(check: &Check, client: usize, found: &Channel, policies: &mut Policies) -> Option<String> {
    match &check.what {
        CheckKind::States(states) => {
            let wrong: Vec<String> = states
                .iter()
                .filter_map(|(place, state)| wrong_state(*place, *state, found))
                .collect();
            (!wrong.is_empty()).then(|| wrong.join(", "))
        }
        CheckKind::Priority(wanted) => wrong_priority(wanted, found),
        CheckKind::Has(name) => {
            let policies = policies.of(client, found);
            if policies.contains(name.as_str()) {
                return None;
            }
            let names: Vec<&str> = policies.iter().copied().collect();
            Some(match names.is_empty() {
                true if found.is_idle() => "the channel is idle, and has no tree before the next RPC".to_owned(),
                true => "the channel has no tree".to_owned(),
                false => format!("`{name}` is not among {}", names.join(", ")),
            })
        }
        CheckKind::Lacks(name) => {
            let has = policies.of(client, found).contains(name.as_str());
            has.then(|| format!("there is a `{name}`"))
        }
        _ => None,
    }
}

fn wrong_priority(wanted: &BTreeMap<String, Option<u64>>, found: &Channel) -> Option<String> {
    let known = channel::priorities(found);
    let wrong = wanted.iter().filter_map(|(cluster, priority)| {
        let Some(used) = known.get(cluster) else {
            if priority.is_none() && channel::has_cluster(cluster, found) {
                return None;
            }
            let names: Vec<&str> = known.keys().take(5).map(String::as_str).collect();
            return Some(match names.is_empty() {
                true => format!("no cluster has priorities, `{cluster}` neither"),
                false => format!(
                    "no cluster `{cluster}` has priorities, there is `{}`",
                    names.join("`, `")
                ),
            });
        };
        let other = used.iter().find(|used| *used != priority)?;
        Some(match other {
            Some(number) => format!("`{cluster}` uses priority {number}"),
            None => format!("`{cluster}` uses no priority"),
        })
    });
    let wrong: Vec<String> = wrong.collect();
    (!wrong.is_empty()).then(|| wrong.join(", "))
}

fn wrong_state(place: StatePlace, state: Option<xdsctl_lb::runtime::Connectivity>, found: &Channel) -> Option<String> {
    let is = channel::state(place, found);
    if is == state {
        return None;
    }
    Some(match (place, is) {
        (StatePlace::Channel, is) => format!("the channel is {}", is.map_or("none", |state| state.name())),
        (StatePlace::Address(address), None) => format!("{address} has no connection"),
        (StatePlace::Address(address), Some(is)) => format!("{address} is {}", is.name()),
    })
}

/// Where the last RPC of each jar ended.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    last: BTreeMap<String, String>,
}

impl Sessions {
    /// Notes where an RPC ended. Returns where the one before it in its jar ended, if that was
    /// elsewhere.
    pub fn note(&mut self, done: &Done<'_>) -> Option<String> {
        let (jar, backend) = (done.jar?, done.outcome.backend.as_ref()?);
        match self.last.get_mut(jar) {
            Some(last) if last == backend => None,
            Some(last) => Some(std::mem::replace(last, backend.clone())),
            None => {
                self.last.insert(jar.to_owned(), backend.clone());
                None
            }
        }
    }
}
