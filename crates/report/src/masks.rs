//! Which parts of a document are quoted: values whose fields are known to be harmless, and the
//! punctuation between them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;

use memchr::memmem;
use xdsctl_channel::client::Checked;
use xdsctl_document::secret::{REDACTED, SecretFinder};
use xdsctl_document::source::node;
use xdsctl_document::source::secrets::{
    Marks, SecretPlace, Speaker, is_enum_value, is_known_word, is_plain_word, within,
};
use xdsctl_document::source::sniff::DocumentFormat;
use xdsctl_document::source::{Source, SourceId, Span};
use xdsctl_model::diag::FieldPath;
use xdsctl_model::resource::ResourceType;

use crate::comments;

/// Largest document, in bytes, in which the text around resources is looked at.
const MAX_AROUND_BYTES: usize = 4 << 20;

/// How many resources keep their marks for the next excerpt.
const KEPT: usize = 64;

/// The span of a resource in a document, and its type if that is known.
pub type ResourceSpan = (Span, Option<&'static str>);

/// Returns the resources of each document.
pub fn resources(checked: &[Checked]) -> BTreeMap<SourceId, Vec<ResourceSpan>> {
    let mut resources: BTreeMap<SourceId, Vec<ResourceSpan>> = BTreeMap::new();
    for checked in checked {
        let type_name = checked.resource_type.map(ResourceType::type_name);
        let of_document = resources.entry(checked.origin.source).or_default();
        of_document.push((checked.origin.span, type_name));
    }
    resources
}

/// Which parts of a document may be shown.
#[derive(Debug, Default)]
pub struct Masks {
    /// Marks of the document's values. A later part may be inside a text of an earlier one.
    parts: Vec<Marks>,
    /// Whether all parts could be read, so that text that is none of their values is a comment.
    is_whole: bool,
    /// The resources of the document, in its order.
    resources: Vec<ResourceSpan>,
    known: RefCell<BTreeMap<ResourceSpan, Marks>>,
    /// Whether nothing is masked (`--show-secrets`).
    shows_secrets: bool,
}

impl Masks {
    /// Makes the masks of a document with these resources.
    pub fn of(source: &Source, mut resources: Vec<ResourceSpan>, shows_secrets: bool) -> Masks {
        resources.sort_unstable();
        resources.dedup_by_key(|(span, _)| *span);
        let around = match source.bytes().len() {
            ..=MAX_AROUND_BYTES => Masks::placed(source, SecretPlace::DOCUMENT, shows_secrets),
            _ => Masks::default(),
        };
        Masks {
            resources,
            shows_secrets,
            ..around
        }
    }

    /// Makes the masks of a suite.
    pub fn suite(source: &Source, shows_secrets: bool) -> Masks {
        node::view(source);
        Masks::placed(source, SecretPlace::SUITE, shows_secrets)
    }

    /// Makes the masks of a bootstrap.
    pub fn bootstrap(source: &Source, shows_secrets: bool) -> Masks {
        Masks::placed(source, SecretPlace::BOOTSTRAP, shows_secrets)
    }

    /// Makes the masks of a document whose content as a whole is at this place.
    fn placed(source: &Source, place: SecretPlace, shows_secrets: bool) -> Masks {
        let parts = if shows_secrets {
            Vec::new()
        } else {
            source.marks_of_all(place)
        };
        Masks {
            is_whole: !parts.is_empty() && source.is_whole(),
            parts,
            shows_secrets,
            ..Masks::default()
        }
    }

    /// Removes hidden values from a message about a value of the document; see [`redacted`].
    pub fn redacted(&self, source: &Source, message: String, path: &FieldPath, span: Span) -> String {
        let all = |message, marks| redacted(marks, source, message, path, span);
        self.parts.iter().fold(message, all)
    }

    /// Masks the parts of `window` that may not be shown. `window` is at `start` of the document,
    /// and every byte keeps its position.
    ///
    /// `named` is a part that the message names anyway.
    pub fn mask(&self, source: &Source, window: &mut [u8], start: usize, named: Option<Span>) {
        if self.shows_secrets {
            return;
        }
        SecretFinder::default().mask(window);
        if source.is_settings() {
            return;
        }
        let whole = Span::new(start, start + window.len());
        let near = self.near(whole);
        let mut known = self.known.borrow_mut();
        if known.len() > KEPT {
            known.clear();
        }
        for resource in &near {
            let marks = || source.marks(resource.0, resource.1);
            known.entry(*resource).or_insert_with(marks);
        }
        let own: Vec<&Marks> = near.iter().filter_map(|resource| known.get(resource)).collect();
        let mut shown = starred(window);
        actions(window, &mut shown);
        for marks in &self.parts {
            put(source, marks, (window, whole), &mut shown);
        }
        let mut at = start;
        for marks in &own {
            words(
                window,
                inside(whole, Span::new(at, marks.extent.start.max(at))),
                &mut shown,
            );
            at = at.max(marks.extent.end);
        }
        words(window, inside(whole, Span::new(at, whole.end.max(at))), &mut shown);
        for marks in &own {
            put(source, marks, (window, whole), &mut shown);
        }
        if matches!(source.format(), Some(DocumentFormat::Yaml | DocumentFormat::Text)) {
            let all: Vec<&Marks> = self.parts.iter().chain(own.iter().copied()).collect();
            let of_own = own.iter().map(|marks| marks.extent).collect();
            for part in if self.is_whole { vec![whole] } else { of_own } {
                let part = part.start.clamp(start, whole.end)..part.end.clamp(start, whole.end);
                for word in comments::words(source.bytes(), part, &all) {
                    show(window, whole, word, &mut shown);
                }
            }
        }
        if let Some(named) = named {
            show(window, whole, named, &mut shown);
        }
        window.copy_from_slice(&shown);
    }

    /// Returns the resources that overlap the window. A resource around others is passed over.
    fn near(&self, window: Span) -> Vec<ResourceSpan> {
        let before = self.resources.partition_point(|(span, _)| span.start < window.end);
        let before = self.resources.get(..before).unwrap_or_default().iter().rev();
        let mut near: Vec<_> = before
            .take_while(|(span, _)| span.end > window.start)
            .copied()
            .collect();
        near.reverse();
        near
    }
}

/// Removes the quoted texts from a message about a value that is hidden. Names of fields and values
/// that are shown stay.
pub fn redacted(marks: &Marks, source: &Source, message: String, path: &FieldPath, span: Span) -> String {
    let overlaps = |other: &&Span| other.start < span.end.max(span.start + 1) && span.start < other.end;
    if !message.contains('`') || !marks.hidden.iter().any(|span| overlaps(&span)) {
        return message;
    }
    let path = path.to_string();
    let text = |span: &Span| source.bytes().get(span.range()).map(<[u8]>::trim_ascii);
    let pieces = message.split('`').enumerate().map(|(number, piece)| {
        let is_shown = || {
            let mut shown = marks.shown.iter().filter(overlaps);
            is_known_word(piece)
                || path.split(['.', '[', ']']).any(|step| step == piece)
                || shown.any(|span| text(span) == Some(piece.as_bytes()))
        };
        if number % 2 == 0 || is_shown() { piece } else { REDACTED }
    });
    pieces.collect::<Vec<_>>().join("`")
}

/// Returns the part of the window that a span covers.
fn inside(window: Span, span: Span) -> Range<usize> {
    let at = |at: usize| at.clamp(window.start, window.end) - window.start;
    at(span.start)..at(span.end)
}

/// Shows a span unmasked.
fn show(window: &[u8], whole: Span, span: Span, shown: &mut [u8]) {
    let range = inside(whole, span);
    if let (Some(to), Some(from)) = (shown.get_mut(range.clone()), window.get(range)) {
        to.copy_from_slice(from);
    }
}

/// Shows and hides the parts of the extent of these marks, replacing what earlier marks have shown
/// or hidden there.
fn put(source: &Source, marks: &Marks, (window, whole): (&[u8], Span), shown: &mut [u8]) {
    if marks.extent.end <= whole.start || whole.end <= marks.extent.start {
        return;
    }
    let extent = inside(whole, marks.extent);
    if let (Some(shown), Some(window)) = (shown.get_mut(extent.clone()), window.get(extent)) {
        shown.copy_from_slice(&starred(window));
    }
    for span in within(&marks.shown, whole) {
        show(window, whole, span, shown);
    }
    for span in within(&marks.hidden, whole) {
        hide(source, span, shown.get_mut(inside(whole, span)).unwrap_or_default());
    }
}

/// Masks all bytes except punctuation and white space, which show the shape of the document.
fn starred(window: &[u8]) -> Vec<u8> {
    let next = window.iter().skip(1).chain(b"\n");
    let of = |(byte, next): (&u8, &u8)| match byte {
        b'{' | b'}' | b'[' | b']' | b'<' | b'>' | b',' | b':' | b'"' | b'#' => *byte,
        b'-' if next.is_ascii_whitespace() || *next == b'-' => *byte,
        _ if byte.is_ascii_whitespace() => *byte,
        _ => b'*',
    };
    window.iter().zip(next).map(of).collect()
}

/// Replaces a value in the document, of which `shown` is a part, by asterisks; quotes around it
/// stay.
fn hide(source: &Source, value: Span, shown: &mut [u8]) {
    let text = source.bytes().get(value.range()).unwrap_or_default();
    let is_quoted = text.len() > 1 && text.first() == text.last() && matches!(text, [b'"' | b'\'', ..]);
    let is_whole = is_quoted && shown.len() == text.len();
    let last = shown.len().saturating_sub(1);
    for (number, byte) in shown.iter_mut().enumerate() {
        if !byte.is_ascii_whitespace() && !(is_whole && (number == 0 || number == last)) {
            *byte = b'*';
        }
    }
}

/// Shows the plain words in a template's actions, such as `{{ .Values.name }}`. Texts in them stay
/// hidden.
fn actions(window: &[u8], shown: &mut [u8]) {
    let mut at = 0;
    while let Some(open) = window.get(at..).and_then(|rest| memmem::find(rest, b"{{")) {
        at += open + 2;
        let rest = window.get(at..).unwrap_or_default();
        let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let action = memmem::find(line, b"}}").and_then(|end| std::str::from_utf8(line.get(..end)?).ok());
        for (number, piece) in action.unwrap_or_default().split(['"', '\'', '`']).enumerate() {
            for word in piece.split_inclusive(char::is_whitespace) {
                let is_plain = |word: &str| word == "|" || is_plain_word(word.trim_start_matches('$'), Speaker::Author);
                if number % 2 == 0
                    && is_plain(word.trim_end())
                    && let Some(shown) = shown.get_mut(at..at + word.len())
                {
                    shown.copy_from_slice(word.as_bytes());
                }
                at += word.len();
            }
            // Skip the quote.
            at += 1;
        }
    }
}

/// Shows the names of fields and types in a part of the window that belongs to no resource.
fn words(window: &[u8], part: Range<usize>, shown: &mut [u8]) {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'@' | b'.' | b'/' | b'-');
    let mut at = part.start;
    while at < part.end {
        let rest = window.get(at..part.end).unwrap_or_default();
        let len = rest.iter().take_while(|byte| is_part(**byte)).count();
        let word = rest.get(..len).unwrap_or_default();
        let after = rest.get(len..).unwrap_or_default().trim_ascii_start();
        let is_key = matches!(after, [b':' | b'{', ..] | [b'"', b':', ..]);
        let word_is = |judge: fn(&str) -> bool| std::str::from_utf8(word).is_ok_and(judge);
        let is_type = word.starts_with(b"type.googleapis.com/");
        if len > 0
            && ((is_key || is_type) && word_is(is_known_word) || word_is(is_enum_value))
            && let Some(shown) = shown.get_mut(at..at + len)
        {
            shown.copy_from_slice(word);
        }
        at += len.max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn around_resources_only_names_are_shown() {
        for (text, expected) in [
            ("resources:\n- \"name\": x\n", "resources:\n- \"name\": *\n"),
            ("name: name # port_value", "name: **** # **********"),
            ("name { password: x", "name { password: *"),
            ("hunter2: name: x", "*******: name: *"),
            (
                "\"@type\": \"type.googleapis.com/envoy.config.cluster.v3.Cluster\"",
                "\"@type\": \"type.googleapis.com/envoy.config.cluster.v3.Cluster\"",
            ),
        ] {
            let mut shown = starred(text.as_bytes());
            words(text.as_bytes(), 0..text.len(), &mut shown);
            assert_eq!(String::from_utf8(shown).unwrap(), expected);
        }
    }
}
