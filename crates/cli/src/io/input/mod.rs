//! The inputs of a command: files, directories and standard input, the bootstrap, the environment
//! switches.

mod kept;
mod open;
mod plan;

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use super::progress::{self, Progress};
use super::reach::AllowedDirectories;
use super::{Remark, follow, live, unread, worlds};
use crate::args::{AsType, WorldMode};
use crate::{EXIT_TROUBLE, Error, Io};
use xdsctl_channel::client::{DocumentPlace, Keep, Parts, Reading, Resources, Store, ValidationInput, WorldSet};
use xdsctl_channel::session::SessionInputs;
use xdsctl_clients::bootstrap::{self, Bootstrap};
use xdsctl_document::envelope::{self, Emit, Finding, LoadOptions, Loader, RawResource};
use xdsctl_document::source::sniff::DocumentFormat;
use xdsctl_document::source::{SourceId, SourceMap, Span};
use xdsctl_model::diag::Diagnostic;
use xdsctl_model::profile::{Client, Fleet, ServerFacts};
use xdsctl_model::resource::ResourceType;

/// The size of all documents, in bytes, above which values are not kept but read again when needed.
const KEEP_VALUES_BYTES: usize = 16 << 20;

/// Everything that a command knows before it reads resources.
#[derive(Debug)]
pub struct Inputs {
    /// All documents, the bootstrap included.
    pub sources: SourceMap,
    /// The documents that are read as xDS, in order.
    pub documents: Vec<SourceId>,
    /// The clients that are asked, with their switches.
    pub fleet: Fleet,
    /// The facts from the bootstrap that validation needs.
    pub server: ServerFacts,
    /// The bootstrap given with `--bootstrap`.
    pub bootstrap: Option<Bootstrap>,
    bootstrap_source: Option<SourceId>,
    /// Findings on the bootstrap.
    pub findings: Vec<Finding>,
    /// The inputs, and how they are interpreted.
    plan: InputPlan,
    /// The documents that were not named, but found in a directory.
    pub found: BTreeSet<SourceId>,
    /// The place of each document that may belong to one world with others.
    places: BTreeMap<SourceId, DocumentPlace>,
    /// Whether the input is complete, according to the arguments or the settings.
    pub is_complete: bool,
    /// Whether nothing about worlds is written to standard error.
    pub is_quiet: bool,
    /// Documents that are a part of another document, as JSON. The value says whether the original
    /// is YAML.
    inline: BTreeMap<SourceId, bool>,
    /// Whether the whole input is one client's. Then directories with the same resource are
    /// refused.
    is_one_client: bool,
    /// Why some of the named files could not be read. This is reported at the end.
    pub unread: Vec<Error>,
    /// The directories in which files may name files.
    pub reach: AllowedDirectories,
    /// What documents yielded the last time, if they are read again and again.
    pub kept: Option<KeptDocuments>,
}

pub use kept::KeptDocuments;
pub use open::{of_documents, of_parts, of_text, open, open_for, open_plan};
pub use plan::InputPlan;
pub(crate) use plan::{set_env, switches};

/// Returns the error for a file that cannot be read, or for a name that cannot mean a file.
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
    Error::io("read", name.display())(source)
}

/// Prints what is not known about the switches that were set, for a command whose report does not
/// say it.
///
/// # Errors
/// Standard error cannot be written.
pub(crate) fn say_doubts(fleet: &Fleet, io: &mut Io<'_>) -> Result<(), Error> {
    for doubt in fleet.doubts() {
        io.remark(Remark::Note(doubt.why().to_string()))?;
    }
    Ok(())
}

/// Fails if something could not be read. Prints all errors; the last one becomes the error of the
/// command.
fn refuse(mut unread: Vec<Error>, io: &mut Io<'_>) -> Result<(), Error> {
    let Some(last) = unread.pop() else {
        return Ok(());
    };
    say(&unread, io);
    Err(last)
}

fn say(unread: &[Error], io: &mut Io<'_>) {
    for error in unread {
        // If standard error is closed, nobody can be told.
        let _ = io.remark(Remark::Line(format!("xdsctl: {error}")));
        io.annotate(error);
    }
}

impl Inputs {
    /// Returns the same documents for other clients. The first of these copies takes over the
    /// errors of files that could not be read.
    ///
    /// # Errors
    /// A switch is given that no client has.
    pub fn again(&mut self, fleet: Fleet) -> Result<Inputs, Error> {
        let mut inputs = Inputs {
            sources: self.sources.clone(),
            documents: self.documents.clone(),
            found: self.found.clone(),
            places: self.places.clone(),
            unread: std::mem::take(&mut self.unread),
            bootstrap_source: self.bootstrap_source,
            ..Inputs::without_documents(self.plan.clone(), fleet)?
        };
        inputs.judge_bootstrap();
        Ok(inputs)
    }

    /// Changes the clients that are asked.
    ///
    /// # Errors
    /// A switch is given that no client has.
    pub fn ask(&mut self, mut fleet: Fleet) -> Result<(), Error> {
        self.plan.equip(&mut fleet)?;
        self.fleet = fleet;
        self.findings.clear();
        self.judge_bootstrap();
        Ok(())
    }

    /// Returns inputs for which nothing has been read yet.
    fn without_documents(plan: InputPlan, mut fleet: Fleet) -> Result<Inputs, Error> {
        plan.equip(&mut fleet)?;
        Ok(Inputs {
            sources: SourceMap::new(),
            documents: Vec::new(),
            fleet,
            server: ServerFacts::default(),
            bootstrap: None,
            bootstrap_source: None,
            findings: Vec::new(),
            found: BTreeSet::new(),
            places: BTreeMap::new(),
            is_complete: false,
            is_quiet: false,
            inline: BTreeMap::new(),
            is_one_client: false,
            unread: Vec::new(),
            // Directories that are named may be read in any way.
            reach: AllowedDirectories::of(plan.allow_read.iter().chain(&plan.files)),
            plan,
            kept: None,
        })
    }

    /// Returns the exit code of a command that has used what could be read and would end with
    /// `code`. Reports what could not be read.
    pub fn exit_code(&self, code: u8, io: &mut Io<'_>) -> Result<u8, Error> {
        if self.unread.is_empty() {
            return Ok(code);
        }
        io.out.flush()?;
        say(&self.unread, io);
        Ok(EXIT_TROUBLE)
    }

    /// Returns the file of the bootstrap: the named one, or that of the project.
    pub fn bootstrap_path(&self) -> Option<&Path> {
        let InputPlan {
            bootstrap,
            usual_bootstrap,
            ..
        } = &self.plan;
        bootstrap.as_deref().or(usual_bootstrap.as_deref())
    }

    /// Reads the file of the bootstrap, if there is one.
    fn read_bootstrap(&mut self) -> Result<(), Error> {
        let Some(path) = self.bootstrap_path().map(Path::to_owned) else {
            return Ok(());
        };
        // An editor may have the file open.
        let known = self.kept.as_ref().and_then(|_| {
            let is_it = |id: &&SourceId| {
                self.sources
                    .get(**id)
                    .is_some_and(|source| Path::new(source.name()) == path)
            };
            self.documents.iter().find(is_it).copied()
        });
        let id = match known {
            Some(id) => id,
            None => self
                .sources
                .add_file(&path)
                .map_err(Error::io("read the bootstrap", path.display()))?,
        };
        self.bootstrap_source = Some(id);
        self.judge_bootstrap();
        Ok(())
    }

    /// Validates the bootstrap as the client does, and takes the facts from it.
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

    /// Validates a bootstrap that is a part of a document.
    pub fn check_bootstrap(&self, source: SourceId, span: Span) -> (Option<Bootstrap>, Vec<Finding>) {
        let Some(document) = self.sources.get(source) else {
            return (None, Vec::new());
        };
        // Clients read JSON only. A bootstrap that is kept as YAML is checked for its contents.
        let viewed = document.view().and_then(|view| view.object_text(span.start));
        let text = viewed
            .or_else(|| document.bytes().get(span.range()))
            .unwrap_or_default();
        let (bootstrap, diagnostics, fault) = self.ask_of_bootstrap(text);
        let paths: Vec<_> = diagnostics.iter().map(|diagnostic| &diagnostic.path).collect();
        let spans = document.locate_in_json(span, &paths, fault);
        let findings = diagnostics.into_iter().zip(spans).map(|(diagnostic, span)| Finding {
            source,
            span,
            diagnostic,
        });
        let findings = findings.collect();
        (bootstrap, findings)
    }

    /// Asks all clients about a bootstrap. Returns the value of the first client, the findings of
    /// all, and the offset of a syntax fault. A finding that not all clients have names those that
    /// have it.
    fn ask_of_bootstrap(&self, text: &[u8]) -> (Option<Bootstrap>, Vec<Diagnostic>, Option<usize>) {
        let first = self.fleet.reader_of_bootstrap();
        let (bootstrap, diagnostics, fault) = bootstrap::validate(text, first);
        let mut found: Vec<(Diagnostic, Vec<Client>)> = Vec::new();
        let mut add = |diagnostics: Vec<Diagnostic>, client: Client| {
            for diagnostic in diagnostics {
                let is_same =
                    |(one, _): &&mut (Diagnostic, _)| one.rule == diagnostic.rule && one.path == diagnostic.path;
                match found.iter_mut().find(is_same) {
                    Some((one, clients)) => {
                        one.effect = one.effect.min(diagnostic.effect);
                        clients.push(client);
                    }
                    None => found.push((diagnostic, vec![client])),
                }
            }
        };
        add(diagnostics, first.client());
        for profile in self.fleet.asked().filter(|profile| profile.client() != first.client()) {
            add(bootstrap::validate(text, profile).1, profile.client());
        }
        let named = found.into_iter().map(|(mut diagnostic, clients)| {
            if self.fleet.clients().iter().any(|client| !clients.contains(client)) {
                let who = self.fleet.describe(&clients);
                diagnostic.message = format!("{} (in {who})", diagnostic.message);
            }
            diagnostic
        });
        (bootstrap, named.collect(), fault)
    }

    /// Refuses a bootstrap with which a client cannot start.
    ///
    /// # Errors
    /// A client cannot start with the bootstrap.
    pub fn refuse_broken_bootstrap(&self) -> Result<(), Error> {
        let first = self.findings.first().filter(|_| self.bootstrap.is_none());
        let (Some(first), Some(file)) = (first, self.bootstrap_path()) else {
            return Ok(());
        };
        let Diagnostic { path, message, .. } = &first.diagnostic;
        let why = match path.is_empty() {
            true => message.clone(),
            false => format!("{path}: {message}"),
        };
        let file = file.display();
        Err(Error::Usage(format!(
            "a client cannot start with the bootstrap `{file}`: {why}"
        )))
    }

    /// Returns the document of `--bootstrap`, if it has no name for the listeners of a server.
    pub fn without_server_template(&self) -> Option<SourceId> {
        let bootstrap = self.bootstrap.as_ref();
        bootstrap.filter(|bootstrap| bootstrap.server_listener_template.is_empty())?;
        self.bootstrap_source
    }

    /// Returns what resources are validated with.
    pub fn validation_input(&self, keep: Keep) -> ValidationInput<'_> {
        ValidationInput {
            profile: self.fleet.base(),
            others: self.fleet.others(),
            server: &self.server,
            keep,
        }
    }

    /// Reads and validates every document, and decides what the client of each world holds. See
    /// [`Keep`] for what is kept.
    ///
    /// What could not be read is reported on standard error, and the run then cannot succeed.
    ///
    /// # Errors
    /// A file could not be read, or no document has a known shape.
    pub fn read_worlds(&mut self, keep: Keep, io: &mut Io<'_>) -> Result<WorldSet, Error> {
        say_doubts(&self.fleet, io)?;
        self.read_worlds_without_doubts(keep, io)
    }

    /// Like [`Inputs::read_worlds`], for a command that itself reports what is not known about
    /// switches.
    ///
    /// # Errors
    /// The same as for [`Inputs::read_worlds`].
    pub fn read_worlds_without_doubts(&mut self, keep: Keep, io: &mut Io<'_>) -> Result<WorldSet, Error> {
        refuse(std::mem::take(&mut self.unread), io)?;
        let world_set = self.read_worlds_to_report(keep, io);
        refuse(std::mem::take(&mut self.unread), io)?;
        if self.is_one_client
            && let Some(clash) = worlds::clash(&world_set, &self.places, &self.sources)
        {
            return Err(Error::Usage(clash));
        }
        unread::tell(&world_set, self, io)?;
        Ok(world_set)
    }

    /// Like [`Inputs::read_worlds`], for `validate`, which itself reports what could not be read.
    ///
    /// Also reads files from which an Envoy bootstrap takes resources. The findings are those on
    /// documents and bootstraps. A progress bar is shown on `io`.
    pub fn read_worlds_to_report(&mut self, keep: Keep, io: &mut Io<'_>) -> WorldSet {
        let mut reading = self.read_documents(keep, io);
        follow::path_sources(self, keep, &mut reading);
        match self.plan.world {
            WorldMode::Auto => reading.join(&self.places, &self.partial(), Parts::Loose),
            WorldMode::Dir => reading.join(&self.places, &self.partial(), Parts::All),
            WorldMode::File | WorldMode::All => {}
        }
        let mut world_set = reading.finish(&self.validation_input(keep), self.plan.world == WorldMode::All);
        world_set.name_twins(&self.sources);
        if !self.is_quiet {
            // If standard error is closed, nobody can be told.
            let _ = worlds::say(&world_set, self, io);
        }
        let on_bootstraps: Vec<Finding> = world_set
            .bootstraps
            .iter()
            .flat_map(|place| self.check_bootstrap(place.source, place.span).1)
            .collect();
        world_set.findings.splice(0..0, self.findings.iter().cloned());
        world_set.findings.extend(on_bootstraps);
        world_set
    }

    /// Returns the named documents that have other documents beside them that were not named.
    /// Returns none if the input is said to be complete.
    fn partial(&self) -> BTreeSet<SourceId> {
        if self.is_complete || self.documents.len() < 2 {
            return BTreeSet::new();
        }
        let named = self.places.iter().filter(|(id, _)| !self.found.contains(id));
        worlds::partial(named, &self.places)
    }

    /// Reads everything, for channels that start in it.
    ///
    /// # Errors
    /// The same as for [`Inputs::read_worlds`], or there is no resource.
    pub fn hold(mut self, io: &mut Io<'_>) -> Result<SessionInputs, Error> {
        let input_bytes = self.size() as u64;
        let keep = match self.size() > KEEP_VALUES_BYTES {
            true => Keep::Places,
            false => Keep::Values,
        };
        let world_set = self.read_worlds(keep, io)?;
        let bootstrap = self.bootstrap.take().unwrap_or_default();
        let store = Arc::new(self.into_store());
        let held = world_set.hold(&store).into_iter();
        let worlds: Vec<(String, Resources)> = held
            .map(|(world, held)| (worlds::name(&world, &store.sources).to_owned(), held))
            .collect();
        if worlds.is_empty() {
            return Err(Error::Nothing("no xDS resource in the input".to_owned()));
        }
        Ok(SessionInputs {
            worlds,
            bootstrap,
            profile: store.profile.clone(),
            server: store.server.clone(),
            input_bytes,
        })
    }

    /// Returns the documents and what they were validated with, to read values again.
    pub fn into_store(self) -> Store {
        Store {
            sources: self.sources,
            profile: self.fleet.base().clone(),
            server: self.server,
        }
    }

    /// Returns the number of bytes of all documents.
    pub fn size(&self) -> usize {
        let sizes = self.documents.iter().filter_map(|&id| self.sources.get(id));
        sizes.map(|source| source.bytes().len()).sum()
    }

    fn read_documents(&mut self, keep: Keep, io: &mut Io<'_>) -> Reading {
        if let Some(mut kept) = self.kept.take() {
            let reading = kept.reading(self, keep);
            self.kept = Some(kept);
            if let Some(reading) = reading {
                return reading;
            }
        }
        let total = self.size();
        let against = self.validation_input(keep);
        let mut reading = Reading::default();
        progress::during(io, total, &progress::megabytes(total), |progress| {
            reading.read(None, &against, |loader, emit| self.read(progress, loader, emit));
        });
        reading
    }

    fn read(&self, progress: &Progress, loader: &mut Loader, emit: Emit<'_>) {
        let mut before = 0;
        for &id in &self.documents {
            self.read_one(id, &|at| progress.reach(before + at), loader, emit);
            before += self.sources.get(id).map_or(0, |source| source.bytes().len());
        }
    }

    /// Reads one of the documents. `reach` is told how many bytes of it have been read.
    fn read_one(&self, id: SourceId, reach: &dyn Fn(usize), loader: &mut Loader, emit: Emit<'_>) {
        let Some(source) = self.sources.get(id) else {
            return;
        };
        let mut options = LoadOptions {
            assume: self.plan.as_type.and_then(AsType::resource_type),
            ..LoadOptions::default()
        };
        if let Some(is_yaml) = self.inline.get(&id) {
            options.format = Some(DocumentFormat::Json);
            options.transcode.bare_strings = *is_yaml;
        }
        if self.plan.as_type == Some(AsType::Bootstrap) {
            let span = Span::new(0, source.bytes().len());
            loader.bootstraps.push(envelope::BootstrapPlace { source: id, span });
            return;
        }
        let mut emit = |resources: Vec<RawResource>| {
            reach(resources.last().map_or(0, |last| last.origin.span.end));
            emit(resources);
        };
        loader.document(id, source, options, &mut emit);
        reach(source.bytes().len());
    }
}

impl AsType {
    /// Returns the resource type, for the four values that name one.
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
