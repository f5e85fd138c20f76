//! What of a document is quoted: the values whose fields are known to be harmless, and the signs between them.

use xdsctl::diag::FieldPath;
use xdsctl::secret::{self, REDACTED};
use xdsctl::source::secrets::{Marks, Place, is_known_word};
use xdsctl::source::sniff::Format;
use xdsctl::source::{Source, Span};

/// What of one resource of a document may be shown.
#[derive(Debug, Default)]
pub struct Masks {
    marks: Marks,
    /// The document is the user's own words, of which all is shown that is not marked.
    is_own: bool,
    /// Nothing is masked.
    shows_secrets: bool,
}

impl Masks {
    /// Those of a document of which nothing is known.
    pub fn unplaced(shows_secrets: bool) -> Masks {
        Masks {
            shows_secrets,
            ..Masks::default()
        }
    }

    /// Those of a suite, which hides these values.
    pub fn suite(source: &Source, hidden: Vec<Span>, shows_secrets: bool) -> Masks {
        let extent = Span::new(0, source.bytes().len());
        Masks {
            marks: Marks {
                extent,
                shown: vec![extent],
                hidden,
            },
            is_own: true,
            shows_secrets,
        }
    }

    /// Those of the resource at `resource`.
    pub fn of(source: &Source, resource: Span, type_name: Option<&str>, shows_secrets: bool) -> Masks {
        Masks {
            marks: source.marks(resource, type_name),
            shows_secrets,
            ..Masks::default()
        }
    }

    /// Those of a bootstrap.
    pub fn bootstrap(source: &Source, shows_secrets: bool) -> Masks {
        Masks {
            marks: source.marks_from(Span::default(), Place::bootstrap()),
            shows_secrets,
            ..Masks::default()
        }
    }

    /// A message without what it quotes, if it is about something hidden; names of fields and values that are shown stay.
    pub fn redacted(&self, source: &Source, message: String, path: &FieldPath, span: Span) -> String {
        let overlaps = |other: &&Span| other.start < span.end.max(span.start + 1) && span.start < other.end;
        if self.shows_secrets || !message.contains('`') || !self.marks.hidden.iter().any(|span| overlaps(&span)) {
            return message;
        }
        let path = path.to_string();
        let text = |span: &Span| source.bytes().get(span.range()).map(<[u8]>::trim_ascii);
        let pieces = message.split('`').enumerate().map(|(number, piece)| {
            let is_shown = || {
                let mut shown = self.marks.shown.iter().filter(overlaps);
                is_known_word(piece)
                    || path.split(['.', '[', ']']).any(|step| step == piece)
                    || shown.any(|span| text(span) == Some(piece.as_bytes()))
            };
            if number % 2 == 0 || is_shown() { piece } else { REDACTED }
        });
        pieces.collect::<Vec<_>>().join("`")
    }

    /// Masks what is not shown of `window`, which stands at `start` of the document. Every byte stays where it is.
    ///
    /// `named` is what the message has named already.
    pub fn mask(&self, source: &Source, window: &mut [u8], start: usize, named: Option<Span>) {
        Self::mask_all(&[self], source, (window, start), named);
    }

    /// Masks what is shown by none of several resources, in their order; see [`mask`](Self::mask).
    pub fn mask_all(of: &[&Masks], source: &Source, (window, start): (&mut [u8], usize), named: Option<Span>) {
        if of.iter().any(|masks| masks.shows_secrets) {
            return;
        }
        let looks = secret::hide(&lossy(window)).into_owned();
        if looks.len() == window.len() {
            window.copy_from_slice(looks.as_bytes());
        }
        if source.is_settings() {
            return;
        }
        let end = start + window.len();
        let inside = |span: &Span| span.start.clamp(start, end) - start..span.end.clamp(start, end) - start;
        let mut shown = starred(window);
        let show = |shown: &mut [u8], span: Span| {
            let range = inside(&span);
            if let (Some(to), Some(from)) = (shown.get_mut(range.clone()), window.get(range)) {
                to.copy_from_slice(from);
            }
        };
        let mut at = start;
        for masks in of {
            words(
                window,
                inside(&Span::new(at, masks.marks.extent.start.max(at))),
                &mut shown,
            );
            at = at.max(masks.marks.extent.end);
            let is_near = |span: &&Span| span.start < end && start < span.end;
            masks
                .marks
                .shown
                .iter()
                .filter(is_near)
                .for_each(|span| show(&mut shown, *span));
            for span in masks.marks.hidden.iter().filter(is_near) {
                hide(source, *span, shown.get_mut(inside(span)).unwrap_or_default());
            }
            let has_comments = matches!(source.format(), Some(Format::Yaml | Format::Text));
            if masks.is_own && source.format() != Some(Format::Json) {
                comments(&mut shown);
            }
            let resource = &masks.marks.extent;
            if has_comments {
                let part = resource.start.clamp(start, end)..resource.end.clamp(start, end);
                let words = super::comments::words(source.bytes(), part, &masks.marks);
                words.into_iter().for_each(|word| show(&mut shown, word));
            }
        }
        words(window, inside(&Span::new(at, end.max(at))), &mut shown);
        if let Some(named) = named {
            show(&mut shown, named);
        }
        window.copy_from_slice(&shown);
    }
}

/// Bytes that nobody vouches for: the signs of a document stay, for its shape.
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

/// Puts asterisks for a value in the document, a part of which is `shown`; quotes around it stay.
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

/// Shows the names of fields and types in a part of the window that belongs to no resource.
fn words(window: &[u8], part: std::ops::Range<usize>, shown: &mut [u8]) {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'@' | b'.' | b'/' | b'-');
    let mut at = part.start;
    while at < part.end {
        let rest = window.get(at..part.end).unwrap_or_default();
        let len = rest.iter().take_while(|byte| is_part(**byte)).count();
        let word = rest.get(..len).unwrap_or_default();
        let after = rest.get(len..).unwrap_or_default().trim_ascii_start();
        let is_key = matches!(after, [b':' | b'{', ..] | [b'"', b':', ..]);
        let is_type = || word.starts_with(b"type.googleapis.com/");
        let is_known = || std::str::from_utf8(word).is_ok_and(is_known_word);
        if len > 0
            && (is_key || is_type())
            && is_known()
            && let Some(shown) = shown.get_mut(at..at + len)
        {
            shown.copy_from_slice(word);
        }
        at += len.max(1);
    }
}

/// Text in which each byte has its place; what is not UTF-8 becomes a question mark.
fn lossy(bytes: &[u8]) -> String {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return text.to_owned();
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '?'));
    }
    text
}

/// Masks the comments of the lines.
fn comments(window: &mut [u8]) {
    for line in window.split_mut(|byte| *byte == b'\n') {
        let starts = |at: &usize| {
            let before = at.checked_sub(1).and_then(|before| line.get(before));
            line.get(*at) == Some(&b'#') && before.is_none_or(u8::is_ascii_whitespace)
        };
        let start = (0..line.len()).find(starts).map_or(line.len(), |at| at + 1);
        let comment = line.get_mut(start..).unwrap_or_default();
        let hidden = comment.iter_mut().filter(|byte| !byte.is_ascii_whitespace());
        hidden.for_each(|byte| *byte = b'*');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_masked() {
        let mut text = b"# of a\na: b # x: y\n# y\nc: d#e".to_vec();
        comments(&mut text);
        assert_eq!(String::from_utf8(text).unwrap(), "# ** *\na: b # ** *\n# *\nc: d#e");
    }

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
