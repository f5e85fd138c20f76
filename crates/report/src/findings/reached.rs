//! `--show reached`: what each resource refers to, and what the client keeps of those that channels
//! reach first. It is enough to draw a picture, where `--show parsed` may have many times the bytes
//! of the dump.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::Parsed;
use xdsctl_channel::client::World;
use xdsctl_channel::client::links::{LinkedResource, Links};
use xdsctl_document::envelope::WorldId;
use xdsctl_lint::decide::CheckOutcome;
use xdsctl_model::resource::ResourceType;

/// Resources of which the parsed form is shown, in all.
pub const MAX_SHOWN: usize = 400;

/// What it is made of, when all that was found is written.
#[derive(Debug)]
pub struct Reached {
    worlds: Vec<World>,
    /// Every resource by its number; none for a type that a gRPC client does not ask for.
    resources: Vec<(WorldId, Option<LinkedResource>, Option<Parsed>)>,
    /// Resources with these names come first.
    names: Vec<String>,
}

/// What is shown of a resource.
#[derive(Debug, serde::Serialize)]
pub struct ReachedRow<'r> {
    /// Its number.
    resource: usize,
    /// What it refers to.
    refers_to: Vec<(&'static str, &'r str)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parsed: Option<&'r Parsed>,
}

impl Reached {
    /// Takes what the client keeps out of what was checked.
    pub fn take(outcome: &mut CheckOutcome, names: &[String], shows_secrets: bool) -> Reached {
        let resources = outcome.resources.iter_mut().map(|checked| {
            let node = checked.resource_type.map(|resource_type| LinkedResource {
                resource_type,
                name: checked.name.clone(),
            });
            let parsed = checked.parsed.take().map(|resource| Parsed {
                resource,
                shows_secrets,
            });
            (checked.world, node, parsed)
        });
        Reached {
            resources: resources.collect(),
            worlds: std::mem::take(&mut outcome.worlds),
            names: names.to_vec(),
        }
    }

    /// Hands over the resources of which there is something to be shown.
    ///
    /// Resources with the names that were asked for come first with what they lead to, then
    /// Listeners, then what nothing refers to.
    ///
    /// # Errors
    /// Those of `write`.
    pub fn rows<E>(&self, mut write: impl FnMut(&ReachedRow<'_>) -> Result<(), E>) -> Result<(), E> {
        let links: BTreeMap<WorldId, Links> = self.worlds.iter().map(|world| (world.id, Links::of(world))).collect();
        let shown = self.shown(&links);
        for (number, (world, node, parsed)) in self.resources.iter().enumerate() {
            let (Some(node), Some(links)) = (node, links.get(world)) else {
                continue;
            };
            let below = links.below(node).iter();
            let row = ReachedRow {
                resource: number,
                refers_to: below
                    .map(|link| (link.to.resource_type.short_name(), &*link.to.name))
                    .collect(),
                parsed: parsed.as_ref().filter(|_| shown.contains(&(world, node))),
            };
            if row.parsed.is_some() || !row.refers_to.is_empty() {
                write(&row)?;
            }
        }
        Ok(())
    }

    /// The resources of which the parsed form is shown.
    fn shown<'l>(&self, links: &'l BTreeMap<WorldId, Links>) -> BTreeSet<(&'l WorldId, &'l LinkedResource)> {
        let wanted: BTreeSet<&str> = self.names.iter().map(String::as_str).collect();
        let all = || {
            let of_world = |(world, links)| Links::nodes(links).map(move |node| (world, links, node));
            links.iter().flat_map(of_world)
        };
        let starts = all()
            .filter(|(.., node)| wanted.contains(node.name.as_str()))
            .chain(all().filter(|(.., node)| node.resource_type == ResourceType::Listener))
            .chain(all().filter(|(_, links, node)| links.above(node).is_empty()));
        let mut shown = BTreeSet::new();
        for start in starts {
            if shown.len() == MAX_SHOWN {
                break;
            }
            let mut queue = VecDeque::from([start]);
            while let Some((world, links, node)) = queue.pop_front().filter(|_| shown.len() < MAX_SHOWN) {
                if shown.insert((world, node)) {
                    queue.extend(links.below(node).iter().map(|link| (world, links, &link.to)));
                }
            }
        }
        shown
    }
}
