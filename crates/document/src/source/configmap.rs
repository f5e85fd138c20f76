//! Reads documents in the texts of Kubernetes ConfigMaps, at their places in the manifest.
//!
//! The text of a key is searched for in the manifest again, line by line or character by character,
//! so that each place in the text is a place in the manifest. Texts that the manifest writes in
//! another form, such as folded ones, are not opened.

use super::Span;
use super::json::{Scanner, Syntax};
use super::view::View;
use super::yaml;

/// The number of nested lists of objects that are searched.
const MAX_LISTS: usize = 3;

/// A text under a key of `data`.
struct DataText {
    key: String,
    text: String,
    /// The span of the text in the document.
    span: Span,
}

/// Says whether a document may hold a ConfigMap.
pub fn may_be(bytes: &[u8]) -> bool {
    memchr::memmem::find(bytes, b"ConfigMap").is_some()
}

/// Adds the texts of the ConfigMaps in `bytes` to the view as documents, if `is_wanted` says so for
/// their key and text. Returns those that could not be opened: their keys, and their spans in the
/// document.
pub fn open(view: &mut View, bytes: &[u8], is_wanted: impl Fn(&str, &str) -> bool) -> Vec<(String, Span)> {
    let mut texts = Vec::new();
    let mut scan = Scanner::new(&view.json);
    // Invalid text has already been reported as a fault.
    while !scan.at_end() && object(&mut scan, view, MAX_LISTS, &mut texts).is_ok() {}
    texts.retain(|text| is_wanted(&text.key, &text.text));
    let mut closed = Vec::new();
    for DataText { key, text, span } in texts {
        match places(bytes, span.start, &text) {
            Some(places) => view.append(yaml::view(&text), |at| place(&places, at, bytes.len())),
            None => closed.push((format!("data.{key}"), span)),
        }
    }
    closed
}

/// Collects the texts of the object at the scanner, if it is a ConfigMap or a list of objects.
fn object(scan: &mut Scanner<'_>, view: &View, lists: usize, texts: &mut Vec<DataText>) -> Result<(), Syntax> {
    if scan.peek() != b'{' {
        return scan.skip_value();
    }
    let (mut is_config_map, mut data, mut items) = (false, None, None);
    let mut has_keys = scan.open(b'}')?;
    while has_keys {
        let key = scan.key()?;
        let first = scan.peek();
        let at = scan.pos();
        match (scan.raw(key), first) {
            (b"kind", b'"') => {
                let kind = scan.string()?;
                is_config_map = scan.raw(kind) == b"ConfigMap";
            }
            (name, _) => {
                match (name, first) {
                    (b"data", b'{') => data = Some(at),
                    (b"items", b'[') => items = Some(at),
                    _ => {}
                }
                scan.skip_value()?;
            }
        }
        has_keys = scan.more(b'}')?;
    }
    let end = scan.pos();
    if let Some(at) = data.filter(|_| is_config_map) {
        scan.set_pos(at);
        self::data(scan, view, texts)?;
    }
    if let Some(at) = items.filter(|_| lists > 0) {
        scan.set_pos(at);
        let mut has_items = scan.open(b']')?;
        while has_items {
            object(scan, view, lists - 1, texts)?;
            has_items = scan.more(b']')?;
        }
    }
    scan.set_pos(end);
    Ok(())
}

fn data(scan: &mut Scanner<'_>, view: &View, texts: &mut Vec<DataText>) -> Result<(), Syntax> {
    let mut has_keys = scan.open(b'}')?;
    let mut scratch = Vec::new();
    while has_keys {
        let key = scan.key()?;
        if scan.peek() == b'"' {
            let start = scan.pos();
            let token = scan.string()?;
            let span = view.to_document(Span::new(start, scan.pos()));
            let key = scan.text_of(key, &mut scratch).unwrap_or_default().to_owned();
            if let Ok(text) = scan.text_of(token, &mut scratch) {
                let text = text.to_owned();
                texts.push(DataText { key, text, span });
            }
        } else {
            scan.skip_value()?;
        }
        has_keys = scan.more(b'}')?;
    }
    Ok(())
}

/// The places of the pieces of a text: the offset of each piece in the text, and in the document.
type Places = Vec<(usize, usize)>;

fn place(places: &Places, at: usize, end: usize) -> usize {
    let after = places.partition_point(|(inner, _)| *inner <= at);
    let piece = after.checked_sub(1).and_then(|before| places.get(before));
    piece.map_or(0, |(inner, outer)| outer + (at - inner)).min(end)
}

/// Finds the places of the text of a scalar that begins at `start`. For a block scalar, `start` is
/// in its first line, not at its `|`.
fn places(bytes: &[u8], start: usize, text: &str) -> Option<Places> {
    let before = bytes.get(..start)?;
    let line = memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
    let is_block = before.get(line..)?.iter().all(|byte| *byte == b' ');
    let block = is_block.then(|| literal(bytes, line, text)).flatten();
    block.or_else(|| match bytes.get(start)? {
        b'"' => quoted(bytes, start + 1, text, escaped),
        b'\'' => quoted(bytes, start + 1, text, doubled),
        _ => None,
    })
}

/// Finds the places of a block of lines that begins at `start`. All lines must have the same
/// indent.
fn literal(bytes: &[u8], start: usize, text: &str) -> Option<Places> {
    let mut places = Places::new();
    let (mut inner, mut outer) = (0, start);
    let mut indent = None;
    for line in text.split_inclusive('\n') {
        let content = line.strip_suffix('\n').unwrap_or(line);
        let rest = bytes.get(outer..)?;
        let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let written = rest.get(..length)?;
        let written = written.strip_suffix(b"\r").unwrap_or(written);
        let before = match written.strip_suffix(content.as_bytes()) {
            Some(before) if before.iter().all(|byte| *byte == b' ') => before.len(),
            _ => return None,
        };
        if !content.is_empty() && *indent.get_or_insert(before) != before {
            return None;
        }
        places.push((inner, outer + before));
        inner += line.len();
        outer += length + 1;
    }
    Some(places)
}

/// A function that reads the first character of a quoted text. Returns the character, and the
/// number of bytes that it takes.
type Unquote = fn(&[u8]) -> Option<(char, usize)>;

/// Finds the places of a quoted text that begins at `start` and is on one line.
fn quoted(bytes: &[u8], start: usize, text: &str, unquote: Unquote) -> Option<Places> {
    let mut places = vec![(0, start)];
    let (mut outer, mut is_after) = (start, false);
    for (inner, wanted) in text.char_indices() {
        let rest = bytes.get(outer..)?;
        let (found, length) = unquote(rest)?;
        if found != wanted {
            return None;
        }
        let is_plain = length == wanted.len_utf8();
        if !is_plain || is_after {
            places.push((inner, outer));
        }
        is_after = !is_plain;
        outer += length;
    }
    Some(places)
}

fn plain(bytes: &[u8]) -> Option<(char, usize)> {
    let head = bytes.get(..bytes.len().min(4))?;
    let valid = head.utf8_chunks().next()?.valid();
    let found = valid.chars().next().filter(|found| *found != '\n')?;
    Some((found, found.len_utf8()))
}

fn doubled(bytes: &[u8]) -> Option<(char, usize)> {
    if bytes.starts_with(b"''") {
        Some(('\'', 2))
    } else {
        plain(bytes)
    }
}

fn escaped(bytes: &[u8]) -> Option<(char, usize)> {
    if bytes.first() != Some(&b'\\') {
        return plain(bytes);
    }
    let hex = |length: usize| {
        let digits = std::str::from_utf8(bytes.get(2..2 + length)?).ok()?;
        let found = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
        Some((found, 2 + length))
    };
    match bytes.get(1)? {
        b'n' => Some(('\n', 2)),
        b't' => Some(('\t', 2)),
        b'r' => Some(('\r', 2)),
        b'x' => hex(2),
        b'u' => hex(4),
        b'U' => hex(8),
        other @ (b'"' | b'\\' | b'/' | b' ') => Some((char::from(*other), 2)),
        _ => None,
    }
}
