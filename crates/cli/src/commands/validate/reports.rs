//! Which reports `validate` writes, how they look, and what fails the run.

use clap::ValueEnum;

use crate::args::{FailOn, Level, ReportDestination, ReportFormat, Show, ValidateArgs};
use crate::config::ProjectConfig;
use crate::io::outputs::ReportStyle;
use crate::{Error, Io};
use xdsctl_model::diag::Severity;
use xdsctl_model::profile::Fleet;
use xdsctl_report::findings::not_checked::Gate;
use xdsctl_report::findings::{clients, human, matrix};

/// The reports that are written, and what fails the run. Flags take precedence over the project,
/// and the project over the defaults.
pub(in crate::commands) struct ReportPlan {
    pub formats: Vec<ReportDestination>,
    pub fail_on: FailOn,
    min_severity: Option<Level>,
}

impl ReportPlan {
    /// Returns the plan of the reports.
    ///
    /// # Errors
    /// The arguments ask for something that none of the reports shows.
    pub(super) fn of(args: &ValidateArgs, config: &ProjectConfig) -> Result<ReportPlan, Error> {
        let of_config = config.format.as_ref().map(|setting| setting.value);
        let formats = match args.formats.as_slice() {
            [] => vec![ReportDestination {
                format: of_config.unwrap_or(ReportFormat::Human),
                file: None,
            }],
            formats => formats.to_vec(),
        };
        refuse_unshown(args, &formats)?;
        Ok(ReportPlan {
            formats,
            fail_on: args
                .fail_on
                .clone()
                .or_else(|| Some(config.fail_on.as_ref()?.value.clone()))
                .unwrap_or_default(),
            min_severity: args
                .min_severity
                .or(config.min_severity.as_ref().map(|setting| setting.value)),
        })
    }

    /// Says whether one of the reports has this format.
    pub(super) fn has(&self, format: ReportFormat) -> bool {
        self.formats.iter().any(|to| to.format == format)
    }

    /// Returns the style of the report.
    pub(super) fn style(&self, args: &ValidateArgs, fleet: &Fleet, io: &Io<'_>) -> ReportStyle {
        // A line of `--explain-error` leads to its finding, however low the severity is.
        let quietest = if args.explain_error.is_some() {
            Severity::Note
        } else {
            Severity::Warning
        };
        let from = |severity| self.min_severity.map_or(severity, Level::severity);
        ReportStyle {
            everything: from(Severity::Note),
            findings: human::FindingsStyle {
                colour: io.colours(args.color),
                width: io.width,
                is_capped: !(args.all || args.all_findings),
                min_severity: from(quietest),
                is_quiet: args.quiet,
                explains_withheld: args.explain_suppressed,
            },
            asked: clients::asked(fleet),
            gate: Gate {
                severity: self.fail_on.level.severity(),
                not_checked: self.fail_on.not_checked,
            },
            statistics: args.statistics,
            matrix: args.matrix.then(|| matrix::MatrixStyle {
                fleet: fleet.clone(),
                unicode: io.is_utf8_terminal,
                width: io.width,
                is_capped: io.out_is_terminal && !args.all,
                is_quiet: args.quiet,
            }),
            paths: io.paths.clone(),
            shows_secrets: args.input.show_secrets,
        }
    }
}

/// Refuses arguments that ask for something that none of the reports shows.
fn refuse_unshown(args: &ValidateArgs, reports: &[ReportDestination]) -> Result<(), Error> {
    use ReportFormat::{Human, Json};
    if !args.reach.is_empty() && !args.show.contains(&Show::Reached) {
        return Err(Error::Usage("--reach needs `--show reached`".to_owned()));
    }
    let readable: &[ReportFormat] = &[Human, Json];
    let asked = [
        (args.show.contains(&Show::Parsed), "--show parsed", readable),
        (args.show.contains(&Show::Reached), "--show reached", &[Json]),
        (args.explain_suppressed, "--explain-suppressed", readable),
    ];
    for (is_asked, flag, formats) in asked {
        if is_asked && !reports.iter().any(|report| formats.contains(&report.format)) {
            let names = formats.iter().filter_map(ValueEnum::to_possible_value);
            let names: Vec<String> = names.map(|name| format!("`--format {}`", name.get_name())).collect();
            return Err(Error::Usage(format!("{flag} needs {}", names.join(" or "))));
        }
    }
    Ok(())
}
