//! `--format human`: findings with their source snippet, grouped and capped so that a thousand equal ones stay readable.
//!
//! Rendering is miette's; the snippet is a window of a few lines, never the whole document. Errors come first, then
//! warnings; notes are one line per rule unless asked for.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::rc::Rc;

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, SourceSpan, SpanContents};

use super::edge::{marked, visible, visible_line};
use super::resolve::Report;
use super::{Finding, Place, Summary, Verdict};
use xdsctl::client::is_live;
use xdsctl::diag::{FieldPath, Severity};

/// How the report is to look.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// ANSI colours.
    pub colour: bool,
    /// Box drawing characters.
    pub unicode: bool,
    /// Columns of the terminal.
    pub width: usize,
    /// Quieter findings are counted, not shown.
    pub min_severity: Severity,
    /// Show every finding, also the thousandth of its kind and those of folded worlds.
    pub all: bool,
}

impl Default for Style {
    fn default() -> Self {
        Style {
            colour: false,
            unicode: true,
            width: 100,
            min_severity: Severity::Warning,
            all: false,
        }
    }
}

/// Findings of one rule that are shown in full.
const SHOWN_PER_RULE: usize = 5;

/// Findings that are shown in full in all.
const SHOWN_IN_ALL: usize = 60;

/// Names listed in a line that stands for many findings.
const NAMED_IN_GROUP: usize = 6;

/// Longest path that is printed, in characters; the middle of a longer one is left out.
const MAX_PATH_CHARS: usize = 400;

/// Writes the report.
///
/// Returns the counts.
///
/// # Errors
/// Those of `out`.
pub fn write(mut report: Report<'_>, style: Style, out: &mut dyn Write) -> io::Result<Summary> {
    let mut groups: BTreeMap<&'static str, Group> = BTreeMap::new();
    let mut shown: Vec<(Option<Rc<Named>>, Finding)> = Vec::new();
    for finding in std::mem::take(&mut report.findings) {
        let group = groups.entry(finding.rule.id).or_default();
        group.hide(None, finding.severity, finding.path.segs().last_field(), 1);
        if group.wants(finding.severity, style, shown.len()) {
            group.show(finding.path.segs().last_field());
            shown.push((None, finding));
        }
    }
    let mut all_parsed = Vec::new();
    let mut folded_findings = 0usize;
    for number in 0.. {
        let next = report.next_if(|finding| {
            if finding.is_folded && !style.all {
                folded_findings += finding.count;
                return false;
            }
            let group = groups.entry(finding.rule.id).or_default();
            group.hide(Some(number), finding.severity, finding.field, finding.count);
            let before = if is_live(finding.rule) { 0 } else { shown.len() };
            group.wants(finding.severity, style, before)
        });
        let Some(mut resource) = next else { break };
        let findings = std::mem::take(&mut resource.findings);
        let named = Rc::new(Named {
            type_name: resource.type_name,
            name: resource.name,
        });
        for finding in findings {
            let group = groups.entry(finding.rule.id).or_default();
            // What a live client said is worth a line, whatever else there is.
            let before = if is_live(finding.rule) { 0 } else { shown.len() };
            if group.wants(finding.severity, style, before) {
                group.show(finding.path.segs().last_field());
                shown.push((Some(Rc::clone(&named)), finding));
            }
        }
        all_parsed.extend(resource.parsed.map(|parsed| (named, parsed)));
    }
    shown.sort_by_key(|(_, f)| (!is_live(f.rule), std::cmp::Reverse(f.severity)));
    write_shown(&shown, style, out)?;
    write_groups(&mut groups, out)?;
    for (named, parsed) in &all_parsed {
        write_parsed(named, parsed, out)?;
    }
    if folded_findings > 0 {
        writeln!(
            out,
            "{folded_findings} findings in configuration made for a proxy are folded, --all shows them"
        )?;
    }
    write_summary(&report.summary, out)?;
    Ok(report.summary)
}

/// What a finding is about.
struct Named {
    type_name: String,
    name: String,
}

fn write_shown(shown: &[(Option<Rc<Named>>, Finding)], style: Style, out: &mut dyn Write) -> io::Result<()> {
    let handler = handler(style);
    let mut text = String::new();
    for (resource, finding) in shown {
        text.clear();
        let view = View {
            resource: resource.as_deref(),
            finding,
        };
        if handler.render_report(&mut text, &view).is_err() {
            text = format!("{}: {view}\n", finding.severity);
        }
        // What comes from a document was made visible in the view, so that every code is miette's.
        out.write_all(marked(text.trim_start_matches('\n')).as_bytes())?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Writes what the client keeps of an accepted resource.
fn write_parsed(resource: &Named, parsed: &serde_json::Value, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{} `{}`:", resource.type_name, visible_line(&resource.name))?;
    for line in xdsctl::parsed::text(parsed).lines() {
        writeln!(out, "  {line}")?;
    }
    writeln!(out)
}

/// Writes the last lines.
fn write_summary(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let total: usize = summary.verdicts.values().sum();
    writeln!(
        out,
        "{total} {}: {} accepted, {} rejected, {} ignored, {} not checked",
        if total == 1 { "resource" } else { "resources" },
        summary.of(Verdict::Accepted),
        summary.of(Verdict::Rejected),
        summary.of(Verdict::Ignored),
        summary.of(Verdict::NotChecked),
    )?;
    let of = |severity: Severity| summary.severities.get(severity.name()).copied().unwrap_or(0);
    let plural = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    writeln!(
        out,
        "{}, {}, {}",
        plural(of(Severity::Error), "error"),
        plural(of(Severity::Warning), "warning"),
        plural(of(Severity::Note), "note"),
    )
}

/// The findings of one rule: how many, and in which fields and resources those are that are not shown one by one.
#[derive(Default)]
struct Group {
    shown: usize,
    hidden: usize,
    severity: Option<Severity>,
    fields: BTreeMap<String, usize>,
    /// Resources before the current one that have hidden findings.
    resources: usize,
    /// The current resource, and its hidden findings.
    current: Option<(usize, usize)>,
}

impl Group {
    /// Says whether one more of the findings is to be shown; `in_all` are shown so far, of every rule.
    fn wants(&self, severity: Severity, style: Style, in_all: usize) -> bool {
        severity >= style.min_severity && (style.all || (self.shown < SHOWN_PER_RULE && in_all < SHOWN_IN_ALL))
    }

    /// Counts so many findings as not shown.
    fn hide(&mut self, resource: Option<usize>, severity: Severity, field: Option<&str>, more: usize) {
        self.hidden += more;
        self.severity = Some(severity);
        if let Some(field) = field {
            match self.fields.get_mut(field) {
                Some(count) => *count += more,
                None => _ = self.fields.insert(field.to_owned(), more),
            }
        }
        if let Some(number) = resource {
            match &mut self.current {
                Some((current, count)) if *current == number => *count += more,
                _ => {
                    self.leave();
                    self.current = Some((number, more));
                }
            }
        }
    }

    /// Takes back what [`hide`](Self::hide) did: the finding is shown after all.
    fn show(&mut self, field: Option<&str>) {
        self.shown += 1;
        self.hidden = self.hidden.saturating_sub(1);
        if let Some(count) = field.and_then(|field| self.fields.get_mut(field)) {
            *count = count.saturating_sub(1);
        }
        if let Some((_, count)) = &mut self.current {
            *count = count.saturating_sub(1);
        }
    }

    /// Counts the current resource.
    fn leave(&mut self) {
        if self.current.take().is_some_and(|(_, hidden)| hidden > 0) {
            self.resources += 1;
        }
    }
}

fn write_groups(groups: &mut BTreeMap<&'static str, Group>, out: &mut dyn Write) -> io::Result<()> {
    groups.values_mut().for_each(Group::leave);
    let mut order: Vec<_> = groups.iter().filter(|(_, g)| g.hidden > 0).collect();
    order.sort_by_key(|(id, g)| (std::cmp::Reverse(g.severity), **id));
    for (id, group) in order {
        let mut fields: Vec<_> = group.fields.iter().filter(|(_, n)| **n > 0).collect();
        fields.sort_by_key(|(name, n)| (std::cmp::Reverse(**n), name.as_str()));
        let named: Vec<String> = fields
            .iter()
            .take(NAMED_IN_GROUP)
            .map(|(name, n)| {
                if **n > 1 {
                    format!("{name} ({n})")
                } else {
                    (*name).clone()
                }
            })
            .collect();
        let rest = fields.len().saturating_sub(NAMED_IN_GROUP);
        let more = if group.shown > 0 { " more" } else { "" };
        let severity = group.severity.unwrap_or(Severity::Note);
        write!(out, "{severity}: {}{more} {id}", group.hidden)?;
        if group.resources > 0 {
            let n = group.resources;
            write!(out, " in {n} {}", if n == 1 { "resource" } else { "resources" })?;
        }
        if !named.is_empty() {
            write!(out, ": {}", named.join(", "))?;
        }
        if rest > 0 {
            write!(out, " and {rest} other{}", if rest == 1 { "" } else { "s" })?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn handler(style: Style) -> GraphicalReportHandler {
    let theme = match (style.unicode, style.colour) {
        (true, true) => GraphicalTheme::unicode(),
        (true, false) => GraphicalTheme::unicode_nocolor(),
        (false, true) => GraphicalTheme::ascii(),
        (false, false) => GraphicalTheme::none(),
    };
    GraphicalReportHandler::new_themed(theme)
        .with_width(style.width)
        .with_context_lines(1)
        .with_links(false)
}

/// A finding as miette sees it.
struct View<'a> {
    resource: Option<&'a Named>,
    finding: &'a Finding,
}

impl fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(resource) = self.resource {
            let type_name = visible_line(&resource.type_name);
            write!(f, "{type_name} `{}`: ", visible_line(&resource.name))?;
        }
        f.write_str(&visible(&self.finding.message))?;
        if !self.finding.path.is_empty() {
            write!(f, "\nat {}", visible_line(&short(&self.finding.path)))?;
        }
        Ok(())
    }
}

/// The text of a path, not longer than [`MAX_PATH_CHARS`].
fn short(path: &FieldPath) -> String {
    let text = path.to_string();
    let count = text.chars().count();
    if count <= MAX_PATH_CHARS {
        return text;
    }
    let half = MAX_PATH_CHARS / 2;
    let head = text.chars().take(half);
    let tail = text.chars().skip(count - half);
    head.chain(['…']).chain(tail).collect()
}

impl std::error::Error for View<'_> {}

impl miette::Diagnostic for View<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        let rule = self.finding.rule;
        Some(Box::new(format!("{} ({})", rule.id, rule.effect)))
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.finding.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
            Severity::Note => miette::Severity::Advice,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.finding
            .help
            .as_ref()
            .map(|help| Box::new(visible(help)) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        let place = self.finding.place.as_deref()?;
        place.snippet.as_ref()?;
        Some(place)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let snippet = self.finding.place.as_ref()?.snippet.as_ref()?;
        let span = LabeledSpan::new(None, snippet.start, snippet.len);
        Some(Box::new(std::iter::once(span)))
    }
}

/// The snippet as a source: a window with its own first line.
impl miette::SourceCode for Place {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let snippet = self.snippet.as_ref().ok_or(MietteError::OutOfBounds)?;
        // Without context miette wants the label's own position, for the header.
        let (line, column) = if before == 0 && after == 0 {
            (self.line.saturating_sub(1), self.column.saturating_sub(1))
        } else {
            (snippet.first_line.saturating_sub(1), 0)
        };
        let (data, covered) = if before == 0 && after == 0 {
            let end = span.offset().saturating_add(span.len()).min(snippet.text.len());
            let data = snippet.text.as_bytes().get(span.offset()..end);
            (data.ok_or(MietteError::OutOfBounds)?, *span)
        } else {
            (snippet.text.as_bytes(), SourceSpan::from(0..snippet.text.len()))
        };
        Ok(Box::new(miette::MietteSpanContents::new_named(
            visible_line(&self.file).into_owned(),
            data,
            covered,
            line,
            column,
            snippet.text.lines().count(),
        )))
    }
}
