//! `--format human`: findings with their source snippet, grouped and capped, so that a thousand
//! equal ones stay readable.
//!
//! The crate miette renders them. The snippet is a window of a few lines, never the whole document.
//! Errors come first, then warnings; notes are one line per rule unless the user asks for all.
//! Places are looked up only for findings that are shown.

mod group;
mod view;
mod withheld;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::rc::Rc;
use std::sync::Arc;

use super::{
    Finding, NotShown, Parsed, ReportWriter, ResourceReport, Summary, Unplaced, closing, not_checked, too_quiet,
};
use crate::edge::{marked, visible_line};
use crate::wrap::Folding;
use group::{Group, Groups, write_groups};
pub(crate) use view::MessageView;
use view::handler;
use withheld::WithheldLines;
use xdsctl_channel::client::is_live;
use xdsctl_model::diag::{Rule, Severity, Subject};

/// How the report looks.
#[derive(Debug, Clone, Copy)]
pub struct FindingsStyle {
    /// Whether there are ANSI colours.
    pub colour: bool,
    /// Columns of the terminal; `None` if nothing is wrapped or cut.
    pub width: Option<usize>,
    /// Whether only a few findings of each rule are shown and the others counted. A thousand
    /// findings of one rule would push the others out of sight.
    pub is_capped: bool,
    /// The least severity that is shown; less severe findings are counted.
    pub min_severity: Severity,
    /// Whether only findings are written, without a summary.
    pub is_quiet: bool,
    /// Whether the findings that are not shown are listed with the reasons.
    pub explains_withheld: bool,
}

impl Default for FindingsStyle {
    fn default() -> Self {
        FindingsStyle {
            colour: false,
            width: None,
            is_capped: true,
            min_severity: Severity::Warning,
            is_quiet: false,
            explains_withheld: false,
        }
    }
}

impl FindingsStyle {
    /// Returns how many findings of each rule are shown with the lines around them.
    pub const fn snippets_per_rule(&self) -> usize {
        if self.is_capped {
            SHOWN_PER_RULE
        } else {
            SNIPPETS_PER_RULE
        }
    }

    /// Returns the columns for the text of a document, without line numbers and frame.
    pub fn snippet_columns(&self) -> usize {
        self.width
            .map_or(SNIPPET_COLUMNS, |columns| columns.saturating_sub(SNIPPET_FRAME).max(1))
    }
}

/// What is before the continuation of a line.
const INDENT: Option<&str> = Some("  ");

/// Columns for a line of a document if there is no terminal.
const SNIPPET_COLUMNS: usize = 160;

/// Columns beside a line of a document: a line number of up to seven digits, the frame, and spaces.
const SNIPPET_FRAME: usize = 11;

/// How many findings of each rule and severity are shown.
const SHOWN_PER_RULE: usize = 5;

/// How many findings of each rule are shown with the lines around them, if all are shown. The lines
/// take more time than everything else.
const SNIPPETS_PER_RULE: usize = 2_000;

/// Writes the report for people. It collects what is shown, and writes it at the end.
pub struct Human<W: Write> {
    style: FindingsStyle,
    out: W,
    groups: Groups,
    shown: Vec<(Option<Rc<str>>, Finding)>,
    parsed: Vec<(Rc<str>, Parsed)>,
    withheld: WithheldLines,
    /// How many resources have been written.
    resources: usize,
    /// How many errors the current resource has.
    errors: usize,
    /// How many errors of each file are not shown.
    hidden_errors: BTreeMap<Arc<str>, usize>,
}

impl<W: Write> Human<W> {
    /// Creates a writer; nothing is written yet.
    pub const fn new(style: FindingsStyle, out: W) -> Self {
        Human {
            style,
            out,
            groups: Groups::new(),
            shown: Vec::new(),
            parsed: Vec::new(),
            withheld: WithheldLines::new(style.is_capped),
            resources: 0,
            errors: 0,
            hidden_errors: BTreeMap::new(),
        }
    }

    fn group(&mut self, rule: &'static Rule, severity: Severity) -> &mut Group {
        self.groups.entry((Reverse(severity), rule.id)).or_default()
    }

    /// Shows a finding that has been counted as hidden, if it may be shown; says whether it is.
    fn show(&mut self, named: Option<&Rc<str>>, finding: &Finding) -> bool {
        let style = self.style;
        let group = self.group(finding.rule, finding.severity);
        let is_wanted = finding.severity >= style.min_severity && group.room(style) > 0;
        if is_wanted {
            group.show(finding.path.segs().last_field());
            self.shown.push((named.cloned(), finding.clone()));
        }
        is_wanted
    }
}

impl<W: Write> Human<W> {
    /// Writes the part of the report below the findings.
    fn write_rest(&mut self, summary: &Summary) -> io::Result<()> {
        let out = &mut Folding::new(&mut self.out, self.style.width, INDENT);
        write_groups(&mut self.groups, out)?;
        let hidden = self.groups.iter().filter(|(_, group)| group.hidden > 0);
        let severities = hidden.map(|((Reverse(severity), _), _)| *severity);
        if severities.clone().any(|severity| severity >= self.style.min_severity) {
            writeln!(
                out,
                "{SHOWN_PER_RULE} findings of a rule are shown, --all-findings shows every one"
            )?;
        }
        if let Some(quietest) = severities.filter(|severity| *severity < self.style.min_severity).min() {
            writeln!(out, "--min-severity {quietest} shows {quietest}s, too")?;
        }
        let mut snippets = self
            .shown
            .iter()
            .filter_map(|(_, f)| f.place.as_ref()?.snippet.as_ref());
        if snippets.any(|snippet| snippet.is_masked) {
            writeln!(out, "`*` stands for what could be secret, --show-secrets shows it")?;
        }
        write_hidden_errors(&self.hidden_errors, out)?;
        for (named, parsed) in &self.parsed {
            write_parsed(named, parsed, out)?;
        }
        writeln!(out, "{}", closing(summary))?;
        if let (true, Some((_, first))) = (self.style.width.is_some(), self.shown.first()) {
            let rule = first.rule.id;
            writeln!(
                out,
                "`xdsctl explain {rule}` tells more of a rule, `xdsctl init` how a finding is silenced"
            )?;
        }
        writeln!(out, "asked: {}", summary.asked)
    }
}

impl<W: Write> ReportWriter for Human<W> {
    fn wants(&mut self, finding: &Unplaced<'_>) -> usize {
        if finding.severity == Severity::Error {
            self.errors += finding.count;
        }
        let (style, resource) = (self.style, self.resources);
        let group = self.group(finding.rule, finding.severity);
        group.hide(Some(resource), finding.field, finding.count);
        match finding.severity >= style.min_severity {
            true => group.want(finding.count, style),
            false if style.explains_withheld => finding.count,
            false => 0,
        }
    }

    fn wants_from(&self) -> Severity {
        match self.style.explains_withheld {
            true => Severity::Note,
            false => self.style.min_severity,
        }
    }

    fn documents(&mut self, findings: &[Finding], withheld: &[NotShown]) -> io::Result<()> {
        for finding in findings {
            let group = self.group(finding.rule, finding.severity);
            group.hide(None, finding.path.segs().last_field(), 1);
            if !self.show(None, finding)
                && finding.severity == Severity::Error
                && let Some(place) = &finding.place
            {
                *self.hidden_errors.entry(Arc::clone(&place.file)).or_default() += 1;
            }
        }
        if self.style.explains_withheld {
            self.withheld.add(None, too_quiet(findings, self.style.min_severity));
        }
        self.withheld.add(None, withheld.iter().cloned());
        Ok(())
    }

    fn resource(&mut self, resource: &ResourceReport) -> io::Result<()> {
        let (type_name, name) = (visible_line(&resource.type_name), visible_line(&resource.name));
        let named: Rc<str> = format!("{type_name} `{name}`:").into();
        for finding in &resource.findings {
            if self.show(Some(&named), finding) && finding.severity == Severity::Error {
                self.errors = self.errors.saturating_sub(1);
            }
        }
        if self.errors > 0 {
            *self.hidden_errors.entry(Arc::clone(&resource.file)).or_default() += self.errors;
        }
        if !resource.findings.is_empty() {
            self.groups.values_mut().for_each(Group::placed);
        }
        if self.style.explains_withheld {
            self.withheld.add(Some(resource), resource.withheld.iter().cloned());
            self.withheld
                .add(Some(resource), too_quiet(&resource.findings, self.style.min_severity));
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
            .sort_by_key(|(_, f)| (!is_live(f.rule), Reverse(f.severity), distance(f)));
        for (resource, finding) in &self.shown {
            let view = MessageView::of(resource.as_deref(), finding, self.style.width.is_none());
            write_view(&view, self.style, &mut self.out)?;
        }
        self.withheld
            .write(&mut Folding::new(&mut self.out, self.style.width, INDENT))?;
        if self.style.is_quiet {
            let line = not_checked::line(&summary.not_checked);
            line.map_or(Ok(()), |line| writeln!(self.out, "{line}"))?;
            return self.out.flush();
        }
        self.write_rest(summary)?;
        self.out.flush()
    }
}

/// Returns how far a finding is from its cause: first what was misread, then what the client finds,
/// then what follows from another rejection.
fn distance(finding: &Finding) -> u8 {
    match (finding.is_consequence, finding.rule.subject) {
        (true, _) => 2,
        (false, Subject::Dump) => 0,
        (false, _) => 1,
    }
}

/// Writes a message as miette renders it, and an empty line.
pub(crate) fn write_view(view: &MessageView<'_>, style: FindingsStyle, out: &mut dyn Write) -> io::Result<()> {
    let mut text = String::new();
    if handler(style).render_report(&mut text, view).is_err() {
        text = format!("{view}\n");
    }
    // Text of documents was escaped in the view, so every terminal code is miette's.
    out.write_all(marked(text.trim_start_matches('\n')).as_bytes())?;
    out.write_all(b"\n")
}

/// Writes what the client keeps of an accepted resource. It may be too long to be kept.
fn write_parsed<W: Write>(resource: &str, parsed: &Parsed, out: &mut Folding<W>) -> io::Result<()> {
    writeln!(out, "{resource}")?;
    out.lead = "  ";
    write!(out, "{parsed}")?;
    out.lead = "";
    writeln!(out)
}

/// Names each file that has errors that are not shown.
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
