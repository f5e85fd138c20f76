//! Which virtual hosts an authority finds in two RouteConfigurations, and what changes for its
//! RPCs.

use std::collections::BTreeMap;

use super::budget::DiffBudget;
use super::tables::{Moves, compare};
use xdsctl_model::resource::domain::{DomainClass, DomainComparison, DomainIndex, best_match_by, crossings};
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
    let [index_before, index_after] =
        [before, after].map(|hosts| DomainIndex::of(hosts.iter().map(|host| host.domains.as_slice()), comparison));
    let mut domains: Vec<&str> = after
        .iter()
        .chain(before)
        .flat_map(|h| &h.domains)
        .map(String::as_str)
        .collect();
    domains.sort_unstable();
    domains.dedup_by(|a, b| comparison.folded(a) == comparison.folded(b));
    let mut pairs: BTreeMap<HostPair, Vec<String>> = BTreeMap::new();
    if index_before.has_the_domains_of(&index_after) {
        // Every authority matches the same domain on both sides.
        for domain in domains {
            let pair = (index_before.host(domain), index_after.host(domain));
            pairs.entry(pair).or_default().push(domain.to_owned());
        }
        return pairs;
    }
    let authorities = domains.into_iter().map(|domain| (domain.to_owned(), authority(domain)));
    let crossed = crossings(&index_before, &index_after);
    let authorities = authorities.chain(crossed.map(|authority| (authority.clone(), authority)));
    let mut steps = 0;
    let count = |hosts: &[VirtualHost]| hosts.iter().map(|h| h.domains.len()).sum::<usize>();
    let cost = count(before) + count(after);
    for (domain, authority) in authorities {
        steps += cost;
        if steps > most {
            *is_cut = true;
            break;
        }
        let pair = (index_before.find(&authority), index_after.find(&authority));
        pairs.entry(pair).or_default().push(domain);
    }
    pairs
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
    fn an_authority_of_two_domains_is_found_however_many_there_are() {
        let hosts = |prefixes: usize, suffixes: usize| -> Vec<VirtualHost> {
            let prefixes = (0..prefixes).map(|number| format!("p{number:03}*"));
            let suffixes = (0..suffixes).map(|number| format!("*s{number:03}"));
            let host = |domain| VirtualHost {
                domains: vec![domain],
                ..VirtualHost::default()
            };
            prefixes.chain(suffixes).map(host).collect()
        };
        let changed = |prefixes, suffixes| {
            let (before, after) = (hosts(prefixes, suffixes), hosts(prefixes, suffixes - 1));
            let mut is_cut = false;
            let both = (before.as_slice(), after.as_slice());
            let pairs = pairs(both, DomainComparison::Folded, MAX_DOMAIN_STEPS, &mut is_cut);
            let pair = (Some(prefixes + suffixes - 1), Some(prefixes - 1));
            (pairs.get(&pair).cloned().unwrap_or_default(), is_cut)
        };
        assert_eq!(changed(101, 101), (vec!["p100anys100".to_owned()], false));
        assert_eq!(changed(3_000, 1), (Vec::new(), true));
    }
}
