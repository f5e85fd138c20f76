//! Messages in a resource that the generated types keep as bytes, decoded once for all clients that
//! look into them.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use bytes::Bytes;

use super::read::EndpointWays;
use super::{fields, plain};
use xdsctl_document::proto;
use xdsctl_document::proto::pb::envoy::config::core::v3::HealthStatus;
use xdsctl_document::proto::pb::envoy::config::endpoint::v3::{ClusterLoadAssignment, LbEndpoint, LocalityLbEndpoints};
use xdsctl_document::proto::pb::envoy::config::route::v3::{Route, RouteConfiguration, VirtualHost};
use xdsctl_model::resource::endpoints::Endpoint;
use xdsctl_model::resource::pieces::Pieces;

/// What has been decoded of one message so far.
#[derive(Debug, Default)]
pub struct Opened {
    /// Several clients look into the message, so that the first of them opens it for all.
    is_shared: bool,
    hosts: OnceCell<Vec<OpenedHost>>,
    endpoints: OnceCell<OpenedEndpoints>,
    kept: RefCell<Vec<(EndpointWays, KeptEndpoints)>>,
}

/// What a client keeps of the endpoints of each locality.
pub(crate) type KeptEndpoints = Rc<[Pieces<Endpoint>]>;

/// The endpoints of an assignment.
#[derive(Debug)]
pub struct OpenedEndpoints {
    /// The endpoints of each locality, in their order; empty if the endpoints are plain.
    pub lists: Vec<Vec<LbEndpoint>>,
    /// Some endpoint is DRAINING.
    pub has_draining: bool,
    /// Some endpoint has more than one address.
    pub has_more_addresses: bool,
    /// Some endpoint has metadata.
    pub has_metadata: bool,
    /// What every client keeps of the endpoints, if they are [plain].
    plain: Option<KeptEndpoints>,
}

impl OpenedEndpoints {
    fn of(message: &ClusterLoadAssignment) -> OpenedEndpoints {
        let plain = plain::endpoints(message);
        let open = |locality: &LocalityLbEndpoints| match plain {
            Some(_) => Vec::new(),
            None => locality.lb_endpoints.iter().map(proto::kept).collect(),
        };
        let lists: Vec<Vec<LbEndpoint>> = message.endpoints.iter().map(open).collect();
        let any = |is_so: fn(&LbEndpoint) -> bool| lists.iter().flatten().any(is_so);
        OpenedEndpoints {
            has_draining: any(|message| message.health_status == HealthStatus::Draining as i32),
            has_more_addresses: any(|message| {
                fields::endpoint(message).is_some_and(|endpoint| !endpoint.additional_addresses.is_empty())
            }),
            has_metadata: any(|message| message.metadata.is_some()),
            lists,
            plain,
        }
    }

    /// Returns what every client keeps of the endpoints, if they are [plain].
    pub(crate) fn plain(&self) -> Option<&KeptEndpoints> {
        self.plain.as_ref()
    }
}

/// Returns a message that may have been opened already, or opens it.
pub(crate) fn opened_or_kept<'m, T>(opened: Option<&'m T>, bytes: &Bytes) -> Cow<'m, T>
where
    T: prost::Message + Default + Clone,
{
    opened.map_or_else(|| Cow::Owned(proto::kept(bytes)), Cow::Borrowed)
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
    /// Makes a value for a message that several clients look into.
    pub(crate) fn shared() -> Opened {
        Opened {
            is_shared: true,
            ..Opened::default()
        }
    }

    /// Returns the endpoints of the message, if several clients look at them.
    pub(crate) fn shared_endpoints(&self, message: &ClusterLoadAssignment) -> Option<&OpenedEndpoints> {
        match self.is_shared {
            true => Some(self.endpoints(message)),
            false => self.endpoints.get(),
        }
    }

    /// Returns the virtual hosts of the message, if several clients look at them.
    pub(crate) fn shared_hosts(&self, message: &RouteConfiguration) -> Option<&[OpenedHost]> {
        match self.is_shared {
            true => Some(self.hosts(message)),
            false => self.hosts.get().map(Vec::as_slice),
        }
    }

    /// Returns the virtual hosts of the message, in their order.
    pub(crate) fn hosts(&self, message: &RouteConfiguration) -> &[OpenedHost] {
        let open = |bytes| {
            let host: VirtualHost = proto::kept(bytes);
            let routes = host.routes.iter().map(proto::kept).collect();
            OpenedHost { host, routes }
        };
        self.hosts
            .get_or_init(|| message.virtual_hosts.iter().map(open).collect())
    }

    /// Returns the endpoints of the message.
    pub(crate) fn endpoints(&self, message: &ClusterLoadAssignment) -> &OpenedEndpoints {
        self.endpoints.get_or_init(|| OpenedEndpoints::of(message))
    }

    /// Returns what is kept by clients that read the endpoints in these ways.
    pub(crate) fn kept(
        &self,
        ways: EndpointWays,
        message: &ClusterLoadAssignment,
        opened: &OpenedEndpoints,
    ) -> KeptEndpoints {
        if let Some(plain) = &opened.plain {
            return Rc::clone(plain);
        }
        if let Some((_, kept)) = self.kept.borrow().iter().find(|(known, _)| *known == ways) {
            return Rc::clone(kept);
        }
        let kept = ways.kept(message, opened);
        self.kept.borrow_mut().push((ways, Rc::clone(&kept)));
        kept
    }
}
