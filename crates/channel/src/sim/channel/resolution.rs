//! The rate of resolutions in grpc-js. An RPC that meets an idle channel asks for a resolution.
//! That has no result, because the xDS client reports changes by itself. When the next resolution
//! may be asked for, the waiting RPCs get the picker once more (resolving-load-balancer.ts
//! `exitIdle`, `backoffTimeout`).

use super::Channel;
use xdsctl_lb::policy::Reports;
use xdsctl_lb::runtime::{Connectivity, Event, TimerId};
use xdsctl_model::profile::Feature;

/// The first wait before another resolution may be asked for. Each wait is longer than the last,
/// until there is a new configuration.
const FIRST_MS: i64 = 1000;
const LONGEST_MS: i64 = 120_000;

/// When resolutions may be asked for.
#[derive(Debug)]
pub(super) struct ResolutionRate {
    /// Whether the picker is that of an idle channel.
    is_idle: bool,
    /// Whether an RPC has met this picker.
    is_met: bool,
    timer: Option<TimerId>,
    next_ms: i64,
}

impl Default for ResolutionRate {
    fn default() -> ResolutionRate {
        ResolutionRate {
            is_idle: false,
            is_met: false,
            timer: None,
            next_ms: FIRST_MS,
        }
    }
}

impl Channel {
    /// Starts again with the first wait, because there is a new configuration.
    pub(super) fn restart_resolutions(&mut self) {
        self.runtime.cancel(&mut self.resolutions.timer);
        self.resolutions.next_ms = FIRST_MS;
    }

    /// Notes a new picker.
    pub(super) fn note_idle(&mut self, reports: &Reports) {
        if let Some(last) = reports.last() {
            self.resolutions.is_idle = last.state == Connectivity::Idle;
            self.resolutions.is_met = false;
        }
    }

    /// Notes that an RPC has met the picker, and begins a wait if that asks for a resolution.
    pub(super) fn leave_idle(&mut self) {
        let is_first = !std::mem::replace(&mut self.resolutions.is_met, true);
        let is_asked = is_first && self.resolutions.is_idle && self.resolutions.timer.is_none();
        if is_asked && self.client.profile.has(Feature::ConnectionsPooled) {
            let ms = self.resolutions.next_ms;
            self.resolutions.next_ms = (ms * 8 / 5).min(LONGEST_MS);
            self.resolutions.timer = Some(self.runtime.schedule(ms, Event::PickAgain));
        }
    }

    /// Gives the picker to the waiting RPCs, because the next resolution may be asked for.
    pub(super) fn pick_again(&mut self) {
        self.resolutions.timer = None;
        self.resolutions.is_met = false;
        self.pick_queued();
    }
}
