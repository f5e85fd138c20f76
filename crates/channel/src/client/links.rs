//! Which resource of a world refers to which, and where: listeners to routes, routes to clusters, clusters to clusters and
//! endpoints.
//!
//! The references of inline routes are those of their listener. What a cluster specifier plugin or
//! a policy's config leads to is not followed.

use std::collections::{BTreeSet, HashMap};

use super::facts::{ClusterFacts, Facts, ListenerFacts, RouteFacts};
use super::fields::{child_path, eds_path, rds_path};
use super::world::World;
use xdsctl_model::diag::FieldPath;
use xdsctl_model::resource::ResourceType;

/// A resource by type and name, whether it exists or not.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkedResource {
    /// Its type, one of the four that gRPC clients ask for.
    pub resource_type: ResourceType,
    /// The key of its name.
    pub name: String,
}

/// A reference from one resource to another.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// The resource at the other end.
    pub to: LinkedResource,
    /// The fields that hold the name, in the resource that refers: at least one.
    pub at: Vec<FieldPath>,
}

/// Returns the resources to which one accepted resource refers, each once.
pub fn references(resource_type: ResourceType, name: &str, facts: &Facts) -> Vec<LinkedResource> {
    let from = LinkedResource {
        resource_type,
        name: name.to_owned(),
    };
    let mut links = Links::default();
    links.take(&from, facts);
    links.below(&from).iter().map(|link| link.to.clone()).collect()
}

/// All references of a world, in both directions.
#[derive(Debug, Clone, Default)]
pub struct Links {
    /// The resources of the world, in their order, then those that are only referred to.
    nodes: Vec<LinkedResource>,
    down: LinkMap,
    up: LinkMap,
    rejected: BTreeSet<LinkedResource>,
}

/// References, by the resource at one end.
type LinkMap = HashMap<LinkedResource, Vec<Link>, foldhash::fast::RandomState>;

impl Links {
    /// Finds the references of a world's accepted resources.
    pub fn of(world: &World) -> Links {
        let mut links = Links::default();
        for resource_type in ResourceType::ALL {
            for (name, entry) in world.all(resource_type) {
                let from = LinkedResource {
                    resource_type,
                    name: name.to_owned(),
                };
                match entry.facts() {
                    Some(facts) => links.take(&from, facts),
                    None => {
                        links.rejected.insert(from.clone());
                    }
                }
                links.down.entry(from.clone()).or_default();
                links.nodes.push(from);
            }
        }
        let mut missing = BTreeSet::new();
        for from in &links.nodes {
            for link in links.down.get(from).into_iter().flatten() {
                if !links.down.contains_key(&link.to) {
                    missing.insert(link.to.clone());
                }
                links.up.entry(link.to.clone()).or_default().push(Link {
                    to: from.clone(),
                    at: link.at.clone(),
                });
            }
        }
        links.nodes.extend(missing);
        links
    }

    fn take(&mut self, from: &LinkedResource, facts: &Facts) {
        match facts {
            Facts::Listener(ListenerFacts::Rds(routes, _)) => {
                self.add(from, ResourceType::RouteConfiguration, [(routes, rds_path())]);
            }
            Facts::Listener(ListenerFacts::Inline(routes, _)) => self.take_routes(from, routes, true),
            Facts::Listener(ListenerFacts::Server(_, chains)) => {
                let routes = chains.iter().map(|chain| (&chain.routes, chain.rds_path()));
                self.add(from, ResourceType::RouteConfiguration, routes);
            }
            Facts::Routes(routes) => self.take_routes(from, routes, false),
            Facts::Cluster(ClusterFacts::Eds { service_name, .. }) => {
                let name = service_name.as_ref().unwrap_or(&from.name);
                self.add(from, ResourceType::Endpoints, [(name, eds_path())]);
            }
            Facts::Cluster(ClusterFacts::Aggregate { children }) => {
                let children = children.iter().enumerate();
                let children = children.map(|(index, child)| (child, child_path(index)));
                self.add(from, ResourceType::Cluster, children);
            }
            Facts::Cluster(ClusterFacts::LogicalDns { .. }) | Facts::Endpoints(_) => {}
        }
    }

    fn take_routes(&mut self, from: &LinkedResource, routes: &RouteFacts, inline: bool) {
        let references = routes.virtual_hosts.iter().flatten();
        let names = references.map(|reference| (&reference.cluster, reference.path(inline)));
        let mut names: Vec<(&String, FieldPath)> = names.collect();
        names.sort_by_key(|(cluster, _)| *cluster);
        self.add(from, ResourceType::Cluster, names);
    }

    /// Adds the references of one kind that a resource has, in their order, and each name once.
    fn add<'n>(
        &mut self,
        from: &LinkedResource,
        resource_type: ResourceType,
        names: impl IntoIterator<Item = (&'n String, FieldPath)>,
    ) {
        let below = self.down.entry(from.clone()).or_default();
        let mut known: HashMap<&str, usize> = HashMap::new();
        for (name, at) in names {
            let known = known.entry(name).or_insert(below.len());
            if let Some(link) = below.get_mut(*known) {
                link.at.push(at);
                continue;
            }
            let name = name.clone();
            below.push(Link {
                to: LinkedResource { resource_type, name },
                at: vec![at],
            });
        }
    }

    /// Says whether the world has the resource.
    pub fn has(&self, node: &LinkedResource) -> bool {
        self.down.contains_key(node)
    }

    /// Says whether the client rejects the resource, and has no earlier version.
    pub fn is_rejected(&self, node: &LinkedResource) -> bool {
        self.rejected.contains(node)
    }

    /// The rejected resources of a type that may refer to `node`: what they refer to is not known.
    pub fn unknown_above<'l>(&'l self, node: &'l LinkedResource) -> impl Iterator<Item = &'l LinkedResource> {
        let may_refer = |from: ResourceType| match node.resource_type {
            ResourceType::Listener => false,
            ResourceType::RouteConfiguration => from == ResourceType::Listener,
            ResourceType::Cluster => from != ResourceType::Endpoints,
            ResourceType::Endpoints => from == ResourceType::Cluster,
        };
        let rejected = self.rejected.iter();
        rejected.filter(move |from| *from != node && may_refer(from.resource_type))
    }

    /// All resources, including those that are only referred to.
    pub fn nodes(&self) -> impl Iterator<Item = &LinkedResource> {
        self.nodes.iter()
    }

    /// The references of a resource to others.
    pub fn below(&self, node: &LinkedResource) -> &[Link] {
        self.down.get(node).map_or(&[], Vec::as_slice)
    }

    /// The references of others to a resource.
    pub fn above(&self, node: &LinkedResource) -> &[Link] {
        self.up.get(node).map_or(&[], Vec::as_slice)
    }
}
