//! What the client keeps of an accepted resource, for people: `validate --show parsed`.
//!
//! [`of`] makes JSON of a validated resource, with the field's own names where the client keeps the
//! field's meaning; durations are seconds (`"30s"`). Each object has a list `defaults`: which of
//! its fields hold the client's default, whether the resource says so or says nothing. [`text`]
//! makes indented lines of that JSON.
//!
//! Shows `model` values only: what the client drops or ignores is not here, the findings tell of
//! it.

mod cluster;
mod endpoints;
mod filter;
mod listener;
mod matcher;
mod object;
mod parsed_value;
mod rbac;
mod route;
mod text;
mod tls;

pub use parsed_value::{List, ParsedValue};

pub use cluster::metadata;
pub use endpoints::{endpoint, endpoints, locality};
pub use filter::{config as filter_config, http_filter as filter};
pub use listener::{filter_chain, listener};
pub use route::{retry_policy, route, route_configuration, virtual_host};
pub use text::write;

use xdsctl_model::resource::{Cluster, Resource};

/// The kept form of `resource` as JSON.
///
/// ```
/// use xdsctl_model::resource::{Endpoints, Resource};
/// let resource = Resource::Endpoints(Endpoints::default());
/// let parsed = xdsctl_channel::parsed::of(&resource).to_value();
/// assert_eq!(parsed["priorities"], serde_json::json!([]));
/// assert_eq!(parsed["defaults"], serde_json::json!(["drop_overloads"]));
/// ```
pub fn of(resource: &Resource) -> ParsedValue<'_> {
    match resource {
        Resource::Listener(value) => listener(value),
        Resource::RouteConfiguration(value) => route_configuration(value),
        Resource::Cluster(value) => cluster(value),
        Resource::Endpoints(value) => endpoints(value),
    }
}

/// The kept form of a Cluster.
pub fn cluster(cluster: &Cluster) -> ParsedValue<'_> {
    ParsedValue::Plain(cluster::cluster(cluster))
}

#[cfg(test)]
mod tests;
