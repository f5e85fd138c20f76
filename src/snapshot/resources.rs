//! The validated resources of one world, in full, by type and name: what the xDS client's cache holds.
//!
//! `tree`, `route` and `pick` need values, not the graph facts of [`World`](super::World). A resource that the client
//! rejects keeps its last good version, if there is one, and the words of the rejection (A88). A name that is not here
//! "does not exist", which is what a client says 15 seconds after it has asked.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::convert::resource_name::Names;
use crate::diag::{Diagnostic, Effect};
use crate::model::{Cluster, Endpoints, Listener, Resource, ResourceType, RouteConfiguration};

/// One resource as the client's cache holds it.
#[derive(Debug, Clone)]
pub struct Held<T> {
    /// The last accepted version.
    pub value: Option<Arc<T>>,
    /// Why the newest version was rejected, in the client's form (`invalid resource: ...`, without the node); `None` if
    /// it was accepted.
    pub rejected: Option<String>,
    /// Elements of the accepted version that the client silently drops: `endpoints[1]: ...`.
    pub dropped: Vec<String>,
}

// Not derived: that would ask for `T: Default`.
impl<T> Default for Held<T> {
    fn default() -> Self {
        Held {
            value: None,
            rejected: None,
            dropped: Vec::new(),
        }
    }
}

impl<T> Held<T> {
    fn accept(&mut self, value: T, dropped: Vec<String>) {
        self.value = Some(Arc::new(value));
        self.rejected = None;
        self.dropped = dropped;
    }
}

/// All resources of one type, by the keys of their names: a name in any spelling finds its resource.
#[derive(Debug, Clone)]
pub struct Cache<T> {
    names: Names,
    held: BTreeMap<String, Held<T>>,
}

// Not derived: that would ask for `T: Default`.
impl<T> Default for Cache<T> {
    fn default() -> Self {
        Cache::new(Names::default())
    }
}

impl<T> Cache<T> {
    const fn new(names: Names) -> Self {
        Cache {
            names,
            held: BTreeMap::new(),
        }
    }

    fn entry(&mut self, name: &str) -> &mut Held<T> {
        self.held.entry(self.names.key(name).into_owned()).or_default()
    }

    fn remove(&mut self, name: &str) {
        self.held.remove(&*self.names.key(name));
    }

    /// The resource of this name.
    pub fn get(&self, name: &str) -> Option<&Held<T>> {
        self.held.get(&*self.names.key(name))
    }

    /// Says whether there is a resource of this name, accepted or not.
    pub fn contains_key(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The resources with their keys.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Held<T>)> + Clone {
        self.held.iter()
    }

    /// The keys.
    pub fn keys(&self) -> impl Iterator<Item = &String> + Clone {
        self.held.keys()
    }

    /// The resources.
    pub fn values(&self) -> impl Iterator<Item = &Held<T>> + Clone {
        self.held.values()
    }
}

/// The resources of one world.
#[derive(Debug, Clone, Default)]
pub struct Resources {
    /// LDS.
    pub listeners: Cache<Listener>,
    /// RDS.
    pub route_configs: Cache<RouteConfiguration>,
    /// CDS.
    pub clusters: Cache<Cluster>,
    /// EDS.
    pub endpoints: Cache<Endpoints>,
    /// What is not there because the server took it away.
    removed: BTreeSet<(ResourceType, String)>,
}

/// A resource that was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rejected<'a> {
    /// Its type.
    pub resource_type: ResourceType,
    /// Its name.
    pub name: &'a str,
    /// Why.
    pub why: &'a str,
    /// An earlier version is in use.
    pub has_earlier: bool,
}

impl Resources {
    /// No resources; names are compared so.
    pub fn new(names: Names) -> Resources {
        Resources {
            listeners: Cache::new(names),
            route_configs: Cache::new(names),
            clusters: Cache::new(names),
            endpoints: Cache::new(names),
            removed: BTreeSet::new(),
        }
    }

    /// Takes an accepted resource and what the client drops of it; it replaces the one of the same type and name.
    pub fn accept(&mut self, name: &str, resource: Resource, dropped: Vec<String>) {
        match resource {
            Resource::Listener(value) => self.listeners.entry(name).accept(value, dropped),
            Resource::RouteConfiguration(value) => self.route_configs.entry(name).accept(value, dropped),
            Resource::Cluster(value) => self.clusters.entry(name).accept(value, dropped),
            Resource::Endpoints(value) => self.endpoints.entry(name).accept(value, dropped),
        }
    }

    /// Notes a rejected resource; an earlier version stays in use.
    pub fn reject(&mut self, resource_type: ResourceType, name: &str, why: String) {
        let why = Some(why);
        match resource_type {
            ResourceType::Listener => self.listeners.entry(name).rejected = why,
            ResourceType::RouteConfiguration => self.route_configs.entry(name).rejected = why,
            ResourceType::Cluster => self.clusters.entry(name).rejected = why,
            ResourceType::Endpoints => self.endpoints.entry(name).rejected = why,
        }
    }

    /// Takes the outcome of a validation: the value, or the words of its rejection.
    pub fn take(
        &mut self,
        resource_type: ResourceType,
        name: &str,
        value: Option<Resource>,
        diagnostics: &[Diagnostic],
    ) {
        match value {
            Some(value) => {
                let dropped = diagnostics.iter().filter(|d| d.rule.effect == Effect::Dropped);
                let dropped = dropped.map(|d| format!("{}: {}", d.path, d.message)).collect();
                self.accept(name, value, dropped);
            }
            None => self.reject(resource_type, name, rejection(resource_type, diagnostics)),
        }
    }

    /// Removes a resource, as a server that no longer sends a Listener or Cluster does.
    pub fn remove(&mut self, resource_type: ResourceType, name: &str) {
        match resource_type {
            ResourceType::Listener => self.listeners.remove(name),
            ResourceType::RouteConfiguration => self.route_configs.remove(name),
            ResourceType::Cluster => self.clusters.remove(name),
            ResourceType::Endpoints => self.endpoints.remove(name),
        }
    }

    /// Notes that the server took a resource away, if there is none of this name.
    pub fn note_removed(&mut self, resource_type: ResourceType, name: &str) {
        let is_there = match resource_type {
            ResourceType::Listener => self.listeners.contains_key(name),
            ResourceType::RouteConfiguration => self.route_configs.contains_key(name),
            ResourceType::Cluster => self.clusters.contains_key(name),
            ResourceType::Endpoints => self.endpoints.contains_key(name),
        };
        if !is_there {
            self.removed.insert((resource_type, name.to_owned()));
        }
    }

    /// What the server took away.
    pub fn removed(&self) -> impl Iterator<Item = (ResourceType, &str)> {
        self.removed
            .iter()
            .map(|(resource_type, name)| (*resource_type, name.as_str()))
    }

    /// The rejected resources, by type and name.
    pub fn rejected(&self) -> Vec<Rejected<'_>> {
        fn of<'a, T>(resource_type: ResourceType, cache: &'a Cache<T>, out: &mut Vec<Rejected<'a>>) {
            out.extend(cache.iter().filter_map(|(name, held)| {
                Some(Rejected {
                    resource_type,
                    name,
                    why: held.rejected.as_deref()?,
                    has_earlier: held.value.is_some(),
                })
            }));
        }
        let mut out = Vec::new();
        of(ResourceType::Listener, &self.listeners, &mut out);
        of(ResourceType::RouteConfiguration, &self.route_configs, &mut out);
        of(ResourceType::Cluster, &self.clusters, &mut out);
        of(ResourceType::Endpoints, &self.endpoints, &mut out);
        out
    }
}

/// The client's form of a rejection: `invalid resource: errors validating Cluster resource: [field:a error:b; ...]`.
///
/// The words of each error are xdsctl's.
pub fn rejection(resource_type: ResourceType, diagnostics: &[Diagnostic]) -> String {
    let errors: Vec<String> = diagnostics
        .iter()
        .filter(|d| d.rule.effect == Effect::Nack)
        .map(|d| format!("field:{} error:{}", d.path, d.message))
        .collect();
    let what = match resource_type {
        ResourceType::Listener => "errors validating ApiListener",
        ResourceType::RouteConfiguration => "errors validating RouteConfiguration resource",
        ResourceType::Cluster => "errors validating Cluster resource",
        ResourceType::Endpoints => "errors parsing EDS resource",
    };
    format!("invalid resource: {what}: [{}]", errors.join("; "))
}
