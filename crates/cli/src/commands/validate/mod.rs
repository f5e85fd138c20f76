//! `xdsctl validate`: reads inputs, reports findings, and derives an exit code.

mod explain_error;
mod fix;
mod known;
mod reports;
mod stream;
mod watch;

use std::path::Path;
use std::sync::Arc;

use crate::args::{ReportDestination, ReportFormat, Show, ValidateArgs};
use crate::config::{ProjectConfig, Setting};
use crate::fleet::{self, AskedClients};
use crate::io::input::{self, Inputs};
use crate::io::live;
use crate::io::outputs::{Outputs, ReportStyle};
use crate::io::own_output::OwnOutput;
use crate::io::reach::AllowedDirectories;
use crate::{EXIT_TROUBLE, Error, Io, session};
use explain_error::RecognisedLine;
use fix::Fixes;
use known::KnownFindings;
use reports::ReportPlan;
use stream::LineStream;
use xdsctl_channel::client::server::ListeningServer;
use xdsctl_channel::client::{Checked, Keep, Verdict};
use xdsctl_document::envelope::{BootstrapPlace, EMPTY_RESPONSE, WorldName};
use xdsctl_document::source::{SourceId, SourceMap};
use xdsctl_lint::choice::{RuleSelector, Severities};
use xdsctl_lint::decide::{self, CheckOutcome, InputScope, Suppressed};
use xdsctl_model::profile::{Client, Doubt, Fleet};
use xdsctl_policy::PolicyInput;
use xdsctl_report::findings::not_checked;
use xdsctl_report::findings::reached::Reached;
use xdsctl_report::findings::resolve::{Fixable, ResolveOptions, ResolvedFindings};
use xdsctl_report::findings::{ReportScope, Summary, silenced};

/// Exit code for findings at or above `--fail-on`.
pub(super) const EXIT_FINDINGS: u8 = 1;

pub(super) fn run(args: &ValidateArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    if args.quiet {
        // `--quiet` turns off the progress bar, too.
        io.err_is_terminal = false;
    }
    let mut asked = ValidatePlan::of(args, io)?;
    if args.watch {
        return super::validate::watch::run(&asked, io);
    }
    if args.fix && !args.diff {
        asked.refuse_streams()?;
    }
    if let Some(file) = asked.is_by_line() {
        return LineStream(&asked).run(file, io);
    }
    let mut inputs = input::open_for(&args.input, &asked.config, asked.clients.fleet.clone(), io)?;
    asked.ask_senders(&mut inputs, io)?;
    asked.own_output().leave_out(&mut inputs, io)?;
    let given = inputs.sources.count();
    let checked = asked.check(&mut inputs, io)?;
    if args.fix || args.diff {
        return asked.fix(&checked, inputs, given, io);
    }
    asked.write_report(checked, &inputs, io)
}

/// The plan of a run: what the flags and the project ask of every input.
pub(super) struct ValidatePlan<'a> {
    pub args: &'a ValidateArgs,
    pub config: ProjectConfig,
    pub reports: ReportPlan,
    /// Whether the input is complete.
    is_complete: bool,
    pub severities: Severities,
    pub clients: AskedClients,
    /// The clients whose findings can fail the run; empty for all.
    counted: Vec<Client>,
    pub style: ReportStyle,
}

impl<'a> ValidatePlan<'a> {
    fn of(args: &'a ValidateArgs, io: &mut Io<'_>) -> Result<ValidatePlan<'a>, Error> {
        let config = ProjectConfig::of(&args.input.config, io)?;
        ValidatePlan::of_project(args, config, io)
    }

    /// Makes the plan for a project whose settings are known.
    ///
    /// # Errors
    /// The arguments or settings are not valid.
    pub(super) fn of_project(
        args: &'a ValidateArgs,
        config: ProjectConfig,
        io: &mut Io<'_>,
    ) -> Result<ValidatePlan<'a>, Error> {
        let reports = ReportPlan::of(args, &config)?;
        let is_for_github = |to: &ReportDestination| to.is_shown_as(ReportFormat::Github);
        io.annotates |= reports.formats.iter().any(is_for_github);
        // `--matrix` without a client shows the current version of each client.
        let otherwise = match args.matrix {
            true => Client::current(),
            false => vec![Client::REFERENCE],
        };
        let mut clients = fleet::asked(&args.clients, &config, otherwise, io)?;
        clients.is_default &= !args.matrix;
        let counted = reports.fail_on.counted(&clients.fleet);
        let counted = counted.map_err(|why| Error::Usage(format!("--fail-on: {why}")))?;
        Ok(ValidatePlan {
            args,
            severities: severities(args, &config)?,
            is_complete: args.complete || config.complete.as_ref().is_some_and(|setting| setting.value),
            style: reports.style(args, &clients.fleet, io),
            config,
            reports,
            clients,
            counted,
        })
    }

    /// Asks the clients that sent the inputs, if neither arguments nor the project name clients.
    pub(super) fn ask_senders(&mut self, inputs: &mut Inputs, io: &Io<'_>) -> Result<(), Error> {
        let senders = self.clients.is_default.then(|| fleet::senders(inputs)).flatten();
        let Some(senders) = senders else {
            return Ok(());
        };
        self.clients.fleet = Fleet::new(&senders.clients);
        self.clients.from = Some(senders.from);
        self.style = self.reports.style(self.args, &self.clients.fleet, io);
        let counted = self.reports.fail_on.counted(&self.clients.fleet);
        self.counted = counted.map_err(|why| Error::Usage(format!("--fail-on: {why}")))?;
        inputs.ask(self.clients.fleet.clone())
    }

    /// Says whether each snapshot is answered on a line. Returns the file for the answers, or
    /// `Some(None)` for standard output.
    pub(super) fn is_by_line(&self) -> Option<Option<&Path>> {
        match self.reports.formats.as_slice() {
            [
                ReportDestination {
                    format: ReportFormat::Jsonl,
                    file,
                },
            ] => Some(file.as_deref()),
            _ => None,
        }
    }

    /// Returns the files that the run writes.
    pub(super) fn own_output(&self) -> OwnOutput {
        let of_project = self.config.baseline.as_ref().map(|setting| setting.value.as_path());
        let of_flags = [self.args.baseline.as_deref(), self.args.write_baseline.as_deref()];
        let baselines = of_flags.into_iter().chain([of_project]).flatten();
        OwnOutput::of(&self.reports.formats, baselines)
    }

    /// Writes the report, and returns the exit code for its findings.
    pub(super) fn write_report(&self, mut checked: Examined, inputs: &Inputs, io: &mut Io<'_>) -> Result<u8, Error> {
        let mut fixable = Fixable::default();
        let says_what_is_fixable = self.reports.has(ReportFormat::Human) || self.reports.has(ReportFormat::Json);
        if says_what_is_fixable && self.running_system().is_none() {
            let fixes = self.fixes(&checked, inputs);
            checked.fixable = fixes.count();
            fixable = fixes.fixable;
        }
        let outputs = Outputs::open(&self.reports.formats, &self.style, inputs, io)?;
        let options = self.options(&fixable);
        let summary = outputs.write(checked.report(&inputs.sources, &options))?;
        if let Some(nothing) = checked.nothing {
            io.out.flush()?;
            inputs.exit_code(0, io)?;
            return Err(nothing);
        }
        if !self.style.closes(&self.reports.formats)
            && let Some(silenced) = silenced(&summary)
        {
            io.out.flush()?;
            writeln!(io.err, "xdsctl: {silenced}")?;
        }
        known::write(self.args, checked.suppressed.recorded, io)?;
        inputs.exit_code(self.exit_code(&summary), io)
    }

    /// Returns the exit code. An unknown verdict takes precedence over findings.
    pub(super) fn exit_code(&self, summary: &Summary) -> u8 {
        match not_checked::unknown(&summary.not_checked) {
            Some(_) => EXIT_TROUBLE,
            None if self.style.gate.is_failed(summary) => EXIT_FINDINGS,
            None => 0,
        }
    }

    /// Refuses `--fix` for standard input, streams and running systems, which have no file to
    /// change.
    fn refuse_streams(&self) -> Result<(), Error> {
        let refused = |what: &str| {
            Err(Error::Usage(format!(
                "--fix changes files, {what} is none: --diff prints a patch"
            )))
        };
        if let Some(address) = self.running_system() {
            return refused(&format!("`{address}`"));
        }
        if self.args.input.reads_stdin() || self.reports.has(ReportFormat::Jsonl) {
            return refused("standard input");
        }
        Ok(())
    }

    /// Returns the first input that is a running system.
    fn running_system(&self) -> Option<&str> {
        let inputs = self.args.input.files.iter().filter_map(|file| file.to_str());
        inputs.into_iter().find(|text| live::is_address(text))
    }

    /// Returns which findings have a fix.
    pub(super) fn fixable(&self, checked: &Examined, inputs: &Inputs) -> Fixable {
        self.fixes(checked, inputs).fixable
    }

    fn fixes(&self, checked: &Examined, inputs: &Inputs) -> Fixes {
        Fixes::of(&checked.outcome, inputs, &self.severities, self.args.all)
    }

    /// Fixes the findings, or prints the fixes, and checks again. The first `given` documents are
    /// the inputs; the others were found from these.
    fn fix(&self, checked: &Examined, mut inputs: Inputs, given: usize, io: &mut Io<'_>) -> Result<u8, Error> {
        let fixes = self.fixes(checked, &inputs);
        let count = fixes.count();
        if self.args.diff {
            let is_for_files = self.running_system().is_none();
            fixes.show(&mut inputs, is_for_files, self.args.input.show_secrets, io)?;
        } else {
            fixes.apply(&mut inputs, &AllowedDirectories::around(&self.args.input.files), io)?;
        }
        inputs.sources.truncate(given);
        let mut checked = self.check(&mut inputs, io)?;
        if !self.args.diff {
            return self.write_report(checked, &inputs, io);
        }
        if let Some(nothing) = checked.nothing {
            inputs.exit_code(0, io)?;
            return Err(nothing);
        }
        let fixable = Fixable::default();
        let options = self.options(&fixable);
        let no_outputs = Outputs::open(&[], &self.style, &inputs, io)?;
        let summary = no_outputs.write(checked.report(&inputs.sources, &options))?;
        let code = match count {
            0 => self.exit_code(&summary),
            _ => EXIT_FINDINGS,
        };
        inputs.exit_code(code, io)
    }

    /// Returns the options for looking up findings.
    pub(super) fn options<'o>(&'o self, fixable: &'o Fixable) -> ResolveOptions<'o> {
        let style = self.style.findings;
        ResolveOptions {
            severities: &self.severities,
            fleet: &self.clients.fleet,
            fleet_from: self.clients.from.as_deref(),
            counted: &self.counted,
            snippets_from: self.reports.has(ReportFormat::Human).then_some(style.min_severity),
            snippets_per_rule: style.snippets_per_rule(),
            snippet_columns: style.snippet_columns(),
            shows_secrets: self.args.input.show_secrets,
            fixable,
            max_findings: self.args.max_findings,
        }
    }

    /// Returns the server of `--listen`. Also returns the bootstrap if it has no name for the
    /// listeners of servers: the one of `--bootstrap`, or else the first among the documents.
    ///
    /// # Errors
    /// There is no bootstrap.
    fn server(
        &self,
        inputs: &Inputs,
        places: &[BootstrapPlace],
    ) -> Result<(Option<ListeningServer>, Option<SourceId>), Error> {
        let Some(address) = &self.args.listen else {
            return Ok((None, inputs.without_server_template()));
        };
        if let Some(bootstrap) = &inputs.bootstrap {
            let server = ListeningServer::of(address, bootstrap);
            return Ok((server, inputs.without_server_template()));
        }
        let mut read = places.iter().filter_map(|place| {
            let (bootstrap, _) = inputs.check_bootstrap(place.source, place.span);
            Some((place.source, bootstrap?))
        });
        let Some((source, bootstrap)) = read.next() else {
            return Err(Error::Usage(
                "--listen needs a bootstrap, whose server_listener_resource_name_template makes the Listener's name of the address: --bootstrap FILE"
                    .to_owned(),
            ));
        };
        let server = ListeningServer::of(address, &bootstrap);
        let without = server.is_none().then_some(source);
        Ok((server, without))
    }

    /// Checks everything, and removes known findings.
    ///
    /// # Errors
    /// The target is not valid, nothing in the line of `--explain-error` is known, or the baseline
    /// cannot be read.
    pub(super) fn check(&self, inputs: &mut Inputs, io: &mut Io<'_>) -> Result<Examined, Error> {
        let known = KnownFindings::open(self.args, &self.config, &mut inputs.sources)?;
        let line = self
            .args
            .explain_error
            .as_deref()
            .map(RecognisedLine::read)
            .transpose()?;
        let uri = self
            .args
            .target
            .clone()
            .or_else(|| line.as_ref().and_then(RecognisedLine::target));
        let target = match &uri {
            Some(uri) => {
                let bootstrap = inputs.bootstrap.clone().unwrap_or_default();
                let of_line = line.as_ref().filter(|_| self.args.target.is_none());
                let of_line = of_line.and_then(RecognisedLine::authority);
                let authority = self.args.authority.as_deref().or(of_line);
                Some(session::target(uri, authority, &bootstrap)?)
            }
            None => None,
        };
        let policies = &*self.config.policies.policies;
        let shows_reached = self.args.show.contains(&Show::Reached);
        let is_shown = shows_reached || self.args.show.contains(&Show::Parsed);
        let keep = match is_shown || !policies.list.is_empty() {
            true => Keep::Parsed,
            false => Keep::Findings,
        };
        inputs.is_complete = self.is_complete;
        inputs.is_quiet |= self.args.quiet;
        let world_set = inputs.read_worlds_to_report(keep, io);
        let (server, without_server_template) = self.server(inputs, &world_set.bootstraps)?;
        let bootstraps = world_set.bootstraps.len() + usize::from(inputs.documents.is_empty());
        let scope = ReportScope {
            documents: inputs.documents.len(),
            worlds: world_set.worlds.len(),
            bootstraps,
        };
        let worlds = world_set.names.clone();
        let is_complete = self.is_complete;
        let mut outcome = decide::decide(
            world_set,
            InputScope {
                base: inputs.fleet.base().client(),
                target: target.as_ref(),
                server: server.as_ref(),
                listens: self.args.listen.as_deref(),
                // The resource that the line of `--explain-error` misses will not arrive later.
                is_complete: is_complete || line.as_ref().is_some_and(RecognisedLine::is_of_missing),
                without_server_template,
                // A line of `--explain-error` comes from a gRPC client, so nothing is taken for a
                // proxy's.
                judges_proxies: self.args.all || line.is_some(),
                keeps_withheld: self.args.explain_suppressed,
                policies: (!policies.list.is_empty()).then_some(PolicyInput {
                    policies,
                    sources: &inputs.sources,
                    shows_secrets: self.args.input.show_secrets,
                }),
            },
        );
        if !is_shown {
            // Only policies need what was parsed, and no report shows it.
            outcome.resources.iter_mut().for_each(|checked| checked.parsed = None);
        }
        let idle_policies: Vec<&'static str> = self.config.policies.idle().map(|policy| policy.rule.id).collect();
        if is_complete {
            let found = self.config.policies.idle_findings(&mut inputs.sources);
            outcome.findings.extend(found);
        }
        let mut has_input = outcome.resources.iter().any(Checked::is_checked)
            || bootstraps > 0
            || outcome
                .findings
                .iter()
                .any(|found| found.diagnostic.rule == &EMPTY_RESPONSE);
        let is_told_of = |checked: &Checked| checked.verdict == Verdict::NotChecked && checked.status.is_some();
        let nothing = if !outcome.proxy_worlds.is_empty() {
            "the configuration was made for a proxy; --all checks it anyway"
        } else if outcome.resources.iter().any(is_told_of) {
            "the input says which resources a control plane has sent, and has none of them"
        } else {
            "no resource that a gRPC client asks for and no bootstrap in the input"
        };
        let mut nothing = nothing.to_owned();
        let suppressed = if let Some(line) = &line {
            // Findings that the line is about are shown even if they are known.
            if let Some(why) = line.keep(&mut outcome, target.as_ref(), inputs, io)? {
                has_input = false;
                nothing = why;
            }
            Suppressed::default()
        } else {
            let record = (self.style.findings.min_severity, &self.severities);
            known.suppress(&mut outcome, &self.config, &inputs.sources, record, is_complete)
        };
        let shows_secrets = self.args.input.show_secrets;
        let reached = shows_reached.then(|| Reached::take(&mut outcome, &self.args.reach, shows_secrets));
        Ok(Examined {
            doubts: inputs.fleet.doubts().to_vec(),
            unread: self.clients.unread.clone(),
            policies: policies.list.len(),
            idle_policies,
            outcome,
            reached: reached.map(Arc::new),
            worlds,
            scope,
            suppressed,
            fixable: 0,
            nothing: (!has_input).then_some(Error::Nothing(nothing)),
        })
    }
}

/// The result of checking the inputs.
pub(super) struct Examined {
    pub outcome: CheckOutcome,
    /// What the client keeps, if the report shows it.
    reached: Option<Arc<Reached>>,
    worlds: Vec<WorldName>,
    scope: ReportScope,
    /// Switches about which something is not known.
    doubts: Vec<Doubt>,
    /// Clients of a dump whose version cannot be read.
    unread: Vec<String>,
    suppressed: Suppressed,
    /// The number of the project's own rules.
    policies: usize,
    /// The ids of the project's own rules that looked at nothing.
    idle_policies: Vec<&'static str>,
    /// The number of possible fixes, if they were looked for.
    fixable: usize,
    /// The error, if there was nothing that could be checked.
    pub nothing: Option<Error>,
}

impl Examined {
    /// Returns the findings, to be taken out resource by resource.
    pub(super) fn report<'r>(
        &'r mut self,
        sources: &'r SourceMap,
        options: &'r ResolveOptions<'r>,
    ) -> ResolvedFindings<'r> {
        let outcome = std::mem::take(&mut self.outcome);
        let mut report = ResolvedFindings::new(outcome, &self.worlds, sources, options);
        report.summary.reached = self.reached.take();
        report.summary.scope = self.scope;
        report.summary.suppressed = self.suppressed.suppressed;
        report.summary.known = self.suppressed.known;
        report.summary.silenced += self.suppressed.errors;
        report.summary.fixable = self.fixable;
        report.not_checked.doubts.clone_from(&self.doubts);
        report.not_checked.unread.clone_from(&self.unread);
        report.summary.policies = self.policies;
        report.summary.idle_policies.clone_from(&self.idle_policies);
        report.not_checked.has_policies = self.policies > 0;
        report
    }
}

/// Returns the severities that the project and then the flags set. The last one counts.
fn severities(args: &ValidateArgs, config: &ProjectConfig) -> Result<Severities, Error> {
    let known: Vec<_> = config.rules().collect();
    let mut severities = Severities::default();
    // Findings that the line of `--explain-error` is about are shown, whatever the project says.
    let of_project = config.rules.iter().filter(|_| args.explain_error.is_none());
    for Setting { value, .. } in of_project {
        severities.add(value.rules.clone(), value.severity);
    }
    for (rules, severity) in &args.choice.0 {
        severities.add(RuleSelector::list(rules, &known).map_err(Error::Usage)?, *severity);
    }
    Ok(severities)
}
