//! Checks that values that are read again from their places equal those of the first reading, in
//! every format and shape.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use xdsctl_channel::client::{Cache, Keep, Reading, ResourceKind, Resources, Store, ValidationInput, WorldSet};
use xdsctl_document::envelope::LoadOptions;
use xdsctl_document::source::sniff::DocumentFormat;

use crate::support::root;

/// Reads a document.
fn settle(name: &str, bytes: &[u8], format: Option<DocumentFormat>, keep: Keep) -> (WorldSet, Store) {
    let mut store = Store::default();
    let id = store.sources.add(name, bytes.to_vec());
    let against = ValidationInput {
        profile: &store.profile,
        others: &[],
        server: &store.server,
        keep,
    };
    let options = LoadOptions {
        format,
        ..LoadOptions::default()
    };
    let mut reading = Reading::default();
    let source = store.sources.get(id).unwrap();
    reading.read(Some(1), &against, |loader, emit| {
        loader.document(id, source, options, emit);
    });
    (reading.finish(&against, false), store)
}

/// Returns what the clients of a document hold.
fn hold(name: &str, bytes: &[u8], format: Option<DocumentFormat>, keep: Keep) -> Vec<Resources> {
    let (world_set, store) = settle(name, bytes, format, keep);
    let held = world_set.hold(&Arc::new(store));
    held.into_iter().map(|(_, resources)| resources).collect()
}

/// Writes every resource of a type with all that is known of it.
fn all<T: ResourceKind + Debug>(cache: &Cache<T>, out: &mut Vec<String>) {
    out.extend(
        cache
            .iter()
            .map(|(name, held)| format!("{name}: {:?} {:?} {:?}", held.value(), held.rejected(), held.dropped())),
    );
}

fn shown(worlds: &[Resources]) -> Vec<String> {
    let mut out = Vec::new();
    for resources in worlds {
        all(&resources.listeners, &mut out);
        all(&resources.route_configs, &mut out);
        all(&resources.clusters, &mut out);
        all(&resources.endpoints, &mut out);
    }
    out
}

/// Checks that both ways of keeping resources give the same. Returns the number of accepted
/// resources.
#[track_caller]
fn check(name: &str, bytes: &[u8], format: Option<DocumentFormat>) -> usize {
    let kept = shown(&hold(name, bytes, format, Keep::Values));
    let again = shown(&hold(name, bytes, format, Keep::Places));
    assert_eq!(kept, again, "{name}");
    kept.iter().filter(|line| line.contains(": Some(")).count()
}

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

#[test]
fn values_of_every_shape_are_the_same_when_they_are_read_again() {
    let mut found = Vec::new();
    for directory in ["dumps", "examples", "tree"] {
        files(&root().join("fixtures").join(directory), &mut found);
    }
    let mut count = 0;
    for file in found
        .iter()
        .filter(|file| file.extension().is_none_or(|ending| ending != "out"))
    {
        let bytes = std::fs::read(file).unwrap();
        let name = file.display().to_string();
        count += check(&name, &bytes, None);
        // JSON is YAML too.
        if name.ends_with(".json") {
            count += check(&name, &bytes, Some(DocumentFormat::Yaml));
        }
    }
    assert!(count > 200, "{count}");
}

#[test]
fn aliases_and_merges_are_read_again_where_they_stand() {
    let text = r#"
- &a
  "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
  name: a
  type: EDS
  eds_cluster_config: {eds_config: {ads: {}}}
- *a
- <<: *a
  name: b
- {<<: *a, name: c, lb_policy: RING_HASH}
"#;
    assert_eq!(check("aliases.yaml", text.as_bytes(), None), 3);
}

#[test]
fn a_value_that_is_not_there_any_more_is_told() {
    let text = br#"{"@type": "t/envoy.config.cluster.v3.Cluster", "name": "a", "type": "EDS",
        "eds_cluster_config": {"eds_config": {"ads": {}}}}"#;
    let mut changed = Store::default();
    changed.sources.add("-", text[..40].to_vec());
    let world_set = settle("-", text, None, Keep::Places).0;
    let (_, resources) = world_set.hold(&Arc::new(changed)).pop().unwrap();
    let held = resources.clusters.get("a").unwrap();
    let words = "the input has changed since it was first read";
    assert!(held.is_accepted() && held.value().is_none());
    assert_eq!(held.rejected(), Some(words));
}
