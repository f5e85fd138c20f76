//! `xdsctl who`: what refers to a resource, and what it leads to.

use std::collections::BTreeSet;
use std::path::Path;

use crate::args::{Format, WhoArgs};
use crate::io::{input, worlds};
use crate::session::words::no_such;
use crate::{Error, Io};
use xdsctl_channel::client::links::{LinkedResource, Links};
use xdsctl_channel::client::{Keep, World};
use xdsctl_report::who::{self, WhoAnswer};

/// The exit code if something refers to the resource, but the resource is missing.
const EXIT_MISSING: u8 = 1;

pub(super) fn run(args: &WhoArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    refuse_swapped(args)?;
    let mut inputs = input::open(&args.input, io)?;
    let world_set = match inputs.read_worlds(Keep::Places, io) {
        Err(Error::Nothing(_)) if Path::new(&args.name).is_file() => return Err(swapped(&args.name)),
        world_set => world_set?,
    };
    let name_of = |world: &World| worlds::name_of(world, &world_set, &inputs.sources);
    let all = world_set.worlds.iter().map(name_of);
    if let Some(unknown) = args
        .in_world
        .as_deref()
        .filter(|wanted| !all.clone().any(|name| name == *wanted))
    {
        return Err(Error::Usage(format!("--in: {}", no_such("world", unknown, all))));
    }
    let is_asked = |world: &&World| args.in_world.as_deref().is_none_or(|wanted| name_of(world) == wanted);
    let asked = world_set.worlds.iter().filter(is_asked);
    let worlds: Vec<(&str, Links)> = asked.map(|world| (name_of(world), Links::of(world))).collect();
    let fits = |node: &LinkedResource| args.resource_type.is_none_or(|wanted| node.resource_type == wanted);
    let mut answers = Vec::new();
    for (name, links) in &worlds {
        let nodes = links.nodes().filter(|node| node.name == args.name && fits(node));
        let world = if world_set.worlds.len() > 1 { name } else { "" };
        answers.extend(nodes.map(|node| WhoAnswer { world, links, node }));
    }
    if answers.is_empty() {
        if Path::new(&args.name).is_file() {
            return Err(swapped(&args.name));
        }
        let names = worlds.iter().flat_map(|(_, links)| links.nodes());
        let names: BTreeSet<&str> = names.filter(|node| fits(node)).map(|node| node.name.as_str()).collect();
        return Err(Error::Usage(no_such("resource", &args.name, names.iter().copied())));
    }
    match args.format {
        Format::Human => who::write(&answers, args.all, &mut io.out)?,
        Format::Json => who::write_json(&answers, &mut io.out)?,
    }
    let is_missing = answers.iter().any(|answer| !answer.links.has(answer.node));
    Ok(if is_missing { EXIT_MISSING } else { 0 })
}

fn swapped(name: &str) -> Error {
    Error::Usage(format!(
        "no resource `{name}`, which is a file: the name of the resource comes first, `xdsctl who NAME {name}`"
    ))
}

/// Refuses arguments in which a file and the name are in each other's place.
fn refuse_swapped(args: &WhoArgs) -> Result<(), Error> {
    let files = args.input.files.iter();
    let missing = files
        .filter_map(|file| file.to_str())
        .find(|file| *file != "-" && !Path::new(file).exists());
    match missing.filter(|file| !crate::io::live::is_address(file)) {
        Some(name) if Path::new(&args.name).exists() => Err(Error::Usage(format!(
            "`{name}` is no file and `{0}` is one: the name of the resource comes first, `xdsctl who {name} {0}`",
            args.name
        ))),
        _ => Ok(()),
    }
}
