//! Every rule in one list: what `explain`, the report formats and the documentation look rules up in.
//!
//! The rules are declared beside the code that reports them; each file with a `rules!` block has its slice here, and
//! `tests/tidy.rs` fails if one is missing.

use crate::diag::Rule;

/// The slices of all files with rules, in the order of the layers.
static SLICES: &[&[&Rule]] = &[
    crate::proto::any::RULES,
    crate::proto::duration::RULES,
    crate::proto::wire::RULES,
    crate::convert::matcher::RULES,
    crate::validate::RULES,
];

/// All rules, in the order of the layers.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    SLICES.iter().flat_map(|slice| slice.iter().copied())
}

/// The rule with this id.
///
/// ```
/// assert!(xdsctl::catalogue::find("duration-out-of-range").is_some());
/// ```
pub fn find(id: &str) -> Option<&'static Rule> {
    rules().find(|rule| rule.id == id)
}

/// The id nearest to a misspelt one.
pub fn nearest(id: &str) -> Option<&'static str> {
    crate::text::nearest(id, rules().map(|rule| rule.id))
}

/// The rules whose page or summary has every word of `text`; for finding a rule by the client's own message.
pub fn search(text: &str) -> Vec<&'static Rule> {
    let words: Vec<String> = text
        .split_whitespace()
        .map(str::to_lowercase)
        .collect();
    if words.is_empty() {
        return Vec::new();
    }
    rules()
        .filter(|rule| {
            let haystack = format!("{} {} {}", rule.id, rule.summary, rule.page).to_lowercase();
            words.iter().all(|word| haystack.contains(word))
        })
        .collect()
}
