//! Handles keys and values that protobuf does not accept. Each is noted and skipped, and reading
//! goes on.

use xdsctl_proto::tables::Message;

use super::note::{BAD_VALUE, DUPLICATE_KEY, SECOND_TYPE, TWO_ONEOF_MEMBERS, UNKNOWN_ANY_TYPE, UNKNOWN_FIELD, quote};
use super::{Result, Transcoder, clip};
use crate::secret;
use crate::source::json::{Str, Syntax};
use crate::source::secrets;
use xdsctl_model::diag::{Path, Rule};

impl Transcoder<'_> {
    /// Reads a key again that was read before. Leaves the scanner behind the key, before the colon.
    fn key_again(&mut self, start: usize) -> std::result::Result<Str, Syntax> {
        self.scan.set_pos(start - 1);
        self.scan.string()
    }

    /// Notes that the key is repeated, and skips its value.
    #[cold]
    pub(super) fn duplicate(&mut self, key: usize, here: &Path<'_>) -> Result<()> {
        self.second(&DUPLICATE_KEY, key, here, "given twice")
    }

    /// Notes that there is a second `@type`, and skips its value. In a resource, a second `@type`
    /// means that another resource begins there without a line `---` or a bracket before it.
    #[cold]
    pub(super) fn second_type(&mut self, key: usize, here: &Path<'_>) -> Result<()> {
        if self.total > 0 {
            return self.duplicate(key, here);
        }
        let message = "a second `@type` in one resource: what follows is not read as a resource".to_owned();
        let note = self.note(&SECOND_TYPE, here, key - 1, message);
        note.diagnostic
            .help("resources are separate: documents with a line `---` between them, or objects of a list");
        Ok(self.scan.skip_value()?)
    }

    /// Notes that another member of the oneof was read before, and skips the value.
    #[cold]
    pub(super) fn second_member(
        &mut self,
        message: &'static Message,
        oneof: u16,
        key: usize,
        here: &Path<'_>,
    ) -> Result<()> {
        let oneof = message.oneofs.get(usize::from(oneof)).copied().unwrap_or_default();
        let what = format!("a second member of the oneof `{oneof}`");
        self.second(&TWO_ONEOF_MEMBERS, key, here, &what)
    }

    /// Notes a key that is ignored because of an earlier key, and skips its value.
    fn second(&mut self, rule: &'static Rule, key: usize, here: &Path<'_>, what: &str) -> Result<()> {
        let end = self.scan.pos();
        let key = self.key_again(key)?;
        let name = clip(self.scan.raw(key));
        let message = format!("`{name}` is {what}, only the first is read");
        self.note(rule, here, key.start - 1, message);
        self.scan.set_pos(end);
        Ok(self.scan.skip_value()?)
    }

    /// Notes a key that is not a field of the message, and skips its value. In an Any, first
    /// handles the keys that only an Any has.
    #[cold]
    pub(super) fn unknown_field(
        &mut self,
        message: &'static Message,
        key: usize,
        at: &Path<'_>,
        in_any: Option<&mut bool>,
    ) -> Result<()> {
        let (place, end) = (key, self.scan.pos());
        let key = self.key_again(place)?;
        self.scan.set_pos(end);
        if let Some(has_type) = in_any {
            match self.resolved(key).as_ref() {
                // No protobuf parser accepts two, and it is not known which of them was meant.
                b"@type" if std::mem::replace(has_type, true) => return self.second_type(place, at),
                b"@type" => return Ok(self.scan.skip_value()?),
                b"@value" => return self.packed_bytes(at),
                b"@error" => {
                    let start = key.start - 1;
                    self.scan.skip_value()?;
                    if !self.is_packed_next()? {
                        let message = format!("the {} could not be printed, it is not checked", short(message));
                        self.note(&UNKNOWN_ANY_TYPE, at, start, message);
                        self.is_lost |= self.total == 0;
                    }
                    return Ok(());
                }
                _ => {}
            }
        }
        let name = String::from_utf8_lossy(self.scan.raw(key)).into_owned();
        self.scan.set_pos(key.end + 1);
        // A field has two names. If both are equally similar, suggest the one in the spelling of
        // the key.
        let names = || message.by_name.iter().map(|(name, _)| *name);
        let is_camel = |name: &str| name.bytes().any(|byte| byte.is_ascii_uppercase());
        let own = is_camel(&name);
        let same = names().filter(|name| is_camel(name) == own);
        let other = names().filter(|name| is_camel(name) != own);
        let nearest = self.suggest(message.full_name, &name, same.chain(other));
        // In YAML such as `{value: a,b}` or `value:\n  a: b`, a part of a text may look like a
        // name.
        let is_lone = || {
            self.scan
                .text()
                .get(end..)
                .is_some_and(|rest| rest.starts_with(b"null"))
        };
        let has_hidden = || message.fields.iter().any(|field| !field.shown);
        let is_doubtful = nearest.is_none() && (is_lone() || has_hidden());
        let shown = if is_doubtful || secrets::is_piece(&name) {
            secret::REDACTED.to_owned()
        } else {
            clip(name.as_bytes())
        };
        let note = self.note(
            &UNKNOWN_FIELD,
            &at.field(&shown),
            key.start - 1,
            format!("unknown field `{shown}` of {}", short(message)),
        );
        if let Some(nearest) = nearest {
            note.diagnostic.help(format!("did you mean `{nearest}`?"));
        } else if let Some(origin) = origin(&name) {
            note.diagnostic.help(origin);
        }
        self.scan.set_pos(end);
        Ok(self.scan.skip_value()?)
    }

    /// Says whether the next key is `@value`. grpcurl prints it after `@error`, which says why it
    /// could not print the message.
    fn is_packed_next(&mut self) -> Result<bool> {
        let start = self.scan.pos();
        let is_packed = self.scan.more(b'}')? && {
            let key = self.scan.key()?;
            *self.resolved(key) == *b"@value"
        };
        self.scan.set_pos(start);
        Ok(is_packed)
    }

    /// Notes that a value cannot be used, and skips it.
    #[cold]
    pub(super) fn bad_value(&mut self, at: &Path<'_>, wanted: &str) -> Result<()> {
        self.scan.peek();
        let start = self.scan.pos();
        self.scan.skip_value()?;
        self.bad_token(at, start, wanted);
        Ok(())
    }

    /// Notes that the value from `start` to the scanner is not valid protobuf JSON but is read all
    /// the same.
    #[cold]
    pub(super) fn loose_token(&mut self, at: &Path<'_>, start: usize, wanted: &str) {
        let raw = self.scan.slice(start, self.scan.pos());
        let message = format!("{} is not {wanted}, it is read all the same", quote(self.root, at, raw));
        self.note(&BAD_VALUE, at, start, message);
    }

    /// Notes that the value from `start` to the scanner cannot be used.
    #[cold]
    pub(super) fn bad_token(&mut self, at: &Path<'_>, start: usize, wanted: &str) {
        self.rejected += 1;
        let raw = self.scan.slice(start, self.scan.pos());
        if raw == b"\"[redacted]\"" {
            return;
        }
        let message = format!("{} is not {wanted}, the field is left out", quote(self.root, at, raw));
        self.note(&BAD_VALUE, at, start, message);
    }
}

/// Returns a hint on where a field that xDS v3 does not have may come from.
fn origin(name: &str) -> Option<&'static str> {
    match name {
        "hosts" | "tls_context" | "tlsContext" | "config" | "per_filter_config" | "perFilterConfig" => {
            Some("xDS v2 has such a field, v3 does not: write it the v3 way")
        }
        // A oneof, or the wrapper around one of its members.
        _ if name.starts_with(|c: char| c.is_ascii_uppercase()) => {
            Some("Go's encoding/json writes such names: print the message with protojson")
        }
        _ => None,
    }
}

/// Returns the last part of a message's full name.
pub(super) fn short(message: &Message) -> &'static str {
    let name = message.full_name;
    name.rsplit_once('.').map_or(name, |(_, last)| last)
}
