//! Attacks by small inputs that need much work: suppressions, patterns, RPCs that a suite sends for
//! years. Each meets a limit, and the output says so.
//!
//! `tests/costs.rs` counts what such inputs cost. Here, an input without a limit would not end.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::attack;
use crate::chance::Chance;
use crate::run::{Run, directory, in_process};
use crate::world;

fn run(args: &[&str]) -> Run {
    in_process(args, b"", |_| {})
}

fn write(directory: &Path, name: &str, text: impl AsRef<[u8]>) -> String {
    let file = directory.join(name);
    fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

/// Makes clusters with an unknown field, each with a comment before it.
fn commented(count: usize, comment: &str) -> String {
    let clusters = (0..count).map(|number| {
        format!(
            "- {{\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: c{number}, type: EDS, eds_cluster_config: {{eds_config: {{ads: {{}}}}}},\n   {comment}\n   lb_policy: MAGLEV}}\n"
        )
    });
    format!("resources:\n{}", clusters.collect::<String>())
}

#[test]
fn suppressions_take_no_time() {
    let directory = directory("attacks", "time-comments");
    for comment in [
        "# xdsctl: ignore[spec] x",
        "# xdsctl: ignore[no-such-rule-at-all] x",
        "# xdsctl: ignore[spec,nack] x",
    ] {
        let file = write(&directory, "x.yaml", commented(1_500, comment));
        let ran = run(&["validate", "--no-config", "--format=json", &file]);
        assert!(ran.out.contains("\"summary\""), "{}", ran.err);
        // One comment above all clusters applies to each of them.
        let above = format!("{comment}\n").repeat(1_500) + &commented(1_500, "");
        let file = write(&directory, "x.yaml", above);
        run(&["validate", "--no-config", "--format=json", &file]);
    }
    let long = format!("# xdsctl: ignore[{}] x", vec!["spec"; 50_000].join(","));
    let file = write(&directory, "x.yaml", long + "\n" + &commented(500, ""));
    run(&["validate", "--no-config", "--format=json", &file]);
    let beyond = write(&directory, "x.yaml", commented(5_001, "# xdsctl: ignore[nack] x"));
    let ran = run(&["validate", "--no-config", "--format=json", &beyond]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.out.contains("more than 5000 suppressions"), "{}", ran.err);
}

#[test]
fn settings_take_no_time() {
    let directory = directory("attacks", "time-settings");
    let name = "a".repeat(200);
    fs::create_dir(directory.join(&name)).unwrap();
    let clusters = (0..300).map(|number| {
        let mut cluster = world::cluster(&format!("{number}{}", "a".repeat(50)));
        cluster["lb_policy"] = "MAGLEV".into();
        cluster
    });
    let file = write(
        &directory.join(&name),
        "x.json",
        json!({ "resources": clusters.collect::<Vec<_>>() }).to_string(),
    );
    let stars = "*a".repeat(60);
    for more in [
        format!("file = \"{stars}b/x.json\""),
        format!("file = \"{}b\"", "**/".repeat(60)),
        format!("resource = \"{stars}b\""),
        format!("path = \"{stars}b\""),
    ] {
        let ignore = format!("[[ignore]]\nrule = \"nack\"\nreason = \"x\"\n{more}\n");
        let settings = write(&directory, "xdsctl.toml", ignore.repeat(1_000));
        let ran = run(&["validate", "--config", &settings, &file]);
        assert_eq!(ran.code, Some(1), "{more}: {}", ran.err);
        let settings = write(&directory, "xdsctl.toml", ignore.repeat(1_001));
        let ran = run(&["validate", "--config", &settings, &file]);
        assert_eq!(ran.code, Some(2), "{more}");
        assert!(ran.err.contains("more than 1000"), "{}", ran.err);
    }
}

#[test]
fn settings_name_only_so_many_rules_and_clients() {
    let directory = directory("attacks", "time-named");
    let file = write(&directory, "x.json", world::document(0).to_string());
    let rules = |count: usize| format!("[rules]\n\"{}\" = \"note\"\n", vec!["spec"; count].join(","));
    let clients = |count: usize| {
        let clients = (0..count).map(|number| format!("\"go@1.70.{number}\","));
        format!("clients = [{}]\n", clients.collect::<String>())
    };
    for (settings, words) in [
        (
            rules(501) + &rules(500).replace("[rules]\n", ""),
            "more than 1000 names in `[rules]`",
        ),
        (clients(1_100), "the limit is 1000"),
    ] {
        let settings = write(&directory, "xdsctl.toml", settings);
        let ran = run(&["validate", "--config", &settings, &file]);
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        assert!(ran.err.contains(words), "{}", ran.err);
    }
    let settings = write(&directory, "xdsctl.toml", rules(1_000));
    assert_eq!(run(&["validate", "--config", &settings, &file]).code, Some(0));
    let settings = write(&directory, "xdsctl.toml", "#".repeat((16 << 20) + 1));
    let ran = run(&["validate", "--config", &settings, &file]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("more than 16777216 bytes"), "{}", ran.err);
}

/// Writes a suite with these steps.
fn suite(directory: &Path, never: usize, steps: &str) -> String {
    write(directory, "good.json", world::document(0).to_string());
    let never = "{status: ABORTED}, ".repeat(never);
    let head = format!("world: good.json\ntarget: xds:///l\nnever: [{never}]\n");
    write(directory, "suite.yaml", format!("{head}steps:\n{steps}"))
}

#[test]
fn rpcs_without_an_end_meet_a_limit() {
    let directory = directory("attacks", "time-rpcs");
    for (never, steps) in [
        (0, "- pick: {count: 20000}\n"),
        (900, "- pick: {count: 2000}\n"),
        (0, "- pick: {rate: 1000, for: 1e9}\n"),
        (
            0,
            "- begin: {name: a, rate: 1000, for: 1e6}\n- sleep: 1e9\n- finish: a\n",
        ),
        (
            0,
            "- {pick: {count: 4000}}\n- {pick: {count: 4000}}\n- {pick: {count: 4000}}\n",
        ),
    ] {
        let file = suite(&directory, never, steps);
        for command in ["test", "simulate"] {
            if command == "simulate" && never > 0 {
                continue;
            }
            let ran = run(&[command, "--max-rpcs=10000", &file]);
            let text = format!("{}{}", ran.out, ran.err);
            let end = &text[text.len().saturating_sub(1000)..];
            assert_eq!(ran.code, Some(2), "{command} {steps}{end}");
            assert!(
                text.contains("--max-rpcs") || text.contains("must be") || text.contains("limit"),
                "{command} {steps}{end}"
            );
        }
    }
    let file = suite(&directory, 10, "- pick: {count: 4000}\n");
    assert_eq!(run(&["test", "--max-rpcs=10000", &file]).code, Some(0));
}

#[test]
fn time() {
    attack("time", |chance: &mut Chance, directory| {
        let ran = match chance.below(3) {
            0 => {
                let comment = chance.one(&[
                    "# xdsctl: ignore[all] x",
                    "# xdsctl: ignore[spce] x",
                    "# xdsctl: ignore[nack",
                    "#xdsctl:",
                ]);
                let mut text = commented(chance.below(40), comment);
                if chance.percent(50) {
                    text = format!("{comment}\n").repeat(chance.below(100)) + &text;
                }
                let file = write(directory, "x.yaml", text);
                run(&["validate", "--no-config", &file])
            }
            1 => {
                let file = write(directory, "aaaaaaaaaaaaaaaaaaaa.json", world::document(0).to_string());
                let pieces = ["*", "a", "**/", "?", "[a-z]", "[!b]", "/", "*a"];
                let pattern: String = (0..chance.below(30)).map(|_| chance.one(&pieces)).collect();
                let key = chance.one(&["file", "path", "resource"]);
                let ignore = format!("[[ignore]]\nrule = \"all\"\nreason = \"x\"\n{key} = \"{pattern}b\"\n");
                let settings = write(directory, "xdsctl.toml", ignore.repeat(chance.between(1, 5)));
                run(&["validate", "--config", &settings, &file])
            }
            _ => {
                let steps = [
                    "- pick: {rate: 1000, for: 1e6}\n",
                    "- sleep: 1e9\n",
                    "- begin: {name: a, rate: 100}\n- sleep: 1e6\n- finish: a\n",
                    "- pick: {count: 5000}\n",
                ];
                let steps: String = (0..chance.between(1, 3)).map(|_| chance.one(&steps)).collect();
                let file = suite(directory, chance.below(20), &steps);
                run(&[
                    chance.one(&["test", "simulate"]),
                    "--max-rpcs=500",
                    "--max-events=5000",
                    &file,
                ])
            }
        };
        assert!(ran.code.is_some(), "{}", ran.err);
    });
}
