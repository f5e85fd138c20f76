//! Removes the prefixes from the lines of a logged message, and maps offsets back to the document.
//!
//! Lines of other streams may be between the lines of a message; they are skipped. A message ends
//! where it is complete, or at the first line of its own stream that does not continue it.

use super::prefix::Prefix;
use super::{is_text_line, line_start, shape};
use crate::source::Span;
use crate::source::json::{Scanner, is_number};
use crate::source::view::{FaultKind, View, ViewPart};

/// A message without the prefixes of its lines.
#[derive(Debug, Clone)]
pub(super) struct Stripped<'b> {
    /// The text of the message, without prefixes.
    pub text: Vec<u8>,
    /// For each line, its offset in `text` and in the document.
    lines: Vec<(usize, usize)>,
    /// The prefix of each line.
    pub prefix: Prefix<'b>,
    /// The offset in the document behind the message.
    pub end: usize,
    /// Whether no line of another stream is between the lines of the message.
    pub is_whole: bool,
}

/// The most bytes of other lines that are skipped between two lines of a message.
const MAX_GAP: usize = 256 << 10;

/// The most lines of other streams before a message that begins on a line of its own.
const MAX_LINES_BEHIND: usize = 64;

/// Strips the message that begins at `start`, after `words` in the first line of its log entry.
///
/// Returns `None` if the lines have no prefix. `budget` is how many bytes of other lines may still
/// be read in the whole log.
pub(super) fn strip<'b>(
    bytes: &'b [u8],
    words: usize,
    start: usize,
    is_json: bool,
    budget: &mut usize,
) -> Option<Stripped<'b>> {
    let prefix = learn(bytes, head(bytes, words), end_of_line(bytes, start), is_json, budget)?;
    let mut stripped = Stripped {
        text: Vec::new(),
        lines: Vec::new(),
        prefix,
        end: start,
        is_whole: true,
    };
    let mut depth = 0;
    let mut gap = 0;
    let mut at = start;
    stripped.push(bytes, start, end_of_line(bytes, start), is_json, &mut depth);
    loop {
        at = end_of_line(bytes, at);
        if at >= bytes.len() || (is_json && depth == 0) {
            return Some(stripped);
        }
        let line = line(bytes, at);
        match stripped.prefix.strip(line) {
            Some(rest) if continues(rest, is_json) => {
                let from = at + line.len() - rest.len();
                stripped.push(bytes, from, end_of_line(bytes, at), is_json, &mut depth);
                gap = 0;
            }
            Some(_) => return Some(stripped),
            None => {
                gap += line.len() + 1;
                match budget.checked_sub(line.len() + 1) {
                    Some(left) if gap <= MAX_GAP => *budget = left,
                    _ => return Some(stripped),
                }
                stripped.is_whole = false;
            }
        }
    }
}

/// Returns the start of a message that begins on the line after `words` or soon after, if its lines
/// have a prefix.
pub(super) fn start_behind(bytes: &[u8], words: usize) -> Option<usize> {
    let head = head(bytes, words);
    let mut at = end_of_line(bytes, words);
    for _ in 0..MAX_LINES_BEHIND {
        let next = line(bytes, at);
        let rest = Prefix::common(head, next).and_then(|prefix| prefix.strip(next));
        if let Some(rest) = rest.filter(|rest| rest.trim_ascii() == b"{") {
            return Some(at + next.len() - rest.trim_ascii_start().len());
        }
        at = end_of_line(bytes, at);
    }
    None
}

/// Finds the prefix of the line `head`. It is known from the first line from `at` on that continues
/// the message.
fn learn<'b>(bytes: &[u8], head: &'b [u8], mut at: usize, is_json: bool, budget: &mut usize) -> Option<Prefix<'b>> {
    let limit = at.saturating_add(MAX_GAP).min(bytes.len());
    while at < limit {
        let line = line(bytes, at);
        let common = Prefix::common(head, line).filter(|prefix| {
            let is_client = is_json || prefix.strip(head).is_some_and(is_client_line);
            is_client && prefix.strip(line).is_some_and(|rest| continues(rest, is_json))
        });
        if common.is_some() {
            return common;
        }
        *budget = budget.checked_sub(line.len() + 1)?;
        at = end_of_line(bytes, at);
    }
    None
}

/// Says whether a line begins like a line of a client's own log: C-core's or grpc-go's.
///
/// Almost any line could be text format, so the log lines before a message must be recognised.
fn is_client_line(rest: &[u8]) -> bool {
    match rest.trim_ascii_start() {
        [b'I' | b'W' | b'E' | b'F' | b'D', a, b, c, d, b' ', ..] => {
            [a, b, c, d].iter().all(|byte| byte.is_ascii_digit())
        }
        rest => shape(rest, b"dddd/dd/dd ").is_some(),
    }
}

/// Says whether the rest of a line may continue a message.
fn continues(rest: &[u8], is_json: bool) -> bool {
    let rest = rest.trim_ascii();
    if !is_json {
        return rest.is_empty() || is_text_line(rest);
    }
    let inner = rest.get(1..).unwrap_or_default().trim_ascii_start().first();
    match rest.first() {
        Some(b'"' | b'}' | b']') => true,
        Some(b'{') => matches!(inner, None | Some(b'"' | b'}')),
        Some(b'[') => matches!(inner, None | Some(b'"' | b'{' | b'[' | b']')),
        Some(_) => {
            let token = rest.strip_suffix(b",").unwrap_or(rest);
            matches!(token, b"true" | b"false" | b"null") || is_number(token)
        }
        None => false,
    }
}

/// Returns the text before `words` in their line: the prefix, and what the client writes before
/// them.
fn head(bytes: &[u8], words: usize) -> &[u8] {
    bytes.get(line_start(bytes, words)..words).unwrap_or_default()
}

/// Returns the line that begins at `at`, without its end.
fn line(bytes: &[u8], at: usize) -> &[u8] {
    let rest = bytes.get(at..).unwrap_or_default();
    let line = memchr::memchr(b'\n', rest)
        .and_then(|end| rest.get(..end))
        .unwrap_or(rest);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Returns the start of the line after the one with `at`.
pub(super) fn end_of_line(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    memchr::memchr(b'\n', rest).map_or(bytes.len(), |end| at + end + 1)
}

impl Stripped<'_> {
    /// Adds a line. In JSON, stops at the end of the message.
    fn push(&mut self, bytes: &[u8], start: usize, end: usize, is_json: bool, depth: &mut usize) {
        let mut line = bytes.get(start..end).unwrap_or_default();
        if is_json && let Some(last) = closes(line, depth) {
            line = line.get(..=last).unwrap_or_default();
        }
        self.lines.push((self.text.len(), start));
        self.text.extend_from_slice(line);
        self.end = start + line.len();
    }

    /// Returns the offset in the document of a byte of the text.
    pub(super) fn place(&self, at: usize) -> usize {
        let behind = self.lines.partition_point(|(from, _)| *from <= at);
        let line = behind.checked_sub(1).and_then(|index| self.lines.get(index));
        line.map_or(at, |(from, start)| start + (at - from))
    }

    /// Returns the text as a view of itself, in which each token has its place in the text. If the
    /// message is cut off, the view ends there.
    pub(super) fn json(&self) -> View {
        let mut view = View::default();
        let mut at = 0;
        while let Some(&byte) = self.text.get(at) {
            let rest = self.text.get(at..).unwrap_or_default();
            let len = match byte {
                b'"' => string(rest),
                b'{' | b'}' | b'[' | b']' | b':' | b',' => 1,
                _ if byte.is_ascii_whitespace() => {
                    view.json.push(b' ');
                    at += rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
                    continue;
                }
                _ => {
                    let is_end = |byte: &u8| byte.is_ascii_whitespace() || b"{}[]:,\"".contains(byte);
                    rest.iter().position(is_end).unwrap_or(rest.len())
                }
            };
            view.raw(rest.get(..len).unwrap_or_default(), Span::new(at, at + len));
            at += len;
        }
        let mut scan = Scanner::new(&view.json);
        let fault = scan.skip_value().err();
        if let Some(fault) = &fault {
            view.json.truncate(fault.at);
            let message = format!("{}, nothing is read from here on", fault.what);
            let end = self.text.len();
            let at = view.to_document(Span::new(fault.at, fault.at)).start;
            let at = if fault.at >= view.json.len() { end } else { at };
            view.fault(FaultKind::Syntax, Span::new(at.saturating_sub(1), at), message);
        }
        let text = Span::new(0, view.json.len());
        let cut = fault.is_some();
        if !view.json.is_empty() {
            view.json.push(b'\n');
            view.parts.push(ViewPart { text, cut });
        }
        view
    }
}

/// Returns the length of the string at the start of `text`.
fn string(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(next) = text.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += next;
        match text.get(at) {
            Some(b'"') => return at + 1,
            _ => at += 2,
        }
    }
    text.len()
}

/// Counts the brackets of a line. Returns the offset of the one that closes the last open bracket.
fn closes(line: &[u8], depth: &mut usize) -> Option<usize> {
    let mut at = 0;
    while let Some(byte) = line.get(at) {
        match byte {
            b'"' => {
                at += string(line.get(at..).unwrap_or_default());
                continue;
            }
            b'{' | b'[' => *depth += 1,
            b'}' | b']' => {
                *depth = depth.saturating_sub(1);
                if *depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::{entries, view};
    use super::MAX_GAP;

    /// Returns the JSON of each message of a log, and the text in the document for each `wanted`
    /// part.
    fn read(log: &str, wanted: &str) -> (Vec<String>, Vec<String>) {
        let entries = entries(log.as_bytes());
        let (view, parts) = view(log.as_bytes(), &entries);
        let texts = entries.iter().zip(parts).map(|(entry, parts)| {
            let parts = &view.parts[parts];
            let (text, is_cut) = match parts {
                [part] => (&view.json[part.text.range()], part.cut),
                _ => (&log.as_bytes()[entry.span.range()], false),
            };
            let text: String = String::from_utf8_lossy(text).split_whitespace().collect();
            if is_cut { format!("{text}...") } else { text }
        });
        let texts = texts.collect();
        let json = String::from_utf8_lossy(&view.json).into_owned();
        let places = json.match_indices(wanted).map(|(at, _)| {
            let place = view.to_document(crate::source::Span::new(at, at + wanted.len()));
            log[place.range()].to_owned()
        });
        (texts, places.collect())
    }

    #[test]
    fn prefixes_are_taken_away_and_places_stay() {
        let log = "a | [xds-client 1] ADS response received: {\na |   \"x\": [\na |     \"long\"\na |   ]\na | }\na | [xds-client 1] done\n";
        let (texts, places) = read(log, "\"long\"");
        assert_eq!(texts, [r#"{"x":["long"]}"#]);
        assert_eq!(places, ["\"long\""]);
    }

    #[test]
    fn lines_of_other_streams_stand_between() {
        let log = "a | [xds-client 1] ADS response received: {\nb | [xds-client 1] ADS response received: {\nnoise\na |   \"x\": 1\nb |   \"y\": 2\nb | }\na | }\n";
        assert_eq!(read(log, "1").0, [r#"{"x":1}"#, r#"{"y":2}"#]);
    }

    #[test]
    fn a_message_goes_on_behind_so_much_of_other_streams_and_no_more() {
        let noise = |bytes: usize| "noise\n".repeat(bytes / 6);
        // Noise before the second line of the message, which shows its prefix, and after it.
        for (first, second) in [(MAX_GAP, MAX_GAP), (MAX_GAP + 60, 0), (0, MAX_GAP + 60)] {
            let log = format!(
                "a | [xds-client 1] ADS response received: {{\n{}a |   \"x\": 1,\n{}a |   \"y\": 2\na | }}\n",
                noise(first),
                noise(second)
            );
            let is_whole = read(&log, "1").0.iter().any(|text| text == r#"{"x":1,"y":2}"#);
            assert_eq!(is_whole, first.max(second) <= MAX_GAP, "{first} {second}");
        }
    }

    #[test]
    fn a_message_that_breaks_off_ends_at_the_next_line_of_its_stream() {
        let log = "a | [xds-client 1] ADS response received: {\na |   \"x\": {\na | [xds-client 1] other\na |   \"y\": 1\na | [xds-client 1] ADS response received: {}\n";
        assert_eq!(read(log, "x").0, [r#"{"x":{..."#, "{}"]);
    }

    #[test]
    fn text_format_has_prefixes_only_before_a_known_head() {
        let log = "svc: I0102 03:04:05.0 1 a.cc:1] [xds_client 1] received response: version_info: \"1\"\nsvc: nonce: \"2\"\nsvc: I0102 x\n";
        let (texts, places) = read(log, "\"2\"");
        assert!(texts[0].ends_with(r#""version_info":"1","nonce":"2"}"#), "{texts:?}");
        assert_eq!(places, ["\"2\""]);
        // The second line was written by another program.
        let log = "I0102 03:04:05.0 1 a.cc:1] [xds_client 1] received response: version_info: \"1\"\nI0102 03:04:05.0 1 b: \"2\"\n";
        assert!(read(log, "x").0[0].ends_with(r#""version_info":"1"}"#));
    }

    #[test]
    fn hostile_logs_take_no_longer_than_their_size_allows() {
        let cut = "pod-1 [xds-client 1] ADS response received: {\n";
        assert_eq!(read(&cut.repeat(20_000), "x").0.len(), 20_000);
        let apart: String = (0..20_000)
            .map(|i| format!("p{i} [xds-client {i}] ADS response received: {{\np{i}   \"x\": 1\n"))
            .collect();
        assert_eq!(read(&apart, "y").0.len(), 20_000);
        // Each line looks like text format.
        let text: String = (0..20_000)
            .map(|i| format!("s{i}: I0102 03:04:05.0 1 a.cc:1] [xds_client 1] received response: nonce: \"1\"\n"))
            .collect();
        assert_eq!(entries(text.as_bytes()).len(), 20_000);
        let plain = "q [xds-client 1] ADS response received: {}\n".repeat(20_000);
        assert_eq!(entries((apart + &plain).as_bytes()).len(), 40_000);
        // Strings of a message contain marker words, and are followed by a line of another stream.
        let inside = "a | \"xds ADS response received: {\na | 1,\n".repeat(20_000);
        let log = format!("a | [xds-client 1] ADS response received: {{\n{inside}z\na | 2\n");
        let entries = entries(log.as_bytes());
        let read: usize = entries
            .iter()
            .filter_map(|e| e.stripped.as_ref())
            .map(|s| s.text.len())
            .sum();
        assert!(read <= log.len() * 10, "{read}");
    }
}
