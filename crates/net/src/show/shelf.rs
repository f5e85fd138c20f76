//! What is open: files by name, each with the number of its content, which is never used again.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::watch;

/// The files that the user has opened, as they are now.
#[derive(Debug)]
pub struct Shelf {
    files: Mutex<Numbered>,
    version: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Numbered {
    /// By name, with the number of the content.
    files: BTreeMap<String, (u64, Bytes)>,
    next: u64,
}

impl Default for Shelf {
    fn default() -> Self {
        Shelf {
            files: Mutex::default(),
            version: watch::Sender::new(0),
        }
    }
}

impl Shelf {
    /// Puts a file there, or its new content. What is as it was makes no new version.
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

    /// Takes a file away.
    pub fn remove(&self, name: &str) {
        if self.locked().files.remove(name).is_some() {
            self.changed();
        }
    }

    /// The names and the numbers, and which version this is.
    pub(super) fn list(&self) -> Value {
        // Read before the files: a change in between is told by the next version.
        let version = *self.version.borrow();
        let numbered = self.locked();
        let files = numbered.files.iter();
        let files = files.map(|(name, (number, bytes))| json!({"name": name, "number": number, "size": bytes.len()}));
        json!({ "version": version, "files": files.collect::<Vec<_>>() })
    }

    /// The content of a number, if it is still there.
    pub(super) fn bytes(&self, number: u64) -> Option<Bytes> {
        let numbered = self.locked();
        let mut files = numbered.files.values();
        files.find(|(own, _)| *own == number).map(|(_, bytes)| bytes.clone())
    }

    /// Waits until the version is another one.
    pub(super) async fn other_than(&self, version: u64) {
        let mut versions = self.version.subscribe();
        let _ = versions.wait_for(|now| *now != version).await;
    }

    fn changed(&self) {
        self.version.send_modify(|version| *version += 1);
    }

    fn locked(&self) -> MutexGuard<'_, Numbered> {
        // Each change is whole when it is made.
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
