//! What can be seen of a channel from outside: states of connections, names of LB policies.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::check::StatePlace;
use xdsctl_channel::client::config::XdsConfig;
use xdsctl_channel::sim::Channel;
use xdsctl_channel::tree::names::ChildNumbers;
use xdsctl_channel::tree::{build, service_config};
use xdsctl_lb::runtime::Connectivity;
use xdsctl_model::resource::LbConfig;
use xdsctl_model::resource::endpoints::Locality;

/// Returns the state of a channel or an address; `None` if there is neither a connection nor the
/// wish for one. If an address has connections for several clusters or localities, it is the best
/// of their states.
pub(super) fn state(place: StatePlace, channel: &Channel) -> Option<Connectivity> {
    match place {
        StatePlace::Channel => channel.root().last().map(|report| report.state),
        StatePlace::Address(address) => {
            let pool = &channel.runtime().pool;
            let best = [
                Connectivity::Ready,
                Connectivity::Connecting,
                Connectivity::Idle,
                Connectivity::TransientFailure,
            ];
            let states = pool.at(&address).filter_map(|number| Some(pool.get(number)?.state));
            states.min_by_key(|state| best.iter().position(|one| one == state))
        }
    }
}

/// Returns the priorities in use by cluster: one for each priority policy of the cluster.
pub(super) fn priorities(channel: &Channel) -> BTreeMap<String, BTreeSet<Option<u64>>> {
    let mut found: BTreeMap<String, BTreeSet<Option<u64>>> = BTreeMap::new();
    channel.root().priorities("", &mut |cluster, priority| {
        let priority = priority.and_then(|priority| u64::try_from(priority).ok());
        found.entry(cluster.to_owned()).or_default().insert(priority);
    });
    found
}

/// Says whether a cluster is in a channel's configuration.
pub(super) fn has_cluster(name: &str, channel: &Channel) -> bool {
    channel
        .config()
        .is_some_and(|config| config.clusters.contains_key(name))
}

/// Returns the localities of a cluster that has endpoints.
pub(super) fn localities<'c>(config: &'c XdsConfig, cluster: &str) -> impl Iterator<Item = &'c Locality> {
    let endpoints = config.leaf(cluster).and_then(|leaf| leaf.endpoints.as_deref());
    endpoints
        .into_iter()
        .flat_map(|endpoints| endpoints.priorities.iter().flatten())
}

/// The LB policies in the configurations of channels. Each configuration is searched once.
#[derive(Debug, Default)]
pub(super) struct Policies {
    by_client: BTreeMap<usize, (Arc<XdsConfig>, BTreeSet<&'static str>)>,
}

impl Policies {
    /// Returns the policies of a client's channel, in alphabetical order.
    pub fn of(&mut self, client: usize, channel: &Channel) -> &BTreeSet<&'static str> {
        static NONE: BTreeSet<&str> = BTreeSet::new();
        let Some(config) = channel.config() else {
            return &NONE;
        };
        let known = self.by_client.entry(client);
        let known = known.or_insert_with(|| (config.clone(), policies(channel)));
        if !Arc::ptr_eq(&known.0, config) {
            *known = (config.clone(), policies(channel));
        }
        &known.1
    }
}

fn policies(channel: &Channel) -> BTreeSet<&'static str> {
    let mut found = BTreeSet::new();
    let Some(config) = channel.config() else {
        return found;
    };
    let Ok(service_config) = service_config::generate(config) else {
        return found;
    };
    collect(&service_config.lb_config(), &mut found);
    for cds in build::cds_policies(config, &service_config, channel.profile()) {
        if let Ok(child) = cds.child_config(&mut ChildNumbers::default()) {
            collect(&child, &mut found);
        }
    }
    found
}

/// Adds the names of a policy and of the policies below it.
fn collect(config: &LbConfig, found: &mut BTreeSet<&'static str>) {
    found.insert(xdsctl_lb::name_of(config));
    config.children().into_iter().for_each(|child| collect(child, found));
}
