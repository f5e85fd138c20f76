//! The resources that are served, by type and name, each with the version in which it last changed;
//! and the predicted verdicts of clients.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

/// A resource to serve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotResource {
    /// The type URL, such as `type.googleapis.com/envoy.config.cluster.v3.Cluster`.
    pub type_url: String,
    /// The resource's name.
    pub name: String,
    /// The resource's wire bytes.
    pub value: Bytes,
}

/// The prediction for one client.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prediction {
    /// The client whose rules apply: `go@1.85.0`.
    pub client: String,
    /// The resources that the client will reject, by type URL and name, with the reason.
    pub rejected: BTreeMap<(String, String), String>,
}

impl Prediction {
    /// Returns why the client will reject a resource; `None` if it will accept it.
    pub fn of(&self, resource: &SnapshotResource) -> Option<&str> {
        let key = (resource.type_url.clone(), resource.name.clone());
        self.rejected.get(&key).map(String::as_str)
    }
}

/// The resources at one time.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// The number of the snapshot, from 1.
    pub version: u64,
    /// For each type URL and name, the resource, and the number of the snapshot in which it last
    /// changed.
    types: BTreeMap<String, BTreeMap<String, (Arc<SnapshotResource>, u64)>>,
}

impl Snapshot {
    pub fn first(resources: Vec<SnapshotResource>) -> Snapshot {
        Snapshot::default().next(resources)
    }

    /// Returns the snapshot after this one.
    pub fn next(&self, resources: Vec<SnapshotResource>) -> Snapshot {
        let mut next = Snapshot {
            version: self.version + 1,
            types: BTreeMap::new(),
        };
        for resource in resources {
            let before = self.get(&resource.type_url, &resource.name);
            let version = match before {
                Some((before, version)) if before.value == resource.value => version,
                _ => next.version,
            };
            let of_type = next.types.entry(resource.type_url.clone()).or_default();
            of_type.insert(resource.name.clone(), (Arc::new(resource), version));
        }
        next
    }

    /// Returns a resource and its version.
    pub fn get(&self, type_url: &str, name: &str) -> Option<(&Arc<SnapshotResource>, u64)> {
        let (resource, version) = self.types.get(type_url)?.get(name)?;
        Some((resource, *version))
    }

    /// Returns all resources of a type, by name.
    pub fn all(&self, type_url: &str) -> impl Iterator<Item = (&Arc<SnapshotResource>, u64)> {
        let of_type = self.types.get(type_url).into_iter().flat_map(BTreeMap::values);
        of_type.map(|(resource, version)| (resource, *version))
    }

    /// Returns every resource of all types.
    pub fn iter(&self) -> impl Iterator<Item = &SnapshotResource> {
        self.types
            .values()
            .flat_map(BTreeMap::values)
            .map(|(resource, _)| &**resource)
    }
}
