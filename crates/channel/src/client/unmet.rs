//! How RPCs end when the channel lacks what they need.

use xdsctl_model::profile::{Client, Feature};

/// What a channel lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unmet {
    /// A Listener or its routes, which do not exist or were rejected.
    Configuration,
    /// A virtual host for the channel's authority.
    VirtualHost,
    /// A cluster, which does not exist or was rejected.
    Cluster,
    /// The endpoints of a cluster, which do not exist or were rejected.
    Endpoints,
}

/// How RPCs end that need what the channel lacks.
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
    /// Returns how they end in a client in its default environment (measured, see
    /// `docs/conformance.md`).
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

    /// The predicate for several RPCs, as in "they fail".
    pub const fn of_several(self) -> &'static str {
        match self {
            UnmetEnd::Unavailable => "fail with UNAVAILABLE",
            UnmetEnd::Unknown => "fail with UNKNOWN",
            UnmetEnd::Waits => "wait until their deadline",
        }
    }

    /// The predicate for `every RPC`.
    pub const fn of_each(self) -> &'static str {
        match self {
            UnmetEnd::Unavailable => "fails with UNAVAILABLE",
            UnmetEnd::Unknown => "fails with UNKNOWN",
            UnmetEnd::Waits => "waits until its deadline",
        }
    }
}
