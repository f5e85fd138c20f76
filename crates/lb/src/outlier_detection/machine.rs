//! outlier_detection at work: counts how calls end, and ejects endpoints that fail more than others
//! (A50).
//!
//! Counts are per endpoint. When an endpoint is ejected, the pick_first of each of its subchannels
//! gets an event and then reports a failure. The client goes through candidates in the order of
//! heap addresses, which decides which endpoint is ejected first if not all may be. Here each
//! endpoint draws a random place in that order. Follows C-core outlier_detection.cc.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::NAME;
use crate::LbConfig;
use crate::endpoint::{AddressSet, Endpoint, EndpointList};
use crate::log::LogEvent;
use crate::picker::{Pick, PickArgs, PickCx, PickShares};
use crate::policy::{PolicyCx, PolicyEvent, Reports, TreePath, Update};
use crate::run::child::Child;
use crate::runtime::{LbOptions, SubchannelChange, TimerId, below};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::cluster::OutlierDetection;
use xdsctl_model::rng::Rng;
use xdsctl_model::status::Status;

/// The state of an outlier_detection policy.
#[derive(Debug)]
pub struct OutlierDetectionPolicy {
    at: TreePath,
    child: Child,
    detection: Option<OutlierDetection>,
    /// The endpoints of the last update. Nothing else is kept about them while nothing is counted
    /// and nothing is ejected.
    endpoints: EndpointList,
    is_tracking: bool,
    /// The numbers of the endpoints, in the order of their address sets.
    order: BTreeMap<AddressSet, u32>,
    records: BTreeMap<u32, Record>,
    /// The names of the ejected endpoints, by endpoint number.
    ejected: BTreeMap<u32, Arc<str>>,
    /// The endpoint number of each address, by the address's text.
    by_address: BTreeMap<Arc<str>, u32>,
    next_number: u32,
    timer: Option<TimerId>,
    interval: i64,
    enforce: Rng,
    places: Rng,
}

/// What is known about one endpoint.
#[derive(Debug, Clone)]
struct Record {
    endpoint: Arc<Endpoint>,
    successes: u32,
    failures: u32,
    multiplier: u32,
    ejected_at: Option<i64>,
    /// A random number that gives the order in which candidates are looked at.
    place: u64,
}

impl Record {
    const fn volume(&self) -> u32 {
        self.successes.saturating_add(self.failures)
    }
}

/// An endpoint with enough calls to be a candidate for ejection.
#[derive(Clone, Copy)]
struct EjectionCandidate {
    endpoint: u32,
    place: u64,
    success_percent: f64,
}

/// Returns the candidates that are to be ejected, in the order in which that happens.
fn in_order(
    candidates: &[EjectionCandidate],
    is_to_be: impl Fn(&EjectionCandidate) -> bool,
) -> Vec<&EjectionCandidate> {
    let mut chosen: Vec<&EjectionCandidate> = candidates.iter().filter(|candidate| is_to_be(candidate)).collect();
    chosen.sort_unstable_by_key(|candidate| candidate.place);
    chosen
}

impl OutlierDetectionPolicy {
    /// Makes a policy without endpoints.
    pub fn new(at: TreePath, cx: &mut PolicyCx<'_>) -> OutlierDetectionPolicy {
        let enforce = cx.runtime.stream("outlier_detection/enforcement", &at);
        let places = cx.runtime.stream("outlier_detection/places", &at);
        OutlierDetectionPolicy {
            child: Child::new(below(&at, 0)),
            detection: None,
            endpoints: EndpointList::default(),
            is_tracking: false,
            order: BTreeMap::new(),
            records: BTreeMap::new(),
            ejected: BTreeMap::new(),
            by_address: BTreeMap::new(),
            next_number: 0,
            timer: None,
            interval: 0,
            enforce,
            places,
            at,
        }
    }

    fn is_counting(&self) -> bool {
        self.detection
            .as_ref()
            .is_some_and(|d| d.success_rate.is_some() || d.failure_percentage.is_some())
    }

    /// Returns the names of the ejected endpoints, in the order of their address sets.
    fn ejected_names(&self) -> Vec<&str> {
        if self.ejected.is_empty() {
            return Vec::new();
        }
        let in_order = self.order.values();
        in_order
            .filter_map(|number| self.ejected.get(number).map(|name| &**name))
            .collect()
    }

    fn track(&mut self, options: &LbOptions) {
        self.is_tracking = true;
        let mut old = std::mem::take(&mut self.order);
        let mut known = std::mem::take(&mut self.records);
        self.by_address.clear();
        for endpoint in self.endpoints.iter() {
            let set = endpoint.address_set();
            let number = match self.order.get(&set).copied().or_else(|| old.remove(&set)) {
                Some(number) => number,
                None => {
                    self.next_number += 1;
                    self.next_number
                }
            };
            self.order.insert(set, number);
            let places = &mut self.places;
            self.records.entry(number).or_insert_with(|| {
                known.remove(&number).unwrap_or_else(|| {
                    let is_given = endpoint.addresses.iter().any(|a| options.ejected.contains(&*a.text));
                    Record {
                        endpoint: endpoint.clone(),
                        successes: 0,
                        failures: 0,
                        multiplier: 0,
                        // An endpoint that the options eject stays ejected: no time lies that far
                        // ahead.
                        ejected_at: is_given.then_some(i64::MAX),
                        place: places.next_u64(),
                    }
                })
            });
            for address in endpoint.addresses.iter() {
                self.by_address.insert(address.text.clone(), number);
            }
        }
        let ejected = self.records.iter().filter(|(_, record)| record.ejected_at.is_some());
        self.ejected = ejected
            .map(|(number, record)| (*number, record.endpoint.name().clone()))
            .collect();
    }

    fn forget(&mut self) {
        self.is_tracking = false;
        self.order.clear();
        self.records.clear();
        self.by_address.clear();
        self.ejected.clear();
    }

    /// Has the child do something, and ejects new subchannels of endpoints that are ejected.
    fn watched(
        &mut self,
        cx: &mut PolicyCx<'_>,
        work: impl FnOnce(&mut Child, &mut PolicyCx<'_>) -> Reports,
    ) -> Reports {
        let since = cx.runtime.changes.len();
        let mut reports = work(&mut self.child, cx);
        if self.ejected.is_empty() {
            return reports;
        }
        for change in cx.runtime.changes.get(since..).unwrap_or_default().to_vec() {
            if let SubchannelChange::Created { handle, at } = change
                && let Some(endpoint) = self.by_address.get(&handle.address.text)
                && self.ejected.contains_key(endpoint)
            {
                // The event is handled at once, so that the first state that the policy below sees
                // is a failure.
                let (handle, is_ejected) = (handle.id, true);
                let below = at.get(self.at.len() + 1..).unwrap_or_default();
                let said = self
                    .child
                    .handle(below, &PolicyEvent::Ejected { handle, is_ejected }, cx);
                reports.extend(said);
            }
        }
        reports
    }

    fn set_timer(&mut self, cx: &mut PolicyCx<'_>) {
        cx.runtime.cancel(&mut self.timer);
        if self.is_counting() {
            let ms = self.interval;
            cx.runtime.say(&self.at, || LogEvent::DetectionStarted { ms });
            self.timer = Some(cx.runtime.timer(self.interval, &self.at, PolicyEvent::Timer(0)));
        }
    }

    fn tick(&mut self, cx: &mut PolicyCx<'_>) {
        let Some(detection) = self.detection.clone() else {
            return;
        };
        let now = cx.runtime.now;
        cx.runtime.say(&self.at, || LogEvent::DetectionTick {});
        let mut ejected = self.ejected.len();
        let mut of_success = Vec::new();
        let mut of_failure = Vec::new();
        // How many calls of an endpoint each algorithm needs.
        let for_success = detection.success_rate.as_ref().map(|a| a.request_volume);
        let for_failure = detection.failure_percentage.as_ref().map(|a| a.request_volume);
        let has_volume = |record: &Record| for_success.is_some_and(|least| record.volume() >= least);
        let needs_some = detection.success_rate.as_ref().is_some_and(|a| a.minimum_hosts == 0);
        if needs_some
            && cx.clusters.profile().has(Feature::OutlierDefaultsLost)
            && !self.records.values().any(has_volume)
        {
            let why = "outlier detection has no endpoint to compare";
            cx.runtime.died.get_or_insert_with(|| why.to_owned());
            return;
        }
        for number in self.order.values() {
            let Some(record) = self.records.get_mut(number) else {
                continue;
            };
            let (volume, successes) = (record.volume(), record.successes);
            (record.successes, record.failures) = (0, 0);
            if volume == 0 {
                continue;
            }
            let candidate = EjectionCandidate {
                endpoint: *number,
                place: record.place,
                success_percent: f64::from(successes) * 100.0 / f64::from(volume),
            };
            for (least, candidates) in [(for_success, &mut of_success), (for_failure, &mut of_failure)] {
                if least.is_some_and(|least| volume >= least) {
                    candidates.push(candidate);
                }
            }
        }
        if let Some(algorithm) = &detection.success_rate
            && of_success.len() >= (algorithm.minimum_hosts as usize).max(1)
        {
            let count = of_success.len() as f64;
            let mean = of_success.iter().map(|c| c.success_percent).sum::<f64>() / count;
            let variance = of_success
                .iter()
                .map(|c| (c.success_percent - mean).powi(2))
                .sum::<f64>()
                / count;
            let threshold = mean - variance.sqrt() * (f64::from(algorithm.stdev_factor) / 1000.0);
            let enforcement = algorithm.enforcement_percentage;
            for candidate in in_order(&of_success, |c| c.success_percent < threshold) {
                self.eject(candidate, (enforcement, &detection), &mut ejected, cx);
            }
        }
        if let Some(algorithm) = &detection.failure_percentage
            && of_failure.len() >= (algorithm.minimum_hosts as usize).max(1)
        {
            let threshold = f64::from(algorithm.threshold);
            let enforcement = algorithm.enforcement_percentage;
            for candidate in in_order(&of_failure, |c| 100.0 - c.success_percent > threshold) {
                if !self.ejected.contains_key(&candidate.endpoint) {
                    self.eject(candidate, (enforcement, &detection), &mut ejected, cx);
                }
            }
        }
        self.let_back(now, &detection, cx);
        self.set_timer(cx);
    }

    fn eject(
        &mut self,
        candidate: &EjectionCandidate,
        (enforcement, detection): (u32, &OutlierDetection),
        ejected: &mut usize,
        cx: &mut PolicyCx<'_>,
    ) {
        // The client draws from 1 to 99, where A50 says 0 to 99.
        let drawn = 1 + self.enforce.below(99);
        let percent = 100.0 * *ejected as f64 / self.records.len() as f64;
        let has_room = *ejected == 0 || percent < f64::from(detection.max_ejection_percent);
        if drawn >= u64::from(enforcement) || !has_room {
            return;
        }
        let number = candidate.endpoint;
        let Some(record) = self.records.get_mut(&number) else {
            return;
        };
        record.ejected_at = Some(cx.runtime.now);
        record.multiplier += 1;
        *ejected += 1;
        self.ejected.insert(number, record.endpoint.name().clone());
        let name = record.endpoint.name();
        cx.runtime.say(&self.at, || LogEvent::EndpointEjected {
            address: name.clone(),
            why: format!("{} % of its RPCs ended well", candidate.success_percent),
        });
        self.tell_all(number, true, cx);
    }

    fn let_back(&mut self, now: i64, detection: &OutlierDetection, cx: &mut PolicyCx<'_>) {
        let base = detection.base_ejection_time.0;
        let longest = base.max(detection.max_ejection_time.0);
        let mut back = Vec::new();
        for number in self.order.values() {
            let Some(record) = self.records.get_mut(number) else {
                continue;
            };
            match record.ejected_at {
                None => record.multiplier = record.multiplier.saturating_sub(1),
                Some(at) => {
                    let time = base.saturating_mul(i64::from(record.multiplier)).min(longest);
                    // The client requires more time to have passed, but its timer is always a
                    // moment late: after a whole number of intervals the ejection is over.
                    if at.saturating_add(time) <= now {
                        record.ejected_at = None;
                        back.push(*number);
                    }
                }
            }
        }
        for number in back {
            if let Some(name) = self.ejected.remove(&number) {
                cx.runtime.say(&self.at, || LogEvent::EndpointLetBack { address: name });
            }
            self.tell_all(number, false, cx);
        }
    }

    fn tell_all(&self, endpoint: u32, is_ejected: bool, cx: &mut PolicyCx<'_>) {
        let Some(record) = self.records.get(&endpoint) else {
            return;
        };
        let addresses = record.endpoint.addresses.iter();
        let mut handles: Vec<(u64, TreePath)> = addresses
            .flat_map(|address| cx.runtime.pool.held_below(&self.at, address))
            .collect();
        handles.sort_unstable_by_key(|(handle, _)| *handle);
        for (handle, at) in handles {
            tell(handle, &at, is_ejected, cx);
        }
    }
}

/// Says whether two lists have endpoints with the same addresses, in the same order.
fn has_same_addresses(old: &EndpointList, new: &EndpointList) -> bool {
    let difference = old.difference(new, |one, other| one.addresses == other.addresses);
    difference.old.is_empty() && difference.new.is_empty()
}

fn tell(handle: u64, at: &TreePath, is_ejected: bool, cx: &mut PolicyCx<'_>) {
    cx.runtime.timer(0, at, PolicyEvent::Ejected { handle, is_ejected });
}

impl crate::policy::StateMachine for OutlierDetectionPolicy {
    fn update(&mut self, update: Update<'_>, cx: &mut PolicyCx<'_>) -> Reports {
        let LbConfig::OutlierDetection(config) = update.config else {
            return Reports::new();
        };
        let was_counting = self.is_counting();
        self.detection = Some(config.detection.clone());
        let mut has_same = false;
        if let Ok(endpoints) = update.endpoints {
            has_same = has_same_addresses(&self.endpoints, endpoints);
            self.endpoints = endpoints.clone();
        }
        let is_given = !cx.runtime.options.ejected.is_empty();
        let is_wanted = self.is_counting() || is_given;
        if is_wanted && !(self.is_tracking && (has_same || update.endpoints.is_err())) {
            self.track(&cx.runtime.options);
        }
        // With an interval of 0 the client does nothing else. Here time has to advance.
        let interval = config.detection.interval.0.max(1);
        if !self.is_counting() {
            cx.runtime.cancel(&mut self.timer);
            let mut ejected = Vec::new();
            for number in self.order.values() {
                let Some(record) = self.records.get_mut(number) else {
                    continue;
                };
                record.multiplier = 0;
                if record.ejected_at.take_if(|at| *at != i64::MAX).is_some() {
                    self.ejected.remove(number);
                    ejected.push(*number);
                }
            }
            for number in ejected {
                self.tell_all(number, false, cx);
            }
            if !is_given {
                self.forget();
            }
        } else if !was_counting || interval != self.interval {
            if !was_counting {
                for record in self.records.values_mut() {
                    (record.successes, record.failures) = (0, 0);
                }
            }
            self.interval = interval;
            self.set_timer(cx);
        }
        let update = Update {
            config: &config.child_policy,
            ..update
        };
        self.watched(cx, |child, cx| child.update(update, cx))
    }

    fn handle(&mut self, path: &[u32], what: &PolicyEvent, cx: &mut PolicyCx<'_>) -> Reports {
        if let Some((_, rest)) = path.split_first() {
            return self.watched(cx, |child, cx| child.handle(rest, what, cx));
        }
        match what {
            PolicyEvent::Timer(_) => {
                self.timer = None;
                self.tick(cx);
            }
            PolicyEvent::Ended { endpoint, is_ok } => {
                if let Some(record) = self.records.get_mut(endpoint) {
                    if *is_ok {
                        record.successes = record.successes.saturating_add(1);
                    } else {
                        record.failures = record.failures.saturating_add(1);
                    }
                }
            }
            _ => {}
        }
        Reports::new()
    }

    fn exit_idle(&mut self, cx: &mut PolicyCx<'_>) -> Reports {
        self.watched(cx, Child::exit_idle)
    }

    fn lose(&mut self, why: &Status, cx: &mut PolicyCx<'_>) -> Reports {
        self.watched(cx, |child, cx| child.lose(why, cx))
    }

    fn pick(&mut self, args: &PickArgs<'_>, cx: &mut PickCx<'_>) -> Pick {
        let is_counting = self.is_counting();
        cx.say_of(NAME, || {
            let ejected = self.ejected_names();
            match (is_counting, ejected.as_slice()) {
                (false, _) => "is off".to_owned(),
                (true, []) => "no endpoint is ejected".to_owned(),
                (true, ejected) => format!("ejected: {}", ejected.join(", ")),
            }
        });
        let mut pick = self.child.pick(args, cx);
        if is_counting
            && let Pick::Complete(complete) = &mut pick
            && let Some(number) = self.by_address.get(&complete.address)
        {
            complete.outlier = Some((self.at.clone(), *number));
        }
        pick
    }

    fn shares(&self, args: &PickArgs<'_>, share: f64, out: &mut PickShares) {
        self.child.shares(args, share, out);
    }

    fn priorities(&self, cluster: &str, tell: &mut dyn FnMut(&str, Option<usize>)) {
        self.child.priorities(cluster, tell);
    }

    fn shutdown(&mut self, cx: &mut PolicyCx<'_>) {
        cx.runtime.cancel(&mut self.timer);
        self.child.shutdown(cx);
        self.forget();
    }
}
