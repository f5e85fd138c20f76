//! HTTP filters, as grpc-go reads them (xdsresource/unmarshal_lds.go `processHTTPFilters`,
//! `processHTTPFilterOverrides`).

use std::collections::{BTreeMap, BTreeSet};

use super::cluster::typed_struct_name;
use super::{URL_PREFIX, ext_proc, holds, rbac, unmarshal};
use crate::shared::alike::TlsSide;
use crate::shared::names::{EXT_PROC, EXT_PROC_PER_ROUTE, FAULT, RBAC, RBAC_PER_ROUTE, ROUTER, STDOUT_LOGGER, WRAPPER};
use crate::shared::read::{self, FilterKind};
use crate::shared::rules::{
    FILTER_NAME_TWICE, FILTER_ON_WRONG_SIDE, FILTER_OVERRIDE_TYPE_UNKNOWN, FILTER_UNNAMED, FILTER_UNSUPPORTED,
    LAST_FILTER_NOT_TERMINAL, NO_FILTER, RBAC_AUDIT_LOGGER_MISSING, RBAC_AUDIT_LOGGER_UNKNOWN,
    TERMINAL_FILTER_NOT_LAST,
};
use crate::shared::{Checked, fields, leave_out, no_filter_of, reject};
use xdsctl_document::proto::any::ANY_UNDECODABLE;
use xdsctl_document::proto::pb::Any;
use xdsctl_document::proto::pb::envoy::config::rbac::v3::Rbac as Rules;
use xdsctl_document::proto::pb::envoy::config::route::v3::FilterConfig;
use xdsctl_document::proto::pb::envoy::extensions::filters::http::ext_proc::v3::{ExtProcPerRoute, ExternalProcessor};
use xdsctl_document::proto::pb::envoy::extensions::filters::http::fault::v3::HttpFault;
use xdsctl_document::proto::pb::envoy::extensions::filters::http::rbac::v3::{Rbac, RbacPerRoute};
use xdsctl_document::proto::pb::envoy::extensions::filters::http::router::v3::Router;
use xdsctl_document::proto::pb::envoy::extensions::filters::network::http_connection_manager::v3::HttpFilter;
use xdsctl_document::proto::pb::xds::r#type::v3::TypedStruct;
use xdsctl_model::diag::{Path, Validation};
use xdsctl_model::profile::{Feature, Profile};
use xdsctl_model::status::Code;

/// Returns the filter registered for a type URL, which may be that of its config or of its
/// override.
pub(super) fn by_url(url: &str, profile: &Profile) -> Option<FilterKind> {
    match url.strip_prefix(URL_PREFIX)? {
        _ if !profile.has(Feature::FaultInjection) => None,
        ROUTER => Some(FilterKind::Router),
        FAULT => Some(FilterKind::Fault),
        RBAC | RBAC_PER_ROUTE if profile.has(Feature::RbacFilter) => Some(FilterKind::Rbac),
        EXT_PROC | EXT_PROC_PER_ROUTE if profile.has(Feature::ExtProcOnClient) => Some(FilterKind::ExtProc),
        _ => None,
    }
}

/// Returns the status code for the HTTP status of an abort (`grpcFromHTTP`); an invalid status
/// aborts nothing.
pub(super) const fn status_of_http(status: u32) -> Code {
    match status {
        200..600 => read::status_of_http(status),
        _ => Code::Ok,
    }
}

/// Converts the filters of a connection manager.
pub(super) fn chain(filters: &[HttpFilter], side: TlsSide, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    if !cx.has(Feature::FaultInjection) {
        return Ok(());
    }
    let mut names = BTreeSet::new();
    let mut kept: Vec<FilterKind> = Vec::with_capacity(filters.len());
    for (i, filter) in filters.iter().enumerate() {
        let here = at.index(i);
        let name = filter.name.as_str();
        if name.is_empty() {
            let why = format_args!("filter name is empty");
            return Err(reject(&FILTER_UNNAMED, &here.field("name"), why, cx));
        }
        if !names.insert(name) {
            let message = format_args!("filter name `{name}` is that of an earlier filter");
            return Err(reject(&FILTER_NAME_TWICE, &here.field("name"), message, cx));
        }
        let config = fields::http_config(filter);
        let config_at = here.field("typed_config");
        let Some(found) = validate(config, false, filter.is_optional, &config_at, cx)? else {
            continue;
        };
        if !found.runs(side == TlsSide::Client) {
            if filter.is_optional {
                let url = config.map_or("", |any| any.type_url.as_str());
                leave_out(url, false, &config_at, cx);
                continue;
            }
            let message = format_args!("filter `{name}` is not supported on this side");
            return Err(reject(&FILTER_ON_WRONG_SIDE, &config_at, message, cx));
        }
        kept.push(found);
    }
    if !cx.has(Feature::RouterRequired) {
        return Ok(());
    }
    let Some((last, before)) = kept.split_last() else {
        let why = format_args!("no HTTP filter is left, must have the router");
        return Err(reject(&NO_FILTER, at, why, cx));
    };
    if before.contains(&FilterKind::Router) {
        let why = format_args!("the router is not the last filter");
        return Err(reject(&TERMINAL_FILTER_NOT_LAST, at, why, cx));
    }
    if *last != FilterKind::Router {
        let why = format_args!("the last filter is not terminal");
        return Err(reject(&LAST_FILTER_NOT_TERMINAL, at, why, cx));
    }
    Ok(())
}

/// Converts `typed_per_filter_config` at `at`.
pub(super) fn overrides(map: &BTreeMap<String, Any>, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let is_read = cx.has(Feature::FaultInjection);
    for (name, any) in map.iter().filter(|_| is_read) {
        let at = at.key(name);
        if !holds(&any.type_url, WRAPPER) {
            validate(Some(any), true, false, &at, cx)?;
            continue;
        }
        let wrapper: FilterConfig = unmarshal(&any.value, WRAPPER, &at, cx)?;
        if wrapper.disabled && cx.has(Feature::FilterDisabled) {
            continue;
        }
        let inner = at.value(WRAPPER);
        validate(
            wrapper.config.as_ref(),
            true,
            wrapper.is_optional,
            &inner.field("config"),
            cx,
        )?;
    }
    Ok(())
}

/// Converts a config or an override (`validateHTTPFilterConfig`); `None` for an optional one of an
/// unknown type.
fn validate(
    any: Option<&Any>,
    is_override: bool,
    is_optional: bool,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Checked<Option<FilterKind>> {
    let empty = Any::default();
    let any = any.unwrap_or(&empty);
    let wrapped = match typed_struct_name(&any.type_url, cx.profile()) {
        Some(wrapper) => Some(unmarshal::<TypedStruct>(&any.value, wrapper, at, cx)?.type_url),
        None => None,
    };
    let url = wrapped.as_deref().unwrap_or(&any.type_url);
    let Some(filter) = by_url(url, cx.profile()) else {
        if is_optional {
            leave_out(url, is_override, at, cx);
            return Ok(None);
        }
        let rule = if is_override {
            &FILTER_OVERRIDE_TYPE_UNKNOWN
        } else {
            &FILTER_UNSUPPORTED
        };
        return Err(reject(rule, at, format_args!("{}", no_filter_of(url)), cx));
    };
    if wrapped.is_some() {
        let message = format_args!("`{url}` is given as a TypedStruct, must be the message itself");
        return Err(reject(&ANY_UNDECODABLE, at, message, cx));
    }
    match (filter, is_override) {
        (FilterKind::Router, false) => _ = decode::<Router>(any, ROUTER, at, cx)?,
        (FilterKind::Router, true) => {
            let message = format_args!("the router has no overrides");
            return Err(reject(&FILTER_OVERRIDE_TYPE_UNKNOWN, at, message, cx));
        }
        (FilterKind::Fault, _) => _ = decode::<HttpFault>(any, FAULT, at, cx)?,
        (FilterKind::Rbac, false) => {
            let config: Rbac = decode(any, RBAC, at, cx)?;
            rbac::config(Some(config.rules.as_ref()), &at.value(RBAC), cx)?;
        }
        (FilterKind::Rbac, true) => {
            let config: RbacPerRoute = decode(any, RBAC_PER_ROUTE, at, cx)?;
            let rules = config.rbac.as_ref().map(|rbac| rbac.rules.as_ref());
            rbac::config(rules, &at.value(RBAC_PER_ROUTE).field("rbac"), cx)?;
        }
        (FilterKind::ExtProc, false) => {
            let config: ExternalProcessor = decode(any, EXT_PROC, at, cx)?;
            ext_proc::config(&config, &at.value(EXT_PROC), cx)?;
        }
        (FilterKind::ExtProc, true) => {
            let config: ExtProcPerRoute = decode(any, EXT_PROC_PER_ROUTE, at, cx)?;
            ext_proc::overrides(&config, &at.value(EXT_PROC_PER_ROUTE), cx)?;
        }
        (FilterKind::GcpAuthn, _) => {}
    }
    Ok(Some(filter))
}

/// Decodes a config, which must be of the one type that counts here (`anypb.Any.UnmarshalTo`).
fn decode<T: prost::Message + Default>(
    any: &Any,
    type_name: &'static str,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Checked<T> {
    if !holds(&any.type_url, type_name) {
        let message = format_args!("`{}` must be `{type_name}` here", any.type_url);
        let rule = &FILTER_OVERRIDE_TYPE_UNKNOWN;
        return Err(reject(rule, at, message, cx));
    }
    unmarshal(&any.value, type_name, at, cx)
}

/// Checks audit loggers (`parseAuditOptions`): only the one to standard output is registered.
pub(super) fn audit(rules: &Rules, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let options = rules.audit_logging_options.as_ref();
    let options = options.filter(|_| cx.has(Feature::RbacAuditLogging));
    let at = at.field("audit_logging_options");
    let at = at.field("logger_configs");
    for (i, logger) in options
        .into_iter()
        .flat_map(|options| &options.logger_configs)
        .enumerate()
    {
        let at = at.index(i);
        let at = at.field("audit_logger");
        let config = logger.audit_logger.as_ref();
        let Some(any) = config.and_then(|config| config.typed_config.as_ref()) else {
            let message = format_args!("the logger has no typed_config");
            return Err(reject(&RBAC_AUDIT_LOGGER_MISSING, &at, message, cx));
        };
        if holds(&any.type_url, STDOUT_LOGGER) {
            continue;
        }
        let name = match typed_struct_name(&any.type_url, cx.profile()) {
            Some(wrapper) => unmarshal::<TypedStruct>(&any.value, wrapper, &at, cx)?.type_url,
            None => String::new(),
        };
        match name.rsplit('/').next() {
            Some("stdout_logger") => continue,
            Some(name) if !name.is_empty() && logger.is_optional => continue,
            _ => {}
        }
        let message = format_args!("the client has no audit logger of type `{}`", any.type_url);
        return Err(reject(&RBAC_AUDIT_LOGGER_UNKNOWN, &at, message, cx));
    }
    Ok(())
}
