//! Secrets in JSON text that was printed: by their looks, and by their places.

use std::ops::Range;

use xdsctl_proto::tables;

use crate::secret::{self, Looks};
use crate::source::secrets::{Place, find};

/// `[redacted]` as the value of a bytes field.
pub(super) const REDACTED_BYTES: &str = "W3JlZGFjdGVkXQ==";

/// Masks the secrets in the JSON text of a message of this type.
///
/// ```
/// let text = br#"{"configs": [{"@type": "type.googleapis.com/envoy.admin.v3.SecretsConfigDump", "static_secrets":
///     [{"secret": {"name": "s", "generic_secret": {"secret": {"inline_string": "abc"}}}}]}]}"#;
/// let masked = xdsctl::proto::print::redacted(text.to_vec(), "envoy.admin.v3.ConfigDump");
/// assert!(String::from_utf8(masked).unwrap().contains(r#""inline_string": "[redacted]""#));
/// ```
pub fn redacted(mut text: Vec<u8>, type_name: &str) -> Vec<u8> {
    mask(&mut text, 0, Place::root(tables::message(type_name)), &[]);
    text
}

/// Masks the secrets in the JSON value at `start`, by their looks and by their places; not those in `kept`.
pub(super) fn mask(text: &mut Vec<u8>, start: usize, place: Place, kept: &[Range<usize>]) {
    let mut at = start;
    for kept in kept {
        Looks::default().mask(text.get_mut(at..kept.start).unwrap_or_default());
        at = kept.end;
    }
    Looks::default().mask(text.get_mut(at..).unwrap_or_default());
    let is_kept = |range: &Range<usize>| {
        kept.iter()
            .any(|kept| kept.start <= range.start && range.end <= kept.end)
    };
    let mut out = Vec::new();
    let mut at = 0;
    for range in find(text, start, place).into_iter().map(|span| span.range()) {
        let secret = text.get(range.clone()).unwrap_or_default();
        let is_masked =
            secret.is_empty() || secret == secret::REDACTED.as_bytes() || secret == REDACTED_BYTES.as_bytes();
        if range.start < at || is_masked || is_kept(&range) {
            continue;
        }
        let is_text = text.get(range.start.wrapping_sub(1)) == Some(&b'"');
        out.extend_from_slice(text.get(at..range.start).unwrap_or_default());
        out.extend_from_slice(if is_text { secret::REDACTED.as_bytes() } else { b"0" });
        at = range.end;
    }
    if at > 0 {
        out.extend_from_slice(text.get(at..).unwrap_or_default());
        *text = out;
    }
}
