//! Checks the architecture: layers import downwards, rules are listed and explained, files stay
//! small.

mod limits;
mod touched;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The crates whose sources must follow the rules here.
const CRATES: &[&str] = &[
    "src",
    "crates/channel/src",
    "crates/cli/src",
    "crates/clients/src",
    "crates/document/src",
    "crates/lb/src",
    "crates/lint/src",
    "crates/lsp/src",
    "crates/model/src",
    "crates/net/src",
    "crates/policy/src",
    "crates/re2/src",
    "crates/report/src",
    "crates/server/src",
    "crates/suite/src",
];

/// The most lines of a source file, without its tests. There is no other limit of size.
const MAX_LINES: usize = 600;

/// File names that say nothing.
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

/// A source file of one of the crates.
struct Source {
    krate: &'static str,
    /// The path below the crate's folder.
    file: String,
    text: String,
}

impl Source {
    fn name(&self) -> String {
        format!("{}/{}", self.krate, self.file)
    }

    /// Returns the module of the crate's root to which the file belongs.
    fn module(&self) -> &str {
        self.file.split('/').next().unwrap().trim_end_matches(".rs")
    }
}

fn sources() -> Vec<Source> {
    let mut sources = Vec::new();
    for krate in CRATES {
        let src = root().join(krate);
        let mut files = Vec::new();
        walk(&src, &mut files);
        let rust = files.into_iter().filter(|p| p.extension().is_some_and(|e| e == "rs"));
        sources.extend(rust.map(|p| Source {
            krate,
            file: p.strip_prefix(&src).unwrap().to_string_lossy().into_owned(),
            text: fs::read_to_string(&p).unwrap(),
        }));
    }
    sources
}

/// Returns the text before the unit tests.
fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests").next().unwrap()
}

/// Returns the layer of each module, the lowest first: the `mod` lines of the crate's `lib.rs`,
/// with an empty line between layers.
fn layers(krate: &str) -> BTreeMap<String, usize> {
    let text = fs::read_to_string(root().join(krate).join("lib.rs")).unwrap();
    let mut layers = BTreeMap::new();
    for (layer, paragraph) in text.split("\n\n").enumerate() {
        for line in paragraph.lines() {
            let line = line.trim_start_matches("pub(crate) ").trim_start_matches("pub ");
            if let Some(module) = line.strip_prefix("mod ").and_then(|line| line.strip_suffix(';')) {
                layers.insert(module.to_owned(), layer);
            }
        }
    }
    layers
}

/// Cargo checks that a crate uses only the crates that it names; this checks the modules of a
/// crate.
#[test]
fn modules_use_only_modules_above_them() {
    let mut wrong = Vec::new();
    let mut uses = 0;
    for krate in CRATES {
        let layers = layers(krate);
        for source in sources().iter().filter(|source| source.krate == *krate) {
            if matches!(source.module(), "lib" | "main") {
                continue;
            }
            let own = layers[source.module()];
            let code = without_tests(&source.text);
            for line in code.lines().filter(|l| !l.trim_start().starts_with("//")) {
                for used in line.split("crate::").skip(1) {
                    let name: String = used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                    uses += 1;
                    if layers.get(&name).is_some_and(|layer| *layer > own) {
                        wrong.push(format!("{}: {}", source.name(), line.trim()));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "imports that point up:\n{}", wrong.join("\n"));
    assert!(uses > 500, "{uses} uses were found");
}

/// The families are peers: what they share is below them.
#[test]
fn no_family_of_clients_knows_of_another() {
    let krate = "crates/clients/src";
    let layers = layers(krate);
    let mut families: BTreeSet<&str> = layers.keys().map(String::as_str).collect();
    families.retain(|module| layers[*module] == layers["go"]);
    assert_eq!(families.len(), 5);
    for source in sources().iter().filter(|source| source.krate == krate) {
        if !families.contains(source.module()) {
            continue;
        }
        let code = without_tests(&source.text);
        for other in families.iter().filter(|family| **family != source.module()) {
            assert!(
                !code.contains(&format!("crate::{other}::")),
                "{}: {other}",
                source.name()
            );
        }
    }
}

#[test]
fn the_library_knows_no_terminal() {
    for krate in CRATES
        .iter()
        .filter(|krate| !matches!(**krate, "crates/cli/src" | "crates/net/src" | "crates/report/src"))
    {
        let manifest = fs::read_to_string(root().join(krate).parent().unwrap().join("Cargo.toml")).unwrap();
        let dependencies = manifest.split("\n[dependencies]\n").nth(1).unwrap_or_default();
        let dependencies = dependencies.split("\n[").next().unwrap();
        for name in ["clap", "miette", "comfy-table", "anstyle", "prost-reflect"] {
            assert!(
                !dependencies.lines().any(|line| line.starts_with(name)),
                "{krate}: {name}"
            );
        }
    }
}

#[test]
fn every_crate_can_be_packaged() {
    let manifest = |dir: &str| fs::read_to_string(root().join(dir).join("Cargo.toml")).unwrap();
    let workspace = manifest(".");
    assert!(workspace.contains("members = [\"benches\", \"crates/*\", \"fuzz\", \"proto\"]"));
    let crates = fs::read_dir(root().join("crates")).unwrap();
    let crates = crates.map(|entry| format!("crates/{}", entry.unwrap().file_name().to_string_lossy()));
    let members: Vec<String> = crates
        .chain(["benches", "fuzz", "proto", "."].map(str::to_owned))
        .collect();
    let (published, own): (Vec<String>, Vec<String>) = members
        .into_iter()
        .partition(|member| !manifest(member).contains("publish = false"));
    assert_eq!(
        own,
        ["benches", "fuzz"],
        "the others are what somebody installs or depends on"
    );
    for member in published {
        let text = manifest(&member);
        for key in ["description = ", "version", "license"] {
            assert!(text.lines().any(|line| line.starts_with(key)), "{member}: no {key}");
        }
        assert!(
            !text.contains("xdsctl-fuzz"),
            "{member} depends on a crate that is not published"
        );
        // Dev-dependencies are not published.
        for line in text
            .split("[dev-dependencies]")
            .next()
            .unwrap()
            .lines()
            .filter(|line| line.contains("path = ") && line.contains('{'))
        {
            assert!(line.contains("version = "), "{member}: `{line}` has no version");
        }
    }
}

/// Returns the type that a line declares, if it is visible outside its module.
fn public_type(line: &str) -> Option<&str> {
    let line = line.trim_start().strip_prefix("pub")?;
    let line = match line.strip_prefix('(') {
        Some(rest) => rest.split_once(')')?.1,
        None => line,
    };
    let (kind, rest) = line.trim_start().split_once(' ')?;
    let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    matches!(kind, "struct" | "enum" | "trait" | "type" | "union").then_some(name)
}

#[test]
fn a_type_has_its_name_almost_alone() {
    assert_eq!(public_type("    pub(super) struct Draw<'a> {"), Some("Draw"));
    assert_eq!(public_type("pub fn draw() {"), None);
    let sources = sources();
    let mut places: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for source in &sources {
        for name in without_tests(&source.text).lines().filter_map(public_type) {
            places.entry(name).or_default().push(source.name());
        }
    }
    places.retain(|_, files| files.len() > 2);
    assert!(places.is_empty(), "declared in more than two places: {places:#?}");
}

#[test]
fn every_file_says_what_it_is_and_stays_small() {
    let mut wrong = Vec::new();
    for source in sources() {
        let (file, text) = (source.name(), source.text.as_str());
        if !text.starts_with("//!") {
            wrong.push(format!("{file}: no module documentation"));
        }
        let lines = without_tests(text).lines().count();
        if lines > MAX_LINES {
            wrong.push(format!("{file}: {lines} lines, at most {MAX_LINES}"));
        }
        if BANNED_FILES.iter().any(|b| file.ends_with(b)) {
            wrong.push(format!("{file}: the name says nothing"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the rule ids in `rules!` blocks, each with its file.
fn declared() -> BTreeMap<String, String> {
    let mut ids = BTreeMap::new();
    for source in sources() {
        let file = source.name();
        let mut inside = false;
        for line in source.text.lines() {
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
    let listed: BTreeSet<&str> = xdsctl_lint::catalogue::rules().map(|r| r.id).collect();
    let count = xdsctl_lint::catalogue::rules().count();
    assert_eq!(count, listed.len(), "a rule is listed twice");
    let declared = declared();
    let missing: Vec<_> = declared
        .iter()
        .filter(|(id, _)| !listed.contains(id.as_str()))
        .collect();
    assert!(missing.is_empty(), "rules that catalogue.rs does not list: {missing:?}");
    assert_eq!(declared.len(), listed.len());
}

/// A family of rules, such as `cds-dns`, counts as well.
#[test]
fn every_rule_that_a_comment_names_exists() {
    let declared = declared();
    let is_known =
        |word: &str| declared.contains_key(word) || declared.keys().any(|id| id.starts_with(&format!("{word}-")));
    let mut unknown = Vec::new();
    for source in sources() {
        let comments = source
            .text
            .lines()
            .filter_map(|line| line.trim_start().strip_prefix("//"));
        // Lines of code in a comment have names that are wrong on purpose.
        for line in comments.filter(|line| !line.contains('"')) {
            let words = line.split('`').skip(1).step_by(2);
            let is_id = |word: &&str| {
                let kind = word.split('-').next().unwrap();
                ["cds", "dump", "eds", "lds", "rds"].contains(&kind) && word.contains('-') && !word.contains([' ', '.'])
            };
            unknown.extend(
                words
                    .filter(is_id)
                    .filter(|word| !is_known(word))
                    .map(|word| (source.name(), word.to_owned())),
            );
        }
    }
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn every_page_has_its_rule() {
    let mut pages = Vec::new();
    walk(&root().join("crates"), &mut pages);
    pages.retain(|page| page.parent().is_some_and(|folder| folder.ends_with("pages")));
    assert!(pages.len() > 300);
    let orphans: Vec<String> = pages
        .iter()
        .map(|p| p.file_stem().unwrap().to_string_lossy().into_owned())
        .filter(|id| xdsctl_lint::catalogue::find(id).is_none())
        .collect();
    assert!(orphans.is_empty(), "pages without a rule: {orphans:?}");
}

#[test]
fn rule_ids_are_kebab_case_and_name_the_fault() {
    for rule in xdsctl_lint::catalogue::rules() {
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
    for source in sources() {
        if source.krate == "crates/cli/src" {
            continue;
        }
        for line in without_tests(&source.text)
            .lines()
            .filter(|l| !l.trim_start().starts_with("//"))
        {
            // Streams need timers.
            let is_free = |b: &str| source.krate == "crates/net/src" && b == "Instant::now";
            if let Some(b) = banned.iter().find(|b| line.contains(**b) && !is_free(b)) {
                wrong.push(format!("{}: {b}", source.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Protobuf messages stay below the client: in `document`, `lb` and `clients`.
#[test]
fn protobuf_messages_stay_below_the_client() {
    let above = [
        "src",
        "crates/channel/src",
        "crates/lint/src",
        "crates/suite/src",
        "crates/report/src",
        "crates/cli/src",
        "crates/model/src",
    ];
    let mut wrong = Vec::new();
    for source in sources().iter().filter(|source| above.contains(&source.krate)) {
        for name in ["xdsctl_proto", "proto::pb"] {
            if without_tests(&source.text).contains(name) {
                wrong.push(format!("{}: {name}", source.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_shape_is_registered() {
    let sources = sources();
    let text_of = |name: &str| without_tests(&sources.iter().find(|source| source.file == name).unwrap().text);
    let registry = text_of("envelope/mod.rs");
    let list = registry.split("static SHAPES").nth(1).unwrap();
    let list = &list[..list.find("];").unwrap()];
    let mut count = 0;
    for Source { file, text, .. } in &sources {
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
            // The walker falls back to a shape that claims nothing.
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

/// Only `client` can make a `WorldSet`, or put anything into `Resources`; the types ensure the
/// rest.
#[test]
fn only_the_client_decides_what_a_client_holds() {
    const DOORS: &[&str] = &[
        "judge::validate",
        "discovery::resource(",
        "discovery::bare(",
        "load::run",
        "load::go_on",
        "::load;",
    ];
    let is_wrong = |source: &Source| {
        let own = [
            ("crates/channel/src", "client"),
            ("crates/document/src", "load"),
            ("crates/clients/src", "judge"),
            ("crates/clients/src", "discovery"),
        ];
        !(own.contains(&(source.krate, source.module())) || source.file.ends_with("tests.rs"))
    };
    let mut wrong = Vec::new();
    let mut uses = 0;
    for source in &sources() {
        for door in DOORS.iter().filter(|door| without_tests(&source.text).contains(*door)) {
            uses += 1;
            if is_wrong(source) {
                wrong.push(format!("{}: {door}", source.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "ask `client` instead:\n{}", wrong.join("\n"));
    assert!(uses > 2, "the doors have other names");
}

/// Returns the features of each dependency from a registry, as cargo resolves them for some crates.
fn features_of(crates: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let tree = std::process::Command::new(cargo)
        .args([
            "tree",
            "--locked",
            "--prefix=none",
            "--edges=normal",
            "--format={p} {f}",
        ])
        .args(crates)
        .current_dir(root())
        .output()
        .unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in String::from_utf8(tree.stdout)
        .unwrap()
        .lines()
        .filter(|line| !line.is_empty() && !line.contains("(/"))
    {
        let words: Vec<&str> = line.split(' ').filter(|word| !word.starts_with('(')).collect();
        let [name, version, features @ ..] = &words[..] else {
            panic!("{line}");
        };
        let known = all.entry(format!("{name} {version}")).or_default();
        known.extend(features.iter().flat_map(|list| list.split(',')).map(str::to_owned));
    }
    all
}

#[test]
fn what_is_shipped_has_the_features_that_are_tested() {
    let shipped = features_of(&["--package=xdsctl-cli", "--features=net"]);
    let tested = features_of(&["--workspace", "--features=xdsctl-cli/net,xdsctl-net/live"]);
    let is_about_speed = |feature: &&String| {
        let speed = ["default", "dfa", "hybrid", "nfa", "perf"];
        speed.contains(&feature.split('-').next().unwrap_or_default())
    };
    let mut compared = 0;
    for (name, features) in &shipped {
        let more: Vec<_> = tested[name]
            .difference(features)
            .filter(|feature| !is_about_speed(feature))
            .collect();
        assert!(more.is_empty(), "{name} is shipped without {more:?}");
        compared += 1;
    }
    assert!(compared > 50, "{compared} crates");
}
