//! `--format human`: findings with their source snippet, grouped, and on a terminal capped so that a thousand equal ones stay readable.
//!
//! Rendering is miette's; the snippet is a window of a few lines, never the whole document. Errors come first, then
//! warnings; notes are one line per rule unless asked for.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::rc::Rc;
use std::sync::Arc;

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, SourceSpan, SpanContents};

use super::edge::{marked, visible, visible_line};
use super::{Finding, Format, Place, ResourceReport, Summary, Unplaced, closing};
use xdsctl::client::is_live;
use xdsctl::diag::{Rule, Severity};

/// How the report is to look.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// ANSI colours.
    pub colour: bool,
    /// Box drawing characters.
    pub unicode: bool,
    /// Columns of the terminal; `None` if nothing is to be wrapped or cut.
    pub width: Option<usize>,
    /// A thousand findings of a kind would push the others out of sight.
    pub is_capped: bool,
    /// Quieter findings are counted, not shown.
    pub min_severity: Severity,
    /// Write findings and nothing else.
    pub is_quiet: bool,
}

impl Default for Style {
    fn default() -> Self {
        Style {
            colour: false,
            unicode: true,
            width: None,
            is_capped: false,
            min_severity: Severity::Warning,
            is_quiet: false,
        }
    }
}

impl Style {
    /// Findings of one rule that are shown in full.
    pub const fn shown_per_rule(&self) -> usize {
        if self.is_capped { SHOWN_PER_RULE } else { usize::MAX }
    }

    /// Columns for the text of a document: what is left beside line numbers and frame.
    pub fn snippet_columns(&self) -> usize {
        self.width
            .map_or(SNIPPET_COLUMNS, |columns| columns.saturating_sub(SNIPPET_FRAME).max(1))
    }
}

/// Columns of a line of a document where there is no terminal.
const SNIPPET_COLUMNS: usize = 160;

/// Columns beside a line of a document: a number of up to seven digits, the frame, spaces.
const SNIPPET_FRAME: usize = 11;

/// Findings of one rule that are shown in full.
const SHOWN_PER_RULE: usize = 5;

/// Findings that are shown in full in all.
const SHOWN_IN_ALL: usize = 60;

/// Names listed in a line that stands for many findings.
const NAMED_IN_GROUP: usize = 6;

/// Longest path that is printed, in characters; the middle of a longer one is left out.
const MAX_PATH_CHARS: usize = 400;

/// Writes the report for people: collects what will be shown, and writes it at the end.
pub struct Human<W: Write> {
    style: Style,
    out: W,
    groups: BTreeMap<&'static str, Group>,
    shown: Vec<(Option<Rc<Named>>, Finding)>,
    parsed: Vec<(Rc<Named>, serde_json::Value)>,
    /// Resources so far.
    resources: usize,
    /// Errors of the current resource.
    errors: usize,
    /// Errors that are not shown, by file.
    hidden_errors: BTreeMap<Arc<str>, usize>,
}

impl<W: Write> Human<W> {
    /// Nothing is written yet.
    pub const fn new(style: Style, out: W) -> Self {
        Human {
            style,
            out,
            groups: BTreeMap::new(),
            shown: Vec::new(),
            parsed: Vec::new(),
            resources: 0,
            errors: 0,
            hidden_errors: BTreeMap::new(),
        }
    }

    /// Findings that are shown so far, for one of this rule.
    fn before(&self, rule: &'static Rule) -> usize {
        // What a live client said is worth a line, whatever else there is.
        if is_live(rule) { 0 } else { self.shown.len() }
    }

    /// Shows a finding that has been counted as hidden, if it is to be shown.
    fn show(&mut self, named: Option<&Rc<Named>>, finding: &Finding) -> bool {
        let before = self.before(finding.rule);
        let group = self.groups.entry(finding.rule.id).or_default();
        let is_wanted = group.wants(finding.severity, self.style, before);
        if is_wanted {
            group.show(finding.path.segs().last_field());
            self.shown.push((named.cloned(), finding.clone()));
        }
        is_wanted
    }
}

impl<W: Write> Human<W> {
    /// Writes what stands below the findings.
    fn write_rest(&mut self, summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
        write_groups(&mut self.groups, out)?;
        let is_loud = |group: &Group| group.hidden > 0 && group.severity >= Some(self.style.min_severity);
        if self.style.is_capped && self.groups.values().any(is_loud) {
            writeln!(out, "the report is cut for the terminal, --all shows every finding")?;
        }
        write_hidden_errors(&self.hidden_errors, out)?;
        for (named, parsed) in &self.parsed {
            write_parsed(named, parsed, out)?;
        }
        writeln!(out, "{}", closing(summary))?;
        let not_known: Vec<String> = summary.not_known.iter().map(ToString::to_string).collect();
        if !not_known.is_empty() {
            writeln!(out, "not known of some resources: {}", not_known.join(", "))?;
        }
        writeln!(out, "asked: {}", summary.asked)
    }
}

/// Lines that fit the terminal; their continuations begin with `indent`, and words stay whole.
pub(super) fn wrapped(text: &str, width: Option<usize>, indent: &str) -> String {
    let Some(width) = width else {
        return text.to_owned();
    };
    let options = textwrap::Options::new(width)
        .break_words(false)
        .subsequent_indent(indent)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        out += &textwrap::fill(line, &options);
        out.push('\n');
    }
    out
}

impl<W: Write> Format for Human<W> {
    fn wants(&mut self, finding: &Unplaced<'_>) -> bool {
        if finding.severity == Severity::Error {
            self.errors += finding.count;
        }
        let before = self.before(finding.rule);
        let group = self.groups.entry(finding.rule.id).or_default();
        group.hide(Some(self.resources), finding.severity, finding.field, finding.count);
        group.wants(finding.severity, self.style, before)
    }

    fn documents(&mut self, findings: &[Finding]) -> io::Result<()> {
        for finding in findings {
            let group = self.groups.entry(finding.rule.id).or_default();
            group.hide(None, finding.severity, finding.path.segs().last_field(), 1);
            if !self.show(None, finding)
                && finding.severity == Severity::Error
                && let Some(place) = &finding.place
            {
                *self.hidden_errors.entry(Arc::clone(&place.file)).or_default() += 1;
            }
        }
        Ok(())
    }

    fn resource(&mut self, resource: &ResourceReport) -> io::Result<()> {
        let named = Rc::new(Named {
            type_name: resource.type_name.clone(),
            name: resource.name.clone(),
        });
        for finding in &resource.findings {
            if self.show(Some(&named), finding) && finding.severity == Severity::Error {
                self.errors = self.errors.saturating_sub(1);
            }
        }
        if self.errors > 0 {
            *self.hidden_errors.entry(Arc::clone(&resource.file)).or_default() += self.errors;
        }
        self.errors = 0;
        self.resources += 1;
        if let Some(parsed) = &resource.parsed {
            self.parsed.push((named, parsed.clone()));
        }
        Ok(())
    }

    fn end(&mut self, summary: &Summary) -> io::Result<()> {
        self.shown
            .sort_by_key(|(_, f)| (!is_live(f.rule), std::cmp::Reverse(f.severity)));
        write_shown(&self.shown, self.style, &mut self.out)?;
        if self.style.is_quiet {
            return self.out.flush();
        }
        let mut rest = Vec::new();
        self.write_rest(summary, &mut rest)?;
        self.out
            .write_all(wrapped(&String::from_utf8_lossy(&rest), self.style.width, "  ").as_bytes())?;
        self.out.flush()
    }
}

/// What a finding is about.
struct Named {
    type_name: String,
    name: String,
}

fn write_shown(shown: &[(Option<Rc<Named>>, Finding)], style: Style, out: &mut dyn Write) -> io::Result<()> {
    for (resource, finding) in shown {
        let view = View {
            is_whole: style.width.is_none(),
            resource: resource.as_deref(),
            finding,
        };
        write_view(&view, style, out)?;
    }
    Ok(())
}

/// Writes what miette makes of something, and an empty line.
pub(super) fn write_view(view: &dyn miette::Diagnostic, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut text = String::new();
    if handler(style).render_report(&mut text, view).is_err() {
        text = format!("{view}\n");
    }
    // What comes from a document was made visible in the view, so that every code is miette's.
    out.write_all(marked(text.trim_start_matches('\n')).as_bytes())?;
    out.write_all(b"\n")
}

/// Writes what the client keeps of an accepted resource.
fn write_parsed(resource: &Named, parsed: &serde_json::Value, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{} `{}`:", resource.type_name, visible_line(&resource.name))?;
    for line in xdsctl::parsed::text(parsed).lines() {
        writeln!(out, "  {line}")?;
    }
    writeln!(out)
}

/// Names each file with errors that are not shown.
fn write_hidden_errors(files: &BTreeMap<Arc<str>, usize>, out: &mut dyn Write) -> io::Result<()> {
    if files.is_empty() {
        return Ok(());
    }
    writeln!(out, "errors that are not shown, by file:")?;
    for (file, count) in files {
        writeln!(out, "  {count:>6}  {}", visible_line(file))?;
    }
    Ok(())
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
        severity >= style.min_severity && (!style.is_capped || (self.shown < SHOWN_PER_RULE && in_all < SHOWN_IN_ALL))
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
        .with_width(style.width.unwrap_or(usize::MAX))
        .with_wrap_lines(style.width.is_some())
        // Paths and names stay in one piece, to be found and copied.
        .with_break_words(false)
        .with_word_separator(textwrap::WordSeparator::AsciiSpace)
        .with_word_splitter(textwrap::WordSplitter::NoHyphenation)
        .with_context_lines(1)
        .with_links(false)
}

/// A finding as miette sees it.
struct View<'a> {
    /// Nothing is left out of a long path.
    is_whole: bool,
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
            write!(f, "\nat {}", visible_line(&self.path()))?;
        }
        Ok(())
    }
}

impl View<'_> {
    /// The text of the path, on a terminal not longer than [`MAX_PATH_CHARS`].
    fn path(&self) -> String {
        let text = self.finding.path.to_string();
        let count = text.chars().count();
        if count <= MAX_PATH_CHARS || self.is_whole {
            return text;
        }
        let half = MAX_PATH_CHARS / 2;
        let head = text.chars().take(half);
        let tail = text.chars().skip(count - half);
        head.chain(['…']).chain(tail).collect()
    }
}

impl std::error::Error for View<'_> {}

impl miette::Diagnostic for View<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(format!(
            "{} ({})",
            self.finding.rule.id,
            self.finding.effects()
        )))
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
