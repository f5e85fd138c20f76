//! Anchors, aliases and merge keys of the line reader.
//!
//! Names are of letters, digits, `_`, `-` and `.`; an anchor stands before a value, an alias for one.

use super::{MAX_KEY, Reader};
use crate::source::Span;
use crate::source::yaml::merge::{Anchored, Source};

impl<'t> Reader<'t> {
    /// The name after the sign at `at`, and the byte after it.
    fn name(&self, at: usize, end: usize) -> Option<(&'t [u8], usize)> {
        let rest = self.text.get(at + 1..end)?;
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        let length = rest.iter().position(|byte| !is_name(byte)).unwrap_or(rest.len());
        let is_end = matches!(rest.get(length), None | Some(b' ' | b',' | b']' | b'}'));
        let name = rest.get(..length)?;
        (is_end && (1..=MAX_KEY).contains(&length)).then_some((name, at + 1 + length))
    }

    /// Reads the anchor at `at` and the value on its line, if there is one.
    pub(super) fn anchored(&mut self, at: usize, end: usize) -> Option<()> {
        let (name, after) = self.name(at, end)?;
        let value = self.skip_spaces(after, end);
        self.last_number += 1;
        let number = self.last_number;
        if value >= end || self.byte(value) == Some(b'#') {
            if value < end && value == after {
                return None;
            }
            self.names.insert(name, number);
            // It names nothing until its end: an alias in it is for the parser to explain.
            self.frames.last_mut()?.ahead = number;
            return Some(());
        }
        if value == after || matches!(self.byte(value)?, b'*' | b'&' | b'-') {
            return None;
        }
        self.frames.last_mut()?.awaiting = None;
        let start = self.mark();
        self.inline_value(value, end)?;
        self.names.insert(name, number);
        self.out.name(number, start);
        Some(())
    }

    /// What the alias at `at` names, the number of its anchor, and the byte after it.
    fn named(&self, at: usize, end: usize) -> Option<(Anchored, usize, usize)> {
        if self.byte(at)? != b'*' {
            return None;
        }
        let (name, after) = self.name(at, end)?;
        let number = *self.names.get(name)?;
        Some((self.out.closed(number)?, number, after))
    }

    /// Copies what the alias at `at` names; returns the byte after it.
    pub(super) fn alias(&mut self, at: usize, end: usize) -> Option<usize> {
        let (source, _, after) = self.named(at, end)?;
        if !self.out.afford(source.size(), Span::new(at, after)) {
            return None;
        }
        self.out.copy(source.piece.as_deref(), source.text());
        self.last_end = after;
        Some(after)
    }

    pub(super) fn is_merge_key(&self, at: usize, end: usize) -> bool {
        self.text.get(at..end).is_some_and(|rest| rest.starts_with(b"<<: "))
    }

    /// Reads the value of the merge key at `at`: an alias, or a list of them.
    pub(super) fn merge_value(&mut self, at: usize, end: usize) -> Option<()> {
        let key = Span::new(at, at + 2);
        let mut at = self.skip_spaces(at + 3, end);
        let is_list = self.byte(at) == Some(b'[');
        at = self.skip_spaces(at + usize::from(is_list), end);
        loop {
            let (source, number, after) = self.named(at, end)?;
            if self.out.view.json.get(source.start.json) != Some(&b'{') {
                return None;
            }
            // The parser writes a list before it reads it.
            if is_list && !self.out.afford(source.size(), key) {
                return None;
            }
            self.frames.last_mut()?.merges.push((Source::Anchor(number), key));
            at = self.skip_spaces(after, end);
            if !is_list {
                break;
            }
            match self.byte(at).filter(|_| at < end)? {
                b',' => at = self.skip_spaces(at + 1, end),
                b']' => {
                    at = self.skip_spaces(at + 1, end);
                    break;
                }
                _ => return None,
            }
        }
        (at >= end).then_some(())
    }
}
