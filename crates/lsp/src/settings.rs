//! `xdsctl.toml` and files of policies: completion and explanation of settings, and the ids of
//! rules.

use lsp_types::CompletionItemKind;

use crate::completion::{Item, of_rules};
use crate::view::DocumentView;
use xdsctl_document::source::Span;
use xdsctl_lint::catalogue;
use xdsctl_model::diag::{Effect, Severity};
use xdsctl_model::profile::Family;
use xdsctl_policy::Element;

/// The keys of a table, each with its explanation.
type Keys = &'static [(&'static str, &'static str)];

/// The keys of a policy, with their explanations.
static POLICY: Keys = &[
    (
        "id",
        "Its name: small letters, digits and hyphens, one hyphen at least.",
    ),
    ("match", "What is looked at: each of these that a client keeps."),
    ("resource", "Only in resources of this name; `*` is any text."),
    (
        "target",
        "Only what the listeners of this name lead to; `*` is any text.",
    ),
    (
        "expression",
        "What must be true, in CEL: of `parsed`, `world` and `resource`.",
    ),
    (
        "variables",
        "A list of {name, expression}: `variables.NAME` is the value, for the expressions after it.",
    ),
    ("message", "What is said if the expression is false."),
    ("messageExpression", "The message as an expression."),
    ("severity", "How loud a finding is."),
    ("help", "What the reader can do."),
    ("page", "Why there is the policy, for `xdsctl explain`."),
];

/// The keys of a policy's case, with their explanations.
static CASE: Keys = &[
    ("name", "Its name."),
    ("yaml", "The resources of the case."),
    ("files", "Files with the resources, from the directory of this one."),
    (
        "at",
        "All places where the policy finds something; \"\" is the resource as a whole. In rejected cases.",
    ),
    ("message", "A part of a message. In rejected cases."),
    ("client", "Who looks at the resources."),
];

/// The keys of a policy's variable, with their explanations.
static VARIABLE: Keys = &[
    ("name", "`variables.NAME` is its value, for the expressions after it."),
    ("expression", "Its value, in CEL."),
];

/// The tables of a policy, each with its explanation and its keys.
static OF_POLICY: &[(&str, &str, Keys)] = &[
    (
        "policy",
        "A rule of your own, in CEL, about what a client keeps (docs/policies.md).",
        POLICY,
    ),
    ("policy.accepted", "Resources in which the policy finds nothing.", CASE),
    (
        "policy.rejected",
        "Resources in which the policy finds something.",
        CASE,
    ),
    ("policy.variables", "A value for the expressions after it.", VARIABLE),
];

/// Returns the keys of a table of a policy.
fn of_policy(table: &str) -> Option<Keys> {
    let found = OF_POLICY.iter().find(|(name, ..)| *name == table);
    found.map(|(.., keys)| *keys)
}

/// Says whether a document has settings or policies.
pub fn is_settings(name: &str) -> bool {
    name.ends_with(".toml")
}

/// A setting of the template.
#[derive(Debug, PartialEq, Eq)]
struct Explained<'t> {
    /// The table of the setting; empty for settings without one, and for tables themselves.
    table: &'t str,
    key: &'t str,
    /// The comment above the setting or above its table.
    comment: String,
}

/// Returns the settings of the template, in its order. Settings right below another one share its
/// comment.
fn explained(template: &str) -> Vec<Explained<'_>> {
    let mut explained: Vec<Explained<'_>> = Vec::new();
    let mut comment = String::new();
    let mut table = "";
    for line in template.lines() {
        let Some(text) = line.strip_prefix("# ") else {
            comment.clear();
            table = "";
            continue;
        };
        let head = text.trim_start_matches('[').trim_end_matches(']');
        let is_table = text.starts_with('[') && text.ends_with(']');
        let key = match is_table {
            true => Some(head),
            false => text.split_once(" = ").map(|(key, _)| key.trim()),
        };
        match key.filter(|key| key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')) {
            Some(key) => {
                explained.push(Explained {
                    table,
                    key,
                    comment: comment.clone(),
                });
                if is_table {
                    table = head;
                }
            }
            // An example whose key is in quotes is not part of the comment.
            None if !table.is_empty() => {}
            None => {
                if !comment.is_empty() {
                    comment.push(' ');
                }
                comment.push_str(text);
            }
        }
    }
    explained
}

/// Returns the key of a line, and its offset in the line.
fn key_of(line: &str) -> Option<(usize, &str)> {
    let key = line.split_once('=').map_or(line, |(key, _)| key);
    let name = key.trim().trim_matches(['"', '[', ']']);
    let at = line.find(name)?;
    (!name.is_empty()).then_some((at, name))
}

/// Explains the setting at a byte, and returns the span of its key.
pub fn hover(view: &DocumentView<'_>, offset: usize) -> Option<(String, Span)> {
    if !is_settings(view.source.name()) {
        return None;
    }
    let text = std::str::from_utf8(view.source.bytes()).ok()?;
    let start = text.get(..offset)?.rfind('\n').map_or(0, |at| at + 1);
    let line = text.get(start..)?.lines().next()?;
    let (at, key) = key_of(line)?;
    let span = Span::new(start + at, start + at + key.len());
    if let Some(rule) = line.split('"').chain([key]).find_map(catalogue::find) {
        return Some((
            format!("**{}** ({}): {}", rule.id, rule.effect, rule.summary.trim()),
            span,
        ));
    }
    let table = table_above(text.get(..start)?);
    let of_table = of_policy(table).into_iter().flatten().find(|(name, _)| *name == key);
    let whole = OF_POLICY
        .iter()
        .find(|(name, ..)| *name == key)
        .map(|(_, meaning, _)| *meaning);
    if let Some(meaning) = of_table.map(|(_, meaning)| *meaning).or(whole) {
        return Some((format!("**{key}**: {meaning}"), span));
    }
    let settings = explained(view.snapshot.template);
    let found = settings.into_iter().find(|setting| setting.key == key)?;
    Some((format!("**{key}**: {}", found.comment), span))
}

/// Returns the table that applies to the line after a text.
fn table_above(above: &str) -> &str {
    let table = above.lines().rev().find(|line| line.trim_start().starts_with('['));
    table.unwrap_or_default().trim().trim_matches(['[', ']'])
}

/// Returns what may be written at a byte of the settings.
pub fn complete(view: &DocumentView<'_>, text: &str, at: usize) -> Vec<Item> {
    let before = text.get(..at).unwrap_or_default();
    let (above, line) = before.rsplit_once('\n').unwrap_or(("", before));
    let table = table_above(above);
    let is_file_of_policies = !view.source.name().ends_with("xdsctl.toml");
    let is_value = line.contains('=');
    let settings = explained(view.snapshot.template).into_iter();
    let is_quoted = before.ends_with('"');
    let word = |word: &str| {
        let text = if is_quoted {
            word.to_owned()
        } else {
            format!("\"{word}\"")
        };
        Item {
            text,
            ..Item::value(word, "")
        }
    };
    let severities = || [Severity::Error, Severity::Warning, Severity::Note].map(Severity::name);
    let key = line.split('=').next().unwrap_or_default().trim();
    match (table, is_value) {
        ("rules", false) => rules(),
        ("rules", true) => severities().into_iter().chain(["off"]).map(word).collect(),
        ("ignore", true) if key == "rule" => rules(),
        ("policy", true) if key == "severity" => severities().map(word).into(),
        ("policy", true) if key == "match" => Element::ALL.map(|element| word(element.name())).into(),
        ("", true) if key == "clients" => clients().map(word).collect(),
        ("policy.accepted" | "policy.rejected", true) if key == "client" => clients().map(word).collect(),
        ("", true) if key == "complete" => ["true", "false"].map(|value| Item::value(value, "")).into(),
        ("", true) => {
            // The possible values are those in quotes in the comment.
            let setting = settings
                .into_iter()
                .find(|setting| setting.table.is_empty() && setting.key == key);
            let comment = setting.map(|setting| setting.comment).unwrap_or_default();
            let quoted = comment.split('"').skip(1).step_by(2);
            quoted.filter(|text| !text.contains(',')).map(word).collect()
        }
        (_, true) => Vec::new(),
        (table, false) if of_policy(table).is_some() => {
            let keys = of_policy(table).unwrap_or_default();
            let items = keys
                .iter()
                .map(|(key, meaning)| property(key, format!("{key} = "), meaning));
            let tables = OF_POLICY.iter();
            let tables = tables.map(|(name, meaning, _)| property(name, format!("[[{name}]]\n"), meaning));
            items.chain(tables).collect()
        }
        ("", false) if is_file_of_policies => {
            let policy = OF_POLICY.iter().take(1);
            policy
                .map(|(name, meaning, _)| property(name, format!("[[{name}]]\n"), meaning))
                .collect()
        }
        (table, false) => {
            let is_table = |name: &str| view.snapshot.template.contains(&format!("# [{name}]"));
            let is_list = |name: &str| view.snapshot.template.contains(&format!("# [[{name}]]"));
            let items = settings.filter(|setting| setting.table == table).map(|setting| {
                let key = setting.key;
                let text = match (is_list(key), is_table(key)) {
                    (true, _) => format!("[[{key}]]\n"),
                    (false, true) => format!("[{key}]\n"),
                    (false, false) => format!("{key} = "),
                };
                property(key, text, &setting.comment)
            });
            items.collect()
        }
    }
}

fn property(key: &str, text: String, meaning: &str) -> Item {
    Item {
        kind: CompletionItemKind::PROPERTY,
        text,
        ..Item::value(key, meaning)
    }
}

fn clients() -> impl Iterator<Item = &'static str> {
    Family::ALL.into_iter().map(Family::name)
}

fn rules() -> Vec<Item> {
    let effects = Effect::ALL
        .into_iter()
        .map(|effect| Item::value(effect.name(), "every rule with this effect"));
    of_rules().into_iter().chain(effects).collect()
}

#[cfg(test)]
mod tests {
    use super::{Explained, explained};

    #[test]
    fn the_comment_above_a_setting_explains_it() {
        let template = "# What it is.\n# And more.\n# bootstrap = \"b\"\n\n# Rules.\n# [rules]\n# cds = 1\n\n# Last.\n# last = 1\n";
        let found = explained(template);
        let setting = |table, key, comment: &str| Explained {
            table,
            key,
            comment: comment.to_owned(),
        };
        assert_eq!(
            found,
            [
                setting("", "bootstrap", "What it is. And more."),
                setting("", "rules", "Rules."),
                setting("rules", "cds", "Rules."),
                setting("", "last", "Last."),
            ]
        );
    }
}
