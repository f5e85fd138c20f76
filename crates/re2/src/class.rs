//! The members of classes, and the escapes that stand for a character or a set.
//!
//! A class does not nest and knows no set algebra: `[a&&b]` contains an ampersand, and `[[a]]` is a
//! class followed by a bracket. `-` is a member wherever it cannot form a range. `\d`, `\s`, `\w`
//! and the POSIX names are ASCII; `\p` knows the names in [`super::unicode`]. Source: RE2's
//! `ParseCharClass` and `ParseEscape`.

use super::error::{Quoted, RegexError};
use super::ranges::RUNE_MAX;
use super::unicode::Group;

/// A predefined set of code points, perhaps negated.
#[derive(Debug, Clone, Copy)]
pub(super) struct Set {
    pub(super) members: Members,
    pub(super) negated: bool,
}

/// The members of a predefined set.
#[derive(Debug, Clone, Copy)]
pub(super) enum Members {
    Ascii(&'static [(u32, u32)]),
    Unicode(Group),
}

/// One member of a bracketed class.
#[derive(Debug, Clone, Copy)]
pub(super) enum ClassItem {
    Range(u32, u32),
    Set(Set),
}

const DIGIT: &[(u32, u32)] = &[(0x30, 0x39)];
/// `\s`, which unlike `[:space:]` has no vertical tab.
const PERL_SPACE: &[(u32, u32)] = &[(0x09, 0x0A), (0x0C, 0x0D), (0x20, 0x20)];
const WORD: &[(u32, u32)] = &[(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)];

const POSIX: [(&str, &[(u32, u32)]); 14] = [
    ("alnum", &[(0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)]),
    ("alpha", &[(0x41, 0x5A), (0x61, 0x7A)]),
    ("ascii", &[(0x00, 0x7F)]),
    ("blank", &[(0x09, 0x09), (0x20, 0x20)]),
    ("cntrl", &[(0x00, 0x1F), (0x7F, 0x7F)]),
    ("digit", DIGIT),
    ("graph", &[(0x21, 0x7E)]),
    ("lower", &[(0x61, 0x7A)]),
    ("print", &[(0x20, 0x7E)]),
    ("punct", &[(0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)]),
    ("space", &[(0x09, 0x0D), (0x20, 0x20)]),
    ("upper", &[(0x41, 0x5A)]),
    ("word", WORD),
    ("xdigit", &[(0x30, 0x39), (0x41, 0x46), (0x61, 0x66)]),
];

/// A place in a pattern, from which escapes and classes are read.
#[derive(Debug, Clone)]
pub(super) struct Cursor<'p> {
    pub(super) pattern: &'p str,
    /// The byte offset.
    pub(super) at: usize,
    /// Where the surrounding class begins, for errors.
    class: usize,
    /// Whether a search for `:]` has reached the end of the pattern, so that no later search is
    /// needed.
    has_no_posix: bool,
}

impl<'p> Cursor<'p> {
    /// Returns a cursor at the beginning.
    pub(super) fn new(pattern: &'p str) -> Self {
        Self {
            pattern,
            at: 0,
            class: 0,
            has_no_posix: false,
        }
    }

    /// Reads the class at the cursor and passes on its members. Says whether it is negated.
    pub(super) fn class(&mut self, mut found: impl FnMut(ClassItem)) -> Result<bool, RegexError> {
        self.class = self.at;
        self.at += 1;
        let negated = self.eat("^");
        let mut first = true;
        loop {
            match self.rest().as_bytes().first() {
                None => return Err(RegexError::OpenClass { at: self.class }),
                Some(b']') if !first => {
                    self.at += 1;
                    return Ok(negated);
                }
                Some(_) => first = false,
            }
            let set = match self.posix()? {
                Some(set) => Some(set),
                None => self.set()?,
            };
            found(match set {
                Some(set) => ClassItem::Set(set),
                None => self.range()?,
            });
        }
    }

    pub(super) fn rest(&self) -> &'p str {
        self.pattern.get(self.at..).unwrap_or_default()
    }

    pub(super) fn bump(&mut self) -> Option<char> {
        let c = self.rest().chars().next()?;
        self.at += c.len_utf8();
        Some(c)
    }

    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.rest().as_bytes().starts_with(text.as_bytes());
        if found {
            self.at += text.len();
        }
        found
    }

    /// Returns the part from `start` to the cursor, for an error.
    pub(super) fn quote(&self, start: usize) -> Quoted {
        Quoted::of(self.pattern, start, self.at)
    }

    /// Reads `[:name:]` or `[:^name:]`; without the closing `:]` the text is not a name.
    fn posix(&mut self) -> Result<Option<Set>, RegexError> {
        let Some(rest) = self.rest().strip_prefix("[:").filter(|_| !self.has_no_posix) else {
            return Ok(None);
        };
        let Some((inside, _)) = rest.split_once(":]") else {
            self.has_no_posix = true;
            return Ok(None);
        };
        let start = self.at;
        self.at += inside.len() + 4;
        let (name, negated) = inside.strip_prefix('^').map_or((inside, false), |name| (name, true));
        match POSIX.iter().find(|(posix, _)| *posix == name) {
            Some((_, ranges)) => Ok(Some(Set {
                members: Members::Ascii(ranges),
                negated,
            })),
            None => Err(RegexError::PosixName(self.quote(start))),
        }
    }

    /// Reads `\d` and the like, or `\p`. The cursor is at the backslash.
    pub(super) fn set(&mut self) -> Result<Option<Set>, RegexError> {
        let &[b'\\', letter, ..] = self.rest().as_bytes() else {
            return Ok(None);
        };
        let members = match letter {
            b'd' | b'D' => Members::Ascii(DIGIT),
            b's' | b'S' => Members::Ascii(PERL_SPACE),
            b'w' | b'W' => Members::Ascii(WORD),
            b'p' | b'P' => return self.unicode(letter == b'P').map(Some),
            _ => return Ok(None),
        };
        self.at += 2;
        Ok(Some(Set {
            members,
            negated: letter.is_ascii_uppercase(),
        }))
    }

    fn unicode(&mut self, capital: bool) -> Result<Set, RegexError> {
        let start = self.at;
        self.at += 2;
        let name = if self.eat("{") {
            let rest = self.rest();
            let end = rest.find('}');
            self.at += end.map_or(rest.len(), |end| end + 1);
            end.and_then(|end| rest.get(..end)).unwrap_or_default()
        } else {
            let from = self.at;
            let _ = self.bump();
            self.pattern.get(from..self.at).unwrap_or_default()
        };
        let (name, caret) = name.strip_prefix('^').map_or((name, false), |name| (name, true));
        match Group::find(name) {
            Some(group) => Ok(Set {
                members: Members::Unicode(group),
                negated: capital != caret,
            }),
            None => Err(RegexError::UnicodeName(self.quote(start))),
        }
    }

    /// Reads a single member of a class, or a range of members.
    fn range(&mut self) -> Result<ClassItem, RegexError> {
        let start = self.at;
        let low = self.class_char()?;
        let mut high = low;
        // A hyphen before the closing bracket is a member.
        if let &[b'-', after, ..] = self.rest().as_bytes()
            && after != b']'
        {
            self.at += 1;
            high = self.class_char()?;
        }
        if high < low {
            return Err(RegexError::Range(self.quote(start)));
        }
        Ok(ClassItem::Range(low, high))
    }

    fn class_char(&mut self) -> Result<u32, RegexError> {
        if self.rest().starts_with('\\') {
            return self.escape();
        }
        self.bump()
            .map(u32::from)
            .ok_or(RegexError::OpenClass { at: self.class })
    }

    /// Reads an escape that stands for one code point. The cursor is at the backslash.
    pub(super) fn escape(&mut self) -> Result<u32, RegexError> {
        let start = self.at;
        self.at += 1;
        let Some(c) = self.bump() else {
            return Err(RegexError::TrailingBackslash { at: start });
        };
        let rune = match c {
            'a' => Some(0x07),
            'f' => Some(0x0C),
            'n' => Some(0x0A),
            'r' => Some(0x0D),
            't' => Some(0x09),
            'v' => Some(0x0B),
            'x' => self.hexadecimal(),
            '0' => Some(self.octal(0)),
            // A single digit would be a back-reference.
            '1'..='7' if matches!(self.rest().as_bytes().first(), Some(b'0'..=b'7')) => {
                Some(self.octal(u32::from(c) - 0x30))
            }
            _ if c.is_ascii() && !c.is_ascii_alphanumeric() => Some(u32::from(c)),
            _ => None,
        };
        rune.ok_or_else(|| RegexError::Escape(self.quote(start)))
    }

    /// Reads up to two more octal digits.
    fn octal(&mut self, mut value: u32) -> u32 {
        for _ in 0..2 {
            match self.rest().as_bytes().first() {
                Some(&digit @ b'0'..=b'7') => value = value * 8 + u32::from(digit - b'0'),
                _ => break,
            }
            self.at += 1;
        }
        value
    }

    /// Reads what follows `\x`: two digits, or any number of digits in braces.
    fn hexadecimal(&mut self) -> Option<u32> {
        if !self.eat("{") {
            let high = self.bump()?.to_digit(16)?;
            return Some(high * 16 + self.bump()?.to_digit(16)?);
        }
        let mut value = None;
        loop {
            let c = self.bump()?;
            match c.to_digit(16) {
                Some(digit) => value = Some(value.unwrap_or(0) * 16 + digit).filter(|value| *value <= RUNE_MAX),
                None => return value.filter(|_| c == '}'),
            }
            value?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(class: &str) -> Result<Vec<(u32, u32)>, RegexError> {
        let mut items = Vec::new();
        Cursor::new(class).class(|item| match item {
            ClassItem::Range(low, high) => items.push((low, high)),
            ClassItem::Set(_) => items.push((u32::MAX, u32::MAX)),
        })?;
        Ok(items)
    }

    fn letters(text: &str) -> Vec<(u32, u32)> {
        text.chars().map(|c| (u32::from(c), u32::from(c))).collect()
    }

    #[test]
    fn brackets_and_ampersands_are_members() {
        assert_eq!(items("[]a]"), Ok(letters("]a")));
        assert_eq!(items("[a&&b]"), Ok(letters("a&&b")));
        assert_eq!(items("[[a]"), Ok(letters("[a")));
        assert_eq!(items("[[:a]"), Ok(letters("[:a")));
    }

    #[test]
    fn a_hyphen_is_a_member_where_it_is_no_range() {
        assert_eq!(items("[-a]"), Ok(letters("-a")));
        assert_eq!(items("[a-]"), Ok(letters("a-")));
        assert_eq!(items("[a-c-e]"), Ok([vec![(0x61, 0x63)], letters("-e")].concat()));
        assert_eq!(items(r"[\d-a]").map(|items| items.len()), Ok(3));
    }

    #[test]
    fn names_of_posix_classes_are_exact() {
        assert_eq!(items("[[:^alpha:]]"), Ok(vec![(u32::MAX, u32::MAX)]));
        let unknown = |text: &str| {
            Err(RegexError::PosixName(Quoted {
                at: 1,
                text: text.to_owned(),
            }))
        };
        assert_eq!(items("[[:ALPHA:]]"), unknown("[:ALPHA:]"));
        assert_eq!(items("[[:<:]]"), unknown("[:<:]"));
    }
}
