//! `xdsctl diff`: what changes for clients from one state of their configuration to another.
//!
//! Each client is asked separately: it decides which resources it holds. Whose RPCs can be followed
//! is decided in the same place as for `pick`. Clients with the same answer share it.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::args::{ChangeOf, DiffArgs, ReportDestination, ReportFormat};
use crate::config::ProjectConfig;
use crate::io::input::{self, InputPlan, Inputs};
use crate::io::outputs::{formats, write_each};
use crate::io::overwrite::{END_OF_CHANGES, OutputKind};
use crate::io::{revision, worlds};
use crate::{EXIT_TROUBLE, Error, Io, fleet, session};
use xdsctl_channel::client::target::Target;
use xdsctl_channel::client::{Client, Keep, Resources};
use xdsctl_channel::session::why_none;
use xdsctl_lint::diff::pairs::{Candidate, pairs};
use xdsctl_lint::diff::{Diff, channel, compare, compare_resources};
use xdsctl_model::profile::{self, Fleet, Profile};
use xdsctl_report::diff as text;
use xdsctl_report::diff::not_compared::NotComparedTally;
use xdsctl_report::diff::pull::{ResourcePlaces, write_github, write_markdown};
use xdsctl_report::diff::{Answer, Compared, Presence, Report, json};
use xdsctl_report::edge::Edge;
use xdsctl_report::findings::not_checked;

/// The exit code for a change with `--exit-code`, or for a change that `--fail-on` names.
const EXIT_CHANGES: u8 = 1;

/// What one client holds in one world, on one side of the comparison.
pub struct DiffSide {
    /// The client that holds the resources of one world.
    pub client: Client,
    /// The name of the world: the document or directory, and the part of it, without the argument
    /// that named it.
    pub world: String,
    /// Where the client's resources are, if the report needs that.
    places: ResourcePlaces,
}

pub(super) fn run(args: &DiffArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    let [before, after] = args.input.files.as_slice() else {
        return Err(Error::Usage(format!(
            "diff takes two inputs, BEFORE and AFTER, it got {}",
            args.input.files.len()
        )));
    };
    let formats = formats(&args.formats, "json=out.json")?;
    let config = ProjectConfig::of(&args.input.config, io)?;
    let mut asked = fleet::asked(&args.clients, &config, vec![profile::Client::REFERENCE], io)?;
    input::set_env(&mut asked.fleet, &input::switches(&args.input.env)?)?;
    refuse_unfollowed(args, &asked.fleet)?;
    let mut inputs = DiffInputs {
        is_placed: formats.iter().any(|form| form.format == ReportFormat::Github),
        sides: [
            Input::open(before, Some(after), args, &config, io)?,
            Input::open(after, None, args, &config, io)?,
        ],
        args,
        target: None,
        files: Vec::new(),
    };
    if let Some(uri) = &args.target {
        let mut opened = inputs.sides.iter().filter_map(|side| side.opened.as_ref());
        let bootstrap = opened.find_map(|opened| opened.bootstrap.clone()).unwrap_or_default();
        inputs.target = Some(session::target(uri, args.authority.as_deref(), &bootstrap)?);
    }
    let (mut answers, mut tally): (Vec<Answer>, _) = (Vec::new(), NotComparedTally::default());
    for &client in asked.fleet.clients() {
        // Remarks on the inputs are written only for the first client.
        let worlds = match answers.is_empty() {
            true => inputs.compare(client, io)?,
            false => io.keep_remarks(|io| inputs.compare(client, io)).0?,
        };
        tally.add(client, &worlds);
        match answers.iter_mut().find(|answer| is_same(&answer.worlds, &worlds)) {
            Some(answer) => answer.clients.push(client),
            None => answers.push(Answer {
                clients: vec![client],
                worlds,
            }),
        }
    }
    let report = Report {
        not_checked: tally.finish(&asked.fleet, &asked.unread),
        answers,
        fleet: asked.fleet,
        fleet_from: asked.from,
        target: args.target.clone(),
    };
    write(args, &formats, &report, &inputs.files, io)?;
    let worlds = || report.answers.iter().flat_map(|answer| &answer.worlds);
    if worlds().any(|compared| compared.diff.routes_are_cut()) {
        writeln!(
            io.err,
            "warning: the route tables are too large to be compared in full, RPCs may move that are not listed"
        )?;
    }
    if worlds().any(|compared| compared.diff.clusters_are_cut) {
        writeln!(
            io.err,
            "warning: the clusters have too many endpoints to be compared in full, some may change that are not listed"
        )?;
    }
    Ok(exit_code(args, &report))
}

fn write(
    args: &DiffArgs,
    formats: &[ReportDestination],
    report: &Report,
    files: &[PathBuf],
    io: &mut Io<'_>,
) -> Result<(), Error> {
    let colour = io.colours(args.color);
    let shows_secrets = args.input.show_secrets;
    let (paths, summary) = (&io.paths, io.step_summary.as_deref());
    let kind = |format: ReportFormat| match format {
        ReportFormat::Human => OutputKind::Changes,
        other => OutputKind::Report(other),
    };
    write_each(
        formats,
        files,
        (kind, shows_secrets),
        &mut io.out,
        |format, is_file, out| match format {
            ReportFormat::Human | ReportFormat::Concise => {
                text::write(report, args.all, colour && !is_file, out)?;
                match is_file {
                    true => writeln!(out, "{END_OF_CHANGES}"),
                    false => Ok(()),
                }
            }
            ReportFormat::Json
            | ReportFormat::Jsonl
            | ReportFormat::Sarif
            | ReportFormat::Junit
            | ReportFormat::Gitlab => json::write(report, out),
            ReportFormat::Markdown => write_markdown(report, out),
            ReportFormat::Github => {
                if let Some(file) = summary {
                    let summary = File::options().append(true).create(true).open(file)?;
                    write_markdown(report, &mut Edge::new(summary, shows_secrets))?;
                }
                write_github(report, paths, out)
            }
        },
    )
}

/// Refuses `--fail-on rpcs` if it is not known of any client where its RPCs go.
fn refuse_unfollowed(args: &DiffArgs, fleet: &Fleet) -> Result<(), Error> {
    if !args.fail_on.contains(&ChangeOf::Rpcs) {
        return Ok(());
    }
    let mut why = None;
    for client in fleet.clients() {
        match Profile::of_channel(*client) {
            Ok(_) => return Ok(()),
            Err(error) => why = why.or(Some(error)),
        }
    }
    why.map_or(Ok(()), |error| Err(Error::Usage(format!("--fail-on rpcs: {error}"))))
}

/// Returns the exit code. An unknown verdict takes precedence over everything that is known. If no
/// change was found, the run succeeds only if nothing was left out of the search.
fn exit_code(args: &DiffArgs, report: &Report) -> u8 {
    if not_checked::unknown(&report.not_checked).is_some() {
        return EXIT_TROUBLE;
    }
    let worlds = || report.answers.iter().flat_map(|answer| &answer.worlds);
    let fails = |compared: &Compared| {
        let diff = &compared.diff;
        let is_named = |what: &ChangeOf| match what {
            ChangeOf::Rpcs => diff.moves_rpcs(),
            ChangeOf::Verdicts => diff.changes_verdicts(),
            ChangeOf::Access => !diff.access.is_empty(),
            ChangeOf::NotChecked => !report.not_checked.is_empty(),
        };
        args.exit_code && !diff.is_empty() || args.fail_on.iter().any(is_named)
    };
    if worlds().any(fails) {
        return EXIT_CHANGES;
    }
    // If the RPCs of some clients cannot be followed, those of the others decide; the report names
    // the former.
    let is_unknown = |compared: &Compared| compared.rpcs_unknown.is_some();
    let no_rpcs = |answer: &Answer| answer.worlds.iter().any(is_unknown);
    let is_unread = |compared: &Compared| !compared.diff.unclear.is_empty();
    let is_open = args.fail_on.contains(&ChangeOf::Rpcs)
        && (worlds().any(|compared| compared.diff.is_cut()) || report.answers.iter().all(no_rpcs))
        || args.exit_code && worlds().any(is_unread);
    if is_open { EXIT_TROUBLE } else { 0 }
}

/// Says whether two clients have the same answer.
fn is_same(one: &[Compared], other: &[Compared]) -> bool {
    // Differences that no report shows do not count, such as each client's own words on what it
    // rejected before and after.
    one.len() == other.len() && json::text(one) == json::text(other) && text::text(one) == text::text(other)
}

/// One of the two inputs, before it is read.
struct Input {
    path: PathBuf,
    /// The documents; `None` if the revision does not have the path.
    opened: Option<Inputs>,
}

impl Input {
    /// Opens an input. A revision without the path is an empty input if the path is known
    /// `elsewhere`.
    fn open(
        path: &Path,
        elsewhere: Option<&Path>,
        args: &DiffArgs,
        config: &ProjectConfig,
        io: &mut Io<'_>,
    ) -> Result<Input, Error> {
        let named = path.to_str().and_then(|path| path.strip_prefix(revision::SCHEME));
        let path = path.to_owned();
        if let (Some(named), Some(elsewhere)) = (named, elsewhere)
            && revision::lacks(named, elsewhere)
        {
            let (shown, after) = (path.display(), elsewhere.display());
            say!(
                io.err,
                "note: `{shown}` has nothing: all of `{after}` is new, and no RPC went anywhere before"
            )?;
            return Ok(Input { path, opened: None });
        }
        let plan = InputPlan {
            files: vec![path.clone()],
            ..InputPlan::of(&args.input, config)?
        };
        let opened = Some(input::open_plan(plan, Fleet::default(), io)?);
        Ok(Input { path, opened })
    }

    /// Returns what a client holds of the input, once for each world. Adds the names of the files
    /// to `files`.
    fn sides(
        &mut self,
        client: profile::Client,
        is_placed: bool,
        files: &mut Vec<PathBuf>,
        io: &mut Io<'_>,
    ) -> Result<Vec<DiffSide>, Error> {
        let Some(opened) = &mut self.opened else {
            return Ok(Vec::new());
        };
        let mut inputs = opened.again(Fleet::of_one(client))?;
        let world_set = inputs.read_worlds_without_doubts(Keep::Values, io)?;
        let node_id = inputs
            .bootstrap
            .take()
            .map(|bootstrap| bootstrap.node_id)
            .unwrap_or_default();
        let store = Arc::new(inputs.into_store());
        files.extend(store.sources.iter().map(|(_, source)| PathBuf::from(source.name())));
        let placed = is_placed.then(|| ResourcePlaces::of(&world_set));
        let mut placed = placed.into_iter().flatten();
        let path = self.path.as_path();
        let worlds = world_set.hold(&store).into_iter().map(|(name, resources)| {
            // Both lists have the worlds in the same order.
            let origins = placed.find(|(world, _)| *world == name).map(|(_, origins)| origins);
            let places = ResourcePlaces {
                origins: origins.unwrap_or_default(),
                store: is_placed.then(|| Arc::clone(&store)),
            };
            let source = store.sources.get(name.source).map_or("", |source| source.name());
            let inside = below(source, path);
            let world = match name.scope {
                None => inside,
                // If the world is a directory, it has the name of the directory.
                Some(scope) if worlds::place(source).starts_with(&worlds::place(&scope)) => below(&scope, path),
                Some(scope) if inside.is_empty() => scope,
                Some(scope) => format!("{inside} {scope}"),
            };
            DiffSide {
                client: Client::holding(resources, &node_id, &store.profile, &store.server),
                world,
                places,
            }
        });
        Ok(worlds.collect())
    }
}

/// The two inputs of a `diff`, before and after.
struct DiffInputs<'a> {
    sides: [Input; 2],
    args: &'a DiffArgs,
    /// The only channel that is compared; `None` for all channels.
    target: Option<Target>,
    /// Whether the report needs the places of resources in the input after.
    is_placed: bool,
    /// The files that were read.
    files: Vec<PathBuf>,
}

impl DiffInputs<'_> {
    /// Returns what changes for one client.
    fn compare(&mut self, client: profile::Client, io: &mut Io<'_>) -> Result<Vec<Compared>, Error> {
        self.files.clear();
        let [before, after] = &mut self.sides;
        let is_first = before.opened.is_none();
        let before = before.sides(client, false, &mut self.files, io)?;
        let after = after.sides(client, self.is_placed, &mut self.files, io)?;
        let is_empty = |side: &DiffSide| side.client.resources.count() == 0;
        if before.iter().chain(&after).all(is_empty) {
            let message = "neither input has a resource to compare; `diff` does not compare bootstraps";
            return Err(Error::Nothing(message.to_owned()));
        }
        let of_client = Profile::of_channel(client).err().map(|error| error.why);
        let shows_secrets = self.args.input.show_secrets;
        let target = self.target.as_ref();
        let mut pairs = paired(before, after);
        if let Some(target) = target {
            pairs.retain_mut(|pair| channel::narrow(&mut pair.before, &mut pair.after, target));
            if pairs.is_empty() {
                let message = format!("--target: neither input has the Listener `{}`", target.listener);
                return Err(Error::Nothing(message));
            }
        }
        let compared = pairs.into_iter().map(|pair| {
            let of_worlds = || why_none(&pair.before).or_else(|| why_none(&pair.after));
            let why = of_client.clone().or_else(of_worlds).filter(|_| !is_first);
            let diff = match why.is_none() && !is_first {
                true => compare(&pair.before, &pair.after, target, shows_secrets),
                false => compare_resources(&pair.before, &pair.after, shows_secrets),
            };
            Compared {
                diff,
                rpcs_unknown: why,
                ..pair
            }
        });
        Ok(compared.collect())
    }
}

/// Returns a name without the argument at its beginning: below `old/xds`, `old/xds/prod` becomes
/// `prod`.
fn below(name: &str, argument: &Path) -> String {
    let (name, argument) = (worlds::place(name), argument.to_string_lossy());
    // `git:REVISION` is the root of the revision, like `git:REVISION:`.
    let arguments = [worlds::place(&argument), worlds::place(&format!("{argument}:"))];
    let inside = arguments
        .iter()
        .find_map(|argument| name.strip_prefix(argument.as_slice()));
    inside.unwrap_or(&name).join("/")
}

/// Pairs the clients of both inputs by what they hold, in the order of their names. A client
/// without a partner is paired with one that holds nothing. The changes are not computed yet.
fn paired(before: Vec<DiffSide>, after: Vec<DiffSide>) -> Vec<Compared> {
    fn candidates(sides: &[DiffSide]) -> Vec<Candidate<'_>> {
        let candidate = sides.iter().map(|side| Candidate {
            name: &side.world,
            resources: &side.client.resources,
        });
        candidate.collect()
    }
    let found = pairs(&candidates(&before), &candidates(&after));
    let is_one = before.len() <= 1 && after.len() <= 1;
    let take = |sides: Vec<DiffSide>| sides.into_iter().map(Some).collect::<Vec<_>>();
    let (mut before, mut after) = (take(before), take(after));
    let side = |sides: &mut Vec<Option<DiffSide>>, at: Option<usize>| sides.get_mut(at?)?.take();
    let pair = |(one, other)| {
        let (one, other) = (side(&mut before, one), side(&mut after, other));
        let nothing = without_resources(&one.as_ref().or(other.as_ref())?.client);
        let (presence, world) = match (&one, &other) {
            (Some(one), Some(other)) if one.world != other.world => (
                Presence::Both,
                format!("{} → {}", shown(&one.world), shown(&other.world)),
            ),
            (Some(_), Some(other)) => (Presence::Both, shown(&other.world)),
            (Some(one), None) => (Presence::Removed, shown(&one.world)),
            (None, other) => (Presence::Added, shown(&other.as_ref()?.world)),
        };
        let (after, places) = other.map_or_else(
            || (nothing.clone(), ResourcePlaces::default()),
            |other| (other.client, other.places),
        );
        Some(Compared {
            world: if is_one { String::new() } else { world },
            presence,
            before: one.map_or(nothing, |one| one.client),
            after,
            diff: Diff::default(),
            places,
            rpcs_unknown: None,
        })
    };
    let mut pairs: Vec<Compared> = found.into_iter().filter_map(pair).collect();
    pairs.sort_by(|one, other| one.world.cmp(&other.world));
    pairs
}

/// Returns the name of a world for a report on several worlds.
fn shown(world: &str) -> String {
    if world.is_empty() { "." } else { world }.to_owned()
}

fn without_resources(client: &Client) -> Client {
    Client {
        resources: Resources::default(),
        ..client.clone()
    }
}
