//! HTTP filters, as grpc-js-xds reads them (http-filter.ts, http-filter/*.ts).

use std::collections::{BTreeMap, BTreeSet};

use super::{decode, fault, is_url_of, rbac};
use crate::shared::names::{FAULT, RBAC, RBAC_PER_ROUTE, ROUTER, WRAPPER};
use crate::shared::read::FilterKind;
use crate::shared::rules::{
    FAULT_STATUS_UNKNOWN, FILTER_NAME_TWICE, FILTER_ON_WRONG_SIDE, FILTER_OVERRIDE_TYPE_UNKNOWN,
    FILTER_OVERRIDE_WITHOUT_CONFIG, FILTER_UNSUPPORTED, LAST_FILTER_NOT_TERMINAL, TERMINAL_FILTER_NOT_LAST,
};
use crate::shared::{Checked, fields, leave_out, no_filter_of, reject};
use xdsctl_document::proto::any::{ANY_MISSING, ANY_UNDECODABLE, TYPED_STRUCTS};
use xdsctl_document::proto::pb::Any;
use xdsctl_document::proto::pb::envoy::config::route::v3::FilterConfig;
use xdsctl_document::proto::pb::envoy::extensions::filters::common::fault::v3::fault_delay::FaultDelaySecifier;
use xdsctl_document::proto::pb::envoy::extensions::filters::http::fault::v3::{HttpFault, fault_abort::ErrorType};
use xdsctl_document::proto::pb::envoy::extensions::filters::network::http_connection_manager::v3::HttpFilter;
use xdsctl_document::proto::pb::xds::r#type::v3::TypedStruct;
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::profile::{Feature, Profile};

rules! {
    /// A FilterConfig is around the override of a filter that the client has.
    FILTER_OVERRIDE_WRAPPED = "filter-override-wrapped", Filter, Nack, "grpc-js-xds http-filter.ts validateOverrideFilter";
    /// Policies stand in an override, which servers of grpc-js-xds read and do not apply.
    RBAC_OVERRIDE_NOT_APPLIED = "rbac-override-not-applied", Filter, Open, "grpc-js-xds server.ts, FilterChainEntry (overrideConfigMaps)";
    /// A delay or an abort of the fault filter has no percentage.
    FAULT_PERCENTAGE_MISSING = "fault-percentage-missing", Filter, Nack, "grpc-js-xds fault-injection-filter.ts parseHTTPFaultConfig";
    /// A delay of the fault filter is neither fixed nor taken from a header.
    FAULT_DELAY_WITHOUT_KIND = "fault-delay-without-kind", Filter, Nack, "grpc-js-xds fault-injection-filter.ts parseHTTPFaultConfig";
}

/// Returns the filter registered for a type URL.
pub(super) fn by_url(url: &str, profile: &Profile) -> Option<FilterKind> {
    match url.strip_prefix(super::URL_PREFIX)? {
        ROUTER => Some(FilterKind::Router),
        FAULT => Some(FilterKind::Fault),
        RBAC if profile.has(Feature::RbacFilter) => Some(FilterKind::Rbac),
        _ => None,
    }
}

/// Returns the type of TypedStruct that a URL names.
fn typed_struct(url: &str) -> Option<&'static str> {
    TYPED_STRUCTS.into_iter().find(|name| is_url_of(url, name))
}

/// Converts the filters of a connection manager.
pub(super) fn list(filters: &[HttpFilter], is_client: bool, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let mut names = BTreeSet::new();
    for (i, filter) in filters.iter().enumerate() {
        let here = at.index(i);
        if !names.insert(filter.name.as_str()) {
            let why = format_args!("filter name `{}` is that of an earlier filter", filter.name);
            fault(&FILTER_NAME_TWICE, &here.field("name"), why, cx);
        }
        let config_at = here.field("typed_config");
        let Some(any) = fields::http_config(filter) else {
            let why = format_args!("missing, must hold the config of the filter, also of an optional one");
            return Err(reject(&ANY_MISSING, &config_at, why, cx));
        };
        let url = url_of(any, &config_at, cx)?;
        top_level(filter, any, &url, is_client, &config_at, cx)?;
        let is_router = is_url_of(&url, ROUTER);
        if i + 1 < filters.len() && is_router {
            let why = format_args!("http_filters[{i}] is the router, which must be the last filter");
            fault(&TERMINAL_FILTER_NOT_LAST, at, why, cx);
        } else if i + 1 == filters.len() && !is_router {
            let why = format_args!("the last filter, http_filters[{i}], is not the router but `{url}`");
            fault(&LAST_FILTER_NOT_TERMINAL, at, why, cx);
        }
    }
    Ok(())
}

/// Returns the type URL of a config, or of what is in a TypedStruct (`getTopLevelFilterUrl`).
fn url_of<'a>(any: &'a Any, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked<std::borrow::Cow<'a, str>> {
    match typed_struct(&any.type_url) {
        Some(wrapper) => Ok(decode::<TypedStruct>(&any.value, wrapper, at, cx)?.type_url.into()),
        None => Ok(any.type_url.as_str().into()),
    }
}

/// Converts the config of a filter (`validateTopLevelFilter`).
fn top_level(
    filter: &HttpFilter,
    any: &Any,
    url: &str,
    is_client: bool,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Checked {
    match by_url(url, cx.profile()) {
        Some(known) if cx.has(Feature::FilterSides) && !filter.is_optional && !known.runs(is_client) => {
            let why = format_args!("filter type `{url}` is not supported on this side");
            fault(&FILTER_ON_WRONG_SIDE, at, why, cx);
            Ok(())
        }
        Some(known) => {
            config(known, any, false, at, cx)?;
            if cx.has(Feature::FilterSides) && !known.runs(is_client) {
                leave_out(url, false, at, cx);
            }
            Ok(())
        }
        None if filter.is_optional => {
            leave_out(url, false, at, cx);
            Ok(())
        }
        None => {
            let why = format_args!("{}", no_filter_of(url));
            fault(&FILTER_UNSUPPORTED, at, why, cx);
            Ok(())
        }
    }
}

/// Converts `typed_per_filter_config` at `at`.
pub(super) fn overrides(map: &BTreeMap<String, Any>, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    for (name, any) in map {
        one_override(any, &at.key(name), cx)?;
    }
    Ok(())
}

/// Reports the overrides at `at` that a server reads and does not apply.
pub(super) fn note_not_applied(map: &BTreeMap<String, Any>, at: &Path<'_>, cx: &mut Validation<'_>) {
    if !cx.has(Feature::RbacFilter) {
        return;
    }
    for (name, _) in map.iter().filter(|(_, any)| is_url_of(&any.type_url, RBAC_PER_ROUTE)) {
        let why = format_args!("the override changes nothing: the filter's own policies let in whom it keeps out");
        cx.report(&RBAC_OVERRIDE_NOT_APPLIED, &at.key(name), why);
    }
}

/// Checks an override (`validateOverrideFilter`). If there is a wrapper, a registered filter gets
/// the wrapper itself, and does not find its config in it.
fn one_override(any: &Any, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    if !is_url_of(&any.type_url, WRAPPER) {
        let url = url_of(any, at, cx)?;
        return match by_url(&url, cx.profile()) {
            Some(known) => config(known, any, true, at, cx),
            None => {
                unknown(&url, at, cx);
                Ok(())
            }
        };
    }
    let wrapper: FilterConfig = decode(&any.value, WRAPPER, at, cx)?;
    let at = at.value(WRAPPER);
    let at = at.field("config");
    let Some(inner) = &wrapper.config else {
        let why = format_args!("config is missing in the FilterConfig");
        fault(&FILTER_OVERRIDE_WITHOUT_CONFIG, &at, why, cx);
        return Ok(());
    };
    let url = inner.type_url.as_str();
    // The client looks for a TypedStruct in the wrapper, which has no type_url, so one inside of it
    // is of no known type.
    match by_url(url, cx.profile()) {
        Some(FilterKind::Router) => {}
        Some(_) => {
            let why = format_args!("`{url}` is in a FilterConfig, which the client hands to the filter as it is");
            fault(&FILTER_OVERRIDE_WRAPPED, &at, why, cx);
        }
        None if wrapper.is_optional => leave_out(url, true, &at, cx),
        None => unknown(url, &at, cx),
    }
    Ok(())
}

fn unknown(url: &str, at: &Path<'_>, cx: &mut Validation<'_>) {
    let why = format_args!("{}", no_filter_of(url));
    fault(&FILTER_OVERRIDE_TYPE_UNKNOWN, at, why, cx);
}

/// Converts the config of a registered filter; the router's config is not checked.
fn config(filter: FilterKind, any: &Any, is_override: bool, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let own = match (filter, is_override) {
        (FilterKind::Fault, _) => FAULT,
        (FilterKind::Rbac, true) => RBAC_PER_ROUTE,
        (FilterKind::Rbac, false) => RBAC,
        _ => return Ok(()),
    };
    if !is_url_of(&any.type_url, own) {
        let why = format_args!("`{}` must be `{own}` itself", any.type_url);
        fault(&ANY_UNDECODABLE, at, why, cx);
        return Ok(());
    }
    if filter == FilterKind::Rbac {
        return rbac::config(any, is_override, at, cx);
    }
    let message: HttpFault = decode(&any.value, FAULT, at, cx)?;
    http_fault(&message, &at.value(FAULT), cx);
    Ok(())
}

/// Checks the config of the fault filter (`parseHTTPFaultConfig`), up to the first fault.
fn http_fault(message: &HttpFault, at: &Path<'_>, cx: &mut Validation<'_>) {
    if let Some(delay) = &message.delay {
        let at = at.field("delay");
        if delay.percentage.is_none() {
            return without_percentage(&at, cx);
        }
        match &delay.fault_delay_secifier {
            Some(FaultDelaySecifier::FixedDelay(_) | FaultDelaySecifier::HeaderDelay(_)) => {}
            None => {
                let why = format_args!("neither fixed_delay nor header_delay is set");
                return fault(&FAULT_DELAY_WITHOUT_KIND, &at, why, cx);
            }
        }
    }
    if let Some(abort) = &message.abort {
        let at = at.field("abort");
        if abort.percentage.is_none() {
            return without_percentage(&at, cx);
        }
        match &abort.error_type {
            Some(ErrorType::HttpStatus(_) | ErrorType::GrpcStatus(_) | ErrorType::HeaderAbort(_)) => {}
            None => {
                let why = format_args!("neither http_status, grpc_status nor header_abort is set");
                fault(&FAULT_STATUS_UNKNOWN, &at, why, cx);
            }
        }
    }
}

fn without_percentage(at: &Path<'_>, cx: &mut Validation<'_>) {
    let why = format_args!("percentage is missing, must be set");
    fault(&FAULT_PERCENTAGE_MISSING, &at.field("percentage"), why, cx);
}
