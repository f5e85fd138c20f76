//! grpc-java: XdsServerWrapper, FilterChainMatchingProtocolNegotiators, GrpcAuthorizationEngine.

use std::borrow::Cow;

use crate::connection::{PeerCertificate, Rpc, joined};
use crate::dialect::{
    Loopback, MetadataCondition, NameKind, Refusal, ServerDialect, SourceTypes, UnsupportedCondition,
};
use xdsctl_model::profile::{Feature, Profile};
use xdsctl_model::resource::domain::DomainComparison;

pub(super) fn dialect(profile: &Profile) -> ServerDialect {
    ServerDialect {
        compares_address: profile.has(Feature::ListenerAddressCompared),
        source_types: SourceTypes::AnyToo,
        loopback: Loopback::Net,
        policy_header,
        route_header,
        names,
        unsupported: UnsupportedCondition::Never,
        metadata: MetadataCondition::Never,
        domains: DomainComparison::of(|feature| profile.has(feature)),
        asks_optionally: true,
        ignores_tls: false,
        unimplemented_first: true,
        words,
        names_node: false,
    }
}

/// `EvaluateArgs.getHeader`.
fn policy_header<'r>(rpc: &'r Rpc, name: &str) -> Option<Cow<'r, str>> {
    let name = name.to_ascii_lowercase();
    match name.as_str() {
        ":method" => Some(Cow::Borrowed("POST")),
        "te" => None,
        "host" | ":authority" => Some(Cow::Borrowed(&rpc.authority)),
        ":path" => Some(Cow::Borrowed(&rpc.method)),
        name => of_metadata(rpc, name),
    }
}

/// `RoutingUtils.matchRoute`.
fn route_header<'r>(rpc: &'r Rpc, name: &str) -> Option<Cow<'r, str>> {
    let name = name.to_ascii_lowercase();
    match name.as_str() {
        name if name.ends_with("-bin") => None,
        "content-type" => Some(Cow::Borrowed("application/grpc")),
        name => joined(&rpc.headers, name),
    }
}

fn of_metadata<'r>(rpc: &'r Rpc, name: &str) -> Option<Cow<'r, str>> {
    let own = joined(&rpc.headers, name);
    match name {
        "content-type" => own.or(Some(Cow::Borrowed("application/grpc"))),
        _ => own,
    }
}

/// `EvaluateArgs.getPrincipalNames`: the names of the first kind of which there is one.
fn names(peer: Option<&PeerCertificate>) -> Vec<(NameKind, Cow<'_, str>)> {
    let Some(peer) = peer else {
        return vec![(NameKind::Subject, Cow::Borrowed(""))];
    };
    for (kind, names) in [(NameKind::Uri, &peer.uris), (NameKind::Dns, &peer.dns_names)] {
        if !names.is_empty() {
            return names.iter().map(|name| (kind, Cow::Borrowed(name.as_str()))).collect();
        }
    }
    vec![(NameKind::Subject, Cow::Owned(spaced(&peer.subject)))]
}

/// A name of RFC 2253 as `X500Name` prints it: a space behind each comma, and values with such signs in quotes.
fn spaced(subject: &str) -> String {
    let mut parts: Vec<String> = vec![String::new()];
    let mut signs = subject.chars();
    let mut is_quoted = false;
    while let Some(sign) = signs.next() {
        match sign {
            ',' => {
                close(&mut parts, is_quoted);
                is_quoted = false;
                parts.push(String::new());
            }
            '\\' => {
                is_quoted = true;
                let next = signs.next();
                parts.last_mut().into_iter().for_each(|part| part.extend(next));
            }
            sign => parts.last_mut().into_iter().for_each(|part| part.push(sign)),
        }
    }
    close(&mut parts, is_quoted);
    parts.join(", ")
}

/// Puts the value of the last part in quotes if it needs them.
fn close(parts: &mut [String], is_quoted: bool) {
    if let (true, Some(part)) = (is_quoted, parts.last_mut())
        && let Some((key, value)) = part.split_once('=')
    {
        *part = format!("{key}=\"{value}\"");
    }
}

fn words(refusal: Refusal<'_>) -> String {
    match refusal {
        Refusal::NoRoutes(_) => "Missing or broken RouteConfiguration".to_owned(),
        Refusal::NoVirtualHost(_) => "Could not find xDS virtual host matching RPC".to_owned(),
        Refusal::NoRoute => "Could not find xDS route matching RPC".to_owned(),
        Refusal::InappropriateAction => "Invalid xDS route action for matching route".to_owned(),
        Refusal::NoPolicy | Refusal::Policy => "Access Denied".to_owned(),
        Refusal::Unimplemented => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::spaced;

    #[test]
    fn subjects_are_written_as_java_does() {
        assert_eq!(spaced("CN=a,OU=b,O=c"), "CN=a, OU=b, O=c");
        assert_eq!(spaced("CN=last\\, first,O=d"), "CN=\"last, first\", O=d");
        assert_eq!(spaced(""), "");
    }
}
