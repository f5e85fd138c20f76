//! grpc-java: XdsServerWrapper, FilterChainMatchingProtocolNegotiators, GrpcAuthorizationEngine.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use crate::connection::{PeerCertificate, Rpc, joined, plain};
use crate::dialect::{
    DrainsOn, Lifetime, NameKind, NoAuthority, PeerNames, Refusal, Rotation, RoutesByRds, ServerDialect, SourceTypes,
    names_of_first_kind, pseudo_header,
};
use xdsctl_channel::client::Client;
use xdsctl_model::profile::{Feature, Profile};
use xdsctl_model::resource::domain::DomainComparison;
use xdsctl_model::status::Code;

/// The default of `XdsServerBuilder.drainGraceTime`.
const DRAIN_GRACE_MS: i64 = 10 * 60 * 1000;

pub(super) fn dialect(profile: &Profile) -> ServerDialect {
    ServerDialect {
        compares_address: profile.has(Feature::ListenerAddressCompared),
        listens,
        crashes_at_resources: false,
        serves_without_template: false,
        routes_by_rds: match profile.has(Feature::ServesRejectedRoutes) {
            true => RoutesByRds::Served,
            false => RoutesByRds::GoodAwaited,
        },
        last_host_wins: false,
        stops_at_equal_routes: true,
        address: plain,
        no_range_is_zero: true,
        port_zero_is_any: false,
        several_close: true,
        source_types: SourceTypes::AnyToo,
        loopback_is_net: true,
        policy_header,
        route_header,
        names: match profile.has(Feature::SubjectOfRfc2253) {
            // Follows `EvaluateArgs.getPrincipalNames`.
            true => names_of_first_kind,
            false => spaced_names,
        },
        authenticates_by_certificate: false,
        passes_over_unsupported: false,
        inverted_metadata_matches: false,
        principals_first: false,
        domains: DomainComparison::of(|feature| profile.has(feature)),
        asks_optionally: true,
        needs_whole_provider: true,
        borrows_roots: !profile.has(Feature::RootsOfTheirOwn),
        no_authority: NoAuthority::Unknown,
        missing_routes: Code::Unavailable,
        ignores_overrides: false,
        takes_bad_certificates: false,
        unimplemented_first: true,
        words,
        lifetime: Lifetime {
            drains_on: DrainsOn::ReadAndNames,
            drain_grace: Some(DRAIN_GRACE_MS),
            rotation: Rotation::UsableAndWhole,
            ..Lifetime::default()
        },
    }
}

/// Follows `EvaluateArgs.getHeader`.
fn policy_header<'r>(rpc: &'r Rpc, name: &str) -> Option<Cow<'r, str>> {
    let name = name.to_ascii_lowercase();
    match name.as_str() {
        "te" => None,
        "host" => Some(Cow::Borrowed(&rpc.authority)),
        name => pseudo_header(rpc, name).or_else(|| of_metadata(rpc, name)),
    }
}

/// Follows `RoutingUtils.matchRoute`.
fn route_header<'r>(rpc: &'r Rpc, name: &str) -> Option<Cow<'r, str>> {
    let name = name.to_ascii_lowercase();
    match name.as_str() {
        name if name.ends_with("-bin") => None,
        "content-type" => Some(Cow::Borrowed("application/grpc")),
        name => joined(&rpc.headers, name),
    }
}

/// Follows `XdsServerBuilder.forPort`: a program names nothing but the port.
fn listens(address: &str) -> String {
    let port = address.rsplit(':').next().unwrap_or_default();
    format!("0.0.0.0:{port}")
}

/// Follows `deserializeHeader`: the value of a binary header is compared as Base64 without padding.
fn of_metadata<'r>(rpc: &'r Rpc, name: &str) -> Option<Cow<'r, str>> {
    if name.ends_with("-bin") {
        let own = rpc.headers.iter().filter(|(key, _)| key == name);
        let encoded: Vec<String> = own.map(|(_, value)| STANDARD_NO_PAD.encode(value)).collect();
        return (!encoded.is_empty()).then(|| Cow::Owned(encoded.join(",")));
    }
    let own = joined(&rpc.headers, name);
    match name {
        "content-type" => own.or(Some(Cow::Borrowed("application/grpc"))),
        _ => own,
    }
}

/// Returns the names of a peer, with the subject as `getSubjectDN` prints it.
fn spaced_names(peer: Option<&PeerCertificate>) -> PeerNames<'_> {
    let mut names = names_of_first_kind(peer);
    for (kind, name) in &mut names {
        if *kind == NameKind::Subject {
            *name = Cow::Owned(spaced(name));
        }
    }
    names
}

/// Writes a name of RFC 2253 as `X500Name` does: with a space after each comma, and with quotes
/// around values that contain such characters.
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

fn words(refusal: Refusal<'_>, _: &Client) -> String {
    match refusal {
        Refusal::NoRoutes(_) | Refusal::BadRoutes(..) => {
            "Missing or broken xDS routing config: RDS config unavailable.".to_owned()
        }
        Refusal::NoAuthority => String::new(),
        Refusal::NoVirtualHost(_) => "Could not find xDS virtual host matching RPC".to_owned(),
        Refusal::NoRoute => "Could not find xDS route matching RPC".to_owned(),
        Refusal::InappropriateAction => {
            "Invalid xDS route action for matching route: only Route.non_forwarding_action should be allowed."
                .to_owned()
        }
        Refusal::NoPolicy | Refusal::Policy(_) => "Access Denied".to_owned(),
        Refusal::Unimplemented(method) => format!("Method not found: {}", method.trim_start_matches('/')),
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
