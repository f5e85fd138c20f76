//! Updates that the client considers equal to the version in use, and therefore ignores.
//!
//! C-core compares the parsed resources (xds_client.cc `ParseResource`, `ResourcesEqual`). Its
//! comparison ignores the percentage of a fault injection's abort and the names of virtual hosts:
//! an update that changes only these has no effect until something else changes. Measured on the
//! client, field by field.
//!
//! grpc-js-xds walks the entries of the version that it has and looks for each in the new one
//! (`deepEqual` of xds-resource-type.ts). It does not see what only the new one has: a new entry of
//! a map, a new outlier detection, and what stands at the end of a Listener's connection manager,
//! whose bytes it compares in the same way. Each case was measured on the client.

use std::collections::BTreeMap;
use std::sync::Arc;

use xdsctl_model::profile::{Feature, Profile};
use xdsctl_model::resource::filter::{FilterConfig, FilterOverride};
use xdsctl_model::resource::listener::RouteSource;
use xdsctl_model::resource::route::{Action, Destination};
use xdsctl_model::resource::{Listener, Millis, RouteConfiguration};

/// How a client compares two versions of a resource.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum VersionComparison {
    /// It compares both versions, except for some fields.
    #[default]
    Both,
    /// It looks in the new version for what the version before has.
    Before,
}

impl VersionComparison {
    /// Returns how a client compares.
    pub fn of(profile: &Profile) -> Self {
        match profile.has(Feature::AdditionsUnseen) {
            true => VersionComparison::Before,
            false => VersionComparison::Both,
        }
    }
}

/// A resource that the client compares with the version in use, except for some fields.
pub trait Compared: Clone + PartialEq {
    /// Overwrites the fields that the client does not compare with fixed values.
    fn erase_uncompared(&mut self);

    /// Removes what the version before lacks and the client does not notice
    /// ([`VersionComparison::Before`]).
    fn without_additions(&mut self, before: &Self);

    /// Says whether the client considers a newer version equal to this one.
    fn is_same(&self, newer: &Self, by: VersionComparison) -> bool {
        if self == newer {
            return true;
        }
        let mut newer = newer.clone();
        match by {
            VersionComparison::Both => {
                let mut before = self.clone();
                before.erase_uncompared();
                newer.erase_uncompared();
                before == newer
            }
            VersionComparison::Before => {
                newer.without_additions(self);
                *self == newer
            }
        }
    }
}

impl Compared for Listener {
    fn erase_uncompared(&mut self) {
        let Listener::Api(manager) = self else { return };
        manager
            .http_filters
            .iter_mut()
            .for_each(|filter| config(&mut filter.config));
        if let RouteSource::Inline(routes) = &mut manager.routes {
            Arc::make_mut(routes).erase_uncompared();
        }
    }

    fn without_additions(&mut self, before: &Self) {
        if let (Listener::Api(manager), Listener::Api(before)) = (self, before)
            && before.http_max_stream_duration == Millis(0)
        {
            manager.http_max_stream_duration = Millis(0);
        }
    }
}

impl Compared for RouteConfiguration {
    fn erase_uncompared(&mut self) {
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

    fn without_additions(&mut self, before: &Self) {
        for (host, before) in self.virtual_hosts.iter_mut().zip(&before.virtual_hosts) {
            retain(&mut host.typed_per_filter_config, &before.typed_per_filter_config);
            for (route, before) in host.routes.iter_mut().zip(&before.routes) {
                retain(&mut route.typed_per_filter_config, &before.typed_per_filter_config);
                if let (Action::Route(action), Action::Route(before)) = (&mut route.action, &before.action)
                    && let Destination::WeightedClusters(entries) = &mut action.destination
                    && let Destination::WeightedClusters(before) = &before.destination
                {
                    for (entry, before) in entries.iter_mut().zip(before) {
                        retain(&mut entry.typed_per_filter_config, &before.typed_per_filter_config);
                    }
                }
            }
        }
    }
}

impl Compared for xdsctl_model::resource::Cluster {
    fn erase_uncompared(&mut self) {}

    fn without_additions(&mut self, before: &Self) {
        if before.outlier_detection.is_none() {
            self.outlier_detection = None;
        }
    }
}

impl Compared for xdsctl_model::resource::Endpoints {
    fn erase_uncompared(&mut self) {}

    fn without_additions(&mut self, _: &Self) {}

    /// Compares directly: no field is left out, and copies would be large.
    fn is_same(&self, newer: &Self, _: VersionComparison) -> bool {
        self == newer
    }
}

fn retain(entries: &mut BTreeMap<String, FilterOverride>, before: &BTreeMap<String, FilterOverride>) {
    entries.retain(|name, _| before.contains_key(name));
}

fn overrides(entries: &mut BTreeMap<String, FilterOverride>) {
    entries
        .values_mut()
        .filter_map(|entry| entry.config.as_deref_mut())
        .for_each(config);
}

fn config(config: &mut FilterConfig) {
    if let FilterConfig::Fault(fault) = config {
        (fault.abort_numerator, fault.abort_denominator) = (0, 0);
    }
}
