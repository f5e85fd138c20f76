//! Cluster, as grpc-java reads it (XdsClusterResource.processCluster).

use crate::diag::{Cx, Path};
use crate::family::rules::TRANSPORT_SOCKET_MATCHES;
use crate::family::{Checked, reject};
use crate::proto::pb::envoy::config::cluster::v3::Cluster as Pb;

/// Converts the resource.
pub(super) fn convert(message: &Pb, cx: &mut Cx<'_>) -> Checked {
    non_aggregate(message, &Path::ROOT, cx)
}

/// What EDS and LOGICAL_DNS clusters have (`parseNonAggregateCluster`).
fn non_aggregate(message: &Pb, at: &Path<'_>, cx: &mut Cx<'_>) -> Checked {
    if !message.transport_socket_matches.is_empty() {
        return Err(reject(
            &TRANSPORT_SOCKET_MATCHES,
            &at.field("transport_socket_matches"),
            format_args!("transport_socket_matches is set, must not be: one transport socket serves all endpoints"),
            cx,
        ));
    }
    Ok(())
}
