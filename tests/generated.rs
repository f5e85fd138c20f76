//! `man/` and `completions/` are what `xdsctl generate man` and `xdsctl generate completions` write.

use std::collections::BTreeMap;

use xdsctl_cli::generate::{completions, man_pages};

use crate::support::root;

fn check(directory: &str, expected: Vec<(String, Vec<u8>)>) {
    let expected: BTreeMap<String, Vec<u8>> = expected.into_iter().collect();
    let committed: BTreeMap<String, Vec<u8>> = std::fs::read_dir(root().join(directory))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read(path).unwrap())
        })
        .collect();
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&committed), names(&expected), "files of {directory}/");
    let stale: Vec<&String> = expected
        .iter()
        .filter(|(name, text)| committed.get(*name) != Some(text))
        .map(|(name, _)| name)
        .collect();
    assert!(
        stale.is_empty(),
        "{stale:?} are not current: run `cargo run -- generate {directory}`"
    );
}

#[test]
fn man_pages_are_current() {
    check("man", man_pages().unwrap());
}

#[test]
fn completions_are_current() {
    check("completions", completions());
}
