//! What of a document is not quoted: the secrets of the resource that a finding is about, and what may be one around it.

use xdsctl::diag::FieldPath;
use xdsctl::secret::{self, REDACTED, unplaced};
use xdsctl::source::sniff::Format;
use xdsctl::source::{Source, Span, secrets};

/// Bytes that are looked at above a piece of text, for what it is part of.
const MAX_BYTES_ABOVE: usize = 64 << 10;

/// The secrets of one resource of a document.
#[derive(Debug, Default)]
pub struct Masks {
    /// The resource: places outside are not known.
    extent: Span,
    /// In the order of the resource.
    secrets: Vec<Span>,
    /// From here on the document is not what it was meant to be: a name says nothing of what stands behind it.
    broken_from: Option<usize>,
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

    /// Those of a document that could not be read from here on.
    pub fn broken(from: usize, shows_secrets: bool) -> Masks {
        Masks {
            broken_from: Some(from),
            shows_secrets,
            ..Masks::default()
        }
    }

    /// These of a document that holds no others.
    pub fn known(source: &Source, secrets: Vec<Span>, shows_secrets: bool) -> Masks {
        Masks {
            extent: Span::new(0, source.bytes().len()),
            secrets,
            shows_secrets,
            ..Masks::default()
        }
    }

    /// Those of the resource at `resource`.
    pub fn of(source: &Source, resource: Span, type_name: Option<&str>, shows_secrets: bool) -> Masks {
        let (extent, secrets) = source.secrets(resource, type_name);
        Masks {
            extent,
            secrets,
            shows_secrets,
            ..Masks::default()
        }
    }

    /// A message without what it quotes, if it is about a secret; names of fields stay.
    pub fn redacted(&self, message: String, path: &FieldPath, span: Span) -> String {
        let overlaps = |secret: &Span| secret.start < span.end.max(span.start + 1) && span.start < secret.end;
        if self.shows_secrets || !message.contains('`') || !self.secrets.iter().any(overlaps) {
            return message;
        }
        let path = path.to_string();
        let pieces = message.split('`').enumerate().map(|(number, piece)| {
            let is_quote = number % 2 == 1;
            if is_quote && !secrets::is_harmless_name(piece) && !path.split(['.', '[', ']']).any(|step| step == piece) {
                REDACTED
            } else {
                piece
            }
        });
        pieces.collect::<Vec<_>>().join("`")
    }

    /// Masks the secrets in `window`, which stands at `start` of the document. Every byte stays where it is.
    ///
    /// `named` is what the message has named already.
    pub fn mask(&self, source: &Source, window: &mut [u8], start: usize, named: Option<Span>) {
        Self::mask_all(&[self], source, (window, start), named);
    }

    /// Masks what is a secret by one of several resources, in their order, or stands in none of them; see [`mask`](Self::mask).
    pub fn mask_all(of: &[&Masks], source: &Source, (window, start): (&mut [u8], usize), named: Option<Span>) {
        if of.iter().any(|masks| masks.shows_secrets) {
            return;
        }
        let end = start + window.len();
        let has_comments = source.format() != Some(Format::Json);
        let hide = |window: &mut [u8], from: usize, to: usize| {
            let (from, to) = (from.clamp(start, end) - start, to.clamp(start, end) - start);
            for byte in window.get_mut(from..to).unwrap_or_default() {
                if !byte.is_ascii_whitespace() {
                    *byte = b'*';
                }
            }
        };
        let looks = secret::hide(&lossy(window)).into_owned();
        if looks.len() == window.len() {
            window.copy_from_slice(looks.as_bytes());
        }
        if source.is_settings() {
            return;
        }
        for (around, is_whole) in surroundings(of, Span::new(start, end)) {
            let Some(text) = window
                .get(around.start - start..around.end - start)
                .filter(|text| !text.is_empty())
            else {
                continue;
            };
            let text = lossy(text);
            let is_inside = is_inside(source, around.start, &text);
            let is_harmless = |name: &str| is_whole && secrets::is_harmless_name(name);
            for range in unplaced::find(&text, is_harmless, is_inside, has_comments) {
                let range = Span::new(around.start + range.start, around.start + range.end);
                if named.is_none_or(|named| range.start < named.start || named.end < range.end) {
                    hide(window, range.start, range.end);
                }
            }
        }
        for secret in of.iter().flat_map(|masks| &masks.secrets) {
            let text = source.bytes().get(secret.range()).unwrap_or_default();
            let is_quoted = text.len() > 1
                && text.first() == text.last()
                && text.first().is_some_and(|byte| matches!(byte, b'"' | b'\''));
            let quote = usize::from(is_quoted);
            hide(window, secret.start + quote, secret.end - quote);
        }
        if has_comments {
            comments(window);
        }
    }
}

/// The parts of a window that stand in none of the resources, and whether the document is what it was meant to be there.
fn surroundings(of: &[&Masks], window: Span) -> Vec<(Span, bool)> {
    let mut parts = Vec::new();
    let mut at = window.start;
    for masks in of {
        let start = masks.extent.start.clamp(at, window.end);
        parts.push((Span::new(at, start), true));
        at = masks.extent.end.clamp(start, window.end);
    }
    let broken = of.iter().filter_map(|masks| masks.broken_from).min();
    let broken = broken.map_or(window.end, |from| from.clamp(at, window.end));
    parts.extend([(Span::new(at, broken), true), (Span::new(broken, window.end), false)]);
    parts
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

/// Says whether the lines above say that the text at `at` is part of a secret.
fn is_inside(source: &Source, at: usize, text: &str) -> bool {
    let above = source
        .bytes()
        .get(at.saturating_sub(MAX_BYTES_ABOVE)..at)
        .unwrap_or_default();
    let first = text.lines().next().unwrap_or_default();
    unplaced::is_below_secret(above, first)
}

/// Masks the comments that speak of a secret, and those that follow.
fn comments(window: &mut [u8]) {
    let mut speaks = false;
    for line in window.split_mut(|byte| *byte == b'\n') {
        let starts = |at: &usize| {
            line.get(*at) == Some(&b'#')
                && at
                    .checked_sub(1)
                    .is_none_or(|before| line.get(before).is_none_or(u8::is_ascii_whitespace))
        };
        let Some(start) = (0..line.len()).find(starts) else {
            continue;
        };
        // What stands beside a secret is about it.
        speaks |= line
            .get(..start)
            .unwrap_or_default()
            .windows(2)
            .any(|pair| pair == b"**");
        let Some(comment) = line.get_mut(start + 1..) else {
            continue;
        };
        let text = lossy(comment);
        speaks |= text
            .split(|c: char| c.is_whitespace() || matches!(c, ':' | '=' | '"' | '\'' | ','))
            .any(secret::is_name);
        if speaks {
            let hidden = comment.iter_mut().filter(|byte| !byte.is_ascii_whitespace());
            hidden.for_each(|byte| *byte = b'*');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_that_speak_of_a_secret_are_masked() {
        for (text, expected) in [
            (
                "# of a\na: b # password: x\n# y\nc: d#e",
                "# of a\na: b # ********* *\n# *\nc: d#e",
            ),
            ("a: '*' # b\nc: *** # d e", "a: '*' # b\nc: *** # * *"),
        ] {
            let mut text = text.as_bytes().to_vec();
            comments(&mut text);
            assert_eq!(String::from_utf8(text).unwrap(), expected);
        }
    }
}
