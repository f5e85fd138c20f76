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

impl FilterType {
    /// Says whether the client has the filter.
    fn is_registered(&self, cx: &Validation<'_>) -> bool {
        self.guard.is_none_or(|guard| cx.has(guard))
    }

    /// Returns the type of the filter's messages at `place`; `None` for overrides of a filter that
    /// has none.
    fn name_at(&self, place: FilterPlace) -> Option<&'static str> {
        match place {
            FilterPlace::TopLevel => Some(self.type_name),
            FilterPlace::Override => self.override_type.map(|(name, _)| name),
        }
    }
}

/// Where a filter's type was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterPlace {
    /// `http_filters`, or inside a composite filter.
    TopLevel,
    /// `typed_per_filter_config`.
    Override,
}

impl FilterPlace {
    const fn other(self) -> FilterPlace {
        match self {
            FilterPlace::TopLevel => FilterPlace::Override,
            FilterPlace::Override => FilterPlace::TopLevel,
        }
    }
}

/// Returns the registered filter with this type at `place`.
///
/// Versions without [`Feature::OverrideTypes`] accept the type of a config for an override, and
/// that of an override for a config.
pub fn by_type(type_name: &str, place: FilterPlace, cx: &Validation<'_>) -> Option<&'static FilterType> {
    let either = !cx.has(Feature::OverrideTypes);
    let is_it = |filter: &FilterType| {
        filter.name_at(place) == Some(type_name) || either && filter.name_at(place.other()) == Some(type_name)
    };
    let mut filters = FILTERS.iter().copied();
    filters.find(|filter| is_it(filter) && filter.is_registered(cx))
}

/// Returns the types that some version of the client has at `place`, each with the switch that it
/// waits for.
pub fn types(place: FilterPlace) -> impl Iterator<Item = (&'static str, Option<Feature>)> {
    let filters = FILTERS.iter();
    filters.filter_map(move |filter| Some((filter.name_at(place)?, filter.guard)))
}

/// Returns advice on a type that the client does not have at `place`.
pub fn hint(type_name: &str, place: FilterPlace, cx: &Validation<'_>) -> Option<String> {
    for filter in FILTERS {
        let known_here = filter.name_at(place) == Some(type_name);
        if let (true, Some(guard)) = (known_here, filter.guard.filter(|guard| !cx.has(*guard))) {
            return guard
                .env()
                .filter(|_| cx.profile().has_switch(guard))
                .map(|env| format!("gRPC has this filter only with {env}=true"));
        }
        if filter.name_at(place.other()) == Some(type_name) {
            return Some(match filter.name_at(place) {
                Some(name) => format!("use `{name}` here"),
                None => "remove it: this filter has no overrides".to_owned(),
            });
        }
    }
    let registered = FILTERS.iter().filter(|filter| filter.is_registered(cx));
    let known = registered.filter_map(|filter| filter.name_at(place));
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
