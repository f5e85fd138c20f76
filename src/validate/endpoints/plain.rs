//! Endpoints as nearly all of them are, read straight off the wire.
//!
//! An address, a port, a health status, a weight and metadata that nobody reads: of a hundred thousand endpoints all but a
//! few have no more, and none of that needs an allocation. What is in any way different is left to [`super::endpoint`], which says
//! what there is to say about it.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use super::endpoint::{DEFAULT_WEIGHT, LB_METADATA, PROXY_METADATA};
use crate::convert::health::kept_status;
use crate::convert::metadata;
use crate::diag::Cx;
use crate::model::endpoints::Endpoint;
use crate::profile::Feature;
use crate::proto::wire::fields;

/// A LbEndpoint with nothing in it but an address, a health status, a weight and metadata, each at most once.
pub(crate) struct Plain<'b> {
    /// The text of its address, which may be anything.
    pub host: &'b str,
    /// 1 to 65535.
    pub port: u16,
    health: Option<i32>,
    /// `None` if it has none.
    pub weight: Option<u32>,
    /// The bytes of its metadata.
    pub metadata: Option<&'b [u8]>,
}

impl<'b> Plain<'b> {
    /// Reads a LbEndpoint, `None` if it is not plain: a converter then looks at all of it.
    pub(crate) fn read(bytes: &'b [u8]) -> Option<Self> {
        let (mut socket, mut health, mut weight, mut metadata) = (None, None, None, None);
        for field in fields(bytes) {
            match (field.number, field.wire_type) {
                (1, 2) => once(&mut socket, host(field.payload)?)?,
                (2, 0) => once(&mut health, i32::try_from(field.varint).ok()?)?,
                (3, 2) => once(&mut metadata, field.payload)?,
                (4, 2) => once(&mut weight, number(field.payload)?)?,
                _ => return None,
            }
        }
        let (host, port) = socket?;
        Some(Plain {
            host,
            port,
            health,
            weight,
            metadata,
        })
    }

    /// The address; `None` for a text that is none.
    pub fn address(&self) -> Option<SocketAddr> {
        if let Ok(ip) = self.host.parse::<Ipv4Addr>() {
            return Some(SocketAddr::new(ip.into(), self.port));
        }
        Some(SocketAddr::new(self.host.parse::<Ipv6Addr>().ok()?.into(), self.port))
    }
}

/// Reads a LbEndpoint that the client keeps and that there is nothing to say about; `None` for any other.
///
/// `unread` is the last metadata that was found to be unread: neighbours mostly have the same.
pub(super) fn endpoint<'b>(bytes: &'b [u8], index: usize, unread: &mut &'b [u8], cx: &Cx<'_>) -> Option<Endpoint> {
    let plain = Plain::read(bytes)?;
    match plain.metadata {
        Some(metadata) if metadata == *unread => {}
        Some(metadata) if is_unread(metadata, cx) => *unread = metadata,
        Some(_) => return None,
        None => {}
    }
    Some(Endpoint {
        index,
        address: plain.address()?,
        additional_addresses: Vec::new(),
        weight: plain.weight.unwrap_or(DEFAULT_WEIGHT),
        weight_is_default: plain.weight.is_none(),
        health: kept_status(plain.health.unwrap_or_default(), cx)?,
        hostname: String::new(),
        proxy: None,
        hash_key: None,
    })
    .filter(|endpoint| endpoint.weight > 0)
}

/// Keeps the value of a field that comes only once.
fn once<T>(slot: &mut Option<T>, value: T) -> Option<()> {
    slot.replace(value).is_none().then_some(())
}

/// The address of an Endpoint that has nothing else that counts.
fn host(bytes: &[u8]) -> Option<(&str, u16)> {
    let mut found = None;
    for field in fields(bytes) {
        match (field.number, field.wire_type) {
            (1, 2) => once(&mut found, field.payload)?,
            // health_check_config
            (2, _) => {}
            _ => return None,
        }
    }
    socket(found?)
}

/// The value of a UInt32Value.
fn number(bytes: &[u8]) -> Option<u32> {
    let mut value = None;
    for field in fields(bytes) {
        match (field.number, field.wire_type) {
            (1, 0) => once(&mut value, u32::try_from(field.varint).ok()?)?,
            _ => return None,
        }
    }
    Some(value.unwrap_or_default())
}

/// Reads an Address that holds a SocketAddress with a text and a port from 1 to 65535.
fn socket(bytes: &[u8]) -> Option<(&str, u16)> {
    let mut all = fields(bytes);
    let (Some(socket), None) = (all.next(), all.next()) else {
        return None;
    };
    if (socket.number, socket.wire_type) != (1, 2) {
        return None;
    }
    let (mut host, mut port) = (None, None);
    for field in fields(socket.payload) {
        match (field.number, field.wire_type) {
            // protocol
            (1, _) => {}
            (2, 2) => once(&mut host, std::str::from_utf8(field.payload).ok()?)?,
            (3, 0) => once(&mut port, u16::try_from(field.varint).ok()?)?,
            _ => return None,
        }
    }
    Some((host?, port.filter(|port| *port > 0)?))
}

/// Says whether the client leaves this metadata unread, and no switch would change that.
fn is_unread(metadata: &[u8], cx: &Cx<'_>) -> bool {
    cx.has(Feature::EndpointHashKeyBackwardCompat)
        && !cx.has(Feature::HttpConnect)
        && !metadata::has_any(metadata, &[LB_METADATA, PROXY_METADATA])
}
