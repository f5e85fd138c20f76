//! From the outcome of a check to findings with places: the only step that goes back to the documents.
//!
//! Nothing about positions is kept before. Each finding's field is looked up in the text of its resource; the lines around it
//! are cut out only for findings that a person will see.

use std::collections::BTreeSet;

use super::{Finding, Findings, Place, ResourceReport, Severities, Snippet};
use crate::check::{Checked, Outcome, Verdict};
use crate::diag::{Diagnostic, FieldPath, Severity};
use crate::envelope::{Label, State, World, WorldId};
use crate::model::ResourceType;
use crate::source::{Source, SourceId, SourceMap, Span};

/// How to turn an outcome into findings.
#[derive(Debug)]
pub struct Options<'o> {
    /// The user's severities.
    pub severities: &'o Severities,
    /// Cut snippets for findings of at least this severity; `None` for no snippets at all.
    pub snippets_from: Option<Severity>,
    /// Snippets a rule; a person reads only so many.
    pub snippets_per_rule: usize,
}

/// Longest snippet line in bytes; longer ones are cut around the span.
const MAX_LINE: usize = 160;

/// Resolves every finding.
pub fn findings(outcome: Outcome, worlds: &[World], sources: &SourceMap, options: &Options<'_>) -> Findings {
    let mut resolver = Resolver {
        sources,
        options,
        cut: std::collections::BTreeMap::new(),
    };
    let folded: BTreeSet<WorldId> = outcome.proxy_worlds.iter().copied().collect();
    let mut report = Findings {
        folded_worlds: folded.iter().map(|id| world_name(*id, worlds, sources)).collect(),
        ..Findings::default()
    };
    for found in outcome.findings {
        report
            .findings
            .extend(resolver.finding(found.diagnostic, sources.get(found.source), Some(found.span)));
    }
    for (number, checked) in outcome.resources.into_iter().enumerate() {
        report.resources.push(resolver.resource(number, checked, worlds));
    }
    report
}

fn world_name(id: WorldId, worlds: &[World], sources: &SourceMap) -> String {
    let Some(world) = worlds.get(id.0 as usize) else {
        return String::new();
    };
    match &world.scope {
        Some(scope) => scope.clone(),
        None => file_name(world.source, sources),
    }
}

fn file_name(id: SourceId, sources: &SourceMap) -> String {
    sources.get(id).map(|s| s.name().to_owned()).unwrap_or_default()
}

/// Where in the dump a resource stands: `static`, `dynamic`, `warming`, `draining`, `rejected update`.
fn section(checked: &Checked) -> &'static str {
    match (checked.state, checked.label) {
        (State::Warming, _) => "warming",
        (State::Draining, _) => "draining",
        (State::Failed, _) => "rejected update",
        (State::Active, Label::Static) => "static",
        (State::Active, Label::Dynamic) => "dynamic",
        (State::Active, Label::None) => "",
    }
}

struct Resolver<'r> {
    sources: &'r SourceMap,
    options: &'r Options<'r>,
    /// Snippets cut so far, by rule.
    cut: std::collections::BTreeMap<&'static str, usize>,
}

impl Resolver<'_> {
    fn resource(&mut self, number: usize, checked: Checked, worlds: &[World]) -> ResourceReport {
        let source = checked.origin.source;
        let mut findings: Vec<Finding> = Vec::with_capacity(checked.diagnostics.len() + checked.notes.len());
        let section = section(&checked);
        let type_name = checked.resource_type.map_or_else(
            || checked.type_url.rsplit('/').next().unwrap_or_default().to_owned(),
            |t: ResourceType| t.short_name().to_owned(),
        );
        let name = if checked.name.is_empty() {
            format!("<unnamed #{}>", number + 1)
        } else {
            checked.name
        };
        let document = self.sources.get(source);
        let origin = checked.origin.span;
        // Wire bytes have no lines: places are those in the resource as text.
        let decoded = match checked.resource_type {
            Some(resource_type) if !checked.diagnostics.is_empty() => {
                document.and_then(|document| document.decoded(origin, resource_type.type_name()))
            }
            _ => None,
        };
        let paths: Vec<&FieldPath> = checked.diagnostics.iter().map(|d| &d.path).collect();
        let spans = match &decoded {
            Some(decoded) => Some(decoded.locate_all(Span::new(0, decoded.bytes().len()), &paths)),
            None => document.map(|document| document.locate_all(origin, &paths)),
        };
        let mut spans = spans.unwrap_or_default().into_iter();
        let shown = decoded.as_ref().or(document);
        for diagnostic in checked.diagnostics {
            let mut finding = self.finding(diagnostic, shown, spans.next());
            if decoded.is_some()
                && let Some(place) = finding.as_mut().and_then(|finding| finding.place.as_mut())
            {
                // Bytes are those of the file.
                (place.byte_start, place.byte_end) = (origin.start, origin.end);
            }
            findings.extend(finding);
        }
        for note in checked.notes {
            findings.extend(self.finding(note.diagnostic, document, Some(note.span)));
        }
        // What a live client said stays first; the rest in the order of the document.
        findings.sort_by_key(|f| (f.place.as_ref().map_or(0, |p| p.byte_start), f.rule.effect));
        ResourceReport {
            file: file_name(source, self.sources),
            world: world_name(checked.world, worlds, self.sources),
            section: section.to_owned(),
            type_name,
            name,
            verdict: match checked.verdict {
                Verdict::Accepted => super::Verdict::Accepted,
                Verdict::Rejected => super::Verdict::Rejected,
                Verdict::Ignored => super::Verdict::Ignored,
                Verdict::NotChecked => super::Verdict::NotChecked,
            },
            findings,
            parsed: checked.view,
        }
    }

    /// The finding with its place; `None` if the user allows it.
    fn finding(&mut self, diagnostic: Diagnostic, source: Option<&Source>, span: Option<Span>) -> Option<Finding> {
        let severity = self.options.severities.of(diagnostic.rule)?;
        let wants_snippet = self.options.snippets_from.is_some_and(|from| severity >= from) && {
            let cut = self.cut.entry(diagnostic.rule.id).or_default();
            *cut += 1;
            *cut <= self.options.snippets_per_rule
        };
        let place = source
            .zip(span)
            .map(|(source, span)| place(source, span, wants_snippet));
        Some(Finding {
            rule: diagnostic.rule,
            severity,
            path: diagnostic.path.to_string(),
            message: diagnostic.message,
            help: diagnostic.help,
            place,
        })
    }
}

fn place(source: &Source, span: Span, wants_snippet: bool) -> Place {
    let start = source.line_column(span.start);
    let end = source.line_column(span.end);
    Place {
        file: source.name().to_owned(),
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
        byte_start: span.start,
        byte_end: span.end,
        snippet: wants_snippet.then(|| snippet(source, span, start.line)),
    }
}

/// Cuts the line of the span and one on either side, each at most [`MAX_LINE`] bytes around the span.
fn snippet(source: &Source, span: Span, line: usize) -> Snippet {
    let bytes = source.bytes();
    let at = span.start.min(bytes.len());
    let line_start = |from: usize| {
        let head = bytes.get(from.saturating_sub(MAX_LINE)..from).unwrap_or_default();
        memchr::memrchr(b'\n', head).map_or(from.saturating_sub(MAX_LINE), |n| from.saturating_sub(MAX_LINE) + n + 1)
    };
    let line_end = |from: usize| {
        let tail = bytes.get(from..(from + MAX_LINE).min(bytes.len())).unwrap_or_default();
        memchr::memchr(b'\n', tail).map_or((from + MAX_LINE).min(bytes.len()), |n| from + n)
    };
    let own = line_start(at);
    let (start, first_line) = if own > 0 && bytes.get(own - 1) == Some(&b'\n') && line > 1 {
        (line_start(own - 1), line - 1)
    } else {
        (own, line)
    };
    let own_end = line_end(at);
    let end = if bytes.get(own_end) == Some(&b'\n') {
        line_end(own_end + 1)
    } else {
        own_end
    };
    let before = String::from_utf8_lossy(bytes.get(start..at).unwrap_or_default()).into_owned();
    let span_end = span.end.clamp(at, own_end);
    let inside = String::from_utf8_lossy(bytes.get(at..span_end).unwrap_or_default()).into_owned();
    let after = String::from_utf8_lossy(bytes.get(span_end..end).unwrap_or_default()).into_owned();
    let (offset, len) = (before.len(), inside.len().max(1));
    let mut text = before + &inside + &after;
    if text.len() < offset + len {
        text.push(' ');
    }
    Snippet {
        text,
        first_line,
        start: offset,
        len,
    }
}
