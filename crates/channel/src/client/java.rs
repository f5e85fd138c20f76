//! How channels of grpc-java fail: at once, in its own words, and for ever if an update throws an
//! exception.
//!
//! Its config selector answers for a channel without a configuration, so that RPCs that wait for ready fail too
//! (`XdsNameResolver.ResolveState.cleanUpRoutes`). An exception that nobody catches while a configuration is taken puts the channel into
//! panic mode (`ManagedChannelImpl.panic`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::config::{ChannelFailure, ChannelFailureClass, ClusterFailureClass, ClusterState, Leaf, XdsConfig};
use super::{Client, Start};
use xdsctl_model::profile::{Family, Feature};
use xdsctl_model::resource::cluster::Discovery;
use xdsctl_model::resource::filter::{FilterConfig, FilterOverride, HttpFilter};
use xdsctl_model::resource::route::Destination;
use xdsctl_model::resource::{Cluster, ResourceType};
use xdsctl_model::status::{Code, Status};

/// The message that every RPC gets on a channel in panic mode.
const PANIC: &str = "Panic! This is a bug!";

/// Makes a channel of grpc-java fail as it does there. The result of another client stays as it is.
///
/// # Errors
/// Why every RPC fails.
pub(super) fn as_it_fails(
    resolved: Result<XdsConfig, ChannelFailure>,
    start: &Start,
    client: &Client,
) -> Result<XdsConfig, ChannelFailure> {
    if client.profile.client().family != Family::Java {
        return resolved;
    }
    match resolved {
        Ok(config) => match throws(&config, client) {
            Some(why) => Err(panic(why)),
            None => Ok(config),
        },
        Err(failure) if has_impossible_domain(start, client, &failure) => {
            Err(panic("a domain or the authority begins or ends with a dot".to_owned()))
        }
        Err(failure) if !client.profile.has(Feature::FailsAtOnce) => Err(failure),
        Err(failure) if failure.waits || is_waited_out(&failure, client) => Err(failure),
        Err(failure) => {
            let at_once = Some(Status::unavailable(words(&failure, start, client)));
            Err(ChannelFailure { at_once, ..failure })
        }
    }
}

/// The failure of a channel that comes to a cluster which it watches no more. A cluster that was too
/// deep in the configuration in use lost its watch, and gets one when a cluster that names it
/// changes; without one, the next configuration in which it is within reach throws an exception
/// (XdsDependencyManager.java `closeUnusedWatchers`, `addConfigForCluster`).
pub fn lost_watch(in_use: &XdsConfig, next: &XdsConfig) -> Option<ChannelFailure> {
    let is_too_deep = |state: &ClusterState| state.failure_class() == Some(ClusterFailureClass::Depth);
    let is_as_before = |name: &str, cluster: &Arc<Cluster>| matches!(in_use.clusters.get(name), Some(ClusterState::Aggregate(before)) if before.cluster == *cluster);
    let is_named_anew = |lost: &String| {
        next.clusters.iter().any(|(name, state)| match state {
            ClusterState::Aggregate(aggregate) => {
                aggregate.cluster.discovery.children().contains(lost) && !is_as_before(name, &aggregate.cluster)
            }
            ClusterState::Leaf(_) | ClusterState::Error(_) => false,
        })
    };
    let too_deep = in_use.clusters.iter().filter(|(_, state)| is_too_deep(state));
    let mut lost = too_deep.map(|(name, _)| name).filter(|name| {
        let now = next.clusters.get(*name);
        now.is_some_and(|now| !is_too_deep(now)) && !is_named_anew(name)
    });
    let name = lost.next()?;
    Some(panic(format!(
        "cluster `{name}`, which was too deep, is not watched any more"
    )))
}

/// Says whether wait-for-ready RPCs wait, because `onError` of a watcher leaves the failure to the
/// policy without addresses.
fn is_waited_out(failure: &ChannelFailure, client: &Client) -> bool {
    failure.class == ChannelFailureClass::Rejected && client.profile.has(Feature::RejectionWaitedOut)
}

/// Says whether a rejection goes unnoticed: the exception ends the stream, which is no error once a
/// response has come.
pub fn is_unheard(resource_type: ResourceType, name: &str, client: &Client) -> bool {
    let rejection = || client.resources.rejection(resource_type, name);
    client.profile.has(Feature::BrokenStreamUnheard) && rejection().is_some_and(|rejection| rejection.dies)
}

/// Says whether the client waits for a resource without end. The timer of a cluster ends with its
/// rejection, and the timer of a resource whose rejection goes unnoticed begins anew with each
/// stream.
pub(super) fn waits_without_end(resource_type: ResourceType, name: &str, client: &Client) -> bool {
    let is_rejected = || client.resources.rejection(resource_type, name).is_some();
    let is_rejected_member = resource_type == ResourceType::Cluster && client.profile.has(Feature::RejectedAwaited);
    is_rejected_member && is_rejected() || is_unheard(resource_type, name, client)
}

fn panic(note: String) -> ChannelFailure {
    ChannelFailure {
        at_once: Some(Status::new(Code::Internal, PANIC)),
        ..ChannelFailure::new(ChannelFailureClass::Panic, note)
    }
}

/// Returns why taking the configuration throws an exception, if it does.
fn throws(config: &XdsConfig, client: &Client) -> Option<String> {
    if is_impossible(&config.authority) {
        return Some("the authority begins or ends with a dot".to_owned());
    }
    if compares_impossible(config) {
        return Some("a domain is empty, or begins or ends with a dot".to_owned());
    }
    if client.profile.has(Feature::FiltersMadeFirst)
        && let Some(name) = filter_of_another(config)
    {
        return Some(format!("an override of the filter {name} is of another filter"));
    }
    // While the client waits for something, it does not look at aggregates.
    let has_all = config.missing.is_empty();
    config.clusters.iter().find_map(|(name, state)| match state {
        ClusterState::Leaf(leaf) => leaf_throws(name, leaf),
        ClusterState::Aggregate(_) if has_all && client.profile.has(Feature::LeavesTwiceKill) => {
            leaf_twice(name, client)
                .map(|leaf| format!("two aggregates below cluster {name} name {leaf}, which it then has twice"))
        }
        ClusterState::Aggregate(_) | ClusterState::Error(_) => None,
    })
}

/// The name of a fault filter for which a route has an override of another kind
/// (`FaultFilter.buildClientInterceptor`). Other filters do not check theirs.
fn filter_of_another(config: &XdsConfig) -> Option<&str> {
    let host = config.virtual_host()?;
    let filters = config.connection_manager()?.http_filters.iter();
    let mut faults = filters.filter(|filter| matches!(filter.config, FilterConfig::Fault(_)));
    // The most specific override counts, whatever its kind.
    let is_another = |filter: &HttpFilter, levels: &[&BTreeMap<String, FilterOverride>]| {
        let found = levels.iter().find_map(|overrides| overrides.get(&filter.name));
        let config = found.and_then(|found| found.config.as_deref());
        config.is_some_and(|config| config.kind() != filter.config.kind())
    };
    let has_another = |filter: &HttpFilter| {
        host.routes.iter().any(|route| {
            let (of_route, of_host) = (&route.typed_per_filter_config, &host.typed_per_filter_config);
            match route.destination() {
                Some(Destination::WeightedClusters(entries)) => entries
                    .iter()
                    .any(|entry| is_another(filter, &[&entry.typed_per_filter_config, of_route, of_host])),
                Some(Destination::Cluster(_) | Destination::Plugin(_)) => is_another(filter, &[of_route, of_host]),
                None => false,
            }
        })
    };
    faults
        .find(|filter| has_another(filter))
        .map(|filter| filter.name.as_str())
}

/// Finds a cluster that two aggregates below `root` name and that is a leaf or has one below it. An
/// aggregate that names a cluster twice has it once.
fn leaf_twice(root: &str, client: &Client) -> Option<String> {
    let discovery = |name: &str| Some(&client.resources.clusters.get(name)?.value()?.discovery);
    let (mut open, mut seen, mut again) = (vec![root], BTreeSet::from([root]), BTreeSet::new());
    let mut with_leaf = BTreeSet::new();
    while let Some(name) = open.pop() {
        let Some(Discovery::Aggregate { children }) = discovery(name) else {
            continue;
        };
        for child in children.iter().map(String::as_str).collect::<BTreeSet<_>>() {
            match discovery(child) {
                None => {}
                Some(_) if !seen.insert(child) => _ = again.insert(child),
                Some(Discovery::Aggregate { .. }) => open.push(child),
                Some(Discovery::Eds { .. } | Discovery::LogicalDns { .. }) => _ = with_leaf.insert(child),
            }
        }
    }
    // An aggregate has a leaf below it if one of its members has one.
    let mut before = 0;
    while std::mem::replace(&mut before, with_leaf.len()) < with_leaf.len() {
        for name in &seen {
            if let Some(Discovery::Aggregate { children }) = discovery(name)
                && children.iter().any(|child| with_leaf.contains(child.as_str()))
            {
                with_leaf.insert(name);
            }
        }
    }
    again
        .into_iter()
        .find(|name| with_leaf.contains(name))
        .map(str::to_owned)
}

fn leaf_throws(name: &str, leaf: &Leaf) -> Option<String> {
    if let Discovery::LogicalDns { hostname } = &leaf.cluster.discovery
        && !is_server(hostname)
    {
        return Some(format!(
            "the DNS name `{hostname}` of cluster {name} is no host of a URI"
        ));
    }
    let detection = leaf.cluster.outlier_detection.as_ref()?;
    // `ScheduledExecutorService.scheduleWithFixedDelay` accepts no delay of 0.
    (detection.interval.0 == 0 && leaf.endpoints.is_some())
        .then(|| format!("the outlier detection interval of cluster {name} is 0"))
}

/// Says whether a name or pattern makes `RoutingUtils.matchHostName` throw.
fn is_impossible(name: &str) -> bool {
    name.starts_with('.') || name.ends_with('.')
}

/// Says whether the client compares a domain that makes it throw. It compares the domains before
/// the one that equals the authority.
fn compares_impossible(config: &XdsConfig) -> bool {
    let domains = config.route_config.virtual_hosts.iter().flat_map(|host| &host.domains);
    let mut compared = domains.take_while(|domain| !domain.eq_ignore_ascii_case(&config.authority));
    compared.any(|domain| domain.is_empty() || is_impossible(domain))
}

/// Says whether the failure is an exception: without a virtual host, all domains have been
/// compared.
fn has_impossible_domain(start: &Start, client: &Client, failure: &ChannelFailure) -> bool {
    let routes = || client.routes_of(&start.target()?.listener);
    let authority = start.target().map_or("", |target| target.authority.as_str());
    failure.class == ChannelFailureClass::NoVirtualHost
        && (is_impossible(authority)
            || routes().is_some_and(|(_, routes)| {
                let mut domains = routes.virtual_hosts.iter().flat_map(|host| &host.domains);
                domains.any(|domain| is_impossible(domain))
            }))
}

/// The failure in the client's words, where they are known.
fn words(failure: &ChannelFailure, start: &Start, client: &Client) -> String {
    let node = node(client);
    let missing = failure.missing.first().map(|(resource_type, name)| {
        let kind = match resource_type {
            ResourceType::Listener => "LDS",
            ResourceType::RouteConfiguration | ResourceType::Cluster | ResourceType::Endpoints => "RDS",
        };
        absent(kind, name, client)
    });
    match failure.class {
        ChannelFailureClass::NoVirtualHost => {
            let authority = match start {
                Start::Target(target) => &target.authority,
                Start::Routes { authority, .. } => authority,
                Start::Cluster(_) => "",
            };
            format!("Failed to find virtual host matching hostname: {authority}")
        }
        ChannelFailureClass::NotApiListener => format!("Not an API listener{node}"),
        _ => missing.unwrap_or_else(|| failure.to_string()),
    }
}

/// The message for a resource that never came (`XdsClientImpl.ResourceSubscriber.onAbsent`).
pub(super) fn absent(kind: &str, name: &str, client: &Client) -> String {
    let node = node(client);
    format!(
        "Error retrieving {kind} resource {name}{node}: NOT_FOUND: Timed out waiting for resource {name} from xDS server"
    )
}

fn node(client: &Client) -> String {
    match client.node_id.is_empty() {
        true => String::new(),
        false => format!(" nodeID: {}", client.node_id),
    }
}

/// Says whether `java.net.URI` finds a host in `//NAME`: a host name of letters, digits and inner
/// hyphens whose last label begins with a letter, an IPv4 address, or an IPv6 address in brackets.
/// A port may follow.
fn is_server(name: &str) -> bool {
    if name.contains(['<', '>', '"', '{', '}', '|', '\\', '^', '`', ' ']) {
        return false;
    }
    // What follows the authority does not matter.
    let name = name.split(['/', '?', '#']).next().unwrap_or(name);
    let host = match name.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        Some(_) | None => name,
    };
    if let Some(inner) = host.strip_prefix('[') {
        let address = inner
            .strip_suffix(']')
            .map(|inner| inner.split('%').next().unwrap_or(inner));
        return address.is_some_and(|address| address.parse::<std::net::Ipv6Addr>().is_ok());
    }
    if host.parse::<std::net::Ipv4Addr>().is_ok() {
        return true;
    }
    let host = host.strip_suffix('.').unwrap_or(host);
    let is_label = |label: &str| {
        let inner = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        inner && !label.is_empty() && !label.starts_with('-') && !label.ends_with('-')
    };
    let mut labels = host.split('.');
    let begins_with_letter = |label: &str| label.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_single = !host.contains('.');
    labels.clone().all(is_label) && (is_single || labels.next_back().is_some_and(begins_with_letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_those_of_java_net_uri() {
        for name in [
            "a.example.com:80",
            "localhost:1",
            "127.0.8.1:65536",
            "[::1]:80",
            "a-b:1",
            "a.b.:1",
            "1:80",
            "127.0.8.1#x:80",
        ] {
            assert!(is_server(name), "{name}");
        }
        for name in [
            "127.0.8.1:7103:1",
            "(?<x>a):80",
            "a%3F%3C:80",
            "/127.0.8.1:80",
            "my_host:80",
            "a.1b:80",
            "-a:80",
        ] {
            assert!(!is_server(name), "{name}");
        }
    }
}
