//! The fields of a response apart from its resources, for both forms.

use std::collections::BTreeMap;

use bytes::Bytes;
use prost::Message as _;

use crate::messages::{DeltaResponse, DiscoveryResponse};

/// A response of either form.
pub struct Response {
    pub type_url: String,
    pub version: String,
    pub nonce: String,
    pub removed: Vec<String>,
    /// The versions of Delta resources, by name.
    pub versions: BTreeMap<String, String>,
}

impl Response {
    /// Reads a message of the stream.
    ///
    /// # Errors
    /// The bytes are not a response; the error says so in words.
    pub fn read(bytes: &Bytes, is_delta: bool) -> Result<Response, String> {
        if is_delta {
            let delta = DeltaResponse::decode(bytes.clone())
                .map_err(|e| format!("a message is not a DeltaDiscoveryResponse: {e}"))?;
            let versions = delta
                .resources
                .into_iter()
                .map(|resource| (resource.name, resource.version));
            return Ok(Response {
                type_url: delta.type_url,
                version: delta.system_version_info,
                nonce: delta.nonce,
                removed: delta.removed_resources,
                versions: versions.collect(),
            });
        }
        let sotw = DiscoveryResponse::decode(bytes.clone())
            .map_err(|e| format!("a message is not a DiscoveryResponse: {e}"))?;
        Ok(Response {
            type_url: sotw.type_url,
            version: sotw.version_info,
            nonce: sotw.nonce,
            removed: Vec::new(),
            versions: BTreeMap::new(),
        })
    }
}
