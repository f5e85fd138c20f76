//! Keeps what documents yielded the last time. An editor changes one of many, and the others need
//! not be read again.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Inputs;
use xdsctl_channel::client::{Keep, ReadDocument, Reading};
use xdsctl_document::source::{Source, SourceId};

/// Documents that were read for the same clients.
#[derive(Debug, Default)]
pub struct KeptDocuments {
    /// The clients and the bootstrap for which they were read.
    against: String,
    /// The documents by name.
    documents: BTreeMap<String, (Arc<Source>, ReadDocument)>,
}

impl KeptDocuments {
    /// Returns what the documents of `inputs` yield together. Reads only those that are new, and
    /// forgets those that are no longer there.
    ///
    /// Returns `None` if two documents have the same name, or if so much was found that limits
    /// apply and all documents must be read together.
    pub(super) fn reading(&mut self, inputs: &Inputs, keep: Keep) -> Option<Reading> {
        let input = inputs.validation_input(keep);
        let against = format!("{:?} {:?} {keep:?}", inputs.fleet, inputs.server);
        if against != self.against {
            self.documents.clear();
            self.against = against;
        }
        let mut before = std::mem::take(&mut self.documents);
        let mut order: Vec<(SourceId, &str)> = Vec::new();
        for &id in &inputs.documents {
            let Some(source) = inputs.sources.shared(id) else {
                continue;
            };
            order.push((id, source.name()));
            let known = before.remove_entry(source.name());
            let (name, read) = match known {
                Some((name, (same, read))) if Arc::ptr_eq(&same, source) => (name, read),
                other => {
                    let earlier = other.map(|(_, (_, read))| read);
                    let read = ReadDocument::read(&input, earlier.as_ref(), |loader, emit| {
                        inputs.read_one(id, &|_| (), loader, emit);
                    });
                    (source.name().to_owned(), read)
                }
            };
            if self.documents.insert(name, (Arc::clone(source), read)).is_some() {
                return None;
            }
        }
        let documents = order
            .iter()
            .filter_map(|(id, name)| Some((*id, &self.documents.get(*name)?.1)));
        Reading::of(documents, inputs.fleet.others().len())
    }
}
