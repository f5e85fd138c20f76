//! What families have in common: the resource that each of them gets, how a converter stops, and
//! the rules that several of them have.
//!
//! The families differ in most rules and in their order (Go stops at the first fault, Node hands
//! wrappers to the wrong parser), so each has a straight converter of its own.

pub(crate) mod addresses;
pub(crate) mod aggregate;
pub(crate) mod alike;
pub mod chain_policies;
pub(crate) mod conditions;
pub(crate) mod ext_proc;
pub(crate) mod fields;
pub(crate) mod header_name;
pub(crate) mod limits;
pub(crate) mod names;
mod opened;
pub(crate) mod outlier_detection;
mod plain;
pub mod reach;
pub(crate) mod read;
pub(crate) mod rls;
pub mod rules;
pub(crate) mod tls;

use std::fmt;

use bytes::Bytes;
use prost::DecodeError;
use prost_types::Duration;

use xdsctl_document::proto::pb::envoy::config;
use xdsctl_document::proto::wire::Malformed;
use xdsctl_model::diag::{Effect, Path, Rule, Seg, Validation};
use xdsctl_model::resource::{MAX_DURATION_SECONDS, Resource, ResourceType};

pub(crate) use opened::opened_or_kept;
pub use opened::{Opened, OpenedEndpoints, OpenedHost};
use rules::{FILTER_OVERRIDE_DROPPED, OPTIONAL_FILTER_DROPPED, RESOURCE_UNDECODABLE};
use xdsctl_document::proto::any::{ANY_UNDECODABLE, TYPED_STRUCTS};
use xdsctl_document::proto::pb::Any;
use xdsctl_document::proto::pb::envoy::config::cluster::v3::LoadBalancingPolicy;
use xdsctl_document::proto::pb::xds::r#type::v3::TypedStruct;
use xdsctl_lb::xds::{LB_ENTRY_SKIPPED, LB_NO_SUPPORTED_POLICY};

/// Says why no filter belongs to the type URL of a config; `url` is empty if typed_config is
/// missing.
pub(crate) fn no_filter_of(url: &str) -> String {
    match url {
        "" => "typed_config is missing, must hold the config of a filter".to_owned(),
        url => format!("the client has no filter of type `{url}`"),
    }
}

/// Reports that an optional filter, or an override of one, is left out because the client does not
/// have it on this side.
pub(crate) fn leave_out(url: &str, is_override: bool, at: &Path<'_>, cx: &mut Validation<'_>) {
    let name = last_of(url);
    let at = at.value(name);
    if is_override {
        let message =
            format_args!("the client has no filter with the override type `{name}`, the optional entry is dropped");
        cx.report(&FILTER_OVERRIDE_DROPPED, &at, message);
    } else {
        let message = format_args!("the client has no filter of type `{name}` here, the optional filter is dropped");
        cx.report(&OPTIONAL_FILTER_DROPPED, &at, message);
    }
}

/// Converts the first entry of a list of LB policies that the client has. `takes` converts an
/// entry, and says whether the client has its policy.
pub(crate) fn first_policy(
    policy: &LoadBalancingPolicy,
    takes: impl Fn(&Any, &Path<'_>, &mut Validation<'_>) -> Checked<bool>,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Checked {
    let entries = at.field("policies");
    let mut passed = Vec::new();
    for (i, entry) in policy.policies.iter().enumerate() {
        let extension = entry.typed_extension_config.as_ref();
        let Some(any) = extension.and_then(|extension| extension.typed_config.as_ref()) else {
            continue;
        };
        let at = entries.index(i);
        let at = at.field("typed_extension_config");
        if takes(any, &at.field("typed_config"), cx)? {
            pass_over(&passed, &entries, cx);
            return Ok(());
        }
        passed.push((i, any));
    }
    let count = policy.policies.len();
    let why = format_args!("none of the {count} listed policies is supported");
    Err(reject(&LB_NO_SUPPORTED_POLICY, at, why, cx))
}

/// Reports the entries of a list of LB policies that are skipped, before the one that counts.
fn pass_over(passed: &[(usize, &Any)], entries: &Path<'_>, cx: &mut Validation<'_>) {
    for (index, any) in passed {
        let at = entries.index(*index);
        let at = at.field("typed_extension_config");
        let at = at.field("typed_config");
        let outer = last_of(&any.type_url);
        let wrapper = TYPED_STRUCTS.into_iter().find(|name| *name == outer);
        let inner = wrapper.and_then(|name| read::opened::<TypedStruct>(any, name));
        let type_name = inner.as_ref().map_or(outer, |inner| last_of(&inner.type_url));
        let at = at.then(Seg::Value { wrapper, type_name });
        let message = format_args!("`{type_name}` is passed over, the client does not have it");
        cx.report(&LB_ENTRY_SKIPPED, &at, message);
    }
}

/// Returns what follows the last slash of a type URL.
fn last_of(url: &str) -> &str {
    url.rsplit('/').next().unwrap_or_default()
}

/// The beginning of every type URL that a client compares as a whole.
pub(crate) const URL_PREFIX: &str = "type.googleapis.com/";

/// The default of `total_weight` in weighted_clusters, for versions that read it.
pub(crate) const OLD_TOTAL_WEIGHT: u32 = 100;

/// A resource, decoded once for all clients that are asked about it.
#[derive(Debug, Clone, Copy)]
pub enum Message<'m> {
    /// `envoy.config.listener.v3.Listener`.
    Listener(&'m config::listener::v3::Listener),
    /// `envoy.config.route.v3.RouteConfiguration`.
    RouteConfiguration(&'m config::route::v3::RouteConfiguration),
    /// `envoy.config.cluster.v3.Cluster`.
    Cluster(&'m config::cluster::v3::Cluster),
    /// `envoy.config.endpoint.v3.ClusterLoadAssignment`.
    Endpoints(&'m config::endpoint::v3::ClusterLoadAssignment),
}

/// A resource as it was sent.
#[derive(Debug, Clone, Copy)]
pub struct SentResource<'m> {
    /// The type of the resource, one of the four that gRPC clients ask for.
    pub resource_type: ResourceType,
    /// The message, or why C-core's parser rejects the bytes; another client's parser may accept
    /// them.
    pub message: Result<Message<'m>, Malformed>,
    /// What was decoded of the nested messages that are kept as bytes.
    pub opened: &'m Opened,
    /// The bytes of the message.
    pub bytes: &'m Bytes,
    /// The name of the wrapper, a discovery Resource or an entry of a dump.
    pub outer_name: Option<&'m str>,
}

impl<'m> Message<'m> {
    /// Returns the name in the message itself; empty if it has none.
    pub fn name(self) -> &'m str {
        match self {
            Message::Listener(message) => &message.name,
            Message::RouteConfiguration(message) => &message.name,
            Message::Cluster(message) => &message.name,
            Message::Endpoints(message) => &message.cluster_name,
        }
    }
}

/// The converter of a family.
pub(crate) struct Converter {
    /// Reports what it finds in a resource to the context, and returns what the client keeps, if
    /// this converter makes that value.
    pub judge: fn(&SentResource<'_>, &mut Validation<'_>) -> Checked<Option<Resource>>,
    /// A finding with [`Effect::Fails`] kills the client's process.
    pub failures_kill: bool,
    /// The exceptions to `failures_kill`: the client accepts the resource, and fails or dies later.
    pub failing_later: &'static [&'static Rule],
    /// The rules that only this family has, by the files that find them.
    pub rules: &'static [&'static [&'static Rule]],
}

/// Why a converter stops before the end of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConverterStop {
    /// The resource is rejected; the finding says why.
    Rejected,
    /// The resource is rejected, and the rejection names no resource, as if its name had not been
    /// sent.
    Unnamed,
    /// The client's process dies; the finding says of what.
    Dies,
}

/// The result of a check that stops at the first fault.
pub type Checked<T = ()> = Result<T, ConverterStop>;

/// Reports a rejection; the converter stops with the value that is returned.
pub fn reject(
    rule: &'static Rule,
    at: &Path<'_>,
    message: std::fmt::Arguments<'_>,
    cx: &mut Validation<'_>,
) -> ConverterStop {
    cx.report_as(Effect::Nack, rule, at, message);
    ConverterStop::Rejected
}

/// Reports what kills the client's process; the converter stops with the value that is returned.
pub fn die(
    rule: &'static Rule,
    at: &Path<'_>,
    message: std::fmt::Arguments<'_>,
    cx: &mut Validation<'_>,
) -> ConverterStop {
    cx.report_as(Effect::Fails, rule, at, message);
    ConverterStop::Dies
}

/// Says whether a type URL is exactly that of a message.
pub(crate) fn is_url_of(url: &str, type_name: &str) -> bool {
    url.strip_prefix(URL_PREFIX) == Some(type_name)
}

/// Says whether seconds and nanoseconds are of one sign and within ten thousand years
/// (`Durations.isValid`, `CheckValid`).
pub(crate) fn is_valid(duration: &Duration) -> bool {
    let Duration { seconds, nanos } = *duration;
    let has_two_signs = (seconds < 0 || nanos < 0) && (seconds > 0 || nanos > 0);
    seconds.unsigned_abs() <= MAX_DURATION_SECONDS.unsigned_abs()
        && nanos.unsigned_abs() < 1_000_000_000
        && !has_two_signs
}

/// Returns the decoded resource, for a client whose parser accepts what C-core's accepts; otherwise
/// reports that it cannot be parsed.
pub fn decoded<'m>(sent: &SentResource<'m>, cx: &mut Validation<'_>) -> Checked<Message<'m>> {
    sent.message.map_err(|fault| undecodable(sent.resource_type, fault, cx))
}

/// Reports that the client cannot parse the message in an Any.
pub(crate) fn not_in_any(
    type_name: &'static str,
    fault: impl fmt::Display,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> ConverterStop {
    let message = format_args!("not a valid `{type_name}`: {fault}");
    reject(&ANY_UNDECODABLE, &at.value(type_name), message, cx)
}

/// Decodes a resource again, for a client whose parser accepts other bytes than C-core's, and runs
/// `then` on the result.
pub(crate) fn decoded_anew<T>(
    bytes: Bytes,
    resource_type: ResourceType,
    then: impl FnOnce(Result<Message<'_>, &DecodeError>) -> T,
) -> T {
    match resource_type {
        ResourceType::Listener => then(prost::Message::decode(bytes).as_ref().map(Message::Listener)),
        ResourceType::RouteConfiguration => {
            then(prost::Message::decode(bytes).as_ref().map(Message::RouteConfiguration))
        }
        ResourceType::Cluster => then(prost::Message::decode(bytes).as_ref().map(Message::Cluster)),
        ResourceType::Endpoints => then(prost::Message::decode(bytes).as_ref().map(Message::Endpoints)),
    }
}

/// Reports that the client cannot parse the resource.
pub fn undecodable(kind: ResourceType, fault: impl fmt::Display, cx: &mut Validation<'_>) -> ConverterStop {
    let name = kind.short_name();
    let message = format_args!("not a valid {name}: {fault}");
    reject(&RESOURCE_UNDECODABLE, &Path::ROOT, message, cx)
}
