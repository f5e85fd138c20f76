//! The loader's rules, and notes on what was left out of a resource.

use std::borrow::Cow;
use xdsctl_model::diag::{Diagnostic, Path, Rule, rules};

use xdsctl_proto::tables::Message;

use crate::source::Span;
use crate::source::secrets::{SecretPlace, marks};

rules! {
    /// The document cannot be read from here on.
    SYNTAX = "dump-syntax", Dump, Fails, "RFC 8259";
    /// A key is not a field of its message.
    UNKNOWN_FIELD = "dump-unknown-field", Dump, Advice, "protobuf JSON mapping";
    /// A name is not a value of its enum.
    UNKNOWN_ENUM_VALUE = "dump-unknown-enum-value", Dump, Advice, "protobuf JSON mapping";
    /// An Any holds a message type that xdsctl does not know; it is not checked.
    UNKNOWN_ANY_TYPE = "dump-unknown-any-type", Dump, Advice as Note, "protobuf JSON mapping";
    /// An Any holds a message type that does not exist, and nearly has the name of one that does.
    MISSPELT_TYPE = "dump-misspelt-type", Dump, Advice, "protobuf JSON mapping; Envoy's API and the xDS API name their messages";
    /// An Any has fields and no @type.
    ANY_WITHOUT_TYPE = "dump-any-without-type", Dump, Advice, "protobuf JSON mapping";
    /// A field or a map entry is given twice.
    DUPLICATE_KEY = "dump-duplicate-key", Dump, Advice, "protobuf JSON mapping";
    /// A resource has a second @type: another resource was written into it.
    SECOND_TYPE = "dump-second-type", Dump, Fails, "protobuf JSON mapping";
    /// Two members of one oneof are given.
    TWO_ONEOF_MEMBERS = "dump-two-oneof-members", Dump, Advice, "protobuf JSON mapping";
    /// A value has the wrong type, or is out of its type's range.
    BAD_VALUE = "dump-bad-value", Dump, Advice as Error, "protobuf JSON mapping";
    /// A resource is larger or deeper than xdsctl reads.
    LIMIT_EXCEEDED = "dump-limit-exceeded", Dump, Fails, "a limit of xdsctl: 256 MiB a resource, 256 levels";
}

/// The longest excerpt of a value in a message, in characters.
const EXCERPT: usize = 100;

/// A finding from reading a resource, with the field and the place in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// What is wrong, and at which field.
    pub diagnostic: Diagnostic,
    /// The place in the text.
    pub span: Span,
}

impl Note {
    /// Makes a note and appends it.
    #[cold]
    pub fn push<'n>(
        notes: &'n mut Vec<Note>,
        rule: &'static Rule,
        at: &Path<'_>,
        span: Span,
        message: String,
    ) -> &'n mut Note {
        notes.push(Note {
            diagnostic: Diagnostic {
                path: at.to_owned(),
                ..Diagnostic::of_whole(rule, message)
            },
            span,
        });
        let last = notes.len() - 1;
        &mut notes[last]
    }
}

/// Returns a value to quote in a message: on one line, shortened, and masked if it may be a secret.
/// `root` is the type of the resource.
pub(super) fn quote(root: Option<&'static Message>, at: &Path<'_>, raw: &[u8]) -> String {
    let place = SecretPlace::of(root, &at.to_owned());
    let is_nested = matches!(raw.first(), Some(b'{' | b'['));
    if is_nested && raw.len() > MAX_MASKED_BYTES {
        return "a value of many lines".to_owned();
    }
    let mut masked = Cow::Borrowed(raw);
    for hidden in marks(raw, 0, place).hidden {
        if !is_nested {
            return "a value that is not shown".to_owned();
        }
        masked.to_mut().get_mut(hidden.range()).unwrap_or_default().fill(b'*');
    }
    format!("`{}`", clip(&masked))
}

/// The largest object or list that is quoted, in bytes. All of it is searched for secrets.
const MAX_MASKED_BYTES: usize = 64 << 10;

/// Returns a part of the text to quote in a message: on one line, and shortened. White space
/// between the parts of an object or list is removed, so that the layout does not matter.
pub fn clip(raw: &[u8]) -> String {
    let is_nested = matches!(raw.first(), Some(b'{' | b'['));
    // Every character has at most four bytes. This avoids converting a whole document to quote its
    // start.
    let enough = EXCERPT * if is_nested { 16 } else { 4 };
    let head = raw.get(..enough).unwrap_or(raw);
    let text = String::from_utf8_lossy(head);
    let (mut in_string, mut escaped) = (false, false);
    let mut kept = text.chars().filter(|c| {
        let is_quote = *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        in_string ^= is_quote;
        !is_nested || in_string || is_quote || !c.is_ascii_whitespace()
    });
    let shown = kept.by_ref().take(EXCERPT);
    let mut clipped: String = shown.map(|c| if c.is_control() { ' ' } else { c }).collect();
    if kept.next().is_some() || head.len() < raw.len() {
        clipped.push('…');
    }
    clipped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_quoted_alike_however_it_is_laid_out() {
        for (raw, clipped) in [
            ("{\n  \"value\": [1,\t2]\r\n}", r#"{"value":[1,2]}"#),
            (r#"{"a b" : "c \" d" }"#, r#"{"a b":"c \" d"}"#),
            (r#"{"a\\" : 1}"#, r#"{"a\\":1}"#),
            ("\"a  b\nc\"", "\"a  b c\""),
        ] {
            assert_eq!(clip(raw.as_bytes()), clipped);
        }
        let long = format!("[{}]", "1,   ".repeat(1000));
        assert_eq!(clip(long.as_bytes()), format!("[{}1…", "1,".repeat(49)));
        assert_eq!(clip(&[b'x'; 100]), "x".repeat(100));
        assert_eq!(clip(&[b'x'; 101]), "x".repeat(100) + "…");
        assert_eq!(clip("é".repeat(101).as_bytes()), "é".repeat(100) + "…");
    }
}
