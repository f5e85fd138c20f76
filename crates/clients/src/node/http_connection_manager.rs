//! HttpConnectionManager, as grpc-js-xds reads it (listener-resource-type.ts
//! `validateHttpConnectionManager`).

use super::routes::{self, RoutesUser};
use super::{decode, fault, http_filter};
use crate::shared::names::HCM;
use crate::shared::rules::{NO_ROUTES, RDS_NOT_FROM_ADS};
use crate::shared::{Checked, Opened, fields};
use xdsctl_document::proto::pb::Any;
use xdsctl_document::proto::pb::envoy::extensions::filters::network::http_connection_manager::v3::{
    HttpConnectionManager as Pb, http_connection_manager::RouteSpecifier,
};
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::profile::Feature;

rules! {
    /// The idle_timeout of a connection manager is the timeout of RPCs.
    IDLE_TIMEOUT_OF_RPCS = "hcm-idle-timeout-of-rpcs", Listener, Advice, "grpc-js-xds resolver-xds.ts";
}

/// Converts the connection manager in `any`, whose type URL was checked before.
pub(super) fn from_any(any: &Any, is_client: bool, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let message: Pb = decode(&any.value, HCM, at, cx)?;
    let at = at.value(HCM);
    if cx.has(Feature::FaultInjection) {
        http_filter::list(&message.http_filters, is_client, &at.field("http_filters"), cx)?;
    }
    let options = message.common_http_protocol_options.as_ref();
    if is_client && cx.has(Feature::IdleTimeoutOfRpcs) && options.is_some_and(|options| options.idle_timeout.is_some())
    {
        let at = at.field("common_http_protocol_options");
        let why = format_args!(
            "an RPC ends with DEADLINE_EXCEEDED after this time, where its route has no timeout of its own"
        );
        cx.report(&IDLE_TIMEOUT_OF_RPCS, &at.field("idle_timeout"), why);
    }
    match &message.route_specifier {
        Some(RouteSpecifier::RouteConfig(config)) => {
            let user = if is_client {
                RoutesUser::Client
            } else {
                RoutesUser::Server
            };
            routes::from_proto(Opened::default().hosts(config), user, &at.field("route_config"), cx)?;
        }
        Some(RouteSpecifier::Rds(rds)) => {
            if !fields::is_ads_or_self(rds.config_source.as_ref()) {
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
