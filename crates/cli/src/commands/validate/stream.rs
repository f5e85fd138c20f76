//! `validate --format jsonl`: reads one snapshot per line and writes one verdict per line, for a
//! control plane that asks before it sends a snapshot.
//!
//! Each line is a document and a world of its own. Its verdict is written and flushed before the
//! next line is read, so that the writer of a line can wait for the answer. A document that is
//! printed over several lines is read to its last bracket ([`printed`]). A file in YAML, text
//! format or binary is read as a whole. A running system counts as one line; with `--watch`, each
//! version is a line.

mod printed;

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use super::ValidatePlan;
use crate::args::ReportFormat;
use crate::io::input::InputPlan;
use crate::io::reach::AllowedDirectories;
use crate::io::{files, input, live, outputs, own_output};
use crate::{EXIT_TROUBLE, Error, Io};
use xdsctl_document::source::{MAX_STREAM_BYTES, SourceMap};
use xdsctl_report::findings::Shown;
use xdsctl_report::findings::resolve::Fixable;
use xdsctl_report::findings::verdict::{SnapshotPlace, SnapshotVerdict};

/// Answers every line, and every version of a running system.
pub(super) struct LineStream<'s>(pub &'s ValidatePlan<'s>);

impl LineStream<'_> {
    /// Answers every line of every input, in `file` or on standard output. Returns the worst of
    /// their exit codes.
    pub(super) fn run(&self, file: Option<&Path>, io: &mut Io<'_>) -> Result<u8, Error> {
        if self.0.args.write_baseline.is_some() {
            let why = "a baseline is written for documents, and not for the lines of a stream";
            return Err(Error::Usage(format!("--write-baseline: {why}")));
        }
        if let Some(bootstrap) = &self.0.args.input.bootstrap {
            // A missing bootstrap is an error even for a stream without lines.
            File::open(bootstrap).map_err(|error| input::cannot_read(bootstrap, error))?;
        }
        let inputs = self.files(io)?;
        if let Some(file) = file {
            // Otherwise each answer would be read as a line.
            outputs::refuse_any(file, inputs.iter().map(PathBuf::as_path))?;
        }
        let mut out: Box<dyn Write + '_> = match file {
            Some(file) => self.0.style.create(file, ReportFormat::Jsonl)?,
            None => Box::new(&mut io.out),
        };
        // The worst exit code of the documents so far; `None` before the first.
        let mut code = None;
        for path in &inputs {
            if let Some(address) = path.to_str().filter(|text| live::is_address(text)) {
                let (bytes, notes) = live::read(address, &InputPlan::of(&self.0.args.input, &self.0.config)?)?;
                for note in notes {
                    say!(io.err, "xdsctl: {note}")?;
                }
                code = code.max(Some(self.version(address, bytes, 1, &mut out)?));
                continue;
            }
            if path.as_os_str() == "-" {
                let name = self.0.args.input.stdin_filename.as_deref().unwrap_or("-");
                let mut lines = BufReader::new(&mut io.input);
                code = code.max(self.lines(name, &mut lines, &mut out)?);
                continue;
            }
            let opened = File::open(path).map_err(|error| input::cannot_read(path, error))?;
            let name = path.display().to_string();
            code = code.max(self.lines(&name, &mut BufReader::new(opened), &mut out)?);
        }
        drop(out);
        code.ok_or_else(|| Error::Nothing("there is no snapshot in the input".to_owned()))
    }

    /// Returns the files whose lines are answered, including `-`, without answers of an earlier
    /// run.
    fn files(&self, io: &mut Io<'_>) -> Result<Vec<PathBuf>, Error> {
        let own = self.0.own_output();
        let input = &self.0.args.input;
        let reach = AllowedDirectories::of(input.config.allow_read.iter().chain(&input.files));
        let mut passed_over = Vec::new();
        let mut files = Vec::new();
        for path in &self.0.args.input.files {
            if path.as_os_str() == "-" || path.to_str().is_some_and(live::is_address) {
                files.push(path.clone());
                continue;
            }
            let found = files::find(path, &reach);
            if let Some((path, error)) = found.failures.into_iter().next() {
                return Err(input::cannot_read(&path, error));
            }
            for file in found.files {
                let mut head = Vec::new();
                if found.is_directory {
                    let opened = File::open(&file).map_err(|error| input::cannot_read(&file, error))?;
                    let read = opened.take(own_output::HEAD as u64).read_to_end(&mut head);
                    read.map_err(|error| input::cannot_read(&file, error))?;
                }
                if found.is_directory && own.is_report(&file, &head) && is_report_to_its_end(&file)? {
                    passed_over.push(file.display().to_string());
                } else {
                    files.push(file);
                }
            }
        }
        own.tell(passed_over.iter().map(String::as_str), io)?;
        Ok(files)
    }

    /// Answers every line, and every document that is printed over several. Returns the worst of
    /// their exit codes; `None` without a document.
    fn lines(&self, name: &str, lines: &mut dyn BufRead, out: &mut dyn Write) -> Result<Option<u8>, Error> {
        let mut code = None;
        let mut at = SnapshotPlace::default();
        let is_whole = has_no_lines(Path::new(name));
        loop {
            let mut bytes = Vec::new();
            let most = MAX_STREAM_BYTES + 1;
            let mut limited = Read::take(&mut *lines, most);
            let read = match is_whole {
                true => limited.read_to_end(&mut bytes),
                false => printed::read(&mut limited, &mut bytes),
            };
            let read = read.map_err(|error| input::cannot_read(Path::new(name), error))?;
            if read == 0 {
                return Ok(code);
            }
            at.number = at.lines + 1;
            if bytes.len() as u64 > MAX_STREAM_BYTES {
                let line = at.number;
                return Err(Error::Usage(format!(
                    "what begins at line {line} of `{name}` has more than {MAX_STREAM_BYTES} bytes"
                )));
            }
            let length = bytes.len();
            if bytes.last() == Some(&b'\n') && !is_whole {
                bytes.pop();
            }
            code = code.max(Some(self.answer(name, bytes, at, out)?));
            (at.lines, at.bytes) = (at.lines + read, at.bytes + length);
        }
    }

    /// Answers version number `number` of a running system, and returns the exit code.
    pub(super) fn version(
        &self,
        address: &str,
        bytes: Vec<u8>,
        number: usize,
        out: &mut dyn Write,
    ) -> Result<u8, Error> {
        let at = SnapshotPlace {
            number,
            ..SnapshotPlace::default()
        };
        self.answer(address, bytes, at, out)
    }

    fn answer(&self, name: &str, bytes: Vec<u8>, at: SnapshotPlace, out: &mut dyn Write) -> Result<u8, Error> {
        let asked = self.0;
        let is_other = !is_json_or_blank(&bytes) && !has_no_lines(Path::new(name));
        let plan = InputPlan::of(&asked.args.input, &asked.config)?;
        let mut inputs = input::of_text(plan, asked.clients.fleet.clone(), name, bytes)?;
        // Progress is not shown for a single line.
        let mut io = Io::piped(std::io::empty(), std::io::sink(), std::io::sink());
        let mut checked = asked.check(&mut inputs, &mut io)?;
        // A line has no file in which it could be fixed.
        let fixable = Fixable::default();
        let options = asked.options(&fixable);
        let error = checked.nothing.as_ref().map(|nothing| match is_other {
            true => format!("{nothing}; a snapshot is JSON, on a line or printed over several"),
            false => nothing.to_string(),
        });
        let is_error = error.is_some();
        let verdict = SnapshotVerdict::new(asked.style.gate, at, error, out);
        let mut verdict = Shown(asked.style.findings.min_severity, verdict);
        let summary = checked.report(&inputs.sources, &options).write(&mut verdict)?;
        Ok(match is_error {
            true => EXIT_TROUBLE,
            false => asked.exit_code(&summary),
        })
    }
}

/// Says whether a file that begins like a report holds no snapshot.
fn is_report_to_its_end(file: &Path) -> Result<bool, Error> {
    let mut sources = SourceMap::new();
    let id = sources
        .add_file(file)
        .map_err(|error| input::cannot_read(file, error))?;
    Ok(sources
        .get(id)
        .is_some_and(|source| own_output::holds_nothing(id, source)))
}

/// Says whether an input with this name has a format in which lines are not documents.
fn has_no_lines(name: &Path) -> bool {
    files::ending(name).is_some_and(|ending| !OF_LINES.contains(&ending))
}

/// The extensions of files whose lines may be documents.
const OF_LINES: [&str; 3] = ["json", "jsonl", "ndjson"];

fn is_json_or_blank(bytes: &[u8]) -> bool {
    matches!(bytes.trim_ascii_start().first(), None | Some(b'{' | b'['))
}
