//! From the report of `validate` to what the language server is told.

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

/// Keeps what the report shows.
pub(super) struct Collected {
    /// Documents by their names.
    ids: BTreeMap<String, SourceId>,
    pub findings: Vec<ProjectFinding>,
}

impl Collected {
    pub fn of(sources: &SourceMap) -> Collected {
        // Of two with one name the first is the document, and the other what a setting names.
        let names = sources.iter().map(|(id, source)| (source.name().to_owned(), id));
        let mut ids = BTreeMap::new();
        names.for_each(|(name, id)| _ = ids.entry(name).or_insert(id));
        Collected {
            ids,
            findings: Vec::new(),
        }
    }

    /// The document and the bytes of a place. A message in wire format has a place in its text
    /// form, which is no document.
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

/// A text without what looks like a secret, as at the edge of every other command.
fn shown(text: &str) -> String {
    secret::hide(text).into_owned()
}

/// Keeps which resources there are, and where.
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

/// A suite is no configuration: instead of that, what is wrong with it as a suite is said.
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
