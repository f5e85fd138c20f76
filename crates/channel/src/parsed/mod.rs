//! What the client keeps of an accepted resource, for people: `validate --show parsed`.
//!
//! Each value of the model lists its [`Fields`] here, with the field's own names where the client
//! keeps the field's meaning. [`of`] makes JSON of them; durations are seconds (`"30s"`). Each
//! object has a list `defaults`: which of its fields hold the client's default, whether the
//! resource says so or says nothing. [`text`] makes indented lines of that JSON. Policies ask for
//! one field at a time.
//!
//! Shows `model` values only: what the client drops or ignores is not here, the findings tell of
//! it.

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
        Resource::Listener(value) => printed(value),
        Resource::RouteConfiguration(value) => printed(value),
        Resource::Cluster(value) => printed(value),
        Resource::Endpoints(value) => printed(value),
    }
}

/// The kept form of a value.
pub fn printed<T: Fields>(value: &T) -> ParsedValue<'_> {
    FieldValue::from(value).printed()
}

#[cfg(test)]
mod tests;
