//! Every fuzz target is there, and runs over the small files of `fixtures/` without finding anything.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The files below a folder, in order.
fn files(dir: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let below = |path: PathBuf| if path.is_dir() { files(&path) } else { vec![path] };
    entries.into_iter().flat_map(below).collect()
}

#[test]
fn every_target_has_its_binary() {
    let manifest = fs::read_to_string(root().join("fuzz/Cargo.toml")).unwrap();
    let names = manifest
        .lines()
        .filter_map(|line| line.strip_prefix("path = \"fuzz_targets/"));
    let listed: BTreeSet<String> = names.map(|name| name.replace(".rs\"", "")).collect();
    let known: BTreeSet<String> = xdsctl_fuzz::TARGETS
        .iter()
        .map(|(name, _)| (*name).to_owned())
        .collect();
    let sources = files(&root().join("fuzz/fuzz_targets")).into_iter();
    let there: BTreeSet<String> = sources
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(listed, known);
    assert_eq!(there, known);
}

#[test]
fn targets_find_nothing_in_the_examples() {
    let mut seeds = files(&root().join("fixtures/examples"));
    seeds.extend(files(&root().join("fixtures/dumps")));
    let mut count = 0;
    for path in seeds {
        let data = fs::read(&path).unwrap();
        for (name, _) in xdsctl_fuzz::TARGETS {
            count += usize::from(data.len() <= xdsctl_fuzz::MAX_BYTES);
            xdsctl_fuzz::run(name, &data);
        }
    }
    assert!(count > 200, "{count}");
}
