//! One scalar of a document: its value, and its replacement by another value, in the quotes that it
//! has.

use super::Edit;
use xdsctl_document::source::json::Scanner;
use xdsctl_document::source::sniff::DocumentFormat;
use xdsctl_document::source::yaml::{self, Plain};
use xdsctl_document::source::{Source, Span};

/// A string in the JSON text.
pub(super) struct Scalar {
    /// The token, with its quotes.
    pub span: Span,
    /// The value of the string.
    pub value: String,
}

/// Reads the string that starts at `start` of the JSON text; `None` if there is something else.
pub(super) fn at(text: &[u8], start: usize) -> Option<Scalar> {
    let mut scan = Scanner::new(text);
    scan.set_pos(start);
    if scan.peek() != b'"' {
        return None;
    }
    let token = scan.string().ok()?;
    let mut scratch = Vec::new();
    let value = scan.text_of(token, &mut scratch).ok()?.to_owned();
    Some(Scalar {
        span: Span::new(token.start - 1, token.end + 1),
        value,
    })
}

/// Replaces the scalar at `place` of the document, whose value is `old`, by `new`.
///
/// Returns `None` if the bytes there are not literally `old`, with or without quotes, or if `new`
/// would be read as something else.
pub(super) fn replaced(source: &Source, place: Span, old: &str, new: &str) -> Option<Edit> {
    if old == new
        || !new
            .bytes()
            .all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\'' | b'\\'))
    {
        return None;
    }
    let bytes = source.bytes().get(place.range())?;
    let inside = match bytes {
        [b'"', inside @ .., b'"'] => inside,
        [b'\'', inside @ .., b'\''] if source.format() == Some(DocumentFormat::Yaml) => inside,
        _ if source.format() == Some(DocumentFormat::Yaml) && is_plain(old, new) => bytes,
        _ => return None,
    };
    // With a backslash or a doubled quote, the bytes are not the value.
    if inside != old.as_bytes() || old.contains(['"', '\'', '\\']) {
        return None;
    }
    let start = place.start + (bytes.len() - inside.len()) / 2;
    Some(Edit {
        span: Span::new(start, start + inside.len()),
        text: new.to_owned(),
    })
}

/// Says whether `new` can replace `old` without quotes: it has the same special characters or none,
/// and it is not a number, boolean or null.
fn is_plain(old: &str, new: &str) -> bool {
    let is_harmless = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/' | b'-');
    let signs = |text: &str| text.bytes().filter(|byte| !is_harmless(*byte)).collect::<Vec<_>>();
    let may_start = new.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') || old.get(..1) == new.get(..1);
    let is_text = matches!(yaml::resolve(new), Plain::Text) && !matches!(new, "null" | "Null" | "NULL" | "~" | "");
    (signs(new).is_empty() || signs(new) == signs(old)) && may_start && is_text
}
