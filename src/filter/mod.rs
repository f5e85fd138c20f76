//! HTTP filters that the client has: a registry by type, and one file per filter (A39).
//!
//! A filter's file holds its rules, its parser and its behaviour. The registry knows on which side a filter runs, whether
//! it ends the chain, and which switch it waits for. Follows C-core `XdsHttpFilterRegistry` (xds_http_filter_registry.cc).

mod router;

use crate::diag::{Cx, Path, Rule};
use crate::model::filter::FilterConfig;
use crate::profile::Feature;
use crate::proto::any::Extension;

/// Reads a filter's config or override. `at` is the path from [`Extension::at`].
///
/// Returns `None` after reporting a rejection.
pub type Parse = fn(extension: &Extension<'_>, at: &Path<'_>, cx: &mut Cx<'_>) -> Option<FilterConfig>;

/// A filter that the client has.
#[derive(Debug)]
pub struct FilterType {
    /// Message type of the top-level config.
    pub type_name: &'static str,
    /// Message type of an override in `typed_per_filter_config`, with its parser.
    pub override_type: Option<(&'static str, Parse)>,
    /// Runs in a client channel.
    pub on_client: bool,
    /// Runs in a server.
    pub on_server: bool,
    /// Ends the chain.
    pub is_terminal: bool,
    /// Registered only with this switch on.
    pub guard: Option<Feature>,
    /// Reads the top-level config.
    pub parse: Parse,
}

/// Every filter, whether its switch is on or not.
static FILTERS: &[&FilterType] = &[&router::TYPE];

/// The registered filter with this top-level config type.
pub fn by_type(type_name: &str, cx: &Cx<'_>) -> Option<&'static FilterType> {
    find(cx, |f| f.type_name == type_name)
}

/// The registered filter with this override type.
pub fn by_override_type(type_name: &str, cx: &Cx<'_>) -> Option<&'static FilterType> {
    find(cx, |f| f.override_type.is_some_and(|(t, _)| t == type_name))
}

fn find(cx: &Cx<'_>, wanted: impl Fn(&FilterType) -> bool) -> Option<&'static FilterType> {
    FILTERS
        .iter()
        .copied()
        .find(|f| wanted(f) && f.guard.is_none_or(|guard| cx.has(guard)))
}

/// The rules of all filters.
pub static RULES: &[&[&Rule]] = &[];
