//! Turns the report of `validate` into the snapshot for the language server.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use xdsctl_document::envelope::{EMPTY, NO_RESOURCE, UNKNOWN_SHAPE};
use xdsctl_document::secret;
use xdsctl_document::source::{SourceId, SourceMap, Span};
use xdsctl_lint::decide::CheckOutcome;
use xdsctl_lsp::Snapshot;
use xdsctl_lsp::project::{ProjectFinding, ProjectResource, RelatedPlace};
use xdsctl_model::resource::ResourceType;
use xdsctl_report::SourcePlace;
use xdsctl_report::findings::{ByFinding, Finding, ResourceReport, Summary};
use xdsctl_suite::SuiteFault;

/// Collects what a report shows.
pub(super) struct Collected {
    /// The ids of the documents by name.
    ids: BTreeMap<String, SourceId>,
    pub findings: Vec<ProjectFinding>,
}

impl Collected {
    pub fn of(sources: &SourceMap) -> Collected {
        // If two documents have the same name, the first is an input and the other is one that a
        // setting names.
        let names = sources.iter().map(|(id, source)| (source.name().to_owned(), id));
        let mut ids = BTreeMap::new();
        names.for_each(|(name, id)| _ = ids.entry(name).or_insert(id));
        Collected {
            ids,
            findings: Vec::new(),
        }
    }

    /// Returns the document and the span of a place. A place in the text form of a message in wire
    /// format has no span, because that text is not a document.
    fn place(&self, place: Option<&SourcePlace>) -> Option<(SourceId, Option<Span>)> {
        let place = place?;
        let span = Span::new(place.byte_start, place.byte_end);
        match self.ids.get(&*place.file) {
            Some(id) => Some((*id, Some(span))),
            None => Some((*self.ids.get(place.file.strip_suffix(" (decoded)")?)?, None)),
        }
    }
}

impl ByFinding for Collected {
    fn finding(&mut self, resource: Option<&ResourceReport>, finding: &Finding) -> io::Result<()> {
        let of_resource = || Some((*self.ids.get(&*resource?.file)?, None));
        let Some((source, span)) = self.place(finding.place.as_deref()).or_else(of_resource) else {
            return Ok(());
        };
        let related = finding.related.iter().filter_map(|related| {
            let (source, span) = self.place(related.place.as_deref())?;
            Some(RelatedPlace {
                source,
                span: span?,
                message: shown(&related.message),
            })
        });
        self.findings.push(ProjectFinding {
            source,
            span,
            rule: Some(finding.rule),
            effect: Some(finding.effect),
            who: finding.who.clone(),
            severity: finding.severity,
            message: shown(&finding.message),
            help: finding.help.as_deref().map(shown),
            path: finding.path.to_string(),
            related: related.collect(),
            fix: finding.fix.clone(),
            page: None,
        });
        Ok(())
    }

    fn finish(&mut self, _: &Summary) -> io::Result<()> {
        Ok(())
    }
}

/// Returns a text without what looks like a secret, as every other command prints it.
fn shown(text: &str) -> String {
    secret::hide(text).into_owned()
}

/// Adds the resources and their places to the snapshot.
pub(super) fn resources(outcome: &CheckOutcome, snapshot: &mut Snapshot) {
    let resources = outcome.resources.iter().map(|checked| ProjectResource {
        resource_type: checked.resource_type,
        type_name: match checked.resource_type {
            Some(known) => ResourceType::type_name(known).to_owned(),
            None => checked.type_url.rsplit('/').next().unwrap_or_default().to_owned(),
        },
        name: checked.name.clone(),
        source: checked.origin.source,
        span: checked.origin.span,
        world: checked.world,
        verdict: checked.verdict_word(),
    });
    snapshot.resources = resources.collect();
}

/// Replaces the findings that a suite is not configuration with its faults as a suite.
pub(super) fn of_suite(id: SourceId, faults: &[SuiteFault], snapshot: &mut Snapshot) {
    snapshot.configuration.insert(id);
    let of_shape: BTreeSet<&str> = [&UNKNOWN_SHAPE, &NO_RESOURCE, &EMPTY].map(|rule| rule.id).into();
    snapshot
        .findings
        .retain(|finding| finding.source != id || finding.rule.is_none_or(|rule| !of_shape.contains(rule.id)));
    let findings = faults.iter();
    let findings = findings.map(|fault| ProjectFinding::of_text(id, fault.span, shown(&fault.message)));
    snapshot.findings.extend(findings);
}
