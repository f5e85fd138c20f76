//! What the client makes of a DiscoveryResponse around its resources: types, wrappers, names,
//! reported errors.
//!
//! Follows C-core `XdsClient::XdsChannel::AdsCall` (xds_client.cc): `DecodeAdsResponse`,
//! `ParseResource`, `HandleServerReportedResourceError`, and `XdsClient::ParseXdsResourceName`.
//! [`resource`] validates a resource that was sent with a name around it; the functions that begin
//! with `check` look at one fact.
//!
//! The client finds none of these faults in a field of the resource, so the paths of the findings
//! are empty, or lead into `resource_errors`.

use bytes::Bytes;

use crate::core::convert::resource_name::{NameComparison, NameFault};
use crate::core::convert::switch::report_off;
use crate::judge::{Validated, within};
use crate::shared::URL_PREFIX;
use crate::shared::rules::XDSTP_NAME_MALFORMED;
use xdsctl_model::diag::{Path, Rule, Validation, rules};
use xdsctl_model::profile::{Feature, Profile};
use xdsctl_model::resource::ResourceType;

rules! {
    /// A response is of a type that a gRPC client never asks for.
    RESPONSE_TYPE_UNKNOWN = "response-type-unknown", Dump, Fails, "C-core xds_client.cc DecodeAdsResponse, OnRecvMessage";
    /// A resource in a response is not of the response's type.
    RESOURCE_TYPE_MISMATCH = "response-resource-type-mismatch", Dump, Nack, "C-core xds_client.cc ParseResource";
    /// A resource has another name than the one under which it was sent, and the latter counts.
    WRAPPER_NAME_DIFFERS = "response-wrapper-name-differs", Dump, Advice, "C-core xds_client.cc ParseResource";
    /// A resource outside of a response has a name under which a client would reject it.
    XDSTP_NAME_UNSENDABLE = "xdstp-name-unsendable", Dump, Fails, "gRFC A47; C-core XdsClient::ParseXdsResourceName";
    /// An entry of resource_errors names no resource.
    RESOURCE_ERROR_UNNAMED = "response-error-without-name", Dump, Nack, "gRFC A88; C-core xds_client.cc HandleServerReportedResourceError";
    /// An entry of resource_errors has no error in it.
    RESOURCE_ERROR_OK = "response-error-without-detail", Dump, Nack, "gRFC A88; C-core xds_client.cc HandleServerReportedResourceError";
}

/// Validates a resource that was sent under `outer_name`; without one, or with an empty one, its
/// own name counts.
///
/// The clients in `others` are asked as well. The context is used for this resource alone; see
/// [`Validation::knowing`] for what it may know.
pub fn resource(
    resource_type: ResourceType,
    bytes: &Bytes,
    outer_name: Option<&str>,
    others: &[Profile],
    cx: Validation<'_>,
) -> Validated {
    let (profile, server) = (cx.profile(), cx.server());
    let mut validated = within(cx, resource_type, bytes, (outer_name, others));
    let outer_name = outer_name.filter(|name| !name.is_empty());
    let mut cx = Validation::new(profile, server);
    if let Some(name) = outer_name {
        if !validated.name.is_empty() && validated.name != name {
            cx.report(
                &WRAPPER_NAME_DIFFERS,
                &Path::ROOT,
                format_args!("sent as `{name}`, which counts, and not as `{}`", validated.name),
            );
        }
        name.clone_into(&mut validated.name);
    }
    // The converters of other families check the name themselves, where their client does.
    if profile.is_core() {
        let rule = &XDSTP_NAME_MALFORMED;
        check_name(rule, &validated.name, resource_type, &Path::ROOT, &mut cx);
    }
    if cx.nacked() {
        validated.value = None;
    }
    validated.diagnostics.extend(cx.finish());
    validated
}

/// Validates a resource without a wrapper. The control plane may still send it in a wrapper with
/// another name.
///
/// A name that the client cannot parse ([`XDSTP_NAME_UNSENDABLE`]) is therefore no fault here.
pub fn bare(resource_type: ResourceType, bytes: &Bytes, others: &[Profile], cx: Validation<'_>) -> Validated {
    let (profile, server) = (cx.profile(), cx.server());
    let mut validated = within(cx, resource_type, bytes, (None, others));
    let mut cx = Validation::new(profile, server);
    let rule = &XDSTP_NAME_UNSENDABLE;
    check_name(rule, &validated.name, resource_type, &Path::ROOT, &mut cx);
    validated.diagnostics.extend(cx.finish());
    validated
}

fn without_prefix(type_url: &str) -> &str {
    type_url.strip_prefix(URL_PREFIX).unwrap_or(type_url)
}

/// Returns the type of a response, or reports one that a gRPC client never asks for.
pub fn check_response_type(type_url: &str, cx: &mut Validation<'_>) -> Option<ResourceType> {
    let found = ResourceType::from_type_name(without_prefix(type_url));
    if found.is_none() {
        let finding = cx.report(
            &RESPONSE_TYPE_UNKNOWN,
            &Path::ROOT,
            format_args!("a gRPC client drops a response of type `{type_url}`, and reads no further one on the stream"),
        );
        let names = ResourceType::ALL.map(ResourceType::type_name);
        let last = type_url.rsplit('/').next().unwrap_or_default();
        if let Some(near) = xdsctl_model::text::nearest(last, names.into_iter()) {
            finding.help(format!("did you mean `{URL_PREFIX}{near}`?"));
        }
    }
    found
}

/// Says whether gRPC knows nothing of the type, but other clients do.
pub fn is_of_others(type_url: &str) -> bool {
    let name = type_url.rsplit('/').next().unwrap_or_default();
    let is_v2 = name.starts_with("envoy.api.v2.");
    is_v2
        || (ResourceType::from_type_name(name).is_none() && xdsctl_document::proto::pb::tables::message(name).is_some())
}

/// Says whether a resource of type `type_url` may be in a response of type `response_type`; reports
/// it if not.
pub fn check_resource_type(type_url: &str, response_type: &str, cx: &mut Validation<'_>) -> bool {
    let response_type = without_prefix(response_type);
    let fits = without_prefix(type_url) == response_type;
    if !fits {
        cx.report(
            &RESOURCE_TYPE_MISMATCH,
            &Path::ROOT,
            format_args!("type `{type_url}` in a response of type `{response_type}`"),
        );
    }
    fits
}

/// Reports `rule` at `at` if the client cannot read a resource's name.
///
/// Any text is a name, but with `xdstp:` in front it must be a URI whose path begins with the type,
/// if federation is on (A47).
fn check_name(rule: &'static Rule, name: &str, resource_type: ResourceType, at: &Path<'_>, cx: &mut Validation<'_>) {
    match NameComparison::of(cx.profile()).read(name, resource_type) {
        Err(NameFault::OtherType(first)) => {
            let wanted = resource_type.type_name();
            let why = format_args!("the path of `{name}` begins with `{first}`, must begin with `{wanted}/`");
            cx.report(rule, at, why);
        }
        Err(NameFault::NotUri(fault)) => _ = cx.report(rule, at, format_args!("`{name}` is not a URI: {fault}")),
        // Which authorities the bootstrap has is not checked here.
        Ok(_) | Err(NameFault::UnknownAuthority(_)) => {}
    }
}

/// Checks an entry of `resource_errors`, which the client reads only under an environment switch
/// (A88). `name` may be empty; with `is_ok`, `error_detail` is absent or has code 0.
///
/// Returns `false` if the switch is off: further entries need not be checked.
pub fn check_error(
    index: usize,
    (name, is_ok): (&str, bool),
    resource_type: ResourceType,
    cx: &mut Validation<'_>,
) -> bool {
    let at = Path::ROOT.field("resource_errors");
    if !cx.has(Feature::DataErrorHandling) {
        report_off(Feature::DataErrorHandling, &at, cx);
        return false;
    }
    let at = at.index(index);
    if name.is_empty() {
        let why = format_args!("no resource_name, must name a resource");
        cx.report(&RESOURCE_ERROR_UNNAMED, &at, why);
    } else if is_ok {
        let why = format_args!("error_detail is absent or OK, must be an error");
        cx.report(&RESOURCE_ERROR_OK, &at, why);
    } else {
        check_name(&XDSTP_NAME_MALFORMED, name, resource_type, &at, cx);
    }
    true
}
