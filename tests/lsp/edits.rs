//! Checks that after any edits, the server answers like a server that is started then.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::client::{Client, directory, place, uri};
use crate::hostile::ask_all;

/// A linear congruential generator (Knuth's MMIX constants).
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most.max(1)
    }
}

/// Returns the number of edits of a fixture. `.ci/run editors` makes 500.
fn edits() -> usize {
    std::env::var("XDSCTL_EDITS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(25)
}

/// Returns the last place between two characters that is not after `at`.
fn boundary(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Makes one edit: where, how many bytes are removed, and what is inserted.
fn edit(text: &str, random: &mut Random) -> (usize, usize, String) {
    const WRITTEN: [&str; 12] = [
        "x",
        "\n",
        " ",
        ": ",
        "- ",
        "\"",
        "{",
        "}",
        "name: a\n",
        "😀",
        "# xdsctl: ignore[all] x\n",
        "\t",
    ];
    let start = boundary(text, random.below(text.len() + 1));
    match random.below(4) {
        // A line is moved to another place, or removed.
        0 => {
            let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
            let end = text[line..].find('\n').map_or(text.len(), |at| line + at + 1);
            (line, end, String::new())
        }
        1 => {
            let end = boundary(text, start + random.below(20));
            (start, end.max(start), String::new())
        }
        2 => {
            let from = boundary(text, random.below(text.len() + 1));
            let end = text[from..].find('\n').map_or(text.len(), |at| from + at + 1);
            (start, start, text[from..end].to_owned())
        }
        _ => (start, start, WRITTEN[random.below(WRITTEN.len())].to_owned()),
    }
}

fn play(file: &Path, original: &str, seed: u64) {
    let project = file.parent().unwrap();
    let mut random = Random(seed);
    let mut client = Client::open(project);
    client.did_open(file, original);
    let mut text = original.to_owned();
    let count = edits();
    for version in 2..count + 2 {
        let (start, end, new) = edit(&text, &mut random);
        let (from, to) = (place(&text, start), place(&text, end));
        text.replace_range(start..end, &new);
        if text.len() > 4 * original.len() + 1_000 {
            text.truncate(boundary(&text, original.len()));
            client.change(file, version as i64, &text);
        } else {
            let range = json!({
                "start": {"line": from.0, "character": from.1},
                "end": {"line": to.0, "character": to.1},
            });
            client.tell(
                "textDocument/didChange",
                json!({
                    "textDocument": {"uri": uri(file), "version": version},
                    "contentChanges": [{"range": range, "text": new}],
                }),
            );
        }
        if random.below(10) == 0 {
            let lines = text.lines().count();
            ask_all(
                &mut client,
                &uri(file),
                random.below(lines + 1) as u64,
                random.below(40) as u64,
            );
        }
    }
    let last = count as i64 + 1;
    let findings = client.findings(file, last);
    let lines = text.lines().count();
    let at = (random.below(lines + 1) as u64, random.below(40) as u64);
    let answers = ask_all(&mut client, &uri(file), at.0, at.1);
    let mut fresh = Client::open(project);
    fresh.did_open(file, &text);
    assert_eq!(
        fresh.findings(file, 1),
        findings,
        "seed {seed}, {}:\n{text}",
        file.display()
    );
    assert_eq!(
        ask_all(&mut fresh, &uri(file), at.0, at.1),
        answers,
        "seed {seed}, {}, {at:?}:\n{text}",
        file.display()
    );
    fresh.end();
    client.end();
}

#[test]
fn any_edits_leave_what_a_fresh_start_has() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let seed = std::env::var("XDSCTL_ATTACK_SEED")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(1);
    let mut played = 0;
    for name in ["dumps", "examples"] {
        let mut files: Vec<_> = fs::read_dir(root.join(name))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        for file in files {
            let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
            let Ok(text) = fs::read_to_string(&file) else { continue };
            if !["yaml", "json", "textproto"].contains(&ending) || text.len() > 60_000 || text.contains('\r') {
                continue;
            }
            let project = directory("edits");
            // Every other project has rules of its own.
            match played % 2 {
                0 => fs::write(project.join("xdsctl.toml"), "").unwrap(),
                _ => _ = fs::copy(root.join("policies/clusters.toml"), project.join("xdsctl.toml")).unwrap(),
            }
            let copy = project.join(file.file_name().unwrap());
            fs::write(&copy, &text).unwrap();
            // This is another document of the world.
            fs::write(
                project.join("z.yaml"),
                "\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: z\n",
            )
            .unwrap();
            play(&copy, &text, seed + played);
            played += 1;
            fs::remove_dir_all(project).unwrap();
        }
    }
    assert!(played > 20, "{played} fixtures");
}
