//! JSON as Go's encoding/json decodes it into a struct: it matches keys in any case, ignores
//! unknown keys, and leaves a field as it is where there is null.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use xdsctl_model::resource::{MAX_DURATION_SECONDS, Millis};

/// A value, or why a balancer's parser refuses the config.
pub(super) type GoParsed<T = ()> = Result<T, String>;

/// What is kept of a config that a balancer's parser accepts; the error says what is not known of
/// it.
pub(super) type Kept<T> = Result<T, String>;

/// An object that is decoded into a struct. The functions check the type of a field.
#[derive(Debug, Clone, Copy)]
pub(super) struct GoObject<'v>(pub(super) &'v Map<String, Value>);

impl<'v> GoObject<'v> {
    /// Returns the value of a field; `None` for null. If no key is exact, case does not count.
    pub(super) fn get(self, name: &str) -> Option<&'v Value> {
        self.named(name).filter(|value| !value.is_null())
    }

    /// Returns the value of a field, which may be null.
    fn named(self, name: &str) -> Option<&'v Value> {
        let folded = || {
            let mut entries = self.0.iter();
            entries
                .find(|(key, _)| key.eq_ignore_ascii_case(name))
                .map(|(_, value)| value)
        };
        self.0.get(name).or_else(folded)
    }

    /// Reads a field with `of`; `kind` is what it must be.
    fn typed<T>(self, name: &str, kind: &str, of: impl FnOnce(&'v Value) -> Option<T>) -> GoParsed<Option<T>> {
        let read = self
            .get(name)
            .map(|value| of(value).ok_or_else(|| format!("{name} is no {kind}")));
        read.transpose()
    }

    pub(super) fn bool(self, name: &str) -> GoParsed<bool> {
        Ok(self.typed(name, "boolean", Value::as_bool)?.unwrap_or_default())
    }

    pub(super) fn text(self, name: &str) -> GoParsed<&'v str> {
        Ok(self.typed(name, "text", Value::as_str)?.unwrap_or_default())
    }

    pub(super) fn number(self, name: &str) -> GoParsed<Option<f64>> {
        self.typed(name, "number", Value::as_f64)
    }

    /// Reads a whole number up to `max`, as protobuf prints it: from 1e21 on with an exponent,
    /// which is no integer for Go.
    pub(super) fn unsigned(self, name: &str, max: u64) -> GoParsed<Option<u64>> {
        let Some(number) = self.number(name)? else {
            return Ok(None);
        };
        let is_whole = number.fract() == 0.0 && number.is_sign_positive() && number < 1e20;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole and below 2^67"
        )]
        let value = if is_whole {
            u64::try_from(number as u128).ok()
        } else {
            None
        };
        match value.filter(|value| *value <= max) {
            Some(value) => Ok(Some(value)),
            None => Err(format!("{name} is no number of 0 to {max}")),
        }
    }

    /// Reads a whole number of 32 bits.
    pub(super) fn number32(self, name: &str, default: u32) -> GoParsed<u32> {
        let number = self.unsigned(name, u32::MAX.into())?;
        Ok(number.and_then(|number| u32::try_from(number).ok()).unwrap_or(default))
    }

    /// Reads a duration in milliseconds, rounded towards zero, but not to 0. The type reads its own
    /// JSON, and accepts no null.
    pub(super) fn duration(self, name: &str) -> GoParsed<Option<Millis>> {
        let read = |value: &Value| duration(value.as_str()?);
        let read = self
            .named(name)
            .map(|value| read(value).ok_or_else(|| format!("{name} is no duration")));
        read.transpose()
    }

    pub(super) fn object<T>(self, name: &str, read: impl FnOnce(GoObject<'v>) -> GoParsed<T>) -> GoParsed<Option<T>> {
        self.typed(name, "object", Value::as_object)?
            .map(|object| read(GoObject(object)))
            .transpose()
    }

    pub(super) fn children<T>(
        self,
        name: &str,
        read: impl Fn(GoObject<'v>) -> GoParsed<Kept<T>>,
    ) -> GoParsed<Kept<BTreeMap<String, T>>> {
        let mut all = Vec::new();
        self.object(name, |children| {
            for (key, child) in children.0 {
                match child {
                    Value::Null => {}
                    Value::Object(child) => all.push((key.clone(), read(GoObject(child))?)),
                    _ => return Err(format!("a child in {name} is no object")),
                }
            }
            Ok(())
        })?;
        Ok(all.into_iter().map(|(key, kept)| Ok((key, kept?))).collect())
    }
}

/// Reads a duration like `-1.5s`; `None` for any other text (`internal/serviceconfig/duration.go`).
///
/// A duration that is not 0 is at least a millisecond long, so that its sign is kept.
fn duration(text: &str) -> Option<Millis> {
    let text = text.strip_suffix('s')?;
    let (sign, text) = match text.strip_prefix('-') {
        Some(text) => (-1, text),
        None => (1, text),
    };
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, ""));
    if seconds.is_empty() && fraction.is_empty() || fraction.len() > 9 {
        return None;
    }
    let number = |digits: &str| match digits {
        "" => Some(0),
        digits => digits
            .parse::<i64>()
            .ok()
            .filter(|number| *number <= MAX_DURATION_SECONDS),
    };
    let (seconds, nanos) = (number(seconds)?, number(fraction)?);
    let places = u32::try_from(fraction.len()).ok()?;
    let millis = nanos * 1000 / 10i64.pow(places);
    let total = seconds.saturating_mul(1000).saturating_add(millis);
    let least = i64::from(seconds != 0 || nanos != 0);
    Some(Millis(sign * total.max(least)))
}
