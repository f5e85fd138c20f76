//! What documents yielded the last time: an editor changes one of many, and the others need not be
//! read again.

use std::collections::HashMap;
use std::sync::Arc;

use super::Inputs;
use xdsctl_channel::client::{Keep, ReadDocument, Reading};
use xdsctl_document::source::{Source, SourceId};

/// Documents that were read for the same clients. Only looked up, never listed: a map without an
/// order will do.
#[derive(Debug, Default)]
pub struct KeptDocuments {
    /// What they were checked against.
    against: String,
    /// By their addresses, which stay theirs while they are kept.
    documents: HashMap<usize, (Arc<Source>, ReadDocument)>,
}

impl KeptDocuments {
    /// What the documents of `inputs` yield together, those that are new read now. What is not
    /// among them is forgotten.
    ///
    /// `None` if there is so much that all of it must be read together.
    pub(super) fn reading(&mut self, inputs: &Inputs, keep: Keep) -> Option<Reading> {
        let input = inputs.validation_input(keep);
        let against = format!("{:?} {:?} {keep:?}", inputs.fleet, inputs.server);
        if against != self.against {
            self.documents.clear();
            self.against = against;
        }
        let mut before = std::mem::take(&mut self.documents);
        let mut order: Vec<(SourceId, usize)> = Vec::new();
        for &id in &inputs.documents {
            let Some(source) = inputs.sources.shared(id) else {
                continue;
            };
            let address = Arc::as_ptr(source).addr();
            order.push((id, address));
            if self.documents.contains_key(&address) {
                continue;
            }
            let read = before.remove(&address).unwrap_or_else(|| {
                let read = ReadDocument::read(&input, |loader, emit| inputs.read_one(id, None, loader, emit));
                (Arc::clone(source), read)
            });
            self.documents.insert(address, read);
        }
        let documents = order
            .iter()
            .filter_map(|(id, address)| Some((*id, &self.documents.get(address)?.1)));
        Reading::of(documents, inputs.fleet.others().len())
    }
}
