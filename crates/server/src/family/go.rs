//! grpc-go: internal/xds/server, internal/xds/rbac.

use std::borrow::Cow;

use crate::connection::{Rpc, joined};
use crate::dialect::{
    Loopback, MetadataCondition, Refusal, ServerDialect, SourceTypes, UnsupportedCondition, all_names,
};
use xdsctl_model::profile::{Feature, Profile};
use xdsctl_model::resource::domain::DomainComparison;

pub(super) fn dialect(profile: &Profile) -> ServerDialect {
    ServerDialect {
        compares_address: true,
        source_types: SourceTypes::AnyElse,
        loopback: Loopback::Net,
        policy_header,
        route_header,
        // `authenticatedMatcher.match`.
        names: all_names,
        unsupported: match profile.has(Feature::RbacKindsChecked) {
            true => UnsupportedCondition::Never,
            false => UnsupportedCondition::PassedOver,
        },
        metadata: MetadataCondition::Inverted,
        domains: DomainComparison::of(|feature| profile.has(feature)),
        asks_optionally: false,
        ignores_tls: false,
        unimplemented_first: true,
        words,
        names_node: true,
    }
}

/// `newRPCData` and `parseConfig`, which writes `:authority` for `host`.
fn policy_header<'r>(rpc: &'r Rpc, name: &str) -> Option<Cow<'r, str>> {
    match name {
        ":method" => Some(Cow::Borrowed("POST")),
        "te" => None,
        "host" | ":authority" => Some(Cow::Borrowed(&rpc.authority)),
        ":path" => Some(Cow::Borrowed(&rpc.method)),
        _ => of_metadata(rpc, name),
    }
}

/// `routeAndProcess`.
fn route_header<'r>(rpc: &'r Rpc, name: &str) -> Option<Cow<'r, str>> {
    match name {
        ":authority" => Some(Cow::Borrowed(&rpc.authority)),
        _ => of_metadata(rpc, name),
    }
}

/// The metadata that the transport makes of an HTTP request.
fn of_metadata<'r>(rpc: &'r Rpc, name: &str) -> Option<Cow<'r, str>> {
    match name {
        "grpc-encoding" | "grpc-timeout" | "grpc-message" | "grpc-message-type" | "grpc-status" | "te" => None,
        "content-type" => joined(&rpc.headers, name).or(Some(Cow::Borrowed("application/grpc"))),
        _ => joined(&rpc.headers, name),
    }
}

fn words(refusal: Refusal<'_>) -> String {
    match refusal {
        Refusal::NoRoutes(why) => why.to_owned(),
        Refusal::NoVirtualHost(_) => "the incoming RPC did not match a configured Virtual Host".to_owned(),
        Refusal::NoRoute => "the incoming RPC did not match a configured Route".to_owned(),
        Refusal::InappropriateAction => {
            "the incoming RPC matched to a route that was not of action type non forwarding".to_owned()
        }
        Refusal::NoPolicy => "incoming RPC did not match an allow policy".to_owned(),
        Refusal::Policy => "incoming RPC matched a deny policy".to_owned(),
        Refusal::Unimplemented => String::new(),
    }
}
