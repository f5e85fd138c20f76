//! Updates that the client takes for the version that it has, and so does not hand on.
//!
//! C-core compares the parsed resources (xds_client.cc `ParseResource`, `ResourcesEqual`). The comparison of fault injection leaves the
//! percentage of the abort out, and names of virtual hosts are not kept: an update that changes nothing else has no effect until the
//! resource changes otherwise. Seen in the client; each field of the filter was asked.

use std::collections::BTreeMap;
use std::sync::Arc;

use xdsctl_model::resource::filter::{FilterConfig, FilterOverride};
use xdsctl_model::resource::listener::RouteSource;
use xdsctl_model::resource::route::{Action, Destination};
use xdsctl_model::resource::{Listener, RouteConfiguration};

/// Takes out of a resource what the client does not compare.
pub trait Compared: Clone + PartialEq {
    /// Sets it to one value.
    fn level(&mut self);

    /// Says whether the client takes both for the same.
    fn is_same(&self, other: &Self) -> bool {
        if self == other {
            return true;
        }
        let (mut one, mut other) = (self.clone(), other.clone());
        one.level();
        other.level();
        one == other
    }
}

impl Compared for Listener {
    fn level(&mut self) {
        let Listener::Api(manager) = self else { return };
        manager
            .http_filters
            .iter_mut()
            .for_each(|filter| config(&mut filter.config));
        if let RouteSource::Inline(routes) = &mut manager.routes {
            Arc::make_mut(routes).level();
        }
    }
}

impl Compared for RouteConfiguration {
    fn level(&mut self) {
        for host in &mut self.virtual_hosts {
            host.name.clear();
            overrides(&mut host.typed_per_filter_config);
            for route in &mut host.routes {
                overrides(&mut route.typed_per_filter_config);
                if let Action::Route(action) = &mut route.action
                    && let Destination::WeightedClusters(entries) = &mut action.destination
                {
                    entries
                        .iter_mut()
                        .for_each(|entry| overrides(&mut entry.typed_per_filter_config));
                }
            }
        }
    }
}

impl Compared for xdsctl_model::resource::Cluster {
    fn level(&mut self) {}
}

impl Compared for xdsctl_model::resource::Endpoints {
    fn level(&mut self) {}

    /// Nothing is left out, and the copies would be large.
    fn is_same(&self, other: &Self) -> bool {
        self == other
    }
}

fn overrides(entries: &mut BTreeMap<String, FilterOverride>) {
    entries
        .values_mut()
        .filter_map(|entry| entry.config.as_mut())
        .for_each(config);
}

fn config(config: &mut FilterConfig) {
    if let FilterConfig::Fault(fault) = config {
        (fault.abort_numerator, fault.abort_denominator) = (0, 0);
    }
}
