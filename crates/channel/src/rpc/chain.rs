//! The HTTP filters that an RPC goes through, after the overrides of virtual host, route and
//! cluster weight (A39).
//!
//! The most specific entry for a filter's name, whatever its type, says whether the filter runs.
//! Its config is the most specific override of its own type, as a whole. Follows C-core
//! `RouteConfigFilterChainBuilder` (xds_routing.cc).

use std::collections::BTreeMap;
use std::sync::Arc;

use xdsctl_model::resource::filter::{FilterConfig, FilterOverride, HttpFilter};

/// Where a setting comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The HttpConnectionManager.
    Listener,
    /// The virtual host.
    VirtualHost,
    /// The route.
    Route,
    /// The entry of the weighted clusters.
    ClusterWeight,
}

impl Level {
    /// The words used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Listener => "listener",
            Level::VirtualHost => "virtual host",
            Level::Route => "route",
            Level::ClusterWeight => "cluster weight",
        }
    }
}

/// A filter with its effective config.
#[derive(Debug, Clone, PartialEq)]
pub struct ChainFilter<Name = String, Config = FilterConfig> {
    /// Name of its entry in `http_filters`.
    pub name: Name,
    /// The config in use.
    pub config: Config,
    /// Where the config comes from.
    pub config_level: Level,
    /// Whether the filter is switched off.
    pub disabled: bool,
    /// Which level switches it on or off.
    pub disabled_level: Level,
}

/// The filters in order, including those that are switched off.
pub type Chain = Arc<[ChainFilter]>;

/// Overrides by filter name.
pub type Overrides = BTreeMap<String, FilterOverride>;

/// Applies overrides to a filter. They come in order, from the least specific to the most specific.
pub fn effective<'a>(
    filter: &'a HttpFilter,
    overrides: &[(Level, &'a Overrides)],
) -> ChainFilter<&'a str, &'a FilterConfig> {
    let mut found = ChainFilter {
        name: filter.name.as_str(),
        config: &filter.config,
        config_level: Level::Listener,
        disabled: filter.disabled,
        disabled_level: Level::Listener,
    };
    for (level, entries) in overrides {
        let Some(entry) = entries.get(&filter.name) else {
            continue;
        };
        (found.disabled, found.disabled_level) = (entry.disabled, *level);
        if let Some(replacement) = entry.config.as_deref().filter(|c| c.kind() == filter.config.kind()) {
            (found.config, found.config_level) = (replacement, *level);
        }
    }
    found
}

/// Applies overrides to all filters. They come in order, from the least specific to the most
/// specific.
pub fn build(filters: &[HttpFilter], overrides: &[(Level, &Overrides)]) -> Chain {
    let found = filters.iter().map(|filter| {
        let found = effective(filter, overrides);
        ChainFilter {
            name: found.name.to_owned(),
            config: found.config.clone(),
            config_level: found.config_level,
            disabled: found.disabled,
            disabled_level: found.disabled_level,
        }
    });
    found.collect()
}
