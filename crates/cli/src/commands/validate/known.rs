//! Findings that the project already knows: suppressions in settings and comments, and the
//! baseline.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::args::ValidateArgs;
use crate::config::{IgnoreSetting, ProjectConfig};
use crate::io::outputs::is_same_place;
use crate::io::overwrite::{self, OutputKind};
use crate::{Error, Io};
use xdsctl_document::source::{SourceId, SourceMap, Span};
use xdsctl_lint::choice::{self, Baseline, Date, Severities, Suppression, SuppressionPlace, baseline};
use xdsctl_lint::decide::{self, CheckOutcome, Suppressed, SuppressionInput};
use xdsctl_model::diag::Severity;
use xdsctl_model::text::plural;

/// The suppressions of the project and the baseline, loaded before the inputs are read.
pub struct KnownFindings {
    suppressions: Vec<Suppression>,
    baseline: Option<(Baseline, SourceId)>,
    /// Whether a new baseline will be written.
    is_recorded: bool,
    today: Date,
}

impl KnownFindings {
    /// Reads the suppressions of the project and the baseline.
    ///
    /// # Errors
    /// The baseline cannot be read.
    pub fn open(args: &ValidateArgs, config: &ProjectConfig, sources: &mut SourceMap) -> Result<KnownFindings, Error> {
        let of_project = config.baseline.as_ref().map(|setting| setting.value.clone());
        // The project's baseline need not exist yet if this run writes it.
        let is_recorded = args.write_baseline.is_some();
        if let Some(file) = &args.write_baseline {
            overwrite::refuse(file, OutputKind::Baseline)?;
            if args
                .formats
                .iter()
                .any(|of| of.file.is_some() && is_same_place(of.file.as_deref(), Some(file)))
            {
                let file = file.display();
                return Err(Error::Usage(format!(
                    "`{file}` is a report too: give the baseline another file"
                )));
            }
        }
        let path = args.baseline.clone().or(of_project.filter(|_| !is_recorded));
        let baseline = match path {
            Some(path) => {
                let name = path.display().to_string();
                let text = fs::read(&path).map_err(Error::io("read", &name))?;
                let read = Baseline::read(&text).map_err(|why| Error::Usage(format!("baseline `{name}`: {why}")))?;
                Some((read, sources.add_settings(name, text)))
            }
            None => None,
        };
        Ok(KnownFindings {
            suppressions: of_config(config, sources),
            baseline,
            is_recorded,
            today: args.today.unwrap_or_else(today),
        })
    }

    /// Removes known findings from `outcome`. Findings of severity `from` and above go into a new
    /// baseline.
    pub fn suppress(
        self,
        outcome: &mut CheckOutcome,
        config: &ProjectConfig,
        sources: &SourceMap,
        (from, severities): (Severity, &Severities),
        is_complete: bool,
    ) -> Suppressed {
        let rules: Vec<_> = config.rules().collect();
        let mut suppressions = self.suppressions;
        for (id, source) in sources.iter() {
            let (found, faults) = choice::comments(id, source, &rules);
            suppressions.extend(found);
            outcome.findings.extend(faults);
        }
        let name = |name: &str| match name {
            "-" => name.to_owned(),
            name => config.stable_name(name),
        };
        let names: Vec<String> = sources.iter().map(|(_, source)| name(source.name())).collect();
        let choice = SuppressionInput {
            names: &names,
            suppressions,
            baseline: self.baseline,
            record: self.is_recorded.then_some(from),
            severities,
            today: self.today,
            is_complete,
        };
        decide::suppress(outcome, sources, choice)
    }
}

/// Writes the new baseline, if one is asked for.
///
/// # Errors
/// The file cannot be written.
pub fn write(args: &ValidateArgs, recorded: Vec<baseline::BaselineEntry>, io: &mut Io<'_>) -> Result<(), Error> {
    let Some(path) = &args.write_baseline else {
        return Ok(());
    };
    let count = recorded.len();
    fs::write(path, baseline::write(recorded)).map_err(Error::io("write", path.display()))?;
    say!(io.err, "wrote {} to {}", plural(count, "finding"), path.display())?;
    Ok(())
}

/// Returns the suppressions of the project. The settings file becomes a document, so that findings
/// can point into it.
fn of_config(config: &ProjectConfig, sources: &mut SourceMap) -> Vec<Suppression> {
    let Some(file) = config.file.as_ref().filter(|_| !config.ignores.is_empty()) else {
        return Vec::new();
    };
    let source = sources.add_settings(file.display().to_string(), config.text.clone().into_bytes());
    let suppressions = config.ignores.iter().map(|setting| {
        let IgnoreSetting { ignore, span, .. } = setting.value.clone();
        Suppression {
            ignore,
            written: SuppressionPlace::Config,
            source,
            span: Span::new(span.start, span.end),
        }
    });
    suppressions.collect()
}

fn today() -> Date {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    Date::of_unix_seconds(now.map_or(0, |time| time.as_secs()))
}
