//! Checks what hostile inputs cost, and what is printed about them: every command with every input,
//! in one process.
//!
//! The allocator counts memory over all threads, so the tests run one after the other. Time is not
//! measured: tests of growth count allocations. `cargo run --release --example costs` measures both
//! with inputs of 9.5 MB.

#[path = "costs/commands.rs"]
mod commands;
#[path = "costs/inputs.rs"]
mod inputs;
#[path = "support/run.rs"]
mod run;
#[path = "support/steps.rs"]
mod steps;
#[path = "support/mod.rs"]
#[allow(dead_code, reason = "no fixtures are read here")]
mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use commands::{COMMANDS, CONFIGURED, KNOWN, PLAYED, SCRIPTED, TOLD, arguments, other, standard_input};
use inputs::pieces::SECRET;
use inputs::{BASELINES, HOSTILE_SUITES, INPUTS, Input, LOGS, SCRIPTS, SETTINGS};
use xdsctl_report::edge::is_plain;

/// Counts the bytes that the process holds and the most that it held, and the number and size of
/// all allocations.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);
static COUNT: AtomicUsize = AtomicUsize::new(0);
static ASKED: AtomicUsize = AtomicUsize::new(0);

#[expect(unsafe_code, reason = "an allocator is unsafe by its trait")]
// SAFETY: every call is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        ASKED.fetch_add(layout.size(), Ordering::Relaxed);
        let held = HELD.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(held, Ordering::Relaxed);
        // SAFETY: the caller keeps the promises of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the pointer came from `alloc` above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The size in bytes of an input in the matrix.
const SMALL: usize = 4_000;

/// How many bytes a command may hold in addition to what its input needs: arguments, tables,
/// buffers.
const BASE: usize = 6 << 20;

/// How many bytes a command may hold for a byte of its input: 500 MB for 10 MB.
const BYTES_A_BYTE: usize = 50;

/// How many bytes a command may hold for what a YAML file repeats, up to the limit that it then
/// reports.
const ALIASES: usize = 64 << 20;

/// How many bytes the findings of all clients may take; there are some twenty clients.
const CLIENTS: usize = 40 << 20;

/// How many bytes the channels of a small test may take, each with all the endpoints.
const CHANNELS: usize = 40 << 20;

/// Makes tests run one at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

/// The result of a run.
struct Ran {
    exit: ExitCode,
    text: String,
    most: usize,
    count: usize,
}

fn ran(args: &[String]) -> Ran {
    let held = HELD.load(Ordering::Relaxed);
    MOST.store(held, Ordering::Relaxed);
    let before = COUNT.load(Ordering::Relaxed);
    // Unoptimized code needs the stack of a main thread.
    let command = std::thread::Builder::new().stack_size(8 << 20);
    let (args, input) = standard_input(args);
    let (exit, out, err) = std::thread::scope(|scope| {
        let running = command
            .spawn_scoped(scope, || run::run_with_exit(args, &input))
            .unwrap();
        running.join().unwrap()
    });
    let ran = (
        MOST.load(Ordering::Relaxed) - held,
        COUNT.load(Ordering::Relaxed) - before,
    );
    let text = String::from_utf8(out).expect("the answer is text") + &String::from_utf8(err).expect("talk is text");
    Ran {
        exit,
        text,
        most: ran.0,
        count: ran.1,
    }
}

/// Returns what is wrong with a run.
fn faults(command: &[&str], input: &str, ran: &Ran, bytes: usize) -> Vec<String> {
    let mut faults = Vec::new();
    if ![0, 1, 2].map(ExitCode::from).contains(&ran.exit) {
        faults.push("exit code".to_owned());
    }
    // Without findings there are no annotations.
    let is_clean = ran.exit == ExitCode::SUCCESS;
    let is_quiet = |word: &&str| ["--format=github", "--format=concise", "--diff"].contains(word);
    let may_be_silent = is_clean && command.iter().any(is_quiet);
    if ran.text.trim().is_empty() && !may_be_silent {
        faults.push("says nothing".to_owned());
    }
    // The report of a test says what the test could not do.
    let says_why = ["xdsctl: ", "dump-", "\"error\""]
        .iter()
        .any(|words| ran.text.contains(words));
    if ran.exit == ExitCode::from(2) && !says_why && command.first() != Some(&"test") {
        faults.push("exit code 2 without a reason".to_owned());
    }
    let is_coloured = command.contains(&"--color=always");
    let raw = ran
        .text
        .chars()
        .find(|c| !(is_plain(*c) || is_coloured && *c == '\x1b'));
    if let Some(raw) = raw {
        faults.push(format!("prints {raw:?}"));
    }
    if ran.text.contains(SECRET) {
        faults.push("prints the password".to_owned());
    }
    // The text itself counts twice: the buffers of the test grow by doubling.
    let mut most = BASE + BYTES_A_BYTE * bytes + 4 * ran.text.len();
    if ran.text.contains("aliases add more than") {
        most += ALIASES;
    }
    if command.contains(&"--client=all") {
        most += CLIENTS;
    }
    if MULTIPLIED.contains(&input) {
        most += CHANNELS;
    }
    if ran.most > most {
        faults.push(format!("held {} bytes, {most} would be enough", ran.most));
    }
    faults
}

/// Says whether every input meets every command (`XDSCTL_COSTS=all`).
fn takes_all() -> bool {
    std::env::var_os("XDSCTL_COSTS").is_some()
}

/// Returns the inputs with their numbers: all of them, or one in three where not every recorded row
/// is compared either.
fn numbered(inputs: &[Input]) -> impl Iterator<Item = (usize, &Input)> {
    let step = if takes_all() || support::compares_all() { 1 } else { 3 };
    inputs.iter().enumerate().step_by(step)
}

/// Returns one in `every` of the commands for an input, and other commands for the next input.
/// Returns all with `XDSCTL_COSTS=all`.
fn some<'c>(input: usize, commands: &'c [&'c [&'c str]], every: usize) -> impl Iterator<Item = &'c [&'c str]> {
    let every = if takes_all() { 1 } else { every };
    let from = input % every.min(commands.len());
    commands.iter().skip(from).step_by(every).copied()
}

/// Writes an input of this size, and one of half the size beside it. Returns its file and its size
/// in bytes.
fn put(input: &Input, size: usize, directory: &Path) -> (PathBuf, usize) {
    std::fs::create_dir_all(directory).unwrap();
    let file = directory.join(input.file);
    let bytes = (input.make)(size);
    std::fs::write(&file, &bytes).unwrap();
    std::fs::write(other(&file), (input.make)(size / 2)).unwrap();
    (file, bytes.len())
}

/// Runs every input of a list with its commands. Returns what is wrong.
fn matrix(list: &[Input], commands: &[&[&str]], world: Option<&Path>, directory: &Path) -> Vec<String> {
    let mut wrong = Vec::new();
    for (number, input) in numbered(list) {
        let (file, bytes) = put(input, SMALL, directory);
        for command in some(number, commands, 16) {
            let ran = ran(&arguments(command, &file, world));
            for fault in faults(command, input.name, &ran, bytes) {
                let start: String = ran.text.chars().take(300).collect();
                wrong.push(format!("{} < {}: {fault}\n{start}", command.join(" "), input.name));
            }
        }
    }
    wrong
}

#[test]
fn every_command_bears_every_input() {
    let _alone = alone();
    let directory = directory("costs-matrix");
    let world = directory.join("world.json");
    std::fs::write(&world, inputs::small_world()).unwrap();
    let mut wrong = matrix(INPUTS, COMMANDS, None, &directory);
    wrong.extend(matrix(SCRIPTS, SCRIPTED, Some(&world), &directory));
    wrong.extend(matrix(HOSTILE_SUITES, PLAYED, None, &directory));
    std::fs::write(&world, inputs::rejected_world(20)).unwrap();
    wrong.extend(matrix(SETTINGS, CONFIGURED, Some(&world), &directory));
    wrong.extend(matrix(BASELINES, KNOWN, Some(&world), &directory));
    wrong.extend(matrix(LOGS, TOLD, None, &directory));
    assert!(wrong.is_empty(), "{} faults:\n{}", wrong.len(), wrong.join("\n\n"));
}

/// The commands whose growth is checked, and the size that the check begins with.
const GROWING: &[&[&str]] = &[
    &["validate", "--format=json", "--show=parsed"],
    &["tree", "--format=json"],
    &["route"],
    &["pick", "--count=2"],
    &["diff", "OTHER", "FILE", "--format=json"],
];
const GROWING_FROM: usize = 10_000;

/// Inputs that a reader has to multiply, up to its own limits.
const MULTIPLIED: &[&str] = &[
    "YAML merges",
    "YAML merges of merges",
    "YAML aliases",
    "clusters that share endpoints",
    "clusters that share localities",
    "targets times localities",
    "targets times priorities",
    "clients and endpoints",
    "clients and resources",
];

/// Inputs that `diff` compares route by route, up to its own limits: an RPC may reach each route.
const COMPARED: &[&str] = &["routes by chance"];

/// The commands whose growth with a script or a suite is checked.
const GROWING_SCRIPTS: &[&[&str]] = &[&["pick", "--requests=FILE"]];
const GROWING_SUITES: &[&[&str]] = &[&["test", "--coverage"], &["simulate", "--format=jsonl"]];

#[test]
fn work_grows_with_the_input() {
    let _alone = alone();
    let directory = directory("costs-growth");
    let world = directory.join("world.json");
    std::fs::write(&world, inputs::small_world()).unwrap();
    let mut wrong = growth(INPUTS, GROWING, None, &directory);
    wrong.extend(growth(SCRIPTS, GROWING_SCRIPTS, Some(&world), &directory));
    wrong.extend(growth(HOSTILE_SUITES, GROWING_SUITES, None, &directory));
    std::fs::write(&world, inputs::rejected_world(20)).unwrap();
    wrong.extend(growth(SETTINGS, CONFIGURED, Some(&world), &directory));
    wrong.extend(growth(BASELINES, KNOWN, Some(&world), &directory));
    wrong.extend(growth(LOGS, TOLD, None, &directory));
    assert!(wrong.is_empty(), "{} faults:\n{}", wrong.len(), wrong.join("\n"));
}

/// Returns which commands need more than their share for an input of three times the size.
fn growth(list: &[Input], commands: &[&[&str]], world: Option<&Path>, directory: &Path) -> Vec<String> {
    let mut wrong = Vec::new();
    for (number, input) in numbered(list) {
        let [(small, short), (large, long)] =
            [("small", 1), ("large", 3)].map(|(name, times)| put(input, times * GROWING_FROM, &directory.join(name)));
        if long < 2 * short || MULTIPLIED.contains(&input.name) {
            continue;
        }
        for command in some(number, commands, 4) {
            if command.contains(&"diff") && COMPARED.contains(&input.name) {
                continue;
            }
            let [(few, held), (many, most)] = [&small, &large].map(|file| {
                let ran = ran(&arguments(command, file, world));
                (ran.count, ran.most)
            });
            // Three times the input may take three times the work, and a little more for lists that
            // grow.
            for (what, less, more, base) in [("allocations", few, many, 4_000), ("bytes", held, most, 1 << 20)] {
                if more > 4 * less + base {
                    wrong.push(format!(
                        "{} < {}: {what} from {less} to {more}",
                        command.join(" "),
                        input.name
                    ));
                }
            }
        }
    }
    wrong
}

/// Returns the most bytes that a command holds if its output is discarded.
fn held(args: &[&str]) -> usize {
    let before = HELD.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let io = xdsctl_cli::Io::piped(std::io::empty(), std::io::sink(), std::io::sink());
    let _exit = xdsctl_cli::run(std::iter::once("xdsctl").chain(args.iter().copied()), io);
    MOST.load(Ordering::Relaxed) - before
}

/// The size in bytes of an input of many small resources.
const MEDIUM: usize = 100_000;

#[test]
fn many_small_resources_keep_findings_in_proportion() {
    let _alone = alone();
    let directory = directory("costs-small");
    let mut wrong = Vec::new();
    for input in INPUTS.iter().filter(|input| input.name.starts_with("small resources")) {
        let bytes = (input.make)(MEDIUM);
        let file = directory.join(input.file);
        std::fs::write(&file, &bytes).unwrap();
        for format in ["--format=json", "--format=human", "--format=sarif"] {
            let most = BASE + BYTES_A_BYTE * bytes.len();
            let held = held(&["validate", format, file.to_str().unwrap()]);
            if held > most {
                wrong.push(format!(
                    "{format} < {}: held {held}, {most} would be enough",
                    input.name
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn two_route_tables_are_compared_in_proportion() {
    let _alone = alone();
    let directory = directory("costs-diff");
    let make = INPUTS.iter().find(|input| input.name == "routes").unwrap().make;
    let text = String::from_utf8(make(MEDIUM)).unwrap();
    let to = |cluster: &str| {
        text.replace(
            r#""route":{"cluster":"c"}"#,
            &format!(r#""route":{{"cluster":"{cluster}"}}"#),
        )
    };
    let files = ["c", "d"].map(|cluster| {
        let file = directory.join(format!("{cluster}.json"));
        std::fs::write(&file, to(cluster)).unwrap();
        file.to_str().unwrap().to_owned()
    });
    let most = BASE + BYTES_A_BYTE * 2 * text.len();
    for format in ["--format=human", "--format=json"] {
        let held = held(&["diff", format, &files[0], &files[1]]);
        assert!(held <= most, "{format}: held {held}, {most} would be enough");
    }
}

#[test]
fn the_channels_of_a_dump_are_opened_together() {
    let _alone = alone();
    let file = directory("costs-channels").join("x.json");
    let listeners = INPUTS.iter().find(|input| input.name == "listeners").unwrap();
    let [few, many] = [40_000, 120_000].map(|size| {
        std::fs::write(&file, (listeners.make)(size)).unwrap();
        ran(&[
            "test".to_owned(),
            "--init".to_owned(),
            file.to_str().unwrap().to_owned(),
        ])
        .count
    });
    assert!(many < 4 * few, "{few}, of three times as many {many}");
}

#[test]
fn many_rpcs_are_counted_and_not_kept() {
    let _alone = alone();
    let file = directory("costs-count").join("world.json");
    std::fs::write(&file, inputs::small_world()).unwrap();
    for format in ["--format=human", "--format=json"] {
        let [few, many] = [2_000, 8_000].map(|count| {
            let count = format!("--count={count}");
            held(&["pick", format, &count, file.to_str().unwrap()])
        });
        // That is less than a byte for ten RPCs.
        assert!(many < few + 600, "{format}: {few}, of four times as many {many}");
    }
}

#[test]
fn two_million_empty_localities_end_at_the_limit() {
    let _alone = alone();
    let file = directory("costs-localities").join("x.json");
    let head = r#"{"@type":"type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment","cluster_name":"a","endpoints":["#;
    let text = format!("{head}{}{{}}]}}", "{},".repeat(1_999_999));
    std::fs::write(&file, &text).unwrap();
    let ran = ran(&[
        "validate".to_owned(),
        "--format=concise".to_owned(),
        file.to_str().unwrap().to_owned(),
    ]);
    let rules: Vec<&str> = ran.text.lines().filter_map(|line| line.split(' ').nth(2)).collect();
    assert_eq!(
        rules[..2],
        ["eds-without-localities:", "dump-limit-exceeded:"],
        "{}",
        ran.text
    );
    assert!(
        ran.text.contains("`endpoints` has more than 200000 elements"),
        "{}",
        ran.text
    );
    assert!(ran.text.len() < 1_000, "{} bytes", ran.text.len());
    assert!(ran.most < BASE + 10 * text.len(), "held {}", ran.most);
}

#[test]
fn a_line_of_many_resources_is_masked_once() {
    let _alone = alone();
    let file = directory("costs-patch").join("x.json");
    let asked = |count: usize| {
        let route = |i: usize| {
            format!(
                r#"{{"@type":"type.googleapis.com/envoy.config.route.v3.RouteConfiguration","name":"r{i}","virtual_hosts":[{{"name":"v","domains":["*"],"routes":[{{"match":{{"prefix":"/","headers":[{{"name":"X-User","present_match":true}}]}},"route":{{"cluster":"c"}}}}]}}]}}"#
            )
        };
        let routes: Vec<String> = (0..count).map(route).collect();
        std::fs::write(&file, format!("[{}]", routes.join(","))).unwrap();
        let before = ASKED.load(Ordering::Relaxed);
        let ran = ran(&[
            "validate".to_owned(),
            "--no-config".to_owned(),
            "--diff".to_owned(),
            file.to_str().unwrap().to_owned(),
        ]);
        assert_eq!(ran.text.matches(r#""x-user""#).count(), count);
        ASKED.load(Ordering::Relaxed) - before
    };
    let [few, many] = [50, 200].map(asked);
    assert!(many < 6 * few, "{few} bytes in all, of four times as many {many}");
}

/// Makes a suite that is larger by this factor.
type Make = fn(usize) -> serde_json::Value;

/// The random suites whose growth is checked, by the part that grows.
const SUITES: &[(&str, Make)] = &[
    ("steps", |times| suite(60 * times, 1, 0)),
    ("clients", |times| suite(60, 4 * times, 0)),
    ("endpoints", |times| suite(60, 1, 400 * times)),
];

/// Makes a random suite with this many steps, clients and additional endpoints of one cluster.
fn suite(count: usize, clients: usize, endpoints: usize) -> serde_json::Value {
    use serde_json::json;
    let endpoint = |number: usize| {
        let address = format!("10.77.{}.{}", number / 200, 1 + number % 200);
        json!({"endpoint": {"address": {"socket_address": {"address": address, "port_value": 8080}}}})
    };
    let mut endpoints: Vec<serde_json::Value> = (0..endpoints).map(endpoint).collect();
    for host in ["10.6.0.1", "10.6.0.2"] {
        endpoints.push(json!({"endpoint": {"address": {"socket_address": {"address": host, "port_value": 8080}}}}));
    }
    let stock = json!({
        "@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",
        "cluster_name": "stock",
        "endpoints": [{"locality": {"region": "eu", "zone": "a"}, "load_balancing_weight": 1, "lb_endpoints": endpoints}],
    });
    let world = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/suites/world/shop.yaml");
    let names = (0..clients).map(|number| (format!("c{number}"), serde_json::Value::Null));
    let mut all = vec![json!({"update": [stock]})];
    // The suite must not name an endpoint that has gone.
    let stays = |step: &serde_json::Value| !(step["remove"].is_string() || step["scale"].is_object());
    all.extend(steps::steps(7, count).into_iter().filter(stays));
    json!({
        "world": world,
        "target": "xds:///shop",
        "clients": names.collect::<serde_json::Map<_, _>>(),
        "never": {"status": "DATA_LOSS"},
        "steps": all,
    })
}

#[test]
fn work_grows_with_a_suite() {
    let _alone = alone();
    let file = directory("costs-suites").join("suite.json");
    let worlds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/suites/world");
    let mut wrong = Vec::new();
    for (what, make) in SUITES {
        let [(few, held), (many, most)] = [1, 2].map(|times| {
            std::fs::write(&file, make(times).to_string()).unwrap();
            let ran =
                ran(&["test", "--allow-read", worlds.to_str().unwrap(), file.to_str().unwrap()].map(str::to_owned));
            assert_eq!(ran.exit, ExitCode::SUCCESS, "{what}: {}", ran.text);
            (ran.count, ran.most)
        });
        // Twice the size may take twice the work, and a little more for random differences.
        for (kind, less, more, base) in [("allocations", few, many, 4_000), ("bytes", held, most, 1 << 20)] {
            if more > 3 * less + base {
                wrong.push(format!("{what}: {kind} from {less} to {more}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
