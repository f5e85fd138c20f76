//! `xdsctl simulate`: prints what happens during a test as a timeline.

use crate::args::{SimulateArgs, TimelineFormat};
use crate::io::WARNING;
use crate::io::input;
use crate::io::reach::AllowedDirectories;
use crate::session::words::some;
use crate::session::{millis, suite};
use crate::{EXIT_TROUBLE, Error, Io};
use xdsctl_document::source::{MAX_STREAM_BYTES, Source, SourceMap, read_stream};
use xdsctl_report::suite::timeline::{Layers, Timeline, TimelineStyle};
use xdsctl_suite::{RunOptions, Suite, Test, timeline};

/// The number of lines of a timeline from which a hint says how to get fewer.
const MANY_LINES: usize = 200;

pub(super) fn run(args: &SimulateArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    let layers = Layers::parse(&args.only).map_err(Error::Usage)?;
    let mut sources = SourceMap::new();
    let cannot_read = |source| input::cannot_read(&args.file, source);
    let id = if args.file.as_os_str() == "-" {
        let bytes = read_stream(&mut io.input, MAX_STREAM_BYTES).map_err(cannot_read)?;
        sources.add("-", bytes)
    } else {
        sources.add_file(&args.file).map_err(cannot_read)?
    };
    let Some(source) = sources.get(id) else {
        return Ok(EXIT_TROUBLE);
    };
    let read = Suite::read(source).map_err(|faults| {
        let lines: Vec<String> = faults
            .iter()
            .map(|fault| placed(source, fault.span, &fault.message))
            .collect();
        Error::Usage(lines.join("\n"))
    })?;
    let mut test = chosen(args, &read, source)?.clone();
    if test.server.is_some() {
        let why = "the test is of a server, which has no timeline: `xdsctl test` plays it".to_owned();
        return Err(Error::Usage(why));
    }
    if let Some(seed) = args.seed {
        for (number, client) in std::sync::Arc::make_mut(&mut test.clients).iter_mut().enumerate() {
            client.seed = seed.wrapping_add(number as u64);
        }
    }
    let from = suite::TestOrigin {
        file: source.name(),
        world: &args.world,
        reach: &AllowedDirectories::of(&args.allow_read),
        allow_read: &args.allow_read,
        client: args.client,
    };
    let mut notes = Vec::new();
    let suite::OpenedSessions { sessions, unread } = suite::open(&test, from, &mut notes, io)
        .map_err(|(span, error)| Error::Usage(placed(source, span, &error.to_string())))?;
    if let Some((span, lost)) = &unread {
        let line = source.line_column(span.start).line;
        let name = source.name();
        say!(io.err, "{WARNING}{name}:{line}: the world is incomplete: {lost}")?;
    }
    for (span, note) in &notes {
        let line = source.line_column(span.start).line;
        say!(io.err, "note: {}:{line}: {note}", source.name())?;
    }
    let style = TimelineStyle {
        is_json: args.format == TimelineFormat::Jsonl,
        is_svg: args.format == TimelineFormat::Svg,
        shows_secrets: args.show_secrets,
        colour: io.colours(args.color),
        width: io.width,
        has_chart: args.chart,
        layers,
    };
    let run_options = RunOptions {
        max_events: Some(args.max_events),
        max_rpcs: Some(args.max_rpcs),
        shows_secrets: args.show_secrets,
        until: args.until.map(|seconds| millis(seconds).0),
        ..RunOptions::default()
    };
    let mut report = Timeline::begin(&test, source, style, &mut *io.out);
    let played = timeline(&test, &sessions, run_options, &mut report);
    let lines = report.end()?;
    if args.only.is_empty() && lines > MANY_LINES {
        say!(
            io.err,
            "note: {lines} lines, --only step,rpc shows the steps and the RPCs, --only step,channel,priority what leads to them"
        )?;
    }
    match played {
        Ok(()) => Ok(0),
        Err(stop) => Err(Error::Usage(placed(source, stop.span, &stop.why))),
    }
}

fn placed(source: &Source, span: xdsctl_document::source::Span, message: &str) -> String {
    let place = source.line_column(span.start);
    format!("{}:{}:{}: {message}", source.name(), place.line, place.column)
}

/// Returns the only test, or the only one that `--run` matches.
fn chosen<'s>(args: &SimulateArgs, suite: &'s Suite, source: &Source) -> Result<&'s Test, Error> {
    let is_meant = |test: &&Test| args.run.as_ref().is_none_or(|regex| regex.is_match(&test.name));
    let mut meant = suite.tests.iter().filter(&is_meant);
    match (meant.next(), meant.next()) {
        (Some(test), None) => Ok(test),
        (first, _) => {
            let (what, names) = match first {
                Some(_) => (
                    "several tests",
                    suite.tests.iter().filter(&is_meant).collect::<Vec<_>>(),
                ),
                None => ("no test", suite.tests.iter().collect()),
            };
            let names = names
                .iter()
                .map(|test| test.name.as_str())
                .filter(|name| !name.is_empty());
            let which = match some(names) {
                list if !list.is_empty() => format!(", choose one with --run: {list}"),
                _ if suite.tests.is_empty() => String::new(),
                _ => ", the only one has no name: leave --run out".to_owned(),
            };
            let name = source.name();
            Err(Error::Usage(format!("{name}: {what} to simulate{which}")))
        }
    }
}
