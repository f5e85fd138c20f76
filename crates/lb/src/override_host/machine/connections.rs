//! Who holds a connection: the policies below as long as they use it, then the policy itself while
//! a session uses it.

use super::{MIN_SWEEP_MS, ORPHANS, OverrideHostPolicy};
use crate::endpoint::Address;
use crate::log::LogEvent;
use crate::override_host::entry::{HeldSubchannel, HostEntry};
use crate::policy::{PolicyCx, PolicyEvent, Reports};
use crate::runtime::{Connectivity, Handle};

impl OverrideHostPolicy {
    /// Handles a subchannel that the policies below have created.
    pub(super) fn on_created(&mut self, handle: Handle, cx: &mut PolicyCx<'_>) {
        let Some(index) = self.find(&handle.address.socket) else {
            return;
        };
        cx.runtime.say(&self.at, || LogEvent::SubchannelCreated {
            address: handle.address.text.clone(),
        });
        let watch = cx.runtime.watch(&handle, &self.at);
        if let Some(entry) = self.entries.get_mut(index) {
            self.lists.insert(handle.id, entry.endpoint.clone());
            (entry.state, _) = cx.runtime.pool.state_of(handle.subchannel);
        }
        self.connect(index, HeldSubchannel::Child { handle, watch }, cx);
    }

    /// Handles a subchannel that the policies below have released.
    pub(super) fn on_released(&mut self, id: u64, address: &Address, cx: &mut PolicyCx<'_>) {
        self.lists.remove(&id);
        let Some(index) = self.find(&address.socket) else {
            return;
        };
        let Some(entry) = self.entries.get(index) else { return };
        if matches!(&entry.connection, HeldSubchannel::Child { handle, .. } if handle.id == id) {
            // Whether to keep it is decided when the work at hand is done: by then the policies
            // below may have created another one (C-core `SubchannelWrapper::Orphaned`).
            let held = cx.runtime.hold(address, &self.at);
            if self.orphans.is_empty() {
                cx.runtime.timer(0, &self.at, PolicyEvent::Timer(ORPHANS));
            }
            self.orphans.push((id, held));
        }
    }

    /// Keeps the released subchannels that a session uses, and drops the others.
    pub(super) fn decide_orphans(&mut self, cx: &mut PolicyCx<'_>) {
        for (id, held) in std::mem::take(&mut self.orphans) {
            let index = self.find(&held.address.socket);
            let entry = index.and_then(|index| self.entries.get(index));
            let is_orphan = |entry: &HostEntry| matches!(&entry.connection, HeldSubchannel::Child { handle, .. } if handle.id == id);
            let (Some(index), Some(entry)) = (index, entry.filter(|entry| is_orphan(entry))) else {
                cx.runtime.pool.unwatch(held.subchannel, held.id);
                continue;
            };
            let threshold = cx.runtime.now - self.idle_timeout;
            let is_in_use = entry.last_used.is_some_and(|used| used >= threshold);
            cx.runtime.say(&self.at, || {
                let sub = held.address.text.clone();
                match is_in_use {
                    true => LogEvent::SubchannelKept { sub },
                    false => LogEvent::SubchannelReleased { sub },
                }
            });
            if is_in_use {
                self.connect(index, HeldSubchannel::Owned(held), cx);
            } else {
                cx.runtime.pool.unwatch(held.subchannel, held.id);
                self.connect(index, HeldSubchannel::None, cx);
            }
        }
    }

    /// Sets the timer to the moment when the first entry in use may have become idle.
    pub(super) fn set_timer(&mut self, cx: &mut PolicyCx<'_>) {
        let now = cx.runtime.now;
        let threshold = now - self.idle_timeout;
        // Most clusters have no sessions, so their entries need no look.
        let entries = if self.is_used { self.entries.as_slice() } else { &[] };
        let next = entries
            .iter()
            .filter_map(|entry| entry.last_used)
            .filter(|used| *used > threshold)
            .map(|used| used + self.idle_timeout - now)
            .fold(self.idle_timeout, i64::min);
        let duration = next.max(MIN_SWEEP_MS);
        cx.runtime.say(&self.at, || LogEvent::SweepPlanned {
            duration: format!("{duration}ms"),
        });
        if self.timer.is_some() {
            cx.runtime.say(&self.at, || LogEvent::SweepCancelled {});
        }
        cx.runtime.cancel(&mut self.timer);
        self.timer = Some(cx.runtime.timer(duration, &self.at, PolicyEvent::Timer(0)));
    }

    /// Releases connections that were kept for sessions and that no session has used recently.
    pub(super) fn sweep(&mut self, cx: &mut PolicyCx<'_>) {
        self.timer = None;
        cx.runtime.say(&self.at, || LogEvent::Swept {});
        if self.entries.is_empty() {
            return;
        }
        let threshold = cx.runtime.now - self.idle_timeout;
        let is_recent = |entry: &HostEntry| entry.last_used.is_some_and(|used| used > threshold);
        self.is_used = self.is_used && self.entries.iter().any(is_recent);
        for index in 0..self.entries.len() {
            let Some(entry) = self.entries.get(index) else { break };
            let is_idle = entry.last_used.is_none_or(|used| used <= threshold);
            if is_idle && matches!(entry.connection, HeldSubchannel::Owned(_)) {
                let address = &entry.address.text;
                cx.runtime.say(&self.at, || LogEvent::OwnedDropped {
                    address: address.clone(),
                });
                self.connect(index, HeldSubchannel::None, cx);
            }
        }
        self.set_timer(cx);
    }

    /// Reports the child's state again, which gives a new picker.
    fn renew(&self) -> Reports {
        self.child.last().cloned().into_iter().collect()
    }

    /// Creates a connection to the address in a cookie.
    pub(super) fn create_owned(&mut self, address: &str, cx: &mut PolicyCx<'_>) -> Reports {
        let Some(index) = self.find_text(address) else {
            return Reports::new();
        };
        match self.entries.get(index) {
            Some(entry) if !matches!(entry.connection, HeldSubchannel::Owned(_)) => {
                let address = &entry.address.text;
                cx.runtime.say(&self.at, || LogEvent::OwnedCreated {
                    address: address.clone(),
                });
                let owned = cx.runtime.hold(&entry.address, &self.at);
                self.connect(index, HeldSubchannel::Owned(owned), cx);
                self.renew()
            }
            _ => Reports::new(),
        }
    }

    /// Handles the new state of a connection.
    pub(super) fn on_state(&mut self, watch: u64, state: Connectivity) -> Reports {
        let index = self.watches.get(&watch).and_then(|address| self.find(address));
        let Some(entry) = index.and_then(|index| self.entries.get_mut(index)) else {
            return Reports::new();
        };
        let changed = std::mem::replace(&mut entry.state, state) != state;
        let is_owned = matches!(&entry.connection, HeldSubchannel::Owned(handle) if handle.id == watch);
        if changed && is_owned {
            self.renew()
        } else {
            Reports::new()
        }
    }
}
