//! Rewrites YAML as JSON text, document by document.
//!
//! The parser's events are written as they come. An anchor remembers which part of the text its
//! node became, and an alias copies that part. Copies have a budget, so a document grows by a fixed
//! amount at most. Merge keys (`<<`) are applied when their mapping ends: keys of the mapping
//! itself win, then earlier sources. Duplicate keys stay, and the reader of the JSON reports them.
//! Scalars follow the core schema of YAML 1.2; see [`resolve`].
//!
//! This is the only module that names the YAML parser.

mod again;
mod merge;
mod node;
mod scalar;

use granit_parser::{ErrorKind, Event, Parser, ScanError, StrInput};

pub use again::view_again;
pub use scalar::{Plain, is_marked, resolve};

use super::Span;
use super::view::{FaultKind, MAX_VIEWED_BYTES, View};
use node::{YamlNode, YamlWriter};

/// The number of nested collections that are read. The client's own limit of 100 messages is
/// reached with 200 to 300 of them.
pub const MAX_NESTING: usize = 1024;

/// The number of bytes of JSON that aliases and merge keys may add to all documents of a file.
pub const MAX_ALIAS_BYTES: usize = 64 << 20;

/// The number of scalars, keys and brackets that aliases and merge keys may add to all documents of
/// a file.
pub const MAX_ALIAS_NODES: usize = 2_000_000;

/// The number of bytes of JSON that merge keys may read. Keys that are then not merged count, too.
pub const MAX_MERGE_BYTES: usize = 2 * MAX_ALIAS_BYTES;

/// Rewrites YAML as JSON.
///
/// A broken document is cut where it cannot be read, with a fault. The documents after it are read.
pub fn view(text: &str) -> View {
    if text.len() > MAX_VIEWED_BYTES {
        let mut view = View::default();
        let message = format!("a YAML document has more than {MAX_VIEWED_BYTES} bytes");
        view.fault(FaultKind::Limit, Span::default(), message);
        return view;
    }
    let mut view = View::default();
    view.json.reserve(text.len());
    let mut writer = YamlWriter::new(view);
    parse(text, &mut writer);
    let mut view = writer.view;
    // The fault may be that the text ends, and then its span is behind the text.
    for fault in &mut view.faults {
        let Span { start, end } = fault.span;
        fault.span = Span::new(start.min(text.len()), end.min(text.len()));
    }
    view
}

/// Writes the documents of a text.
fn parse(text: &str, writer: &mut YamlWriter) {
    let (mut parser, skipped) = parser(text, false);
    while !documents(&mut parser, writer, skipped) {}
}

/// Returns a parser of the text after its byte order mark, and the length of the mark in bytes.
fn parser(text: &str, with_comments: bool) -> (Parser<'_, StrInput<'_>>, usize) {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut options = granit_parser::options! {
        emit_unresolved_aliases: true,
        flow_nesting_limit: MAX_NESTING,
        block_nesting_limit: MAX_NESTING,
    };
    options.set_emit_comments(with_comments);
    options.max_buffered_comment_events = usize::MAX;
    (
        Parser::new_from_str_with_options(body, options),
        text.len() - body.len(),
    )
}

/// Returns the spans of the comments of a text, each from its `#` to the end of its line.
pub fn comments(text: &str) -> Vec<Span> {
    let (mut parser, skipped) = parser(text, true);
    let mut comments = Vec::new();
    while let Some(next) = parser.next_event() {
        match next {
            Ok((Event::Comment(..), span)) => {
                let range = span.byte_range().unwrap_or_default();
                comments.push(Span::new(range.start + skipped, range.end + skipped));
            }
            Ok((Event::StreamEnd, _)) => break,
            Ok(_) => {}
            // The reader of the text reports its faults.
            Err(_) if parser.proceed_next_document().unwrap_or(false) => {}
            Err(_) => break,
        }
    }
    comments
}

/// Rewrites YAML that may not be UTF-8. The first invalid byte is a fault, and all are read as `?`.
pub fn view_bytes(bytes: &[u8]) -> View {
    let Err(error) = std::str::from_utf8(bytes) else {
        return view(std::str::from_utf8(bytes).unwrap_or_default());
    };
    let at = error.valid_up_to();
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '?'));
    }
    let mut view = view(&text);
    let message = "bytes that are not UTF-8".to_owned();
    view.fault(FaultKind::Syntax, Span::new(at, at + 1), message);
    view.faults.sort_by_key(|fault| fault.span);
    view
}

/// Reads up to the end or the next error. Returns true at the end.
fn documents<'t>(parser: &mut Parser<'t, StrInput<'t>>, writer: &mut YamlWriter, skipped: usize) -> bool {
    while let Some(next) = parser.next_event() {
        match next {
            Ok((Event::StreamEnd, _)) => return true,
            Ok((event, span)) => {
                let range = span.byte_range().unwrap_or_default();
                step(event, Span::new(range.start + skipped, range.end + skipped), writer);
            }
            Err(error) => {
                broken(&error, writer, skipped);
                return !parser.proceed_next_document().unwrap_or(false);
            }
        }
        if writer.is_full() {
            return true;
        }
    }
    true
}

fn step(event: Event<'_>, span: Span, writer: &mut YamlWriter) {
    let node = |anchor, tag| YamlNode { span, anchor, tag };
    match event {
        Event::Scalar(text, style, anchor, tag) => writer.scalar(&text, style, node(anchor, tag.as_deref())),
        Event::MappingStart(_, anchor, tag) => writer.open(node(anchor, tag.as_deref()), true),
        Event::SequenceStart(_, anchor, tag) => writer.open(node(anchor, tag.as_deref()), false),
        Event::MappingEnd | Event::SequenceEnd => writer.close(span),
        Event::Alias(anchor) => writer.alias(anchor, span),
        Event::UnresolvedAlias(name) => writer.unknown_alias(&name, span),
        Event::DocumentEnd => writer.end_document(false),
        _ => {}
    }
}

#[cold]
fn broken(error: &ScanError, writer: &mut YamlWriter, skipped: usize) {
    let at = error.marker().byte_offset().unwrap_or_default() + skipped;
    let (kind, message) = match error.kind() {
        ErrorKind::RecursionLimitExceeded => (FaultKind::Limit, format!("more than {MAX_NESTING} levels of YAML")),
        _ => (FaultKind::Syntax, lower(&error.info())),
    };
    writer.fault(
        kind,
        Span::new(at, at + 1),
        format!("{message}, the rest of the document is not read"),
    );
    writer.end_document(true);
}

/// Returns the parser's message as a fragment, in lower case and without a full stop.
fn lower(message: &str) -> String {
    let mut chars = message.trim_end_matches('.').chars();
    let first = chars.next().map(|c| c.to_ascii_lowercase());
    first.into_iter().chain(chars).collect()
}

#[cfg(test)]
mod tests;
