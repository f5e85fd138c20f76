//! The pick of an RPC whose cookie names hosts: the RPC goes to the first host that is connected,
//! or waits for one.

use std::fmt;
use std::sync::Arc;

use super::OverrideHostPolicy;
use crate::endpoint::Endpoint;
use crate::log::LogEvent;
use crate::override_host::entry::HeldSubchannel;
use crate::picker::{Complete, Pick, PickCx, StepKind};
use crate::policy::PolicyEvent;
use crate::runtime::Connectivity;
use xdsctl_model::resource::cluster::HealthStatus;

impl OverrideHostPolicy {
    /// Says why there is no entry for an address of a cookie.
    fn say_missing(&self, address: &str, cx: &mut PickCx<'_>) {
        let has = |endpoint: &&Arc<Endpoint>| endpoint.addresses.iter().any(|one| *one.text == *address);
        let (endpoints, _) = &self.taken;
        match endpoints.iter().filter(|endpoint| !self.takes(endpoint)).find(has) {
            Some(endpoint) => self.say_health(address, endpoint.health, cx),
            None => say_unusable(address, format_args!("is not an address of the cluster"), cx),
        }
    }

    /// Says that the health status of an address in a cookie is not in `override_host_status`.
    fn say_health(&self, address: &str, health: HealthStatus, cx: &mut PickCx<'_>) {
        if cx.trace.is_some() {
            let (health, statuses) = (health.name(), self.status_names());
            let what = format_args!("is {health}, which override_host_status {statuses} lacks");
            say_unusable(address, what, cx);
        }
    }

    /// Returns the health statuses for which sessions apply, as `{UNKNOWN, HEALTHY}`.
    pub(super) fn status_names(&self) -> String {
        let names: Vec<&str> = self.statuses.iter().map(|status| status.name()).collect();
        format!("{{{}}}", names.join(", "))
    }

    /// Returns the pick that the cookie decides. `None` leaves it to the child.
    pub(super) fn pick_session(&mut self, hosts: &str, now: i64, cx: &mut PickCx<'_>) -> Option<Pick> {
        let mut without_connection = None;
        let mut idle = None;
        let mut is_connecting = false;
        for address in hosts.split(',') {
            let found = self.find_text(address);
            let Some(entry) = found.and_then(|index| self.entries.get_mut(index)) else {
                self.say_missing(address, cx);
                continue;
            };
            let health = entry.endpoint.health;
            if !self.statuses.contains(&health) {
                self.say_health(address, health, cx);
                cx.tell(|rpc| LogEvent::SessionBadHealth {
                    rpc,
                    address: address.to_owned(),
                    health,
                });
                continue;
            }
            let handle = match &entry.connection {
                HeldSubchannel::None => {
                    say_unusable(address, format_args!("has no connection"), cx);
                    cx.tell(|rpc| LogEvent::SessionWithoutConnection {
                        rpc,
                        address: address.to_owned(),
                    });
                    without_connection.get_or_insert(address);
                    continue;
                }
                HeldSubchannel::Child { handle, .. } | HeldSubchannel::Owned(handle) => handle,
            };
            let state = entry.state;
            let is_ready = state == Connectivity::Ready;
            cx.step(
                StepKind::CookieHost { is_ready },
                format_args!("cookie host {address} is {state}"),
            );
            match state {
                Connectivity::Ready => {
                    entry.last_used = Some(now);
                    self.is_used = true;
                    cx.tell(|rpc| LogEvent::SessionReady {
                        rpc,
                        address: address.to_owned(),
                    });
                    let mut complete = Complete::new(handle.id, handle.subchannel, &entry.address);
                    complete.actual_hosts = Some(entry.list());
                    return Some(Pick::Complete(complete));
                }
                Connectivity::Idle => {
                    idle.get_or_insert(handle.subchannel);
                }
                Connectivity::Connecting => is_connecting = true,
                Connectivity::TransientFailure => {}
            }
        }
        if let Some(subchannel) = idle {
            cx.after
                .push((self.at.clone(), PolicyEvent::Connect(u64::from(subchannel))));
            cx.tell(|rpc| LogEvent::SessionIdle { rpc });
            return Some(Pick::Queue);
        }
        if is_connecting {
            cx.tell(|rpc| LogEvent::SessionConnecting { rpc });
            return Some(Pick::Queue);
        }
        let address = without_connection?;
        cx.after
            .push((self.at.clone(), PolicyEvent::CreateSubchannel(address.into())));
        cx.tell(|rpc| LogEvent::SessionCreates {
            rpc,
            address: address.to_owned(),
        });
        Some(Pick::Queue)
    }
}

/// Says why an address in a cookie does not get the RPC.
fn say_unusable(address: &str, what: fmt::Arguments<'_>, cx: &mut PickCx<'_>) {
    let kind = StepKind::CookieHost { is_ready: false };
    cx.step(kind, format_args!("cookie host {address} {what}"));
}
