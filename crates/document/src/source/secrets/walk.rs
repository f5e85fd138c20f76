//! Walks over a text and marks what may be printed.

use xdsctl_proto::tables;

use super::SecretPlace;
use crate::secret::{REDACTED, is_name, looks_secret};
use crate::source::Span;
use crate::source::json::{Scanner, Str, Syntax};

/// How much of a text may be read ahead for the name or type of an object, as a multiple of its
/// length.
const LOOKAHEAD: usize = 8;

/// The number of levels that are followed. Deeper values are hidden.
const MAX_LEVELS: usize = 300;

/// What may be printed of a text.
#[derive(Debug, Default)]
pub struct Marks {
    /// The span of the value that was looked at.
    pub extent: Span,
    /// The spans of keys and values that may be printed, without quotes, in order.
    pub shown: Vec<Span>,
    /// The spans that may not be printed. If the value cannot be read to its end, the last span
    /// goes to the end of the text.
    pub hidden: Vec<Span>,
}

/// Returns the spans that overlap `part`, the last one first. The spans must be in order and must
/// not overlap each other.
pub fn within(spans: &[Span], part: Span) -> impl Iterator<Item = Span> {
    let before = spans.partition_point(|span| span.start < part.end);
    let before = spans.get(..before).unwrap_or_default().iter().rev();
    before.take_while(move |span| span.end > part.start).copied()
}

/// Marks the keys and values of the JSON value at `start` of `text`.
///
/// ```
/// use xdsctl_document::source::secrets::{SecretPlace, marks};
/// let text = br#"{"certificate_chain": {"filename": "a"}, "private_key": {"inline_string": "abc"}}"#;
/// let message = xdsctl_document::proto::pb::tables::message("envoy.extensions.transport_sockets.tls.v3.TlsCertificate");
/// let marks = marks(text, 0, SecretPlace::root(message));
/// assert_eq!(&text[marks.hidden[0].range()], b"abc");
/// assert_eq!((marks.hidden.len(), marks.shown.len()), (1, 5));
/// ```
pub fn marks(text: &[u8], start: usize, place: SecretPlace) -> Marks {
    let mut walker = Walker {
        scan: Scanner::new(text),
        marks: Marks::default(),
        lookahead: text.len().saturating_sub(start).saturating_mul(LOOKAHEAD) + 1024,
        scratch: Vec::new(),
        level: 0,
        value_start: start,
    };
    walker.scan.set_pos(start);
    if walker.value(place).is_err() {
        // An unclosed string is part of the hidden text.
        let from = walker.value_start.min(walker.scan.pos());
        walker.marks.hidden.push(Span::new(from, text.len()));
        walker.scan.set_pos(text.len());
    }
    walker.marks.extent = Span::new(start, walker.scan.pos());
    walker.marks
}

struct Walker<'t> {
    scan: Scanner<'t>,
    marks: Marks,
    /// How many bytes may still be read ahead.
    lookahead: usize,
    scratch: Vec<u8>,
    level: usize,
    /// The offset of the string that is being read.
    value_start: usize,
}

/// What the members of an object say about it.
#[derive(Default)]
pub(super) struct Ahead {
    /// The `@type` and the `type_url` of the object, without the text before the slash.
    pub(super) type_name: Option<String>,
    pub(super) type_url: Option<String>,
    /// Whether the name of the object is that of a credential. `None` if it has no name, or the
    /// name cannot be read.
    pub(super) is_credential: Option<bool>,
    /// Whether the object is a Kubernetes object.
    pub(super) is_kubernetes: bool,
}

impl Ahead {
    pub(super) const CREDENTIAL: Ahead = Ahead {
        type_name: None,
        type_url: None,
        is_credential: Some(true),
        is_kubernetes: false,
    };

    pub(super) fn of(type_name: &str) -> Ahead {
        Ahead {
            type_name: Some(type_name.to_owned()),
            ..Ahead::default()
        }
    }
}

impl Walker<'_> {
    /// Returns the text of a string; `None` if it is not valid.
    fn text_of(&mut self, token: Str) -> Option<String> {
        let text = self.scan.text_of(token, &mut self.scratch);
        text.map(str::to_owned).ok()
    }

    fn mark(&mut self, start: usize, end: usize, is_shown: bool) {
        let list = if is_shown {
            &mut self.marks.shown
        } else {
            &mut self.marks.hidden
        };
        list.push(Span::new(start, end));
    }

    fn value(&mut self, place: SecretPlace) -> Result<(), Syntax> {
        match self.scan.peek() {
            b'{' | b'[' if self.level >= MAX_LEVELS => {
                let start = self.scan.pos();
                self.scan.skip_value()?;
                self.mark(start, self.scan.pos(), false);
                Ok(())
            }
            b'{' => {
                self.level += 1;
                let result = self.object(place);
                self.level -= 1;
                result
            }
            b'[' => {
                self.level += 1;
                let mut more = self.scan.open(b']')?;
                let mut of_item = place;
                while more {
                    let name = if place.has_pairs() { self.text_ahead()? } else { None };
                    self.value(of_item)?;
                    of_item = name.map_or(place, |name| place.field(&name));
                    more = self.scan.more(b']')?;
                }
                self.level -= 1;
                Ok(())
            }
            b'"' => {
                self.value_start = self.scan.pos() + 1;
                let token = self.scan.string()?;
                self.value_start = usize::MAX;
                let is_redacted = self.scan.raw(token) == REDACTED.as_bytes();
                let is_harmless = |text: Option<String>| text.is_some_and(|text| !looks_secret(&text));
                let is_shown = is_redacted || place.shows_text() && is_harmless(self.text_of(token));
                self.mark(token.start, token.end, is_shown);
                Ok(())
            }
            _ => {
                let start = self.scan.pos();
                self.scan.skip_value()?;
                self.mark(start, self.scan.pos(), place.shows_text());
                Ok(())
            }
        }
    }

    /// Returns the string at the scanner, which does not move.
    fn text_ahead(&mut self) -> Result<Option<String>, Syntax> {
        if self.scan.peek() != b'"' {
            return Ok(None);
        }
        let start = self.scan.pos();
        let token = self.scan.string()?;
        let text = self.text_of(token);
        self.scan.set_pos(start);
        Ok(text)
    }

    fn object(&mut self, mut place: SecretPlace) -> Result<(), Syntax> {
        if place.asks() {
            place = place.refined(&self.ahead());
        }
        let mut more = self.scan.open(b'}')?;
        while more {
            let key = self.scan.key()?;
            let name = self.text_of(key);
            let is_known = name.as_ref().is_some_and(|name| place.knows(name));
            self.mark(key.start, key.end, is_known);
            self.value(place.field(&name.unwrap_or_default()))?;
            more = self.scan.more(b'}')?;
        }
        Ok(())
    }

    /// Reads the keys of the object at the scanner, which does not move.
    fn ahead(&mut self) -> Ahead {
        let start = self.scan.pos();
        if self.lookahead == 0 {
            return Ahead::CREDENTIAL;
        }
        let mut ahead = Ahead::default();
        if self.keys(&mut ahead).is_err() {
            ahead.is_credential = Some(true);
        }
        self.lookahead = self.lookahead.saturating_sub(self.scan.pos() - start);
        self.scan.set_pos(start);
        ahead
    }

    fn keys(&mut self, ahead: &mut Ahead) -> Result<(), Syntax> {
        let mut more = self.scan.open(b'}')?;
        while more {
            let key = self.scan.key()?;
            let name = self.text_of(key).unwrap_or_default();
            if self.scan.peek() == b'"'
                && matches!(name.as_str(), "name" | "@type" | "type_url" | "typeUrl" | "apiVersion")
            {
                let value = self.scan.string()?;
                let text = self.text_of(value).unwrap_or_default();
                match name.as_str() {
                    "name" if text.is_empty() => {}
                    "name" => ahead.is_credential = Some(ahead.is_credential == Some(true) || is_name(&text)),
                    "apiVersion" => ahead.is_kubernetes = true,
                    // The first one counts, as in the reader of resources.
                    "@type" => _ = ahead.type_name.get_or_insert_with(|| after_slash(&text)),
                    _ => _ = ahead.type_url.get_or_insert_with(|| after_slash(&text)),
                }
                // The type is nearly always first, and then nothing else is needed.
                let type_name = ahead.type_name.as_deref();
                if type_name
                    .and_then(tables::message)
                    .is_some_and(|message| !SecretPlace::root(Some(message)).asks_by_name())
                {
                    return Ok(());
                }
            } else {
                self.scan.skip_value()?;
            }
            more = self.scan.more(b'}')?;
        }
        Ok(())
    }
}

/// Returns the name of the type in a type URL.
fn after_slash(url: &str) -> String {
    url.rsplit('/').next().unwrap_or_default().to_owned()
}
