//! Puts documents that were read before together, without reading them again.
//!
//! An editor changes one document of a world at a time. A [`ReadDocument`] keeps what one document
//! yields by itself; [`Reading::of`](super::Reading::of) puts several together, with the same
//! result as reading all of them at once. If a limit on all documents together may be reached, it
//! returns `None` instead.

use std::collections::HashMap;
use std::hash::BuildHasher;

use foldhash::quality::FixedState;

use super::checked::{Checked, ValidationInput, fit, judge};
use xdsctl_document::envelope::{BATCH_BYTES, BATCH_RESOURCES, Emit, Loader, RawResource};
use xdsctl_document::load;
use xdsctl_document::source::SourceId;
use xdsctl_model::diag::{Budget, MIN_FINDINGS_TOGETHER};

/// The resources of one document, each validated by itself.
#[derive(Debug)]
pub struct ReadDocument {
    resources: Vec<Judged>,
    /// The sizes of the groups in which the loader handed the resources over.
    groups: Vec<usize>,
    loader: Loader,
    /// How many notes the resources have from being read.
    notes: usize,
}

/// A resource that was validated by itself.
#[derive(Debug)]
struct Judged {
    /// The answer with all findings: how many of them may stay depends on the other documents.
    checked: Checked,
    /// How many bytes were validated; `None` if nothing was.
    size: Option<usize>,
    /// A hash of all that the client's answer depends on; `None` if nothing was validated.
    key: Option<u64>,
}

impl Judged {
    fn key(raw: &RawResource) -> Option<u64> {
        let bytes = raw.bytes.as_ref()?;
        Some(FixedState::default().hash_one((bytes, raw.resource_type, &raw.wrapper_name, raw.known)))
    }

    /// Returns the resource at its current place. Its findings stay as they are, because their paths
    /// begin at the resource.
    fn at(&self, raw: RawResource, key: Option<u64>) -> Judged {
        let checked = Checked {
            type_url: raw.type_url,
            world: raw.world,
            read_in: raw.world,
            label: raw.label,
            stage: raw.stage,
            status: raw.status,
            origin: raw.origin,
            notes: raw.notes,
            ..self.checked.clone()
        };
        Judged {
            checked,
            size: self.size,
            key,
        }
    }
}

impl ReadDocument {
    /// Reads one document with `read`, and validates its resources, except those that were already
    /// in `before`, an earlier text of it.
    pub fn read(
        against: &ValidationInput<'_>,
        before: Option<&ReadDocument>,
        read: impl FnOnce(&mut Loader, Emit<'_>),
    ) -> ReadDocument {
        let before = before.into_iter().flat_map(|before| &before.resources);
        // Looked up, never iterated.
        let before: HashMap<u64, &Judged> = before.filter_map(|judged| Some((judged.key?, judged))).collect();
        let mut loader = Loader::new();
        loader.other_clients = against.others.len();
        let mut groups = Vec::new();
        let loaded = load::go_on(
            loader,
            None,
            |loader, emit| {
                read(loader, &mut |resources| {
                    groups.push(resources.len());
                    emit(resources);
                });
            },
            |raw, (): &mut ()| {
                let key = Judged::key(&raw);
                match key.and_then(|key| before.get(&key)) {
                    Some(known) => known.at(raw, key),
                    None => {
                        let (checked, size) = judge(raw, against);
                        Judged { checked, size, key }
                    }
                }
            },
        );
        let notes = loaded.results.iter().map(|judged| judged.checked.notes.len()).sum();
        ReadDocument {
            resources: loaded.results,
            groups,
            loader: loaded.loader,
            notes,
        }
    }
}

/// Puts documents together, one after the other, each under its current id. Returns the resources
/// and what else was read; `None` if other limits may matter.
pub(super) fn together<'d>(
    documents: impl IntoIterator<Item = (SourceId, &'d ReadDocument)>,
    other_clients: usize,
) -> Option<(Vec<Checked>, Loader)> {
    let mut loader = Loader::new();
    loader.other_clients = other_clients;
    let mut all: Vec<Checked> = Vec::new();
    let mut notes = 0;
    // The sizes of the resources in the current batch. Batches are formed as `load` forms them.
    let mut batch: Vec<Option<usize>> = Vec::new();
    let mut bytes = 0;
    for (id, document) in documents {
        let worlds = loader.append(&document.loader, id);
        notes += document.notes;
        let mut rest = document.resources.as_slice();
        for count in &document.groups {
            let (group, later) = rest.split_at((*count).min(rest.len()));
            rest = later;
            for Judged { checked, size, .. } in group {
                let mut checked = checked.clone();
                checked.origin.source = id;
                checked.world = worlds.of(checked.world);
                all.push(checked);
                batch.push(*size);
                bytes += size.unwrap_or_default();
            }
            if bytes >= BATCH_BYTES || batch.len() >= BATCH_RESOURCES {
                close_batch(&mut all, &mut batch);
                bytes = 0;
            }
        }
    }
    close_batch(&mut all, &mut batch);
    // The limit on notes applies in the order of all documents.
    let is_within = notes < MIN_FINDINGS_TOGETHER && loader.is_within_limits();
    is_within.then_some((all, loader))
}

/// Ends a batch, which is the end of `all`, and limits its findings.
fn close_batch(all: &mut [Checked], sizes: &mut Vec<Option<usize>>) {
    let mut budget = Budget::default();
    let start = all.len() - sizes.len();
    for (checked, size) in all.iter_mut().skip(start).zip(sizes.drain(..)) {
        if let Some(size) = size {
            fit(&mut budget, size, checked);
        }
    }
}
