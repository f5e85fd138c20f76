//! HttpConnectionManager, as grpc-js-xds reads it (listener-resource-type.ts
//! `validateHttpConnectionManager`).

use super::routes::{self, User};
use super::{decode, fault, http_filter};
use crate::shared::names::HCM;
use crate::shared::rules::{NO_ROUTES, RDS_NOT_FROM_ADS};
use crate::shared::{Checked, Opened};
use xdsctl_document::proto::pb::Any;
use xdsctl_document::proto::pb::envoy::config::core::v3::config_source::ConfigSourceSpecifier;
use xdsctl_document::proto::pb::envoy::extensions::filters::network::http_connection_manager::v3::{
    HttpConnectionManager as Pb, http_connection_manager::RouteSpecifier,
};
use xdsctl_model::diag::{Path, Validation};
use xdsctl_model::profile::Feature;

/// Converts the connection manager in `any`, which is of that type.
pub(super) fn from_any(any: &Any, is_client: bool, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let message: Pb = decode(&any.value, HCM, at, cx)?;
    let at = at.value(HCM);
    if cx.has(Feature::FaultInjection) {
        http_filter::list(&message.http_filters, is_client, &at.field("http_filters"), cx)?;
    }
    match &message.route_specifier {
        Some(RouteSpecifier::RouteConfig(config)) => {
            let user = if is_client { User::Client } else { User::Server };
            routes::from_proto(Opened::default().hosts(config), user, &at.field("route_config"), cx)?;
        }
        Some(RouteSpecifier::Rds(rds)) => {
            let source = rds.config_source.as_ref();
            let source = source.and_then(|source| source.config_source_specifier.as_ref());
            if !matches!(
                source,
                Some(ConfigSourceSpecifier::Ads(_) | ConfigSourceSpecifier::Self_(_))
            ) {
                let at = at.field("rds");
                let why = format_args!("config_source is neither `ads` nor `self`");
                fault(&RDS_NOT_FROM_ADS, &at.field("config_source"), why, cx);
            }
        }
        Some(RouteSpecifier::ScopedRoutes(_)) | None => {
            fault(&NO_ROUTES, &at, format_args!("neither route_config nor rds is set"), cx);
        }
    }
    Ok(())
}
