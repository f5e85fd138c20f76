//! grpc-js-xds: the four resources, in its order; a validator collects the faults of a resource.
//!
//! One file a resource, one function for each of the client's own, named in its doc.

pub(super) mod listener;

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
        Message::Listener(listener) => listener::convert(listener, cx),
        Message::RouteConfiguration(_) | Message::Cluster(_) | Message::Endpoints(_) => {}
    }
    Ok(())
}
