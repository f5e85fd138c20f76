//! The events of a timeline, layer by layer: what each is called, and what is said about it.

use std::sync::Arc;

use super::{Detail, Details};
use crate::runtime::Connectivity;
use xdsctl_model::resource::cluster::HealthStatus;
use xdsctl_model::status::{Code, Status};

/// Declares the events: layer, name and values of each, in the order in which they are written.
macro_rules! events {
    ($($layer:literal { $(#[doc = $about:literal] $variant:ident $name:literal { $($field:ident: $kind:ty),* })* })*) => {
        /// What can happen in a channel. The text after each name is its name in a timeline.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum LogEvent {
            $($(
                #[doc = $about]
                $variant {
                    $(
                        #[doc = concat!("Written as `", stringify!($field), "`.")]
                        $field: $kind,
                    )*
                },
            )*)*
        }

        impl LogEvent {
            /// Returns the policy, or the part of the client, that the event is about.
            pub const fn layer(&self) -> &'static str {
                match self {
                    $($(LogEvent::$variant { .. } => $layer,)*)*
                }
            }

            /// Returns what happened, such as `failover_timer_start`.
            pub const fn name(&self) -> &'static str {
                match self {
                    $($(LogEvent::$variant { .. } => $name,)*)*
                }
            }

            /// Returns more about the event, in the order in which it is written.
            pub fn details(&self) -> Details {
                let mut details = Details::new();
                match self {
                    $($(LogEvent::$variant { $($field),* } => {
                        $($field.add_to(&mut details, stringify!($field));)*
                    })*)*
                }
                details
            }
        }
    };
}

events! {
    "channel" {
        /// The channel changed its state.
        ChannelState "state" { state: Connectivity, why: Option<String> }
    }
    "config" {
        /// The channel uses a new configuration.
        ConfigTaken "taken" {}
        /// The channel has no configuration.
        ConfigMissing "missing" { why: String }
    }
    "rpc" {
        /// An RPC began; RPCs are numbered from 1.
        RpcBegun "begin" { rpc: i64, method: String }
        /// An RPC ended.
        RpcEnded "end" {
            rpc: i64, code: Code, ms: i64, route: Option<i64>, route_name: Option<Arc<str>>, cluster: Option<Arc<str>>,
            backend: Option<String>, why: Option<String>, attempts: Option<String>, set_cookie: Vec<String>
        }
    }
    "retry" {
        /// An attempt that the server has not seen is repeated.
        RetriedUnseen "transparent" { rpc: i64 }
        /// The next attempt begins after `ms`; without that, there is no other attempt.
        RetryPlanned "retry_in" { rpc: i64, attempt: i64, status: Status, ms: Option<i64> }
        /// The code of the last attempt is not retried.
        RetryNotAllowed "not_retryable" { rpc: i64, attempts: i64, code: Code }
        /// The answer had begun, so there is no further attempt.
        RetryCommitted "committed" { rpc: i64, attempts: i64, code: Code }
        /// All attempts have been made.
        RetriesExhausted "exhausted" { rpc: i64, attempts: i64, code: Code }
        /// The server asks for no further attempt.
        RetryPushedBack "pushback_stops" { rpc: i64, attempts: i64, code: Code }
    }
    "session" {
        /// The endpoint of the cookie has a health status for which sessions do not apply.
        SessionBadHealth "pick_bad_health" { rpc: i64, address: String, health: HealthStatus }
        /// There is no connection to the endpoint of the cookie.
        SessionWithoutConnection "pick_no_subchannel" { rpc: i64, address: String }
        /// The endpoint of the cookie gets the RPC.
        SessionReady "pick_ready" { rpc: i64, address: String }
        /// The RPC waits while an idle connection of the session connects.
        SessionIdle "pick_idle" { rpc: i64 }
        /// The RPC waits for a connection of the session.
        SessionConnecting "pick_connecting" { rpc: i64 }
        /// The RPC waits while a connection is made for the session.
        SessionCreates "pick_creates" { rpc: i64, address: String }
    }
    "connection" {
        /// A policy wants a connection to an address.
        ConnectionMade "made" { cluster: Option<Arc<str>>, address: Arc<str> }
        /// A connection changed its state.
        ConnectionState "state" { cluster: Option<Arc<str>>, address: Arc<str>, state: Connectivity, why: Option<String> }
        /// No policy wants the connection any longer, so it is dropped.
        ConnectionLetGo "let_go" { cluster: Option<Arc<str>>, address: Arc<str> }
    }
    "load" {
        /// A backend reported its load out of band.
        LoadReported "report" { address: Arc<str>, period_ms: i64 }
    }
    "cds" {
        /// A cds policy got a new configuration for its cluster.
        ClusterUpdated "update" { cluster: String }
        /// RPCs to a cluster fail.
        ClusterFailed "fail" { cluster: String, status: Status }
    }
    "priority" {
        /// A child is created, to be tried.
        ChildCreated "child_created" { child: Arc<str> }
        /// A child reported its state.
        ChildState "child_state" { child: Arc<str>, state: Connectivity }
        /// A child gets the RPCs.
        ChildSelected "select" { priority: i64, child: Arc<str>, why: &'static str, deactivate_lower: bool }
        /// A child is no longer wanted, and is kept for this time.
        ChildDeactivated "deactivate" { child: Arc<str>, ms: i64 }
        /// A child is wanted again before its time is over.
        ChildReactivated "reactivate" { child: Arc<str> }
        /// A child that is not wanted has been kept for long enough.
        DeactivationTimerFired "deactivation_timer_fired" { child: Arc<str> }
        /// A child is gone.
        ChildDestroyed "child_destroyed" { child: Arc<str> }
        /// A child has this time to connect.
        FailoverTimerStarted "failover_timer_start" { child: Arc<str>, ms: i64 }
        /// A child has connected, or failed, in time.
        FailoverTimerCancelled "failover_timer_cancel" { child: Arc<str> }
        /// A child has not connected in time.
        FailoverTimerFired "failover_timer_fired" { child: Arc<str> }
    }
    "override_host" {
        /// The policy took its settings from the cluster.
        OverrideHostConfigured "config" { statuses: String, idle_timeout: String }
        /// A draining endpoint is ignored, because sessions do not apply to it.
        DrainingIgnored "draining_ignored" { address: Arc<str> }
        /// An address is new.
        HostAdded "entry_added" { address: Arc<str> }
        /// The health status and the address list of an address are set.
        HostSet "entry_set" { address: Arc<str>, health: HealthStatus, list: Arc<str> }
        /// An address is gone.
        HostRemoved "entry_removed" { address: Arc<str> }
        /// The policies below made a connection.
        SubchannelCreated "subchannel_created" { address: Arc<str> }
        /// A connection that the policies below have released is kept for sessions.
        SubchannelKept "became_owned" { sub: Arc<str> }
        /// A connection that the policies below have released is not kept.
        SubchannelReleased "released" { sub: Arc<str> }
        /// A connection is made for a session.
        OwnedCreated "owned_created" { address: Arc<str> }
        /// A connection that was kept for sessions is idle, and is dropped.
        OwnedDropped "owned_dropped" { address: Arc<str> }
        /// The next sweep comes after this time.
        SweepPlanned "idle_timer_start" { duration: String }
        /// The planned sweep is cancelled.
        SweepCancelled "idle_timer_cancel" {}
        /// Connections that no session uses are looked for.
        Swept "sweep" {}
    }
    "endpoints" {
        /// An endpoint reported its state.
        EndpointState "endpoint_state" { list: i64, index: i64, address: Arc<str>, from: &'static str, state: Connectivity }
    }
    "outlier_detection" {
        /// Outlier detection looks at the endpoints after this time.
        DetectionStarted "timer_start" { ms: i64 }
        /// Outlier detection looks at the endpoints.
        DetectionTick "tick" {}
        /// An endpoint is ejected.
        EndpointEjected "eject" { address: Arc<str>, why: String }
        /// An endpoint is no longer ejected.
        EndpointLetBack "uneject" { address: Arc<str> }
    }
    "weighted_round_robin" {
        /// Weights changed. They are in the order of the READY endpoints of the list.
        WeightsChanged "weights" { weights: String }
    }
    "rls" {
        /// A lookup begins.
        LookupBegun "lookup" { service: String, keys: Arc<str>, reason: &'static str }
        /// A lookup was answered.
        LookupAnswered "answered" { keys: Arc<str>, targets: String }
        /// A lookup failed.
        LookupFailed "lookup_failed" { keys: Arc<str>, status: Status, backoff_ms: i64 }
        /// An answer was evicted to make room for others.
        AnswerEvicted "evicted" { keys: String }
    }
}

/// A value of an event.
trait DetailValue {
    /// Adds the value under its name. `None` adds nothing; a list adds one detail for each element.
    fn add_to(&self, details: &mut Details, name: &'static str);
}

/// Implements [`DetailValue`] for types that become one detail.
macro_rules! values {
    ($($kind:ty: |$value:ident| $detail:expr;)*) => {
        $(
            impl DetailValue for $kind {
                fn add_to(&self, details: &mut Details, name: &'static str) {
                    let $value = self;
                    details.push((name, $detail));
                }
            }
        )*
    };
}

values! {
    i64: |number| Detail::Number(*number);
    bool: |flag| Detail::Flag(*flag);
    &'static str: |text| Detail::Text((*text).into());
    String: |text| Detail::Text(text.as_str().into());
    Arc<str>: |text| Detail::Text(text.clone());
    Connectivity: |state| Detail::Text(state.name().into());
    HealthStatus: |health| Detail::Text(health.name().into());
    Code: |code| Detail::Text(code.name().into());
    Status: |status| Detail::Text(status.to_string().into());
}

impl<T: DetailValue> DetailValue for Option<T> {
    fn add_to(&self, details: &mut Details, name: &'static str) {
        self.iter().for_each(|value| value.add_to(details, name));
    }
}

impl<T: DetailValue> DetailValue for Vec<T> {
    fn add_to(&self, details: &mut Details, name: &'static str) {
        self.iter().for_each(|value| value.add_to(details, name));
    }
}
