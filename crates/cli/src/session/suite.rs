//! Opens the sessions of a suite's test: reads the world that the suite names, as other commands
//! read theirs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::server;
use super::words::{self, MEMBERS};
use crate::args::WorldMode;
use crate::io::input::{self, InputPlan};
use crate::io::reach::AllowedDirectories;
use crate::io::{Remark, files, live, revision};
use crate::{Error, Io};
use xdsctl_channel::client::dns::DnsAnswers;
use xdsctl_channel::client::server::ListeningServer;
use xdsctl_channel::client::{Client, Keep};
use xdsctl_channel::session::{Session, SessionInputs, SessionPlan};
use xdsctl_document::source::node::JsonNode;
use xdsctl_document::source::{Source, Span};
use xdsctl_model::profile::{self, Fleet};
use xdsctl_suite::{InitialConfig, PlannedClient, ServerTest, Test};

/// Says whether a document that was found in a directory is a suite. A document that cannot be
/// parsed counts as a suite if it has the keys of one, so that its fault is reported.
pub(crate) fn is_one(source: &Source) -> bool {
    // A dump may have a member `steps` or `tests` beside its resources.
    let has_steps = |node: &JsonNode| {
        (node.get("steps").is_some() || node.get("tests").is_some()) && node.get("resources").is_none()
    };
    // Parse only documents that mention one of the keys, because a directory may hold large dumps.
    let mentions = |word: &str| memchr::memmem::find(source.bytes(), word.as_bytes()).is_some();
    if !mentions("steps") && !mentions("tests") {
        return false;
    }
    match JsonNode::of(source) {
        Ok(node) => node.as_ref().is_some_and(has_steps),
        Err(_) => {
            let ending = files::ending(Path::new(source.name()));
            let is_text = ending.is_some_and(|ending| ["yaml", "yml", "json"].contains(&ending));
            is_text && ["steps:", "tests:", "\"steps\"", "\"tests\""].into_iter().any(mentions)
        }
    }
}

/// The suite of a test, and the options for running it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TestOrigin<'f> {
    /// The file of the suite. Paths in it start at its directory.
    pub file: &'f str,
    /// The world of a test that names none, relative to the current directory.
    pub world: &'f [PathBuf],
    /// The directories in which the suite's files may be.
    pub reach: &'f AllowedDirectories,
    /// Further directories from which those files may name others.
    pub allow_read: &'f [PathBuf],
    /// The client of a test's clients for which the suite names none.
    pub client: Option<profile::Client>,
}

/// The sessions of a test.
pub(crate) struct OpenedSessions {
    /// The sessions, one for each client in order.
    pub sessions: Vec<Session>,
    /// The span that names the world, and what could not be read of it. `None` if it was read in
    /// full.
    pub unread: Option<(Span, String)>,
}

/// The server of a test.
pub(crate) struct OpenedServer {
    /// What the server's xDS client holds.
    pub client: Client,
    /// The server, and the address on which it listens.
    pub server: ListeningServer,
    /// The span that names the world, and what could not be read of it. `None` if it was read in
    /// full.
    pub unread: Option<(Span, String)>,
}

/// Opens the channels of a test. Notes on what its world leaves out are added to `notes`.
///
/// # Errors
/// The suite asks for something impossible. The error has the place and the reason.
pub(crate) fn open(
    test: &Test,
    from: TestOrigin<'_>,
    notes: &mut Vec<(Span, String)>,
    io: &mut Io<'_>,
) -> Result<OpenedSessions, (Span, Error)> {
    notes.extend(test.notes.iter().cloned());
    if test.world.is_empty() && from.world.is_empty() {
        return Err((test.span, no_world()));
    }
    let world = world_span(test);
    let mut said = BTreeSet::new();
    let mut note = |text: String| {
        if said.insert(text.clone()) {
            notes.push((world, one_line(&text)));
        }
    };
    let mut unread = Unread::default();
    let failed = |span: Span| {
        move |error: Error| match &error {
            Error::Io { .. } | Error::Nothing(_) => (world, error),
            _ => (span, error),
        }
    };
    let dns: DnsAnswers = test
        .resolve
        .iter()
        .map(|(name, list)| (name.clone(), Ok(list.clone())))
        .collect();
    let mut sessions: Vec<Session> = Vec::new();
    let mut read: Vec<(profile::Client, SessionInputs)> = Vec::new();
    for client in test.clients.iter() {
        // Clients that differ only in their seeds hold the same, so they share it.
        let is_alike = |known: &PlannedClient| {
            known.kind == client.kind && known.start == client.start && known.authority == client.authority
        };
        let alike = test.clients.iter().zip(&sessions).find(|(known, _)| is_alike(known));
        if let Some((_, session)) = alike {
            sessions.push(session.clone());
            continue;
        }
        let kind = client.kind.or(from.client).unwrap_or(profile::Client::REFERENCE);
        if !read.iter().any(|(known, _)| *known == kind) {
            let fleet = super::of_channel(kind).map_err(|error| failed(client.span)(Error::Usage(error)))?;
            let (inputs, remarks) = io.keep_remarks(|io| load(test, from, fleet, io));
            unread.take(remarks, &mut note);
            read.push((kind, inputs.map_err(failed(client.span))?));
        }
        let Some((_, inputs)) = read.iter().find(|(known, _)| *known == kind) else {
            continue;
        };
        let plan = SessionPlan {
            start: client.start.clone(),
            authority: client.authority.clone(),
            dns: dns.clone(),
            ..SessionPlan::default()
        };
        let mut heard = Vec::new();
        let opened = inputs.clone().open(&plan, test.clients.len(), &mut heard);
        words::notes(&heard).into_iter().for_each(&mut note);
        let session = opened.map_err(|error| Error::Usage(words::error(&error, &MEMBERS)));
        let session = session.and_then(|session| {
            session.check_effort(None)?;
            Ok(session)
        });
        sessions.push(session.map_err(failed(client.span))?);
    }
    Ok(OpenedSessions {
        sessions,
        unread: unread.told(world, io),
    })
}

/// Opens the server of a test. Notes on what its world leaves out are added to `notes`.
///
/// # Errors
/// The suite asks for something impossible. The error has the place and the reason.
pub(crate) fn open_server(
    test: &Test,
    own: &ServerTest,
    from: TestOrigin<'_>,
    notes: &mut Vec<(Span, String)>,
    io: &mut Io<'_>,
) -> Result<OpenedServer, (Span, Error)> {
    if test.world.is_empty() && from.world.is_empty() {
        return Err((test.span, no_world()));
    }
    let world = world_span(test);
    let kind = own.kind.or(from.client).unwrap_or(profile::Client::REFERENCE);
    let fleet = server::fleet(kind).map_err(|error| (own.server.span, error))?;
    let (inputs, remarks) = io.keep_remarks(|io| load(test, from, fleet, io));
    let mut unread = Unread::default();
    unread.take(remarks, &mut |text| notes.push((world, one_line(&text))));
    let mut inputs = inputs.map_err(|error| (world, error))?;
    let unread = unread.told(world, io);
    let [(_, resources)] = inputs.worlds.as_slice() else {
        let why = "the world of a server is one, and these files have several".to_owned();
        return Err((world, Error::Usage(why)));
    };
    let listen = Some(own.server.listen.as_str());
    let listening = server::listening(listen, test.bootstrap.is_some(), resources, &inputs);
    let listening = listening.map_err(|error| (own.server.span, error))?;
    let listening = listening.ok_or_else(|| (own.server.span, server::none(resources)))?;
    let (_, resources) = inputs.worlds.swap_remove(0);
    Ok(OpenedServer {
        client: Client::holding(resources, &inputs.bootstrap.node_id, &inputs.profile, &inputs.server),
        server: listening,
        unread,
    })
}

/// Why parts of a test's world could not be read.
#[derive(Default)]
struct Unread {
    reasons: BTreeSet<String>,
    is_incomplete: bool,
}

impl Unread {
    /// Takes the remarks on reading the world. Passes notes to `note`.
    fn take(&mut self, remarks: Vec<Remark>, note: &mut impl FnMut(String)) {
        for remark in remarks {
            match remark {
                Remark::Note(text) | Remark::Line(text) => note(text),
                Remark::Unread(text) => _ = self.reasons.insert(one_line(&text)),
                Remark::Incomplete(_) => self.is_incomplete = true,
            }
        }
    }

    /// Returns the span that names the world and the reasons, if it was not read in full. The run
    /// is then incomplete.
    fn told(self, world: Span, io: &mut Io<'_>) -> Option<(Span, String)> {
        self.is_incomplete.then(|| {
            io.is_incomplete = true;
            (world, Vec::from_iter(self.reasons).join("; "))
        })
    }
}

fn one_line(text: &str) -> String {
    text.replace('\n', "\\n")
}

/// Returns the span that names the world of a test.
fn world_span(test: &Test) -> Span {
    test.world.first().map_or(test.span, |part| match part {
        InitialConfig::Path(_, span) | InitialConfig::Inline(_, span) => *span,
    })
}

fn no_world() -> Error {
    let message = "the test has no `world`, files with resources or resources, and there is no --world";
    Error::Usage(message.to_owned())
}

/// Returns the names of the Listeners for channels in some files.
///
/// # Errors
/// The files cannot be read, or have nothing of xDS.
pub(crate) fn listeners(files: &[PathBuf], allow_read: &[PathBuf], io: &mut Io<'_>) -> Result<Vec<String>, Error> {
    let plan = InputPlan {
        files: files.to_vec(),
        world: WorldMode::All,
        allow_read: allow_read.to_vec(),
        ..InputPlan::default()
    };
    let mut inputs = input::of_parts(plan, Vec::new(), Fleet::default(), io)?;
    let world_set = inputs.read_worlds(Keep::Places, io)?;
    let store = Arc::new(inputs.into_store());
    let worlds = world_set.hold(&store);
    let names = worlds.iter().flat_map(|(_, held)| held.api_listeners());
    Ok(names.map(str::to_owned).collect())
}

/// The most resources that all clients of a test may hold. Each client has its own list, because
/// each may get different updates.
const MAX_HELD: usize = 2_000_000;

/// Returns the directory at which the paths in a suite start.
fn directory_of(file: &str) -> &Path {
    let parent = Path::new(file).parent().filter(|_| file != "-");
    parent.unwrap_or(Path::new(""))
}

/// Returns the files that a test of the suite `file` reads. `given` are those for tests without a
/// world.
pub(crate) fn files(test: &Test, file: &str, given: &[PathBuf]) -> Vec<PathBuf> {
    let beside = |path: &String| directory_of(file).join(path);
    let mut files: Vec<PathBuf> = match test.world.is_empty() {
        true => given.to_vec(),
        false => Vec::new(),
    };
    files.extend(test.world.iter().filter_map(|part| match part {
        InitialConfig::Path(path, _) => Some(beside(path)),
        InitialConfig::Inline(..) => None,
    }));
    files.extend(test.bootstrap.as_ref().map(beside));
    files
}

/// Refuses everything but files and directories. A pipe or a device that a suite names might never
/// end, and the user does not expect it. A suite may not name a running system or a revision
/// either.
fn ends(path: &Path) -> Result<(), Error> {
    let is_other = |name: &str| name == "-" || name.starts_with(revision::SCHEME) || live::is_address(name);
    if path.to_str().is_some_and(is_other) {
        let why = format!(
            "`{}` is no file: the world of a suite is files and directories",
            path.display()
        );
        return Err(Error::Usage(why));
    }
    match path.metadata() {
        Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => {
            let why = std::io::Error::other("it is not a regular file");
            Err(input::cannot_read(path, why))
        }
        // A file that does not exist is reported when it is read.
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Reads the world of a test for a client.
fn load(test: &Test, from: TestOrigin<'_>, fleet: Fleet, io: &mut Io<'_>) -> Result<SessionInputs, Error> {
    let directory = directory_of(from.file);
    let is_json = files::ending(Path::new(from.file)) == Some("json");
    let (mut files, mut inline) = (Vec::new(), Vec::new());
    for part in test.world.iter() {
        match part {
            InitialConfig::Path(path, _) => files.push(directory.join(path)),
            InitialConfig::Inline(json, _) => inline.push((from.file.to_owned(), json.clone(), !is_json)),
        }
    }
    let bootstrap = test.bootstrap.as_ref().map(|path| directory.join(path));
    files.iter().chain(&bootstrap).try_for_each(|path| {
        let allowed = from.reach.check(path, directory);
        allowed.map_err(|error| input::cannot_read(path, error))?;
        ends(path)
    })?;
    if test.world.is_empty() {
        files.extend(from.world.iter().cloned());
    }
    let plan = InputPlan {
        files,
        bootstrap,
        env: test.env.to_vec(),
        world: WorldMode::All,
        allow_read: from.allow_read.to_vec(),
        ..InputPlan::default()
    };
    let inputs = input::of_parts(plan, inline, fleet, io)?;
    inputs.refuse_broken_bootstrap()?;
    if let Some((name, _)) = test.resolve.iter().find(|(_, addresses)| addresses.is_empty()) {
        return Err(Error::Usage(format!("`resolve`: `{name}` has no address")));
    }
    let inputs = inputs.hold(io)?;
    let (count, clients) = (inputs.resources(), test.clients.len());
    if count.saturating_mul(clients) > MAX_HELD {
        return Err(Error::Usage(format!(
            "{clients} clients would hold {count} resources each, the limit is {MAX_HELD} together"
        )));
    }
    Ok(inputs)
}
