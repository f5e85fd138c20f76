//! What may be written at a place: fields, values, types and names.
//!
//! A text that somebody is typing is seldom a valid document. So the word at the place is replaced
//! by a mark that can be parsed, as a key or as a value. The place of the mark shows what may be
//! written there.

use lsp_types::{CompletionItem, CompletionItemKind, CompletionParams, CompletionTextEdit, TextEdit};

use crate::project::names::{Named, referred};
use crate::view::DocumentView;
use crate::{mend, types};
use xdsctl_document::proto::message_type::FieldType;
use xdsctl_document::proto::place::{self, Part, Place};
use xdsctl_document::proto::wire::{FieldUse, uses};
use xdsctl_document::source::Span;
use xdsctl_document::source::sniff::DocumentFormat;
use xdsctl_lint::catalogue;

/// The mark that replaces the word at the place.
const MARK: &str = "xdsctlHere";

/// Most proposals for one place.
const MAX_ITEMS: usize = 2_000;

/// Returns what may be written at a place.
pub fn completion(view: &DocumentView<'_>, params: &CompletionParams) -> Vec<CompletionItem> {
    let offset = view.offset(params.text_document_position.position);
    let Ok(text) = std::str::from_utf8(view.source.bytes()) else {
        return Vec::new();
    };
    let is_json = view.source.name().ends_with(".json") || text.trim_start().starts_with('{');
    let word = Word::at(text, offset, is_json);
    let mut items = match word.rule_before(text) {
        true => of_rules(),
        false => in_document(view, text, &word).unwrap_or_default(),
    };
    items.truncate(MAX_ITEMS);
    let range = view.range(word.span);
    let items = items.into_iter().map(|item| CompletionItem {
        text_edit: Some(CompletionTextEdit::Edit(TextEdit {
            range,
            new_text: item.text,
        })),
        label: item.label,
        kind: Some(item.kind),
        detail: Some(item.detail).filter(|detail| !detail.is_empty()),
        sort_text: Some(item.sort),
        ..CompletionItem::default()
    });
    items.collect()
}

/// A proposal.
pub struct Item {
    pub label: String,
    /// The text that replaces the word.
    pub text: String,
    pub kind: CompletionItemKind,
    pub detail: String,
    pub sort: String,
}

impl Item {
    /// Makes the proposal of a value that is written unchanged.
    pub fn value(text: &str, detail: &str) -> Item {
        Item {
            label: text.to_owned(),
            text: text.to_owned(),
            kind: CompletionItemKind::VALUE,
            detail: detail.to_owned(),
            sort: format!("1{text}"),
        }
    }
}

/// The word at a place of a text.
#[derive(Debug, Clone, Copy)]
pub struct Word {
    /// The bytes of the word, without quotes.
    pub span: Span,
    /// Whether the word is in double quotes.
    is_quoted: bool,
    /// Whether a colon follows the word.
    is_key: bool,
    /// Whether the text is JSON, so that keys need quotes.
    is_json: bool,
    /// Offset at which the line of the word starts.
    line: usize,
}

impl Word {
    fn at(text: &str, offset: usize, is_json: bool) -> Word {
        let before = text.get(..offset).unwrap_or_default();
        let line = before.rfind('\n').map_or(0, |at| at + 1);
        let in_word = |c: char| c.is_alphanumeric() || "_@./-%*".contains(c);
        let start = before.rfind(|c| !in_word(c)).map_or(0, |at| {
            at + before
                .get(at..)
                .and_then(|rest| rest.chars().next())
                .map_or(1, char::len_utf8)
        });
        let start = start.max(line);
        let after = text.get(offset..).unwrap_or_default();
        let end = offset + after.find(|c| !in_word(c)).unwrap_or(after.len());
        // The dash of a list element is not part of the word.
        let start = if text.get(start..end).is_some_and(|word| word.starts_with('-')) {
            start + 1
        } else {
            start
        };
        let start = start.min(offset);
        let is_quoted = text.get(..start).is_some_and(|before| before.ends_with('"'));
        let rest = text.get(end..).unwrap_or_default();
        let rest = if is_quoted {
            rest.strip_prefix('"').unwrap_or(rest)
        } else {
            rest
        };
        Word {
            span: Span::new(start, end),
            is_quoted,
            is_key: rest.trim_start_matches([' ', '\t']).starts_with(':'),
            is_json,
            line,
        }
    }

    /// Returns the text before the word in its line.
    fn before(self, text: &str) -> &str {
        text.get(self.line..self.span.start).unwrap_or_default()
    }

    /// Says whether the word is in the list of rules of a suppression comment.
    fn rule_before(self, text: &str) -> bool {
        let before = self.before(text);
        let comment = before.rsplit_once("xdsctl: ignore[").map(|(_, list)| list);
        comment.is_some_and(|list| before.contains('#') && !list.contains(']'))
    }

    /// Returns the text with the mark in place of the word, and the offset of the mark.
    fn marked(self, text: &str, as_key: bool) -> Option<(String, usize)> {
        let (before, after) = (text.get(..self.span.start)?, text.get(self.span.end..)?);
        let quote = if self.is_quoted && !after.starts_with('"') {
            "\""
        } else {
            ""
        };
        let rest = match (as_key, self.is_key) {
            (true, false) if self.is_quoted => "\": null",
            (true, false) => ": null",
            _ => quote,
        };
        // The key is closed already, so remove the quote that closed the word.
        let after = match as_key && !self.is_key && self.is_quoted {
            true => after.strip_prefix('"').unwrap_or(after),
            false => after,
        };
        // An unquoted word in JSON is neither a key nor a string.
        let (open, close) = match self.is_json && !self.is_quoted {
            true => ("\"", "\""),
            false => ("", ""),
        };
        let marked = format!("{before}{open}{MARK}{close}{rest}{after}");
        Some((marked, self.span.start + open.len()))
    }
}

/// Returns the ids of all rules as proposals.
pub fn of_rules() -> Vec<Item> {
    let rules = catalogue::rules().map(|rule| Item {
        kind: CompletionItemKind::CONSTANT,
        ..Item::value(rule.id, rule.summary.trim())
    });
    rules.collect()
}

/// Returns what may be written in a resource, a suite or the settings.
fn in_document(view: &DocumentView<'_>, text: &str, word: &Word) -> Option<Vec<Item>> {
    let name = view.source.name();
    if crate::settings::is_settings(name) {
        return Some(crate::settings::complete(view, text, word.span.start));
    }
    if view.snapshot.configuration.contains(&view.id) && !crate::outline::tests(view.source).is_empty() {
        return Some(crate::suite::complete(name, |as_key| word.marked(text, as_key)));
    }
    let is_value = word.before(text).trim_end().ends_with([':', '[', ',']) && !word.is_key;
    // The likelier interpretation is tried first.
    let order = if is_value { [false, true] } else { [true, false] };
    for as_key in order {
        let (marked, at) = word.marked(text, as_key)?;
        let placed = mend::place_of(name, marked, at + 1);
        let Some((place, format)) = placed.filter(|(place, _)| place.text.contains(MARK)) else {
            continue;
        };
        let resource = view
            .snapshot
            .resource_at(view.id, word.span.start)
            .map(|(number, _)| number);
        let items = match (place.part, place.field) {
            (Part::Key, _) => of_keys(&place, word, format),
            (Part::Scalar, Some(field)) => of_values(view, &place, field, resource),
            (Part::Scalar, None) if place.steps.last() == Some(&place::PlaceStep::Key("@type".to_owned())) => {
                types::of_types(&place)
            }
            _ => continue,
        };
        if !items.is_empty() {
            return Some(items);
        }
    }
    crate::suite::may_be_one(text).then(|| crate::suite::complete(name, |as_key| word.marked(text, as_key)))
}

/// Returns the fields that are not set yet. Those that clients read come first.
fn of_keys(place: &Place, word: &Word, format: DocumentFormat) -> Vec<Item> {
    let Some(message) = place.message else {
        return Vec::new();
    };
    let is_camel = place
        .keys
        .iter()
        .any(|key| key != MARK && key.contains(char::is_uppercase) && !key.starts_with('@'));
    let is_there = |field: FieldType| {
        place
            .keys
            .iter()
            .any(|key| key == field.name() || key == field.json_name())
    };
    let written = |key: &str| match (format, word.is_quoted, word.is_key) {
        (_, _, true) => key.to_owned(),
        (DocumentFormat::Json, true, false) => key.to_owned(),
        (DocumentFormat::Json, false, false) => format!("\"{key}\": "),
        (_, true, false) => key.to_owned(),
        (_, false, false) => format!("{key}: "),
    };
    let mut items: Vec<Item> = message
        .fields()
        .filter(|field| !is_there(*field))
        .map(|field| {
            let name = if is_camel { field.json_name() } else { field.name() };
            let is_read = uses(field).is_some_and(|uses| uses.iter().any(|(_, used)| *used != FieldUse::Unread));
            let detail = match is_read {
                true => field.type_words(),
                false => format!("{}; no gRPC client reads it", field.type_words()),
            };
            Item {
                label: name.to_owned(),
                text: written(name),
                kind: CompletionItemKind::FIELD,
                detail,
                sort: format!("{}{name}", u8::from(!is_read)),
            }
        })
        .collect();
    if message.is_any() && !place.keys.iter().any(|key| key == "@type") {
        items.push(Item {
            label: "@type".to_owned(),
            text: match word.is_quoted || word.is_key {
                true => "@type".to_owned(),
                false => "\"@type\": ".to_owned(),
            },
            kind: CompletionItemKind::FIELD,
            detail: "the type of what is packed here".to_owned(),
            sort: "0".to_owned(),
        });
    }
    items
}

/// Returns the values of a field: of an enum, true and false, or names.
fn of_values(view: &DocumentView<'_>, place: &Place, field: FieldType, resource: Option<usize>) -> Vec<Item> {
    if place.steps.last() == Some(&place::PlaceStep::Key("@type".to_owned())) {
        return Vec::new();
    }
    if let Some(named) = referred(field) {
        let names: Vec<&str> = match named {
            Named::Provider => view.snapshot.providers.iter().map(String::as_str).collect(),
            Named::Resource(_) => view.snapshot.names().given(named, resource).into_iter().collect(),
        };
        let items = names.into_iter().filter(|name| *name != MARK).map(|name| Item {
            kind: CompletionItemKind::REFERENCE,
            ..Item::value(name, "")
        });
        return items.collect();
    }
    if field.is_bool() {
        return vec![Item::value("true", ""), Item::value("false", "")];
    }
    let values = field.enum_values().iter().map(|(name, number)| Item {
        kind: CompletionItemKind::ENUM_MEMBER,
        sort: format!("{number:08}"),
        ..Item::value(name, "")
    });
    values.collect()
}
