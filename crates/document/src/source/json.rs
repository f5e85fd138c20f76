//! Reads JSON text piece by piece, without building a tree.
//!
//! A [`Scanner`] has a position in the text; its methods consume one token or one value. It is
//! strict about brackets, strings and the ends of values. Numbers, escapes and UTF-8 are checked by
//! the user of the token, so that an invalid value does not end the document. The transcoder, the
//! envelope walker and the span finder use it.

/// Where and why JSON text cannot be read any further.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Syntax {
    /// The byte offset in the text.
    pub at: usize,
    /// What was expected or found, as a fragment without a full stop.
    pub what: &'static str,
}

/// A string token.
#[derive(Debug, Clone, Copy)]
pub struct Str {
    /// The offset of the first byte after the opening quote.
    pub start: usize,
    /// The offset of the closing quote.
    pub end: usize,
    /// Whether the string has a backslash.
    pub escaped: bool,
    /// Whether the string has a byte above 0x7f.
    pub foreign: bool,
}

/// Why a string token has no valid text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadText {
    /// A backslash begins an escape that JSON does not have.
    Escape,
    /// An escape is half of a UTF-16 surrogate pair.
    Surrogate,
    /// The bytes are not UTF-8.
    Utf8,
}

impl BadText {
    /// Returns what is wrong, to be put after "a string with".
    pub const fn what(self) -> &'static str {
        match self {
            BadText::Escape => "an unknown escape",
            BadText::Surrogate => "half of a surrogate pair",
            BadText::Utf8 => "bytes that are not UTF-8",
        }
    }
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// A position in JSON text.
#[derive(Debug, Clone)]
pub struct Scanner<'t> {
    text: &'t [u8],
    pos: usize,
    /// The kinds of the brackets that `skip_value` has opened. Kept to reuse the allocation.
    open: Vec<bool>,
}

impl<'t> Scanner<'t> {
    /// Returns a scanner at the first byte.
    pub const fn new(text: &'t [u8]) -> Self {
        Scanner {
            text,
            pos: 0,
            open: Vec::new(),
        }
    }

    /// Returns the whole text.
    pub const fn text(&self) -> &'t [u8] {
        self.text
    }

    /// Returns the position, in bytes from the start of the text.
    #[inline(always)]
    pub const fn pos(&self) -> usize {
        self.pos
    }

    /// Moves the scanner to a byte offset.
    pub const fn set_pos(&mut self, pos: usize) {
        self.pos = pos;
    }

    /// Consumes the byte that [`peek`](Self::peek) returned.
    #[inline(always)]
    pub const fn bump(&mut self) {
        self.pos += 1;
    }

    /// Returns a part of the text, or nothing if there is no such part.
    #[inline(always)]
    pub fn slice(&self, start: usize, end: usize) -> &'t [u8] {
        self.text.get(start..end).unwrap_or_default()
    }

    /// Returns the bytes of a string token as they are written, with escapes.
    #[inline(always)]
    pub fn raw(&self, token: Str) -> &'t [u8] {
        self.slice(token.start, token.end)
    }

    /// Skips white space and returns the next byte without consuming it. Returns 0 at the end (and
    /// for a NUL byte).
    #[inline(always)]
    pub fn peek(&mut self) -> u8 {
        match self.text.get(self.pos) {
            Some(&byte) if byte > b' ' => byte,
            _ => self.peek_after_space(),
        }
    }

    fn peek_after_space(&mut self) -> u8 {
        loop {
            match self.text.get(self.pos) {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.pos += 1,
                Some(&byte) => return byte,
                None => return 0,
            }
        }
    }

    #[inline(always)]
    fn eight(&self) -> Option<u64> {
        let chunk = self.text.get(self.pos..)?.first_chunk::<8>()?;
        Some(u64::from_le_bytes(*chunk))
    }

    /// Says whether only white space is left.
    pub fn at_end(&mut self) -> bool {
        self.peek() == 0 && self.pos >= self.text.len()
    }

    /// Returns an error at the current position. If the text has ended, the error says so.
    #[cold]
    pub fn error<T>(&self, what: &'static str) -> Result<T, Syntax> {
        let what = if self.pos >= self.text.len() {
            "the text ends inside a value"
        } else {
            what
        };
        Err(Syntax {
            at: self.pos.min(self.text.len()),
            what,
        })
    }

    /// Skips white space and consumes the byte `wanted`.
    #[inline(always)]
    pub fn expect(&mut self, wanted: u8, what: &'static str) -> Result<(), Syntax> {
        if self.peek() == wanted {
            self.pos += 1;
            Ok(())
        } else {
            self.error(what)
        }
    }

    /// Consumes `,` (and returns true) or the bracket that closes the list (and returns false).
    #[inline(always)]
    pub fn more(&mut self, close: u8) -> Result<bool, Syntax> {
        match self.peek() {
            b',' => {
                self.pos += 1;
                Ok(true)
            }
            byte if byte == close => {
                self.pos += 1;
                Ok(false)
            }
            _ => self.error(if close == b'}' {
                "expected `,` or `}`"
            } else {
                "expected `,` or `]`"
            }),
        }
    }

    /// Consumes the opening bracket. Returns true if there is an element; otherwise also consumes
    /// the closing bracket.
    #[inline(always)]
    pub fn open(&mut self, close: u8) -> Result<bool, Syntax> {
        self.pos += 1;
        if self.peek() == close {
            self.pos += 1;
            return Ok(false);
        }
        Ok(true)
    }

    /// Consumes a key and its colon.
    #[inline(always)]
    pub fn key(&mut self) -> Result<Str, Syntax> {
        if self.peek() != b'"' {
            return self.error("expected a key in double quotes");
        }
        let key = self.string()?;
        self.expect(b':', "expected `:` after the key")?;
        Ok(key)
    }

    /// Consumes `len` bytes if they equal the bytes at `start`, which is before the position.
    #[inline(always)]
    pub fn pass_same(&mut self, start: usize, len: usize) -> bool {
        let (Some(here), Some(there)) = (
            self.text.get(self.pos..self.pos + len),
            self.text.get(start..start + len),
        ) else {
            return false;
        };
        let is_same = same(here, there);
        if is_same {
            self.pos += len;
        }
        is_same
    }

    /// Consumes a string.
    #[inline(always)]
    pub fn string(&mut self) -> Result<Str, Syntax> {
        self.expect(b'"', "expected a string")?;
        let start = self.pos;
        let mut foreign = 0u64;
        let mut escaped = false;
        loop {
            if let Some(word) = self.eight() {
                let quote = word ^ (ONES * b'"' as u64);
                let slash = word ^ (ONES * b'\\' as u64);
                let control = word.wrapping_sub(ONES * 0x20) & !word;
                let special = (quote.wrapping_sub(ONES) & !quote | slash.wrapping_sub(ONES) & !slash | control) & HIGHS;
                if special == 0 {
                    foreign |= word & HIGHS;
                    self.pos += 8;
                    continue;
                }
                let skip = special.trailing_zeros() / 8;
                // Count only the bytes before the special one.
                foreign |= word & HIGHS & (1u64 << (skip * 8)).wrapping_sub(1);
                self.pos += skip as usize;
            }
            match self.text.get(self.pos) {
                Some(b'"') => {
                    let end = self.pos;
                    self.pos += 1;
                    return Ok(Str {
                        start,
                        end,
                        escaped,
                        foreign: foreign != 0,
                    });
                }
                Some(b'\\') => {
                    escaped = true;
                    // The escaped byte may be a quote. A control character is found in the next
                    // round.
                    self.pos += 1 + usize::from(self.text.get(self.pos + 1).is_some_and(|byte| *byte >= b' '));
                }
                Some(byte) if *byte < b' ' => return self.error("control character in a string"),
                Some(byte) => {
                    foreign |= u64::from(byte & 0x80);
                    self.pos += 1;
                }
                None => return self.error("the string is not closed"),
            }
        }
    }

    /// Consumes a number, `true`, `false` or `null`, and returns its token: everything up to white
    /// space or a delimiter.
    #[inline(always)]
    pub fn bare(&mut self) -> &'t [u8] {
        self.peek();
        let start = self.pos;
        while let Some(byte) = self.text.get(self.pos) {
            if matches!(byte, b'+' | b'-' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_') {
                self.pos += 1;
            } else {
                break;
            }
        }
        self.slice(start, self.pos)
    }

    /// Consumes and returns a whole number of up to nine digits. Does not move for any other value.
    #[inline(always)]
    pub fn short_number(&mut self) -> Option<u64> {
        let text = self.text.get(self.pos..)?.first_chunk::<10>()?;
        let mut value = 0;
        for (count, byte) in text.iter().enumerate() {
            match byte {
                b'0'..=b'9' => value = value * 10 + u64::from(byte - b'0'),
                b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t'
                    if count == 1 || (count > 1 && text.first() != Some(&b'0')) =>
                {
                    self.pos += count;
                    return Some(value);
                }
                _ => return None,
            }
        }
        None
    }

    /// Consumes `null` if it is next.
    #[inline(always)]
    pub fn null(&mut self) -> bool {
        if self.peek() == b'n' && self.slice(self.pos, self.pos + 4) == b"null" {
            self.pos += 4;
            true
        } else {
            false
        }
    }

    /// Consumes one value of any kind, and checks that it is JSON. Does not recurse.
    pub fn skip_value(&mut self) -> Result<(), Syntax> {
        self.open.clear();
        loop {
            match self.peek() {
                b'"' => _ = self.string()?,
                b'{' => {
                    if self.open(b'}')? {
                        self.key()?;
                        self.open.push(true);
                        continue;
                    }
                }
                b'[' => {
                    if self.open(b']')? {
                        self.open.push(false);
                        continue;
                    }
                }
                _ => self.skip_bare()?,
            }
            // One value is complete. Consume what follows it, up to the next value.
            loop {
                let Some(&object) = self.open.last() else {
                    return Ok(());
                };
                if self.more(if object { b'}' } else { b']' })? {
                    if object {
                        self.key()?;
                    }
                    break;
                }
                self.open.pop();
            }
        }
    }

    fn skip_bare(&mut self) -> Result<(), Syntax> {
        let start = self.pos;
        let token = self.bare();
        if matches!(token, b"true" | b"false" | b"null") || is_number(token) {
            Ok(())
        } else {
            self.pos = start;
            self.error("expected a value")
        }
    }

    /// Returns the text of a string token, unescaped into `scratch` if need be.
    pub fn text_of<'s>(&self, token: Str, scratch: &'s mut Vec<u8>) -> Result<&'s str, BadText>
    where
        't: 's,
    {
        let raw = self.raw(token);
        if !token.escaped {
            return std::str::from_utf8(raw).map_err(|_| BadText::Utf8);
        }
        scratch.clear();
        unescape(raw, scratch)?;
        std::str::from_utf8(scratch).map_err(|_| BadText::Utf8)
    }
}

/// Compares two slices. For short slices, calling `memcmp` takes longer than the comparison.
#[inline(always)]
fn same(a: &[u8], b: &[u8]) -> bool {
    // Compare the first and the last bytes, which meet in the middle.
    match a.len() {
        len if len != b.len() => false,
        0..4 => a.iter().zip(b).all(|(a, b)| a == b),
        4..8 => both_ends::<4>(a, b),
        8..16 => both_ends::<8>(a, b),
        16..32 => both_ends::<16>(a, b),
        32..=64 => both_ends::<32>(a, b),
        _ => a.first_chunk::<16>() == b.first_chunk() && a == b,
    }
}

#[inline(always)]
fn both_ends<const N: usize>(a: &[u8], b: &[u8]) -> bool {
    a.first_chunk::<N>() == b.first_chunk::<N>() && a.last_chunk::<N>() == b.last_chunk::<N>()
}

/// Says whether a token is a JSON number.
pub fn is_number(token: &[u8]) -> bool {
    let digits = |bytes: &[u8]| bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut rest = token.strip_prefix(b"-").unwrap_or(token);
    let whole = digits(rest);
    if whole == 0 || (whole > 1 && rest.first() == Some(&b'0')) {
        return false;
    }
    rest = rest.get(whole..).unwrap_or_default();
    if let Some(fraction) = rest.strip_prefix(b".") {
        let count = digits(fraction);
        if count == 0 {
            return false;
        }
        rest = fraction.get(count..).unwrap_or_default();
    }
    if let Some(exponent) = rest.strip_prefix(b"e").or_else(|| rest.strip_prefix(b"E")) {
        let exponent = match exponent.first() {
            Some(b'+' | b'-') => exponent.get(1..).unwrap_or_default(),
            _ => exponent,
        };
        return !exponent.is_empty() && digits(exponent) == exponent.len();
    }
    rest.is_empty()
}

/// Appends the bytes that the contents of a string token stand for.
fn unescape(mut raw: &[u8], out: &mut Vec<u8>) -> Result<(), BadText> {
    while let Some(slash) = memchr::memchr(b'\\', raw) {
        out.extend_from_slice(raw.get(..slash).unwrap_or_default());
        let escape = raw.get(slash + 1).copied().ok_or(BadText::Escape)?;
        raw = raw.get(slash + 2..).unwrap_or_default();
        let byte = match escape {
            b'"' | b'\\' | b'/' => escape,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let (character, rest) = unicode(raw)?;
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                raw = rest;
                continue;
            }
            _ => return Err(BadText::Escape),
        };
        out.push(byte);
    }
    out.extend_from_slice(raw);
    Ok(())
}

/// Reads the digits after `\u`, and the second half of a surrogate pair.
fn unicode(raw: &[u8]) -> Result<(char, &[u8]), BadText> {
    let (unit, rest) = hex4(raw)?;
    let (code, rest) = if (0xd800..0xdc00).contains(&unit) {
        let rest = rest.strip_prefix(b"\\u").ok_or(BadText::Surrogate)?;
        let (low, rest) = hex4(rest)?;
        if !(0xdc00..0xe000).contains(&low) {
            return Err(BadText::Surrogate);
        }
        (0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00), rest)
    } else {
        (unit, rest)
    };
    char::from_u32(code).map(|c| (c, rest)).ok_or(BadText::Surrogate)
}

fn hex4(raw: &[u8]) -> Result<(u32, &[u8]), BadText> {
    let (digits, rest) = raw.split_first_chunk::<4>().ok_or(BadText::Escape)?;
    let mut unit = 0;
    for digit in digits {
        unit = unit << 4 | char::from(*digit).to_digit(16).ok_or(BadText::Escape)?;
    }
    Ok((unit, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skip(text: &str) -> Result<usize, (usize, &'static str)> {
        let mut scanner = Scanner::new(text.as_bytes());
        match scanner.skip_value() {
            Ok(()) => Ok(scanner.pos()),
            Err(e) => Err((e.at, e.what)),
        }
    }

    #[test]
    fn skips_one_value_and_nothing_else() {
        for text in [
            "1",
            "-1.5e+3",
            "true",
            "null",
            r#""a\"b""#,
            "[]",
            "{}",
            r#"{"a":[1,{"b":null}],"c":""}"#,
            r#"[[[]],"]"]"#,
            " \n\t[ 1 , 2 ]",
        ] {
            assert_eq!(skip(text), Ok(text.len()), "{text}");
            assert_eq!(skip(&format!("{text} x")), Ok(text.len()), "{text}");
        }
    }

    #[test]
    fn says_where_text_is_not_json() {
        for (text, at, what) in [
            ("", 0, "the text ends inside a value"),
            ("[1", 2, "the text ends inside a value"),
            ("[1 2]", 3, "expected `,` or `]`"),
            ("[1}", 2, "expected `,` or `]`"),
            (r#"{"a" 1}"#, 5, "expected `:` after the key"),
            ("{a:1}", 1, "expected a key in double quotes"),
            (r#"{"a":1,}"#, 7, "expected a key in double quotes"),
            ("[01]", 1, "expected a value"),
            ("[.5]", 1, "expected a value"),
            ("[1,]", 3, "expected a value"),
            ("[nul]", 1, "expected a value"),
            ("\"a\u{1}\"", 2, "control character in a string"),
            ("\"a\\\n\"", 3, "control character in a string"),
            ("\"abc", 4, "the text ends inside a value"),
            ("\0", 0, "expected a value"),
        ] {
            assert_eq!(skip(text), Err((at, what)), "{text:?}");
        }
    }

    #[test]
    fn a_hundred_thousand_brackets_do_not_recurse() {
        let text = "[".repeat(100_000) + &"]".repeat(100_000);
        assert_eq!(skip(&text), Ok(200_000));
    }

    fn text(token: &str) -> Result<String, BadText> {
        let mut scanner = Scanner::new(token.as_bytes());
        let token = scanner.string().unwrap();
        scanner.text_of(token, &mut Vec::new()).map(str::to_owned)
    }

    #[test]
    fn strings_are_unescaped() {
        assert_eq!(
            text(r#""plain, longer than eight""#),
            Ok("plain, longer than eight".into())
        );
        assert_eq!(text(r#""\"\\\/\b\f\n\r\t\u0041""#), Ok("\"\\/\u{8}\u{c}\n\r\tA".into()));
        assert_eq!(text(r#""\ud83d\ude00""#), Ok("\u{1f600}".into()));
        assert_eq!(text(r#""\ud83d""#), Err(BadText::Surrogate));
        assert_eq!(text(r#""\ude00x""#), Err(BadText::Surrogate));
        assert_eq!(text(r#""\ud83dA""#), Err(BadText::Surrogate));
        assert_eq!(text(r#""\x""#), Err(BadText::Escape));
        assert_eq!(text(r#""\u12""#), Err(BadText::Escape));
    }

    #[test]
    fn foreign_bytes_are_seen_wherever_they_are() {
        for (token, foreign) in [
            ("\"abcdefghij\"", false),
            ("\"é\"", true),
            ("\"abcdefghé\"", true),
            ("\"abcdefgh\"  é", false),
            ("\"a\" éé", false),
        ] {
            let mut scanner = Scanner::new(token.as_bytes());
            assert_eq!(scanner.string().unwrap().foreign, foreign, "{token}");
        }
    }

    #[test]
    fn short_numbers_end_where_a_number_may() {
        for (text, value) in [
            ("0, 12345678", Some(0)),
            ("17}12345678", Some(17)),
            ("123456789]", Some(123_456_789)),
            ("1234567890,", None),
            ("9999999999", None),
            ("017,1234567", None),
            ("1.5,1234567", None),
            ("1e5,1234567", None),
            ("-5, 1234567", None),
            (",1234567890", None),
            ("5", None),
        ] {
            let mut scanner = Scanner::new(text.as_bytes());
            assert_eq!(scanner.short_number(), value, "{text}");
            let passed = value.map_or(0, |_| text.find([',', '}', ']']).unwrap());
            assert_eq!(scanner.pos(), passed, "{text}");
        }
    }
}
