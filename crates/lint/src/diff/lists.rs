//! Finds out which elements of two lists correspond.
//!
//! Elements are paired by a key: the first with the first of the same key, and so on. In a list
//! whose order has a meaning, the longest run of pairs that keep their order stays, and the others
//! have moved. The time is linear, apart from one binary search for each element.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// What happens to an element. The numbers are its positions in the list before and the list after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListStep {
    /// The element is in both lists.
    Same(usize, usize),
    /// The element is in both lists, but its order among the others has changed.
    Moved(usize, usize),
    /// The element is only in the list before.
    Removed(usize),
    /// The element is only in the list after.
    Added(usize),
}

impl ListStep {
    /// Returns the positions before and after, and the position that a report names.
    pub fn positions(self) -> (Option<usize>, Option<usize>, usize) {
        match self {
            ListStep::Same(before, after) | ListStep::Moved(before, after) => (Some(before), Some(after), after),
            ListStep::Removed(before) => (Some(before), None, before),
            ListStep::Added(after) => (None, Some(after), after),
        }
    }
}

/// Pairs the elements by their keys. The steps are in the order of the list after; a removed
/// element stands before the elements that followed it.
///
/// With `in_order` the order has a meaning. If `alike` is set as well, a removed and an added
/// element in the same gap are one element that has changed.
pub(super) fn align(before: &[String], after: &[String], in_order: bool, alike: bool) -> Vec<ListStep> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new(); // looked up only
    for (index, key) in before.iter().enumerate().rev() {
        match places.entry(key) {
            Entry::Occupied(mut entry) => entry.get_mut().push(index),
            Entry::Vacant(entry) => {
                entry.insert(vec![index]);
            }
        }
    }
    let mut partner_before = vec![None; before.len()];
    let mut partners: Vec<Option<usize>> = after
        .iter()
        .enumerate()
        .map(|(index, key)| {
            let found = places.get_mut(key.as_str()).and_then(Vec::pop)?;
            if let Some(partner) = partner_before.get_mut(found) {
                *partner = Some(index);
            }
            Some(found)
        })
        .collect();
    let stays = if in_order {
        longest_run(&partners)
    } else {
        vec![true; after.len()]
    };
    let mut changed = vec![false; before.len()];
    if in_order && alike {
        pair_gaps(&mut partners, &mut partner_before, &stays, &mut changed);
    }
    let mut steps = Vec::with_capacity(after.len());
    let mut next = 0;
    for (index, partner) in partners.iter().enumerate() {
        let stays = stays.get(index).copied().unwrap_or(true);
        if let Some(place) = *partner
            && stays
        {
            while next < place {
                if partner_before.get(next).is_some_and(Option::is_none) {
                    steps.push(ListStep::Removed(next));
                }
                next += 1;
            }
            next = next.max(place + 1);
        }
        steps.push(match *partner {
            None => ListStep::Added(index),
            Some(place) if stays || changed.get(place) == Some(&true) => ListStep::Same(place, index),
            Some(place) => ListStep::Moved(place, index),
        });
    }
    let rest = (next..before.len()).filter(|&place| partner_before.get(place).is_some_and(Option::is_none));
    steps.extend(rest.map(ListStep::Removed));
    steps
}

/// Marks the elements of the longest run whose partners ascend, and those without a partner.
fn longest_run(partners: &[Option<usize>]) -> Vec<bool> {
    let mut tails: Vec<(usize, usize)> = Vec::new(); // by length: least last partner, and its position
    let mut previous = vec![None; partners.len()];
    for (index, partner) in partners.iter().enumerate() {
        let Some(partner) = *partner else { continue };
        let length = tails.partition_point(|(last, _)| *last < partner);
        if let Some(slot) = previous.get_mut(index) {
            *slot = length
                .checked_sub(1)
                .and_then(|shorter| tails.get(shorter))
                .map(|tail| tail.1);
        }
        match tails.get_mut(length) {
            Some(tail) => *tail = (partner, index),
            None => tails.push((partner, index)),
        }
    }
    let mut stays: Vec<bool> = partners.iter().map(Option::is_none).collect();
    let mut at = tails.last().map(|tail| tail.1);
    while let Some(index) = at {
        if let Some(slot) = stays.get_mut(index) {
            *slot = true;
        }
        at = previous.get(index).copied().flatten();
    }
    stays
}

/// Pairs removed elements with added ones between the same two elements that stay, in order.
fn pair_gaps(
    partners: &mut [Option<usize>],
    partner_before: &mut [Option<usize>],
    stays: &[bool],
    changed: &mut [bool],
) {
    let mut next = 0; // position in the list before, behind the last element that stays
    let mut index = 0;
    while index < partners.len() {
        if let (Some(Some(place)), Some(true)) = (partners.get(index).copied(), stays.get(index)) {
            next = place + 1;
            index += 1;
            continue;
        }
        let end = (index..partners.len())
            .find(|&i| partners.get(i).is_some_and(Option::is_some) && stays.get(i) == Some(&true))
            .unwrap_or(partners.len());
        let stop = partners.get(end).copied().flatten().unwrap_or(partner_before.len());
        let mut gone = next;
        for new in index..end {
            if partners.get(new).is_some_and(Option::is_some) {
                continue;
            }
            while gone < stop && partner_before.get(gone).is_some_and(Option::is_some) {
                gone += 1;
            }
            if gone >= stop {
                break;
            }
            if let (Some(partner), Some(back), Some(mark)) = (
                partners.get_mut(new),
                partner_before.get_mut(gone),
                changed.get_mut(gone),
            ) {
                *partner = Some(gone);
                *back = Some(new);
                *mark = true;
            }
            gone += 1;
        }
        index = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(before: &str, after: &str, in_order: bool, alike: bool) -> String {
        let keys = |text: &str| text.chars().map(String::from).collect::<Vec<_>>();
        let (b, a) = (keys(before), keys(after));
        align(&b, &a, in_order, alike)
            .into_iter()
            .map(|step| match step {
                ListStep::Same(x, y) if b[x] == a[y] => a[y].clone(),
                ListStep::Same(x, y) => format!("{}>{}", b[x], a[y]),
                ListStep::Moved(_, y) => format!("~{}", a[y]),
                ListStep::Removed(x) => format!("-{}", b[x]),
                ListStep::Added(y) => format!("+{}", a[y]),
            })
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn order_counts_where_it_has_a_meaning() {
        assert_eq!(steps("abc", "cab", true, false), "~c a b");
        assert_eq!(steps("abc", "cab", false, false), "c a b");
        assert_eq!(steps("abcd", "acd", true, false), "a -b c d");
        assert_eq!(steps("ab", "axb", true, false), "a +x b");
        assert_eq!(steps("aab", "ab", true, false), "a -a b");
        assert_eq!(steps("ab", "", true, true), "-a -b");
    }

    #[test]
    fn what_changed_in_its_place_is_one_element() {
        assert_eq!(steps("abc", "axc", true, true), "a b>x c");
        assert_eq!(steps("abc", "axc", true, false), "a +x -b c");
        assert_eq!(steps("abc", "axyc", true, true), "a b>x +y c");
        assert_eq!(steps("abbc", "axc", true, true), "a b>x -b c");
        assert_eq!(steps("ab", "xab", true, true), "+x a b");
    }
}
