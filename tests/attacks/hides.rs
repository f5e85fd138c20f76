//! Attacks by documents that hide themselves, and by settings that hide what is wrong: xdsctl
//! reports both.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::attack;
use crate::chance::Chance;
use crate::run::{Run, directory, in_process};
use crate::world;

fn validate(args: &[&str], directory: &Path) -> Run {
    let settings = directory.join("xdsctl.toml");
    let mut all = vec!["validate"];
    if settings.exists() {
        all.extend(["--config", settings.to_str().unwrap()]);
    }
    all.extend(args);
    in_process(&all, b"", |_| {})
}

fn write(directory: &Path, name: &str, text: impl AsRef<[u8]>) -> String {
    let file = directory.join(name);
    fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

fn rejected(name: &str) -> Value {
    let mut cluster = world::cluster(name);
    cluster["lb_policy"] = "MAGLEV".into();
    cluster
}

/// The beginnings of xdsctl's own reports.
const HEADS: [&str; 4] = [
    r#""schema":"xdsctl.findings/v1""#,
    r#" "schema" : "xdsctl.baseline/v1""#,
    r#""schema":"xdsctl.none""#,
    r#""schema":"xdsctl.verdict/v1","client":"C-core 1.85.1""#,
];

#[test]
fn what_begins_as_a_report_and_goes_on_otherwise_is_read() {
    let directory = directory("attacks", "hides-resources");
    write(&directory, "good.json", world::document(0).to_string());
    let bad = rejected("bad");
    for (number, head) in HEADS.iter().enumerate() {
        for text in [
            format!("{{{head},\"resources\":[{bad}]}}"),
            format!("{{{head}}}\n{bad}\n"),
            format!("{{{head},\"findings\":[],\"more\":{{\"resources\":[{bad}]}}}}"),
            format!("{{{head},\"resources\":[{bad},"),
        ] {
            let name = format!("hidden{number}.json");
            write(&directory, &name, &text);
            let path = directory.to_str().unwrap();
            for format in ["--format=human", "--format=json", "--format=jsonl", "--format=concise"] {
                let run = validate(&[format, path], &directory);
                assert_ne!(run.code, Some(0), "{text}\n{}\n{}", run.out, run.err);
                assert!(
                    run.out.contains("bad") || run.out.contains("dump-syntax"),
                    "{text}\n{}\n{}",
                    run.out,
                    run.err
                );
            }
            let _ = fs::remove_file(directory.join(name));
        }
    }
}

/// Makes documents that are read for one thing, and have resources beside it.
fn beside(bad: &Value) -> Vec<String> {
    let good = world::cluster("good");
    let of_type = |name: &str| format!("type.googleapis.com/envoy.{name}");
    let more = json!({ "resources": [bad] });
    let entry = json!({ "type_url": of_type("config.cluster.v3.Cluster"), "name": "good", "xds_config": good });
    let section =
        json!({ "@type": of_type("admin.v3.ClustersConfigDump"), "dynamic_active_clusters": [{ "cluster": good }] });
    let mut map = json!({ "resources": [bad] });
    map[of_type("config.cluster.v3.Cluster")] = json!({ "good": good });
    // Programs that rewrite the type may write the value in base64, or without its `@type`.
    let encoded = "eyJAdHlwZSI6InR5cGUuZ29vZ2xlYXBpcy5jb20vZW52b3kuY29uZmlnLmNsdXN0ZXIudjMuQ2x1c3RlciIsIm5hbWUiOiJiYWQiLCJsYl9wb2xpY3kiOiJNQUdMRVYifQ==";
    let bare = json!({ "name": "bad", "type": "EDS", "lb_policy": "MAGLEV" });
    let mut deep = more.clone();
    for _ in 0..8 {
        deep = json!({ "a": deep });
    }
    let all = [
        json!({ "resources": [good], "more": more }),
        json!({ "resources": [good], "clusters": [bare] }),
        json!({ "resources": [good], "static_resources": { "clusters": [bare] } }),
        json!({ "static_resources": { "clusters": [good] }, "resources": [bad] }),
        json!({ "configs": [section], "resources": [bad] }),
        json!({ "config": [{ "node": { "id": "n" }, "generic_xds_configs": [entry] }], "resources": [bad] }),
        json!({ "generic_xds_configs": [entry], "resources": [bad] }),
        json!({ "clusters": [good], "resources": [bad] }),
        map,
        json!({ "api_version": "v1", "kind": "X", "spec": { "resources": [good] }, "x": more }),
        json!({ "name": "good", "resource": good, "resources": [bad] }),
        json!({ "name": "good", "type": "EDS", "eds_cluster_config": { "eds_config": { "ads": {} } }, "resources": [bad] }),
        json!({ "apiVersion": "v1", "kind": "ConfigMap", "binaryData": { "a": encoded } }),
        json!({ "a": { "resources": [good] }, "b": deep }),
        json!({ "xds_servers": [{ "server_uri": "a:1", "channel_creds": [{ "type": "insecure" }] }], "resources": [bad] }),
    ];
    all.iter().map(Value::to_string).collect()
}

#[test]
fn resources_beside_what_is_read_are_told() {
    let directory = directory("attacks", "hides-beside");
    write(&directory, "good.json", world::document(0).to_string());
    for text in beside(&rejected("bad")) {
        write(&directory, "x.json", &text);
        for format in ["human", "json", "concise", "github", "jsonl"] {
            let run = validate(
                &[&format!("--format={format}"), directory.to_str().unwrap()],
                &directory,
            );
            let is_told = run.out.contains("not checked:")
                || run.out.contains("are not checked")
                || run.out.contains("unknown field `resources`")
                || run.out.contains("does not know the key `resources`");
            assert!(
                run.code != Some(0) || is_told,
                "{format} {text}\n{}\n{}",
                run.out,
                run.err
            );
        }
    }
}

#[test]
fn a_report_that_is_passed_over_is_told() {
    let directory = directory("attacks", "hides-told");
    let good = write(&directory, "good.json", world::document(0).to_string());
    let report = validate(&["--format=json", &good], &directory).out;
    write(&directory, "report.json", &report);
    let path = directory.to_str().unwrap();
    for format in ["--format=human", "--format=json", "--format=jsonl"] {
        let run = validate(&[format, path], &directory);
        assert_eq!(run.code, Some(0), "{}", run.err);
        assert!(
            run.err
                .contains("report.json` is passed over: it is a report of xdsctl"),
            "{}",
            run.err
        );
    }
    fs::remove_file(good).unwrap();
    let run = validate(&[path], &directory);
    assert_eq!(run.code, Some(2), "{}", run.err);
    assert!(run.err.contains("nothing to check"), "{}", run.err);
}

#[test]
fn a_file_for_a_report_hides_no_resources() {
    let directory = directory("attacks", "hides-destination");
    write(&directory, "good.json", world::document(0).to_string());
    let bad = rejected("bad");
    let path = directory.to_str().unwrap().to_owned();
    for (form, text) in [
        ("gitlab", format!("[{{\"description\":\"x\"}},{bad}]")),
        (
            "sarif",
            format!("{{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"resources\":[{bad}]}}"),
        ),
        ("gitlab", format!("[]\n{bad}")),
    ] {
        let file = write(&directory, "out.json", &text);
        let run = validate(&[&format!("--format={form}={file}"), &path], &directory);
        assert_ne!(run.code, Some(0), "{text}\n{}\n{}", run.out, run.err);
        assert_eq!(fs::read_to_string(&file).unwrap(), text, "it is overwritten");
    }
}

/// Returns the number of silenced errors in a JSON report.
fn silenced(run: &Run) -> u64 {
    run.json()["summary"]["silenced_errors"].as_u64().unwrap()
}

#[test]
fn settings_that_silence_errors_are_told() {
    let directory = directory("attacks", "hides-settings");
    let text = json!({ "resources": [rejected("one"), rejected("two"), world::cluster("three")] });
    let yaml = format!("# xdsctl: ignore[all] why not\n{}", world::yaml(&text));
    let json = write(&directory, "x.json", text.to_string());
    let yaml = write(&directory, "x.yaml", yaml);
    let ignore = "[[ignore]]\nrule = \"all\"\nreason = \"x\"\n";
    for (settings, file) in [
        ("[rules]\nall = \"off\"\n", &json),
        ("[rules]\nnack = \"note\"\n", &json),
        ("[rules]\ncds-lb = \"warning\"\n", &json),
        (ignore, &json),
        ("", &yaml),
    ] {
        write(&directory, "xdsctl.toml", settings);
        let run = validate(&["--format=json", file], &directory);
        assert_eq!(run.code, Some(0), "{settings}: {}", run.err);
        assert_eq!(silenced(&run), 2, "{settings}: {}", run.out);
        assert!(run.err.contains("2 errors are silenced"), "{settings}: {}", run.err);
        for args in [
            &[][..],
            &["--quiet"],
            &["--format=concise"],
            &["--format=github"],
            &["--statistics"],
            &["--matrix"],
        ] {
            let run = validate(&[args, &[file]].concat(), &directory);
            assert_eq!(run.code, Some(0), "{settings}: {}", run.err);
            assert!(
                (run.out + &run.err).contains("2 errors are silenced"),
                "{settings} {args:?}"
            );
        }
    }
    write(&directory, "xdsctl.toml", "");
    let run = validate(&["--format=json", &json], &directory);
    assert_eq!((run.code, silenced(&run)), (Some(1), 0));
    for client in ["java", "go,java"] {
        write(&directory, "xdsctl.toml", ignore);
        let run = validate(&["--format=json", "--client", client, &json], &directory);
        assert!(run.code != Some(0) || silenced(&run) > 0, "{client}: {}", run.out);
    }
}

#[test]
fn hides() {
    attack("hides", |chance: &mut Chance, directory| {
        write(directory, "good.json", world::document(chance.below(2)).to_string());
        let bad = rejected("bad");
        if chance.percent(20) {
            let all = beside(&bad);
            let ending = chance.one(&["json", "JSON", "yaml", "Yml"]);
            write(directory, &format!("x.{ending}"), &all[chance.below(all.len())]);
            let run = validate(&["--format=json", directory.to_str().unwrap()], directory);
            assert!(
                run.code != Some(0) || run.json()["summary"]["severities"]["warning"] != 0,
                "{}",
                run.out
            );
            return;
        }
        let is_hidden = chance.percent(50);
        if is_hidden {
            let head = chance.one(&HEADS);
            let text = match chance.below(3) {
                0 => format!("{{{head},\"resources\":[{bad}]}}"),
                1 => format!("{{{head},\"resources\":[]}}\n{bad}\n"),
                _ => format!(
                    "{{{head},\"findings\":[{}{bad}]}}",
                    "{\"rule\":\"x\"},".repeat(chance.below(200))
                ),
            };
            write(directory, chance.one(&["x.json", "x.jsonl", "a.json"]), text);
        } else {
            let file = chance.one(&["x.json", "y.json"]);
            write(directory, file, json!({ "resources": [bad] }).to_string());
            let rule = chance.one(&["all", "nack", "cds-lb", "cds-lb-policy-unsupported"]);
            let ignore = format!("[[ignore]]\nrule = \"{rule}\"\nreason = \"x\"\n");
            let resource = chance.one(&["*", "b*d", "bad", "*ad"]);
            let settings = match chance.below(4) {
                0 => format!("[rules]\n{rule} = \"{}\"\n", chance.one(&["off", "note", "warning"])),
                1 => ignore,
                2 => format!("{ignore}resource = \"{resource}\"\n"),
                _ => format!(
                    "{ignore}file = \"{}\"\n",
                    chance.one(&["*.json", "**", "**/*.json", file])
                ),
            };
            write(directory, "xdsctl.toml", settings);
        }
        let format = chance.one(&[
            "human", "json", "concise", "sarif", "github", "markdown", "junit", "gitlab", "jsonl",
        ]);
        let run = validate(&[&format!("--format={format}"), directory.to_str().unwrap()], directory);
        let is_told = (run.out.clone() + &run.err).contains("silenced");
        let is_loud = run.code != Some(0);
        assert!(is_loud || is_told && !is_hidden, "{format}\n{}\n{}", run.out, run.err);
    });
}
