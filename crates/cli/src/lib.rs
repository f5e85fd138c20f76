//! The command line. Turns arguments into a library call, the answer into a report, and the report
//! into an exit code.
//!
//! This is the only crate that touches files, the environment, standard streams and the terminal.
//!
//! Exit codes: 0 clean; 1 findings at or above `--fail-on`, RPCs that fail, or input that could not
//! be read in full; 2 usage, I/O, or nothing that could be checked.
#![cfg_attr(
    not(test),
    deny(
        clippy::dbg_macro,
        clippy::panic,
        clippy::todo,
        clippy::unimplemented,
        clippy::unreachable,
        clippy::unwrap_used
    )
)]
// WebAssembly has no editor and no running systems, so some code is unused there.
#![cfg_attr(target_family = "wasm", allow(dead_code, unused_imports))]

#[macro_use(say)]
extern crate xdsctl_report;

#[cfg(not(target_family = "wasm"))]
pub mod allocator;

mod args;
mod commands;
mod config;
mod fleet;
mod io;
mod session;

use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser as _;

pub use args::{Args, Command, PolicyCommand, command};
#[cfg(not(target_family = "wasm"))]
pub use commands::generate;
pub use io::Io;

use io::outlet::Outlet;

use xdsctl_channel::rpc::TooManyInstructions;
use xdsctl_channel::sim::LimitReached;
use xdsctl_document::source::Span;
use xdsctl_report::edge::{Edge, visible_line};
use xdsctl_report::wrap::Folding;

/// Why a command stops. The message follows `xdsctl: ` on standard error.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The arguments contradict each other or name nothing.
    #[error("{0}")]
    Usage(String),
    /// A file or stream cannot be read or written.
    #[error("cannot {what} `{name}`: {source}")]
    Io {
        /// `read`, `write`.
        what: &'static str,
        /// The file name; `-` for a standard stream.
        name: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// Standard output cannot be written.
    #[error("cannot write the answer: {0}")]
    Output(#[from] std::io::Error),
    /// A fault of a settings file, with its line.
    #[error("{file}:{line}:{column}: {message}")]
    Marked {
        /// The name of the file.
        file: Box<str>,
        /// The line of the fault, from 1.
        line: usize,
        /// The column of the fault in characters, from 1.
        column: usize,
        /// The fault's bytes on its line.
        span: Span,
        /// What is wrong.
        message: String,
        /// The line of the file, as it may be quoted.
        quoted: Box<str>,
        /// How many characters are marked below the line.
        width: usize,
    },
    /// A simulation stopped at one of its limits.
    #[error(transparent)]
    Limit(#[from] LimitReached),
    /// The regexes of routes need too much to be matched.
    #[error(transparent)]
    Effort(#[from] TooManyInstructions),
    /// A running system cannot be reached, or answers with an error.
    #[error("{0}")]
    Live(String),
    /// There is not one resource or bootstrap in all inputs.
    #[error("nothing to check: {0}")]
    Nothing(String),
}

impl Error {
    /// Returns a function that turns the operating system's error for a file or stream into an
    /// [`Error`].
    fn io(what: &'static str, name: impl std::fmt::Display) -> impl Fn(std::io::Error) -> Error {
        let name = name.to_string();
        move |source| Error::Io {
            what,
            name: name.clone(),
            source,
        }
    }
}

/// The exit code for usage errors, I/O errors and nothing to check.
const EXIT_TROUBLE: u8 = 2;

/// Runs xdsctl with `args` (the program's name first) on `io`. What is written to the streams has
/// its secrets masked and its control characters made visible.
pub fn run<I, T>(args: I, mut io: Io<'_>) -> ExitCode
where
    I: IntoIterator<Item = T>,
    T: Into<std::ffi::OsString> + Clone,
{
    let args: Vec<std::ffi::OsString> = args.into_iter().map(Into::into).collect();
    let args = match Args::try_parse_from(&args) {
        Ok(args) => args,
        Err(error) => {
            io.annotates = args::are_for_github(&args);
            return usage(&quoted(error, &args), &mut io);
        }
    };
    let width = io.width.filter(|_| args.is_folded());
    let outlet = Outlet::new(io.out);
    let out: Box<dyn std::io::Write + '_> = match args.is_protocol() {
        true => Box::new(outlet),
        false => Box::new(Edge::new(outlet, args.shows_secrets() || args.prints_dump())),
    };
    let err = Edge::new(io.err, args.shows_secrets());
    let mut io = Io {
        out: match width {
            Some(width) => Box::new(Folding::new(out, Some(width), None)),
            None => out,
        },
        err: match width.filter(|_| io.err_is_terminal) {
            Some(width) => Box::new(Folding::new(err, Some(width), None)),
            None => Box::new(err),
        },
        annotates: args.is_for_github(),
        ..io
    };
    let outcome = commands::run(&args.command, &mut io);
    let outcome = outcome.and_then(|code| {
        io.out.flush()?;
        Ok(io.exit_code(code))
    });
    if let Err(error) = &outcome {
        io.annotate(error);
        let _ = io.out.flush();
    }
    end(outcome, &mut io.err)
}

/// Returns the exit code of a command, and prints why it stopped.
fn end(outcome: Result<u8, Error>, err: &mut dyn std::io::Write) -> ExitCode {
    match outcome {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            // If standard error is closed, nobody can be told.
            let _ = tell(&error, err);
            ExitCode::from(EXIT_TROUBLE)
        }
    }
}

fn tell(error: &Error, err: &mut dyn std::io::Write) -> std::io::Result<()> {
    say!(err, "xdsctl: {error}")?;
    if let Error::Marked {
        quoted, column, width, ..
    } = error
    {
        say!(err, "  | {quoted}")?;
        say!(err, "  | {}{}", " ".repeat(column - 1), "^".repeat(*width))?;
    }
    err.flush()
}

/// Returns the error for the same arguments, each made safe for one line. clap quotes arguments
/// without control characters, but with line ends.
fn quoted(error: clap::Error, args: &[std::ffi::OsString]) -> clap::Error {
    let args = args.iter().map(|arg| visible_line(&arg.to_string_lossy()).into_owned());
    let again = Args::try_parse_from(args).err();
    again.filter(|again| again.kind() == error.kind()).unwrap_or(error)
}

/// Prints clap's help, version or usage error.
fn usage(error: &clap::Error, io: &mut Io<'_>) -> ExitCode {
    let text = error.render();
    let mut err = Edge::new(&mut io.err, false);
    if error.use_stderr() {
        let _ = write!(err, "{text}").and_then(|()| err.flush());
        let text = text.to_string();
        let first = text.lines().next().unwrap_or_default();
        drop(err);
        io.annotate(&first.trim_start_matches("error: "));
        return ExitCode::from(EXIT_TROUBLE);
    }
    let mut out = Edge::new(Outlet::new(&mut io.out), false);
    let written = write!(out, "{text}").and_then(|()| out.flush());
    end(written.map(|()| 0).map_err(Error::from), &mut err)
}
