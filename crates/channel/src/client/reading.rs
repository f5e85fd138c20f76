//! Documents that were read resource by resource, before the resources are looked at together.
//!
//! All resources come out of a [`Reading`], and only [`Reading::finish`] leads on: its result has
//! been through every rule about responses, streams, names and versions.

use std::collections::{BTreeMap, BTreeSet};

use super::again::{ReadDocument, together};
use super::checked::{Checked, ValidationInput, check};
use super::joined::{self, DocumentPlace, Joined, Parts};
use super::worlds::{WorldSet, into_world_set};
use xdsctl_document::envelope::{Emit, Loader, PathSource, WorldId};
use xdsctl_document::load;
use xdsctl_document::source::SourceId;

/// The resources of the documents that were read so far, each validated by itself.
#[derive(Debug, Default)]
pub struct Reading {
    checked: Vec<Checked>,
    loader: Loader,
    joined: Joined,
}

impl Reading {
    /// Reads documents with `read`, after those that have been read, and validates each resource.
    ///
    /// `threads` is how many threads to use; `None` for as many as the machine runs at once.
    pub fn read(
        &mut self,
        threads: Option<usize>,
        against: &ValidationInput<'_>,
        read: impl FnOnce(&mut Loader, Emit<'_>),
    ) {
        let mut loader = std::mem::take(&mut self.loader);
        loader.other_clients = against.others.len();
        let loaded = load::go_on(loader, threads, read, |raw, budget| check(raw, against, budget));
        self.loader = loaded.loader;
        self.checked.extend(loaded.results);
    }

    /// Puts documents together that were read before, in this order, each with its current id.
    ///
    /// Returns `None` if the limits on all documents together could matter: the documents must then
    /// be read anew.
    pub fn of<'d>(
        documents: impl IntoIterator<Item = (SourceId, &'d ReadDocument)>,
        other_clients: usize,
    ) -> Option<Reading> {
        let (checked, loader) = together(documents, other_clients)?;
        Some(Reading {
            checked,
            loader,
            joined: Joined::default(),
        })
    }

    /// What was read besides resources.
    pub const fn loader(&self) -> &Loader {
        &self.loader
    }

    /// What was read besides resources, to add a finding or a bootstrap.
    pub const fn loader_mut(&mut self) -> &mut Loader {
        &mut self.loader
    }

    /// The files from which Envoy bootstraps take resources, except the first `known`.
    pub fn path_sources(&self, known: usize) -> &[PathSource] {
        self.loader.path_sources.get(known..).unwrap_or_default()
    }

    /// Moves what was read from a document, outside of any scope in it, into a world.
    pub fn adopt(&mut self, source: SourceId, world: WorldId) {
        let Loader { worlds, responses, .. } = &mut self.loader;
        let is_own = |id: WorldId| {
            worlds
                .get(id.0 as usize)
                .is_some_and(|w| w.source == source && w.scope.is_none())
        };
        for checked in self.checked.iter_mut().filter(|checked| is_own(checked.world)) {
            checked.world = world;
        }
        for response in responses.iter_mut().filter(|r| r.world.is_some_and(is_own)) {
            response.world = Some(world);
        }
    }

    /// Puts documents that belong together into one world. `places` says where each document
    /// stands. The documents in `partial` were named, and others beside them were not.
    pub fn join(&mut self, places: &BTreeMap<SourceId, DocumentPlace>, partial: &BTreeSet<SourceId>, parts: Parts) {
        self.joined = joined::join(&mut self.checked, &mut self.loader, places, partial, parts);
    }

    /// Decides what each world's client holds. With `merge`, all documents are one world.
    pub fn finish(self, against: &ValidationInput<'_>, merge: bool) -> WorldSet {
        into_world_set(self.checked, self.loader, self.joined, against, merge)
    }
}
