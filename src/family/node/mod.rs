//! grpc-js-xds: the four resources, in its order; a validator collects the faults of a resource.
//!
//! One file a resource, one function for each of the client's own, named in its doc.

pub(super) mod listener;

use crate::diag::Cx;
use crate::family::{Checked, Message, Sent, decoded};

/// Converts a resource.
pub(super) fn convert(sent: &Sent<'_>, cx: &mut Cx<'_>) -> Checked {
    match decoded(sent, cx)? {
        Message::Listener(listener) => listener::convert(listener, cx),
        Message::RouteConfiguration(_) | Message::Cluster(_) | Message::Endpoints(_) => {}
    }
    Ok(())
}
