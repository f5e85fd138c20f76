//! Names of LOGICAL_DNS clusters: what the client looks up, and which names every lookup refuses.
//!
//! The client joins address and port, reads `dns:` and the result as a URI (C-core
//! xds_dependency_manager.cc, uri.cc), and gives what is left to c-ares. Which names c-ares refuses
//! was found by asking the client, character by character.

use xdsctl_model::target_uri::{TargetFault, parse, percent_decode, without_slash};

/// The longest name that the client was seen to look up, in bytes.
const LONGEST_NAME: usize = 255;

/// The longest label, in bytes (RFC 1035).
const LONGEST_LABEL: usize = 63;

/// Returns the host and port that the client looks up for the joined `hostname`: `%xx` becomes one
/// byte, one leading `/` is left out, and everything from a `?` or `#` on is lost, the port
/// included.
///
/// ```
/// use xdsctl_clients::core::convert::dns_name::looked_up;
/// use xdsctl_model::target_uri::TargetFault;
/// assert_eq!(looked_up("/example%2Ecom:80").unwrap(), "example.com:80");
/// assert_eq!(looked_up("example.com#x:80").unwrap(), "example.com");
/// assert_eq!(looked_up("example.com?:80<"), Err(TargetFault::BadCharacter));
/// ```
///
/// # Errors
/// `hostname` is not a URI: the client then has no resolver, and its process dies.
pub fn looked_up(hostname: &str) -> Result<String, TargetFault> {
    let path = percent_decode(parse(hostname)?.path);
    Ok(String::from_utf8_lossy(without_slash(&path)).into_owned())
}

/// Why a lookup refuses a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MalformedName {
    /// The name has a character that no host name has.
    #[error("`{}` is not allowed in it", .0.escape_debug())]
    Character(char),
    /// There is nothing between two dots, or before the first dot.
    #[error("it has an empty label")]
    EmptyLabel,
    /// A label is too long.
    #[error("a label is longer than {LONGEST_LABEL} bytes")]
    LongLabel,
    /// The whole name is too long.
    #[error("it is longer than {LONGEST_NAME} bytes")]
    TooLong,
}

/// Checks the host of what is looked up; a port may follow it. A text with more than one colon,
/// such as an IPv6 address, always passes.
///
/// # Errors
/// The reason why the lookup fails with "Misformatted domain name".
pub fn check(looked_up: &str) -> Result<(), MalformedName> {
    let host = match looked_up.rsplit_once(':') {
        // More than one colon: an IPv6 address, or nothing that is read as a name.
        Some((host, _)) if !host.contains(':') => host,
        Some(_) => return Ok(()),
        None => looked_up,
    };
    // c-ares takes the name as a C string.
    let host = host.split('\0').next().unwrap_or_default();
    let mut rest = host.chars();
    while let Some(c) = rest.next() {
        // A backslash makes the next character part of the label.
        let named = if c == '\\' { rest.next().unwrap_or(c) } else { c };
        if !is_of_host(named) || (c == '\\' && named.is_ascii_digit()) {
            return Err(MalformedName::Character(c));
        }
    }
    let labels = host.strip_suffix('.').unwrap_or(host);
    if host.len() > 1 && labels.split('.').any(str::is_empty) {
        return Err(MalformedName::EmptyLabel);
    }
    if labels.split('.').any(|label| label.len() > LONGEST_LABEL) {
        return Err(MalformedName::LongLabel);
    }
    if host.len() > LONGEST_NAME {
        return Err(MalformedName::TooLong);
    }
    Ok(())
}

const fn is_of_host(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '*' | '/')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answers are those of the client: "Misformatted domain name", or it went on to ask a
    /// server.
    #[test]
    fn names_are_refused_as_by_the_client() {
        let long = format!("{}.x", "a".repeat(63));
        for name in [
            "a-b.c", "a_b", "*", "a*b", "a/b", "a\\b", "-a", "a.", ".", "1.2.3", "0x7f.1", "a\0 b", &long,
        ] {
            assert_eq!(check(&format!("{name}:80")), Ok(()), "{name}");
        }
        for refused in " !\"$&'()+,;<=>@]^`{|}~ü\t%?".chars() {
            let name = format!("a{refused}b.invalid:8080");
            assert_eq!(check(&name), Err(MalformedName::Character(refused)));
        }
        for name in ["a\\", "a\\46b", "a\\300b"] {
            assert_eq!(check(name), Err(MalformedName::Character('\\')), "{name}");
        }
        assert_eq!(check("a..b:80"), Err(MalformedName::EmptyLabel));
        assert_eq!(check(".a:80"), Err(MalformedName::EmptyLabel));
        assert_eq!(check(&format!("a{long}:80")), Err(MalformedName::LongLabel));
        let label = format!("{}.", "a".repeat(60));
        assert_eq!(check(&format!("{}x", label.repeat(5))), Err(MalformedName::TooLong));
        assert_eq!(check(&format!("{}x", label.repeat(4))), Ok(()));
    }
}
