//! HttpConnectionManager, as grpc-go reads it: in an API listener (`processClientSideListener`) and
//! as a network filter (`processNetworkFilters`). The two differ in their order and in what they
//! accept.

use std::collections::BTreeSet;

use super::{http_filter, is_url_of, routes, unmarshal};
use crate::shared::alike::{self, TlsSide};
use crate::shared::names::HCM;
use crate::shared::rules::{
    NETWORK_FILTER_NAME, NETWORK_FILTER_UNSUPPORTED, NETWORK_FILTERS_NOT_ONE, NO_ROUTES, RDS_NAME_MISSING,
    RDS_NOT_FROM_ADS,
};
use crate::shared::{Checked, Opened, fields, reject};
use xdsctl_document::proto::pb::Any;
use xdsctl_document::proto::pb::envoy::config::listener::v3::Filter;
use xdsctl_document::proto::pb::envoy::extensions::filters::network::http_connection_manager::v3::{
    HttpConnectionManager as Pb, http_connection_manager::RouteSpecifier,
};
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::profile::Feature;

rules! {
    /// A connection manager of a channel has its routes in it.
    INLINE_ROUTES = "hcm-inline-routes-unsupported", Listener, Nack, "grpc-go 1.37 processClientSideListener";
}

/// Converts the connection manager of an API listener.
pub(super) fn of_client(any: Option<&Any>, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let message = open(any, at, cx)?;
    let at = at.value(HCM);
    let checks_proxy = cx.has(Feature::ProxyFieldsChecked);
    alike::proxy_fields(&message, (checks_proxy, checks_proxy), &at, cx)?;
    routes(&message, TlsSide::Client, &at, cx)?;
    http_filter::chain(&message.http_filters, TlsSide::Client, &at.field("http_filters"), cx)
}

/// Converts the network filters of a chain: each must be a connection manager, the first is used.
pub(super) fn of_server(filters: &[Filter], at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let mut names = BTreeSet::new();
    let mut is_first = true;
    for (i, filter) in filters.iter().enumerate() {
        let here = at.index(i);
        let name = filter.name.as_str();
        if name.is_empty() || !names.insert(name) {
            let why = if name.is_empty() {
                "is empty"
            } else {
                "is that of an earlier filter"
            };
            let message = format_args!("the name of the network filter {why}");
            return Err(reject(&NETWORK_FILTER_NAME, &here.field("name"), message, cx));
        }
        let here = here.field("typed_config");
        let message = open(fields::network_config(filter), &here, cx)?;
        let here = here.value(HCM);
        http_filter::chain(&message.http_filters, TlsSide::Server, &here.field("http_filters"), cx)?;
        // Servers read routes only in versions that have RBAC.
        if is_first && cx.has(Feature::RbacFilter) {
            let checks_proxy = cx.has(Feature::ProxyFieldsChecked);
            alike::proxy_fields(&message, (checks_proxy, checks_proxy), &here, cx)?;
            routes(&message, TlsSide::Server, &here, cx)?;
        }
        is_first = false;
    }
    if is_first {
        let message = format_args!("no network filter, must have an HttpConnectionManager");
        return Err(reject(&NETWORK_FILTERS_NOT_ONE, at, message, cx));
    }
    Ok(())
}

fn open(any: Option<&Any>, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked<Pb> {
    match any {
        Some(any) if is_url_of(&any.type_url, HCM) => unmarshal(&any.value, HCM, at, cx),
        other => {
            let url = other.map_or("", |any| &any.type_url);
            let message = format_args!("`{url}` is not supported, must be `{HCM}`");
            Err(reject(&NETWORK_FILTER_UNSUPPORTED, at, message, cx))
        }
    }
}

fn routes(message: &Pb, side: TlsSide, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let rds = match &message.route_specifier {
        Some(RouteSpecifier::RouteConfig(_)) if !cx.has(Feature::InlineRoutes) => {
            let at = at.field("route_config");
            let why = format_args!("route_config is set, must be rds");
            return Err(reject(&INLINE_ROUTES, &at, why, cx));
        }
        Some(RouteSpecifier::RouteConfig(config)) => {
            return routes::from_proto(config, &Opened::default(), &at.field("route_config"), cx);
        }
        Some(RouteSpecifier::Rds(rds)) => rds,
        None if side == TlsSide::Server && !cx.has(Feature::ServerRoutesRequired) => return Ok(()),
        Some(RouteSpecifier::ScopedRoutes(_)) | None => {
            let why = format_args!("neither route_config nor rds is set");
            return Err(reject(&NO_ROUTES, at, why, cx));
        }
    };
    let at = at.field("rds");
    let takes_self = side == TlsSide::Client && cx.has(Feature::SelfSource);
    if !fields::is_ads(rds.config_source.as_ref(), takes_self) {
        let why = format_args!("config_source is not ads");
        return Err(reject(&RDS_NOT_FROM_ADS, &at.field("config_source"), why, cx));
    }
    if rds.route_config_name.is_empty() {
        let why = format_args!("route_config_name is empty, must not be");
        return Err(reject(&RDS_NAME_MISSING, &at.field("route_config_name"), why, cx));
    }
    Ok(())
}
