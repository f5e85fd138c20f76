//! Makes the view of an edited text from the view before the edit.
//!
//! A keystroke changes one element of a long list, or one document of a stream. Only that piece is
//! read again and put in its place in the old view. A piece can be read by itself if nothing before
//! it affects how it is read, and it affects nothing after it. That is so if all of this is true:
//!
//! - The piece begins where an element of a list (`- `) or a document (`---`) begins in both texts,
//!   and ends where another one begins, or at the end of the text. The parser stopped at both
//!   places before: no token of the old view spans them.
//! - The old text and the piece can be read without faults, so nothing is open at the ends of the
//!   piece. They have no anchors, merge keys or directives, which affect other places.
//! - The piece by itself is a list, so nothing in it is further to the left than its elements.
//!
//! In all other cases, the whole text is read. A test compares the results for many edits.

use super::view;
use crate::source::Span;
use crate::source::json::Scanner;
use crate::source::view::{View, ViewPart, ViewToken};

/// Marks at the left margin that affect everything after them: starts and ends of documents.
const MARGIN: [&[u8]; 2] = [b"\n---", b"\n..."];

/// The beginnings of list elements with different indents, and of documents of a stream.
const MARKS: [&[u8]; 4] = [b"\n- ", b"\n  - ", b"\n    - ", DOCUMENT];

/// The number of bytes of the mark of an element that is not indented.
const ELEMENT: usize = 3;

const DOCUMENT: &[u8] = b"\n---\n";

/// Returns the view of `new`, made from the view of `old`. Returns `None` if all of `new` must be
/// read.
pub fn view_again(old: &str, before: &View, new: &str) -> Option<View> {
    let (old, text, new) = (old.as_bytes(), new, new.as_bytes());
    let has_directives = |text: &[u8]| text.starts_with(b"%") || memchr::memmem::find(text, b"\n%").is_some();
    let is_marked = old.starts_with("\u{feff}".as_bytes()) || new.starts_with("\u{feff}".as_bytes());
    if !is_plain(before) || is_marked || has_directives(old) || has_directives(new) {
        return None;
    }
    let same = |(one, other): &(&u8, &u8)| one == other;
    let same_before = old.iter().zip(new).take_while(same).count();
    let most = old.len().min(new.len()) - same_before;
    let behind = old.iter().rev().zip(new.iter().rev()).take(most);
    let same_behind = behind.take_while(same).count();
    let behind = old.len() - same_behind;
    MARKS.into_iter().find_map(|mark| {
        let start = start(old, same_before, mark)?;
        let end = memchr::memmem::find(old.get(behind..)?, mark).map(|newline| behind + newline + 1);
        // A last line without a line end may have another meaning once another line follows.
        let is_ended = old.ends_with(b"\n") && new.ends_with(b"\n");
        let may_be_last = if mark == DOCUMENT { start > 0 } else { is_ended };
        let end = end.or_else(|| may_be_last.then_some(old.len()))?;
        let piece = Piece {
            old: Span::new(start, end),
            new_end: end + new.len() - old.len(),
            indent: mark.len().saturating_sub(ELEMENT),
        };
        match mark {
            DOCUMENT => piece.documents(before, text),
            _ => piece.elements(before, old, text),
        }
    })
}

/// Returns the offset of the last mark that is completely before `end`.
fn start(text: &[u8], end: usize, mark: &[u8]) -> Option<usize> {
    let before = text.get(..end)?;
    match memchr::memmem::rfind(before, mark) {
        Some(newline) => Some(newline + 1),
        // A stream begins with a document, with or without a mark. The first line has no line end
        // before it.
        None => (mark == DOCUMENT || before.starts_with(mark.get(1..)?)).then_some(0),
    }
}

/// The part of the text that is read again.
#[derive(Debug, Clone, Copy)]
struct Piece {
    old: Span,
    new_end: usize,
    /// The indent of its elements, in blanks.
    indent: usize,
}

impl Piece {
    /// Replaces the elements in the piece.
    fn elements(self, before: &View, old: &[u8], new: &str) -> Option<View> {
        let text = new.get(self.old.start..self.new_end)?;
        let texts = [text.as_bytes(), old.get(self.old.range())?];
        let has = |text: &[u8], mark: &[u8]| memchr::memmem::find(text, mark).is_some();
        if texts.iter().any(|text| MARGIN.iter().any(|mark| has(text, mark))) {
            return None;
        }
        // What follows may affect the end of a scalar, so another element follows here, too.
        let indent = " ".repeat(self.indent);
        let read = view(&format!("{text}{indent}- 0\n"));
        // The result must be one list, whose brackets are left out.
        let [ViewPart { text: whole, .. }] = read.parts.as_slice() else {
            return None;
        };
        let inside = Span::new(whole.start + 1, whole.end.checked_sub(b",0]".len())?);
        let is_list = read.json.get(whole.start) == Some(&b'[')
            && read.json.get(inside.end..whole.end) == Some(b",0]")
            && read.begins_last(text.len() + self.indent + b"- ".len(), 2);
        if !is_list || inside.end <= inside.start || !is_plain(&read) {
            return None;
        }
        // The opening bracket of a list has the place of the dash of its first element.
        let start = self.old.start + self.indent;
        let first = before.first_behind(start)?;
        // If a token spans the place, it is a text with a line that begins like an element.
        let begins = |token: usize, at: usize| {
            let own = before.tokens.get(token)?;
            let earlier = before.tokens.get(token.checked_sub(1)?)?;
            (earlier.end as usize <= at || earlier.start as usize == at).then_some(own.at as usize)
        };
        let from = begins(first, start)?;
        let own_tokens = read.tokens.get(1..read.tokens.len().checked_sub(2)?)?;
        let own_end = own_tokens.last()?.end as usize + self.old.start;
        let (to, last, grown) = if self.old.end == old.len() {
            let to = before.close_of(from)?;
            let last = before.tokens.partition_point(|token| (token.at as usize) < to);
            // The closing bracket of a list has the place at which its last node ends.
            let end = before.tokens.get(last.checked_sub(1)?)?.end;
            let closing = before.tokens.get(last..)?;
            let is_there = |token: &ViewToken| token.start == end && token.end == end;
            if !closing.iter().all(is_there) {
                return None;
            }
            (to, last, own_end as i64 - i64::from(end))
        } else {
            let end = self.old.end + self.indent;
            let last = before.first_behind(end)?;
            // Another element follows, after a comma.
            let to = begins(last, end)?
                .checked_sub(1)
                .filter(|comma| before.json.get(*comma) == Some(&b','))?;
            (to, last, self.new_end as i64 - self.old.end as i64)
        };
        let opens = from.checked_sub(1).and_then(|at| before.json.get(at));
        if !matches!(opens, Some(b'[' | b',')) || to <= from {
            return None;
        }
        let inserted = Inserted {
            json: read.json.get(inside.range())?,
            tokens: own_tokens,
            at: inside.start,
        };
        let removed = Removed {
            json: Span::new(from, to),
            tokens: Span::new(first, last),
            grown,
        };
        let mut spliced = self.splice(before, removed, inserted)?;
        let grown = spliced.json.len() as isize - before.json.len() as isize;
        spliced.parts = before.parts.iter().map(|part| part.moved(from, grown)).collect();
        Some(spliced)
    }

    /// Replaces the documents in the piece.
    fn documents(self, before: &View, new: &str) -> Option<View> {
        let text = new.get(self.old.start..self.new_end)?;
        // Another document follows here, too, unless the piece ends with the text.
        let is_last = self.new_end == new.len();
        let mut read = match is_last {
            true => view(text),
            false => view(&format!("{text}---\n0\n")),
        };
        if !is_plain(&read) {
            return None;
        }
        if !is_last {
            let mark = read.parts.pop()?;
            let is_it = read.json.get(mark.text.range()) == Some(b"0");
            if !is_it || !read.begins_last(text.len() + b"---\n".len(), 1) {
                return None;
            }
            read.json.truncate(mark.text.start);
            read.tokens.pop();
        }
        let first = match self.old.start {
            0 => 0,
            start => before.first_behind(start)?,
        };
        let last = before.first_behind(self.old.end)?;
        let end = before.json.len();
        let begins = |token: usize| before.tokens.get(token).map_or(end, |token| token.at as usize);
        let (from, to) = (begins(first), begins(last));
        let is_part = |at: usize| at == end || before.parts.iter().any(|part| part.text.start == at);
        if !is_part(from) || !is_part(to) {
            return None;
        }
        let inserted = Inserted {
            json: &read.json,
            tokens: &read.tokens,
            at: 0,
        };
        let removed = Removed {
            json: Span::new(from, to),
            tokens: Span::new(first, last),
            grown: self.new_end as i64 - self.old.end as i64,
        };
        let mut spliced = self.splice(before, removed, inserted)?;
        let grown = spliced.json.len() as isize - before.json.len() as isize;
        let earlier = before.parts.iter().filter(|part| part.text.start < from).copied();
        let own = read.parts.iter().map(|part| ViewPart {
            text: Span::new(part.text.start + from, part.text.end + from),
            cut: part.cut,
        });
        let later = before.parts.iter().filter(|part| part.text.start >= to);
        spliced.parts = earlier
            .chain(own)
            .chain(later.map(|part| part.moved(from, grown)))
            .collect();
        Some(spliced)
    }

    /// Returns the old view with one part replaced.
    fn splice(self, before: &View, removed: Removed, inserted: Inserted<'_>) -> Option<View> {
        let mut json = Vec::with_capacity(before.json.len() + inserted.json.len());
        json.extend_from_slice(before.json.get(..removed.json.start)?);
        json.extend_from_slice(inserted.json);
        json.extend_from_slice(before.json.get(removed.json.end..)?);
        let mut tokens = Vec::with_capacity(before.tokens.len() + inserted.tokens.len());
        tokens.extend_from_slice(before.tokens.get(..removed.tokens.start)?);
        let (at, start) = (removed.json.start as i64 - inserted.at as i64, self.old.start as i64);
        tokens.extend(inserted.tokens.iter().map(|token| token.moved(at, start)));
        let at = inserted.json.len() as i64 - (removed.json.end - removed.json.start) as i64;
        let later = before.tokens.get(removed.tokens.end..)?;
        tokens.extend(later.iter().map(|token| token.moved(at, removed.grown)));
        Some(View {
            json,
            tokens,
            ..View::default()
        })
    }
}

/// The part of the old view that is replaced.
#[derive(Debug, Clone, Copy)]
struct Removed {
    json: Span,
    tokens: Span,
    /// By how many bytes the text after the piece has moved in the document.
    grown: i64,
}

/// The new part of the view, and the offset at which its text began.
#[derive(Debug, Clone, Copy)]
struct Inserted<'v> {
    json: &'v [u8],
    tokens: &'v [ViewToken],
    at: usize,
}

fn is_plain(view: &View) -> bool {
    view.is_whole() && !view.is_rearranged
}

impl View {
    /// Says whether the token with this number, counted from the end, begins at `place` in the
    /// document.
    fn begins_last(&self, place: usize, number: usize) -> bool {
        let token = self.tokens.len().checked_sub(number).and_then(|at| self.tokens.get(at));
        token.is_some_and(|token| token.start as usize == place)
    }

    /// Returns where the list that has an element at `from` is closed, if everything around it is
    /// closed there, too.
    fn close_of(&self, from: usize) -> Option<usize> {
        let mut scan = Scanner::new(&self.json);
        scan.set_pos(from);
        loop {
            scan.skip_value().ok()?;
            let at = scan.pos();
            match self.json.get(at)? {
                b',' => scan.set_pos(at + 1),
                b']' => {
                    let rest = self.json.get(at..)?;
                    let closes = |byte: &u8| matches!(byte, b']' | b'}' | b'\n');
                    return rest.iter().all(closes).then_some(at);
                }
                _ => return None,
            }
        }
    }

    /// Returns the number of the first token that begins after `place` in the document.
    fn first_behind(&self, place: usize) -> Option<usize> {
        let place = u32::try_from(place).ok()?;
        Some(self.tokens.partition_point(|token| token.start <= place))
    }
}

impl ViewPart {
    /// Returns the part after the edit: offsets from `from` on have moved by `grown`.
    fn moved(self, from: usize, grown: isize) -> ViewPart {
        let moved = |at: usize| {
            if at >= from {
                at.saturating_add_signed(grown)
            } else {
                at
            }
        };
        ViewPart {
            text: Span::new(moved(self.text.start), moved(self.text.end)),
            cut: self.cut,
        }
    }
}

impl ViewToken {
    fn moved(self, at: i64, place: i64) -> ViewToken {
        // Both numbers are within the limits of documents and views.
        let moved = |number: u32, by: i64| number.wrapping_add_signed(i32::try_from(by).unwrap_or(0));
        ViewToken {
            at: moved(self.at, at),
            start: moved(self.start, place),
            end: moved(self.end, place),
        }
    }
}
