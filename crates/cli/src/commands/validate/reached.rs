//! `--show reached`: what each resource refers to, and what the client keeps of those that channels
//! reach first. It is enough to draw a picture, where `--show parsed` may have many times the bytes
//! of the dump.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use xdsctl_channel::client::links::{LinkedResource, Links};
use xdsctl_document::envelope::WorldId;
use xdsctl_lint::decide::CheckOutcome;
use xdsctl_model::resource::ResourceType;

/// Resources of which the parsed form is shown, in all.
pub(super) const MAX_SHOWN: usize = 400;

/// Takes away what is not reached, and says of each resource what it refers to, by their numbers.
///
/// Resources with these names come first with what they lead to, then Listeners, then what nothing
/// refers to.
pub(super) fn reached(outcome: &mut CheckOutcome, names: &[String]) -> Vec<Vec<LinkedResource>> {
    let links: BTreeMap<WorldId, Links> = outcome
        .worlds
        .iter()
        .map(|world| (world.id, Links::of(world)))
        .collect();
    let wanted: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let all = || {
        let of_world = |(world, links)| Links::nodes(links).map(move |node| (world, links, node));
        links.iter().flat_map(of_world)
    };
    let starts = all()
        .filter(|(.., node)| wanted.contains(node.name.as_str()))
        .chain(all().filter(|(.., node)| node.resource_type == ResourceType::Listener))
        .chain(all().filter(|(_, links, node)| links.above(node).is_empty()));
    let mut shown: BTreeSet<(&WorldId, &LinkedResource)> = BTreeSet::new();
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
    let mut refers_to = Vec::with_capacity(outcome.resources.len());
    for checked in &mut outcome.resources {
        let Some(resource_type) = checked.resource_type else {
            refers_to.push(Vec::new());
            continue;
        };
        let node = LinkedResource {
            resource_type,
            name: checked.name.clone(),
        };
        let below = links.get(&checked.world).map_or(&[][..], |links| links.below(&node));
        refers_to.push(below.iter().map(|link| link.to.clone()).collect());
        if !shown.contains(&(&checked.world, &node)) {
            checked.parsed = None;
        }
    }
    refers_to
}
