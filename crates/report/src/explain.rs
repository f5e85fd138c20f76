//! What `explain` prints: one rule's page, the list of rules, or what a line of a log means.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::Serialize;

use crate::edge::visible_line;
use crate::examples;
use crate::wrap::wrapped;
use xdsctl_lint::recognise::{AtServer, Lead, LogPlace, Page, Recognised, Summary, Symptom};
use xdsctl_model::diag::{Effect, Rule, SharedBy};
use xdsctl_model::profile::Family;
use xdsctl_model::resource::ResourceType;

/// Writes a rule's page with its head. The text is wrapped if there is a width.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_rule(rule: &'static Rule, width: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    let head = format!(
        "{}\n\nabout: {}; effect: {}; severity: {}; source: {}",
        rule.summary.trim(),
        rule.subject.name(),
        rule.effect,
        rule.severity,
        rule.source
    );
    writeln!(out, "# {}\n", rule.id)?;
    page(&head, width, out)?;
    let clients = examples::clients(rule);
    if let Some(words) = shared(rule) {
        page(&words, width, out)?;
    }
    if !clients.is_empty() {
        page(
            &format!("clients, with the first rejected example: {clients}"),
            width,
            out,
        )?;
    }
    writeln!(out)?;
    page(page_of(rule).trim_end(), width, out)
}

/// Names the other families for which a finding of C-core's is reported, and says why.
fn shared(rule: &Rule) -> Option<String> {
    let SharedBy { families, why } = rule.shared;
    let names: Vec<&str> = families.iter().map(|family| family.name()).collect();
    match names.len() {
        0 => None,
        all if all == Family::ALL.len() => Some(format!("reported for every client: {why}")),
        _ => Some(format!("reported for {} too: {why}", names.join(", "))),
    }
}

/// Writes the text of a page: an empty line before each title, paragraphs wrapped to the width,
/// examples unchanged.
fn page(text: &str, width: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    let mut is_example = false;
    // The paragraph so far, as one line.
    let mut paragraph = String::new();
    let mut before = "";
    for line in text.lines() {
        let is_fence = line.starts_with("```");
        let is_apart = is_example || is_fence || line.is_empty() || line.starts_with(['#', '-', '|']);
        if is_apart || width.is_none() {
            flow(&mut paragraph, width, out)?;
        }
        if !is_example && line.starts_with('#') && !before.is_empty() {
            writeln!(out)?;
        }
        // An item of a list may continue in the next line.
        if is_example || is_apart && !line.starts_with('-') {
            writeln!(out, "{line}")?;
        } else {
            if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph += line.trim_start();
        }
        is_example ^= is_fence;
        before = line;
    }
    flow(&mut paragraph, width, out)
}

/// Writes a paragraph, if there is one, and empties it.
fn flow(paragraph: &mut String, width: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    if paragraph.is_empty() {
        return Ok(());
    }
    let indent = if paragraph.starts_with('-') { "  " } else { "" };
    writeln!(out, "{}", wrapped(paragraph, width, indent).trim_end())?;
    paragraph.clear();
    Ok(())
}

/// Writes a table of all rules, grouped by subject. Summaries are wrapped if there is a width.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_list(mut rules: Vec<&'static Rule>, width: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    rules.sort_by_key(|r| (r.subject, r.effect, r.id));
    let mut table = crate::table(width, &["RULE", "EFFECT", "SUMMARY"]);
    // Ids are not broken, so that they can be searched for and copied; the summary is wrapped.
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
    crate::write_table(&table, out)
}

#[derive(Serialize)]
struct RuleRow {
    id: &'static str,
    about: &'static str,
    effect: &'static str,
    severity: &'static str,
    summary: &'static str,
    source: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    clients: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    shared: Option<String>,
    page: Cow<'static, str>,
}

/// Returns the page of a rule. If the rule rejects nothing, the titles of the examples name its
/// effect.
fn page_of(rule: &'static Rule) -> Cow<'static, str> {
    match rule.effect {
        Effect::Nack => rule.page.into(),
        _ => rule
            .page
            .replace("\n## Rejected\n", "\n## Reported\n")
            .replace("\n## Accepted\n", "\n## Not reported\n")
            .into(),
    }
}

/// Writes symptoms and rules as JSON, schema `xdsctl.rules/v1`.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_json(symptoms: &[&Symptom], rules: &[&'static Rule], out: &mut dyn Write) -> io::Result<()> {
    let rows: Vec<RuleRow> = rules
        .iter()
        .map(|rule| RuleRow {
            id: rule.id,
            about: rule.subject.name(),
            effect: rule.effect.name(),
            severity: rule.severity.name(),
            summary: rule.summary.trim(),
            source: rule.source,
            clients: match rules {
                [rule] => examples::clients(rule),
                _ => String::new(),
            },
            shared: shared(rule),
            page: page_of(rule),
        })
        .collect();
    let mut document = serde_json::json!({ "schema": "xdsctl.rules/v1", "rules": rows });
    if !symptoms.is_empty() {
        let row = |symptom: &&Symptom| serde_json::json!({ "id": symptom.id, "summary": symptom.summary(), "page": symptom.page });
        document["symptoms"] = symptoms.iter().map(row).collect();
    }
    crate::write_json(&document, out)
}

/// Writes a symptom's page with its head. The text is wrapped if there is a width.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_symptom(symptom: &Symptom, width: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "# {}\n", symptom.id)?;
    page(symptom.page.trim_end(), width, out)
}

/// Writes what a line reports. If that is one thing with one page, parts of the page follow.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_told(told: &[Recognised], width: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    for one in told {
        write_one(one, out)?;
    }
    write_end(told.iter(), width, out)
}

/// Writes the faults of a log, each with the number of its messages and their places. If there is
/// only one fault with one page, parts of the page follow.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_log(faults: &[Summary], width: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    for fault in faults {
        write_one(&fault.told, out)?;
        let seen = match fault.count {
            1 => format!("once, in {}", place(&fault.first)),
            count => format!(
                "{count} times, first in {}, last in {}",
                place(&fault.first),
                place(&fault.last)
            ),
        };
        writeln!(out, "    seen {}", visible_line(&seen))?;
    }
    write_end(faults.iter().map(|fault| &fault.told), width, out)
}

/// Describes a place in a log: `line 3 (10:00:05)`.
fn place(seen: &LogPlace) -> String {
    let line = seen.line;
    match &seen.time {
        Some(time) => format!("line {line} ({})", time.trim()),
        None => format!("line {line}"),
    }
}

/// Writes one thing that a line reports, the pages that it leads to, and the words that led there.
fn write_one(one: &Recognised, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", visible_line(&what(one)))?;
    for (number, lead) in one.pages.iter().enumerate() {
        let arrow = if number == 0 { "→" } else { "  or" };
        let effect = match lead.page {
            Page::Rule(rule) => format!(" ({})", rule.effect),
            Page::Symptom(_) => String::new(),
        };
        writeln!(out, "  {arrow} {}{effect}: {}", lead.id(), lead.page.summary())?;
        writeln!(out, "    by {}", visible_line(&stands_on(lead)))?;
    }
    if one.more > 0 {
        let more = one.more;
        writeln!(
            out,
            "    and {more} more with these words: the field path of the line tells which"
        )?;
    }
    if one.pages.is_empty() {
        let near: Vec<&str> = one.near.iter().map(|page| page.id()).collect();
        let near = if near.is_empty() {
            String::new()
        } else {
            format!(
                "; the words, at another path or in a line of gRPC, are those of {}",
                near.join(", ")
            )
        };
        writeln!(out, "  not recognised{near}")?;
    }
    let writer = one.writer.filter(|writer| *writer != Family::REFERENCE);
    if let Some(writer) = writer.filter(|_| !one.pages.is_empty()) {
        writeln!(out, "    written by {}", writer.project())?;
    }
    Ok(())
}

/// Returns the words that led to a page: `` `not ads or self` at `eds_config` ``.
fn stands_on(lead: &Lead) -> String {
    let words = lead.words.join(" … ");
    match &lead.tail {
        Some(tail) => format!("`{words}` at `{tail}`"),
        None => format!("`{words}`"),
    }
}

/// The sections of a page that say what happens and what to do. They are for users who have a line
/// and did not ask for the page.
const SHORT: [&str; 4] = ["What the client does", "Clients", "Why", "Where to look"];

/// The section that explains a server's lines.
const AT_SERVER: &str = "In a server's log";

/// Writes the short form of the page if one thing with one page was reported, and how to get pages
/// and places.
fn write_end<'t>(
    mut told: impl Iterator<Item = &'t Recognised>,
    width: Option<usize>,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out)?;
    let mut id = "ID";
    let first = told.next();
    let mut others = told.peekable();
    let is_one = others.peek().is_none();
    let writer = first.and_then(|one| one.writer);
    let is_theirs = writer != Some(Family::REFERENCE) && others.all(|one| one.writer == writer);
    let client = writer.filter(|_| is_theirs);
    let client = client.map_or_else(String::new, |family| format!(" --client {family}"));
    if let Some(one) = first.filter(|_| is_one)
        && let [lead] = one.pages.as_slice()
    {
        id = lead.id();
        let text = match lead.page {
            Page::Rule(rule) => rule.page,
            Page::Symptom(symptom) => symptom.page,
        };
        page(&short(text, one.server.is_some()), width, out)?;
        writeln!(out)?;
    }
    if let Some(at_server) = first.and_then(|one| one.server.as_ref()) {
        writeln!(out, "{}", admit(at_server, &client))?;
    }
    writeln!(
        out,
        "`xdsctl explain {id}` prints a page; `xdsctl validate{client} --explain-error LINE DUMP` shows the place in a dump"
    )
}

/// Returns the command by which `admit` can be asked about the connection or RPC of a server's
/// line. Values that the line does not have are in capitals.
fn admit(told: &AtServer, client: &str) -> String {
    let AtServer {
        listen,
        from,
        to,
        method,
        authority,
        policy,
        is_over_tls,
        shows_certificate,
    } = told;
    let mut command = format!(
        "xdsctl admit{client} --listen {}",
        listen.as_deref().unwrap_or("HOST:PORT")
    );
    command += &format!(" --from {}", from.as_deref().unwrap_or("IP"));
    if let Some(to) = to {
        command += &format!(" --to {to}");
    }
    if *is_over_tls {
        command += " --over-tls";
    }
    if *shows_certificate {
        command += " --certificate FILE --roots FILE";
    }
    let is_connection = (from.is_some() || *is_over_tls) && method.is_none() && authority.is_none();
    if !is_connection {
        command += &format!(" --method {}", method.as_deref().unwrap_or("/PKG.SERVICE/METHOD"));
    }
    if let Some(authority) = authority {
        command += &format!(" --authority {authority}");
    }
    let why = match policy {
        Some(policy) => format!("shows how policy `{policy}` decides"),
        None if is_connection => "shows what becomes of the connection".to_owned(),
        None => "shows what becomes of a connection and an RPC".to_owned(),
    };
    visible_line(&format!("`{command} --bootstrap FILE DUMP` {why}")).into_owned()
}

/// Returns the sections of a page that are [`SHORT`]. For a server's line, the section about
/// servers replaces the one about clients.
fn short(text: &str, is_servers: bool) -> String {
    let is_for_both = is_servers && text.lines().any(|line| line.strip_prefix("## ") == Some(AT_SERVER));
    let mut is_shown = false;
    let lines = text.lines().filter(|line| {
        if let Some(title) = line.strip_prefix("## ") {
            is_shown = match is_for_both {
                true => title == AT_SERVER || SHORT.contains(&title) && title != SHORT[0],
                false => SHORT.contains(&title),
            };
        }
        is_shown
    });
    let lines: Vec<&str> = lines.collect();
    lines.join("\n").trim_end().to_owned()
}

/// Describes one thing that a line reports, on one line.
fn what(one: &Recognised) -> String {
    let kind = one.resource_type.map_or("resource", ResourceType::short_name);
    let resource = match (&one.resource_name, one.resource_type) {
        (Some(name), _) => format!("{kind} `{name}`: "),
        (None, Some(_)) => format!("{kind}: "),
        (None, None) => String::new(),
    };
    let at = one
        .path
        .as_ref()
        .map_or_else(String::new, |path| format!(", at {path}"));
    format!("{resource}{}{at}", one.words)
}

/// Writes what a line reports as JSON, schema `xdsctl.told/v1`.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_told_json(told: &[Recognised], out: &mut dyn Write) -> io::Result<()> {
    write_rows(told.iter().map(row).collect(), out)
}

/// Writes the faults of a log as JSON, schema `xdsctl.told/v1`, with `count`, `first` and `last`.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_log_json(faults: &[Summary], out: &mut dyn Write) -> io::Result<()> {
    let seen = |seen: &LogPlace| serde_json::json!({ "line": seen.line, "time": seen.time.as_deref().map(str::trim) });
    let rows = faults.iter().map(|fault| {
        let mut row = row(&fault.told);
        row["count"] = fault.count.into();
        row["first"] = seen(&fault.first);
        row["last"] = seen(&fault.last);
        row
    });
    write_rows(rows.collect(), out)
}

fn write_rows(rows: Vec<serde_json::Value>, out: &mut dyn Write) -> io::Result<()> {
    let document = serde_json::json!({ "schema": "xdsctl.told/v1", "told": rows });
    crate::write_json(&document, out)
}

/// Returns one thing that a line reports as JSON.
fn row(one: &Recognised) -> serde_json::Value {
    let page = |page: Page| {
        let effect = match page {
            Page::Rule(rule) => Some(rule.effect.name()),
            Page::Symptom(_) => None,
        };
        serde_json::json!({ "id": page.id(), "effect": effect, "summary": page.summary() })
    };
    let lead = |lead: &Lead| {
        let mut row = page(lead.page);
        row["words"] = lead.words.clone().into();
        row["at"] = lead.tail.clone().into();
        row
    };
    serde_json::json!({
        "type": one.resource_type.map(ResourceType::type_name),
        "name": one.resource_name,
        "path": one.path,
        "words": one.words,
        "pages": one.pages.iter().map(lead).collect::<Vec<_>>(),
        "more": one.more,
        "client": one.writer.map(Family::name),
        "server": one.server,
        "near": one.near.iter().copied().map(page).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::page;

    #[test]
    fn a_page_is_wrapped_between_words_and_examples_are_left_alone() {
        let text = "## Why\nThe first line of text\nand its second.\n- an item that is long\n## Rejected\n```yaml\n# expect: a\nname: a name that is long\n```\n| a | table that is long |";
        let written = |width| {
            let mut out = Vec::new();
            page(text, width, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let example =
            "\n## Rejected\n```yaml\n# expect: a\nname: a name that is long\n```\n| a | table that is long |\n";
        assert_eq!(
            written(Some(16)),
            format!("## Why\nThe first line\nof text and its\nsecond.\n- an item that\n  is long\n{example}")
        );
        assert_eq!(
            written(None),
            format!("{}\n", text.replace("\n## Rejected", "\n\n## Rejected"))
        );
    }
}
