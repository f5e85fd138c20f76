//! Reads and writes the value of a session cookie (A55, A60, A75).
//!
//! What gRPC C-core really writes is `addr[,addr...];cluster` in base64: no `cluster:` before the
//! name, no quotes. The list begins with the address that the RPC went to, and the endpoint's other
//! addresses follow. Follows stateful_session_filter.cc and `absl::Base64Unescape`, which is laxer
//! than most decoders.

use std::fmt;

use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use base64::engine::{DecodePaddingMode, Engine as _};

/// The content of a session cookie.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionCookie {
    /// Addresses, joined by commas, as written; empty for none.
    pub addresses: String,
    /// Cluster name; empty for none.
    pub cluster: String,
}

impl SessionCookie {
    /// Reads a cookie's value.
    ///
    /// ```
    /// use xdsctl_model::cookie::{SessionCookie, encode};
    /// let session = SessionCookie::decode("MTAuMC4wLjE6ODA7Y2x1c3Rlcl9h").unwrap();
    /// assert_eq!(session.addresses, "10.0.0.1:80");
    /// assert_eq!(session.cluster, "cluster_a");
    /// assert_eq!(encode("10.0.0.1:80", "cluster_a"), "MTAuMC4wLjE6ODA7Y2x1c3Rlcl9h");
    /// ```
    ///
    /// # Errors
    /// Says what is wrong with the base64; the client treats such a cookie as absent.
    pub fn decode(value: &str) -> Result<SessionCookie, DecodeError> {
        let text = decode_base64(value.as_bytes())?;
        let text = String::from_utf8_lossy(&text);
        let (addresses, cluster) = text.split_once(';').unwrap_or((&text, ""));
        Ok(SessionCookie {
            addresses: addresses.to_owned(),
            cluster: cluster.to_owned(),
        })
    }
}

/// Writes a cookie's value.
pub fn encode(addresses: &str, cluster: &str) -> String {
    STANDARD.encode(format!("{addresses};{cluster}"))
}

/// Says whether a cookie's path covers the path of an RPC (RFC 6265, section 5.1.4).
pub fn covers(cookie_path: &str, path: &str) -> bool {
    path.strip_prefix(cookie_path).is_some_and(|rest| {
        cookie_path.is_empty() || rest.is_empty() || cookie_path.ends_with('/') || rest.starts_with('/')
    })
}

/// Says whether a cookie's path covers some RPC with this path, or with a path that begins with it.
pub fn may_cover(cookie_path: &str, path: &str, is_prefix: bool) -> bool {
    covers(cookie_path, path) || (is_prefix && cookie_path.starts_with(path))
}

/// Says whether every RPC that a cookie's path covers has this path, or a path that begins with it.
///
/// An RPC's path is that of a method, `/service/method`; a service alone is not a path.
pub fn covers_nothing_else(cookie_path: &str, path: &str, is_prefix: bool) -> bool {
    match cookie_path.rsplit_once('/') {
        None | Some(("", "")) => is_prefix && path == "/",
        Some(("", _)) => is_prefix && (cookie_path.starts_with(path) || path.strip_suffix('/') == Some(cookie_path)),
        Some((_, method)) => match is_prefix {
            true => cookie_path.starts_with(path),
            false => !method.is_empty() && cookie_path == path,
        },
    }
}

/// Why a value is not base64 as the client reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// A character outside of the alphabet.
    #[error("byte {at} is `{}`, which is not in the standard base64 alphabet{}", CookieByte(*byte), url_safe(*byte))]
    Character {
        /// The position of the byte, from 0.
        at: usize,
        /// The byte that must not be there.
        byte: u8,
    },
    /// One character is left over.
    #[error("the length does not fit: one character is left over")]
    Length,
    /// Padding that is neither absent nor complete.
    #[error("the padding is neither absent nor complete")]
    Padding,
}

struct CookieByte(u8);

impl fmt::Display for CookieByte {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_ascii_graphic() {
            write!(f, "{}", char::from(self.0))
        } else {
            write!(f, "\\x{:02x}", self.0)
        }
    }
}

fn url_safe(byte: u8) -> &'static str {
    match byte {
        b'-' | b'_' => " (it is in the URL-safe one)",
        _ => "",
    }
}

/// Decodes as the client does: ASCII white space anywhere, `=` or `.` for padding, spare bits of
/// any value.
fn decode_base64(text: &[u8]) -> Result<Vec<u8>, DecodeError> {
    const LAX: GeneralPurposeConfig = GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireNone);
    let (mut digits, mut padding) = (Vec::with_capacity(text.len()), 0usize);
    for (at, &byte) in text.iter().enumerate() {
        match byte {
            b'=' | b'.' => padding += 1,
            b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r' => {}
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' => {
                if padding > 0 {
                    return Err(DecodeError::Padding);
                }
                digits.push(byte);
            }
            _ => return Err(DecodeError::Character { at, byte }),
        }
    }
    let Ok(decoded) = GeneralPurpose::new(&alphabet::STANDARD, LAX).decode(&digits) else {
        return Err(DecodeError::Length);
    };
    match padding {
        0 => Ok(decoded),
        _ if (digits.len() + padding).is_multiple_of(4) && padding < 4 => Ok(decoded),
        _ => Err(DecodeError::Padding),
    }
}

/// Returns the value of the first cookie `name` in a `cookie` header; `Some("")` for a cookie
/// without `=`.
///
/// Cookies are separated by a semicolon followed by a space. Names are compared exactly.
pub fn find<'h>(header: &'h str, name: &str) -> Option<&'h str> {
    header.split("; ").find_map(|piece| {
        let (key, value) = piece.split_once('=').unwrap_or((piece, ""));
        (key == name).then_some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_covered_segment_by_segment() {
        for (cookie, path, expected) in [
            ("", "/a/b", true),
            ("/", "/a/b", true),
            ("/a", "/a/b", true),
            ("/a", "/ab/b", false),
            ("/a/b", "/a/b", true),
            ("/a/", "/a/b", true),
            ("/a/b/", "/a/b", false),
        ] {
            assert_eq!(covers(cookie, path), expected, "{cookie} {path}");
        }
    }

    #[test]
    fn a_cookie_may_cover_some_rpcs_of_a_route_or_all_of_its_own_may_take_it() {
        for (cookie, path, is_prefix, some, all) in [
            ("", "/", true, true, true),
            ("", "/a/", true, true, false),
            ("/", "/", true, true, true),
            ("/", "/a/b", false, true, false),
            ("/a", "/", true, true, true),
            ("/a", "/a/", true, true, true),
            ("/a", "/a", true, true, true),
            ("/a", "/a/b", true, true, false),
            ("/a", "/ab", true, false, false),
            ("/a", "/b/", true, false, false),
            ("/a/b", "/a/b", false, true, true),
            ("/a/b", "/a/", true, true, true),
            ("/a/b", "/a/c", false, false, false),
            ("/a/", "/a/", true, true, true),
            ("/a/", "/a", true, true, true),
            ("/a/", "/a/b", false, true, false),
        ] {
            let found = (
                may_cover(cookie, path, is_prefix),
                covers_nothing_else(cookie, path, is_prefix),
            );
            assert_eq!(found, (some, all), "{cookie} {path} {is_prefix}");
        }
    }

    #[track_caller]
    fn check(value: &str, addresses: &str, cluster: &str) {
        let session = SessionCookie {
            addresses: addresses.into(),
            cluster: cluster.into(),
        };
        assert_eq!(SessionCookie::decode(value), Ok(session), "{value}");
    }

    #[test]
    fn worked_examples() {
        check("MTAuMC4wLjE6ODA7Y2x1c3Rlcl9h", "10.0.0.1:80", "cluster_a");
        check(
            "WzIwMDE6ZGI4OjoxXTo4MCwxMC4wLjAuMTo4MDtjbHVzdGVyX2E=",
            "[2001:db8::1]:80,10.0.0.1:80",
            "cluster_a",
        );
        check("O2NsdXN0ZXJfYQ==", "", "cluster_a");
        assert_eq!(encode("", "cluster_a"), "O2NsdXN0ZXJfYQ==");
        check("Z2FyYmFnZQ==", "garbage", "");
        check("MTI3LjAuMS4yOjcwMDE7YzE7eA==", "127.0.1.2:7001", "c1;x");
        check("", "", "");
    }

    #[test]
    fn the_decoder_is_as_lax_as_the_clients() {
        for value in ["YQ", "YQ==", "YQ..", "Y Q = =", "YR==", "\tYQ=.\n"] {
            check(value, "a", "");
        }
        for (value, error) in [
            ("YQ=", DecodeError::Padding),
            ("YQ===", DecodeError::Padding),
            ("YWI==", DecodeError::Padding),
            ("YWJj=", DecodeError::Padding),
            ("YQ==YQ==", DecodeError::Padding),
            ("Y", DecodeError::Length),
            ("YWJjY", DecodeError::Length),
            ("Y-Q=", DecodeError::Character { at: 1, byte: b'-' }),
            ("Y_==", DecodeError::Character { at: 1, byte: b'_' }),
        ] {
            assert_eq!(SessionCookie::decode(value), Err(error), "{value}");
        }
    }

    #[test]
    fn the_first_cookie_of_the_name_counts() {
        assert_eq!(find("a=1; b=2; b=3", "b"), Some("2"));
        assert_eq!(find("a=1;b=2", "a"), Some("1;b=2"));
        assert_eq!(find("a=1,b=2", "a"), Some("1,b=2"));
        assert_eq!(find("a; b=1", "a"), Some(""));
        assert_eq!(find("a=x=y", "a"), Some("x=y"));
        assert_eq!(find(" a=1; A=2", "a"), None);
    }
}
