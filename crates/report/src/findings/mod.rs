//! Reports on findings as plain data, and the formats that print them.
//!
//! A command makes a [`resolve::ResolvedFindings`]. A format takes one resource after the other
//! from it and writes it. Spans have already been resolved to lines, so a format does not need the
//! documents, and only the findings of one resource are in memory at a time.

pub mod clients;
pub mod concise;
pub mod github;
pub mod gitlab;
pub mod human;
pub mod json;
pub mod junit;
pub mod markdown;
pub mod matrix;
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
use super::{SourcePlace, listed, plural};
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

/// A resource and the findings on it.
#[derive(Debug)]
pub struct ResourceReport {
    /// The file of the document; `-` for standard input.
    pub file: Arc<str>,
    /// The world that the resource belongs to: a file, a client's scope or a wrapper.
    pub world: Arc<str>,
    /// The section of the dump: `static`, `dynamic`, `warming`; empty for a bare resource.
    pub section: &'static str,
    /// Place of the resource in the document.
    pub span: Span,
    /// Short name of the message, or the full name if gRPC does not ask for this type.
    pub type_name: String,
    /// Name of the resource; `<unnamed #3>` if it has none.
    pub name: String,
    /// The verdict of the client, or of all clients together.
    pub verdict: Verdict,
    /// The verdict of each client; empty if only the reference client was asked.
    pub clients: Verdicts,
    /// The findings, in the order of the document; empty if no format wants any of them.
    pub findings: Vec<Finding>,
    /// The findings that are not shown, if the user asked for them.
    pub withheld: Vec<NotShown>,
    /// What the client keeps of the resource, if the user asked for that.
    pub parsed: Option<Parsed>,
}

/// A finding with its place in the user's document.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The rule that is broken.
    pub rule: &'static Rule,
    /// What the client does because of the finding; the worst effect if there are several clients.
    pub effect: Effect,
    /// Which clients have which effect; empty if all that were asked have the same.
    pub who: Arc<str>,
    /// Which clients have which effect; empty if only one client was asked.
    pub by: Arc<str>,
    /// The severity, after the user's `-A`, `-W` and `-D`.
    pub severity: Severity,
    /// Whether the finding can fail the run: at least one client that has it can.
    pub counts: bool,
    /// The path of the field, in the client's notation.
    pub path: FieldPath,
    /// What is wrong, as half a sentence for people.
    pub message: String,
    /// One action that the user can take.
    pub help: Option<String>,
    /// Place of the finding; `None` if the document has no such place.
    pub place: Option<Box<SourcePlace>>,
    /// Related places.
    pub related: Vec<RelatedPlace>,
    /// The fix that `--fix` would make.
    pub fix: Option<Edit>,
    /// Whether the finding follows from the rejection of another resource.
    pub is_consequence: bool,
}

/// A finding that is not shown, with the reason.
#[derive(Debug, Clone)]
pub struct NotShown {
    /// The finding.
    pub finding: Finding,
    /// The reason.
    pub reason: Reason,
}

/// A related place of a finding.
#[derive(Debug, Clone)]
pub struct RelatedPlace {
    /// The path of the field, in the client's notation.
    pub path: FieldPath,
    /// What the place has to do with the finding.
    pub message: String,
    /// The rule of a consequence at this place; `None` if the place is part of the fault.
    pub rule: Option<&'static Rule>,
    /// The place; `None` if the document has no such place.
    pub place: Option<Box<SourcePlace>>,
}

impl fmt::Display for RelatedPlace {
    /// Writes the path with line and column, the message, and the rule.
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
    /// Returns the message with its rule.
    fn said(&self) -> String {
        let message = visible_line(&self.message);
        match self.rule {
            Some(rule) => format!("{message} ({})", rule.id),
            None => message.into_owned(),
        }
    }
}

impl Finding {
    /// Says what the clients do because of the finding: `nack`, or `nack in go; ignored in cpp`.
    pub fn effects(&self) -> &str {
        match &*self.who {
            "" => self.effect.name(),
            who => who,
        }
    }
}

/// The counts for the last lines of a report. Their JSON is the `summary` of `xdsctl.findings/v1`.
#[derive(Debug, Clone, Default, serde::Serialize)]
pub struct Summary {
    /// Number of resources by verdict.
    #[serde(rename = "resources")]
    pub verdicts: BTreeMap<&'static str, usize>,
    /// Number of findings by severity.
    pub severities: BTreeMap<&'static str, usize>,
    /// Number of findings by effect.
    pub effects: BTreeMap<&'static str, usize>,
    /// Number of findings by rule.
    pub rules: BTreeMap<&'static str, RuleCount>,
    /// The greatest severity of a finding that can fail the run.
    #[serde(skip)]
    pub worst: Option<Severity>,
    /// The clients that were asked, in words.
    #[serde(skip)]
    pub asked: String,
    /// What was not checked, and for which clients.
    #[serde(skip)]
    pub not_checked: Vec<NotChecked>,
    /// The input, apart from its resources.
    #[serde(flatten)]
    pub scope: ReportScope,
    /// How many findings a suppression removed; the other counts do not include them.
    pub suppressed: usize,
    /// How many findings are in the baseline; the other counts do not include them.
    #[serde(rename = "baseline")]
    pub known: usize,
    /// How many errors settings, comments or the baseline remove or make less severe.
    #[serde(rename = "silenced_errors")]
    pub silenced: usize,
    /// How many fixes `--fix` would make.
    #[serde(skip)]
    pub fixable: usize,
    /// How many policies the project has.
    #[serde(skip)]
    pub policies: usize,
    /// The policies that looked at nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub idle_policies: Vec<&'static str>,
    /// How many findings are not shown because of `--max-findings`.
    #[serde(skip_serializing_if = "is_none")]
    pub beyond_max: usize,
    /// What the client keeps of the resources, if the user asked for it.
    #[serde(skip)]
    pub reached: Option<Arc<Reached>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
const fn is_none(count: &usize) -> bool {
    *count == 0
}

/// How many policies that looked at nothing are named.
const IDLE_SHOWN: usize = 8;

/// The size of the input, apart from its resources.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct ReportScope {
    /// Number of documents.
    #[serde(skip)]
    pub documents: usize,
    /// Number of worlds: sets of resources that one client sees together.
    pub worlds: usize,
    /// Number of gRPC bootstraps that were checked.
    pub bootstraps: usize,
}

/// How many findings a rule has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(transparent)]
pub struct RuleCount {
    /// The rule.
    #[serde(skip)]
    pub rule: &'static Rule,
    /// The greatest severity of its findings.
    #[serde(skip)]
    pub severity: Severity,
    /// Number of its findings.
    pub count: usize,
}

impl Summary {
    /// Starts with a count of 0 for each verdict, severity and effect. The clients that were asked are
    /// in words.
    fn new(asked: String) -> Summary {
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
            asked,
            ..Summary::default()
        }
    }

    /// Returns the number of resources with a verdict.
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

/// Findings whose places have not been looked up: the number of findings of one rule at fields of
/// one name.
#[derive(Debug, Clone)]
pub struct Unplaced<'a> {
    /// The rule.
    pub rule: &'static Rule,
    /// The severity with which they are reported.
    pub severity: Severity,
    /// The innermost field.
    pub field: Option<&'a str>,
    /// Number of findings.
    pub count: usize,
}

/// Returns the section of the dump with a resource: `static`, `dynamic`, `warming`, `draining`,
/// `rejected update`.
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

/// A format of the report of `validate`. It gets one resource after the other, and writes.
pub trait ReportWriter {
    /// Returns how many of some findings will be shown, before their places are looked up. It is
    /// called for all findings of a resource, in no particular order. Then
    /// [`resource`](Self::resource) gets at least those that will be shown.
    fn wants(&mut self, finding: &Unplaced<'_>) -> usize;

    /// Returns the least severity of findings that the format ever wants.
    fn wants_from(&self) -> Severity {
        Severity::Note
    }

    /// Writes the findings that belong to no resource, before any resource. `withheld` has those that
    /// are not shown, if the user asked for them.
    ///
    /// # Errors
    /// If writing fails.
    fn documents(&mut self, findings: &[Finding], withheld: &[NotShown]) -> io::Result<()>;

    /// Writes the next resource.
    ///
    /// # Errors
    /// If writing fails.
    fn resource(&mut self, resource: &ResourceReport) -> io::Result<()>;

    /// Writes what is left, and flushes.
    ///
    /// # Errors
    /// If writing fails.
    fn end(&mut self, summary: &Summary) -> io::Result<()>;
}

/// A format that writes findings, not resources. With [`Shown`] it becomes a [`ReportWriter`].
pub trait ByFinding {
    /// Writes the next finding that is shown, with its resource if it has one.
    ///
    /// # Errors
    /// If writing fails.
    fn finding(&mut self, resource: Option<&ResourceReport>, finding: &Finding) -> io::Result<()>;

    /// Writes what is left, and flushes.
    ///
    /// # Errors
    /// If writing fails.
    fn finish(&mut self, summary: &Summary) -> io::Result<()>;
}

/// The least severity of findings that are shown, and the format that writes them.
pub struct Shown<F>(pub Severity, pub F);

impl<F: ByFinding> ReportWriter for Shown<F> {
    fn wants(&mut self, finding: &Unplaced<'_>) -> usize {
        finding.wanted(self.0)
    }

    fn wants_from(&self) -> Severity {
        self.0
    }

    fn documents(&mut self, findings: &[Finding], _: &[NotShown]) -> io::Result<()> {
        shown(findings, self.0).try_for_each(|finding| self.1.finding(None, finding))
    }

    fn resource(&mut self, resource: &ResourceReport) -> io::Result<()> {
        let mut shown = shown(&resource.findings, self.0);
        shown.try_for_each(|finding| self.1.finding(Some(resource), finding))
    }

    fn end(&mut self, summary: &Summary) -> io::Result<()> {
        self.1.finish(summary)
    }
}

impl Unplaced<'_> {
    /// Returns how many of the findings will be shown, if those from this severity on are.
    pub fn wanted(&self, least: Severity) -> usize {
        if self.severity >= least { self.count } else { 0 }
    }
}

/// Returns the findings that are severe enough to be shown.
pub fn shown(findings: &[Finding], least: Severity) -> impl Iterator<Item = &Finding> {
    findings.iter().filter(move |finding| finding.severity >= least)
}

/// Returns the findings that are not severe enough to be shown, with that as the reason.
pub fn too_quiet(findings: &[Finding], least: Severity) -> impl Iterator<Item = NotShown> {
    let quiet = findings.iter().filter(move |finding| finding.severity < least);
    quiet.map(move |finding| NotShown {
        finding: finding.clone(),
        reason: Reason::BelowSeverity(least),
    })
}

/// Returns the text of [`sentence`], followed by which clients have which effect if several were
/// asked.
pub fn sentence_of_clients(resource: Option<&ResourceReport>, finding: &Finding) -> String {
    let sentence = sentence(resource, finding);
    match &*finding.by {
        "" => sentence,
        by => format!("{sentence} ({by})"),
    }
}

/// Returns the message of a finding on one line, with the resource that it is about.
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

/// Returns the number of resources by verdict: `5 resources in 2 worlds: 4 accepted, ...`.
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

/// Returns the last lines of a report for people: what was looked at, what is left out, and how
/// many findings there are.
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

/// Says which policies looked at nothing: `7 policies, 1 looked at nothing: team-x`.
fn idle(summary: &Summary) -> Option<String> {
    let idle = summary.idle_policies.iter().map(|id| (*id).to_owned());
    let policies = if summary.policies == 1 { "policy" } else { "policies" };
    (idle.len() > 0).then(|| {
        let (all, count) = (summary.policies, idle.len());
        format!(
            "{all} {policies}, {count} looked at nothing: {}",
            listed(idle, IDLE_SHOWN)
        )
    })
}

/// Says how many errors are not reported as errors; `None` if all are.
pub fn silenced(summary: &Summary) -> Option<String> {
    let are = if summary.silenced == 1 { "is" } else { "are" };
    let what = "silenced or made quieter by settings, comments or the baseline";
    (summary.silenced > 0).then(|| format!("{} {are} {what}", plural(summary.silenced, "error")))
}

/// Returns the number of findings by severity: `4 errors, 1 warning, 1 note`.
pub fn counts(summary: &Summary) -> String {
    let of = |severity: Severity, word: &str| {
        let count = summary.severities.get(severity.name()).copied().unwrap_or(0);
        plural(count, word)
    };
    let (errors, warnings) = (of(Severity::Error, "error"), of(Severity::Warning, "warning"));
    format!("{errors}, {warnings}, {}", of(Severity::Note, "note"))
}

/// Returns the file of a finding, and its place if that is in the text of this file.
pub fn file_and_place<'f>(
    resource: Option<&'f ResourceReport>,
    finding: &'f Finding,
) -> (Option<&'f str>, Option<&'f SourcePlace>) {
    let place = finding.place.as_deref();
    let file = resource.map(|r| &*r.file).or(place.map(|p| &*p.file));
    // The place in a binary resource is in its text form, which is not a file.
    (file, place.filter(|place| file == Some(&*place.file)))
}

/// Returns the message of a finding, followed by lines with its path, related places and help.
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

/// Returns the fingerprint of the next finding in `file` as text. It stays the same if other parts
/// are edited.
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
        // The name of an unnamed resource is its number, which changes with the resources before
        // it.
        name: if name.starts_with("<unnamed #") { "" } else { name },
    };
    known
        .next(about, finding.rule, &finding.path, &finding.message)
        .to_string()
}
