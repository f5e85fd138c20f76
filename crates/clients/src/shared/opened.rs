//! Messages in a resource that the generated types keep as bytes, decoded once for all clients that look into them.

use std::cell::OnceCell;

use xdsctl_document::proto;
use xdsctl_document::proto::pb::envoy::config::endpoint::v3::{ClusterLoadAssignment, LbEndpoint};
use xdsctl_document::proto::pb::envoy::config::route::v3::{Route, RouteConfiguration, VirtualHost};

/// What was decoded of one message so far.
#[derive(Debug, Default)]
pub struct Opened {
    hosts: OnceCell<Vec<OpenedHost>>,
    endpoints: OnceCell<Vec<Vec<LbEndpoint>>>,
}

/// A virtual host with its routes.
#[derive(Debug)]
pub struct OpenedHost {
    /// The message, in which the routes are bytes.
    pub host: VirtualHost,
    /// The routes in their order.
    pub routes: Vec<Route>,
}

impl Opened {
    /// The virtual hosts of the message, in their order.
    pub(crate) fn hosts(&self, message: &RouteConfiguration) -> &[OpenedHost] {
        let open = |bytes| {
            let host: VirtualHost = proto::kept(bytes);
            let routes = host.routes.iter().map(proto::kept).collect();
            OpenedHost { host, routes }
        };
        self.hosts
            .get_or_init(|| message.virtual_hosts.iter().map(open).collect())
    }

    /// The endpoints of each locality of the message, in their order.
    pub(crate) fn endpoints(&self, message: &ClusterLoadAssignment) -> &[Vec<LbEndpoint>] {
        let localities = message.endpoints.iter();
        let open = |bytes: &Vec<_>| bytes.iter().map(proto::kept).collect();
        self.endpoints
            .get_or_init(|| localities.map(|locality| open(&locality.lb_endpoints)).collect())
    }
}
