//! Text whose places are not known: around a fault that ends a document, or around its resources.
//!
//! Nothing can be looked up there, so what is shown is what is known to be harmless: brackets, literals, the names of
//! fields that hold no secret, and what stands behind such a name on its line. A multi-line value of `password` cannot
//! hide: its lines have no name of their own, and whatever follows a secret's name in the piece is masked.

use std::ops::Range;

use super::is_name;

/// Lines that are looked at above a piece of text, for what it is part of.
const MAX_LINES_ABOVE: usize = 2000;

/// The parts of `text` that may hold a secret. `is_harmless` says whether a field's name is known and its values can be shown;
/// `is_inside` whether the text begins inside a secret; comments, if the format has them, are left to the caller.
///
/// ```
/// let ranges = xdsctl::secret::unplaced::find("name: a\nx: b\n  cd", |name| name == "name", false, true);
/// assert_eq!(ranges, [8..9, 11..12, 15..17]);
/// ```
pub fn find(text: &str, is_harmless: impl Fn(&str) -> bool, is_inside: bool, has_comments: bool) -> Vec<Range<usize>> {
    let mut finder = Finder {
        text,
        shows: false,
        after_secret: is_inside,
        has_comments,
        hidden: Vec::new(),
    };
    let mut pos = 0;
    while let Some(word) = finder.word(pos) {
        pos = word.end;
        finder.take(word, &is_harmless);
    }
    finder.hidden
}

/// Says whether a line above `before` that the text is indented below has the name of a secret.
///
/// Bytes, because this is asked for each finding: no more of `before` is looked at than what its lines begin and end with.
pub fn is_below_secret(before: &[u8], first_line: &str) -> bool {
    let indent = |line: &[u8]| {
        line.iter()
            .take_while(|byte| matches!(byte, b' ' | b'-' | b'\t'))
            .count()
    };
    let mut innermost = indent(first_line.as_bytes()).max(1);
    let mut above = Some(before);
    for _ in 0..MAX_LINES_ABOVE {
        let Some(text) = above else { break };
        let newline = memchr::memrchr(b'\n', text);
        let line = text.get(newline.map_or(0, |at| at + 1)..).unwrap_or_default();
        above = newline.and_then(|at| text.get(..at));
        let own = indent(line);
        if own >= innermost || line.trim_ascii().is_empty() {
            continue;
        }
        innermost = own;
        // The lines of a block scalar have no names, whatever they look like.
        let line = line.trim_ascii_end();
        let count = line
            .iter()
            .rev()
            .take_while(|byte| matches!(byte, b'-' | b'+' | b'1'..=b'9'))
            .count();
        let header = line.get(..line.len() - count).unwrap_or_default();
        if header.ends_with(b" |") || header.ends_with(b" >") {
            return true;
        }
        let key = line
            .split(|byte| matches!(byte, b':' | b'{' | b'<' | b'#'))
            .next()
            .unwrap_or_default();
        let key = String::from_utf8_lossy(key);
        if is_name(key.trim_matches([' ', '-', '\t', '"', '\'', '?'])) {
            return true;
        }
        if own == 0 {
            return false;
        }
    }
    false
}

/// A word or a quoted string.
struct Word {
    start: usize,
    end: usize,
    is_quoted: bool,
}

struct Finder<'t> {
    text: &'t str,
    /// A harmless name stands before, on this line.
    shows: bool,
    /// The name of a secret stands before.
    after_secret: bool,
    /// What is behind a `#` is a comment.
    has_comments: bool,
    hidden: Vec<Range<usize>>,
}

impl Finder<'_> {
    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(b'\n')
    }

    fn is_comment(&self, at: usize) -> bool {
        let begins = at
            .checked_sub(1)
            .is_none_or(|before| self.byte(before).is_ascii_whitespace());
        self.has_comments && !self.after_secret && begins
    }

    /// The next word from `pos` on.
    fn word(&mut self, pos: usize) -> Option<Word> {
        let mut start = pos;
        while start < self.text.len() {
            match self.byte(start) {
                // What follows belongs to no name of this line.
                b'#' if self.is_comment(start) => {
                    self.shows = false;
                    while start + 1 < self.text.len() && self.byte(start + 1) != b'\n' {
                        start += 1;
                    }
                }
                b'\n' | b'}' | b'>' | b'#' | b';' => self.shows = false,
                // What is in an object has names of its own.
                b'{' => self.shows = false,
                b' ' | b'\t' | b'\r' | b'[' | b']' | b',' | b':' | b'<' | b'|' | b'&' | b'?' => {}
                b'-' if matches!(self.byte(start + 1), b' ' | b'\n' | b'-') => {}
                _ => break,
            }
            start += 1;
        }
        if start >= self.text.len() {
            return None;
        }
        let quote = self.byte(start);
        if !matches!(quote, b'"' | b'\'') {
            let mut end = start + 1;
            while end < self.text.len() {
                let byte = self.byte(end);
                let ends_key =
                    byte == b':' && matches!(self.byte(end + 1), b' ' | b'\t' | b'\r' | b'\n' | b'"' | b'\'');
                if ends_key
                    || matches!(
                        byte,
                        b' ' | b'\t' | b'\r' | b'\n' | b',' | b'{' | b'}' | b'[' | b']' | b'"'
                    )
                {
                    break;
                }
                end += 1;
            }
            return Some(Word {
                start,
                end,
                is_quoted: false,
            });
        }
        let mut end = start + 1;
        while end < self.text.len() && self.byte(end) != quote && self.byte(end) != b'\n' {
            let escapes = self.byte(end) == b'\\' && self.byte(end + 1) != b'\n';
            end += if escapes { 2 } else { 1 };
        }
        // A newline ends a string that is not closed, and is no part of it.
        let is_closed = self.byte(end) == quote && end < self.text.len();
        Some(Word {
            start,
            end: (end + usize::from(is_closed)).min(self.text.len()),
            is_quoted: is_closed,
        })
    }

    fn take(&mut self, word: Word, is_harmless: impl Fn(&str) -> bool) {
        let (start, end) = if word.is_quoted {
            (word.start + 1, word.end.saturating_sub(1).max(word.start + 1))
        } else {
            (word.start, word.end)
        };
        let text = self.text.get(start..end).unwrap_or_default();
        let mut next = word.end;
        while matches!(self.byte(next), b' ' | b'\t') {
            next += 1;
        }
        // A string that goes on behind its end is none: what looks like text is between strings, and the other way round.
        self.after_secret |=
            word.is_quoted && matches!(self.byte(word.end), b'!'..=b'+' | b'-'..=b'9' | b'@'..=b'\\' | b'^'..=b'|');
        let is_key = self.byte(next) == b':' || (!word.is_quoted && matches!(self.byte(next), b'{' | b'<'));
        let is_shown = if is_key && is_name(text) {
            self.after_secret = true;
            true
        } else if is_key {
            self.shows = is_harmless(text);
            let is_shown = (self.shows || is_spelt(text)) && !self.after_secret;
            // A brace in the middle of a word: what follows is in no object.
            self.after_secret |= !is_shown && matches!(self.byte(word.end), b'{' | b'<');
            is_shown
        } else {
            (self.shows && !self.after_secret) || matches!(text, "true" | "false" | "null" | "~" | "---" | "")
        };
        if !is_shown {
            self.hidden.push(start..end.min(self.text.len()));
        }
    }
}

/// Says whether a key that nobody knows is made of words, as names of fields and types are: `UserAgentVersionType`, `xds`, and not
/// of letters in any order.
fn is_spelt(key: &str) -> bool {
    let name = key.strip_prefix("type.googleapis.com/").unwrap_or(key);
    let is_short = |word: &str| (2..=MAX_WORD_BYTES).contains(&word.len());
    let is_part = |part: &str| !part.is_empty() && humps(part).all(|word| is_short(word) && is_word(word));
    name.is_ascii() && name.len() <= MAX_KEY_BYTES && name.split(['_', '-', '.']).all(is_part)
}

/// Longest key, and longest word of one, that is shown for its spelling.
const MAX_KEY_BYTES: usize = 100;
const MAX_WORD_BYTES: usize = 14;

/// The parts of a word in camel case.
fn humps(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let next = rest
            .get(1..)?
            .find(|c: char| c.is_ascii_uppercase())
            .map_or(rest.len(), |at| at + 1);
        let (hump, after) = rest.split_at(next);
        rest = after;
        Some(hump)
    })
}

/// Says whether a word has letters alone, all small but for the first; a version such as `v3` is one.
fn is_word(word: &str) -> bool {
    let is_version = word
        .strip_prefix('v')
        .is_some_and(|digits| digits.len() == 1 && digits.bytes().all(|b| b.is_ascii_digit()));
    is_version
        || (word.bytes().all(|byte| byte.is_ascii_alphabetic()) && word.bytes().skip(1).all(|b| b.is_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_behind_a_harmless_name_is_shown() {
        for (text, expected) in [
            ("name: a b # c\nd", "name: a b # c\n*"),
            ("password: a # c", "password: * # *"),
            ("name: \"a\", port: 1}", "name: \"a\", port: 1}"),
            ("{\"name\":\"a\",\"x\":\"b\"", "{\"name\":\"a\",\"*\":\"*\""),
            ("cut off\",\"name\":\"a\"", "*** ***\"*\"****\"*\"**"),
            ("name:\n  - abc\n  - 'd''e'", "name:\n  - ***\n  - '*''*'"),
            ("name: 10.0.0.1:80", "name: 10.0.0.1:80"),
            ("name: [a, b\nc]", "name: [a, b\n*]"),
            ("password: |\n  abc\nname: x", "password: |\n  ***\n****: *"),
            ("password: *abc\n", "password: ****\n"),
            ("{password: a,b, name: c}", "{password: *,*, ****: *}"),
            ("name { port: 1 }", "name { port: 1 }"),
            ("a: true", "*: true"),
            ("name: \"a\\\nb\"", "name: \"a\\\n**"),
            ("\"name\"\":\"a\",\"x\":\"b\"", "\"****\"\"*\"*\"*\"*\"*\"**"),
            ("name: {x: a}", "name: {*: *}"),
            ("name: \"a\nb\"", "name: \"a\n**"),
            ("x: \"a\nname: c", "*: **\nname: c"),
            // Keys that nobody knows, made of words or not.
            ("localisty: a", "localisty: *"),
            ("UserAgentVersionType: a", "UserAgentVersionType: *"),
            (
                "type.googleapis.com/envoy.config.cluster.v3.Cluster: d",
                "type.googleapis.com/envoy.config.cluster.v3.Cluster: *",
            ),
            ("inline_{name: a", "*******{****: *"),
            ("qWkRtPlm: a, hunter2: b", "********: *, *******: *"),
            ("", ""),
        ] {
            let ranges = find(text, |name| matches!(name, "name" | "port"), false, true);
            let mut shown = text.as_bytes().to_vec();
            for range in ranges {
                shown[range].fill(b'*');
            }
            assert_eq!(String::from_utf8(shown).unwrap(), expected);
        }
    }

    #[test]
    fn a_text_below_the_name_of_a_secret_is_inside() {
        assert!(is_below_secret(b"a:\n  password: |\n    x\n\n", "    y"));
        assert!(is_below_secret(b"  private_key:\n    inline:\n", "      x: y"));
        assert!(is_below_secret(b"a:\n  x: |-\n    y\n", "    name: z"));
        assert!(!is_below_secret(b"password: x\nother:\n  a: b\n", "  y"));
        assert!(!is_below_secret(b"", "y"));
    }
}
