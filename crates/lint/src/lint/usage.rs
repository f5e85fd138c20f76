//! Which resources of a world are in use, that is, what a client would ask for, starting from the
//! listeners.
//!
//! A cluster is used if it is named by a route of a client's listener or by a used aggregate. If a
//! world has neither a listener nor a route, nothing is known and everything counts as used.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::{HashSet, HashSetExt};

use xdsctl_channel::client::target::Target;
use xdsctl_channel::client::{ClusterFacts, Facts, ListenerFacts, ResourceId, RouteFacts, RouteReference, World};
use xdsctl_model::resource::ResourceType;
use xdsctl_model::resource::domain::best_match;

/// The clusters in use, and the virtual hosts that use them.
#[derive(Debug, Default)]
pub struct Usage<'w> {
    /// Names of the clusters in use; `None` if every cluster counts as used. Never iterated.
    clusters: Option<HashSet<&'w str>>,
    /// The RouteConfigurations in use.
    pub routes: Vec<RoutesInUse<'w>>,
}

/// A RouteConfiguration in use.
#[derive(Debug)]
pub struct RoutesInUse<'w> {
    /// The resource that holds it.
    pub holder: ResourceId,
    /// Whether the RouteConfiguration is inside a listener.
    pub inline: bool,
    /// Facts about its content.
    pub facts: &'w RouteFacts,
    /// The authorities of the channels that use it.
    authorities: Vec<Authority<'w>>,
}

/// The text that a channel to a listener compares with the domains.
#[derive(Debug, Clone, Copy)]
enum Authority<'w> {
    /// The authority that the user gave.
    Given(&'w str),
    /// The listener's name, which most likely is the authority.
    Listener(&'w str),
}

/// Most comparisons of an authority with a domain for one RouteConfiguration; above that, every
/// virtual host counts as reached.
const MAX_COMPARISONS: usize = 1 << 20;

impl RoutesInUse<'_> {
    /// Returns the virtual hosts that channels choose; `None` if that is not known.
    ///
    /// A channel to `xds:///name` asks for the listener `name` and uses `name` as the authority,
    /// unless the bootstrap or the application says otherwise. If a listener's name matches no
    /// virtual host, the authority must be another one.
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
    /// Finds out which resources are in use.
    ///
    /// Without a client's listener all RouteConfigurations count as used. If routes in use have a
    /// cluster specifier plugin, all clusters count as used. `target` is that of a channel that the
    /// user names.
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

    /// Says whether the world shows a channel that uses some routes.
    pub fn has_channels(&self) -> bool {
        self.routes.iter().any(|routes| !routes.authorities.is_empty())
    }

    /// Returns the references of each virtual host, and whether a channel chooses it. The chosen
    /// ones come first.
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

    /// Says whether an RPC can reach the cluster.
    pub fn uses_cluster(&self, name: &str) -> bool {
        self.clusters.as_ref().is_none_or(|used| used.contains(name))
    }

    /// Says whether it is known which clusters are used.
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
