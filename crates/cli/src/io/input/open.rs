//! Opens what the inputs name: files, directories, revisions, running systems and standard input.
//! Nothing is parsed here.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{InputPlan, Inputs, KeptDocuments, cannot_read, refuse};
use crate::args::InputArgs;
use crate::config::ProjectConfig;
use crate::io::{Remark, files, live, revision, worlds};
use crate::{Error, Io};
use xdsctl_document::source::{MAX_STREAM_BYTES, Source, SourceId, read_stream};
use xdsctl_model::profile::Fleet;

/// Opens the files of the arguments. They are read, but not parsed.
///
/// # Errors
/// A file cannot be read, a switch is unknown, or there is no input at all.
pub fn open(args: &InputArgs, io: &mut Io<'_>) -> Result<Inputs, Error> {
    let config = ProjectConfig::of(&args.config, io)?;
    open_for(args, &config, Fleet::default(), io)
}

/// Opens the files of the arguments for a project, and for clients that the user has named; see
/// [`open`].
///
/// # Errors
/// The same as for [`open`].
pub fn open_for(args: &InputArgs, config: &ProjectConfig, fleet: Fleet, io: &mut Io<'_>) -> Result<Inputs, Error> {
    if let Some(file) = config.passed_over(&args.config, &args.files) {
        let file = file.display();
        io.remark(Remark::Note(format!(
            "the settings in `{file}` are not used: this directory is not below them; `--config {file}` uses them"
        )))?;
    }
    open_plan(InputPlan::of(args, config)?, fleet, io)
}

/// Opens the inputs of a plan; see [`open`].
///
/// # Errors
/// The same as for [`open`].
pub fn open_plan(plan: InputPlan, fleet: Fleet, io: &mut Io<'_>) -> Result<Inputs, Error> {
    let mut inputs = Inputs::without_documents(plan, fleet)?;
    inputs.open_files(io)?;
    inputs.read_bootstrap()?;
    Ok(inputs)
}

/// Returns inputs with one text as the only document, for which nothing is written to standard
/// error.
///
/// # Errors
/// The bootstrap cannot be read, or a switch is unknown.
pub fn of_text(plan: InputPlan, fleet: Fleet, name: &str, bytes: Vec<u8>) -> Result<Inputs, Error> {
    let mut inputs = Inputs::without_documents(plan, fleet)?;
    inputs.documents.push(inputs.sources.add(name, bytes));
    inputs.is_quiet = true;
    inputs.read_bootstrap()?;
    Ok(inputs)
}

/// Returns inputs with documents that are in memory, as if they had been found in a directory that
/// the plan names.
///
/// # Errors
/// The bootstrap cannot be read, or a switch is unknown.
pub fn of_documents(
    plan: InputPlan,
    fleet: Fleet,
    documents: &[Arc<Source>],
    kept: KeptDocuments,
) -> Result<Inputs, Error> {
    let is_found = plan.files.iter().any(|path| path.is_dir());
    let mut inputs = Inputs::without_documents(plan, fleet)?;
    for source in documents {
        let id = inputs.sources.add_again(source);
        inputs.add(id, source.name(), is_found);
    }
    inputs.kept = Some(kept);
    inputs.is_quiet = true;
    inputs.read_bootstrap()?;
    Ok(inputs)
}

/// Opens files, and resources that are not in files of their own: each has a name, its JSON, and
/// whether it was YAML. All of it is the input of one client, that of `fleet`.
///
/// # Errors
/// The same as for [`open`].
pub fn of_parts(
    plan: InputPlan,
    inline: Vec<(String, String, bool)>,
    fleet: Fleet,
    io: &mut Io<'_>,
) -> Result<Inputs, Error> {
    let mut inputs = Inputs::without_documents(plan, fleet)?;
    if !inputs.plan.files.is_empty() {
        inputs.open_files(io)?;
    }
    inputs.is_one_client = true;
    for (name, json, is_yaml) in inline {
        let id = inputs.sources.add(name, json.into_bytes());
        inputs.documents.push(id);
        inputs.inline.insert(id, is_yaml);
    }
    inputs.read_bootstrap()?;
    Ok(inputs)
}

impl Inputs {
    /// Adds a document. `is_found` says whether it was not named, but found in a directory.
    fn add(&mut self, id: SourceId, name: &str, is_found: bool) {
        self.documents.push(id);
        self.places.insert(id, worlds::place(name));
        if is_found {
            self.found.insert(id);
        }
    }

    /// Opens what the plan names. A file that is named twice is read once.
    fn open_files(&mut self, io: &mut Io<'_>) -> Result<(), Error> {
        let plan = self.plan.clone();
        let mut seen = BTreeSet::new();
        let mut is_new = |name: &str| seen.insert(worlds::place(name));
        for path in &plan.files {
            if path.as_os_str() == "-" {
                if io.in_is_terminal {
                    let hint = "reading standard input: paste a dump and press Ctrl-D, or name a file or a directory";
                    writeln!(io.err, "xdsctl: {hint}")?;
                    io.err.flush()?;
                }
                let bytes = read_stream(&mut io.input, MAX_STREAM_BYTES).map_err(|e| cannot_read(path, e))?;
                if bytes.is_empty() && plan.bootstrap.is_some() && plan.files.len() == 1 {
                    // Only the bootstrap is checked, so empty standard input is not a fault.
                    return Ok(());
                }
                let name = plan.stdin_name.as_deref().unwrap_or("-");
                let id = self.sources.add(name, bytes);
                self.add(id, name, false);
                continue;
            }
            if let Some(named) = path.to_str().and_then(|path| path.strip_prefix(revision::SCHEME)) {
                let read = revision::read(named, MAX_STREAM_BYTES);
                let (files, is_directory) = read.map_err(|e| cannot_read(path, e))?;
                for (name, bytes) in files.into_iter().filter(|(name, _)| is_new(name)) {
                    let id = self.sources.add(name.as_str(), bytes);
                    self.add(id, &name, is_directory);
                }
                continue;
            }
            if let Some(address) = path.to_str().filter(|text| live::is_address(text)) {
                let (bytes, notes) = live::read(address, &plan)?;
                for note in notes {
                    io.remark(Remark::Line(format!("xdsctl: {note}")))?;
                }
                let id = self.sources.add(address, bytes);
                self.add(id, address, false);
                continue;
            }
            let found = files::find(path, &self.reach);
            for path in &found.passed_over {
                let path = path.display();
                io.remark(Remark::Line(format!(
                    "xdsctl: `{path}` is skipped: it is not a regular file"
                )))?;
            }
            let failures = found.failures.into_iter();
            self.unread.extend(failures.map(|(path, e)| cannot_read(&path, e)));
            for file in &found.files {
                let name = file.display().to_string();
                if !is_new(&name) {
                    continue;
                }
                match self.sources.add_file(file) {
                    Ok(id) => self.add(id, &name, found.is_directory),
                    Err(error) => self.unread.push(cannot_read(file, error)),
                }
            }
        }
        if self.documents.is_empty() {
            refuse(std::mem::take(&mut self.unread), io)?;
            let endings = files::ENDINGS.join(", ");
            return Err(Error::Nothing(format!("no file with one of the endings {endings}")));
        }
        Ok(())
    }
}
