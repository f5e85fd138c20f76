//! `upstream_config`: how long a session's connection is kept (A75, "Reading the idle_timeout field
//! in CDS").
//!
//! The chain is `upstream_config` → HttpProtocolOptions → `common_http_protocol_options` →
//! `idle_timeout`. Where a step is absent the default of one hour holds; another type than
//! HttpProtocolOptions, bytes that do not parse and a Duration out of range are rejections. The
//! value reaches xds_override_host, which drops a connection that no session has used for so long;
//! its sweeps are at least 5 seconds apart. Follows C-core `ParseUpstreamConfig`
//! (xds_cluster_parser.cc). `Cluster.common_http_protocol_options` and
//! `typed_extension_protocol_options`, where Envoy has the value too, are not read.

use xdsctl_document::proto::pb::envoy::config::core::v3::TypedExtensionConfig;
use xdsctl_document::proto::pb::envoy::extensions::upstreams::http::v3::HttpProtocolOptions;
use xdsctl_document::proto::{any, duration};
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::Millis;

rules! {
    /// upstream_config holds something other than HttpProtocolOptions.
    UPSTREAM_CONFIG_UNSUPPORTED = "cds-upstream-config-unsupported", Cluster, Nack, "gRFC A75; C-core ParseUpstreamConfig";
}

/// The only type that `upstream_config` may hold.
const HTTP_PROTOCOL_OPTIONS: &str = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";

/// The default idle timeout: one hour (A75).
pub const DEFAULT_IDLE_TIMEOUT: Millis = Millis(3_600_000);

/// Reads the idle timeout from `upstream_config`, 0 to 315,576,000,000 s in whole milliseconds.
///
/// Reports [`UPSTREAM_CONFIG_UNSUPPORTED`] at `upstream_config.typed_config.value[T].type_url`, the
/// rules of [`proto::any`](xdsctl_document::proto::any) at `upstream_config.typed_config`, and
/// those of [`proto::duration`](xdsctl_document::proto::duration) at
/// `...common_http_protocol_options.idle_timeout`.
pub(super) fn idle_timeout(pb: Option<&TypedExtensionConfig>, cx: &mut Validation<'_>) -> Millis {
    pb.filter(|_| cx.has(Feature::UpstreamConfig))
        .and_then(|pb| configured(pb, cx))
        .unwrap_or(DEFAULT_IDLE_TIMEOUT)
}

fn configured(pb: &TypedExtensionConfig, cx: &mut Validation<'_>) -> Option<Millis> {
    let at = Path::ROOT.field("upstream_config");
    let at = at.field("typed_config");
    let extension = any::extract(pb.typed_config.as_ref(), &at, cx)?;
    let at = extension.at(&at);
    let (name, rule) = (&extension.type_name, &UPSTREAM_CONFIG_UNSUPPORTED);
    let why = format_args!("`{name}` is not supported, must be `{HTTP_PROTOCOL_OPTIONS}`");
    cx.check(name == HTTP_PROTOCOL_OPTIONS, rule, &at.field("type_url"), why)?;
    let options: HttpProtocolOptions = extension.decode(&at, cx)?;
    let common = options.common_http_protocol_options?;
    let at = at.field("common_http_protocol_options");
    Some(duration::parse(&common.idle_timeout?, &at.field("idle_timeout"), cx))
}
