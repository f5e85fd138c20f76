//! `xdsctl who`: what refers to a resource, and what it leads to.

use std::collections::BTreeSet;
use std::path::Path;

use super::args::{Format, WhoArgs};
use super::channel::no_such;
use super::input;
use super::{Error, Io};
use crate::report::who::{self, Answer};
use xdsctl::client::Keep;
use xdsctl::client::links::{Links, Node};

/// Exit code where the resource is referred to and not there.
const EXIT_MISSING: u8 = 1;

pub(super) fn run(args: &WhoArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    refuse_swapped(args)?;
    let mut inputs = input::open(&args.input, io)?;
    let settled = match inputs.settle(Keep::Places, io) {
        Err(Error::Nothing(_)) if Path::new(&args.name).is_file() => return Err(swapped(&args.name)),
        settled => settled?,
    };
    let wanted = args.resource_type.map(|kind| kind.resource_type());
    let worlds: Vec<Links> = settled.worlds.iter().map(Links::of).collect();
    let fits = |node: &Node| wanted.is_none_or(|wanted| node.resource_type == wanted);
    let mut answers = Vec::new();
    for links in &worlds {
        let nodes = links.nodes().filter(|node| node.name == args.name && fits(node));
        answers.extend(nodes.map(|node| Answer { links, node }));
    }
    if answers.is_empty() {
        if Path::new(&args.name).is_file() {
            return Err(swapped(&args.name));
        }
        let names = worlds.iter().flat_map(Links::nodes);
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

/// A file in the place of the name, and a name in that of the file.
fn refuse_swapped(args: &WhoArgs) -> Result<(), Error> {
    let files = args.input.files.iter();
    let missing = files
        .filter_map(|file| file.to_str())
        .find(|file| *file != "-" && !Path::new(file).exists());
    match missing.filter(|file| !super::live::is_address(file)) {
        Some(name) if Path::new(&args.name).exists() => Err(Error::Usage(format!(
            "`{name}` is no file and `{0}` is one: the name of the resource comes first, `xdsctl who {name} {0}`",
            args.name
        ))),
        _ => Ok(()),
    }
}
