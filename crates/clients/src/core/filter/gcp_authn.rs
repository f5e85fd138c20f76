//! GCP authentication (A83): adds an identity token for the audience in the cluster's metadata.
//! Clients only, no overrides.
//!
//! Follows C-core `XdsHttpGcpAuthnFilterFactory::ParseTopLevelConfig`
//! (xds_http_gcp_authn_filter.cc).

use super::FilterType;
use crate::shared::names::GCP_AUTHN;
use crate::shared::rules::GCP_AUTHN_CACHE_SIZE_ZERO;
use xdsctl_document::proto::any::Extension;
use xdsctl_document::proto::pb::envoy::extensions::filters::http::gcp_authn::v3::GcpAuthnFilterConfig;
use xdsctl_model::diag::{Path, Validation};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::filter::{Description, FilterConfig};

/// The filter's place in the registry.
pub static TYPE: FilterType = FilterType {
    type_name: GCP_AUTHN,
    override_type: None,
    on_client: true,
    on_server: false,
    is_terminal: false,
    guard: Some(Feature::GcpAuthnFilter),
    parse,
    parse_in_composite: None,
};

/// The default of `cache_size`, in tokens.
const CACHE_SIZE: u64 = 10;

fn parse(extension: &Extension<'_>, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<FilterConfig> {
    let message: GcpAuthnFilterConfig = extension.decode(at, cx)?;
    let cache_size = message
        .cache_config
        .and_then(|cache| cache.cache_size)
        .unwrap_or(CACHE_SIZE);
    let at = at.field("cache_config");
    let (at, why) = (at.field("cache_size"), "cache_size is 0, must be at least 1");
    cx.check(cache_size != 0, &GCP_AUTHN_CACHE_SIZE_ZERO, &at, why);
    Some(FilterConfig::Described(Description {
        kind: "gcp_authn",
        kept: vec![("cache_size", cache_size.into(), cache_size == CACHE_SIZE)],
        words: format!("cache of {cache_size}"),
    }))
}
