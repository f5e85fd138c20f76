//! `xdsctl validate`: inputs to findings to an exit code.

use super::args::{Level, Show, ValidateArgs};
use super::input::{self, Inputs};
use super::outputs::{self, Looks, Outputs};
use super::{Error, Io, channel};
use crate::report::resolve::{Options, Report};
use crate::report::{Choice, clients, human};
use xdsctl::catalogue;
use xdsctl::check::{self, Outcome};
use xdsctl::choice::{Selector, Severities};
use xdsctl::client::target::Target;
use xdsctl::client::{Checked, Keep};
use xdsctl::diag::Severity;
use xdsctl::envelope::WorldName;
use xdsctl::profile::{Client, Fleet};

/// Exit code for findings at or above `--fail-on`.
const EXIT_FINDINGS: u8 = 1;

pub(super) fn run(args: &ValidateArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    let severities = severities(args)?;
    let mut inputs = input::open_for(&args.input, fleet(args)?, io)?;
    let target = match &args.target {
        Some(uri) => {
            let bootstrap = inputs.bootstrap.clone().unwrap_or_default();
            Some(channel::read_target(uri, args.authority.as_deref(), &bootstrap)?)
        }
        None => None,
    };
    let (outcome, worlds, has_input) = check(args, target.as_ref(), &mut inputs, io);
    let looks = looks(args, &inputs.fleet, io);
    let style = looks.style;
    let options = Options {
        severities: &severities,
        fleet: &inputs.fleet,
        snippets_from: outputs::has_human(&args.formats).then_some(style.min_severity),
        snippets_per_rule: style.shown_per_rule(),
        snippet_columns: style.snippet_columns(),
        shows_secrets: args.input.show_secrets,
    };
    let outputs = Outputs::open(&args.formats, &looks, &inputs.sources, io)?;
    let summary = outputs.write(Report::new(outcome, &worlds, &inputs.sources, &options))?;
    if !has_input {
        io.out.flush()?;
        return Err(Error::Nothing(
            "no resource that a gRPC client asks for and no bootstrap in the input".to_owned(),
        ));
    }
    let failed = summary.worst.is_some_and(|worst| worst >= args.fail_on.severity());
    inputs.exit_code(if failed { EXIT_FINDINGS } else { 0 }, io)
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

/// Checks everything; says also whether there was anything that could be checked.
fn check(
    args: &ValidateArgs,
    target: Option<&Target>,
    inputs: &mut Inputs,
    io: &mut Io<'_>,
) -> (Outcome, Vec<WorldName>, bool) {
    let keep = match args.show.contains(&Show::Parsed) {
        true => Keep::Parsed,
        false => Keep::Findings,
    };
    let mut settled = inputs.settle(keep, args.input.merge, io);
    let has_bootstrap = !settled.bootstraps.is_empty() || inputs.documents.is_empty();
    let has_input = settled.resources.iter().any(Checked::is_checked) || has_bootstrap;
    let names = std::mem::take(&mut settled.names);
    (check::check(settled, target), names, has_input)
}
