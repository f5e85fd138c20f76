//! The architecture, checked: layers import downwards, rules are listed and explained, files stay small.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The modules in layers; a module may use its own layer and those above it in this list.
const LAYERS: &[&[&str]] = &[
    &["cookie", "profile", "regex", "status", "text", "rng", "secret", "time"],
    &["diag"],
    &["model"],
    &["proto", "source"],
    &["convert"],
    &["lb", "filter", "plugin"],
    &["bootstrap", "validate"],
    &["envelope", "load"],
    &["snapshot", "parsed"],
    &["lint", "select"],
    &["tree"],
    &["sim"],
    &["check"],
    &["catalogue"],
    &["report"],
    &["cli"],
];

/// Lines, tests not counted.
const MAX_LINES: usize = 600;

/// Names that say nothing.
const BANNED_FILES: &[&str] = &["utils.rs", "util.rs", "helpers.rs", "common.rs", "misc.rs"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn walk(dir: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            walk(&path, found);
        } else {
            found.push(path);
        }
    }
}

fn sources() -> Vec<(String, String)> {
    let src = root().join("src");
    let mut files = Vec::new();
    walk(&src, &mut files);
    files
        .into_iter()
        .filter(|p| p.extension().is_some_and(|e| e == "rs"))
        .map(|p| {
            let name = p.strip_prefix(&src).unwrap().to_string_lossy().into_owned();
            (name, fs::read_to_string(&p).unwrap())
        })
        .collect()
}

/// The text before the unit tests.
fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests").next().unwrap()
}

fn layer_of(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

fn top_module(file: &str) -> &str {
    file.split('/').next().unwrap().trim_end_matches(".rs")
}

#[test]
fn modules_use_only_modules_above_them() {
    let mut wrong = Vec::new();
    for (file, text) in sources() {
        let module = top_module(&file);
        if matches!(module, "lib" | "main") {
            continue;
        }
        let own =
            layer_of(module).unwrap_or_else(|| panic!("{file}: module `{module}` is in no layer of tests/tidy.rs"));
        for line in without_tests(&text)
            .lines()
            .filter(|l| !l.trim_start().starts_with("//"))
        {
            for used in line.split("crate::").skip(1) {
                let name: String = used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                if let Some(layer) = layer_of(&name)
                    && layer > own
                {
                    wrong.push(format!("{file}: {}", line.trim()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "imports that point up:\n{}", wrong.join("\n"));
}

#[test]
fn every_file_says_what_it_is_and_stays_small() {
    let mut wrong = Vec::new();
    for (file, text) in sources() {
        if !text.starts_with("//!") {
            wrong.push(format!("{file}: no module documentation"));
        }
        let lines = without_tests(&text).lines().count();
        if lines > MAX_LINES {
            wrong.push(format!("{file}: {lines} lines, at most {MAX_LINES}"));
        }
        if BANNED_FILES.iter().any(|b| file.ends_with(b)) {
            wrong.push(format!("{file}: the name says nothing"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Rule ids declared in `rules!` blocks, with the file.
fn declared() -> BTreeMap<String, String> {
    let mut ids = BTreeMap::new();
    for (file, text) in sources() {
        let mut inside = false;
        for line in text.lines() {
            if line.starts_with("rules! {") {
                inside = true;
            } else if line.starts_with('}') {
                inside = false;
            } else if inside
                && !line.trim_start().starts_with("//")
                && let Some(id) = line.split('"').nth(1).filter(|_| line.contains(" = \""))
            {
                let before = ids.insert(id.to_owned(), file.clone());
                assert!(before.is_none(), "rule `{id}` is declared twice: {before:?} and {file}");
            }
        }
    }
    ids
}

#[test]
fn every_rule_is_in_the_catalogue() {
    let listed: BTreeSet<&str> = xdsctl::catalogue::rules().map(|r| r.id).collect();
    let count = xdsctl::catalogue::rules().count();
    assert_eq!(count, listed.len(), "a rule is listed twice");
    let declared = declared();
    let missing: Vec<_> = declared
        .iter()
        .filter(|(id, _)| !listed.contains(id.as_str()))
        .collect();
    assert!(missing.is_empty(), "rules that catalogue.rs does not list: {missing:?}");
    assert_eq!(declared.len(), listed.len());
}

#[test]
fn every_page_has_its_rule() {
    let mut pages = Vec::new();
    walk(&root().join("src/explain"), &mut pages);
    let orphans: Vec<String> = pages
        .iter()
        .map(|p| p.file_stem().unwrap().to_string_lossy().into_owned())
        .filter(|id| xdsctl::catalogue::find(id).is_none())
        .collect();
    assert!(orphans.is_empty(), "pages without a rule: {orphans:?}");
}

#[test]
fn rule_ids_are_kebab_case_and_name_the_fault() {
    for rule in xdsctl::catalogue::rules() {
        let ok = rule
            .id
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        assert!(ok && rule.id.contains('-'), "{}", rule.id);
        assert!(!rule.id.ends_with("-invalid"), "{} does not name the fault", rule.id);
        let summary = rule.summary.trim();
        assert!(
            summary.ends_with('.'),
            "{}: the summary is no sentence: {summary}",
            rule.id
        );
        assert!(!rule.source.is_empty(), "{} has no source", rule.id);
    }
}

#[test]
fn only_the_profile_reads_no_environment_and_the_cli_alone_touches_the_world() {
    let banned = [
        "std::env::var",
        "SystemTime::now",
        "Instant::now",
        "thread_rng",
        "println!",
        "eprintln!",
        "process::exit",
    ];
    let mut wrong = Vec::new();
    for (file, text) in sources() {
        if matches!(top_module(&file), "cli" | "main") {
            continue;
        }
        for line in without_tests(&text)
            .lines()
            .filter(|l| !l.trim_start().starts_with("//"))
        {
            if let Some(b) = banned.iter().find(|b| line.contains(**b)) {
                wrong.push(format!("{file}: {b}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn protobuf_messages_stay_below_the_snapshot() {
    const FREE: &[&str] = &[
        "catalogue",
        "check",
        "cli",
        "diag",
        "lint",
        "model",
        "profile",
        "report",
        "select",
        "snapshot",
        "tree",
    ];
    let mut wrong = Vec::new();
    for (file, text) in sources() {
        if !FREE.contains(&top_module(&file)) {
            continue;
        }
        for name in ["xdsctl_proto", "proto::pb"] {
            if without_tests(&text).contains(name) {
                wrong.push(format!("{file}: {name}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_shape_is_registered() {
    let sources = sources();
    let text_of = |name: &str| without_tests(&sources.iter().find(|(file, _)| file == name).unwrap().1);
    let registry = text_of("envelope/mod.rs");
    let list = registry.split("static SHAPES").nth(1).unwrap();
    let list = &list[..list.find("];").unwrap()];
    let mut count = 0;
    for (file, text) in &sources {
        let Some(module) = file.strip_prefix("envelope/").and_then(|file| file.strip_suffix(".rs")) else {
            continue;
        };
        for shape in without_tests(text).split("static ").skip(1) {
            let Some((name, body)) = shape.split_once(": Shape = Shape {") else {
                continue;
            };
            count += 1;
            assert!(
                registry.contains(&format!("mod {module};\n")),
                "{file} has no `mod` line"
            );
            let entry = format!("&{module}::{name},");
            // One that claims nothing is what the walker falls back to.
            let claims = !body.trim_start().starts_with("claims: |_| false");
            assert_eq!(list.contains(&entry), claims, "{entry} in SHAPES of envelope/mod.rs");
            assert!(
                claims || text_of("envelope/walker.rs").contains(&format!("{module}::{name}")),
                "{module}::{name} is not used"
            );
        }
    }
    assert!(count > 15);
}
