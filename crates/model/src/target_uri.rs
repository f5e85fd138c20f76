//! Target URIs: does the client have a resolver for a text, and does the resolver accept it?
//!
//! Follows C-core `ResolverRegistry::IsValidTarget` (resolver_registry.cc), `URI::Parse` (uri.cc)
//! and the `IsValidUri` of each resolver. A text with an unknown scheme is tried again with
//! `dns:///` before it, so nearly every text is a DNS name. The parser is lenient: it checks only
//! the scheme and the characters of the query and the fragment, and decodes as much of the
//! authority and the path as it can.

use std::borrow::Cow;
use std::net::SocketAddr;

use crate::host_port::parse_host_port;

/// The longest path of a Unix socket in bytes (`sun_path` without its final NUL, Linux).
const UNIX_PATH_MAX: usize = 107;

/// Why a text is not a target URI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TargetFault {
    /// The text is neither a `dns:` URI nor a name.
    #[error("it names no host")]
    NoHost,
    /// Nothing follows the `?`.
    #[error("the query after `?` is empty")]
    EmptyQuery,
    /// The query or the fragment has a character that a URI must not have.
    #[error("its query or fragment has a character that a URI must not have")]
    BadCharacter,
    /// The URI has an authority before its path, which its scheme does not allow.
    #[error("its scheme takes no authority")]
    Authority,
    /// An element of an `ipv4:` list is not an IPv4 address with a port.
    #[error("an address in it is not an IPv4 address with a port")]
    Ipv4,
    /// An element of an `ipv6:` list is not an IPv6 address in brackets with a port.
    #[error("an address in it is not an IPv6 address in brackets with a port")]
    Ipv6,
    /// The path of a Unix socket is too long.
    #[error("a socket path is longer than 107 bytes")]
    UnixPath,
    /// An `xds:` URI has no name.
    #[error("the name after `xds:` is empty or ends in `/`")]
    XdsName,
}

/// Checks that the client can make a channel to `text`.
///
/// ```
/// use xdsctl_model::target_uri::{TargetFault, check};
/// assert_eq!(check("dns:///example.com:443"), Ok(()));
/// assert_eq!(check("nosuch:///example.com"), Ok(())); // a DNS name
/// assert_eq!(check("ipv4:1.2.3.4"), Err(TargetFault::Ipv4)); // the port is missing
/// ```
///
/// # Errors
/// Returns the first fault that the client finds.
pub fn check(text: &str) -> Result<(), TargetFault> {
    let with_scheme = split_scheme(text).and_then(|(scheme, rest)| Some((resolver(scheme)?, rest)));
    let Some((check, rest)) = with_scheme else {
        // The text follows `dns:///`, so all of it up to query and fragment is the path.
        let (path, tail) = text.split_at(text.find(['?', '#']).unwrap_or(text.len()));
        check_tail(tail)?;
        return holds(!path.is_empty(), TargetFault::NoHost);
    };
    // After a fault here, the client tries again with `dns:///` before the text. The query and the
    // fragment stay the same, and so does the fault.
    let uri = parse(rest)?;
    check(&uri, &percent_decode(uri.path))
}

/// The check of a resolver that the client has.
type ResolverCheck = fn(&Uri<'_>, &[u8]) -> Result<(), TargetFault>;

/// Returns how the resolver of a scheme, whose case does not count, checks a URI and its decoded
/// path.
///
/// `vsock` is left out: the released wheels are built without it, so that such a text is a DNS
/// name.
fn resolver(scheme: &str) -> Option<ResolverCheck> {
    Some(match scheme.to_ascii_lowercase().as_str() {
        "dns" => |_, path| holds(!without_slash(path).is_empty(), TargetFault::NoHost),
        "ipv4" => |uri, path| each(uri, path, |it| is_of(it, SocketAddr::is_ipv4), TargetFault::Ipv4),
        "ipv6" => |uri, path| each(uri, path, |it| is_of(it, SocketAddr::is_ipv6), TargetFault::Ipv6),
        "unix" | "unix-abstract" => {
            |uri, path| each(uri, path, |part| part.len() <= UNIX_PATH_MAX, TargetFault::UnixPath)
        }
        "xds" => |_, path| holds(!path.is_empty() && !path.ends_with(b"/"), TargetFault::XdsName),
        "google-c2p" | "google-c2p-experimental" => |uri, _| holds(!uri.has_authority, TargetFault::Authority),
        _ => return None,
    })
}

fn holds(is_so: bool, fault: TargetFault) -> Result<(), TargetFault> {
    if is_so { Ok(()) } else { Err(fault) }
}

/// Checks the comma-separated elements of a path; empty ones are skipped. The URI must not have an
/// authority.
fn each(uri: &Uri<'_>, path: &[u8], is_good: fn(&[u8]) -> bool, fault: TargetFault) -> Result<(), TargetFault> {
    holds(!uri.has_authority, TargetFault::Authority)?;
    let mut elements = path.split(|byte| *byte == b',');
    holds(elements.all(|element| element.is_empty() || is_good(element)), fault)
}

/// A URI without its scheme and fragment.
pub struct Uri<'a> {
    has_authority: bool,
    /// The authority. No part is percent-decoded yet.
    pub authority: &'a str,
    /// The path.
    pub path: &'a str,
    /// The query, without its `?`; empty for none.
    pub query: &'a str,
}

/// Splits `scheme:rest`; `None` where the text has no well-formed scheme.
fn split_scheme(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let well_formed = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'));
    well_formed.then_some((scheme, rest))
}

/// Parses what follows the scheme.
pub fn parse(rest: &str) -> Result<Uri<'_>, TargetFault> {
    let (authority, rest) = match rest.strip_prefix("//") {
        Some(rest) => rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len())),
        None => ("", rest),
    };
    let (path, tail) = rest.split_at(rest.find(['?', '#']).unwrap_or(rest.len()));
    check_tail(tail)?;
    // An `@` with nothing on either side is no authority: the user and the host are both empty.
    let has_authority = !authority.is_empty() && authority != "@";
    let query = tail.split('#').next().and_then(|query| query.strip_prefix('?'));
    Ok(Uri {
        has_authority,
        authority,
        path,
        query: query.unwrap_or_default(),
    })
}

/// Checks `?query#fragment`, either of which may be missing.
fn check_tail(tail: &str) -> Result<(), TargetFault> {
    let (query, fragment) = tail.split_once('#').unwrap_or((tail, ""));
    if query == "?" {
        return Err(TargetFault::EmptyQuery);
    }
    let mut bytes = query.bytes().chain(fragment.bytes());
    holds(bytes.all(is_query_byte), TargetFault::BadCharacter)
}

/// Says whether a byte may be in a query: RFC 3986 `pchar`, `/`, `?`, and a bare `%`.
fn is_query_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?%".contains(&byte)
}

/// Decodes `%xx`; a `%` that is not followed by two hexadecimal digits stays.
pub fn percent_decode(text: &str) -> Cow<'_, [u8]> {
    let bytes = text.as_bytes();
    if !bytes.contains(&b'%') {
        return Cow::Borrowed(bytes);
    }
    let hex = |byte: u8| char::from(byte).to_digit(16).and_then(|d| u8::try_from(d).ok());
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        decoded.push(first);
        if let (b'%', [high, low, after @ ..]) = (first, after)
            && let (Some(high), Some(low)) = (hex(*high), hex(*low))
        {
            decoded.pop();
            decoded.push(high * 16 + low);
            rest = after;
        }
    }
    Cow::Owned(decoded)
}

/// Returns a path without its leading slash.
pub fn without_slash(path: &[u8]) -> &[u8] {
    path.strip_prefix(b"/").unwrap_or(path)
}

/// Says whether an element of a list is such an address with a port. Bytes that are not UTF-8 do no
/// harm: they can only be in the end of a port, which is not read.
fn is_of(element: &[u8], is_such: fn(&SocketAddr) -> bool) -> bool {
    let text = String::from_utf8_lossy(without_slash(element));
    parse_host_port(&text).as_ref().is_some_and(is_such)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn accepted(texts: &[&str]) {
        for text in texts {
            assert_eq!(check(text), Ok(()), "{text:?}");
        }
    }

    #[test]
    fn nearly_every_text_is_a_dns_name() {
        accepted(&[
            "host",
            "host:80",
            "a b",
            "%",
            "%zz",
            "a\\b",
            "a:b:c",
            "a,b",
            "/",
            "/x",
            "//x/y",
            ":80",
            "[::1]:80",
            "é",
            "nosuch:///x",
            "http://x/y",
            "vsock:x",
            "x#f",
            "x?%",
            "DNS:///h",
            "dns:h",
            "dns:/h",
            "dns://8.8.8.8/h",
        ]);
        for text in ["", "#", "dns:", "dns:/", "dns:///", "dns://a", "dns://"] {
            assert_eq!(check(text), Err(TargetFault::NoHost), "{text:?}");
        }
    }

    #[test]
    fn query_and_fragment_are_checked() {
        accepted(&["dns:///a?x=y", "dns:///a#b", "dns:///a#", "dns:///a<"]);
        assert_eq!(check("?"), Err(TargetFault::EmptyQuery));
        assert_eq!(check("dns:///a?#b"), Err(TargetFault::EmptyQuery));
        for text in ["x#f#g", "dns:///a?x=<", "dns:///a#<", "dns:///a?é"] {
            assert_eq!(check(text), Err(TargetFault::BadCharacter), "{text:?}");
        }
    }

    #[test]
    fn address_lists_need_ports() {
        accepted(&[
            "ipv4:1.2.3.4:5",
            "ipv4:///1.2.3.4:5",
            "ipv4:1.2.3.4:65535,5.6.7.8:0,",
            "ipv4:",
            "ipv4:,",
            "ipv6:[::1]:5",
            "ipv6:%5B::1%5D:5",
            "ipv6:[::1]:5x",
            "ipv6:[::1]: +5",
            "ipv6:[::1%251]:5",
            "ipv4:1.2.3.4:5%ff",
        ]);
        for text in [
            "ipv4:1.2.3.4",
            "ipv4:h:1",
            "ipv4:1.2.3.4:65536",
            "ipv4:1.2.3.4:5,x",
            "ipv4:01.2.3.4:5",
        ] {
            assert_eq!(check(text), Err(TargetFault::Ipv4), "{text:?}");
        }
        for text in ["ipv6:::1", "ipv6:x", "ipv6:[::1]", "ipv6:[::1]:", "ipv6:[1]:5"] {
            assert_eq!(check(text), Err(TargetFault::Ipv6), "{text:?}");
        }
        assert_eq!(check("ipv4://a/1.2.3.4:5"), Err(TargetFault::Authority));
    }

    #[test]
    fn unix_paths_end_at_107_bytes() {
        accepted(&[
            "unix:",
            "unix:/x",
            "unix-abstract:x",
            "unix:%00",
            &format!("unix:{}", "a".repeat(107)),
        ]);
        assert_eq!(check(&format!("unix:{}", "a".repeat(108))), Err(TargetFault::UnixPath));
        assert_eq!(check("unix://a/x"), Err(TargetFault::Authority));
    }

    #[test]
    fn xds_names_do_not_end_in_a_slash() {
        accepted(&["xds:x", "xds:///x", "xds://a/x", "google-c2p:///x", "google-c2p:"]);
        for text in ["xds:", "xds:///", "xds:///x/"] {
            assert_eq!(check(text), Err(TargetFault::XdsName), "{text:?}");
        }
        assert_eq!(check("google-c2p://a/x"), Err(TargetFault::Authority));
    }
}
