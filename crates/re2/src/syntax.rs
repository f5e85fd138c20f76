//! RE2's grammar: cuts a pattern into tokens and rejects what RE2 rejects.
//!
//! The lexer knows everything that does not need the tree: escapes, classes, groups, flags, counts
//! and stacked repetitions. Its users ([`super::check`], [`super::tree`]) check whether a
//! repetition has an operand, and whether nested counts multiply to too much. Nothing here
//! allocates unless a pattern is rejected. The rules are those of RE2's `parse.cc` with its default
//! options as of 2022-12, the release in gRPC C-core 1.85.1. `{` without a proper count is a
//! literal, a class does not nest and knows no set algebra, `(?<name>` is rejected, and `\d`, `\s`,
//! `\w` and POSIX names are ASCII.

use super::class::{Cursor, Set};
use super::error::{Quoted, RegexError};
use super::unicode::is_name_char;

/// The largest count in a repetition (RE2, `maximum_repeat_count`).
pub(super) const REPEAT_MAX: u32 = 1000;

/// `i`: letters match in either case.
pub(super) const FOLD: u8 = 1;
/// `m`: `^` and `$` match at line ends.
pub(super) const MULTI_LINE: u8 = 2;
/// `s`: `.` matches a newline.
pub(super) const DOT_NEWLINE: u8 = 4;
/// `U`: repetitions are lazy, and greedy with a `?`.
pub(super) const LAZY: u8 = 8;

/// One element of a pattern.
#[derive(Debug, Clone, Copy)]
pub(super) enum Token<'p> {
    Literal(u32),
    Dot,
    Caret,
    Dollar,
    BeginText,
    EndText,
    WordBoundary,
    NotWordBoundary,
    AnyByte,
    /// A whole bracketed class; [`Cursor::class`] reads its text again.
    Class {
        text: &'p str,
        items: u32,
    },
    /// A set outside brackets, as written.
    Set {
        text: &'p str,
        set: Set,
    },
    /// `(`, `(?P<name>` or `(?flags:`.
    Open {
        capture: bool,
        flags: FlagChange,
    },
    Close,
    Bar,
    /// `(?flags)`.
    Flags(FlagChange),
    Repeat {
        repeat: Repeat,
        lazy: bool,
    },
}

/// How often an expression is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeat {
    Star,
    Plus,
    Quest,
    /// The minimum, and the maximum if there is one.
    Count(u32, Option<u32>),
}

/// The flags that a group or a flag setting turns on and off.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FlagChange {
    set: u8,
    clear: u8,
}

impl FlagChange {
    pub(super) fn apply(self, flags: u8) -> u8 {
        (flags & !self.clear) | self.set
    }
}

/// Reads a pattern token by token.
#[derive(Debug, Clone)]
pub(super) struct Lexer<'p> {
    cursor: Cursor<'p>,
    /// Where the latest token began.
    start: usize,
    /// Whether the lexer is inside `\Q`.
    quoting: bool,
    /// Where the directly preceding repetition begins.
    repeated_at: Option<usize>,
}

impl<'p> Lexer<'p> {
    pub(super) fn new(pattern: &'p str) -> Self {
        Self {
            cursor: Cursor::new(pattern),
            start: 0,
            quoting: false,
            repeated_at: None,
        }
    }

    /// Returns the byte offset at which the latest token began.
    pub(super) fn start(&self) -> usize {
        self.start
    }

    /// Returns the latest token as written, cut for an error.
    pub(super) fn quote(&self) -> Quoted {
        self.cursor.quote(self.start)
    }

    /// Returns the latest token as written.
    pub(super) fn written(&self) -> &'p str {
        self.cursor.pattern.get(self.start..self.cursor.at).unwrap_or_default()
    }

    /// Returns the next token, or `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Token<'p>>, RegexError> {
        let before = self.cursor.at;
        if !self.quoting {
            self.quoting = self.cursor.eat("\\Q");
        }
        while self.quoting && self.cursor.eat("\\E") {
            self.quoting = self.cursor.eat("\\Q");
        }
        // Even an empty quotation separates two repetitions.
        let repeated_at = self.repeated_at.take().filter(|_| self.cursor.at == before);
        self.start = self.cursor.at;
        let Some(c) = self.cursor.bump() else { return Ok(None) };
        if self.quoting {
            return Ok(Some(Token::Literal(u32::from(c))));
        }
        let token = match c {
            '(' => self.group()?,
            ')' => Token::Close,
            '|' => Token::Bar,
            '^' => Token::Caret,
            '$' => Token::Dollar,
            '.' => Token::Dot,
            '[' => self.class()?,
            '*' => self.repeat(Repeat::Star, repeated_at)?,
            '+' => self.repeat(Repeat::Plus, repeated_at)?,
            '?' => self.repeat(Repeat::Quest, repeated_at)?,
            '{' => match self.counts() {
                Some((min, max)) => self.repeat(Repeat::Count(min, max), repeated_at)?,
                None => Token::Literal(u32::from(c)),
            },
            '\\' => self.backslash()?,
            _ => Token::Literal(u32::from(c)),
        };
        Ok(Some(token))
    }

    fn group(&mut self) -> Result<Token<'p>, RegexError> {
        if !self.cursor.eat("?") {
            return Ok(Token::Open {
                capture: true,
                flags: FlagChange::default(),
            });
        }
        if self.cursor.eat("P<") {
            return self.group_name();
        }
        let mut change = FlagChange::default();
        let (mut negated, mut any_since) = (false, false);
        loop {
            let flag = match self.cursor.bump() {
                Some('i') => FOLD,
                Some('m') => MULTI_LINE,
                Some('s') => DOT_NEWLINE,
                Some('U') => LAZY,
                Some('-') if !negated => {
                    (negated, any_since) = (true, false);
                    continue;
                }
                // A minus must negate something.
                Some(':') if !negated || any_since => {
                    return Ok(Token::Open {
                        capture: false,
                        flags: change,
                    });
                }
                Some(')') if !negated || any_since => return Ok(Token::Flags(change)),
                _ => return Err(RegexError::GroupKind(self.quote())),
            };
            any_since = true;
            if negated {
                change.clear |= flag;
                change.set &= !flag;
            } else {
                change.set |= flag;
            }
        }
    }

    fn group_name(&mut self) -> Result<Token<'p>, RegexError> {
        let rest = self.cursor.rest();
        let end = rest.find('>');
        let name = end.and_then(|end| rest.get(..end));
        self.cursor.at += end.map_or(rest.len(), |end| end + 1);
        match name {
            Some(name) if !name.is_empty() && name.chars().all(is_name_char) => Ok(Token::Open {
                capture: true,
                flags: FlagChange::default(),
            }),
            _ => Err(RegexError::GroupName(self.quote())),
        }
    }

    fn class(&mut self) -> Result<Token<'p>, RegexError> {
        let mut items = 0;
        self.cursor.at = self.start;
        self.cursor.class(|_| items += 1)?;
        let text = self.written();
        Ok(Token::Class { text, items })
    }

    fn repeat(&mut self, repeat: Repeat, repeated_at: Option<usize>) -> Result<Token<'p>, RegexError> {
        let lazy = self.cursor.eat("?");
        if let Some(at) = repeated_at {
            return Err(RegexError::DoubleRepeat(self.cursor.quote(at)));
        }
        if let Repeat::Count(min, max) = repeat
            && (min > REPEAT_MAX || max.is_some_and(|max| max > REPEAT_MAX || max < min))
        {
            return Err(RegexError::RepeatCount(self.quote()));
        }
        self.repeated_at = Some(self.start);
        Ok(Token::Repeat { repeat, lazy })
    }

    /// Reads what follows `{` if it is a count; otherwise the brace is a literal.
    fn counts(&mut self) -> Option<(u32, Option<u32>)> {
        let (min, rest) = number(self.cursor.rest())?;
        let (max, rest) = match rest.strip_prefix(',') {
            None => (Some(min), rest),
            Some(rest) if rest.starts_with('}') => (None, rest),
            Some(rest) => number(rest).map(|(max, rest)| (Some(max), rest))?,
        };
        let rest = rest.strip_prefix('}')?;
        self.cursor.at = self.cursor.pattern.len() - rest.len();
        Some((min, max))
    }

    fn backslash(&mut self) -> Result<Token<'p>, RegexError> {
        let token = match self.cursor.rest().as_bytes().first() {
            Some(b'b') => Token::WordBoundary,
            Some(b'B') => Token::NotWordBoundary,
            Some(b'A') => Token::BeginText,
            Some(b'z') => Token::EndText,
            Some(b'C') => Token::AnyByte,
            _ => {
                self.cursor.at = self.start;
                return Ok(match self.cursor.set()? {
                    Some(set) => Token::Set {
                        text: self.written(),
                        set,
                    },
                    None => Token::Literal(self.cursor.escape()?),
                });
            }
        };
        self.cursor.at += 1;
        Ok(token)
    }
}

/// Reads a decimal number without leading zeros and with at most nine digits. Returns it and what
/// follows it.
fn number(text: &str) -> Option<(u32, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at_checked(digits)?;
    // RE2 stops reading before a tenth digit, and then finds no brace there.
    if digits == 0 || digits > 9 || (digits > 1 && number.starts_with('0')) {
        return None;
    }
    Some((number.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(pattern: &str) -> Result<usize, RegexError> {
        let mut lexer = Lexer::new(pattern);
        let mut count = 0;
        while lexer.next()?.is_some() {
            count += 1;
        }
        Ok(count)
    }

    fn literal(pattern: &str) -> Option<u32> {
        match Lexer::new(pattern).next() {
            Ok(Some(Token::Literal(rune))) => Some(rune),
            _ => None,
        }
    }

    #[test]
    fn escapes_stand_for_one_code_point() {
        for (pattern, rune) in [
            (r"\a", 0x07),
            (r"\v", 0x0B),
            (r"\x41", 0x41),
            (r"\x{0041}", 0x41),
            (r"\x{10FFFF}", 0x10_FFFF),
            (r"\x{D800}", 0xD800),
            (r"\0", 0),
            (r"\12", 0o12),
            (r"\777", 0o777),
            (r"\_", 0x5F),
        ] {
            assert_eq!(literal(pattern), Some(rune), "{pattern}");
        }
    }

    #[test]
    fn a_brace_without_a_count_is_a_literal() {
        for pattern in [
            "{",
            "{,5}",
            "{}",
            "{1",
            "{-1}",
            "{ 1 }",
            "{1, 2}",
            "{01}",
            "{1,02}",
            "{a}",
            "{1000000000}",
        ] {
            assert_eq!(tokens(pattern), Ok(pattern.len()), "{pattern}");
        }
        assert_eq!(tokens("x{2}"), Ok(2));
    }

    #[test]
    fn a_quotation_may_stay_open_or_empty() {
        assert_eq!(tokens(r"\Qa*\"), Ok(3));
        assert_eq!(tokens(r"\Q\E\Q\E"), Ok(0));
        assert_eq!(tokens(r"a*\Q\E*"), Ok(3));
    }

    #[test]
    fn errors_name_the_construct_and_where_it_begins() {
        let text = |pattern: &str| tokens(pattern).unwrap_err().to_string();
        assert_eq!(
            text("ab[z-a]"),
            "the range `z-a` at byte 3 runs backwards: its first character must not be above its last"
        );
        assert_eq!(
            text("a[b"),
            "the class at byte 1 is not closed: a `]` must follow its first member"
        );
        assert_eq!(
            text("a++"),
            "`++` at byte 1 repeats a repetition: put the inner one into a group, RE2 has no possessive forms"
        );
        assert_eq!(
            text("a{2,1}"),
            "`{2,1}` at byte 1 is out of range: counts go up to 1000, the minimum must not exceed the maximum"
        );
        assert_eq!(
            text("\\"),
            "the backslash at byte 0 escapes nothing: write `\\\\` for a literal backslash"
        );
    }
}
