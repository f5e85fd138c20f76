//! Matches the worlds of two inputs by the types and names of the resources that they hold.
//!
//! It uses the names of worlds, but does not know where these come from.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, VecDeque};

use xdsctl_channel::client::Resources;
use xdsctl_model::resource::ResourceType;

/// Most steps in which the common resources of two worlds are counted. Above that, only worlds at
/// the same position are compared.
pub const MAX_STEPS: usize = 1_000_000;

/// A world for which a partner is wanted.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    /// Name of the world.
    pub name: &'a str,
    /// The resources that its client holds.
    pub resources: &'a Resources,
}

/// The indices of a world before and after; `None` on the side where it is missing.
pub type Pair = (Option<usize>, Option<usize>);

/// The type and name of a resource, whatever its content.
type ResourceKey<'a> = (ResourceType, &'a str);

/// Pairs the worlds of two inputs. Each world occurs once, in the order of the first input and then
/// of the second.
///
/// If each input has one world, these two are a pair. Otherwise two worlds with the same name are a
/// pair if they share more than half of the resources of either. The remaining worlds are paired by
/// these criteria, in this order: most common resources, fewest others, same name, lowest indices.
/// Worlds without a common resource are not a pair.
pub fn pairs(before: &[Candidate<'_>], after: &[Candidate<'_>]) -> Vec<Pair> {
    if before.len() <= 1 && after.len() <= 1 {
        return vec![(before.first().map(|_| 0), after.first().map(|_| 0))];
    }
    let mut pairing = Pairing {
        before: before.iter().map(PairedWorld::of).collect(),
        after: after.iter().map(PairedWorld::of).collect(),
    };
    pairing.of_one_name();
    pairing.of_the_same();
    pairing.of_the_most();
    let Pairing { before, after } = pairing;
    let known = before.iter().enumerate();
    let mut pairs: Vec<Pair> = known.map(|(number, world)| (Some(number), world.partner)).collect();
    let new = after.iter().enumerate().filter(|(_, world)| world.partner.is_none());
    pairs.extend(new.map(|(number, _)| (None, Some(number))));
    pairs
}

struct PairedWorld<'a> {
    name: &'a str,
    /// The types and names of its resources, sorted.
    keys: Vec<ResourceKey<'a>>,
    partner: Option<usize>,
}

impl<'a> PairedWorld<'a> {
    fn of(candidate: &Candidate<'a>) -> PairedWorld<'a> {
        let Resources {
            listeners,
            route_configs,
            clusters,
            endpoints,
            ..
        } = candidate.resources;
        let of = |resource_type: ResourceType, names: &mut dyn Iterator<Item = &'a String>| -> Vec<ResourceKey<'a>> {
            names.map(|name| (resource_type, name.as_str())).collect()
        };
        let mut keys = of(ResourceType::Listener, &mut listeners.keys());
        keys.extend(of(ResourceType::RouteConfiguration, &mut route_configs.keys()));
        keys.extend(of(ResourceType::Cluster, &mut clusters.keys()));
        keys.extend(of(ResourceType::Endpoints, &mut endpoints.keys()));
        keys.sort_unstable();
        PairedWorld {
            name: candidate.name,
            keys,
            partner: None,
        }
    }

    /// Returns how many resources are in both worlds.
    fn common(&self, other: &PairedWorld<'_>) -> usize {
        let mut others = other.keys.iter().peekable();
        let is_there = |key: &&ResourceKey<'_>| {
            while others.next_if(|other| *other < *key).is_some() {}
            others.next_if(|other| other == key).is_some()
        };
        self.keys.iter().filter(is_there).count()
    }
}

struct Pairing<'a> {
    before: Vec<PairedWorld<'a>>,
    after: Vec<PairedWorld<'a>>,
}

impl<'a> Pairing<'a> {
    fn join(&mut self, one: usize, other: usize) {
        if let (Some(before), Some(after)) = (self.before.get_mut(one), self.after.get_mut(other))
            && before.partner.is_none()
            && after.partner.is_none()
        {
            (before.partner, after.partner) = (Some(other), Some(one));
        }
    }

    fn open<'w>(worlds: &'w [PairedWorld<'a>]) -> impl Iterator<Item = (usize, &'w PairedWorld<'a>)> {
        worlds.iter().enumerate().filter(|(_, world)| world.partner.is_none())
    }

    /// Pairs worlds with the same name. This comes first: a stage that is promoted to the next
    /// environment must not be paired with its old one.
    fn of_one_name(&mut self) {
        let by_name: HashMap<&str, usize> = self.after.iter().enumerate().map(|(at, w)| (w.name, at)).collect();
        let mut found = Vec::new();
        for (one, world) in self.before.iter().enumerate() {
            if let Some(&other) = by_name.get(world.name)
                && let Some(after) = self.after.get(other)
                && 2 * world.common(after) > world.keys.len().max(after.keys.len())
            {
                found.push((one, other));
            }
        }
        found.into_iter().for_each(|(one, other)| self.join(one, other));
    }

    /// Pairs worlds with identical resources, since no other world can have more in common. It
    /// takes linear time.
    fn of_the_same(&mut self) {
        let mut by_keys: HashMap<&[ResourceKey<'_>], VecDeque<usize>> = HashMap::new();
        for (other, world) in Self::open(&self.after) {
            by_keys.entry(&world.keys).or_default().push_back(other);
        }
        let mut found = Vec::new();
        for (one, world) in Self::open(&self.before) {
            let same = by_keys.get_mut(world.keys.as_slice());
            found.extend(same.and_then(VecDeque::pop_front).map(|other| (one, other)));
        }
        found.into_iter().for_each(|(one, other)| self.join(one, other));
    }

    fn of_the_most(&mut self) {
        let mut found: Vec<((usize, usize), usize)> = self.counts().into_iter().collect();
        found.sort_unstable_by_key(|&((one, other), common)| {
            let worlds = self.before.get(one).zip(self.after.get(other));
            let rank = worlds.map(|(before, after)| {
                let all = before.keys.len() + after.keys.len();
                (all - 2 * common, before.name != after.name)
            });
            (Reverse(common), rank, one, other)
        });
        found.into_iter().for_each(|((one, other), _)| self.join(one, other));
    }

    /// Counts the common resources of the worlds that have no partner yet. Rare resources are
    /// counted first, because they say the most.
    fn counts(&self) -> HashMap<(usize, usize), usize> {
        let mut holders: BTreeMap<ResourceKey<'_>, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
        for (one, world) in Self::open(&self.before) {
            for key in &world.keys {
                holders.entry(*key).or_default().0.push(one);
            }
        }
        for (other, world) in Self::open(&self.after) {
            for key in &world.keys {
                if let Some((_, after)) = holders.get_mut(key) {
                    after.push(other);
                }
            }
        }
        let mut holders: Vec<(Vec<usize>, Vec<usize>)> = holders.into_values().collect();
        // The sort is stable, so the order of the resources decides between equals.
        holders.sort_by_key(|(before, after)| before.len() * after.len());
        let mut steps = 0;
        let mut counts = HashMap::new();
        for (before, after) in &holders {
            steps += before.len() * after.len();
            if steps > MAX_STEPS {
                for pair in before.iter().copied().zip(after.iter().copied()) {
                    *counts.entry(pair).or_default() += 1;
                }
                continue;
            }
            for &one in before {
                for &other in after {
                    *counts.entry((one, other)).or_default() += 1;
                }
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Pairs worlds that have these names and hold these RouteConfigurations, and returns the names
    /// of each pair.
    fn paired(before: &[(&str, &[&'static str])], after: &[(&str, &[&'static str])]) -> Vec<String> {
        let hold = |worlds: &[(&str, &[&'static str])]| -> Vec<(String, Resources)> {
            let resources = |names: &[&'static str]| {
                let type_url = "type.googleapis.com/envoy.config.route.v3.RouteConfiguration";
                let value = |name: &&'static str| json!({ "@type": type_url, "name": name });
                let list: Vec<_> = names.iter().map(value).collect();
                xdsctl::hold(json!({ "resources": list }).to_string())
                    .unwrap()
                    .resources
            };
            let world = |(name, names): &(&str, &[&'static str])| ((*name).to_owned(), resources(names));
            worlds.iter().map(world).collect()
        };
        let (before, after) = (hold(before), hold(after));
        fn candidates(worlds: &[(String, Resources)]) -> Vec<Candidate<'_>> {
            let worlds = worlds.iter();
            worlds.map(|(name, resources)| Candidate { name, resources }).collect()
        }
        let name = |worlds: &[(String, Resources)], at: Option<usize>| {
            at.map_or_else(|| "-".to_owned(), |at| worlds[at].0.clone())
        };
        pairs(&candidates(&before), &candidates(&after))
            .into_iter()
            .map(|(one, other)| format!("{} {}", name(&before, one), name(&after, other)))
            .collect()
    }

    #[test]
    fn the_only_ones_are_a_pair_whatever_they_hold() {
        assert_eq!(paired(&[("a", &["x"])], &[("b", &["y"])]), ["a b"]);
        assert_eq!(paired(&[("a", &["x"])], &[]), ["a -"]);
    }

    #[test]
    fn the_most_in_common_comes_first_then_the_fewest_others_then_the_name() {
        let small: &[&str] = &["1", "2"];
        let large: &[&str] = &["1", "2", "3", "4"];
        assert_eq!(
            paired(&[("a", small), ("b", large)], &[("x", large), ("y", small)]),
            ["a y", "b x"]
        );
        // Worlds `a` and `b` both have two resources in common with `x`. `a` has no others, so it
        // is the partner.
        assert_eq!(
            paired(&[("b", large), ("a", small)], &[("x", &["1", "2", "9"])]),
            ["b -", "a x"]
        );
        assert_eq!(
            paired(&[("a", small), ("b", small)], &[("b", small), ("a", small)]),
            ["a a", "b b"]
        );
        assert_eq!(paired(&[("a", small), ("b", small)], &[("x", small)]), ["a x", "b -"]);
        // Without a common resource there is no pair, whatever the names are.
        assert_eq!(
            paired(&[("a", &["1"]), ("b", &["2"])], &[("a", &["3"])]),
            ["a -", "b -", "- a"]
        );
    }

    #[test]
    fn a_name_counts_where_more_than_half_is_in_common() {
        let before: &[(&str, &[&str])] = &[("staging", &["1", "2"]), ("prod", &["1"])];
        let after: &[(&str, &[&str])] = &[("staging", &["1", "2", "3"]), ("prod", &["1", "2"])];
        assert_eq!(paired(before, after), ["staging staging", "prod prod"]);
        let swapped: &[(&str, &[&str])] = &[("a", &["1", "2", "3"]), ("b", &["4", "5", "6"])];
        let after: &[(&str, &[&str])] = &[("a", &["4", "5", "6", "1"]), ("b", &["1", "2", "3"])];
        assert_eq!(paired(swapped, after), ["a b", "b a"]);
    }

    #[test]
    fn thousands_of_worlds_that_share_everything_are_no_square_of_steps() {
        let names: Vec<String> = (0..5000).map(|number| format!("w{number}")).collect();
        let more: Vec<String> = (0..5000).map(|number| format!("v{number}")).collect();
        let before: Vec<(&str, &[&'static str])> =
            names.iter().map(|name| (name.as_str(), &["1", "2", "3"][..])).collect();
        let after: Vec<(&str, &[&'static str])> = more.iter().map(|name| (name.as_str(), &["1", "2"][..])).collect();
        let found = paired(&before, &after);
        assert_eq!(
            (found[0].as_str(), found[4999].as_str(), found.len()),
            ("w0 v0", "w4999 v4999", 5000)
        );
    }
}
