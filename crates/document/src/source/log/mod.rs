//! Verbose logs of gRPC clients: finds the xDS messages between other lines.
//!
//! grpc-go and grpc-java print messages as JSON over several lines, after words such as `ADS
//! response received: {`. C-core prints text format after `received response: `. So does grpc-go if
//! a message holds a type that it cannot print. Newer versions of C-core print the resources of a
//! response one by one, after `Cluster: ` and similar words. The rest of a log is skipped. A
//! message that is cut off ends where the next one begins.
//!
//! Other programs may have added a prefix to each line; [`strip`] removes it.

mod heads;
mod prefix;
mod strip;

use std::collections::BTreeSet;
use std::ops::Range;

use memchr::memmem;
use xdsctl_proto::tables::{self, Message};

use super::json::Scanner;
use super::view::{FaultKind, MAX_VIEWED_BYTES};
use super::{Span, View, textproto};
pub use heads::heads;
use prefix::Prefix;
pub(crate) use prefix::shape;
use strip::Stripped;

/// The words before a message in the logs of grpc-go, C-core and grpc-java, each with the type of
/// the message.
const MARKERS: &[(&str, &str)] = &[
    ("ADS response received:", RESPONSE),
    ("ADS request sent:", REQUEST),
    ("received response:", RESPONSE),
    ("constructed ADS request:", REQUEST),
    (" response:\n", RESPONSE),
    ("Sent DiscoveryRequest\n", REQUEST),
    ("] Listener: ", "envoy.config.listener.v3.Listener"),
    ("] RouteConfiguration: ", "envoy.config.route.v3.RouteConfiguration"),
    ("] Cluster: ", "envoy.config.cluster.v3.Cluster"),
    (
        "] ClusterLoadAssignment: ",
        "envoy.config.endpoint.v3.ClusterLoadAssignment",
    ),
];

const RESPONSE: &str = "envoy.service.discovery.v3.DiscoveryResponse";
const REQUEST: &str = "envoy.service.discovery.v3.DiscoveryRequest";

/// The longest text in a line before the words, in bytes.
const MAX_HEAD: usize = 512;

/// A message in a log.
#[derive(Debug, Clone)]
pub struct LoggedMessage<'b> {
    /// The span of the message, including lines that are between its own.
    pub span: Span,
    /// The type of a message in text format; `None` if the message is JSON.
    pub text: Option<&'static Message>,
    /// The name of the client that wrote the message, if the log has several.
    pub client: Option<String>,
    /// The message without the prefixes of its lines, if they have prefixes.
    stripped: Option<Box<Stripped<'b>>>,
}

impl LoggedMessage<'_> {
    /// Says whether the message is a single resource, without a response around it.
    pub fn is_resource(&self) -> bool {
        let name = self.text.map(|message| message.full_name);
        name.is_some_and(|name| name != RESPONSE && name != REQUEST)
    }

    /// Says whether the message can be read as it is in the log. If not, it is in the [`view`].
    pub fn is_plain(&self) -> bool {
        self.text.is_none() && self.stripped.is_none()
    }
}

/// How many bytes of a document are searched for a first message.
const LOOK: usize = 1 << 20;

/// The limit on reading lines again to find all lines of a message, as a multiple of the log's
/// length.
const MAX_LOOKS: usize = 8;

/// The number of prefixes that are tried on a line that shows none of its own.
const MAX_KNOWN_PREFIXES: usize = 64;

/// Says whether the document is a log with xDS messages in it.
pub(super) fn looks_like(bytes: &[u8]) -> bool {
    Search::new(bytes.get(..LOOK).unwrap_or(bytes)).next(0).is_some()
}

/// Returns the messages of a log, in order.
pub fn entries(bytes: &[u8]) -> Vec<LoggedMessage<'_>> {
    let mut entries = Vec::new();
    let mut clients = Vec::new();
    let mut search = Search::new(bytes);
    let mut from = 0;
    let mut budget = bytes.len().saturating_mul(MAX_LOOKS);
    while let Some(found) = search.next(from) {
        let start = found.start;
        let is_json = bytes.get(start) == Some(&b'{');
        let json_end = is_json.then(|| end_of_json(bytes, start)).flatten();
        let stripped = match json_end {
            Some(_) => None,
            None => strip::strip(bytes, found.words, start, is_json, &mut budget),
        };
        let end = match (&stripped, json_end) {
            (Some(stripped), _) => stripped.end,
            (None, Some(end)) => end,
            (None, None) => {
                let next = search.next(start + 1);
                let limit = next.map_or(bytes.len(), |next| line_start(bytes, next.words));
                if is_json {
                    limit
                } else {
                    // After a prefix such as `app: `, the whole log would look like text format.
                    let limit = limit.max(strip::end_of_line(bytes, start));
                    end_of_text(bytes.get(..limit).unwrap_or(bytes), start)
                }
            }
        };
        let end = end.max(start + 1);
        // A message of another stream may begin between the lines of this one.
        from = match &stripped {
            Some(stripped) if !stripped.is_whole && may_read_again(stripped.text.len(), &mut budget) => start + 1,
            _ => end,
        };
        clients.push((found.words, stripped.as_ref().map(|stripped| stripped.prefix.clone())));
        entries.push(LoggedMessage {
            span: Span::new(start, end),
            text: (!is_json).then(|| tables::message(found.kind)).flatten(),
            client: None,
            stripped: stripped.map(Box::new),
        });
    }
    name_clients(bytes, &clients, &mut entries);
    entries
}

/// Takes `len` bytes off the budget. Returns false if the budget is smaller.
fn may_read_again(len: usize, budget: &mut usize) -> bool {
    let left = budget.checked_sub(len);
    *budget = left.unwrap_or(*budget);
    left.is_some()
}

/// Returns where the JSON value at `start` ends, if it is complete.
fn end_of_json(bytes: &[u8], start: usize) -> Option<usize> {
    let mut scan = Scanner::new(bytes);
    scan.set_pos(start);
    scan.skip_value().is_ok().then(|| scan.pos())
}

/// If there are several clients, names the client of each message: by its number in the line, and
/// by the prefix of the line.
fn name_clients(bytes: &[u8], heads: &[(usize, Option<Prefix<'_>>)], entries: &mut [LoggedMessage<'_>]) {
    let prefixes: BTreeSet<&Prefix<'_>> = heads.iter().filter_map(|(_, prefix)| prefix.as_ref()).collect();
    let known = || prefixes.iter().take(MAX_KNOWN_PREFIXES);
    let names: Vec<String> = heads
        .iter()
        .map(|(words, prefix)| {
            let head = bytes.get(line_start(bytes, *words)..*words).unwrap_or_default();
            // A message on one line shows no prefix of its own, but may have the prefix of other
            // lines.
            let other = || known().find(|prefix| prefix.strip(head).is_some()).copied();
            let prefix = prefix.as_ref().or_else(other).map(Prefix::words);
            let parts = prefix.into_iter().chain(client(head));
            parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
        })
        .collect();
    let differ = names.windows(2).any(|pair| pair.first() != pair.last());
    if differ {
        for (entry, name) in entries.iter_mut().zip(names) {
            entry.client = Some(name).filter(|name| !name.is_empty());
        }
    }
}

/// Returns the client's number in a line: `[xds-client 0xc0001]`, `[xds_client 0x5581]`,
/// `[xds-client<1>: (a)]`.
fn client(head: &[u8]) -> Option<String> {
    let found = [&b"xds-client "[..], b"xds_client ", b"xds-client<"]
        .into_iter()
        .find_map(|words| memmem::find(head, words).map(|at| at + words.len()))?;
    let rest = head.get(found..)?;
    let len = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let number = String::from_utf8_lossy(rest.get(..len)?).into_owned();
    (len > 0).then(|| format!("xds-client {number}"))
}

/// Returns the messages that are not plain JSON as a view, and for each entry its parts in the
/// view.
pub fn view(bytes: &[u8], entries: &[LoggedMessage<'_>]) -> (View, Vec<Range<usize>>) {
    let mut view = View::default();
    let mut parts = Vec::new();
    let too_large = bytes.len() > MAX_VIEWED_BYTES;
    if too_large {
        let message = format!("a log with messages that are not plain JSON has more than {MAX_VIEWED_BYTES} bytes");
        view.fault(FaultKind::Limit, Span::default(), message);
    }
    for entry in entries {
        let first = view.parts.len();
        match (&entry.stripped, entry.text) {
            _ if too_large => {}
            (Some(stripped), None) => view.append(stripped.json(), |at| stripped.place(at)),
            (Some(stripped), Some(_)) => {
                view.append(textproto::view(&stripped.text, entry.text), |at| stripped.place(at));
            }
            (None, Some(_)) => {
                let text = bytes.get(entry.span.range()).unwrap_or_default();
                view.append(textproto::view(text, entry.text), |at| at + entry.span.start);
            }
            (None, None) => {}
        }
        parts.push(first..view.parts.len());
    }
    (view, parts)
}

/// The start of a message in a document.
#[derive(Debug, Clone, Copy)]
struct MessageStart {
    /// The offset of the words before the message.
    words: usize,
    /// The offset of the first byte of the message.
    start: usize,
    /// The full name of the message's type.
    kind: &'static str,
}

/// Searches for messages from the start of a log to its end.
struct Search<'b> {
    bytes: &'b [u8],
    /// For each of [`MARKERS`], whether it was searched for, and the next message after it. A
    /// marker that does not occur again must not be searched for again.
    found: [Option<Option<(usize, usize)>>; MARKERS.len()],
}

impl<'b> Search<'b> {
    fn new(bytes: &'b [u8]) -> Self {
        Search {
            bytes,
            found: [None; MARKERS.len()],
        }
    }

    /// Returns the next message that starts at or after `from`. `from` must not decrease between
    /// calls.
    fn next(&mut self, from: usize) -> Option<MessageStart> {
        let mut first: Option<MessageStart> = None;
        for ((marker, kind), found) in MARKERS.iter().zip(&mut self.found) {
            let is_stale = found.is_none_or(|found| found.is_some_and(|(_, start)| start < from));
            if is_stale {
                *found = Some(message_behind(self.bytes, from, marker));
            }
            if let Some((words, start)) = found.flatten()
                && first.is_none_or(|first| start < first.start)
            {
                first = Some(MessageStart { words, start, kind });
            }
        }
        first
    }
}

/// Returns the offsets of the next marker after `from` and of the message after it.
fn message_behind(bytes: &[u8], mut from: usize, marker: &str) -> Option<(usize, usize)> {
    loop {
        let at = from + memmem::find(bytes.get(from..)?, marker.as_bytes())?;
        from = at + marker.len();
        if let Some(start) = message_start(bytes, at, from) {
            return Some((at, start));
        }
    }
}

/// Returns where the message after the words at `words..end` begins, if a client wrote the words.
fn message_start(bytes: &[u8], words: usize, end: usize) -> Option<usize> {
    let head = bytes.get(line_start(bytes, words)..words)?;
    let names_xds = |word: &[u8]| memmem::find(head, word).is_some();
    if !(names_xds(b"xds") || names_xds(b"Xds")) {
        return None;
    }
    let rest = bytes.get(end..)?;
    let start = end + rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
    let begins = bytes.get(start) == Some(&b'{') || is_text_line(bytes.get(start..)?);
    let is_line_behind = bytes.get(end.checked_sub(1)?) == Some(&b'\n');
    let behind = || strip::start_behind(bytes, words).filter(|_| is_line_behind);
    begins.then_some(start).or_else(behind)
}

fn line_start(bytes: &[u8], at: usize) -> usize {
    let from = at.saturating_sub(MAX_HEAD);
    let head = bytes.get(from..at).unwrap_or_default();
    memchr::memrchr(b'\n', head).map_or(from, |newline| from + newline + 1)
}

/// Returns the end of the lines from `start` on that may be text format.
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

/// Says whether a line begins like a line of text format: with a field, an extension or the end of
/// a message.
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
    fn resources_that_are_printed_one_by_one_are_found() {
        let log = "I0000 xds_cluster_parser.cc:744] [xds_client 0x1] Cluster: name: \"a\"\ntype: EDS\n\nI0000 xds_cluster_parser.cc:775] [xds_client 0x1] parsed Cluster a: {type=EDS}\n";
        check(log, &["name: \"a\"\ntype: EDS"]);
        assert!(entries(log.as_bytes())[0].is_resource());
        check("app: [x] Cluster: name: a\n", &[]);
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
