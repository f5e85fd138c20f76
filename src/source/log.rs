//! Verbose logs of gRPC clients: the xDS messages that they print between other lines.
//!
//! grpc-go and grpc-java print messages as JSON over several lines, behind words that end a line's head: `ADS response
//! received: {`. C-core prints text format behind `received response: `, and so does grpc-go where a message holds a type that it
//! cannot print. The rest of a log is passed over. A message that breaks off ends where the next one begins.

use super::json::Scanner;
use super::{Span, View, textproto};
use memchr::memmem;
use xdsctl_proto::tables::{self, Message};

/// The words before a message: those that grpc-go, C-core and grpc-java print, and what the message is.
const MARKERS: &[(&str, &str)] = &[
    ("ADS response received:", RESPONSE),
    ("ADS request sent:", REQUEST),
    ("received response:", RESPONSE),
    ("constructed ADS request:", REQUEST),
    (" response:\n", RESPONSE),
    ("Sent DiscoveryRequest\n", REQUEST),
];

const RESPONSE: &str = "envoy.service.discovery.v3.DiscoveryResponse";
const REQUEST: &str = "envoy.service.discovery.v3.DiscoveryRequest";

/// Longest head of a line, in bytes: what stands before the words.
const MAX_HEAD: usize = 512;

/// A message in a log.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Its text.
    pub span: Span,
    /// It is in text format, of this type; JSON otherwise.
    pub text: Option<&'static Message>,
}

/// How much of a document is searched for a first message, in bytes.
const LOOK: usize = 1 << 20;

/// Says whether the document is a log with xDS messages in it.
pub(super) fn looks_like(bytes: &[u8]) -> bool {
    Search::new(bytes.get(..LOOK).unwrap_or(bytes)).next(0).is_some()
}

/// The messages of a log, in order.
pub fn entries(bytes: &[u8]) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut search = Search::new(bytes);
    let mut from = 0;
    while let Some((start, kind)) = search.next(from) {
        let (end, text) = if bytes.get(start) == Some(&b'{') {
            let mut scan = Scanner::new(bytes);
            scan.set_pos(start);
            let end = match scan.skip_value() {
                Ok(()) => scan.pos(),
                Err(_) => search
                    .next(start + 1)
                    .map_or(bytes.len(), |(start, _)| line_start(bytes, start)),
            };
            (end, None)
        } else {
            (end_of_text(bytes, start), tables::message(kind))
        };
        let end = end.max(start + 1);
        let span = Span::new(start, end);
        entries.push(Entry { span, text });
        from = end;
    }
    entries
}

/// The messages in text format as JSON.
pub fn view(bytes: &[u8], entries: &[Entry]) -> View {
    let mut view = View::default();
    for entry in entries.iter().filter(|entry| entry.text.is_some()) {
        let text = bytes.get(entry.span.range()).unwrap_or_default();
        view.append(textproto::view(text, entry.text), entry.span.start);
    }
    view
}

/// Looks for messages from start to end.
struct Search<'b> {
    bytes: &'b [u8],
    /// The next message behind each of [`MARKERS`], and whether it was looked for: words that do not occur again must
    /// not be looked for again.
    found: [Option<Option<usize>>; MARKERS.len()],
}

impl<'b> Search<'b> {
    fn new(bytes: &'b [u8]) -> Self {
        Search {
            bytes,
            found: [None; MARKERS.len()],
        }
    }

    /// The start and type of the next message at or after `from`, which must not go back.
    fn next(&mut self, from: usize) -> Option<(usize, &'static str)> {
        let mut first: Option<(usize, &'static str)> = None;
        for ((marker, kind), found) in MARKERS.iter().zip(&mut self.found) {
            let is_stale = found.is_none_or(|found| found.is_some_and(|start| start < from));
            if is_stale {
                *found = Some(message_behind(self.bytes, from, marker));
            }
            let start = found.flatten();
            if let Some(start) = start.filter(|start| first.is_none_or(|(first, _)| *start < first)) {
                first = Some((start, kind));
            }
        }
        first
    }
}

/// The start of the next message behind `marker` after `from`.
fn message_behind(bytes: &[u8], mut from: usize, marker: &str) -> Option<usize> {
    loop {
        let at = from + memmem::find(bytes.get(from..)?, marker.as_bytes())?;
        from = at + marker.len();
        if let Some(start) = message_start(bytes, at, from) {
            return Some(start);
        }
    }
}

/// Where the message begins behind the words at `words..end`, if they are a client's.
fn message_start(bytes: &[u8], words: usize, end: usize) -> Option<usize> {
    let head = bytes.get(line_start(bytes, words)..words)?;
    let names_xds = |word: &[u8]| memmem::find(head, word).is_some();
    if !(names_xds(b"xds") || names_xds(b"Xds")) {
        return None;
    }
    let rest = bytes.get(end..)?;
    let start = end + rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
    let begins = bytes.get(start) == Some(&b'{') || is_text_line(bytes.get(start..)?);
    begins.then_some(start)
}

fn line_start(bytes: &[u8], at: usize) -> usize {
    let from = at.saturating_sub(MAX_HEAD);
    let head = bytes.get(from..at).unwrap_or_default();
    memchr::memrchr(b'\n', head).map_or(from, |newline| from + newline + 1)
}

/// The end of the lines that text format may have, from `start` on.
fn end_of_text(bytes: &[u8], start: usize) -> usize {
    let mut end = start;
    while let Some(rest) = bytes.get(end..).filter(|rest| !rest.is_empty()) {
        let blank = rest.trim_ascii_start();
        if end > start && !is_text_line(blank) {
            break;
        }
        end += memchr::memchr(b'\n', rest).map_or(rest.len(), |newline| newline + 1);
    }
    end
}

/// Says whether a line begins as one of text format: a field, an extension, the end of a message.
fn is_text_line(line: &[u8]) -> bool {
    let count = |text: &[u8], is: fn(&u8) -> bool| text.iter().take_while(|byte| is(byte)).count();
    match line.first() {
        Some(b'}' | b'>') => true,
        Some(b'[') => {
            let name = line.get(1..).unwrap_or_default();
            let len = count(name, |b| {
                b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'/' | b'-')
            });
            name.get(len) == Some(&b']') && name.get(..len).is_some_and(|name| name.contains(&b'/'))
        }
        Some(b'a'..=b'z') => {
            let len = count(line, |b| b.is_ascii_alphanumeric() || *b == b'_');
            let rest = line.get(len..).unwrap_or_default().trim_ascii_start();
            matches!(rest.first(), Some(b':' | b'{' | b'<'))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(log: &str, expected: &[&str]) {
        let found: Vec<&str> = entries(log.as_bytes())
            .iter()
            .map(|e| log[e.span.range()].trim_end())
            .collect();
        assert_eq!(found, expected, "{log}");
        assert_eq!(looks_like(log.as_bytes()), !expected.is_empty());
    }

    #[test]
    fn messages_of_each_client_are_found() {
        check(
            "2026/01/02 INFO: [xds] [xds-client 0xc0] ADS response received: {\n  \"nonce\": \"1\"\n}\n2026/01/02 INFO: x\n[xds-client 1] ADS request sent: {}\n",
            &["{\n  \"nonce\": \"1\"\n}", "{}"],
        );
        check(
            "I0000 xds_client.cc:1196] [xds_client 0x1] received response: version_info: \"1\"\nresources {\n  type_url: \"a/b\"\n}\nI0000 xds_client.cc:1] x\n",
            &["version_info: \"1\"\nresources {\n  type_url: \"a/b\"\n}"],
        );
        check(
            "FINEST: [[xds-client<1>: (a)]] Received LDS response:\n{\n  \"nonce\": \"1\"\n}\nFINE: x",
            &["{\n  \"nonce\": \"1\"\n}"],
        );
    }

    #[test]
    fn a_message_that_breaks_off_ends_where_the_next_begins() {
        check(
            "[xds-client 1] ADS response received: {\"a\": [\n[xds-client 1] ADS response received: {}",
            &["{\"a\": [", "{}"],
        );
    }

    #[test]
    fn other_documents_are_no_logs() {
        check("- note: \"ADS response received: {}\"", &[]);
        check("[xds-client 1] ADS response received, type: x\n", &[]);
        check("[xds-client 1] ADS response received: x", &[]);
    }
}
