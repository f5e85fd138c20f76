//! Masks secrets in the printed text. Every text is checked for the form of a secret. Places are
//! checked only where the descriptor of the field alone cannot tell.

use xdsctl_proto::tables::{self, Field, Kind, Message, WellKnown};

use super::Printer;
use crate::secret::{self, SecretFinder};
use crate::source::secrets::{SecretPlace, marks};

/// `[redacted]` in base64, as the value of a bytes field.
pub(super) const REDACTED_BYTES: &str = "W3JlZGFjdGVkXQ==";

/// Masks the secrets in the JSON text of a message of this type.
///
/// ```
/// let text = br#"{"configs": [{"@type": "type.googleapis.com/envoy.admin.v3.SecretsConfigDump", "static_secrets":
///     [{"secret": {"name": "s", "generic_secret": {"secret": {"inline_string": "abc"}}}}]}]}"#;
/// let masked = xdsctl_document::proto::print::redacted(text.to_vec(), "envoy.admin.v3.ConfigDump");
/// assert!(!String::from_utf8(masked).unwrap().contains("abc"));
/// ```
pub fn redacted(text: Vec<u8>, type_name: &str) -> Vec<u8> {
    redacted_at(text, SecretPlace::root(tables::message(type_name)))
}

/// Masks secrets in a JSON text whose value is at `place`.
pub fn redacted_at(mut text: Vec<u8>, place: SecretPlace) -> Vec<u8> {
    SecretFinder::default().mask(&mut text);
    mask_places(&mut text, 0, place);
    text
}

/// Masks secrets in the JSON value at `start`, and returns how many values were masked.
fn mask_places(text: &mut Vec<u8>, start: usize, place: SecretPlace) -> usize {
    let mut out = Vec::new();
    let (mut at, mut count) = (start, 0);
    for range in marks(text, start, place).hidden.into_iter().map(|span| span.range()) {
        let value = text.get(range.clone()).unwrap_or_default();
        let is_masked = matches!(value, b"" | b"null" | b"true" | b"false") || value == REDACTED_BYTES.as_bytes();
        if range.start < at || is_masked {
            continue;
        }
        let is_text = text.get(range.start.wrapping_sub(1)) == Some(&b'"');
        let is_key = is_text && text.get(range.end + 1) == Some(&b':');
        out.extend_from_slice(text.get(at..range.start).unwrap_or_default());
        out.extend_from_slice(if is_text { secret::REDACTED.as_bytes() } else { b"0" });
        at = range.end;
        count += 1;
        if is_key {
            // Keys must stay different from each other.
            out.extend_from_slice(format!(" {count}").as_bytes());
        }
    }
    if count > 0 {
        out.extend_from_slice(text.get(at..).unwrap_or_default());
        text.truncate(start);
        text.append(&mut out);
    }
    count
}

/// Says whether the printed text of a field must be searched to find out which parts are secret.
pub(super) fn needs_a_look(field: &Field) -> bool {
    let is_printed_masked = matches!(field.kind, Kind::String | Kind::Bytes);
    field.value_kind().message().is_some_and(is_told) || !field.shown && !is_printed_masked
}

/// Says whether the text of a message must be searched for secrets when it is complete.
pub(super) fn is_told(message: &'static Message) -> bool {
    let is_free = matches!(
        message.well_known,
        WellKnown::Struct | WellKnown::Value | WellKnown::ListValue
    );
    is_free || SecretPlace::root(Some(message)).asks_by_name()
}

impl Printer {
    /// Returns where the text of a field begins, if it must be searched for secrets when it is
    /// complete.
    pub(super) fn veil(&mut self, field: &Field) -> Option<usize> {
        if !self.redacts || !needs_a_look(field) {
            return None;
        }
        self.veils += 1;
        Some(self.out.len())
    }

    /// Masks the secrets in the text of a field of this message. Inside another field that is
    /// searched, does nothing, because that search covers the text.
    pub(super) fn unveil(&mut self, veil: Option<usize>, message: &'static Message, field: &Field) {
        let Some(from) = veil else { return };
        self.veils = self.veils.saturating_sub(1);
        if self.veils == 0 {
            self.mask_places(from, SecretPlace::root(Some(message)).field(field.name));
        }
    }

    pub(super) fn mask_places(&mut self, from: usize, place: SecretPlace) {
        self.masked += mask_places(&mut self.out, from, place);
    }

    /// Masks the string that was printed from `from` on, if it has the form of a secret.
    pub(super) fn looks(&mut self, from: usize) {
        let Some(text) = self.out.get_mut(from..).filter(|_| self.redacts) else {
            return;
        };
        if secret::mask_value(text) {
            self.masked += 1;
        }
    }
}
