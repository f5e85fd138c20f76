//! What a caller does with a channel: lets time pass, sends RPCs, waits for them.

use super::{Channel, LimitReached, rpc};
use crate::rpc::{Retries, sendable};
use crate::sim::call::{Call, Phase, Rpc, RpcId};
use crate::sim::outcome::{Class, Outcome, Trace};
use xdsctl_lb::log::LogEvent;
use xdsctl_lb::picker::{self, StepKind, TraceStep};
use xdsctl_lb::policy::Reports;
use xdsctl_lb::runtime::{Event, NOWHERE, Time};

impl Channel {
    /// Lets time pass.
    ///
    /// # Errors
    /// A limit of the simulation was reached.
    pub fn sleep(&mut self, ms: i64) -> Result<(), LimitReached> {
        self.sleep_until(self.runtime.now.saturating_add(ms.max(0)))
    }

    /// Lets time pass until `until`; does nothing if that is in the past.
    ///
    /// # Errors
    /// A limit of the simulation was reached.
    pub fn sleep_until(&mut self, until: Time) -> Result<(), LimitReached> {
        let mut events = 0;
        self.check_limit(events)?;
        loop {
            let idle_at = self.idle_at().filter(|at| *at <= until);
            if let Some(event) = self.runtime.next_event(idle_at.unwrap_or(until)) {
                self.step(event);
                events += 1;
                self.check_limit(events)?;
                continue;
            }
            let Some(at) = idle_at else { break };
            self.runtime.now = self.runtime.now.max(at);
            self.go_idle();
        }
        self.runtime.now = self.runtime.now.max(until);
        Ok(())
    }

    /// Lets time pass until an RPC has ended, but not beyond `until`. Says whether nothing is left
    /// to wait for.
    ///
    /// # Errors
    /// A limit of the simulation was reached.
    pub fn wait(&mut self, id: RpcId, until: Time) -> Result<bool, LimitReached> {
        let mut events = 0;
        self.check_limit(events)?;
        while self.calls.contains_key(&id.0) {
            let Some(event) = self.runtime.next_event(until) else {
                return Ok(self.runtime.next_time().is_none());
            };
            self.step(event);
            events += 1;
            self.check_limit(events)?;
        }
        Ok(true)
    }

    /// Says whether an RPC has ended.
    pub fn has_ended(&self, id: RpcId) -> bool {
        !self.calls.contains_key(&id.0)
    }

    /// Sends an RPC whose outcome somebody will take with [`finish`](Self::finish).
    pub fn begin(&mut self, rpc: Rpc) -> RpcId {
        self.send(rpc, false)
    }

    /// Sends an RPC whose outcome nobody will take with [`finish`](Self::finish).
    /// [`take_ended`](Self::take_ended) returns it.
    pub fn let_go(&mut self, rpc: Rpc) -> RpcId {
        self.send(rpc, true)
    }

    /// The outcomes of the RPCs that nobody waits for and that have ended since the last call, in
    /// the order of their ends.
    pub fn take_ended(&mut self) -> Vec<(RpcId, Box<Outcome>)> {
        std::mem::take(&mut self.let_go)
    }

    fn send(&mut self, rpc: Rpc, is_let_go: bool) -> RpcId {
        let id = self.next_call;
        self.next_call += 1;
        let now = self.runtime.now;
        let mut call = Call {
            phase: Phase::Resolving,
            began: now,
            deadline: None,
            deadline_at: None,
            selected: None,
            retries: Retries::new(None),
            was_unseen: false,
            used_channel: !self.is_resolved,
            serial: 0,
            backends: Vec::new(),
            actual_hosts: None,
            authority: None,
            target: None,
            place: None,
            last_failure: None,
            virtual_host: None,
            route: None,
            is_traced: self.options.traces,
            is_let_go,
            trace: Trace::default(),
            last_pick: picker::fingerprint(&[]),
            rpc,
        };
        if let Some(ms) = call.rpc.timeout_ms {
            call.deadline_at = Some(now.saturating_add(ms));
            call.deadline = Some(self.runtime.schedule(ms, Event::Deadline { call: id }));
        }
        self.runtime.say(&NOWHERE, || LogEvent::RpcBegun {
            rpc: rpc::number(id),
            method: call.rpc.method.clone(),
        });
        let refusal = sendable::refusal(&call.rpc.headers, &self.client.profile);
        let idle_since = refusal.is_none().then(|| self.wake()).flatten();
        if let Some(since) = idle_since.filter(|since| call.is_traced && *since > 0) {
            let text = format!(
                "it was idle since {} s, because there was no RPC for a while: it begins anew, with what the control plane says now",
                since as f64 / 1000.0
            );
            let kind = StepKind::Channel;
            call.trace.push(TraceStep { kind, text }, &mut self.trace_steps_left);
        }
        self.calls.insert(id, Box::new(call));
        if let Some(status) = refusal {
            self.end(id, Class::Fail, &status);
        } else {
            if self.is_resolved || self.selector.is_some() {
                self.select(id);
            }
            if idle_since.is_some() {
                self.resolve();
            }
            self.note_endless(id);
        }
        self.end_event(&Reports::new());
        RpcId(id)
    }

    /// Notes in the trace of an RPC that the client is stuck.
    fn note_endless(&mut self, id: u64) {
        let call = self.calls.get_mut(&id).filter(|call| call.is_traced);
        if let (Some(cluster), Some(call)) = (&self.runtime.endless, call) {
            let text = format!(
                "the LB policy of cluster \"{cluster}\" leads back to the cluster: the client builds it inside itself for ever, and the channel does nothing else"
            );
            let kind = StepKind::Channel;
            call.trace.push(TraceStep { kind, text }, &mut self.trace_steps_left);
        }
    }

    const fn check_limit(&self, events: u64) -> Result<(), LimitReached> {
        if let Some(machines) = self.runtime.is_full {
            return Err(LimitReached::Machines(machines));
        }
        if self.runtime.is_too_deep {
            return Err(LimitReached::Nested);
        }
        if events < self.max_events() {
            return Ok(());
        }
        Err(LimitReached::Events {
            events,
            now: self.runtime.now,
        })
    }

    /// Lets time pass until an RPC has ended, and returns its outcome; `None` if it was returned
    /// before, or if the RPC would wait for ever.
    ///
    /// # Errors
    /// A limit of the simulation was reached.
    pub fn finish(&mut self, id: RpcId) -> Result<Option<Outcome>, LimitReached> {
        self.wait(id, Time::MAX)?;
        if let Some(waiting) = self.calls.remove(&id.0) {
            self.trace_steps_left += waiting.trace.kept();
            self.queued.remove(&id.0);
            self.rest(waiting.used_channel);
        }
        Ok(self.ended.remove(&id.0).map(|ended| {
            self.trace_steps_left += ended.kept;
            *ended.outcome
        }))
    }

    /// Sends an RPC and waits for its outcome.
    ///
    /// # Errors
    /// A limit of the simulation was reached.
    pub fn call(&mut self, rpc: Rpc) -> Result<Option<Outcome>, LimitReached> {
        let id = self.begin(rpc);
        self.finish(id)
    }
}
