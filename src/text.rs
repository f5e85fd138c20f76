//! Small text questions that several layers ask: which known name is nearest to a misspelt one.
//!
//! Knows nothing of xDS.

/// Largest edit distance at which a name is offered as "did you mean".
const MAX_DISTANCE: usize = 3;

/// Returns the candidate with the smallest edit distance to `name`, if it is near enough to be a likely misspelling.
///
/// Near enough is a distance of at most 3 and less than half of the name's length. The first of equals wins.
///
/// ```
/// assert_eq!(xdsctl::text::nearest("port_vale", ["address", "port_value"].into_iter()), Some("port_value"));
/// assert_eq!(xdsctl::text::nearest("zzz", ["address"].into_iter()), None);
/// ```
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let count = name.chars().count();
    let limit = MAX_DISTANCE.min(count.div_ceil(2).saturating_sub(1));
    let mut best: Option<(usize, &'a str)> = None;
    for candidate in candidates {
        let bound = best.map_or(limit + 1, |(d, _)| d);
        // No distance is smaller than the difference in length; a name may be megabytes long.
        if candidate.chars().count().abs_diff(count) >= bound {
            continue;
        }
        let d = edit_distance(name, candidate);
        if d <= limit && best.is_none_or(|(b, _)| d < b) {
            best = Some((d, candidate));
        }
    }
    best.map(|(_, c)| c)
}

/// Levenshtein distance in characters, with one row of memory.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (cell, cb) in row.iter_mut().skip(1).zip(&b) {
            let substituted = diagonal + usize::from(ca != *cb);
            diagonal = *cell;
            left = substituted.min(diagonal + 1).min(left + 1);
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

/// A share as people read it.
pub fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "0 %".to_owned();
    }
    let tenths = (u128::from(part) * 1000 + u128::from(whole) / 2) / u128::from(whole);
    if tenths % 10 == 0 {
        format!("{} %", tenths / 10)
    } else {
        format!("{}.{} %", tenths / 10, tenths % 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edit_distance_counts_insertions_deletions_and_substitutions() {
        for (a, b, d) in [
            ("", "", 0),
            ("a", "", 1),
            ("kitten", "sitting", 3),
            ("localisty", "locality", 1),
        ] {
            assert_eq!(edit_distance(a, b), d, "{a} {b}");
            assert_eq!(edit_distance(b, a), d, "{b} {a}");
        }
    }
}
