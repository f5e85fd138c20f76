//! Which virtual hosts an authority finds in two RouteConfigurations, and what changes for its
//! RPCs.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use super::budget::DiffBudget;
use super::tables::{Moves, compare};
use xdsctl_model::resource::domain::{DomainClass, DomainComparison, best_match_by};
use xdsctl_model::resource::route::{Route, VirtualHost};
use xdsctl_model::resource::{Millis, RouteConfiguration};

/// Most comparisons of a domain with an authority for two RouteConfigurations.
pub const MAX_DOMAIN_STEPS: usize = 20_000_000;

/// Looking up a domain on both sides takes as long as this many comparisons with a route.
const STEPS_OF_A_DOMAIN: u64 = 50;

/// What changes for the authorities that find the same two virtual hosts.
#[derive(Debug, Clone, PartialEq)]
pub struct HostChange {
    /// The domains by which these authorities find them, or an authority that matches two domains
    /// with a `*`.
    pub domains: Vec<String>,
    /// Position of the virtual host before the change; `None` if there is none, so that every RPC
    /// fails.
    pub before: Option<usize>,
    /// Position of the virtual host after the change; `None` if there is none.
    pub after: Option<usize>,
    /// What changes for its RPCs, if there is a virtual host before and after.
    pub moves: Moves,
}

/// What changes between two RouteConfigurations for applications that send RPCs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HostChanges {
    /// The changes, ordered by the positions of the virtual hosts before and after.
    pub hosts: Vec<HostChange>,
    /// Whether a limit was reached, so that other authorities may change as well.
    pub is_cut: bool,
}

/// Finds the authorities whose RPCs go elsewhere or have another deadline or other retries. With
/// `one`, only this authority is looked at. Each RouteConfiguration comes with the deadline of its
/// listener, 0 for none.
pub(super) fn compare_hosts(
    (before, deadline_before): (&RouteConfiguration, Millis),
    (after, deadline_after): (&RouteConfiguration, Millis),
    (comparison, one): (DomainComparison, Option<&str>),
    budget: &mut DiffBudget,
) -> HostChanges {
    let mut changes = HostChanges::default();
    if before == after && deadline_before == deadline_after {
        return changes;
    }
    let (before, after) = (&before.virtual_hosts, &after.virtual_hosts);
    let domains: usize = before.iter().chain(after).map(|host| 1 + host.domains.len()).sum();
    if !budget.steps.take(domains as u64 * STEPS_OF_A_DOMAIN) {
        changes.is_cut = true;
        return changes;
    }
    let pairs = match one {
        Some(authority) => {
            let find = |hosts: &[VirtualHost]| {
                best_match_by(hosts.iter().map(|host| &host.domains), authority, comparison).map(|found| found.host)
            };
            BTreeMap::from([((find(before), find(after)), vec![authority.to_owned()])])
        }
        None => pairs((before, after), comparison, MAX_DOMAIN_STEPS, &mut changes.is_cut),
    };
    for ((one, other), domains) in pairs {
        let moves = match (routes(before, one), routes(after, other)) {
            (None, None) => continue,
            (Some(before), Some(after)) => compare((before, deadline_before), (after, deadline_after), budget),
            (Some(_), None) | (None, Some(_)) => Moves::default(),
        };
        changes.is_cut |= moves.is_cut;
        if !moves.moves.is_empty() || one.is_some() != other.is_some() {
            changes.hosts.push(HostChange {
                domains,
                before: one,
                after: other,
                moves,
            });
        }
    }
    changes
}

fn routes(hosts: &[VirtualHost], at: Option<usize>) -> Option<&[Route]> {
    Some(hosts.get(at?)?.routes.as_slice())
}

/// Positions of a virtual host before and after.
type HostPair = (Option<usize>, Option<usize>);

/// Returns the pairs of virtual hosts that some authority finds before and after, each with the
/// domains that show it.
///
/// Sets `is_cut` if that would take more than `most` comparisons.
fn pairs(
    (before, after): (&[VirtualHost], &[VirtualHost]),
    comparison: DomainComparison,
    most: usize,
    is_cut: &mut bool,
) -> BTreeMap<HostPair, Vec<String>> {
    let (first_before, first_after) = (by_domain(before, comparison), by_domain(after, comparison));
    let mut domains: Vec<&str> = after
        .iter()
        .chain(before)
        .flat_map(|h| &h.domains)
        .map(String::as_str)
        .collect();
    domains.sort_unstable();
    domains.dedup_by(|a, b| folded(a, comparison) == folded(b, comparison));
    let is_same_set =
        first_before.len() == first_after.len() && first_before.keys().all(|domain| first_after.contains_key(domain));
    let mut pairs: BTreeMap<HostPair, Vec<String>> = BTreeMap::new();
    if is_same_set {
        // Every authority matches the same domain on both sides.
        for domain in domains {
            let domain_key = folded(domain, comparison);
            let pair = (
                first_before.get(&*domain_key).copied(),
                first_after.get(&*domain_key).copied(),
            );
            pairs.entry(pair).or_default().push(domain.to_owned());
        }
        return pairs;
    }
    let (starred_before, starred_after) = (Starred::of(before), Starred::of(after));
    let crossings = crossings(&domains);
    let authorities = domains.iter().map(|domain| (*domain, authority(domain)));
    let authorities = authorities.chain(
        crossings
            .iter()
            .map(|authority| (authority.as_str(), authority.clone())),
    );
    let mut steps = 0;
    let count = |hosts: &[VirtualHost]| hosts.iter().map(|h| h.domains.len()).sum::<usize>();
    let cost = count(before) + count(after);
    for (domain, authority) in authorities {
        steps += cost;
        if steps > most {
            *is_cut = true;
            break;
        }
        pairs
            .entry((
                starred_before.find(&authority, comparison, &first_before),
                starred_after.find(&authority, comparison, &first_after),
            ))
            .or_default()
            .push(domain.to_owned());
    }
    pairs
}

/// Returns a domain in a form in which equal domains are the same text.
fn folded(domain: &str, comparison: DomainComparison) -> Cow<'_, str> {
    match comparison {
        DomainComparison::Folded | DomainComparison::Longest => Cow::Owned(domain.to_ascii_lowercase()),
        DomainComparison::Exact | DomainComparison::Bytes => Cow::Borrowed(domain),
    }
}

/// Returns the first virtual host that has each domain. The keys are in the form in which domains
/// are compared.
fn by_domain(hosts: &[VirtualHost], comparison: DomainComparison) -> HashMap<Cow<'_, str>, usize> {
    let mut first = HashMap::new(); // looked up only
    for (position, host) in hosts.iter().enumerate() {
        for domain in &host.domains {
            first.entry(folded(domain, comparison)).or_insert(position);
        }
    }
    first
}

/// The domains with a `*`, for lookups.
struct Starred<'a> {
    /// The position of each virtual host that has such domains, with these domains.
    hosts: Vec<(usize, Vec<&'a String>)>,
}

impl<'a> Starred<'a> {
    fn of(hosts: &'a [VirtualHost]) -> Starred<'a> {
        let is_starred = |domain: &&String| DomainClass::of(domain) != Some(DomainClass::Exact);
        let starred = |host: &'a VirtualHost| -> Vec<&String> { host.domains.iter().filter(is_starred).collect() };
        let hosts = hosts.iter().map(starred).enumerate();
        Starred {
            hosts: hosts.filter(|(_, domains)| !domains.is_empty()).collect(),
        }
    }

    /// Finds the virtual host of an authority; `first` has the first virtual host of each domain.
    fn find(
        &self,
        authority: &str,
        comparison: DomainComparison,
        first: &HashMap<Cow<'_, str>, usize>,
    ) -> Option<usize> {
        let mut starred = self.hosts.iter().flat_map(|(_, domains)| domains);
        if comparison == DomainComparison::Exact && starred.any(|domain| DomainClass::of(domain).is_none()) {
            return None;
        }
        // A domain without a `*` that is equal to the authority comes before every domain with a
        // `*`.
        if DomainClass::of(authority) == Some(DomainClass::Exact)
            && let Some(host) = first.get(&*folded(authority, comparison))
        {
            return Some(*host);
        }
        let domains = self.hosts.iter().map(|(_, domains)| domains.iter().copied());
        let found = best_match_by(domains, authority, comparison)?;
        self.hosts.get(found.host).map(|(host, _)| *host)
    }
}

/// Returns an authority that matches `domain` and is hardly a domain itself.
fn authority(domain: &str) -> String {
    const ANY: &str = "any-other";
    match DomainClass::of(domain) {
        Some(DomainClass::Universe) => ANY.to_owned(),
        Some(DomainClass::Suffix) => format!("{ANY}{}", domain.get(1..).unwrap_or_default()),
        Some(DomainClass::Prefix) => format!("{}{ANY}", domain.strip_suffix('*').unwrap_or(domain)),
        Some(DomainClass::Exact) | None => domain.to_owned(),
    }
}

/// Most domains that are looked at of each class with a `*`.
const MAX_CROSSED: usize = 100;

/// Returns authorities that match both a domain with a `*` at the end and one with a `*` at the
/// start.
fn crossings(domains: &[&str]) -> Vec<String> {
    let of_class = |class| {
        domains
            .iter()
            .filter(move |domain| DomainClass::of(domain) == Some(class))
            .take(MAX_CROSSED)
    };
    of_class(DomainClass::Prefix)
        .flat_map(|prefix| {
            let start = prefix.strip_suffix('*').unwrap_or(prefix);
            of_class(DomainClass::Suffix)
                .map(move |suffix| format!("{start}any{}", suffix.get(1..).unwrap_or_default()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_beyond_the_limit_are_not_made_and_that_is_said() {
        let host = |domain: &str| VirtualHost {
            domains: vec![domain.to_owned()],
            ..VirtualHost::default()
        };
        let (before, after) = ([host("a"), host("b")], [host("a"), host("c")]);
        let cut = |most: usize| {
            let mut is_cut = false;
            let pairs = pairs((&before, &after), DomainComparison::Folded, most, &mut is_cut);
            (pairs.values().map(Vec::len).sum::<usize>(), is_cut)
        };
        // Three domains, each compared with four.
        assert_eq!(cut(12), (3, false));
        assert_eq!(cut(11), (2, true));
        assert_eq!(cut(3), (0, true));
    }

    #[test]
    fn the_host_of_an_authority_is_that_of_the_best_match() {
        let host = |domains: &str| VirtualHost {
            domains: domains.split(' ').map(str::to_owned).collect(),
            ..VirtualHost::default()
        };
        let hosts = ["*.b a*c", "A.b a.*", "a.b *.a.b", "*", "* b", ""].map(host);
        for count in 0..=hosts.len() {
            let hosts = hosts.get(..count).unwrap();
            for comparison in [
                DomainComparison::Folded,
                DomainComparison::Exact,
                DomainComparison::Bytes,
                DomainComparison::Longest,
            ] {
                let (starred, first) = (Starred::of(hosts), by_domain(hosts, comparison));
                for authority in ["a.b", "A.B", "x.a.b", "x.b", "a.x", "b", "B", "a*c", "x", "*", ""] {
                    let domains = hosts.iter().map(|h| &h.domains);
                    let best = best_match_by(domains, authority, comparison).map(|m| m.host);
                    let found = starred.find(authority, comparison, &first);
                    assert_eq!(found, best, "{count} {authority} {comparison:?}");
                }
            }
        }
    }
}
