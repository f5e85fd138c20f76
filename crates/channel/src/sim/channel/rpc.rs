//! An RPC's way through the channel: it is selected, delayed, picked for, answered, tried again and
//! ended.

use std::sync::Arc;

use super::Channel;
use crate::rpc::retry::{self, AttemptEnd, RetryStop};
use crate::rpc::{CLUSTER_PREFIX, ChannelFacts, Request, Retries, override_addresses, set_cookies};
use crate::sim::call::{Call, Ended, Phase, RpcId};
use crate::sim::network::{Attempt, Loss, NOT_CONNECTED, Network, Reply, SOCKET_CLOSED};
use crate::sim::outcome::{Class, Outcome};
use crate::sim::selection::{self, Selected};
use xdsctl_lb::log::LogEvent;
use xdsctl_lb::metadata::Metadata;
use xdsctl_lb::picker::{self, Complete, Pick, PickArgs, PickCx, StepKind, TraceStep};
use xdsctl_lb::policy::PolicyEvent;
use xdsctl_lb::runtime::{Connectivity, Event, NOWHERE};
use xdsctl_model::profile::{Family, Feature};
use xdsctl_model::resource::Millis;
use xdsctl_model::status::{Code, Status};

impl Channel {
    /// Runs the config selector and the filters for an RPC.
    pub(super) fn select(&mut self, id: u64) {
        if let Some(status) = self.broken.clone() {
            let waits = self.calls.get(&id).is_some_and(|call| call.rpc.wait_for_ready);
            if !waits {
                self.end(id, Class::Fail, &status);
            }
            return;
        }
        if let Some(status) = self.refusal.clone() {
            self.end(id, Class::Fail, &status);
            return;
        }
        let Some(selector) = self.selector.clone() else {
            // pick_first without an address gets all RPCs.
            self.pick(id);
            return;
        };
        let Some(call) = self.calls.get_mut(&id) else { return };
        if self.options.places {
            let host = selector.config().virtual_host();
            call.virtual_host = host.map(|host| host.name.as_str().into());
        }
        let request = Request {
            path: &call.rpc.method,
            headers: &call.rpc.headers,
            timeout: call.rpc.timeout_ms.map(Millis),
        };
        let channel = ChannelFacts {
            id: self.draws.channel_id(),
            active_faults: self.active_faults,
        };
        let hides = !self.options.shows_secrets;
        let is_traced = call.is_traced;
        let draws = &mut self.draws;
        let mut tried = Vec::new();
        let result = selector.select(
            &request,
            channel,
            &mut |purpose, bound| draws.draw(purpose, bound),
            is_traced.then_some(&mut tried),
        );
        match result {
            Err(refusal) => {
                let status = refusal.status(selector.config().asked, &call.rpc.method);
                let status = self
                    .client
                    .selector_failure(status)
                    .from_control_plane("ConfigSelector");
                if is_traced {
                    for step in selection::refusal_steps(&selector, &request, refusal, &tried, hides) {
                        call.trace.push(step, &mut self.trace_steps_left);
                    }
                }
                self.end(id, Class::Fail, &status);
            }
            Ok(selection) => {
                if is_traced {
                    for step in selection::steps(&selector, &request, &selection, &tried, hides) {
                        call.trace.push(step, &mut self.trace_steps_left);
                    }
                }
                let selected = Arc::new(Selected::keep(&selection));
                let route = selector.routes().get(selected.position);
                let has_name = self.options.places;
                call.route = route.map(|route| (route.index, has_name.then(|| route.name.as_str().into())));
                call.selected = Some(selected.clone());
                call.retries = Retries::new(selection.retry);
                self.start(id, &selected);
            }
        }
    }

    /// Applies the configured timeout and faults.
    fn start(&mut self, id: u64, selected: &Selected) {
        let Some(call) = self.calls.get_mut(&id) else { return };
        if let Some(ms) = selected.timeout_ms {
            // C-core counts from the start of the call. Other clients count from when they know its
            // route.
            let from = match self.client.profile.is_core() {
                true => call.began,
                false => self.runtime.now,
            };
            let at = from.saturating_add(ms);
            if call.deadline_at.is_none_or(|deadline| at < deadline) {
                self.runtime.cancel(&mut call.deadline);
                call.deadline_at = Some(at);
                let delay = at - self.runtime.now;
                call.deadline = Some(self.runtime.schedule(delay, Event::Deadline { call: id }));
            }
        }
        if selected.delay_ms > 0 {
            call.phase = Phase::Delayed;
            self.active_faults += 1;
            self.serial += 1;
            call.serial = self.serial;
            let serial = self.serial;
            self.runtime
                .schedule(selected.delay_ms, Event::Attempt { call: id, serial });
            return;
        }
        self.go_on(id, selected);
    }

    /// Ends the RPC if a fault aborts it, and picks for it otherwise; called after the delay, if
    /// there is one.
    fn go_on(&mut self, id: u64, selected: &Selected) {
        match &selected.abort {
            Some(status) => self.end(id, Class::Fail, status),
            None => self.pick(id),
        }
    }

    pub(super) fn on_attempt(&mut self, id: u64, serial: u64) {
        let Some(call) = self.calls.get(&id).filter(|call| call.serial == serial) else {
            return;
        };
        match (&call.phase, call.selected.clone()) {
            (Phase::Delayed, Some(selected)) => {
                self.active_faults = self.active_faults.saturating_sub(1);
                self.go_on(id, &selected);
            }
            (Phase::BackingOff, _) => self.pick(id),
            _ => {}
        }
    }

    /// Asks the policies where the next attempt goes.
    pub(super) fn pick(&mut self, id: u64) {
        self.leave_idle();
        if self.uncounted_since < self.runtime.now {
            self.count_all();
        }
        let Some(call) = self.calls.get_mut(&id) else { return };
        let selected = call.selected.clone();
        let hosts = selected
            .as_ref()
            .and_then(|selected| override_addresses(&selected.sessions));
        let args = PickArgs {
            cluster_key: selected.as_ref().map_or("", |selected| selected.key.as_str()),
            request_hash: selected.as_ref().map(|selected| selected.hash),
            session: hosts,
            metadata: Metadata {
                path: &call.rpc.method,
                authority: &self.authority,
                headers: &call.rpc.headers,
                timeout: call.deadline_at.map(|at| Millis(at - self.runtime.now)),
            },
            now: self.runtime.now,
        };
        self.steps.clear();
        let mut told = Vec::new();
        let mut cx = PickCx {
            in_flight: &self.runtime.in_flight,
            after: &mut self.events_of_pick,
            trace: call.is_traced.then_some(&mut self.steps),
            told: self.runtime.log.is_on().then_some((number(id), &mut told)),
        };
        let pick = self.root.pick(&args, &mut cx);
        for event in told {
            self.runtime.say(&NOWHERE, || event);
        }
        let is_pooled = self.client.profile.has(Feature::ConnectionsPooled);
        for (at, what) in self.events_of_pick.drain(..) {
            let event = match what {
                PolicyEvent::Connect(_) if is_pooled => Event::PolicyFirst { call: id, at, what },
                what => Event::Policy(at, what),
            };
            self.runtime.schedule(0, event);
        }
        let pick = match pick {
            Pick::Complete(complete) if !complete.connects && !self.runtime.pool.is_ready(complete.subchannel) => {
                Pick::Queue
            }
            pick => pick,
        };
        if call.is_traced {
            let fingerprint = picker::fingerprint(&self.steps);
            if call.last_pick != fingerprint || !matches!(pick, Pick::Queue) {
                let waited = self.runtime.now - call.began;
                let kind = StepKind::Pick;
                let text = format!("after {waited} ms: {}", pick.class());
                call.trace.push(TraceStep { kind, text }, &mut self.trace_steps_left);
                for step in self.steps.drain(..) {
                    call.trace.push(step, &mut self.trace_steps_left);
                }
                call.last_pick = fingerprint;
            }
        }
        call.used_channel |= !matches!(pick, Pick::Fail(_)) || call.rpc.wait_for_ready;
        match pick {
            Pick::Complete(complete) => self.attempt(id, complete),
            Pick::Queue => {
                call.phase = Phase::Queued;
                self.queued.insert(id);
            }
            Pick::Fail(status) if call.rpc.wait_for_ready => {
                call.last_failure = Some(status);
                call.phase = Phase::Queued;
                self.queued.insert(id);
            }
            Pick::Fail(status) => {
                call.actual_hosts = None;
                let status = self.in_its_words(status).from_control_plane("LB pick");
                self.end_attempt(id, &Reply::failure(status), None);
            }
            Pick::Drop(status) => {
                call.actual_hosts = None;
                self.end(id, Class::Drop, &status.from_control_plane("LB drop"));
            }
        }
    }

    /// The client's words for a pick that fails. The policies of grpc-java hand on the status of a
    /// connection as it is.
    fn in_its_words(&self, status: Status) -> Status {
        let is_java = self.client.profile.client().family == Family::Java;
        match is_java && status.message.contains(NOT_CONNECTED) {
            true => Status::unavailable("io exception"),
            false => status,
        }
    }

    /// Sends an attempt to a backend.
    fn attempt(&mut self, id: u64, complete: Complete) {
        if self.holds_back(id) {
            return;
        }
        self.note_authority(id, &complete);
        let Some(call) = self.calls.get_mut(&id) else { return };
        if self.client.profile.has(Feature::BreakerCountsLate) {
            self.uncounted.extend(complete.counters());
            self.uncounted_since = self.runtime.now;
        } else {
            complete
                .counters()
                .for_each(|counter| self.runtime.in_flight.begin(counter));
        }
        if self.options.places {
            call.place = self.places.find(&complete, self.view.config.as_deref());
        }
        let attempt = Attempt {
            address: &complete.socket,
            method: &call.rpc.method,
            headers: &call.rpc.headers,
            previous: call.retries.attempts(),
        };
        let reply = match complete.connects {
            true => self.network.reply_to_unconnected(&attempt, &mut self.answers),
            false => self.network.reply(&attempt, &mut self.answers),
        };
        if !reply.is_unconnected {
            call.backends.push(complete.address.to_string());
        }
        call.actual_hosts.clone_from(&complete.actual_hosts);
        if self.options.places {
            call.target.clone_from(&complete.target);
        }
        self.serial += 1;
        call.serial = self.serial;
        let serial = self.serial;
        self.runtime
            .schedule(reply.after_ms, Event::Answer { call: id, serial });
        call.phase = Phase::UnderWay {
            complete: Box::new(complete),
            reply,
        };
    }

    /// Counts the attempts that are under way by now.
    fn count_all(&mut self) {
        for counter in std::mem::take(&mut self.uncounted) {
            self.runtime.in_flight.begin(counter);
        }
    }

    /// Reports the end of an attempt to circuit breakers, outlier detection and load reports.
    fn tell_ended(&mut self, complete: &Complete, is_ok: bool, has_answer: bool) {
        self.count_all();
        for counter in complete.counters() {
            self.runtime.in_flight.end(counter);
        }
        if let Some((at, endpoint)) = &complete.outlier {
            let endpoint = *endpoint;
            self.runtime.timer(0, at, PolicyEvent::Ended { endpoint, is_ok });
        }
        if let Some((at, endpoint)) = &complete.load
            && let Some(report) = self.network.load.get(&*complete.address).filter(|_| has_answer)
            && self.network.backend(&complete.socket).reports.in_trailers
        {
            let what = PolicyEvent::Load {
                endpoint: *endpoint,
                report: report.clone(),
            };
            self.runtime.timer(0, at, what);
        }
    }

    pub(super) fn on_answer(&mut self, id: u64, serial: u64) {
        let Some(call) = self.calls.get_mut(&id).filter(|call| call.serial == serial) else {
            return;
        };
        if !matches!(call.phase, Phase::UnderWay { .. }) {
            return;
        }
        if let Phase::UnderWay { complete, reply } = &call.phase
            && reply.loss == Some(Loss::Close)
        {
            let address = complete.socket;
            self.stop(&address);
            return;
        }
        if let Phase::UnderWay { complete, reply } = std::mem::replace(&mut call.phase, Phase::Queued) {
            self.tell_ended(&complete, reply.status.is_none(), reply.loss.is_none());
            if reply.loss == Some(Loss::Goaway) {
                self.runtime.lost(complete.subchannel);
                if self.tries_unseen(id) {
                    return;
                }
            }
            self.end_attempt(id, &reply, Some(&complete));
        }
    }

    /// Tries a call again at once that the server has not seen, but only the first time. This
    /// attempt does not count for a retry policy. Says whether the call is tried again.
    fn tries_unseen(&mut self, id: u64) -> bool {
        let Some(call) = self.calls.get_mut(&id) else {
            return true;
        };
        if std::mem::replace(&mut call.was_unseen, true) {
            return false;
        }
        if call.is_traced {
            let kind = StepKind::Retry;
            let text = "the server has not seen the call (GOAWAY): tries again at once, once an RPC".to_owned();
            call.trace.push(TraceStep { kind, text }, &mut self.trace_steps_left);
        }
        self.runtime
            .say(&NOWHERE, || LogEvent::RetriedUnseen { rpc: number(id) });
        self.pick(id);
        true
    }

    /// Handles the end of an attempt: the RPC ends too, or is tried again.
    pub(super) fn end_attempt(&mut self, id: u64, reply: &Reply, complete: Option<&Complete>) {
        let class = if complete.is_some() {
            Class::Complete
        } else {
            Class::Fail
        };
        let Some(status) = &reply.status else {
            self.finish_call(id, class, None, complete, true);
            return;
        };
        let Some(call) = self.calls.get_mut(&id) else { return };
        let end = AttemptEnd {
            code: status.code,
            pushback: reply.pushback.as_deref().map(retry::pushback),
            is_committed: reply.has_headers,
            is_unconnected: reply.is_unconnected,
        };
        let draws = &mut self.draws;
        let wait = match call.retries.after(end, || draws.backoff_unit()) {
            Ok(wait) => Some(wait.0),
            Err(RetryStop::LostTimer) => None,
            Err(stop) => {
                let (rpc, attempts, code) = (number(id), i64::from(call.retries.attempts()), status.code);
                let event = match stop {
                    RetryStop::NotRetryable => Some(LogEvent::RetryNotAllowed { rpc, attempts, code }),
                    RetryStop::Committed => Some(LogEvent::RetryCommitted { rpc, attempts, code }),
                    RetryStop::Exhausted => Some(LogEvent::RetriesExhausted { rpc, attempts, code }),
                    RetryStop::Pushback => Some(LogEvent::RetryPushedBack { rpc, attempts, code }),
                    RetryStop::Ok | RetryStop::NoPolicy | RetryStop::LostTimer => None,
                };
                if let Some(event) = event {
                    self.runtime.say(&NOWHERE, || event);
                }
                let exhausted = (stop == RetryStop::Exhausted).then(|| self.client.exhausted(attempts, status));
                let status = exhausted.as_ref().unwrap_or(status);
                self.finish_call(id, class, Some(status), complete, reply.has_headers);
                return;
            }
        };
        if call.is_traced {
            let then = match wait {
                Some(ms) => format!("tries again in {ms} ms"),
                None => "waits for 0 ms, which never ends".to_owned(),
            };
            let kind = StepKind::Retry;
            let text = format!("attempt {} ended with {status}: {then}", call.retries.attempts());
            call.trace.push(TraceStep { kind, text }, &mut self.trace_steps_left);
        }
        self.runtime.say(&NOWHERE, || LogEvent::RetryPlanned {
            rpc: number(id),
            attempt: i64::from(call.retries.attempts()),
            status: status.clone(),
            ms: wait,
        });
        self.serial += 1;
        call.serial = self.serial;
        call.phase = Phase::BackingOff;
        let serial = self.serial;
        if let Some(ms) = wait {
            self.runtime.schedule(ms, Event::Attempt { call: id, serial });
        }
    }

    pub(super) fn on_deadline(&mut self, id: u64) {
        let Some(call) = self.calls.get_mut(&id) else {
            return;
        };
        call.deadline = None;
        let mut class = Class::Fail;
        let words = self.client.late(&call.phase, call.last_failure.as_ref());
        match std::mem::replace(&mut call.phase, Phase::Queued) {
            Phase::UnderWay { complete, .. } => {
                class = Class::Complete;
                self.tell_ended(&complete, false, false);
            }
            Phase::Queued | Phase::Resolving => class = Class::Queue,
            Phase::Delayed => self.active_faults = self.active_faults.saturating_sub(1),
            Phase::BackingOff => {}
        }
        self.end(id, class, &Status::new(Code::DeadlineExceeded, words));
    }

    /// Ends an RPC without an answer of a backend.
    pub(super) fn end(&mut self, id: u64, class: Class, status: &Status) {
        self.finish_call(id, class, Some(status), None, false);
    }

    fn finish_call(
        &mut self,
        id: u64,
        class: Class,
        status: Option<&Status>,
        answer: Option<&Complete>,
        has_headers: bool,
    ) {
        let Some(mut call) = self.calls.remove(&id) else { return };
        self.runtime.cancel(&mut call.deadline);
        self.queued.remove(&id);
        self.release(&call);
        self.rest(call.used_channel);
        let set_cookie = match (&call.selected, answer) {
            (Some(selected), Some(_)) => {
                set_cookies(&selected.sessions, call.actual_hosts.as_deref().unwrap_or_default())
            }
            _ => Vec::new(),
        };
        if call.is_traced {
            for cookie in &set_cookie {
                let (kind, text) = (StepKind::SetCookie, cookie.clone());
                call.trace.push(TraceStep { kind, text }, &mut self.trace_steps_left);
            }
        }
        let kept = call.trace.kept();
        let outcome = Outcome {
            class,
            code: status.map_or(Code::Ok, |status| status.code),
            details: status.map(|status| status.message.to_string()).unwrap_or_default(),
            backend: answer
                .filter(|_| status.is_none())
                .map(|complete| complete.address.to_string()),
            set_cookie,
            cookie_in_trailers: !has_headers,
            attempts: std::mem::take(&mut call.backends),
            route: call.route.as_ref().map(|(index, _)| *index),
            route_name: call.route.take().and_then(|(_, name)| name),
            virtual_host: call.virtual_host.take(),
            cluster: match &call.selected {
                Some(selected) if self.options.places => {
                    let cluster = selected.key.strip_prefix(CLUSTER_PREFIX).map(Arc::from);
                    cluster.or_else(|| call.target.take())
                }
                _ => None,
            },
            place: call.place.take(),
            authority: call.authority.take(),
            began: call.began,
            ended: self.runtime.now,
            trace_left_out: call.trace.left_out(),
            trace: std::mem::take(&mut call.trace).into_steps(),
        };
        let has_routes = self
            .selector
            .as_ref()
            .is_some_and(|selector| !selector.config().starts_at_cluster);
        self.runtime.say(&NOWHERE, || ended(id, &outcome, has_routes));
        let outcome = Box::new(outcome);
        if call.is_let_go {
            self.trace_steps_left += kept;
            self.let_go.push((RpcId(id), outcome));
            return;
        }
        self.ended.insert(id, Ended { outcome, kept });
    }
}

/// The number of an RPC in the log, from 1.
pub(super) fn number(id: u64) -> i64 {
    i64::try_from(id).unwrap_or(i64::MAX).saturating_add(1)
}

/// The log event of an RPC that has ended.
fn ended(id: u64, outcome: &Outcome, has_routes: bool) -> LogEvent {
    let route = outcome.route.filter(|_| has_routes);
    let leaf = outcome.place.as_ref().map(|place| &place.cluster);
    LogEvent::RpcEnded {
        rpc: number(id),
        code: outcome.code,
        ms: outcome.ended - outcome.began,
        route: route.map(|route| i64::try_from(route).unwrap_or(i64::MAX)),
        route_name: outcome
            .route_name
            .clone()
            .filter(|name| route.is_some() && !name.is_empty()),
        cluster: leaf.or(outcome.cluster.as_ref()).cloned(),
        backend: outcome.backend.clone(),
        why: Some(outcome.details.clone()).filter(|why| !why.is_empty()),
        attempts: (outcome.attempts.len() > 1).then(|| outcome.attempts.join(", ")),
        set_cookie: outcome.set_cookie.clone(),
    }
}

impl Call {
    /// Says whether an attempt is with a backend of this address.
    pub(super) fn is_at(&self, address: &str) -> bool {
        matches!(&self.phase, Phase::UnderWay { complete, .. } if &*complete.address == address)
    }
}

impl Channel {
    /// Stops a backend: its calls fail, and its connections are lost.
    pub fn stop(&mut self, address: &std::net::SocketAddr) {
        let text = address.to_string();
        let with_it: Vec<u64> = self
            .calls
            .iter()
            .filter(|(_, call)| call.is_at(&text))
            .map(|(id, _)| *id)
            .collect();
        self.disconnect(address);
        // Attempts to connect that were hanging are refused now.
        for number in self.connections(address) {
            if let Some(found) = self.runtime.pool.get(number)
                && found.state == Connectivity::Connecting
            {
                let (generation, status) = (found.generation, Network::refusal(&found.address, &self.client.profile));
                self.runtime.refused(number, generation, status);
            }
        }
        for id in with_it {
            let Some(call) = self.calls.get_mut(&id) else { continue };
            if let Phase::UnderWay { complete, .. } = std::mem::replace(&mut call.phase, Phase::Queued) {
                self.tell_ended(&complete, false, false);
                let reply = Reply::failure(Status::unavailable(SOCKET_CLOSED));
                self.end_attempt(id, &reply, None);
            }
        }
    }
}
