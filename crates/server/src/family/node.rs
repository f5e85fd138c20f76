//! grpc-js-xds: server.ts, rbac.ts, http-filter/rbac-filter.ts; grpc-js: server.ts.

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};

use crate::connection::{PeerCertificate, Rpc, joined_by};
use crate::dialect::{
    Comparison, DrainsOn, Lifetime, NameKind, NoAuthority, PeerNames, Refusal, Rotation, RoutesByRds, ServerDialect,
    SourceTypes, names_of_first_kind, pseudo_header,
};
use xdsctl_channel::client::Client;
use xdsctl_model::profile::Profile;
use xdsctl_model::resource::domain::DomainComparison;
use xdsctl_model::resource::listener::{Cidr, FilterChain, TcpListener};
use xdsctl_model::status::Code;

/// `DEFAULT_DRAIN_GRACE_TIME_MS` of server.ts.
const DRAIN_GRACE_MS: i64 = 10 * 60 * 1000;

pub(super) fn dialect(profile: &Profile) -> ServerDialect {
    ServerDialect {
        compares_address: true,
        listens: str::to_owned,
        crashes_at_resources: true,
        serves_without_template: false,
        routes_by_rds: RoutesByRds::Served,
        last_host_wins: false,
        stops_at_equal_routes: false,
        address,
        no_range_is_zero: false,
        port_zero_is_any: false,
        several_close: true,
        source_types: SourceTypes::AnyElse,
        loopback_is_net: false,
        policy_header,
        route_header: header,
        names,
        authenticates_by_certificate: true,
        passes_over_unsupported: false,
        inverted_metadata_matches: false,
        principals_first: true,
        domains: DomainComparison::of(|feature| profile.has(feature)),
        asks_optionally: true,
        takes_bad_certificates: true,
        needs_whole_provider: false,
        borrows_roots: false,
        no_authority: NoAuthority::Reset,
        unimplemented_first: true,
        ignores_overrides: true,
        missing_routes: Code::Unavailable,
        words,
        lifetime: Lifetime {
            drains_on: DrainsOn::Any,
            drain_grace: Some(DRAIN_GRACE_MS),
            rotation: Rotation::AsTheyAre,
            compares: Some(compared),
            ends_at_several: true,
            ends_at_ipv6: true,
            stays_away: true,
            keeps_at_other_address: true,
            ..Lifetime::default()
        },
    }
}

/// Returns an address as the server sees it. It listens on `[::]`, where an IPv4 address arrives as
/// an IPv4-mapped IPv6 address.
fn address(address: SocketAddr) -> IpAddr {
    match address.ip() {
        IpAddr::V4(address) => address.to_ipv6_mapped().into(),
        IpAddr::V6(address) => address.into(),
    }
}

/// Follows `rbacServerFilter`, which adds what HTTP/2 has in pseudo-headers.
fn policy_header<'r>(rpc: &'r Rpc, name: &str) -> Option<Cow<'r, str>> {
    pseudo_header(rpc, name).or_else(|| header(rpc, name))
}

/// Follows `HeaderMatcher.applyHelper`. In Node, several headers of one name are one value, joined
/// by a comma and a space.
fn header<'r>(rpc: &'r Rpc, name: &str) -> Option<Cow<'r, str>> {
    match name {
        name if name.ends_with("-bin") => None,
        "content-type" => Some(Cow::Borrowed("application/grpc")),
        // These headers are for the transport.
        "accept-encoding" | "grpc-timeout" | "grpc-encoding" | "grpc-accept-encoding" | "te" => None,
        "cookie" => of_http(rpc, name, "; "),
        name => of_http(rpc, &name.to_ascii_lowercase(), ", "),
    }
}

/// Returns the values that HTTP/2 of Node passes on, without those that begin or end with a blank.
/// A value that is not printable ASCII is no metadata (`Metadata.fromHttp2Headers` of grpc-js).
fn of_http<'r>(rpc: &'r Rpc, name: &str, between: &str) -> Option<Cow<'r, str>> {
    let is_whole = |value: &str| !value.starts_with([' ', '\t']) && !value.ends_with([' ', '\t']);
    let is_metadata = |value: &Cow<'_, str>| value.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    joined_by(&rpc.headers, name, between, is_whole).filter(is_metadata)
}

/// Follows `AuthenticatedPrincipal`: returns the names of the first kind that the certificate has,
/// and the common names.
fn names(peer: Option<&PeerCertificate>) -> PeerNames<'_> {
    let mut names = names_of_first_kind(peer);
    let Some(peer) = peer else { return names };
    names.retain(|(kind, _)| *kind != NameKind::Subject);
    names.extend(common_names(&peer.subject).map(|name| (NameKind::Subject, Cow::Owned(name))));
    names
}

/// Returns the values of `CN` in a name of RFC 2253.
fn common_names(subject: &str) -> impl Iterator<Item = String> {
    let mut parts = vec![String::new()];
    let mut signs = subject.chars();
    while let Some(sign) = signs.next() {
        match sign {
            ',' | '+' => parts.push(String::new()),
            sign => {
                let sign = if sign == '\\' { signs.next() } else { Some(sign) };
                parts.last_mut().into_iter().for_each(|part| part.extend(sign));
            }
        }
    }
    parts
        .into_iter()
        .filter_map(|part| part.strip_prefix("CN=").map(str::to_owned))
}

/// Follows `listenersEquivalent` of server-listener.ts: the first difference decides.
fn compared(newer: &TcpListener, before: &TcpListener) -> Comparison {
    match (&newer.default_filter_chain, &before.default_filter_chain) {
        (None, None) => {}
        (Some(one), Some(other)) => match compared_chains(one, other) {
            Comparison::Same => {}
            outcome => return outcome,
        },
        (Some(_), None) | (None, Some(_)) => return Comparison::Ends,
    }
    if newer.filter_chains.len() != before.filter_chains.len() {
        return Comparison::Other;
    }
    let chains = newer.filter_chains.iter().zip(&before.filter_chains).enumerate();
    let mut outcomes = chains.map(|(index, (one, other))| {
        match destinations(newer, index).eq(destinations(before, index)) && one.source == other.source {
            // The content of a chain is compared before its match.
            false if one.http_connection_manager == other.http_connection_manager => Comparison::Other,
            _ => compared_chains(one, other),
        }
    });
    outcomes
        .find(|outcome| *outcome != Comparison::Same)
        .unwrap_or(Comparison::Same)
}

/// Returns the ranges of destinations that a chain is for.
fn destinations(listener: &TcpListener, index: usize) -> impl Iterator<Item = Option<Cidr>> {
    let all = listener.destinations.iter();
    all.filter(move |one| one.chains.contains(&index)).map(|one| one.prefix)
}

/// Follows `filterChainsEquivalent`, which has `!==` in place of `===` where it asks whether both
/// have TLS.
fn compared_chains(newer: &FilterChain, before: &FilterChain) -> Comparison {
    if newer.http_connection_manager != before.http_connection_manager {
        return Comparison::Other;
    }
    match (&newer.tls, &before.tls) {
        (None, Some(_)) => Comparison::Same,
        (Some(_), None) => Comparison::Ends,
        (None, None) | (Some(_), Some(_)) => Comparison::Other,
    }
}

fn words(refusal: Refusal<'_>, _: &Client) -> String {
    match refusal {
        Refusal::NoRoutes(_)
        | Refusal::BadRoutes(..)
        | Refusal::NoVirtualHost(_)
        | Refusal::NoRoute
        | Refusal::InappropriateAction => "Routing error".to_owned(),
        Refusal::NoPolicy | Refusal::Policy(_) => "Unauthorized RPC rejected".to_owned(),
        Refusal::NoAuthority => String::new(),
        Refusal::Unimplemented(method) => format!("The server does not implement the method {method}"),
    }
}

#[cfg(test)]
mod tests {
    use super::common_names;

    #[test]
    fn only_common_names_are_taken_of_a_subject() {
        let names = |subject| common_names(subject).collect::<Vec<_>>();
        assert_eq!(names("CN=a,OU=b+CN=c\\, d,O=CN"), ["a", "c, d"]);
        assert_eq!(names("O=b"), [""; 0]);
    }
}
