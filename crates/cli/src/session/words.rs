//! The messages of a session, in the terms of its user: arguments, or the members of a suite.

use std::net::SocketAddr;

use crate::Io;
use xdsctl_channel::client::config::ChannelFailureClass as Class;
use xdsctl_channel::client::target::{Target, TargetError};
use xdsctl_channel::session::{NamedStart, Session, SessionError, SessionNote};
use xdsctl_model::text;
use xdsctl_report::listed;

/// The number of names that a message lists.
const NAMES_SHOWN: usize = 10;

/// The terms in which a user says where a channel starts.
#[derive(Debug)]
pub struct Terms {
    target: &'static str,
    route_config: &'static str,
    cluster: &'static str,
    authority: &'static str,
}

/// The terms of the command line, such as `--target` and `--cluster`.
pub static ARGUMENTS: Terms = Terms {
    target: "--target xds:///NAME",
    route_config: "--route-config",
    cluster: "--cluster",
    authority: "--authority",
};

/// The terms of a suite, whose members replace arguments.
pub static MEMBERS: Terms = Terms {
    target: "`target: xds:///NAME`",
    route_config: "`route_config`",
    cluster: "`cluster`",
    authority: "`authority`",
};

/// Returns why a channel cannot be opened, and what to do about it.
pub fn error(error: &SessionError, terms: &Terms) -> String {
    let elsewhere = || format!("start at one of them with {}", terms.cluster);
    match error {
        SessionError::NoWorld { name, known } => format!("--in: {}", no_such("world", name, texts(known))),
        SessionError::SeveralWorlds { start, worlds } => format!(
            "{start} is in {} worlds, choose one with --in: {}",
            worlds.len(),
            some(texts(worlds))
        ),
        SessionError::InNoWorld { start, known, worlds } => {
            let why = match start {
                NamedStart::Cluster(name) => no_such("Cluster", name, texts(known)),
                NamedStart::Routes(name) => no_such("RouteConfiguration", name, texts(known)),
                NamedStart::Listener(name) => no_such("Listener", name, texts(known)),
                NamedStart::AnyListener => format!(
                    "no Listener with an api_listener that the client accepts; start elsewhere with {} or {}",
                    terms.route_config, terms.cluster
                ),
            };
            format!("{why}; looked for in {} worlds: {}", worlds.len(), some(texts(worlds)))
        }
        SessionError::NoSuch { kind, name, known } => no_such(kind, name, texts(known)),
        SessionError::SeveralHosts { name, domains } => format!(
            "`{name}` has several virtual hosts, choose one with {}: {}",
            terms.authority,
            some(texts(domains))
        ),
        SessionError::SeveralListeners(names) => format!(
            "several listeners, name one with {}: {}",
            terms.target,
            some(texts(names))
        ),
        SessionError::NoListener {
            listeners,
            route_configs,
            clusters,
        } => {
            let mut why = match listeners.as_slice() {
                [] => "the input has no Listener".to_owned(),
                [only] => format!(
                    "the only Listener, `{only}`, has no api_listener: it is a server's or a proxy's, no channel can have it"
                ),
                several => format!(
                    "none of the {} Listeners has an api_listener that the client accepts: they are a server's or a proxy's",
                    several.len()
                ),
            };
            for (what, term, names) in [
                ("a RouteConfiguration", terms.route_config, route_configs),
                ("a cluster", terms.cluster, clusters),
            ] {
                if !names.is_empty() {
                    why.push_str(&format!("; start at {what} with {term}: {}", some(texts(names))));
                }
            }
            why
        }
        SessionError::Target { error, authorities } => match error {
            TargetError::UnknownAuthority(_) if authorities.is_empty() => {
                format!("{error}; give the bootstrap that has it with --bootstrap")
            }
            TargetError::UnknownAuthority(_) => format!("{error}; the bootstrap has {}", some(texts(authorities))),
            TargetError::NotXds(_) => error.to_string(),
            TargetError::Invalid(_) => format!("{error}, expected `xds:///NAME`"),
        },
        SessionError::NoEndpoint {
            change,
            is_of_dns,
            known,
        } => {
            let argument = match change.health_name() {
                Some(_) => "--health",
                None => "--remove",
            };
            let address = change.address;
            match is_of_dns {
                true => format!(
                    "{argument}: `{address}` comes from DNS, of which there is no update by EDS; --resolve gives other addresses"
                ),
                false => no_such_address(argument, address, known),
            }
        }
        SessionError::NotFollowed(why) => why.clone(),
        SessionError::TooManyClusters { .. } => format!("{error}: {}", elsewhere()),
        SessionError::TooLarge { parts, most, channels } => match channels {
            2.. => format!(
                "the tree of each of {channels} clients would have {parts} policies, endpoints and values of configs, the limit for \
                 so many clients is {most}"
            ),
            _ => format!(
                "the tree of the channel would have {parts} policies, endpoints and values of configs, the limit for this input is \
                 {most}: its clusters share endpoints, or have an LB policy for each of many localities; {}",
                elsewhere()
            ),
        },
    }
}

/// Returns the notes on a channel, one per line. Of those on what the client leaves out, returns
/// only the first few.
pub fn notes(notes: &[SessionNote]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut left_out = 0;
    let is_left_out = |note: &&SessionNote| matches!(note, SessionNote::Rejected { .. } | SessionNote::Removed { .. });
    for note in notes {
        if is_left_out(&note) {
            left_out += 1;
            if left_out > NAMES_SHOWN {
                continue;
            }
        }
        lines.extend(note_lines(note));
        if left_out == NAMES_SHOWN && is_left_out(&note) {
            let more = notes.iter().filter(is_left_out).count() - NAMES_SHOWN;
            let line = || format!("{more} more are left out, `xdsctl validate` lists them");
            lines.extend((more > 0).then(line));
        }
    }
    lines
}

fn note_lines(note: &SessionNote) -> Vec<String> {
    vec![match note {
        SessionNote::UnusedNames { names, known } => {
            let line = |name: &String| no_such("DNS name", name, texts(known));
            return names.iter().map(line).collect();
        }
        SessionNote::WithoutListener => {
            "the channel starts at the routes, no HTTP filter of a listener applies".to_owned()
        }
        SessionNote::EndpointDropped {
            address,
            health,
            is_kept,
        } => {
            let drops = match is_kept {
                true => "drops its locality, or rejects the update",
                false => "drops it",
            };
            format!("{address} is {health}: the client {drops}")
        }
        SessionNote::Rejected {
            resource_type,
            name,
            why,
            has_earlier,
        } => {
            let kept = if *has_earlier {
                ", its earlier version stays"
            } else {
                ""
            };
            format!("{} `{name}` is left out{kept}: {why}", resource_type.short_name())
        }
        SessionNote::Removed { resource_type, name } => {
            let kind = resource_type.short_name();
            format!("{kind} `{name}` is left out: a later response takes it away")
        }
        SessionNote::WordsOfReference { client, has_own } => match has_own {
            true => format!("as {client}, but for the words of some messages, which are C-core's"),
            false => format!("as {client}, but for the words of messages, which are C-core's"),
        },
    }]
}

fn texts(names: &[String]) -> impl Iterator<Item = &str> + Clone {
    names.iter().map(String::as_str)
}

/// Returns the first few names, in backticks.
pub fn some<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    listed(names.iter().map(|name| format!("`{name}`")), NAMES_SHOWN)
}

/// Returns the message that a name is unknown, with the name that was probably meant or the known
/// names.
pub fn no_such<'a>(what: &str, name: &str, names: impl Iterator<Item = &'a str> + Clone) -> String {
    if let Some(near) = text::nearest(name, names.clone()) {
        return format!("no {what} `{name}`, did you mean `{near}`?");
    }
    match some(names) {
        list if list.is_empty() => format!("no {what} `{name}`: there is none at all"),
        list => format!("no {what} `{name}`, there is {list}"),
    }
}

/// Returns the message that no endpoint has an address, with the address that was probably meant or
/// the known ones.
pub fn no_such_address(argument: &str, address: SocketAddr, known: &[SocketAddr]) -> String {
    let texts: Vec<String> = known.iter().map(ToString::to_string).collect();
    let names = || texts.iter().map(String::as_str);
    let hint = match text::nearest(&address.to_string(), names()) {
        Some(near) => format!(", did you mean {near}?"),
        None if known.is_empty() => ": there is none at all".to_owned(),
        None => format!("; there is {}", some(names())),
    };
    format!("{argument}: no endpoint of the channel has the address `{address}`{hint}")
}

/// Returns a hint for a failing RPC: the DNS names for which no `--resolve` was given.
pub fn unanswered(session: &Session) -> Option<String> {
    let names = session.unanswered();
    let first = names.first()?;
    Some(format!(
        "DNS is not asked, RPCs that need an address of {} fail; give it with --resolve {first}=IP:PORT",
        some(names.iter().copied())
    ))
}

/// Prints what may help a user whose channel has no configuration.
///
/// # Errors
/// Standard error cannot be written.
pub fn say_hint(session: &Session, io: &mut Io<'_>) -> std::io::Result<()> {
    match hint(session) {
        Some(hint) => say!(io.err, "help: {hint}"),
        None => Ok(()),
    }
}

fn hint(session: &Session) -> Option<String> {
    let failure = session.config.as_ref().err()?;
    let target = session.target()?;
    match failure.class {
        Class::Missing if !session.client.resources.listeners.contains_key(&target.listener) => {
            let names = session.client.resources.listeners.keys().map(String::as_str);
            Some(no_such("Listener", &target.listener, names))
        }
        Class::Missing => {
            let names = some(session.client.resources.route_configs.keys().map(String::as_str));
            Some(format!("RouteConfigurations in the input: {names}"))
        }
        Class::NoVirtualHost => {
            let domains = nearest_domains(session, target);
            Some(format!("the domains are {domains}; --authority sets another authority"))
        }
        Class::NotApiListener => Some("the Listener is for a server or a proxy: it has no api_listener".to_owned()),
        Class::NoEndpoints => {
            Some("the client takes a configuration only when each of its clusters has endpoints".to_owned())
        }
        Class::Panic => Some(format!("the client throws an exception: {}", failure.note)),
        Class::Rejected | Class::NotAskedFor | Class::BadRetryPolicy => Some("`xdsctl validate` says where".to_owned()),
    }
}

/// Returns the domains of the RouteConfiguration, beginning with those most like the authority.
fn nearest_domains(session: &Session, target: &Target) -> String {
    let Some((_, routes)) = session.client.routes_of(&target.listener) else {
        return String::new();
    };
    let all = || {
        routes
            .virtual_hosts
            .iter()
            .flat_map(|host| &host.domains)
            .map(String::as_str)
    };
    match text::nearest(&target.authority, all()) {
        Some(near) => some(std::iter::once(near).chain(all().filter(|domain| *domain != near))),
        None => some(all()),
    }
}
