//! `xdsctl diff`: what changes for a client from one state of its configuration to another.

use std::path::Path;
use std::sync::Arc;

use super::args::{DiffArgs, Format, InputArgs};
use super::input;
use super::{Error, Io};
use crate::report::diff::{self as text, Compared, Presence};
use crate::report::diff_json;
use xdsctl::client::{Client, Keep, Resources};
use xdsctl::diff::compare;
use xdsctl::diff::pairs::{Candidate, pairs};

/// Exit code with `--exit-code` if anything changes.
const EXIT_CHANGES: u8 = 1;

/// What one client holds, and what it is called.
pub struct Side {
    /// The client.
    pub client: Client,
    /// The document or directory, and the part of it, without the argument that named it.
    pub world: String,
}

pub(super) fn run(args: &DiffArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    let [before, after] = args.input.files.as_slice() else {
        return Err(Error::Usage(format!(
            "diff takes two inputs, BEFORE and AFTER, it got {}",
            args.input.files.len()
        )));
    };
    let before = sides(before, &args.input, io)?;
    let after = sides(after, &args.input, io)?;
    let compared: Vec<Compared> = paired(before, after)
        .into_iter()
        .map(|pair| Compared {
            diff: compare(&pair.before, &pair.after, args.input.show_secrets),
            world: pair.world,
            presence: pair.presence,
            before: pair.before,
            after: pair.after,
        })
        .collect();
    match args.format {
        Format::Human => text::write(&compared, args.all, io.colours(args.color), &mut io.out)?,
        Format::Json => diff_json::write(&compared, &mut io.out)?,
    }
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
    let changes = compared.iter().any(|compared| !compared.diff.is_empty());
    Ok(if changes && args.exit_code { EXIT_CHANGES } else { 0 })
}

/// Reads one of the two inputs: the client of each world.
fn sides(path: &Path, args: &InputArgs, io: &mut Io<'_>) -> Result<Vec<Side>, Error> {
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
    let worlds = settled.hold(&store).into_iter().map(|(name, resources)| {
        let source = store.sources.get(name.source).map_or("", |source| source.name());
        let inside = below(source, path);
        let world = match name.scope {
            None => inside,
            // A directory is named by itself.
            Some(scope) if Path::new(source).starts_with(&scope) => below(&scope, path),
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
        }
    });
    Ok(worlds.collect())
}

/// A name without the argument that it begins with: `prod` is what `old/xds/prod` is below `old/xds`.
fn below(name: &str, argument: &Path) -> String {
    let shown = argument.to_string_lossy();
    match Path::new(name).strip_prefix(argument) {
        Ok(inside) => inside.display().to_string(),
        // `git:REVISION:` has no slash before what is below it.
        Err(_) => {
            let inside = name.strip_prefix(&*shown).unwrap_or(name);
            inside.trim_start_matches([':', '/']).to_owned()
        }
    }
}

/// The same client before and after.
struct Pair {
    world: String,
    presence: Presence,
    before: Client,
    after: Client,
}

/// Pairs the clients of both inputs by what they hold, in the order of their names; one without a partner is compared with a
/// client that holds nothing.
fn paired(before: Vec<Side>, after: Vec<Side>) -> Vec<Pair> {
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
        let (world, presence, before, after) = match (side(&mut before, one), side(&mut after, other)) {
            (Some(one), Some(other)) => {
                let world = match one.world == other.world {
                    true => shown(&other.world),
                    false => format!("{} → {}", shown(&one.world), shown(&other.world)),
                };
                (world, Presence::Both, one.client, other.client)
            }
            (Some(one), None) => {
                let nothing = without_resources(&one.client);
                (shown(&one.world), Presence::Removed, one.client, nothing)
            }
            (None, Some(other)) => {
                let nothing = without_resources(&other.client);
                (shown(&other.world), Presence::Added, nothing, other.client)
            }
            (None, None) => return None,
        };
        let world = if is_one { String::new() } else { world };
        Some(Pair {
            world,
            presence,
            before,
            after,
        })
    };
    let mut pairs: Vec<Pair> = found.into_iter().filter_map(pair).collect();
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
