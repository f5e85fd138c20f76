//! Every rule in one list: what `explain`, the report formats and the documentation look rules up
//! in.
//!
//! The rules are declared beside the code that reports them; each file with a `rules!` block has
//! its slice here, and `tests/tidy.rs` fails if one is missing.

use std::collections::BTreeSet;

use xdsctl_model::diag::Rule;

/// The rules of single files, in the order of the crates that have them.
static FILES: &[&[&Rule]] = &[
    xdsctl_document::proto::any::RULES,
    xdsctl_document::proto::duration::RULES,
    xdsctl_document::proto::wire::RULES,
    xdsctl_clients::core::convert::address::RULES,
    xdsctl_clients::core::convert::cidr::RULES,
    xdsctl_clients::core::convert::matcher::RULES,
    xdsctl_clients::core::convert::metadata::RULES,
    xdsctl_clients::core::convert::switch::RULES,
    xdsctl_clients::core::convert::tls::RULES,
    xdsctl_lb::RULES,
    xdsctl_clients::core::convert::nested::RULES,
    xdsctl_clients::core::convert::header_value::RULES,
    xdsctl_clients::core::convert::credentials::RULES,
    xdsctl_clients::core::convert::grpc_service::RULES,
    xdsctl_clients::core::plugin::RULES,
    xdsctl_document::proto::transcode::RULES,
    xdsctl_document::envelope::RULES,
    xdsctl_document::envelope::document::RULES,
    xdsctl_clients::discovery::RULES,
    xdsctl_clients::core::filter_chain::RULES,
    xdsctl_clients::shared::chain_policies::RULES,
    xdsctl_clients::core::filter_chain_map::RULES,
    xdsctl_clients::core::http_connection_manager::RULES,
    xdsctl_clients::core::listener::RULES,
    xdsctl_clients::core::cluster::RULES,
    xdsctl_clients::core::endpoints::RULES,
    xdsctl_clients::core::route_config::RULES,
    xdsctl_clients::core::route_match::RULES,
    xdsctl_clients::core::route_shadow::RULES,
    xdsctl_clients::core::route_action::RULES,
    xdsctl_clients::core::hash_policy::RULES,
    xdsctl_clients::core::retry::RULES,
    xdsctl_clients::shared::rules::RULES,
    xdsctl_clients::bootstrap::RULES,
    xdsctl_channel::client::RULES,
    crate::decide::RULES,
    crate::choice::RULES,
];

/// The rules of folders that have a file for each extension or question.
static FOLDERS: &[&[&[&Rule]]] = &[
    xdsctl_clients::core::filter::RULES,
    xdsctl_lb::PART_RULES,
    xdsctl_clients::core::cluster::PART_RULES,
    xdsctl_clients::core::endpoints::PART_RULES,
    xdsctl_lb::rls::PART_RULES,
    xdsctl_clients::bootstrap::PART_RULES,
    crate::lint::RULES,
    xdsctl_channel::client::PART_RULES,
    crate::decide::PART_RULES,
];

/// Returns all rules, in the order of the crates that have them.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    let folders = FOLDERS.iter().flat_map(|folder| folder.iter());
    let files = FILES.iter().chain(folders).flat_map(|file| file.iter().copied());
    files.chain(xdsctl_clients::judge::rules())
}

/// Finds the rule with this id.
///
/// ```
/// assert!(xdsctl_lint::catalogue::find("duration-out-of-range").is_some());
/// ```
pub fn find(id: &str) -> Option<&'static Rule> {
    rules().find(|rule| rule.id == id)
}

/// Returns the known id that is nearest to a misspelt one.
pub fn nearest(id: &str) -> Option<&'static str> {
    xdsctl_model::text::nearest(id, rules().map(|rule| rule.id))
}

/// Finds the rules whose id, summary or prose has every word of `text`, so that a rule can be found
/// by the client's own message.
///
/// Headings and examples are not searched: all pages have the same headings, and examples name
/// things that they do not explain.
///
/// ```
/// let ids = |text| xdsctl_lint::catalogue::search(text).into_iter().map(|rule| rule.id).collect::<Vec<_>>();
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

/// Returns the text of a page without its headings and fenced blocks.
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
