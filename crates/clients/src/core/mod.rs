//! gRPC C-core: converters of the four resources, with its order of checks; most faults are
//! collected.
//!
//! There is one converter for each resource type, with the client's short-circuits. Messages that
//! several resources share are in [`convert`], HTTP filters in [`filter`], cluster specifier
//! plugins in [`plugin`]. A converter returns what the client keeps.

pub mod cluster;
pub mod convert;
pub mod downstream_tls;
pub mod endpoints;
pub mod filter;
pub mod filter_chain;
pub mod filter_chain_map;
pub mod hash_policy;
pub mod http_connection_manager;
pub mod listener;
pub mod plugin;
pub mod retry;
pub mod route_action;
pub mod route_config;
pub mod route_match;
pub mod route_shadow;

use crate::shared::{Checked, Converter, Message, SentResource, decoded};
use xdsctl_model::diag::{Path, Validation};
use xdsctl_model::resource::Resource;

/// The converter of C-core, whose rules are listed with those of all clients.
pub(crate) static CONVERTER: Converter = Converter {
    judge,
    failures_kill: false,
    failing_later: &[],
    rules: &[],
};

/// Converts a resource to what the client keeps of it.
fn judge(sent: &SentResource<'_>, cx: &mut Validation<'_>) -> Checked<Option<Resource>> {
    Ok(match decoded(sent, cx)? {
        Message::Listener(message) => listener::convert(message, cx),
        Message::RouteConfiguration(message) => {
            let config = route_config::from_proto(message, sent.opened, &Path::ROOT, cx);
            Some(Resource::RouteConfiguration(config))
        }
        Message::Cluster(message) => cluster::convert(message, cx),
        Message::Endpoints(message) => Some(endpoints::convert(message, sent.opened, cx)),
    })
}
