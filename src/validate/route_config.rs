//! RouteConfiguration.

use crate::diag::{Cx, Path};
use crate::model::{Resource, RouteConfiguration};
use crate::proto::pb::envoy::config::route::v3::RouteConfiguration as Pb;

/// Converts the resource.
pub fn convert(message: &Pb, cx: &mut Cx<'_>) -> (String, Option<Resource>) {
    let value = from_proto(message, &Path::ROOT, cx);
    (message.name.clone(), Some(Resource::RouteConfiguration(value)))
}

/// Converts a RouteConfiguration at `at`, a resource of its own or inline in an HttpConnectionManager.
pub fn from_proto(message: &Pb, at: &Path<'_>, cx: &mut Cx<'_>) -> RouteConfiguration {
    let _ = (message, at, cx);
    RouteConfiguration::default()
}
