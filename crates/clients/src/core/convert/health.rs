//! Health states of endpoints: which of them the client keeps (A55).
//!
//! Both `LbEndpoint.health_status` and `common_lb_config.override_host_status` are read in this way
//! (C-core `XdsHealthStatus::FromUpb`, xds_health_status.cc).

use crate::shared::fields::health_status;
use xdsctl_document::proto::pb::envoy::config::core::v3 as core;
use xdsctl_model::diag::Validation;
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::cluster::HealthStatus;

/// Returns the state in which the client keeps an endpoint. A client may not know DRAINING yet.
pub fn kept_status(number: i32, cx: &Validation<'_>) -> Option<HealthStatus> {
    health_status(number)
        .filter(|status| *status != HealthStatus::Draining || cx.of_reader(|reader| reader.has(Feature::OverrideHost)))
}

/// Returns the name of an enum number, for messages.
pub fn health_status_name(number: i32) -> &'static str {
    core::HealthStatus::try_from(number).map_or("an unknown number", |s| s.as_str_name())
}
