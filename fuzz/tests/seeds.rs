//! Checks that every fuzz target exists, and that none finds a fault in the small files of
//! `fixtures/`, in inputs that once had one (`fixtures/fuzz/TARGET`), and in noise.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns the files below a folder, in order.
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
fn what_once_found_something_finds_nothing_now() {
    for path in files(&root().join("fixtures/fuzz")) {
        let target = path
            .parent()
            .unwrap()
            .file_name()
            .unwrap()
            .to_string_lossy()
            .into_owned();
        if target != "fuzz" {
            xdsctl_fuzz::run(&target, &fs::read(&path).unwrap());
        }
    }
}

/// The targets that make random decisions from their bytes.
const BY_CHANCE: [&str; 8] = [
    "pick",
    "recorded_world",
    "retry",
    "route",
    "simulation",
    "suite",
    "tree",
    "world",
];

#[test]
fn random_worlds_are_well() {
    for target in BY_CHANCE {
        for number in 0..40u8 {
            xdsctl_fuzz::run(target, &[number, number ^ 0x5a, 7]);
        }
    }
}

#[test]
fn targets_find_nothing_in_the_examples() {
    let mut seeds = files(&root().join("fixtures/examples"));
    seeds.extend(files(&root().join("fixtures/dumps")));
    let mut count = 0;
    for path in seeds {
        let data = fs::read(&path).unwrap();
        for (name, _) in xdsctl_fuzz::TARGETS
            .iter()
            .filter(|(name, _)| !BY_CHANCE.contains(name))
        {
            count += usize::from(data.len() <= xdsctl_fuzz::MAX_BYTES);
            xdsctl_fuzz::run(name, &data);
        }
    }
    assert!(count > 200, "{count}");
}
