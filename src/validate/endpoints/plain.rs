//! Endpoints as nearly all of them are, read straight off the wire.
//!
//! An address, a port, a health status, a weight and metadata that nobody reads: of a hundred thousand endpoints all but a
//! few have no more, and none of that needs an allocation. What is in any way different is left to [`super::endpoint`], which says
//! what there is to say about it.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::Range;
use std::sync::LazyLock;

use super::endpoint::{DEFAULT_WEIGHT, LB_METADATA, PROXY_METADATA};
use crate::convert::health::kept_status;
use crate::convert::metadata;
use crate::diag::Cx;
use crate::model::endpoints::Endpoint;
use crate::profile::Feature;
use crate::proto::pb::tables;
use crate::proto::wire::{MAX_DEPTH, Place, Shapes, fields, value_at, varint_at};

/// A LbEndpoint with nothing in it but an address, a health status, a weight and metadata, each at most once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

/// Where the values of a plain endpoint without metadata stand: in its neighbours they are mostly at the same places.
pub(crate) struct Values {
    host: Range<usize>,
    port: Range<usize>,
    health: Option<Range<usize>>,
    weight: Option<Range<usize>>,
}

impl Values {
    /// Those of an endpoint that is plain.
    fn of(bytes: &[u8], plain: &Plain<'_>) -> Option<Values> {
        let optional = |is_there: bool, path: &[u32]| match is_there {
            // It may be there without a value.
            true => value_at(bytes, path).map(Some),
            false => Some(None),
        };
        Some(Values {
            host: value_at(bytes, &[1, 1, 1, 2])?,
            port: value_at(bytes, &[1, 1, 1, 3])?,
            health: optional(plain.health.is_some(), &[2])?,
            weight: optional(plain.weight.is_some(), &[4, 1])?,
        })
    }

    /// Reads an endpoint of the same shape; `None` if one of the numbers is too large.
    fn read<'b>(&self, bytes: &'b [u8]) -> Option<Plain<'b>> {
        let number = |range: &Range<usize>| bytes.get(range.clone()).map(varint_at);
        let health = self.health.as_ref().map(|range| i32::try_from(number(range)?).ok());
        let weight = self.weight.as_ref().map(|range| u32::try_from(number(range)?).ok());
        if health == Some(None) || weight == Some(None) {
            return None;
        }
        Some(Plain {
            host: std::str::from_utf8(bytes.get(self.host.clone())?).ok()?,
            port: u16::try_from(number(&self.port)?).ok().filter(|port| *port > 0)?,
            health: health.flatten(),
            weight: weight.flatten(),
            metadata: None,
        })
    }
}

/// Where the shape of a LbEndpoint is looked for; nothing is noted of it here.
static PLACE: LazyLock<Place> = LazyLock::new(|| Place {
    message: tables::message_index("envoy.config.endpoint.v3.LbEndpoint").unwrap_or_default(),
    depth: MAX_DEPTH,
    notes: false,
});

/// What was found in the neighbours of an endpoint.
pub(crate) struct Neighbours<'b> {
    /// Metadata that is not read.
    unread: &'b [u8],
    has_any: bool,
    shapes: Option<Shapes<Values>>,
}

impl<'b> Neighbours<'b> {
    /// There is none yet.
    #[inline]
    pub fn new() -> Self {
        Neighbours {
            unread: &[],
            has_any: false,
            shapes: None,
        }
    }

    /// Reads a LbEndpoint as [`Plain::read`] does.
    #[inline]
    pub fn read(&mut self, bytes: &'b [u8]) -> Option<Plain<'b>> {
        // A single endpoint is not worth it.
        if !std::mem::replace(&mut self.has_any, true) {
            return Plain::read(bytes);
        }
        let place = *PLACE;
        let shapes = self.shapes.get_or_insert_with(Shapes::new);
        if let Some(values) = shapes.find(bytes, place) {
            return values.read(bytes);
        }
        let plain = Plain::read(bytes)?;
        if plain.metadata.is_none() {
            shapes.remember(bytes, place, || Values::of(bytes, &plain));
        }
        Some(plain)
    }
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
pub(super) fn endpoint<'b>(
    bytes: &'b [u8],
    index: usize,
    neighbours: &mut Neighbours<'b>,
    cx: &Cx<'_>,
) -> Option<Endpoint> {
    let plain = neighbours.read(bytes)?;
    match plain.metadata {
        Some(metadata) if metadata == neighbours.unread => {}
        Some(metadata) if is_unread(metadata, cx) => neighbours.unread = metadata,
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

#[cfg(test)]
mod tests {
    use super::*;

    /// `10.0.0.1:10000`, HEALTHY, with the weight 7; and a port of three bytes, DRAINING, without a weight.
    const ENDPOINTS: [&[u8]; 2] = [
        b"\x0a\x11\x0a\x0f\x0a\x0d\x12\x0810.0.0.1\x18\x90\x4e\x10\x01\x22\x02\x08\x07",
        b"\x10\x03\x0a\x11\x0a\x0f\x0a\x0d\x12\x0710.0.0.\x18\x90\xce\x03",
    ];

    #[test]
    fn a_neighbour_changes_nothing() {
        for sound in ENDPOINTS {
            for at in 0..sound.len() {
                for byte in 0..=u8::MAX {
                    let mut other = sound.to_vec();
                    other[at] = byte;
                    let mut neighbours = Neighbours::new();
                    for bytes in [sound, sound, sound, &other, &other] {
                        assert_eq!(neighbours.read(bytes), Plain::read(bytes), "byte {at} is {byte:#x}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_values_of_a_neighbour_are_its_own() {
        let first = ENDPOINTS[0];
        let second = b"\x0a\x11\x0a\x0f\x0a\x0d\x12\x0810.9.8.7\x18\xff\x01\x10\x02\x22\x02\x08\x09";
        let mut neighbours = Neighbours::new();
        neighbours.read(first);
        neighbours.read(first);
        assert!(neighbours.shapes.as_mut().unwrap().find(second, *PLACE).is_some());
        let read = neighbours.read(second).unwrap();
        assert_eq!(
            (read.host, read.port, read.health, read.weight),
            ("10.9.8.7", 255, Some(2), Some(9))
        );
    }
}
