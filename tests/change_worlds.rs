//! Tests of `diff` on inputs with several worlds: which world is which, what is said about one that
//! came or went, and directories of a repository.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::run::Run;

const NOTHING: &str = "nothing changes for a client\nasked: gRPC C-core 1.85.1\n";

fn directory(test: &str) -> PathBuf {
    crate::run::directory("change_worlds", test)
}

fn listener(name: &str, routes: &str) -> Value {
    json!({
        "@type": "type.googleapis.com/envoy.config.listener.v3.Listener",
        "name": name,
        "api_listener": {"api_listener": {
            "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
            "rds": {"route_config_name": routes, "config_source": {"ads": {}}},
            "http_filters": [{"name": "router", "typed_config":
                {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}],
        }},
    })
}

fn routes(name: &str, cluster: &str) -> Value {
    json!({
        "@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration",
        "name": name,
        "virtual_hosts": [{"name": "all", "domains": ["*"], "routes": [
            {"match": {"prefix": ""}, "route": {"cluster": cluster}},
        ]}],
    })
}

fn cluster(name: &str, service: &str) -> Value {
    json!({
        "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
        "name": name,
        "type": "EDS",
        "eds_cluster_config": {"eds_config": {"ads": {}}, "service_name": service},
    })
}

/// Writes a world of these clusters into a directory, one resource in each file. RPCs go to the
/// first cluster.
fn world(directory: &Path, service: &str, clusters: &[&str]) {
    world_of("shop", directory, service, clusters);
}

/// Writes a world like [`world`] for the channel `target`.
fn world_of(target: &str, directory: &Path, service: &str, clusters: &[&str]) {
    std::fs::create_dir_all(directory).unwrap();
    let write = |name: &str, resource: Value| {
        std::fs::write(directory.join(name), resource.to_string()).unwrap();
    };
    write("listener.json", listener(target, target));
    write("routes.json", routes(target, clusters[0]));
    for name in clusters {
        write(&format!("cluster-{name}.json"), cluster(name, service));
    }
}

/// Runs `xdsctl ARGS` in `directory`.
fn run_in(directory: &Path, args: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xdsctl"));
    command.args(args).current_dir(directory).env_remove("GIT_DIR");
    crate::run::spawned(command, "")
}

/// Returns the reported changes, without the last line, which names the client.
fn changes(run: &Run) -> &str {
    let end = "\nasked: gRPC C-core 1.85.1\n";
    run.out.strip_suffix(end).unwrap_or_else(|| panic!("{}", run.out))
}

#[test]
fn identical_trees_differ_in_nothing_whatever_they_are_called() {
    let root = directory("identical");
    for tree in ["old/xds", "new/xds"] {
        world(&root.join(tree).join("staging"), "staging", &["a", "b"]);
        world(&root.join(tree).join("prod"), "prod", &["a", "b"]);
    }
    for (before, after) in [
        ("old/xds", "new/xds"),
        ("old/xds/", "./new/xds"),
        ("./old//xds", "new/xds/"),
        ("old", "new"),
        ("old/xds", "new"),
    ] {
        let run = run_in(&root, &["diff", "--exit-code", before, after]);
        assert_eq!((run.code, run.out.as_str()), (Some(0), NOTHING), "{before} {after}");
    }
}

#[test]
fn a_new_first_file_is_a_new_resource_and_no_new_world() {
    let root = directory("first-file");
    for tree in ["old", "new"] {
        world(&root.join(tree).join("staging"), "staging", &["b"]);
        world(&root.join(tree).join("prod"), "prod", &["b"]);
    }
    let text = cluster("a", "prod").to_string();
    std::fs::write(root.join("new/prod/a.json"), text).unwrap();
    let run = run_in(&root, &["diff", "old", "new"]);
    assert_eq!(changes(&run), "prod\n+ Cluster a\n");
}

#[test]
fn a_world_under_another_path_is_known_by_what_it_holds() {
    let root = directory("renamed");
    world(&root.join("old/a"), "s", &["a1", "a2"]);
    world(&root.join("old/b"), "s", &["b1", "b2"]);
    world(&root.join("new/b"), "s", &["a1", "a2"]);
    world(&root.join("new/z"), "s", &["b1", "b2"]);
    assert_eq!(run_in(&root, &["diff", "old", "new"]).out, NOTHING);
    // A difference is reported under both names.
    std::fs::write(root.join("new/z/cluster-b2.json"), cluster("b2", "t").to_string()).unwrap();
    let run = run_in(&root, &["diff", "old", "new"]);
    assert_eq!(
        changes(&run),
        "b → z\n~ Cluster b2\n    discovery.service_name: s → t\n"
    );
}

#[test]
fn a_promotion_does_not_take_one_environment_for_the_next() {
    let root = directory("promotion");
    world(&root.join("old/staging"), "staging", &["c1", "c2"]);
    world(&root.join("old/prod"), "prod", &["c1"]);
    world(&root.join("new/staging"), "staging", &["c1", "c2", "c3"]);
    world(&root.join("new/prod"), "prod", &["c1", "c2"]);
    let run = run_in(&root, &["diff", "old", "new"]);
    assert_eq!(changes(&run), "prod\n+ Cluster c2\nstaging\n+ Cluster c3\n");
}

#[test]
fn a_world_that_came_or_went_is_said_once() {
    let root = directory("came");
    for tree in ["old", "new"] {
        world(&root.join(tree).join("shop"), "shop", &["a", "b"]);
    }
    // Each has another of the shop's clusters with other content, so that it is a world of its own.
    world_of("gone", &root.join("old/gone"), "gone", &["x", "a"]);
    let bad = json!({"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "p", "type": "STATIC"});
    world_of("pay", &root.join("new/pay"), "pay", &["b", "p"]);
    std::fs::write(root.join("new/pay/cluster-p.json"), bad.to_string()).unwrap();
    let run = run_in(&root, &["diff", "old", "new"]);
    assert_eq!(
        changes(&run),
        "- gone: the world is gone, with 4 resources\n+ pay: the world is new, with 4 resources, 1 of them rejected\n"
    );
    let json = run_in(&root, &["diff", "--format", "json", "old", "new"]).json();
    let worlds = json["worlds"].as_array().unwrap().iter();
    let found: Vec<(&str, &str)> = worlds
        .map(|world| (world["world"].as_str().unwrap(), world["presence"].as_str().unwrap()))
        .collect();
    assert_eq!(found, [("gone", "removed"), ("pay", "added"), ("shop", "both")]);
}

/// Runs git in `directory`.
fn git(directory: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.arg("-C").arg(directory);
    for setting in ["user.name=x", "user.email=x@example.com", "commit.gpgsign=false"] {
        command.args(["-c", setting]);
    }
    let output = command.args(args).env_remove("GIT_DIR").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_tree_of_the_repository_is_what_stands_beside_it() {
    let root = directory("repository");
    for environment in ["staging", "prod"] {
        world(&root.join("team/xds").join(environment), environment, &["a", "b"]);
    }
    std::fs::create_dir(root.join("team/docs")).unwrap();
    // Hidden files are not read, neither from the repository nor from the directory.
    world(&root.join("team/xds/.old"), "old", &["o"]);
    git(&root, &["init", "-q"]);
    git(&root, &["add", "."]);
    git(&root, &["commit", "-q", "-m", "x"]);
    let cases = [
        ("", "git:HEAD:team/xds", "team/xds"),
        ("", "git:HEAD:.", "."),
        ("", "git:HEAD:", "."),
        ("", "git:HEAD", "."),
        ("team", "git:HEAD:team/xds", "xds"),
        ("team", "git:HEAD:./xds", "xds"),
        ("team", "git:HEAD:./xds/", "./xds/"),
        ("team", "git:HEAD:.", "."),
        ("team", "git:HEAD:./", "."),
        ("team/docs", "git:HEAD:..", ".."),
        ("team/docs", "git:HEAD:../xds", "../xds"),
        ("team/xds", "git:HEAD:.", "."),
        ("team/xds", "git:HEAD:.", "git:HEAD:./"),
        ("team/xds", "git:HEAD:./prod/cluster-a.json", "prod/cluster-a.json"),
    ];
    for (at, before, after) in cases {
        let run = run_in(&root.join(at), &["diff", "--exit-code", before, after]);
        assert_eq!(
            (run.code, run.out.as_str()),
            (Some(0), NOTHING),
            "{at}: {before} {after}"
        );
        let is_talk = run.err.lines().all(|line| line.starts_with("note: "));
        assert!(is_talk, "{at}: {before} {after}: {}", run.err);
    }
    // A path counts from the root, as in git itself. The message says how to name a path from here.
    let run = run_in(&root.join("team"), &["diff", "git:HEAD:xds", "xds"]);
    assert_eq!(
        (run.code, run.err.as_str()),
        (
            Some(2),
            "xdsctl: cannot read `git:HEAD:xds`: no such path from the root of the repository, `git:HEAD:./xds` is one \
             from the current directory\n"
        )
    );
    std::fs::write(root.join("team/xds/prod/cluster-b.json"), cluster("b", "q").to_string()).unwrap();
    let run = run_in(&root.join("team/xds"), &["diff", "--exit-code", "git:HEAD:.", "."]);
    assert_eq!(run.code, Some(1));
    assert!(run.out.starts_with("prod\n~ Cluster b\n"), "{}", run.out);
}

#[test]
fn a_directory_that_a_revision_does_not_have_is_new() {
    let root = directory("first");
    let bad = json!({"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "bad", "type": "EDS"});
    world(&root.join("old"), "old", &["a"]);
    std::fs::create_dir(root.join("kept")).unwrap();
    std::fs::write(root.join("kept/README.md"), "soon\n").unwrap();
    git(&root, &["init", "-q"]);
    git(&root, &["add", "."]);
    git(&root, &["commit", "-q", "-m", "x"]);
    world(&root.join("team/xds"), "shop", &["a"]);
    world(&root.join("kept"), "kept", &["a"]);
    let failing = ["--fail-on", "rpcs,verdicts"];
    for (at, before, after) in [
        ("", "git:HEAD:team/xds", "team/xds"),
        ("team", "git:HEAD:team/xds", "xds"),
        ("team", "git:HEAD:./xds", "xds"),
        ("", "git:HEAD:kept", "kept"),
    ] {
        let run = run_in(&root.join(at), &[&["diff"], &failing[..], &[before, after]].concat());
        assert_eq!(run.code, Some(0), "{before}: {}", run.err);
        let note = format!("note: `{before}` has nothing: all of `{after}` is new, and no RPC went anywhere before\n");
        assert!(run.err.starts_with(&note), "{}", run.err);
        assert!(
            run.out.contains("+ Listener ") && !run.out.contains("For RPCs"),
            "{}",
            run.out
        );
        let run = run_in(&root.join(at), &["diff", "--exit-code", before, after]);
        assert_eq!(run.code, Some(1), "{}", run.err);
    }
    // A rejected resource stays rejected, and a path or revision that does not exist is not an
    // empty one.
    std::fs::write(root.join("team/xds/bad.json"), bad.to_string()).unwrap();
    let run = run_in(
        &root,
        &[&["diff"], &failing[..], &["git:HEAD:team/xds", "team/xds"]].concat(),
    );
    assert_eq!(run.code, Some(1), "{}", run.err);
    for before in ["git:HEAD:team/xsd", "git:nowhere:team/xds", "git:HEAD:xds"] {
        let run = run_in(&root, &["diff", before, "team/xds"]);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{before}: {}", run.err);
    }
    // The path may be missing in the first revision, but not in the second one.
    git(&root, &["add", "."]);
    git(&root, &["commit", "-q", "-m", "y"]);
    std::fs::remove_dir_all(root.join("team")).unwrap();
    let run = run_in(&root, &["diff", "git:HEAD~1:team/xds", "git:HEAD:team/xds"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    let run = run_in(&root, &["diff", "git:HEAD:team/xds", "git:HEAD~1:team/xds"]);
    assert_eq!(run.code, Some(2), "{}", run.err);
}

#[test]
fn what_was_deleted_and_is_still_referred_to_is_lost() {
    let root = directory("deleted");
    world(&root.join("xds"), "shop", &["a", "b"]);
    git(&root, &["init", "-q"]);
    git(&root, &["add", "."]);
    git(&root, &["commit", "-q", "-m", "x"]);
    // First one of two clusters goes, then the last: `validate` reports nothing missing of a type
    // that is not there at all.
    for (file, warned) in [("cluster-a.json", 1), ("cluster-b.json", 0)] {
        std::fs::remove_file(root.join("xds").join(file)).unwrap();
        let code = |args: &[&str]| run_in(&root, args).code;
        assert_eq!(
            code(&["validate", "--fail-on", "warning", "xds"]),
            Some(warned),
            "{file}"
        );
        assert_eq!(code(&["validate", "--complete", "xds"]), Some(1), "{file}");
        let run = run_in(&root, &["diff", "--fail-on", "rpcs", "git:HEAD:xds", "xds"]);
        assert_eq!(run.code, Some(1), "{file}: {}", run.err);
        assert!(
            run.out.contains("  cluster a\n    is lost: RPCs to it fail"),
            "{file}: {}",
            run.out
        );
    }
}

#[test]
fn who_says_in_which_world() {
    let root = directory("who");
    for environment in ["staging", "prod"] {
        world(&root.join("xds").join(environment), environment, &["a"]);
    }
    let run = run_in(&root, &["who", "a", "xds"]);
    let heads: Vec<&str> = run.out.lines().filter(|line| !line.starts_with(' ')).collect();
    assert_eq!(
        heads,
        ["Cluster a, in xds/prod", "Cluster a, in xds/staging"],
        "{}",
        run.err
    );
    let run = run_in(&root, &["who", "--in", "xds/prod", "--format", "json", "a", "xds"]);
    let of = |run: &Run| -> Vec<String> {
        let answer = run.json();
        let worlds = answer["resources"].as_array().unwrap().iter();
        worlds
            .map(|resource| resource["world"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(of(&run), ["xds/prod"]);
    // A single world needs no name.
    let run = run_in(&root, &["who", "--format", "json", "a", "xds/prod"]);
    assert_eq!(of(&run), [""]);
    let run = run_in(&root, &["who", "--in", "xds/prd", "a", "xds"]);
    let said = "xdsctl: --in: no world `xds/prd`, did you mean `xds/prod`?\n";
    assert_eq!((run.code, run.out.as_str()), (Some(2), ""));
    assert!(run.err.ends_with(said), "{}", run.err);
}
