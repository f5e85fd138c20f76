//! `xdsctl diff`: what changes for a client from one state of its configuration to another.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::args::{DiffArgs, Format, InputArgs};
use super::input;
use super::{Error, Io};
use crate::report::diff::{self as text, Compared};
use crate::report::diff_json;
use xdsctl::client::{Client, Keep, Resources};
use xdsctl::diff::compare;

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
    let compared: Vec<Compared> = pairs(before, after)
        .into_iter()
        .map(|(world, before, after)| Compared {
            diff: compare(&before, &after, args.input.show_secrets),
            world,
            before,
            after,
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
        let shown = path.to_string_lossy();
        let inside = source.strip_prefix(&*shown).unwrap_or(source).trim_start_matches('/');
        let world = match (inside, name.scope) {
            (inside, None) => inside.to_owned(),
            ("", Some(scope)) => scope,
            (inside, Some(scope)) => format!("{inside} {scope}"),
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

/// Pairs the clients of both inputs: the only ones, else those of the same name; one without a partner is compared with a client
/// that holds nothing.
fn pairs(before: Vec<Side>, after: Vec<Side>) -> Vec<(String, Client, Client)> {
    let nothing = |other: &Client| Client {
        resources: Resources::default(),
        ..other.clone()
    };
    let is_one = before.len() <= 1 && after.len() <= 1;
    let mut by_name: BTreeMap<String, (Option<Client>, Option<Client>)> = BTreeMap::new();
    let name = |world: String| if is_one { String::new() } else { world };
    for side in before {
        by_name.entry(name(side.world)).or_default().0 = Some(side.client);
    }
    for side in after {
        by_name.entry(name(side.world)).or_default().1 = Some(side.client);
    }
    let pair = |(world, sides): (String, (Option<Client>, Option<Client>))| match sides {
        (Some(before), Some(after)) => Some((world, before, after)),
        (Some(before), None) => Some((world, before.clone(), nothing(&before))),
        (None, Some(after)) => Some((world, nothing(&after), after)),
        (None, None) => None,
    };
    by_name.into_iter().filter_map(pair).collect()
}
