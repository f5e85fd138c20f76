//! What is asked for of one type, and how far that has come.

use std::collections::BTreeSet;

use bytes::Bytes;
use prost::Message as _;

use crate::messages::{DiscoveryRequest, Status};

/// The state of one type.
#[derive(Debug, Default)]
pub struct Subscription {
    /// A request was sent.
    pub is_open: bool,
    pub names: BTreeSet<String>,
    pub version: String,
    pub nonce: String,
    /// A response has come.
    pub is_answered: bool,
}

impl Subscription {
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
}
