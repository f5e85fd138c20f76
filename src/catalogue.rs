//! Every rule in one list: what `explain`, the report formats and the documentation look rules up in.
//!
//! The rules are declared beside the code that reports them; each file with a `rules!` block has its slice here, and
//! `tests/tidy.rs` fails if one is missing.

use std::collections::BTreeSet;

use crate::diag::Rule;

/// The rules of single files, in the order of the layers.
static FILES: &[&[&Rule]] = &[
    crate::proto::any::RULES,
    crate::proto::duration::RULES,
    crate::proto::wire::RULES,
    crate::convert::address::RULES,
    crate::convert::cidr::RULES,
    crate::convert::matcher::RULES,
    crate::convert::metadata::RULES,
    crate::convert::switch::RULES,
    crate::convert::tls::RULES,
    crate::lb::RULES,
    crate::convert::nested::RULES,
    crate::convert::header_value::RULES,
    crate::convert::credentials::RULES,
    crate::convert::grpc_service::RULES,
    crate::plugin::RULES,
    crate::plugin::rls::RULES,
    crate::proto::transcode::RULES,
    crate::envelope::RULES,
    crate::envelope::document::RULES,
    crate::validate::RULES,
    crate::validate::discovery::RULES,
    crate::validate::downstream_tls::RULES,
    crate::validate::filter_chain::RULES,
    crate::validate::filter_chain_map::RULES,
    crate::validate::http_connection_manager::RULES,
    crate::validate::listener::RULES,
    crate::validate::cluster::RULES,
    crate::validate::endpoints::RULES,
    crate::validate::route_config::RULES,
    crate::validate::route_match::RULES,
    crate::validate::route_shadow::RULES,
    crate::validate::route_action::RULES,
    crate::validate::hash_policy::RULES,
    crate::validate::retry::RULES,
    crate::family::rules::RULES,
    crate::bootstrap::RULES,
    crate::client::RULES,
    crate::check::RULES,
    crate::choice::RULES,
];

/// The rules of folders with one extension or one question a file.
static FOLDERS: &[&[&[&Rule]]] = &[
    crate::filter::RULES,
    crate::lb::PART_RULES,
    crate::validate::cluster::PART_RULES,
    crate::validate::endpoints::PART_RULES,
    crate::lb::rls::PART_RULES,
    crate::family::PART_RULES,
    crate::bootstrap::PART_RULES,
    crate::lint::RULES,
    crate::client::PART_RULES,
    crate::check::PART_RULES,
];

/// All rules, in the order of the layers.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    let folders = FOLDERS.iter().flat_map(|folder| folder.iter());
    FILES.iter().chain(folders).flat_map(|file| file.iter().copied())
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

/// The rules whose id, summary or prose has every word of `text`; for finding a rule by the client's own message.
///
/// Headings, which all pages share, and the examples, which name what they do not explain, are not searched.
///
/// ```
/// let ids = |text| xdsctl::catalogue::search(text).into_iter().map(|rule| rule.id).collect::<Vec<_>>();
/// assert!(ids("last one wins").contains(&"dump-duplicate-resource"));
/// assert!(!ids("eds_cluster_config").contains(&"dump-duplicate-resource"), "that is in its examples only");
/// ```
pub fn search(text: &str) -> Vec<&'static Rule> {
    let words: BTreeSet<String> = text.split_whitespace().map(str::to_lowercase).collect();
    if words.is_empty() {
        return Vec::new();
    }
    rules()
        .filter(|rule| {
            let haystack = format!("{} {} {}", rule.id, rule.summary, prose(rule.page)).to_lowercase();
            words.iter().all(|word| haystack.contains(word))
        })
        .collect()
}

/// A page without its headings and fenced blocks.
fn prose(page: &str) -> String {
    let mut prose = String::new();
    let mut is_fenced = false;
    for line in page.lines() {
        if line.starts_with("```") {
            is_fenced = !is_fenced;
        } else if !is_fenced && !line.starts_with('#') {
            prose.push_str(line);
            prose.push('\n');
        }
    }
    prose
}
