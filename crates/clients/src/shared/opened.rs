//! Messages in a resource that the generated types keep as bytes, decoded once for all clients that
//! look into them.

use std::cell::{OnceCell, RefCell};
use std::net::Ipv4Addr;
use std::rc::Rc;

use foldhash::{HashSet, HashSetExt};

use super::read::EndpointWays;
use xdsctl_document::proto;
use xdsctl_document::proto::pb::envoy::config::core::v3::address::Address;
use xdsctl_document::proto::pb::envoy::config::core::v3::socket_address::PortSpecifier;
use xdsctl_document::proto::pb::envoy::config::core::v3::{HealthStatus, Metadata};
use xdsctl_document::proto::pb::envoy::config::endpoint::v3::lb_endpoint::HostIdentifier;
use xdsctl_document::proto::pb::envoy::config::endpoint::v3::{ClusterLoadAssignment, LbEndpoint};
use xdsctl_document::proto::pb::envoy::config::route::v3::{Route, RouteConfiguration, VirtualHost};
use xdsctl_model::resource::endpoints::Endpoint;
use xdsctl_model::resource::pieces::Pieces;

/// What was decoded of one message so far.
#[derive(Debug, Default)]
pub struct Opened {
    /// Several clients look into the message, so that the first of them opens it for all.
    is_shared: bool,
    hosts: OnceCell<Vec<OpenedHost>>,
    endpoints: OnceCell<OpenedEndpoints>,
    kept: RefCell<Vec<(EndpointWays, KeptEndpoints)>>,
}

/// What is kept of the endpoints of each locality.
pub(crate) type KeptEndpoints = Rc<[Pieces<Endpoint>]>;

/// The endpoints of an assignment.
#[derive(Debug)]
pub struct OpenedEndpoints {
    /// Those of each locality, in their order.
    pub lists: Vec<Vec<OpenedEndpoint>>,
    /// Some endpoint is DRAINING.
    pub has_draining: bool,
    /// Some endpoint has more than one address.
    pub has_more_addresses: bool,
    /// Some endpoint has metadata.
    pub has_metadata: bool,
    /// All are plain: see [`plain_address`]. No address occurs twice, and no locality has metadata
    /// or weights beyond 32 bits. No client finds anything in the list then, and each keeps all of
    /// it.
    pub are_plain: bool,
}

/// An endpoint, and its metadata once somebody looks into it.
#[derive(Debug)]
pub struct OpenedEndpoint {
    /// The message, in which the metadata is bytes.
    pub message: LbEndpoint,
    metadata: OnceCell<Metadata>,
}

impl OpenedEndpoint {
    /// The metadata, if there is any.
    pub(crate) fn metadata(&self) -> Option<&Metadata> {
        let bytes = self.message.metadata.as_ref()?;
        Some(self.metadata.get_or_init(|| proto::kept(bytes)))
    }
}

impl OpenedEndpoints {
    fn of(message: &ClusterLoadAssignment) -> OpenedEndpoints {
        let open = |bytes| OpenedEndpoint {
            message: proto::kept(bytes),
            metadata: OnceCell::new(),
        };
        let localities = message.endpoints.iter();
        let lists: Vec<Vec<OpenedEndpoint>> = localities
            .map(|locality| locality.lb_endpoints.iter().map(open).collect())
            .collect();
        let any = |is_so: fn(&LbEndpoint) -> bool| lists.iter().flatten().any(|endpoint| is_so(&endpoint.message));
        OpenedEndpoints {
            are_plain: message.endpoints.iter().all(|locality| locality.metadata.is_none()) && are_plain(&lists),
            has_draining: any(|message| message.health_status == HealthStatus::Draining as i32),
            has_more_addresses: any(|message| match &message.host_identifier {
                Some(HostIdentifier::Endpoint(endpoint)) => !endpoint.additional_addresses.is_empty(),
                _ => false,
            }),
            has_metadata: any(|message| message.metadata.is_some()),
            lists,
        }
    }
}

/// Says whether all endpoints are plain, and so is their list.
fn are_plain(lists: &[Vec<OpenedEndpoint>]) -> bool {
    let mut seen = HashSet::with_capacity(lists.iter().map(Vec::len).sum());
    lists.iter().all(|list| {
        let mut sum = 0u64;
        let mut is_plain = |opened: &OpenedEndpoint| {
            sum += u64::from(opened.message.load_balancing_weight.unwrap_or(1));
            plain_address(&opened.message).is_some_and(|address| seen.insert(address))
        };
        list.iter().all(&mut is_plain) && sum <= u64::from(u32::MAX)
    })
}

/// The address of an endpoint of which every client reads everything, and finds nothing wrong: a
/// port above 0 of an IPv4 address, health UNKNOWN or HEALTHY, no weight of 0, and nothing that
/// only some clients look at. The address and the port are one number.
fn plain_address(message: &LbEndpoint) -> Option<u64> {
    let Some(HostIdentifier::Endpoint(endpoint)) = &message.host_identifier else {
        return None;
    };
    let Some(Address::SocketAddress(socket)) = &endpoint.address.as_ref()?.address else {
        return None;
    };
    let Some(PortSpecifier::PortValue(port @ 1..=MAX_PORT)) = socket.port_specifier else {
        return None;
    };
    let is_kept = [HealthStatus::Unknown as i32, HealthStatus::Healthy as i32].contains(&message.health_status);
    let is_more = message.metadata.is_some() || !endpoint.additional_addresses.is_empty();
    if !is_kept || is_more || message.load_balancing_weight == Some(0) {
        return None;
    }
    let ip: Ipv4Addr = socket.address.parse().ok()?;
    Some(u64::from(ip.to_bits()) << 16 | u64::from(port))
}

/// Largest port.
const MAX_PORT: u32 = 65_535;

/// A virtual host with its routes.
#[derive(Debug)]
pub struct OpenedHost {
    /// The message, in which the routes are bytes.
    pub host: VirtualHost,
    /// The routes in their order.
    pub routes: Vec<Route>,
}

impl Opened {
    /// What is opened once for all of several clients.
    pub(crate) fn shared() -> Opened {
        Opened {
            is_shared: true,
            ..Opened::default()
        }
    }

    /// The endpoints of the message, if several clients look at them.
    pub(crate) fn shared_endpoints(&self, message: &ClusterLoadAssignment) -> Option<&OpenedEndpoints> {
        self.is_shared.then(|| self.endpoints(message))
    }

    /// What every client keeps of endpoints that [are plain](OpenedEndpoints::are_plain), if several
    /// look at them.
    pub(crate) fn shared_plain(&self, message: &ClusterLoadAssignment) -> Option<KeptEndpoints> {
        let opened = self.shared_endpoints(message).filter(|opened| opened.are_plain)?;
        Some(self.kept(EndpointWays::default(), message, opened))
    }

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

    /// The endpoints of the message.
    pub(crate) fn endpoints(&self, message: &ClusterLoadAssignment) -> &OpenedEndpoints {
        self.endpoints.get_or_init(|| OpenedEndpoints::of(message))
    }

    /// What clients keep of the endpoints that read them in these ways.
    pub(crate) fn kept(
        &self,
        ways: EndpointWays,
        message: &ClusterLoadAssignment,
        opened: &OpenedEndpoints,
    ) -> KeptEndpoints {
        if let Some((_, kept)) = self.kept.borrow().iter().find(|(known, _)| *known == ways) {
            return Rc::clone(kept);
        }
        let kept = ways.kept(message, opened);
        self.kept.borrow_mut().push((ways, Rc::clone(&kept)));
        kept
    }
}
