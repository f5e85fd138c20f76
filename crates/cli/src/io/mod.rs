//! The outside world as a command sees it. Tests pass buffers instead.

pub mod edit;
pub mod files;
pub mod follow;
pub mod input;
pub mod live;
pub mod outlet;
pub mod outputs;
pub mod overwrite;
pub mod own_output;
pub mod progress;
pub mod reach;
pub mod revision;
#[cfg(feature = "net")]
pub mod stamps;
pub mod unread;
pub mod worlds;

use std::fmt;
use std::io::{self, IsTerminal, Read, Write};
use std::path::PathBuf;

use xdsctl_report::findings::github;
use xdsctl_report::paths::PrintedPaths;

/// The streams of a command, and facts about the terminal.
pub struct Io<'a> {
    /// Standard input, for `-`.
    pub input: Box<dyn Read + Send + 'a>,
    /// Standard output, for the answer and nothing else.
    pub out: Box<dyn Write + 'a>,
    /// Standard error, for progress, hints and errors.
    pub err: Box<dyn Write + Send + 'a>,
    /// Whether standard input is a terminal.
    pub in_is_terminal: bool,
    /// Whether standard output is a terminal.
    pub out_is_terminal: bool,
    /// Whether standard error is a terminal.
    pub err_is_terminal: bool,
    /// The environment's rules on colour.
    pub colour: ColourEnv,
    /// Whether standard output is a terminal with UTF-8, according to the locale.
    pub is_utf8_terminal: bool,
    /// The columns of the terminal. `None` if there is no terminal; then nothing is wrapped.
    pub width: Option<usize>,
    /// The file in which a job of GitHub Actions collects the text of its page.
    pub step_summary: Option<PathBuf>,
    /// The directories to which the names of files are relative.
    pub paths: PrintedPaths,
    /// Whether the process ends with the command.
    pub ends_process: bool,
    /// Whether some of the input could not be read.
    pub is_incomplete: bool,
    /// Whether GitHub reads standard output. Then errors that stop a run are written there, too.
    pub annotates: bool,
    /// Remarks that are collected instead of written, because a caller has another place for them.
    pub(crate) kept: Option<Vec<Remark>>,
}

/// A line about what was read, apart from the answer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Remark {
    /// A remark that people should see.
    Note(String),
    /// Something that could not be read.
    Unread(String),
    /// The answer is based on incomplete input.
    Incomplete(String),
    /// Another line.
    Line(String),
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Remark::Note(text) => write!(f, "note: {text}"),
            Remark::Unread(text) | Remark::Incomplete(text) => write!(f, "{WARNING}{text}"),
            Remark::Line(text) => f.write_str(text),
        }
    }
}

/// The beginning of lines about input that is lost.
pub(crate) const WARNING: &str = "warning: ";

/// The exit code for an answer that is based on input that could not be read in full.
const EXIT_INCOMPLETE: u8 = 1;

/// The environment variables that decide about colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ColourEnv {
    /// Whether `NO_COLOR` is set and not empty.
    pub no_color: bool,
    /// Whether `FORCE_COLOR` or `CLICOLOR_FORCE` is set, not empty and not `0`.
    pub force_color: bool,
    /// Whether `TERM` is `dumb`.
    pub dumb: bool,
}

/// The columns for trees where there is no terminal, or one that does not tell its width.
pub const DEFAULT_WIDTH: usize = 100;

/// The range of columns that is accepted. Other widths are moved to its ends.
const WIDTHS: std::ops::RangeInclusive<usize> = 40..=400;

impl<'a> Io<'a> {
    /// Returns streams without a terminal, in an empty environment.
    pub fn piped(input: impl Read + Send + 'a, out: impl Write + 'a, err: impl Write + Send + 'a) -> Self {
        Io {
            input: Box::new(input),
            out: Box::new(out),
            err: Box::new(err),
            in_is_terminal: false,
            out_is_terminal: false,
            err_is_terminal: false,
            colour: ColourEnv::default(),
            width: None,
            is_utf8_terminal: false,
            step_summary: None,
            paths: PrintedPaths::default(),
            ends_process: false,
            is_incomplete: false,
            annotates: false,
            kept: None,
        }
    }
}

impl Io<'static> {
    /// Returns streams without input and output, for repeated work of which only the result counts.
    #[cfg(feature = "net")]
    pub(crate) fn silent(paths: PrintedPaths) -> Self {
        Io {
            paths,
            ..Io::piped(io::empty(), io::sink(), io::sink())
        }
    }

    /// Returns the real streams and environment.
    pub fn real() -> Self {
        let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty());
        let forced = |name: &str| set(name).is_some_and(|v| v != "0");
        let out = io::BufWriter::with_capacity(1 << 16, io::stdout());
        Io {
            in_is_terminal: io::stdin().is_terminal(),
            out_is_terminal: io::stdout().is_terminal(),
            err_is_terminal: io::stderr().is_terminal(),
            colour: ColourEnv {
                no_color: set("NO_COLOR").is_some(),
                force_color: forced("FORCE_COLOR") || forced("CLICOLOR_FORCE"),
                dumb: set("TERM").is_some_and(|v| v == "dumb"),
            },
            is_utf8_terminal: io::stdout().is_terminal() && is_utf8(set),
            width: set("COLUMNS")
                .and_then(|columns| columns.to_str()?.parse().ok())
                .or_else(columns)
                .map(|columns: usize| columns.clamp(*WIDTHS.start(), *WIDTHS.end())),
            step_summary: set("GITHUB_STEP_SUMMARY").map(PathBuf::from),
            paths: PrintedPaths {
                directory: std::env::current_dir().ok(),
                root: set("GITHUB_WORKSPACE")
                    .or_else(|| set("CI_PROJECT_DIR"))
                    .map(PathBuf::from),
            },
            ends_process: true,
            ..Io::piped(io::stdin(), out, io::stderr())
        }
    }
}

/// Says whether the locale uses UTF-8. The first of its variables that is set decides.
fn is_utf8(set: impl Fn(&str) -> Option<std::ffi::OsString>) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
    let locale = locale.map(|locale| locale.to_string_lossy().to_ascii_lowercase());
    locale.is_some_and(|locale| locale.contains("utf-8") || locale.contains("utf8"))
}

/// Returns the columns of the terminal, if standard output is one.
#[cfg(not(target_family = "wasm"))]
fn columns() -> Option<usize> {
    if !io::stdout().is_terminal() {
        return None;
    }
    let (columns, _) = terminal_size::terminal_size_of(io::stdout())?;
    // Some terminals do not know their width. Do not wrap then, because wrapped text cannot be
    // copied.
    (columns.0 > 0).then(|| usize::from(columns.0))
}

/// WebAssembly has no terminal.
#[cfg(target_family = "wasm")]
fn columns() -> Option<usize> {
    None
}

/// Whether the answer has ANSI colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ColourChoice {
    /// On a terminal that can, unless NO_COLOR says otherwise.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Io<'_> {
    /// Writes a remark to standard error, or collects it.
    pub(crate) fn remark(&mut self, remark: Remark) -> io::Result<()> {
        match &mut self.kept {
            Some(kept) => kept.push(remark),
            None => say!(self.err, "{remark}")?,
        }
        Ok(())
    }

    /// Does some work, and returns its remarks with its result instead of writing them.
    pub(crate) fn keep_remarks<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> (T, Vec<Remark>) {
        let outer = self.kept.replace(Vec::new());
        let made = work(self);
        (made, std::mem::replace(&mut self.kept, outer).unwrap_or_default())
    }

    /// Returns the exit code of a run that would end with `code`. It is 0 only if all of the input
    /// was read.
    pub(crate) fn exit_code(&self, code: u8) -> u8 {
        match self.is_incomplete {
            true => code.max(EXIT_INCOMPLETE),
            false => code,
        }
    }

    /// Tells GitHub why a run fails, if GitHub reads standard output. Otherwise its page shows only
    /// that it failed.
    pub(crate) fn annotate(&mut self, why: &dyn std::fmt::Display) {
        if self.annotates && self.kept.is_none() {
            // If standard output is closed, nobody can be told.
            let _ = github::write_trouble(&why.to_string(), &mut self.out);
        }
    }

    /// Drops a value, unless the process ends with the command. Freeing the memory would then only
    /// cost time: for a large channel, a tenth of the run.
    pub(crate) fn leave<T>(&self, value: T) {
        if self.ends_process {
            std::mem::forget(value);
        }
    }

    /// Decides about colour on standard output: the flag, then the environment, then the terminal.
    pub fn colours(&self, choice: ColourChoice) -> bool {
        match choice {
            ColourChoice::Always => true,
            ColourChoice::Never => false,
            ColourChoice::Auto if self.colour.no_color => false,
            ColourChoice::Auto if self.colour.force_color => true,
            ColourChoice::Auto => self.out_is_terminal && !self.colour.dumb,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn io(terminal: bool, colour: ColourEnv) -> Io<'static> {
        Io {
            out_is_terminal: terminal,
            colour,
            ..Io::piped(io::empty(), io::sink(), io::sink())
        }
    }

    #[test]
    fn flag_beats_environment_beats_terminal() {
        let none = ColourEnv::default();
        let no = ColourEnv { no_color: true, ..none };
        let force = ColourEnv {
            force_color: true,
            ..none
        };
        let dumb = ColourEnv { dumb: true, ..none };
        assert!(io(true, none).colours(ColourChoice::Auto));
        assert!(!io(false, none).colours(ColourChoice::Auto));
        assert!(!io(true, no).colours(ColourChoice::Auto));
        assert!(io(true, no).colours(ColourChoice::Always));
        assert!(io(false, force).colours(ColourChoice::Auto));
        assert!(!io(true, dumb).colours(ColourChoice::Auto));
        assert!(!io(true, none).colours(ColourChoice::Never));
    }
}
