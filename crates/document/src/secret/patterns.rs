//! Finds values that look like a secret wherever they are: PEM keys, tokens after the name of their
//! scheme, JWTs, passwords and tokens in URLs.
//!
//! This is the second safety net after the module that knows places. Masking keeps the number of
//! bytes, so that places in the text stay valid.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::{self, Finder};

/// Words before a token, in lower or upper case.
const SCHEMES: &[&str] = &["bearer ", "basic "];

/// The shortest token after a scheme, in characters. The first number is for a token that has a
/// digit, an equals sign or an inner capital letter, or that is the whole text; the second is for
/// others.
const MIN_TOKEN: (usize, usize) = (8, 24);

/// The length of the shortest JWT, in characters.
const MIN_JWT: usize = 20;

/// The prefixes of keys and tokens of known issuers, each with the least number of characters that
/// follow.
const PREFIXES: &[(&str, usize)] = &[
    ("eyJ", MIN_JWT - 3),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("ya29.", 16),
    ("GOCSPX-", 16),
    ("ghp_", 30),
    ("gho_", 30),
    ("ghs_", 30),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("xoxb-", 16),
    ("xoxp-", 16),
    ("sk_live_", 16),
    ("hvs.", 16),
];

/// Says whether a byte occurs in documents, but not in a name, an address or a path.
const fn is_sign(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'"' | b'{' | b'}' | b',')
}

/// For each byte, the [`PREFIXES`] of which it is the first, second or third byte, as a bit for
/// each.
static HEADS: [[u32; 256]; 3] = {
    let mut heads = [[0; 256]; 3];
    let mut number = 0;
    while number < PREFIXES.len() {
        let prefix = PREFIXES[number].0.as_bytes();
        let mut at = 0;
        while at < heads.len() {
            heads[at][prefix[at] as usize] |= 1 << number;
            at += 1;
        }
        number += 1;
    }
    heads
};

/// Says whether a text may contain something that looks like a secret. If not, [`SecretFinder`]
/// finds nothing, unless the line before ended inside a key.
///
/// Everything that it finds contains a blank, an at sign, an equals sign, a byte of a document or
/// an authority, or begins like a token of a known issuer.
fn may_look(text: &[u8]) -> bool {
    let [first, second, third] = &HEADS;
    let head = |byte: &[u8], table: &[u32; 256], at: usize| byte.get(at).map_or(0, |byte| table[usize::from(*byte)]);
    text.iter()
        .fold(false, |any, byte| any | matches!(byte, b'@' | b'=') | is_sign(*byte))
        || SEARCHES.authority.find(text).is_some()
        || text.len() >= MIN_JWT
            && text
                .windows(3)
                .any(|bytes| head(bytes, first, 0) & head(bytes, second, 1) & head(bytes, third, 2) != 0)
}

/// The words with which a private key begins.
const PEM: &str = "PRIVATE KEY";

/// Searches for [`PREFIXES`], [`PEM`] and the beginning of an authority. They are made once,
/// because every line of output is searched.
static SEARCHES: LazyLock<Searches> = LazyLock::new(|| Searches {
    prefixes: PREFIXES
        .iter()
        .map(|(prefix, min)| (Finder::new(prefix), prefix.len(), *min))
        .collect(),
    pem: Finder::new(PEM),
    authority: Finder::new("://"),
    escaped_slash: Finder::new(r"\/"),
});

struct Searches {
    /// Each prefix with its length, and the least number of characters that follow.
    prefixes: Vec<(Finder<'static>, usize, usize)>,
    pem: Finder<'static>,
    authority: Finder<'static>,
    /// A slash as JSON may write it.
    escaped_slash: Finder<'static>,
}

/// Finds secrets in the lines of a text, one after the other. A key may span many lines.
#[derive(Debug, Clone, Default)]
pub struct SecretFinder {
    /// Whether the last line ended inside a private key.
    in_key: bool,
}

impl SecretFinder {
    /// Replaces every byte of what looks like a secret with an asterisk, and says whether there was
    /// any. `text` is one or more lines.
    pub fn mask(&mut self, text: &mut [u8]) -> bool {
        let ranges = self.find(text);
        mask(text, &ranges);
        !ranges.is_empty()
    }

    fn find(&mut self, text: &[u8]) -> Vec<Range<usize>> {
        let mut ranges = Vec::new();
        if self.in_key || SEARCHES.pem.find(text).is_some() {
            let mut start = 0;
            for line in text.split_inclusive(|byte| *byte == b'\n') {
                self.key_line(line, start, &mut ranges);
                start += line.len();
            }
        }
        tokens(text, &mut ranges);
        passwords(text, &mut ranges);
        logins(text, &mut ranges);
        named(text, &mut ranges);
        // Parts that are masked already stay as they are.
        ranges.retain(|range| {
            text.get(range.clone())
                .is_some_and(|text| text.iter().any(|byte| *byte != b'*'))
        });
        ranges
    }

    /// Adds the parts of a line that belong to a private key.
    fn key_line(&mut self, line: &[u8], offset: usize, ranges: &mut Vec<Range<usize>>) {
        let mut pos = 0;
        loop {
            if !self.in_key {
                let Some(found) = line.get(pos..).and_then(|rest| memmem::find(rest, PEM.as_bytes())) else {
                    return;
                };
                pos += found + PEM.len();
                self.in_key = true;
            }
            let rest = line.get(pos..).unwrap_or_default();
            let (stop, is_closed) = end_of_key(line, pos);
            if stop > pos {
                ranges.push(offset + pos..offset + stop);
            }
            if stop >= line.len() {
                // A line of words ends a key that has no last line.
                let has_blank = rest.trim_ascii().contains(&b' ');
                self.in_key = !(pos == 0 && has_blank);
                return;
            }
            self.in_key = false;
            pos = if is_closed {
                // The closing line contains the same words as the opening line.
                let after = line.get(stop..).and_then(|rest| memmem::find(rest, PEM.as_bytes()));
                after.map_or(line.len(), |at| stop + at + PEM.len())
            } else {
                stop
            };
        }
    }
}

/// Returns where the key at `pos` ends, and whether it ends at its last line. Otherwise it ends
/// with its string: at an unescaped quote that is followed by punctuation of JSON or YAML.
fn end_of_key(line: &[u8], pos: usize) -> (usize, bool) {
    const LAST: &[u8] = b"-----END";
    let byte = |at: usize| line.get(at).copied().unwrap_or(b'\n');
    let is_last = |at: usize| line.get(at..).is_some_and(|rest| rest.starts_with(LAST));
    let ends = |at: &usize| {
        let is_quote = matches!(byte(*at), b'"' | b'\'') && byte(at.wrapping_sub(1)) != b'\\';
        let is_end = is_quote && matches!(byte(at + 1), b',' | b'}' | b']' | b':' | b'\n' | b'\r' | b' ' | b'`');
        is_end || is_last(*at)
    };
    let stop = (pos..line.len()).find(ends).unwrap_or(line.len());
    (stop, is_last(stop))
}

/// Finds tokens after the name of their scheme, and tokens with the prefix of a known issuer.
fn tokens(text: &[u8], ranges: &mut Vec<Range<usize>>) {
    for at in memchr::memchr2_iter(b'b', b'B', text) {
        let rest = text.get(at..).unwrap_or_default();
        let begins = |scheme: &&&str| {
            let head = rest.get(..scheme.len());
            head.is_some_and(|head| head.eq_ignore_ascii_case(scheme.as_bytes()))
        };
        let Some(scheme) = SCHEMES.iter().find(begins) else {
            continue;
        };
        let start = at + scheme.len();
        let is_quote = |byte: u8| matches!(byte, b'"' | b'\'' | b'`');
        let is_edge = |byte: Option<&u8>| byte.is_none_or(|byte| is_quote(*byte));
        let stops = |byte: u8| is_quote(byte) || matches!(byte, b'\n' | b'\\');
        // If the token is the whole text, it includes its blanks, because YAML adds blanks where it
        // joins lines.
        let own = is_edge(at.checked_sub(1).and_then(|at| text.get(at))).then(|| end_of(text, start, stops));
        let own = own.filter(|end| is_edge(text.get(*end)));
        let end = own.unwrap_or_else(|| end_of(text, start, |byte| byte == b' ' || stops(byte)));
        if is_token(text.get(start..end).unwrap_or_default(), own.is_some()) {
            ranges.push(start..end);
        }
    }
    for (search, len, min) in &SEARCHES.prefixes {
        for at in search.find_iter(text) {
            let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
            if at > 0 && text.get(at - 1).is_some_and(u8::is_ascii_alphanumeric) {
                continue;
            }
            let end = end_of(text, at + len, |byte| !is_part(byte));
            if end - at >= len + min {
                ranges.push(at..end);
            }
        }
    }
}

/// Finds passwords in URLs: `https://user:password@host`.
fn passwords(text: &[u8], ranges: &mut Vec<Range<usize>>) {
    let plain = SEARCHES.authority.find_iter(text).map(|at| at + 3);
    // The second slash of `:\/\/`, or of `:/\/`.
    let escaped = SEARCHES.escaped_slash.find_iter(text).filter_map(|at| {
        let before = text.get(..at)?;
        (before.ends_with(br":\/") || before.ends_with(b":/")).then_some(at + 2)
    });
    authorities(text, plain, ranges);
    authorities(text, escaped, ranges);
}

/// Finds passwords in URLs whose authorities begin at `starts`.
fn authorities(text: &[u8], starts: impl Iterator<Item = usize>, ranges: &mut Vec<Range<usize>>) {
    for start in starts {
        // YAML replaces a line break in a folded text with a blank.
        let mut blanks = 0;
        let mut end = start;
        while let Some(byte) = text.get(end) {
            blanks += usize::from(*byte == b' ');
            if blanks > 1 || matches!(byte, b'/' | b'?' | b'#' | b'"' | b'\'' | b'`' | b'\n') {
                break;
            }
            end += 1;
        }
        let authority = text.get(start..end).unwrap_or_default();
        let user = match memchr::memrchr(b'@', authority) {
            Some(host) => authority.get(..host).unwrap_or_default(),
            None if is_cut(authority, text.get(end)) => authority,
            None => continue,
        };
        if let Some(colon) = memchr::memchr(b':', user) {
            ranges.push(start + colon + 1..start + user.len());
        }
    }
}

/// Says whether an authority is a user with a password whose host was cut off: it has text where
/// the port would be. `after` is the byte behind it.
fn is_cut(authority: &[u8], after: Option<&u8>) -> bool {
    let ends = after.is_none_or(|byte| matches!(byte, b'"' | b'\'' | b'`' | b'\n'));
    let colon = memchr::memchr(b':', authority).filter(|_| !authority.starts_with(b"["));
    let rest = colon.and_then(|colon| authority.get(colon + 1..)).unwrap_or_default();
    // `https://HOST:PORT` and `https://{host}:{port}` are only placeholders.
    let stands_for = rest.eq_ignore_ascii_case(b"port") || rest.iter().any(|byte| b" {}<>$".contains(byte));
    ends && !stands_for && rest.iter().any(u8::is_ascii_alphabetic)
}

/// Finds passwords in logins without a scheme: `user:password@host`.
fn logins(text: &[u8], ranges: &mut Vec<Range<usize>>) {
    if memchr::memchr(b'@', text).is_none() {
        return;
    }
    let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b',');
    let mut start = 0;
    for word in text.split(ends) {
        let user = memchr::memrchr(b'@', word)
            .and_then(|host| word.get(..host))
            .unwrap_or_default();
        let is_path = user.iter().any(|byte| matches!(byte, b'/' | b'?' | b'\\'));
        if let (false, Some(colon @ 1..)) = (is_path, memchr::memchr(b':', user))
            && colon + 1 < user.len()
            && word.get(user.len() + 1).is_some_and(u8::is_ascii_alphanumeric)
        {
            ranges.push(start + colon + 1..start + user.len());
        }
        start += word.len() + 1;
    }
}

/// Finds values after the name of a secret: `?token=abc`, `password=abc`.
fn named(text: &[u8], ranges: &mut Vec<Range<usize>>) {
    let ends = |byte| matches!(byte, b' ' | b'&' | b'#' | b'"' | b'\'' | b'`' | b'\\' | b'\n');
    let mut done = 0;
    for sign in memchr::memchr_iter(b'=', text) {
        if sign < done {
            continue;
        }
        let name = name_before(text, sign);
        // The completion scripts for shells contain `--cookie=[Cookie of the RPC]`.
        let is_option = name.starts_with(b"--") && text.get(sign + 1) == Some(&b'[');
        if is_option || !super::is_name(&String::from_utf8_lossy(name)) {
            continue;
        }
        done = end_of(text, sign + 1, ends);
        if done > sign + 1 {
            ranges.push(sign + 1..done);
        }
    }
}

/// Finds the text after the key of a secret that became a part of a value: `password:} abc`. Its
/// end is not known.
fn keyed(text: &[u8], ranges: &mut Vec<Range<usize>>) {
    let is_broken = |colon: &usize| {
        let after = text.get(colon + 1);
        after.is_some_and(|byte| matches!(byte, b':' | b'\\') || is_sign(*byte))
    };
    let names = |colon: &usize| super::is_name(&String::from_utf8_lossy(name_before(text, *colon)));
    if let Some(colon) = memchr::memchr_iter(b':', text).filter(is_broken).find(names) {
        ranges.push(colon + 1..text.len());
    }
}

/// Returns the name that ends at `end`, without its closing quote.
fn name_before(text: &[u8], end: usize) -> &[u8] {
    let before = text.get(..end).unwrap_or_default();
    let before = before.strip_suffix(b"\"").unwrap_or(before);
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let len = before.iter().rev().take_while(is_part).count();
    before.get(before.len() - len..).unwrap_or_default()
}

/// Says whether the text after a scheme looks like a token and not like a sentence. `is_own` says
/// that the text holds nothing else.
fn is_token(text: &[u8], is_own: bool) -> bool {
    let len = text.iter().filter(|byte| **byte != b' ').count();
    let has_sign = text.iter().any(|byte| byte.is_ascii_digit() || *byte == b'=');
    let changes_case =
        |pair: &[u8]| matches!(pair, [before, after] if before.is_ascii_lowercase() && after.is_ascii_uppercase());
    let is_odd = has_sign || is_own && len == text.len() || text.windows(2).any(changes_case);
    len >= if is_odd { MIN_TOKEN.0 } else { MIN_TOKEN.1 }
}

/// Returns the first position from `start` at which `stops` is true, or the end.
fn end_of(bytes: &[u8], start: usize, stops: impl Fn(u8) -> bool) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    start + rest.iter().position(|byte| stops(*byte)).unwrap_or(rest.len())
}

fn mask(text: &mut [u8], ranges: &[Range<usize>]) {
    for range in ranges {
        for byte in text.get_mut(range.clone()).unwrap_or_default() {
            if *byte != b'\n' {
                *byte = b'*';
            }
        }
    }
}

/// Returns the parts of a value that look like a secret.
fn of_value(text: &[u8]) -> Vec<Range<usize>> {
    // Nearly every text that is checked is a name or a path.
    if !may_look(text) {
        return Vec::new();
    }
    let mut ranges = SecretFinder::default().find(text);
    keyed(text, &mut ranges);
    ranges
}

/// Says whether a part of a value looks like a secret.
pub fn looks_secret(text: &str) -> bool {
    !of_value(text.as_bytes()).is_empty()
}

/// Replaces every byte of what looks like a secret in a value with an asterisk, and says whether
/// there was any.
pub fn mask_value(text: &mut [u8]) -> bool {
    let ranges = of_value(text);
    mask(text, &ranges);
    !ranges.is_empty()
}

/// Returns the value with an asterisk for every byte of what looks like a secret.
///
/// ```
/// use xdsctl_document::secret::hide;
/// assert_eq!(hide("Basic dXNlcjpwYXNz1g=="), "Basic ****************");
/// assert_eq!(hide("# Basic settings"), "# Basic settings");
/// assert_eq!(hide("https://user:pw@host"), "https://user:**@host");
/// ```
pub fn hide(text: &str) -> Cow<'_, str> {
    let ranges = of_value(text.as_bytes());
    if ranges.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut bytes = text.as_bytes().to_vec();
    mask(&mut bytes, &ranges);
    // A range begins and ends at ASCII characters, or includes whole characters.
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_and_nothing_else() {
        for (text, expected) in [
            (
                r#"x: "-----BEGIN PRIVATE KEY-----\nab" y"#,
                format!(r#"x: "-----BEGIN PRIVATE KEY{}" y"#, "*".repeat(9)),
            ),
            (
                "-----BEGIN PRIVATE KEY-----\na\"b\n-----END PRIVATE KEY-----\nname: a",
                "-----BEGIN PRIVATE KEY*****\n***\n-----END PRIVATE KEY-----\nname: a".to_owned(),
            ),
            (
                r#"value: "Bearer abc.d3f-8""#,
                r#"value: "Bearer *********""#.to_owned(),
            ),
            ("BEARER abc.d3f-8", "BEARER *********".to_owned()),
            ("a bearer of news", "a bearer of news".to_owned()),
            ("it's Bearer SGtaRchTL\nname", "it's Bearer *********\nname".to_owned()),
            (
                "a Bearer STANDING or Standing",
                "a Bearer STANDING or Standing".to_owned(),
            ),
            ("\"Bearer abcdefgh\"", "\"Bearer ********\"".to_owned()),
            ("\"Bearer 8y fwPy3gu\"", "\"Bearer **********\"".to_owned()),
            ("Basic abcdefgh i", "Basic abcdefgh i".to_owned()),
            ("a:1?x=y&token=a&b", "a:1?x=y&token=*&b".to_owned()),
            ("eyJhbGciOiJIUzI1NiIsInR5.eyJ", "*".repeat(28)),
            ("keyJoin", "keyJoin".to_owned()),
            ("key AKIAIOSFODNN7EXAMPLE.", format!("key {}", "*".repeat(21))),
            ("AKIA is a prefix", "AKIA is a prefix".to_owned()),
            ("https://u:p q@h see a@b", "https://u:***@h see a@b".to_owned()),
            ("https://u:p@s@h/x?u:p@h", "https://u:***@h/x?u:p@h".to_owned()),
            (
                "`ads://h:1?node=n&token=a1` https://h/p?api_key=b&x=c",
                "`ads://h:1?node=n&token=**` https://h/p?api_key=*&x=c".to_owned(),
            ),
            (
                "https://h/?token_uri=a&token",
                "https://h/?token_uri=a&token".to_owned(),
            ),
            (
                "`https://user:ab1` x://h:80)",
                "`https://user:***` x://h:80)".to_owned(),
            ),
            (
                "ads://HOST:PORT x://{a}:{b} x://[::a]",
                "ads://HOST:PORT x://{a}:{b} x://[::a]".to_owned(),
            ),
            (r"https:\/\/u:p@h\/x", r"https:\/\/u:*@h\/x".to_owned()),
            ("password:} ab", "password:****".to_owned()),
            ("x, \"password\": ab", "x, \"password\":***".to_owned()),
            ("api-token:: ab", "api-token:****".to_owned()),
            (
                "auth-token:8080 /v1/token:verify",
                "auth-token:8080 /v1/token:verify".to_owned(),
            ),
            ("name: ab", "name: ab".to_owned()),
            (r"https:/\/u:p q@h", r"https:/\/u:***@h".to_owned()),
            ("x password=ab1 y", "x password=*** y".to_owned()),
            ("--cookie=[Cookie of it]", "--cookie=[Cookie of it]".to_owned()),
            ("--cookie=ab1", "--cookie=***".to_owned()),
            ("shop:ab@example.com", "shop:**@example.com".to_owned()),
            ("a `shop:a@b@h`", "a `shop:***@h`".to_owned()),
            (
                "image@sha256:ab me@h:1 name=a",
                "image@sha256:ab me@h:1 name=a".to_owned(),
            ),
            ("xds://authority/a:b@c", "xds://authority/a:b@c".to_owned()),
            (
                "type.googleapis.com/envoy.extensions.filters.network",
                "type.googleapis.com/envoy.extensions.filters.network".to_owned(),
            ),
            (&"0123456789abcdef".repeat(4), "0123456789abcdef".repeat(4)),
            ("", String::new()),
        ] {
            assert_eq!(hide(text), expected, "{text}");
            assert_eq!(hide(text).len(), text.len());
        }
    }

    #[test]
    fn whatever_looks_like_a_secret_may_look_like_one() {
        let of_issuers = PREFIXES
            .iter()
            .map(|(prefix, min)| format!("{prefix}{}", "a1".repeat(min.div_ceil(2))));
        let others = [
            "Basic dXNlcjpw1g==",
            "bearer a1b2c3d4",
            "x://:p@",
            "x://?token=p",
            "password:}ab",
            "x://u:p",
            "-----BEGIN PRIVATE KEY-----a",
        ];
        for text in of_issuers.chain(others.map(str::to_owned)) {
            assert!(mask_value(&mut text.clone().into_bytes()), "{text}");
            assert!(may_look(text.as_bytes()), "{text}");
        }
        for (prefix, min) in PREFIXES {
            assert!(prefix.len() >= 3 && prefix.len() + min >= MIN_JWT, "{prefix}");
        }
        for text in ["", "outbound|80||carts.shop.svc.cluster.local", "10.0.0.1", "eyJ"] {
            assert!(!may_look(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn a_key_goes_on_in_the_next_line() {
        let mut looks = SecretFinder::default();
        let mut out = String::new();
        for line in [
            "| -----BEGIN RSA PRIVATE KEY-----\n",
            "abc\n",
            "def\n",
            "-----END RSA PRIVATE KEY-----\n",
            "abc\n",
        ] {
            let mut bytes = line.as_bytes().to_vec();
            looks.mask(&mut bytes);
            out.push_str(std::str::from_utf8(&bytes).unwrap());
        }
        assert_eq!(
            out,
            "| -----BEGIN RSA PRIVATE KEY*****\n***\n***\n-----END RSA PRIVATE KEY-----\nabc\n"
        );
    }
}
