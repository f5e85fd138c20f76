//! What the policies want from outside: connections, lookups (RLS), out-of-band load reports and
//! other clusters.

use super::Channel;
use crate::sim::network::{ANSWER_MS, CONNECT_JITTER_MS, REFUSAL_MS, Reachability};
use xdsctl_lb::log::LogEvent;
use xdsctl_lb::policy::PolicyEvent;
use xdsctl_lb::runtime::{ATTEMPT_TIMEOUT_MS, Event, NOWHERE};

impl Channel {
    /// Begins what policies have asked for since the last event.
    pub(super) fn turn_outside(&mut self) {
        for lookup in std::mem::take(&mut self.runtime.lookups) {
            let (delay, result) = self.network.look_up(&lookup);
            let number = lookup.number;
            self.runtime
                .timer(delay, &lookup.at, PolicyEvent::LookedUp { number, result });
        }
        for (subchannel, serial) in self.runtime.take_load_starts() {
            self.runtime
                .schedule(ANSWER_MS, Event::LoadReport { subchannel, serial });
        }
        if self.view.wants_others() {
            self.runtime.schedule(0, Event::Resolve);
        }
        for subchannel in self.runtime.take_attempts() {
            let Some(found) = self.runtime.pool.get(subchannel) else {
                continue;
            };
            let generation = found.generation;
            let least = match self.network.reach(&found.address.socket) {
                Reachability::Accepts => Some(self.network.connect_ms(&found.address.socket)),
                Reachability::Refuses => Some(REFUSAL_MS),
                Reachability::Hangs => None,
            };
            let delay = match least {
                // It is less than the jitter, so it fits.
                Some(least) => least + self.connect_time.below(CONNECT_JITTER_MS) as i64,
                None => ATTEMPT_TIMEOUT_MS,
            };
            self.runtime
                .schedule(delay, Event::ConnectOver { subchannel, generation });
        }
    }

    /// Sends a backend's load report to the policies that want it, and schedules the next one. A
    /// backend without this service ends the stream, and the client does not ask again on this
    /// connection.
    pub(super) fn report_load(&mut self, subchannel: u32, serial: u64) {
        let Some(found) = self.runtime.pool.get(subchannel) else {
            return;
        };
        if !self.runtime.pool.is_ready(subchannel) {
            return;
        }
        let address = found.address.clone();
        let stream = self.runtime.load.stream(&address, serial);
        let shortest = self.network.backend(&address.socket).reports.out_of_band;
        let (Some((period, watchers)), Some(shortest)) = (stream, shortest) else {
            return;
        };
        if let Some(report) = self.network.load.get(&*address.text) {
            self.runtime.say(&NOWHERE, || LogEvent::LoadReported {
                address: address.text.clone(),
                period_ms: period.max(shortest),
            });
            for (at, endpoint) in watchers {
                let report = report.clone();
                self.runtime.timer(0, &at, PolicyEvent::Load { endpoint, report });
            }
        }
        let delay = period.max(shortest).max(1);
        self.runtime.schedule(delay, Event::LoadReport { subchannel, serial });
    }
}
