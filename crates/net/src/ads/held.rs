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
    /// What the client's status shows, without type and name: the version in use, the version that
    /// was rejected after it, or that the resource does not exist according to the server.
    config: GenericXdsConfig,
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
            if is_lost && entry.config.client_status != status::DOES_NOT_EXIST {
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
        entry.is_some_and(|entry| entry.config.xds_config.is_some() || entry.config.error_state.is_some())
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
        let Some((resource_type, name, entry)) = self.0.get(index) else {
            return GenericXdsConfig::default();
        };
        let config = entry.map_or_else(|| Entry::gone().config, |entry| entry.config.clone());
        GenericXdsConfig {
            type_url: resource_type.type_url(),
            name: (*name).to_owned(),
            ..config
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
        let mut entry = Entry::default();
        entry.config.client_status = status::DOES_NOT_EXIST;
        entry
    }

    fn bytes(&self) -> usize {
        let of = |any: &Option<Any>| any.as_ref().map_or(0, |any| any.value.len());
        let rejected = self.config.error_state.as_ref().map_or(0, |rejected| {
            rejected.version_info.len() + of(&rejected.failed_configuration) + rejected.details.len()
        });
        self.config.version_info.len() + of(&self.config.xds_config) + rejected
    }

    /// Copies the resources, so that the messages that they came in can be freed.
    fn unpin(&mut self) {
        let rejected = self.config.error_state.iter_mut();
        let rejected = rejected.filter_map(|rejected| rejected.failed_configuration.as_mut());
        for any in self.config.xds_config.iter_mut().chain(rejected) {
            any.value = Bytes::copy_from_slice(&any.value);
        }
    }

    /// Stores a newer version. Says whether the resource differs.
    fn take(&mut self, judged: &Judged, version: &str, now: u64) -> bool {
        let any = Some(Any {
            type_url: judged.type_url.clone(),
            value: judged.value.clone(),
        });
        let now = Some(Timestamp::of_millis(now));
        let config = &mut self.config;
        if judged.verdict == Verdict::Accepted {
            let is_same = config.error_state.is_none() && config.xds_config == any;
            config.client_status = status::ACKED;
            config.version_info = version.to_owned();
            config.xds_config = any;
            config.last_updated = now;
            config.error_state = None;
            self.references.clone_from(&judged.references);
            return !is_same;
        }
        let before = config.error_state.as_ref();
        let is_same = before.is_some_and(|before| before.failed_configuration == any);
        let why: Vec<String> = judged.faults.iter().map(ToString::to_string).collect();
        config.client_status = status::NACKED;
        config.error_state = Some(UpdateFailureState {
            failed_configuration: any,
            last_update_attempt: now,
            details: format!("{OWN_WORDS}{}", why.join("; ")),
            version_info: version.to_owned(),
        });
        !is_same
    }
}
