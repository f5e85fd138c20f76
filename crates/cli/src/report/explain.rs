//! What `explain` prints: one rule's page, or the list of rules.

use std::io::{self, Write};

use comfy_table::Table;
use serde::Serialize;

use xdsctl::catalogue;
use xdsctl::diag::Rule;

/// Writes a rule's page with its head.
///
/// # Errors
/// Those of `out`.
pub fn write_rule(rule: &Rule, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "# {}", rule.id)?;
    writeln!(out)?;
    writeln!(out, "{}", rule.summary.trim())?;
    writeln!(out)?;
    writeln!(
        out,
        "about: {}; effect: {}; severity: {}; source: {}",
        rule.subject.name(),
        rule.effect,
        rule.severity,
        rule.source
    )?;
    writeln!(out)?;
    writeln!(out, "{}", rule.page.trim_end())
}

/// Writes a table of all rules, grouped by subject; summaries are wrapped if there is a width.
///
/// # Errors
/// Those of `out`.
pub fn write_list(width: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    let mut rules: Vec<_> = catalogue::rules().collect();
    rules.sort_by_key(|r| (r.subject, r.effect, r.id));
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_content_arrangement(comfy_table::ContentArrangement::Dynamic);
    table.set_width(width.and_then(|columns| columns.try_into().ok()).unwrap_or(u16::MAX));
    table.set_header(["RULE", "EFFECT", "SUMMARY"]);
    // Ids stay in one piece, so that they can be searched for and copied; the summary is wrapped.
    for column in table.column_iter_mut().take(2) {
        column.set_constraint(comfy_table::ColumnConstraint::ContentWidth);
    }
    let mut subject = None;
    for rule in rules {
        if subject.replace(rule.subject) != Some(rule.subject) {
            table.add_row([""]);
            table.add_row([rule.subject.name()]);
        }
        let effect = if rule.severity == rule.effect.severity() {
            rule.effect.name().to_owned()
        } else {
            format!("{} ({})", rule.effect, rule.severity)
        };
        table.add_row([rule.id, &effect, rule.summary.trim()]);
    }
    for line in table.to_string().lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

#[derive(Serialize)]
struct RuleRow {
    id: &'static str,
    about: &'static str,
    effect: &'static str,
    severity: &'static str,
    summary: &'static str,
    source: &'static str,
    page: &'static str,
}

/// Writes rules as JSON, schema `xdsctl.rules/v1`.
///
/// # Errors
/// Those of `out`.
pub fn write_json(rules: &[&'static Rule], out: &mut dyn Write) -> io::Result<()> {
    let rows: Vec<RuleRow> = rules
        .iter()
        .map(|rule| RuleRow {
            id: rule.id,
            about: rule.subject.name(),
            effect: rule.effect.name(),
            severity: rule.severity.name(),
            summary: rule.summary.trim(),
            source: rule.source,
            page: rule.page,
        })
        .collect();
    let document = serde_json::json!({ "schema": "xdsctl.rules/v1", "rules": rows });
    serde_json::to_writer_pretty(&mut *out, &document)?;
    out.write_all(b"\n")
}
