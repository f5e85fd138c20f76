//! What can be seen of a channel, and changed around it.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;

use super::Channel;
use crate::client::config::XdsConfig;
use crate::client::{Client, Edits, EndpointChange, Updated};
use crate::rpc::{self, Draws, Request, Selector};
use crate::sim::script::Scale;
use crate::sim::{Lookups, Network, Rpc};
use xdsctl_lb::run::child::Child;
use xdsctl_lb::runtime::{Connectivity, Runtime, Time};
use xdsctl_model::profile::Profile;

impl Channel {
    /// Restarts the random numbers, so that RPCs which prepared the channel shift no draw.
    pub fn restart_draws(&mut self) {
        self.draws = Draws::new(self.options.seed);
    }

    /// Milliseconds since the channel was made.
    pub const fn now(&self) -> Time {
        self.runtime.now
    }

    /// The client, to change what the control plane says; call [`Channel::resolve`] after a change.
    pub const fn client_mut(&mut self) -> &mut Client {
        &mut self.client
    }

    /// Applies EDS updates that change endpoints; call [`Channel::resolve`] afterwards. Returns
    /// what the client makes of them, and which addresses no EDS resource of the channel has.
    /// `edits` has what clients of other channels made of the same changes.
    pub fn change_endpoints(&mut self, changes: &[EndpointChange], edits: &mut Edits) -> (Updated, Vec<SocketAddr>) {
        self.client.change_endpoints(&self.start, changes, edits)
    }

    /// Applies an EDS update with more or fewer endpoints; call [`Channel::resolve`] afterwards.
    ///
    /// # Errors
    /// Why the update is impossible.
    pub fn scale(&mut self, scale: &Scale, updated: &mut Updated) -> Result<(), String> {
        self.client
            .scale_endpoints(&self.start, &scale.name, scale.count, updated)
    }

    /// The network, to change it. A change counts from the next attempt to connect or call.
    pub const fn network_mut(&mut self) -> &mut Network {
        &mut self.network
    }

    /// Sets what lookup services (RLS) answer from now on.
    pub fn set_lookups(&mut self, lookups: Lookups) {
        self.client.lookup_targets.extend(lookups.targets().map(str::to_owned));
        self.network.lookups = lookups;
    }

    /// The addresses of the channel's endpoints, of the clusters to which lookups (RLS) may lead
    /// now or later, and of lookup services that are named by an address.
    pub fn addresses(&self, lookup_targets: &BTreeSet<String>) -> Vec<SocketAddr> {
        let all = lookup_targets | &self.client.lookup_targets;
        let config = self.client.resolve_also(&self.start, &all);
        let of = |config| XdsConfig::addresses(config).chain(config.lookup_services());
        config.iter().flat_map(of).collect()
    }

    /// The configuration in use.
    pub fn config(&self) -> Option<&Arc<XdsConfig>> {
        self.view.config.as_ref()
    }

    /// The client's version and switches.
    pub const fn profile(&self) -> &Profile {
        &self.client.profile
    }

    /// The routes of the channel. For an idle channel, those that its next RPC will find; `None`
    /// without a configuration.
    pub fn selector(&self) -> Option<Arc<Selector>> {
        if self.selector.is_some() || !self.is_idle() {
            return self.selector.clone();
        }
        let config = self.client.resolve(&self.start).ok()?;
        Some(Arc::new(Selector::new(Arc::new(config))))
    }

    /// The addresses that DNS answers.
    pub fn dns_addresses(&self) -> impl Iterator<Item = SocketAddr> + '_ {
        self.client.dns.values().flatten().flatten().copied()
    }

    /// The cookie, `NAME=VALUE`, of a session with the endpoint of this address, for an RPC like
    /// this one; `None` without an active session filter or without a route. An address that no
    /// endpoint has stands for an endpoint that is gone.
    pub fn session_cookie(&self, rpc: &Rpc, address: &SocketAddr) -> Option<String> {
        let request = Request {
            path: &rpc.method,
            headers: &rpc.headers,
            timeout: None,
        };
        let selector = self.selector()?;
        let forged = rpc::session_cookie(&selector, &request, 0, address);
        forged.ok().map(|forged| forged.cookie)
    }

    /// The LB policies at the root.
    pub const fn root(&self) -> &Child {
        &self.root
    }

    /// What the LB policies run on: time, connections and timers.
    pub const fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Closes every connection to an address.
    pub fn disconnect(&mut self, address: &SocketAddr) {
        for subchannel in self.connections(address) {
            self.runtime.lost(subchannel);
        }
    }

    /// Puts the connections to an address into a state; `false` if no policy has a connection to
    /// it.
    pub fn force(&mut self, address: &SocketAddr, state: Connectivity) -> bool {
        let all = self.connections(address);
        for subchannel in &all {
            let failure = self
                .runtime
                .pool
                .get(*subchannel)
                .map(|s| Network::refusal(&s.address, &self.client.profile));
            let status = failure.filter(|_| state == Connectivity::TransientFailure);
            self.runtime.force(*subchannel, state, status);
        }
        !all.is_empty()
    }

    /// The subchannels to an address: connections, and wishes for one.
    pub(super) fn connections(&self, address: &SocketAddr) -> Vec<u32> {
        self.runtime.pool.at(address).collect()
    }
}
