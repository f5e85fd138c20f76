//! grpc-go: internal/xds/server, internal/xds/rbac.

use std::borrow::Cow;

use crate::connection::{Rpc, joined, plain};
use crate::dialect::{
    DrainsOn, Lifetime, NoAuthority, Refusal, Rotation, RoutesByRds, ServerDialect, SourceTypes, all_names,
    names_of_first_kind, pseudo_header,
};
use xdsctl_channel::client::Client;
use xdsctl_model::profile::{Feature, Profile};
use xdsctl_model::resource::domain::DomainComparison;
use xdsctl_model::status::Code;

pub(super) fn dialect(profile: &Profile) -> ServerDialect {
    ServerDialect {
        compares_address: true,
        listens: str::to_owned,
        crashes_at_resources: true,
        serves_without_template: false,
        routes_by_rds: match profile.has(Feature::ServesRoutesByRds) {
            true => RoutesByRds::Served,
            false => RoutesByRds::Fatal,
        },
        last_host_wins: !profile.has(Feature::BestVirtualHostServes),
        stops_at_equal_routes: false,
        address: plain,
        no_range_is_zero: false,
        port_zero_is_any: true,
        several_close: false,
        source_types: SourceTypes::AnyElse,
        loopback_is_net: true,
        policy_header: match profile.has(Feature::PoliciesSeePath) {
            true => policy_header,
            false => |rpc, name| policy_header(rpc, name).filter(|_| name != ":path"),
        },
        route_header: match profile.has(Feature::ServerRoutesSeeHeaders) {
            true => route_header,
            false => |_, _| None,
        },
        // Follows `authenticatedMatcher.match`.
        names: match profile.has(Feature::PrincipalNamesByKind) {
            true => names_of_first_kind,
            false => all_names,
        },
        authenticates_by_certificate: false,
        passes_over_unsupported: !profile.has(Feature::RbacKindsChecked),
        inverted_metadata_matches: true,
        principals_first: false,
        domains: DomainComparison::of(|feature| profile.has(feature)),
        asks_optionally: false,
        needs_whole_provider: false,
        borrows_roots: false,
        no_authority: NoAuthority::Empty,
        missing_routes: Code::Unavailable,
        ignores_overrides: false,
        takes_bad_certificates: false,
        unimplemented_first: true,
        words,
        lifetime: Lifetime {
            drains_on: DrainsOn::Any,
            rotation: Rotation::Usable,
            differs_after_rejection: true,
            ..Lifetime::default()
        },
    }
}

/// Follows `newRPCData` and `parseConfig`, which writes `:authority` for `host`.
fn policy_header<'r>(rpc: &'r Rpc, name: &str) -> Option<Cow<'r, str>> {
    match name {
        "te" => None,
        "host" => Some(Cow::Borrowed(&rpc.authority)),
        _ => pseudo_header(rpc, name).or_else(|| of_metadata(rpc, name)),
    }
}

/// Follows `routeAndProcess`.
fn route_header<'r>(rpc: &'r Rpc, name: &str) -> Option<Cow<'r, str>> {
    match name {
        ":authority" => Some(Cow::Borrowed(&rpc.authority)),
        _ => of_metadata(rpc, name),
    }
}

/// Returns the metadata that the transport makes of an HTTP request.
fn of_metadata<'r>(rpc: &'r Rpc, name: &str) -> Option<Cow<'r, str>> {
    match name {
        "grpc-encoding" | "grpc-timeout" | "grpc-message" | "grpc-message-type" | "grpc-status" | "te" => None,
        "content-type" => joined(&rpc.headers, name).or(Some(Cow::Borrowed("application/grpc"))),
        _ => joined(&rpc.headers, name),
    }
}

fn words(refusal: Refusal<'_>, client: &Client) -> String {
    let of_routes = |words: &str| {
        client.with_node_id(&format!(
            "error from xDS configuration for matched route configuration: {words}"
        ))
    };
    let denied = |words: String| match client.profile.has(Feature::DenialsPlain) {
        true => words,
        false => client.with_node_id(&format!(
            "Incoming RPC is not allowed: rpc error: code = PermissionDenied desc = {words}"
        )),
    };
    match refusal {
        Refusal::NoRoutes(name) => of_routes(&client.with_node_id(&format!(
            "xds: resource \"{name}\" of type \"RouteConfigResource\" has been removed"
        ))),
        Refusal::BadRoutes(_, why) => of_routes(&client.with_node_id(why)),
        Refusal::NoAuthority | Refusal::NoVirtualHost(_) => {
            client.with_node_id("the incoming RPC did not match a configured Virtual Host")
        }
        Refusal::NoRoute => client.with_node_id("the incoming RPC did not match a configured Route"),
        Refusal::InappropriateAction => {
            client.with_node_id("the incoming RPC matched to a route that was not of action type non forwarding")
        }
        Refusal::NoPolicy => denied("incoming RPC did not match an allow policy".to_owned()),
        Refusal::Policy(name) => denied(format!("incoming RPC matched a deny policy \"{name}\"")),
        Refusal::Unimplemented(method) => {
            let (service, method) = method.trim_start_matches('/').rsplit_once('/').unwrap_or_default();
            format!("unknown method {method} for service {service}")
        }
    }
}
