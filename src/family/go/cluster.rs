//! Cluster, as grpc-go reads it (xdsresource/unmarshal_cds.go `validateClusterAndConstructClusterUpdate`).

use crate::diag::{Cx, Path};
use crate::family::rules::TRANSPORT_SOCKET_MATCHES;
use crate::family::{Checked, reject};
use crate::proto::pb::envoy::config::cluster::v3::Cluster as Pb;

/// Converts the resource.
pub(super) fn convert(message: &Pb, cx: &mut Cx<'_>) -> Checked {
    security_config(message, &Path::ROOT, cx)
}

/// The transport socket (`securityConfigFromCluster`).
fn security_config(message: &Pb, at: &Path<'_>, cx: &mut Cx<'_>) -> Checked {
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
