//! From a test of a suite to its clients: opens the world that the suite names, as the other commands open theirs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::args::{ChannelArgs, ConfigArgs, InputArgs, World};
use crate::channel::{self, ChannelInputs};
use crate::io::reach::AllowedDirectories;
use crate::io::unread::{self, Incomplete};
use crate::io::{files, input, live, revision};
use crate::{Error, Io};
use xdsctl_channel::client::Keep;
use xdsctl_document::source::node::JsonNode;
use xdsctl_document::source::{Source, Span};
use xdsctl_suite::{Caller, InitialConfig, PlannedClient, PlannedStart, Test};

/// Says whether a document that nobody has named is a suite. One that cannot be read is, if it has the keys of one: what is wrong
/// with it is to be told.
pub(super) fn is_one(source: &Source) -> bool {
    let has_steps = |node: &JsonNode| node.get("steps").is_some() || node.get("tests").is_some();
    // Only what mentions one of them is looked at: a directory may hold large dumps.
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

/// Where a test stands, and what it is run with.
#[derive(Debug, Clone, Copy)]
pub(super) struct From<'f> {
    /// Its file.
    pub file: &'f str,
    /// The world of a test that names none, named from the current directory on.
    pub world: &'f [PathBuf],
    /// What the files of the suite may be.
    pub reach: &'f AllowedDirectories,
    /// Directories from which these may name files.
    pub allow_read: &'f [PathBuf],
    /// Secrets are written as they are.
    pub shows_secrets: bool,
}

/// The clients of a test.
pub(super) struct Opened {
    pub callers: Vec<Caller>,
    /// Where the world is named, and what of it could not be read, if it was not read in full.
    pub unread: Option<(Span, String)>,
}

/// Opens the channels of a test. What its world leaves out goes to `notes`.
///
/// # Errors
/// Where the suite asks for what cannot be, and why.
pub(super) fn open(
    test: &Test,
    from: From<'_>,
    notes: &mut Vec<(Span, String)>,
    io: &Io<'_>,
) -> Result<Opened, (Span, Error)> {
    notes.extend(test.notes.iter().cloned());
    if test.world.is_empty() && from.world.is_empty() {
        let message = "the test has no `world`, files with resources or resources, and there is no --world".to_owned();
        return Err((test.span, Error::Usage(message)));
    }
    let world = test.world.first().map_or(test.span, |part| match part {
        InitialConfig::Path(_, span) | InitialConfig::Inline(_, span) => *span,
    });
    let mut said = BTreeSet::new();
    let mut callers: Vec<Caller> = Vec::new();
    let mut loaded = None;
    let incomplete = Incomplete::default();
    let mut lost: Vec<String> = Vec::new();
    for (number, client) in test.clients.iter().enumerate() {
        // Clients that differ by their chance alone hold the same, and share it.
        let before = test.clients.iter().take(number).zip(&callers);
        let mut alike = before.filter(|(known, _)| known.start == client.start && known.authority == client.authority);
        if let Some((_, caller)) = alike.next() {
            let caller = caller.clone();
            callers.push(caller);
            continue;
        }
        let mut told = Vec::new();
        let mut quiet = Io::piped(std::io::empty(), std::io::sink(), &mut told);
        quiet.paths = io.paths.clone();
        quiet.incomplete = incomplete.clone();
        let opened = one(test, client, from, &mut loaded, &mut quiet);
        drop(quiet);
        for line in String::from_utf8_lossy(&told).lines() {
            if !said.insert(line.to_owned()) {
                continue;
            }
            match line.strip_prefix(unread::WARNING) {
                Some(line) => lost.push(line.to_owned()),
                None => notes.push((world, line.trim_start_matches("note: ").to_owned())),
            }
        }
        let channel::Opened {
            client: held, start, ..
        } = opened.map_err(|error| {
            let error = in_a_suite(error);
            let span = match &error {
                Error::Io { .. } | Error::Nothing(_) => world,
                _ => client.span,
            };
            (span, error)
        })?;
        callers.push(Caller { client: held, start });
    }
    // What is said last is that there were such lines.
    lost.pop();
    let unread = incomplete.is_set().then(|| (world, lost.join("; ")));
    if unread.is_some() {
        io.incomplete.set();
    }
    Ok(Opened { callers, unread })
}

/// What the commands say with arguments, with the members of a suite.
fn in_a_suite(error: Error) -> Error {
    let Error::Usage(mut message) = error else { return error };
    for (argument, member) in [
        ("--target xds:///NAME", "`target: xds:///NAME`"),
        ("--target", "`target`"),
        ("--route-config", "`route_config`"),
        ("--cluster", "`cluster`"),
        ("--authority", "`authority`"),
    ] {
        message = message.replace(argument, member);
    }
    Error::Usage(message)
}

/// The Listeners of some files that a channel can have, one after the other.
///
/// # Errors
/// The files cannot be read, or have nothing of xDS.
pub(super) fn listeners(files: &[PathBuf], allow_read: &[PathBuf], io: &mut Io<'_>) -> Result<Vec<String>, Error> {
    let args = input_of(files.to_vec(), None, &[], allow_read, false);
    let mut inputs = input::of_parts(&args, Vec::new(), io)?;
    let settled = inputs.settle(Keep::Places, io)?;
    let store = Arc::new(inputs.into_store());
    let worlds = settled.hold(&store);
    let names = worlds.iter().flat_map(|(_, held)| held.api_listeners());
    Ok(names.map(str::to_owned).collect())
}

/// What a world is read from.
fn input_of(
    files: Vec<PathBuf>,
    bootstrap: Option<PathBuf>,
    env: &[(String, String)],
    allow_read: &[PathBuf],
    shows_secrets: bool,
) -> InputArgs {
    InputArgs {
        files,
        as_type: None,
        stdin_filename: None,
        bootstrap,
        env: env.iter().map(|(name, value)| format!("{name}={value}")).collect(),
        world: Some(World::All),
        merge: false,
        config: ConfigArgs {
            config: None,
            no_config: true,
            allow_read: allow_read.to_vec(),
        },
        show_secrets: shows_secrets,
        connect: Default::default(),
    }
}

/// Resources that the clients of a test may hold together: each has a list of its own, for each may be sent something else.
const MAX_HELD: usize = 2_000_000;

/// Where the paths in a suite begin.
fn directory_of(file: &str) -> &Path {
    let parent = Path::new(file).parent().filter(|_| file != "-");
    parent.unwrap_or(Path::new(""))
}

/// The files that a test of the suite `file` reads; `given` are those for tests without a world.
pub(super) fn files(test: &Test, file: &str, given: &[PathBuf]) -> Vec<PathBuf> {
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

/// Refuses what is neither a file nor a directory: a pipe or a device that a suite names might never end, and nobody knows that it is
/// there. What else the command line may name is not for a suite: a running system, a revision.
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
        // What is not there is told when it is read.
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Opens the channel of a client. The first one loads the world.
fn one(
    test: &Test,
    client: &PlannedClient,
    from: From<'_>,
    loaded: &mut Option<ChannelInputs>,
    quiet: &mut Io<'_>,
) -> Result<channel::Opened, Error> {
    let From {
        file,
        shows_secrets,
        reach,
        ..
    } = from;
    let beside = |path: &String| -> PathBuf { directory_of(file).join(path) };
    let files = test.world.iter().filter_map(|part| match part {
        InitialConfig::Path(path, _) => Some(beside(path)),
        InitialConfig::Inline(..) => None,
    });
    let is_json = files::ending(Path::new(file)) == Some("json");
    let inline = test.world.iter().filter_map(|part| match part {
        InitialConfig::Inline(json, _) => Some((file.to_owned(), json.clone(), !is_json)),
        InitialConfig::Path(..) => None,
    });
    let mut files: Vec<PathBuf> = files.collect();
    let bootstrap = test.bootstrap.as_ref().map(beside);
    files.iter().chain(&bootstrap).try_for_each(|path| {
        let allowed = reach.check(path, directory_of(file));
        allowed.map_err(|error| input::cannot_read(path, error))?;
        ends(path)
    })?;
    if test.world.is_empty() {
        files.extend(from.world.iter().cloned());
    }
    let input = input_of(files, bootstrap, &test.env, from.allow_read, shows_secrets);
    let mut args = ChannelArgs {
        client: None,
        input,
        in_world: None,
        target: None,
        authority: client.authority.clone(),
        route_config: None,
        cluster: None,
        only_routes: false,
        resolve: test
            .resolve
            .iter()
            .map(|(name, addresses)| {
                let addresses: Vec<String> = addresses.iter().map(ToString::to_string).collect();
                format!("{name}={}", addresses.join(","))
            })
            .collect(),
        health: Vec::new(),
        remove: Vec::new(),
    };
    match &client.start {
        PlannedStart::Listener => {}
        PlannedStart::OnlyRoutes => args.only_routes = true,
        PlannedStart::Target(uri) => args.target = Some(uri.clone()),
        PlannedStart::RouteConfig(name) => args.route_config = Some(name.clone()),
        PlannedStart::Cluster(name) => args.cluster = Some(name.clone()),
    }
    let clients = test.clients.len();
    let world = match loaded {
        Some(world) => world,
        None => {
            let inputs = input::of_parts(&args.input, inline.collect(), quiet)?;
            let world = channel::load(inputs, &args, quiet)?;
            let count = world.resources();
            if count.saturating_mul(clients) > MAX_HELD {
                return Err(Error::Usage(format!(
                    "{clients} clients would hold {count} resources each, the limit is {MAX_HELD} together"
                )));
            }
            loaded.insert(world)
        }
    };
    let opened = world.clone().open(&args, clients, quiet)?;
    opened.check_effort(None)?;
    Ok(opened)
}
