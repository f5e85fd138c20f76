//! Checks that `docs/limits.md` names every limit in the source, with its value.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn walk(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// A constant: its file, its name and its expression.
type Constant = (String, String, String);

/// Returns the integer constants of the source, without those of tests.
fn constants() -> Vec<Constant> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for dir in ["src", "crates"] {
        if root.join(dir).is_dir() {
            walk(&root.join(dir), &mut files);
        }
    }
    let mut found = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        for line in text.lines() {
            let Some((_, rest)) = line.trim_start().split_once("const ") else {
                continue;
            };
            if let Some((name, rest)) = rest.split_once(": ")
                && let Some((kind, value)) = rest.split_once(" = ")
                && ["usize", "u16", "u32", "u64", "i64"].contains(&kind)
            {
                let value = value.trim_end_matches(';').to_owned();
                found.push((file.to_string_lossy().replace('\\', "/"), name.to_owned(), value));
            }
        }
    }
    found
}

/// Computes an expression of numbers, `<<`, `*`, `/`, `-` and other constants of the file.
fn value(expression: &str, file: &str, all: &[Constant]) -> u64 {
    let text = expression.replace(" as usize", "").replace(" as u64", "");
    let text = text.trim().trim_start_matches('(').replace(')', "");
    for operator in [" - ", " / ", " * ", " << "] {
        if let Some((left, right)) = text.rsplit_once(operator) {
            let (left, right) = (value(left, file, all), value(right, file, all));
            return match operator {
                " - " => left - right,
                " / " => left / right,
                " * " => left * right,
                _ => left << right,
            };
        }
    }
    if text == "u32::MAX" {
        return u32::MAX.into();
    }
    if let Some((_, _, other)) = all.iter().find(|(f, name, _)| f == file && *name == text) {
        return value(other, file, all);
    }
    let digits = text.replace('_', "");
    digits.parse().unwrap_or_else(|_| panic!("{file}: {expression}"))
}

/// Reads a number in the form of the page: `1,024`, `64 MiB`, `1 GiB - 1`.
fn shown(text: &str) -> u64 {
    let (text, less) = match text.strip_suffix(" - 1") {
        Some(text) => (text, 1),
        None => (text, 0),
    };
    let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
    let shift = match unit {
        "" => 0,
        "KiB" => 10,
        "MiB" => 20,
        "GiB" => 30,
        other => panic!("unit `{other}`"),
    };
    let number: u64 = number.replace(',', "").parse().unwrap_or_else(|_| panic!("{text}"));
    (number << shift) - less
}

fn page() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/limits.md")).unwrap()
}

#[test]
fn the_page_has_the_values_of_the_source() {
    let all = constants();
    let mut rows = 0;
    for line in page()
        .lines()
        .filter(|line| line.starts_with("| ") && line.contains(".rs`"))
    {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [_, number, _, _, place] = cells[..] else {
            panic!("five cells: {line}");
        };
        let words: Vec<&str> = place.split('`').filter(|word| !word.trim().is_empty()).collect();
        let [file, name] = words[..] else { panic!("{place}") };
        let found = all
            .iter()
            .find(|(f, n, _)| f.ends_with(&format!("/{file}")) && n == name);
        let (path, _, expression) = found.unwrap_or_else(|| panic!("no `{name}` in a file `{file}`"));
        assert_eq!(shown(number), value(expression, path, &all), "{line}");
        rows += 1;
    }
    assert!(rows > 15, "{rows} rows");
}

#[test]
fn every_limit_of_the_source_is_on_the_page() {
    let page = page();
    let named: BTreeSet<&str> = page.split('`').skip(1).step_by(2).collect();
    let missing: BTreeSet<String> = constants()
        .into_iter()
        .filter(|(_, name, _)| name.starts_with("MAX_") && !named.contains(name.as_str()))
        .map(|(file, name, _)| format!("{file}: {name}"))
        .collect();
    assert!(missing.is_empty(), "not in docs/limits.md: {missing:#?}");
}
