//! The open files by name, each with the number of its content. A number is never used again.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::watch;

/// The files that the user has opened, with their present content.
#[derive(Debug, Default)]
pub struct Shelf {
    files: Mutex<Numbered>,
    version: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Numbered {
    /// The files by name, each with the number of its content.
    files: BTreeMap<String, (u64, Bytes)>,
    next: u64,
}

impl Shelf {
    /// Adds a file or replaces its content. The same content makes no new version.
    pub fn put(&self, name: &str, bytes: Vec<u8>) {
        let mut numbered = self.locked();
        if numbered.files.get(name).is_some_and(|(_, old)| *old == bytes) {
            return;
        }
        let number = numbered.next;
        numbered.next += 1;
        numbered.files.insert(name.to_owned(), (number, Bytes::from(bytes)));
        self.changed();
    }

    /// Removes a file.
    pub fn remove(&self, name: &str) {
        if self.locked().files.remove(name).is_some() {
            self.changed();
        }
    }

    /// Returns the names and numbers of the files, and the present version.
    pub(super) fn list(&self) -> Value {
        // Read the version before the files. A change in between then makes a newer version.
        let version = *self.version.borrow();
        let numbered = self.locked();
        let files = numbered.files.iter();
        let files = files.map(|(name, (number, bytes))| json!({"name": name, "number": number, "size": bytes.len()}));
        json!({ "version": version, "files": files.collect::<Vec<_>>() })
    }

    /// Returns the content with this number, if it is still there.
    pub(super) fn bytes(&self, number: u64) -> Option<Bytes> {
        let numbered = self.locked();
        let mut files = numbered.files.values();
        files.find(|(own, _)| *own == number).map(|(_, bytes)| bytes.clone())
    }

    /// Waits until the version is different.
    pub(super) async fn other_than(&self, version: u64) {
        let mut versions = self.version.subscribe();
        let _ = versions.wait_for(|now| *now != version).await;
    }

    fn changed(&self) {
        self.version.send_modify(|version| *version += 1);
    }

    fn locked(&self) -> MutexGuard<'_, Numbered> {
        // Each change leaves the data consistent, so a poisoned lock is no problem.
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
