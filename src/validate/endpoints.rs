//! ClusterLoadAssignment.

use crate::diag::Cx;
use crate::model::Resource;
use crate::proto::pb::envoy::config::endpoint::v3::ClusterLoadAssignment as Pb;

/// Converts the resource.
pub fn convert(message: &Pb, cx: &mut Cx<'_>) -> (String, Option<Resource>) {
    let _ = cx;
    (message.cluster_name.clone(), None)
}
