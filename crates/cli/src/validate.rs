//! `xdsctl validate`: inputs to findings to an exit code.

use super::args::{Format, Show, ValidateArgs};
use super::input::{self, Inputs};
use super::{Error, Io, channel};
use crate::report::resolve::{Options, Report};
use crate::report::{Severities, human, json};
use xdsctl::check::{self, Outcome};
use xdsctl::client::target::Target;
use xdsctl::client::{Checked, Keep};
use xdsctl::diag::Severity;
use xdsctl::envelope::WorldName;

/// Snippets a rule in the human report without `--all`.
const SNIPPETS_PER_RULE: usize = 5;

/// Exit code for findings at or above `--fail-on`.
const EXIT_FINDINGS: u8 = 1;

pub(super) fn run(args: &ValidateArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    let severities = severities(args)?;
    let mut inputs = input::open(&args.input, io)?;
    let target = match &args.target {
        Some(uri) => {
            let bootstrap = inputs.bootstrap.clone().unwrap_or_default();
            Some(channel::read_target(uri, args.authority.as_deref(), &bootstrap)?)
        }
        None => None,
    };
    let (outcome, worlds, has_input) = check(args, target.as_ref(), &mut inputs, io);
    let options = Options {
        severities: &severities,
        snippets_from: match args.format {
            Format::Human => Some(args.min_severity.severity()),
            Format::Json => None,
        },
        snippets_per_rule: if args.all { usize::MAX } else { SNIPPETS_PER_RULE },
        shows_secrets: args.input.show_secrets,
    };
    let report = Report::new(outcome, &worlds, &inputs.sources, &options);
    let summary = match args.format {
        Format::Json => json::write(report, &mut io.out)?,
        Format::Human => {
            let style = human::Style {
                colour: io.colours(args.color),
                unicode: true,
                width: io.width,
                min_severity: args.min_severity.severity(),
                all: args.all,
            };
            human::write(report, style, &mut io.out)?
        }
    };
    if !has_input {
        io.out.flush()?;
        return Err(Error::Nothing(
            "no resource that a gRPC client asks for and no bootstrap in the input".to_owned(),
        ));
    }
    let failed = summary.worst.is_some_and(|worst| worst >= args.fail_on.severity());
    inputs.exit_code(if failed { EXIT_FINDINGS } else { 0 }, io)
}

fn severities(args: &ValidateArgs) -> Result<Severities, Error> {
    let mut severities = Severities::default();
    let choices = [
        (&args.allow, None),
        (&args.warn, Some(Severity::Warning)),
        (&args.deny, Some(Severity::Error)),
    ];
    for (selectors, severity) in choices {
        for selector in selectors {
            severities.add(selector, severity).map_err(Error::Usage)?;
        }
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
