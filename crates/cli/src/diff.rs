//! `xdsctl diff`: what changes for a client from one state of its configuration to another.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::args::{ChangeOf, DiffArgs, DiffFormat, InputArgs};
use super::outputs::{formats, write_each};
use super::{EXIT_TROUBLE, Error, Io, input, worlds};
use crate::report::diff::{self as text, Compared, Presence};
use crate::report::diff_json;
use crate::report::diff_pull::{Places, write_github, write_markdown};
use crate::report::edge::Edge;
use xdsctl::client::{Client, Keep, Resources};
use xdsctl::diff::pairs::{Candidate, pairs};
use xdsctl::diff::{Diff, compare};

/// Exit code with `--exit-code` if anything changes, and with `--fail-on` if that does.
const EXIT_CHANGES: u8 = 1;

/// What one client holds, and what it is called.
pub struct Side {
    /// The client.
    pub client: Client,
    /// The document or directory, and the part of it, without the argument that named it.
    pub world: String,
    /// Where its resources stand, if that is to be told.
    places: Places,
}

pub(super) fn run(args: &DiffArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    let [before, after] = args.input.files.as_slice() else {
        return Err(Error::Usage(format!(
            "diff takes two inputs, BEFORE and AFTER, it got {}",
            args.input.files.len()
        )));
    };
    let formats = formats(&args.formats, DiffFormat::Human, "json=out.json")?;
    let is_placed = formats.iter().any(|form| form.format == DiffFormat::Github);
    let mut files = Vec::new();
    let before = sides(before, &args.input, false, &mut files, io)?;
    let after = sides(after, &args.input, is_placed, &mut files, io)?;
    let compared: Vec<Compared> = paired(before, after)
        .into_iter()
        .map(|pair| Compared {
            diff: compare(&pair.before, &pair.after, args.input.show_secrets),
            ..pair
        })
        .collect();
    let is_empty = |compared: &Compared| {
        let clients = [&compared.before, &compared.after];
        compared.diff.is_empty() && clients.iter().all(|client| client.resources.count() == 0)
    };
    if compared.iter().all(is_empty) {
        let message = "neither input has a resource to compare; `diff` does not compare bootstraps";
        return Err(Error::Nothing(message.to_owned()));
    }
    let colour = io.colours(args.color);
    let shows_secrets = args.input.show_secrets;
    let (paths, summary) = (&io.paths, io.step_summary.as_deref());
    write_each(
        &formats,
        &files,
        shows_secrets,
        &mut io.out,
        |format, is_file, out| match format {
            DiffFormat::Human => text::write(&compared, args.all, colour && !is_file, out),
            DiffFormat::Json => diff_json::write(&compared, out),
            DiffFormat::Markdown => write_markdown(&compared, out),
            DiffFormat::Github => {
                if let Some(file) = summary {
                    let summary = File::options().append(true).create(true).open(file)?;
                    write_markdown(&compared, &mut Edge::new(summary, shows_secrets))?;
                }
                write_github(&compared, paths, out)
            }
        },
    )?;
    if compared.iter().any(|compared| compared.diff.routes_are_cut()) {
        writeln!(
            io.err,
            "warning: the route tables are too large to be compared in full, RPCs may move that are not listed"
        )?;
    }
    if compared.iter().any(|compared| compared.diff.clusters_are_cut) {
        writeln!(
            io.err,
            "warning: the clusters have too many endpoints to be compared in full, some may change that are not listed"
        )?;
    }
    Ok(exit_code(args, &compared))
}

/// The exit code: what is to fail is looked for, and not found only if nothing was left out.
fn exit_code(args: &DiffArgs, compared: &[Compared]) -> u8 {
    let fails = |compared: &Compared| {
        let diff = &compared.diff;
        let is_named = |what: &ChangeOf| match what {
            ChangeOf::Rpcs => diff.moves_rpcs(),
            ChangeOf::Verdicts => diff.changes_verdicts(),
        };
        args.exit_code && !diff.is_empty() || args.fail_on.iter().any(is_named)
    };
    if compared.iter().any(fails) {
        return EXIT_CHANGES;
    }
    let is_cut = compared.iter().any(|compared| compared.diff.is_cut());
    match is_cut && args.fail_on.contains(&ChangeOf::Rpcs) {
        true => EXIT_TROUBLE,
        false => 0,
    }
}

/// Reads one of the two inputs: the client of each world, and the names of the files.
fn sides(
    path: &Path,
    args: &InputArgs,
    is_placed: bool,
    files: &mut Vec<PathBuf>,
    io: &mut Io<'_>,
) -> Result<Vec<Side>, Error> {
    let args = InputArgs {
        files: vec![path.to_owned()],
        ..args.clone()
    };
    let mut inputs = input::open(&args, io)?;
    let settled = inputs.settle(Keep::Values, io)?;
    let node_id = inputs
        .bootstrap
        .take()
        .map(|bootstrap| bootstrap.node_id)
        .unwrap_or_default();
    let store = Arc::new(inputs.into_store());
    files.extend(store.sources.iter().map(|(_, source)| PathBuf::from(source.name())));
    let mut placed = if is_placed { Places::of(&settled) } else { Vec::new() }.into_iter();
    let worlds = settled.hold(&store).into_iter().map(|(name, resources)| {
        // Both have the worlds in one order.
        let origins = placed.find(|(world, _)| *world == name).map(|(_, origins)| origins);
        let places = Places {
            origins: origins.unwrap_or_default(),
            store: is_placed.then(|| Arc::clone(&store)),
        };
        let source = store.sources.get(name.source).map_or("", |source| source.name());
        let inside = below(source, path);
        let world = match name.scope {
            None => inside,
            // A directory is named by itself.
            Some(scope) if worlds::place(source).starts_with(&worlds::place(&scope)) => below(&scope, path),
            Some(scope) if inside.is_empty() => scope,
            Some(scope) => format!("{inside} {scope}"),
        };
        Side {
            client: Client {
                resources,
                node_id: node_id.clone(),
                dns: Default::default(),
                profile: store.profile.clone(),
                server: store.server.clone(),
                lookup_targets: Default::default(),
            },
            world,
            places,
        }
    });
    Ok(worlds.collect())
}

/// A name without the argument that it begins with: `prod` is what `old/xds/prod` is below `old/xds`.
fn below(name: &str, argument: &Path) -> String {
    let (name, argument) = (worlds::place(name), argument.to_string_lossy());
    // `git:REVISION` is the root of that revision, as `git:REVISION:` is.
    let arguments = [worlds::place(&argument), worlds::place(&format!("{argument}:"))];
    let inside = arguments
        .iter()
        .find_map(|argument| name.strip_prefix(argument.as_slice()));
    inside.unwrap_or(&name).join("/")
}

/// Pairs the clients of both inputs by what they hold, in the order of their names; one without a partner is compared with a
/// client that holds nothing. What changes is still to be found.
fn paired(before: Vec<Side>, after: Vec<Side>) -> Vec<Compared> {
    fn candidates(sides: &[Side]) -> Vec<Candidate<'_>> {
        let candidate = sides.iter().map(|side| Candidate {
            name: &side.world,
            resources: &side.client.resources,
        });
        candidate.collect()
    }
    let found = pairs(&candidates(&before), &candidates(&after));
    let is_one = before.len() <= 1 && after.len() <= 1;
    let take = |sides: Vec<Side>| sides.into_iter().map(Some).collect::<Vec<_>>();
    let (mut before, mut after) = (take(before), take(after));
    let side = |sides: &mut Vec<Option<Side>>, at: Option<usize>| sides.get_mut(at?)?.take();
    let pair = |(one, other)| {
        let (world, presence, before, after, places) = match (side(&mut before, one), side(&mut after, other)) {
            (Some(one), Some(other)) => {
                let world = match one.world == other.world {
                    true => shown(&other.world),
                    false => format!("{} → {}", shown(&one.world), shown(&other.world)),
                };
                (world, Presence::Both, one.client, other.client, other.places)
            }
            (Some(one), None) => {
                let nothing = without_resources(&one.client);
                (
                    shown(&one.world),
                    Presence::Removed,
                    one.client,
                    nothing,
                    Places::default(),
                )
            }
            (None, Some(other)) => {
                let nothing = without_resources(&other.client);
                (
                    shown(&other.world),
                    Presence::Added,
                    nothing,
                    other.client,
                    other.places,
                )
            }
            (None, None) => return None,
        };
        let world = if is_one { String::new() } else { world };
        Some(Compared {
            world,
            presence,
            before,
            after,
            diff: Diff::default(),
            places,
        })
    };
    let mut pairs: Vec<Compared> = found.into_iter().filter_map(pair).collect();
    pairs.sort_by(|one, other| one.world.cmp(&other.world));
    pairs
}

/// The name of a world among several.
fn shown(world: &str) -> String {
    if world.is_empty() { "." } else { world }.to_owned()
}

fn without_resources(client: &Client) -> Client {
    Client {
        resources: Resources::default(),
        ..client.clone()
    }
}
