//! Reports on findings as plain data, and the formats that print them.
//!
//! A command makes a [`resolve::ResolvedFindings`]; a format takes resource after resource out of
//! it and writes. Spans have been resolved to lines before, so a format needs no access to the
//! documents, and only one resource's findings are in memory at a time.

pub mod clients;
pub mod concise;
pub mod fixable;
pub mod github;
pub mod gitlab;
pub mod human;
pub mod json;
pub mod junit;
pub mod markdown;
pub mod matrix;
mod max_findings;
mod merged;
pub mod not_checked;
mod parsed;
pub mod patch;
pub mod reached;
pub mod resolve;
pub mod sarif;
pub mod statistics;
pub mod verdict;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::Arc;

use super::edge::visible_line;
use super::{SourcePlace, plural};
use clients::Verdicts;
use not_checked::NotChecked;
pub use parsed::Parsed;
use reached::Reached;

use xdsctl_channel::client::Checked;
pub use xdsctl_channel::client::Verdict;
use xdsctl_document::envelope::{Label, Stage};
use xdsctl_document::source::Span;
use xdsctl_lint::decide::Reason;
use xdsctl_lint::decide::loudness::Loudness;
use xdsctl_lint::fix::Edit;
use xdsctl_model::diag::{About, Effect, FieldPath, Fingerprints, Rule, Severity};

/// One resource and what was found about it.
#[derive(Debug)]
pub struct ResourceReport {
    /// The document, `-` for standard input.
    pub file: Arc<str>,
    /// File, client scope or wrapper that the resource belongs to.
    pub world: Arc<str>,
    /// Where in the dump: `static`, `dynamic`, `warming`; empty for a bare resource.
    pub section: &'static str,
    /// Where it stands in the document.
    pub span: Span,
    /// Short message name, or the full one for a type that gRPC does not ask for.
    pub type_name: String,
    /// Resource name; `<unnamed #3>` where the dump has none.
    pub name: String,
    /// What the client does with it.
    pub verdict: Verdict,
    /// What each client does with it; empty if the reference alone was asked.
    pub clients: Verdicts,
    /// In the order of the document; empty if no format wanted one of them.
    pub findings: Vec<Finding>,
    /// Findings that are not shown, if asked for.
    pub withheld: Vec<NotShown>,
    /// What the client keeps of it, if asked for.
    pub parsed: Option<Parsed>,
}

/// A finding with its place in the user's document.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The kind of fault.
    pub rule: &'static Rule,
    /// What the client does about it; of several clients the worst.
    pub effect: Effect,
    /// Which clients do what, if it is not the same for all that were asked.
    pub who: Arc<str>,
    /// Which clients do what, if several were asked.
    pub by: Arc<str>,
    /// How loud, after the user's `-A`, `-W` and `-D`.
    pub severity: Severity,
    /// It can fail the run: at least one client that has it is not exempt from that.
    pub counts: bool,
    /// The path of the field, in the client's notation.
    pub path: FieldPath,
    /// What is wrong, as half a sentence for people.
    pub message: String,
    /// One action that the reader can take.
    pub help: Option<String>,
    /// Where; `None` if the document has no such place.
    pub place: Option<Box<SourcePlace>>,
    /// Other places that belong to it.
    pub related: Vec<RelatedPlace>,
    /// How `--fix` would make it go.
    pub fix: Option<Edit>,
    /// It follows from the rejection of another resource.
    pub is_consequence: bool,
}

/// A finding that is not shown, and why.
#[derive(Debug, Clone)]
pub struct NotShown {
    /// What would be shown.
    pub finding: Finding,
    /// Why it is not.
    pub reason: Reason,
}

/// A second place of a finding.
#[derive(Debug, Clone)]
pub struct RelatedPlace {
    /// The path of the field, in the client's notation.
    pub path: FieldPath,
    /// What it has to do with the finding.
    pub message: String,
    /// The rule of what follows there from the finding; `None` if it is part of the fault.
    pub rule: Option<&'static Rule>,
    /// Where; `None` if the document has no such place.
    pub place: Option<Box<SourcePlace>>,
}

impl fmt::Display for RelatedPlace {
    /// The place with its line, what it is, and its rule.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.to_string();
        f.write_str(&visible_line(&path))?;
        if let Some(SourcePlace { line, column, .. }) = self.place.as_deref() {
            write!(f, "{}({line}:{column})", if path.is_empty() { "" } else { " " })?;
        }
        write!(f, ": {}", self.said())
    }
}

impl RelatedPlace {
    /// What it is, with its rule.
    fn said(&self) -> String {
        let message = visible_line(&self.message);
        match self.rule {
            Some(rule) => format!("{message} ({})", rule.id),
            None => message.into_owned(),
        }
    }
}

impl Finding {
    /// What the clients do about it: `nack`, or `nack in go; ignored in cpp`.
    pub fn effects(&self) -> &str {
        match &*self.who {
            "" => self.effect.name(),
            who => who,
        }
    }
}

/// Counts for the last lines of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Resources by verdict.
    pub verdicts: BTreeMap<&'static str, usize>,
    /// Findings by severity.
    pub severities: BTreeMap<&'static str, usize>,
    /// Findings by effect.
    pub effects: BTreeMap<&'static str, usize>,
    /// Findings by rule.
    pub rules: BTreeMap<&'static str, RuleCount>,
    /// The loudest finding that can fail the run.
    pub worst: Option<Severity>,
    /// The clients that were asked.
    pub asked: String,
    /// What was not checked, and for whom.
    pub not_checked: Vec<NotChecked>,
    /// What was looked at.
    pub scope: ReportScope,
    /// Findings that a suppression took out, which are not among the others.
    pub suppressed: usize,
    /// Findings that are in the baseline, which are not among the others.
    pub known: usize,
    /// Errors that settings, comments or the baseline take out or make quieter.
    pub silenced: usize,
    /// Fixes that `--fix` would make.
    pub fixable: usize,
    /// Policies of the project.
    pub policies: usize,
    /// Those of them that looked at nothing.
    pub idle_policies: Vec<&'static str>,
    /// How many findings are not shown because `--max-findings` is reached.
    pub beyond_max: usize,
}

/// Policies that looked at nothing and are named.
const IDLE_SHOWN: usize = 8;

/// What was looked at, besides resources.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReportScope {
    /// How many documents were read.
    pub documents: usize,
    /// Sets of resources that one client sees.
    pub worlds: usize,
    /// gRPC bootstraps that were checked.
    pub bootstraps: usize,
}

impl Default for Summary {
    fn default() -> Self {
        let verdicts = [
            Verdict::Accepted,
            Verdict::Rejected,
            Verdict::Ignored,
            Verdict::NotChecked,
        ];
        let severities = [Severity::Error, Severity::Warning, Severity::Note];
        Summary {
            verdicts: verdicts.map(|v| (v.name(), 0)).into(),
            severities: severities.map(|s| (s.name(), 0)).into(),
            effects: Effect::ALL.map(|e| (e.name(), 0)).into(),
            rules: BTreeMap::new(),
            worst: None,
            asked: String::new(),
            not_checked: Vec::new(),
            scope: ReportScope::default(),
            suppressed: 0,
            known: 0,
            silenced: 0,
            fixable: 0,
            policies: 0,
            idle_policies: Vec::new(),
            beyond_max: 0,
        }
    }
}

/// How often there was a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleCount {
    /// The kind of fault.
    pub rule: &'static Rule,
    /// How loud the loudest was.
    pub severity: Severity,
    /// How many findings of the rule there are.
    pub count: usize,
}

impl Summary {
    /// How many resources there are with a verdict.
    pub fn of(&self, verdict: Verdict) -> usize {
        self.verdicts.get(verdict.name()).copied().unwrap_or(0)
    }

    fn count(&mut self, (rule, effect): (&'static Rule, Effect), loudness: Loudness, count: usize) {
        let severity = loudness.severity;
        *self.severities.entry(severity.name()).or_default() += count;
        *self.effects.entry(effect.name()).or_default() += count;
        self.worst = self.worst.max(loudness.counts.then_some(severity));
        let of_rule = self.rules.entry(rule.id).or_insert(RuleCount {
            rule,
            severity,
            count: 0,
        });
        of_rule.severity = of_rule.severity.max(severity);
        of_rule.count += count;
    }
}

/// Findings whose places have not been looked up: how many there are of a rule at fields of a name.
#[derive(Debug, Clone)]
pub struct Unplaced<'a> {
    /// The kind of fault.
    pub rule: &'static Rule,
    /// The severity that it is reported with.
    pub severity: Severity,
    /// The innermost field.
    pub field: Option<&'a str>,
    /// How many findings it stands for.
    pub count: usize,
}

/// Where in the dump a resource stands: `static`, `dynamic`, `warming`, `draining`, `rejected update`.
fn section(checked: &Checked) -> &'static str {
    match (checked.stage, checked.label) {
        (Stage::Warming, _) => "warming",
        (Stage::Draining, _) => "draining",
        (Stage::Failed, _) => "rejected update",
        (Stage::Active, Label::Static) => "static",
        (Stage::Active, Label::Dynamic) => "dynamic",
        (Stage::Active, Label::None) => "",
    }
}

/// A form of the report of `validate`: takes one resource after the other, and writes.
pub trait ReportWriter {
    /// Says how many of some findings will be shown, before their places are looked up. It is asked
    /// for all findings of a resource, in no particular order, and then given the
    /// [`resource`](Self::resource) with those, and maybe with more.
    fn wants(&mut self, finding: &Unplaced<'_>) -> usize;

    /// The severity of the quietest findings that are ever wanted.
    fn wants_from(&self) -> Severity {
        Severity::Note
    }

    /// Takes the findings that belong to no resource, before any resource.
    ///
    /// # Errors
    /// Those of the writer, here and below.
    fn documents(&mut self, findings: &[Finding]) -> io::Result<()>;

    /// Takes the findings that belong to no resource and are not shown, after the others and only
    /// if asked for.
    ///
    /// # Errors
    /// Those of the writer.
    fn withheld_of_documents(&mut self, _withheld: &[NotShown]) -> io::Result<()> {
        Ok(())
    }

    /// Takes the next resource.
    ///
    /// # Errors
    /// Those of the writer.
    fn resource(&mut self, resource: &ResourceReport) -> io::Result<()>;

    /// Takes what the client keeps of the resources, after all of them and only if asked for.
    ///
    /// # Errors
    /// Those of the writer.
    fn reached(&mut self, _reached: Arc<Reached>) -> io::Result<()> {
        Ok(())
    }

    /// Writes what is left, and flushes.
    ///
    /// # Errors
    /// Those of the writer.
    fn end(&mut self, summary: &Summary) -> io::Result<()>;
}

/// What writes of findings and not of resources: with [`Shown`] it is a [`ReportWriter`].
pub trait ByFinding {
    /// Takes the next finding that is shown, with its resource if it has one.
    ///
    /// # Errors
    /// Those of the writer, here and below.
    fn finding(&mut self, resource: Option<&ResourceReport>, finding: &Finding) -> io::Result<()>;

    /// Writes what is left, and flushes.
    ///
    /// # Errors
    /// Those of the writer.
    fn finish(&mut self, summary: &Summary) -> io::Result<()>;
}

/// Which findings are shown, and what writes them.
pub struct Shown<F>(pub ShownSeverity, pub F);

impl<F: ByFinding> ReportWriter for Shown<F> {
    fn wants(&mut self, finding: &Unplaced<'_>) -> usize {
        self.0.takes(finding)
    }

    fn wants_from(&self) -> Severity {
        self.0.min_severity
    }

    fn documents(&mut self, findings: &[Finding]) -> io::Result<()> {
        let mut shown = findings.iter().filter(|finding| self.0.shows(finding));
        shown.try_for_each(|finding| self.1.finding(None, finding))
    }

    fn resource(&mut self, resource: &ResourceReport) -> io::Result<()> {
        let mut shown = self.0.of(resource);
        shown.try_for_each(|finding| self.1.finding(Some(resource), finding))
    }

    fn end(&mut self, summary: &Summary) -> io::Result<()> {
        self.1.finish(summary)
    }
}

/// Which findings a form shows.
#[derive(Debug, Clone, Copy)]
pub struct ShownSeverity {
    /// Quieter findings are counted, not shown.
    pub min_severity: Severity,
}

impl ShownSeverity {
    /// How many of the findings that `finding` stands for will be shown.
    pub fn takes(self, finding: &Unplaced<'_>) -> usize {
        if finding.severity >= self.min_severity {
            finding.count
        } else {
            0
        }
    }

    /// Says whether a finding that belongs to no resource is shown.
    pub fn shows(self, finding: &Finding) -> bool {
        finding.severity >= self.min_severity
    }

    /// Findings that are too quiet to be shown, with that as the reason.
    pub fn too_quiet(self, findings: &[Finding]) -> impl Iterator<Item = NotShown> {
        let quiet = findings.iter().filter(move |finding| !self.shows(finding));
        quiet.map(move |finding| NotShown {
            finding: finding.clone(),
            reason: Reason::BelowSeverity(self.min_severity),
        })
    }

    /// The findings of a resource that are shown.
    pub fn of(self, resource: &ResourceReport) -> impl Iterator<Item = &Finding> {
        resource.findings.iter().filter(move |f| self.shows(f))
    }
}

/// What a finding says, as [`sentence`] does, and which clients do what if several were asked.
pub fn sentence_of_clients(resource: Option<&ResourceReport>, finding: &Finding) -> String {
    let sentence = sentence(resource, finding);
    match &*finding.by {
        "" => sentence,
        by => format!("{sentence} ({by})"),
    }
}

/// What a finding says, on one line, with the resource that it is about.
pub fn sentence(resource: Option<&ResourceReport>, finding: &Finding) -> String {
    let message = visible_line(&finding.message);
    match resource {
        Some(resource) => {
            let type_name = visible_line(&resource.type_name);
            format!("{type_name} `{}`: {message}", visible_line(&resource.name))
        }
        None => message.into_owned(),
    }
}

/// How many resources there are, by verdict: `5 resources in 2 worlds: 4 accepted, ...`.
pub fn verdicts(summary: &Summary) -> String {
    let total: usize = summary.verdicts.values().sum();
    let ReportScope { documents, worlds, .. } = summary.scope;
    let place = match documents > 1 || worlds > 1 {
        true => format!(" in {}", plural(worlds, "world")),
        false => String::new(),
    };
    format!(
        "{}{place}: {} accepted, {} rejected, {} ignored, {} not checked",
        plural(total, "resource"),
        summary.of(Verdict::Accepted),
        summary.of(Verdict::Rejected),
        summary.of(Verdict::Ignored),
        summary.of(Verdict::NotChecked),
    )
}

/// The last lines of a report for people: what was looked at, what is left out, how many findings
/// there are.
pub fn closing(summary: &Summary) -> String {
    let ReportScope { bootstraps, .. } = summary.scope;
    let mut lines = Vec::new();
    if summary.verdicts.values().any(|count| *count > 0) || bootstraps == 0 {
        lines.push(verdicts(summary));
    }
    let others = [
        (bootstraps, "bootstrap", "checked"),
        (summary.suppressed, "finding", "suppressed"),
        (summary.known, "finding", "in the baseline"),
        (summary.beyond_max, "finding", "not shown: --max-findings shows more"),
    ];
    for (count, word, what) in others {
        if count > 0 {
            lines.push(format!("{} {what}", plural(count, word)));
        }
    }
    lines.push(counts(summary));
    lines.extend(idle(summary));
    lines.extend(silenced(summary));
    let has_findings = summary.severities.values().any(|count| *count > 0);
    if summary.fixable > 0 && has_findings {
        let places = plural(summary.fixable, "place");
        lines.push(format!("{places} can be fixed: --diff shows how, --fix does it"));
    }
    lines.extend(not_checked::line(&summary.not_checked));
    lines.join("\n")
}

/// Which policies looked at nothing: `7 policies, 1 looked at nothing: team-x`.
fn idle(summary: &Summary) -> Option<String> {
    let all = &summary.idle_policies;
    let shown: Vec<&str> = all.iter().copied().take(IDLE_SHOWN).collect();
    let more = match all.len().saturating_sub(IDLE_SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let policies = if summary.policies == 1 { "policy" } else { "policies" };
    (!all.is_empty()).then(|| {
        format!(
            "{} {policies}, {} looked at nothing: {}{more}",
            summary.policies,
            all.len(),
            shown.join(", ")
        )
    })
}

/// How many errors are not reported as such; `None` if all are.
pub fn silenced(summary: &Summary) -> Option<String> {
    let are = if summary.silenced == 1 { "is" } else { "are" };
    let what = "silenced or made quieter by settings, comments or the baseline";
    (summary.silenced > 0).then(|| format!("{} {are} {what}", plural(summary.silenced, "error")))
}

/// How many findings there are, by severity: `4 errors, 1 warning, 1 note`.
pub fn counts(summary: &Summary) -> String {
    let of = |severity: Severity, word: &str| {
        let count = summary.severities.get(severity.name()).copied().unwrap_or(0);
        plural(count, word)
    };
    let (errors, warnings) = (of(Severity::Error, "error"), of(Severity::Warning, "warning"));
    format!("{errors}, {warnings}, {}", of(Severity::Note, "note"))
}

/// The file that a finding stands in, and its place if that is one in a text.
pub fn file_and_place<'f>(
    resource: Option<&'f ResourceReport>,
    finding: &'f Finding,
) -> (Option<&'f str>, Option<&'f SourcePlace>) {
    let place = finding.place.as_deref();
    let file = resource.map(|r| &*r.file).or(place.map(|p| &*p.file));
    // A binary resource is placed in its text form, which is no file.
    (file, place.filter(|place| file == Some(&*place.file)))
}

/// What a finding says, with the lines below it: its path, other places, and what to do.
pub fn paragraph(resource: Option<&ResourceReport>, finding: &Finding) -> String {
    let mut text = sentence_of_clients(resource, finding);
    if !finding.path.is_empty() {
        text += &format!("\nat {}", finding.path);
    }
    for related in &finding.related {
        text += &format!("\nsee {related}");
    }
    if let Some(help) = &finding.help {
        text += &format!("\nhelp: {help}");
    }
    text
}

/// What the next finding in `file` is known by across edits elsewhere, as text.
pub fn fingerprint(
    known: &mut Fingerprints,
    file: &str,
    resource: Option<&ResourceReport>,
    finding: &Finding,
) -> String {
    let (type_name, name) = resource.map_or(("", ""), |r| (&r.type_name, &r.name));
    let about = About {
        file,
        type_name,
        // An unnamed resource is named by its number, which changes with those before.
        name: if name.starts_with("<unnamed #") { "" } else { name },
    };
    known
        .next(about, finding.rule, &finding.path, &finding.message)
        .to_string()
}
