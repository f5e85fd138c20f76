//! `xdsctl policy test`: checks each case of a policy as `validate` would. Only the policy's
//! findings count.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::test::{EXIT_FAILED, write};
use crate::args::{PolicyTestArgs, WorldMode};
use crate::config::ProjectConfig;
use crate::config::policies::{Case, PolicyFile, ProjectPolicies};
use crate::fleet;
use crate::io::input::{self, InputPlan, Inputs, cannot_read};
use crate::io::outputs::formats;
use crate::io::reach::{AllowedDirectories, directory_of};
use crate::{EXIT_TROUBLE, Error, Io};
use xdsctl_channel::client::{Checked, Keep, Verdict};
use xdsctl_document::source::{SourceMap, Span};
use xdsctl_lint::decide::{self, InputScope};
use xdsctl_model::diag::{Diagnostic, Effect};
use xdsctl_model::profile::{Client, Fleet};
use xdsctl_policy::{Policies, Policy, PolicyInput, UNSAID, is_failed};
use xdsctl_report::SourcePlace;
use xdsctl_report::findings::human::FindingsStyle;
use xdsctl_report::suite::{Counts, FailureReport, SuiteReport, SuiteStyle, SuitesReport, TestReport};

/// What a case must be, as messages call it.
const ACCEPTED: &str = "`accepted`";
const REJECTED: &str = "`rejected`";

pub(super) fn run(args: &PolicyTestArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    let formats = formats(&args.formats, "junit=out.xml")?;
    let config = match args.files.is_empty() {
        true => ProjectConfig::of(&args.config, io)?,
        false => {
            let mut config = ProjectConfig::default();
            config.policies = ProjectPolicies::of_files(&args.files)?;
            config
        }
    };
    let fleet = fleet::asked(&args.clients, &config, vec![Client::REFERENCE], io)?.fleet;
    // A case may name any file in the project.
    let root = config.file.is_some().then_some(config.root);
    let project = config.policies;
    let style = SuiteStyle {
        findings: FindingsStyle {
            colour: io.colours(args.color),
            width: io.width,
            ..FindingsStyle::default()
        },
        explains: false,
        is_quiet: args.quiet,
        shows_secrets: false,
    };
    let mut suites = Vec::new();
    let mut files: Vec<PathBuf> = Vec::new();
    for file in &project.files {
        let of_file = OfFile {
            file,
            policies: &project.policies,
            clients: fleet.clients(),
            root: root.as_ref(),
            args,
        };
        suites.push(of_file.report(io)?);
        files.push(file.name.clone().into());
        files.extend(file.cases.iter().flat_map(|case| of_file.files(case)));
    }
    if suites.iter().all(|suite| suite.tests.is_empty()) {
        return Err(Error::Usage("no case has been run: there is no policy".to_owned()));
    }
    let report = SuitesReport {
        suites: &suites,
        coverage: None,
    };
    write(report, &formats, style, &files, io)?;
    let counts = Counts::of(&suites);
    Ok(match (counts.errors, counts.failed) {
        (0, 0) => 0,
        (0, _) => EXIT_FAILED,
        _ => EXIT_TROUBLE,
    })
}

/// A file of policies, and the options for running its cases.
struct OfFile<'f> {
    file: &'f PolicyFile,
    policies: &'f Policies,
    /// The clients for a case that names none.
    clients: &'f [Client],
    /// The directory of the project; `None` for files that the arguments name.
    root: Option<&'f PathBuf>,
    args: &'f PolicyTestArgs,
}

/// What differs from what a case says.
#[derive(Default)]
pub(super) struct CaseFailures {
    /// Resources that the client rejects.
    rejections: Vec<String>,
    others: Vec<String>,
}

impl CaseFailures {
    /// Says whether everything is as the case says.
    pub fn is_empty(&self) -> bool {
        self.rejections.is_empty() && self.others.is_empty()
    }
}

/// The result of a case: its failures, or why it could not be run.
pub(super) type Ran = Result<CaseFailures, String>;

impl OfFile<'_> {
    fn report(&self, io: &mut Io<'_>) -> Result<SuiteReport, Error> {
        let name: Arc<str> = self.file.name.as_str().into();
        let mut sources = SourceMap::new();
        let id = sources.add_settings(&*name, self.file.text.clone().into_bytes());
        let mut tests = Vec::new();
        if let Some(source) = sources.get(id) {
            let place = |span: &std::ops::Range<usize>| SourcePlace::of(source, Span::new(span.start, span.end));
            for (number, id_at) in &self.file.policies {
                let Some(policy) = self.policies.list.get(*number) else {
                    continue;
                };
                let cases = || self.file.cases.iter().filter(|case| case.policy == *number);
                for (index, case) in cases().enumerate() {
                    let (word, expected) = match case.is_accepted {
                        true => ("accepts", ACCEPTED),
                        false => ("rejects", REJECTED),
                    };
                    let named = match case.table.name.as_str() {
                        "" => format!("case {}", index + 1),
                        name => name.to_owned(),
                    };
                    let of_case = case.client.as_slice();
                    let clients = if of_case.is_empty() { self.clients } else { of_case };
                    let mut all = Vec::new();
                    for client in clients {
                        all.push((*client, self.one(case, policy, *client, io)?));
                    }
                    say_whose(&mut all);
                    for (client, ran) in all {
                        let whose = match clients {
                            [_] => String::new(),
                            _ => format!(" for {client}"),
                        };
                        let name = format!("{} {word} {named}{whose}", policy.rule.id);
                        tests.push(test(name, place(&case.span), expected, ran));
                    }
                }
                let (accepted, rejected) = (
                    cases().any(|case| case.is_accepted),
                    cases().any(|case| !case.is_accepted),
                );
                if !(accepted && rejected) {
                    let lacks = if rejected {
                        "no accepted case"
                    } else {
                        "no rejected case: nothing shows that it finds something"
                    };
                    let name = format!("{} has cases", policy.rule.id);
                    let why = Ok(CaseFailures {
                        others: vec![format!("it has {lacks}")],
                        ..CaseFailures::default()
                    });
                    tests.push(test(name, place(id_at), "an accepted and a rejected case", why));
                }
            }
        }
        tests.retain(|test| self.args.run.as_ref().is_none_or(|run| run.is_match(&test.name)));
        Ok(SuiteReport {
            file: name,
            faults: Vec::new(),
            tests,
        })
    }

    /// Returns the files of a case.
    fn files(&self, case: &Case) -> Vec<PathBuf> {
        let directory = directory_of(Path::new(&self.file.name));
        case.table.files.iter().map(|file| directory.join(file)).collect()
    }

    fn one(&self, case: &Case, policy: &Policy, client: Client, io: &mut Io<'_>) -> Result<Ran, Error> {
        match self.open(case, Fleet::of_one(client), io) {
            Ok(inputs) => Ok(judge(case, policy, self.policies, inputs)),
            Err(Error::Output(error)) => Err(Error::Output(error)),
            Err(error) => Ok(Err(error.to_string())),
        }
    }

    fn open(&self, case: &Case, fleet: Fleet, io: &mut Io<'_>) -> Result<Inputs, Error> {
        let reach = AllowedDirectories::of(self.args.config.allow_read.iter().chain(self.root));
        let directory = directory_of(Path::new(&self.file.name));
        let plan = InputPlan {
            files: self.files(case),
            world: WorldMode::All,
            allow_read: self.args.config.allow_read.clone(),
            ..InputPlan::default()
        };
        for file in &plan.files {
            reach.check(file, directory).map_err(|error| cannot_read(file, error))?;
        }
        match &case.table.yaml {
            Some(yaml) => input::of_text(plan, fleet, "case.yaml", yaml.clone().into_bytes()),
            None => input::open_plan(plan, fleet, io),
        }
    }
}

/// Checks the resources of a case with its policy.
pub(super) fn judge(case: &Case, policy: &Policy, policies: &Policies, mut inputs: Inputs) -> Ran {
    inputs.is_quiet = true;
    let mut nothing = Io::piped(std::io::empty(), std::io::sink(), std::io::sink());
    let world_set = inputs.read_worlds_to_report(Keep::Parsed, &mut nothing);
    if let Some(error) = inputs.unread.first() {
        return Err(error.to_string());
    }
    let (looked, unsaid) = (policy.looked(), policy.unsaid());
    let input = PolicyInput {
        policies,
        sources: &inputs.sources,
        shows_secrets: false,
    };
    let scope = InputScope {
        base: inputs.fleet.base().client(),
        judges_proxies: true,
        policies: Some(input),
        ..InputScope::default()
    };
    let outcome = decide::decide(world_set, scope);
    let mut failures = failures(case, policy, &outcome.resources, policy.looked() - looked);
    if policy.unsaid() > unsaid {
        let mut found = outcome.resources.iter().flat_map(|one| &one.diagnostics);
        let is_unsaid = |found: &&Diagnostic| found.rule.id == policy.rule.id && found.message.contains(UNSAID);
        let message = found.find(is_unsaid).map_or("", |found| &found.message);
        failures.others.push(format!("there is no message: `{message}`"));
    }
    Ok(failures)
}

/// Returns what differs from what the case says.
fn failures(case: &Case, policy: &Policy, resources: &[Checked], looked: usize) -> CaseFailures {
    let mut rejections = Vec::new();
    for checked in resources.iter().filter(|checked| checked.verdict == Verdict::Rejected) {
        let first = checked.diagnostics.iter().find(|found| found.effect == Effect::Nack);
        let why = first.map_or(String::new(), |found| format!(": {}: {}", found.path, found.message));
        let kind = checked.resource_type.map_or("resource", |of| of.short_name());
        rejections.push(format!("the client rejects {kind} `{}`{why}", checked.name));
    }
    let others = match looked == 0 && !rejections.is_empty() {
        true => Vec::new(),
        false => of_findings(case, policy, resources, looked),
    };
    CaseFailures { rejections, others }
}

/// Returns how the policy's findings differ from what the case says.
fn of_findings(case: &Case, policy: &Policy, resources: &[Checked], looked: usize) -> Vec<String> {
    let mut failures = Vec::new();
    let of_policy = |found: &&Diagnostic| found.rule.id == policy.rule.id;
    let found: Vec<&Diagnostic> = resources
        .iter()
        .flat_map(|one| &one.diagnostics)
        .filter(of_policy)
        .collect();
    let told = |found: &Diagnostic| match found.path.to_string().as_str() {
        "" => format!("`{}`", found.message),
        path => format!("`{}` at {path}", found.message),
    };
    if let Some(failed) = found.iter().find(|found| is_failed(found.rule, found.effect)) {
        failures.push(told(failed));
        return failures;
    }
    let wants = |message: &String| found.iter().any(|found| found.message.contains(message.as_str()));
    match (case.is_accepted, found.first()) {
        (true, Some(first)) => failures.push(format!("the policy finds {}", told(first))),
        (_, None) if looked == 0 => {
            failures.push(format!(
                "the policy looks at nothing: there is no {} that it is about",
                policy.element.name()
            ));
        }
        (true, None) => {}
        (false, None) => failures.push("the policy finds nothing".to_owned()),
        (false, Some(first)) => {
            let paths: Vec<String> = found.iter().map(|found| found.path.to_string()).collect();
            let missing = case.table.at.iter().find(|at| !paths.contains(at));
            let other = paths.iter().find(|path| !case.table.at.contains(path));
            if let Some(at) = missing {
                failures.push(format!("the policy finds nothing at {at}, but {}", told(first)));
            } else if let Some(path) = other.filter(|_| !case.table.at.is_empty()) {
                failures.push(format!(
                    "the policy finds something at {path} too, which `at` does not name"
                ));
            }
            if let Some(message) = case.table.message.as_ref().filter(|message| !wants(message)) {
                failures.push(format!("no message has `{message}` in it: {}", told(first)));
            }
        }
    }
    failures
}

/// If only some clients reject the resources of a case, says how to limit the case to the others.
fn say_whose(all: &mut [(Client, Ran)]) {
    let passed = all
        .iter()
        .find(|(_, ran)| ran.as_ref().is_ok_and(CaseFailures::is_empty));
    let Some(passed) = passed.map(|(client, _)| *client) else {
        return;
    };
    for (client, ran) in all {
        // Clients of the same family are told apart by their versions.
        let named = match client.family == passed.family {
            true => passed.to_string(),
            false => passed.family.name().to_owned(),
        };
        for failure in ran.iter_mut().flat_map(|failures| &mut failures.rejections) {
            *failure += &format!("; if the case is not for this client, write `client = \"{named}\"` in it");
        }
    }
}

fn test(name: String, place: SourcePlace, expected: &str, ran: Ran) -> TestReport {
    let (failures, stop) = match ran {
        Ok(failures) => (failures, None),
        Err(why) => (CaseFailures::default(), Some((place.clone(), why))),
    };
    let failures = failures.rejections.into_iter().chain(failures.others);
    let failures = failures.map(|happened| FailureReport {
        place: place.clone(),
        expected: expected.to_owned(),
        is_never: false,
        happened: format!("{happened} ({}:{})", place.file, place.line),
        more: 0,
        rpc: None,
    });
    TestReport {
        name,
        failures: failures.collect(),
        place,
        stop,
        notes: Vec::new(),
        checks: 1,
        rpcs: 0,
        ended_ms: 0,
    }
}
