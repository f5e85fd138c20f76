//! grpc-go: the four resources, in its order; the first fault ends it.
//!
//! One file a resource, one function for each of the client's own, named in its doc.

mod cluster;

use crate::diag::{Cx, Path};
use crate::family::{Checked, Message, Sent, reject};
use crate::validate::RESOURCE_UNDECODABLE;

/// Converts a resource.
pub(super) fn convert(sent: &Sent<'_>, cx: &mut Cx<'_>) -> Checked {
    let message = sent.message.map_err(|fault| {
        let name = sent.resource_type.short_name();
        reject(
            &RESOURCE_UNDECODABLE,
            &Path::ROOT,
            format_args!("not a valid {name}: {fault}"),
            cx,
        )
    })?;
    match message {
        Message::Cluster(cluster) => cluster::convert(cluster, cx),
        Message::Listener(_) | Message::RouteConfiguration(_) | Message::Endpoints(_) => Ok(()),
    }
}
