//! What the client keeps of an accepted resource, for people: `validate --show parsed`.
//!
//! Each value of the model lists its [`Fields`] here. A field has its xDS name if the client keeps
//! its meaning. [`of`] makes JSON of the fields; durations are seconds (`"30s"`). Each object has a
//! list `defaults` of the fields that hold the client's default, whether or not the resource sets
//! it. [`text`] makes indented lines of that JSON. Policies ask for one field at a time.
//!
//! This shows values of the `model` only. What the client drops or ignores is in the findings.

mod cluster;
mod endpoints;
mod fields;
mod filter;
mod listener;
mod matcher;
mod parsed_value;
mod rbac;
mod route;
mod text;
mod tls;

pub use fields::{FieldValue, Fields, Form, NameFields};
pub use parsed_value::{List, ParsedValue};

pub use cluster::lb_policies;
pub use text::write;

use xdsctl_model::resource::Resource;

/// Makes the JSON of what the client keeps of `resource`.
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
        Resource::Listener(value) => printed(value),
        Resource::RouteConfiguration(value) => printed(value),
        Resource::Cluster(value) => printed(value),
        Resource::Endpoints(value) => printed(value),
    }
}

/// Makes the JSON of what the client keeps of a value.
pub fn printed<T: Fields>(value: &T) -> ParsedValue<'_> {
    FieldValue::from(value).printed()
}

#[cfg(test)]
mod tests;
