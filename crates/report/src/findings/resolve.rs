//! Turns the outcome of a check into findings with places. It is the only step that goes back to
//! the documents.
//!
//! No positions are kept before this step. [`ResolvedFindings`] handles one resource after the
//! other. The fields of all its findings that will be shown are looked up in one walk over its
//! text. The lines around a finding are cut out only for a report for people.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::iter::Enumerate;
use std::sync::Arc;
use std::vec::IntoIter;

use super::clients::{self, Said, Say, Verdicts};
use super::not_checked::NotCheckedTally;
use super::{Finding, NotShown, Parsed, RelatedPlace, ReportWriter, ResourceReport, Summary, Unplaced, section};
use crate::masks::{Masks, ResourceSpan, redacted, resources};
use crate::{SourcePlace, snippet};
use xdsctl_channel::client::{Checked, is_live};
use xdsctl_document::envelope::{Finding as EnvelopeFinding, Origin, WorldId, WorldName};
use xdsctl_document::proto::transcode::Note;
use xdsctl_document::source::secrets::peer_words;
use xdsctl_document::source::{Source, SourceId, SourceMap, Span};
use xdsctl_lint::choice::Severities;
use xdsctl_lint::decide::loudness::{CountedEffect, Loudness, silenced};
use xdsctl_lint::decide::{CheckOutcome, Reason, Withheld, WithheldFinding};
use xdsctl_lint::fix::{Edit, Fixed};
use xdsctl_model::diag::{Diagnostic, Effect, FieldPath, PackedText, Rule, Severity, Subject};
use xdsctl_model::profile::{Client, Fleet};
use xdsctl_model::resource::ResourceType;
use xdsctl_policy::is_failed;

/// The findings that `--fix` would fix, each with the index of its resource, and how. The map is
/// never iterated, so its order does not matter.
pub type Fixable = HashMap<(usize, Fixed), Edit>;

/// Options for turning an outcome into findings.
#[derive(Debug)]
pub struct ResolveOptions<'o> {
    /// The user's severities.
    pub severities: &'o Severities,
    /// The clients that were asked.
    pub fleet: &'o Fleet,
    /// Where the names of the clients come from, if not from an argument.
    pub fleet_from: Option<&'o str>,
    /// The clients whose findings can fail the run; empty for all.
    pub counted: &'o [Client],
    /// The least severity of findings that get a snippet; `None` for no snippets at all.
    pub snippets_from: Option<Severity>,
    /// Most snippets for each rule and severity; people read only so many.
    pub snippets_per_rule: usize,
    /// Most columns of a line of a snippet.
    pub snippet_columns: usize,
    /// Whether secrets are quoted.
    pub shows_secrets: bool,
    /// The findings that `--fix` would fix.
    pub fixable: &'o Fixable,
    /// Most findings of each severity, apart from those that belong to no resource; `None` for no
    /// limit.
    pub max_findings: Option<usize>,
}

/// The findings of a run, which are resolved resource by resource while they are written.
#[derive(Debug)]
pub struct ResolvedFindings<'r> {
    /// The findings that belong to no resource.
    findings: Vec<Finding>,
    /// The counts of all resources so far, and of `findings`.
    pub summary: Summary,
    /// What was not checked so far.
    pub not_checked: NotCheckedTally,
    /// The findings that are not shown, if the user asked for them; the next field has those that
    /// belong to no resource.
    withheld: Withheld,
    withheld_of_documents: Vec<NotShown>,
    resolver: Resolver<'r>,
    before: clients::Before,
    resources: Enumerate<IntoIter<Checked>>,
}

/// Counts findings of a rule and effect at fields of one name: their number, and the clients that
/// have them. Returns how many of them are wanted.
type Tally<'t> = dyn FnMut((&'static Rule, Effect), Option<&str>, usize, Option<&Say>) -> usize + 't;

impl<'r> ResolvedFindings<'r> {
    /// Starts with the first resource.
    pub fn new(
        outcome: CheckOutcome,
        worlds: &'r [WorldName],
        sources: &'r SourceMap,
        options: &'r ResolveOptions<'r>,
    ) -> Self {
        let mut resolver = Resolver {
            sources,
            options,
            worlds,
            cut: BTreeMap::new(),
            resources: match options.snippets_from {
                Some(_) => resources(&outcome.resources),
                None => BTreeMap::new(),
            },
            masks: BTreeMap::new(),
        };
        let mut summary = Summary::new(clients::asked_with(options));
        let mut findings = Vec::new();
        let mut withheld = outcome.withheld;
        for found in outcome.findings {
            let Diagnostic {
                rule, effect, count, ..
            } = found.diagnostic;
            let field = found.diagnostic.path.segs().last_field();
            summary.silenced += silenced((rule, effect), field, count, options.severities);
            let Some(loudness) = Loudness::of((rule, effect), field, CountedEffect::Unattributed, options.severities)
            else {
                let place = Some((found.source, found.span));
                withheld.add(None, &found.diagnostic, place, Reason::SwitchedOff);
                continue;
            };
            summary.count((rule, effect), loudness, count);
            findings.push(resolver.of_document(found, loudness, true));
        }
        let withheld_of_documents = withheld.take(None).into_iter().filter_map(|one| {
            let (source, span) = one.place?;
            let loudness = Loudness::of_withheld(&one.diagnostic);
            let diagnostic = one.diagnostic;
            let found = EnvelopeFinding {
                source,
                span,
                diagnostic,
            };
            Some(NotShown {
                finding: resolver.of_document(found, loudness, false),
                reason: one.reason,
            })
        });
        let withheld_of_documents = withheld_of_documents.collect();
        ResolvedFindings {
            findings,
            summary,
            not_checked: NotCheckedTally::default(),
            withheld,
            withheld_of_documents,
            resolver,
            before: clients::Before::default(),
            resources: outcome.resources.into_iter().enumerate(),
        }
    }

    /// Writes everything to `format` and returns the counts.
    ///
    /// # Errors
    /// If `format` fails.
    pub fn write(mut self, format: &mut dyn ReportWriter) -> io::Result<Summary> {
        format.documents(&self.findings, &self.withheld_of_documents)?;
        let (mut left, mut beyond) = (BTreeMap::new(), 0);
        let max = self.resolver.options.max_findings.unwrap_or(usize::MAX);
        // Only so many findings of each severity are passed on (`--max-findings`).
        let mut take = |severity: Severity, wanted: usize| {
            let left = left.entry(severity).or_insert(max);
            let taken = wanted.min(*left);
            *left -= taken;
            beyond += wanted - taken;
            taken
        };
        let from = format.wants_from();
        while let Some(resource) = self.next_with(from, |finding| take(finding.severity, format.wants(&finding))) {
            format.resource(&resource)?;
        }
        self.summary.beyond_max = beyond;
        self.summary.not_checked = self.not_checked.finish(self.resolver.options.fleet);
        format.end(&self.summary)?;
        Ok(self.summary)
    }

    /// Resolves the next resource. Asks `wants` for its findings, in no particular order, how many
    /// are wanted; none below `from` are. The others are left out, and their places are not looked
    /// up.
    fn next_with(&mut self, from: Severity, mut wants: impl FnMut(Unplaced<'_>) -> usize) -> Option<ResourceReport> {
        let (number, mut checked) = self.resources.next()?;
        let options = self.resolver.options;
        let of_base = checked.verdict;
        let withheld = self
            .withheld
            .is_kept()
            .then_some((checked.origin, checked.resource_type));
        if withheld.is_some() {
            self.withheld.add_unasked(number, &checked, options.fleet);
        }
        let is_quiet = |text: &PackedText| {
            let severity = options.severities.of((text.rule, text.rule.effect), text.field());
            withheld.is_none() && severity.is_none_or(|severity| severity < from)
        };
        let asked = (options.fleet, options.counted);
        let Said { mut merged, verdicts } = clients::merge(&mut checked, asked, &mut self.before, is_quiet);
        let mut says: Vec<Say> = Vec::new();
        if withheld.is_some() {
            let all = std::mem::take(&mut merged).take(std::iter::repeat(usize::MAX));
            checked.diagnostics.extend(all.0);
            says = all.1;
            let counted = says.iter().map(|say| say.counted);
            self.withheld
                .add_switched_off(number, &checked, counted, options.severities);
        }
        let mut failed: Vec<&'static Rule> = Vec::new();
        let mut tally =
            |(rule, effect): (&'static Rule, Effect), field: Option<&str>, count: usize, say: Option<&Say>| {
                self.summary.silenced += silenced((rule, effect), field, count, options.severities);
                let counted = say.map_or(CountedEffect::Unattributed, |say| say.counted);
                let Some(loudness) = Loudness::of((rule, effect), field, counted, options.severities) else {
                    return 0;
                };
                self.summary.count((rule, effect), loudness, count);
                if is_failed(rule, effect) {
                    failed.push(rule);
                }
                wants(Unplaced {
                    rule,
                    severity: loudness.severity,
                    field,
                    count,
                })
            };
        let all = checked.diagnostics.iter();
        let all = all.zip(says.iter().map(Some).chain(std::iter::repeat(None)));
        let diagnostics: Vec<bool> = all
            .map(|(diagnostic, say)| is_wanted(diagnostic, say, &mut tally))
            .collect();
        let runs = merged.runs();
        let runs: Vec<usize> = runs
            .map(|run| tally(run.of, run.field, run.count, Some(run.say)))
            .collect();
        checked
            .notes
            .retain(|note| is_wanted(&note.diagnostic, None, &mut tally));
        let counts = checked.ignored.counts();
        let mut ignored: Vec<usize> = counts
            .map(|(rule, field, count)| tally((rule, rule.effect), field, count, None))
            .collect();
        retain(&mut checked.diagnostics, &diagnostics);
        retain(&mut says, &diagnostics);
        let (of_clients, of_each) = merged.take(runs);
        checked.diagnostics.extend(of_clients);
        says.extend(of_each);
        checked.ignored.unpack_first(&mut ignored, &mut checked.diagnostics);
        let mut report = self.resolver.resource(number, checked, (says, verdicts));
        if let Some((origin, resource_type)) = withheld {
            let list = self.withheld.take(Some(number));
            report.withheld = self.resolver.withheld((number, origin), resource_type, list);
        }
        self.not_checked.add(of_base, &report, &failed);
        *self.summary.verdicts.entry(report.verdict.name()).or_default() += 1;
        Some(report)
    }
}

/// Counts a finding, and says whether it is wanted.
fn is_wanted(diagnostic: &Diagnostic, say: Option<&Say>, tally: &mut Tally<'_>) -> bool {
    let of = (diagnostic.rule, diagnostic.effect);
    tally(of, diagnostic.path.segs().last_field(), diagnostic.count, say) > 0
}

/// Keeps the elements of a list for which `stay` is true.
fn retain<T>(list: &mut Vec<T>, stay: &[bool]) {
    let mut stay = stay.iter();
    list.retain(|_| stay.next().is_none_or(|stays| *stays));
}

#[derive(Debug)]
struct Resolver<'r> {
    sources: &'r SourceMap,
    options: &'r ResolveOptions<'r>,
    worlds: &'r [WorldName],
    /// How many snippets have been cut, by severity and rule.
    cut: BTreeMap<(Severity, &'static str), usize>,
    /// The resources of each document, if snippets are cut.
    resources: BTreeMap<SourceId, Vec<ResourceSpan>>,
    masks: BTreeMap<SourceId, Masks>,
}

impl<'r> Resolver<'r> {
    fn file_name(&self, id: SourceId) -> Arc<str> {
        self.sources.get(id).map_or("", Source::name).into()
    }

    fn world_name(&self, id: WorldId) -> Arc<str> {
        match self.worlds.get(id.0 as usize) {
            Some(WorldName { scope: Some(scope), .. }) => scope.as_str().into(),
            Some(world) => self.file_name(world.source),
            None => "".into(),
        }
    }

    fn resource(&mut self, number: usize, checked: Checked, (says, verdicts): (Vec<Say>, Verdicts)) -> ResourceReport {
        let section = section(&checked);
        let type_name = checked.resource_type.map_or_else(
            || checked.type_url.rsplit('/').next().unwrap_or_default().to_owned(),
            |t: ResourceType| t.short_name().to_owned(),
        );
        let findings = if checked.diagnostics.is_empty() && checked.notes.is_empty() {
            Vec::new()
        } else {
            let type_name = checked.resource_type.map(ResourceType::type_name);
            self.findings(
                (number, checked.origin),
                type_name,
                (checked.diagnostics, says),
                checked.notes,
                true,
            )
        };
        ResourceReport {
            file: self.file_name(checked.origin.source),
            world: self.world_name(checked.world),
            section,
            span: checked.origin.span,
            type_name,
            name: if checked.name.is_empty() {
                format!("<unnamed #{}>", number + 1)
            } else {
                checked.name
            },
            verdict: clients::overall(checked.verdict, &verdicts),
            clients: verdicts,
            findings,
            withheld: Vec::new(),
            parsed: checked.parsed.map(|resource| Parsed {
                resource,
                shows_secrets: self.options.shows_secrets,
            }),
        }
    }

    /// Resolves a finding on a document.
    fn of_document(&mut self, found: EnvelopeFinding, loudness: Loudness, is_shown: bool) -> Finding {
        let document = self.sources.get(found.source);
        let mut finding = placed(found.diagnostic, None, loudness, document, Some(found.span));
        if let Some(source) = document
            && finding.rule.subject == Subject::Bootstrap
        {
            let masks = Masks::bootstrap(source, self.options.shows_secrets);
            finding.message = masks.redacted(source, finding.message, &finding.path, found.span);
            self.masks.insert(found.source, masks);
        }
        if is_shown {
            self.cut_snippet(&mut finding, document, found.source);
        }
        finding
    }

    /// Resolves the findings of a resource that are not shown, in the order of the document.
    fn withheld(
        &mut self,
        place: (usize, Origin),
        resource_type: Option<ResourceType>,
        list: Vec<WithheldFinding>,
    ) -> Vec<NotShown> {
        let mut by_reason: Vec<(Reason, Vec<Diagnostic>, Vec<Note>)> = Vec::new();
        for WithheldFinding {
            diagnostic,
            place,
            reason,
        } in list
        {
            let at = by_reason.iter().position(|(other, ..)| *other == reason);
            let at = at.unwrap_or_else(|| {
                by_reason.push((reason, Vec::new(), Vec::new()));
                by_reason.len() - 1
            });
            match place {
                Some((_, span)) => by_reason[at].2.push(Note { diagnostic, span }),
                None => by_reason[at].1.push(diagnostic),
            }
        }
        let type_name = resource_type.map(ResourceType::type_name);
        let mut withheld = Vec::new();
        for (reason, diagnostics, notes) in by_reason {
            let findings = self.findings(place, type_name, (diagnostics, Vec::new()), notes, false);
            withheld.extend(findings.into_iter().map(|finding| NotShown {
                finding,
                reason: reason.clone(),
            }));
        }
        withheld.sort_by_key(|one| one.finding.place.as_ref().map_or(0, |place| place.byte_start));
        withheld
    }

    /// Resolves findings of a resource, in the order of the document: either those that are shown,
    /// or those that are not.
    fn findings(
        &mut self,
        (number, origin): (usize, Origin),
        type_name: Option<&'static str>,
        (diagnostics, says): (Vec<Diagnostic>, Vec<Say>),
        notes: Vec<Note>,
        is_shown: bool,
    ) -> Vec<Finding> {
        let mut findings = Vec::with_capacity(diagnostics.len() + notes.len());
        let document = self.sources.get(origin.source);
        // Wire bytes have no lines, so places are in the text form of the resource.
        let decoded = document
            .filter(|_| !diagnostics.is_empty())
            .and_then(|source| source.decoded(origin.span, type_name?));
        let shown = decoded.as_ref().or(document);
        let whole = match &decoded {
            Some(decoded) => Span::new(0, decoded.bytes().len()),
            None => origin.span,
        };
        let quotes = |diagnostic: &Diagnostic| diagnostic.effect != Effect::Ignored;
        let hides = !self.options.shows_secrets && diagnostics.iter().any(quotes);
        let marks = shown.filter(|_| hides).map(|shown| shown.marks(whole, type_name));
        let mut paths: Vec<&FieldPath> = Vec::with_capacity(diagnostics.len());
        for diagnostic in &diagnostics {
            paths.push(&diagnostic.path);
            paths.extend(diagnostic.related.iter().map(|related| &related.path));
        }
        let spans = shown.map(|source| source.locate_all(whole, &paths));
        let mut spans = spans.unwrap_or_default().into_iter();
        let redacted = |message: String, path: &FieldPath, span: Span| match shown.zip(marks.as_ref()) {
            Some((shown, marks)) => redacted(marks, shown, message, path, span),
            None => message,
        };
        let mut says = says.into_iter();
        for mut diagnostic in diagnostics {
            let span = spans.next();
            if is_live(diagnostic.rule) && !self.options.shows_secrets {
                diagnostic.message = peers(&diagnostic.message);
            } else if let Some(span) = span.filter(|_| quotes(&diagnostic)) {
                diagnostic.message = redacted(diagnostic.message, &diagnostic.path, span);
            }
            let related = std::mem::take(&mut diagnostic.related);
            let related = related.into_iter().map(|other| {
                let span = spans.next();
                RelatedPlace {
                    message: match span {
                        Some(span) => redacted(other.message, &other.path, span),
                        None => other.message,
                    },
                    place: shown.zip(span).map(|(document, span)| place(document, span)),
                    path: other.path,
                    rule: other.rule,
                }
            });
            let related = related.collect();
            let fix = self.fix(number, &diagnostic, None);
            let finding = self.finding(diagnostic, says.next(), (shown, span), is_shown);
            findings.extend(finding.map(|finding| Finding {
                related,
                fix,
                ..finding
            }));
        }
        for note in notes {
            let fix = self.fix(number, &note.diagnostic, Some(note.span));
            let finding = self.finding(note.diagnostic, None, (document, Some(note.span)), is_shown);
            findings.extend(finding.map(|finding| Finding { fix, ..finding }));
        }
        // Errors of a live client come first, the others in the order of the document.
        let start = |f: &Finding| f.place.as_ref().map_or(0, |p| p.byte_start);
        findings.sort_by_key(|f| (!is_live(f.rule), start(f), f.effect));
        if let Some(decoded) = &decoded {
            let masks = Masks::of(decoded, vec![(whole, type_name)], self.options.shows_secrets);
            self.masks.insert(origin.source, masks);
        }
        for finding in &mut findings {
            if is_shown {
                self.cut_snippet(finding, shown, origin.source);
            }
            if decoded.is_some()
                && let Some(place) = &mut finding.place
            {
                // Byte offsets refer to the file.
                (place.byte_start, place.byte_end) = (origin.span.start, origin.span.end);
            }
        }
        findings
    }

    /// Resolves a finding; `None` if it is not to be shown or the user has switched it off.
    fn finding(
        &self,
        diagnostic: Diagnostic,
        say: Option<Say>,
        (document, span): (Option<&Source>, Option<Span>),
        is_shown: bool,
    ) -> Option<Finding> {
        let field = diagnostic.path.segs().last_field();
        let of = (diagnostic.rule, diagnostic.effect);
        let loudness = match is_shown {
            true => {
                let counted = say.as_ref().map_or(CountedEffect::Unattributed, |say| say.counted);
                Loudness::of(of, field, counted, self.options.severities)?
            }
            false => Loudness::of_withheld(&diagnostic),
        };
        Some(placed(diagnostic, say, loudness, document, span))
    }

    /// Returns the fix of a finding on a resource, if there is one. A note on the text has a place.
    fn fix(&self, resource: usize, diagnostic: &Diagnostic, place: Option<Span>) -> Option<Edit> {
        let known = self.options.fixable;
        let fix = || known.get(&(resource, Fixed::of(diagnostic, place)));
        (!known.is_empty()).then(fix)?.cloned()
    }

    /// Adds the lines around a finding, if people will see it; `id` is the document's.
    fn cut_snippet(&mut self, finding: &mut Finding, document: Option<&Source>, id: SourceId) {
        let Some((place, document)) = finding.place.as_mut().zip(document) else {
            return;
        };
        if self.options.snippets_from.is_none_or(|from| finding.severity < from) {
            return;
        }
        let cut = self.cut.entry((finding.severity, finding.rule.id)).or_default();
        *cut += 1;
        if *cut <= self.options.snippets_per_rule {
            let span = Span::new(place.byte_start, place.byte_end);
            let text = document.bytes().get(span.range()).unwrap_or_default();
            let name = String::from_utf8_lossy(text.trim_ascii());
            let name = name.trim_matches(['"', '\'', ':']);
            let is_named = !name.is_empty() && finding.message.contains(&format!("`{name}`"));
            let named = is_named.then_some(span);
            let masks = self.masks.entry(id).or_insert_with(|| {
                let resources = self.resources.remove(&id).unwrap_or_default();
                Masks::of(document, resources, self.options.shows_secrets)
            });
            let cut = snippet::Cut {
                source: document,
                masks,
                named,
                columns: self.options.snippet_columns,
            };
            place.snippet = Some(cut.around(span, place.line));
        }
    }
}

/// Removes from a message those quoted words of a peer that may not be printed.
fn peers(message: &str) -> String {
    let pieces = message.split('`').enumerate().map(|(number, piece)| match number % 2 {
        0 => piece.to_owned(),
        _ => peer_words(piece),
    });
    pieces.collect::<Vec<_>>().join("`")
}

/// Makes a finding with its place.
fn placed(
    diagnostic: Diagnostic,
    say: Option<Say>,
    Loudness { severity, counts }: Loudness,
    document: Option<&Source>,
    span: Option<Span>,
) -> Finding {
    Finding {
        rule: diagnostic.rule,
        effect: diagnostic.effect,
        who: say.as_ref().map(|say| Arc::clone(&say.who)).unwrap_or_default(),
        by: say.map(|say| say.by).unwrap_or_default(),
        severity,
        counts,
        path: diagnostic.path,
        message: diagnostic.message,
        help: diagnostic.help,
        place: document.zip(span).map(|(document, span)| place(document, span)),
        related: Vec::new(),
        fix: None,
        is_consequence: diagnostic.cause.is_some(),
    }
}

fn place(document: &Source, span: Span) -> Box<SourcePlace> {
    Box::new(SourcePlace::of(document, span))
}
