//! Withholds the findings that are suppressed or in the baseline, and reports suppressions and
//! entries that have no effect.

use std::collections::{BTreeMap, BTreeSet};

use super::comments::{BYTES_A_STEP, CommentSteps, Comments, MAX_STEPS};
use super::consequences::Rejections;
use super::{CheckOutcome, Reason, Withheld};
use crate::choice::{
    Baseline, Date, EXPIRED, FindingTraits, STALE, Severities, Suppression, SuppressionPlace, UNUSED, baseline,
};
use xdsctl_channel::client::Checked;
use xdsctl_document::envelope::Finding;
use xdsctl_document::proto::transcode::LIMIT_EXCEEDED;
use xdsctl_document::source::sniff::DocumentFormat;
use xdsctl_document::source::{Source, SourceId, SourceMap, Span};
use xdsctl_model::diag::{About, Diagnostic, FieldPath, Fingerprints, Packed, Rule, Severity};
use xdsctl_model::profile::Client;
use xdsctl_policy::is_failed;

/// How many lines with findings of one rule are remembered for a document.
const MAX_LINES_KEPT: usize = 1_000;

/// What [`suppress`] removes, and on what that depends.
#[derive(Debug)]
pub struct SuppressionInput<'a> {
    /// Name of each document, by its id. It has slashes, and is the same wherever the command runs.
    pub names: &'a [String],
    /// All suppressions, from the configuration and from comments.
    pub suppressions: Vec<Suppression>,
    /// The baseline, and the document that it was read from.
    pub baseline: Option<(Baseline, SourceId)>,
    /// If set, findings of at least this severity go into a new baseline, in place of the old one.
    pub record: Option<Severity>,
    /// The user's severities. The consequences of a rejection that is switched off are silent as
    /// well.
    pub severities: &'a Severities,
    /// Decides which suppressions have expired.
    pub today: Date,
    /// Whether the input is complete. If so, a suppression that matches nothing in it is obsolete.
    pub is_complete: bool,
}

/// What was suppressed, and how much.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Suppressed {
    /// Number of findings that a suppression removed.
    pub suppressed: usize,
    /// Number of findings that are in the baseline.
    pub known: usize,
    /// Number of errors that suppressions and the baseline removed.
    pub errors: usize,
    /// The findings for a new baseline.
    pub recorded: Vec<baseline::BaselineEntry>,
}

/// Removes the findings that `choice` covers from `outcome`, and the consequences of rejections
/// that are then no longer shown.
pub fn suppress(outcome: &mut CheckOutcome, sources: &SourceMap, choice: SuppressionInput<'_>) -> Suppressed {
    let rejections = Rejections::of(outcome);
    let severities = choice.severities;
    let mut pass = Suppressing {
        uses: vec![SuppressionUse::default(); choice.suppressions.len()],
        comments: Comments::of_all(&choice),
        of_files: BTreeMap::new(),
        steps: CommentSteps(0),
        choice,
        sources,
        fingerprints: BTreeMap::new(),
        suppressed: Suppressed::default(),
        shown: BTreeMap::new(),
        errors: BTreeMap::new(),
    };
    let CheckOutcome {
        resources,
        findings,
        withheld,
        ..
    } = outcome;
    for (number, checked) in resources.iter_mut().enumerate() {
        pass.resource(number, checked, withheld);
        pass.count_errors();
    }
    withheld.sift_documents(findings, |finding| pass.document(finding));
    pass.count_errors();
    pass.idle(findings);
    let mut suppressed = pass.suppressed;
    suppressed.suppressed += rejections.follow(outcome, severities);
    suppressed
}

/// The effect of a suppression in this run.
#[derive(Debug, Clone, Copy, Default)]
struct SuppressionUse {
    /// The subject of the suppression is in the input.
    was_met: bool,
    /// The suppression removed a finding.
    was_used: bool,
}

struct Suppressing<'a> {
    choice: SuppressionInput<'a>,
    /// The suppressions in comments.
    comments: BTreeMap<SourceId, Comments>,
    /// The suppressions of the configuration that may apply to a document.
    of_files: BTreeMap<SourceId, Vec<usize>>,
    steps: CommentSteps,
    uses: Vec<SuppressionUse>,
    sources: &'a SourceMap,
    /// By document and client: several clients may have the same finding, and each counts its own.
    fingerprints: BTreeMap<(SourceId, Option<Client>), Fingerprints>,
    suppressed: Suppressed,
    /// The lines of the findings that stay, in documents with comments. They show which finding an
    /// unused comment probably meant.
    shown: BTreeMap<(SourceId, &'static str), (&'static Rule, BTreeSet<usize>)>,
    /// Number of errors of the current resource that were removed, by client.
    errors: BTreeMap<Option<Client>, usize>,
}

/// A finding that may be suppressed.
struct SuppressionCandidate<'c> {
    diagnostic: &'c Diagnostic,
    /// Place of the finding, if the place was looked up.
    span: Option<Span>,
    /// Whether the finding is about a secret; the text of a secret goes into no fingerprint.
    is_secret: bool,
}

impl Suppressing<'_> {
    /// Adds the errors that were removed from a resource: the same error of several clients counts
    /// once.
    fn count_errors(&mut self) {
        self.suppressed.errors += std::mem::take(&mut self.errors).into_values().max().unwrap_or(0);
    }

    fn keeps_baseline(&self) -> bool {
        self.choice.baseline.is_some() || self.choice.record.is_some()
    }

    /// Returns the suppressions of the configuration that may apply to a resource, and marks them
    /// as met.
    fn matching_suppressions(&mut self, source: SourceId, resource: Option<&str>) -> Vec<usize> {
        let of_file = self.of_files.entry(source).or_insert_with(|| {
            let file = self.choice.names.get(source.index()).map_or("", String::as_str);
            let all = self.choice.suppressions.iter().enumerate();
            let of_file = all.filter(|(_, suppression)| suppression.is_of_file(file));
            of_file.map(|(number, _)| number).collect()
        });
        let mut about = Vec::new();
        for number in of_file.iter().copied() {
            let Some((suppression, used)) = self.choice.suppressions.get(number).zip(self.uses.get_mut(number)) else {
                continue;
            };
            let length = resource.zip(suppression.ignore.resource.as_ref());
            let length = length.map_or(0, |(name, pattern)| name.len() + pattern.bytes());
            self.steps.take(1 + length / BYTES_A_STEP);
            if !self.steps.is_over() && suppression.is_of_resource(resource) {
                used.was_met = true;
                if !suppression.is_expired(self.choice.today) {
                    about.push(number);
                }
            }
        }
        about
    }

    /// Returns the findings on fields that are never read. Without `is_whole`, it returns none if
    /// no suppression in `about` can apply to any of them.
    fn unread(&self, about: &[usize], is_whole: bool, packed: &Packed) -> Vec<Diagnostic> {
        let may_be_about = |(rule, field, _): (&'static Rule, Option<&str>, usize)| {
            let effect = rule.effect;
            let asked = FindingTraits { rule, effect, field };
            let mut about = about.iter().filter_map(|number| self.choice.suppressions.get(*number));
            about.any(|suppression| suppression.takes(asked))
        };
        let mut unread = Vec::new();
        if is_whole || packed.counts().any(may_be_about) {
            packed.unpack_into(&mut unread);
            // Findings above the limit are a count only, and have no element in the packed list.
            unread.truncate(packed.len());
        }
        unread
    }

    fn resource(&mut self, number: usize, checked: &mut Checked, withheld: &mut Withheld) {
        let source = checked.origin.source;
        let about = self.matching_suppressions(source, Some(&checked.name));
        let keeps_baseline = self.keeps_baseline();
        let has_comments = self.comments.contains_key(&source);
        if about.is_empty() && !keeps_baseline && !has_comments {
            return;
        }
        let is_whole = keeps_baseline || has_comments;
        let ignored = self.unread(&about, is_whole, &checked.ignored);
        let document = self.sources.get(source);
        let type_name: &str = match checked.resource_type {
            Some(known) => known.short_name(),
            None => &checked.type_url,
        };
        let of_resource: Vec<&Diagnostic> = checked.diagnostics.iter().chain(&ignored).collect();
        let needs_places = keeps_baseline || has_comments;
        let spans = places(document.filter(|_| needs_places), checked.origin.span, &of_resource);
        let secrets = match (keeps_baseline, document, checked.resource_type) {
            (true, Some(document), Some(known)) => document.marks(checked.origin.span, Some(known.type_name())).hidden,
            _ => Vec::new(),
        };
        let subject = FindingSubject {
            source,
            type_name,
            name: &checked.name,
            about: &about,
            client: None,
        };
        let is_secret = |span: Option<Span>| {
            span.is_none_or(|span| secrets.iter().any(|s| s.start < span.end && span.start < s.end))
        };
        let mut reasons = Vec::with_capacity(of_resource.len());
        for (diagnostic, span) in of_resource.into_iter().zip(spans) {
            let candidate = SuppressionCandidate {
                diagnostic,
                span,
                is_secret: is_secret(span),
            };
            reasons.push(self.reason(&subject, &candidate));
        }
        withheld.sift_notes(number, &mut checked.notes, source, |note| {
            let span = Some(note.span);
            let candidate = SuppressionCandidate {
                diagnostic: &note.diagnostic,
                span,
                is_secret: is_secret(span),
            };
            self.reason(&subject, &candidate)
        });
        for answer in &mut checked.answers {
            let subject = FindingSubject {
                client: Some(answer.client),
                ..subject
            };
            let unread = answer.diagnostics.unread();
            let ignored = unread
                .map(|packed| self.unread(&about, is_whole, packed))
                .unwrap_or_default();
            let diagnostics: Vec<&Diagnostic> = answer.diagnostics.iter().chain(&ignored).collect();
            let spans = places(document.filter(|_| needs_places), checked.origin.span, &diagnostics);
            let mut spans = spans.into_iter();
            let mut lets_stay = |diagnostic: &Diagnostic| {
                let span = spans.next().flatten();
                let candidate = SuppressionCandidate {
                    diagnostic,
                    span,
                    is_secret: is_secret(span),
                };
                withheld.lets_stay(number, diagnostic, self.reason(&subject, &candidate))
            };
            answer.diagnostics.retain(&mut lets_stay);
            let mut of_ignored = ignored.iter();
            if !ignored.is_empty() {
                answer
                    .diagnostics
                    .retain_unread(|| of_ignored.next().is_none_or(&mut lets_stay));
            }
        }
        let mut reasons = reasons.into_iter();
        withheld.sift(number, &mut checked.diagnostics, |_| reasons.next().flatten());
        let mut of_ignored = ignored.iter().zip(reasons);
        if !ignored.is_empty() {
            checked.ignored.retain(|| {
                let next = of_ignored.next();
                next.is_none_or(|(diagnostic, reason)| withheld.lets_stay(number, diagnostic, reason))
            });
        }
    }

    /// Says why a finding on a document is not shown.
    fn document(&mut self, finding: &Finding) -> Option<Reason> {
        let about = self.matching_suppressions(finding.source, None);
        let subject = FindingSubject {
            source: finding.source,
            type_name: "",
            name: "",
            about: &about,
            client: None,
        };
        let candidate = SuppressionCandidate {
            diagnostic: &finding.diagnostic,
            span: Some(finding.span),
            is_secret: false,
        };
        self.reason(&subject, &candidate)
    }

    /// Returns the suppression that applies to a finding, and marks it as used. It is the first one
    /// of the configuration, or else of the comments.
    fn suppression(
        &mut self,
        subject: &FindingSubject<'_>,
        candidate: &SuppressionCandidate<'_>,
        asked: FindingTraits<'_>,
    ) -> Option<&Suppression> {
        let path = candidate.diagnostic.path.to_string();
        let mut of_comments = Vec::new();
        if let Some(comments) = self.comments.get(&subject.source) {
            let source = self.sources.get(subject.source);
            let line = source
                .zip(candidate.span)
                .map_or(0, |(source, span)| source.line_column(span.start).line);
            of_comments = comments.at(line, &mut self.steps);
        }
        for number in subject.about.iter().copied().chain(of_comments) {
            let Some((suppression, used)) = self.choice.suppressions.get(number).zip(self.uses.get_mut(number)) else {
                continue;
            };
            let length = suppression
                .ignore
                .path
                .as_ref()
                .map_or(0, |pattern| path.len() + pattern.bytes());
            self.steps.take(suppression.ignore.rules.len() + length / BYTES_A_STEP);
            if self.steps.is_over() {
                return None;
            }
            if suppression.takes(asked) && suppression.is_at(&path) {
                used.was_used = true;
                return self.choice.suppressions.get(number);
            }
        }
        None
    }

    /// Says why a finding is not shown, and counts it in that case. A policy that could not be
    /// evaluated is always shown.
    fn reason(&mut self, subject: &FindingSubject<'_>, candidate: &SuppressionCandidate<'_>) -> Option<Reason> {
        if is_failed(candidate.diagnostic.rule, candidate.diagnostic.effect) {
            return None;
        }
        let Diagnostic {
            rule,
            effect,
            path,
            message,
            count,
            ..
        } = candidate.diagnostic;
        let asked = FindingTraits {
            rule,
            effect: *effect,
            field: path.segs().last_field(),
        };
        let is_error = rule.severity_of(*effect) == Severity::Error;
        let errors = if is_error { *count } else { 0 };
        let suppression = self.suppression(subject, candidate, asked);
        if let Some(why) = suppression.map(|suppression| suppression.ignore.reason.clone()) {
            self.suppressed.suppressed += subject.weight(*count);
            *self.errors.entry(subject.client).or_default() += errors;
            return Some(Reason::Suppressed(why));
        }
        if let Some(span) = candidate.span.filter(|_| self.comments.contains_key(&subject.source))
            && let Some(source) = self.sources.get(subject.source)
        {
            let line = source.line_column(span.start).line;
            let shown = self.shown.entry((subject.source, rule.id));
            let (_, lines) = shown.or_insert_with(|| (rule, BTreeSet::new()));
            if lines.len() < MAX_LINES_KEPT {
                lines.insert(line);
            }
        }
        if !self.keeps_baseline() {
            return None;
        }
        let message = if candidate.is_secret { "" } else { message };
        let about = About {
            file: self.choice.names.get(subject.source.index()).map_or("", String::as_str),
            type_name: subject.type_name,
            name: subject.name,
        };
        let fingerprint = self
            .fingerprints
            .entry((subject.source, subject.client))
            .or_default()
            .next(about, rule, path, message);
        if let Some(from) = self.choice.record {
            let is_loud = self
                .choice
                .severities
                .of((rule, *effect), asked.field)
                .is_some_and(|severity| severity >= from);
            if is_loud {
                self.suppressed.known += subject.weight(*count);
                self.suppressed.recorded.push(baseline::BaselineEntry {
                    file: about.file.to_owned(),
                    type_name: about.type_name.to_owned(),
                    name: about.name.to_owned(),
                    rule: rule.id.to_owned(),
                    path: path.to_string(),
                    fingerprint,
                });
            }
            return is_loud.then_some(Reason::InBaseline);
        }
        let is_known = self
            .choice
            .baseline
            .as_mut()
            .is_some_and(|(known, _)| known.takes(fingerprint));
        if is_known {
            self.suppressed.known += subject.weight(*count);
            *self.errors.entry(subject.client).or_default() += errors;
        }
        is_known.then_some(Reason::InBaseline)
    }

    /// Names the nearest finding that a comment would have suppressed if it were in another line.
    fn missed(&self, suppression: &Suppression) -> String {
        let SuppressionPlace::Comment(lines) = &suppression.written else {
            return String::new();
        };
        let of_source = self
            .shown
            .iter()
            .filter(|((source, _), _)| *source == suppression.source);
        let named = of_source.filter(|(_, (rule, _))| {
            let effect = rule.effect;
            suppression.takes(FindingTraits {
                rule,
                effect,
                field: None,
            })
        });
        let all = named.flat_map(|((_, id), (_, lines))| lines.iter().map(move |line| (*id, *line)));
        let nearest = all.min_by_key(|(_, line)| line.abs_diff(*lines.start()));
        match nearest {
            Some((id, line)) => format!(" (the nearest of {id} is in line {line})"),
            None => String::new(),
        }
    }

    /// Reports suppressions that removed nothing, or that have expired.
    fn idle(&self, findings: &mut Vec<Finding>) {
        if self.steps.is_over()
            && let Some(first) = self.choice.suppressions.first()
        {
            let message =
                format!("more than {MAX_STEPS} comparisons of findings with suppressions, the others are not made");
            findings.push(Finding {
                source: first.source,
                span: first.span,
                diagnostic: Diagnostic::of_whole(&LIMIT_EXCEEDED, message),
            });
            return;
        }
        for (suppression, used) in self.choice.suppressions.iter().zip(&self.uses) {
            let is_idle = !used.was_used
                && (self.choice.is_complete
                    || suppression.is_narrow()
                        && (used.was_met || matches!(suppression.written, SuppressionPlace::Comment(_))));
            let (rule, message) = if suppression.is_expired(self.choice.today) {
                let until = suppression.ignore.until.map(|day| day.to_string()).unwrap_or_default();
                let message = format!(
                    "this suppression expired on `{until}` and has no effect any more: {}",
                    suppression.ignore.reason
                );
                (&EXPIRED, message)
            } else if is_idle {
                (
                    &UNUSED,
                    format!(
                        "this suppression matches no finding{}: {}",
                        self.missed(suppression),
                        suppression.ignore.reason
                    ),
                )
            } else {
                continue;
            };
            findings.push(Finding {
                source: suppression.source,
                span: suppression.span,
                diagnostic: Diagnostic::of_whole(rule, message),
            });
        }
        let Some((baseline, source)) = &self.choice.baseline else {
            return;
        };
        if self.choice.record.is_some() {
            return;
        }
        let text = self.sources.get(*source).map(Source::bytes).unwrap_or_default();
        for known in baseline.stale() {
            if !self.choice.is_complete && !self.choice.names.contains(&known.file) {
                continue;
            }
            let fingerprint = known.fingerprint.to_string();
            let start = memchr::memmem::find(text, fingerprint.as_bytes()).unwrap_or(0);
            let resource = match known.name.as_str() {
                "" => String::new(),
                name => format!(" of {} `{name}`", known.type_name),
            };
            let message = format!("`{}`{resource} in `{}` no longer occurs", known.rule, known.file);
            findings.push(Finding {
                source: *source,
                span: Span::new(start, start + fingerprint.len()),
                diagnostic: Diagnostic::of_whole(&STALE, message),
            });
        }
    }
}

/// The subject of a finding.
#[derive(Clone, Copy)]
struct FindingSubject<'s> {
    source: SourceId,
    type_name: &'s str,
    name: &'s str,
    /// The suppressions of the configuration that may apply to it.
    about: &'s [usize],
    /// The client whose finding it is, if that is not the base.
    client: Option<Client>,
}

impl FindingSubject<'_> {
    /// Returns how much a finding adds to the counts. Only findings of the base count; those of
    /// other clients add nothing.
    const fn weight(&self, count: usize) -> usize {
        if self.client.is_some() { 0 } else { count }
    }
}

/// Returns the places of findings, each `None` if there is no document to look in.
fn places(document: Option<&Source>, resource: Span, diagnostics: &[&Diagnostic]) -> Vec<Option<Span>> {
    // Wire bytes have no fields to find, and no lines.
    let Some(document) = document.filter(|document| document.format() != Some(DocumentFormat::Binary)) else {
        return vec![None; diagnostics.len()];
    };
    let paths: Vec<&FieldPath> = diagnostics.iter().map(|d| &d.path).collect();
    document.locate_all(resource, &paths).into_iter().map(Some).collect()
}
