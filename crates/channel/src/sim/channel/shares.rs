//! Where RPCs should go, by the configuration and the current connections: shares instead of draws.

use std::collections::BTreeMap;

use super::Channel;
use crate::rpc::{self, ChannelFacts, Purpose, Request, Selector, override_addresses};
use crate::sim::Rpc;
use xdsctl_lb::metadata::Metadata;
use xdsctl_lb::picker::{PickArgs, PickShares};
use xdsctl_model::resource::Millis;

impl Channel {
    /// The share of RPCs like this one that each backend or failure should get, with the
    /// connections as they are now.
    pub fn expected(&self, rpc: &Rpc) -> BTreeMap<String, f64> {
        let mut shares = PickShares::default();
        let Some(selector) = &self.selector else {
            return shares.0;
        };
        let request = Request {
            path: &rpc.method,
            headers: &rpc.headers,
            timeout: rpc.timeout_ms.map(Millis),
        };
        let mut rest = 1.0;
        for number in selector.candidates(&request) {
            let Some(route) = selector.routes().get(number) else {
                break;
            };
            let fraction = route
                .fraction_per_million
                .map_or(1.0, |n| (f64::from(n) / 1e6).min(1.0));
            let taken = rest * fraction;
            rest -= taken;
            let total: u64 = selector.choices(number).map(|(_, weight)| weight).sum();
            let mut start = 0;
            for (_, weight) in selector.choices(number) {
                let share = taken * weight as f64 / total.max(1) as f64;
                self.share_of(selector, &request, (number, start), share, &mut shares);
                start += weight;
            }
            if total == 0 {
                shares.add_status(
                    &rpc::Refusal::InappropriateAction(number).status(selector.config().asked, &rpc.method),
                    taken,
                );
            }
        }
        shares.add_status(
            &rpc::Refusal::NoRoute.status(selector.config().asked, &rpc.method),
            rest,
        );
        shares.0
    }

    /// Adds the share of one cluster of one route.
    fn share_of(
        &self,
        selector: &Selector,
        request: &Request<'_>,
        (route, cluster_draw): (usize, u64),
        share: f64,
        shares: &mut PickShares,
    ) {
        let channel = ChannelFacts {
            id: self.draws.channel_id(),
            active_faults: 0,
        };
        let select_with = |fault: bool| {
            selector.select_at(route, request, channel, &mut |purpose, bound| match purpose {
                Purpose::ClusterWeight => cluster_draw,
                Purpose::FaultDelay | Purpose::FaultAbort if !fault => bound.saturating_sub(1),
                Purpose::RouteFraction | Purpose::RequestHash | Purpose::FaultDelay | Purpose::FaultAbort => 0,
            })
        };
        let (Ok(with), Ok(without)) = (select_with(true), select_with(false)) else {
            return;
        };
        let mut rest = share;
        match (&with.fault.abort, &without.fault.abort) {
            (Some(_), Some(status)) => return shares.add_status(status, share),
            (Some(status), None) => {
                let aborted = share * with.fault.abort_share;
                shares.add_status(status, aborted);
                rest -= aborted;
            }
            (None, _) => {}
        }
        let hosts = override_addresses(&without.sessions);
        let args = PickArgs {
            cluster_key: without.key,
            request_hash: (!without.hash_is_random).then_some(without.hash),
            session: hosts,
            metadata: Metadata {
                path: request.path,
                authority: &selector.config().authority,
                headers: request.headers,
                timeout: request.timeout,
            },
            now: self.runtime.now,
        };
        self.root.shares(&args, rest, shares);
    }
}
