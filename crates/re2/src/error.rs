//! Why a pattern is not a regular expression of RE2.
//!
//! Each text is one lower-case sentence: the construct, the byte offset at which it begins, and
//! what RE2 would accept instead.

use std::fmt;

/// The longest piece of a pattern that an error quotes, in bytes.
const QUOTE_MAX: usize = 40;

/// Why RE2 rejects a pattern. `at` is a byte offset in the pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields mean the same in every variant")]
pub enum RegexError {
    /// The pattern ends in a lone backslash.
    TrailingBackslash { at: usize },
    /// An escape without a meaning in RE2, or with a number that is too large.
    Escape(Quoted),
    /// A `\p` name that RE2 does not know.
    UnicodeName(Quoted),
    /// A `[:name:]` that POSIX does not know.
    PosixName(Quoted),
    /// A class range that runs backwards.
    Range(Quoted),
    /// A class without its closing bracket.
    OpenClass { at: usize },
    /// A group without its closing parenthesis.
    OpenGroup { at: usize },
    /// A closing parenthesis without a group.
    CloseGroup { at: usize },
    /// `(?` followed by something that RE2 does not support.
    GroupKind(Quoted),
    /// A named group whose name is empty, unfinished or has other than word characters.
    GroupName(Quoted),
    /// A repetition of nothing.
    NothingToRepeat(Quoted),
    /// Two repetitions in a row.
    DoubleRepeat(Quoted),
    /// A count above 1000, or a maximum below its minimum.
    RepeatCount(Quoted),
    /// Nested counts that multiply to more than 1000.
    RepeatNesting(Quoted),
    /// The compiled program does not fit into RE2's memory budget.
    TooLarge { limit: u64 },
}

impl fmt::Display for RegexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TrailingBackslash { at } => {
                write!(
                    f,
                    "the backslash at byte {at} escapes nothing: write `\\\\` for a literal backslash"
                )
            }
            Self::Escape(Quoted { at, text }) => write!(
                f,
                "`{text}` at byte {at} is no escape of RE2, which takes \\a \\f \\n \\r \\t \\v, \\x and octal numbers up to 10FFFF, \
                 \\d \\s \\w \\b \\A \\z \\C \\Q \\p and punctuation"
            ),
            Self::UnicodeName(Quoted { at, text }) => write!(
                f,
                "`{text}` at byte {at} names no class of RE2, which takes the one- and two-letter general categories, \
                 the scripts of Unicode 14 and `Any`"
            ),
            Self::PosixName(Quoted { at, text }) => write!(
                f,
                "`{text}` at byte {at} names no POSIX class: alnum, alpha, ascii, blank, cntrl, digit, graph, lower, print, punct, \
                 space, upper, word or xdigit"
            ),
            Self::Range(Quoted { at, text }) => {
                write!(
                    f,
                    "the range `{text}` at byte {at} runs backwards: its first character must not be above its last"
                )
            }
            Self::OpenClass { at } => write!(
                f,
                "the class at byte {at} is not closed: a `]` must follow its first member"
            ),
            Self::OpenGroup { at } => write!(f, "the group at byte {at} is not closed: a `)` must follow"),
            Self::CloseGroup { at } => write!(
                f,
                "`)` at byte {at} closes no group: write `\\)` for a literal parenthesis"
            ),
            Self::GroupKind(Quoted { at, text }) => write!(
                f,
                "`{text}` at byte {at} is no group of RE2, which takes `(?:`, `(?P<name>` and the flags i, m, s and U, and has no look-around"
            ),
            Self::GroupName(Quoted { at, text }) => write!(
                f,
                "`{text}` at byte {at} has no usable name: a name is one or more letters, digits or underscores, as in `(?P<name>`"
            ),
            Self::NothingToRepeat(Quoted { at, text }) => {
                write!(
                    f,
                    "`{text}` at byte {at} repeats nothing: an expression must stand before it"
                )
            }
            Self::DoubleRepeat(Quoted { at, text }) => write!(
                f,
                "`{text}` at byte {at} repeats a repetition: put the inner one into a group, RE2 has no possessive forms"
            ),
            Self::RepeatCount(Quoted { at, text }) => {
                write!(
                    f,
                    "`{text}` at byte {at} is out of range: counts go up to 1000, the minimum must not exceed the maximum"
                )
            }
            Self::RepeatNesting(Quoted { at, text }) => {
                write!(
                    f,
                    "`{text}` at byte {at} multiplies with the counts inside it to more than 1000 repetitions"
                )
            }
            Self::TooLarge { limit } => {
                write!(
                    f,
                    "the pattern compiles to more than {limit} instructions, the most that RE2's memory budget of 8 MiB holds"
                )
            }
        }
    }
}

impl std::error::Error for RegexError {}

/// The part of a pattern that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quoted {
    /// The byte offset in the pattern.
    pub at: usize,
    /// The part, cut to [`QUOTE_MAX`] and with control characters escaped.
    pub text: String,
}

impl Quoted {
    pub(super) fn of(pattern: &str, at: usize, to: usize) -> Quoted {
        let piece = pattern.get(at..to).unwrap_or_default();
        let mut end = piece.len().min(QUOTE_MAX);
        while !piece.is_char_boundary(end) {
            end -= 1;
        }
        let mut text = String::with_capacity(end);
        for c in piece.get(..end).unwrap_or_default().chars() {
            if c.is_control() {
                text.extend(c.escape_default());
            } else {
                text.push(c);
            }
        }
        if end < piece.len() {
            text.push_str("...");
        }
        Quoted { at, text }
    }
}
