//! Which listeners use a RouteConfiguration, on which side, and with which filters.
//!
//! The inline routes of a client's listener are used by that listener. Those of a server's listener
//! are not here: the listener's own rules check them.

use std::collections::BTreeMap;

use xdsctl_channel::client::{Facts, FilterFacts, ListenerFacts, ResourceId, RouteFacts, World};
use xdsctl_model::resource::ResourceType;

/// A listener, or one of its chains, that uses a RouteConfiguration.
#[derive(Debug, Clone, Copy)]
pub struct User<'w> {
    /// Name of the listener.
    pub listener: &'w str,
    /// Whether the listener is a server's.
    pub is_server: bool,
    /// The HTTP filters of the listener, without the router.
    pub filters: &'w [FilterFacts],
    /// Whether the user is a server's filter chain without TLS.
    pub is_plaintext: bool,
}

/// Routes and everything that uses them.
#[derive(Debug)]
pub struct UsedRoutes<'w> {
    /// The resource that holds the routes.
    pub holder: ResourceId,
    /// Whether that resource is a listener.
    pub inline: bool,
    /// The routes.
    pub facts: &'w RouteFacts,
    /// The listeners or chains that use the routes; there is at least one.
    pub users: Vec<User<'w>>,
}

/// The listeners of a world, by the routes that they use.
#[derive(Debug, Default)]
pub struct Users<'w> {
    /// By name of a RouteConfiguration, which the world need not have.
    by_name: BTreeMap<&'w str, Vec<User<'w>>>,
    /// All routes that some listener uses.
    pub routes: Vec<UsedRoutes<'w>>,
    /// Whether some listener is rejected, so that it is not known what it would use.
    pub has_rejected: bool,
}

impl<'w> Users<'w> {
    /// Finds the users of all routes.
    pub fn of(world: &'w World) -> Users<'w> {
        let mut users = Users::default();
        for (listener, entry) in world.all(ResourceType::Listener) {
            let user = |filters, is_server| User {
                listener,
                is_server,
                filters,
                is_plaintext: false,
            };
            match entry.facts() {
                Some(Facts::Listener(ListenerFacts::Rds(name, filters))) => {
                    users.by_name.entry(name).or_default().push(user(filters, false));
                }
                Some(Facts::Listener(ListenerFacts::Inline(facts, filters))) => users.routes.push(UsedRoutes {
                    holder: entry.id,
                    inline: true,
                    facts,
                    users: vec![user(filters, false)],
                }),
                Some(Facts::Listener(ListenerFacts::Server(_, chains))) => {
                    for chain in chains {
                        let list = users.by_name.entry(&chain.routes).or_default();
                        list.push(User {
                            is_plaintext: chain.is_plaintext,
                            ..user(&chain.filters, true)
                        });
                    }
                }
                Some(_) | None => users.has_rejected = true,
            }
        }
        for (name, list) in &users.by_name {
            if let Some(entry) = world.get(ResourceType::RouteConfiguration, name)
                && let Some(Facts::Routes(facts)) = entry.facts()
            {
                users.routes.push(UsedRoutes {
                    holder: entry.id,
                    inline: false,
                    facts,
                    users: list.clone(),
                });
            }
        }
        users
    }

    /// Says whether the world has every route that its client would have.
    ///
    /// It has not if there are listeners, but none of them is a client's: then it is not known what
    /// the world is for.
    pub fn knows_all_routes(&self, world: &World) -> bool {
        let mut users = self
            .by_name
            .values()
            .flatten()
            .chain(self.routes.iter().flat_map(|routes| &routes.users));
        if world.has(ResourceType::Listener) && users.all(|user| user.is_server) {
            return false;
        }
        let is_there = |name| world.get(ResourceType::RouteConfiguration, name).is_some();
        let mut routes = world.all(ResourceType::RouteConfiguration);
        !self.has_rejected && routes.all(|(_, entry)| entry.is_accepted()) && self.client_routes().all(is_there)
    }

    /// Says whether a listener names the RouteConfiguration.
    pub fn names_routes(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// Returns the names of the RouteConfigurations that clients use.
    pub fn client_routes(&self) -> impl Iterator<Item = &'w str> + '_ {
        self.by_name
            .iter()
            .filter(|(_, list)| list.iter().any(|user| !user.is_server))
            .map(|(name, _)| *name)
    }
}
