//! Tests of `xdsctl.toml`: it is found upwards, its settings by key, errors with places, `init` and
//! `config show`.

use super::{Project, cluster, maglev};

const NACK: &str = "cds-lb-policy-unsupported";

/// Makes a project with a rejected cluster in `env/prod/c.yaml`.
fn project(name: &str, config: &str) -> Project {
    Project::new(name, &[("xdsctl.toml", config), ("env/prod/c.yaml", &maglev("c"))])
}

#[test]
fn the_file_is_found_upwards_to_the_root_of_the_repository() {
    let off = format!("[rules]\n{NACK} = 'off'\n");
    let project = project("found", &off);
    let args = ["validate", "c.yaml"];
    assert_eq!(project.run_in("env/prod", &args).code, Some(0));
    assert_eq!(
        project.run_in("env/prod", &["validate", "--no-config", "c.yaml"]).code,
        Some(1)
    );
    project.write("env/xdsctl.toml", "");
    assert_eq!(
        project.run_in("env/prod", &args).code,
        Some(1),
        "the nearest one counts"
    );
    let named = project.run_in("env/prod", &["validate", "--config=../../xdsctl.toml", "c.yaml"]);
    assert_eq!(named.code, Some(0));
    project.write("inner/.git", "gitdir: elsewhere");
    project.write("inner/c.yaml", &maglev("c"));
    assert_eq!(project.run_in("inner", &args).code, Some(1), "another repository");
}

#[test]
fn the_last_rule_that_matches_counts_and_flags_come_after_the_file() {
    let severity = |config: &str, flags: &[&str]| {
        let project = project("rules", config);
        let args: Vec<&str> = flags.iter().copied().chain(["env/prod/c.yaml"]).collect();
        let report = project.validate(&args).json();
        report["resources"][0]["findings"][0]["severity"]
            .as_str()
            .map(str::to_owned)
    };
    let last = format!("[rules]\ncds = 'off'\n{NACK} = 'note'\n");
    assert_eq!(severity(&last, &[]).as_deref(), Some("note"));
    // Rules apply in the order of the file, not of the alphabet.
    let first = format!("[rules]\n{NACK} = 'note'\ncds = 'off'\n");
    assert_eq!(severity(&first, &[]), None);
    assert_eq!(severity(&first, &["-W", "nack"]).as_deref(), Some("warning"));
}

#[test]
fn settings_are_those_of_the_flags_of_their_names() {
    let project = project(
        "settings",
        "fail-on = 'warning'\nformat = 'json'\ncomplete = true\nmin-severity = 'note'\n",
    );
    project.write("c.yaml", &cluster("c"));
    let run = project.run(&["validate", "c.yaml"]);
    assert_eq!(
        (run.named_findings(), run.code),
        (vec!["reference-to-nothing c".to_owned()], Some(1))
    );
    let run = project.run(&["validate", "--format=human", "-W", "all", "--fail-on=error", "c.yaml"]);
    assert_eq!(run.code, Some(0));
    assert!(run.out.contains("\n0 errors, 1 warning, 0 notes\n"), "{}", run.out);
}

#[test]
fn the_bootstrap_stands_beside_the_file() {
    let project = project("bootstrap", "bootstrap = 'agent/bootstrap.json'\n");
    project.write("agent/bootstrap.json", "{\"xds_servers\": []}");
    let run = project.run_in("env", &["validate", "--format=json", "prod/c.yaml"]);
    assert!(run.out.contains("agent/bootstrap.json"), "{}", run.out);
    let tree = project.run_in("env", &["tree", "prod/c.yaml"]);
    assert_eq!(tree.code, Some(2));
    assert!(tree.err.contains("cannot start with the bootstrap"), "{}", tree.err);
}

#[test]
fn faults_of_the_file_have_their_place() {
    for (config, place, words) in [
        ("fail-on = 'loud'\n", "1:11", "no client `loud`"),
        ("failon = 'error'\n", "1:1", "unknown field `failon`"),
        ("\nfail-on =\n", "2:10", ""),
        (
            "[rules]\n# one\nzzz = 'off'\n",
            "3:1",
            "no rule, family of rules or effect `zzz`",
        ),
        (
            "[rules]\ncds-lb-policy-unsuported = 'off'\n",
            "2:1",
            "did you mean `cds-lb-policy-unsupported`?",
        ),
        ("[rules]\ncds = 'loud'\n", "2:7", "unknown variant `loud`"),
        ("format = 'jsn'\n", "1:10", "unknown variant `jsn`"),
        ("[[ignore]]\nrule = 'nack'\n", "1:1", "missing field `reason`"),
        ("[[ignore]]\nrule = 'nack'\nreason = ' '\n", "3:10", "without a reason"),
        (
            "[[ignore]]\nrule = 'nack'\nreason = 'x'\nfile = '['\n",
            "4:8",
            "`[` is no pattern",
        ),
        (
            "[[ignore]]\nrule = 'nack'\nreason = 'x'\nuntil = 2027-01-31T00:00:00Z\n",
            "4:9",
            "is not a date",
        ),
    ] {
        let run = project("faults", config).run(&["validate", "env"]);
        assert_eq!(run.code, Some(2), "{config}");
        assert!(
            run.err.starts_with(&format!("xdsctl: xdsctl.toml:{place}: ")),
            "{config}: {}",
            run.err
        );
        assert!(run.err.contains(words), "{config}: {}", run.err);
    }
    let run = project("faults", "a = 1\nfail-on = 'loud'\n").run(&["validate", "env"]);
    assert!(run.err.contains("\n  | a = 1\n  | ^"), "{}", run.err);
    assert_eq!(
        project("faults", "")
            .run(&["validate", "--config=none.toml", "env"])
            .code,
        Some(2)
    );
}

#[test]
fn init_writes_a_file_that_says_nothing_yet() {
    let project = Project::new("init", &[]);
    let run = project.run(&["init"]);
    assert_eq!(
        (run.code, run.out.as_str(), run.err.as_str()),
        (Some(0), "", "wrote xdsctl.toml\n")
    );
    let text = project.read("xdsctl.toml");
    let again = project.run(&["init"]);
    assert_eq!(
        (again.code, again.err.as_str()),
        (Some(2), "xdsctl: there is a `xdsctl.toml` already\n")
    );
    let show = project.run(&["config", "show"]).out;
    assert!(show.lines().all(|line| line.ends_with("default")), "{show}");
    // The values of a setting are those that the program accepts.
    let command = xdsctl_cli::command();
    let validate = command.find_subcommand("validate").unwrap();
    for flag in ["world", "format", "min-severity"] {
        let arg = validate
            .get_arguments()
            .find(|arg| arg.get_long() == Some(flag))
            .unwrap();
        for value in arg.get_possible_values() {
            let quoted = format!("{:?}", value.get_name());
            assert!(text.contains(&quoted), "{flag} {quoted}");
        }
    }
    // Every line with a setting must be understood.
    let settings = text.lines().map(|line| match line.strip_prefix("# ") {
        Some(line) if line.contains(" = ") || line.starts_with('[') => line,
        _ => "",
    });
    project.write("xdsctl.toml", &settings.collect::<Vec<_>>().join("\n"));
    project.write("policies/none.toml", "");
    let show = project.run(&["config", "show"]);
    assert_eq!(show.code, Some(0), "{}", show.err);
    assert!(!show.out.contains("default"), "{}", show.out);
}

#[test]
fn config_show_says_where_each_value_comes_from() {
    let project = project(
        "show",
        "worlds = 'dir'\nclients = ['cpp', 'go']\n[rules]\ncds = 'off'\n[[ignore]]\nrule = 'nack'\nresource = 'c*'\nreason = 'why'\n",
    );
    let show = project.run_in("env", &["config", "show"]);
    let words: Vec<String> = show
        .out
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    for line in [
        "bootstrap none default",
        "worlds dir ../xdsctl.toml:1",
        "clients cpp, go ../xdsctl.toml:2",
        "fail-on error default",
        "rules.\"cds\" off ../xdsctl.toml:4",
        "ignore nack, resource c*: why ../xdsctl.toml:5",
    ] {
        assert!(words.iter().any(|found| found == line), "{line}\n{}", show.out);
    }
    let json = project.run(&["config", "show", "--format=json"]).json();
    let worlds = &json["settings"][1];
    assert_eq!(worlds["value"], "dir");
    assert_eq!(
        (&worlds["from"]["file"], &worlds["from"]["line"]),
        (&"xdsctl.toml".into(), &1.into())
    );
    assert_eq!(json["settings"][0]["from"], "default");
}

#[test]
fn the_project_names_the_clients_and_the_report_says_where() {
    let project = project("fleet", "clients = ['cpp', 'go@1.70']\nfail-on = 'error,cpp'\n");
    let run = project.run(&["validate", "--format=human", "."]);
    let asked = "asked: cpp@1.85.1, go@1.70.0 (from xdsctl.toml:1); only warns: go\n";
    assert!(run.out.ends_with(asked), "{}{}", run.out, run.err);
    let show = project.run(&["config", "show"]);
    assert!(show.out.contains("error,cpp"), "{}", show.out);
}

#[test]
fn a_client_that_is_none_is_marked_in_the_file() {
    for (settings, place, words) in [
        (
            "clients = ['cpp', 'jav@1.70']\n",
            "xdsctl.toml:1:19: ",
            "did you mean `java`?",
        ),
        (
            "clients = ['go@latest']\n",
            "xdsctl.toml:1:12: ",
            "`latest` is no version of `go`",
        ),
        ("clients = []\n", "xdsctl.toml:1:11: ", "no client"),
        (
            "clients = ['cpp']\nfail-on = 'nod'\n",
            "xdsctl.toml:2:11: ",
            "did you mean `node`?",
        ),
    ] {
        let run = project("fleet-bad", settings).run(&["validate", "."]);
        assert_eq!(run.code, Some(2));
        assert!(
            run.err.contains(place) && run.err.contains(words) && run.err.contains('^'),
            "{}",
            run.err
        );
    }
}
