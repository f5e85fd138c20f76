//! gRPC C-core: xds_server_config_fetcher.cc, rbac_filter.cc, authorization/matchers.cc,
//! authorization/evaluate_args.cc.

use std::borrow::Cow;

use crate::connection::{Rpc, plain};
use crate::dialect::{
    DrainsOn, Lifetime, NoAuthority, Refusal, Rotation, RoutesByRds, ServerDialect, SourceTypes, all_names,
    pseudo_header,
};
use xdsctl_channel::client::Client;
use xdsctl_channel::rpc::known;
use xdsctl_model::profile::{Feature, Profile};
use xdsctl_model::resource::domain::DomainComparison;
use xdsctl_model::status::Code;

/// The default of `GRPC_ARG_SERVER_CONFIG_CHANGE_DRAIN_GRACE_TIME_MS`.
const DRAIN_GRACE_MS: i64 = 10 * 60 * 1000;

pub(super) fn dialect(profile: &Profile) -> ServerDialect {
    ServerDialect {
        compares_address: true,
        listens: str::to_owned,
        crashes_at_resources: false,
        // The Python program does, and its server then has no config fetcher.
        serves_without_template: true,
        routes_by_rds: RoutesByRds::Served,
        last_host_wins: false,
        stops_at_equal_routes: false,
        address: plain,
        no_range_is_zero: false,
        port_zero_is_any: true,
        several_close: false,
        source_types: SourceTypes::AnyAlone,
        loopback_is_net: false,
        policy_header: match profile.has(Feature::PoliciesSeeContentType) {
            true => policy_header,
            false => |rpc, name| policy_header(rpc, name).filter(|_| name != "content-type"),
        },
        route_header: match profile.has(Feature::ServerRoutesSeeAll) {
            true => route_header,
            false => |rpc, name| route_header(rpc, name).filter(|_| ![":scheme", "te", "host"].contains(&name)),
        },
        // Follows `AuthenticatedAuthorizationMatcher::Matches`.
        names: all_names,
        authenticates_by_certificate: false,
        passes_over_unsupported: false,
        inverted_metadata_matches: true,
        principals_first: false,
        domains: DomainComparison::Folded,
        asks_optionally: true,
        needs_whole_provider: false,
        borrows_roots: false,
        no_authority: NoAuthority::Empty,
        missing_routes: match profile.has(Feature::MissingRoutesUnavailable) {
            true => Code::Unavailable,
            false => Code::NotFound,
        },
        ignores_overrides: false,
        takes_bad_certificates: false,
        unimplemented_first: false,
        words,
        lifetime: Lifetime {
            drains_on: DrainsOn::Read,
            drain_grace: Some(DRAIN_GRACE_MS),
            cut_off: Some((
                Code::Unavailable,
                "Drain grace time expired. Closing connection immediately.",
            )),
            rotation: Rotation::AsTheyAre,
            policies_differ: !profile.has(Feature::RbacMatchersMade),
            ends_at_unimplemented: profile.has(Feature::UnknownMethodEnds),
            ends_at_unknown_type: true,
            ..Lifetime::default()
        },
    }
}

/// Follows `EvaluateArgs::GetHeaderValue`.
fn policy_header<'r>(rpc: &'r Rpc, name: &str) -> Option<Cow<'r, str>> {
    match name.eq_ignore_ascii_case("te") {
        true => None,
        false => of_http(rpc, name),
    }
}

/// Follows `XdsRouting::GetHeaderValue`.
fn route_header<'r>(rpc: &'r Rpc, name: &str) -> Option<Cow<'r, str>> {
    match name {
        name if name.ends_with("-bin") => None,
        "te" => Some(Cow::Borrowed("trailers")),
        ":scheme" => Some(Cow::Borrowed(if rpc.is_https { "https" } else { "http" })),
        _ => of_http(rpc, name),
    }
}

/// Returns a header as the transport makes it of the HTTP request, which has no user-agent here.
/// `host` is the authority.
fn of_http<'r>(rpc: &'r Rpc, name: &str) -> Option<Cow<'r, str>> {
    match name {
        name if name.eq_ignore_ascii_case("host") => Some(Cow::Borrowed(&rpc.authority)),
        "content-type" => Some(Cow::Borrowed("application/grpc")),
        _ => pseudo_header(rpc, name).or_else(|| known::value(&rpc.headers, name)),
    }
}

/// Writes a message as `XdsServerConfigSelectorProvider` and
/// `XdsServerConfigSelector::GetCallConfig` do. A status in place of a method config names its
/// code.
fn words(refusal: Refusal<'_>, client: &Client) -> String {
    match refusal {
        Refusal::NoRoutes(_) if !client.profile.has(Feature::MissingRoutesUnavailable) => {
            "Requested route config does not exist".to_owned()
        }
        Refusal::NoRoutes(name) => format!("RDS resource {name}: does not exist (node ID:{})", client.node_id),
        Refusal::BadRoutes(name, why) => format!("RDS resource {name}: {why} (node ID:{})", client.node_id),
        Refusal::NoAuthority => words(Refusal::NoVirtualHost(""), client),
        Refusal::NoVirtualHost(authority) => {
            format!("UNAVAILABLE:could not find VirtualHost for {authority} in RouteConfiguration")
        }
        Refusal::NoRoute => "UNAVAILABLE:no route matched".to_owned(),
        Refusal::InappropriateAction => "UNAVAILABLE:matching route has unsupported action".to_owned(),
        Refusal::NoPolicy | Refusal::Policy(_) => "Unauthorized RPC rejected".to_owned(),
        Refusal::Unimplemented(_) => String::new(),
    }
}
