//! Metadata that an application gives an RPC and that the client does not send.
//!
//! An exception that is thrown out of the call has no status. It is UNKNOWN here, as it is for an
//! application that makes a status of an exception. The channel is never asked.

use xdsctl_model::profile::{Family, Feature, Profile};
use xdsctl_model::status::{Code, Status};

/// Headers about one connection, which Node's HTTP/2 does not accept.
const OF_CONNECTION: [&str; 6] = [
    "connection",
    "http2-settings",
    "keep-alive",
    "proxy-connection",
    "transfer-encoding",
    "upgrade",
];

/// Headers that Node's HTTP/2 accepts only once (`kSingleValueHeaders` of internal/http2/util.js),
/// except those that grpc-js sets itself.
const SINGLE: [&str; 32] = [
    "access-control-allow-credentials",
    "access-control-max-age",
    "access-control-request-method",
    "age",
    "authorization",
    "content-encoding",
    "content-language",
    "content-length",
    "content-location",
    "content-md5",
    "content-range",
    "date",
    "dnt",
    "etag",
    "expires",
    "from",
    "host",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "last-modified",
    "location",
    "max-forwards",
    "proxy-authorization",
    "range",
    "referer",
    "retry-after",
    "tk",
    "upgrade-insecure-requests",
    "x-content-type-options",
];

type Headers = [(String, String)];

/// How an RPC with these headers ends before the channel is asked; `None` if it goes on.
pub fn refusal(headers: &Headers, profile: &Profile) -> Option<Status> {
    match profile.client().family {
        Family::Cpp => {
            let is_legal = |(name, value): &(String, String)| is_key(name, "") && is_text(name, value, is_printable);
            (!headers.iter().all(is_legal)).then(|| Status::internal("Invalid metadata"))
        }

        Family::Go if !profile.has(Feature::MetadataChecked) => None,
        Family::Go => headers.iter().find_map(of_go),
        Family::Java => {
            let name = headers.iter().map(|(name, _)| name).find(|name| !is_key(name, ""))?;
            Some(thrown(format!(
                "key name {name:?} is empty or has an invalid character"
            )))
        }
        Family::Node => headers.iter().find_map(of_node),
        Family::Rust => headers.iter().find_map(of_rust),
    }
}

/// The error of grpc-go for a header (internal/metadata `ValidatePair`). Pseudo-headers are
/// skipped.
fn of_go((name, value): &(String, String)) -> Option<Status> {
    if name.is_empty() {
        return Some(Status::internal("there is an empty key in the header"));
    }
    if name.starts_with(':') {
        return None;
    }
    if !is_key(name, "") {
        let text = format!("header key {name:?} contains illegal characters not in [0-9a-z-_.]");
        return Some(Status::internal(text));
    }
    let text = || format!("header key {name:?} contains value with non-printable ASCII characters");
    (!is_text(name, value, is_printable)).then(|| Status::internal(text()))
}

/// The error that grpc-js throws for a header (metadata.ts `validate`).
fn of_node((name, value): &(String, String)) -> Option<Status> {
    if !is_key(name, ":") {
        return Some(thrown(format!("Metadata key {name:?} contains illegal characters")));
    }
    let text = || format!("Metadata string value of {name:?} contains illegal characters");
    (!is_text(name, value, is_printable)).then(|| thrown(text()))
}

/// The error for a header that the types of tonic cannot hold: its name is no token, or its value
/// has control characters.
fn of_rust((name, value): &(String, String)) -> Option<Status> {
    if !is_key(name, "!#$%&'*+^`|~") {
        return Some(thrown(format!("{name:?} is no name of a header")));
    }
    let is_taken = |byte: u8| byte == b'\t' || (byte >= b' ' && byte != 0x7f);
    (!is_text(name, value, is_taken)).then(|| thrown(format!("the value of {name:?} is none of a header")))
}

fn thrown(why: String) -> Status {
    Status::new(Code::Unknown, format!("thrown out of the call: {why}"))
}

/// Says whether a name is a metadata key, in which the characters of `more` are allowed too.
fn is_key(name: &str, more: &str) -> bool {
    let is_taken = |byte: u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_.".contains(&byte) || more.as_bytes().contains(&byte)
    };
    !name.is_empty() && name.bytes().all(is_taken)
}

/// Says whether all bytes of a value are allowed. In a binary header they always are.
fn is_text(name: &str, value: &str, is_taken: impl Fn(u8) -> bool) -> bool {
    name.ends_with("-bin") || value.bytes().all(is_taken)
}

fn is_printable(byte: u8) -> bool {
    (b' '..=b'~').contains(&byte)
}

/// The header for which Node's HTTP/2 throws when a stream begins. grpc-js considers that a call
/// that never left, and repeats it at once, again and again.
pub fn never_leaves(headers: &Headers) -> Option<&str> {
    let is_twice = |name: &str| SINGLE.contains(&name) && is_repeated(headers, name);
    let mut names = headers.iter().map(|(name, _)| name.as_str());
    names.find(|name| OF_CONNECTION.contains(name) || is_twice(name))
}

/// Says whether a header has several values.
pub fn is_repeated(headers: &Headers, name: &str) -> bool {
    headers.iter().filter(|(other, _)| other == name).count() > 1
}
