//! The wire check: does with the bytes of one message what the client's protobuf parser (upb) does.
//!
//! The generated types skip fields that gRPC never reads, but the client parses them all: invalid
//! bytes or invalid UTF-8 in such a field still make it reject the resource. So each message is
//! checked once with its descriptor before it is decoded. The same walk reports the fields that are
//! set and never read.
//!
//! Facts about upb (wire/decode.c, wire/reader.c of 1.85.1): a tag has at most 5 bytes, a length at
//! most 5 and 2^31-1, and a varint at most 10 (bits beyond 64 are lost). A known field with another
//! wire type counts as unknown. A map entry with an unknown field is not an entry. Groups nest like
//! messages. At most 100 levels are allowed. Field number 0 is an error.

mod alike;
mod describe;
mod missed;
mod normalize;
mod reader;
mod since;
mod words;

use bytes::Bytes;
use xdsctl_proto::tables::{Cardinality, Field, Kind, Message};

pub use self::describe::{FieldUse, history, uses};
pub use self::missed::no_host_rewrite;
pub(crate) use self::reader::WireReader;
pub use self::reader::{Raw, fields, map_keys};

use self::alike::Samples;
use self::normalize::normalize;
use self::since::{Families, MessageReads};
use super::transcode::{LIMIT_EXCEEDED, MAX_ELEMENTS};
use xdsctl_model::diag::{BytesKnowledge, Path, Validation, rules};
use xdsctl_model::profile::Profile;

rules! {
    /// A field is set that gRPC never reads.
    FIELD_IGNORED = "field-ignored", Common, Ignored, "no reader in src/core/xds of C-core 1.85.1";
    /// A field that changes what becomes of RPCs is set, and gRPC never reads it.
    BEHAVIOUR_FIELD_IGNORED = "behaviour-field-ignored", Common, Ignored as Warning, "no reader in src/core/xds of C-core 1.85.1",
        every "no client has a reader of these fields: not grpc-go since 1.60, grpc-java or grpc-js-xds";
    /// A field that restricts or secures traffic is set, and gRPC never reads it.
    SECURITY_FIELD_IGNORED = "security-field-ignored", Common, Ignored as Warning, "no reader in src/core/xds of C-core 1.85.1";
    /// A field that changes what becomes of RPCs is set, and the client that is asked does not read it: its version or a switch decides that.
    CLIENT_FIELD_IGNORED = "client-field-ignored", Common, Ignored as Warning, "the clients' sources, by version: docs/clients.md";
}

/// The number of levels of nested messages and groups that the client's parser accepts below the
/// message itself.
pub const MAX_DEPTH: u32 = 100;

/// The wire type that starts a group.
const START_GROUP: u8 = 3;

/// The greatest length that the client's parser accepts.
const MAX_LEN: u64 = i32::MAX as u64;

/// Why the client's parser rejects a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The bytes end inside a field.
    #[error("the bytes end inside a field")]
    Truncated,
    /// A tag, length or number is not a varint of allowed size.
    #[error("a tag, length or number is too long")]
    Varint,
    /// A tag has field number 0, or a wire type that does not exist.
    #[error("a tag has field number 0 or an unknown wire type")]
    Tag,
    /// A group ends without a start, or starts without an end.
    #[error("a group is not closed, or was never opened")]
    Group,
    /// A string is not UTF-8.
    #[error("a string is not valid UTF-8")]
    Utf8,
    /// Messages are nested more than [`MAX_DEPTH`] levels deep.
    #[error("messages are nested more than 100 levels deep")]
    Depth,
}

/// Checks the bytes of a `message` as the client's parser does. With `notes`, also reports the
/// fields that are set and never read.
///
/// Returns bytes that prost reads as the client reads the originals. They are the originals, unless
/// something (a known field with another wire type, elements beyond [`MAX_ELEMENTS`]) must be
/// removed.
///
/// # Errors
/// [`Malformed`] where the client's parser fails. The caller knows which rule this breaks.
pub fn check(
    bytes: &Bytes,
    message: &'static Message,
    notes: bool,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Result<Bytes, Malformed> {
    let mut walk = WireWalk::new(cx);
    let readers = walk
        .readers()
        .filter(|_| notes)
        .map(|reader| Families::of(reader.client().family));
    let told = readers.fold(Families::NONE, Families::any);
    walk.message(bytes, since::reads(message.index()), (at, None), MAX_DEPTH, told)?;
    if walk.odd {
        Ok(Bytes::from(normalize(bytes, message)))
    } else {
        Ok(bytes.clone())
    }
}

/// How a wire type fits a known field.
#[derive(PartialEq, Eq, Clone, Copy)]
enum Fit {
    /// One value.
    Single,
    /// Several scalar values in one packed run.
    Packed,
    /// The client treats it as an unknown field.
    Foreign,
}

/// Returns the wire type of a value of this kind.
pub fn wire_type_of(kind: Kind) -> u8 {
    match kind {
        Kind::Double | Kind::Fixed64 | Kind::Sfixed64 => 1,
        Kind::Float | Kind::Fixed32 | Kind::Sfixed32 => 5,
        Kind::String | Kind::Bytes | Kind::Message(_) => 2,
        Kind::Int32
        | Kind::Int64
        | Kind::Uint32
        | Kind::Uint64
        | Kind::Sint32
        | Kind::Sint64
        | Kind::Bool
        | Kind::Enum(_) => 0,
    }
}

fn fit(field: &Field, wire_type: u8) -> Fit {
    if matches!(field.cardinality, Cardinality::Map { .. }) {
        return if wire_type == 2 { Fit::Single } else { Fit::Foreign };
    }
    let own = wire_type_of(field.kind);
    if wire_type == own {
        Fit::Single
    } else if wire_type == 2 && matches!(field.cardinality, Cardinality::Repeated) {
        Fit::Packed
    } else {
        Fit::Foreign
    }
}

#[inline(always)]
fn utf8(bytes: &[u8]) -> Result<&str, Malformed> {
    std::str::from_utf8(bytes).map_err(|_| Malformed::Utf8)
}

/// Checks the contents of a packed run.
fn check_packed(kind: Kind, payload: &[u8]) -> Result<bool, Malformed> {
    match wire_type_of(kind) {
        1 if !payload.len().is_multiple_of(8) => Err(Malformed::Truncated),
        5 if !payload.len().is_multiple_of(4) => Err(Malformed::Truncated),
        0 => {
            let mut reader = WireReader { rest: payload };
            let mut overlong = false;
            while !reader.rest.is_empty() {
                overlong |= reader.varint(10)?.1;
            }
            Ok(overlong)
        }
        _ => Ok(false),
    }
}

struct WireWalk<'c, 'p> {
    /// The client for which unread fields are reported.
    reader: &'p Profile,
    /// Further clients for which unread fields are reported.
    beside: &'p [Profile],
    cx: &'c mut Validation<'p>,
    /// What is known of the bytes. If they are well-formed, the walk only looks for unread fields.
    known: BytesKnowledge,
    /// Whether there is something that prost would read differently from the client.
    odd: bool,
    /// Elements that other elements are compared with; `None` if every element must be walked.
    samples: Option<Samples>,
}

/// Counts how often each field of one message has occurred, for element indices.
#[derive(Default)]
struct FieldCounts {
    /// One bit for each field that has occurred.
    fields: u128,
    /// The position of the last field; `count` is the index of its last element.
    last: usize,
    count: usize,
    /// The number of the run of elements to which the last element belongs.
    list: usize,
    /// The number of elements of each field. Used once the elements of a field are not in one run.
    counts: Vec<usize>,
}

impl FieldCounts {
    /// Returns the index of the next element of the field at `position`. `before` is the bytes of
    /// the message before the element.
    fn index(&mut self, position: usize, message: &'static Message, before: &[u8]) -> usize {
        let bit = 1u128.checked_shl(position as u32).unwrap_or(0);
        let again = self.fields & bit != 0;
        self.fields |= bit;
        let mut index = if !again {
            0
        } else if self.last == position {
            self.count + 1
        } else {
            if self.counts.is_empty() {
                self.counts = elements(before, message);
            }
            0
        };
        if let Some(count) = self.counts.get_mut(position) {
            index = *count;
            *count += 1;
        }
        (self.last, self.count) = (position, index);
        index
    }
}

impl<'c, 'p> WireWalk<'c, 'p> {
    fn new(cx: &'c mut Validation<'p>) -> Self {
        let known = cx.known();
        let (reader, beside) = cx.readers();
        WireWalk {
            reader,
            beside,
            // If nothing is known of the bytes, every element must be checked.
            samples: (known >= BytesKnowledge::WellFormed && cx.is_packing()).then(Samples::default),
            cx,
            known,
            odd: false,
        }
    }

    /// Returns the clients for which unread fields are reported, each of another family.
    fn readers(&self) -> impl Iterator<Item = &Profile> {
        std::iter::once(self.reader).chain(self.beside)
    }

    /// Returns the families among `told` that read the field at this position of its message.
    fn reading(&self, told: Families, reads: &MessageReads, position: usize, field: &Field) -> Families {
        let reading = told.both(Families::reading(field));
        if !reads.depends_on_version(position) {
            return reading;
        }
        let lacks = |reader: &&Profile| reading.has(reader.client().family) && reads.lacks(reader, field);
        let lacking = self.readers().filter(lacks);
        lacking.fold(reading, |set, reader| set.without(Families::of(reader.client().family)))
    }

    /// Walks a message. Unread fields are reported for the families `told`; inside a field that is
    /// itself unread, these are none. An element comes with the number of its list.
    fn message(
        &mut self,
        bytes: &[u8],
        reads: &'static MessageReads,
        (at, list): (&Path<'_>, Option<usize>),
        depth: u32,
        told: Families,
    ) -> Result<(), Malformed> {
        let message = reads.message;
        let told = told.both(reads.concerned(bytes.len(), self.known));
        if self.known >= BytesKnowledge::WellFormed && told == Families::NONE {
            self.leave_out(bytes);
            return Ok(());
        }
        let mut reader = WireReader { rest: bytes };
        let mut seen = FieldCounts::default();
        let mut start = 0;
        while let Some(raw) = reader.next(depth)? {
            let before = std::mem::replace(&mut start, bytes.len() - reader.rest.len());
            // Both parsers skip a group, but prost checks the field numbers in it.
            self.odd |= raw.wire_type == START_GROUP;
            let Some((position, field)) = lookup(message, raw.number, &seen) else {
                continue;
            };
            let fit = fit(field, raw.wire_type);
            if fit == Fit::Foreign {
                self.odd |= field.generated;
                continue;
            }
            self.odd |= raw.overlong;
            let last = seen.last;
            let index = seen.index(position, message, bytes.get(..before).unwrap_or_default());
            let reading = self.reading(told, reads, position, field);
            if reading != told && index == 0 {
                self.note(told.without(reading), (reads, field), raw.payload, (at, list));
            }
            // A family that decodes a message that C-core was built without knows all of its
            // fields.
            if !field.known_to_client && message.known_to_client {
                continue;
            }
            if fit == Fit::Packed {
                self.odd |= check_packed(field.kind, raw.payload)?;
                continue;
            }
            if is_beyond(field, index) {
                self.beyond(field, index, at);
                continue;
            }
            let told = if field.read { reading } else { Families::NONE };
            if index == 0 || last != position {
                seen.list = self.cx.new_list();
            }
            self.value(&raw, field, (index, seen.list), at, depth, told)?;
        }
        Ok(())
    }

    /// Checks one value of a known field.
    fn value(
        &mut self,
        raw: &Raw<'_>,
        field: &'static Field,
        (index, list): (usize, usize),
        at: &Path<'_>,
        depth: u32,
        told: Families,
    ) -> Result<(), Malformed> {
        match (field.cardinality, field.kind) {
            (Cardinality::Map { key, value }, _) => self.entry(raw.payload, field, key, value, at, depth, told),
            (_, Kind::String) if self.known >= BytesKnowledge::WellFormed => {
                self.leave_out(raw.payload);
                Ok(())
            }
            (_, Kind::String) => utf8(raw.payload).map(drop),
            (cardinality, Kind::Message(m)) => {
                let depth = depth.checked_sub(1).ok_or(Malformed::Depth)?;
                let sub = since::reads(m);
                let here = at.field(field.name);
                if cardinality == Cardinality::Repeated {
                    self.element(raw.payload, sub, (&here.index(index), list), depth, told)
                } else {
                    // The client merges both values, but prost keeps only the last one of a field
                    // kept as bytes.
                    self.odd |= sub.message.lazy && index > 0;
                    self.message(raw.payload, sub, (&here, None), depth, told)
                }
            }
            _ => {
                self.leave_out(raw.payload);
                Ok(())
            }
        }
    }

    /// Walks an element of the list with this number. Skips the walk if a similar element was
    /// walked.
    fn element(
        &mut self,
        bytes: &[u8],
        reads: &'static MessageReads,
        (at, list): (&Path<'_>, usize),
        depth: u32,
        told: Families,
    ) -> Result<(), Malformed> {
        let told = told.both(reads.concerned(bytes.len(), self.known));
        let samples = self.samples.as_mut().filter(|samples| samples.are_for(bytes));
        let Some(samples) = samples.filter(|_| told != Families::NONE) else {
            return self.message(bytes, reads, (at, Some(list)), depth, told);
        };
        if let Some(pattern) = samples.like(bytes, reads.message, told)
            && self.cx.repeat_fields(pattern, (at, list))
        {
            return Ok(());
        }
        samples.open(bytes, reads.message, told);
        let mark = self.cx.mark_fields();
        let walked = self.message(bytes, reads, (at, Some(list)), depth, told);
        let pattern = self.cx.fields_since(mark, at).filter(|_| walked.is_ok() && !self.odd);
        self.samples.iter_mut().for_each(|samples| samples.close(pattern));
        walked
    }

    /// See [`Samples::leave_out`].
    #[inline(always)]
    fn leave_out(&mut self, payload: &[u8]) {
        if let Some(samples) = &mut self.samples {
            samples.leave_out(payload);
        }
    }

    /// Checks a map entry, which is a message of its own on the wire.
    #[expect(clippy::too_many_arguments, reason = "a map field has two kinds")]
    fn entry(
        &mut self,
        bytes: &[u8],
        field: &'static Field,
        key: Kind,
        value: Kind,
        at: &Path<'_>,
        depth: u32,
        told: Families,
    ) -> Result<(), Malformed> {
        let depth = depth.checked_sub(1).ok_or(Malformed::Depth)?;
        let mut name = "";
        let mut reader = WireReader { rest: bytes };
        while let Some(raw) = reader.next(depth)? {
            let kind = match raw.number {
                1 => key,
                2 => value,
                _ => {
                    self.odd = true;
                    continue;
                }
            };
            if raw.wire_type != wire_type_of(kind) {
                self.odd = true;
                continue;
            }
            self.odd |= raw.overlong;
            if kind == Kind::String {
                let text = utf8(raw.payload)?;
                if raw.number == 1 {
                    name = text;
                }
            }
            if let Kind::Message(m) = kind {
                let depth = depth.checked_sub(1).ok_or(Malformed::Depth)?;
                let sub = since::reads(m);
                let map = at.field(field.name);
                self.message(raw.payload, sub, (&map.key(name), None), depth, told)?;
            }
        }
        Ok(())
    }

    /// Reports, at the first element beyond the limit, that the list or map is too long.
    #[cold]
    fn beyond(&mut self, field: &'static Field, index: usize, at: &Path<'_>) {
        self.odd = true;
        if index == MAX_ELEMENTS {
            let name = field.name;
            let message = format_args!("`{name}` has more than {MAX_ELEMENTS} elements, the others are not checked");
            self.cx.report_as(LIMIT_EXCEEDED.effect, &LIMIT_EXCEEDED, at, message);
        }
    }

    #[cold]
    fn note(
        &mut self,
        unaware: Families,
        (reads, field): (&'static MessageReads, &'static Field),
        payload: &[u8],
        at: (&Path<'_>, Option<usize>),
    ) {
        let is_off = missed::is_off(field, payload);
        // A field takes more than one byte of memory, so adding one never gives the number of
        // another field.
        let kind = std::ptr::from_ref(field).addr() + usize::from(is_off);
        let say = |reader: &Profile| match reads.unread(reader, field) {
            Some(text) => (&CLIENT_FIELD_IGNORED, text.into(), None),
            None => words::of((reads, field), is_off, reader),
        };
        let is_unaware = |reader: &Profile| u8::from(unaware.has(reader.client().family));
        let unaware = self.readers().zip(0..);
        let clients = unaware.fold(0, |clients, (reader, number)| clients | is_unaware(reader) << number);
        self.cx.report_field((kind, clients), field.name, at, say);
    }
}

/// Says whether the element at `index` of a list or map is beyond the limit. Without a limit, two
/// bytes on the wire could take a hundred in memory.
fn is_beyond(field: &Field, index: usize) -> bool {
    index >= MAX_ELEMENTS && field.cardinality != Cardinality::Singular
}

/// Finds a field by number. Tries the last field seen and its successor first.
fn lookup(message: &'static Message, number: u32, seen: &FieldCounts) -> Option<(usize, &'static Field)> {
    for position in [seen.last, seen.last + 1] {
        if let Some(field) = message.fields.get(position)
            && field.number == number
        {
            return Some((position, field));
        }
    }
    let position = message.fields.binary_search_by_key(&number, |f| f.number).ok()?;
    message.fields.get(position).map(|f| (position, f))
}

/// Counts the elements of each field of a message, for the rare message in which the elements of a
/// field are not in one run.
#[cold]
fn elements(bytes: &[u8], message: &'static Message) -> Vec<usize> {
    let mut counts = vec![0; message.fields.len()];
    let mut reader = WireReader { rest: bytes };
    let seen = FieldCounts::default();
    while let Ok(Some(raw)) = reader.next(MAX_DEPTH) {
        if let Some((position, field)) = lookup(message, raw.number, &seen)
            && fit(field, raw.wire_type) != Fit::Foreign
            && let Some(count) = counts.get_mut(position)
        {
            *count += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests;
