//! Runs whole commands in process, from arguments and the contents of files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

use clap::Parser as _;
use serde_json::{Value, json};
use xdsctl_channel::sim::script::Step;
use xdsctl_cli::{Args, Command, Io, PolicyCommand};
use xdsctl_report::edge::is_plain;

use crate::chance::Chance;
use crate::make::{CLUSTER, World};
use crate::play::{bootstrap_of, hosts, recorded_world_of, world_of};
use crate::{generate, rbac, server, steps, suites};

/// The limit that is put before arguments, which may ask for more.
pub const MAX_EVENTS: &str = "--max-events=20000";

thread_local! {
    /// The directory for the files of commands. Each thread has its own, because tests of one
    /// process run side by side.
    static FILES: PathBuf = {
        static THREADS: AtomicUsize = AtomicUsize::new(0);
        let number = THREADS.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("xdsctl-fuzz-{}-{number}", std::process::id()));
        fs::create_dir_all(&dir).expect("the temporary directory can be written to");
        dir
    };
}

/// Returns the path of one of the files.
fn file(name: &str) -> PathBuf {
    FILES.with(|dir| dir.join(name))
}

/// Runs `xdsctl ARGS` on standard input and checks the output: it moves no terminal's cursor, it is
/// JSON where that was asked for, and the exit code exists.
pub fn run(args: &[&str], input: &[u8]) -> Vec<u8> {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let io = Io::piped(input, &mut out, &mut err);
    let code = xdsctl_cli::run(["xdsctl"].iter().chain(args).copied(), io);
    let is_trouble = code == ExitCode::from(2);
    assert!(
        code == ExitCode::SUCCESS || code == ExitCode::from(1) || is_trouble,
        "{code:?}"
    );
    let is_coloured = args.iter().any(|arg| arg.contains("always"));
    for text in [&out, &err] {
        let text = std::str::from_utf8(text).expect("output is UTF-8");
        let raw = text.chars().find(|c| !is_plain(*c));
        assert!(is_coloured || raw.is_none(), "{raw:?} in the output of {args:?}");
    }
    // The report of a test says what the test could not do, and so do the verdicts of a stream.
    let is_report = args.first() == Some(&"test") && !out.is_empty();
    assert!(
        !is_trouble || is_report || !err.is_empty() || is_said_in_a_verdict(&out),
        "{args:?} ended without a word"
    );
    let is_json = args.contains(&"--format=json");
    if is_json && !is_trouble {
        for document in serde_json::Deserializer::from_slice(&out).into_iter::<Value>() {
            assert!(document.is_ok(), "{args:?}: {document:?}");
        }
    }
    out
}

/// Says whether one of a stream's verdicts says why it is missing, which is the place for a fault
/// in one of its lines.
fn is_said_in_a_verdict(out: &[u8]) -> bool {
    let verdicts = out.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let verdicts: Option<Vec<Value>> = verdicts.map(|line| serde_json::from_slice(line).ok()).collect();
    let says_why = |row: &Value| row["verdict"] == "error" && row["error"].as_str().is_some_and(|why| !why.is_empty());
    verdicts.is_some_and(|verdicts| verdicts.iter().any(says_why))
}

/// Adds arguments from `list`, each in the given number of 100 cases.
fn some(chance: &mut Chance, args: &mut Vec<String>, list: &[(usize, &str)]) {
    for (percent, arg) in list {
        if chance.percent(*percent) {
            args.push((*arg).to_owned());
        }
    }
}

/// Makes a world, and the arguments that lead into it.
fn channel(chance: &mut Chance) -> (World, Vec<String>) {
    let world = if chance.percent(50) {
        world_of(chance)
    } else {
        recorded_world_of(chance)
    };
    let mut args = Vec::new();
    if chance.percent(80) {
        args.push(format!("--target=xds:///{}", world.target));
        args.extend(world.authority.iter().map(|name| format!("--authority={name}")));
    } else if let Some(cluster) = world.names(CLUSTER).first().filter(|_| chance.percent(60)) {
        args.push(format!("--cluster={cluster}"));
    }
    for (name, value) in &world.env {
        args.push(format!("--env={name}={}", value.as_str().unwrap_or_default()));
    }
    if world.bootstrap.is_some() || chance.percent(10) {
        let path = file("bootstrap");
        write(&path, bootstrap_of(&world).to_string().as_bytes());
        args.push(format!("--bootstrap={}", path.display()));
    }
    some(
        chance,
        &mut args,
        &[(10, "--show-secrets"), (5, "--merge"), (4, "--resolve=a:80=1.2.3.4:80")],
    );
    (world, args)
}

fn request(chance: &mut Chance, world: &World, args: &mut Vec<String>) {
    let request = &generate::pick(chance, world, &hosts(world))["pick"];
    args.push(format!("--method={}", request["method"].as_str().unwrap_or("/")));
    for header in request["headers"].as_array().into_iter().flatten() {
        let (name, value) = (header[0].as_str(), header[1].as_str());
        args.push(format!(
            "--header={}={}",
            name.unwrap_or_default(),
            value.unwrap_or_default()
        ));
    }
    if chance.percent(20) {
        args.push(format!("--timeout={}", chance.one(&["0", "0.001", "2", "1e9", "-1"])));
    }
    if chance.percent(20) {
        args.push(format!("--seed={}", chance.below(1000)));
    }
}

fn finish(world: &World, args: &[String]) {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let document = json!({"resources": world.resources}).to_string();
    let first = run(&args, document.as_bytes());
    if document.len().is_multiple_of(16) {
        assert_eq!(
            run(&args, document.as_bytes()),
            first,
            "{args:?} says something else the second time"
        );
    }
}

/// Runs `xdsctl tree` in a random world.
pub fn tree(data: &[u8]) {
    let mut chance = Chance::from_bytes(data);
    let (world, mut args) = channel(&mut chance);
    args.insert(0, "tree".to_owned());
    args.push(format!(
        "--format={}",
        chance.one(&["human", "json", "dot", "mermaid", "svg"])
    ));
    some(
        &mut chance,
        &mut args,
        &[(30, "--layout=a37"), (30, "--all"), (10, "--color=always")],
    );
    finish(&world, &args);
}

/// Runs `xdsctl route` in a random world.
pub fn route(data: &[u8]) {
    let mut chance = Chance::from_bytes(data);
    let (world, mut args) = channel(&mut chance);
    args.insert(0, "route".to_owned());
    request(&mut chance, &world, &mut args);
    some(&mut chance, &mut args, &[(40, "--format=json"), (10, "--color=always")]);
    finish(&world, &args);
}

/// Runs `xdsctl retry`, in a random world or with a random policy.
pub fn retry(data: &[u8]) {
    let mut chance = Chance::from_bytes(data);
    let scripts = [
        "--script=UNAVAILABLE",
        "--script=UNAVAILABLE:-1,OK",
        "--script=INTERNAL:9223372036854775807",
        "--script=ABORTED,CANCELLED:0",
    ];
    let (world, mut args) = if chance.percent(60) {
        let (world, mut args) = channel(&mut chance);
        request(&mut chance, &world, &mut args);
        (world, args)
    } else {
        let mut args = vec![format!(
            "--retry-on={}",
            chance.one(&["unavailable", "5xx", "cancelled,internal,x", "", "resource-exhausted,,"])
        )];
        let seconds = [
            "0",
            "0.001",
            "1e-10",
            "31557600000",
            "31557600001",
            "1e300",
            "-1",
            "nan",
            "0.05",
        ];
        if chance.percent(70) {
            args.push(format!("--base-interval={}", chance.one(&seconds)));
            if chance.percent(60) {
                args.push(format!("--max-interval={}", chance.one(&seconds)));
            }
        }
        if chance.percent(60) {
            args.push(format!("--num-retries={}", chance.one(&["0", "1", "4", "4294967295"])));
        }
        (World::default(), args)
    };
    args.insert(0, "retry".to_owned());
    if chance.percent(60) {
        args.push(chance.one(&scripts).to_owned());
    }
    some(&mut chance, &mut args, &[(40, "--format=json")]);
    finish(&world, &args);
}

/// Runs `xdsctl admit` at a server with random policies.
pub fn admit(data: &[u8]) {
    let mut chance = Chance::from_bytes(data);
    let methods = ["/a.S/M", "/a.S/", "/", "", "/b.T/N"];
    let routes = json!([
        {"match": {"prefix": chance.one(&methods)}, "non_forwarding_action": {}},
        {"match": {"path": chance.one(&methods)}, "route": {"cluster": "c"}},
        {"match": {"prefix": ""}, "non_forwarding_action": {}},
    ]);
    let actions = ["ALLOW", "DENY", "LOG"];
    let made: Vec<(&str, Value)> = (0..chance.between(1, 2))
        .map(|_| (chance.one(&actions), rbac::policies(&mut chance)))
        .collect();
    let named = ["first", "second"].into_iter().zip(&made);
    let filters: Vec<(&str, &str, &Value)> = named
        .map(|(name, (action, policies))| (name, *action, policies))
        .collect();
    let document = server::listener(&filters, &routes).to_string();
    let clients = [
        "cpp",
        "cpp@1.62.3",
        "cpp@1.85.1,go",
        "go",
        "go@1.60.0",
        "java",
        "java@1.63.0",
        "node",
        "node@1.13.0",
    ];
    let mut args = vec!["admit".to_owned(), format!("--client={}", chance.one(&clients))];
    let addresses = ["10.0.0.1", "127.0.0.1:5000", "[::1]:1", "fe80::1", "256.1.1.1", ""];
    args.push(format!("--from={}", chance.one(&addresses)));
    args.push(format!("--method={}", chance.one(&methods)));
    some(
        &mut chance,
        &mut args,
        &[
            (30, "--env=GRPC_XDS_EXPERIMENTAL_RBAC=true"),
            (30, "--who"),
            (15, "--over-tls"),
            (15, "--san=uri:spiffe://a"),
            (10, "--subject=CN=a,O=b"),
            (20, "--header=te=x"),
            (10, "--authority="),
            (10, "--unimplemented"),
            (5, "--no-xds-credentials"),
            (5, "--to=::1"),
            (5, "--at=2026-11-24T18:00:00Z"),
            (30, "--format=json"),
            (10, "--format=svg"),
        ],
    );
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    run(&args, document.as_bytes());
}

/// Runs `xdsctl pick` in a random world, with a network in arguments or a script in a file.
pub fn pick(data: &[u8]) {
    let mut chance = Chance::from_bytes(data);
    let (world, mut args) = channel(&mut chance);
    args.insert(0, "pick".to_owned());
    args.push(MAX_EVENTS.to_owned());
    let hosts = hosts(&world);
    if chance.percent(40) {
        let lines = steps::random(&mut chance, &world);
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let path = file("requests");
        write(&path, text.as_bytes());
        args.push(format!("--requests={}", path.display()));
    } else {
        request(&mut chance, &world, &mut args);
        let count = chance.of(&[1, 1, 3, 40]);
        args.push(format!("--count={count}"));
        for name in ["--down", "--session", "--address", "--reachable", "--eject"] {
            if chance.percent(12) && !hosts.is_empty() {
                args.push(format!("{name}={}", chance.of(&hosts)));
            }
        }
        let state = chance.one(&["IDLE", "READY", "CONNECTING", "TRANSIENT_FAILURE"]);
        if chance.percent(15) && !hosts.is_empty() {
            args.push(format!("--state={}={state}", chance.of(&hosts)));
        }
    }
    some(
        &mut chance,
        &mut args,
        &[
            (10, "--respond=UNAVAILABLE:2"),
            (15, "--wait-for-ready"),
            (25, "--explain"),
            (40, "--format=json"),
            (8, "--color=always"),
        ],
    );
    finish(&world, &args);
}

fn write(path: &Path, data: &[u8]) {
    fs::write(path, data).expect("the temporary directory can be written to");
}

/// Returns a part of the input, up to a line that stands alone.
fn part<'d>(data: &mut &'d [u8], line: &[u8]) -> &'d [u8] {
    match data.windows(line.len()).position(|window| window == line) {
        Some(at) => {
            let (head, tail) = data.split_at(at);
            *data = &tail[line.len()..];
            head
        }
        None => std::mem::take(data),
    }
}

/// Says whether a script asks for more RPCs than a fuzzer can wait for.
fn asks_for_much(script: &[u8]) -> bool {
    script.split(|byte| *byte == b'\n').any(|line| {
        let step = serde_json::from_slice::<Value>(line)
            .ok()
            .and_then(|json| Step::read(&json.to_string()).ok());
        step.as_ref().is_some_and(steps::is_long)
    })
}

/// The files that a command may name. In an argument, `BOOTSTRAP` stands for the path of the first,
/// and so on.
const NAMES: [&str; 4] = ["bootstrap", "requests", "config", "baseline"];

/// Runs any arguments: one on each line, up to an empty line. Then come standard input and the
/// files of [`NAMES`], each after a line `=== NAME`, in this order. Arguments that name other
/// files, or that write one, are not run.
pub fn command(data: &[u8]) {
    let mut rest = data;
    let head = part(&mut rest, b"\n\n");
    let mut contents = Vec::new();
    for name in NAMES {
        contents.push(part(&mut rest, format!("\n=== {name}\n").as_bytes()));
    }
    contents.push(rest);
    let [input, files @ ..] = contents.as_slice() else {
        return;
    };
    let head = String::from_utf8_lossy(head).replace('\0', "");
    let with_paths = |arg: &str| {
        let path = |name: &str| file(name).to_string_lossy().into_owned();
        let replace = |arg: String, name: &&str| arg.replace(&name.to_uppercase(), &path(name));
        NAMES.iter().fold(arg.to_owned(), replace)
    };
    let args: Vec<String> = head.lines().map(with_paths).collect();
    let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
    if args.first() == Some(&"pick") {
        args.insert(1, MAX_EVENTS);
    }
    if let Ok(parsed) = Args::try_parse_from(["xdsctl"].iter().chain(&args))
        && !is_harmless(&parsed.command, input, files.get(1).copied().unwrap_or_default())
    {
        return;
    }
    for (name, content) in NAMES.iter().zip(files) {
        write(&file(name), content);
    }
    run(&args, input);
}

/// Says the same as [`is_harmless`] about `policy`. A case names files below the directory of its
/// policy, which has only those of [`NAMES`].
fn is_harmless_policy(command: &PolicyCommand) -> bool {
    let is_own = |path: &Path| NAMES.iter().any(|name| path == file(name));
    match command {
        PolicyCommand::Test(args) => {
            let reads_own = args.files.iter().all(|path| is_own(path));
            let has_own = !args.files.is_empty() || args.config.config.as_deref().is_some_and(is_own);
            let writes = args.formats.iter().any(|format| format.file.is_some());
            let clients = args.clients.client_from.is_none();
            reads_own && has_own && !writes && clients && args.config.allow_read.is_empty()
        }
        PolicyCommand::New(args) => {
            let place = args.from.rsplit_once(':');
            place.is_none_or(|(path, _)| is_own(Path::new(path)))
        }
        PolicyCommand::Schema => true,
    }
}

/// Says whether a command reads no file that it was not given, writes none, and ends soon.
fn is_harmless(command: &Command, input: &[u8], script: &[u8]) -> bool {
    let is_own = |path: &Option<PathBuf>| {
        path.as_ref()
            .is_none_or(|path| NAMES.iter().any(|name| *path == file(name)))
    };
    let input = match command {
        Command::Validate(args) => {
            let writes = args.write_baseline.is_some() || args.formats.iter().any(|format| format.file.is_some());
            if writes || !is_own(&args.baseline) {
                return false;
            }
            &args.input
        }
        Command::Tree(args) => &args.channel.input,
        Command::Route(args) => &args.channel.input,
        Command::Retry(args) => &args.channel.input,
        Command::Diff(args) => &args.input,
        Command::Who(args) => &args.input,
        Command::Admit(args) => {
            if !is_own(&args.certificate) || !is_own(&args.roots) {
                return false;
            }
            &args.input
        }
        Command::Pick(args) => {
            if args.count > steps::MOST || !is_own(&args.requests) || asks_for_much(script) {
                return false;
            }
            &args.channel.input
        }
        Command::Clients(_) | Command::Explain(_) | Command::Cookie(_) | Command::Completions(_) => return true,
        Command::Simulate(args) => {
            return args.file.as_os_str() == "-" && args.world.is_empty() && suites::is_harmless(input);
        }
        Command::Test(args) => {
            return args.files.iter().all(|path| path.as_os_str() == "-")
                && args.world.is_empty()
                && suites::is_harmless(input)
                && args.formats.iter().all(|format| format.file.is_none());
        }
        Command::Policy(args) => return is_harmless_policy(&args.command),
        // These commands read the project's files, or other files that they are given.
        Command::Mask(_) | Command::Init(_) | Command::Config(_) | Command::Generate(_) => return false,
        // These commands wait for others.
        Command::Fetch(_) | Command::Serve(_) | Command::Ui(_) | Command::Lsp(_) => return false,
    };
    is_own(&input.bootstrap) && is_own(&input.config.config) && input.files.iter().all(|path| path.as_os_str() == "-")
}
