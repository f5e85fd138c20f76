//! `envoy.config.core.v3.HeaderValue` (A102): a header that the client adds to its own RPCs.
//!
//! Follows C-core `ParseXdsHeader` (xds_common_types_parser.cc), validate_metadata.cc, and
//! `absl::Base64Unescape`.

use crate::shared::rules::{HEADER_KEY_RESERVED, HEADER_VALUE_ILLEGAL};
use xdsctl_document::proto::pb::envoy::config::core::v3::HeaderValue;
use xdsctl_model::diag::{Path, Rule, Validation, rules};

rules! {
    /// A header's key is empty, too long, or has a character that a key must not have.
    HEADER_KEY_ILLEGAL = "header-key-illegal", Common, Nack, "C-core ValidateHeaderKeyIsLegal";
    /// A header has neither raw_value nor value.
    HEADER_VALUE_MISSING = "header-value-missing", Common, Nack, "gRFC A102; C-core ParseXdsHeader";
    /// The value of a binary header is not base64.
    HEADER_VALUE_NOT_BASE64 = "header-value-not-base64", Common, Nack, "C-core ParseXdsHeader; absl::Base64Unescape";
}

/// The longest key and the longest value, in bytes.
const MAX_LENGTH: usize = 16_384;

/// Checks the header at `at`.
///
/// `raw_value` counts if it is set; otherwise `value` does.
pub fn check(header: &HeaderValue, at: &Path<'_>, cx: &mut Validation<'_>) {
    check_key(&header.key, &at.field("key"), cx);
    let is_binary = header.key.ends_with("-bin");
    if !header.raw_value.is_empty() {
        check_value(&header.raw_value, is_binary, &at.field("raw_value"), cx);
    } else if !header.value.is_empty() {
        check_value(header.value.as_bytes(), is_binary, &at.field("value"), cx);
    } else {
        cx.report(
            &HEADER_VALUE_MISSING,
            at,
            format_args!("raw_value and value are both empty"),
        );
    }
}

fn check_key(key: &str, at: &Path<'_>, cx: &mut Validation<'_>) {
    check_length(key.as_bytes(), &HEADER_KEY_ILLEGAL, at, cx);
    let is_other = |c: &char| !matches!(c, 'a'..='z' | '0'..='9' | '-' | '_' | '.');
    if key.starts_with(':') || key.starts_with("grpc-") || key == "host" {
        let why = format_args!("header `{key}` is reserved: no pseudo-header, no `grpc-` header and no `host`");
        cx.report(&HEADER_KEY_RESERVED, at, why);
    } else if key.is_empty() {
        cx.report(&HEADER_KEY_ILLEGAL, at, format_args!("the key is empty"));
    } else if let Some(other) = key.chars().find(is_other) {
        let why = format_args!("the key has {other:?}, must consist of `a-z`, `0-9`, `-`, `_` and `.`");
        cx.report(&HEADER_KEY_ILLEGAL, at, why);
    }
}

fn check_value(value: &[u8], is_binary: bool, at: &Path<'_>, cx: &mut Validation<'_>) {
    check_length(value, &HEADER_VALUE_ILLEGAL, at, cx);
    if is_binary {
        let why = "the key ends in `-bin`, and the value is not base64";
        cx.check(is_base64(value), &HEADER_VALUE_NOT_BASE64, at, why);
    } else if let Some(byte) = value.iter().find(|byte| !(0x20..=0x7e).contains(*byte)) {
        cx.report(
            &HEADER_VALUE_ILLEGAL,
            at,
            format_args!("the value has byte 0x{byte:02x}, must be 0x20 to 0x7e"),
        );
    }
}

fn check_length(text: &[u8], rule: &'static Rule, at: &Path<'_>, cx: &mut Validation<'_>) {
    let length = text.len();
    let why = format_args!("{length} bytes long, must be at most {MAX_LENGTH}");
    cx.check(length <= MAX_LENGTH, rule, at, why);
}

/// Says whether a text is base64 as absl reads it: white space anywhere, `.` as well as `=` for
/// padding, and padding complete or left out.
fn is_base64(text: &[u8]) -> bool {
    let is_space = |byte: u8| matches!(byte, b'\t'..=b'\r' | b' ');
    let mut letters = 0_usize;
    let mut padding = 0_usize;
    for &byte in text {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' if padding == 0 => letters += 1,
            b'=' | b'.' => padding += 1,
            _ if is_space(byte) => {}
            _ => return false,
        }
    }
    let complete = match letters % 4 {
        0 => 0,
        2 => 2,
        3 => 1,
        _ => return false,
    };
    padding == 0 || padding == complete
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_as_lenient_as_absl() {
        for text in ["", "YQ==", "YQ", "YQ..", "Y Q\n=\t=", "YWI=", "YWJj", " ", "+/+/"] {
            assert!(is_base64(text.as_bytes()), "{text:?}");
        }
        for text in ["Y", "YQ=", "YWJj=", "YQ==YQ==", "Y-_=", "YQ\0", "é"] {
            assert!(!is_base64(text.as_bytes()), "{text:?}");
        }
    }
}
