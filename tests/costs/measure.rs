//! Measures what the inputs of `inputs.rs` cost each command; each run is a process of its own:
//!
//! ```text
//! cargo run --release --example costs -- [--bytes 9500000] [--input WORDS] [--command WORDS,=COMMAND] [--write DIRECTORY]
//! ```
//!
//! It prints a line for each run beyond the goal of `docs/limits.md`, and a table of the worst run
//! of each command and each input. With `--write` it only writes the inputs into a directory.
//!
//! It works on Linux only: time and memory come from `/proc`.

mod commands;
#[path = "inputs.rs"]
mod inputs;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs};

use commands::{COMMANDS, CONFIGURED, KNOWN, PLAYED, SCRIPTED, TOLD, arguments, other, standard_input};
use inputs::{BASELINES, HOSTILE_SUITES, INPUTS, Input, LOGS, SCRIPTS, SETTINGS};
use xdsctl_cli::Io;
use xdsctl_cli::allocator::Split;

/// The allocator of the command.
#[global_allocator]
static ALLOCATOR: Split = Split;

/// The size in bytes of an input to which the goal applies.
const GOAL_BYTES: f64 = 10e6;
const MOST_SECONDS: f64 = 5.0;
const MOST_MEGABYTES: f64 = 500.0;

/// A run is ended after this time, or beyond this memory.
const PATIENCE: Duration = Duration::from_secs(25);
const PATIENCE_MEGABYTES: u64 = 4000;

/// The number of ticks of `/proc/PID/stat` in a second.
const TICKS: f64 = 100.0;

/// What a run cost.
#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    exit: Option<u8>,
    seconds: f64,
    megabytes: u64,
    /// The bytes written to both streams.
    written: usize,
}

/// Counts the bytes that are written.
struct Counter<'a>(&'a mut usize);

impl Write for Counter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        *self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the seconds of CPU time, of both kinds, that a process has used, and its most megabytes.
fn taken(process: &str) -> Option<(f64, u64)> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().ok()?;
    Some((ticks as f64 / TICKS, kilobytes / 1000))
}

/// Runs the command in this process and prints what it cost.
fn child(args: &[String]) {
    let (mut out, mut err) = (0, 0);
    let (args, input) = standard_input(args);
    let args = std::iter::once("xdsctl".to_owned()).chain(args.iter().cloned());
    let io = Io::piped(input.as_slice(), Counter(&mut out), Counter(&mut err));
    let exit = xdsctl_cli::run(args, io);
    let code = (0..=2).find(|code| ExitCode::from(*code) == exit).unwrap_or(255);
    let (seconds, megabytes) = taken("self").unwrap_or_default();
    println!("{code} {seconds} {megabytes} {}", out + err);
}

fn run(args: &[String]) -> io::Result<Cost> {
    let mut child = Command::new(env::current_exe()?)
        .arg("--child")
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let started = Instant::now();
    let process = child.id().to_string();
    let mut last = (0.0, 0);
    let mut pause = Duration::from_millis(1);
    while child.try_wait()?.is_none() {
        last = taken(&process).unwrap_or(last);
        if last.0 > PATIENCE.as_secs_f64() || started.elapsed() > PATIENCE * 10 || last.1 > PATIENCE_MEGABYTES {
            child.kill()?;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
    let text = io::read_to_string(child.stdout.take().into_iter().next().ok_or(io::ErrorKind::Other)?)?;
    let words: Vec<&str> = text.split_whitespace().collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<f64>().ok());
    Ok(match (number(0), number(1), number(2), number(3)) {
        (Some(exit), Some(seconds), Some(megabytes), Some(written)) => Cost {
            exit: Some(exit as u8),
            seconds,
            megabytes: megabytes as u64,
            written: written as usize,
        },
        _ => Cost {
            seconds: last.0,
            megabytes: last.1,
            ..Cost::default()
        },
    })
}

/// The worst of several runs, and which run it was.
#[derive(Debug, Default)]
struct Worst {
    seconds: (f64, String),
    megabytes: (u64, String),
    runs: usize,
}

impl Worst {
    fn add(&mut self, cost: Cost, of: &str) {
        self.runs += 1;
        if cost.seconds > self.seconds.0 {
            self.seconds = (cost.seconds, of.to_owned());
        }
        if cost.megabytes > self.megabytes.0 {
            self.megabytes = (cost.megabytes, of.to_owned());
        }
    }
}

fn table(title: &str, worst: &BTreeMap<String, Worst>) {
    println!("\n| {title} | runs | most seconds | of | most MB | of |\n|---|---|---|---|---|---|");
    for (name, worst) in worst {
        let ((seconds, one), (megabytes, other)) = (&worst.seconds, &worst.megabytes);
        println!(
            "| {name} | {} | {seconds:.2} | {one} | {megabytes} | {other} |",
            worst.runs
        );
    }
}

struct Wanted {
    bytes: usize,
    input: String,
    command: String,
    write: Option<PathBuf>,
}

fn wanted() -> Option<Wanted> {
    let mut wanted = Wanted {
        bytes: 9_500_000,
        input: String::new(),
        command: String::new(),
        write: None,
    };
    let mut args = env::args().skip(1);
    while let Some(name) = args.next() {
        let value = args.next()?;
        match name.as_str() {
            "--bytes" => wanted.bytes = value.parse().ok()?,
            "--input" => wanted.input = value,
            "--command" => wanted.command = value,
            "--write" => wanted.write = Some(value.into()),
            _ => return None,
        }
    }
    Some(wanted)
}

fn main() -> io::Result<()> {
    let args: Vec<String> = env::args().skip(1).collect();
    if args.first().is_some_and(|first| first == "--child") {
        child(&args[1..]);
        return Ok(());
    }
    let Some(wanted) = wanted() else {
        eprintln!("usage: costs [--bytes NUMBER] [--input WORDS] [--command WORDS] [--write DIRECTORY]");
        std::process::exit(2);
    };
    if let Some(directory) = &wanted.write {
        return write(&wanted, directory);
    }
    let directory = env::temp_dir().join(format!("xdsctl-costs-{}", std::process::id()));
    fs::create_dir_all(&directory)?;
    let world = directory.join("world.json");
    fs::write(&world, inputs::small_world())?;
    let (mut commands, mut of_inputs) = (BTreeMap::new(), BTreeMap::new());
    let documents = INPUTS.iter().map(|input| (input, COMMANDS, None));
    let scripts = SCRIPTS.iter().map(|input| (input, SCRIPTED, Some(&world)));
    let suites = HOSTILE_SUITES.iter().map(|input| (input, PLAYED, None));
    let rejected = directory.join("rejected.json");
    fs::write(&rejected, inputs::rejected_world(10_000))?;
    let settings = SETTINGS.iter().map(|input| (input, CONFIGURED, Some(&rejected)));
    let baselines = BASELINES.iter().map(|input| (input, KNOWN, Some(&rejected)));
    let logs = LOGS.iter().map(|input| (input, TOLD, None));
    let beside = settings.chain(baselines).chain(logs);
    for (input, list, world) in documents.chain(scripts).chain(suites).chain(beside) {
        if !input.name.contains(&wanted.input) {
            continue;
        }
        measure(
            input,
            list,
            world,
            (&wanted, &directory),
            (&mut commands, &mut of_inputs),
        )?;
    }
    table("command", &commands);
    table("input", &of_inputs);
    fs::remove_dir_all(&directory)
}

/// Writes each input into a directory with its name.
fn write(wanted: &Wanted, directory: &Path) -> io::Result<()> {
    let beside = SETTINGS.iter().chain(BASELINES).chain(LOGS);
    for input in INPUTS.iter().chain(SCRIPTS).chain(HOSTILE_SUITES).chain(beside) {
        if input.name.contains(&wanted.input) {
            let directory = directory.join(input.name);
            fs::create_dir_all(&directory)?;
            fs::write(directory.join(input.file), (input.make)(wanted.bytes))?;
        }
    }
    fs::write(directory.join("world.json"), inputs::small_world())
}

fn measure(
    input: &Input,
    list: &[&[&str]],
    world: Option<&PathBuf>,
    (wanted, directory): (&Wanted, &Path),
    (commands, inputs): (&mut BTreeMap<String, Worst>, &mut BTreeMap<String, Worst>),
) -> io::Result<()> {
    let file = directory.join(input.file);
    let bytes = (input.make)(wanted.bytes);
    fs::write(&file, &bytes)?;
    for command in list {
        let words = command.join(" ");
        let is_wanted = |part: &str| {
            part.strip_prefix('=')
                .map_or(words.contains(part), |whole| words == whole)
        };
        if !wanted.command.split(',').any(is_wanted) {
            continue;
        }
        if words.contains("OTHER") {
            fs::write(other(&file), (input.make)(wanted.bytes / 2))?;
        }
        let args = arguments(command, &file, world.map(PathBuf::as_path));
        let cost = run(&args)?;
        // For a smaller input, the goal is smaller in proportion, plus what a process needs at
        // least.
        let part = (wanted.bytes as f64 / GOAL_BYTES).min(1.0);
        let is_beyond = cost.exit.is_none()
            || cost.seconds > MOST_SECONDS * part + 0.05
            || cost.megabytes as f64 > MOST_MEGABYTES * part + 20.0;
        if is_beyond || !wanted.input.is_empty() {
            let exit = cost.exit.map_or("ended".to_owned(), |code| code.to_string());
            println!(
                "{:6.2} s {:5} MB, exit {exit}, wrote {} of {}: {words} < {}",
                cost.seconds,
                cost.megabytes,
                cost.written,
                bytes.len(),
                input.name
            );
            io::stdout().flush()?;
        }
        commands
            .entry(words)
            .or_insert_with(Worst::default)
            .add(cost, input.name);
        inputs
            .entry(input.name.to_owned())
            .or_insert_with(Worst::default)
            .add(cost, &command.join(" "));
    }
    Ok(())
}
