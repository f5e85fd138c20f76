//! Tests of directories as people keep them, and of the clients that they imply:
//! `fixtures/layouts.txt`.

use super::Project;

const LAYOUTS: &str = include_str!("../../fixtures/layouts.txt");

/// A layout of the table.
#[derive(Default)]
struct Layout<'t> {
    name: &'t str,
    files: Vec<(&'t str, &'t str)>,
    args: Vec<&'t str>,
    worlds: Vec<&'t str>,
    findings: Vec<&'t str>,
}

fn layouts() -> Vec<Layout<'static>> {
    let mut layouts: Vec<Layout<'_>> = Vec::new();
    for line in LAYOUTS
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
    {
        let Some(of_layout) = line.strip_prefix("  ") else {
            layouts.push(Layout {
                name: line,
                ..Layout::default()
            });
            continue;
        };
        let layout = layouts.last_mut().unwrap();
        match of_layout.split_once(' ').unwrap() {
            ("$", args) => layout.args = args.split(' ').collect(),
            ("=", world) => layout.worlds.push(world),
            ("!", finding) => layout.findings.push(finding),
            (file, words) => layout.files.push((file, words.trim())),
        }
    }
    layouts
}

/// Makes the files of a layout.
fn files_of(name: &str) -> Project {
    let layouts = layouts();
    layouts.iter().find(|layout| layout.name == name).unwrap().project()
}

fn type_url(letter: &str) -> &'static str {
    match letter {
        "L" => "type.googleapis.com/envoy.config.listener.v3.Listener",
        "R" => "type.googleapis.com/envoy.config.route.v3.RouteConfiguration",
        "C" => "type.googleapis.com/envoy.config.cluster.v3.Cluster",
        _ => "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",
    }
}

/// Makes a resource from a short form, as JSON.
fn resource(words: &str) -> String {
    let (letter, rest) = words.split_once(' ').unwrap();
    let (name, to) = rest.split_once('>').unwrap_or((rest, ""));
    let (name, version) = (name.trim_end_matches('\''), name.matches('\'').count());
    let url = type_url(letter);
    let body = match letter {
        "L" => {
            let router = r#"{"name":"router","typed_config":{"@type":"type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}"#;
            let to = to.trim_end_matches('\'');
            format!(
                r#""name":"{name}","api_listener":{{"api_listener":{{"@type":"type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager","rds":{{"route_config_name":"{to}","config_source":{{"ads":{{}}}}}},"http_filters":[{router}]}}}}"#
            )
        }
        "R" => {
            let route = |to: &str| format!(r#"{{"match":{{"prefix":"/{to}"}},"route":{{"cluster":"{to}"}}}}"#);
            let routes: Vec<String> = to.split(',').map(route).collect();
            format!(
                r#""name":"{name}","virtual_hosts":[{{"name":"v","domains":["*"],"routes":[{}]}}]"#,
                routes.join(",")
            )
        }
        "C" => format!(
            r#""name":"{name}","type":"EDS","eds_cluster_config":{{"eds_config":{{"ads":{{}}}}}},"circuit_breakers":{{"thresholds":[{{"max_requests":{}}}]}}"#,
            100 + version
        ),
        _ => format!(
            r#""cluster_name":"{name}","endpoints":[{{"locality":{{"zone":"z"}},"load_balancing_weight":1,"lb_endpoints":[{{"endpoint":{{"address":{{"socket_address":{{"address":"10.0.0.1","port_value":{}}}}}}}}}]}}]"#,
            80 + version
        ),
    };
    format!(r#"{{"@type":"{url}",{body}}}"#)
}

/// Makes the lines of a file whose parts say in which list they belong.
fn lists(parts: &[String]) -> Vec<String> {
    let mut lines: Vec<serde_json::Value> = Vec::new();
    for part in parts {
        let (place, inside) = if let Some(rest) = part.strip_prefix("line ") {
            let (number, inside) = rest.split_once(' ').unwrap();
            lines.resize(lines.len().max(number.parse().unwrap()), serde_json::json!({}));
            ("resources", inside)
        } else if let Some((place, inside)) = part.strip_prefix("at ").and_then(|rest| rest.split_once(' ')) {
            lines.resize(1, serde_json::json!({}));
            (place, inside)
        } else {
            continue;
        };
        let resource: serde_json::Value = serde_json::from_str(&resource(inside)).unwrap();
        let mut list = lines.last_mut().unwrap();
        for key in place.split('/') {
            list = &mut list[key];
        }
        match list.as_array_mut() {
            Some(list) => list.push(resource),
            None => *list = serde_json::json!([resource]),
        }
    }
    lines.iter().map(serde_json::Value::to_string).collect()
}

/// Makes a file from a short form.
fn file(words: &str) -> String {
    // The clusters of a route may have commas, too.
    let mut parts: Vec<String> = Vec::new();
    for word in words.split(',') {
        match parts.last_mut().filter(|_| !word.starts_with(' ')) {
            Some(part) => *part = format!("{part},{word}"),
            None => parts.push(word.trim().to_owned()),
        }
    }
    let part = |(number, part): (usize, &String)| {
        if let Some(inside) = part.strip_prefix("dump ") {
            let inside = resource(inside);
            return format!(
                r#"{{"configs":[{{"@type":"type.googleapis.com/envoy.admin.v3.ClustersConfigDump","dynamic_active_clusters":[{{"cluster":{inside}}}]}}]}}"#
            );
        }
        if let Some(inside) = part.strip_prefix("response ") {
            let (url, inside) = (type_url(inside.split(' ').next().unwrap()), resource(inside));
            return format!(
                r#"{{"version_info":"{number}","nonce":"{number}","type_url":"{url}","resources":[{inside}]}}"#
            );
        }
        resource(part)
    };
    let words_of_json = ["dump ", "response ", "line ", "at "];
    let is_yaml = !words_of_json.iter().any(|word| words.starts_with(word));
    let lists = lists(&parts);
    if !lists.is_empty() {
        return lists.join("\n");
    }
    let parts: Vec<String> = parts.iter().enumerate().map(part).collect();
    parts.join(if is_yaml { "\n---\n" } else { "\n" })
}

impl Layout<'_> {
    fn project(&self) -> Project {
        project(&self.files)
    }

    /// Compares what standard error says about worlds, as `name: resources`; the name and count of
    /// a single world come from the report.
    fn wrong(&self) -> Option<String> {
        let project = self.project();
        let run = project.validate(&self.args);
        let report = run.json();
        let worlds: Vec<String> = match run
            .err
            .lines()
            .find(|line| line.contains(" worlds, each is what one client sees: "))
        {
            Some(line) => {
                let (_, list) = line.split_once("sees: ").unwrap();
                let of_world = list.split("), ").map(|world| world.trim_end_matches(')'));
                let count = |count: &str| count.split(' ').next().unwrap().to_owned();
                of_world
                    .map(|world| world.rsplit_once(" (").unwrap())
                    .map(|(name, resources)| format!("{name}: {}", count(resources)))
                    .collect()
            }
            None => {
                let resources = report["resources"].as_array().unwrap();
                vec![format!(
                    "{}: {}",
                    resources[0]["world"].as_str().unwrap(),
                    resources.len()
                )]
            }
        };
        // Unused resources are notes, and do not matter here.
        let mut findings = run.named_findings();
        let is_asked = |finding: &String| {
            ["-missing ", "reference-", "duplicate", "dump-un"]
                .iter()
                .any(|part| finding.contains(part))
        };
        findings.retain(is_asked);
        let is_right =
            worlds == self.worlds && findings == self.findings && report["summary"]["worlds"] == worlds.len();
        (!is_right).then(|| format!("{}: {worlds:?} {findings:?}\n{}", self.name, run.err))
    }
}

#[test]
fn a_person_would_say_the_same_of_every_layout() {
    let layouts = layouts();
    assert!(layouts.len() >= 45);
    let wrong: Vec<String> = layouts.iter().filter_map(Layout::wrong).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A client in each of two directories with endpoints of their own, below a Listener for both.
const CLIENTS: &[(&str, &str)] = &[
    ("xds/lds.yaml", "L x>r"),
    ("xds/prod/rds.yaml", "R r>a"),
    ("xds/prod/cds.yaml", "C a"),
    ("xds/prod/eds.yaml", "E a"),
    ("xds/staging/rds.yaml", "R r>a"),
    ("xds/staging/cds.yaml", "C a"),
    ("xds/staging/eds.yaml", "E a'"),
];

fn project(files: &[(&str, &str)]) -> Project {
    let files: Vec<(&str, String)> = files.iter().map(|(name, words)| (*name, file(words))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    Project::new("clients", &files)
}

#[test]
fn a_channel_is_of_the_world_that_is_chosen() {
    let project = project(CLIENTS);
    let run = project.run(&["pick", "--method=/a/M", "xds"]);
    assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{}", run.err);
    let last = run.err.lines().last().unwrap();
    assert_eq!(
        last,
        "xdsctl: a Listener with an api_listener is in 2 worlds, choose one with --in: `xds/prod`, `xds/staging`"
    );
    for (world, port) in [("xds/prod", 80), ("xds/staging", 81)] {
        let run = project.run(&["pick", "--method=/a/M", "--in", world, "xds"]);
        assert!(
            run.out.starts_with(&format!("OK from 10.0.0.1:{port}")),
            "{}{}",
            run.out,
            run.err
        );
    }
    let run = project.run(&["pick", "--in=prod", "xds"]);
    assert!(run.err.contains("--in: no world `prod`, "), "{}", run.err);
    let run = project.run(&["tree", "--cluster=b", "xds"]);
    let words = "no Cluster `b`, there is `a`, `a`; looked for in 2 worlds: `xds/prod`, `xds/staging`";
    assert!(run.err.contains(words), "{}", run.err);
    assert!(!run.err.contains("--world all"), "{}", run.err);
    // Only one of the two worlds has the cluster.
    project.write("xds/prod/more.yaml", &file("C b, E b"));
    let run = project.run(&["pick", "--cluster=b", "xds"]);
    assert!(run.out.starts_with("OK from 10.0.0.1:80"), "{}{}", run.out, run.err);
}

#[test]
fn a_suite_is_of_one_client() {
    let project = project(CLIENTS);
    let words = "xds/prod/eds.yaml and xds/staging/eds.yaml both have ClusterLoadAssignment `a`, so they are two clients', and a suite plays \
                 one: name the files of one";
    let run = project.run(&["test", "--init", "xds"]);
    assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{}", run.err);
    assert_eq!(run.err, format!("xdsctl: {words}\n"));
    let suite = "world: xds\nsteps:\n- pick: {method: /a/M}\n  expect: {status: OK}\n";
    project.write("suite.yaml", suite);
    let run = project.run(&["test", "suite.yaml"]);
    assert_eq!(run.code, Some(2), "{}{}", run.out, run.err);
    assert!(run.out.contains(words), "{}", run.out);
    // The suite is for one of them, with the resources that both have. One resource in the suite
    // replaces one of a file.
    let args = ["test", "--init", "xds/lds.yaml", "xds/prod"];
    let run = project.run(&args);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{}", run.out);
    let world = format!("world: [xds/lds.yaml, xds/prod, {}]\n", resource("E a'"));
    project.write("suite.yaml", &suite.replace("world: xds\n", &world));
    let run = project.run(&["test", "suite.yaml"]);
    assert_eq!(run.code, Some(0), "{world}{}{}", run.out, run.err);
    // The same endpoints in two directories do not clash.
    project.write("xds/other/eds.yaml", &file("E a"));
    let run = project.run(&["test", "--init", "xds/lds.yaml", "xds/prod", "xds/other"]);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{}", run.out);
}

#[test]
fn a_channel_is_of_the_client_of_the_project() {
    let project = project(&[("a.yaml", "L x>r, R r>a, C a, E a")]);
    let said = |setting: &str, args: &[&str]| {
        project.write("xdsctl.toml", &format!("clients = {setting}\n"));
        let run = project.run(&[args, &["a.yaml"]].concat());
        assert_eq!(run.code, Some(0), "{args:?}{}{}", run.out, run.err);
        run.err
    };
    let go = "note: as grpc-go 1.85.0, but for the words of some messages, which are C-core's\n";
    let unknown =
        "it is not known where RPCs of node@1.10.1 go: RPCs were sent with 1.13.0, 1.14.1; the nearest is node@1.13.0";
    let not = "note: as gRPC C-core 1.85.1, and not as xdsctl.toml:1 says: ";
    for command in ["route", "pick", "retry"] {
        let args = [command, "--method=/a/M"];
        assert_eq!(
            said("['go']", &args),
            format!("note: as go@1.85.0, which xdsctl.toml:1 asks\n{go}")
        );
        assert_eq!(said("['node@1.10']", &args), format!("{not}{unknown}\n"));
        assert_eq!(
            said("['cpp', 'go']", &args),
            format!("{not}it asks 2 clients, a channel has one: choose it with --client\n")
        );
        // The argument overrides the setting.
        assert_eq!(said("['java', 'go']", &[&args[..], &["--client=cpp"]].concat()), "");
    }
    let policies = "the LB policies that gRPC C-core 1.62.3 builds are not known: `route` says which cluster an RPC goes to, and `pick` which endpoint";
    assert_eq!(said("['cpp@1.62']", &["tree"]), format!("{not}{policies}\n"));
    assert_eq!(
        said("['go']", &["tree"]),
        format!("note: as go@1.85.0, which xdsctl.toml:1 asks\n{go}")
    );
}

#[test]
fn standard_error_says_what_was_taken_for_what() {
    let run = project(CLIENTS).validate(&["xds"]);
    assert_eq!(
        run.err,
        "note: 2 worlds, each is what one client sees: xds/prod (4 resources), xds/staging (4 resources)\n\
         note: xds/prod/rds.yaml and xds/staging/rds.yaml both have RouteConfiguration `r`, so they are two clients'; \
         xds/lds.yaml belongs to more than one world\n"
    );
    let run = project(&[
        ("prod/r.yaml", "R r>a,b"),
        ("prod/c.yaml", "C a, C b"),
        ("dev/r.yaml", "R r>a,b"),
        ("dev/c.yaml", "C a'"),
    ]);
    let run = run.validate(&["."]);
    assert!(
        run.err
            .ends_with("note: dev refers to Cluster `b`, which only prod has\n"),
        "{}",
        run.err
    );
    assert_eq!(files_of("a file for each type").validate(&["xds"]).err, "");
    assert_eq!(project(CLIENTS).run(&["validate", "-q", "xds"]).err, "");
    let run = files_of("a misspelt cluster").validate(&["xds/rds.yaml", "xds/cds.yaml"]);
    assert_eq!(
        run.err,
        "note: Cluster `bb` is in none of the named files (and 2 more references like it); files beside them were not named and \
         may have it\n"
    );
}

#[test]
fn what_one_world_shows_of_a_shared_resource_names_that_world() {
    let project = project(&[
        ("common/rds.yaml", "R r>a,b"),
        ("staging/cds.yaml", "C a"),
        ("prod/cds.yaml", "C a', C b"),
    ]);
    let run = project.validate(&["."]);
    assert_eq!(run.named_findings(), ["rds-cluster-missing r"]);
    assert!(
        run.out.contains(
            "Cluster `b` is not there: the client waits 15 s for it, then the RPCs on this route fail, in staging"
        ),
        "{}",
        run.out
    );
    // A finding of all worlds is reported once, and names no world.
    project.write("prod/cds.yaml", &file("C a'"));
    let run = project.validate(&["."]);
    assert_eq!(run.named_findings(), ["rds-cluster-missing r"]);
    assert!(run.out.contains("then the RPCs on this route fail\""), "{}", run.out);
}

#[test]
fn standard_input_is_a_file_among_others() {
    let project = project(&[("rds.yaml", "R r>a,b")]);
    let mut command = crate::run::program(&["validate", "--format=json", "-", "rds.yaml"]);
    command.current_dir(&project.0);
    let run = crate::run::spawned(command, file("C a"));
    assert_eq!(run.named_findings(), ["rds-cluster-missing r"]);
    assert_eq!(run.json()["summary"]["worlds"], 1);
}

#[cfg(unix)]
#[test]
fn links_are_what_they_lead_to() {
    let project = project(&[
        ("base/lds.yaml", "L x>r"),
        ("dev/rds.yaml", "R r>a"),
        ("dev/cds.yaml", "C a"),
        ("prod/rds.yaml", "R r>a,b"),
        ("prod/cds.yaml", "C a'"),
    ]);
    for environment in ["dev", "prod"] {
        std::os::unix::fs::symlink("../base/lds.yaml", project.0.join(environment).join("lds.yaml")).unwrap();
    }
    let run = project.validate(&["dev", "prod"]);
    assert_eq!(run.named_findings(), ["rds-cluster-missing r"]);
    assert_eq!(run.json()["summary"]["worlds"], 2);
}

#[test]
fn what_is_no_resource_joins_nothing() {
    let project = files_of("a file for each type");
    project.write(
        "xds/bootstrap.json",
        r#"{"xds_servers":[{"server_uri":"x:1","channel_creds":[{"type":"insecure"}]}],"node":{"id":"n"}}"#,
    );
    project.write("xds/values.yaml", "replicas: 3\n");
    project.write("xds/suite.yaml", "tests:\n- name: t\n  world: .\n  steps: []\n");
    project.write("xdsctl.toml", "");
    let run = project.validate(&["xds"]);
    assert_eq!(run.json()["summary"]["worlds"], 1, "{}", run.err);
}

#[test]
fn a_revision_is_a_directory_too() {
    let project = files_of("staging and prod");
    let git = |args: &[&str]| {
        let mut command = std::process::Command::new("git");
        command
            .current_dir(&project.0)
            .args(["-c", "user.name=n", "-c", "user.email=e"])
            .args(args);
        assert!(command.output().unwrap().status.success(), "git {args:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "xds"]);
    git(&["commit", "-q", "-m", "m"]);
    let run = project.validate(&["git:HEAD:xds"]);
    assert_eq!(run.named_findings(), ["rds-cluster-missing r"]);
    assert!(
        run.err
            .contains("git:HEAD:xds/prod (3 resources), git:HEAD:xds/staging (3 resources)"),
        "{}",
        run.err
    );
}

#[test]
fn a_directory_of_many_copies_is_no_more_work_than_they_are() {
    let project = Project::new("copies", &[]);
    for number in 0..100 {
        project.write(
            &format!("xds/{number:03}.yaml"),
            &file(&format!("C a{}", "'".repeat(number))),
        );
    }
    project.write("xds/rds.yaml", &file("R r>a"));
    let run = project.validate(&["xds"]);
    // Each file is a world of its own, and there is one finding about the name.
    assert_eq!(run.json()["summary"]["worlds"], 101);
    assert_eq!(run.named_findings(), ["dump-duplicate-resource -"]);
}
