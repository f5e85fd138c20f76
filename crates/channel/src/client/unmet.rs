//! What RPCs come to where a channel lacks what it needs for them.

use xdsctl_model::profile::{Client, Feature};

/// What a channel lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unmet {
    /// A Listener or its routes: they are not there, or were rejected.
    Configuration,
    /// A virtual host for its authority.
    VirtualHost,
    /// A cluster that is not there, or was rejected.
    Cluster,
    /// The endpoints of a cluster: they are not there, or were rejected.
    Endpoints,
}

/// How RPCs end that need it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnmetEnd {
    /// They fail with UNAVAILABLE.
    Unavailable,
    /// They fail with UNKNOWN.
    Unknown,
    /// They wait until their deadline.
    Waits,
}

impl UnmetEnd {
    /// How they end in a client in its default environment (measured, see `docs/conformance.md`).
    pub fn of(unmet: Unmet, client: Client) -> UnmetEnd {
        let has = |feature: Feature| feature.is_default_on(client);
        if unmet == Unmet::VirtualHost && has(Feature::UnroutedUnknown) {
            return UnmetEnd::Unknown;
        }
        let waits = match unmet {
            Unmet::Configuration | Unmet::VirtualHost => has(Feature::WaitsForConfiguration),
            Unmet::Cluster => false,
            Unmet::Endpoints => {
                has(Feature::WaitsForConfiguration) && has(Feature::EndpointsAwaited)
                    || has(Feature::QueuesWithoutTargets)
            }
        };
        match waits || has(Feature::WaitsForResources) {
            true => UnmetEnd::Waits,
            false => UnmetEnd::Unavailable,
        }
    }

    /// The predicate of several RPCs.
    pub const fn of_several(self) -> &'static str {
        match self {
            UnmetEnd::Unavailable => "fail with UNAVAILABLE",
            UnmetEnd::Unknown => "fail with UNKNOWN",
            UnmetEnd::Waits => "wait until their deadline",
        }
    }

    /// The predicate of `every RPC`.
    pub const fn of_each(self) -> &'static str {
        match self {
            UnmetEnd::Unavailable => "fails with UNAVAILABLE",
            UnmetEnd::Unknown => "fails with UNKNOWN",
            UnmetEnd::Waits => "waits until its deadline",
        }
    }
}
