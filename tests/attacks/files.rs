//! Attacks by files that a run must not overwrite, follow, wait for or quote.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::attack;
use crate::chance::Chance;
use crate::run::{Run, directory, in_process};
use crate::world;

const SECRET: &str = "swordfish";

fn write(directory: &Path, name: &str, text: impl AsRef<[u8]>) -> String {
    let file = directory.join(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

fn run(args: &[&str]) -> Run {
    in_process(args, b"", |_| {})
}

/// Makes a world that a fix changes.
fn fixable() -> String {
    let mut listener = world::document(0);
    let manager = &mut listener["resources"][0]["api_listener"]["api_listener"];
    let route = &mut manager["route_config"]["virtual_hosts"][0]["routes"][0];
    route["match"]["headers"] = json!([{ "name": "X-User", "present_match": true }]);
    world::yaml(&listener)
}

/// Returns commands with the options that write a file.
fn writers(input: &str, suite: &str, to: &str) -> Vec<Vec<String>> {
    let mut all = vec![format!("validate --write-baseline {to} {input}")];
    for format in [
        "human", "concise", "json", "jsonl", "sarif", "junit", "github", "gitlab", "markdown",
    ] {
        all.push(format!("validate --format {format}={to} {input}"));
        if !["concise", "jsonl"].contains(&format) {
            all.push(format!("test --format {format}={to} {suite}"));
        }
    }
    for format in ["human", "json", "github", "markdown"] {
        all.push(format!("diff --format {format}={to} {input} {input}"));
    }
    all.iter()
        .map(|line| line.split(' ').map(str::to_owned).collect())
        .collect()
}

fn strs(args: &[String]) -> Vec<&str> {
    args.iter().map(String::as_str).collect()
}

#[test]
fn no_output_takes_the_place_of_something_else() {
    let directory = directory("attacks", "files-overwrite");
    let input = write(
        &directory,
        "in/x.json",
        json!({ "resources": [world::cluster("a"), { "x": 1 }] }).to_string(),
    );
    let suite = write(
        &directory,
        "suite.yaml",
        "world: in/x.json\ncluster: a\nsteps: [{pick: {}}]\n",
    );
    let others = [
        ("main.rs", "fn main() {}\n".to_owned()),
        ("world.json", world::document(1).to_string()),
        ("world.yaml", world::yaml(&world::document(1))),
        (
            "other.sarif",
            r#"{"$schema":"https://json.schemastore.org/sarif-2.1.0.json","runs":[{"tool":{"driver":{"name":"x"}}}]}"#
                .to_owned(),
        ),
        (
            "other.xml",
            "<?xml version=\"1.0\"?>\n<testsuites name=\"pytest\"/>\n".to_owned(),
        ),
        ("notes.md", "# Notes\n".to_owned()),
        // This text has words of reports in other text.
        (
            "bullets.md",
            "- Cluster a of the shop\n- Listener b, too\nFor RPCs\nnothing changes for a client\n".to_owned(),
        ),
        (
            "build.log",
            "main.c:3:4: error: expected `;`\n2 errors, 1 warning, 0 notes\n".to_owned(),
        ),
        (
            "tests.log",
            "All test suites passed, 3 of 3\n3 passed, 1 failed\n".to_owned(),
        ),
        ("title", "my-project (v2)\na: the world is new\n".to_owned()),
        ("commands.log", "::error no title\n".to_owned()),
        (
            "quality.json",
            r#"[{"description":"x","check_name":"no-unused-vars","fingerprint":"1"}]"#.to_owned(),
        ),
        ("secret", "PASSWORD=x\n".to_owned()),
    ];
    for (name, text) in others {
        let file = write(&directory, name, &text);
        symlink(name, directory.join("link")).unwrap();
        let link = directory.join("link");
        for to in [&file, link.to_str().unwrap()] {
            for args in writers(&input, &suite, to) {
                let run = run(&strs(&args));
                assert_eq!(run.code, Some(2), "{args:?}\n{}\n{}", run.out, run.err);
                assert!(
                    run.err.contains("is not overwritten") || run.err.contains("is an input"),
                    "{args:?}\n{}",
                    run.err
                );
                assert_eq!(fs::read_to_string(&file).unwrap(), text, "{args:?}");
            }
        }
        fs::remove_file(link).unwrap();
    }
    for input_too in writers(&input, &suite, &input) {
        let text = fs::read_to_string(&input).unwrap();
        assert_eq!(run(&strs(&input_too)).code, Some(2), "{input_too:?}");
        assert_eq!(fs::read_to_string(&input).unwrap(), text, "{input_too:?}");
    }
    symlink("nowhere", directory.join("dangling")).unwrap();
    for args in writers(&input, &suite, directory.join("dangling").to_str().unwrap()) {
        assert_eq!(run(&strs(&args)).code, Some(2), "{args:?}");
        assert!(!directory.join("nowhere").exists(), "{args:?}");
    }
}

#[test]
fn a_baseline_is_no_report() {
    let directory = directory("attacks", "files-baseline");
    let input = write(&directory, "x.json", world::document(1).to_string());
    let baseline = write(
        &directory,
        "baseline.json",
        "{\"schema\": \"xdsctl.baseline/v1\", \"findings\": []}",
    );
    let text = fs::read_to_string(&baseline).unwrap();
    for args in [
        &["validate", &format!("--format=json={baseline}"), &input][..],
        &["diff", &format!("--format=json={baseline}"), &input, &input],
        &[
            "validate",
            &format!("--write-baseline={baseline}"),
            &format!("--format=sarif={baseline}"),
            &input,
        ],
    ] {
        let run = run(args);
        assert_eq!(run.code, Some(2), "{args:?}\n{}", run.err);
        assert_eq!(fs::read_to_string(&baseline).unwrap(), text, "{args:?}");
    }
    // If two outputs go to one new file, one of them would be lost.
    let new = directory.join("new.json");
    let new = new.to_str().unwrap();
    let run = run(&[
        "validate",
        "--write-baseline",
        new,
        &format!("--format=json={new}"),
        &input,
    ]);
    assert_eq!(run.code, Some(2), "{}", run.err);
    assert!(run.err.contains("is a report too"), "{}", run.err);
}

#[test]
fn an_output_takes_the_place_of_the_last_one() {
    let directory = directory("attacks", "files-again");
    let good = write(&directory, "good.json", world::document(0).to_string());
    let bad = write(&directory, "bad.json", json!({ "resources": [{ "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "b", "type": "EDS" }] }).to_string());
    let suite =
        |status| format!("world: good.json\ntarget: xds:///l\nsteps: [{{pick: {{}}, expect: {{status: {status}}}}}]\n");
    let passes = write(&directory, "passes.yaml", suite("OK"));
    let fails = write(&directory, "fails.yaml", suite("ABORTED"));
    for (input, suite) in [(&good, &passes), (&bad, &fails)] {
        for args in writers(input, suite, directory.join("out").to_str().unwrap()) {
            let codes = [run(&strs(&args)).code, run(&strs(&args)).code];
            assert!(
                codes[0] == codes[1] && codes[0] != Some(2),
                "{args:?}: {codes:?}: {}",
                run(&strs(&args)).err
            );
            fs::remove_file(directory.join("out")).unwrap();
        }
    }
}

#[test]
fn a_fix_stays_in_its_directory_and_keeps_owner_and_names() {
    let directory = directory("attacks", "files-fix");
    let text = fixable();
    let outside = write(&directory, "outside/x.yaml", &text);
    fs::create_dir(directory.join("in")).unwrap();
    symlink("../outside/x.yaml", directory.join("in/x.yaml")).unwrap();
    symlink("../outside", directory.join("in/d")).unwrap();
    let inside = directory.join("in");
    for args in [
        &[
            "validate",
            "--no-config",
            "--fix",
            inside.join("x.yaml").to_str().unwrap(),
        ][..],
        &["validate", "--no-config", "--fix", inside.to_str().unwrap()],
        &[
            "validate",
            "--no-config",
            "--fix",
            "--allow-read",
            directory.to_str().unwrap(),
            inside.to_str().unwrap(),
        ],
    ] {
        let run = run(args);
        assert_eq!(run.code, Some(2), "{args:?}\n{}\n{}", run.out, run.err);
        assert_eq!(fs::read_to_string(&outside).unwrap(), text, "{args:?}");
    }
    let hard = write(&directory, "hard/x.yaml", &text);
    fs::hard_link(&hard, directory.join("hard/y.txt")).unwrap();
    let refused = run(&["validate", "--no-config", "--fix", &hard]);
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    assert!(refused.err.contains("2 names"), "{}", refused.err);
    assert_eq!(fs::read_to_string(&hard).unwrap(), text);
    let own = write(&directory, "own/x.yaml", &text);
    fs::set_permissions(&own, fs::Permissions::from_mode(0o640)).unwrap();
    // Only a privileged user can change the owner of a file.
    let is_given = std::os::unix::fs::chown(&own, Some(1234), Some(1235)).is_ok();
    run(&["validate", "--no-config", "--fix", &own]);
    assert_ne!(fs::read_to_string(&own).unwrap(), text);
    let metadata = fs::metadata(&own).unwrap();
    assert_eq!(metadata.mode() & 0o777, 0o640);
    assert!(!is_given || (metadata.uid(), metadata.gid()) == (1234, 1235));
}

/// Makes a file that only its own directory may name, and a secret beside that directory.
fn house(name: &str) -> (PathBuf, String) {
    let directory = directory("attacks", name);
    let secret = write(
        &directory,
        "secret/x.yaml",
        format!("password: {SECRET}\n  broken: [{SECRET}\n"),
    );
    (directory, secret)
}

#[track_caller]
fn is_refused(args: &[&str], option: &str) {
    let run = run(args);
    let text = format!("{}{}", run.out, run.err);
    assert_eq!(run.code, Some(2), "{args:?}\n{text}");
    assert!(text.contains(option), "{args:?}\n{text}");
    assert!(!text.contains(SECRET), "{args:?}\n{text}");
}

#[test]
fn what_a_file_names_stays_below_its_directory() {
    let (directory, secret) = house("files-named");
    let inside = directory.join("in");
    let good = write(&directory, "in/good.json", world::document(0).to_string());
    let bootstrap = |path: &str| {
        json!({ "dynamic_resources": { "cds_config": { "path_config_source": { "path": path } } } }).to_string()
    };
    symlink("../secret", directory.join("in/linked")).unwrap();
    for path in [
        "../secret/x.yaml",
        &secret,
        "linked/x.yaml",
        "no/../../secret/x.yaml",
        "/proc/self/environ",
        "../secret/none.yaml",
    ] {
        let suite = write(
            &directory,
            "in/suite.yaml",
            format!("world: {path}\ntarget: xds:///l\nsteps: [{{pick: {{}}}}]\n"),
        );
        is_refused(&["test", &suite], "--allow-read");
        is_refused(&["simulate", &suite], "--allow-read");
        let suite = write(
            &directory,
            "in/suite.yaml",
            format!("world: good.json\nbootstrap: {path}\ntarget: xds:///l\nsteps: [{{pick: {{}}}}]\n"),
        );
        is_refused(&["test", "--format=json", &suite], "--allow-read");
        for key in ["bootstrap", "baseline"] {
            let settings = write(&directory, "in/xdsctl.toml", format!("{key} = \"{path}\"\n"));
            is_refused(&["validate", "--config", &settings, &good], "--allow-read");
            if key == "bootstrap" {
                is_refused(&["pick", "--config", &settings, &good], "--allow-read");
            }
        }
        fs::remove_file(inside.join("xdsctl.toml")).unwrap();
        let dump = write(&directory, "in/bootstrap.json", bootstrap(path));
        for command in [&["validate"][..], &["validate", "--format=json"], &["tree"], &["pick"]] {
            is_refused(&[command, &[&dump]].concat(), "--allow-read");
        }
    }
    let suite = write(
        &directory,
        "in/suite.yaml",
        "world: /\ntarget: xds:///l\nsteps: [{pick: {}}]\n",
    );
    is_refused(&["test", &suite], "--allow-read");
    fs::remove_file(inside.join("linked")).unwrap();
    // A link in a directory names a file, too.
    symlink("../secret/x.yaml", inside.join("link.yaml")).unwrap();
    for command in ["validate", "pick", "tree"] {
        is_refused(&[command, inside.to_str().unwrap()], "--allow-read");
    }
}

/// Runs in a directory, which may have its own settings.
fn run_in(directory: &Path, args: &[&str]) -> Run {
    in_process(args, b"", |io| io.paths.directory = Some(directory.to_owned()))
}

#[test]
fn settings_that_are_found_stay_in_their_directory() {
    let (directory, secret) = house("files-settings");
    let good = write(&directory, "in/good.json", world::document(0).to_string());
    let inside = directory.join("in");
    let settings = inside.join("xdsctl.toml");
    for target in [secret.as_str(), "../secret/x.yaml", "nowhere", "../secret", "/dev/null"] {
        symlink(target, &settings).unwrap();
        for args in [&["validate", &good][..], &["pick", &good], &["config", "show"]] {
            let run = run_in(&inside, args);
            let text = format!("{}{}", run.out, run.err);
            assert_eq!(run.code, Some(2), "{target} {args:?}\n{text}");
            assert!(
                text.contains("xdsctl.toml") && !text.contains(SECRET),
                "{target} {args:?}\n{text}"
            );
        }
        fs::remove_file(&settings).unwrap();
    }
    write(&directory, "in/other.toml", "format = \"concise\"\n");
    symlink("other.toml", &settings).unwrap();
    assert_eq!(run_in(&inside, &["validate", &good]).out, "");
}

#[test]
fn a_suite_names_files_only() {
    let directory = directory("attacks", "files-suite");
    write(&directory, "good.json", world::document(0).to_string());
    for path in [
        "git:HEAD:../x.yaml",
        "git:HEAD",
        "envoy://127.0.0.1:9",
        "csds://127.0.0.1:9",
        "-",
    ] {
        let suite = format!("world: \"{path}\"\ntarget: xds:///l\nsteps: [{{pick: {{}}}}]\n");
        for command in ["test", "simulate"] {
            // The suite comes from standard input, so the current directory gives its paths no
            // base.
            let run = in_process(&[command, "-"], &suite, |_| {});
            assert_eq!(run.code, Some(2), "{command} {path}\n{}{}", run.out, run.err);
            let text = run.out + &run.err;
            assert!(
                text.contains("is no file: the world of a suite"),
                "{command} {path}\n{text}"
            );
        }
    }
}

#[test]
fn a_long_name_ends_in_an_error() {
    let directory = directory("attacks", "files-long");
    let good = write(&directory, "good.json", world::document(0).to_string());
    for (name, count) in [("a/", 16_000), ("a/", 500_000), ("../", 100_000)] {
        let settings = format!("bootstrap = \"{}x\"\n", name.repeat(count));
        let settings = write(&directory, "xdsctl.toml", settings);
        let run = run(&["validate", "--config", &settings, &good]);
        assert_eq!(run.code, Some(2), "{name} {count}");
    }
}

#[test]
fn a_name_hides_no_file() {
    use std::os::unix::ffi::OsStrExt as _;
    let directory = directory("attacks", "files-names");
    let good = world::document(0).to_string();
    let bad = good.replace("\"EDS\"", "\"EDS\",\"lb_policy\":\"MAGLEV\"");
    for (one, other) in [
        (&b"x\xfd.json"[..], &b"x\xff.json"[..]),
        (b"\xfd/x.json", b"\xff/x.json"),
        (b"x.json", b"x.JSON"),
        (b"x.json", b"y.Yaml"),
    ] {
        let inside = directory.join("in");
        let file = |name: &[u8]| inside.join(std::ffi::OsStr::from_bytes(name));
        for (name, text) in [(one, &good), (other, &bad)] {
            fs::create_dir_all(file(name).parent().unwrap()).unwrap();
            fs::write(file(name), text).unwrap();
        }
        for command in ["validate", "validate --format=jsonl", "tree", "test"] {
            let args: Vec<&str> = command.split(' ').chain([inside.to_str().unwrap()]).collect();
            let run = run(&args);
            assert_ne!(run.code, Some(0), "{command} {other:?}\n{}{}", run.out, run.err);
        }
        fs::remove_dir_all(inside).unwrap();
    }
}

#[test]
fn the_command_line_allows_more() {
    let directory = directory("attacks", "files-allowed");
    write(&directory, "prod.yaml", world::yaml(&world::document(0)));
    let suite = write(
        &directory,
        "tests/suite.yaml",
        "world: ../prod.yaml\ntarget: xds:///l\nsteps: [{pick: {}, expect: {status: OK}}]\n",
    );
    let clusters = write(
        &directory,
        "clusters.json",
        json!({ "resources": [world::cluster("c")] }).to_string(),
    );
    let bootstrap = json!({ "dynamic_resources": { "cds_config": { "path_config_source": { "path": clusters } } } });
    let dump = write(&directory, "boot/bootstrap.json", bootstrap.to_string());
    symlink("../prod.yaml", directory.join("boot/linked.yaml")).unwrap();
    let inside = write(&directory, "tests/inside.json", bootstrap.to_string());
    fs::create_dir(directory.join("tests/world")).unwrap();
    symlink("../../prod.yaml", directory.join("tests/world/linked.yaml")).unwrap();
    let steps = "steps: [{pick: {}}]\n";
    let follows = write(
        &directory,
        "tests/follows.yaml",
        format!("world: inside.json\ncluster: c\n{steps}"),
    );
    let links = write(
        &directory,
        "tests/links.yaml",
        format!("world: world\ntarget: xds:///l\n{steps}"),
    );
    let all = directory.to_str().unwrap();
    for suite in [&follows, &links] {
        // The path in the message is where the link leads, or where the file is, not where it is
        // named.
        is_refused(&["test", suite], &format!("`--allow-read {all}` allows it"));
    }
    for args in [
        &["test", "--allow-read", all, &suite][..],
        &["test", "--allow-read", all, &follows],
        &["test", "--allow-read", all, &links],
        &[
            "test",
            "--init",
            "--allow-read",
            all,
            directory.join("tests/world").to_str().unwrap(),
        ],
        &["validate", "--allow-read", all, &inside],
        &["simulate", "--allow-read", "/nowhere", "--allow-read", all, &suite],
        &["validate", "--allow-read", all, &dump],
        &[
            "validate",
            "--allow-read",
            all,
            directory.join("boot").to_str().unwrap(),
        ],
        // A path that is named on the command line needs no permission.
        &["validate", directory.join("boot").to_str().unwrap(), all],
    ] {
        let run = run(args);
        assert_eq!(run.code, Some(0), "{args:?}\n{}\n{}", run.out, run.err);
    }
}

#[test]
fn files_of_the_kernel_have_an_end() {
    for file in [
        "/proc/kmsg",
        "/proc/self/pagemap",
        "/proc/self/mem",
        "/proc/kcore",
        "/sys/kernel/tracing/trace_pipe",
    ] {
        if !Path::new(file).exists() {
            continue;
        }
        for command in ["validate", "tree", "simulate", "test"] {
            let run = run(&[command, file]);
            assert_eq!(run.code, Some(2), "{file}: {}", run.err);
        }
    }
}

#[test]
fn a_name_that_begins_with_a_dash_is_a_name() {
    let directory = directory("attacks", "files-dash");
    for name in ["--fix.json", "-.json", "-A.yaml", "--format=json.json"] {
        write(&directory, name, world::document(0).to_string());
        for command in ["validate", "pick", "tree", "route"] {
            let run = run(&[command, "--world=all", "--", directory.to_str().unwrap()]);
            assert_eq!(run.code, Some(0), "{command} {name}: {}", run.err);
        }
        fs::remove_file(directory.join(name)).unwrap();
    }
    let command = xdsctl_cli::command();
    for subcommand in command.get_subcommands() {
        for arg in subcommand.get_positionals() {
            assert!(!arg.is_allow_hyphen_values_set(), "{}: {arg}", subcommand.get_name());
        }
    }
}

#[test]
fn files() {
    attack("files", |chance: &mut Chance, directory| {
        let secret = write(
            directory,
            "secret/x.yaml",
            format!("password: {SECRET}\n  broken: [{SECRET}\n"),
        );
        let good = write(directory, "in/good.json", world::document(0).to_string());
        let mut path = match chance.below(4) {
            0 => secret.clone(),
            1 => "../secret/x.yaml".to_owned(),
            2 => format!("{}../secret/./x.yaml", "no/../".repeat(chance.below(4))),
            _ => {
                let _ = symlink(
                    chance.one(&["../secret", "/", "../in/../secret"]),
                    directory.join("in/l"),
                );
                chance
                    .one(&["l/x.yaml", "./l/x.yaml", "l/../secret/x.yaml", "l/etc/passwd"])
                    .to_owned()
            }
        };
        if chance.percent(20) {
            path = path.replace('/', "//");
        }
        if chance.percent(20) {
            return overwritten(chance, directory, &good);
        }
        let (file, text, command) = match chance.below(6) {
            0 => (
                "in/s.yaml",
                format!("world: {path}\ntarget: xds:///l\nsteps: [{{pick: {{}}}}]\n"),
                "test",
            ),
            1 => (
                "in/s.yaml",
                format!("world: [good.json, {path}]\ntarget: xds:///l\nsteps: [{{pick: {{}}}}]\n"),
                "simulate",
            ),
            2 => ("in/xdsctl.toml", format!("bootstrap = \"{path}\"\n"), "validate"),
            3 => ("in/xdsctl.toml", format!("baseline = \"{path}\"\n"), "validate"),
            4 => {
                let _ = symlink(&path, directory.join("in/xdsctl.toml"));
                let run = run_in(
                    &directory.join("in"),
                    &[chance.one(&["validate", "route", "pick"]), &good],
                );
                let text = format!("{}{}", run.out, run.err);
                assert!(!text.contains(SECRET) && !text.contains("root:"), "{path}\n{text}");
                assert_ne!(run.code, Some(0), "{path}\n{text}");
                return;
            }
            _ => {
                let source = chance.one(&["cds_config", "lds_config"]);
                let of = match chance.percent(50) {
                    true => json!({ "path_config_source": { "path": path } }),
                    false => json!({ "path": path }),
                };
                let text = json!({ "dynamic_resources": { source: of } }).to_string();
                ("in/b.json", text, chance.one(&["validate", "tree", "who", "diff"]))
            }
        };
        let file = write(directory, file, text);
        let run = match (command, file.ends_with(".toml")) {
            (command, true) => run(&[command, "--config", &file, &good]),
            ("who", _) => run(&["who", "a", &file]),
            ("diff", _) => run(&["diff", &good, &file]),
            (command, false) => run(&[command, &file]),
        };
        let text = format!("{}{}", run.out, run.err);
        assert!(
            !text.contains(SECRET) && !text.contains("root:"),
            "{command} {path}\n{text}"
        );
        assert_ne!(run.code, Some(0), "{command} {path}\n{text}");
        assert_eq!(fs::read_to_string(&secret).unwrap().matches(SECRET).count(), 2);
    });
}

/// Checks that files with a text that looks like a report are not overwritten when a report goes
/// there.
fn overwritten(chance: &mut Chance, directory: &Path, input: &str) {
    let words = [
        "- Cluster of the shop\n",
        "+ Listener x\n",
        "For RPCs\n",
        "nothing changes for a client\n",
        "x: the world is new, with 3 resources\n",
        "a.c:1:2: error x\n",
        "a.c:1:2: error: x\n",
        "my-project (v2)\n",
        "3 tests: passed, all of them\n",
        "2 errors, 1 warning, 0 notes\n",
        "12 resources: none accepted, 0 rejected\n",
        "::error x\n",
        "# Notes\n",
        "{\"schema\": \"xdsctl.baseline/v1\",\n",
        "[{\"description\": \"x\", \"check_name\": \"x\"}]\n",
        "\n",
    ];
    let text: String = (0..chance.between(1, 5)).map(|_| chance.one(&words)).collect();
    let text = format!("{text}the end\n");
    let file = write(directory, "in/notes", &text);
    let to = match chance.below(3) {
        0 => file.clone(),
        1 => {
            symlink("notes", directory.join("in/link")).unwrap();
            directory.join("in/link").to_str().unwrap().to_owned()
        }
        _ => {
            fs::hard_link(&file, directory.join("in/hard")).unwrap();
            directory.join("in/hard").to_str().unwrap().to_owned()
        }
    };
    let suite = write(
        directory,
        "in/s.yaml",
        "world: good.json\ntarget: xds:///l\nsteps: [{pick: {}}]\n",
    );
    let all = writers(input, &suite, &to);
    let args = &all[chance.below(all.len())];
    let run = run(&strs(args));
    assert_eq!(run.code, Some(2), "{args:?}\n{text}\n{}", run.err);
    assert_eq!(fs::read_to_string(&file).unwrap(), text, "{args:?}");
}
