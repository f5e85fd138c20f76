//! Maps: JSON objects that become lists of entry messages.

use std::collections::HashSet;

use xdsctl_proto::tables::Kind;

use super::{MAX_ELEMENTS, MAX_STRUCT_VALUES, Result, Transcoder, clip, takes_null};
use crate::source::json::Str;
use xdsctl_model::diag::Path;

impl Transcoder<'_> {
    /// Reads a map. Each key becomes an entry message.
    pub(super) fn map(&mut self, number: u32, key_kind: Kind, value_kind: Kind, at: &Path<'_>) -> Result<()> {
        if self.scan.peek() != b'{' {
            return self.bad_value(at, "an object");
        }
        if !self.scan.open(b'}')? {
            return Ok(());
        }
        // The keys as they are written.
        let mut keys = HashSet::new();
        loop {
            let key = self.scan.key()?;
            if keys.insert(self.scan.raw(key)) {
                self.entry(number, key_kind, value_kind, key, at)?;
            } else {
                let name = clip(self.scan.raw(key));
                self.duplicate(key.start, &at.key(&name))?;
            }
            if !self.scan.more(b'}')? {
                return Ok(());
            }
            let message = if self.is_beyond_struct_values(value_kind) {
                format!("more than {MAX_STRUCT_VALUES} values in Structs, the others are not checked")
            } else if keys.len() >= MAX_ELEMENTS {
                format!("a map has more than {MAX_ELEMENTS} entries, the others are not checked")
            } else {
                continue;
            };
            return self.pass_over(b'}', message);
        }
    }

    fn entry(&mut self, number: u32, key_kind: Kind, value_kind: Kind, key: Str, at: &Path<'_>) -> Result<()> {
        let start = self.out.len();
        let length = self.open_field(number);
        let mut scratch = std::mem::take(&mut self.scratch);
        let usable = match self.scan.text_of(key, &mut scratch) {
            Ok(name) => {
                let here = at.key(name);
                self.map_key(key_kind, key, name, &here)? && self.map_value(value_kind, &here)?
            }
            Err(bad) => {
                let after = self.scan.pos();
                self.scan.set_pos(key.end + 1);
                self.bad_token(at, key.start - 1, &format!("text: it has {}", bad.what()));
                self.scan.set_pos(after);
                self.scan.skip_value()?;
                false
            }
        };
        self.scratch = scratch;
        if usable {
            return self.close(length);
        }
        self.cut(start);
        Ok(())
    }

    /// Reads the value of a map entry. Returns false if it cannot be used.
    fn map_value(&mut self, kind: Kind, at: &Path<'_>) -> Result<bool> {
        if self.scan.peek() == b'n' && !takes_null(kind) {
            self.bad_value(at, "a value")?;
            return Ok(false);
        }
        let before = self.out.len();
        self.value(2, kind, true, at)?;
        Ok(self.out.len() > before)
    }
}
