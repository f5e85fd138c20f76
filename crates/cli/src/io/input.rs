//! The inputs of a command: files, directories and standard input, the bootstrap, the environment switches.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::progress::{self, Progress};
use super::reach::AllowedDirectories;
use super::{files, follow, live, revision, unread, worlds};
use crate::args::{AsType, InputArgs, World};
use crate::config::ProjectConfig;
use crate::{EXIT_TROUBLE, Error, Io};
use xdsctl_channel::client::{DocumentPlace, Keep, Parts, Reading, Settled, Store, ValidationInput};
use xdsctl_clients::bootstrap::{self, Bootstrap};
use xdsctl_document::envelope::{self, Emit, Finding, LoadOptions, Loader, RawResource};
use xdsctl_document::source::sniff::DocumentFormat;
use xdsctl_document::source::{MAX_STREAM_BYTES, SourceId, SourceMap, Span, read_stream};
use xdsctl_model::diag::Diagnostic;
use xdsctl_model::profile::{Fleet, ServerFacts};
use xdsctl_model::resource::ResourceType;

/// Everything that a command knows before it reads resources.
#[derive(Debug)]
pub struct Inputs {
    /// The documents.
    pub sources: SourceMap,
    /// Those to read as xDS, in order.
    pub documents: Vec<SourceId>,
    /// The clients that are asked, with their switches.
    pub fleet: Fleet,
    /// What the bootstrap says.
    pub server: ServerFacts,
    /// The bootstrap given with `--bootstrap`.
    pub bootstrap: Option<Bootstrap>,
    bootstrap_source: Option<SourceId>,
    /// Findings on it.
    pub findings: Vec<Finding>,
    /// The file of the bootstrap.
    pub bootstrap_path: Option<PathBuf>,
    /// Which files are one world.
    world: World,
    /// The documents that were found in a directory.
    found: BTreeSet<SourceId>,
    /// Where each document stands that may be of one world with others.
    places: BTreeMap<SourceId, DocumentPlace>,
    /// The input is said to be all there is.
    pub is_complete: bool,
    /// Nothing is said of worlds.
    pub is_quiet: bool,
    /// Documents that are a part of another one, as JSON; `true` if that is YAML.
    inline: BTreeMap<SourceId, bool>,
    /// Directories that have the same resource are refused: somebody else says that all of it is one client's.
    is_one_client: bool,
    /// The type of bare resources.
    as_type: Option<AsType>,
    /// Why some of what was named could not be read.
    unread: Vec<Error>,
    /// What files may name.
    reach: AllowedDirectories,
}

/// Reads the arguments' files; documents are opened, not parsed.
///
/// # Errors
/// A file that cannot be read, an unknown switch, or no input at all.
pub fn open(args: &InputArgs, io: &mut Io<'_>) -> Result<Inputs, Error> {
    let config = ProjectConfig::of(&args.config, io)?;
    open_for(args, &config, Fleet::default(), io)
}

/// Reads the arguments' files for a project, and for clients that the user has named; see [`open`].
///
/// # Errors
/// As for [`open`].
pub fn open_for(args: &InputArgs, config: &ProjectConfig, fleet: Fleet, io: &mut Io<'_>) -> Result<Inputs, Error> {
    let mut inputs = Inputs::without_documents(args, config, fleet)?;
    let opened = documents(args, &mut inputs.sources, io)?;
    inputs.documents = opened.documents;
    inputs.unread = opened.unread;
    (inputs.found, inputs.places) = (opened.found, opened.places);
    inputs.read_bootstrap()?;
    Ok(inputs)
}

/// Gives the clients of a run the switches that the arguments set.
///
/// # Errors
/// A switch that no client has.
pub(crate) fn set_env(fleet: &mut Fleet, env: &[String]) -> Result<(), Error> {
    for setting in env {
        let (name, value) = setting
            .split_once('=')
            .ok_or_else(|| Error::Usage(format!("--env `{setting}` must be NAME=VALUE")))?;
        fleet
            .set_env(name, value)
            .map_err(|error| Error::Usage(error.to_string()))?;
    }
    Ok(())
}

/// A snapshot of a stream, as the only document.
///
/// # Errors
/// A bootstrap that cannot be read, an unknown switch.
pub fn snapshot(
    args: &InputArgs,
    config: &ProjectConfig,
    fleet: Fleet,
    name: &str,
    bytes: Vec<u8>,
) -> Result<Inputs, Error> {
    let mut inputs = Inputs::without_documents(args, config, fleet)?;
    inputs.documents.push(inputs.sources.add(name, bytes));
    inputs.is_quiet = true;
    inputs.read_bootstrap()?;
    Ok(inputs)
}

/// Files, and resources that stand in no file of their own: each its name, as JSON, and whether that was YAML once. No settings
/// of a project apply.
///
/// # Errors
/// As for [`open`].
pub fn of_parts(args: &InputArgs, inline: Vec<(String, String, bool)>, io: &mut Io<'_>) -> Result<Inputs, Error> {
    let mut inputs = Inputs::without_documents(args, &ProjectConfig::default(), Fleet::default())?;
    if !args.files.is_empty() {
        let opened = documents(args, &mut inputs.sources, io)?;
        (inputs.documents, inputs.unread, inputs.places) = (opened.documents, opened.unread, opened.places);
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

/// Why a file cannot be read, or that it was never meant as one.
pub(crate) fn cannot_read(name: &Path, source: std::io::Error) -> Error {
    let no_file = name.to_str().filter(|_| source.kind() == ErrorKind::NotFound);
    match no_file {
        Some(address) if live::is_address(address) => {
            return Error::Usage(format!(
                "`{address}` is a running system, and a file is needed here: `xdsctl fetch` makes one of it"
            ));
        }
        Some(address) if address.contains("://") => return live::unknown(address),
        _ => {}
    }
    Error::Io {
        what: "read",
        name: name.display().to_string(),
        source,
    }
}

/// The documents.
#[derive(Debug, Default)]
struct Opened {
    documents: Vec<SourceId>,
    /// Why others could not be read.
    unread: Vec<Error>,
    /// Those that were found in a directory.
    found: BTreeSet<SourceId>,
    /// Where each stands.
    places: BTreeMap<SourceId, DocumentPlace>,
    /// Places that have been read.
    seen: BTreeSet<DocumentPlace>,
}

impl Opened {
    /// Says whether nobody has named the file before; whoever names it twice means it once.
    fn is_new(&mut self, name: &str) -> bool {
        self.seen.insert(worlds::place(name))
    }

    fn add(&mut self, id: SourceId, name: &str, is_found: bool) {
        self.documents.push(id);
        self.places.insert(id, worlds::place(name));
        if is_found {
            self.found.insert(id);
        }
    }
}

/// Directories that are named are read by whatever way.
fn reach_of(args: &InputArgs) -> AllowedDirectories {
    AllowedDirectories::of(args.config.allow_read.iter().chain(&args.files))
}

fn documents(args: &InputArgs, sources: &mut SourceMap, io: &mut Io<'_>) -> Result<Opened, Error> {
    let mut opened = Opened::default();
    let reach = reach_of(args);
    for path in &args.files {
        if path.as_os_str() == "-" {
            if io.in_is_terminal {
                let hint = "reading standard input: paste a dump and press Ctrl-D, or name a file or a directory";
                writeln!(io.err, "xdsctl: {hint}")?;
                io.err.flush()?;
            }
            let bytes = read_stream(&mut io.input, MAX_STREAM_BYTES).map_err(|e| cannot_read(path, e))?;
            if bytes.is_empty() && args.bootstrap.is_some() && args.files.len() == 1 {
                // The bootstrap is what is to be checked.
                return Ok(Opened::default());
            }
            let name = args.stdin_filename.clone().unwrap_or_else(|| "-".to_owned());
            let id = sources.add(name.as_str(), bytes);
            opened.add(id, &name, false);
            continue;
        }
        if let Some(named) = path.to_str().and_then(|path| path.strip_prefix(revision::SCHEME)) {
            let read = revision::read(named, MAX_STREAM_BYTES);
            let (files, is_directory) = read.map_err(|e| cannot_read(path, e))?;
            for file in files {
                if opened.is_new(&file.name) {
                    let id = sources.add(file.name.as_str(), file.bytes);
                    opened.add(id, &file.name, is_directory);
                }
            }
            continue;
        }
        if let Some(address) = path.to_str().filter(|text| live::is_address(text)) {
            let bytes = live::read(address, args, &mut io.err)?;
            let id = sources.add(address, bytes);
            opened.add(id, address, false);
            continue;
        }
        let found = files::find(path, &reach);
        for path in &found.passed_over {
            let path = path.display();
            say!(io.err, "xdsctl: `{path}` is skipped: it is not a regular file")?;
        }
        let failures = found.failures.into_iter();
        opened.unread.extend(failures.map(|(path, e)| cannot_read(&path, e)));
        for file in &found.files {
            let name = file.display().to_string();
            if !opened.is_new(&name) {
                continue;
            }
            match sources.add_file(file) {
                Ok(id) => opened.add(id, &name, found.is_directory),
                Err(error) => opened.unread.push(cannot_read(file, error)),
            }
        }
    }
    if opened.documents.is_empty() {
        refuse(opened.unread, io)?;
        let endings = files::ENDINGS.join(", ");
        return Err(Error::Nothing(format!("no file with one of the endings {endings}")));
    }
    Ok(opened)
}

/// Says what is not known of the switches that were set, for a command without a report that does.
///
/// # Errors
/// Standard error cannot be written.
pub(crate) fn say_doubts(fleet: &Fleet, io: &mut Io<'_>) -> Result<(), Error> {
    for doubt in fleet.doubts() {
        say!(io.err, "note: {}", doubt.why())?;
    }
    Ok(())
}

/// Ends the command if something could not be read: says all of it, the last as the error.
fn refuse(mut unread: Vec<Error>, io: &mut Io<'_>) -> Result<(), Error> {
    let Some(last) = unread.pop() else {
        return Ok(());
    };
    say(&unread, io);
    Err(last)
}

fn say(unread: &[Error], io: &mut Io<'_>) {
    for error in unread {
        // Nothing is left to tell a closed standard error.
        let _ = say!(io.err, "xdsctl: {error}");
        io.annotate(error);
    }
}

impl Inputs {
    /// The same documents for other clients. What could not be read goes with the first of these copies.
    ///
    /// # Errors
    /// A switch that no client has.
    pub fn again(&mut self, args: &InputArgs, config: &ProjectConfig, fleet: Fleet) -> Result<Inputs, Error> {
        let mut inputs = Inputs {
            sources: self.sources.clone(),
            documents: self.documents.clone(),
            found: self.found.clone(),
            places: self.places.clone(),
            unread: std::mem::take(&mut self.unread),
            bootstrap_source: self.bootstrap_source,
            ..Inputs::without_documents(args, config, fleet)?
        };
        inputs.judge_bootstrap();
        Ok(inputs)
    }

    fn without_documents(args: &InputArgs, config: &ProjectConfig, mut fleet: Fleet) -> Result<Inputs, Error> {
        set_env(&mut fleet, &args.env)?;
        Ok(Inputs {
            sources: SourceMap::new(),
            documents: Vec::new(),
            fleet,
            server: ServerFacts::default(),
            bootstrap: None,
            bootstrap_source: None,
            findings: Vec::new(),
            bootstrap_path: args
                .bootstrap
                .clone()
                .or_else(|| Some(config.bootstrap.as_ref()?.value.clone())),
            world: args
                .world()
                .or_else(|| Some(config.worlds.as_ref()?.value))
                .unwrap_or_default(),
            found: BTreeSet::new(),
            places: BTreeMap::new(),
            is_complete: false,
            is_quiet: false,
            inline: BTreeMap::new(),
            is_one_client: false,
            as_type: args.as_type,
            unread: Vec::new(),
            reach: reach_of(args),
        })
    }

    /// What files may name.
    pub const fn reach(&self) -> &AllowedDirectories {
        &self.reach
    }

    /// Says whether a document was not named, but found in a directory.
    pub fn is_found(&self, id: SourceId) -> bool {
        self.found.contains(&id)
    }

    /// Keeps what went wrong with some of the inputs, to be said at the end.
    pub fn fail(&mut self, errors: Vec<Error>) {
        self.unread.extend(errors);
    }

    /// For a command that has done its work with what could be read, and would end with `code`: says what could not be read.
    pub fn exit_code(&self, code: u8, io: &mut Io<'_>) -> Result<u8, Error> {
        if self.unread.is_empty() {
            return Ok(code);
        }
        io.out.flush()?;
        say(&self.unread, io);
        Ok(EXIT_TROUBLE)
    }

    /// Reads the file of the bootstrap, if there is one.
    fn read_bootstrap(&mut self) -> Result<(), Error> {
        let Some(path) = &self.bootstrap_path else {
            return Ok(());
        };
        let id = self.sources.add_file(path).map_err(|source| Error::Io {
            what: "read the bootstrap",
            name: path.display().to_string(),
            source,
        })?;
        self.bootstrap_source = Some(id);
        self.judge_bootstrap();
        Ok(())
    }

    /// Reads what the bootstrap says, as the client does.
    fn judge_bootstrap(&mut self) {
        let Some(id) = self.bootstrap_source else { return };
        let whole = Span::new(0, self.sources.get(id).map_or(0, |s| s.bytes().len()));
        let (bootstrap, findings) = self.check_bootstrap(id, whole);
        self.findings.extend(findings);
        if let Some(bootstrap) = &bootstrap {
            self.server = bootstrap.server_facts();
        }
        self.bootstrap = bootstrap;
    }

    /// Validates a bootstrap that stands in a document.
    pub fn check_bootstrap(&self, source: SourceId, span: Span) -> (Option<Bootstrap>, Vec<Finding>) {
        let Some(document) = self.sources.get(source) else {
            return (None, Vec::new());
        };
        // The client reads JSON only; a bootstrap in YAML is a form in which one is kept, and is checked for what it says.
        let viewed = document.view().and_then(|view| view.object_text(span.start));
        let text = viewed
            .or_else(|| document.bytes().get(span.range()))
            .unwrap_or_default();
        let (bootstrap, diagnostics, fault) = bootstrap::validate(text, self.fleet.base());
        let paths: Vec<_> = diagnostics.iter().map(|diagnostic| &diagnostic.path).collect();
        let spans = match fault {
            Some(offset) => {
                let at = Span::new(span.start + offset, (span.start + offset + 1).min(span.end));
                vec![at; paths.len()]
            }
            None => document.locate_all(span, &paths),
        };
        let findings = diagnostics.into_iter().zip(spans).map(|(diagnostic, span)| Finding {
            source,
            span,
            diagnostic,
        });
        let findings = findings.collect();
        (bootstrap, findings)
    }

    /// What makes the bootstrap given with `--bootstrap` unusable; `None` if it is good, or if none was given.
    pub fn broken_bootstrap(&self) -> Option<String> {
        let first = self.findings.first().filter(|_| self.bootstrap.is_none())?;
        let Diagnostic { path, message, .. } = &first.diagnostic;
        Some(match path.is_empty() {
            true => message.clone(),
            false => format!("{path}: {message}"),
        })
    }

    /// The document of `--bootstrap`, if it has no name for the listeners of a server.
    pub fn without_server_template(&self) -> Option<SourceId> {
        let bootstrap = self.bootstrap.as_ref();
        bootstrap.filter(|bootstrap| bootstrap.server_listener_template.is_empty())?;
        self.bootstrap_source
    }

    /// The type of bare resources.
    pub fn assumed_type(&self) -> Option<ResourceType> {
        self.as_type.and_then(AsType::resource_type)
    }

    /// What resources are checked against.
    pub fn circumstances(&self, keep: Keep) -> ValidationInput<'_> {
        ValidationInput {
            profile: self.fleet.base(),
            others: self.fleet.others(),
            server: &self.server,
            keep,
        }
    }

    /// Reads and validates every document, and decides what the client of each world holds; see [`Keep`] for what is kept.
    ///
    /// What could not be read is told on standard error, and keeps the run from success.
    ///
    /// # Errors
    /// A file could not be read, or nothing is of a known shape.
    pub fn settle(&mut self, keep: Keep, io: &mut Io<'_>) -> Result<Settled, Error> {
        say_doubts(&self.fleet, io)?;
        self.settle_without_doubts(keep, io)
    }

    /// The same for a command that reports itself what is not known of switches.
    ///
    /// # Errors
    /// As for [`Inputs::settle`].
    pub fn settle_without_doubts(&mut self, keep: Keep, io: &mut Io<'_>) -> Result<Settled, Error> {
        refuse(std::mem::take(&mut self.unread), io)?;
        let settled = self.settle_to_report(keep, io);
        refuse(std::mem::take(&mut self.unread), io)?;
        if self.is_one_client
            && let Some(clash) = worlds::clash(&settled, &self.places, &self.sources)
        {
            return Err(Error::Usage(clash));
        }
        unread::tell(&settled, self, io)?;
        Ok(settled)
    }

    /// The same for `validate` alone, which reports what could not be read.
    ///
    /// Files that an Envoy bootstrap takes resources from are read too. The findings are those on documents and bootstraps.
    /// On `io` a bar shows how far reading has come.
    pub fn settle_to_report(&mut self, keep: Keep, io: &mut Io<'_>) -> Settled {
        let mut reading = self.read_documents(keep, io);
        follow::path_sources(self, keep, &mut reading);
        match self.world {
            World::Auto => reading.join(&self.places, &self.partial(), Parts::Loose),
            World::Dir => reading.join(&self.places, &self.partial(), Parts::All),
            World::File | World::All => {}
        }
        let mut settled = reading.settle(&self.circumstances(keep), self.world == World::All);
        settled.name_twins(&self.sources);
        if !self.is_quiet {
            // Nothing is left to tell a closed standard error.
            let _ = worlds::say(&settled, self, io);
        }
        let on_bootstraps: Vec<Finding> = settled
            .bootstraps
            .iter()
            .flat_map(|place| self.check_bootstrap(place.source, place.span).1)
            .collect();
        settled.findings.splice(0..0, self.findings.iter().cloned());
        settled.findings.extend(on_bootstraps);
        settled
    }

    /// The documents that were named, beside which others stand that were not; none if the input is said to be all there is.
    fn partial(&self) -> BTreeSet<SourceId> {
        if self.is_complete || self.documents.len() < 2 {
            return BTreeSet::new();
        }
        let named = self.places.iter().filter(|(id, _)| !self.found.contains(id));
        worlds::partial(named, &self.places)
    }

    /// The documents and what they were checked against, to read values from.
    pub fn into_store(self) -> Store {
        Store {
            sources: self.sources,
            profile: self.fleet.base().clone(),
            server: self.server,
        }
    }

    /// Bytes of all documents.
    pub fn size(&self) -> usize {
        let sizes = self.documents.iter().filter_map(|&id| self.sources.get(id));
        sizes.map(|source| source.bytes().len()).sum()
    }

    fn read_documents(&self, keep: Keep, io: &mut Io<'_>) -> Reading {
        let total = self.size();
        let circumstances = self.circumstances(keep);
        let mut reading = Reading::default();
        progress::during(io, total, &progress::megabytes(total), |progress| {
            reading.read(None, &circumstances, |loader, emit| self.read(progress, loader, emit));
        });
        reading
    }

    fn read(&self, progress: &Progress, loader: &mut Loader, emit: Emit<'_>) {
        let options = LoadOptions {
            assume: self.assumed_type(),
            ..LoadOptions::default()
        };
        for &id in &self.documents {
            let Some(source) = self.sources.get(id) else {
                continue;
            };
            let mut options = options;
            if let Some(is_yaml) = self.inline.get(&id) {
                options.format = Some(DocumentFormat::Json);
                options.transcode.bare_strings = *is_yaml;
            }
            if self.as_type == Some(AsType::Bootstrap) {
                let span = Span::new(0, source.bytes().len());
                loader.bootstraps.push(envelope::BootstrapPlace { source: id, span });
            } else {
                let mut emit = |resources: Vec<RawResource>| {
                    progress.reach(resources.last().map_or(0, |last| last.origin.span.end));
                    emit(resources);
                };
                loader.document(id, source, options, &mut emit);
                progress.document_done(source.bytes().len());
            }
        }
    }
}

impl AsType {
    /// The resource type, for the four that are one.
    pub const fn resource_type(self) -> Option<ResourceType> {
        match self {
            AsType::Lds => Some(ResourceType::Listener),
            AsType::Rds => Some(ResourceType::RouteConfiguration),
            AsType::Cds => Some(ResourceType::Cluster),
            AsType::Eds => Some(ResourceType::Endpoints),
            AsType::Bootstrap | AsType::DiscoveryResponse | AsType::Csds | AsType::ConfigDump | AsType::Any => None,
        }
    }
}
