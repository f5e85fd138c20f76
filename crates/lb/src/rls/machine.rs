//! rls at work: looks up which cluster an RPC goes to, and caches the answers.
//!
//! There is a child policy for each target that the cache or the default names, as long as it is
//! named. RPCs wait for a lookup that has not been answered. After a lookup that failed, they go to
//! the default target, if there is one. Follows C-core rls.cc.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::cache::{CLEANUP_MS, Cache, CacheEntry, CacheKey, Keeping};
use super::target::TargetState;
use super::throttle::Throttle;
use super::{NAME, RlsConfig, RouteLookup, keys, with_target};
use crate as lb;
use crate::endpoint::EndpointList;
use crate::json::{ConfigPlace, Faults};
use crate::log::LogEvent;
use crate::picker::{Pick, PickArgs, PickCx, PickShares};
use crate::policy::{LookupResult, PolicyCx, PolicyEvent, Reports, StateReport, TreePath, Update};
use crate::run::children::Children;
use crate::run::tally::StateTally;
use crate::runtime::{Connectivity, Lookup, Time, TimerId};
use xdsctl_model::backoff::Backoff;
use xdsctl_model::rng::Rng;
use xdsctl_model::status::Status;

/// The numbers of the timers: clean-up of the cache, and the end of a back-off.
const CLEANUP: u64 = 0;
const BACKOFF_OVER: u64 = 1;

/// The state of an rls policy.
#[derive(Debug)]
pub struct RlsPolicy {
    at: TreePath,
    config: Option<Arc<RlsConfig>>,
    endpoints: Result<EndpointList, Status>,
    depth: usize,
    began: Time,
    cache: Cache,
    /// Lookups that have not been answered.
    pending: BTreeMap<CacheKey, Pending>,
    next_lookup: u64,
    throttle: Throttle,
    targets: Children<TargetState>,
    /// How many targets are in each state.
    tally: StateTally,
    default: Option<Arc<str>>,
    is_updating: bool,
    cleanup: Option<TimerId>,
    chance: Rng,
    jitter: Rng,
}

/// A lookup that has not been answered.
#[derive(Debug)]
struct Pending {
    number: u64,
    /// The keys, without secrets.
    shown: Arc<str>,
    /// Whether there is an answer already, which is to be renewed.
    is_stale: bool,
    /// The back-off of the entry, if it is to be renewed.
    backoff: Option<Backoff>,
}

impl RlsPolicy {
    /// Makes a policy without a config.
    pub fn new(at: TreePath, cx: &mut PolicyCx<'_>) -> RlsPolicy {
        let chance = cx.runtime.stream("rls/throttle", &at);
        let jitter = cx.runtime.stream("rls/backoff", &at);
        RlsPolicy {
            config: None,
            endpoints: Ok(EndpointList::default()),
            depth: 0,
            began: cx.runtime.now,
            cache: Cache::default(),
            pending: BTreeMap::new(),
            next_lookup: 0,
            throttle: Throttle::default(),
            targets: Children::new(at.clone()),
            tally: StateTally::default(),
            default: None,
            is_updating: false,
            cleanup: None,
            chance,
            jitter,
            at,
        }
    }

    fn aggregate(&self) -> StateReport {
        if self.tally.total() == 0 {
            return StateReport::new(Connectivity::Idle);
        }
        match self.tally.best() {
            Some(state) => StateReport::new(state),
            None => StateReport::failure(Status::unavailable("no children available")),
        }
    }

    /// Applies the reports of a child; each that is not ignored yields a report of the policy.
    fn note(&mut self, name: &str, said: Reports, reports: &mut Reports) {
        for report in said {
            let Some(target) = self.targets.get_mut(name) else {
                return;
            };
            let data = &mut target.data;
            if data.state == Connectivity::TransientFailure && report.state != Connectivity::Ready {
                continue;
            }
            self.tally.change(Some(data.state), Some(report.state));
            data.state = report.state;
            data.failure = report.status;
            if !self.is_updating {
                reports.push(self.aggregate());
            }
        }
    }

    /// Adds a user to a target; returns whether the target is new.
    fn hold(&mut self, name: &Arc<str>) -> bool {
        let target = self.targets.add(name, || TargetState {
            uses: 0,
            state: Connectivity::Connecting,
            failure: None,
            broken: None,
        });
        target.data.uses += 1;
        let is_new = target.data.uses == 1;
        if is_new {
            self.tally.change(None, Some(Connectivity::Connecting));
        }
        is_new
    }

    /// Removes a user from each of the targets, and drops targets without users.
    fn release<'n>(&mut self, names: impl IntoIterator<Item = &'n Arc<str>>, cx: &mut PolicyCx<'_>) {
        for name in names {
            let Some(target) = self.targets.get_mut(name) else {
                continue;
            };
            target.data.uses -= 1;
            if target.data.uses == 0
                && let Some(mut target) = self.targets.remove(name)
            {
                self.tally.change(Some(target.data.state), None);
                target.child.shutdown(cx);
            }
        }
    }

    /// Logs evicted cache entries, and returns the targets that they used. The caller releases
    /// these only after new entries have taken theirs, so that a target that moves from one entry
    /// to another keeps its connections.
    fn evicted(&self, gone: Vec<(CacheKey, CacheEntry)>, cx: &mut PolicyCx<'_>) -> Vec<Arc<str>> {
        let mut targets = Vec::new();
        for (key, entry) in gone {
            cx.runtime.say(&self.at, || {
                let shown = self
                    .config
                    .as_ref()
                    .map(|config| keys::shown(&config.route_lookup, &key.keys));
                let keys = shown.unwrap_or_default();
                LogEvent::AnswerEvicted { keys }
            });
            targets.extend(entry.targets);
        }
        targets
    }

    /// Gives the child of a target its config.
    fn configure(&mut self, name: &Arc<str>, reports: &mut Reports, cx: &mut PolicyCx<'_>) {
        let (Some(config), Some(target)) = (self.config.clone(), self.targets.get_mut(name)) else {
            return;
        };
        let mut faults = Faults::new();
        let list = with_target(
            &config.child_policy_json,
            &config.target_field_name,
            name,
            &ConfigPlace::TOP,
            &mut faults,
        );
        let read = list.map_or(Err(faults), |list| lb::parse_list(&list, cx.clusters.profile()));
        let said = match read {
            Ok(child_config) => {
                target.data.broken = None;
                let endpoints = self.endpoints.as_ref();
                let update = Update {
                    config: &child_config,
                    endpoints,
                    depth: self.depth,
                    note: "",
                };
                target.child.update(update, cx)
            }
            Err(faults) => {
                let why: Vec<String> = faults.iter().map(|f| format!("at {}: {}", f.path, f.message)).collect();
                target.data.broken = Some(Status::unavailable(why.join("; ")));
                target.child.shutdown(cx);
                Reports::new()
            }
        };
        self.note(name, said, reports);
    }

    /// Handles the answer of a lookup.
    fn answered(&mut self, number: u64, result: &LookupResult, cx: &mut PolicyCx<'_>) -> Reports {
        let found = self.pending.iter().find(|(_, pending)| pending.number == number);
        let Some((key, config)) = found.map(|(key, _)| key.clone()).zip(self.config.clone()) else {
            return Reports::new();
        };
        let Some(Pending { shown, backoff, .. }) = self.pending.remove(&key) else {
            return Reports::new();
        };
        let now = cx.runtime.now;
        self.throttle.note(now, result.is_ok());
        let gone = self.cache.make(&key, now);
        let freed = self.evicted(gone, cx);
        let mut reports = Reports::new();
        let Some(entry) = self.cache.find(&key) else {
            return reports;
        };
        match result.as_ref() {
            Err(status) => {
                let delay = entry.fail(status.clone(), backoff, now, self.jitter.unit());
                let before = self.cache.lose(&key);
                cx.runtime.say(&self.at, || LogEvent::LookupFailed {
                    keys: shown.clone(),
                    status: status.clone(),
                    backoff_ms: delay,
                });
                // One more millisecond: the client's timer fires only after the back-off has
                // passed.
                cx.runtime.timer(delay + 1, &self.at, PolicyEvent::Timer(BACKOFF_OVER));
                self.release(&before, cx);
                reports.push(self.aggregate());
            }
            Ok(answer) => {
                let ages = (config.route_lookup.max_age, config.route_lookup.stale_age);
                let before = entry.answer(answer, ages, now);
                self.cache.count(&key, now);
                cx.runtime.say(&self.at, || LogEvent::LookupAnswered {
                    keys: shown.clone(),
                    targets: answer.targets.join(", "),
                });
                let fresh: Vec<Arc<str>> = answer.targets.iter().filter(|name| self.hold(name)).cloned().collect();
                for name in &fresh {
                    self.configure(name, &mut reports, cx);
                }
                // A new child makes a picker itself when it reports something.
                let has_known = answer
                    .targets
                    .iter()
                    .any(|name| !fresh.contains(name) && !before.contains(name));
                if before == answer.targets || has_known {
                    reports.push(self.aggregate());
                }
                self.release(&before, cx);
            }
        }
        self.release(&freed, cx);
        self.plan_cleanup(cx);
        reports
    }

    /// Sets the timer to the first minute at which an entry can be removed. The client looks every
    /// minute.
    fn plan_cleanup(&mut self, cx: &mut PolicyCx<'_>) {
        cx.runtime.cancel(&mut self.cleanup);
        if let Some(over) = self.cache.next_over() {
            let since = (over.max(cx.runtime.now + 1) - self.began + CLEANUP_MS - 1) / CLEANUP_MS;
            let delay = self.began + since * CLEANUP_MS - cx.runtime.now;
            self.cleanup = Some(cx.runtime.timer(delay, &self.at, PolicyEvent::Timer(CLEANUP)));
        }
    }

    /// Asks the lookup service.
    fn look_up(&mut self, key: &CacheKey, lookup: &RouteLookup, args: &PickArgs<'_>, cx: &mut PickCx<'_>) {
        let number = self.next_lookup;
        self.next_lookup += 1;
        cx.after.push((self.at.clone(), PolicyEvent::Lookup(number)));
        let pending = Pending {
            number,
            shown: keys::shown(lookup, &key.keys).into(),
            is_stale: self.cache.get(key).is_some_and(|entry| entry.is_usable(args.now)),
            backoff: self.cache.take_backoff(key, args.now),
        };
        self.pending.insert(key.clone(), pending);
    }

    /// Returns the previous config, if the client goes on with it, and the config to use. Such a
    /// client keeps its first config until another one names another lookup service (grpc-java
    /// RlsLoadBalancer.java `acceptResolvedAddresses`); then it starts from scratch.
    fn first_said(
        &mut self,
        old: Option<Arc<RlsConfig>>,
        new: Arc<RlsConfig>,
        cx: &mut PolicyCx<'_>,
    ) -> (Option<Arc<RlsConfig>>, Arc<RlsConfig>) {
        let Some(old) = old else {
            return (None, new);
        };
        if old.route_lookup.lookup_service == new.route_lookup.lookup_service {
            self.config = Some(old.clone());
            return (Some(old.clone()), old);
        }
        let gone = self.cache.clear();
        let freed = self.evicted(gone, cx);
        self.release(&freed, cx);
        self.pending.clear();
        (None, new)
    }

    /// Picks from the default target, or fails with `status` if there is none.
    fn fall_back(&mut self, why: &str, status: Status, args: &PickArgs<'_>, cx: &mut PickCx<'_>) -> Pick {
        let target = self
            .default
            .as_ref()
            .and_then(|name| Some((name, self.targets.get_mut(name)?)));
        let Some((name, target)) = target else {
            cx.say(NAME, format_args!("{why}, and there is no default target"));
            return Pick::Fail(status);
        };
        cx.say(NAME, format_args!("{why}; default target \"{name}\""));
        with_name(target.pick(args, cx), name)
    }

    /// Returns the cache key of an RPC.
    fn key(&self, lookup: &RouteLookup, args: &PickArgs<'_>) -> CacheKey {
        CacheKey {
            keys: Arc::new(keys::keys(lookup, &args.metadata)),
            path: (self.cache.keeping == Keeping::Go).then(|| args.metadata.path.into()),
        }
    }

    /// Returns the index of the target that gets the RPCs of an entry: the first one that has not
    /// failed. If all have, it is the last one, in grpc-java the first one.
    fn chosen(&self, entry: &CacheEntry) -> usize {
        let works = |name: &Arc<str>| {
            let target = self.targets.get(name);
            target.is_some_and(|target| target.data.state != Connectivity::TransientFailure)
        };
        match (entry.targets.iter().position(works), self.cache.keeping) {
            (Some(index), _) => index,
            (None, Keeping::Java) => 0,
            (None, Keeping::Core | Keeping::Go) => entry.targets.len().saturating_sub(1),
        }
    }

    /// Picks from the target of an entry.
    fn pick_target(&mut self, key: &CacheKey, args: &PickArgs<'_>, cx: &mut PickCx<'_>) -> Pick {
        let Some(entry) = self.cache.get(key) else {
            return Pick::Queue;
        };
        let chosen = self.chosen(entry);
        for name in entry.targets.iter().take(chosen) {
            cx.say(NAME, format_args!("target \"{name}\" is TRANSIENT_FAILURE, skipped"));
        }
        let name = entry.targets.get(chosen);
        let Some((name, target)) = name.and_then(|name| Some((name, self.targets.get_mut(name)?))) else {
            return Pick::Queue;
        };
        let (number, count, state) = (chosen + 1, entry.targets.len(), target.data.state);
        cx.say(NAME, format_args!("target \"{name}\", {number} of {count}, is {state}"));
        let pick = target.pick(args, cx);
        if matches!(pick, Pick::Complete(_)) && !entry.header_data.is_empty() {
            let bytes = entry.header_data.len();
            cx.say(
                NAME,
                format_args!("adds the header `x-google-rls-data` ({bytes} bytes)"),
            );
        }
        with_name(pick, name)
    }
}

/// Adds the name of the target to a completed pick.
fn with_name(mut pick: Pick, name: &Arc<str>) -> Pick {
    if let Pick::Complete(complete) = &mut pick {
        complete.target.get_or_insert_with(|| name.clone());
    }
    pick
}

impl lb::policy::StateMachine for RlsPolicy {
    fn update(&mut self, update: Update<'_>, cx: &mut PolicyCx<'_>) -> Reports {
        let lb::LbConfig::Rls(config) = update.config else {
            return Reports::new();
        };
        let now = cx.runtime.now;
        self.cache.keeping = Keeping::of(cx.clusters.profile());
        let new = Arc::new(config.clone());
        let old = self.config.replace(new.clone());
        let (old, config) = match self.cache.keeping {
            Keeping::Java => self.first_said(old, new, cx),
            Keeping::Core | Keeping::Go => (old, new),
        };
        let lookup = &config.route_lookup;
        let before = old.as_ref().map(|old| &old.route_lookup);
        match update.endpoints {
            Ok(endpoints) => self.endpoints = Ok(endpoints.clone()),
            Err(status) if old.is_none() => self.endpoints = Err(status.clone()),
            Err(_) => {}
        }
        self.depth = update.depth;
        self.is_updating = true;
        let mut freed = Vec::new();
        if before.is_none_or(|before| before.default_target != lookup.default_target) {
            // In grpc-go, a default that is removed becomes the cluster without a name
            // (rls/balancer.go `handleChildPolicyConfigUpdate`).
            let has_default =
                !lookup.default_target.is_empty() || before.is_some() && self.cache.keeping == Keeping::Go;
            let default = has_default.then(|| Arc::from(lookup.default_target.as_str()));
            if let Some(name) = &default {
                self.hold(name);
            }
            let gone = std::mem::replace(&mut self.default, default);
            self.release(&gone, cx);
        }
        if before.is_none_or(|before| before.lookup_service != lookup.lookup_service) {
            self.throttle = Throttle::default();
        }
        if before.is_none_or(|before| before.cache_size_bytes != lookup.cache_size_bytes) {
            let limit = usize::try_from(lookup.cache_size_bytes).unwrap_or(0);
            let gone = self.cache.resize(limit, now);
            freed = self.evicted(gone, cx);
        }
        let mut reports = Reports::new();
        for name in self.targets.names() {
            self.configure(&name, &mut reports, cx);
        }
        self.is_updating = false;
        let report = self.aggregate();
        self.release(&freed, cx);
        vec![report]
    }

    fn handle(&mut self, path: &[u32], what: &PolicyEvent, cx: &mut PolicyCx<'_>) -> Reports {
        let mut reports = Reports::new();
        if !path.is_empty() {
            if let Some((name, said)) = self.targets.handle(path, what, cx) {
                self.note(&name, said, &mut reports);
            }
            return reports;
        }
        match what {
            PolicyEvent::Lookup(number) => {
                let found = self.pending.iter().find(|(_, pending)| pending.number == *number);
                if let (Some((key, pending)), Some(config)) = (found, &self.config) {
                    let lookup = &config.route_lookup;
                    cx.runtime.say(&self.at, || LogEvent::LookupBegun {
                        service: lookup.lookup_service.clone(),
                        keys: pending.shown.clone(),
                        reason: if pending.is_stale { "stale" } else { "miss" },
                    });
                    cx.runtime.lookups.push(Lookup {
                        at: self.at.clone(),
                        number: *number,
                        service: lookup.lookup_service.clone(),
                        keys: key.keys.clone(),
                        timeout_ms: lookup.lookup_service_timeout.0,
                    });
                }
            }
            PolicyEvent::LookedUp { number, result } => reports = self.answered(*number, result, cx),
            PolicyEvent::Timer(CLEANUP) => {
                let gone = self.cache.clean(cx.runtime.now);
                let freed = self.evicted(gone, cx);
                self.release(&freed, cx);
                self.plan_cleanup(cx);
            }
            PolicyEvent::Timer(BACKOFF_OVER) => reports.push(self.aggregate()),
            _ => {}
        }
        reports
    }

    fn exit_idle(&mut self, cx: &mut PolicyCx<'_>) -> Reports {
        let mut reports = Reports::new();
        for name in self.targets.names() {
            if let Some(target) = self.targets.get_mut(&name) {
                let said = target.child.exit_idle(cx);
                self.note(&name, said, &mut reports);
            }
        }
        reports
    }

    fn pick(&mut self, args: &PickArgs<'_>, cx: &mut PickCx<'_>) -> Pick {
        let Some(config) = self.config.clone() else {
            return Pick::Queue;
        };
        let lookup = &config.route_lookup;
        let key = self.key(lookup, args);
        cx.say_of(NAME, || {
            format!("keys of the lookup: {}", keys::shown(lookup, &key.keys))
        });
        let now = args.now;
        let entry = self.cache.find(&key);
        let is_usable = entry.as_ref().is_some_and(|entry| entry.is_usable(now));
        let is_due = entry.is_none_or(|entry| entry.is_due(now));
        if is_due && !self.pending.contains_key(&key) {
            if !self.throttle.refuses(now, self.chance.unit()) {
                self.look_up(&key, lookup, args, cx);
            } else if !is_usable {
                let status = Status::unavailable("RLS request throttled");
                return self.fall_back("lookups are throttled", status, args, cx);
            }
        }
        if is_usable {
            return self.pick_target(&key, args, cx);
        }
        if let Some(entry) = self.cache.get(&key).filter(|entry| entry.backoff_until >= now) {
            let why = entry.failure.as_ref().map(Status::to_string).unwrap_or_default();
            let status = Status::unavailable(format!("RLS request failed: {why}"));
            let pick = self.fall_back(&format!("the lookup failed, {why}"), status, args, cx);
            return match pick {
                // In grpc-go, a picker's error with a status fails an RPC in any case
                // (picker_wrapper.go).
                Pick::Fail(status) if self.default.is_none() && self.cache.keeping == Keeping::Go => Pick::Drop(status),
                pick => pick,
            };
        }
        cx.say(
            NAME,
            format_args!("waits for the answer of `{}`", lookup.lookup_service),
        );
        Pick::Queue
    }

    fn shares(&self, args: &PickArgs<'_>, share: f64, out: &mut PickShares) {
        let Some(config) = &self.config else {
            return out.add(PickShares::QUEUED, share);
        };
        let Some(entry) = self.cache.get(&self.key(&config.route_lookup, args)) else {
            return out.add(PickShares::QUEUED, share);
        };
        let known = |name: &Arc<str>| self.targets.get(name);
        let target = if entry.is_usable(args.now) {
            entry.targets.get(self.chosen(entry)).and_then(known)
        } else {
            self.default.as_ref().and_then(known)
        };
        match (target, &entry.failure) {
            (Some(target), _) => target.child.shares(args, share, out),
            (None, Some(failure)) => {
                out.add_status(&Status::unavailable(format!("RLS request failed: {failure}")), share);
            }
            (None, None) => out.add(PickShares::QUEUED, share),
        }
    }

    fn priorities(&self, cluster: &str, tell: &mut dyn FnMut(&str, Option<usize>)) {
        let targets = self.targets.iter();
        targets.for_each(|(_, target)| target.child.priorities(cluster, tell));
    }

    fn shutdown(&mut self, cx: &mut PolicyCx<'_>) {
        cx.runtime.cancel(&mut self.cleanup);
        self.cache.clear();
        self.pending.clear();
        self.default = None;
        self.tally = StateTally::default();
        self.targets.shutdown(cx, |_, _| {});
    }
}
