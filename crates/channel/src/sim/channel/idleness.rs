//! A channel without an RPC for a while goes idle: it drops its policies, its connections and all
//! its watches. The next RPC starts it anew, with what the control plane says then.
//!
//! Follows C-core idle_filter_state.cc and legacy_channel_idle_filter.cc, grpc-go
//! internal/idle/idle.go, grpc-java ManagedChannelImpl.java `enterIdleMode`, grpc-js
//! internal-channel.ts `enterIdle`.

use super::{Channel, ChannelOptions, ConfigView, Watched};
use xdsctl_lb::log::LogEvent;
use xdsctl_lb::policy::PolicyCx;
use xdsctl_lb::runtime::{Connectivity, NOWHERE, Time};
use xdsctl_model::profile::{Family, Feature, Profile};

/// How long a channel stays in use without an RPC, unless
/// [`ChannelOptions::idle_timeout_ms`](super::ChannelOptions) says otherwise. It is the default of
/// every family that has such a timeout.
const IDLE_TIMEOUT_MS: i64 = 30 * 60 * 1000;

/// The shortest timeout that grpc-java and grpc-js accept.
const LEAST_MS: i64 = 1000;

/// Whether a channel is idle, and when it will be.
#[derive(Debug)]
pub(super) struct Idleness {
    /// The idle timeout; `None` if the channel never goes idle.
    timeout_ms: Option<i64>,
    /// When C-core began to look, at the end of the first RPC. It looks once in each timeout
    /// whether there was an RPC since the last look. Its channel goes idle at most once in its
    /// life, because its filter takes what makes the channel idle for the channel's end.
    looks_since: Option<Time>,
    /// When the channel goes idle if no RPC begins.
    at: Option<Time>,
    /// Since when the channel is idle.
    since: Option<Time>,
    /// When the channel last ended its idleness; `None` if it has not been idle since its first
    /// RPC.
    woke: Option<Time>,
}

impl Idleness {
    /// The state at time 0, with the application's settings. A channel of tonic-xds connects at
    /// once.
    pub fn new(options: &ChannelOptions, profile: &Profile) -> Idleness {
        let timeout_ms = timeout_of(options.idle_timeout_ms, profile);
        let is_idle = options.starts_idle && profile.client().family != Family::Rust;
        Idleness {
            timeout_ms,
            looks_since: None,
            at: timeout_ms.filter(|_| !is_idle),
            since: is_idle.then_some(0),
            woke: None,
        }
    }

    /// Notes that the last RPC has ended.
    fn rest(&mut self, now: Time, is_core: bool) {
        let Some(timeout_ms) = self.timeout_ms else { return };
        let looks_since = *self.looks_since.get_or_insert(now);
        let until_next_look = timeout_ms - (now - looks_since) % timeout_ms;
        let wait = match is_core && now > looks_since {
            true => until_next_look + timeout_ms,
            false => timeout_ms,
        };
        self.at = now.checked_add(wait);
    }
}

impl Channel {
    /// When the channel goes idle; `None` while there are RPCs.
    pub(super) fn idle_at(&self) -> Option<Time> {
        self.idleness.at.filter(|_| self.calls.is_empty() && !self.is_idle())
    }

    /// Says whether the channel is idle, because there was no RPC for a while.
    pub const fn is_idle(&self) -> bool {
        self.idleness.since.is_some()
    }

    /// Notes that an RPC has ended. `used` says whether it has used the channel: grpc-java does not
    /// count RPCs that a filter or the picker ends at once (ManagedChannelImpl.java
    /// `inUseStateAggregator`).
    pub(super) fn rest(&mut self, used: bool) {
        let counts = used || self.client.profile.client().family != Family::Java;
        if self.calls.is_empty() && counts {
            self.idleness.rest(self.runtime.now, self.client.profile.is_core());
        }
    }

    /// Makes the channel idle: it drops its policies, connections and watches.
    pub(super) fn go_idle(&mut self) {
        self.idleness.at = None;
        if self.is_dead || self.runtime.endless.is_some() {
            return;
        }
        self.idleness.since = Some(self.runtime.now);
        if self.client.profile.is_core() && self.idleness.looks_since.is_some() {
            self.idleness.timeout_ms = None;
        }
        self.told_state = Some(Connectivity::Idle);
        self.runtime.say(&NOWHERE, || LogEvent::ChannelState {
            state: Connectivity::Idle,
            why: Some("there was no RPC for a while".to_owned()),
        });
        let mut cx = PolicyCx {
            runtime: &mut self.runtime,
            clusters: &self.view,
        };
        self.root.shutdown(&mut cx);
        self.view = ConfigView::new(self.client.profile.clone());
        self.watch(Watched::default());
        self.asked.clear();
        self.kept_children.clear();
        if self.client.profile.client().family != Family::Node {
            self.selector = None;
        }
        (self.lb_config, self.routes, self.route_failure) = (None, None, None);
        (self.taken, self.broken, self.refusal, self.is_resolved) = (None, None, None, false);
        self.restart_resolutions();
        self.runtime.end_event();
    }

    /// Ends the idleness of the channel, because an RPC has come. Returns since when the channel
    /// was idle, if it was.
    pub(super) fn wake(&mut self) -> Option<Time> {
        let since = self.idleness.since.take()?;
        self.idleness.woke = (since > 0).then_some(self.runtime.now);
        Some(since)
    }

    /// Says whether the client waits without end for a resource, if the wait began at `since`.
    /// grpc-js starts the timer of a resource when its connection to the control plane is made, and
    /// an idle channel has ended the stream, not the connection (xds-client.ts
    /// `markStreamStarted`).
    pub(super) fn waits_untimed(&self, since: Time) -> bool {
        let is_node = self.client.profile.client().family == Family::Node;
        is_node && self.idleness.woke.is_some_and(|woke| since >= woke)
    }
}

/// The timeout that the application set, or the default of a client that has one; `None` for never.
fn timeout_of(said_ms: Option<i64>, profile: &Profile) -> Option<i64> {
    let least = match profile.client().family {
        Family::Java | Family::Node => LEAST_MS,
        _ => 1,
    };
    let timeout_ms = said_ms.unwrap_or(IDLE_TIMEOUT_MS);
    let is_ever = profile.has(Feature::ChannelGoesIdle) && timeout_ms > 0;
    is_ever.then(|| timeout_ms.max(least))
}
