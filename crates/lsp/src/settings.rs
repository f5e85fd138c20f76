//! `xdsctl.toml`: its settings with what they mean, and the ids of rules.

use lsp_types::CompletionItemKind;

use crate::completion::{Item, of_rules};
use crate::view::DocumentView;
use xdsctl_document::source::Span;
use xdsctl_lint::catalogue;
use xdsctl_model::diag::{Effect, Severity};

/// A setting of the template: its key, and the comment above it.
fn explained(template: &str) -> Vec<(&str, String)> {
    let mut explained = Vec::new();
    let mut comment = String::new();
    for line in template.lines() {
        let Some(text) = line.strip_prefix("# ") else {
            comment.clear();
            continue;
        };
        let key = text.split_once(" = ").map(|(key, _)| key.trim()).or_else(|| {
            let table = text.trim_start_matches('[').trim_end_matches(']');
            (text.starts_with('[') && text.ends_with(']')).then_some(table)
        });
        match key.filter(|key| key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')) {
            Some(key) => explained.push((key, comment.clone())),
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

/// The key of a line, with its place in the line.
fn key_of(line: &str) -> Option<(usize, &str)> {
    let key = line.split_once('=').map_or(line, |(key, _)| key);
    let name = key.trim().trim_matches(['"', '[', ']']);
    let at = line.find(name)?;
    (!name.is_empty()).then_some((at, name))
}

/// What a setting means, and where its key stands.
pub fn hover(view: &DocumentView<'_>, offset: usize) -> Option<(String, Span)> {
    if !view.source.name().ends_with("xdsctl.toml") {
        return None;
    }
    let text = std::str::from_utf8(view.source.bytes()).ok()?;
    let start = text.get(..offset)?.rfind('\n').map_or(0, |at| at + 1);
    let line = text.get(start..)?.lines().next()?;
    let (at, key) = key_of(line)?;
    let span = Span::new(start + at, start + at + key.len());
    if let Some(rule) = line.split('"').find_map(catalogue::find) {
        return Some((
            format!("**{}** ({}): {}", rule.id, rule.effect, rule.summary.trim()),
            span,
        ));
    }
    let settings = explained(view.snapshot.template);
    let (_, comment) = settings.into_iter().find(|(name, _)| *name == key)?;
    Some((format!("**{key}**: {comment}"), span))
}

/// What may be written at a byte of the settings.
pub fn complete(view: &DocumentView<'_>, text: &str, at: usize) -> Vec<Item> {
    let before = text.get(..at).unwrap_or_default();
    let (above, line) = before.rsplit_once('\n').unwrap_or(("", before));
    let table = above.lines().rev().find(|line| line.trim_start().starts_with('['));
    let table = table.unwrap_or_default().trim().trim_matches(['[', ']']);
    let is_value = line.contains('=');
    match (table, is_value) {
        ("rules", false) => rules(),
        ("rules", true) => {
            let words = [Severity::Error, Severity::Warning, Severity::Note].map(Severity::name);
            words
                .into_iter()
                .chain(["off"])
                .map(|word| Item::value(word, ""))
                .collect()
        }
        ("ignore", true) if line.trim_start().starts_with("rule") => rules(),
        (_, true) => Vec::new(),
        (table, false) => {
            let of_ignore = ["rule", "resource", "path", "file", "reason", "until"];
            let settings = explained(view.snapshot.template);
            let settings = settings
                .into_iter()
                .filter(|(key, _)| of_ignore.contains(key) == (table == "ignore"));
            let items = settings.map(|(key, comment)| Item {
                kind: CompletionItemKind::PROPERTY,
                text: format!("{key} = "),
                ..Item::value(key, &comment)
            });
            items.collect()
        }
    }
}

fn rules() -> Vec<Item> {
    let effects = Effect::ALL
        .into_iter()
        .map(|effect| Item::value(effect.name(), "every rule with this effect"));
    of_rules().into_iter().chain(effects).collect()
}

#[cfg(test)]
mod tests {
    use super::explained;

    #[test]
    fn the_comment_above_a_setting_explains_it() {
        let template = "# What it is.\n# And more.\n# bootstrap = \"b\"\n\n# Rules.\n# [rules]\n";
        let found = explained(template);
        assert_eq!(
            found,
            [
                ("bootstrap", "What it is. And more.".to_owned()),
                ("rules", "Rules.".to_owned())
            ]
        );
    }
}
