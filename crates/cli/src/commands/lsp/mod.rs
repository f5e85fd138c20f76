//! `xdsctl lsp`: the language server on standard input and output, with the files and settings of
//! `validate`.
//!
//! A project is the input of one `validate` run. It is the directory of the nearest `xdsctl.toml`,
//! else the directory that the editor has open, else the directory of the file, if it is not too
//! large. Otherwise it is the file alone.

mod files;
mod findings;
mod lead;
mod pages;
mod settings;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Parser as _;

use super::validate::ValidatePlan;
use crate::args::{Args, Command, LspArgs, ReportFormat, ValidateArgs};
use crate::config::{self, ProjectConfig};
use crate::io::input::{self, InputPlan, KeptDocuments};
use crate::{Error, Io};
use files::{Document, Files};
use findings::Collected;
use pages::Pages;
use settings::Settings;
use xdsctl_document::source::{Source, Span};
use xdsctl_lsp::{Host, OpenTexts, Snapshot};
use xdsctl_report::edge::is_plain;
use xdsctl_report::findings::Shown;
use xdsctl_report::paths::PrintedPaths;

/// The exit code for a conversation that was cut off.
const EXIT_BROKEN: u8 = 1;

pub(super) fn run(args: &LspArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    let mut projects = Projects {
        arguments: args.validate.clone(),
        folders: Vec::new(),
        files: Files::default(),
        kept: BTreeMap::new(),
        pages: Pages::of_user(io.ends_process),
        paths: io.paths.clone(),
    };
    validate_args(&projects.arguments, Path::new("."), None)?;
    let ended = xdsctl_lsp::serve(&mut io.input, &mut io.out, &mut projects, is_plain);
    match ended {
        Ok(true) => Ok(0),
        Ok(false) => Ok(EXIT_BROKEN),
        Err(source) => Err(Error::io("serve", "-")(source)),
    }
}

/// Returns the arguments of `validate` for a project.
///
/// # Errors
/// `validate` does not have one of the arguments, or it makes no sense here.
fn validate_args(arguments: &[String], project: &Path, config: Option<&Path>) -> Result<ValidateArgs, Error> {
    let mut line: Vec<std::ffi::OsString> = ["xdsctl", "validate"].map(Into::into).to_vec();
    line.extend(arguments.iter().map(Into::into));
    let names_config = arguments
        .iter()
        .any(|one| one.starts_with("--config") || one == "--no-config");
    if let Some(config) = config.filter(|_| !names_config) {
        line.extend(["--config".into(), config.into()]);
    }
    line.extend(["--".into(), project.into()]);
    let parsed = Args::try_parse_from(line).map_err(|error| {
        let text = error.to_string();
        Error::Usage(
            text.lines()
                .next()
                .unwrap_or_default()
                .trim_start_matches("error: ")
                .to_owned(),
        )
    })?;
    let Command::Validate(mut args) = parsed.command else {
        return Err(Error::Usage("these are no arguments of `validate`".to_owned()));
    };
    let is_other =
        args.fix || args.diff || args.watch || args.matrix || args.statistics || args.write_baseline.is_some();
    if is_other || args.explain_error.is_some() || !args.formats.is_empty() || args.input.files.len() > 1 {
        let why = "an editor is told what `validate` finds: no files, formats, fixes or tables can be asked for";
        return Err(Error::Usage(why.to_owned()));
    }
    // The findings are those of the JSON report: every finding, and what can be fixed.
    args.formats = vec![crate::args::ReportDestination {
        format: ReportFormat::Json,
        file: None,
    }];
    args.quiet = true;
    Ok(args)
}

/// What is known about the projects of an editor.
struct Projects {
    /// The arguments of `validate`.
    arguments: Vec<String>,
    /// The directories that the editor has open.
    folders: Vec<PathBuf>,
    files: Files,
    /// The results of reading each project's documents the last time.
    kept: BTreeMap<PathBuf, KeptDocuments>,
    pages: Pages,
    paths: PrintedPaths,
}

impl Host for Projects {
    fn begin(&mut self, folders: Vec<PathBuf>, arguments: Vec<String>) -> Result<(), String> {
        self.folders = folders;
        let on_command_line = self.arguments.len();
        self.arguments.extend(arguments);
        let checked = validate_args(&self.arguments, Path::new("."), None);
        checked.map(|_| ()).map_err(|error| {
            self.arguments.truncate(on_command_line);
            error.to_string()
        })
    }

    fn project_of(&mut self, file: &Path) -> PathBuf {
        let Some(directory) = file.parent().filter(|_| file.is_absolute()) else {
            return file.to_owned();
        };
        let of_config = config::find(directory).and_then(|config| Some(config.parent()?.to_owned()));
        if settings::may_be_policies(file) {
            return of_config.unwrap_or_else(|| file.to_owned());
        }
        let of_editor = self.folders.iter().filter(|folder| file.starts_with(folder));
        let of_editor = of_editor.max_by_key(|folder| folder.as_os_str().len());
        let candidates = [of_config.as_ref(), of_editor, Some(&directory.to_owned())];
        let mut candidates = candidates.into_iter().flatten();
        let fits = candidates.find(|directory| self.files.has(directory, file)).cloned();
        fits.unwrap_or_else(|| file.to_owned())
    }

    fn play(&mut self, suite: &Path, test: Option<&str>, _: &OpenTexts) -> String {
        let file = suite.display().to_string();
        let mut line = vec!["xdsctl".to_owned(), "test".to_owned()];
        if let Some(test) = test {
            line.extend([
                "--run".to_owned(),
                format!("^{}$", regex::escape(&format!("{file}: {test}"))),
            ]);
        }
        line.extend(["--".to_owned(), file]);
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let io = Io {
            paths: self.paths.clone(),
            ..Io::piped(std::io::empty(), &mut out, &mut err)
        };
        crate::run(line, io);
        out.extend(err);
        String::from_utf8_lossy(&out).into_owned()
    }

    fn lead(&mut self, suite: &Path, target: Span, open: &OpenTexts) -> String {
        match open.get(suite) {
            Some(open) => {
                let source = Source::of(suite.display().to_string(), open.text.as_bytes().to_vec());
                lead::told(suite, &source, target, &mut self.io())
            }
            None => String::new(),
        }
    }

    fn forget_files(&mut self) {
        self.files.forget();
    }

    fn look(&mut self, project: &Path, open: &OpenTexts) -> Snapshot {
        let documents = self.files.documents(project, open);
        let settings = self.settings(project, open);
        let kept = self.kept.remove(project).unwrap_or_default();
        let empty = || Snapshot {
            is_declared: settings.is_some(),
            template: super::init::TEMPLATE,
            ..Snapshot::default()
        };
        let mut snapshot = empty();
        let fault = match self.check(project, &documents, settings.as_ref(), kept, &mut snapshot) {
            Ok((kept, fault)) => {
                self.kept.insert(project.to_owned(), kept);
                fault
            }
            Err(error) => {
                snapshot = empty();
                for document in &documents {
                    let id = snapshot.sources.add_again(&document.source);
                    let file = PathBuf::from(document.source.name());
                    snapshot.documents.insert(file, id);
                }
                Some(error)
            }
        };
        let is_placed = settings
            .as_ref()
            .map(|settings| add(settings, fault.as_ref(), &mut snapshot));
        let fault = fault.filter(|_| is_placed != Some(true));
        snapshot.trouble = fault.map(|error| error.to_string());
        self.pages.write(&mut snapshot.findings);
        snapshot
    }
}

/// Adds the texts of the settings to the documents, and their fault as a finding. Says whether the
/// fault has a place in one of the texts.
fn add(settings: &Settings, fault: Option<&Error>, snapshot: &mut Snapshot) -> bool {
    let mut is_placed = false;
    for (file, text) in settings.texts() {
        let name = file.display().to_string();
        // Settings that were checked are already there, with findings.
        let known = snapshot.documents.get(file).copied().filter(|id| {
            let source = snapshot.sources.get(*id);
            source.is_some_and(|source| source.bytes() == text.as_bytes())
        });
        let id = known.unwrap_or_else(|| snapshot.sources.add_settings(name.clone(), text.as_bytes().to_vec()));
        snapshot.documents.insert(file.to_owned(), id);
        is_placed |= fault.is_some_and(|fault| settings::place(fault, id, &name, snapshot));
    }
    is_placed
}

impl Projects {
    /// Returns the settings of a project, with the editor's text if they are open.
    fn settings(&self, project: &Path, open: &OpenTexts) -> Option<Settings> {
        let directory = match project.is_dir() {
            true => project,
            false => project.parent().filter(|_| project.is_absolute())?,
        };
        Settings::of(directory, open)
    }

    fn io(&self) -> Io<'static> {
        Io {
            paths: self.paths.clone(),
            ..Io::piped(std::io::empty(), std::io::sink(), std::io::sink())
        }
    }

    /// Checks the documents as `validate` does, and fills the snapshot. Returns what to keep for
    /// the next check, and the fault of the settings, if they have one.
    ///
    /// # Errors
    /// The arguments are not valid, or the bootstrap cannot be read.
    fn check(
        &self,
        project: &Path,
        documents: &[Document],
        settings: Option<&Settings>,
        kept: KeptDocuments,
        snapshot: &mut Snapshot,
    ) -> Result<(KeptDocuments, Option<Error>), Error> {
        let mut io = self.io();
        let args = validate_args(
            &self.arguments,
            project,
            settings.map(|settings| settings.file.as_path()),
        )?;
        let is_own = |file: &Path| args.input.config.config.as_deref() == Some(file);
        let (config, fault) = match settings.filter(|settings| is_own(&settings.file)) {
            Some(settings) => settings.read(&args.input.config, &io)?,
            None => (ProjectConfig::of(&args.input.config, &io)?, None),
        };
        let mut asked = ValidatePlan::of_project(&args, config, &mut io)?;
        let sources: Vec<_> = documents.iter().map(|document| Arc::clone(&document.source)).collect();
        let plan = InputPlan::of(&args.input, &asked.config)?;
        let mut inputs = input::of_documents(plan, asked.clients.fleet.clone(), &sources, kept)?;
        asked.ask_senders(&mut inputs, &io)?;
        // If no other document is left, there is nothing to report.
        let _ = asked.own_output().leave_out(&mut inputs, &mut io);
        let mut checked = asked.check(&mut inputs, &mut io)?;
        let fixable = asked.fixable(&checked, &inputs);
        snapshot.worlds = std::mem::take(&mut checked.outcome.worlds);
        findings::resources(&checked.outcome, snapshot);
        let providers = inputs.server.certificate_providers.clone();
        snapshot.providers = providers.into_iter().flatten().collect();
        snapshot.clients = asked.clients.fleet.clients().to_vec();
        let options = asked.options(&fixable);
        let mut collected = Shown(asked.style.everything, Collected::of(&inputs.sources));
        checked.report(&inputs.sources, &options).write(&mut collected)?;
        snapshot.findings = collected.1.findings;
        snapshot
            .configuration
            .extend(snapshot.resources.iter().map(|resource| resource.source));
        let suites = documents
            .iter()
            .zip(0..)
            .filter_map(|(document, number)| Some((number, document.faults()?)));
        for (number, faults) in suites {
            let mut ids = inputs.sources.iter().map(|(id, _)| id);
            if let Some(id) = ids.nth(number) {
                findings::of_suite(id, faults, snapshot);
            }
        }
        snapshot.documents = inputs
            .sources
            .iter()
            .map(|(id, source)| (PathBuf::from(source.name()), id))
            .collect();
        let kept = inputs.kept.take().unwrap_or_default();
        snapshot.sources = inputs.sources;
        Ok((kept, fault))
    }
}
