//! Makes the configuration in use of what the control plane says, and decides what the channel
//! waits for meanwhile.
//!
//! Follows C-core xds_dependency_manager.cc and xds_client.cc.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use super::watched::Watched;
use super::{Call, Channel, Phase, RESOURCE_TIMEOUT_MS};
use crate::client::config::{
    ChannelFailure, ChannelFailureClass, ClusterFailureClass, ClusterState, RoutesHeld, XdsConfig,
};
use crate::client::dns::never_resolves;
use crate::client::resolve::Wanted;
use crate::client::{java, whole};
use crate::rpc::Selector;
use crate::tree::service_config;
use xdsctl_lb::log::LogEvent;
use xdsctl_lb::policy::{PolicyCx, Reports, Update};
use xdsctl_lb::runtime::{Event, NOWHERE, Time};
use xdsctl_lb::{LbConfig, endpoint, pick_first};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::ResourceType;
use xdsctl_model::resource::cluster::Discovery;

impl Channel {
    /// Makes the configuration anew from what the control plane says.
    pub fn resolve(&mut self) {
        if self.runtime.endless.is_some() || self.is_dead || self.is_idle() {
            return;
        }
        let (resolved, awaited) = self.resolve_wanted();
        let waits_apart = self.client.profile.has(Feature::WaitsForResources);
        let is_waiting = self.options.waits_for_missing && !waits_apart && self.waits(&resolved);
        self.note_watched(&resolved, awaited.as_ref(), is_waiting);
        if waits_apart && resolved.as_ref().is_err_and(|failure| failure.at_once.is_none()) {
            // The channel is not told: RPCs wait, or use the configuration that they have.
            return;
        }
        match &resolved {
            Ok(config) if self.client.profile.has(Feature::ClustersAlone) => {
                self.view.awaited = self.awaited_clusters(config);
            }
            Ok(_) | Err(_) if is_waiting => return,
            Ok(_) | Err(_) => self.view.awaited.clear(),
        }
        if self.is_no_news(&resolved, awaited.is_some()) {
            return;
        }
        self.take_or_fail(resolved);
    }

    /// Resolves the target with all that the channel wants. Also returns the routes that the Listener
    /// names and that are not there yet, if the channel goes on with others.
    fn resolve_wanted(&mut self) -> (Result<XdsConfig, ChannelFailure>, Option<(ResourceType, String)>) {
        let mut wanted = self.view.wanted();
        for cluster in self.calls.values().filter_map(|call| call.cluster()) {
            if !wanted.contains(cluster) {
                wanted.insert(cluster.to_owned());
            }
        }
        let wanted_now = Wanted {
            clusters: &wanted,
            routes: None,
            draw: Some(self.root_order.next_u64()),
        };
        let mut resolved = self.client.resolve_with(&self.start, wanted_now);
        let awaited = self.awaited_routes(&resolved);
        if awaited.is_some() && self.routes.is_some() {
            let routes = self.routes.as_ref();
            resolved = self.client.resolve_with(&self.start, Wanted { routes, ..wanted_now });
        }
        if let Ok(config) = &mut resolved
            && self.client.profile.has(Feature::AggregateNeedsAll)
            && !self.client.profile.has(Feature::ClustersAlone)
        {
            self.unneeded = self.leave_unvisited(config, &wanted);
        }
        (resolved, awaited)
    }

    /// Says whether the client does nothing about a configuration or a failure.
    fn is_no_news(&self, resolved: &Result<XdsConfig, ChannelFailure>, awaits_routes: bool) -> bool {
        // A new Listener alone has no effect while its routes are missing.
        if awaits_routes && self.has_clusters_of(resolved) {
            return true;
        }
        if self.is_listener_alone(resolved) {
            return true;
        }
        match resolved {
            // A failure of routes was reported already: a Listener that comes back to these routes
            // reports nothing.
            Err(failure) => !failure.keeps_routes && self.route_failure.as_ref() == Some(failure),
            Ok(config) => {
                // What failed before and still fails does not fail anew.
                let is_kept = self.client.profile.has(Feature::FailedClusterKept)
                    && self.view.config.as_ref().is_some_and(|before| *config == **before);
                // The client goes on with the configuration that it has.
                is_kept || whole::held_up(config, &self.client, false).is_some()
            }
        }
    }

    /// Takes a configuration, or fails as the client does without one.
    fn take_or_fail(&mut self, resolved: Result<XdsConfig, ChannelFailure>) {
        match &resolved {
            Ok(_) => self.route_failure = None,
            Err(failure) if !failure.keeps_routes => self.route_failure = Some(failure.clone()),
            Err(_) => {}
        }
        let lost_watch = match (&resolved, &self.taken) {
            (Ok(config), Some(in_use)) if self.client.profile.has(Feature::AggregateFailsInPlace) => {
                java::lost_watch(in_use, config)
            }
            _ => None,
        };
        let reports = match lost_watch.map_or(resolved, Err) {
            Ok(config) => {
                self.runtime.say(&NOWHERE, || LogEvent::ConfigTaken {});
                self.apply(config)
            }
            Err(failure) => {
                self.runtime.say(&NOWHERE, || LogEvent::ConfigMissing {
                    why: failure.note.clone(),
                });
                let waits = failure.waits && self.selector.is_none();
                let reports = self.fail(&failure);
                if waits {
                    // RPCs wait for the first configuration.
                    self.end_event(&reports);
                    return;
                }
                reports
            }
        };
        if self.runtime.endless.is_some() {
            // No update reaches the data plane any more.
            return;
        }
        self.is_resolved = true;
        self.end_event(&reports);
        self.note_death();
        let waiting: Vec<u64> = self
            .calls
            .iter()
            .filter(|(_, call)| matches!(call.phase, Phase::Resolving))
            .map(|(id, _)| *id)
            .collect();
        for id in waiting {
            self.select(id);
        }
    }

    fn apply(&mut self, config: XdsConfig) -> Reports {
        if let Some(leaf) = self.overwritten_leaf(&config) {
            let why = format!("cluster `{leaf}`, a leaf of one aggregate cluster, is too deep below another");
            self.runtime.died.get_or_insert(why);
            return Reports::new();
        }
        if let Some(plugin) = self.lost_plugin(&config) {
            let why = format!("no route leads to the cluster specifier plugin `{plugin}` any more, which was in use");
            self.runtime.died.get_or_insert(why);
            return Reports::new();
        }
        let read = service_config::generate(&config).map(|generated| generated.lb_config());
        let is_read = read.is_ok();
        let before = self.lb_config.take();
        let lb_config = match (read, &before) {
            (Ok(lb_config), _) => lb_config,
            // The client keeps the service config and the routes that it has, and takes the new
            // clusters.
            (Err(_), Some(before)) => before.clone(),
            (Err(status), None) => {
                self.broken = Some(status.from_control_plane("resolver"));
                return Reports::new();
            }
        };
        let lb_config = self.with_children_in_use(lb_config, before.as_ref());
        self.lb_config = Some(lb_config.clone());
        let mut config = config;
        if let (false, Some(before)) = (is_read, &self.view.config) {
            // The routes in use keep their clusters.
            for (name, state) in &before.clusters {
                config.clusters.entry(name.clone()).or_insert_with(|| state.clone());
            }
        }
        let config = Arc::new(config);
        let used = self.calls.values().filter_map(|call| call.cluster());
        self.view.take(config.clone(), used);
        self.taken = Some(config.clone());
        if *self.authority != *config.authority {
            self.authority = config.authority.as_str().into();
        }
        self.restart_resolutions();
        let reports = self.update_root(&lb_config, "");
        if self.runtime.endless.is_none() {
            self.broken = None;
            self.refusal = None;
            if is_read || self.client.profile.has(Feature::RoutesAtOnce) {
                self.selector = Some(Arc::new(Selector::new(config)));
            }
        }
        reports
    }

    /// A leaf of an aggregate whose own result is a failure. The cds policy of the aggregate looks for
    /// its endpoints (grpc-go cdsbalancer.go `updateLeafClusterConfig`).
    fn overwritten_leaf<'c>(&self, config: &'c XdsConfig) -> Option<&'c str> {
        if !self.client.profile.has(Feature::RootsOverwritten) {
            return None;
        }
        let states = config.clusters.values();
        let mut leaves = states.flat_map(|state| match state {
            ClusterState::Aggregate(aggregate) => aggregate.leaves.as_slice(),
            ClusterState::Leaf(_) | ClusterState::Error(_) => &[],
        });
        let leaf = leaves.find(|leaf| {
            let state = config.clusters.get(*leaf);
            state.is_some_and(|state| state.failure_class().is_some())
        })?;
        Some(leaf)
    }

    /// Finds a plugin in use to which no route of a new configuration leads. The selector before
    /// still holds it, and is asked for it when the new service config is made (C-core
    /// xds_resolver.cc `CreateServiceConfig`).
    fn lost_plugin(&self, config: &XdsConfig) -> Option<String> {
        let before = self.view.config.as_ref()?;
        if !self.client.profile.has(Feature::LostPluginKills) {
            return None;
        }
        let routes = config.route_config.virtual_hosts.iter().flat_map(|host| &host.routes);
        let led_to: BTreeSet<&str> = routes.filter_map(|route| route.destination()?.plugin()).collect();
        let mut lost = before.plugins().filter(|plugin| !led_to.contains(plugin));
        lost.next().map(str::to_owned)
    }

    /// Adds to a config those children of the config before to which RPCs under way were sent. Such
    /// a cluster stays even if the routes now lead elsewhere (C-core xds_resolver.cc `ClusterRef`,
    /// grpc-go `clusterInfo.refCount`).
    fn with_children_in_use(&mut self, mut config: LbConfig, before: Option<&LbConfig>) -> LbConfig {
        self.kept_children.clear();
        if let (LbConfig::ClusterManager(now), Some(LbConfig::ClusterManager(before))) = (&mut config, before) {
            for key in self.calls.values().filter_map(|call| call.key()) {
                if let Some(count) = self.kept_children.get_mut(key) {
                    *count += 1;
                } else if let (false, Some(child)) = (now.children.contains_key(key), before.children.get(key)) {
                    now.children.insert(key.to_owned(), child.clone());
                    self.kept_children.insert(key.to_owned(), 1);
                }
            }
        }
        config
    }

    /// Releases the cluster of an RPC that has ended, and resolves anew if only such RPCs held it.
    pub(super) fn release(&mut self, call: &Call) {
        let Some(count) = call.key().and_then(|key| self.kept_children.get_mut(key)) else {
            return;
        };
        *count = count.saturating_sub(1);
        if *count == 0 {
            self.runtime.schedule(0, Event::Resolve);
        }
    }

    /// Applies a failure: there is no configuration, and the client runs pick_first without an
    /// address.
    fn fail(&mut self, failure: &ChannelFailure) -> Reports {
        self.broken = None;
        self.refusal.clone_from(&failure.at_once);
        self.is_dead = failure.class == ChannelFailureClass::Panic;
        if !failure.waits {
            self.selector = None;
        }
        if self.client.profile.has(Feature::WaitsForResources) {
            // What RPCs under way wait for may still come.
            return Reports::new();
        }
        self.kept_children.clear();
        self.view.config = None;
        let lb_config = LbConfig::PickFirst(pick_first::PickFirstConfig::default());
        self.lb_config = Some(lb_config.clone());
        self.update_root(&lb_config, &failure.note)
    }

    fn update_root(&mut self, config: &LbConfig, note: &str) -> Reports {
        let update = Update {
            config,
            endpoints: Ok(endpoint::none()),
            depth: 0,
            note,
        };
        let mut cx = PolicyCx {
            runtime: &mut self.runtime,
            clusters: &self.view,
        };
        self.root.update(update, &mut cx)
    }

    /// The RouteConfiguration that the Listener names and that has not come yet, if the channel has
    /// other routes with which it goes on.
    fn awaited_routes(&mut self, resolved: &Result<XdsConfig, ChannelFailure>) -> Option<(ResourceType, String)> {
        let failure = resolved.as_ref().err()?;
        let has_own = self.routes.as_ref().is_some_and(|routes| routes.name.is_none());
        if has_own && failure.class == ChannelFailureClass::Rejected && self.client.profile.has(Feature::OwnRoutesGoOn)
        {
            let mut leads = self.client.leads(&self.start).into_iter();
            return leads.find(|(kind, _)| *kind == ResourceType::RouteConfiguration);
        }
        let missing = &failure.missing;
        let routes = missing
            .iter()
            .find(|(kind, _)| *kind == ResourceType::RouteConfiguration)?;
        let goes_on = self.options.waits_for_missing && self.routes.is_some();
        (goes_on && self.waits(resolved)).then(|| routes.clone())
    }

    /// The clusters that wait for a resource (their own, their endpoints, or those of a member), or
    /// without end for DNS.
    fn awaited_clusters(&self, config: &XdsConfig) -> BTreeSet<String> {
        let missing: HashSet<(ResourceType, &str)> = config
            .missing
            .iter()
            .map(|(kind, name)| (*kind, name.as_str()))
            .collect();
        let is_awaited = |resource_type: ResourceType, name: &str| {
            let since = || self.asked.get(&(resource_type, name.to_owned()));
            missing.contains(&(resource_type, name))
                && (since().is_some_and(|since| self.is_hoped_for(*since))
                    || self.client.waits_without_end(resource_type, name))
        };
        let discovery_of = |name: &str| {
            let held = self.client.resources.clusters.get(name);
            held.and_then(|held| held.value()).map(|cluster| &cluster.discovery)
        };
        let children_of = |name: &str| match discovery_of(name) {
            Some(Discovery::Aggregate { children }) => children.as_slice(),
            Some(Discovery::Eds { .. } | Discovery::LogicalDns { .. }) | None => &[],
        };
        let waits_itself = |name: &str| {
            is_awaited(ResourceType::Cluster, name)
                || match discovery_of(name) {
                    Some(Discovery::Eds { service_name }) => {
                        is_awaited(ResourceType::Endpoints, service_name.as_deref().unwrap_or(name))
                    }
                    Some(discovery) => never_resolves(discovery, &self.client.profile),
                    None => false,
                }
        };
        let roots = config.clusters.keys().map(String::as_str);
        let waiting = waiting_clusters(roots, &children_of, &waits_itself);
        // A policy is told that its own cluster is rejected, and not that a member is.
        let is_told = |name: &str| {
            let held = self.client.resources.clusters.get(name);
            held.is_some_and(|held| held.value().is_none())
                && !java::is_unheard(ResourceType::Cluster, name, &self.client)
        };
        let waits = |name: &str| waiting.contains(name) && !is_told(name);
        let loops_forever = self.client.profile.has(Feature::LoopsEndless);
        let is_endless = |state: &ClusterState| match state.failure_class() {
            Some(ClusterFailureClass::Cycle) => loops_forever,
            class => class == Some(ClusterFailureClass::NeverWhole),
        };
        let clusters = config.clusters.iter();
        let awaited = clusters.filter(|(name, state)| is_endless(state) || waits(name));
        awaited.map(|(name, _)| name.clone()).collect()
    }

    /// Says whether the clusters and their endpoints are those of the configuration before. Notes
    /// do not count.
    fn has_clusters_of(&self, resolved: &Result<XdsConfig, ChannelFailure>) -> bool {
        let now = resolved.as_ref().map(|config| &config.clusters);
        let before = self.taken.as_ref().map(|config| &config.clusters);
        let is_same = |one: &ClusterState, other: &ClusterState| match (one, other) {
            (ClusterState::Leaf(one), ClusterState::Leaf(other)) => {
                one.cluster == other.cluster
                    && one.endpoints == other.endpoints
                    && one.is_unresolved == other.is_unresolved
            }
            (one, other) => one == other,
        };
        now.ok().zip(before).is_some_and(|(now, before)| {
            let mut pairs = now.iter().zip(before);
            now.len() == before.len() && pairs.all(|(one, other)| one.0 == other.0 && is_same(one.1, other.1))
        })
    }

    /// Says whether only the Listener is new, and its routes come by RDS and are the same. Some
    /// clients do not apply such an update.
    fn is_listener_alone(&self, resolved: &Result<XdsConfig, ChannelFailure>) -> bool {
        let (Ok(now), Some(before)) = (resolved, &self.view.config) else {
            return false;
        };
        let has_same_routes = now.route_config_name.is_some()
            && now.route_config_name == before.route_config_name
            && now.route_config == before.route_config;
        self.client.profile.has(Feature::ListenerAloneUnseen) && has_same_routes && self.has_clusters_of(resolved)
    }

    /// Remembers what the client watches and which routes it has, and forgets what it no longer
    /// watches.
    fn note_watched(
        &mut self,
        resolved: &Result<XdsConfig, ChannelFailure>,
        awaited: Option<&(ResourceType, String)>,
        is_waiting: bool,
    ) {
        let keeps_all = is_waiting && self.client.profile.has(Feature::AwaitsAll);
        let before = keeps_all.then(|| self.watched.clone());
        let config = match resolved {
            Ok(config) => config,
            Err(failure) => {
                let hopes = self.options.waits_for_missing && self.hopes(&failure.missing);
                if !failure.keeps_routes && !hopes {
                    self.routes = None;
                }
                let mut watched = self.watched.with_entry(&self.client.leads(&self.start));
                watched.add(&failure.missing);
                self.watch(watched.and(before));
                return;
            }
        };
        self.routes = Some(RoutesHeld {
            name: config.route_config_name.clone(),
            value: Arc::clone(&config.route_config),
        });
        let watched = Watched::of(config, awaited);
        self.watch(watched.and(before));
    }

    pub(super) fn watch(&mut self, watched: Watched) {
        if watched != self.watched {
            for (resource_type, name) in self.watched.left_by(&watched) {
                self.client.resources.forget(resource_type, &name);
                self.asked.remove(&(resource_type, name));
            }
            self.watched = watched;
        }
    }

    /// Says whether the client still waits for a resource.
    fn waits(&mut self, resolved: &Result<XdsConfig, ChannelFailure>) -> bool {
        let missing = match resolved {
            Ok(config) => &config.missing,
            Err(failure) => &failure.missing,
        };
        self.hopes(missing) || self.client.profile.has(Feature::AwaitsAll) && self.awaits_more()
    }

    /// Says whether a watched resource has neither come nor timed out, even one that the
    /// configuration does not name.
    fn awaits_more(&self) -> bool {
        self.asked.iter().any(|((resource_type, name), since)| {
            self.is_hoped_for(*since)
                && self.watched.has(*resource_type, name)
                && !self.client.resources.contains(*resource_type, name)
        })
    }

    /// Says whether a resource may still come, if the wait for it began at `since`.
    pub(super) fn is_hoped_for(&self, since: Time) -> bool {
        self.runtime.now - since < RESOURCE_TIMEOUT_MS || self.waits_untimed(since)
    }

    /// Says whether the client still waits for any of these. The wait for a new one begins now.
    fn hopes(&mut self, missing: &[(ResourceType, String)]) -> bool {
        let now = self.runtime.now;
        let mut is_waiting = false;
        for name in missing {
            let since = *self.asked.entry(name.clone()).or_insert_with(|| {
                self.runtime.schedule(RESOURCE_TIMEOUT_MS, Event::Resolve);
                now
            });
            let is_recent = self.is_hoped_for(since);
            let is_hoped_for = is_recent || self.client.waits_without_end(name.0, &name.1);
            is_waiting |= is_hoped_for && !self.unneeded.contains(name);
        }
        is_waiting
    }

    /// Notes that a resource was removed. A channel that watches it is told, and does not wait for
    /// it.
    pub fn note_removed(&mut self, resource_type: ResourceType, name: &str) {
        if self.watched.has(resource_type, name) {
            // Nothing waits for it, however long the client waits for what it asks for.
            let long_ago = Time::MIN / 2;
            self.asked.insert((resource_type, name.to_owned()), long_ago);
        }
    }

    /// Removes a resource, which a client that watches it may remember. Says whether it was there.
    pub fn take_away(&mut self, resource_type: ResourceType, name: &str) -> bool {
        let remembers = self.client.profile.has(Feature::WithdrawnRemembered) && self.watched.has(resource_type, name);
        let resources = &mut self.client.resources;
        if remembers {
            return resources.withdraw(resource_type, name);
        }
        let was_there = resources.contains(resource_type, name);
        resources.remove(resource_type, name);
        was_there
    }

    /// Says whether the client keeps a resource that the server no longer has. It does if it
    /// watches the resource, because it is not told.
    pub fn keeps(&mut self, resource_type: ResourceType, name: &str) -> bool {
        let keeps = self.watched.has(resource_type, name) && self.client.resources.contains(resource_type, name);
        if keeps {
            self.client.resources.withhold(resource_type, name);
        }
        keeps
    }

    /// Notes that the client rejects a resource. A client that did not watch it has no earlier
    /// version to keep.
    pub fn note_rejected(&mut self, resource_type: ResourceType, name: &str) {
        if !self.watched.has(resource_type, name) {
            self.client.resources.forget(resource_type, name);
        }
    }
}

/// Returns the clusters that wait themselves, and the aggregates above them. Each cluster at or below
/// `roots` is asked once.
fn waiting_clusters<'c>(
    roots: impl Iterator<Item = &'c str>,
    children_of: &dyn Fn(&str) -> &'c [String],
    waits: &dyn Fn(&str) -> bool,
) -> BTreeSet<&'c str> {
    let mut parents: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let (mut open, mut seen) = (roots.collect::<Vec<_>>(), BTreeSet::new());
    let (mut waiting, mut to_tell) = (BTreeSet::new(), Vec::new());
    while let Some(name) = open.pop() {
        if !seen.insert(name) {
            continue;
        }
        if waits(name) {
            waiting.insert(name);
            to_tell.push(name);
        }
        for child in children_of(name) {
            parents.entry(child).or_default().push(name);
            open.push(child);
        }
    }
    while let Some(name) = to_tell.pop() {
        for parent in parents.remove(name).into_iter().flatten() {
            if waiting.insert(parent) {
                to_tell.push(parent);
            }
        }
    }
    waiting
}
