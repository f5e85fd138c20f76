//! JSON as the client's own parser reads it. C-core's (util/json/json_reader.cc) is stricter than
//! RFC 8259 in one place, and laxer in others.
//!
//! A key may not occur twice in an object, and containers nest at most 255 deep. `-`, `-01`, `-.5`
//! and `1e+` are numbers, and an object's last key may lack its value (`{"a":}` is `{}`). A byte
//! order mark is an error. A [`JsonDialect`] says how another client's parser differs.

use std::collections::{BTreeMap, BTreeSet};

/// How deep containers may be nested for C-core's parser, and for that of grpc-java.
pub const MAX_DEPTH: usize = 255;
/// How deep containers may be nested for clients whose parsers accept more than that (grpc-go:
/// 10,000).
pub const DEEPEST: usize = 1_000;

/// A JSON value; numbers keep their text.
#[derive(Debug, Clone, PartialEq)]
pub enum ClientJson {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// The number's text.
    Number(String),
    /// The string, unescaped.
    String(String),
    /// A string in which U+FFFD replaces half of a surrogate pair, or bytes that are not UTF-8.
    Mended(String),
    /// The elements.
    Array(Vec<ClientJson>),
    /// The entries.
    Object(JsonObject),
}

/// An object: its entries in the order of the text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JsonObject(Vec<(String, ClientJson)>);

impl JsonObject {
    /// An object without entries.
    pub const EMPTY: &JsonObject = &JsonObject(Vec::new());

    /// Returns the value of a key; of a repeated key, the last value.
    pub fn get(&self, key: &str) -> Option<&ClientJson> {
        self.0.iter().rev().find(|(name, _)| name == key).map(|(_, json)| json)
    }

    /// Says whether there is such a key.
    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Returns all entries, in the order of the text.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &ClientJson)> {
        self.0.iter().map(|(key, json)| (key.as_str(), json))
    }

    /// Returns the entries by key; of a repeated key, the last one.
    pub fn entries(&self) -> BTreeMap<&str, &ClientJson> {
        self.pairs().collect()
    }
}

/// Why the client's parser refuses a text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct SyntaxError {
    /// Byte offset of the fault.
    pub offset: usize,
    /// What is wrong with the text, as half a sentence.
    pub what: String,
}

/// Parses a whole text.
///
/// # Errors
/// The first fault.
pub fn parse(text: &[u8]) -> Result<ClientJson, SyntaxError> {
    parse_with(text, JsonDialect::default())
}

/// How another client's JSON parser differs from C-core's.
#[derive(Debug, Clone, Copy)]
pub struct JsonDialect {
    /// The last value of a repeated key counts; otherwise a repeated key is an error.
    pub takes_last_key: bool,
    /// Text after the value is ignored; otherwise it is an error.
    pub ends_with_value: bool,
    /// Half of a surrogate pair and bytes that are not UTF-8 become U+FFFD; otherwise they are
    /// errors.
    pub mends_strings: bool,
    /// Numbers and last keys follow RFC 8259; otherwise C-core's exceptions hold.
    pub is_exact: bool,
    /// The parser is Gson, not set to be strict. It also accepts keywords in any case, control
    /// characters in strings, `\'`, an escaped end of line, and a byte order mark. A number must be
    /// finite.
    pub is_gson: bool,
    /// The whole text must be UTF-8, not only its strings.
    pub needs_utf8: bool,
    /// How deep containers may be nested.
    pub max_depth: usize,
}

impl Default for JsonDialect {
    fn default() -> Self {
        JsonDialect {
            takes_last_key: false,
            ends_with_value: false,
            mends_strings: false,
            is_exact: false,
            is_gson: false,
            needs_utf8: false,
            max_depth: MAX_DEPTH,
        }
    }
}

/// Parses a whole text as another client's parser does.
///
/// # Errors
/// The first fault.
pub fn parse_with(text: &[u8], dialect: JsonDialect) -> Result<ClientJson, SyntaxError> {
    let has_mark = dialect.is_gson && text.starts_with("\u{feff}".as_bytes());
    let mut parser = JsonParser {
        text,
        at: if has_mark { 3 } else { 0 },
        depth: 0,
        mended: 0,
        dialect,
    };
    if dialect.needs_utf8
        && let Err(fault) = std::str::from_utf8(text)
    {
        parser.at = fault.valid_up_to();
        return parser.fail("the text is not valid UTF-8");
    }
    let value = parser.value()?;
    parser.space();
    if parser.at < text.len() && !dialect.ends_with_value {
        return parser.fail("text after the end of the document");
    }
    Ok(value)
}

struct JsonParser<'t> {
    text: &'t [u8],
    at: usize,
    depth: usize,
    /// How many halves of surrogate pairs were found so far.
    mended: usize,
    dialect: JsonDialect,
}

/// Says whether Gson reads a byte as part of the keyword before it.
fn is_literal(byte: u8) -> bool {
    !b"/\\;#=[]{},: \t\x0c\r\n".contains(&byte)
}

impl ClientJson {
    /// Returns the text of a string; `None` for any other value.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            ClientJson::String(text) | ClientJson::Mended(text) => Some(text),
            _ => None,
        }
    }

    /// Says whether the value is a number that is too large for a double.
    pub fn is_infinite(&self) -> bool {
        matches!(self, ClientJson::Number(text) if text.parse::<f64>().is_ok_and(f64::is_infinite))
    }
}

impl JsonParser<'_> {
    fn fail<T>(&self, what: impl Into<String>) -> Result<T, SyntaxError> {
        Err(SyntaxError {
            offset: self.at,
            what: what.into(),
        })
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn value(&mut self) -> Result<ClientJson, SyntaxError> {
        self.space();
        match self.peek() {
            Some(b'{') => self.object(),
            Some(b'[') => self.array(),
            Some(b'"') => self.string(),
            Some(b't' | b'T') => self.word("true", ClientJson::Bool(true)),
            Some(b'f' | b'F') => self.word("false", ClientJson::Bool(false)),
            Some(b'n' | b'N') => self.word("null", ClientJson::Null),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(_) => self.fail("a value must start here"),
            None => self.fail("the text ends where a value must be"),
        }
    }

    fn word(&mut self, word: &str, value: ClientJson) -> Result<ClientJson, SyntaxError> {
        let rest = self.text.get(self.at..self.at + word.len()).unwrap_or_default();
        let is_word = rest == word.as_bytes() || self.dialect.is_gson && rest.eq_ignore_ascii_case(word.as_bytes());
        let after = self.text.get(self.at + word.len());
        if is_word && !(self.dialect.is_gson && after.is_some_and(|byte| is_literal(*byte))) {
            self.at += word.len();
            Ok(value)
        } else {
            self.fail("a value must start here")
        }
    }

    fn open(&mut self) -> Result<(), SyntaxError> {
        let most = self.dialect.max_depth;
        if self.depth == most {
            return self.fail(format!("nested more than {most} deep"));
        }
        self.depth += 1;
        self.at += 1;
        Ok(())
    }

    fn object(&mut self) -> Result<ClientJson, SyntaxError> {
        self.open()?;
        let (mut entries, mut keys) = (Vec::new(), BTreeSet::new());
        self.space();
        if self.peek() != Some(b'}') {
            loop {
                self.space();
                let start = self.at;
                if self.peek() != Some(b'"') {
                    return self.fail("a key in quotes must be here");
                }
                let (ClientJson::String(key) | ClientJson::Mended(key)) = self.string()? else {
                    return self.fail("a key in quotes must be here");
                };
                self.space();
                if self.peek() != Some(b':') {
                    return self.fail("a `:` must follow the key");
                }
                self.at += 1;
                if !self.dialect.takes_last_key && !keys.insert(key.clone()) {
                    self.at = start;
                    return self.fail(format!("key `{key}` occurs twice in one object"));
                }
                self.space();
                if self.dialect.is_exact || self.peek() != Some(b'}') {
                    let value = self.value()?;
                    entries.push((key, value));
                    self.space();
                }
                match self.peek() {
                    Some(b',') => self.at += 1,
                    Some(b'}') => break,
                    Some(_) => return self.fail("a `,` or `}` must be here"),
                    None => return self.fail("the text ends inside an object"),
                }
            }
        }
        self.at += 1;
        self.depth -= 1;
        Ok(ClientJson::Object(JsonObject(entries)))
    }

    fn array(&mut self) -> Result<ClientJson, SyntaxError> {
        self.open()?;
        let mut elements = Vec::new();
        self.space();
        if self.peek() != Some(b']') {
            loop {
                elements.push(self.value()?);
                self.space();
                match self.peek() {
                    Some(b',') => self.at += 1,
                    Some(b']') => break,
                    Some(_) => return self.fail("a `,` or `]` must be here"),
                    None => return self.fail("the text ends inside an array"),
                }
            }
        }
        self.at += 1;
        self.depth -= 1;
        Ok(ClientJson::Array(elements))
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at - start
    }

    fn number(&mut self) -> Result<ClientJson, SyntaxError> {
        let (start, is_exact) = (self.at, self.dialect.is_exact);
        // For C-core, a leading minus may stand alone, and a leading 0 stands alone.
        let is_zero = self.peek() == Some(b'0');
        if is_exact {
            self.at += usize::from(self.peek() == Some(b'-'));
        }
        match self.peek() {
            _ if !is_exact && !is_zero => {
                self.at += 1;
                self.digits();
            }
            Some(b'0') => self.at += 1,
            _ if self.digits() == 0 => return self.fail("a digit must follow the sign"),
            _ => {}
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            if self.digits() == 0 {
                return self.fail("a digit must follow the decimal point");
            }
        } else if is_zero && !is_exact {
            return self.end_number(start);
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            let has_sign = matches!(self.peek(), Some(b'+' | b'-'));
            self.at += usize::from(has_sign);
            match self.digits() {
                0 if is_exact => return self.fail("a digit must follow the exponent mark"),
                0 if !has_sign => return self.fail("a digit or sign must follow the exponent mark"),
                _ => {}
            }
        }
        let number = self.end_number(start)?;
        if self.dialect.is_gson && number.is_infinite() {
            self.at = start;
            return self.fail("the number is too large");
        }
        Ok(number)
    }

    fn end_number(&self, start: usize) -> Result<ClientJson, SyntaxError> {
        match self.peek() {
            None | Some(b' ' | b'\t' | b'\n' | b'\r' | b',' | b'}' | b']') => {
                let text = self.text.get(start..self.at).unwrap_or_default();
                Ok(ClientJson::Number(String::from_utf8_lossy(text).into_owned()))
            }
            Some(_) => self.fail("this cannot follow a number"),
        }
    }

    /// Reads a string, which is [`ClientJson::Mended`] if something in it was replaced.
    fn string(&mut self) -> Result<ClientJson, SyntaxError> {
        let before = self.mended;
        self.at += 1;
        let mut bytes = Vec::new();
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.escape(&mut bytes)?,
                Some(0..=31) if !self.dialect.is_gson => {
                    return self.fail("a control character in a string must be escaped");
                }
                Some(byte) => {
                    bytes.push(byte);
                    self.at += 1;
                }
                None => return self.fail("the text ends inside a string"),
            }
        }
        self.at += 1;
        match String::from_utf8(bytes) {
            Ok(text) if self.mended == before => Ok(ClientJson::String(text)),
            Ok(text) => Ok(ClientJson::Mended(text)),
            Err(fault) if self.dialect.mends_strings => Ok(ClientJson::Mended(
                String::from_utf8_lossy(fault.as_bytes()).into_owned(),
            )),
            Err(_) => self.fail("the string is not valid UTF-8"),
        }
    }

    fn escape(&mut self, bytes: &mut Vec<u8>) -> Result<(), SyntaxError> {
        let plain = match self.text.get(self.at + 1) {
            Some(b'"') => b'"',
            Some(b'/') => b'/',
            Some(b'\\') => b'\\',
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(byte @ (b'\'' | b'\n')) if self.dialect.is_gson => *byte,
            Some(b'u') => return self.unicode(bytes),
            _ => return self.fail("no such escape"),
        };
        bytes.push(plain);
        self.at += 2;
        Ok(())
    }

    fn unicode(&mut self, bytes: &mut Vec<u8>) -> Result<(), SyntaxError> {
        let first = self.hex4()?;
        let after = self.at;
        let code = match self.code_point(first) {
            Err(_) if self.dialect.mends_strings => {
                self.at = after;
                first
            }
            code => code?,
        };
        let whole = char::from_u32(code);
        self.mended += usize::from(whole.is_none());
        match whole.or(self.dialect.mends_strings.then_some(char::REPLACEMENT_CHARACTER)) {
            Some(c) => {
                bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                Ok(())
            }
            None => self.fail("a low surrogate stands alone"),
        }
    }

    /// Returns the code point that begins with these 16 bits; reads the second half of a surrogate
    /// pair.
    fn code_point(&mut self, first: u32) -> Result<u32, SyntaxError> {
        match first {
            0xd800..=0xdbff => {
                if self.peek() != Some(b'\\') || self.text.get(self.at + 1) != Some(&b'u') {
                    return self.fail("a high surrogate must be followed by a low one");
                }
                match self.hex4()? {
                    low @ 0xdc00..=0xdfff => Ok(0x1_0000 + ((first - 0xd800) << 10) + (low - 0xdc00)),
                    _ => self.fail("a high surrogate must be followed by a low one"),
                }
            }
            _ => Ok(first),
        }
    }

    /// Reads `\uXXXX`.
    fn hex4(&mut self) -> Result<u32, SyntaxError> {
        let digits = self.text.get(self.at + 2..self.at + 6);
        let code = digits
            .filter(|d| d.iter().all(u8::is_ascii_hexdigit))
            .and_then(|d| std::str::from_utf8(d).ok())
            .and_then(|d| u32::from_str_radix(d, 16).ok());
        match code {
            Some(code) => {
                self.at += 6;
                Ok(code)
            }
            None => self.fail("four hexadecimal digits must follow `\\u`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(text: &str) -> bool {
        parse(text.as_bytes()).is_ok()
    }

    #[test]
    fn takes_the_odd_numbers_that_the_client_takes() {
        for text in ["-", "-01", "-.5", "1e+", "1E5", "0", "0.5", "-0", "1e999"] {
            assert!(accepts(text), "{text}");
        }
        for text in ["01", "+1", "1.", ".5", "1e", "0x1", "NaN", "-x"] {
            assert!(!accepts(text), "{text}");
        }
    }

    #[test]
    fn a_missing_value_ends_an_object_and_duplicates_are_errors() {
        assert_eq!(parse(br#"{"a":}"#), Ok(ClientJson::Object(JsonObject::default())));
        for text in [
            r#"{"a":1,"a":1}"#,
            r#"{"a":1,"\u0061":2}"#,
            r#"{"a":1,}"#,
            "[1,]",
            "[,1]",
            "\u{feff}{}",
            "{}x",
        ] {
            assert!(!accepts(text), "{text}");
        }
    }

    #[test]
    fn nests_255_deep() {
        let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        assert!(accepts(&nested(255)));
        assert!(!accepts(&nested(256)));
    }
}
