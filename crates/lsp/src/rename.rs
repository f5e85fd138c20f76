//! Renames a resource at every place that refers to it.

use std::collections::HashMap;

use lsp_types::{RenameParams, TextDocumentPositionParams, TextEdit, Uri, WorkspaceEdit};
use serde_json::{Value, json};

use crate::definition;
use crate::project::names::{NamePlace, Named};
use crate::view::DocumentView;

/// Longest new name that is accepted, in bytes.
const MAX_NAME_BYTES: usize = 4 << 10;

/// Returns the name at the place, if it can be changed.
pub fn prepare(view: &DocumentView<'_>, params: &TextDocumentPositionParams) -> Value {
    let offset = view.offset(params.position);
    let place = view.snapshot.names().name_at(view.id, offset);
    match place.filter(|place| place.named != Named::Provider) {
        Some(place) => json!({"range": view.range(place.span), "placeholder": place.name}),
        None => Value::Null,
    }
}

/// Returns the edits of all documents.
///
/// # Errors
/// Says in words why the name cannot be changed.
#[expect(
    clippy::mutable_key_type,
    reason = "the type that the protocol's crate has for a WorkspaceEdit"
)]
pub fn rename(view: &DocumentView<'_>, params: &RenameParams) -> Result<WorkspaceEdit, String> {
    let new = &params.new_name;
    if new.is_empty() || new.len() > MAX_NAME_BYTES || new.chars().any(char::is_control) {
        return Err("this is no name of a resource".to_owned());
    }
    let offset = view.offset(params.text_document_position.position);
    let all = definition::all(view, offset);
    let Some(first) = all.first() else {
        return Err("there is no name of a resource here".to_owned());
    };
    if first.named == Named::Provider {
        return Err("a certificate provider is named in the bootstrap".to_owned());
    }
    if *new == first.name {
        return Ok(WorkspaceEdit::default());
    }
    let names = view.snapshot.names();
    let taken = all
        .iter()
        .find(|place| names.given(place.named, Some(place.resource)).contains(new.as_str()));
    if let Some(taken) = taken {
        let what = match taken.named {
            Named::Resource(kind) => kind.short_name(),
            Named::Provider => "provider",
        };
        return Err(format!("there is a {what} `{new}` already"));
    }
    let mut changes: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
    for place in all {
        let (uri, edit) = edit(view, place, new)?;
        changes.entry(uri).or_default().push(edit);
    }
    Ok(WorkspaceEdit::new(changes))
}

fn edit(view: &DocumentView<'_>, place: &NamePlace, new: &str) -> Result<(Uri, TextEdit), String> {
    let located = view.locations([(place.source, place.span)]).into_iter().next();
    let source = view.snapshot.sources.get(place.source);
    let (Some(location), Some(source)) = (located, source) else {
        return Err("a document is gone".to_owned());
    };
    let bytes = source.bytes().get(place.span.range()).unwrap_or_default();
    let old = std::str::from_utf8(bytes).unwrap_or_default();
    let Some(text) = written(old, &place.name, new) else {
        let (file, line) = (source.name(), location.range.start.line + 1);
        return Err(format!("{file}:{line}: the name is not plainly written there"));
    };
    let edit = TextEdit {
        range: location.range,
        new_text: text,
    };
    Ok((location.uri, edit))
}

/// Returns a scalar with another value, in the same quotes; `None` if the text is not plainly the
/// value.
fn written(old: &str, value: &str, new: &str) -> Option<String> {
    let quoted = |quote: char| old.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    if let Some(inside) = quoted('"') {
        return (inside == value).then(|| Value::from(new).to_string());
    }
    if let Some(inside) = quoted('\'') {
        return (inside == value).then(|| format!("'{}'", new.replace('\'', "''")));
    }
    (old == value).then(|| match is_plain(new) {
        true => new.to_owned(),
        false => Value::from(new).to_string(),
    })
}

/// Says whether YAML reads the text as this string, wherever a name may be.
fn is_plain(text: &str) -> bool {
    let is_fine = |c: char| c.is_ascii_alphanumeric() || "-_./:".contains(c);
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_word = ["true", "false", "null", "yes", "no", "on", "off"].contains(&text.to_ascii_lowercase().as_str());
    begins && !is_word && text.chars().all(is_fine) && !text.ends_with(':') && !text.contains(": ")
}

#[cfg(test)]
mod tests {
    use super::written;

    #[test]
    fn quotes_stay_and_what_is_not_plain_gets_some() {
        for (old, new, expected) in [
            ("a", "b", Some("b")),
            ("a", "1", Some("\"1\"")),
            ("a", "x: y", Some("\"x: y\"")),
            ("a", "true", Some("\"true\"")),
            ("\"a\"", "b\"", Some("\"b\\\"\"")),
            ("'a'", "it's", Some("'it''s'")),
            ("\"\\u0061\"", "b", None),
            ("*alias", "b", None),
        ] {
            assert_eq!(written(old, "a", new).as_deref(), expected, "{old} {new}");
        }
    }
}
