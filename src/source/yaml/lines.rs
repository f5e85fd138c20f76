//! The YAML that programs write, read a line at a time.
//!
//! Dumps are block mappings and sequences of one-line scalars. Reading those needs no more than a stack of indentations, and
//! is ten times as fast as a parser for all of YAML. This reader takes nothing else: at the first line that is not plainly of
//! that kind (anchors, tags, block scalars, escapes, values over several lines, tabs, anything beyond ASCII) it gives up, and the
//! document is parsed. What it does take, it takes exactly as the parser does; a test compares the two.

use super::scalar::{Form, form};
use super::{MAX_NESTING, MAX_VIEWED_BYTES};
use crate::source::view::View;

/// Longer keys are left to the parser, which has a limit for them.
const MAX_KEY: usize = 1000;

/// Flow collections inside each other that are read here.
const MAX_FLOW: usize = 16;

/// A block collection that is open.
struct Frame {
    /// Column of its keys or dashes.
    column: usize,
    mapping: bool,
    /// A key or a dash waits for its value, which started at this byte at the earliest.
    awaiting: Option<usize>,
    is_empty: bool,
}

/// What a line begins with.
#[derive(Clone, Copy, PartialEq)]
enum Lead {
    Dash,
    Key,
}

struct Reader<'t> {
    text: &'t [u8],
    view: View,
    frames: Vec<Frame>,
    document: usize,
    /// The document has a root node.
    rooted: bool,
    /// The document began with `---`.
    explicit: bool,
    last_end: usize,
}

/// Rewrites a text as JSON if it is of the simple kind.
pub(super) fn view(text: &str) -> Option<View> {
    let text = text.as_bytes();
    if text.len() > MAX_VIEWED_BYTES / 4 {
        return None;
    }
    let mut reader = Reader {
        text,
        view: View::default(),
        frames: Vec::new(),
        document: 0,
        rooted: false,
        explicit: false,
        last_end: 0,
    };
    reader.view.json.reserve(text.len());
    let mut start = 0;
    while start < text.len() {
        let rest = text.get(start..)?;
        let end = start + memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        reader.line(start, end)?;
        start = end + 1;
    }
    reader.end_document()?;
    Some(reader.view)
}

impl Reader<'_> {
    fn byte(&self, at: usize) -> Option<u8> {
        self.text.get(at).copied()
    }

    /// Reads a line; `None` if it is not of the simple kind.
    fn line(&mut self, start: usize, end: usize) -> Option<()> {
        let line = self.text.get(start..end)?;
        // Both signs of trouble at once: control characters (tabs, carriage returns) and everything beyond ASCII.
        if !line.iter().all(|byte| (b' '..0x7f).contains(byte)) {
            return None;
        }
        let indent = line.iter().position(|byte| *byte != b' ').unwrap_or(line.len());
        match line.get(indent) {
            None | Some(b'#') => return Some(()),
            Some(b'-') if indent == 0 && line.starts_with(b"---") => {
                return if line == b"---" { self.next_document() } else { None };
            }
            Some(b'%' | b'.') if indent == 0 => return None,
            _ => {}
        }
        self.node(start + indent, indent, end, false)
    }

    /// Reads what stands at `at`, in `column`; `inline` if a dash is before it on the line.
    fn node(&mut self, mut at: usize, mut column: usize, end: usize, mut inline: bool) -> Option<()> {
        while self.byte(at) == Some(b'-') && (at + 1 == end || self.byte(at + 1) == Some(b' ')) {
            self.place(Lead::Dash, column, at, inline)?;
            let next = self.skip_spaces(at + 1, end);
            if next >= end || self.byte(next) == Some(b'#') {
                // Nothing after the dash, or a comment.
                return Some(());
            }
            column += next - at;
            at = next;
            inline = true;
        }
        let Some((key, after)) = self.key(at, end) else {
            // A scalar alone: only as an element.
            if !inline {
                return None;
            }
            self.frames.last_mut()?.awaiting = None;
            return self.inline_value(at, end);
        };
        self.place(Lead::Key, column, at, inline)?;
        let (first, last) = key;
        if self.view.json.last() == Some(&b'{')
            && let Some(token) = self.view.tokens.last_mut()
        {
            // The bracket of a mapping is its first key.
            token.end = u32::try_from(after - 1).ok()?;
        }
        self.view.token_from(at, after - 1);
        self.last_end = after - 1;
        self.view.quoted(self.text.get(first..last)?);
        self.view.json.push(b':');
        let value = self.skip_spaces(after, end);
        if value >= end || self.byte(value) == Some(b'#') {
            self.frames.last_mut()?.awaiting = Some(after);
            return Some(());
        }
        self.inline_value(value, end)
    }

    fn skip_spaces(&self, mut at: usize, end: usize) -> usize {
        while at < end && self.byte(at) == Some(b' ') {
            at += 1;
        }
        at
    }

    /// Opens and closes collections until an entry that begins in `column` has its place; writes the comma before it.
    fn place(&mut self, lead: Lead, column: usize, at: usize, inline: bool) -> Option<()> {
        let is_dash = lead == Lead::Dash;
        loop {
            let Some(top) = self.frames.last_mut() else {
                if std::mem::replace(&mut self.rooted, true) {
                    return None;
                }
                self.open(column, !is_dash, at)?;
                continue;
            };
            if top.awaiting.is_some() {
                let inside = inline || column > top.column || (top.mapping && is_dash && column == top.column);
                if inside {
                    top.awaiting = None;
                    self.open(column, !is_dash, at)?;
                    // Nothing else can be on a line with what has just been opened.
                    continue;
                }
                self.null();
                continue;
            }
            if column > top.column {
                return None;
            }
            if column == top.column && top.mapping != is_dash {
                if !std::mem::take(&mut top.is_empty) {
                    self.view.json.push(b',');
                }
                if is_dash {
                    top.awaiting = Some(at + 1);
                }
                return Some(());
            }
            // A sequence may stand in the column of the keys around it, so the next key ends it.
            if column == top.column && top.mapping {
                return None;
            }
            self.close();
        }
    }

    fn open(&mut self, column: usize, mapping: bool, at: usize) -> Option<()> {
        if self.frames.len() >= MAX_NESTING {
            return None;
        }
        self.view.token_from(at, at + 1);
        self.view.json.push(if mapping { b'{' } else { b'[' });
        self.frames.push(Frame {
            column,
            mapping,
            awaiting: None,
            is_empty: true,
        });
        Some(())
    }

    fn close(&mut self) {
        if let Some(frame) = self.frames.pop() {
            self.view.token_from(self.last_end, self.last_end);
            self.view.json.push(if frame.mapping { b'}' } else { b']' });
        }
    }

    /// Writes the value of a key or dash that has none.
    fn null(&mut self) {
        if let Some(at) = self.frames.last_mut().and_then(|frame| frame.awaiting.take()) {
            self.view.token_from(at, at);
            self.view.json.extend_from_slice(b"null");
        }
    }

    fn next_document(&mut self) -> Option<()> {
        if self.rooted || self.explicit {
            self.end_document()?;
        }
        self.explicit = true;
        Some(())
    }

    fn end_document(&mut self) -> Option<()> {
        if !self.rooted {
            return None;
        }
        while !self.frames.is_empty() {
            self.null();
            self.close();
        }
        self.view.end_part(self.document, false);
        self.document = self.view.json.len();
        (self.rooted, self.explicit) = (false, false);
        Some(())
    }

    /// The inside of the key at `at`, and the byte after its colon.
    fn key(&self, at: usize, end: usize) -> Option<((usize, usize), usize)> {
        let first = self.byte(at)?;
        let (inside, after) = match first {
            b'"' | b'\'' => {
                let close = self.closing_quote(at, end)?;
                ((at + 1, close), close + 1)
            }
            _ => {
                if !(first.is_ascii_alphanumeric() || matches!(first, b'_' | b'/')) {
                    return None;
                }
                let rest = self.text.get(at..end)?;
                let is_key = |byte: &u8| {
                    byte.is_ascii_alphanumeric()
                        || matches!(byte, b'_' | b'-' | b'.' | b'/' | b'@' | b'|' | b'+' | b'=')
                };
                let length = rest.iter().position(|byte| !is_key(byte))?;
                ((at, at + length), at + length)
            }
        };
        let is_colon = self.byte(after) == Some(b':') && (after + 1 == end || self.byte(after + 1) == Some(b' '));
        (is_colon && after - at <= MAX_KEY).then_some((inside, after + 1))
    }

    /// The quote that ends the string at `at`; `None` if there are escapes in it.
    fn closing_quote(&self, at: usize, end: usize) -> Option<usize> {
        let quote = self.byte(at)?;
        let inside = self.text.get(at + 1..end)?;
        let length = memchr::memchr(quote, inside)?;
        let is_simple = match quote {
            b'"' => memchr::memchr(b'\\', inside.get(..length)?).is_none(),
            // A quote is written twice.
            _ => inside.get(length + 1) != Some(&b'\''),
        };
        is_simple.then_some(at + 1 + length)
    }

    /// Reads the value that takes the rest of a line.
    fn inline_value(&mut self, at: usize, end: usize) -> Option<()> {
        let after = match self.byte(at)? {
            b'"' | b'\'' => self.quoted(at, end)?,
            b'{' | b'[' => self.flow(at, end, 0)?,
            _ => {
                let rest = self.text.get(at..end)?;
                let length = plain_length(rest)?;
                self.plain(at, at + length)?;
                at + length
            }
        };
        // Only a comment may follow, after a space.
        let next = self.skip_spaces(after, end);
        let is_end = next >= end || (next > after && self.byte(next) == Some(b'#'));
        is_end.then_some(())
    }

    fn quoted(&mut self, at: usize, end: usize) -> Option<usize> {
        let close = self.closing_quote(at, end)?;
        self.view.token_from(at, close + 1);
        self.last_end = close + 1;
        self.view.quoted(self.text.get(at + 1..close)?);
        Some(close + 1)
    }

    fn plain(&mut self, start: usize, end: usize) -> Option<()> {
        let text = std::str::from_utf8(self.text.get(start..end)?).ok()?;
        self.view.token_from(start, end);
        self.last_end = end;
        match form(text) {
            Form::Null => self.view.json.extend_from_slice(b"null"),
            Form::Bare => self.view.json.extend_from_slice(text.as_bytes()),
            Form::Text => self.view.quoted(text.as_bytes()),
            Form::Marked => self.view.marked(text),
        }
        Some(())
    }

    /// Reads a flow collection that ends on its line; returns the byte after it.
    fn flow(&mut self, at: usize, end: usize, depth: usize) -> Option<usize> {
        let mapping = self.byte(at)? == b'{';
        let close = if mapping { b'}' } else { b']' };
        if depth >= MAX_FLOW {
            return None;
        }
        self.view.token_from(at, at + 1);
        self.view.json.push(if mapping { b'{' } else { b'[' });
        let mut at = self.skip_spaces(at + 1, end);
        let mut is_empty = true;
        while at < end && self.byte(at)? != close {
            if !std::mem::take(&mut is_empty) {
                self.view.json.push(b',');
            }
            if mapping {
                let (key, after) = self.key(at, end)?;
                self.view.token_from(at, after - 1);
                self.view.quoted(self.text.get(key.0..key.1)?);
                self.view.json.push(b':');
                at = self.skip_spaces(after, end);
            }
            at = match self.byte(at).filter(|_| at < end)? {
                b'"' | b'\'' => self.quoted(at, end)?,
                b'{' | b'[' => self.flow(at, end, depth + 1)?,
                _ => {
                    let rest = self.text.get(at..end)?;
                    let length = rest.iter().position(|byte| matches!(byte, b',' | b'}' | b']'))?;
                    let item = rest.get(..length)?.trim_ascii_end();
                    if plain_length(item)? != item.len()
                        || item
                            .iter()
                            .any(|byte| matches!(byte, b'{' | b'[' | b':' | b'#' | b'"' | b'\''))
                    {
                        return None;
                    }
                    self.plain(at, at + item.len())?;
                    at + item.len()
                }
            };
            at = self.skip_spaces(at, end);
            match self.byte(at).filter(|_| at < end)? {
                b',' => {
                    at = self.skip_spaces(at + 1, end);
                    // A comma before the bracket is left to the parser.
                    if self.byte(at).filter(|_| at < end)? == close {
                        return None;
                    }
                }
                byte if byte == close => {}
                _ => return None,
            }
        }
        if at >= end {
            return None;
        }
        self.view.token_from(at, at + 1);
        self.last_end = at + 1;
        self.view.json.push(close);
        Some(at + 1)
    }
}

/// How long the plain scalar is that starts a text; `None` if it is something else, or could be.
fn plain_length(text: &[u8]) -> Option<usize> {
    let first = *text.first()?;
    let may_start = first.is_ascii_alphanumeric()
        || matches!(
            first,
            b'/' | b'_' | b'.' | b'+' | b'~' | b'(' | b'$' | b'^' | b'=' | b'\\' | b'<' | b';'
        )
        || (first == b'-'
            && text
                .get(1)
                .is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'.'));
    if !may_start {
        return None;
    }
    let mut length = text.len();
    let mut from = 0;
    while let Some(found) = text.get(from..).and_then(|rest| memchr::memchr2(b':', b'#', rest)) {
        let at = from + found;
        match text.get(at)? {
            // A key on the line of a value is an error for the parser to explain.
            b':' if matches!(text.get(at + 1), None | Some(b' ')) => return None,
            b'#' if text.get(at.wrapping_sub(1)) == Some(&b' ') => {
                length = at;
                break;
            }
            _ => from = at + 1,
        }
    }
    Some(text.get(..length)?.trim_ascii_end().len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Span;
    use crate::source::yaml::parsed;

    const SAMPLE: &str = "\
# A dump.
resources:
- '@type': type.googleapis.com/envoy.config.cluster.v3.Cluster
  name: outbound|80||a.b # name
  empty:
  list:
    - 1
    -
    - - a
      - b: -5
        c: 0x1f
  map: {a: b, \"c\": [1, {d: e f}], g: {}}
  quoted: \"a # b: c\"
  url: http://a:80/b#c
  after:

    deep: {}
other: [a, 'b c', ~, true]
---
x: y
";

    /// The reader agrees with the parser, or leaves the text to it; says which.
    #[track_caller]
    fn agrees(text: &str) -> bool {
        let Some(read) = view(text) else { return false };
        let parsed = parsed(text);
        let json = |view: &View| String::from_utf8_lossy(&view.json).into_owned();
        assert_eq!(parsed.faults, [], "{text:?} {}", json(&read));
        assert_eq!(json(&read), json(&parsed), "{text:?}");
        assert_eq!(read.parts, parsed.parts, "{text:?}");
        assert_eq!(read.tokens.len(), parsed.tokens.len(), "{text:?}");
        for (a, b) in read.tokens.iter().zip(&parsed.tokens) {
            let at = a.at as usize;
            assert_eq!(a.at, b.at, "{text:?}");
            // Brackets and missing values of block style have no text of their own.
            if !matches!(read.json[at], b'[' | b']' | b'{' | b'}' | b'n') {
                assert_eq!((a.start, a.end), (b.start, b.end), "{text:?} {}", &json(&read)[at..]);
            }
            if read.json[at] == b'{' {
                assert_eq!(a.start, b.start, "{text:?} {}", &json(&read)[at..]);
            }
        }
        true
    }

    #[test]
    fn what_programs_write_is_read() {
        assert!(agrees(SAMPLE));
        let view = view(SAMPLE).unwrap();
        let at = view.json.windows(4).position(|w| w == b"0x1f").or_else(|| {
            let text = String::from_utf8_lossy(&view.json).into_owned();
            text.find("\\u0030x1f").map(|at| at - 1)
        });
        let place = view.to_document(Span::new(at.unwrap(), at.unwrap() + 1));
        assert_eq!(&SAMPLE[place.range()], "0x1f");
    }

    #[test]
    fn what_is_not_simple_is_left_to_the_parser() {
        for text in [
            "a: &x 1",
            "a: *x",
            "a: !t 1",
            "a: |\n  x",
            "a: b\n  c",
            "a: \"\\n\"",
            "a: 'it''s'",
            "a:\n  b",
            "a: b: c",
            "? a",
            "a: [1,\n 2]",
            "a: [1, ]",
            "a: {b}",
            "a: [b: c]",
            "\ta: 1",
            "a: 1\r\n",
            "é: 1",
            "a: %x",
            "a: @x",
            "---\n---\n",
            "a",
            "",
            "# only",
            "a: 1\n...\n",
            "%YAML 1.2\n---\na: 1",
            "<<: 1",
            "- a\nb: c",
            "a: 1\n- b",
            "a: 1\n b: 2",
            "  a: 1\nb: 2",
            "--- a",
        ] {
            assert!(!agrees(text), "{text:?}");
        }
    }

    #[test]
    fn changed_texts_agree_with_the_parser() {
        let mut random = 7u32;
        let mut next = |below: usize| {
            random ^= random << 13;
            random ^= random >> 17;
            random ^= random << 5;
            random as usize % below
        };
        let pieces: Vec<&str> = "a|b: |- |  |\n|: |:|#| #|'|\"|{|}|[|]|, |,|-|---\n|~|1|0x|.5|true|null|\n  |\n- |\n    - |a: b\n|? |& |* |! |% |@ |<<: |=|..."
            .split('|')
            .chain(["|", "| ", ">"])
            .collect();
        let mut read = 0;
        for _ in 0..6000 {
            let mut text = SAMPLE.to_owned();
            for _ in 0..=next(3) {
                let at = next(text.len());
                let end = (at + next(6)).min(text.len());
                text.replace_range(at..end, pieces[next(pieces.len())]);
            }
            read += usize::from(agrees(&text));
        }
        for _ in 0..30_000 {
            let count = 1 + next(12);
            let text: String = (0..count).map(|_| pieces[next(pieces.len())]).collect();
            read += usize::from(agrees(&text));
        }
        assert!(read > 1500, "{read}");
    }
}
