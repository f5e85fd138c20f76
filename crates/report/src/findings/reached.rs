//! `--show reached`: what each resource refers to, and what the client keeps of the resources that
//! channels reach first. That is enough to draw a picture, whereas `--show parsed` may have many
//! times the bytes of the dump.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::Parsed;
use xdsctl_channel::client::World;
use xdsctl_channel::client::links::{LinkedResource, Links};
use xdsctl_document::envelope::WorldId;
use xdsctl_lint::decide::CheckOutcome;
use xdsctl_model::resource::ResourceType;

/// Most resources, in all, whose parsed form is shown.
pub const MAX_SHOWN: usize = 400;

/// The data for the rows, which are written after all findings.
#[derive(Debug)]
pub struct Reached {
    worlds: Vec<World>,
    /// Every resource, by its index; `None` for a type that gRPC clients do not ask for.
    resources: Vec<(WorldId, Option<LinkedResource>, Option<Parsed>)>,
    /// Names of the resources that come first.
    names: Vec<String>,
}

/// A row about a resource.
#[derive(Debug, serde::Serialize)]
pub struct ReachedRow<'r> {
    /// Index of the resource.
    resource: usize,
    /// The type and name of each resource that it refers to.
    refers_to: Vec<(&'static str, &'r str)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parsed: Option<&'r Parsed>,
}

impl Reached {
    /// Removes from an outcome what the client keeps of each resource.
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

    /// Calls `write` for each resource that has something to show.
    ///
    /// The parsed form is shown of a limited number of resources: first those with the names that
    /// were asked for and those that they lead to, then Listeners, then resources that nothing
    /// refers to.
    ///
    /// # Errors
    /// If `write` fails.
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

    /// Returns the resources whose parsed form is shown.
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
