//! Listener, as grpc-js-xds reads it (xds-resource-type/listener-resource-type.ts `validateListener`).

use crate::diag::{Cx, Effect, Path};
use crate::family::rules::LISTENER_FILTERS;
use crate::proto::pb::envoy::config::listener::v3::Listener as Pb;

/// Converts the resource.
pub(super) fn convert(message: &Pb, cx: &mut Cx<'_>) {
    if !message.listener_filters.is_empty() {
        cx.report_as(
            Effect::Nack,
            &LISTENER_FILTERS,
            &Path::ROOT.field("listener_filters"),
            format_args!("listener_filters is not empty, must be"),
        );
    }
}
