//! Changes values in suites, and leaves all else as it was: comments, order, quotes, line ends.
//!
//! A value is replaced where it stands, and the text is read again. If more than the new values is
//! then different, the text is not changed.

use std::collections::HashMap;

use serde_json::Value as Json;

use super::Suite;
use xdsctl_document::source::node::{JsonNode, Value};
use xdsctl_document::source::{Source, SourceMap, Span};

/// A value of a suite that is to be replaced.
#[derive(Debug, Clone, PartialEq)]
pub struct Rewrite {
    /// Where the value is in the document.
    pub span: Span,
    /// The value that takes the place of the old one.
    pub value: Json,
}

/// A suite with replaced values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewritten {
    /// The suite with its new values.
    pub text: Vec<u8>,
    /// For each change, whether it was made, or why not.
    pub made: Vec<Result<(), &'static str>>,
}

/// A place in the document, and the text that replaces it.
type TextEdit = (Span, String);

const SEVERAL_LINES: &str = "it stands on several lines: write it on one, and it can be updated";
const NOT_ALONE: &str =
    "the text there says more than this one value: it has an anchor or a tag, or is used elsewhere too";

const NOT_TRIED: &str =
    "another value of the file cannot be updated, and there are too many to try each: update what is told first";

/// How many bytes of text are read again in all, to find out which values cannot be updated.
const MAX_TRIED_BYTES: usize = 64 << 20;

/// Replaces values of a document that is a suite. Of changes that overlap, only the first is made.
pub fn rewrite(source: &Source, changes: &[Rewrite]) -> Rewritten {
    rewrite_within(source, changes, MAX_TRIED_BYTES)
}

/// Replaces values as [`rewrite`] does, with a limit on the bytes that are parsed again to find
/// values that cannot be changed.
fn rewrite_within(source: &Source, changes: &[Rewrite], most: usize) -> Rewritten {
    let none = |why| Rewritten {
        text: source.bytes().to_vec(),
        made: changes.iter().map(|_| Err(why)).collect(),
    };
    let Ok(Some(root)) = JsonNode::of(source) else {
        return none("the file is no suite");
    };
    let rewriter = Rewriter { source, root };
    let nodes = rewriter.nodes();
    let edits = |change: &Rewrite| rewriter.edits(*nodes.get(&change.span).ok_or(NOT_ALONE)?, &change.value);
    let alone: Vec<Result<Vec<TextEdit>, &'static str>> = changes.iter().map(edits).collect();
    let mut trial = Trial {
        rewriter: &rewriter,
        changes,
        alone: &alone,
        tries: most / source.bytes().len().max(1),
    };
    let possible: Vec<usize> = (0..)
        .zip(&alone)
        .filter(|(_, edits)| edits.is_ok())
        .map(|(n, _)| n)
        .collect();
    let mut made: Vec<Result<(), &'static str>> = alone
        .iter()
        .map(|edits| edits.as_ref().map(drop).map_err(|why| *why))
        .collect();
    let mut text = trial.text(&possible);
    if text.is_none() {
        // At least one edit changes more than its value. The halves are tried to find out which.
        let mut good = Vec::new();
        trial.sift(&possible, &mut good, &mut made);
        text = trial.text(&good);
    }
    let Some(text) = text else { return none(NOT_ALONE) };
    Rewritten { text, made }
}

/// Changes that are tried together, and again in halves if they cannot be made.
struct Trial<'t> {
    rewriter: &'t Rewriter<'t>,
    changes: &'t [Rewrite],
    /// The edits of each change.
    alone: &'t [Result<Vec<TextEdit>, &'static str>],
    /// How many more parts may be tried.
    tries: usize,
}

impl Trial<'_> {
    /// Returns the text with these changes, if they can be made.
    fn text(&self, chosen: &[usize]) -> Option<Vec<u8>> {
        let edits = chosen
            .iter()
            .filter_map(|number| self.alone.get(*number)?.as_ref().ok());
        let changes = chosen.iter().filter_map(|number| self.changes.get(*number));
        self.rewriter
            .apply(edits.flatten().cloned().collect(), &changes.collect::<Vec<_>>())
    }

    /// Puts those of `chosen` that can be made into `good`. Not all of them can.
    fn sift(&mut self, chosen: &[usize], good: &mut Vec<usize>, made: &mut [Result<(), &'static str>]) {
        if chosen.len() < 2 {
            return refuse(chosen, NOT_ALONE, made);
        }
        let (first, second) = chosen.split_at(chosen.len() / 2);
        for half in [first, second] {
            let Some(left) = self.tries.checked_sub(1) else {
                refuse(half, NOT_TRIED, made);
                continue;
            };
            self.tries = left;
            if self.text(half).is_some() {
                good.extend_from_slice(half);
            } else {
                self.sift(half, good, made);
            }
        }
    }
}

fn refuse(chosen: &[usize], why: &'static str, made: &mut [Result<(), &'static str>]) {
    for number in chosen {
        if let Some(made) = made.get_mut(*number) {
            *made = Err(why);
        }
    }
}

struct Rewriter<'s> {
    source: &'s Source,
    root: JsonNode,
}

impl Rewriter<'_> {
    fn text(&self, span: Span) -> &str {
        let bytes = self.source.bytes().get(span.range()).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default()
    }

    /// Returns the node at each place of the document.
    fn nodes(&self) -> HashMap<Span, &JsonNode> {
        let (mut nodes, mut left) = (HashMap::new(), vec![&self.root]);
        while let Some(node) = left.pop() {
            nodes.entry(self.source.to_document(node.span)).or_insert(node);
            match &node.value {
                Value::List(list) => left.extend(list),
                Value::Map(members) => left.extend(members.iter().map(|member| &member.node)),
                _ => {}
            }
        }
        nodes
    }

    /// Returns the edits that a change needs.
    fn edits(&self, node: &JsonNode, new: &Json) -> Result<Vec<TextEdit>, &'static str> {
        let mut edits = Vec::new();
        self.replace(node, new, &mut edits)?;
        Ok(edits)
    }

    /// Returns the tree with the new values; `None` if the place of a value is not in the tree, or
    /// lies within another.
    fn wanted(&self, changes: &[&Rewrite]) -> Option<JsonNode> {
        let mut wanted = self.root.clone();
        let mut missing: HashMap<Span, &Json> = changes.iter().map(|change| (change.span, &change.value)).collect();
        let mut left = vec![&mut wanted];
        while let Some(node) = left.pop() {
            if let Some(new) = missing.remove(&self.source.to_document(node.span)) {
                node.value = JsonNode::of_json(&new.to_string()).ok()?.value;
                continue;
            }
            match &mut node.value {
                Value::List(list) => left.extend(list),
                Value::Map(members) => left.extend(members.iter_mut().map(|member| &mut member.node)),
                _ => {}
            }
        }
        missing.is_empty().then_some(wanted)
    }

    /// Replaces a value. Members and elements are replaced one by one if there are as many as
    /// before.
    fn replace(&self, node: &JsonNode, new: &Json, edits: &mut Vec<TextEdit>) -> Result<(), &'static str> {
        match (&node.value, new) {
            (Value::Map(members), Json::Object(map)) if members.iter().all(|member| map.contains_key(&member.name)) => {
                let mut both = members
                    .iter()
                    .filter_map(|member| Some((member, map.get(&member.name)?)));
                both.try_for_each(|(member, value)| self.replace(&member.node, value, edits))
            }
            (Value::List(list), Json::Array(values)) if list.len() == values.len() => {
                let mut both = list.iter().zip(values);
                both.try_for_each(|(node, value)| self.replace(node, value, edits))
            }
            _ if says(node, new) => Ok(()),
            _ => {
                let span = self.source.to_document(node.span);
                let old = self.text(span);
                if old.contains('\n') {
                    return Err(SEVERAL_LINES);
                }
                if old.is_empty() || old.starts_with(['&', '*', '!']) {
                    return Err(NOT_ALONE);
                }
                edits.push((span, self.written(new, old)));
                Ok(())
            }
        }
    }

    /// Returns a value as it is written in place of `old`.
    fn written(&self, new: &Json, old: &str) -> String {
        let is_text = |quote: char| old.trim_start_matches(['[', ' ']).starts_with(quote);
        match new {
            _ if self.source.view().is_none() => new.to_string(),
            Json::Array(list) => {
                let list: Vec<String> = list.iter().map(|value| self.written(value, old)).collect();
                format!("[{}]", list.join(", "))
            }
            Json::String(text) if is_text('\'') => format!("'{}'", text.replace('\'', "''")),
            Json::String(_) if is_text('"') => new.to_string(),
            _ => yaml(new),
        }
    }

    /// Returns the text after some edits, if only the changes make a difference to what it says.
    fn apply(&self, mut edits: Vec<TextEdit>, changes: &[&Rewrite]) -> Option<Vec<u8>> {
        edits.sort_by_key(|(span, _)| (span.start, span.end));
        let bytes = self.source.bytes();
        let (mut text, mut at) = (Vec::with_capacity(bytes.len()), 0);
        for (span, new) in &edits {
            // Fails if two edits overlap.
            text.extend_from_slice(bytes.get(at..span.start)?);
            text.extend_from_slice(new.as_bytes());
            at = span.end;
        }
        text.extend_from_slice(bytes.get(at..)?);
        let wanted = self.wanted(changes)?;
        let mut sources = SourceMap::new();
        let id = sources.add(self.source.name(), text.clone());
        let read = sources.get(id)?;
        Suite::read(read).ok()?;
        let read = JsonNode::of(read).ok()??;
        (sorted(&read) == sorted(&wanted)).then_some(text)
    }
}

/// Returns the JSON of a tree whatever the order of its members. Texts that are numbers count as
/// numbers.
fn sorted(node: &JsonNode) -> Json {
    match &node.value {
        Value::Map(members) => members
            .iter()
            .map(|member| (member.name.clone(), sorted(&member.node)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        Value::List(list) => list.iter().map(sorted).collect(),
        _ => serde_json::from_str(&node.to_json()).unwrap_or_default(),
    }
}

/// Says whether a node has this value already.
fn says(node: &JsonNode, value: &Json) -> bool {
    sorted(node) == *value
}

/// Writes a value as YAML on one line, with quotes where they are needed.
pub fn yaml(value: &Json) -> String {
    match value {
        Json::Array(list) => {
            let list: Vec<String> = list.iter().map(yaml).collect();
            format!("[{}]", list.join(", "))
        }
        Json::Object(map) => {
            let member = |(name, value): (&String, &Json)| format!("{}: {}", yaml_text(name), yaml(value));
            let members: Vec<String> = map.iter().map(member).collect();
            format!("{{{}}}", members.join(", "))
        }
        Json::String(text) => yaml_text(text),
        Json::Null | Json::Bool(_) | Json::Number(_) => value.to_string(),
    }
}

/// Writes a text as YAML, with quotes if they are needed.
pub fn yaml_text(text: &str) -> String {
    match is_plain(text) {
        true => text.to_owned(),
        false => Json::from(text).to_string(),
    }
}

/// Says whether a text needs no quotes in YAML, also between brackets.
fn is_plain(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '/' | '-' | ':');
    let is_word = text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '/')
        && text.chars().all(inner)
        && !text.ends_with(':');
    // Words that YAML, old or new, reads as something else.
    let lower = text.to_ascii_lowercase();
    let is_other = matches!(
        lower.as_str(),
        "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n"
    );
    let is_number = text.starts_with(|c: char| c.is_ascii_digit()) && text.parse::<f64>().is_ok();
    let is_sexagesimal = text.contains(':') && text.chars().all(|c| c.is_ascii_digit() || c == ':');
    is_word && !is_other && !is_number && !is_sexagesimal && !text.starts_with("0x") && !text.starts_with("0o")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const STEPS: &str =
        "steps: # what happens\r\n- pick: {method: /a.B/C}\n  expect: {address: '10.0.0.1:80' , route:  1} # why\n";

    /// Returns the text after the value `old` is replaced, or why it is not.
    fn change(name: &str, text: &str, old: &str, value: Json) -> Result<String, &'static str> {
        let mut sources = SourceMap::new();
        let id = sources.add(name, text.as_bytes().to_vec());
        let start = text.find(old).unwrap();
        let span = Span::new(start, start + old.len());
        let Rewritten { text, made } = rewrite(sources.get(id).unwrap(), &[Rewrite { span, value }]);
        made[0].map(|()| String::from_utf8(text).unwrap())
    }

    #[test]
    fn all_else_stays_as_it_is() {
        assert_eq!(
            change("a.yaml", STEPS, "'10.0.0.1:80'", json!("10.0.0.2:80")),
            Ok(STEPS.replace("0.1:80", "0.2:80"))
        );
        assert_eq!(
            change("a.yaml", STEPS, "'10.0.0.1:80'", json!(["[::1]:80", "10.0.0.2:80"])),
            Ok(STEPS.replace("'10.0.0.1:80'", "['[::1]:80', '10.0.0.2:80']"))
        );
        assert_eq!(
            change("a.yaml", STEPS, "1}", json!("pay")).unwrap_err(),
            NOT_ALONE,
            "no value is there"
        );
        let json = "{\"steps\": [{\"pick\": {}, \"expect\":\n {\"status\":\"OK\"}}]}\n";
        assert_eq!(
            change("a.json", json, "\"OK\"", json!(["OK", "INTERNAL"])),
            Ok(json.replace("\"OK\"", "[\"OK\",\"INTERNAL\"]"))
        );
    }

    #[test]
    fn members_are_replaced_one_by_one() {
        let text =
            "steps:\n- expect:\n    states:\n      channel: IDLE # at first\n      # and\n      10.0.0.1:80: none\n";
        let value = json!({"channel": "READY", "10.0.0.1:80": "none"});
        let old = "channel: IDLE # at first\n      # and\n      10.0.0.1:80: none";
        let mut sources = SourceMap::new();
        let id = sources.add("a.yaml", text.as_bytes().to_vec());
        let source = sources.get(id).unwrap();
        let suite = Suite::read(source).unwrap();
        let span = suite.tests[0].steps[0].expect[0].value;
        assert!(old.starts_with(&text[span.range()][..7]));
        let Rewritten { text: new, made } = rewrite(source, &[Rewrite { span, value }]);
        assert_eq!(made, [Ok(())]);
        assert_eq!(String::from_utf8(new).unwrap(), text.replace("IDLE", "READY"));
    }

    #[test]
    fn what_would_change_more_is_not_changed() {
        let shared = "steps:\n- {pick: {}, expect: {address: &a 10.0.0.1:80}}\n- {pick: {}, expect: {address: *a}}\n";
        assert_eq!(
            change("a.yaml", shared, "10.0.0.1:80", json!("10.0.0.2:80")),
            Err(NOT_ALONE)
        );
        let lines = "steps:\n- pick: {}\n  expect:\n    address: [10.0.0.1:80,\n      10.0.0.2:80]\n";
        assert_eq!(
            change(
                "a.yaml",
                lines,
                "[10.0.0.1:80,\n      10.0.0.2:80]",
                json!("10.0.0.2:80")
            ),
            Err(SEVERAL_LINES)
        );
    }

    #[test]
    fn one_that_cannot_be_changed_does_not_keep_the_others() {
        // The last step is an alias of the third, so the third cannot be changed alone.
        let steps: String = (0..9)
            .map(|number| {
                let step = format!("{{pick: {{}}, expect: {{address: 10.0.0.{number}:80}}}}");
                match number {
                    2 => format!("- &a {step}\n"),
                    8 => "- *a\n".to_owned(),
                    _ => format!("- {step}\n"),
                }
            })
            .collect();
        let text = format!("steps:\n{steps}");
        let mut sources = SourceMap::new();
        let id = sources.add("a.yaml", text.clone().into_bytes());
        let source = sources.get(id).unwrap();
        let change = |number: usize| {
            let old = format!("10.0.0.{number}:80");
            let start = text.find(&old).unwrap();
            Rewrite {
                span: Span::new(start, start + old.len()),
                value: json!("10.0.1.1:80"),
            }
        };
        let changes: Vec<Rewrite> = (0..8).map(change).collect();
        let made = |rewritten: &Rewritten| -> Vec<bool> { rewritten.made.iter().map(Result::is_ok).collect() };
        let rewritten = rewrite(source, &changes);
        assert_eq!(made(&rewritten), [true, true, false, true, true, true, true, true]);
        let new = String::from_utf8(rewritten.text).unwrap();
        assert_eq!(
            (new.matches("10.0.1.1:80").count(), new.contains("10.0.0.2:80")),
            (7, true)
        );
        assert_eq!(rewritten.made[2], Err(NOT_ALONE));
        // Halves, quarters, and each of two: six tries are enough, five are not.
        let rewritten = rewrite_within(source, &changes, 6 * text.len());
        assert_eq!(made(&rewritten), [true, true, false, true, true, true, true, true]);
        let rewritten = rewrite_within(source, &changes, 5 * text.len());
        assert_eq!(made(&rewritten), [true, true, false, true, false, false, false, false]);
        assert_eq!(rewritten.made[4..], [Err(NOT_TRIED); 4]);
    }

    #[test]
    fn quotes_are_there_where_they_are_needed() {
        for text in ["pay", "10.0.0.1:80", "eu/a", "/shop.Pay/Charge", "rds-x", "1..3"] {
            assert!(is_plain(text), "{text}");
        }
        for text in [
            "", "1", "1.5", "1e3", "0x1f", "no", "Null", "a: b", "a#b", "-", "a,b", "[a]", "a:", "12:30", "~", "é",
        ] {
            assert!(!is_plain(text), "{text}");
        }
    }
}
