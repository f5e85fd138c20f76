//! grpc-java: the four resources, in its order; the first fault ends it.
//!
//! One file a resource, one function for each of the client's own, named in its doc.

mod cluster;

use crate::diag::Cx;
use crate::family::{Checked, Message, Sent, decoded};

/// Converts a resource.
pub(super) fn convert(sent: &Sent<'_>, cx: &mut Cx<'_>) -> Checked {
    match decoded(sent, cx)? {
        Message::Cluster(cluster) => cluster::convert(cluster, cx),
        Message::Listener(_) | Message::RouteConfiguration(_) | Message::Endpoints(_) => Ok(()),
    }
}
