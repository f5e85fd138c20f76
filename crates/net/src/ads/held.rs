//! What a client holds: for each name the version in use, and the version that was rejected after
//! it.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use prost::Message as _;
use xdsctl_channel::client::Verdict;
use xdsctl_channel::client::links::LinkedResource;
use xdsctl_channel::client::{Judged, OWN_WORDS, Received};
use xdsctl_model::resource::ResourceType;

use super::response::Response;
use crate::dump::Entries;
use crate::messages::{Any, GenericXdsConfig, Timestamp, UpdateFailureState, status};

/// What is known about one name.
#[derive(Debug, Default)]
struct Entry {
    /// The version in use: version, resource, time.
    used: Option<(String, Any, u64)>,
    /// The version that was rejected after it: version, resource, reason, time.
    rejected: Option<(String, Any, String, u64)>,
    /// Whether the server says that the resource does not exist.
    is_gone: bool,
    references: Vec<LinkedResource>,
}

/// All resources that the client holds, by type and name.
#[derive(Debug)]
pub struct HeldResources {
    entries: BTreeMap<(ResourceType, String), Entry>,
    /// The total size of names, versions, resources and reasons, in bytes.
    bytes: usize,
    /// The size from which nothing more is kept, in bytes.
    max_bytes: usize,
    /// The total size of the messages that the resources are slices of, or were.
    pinned: usize,
}

/// The number of bytes of messages that may stay in memory although nothing of them is kept.
const SLACK_BYTES: usize = 1 << 20;

/// The resources to show: names with what is known about them, and names about which nothing is
/// known.
pub struct HeldSummary<'h>(Vec<(ResourceType, &'h str, Option<&'h Entry>)>);

impl HeldResources {
    /// Returns an empty value that never keeps much more than `max_bytes` bytes.
    pub const fn new(max_bytes: usize) -> HeldResources {
        HeldResources {
            entries: BTreeMap::new(),
            bytes: 0,
            max_bytes,
            pinned: 0,
        }
    }

    /// Keeps the resources of a response of `length` bytes. Says whether any of them is new.
    pub fn take(
        &mut self,
        resource_type: ResourceType,
        response: &Response,
        received: &Received,
        length: usize,
        now: u64,
    ) -> bool {
        let of_type = |judged: &&Judged| judged.resource_type == Some(resource_type);
        self.pinned += length;
        let mut has_changed = false;
        for judged in received.resources.iter().filter(of_type) {
            let version = response.versions.get(&judged.name).unwrap_or(&response.version);
            let key = (resource_type, judged.name.clone());
            let entry = self.entries.entry(key).or_insert_with(|| {
                self.bytes += judged.name.len();
                Entry::default()
            });
            self.bytes -= entry.bytes();
            has_changed |= entry.take(judged, version, now);
            self.bytes += entry.bytes();
            if self.bytes > self.max_bytes {
                break;
            }
        }
        // A slice keeps its whole message in memory.
        if self.pinned > self.bytes.saturating_mul(2).saturating_add(SLACK_BYTES) {
            self.entries.values_mut().for_each(Entry::unpin);
            self.pinned = self.bytes;
        }
        has_changed
    }

    /// Drops the resources that a response removes: by naming them, or by not having them if it
    /// `has_all`. Returns the names that were there.
    pub fn lose(
        &mut self,
        resource_type: ResourceType,
        response: &Response,
        received: &Received,
        has_all: bool,
    ) -> Vec<String> {
        if !has_all && response.removed.is_empty() {
            return Vec::new();
        }
        let of_type = received
            .resources
            .iter()
            .filter(|judged| judged.resource_type == Some(resource_type));
        let there: BTreeSet<&str> = of_type.map(|judged| judged.name.as_str()).collect();
        let removed: BTreeSet<&str> = response.removed.iter().map(String::as_str).collect();
        let mut lost = Vec::new();
        for ((_, name), entry) in self.entries.iter_mut().filter(|((of, _), _)| *of == resource_type) {
            let is_lost = has_all && !there.contains(name.as_str()) || removed.contains(name.as_str());
            if is_lost && !entry.is_gone {
                self.bytes -= entry.bytes();
                *entry = Entry::gone();
                lost.push(name.clone());
            }
        }
        for name in removed {
            self.entries.entry((resource_type, name.to_owned())).or_insert_with(|| {
                self.bytes += name.len();
                Entry::gone()
            });
        }
        lost
    }

    /// Says whether nothing is known about any resource.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Says whether anything is known about a name.
    pub fn knows(&self, resource_type: ResourceType, name: &str) -> bool {
        self.entries.contains_key(&(resource_type, name.to_owned()))
    }

    /// Says whether a resource with this name was sent and not removed.
    pub fn has(&self, resource_type: ResourceType, name: &str) -> bool {
        let entry = self.entries.get(&(resource_type, name.to_owned()));
        entry.is_some_and(|entry| entry.used.is_some() || entry.rejected.is_some())
    }

    /// Returns the references of the version in use.
    pub fn references(&self, resource_type: ResourceType, name: &str) -> &[LinkedResource] {
        let entry = self.entries.get(&(resource_type, name.to_owned()));
        entry.map_or(&[], |entry| entry.references.as_slice())
    }

    /// Returns the references of each name.
    pub fn all_references(&self) -> impl Iterator<Item = &[LinkedResource]> {
        self.entries.values().map(|entry| entry.references.as_slice())
    }

    /// Returns the total size of names, versions, resources and reasons, in bytes.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the resources to show, with the `absent` names about which nothing is known.
    pub fn shown<'h>(&'h self, absent: impl Iterator<Item = (ResourceType, &'h str)>) -> HeldSummary<'h> {
        let held = self
            .entries
            .iter()
            .map(|((of, name), entry)| (*of, name.as_str(), Some(entry)));
        HeldSummary(held.chain(absent.map(|(of, name)| (of, name, None))).collect())
    }
}

impl HeldSummary<'_> {
    fn config(&self, index: usize) -> GenericXdsConfig {
        match self.0.get(index) {
            Some((resource_type, name, Some(entry))) => entry.config(*resource_type, name),
            Some((resource_type, name, None)) => GenericXdsConfig {
                type_url: resource_type.type_url(),
                name: (*name).to_owned(),
                client_status: status::DOES_NOT_EXIST,
                ..Default::default()
            },
            None => GenericXdsConfig::default(),
        }
    }
}

impl Entries for HeldSummary<'_> {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn entry(&self, index: usize) -> Bytes {
        self.config(index).encode_to_vec().into()
    }

    fn size(&self, index: usize) -> usize {
        self.config(index).encoded_len()
    }
}

impl Entry {
    /// Returns an entry for a resource that does not exist according to the server.
    fn gone() -> Entry {
        Entry {
            is_gone: true,
            ..Entry::default()
        }
    }

    fn bytes(&self) -> usize {
        let used = self.used.as_ref();
        let used = used.map_or(0, |(version, any, _)| version.len() + any.value.len());
        let rejected = self.rejected.as_ref();
        used + rejected.map_or(0, |(version, any, why, _)| version.len() + any.value.len() + why.len())
    }

    /// Copies the resources, so that the messages that they came in can be freed.
    fn unpin(&mut self) {
        let used = self.used.iter_mut().map(|(_, any, _)| any);
        let rejected = self.rejected.iter_mut().map(|(_, any, ..)| any);
        for any in used.chain(rejected) {
            any.value = Bytes::copy_from_slice(&any.value);
        }
    }

    /// Stores a newer version. Says whether the resource differs.
    fn take(&mut self, judged: &Judged, version: &str, now: u64) -> bool {
        let any = Any {
            type_url: judged.type_url.clone(),
            value: judged.value.clone(),
        };
        self.is_gone = false;
        if judged.verdict == Verdict::Accepted {
            let is_same = self.rejected.is_none() && self.used.as_ref().is_some_and(|(_, used, _)| *used == any);
            self.used = Some((version.to_owned(), any, now));
            self.rejected = None;
            self.references.clone_from(&judged.references);
            return !is_same;
        }
        let is_same = self.rejected.as_ref().is_some_and(|(_, rejected, ..)| *rejected == any);
        let why = judged
            .faults
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("; ");
        self.rejected = Some((version.to_owned(), any, why, now));
        !is_same
    }

    fn config(&self, resource_type: ResourceType, name: &str) -> GenericXdsConfig {
        let mut config = GenericXdsConfig {
            type_url: resource_type.type_url(),
            name: name.to_owned(),
            client_status: status::ACKED,
            ..Default::default()
        };
        if self.is_gone {
            config.client_status = status::DOES_NOT_EXIST;
        }
        if let Some((version, any, when)) = &self.used {
            config.version_info.clone_from(version);
            config.xds_config = Some(any.clone());
            config.last_updated = Some(Timestamp::of_millis(*when));
        }
        if let Some((version, any, why, when)) = &self.rejected {
            config.client_status = status::NACKED;
            config.error_state = Some(UpdateFailureState {
                failed_configuration: Some(any.clone()),
                last_update_attempt: Some(Timestamp::of_millis(*when)),
                details: format!("{OWN_WORDS}{why}"),
                version_info: version.clone(),
            });
        }
        config
    }
}
