//! The walk over a text that marks what may be printed.

use xdsctl_proto::tables;

use super::SecretPlace;
use crate::secret::{REDACTED, is_name, looks_secret};
use crate::source::Span;
use crate::source::json::{Scanner, Str, Syntax};

/// How often a text is read ahead for the name of an object or its type, as a multiple of its
/// length.
const LOOKAHEAD: usize = 8;

/// Levels that are followed; what is deeper is hidden.
const MAX_LEVELS: usize = 300;

/// What of a text may be printed.
#[derive(Debug, Default)]
pub struct Marks {
    /// The value that was looked at.
    pub extent: Span,
    /// Keys and values that may be printed, without quotes, in order.
    pub shown: Vec<Span>,
    /// Those that may not; what could not be read to its end goes on to the end of the text.
    pub hidden: Vec<Span>,
}

/// Those of these spans that have a part in `part`, the last one first. The spans are in order, and
/// none is in another.
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
        // The string that is not closed belongs to it.
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
    /// Bytes that may still be read ahead.
    lookahead: usize,
    scratch: Vec<u8>,
    level: usize,
    /// Where the last value starts.
    value_start: usize,
}

/// What the keys of an object say about it.
#[derive(Default)]
pub(super) struct Ahead {
    /// Its `@type` and its `type_url`, without what stands before the slash.
    pub(super) type_name: Option<String>,
    pub(super) type_url: Option<String>,
    /// Its name is that of a credential; `None` if it has none, or nobody can say what it is.
    pub(super) is_credential: Option<bool>,
    /// It is an object of Kubernetes.
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
    /// The text of a string; `None` if nobody can say what it means.
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

    /// The string at the scanner, which does not move.
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
                    // The first counts, as it does for the reader.
                    "@type" => _ = ahead.type_name.get_or_insert_with(|| after_slash(&text)),
                    _ => _ = ahead.type_url.get_or_insert_with(|| after_slash(&text)),
                }
                // Nearly always it stands first, and is all that is asked for.
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

/// The name of a type in its URL.
fn after_slash(url: &str) -> String {
    url.rsplit('/').next().unwrap_or_default().to_owned()
}
