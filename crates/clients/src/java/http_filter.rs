//! HTTP filters and their overrides, as grpc-java reads them (XdsListenerResource
//! `parseHttpFilter`, XdsRouteConfigureResource `parseOverrideFilterConfigs`, FilterRegistry).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::{URL_PREFIX, ext_proc, fault, is_url_of, rbac, unpack, unpack_as};
use crate::shared::alike::TlsSide;
use crate::shared::names::{EXT_PROC, EXT_PROC_PER_ROUTE, FAULT, GCP_AUTHN, RBAC, RBAC_PER_ROUTE, ROUTER, WRAPPER};
use crate::shared::read::FilterKind;
use crate::shared::rules::{
    FILTER_NAME_TWICE, FILTER_ON_WRONG_SIDE, FILTER_OVERRIDE_TYPE_UNKNOWN, FILTER_UNSUPPORTED,
    LAST_FILTER_NOT_TERMINAL, NO_FILTER, TERMINAL_FILTER_NOT_LAST,
};
use crate::shared::{Checked, ConverterStop, fields, leave_out, no_filter_of, reject};
use xdsctl_document::proto::any::{ANY_MISSING, ANY_UNDECODABLE, TYPED_STRUCTS};
use xdsctl_document::proto::pb::Any;
use xdsctl_document::proto::pb::envoy::config::route::v3::FilterConfig;
use xdsctl_document::proto::pb::envoy::extensions::filters::http::ext_proc::v3::{ExtProcPerRoute, ExternalProcessor};
use xdsctl_document::proto::pb::envoy::extensions::filters::http::fault::v3::HttpFault;
use xdsctl_document::proto::pb::envoy::extensions::filters::http::gcp_authn::v3::GcpAuthnFilterConfig;
use xdsctl_document::proto::pb::envoy::extensions::filters::http::rbac::v3::{Rbac, RbacPerRoute};
use xdsctl_document::proto::pb::envoy::extensions::filters::network::http_connection_manager::v3::HttpFilter;
use xdsctl_document::proto::pb::xds::r#type::v3::TypedStruct;
use xdsctl_model::diag::{Path, Validation};
use xdsctl_model::profile::{Feature, Profile};

/// The types of the ext_authz filter, whose overrides the client accepts unread (ExtAuthzFilter).
/// The filter itself runs only with a switch.
const EXT_AUTHZ: [&str; 2] = [
    "envoy.extensions.filters.http.ext_authz.v3.ExtAuthz",
    "envoy.extensions.filters.http.ext_authz.v3.ExtAuthzPerRoute",
];

/// Returns the filter registered for a type URL.
fn registered(url: &str, profile: &Profile) -> Option<FilterKind> {
    match url.strip_prefix(URL_PREFIX)? {
        _ if !profile.has(Feature::FaultInjection) => None,
        ROUTER => Some(FilterKind::Router),
        FAULT => Some(FilterKind::Fault),
        RBAC | RBAC_PER_ROUTE if profile.has(Feature::RbacRegistered) => Some(FilterKind::Rbac),
        GCP_AUTHN if profile.has(Feature::GcpAuthnFilter) => Some(FilterKind::GcpAuthn),
        // The filter is registered whether its switch is on or off.
        EXT_PROC if profile.has_switch(Feature::ExtProcOnClient) => Some(FilterKind::ExtProc),
        _ => None,
    }
}

/// Returns the filter that the client can run for a type URL; ext_proc needs its switch for that.
pub(super) fn by_url(url: &str, profile: &Profile) -> Option<FilterKind> {
    registered(url, profile).filter(|kind| *kind != FilterKind::ExtProc || profile.has(Feature::ExtProcOnClient))
}

/// A config, and the type that it says it has.
struct Config<'c> {
    any: &'c Any,
    /// The type URL of the config; of a TypedStruct, the one in it.
    url: Cow<'c, str>,
    is_struct: bool,
}

/// Finds out the type of a config, opening a TypedStruct.
fn open<'c>(any: &'c Any, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked<Config<'c>> {
    let is_known = |name: &&str| cx.has(Feature::TypedStructOfXds) || name.starts_with("udpa");
    let mut wrappers = TYPED_STRUCTS.into_iter().filter(is_known);
    let wrapper = wrappers.find(|name| is_url_of(&any.type_url, name));
    let url = match wrapper {
        Some(wrapper) => unpack_as::<TypedStruct>(any, wrapper, at, cx)?.type_url.into(),
        None => any.type_url.as_str().into(),
    };
    Ok(Config {
        any,
        url,
        is_struct: wrapper.is_some(),
    })
}

/// Converts the filters of a connection manager.
pub(super) fn chain(filters: &[HttpFilter], side: TlsSide, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    if side == TlsSide::Server && !cx.has(Feature::RbacFilter) || !cx.has(Feature::FaultInjection) {
        return Ok(());
    }
    let needs_router = cx.has(Feature::RouterRequired);
    let last = filters.len().checked_sub(1);
    if last.is_none() && needs_router {
        let message = format_args!("no HTTP filter, must have the router");
        return Err(reject(&NO_FILTER, at, message, cx));
    }
    let last = last.filter(|_| needs_router);
    let mut names = BTreeSet::new();
    for (i, filter) in filters.iter().enumerate() {
        let here = at.index(i);
        let name = filter.name.as_str();
        if !names.insert(name) && cx.has(Feature::FilterNamesCompared) {
            let message = format_args!("filter name `{name}` is that of an earlier filter");
            return Err(reject(&FILTER_NAME_TWICE, &here.field("name"), message, cx));
        }
        let config_at = here.field("typed_config");
        let is_last = last == Some(i);
        let found = if is_last {
            // The client does not report a fault in the last filter, but that this filter is not
            // terminal.
            let found = cx.unheard(|cx| parse(filter, side, &config_at, cx));
            if let Err(ConverterStop::Dies) = found {
                parse(filter, side, &config_at, cx)?;
            }
            found.ok().flatten()
        } else {
            parse(filter, side, &config_at, cx)?
        };
        if is_last && found != Some(FilterKind::Router) {
            let message = format_args!("the last filter `{name}` is not the router");
            return Err(reject(&LAST_FILTER_NOT_TERMINAL, &here, message, cx));
        }
        if last.is_some_and(|last| i < last) && found == Some(FilterKind::Router) {
            let message = format_args!("the router `{name}` is not the last filter");
            return Err(reject(&TERMINAL_FILTER_NOT_LAST, &here, message, cx));
        }
    }
    Ok(())
}

/// Converts a filter (`parseHttpFilter`); `None` for an optional filter that the client does not
/// have.
fn parse(filter: &HttpFilter, side: TlsSide, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked<Option<FilterKind>> {
    let Some(any) = fields::http_config(filter) else {
        if filter.is_optional {
            return Ok(None);
        }
        let message = format_args!("filter `{}` has no typed_config", filter.name);
        return Err(reject(&ANY_MISSING, at, message, cx));
    };
    let config = open(any, at, cx)?;
    let found = registered(&config.url, cx.profile());
    let has_sides = cx.has(Feature::FilterSides);
    let is_here = |found: &FilterKind| !has_sides || found.runs(side == TlsSide::Client);
    let runs = by_url(&config.url, cx.profile()).filter(is_here);
    let Some(runs) = runs else {
        if filter.is_optional {
            leave_out(&config.url, false, at, cx);
            return Ok(None);
        }
        let rule = if found.is_some() {
            &FILTER_ON_WRONG_SIDE
        } else {
            &FILTER_UNSUPPORTED
        };
        let message = format_args!("the client has no filter of type `{}` on this side", config.url);
        return Err(reject(rule, at, message, cx));
    };
    match runs {
        // Its config is not looked at.
        FilterKind::Router => {}
        FilterKind::Fault => fault::parse(&decode(&config, FAULT, at, cx)?, &at.value(FAULT), cx)?,
        FilterKind::Rbac => {
            let message: Rbac = decode(&config, RBAC, at, cx)?;
            rbac::parse(&message, &at.value(RBAC), cx)?;
        }
        FilterKind::GcpAuthn => gcp_authn(&config, at, cx)?,
        FilterKind::ExtProc => {
            let message: ExternalProcessor = decode(&config, EXT_PROC, at, cx)?;
            ext_proc::parse(&message, &at.value(EXT_PROC), cx)?;
        }
    }
    Ok(Some(runs))
}

/// Converts the overrides of a virtual host, route or cluster at `at`, whichever side has the
/// filter.
pub(super) fn overrides(map: &BTreeMap<String, Any>, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let is_read = cx.has(Feature::FaultInjection);
    for (name, any) in map.iter().filter(|_| is_read) {
        let at = at.key(name);
        if !is_url_of(&any.type_url, WRAPPER) {
            one_override(any, false, &at, cx)?;
            continue;
        }
        let wrapper: FilterConfig = unpack_as(any, WRAPPER, &at, cx)?;
        let at = at.value(WRAPPER);
        let config = wrapper.config.unwrap_or_default();
        one_override(&config, wrapper.is_optional, &at.field("config"), cx)?;
    }
    Ok(())
}

fn one_override(any: &Any, is_optional: bool, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let config = open(any, at, cx)?;
    if cx.has(Feature::ExtAuthzRegistered) && EXT_AUTHZ.iter().any(|name| is_url_of(&config.url, name)) {
        return match config.is_struct {
            true => Err(no_struct(&config, at, cx)),
            false => Ok(()),
        };
    }
    let Some(found) = registered(&config.url, cx.profile()) else {
        if is_optional {
            leave_out(&config.url, true, at, cx);
            return Ok(());
        }
        let message = format_args!("{}", no_filter_of(&config.url));
        return Err(reject(&FILTER_OVERRIDE_TYPE_UNKNOWN, at, message, cx));
    };
    match found {
        FilterKind::Router => {
            let message = format_args!("the router has no overrides");
            Err(reject(&FILTER_OVERRIDE_TYPE_UNKNOWN, at, message, cx))
        }
        FilterKind::Fault => {
            let message: HttpFault = decode(&config, FAULT, at, cx)?;
            fault::parse(&message, &at.value(FAULT), cx)
        }
        FilterKind::Rbac => {
            let message: RbacPerRoute = decode(&config, RBAC_PER_ROUTE, at, cx)?;
            let at = at.value(RBAC_PER_ROUTE);
            match &message.rbac {
                Some(rbac) => rbac::parse(rbac, &at.field("rbac"), cx),
                None => Ok(()),
            }
        }
        FilterKind::GcpAuthn => gcp_authn(&config, at, cx),
        // The client registers the filter's own type, but an override must have another type, which
        // is not registered. So every override is rejected.
        FilterKind::ExtProc => {
            let _: ExtProcPerRoute = decode(&config, EXT_PROC_PER_ROUTE, at, cx)?;
            Ok(())
        }
    }
}

/// Decodes a config, which must be a message of type `type_name` itself, and no TypedStruct.
fn decode<T: prost::Message + Default>(
    config: &Config<'_>,
    type_name: &'static str,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Checked<T> {
    if config.is_struct {
        return Err(no_struct(config, at, cx));
    }
    unpack(config.any, type_name, &FILTER_OVERRIDE_TYPE_UNKNOWN, at, cx)
}

fn no_struct(config: &Config<'_>, at: &Path<'_>, cx: &mut Validation<'_>) -> ConverterStop {
    let message = format_args!("`{}` is given as a TypedStruct, must be the message itself", config.url);
    reject(&ANY_UNDECODABLE, at, message, cx)
}

fn gcp_authn(config: &Config<'_>, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let message: GcpAuthnFilterConfig = decode(config, GCP_AUTHN, at, cx)?;
    fault::cache_size(&message, &at.value(GCP_AUTHN), cx)
}
