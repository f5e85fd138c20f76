//! grpc-go: converters of the four resources, with its order of checks; the first fault ends a
//! resource.
//!
//! There is one file for each resource or part of one, and one function for each of the client's
//! own, which its doc names. The client is what a program gets that imports
//! `google.golang.org/grpc/xds`. RLS is an import of its own, and gcp_authn is one that no program
//! outside of grpc-go can make: without them, their types are unknown.

mod cluster;
mod endpoints;
mod ext_proc;
mod filter_chain;
mod http_connection_manager;
mod http_filter;
mod lb;
mod listener;
mod listener_before_maps;
mod matcher;
mod rbac;
mod rls;
mod routes;
mod target;
mod tls;

use std::net::IpAddr;

use bytes::Bytes;

use crate::shared::chain_policies;
use crate::shared::read::{FamilyReader, PolicyKind, ReadDialect, WeightedForm, length, plain_range};
use crate::shared::rules::{
    ADDRESS_MISSING, ADDRESS_NOT_IP, ADDRESS_NOT_SOCKET, PORT_OUT_OF_RANGE, REGEX_NOT_RE2, RESOURCE_NAME_EMPTY,
    RESOURCE_UNDECODABLE,
};
use crate::shared::{
    Checked, Converter, ConverterStop, Message, Opened, SentResource, URL_PREFIX, decoded_anew, die, is_url_of,
    not_in_any, reject, undecodable,
};
use xdsctl_document::proto::any;
use xdsctl_document::proto::pb::envoy::config::core::v3::CidrRange;
use xdsctl_document::proto::wire::Malformed;
use xdsctl_model::diag::{Path, Validation};
use xdsctl_model::profile::{Feature, Profile};
use xdsctl_model::resource::Resource;
use xdsctl_model::resource::filter::FaultHeaders;
use xdsctl_model::resource::listener::{Cidr, Listener};

/// What the client checks before it comes to a fault that is found earlier here.
type Later<'l> = &'l dyn Fn(&mut Validation<'_>) -> Checked;

/// How the client reads an accepted resource, where families differ.
static DIALECT: ReadDialect = ReadDialect {
    filter: http_filter::by_url,
    status_of_http: http_filter::status_of_http,
    fault_headers: FaultHeaders::Go,
    plugin: rls::policy,
    ring: lb::ring,
    has_policy: lb::is_registered,
    least_request_in_localities: false,
    reads_least_request: false,
    weighted_round_robin: WeightedForm {
        omits_zero: true,
        names: WeightedForm::NAMES,
    },
    watches_unweighted: false,
    lb_config: lb::of_list,
    requires_if_set: false,
    keeps_destinations: |profile| !profile.has(Feature::ImpossibleChainsDropped),
    has_policy_kind,
    prefers_raw_buffer: true,
    uses_all_chains: false,
    needs_raw_buffer: false,
    chain_range: range,
    policy_range: |range, profile| plain_range(range, profile).filter(|_| profile.has(Feature::PolicyAddressesMatch)),
    uses_alpn: false,
    last_breaker: false,
    unset_breaker_counts: false,
};

/// Says whether the client makes a matcher of this kind (`matchersFromPermissions`,
/// `matchersFromPrincipals`). Of metadata, older versions only know inverted permissions, which
/// always match.
fn has_policy_kind(kind: PolicyKind, profile: &Profile) -> bool {
    profile.has(Feature::RbacKindsChecked)
        || matches!(
            kind,
            PolicyKind::PermissionMetadata(true) | PolicyKind::UnnamedPeer | PolicyKind::OtherActions
        )
}

/// Reads a range (`net.ParseCIDR`). IPv4 in IPv6 is compared as IPv4, with the bits of the mask
/// beyond the first 96.
fn range(range: &CidrRange, profile: &Profile) -> Option<Cidr> {
    let read = plain_range(range, profile)?;
    let mapped = match range.address_prefix.parse().ok()? {
        IpAddr::V4(_) => None,
        IpAddr::V6(address) => address.to_ipv4_mapped().zip(length(range).checked_sub(96)),
    };
    Some(mapped.map_or(read, |(address, length)| Cidr::of_ip(address, length)))
}

pub(crate) static CONVERTER: Converter = Converter {
    judge: convert,
    failures_kill: true,
    failing_later: &[
        &ADDRESS_MISSING,
        &ADDRESS_NOT_IP,
        &ADDRESS_NOT_SOCKET,
        &PORT_OUT_OF_RANGE,
        &REGEX_NOT_RE2,
    ],
    rules: &[
        ext_proc::RULES,
        http_connection_manager::RULES,
        listener_before_maps::RULES,
        rbac::RULES,
    ],
};

/// Converts a resource.
fn convert(sent: &SentResource<'_>, cx: &mut Validation<'_>) -> Checked<Option<Resource>> {
    match sent.message {
        Ok(message) => kept(message, sent.opened, cx),
        // Go's parser reads messages that are nested a hundred times as deep.
        Err(Malformed::Depth) => decoded_anew(sent.bytes.clone(), sent.resource_type, |read| match read {
            Ok(message) => kept(message, &Opened::default(), cx),
            Err(fault) => {
                let message = format_args!("not valid: {fault}");
                Err(reject(&RESOURCE_UNDECODABLE, &Path::ROOT, message, cx))
            }
        }),
        Err(fault) => Err(undecodable(sent.resource_type, fault, cx)),
    }
}

/// Converts a message, and returns what the client keeps of it.
fn kept(message: Message<'_>, opened: &Opened, cx: &mut Validation<'_>) -> Checked<Option<Resource>> {
    converted(message, opened, cx)?;
    let resource = FamilyReader::new(&DIALECT, cx).resource(message, opened);
    if let Resource::Listener(Listener::Tcp(listener)) = &resource {
        chain_policies::check_unasked(listener, cx);
    }
    Ok(Some(resource))
}

/// Converts a resource. Its own name must not be empty, whatever name is on the wrapper
/// (`unmarshalListenerResource` and its like).
///
/// Versions before this check neither use nor reject a resource without a name, if all else is
/// good: they go on as if the resource were empty, and the oldest keep it under the empty name.
fn converted(message: Message<'_>, opened: &Opened, cx: &mut Validation<'_>) -> Checked {
    let is_nameless = message.name().is_empty();
    let why = format_args!("the resource has no name of its own, must have one");
    if is_nameless && cx.has(Feature::ResourceNameChecked) {
        return Err(reject(&RESOURCE_NAME_EMPTY, &Path::ROOT, why, cx));
    }
    match message {
        Message::Listener(listener) => listener::convert(listener, cx)?,
        Message::RouteConfiguration(config) => routes::from_proto(config, opened, &Path::ROOT, cx)?,
        Message::Cluster(cluster) => cluster::convert(cluster, cx)?,
        Message::Endpoints(endpoints) => endpoints::convert(endpoints, opened.endpoints(endpoints), cx)?,
    }
    if is_nameless && cx.has(Feature::NamelessKills) {
        return Err(die(&RESOURCE_NAME_EMPTY, &Path::ROOT, why, cx));
    }
    Ok(())
}

/// Says whether an Any holds a message, whatever is before its name in the URL
/// (`anypb.Any.MessageIs`).
fn holds(url: &str, type_name: &str) -> bool {
    url.strip_suffix(type_name)
        .is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

/// Decodes bytes as a message (`proto.Unmarshal`); `at` is the path of the Any that holds them.
fn unmarshal<T: prost::Message + Default>(
    bytes: &Bytes,
    type_name: &'static str,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Checked<T> {
    let decoded = match any::try_decode_without_notes(bytes, type_name, &at.value(type_name), cx) {
        Err(Malformed::Depth) => T::decode(bytes.clone()).map_err(|_| Malformed::Truncated),
        decoded => decoded,
    };
    decoded.map_err(|fault| not_in_any(type_name, fault, at, cx))
}

/// Reports a panic in a parser: the process dies, or in versions that recover from it, the resource
/// is rejected without a name.
#[cold]
fn panic(
    rule: &'static xdsctl_model::diag::Rule,
    at: &Path<'_>,
    message: std::fmt::Arguments<'_>,
    cx: &mut Validation<'_>,
) -> ConverterStop {
    if cx.has(Feature::ParserPanicRecovered) {
        reject(rule, at, message, cx);
        ConverterStop::Unnamed
    } else {
        die(rule, at, message, cx)
    }
}
