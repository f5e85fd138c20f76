//! Reads `google.protobuf.Any`, whose `@type` decides how its other keys are read, and whole
//! resources.

use xdsctl_proto::named;
use xdsctl_proto::tables::{self, Message, WellKnown};

use super::fault::short;
use super::note::{ANY_WITHOUT_TYPE, BAD_VALUE, LIMIT_EXCEEDED, MISSPELT_TYPE, UNKNOWN_ANY_TYPE};
use super::repeat::Place;
use super::{MAX_TOTAL_LEVELS, Result, Transcoder, clip};
use crate::proto::any::OPAQUE;
use crate::source::Span;
use crate::source::json::Str;
use xdsctl_model::diag::{BytesKnowledge, Path};
use xdsctl_model::text;

/// Where an object has its `@type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypeUrl {
    /// `@type` is the first key. The scanner is behind its value.
    First(Span),
    /// `@type` is a later key. The scanner is at the opening brace.
    Later(Span),
    /// There is no `@type`. The scanner is at the opening brace.
    Missing,
    /// The object is empty. The scanner is at the opening brace.
    Empty,
}

impl<'t> Transcoder<'t> {
    /// Looks for `@type` in the object at the scanner.
    ///
    /// # Errors
    /// The text up to the `@type` is not JSON.
    pub fn type_url(&mut self) -> Result<TypeUrl> {
        if self.scan.peek() != b'{' {
            return Ok(TypeUrl::Missing);
        }
        let start = self.scan.pos();
        if !self.scan.open(b'}')? {
            self.scan.set_pos(start);
            return Ok(TypeUrl::Empty);
        }
        let key = self.scan.key()?;
        if *self.resolved(key) == *b"@type" && self.scan.peek() == b'"' {
            let url = self.scan.string()?;
            return Ok(TypeUrl::First(Span::new(url.start, url.end)));
        }
        let found = self.type_url_later();
        let passed = self.scan.pos() - start;
        self.scan.set_pos(start);
        self.lookahead = self.lookahead.saturating_sub(passed);
        Ok(match found? {
            Some(url) => TypeUrl::Later(Span::new(url.start, url.end)),
            None => TypeUrl::Missing,
        })
    }

    #[cold]
    fn type_url_later(&mut self) -> Result<Option<Str>> {
        if self.lookahead == 0 {
            return Ok(None);
        }
        loop {
            self.scan.skip_value()?;
            if !self.scan.more(b'}')? {
                return Ok(None);
            }
            let key = self.scan.key()?;
            if *self.resolved(key) == *b"@type" && self.scan.peek() == b'"' {
                return Ok(Some(self.scan.string()?));
            }
        }
    }

    /// Reads the object at the scanner as a resource of type `message`, and appends its bytes to
    /// `out`.
    ///
    /// The caller must have checked the `@type`, if there is one.
    ///
    /// # Errors
    /// The text is not JSON, or the resource is too large.
    pub fn resource(&mut self, message: &'static Message) -> Result<()> {
        self.base = self.out.len();
        self.restart();
        self.root = Some(message);
        if self.scan.peek() != b'{' {
            return self.bad_value(&Path::ROOT, "a resource");
        }
        self.scan.bump();
        self.packed(message, &Path::ROOT, Place::Start)?;
        self.room_for(0)
    }

    /// Reads the body of an Any: its two fields.
    pub(super) fn any(&mut self, at: &Path<'_>) -> Result<bool> {
        if self.scan.peek() != b'{' {
            self.bad_value(at, "an object with `@type`")?;
            return Ok(false);
        }
        let start = self.scan.pos();
        let (url, first) = match self.type_url()? {
            TypeUrl::First(url) => (url, true),
            TypeUrl::Later(url) => (url, false),
            TypeUrl::Missing => {
                self.opaque(start)?;
                let message = "the object has no `@type`, it is not checked".to_owned();
                self.note(&ANY_WITHOUT_TYPE, at, start, message);
                return Ok(true);
            }
            TypeUrl::Empty => {
                self.scan.skip_value()?;
                return Ok(true);
            }
        };
        let mut scratch = std::mem::take(&mut self.scratch);
        let token = Str {
            start: url.start,
            end: url.end,
            escaped: true,
            foreign: true,
        };
        let text = self.scan.text_of(token, &mut scratch).unwrap_or_default();
        let read = self.any_of(text, start, first, at);
        self.scratch = scratch;
        read
    }

    fn any_of(&mut self, url: &str, start: usize, first: bool, at: &Path<'_>) -> Result<bool> {
        if !url.is_empty() {
            self.bytes(1, url.as_bytes())?;
        }
        let name = url.rsplit('/').next().unwrap_or_default();
        let Some(message) = tables::message(name) else {
            self.scan.set_pos(start);
            self.opaque(start)?;
            self.unknown_type(url, name, start, at);
            return Ok(true);
        };
        if self.total >= MAX_TOTAL_LEVELS {
            self.scan.set_pos(start);
            self.opaque(start)?;
            let message = format!("more than {MAX_TOTAL_LEVELS} levels of messages, what is deeper is not checked");
            // The path would be too long to read; the span shows the place.
            self.note(&LIMIT_EXCEEDED, &Path::ROOT, start, message);
            return Ok(true);
        }
        let level = std::mem::take(&mut self.level);
        self.total += 1;
        let length = self.open_field(2);
        let place = if first {
            Place::Typed
        } else {
            self.scan.set_pos(start + 1);
            Place::Start
        };
        self.packed(message, &at.value(name), place)?;
        self.close(length)?;
        self.level = level;
        self.total -= 1;
        Ok(true)
    }

    /// Reads the keys of an Any up to the closing brace. The scanner is at `place`.
    ///
    /// Go's printer writes an Empty as `"value": {}`. The readers of Python and C++ expect no key.
    /// Both forms are accepted.
    fn packed(&mut self, message: &'static Message, at: &Path<'_>, place: Place) -> Result<()> {
        if matches!(message.well_known, WellKnown::None) {
            return self.fields(message.index(), message, at, place, true);
        }
        if place == Place::Start {
            if self.scan.peek() == b'}' {
                self.scan.bump();
                return Ok(());
            }
        } else if !self.scan.more(b'}')? {
            self.without_value(message, at);
            return Ok(());
        }
        let mut has_type = place == Place::Typed;
        let mut has_value = false;
        loop {
            let key = self.scan.key()?;
            match self.resolved(key).as_ref() {
                b"value" if has_value => self.duplicate(key.start, at)?,
                b"value" => {
                    has_value = true;
                    self.message(message.index(), at)?;
                }
                b"@value" => {
                    has_value = true;
                    self.packed_bytes(at)?;
                }
                b"@type" if std::mem::replace(&mut has_type, true) => self.second_type(key.start, at)?,
                b"@type" => self.scan.skip_value()?,
                _ => self.unknown_key(message, key, at)?,
            }
            if !self.scan.more(b'}')? {
                if !has_value {
                    self.without_value(message, at);
                }
                return Ok(());
            }
        }
    }

    /// Notes that an Any lacks a `value` although its type has a JSON form of its own.
    #[cold]
    fn without_value(&mut self, message: &'static Message, at: &Path<'_>) {
        // In text format, a message without fields has no `value`. An Empty never needs one.
        if self.options.wire_objects || message.well_known == WellKnown::Empty {
            return;
        }
        let text = format!(
            "a {} in an Any has its value under `value`, which is missing",
            short(message)
        );
        let end = self.scan.pos();
        self.note(&BAD_VALUE, at, end.saturating_sub(1), text);
    }

    /// Skips the object at the scanner, and writes its text as the value of an Any that is never
    /// opened.
    fn opaque(&mut self, start: usize) -> Result<()> {
        self.at_most(BytesKnowledge::WellFormed);
        self.scan.skip_value()?;
        let raw = self.scan.slice(start, self.scan.pos());
        self.room_for(raw.len() + OPAQUE.len())?;
        self.tag(2, 2);
        self.varint((OPAQUE.len() + raw.len()) as u64);
        self.out.extend_from_slice(OPAQUE);
        self.out.extend_from_slice(raw);
        Ok(())
    }

    #[cold]
    fn unknown_type(&mut self, url: &str, name: &str, start: usize, at: &Path<'_>) {
        let message = format!(
            "`{}` is not a known message type, it is not checked",
            clip(url.as_bytes())
        );
        match self.misspelt_type(name) {
            Some(near) => {
                let note = self.note(&MISSPELT_TYPE, at, start, message);
                note.diagnostic
                    .help(format!("did you mean `type.googleapis.com/{near}`?"));
            }
            None => _ = self.note(&UNKNOWN_ANY_TYPE, at, start, message),
        }
    }

    /// Returns the message type of the xDS APIs that the unknown name `name` probably means.
    #[cold]
    pub fn misspelt_type(&mut self, name: &str) -> Option<&'static str> {
        if named::is_known(name) {
            return None;
        }
        // A newer version of a type is not a misspelling.
        let others = named::all().filter(|known| !text::differ_in_digits(known, name));
        self.suggest("@type", name, others)
    }

    #[cold]
    fn unknown_key(&mut self, message: &'static Message, key: Str, at: &Path<'_>) -> Result<()> {
        let name = clip(self.scan.raw(key));
        self.scan.skip_value()?;
        let text = format!(
            "a {} in an Any has its value under `value`, not `{name}`",
            short(message)
        );
        self.note(&super::note::UNKNOWN_FIELD, at, key.start - 1, text);
        Ok(())
    }
}
