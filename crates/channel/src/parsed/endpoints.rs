//! A ClusterLoadAssignment as the client keeps it.

use serde_json::{Value, json};

use super::object::ParsedObject;
use super::parsed_value::ParsedValue;
use xdsctl_model::resource::Endpoints;
use xdsctl_model::resource::cluster::HealthStatus;
use xdsctl_model::resource::endpoints::{DropConfig, Endpoint, Locality};

/// The parsed form of a ClusterLoadAssignment.
pub fn endpoints(endpoints: &Endpoints) -> ParsedValue<'_> {
    ParsedObject::new()
        .optional("drop_overloads", endpoints.drops.as_ref().map(drops))
        .objects("priorities", &endpoints.priorities, |index, list| priority(index, list))
        .done()
}

fn priority(priority: usize, localities: &[Locality]) -> ParsedValue<'_> {
    ParsedObject::new()
        .put("priority", priority)
        .objects("localities", localities, |_, entry| locality(entry))
        .done()
}

/// The parsed form of a locality.
pub fn locality(locality: &Locality) -> ParsedValue<'_> {
    ParsedObject::new()
        .put("index", locality.index)
        .put(
            "locality",
            ParsedObject::new()
                .set("region", locality.name.region.as_str(), "")
                .set("zone", locality.name.zone.as_str(), "")
                .set("sub_zone", locality.name.sub_zone.as_str(), "")
                .done(),
        )
        .put("load_balancing_weight", locality.weight)
        .objects("lb_endpoints", &locality.endpoints, |_, entry| {
            ParsedValue::Plain(endpoint(entry))
        })
        .done()
}

/// The parsed form of an endpoint.
pub fn endpoint(endpoint: &Endpoint) -> Value {
    ParsedObject::new()
        .put("index", endpoint.index)
        .put("address", endpoint.address.to_string())
        .list(
            "additional_addresses",
            endpoint.additional_addresses.iter().map(|a| json!(a.to_string())),
        )
        .mark("load_balancing_weight", endpoint.weight, endpoint.weight_is_default)
        .mark(
            "health_status",
            endpoint.health.name(),
            endpoint.health == HealthStatus::default(),
        )
        .set("hostname", endpoint.hostname.as_str(), "")
        .optional("proxy", endpoint.proxy.as_deref().map(Value::from))
        .optional("hash_key", endpoint.hash_key.as_deref().map(Value::from))
        .done()
}

fn drops(config: &DropConfig) -> Value {
    let categories: Vec<Value> = config
        .categories
        .iter()
        .map(|drop| {
            ParsedObject::new()
                .put("category", drop.category.as_str())
                .put("drop_per_million", drop.per_million)
                .done()
        })
        .collect();
    ParsedObject::new()
        .put("categories", categories)
        .set("drop_all", config.drop_all, false)
        .done()
}
