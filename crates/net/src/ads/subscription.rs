//! The names of one type that a client asks for, and the state of the subscription.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use bytes::Bytes;
use prost::Message as _;
use xdsctl_channel::client::Received;

use crate::messages::{DiscoveryRequest, Status};

/// The subscription to one type.
#[derive(Debug, Default)]
pub struct Subscription {
    /// Whether a request was sent.
    pub is_open: bool,
    /// The names that are asked for.
    pub names: BTreeSet<String>,
    /// Those of the names about which nothing is known.
    pub awaited: BTreeSet<String>,
    pub version: String,
    pub nonce: String,
    /// Whether a response has arrived.
    pub is_answered: bool,
    /// A hash of the last rejected response's resources, and how many times in a row they were
    /// rejected.
    repeated: (u64, u32),
}

impl Subscription {
    /// Replaces the names that are asked for. Returns the former names.
    pub fn want(&mut self, names: BTreeSet<String>, is_known: impl Fn(&str) -> bool) -> BTreeSet<String> {
        self.awaited = names.iter().filter(|name| !is_known(name)).cloned().collect();
        std::mem::replace(&mut self.names, names)
    }

    /// Records that something is known about a name.
    pub fn hear(&mut self, name: &str) {
        self.awaited.remove(name);
    }

    /// Returns a request of a state-of-the-world stream, which answers the last response and names
    /// what is wanted.
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

    /// Returns how many times in a row a response with these resources was rejected. Their order,
    /// the version and the nonce may differ each time.
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
