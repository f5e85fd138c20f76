//! `rds-domain-taken`: removes a domain that occurs a second time in the same virtual host.
//!
//! If two virtual hosts have the domain, people must decide which of them is meant.

use super::{Edit, Fix, Fixer, scalar};
use xdsctl_clients::core::route_shadow::DOMAIN_TAKEN;
use xdsctl_document::source::{Source, Span};

pub(super) const FIXER: Fixer = Fixer {
    rule: &DOMAIN_TAKEN,
    fix: Fix::Element(|diagnostic| {
        let first = diagnostic.related.first();
        first.is_some_and(|first| first.path.holder() == diagnostic.path.holder())
    }),
};

/// Removes from the document the scalar that starts at `start` of its JSON text and is not the
/// first of its list. Returns `None` if a comment, an anchor or a tag would be removed with it.
pub(super) fn removed(source: &Source, text: &[u8], start: usize) -> Option<Edit> {
    let place = source.to_document(scalar::at(text, start)?.span);
    let bytes = source.bytes();
    let cut = |start, end| {
        let (span, text) = (Span::new(start, end), String::new());
        Some(Edit { span, text })
    };
    let before = bytes.get(..place.start)?;
    let last = before.trim_ascii_end();
    if last.last() == Some(&b',') {
        return cut(last.len() - 1, place.end);
    }
    // `- scalar` on a line of its own.
    let line = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
    let end = memchr::memchr(b'\n', bytes.get(place.end..)?).map_or(bytes.len(), |at| place.end + at + 1);
    let is_alone = bytes.get(line..place.start)?.trim_ascii() == b"-"
        && !bytes.get(place.range())?.contains(&b'\n')
        && bytes.get(place.end..end)?.trim_ascii().is_empty();
    is_alone.then(|| cut(line, end)).flatten()
}
