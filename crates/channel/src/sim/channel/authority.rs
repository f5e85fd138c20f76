//! The authority of an attempt (A81).
//!
//! A route's auto_host_rewrite replaces the authority by the hostname of the endpoint, unless the
//! application has set one for the RPC. Follows C-core xds_cluster_impl.cc and
//! `MaybeOverrideAuthority` (lb_metadata.cc), which ask no switch.

use std::sync::Arc;

use super::Channel;
use xdsctl_lb::picker::{Complete, StepKind, TraceStep};
use xdsctl_model::resource::route::RouteAction;

impl Channel {
    /// Notes the authority of an attempt, and traces where it comes from.
    pub(super) fn note_authority(&mut self, id: u64, complete: &Complete) {
        let Some(call) = self.calls.get_mut(&id) else { return };
        let routes = self.selector.as_ref().map_or(&[][..], |selector| selector.routes());
        let position = call.selected.as_ref().map(|selected| selected.position);
        let action = position.and_then(|position| routes.get(position)?.route_action());
        let own = call.rpc.headers.iter().find(|(key, _)| key == ":authority");
        let own: Option<Arc<str>> = own.map(|(_, value)| value.as_str().into());
        let is_rewritten = action.is_some_and(|action| action.auto_host_rewrite);
        let hostname = match is_rewritten && own.is_none() {
            true => self
                .runtime
                .pool
                .get(complete.subchannel)
                .map(|found| &found.address.scope.hostname),
            false => None,
        };
        let hostname: Option<Arc<str>> = hostname.filter(|name| !name.is_empty()).map(|name| Arc::from(&**name));
        let why = why(action, own.is_some(), hostname.is_some());
        let authority = hostname.or(own).unwrap_or_else(|| self.authority.clone());
        if call.is_traced {
            let kind = StepKind::Authority;
            let text = format!("`{authority}`, {why}");
            call.trace.push(TraceStep { kind, text }, &mut self.trace_steps_left);
        }
        call.authority = Some(authority);
    }
}

/// Says where the authority comes from.
fn why(action: Option<&RouteAction>, is_own: bool, has_hostname: bool) -> &'static str {
    let (is_rewritten, is_untrusted) = action.map_or((false, false), |action| {
        (action.auto_host_rewrite, action.untrusted_host_rewrite)
    });
    match (is_rewritten, is_untrusted) {
        (true, _) if is_own => "which the application has set for this RPC: it is not rewritten",
        (true, _) if has_hostname => {
            "the endpoint's hostname (auto_host_rewrite, which leaves the SNI of TLS as it is)"
        }
        (true, _) => "the channel's: the endpoint has no hostname that auto_host_rewrite could put there",
        (false, _) if is_own => "which the application has set for this RPC",
        (false, true) => "the channel's: auto_host_rewrite counts only from a `trusted_xds_server`",
        (false, false) => "the channel's",
    }
}
