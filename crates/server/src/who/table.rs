//! The table: for each chain, virtual host and class of methods, who is let in.

use super::condition::Condition;
use super::known::{Known, LooksLeft, OfChain, name_methods, name_route};
use super::methods::{MethodClass, MethodNames};
use super::regions::{Region, RegionTarget, regions};
use super::rows::{self, PolicyName, Row, split};
use crate::dialect::ServerDialect;
use crate::handshake::{Asks, Program};
use crate::routing::Routes;
use xdsctl_channel::client::Client;
use xdsctl_channel::rpc::Level;
use xdsctl_channel::rpc::chain as overrides;
use xdsctl_model::resource::filter::FilterConfig;
use xdsctl_model::resource::listener::{FilterChain, TcpListener};
use xdsctl_model::resource::rbac::{RbacAction, RbacRules};
use xdsctl_model::resource::route::{Action, Route, VirtualHost};

/// The most rows of one class of methods into which several ALLOW filters are joined.
const MAX_JOINED: usize = 200;

/// The error for a server whose configuration is too large for a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge;

impl std::fmt::Display for TooLarge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("filter chains, routes and policies are too many for a table")
    }
}

/// The clients that a server lets in.
#[derive(Clone)]
pub struct Table<'a> {
    /// The chains that take connections, in the order of the resource; the default one is the last.
    pub chains: Vec<ChainTable>,
    /// The connections that are closed.
    pub closed: Vec<Region>,
    /// The classes of methods.
    pub names: MethodNames,
    dialect: &'a ServerDialect,
}

/// The clients that a filter chain lets in.
#[derive(Debug, Clone)]
pub struct ChainTable {
    /// The chain's index in `filter_chains`; `None` for the default chain.
    pub index: Option<usize>,
    /// The connections that the chain takes.
    pub regions: Vec<Region>,
    /// What the chain asks of the client.
    pub asks: Asks,
    /// The chain's routes. Nobody is let in if they are not there.
    pub routes: Routes,
    /// The virtual hosts of the routes, in their order.
    pub hosts: Vec<HostTable>,
}

/// The clients that a virtual host lets in.
#[derive(Debug, Clone)]
pub struct HostTable {
    /// The virtual host's index in the resource.
    pub index: usize,
    /// The virtual host's domains. They exclude authorities for which another virtual host has a
    /// better pattern.
    pub domains: Vec<String>,
    /// The classes of methods, in order.
    pub methods: Vec<MethodTable>,
}

/// The clients that may call the methods of a class.
#[derive(Debug, Clone)]
pub struct MethodTable {
    /// The methods.
    pub class: MethodClass,
    /// The routes: the first one whose condition holds decides. If none holds, nobody is let in.
    pub entries: Vec<RouteTable>,
}

/// The clients that a route lets in.
#[derive(Debug, Clone)]
pub struct RouteTable {
    /// The route's index in the resource; `None` for RPCs that no route takes.
    pub route: Option<usize>,
    /// The conditions of the route that the class of methods does not decide.
    pub only_if: Condition,
    /// The clients that are let in.
    pub outcome: RouteOutcome,
}

/// The clients that are let in on a route, or why nobody is.
#[derive(Debug, Clone)]
pub enum RouteOutcome {
    /// Nobody.
    Nobody(Nobody),
    /// Clients are let in if one row holds, no exception does, and everything in `also` holds.
    Rows {
        /// The clients that are let in.
        rows: Vec<Row>,
        /// The clients that are denied although a row lets them in.
        except: Vec<Exception>,
        /// What further ALLOW filters ask, by the filter's name, if joining their rows with `rows`
        /// would give too many.
        also: Vec<(String, Condition)>,
    },
}

/// A DENY policy.
#[derive(Debug, Clone)]
pub struct Exception {
    /// The policy.
    pub by: PolicyName,
    /// The clients that the policy denies.
    pub rows: Vec<Row>,
}

/// Why nobody is let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Nobody {
    /// No route takes the RPC.
    NoRoute,
    /// The route is for clients.
    NotForServers,
    /// No policy of this filter can match.
    NoPolicy(String),
    /// This policy denies everybody.
    Denied(PolicyName),
    /// The server cannot read the policies of this filter, and ends the connection.
    Unreadable(String),
}

impl<'a> Table<'a> {
    /// Makes the table of a server that listens on a port. If a method is named, the table has that
    /// method only.
    ///
    /// # Errors
    /// Fails if there is more than fits into a table.
    pub fn of(
        listener: &'a TcpListener,
        port: u16,
        method: Option<&str>,
        client: &Client,
        program: &Program<'_>,
        dialect: &'a ServerDialect,
    ) -> Result<Table<'a>, TooLarge> {
        let names = method.map_or_else(|| Table::names(listener, client), MethodNames::only);
        Table::with(listener, port, names, client, program, dialect)
    }

    /// Returns the names that the routes and policies of a server have for methods.
    pub fn names(listener: &TcpListener, client: &Client) -> MethodNames {
        named(&routes_of(listener, client))
    }

    /// Makes the table of a server with classes of methods for these names.
    ///
    /// # Errors
    /// Fails if there is more than fits into a table.
    pub fn with(
        listener: &'a TcpListener,
        port: u16,
        names: MethodNames,
        client: &Client,
        program: &Program<'_>,
        dialect: &'a ServerDialect,
    ) -> Result<Table<'a>, TooLarge> {
        let routes = routes_of(listener, client);
        let mut budget = LooksLeft::new();
        let mut regions = regions(listener, dialect)?;
        let mut chains = Vec::new();
        for (index, chain, routes) in routes {
            let Some(regions) = regions.remove(&index.map_or(RegionTarget::Default, RegionTarget::Chain)) else {
                continue;
            };
            let asks = Asks::of(chain, program, dialect);
            let of_chain = OfChain {
                chain,
                names: &names,
                asks,
                regions: &regions,
                port,
                dialect,
            };
            let hosts = match &routes {
                Routes::Held(held) => held.virtual_hosts.as_slice(),
                Routes::Missing(_) | Routes::Rejected(..) => &[],
            };
            let hosts = hosts.iter().map(|host| of_chain.host(host, &mut budget));
            let hosts = hosts.collect::<Result<Vec<_>, _>>()?;
            chains.push(ChainTable {
                index,
                regions,
                asks,
                routes,
                hosts,
            });
        }
        Ok(Table {
            chains,
            closed: regions.remove(&RegionTarget::Closed).unwrap_or_default(),
            names,
            dialect,
        })
    }

    /// Returns the dialect of the server.
    pub(super) const fn dialect(&self) -> &ServerDialect {
        self.dialect
    }
}

/// Returns the chains of a server, with their routes.
fn routes_of<'l>(listener: &'l TcpListener, client: &Client) -> Vec<(Option<usize>, &'l FilterChain, Routes)> {
    let chains = listener.used_chains();
    let routes = chains.map(|(index, chain)| (index, chain, Routes::of(&chain.http_connection_manager.routes, client)));
    routes.collect()
}

/// Returns the methods that routes and policies name.
fn named(routes: &[(Option<usize>, &FilterChain, Routes)]) -> MethodNames {
    let mut names = MethodNames::default();
    let of_filter = |config: &FilterConfig, names: &mut MethodNames| {
        let policies = config
            .rbac_rules()
            .into_iter()
            .flat_map(|rules| rules.policies.values());
        let lists = policies.flat_map(|policy| [&policy.permissions, &policy.principals]);
        lists.flatten().for_each(|condition| name_methods(condition, names));
    };
    for (_, chain, routes) in routes {
        let filters = chain.http_connection_manager.http_filters.iter();
        filters.for_each(|filter| of_filter(&filter.config, &mut names));
        let Routes::Held(held) = routes else { continue };
        for host in &held.virtual_hosts {
            let own = host.typed_per_filter_config.values();
            let of_routes = host
                .routes
                .iter()
                .flat_map(|route| route.typed_per_filter_config.values());
            let configs = own.chain(of_routes).filter_map(|entry| entry.config.as_ref());
            configs.for_each(|config| of_filter(config, &mut names));
            host.routes.iter().for_each(|route| name_route(route, &mut names));
        }
    }
    names
}

impl OfChain<'_> {
    fn host(&self, host: &VirtualHost, budget: &mut LooksLeft) -> Result<HostTable, TooLarge> {
        let mut methods = Vec::new();
        for class in self.names.classes() {
            budget.spend()?;
            let known = Known {
                of: self,
                class: &class,
            };
            let entries = self.entries(host, &known, budget)?;
            methods.push(MethodTable { class, entries });
        }
        Ok(HostTable {
            index: host.index,
            domains: host.domains.clone(),
            methods,
        })
    }

    fn entries(
        &self,
        host: &VirtualHost,
        known: &Known<'_>,
        budget: &mut LooksLeft,
    ) -> Result<Vec<RouteTable>, TooLarge> {
        let mut entries = Vec::new();
        for route in &host.routes {
            let only_if = known.route(route, budget)?;
            if only_if.is_false() {
                continue;
            }
            let is_last = only_if.is_true();
            let outcome = match &route.action {
                Action::NonForwarding => self.outcome(host, route, known, budget)?,
                Action::Route(_) | Action::Unknown => RouteOutcome::Nobody(Nobody::NotForServers),
            };
            entries.push(RouteTable {
                route: Some(route.index),
                only_if,
                outcome,
            });
            if is_last {
                return Ok(entries);
            }
        }
        entries.push(RouteTable {
            route: None,
            only_if: Condition::TRUE,
            outcome: RouteOutcome::Nobody(Nobody::NoRoute),
        });
        Ok(entries)
    }

    /// Returns which clients the filters let in.
    fn outcome(
        &self,
        host: &VirtualHost,
        route: &Route,
        known: &Known<'_>,
        budget: &mut LooksLeft,
    ) -> Result<RouteOutcome, TooLarge> {
        let levels = [
            (Level::VirtualHost, &host.typed_per_filter_config),
            (Level::Route, &route.typed_per_filter_config),
        ];
        let filters = self.chain.http_connection_manager.http_filters.iter();
        let levels = if self.dialect.ignores_overrides {
            &[][..]
        } else {
            &levels[..]
        };
        let filters = filters.map(|filter| overrides::effective(filter, levels));
        let mut rows = vec![Row::default()];
        let (mut except, mut also) = (Vec::new(), Vec::new());
        for filter in filters.filter(|filter| !filter.disabled) {
            let Some(rules) = filter.config.rbac_rules() else {
                continue;
            };
            if rules.ends_program {
                return Ok(RouteOutcome::Nobody(Nobody::Unreadable(filter.name.to_owned())));
            }
            let policies = of_policies(filter.name, rules, known, budget)?;
            match rules.action {
                RbacAction::Deny => {
                    for (by, condition) in policies {
                        if condition.is_true() {
                            return Ok(RouteOutcome::Nobody(Nobody::Denied(by)));
                        }
                        let rows = of_matching(&[(by.clone(), condition)]);
                        except.push(Exception { by, rows });
                    }
                }
                RbacAction::Allow if policies.is_empty() => {
                    return Ok(RouteOutcome::Nobody(Nobody::NoPolicy(filter.name.to_owned())));
                }
                RbacAction::Allow => {
                    let own = of_matching(&policies);
                    match rows::both(&rows, &own, MAX_JOINED.max(own.len())) {
                        Some(both) => rows = both,
                        None => {
                            let conditions = policies.into_iter().map(|(_, condition)| condition);
                            also.push((filter.name.to_owned(), Condition::one_of(conditions)));
                        }
                    }
                }
            }
        }
        Ok(RouteOutcome::Rows { rows, except, also })
    }
}

/// Returns the policies of a filter that can match, with what is left of each. If one matches
/// everybody, returns only the first such policy.
fn of_policies(
    filter: &str,
    rules: &RbacRules,
    known: &Known<'_>,
    budget: &mut LooksLeft,
) -> Result<Vec<(PolicyName, Condition)>, TooLarge> {
    let mut found = Vec::new();
    for (name, policy) in &rules.policies {
        let condition = known.policy(policy, budget)?;
        if condition.is_false() {
            continue;
        }
        let by = PolicyName {
            filter: filter.to_owned(),
            policy: name.clone(),
        };
        if condition.is_true() {
            return Ok(vec![(by, condition)]);
        }
        found.push((by, condition));
    }
    Ok(found)
}

/// Returns whom policies match, as rows.
fn of_matching(policies: &[(PolicyName, Condition)]) -> Vec<Row> {
    let rows = policies.iter().flat_map(|(by, condition)| {
        split(condition).into_iter().map(|conditions| Row {
            conditions,
            by: vec![by.clone()],
        })
    });
    rows.collect()
}
