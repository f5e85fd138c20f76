//! What changes for a client between two states of its configuration.
//!
//! [`compare`] takes what two clients hold. Resources are compared in the form that a client keeps
//! ([`parsed`](xdsctl_channel::parsed)), so versions, times, default values and an order without a
//! meaning make no difference ([`values`]). The effects follow: verdicts that change, RPCs that go
//! elsewhere ([`tables`] compares route tables instead of trying RPCs), and changed shares, rings
//! and sessions ([`clusters`]). If an input has several worlds, [`pairs`] decides which is compared
//! with which.
//!
//! This module knows nothing about documents and reports, and simulates no RPCs.

pub mod access;
pub mod budget;
pub mod care;
pub mod channel;
pub mod clusters;
pub mod compared_value;
mod forms;
pub mod hosts;
mod lists;
mod overlap;
pub mod pairs;
pub mod reach;
mod reason;
mod ring;
mod sessions;
mod table;
pub mod tables;
pub mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::mem::discriminant;
use std::slice;
use std::sync::Arc;

pub use overlap::{Example, examples};

use access::ServerAccess;
use budget::DiffBudget;
use clusters::ClusterChange;
use hosts::HostChanges;
use reach::{ReachChange, Reached};
use values::FieldChange;
use xdsctl_channel::client::target::Target;
use xdsctl_channel::client::{Cache, Client, HeldResource, ResourceKind};
use xdsctl_channel::parsed::{Fields, printed};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::domain::DomainComparison;
use xdsctl_model::resource::route::VirtualHost;
use xdsctl_model::resource::{Millis, ResourceType, RouteConfiguration};

/// What a client holds under a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// The client has no resource of the name.
    Absent,
    /// The client holds an accepted version.
    Accepted,
    /// The client holds nothing but a version that it rejects, for this reason.
    Rejected(String),
    /// The client holds an accepted version, and rejects a newer one for this reason.
    Kept(String),
    /// The client has a version, and it is not known whether it accepts this version.
    NotKnown,
}

/// What changes in one resource.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourceChange {
    /// Type of the resource, one of the four that gRPC clients ask for.
    pub resource_type: ResourceType,
    /// Name of the resource, as clients ask for it.
    pub name: String,
    /// What the client held before the change.
    pub before: State,
    /// What the client holds after the change.
    pub after: State,
    /// The fields that differ, if the client holds a value before and after.
    pub fields: Vec<FieldChange>,
}

impl ResourceChange {
    /// Says whether the client's verdict changes. There is none to change if an accepted resource
    /// appears or disappears.
    pub fn changes_verdict(&self) -> bool {
        let verdict = |state: &State| match state {
            State::Absent | State::Accepted => 0,
            State::Rejected(_) => 1,
            State::Kept(_) => 2,
            State::NotKnown => 3,
        };
        let is_known = self.before != State::NotKnown && self.after != State::NotKnown;
        is_known && verdict(&self.before) != verdict(&self.after)
    }
}

/// A resource about which something is not known for the client, before or after the change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unclear {
    /// Type of the resource, one of the four that gRPC clients ask for.
    pub resource_type: ResourceType,
    /// Name of the resource, as clients ask for it.
    pub name: String,
}

/// RPCs of one or several listeners that go elsewhere, or have another deadline or other retries.
#[derive(Debug, Clone, PartialEq)]
pub struct RouteChange {
    /// Names of the listeners; empty for a RouteConfiguration that no listener names.
    pub listeners: Vec<String>,
    /// Name of the RouteConfiguration before; `None` if it is inside the listener.
    pub before: Option<String>,
    /// Name of the RouteConfiguration after; `None` if it is inside the listener.
    pub after: Option<String>,
    /// The RouteConfigurations before and after, for the names of what changes.
    pub tables: (Arc<RouteConfiguration>, Arc<RouteConfiguration>),
    /// The virtual hosts whose RPCs are affected.
    pub changes: HostChanges,
    /// Reasons why RPCs fail when the routes change.
    pub fails: Vec<String>,
}

/// What changes for a client.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Diff {
    /// The resources that change, ordered by type and name.
    pub resources: Vec<ResourceChange>,
    /// The route tables that change, ordered by listener.
    pub routes: Vec<RouteChange>,
    /// Listeners whose channels have routes on one side only, ordered by name.
    pub targets: Vec<ReachChange>,
    /// Changes of clusters that both clients hold and RPCs can go to, ordered by name.
    pub clusters: Vec<ClusterChange>,
    /// Clusters that the client holds on one side only while its routes lead to them on the other,
    /// ordered by name.
    pub reach: Vec<ReachChange>,
    /// Whether a limit was reached, so that more clusters may change than are listed.
    pub clusters_are_cut: bool,
    /// The resources for which it is not known whether they change, ordered by type and name.
    pub unclear: Vec<Unclear>,
    /// Servers whose access changes, ordered by the names of their Listeners.
    pub access: Vec<ServerAccess>,
}

impl Diff {
    /// Says whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.resources.is_empty() && !self.moves_rpcs() && self.access.is_empty()
    }

    /// Says whether RPCs go elsewhere, or have another deadline or other retries.
    pub fn moves_rpcs(&self) -> bool {
        let Diff {
            resources: _,
            routes,
            targets,
            clusters,
            reach,
            clusters_are_cut: _,
            unclear: _,
            access: _,
        } = self;
        let is_moved = routes
            .iter()
            .any(|change| !change.changes.hosts.is_empty() || !change.fails.is_empty());
        is_moved || !targets.is_empty() || !clusters.is_empty() || !reach.is_empty()
    }

    /// Says whether the client rejects a resource that it did not reject before, or the other way
    /// round, or has lost the version that was still in use.
    pub fn changes_verdicts(&self) -> bool {
        self.resources.iter().any(ResourceChange::changes_verdict)
    }

    /// Says whether a limit kept something from being compared.
    pub fn is_cut(&self) -> bool {
        self.clusters_are_cut || self.routes_are_cut()
    }

    /// Says whether more RPCs may go elsewhere than are listed.
    pub fn routes_are_cut(&self) -> bool {
        self.routes.iter().any(|change| change.changes.is_cut)
    }
}

/// Compares what a client held with what it holds now. Values are masked unless `shows_secrets`.
/// With `target`, only the RPCs of one channel are followed ([`channel::narrow`] leaves only the
/// resources that it uses).
pub fn compare(before: &Client, after: &Client, target: Option<&Target>, shows_secrets: bool) -> Diff {
    let reached = (&Reached::of(before, target), &Reached::of(after, target));
    let (clusters, clusters_are_cut) = clusters::changes(before, after, reached);
    Diff {
        routes: routes(before, after, target),
        targets: reach::listeners(before, after),
        clusters,
        reach: reach::clusters(before, after, reached),
        clusters_are_cut,
        ..compare_resources(before, after, shows_secrets)
    }
}

/// Compares the resources alone, without the effects on RPCs.
pub fn compare_resources(before: &Client, after: &Client, shows_secrets: bool) -> Diff {
    let (b, a) = (&before.resources, &after.resources);
    let mut out = Diff {
        access: access::changes(before, after),
        ..Diff::default()
    };
    of_type(&b.listeners, &a.listeners, shows_secrets, &mut out);
    of_type(&b.route_configs, &a.route_configs, shows_secrets, &mut out);
    of_type(&b.clusters, &a.clusters, shows_secrets, &mut out);
    of_type(&b.endpoints, &a.endpoints, shows_secrets, &mut out);
    out
}

/// Returns the names in both caches, sorted.
fn names<'a, T>(before: &'a Cache<T>, after: &'a Cache<T>) -> BTreeSet<&'a String> {
    before.keys().chain(after.keys()).collect()
}

fn state<T: ResourceKind>(held: Option<&HeldResource<T>>) -> State {
    let Some(held) = held else { return State::Absent };
    if held.is_unknown() {
        return State::NotKnown;
    }
    match (held.value().is_some(), held.rejected()) {
        (true, None) => State::Accepted,
        (true, Some(why)) => State::Kept(why.to_owned()),
        (false, Some(why)) => State::Rejected(why.to_owned()),
        (false, None) => State::Absent,
    }
}

fn of_type<T: ResourceKind + Fields + PartialEq>(
    before: &Cache<T>,
    after: &Cache<T>,
    shows_secrets: bool,
    out: &mut Diff,
) {
    for name in names(before, after) {
        let (one, other) = (before.get(name), after.get(name));
        let (was, is) = (state(one), state(other));
        if was == State::NotKnown || is == State::NotKnown {
            out.unclear.push(Unclear {
                resource_type: T::TYPE,
                name: name.clone(),
            });
        }
        let known = |held: Option<&'_ HeldResource<T>>| {
            held.filter(|held| !held.is_unknown())
                .and_then(HeldResource::value)
                .cloned()
        };
        let values = (known(one), known(other));
        let fields = match values {
            (Some(one), Some(other)) if one != other => forms::compare(printed(&*one), printed(&*other), shows_secrets),
            _ => Vec::new(),
        };
        let is_alike = discriminant(&was) == discriminant(&is);
        let is_same = was == is || is_alike && one.zip(other).is_some_and(|(one, other)| reason::is_same(one, other));
        let is = if is_same { was.clone() } else { is };
        if !is_same || !fields.is_empty() {
            out.resources.push(ResourceChange {
                resource_type: T::TYPE,
                name: name.clone(),
                before: was,
                after: is,
                fields,
            });
        }
    }
}

/// The routes of a listener: the name of the RouteConfiguration, if it has one, its content, and
/// the deadline of routes that set none.
type Routes = (Option<String>, Arc<RouteConfiguration>, Millis);

/// Returns the routes that the channels of a listener use.
fn routes_of(client: &Client, listener: &str) -> Option<Routes> {
    let (manager, routes) = client.routes_of(listener)?;
    let name = manager.routes.rds().map(str::to_owned);
    Some((name, Arc::clone(routes), manager.http_max_stream_duration))
}

/// Returns reasons why RPCs fail because of plugins when the routes change. C-core crashes if a
/// channel uses a plugin to which no route leads any more. grpc-go keeps a default target without a
/// name if the plugin no longer has one.
fn lost(
    (client, before): (&Client, &RouteConfiguration),
    (later, after): (&Client, &RouteConfiguration),
    target: Option<&Target>,
) -> Vec<String> {
    let have = |feature| [client, later].iter().all(|client| client.profile.has(feature));
    let used = match target {
        Some(target) => channel::host(client, before, target).map_or(&[][..], slice::from_ref),
        None => &before.virtual_hosts,
    };
    let kept = plugins(&after.virtual_hosts);
    let default = |routes: &RouteConfiguration, plugin: &str| {
        let lookup = routes.route_lookup(plugin);
        lookup.map(|lookup| lookup.default_cluster().is_some())
    };
    let why = |plugin: &str| match kept.contains(plugin) {
        false if have(Feature::LostPluginKills) => Some(format!(
            "no route leads to the plugin `{plugin}` any more, and the process of a client that uses it dies"
        )),
        true if have(Feature::AnswersByPath)
            && (default(before, plugin), default(after, plugin)) == (Some(true), Some(false)) =>
        {
            Some(format!(
                "the plugin `{plugin}` has no default target any more, and in a client that had one, RPCs whose lookup fails wait until their deadline"
            ))
        }
        _ => None,
    };
    plugins(used).into_iter().filter_map(why).collect()
}

fn plugins(hosts: &[VirtualHost]) -> BTreeSet<&str> {
    let routes = hosts.iter().flat_map(|host| &host.routes);
    routes.filter_map(|route| route.destination()?.plugin()).collect()
}

fn routes(before: &Client, after: &Client, target: Option<&Target>) -> Vec<RouteChange> {
    let mut budget = DiffBudget::default();
    let mut by_names: BTreeMap<_, RouteChange> = BTreeMap::new();
    let mut changes = Vec::new();
    let mut named: BTreeSet<String> = BTreeSet::new();
    let comparison = DomainComparison::of(|feature| before.profile.has(feature));
    let authorities = (comparison, target.map(|target| channel::authority(before, target)));
    for listener in names(&before.resources.listeners, &after.resources.listeners) {
        let (Some((was, one, deadline_before)), Some((is, other, deadline_after))) =
            (routes_of(before, listener), routes_of(after, listener))
        else {
            continue;
        };
        named.extend(was.iter().chain(&is).cloned());
        let key = (was.clone(), is.clone(), deadline_before, deadline_after);
        if was.is_some()
            && is.is_some()
            && let Some(known) = by_names.get_mut(&key)
        {
            known.listeners.push(listener.clone());
            continue;
        }
        let change = RouteChange {
            listeners: vec![listener.clone()],
            before: was.clone(),
            after: is.clone(),
            changes: hosts::compare_hosts(
                (&one, deadline_before),
                (&other, deadline_after),
                authorities,
                &mut budget,
            ),
            fails: lost((before, &one), (after, &other), target),
            tables: (one, other),
        };
        if was.is_some() && is.is_some() {
            by_names.insert(key, change);
        } else {
            changes.push(change);
        }
    }
    let (b, a) = (&before.resources.route_configs, &after.resources.route_configs);
    for name in names(b, a).into_iter().filter(|name| !named.contains(*name)) {
        let value = |cache: &Cache<RouteConfiguration>| cache.get(name).and_then(HeldResource::value).cloned();
        if let (Some(one), Some(other)) = (value(b), value(a)) {
            changes.push(RouteChange {
                listeners: Vec::new(),
                before: Some(name.clone()),
                after: Some(name.clone()),
                changes: hosts::compare_hosts((&one, Millis(0)), (&other, Millis(0)), authorities, &mut budget),
                fails: lost((before, &one), (after, &other), target),
                tables: (one, other),
            });
        }
    }
    changes.extend(by_names.into_values());
    changes.retain(|change| !change.changes.hosts.is_empty() || change.changes.is_cut || !change.fails.is_empty());
    changes.sort_by(|one, other| one.listeners.cmp(&other.listeners));
    changes
}
