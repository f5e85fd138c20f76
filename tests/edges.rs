//! Tests of the edges of a run: files, pipes, devices, links, and streams that end early.

use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use xdsctl_cli::Io;

use crate::run::{self, Run, in_process};

/// Runs a command in this process.
fn xdsctl(args: &[&str]) -> Run {
    in_process(args, "", |_| {})
}

fn io_to<'a>(out: &'a mut (dyn Write + 'a), err: &'a mut (dyn Write + Send + 'a)) -> Io<'a> {
    Io::piped(io::empty(), out, err)
}

fn directory(test: &str) -> PathBuf {
    run::directory("edges", test)
}

/// Makes a cluster without a fault.
fn cluster(name: &str) -> String {
    format!(
        r#"{{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"{name}","type":"EDS","eds_cluster_config":{{"eds_config":{{"ads":{{}}}}}}}}"#
    )
}

/// Returns the names of the resources in a JSON report.
fn names(report: &str) -> Vec<String> {
    let report: serde_json::Value = serde_json::from_str(report).unwrap();
    let resources = report["resources"].as_array().unwrap().iter();
    resources.map(|r| r["name"].as_str().unwrap().to_owned()).collect()
}

fn validate(paths: &[&Path]) -> Run {
    let mut args = vec!["validate", "--format", "json"];
    args.extend(paths.iter().map(|path| path.to_str().unwrap()));
    xdsctl(&args)
}

fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn a_pipe_in_a_directory_is_passed_over_with_a_word() {
    let directory = directory("pipe");
    fifo(&directory.join("b.json"));
    fifo(&directory.join("no-document"));
    fs::write(directory.join("a.json"), cluster("a")).unwrap();
    symlink("/dev/zero", directory.join("c.json")).unwrap();
    let run = validate(&[&directory]);
    assert_eq!(names(&run.out), ["a"]);
    assert_eq!(run.code, Some(0));
    let shown = directory.display();
    assert_eq!(
        run.err,
        format!(
            "xdsctl: `{shown}/b.json` is skipped: it is not a regular file\n\
             xdsctl: `{shown}/c.json` is skipped: it is not a regular file\n"
        )
    );
}

#[test]
fn a_pipe_that_is_named_is_read() {
    let path = directory("named-pipe").join("pipe");
    fifo(&path);
    let writer = {
        let path = path.clone();
        std::thread::spawn(move || fs::write(path, cluster("a")).unwrap())
    };
    let run = validate(&[&path]);
    writer.join().unwrap();
    assert_eq!((names(&run.out), run.code), (vec!["a".to_owned()], Some(0)));
}

#[test]
fn a_pipe_that_a_suite_names_is_refused() {
    let directory = directory("suite-pipe");
    fifo(&directory.join("pipe"));
    let steps = "target: xds:///l\nsteps:\n- pick: {method: /a.B/C}\n  expect: {status: OK}\n";
    for world in ["world: pipe", "world: /dev/zero", "world: []\nbootstrap: pipe"] {
        let file = directory.join("suite.yaml");
        fs::write(&file, format!("{world}\n{steps}")).unwrap();
        let run = xdsctl(&["test", file.to_str().unwrap()]);
        assert_eq!(run.code, Some(2), "{world}: {}{}", run.out, run.err);
        let told = format!("{}{}", run.out, run.err);
        assert!(
            told.contains("not a regular file") || told.contains("--allow-read") || world.contains("[]"),
            "{told}"
        );
    }
}

#[test]
fn a_stream_without_an_end_is_an_error() {
    let error = xdsctl_document::source::read_stream(&mut io::repeat(b' '), 1 << 20).unwrap_err();
    assert_eq!(error.to_string(), "more than 1048576 bytes");
    let read = xdsctl_document::source::read_stream(&mut io::repeat(b' ').take(1 << 20), 1 << 20);
    assert_eq!(read.unwrap().len(), 1 << 20);
}

#[test]
fn links_in_a_circle_are_followed_once() {
    let directory = directory("circle");
    fs::create_dir_all(directory.join("z/y")).unwrap();
    fs::write(directory.join("z/y/a.json"), cluster("a")).unwrap();
    // There are two links on each level, each back to the top. A walk without a memory would visit
    // 2^32 paths.
    for (from, to) in [("b", "."), ("c", "."), ("z/b", ".."), ("z/y/c", "../.."), ("a", "z")] {
        symlink(to, directory.join(from)).unwrap();
    }
    let start = Instant::now();
    let run = validate(&[&directory]);
    assert!(start.elapsed() < Duration::from_secs(10));
    assert_eq!((names(&run.out), run.code), (vec!["a".to_owned()], Some(0)));
    let report: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    let file = report["resources"][0]["file"].as_str().unwrap();
    assert!(file.ends_with("circle/z/y/a.json"), "not by a link: {file}");
    assert_eq!(run.err, "");
}

#[test]
fn a_directory_that_only_a_link_leads_to_is_searched() {
    let directory = directory("link");
    fs::create_dir_all(directory.join("in")).unwrap();
    fs::create_dir_all(directory.join("out")).unwrap();
    fs::write(directory.join("out/a.json"), cluster("a")).unwrap();
    symlink("../out", directory.join("in/there")).unwrap();
    symlink("../out", directory.join("in/twice")).unwrap();
    let run = validate(&[&directory.join("in")]);
    assert_eq!(run.code, Some(2), "it leads out of the directory");
    assert!(run.err.contains("--allow-read"), "{}", run.err);
    let run = validate(&[Path::new("--allow-read"), &directory, &directory.join("in")]);
    assert_eq!((names(&run.out), run.code), (vec!["a".to_owned()], Some(0)));
}

#[test]
fn what_cannot_be_read_is_said_and_the_rest_is_checked() {
    let directory = directory("unreadable");
    fs::write(directory.join("a.json"), cluster("a")).unwrap();
    symlink("nowhere", directory.join("b.json")).unwrap();
    symlink("c.json", directory.join("c.json")).unwrap();
    symlink("nowhere", directory.join("no-document")).unwrap();
    fs::write(directory.join("z.json"), cluster("z")).unwrap();
    let missing = directory.join("missing.json");
    let run = validate(&[&missing, &directory]);
    assert_eq!(names(&run.out), ["a", "z"]);
    assert_eq!(run.code, Some(2));
    let said: Vec<&str> = run.err.lines().filter_map(|line| line.split('`').nth(1)).collect();
    let expected: Vec<_> = [missing, directory.join("b.json"), directory.join("c.json")].into();
    assert_eq!(said.iter().map(Path::new).collect::<Vec<_>>(), expected, "{}", run.err);
}

#[test]
fn a_directory_that_may_not_be_read_is_said() {
    let directory = directory("forbidden");
    fs::create_dir(directory.join("b")).unwrap();
    fs::write(directory.join("a.json"), cluster("a")).unwrap();
    fs::write(directory.join("b/b.json"), cluster("b")).unwrap();
    let set = |mode| fs::set_permissions(directory.join("b"), fs::Permissions::from_mode(mode)).unwrap();
    set(0o000);
    let may_read_all = fs::read_dir(directory.join("b")).is_ok();
    let run = validate(&[&directory]);
    set(0o755);
    if may_read_all {
        // The superuser may read all files.
        assert_eq!(names(&run.out), ["a", "b"]);
        return;
    }
    assert_eq!((names(&run.out), run.code), (vec!["a".to_owned()], Some(2)));
    assert!(run.err.contains("forbidden/b`: "), "{}", run.err);
}

#[test]
fn other_commands_do_not_answer_from_a_part_of_the_world() {
    let directory = directory("part");
    fs::write(directory.join("a.json"), cluster("a")).unwrap();
    symlink("nowhere", directory.join("b.json")).unwrap();
    let path = directory.to_str().unwrap();
    for command in ["tree", "pick", "route", "retry"] {
        let run = xdsctl(&[command, "--cluster", "a", path]);
        assert_eq!((run.out.as_str(), &run.code), ("", &Some(2)), "{command}");
        assert!(run.err.contains("b.json`: "), "{command}: {}", run.err);
    }
}

#[test]
fn directories_beyond_the_limit_are_said() {
    let directory = directory("deep");
    let deep = |levels: usize| directory.join(vec!["d"; levels].join("/"));
    fs::create_dir_all(deep(33)).unwrap();
    fs::write(deep(31).join("a.json"), cluster("a")).unwrap();
    fs::write(deep(33).join("b.json"), cluster("b")).unwrap();
    let run = validate(&[&directory]);
    assert_eq!((names(&run.out), run.code), (vec!["a".to_owned()], Some(2)));
    assert_eq!(
        run.err,
        format!(
            "xdsctl: cannot read `{}`: more than 32 directories inside each other\n",
            deep(32).display()
        )
    );
}

/// A stream whose reader closes it after some bytes.
struct Closing(usize);

impl Write for Closing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0 == 0 {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.0 = self.0.saturating_sub(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_reader_that_goes_away_ends_the_output_and_not_the_verdict() {
    let directory = directory("closing");
    let (good, bad) = (directory.join("good.json"), directory.join("bad.json"));
    fs::write(&good, cluster("a")).unwrap();
    fs::write(
        &bad,
        r#"{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"a"}"#,
    )
    .unwrap();
    for (path, expected) in [(&good, 0), (&bad, 1)] {
        for format in ["human", "json"] {
            for after in [0, 1, 50] {
                let (mut out, mut err) = (Closing(after), Vec::new());
                let io = io_to(&mut out, &mut err);
                let args = ["xdsctl", "validate", "--format", format, path.to_str().unwrap()];
                let got = xdsctl_cli::run(args, io);
                assert_eq!(got, ExitCode::from(expected), "{format} {after}");
                assert_eq!(String::from_utf8(err).unwrap(), "");
            }
        }
    }
}

/// A stream that accepts nothing, like a full device.
struct Full;

impl Write for Full {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_answer_that_cannot_be_written_is_an_error() {
    let path = directory("full").join("a.json");
    fs::write(&path, cluster("a")).unwrap();
    let path = path.to_str().unwrap();
    for args in [
        &["--help"][..],
        &["--version"],
        &["pick", "--help"],
        &["validate", path],
        &["validate", "--format", "json", path],
        &["tree", "--cluster", "a", path],
        &["explain", "--list"],
        &["cookie", "--help"],
    ] {
        let (mut out, mut err) = (Full, Vec::new());
        let io = io_to(&mut out, &mut err);
        let got = xdsctl_cli::run([&["xdsctl"], args].concat(), io);
        assert_eq!(got, ExitCode::from(2), "{args:?}");
        let err = String::from_utf8(err).unwrap();
        assert!(err.starts_with("xdsctl: cannot write the answer: "), "{args:?}: {err}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_device_is_an_error_for_the_real_command() {
    for args in [&["--help"][..], &["--version"], &["explain", "--list"]] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_xdsctl"))
            .args(args)
            .stdout(full)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
    }
}

#[test]
fn a_file_that_becomes_shorter_meanwhile_ends_no_process() {
    let directory = directory("shrinking");
    let path = directory.join("a.json");
    let filler = format!("[{}]", vec![cluster("a"); 8_000].join(","));
    {
        fs::write(&path, &filler).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_xdsctl"))
            .args(["validate", "--format", "json"])
            .arg(&path)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(60));
        fs::write(&path, "").unwrap();
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        let status = child.wait().unwrap();
        // The file may be read before the change, after it, or in between.
        let expected = [
            (Some(0), ""),
            (Some(2), "nothing to check"),
            (Some(2), "it became shorter while it was read"),
        ];
        assert!(
            expected
                .iter()
                .any(|(code, said)| status.code() == *code && err.contains(said)),
            "{status}: {err}"
        );
    }
}

#[test]
fn a_report_takes_the_place_of_nothing_that_is_read() {
    let directory = directory("places");
    let path = |name: &str| directory.join(name).to_str().unwrap().to_owned();
    let dump = cluster("a");
    let suite = "world: dump.json\ncluster: a\nsteps: [{pick: {}}]\n";
    std::fs::write(path("dump.json"), &dump).unwrap();
    std::fs::write(path("suite.yaml"), suite).unwrap();
    std::fs::hard_link(path("dump.json"), path("hard.json")).unwrap();
    symlink("dump.json", path("soft.json")).unwrap();
    symlink("suite.yaml", path("suite.link")).unwrap();
    let refused = |command: &str, input: &str, outputs: &[&str], words: &str| {
        let mut args = vec![command.to_owned()];
        args.extend(outputs.iter().map(|output| format!("--format={output}")));
        args.push(path(input));
        let (exit, out, err) = run::run_with_exit(args, b"");
        let err = String::from_utf8(err).unwrap();
        assert_eq!(
            (exit, out),
            (ExitCode::from(2), Vec::new()),
            "{command} {outputs:?}: {err}"
        );
        assert!(err.contains(words), "{command} {outputs:?}: {err}");
        assert_eq!(std::fs::read_to_string(path("dump.json")).unwrap(), dump, "{outputs:?}");
        assert_eq!(
            std::fs::read_to_string(path("suite.yaml")).unwrap(),
            suite,
            "{outputs:?}"
        );
    };
    let json = |name: &str| format!("json={}", path(name));
    for name in ["dump.json", "hard.json", "soft.json"] {
        refused(
            "validate",
            "dump.json",
            &[&json(name)],
            "is an input: give the report another file",
        );
        refused(
            "test",
            "suite.yaml",
            &[&json(name)],
            "is an input: give the report another file",
        );
    }
    for name in ["suite.yaml", "suite.link", "./suite.yaml"] {
        refused(
            "test",
            "suite.yaml",
            &[&json(name)],
            "is an input: give the report another file",
        );
    }
    let (one, other) = (json("report"), format!("junit={}", path("./report")));
    for (command, input) in [("validate", "dump.json"), ("test", "suite.yaml")] {
        refused(command, input, &[&one, &other], "two formats for the file");
    }
}
