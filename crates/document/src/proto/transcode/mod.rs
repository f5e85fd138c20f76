//! Transcodes protobuf JSON to wire format in one pass, with the descriptor tables.
//!
//! Each key of the text is looked up, and its value is checked against the field's type and
//! written. No tree is built. A key or value that cannot be used (an unknown field, a wrong type, a
//! duplicate key) becomes a [`Note`], and reading goes on. Only broken JSON ends a message. Both
//! spellings of a name are accepted, key by key.
//!
//! More is accepted than protobuf's own JSON, where xDS needs it. Durations may be out of range and
//! may be objects. An `Any` of an unknown type is kept as it is
//! ([`any::OPAQUE`](super::any::OPAQUE)). `[redacted]` is a value of any type. `@value` holds the
//! bytes of a message, as grpcurl prints them.
//!
//! Lengths are written as varints padded to 4 bytes, so that no byte moves twice. Every protobuf
//! parser accepts that, but such bytes must not be compared or hashed.

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

/// The largest resource that is read, in bytes on the wire: 256 MiB - 1, the most that a padded
/// length can express.
pub const MAX_RESOURCE_BYTES: usize = (1 << 28) - 1;

/// The number of levels of messages that are read below a resource or an `Any`. The client accepts
/// 100 and rejects deeper messages. Levels beyond this number are left out, which does not change
/// the verdict.
pub const MAX_LEVELS: u32 = 128;

/// The total number of levels of messages that are read, through every nested `Any`. An `Any` below
/// them is kept as text.
pub const MAX_TOTAL_LEVELS: u32 = 256;

/// The number of elements of one list, or entries of one map, that are read.
pub const MAX_ELEMENTS: usize = 200_000;

/// The number of values in the Structs of a resource that are read. A value that is an object takes
/// about a kilobyte of memory for seven characters of text.
pub const MAX_STRUCT_VALUES: usize = 100_000;

/// The number of unknown names in one text for which the most similar known name is looked up. A
/// document with more of them was made for other protos, and comparing names is slow.
const MAX_SUGGESTIONS: usize = 1000;

/// How much of the text may be read ahead in search of an `@type` that is not the first key, as a
/// multiple of its length.
const LOOKAHEAD: usize = 8;

/// Options for reading a message from JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TranscodeOptions {
    /// Whether a number or a literal is read as the text of a string field, as in YAML `version:
    /// 1.10`. Default: no.
    pub bare_strings: bool,
    /// Whether `{"@wire": "base64"}` is read as a message given by its bytes. Views of other
    /// formats have such objects where JSON cannot express the message.
    pub wire_objects: bool,
    /// The largest resource, in bytes on the wire. The default is the maximum,
    /// [`MAX_RESOURCE_BYTES`].
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
    /// The message has more than [`TranscodeOptions::max_resource_bytes`]. Holds the offset in the
    /// text at which it became too large.
    TooLarge(usize),
}

impl From<Syntax> for TranscodeStop {
    fn from(syntax: Syntax) -> Self {
        TranscodeStop::Syntax(syntax)
    }
}

/// The wire bytes of one message, and the notes on it.
#[derive(Debug)]
pub struct Transcoded {
    /// The wire bytes of the message. If reading stopped early, they end there.
    pub bytes: Vec<u8>,
    /// What was left out of the message and why, in the order of the text.
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

/// Reads a message of the type `type_name`; see [`json`]. Returns `None` if the type is not known.
pub fn named(text: &[u8], type_name: &str) -> Option<Transcoded> {
    Some(json(text, tables::message(type_name)?, TranscodeOptions::default()))
}

type Result<T> = std::result::Result<T, TranscodeStop>;

/// Reads one message after the other from a text.
#[derive(Debug)]
pub struct Transcoder<'t> {
    /// The position in the text. A caller may move it between messages.
    pub scan: Scanner<'t>,
    /// The bytes of the document behind the text, if the text refers to messages by their offsets
    /// in it.
    pub document: &'t [u8],
    out: Vec<u8>,
    /// What was left out of the messages so far, and why.
    pub notes: Vec<Note>,
    /// Whether gRPC does not read the current field, or a field around it.
    is_unread: bool,
    quota: Quota,
    /// The offset in the text at which the message begins.
    first: usize,
    /// A place for a note that is not kept.
    spare: Vec<Note>,
    /// What is known of the last message's bytes without decoding them.
    pub known: BytesKnowledge,
    /// Whether the text names the last message without holding it.
    pub is_lost: bool,
    pub(crate) options: TranscodeOptions,
    repeats: repeat::Repeats,
    /// How often bytes were taken away or cut off. Offsets in `out` are valid only while it is the
    /// same.
    output: u32,
    /// The type of the resource that is being read.
    root: Option<&'static Message>,
    scratch: Vec<u8>,
    /// The offset in `out` at which the current resource starts.
    base: usize,
    /// The number of levels of messages below the resource or the innermost `Any`.
    level: u32,
    /// The total number of levels of messages.
    total: u32,
    /// How many bytes may still be read ahead.
    lookahead: usize,
    /// How many values could not be used so far.
    rejected: usize,
    /// How many values were in the Structs of the current resource so far.
    struct_values: usize,
    /// The most similar known name for each unknown name so far, by the type in which it was looked
    /// up.
    suggestions: HashMap<(&'static str, String), Option<&'static str>>,
}

impl<'t> Transcoder<'t> {
    /// Returns a transcoder at the first byte of `text`.
    pub fn new(text: &'t [u8], mut options: TranscodeOptions) -> Self {
        options.max_resource_bytes = options.max_resource_bytes.min(MAX_RESOURCE_BYTES);
        Transcoder {
            scan: Scanner::new(text),
            document: b"",
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
            scratch: Vec::new(),
            base: 0,
            level: 0,
            total: 0,
            lookahead: text.len().saturating_mul(LOOKAHEAD).saturating_add(1 << 20),
            rejected: 0,
            struct_values: 0,
            suggestions: HashMap::new(),
        }
    }

    /// Announces that about `bytes` bytes will be read. For a small number, repetitions are not
    /// recorded.
    pub const fn expect(&mut self, bytes: usize) {
        if bytes < repeat::WORTHWHILE {
            self.repeats.turn_off();
        }
    }

    /// Reads one message of a known type, and appends its bytes to `out`.
    ///
    /// # Errors
    /// The text is not JSON, or the message is too large. `out` then ends with a part of the
    /// message.
    pub fn message_named(&mut self, message: &'static Message) -> Result<()> {
        self.base = self.out.len();
        self.restart();
        self.root = Some(message);
        self.message(message.index(), &Path::ROOT).map(drop)
    }

    /// Returns how many bytes were written and not yet taken away.
    pub const fn written(&self) -> usize {
        self.out.len()
    }

    /// Takes all bytes that were written. `capacity` is how many bytes to expect next.
    pub fn take_written(&mut self, capacity: usize) -> Vec<u8> {
        self.output = self.output.wrapping_add(1);
        std::mem::replace(&mut self.out, Vec::with_capacity(capacity))
    }

    /// Removes the bytes that were written from `start` on.
    #[cold]
    pub fn cut(&mut self, start: usize) {
        self.output = self.output.wrapping_add(1);
        self.out.truncate(start);
    }

    /// Lowers what is known of the bytes to at most `known`.
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
        self.quota.clear();
        self.first = self.scan.pos();
        self.is_unread = false;
    }

    /// Takes the notes since the last message. Adds a note at `whole` for each rule that had more
    /// notes than are kept.
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

    /// Writes the tag of a message and room for its length. Returns the offset of the length.
    #[inline(always)]
    fn open_field(&mut self, number: u32) -> usize {
        self.tag(number, 2);
        let length = self.out.len();
        self.out.extend_from_slice(&[0; 4]);
        length
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

    /// Fills in the length of the message that [`open_field`](Self::open_field) began.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "seven bits each")]
    fn close(&mut self, at: usize) -> Result<()> {
        let length = self.out.len() - at - 4;
        if self.out.len() - self.base > self.options.max_resource_bytes {
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

    /// Checks that `bytes` more bytes are within the limit.
    #[inline(always)]
    fn room_for(&self, bytes: usize) -> Result<()> {
        if self.out.len() - self.base + bytes > self.options.max_resource_bytes {
            return Err(TranscodeStop::TooLarge(self.scan.pos()));
        }
        Ok(())
    }

    /// Writes a field with the length and the bytes of its value.
    #[inline(always)]
    fn bytes(&mut self, number: u32, bytes: &[u8]) -> Result<()> {
        self.room_for(bytes.len())?;
        self.tag(number, 2);
        self.varint(bytes.len() as u64);
        self.out.extend_from_slice(bytes);
        Ok(())
    }

    /// Returns the name among `known` that is most similar to an unknown name of `type_name`.
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

    /// Counts the value if it is a Struct or a Value. Says whether the resource has too many of
    /// them.
    #[inline(always)]
    fn is_beyond_struct_values(&mut self, kind: Kind) -> bool {
        let Kind::Message(index) = kind else { return false };
        if matches!(descriptor(index).well_known, WellKnown::Struct | WellKnown::Value) {
            self.struct_values += 1;
        }
        self.struct_values > MAX_STRUCT_VALUES
    }

    /// Skips the rest of a list or object that ends with `close`, and notes that it exceeds a
    /// limit.
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

    /// Adds a note on the text from `start` to the scanner.
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

/// Returns the descriptor of a message type by index. The index must be one of the tables.
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
