//! What is asked for of one type, and how far that has come.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use bytes::Bytes;
use prost::Message as _;
use xdsctl_channel::client::Received;

use crate::messages::{DiscoveryRequest, Status};

/// The state of one type.
#[derive(Debug, Default)]
pub struct Subscription {
    /// A request was sent.
    pub is_open: bool,
    names: BTreeSet<String>,
    /// The names of which nothing was heard.
    awaited: BTreeSet<String>,
    pub version: String,
    pub nonce: String,
    /// A response has come.
    pub is_answered: bool,
    /// What the last response had that was rejected, and how often that has come in a row.
    repeated: (u64, u32),
}

impl Subscription {
    /// The names that are asked for.
    pub const fn names(&self) -> &BTreeSet<String> {
        &self.names
    }

    /// The names that were asked for, and of which nothing was heard.
    pub const fn awaited(&self) -> &BTreeSet<String> {
        &self.awaited
    }

    /// Asks for other names; the former ones.
    pub fn want(&mut self, names: BTreeSet<String>, is_known: impl Fn(&str) -> bool) -> BTreeSet<String> {
        self.awaited = names.iter().filter(|name| !is_known(name)).cloned().collect();
        std::mem::replace(&mut self.names, names)
    }

    /// Something was heard of a name.
    pub fn hear(&mut self, name: &str) {
        self.awaited.remove(name);
    }

    /// The request of a state-of-the-world stream, which answers what came and says what is wanted.
    pub fn request(&self, type_url: String, error_detail: Option<Status>) -> Bytes {
        let request = DiscoveryRequest {
            version_info: self.version.clone(),
            node: None,
            resource_names: self.names.iter().cloned().collect(),
            type_url,
            response_nonce: self.nonce.clone(),
            error_detail,
        };
        request.encode_to_vec().into()
    }

    /// How often in a row a response with these resources was rejected: their order, its version
    /// and nonce may be others each time.
    pub fn repeats(&mut self, received: &Received, is_rejected: bool) -> u32 {
        if !is_rejected {
            self.repeated = (0, 0);
            return 0;
        }
        let hashes = received.resources.iter().map(|judged| {
            let mut hasher = DefaultHasher::new();
            (&judged.type_url, &judged.value).hash(&mut hasher);
            hasher.finish()
        });
        let now = hashes.fold(0, u64::wrapping_add);
        let (before, count) = self.repeated;
        self.repeated = (now, if count > 0 && before == now { count + 1 } else { 1 });
        self.repeated.1
    }
}
