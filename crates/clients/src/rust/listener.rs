//! Listener, as tonic-xds reads it (xds/resource/listener.rs `validate`): only where the routes
//! come from.

use std::sync::Arc;

use super::{decode, routes};
use crate::shared::names::HCM;
use crate::shared::rules::{NEITHER_CLIENT_NOR_SERVER, NO_ROUTES, RDS_NAME_MISSING};
use crate::shared::{Checked, Opened, reject};
use xdsctl_document::proto::any::ANY_MISSING;
use xdsctl_document::proto::pb::envoy::config::listener::v3::Listener as Pb;
use xdsctl_document::proto::pb::envoy::extensions::filters::network::http_connection_manager::v3::{
    HttpConnectionManager as HcmPb, http_connection_manager::RouteSpecifier,
};
use xdsctl_model::diag::{Path, Validation};
use xdsctl_model::resource::listener::{HttpConnectionManager, RouteSource};
use xdsctl_model::resource::{Listener, Millis};

/// Converts the resource. The client does not check the type URL in the api_listener.
pub(super) fn convert(message: &Pb, cx: &mut Validation<'_>) -> Checked<Listener> {
    let at = Path::ROOT.field("api_listener");
    let Some(api) = &message.api_listener else {
        let why = format_args!("api_listener is not set, must be");
        return Err(reject(&NEITHER_CLIENT_NOR_SERVER, &Path::ROOT, why, cx));
    };
    let at = at.field("api_listener");
    let Some(any) = &api.api_listener else {
        let why = format_args!("missing, must hold `{HCM}`");
        return Err(reject(&ANY_MISSING, &at, why, cx));
    };
    let manager: HcmPb = decode(&any.value, HCM, &at, cx)?;
    let at = at.value(HCM);
    let routes = match &manager.route_specifier {
        Some(RouteSpecifier::Rds(rds)) if rds.route_config_name.is_empty() => {
            let at = at.field("rds");
            let why = format_args!("route_config_name is empty, must not be");
            return Err(reject(&RDS_NAME_MISSING, &at.field("route_config_name"), why, cx));
        }
        Some(RouteSpecifier::Rds(rds)) => RouteSource::Rds(rds.route_config_name.clone()),
        Some(RouteSpecifier::RouteConfig(config)) => RouteSource::Inline(Arc::new(routes::from_proto(
            Opened::default().hosts(config),
            &at.field("route_config"),
            cx,
        )?)),
        Some(RouteSpecifier::ScopedRoutes(_)) | None => {
            let why = format_args!("neither route_config nor rds is set");
            return Err(reject(&NO_ROUTES, &at, why, cx));
        }
    };
    Ok(Listener::Api(HttpConnectionManager {
        routes,
        http_max_stream_duration: Millis(0),
        http_filters: Vec::new(),
    }))
}
