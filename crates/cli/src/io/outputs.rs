//! Writes the report of `validate` in several formats at once, each to standard output or to a file
//! of its own.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::input::Inputs;
use super::overwrite::{self, OutputKind};
use super::reach::canonical;
use crate::args::{ReportDestination, ReportFormat};
use crate::{Error, Io};
use xdsctl_document::source::SourceId;
use xdsctl_model::diag::Severity;
use xdsctl_report::edge::Edge;
use xdsctl_report::findings::not_checked::Gate;
use xdsctl_report::findings::resolve::ResolvedFindings;
use xdsctl_report::findings::{
    Finding, NotShown, ReportWriter, ResourceReport, Shown, Summary, Unplaced, concise, github, gitlab, human, json,
    junit, markdown, matrix, sarif, statistics,
};
use xdsctl_report::paths::PrintedPaths;

/// How reports look.
#[derive(Debug, Clone)]
pub(crate) struct ReportStyle {
    /// The least severity that JSON shows.
    pub everything: Severity,
    /// The style of the report for people on standard output. All formats but JSON show what it
    /// shows.
    pub findings: human::FindingsStyle,
    /// The clients that were asked.
    pub asked: String,
    /// What makes the run fail.
    pub gate: Gate,
    /// Whether formats for people show the number of findings of each rule instead of the findings.
    pub statistics: bool,
    /// The table of resources and clients that the format for people shows instead of findings.
    pub matrix: Option<matrix::MatrixStyle>,
    /// The directories to which the names of files are relative.
    pub paths: PrintedPaths,
    /// Whether secrets are written as they are.
    pub shows_secrets: bool,
}

impl ReportStyle {
    /// Says whether the report for people on standard output ends with a summary.
    pub(crate) fn closes(&self, destinations: &[ReportDestination]) -> bool {
        let is_human = |d: &ReportDestination| d.is_shown_as(ReportFormat::Human);
        destinations.iter().any(is_human) && !self.findings.is_quiet && !self.statistics
    }

    /// Creates a file for a report.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn create<'o>(&self, file: &Path, format: ReportFormat) -> Result<Box<dyn Write + 'o>, Error> {
        overwrite::refuse(file, OutputKind::Report(format))?;
        self.writer(file, false)
    }

    fn writer<'o>(&self, file: &Path, appends: bool) -> Result<Box<dyn Write + 'o>, Error> {
        let opened = match appends {
            true => File::options().append(true).create(true).open(file),
            false => File::create(file),
        };
        let opened = opened.map_err(Error::io("write", file.display()))?;
        let buffered = BufWriter::with_capacity(1 << 16, opened);
        Ok(Box::new(Edge::new(buffered, self.shows_secrets)))
    }
}

/// A report that is being written.
struct Output<'o> {
    format: Box<dyn ReportWriter + 'o>,
    /// The file; `None` for standard output.
    file: Option<PathBuf>,
    /// The error that ended the report. Nothing more is written to it.
    failure: Option<io::Error>,
}

/// The reports that are being written.
pub(crate) struct Outputs<'o> {
    list: Vec<Output<'o>>,
}

impl<'o> Outputs<'o> {
    /// Opens every file.
    ///
    /// # Errors
    /// Two reports have the same place, a file cannot be written, or a file is one of the inputs.
    pub(crate) fn open(
        destinations: &[ReportDestination],
        style: &ReportStyle,
        inputs: &Inputs,
        io: &'o mut Io<'_>,
    ) -> Result<Self, Error> {
        refuse_doubles(destinations, "sarif=out.sarif")?;
        // Check all files before the first is opened, because opening a file empties it.
        for ReportDestination { format, file } in destinations {
            if let Some(file) = file {
                refuse_input(file, inputs)?;
                overwrite::refuse(file, OutputKind::Report(*format))?;
            }
        }
        let mut out = Some(&mut io.out);
        let mut list = Vec::new();
        for destination in destinations {
            let writer: Box<dyn Write + 'o> = match &destination.file {
                Some(file) => style.writer(file, false)?,
                None => match out.take() {
                    Some(out) => Box::new(out),
                    None => continue,
                },
            };
            let summary = match (&io.step_summary, destination.format) {
                (Some(file), ReportFormat::Github) => Some(style.writer(file, true)?),
                _ => None,
            };
            list.push(Output {
                format: form(destination, style, summary, writer)?,
                file: destination.file.clone(),
                failure: None,
            });
        }
        Ok(Outputs { list })
    }

    /// Writes the report in every format. One that cannot be written does not stop the others.
    ///
    /// # Errors
    /// The first error of a report that could not be written.
    pub(crate) fn write(mut self, report: ResolvedFindings<'_>) -> Result<Summary, Error> {
        let summary = report.write(&mut self)?;
        for output in self.list {
            if let Some(error) = output.failure {
                return Err(match output.file {
                    Some(file) => Error::io("write", file.display())(error),
                    None => Error::Output(error),
                });
            }
        }
        Ok(summary)
    }

    /// Performs a step for every report that can still be written.
    fn each(&mut self, mut step: impl FnMut(&mut dyn ReportWriter) -> io::Result<()>) -> io::Result<()> {
        for output in self.list.iter_mut().filter(|output| output.failure.is_none()) {
            output.failure = step(&mut *output.format).err();
        }
        Ok(())
    }
}

/// Acts as one writer that never fails. The error that ends a report is stored with it.
impl ReportWriter for Outputs<'_> {
    fn wants(&mut self, finding: &Unplaced<'_>) -> usize {
        let wanted = self.list.iter_mut().map(|output| output.format.wants(finding));
        wanted.max().unwrap_or_default()
    }

    fn wants_from(&self) -> Severity {
        let each = self.list.iter().map(|output| output.format.wants_from());
        each.min().unwrap_or(Severity::Note)
    }

    fn documents(&mut self, findings: &[Finding], withheld: &[NotShown]) -> io::Result<()> {
        self.each(|format| format.documents(findings, withheld))
    }

    fn resource(&mut self, resource: &ResourceReport) -> io::Result<()> {
        self.each(|format| format.resource(resource))
    }

    fn end(&mut self, summary: &Summary) -> io::Result<()> {
        self.each(|format| format.end(summary))
    }
}

/// Returns the writer for the format of a destination.
fn form<'o>(
    destination: &ReportDestination,
    style: &ReportStyle,
    summary: Option<Box<dyn Write + 'o>>,
    out: Box<dyn Write + 'o>,
) -> Result<Box<dyn ReportWriter + 'o>, Error> {
    let (least, paths) = (style.findings.min_severity, style.paths.clone());
    if let (ReportFormat::Human, Some(style)) = (destination.format, &style.matrix) {
        let style = match destination.file {
            Some(_) => style.for_file(),
            None => style.clone(),
        };
        return Ok(Box::new(matrix::Matrix::new(least, style, out)));
    }
    Ok(match destination.format {
        ReportFormat::Human | ReportFormat::Concise if style.statistics => Box::new(statistics::Statistics {
            least,
            is_quiet: style.findings.is_quiet,
            out,
        }),
        ReportFormat::Human => {
            let style = match destination.file {
                // A file has no colours and no columns.
                Some(_) => human::FindingsStyle {
                    colour: false,
                    width: None,
                    ..style.findings
                },
                None => style.findings,
            };
            Box::new(human::Human::new(style, out))
        }
        ReportFormat::Concise => Box::new(Shown(least, concise::Concise(out))),
        ReportFormat::Jsonl => {
            let message = "`jsonl` answers line by line and goes with no other format";
            return Err(Error::Usage(message.to_owned()));
        }
        ReportFormat::Json => {
            let explains = style.findings.explains_withheld;
            Box::new(json::JsonReport::new(
                style.everything,
                style.asked.clone(),
                explains,
                out,
            ))
        }
        ReportFormat::Sarif => Box::new(Shown(least, sarif::Sarif::new(paths, out))),
        ReportFormat::Junit => Box::new(junit::Junit::new(least, style.gate.severity, paths, out)),
        ReportFormat::Github => Box::new(Shown(least, github::Github::new(paths, summary, out))),
        ReportFormat::Gitlab => Box::new(Shown(least, gitlab::Gitlab::new(paths, out))),
        ReportFormat::Markdown => Box::new(Shown(least, markdown::Markdown::new(paths, out))),
    })
}

/// Refuses two reports with the same place. `example` is a format with a file, for the message.
fn refuse_doubles(destinations: &[ReportDestination], example: &str) -> Result<(), Error> {
    for (number, destination) in destinations.iter().enumerate() {
        let earlier = destinations.get(..number).unwrap_or_default();
        if earlier
            .iter()
            .any(|other| is_same_place(other.file.as_deref(), destination.file.as_deref()))
        {
            return Err(Error::Usage(match &destination.file {
                Some(file) => format!("two formats for the file `{}`", file.display()),
                None => {
                    format!("two formats for standard output: give all but one a file, as in `--format {example}`")
                }
            }));
        }
    }
    Ok(())
}

/// Returns the formats that were asked for, each with a place of its own. Without any, returns the
/// one for people on standard output.
///
/// # Errors
/// Two formats have the same destination.
pub(crate) fn formats(asked: &[ReportDestination], example: &str) -> Result<Vec<ReportDestination>, Error> {
    if asked.is_empty() {
        let (format, file) = (ReportFormat::Human, None);
        return Ok(vec![ReportDestination { format, file }]);
    }
    refuse_doubles(asked, example)?;
    Ok(asked.to_vec())
}

/// Writes an answer in each of its formats. `kind` says what a file of the format may replace.
/// `write` gets the format, and whether it goes to a file, which has no colours and no columns.
///
/// # Errors
/// A file is one of the inputs, is not an earlier report of this kind, or cannot be written.
pub(crate) fn write_each(
    formats: &[ReportDestination],
    inputs: &[PathBuf],
    (kind, shows_secrets): (impl Fn(ReportFormat) -> OutputKind, bool),
    out: &mut dyn Write,
    mut write: impl FnMut(ReportFormat, bool, &mut dyn Write) -> io::Result<()>,
) -> Result<(), Error> {
    for ReportDestination { format, file } in formats {
        if let Some(file) = file {
            refuse_any(file, inputs.iter().map(PathBuf::as_path))?;
            overwrite::refuse(file, kind(*format))?;
        }
    }
    for ReportDestination { format, file } in formats {
        let Some(file) = file else {
            write(*format, false, out)?;
            continue;
        };
        let opened = File::create(file).map_err(Error::io("write", file.display()))?;
        let mut edge = Edge::new(BufWriter::new(opened), shows_secrets);
        let written = write(*format, true, &mut edge).and_then(|()| edge.flush());
        written.map_err(Error::io("write", file.display()))?;
    }
    Ok(())
}

/// Says whether two reports go to one place: standard output, or the same file under any name.
pub(crate) fn is_same_place(one: Option<&Path>, other: Option<&Path>) -> bool {
    match (one, other) {
        (None, None) => true,
        (Some(one), Some(other)) => one == other || is_same_file(one, other) || is_same_name(one, other),
        (Some(_), None) | (None, Some(_)) => false,
    }
}

/// Says whether two paths lead to the same existing file, also by links of either kind.
fn is_same_file(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let number = |path: &Path| path.metadata().map(|data| (data.dev(), data.ino()));
        number(one).is_ok_and(|one| number(other).is_ok_and(|other| one == other))
    }
    #[cfg(not(unix))]
    {
        canonical(one).is_ok_and(|one| canonical(other).is_ok_and(|other| one == other))
    }
}

/// Says whether two paths, also of files that do not exist yet, are the same name in the same
/// directory.
fn is_same_name(one: &Path, other: &Path) -> bool {
    let directory = |path: &Path| match path.parent() {
        Some(parent) if parent != Path::new("") => canonical(parent),
        _ => canonical(Path::new(".")),
    };
    one.file_name() == other.file_name()
        && directory(one).is_ok_and(|one| directory(other).is_ok_and(|other| one == other))
}

/// Refuses a report in the place of an input, which would destroy both. Files that were found and
/// skipped are not inputs.
fn refuse_input(file: &Path, inputs: &Inputs) -> Result<(), Error> {
    let is_input = |id: &SourceId| !inputs.found.contains(id) || inputs.documents.contains(id);
    let names = inputs.sources.iter().filter(|(id, _)| is_input(id));
    refuse_any(file, names.map(|(_, source)| Path::new(source.name())))
}

/// Refuses a file for a report if it is one of these inputs.
///
/// # Errors
/// The file is one of the inputs.
pub(crate) fn refuse_any<'p>(file: &Path, mut inputs: impl Iterator<Item = &'p Path>) -> Result<(), Error> {
    if inputs.any(|input| is_same_file(file, input)) {
        let file = file.display();
        return Err(Error::Usage(format!(
            "`{file}` is an input: give the report another file"
        )));
    }
    Ok(())
}
