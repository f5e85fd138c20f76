//! Suites: completion and explanation of members and values, from the schema of suites.

use std::sync::LazyLock;

use lsp_types::CompletionItemKind;
use serde_json::Value;

use crate::completion::Item;
use crate::hover;
use crate::outline;
use crate::view::DocumentView;
use xdsctl_document::source::node::{JsonNode, Value as NodeValue};
use xdsctl_document::source::{Source, Span};
use xdsctl_suite::SCHEMA;

/// Most levels of the schema that are followed for one step.
const MAX_FOLLOWED: usize = 8;

static ROOT: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(SCHEMA).unwrap_or_default());

/// Says whether a text may be the beginning of a suite.
pub fn may_be_one(text: &str) -> bool {
    ["steps:", "tests:", "\"steps\"", "\"tests\""]
        .iter()
        .any(|word| text.contains(word))
}

/// A step down in a document: a member of an object, or an element of a list.
enum Step {
    Member(String),
    Element,
}

/// The key or scalar at a byte of the document.
struct Found {
    steps: Vec<Step>,
    /// The span of the key or scalar.
    span: Span,
    is_key: bool,
    text: String,
    keys: Vec<String>,
}

fn find(source: &Source, offset: usize) -> Option<Found> {
    let root = JsonNode::of(source).ok()??;
    let has = |span: Span| {
        let span = source.to_document(span);
        span.start <= offset && offset <= span.end
    };
    let mut node = &root;
    let mut steps = Vec::new();
    loop {
        match &node.value {
            NodeValue::Map(members) => {
                let keys = || members.iter().map(|member| member.name.clone()).collect();
                if let Some(member) = members.iter().find(|member| has(member.at)) {
                    steps.push(Step::Member(member.name.clone()));
                    return Some(Found {
                        steps,
                        span: source.to_document(member.at),
                        is_key: true,
                        text: member.name.clone(),
                        keys: keys(),
                    });
                }
                let member = members.iter().find(|member| has(member.node.span))?;
                steps.push(Step::Member(member.name.clone()));
                node = &member.node;
            }
            NodeValue::List(list) => {
                node = list.iter().find(|element| has(element.span))?;
                steps.push(Step::Element);
            }
            _ => {
                return Some(Found {
                    steps,
                    span: source.to_document(node.span),
                    is_key: false,
                    text: node.word().unwrap_or_default().to_owned(),
                    keys: Vec::new(),
                });
            }
        }
    }
}

/// Collects the schemas that apply to the same value, following references.
fn open<'s>(schema: &'s Value, found: &mut Vec<&'s Value>, level: usize) {
    if level > MAX_FOLLOWED {
        return;
    }
    found.push(schema);
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        let pointer = name.trim_start_matches('#');
        ROOT.pointer(pointer)
            .into_iter()
            .for_each(|target| open(target, found, level + 1));
    }
    for key in ["allOf", "oneOf", "anyOf"] {
        let all = schema.get(key).and_then(Value::as_array);
        all.into_iter().flatten().for_each(|one| open(one, found, level + 1));
    }
}

/// Returns the schemas of a value.
fn schemas(steps: &[Step]) -> Vec<&'static Value> {
    let root: &'static Value = &ROOT;
    let mut now = vec![root];
    for step in steps {
        let mut opened = Vec::new();
        now.iter().for_each(|schema| open(schema, &mut opened, 0));
        now = opened
            .into_iter()
            .filter_map(|schema| match step {
                Step::Element => schema.get("items"),
                Step::Member(name) => {
                    let own = schema.get("properties").and_then(|all| all.get(name));
                    own.or_else(|| schema.get("additionalProperties").filter(|more| more.is_object()))
                }
            })
            .collect();
    }
    let mut opened = Vec::new();
    now.iter().for_each(|schema| open(schema, &mut opened, 0));
    opened
}

fn described(schema: &Value) -> Option<&str> {
    schema.get("description").and_then(Value::as_str)
}

/// Explains the text at a byte of a suite, and returns its span.
pub fn hover(view: &DocumentView<'_>, offset: usize) -> Option<(String, Span)> {
    if outline::tests(view.source).is_empty() {
        return crate::settings::hover(view, offset);
    }
    let found = find(view.source, offset)?;
    if !found.is_key
        && let Some(cookie) = hover::cookie(&found.text)
    {
        return Some((cookie, found.span));
    }
    let schemas = schemas(&found.steps);
    let text = schemas.into_iter().find_map(described)?;
    let last = found.steps.iter().rev().find_map(|step| match step {
        Step::Member(name) => Some(name.as_str()),
        Step::Element => None,
    });
    Some((format!("**{}**: {text}", last.unwrap_or_default()), found.span))
}

/// Returns what may be written at a mark. `marked` puts the mark into the text, as a key or as a
/// value.
pub fn complete(name: &str, marked: impl Fn(bool) -> Option<(String, usize)>) -> Vec<Item> {
    for as_key in [true, false] {
        let Some((marked, at)) = marked(as_key) else { continue };
        let source = Source::of(name, marked.into_bytes());
        let Some(found) = find(&source, at + 1) else { continue };
        let items = match found.is_key {
            true => of_keys(&found),
            false => of_values(&found),
        };
        if !items.is_empty() {
            return items;
        }
    }
    Vec::new()
}

fn of_keys(found: &Found) -> Vec<Item> {
    let outer = found.steps.split_last().map_or(&[][..], |(_, outer)| outer);
    let mut items: Vec<Item> = Vec::new();
    for schema in schemas(outer) {
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            if found.keys.contains(name) || items.iter().any(|item| item.label == *name) {
                continue;
            }
            let mut opened = Vec::new();
            open(property, &mut opened, 0);
            items.push(Item {
                kind: CompletionItemKind::PROPERTY,
                text: format!("{name}: "),
                ..Item::value(name, opened.into_iter().find_map(described).unwrap_or_default())
            });
        }
    }
    items
}

fn of_values(found: &Found) -> Vec<Item> {
    let mut items = Vec::new();
    for schema in schemas(&found.steps) {
        let one = schema.get("const").into_iter();
        let listed = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
        items.extend(
            one.chain(listed)
                .filter_map(Value::as_str)
                .map(|value| Item::value(value, "")),
        );
        if schema.get("type").and_then(Value::as_str) == Some("boolean") {
            items.extend(["true", "false"].map(|value| Item::value(value, "")));
        }
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_member_of_a_step_is_proposed_and_none_twice() {
        let text = "steps:\n- HERE\n";
        let marked = |as_key: bool| {
            let word = if as_key { "xdsctlHere: null" } else { "xdsctlHere" };
            Some((text.replace("HERE", word), text.find("HERE")?))
        };
        let items = complete("a.yaml", marked);
        let labels: Vec<&str> = items.iter().map(|item| item.label.as_str()).collect();
        assert!(labels.contains(&"pick") && labels.contains(&"expect"), "{labels:?}");
        let mut once = labels.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), labels.len());
    }
}
