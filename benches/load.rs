//! Measures how fast and in how much memory `xdsctl validate` and related commands read a dump,
//! compared with other tools on the same bytes in the same run.
//!
//! Run it with `cargo bench --bench load`. It first writes the dumps to the directory for temporary
//! files. Every time is the best of several runs. xdsctl, jq and Python run as processes,
//! serde_json and prost-reflect in this one. jq is used if it is installed; Python needs `protobuf`
//! and `xds-protos`, in the interpreter that XDSCTL_BENCH_PYTHON names.

#[path = "support/cpu.rs"]
mod cpu;
#[path = "support/dump.rs"]
mod dump;
#[path = "support/time.rs"]
mod time;

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cpu::ended_cpu;
use dump::Kind;
use prost_reflect::{DescriptorPool, DynamicMessage};
use serde::de::IgnoredAny;
use time::{RUNS, best};

const XDSCTL: &str = env!("CARGO_BIN_EXE_xdsctl");

/// The number of runs of a process that ends at once.
const SHORT_RUNS: usize = 60;

const PARSE: &str = "
import json, sys
from google.protobuf import json_format
from envoy.admin.v3 import config_dump_pb2
import envoy.config.cluster.v3.cluster_pb2, envoy.config.endpoint.v3.endpoint_pb2
import envoy.config.listener.v3.listener_pb2, envoy.config.route.v3.route_pb2
import envoy.admin.v3.config_dump_shared_pb2
import envoy.extensions.filters.network.http_connection_manager.v3.http_connection_manager_pb2
import envoy.extensions.filters.http.fault.v3.fault_pb2, envoy.extensions.filters.http.router.v3.router_pb2
import envoy.extensions.load_balancing_policies.wrr_locality.v3.wrr_locality_pb2
import envoy.extensions.load_balancing_policies.round_robin.v3.round_robin_pb2
json_format.Parse(open(sys.argv[1]).read(), config_dump_pb2.ConfigDump())
";

fn main() {
    // `cargo test --benches` only checks that the bench starts.
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    let directory = std::env::temp_dir().join(format!("xdsctl-bench-{}", std::process::id()));
    fs::create_dir_all(&directory).expect("a directory for the dumps");
    measure(&directory);
    fs::remove_dir_all(&directory).expect("the dumps can be removed");
}

fn measure(directory: &Path) {
    let clean = make(directory, Kind::Clean, 106.0);
    let text = fs::read(&clean).expect("the dump");
    let physical = best(|| {
        serde_json::from_slice::<IgnoredAny>(&text).expect("the dump is JSON");
    });
    row("serde_json IgnoredAny, 106 MB", speed(&clean, physical), "");
    let own = validate(&clean);
    let ratio = |one: Duration, other: Duration| one.as_secs_f64() / other.as_secs_f64();
    let note = format!("{:.2} of IgnoredAny (at least 0.55)", ratio(physical, own.time));
    own_row("validate, 106 MB", &clean, &own, &note, "(at most 32 MB)");

    let one = make(directory, Kind::OneFindingPerEndpoint, 106.0);
    let cost = validate(&one);
    let note = format!("{:.2} x the clean time (at most 2)", ratio(cost.time, own.time));
    own_row("validate, 120,000 findings", &one, &cost, &note, "");
    let realistic = make(directory, Kind::Realistic, 106.0);
    let cost = validate(&realistic);
    own_row("validate, a proxy's dump", &realistic, &cost, "250,000 findings", "");

    let large = make(directory, Kind::Clean, 307.0);
    let cost = validate(&large);
    let per_byte = |cost: &Cost, file: &Path| cost.time.as_secs_f64() / megabytes(file);
    let slower = per_byte(&cost, &large) / per_byte(&own, &clean);
    let note = format!("{slower:.2} x the time per byte (at most 1.10)");
    own_row("validate, 307 MB", &large, &cost, &note, "(at most 48 MB)");

    channels(&clean, &own);
    others(directory, &clean, own.time, &text);
    short(directory);
}

/// Measures commands about one channel: they read all of the dump, and keep what that channel uses.
fn channels(clean: &Path, own: &Cost) {
    let target = "xds:///svc-7.ns-7.svc.cluster.local:8000";
    for arguments in [&["tree"][..], &["route"], &["pick"]] {
        let arguments = [arguments, &["--target", target]].concat();
        let cost = cost(&arguments, clean);
        let slower = cost.time.as_secs_f64() / own.time.as_secs_f64();
        let note = format!("{slower:.2} x the time of validate (at most 2)");
        let name = format!("{}, 106 MB", arguments.first().copied().unwrap_or_default());
        own_row(&name, clean, &cost, &note, "(at most 64 MB)");
    }
}

/// Measures other tools that do a part of the work.
fn others(directory: &Path, clean: &Path, own: Duration, text: &[u8]) {
    let own = megabytes(clean) / own.as_secs_f64();
    let against = |name: &str, file: &Path, time: Duration, least: u32| {
        let other = megabytes(file) / time.as_secs_f64();
        row(
            name,
            speed(file, time),
            &format!("validate is {:.0} x as fast (at least {least})", own / other),
        );
    };
    let pool = DescriptorPool::decode(xdsctl_document::proto::pb::DESCRIPTOR_SET).expect("the descriptor set");
    if let Some(message) = pool.get_message_by_name("envoy.admin.v3.ConfigDump") {
        let start = Instant::now();
        let mut reader = serde_json::Deserializer::from_slice(text);
        DynamicMessage::deserialize(message, &mut reader).expect("every type is known");
        against("prost-reflect DynamicMessage", clean, start.elapsed(), 12);
    }
    // The ratio does not depend on the size of the dump, but the waiting time does.
    let small = make(directory, Kind::Clean, 30.0);
    let mut jq = Command::new("jq");
    jq.arg(".configs|length").arg(&small);
    if let Some(time) = once(&mut jq) {
        against("jq '.configs|length'", &small, time, 20);
    }
    if let Some(interpreter) = std::env::var_os("XDSCTL_BENCH_PYTHON") {
        let mut python = Command::new(interpreter);
        python.arg("-c").arg(PARSE).arg(&small);
        if let Some(time) = once(&mut python) {
            against("Python json_format", &small, time, 60);
        }
    }
}

/// Measures whole processes that have next to nothing to do.
fn short(directory: &Path) {
    let file = directory.join("small.json");
    let mut text = Vec::new();
    dump::write_few(&mut text, 4).expect("memory can be written");
    fs::write(&file, &text).expect("the small dump");
    let nothing = best_process(&mut Command::new("/bin/true"), SHORT_RUNS);
    let version = best_process(Command::new(XDSCTL).arg("--version"), SHORT_RUNS);
    let small = best_process(Command::new(XDSCTL).arg("validate").arg(&file), SHORT_RUNS);
    let more = |time: Duration| {
        format!(
            "{:.1} ms more than /bin/true",
            (time.as_secs_f64() - nothing.as_secs_f64()) * 1e3
        )
    };
    row("/bin/true", format!("{:.1} ms", nothing.as_secs_f64() * 1e3), "");
    row("xdsctl --version", more(version), "(at most 3)");
    row(
        &format!("validate, {} kB", text.len() / 1000),
        more(small),
        "(at most 8)",
    );
}

fn make(directory: &Path, kind: Kind, megabytes: f64) -> PathBuf {
    let file = directory.join(format!("{kind:?}-{megabytes}.json"));
    let mut out = BufWriter::new(File::create(&file).expect("a file for the dump"));
    dump::write(&mut out, kind, kind.scale(megabytes)).expect("the dump can be written");
    out.flush().expect("the dump can be written");
    file
}

/// What a command cost.
struct Cost {
    /// The best time.
    time: Duration,
    /// The mean CPU time of a run, all threads together. On a busy machine it tells more than the
    /// time.
    cpu_ms: u64,
    /// The largest heap that was seen, in MB, above the bytes of the file.
    heap: u64,
}

fn validate(file: &Path) -> Cost {
    cost(&["validate"], file)
}

fn cost(arguments: &[&str], file: &Path) -> Cost {
    let before = ended_cpu();
    let time = best_process(Command::new(XDSCTL).args(arguments).arg(file), RUNS);
    let cpu_ms = (ended_cpu() - before) * 10 / RUNS as u64;
    let mut child = Command::new(XDSCTL)
        .args(arguments)
        .arg(file)
        .stdout(Stdio::null())
        .spawn()
        .expect("xdsctl starts");
    let status = format!("/proc/{}/status", child.id());
    let mut largest: u64 = 0;
    while child.try_wait().expect("xdsctl can be waited for").is_none() {
        // This is anonymous memory: the file, the heap and the stacks.
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        largest = largest.max(kilobytes.unwrap_or(0));
        std::thread::sleep(Duration::from_micros(300));
    }
    let file = fs::metadata(file).expect("the dump").len();
    Cost {
        time,
        cpu_ms,
        heap: largest.saturating_sub(file / 1024) / 1024,
    }
}

/// Prints a measurement of xdsctl.
fn own_row(name: &str, file: &Path, cost: &Cost, note: &str, heap_note: &str) {
    row(name, speed(file, cost.time), note);
    row(
        "  CPU, heap",
        format!("{} ms, {} MB", cost.cpu_ms, cost.heap),
        heap_note,
    );
}

fn best_process(command: &mut Command, runs: usize) -> Duration {
    let run = |_| once(command).expect("the program starts");
    (0..runs).map(run).min().unwrap_or_default()
}

/// Measures one run; `None` if there is no such program.
fn once(command: &mut Command) -> Option<Duration> {
    let start = Instant::now();
    command.stdout(Stdio::null()).status().ok()?;
    Some(start.elapsed())
}

#[expect(clippy::cast_precision_loss, reason = "sizes of files")]
fn megabytes(file: &Path) -> f64 {
    fs::metadata(file).expect("the dump").len() as f64 / 1e6
}

fn speed(file: &Path, time: Duration) -> String {
    let size = megabytes(file);
    format!(
        "{:.0} ms, {:.0} MB/s",
        time.as_secs_f64() * 1e3,
        size / time.as_secs_f64()
    )
}

fn row(name: &str, value: String, note: &str) {
    println!("{name:32} {value:>24}  {note}");
}
