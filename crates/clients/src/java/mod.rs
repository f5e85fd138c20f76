//! grpc-java: converters of the four resources, with its order of checks; the first fault ends a
//! resource.
//!
//! There is one file for each resource or part of one; each function follows one of the client's,
//! which its doc names. The client is assumed to have grpc-xds and grpc-rls on its class path.
//! Numbers of 2^31 and more are negative in Java, and an exception in a parser is a NACK only since
//! 1.79.

mod address;
mod cluster;
mod endpoints;
mod ext_proc;
mod fault;
mod filter_chain;
mod http_connection_manager;
mod http_filter;
mod json;
mod lb;
mod lb_config;
mod listener;
mod matcher;
mod metadata;
mod plugin;
mod rbac;
mod regex;
mod resource_name;
mod rewrite;
mod rls;
mod route_action;
mod routes;
mod tls;
mod uri;

use prost_types::Duration;

use crate::shared::read::{FamilyReader, ReadDialect, WeightedForm, length};
use crate::shared::rules::{NUM_RETRIES_TOO_BIG, NUM_RETRIES_ZERO};
use crate::shared::{
    Checked, Converter, ConverterStop, Message, SentResource, URL_PREFIX, decoded, die, is_url_of, is_valid,
    not_in_any, reject,
};
use xdsctl_document::proto::any;
use xdsctl_document::proto::duration::DURATION_OUT_OF_RANGE;
use xdsctl_document::proto::pb::Any;
use xdsctl_model::diag::{Path, Rule, Validation};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::MAX_DURATION_SECONDS;
use xdsctl_model::resource::filter::FaultHeaders;
use xdsctl_model::resource::listener::Cidr;
use xdsctl_model::status::of_http_error_in_java;

/// How the client reads an accepted resource, where families differ.
static DIALECT: ReadDialect = ReadDialect {
    filter: http_filter::by_url,
    status_of_http: of_http_error_in_java,
    fault_headers: FaultHeaders::Java,
    plugin: plugin::policy,
    ring: lb::ring,
    has_policy: lb_config::is_registered,
    least_request_in_localities: true,
    reads_least_request: true,
    weighted_round_robin: WeightedForm {
        omits_zero: false,
        names: WeightedForm::NAMES,
    },
    watches_unweighted: true,
    lb_config: lb_config::of_list,
    requires_if_set: true,
    keeps_destinations: |_| true,
    has_policy_kind: |_, _| true,
    prefers_raw_buffer: false,
    uses_all_chains: false,
    needs_raw_buffer: false,
    chain_range: |range, profile| {
        let address = address::of_range(&range.address_prefix, |it| profile.has(it));
        address.map(|address| Cidr::of_ip(address, length(range)))
    },
    policy_range: |range, _| {
        let address = address::by_name(&range.address_prefix);
        address.map(|address| Cidr::of_ip(address, length(range)))
    },
    uses_alpn: true,
    last_breaker: true,
    unset_breaker_counts: false,
};

pub(crate) static CONVERTER: Converter = Converter {
    judge: |sent, cx| {
        convert(sent, cx)?;
        let message = decoded(sent, cx)?;
        Ok(Some(FamilyReader::new(&DIALECT, cx).resource(message, sent.opened)))
    },
    failures_kill: true,
    failing_later: &[
        &cluster::OUTLIER_ZERO_INTERVAL_KILLS,
        &NUM_RETRIES_ZERO,
        &NUM_RETRIES_TOO_BIG,
    ],
    rules: &[cluster::RULES, fault::RULES, listener::RULES, rewrite::RULES],
};

/// Converts a resource (`XdsResourceType.parse`).
fn convert(sent: &SentResource<'_>, cx: &mut Validation<'_>) -> Checked {
    let message = decoded(sent, cx)?;
    let outer = sent.outer_name;
    let outer = outer.filter(|name| !name.is_empty() && cx.has(Feature::OuterName));
    resource_name::check(outer.unwrap_or(message.name()), sent.resource_type, cx)?;
    match message {
        Message::Listener(listener) => listener::convert(listener, cx),
        Message::RouteConfiguration(config) => routes::extract_virtual_hosts(config, sent.opened, &Path::ROOT, cx),
        Message::Cluster(cluster) => cluster::convert(cluster, cx),
        Message::Endpoints(endpoints) => endpoints::convert(endpoints, sent.opened.endpoints(endpoints), cx),
    }
}

/// Says whether an Any holds a message, whatever is before the last slash of its URL (`Any.is`).
fn holds(any: &Any, type_name: &str) -> bool {
    let name = any.type_url.rsplit_once('/').map(|(_, name)| name);
    name == Some(type_name)
}

/// Unpacks an Any at `at` (`Any.unpack`); `mismatch` is reported if it holds another message.
fn unpack<T: prost::Message + Default>(
    any: &Any,
    type_name: &'static str,
    mismatch: &'static Rule,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Checked<T> {
    if !holds(any, type_name) {
        let message = format_args!("`{}` must be `{type_name}` here", any.type_url);
        return Err(reject(mismatch, at, message, cx));
    }
    unpack_as(any, type_name, at, cx)
}

/// Parses the bytes of an Any as a message, whatever its type URL says.
fn unpack_as<T: prost::Message + Default>(
    any: &Any,
    type_name: &'static str,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Checked<T> {
    any::try_decode_without_notes(&any.value, type_name, &at.value(type_name), cx)
        .map_err(|fault| not_in_any(type_name, fault, at, cx))
}

/// Reports an exception that no parser expects: a NACK, or in versions that do not catch it, the
/// end of the channel.
#[cold]
fn thrown(
    rule: &'static Rule,
    at: &Path<'_>,
    message: std::fmt::Arguments<'_>,
    cx: &mut Validation<'_>,
) -> ConverterStop {
    if cx.has(Feature::ParserExceptionCaught) {
        reject(rule, at, message, cx)
    } else {
        die(rule, at, message, cx)
    }
}

/// Checks a duration; the client throws at an invalid one (`Durations.checkValid`).
fn check_valid(duration: &Duration, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    if is_valid(duration) {
        return Ok(());
    }
    let Duration { seconds, nanos } = duration;
    let message = format_args!(
        "{seconds} s and {nanos} ns are no duration: one sign, at most {MAX_DURATION_SECONDS} s, below 1 s of ns"
    );
    Err(thrown(&DURATION_OUT_OF_RANGE, at, message, cx))
}

/// Returns a duration in nanoseconds of at most 63 bits, which is 292 years; the client throws at a
/// longer one (`Durations.toNanos`).
fn to_nanos(duration: &Duration, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked<i64> {
    check_valid(duration, at, cx)?;
    let Duration { seconds, nanos } = *duration;
    let whole = seconds.checked_mul(1_000_000_000);
    whole.and_then(|whole| whole.checked_add(nanos.into())).ok_or_else(|| {
        let message = format_args!("{seconds} s are longer than 292 years, which the client cannot count");
        thrown(&DURATION_OUT_OF_RANGE, at, message, cx)
    })
}
