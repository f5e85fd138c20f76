//! A ClusterLoadAssignment as a control plane would send it next: some endpoints in another health, or gone.
//!
//! Works on the message and not on what the client keeps of it: so an endpoint that the client drops can come back, and what
//! becomes of the change is the converter's to say.

use std::net::SocketAddr;

use bytes::Bytes;

use crate::convert::address::socket_address;
use crate::convert::health::health_status;
use crate::diag::{Cx, Path};
use crate::proto;
use crate::proto::pb::envoy::config::core::v3::HealthStatus as PbHealth;
use crate::proto::pb::envoy::config::endpoint::v3 as pb;

/// What becomes of the endpoints that have an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndpointChange {
    /// The primary or a further address of the endpoint; in its IPv4-mapped form it is the same one.
    pub address: SocketAddr,
    what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Health(PbHealth),
    Gone,
}

impl EndpointChange {
    /// The endpoint is in another health, by the name of the enum value (`DRAINING`); `None` for a name that is none.
    pub fn health(address: SocketAddr, name: &str) -> Option<EndpointChange> {
        let what = What::Health(PbHealth::from_str_name(name)?);
        Some(EndpointChange { address, what })
    }

    /// The endpoint is not there any more.
    pub const fn removal(address: SocketAddr) -> EndpointChange {
        EndpointChange {
            address,
            what: What::Gone,
        }
    }

    /// The names of the health states.
    pub fn health_names() -> impl Iterator<Item = &'static str> {
        (0..).map_while(|number| PbHealth::try_from(number).ok().map(|health| health.as_str_name()))
    }

    /// The health that the endpoint is to have; `None` if it is to go.
    pub fn health_name(&self) -> Option<&'static str> {
        match self.what {
            What::Health(health) => Some(health.as_str_name()),
            What::Gone => None,
        }
    }

    /// Says whether the client keeps an endpoint that is so, if nothing else is against it.
    pub fn is_kept(&self) -> bool {
        match self.what {
            What::Health(health) => health_status(health.into()).is_some(),
            What::Gone => false,
        }
    }

    fn is_about(&self, other: SocketAddr) -> bool {
        self.address == other
            || self.address.port() == other.port() && self.address.ip().to_canonical() == other.ip().to_canonical()
    }
}

/// The resource with the changes, of several for one address the last one. `met` is called with the number of each change
/// that is about an endpoint of the resource, `None` is returned if there is none.
///
/// The bytes are those of a resource that validation has seen.
pub fn changed(
    bytes: &Bytes,
    changes: &[EndpointChange],
    cx: &mut Cx<'_>,
    met: &mut dyn FnMut(usize),
) -> Option<Bytes> {
    let mut message: pb::ClusterLoadAssignment = proto::kept(bytes);
    let mut is_changed = false;
    let mut of_endpoint = Vec::new();
    for locality in &mut message.endpoints {
        locality.lb_endpoints.retain_mut(|kept| {
            let mut endpoint: pb::LbEndpoint = proto::kept(kept);
            let mut last = None;
            of_endpoint.clear();
            of_endpoint.extend(addresses(&endpoint, cx));
            for (number, change) in changes.iter().enumerate() {
                if of_endpoint.iter().any(|address| change.is_about(*address)) {
                    met(number);
                    last = Some(change.what);
                }
            }
            is_changed |= last.is_some();
            match last {
                None => true,
                Some(What::Gone) => false,
                Some(What::Health(health)) => {
                    endpoint.health_status = health.into();
                    *kept = proto::keep(&endpoint);
                    true
                }
            }
        });
    }
    is_changed.then(|| proto::keep(&message))
}

/// The addresses of an endpoint, whether the client keeps it or not.
fn addresses<'e>(endpoint: &'e pb::LbEndpoint, cx: &'e mut Cx<'_>) -> impl Iterator<Item = SocketAddr> + 'e {
    let endpoint = match &endpoint.host_identifier {
        Some(pb::lb_endpoint::HostIdentifier::Endpoint(endpoint)) => Some(endpoint),
        Some(pb::lb_endpoint::HostIdentifier::EndpointName(_)) | None => None,
    };
    let all = endpoint.into_iter().flat_map(|endpoint| {
        let further = endpoint.additional_addresses.iter().map(|one| one.address.as_ref());
        std::iter::once(endpoint.address.as_ref()).chain(further)
    });
    all.filter_map(move |address| socket_address(address, &Path::ROOT, cx))
}
