//! Where a channel starts: in which world, and at a target, a RouteConfiguration or a cluster.

use super::{no_such, read_target, some};
use crate::args::ChannelArgs;
use crate::{Error, Io};
use xdsctl_channel::client::target::Target;
use xdsctl_channel::client::{Resources, Start};
use xdsctl_clients::bootstrap::Bootstrap;

/// Where the arguments let the channel start.
///
/// # Errors
/// There is no such resource, or none is named where several are possible.
pub(super) fn of(
    args: &ChannelArgs,
    resources: &Resources,
    bootstrap: &Bootstrap,
    io: &mut Io<'_>,
) -> Result<Start, Error> {
    if let Some(name) = &args.cluster {
        if !resources.clusters.contains_key(name) {
            let names = resources.clusters.keys().map(String::as_str);
            return Err(Error::Usage(no_such("cluster", name, names)));
        }
        return Ok(Start::Cluster(name.clone()));
    }
    let mut names = resources.route_configs.keys();
    let only = names.next().filter(|_| args.only_routes && names.next().is_none());
    match args.route_config.as_ref().or(only) {
        Some(name) => {
            let start = routes(name, args.authority.as_deref(), resources)?;
            // Whoever asks about routes alone knows.
            if !args.only_routes {
                writeln!(
                    io.err,
                    "note: the channel starts at the routes, no HTTP filter of a listener applies"
                )?;
            }
            Ok(start)
        }
        None => target(args, resources, bootstrap).map(Start::Target),
    }
}

/// Starts at a RouteConfiguration. Without an authority its only virtual host is meant.
fn routes(name: &str, authority: Option<&str>, resources: &Resources) -> Result<Start, Error> {
    let Some(held) = resources.route_configs.get(name) else {
        let names = resources.route_configs.keys().map(String::as_str);
        return Err(Error::Usage(no_such("RouteConfiguration", name, names)));
    };
    let hosts = held
        .value()
        .map(|routes| routes.virtual_hosts.as_slice())
        .unwrap_or_default();
    let authority = match (authority, hosts) {
        (Some(authority), _) => authority,
        // A domain with a `*` matches itself.
        (None, [host]) => host.domains.first().map_or("", String::as_str),
        // Every RPC fails, and says why.
        (None, []) => "",
        (None, _) => {
            let domains = hosts.iter().flat_map(|host| &host.domains);
            let domains = some(domains.map(String::as_str));
            return Err(Error::Usage(format!(
                "`{name}` has several virtual hosts, choose one with --authority: {domains}"
            )));
        }
    };
    Ok(Start::Routes {
        name: name.to_owned(),
        authority: authority.to_owned(),
    })
}

/// The world of the channel: the one that is named, the only one, or the only one that has what is asked for.
pub(super) fn world(worlds: &[(String, Resources)], args: &ChannelArgs, bootstrap: &Bootstrap) -> Result<usize, Error> {
    let names = || worlds.iter().map(|(name, _)| name.as_str());
    if let Some(wanted) = &args.in_world {
        let number = names().position(|name| name == wanted);
        return number.ok_or_else(|| Error::Usage(format!("--in: {}", no_such("world", wanted, names()))));
    }
    if worlds.len() == 1 {
        return Ok(0);
    }
    let target = args
        .target
        .as_deref()
        .and_then(|uri| Target::parse(uri, args.authority.as_deref(), bootstrap).ok());
    let wanted = match (&args.cluster, &args.route_config, &target) {
        (Some(name), _, _) => Wanted::Cluster(name),
        (None, Some(name), _) => Wanted::Routes(name),
        (None, None, Some(target)) => Wanted::Listener(&target.listener),
        (None, None, None) => Wanted::AnyListener,
    };
    let fitting = worlds
        .iter()
        .enumerate()
        .filter(|(_, (_, resources))| wanted.is_in(resources));
    let fitting: Vec<(usize, &str)> = fitting.map(|(number, (name, _))| (number, name.as_str())).collect();
    match fitting.as_slice() {
        [(number, _)] => Ok(*number),
        [] => Err(Error::Usage(wanted.is_nowhere(worlds))),
        several => Err(Error::Usage(format!(
            "{} is in {} worlds, choose one with --in: {}",
            wanted.words(),
            several.len(),
            some(several.iter().map(|(_, name)| *name))
        ))),
    }
}

/// What a channel starts at.
#[derive(Debug, Clone, Copy)]
enum Wanted<'a> {
    Cluster(&'a str),
    Routes(&'a str),
    Listener(&'a str),
    AnyListener,
}

impl Wanted<'_> {
    fn is_in(self, resources: &Resources) -> bool {
        match self {
            Wanted::Cluster(name) => resources.clusters.contains_key(name),
            Wanted::Routes(name) => resources.route_configs.contains_key(name),
            Wanted::Listener(name) => resources.listeners.contains_key(name),
            Wanted::AnyListener => resources.api_listeners().next().is_some(),
        }
    }

    fn words(self) -> String {
        match self {
            Wanted::Cluster(name) => format!("Cluster `{name}`"),
            Wanted::Routes(name) => format!("RouteConfiguration `{name}`"),
            Wanted::Listener(name) => format!("Listener `{name}`"),
            Wanted::AnyListener => "a Listener with an api_listener".to_owned(),
        }
    }

    /// Says that no world has it, and what they have.
    fn is_nowhere(self, worlds: &[(String, Resources)]) -> String {
        let held = || worlds.iter().map(|(_, resources)| resources);
        let why = match self {
            Wanted::Cluster(name) => {
                no_such("Cluster", name, held().flat_map(|held| held.clusters.keys().map(String::as_str)))
            }
            Wanted::Routes(name) => {
                let names = held().flat_map(|held| held.route_configs.keys().map(String::as_str));
                no_such("RouteConfiguration", name, names)
            }
            Wanted::Listener(name) => {
                no_such("Listener", name, held().flat_map(|held| held.listeners.keys().map(String::as_str)))
            }
            Wanted::AnyListener => {
                "no Listener with an api_listener that the client accepts; start elsewhere with --route-config or --cluster"
                    .to_owned()
            }
        };
        let names = some(worlds.iter().map(|(name, _)| name.as_str()));
        format!("{why}; looked for in {} worlds: {names}", worlds.len())
    }
}

fn target(args: &ChannelArgs, resources: &Resources, bootstrap: &Bootstrap) -> Result<Target, Error> {
    if let Some(uri) = &args.target {
        return read_target(uri, args.authority.as_deref(), bootstrap);
    }
    let mut names = resources.api_listeners();
    match (names.next(), names.next()) {
        (Some(name), None) => Ok(Target::of_listener(name, args.authority.as_deref())),
        (Some(_), Some(_)) => Err(Error::Usage(format!(
            "several listeners, name one with --target xds:///NAME: {}",
            some(resources.api_listeners())
        ))),
        (None, _) => {
            // A channel to a Listener that the client rejects exists too, and says why it fails.
            let mut rejected = resources.listeners.iter().filter(|(_, held)| !held.is_accepted());
            if let (Some((name, _)), None) = (rejected.next(), rejected.next()) {
                return Ok(Target::of_listener(name, args.authority.as_deref()));
            }
            let mut hint = String::new();
            for (what, argument, names) in [
                (
                    "a RouteConfiguration",
                    "--route-config",
                    some(resources.route_configs.keys().map(String::as_str)),
                ),
                (
                    "a cluster",
                    "--cluster",
                    some(resources.clusters.keys().map(String::as_str)),
                ),
            ] {
                if !names.is_empty() {
                    hint.push_str(&format!("; start at {what} with {argument}: {names}"));
                }
            }
            let names = || resources.listeners.keys().map(String::as_str);
            let why = match names().count() {
                0 => "the input has no Listener".to_owned(),
                1 => format!(
                    "the only Listener, {}, has no api_listener: it is a server's or a proxy's, no channel can have it",
                    some(names())
                ),
                count => format!(
                    "none of the {count} Listeners has an api_listener that the client accepts: they are a server's or a proxy's"
                ),
            };
            Err(Error::Usage(format!("{why}{hint}")))
        }
    }
}
