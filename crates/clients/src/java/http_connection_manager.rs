//! HttpConnectionManager, as grpc-java reads it (XdsListenerResource `parseHttpConnectionManager`).

use super::{http_filter, is_url_of, routes, to_nanos, unpack, unpack_as};
use crate::shared::alike::{self, TlsSide};
use crate::shared::names::HCM;
use crate::shared::rules::{NETWORK_FILTER_UNSUPPORTED, NETWORK_FILTERS_NOT_ONE, NO_ROUTES, RDS_NOT_FROM_ADS};
use crate::shared::{Checked, Opened, die, fields, reject};
use xdsctl_document::proto::pb::Any;
use xdsctl_document::proto::pb::envoy::config::listener::v3::Filter;
use xdsctl_document::proto::pb::envoy::extensions::filters::network::http_connection_manager::v3::{
    HttpConnectionManager as Pb, http_connection_manager::RouteSpecifier,
};
use xdsctl_model::diag::{Path, Validation};
use xdsctl_model::profile::Feature;

/// Converts the connection manager of an API listener.
pub(super) fn of_client(any: Option<&Any>, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let empty = Any::default();
    let message = unpack(any.unwrap_or(&empty), HCM, &NETWORK_FILTER_UNSUPPORTED, at, cx)?;
    parse(&message, TlsSide::Client, &at.value(HCM), cx)
}

/// Converts the network filters of a chain. There must be exactly one.
pub(super) fn of_server(filters: &[Filter], at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let [filter] = filters else {
        let count = filters.len();
        let message = format_args!("{count} network filters, must be one HttpConnectionManager");
        return Err(reject(&NETWORK_FILTERS_NOT_ONE, at, message, cx));
    };
    let at = at.index(0);
    let at = at.field("typed_config");
    let any = match fields::network_config(filter) {
        Some(any) if is_url_of(&any.type_url, HCM) => any,
        other => {
            let url = other.map_or("", |any| any.type_url.as_str());
            let message = format_args!("`{url}` is not supported, must be `{HCM}`");
            return Err(reject(&NETWORK_FILTER_UNSUPPORTED, &at, message, cx));
        }
    };
    let message = unpack_as(any, HCM, &at, cx)?;
    parse(&message, TlsSide::Server, &at.value(HCM), cx)
}

fn parse(message: &Pb, side: TlsSide, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let checks_hops = cx.has(Feature::RbacFilter);
    let checks_detection = checks_hops && cx.has(Feature::ProxyFieldsChecked);
    alike::proxy_fields(message, (checks_hops, checks_detection), at, cx)?;
    let is_first = cx.has(Feature::StreamDurationFirst);
    if is_first {
        stream_duration(message, at, cx)?;
    }
    http_filter::chain(&message.http_filters, side, &at.field("http_filters"), cx)?;
    route_specifier(message, at, cx)?;
    if !is_first {
        stream_duration(message, at, cx)?;
    }
    Ok(())
}

fn stream_duration(message: &Pb, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let options = message.common_http_protocol_options.as_ref();
    if let Some(duration) = options.and_then(|options| options.max_stream_duration.as_ref()) {
        let at = at.field("common_http_protocol_options");
        to_nanos(duration, &at.field("max_stream_duration"), cx)?;
    }
    Ok(())
}

fn route_specifier(message: &Pb, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let rds = match &message.route_specifier {
        Some(RouteSpecifier::RouteConfig(config)) => {
            let at = at.field("route_config");
            if config.virtual_hosts.is_empty() && cx.has(Feature::EmptyRoutesKill) {
                let why = format_args!("virtual_hosts is empty, which nobody catches");
                return Err(die(&NO_ROUTES, &at.field("virtual_hosts"), why, cx));
            }
            return routes::extract_virtual_hosts(config, &Opened::default(), &at, cx);
        }
        Some(RouteSpecifier::Rds(rds)) => rds,
        Some(RouteSpecifier::ScopedRoutes(_)) | None => {
            let why = format_args!("neither route_config nor rds is set");
            return Err(reject(&NO_ROUTES, at, why, cx));
        }
    };
    if fields::is_ads(rds.config_source.as_ref(), cx.has(Feature::SelfSource)) {
        return Ok(());
    }
    let at = at.field("rds");
    let why = format_args!("config_source is neither `ads` nor `self`");
    Err(reject(&RDS_NOT_FROM_ADS, &at.field("config_source"), why, cx))
}
