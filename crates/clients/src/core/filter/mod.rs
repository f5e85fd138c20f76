//! HTTP filters that the client has: a registry by type, and one file per filter (A39).
//!
//! A filter's file holds its rules, its parser and its behaviour. The registry knows on which side
//! a filter runs, whether it ends the chain, and which switch it waits for. Follows C-core
//! `XdsHttpFilterRegistry` (xds_http_filter_registry.cc).

mod composite;
pub mod ext_proc;
pub mod fault;
pub mod gcp_authn;
pub mod matching;
pub mod overrides;
pub mod rbac;
mod router;
mod stateful_session;

use xdsctl_document::proto::any::Extension;
use xdsctl_model::diag::{Path, Rule, Validation};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::filter::FilterConfig;

/// Reads a filter's config or override. `at` is the path from [`Extension::at`].
///
/// Returns `None` after reporting a rejection, and for an override that overrides nothing.
pub type Parse = fn(extension: &Extension<'_>, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<FilterConfig>;

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
    /// Reads the top-level config inside a composite filter, where that differs.
    pub parse_in_composite: Option<Parse>,
}

/// Every filter, whether its switch is on or not.
static FILTERS: &[&FilterType] = &[
    &router::TYPE,
    &fault::TYPE,
    &rbac::TYPE,
    &stateful_session::TYPE,
    &gcp_authn::TYPE,
    &composite::TYPE,
    &ext_proc::TYPE,
];

/// Returns the registered filter with this top-level config type.
///
/// Versions without [`Feature::OverrideTypes`] accept the type of an override here too.
pub fn by_type(type_name: &str, cx: &Validation<'_>) -> Option<&'static FilterType> {
    let either = !cx.has(Feature::OverrideTypes);
    find(cx, |f| {
        f.type_name == type_name || (either && is_override(f, type_name))
    })
}

/// Returns the registered filter with this override type.
///
/// Versions without [`Feature::OverrideTypes`] accept the type of a config here too.
pub fn by_override_type(type_name: &str, cx: &Validation<'_>) -> Option<&'static FilterType> {
    let either = !cx.has(Feature::OverrideTypes);
    find(cx, |f| {
        is_override(f, type_name) || (either && f.type_name == type_name)
    })
}

fn is_override(filter: &FilterType, type_name: &str) -> bool {
    filter.override_type.is_some_and(|(name, _)| name == type_name)
}

fn find(cx: &Validation<'_>, wanted: impl Fn(&FilterType) -> bool) -> Option<&'static FilterType> {
    FILTERS
        .iter()
        .copied()
        .find(|f| wanted(f) && f.guard.is_none_or(|guard| cx.has(guard)))
}

/// Where a filter's type was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterPlace {
    /// `http_filters`, or inside a composite filter.
    TopLevel,
    /// `typed_per_filter_config`.
    Override,
}

/// Returns the types that some version of the client has at `place`, each with the switch that it
/// waits for.
pub fn types(place: FilterPlace) -> impl Iterator<Item = (&'static str, Option<Feature>)> {
    let name = move |filter: &FilterType| match place {
        FilterPlace::TopLevel => Some(filter.type_name),
        FilterPlace::Override => filter.override_type.map(|(name, _)| name),
    };
    FILTERS
        .iter()
        .filter_map(move |filter| Some((name(filter)?, filter.guard)))
}

/// Returns advice on a type that the client does not have at `place`.
pub fn hint(type_name: &str, place: FilterPlace, cx: &Validation<'_>) -> Option<String> {
    let name_at = |filter: &'static FilterType, place| match place {
        FilterPlace::TopLevel => Some(filter.type_name),
        FilterPlace::Override => filter.override_type.map(|(name, _)| name),
    };
    let other = match place {
        FilterPlace::TopLevel => FilterPlace::Override,
        FilterPlace::Override => FilterPlace::TopLevel,
    };
    for filter in FILTERS {
        let known_here = name_at(filter, place) == Some(type_name);
        if let (true, Some(guard)) = (known_here, filter.guard.filter(|guard| !cx.has(*guard))) {
            return guard
                .env()
                .filter(|_| cx.profile().has_switch(guard))
                .map(|env| format!("gRPC has this filter only with {env}=true"));
        }
        if name_at(filter, other) == Some(type_name) {
            return Some(match name_at(filter, place) {
                Some(name) => format!("use `{name}` here"),
                None => "remove it: this filter has no overrides".to_owned(),
            });
        }
    }
    let known = FILTERS
        .iter()
        .filter(|f| f.guard.is_none_or(|guard| cx.has(guard)))
        .filter_map(|f| name_at(f, place));
    xdsctl_model::text::nearest(type_name, known).map(|name| format!("did you mean `{name}`?"))
}

/// The rules of all filters.
pub static RULES: &[&[&Rule]] = &[
    overrides::RULES,
    matching::RULES,
    fault::RULES,
    rbac::RULES,
    rbac::condition::RULES,
    rbac::tree::RULES,
    rbac::audit::RULES,
    rbac::reach::RULES,
    stateful_session::RULES,
    composite::RULES,
    ext_proc::RULES,
];
