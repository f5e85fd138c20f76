//! What in a world refers to a thing, and what that thing leads to.

mod destinations;
mod shares;

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use foldhash::HashMap;

use crate::cel::{Value, Work};
use crate::site::{Held, Thing};
use crate::uses::{ChainNumber, ClusterUse, FilterUse, Found, PriorityView, Shared, Use, User};
use crate::view;
use destinations::{destinations, named_by};
use xdsctl_channel::client::{Checked, ClusterFacts, Facts, ResourceId, World};
use xdsctl_channel::rpc::chain::{self, Level};
use xdsctl_model::profile::Profile;
use xdsctl_model::resource::cluster::Discovery;
use xdsctl_model::resource::filter::FilterConfig;
use xdsctl_model::resource::listener::{HttpConnectionManager, RouteSource};
use xdsctl_model::resource::route::{Route, RouteAction, VirtualHost};
use xdsctl_model::resource::{
    Cluster, Endpoints, LbPolicy, Listener, Millis, Resource, ResourceType, RouteConfiguration,
};

/// The most clusters that an aggregate may lead to, each counted once. If there are more, the
/// evaluation ends at its limit.
const MAX_BELOW: usize = 10_000;

/// Adds a priority of a cluster.
type Add<'f, 'a> = &'f mut dyn FnMut(&'a str, usize, Found<'a>);

/// Answers what leads where in a world.
pub(crate) struct Reach<'a> {
    world: &'a World,
    resources: &'a [Checked],
    index: &'a Index<'a>,
    work: Work,
}

/// What leads to a resource. It is the same for all places in the resource.
#[derive(Default)]
pub(crate) struct Ways<'a> {
    /// For a cluster, and for resources below it: the routes that lead there.
    uses: OnceCell<Vec<Use<'a>>>,
    /// For a cluster, and for resources below it: the listeners that lead there.
    leading: OnceCell<Vec<User<'a>>>,
    /// For a cluster, and for resources below it: how long an RPC may take.
    deadline: OnceCell<Option<Millis>>,
    /// For routes: the limit that their listeners set.
    limit: OnceCell<Option<Millis>>,
    /// For endpoints: the shares of the priority that was last asked for, with its number.
    shared: RefCell<Option<(usize, Rc<Shared<'a>>)>>,
}

/// What leads where in a world. Each route asks, so everything is indexed once.
#[derive(Default)]
pub(crate) struct Index<'a> {
    /// The client whose world it is.
    profile: Profile,
    /// The users of each RouteConfiguration, by its name.
    users: HashMap<&'a str, Vec<User<'a>>>,
    /// The users of each listener, in the order of their [`ChainNumber`].
    listeners: HashMap<&'a str, Vec<User<'a>>>,
    /// What is known about each cluster, by its name as it is spelt there.
    named: HashMap<&'a str, NamedCluster<'a>>,
    /// The clusters that use endpoints, by the name of the endpoints.
    clusters: HashMap<&'a str, Vec<&'a str>>,
}

/// What is known about a cluster.
#[derive(Default)]
struct NamedCluster<'a> {
    /// The cluster as the client keeps it.
    held: Option<&'a Cluster>,
    /// The routes that name it.
    routes: Vec<Use<'a>>,
    /// The aggregates that name it.
    parents: Vec<&'a String>,
}

impl<'a> Index<'a> {
    /// Makes the index of a world.
    pub fn of(world: &'a World, resources: &'a [Checked]) -> Index<'a> {
        let parsed = |id: ResourceId| resources.get(id.0)?.parsed.as_deref();
        let mut index = Index {
            profile: Profile::of(world.client()),
            ..Index::default()
        };
        for (name, entry) in world.all(ResourceType::Listener) {
            if let Some(Resource::Listener(listener)) = parsed(entry.id) {
                index.add_listener(name, listener);
            }
        }
        for (name, entry) in world.all(ResourceType::RouteConfiguration) {
            if let Some(Resource::RouteConfiguration(routes)) = parsed(entry.id) {
                index.add_routes(name, None, routes);
            }
        }
        for (name, entry) in world.all(ResourceType::Cluster) {
            if let Some(Resource::Cluster(cluster)) = parsed(entry.id) {
                index.named.entry(name).or_default().held = Some(cluster);
            }
            match entry.facts() {
                Some(Facts::Cluster(ClusterFacts::Aggregate { .. })) => {
                    if let (Some(Resource::Cluster(cluster)), Some(checked)) =
                        (parsed(entry.id), resources.get(entry.id.0))
                    {
                        for child in cluster.discovery.children() {
                            index.named.entry(child).or_default().parents.push(&checked.name);
                        }
                    }
                }
                Some(Facts::Cluster(ClusterFacts::Eds { service_name, .. })) => {
                    let endpoints = service_name.as_deref().unwrap_or(name);
                    index.clusters.entry(endpoints).or_default().push(name);
                }
                _ => {}
            }
        }
        index
    }

    fn add_listener(&mut self, name: &'a str, listener: &'a Listener) {
        let user = |index, manager: &'a HttpConnectionManager, is_server| User {
            listener: name,
            is_server,
            index,
            manager,
        };
        let own: Vec<User<'a>> = match listener {
            Listener::Api(manager) => vec![user(None, manager, false)],
            Listener::Tcp(tcp) => {
                let chains = tcp.used_chains();
                chains
                    .map(|(index, chain)| user(index, &chain.http_connection_manager, true))
                    .collect()
            }
        };
        for (number, user) in own.iter().enumerate() {
            match &user.manager.routes {
                RouteSource::Rds(routes) => self.users.entry(routes).or_default().push(*user),
                RouteSource::Inline(routes) => self.add_routes(name, Some(number), routes),
            }
        }
        self.listeners.insert(name, own);
    }

    fn add_routes(&mut self, holder: &'a str, chain: Option<ChainNumber>, routes: &'a RouteConfiguration) {
        for host in &routes.virtual_hosts {
            for route in &host.routes {
                for (cluster, share, overrides) in named_by(Some(routes), route) {
                    let found = Use {
                        holder,
                        chain,
                        host,
                        route,
                        share,
                        cluster: Some(cluster),
                        overrides,
                    };
                    self.named.entry(cluster).or_default().routes.push(found);
                }
            }
        }
    }
}

impl<'a> Reach<'a> {
    pub const fn new(world: &'a World, resources: &'a [Checked], index: &'a Index<'a>, work: Work) -> Reach<'a> {
        Reach {
            world,
            resources,
            index,
            work,
        }
    }

    /// Returns what the client keeps of a resource.
    fn value(&self, resource_type: ResourceType, name: &str) -> Option<&'a Resource> {
        let ResourceId(number) = self.world.get(resource_type, name)?.id;
        self.resources.get(number)?.parsed.as_deref()
    }

    fn cluster(&self, name: &str) -> Option<&'a Cluster> {
        if let Some(cluster) = self.index.named.get(name).and_then(|named| named.held) {
            return Some(cluster);
        }
        // The name may be spelt in another way.
        match self.value(ResourceType::Cluster, name)? {
            Resource::Cluster(cluster) => Some(cluster),
            _ => None,
        }
    }

    fn endpoints(&self, name: &str) -> Option<&'a Endpoints> {
        match self.value(ResourceType::Endpoints, name)? {
            Resource::Endpoints(endpoints) => Some(endpoints),
            _ => None,
        }
    }

    /// Returns the users of the routes of a RouteConfiguration, or of those inside a filter chain
    /// of a listener.
    fn users_of(&self, holder: &str, chain: Option<ChainNumber>) -> &[User<'a>] {
        let users = match chain {
            Some(number) => {
                let chains = self.index.listeners.get(holder);
                chains.and_then(|chains| chains.get(number..=number))
            }
            None => self.index.users.get(holder).map(Vec::as_slice),
        };
        users.unwrap_or_default()
    }

    /// Returns the clusters that name endpoints, or the cluster itself, and all aggregates above
    /// them.
    fn above(&self, held: &Held<'a>) -> Vec<&'a str> {
        let mut all: Vec<&'a str> = match held.checked.resource_type {
            Some(ResourceType::Cluster) => vec![held.name],
            _ => self.index.clusters.get(held.name).cloned().unwrap_or_default(),
        };
        let mut known: BTreeSet<&str> = all.iter().copied().collect();
        let mut next = 0;
        while let Some(name) = all.get(next).copied().filter(|_| next < MAX_BELOW) {
            next += 1;
            let named = self.index.named.get(name).into_iter();
            let new = named
                .flat_map(|named| &named.parents)
                .map(|parent| parent.as_str())
                .filter(|parent| known.insert(parent));
            all.extend(new.collect::<Vec<_>>());
        }
        self.count(next);
        all
    }

    /// Counts clusters that were gone through. At the limit the evaluation ends, so that none is
    /// skipped silently.
    fn count(&self, clusters: usize) {
        self.work.add(if clusters < MAX_BELOW { clusters } else { usize::MAX });
    }

    /// Returns the routes that lead to a cluster, or to endpoints.
    fn uses<'s>(&'s self, held: &'s Held<'a>) -> &'s [Use<'a>] {
        held.ways.uses.get_or_init(|| {
            let above = self.above(held);
            let named = above.into_iter().filter_map(|name| self.index.named.get(name));
            let uses: Vec<Use<'a>> = named.flat_map(|named| &named.routes).copied().collect();
            self.work.add(uses.len());
            uses
        })
    }

    /// Returns a route as one that leads somewhere.
    fn own(held: &Held<'a>, host: &'a VirtualHost, route: &'a Route) -> Use<'a> {
        Use {
            holder: held.name,
            chain: held.chain,
            host,
            route,
            share: Some(1.0),
            cluster: None,
            overrides: None,
        }
    }

    /// Returns the listeners that lead to a thing, once for each of their filter chains that does.
    fn leading<'s>(&'s self, held: &'s Held<'a>, thing: Thing<'a>) -> &'s [User<'a>] {
        match thing {
            Thing::Listener(_) => self.index.listeners.get(held.name).map_or(&[], Vec::as_slice),
            Thing::Filter(chain, _) => self.users_of(held.name, Some(chain)),
            Thing::RouteConfiguration(..) | Thing::VirtualHost(_) | Thing::Route(..) | Thing::RetryPolicy(..) => {
                self.users_of(held.name, held.chain)
            }
            Thing::Cluster(_) | Thing::Endpoints(_) | Thing::Locality { .. } | Thing::Endpoint(..) => {
                held.ways.leading.get_or_init(|| {
                    let mut holders: BTreeSet<(&str, Option<ChainNumber>)> = BTreeSet::new();
                    let uses = self.uses(held).iter();
                    let new = uses.filter(|found| holders.insert((found.holder, found.chain)));
                    // Each user has the routes of one holder, so no user comes twice.
                    let users = new.flat_map(|found| self.users_of(found.holder, found.chain));
                    let users: Vec<User<'a>> = users.copied().collect();
                    self.work.add(users.len());
                    users
                })
            }
        }
    }

    /// Says whether a listener with such a name leads to a thing.
    pub fn is_led_to(&self, held: &Held<'a>, thing: Thing<'a>, names: impl Fn(&str) -> bool) -> bool {
        self.leading(held, thing).iter().any(|user| names(user.listener))
    }

    /// Returns the filter chains of a server's listener that take connections.
    pub fn filter_chains(thing: Thing<'a>, redacts: bool) -> Value<'a> {
        match thing {
            Thing::Listener(Listener::Tcp(tcp)) => Value::list(
                tcp.used_chains()
                    .map(|(_, chain)| view::object("filter_chain", chain, redacts)),
            ),
            _ => Value::list([]),
        }
    }

    pub fn listeners(&self, held: &Held<'a>, thing: Thing<'a>) -> Value<'a> {
        Value::list(self.leading(held, thing).iter().copied().map(Value::object))
    }

    pub fn routes(&self, held: &Held<'a>, thing: Thing<'a>) -> Value<'a> {
        match thing {
            Thing::Route(host, route) | Thing::RetryPolicy(host, route) => {
                Value::list([Value::object(Self::own(held, host, route))])
            }
            _ if thing.is_below_routes() => Value::list(self.uses(held).iter().copied().map(Value::object)),
            _ => Value::list([]),
        }
    }

    pub fn aggregates(&self, name: &str, thing: Thing<'a>) -> Vec<&'a String> {
        let named = self.index.named.get(name);
        let named = named.filter(|_| matches!(thing, Thing::Cluster(_)));
        named.map(|named| named.parents.clone()).unwrap_or_default()
    }

    /// Returns how long an RPC may take at most, over all ways to a thing; `None` if a way has no
    /// limit.
    pub fn deadline(&self, held: &Held<'a>, thing: Thing<'a>) -> Option<Millis> {
        match thing {
            Thing::RouteConfiguration(..) | Thing::VirtualHost(_) | Thing::Listener(_) | Thing::Filter(..) => None,
            Thing::Route(_, route) | Thing::RetryPolicy(_, route) => deadline_of(route.route_action()?, || {
                *held.ways.limit.get_or_init(|| self.limit(held.name, held.chain))
            }),
            Thing::Cluster(_) | Thing::Endpoints(_) | Thing::Locality { .. } | Thing::Endpoint(..) => {
                *held.ways.deadline.get_or_init(|| {
                    let mut limits = BTreeMap::new();
                    let mut longest = None;
                    for found in self.uses(held) {
                        let Some(action) = found.route.route_action() else {
                            continue;
                        };
                        let limit = || {
                            let of_holder = || self.limit(found.holder, found.chain);
                            *limits.entry((found.holder, found.chain)).or_insert_with(of_holder)
                        };
                        longest = longest.max(Some(deadline_of(action, limit)?));
                    }
                    longest
                })
            }
        }
    }

    /// Returns the longest limit that the listeners of some routes set; `None` if one sets none, or
    /// there is no listener.
    fn limit(&self, holder: &str, chain: Option<ChainNumber>) -> Option<Millis> {
        let users = self.users_of(holder, chain);
        self.work.add(users.len());
        let limits = users.iter().map(|user| user.manager.http_max_stream_duration);
        limits
            .clone()
            .all(|limit| limit != Millis(0))
            .then(|| limits.max())
            .flatten()
    }

    /// Returns the clusters that RPCs go to from a thing, each with its share of the route's
    /// weights.
    fn going(&self, held: &Held<'a>, thing: Thing<'a>, redacts: bool) -> Vec<ClusterUse<'a>> {
        let shares = |routes, route| named_by(routes, route).map(|(name, share, _)| (name, share));
        let of_hosts = |routes, hosts: &'a [VirtualHost]| {
            let all = hosts.iter().flat_map(|host| &host.routes);
            all.flat_map(move |route| shares(routes, route))
        };
        let found = |(name, share): (&'a str, Option<f64>)| ClusterUse {
            name,
            share,
            cluster: self.cluster(name),
            redacts,
        };
        let first: Vec<(&'a str, Option<f64>)> = match thing {
            Thing::Route(_, route) | Thing::RetryPolicy(_, route) => shares(self.around(held), route).collect(),
            Thing::VirtualHost(host) => of_hosts(self.around(held), std::slice::from_ref(host)).collect(),
            Thing::RouteConfiguration(_, routes) => of_hosts(Some(routes), &routes.virtual_hosts).collect(),
            Thing::Cluster(_) => vec![(held.name, Some(1.0))],
            Thing::Endpoints(_) | Thing::Locality { .. } | Thing::Endpoint(..) => {
                let clusters = self.index.clusters.get(held.name).into_iter().flatten();
                return clusters.map(|name| found((*name, Some(1.0)))).collect();
            }
            Thing::Listener(_) | Thing::Filter(..) => {
                let routes = self
                    .leading(held, thing)
                    .iter()
                    .filter_map(|user| self.routes_of(user.manager));
                routes
                    .flat_map(|routes| of_hosts(Some(routes), &routes.virtual_hosts))
                    .collect()
            }
        };
        let mut all: Vec<ClusterUse<'a>> = first.into_iter().map(found).collect();
        // An aggregate adds the clusters that it names.
        let mut known: Option<BTreeSet<&str>> = None;
        let mut next = 0;
        while let Some(cluster) = all.get(next).filter(|_| next < MAX_BELOW).map(|one| one.cluster) {
            next += 1;
            if let Some(Discovery::Aggregate { children }) = cluster.map(|cluster| &cluster.discovery) {
                let known = known.get_or_insert_with(|| all.iter().map(|one| one.name).collect());
                let new = children.iter().filter(|child| known.insert(child));
                all.extend(new.map(|child| found((child, Some(1.0)))).collect::<Vec<_>>());
            }
        }
        self.work.add(all.len());
        self.count(next);
        all
    }

    /// Returns the RouteConfiguration that a virtual host or a route is in.
    fn around(&self, held: &Held<'a>) -> Option<&'a RouteConfiguration> {
        match held.checked.parsed.as_deref()? {
            Resource::RouteConfiguration(routes) => Some(routes),
            _ => self.routes_of(self.users_of(held.name, held.chain).first()?.manager),
        }
    }

    fn routes_of(&self, manager: &'a HttpConnectionManager) -> Option<&'a RouteConfiguration> {
        match &manager.routes {
            RouteSource::Inline(routes) => Some(routes),
            RouteSource::Rds(name) => match self.value(ResourceType::RouteConfiguration, name)? {
                Resource::RouteConfiguration(routes) => Some(routes),
                _ => None,
            },
        }
    }

    pub fn clusters(&self, held: &Held<'a>, thing: Thing<'a>, redacts: bool) -> Value<'a> {
        let mut all = self.going(held, thing, redacts);
        if matches!(thing, Thing::Cluster(_)) {
            // A cluster leads to others, if it is an aggregate.
            all.remove(0);
        }
        Value::list(all.into_iter().map(Value::object))
    }

    pub fn priorities(&self, held: &Held<'a>, thing: Thing<'a>) -> Value<'a> {
        let mut all = Vec::new();
        let mut add = |cluster: &'a str, number: usize, of: Found<'a>| {
            all.push(Value::object(PriorityView { cluster, number, of }));
        };
        let add_endpoints =
            |cluster: &'a str, endpoints: &'a Endpoints, policies: &[&'a LbPolicy], add: Add<'_, 'a>| {
                let priorities = endpoints.priorities.iter().enumerate();
                priorities.for_each(|(number, localities)| {
                    add(cluster, number, Found::Eds(self.shared(localities, policies)))
                });
            };
        match thing {
            Thing::Endpoints(endpoints) => add_endpoints(held.name, endpoints, &self.policies_of(held), &mut add),
            Thing::Locality { .. } | Thing::Endpoint(..) => {}
            _ => {
                let roots: Vec<&'a str> = match thing {
                    Thing::Cluster(_) => vec![held.name],
                    _ => self.going(held, thing, false).into_iter().map(|one| one.name).collect(),
                };
                let mut known = BTreeSet::new();
                // Each cluster comes with the policy of the topmost aggregate above it.
                let mut open: Vec<(&'a str, Option<&'a LbPolicy>)> =
                    roots.into_iter().rev().map(|name| (name, None)).collect();
                // Depth first: the order in which an aggregate fails over.
                while let Some((name, above)) = open.pop().filter(|_| known.len() < MAX_BELOW) {
                    if !known.insert(name) {
                        continue;
                    }
                    let Some(cluster) = self.cluster(name) else {
                        continue;
                    };
                    match &cluster.discovery {
                        Discovery::Aggregate { children } => {
                            let above = above.or(Some(&cluster.lb_policy));
                            open.extend(children.iter().rev().map(|child| (child.as_str(), above)));
                        }
                        Discovery::Eds { service_name } => {
                            let found = self.endpoints(service_name.as_deref().unwrap_or(name));
                            if let Some(endpoints) = found {
                                let above = above.filter(|_| self.aggregates_decide());
                                add_endpoints(name, endpoints, &[above.unwrap_or(&cluster.lb_policy)], &mut add);
                            }
                        }
                        Discovery::LogicalDns { hostname } => add(name, 0, Found::LogicalDns(hostname)),
                    }
                }
                self.count(known.len());
            }
        }
        Value::List(all.into())
    }

    /// Returns the filters on the way to a thing, with the overrides of virtual host, route and
    /// weighted cluster.
    pub fn filters(&self, held: &Held<'a>, thing: Thing<'a>, redacts: bool) -> Value<'a> {
        let mut all = Vec::new();
        let mut add = |user: &User<'a>, found: Option<&Use<'a>>| {
            self.work.add(user.manager.http_filters.len());
            for filter in user
                .manager
                .http_filters
                .iter()
                .filter(|filter| filter.config != FilterConfig::Router)
            {
                let of_routes = found.into_iter().flat_map(|found| {
                    [
                        (Level::VirtualHost, &found.host.typed_per_filter_config),
                        (Level::Route, &found.route.typed_per_filter_config),
                    ]
                });
                let of_weight = found.and_then(|found| found.overrides);
                let of_weight = of_weight.map(|overrides| (Level::ClusterWeight, overrides));
                let overrides: Vec<(Level, &'a chain::Overrides)> = of_routes.chain(of_weight).collect();
                let effective = chain::effective(filter, &overrides);
                if !effective.disabled {
                    all.push(Value::object(FilterUse {
                        name: &filter.name,
                        cluster: found.and_then(|found| found.cluster),
                        user: *user,
                        config: effective.config,
                        redacts,
                    }));
                }
            }
        };
        let mut add_use = |found: &Use<'a>| {
            let users = self.users_of(found.holder, found.chain);
            users.iter().for_each(|user| add(user, Some(found)));
        };
        match thing {
            Thing::Route(host, route) | Thing::RetryPolicy(host, route) => {
                let own = Self::own(held, host, route);
                let mut all = destinations(route).peekable();
                if all.peek().is_none() {
                    add_use(&own);
                }
                for (cluster, share, overrides) in all {
                    let cluster = Some(cluster);
                    add_use(&Use {
                        share: Some(share),
                        cluster,
                        overrides,
                        ..own
                    });
                }
            }
            _ if thing.is_below_routes() => self.uses(held).iter().for_each(add_use),
            _ => self.leading(held, thing).iter().for_each(|user| add(user, None)),
        }
        Value::List(all.into())
    }
}

/// Returns how long an RPC of a route may take; `None` without a limit.
fn deadline_of(action: &RouteAction, of_listeners: impl FnOnce() -> Option<Millis>) -> Option<Millis> {
    match action.max_stream_duration {
        Some(own) => Some(own).filter(|own| *own != Millis(0)),
        None => of_listeners(),
    }
}
