//! Elements that are like their neighbours: of thousands of endpoints a few are walked, the others compared with those.
//!
//! What the wire check makes of a message hangs on its tags, its lengths and on which bytes end a varint; the digits of an address and
//! the bits of a port make no difference. A shape says of one message which bits matter; another one of that length that agrees in them is
//! as sound. Only a message of which there is nothing to say has a shape.

use xdsctl_proto::tables::{self, Cardinality, Kind, Listed, Message};

use super::reader::Reader;
use super::{Fit, START_GROUP, fit};

/// Longer messages are walked, each of them.
const MAX_SHAPE_BYTES: usize = 128;

/// Shapes that are remembered at a time: addresses and ports have a few lengths.
const SHAPES: usize = 8;

/// Shapes in a row that are looked for in vain, before it is given up: elements may all be different.
const MAX_VAIN: u32 = 32;

/// A varint with ten bytes may have bits beyond 64 in the last one.
const LONG_VARINT: usize = 10;

/// The bit that says that a varint goes on, and that no character of ASCII has.
const TOP: u8 = 0x80;

/// Where a message stands, which its verdict hangs on too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// Position in [`tables::MESSAGES`].
    pub message: u16,
    /// Levels that may still be opened in it.
    pub depth: u32,
    /// Fields that are never read are noted.
    pub notes: bool,
}

/// The bits of a message that decide whether it is sound.
#[derive(Debug, Clone, Copy)]
struct Shape {
    place: Place,
    length: usize,
    mask: [u8; MAX_SHAPE_BYTES],
    bits: [u8; MAX_SHAPE_BYTES],
}

/// The shapes of the last elements, each with what is the same for all that have it.
#[derive(Debug)]
pub(crate) struct Shapes<T = ()> {
    known: [Option<(Shape, T)>; SHAPES],
    next: usize,
    vain: u32,
}

impl<T> Shapes<T> {
    /// None yet.
    pub fn new() -> Self {
        Shapes {
            known: [const { None }; SHAPES],
            next: 0,
            vain: 0,
        }
    }

    /// What was remembered of the shape that a message has: it is sound, and there is nothing to say of it.
    #[inline]
    pub fn find(&mut self, bytes: &[u8], place: Place) -> Option<&T> {
        let mut known = self.known.iter().flatten();
        let (_, found) = known.find(|(shape, _)| shape.is_of(bytes, place))?;
        self.vain = self.vain.saturating_sub(1);
        Some(found)
    }

    /// Remembers the shape of a message that was walked and found to be sound, if it has one, with what `made` says of it.
    pub fn remember(&mut self, bytes: &[u8], place: Place, made: impl FnOnce() -> Option<T>) {
        if bytes.len() > MAX_SHAPE_BYTES || self.vain >= MAX_VAIN {
            return;
        }
        self.vain += 1;
        let Some(shape) = Shape::of(bytes, place) else { return };
        if let (Some(slot), Some(made)) = (self.known.get_mut(self.next), made()) {
            *slot = Some((shape, made));
            self.next = (self.next + 1) % SHAPES;
        }
    }
}

impl Shape {
    fn of(bytes: &[u8], place: Place) -> Option<Shape> {
        let mut mask = [0; MAX_SHAPE_BYTES];
        let mut bits = [0; MAX_SHAPE_BYTES];
        let message = tables::MESSAGES.get(usize::from(place.message))?;
        mark(bytes, message, place.depth, place.notes, mask.get_mut(..bytes.len())?)?;
        for ((bit, byte), mask) in bits.iter_mut().zip(bytes).zip(mask) {
            *bit = byte & mask;
        }
        Some(Shape {
            place,
            length: bytes.len(),
            mask,
            bits,
        })
    }

    #[inline]
    fn is_of(&self, bytes: &[u8], place: Place) -> bool {
        if self.length != bytes.len() || self.place != place {
            return false;
        }
        let both = bytes.iter().zip(&self.mask).zip(&self.bits);
        both.fold(0, |other, ((byte, mask), bits)| other | (byte & mask ^ bits)) == 0
    }
}

/// Sets the bits of a message that matter, `None` if all of them do. The message has been walked, and was sound.
fn mark(bytes: &[u8], message: &'static Message, depth: u32, notes: bool, mask: &mut [u8]) -> Option<()> {
    let notes = notes && message.listed == Listed::Client;
    let mut reader = Reader { rest: bytes };
    let mut start = 0;
    let mut singles = 0u128;
    while let Some(raw) = reader.next(depth).ok()? {
        let end = bytes.len() - reader.rest.len();
        let position = message
            .fields
            .binary_search_by_key(&raw.number, |field| field.number)
            .ok()?;
        let field = message.fields.get(position)?;
        let is_odd = raw.wire_type == START_GROUP || raw.overlong || fit(field, raw.wire_type) != Fit::Single;
        if is_odd || !field.known_to_client || notes && !field.judged {
            return None;
        }
        if field.cardinality != Cardinality::Repeated {
            let bit = 1u128.checked_shl(position as u32)?;
            // Both parts of a message count.
            if singles & bit != 0 || matches!(field.cardinality, Cardinality::Map { .. }) {
                return None;
            }
            singles |= bit;
        }
        let whole = bytes.get(start..end)?;
        let tag = 1 + whole.iter().position(|byte| byte & TOP == 0)?;
        let here = mask.get_mut(start..end)?;
        here.fill(u8::MAX);
        match raw.wire_type {
            0 if whole.len() - tag >= LONG_VARINT => return None,
            0 => here.get_mut(tag..)?.fill(TOP),
            1 | 5 => here.get_mut(tag..)?.fill(0),
            _ => {
                let payload = whole.len() - raw.payload.len();
                let here = here.get_mut(payload..)?;
                match field.kind {
                    Kind::String if raw.payload.is_ascii() => here.fill(TOP),
                    Kind::String => return None,
                    Kind::Message(m) => {
                        let sub = tables::MESSAGES.get(usize::from(m))?;
                        mark(raw.payload, sub, depth.checked_sub(1)?, notes && field.read, here)?;
                    }
                    _ => here.fill(0),
                }
            }
        }
        start = end;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::super::{MAX_DEPTH, Malformed, Walk};
    use super::*;
    use crate::diag::{Cx, Path};
    use crate::profile::{Profile, ServerFacts};

    fn field(number: u8, payload: &[u8]) -> Vec<u8> {
        let length = u8::try_from(payload.len()).unwrap();
        assert!(length < TOP);
        [&[number << 3 | 2, length], payload].concat()
    }

    /// A LbEndpoint with a health status and a weight.
    fn endpoint(host: &str, port: [u8; 2]) -> Vec<u8> {
        let socket = [field(2, host.as_bytes()), vec![0x18, port[0], port[1]]].concat();
        let address = field(1, &field(1, &field(1, &socket)));
        [address, vec![0x10, 0x01], field(4, &[0x08, 0x07])].concat()
    }

    /// What the wire check makes of a locality with these endpoints: the verdict, whether something is odd, and the findings.
    fn walked(endpoints: &[&[u8]], vain: u32) -> (Result<(), Malformed>, bool, Vec<String>) {
        let locality: Vec<u8> = endpoints.iter().flat_map(|bytes| field(2, bytes)).collect();
        let (profile, server) = (Profile::default(), ServerFacts::default());
        let mut cx = Cx::new(&profile, &server);
        let message = tables::message("envoy.config.endpoint.v3.LocalityLbEndpoints").unwrap();
        let shapes = Some(Shapes { vain, ..Shapes::new() });
        let mut walk = Walk {
            cx: &mut cx,
            is_sound: false,
            odd: false,
            shapes,
        };
        let verdict = walk.message(&locality, message, &Path::ROOT, MAX_DEPTH, true);
        let odd = walk.odd;
        let findings = cx.finish();
        (
            verdict,
            odd,
            findings.iter().map(|found| format!("{found:?}")).collect(),
        )
    }

    #[test]
    fn a_neighbour_changes_nothing() {
        let sound = endpoint("10.0.0.1", [0x90, 0x4e]);
        let mut found = 0;
        for at in 0..sound.len() {
            for byte in 0..=u8::MAX {
                let mut other = sound.clone();
                other[at] = byte;
                let all = [&sound[..], &sound, &sound, &other, &other];
                let expected = walked(&all, MAX_VAIN);
                assert_eq!(walked(&all, 0), expected, "byte {at} is {byte:#x}: {other:x?}");
                found += usize::from(expected != (Ok(()), false, Vec::new()));
            }
        }
        // Most changes of a digit, a port, a status or a weight change nothing; those of tags and lengths do.
        let all = sound.len() * 256;
        assert!(found > all / 4 && found < all * 3 / 4, "{found} of {all}");
    }

    #[test]
    fn like_endpoints_are_found_again() {
        let place = |notes| Place {
            message: tables::MESSAGES
                .iter()
                .position(|message| message.full_name == "envoy.config.endpoint.v3.LbEndpoint")
                .unwrap() as u16,
            depth: 90,
            notes,
        };
        let mut shapes = Shapes::new();
        let is_found = |shapes: &mut Shapes, bytes: &[u8], place| shapes.find(bytes, place).is_some();
        shapes.remember(&endpoint("10.0.0.1", [0x90, 0x4e]), place(true), || Some(()));
        assert!(is_found(&mut shapes, &endpoint("10.9.8.7", [0xff, 0x01]), place(true)));
        assert!(
            !is_found(&mut shapes, &endpoint("10.9.8.77", [0xff, 0x01]), place(true)),
            "another length"
        );
        assert!(!is_found(
            &mut shapes,
            &endpoint("10.9.8.\u{e9}", [0x90, 0x4e]),
            place(true)
        ));
        assert!(
            !is_found(&mut shapes, &endpoint("10.9.8.7", [0x10, 0x4e]), place(true)),
            "the port has one byte"
        );
        assert!(
            !is_found(&mut shapes, &endpoint("10.9.8.7", [0xff, 0x01]), place(false)),
            "another place"
        );
    }

    #[test]
    fn what_there_is_something_to_say_about_has_no_shape() {
        let place = |name: &str| Place {
            message: tables::MESSAGES
                .iter()
                .position(|message| message.full_name == name)
                .unwrap() as u16,
            depth: 90,
            notes: true,
        };
        let endpoint_of = |extra: &[u8]| [endpoint("10.0.0.1", [0x90, 0x4e]), extra.to_vec()].concat();
        let shape = |bytes: &[u8]| Shape::of(bytes, place("envoy.config.endpoint.v3.LbEndpoint")).is_some();
        assert!(shape(&endpoint_of(&[])));
        for (extra, what) in [
            (&b"\xf8\x06\x01"[..], "an unknown field"),
            (b"\x0b\x0c", "a group"),
            (b"\x15\0\0\0\0", "a foreign wire type"),
            (b"\x10\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", "a varint of ten bytes"),
            (b"\x1a\x05\x0a\x03\x0a\x01a", "a map"),
            (b"\x22\x02\x08\x01", "a second weight"),
        ] {
            assert!(!shape(&endpoint_of(extra)), "{what}");
        }
        // health_check_config is never read.
        let ignored = field(1, &field(2, &[0x08, 0x01]));
        assert!(!shape(&ignored));
    }
}
