//! Tests of baselines: known findings are not reported again, new ones are, and those that are gone
//! are reported.

use super::{Project, cluster, maglev, routes};

const NACK: &str = "cds-lb-policy-unsupported";
const NONE: [&str; 0] = [];

fn project(name: &str) -> Project {
    let project = Project::new(name, &[("a.yaml", &maglev("a")), ("b.yaml", &maglev("b"))]);
    let run = project.run(&["validate", "--write-baseline=known.json", "a.yaml", "b.yaml"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert_eq!(run.err, "wrote 2 findings to known.json\n");
    project
}

#[test]
fn what_is_in_the_baseline_is_not_reported_again() {
    let project = project("known");
    let run = project.validate(&["--baseline=known.json", "a.yaml", "./b.yaml"]);
    assert_eq!((run.named_findings(), run.code), (vec![], Some(0)));
    assert_eq!(run.json()["summary"]["baseline"], 2);
    let human = project.run(&["validate", "--baseline=known.json", "a.yaml", "b.yaml"]);
    assert!(human.out.contains("2 findings in the baseline\n"), "{}", human.out);
}

#[test]
fn edits_elsewhere_leave_a_finding_known_and_a_new_one_is_new() {
    let project = project("edits");
    project.write("a.yaml", &format!("# moved\n\n{}---\n{}", cluster("z"), maglev("a")));
    let run = project.validate(&["--baseline=known.json", "a.yaml", "b.yaml"]);
    assert_eq!(run.named_findings(), NONE);
    project.write("b.yaml", &format!("{}---\n{}", maglev("b"), maglev("c")));
    let run = project.validate(&["--baseline=known.json", "a.yaml", "b.yaml"]);
    assert_eq!((run.named_findings(), run.code), (vec![format!("{NACK} c")], Some(1)));
}

#[test]
fn one_more_of_the_same_in_a_list_is_new() {
    let world = |clusters: &[&str]| format!("{}---\n{}", cluster("z"), routes("r", clusters));
    let project = Project::new("more", &[("a.yaml", &world(&["z", "x"]))]);
    project.run(&["validate", "--write-baseline=known.json", "a.yaml"]);
    project.write("a.yaml", &world(&["z", "y", "x"]));
    let run = project.validate(&["--baseline=known.json", "a.yaml"]);
    assert_eq!(run.named_findings(), ["rds-cluster-missing r"]);
    assert!(run.out.contains("Cluster `y` is not there"), "{}", run.out);
}

#[test]
fn a_directory_is_read_without_its_baseline() {
    let project = project("own");
    for flag in ["--baseline=./known.json", "--write-baseline=known.json"] {
        let run = project.validate(&[flag, "."]);
        assert_eq!((run.named_findings(), run.code), (vec![], Some(0)), "{flag}");
    }
    // The baseline is a document when it is named as input, and a document is read as one whatever
    // the flags say.
    let shape = "dump-unknown-shape -".to_owned();
    let run = project.validate(&["--baseline=known.json", "known.json"]);
    assert_eq!((run.named_findings(), run.code), (vec![shape.clone()], Some(2)));
    assert!(!project.validate(&["."]).named_findings().contains(&shape));
    project.write("only/known.json", &project.read("known.json"));
    assert_eq!(project.validate(&["--baseline=only/known.json", "only"]).code, Some(2));
    let text = project.read("a.yaml");
    let over = project.validate(&["--write-baseline=a.yaml", "."]);
    assert_eq!((over.code, project.read("a.yaml")), (Some(2), text), "{}", over.err);
}

#[test]
fn what_is_gone_is_said_where_the_baseline_has_it() {
    let project = project("stale");
    project.write("a.yaml", &cluster("a"));
    let run = project.validate(&["--baseline=known.json", "a.yaml"]);
    assert_eq!(run.named_findings(), ["baseline-stale -"], "b.yaml was not read");
    let finding = &run.json()["findings"][0];
    assert_eq!((&finding["file"], &finding["line"]), (&"known.json".into(), &4.into()));
    let complete = project.validate(&[
        "--baseline=known.json",
        "--complete",
        "-A",
        "reference-to-nothing",
        "a.yaml",
    ]);
    assert_eq!(complete.named_findings(), ["baseline-stale -", "baseline-stale -"]);
}

#[test]
fn a_baseline_is_the_same_bytes_for_the_same_findings() {
    let project = project("bytes");
    let first = project.read("known.json");
    let again = [
        "validate",
        "--write-baseline=again.json",
        "--baseline=known.json",
        "b.yaml",
        "a.yaml",
    ];
    assert_eq!(project.run(&again).code, Some(0));
    assert_eq!(project.read("again.json"), first);
    assert!(first.contains(r#""file":"a.yaml""#), "{first}");
}

#[test]
fn the_project_says_which_baseline() {
    let project = project("config");
    project.write("xdsctl.toml", "baseline = 'known.json'\n");
    assert_eq!(project.validate(&["a.yaml", "b.yaml"]).named_findings(), NONE);
    let directory = project.0.file_name().unwrap().to_str().unwrap();
    let run = project.run_in("..", &["validate", &format!("{directory}/a.yaml")]);
    assert_eq!(run.code, Some(1), "no configuration there");
}

#[test]
fn what_is_no_baseline_is_refused() {
    let project = project("refused");
    for (text, words) in [
        ("{}", "`schema` must be `xdsctl.baseline/v1`"),
        ("[", "EOF"),
        (
            r#"{"schema":"xdsctl.baseline/v1","findings":[{"fingerprint":"x"}]}"#,
            "`findings[0].fingerprint` must have 16 hexadecimal digits",
        ),
    ] {
        project.write("known.json", text);
        let run = project.run(&["validate", "--baseline=known.json", "a.yaml"]);
        assert_eq!(run.code, Some(2), "{text}");
        assert!(run.err.contains(words), "{}", run.err);
    }
    assert_eq!(
        project.run(&["validate", "--baseline=none.json", "a.yaml"]).code,
        Some(2)
    );
}
