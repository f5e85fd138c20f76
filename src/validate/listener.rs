//! Listener.

use crate::diag::Cx;
use crate::model::Resource;
use crate::proto::pb::envoy::config::listener::v3::Listener as Pb;

/// Converts the resource.
pub fn convert(message: &Pb, cx: &mut Cx<'_>) -> (String, Option<Resource>) {
    let _ = cx;
    (message.name.clone(), None)
}
