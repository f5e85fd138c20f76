//! Where a channel starts: in which world, and at a target, a RouteConfiguration or a cluster.

use super::{NamedStart, SessionError, SessionNote, SessionPlan};
use crate::client::target::Target;
use crate::client::{Resources, Start};
use xdsctl_clients::bootstrap::Bootstrap;

/// Where a channel is to start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum PlannedStart {
    /// At the only API listener.
    #[default]
    Listener,
    /// At the only RouteConfiguration, or the only API listener.
    OnlyRoutes,
    /// At a target, `xds:///NAME`, or a `NAME` alone.
    Target(String),
    /// At a RouteConfiguration.
    RouteConfig(String),
    /// At a cluster.
    Cluster(String),
}

/// Finds the start that a plan asks for.
///
/// # Errors
/// The resource does not exist, or none is named and several are possible.
pub(super) fn of(
    plan: &SessionPlan,
    resources: &Resources,
    bootstrap: &Bootstrap,
    notes: &mut Vec<SessionNote>,
) -> Result<Start, SessionError> {
    let authority = plan.authority.as_deref();
    match &plan.start {
        PlannedStart::Cluster(name) if resources.clusters.contains_key(name) => Ok(Start::Cluster(name.clone())),
        PlannedStart::Cluster(name) => Err(SessionError::NoSuch {
            kind: "cluster",
            name: name.clone(),
            known: texts(resources.clusters.keys()),
        }),
        PlannedStart::RouteConfig(name) => {
            let start = routes(name, authority, resources)?;
            notes.push(SessionNote::WithoutListener);
            Ok(start)
        }
        PlannedStart::Target(uri) => target(uri, authority, bootstrap).map(Start::Target),
        PlannedStart::OnlyRoutes => {
            let mut names = resources.route_configs.keys();
            match (names.next(), names.next()) {
                (Some(only), None) => routes(only, authority, resources),
                _ => listener(authority, resources).map(Start::Target),
            }
        }
        PlannedStart::Listener => listener(authority, resources).map(Start::Target),
    }
}

/// Starts at a RouteConfiguration. Without an authority, its only virtual host is used.
fn routes(name: &str, authority: Option<&str>, resources: &Resources) -> Result<Start, SessionError> {
    let Some(held) = resources.route_configs.get(name) else {
        return Err(SessionError::NoSuch {
            kind: "RouteConfiguration",
            name: name.to_owned(),
            known: texts(resources.route_configs.keys()),
        });
    };
    let hosts = held
        .value()
        .map(|routes| routes.virtual_hosts.as_slice())
        .unwrap_or_default();
    let authority = match (authority, hosts) {
        (Some(authority), _) => authority,
        // A domain with a `*` matches itself.
        (None, [host]) => host.domains.first().map_or("", String::as_str),
        // Every RPC then fails, with a message that says why.
        (None, []) => "",
        (None, _) => {
            return Err(SessionError::SeveralHosts {
                name: name.to_owned(),
                domains: texts(hosts.iter().flat_map(|host| &host.domains)),
            });
        }
    };
    Ok(Start::Routes {
        name: name.to_owned(),
        authority: authority.to_owned(),
    })
}

/// Reads a target. A bare name is most likely meant as `xds:///NAME`.
///
/// # Errors
/// No channel can be made to the target.
pub fn target(uri: &str, authority: Option<&str>, bootstrap: &Bootstrap) -> Result<Target, SessionError> {
    let uri = if uri.starts_with("xds:") || uri.contains("://") {
        uri.to_owned()
    } else {
        format!("xds:///{uri}")
    };
    Target::parse(&uri, authority, bootstrap).map_err(|error| SessionError::Target {
        error,
        authorities: texts(bootstrap.authorities.keys()),
    })
}

/// The target of the only API listener.
fn listener(authority: Option<&str>, resources: &Resources) -> Result<Target, SessionError> {
    let mut names = resources.api_listeners();
    if let Some(name) = names.next() {
        return match names.next() {
            None => Ok(Target::of_listener(name, authority)),
            Some(_) => Err(SessionError::SeveralListeners(
                resources.api_listeners().map(str::to_owned).collect(),
            )),
        };
    }
    // A channel to a Listener that the client rejects exists too, and says why it fails.
    let mut rejected = resources.listeners.iter().filter(|(_, held)| !held.is_accepted());
    match (rejected.next(), rejected.next()) {
        (Some((name, _)), None) => Ok(Target::of_listener(name, authority)),
        _ => Err(SessionError::NoListener {
            listeners: texts(resources.listeners.keys()),
            route_configs: texts(resources.route_configs.keys()),
            clusters: texts(resources.clusters.keys()),
        }),
    }
}

/// The world of the channel: the one that is named, the only one, or the only one that has the
/// resource at which the channel starts.
///
/// # Errors
/// The world does not exist, or several are possible.
pub(super) fn world(
    worlds: &[(String, Resources)],
    plan: &SessionPlan,
    bootstrap: &Bootstrap,
) -> Result<usize, SessionError> {
    let names = || texts(worlds.iter().map(|(name, _)| name));
    if let Some(wanted) = &plan.world {
        let number = worlds.iter().position(|(name, _)| name == wanted);
        return number.ok_or_else(|| SessionError::NoWorld {
            name: wanted.clone(),
            known: names(),
        });
    }
    if worlds.len() == 1 {
        return Ok(0);
    }
    let start = match &plan.start {
        PlannedStart::Cluster(name) => NamedStart::Cluster(name.clone()),
        PlannedStart::RouteConfig(name) => NamedStart::Routes(name.clone()),
        PlannedStart::Target(uri) => match Target::parse(uri, plan.authority.as_deref(), bootstrap) {
            Ok(target) => NamedStart::Listener(target.listener),
            Err(_) => NamedStart::AnyListener,
        },
        PlannedStart::Listener | PlannedStart::OnlyRoutes => NamedStart::AnyListener,
    };
    let has_it = |resources: &Resources| match &start {
        NamedStart::Cluster(name) => resources.clusters.contains_key(name),
        NamedStart::Routes(name) => resources.route_configs.contains_key(name),
        NamedStart::Listener(name) => resources.listeners.contains_key(name),
        NamedStart::AnyListener => resources.api_listeners().next().is_some(),
    };
    let fitting = worlds.iter().enumerate().filter(|(_, (_, held))| has_it(held));
    let fitting: Vec<(usize, &String)> = fitting.map(|(number, (name, _))| (number, name)).collect();
    match fitting.as_slice() {
        [(number, _)] => Ok(*number),
        [] => {
            let held = worlds.iter().map(|(_, resources)| resources);
            let known = match &start {
                NamedStart::Cluster(_) => texts(held.flat_map(|held| held.clusters.keys())),
                NamedStart::Routes(_) => texts(held.flat_map(|held| held.route_configs.keys())),
                NamedStart::Listener(_) => texts(held.flat_map(|held| held.listeners.keys())),
                NamedStart::AnyListener => Vec::new(),
            };
            Err(SessionError::InNoWorld {
                start,
                known,
                worlds: names(),
            })
        }
        several => Err(SessionError::SeveralWorlds {
            worlds: texts(several.iter().map(|(_, name)| *name)),
            start,
        }),
    }
}

fn texts<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    names.cloned().collect()
}
