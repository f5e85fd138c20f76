//! What becomes of keys and values that are not as protobuf wants them: each is noted, and nothing
//! else is lost.

use xdsctl_proto::tables::Message;

use super::note::{BAD_VALUE, DUPLICATE_KEY, SECOND_TYPE, TWO_ONEOF_MEMBERS, UNKNOWN_ANY_TYPE, UNKNOWN_FIELD, quote};
use super::{Result, Transcoder, clip};
use crate::secret;
use crate::source::json::{Str, Syntax};
use crate::source::secrets;
use xdsctl_model::diag::{Path, Rule};

impl Transcoder<'_> {
    /// Reads a key that has been passed; the scanner stands behind it then, before the colon.
    fn key_again(&mut self, start: usize) -> std::result::Result<Str, Syntax> {
        self.scan.set_pos(start - 1);
        self.scan.string()
    }

    /// Notes that the key has been read before, and passes its value.
    #[cold]
    pub(super) fn duplicate(&mut self, key: usize, here: &Path<'_>) -> Result<()> {
        self.second(&DUPLICATE_KEY, key, here, "given twice")
    }

    /// Notes that the `@type` has been read before, and passes its value. In a resource, another
    /// resource begins there: no line `---` or no bracket is between them.
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

    /// Notes that another member of the oneof has been read before, and passes the value.
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

    /// Notes a key of which an earlier one has the place, and passes its value.
    fn second(&mut self, rule: &'static Rule, key: usize, here: &Path<'_>, what: &str) -> Result<()> {
        let end = self.scan.pos();
        let key = self.key_again(key)?;
        let name = clip(self.scan.raw(key));
        let message = format!("`{name}` is {what}, only the first is read");
        self.note(rule, here, key.start - 1, message);
        self.scan.set_pos(end);
        Ok(self.scan.skip_value()?)
    }

    /// Notes a key that the message does not have, and passes its value; inside of an Any, reads
    /// what only stands there.
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
                // No reader of protobuf takes two, and which of them counts is anybody's guess.
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
        // A field has two names; of two that are as near, that in the same letters is meant.
        let names = || message.by_name.iter().map(|(name, _)| *name);
        let is_camel = |name: &str| name.bytes().any(|byte| byte.is_ascii_uppercase());
        let own = is_camel(&name);
        let same = names().filter(|name| is_camel(name) == own);
        let other = names().filter(|name| is_camel(name) != own);
        let nearest = self.suggest(message.full_name, &name, same.chain(other));
        // `{value: a,b}` and `value:\n  a: b` in YAML: what looks like a name may be a part of a
        // text.
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

    /// Says whether the next key is `@value`: grpcurl prints it behind the reason why it printed
    /// nothing else.
    fn is_packed_next(&mut self) -> Result<bool> {
        let start = self.scan.pos();
        let is_packed = self.scan.more(b'}')? && {
            let key = self.scan.key()?;
            *self.resolved(key) == *b"@value"
        };
        self.scan.set_pos(start);
        Ok(is_packed)
    }

    /// Passes a value that cannot be used and notes it.
    #[cold]
    pub(super) fn bad_value(&mut self, at: &Path<'_>, wanted: &str) -> Result<()> {
        self.scan.peek();
        let start = self.scan.pos();
        self.scan.skip_value()?;
        self.bad_token(at, start, wanted);
        Ok(())
    }

    /// Notes that the value from `start` to here is not as protobuf wants it, and is read all the
    /// same.
    #[cold]
    pub(super) fn loose_token(&mut self, at: &Path<'_>, start: usize, wanted: &str) {
        let raw = self.scan.slice(start, self.scan.pos());
        let message = format!("{} is not {wanted}, it is read all the same", quote(self.root, at, raw));
        self.note(&BAD_VALUE, at, start, message);
    }

    /// Notes that the value from `start` to here cannot be used.
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

/// Where a field that v3 does not have may come from.
fn origin(name: &str) -> Option<&'static str> {
    match name {
        "hosts" | "tls_context" | "tlsContext" | "config" | "per_filter_config" | "perFilterConfig" => {
            Some("xDS v2 has such a field, v3 does not: write it the v3 way")
        }
        // A oneof, or a wrapper around one of its members.
        _ if name.starts_with(|c: char| c.is_ascii_uppercase()) => {
            Some("Go's encoding/json writes such names: print the message with protojson")
        }
        _ => None,
    }
}

/// The last part of a message's name.
pub(super) fn short(message: &Message) -> &'static str {
    let name = message.full_name;
    name.rsplit_once('.').map_or(name, |(_, last)| last)
}
