//! The answer of `who`: the resources above and below a resource, as a tree for people and as lists
//! for programs (`xdsctl.who/v1`).

use std::collections::BTreeSet;
use std::io::{self, Write};

use serde::Serialize;

use crate::listed;
use xdsctl_channel::client::links::{Link, LinkedResource, Links};

/// Name of the schema of `--format json`.
const SCHEMA: &str = "xdsctl.who/v1";

/// Most references of one kind that are shown for a resource without `--all`.
const SHOWN: usize = 5;

/// Most levels that are shown above or below; it is more than a client follows.
const MAX_LEVELS: usize = 20;

/// The answer about a resource in one world.
pub struct WhoAnswer<'a> {
    /// Name of the world; empty if there is only one.
    pub world: &'a str,
    /// All references of the world.
    pub links: &'a Links,
    /// The resource that was asked about.
    pub node: &'a LinkedResource,
}

/// Writes the trees.
///
/// # Errors
/// If writing to `out` fails.
pub fn write(answers: &[WhoAnswer<'_>], all: bool, out: &mut dyn Write) -> io::Result<()> {
    for answer in answers {
        let world = match answer.world {
            "" => String::new(),
            world => format!(", in {world}"),
        };
        say!(out, "{}{}{world}", words(answer.node), state(answer.links, answer.node))?;
        let mut tree = LinkTree {
            links: answer.links,
            all,
            seen: BTreeSet::new(),
            out,
        };
        let rejected: Vec<String> = answer.links.unknown_above(answer.node).map(words).collect();
        let (no_user, no_target) = (
            match rejected.is_empty() {
                true => "nothing refers to it",
                false => "nothing that the client accepts refers to it",
            },
            match answer.links.is_rejected(answer.node) {
                true => "it is rejected, so what it refers to is not followed",
                false => "it refers to nothing",
            },
        );
        tree.side("is used by", no_user, answer.node, Links::above)?;
        if !rejected.is_empty() && answer.links.above(answer.node).is_empty() {
            let shown = if all { rejected.len() } else { SHOWN };
            let names = listed(rejected.iter().cloned(), shown);
            say!(
                tree.out,
                "  may be used by what is rejected, which is not followed: {names}"
            )?;
        }
        tree.side("leads to", no_target, answer.node, Links::below)?;
    }
    Ok(())
}

fn words(node: &LinkedResource) -> String {
    format!("{} {}", node.resource_type.short_name(), node.name)
}

/// Returns a remark about a resource.
fn state(links: &Links, node: &LinkedResource) -> &'static str {
    match (links.has(node), links.is_rejected(node)) {
        (false, _) => " (it is not there)",
        (true, true) => " (it is rejected)",
        (true, false) => "",
    }
}

struct LinkTree<'a, 'o> {
    links: &'a Links,
    all: bool,
    seen: BTreeSet<&'a LinkedResource>,
    out: &'o mut dyn Write,
}

type LinkSide = for<'l> fn(&'l Links, &LinkedResource) -> &'l [Link];

impl<'a> LinkTree<'a, '_> {
    fn side(&mut self, head: &str, nothing: &str, node: &'a LinkedResource, side: LinkSide) -> io::Result<()> {
        self.seen.clear();
        if side(self.links, node).is_empty() {
            return say!(self.out, "  {nothing}");
        }
        say!(self.out, "  {head}")?;
        self.level(node, side, 1)
    }

    fn level(&mut self, node: &'a LinkedResource, side: LinkSide, level: usize) -> io::Result<()> {
        let links = side(self.links, node);
        let shown = if self.all { links.len() } else { SHOWN };
        let indent = "  ".repeat(level + 1);
        for link in links.iter().take(shown) {
            let again = if self.seen.insert(&link.to) { "" } else { " (see above)" };
            let (name, state) = (words(&link.to), state(self.links, &link.to));
            let places = self.places(link);
            say!(self.out, "{indent}{name}{state}{again}{places}")?;
            if again.is_empty() && level < MAX_LEVELS {
                self.level(&link.to, side, level + 1)?;
            }
        }
        match links.len().saturating_sub(shown) {
            0 => Ok(()),
            rest => say!(self.out, "{indent}{rest} more, --all shows them"),
        }
    }

    /// Returns the paths of a reference, as the end of a line.
    fn places(&self, link: &Link) -> String {
        let places = link.at.iter().map(ToString::to_string).filter(|path| !path.is_empty());
        let places: Vec<String> = places.collect();
        match places.as_slice() {
            [] => String::new(),
            [first, rest @ ..] if !self.all && !rest.is_empty() => format!(", at {first} and {} more", rest.len()),
            places => format!(", at {}", places.join(", ")),
        }
    }
}

#[derive(Serialize)]
struct WhoJson<'a> {
    schema: &'static str,
    resources: Vec<ResourceJson<'a>>,
}

#[derive(Serialize)]
struct ResourceJson<'a> {
    r#type: &'static str,
    name: &'a str,
    /// Name of the world; empty if there is only one.
    world: &'a str,
    is_there: bool,
    is_rejected: bool,
    used_by: Vec<Reference<'a>>,
    leads_to: Vec<Reference<'a>>,
    /// Rejected resources that may refer to it.
    may_be_used_by: Vec<Named<'a>>,
}

#[derive(Serialize)]
struct Named<'a> {
    r#type: &'static str,
    name: &'a str,
}

/// A resource that refers to this one or is referred to, directly or through others.
#[derive(Serialize)]
struct Reference<'a> {
    r#type: &'static str,
    name: &'a str,
    is_there: bool,
    /// Number of references from the resource to this one, from 1.
    distance: usize,
    paths: Vec<String>,
}

/// Writes all resources above and below, the nearest first.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_json(answers: &[WhoAnswer<'_>], out: &mut dyn Write) -> io::Result<()> {
    let resources = answers.iter().map(|answer| ResourceJson {
        r#type: answer.node.resource_type.short_name(),
        name: &answer.node.name,
        world: answer.world,
        is_there: answer.links.has(answer.node),
        is_rejected: answer.links.is_rejected(answer.node),
        used_by: reached(answer, Links::above),
        leads_to: reached(answer, Links::below),
        may_be_used_by: answer
            .links
            .unknown_above(answer.node)
            .map(|node| Named {
                r#type: node.resource_type.short_name(),
                name: &node.name,
            })
            .collect(),
    });
    let document = WhoJson {
        schema: SCHEMA,
        resources: resources.collect(),
    };
    crate::write_json(&document, out)
}

fn reached<'a>(answer: &WhoAnswer<'a>, side: LinkSide) -> Vec<Reference<'a>> {
    let mut seen: BTreeSet<&LinkedResource> = BTreeSet::from([answer.node]);
    let mut reached = Vec::new();
    let mut front = vec![answer.node];
    let mut distance = 0;
    while !front.is_empty() {
        distance += 1;
        let mut next = Vec::new();
        for node in front {
            for link in side(answer.links, node) {
                reached.push(Reference {
                    r#type: link.to.resource_type.short_name(),
                    name: &link.to.name,
                    is_there: answer.links.has(&link.to),
                    distance,
                    paths: link.at.iter().map(ToString::to_string).collect(),
                });
                if seen.insert(&link.to) {
                    next.push(&link.to);
                }
            }
        }
        front = next;
    }
    reached
}
