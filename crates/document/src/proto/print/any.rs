//! Prints an Any: opened if all of its bytes can be read back from that, otherwise as its bytes.

use xdsctl_proto::tables::{self, Message, WellKnown};

use super::layout::Start;
use super::mask::is_told;
use super::scalar::base64;
use super::{Printer, Result, quoted};
use crate::secret;
use crate::source::secrets::SecretPlace;
use crate::source::wire::{WireFields, WireValue};

impl Printer {
    /// Prints an Any: opened if its type is known and all of its bytes can be read back, otherwise
    /// as its bytes.
    pub(super) fn any(&mut self, bytes: &[u8]) -> Result {
        let (mut url, mut inner): (&[u8], &[u8]) = (b"", b"");
        for item in WireFields::new(bytes) {
            match item.map(|item| (item.number, item.value)) {
                Ok((1, WireValue::Bytes(text))) => url = text,
                Ok((2, WireValue::Bytes(bytes))) => inner = bytes,
                _ => self.inexact()?,
            }
        }
        let Ok(url) = std::str::from_utf8(url) else {
            self.out.extend_from_slice(b"{}");
            return self.inexact();
        };
        if url.is_empty() && inner.is_empty() {
            self.out.extend_from_slice(b"{}");
            return Ok(());
        }
        let name = url.rsplit_once('/').map_or(url, |(_, name)| name);
        let Some(message) = tables::message(name) else {
            self.bytes_of(
                url,
                if self.redacts {
                    secret::REDACTED.as_bytes()
                } else {
                    inner
                },
            );
            return Ok(());
        };
        let was_strict = std::mem::replace(&mut self.is_strict, true);
        let (start, around) = (self.out.len(), (self.depth, self.level, self.veils));
        let before = (self.masked, self.lossy);
        if self.opened(url, inner, message).is_err() {
            self.out.truncate(start);
            (self.depth, self.level, self.veils) = around;
            (self.masked, self.lossy) = before;
            if self.redacts && self.may_hide(url, inner, message) {
                self.lossy += 1;
            } else {
                self.out.truncate(start);
                self.bytes_of(url, inner);
            }
        }
        self.is_strict = was_strict;
        Ok(())
    }

    fn opened(&mut self, url: &str, inner: &[u8], message: &'static Message) -> Result {
        let is_value = !matches!(message.well_known, WellKnown::None | WellKnown::Empty);
        let looks = self.redacts && (is_value || is_told(message));
        let from = looks.then_some(self.out.len());
        self.veils += usize::from(from.is_some());
        self.open(b'{');
        let mut start = Start::First;
        self.next(&mut start);
        self.key("@type");
        quoted(&mut self.out, url);
        if message.well_known == WellKnown::None {
            self.fields(inner, message, &mut start)?;
        } else if message.well_known != WellKnown::Empty || !inner.is_empty() {
            self.next(&mut start);
            self.key("value");
            self.value_of(inner, message)?;
        }
        self.close(b'}', false);
        if let Some(from) = from {
            self.veils = self.veils.saturating_sub(1);
            if self.veils == 0 {
                self.mask_places(from, SecretPlace::root(None));
            }
        }
        Ok(())
    }

    /// Prints as much of a message as possible if some of its bytes cannot be printed. Says whether
    /// the bytes hold, or may hold, a secret.
    fn may_hide(&mut self, url: &str, inner: &[u8], message: &'static Message) -> bool {
        let before = self.masked;
        self.is_strict = false;
        let _ = self.opened(url, inner, message);
        // A field around it is searched for secrets later, when it is too late to decide here.
        self.veils > 0 || self.masked > before || secret::looks_secret(&String::from_utf8_lossy(inner))
    }

    fn bytes_of(&mut self, url: &str, inner: &[u8]) {
        self.open(b'{');
        let mut start = Start::First;
        self.next(&mut start);
        self.key("@type");
        quoted(&mut self.out, url);
        self.next(&mut start);
        self.key("@value");
        self.out.push(b'"');
        base64(inner, &mut self.out);
        self.out.push(b'"');
        self.close(b'}', false);
    }
}
