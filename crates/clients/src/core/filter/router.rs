//! The router, which ends every chain (A39). Its config must parse; nothing in it is read.

use super::FilterType;
use crate::shared::names::ROUTER;
use xdsctl_document::proto::any::Extension;
use xdsctl_document::proto::pb::envoy::extensions::filters::http::router::v3::Router;
use xdsctl_model::diag::{Path, Validation};
use xdsctl_model::resource::filter::FilterConfig;

/// The router's place in the registry.
pub static TYPE: FilterType = FilterType {
    type_name: ROUTER,
    override_type: None,
    on_client: true,
    on_server: true,
    is_terminal: true,
    guard: None,
    parse,
    parse_in_composite: None,
};

fn parse(extension: &Extension<'_>, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<FilterConfig> {
    extension.decode::<Router>(at, cx)?;
    Some(FilterConfig::Router)
}
