//! Scalars of the line reader: quoted, plain, and block scalars.

use super::Reader;
use crate::source::view::View;
use crate::source::yaml::scalar::{Form, form};

/// What is done with the line breaks at the end of a block scalar.
#[derive(Clone, Copy, PartialEq)]
enum Chomping {
    Clip,
    Strip,
    Keep,
}

impl Reader<'_> {
    /// The quote that ends the string at `at`, and whether there are escapes in it.
    pub(super) fn closing_quote(&self, at: usize, end: usize) -> Option<(usize, bool)> {
        let inside = self.text.get(at + 1..end)?;
        let mut escaped = false;
        let mut from = 0;
        if self.byte(at)? == b'"' {
            loop {
                let found = from + memchr::memchr2(b'"', b'\\', inside.get(from..)?)?;
                if inside.get(found) == Some(&b'"') {
                    return Some((at + 1 + found, escaped));
                }
                escaped = true;
                from = found + 2;
            }
        }
        loop {
            let found = from + memchr::memchr(b'\'', inside.get(from..)?)?;
            if inside.get(found + 1) != Some(&b'\'') {
                return Some((at + 1 + found, escaped));
            }
            // A quote is written twice.
            escaped = true;
            from = found + 2;
        }
    }

    pub(super) fn quoted(&mut self, at: usize, end: usize) -> Option<usize> {
        let (close, escaped) = self.closing_quote(at, end)?;
        let inside = self.text.get(at + 1..close)?;
        self.out.view.token_from(at, close + 1);
        self.last_end = close + 1;
        let is_double = self.byte(at) == Some(b'"');
        let view = &mut self.out.view;
        if !escaped {
            view.quoted(inside);
        } else if is_double {
            view.json.push(b'"');
            unescape(inside, view)?;
            view.json.push(b'"');
        } else {
            view.json.push(b'"');
            let mut rest = inside;
            while let Some(quote) = memchr::memchr(b'\'', rest) {
                view.escaped(rest.get(..=quote)?);
                rest = rest.get(quote + 2..)?;
            }
            view.escaped(rest);
            view.json.push(b'"');
        }
        self.quoted_dels += memchr::memchr_iter(0x7f, inside).count();
        Some(close + 1)
    }

    pub(super) fn plain(&mut self, start: usize, end: usize) -> Option<()> {
        let text = std::str::from_utf8(self.text.get(start..end)?).ok()?;
        self.out.view.token_from(start, end);
        self.last_end = end;
        match form(text) {
            Form::Null => self.out.view.json.extend_from_slice(b"null"),
            Form::Bare => self.out.view.json.extend_from_slice(text.as_bytes()),
            Form::Text => self.out.view.quoted(text.as_bytes()),
            Form::Marked => self.out.view.marked(text),
        }
        Some(())
    }

    /// How many spaces the line at `at` begins with, and where it ends; `None` at the end of the text.
    fn spaces_of(&self, at: usize) -> Option<(usize, usize)> {
        let rest = self.text.get(at..)?;
        let spaces = rest.iter().position(|byte| *byte != b' ').unwrap_or(rest.len());
        (at < self.text.len()).then(|| (spaces, self.line_end(at + spaces)))
    }

    /// Says whether the next line belongs to the plain scalar that ends this one.
    #[inline]
    pub(super) fn goes_on(&self) -> bool {
        let column = self.frames.last().map_or(0, |frame| frame.column);
        // The byte below the last key or dash decides nearly always.
        self.text
            .get(self.next..=self.next.saturating_add(column))
            .is_some_and(|start| start.iter().all(|byte| *byte == b' '))
    }

    /// Reads a plain scalar over several lines without blank ones; the first is `start..end`.
    pub(super) fn long_plain(&mut self, start: usize, end: usize) -> Option<()> {
        let first = self.text.get(start..end)?;
        let mut last_end = end;
        let mut lines = 0;
        let json_start = self.mark();
        self.out.view.token_from(start, end);
        self.out.view.json.push(b'"');
        self.out.view.escaped(first);
        while self.goes_on() {
            let at = self.next;
            let (spaces, line_end) = self.spaces_of(at)?;
            let line = self.text.get(at + spaces..line_end)?;
            if line.is_empty() {
                // Blank lines mean something inside of a scalar, and nothing behind it.
                return None;
            }
            if dels_of_printable(line)? > 0 || plain_length(line)? != line.len() {
                return None;
            }
            self.out.view.json.push(b' ');
            self.out.view.escaped(line);
            last_end = line_end;
            lines += 1;
            self.next = line_end + 1;
        }
        self.out.view.json.push(b'"');
        if lines == 0 {
            return None;
        }
        if let Some(token) = self.out.view.tokens.get_mut(json_start.token) {
            token.end = u32::try_from(last_end).ok()?;
        }
        self.last_end = last_end;
        Some(())
    }

    /// Reads the block scalar whose indicator is at `at` of the line that ends at `end`.
    pub(super) fn block_scalar(&mut self, at: usize, end: usize) -> Option<()> {
        let is_literal = self.byte(at)? == b'|';
        let parent = self.frames.last()?.column;
        let mut after = at + 1;
        let (mut chomping, mut indent) = (Chomping::Clip, 0);
        while after < end {
            match self.byte(after)? {
                b'-' if chomping == Chomping::Clip => chomping = Chomping::Strip,
                b'+' if chomping == Chomping::Clip => chomping = Chomping::Keep,
                digit @ b'1'..=b'9' if indent == 0 => indent = parent + usize::from(digit - b'0'),
                _ => break,
            }
            after += 1;
        }
        let comment = self.skip_spaces(after, end);
        if comment < end && (comment == after || self.byte(comment) != Some(b'#')) {
            return None;
        }
        // Blank lines come first; the first other line sets the indentation.
        let mut line = end + 1;
        let (mut breaks, mut longest) = (0, 0);
        let start = loop {
            let (spaces, line_end) = self.spaces_of(line)?;
            if indent > 0 && spaces >= indent && line + indent < line_end {
                break line + indent;
            }
            if line + spaces < line_end {
                if indent > 0 || spaces <= parent || spaces < longest {
                    return None;
                }
                indent = spaces;
                break line + indent;
            }
            longest = longest.max(spaces);
            breaks += 1;
            line = line_end + 1;
        };
        self.out.view.token_from(start, start);
        let token = self.out.view.tokens.len() - 1;
        self.out.view.json.push(b'"');
        let stop = self.block_lines(line, indent, is_literal, &mut breaks)?;
        let trailing = match chomping {
            Chomping::Strip => 0,
            Chomping::Clip => 1,
            Chomping::Keep => 1 + breaks,
        };
        self.line_breaks(trailing);
        self.out.view.json.push(b'"');
        if let Some(token) = self.out.view.tokens.get_mut(token) {
            token.end = u32::try_from(stop).ok()?;
        }
        self.last_end = stop;
        Some(())
    }

    /// Writes the lines of a block scalar from the first that is not blank on, without the breaks behind the last.
    ///
    /// Returns where it stopped; `breaks` are the blank lines before the first, and then those behind the last.
    fn block_lines(&mut self, mut line: usize, indent: usize, is_literal: bool, breaks: &mut usize) -> Option<usize> {
        let mut is_first = true;
        let mut after_blank = false;
        loop {
            self.next = line;
            let Some((spaces, line_end)) = self.spaces_of(line) else {
                return Some(self.text.len());
            };
            if spaces < indent || line + indent == line_end {
                if line + spaces < line_end {
                    return Some(line + spaces);
                }
                if line_end >= self.text.len() {
                    return None;
                }
                *breaks += 1;
                line = line_end + 1;
                continue;
            }
            let content = self.text.get(line + indent..line_end)?;
            if line_end >= self.text.len() && line + spaces == line_end {
                return None;
            }
            if !content.iter().all(|byte| (b' '..0x7f).contains(byte)) && !is_block_text(content) {
                return None;
            }
            // Lines that begin with a blank are not folded, nor those behind them.
            let begins_blank = matches!(content.first(), Some(b' ' | b'\t'));
            if is_literal || is_first || after_blank || begins_blank {
                self.line_breaks(*breaks + usize::from(!is_first));
            } else if *breaks > 0 {
                self.line_breaks(*breaks);
            } else {
                self.out.view.json.push(b' ');
            }
            *breaks = 0;
            self.out.view.escaped(content);
            (is_first, after_blank) = (false, begins_blank);
            line = line_end + 1;
        }
    }

    fn line_breaks(&mut self, count: usize) {
        for _ in 0..count {
            self.out.view.json.extend_from_slice(b"\\n");
        }
    }
}

/// Appends what the inside of a double-quoted scalar says.
fn unescape(inside: &[u8], view: &mut View) -> Option<()> {
    let mut rest = inside;
    while let Some(slash) = memchr::memchr(b'\\', rest) {
        view.escaped(rest.get(..slash)?);
        let kind = *rest.get(slash + 1)?;
        rest = rest.get(slash + 2..)?;
        let byte = match kind {
            b'"' | b'\\' | b'/' | b' ' => kind,
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'0' => 0,
            b'a' => 7,
            b'b' => 8,
            b'v' => 0x0b,
            b'f' => 0x0c,
            b'e' => 0x1b,
            b'x' | b'u' | b'U' | b'N' | b'_' | b'L' | b'P' => {
                let character = match kind {
                    b'N' => '\u{85}',
                    b'_' => '\u{a0}',
                    b'L' => '\u{2028}',
                    b'P' => '\u{2029}',
                    _ => numbered(kind, &mut rest)?,
                };
                view.escaped(character.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
            _ => return None,
        };
        view.escaped(&[byte]);
    }
    view.escaped(rest);
    Some(())
}

/// The character of `\x`, `\u` or `\U`; two `\u` may be a surrogate pair.
fn numbered(kind: u8, rest: &mut &[u8]) -> Option<char> {
    let length = match kind {
        b'x' => 2,
        b'u' => 4,
        _ => 8,
    };
    let high = hexadecimal(rest, length)?;
    if kind != b'u' || !(0xd800..0xdc00).contains(&high) {
        return char::from_u32(high);
    }
    *rest = rest.strip_prefix(b"\\u")?;
    let low = hexadecimal(rest, 4)?;
    if !(0xdc00..0xe000).contains(&low) {
        return None;
    }
    char::from_u32(0x10000 + (((high - 0xd800) << 10) | (low - 0xdc00)))
}

/// Takes a number off the front.
fn hexadecimal(rest: &mut &[u8], length: usize) -> Option<u32> {
    let (digits, after) = rest.split_at_checked(length)?;
    *rest = after;
    let add = |number: u32, digit: &u8| Some((number << 4) | char::from(*digit).to_digit(16)?);
    digits.iter().try_fold(0, add)
}

/// How many DEL are in a line that is otherwise printable (YAML 1.2.2, c-printable) and without tabs; `None` if it is not.
pub(super) fn dels_of_printable(line: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(line).ok()?;
    let is_printable = |c: char| matches!(c, ' '..='\u{7f}' | '\u{a0}'..='\u{2027}' | '\u{202a}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}' | '\u{10000}'..);
    text.chars()
        .all(is_printable)
        .then(|| memchr::memchr_iter(0x7f, line).count())
}

/// Says whether a line can be in a block scalar: tabs may.
fn is_block_text(content: &[u8]) -> bool {
    content
        .split(|byte| *byte == b'\t')
        .all(|piece| dels_of_printable(piece) == Some(0))
}

/// How long the plain scalar is that starts a text; `None` if it is something else, or could be.
pub(super) fn plain_length(text: &[u8]) -> Option<usize> {
    let first = *text.first()?;
    let may_start = first.is_ascii_alphanumeric()
        || first >= 0x80
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
