//! Changes of a document as a unified patch, for `git apply` and `patch -p1`.
//!
//! The lines are those of the document, except that secrets are masked as in snippets. A patch with
//! masked lines does not apply, and the caller says so.

use std::io::{self, Write};
use std::path::{Component, Path};

use crate::edge::{own, visible_line};
use crate::masks::Masks;
use xdsctl_document::source::{Source, Span};
use xdsctl_lint::fix::Edit;

/// Number of unchanged lines before and after a change.
const CONTEXT: usize = 3;

/// Whole lines of the document, with the changes in them.
struct Block<'c> {
    lines: Span,
    changes: &'c [Edit],
}

/// The parts of a patch that differ from the document, so that the patch cannot be applied.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Hidden {
    /// Whether some value is masked because it may be a secret.
    pub secrets: bool,
    /// Whether carriage returns inside a line are written as `\u000d`, because a terminal would
    /// obey them.
    pub returns: bool,
}

/// Writes the patch of a document, whose changes are in order. Returns what the patch hides.
///
/// # Errors
/// If writing fails.
pub fn write(source: &Source, changes: &[Edit], masks: &Masks, out: &mut dyn Write) -> io::Result<Hidden> {
    let mut hidden = Hidden::default();
    if changes.is_empty() {
        return Ok(hidden);
    }
    let (old, new) = names(source.name());
    writeln!(out, "--- {old}\n+++ {new}")?;
    let bytes = source.bytes();
    let mut place = HunkPosition::default();
    let blocks = blocks(bytes, changes);
    let mut rest = blocks.as_slice();
    while let Some(first) = rest.first() {
        let start = back(bytes, first.lines.start);
        let mut end = forth(bytes, first.lines.end);
        let joined = |block: &&Block<'_>| {
            let joins = back(bytes, block.lines.start) <= end;
            if joins {
                end = forth(bytes, block.lines.end);
            }
            joins
        };
        let count = 1 + rest.iter().skip(1).take_while(joined).count();
        let (of_hunk, after) = rest.split_at(count);
        rest = after;
        let mut window = bytes.get(start..end).unwrap_or_default().to_vec();
        masks.mask(source, &mut window, start, None);
        hidden.secrets |= bytes.get(start..end) != Some(&window);
        hidden.returns |= has_bare_return(&window);
        place.pass(bytes, start);
        let hunk = Hunk { window: &window, start };
        hunk.write(of_hunk, &mut place, out)?;
    }
    Ok(hidden)
}

/// Returns the names before and after: below `a/` and `b/` as in git, or unchanged if the file is
/// not below the directory.
fn names(name: &str) -> (String, String) {
    let is_below = Path::new(name)
        .components()
        .all(|step| matches!(step, Component::Normal(_) | Component::CurDir));
    let name = visible_line(name.strip_prefix("./").unwrap_or(name)).into_owned();
    // A tab marks the end of a name with spaces.
    let tab = if name.contains(' ') { own("\t") } else { String::new() };
    match is_below {
        true => (format!("a/{name}{tab}"), format!("b/{name}{tab}")),
        false => (format!("{name}{tab}"), format!("{name}{tab}")),
    }
}

/// Groups the changes by the lines that they touch.
fn blocks<'c>(bytes: &[u8], changes: &'c [Edit]) -> Vec<Block<'c>> {
    let lines_of = |edit: &Edit| {
        let start = line_start(bytes, edit.span.start);
        let is_whole =
            start == edit.span.start && edit.span.end > start && line_start(bytes, edit.span.end) == edit.span.end;
        let end = if is_whole {
            edit.span.end
        } else {
            line_end(bytes, edit.span.end)
        };
        Span::new(start, end)
    };
    let mut blocks: Vec<(Span, usize, usize)> = Vec::new();
    for (number, change) in changes.iter().enumerate() {
        // The lines of a line with thousands of changes are looked up once.
        if let Some((last, _, to)) = blocks.last_mut()
            && change.span.end < last.end
        {
            *to = number + 1;
            continue;
        }
        let lines = lines_of(change);
        match blocks.last_mut() {
            Some((last, _, to)) if lines.start < last.end => (last.end, *to) = (last.end.max(lines.end), number + 1),
            _ => blocks.push((lines, number, number + 1)),
        }
    }
    let block = |(lines, from, to)| Block {
        lines,
        changes: changes.get(from..to).unwrap_or_default(),
    };
    blocks.into_iter().map(block).collect()
}

/// The position from which the lines of the next hunk are counted.
#[derive(Default)]
struct HunkPosition {
    /// How many bytes have been counted.
    at: usize,
    /// How many lines are before it in the old document; `new` counts those in the new one.
    old: usize,
    new: usize,
}

impl HunkPosition {
    /// Counts the lines up to `to`, which do not change.
    fn pass(&mut self, bytes: &[u8], to: usize) {
        let lines = count(bytes.get(self.at..to).unwrap_or_default());
        (self.at, self.old, self.new) = (to, self.old + lines, self.new + lines);
    }
}

/// A hunk: lines of the document, masked.
struct Hunk<'h> {
    window: &'h [u8],
    start: usize,
}

impl Hunk<'_> {
    fn write(&self, blocks: &[Block<'_>], place: &mut HunkPosition, out: &mut dyn Write) -> io::Result<()> {
        let mut body = Vec::new();
        let (mut at, mut new_lines) = (self.start, 0);
        for block in blocks {
            let before = self.slice(at, block.lines.start);
            put(b' ', before, &mut body)?;
            let (old, new) = (self.slice(block.lines.start, block.lines.end), self.changed(block));
            let same = same_end(old, &new);
            put(b'-', old.get(..old.len() - same).unwrap_or_default(), &mut body)?;
            put(b'+', new.get(..new.len() - same).unwrap_or_default(), &mut body)?;
            put(b' ', new.get(new.len() - same..).unwrap_or_default(), &mut body)?;
            new_lines += count(before) + count(&new);
            at = block.lines.end;
        }
        let after = self.slice(at, self.start + self.window.len());
        put(b' ', after, &mut body)?;
        new_lines += count(after);
        let old_lines = count(self.window);
        writeln!(
            out,
            "@@ -{},{old_lines} +{},{new_lines} @@",
            place.old + 1,
            place.new + 1
        )?;
        out.write_all(&body)?;
        (place.at, place.old, place.new) = (
            self.start + self.window.len(),
            place.old + old_lines,
            place.new + new_lines,
        );
        Ok(())
    }

    fn slice(&self, from: usize, to: usize) -> &[u8] {
        self.window.get(from - self.start..to - self.start).unwrap_or_default()
    }

    /// Returns the lines of a block after its changes.
    fn changed(&self, block: &Block<'_>) -> Vec<u8> {
        let mut new = Vec::new();
        let mut at = block.lines.start;
        for edit in block.changes {
            new.extend_from_slice(self.slice(at, edit.span.start));
            new.extend_from_slice(edit.text.as_bytes());
            at = edit.span.end;
        }
        new.extend_from_slice(self.slice(at, block.lines.end));
        new
    }
}

/// Returns the number of bytes of the whole lines that both texts end with.
fn same_end(old: &[u8], new: &[u8]) -> usize {
    let lines = |text| <[u8]>::split_inclusive(text, |byte| *byte == b'\n').rev();
    let same = lines(old).zip(lines(new)).take_while(|(old, new)| old == new);
    same.map(|(line, _)| line.len()).sum()
}

/// Says whether a carriage return is anywhere but at the end of a line.
fn has_bare_return(lines: &[u8]) -> bool {
    memchr::memchr_iter(b'\r', lines).any(|at| lines.get(at + 1) != Some(&b'\n'))
}

/// Writes lines with a sign before each. Tabs, byte order marks and the carriage return at the end
/// of a line stay, because `patch` compares them.
fn put(sign: u8, lines: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        out.push(sign);
        let text = line.strip_suffix(b"\r\n").unwrap_or(line);
        for byte_or_text in String::from_utf8_lossy(text).split_inclusive(['\t', '\u{feff}']) {
            let kept = byte_or_text.trim_end_matches(['\t', '\u{feff}']);
            out.extend_from_slice(kept.as_bytes());
            if kept.len() < byte_or_text.len() {
                out.extend_from_slice(own(&byte_or_text[kept.len()..]).as_bytes());
            }
        }
        if text.len() < line.len() {
            out.extend_from_slice(own("\r").as_bytes());
            out.push(b'\n');
        }
        if !line.ends_with(b"\n") {
            out.extend_from_slice(b"\n\\ No newline at end of file\n");
        }
    }
    Ok(())
}

/// Returns the number of lines; a last line without a newline counts.
fn count(bytes: &[u8]) -> usize {
    let is_open = bytes.last().is_some_and(|byte| *byte != b'\n');
    memchr::memchr_iter(b'\n', bytes).count() + usize::from(is_open)
}

fn line_start(bytes: &[u8], at: usize) -> usize {
    memchr::memrchr(b'\n', bytes.get(..at).unwrap_or_default()).map_or(0, |newline| newline + 1)
}

/// Returns the start of the line after the one that contains `at`.
fn line_end(bytes: &[u8], at: usize) -> usize {
    memchr::memchr(b'\n', bytes.get(at..).unwrap_or_default()).map_or(bytes.len(), |newline| at + newline + 1)
}

/// Returns the start of the unchanged lines before the line that starts at `start`.
fn back(bytes: &[u8], start: usize) -> usize {
    (0..CONTEXT).fold(start, |at, _| line_start(bytes, at.saturating_sub(1)))
}

/// Returns the end of the unchanged lines after the line that ends at `end`.
fn forth(bytes: &[u8], end: usize) -> usize {
    (0..CONTEXT).fold(end, |at, _| line_end(bytes, at))
}
