//! The keys of one object of a document, and the removal of one of them.

use std::collections::BTreeMap;

use super::{Edit, scalar};
use xdsctl_document::proto::meant::letters;
use xdsctl_document::source::json::Scanner;
use xdsctl_document::source::{Source, Span};

/// A key with its value.
pub(super) struct JsonField<'s> {
    pub name: String,
    /// Place of the key in the document, with its quotes.
    pub name_place: Span,
    /// The value as JSON.
    pub value: &'s [u8],
    /// Place of the value in the document.
    value_place: Span,
}

/// An object of the document.
pub(super) struct JsonFields<'s> {
    /// Offset in the JSON text at which the object starts.
    pub start: usize,
    pub list: Vec<JsonField<'s>>,
    /// Positions in `list`, by the place where the key starts in the document.
    by_place: BTreeMap<usize, usize>,
    /// Positions in `list`, by the letters of the key.
    by_letters: BTreeMap<String, Vec<usize>>,
    source: &'s Source,
    /// Whether the object is written in braces.
    is_flow: bool,
}

impl<'s> JsonFields<'s> {
    /// Reads the object that starts at `start` of the JSON text of the document.
    pub fn read(source: &'s Source, text: &'s [u8], start: usize) -> Option<JsonFields<'s>> {
        let mut scan = Scanner::new(text);
        scan.set_pos(start);
        if scan.peek() != b'{' {
            return None;
        }
        let mut list = Vec::new();
        let mut more = scan.open(b'}').ok()?;
        while more {
            let key = scan.key().ok()?;
            scan.peek();
            let value = scan.pos();
            scan.skip_value().ok()?;
            let key = scalar::at(text, key.start - 1)?;
            let value = Span::new(value, scan.pos());
            list.push(JsonField {
                name: key.value,
                name_place: source.to_document(key.span),
                value: text.get(value.range())?,
                value_place: source.to_document(value),
            });
            more = scan.more(b'}').ok()?;
        }
        let mut by_letters: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (number, member) in list.iter().enumerate() {
            by_letters.entry(letters(&member.name)).or_default().push(number);
        }
        let brace = source.to_document(Span::new(start, start + 1));
        Some(JsonFields {
            start,
            by_place: (0..).zip(&list).map(|(n, m)| (m.name_place.start, n)).collect(),
            by_letters,
            list,
            source,
            is_flow: source.bytes().get(brace.start) == Some(&b'{'),
        })
    }

    /// Returns the position of the key that starts at this byte of the document.
    pub fn at(&self, start: usize) -> Option<usize> {
        self.by_place.get(&start).copied()
    }

    /// Returns the positions of all keys that have the letters of this one, including itself.
    pub fn spelt_like(&self, number: usize) -> &[usize] {
        let member = self.list.get(number);
        let alike = member.and_then(|member| self.by_letters.get(&letters(&member.name)));
        alike.map_or(&[], Vec::as_slice)
    }

    /// Removes from the document a member whose value is a scalar on the line of its key. Returns
    /// `None` if a comment, an anchor or a tag would be removed with it, or if a block mapping
    /// would be left empty.
    pub fn removed(&self, number: usize) -> Option<Edit> {
        let bytes = self.source.bytes();
        let member = self.list.get(number)?;
        if matches!(member.value.first(), Some(b'{' | b'[')) {
            return None;
        }
        let (key, value) = (member.name_place, member.value_place);
        let colon = bytes.get(key.end..value.start)?;
        if colon.trim_ascii() != b":" || colon.contains(&b'\n') || bytes.get(value.range())?.contains(&b'\n') {
            return None;
        }
        let cut = |start, end| {
            let span = Span::new(start, end);
            let text = String::new();
            Some(Edit { span, text })
        };
        if let Some(next) = self.list.get(number + 1) {
            let between = bytes.get(value.end..next.name_place.start)?;
            let signs = between.iter().filter(|byte| !byte.is_ascii_whitespace());
            let is_comma = signs.eq(if self.is_flow { &b","[..] } else { b"" });
            return is_comma.then(|| cut(key.start, next.name_place.start)).flatten();
        }
        let before = bytes.get(..key.start)?;
        if self.is_flow {
            let last = before.trim_ascii_end();
            return match last.last()? {
                b',' => cut(last.len() - 1, value.end),
                b'{' => cut(key.start, value.end),
                _ => None,
            };
        }
        let line = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        let end = memchr::memchr(b'\n', bytes.get(value.end..)?).map_or(bytes.len(), |at| value.end + at + 1);
        let is_alone = number > 0
            && bytes.get(line..key.start)?.iter().all(|byte| *byte == b' ')
            && bytes.get(value.end..end)?.trim_ascii().is_empty();
        is_alone.then(|| cut(line, end)).flatten()
    }
}
