//! Tests of the report of `validate` in its formats: several at once, the content of each, and how
//! it looks on a terminal.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::{Value, json};
use xdsctl_cli::Io;
use xdsctl_report::paths::PrintedPaths;

use crate::run::{self, Run, in_process};
use crate::support::root;

/// Runs a command with streams and surroundings that `change` may modify.
fn xdsctl(args: &[&str], input: &[u8], change: impl FnOnce(&mut Io<'_>)) -> Run {
    in_process(args, input, change)
}

fn piped(args: &[&str], input: impl AsRef<[u8]>) -> Run {
    in_process(args, input, |_| {})
}

/// Runs `validate` on standard input in one format.
fn form(format: &str, input: impl AsRef<[u8]>) -> String {
    piped(&["validate", "--format", format, "-"], input).out
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn directory(test: &str) -> PathBuf {
    run::directory("outputs", test)
}

/// Makes a cluster that the client rejects.
fn bad(name: &str) -> Value {
    cluster(name, json!({"lb_policy": "MAGLEV"}))
}

/// Makes a cluster with a warning.
fn dubious(name: &str) -> Value {
    cluster(name, json!({"common_lb_config": {"override_host_status": {}}}))
}

fn cluster(name: &str, more: Value) -> Value {
    let mut cluster = json!({
        "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
        "name": name,
        "type": "EDS",
        "eds_cluster_config": {"eds_config": {"ads": {}}},
    });
    cluster
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    cluster
}

fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

#[test]
fn several_forms_go_each_to_its_file() {
    let directory = directory("several");
    let file = |name: &str| directory.join(name).to_str().unwrap().to_owned();
    let sarif = format!("sarif={}", file("out.sarif"));
    let concise = format!("concise={}", file("out.txt"));
    let args = [
        "validate", "--format", &sarif, "--format", &concise, "--format", "json", "-",
    ];
    let run = piped(&args, bad("a").to_string());
    assert_eq!((run.code, run.err.as_str()), (Some(1), ""));
    assert_eq!(run.out, form("json", bad("a").to_string()));
    let read = |name: &str| fs::read_to_string(directory.join(name)).unwrap();
    assert_eq!(read("out.sarif"), form("sarif", bad("a").to_string()));
    assert_eq!(read("out.txt"), form("concise", bad("a").to_string()));

    let only = piped(&["validate", "--format", &concise, "-"], bad("a").to_string());
    assert_eq!((only.code, only.out.as_str()), (Some(1), ""));
}

#[test]
fn two_forms_for_one_place_are_refused() {
    for args in [
        &["validate", "--format", "json", "--format", "sarif"][..],
        &["validate", "--format", "json=/no/x", "--format", "sarif=/no/x"],
        &["validate", "--format", "json="],
        &["validate", "--format", "nonsense=x"],
        &["validate", "--format", "json=/no/such/directory/x"],
    ] {
        let run = piped(args, bad("a").to_string());
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{args:?}");
        assert!(!run.err.is_empty());
    }
}

#[test]
fn a_report_does_not_replace_its_input() {
    let file = directory("replace").join("a.json");
    fs::write(&file, bad("a").to_string()).unwrap();
    let (path, format) = (file.to_str().unwrap(), format!("json={}", file.display()));
    let run = piped(&["validate", "--format", &format, path], "");
    assert_eq!(run.code, Some(2));
    assert_eq!(
        run.err,
        format!("xdsctl: `{path}` is an input: give the report another file\n")
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), bad("a").to_string());
}

#[test]
fn a_concise_report_has_a_line_for_each_finding() {
    let input = lines(&[bad("a"), dubious("b"), bad("c\nd:\u{1b}[1m")]);
    let at = |line: usize, text: &str| input.lines().nth(line).unwrap().find(text).unwrap() + 1;
    assert_eq!(
        form("concise", &input),
        format!(
            "-:1:{}: error cds-lb-policy-unsupported: Cluster `a`: lb_policy 5 (MAGLEV) is not supported, must be ROUND_ROBIN or RING_HASH [lb_policy]\n\
             -:2:{}: warning cds-override-host-status-empty: Cluster `b`: {} [common_lb_config.override_host_status]\n\
             -:3:{}: error cds-lb-policy-unsupported: Cluster `c\\nd:\\u001b[1m`: lb_policy 5 (MAGLEV) is not supported, must be ROUND_ROBIN or RING_HASH [lb_policy]\n",
            at(0, "\"MAGLEV\""),
            at(1, "\"override_host_status"),
            message(&input, 1),
            at(2, "\"MAGLEV\""),
        )
    );
}

/// Returns the message of the finding on a resource.
fn message(input: &str, resource: usize) -> String {
    let report = json(&form("json", input));
    let message = &report["resources"][resource]["findings"][0]["message"];
    message.as_str().unwrap().to_owned()
}

#[test]
fn json_findings_name_their_resource_and_honour_the_severity() {
    let noted = cluster("n", json!({"connect_timeout": "1s"}));
    let input = lines(&[bad("a"), dubious("b"), noted, json!({"@type": "no.such.Type"})]);
    let of = |severity: &str| {
        let report = json(
            &piped(
                &["validate", "--format", "json", "--min-severity", severity, "-"],
                &input,
            )
            .out,
        );
        let resources = report["resources"].as_array().unwrap().clone();
        let findings = resources.iter().flat_map(|r| r["findings"].as_array().unwrap());
        let named = findings.map(|f| format!("{} {} {}", f["type"], f["name"], f["severity"]).replace('"', ""));
        (
            named.collect::<Vec<_>>(),
            resources.len(),
            report["summary"]["severities"].clone(),
        )
    };
    let (all, count, summary) = of("note");
    assert!(all.starts_with(&[
        "Cluster a error".into(),
        "Cluster b warning".into(),
        "Cluster n note".into()
    ]));
    assert_eq!(of("warning").0, &all[..2]);
    assert_eq!(of("error"), (all[..1].to_vec(), count, summary));
}

fn nine_bad_files(name: &str) -> PathBuf {
    let directory = directory(name);
    for number in 0..9 {
        fs::write(directory.join(format!("{number}.json")), bad("a").to_string()).unwrap();
    }
    directory
}

#[test]
fn the_report_is_capped_and_each_file_is_named() {
    let directory = nine_bad_files("capped");
    let path = directory.to_str().unwrap();
    let shown = |run: &Run| run.out.matches("is not supported, must be").count();
    assert_eq!(shown(&piped(&["validate", path], "")), 5);
    assert_eq!(shown(&piped(&["validate", "--all-findings", path], "")), 9);

    let on_terminal = |args: &[&str]| {
        xdsctl(args, b"", |io| {
            io.out_is_terminal = true;
            io.colour.no_color = true;
            io.width = Some(80);
        })
    };
    let capped = on_terminal(&["validate", path]);
    assert_eq!(shown(&capped), 5);
    for number in 0..9 {
        assert!(capped.out.contains(&format!("/{number}.json")), "{}", capped.out);
    }
    assert!(capped.out.contains("--all-findings shows every one"), "{}", capped.out);
    assert_eq!(shown(&on_terminal(&["validate", "--all", path])), 9);
}

#[test]
fn so_many_findings_of_each_severity_are_shown() {
    let directory = nine_bad_files("at-most");
    let path = directory.to_str().unwrap();
    let of = |args: &[&str]| piped(&[&["validate", path], args].concat(), "");
    let all = json(&of(&["--format=json"]).out);
    let most = of(&["--format=json", "--max-findings=2"]);
    let report = json(&most.out);
    let listed = |report: &Value| {
        let resources = report["resources"].as_array().unwrap();
        resources
            .iter()
            .map(|resource| resource["findings"].as_array().unwrap().len())
            .sum::<usize>()
    };
    assert_eq!(report["summary"]["severities"], all["summary"]["severities"]);
    let count = |severity: &str| all["summary"]["severities"][severity].as_u64().unwrap();
    let shown = ["error", "warning", "note"]
        .map(|severity| count(severity).min(2))
        .iter()
        .sum::<u64>();
    assert!(count("error") > 2);
    assert_eq!(listed(&report) as u64, shown);
    assert_eq!(
        report["summary"]["beyond_max"].as_u64(),
        Some(listed(&all) as u64 - shown)
    );
    assert_eq!(all["summary"].get("beyond_max"), None);
    assert_eq!(most.code, of(&[]).code);
    let none = of(&["--max-findings=0"]);
    assert!(
        none.out.contains("not shown: --max-findings shows more"),
        "{}",
        none.out
    );
}

#[test]
fn a_path_is_in_one_piece_on_a_terminal_and_lines_are_whole_off_one() {
    let text = fs::read_to_string(crate::support::root().join("fixtures/examples/shop.yaml")).unwrap();
    let path = "virtual_hosts[0].routes[0].route.retry_policy.retry_back_off.base_interval";
    for width in [None, Some(40), Some(60), Some(90)] {
        let run = xdsctl(&["validate", "-"], text.as_bytes(), |io| io.width = width);
        let whole = run.out.lines().any(|line| line.trim_end().ends_with(path));
        assert!(whole, "{width:?}: {}", run.out);
        assert!(run.out.contains("ClusterLoadAssignment"), "{}", run.out);
        let sentence = "base_interval is less than 1 ms: every RPC of the channel fails, on other routes too";
        assert_eq!(run.out.contains(sentence), width.is_none(), "{}", run.out);
    }
}

#[test]
fn a_snippet_of_one_line_fits_the_terminal_with_the_mark_in_its_middle() {
    let many: Vec<Value> = (0..50).map(|n| dubious(&format!("c{n}"))).collect();
    let mut all = many.clone();
    all.push(bad("bad"));
    all.extend(many);
    let input = Value::Array(all).to_string();
    for width in [40, 61, 80, 200] {
        let args = ["validate", "--min-severity", "error", "-"];
        let run = xdsctl(&args, input.as_bytes(), |io| io.width = Some(width));
        let line = run.out.lines().find(|line| line.contains("\"MAGLEV\"")).unwrap();
        let columns = line.chars().count();
        assert!(columns <= width && columns > width - 10, "{width}: {line}");
        let at = line.split("\"MAGLEV\"").next().unwrap().chars().count();
        let (before, after) = (at - " 1 │ ".chars().count(), columns - at - 8);
        assert!(before.abs_diff(after) <= 1, "{width}: {line}");
    }
}

#[test]
fn statistics_count_rules_and_quiet_leaves_findings() {
    let input = lines(&[bad("a"), bad("b"), dubious("c")]);
    let run = piped(&["validate", "--statistics", "-"], &input);
    let starts: Vec<String> = run
        .out
        .lines()
        .map(|line| line.split_whitespace().take(3).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(
        starts,
        [
            "2 error cds-lb-policy-unsupported",
            "1 warning cds-override-host-status-empty",
            "3 resources: 1",
            "2 errors, 1"
        ]
    );
    let json = json(&form("json", &input));
    assert_eq!(
        json["summary"]["rules"],
        json!({"cds-lb-policy-unsupported": 2, "cds-override-host-status-empty": 1})
    );

    let loud = piped(&["validate", "-"], &input).out;
    let quiet = piped(&["validate", "--quiet", "-"], &input).out;
    let summary = "3 resources: 1 accepted, 2 rejected, 0 ignored, 0 not checked\n2 errors, 1 warning, 0 notes\n";
    let rest = loud.strip_prefix(&quiet).unwrap_or_else(|| panic!("{loud}\n{quiet}"));
    assert!(quiet.ends_with("\n\n") && rest.contains(summary), "{rest}");
}

#[test]
fn github_gets_the_loudest_ten_of_a_severity_and_no_command_of_a_document() {
    let mut clusters: Vec<Value> = (0..12).map(|n| dubious(&format!("w{n}"))).collect();
    clusters.extend((0..11).map(|n| bad(&format!("e{n}"))));
    clusters.push(bad("x\n::error::y ##[add-path]z"));
    let out = form("github", lines(&clusters));
    let commands: Vec<&str> = out.lines().filter(|line| line.starts_with("::")).collect();
    let count = |word: &str| commands.iter().filter(|line| line.starts_with(word)).count();
    assert_eq!((count("::error "), count("::warning ")), (10, 10));
    assert!(commands[..10].iter().all(|line| line.starts_with("::error ")));
    let line = clusters[12].to_string();
    let column = line.find("\"MAGLEV\"").unwrap() + 1;
    assert_eq!(
        commands[0],
        format!(
            "::error file=-,line=13,endLine=13,col={column},endColumn={},title=cds-lb-policy-unsupported::Cluster `e0`: lb_policy 5 (MAGLEV) is not supported, must be ROUND_ROBIN or RING_HASH%0Aat lb_policy%0Ahelp: set load_balancing_policy, beside which lb_policy is not read",
            column + 7
        )
    );
    assert_eq!(
        &commands[20..],
        [
            "::group::4 more: GitHub shows 10 annotations of a severity",
            "::endgroup::"
        ]
    );
    assert!(out.contains("Cluster `x\\n::error::y # #[add-path]z`"), "{out}");
}

#[test]
fn github_is_told_why_a_run_has_no_answer() {
    let directory = directory("trouble");
    let file = directory.join("good.json");
    fs::write(&file, bad("a").to_string()).unwrap();
    let cut = directory.join("cut.json");
    let text = bad("a").to_string();
    fs::write(&cut, format!("{{\"resources\":[{text},")).unwrap();
    let settings = directory.join("xdsctl.toml");
    fs::write(&settings, "format = \"github\"\n").unwrap();
    let [good, cut, settings] = [&file, &cut, &settings].map(|file| file.to_str().unwrap());
    let missing = "::error title=xdsctl::cannot read `none.json`";
    for (args, code, said) in [
        (&["validate", "--format=github", "none.json"][..], 2, missing),
        (&["validate", "--format", "github", good, "none.json"], 2, missing),
        (&["validate", "--config", settings, "none.json"], 2, missing),
        (&["diff", "--format", "github", good, "none.json"], 2, missing),
        (&["test", "--format=github", "none.json"], 2, missing),
        (
            &["validate", "--format", "github", "--fail-on", "nonsense", good],
            2,
            "::error title=xdsctl::invalid value 'nonsense' for '--fail-on",
        ),
        (
            &["diff", "--format=github", good],
            2,
            "::error title=xdsctl::diff takes two inputs, BEFORE and AFTER, it got 1\n",
        ),
        (
            &["diff", "--format=github", good, cut],
            1,
            "the answer is based on incomplete input\n",
        ),
    ] {
        let run = crate::run::in_process(args, b"", |_| {});
        assert_eq!(run.code, Some(code), "{args:?}: {}", run.err);
        assert!(run.out.contains(said), "{args:?}: {}", run.out);
    }
    // With another format, or with a report in a file, the message is only on standard error.
    for args in [
        &["validate", "none.json"][..],
        &["validate", "--format=github=/dev/null", "none.json"],
        &["diff", "--format", "json", good, "none.json"],
        &["validate", "--format", "json", "--fail-on", "nonsense", "github"],
    ] {
        let run = crate::run::in_process(args, b"", |_| {});
        assert_eq!(run.code, Some(2), "{args:?}");
        assert!(!run.out.contains("::error"), "{args:?}: {}", run.out);
    }
}

#[test]
fn github_gets_a_step_summary() {
    let file = directory("summary").join("summary.md");
    fs::write(&file, "before\n").unwrap();
    xdsctl(
        &["validate", "--format", "github", "-"],
        bad("a").to_string().as_bytes(),
        |io| {
            io.step_summary = Some(file.clone());
        },
    );
    let expected = form("markdown", bad("a").to_string());
    assert_eq!(fs::read_to_string(&file).unwrap(), format!("before\n{expected}"));
}

#[test]
fn files_are_named_from_the_root_of_the_repository() {
    let directory = directory("root");
    let xds = directory.join("xds");
    fs::create_dir(&xds).unwrap();
    let file = xds.join("a b.json");
    fs::write(&file, bad("a").to_string()).unwrap();
    let form = |format: &str| {
        let args = ["validate", "--format", format, file.to_str().unwrap()];
        xdsctl(&args, b"", |io| {
            io.paths = PrintedPaths {
                directory: Some(xds.clone()),
                root: Some(directory.clone()),
            };
        })
        .out
    };
    assert_eq!(json(&form("gitlab"))[0]["location"]["path"], "xds/a b.json");
    let location = &json(&form("sarif"))["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(location["artifactLocation"]["uri"], "xds/a%20b.json");
    assert!(form("github").contains("file=xds/a b.json,"));
    assert!(form("junit").contains("<testsuite name=\"xds/a b.json\""));
    assert!(form("markdown").contains("`xds/a b.json:1`"));
}

/// Returns the fingerprints of the results by the resource that they are about.
fn fingerprints(input: &str) -> Vec<(String, String)> {
    let report = json(&form("sarif", input));
    let results = report["runs"][0]["results"].as_array().unwrap().clone();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let pair = |r: &Value| {
        let name = r["locations"][0]["logicalLocations"][0]["name"].as_str()?;
        Some((
            name.to_owned(),
            text(&r["partialFingerprints"]["primaryLocationLineHash"]),
        ))
    };
    results.iter().filter_map(pair).collect()
}

#[test]
fn a_fingerprint_survives_edits_elsewhere() {
    let weightless = |names: &[&str]| {
        let localities: Vec<Value> = names
            .iter()
            .map(|name| json!({"locality": {"region": name}, "load_balancing_weight": 1}))
            .chain([json!({"locality": {"region": "weightless"}})])
            .collect();
        json!({
            "@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",
            "cluster_name": "e",
            "endpoints": localities,
        })
    };
    let before = fingerprints(&lines(&[bad("a"), bad("b"), weightless(&["x"])]));
    let after = fingerprints(&lines(&[
        dubious("new"),
        bad("b"),
        json!({"ignored": 1}),
        weightless(&["y", "x"]),
        bad("a"),
    ]));
    for name in ["a", "b", "e"] {
        let of = |all: &[(String, String)]| all.iter().filter(|(n, _)| n == name).cloned().collect::<Vec<_>>();
        assert!(!of(&before).is_empty(), "{before:?}");
        assert!(
            of(&before).iter().all(|one| of(&after).contains(one)),
            "{name}: {before:?}, {after:?}"
        );
    }
    // Equal findings have different fingerprints.
    let twice = fingerprints(&lines(&[bad("a"), bad("a")]));
    assert!(twice.len() < 2 || twice[0] != twice[1], "{twice:?}");
    let mut different: Vec<&String> = before.iter().map(|(_, print)| print).collect();
    different.sort();
    different.dedup();
    assert_eq!(different.len(), before.len());
}

#[test]
fn junit_has_a_case_for_each_resource() {
    let unknown = json!({"@type": "type.googleapis.com/no.such.Type", "name": "u"});
    let input = lines(&[bad("a<&\">\u{1}"), dubious("b"), cluster("c", json!({})), unknown]);
    let out = form("junit", &input);
    assert!(
        out.contains("<testsuites name=\"xdsctl\" tests=\"5\" failures=\"1\" errors=\"0\">"),
        "{out}"
    );
    assert!(
        out.contains("<testcase classname=\"Cluster\" name=\"a&lt;&amp;&quot;&gt;\\u0001\">"),
        "{out}"
    );
    assert!(
        out.contains("<failure type=\"cds-lb-policy-unsupported\" message=\"Cluster `a&lt;"),
        "{out}"
    );
    assert!(out.contains("<testcase classname=\"Cluster\" name=\"c\"/>"), "{out}");
    assert!(
        out.contains("<skipped message=\"the client never asks for it\"/>"),
        "{out}"
    );
    let strict = piped(&["validate", "--format", "junit", "--fail-on", "warning", "-"], &input).out;
    assert!(strict.contains("tests=\"5\" failures=\"3\""), "{strict}");
}

#[test]
fn a_comment_has_a_limit_and_says_so() {
    let clusters: Vec<Value> = (0..1000).map(|n| bad(&format!("a-rather-long-name-{n}"))).collect();
    let out = form("markdown", lines(&clusters));
    assert!(out.len() < 65_536, "{}", out.len());
    let shown = out.matches("**cds-lb-policy-unsupported**").count();
    assert!(shown > 100);
    assert!(out.ends_with(&format!(
        "\n{} more do not fit: a comment has 60000 bytes for them\n",
        1000 - shown
    )));
}

/// A reader that returns one line, and the next line only when the verdict on the last one is
/// there.
struct Conversation<'c> {
    lines: Vec<String>,
    next: usize,
    answers: &'c std::sync::Mutex<Vec<u8>>,
}

impl std::io::Read for Conversation<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let answered = self
            .answers
            .lock()
            .unwrap()
            .iter()
            .filter(|byte| **byte == b'\n')
            .count();
        assert_eq!(answered, self.next, "a line is read when all before are answered");
        let Some(line) = self.lines.get(self.next) else {
            return Ok(0);
        };
        self.next += 1;
        let bytes = line.as_bytes();
        buffer[..bytes.len()].copy_from_slice(bytes);
        Ok(bytes.len())
    }
}

/// A writer that passes its bytes on at once.
struct Shared<'c>(&'c std::sync::Mutex<Vec<u8>>);

impl std::io::Write for Shared<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn each_line_of_a_stream_gets_its_verdict_before_the_next_is_read() {
    let snapshots = [
        Value::Array(vec![bad("a"), dubious("b")]).to_string(),
        Value::Array(vec![cluster("a", json!({}))]).to_string(),
        "{\"nothing\": 1}".to_owned(),
        String::new(),
        "{\"@type\": ".to_owned(),
        dubious("c").to_string(),
    ];
    let answers = std::sync::Mutex::new(Vec::new());
    let conversation = Conversation {
        lines: snapshots.iter().map(|line| format!("{line}\n")).collect(),
        next: 0,
        answers: &answers,
    };
    let mut err = Vec::new();
    let io = Io::piped(conversation, Shared(&answers), &mut err);
    let code_of_all = xdsctl_cli::run(["xdsctl", "validate", "--format", "jsonl"], io);
    let out = String::from_utf8(answers.into_inner().unwrap()).unwrap();
    let rows: Vec<Value> = out.lines().map(json).collect();
    assert_eq!(code_of_all, ExitCode::from(2));
    let verdicts: Vec<(u64, &str)> = rows
        .iter()
        .map(|row| (row["line"].as_u64().unwrap(), row["verdict"].as_str().unwrap()))
        .collect();
    assert_eq!(
        verdicts,
        [
            (1, "fail"),
            (2, "pass"),
            (3, "error"),
            (4, "error"),
            (5, "error"),
            (6, "pass")
        ]
    );
    let finding = &rows[0]["findings"][0];
    assert_eq!((&finding["name"], &finding["line"]), (&json!("a"), &json!(1)));
    let last = &rows[5]["findings"][0];
    assert_eq!(last["line"], 6);
    // Byte offsets count in the whole stream.
    let stream: String = snapshots.iter().map(|line| format!("{line}\n")).collect();
    let at = |name: &str| usize::try_from(last[name].as_u64().unwrap()).unwrap();
    let marked = &stream[at("byte_start")..at("byte_end")];
    assert!(marked.contains("override_host_status"), "{marked}");
    assert!(rows[2]["error"].as_str().unwrap().starts_with("nothing to check"));

    let strict = piped(
        &["validate", "--format", "jsonl", "--fail-on", "warning"],
        dubious("c").to_string(),
    );
    assert_eq!(
        (strict.code, json(&strict.out)["verdict"].clone()),
        (Some(1), json!("fail"))
    );
    let both = piped(&["validate", "--format", "jsonl", "--format", "json=/dev/null"], "");
    assert_eq!(both.code, Some(2));
}

#[test]
fn a_document_that_is_printed_over_lines_is_one_snapshot() {
    let printed = |value: Value| serde_json::to_string_pretty(&value).unwrap();
    let stream = format!(
        "{}\n{}\n{}\n",
        printed(json!([bad("a"), cluster("b", json!({}))])),
        cluster("c", json!({})),
        printed(json!({"resources": [bad("d")]})),
    );
    let run = piped(&["validate", "--format", "jsonl", "-"], stream.clone());
    let rows: Vec<Value> = run.out.lines().map(json).collect();
    let line_of = |text: &str| u64::try_from(stream[..stream.find(text).unwrap()].lines().count()).unwrap();
    let told: Vec<(u64, &str, u64)> = rows
        .iter()
        .map(|row| {
            let verdict = row["verdict"].as_str().unwrap();
            let found = row["findings"][0]["line"].as_u64().unwrap_or_default();
            (row["line"].as_u64().unwrap(), verdict, found)
        })
        .collect();
    let third = line_of("\"resources\"") - 1;
    let lines = stream.lines().collect::<Vec<_>>();
    assert_eq!(lines[usize::try_from(third).unwrap() - 1], "{");
    let policies: Vec<u64> = (1..)
        .zip(&lines)
        .filter(|(_, line)| line.contains("MAGLEV"))
        .map(|(at, _)| at)
        .collect();
    assert_eq!(
        told,
        [
            (1, "fail", policies[0]),
            (third - 1, "pass", 0),
            (third, "fail", policies[1])
        ],
        "{}",
        run.out
    );
    assert_eq!(run.code, Some(1));
}

#[test]
fn what_has_no_lines_is_one_snapshot_or_says_what_would_be_taken() {
    let yaml = fs::read_to_string(root().join("fixtures/examples/shop.yaml")).unwrap();
    let as_stream = |args: &[&str]| {
        let run = piped(&[&["validate", "--format", "jsonl"], args].concat(), yaml.clone());
        let rows: Vec<Value> = run.out.lines().map(json).collect();
        (rows, run.code)
    };
    let file = root().join("fixtures/examples/shop.yaml");
    let (rows, code) = as_stream(&[file.to_str().unwrap()]);
    assert_eq!((rows.len(), &rows[0]["verdict"], code), (1, &json!("fail"), Some(1)));
    let (named, _) = as_stream(&["--stdin-filename", "a.yaml"]);
    assert_eq!(named.len(), 1);
    assert_eq!(named[0]["resources"], rows[0]["resources"]);
    let (rows, code) = as_stream(&[]);
    assert!(rows.len() > 1);
    let error = rows[0]["error"].as_str().unwrap();
    assert!(
        error.ends_with("; a snapshot is JSON, on a line or printed over several"),
        "{error}"
    );
    assert_eq!(code, Some(2));
}

#[test]
fn a_stream_without_a_line_reads_its_bootstrap_all_the_same() {
    let run = piped(
        &["validate", "--format", "jsonl", "--bootstrap", "nowhere/bootstrap.json"],
        "",
    );
    assert_eq!((run.code, run.out.as_str()), (Some(2), ""));
    assert!(
        run.err.starts_with("xdsctl: cannot read `nowhere/bootstrap.json`"),
        "{}",
        run.err
    );
}

#[test]
fn a_person_is_told_that_standard_input_is_read() {
    let on_terminal = xdsctl(&["validate"], bad("a").to_string().as_bytes(), |io| {
        io.in_is_terminal = true
    });
    assert!(
        on_terminal.err.starts_with("xdsctl: reading standard input"),
        "{}",
        on_terminal.err
    );
    assert_eq!(on_terminal.code, Some(1));
    assert_eq!(piped(&["validate"], bad("a").to_string()).err, "");
}

/// Makes a cluster with a policy whose config the client's loader rejects, deep inside a list of
/// policies.
fn rejected_inside() -> String {
    let policy = |name: &str, value: Value| {
        json!({"typed_extension_config": {"name": "p", "typed_config": {
            "@type": "type.googleapis.com/xds.type.v3.TypedStruct",
            "type_url": format!("type.googleapis.com/{name}"),
            "value": value,
        }}})
    };
    let child = json!({"childPolicy": [{"weighted_round_robin": {"blackoutPeriod": 10}}]});
    let policies = json!({"policies": [policy("xds_wrr_locality_experimental", child)]});
    let text = cluster("a", json!({"load_balancing_policy": policies}));
    serde_json::to_string_pretty(&text).unwrap()
}

#[test]
fn what_a_loader_rejects_is_one_finding_with_what_follows_from_it() {
    let report = json(&form("json", rejected_inside()));
    let findings = report["resources"][0]["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{findings:?}");
    let follows: Vec<_> = findings[0]["related"]
        .as_array()
        .unwrap()
        .iter()
        .map(|other| {
            (
                other["rule"].as_str().unwrap(),
                other["path"].as_str().unwrap(),
                other["line"].as_u64(),
            )
        })
        .collect();
    assert_eq!(
        (&findings[0]["rule"], &findings[0]["path"]),
        (&json!("lb-json-wrong-type"), &json!("blackoutPeriod"))
    );
    assert_eq!(
        follows,
        [
            ("lb-config-rejected", "load_balancing_policy", Some(8)),
            ("lb-child-rejected", "childPolicy", Some(16))
        ]
    );
    // One `-A` silences all of the findings.
    let quiet = piped(&["validate", "-A", "lb-json-wrong-type", "-"], rejected_inside());
    assert_eq!(quiet.code, Some(0), "{}", quiet.out);
}

#[test]
fn other_places_of_a_finding_are_printed() {
    let listed = json!({
        "@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",
        "cluster_name": "a",
        "endpoints": ([1, 2].map(|_| json!({
            "locality": {"zone": "z"},
            "load_balancing_weight": 1,
            "lb_endpoints": [{"endpoint": {"address": {"socket_address": {"address": "10.0.0.1", "port_value": 1}}}}],
        }))),
    });
    let text = serde_json::to_string_pretty(&listed).unwrap();
    let report = json(&form("json", &text));
    let finding = &report["resources"][0]["findings"][0];
    let other = &finding["related"][0];
    assert_eq!(
        (&other["path"], &other["rule"]),
        (&json!("endpoints[0].lb_endpoints[0]"), &Value::Null),
        "{finding}"
    );
    let line = other["line"].as_u64().unwrap();
    assert!(line < finding["line"].as_u64().unwrap(), "{finding}");

    let (column, said) = (&other["column"], other["message"].as_str().unwrap());
    let see = format!("see endpoints[0].lb_endpoints[0] ({line}:{column}): {said}");
    for name in ["human", "github", "markdown"] {
        let out = form(name, &text);
        let see = match name {
            "markdown" => format!("see `endpoints[0].lb_endpoints[0]` (line {line}): {said}"),
            _ => see.clone(),
        };
        assert!(out.contains(&see), "{name}: {see}\n{out}");
    }
    let sarif = json(&form("sarif", &text));
    let result = &sarif["runs"][0]["results"][0];
    let location = &result["relatedLocations"][0];
    assert_eq!(location["physicalLocation"]["region"]["startLine"], json!(line));
    assert_eq!(location["message"]["text"], json!(said));
}

#[test]
fn findings_that_can_be_fixed_say_so() {
    let text = cluster("a", json!({"lb_policy": "MAGLEV", "connect-timeout": "1s"})).to_string();
    let report = json(&form("json", &text));
    let findings = report["resources"][0]["findings"].as_array().unwrap();
    let fixable = |rule: &str| &findings.iter().find(|f| f["rule"] == rule).unwrap()["fixable"];
    assert_eq!(fixable("cds-lb-policy-unsupported"), &Value::Null);
    assert_eq!(fixable("dump-unknown-field"), &json!(true), "{findings:?}");
}

#[test]
fn a_report_may_be_written_twice_into_the_directory_that_is_checked() {
    for (form, name) in [
        ("json", "report.json"),
        ("sarif", "out.json"),
        ("gitlab", "quality.json"),
        ("jsonl", "verdicts.jsonl"),
        ("junit", "out.xml"),
    ] {
        for input in [bad("a"), cluster("a", json!({}))] {
            let directory = directory("twice");
            fs::write(directory.join("a.json"), input.to_string()).unwrap();
            let to = format!("{form}={}", directory.join(name).display());
            let run = || {
                let run = piped(&["validate", "--format", &to, directory.to_str().unwrap()], "");
                assert_eq!(run.err, "", "{form}");
                (run.code, fs::read_to_string(directory.join(name)).unwrap())
            };
            let first = run();
            assert_eq!((run(), run()), (first.clone(), first), "{form}");
        }
    }
}

#[test]
fn a_report_of_another_name_is_no_document_either() {
    let directory = directory("left-over");
    fs::write(directory.join("a.json"), bad("a").to_string()).unwrap();
    fs::write(directory.join("old.json"), form("json", bad("b").to_string())).unwrap();
    fs::write(directory.join("old.jsonl"), form("jsonl", bad("b").to_string())).unwrap();
    let validate = |path: &std::path::Path| piped(&["validate", "--format", "json", path.to_str().unwrap()], "");
    assert_eq!(validate(&directory).findings(), ["cds-lb-policy-unsupported lb_policy"]);
    // A file that is named on the command line is read as input.
    assert_eq!(validate(&directory.join("old.json")).code, Some(2));
    fs::remove_file(directory.join("a.json")).unwrap();
    let run = validate(&directory);
    let told = |name: &str| {
        let file = directory.join(name);
        format!(
            "xdsctl: `{}` is passed over: it is a report of xdsctl\n",
            file.display()
        )
    };
    let nothing = "xdsctl: nothing to check: no file but reports and baselines of xdsctl\n";
    let err = told("old.json") + &told("old.jsonl") + nothing;
    assert_eq!((run.code, run.err), (Some(2), err));
}

#[test]
fn a_document_is_not_overwritten_by_a_report() {
    let directory = directory("overwritten");
    let document = directory.join("a.json");
    let text = bad("a").to_string();
    fs::write(&document, &text).unwrap();
    for form in ["json", "jsonl", "sarif"] {
        let to = format!("{form}={}", document.display());
        for path in [&directory, &document] {
            let run = piped(&["validate", "--format", &to, path.to_str().unwrap()], "");
            assert_eq!(run.code, Some(2), "{form}");
            assert!(
                run.err.contains("is an input: give the report another file"),
                "{}",
                run.err
            );
            assert_eq!(fs::read_to_string(&document).unwrap(), text);
        }
    }
}

#[test]
fn what_a_control_plane_has_sent_is_nothing_to_check() {
    let status = |config_status: &str| {
        let config = json!({"type_url": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "a", "config_status": config_status});
        json!({"config": [{"generic_xds_configs": [config]}]}).to_string()
    };
    for sent in ["SYNCED", "STALE", "NOT_SENT"] {
        let run = piped(&["validate", "-"], status(sent));
        let why =
            "xdsctl: nothing to check: the input says which resources a control plane has sent, and has none of them\n";
        assert_eq!((run.code, run.err.as_str()), (Some(2), why), "{sent}");
    }
    // The rejection by a client is an answer, not an error.
    assert_eq!(piped(&["validate", "-"], status("ERROR")).code, Some(1));
}

#[test]
fn a_masked_snippet_and_folded_notes_say_how_to_see_more() {
    let unknown = piped(&["validate", "-"], json!({"shop": {"note": "hello"}}).to_string());
    assert!(unknown.out.contains("****"), "{}", unknown.out);
    let help = "`*` stands for what could be secret, --show-secrets shows it\n";
    assert!(unknown.out.contains(help), "{}", unknown.out);
    let shown = piped(
        &["validate", "--show-secrets", "-"],
        json!({"shop": {"note": "hello"}}).to_string(),
    );
    assert!(
        shown.out.contains("hello") && !shown.out.contains(help),
        "{}",
        shown.out
    );

    let folded = "--min-severity note shows notes, too\n";
    let with_note = cluster("a", json!({"connect_timeout": "1s"})).to_string();
    assert!(piped(&["validate", "-"], &with_note).out.contains(folded));
    let all = piped(&["validate", "--min-severity", "note", "-"], &with_note).out;
    assert!(all.contains("connect_timeout") && !all.contains(folded), "{all}");
}

#[test]
fn a_servers_listeners_are_named_where_a_channel_is_wanted() {
    let listener = json!({
        "@type": "type.googleapis.com/envoy.config.listener.v3.Listener",
        "name": "inbound",
        "address": {"socket_address": {"address": "0.0.0.0", "port_value": 80}},
        "filter_chains": [],
        "default_filter_chain": {"filters": [{"name": "hcm", "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
            "route_config": {"name": "r"},
            "http_filters": [{"name": "router", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}],
        }}]},
    });
    for command in ["tree", "route", "pick"] {
        let run = piped(&[command, "-"], listener.to_string());
        assert_eq!(run.code, Some(2));
        let said =
            "the only Listener, `inbound`, has no api_listener: it is a server's or a proxy's, no channel can have it";
        assert!(run.err.contains(said), "{command}: {}", run.err);
    }
}

/// The report has findings before what the client keeps, so that they can be printed while the rest
/// is made.
#[test]
fn what_is_kept_stands_behind_what_was_found() {
    let shop = root().join("fixtures/examples/shop.yaml").display().to_string();
    let asked = [
        "validate",
        "--no-config",
        "--format=json",
        "--show=reached",
        "--reach=checkout",
    ];
    let text = piped(&[&asked[..], &[shop.as_str()]].concat(), "").out;
    let report = json(&text);
    let (found, kept) = text.split_once(",\n  \"kept\": [").unwrap();
    assert!(found.contains("\"summary\"") && !found.contains("\"parsed\"") && kept.contains("\"parsed\""));
    let resources = report["resources"].as_array().unwrap();
    assert!(!found.contains("\"refers_to\""));
    let rows = report["kept"].as_array().unwrap();
    assert_eq!(
        rows.len(),
        resources.iter().filter(|one| one["verdict"] == "accepted").count()
    );

    // The content equals that beside the resource.
    let beside = json(
        &piped(
            &["validate", "--no-config", "--format=json", "--show=parsed", &shop],
            "",
        )
        .out,
    );
    for row in rows {
        let index = usize::try_from(row["resource"].as_u64().unwrap()).unwrap();
        assert_eq!(row["parsed"], beside["resources"][index]["parsed"], "{index}");
        if let Some(routes) = row["parsed"]["api_listener"]["rds"]["route_config_name"].as_str() {
            assert_eq!(row["refers_to"], json!([["RouteConfiguration", routes]]));
        }
    }
    assert!(beside.get("kept").is_none());
}

#[test]
fn what_no_form_shows_is_refused() {
    let input = lines(&[bad("a")]);
    let run = |args: &[&str]| piped(&[&["validate", "-"], args].concat(), &input);
    for (flags, forms) in [
        (&["--show", "parsed"][..], "`--format human` or `--format json`"),
        (&["--show", "reached"], "`--format json`"),
        (&["--explain-suppressed"], "`--format human` or `--format json`"),
    ] {
        let refused = run(&[flags, &["--format", "sarif"]].concat());
        let why = format!("xdsctl: {} needs {forms}\n", flags.join(" "));
        assert_eq!((refused.code, refused.out.as_str(), refused.err), (Some(2), "", why));
        assert_eq!(run(&[flags, &["--format", "json"]].concat()).code, Some(1), "{flags:?}");
    }
    assert_eq!(run(&["--show", "reached"]).code, Some(2));
    let of_parsed = run(&["--show", "parsed", "--reach", "a"]);
    assert_eq!(
        (of_parsed.code, of_parsed.err.as_str()),
        (Some(2), "xdsctl: --reach needs `--show reached`\n")
    );
    let file = directory("refused").join("report.json");
    let to_file = format!("json={}", file.display());
    let run = run(&["--show", "reached", "--format", "concise", "--format", &to_file]);
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(json(&fs::read_to_string(file).unwrap())["kept"].is_array());
}
