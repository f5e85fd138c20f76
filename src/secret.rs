//! Text that is shown to people, with what may be a secret masked.
//!
//! Dumps hold private keys, passwords and tokens: Envoy redacts them, control planes and static files do not. A report ends
//! up in tickets and logs, so whatever of a document is quoted goes through here. What is masked is
//! found by its looks alone, because quotes begin and end anywhere: a field that holds secrets, a PEM key, a line of base64,
//! a token behind `Bearer`, a JWT. Bytes stay where they are, so that places in the text do.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;

/// Fields that hold secrets, of the messages that carry them in xDS (DataSource, Secret, credentials).
const FIELDS: &[&str] = &[
    "inline_string",
    "inlineString",
    "inline_bytes",
    "inlineBytes",
    "private_key",
    "privateKey",
    "password",
    "client_secret",
    "clientSecret",
    "hmac_secret",
    "hmacSecret",
    "access_token",
    "accessToken",
    "refresh_token",
    "refreshToken",
];

/// Words before a token.
const SCHEMES: &[&str] = &["Bearer ", "bearer ", "Basic ", "basic "];

/// Shortest line that counts as base64, in characters: PEM has 64, less in the last line.
const MIN_BASE64: usize = 40;

/// Shortest token behind its scheme, in characters, with a digit or an equals sign in it, and without.
const MIN_TOKEN: (usize, usize) = (8, 24);

/// Shortest JWT, in characters.
const MIN_JWT: usize = 20;

/// Says whether a field of this name holds a secret.
///
/// ```
/// assert!(xdsctl::secret::is_field("inline_bytes"));
/// assert!(!xdsctl::secret::is_field("filename"));
/// ```
pub fn is_field(name: &str) -> bool {
    FIELDS.contains(&name)
}

/// Puts an asterisk for every byte of what may be a secret.
///
/// ```
/// use xdsctl::secret::hide;
/// assert_eq!(hide("{inline_string: 'abc', x: 1}"), "{inline_string: '***', x: 1}");
/// assert_eq!(hide("filename: key.pem"), "filename: key.pem");
/// assert_eq!(hide("Basic dXNlcjpwYXNz1g=="), "Basic ****************");
/// assert_eq!(hide("# Basic settings"), "# Basic settings");
/// ```
pub fn hide(text: &str) -> Cow<'_, str> {
    let mut ranges = Vec::new();
    let bytes = text.as_bytes();
    for name in FIELDS {
        ranges.extend(memmem::find_iter(bytes, name).filter_map(|at| value_of(bytes, at, name.len())));
    }
    ranges.extend(memmem::find_iter(bytes, "PRIVATE KEY").map(|at| {
        let start = at + "PRIVATE KEY".len();
        start..end_of(bytes, start, |byte| matches!(byte, b'"' | b'\'' | b'\n'))
    }));
    for scheme in SCHEMES {
        ranges.extend(memmem::find_iter(bytes, scheme).filter_map(|at| {
            let start = at + scheme.len();
            let end = end_of(bytes, start, |byte| matches!(byte, b'"' | b'\'' | b' ' | b'\n'));
            is_token(bytes.get(start..end)?).then_some(start..end)
        }));
    }
    ranges.extend(memmem::find_iter(bytes, "eyJ").filter_map(|start| {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        let end = end_of(bytes, start, |byte| !is_part(byte));
        (end - start >= MIN_JWT).then_some(start..end)
    }));
    let mut start = 0;
    for line in text.split('\n') {
        let inner = line.trim();
        let is_base64 = inner
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='));
        if inner.len() >= MIN_BASE64 && is_base64 {
            let inner_start = start + line.len() - line.trim_start().len();
            ranges.push(inner_start..inner_start + inner.len());
        }
        start += line.len() + 1;
    }
    if ranges.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut hidden = String::with_capacity(text.len());
    for (at, character) in text.char_indices() {
        if character != '\n' && ranges.iter().any(|range| range.contains(&at)) {
            hidden.extend(std::iter::repeat_n('*', character.len_utf8()));
        } else {
            hidden.push(character);
        }
    }
    Cow::Owned(hidden)
}

/// Says whether a word looks like a token, and not like one of a sentence.
fn is_token(word: &[u8]) -> bool {
    let is_odd = word.iter().any(|byte| byte.is_ascii_digit() || *byte == b'=');
    word.len() >= if is_odd { MIN_TOKEN.0 } else { MIN_TOKEN.1 }
}

/// Where the value of the field at `at` stands, if it is a scalar on the same line.
fn value_of(bytes: &[u8], at: usize, len: usize) -> Option<Range<usize>> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    if at
        .checked_sub(1)
        .and_then(|before| bytes.get(before))
        .is_some_and(is_word)
    {
        return None;
    }
    let mut pos = at + len;
    if matches!(bytes.get(pos), Some(b'"' | b'\'')) {
        pos += 1;
    }
    let space = |pos: usize| end_of(bytes, pos, |byte| !matches!(byte, b' ' | b'\t'));
    pos = space(pos);
    if bytes.get(pos) != Some(&b':') {
        return None;
    }
    pos = space(pos + 1);
    let range = match *bytes.get(pos)? {
        b'{' | b'[' | b'<' | b'|' | b'>' | b'\n' => return None,
        quote @ (b'"' | b'\'') => {
            let start = pos + 1;
            let mut end = start;
            while let Some(&byte) = bytes.get(end) {
                match byte {
                    b'\\' => end += 1,
                    _ if byte == quote || byte == b'\n' => break,
                    _ => {}
                }
                end += 1;
            }
            start..end.min(bytes.len())
        }
        _ => pos..end_of(bytes, pos, |byte| matches!(byte, b',' | b'}' | b']' | b'\n')),
    };
    (bytes.get(range.clone()) != Some(b"[redacted]")).then_some(range)
}

/// The first position from `start` where `stops` is true, or the end.
fn end_of(bytes: &[u8], start: usize, stops: impl Fn(u8) -> bool) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    start + rest.iter().position(|byte| stops(*byte)).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::hide;

    #[test]
    fn secrets_are_masked_and_nothing_else() {
        let base64 = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIB";
        let stars = "*".repeat(base64.len());
        for (text, expected) in [
            (
                r#"{"privateKey": "a\"b", "x": "y"}"#,
                r#"{"privateKey": "****", "x": "y"}"#.to_owned(),
            ),
            ("password : pässword # c", format!("password : {}", "*".repeat(13))),
            ("{inline_string: abc, x: 1}", "{inline_string: ***, x: 1}".to_owned()),
            (r#"inline_bytes: "abc"#, r#"inline_bytes: "***"#.to_owned()),
            (
                r#"inline_bytes: "[redacted]""#,
                r#"inline_bytes: "[redacted]""#.to_owned(),
            ),
            ("private_key: {filename: a}", "private_key: {filename: a}".to_owned()),
            ("not_password: a", "not_password: a".to_owned()),
            (
                r#"x: "-----BEGIN PRIVATE KEY-----\nab" y"#,
                format!(r#"x: "-----BEGIN PRIVATE KEY{}" y"#, "*".repeat(9)),
            ),
            (&format!("a:\n  {base64}\nb"), format!("a:\n  {stars}\nb")),
            (
                r#"value: "Bearer abc.d3f-8""#,
                r#"value: "Bearer *********""#.to_owned(),
            ),
            ("a bearer of news", "a bearer of news".to_owned()),
            ("eyJhbGciOiJIUzI1NiIsInR5.eyJ", "*".repeat(28)),
            ("keyJoin", "keyJoin".to_owned()),
            ("", String::new()),
        ] {
            assert_eq!(hide(text), expected, "{text}");
            assert_eq!(hide(text).len(), text.len());
        }
    }
}
