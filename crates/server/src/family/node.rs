//! grpc-js-xds: server.ts, http-filter/rbac-filter.ts, rbac.ts.

use std::borrow::Cow;

use crate::connection::{PeerCertificate, Rpc};
use crate::dialect::{
    Loopback, MetadataCondition, NameKind, Refusal, ServerDialect, SourceTypes, UnsupportedCondition,
};
use crate::routing::joined;
use xdsctl_model::profile::Profile;
use xdsctl_model::resource::domain::DomainComparison;

pub(super) fn dialect(profile: &Profile) -> ServerDialect {
    ServerDialect {
        family: profile.client().family,
        source_types: SourceTypes::AnyElse,
        loopback: Loopback::Net,
        policy_header: header,
        route_header: header,
        names,
        unsupported: UnsupportedCondition::Never,
        metadata: MetadataCondition::Inverted,
        domains: DomainComparison::of(|feature| profile.has(feature)),
        asks_optionally: true,
        ignores_tls: false,
        unimplemented_first: true,
        words,
        names_node: false,
    }
}

/// The metadata of the call, in which pseudo-headers are not.
fn header<'r>(rpc: &'r Rpc, name: &str) -> Option<Cow<'r, str>> {
    let name = name.to_ascii_lowercase();
    match name.as_str() {
        name if name.ends_with("-bin") || name.starts_with(':') => None,
        "content-type" => Some(Cow::Borrowed("application/grpc")),
        name => joined(&rpc.headers, name),
    }
}

fn names(peer: Option<&PeerCertificate>) -> Vec<(NameKind, Cow<'_, str>)> {
    let Some(peer) = peer else {
        return vec![(NameKind::Subject, Cow::Borrowed(""))];
    };
    let uris = peer.uris.iter().map(|uri| (NameKind::Uri, Cow::Borrowed(uri.as_str())));
    let dns = peer.dns_names.iter();
    let dns = dns.map(|name| (NameKind::Dns, Cow::Borrowed(name.as_str())));
    let subject = (NameKind::Subject, Cow::Borrowed(peer.subject.as_str()));
    uris.chain(dns).chain([subject]).collect()
}

fn words(refusal: Refusal<'_>) -> String {
    match refusal {
        Refusal::NoRoutes(why) => why.to_owned(),
        Refusal::NoVirtualHost(_) | Refusal::NoRoute | Refusal::InappropriateAction => "No route matched".to_owned(),
        Refusal::NoPolicy | Refusal::Policy => "Unauthorized RPC rejected".to_owned(),
        Refusal::Unimplemented => String::new(),
    }
}
