//! The inputs of a command: files, directories and standard input, the bootstrap, the environment switches.

use std::fs;
use std::path::{Path, PathBuf};

use super::args::{AsType, InputArgs};
use super::progress::Progress;
use super::{Error, Io, follow, progress};
use xdsctl::bootstrap::{self, Bootstrap};
use xdsctl::check::{self, Checked, Circumstances};
use xdsctl::envelope::{self, Emit, Finding, Loader, Options, RawResource};
use xdsctl::load::{self, Loaded};
use xdsctl::model::ResourceType;
use xdsctl::profile::{Profile, ServerFacts};
use xdsctl::source::{SourceId, SourceMap, Span};

/// File endings that are looked for in directories.
const ENDINGS: [&str; 12] = [
    "json",
    "jsonl",
    "ndjson",
    "yaml",
    "yml",
    "textproto",
    "textpb",
    "txtpb",
    "pbtxt",
    "prototext",
    "pb",
    "binpb",
];

/// Levels of directories that are searched.
const MAX_DIRECTORY_DEPTH: usize = 32;

/// Everything that a command knows before it reads resources.
#[derive(Debug)]
pub struct Inputs {
    /// The documents.
    pub sources: SourceMap,
    /// Those to read as xDS, in order.
    pub documents: Vec<SourceId>,
    /// The client and its switches.
    pub profile: Profile,
    /// What the bootstrap says.
    pub server: ServerFacts,
    /// The bootstrap given with `--bootstrap`.
    pub bootstrap: Option<Bootstrap>,
    /// Findings on it.
    pub findings: Vec<Finding>,
    /// The type of bare resources.
    as_type: Option<AsType>,
}

/// Resources after validation, and what was noticed on the way.
#[derive(Debug)]
pub struct Checks {
    /// One per resource.
    pub checked: Vec<Checked>,
    /// Worlds, findings on documents, bootstraps.
    pub loader: Loader,
}

/// Reads the arguments' files; documents are opened, not parsed.
///
/// # Errors
/// A file that cannot be read, an unknown switch, or no input at all.
pub fn open(args: &InputArgs, io: &mut Io<'_>) -> Result<Inputs, Error> {
    let mut profile = Profile::default();
    for setting in &args.env {
        let (name, value) = setting
            .split_once('=')
            .ok_or_else(|| Error::Usage(format!("--env `{setting}` must be NAME=VALUE")))?;
        profile
            .set_env(name, value)
            .map_err(|error| Error::Usage(error.to_string()))?;
    }
    let mut sources = SourceMap::new();
    if args.no_mmap {
        sources = sources.without_mapping();
    }
    let documents = documents(args, &mut sources, io)?;
    let mut inputs = Inputs {
        sources,
        documents,
        profile,
        server: ServerFacts::default(),
        bootstrap: None,
        findings: Vec::new(),
        as_type: args.as_type,
    };
    if let Some(path) = &args.bootstrap {
        inputs.read_bootstrap(path)?;
    }
    Ok(inputs)
}

fn cannot_read(name: &Path, source: std::io::Error) -> Error {
    Error::Io {
        what: "read",
        name: name.display().to_string(),
        source,
    }
}

fn documents(args: &InputArgs, sources: &mut SourceMap, io: &mut Io<'_>) -> Result<Vec<SourceId>, Error> {
    let mut documents = Vec::new();
    for path in &args.files {
        if path.as_os_str() == "-" {
            let mut bytes = Vec::new();
            io.input.read_to_end(&mut bytes).map_err(|e| cannot_read(path, e))?;
            if bytes.is_empty() && args.bootstrap.is_some() && args.files.len() == 1 {
                // The bootstrap is what is to be checked.
                return Ok(documents);
            }
            let name = args.stdin_filename.clone().unwrap_or_else(|| "-".to_owned());
            documents.push(sources.add(name, bytes));
            continue;
        }
        let mut files = Vec::new();
        collect(path, MAX_DIRECTORY_DEPTH, true, &mut files).map_err(|e| cannot_read(path, e))?;
        for file in &files {
            documents.push(sources.add_file(file).map_err(|e| cannot_read(file, e))?);
        }
    }
    if documents.is_empty() {
        let endings = ENDINGS.join(", ");
        return Err(Error::Nothing(format!("no file with one of the endings {endings}")));
    }
    Ok(documents)
}

/// The file itself, or the files below a directory in the order of their names.
fn collect(path: &Path, depth: usize, is_named: bool, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if !fs::metadata(path)?.is_dir() {
        let known = path
            .extension()
            .and_then(|e| e.to_str())
            .is_some_and(|e| ENDINGS.contains(&e));
        if is_named || known {
            files.push(path.to_owned());
        }
        return Ok(());
    }
    if depth == 0 {
        return Ok(());
    }
    let mut entries: Vec<PathBuf> = fs::read_dir(path)?
        .map(|e| e.map(|e| e.path()))
        .collect::<Result<_, _>>()?;
    entries.sort_unstable();
    for entry in entries {
        let is_hidden = entry
            .file_name()
            .and_then(|n| n.to_str())
            .is_some_and(|n| n.starts_with('.'));
        if !is_hidden {
            collect(&entry, depth - 1, false, files)?;
        }
    }
    Ok(())
}

impl Inputs {
    /// Reads the file of `--bootstrap`.
    fn read_bootstrap(&mut self, path: &Path) -> Result<(), Error> {
        let id = self.sources.add_file(path).map_err(|e| cannot_read(path, e))?;
        let whole = Span::new(0, self.sources.get(id).map_or(0, |s| s.bytes().len()));
        let (bootstrap, findings) = self.check_bootstrap(id, whole);
        self.findings.extend(findings);
        if let Some(bootstrap) = &bootstrap {
            self.server = bootstrap.server_facts();
        }
        self.bootstrap = bootstrap;
        Ok(())
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
        let (bootstrap, diagnostics, fault) = bootstrap::validate(text, &self.profile);
        let findings = diagnostics
            .into_iter()
            .map(|diagnostic| Finding {
                source,
                span: match fault {
                    Some(offset) => Span::new(span.start + offset, (span.start + offset + 1).min(span.end)),
                    None => document.locate(span, &diagnostic.path),
                },
                diagnostic,
            })
            .collect();
        (bootstrap, findings)
    }

    /// The type of bare resources.
    pub fn assumed_type(&self) -> Option<ResourceType> {
        self.as_type.and_then(AsType::resource_type)
    }

    /// What resources are checked against.
    pub const fn circumstances(&self, keep_parsed: bool) -> Circumstances<'_> {
        Circumstances {
            profile: &self.profile,
            server: &self.server,
            keep_parsed,
        }
    }

    /// Reads and validates every document; with `keep_parsed` also the parsed form of each accepted resource.
    ///
    /// Files that an Envoy bootstrap takes resources from are read too. On `io` a bar shows how far reading has come.
    pub fn check(&mut self, keep_parsed: bool, io: &mut Io<'_>) -> Checks {
        let mut checks = self.check_documents(keep_parsed, io);
        if !checks.loader.path_sources.is_empty() {
            follow::path_sources(self, keep_parsed, &mut checks);
        }
        checks
    }

    /// Reads every document and calls `work` for each resource. On `io` a bar shows how far reading has come.
    pub fn load<T: Send>(&self, io: &mut Io<'_>, work: impl Fn(RawResource) -> T + Sync) -> Loaded<T> {
        let sizes = self.documents.iter().filter_map(|&id| self.sources.get(id));
        let total = sizes.map(|source| source.bytes().len()).sum();
        progress::during(io, total, &progress::megabytes(total), |progress| {
            load::run(None, |loader, emit| self.read(progress, loader, emit), work)
        })
    }

    fn read(&self, progress: &Progress, loader: &mut Loader, emit: Emit<'_>) {
        let options = Options {
            assume: self.assumed_type(),
            ..Options::default()
        };
        for &id in &self.documents {
            let Some(source) = self.sources.get(id) else {
                continue;
            };
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

    fn check_documents(&self, keep_parsed: bool, io: &mut Io<'_>) -> Checks {
        let circumstances = self.circumstances(keep_parsed);
        let loaded = self.load(io, |raw| check::resource(raw, &circumstances));
        Checks {
            checked: loaded.results,
            loader: loaded.loader,
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
