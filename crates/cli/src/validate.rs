//! `xdsctl validate`: inputs to findings to an exit code.

use super::args::{Destination, Level, ReportFormat, Show, ValidateArgs};
use super::input::{self, Inputs};
use super::outputs::{self, Looks, Outputs};
use super::stream::Stream;
use super::{Error, Io, channel};
use crate::report::resolve::{Options, Report};
use crate::report::{Choice, clients, human};
use xdsctl::catalogue;
use xdsctl::check::{self, Outcome};
use xdsctl::choice::{Selector, Severities};
use xdsctl::client::{Checked, Keep};
use xdsctl::diag::Severity;
use xdsctl::envelope::WorldName;
use xdsctl::profile::{Client, Fleet};

/// Exit code for findings at or above `--fail-on`.
pub(super) const EXIT_FINDINGS: u8 = 1;

pub(super) fn run(args: &ValidateArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    if args.quiet {
        // No progress either.
        io.err_is_terminal = false;
    }
    let severities = severities(args)?;
    let fleet = fleet(args)?;
    let looks = looks(args, &fleet, io);
    if let [
        Destination {
            format: ReportFormat::Jsonl,
            file,
        },
    ] = args.formats.as_slice()
    {
        let stream = Stream {
            args,
            severities: &severities,
            fleet: &fleet,
            looks: &looks,
        };
        return stream.run(file.as_deref(), io);
    }
    let mut inputs = input::open_for(&args.input, fleet, io)?;
    let checked = check(args, &mut inputs, io)?;
    let outputs = Outputs::open(&args.formats, &looks, &inputs.sources, io)?;
    let options = options(args, &severities, &inputs.fleet, &looks);
    let summary = outputs.write(Report::new(checked.outcome, &checked.worlds, &inputs.sources, &options))?;
    if let Some(nothing) = checked.nothing {
        io.out.flush()?;
        return Err(nothing);
    }
    let failed = summary.worst.is_some_and(|worst| worst >= args.fail_on.severity());
    inputs.exit_code(if failed { EXIT_FINDINGS } else { 0 }, io)
}

/// How findings are looked up.
pub(super) fn options<'o>(
    args: &ValidateArgs,
    severities: &'o Severities,
    fleet: &'o Fleet,
    looks: &Looks,
) -> Options<'o> {
    let style = looks.style;
    Options {
        severities,
        fleet,
        snippets_from: outputs::has_human(&args.formats).then_some(style.min_severity),
        snippets_per_rule: style.shown_per_rule(),
        snippet_columns: style.snippet_columns(),
        shows_secrets: args.input.show_secrets,
    }
}

/// The clients that are asked: those of `--client`, or the reference.
fn fleet(args: &ValidateArgs) -> Result<Fleet, Error> {
    let Some(list) = &args.client else {
        return Ok(Fleet::default());
    };
    let clients = Client::parse_list(list).map_err(|error| Error::Usage(format!("--client: {error}")))?;
    Ok(Fleet::new(&clients))
}

/// How the report is to look.
fn looks(args: &ValidateArgs, fleet: &Fleet, io: &Io<'_>) -> Looks {
    let from = |severity| args.min_severity.map_or(severity, Level::severity);
    let choice = Choice {
        min_severity: from(Severity::Warning),
        with_folded: args.all,
    };
    Looks {
        choice,
        everything: Choice {
            min_severity: from(Severity::Note),
            with_folded: true,
        },
        style: human::Style {
            colour: io.colours(args.color),
            unicode: true,
            width: io.width,
            is_capped: io.out_is_terminal && !args.all,
            min_severity: choice.min_severity,
            all: args.all,
            is_quiet: args.quiet,
        },
        asked: clients::asked(fleet),
        fail_on: args.fail_on.severity(),
        statistics: args.statistics,
        paths: io.paths.clone(),
        shows_secrets: args.input.show_secrets,
    }
}

fn severities(args: &ValidateArgs) -> Result<Severities, Error> {
    let known: Vec<_> = catalogue::rules().collect();
    let mut severities = Severities::default();
    for (rules, severity) in &args.choice.0 {
        severities.add(Selector::list(rules, &known).map_err(Error::Usage)?, *severity);
    }
    Ok(severities)
}

/// What came out of the inputs.
pub(super) struct Examined {
    pub outcome: Outcome,
    pub worlds: Vec<WorldName>,
    /// There was nothing that could be checked.
    pub nothing: Option<Error>,
}

/// Checks everything.
///
/// # Errors
/// A target that is none.
pub(super) fn check(args: &ValidateArgs, inputs: &mut Inputs, io: &mut Io<'_>) -> Result<Examined, Error> {
    let target = match &args.target {
        Some(uri) => {
            let bootstrap = inputs.bootstrap.clone().unwrap_or_default();
            Some(channel::read_target(uri, args.authority.as_deref(), &bootstrap)?)
        }
        None => None,
    };
    let keep = match args.show.contains(&Show::Parsed) {
        true => Keep::Parsed,
        false => Keep::Findings,
    };
    let mut settled = inputs.settle(keep, args.input.merge, io);
    let has_bootstrap = !settled.bootstraps.is_empty() || inputs.documents.is_empty();
    let has_input = settled.resources.iter().any(Checked::is_checked) || has_bootstrap;
    let worlds = std::mem::take(&mut settled.names);
    let nothing = "no resource that a gRPC client asks for and no bootstrap in the input";
    Ok(Examined {
        outcome: check::check(settled, target.as_ref()),
        worlds,
        nothing: (!has_input).then(|| Error::Nothing(nothing.to_owned())),
    })
}
