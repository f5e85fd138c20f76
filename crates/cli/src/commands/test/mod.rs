//! `xdsctl test`: runs suites, and reports what differs from the expectations.

mod draft;
mod update;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::args::{ReportDestination, ReportFormat, TestArgs};
use crate::io::input::cannot_read;
use crate::io::outputs::{formats, write_each};
use crate::io::overwrite::OutputKind;
use crate::io::reach::AllowedDirectories;
use crate::io::{files, progress};
use crate::session::suite;
use crate::{EXIT_TROUBLE, Error, Io};
use xdsctl_document::source::{MAX_STREAM_BYTES, SourceId, SourceMap, Span, read_stream};
use xdsctl_report::findings::human::FindingsStyle;
use xdsctl_report::suite::{
    Counts, Placing, SuiteReport, SuiteStyle, SuitesReport, write_github, write_gitlab, write_human, write_json,
    write_junit, write_markdown, write_sarif,
};
use xdsctl_suite::{Coverage, Played, RunOptions, SCHEMA, Test, TestStop, run as play, run_server};

/// Exit code for expectations that were not met.
pub(super) const EXIT_FAILED: u8 = 1;

pub(super) fn run(args: &TestArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    if args.schema {
        write!(io.out, "{SCHEMA}")?;
        return Ok(0);
    }
    if args.init {
        return draft::init(args, io);
    }
    if args.record {
        return draft::record(args, io);
    }
    let formats = formats(&args.formats, "junit=out.xml")?;
    if args.update {
        update::run(args, io)?;
    }
    let style = SuiteStyle {
        findings: FindingsStyle {
            colour: io.colours(args.color),
            width: io.width,
            ..FindingsStyle::default()
        },
        explains: args.explain,
        is_quiet: args.quiet,
        shows_secrets: args.show_secrets,
    };
    let mut sources = SourceMap::new();
    let opened = open(args, &mut sources, io)?;
    let mut suites = Vec::new();
    let mut coverage = Coverage::default();
    let (mut ran, mut known) = (0, 0);
    // A report must not overwrite an input.
    let mut inputs: Vec<PathBuf> = sources.iter().map(|(_, source)| source.name().into()).collect();
    for id in opened {
        let Some(source) = sources.get(id) else { continue };
        let placing = Placing::new(source, style);
        let mut report = SuiteReport {
            file: source.name().into(),
            faults: Vec::new(),
            tests: Vec::new(),
        };
        match xdsctl_suite::Suite::read(source) {
            Ok(read) => {
                let mut notes = Notes::default();
                for test in &read.tests {
                    inputs.extend(suite::files(test, source.name(), &args.world));
                    let name = name(test, source.name());
                    known += 1;
                    if !is_chosen(args, source.name(), &name) {
                        continue;
                    }
                    ran += 1;
                    let (mut played, unread) = play_test(args, test, source.name(), false, io)?;
                    coverage.add(std::mem::take(&mut played.coverage));
                    notes.take(report.tests.len(), test, &mut played);
                    let mut test = placing.report(name, test.span, played);
                    // This failure comes first, because the others may follow from it.
                    test.failures
                        .splice(0..0, unread.map(|(span, lost)| placing.unread_world(span, lost)));
                    report.tests.push(test);
                }
                for (number, span, note) in notes.of_all() {
                    if let Some(test) = report.tests.get_mut(number) {
                        test.notes.push((placing.place(span), note));
                    }
                }
            }
            Err(faults) => {
                let placed = faults
                    .into_iter()
                    .map(|fault| (placing.place(fault.span), fault.message));
                report.faults.extend(placed);
            }
        }
        if !report.tests.is_empty() || !report.faults.is_empty() {
            suites.push(report);
        }
    }
    let report = SuitesReport {
        suites: &suites,
        coverage: covers(args).then_some(&coverage),
    };
    write(report, &formats, style, &inputs, io)?;
    let counts = Counts::of(&suites);
    if counts.errors > 0 {
        return Ok(EXIT_TROUBLE);
    }
    if ran == 0 {
        return Err(Error::Usage(match &args.run {
            Some(regex) => format!("no test has been run: `--run {regex}` matches none of {known}"),
            None => "no test has been run: there is no suite".to_owned(),
        }));
    }
    let (met, all) = coverage.counts();
    if let Some(least) = args.fail_under.filter(|least| met * 100 < all * usize::from(*least)) {
        let part = xdsctl_model::text::percent(met as u64, all as u64);
        say!(
            io.err,
            "xdsctl: the tests have met {part} of the configuration, less than {least} % (--fail-under)"
        )?;
        return Ok(EXIT_FAILED);
    }
    Ok(if counts.failed > 0 { EXIT_FAILED } else { 0 })
}

/// The notes on the tests of a file, each only once.
#[derive(Default)]
struct Notes {
    said: BTreeSet<(Span, String)>,
    /// For each backend, the first test that has it, and a note if none of the tests with it has
    /// such an endpoint.
    backends: BTreeMap<Span, (usize, Option<String>)>,
}

impl Notes {
    /// Takes the notes of a test. Leaves the test only notes that no earlier test had.
    fn take(&mut self, number: usize, test: &Test, played: &mut Played) {
        played.notes.retain(|note| self.said.insert(note.clone()));
        if played.stop.is_some() {
            return;
        }
        for backend in test.backends.iter().filter(|backend| backend.address.is_some()) {
            let strange = played.unused_backends.iter().find(|(span, _)| *span == backend.span);
            let note = strange.map(|(_, note)| note.clone());
            let (_, known) = self.backends.entry(backend.span).or_insert((number, note.clone()));
            *known = known.take().filter(|_| note.is_some());
        }
    }

    /// Returns the notes that hold for all tests with the same backend: number of the first test,
    /// place and text.
    fn of_all(self) -> impl Iterator<Item = (usize, Span, String)> {
        let backends = self.backends.into_iter();
        backends.filter_map(|(span, (number, note))| Some((number, span, note?)))
    }
}

/// Says whether coverage of the configuration is recorded.
const fn covers(args: &TestArgs) -> bool {
    args.coverage || args.fail_under.is_some()
}

/// Says whether a test is to be run.
fn is_chosen(args: &TestArgs, file: &str, name: &str) -> bool {
    let full = || format!("{file}: {name}");
    args.run.as_ref().is_none_or(|regex| regex.is_match(&full()))
}

/// Returns the name of a test. Without a name, returns that of its file.
fn name(test: &Test, file: &str) -> String {
    if !test.name.is_empty() {
        return test.name.clone();
    }
    let stem = Path::new(file).file_stem().filter(|_| file != "-");
    stem.map_or_else(|| file.to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// Runs a test. If its world cannot be opened, the test ends with that error. For `records` see
/// [`RunOptions`]. The second value is the place that names the world, and what could not be read
/// of it.
fn play_test(
    args: &TestArgs,
    test: &Test,
    file: &str,
    records: bool,
    io: &mut Io<'_>,
) -> Result<(Played, Option<(Span, String)>), Error> {
    let run_options = RunOptions {
        max_events: Some(args.max_events),
        max_rpcs: Some(args.max_rpcs),
        covers: covers(args),
        shows_secrets: args.show_secrets,
        records,
        ..RunOptions::default()
    };
    let from = suite::TestOrigin {
        file,
        world: &args.world,
        reach: &AllowedDirectories::of(&args.allow_read),
        allow_read: &args.allow_read,
        client: args.client,
    };
    let mut notes = Vec::new();
    if let Some(own) = &test.server {
        return match suite::open_server(test, own, from, &mut notes, io) {
            Ok(opened) => {
                let mut played = run_server(own, opened.client, opened.server, run_options);
                notes.append(&mut played.notes);
                Ok((Played { notes, ..played }, opened.unread))
            }
            Err((span, error)) => stopped(span, error, notes),
        };
    }
    let suite::OpenedSessions { sessions, unread } = match suite::open(test, from, &mut notes, io) {
        Ok(opened) => opened,
        Err((span, error)) => return stopped(span, error, notes),
    };
    let most = usize::try_from(args.max_rpcs).unwrap_or(usize::MAX);
    let mut played = progress::during(io, most, &format!("{most} RPCs, the limit"), |progress| {
        play(test, &sessions, run_options, &|rpcs| {
            progress.reach(usize::try_from(rpcs).unwrap_or(usize::MAX))
        })
    });
    notes.append(&mut played.notes);
    played.notes = notes;
    Ok((played, unread))
}

/// Returns the result of a test whose world cannot be opened.
fn stopped(span: Span, error: Error, notes: Vec<(Span, String)>) -> Result<(Played, Option<(Span, String)>), Error> {
    if let Error::Output(error) = error {
        return Err(Error::Output(error));
    }
    let stop = Some(TestStop {
        span,
        why: error.to_string(),
    });
    let played = Played {
        stop,
        notes,
        ..Played::default()
    };
    Ok((played, None))
}

/// Adds the documents that are suites to `sources`.
fn open(args: &TestArgs, sources: &mut SourceMap, io: &mut Io<'_>) -> Result<Vec<SourceId>, Error> {
    let mut opened = Vec::new();
    for path in &args.files {
        if path.as_os_str() == "-" {
            let bytes = read_stream(&mut io.input, MAX_STREAM_BYTES).map_err(|error| cannot_read(path, error))?;
            opened.push(sources.add("-", bytes));
            continue;
        }
        let found = files::find(path, &AllowedDirectories::of(args.allow_read.iter().chain(&args.files)));
        if let Some((path, error)) = found.failures.into_iter().next() {
            return Err(cannot_read(&path, error));
        }
        for file in &found.files {
            let id = sources.add_file(file).map_err(|error| cannot_read(file, error))?;
            let is_suite = || sources.get(id).is_some_and(suite::is_one);
            if !found.is_directory || is_suite() {
                opened.push(id);
            }
        }
    }
    Ok(opened)
}

/// Writes the report in each format.
pub(super) fn write(
    report: SuitesReport<'_>,
    formats: &[ReportDestination],
    style: SuiteStyle,
    inputs: &[PathBuf],
    io: &mut Io<'_>,
) -> Result<(), Error> {
    let paths = &io.paths;
    write_each(
        formats,
        inputs,
        (OutputKind::Report, style.shows_secrets),
        &mut io.out,
        |format, is_file, out| {
            let style = match is_file {
                true => SuiteStyle {
                    findings: FindingsStyle::default(),
                    ..style
                },
                false => style,
            };
            match format {
                ReportFormat::Human | ReportFormat::Concise => write_human(report, style, out),
                ReportFormat::Json | ReportFormat::Jsonl => write_json(report, out),
                ReportFormat::Junit => write_junit(report.suites, paths, out),
                ReportFormat::Sarif => write_sarif(report.suites, paths, out),
                ReportFormat::Github => write_github(report.suites, paths, out),
                ReportFormat::Gitlab => write_gitlab(report.suites, paths, out),
                ReportFormat::Markdown => write_markdown(report.suites, paths, out),
            }
        },
    )
}
