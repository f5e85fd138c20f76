//! `validate --fix` and `--diff`: make the fixes of all documents in the files, or print them as a
//! patch.
//!
//! Findings that are suppressed, in the baseline, switched off with `-A`, or no fault for the
//! clients that were asked are not fixed. Configuration that was made for a proxy is not fixed
//! either, because its reader is not gRPC, unless `--all` asks for it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::io::edit::replace;
use crate::io::input::Inputs;
use crate::io::reach::AllowedDirectories;
use crate::{Error, Io};
use xdsctl_channel::client::Checked;
use xdsctl_document::source::sniff::DocumentFormat;
use xdsctl_document::source::{SourceId, SourceMap};
use xdsctl_lint::choice::Severities;
use xdsctl_lint::decide::CheckOutcome;
use xdsctl_lint::decide::loudness::is_of_asked;
use xdsctl_lint::fix::{self, Document, Edit};
use xdsctl_model::diag::Diagnostic;
use xdsctl_model::text::plural;
use xdsctl_report::findings::patch;
use xdsctl_report::findings::resolve::Fixable;
use xdsctl_report::masks::{Masks, ResourceSpan, resources};

/// The fixes of a run.
#[derive(Debug, Default)]
pub(super) struct Fixes {
    /// The edits of each document, in order and without overlaps.
    changes: BTreeMap<SourceId, Vec<Edit>>,
    /// The resources of each document.
    resources: BTreeMap<SourceId, Vec<ResourceSpan>>,
    /// Documents with findings that could be fixed in another format.
    passed_over: BTreeSet<SourceId>,
    /// The findings that have a fix.
    pub fixable: Fixable,
}

impl Fixes {
    /// Collects the fixes for the findings in the documents of `inputs`.
    pub fn of(outcome: &CheckOutcome, inputs: &Inputs, severities: &Severities, with_proxies: bool) -> Fixes {
        let wants = |diagnostic: &Diagnostic| {
            let field = diagnostic.path.segs().last_field();
            severities.of((diagnostic.rule, diagnostic.effect), field).is_some()
        };
        let is_folded = |checked: &Checked| !with_proxies && outcome.proxy_worlds.contains(&checked.world);
        let mut documents: BTreeMap<SourceId, Option<Document<'_>>> = BTreeMap::new();
        let mut found: BTreeMap<SourceId, BTreeSet<Edit>> = BTreeMap::new();
        let mut fixes = Fixes::default();
        for (number, checked) in outcome.resources.iter().enumerate() {
            let wants = |diagnostic: &Diagnostic| wants(diagnostic) && is_of_asked(checked, diagnostic, &inputs.fleet);
            let id = checked.origin.source;
            if is_folded(checked) || !inputs.documents.contains(&id) || !fix::may_be_fixed(checked, wants) {
                continue;
            }
            let Some(source) = inputs.sources.get(id) else {
                continue;
            };
            let Some(document) = documents.entry(id).or_insert_with(|| Document::new(source)) else {
                fixes.passed_over.insert(id);
                continue;
            };
            for (edit, fixed) in document.edits(checked, wants) {
                fixes.fixable.insert((number, fixed), edit.clone());
                found.entry(id).or_default().insert(edit);
            }
        }
        for (id, changes) in found {
            let mut end = 0;
            let mut changes: Vec<Edit> = changes.into_iter().collect();
            changes.retain(|edit| {
                let is_free = edit.span.start >= end;
                end = end.max(edit.span.end);
                is_free
            });
            fixes.changes.insert(id, changes);
        }
        fixes.resources = resources(&outcome.resources);
        fixes
    }

    /// Returns how many fixes there are.
    pub fn count(&self) -> usize {
        self.changes.values().map(Vec::len).sum()
    }

    /// Makes the fixes in the files and in the documents in memory, and says how many there are.
    ///
    /// A file that is out of reach, cannot be written or has changed since it was read is not
    /// changed, and neither is its document in memory.
    ///
    /// # Errors
    /// Standard error is closed.
    pub fn apply(mut self, inputs: &mut Inputs, reach: &AllowedDirectories, io: &mut Io<'_>) -> Result<(), Error> {
        let mut failures = Vec::new();
        self.changes.retain(|id, changes| {
            let Some(source) = inputs.sources.get(*id) else {
                return false;
            };
            let new = fixed(source.bytes(), changes);
            match replace(Path::new(source.name()), reach, source.bytes(), &new) {
                Ok(()) => true,
                Err(error) => {
                    failures.push(Error::io("fix", source.name())(error));
                    false
                }
            }
        });
        self.say(&inputs.sources, "made", "", io)?;
        self.change(inputs);
        inputs.unread.extend(failures);
        Ok(())
    }

    /// Prints the fixes as a patch, and makes them in the documents in memory. `is_for_files` says
    /// whether `--fix` could make them where the documents come from.
    ///
    /// # Errors
    /// A stream cannot be written.
    pub fn show(
        &self,
        inputs: &mut Inputs,
        is_for_files: bool,
        shows_secrets: bool,
        io: &mut Io<'_>,
    ) -> Result<(), Error> {
        let mut hidden = patch::Hidden::default();
        for (id, changes) in &self.changes {
            if let Some(source) = inputs.sources.get(*id) {
                let resources = self.resources.get(id).cloned().unwrap_or_default();
                let masks = Masks::of(source, resources, shows_secrets);
                let found = patch::write(source, changes, &masks, &mut io.out)?;
                hidden.secrets |= found.secrets;
                hidden.returns |= found.returns;
            }
        }
        io.out.flush()?;
        let how = if is_for_files { ", which --fix makes" } else { "" };
        self.say(&inputs.sources, "a patch of", how, io)?;
        let what = match (hidden.secrets, hidden.returns) {
            (true, _) => Some(("secrets in the patch are masked", "; --show-secrets keeps them")),
            (false, true) => Some(("the patch writes carriage returns inside a line as `\\u000d`", "")),
            (false, false) => None,
        };
        if let Some((what, way)) = what {
            let how = if is_for_files { "; --fix works without it" } else { "" };
            writeln!(io.err, "xdsctl: {what}, so that it cannot be applied{way}{how}")?;
        }
        self.change(inputs);
        Ok(())
    }

    fn say(&self, sources: &SourceMap, before: &str, after: &str, io: &mut Io<'_>) -> Result<(), Error> {
        for id in &self.passed_over {
            let Some(source) = sources.get(*id) else { continue };
            let format = match source.format() {
                Some(DocumentFormat::Text) => "text format",
                Some(DocumentFormat::Binary) => "binary",
                _ => "a log",
            };
            let name = source.name();
            say!(
                io.err,
                "xdsctl: `{name}` is not fixed: it is {format}, only JSON and YAML are fixed"
            )?;
        }
        let (fixes, files) = (self.count(), self.changes.len());
        if fixes == 0 {
            writeln!(io.err, "xdsctl: there is nothing to fix")?;
            return Ok(());
        }
        let fix = if fixes == 1 { "fix" } else { "fixes" };
        writeln!(
            io.err,
            "xdsctl: {before} {fixes} {fix} in {}{after}",
            plural(files, "file")
        )?;
        Ok(())
    }

    /// Makes the fixes in the documents in memory.
    fn change(&self, inputs: &mut Inputs) {
        for (id, changes) in &self.changes {
            if let Some(source) = inputs.sources.get(*id) {
                let new = fixed(source.bytes(), changes);
                inputs.sources.replace(*id, new);
            }
        }
    }
}

/// Returns the document after its fixes.
fn fixed(old: &[u8], changes: &[Edit]) -> Vec<u8> {
    let mut new = Vec::with_capacity(old.len());
    let mut at = 0;
    for edit in changes {
        new.extend_from_slice(old.get(at..edit.span.start).unwrap_or_default());
        new.extend_from_slice(edit.text.as_bytes());
        at = edit.span.end;
    }
    new.extend_from_slice(old.get(at..).unwrap_or_default());
    new
}
