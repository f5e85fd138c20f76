//! Functions on texts that several layers need: which known name is nearest to a misspelt one, and
//! what JSON has to escape, and nouns with a number.
//!
//! Nothing here knows xDS.

use std::borrow::Cow;

/// Largest edit distance at which a name is offered as "did you mean".
const MAX_DISTANCE: usize = 3;

/// Returns the number with its noun: `1 error`, `2 errors`.
pub fn plural(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

/// Returns the candidate with the smallest edit distance to `name`, if it is near enough to be a
/// likely misspelling.
///
/// A name is near enough if its distance is at most 3 and less than half of the name's length.
/// Swapping two neighbours counts as one edit. The first of several equally near names wins.
///
/// ```
/// assert_eq!(xdsctl_model::text::nearest("port_vale", ["address", "port_value"].into_iter()), Some("port_value"));
/// assert_eq!(xdsctl_model::text::nearest("pya", ["cart", "pay"].into_iter()), Some("pay"));
/// assert_eq!(xdsctl_model::text::nearest("zzz", ["address"].into_iter()), None);
/// ```
pub fn nearest<'a>(name: &str, mut candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // Half the length of a longer name is more than the largest distance.
    let length = name.chars().take(2 * MAX_DISTANCE + 2).count();
    let mut limit = MAX_DISTANCE.min(length.div_ceil(2).saturating_sub(1));
    if limit == 0 {
        return candidates.find(|candidate| *candidate == name);
    }
    let mut best = None;
    let own = letters(name);
    let is_ascii = name.is_ascii();
    for candidate in candidates {
        // The lengths of ASCII texts in characters are their lengths in bytes.
        if is_ascii && name.len().abs_diff(candidate.len()) > limit && candidate.is_ascii() {
            continue;
        }
        // Most candidates have other letters: their order need not be looked at.
        let both = own.zip(letters(candidate));
        if both.is_some_and(|(own, its)| (own ^ its).count_ones() as usize > 2 * limit) {
            continue;
        }
        if let Some(distance) = edit_distance(name, candidate, limit) {
            best = Some(candidate);
            // A later candidate has to be nearer.
            let Some(nearer) = distance.checked_sub(1) else { break };
            limit = nearer;
        }
    }
    best
}

/// Returns the first characters of a text, followed by `...` if there are more.
///
/// ```
/// assert_eq!(xdsctl_model::text::beginning("größer", 3), "grö...");
/// assert_eq!(xdsctl_model::text::beginning("größer", 6), "größer");
/// ```
pub fn beginning(text: &str, chars: usize) -> Cow<'_, str> {
    let end = text.char_indices().nth(chars).map(|(end, _)| end);
    match end.and_then(|end| text.get(..end)) {
        Some(beginning) => format!("{beginning}...").into(),
        None => text.into(),
    }
}

/// Says whether two names differ only in their digits, as the names of versions and shards do.
///
/// ```
/// assert!(xdsctl_model::text::differ_in_digits("shard-1", "shard-12"));
/// assert!(!xdsctl_model::text::differ_in_digits("shard-1", "shrad-1"));
/// ```
pub fn differ_in_digits(a: &str, b: &str) -> bool {
    let is_letter = |byte: &u8| !byte.is_ascii_digit();
    a.bytes().filter(is_letter).eq(b.bytes().filter(is_letter))
}

/// Returns the first byte of a text that JSON has to escape: a quote, a backslash or a control
/// character.
///
/// ```
/// assert_eq!(xdsctl_model::text::first_escaped("a\\\"b"), Some(b'\\'));
/// assert_eq!(xdsctl_model::text::first_escaped("\u{7f}\u{e9}"), None);
/// ```
pub fn first_escaped(text: &str) -> Option<u8> {
    let is_escaped = |byte: u8| (byte < b' ') | (byte == b'"') | (byte == b'\\');
    // Looks at several bytes at a time: most texts need no escaping, and every name in a route is
    // checked.
    let has_one = text.bytes().fold(false, |has_one, byte| has_one | is_escaped(byte));
    has_one.then(|| text.bytes().find(|byte| is_escaped(*byte))).flatten()
}

/// Texts up to this length, in bytes, are compared by their letters first.
const SHORT_BYTES: usize = 64;

/// Returns the characters of a short text as a set of bits: changing one character changes at most
/// two bits. Returns `None` for a long text.
fn letters(text: &str) -> Option<u64> {
    let firsts = text.bytes().filter(|byte| byte & 0xc0 != 0x80);
    (text.len() <= SHORT_BYTES).then(|| firsts.fold(0, |bits, byte| bits | 1 << (byte & 63)))
}

/// Returns the edit distance in characters, if it is at most `limit`. A swap of two neighbours is
/// one edit.
///
/// Looks only at the cells of the table that can be that small, and at none if the lengths of the
/// texts differ by more than `limit`.
fn edit_distance(a: &str, b: &str, limit: usize) -> Option<usize> {
    // A character has up to four bytes.
    let is_longer = |one: &str, other: &str| one.len() / 4 > other.len() + limit;
    if is_longer(a, b) || is_longer(b, a) || a.chars().count().abs_diff(b.chars().count()) > limit {
        return None;
    }
    let b: Vec<char> = b.chars().collect();
    let far = limit + 1;
    let at = |row: &[usize], j: usize| row.get(j).copied().unwrap_or(far);
    let mut row: Vec<usize> = (0..=b.len()).map(|j| j.min(far)).collect();
    // The two rows above.
    let mut last = row.clone();
    let mut before_last = row.clone();
    let mut ca_before = None;
    for (i, ca) in (1_usize..).zip(a.chars()) {
        let first = i.saturating_sub(limit).max(1);
        let mut left = if first == 1 { i.min(far) } else { far };
        if let Some(cell) = row.get_mut(first - 1) {
            *cell = left;
        }
        let mut least = left;
        let mut cb_before = first.checked_sub(2).and_then(|j| b.get(j));
        let columns = (first..=i + limit).zip(b.iter().skip(first - 1));
        for ((j, cb), cell) in columns.zip(row.iter_mut().skip(first)) {
            let substituted = at(&last, j - 1) + usize::from(ca != *cb);
            left = substituted.min(at(&last, j) + 1).min(left + 1).min(far);
            if ca_before == Some(*cb) && cb_before == Some(&ca) {
                left = left.min(at(&before_last, j - 2) + 1);
            }
            *cell = left;
            least = least.min(left);
            cb_before = Some(cb);
        }
        if least > limit {
            return None;
        }
        ca_before = Some(ca);
        std::mem::swap(&mut before_last, &mut last);
        std::mem::swap(&mut last, &mut row);
    }
    last.last().copied().filter(|distance| *distance <= limit)
}

/// Writes a share in percent: rounded to a tenth, or finer where that would read as none or all.
pub fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "0 %".to_owned();
    }
    let (part, whole) = (u128::from(part), u128::from(whole));
    for digits in [1, MOST_DIGITS] {
        let unit = 10_u128.pow(digits as u32);
        let rounded = (part * 100 * unit + whole / 2) / whole;
        if (rounded == 0 && part > 0) || (rounded == 100 * unit && part != whole) {
            continue;
        }
        let text = format!("{}.{:0digits$}", rounded / unit, rounded % unit);
        return format!("{} %", text.trim_end_matches('0').trim_end_matches('.'));
    }
    let (least, most) = (0.1_f64.powi(MOST_DIGITS as i32), part * 2 > whole);
    match most {
        true => format!("> {:.MOST_DIGITS$} %", 100.0 - least),
        false => format!("< {least:.MOST_DIGITS$} %"),
    }
}

/// The most digits after the point for a share that is nearly none or all: one RPC in a million is
/// visible.
const MOST_DIGITS: usize = 4;

/// Writes a share between 0 and 1 as [`percent`] does, but with more digits: small changes must be
/// visible.
pub fn share_of_one(share: f64) -> String {
    let text = format!("{:.2}", share * 100.0);
    match text.as_str() {
        "0.00" if share > 0.0 => "< 0.01 %".to_owned(),
        "100.00" if share < 1.0 => "> 99.99 %".to_owned(),
        _ => format!("{} %", text.trim_end_matches('0').trim_end_matches('.')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_that_there_is_never_reads_as_none_or_all() {
        for (part, whole, expected) in [
            (0, 3, "0 %"),
            (1, 3, "33.3 %"),
            (1, 2, "50 %"),
            (3, 3, "100 %"),
            (1, 1000, "0.1 %"),
            (5, 1_000_000, "0.0005 %"),
            (999_995, 1_000_000, "99.9995 %"),
            (1, 4_000_000_000, "< 0.0001 %"),
            (3_999_999_999, 4_000_000_000, "> 99.9999 %"),
            (u64::MAX, u64::MAX, "100 %"),
        ] {
            assert_eq!(percent(part, whole), expected);
        }
        for (share, expected) in [
            (0.0, "0 %"),
            (0.000_005, "< 0.01 %"),
            (0.125, "12.5 %"),
            (0.999_995, "> 99.99 %"),
            (1.0, "100 %"),
        ] {
            assert_eq!(share_of_one(share), expected);
        }
    }

    /// Computes the edit distance with the whole table.
    fn by_table(a: &str, b: &str) -> usize {
        let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
        let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
        for i in 0..=a.len() {
            for j in 0..=b.len() {
                table[i][j] = if i == 0 || j == 0 {
                    i + j
                } else {
                    let substituted = table[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                    let is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                    let swapped = if is_swap { table[i - 2][j - 2] + 1 } else { i + j };
                    substituted
                        .min(table[i - 1][j] + 1)
                        .min(table[i][j - 1] + 1)
                        .min(swapped)
                };
            }
        }
        table[a.len()][b.len()]
    }

    #[test]
    fn edit_distance_counts_insertions_deletions_substitutions_and_swaps() {
        for (a, b, d) in [
            ("", "", 0),
            ("a", "", 1),
            ("kitten", "sitting", 3),
            ("localisty", "locality", 1),
            ("pya", "pay", 1),
            ("lb_polciy", "lb_policy", 1),
        ] {
            assert_eq!(edit_distance(a, b, 3), Some(d), "{a} {b}");
            assert_eq!(edit_distance(b, a, 3), Some(d), "{b} {a}");
            assert_eq!(edit_distance(a, b, d), Some(d), "{a} {b}");
            assert!(d == 0 || edit_distance(a, b, d - 1).is_none(), "{a} {b}");
        }
    }

    #[test]
    fn a_part_of_the_table_is_enough() {
        let mut texts = vec![String::new()];
        for length in 0..5 {
            let longer = texts.iter().filter(|text| text.chars().count() == length);
            texts.extend(
                longer
                    .flat_map(|text| ['a', 'b', 'é'].map(|c| format!("{text}{c}")))
                    .collect::<Vec<_>>(),
            );
        }
        for a in &texts {
            for b in texts.iter().step_by(7) {
                for limit in 0..=3 {
                    let expected = Some(by_table(a, b)).filter(|distance| *distance <= limit);
                    assert_eq!(edit_distance(a, b, limit), expected, "{a} {b} {limit}");
                }
            }
        }
    }

    #[test]
    fn a_near_name_is_never_passed_over_for_its_letters() {
        let mut texts = vec!["abcdefgh".to_owned(), "aaaabbbb".to_owned(), "äöüß→z".to_owned()];
        for text in texts.clone() {
            let chars: Vec<char> = text.chars().collect();
            for place in 0..chars.len() {
                for with in ["", "x", "é", "aß", "qrs"] {
                    let mut changed: Vec<char> = chars.clone();
                    changed.splice(place..=place, with.chars());
                    texts.push(changed.into_iter().collect());
                }
            }
        }
        for a in &texts {
            for b in &texts {
                let length = a.chars().count();
                let limit = MAX_DISTANCE.min(length.div_ceil(2).saturating_sub(1));
                assert_eq!(
                    nearest(a, [b.as_str()].into_iter()).is_some(),
                    by_table(a, b) <= limit,
                    "{a} {b}"
                );
            }
        }
    }

    #[test]
    fn a_name_of_a_megabyte_is_near_to_nothing_at_once() {
        let long = "x".repeat(1 << 20);
        // The whole table would have 4 * 10^14 cells.
        for _ in 0..1000 {
            assert_eq!(nearest(&long, ["short", &long[..1 << 19]].into_iter()), None);
        }
    }
}
