//! The YAML that programs write, read a line at a time.
//!
//! Dumps are block mappings and sequences of scalars. Reading those needs no more than a stack of indentations, and is ten
//! times as fast as a parser for all of YAML. This reader takes one-line scalars, plain scalars that go on, block scalars
//! ([`text`]), and anchors, aliases and merge keys as programs write them ([`names`]). At the first line that is anything else
//! (tags, tabs, quoted scalars and flow collections over several lines) it leaves the document, up to the next line `---`, to
//! the parser, and goes on behind it; a file with anything wrong in it is left to the parser as a whole. What this reader
//! does take, it takes exactly as the parser does; a test compares the two.

mod names;
mod text;

use std::collections::HashMap;

use super::merge::{Mark, Source};
use super::node::Writer;
use super::{MAX_NESTING, MAX_VIEWED_BYTES, parse};
use crate::source::{Span, view::View};

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
    /// The anchor of what is awaited, 0 for none.
    ahead: usize,
    is_empty: bool,
    start: Mark,
    /// Its own anchor, 0 for none.
    anchor: usize,
    /// Sources of merge keys.
    merges: Vec<(Source, Span)>,
}

/// What a line begins with.
#[derive(Clone, Copy, PartialEq)]
enum Lead {
    Dash,
    Key,
    /// A key that has no text in the view.
    Merge,
}

struct Reader<'t> {
    text: &'t [u8],
    out: Writer,
    frames: Vec<Frame>,
    /// Where the next line starts.
    next: usize,
    /// Where the line starts that is read.
    line_at: usize,
    /// Where the document starts in the text and in the view.
    document: Mark,
    document_at: usize,
    /// The document has a root node.
    rooted: bool,
    /// Numbers of the anchors of the document; only looked up.
    names: HashMap<&'t [u8], usize>,
    last_number: usize,
    last_end: usize,
    /// How many DEL there are in the quoted scalars of the line.
    quoted_dels: usize,
}

/// Rewrites a text as JSON; `None` if there is something wrong with it.
pub(super) fn view(text: &str) -> Option<View> {
    read(text, true).map(|(view, _)| view)
}

/// Rewrites a text; says whether the parser was not asked, which it is only if it may be.
fn read(text: &str, may_parse: bool) -> Option<(View, bool)> {
    if text.len() > MAX_VIEWED_BYTES / 4 {
        return None;
    }
    let mut view = View::default();
    view.json.reserve(text.len());
    let mut reader = Reader {
        text: text.as_bytes(),
        out: Writer::new(view),
        frames: Vec::new(),
        next: 0,
        line_at: 0,
        document: Mark::default(),
        document_at: 0,
        rooted: false,
        names: HashMap::new(),
        last_number: 0,
        last_end: 0,
        quoted_dels: 0,
    };
    let mut alone = true;
    while reader.next < text.len() {
        if reader.lines().is_none() {
            if !may_parse {
                return None;
            }
            alone = false;
            reader.leave_document(text)?;
        }
    }
    reader
        .out
        .view
        .faults
        .is_empty()
        .then(|| (reader.out.into_view(), alone))
}

impl<'t> Reader<'t> {
    fn byte(&self, at: usize) -> Option<u8> {
        self.text.get(at).copied()
    }

    /// Reads lines to the end of the text; `None` at one that is not of the simple kind.
    fn lines(&mut self) -> Option<()> {
        while self.next < self.text.len() {
            let start = self.next;
            let end = self.line_end(start);
            self.next = end + 1;
            self.line_at = start;
            self.line(start, end)?;
        }
        self.end_document()
    }

    fn line_end(&self, start: usize) -> usize {
        let rest = self.text.get(start..).unwrap_or_default();
        start + memchr::memchr(b'\n', rest).unwrap_or(rest.len())
    }

    /// Lets the parser read the document that is open; `None` if there is something wrong with it.
    fn leave_document(&mut self, text: &str) -> Option<()> {
        // The line itself may be the mark, at which the document before it could not be ended.
        let mut from = self.document_at.max(self.line_at.saturating_sub(1));
        let end = loop {
            let rest = self.text.get(from..)?;
            let Some(found) = memchr::memmem::find(rest, b"\n---") else {
                break self.text.len();
            };
            from += found + 1;
            if matches!(self.byte(from + 3), None | Some(b'\n')) {
                break from;
            }
        };
        self.out.view.json.truncate(self.document.json);
        self.out.view.tokens.truncate(self.document.token);
        // With the mark, for what ends at one does not always end as it would at the end of the text. The parser takes it for
        // a document of its own, of which nothing is kept.
        let start = self.document_at;
        let part = text.get(start..(end + 3).min(text.len()))?;
        if part.starts_with('%') || memchr::memmem::find(part.as_bytes(), b"\n%").is_some() {
            // A directive may be for the next document.
            return None;
        }
        self.begin_document(end);
        parse(part, start, &mut self.out);
        self.begin_document(end);
        self.next = end;
        self.out.view.faults.is_empty().then_some(())
    }

    /// Reads a line.
    fn line(&mut self, start: usize, end: usize) -> Option<()> {
        let line = self.text.get(start..end)?;
        // Both signs of trouble at once: control characters (tabs, carriage returns) and everything beyond ASCII.
        let mut dels = 0;
        if !line.iter().all(|byte| (b' '..0x7f).contains(byte)) {
            dels = text::dels_of_printable(line)?;
            self.quoted_dels = 0;
        }
        let indent = line.iter().position(|byte| *byte != b' ').unwrap_or(line.len());
        match line.get(indent) {
            None | Some(b'#') => return (dels == 0).then_some(()),
            Some(b'-') if indent == 0 && line.starts_with(b"---") => {
                if line != b"---" {
                    return None;
                }
                self.end_document()?;
                self.begin_document(start);
                return Some(());
            }
            Some(b'%' | b'.') if indent == 0 => return None,
            _ => {}
        }
        self.node(start + indent, indent, end, false)?;
        // JSON allows DEL, so quoted scalars may have it (YAML 1.2.2, nb-json); nothing else may.
        (dels == 0 || dels == self.quoted_dels).then_some(())
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
            if self.byte(next) == Some(b'&') {
                return self.anchored(next, end);
            }
            column += next - at;
            at = next;
            inline = true;
        }
        if self.is_merge_key(at, end) {
            self.place(Lead::Merge, column, at, inline)?;
            return self.merge_value(at, end);
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
        if self.out.view.json.last() == Some(&b'{')
            && let Some(token) = self.out.view.tokens.last_mut()
            && token.start as usize == at
        {
            // The bracket of a mapping is its first key.
            token.end = u32::try_from(after - 1).ok()?;
        }
        self.out.view.token_from(at, after - 1);
        self.last_end = after - 1;
        self.out.view.quoted(self.text.get(first..last)?);
        self.out.view.json.push(b':');
        let value = self.skip_spaces(after, end);
        if value >= end || self.byte(value) == Some(b'#') {
            self.frames.last_mut()?.awaiting = Some(after);
            return Some(());
        }
        if self.byte(value) == Some(b'&') {
            self.frames.last_mut()?.awaiting = Some(after);
            return self.anchored(value, end);
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
                self.open(column, !is_dash, at, 0)?;
                continue;
            };
            if top.awaiting.is_some() {
                let inside = inline || column > top.column || (top.mapping && is_dash && column == top.column);
                if inside {
                    top.awaiting = None;
                    let anchor = std::mem::take(&mut top.ahead);
                    self.open(column, !is_dash, at, anchor)?;
                    // Nothing else can be on a line with what has just been opened.
                    continue;
                }
                self.null()?;
                continue;
            }
            if column > top.column {
                return None;
            }
            if column == top.column && top.mapping != is_dash {
                if lead != Lead::Merge && !std::mem::take(&mut top.is_empty) {
                    self.out.view.json.push(b',');
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

    fn open(&mut self, column: usize, mapping: bool, at: usize, anchor: usize) -> Option<()> {
        if self.frames.len() >= MAX_NESTING {
            return None;
        }
        let start = self.mark();
        self.out.view.token_from(at, at + 1);
        self.out.view.json.push(if mapping { b'{' } else { b'[' });
        self.frames.push(Frame {
            column,
            mapping,
            awaiting: None,
            ahead: 0,
            is_empty: true,
            start,
            anchor,
            merges: Vec::new(),
        });
        Some(())
    }

    fn close(&mut self) {
        if let Some(mut frame) = self.frames.pop() {
            if !frame.merges.is_empty() {
                let merges = std::mem::take(&mut frame.merges);
                self.out.merge(frame.start, &mut frame.is_empty, merges);
            }
            self.out.view.token_from(self.last_end, self.last_end);
            self.out.view.json.push(if frame.mapping { b'}' } else { b']' });
            if frame.anchor > 0 {
                self.out.name(frame.anchor, frame.start);
            }
        }
    }

    /// Writes the value of a key or dash that has none.
    fn null(&mut self) -> Option<()> {
        let frame = self.frames.last_mut()?;
        if frame.ahead > 0 {
            return None;
        }
        if let Some(at) = frame.awaiting.take() {
            self.out.view.token_from(at, at);
            self.out.view.json.extend_from_slice(b"null");
        }
        Some(())
    }

    fn mark(&self) -> Mark {
        Mark {
            json: self.out.view.json.len(),
            token: self.out.view.tokens.len(),
        }
    }

    fn begin_document(&mut self, at: usize) {
        self.frames.clear();
        self.names.clear();
        // Numbers are indices, so they begin again.
        self.out.anchors.clear();
        self.last_number = 0;
        self.rooted = false;
        self.document_at = at;
        self.document = self.mark();
    }

    fn end_document(&mut self) -> Option<()> {
        while !self.frames.is_empty() {
            self.null()?;
            self.close();
        }
        self.out.end_document(false);
        Some(())
    }

    /// The inside of the key at `at`, and the byte after its colon.
    fn key(&self, at: usize, end: usize) -> Option<((usize, usize), usize)> {
        let first = self.byte(at)?;
        let (inside, after) = match first {
            b'"' | b'\'' => {
                let close = self.closing_quote(at, end)?;
                if close.1 {
                    return None;
                }
                ((at + 1, close.0), close.0 + 1)
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

    /// Reads the value that takes the rest of a line.
    fn inline_value(&mut self, at: usize, end: usize) -> Option<()> {
        let after = match self.byte(at)? {
            b'"' | b'\'' => self.quoted(at, end)?,
            b'{' | b'[' => self.flow(at, end, 0)?,
            b'|' | b'>' => return self.block_scalar(at, end),
            b'*' => self.alias(at, end)?,
            _ => {
                let rest = self.text.get(at..end)?;
                let length = text::plain_length(rest)?;
                if at + length == end && self.goes_on() {
                    return self.long_plain(at, end);
                }
                self.plain(at, at + length)?;
                at + length
            }
        };
        // Only a comment may follow, after a space.
        let next = self.skip_spaces(after, end);
        let is_end = next >= end || (next > after && self.byte(next) == Some(b'#'));
        is_end.then_some(())
    }

    /// Reads a flow collection that ends on its line; returns the byte after it.
    fn flow(&mut self, at: usize, end: usize, depth: usize) -> Option<usize> {
        let mapping = self.byte(at)? == b'{';
        let close = if mapping { b'}' } else { b']' };
        if depth >= MAX_FLOW {
            return None;
        }
        self.out.view.token_from(at, at + 1);
        self.out.view.json.push(if mapping { b'{' } else { b'[' });
        let mut at = self.skip_spaces(at + 1, end);
        let mut is_empty = true;
        while at < end && self.byte(at)? != close {
            if !std::mem::take(&mut is_empty) {
                self.out.view.json.push(b',');
            }
            if mapping {
                let (key, after) = self.key(at, end)?;
                self.out.view.token_from(at, after - 1);
                self.out.view.quoted(self.text.get(key.0..key.1)?);
                self.out.view.json.push(b':');
                at = self.skip_spaces(after, end);
            }
            at = match self.byte(at).filter(|_| at < end)? {
                b'"' | b'\'' => self.quoted(at, end)?,
                b'{' | b'[' => self.flow(at, end, depth + 1)?,
                b'*' => self.alias(at, end)?,
                _ => {
                    let rest = self.text.get(at..end)?;
                    let length = rest.iter().position(|byte| matches!(byte, b',' | b'}' | b']'))?;
                    let item = rest.get(..length)?.trim_ascii_end();
                    if text::plain_length(item)? != item.len()
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
        self.out.view.token_from(at, at + 1);
        self.last_end = at + 1;
        self.out.view.json.push(close);
        Some(at + 1)
    }
}

#[cfg(test)]
mod tests;
