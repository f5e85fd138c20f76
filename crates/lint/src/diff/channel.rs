//! Restricts two states to the resources that one channel uses.
//!
//! These are its Listener, the RouteConfiguration that the Listener names, the clusters to which
//! the routes of its virtual host lead, and their endpoints. A resource that the channel uses on
//! one side is kept on both: if only the routes lead elsewhere, the resource itself has not
//! changed.

use std::collections::BTreeSet;

use super::reach::{below, destinations};
use super::routes_of;
use xdsctl_channel::client::target::Target;
use xdsctl_channel::client::{Client, HeldResource};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::cluster::Discovery;
use xdsctl_model::resource::domain::{DomainComparison, best_match_by};
use xdsctl_model::resource::route::VirtualHost;
use xdsctl_model::resource::{ResourceType, RouteConfiguration};

/// The resources that a channel asks for, by type and by the key of their name.
#[derive(Debug, Default)]
struct Wanted {
    names: BTreeSet<(ResourceType, String)>,
    /// Whether a plugin chooses clusters, so that any cluster can be meant.
    any_cluster: bool,
}

/// Removes from two clients all resources that a channel to `target` asks for in neither state;
/// `false` if neither has its Listener.
pub fn narrow(before: &mut Client, after: &mut Client, target: &Target) -> bool {
    let mut wanted = Wanted::default();
    wanted.add(before, target);
    wanted.add(after, target);
    let has_listener = |client: &Client| client.resources.contains(ResourceType::Listener, &target.listener);
    let is_there = has_listener(before) || has_listener(after);
    for client in [before, after] {
        client
            .resources
            .retain(|resource_type, key| wanted.has(resource_type, key));
    }
    is_there
}

/// Returns the authority by which a client finds the virtual host of the channel.
pub(super) fn authority<'t>(client: &Client, target: &'t Target) -> &'t str {
    match client.profile.has(Feature::HostByListener) {
        true => &target.listener,
        false => &target.authority,
    }
}

/// Finds the virtual host of the channel.
pub(super) fn host<'r>(client: &Client, routes: &'r RouteConfiguration, target: &Target) -> Option<&'r VirtualHost> {
    let comparison = DomainComparison::of(|feature| client.profile.has(feature));
    let domains = routes.virtual_hosts.iter().map(|host| &host.domains);
    let found = best_match_by(domains, authority(client, target), comparison)?;
    routes.virtual_hosts.get(found.host)
}

impl Wanted {
    fn has(&self, resource_type: ResourceType, key: &str) -> bool {
        let is_cluster = matches!(resource_type, ResourceType::Cluster | ResourceType::Endpoints);
        self.any_cluster && is_cluster || self.names.contains(&(resource_type, key.to_owned()))
    }

    /// Adds the resources that the channel asks for in one state.
    fn add(&mut self, client: &Client, target: &Target) {
        let resources = &client.resources;
        let listener = resources.listeners.key(&target.listener);
        self.names.insert((ResourceType::Listener, listener.into_owned()));
        let held = resources.listeners.get(&target.listener);
        let listener = held.and_then(HeldResource::value);
        if let Some(name) = listener.and_then(|listener| listener.api()?.routes.rds()) {
            let key = resources.route_configs.key(name).into_owned();
            self.names.insert((ResourceType::RouteConfiguration, key));
        }
        let Some((_, routes, _)) = routes_of(client, &target.listener) else {
            return;
        };
        let mut open = Vec::new();
        self.any_cluster |= !destinations(host(client, &routes, target), &mut open);
        for key in below(client, open) {
            let cluster = resources.clusters.get(&key).and_then(HeldResource::value);
            if let Some(Discovery::Eds { service_name }) = cluster.map(|cluster| &cluster.discovery) {
                let name = resources.endpoints.key(service_name.as_ref().unwrap_or(&key));
                self.names.insert((ResourceType::Endpoints, name.into_owned()));
            }
            self.names.insert((ResourceType::Cluster, key));
        }
    }
}
