//! `--format human`: findings with their source snippet, grouped and capped so that a thousand equal ones stay readable.
//!
//! Rendering is miette's; the snippet is a window of a few lines, never the whole document. Errors come first, then
//! warnings; notes are one line per rule unless asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{self, Write};

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, SourceSpan, SpanContents};

use super::{Finding, Findings, Place, ResourceReport, Verdict};
use crate::diag::Severity;

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

/// Writes the report.
///
/// # Errors
/// Those of `out`.
pub fn write(report: &Findings, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut groups: BTreeMap<&'static str, Group<'_>> = BTreeMap::new();
    let mut shown: Vec<(Option<&ResourceReport>, &Finding)> = Vec::new();
    let folded: BTreeSet<&str> = if style.all {
        BTreeSet::new()
    } else {
        report.folded_worlds.iter().map(String::as_str).collect()
    };
    let mut folded_findings = 0usize;
    for (resource, finding) in report.all() {
        if resource.is_some_and(|r| folded.contains(r.world.as_str())) {
            folded_findings += 1;
            continue;
        }
        let group = groups.entry(finding.rule.id).or_default();
        group.total += 1;
        group.severity = Some(finding.severity);
        let wanted = finding.severity >= style.min_severity;
        if wanted && (style.all || (group.shown < SHOWN_PER_RULE && shown.len() < SHOWN_IN_ALL)) {
            group.shown += 1;
            shown.push((resource, finding));
        } else {
            group.remember(resource, finding);
        }
    }
    shown.sort_by_key(|(_, f)| std::cmp::Reverse(f.severity));
    let handler = handler(style);
    let mut text = String::new();
    for (resource, finding) in &shown {
        text.clear();
        let view = View {
            resource: *resource,
            finding,
        };
        if handler.render_report(&mut text, &view).is_err() {
            text = format!("{}: {view}\n", finding.severity);
        }
        out.write_all(text.trim_start_matches('\n').as_bytes())?;
        out.write_all(b"\n")?;
    }
    write_groups(&groups, out)?;
    write_views(report, out)?;
    if folded_findings > 0 {
        writeln!(
            out,
            "{folded_findings} findings in configuration made for a proxy are folded, --all shows them"
        )?;
    }
    write_summary(report, out)
}

/// Writes what the client keeps of each accepted resource, where that was asked for.
fn write_views(report: &Findings, out: &mut dyn Write) -> io::Result<()> {
    for resource in &report.resources {
        let Some(view) = &resource.parsed else { continue };
        writeln!(out, "{} `{}`:", resource.type_name, resource.name)?;
        for line in crate::view::text(view).lines() {
            writeln!(out, "  {line}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Writes the last lines.
fn write_summary(report: &Findings, out: &mut dyn Write) -> io::Result<()> {
    let count = |verdict| report.resources.iter().filter(|r| r.verdict == verdict).count();
    let total = report.resources.len();
    writeln!(
        out,
        "{total} {}: {} accepted, {} rejected, {} ignored, {} not checked",
        if total == 1 { "resource" } else { "resources" },
        count(Verdict::Accepted),
        count(Verdict::Rejected),
        count(Verdict::Ignored),
        count(Verdict::NotChecked),
    )?;
    let severities = report.summary().severities;
    let of = |severity: Severity| severities.get(severity.name()).copied().unwrap_or(0);
    let plural = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    writeln!(
        out,
        "{}, {}, {}",
        plural(of(Severity::Error), "error"),
        plural(of(Severity::Warning), "warning"),
        plural(of(Severity::Note), "note"),
    )
}

/// Findings of one rule that are not shown one by one.
#[derive(Default)]
struct Group<'a> {
    total: usize,
    shown: usize,
    severity: Option<Severity>,
    fields: BTreeMap<&'a str, usize>,
    resources: BTreeSet<(&'a str, &'a str, &'a str)>,
}

impl<'a> Group<'a> {
    fn remember(&mut self, resource: Option<&'a ResourceReport>, finding: &'a Finding) {
        let field = finding
            .path
            .rsplit_once('.')
            .map_or(finding.path.as_str(), |(_, last)| last);
        *self.fields.entry(field).or_default() += 1;
        if let Some(r) = resource {
            self.resources.insert((&r.world, &r.type_name, &r.name));
        }
    }
}

fn write_groups(groups: &BTreeMap<&'static str, Group<'_>>, out: &mut dyn Write) -> io::Result<()> {
    let mut order: Vec<_> = groups.iter().filter(|(_, g)| g.total > g.shown).collect();
    order.sort_by_key(|(id, g)| (std::cmp::Reverse(g.severity), **id));
    for (id, group) in order {
        let hidden = group.total - group.shown;
        let mut fields: Vec<_> = group.fields.iter().filter(|(f, _)| !f.is_empty()).collect();
        fields.sort_by_key(|(name, n)| (std::cmp::Reverse(**n), **name));
        let named: Vec<String> = fields
            .iter()
            .take(NAMED_IN_GROUP)
            .map(|(name, n)| {
                if **n > 1 {
                    format!("{name} ({n})")
                } else {
                    (**name).to_owned()
                }
            })
            .collect();
        let rest = fields.len().saturating_sub(NAMED_IN_GROUP);
        let more = if group.shown > 0 { " more" } else { "" };
        let severity = group.severity.unwrap_or(Severity::Note);
        write!(out, "{severity}: {hidden}{more} {id}")?;
        if !group.resources.is_empty() {
            let n = group.resources.len();
            write!(out, " in {n} {}", if n == 1 { "resource" } else { "resources" })?;
        }
        if !named.is_empty() {
            write!(out, ": {}", named.join(", "))?;
        }
        if rest > 0 {
            write!(out, " and {rest} others")?;
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
    resource: Option<&'a ResourceReport>,
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
            write!(f, "{} `{}`: ", resource.type_name, resource.name)?;
        }
        f.write_str(&self.finding.message)?;
        if !self.finding.path.is_empty() {
            write!(f, "\nat {}", self.finding.path)?;
        }
        Ok(())
    }
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
            .map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        let place = self.finding.place.as_ref()?;
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
            self.file.clone(),
            data,
            covered,
            line,
            column,
            snippet.text.lines().count(),
        )))
    }
}
