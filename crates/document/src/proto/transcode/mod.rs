//! Protobuf JSON to wire format in one pass, driven by the descriptor tables.
//!
//! Each key of the text is looked up, its value checked against the field's type and written; no
//! tree is built. What cannot be used (an unknown field, a wrong type, a duplicate key) becomes a
//! [`Note`] and the rest is read on; only broken JSON ends a message. Both spellings of a name are
//! accepted, key by key.
//!
//! Wider than protobuf's own JSON where xDS needs it: Durations may be out of range and may be
//! objects, an `Any` of an unknown type is kept as it is ([`any::OPAQUE`](super::any::OPAQUE)),
//! `[redacted]` is a value of any type, and `@value` holds the bytes of a message, as grpcurl
//! prints them.
//!
//! Lengths are written as varints padded to 4 bytes, so that no byte moves twice. Every reader
//! takes that, but such bytes must not be compared or hashed.

mod any;
mod fault;
mod map;
mod message;
mod note;
mod repeat;
mod scalar;
mod well_known;

pub use any::TypeUrl;
pub use note::SYNTAX;
pub use note::clip;
pub use note::{BAD_VALUE, DUPLICATE_KEY, LIMIT_EXCEEDED, MISSPELT_TYPE, UNKNOWN_ENUM_VALUE, UNKNOWN_FIELD};
pub use note::{Note, RULES};
pub use scalar::decode_base64;

use std::collections::HashMap;

use xdsctl_proto::tables::{self, Kind, Message, WellKnown};

use crate::source::Span;
use crate::source::json::{Scanner, Syntax};
use xdsctl_model::diag::{BytesKnowledge, Path, Quota, Rule};

/// Largest resource that is read, in bytes on the wire: what a padded length can say, 256 MiB - 1.
pub const MAX_RESOURCE_BYTES: usize = (1 << 28) - 1;

/// Levels of messages that are read below a resource or an `Any`. The client takes 100, and rejects
/// what has more; deeper ones are left out here, after the client's limit is passed.
pub const MAX_LEVELS: u32 = 128;

/// Levels of messages that are read in all, through every nested `Any`. One beyond is kept unread.
pub const MAX_TOTAL_LEVELS: u32 = 256;

/// Elements that are read of one list, and entries of one map.
pub const MAX_ELEMENTS: usize = 200_000;

/// Values inside of the Structs of a resource that are read: one that is an object takes about a
/// kilobyte in memory, and seven characters of text.
pub const MAX_STRUCT_VALUES: usize = 100_000;

/// Different misspelt names for which the nearest known one is looked up, in one text. A document
/// with more was made for other protos, and comparing names is slow.
const MAX_SUGGESTIONS: usize = 1000;

/// How often the text may be read ahead for an `@type` that is not the first key, as a multiple of
/// its length.
const LOOKAHEAD: usize = 8;

/// Strings up to this many bytes are copied in one piece of that size.
const SHORT: usize = 32;

/// How a message is read from JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TranscodeOptions {
    /// A number or a literal is taken as the text of a string field, as in YAML `version: 1.10`.
    /// Default: no.
    pub bare_strings: bool,
    /// `{"@wire": "base64"}` is a message by its bytes, as views of other formats write what JSON
    /// cannot say.
    pub wire_objects: bool,
    /// Largest resource in bytes on the wire; no more than [`MAX_RESOURCE_BYTES`], which is the
    /// default.
    pub max_resource_bytes: usize,
}

impl Default for TranscodeOptions {
    fn default() -> Self {
        TranscodeOptions {
            bare_strings: false,
            wire_objects: false,
            max_resource_bytes: MAX_RESOURCE_BYTES,
        }
    }
}

/// Why a message cannot be read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TranscodeStop {
    /// The text is not JSON.
    Syntax(Syntax),
    /// The message has more than [`TranscodeOptions::max_resource_bytes`]; where it got too large.
    TooLarge(usize),
}

impl From<Syntax> for TranscodeStop {
    fn from(syntax: Syntax) -> Self {
        TranscodeStop::Syntax(syntax)
    }
}

/// The wire bytes of one message, and what was noticed on the way.
#[derive(Debug)]
pub struct Transcoded {
    /// Its wire bytes; as far as they were written if the text ended early.
    pub bytes: Vec<u8>,
    /// What was left out and why, in the order of the text.
    pub notes: Vec<Note>,
    /// Where and why reading stopped early.
    pub stop: Option<TranscodeStop>,
}

/// Reads a text that holds one message of type `message`.
///
/// ```
/// use xdsctl_document::proto::transcode::{TranscodeOptions, json};
/// let cluster = xdsctl_document::proto::pb::tables::message("envoy.config.cluster.v3.Cluster").unwrap();
/// let read = json(br#"{"name": "a", "connectTimeout": "5s", "lb_polcy": 1}"#, cluster, TranscodeOptions::default());
/// assert_eq!(read.bytes, b"\x0a\x01a\x22\x82\x80\x80\x00\x08\x05");
/// assert_eq!(read.notes[0].diagnostic.message, "unknown field `lb_polcy` of Cluster");
/// ```
pub fn json(text: &[u8], message: &'static Message, options: TranscodeOptions) -> Transcoded {
    let mut transcoder = Transcoder::new(text, options);
    let result = transcoder.message_named(message);
    let stop = result.err().or_else(|| {
        if transcoder.scan.at_end() {
            return None;
        }
        transcoder
            .scan
            .error::<()>("unexpected text after the value")
            .err()
            .map(TranscodeStop::Syntax)
    });
    let notes = transcoder.take_notes(Span::new(0, text.len().min(1)));
    Transcoded {
        bytes: transcoder.out,
        notes,
        stop,
    }
}

/// Reads a message of the type of this name, see [`json`]; `None` for a type that is not known.
pub fn named(text: &[u8], type_name: &str) -> Option<Transcoded> {
    Some(json(text, tables::message(type_name)?, TranscodeOptions::default()))
}

type Result<T> = std::result::Result<T, TranscodeStop>;

/// Reads messages out of one text, one after the other.
#[derive(Debug)]
pub struct Transcoder<'t> {
    /// The place in the text; a caller may move it between messages.
    pub scan: Scanner<'t>,
    /// The document that the text is a view of, if messages stand in it by their places.
    pub document: &'t [u8],
    out: Vec<u8>,
    /// What was left out of the messages so far.
    pub notes: Vec<Note>,
    /// The field at hand, or one around it, is none that gRPC reads.
    is_unread: bool,
    quota: Quota,
    /// Where the message begins.
    first: usize,
    /// A note that is not kept.
    spare: Vec<Note>,
    /// What is known of the bytes of the last message.
    pub known: BytesKnowledge,
    /// The text names the last message and does not hold it.
    pub is_lost: bool,
    options: TranscodeOptions,
    limit: usize,
    repeats: repeat::Repeats,
    /// Counts the outputs: how often bytes have been taken away or cut off.
    output: u32,
    /// The type of the resource that is being read.
    root: Option<&'static Message>,
    types: any::Types,
    scratch: Vec<u8>,
    /// Where the resource that is being written starts in `out`.
    base: usize,
    /// Levels of messages below the resource or the innermost `Any`.
    level: u32,
    /// Levels of messages in all.
    total: u32,
    /// Bytes that may still be read ahead.
    lookahead: usize,
    /// Names of the entries of the maps that are open.
    map_keys: Vec<Span>,
    /// How many values could not be used.
    rejected: usize,
    /// Values inside of Structs so far.
    struct_values: usize,
    /// Nearest known names of the unknown ones so far, by the type that they were looked up in.
    suggestions: HashMap<(&'static str, String), Option<&'static str>>,
}

impl<'t> Transcoder<'t> {
    /// Starts at the first byte of `text`.
    pub fn new(text: &'t [u8], options: TranscodeOptions) -> Self {
        Transcoder {
            scan: Scanner::new(text),
            document: b"",
            limit: options.max_resource_bytes.min(MAX_RESOURCE_BYTES),
            out: Vec::new(),
            notes: Vec::new(),
            is_unread: false,
            quota: Quota::default(),
            first: 0,
            spare: Vec::new(),
            known: BytesKnowledge::Nothing,
            is_lost: false,
            options,
            repeats: repeat::Repeats::new(),
            output: 0,
            root: None,
            types: any::Types::new(),
            scratch: Vec::new(),
            base: 0,
            level: 0,
            total: 0,
            lookahead: text.len().saturating_mul(LOOKAHEAD).saturating_add(1 << 20),
            map_keys: Vec::new(),
            rejected: 0,
            struct_values: 0,
            suggestions: HashMap::new(),
        }
    }

    /// About so many bytes are going to be read. Of few nothing is kept to be repeated.
    pub const fn expect(&mut self, bytes: usize) {
        if bytes < repeat::WORTHWHILE {
            self.repeats.turn_off();
        }
    }

    /// Reads one message of a type that the caller knows; appends its bytes to `out`.
    ///
    /// # Errors
    /// The text is not JSON, or the message is too large. `out` then ends with a part of it.
    pub fn message_named(&mut self, message: &'static Message) -> Result<()> {
        self.base = self.out.len();
        self.restart();
        self.root = Some(message);
        self.message(message.index(), &Path::ROOT).map(drop)
    }

    /// How many bytes have been written and not taken away.
    pub const fn written(&self) -> usize {
        self.out.len()
    }

    /// Takes away all that has been written; `capacity` is how many bytes to expect next.
    pub fn take_written(&mut self, capacity: usize) -> Vec<u8> {
        self.output = self.output.wrapping_add(1);
        std::mem::replace(&mut self.out, Vec::with_capacity(capacity))
    }

    /// Takes back what was written from `start` on.
    #[cold]
    pub fn cut(&mut self, start: usize) {
        self.output = self.output.wrapping_add(1);
        self.out.truncate(start);
    }

    /// No more than `known` is known of the bytes from now on.
    #[inline(always)]
    fn at_most(&mut self, known: BytesKnowledge) {
        self.known = self.known.min(known);
    }

    fn restart(&mut self) {
        self.repeats.prepare();
        self.known = BytesKnowledge::Plain;
        self.is_lost = false;
        (self.level, self.total) = (0, 0);
        self.struct_values = 0;
        self.map_keys.clear();
        self.quota.clear();
        self.first = self.scan.pos();
        self.is_unread = false;
    }

    /// The notes since the last message, with one for each rule that had more than are kept; those
    /// stand at `whole`.
    pub fn take_notes(&mut self, whole: Span) -> Vec<Note> {
        let mut notes = std::mem::take(&mut self.notes);
        let closing = self.quota.closing();
        notes.extend(closing.map(|diagnostic| Note {
            diagnostic,
            span: whole,
        }));
        notes
    }

    /// Writes a tag.
    #[inline(always)]
    fn tag(&mut self, number: u32, wire_type: u32) {
        self.varint(u64::from(number << 3 | wire_type));
    }

    /// Writes the tag of a message with room for its length, and returns where that is.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "one byte each")]
    fn open_field(&mut self, number: u32) -> usize {
        let tag = number << 3 | 2;
        if tag < 0x80 {
            self.out.extend_from_slice(&[tag as u8, 0, 0, 0, 0]);
        } else if tag < 0x4000 {
            self.out
                .extend_from_slice(&[tag as u8 | 0x80, (tag >> 7) as u8, 0, 0, 0, 0]);
        } else {
            self.varint(u64::from(tag));
            self.out.extend_from_slice(&[0; 4]);
        }
        self.out.len() - 4
    }

    #[inline(always)]
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            #[expect(clippy::cast_possible_truncation, reason = "the low seven bits")]
            self.out.push(value as u8 | 0x80);
            value >>= 7;
        }
        #[expect(clippy::cast_possible_truncation, reason = "below 0x80")]
        self.out.push(value as u8);
    }

    /// Fills in the length of what was written since [`open_field`](Self::open_field).
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "seven bits each")]
    fn close(&mut self, at: usize) -> Result<()> {
        let length = self.out.len() - at - 4;
        if self.out.len() - self.base > self.limit {
            return Err(TranscodeStop::TooLarge(self.scan.pos()));
        }
        if let Some(room) = self.out.get_mut(at..).and_then(<[u8]>::first_chunk_mut::<4>) {
            *room = [
                length as u8 | 0x80,
                (length >> 7) as u8 | 0x80,
                (length >> 14) as u8 | 0x80,
                (length >> 21) as u8 & 0x7f,
            ];
        }
        Ok(())
    }

    /// Checks that so many more bytes are within the limit.
    #[inline(always)]
    fn room_for(&self, bytes: usize) -> Result<()> {
        if self.out.len() - self.base + bytes > self.limit {
            return Err(TranscodeStop::TooLarge(self.scan.pos()));
        }
        Ok(())
    }

    /// Writes bytes with their length.
    #[inline(always)]
    fn bytes(&mut self, number: u32, bytes: &[u8]) -> Result<()> {
        self.room_for(bytes.len())?;
        self.tag(number, 2);
        self.varint(bytes.len() as u64);
        self.out.extend_from_slice(bytes);
        Ok(())
    }

    /// Writes a part of the text with its length.
    #[inline(always)]
    fn text(&mut self, number: u32, start: usize, end: usize) -> Result<()> {
        let len = end - start;
        let tag = number << 3 | 2;
        if let Some(chunk) = self.scan.chunk::<SHORT>(start)
            && len <= SHORT
            && tag < 0x80
        {
            self.room_for(len)?;
            // A copy of fixed size is much faster than one of any size, even if half of it is for
            // nothing.
            #[expect(clippy::cast_possible_truncation, reason = "both are below 0x80")]
            self.out.extend_from_slice(&[tag as u8, len as u8]);
            let start = self.out.len();
            self.out.extend_from_slice(chunk);
            self.out.truncate(start + len);
            return Ok(());
        }
        self.bytes(number, self.scan.slice(start, end))
    }

    /// The known name of `type_name` that is nearest to a misspelt one.
    #[cold]
    fn suggest(
        &mut self,
        type_name: &'static str,
        name: &str,
        known: impl Iterator<Item = &'static str>,
    ) -> Option<&'static str> {
        let key = (type_name, name.to_owned());
        if let Some(nearest) = self.suggestions.get(&key) {
            return *nearest;
        }
        if self.suggestions.len() >= MAX_SUGGESTIONS {
            return None;
        }
        let nearest = xdsctl_model::text::nearest(name, known);
        self.suggestions.insert(key, nearest);
        nearest
    }

    /// Counts a value of this kind if it is, or stands in, a Struct; says whether there are too
    /// many.
    #[inline(always)]
    fn is_beyond_struct_values(&mut self, kind: Kind) -> bool {
        let Kind::Message(index) = kind else { return false };
        if matches!(descriptor(index).well_known, WellKnown::Struct | WellKnown::Value) {
            self.struct_values += 1;
        }
        self.struct_values > MAX_STRUCT_VALUES
    }

    /// Notes that what follows is more than a limit allows, and passes over it; `close` ends the
    /// list or object.
    #[cold]
    fn pass_over(&mut self, close: u8, message: String) -> Result<()> {
        let start = self.scan.pos();
        loop {
            if close == b'}' {
                self.scan.key()?;
            }
            self.scan.skip_value()?;
            if !self.scan.more(close)? {
                break;
            }
        }
        self.note(&LIMIT_EXCEEDED, &Path::ROOT, start, message);
        Ok(())
    }

    /// Notes something at `start`, up to where the scanner stands.
    #[cold]
    fn note(&mut self, rule: &'static Rule, at: &Path<'_>, start: usize, message: String) -> &mut Note {
        let span = Span::new(start, self.scan.pos());
        self.quota.fit(span.end.saturating_sub(self.first));
        if !self.quota.admits(rule) {
            self.spare.clear();
            return Note::push(&mut self.spare, rule, &Path::ROOT, span, message);
        }
        Note::push(&mut self.notes, rule, at, span, message)
    }
}

/// The descriptor of a message type by index; the tables are consistent.
fn descriptor(index: u16) -> &'static Message {
    tables::MESSAGES
        .get(usize::from(index))
        .expect("the tables refer to each other by index")
}

/// Says whether `null` is a value of this type rather than an absent field.
fn takes_null(kind: Kind) -> bool {
    match kind {
        Kind::Message(index) => descriptor(index).well_known == WellKnown::Value,
        Kind::Enum(index) => tables::ENUMS
            .get(usize::from(index))
            .is_some_and(|item| item.full_name == "google.protobuf.NullValue"),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
