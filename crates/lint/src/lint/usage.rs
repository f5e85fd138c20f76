//! Which resources of a world are in use: what a client would ask for, starting at the listeners.
//!
//! A cluster is used when a route of a client's listener names it, or an aggregate that is used.
//! Where a world holds no listener and no route at all, nothing can be said and everything counts
//! as used.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::{HashSet, HashSetExt};

use xdsctl_channel::client::target::Target;
use xdsctl_channel::client::{ClusterFacts, Facts, ListenerFacts, ResourceId, RouteFacts, RouteReference, World};
use xdsctl_model::resource::ResourceType;
use xdsctl_model::resource::domain::best_match;

/// The clusters in use, and the virtual hosts that use them.
#[derive(Debug, Default)]
pub struct Usage<'w> {
    /// `None`: everything counts as used. Looked up only.
    clusters: Option<HashSet<&'w str>>,
    /// Route configurations in use.
    pub routes: Vec<RoutesInUse<'w>>,
}

/// A RouteConfiguration in use.
#[derive(Debug)]
pub struct RoutesInUse<'w> {
    /// The resource that holds it.
    pub holder: ResourceId,
    /// It stands in a listener.
    pub inline: bool,
    /// What it says.
    pub facts: &'w RouteFacts,
    /// The authorities of the channels that come here.
    authorities: Vec<Authority<'w>>,
}

/// What a channel to a listener looks for among the domains.
#[derive(Debug, Clone, Copy)]
enum Authority<'w> {
    /// The authority that the user gave.
    Given(&'w str),
    /// Most likely the listener's name.
    Listener(&'w str),
}

/// Comparisons of an authority with a domain that are made for one RouteConfiguration; beyond,
/// every virtual host counts.
const MAX_COMPARISONS: usize = 1 << 20;

impl RoutesInUse<'_> {
    /// The virtual hosts that channels choose; `None` if that cannot be told.
    ///
    /// A channel to `xds:///name` asks for the listener `name` and takes `name` for the authority,
    /// unless the bootstrap or the application says otherwise. A listener name that matches no
    /// virtual host shows that one of them does.
    pub fn reached(&self) -> Option<BTreeSet<usize>> {
        let domains: usize = self.facts.domains.iter().map(Vec::len).sum();
        let comparisons = self.authorities.len().saturating_mul(domains);
        if self.authorities.is_empty() || comparisons > MAX_COMPARISONS {
            return None;
        }
        self.authorities
            .iter()
            .map(|authority| {
                let name = match authority {
                    Authority::Given(name) => name,
                    Authority::Listener(name) if !name.contains('/') => name,
                    Authority::Listener(_) => return None,
                };
                best_match(&self.facts.domains, name).map(|found| found.host)
            })
            .collect()
    }
}

impl<'w> Usage<'w> {
    /// Finds out what is in use.
    ///
    /// Without a client's listener all RouteConfigurations count; with a cluster specifier plugin
    /// in use all clusters do. `target` is that of a channel about which the reader asks.
    pub fn of(world: &'w World, target: Option<&'w Target>) -> Usage<'w> {
        let routes = routes_in_use(world, target);
        let has_entry = world.has(ResourceType::Listener) || world.has(ResourceType::RouteConfiguration);
        if !has_entry || routes.iter().any(|routes| routes.facts.has_plugin) {
            return Usage { clusters: None, routes };
        }
        let mut used = HashSet::new();
        let references = routes
            .iter()
            .flat_map(|routes| routes.facts.virtual_hosts.iter().flatten());
        let mut open: Vec<&str> = Vec::new();
        for reference in references {
            open.push(&reference.cluster);
            while let Some(name) = open.pop() {
                if !used.insert(name) {
                    continue;
                }
                if let Some(ClusterFacts::Aggregate { children }) = world.cluster(name) {
                    open.extend(children.iter().map(String::as_str));
                }
            }
        }
        Usage {
            clusters: Some(used),
            routes,
        }
    }

    /// Says whether the world shows a channel that comes to some routes.
    pub fn has_channels(&self) -> bool {
        self.routes.iter().any(|routes| !routes.authorities.is_empty())
    }

    /// What the virtual hosts name, and whether a channel chooses them; those first.
    pub fn virtual_hosts(&self) -> impl Iterator<Item = (&'w [RouteReference], bool)> {
        let of_kind = |wanted: bool| {
            self.routes.iter().flat_map(move |routes| {
                let reached = routes.reached();
                let hosts = routes.facts.virtual_hosts.iter().enumerate();
                hosts.filter_map(move |(number, host)| {
                    let is_reached = reached.as_ref().is_none_or(|reached| reached.contains(&number));
                    (is_reached == wanted).then_some((host.as_slice(), wanted))
                })
            })
        };
        of_kind(true).chain(of_kind(false))
    }

    /// Says whether an RPC can get to the cluster.
    pub fn uses_cluster(&self, name: &str) -> bool {
        self.clusters.as_ref().is_none_or(|used| used.contains(name))
    }

    /// Says whether the world shows who uses what.
    pub fn is_known(&self) -> bool {
        self.clusters.is_some()
    }
}

fn routes_in_use<'w>(world: &'w World, target: Option<&'w Target>) -> Vec<RoutesInUse<'w>> {
    let mut routes = Vec::new();
    let mut named: BTreeMap<&str, Vec<Authority<'_>>> = BTreeMap::new();
    let mut has_client = false;
    for (name, entry) in world.all(ResourceType::Listener) {
        let authority = match target.filter(|target| target.listener == name) {
            Some(target) => Authority::Given(&target.authority),
            None => Authority::Listener(name),
        };
        match entry.facts() {
            Some(Facts::Listener(ListenerFacts::Rds(name, _))) => {
                has_client = true;
                named.entry(name).or_default().push(authority);
            }
            Some(Facts::Listener(ListenerFacts::Inline(facts, _))) => {
                has_client = true;
                routes.push(RoutesInUse {
                    holder: entry.id,
                    inline: true,
                    facts,
                    authorities: vec![authority],
                });
            }
            _ => {}
        }
    }
    for (name, entry) in world.all(ResourceType::RouteConfiguration) {
        let authorities = named.remove(name);
        if let Some(Facts::Routes(facts)) = entry.facts()
            && (!has_client || authorities.is_some())
        {
            routes.push(RoutesInUse {
                holder: entry.id,
                inline: false,
                facts,
                authorities: authorities.unwrap_or_default(),
            });
        }
    }
    routes
}
