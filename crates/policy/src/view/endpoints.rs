//! Endpoints, by priority and locality.

use super::{Named, Numbered, Seen, object, objects, optional, text};
use crate::cel::{Value, View};
use xdsctl_model::resource::Endpoints;
use xdsctl_model::resource::endpoints::{DropCategory, DropConfig, Endpoint, Locality, LocalityName};

impl<'a> View<'a> for Named<'a, Endpoints> {
    fn get(&self, field: &str) -> Value<'a> {
        let Named(name, of) = *self;
        match field {
            "name" => text(name),
            "drop_overloads" => optional(of.drops.as_ref(), object),
            "priorities" => {
                let priorities = of.priorities.iter().enumerate();
                Value::list(priorities.map(|(number, all)| Value::object(Numbered(number, all.as_slice()))))
            }
            _ => Value::Null,
        }
    }
}

impl<'a> View<'a> for Seen<'a, DropConfig> {
    fn get(&self, field: &str) -> Value<'a> {
        match field {
            "categories" => objects(&self.0.categories),
            "drop_all" => Value::Bool(self.0.drop_all),
            _ => Value::Null,
        }
    }
}

impl<'a> View<'a> for Seen<'a, DropCategory> {
    fn get(&self, field: &str) -> Value<'a> {
        match field {
            "category" => text(&self.0.category),
            "drop_per_million" => Value::int(self.0.per_million),
            _ => Value::Null,
        }
    }
}

impl<'a> View<'a> for Numbered<'a, [Locality]> {
    fn get(&self, field: &str) -> Value<'a> {
        match field {
            "priority" => Value::int(self.0),
            "localities" => objects(self.1),
            _ => Value::Null,
        }
    }
}

impl<'a> View<'a> for Seen<'a, Locality> {
    fn get(&self, field: &str) -> Value<'a> {
        match field {
            "index" => Value::int(self.0.index),
            "locality" => object(&self.0.name),
            "load_balancing_weight" => Value::int(self.0.weight),
            "lb_endpoints" => objects(&self.0.endpoints),
            _ => Value::Null,
        }
    }
}

impl<'a> View<'a> for Seen<'a, LocalityName> {
    fn get(&self, field: &str) -> Value<'a> {
        match field {
            "region" => text(&self.0.region),
            "zone" => text(&self.0.zone),
            "sub_zone" => text(&self.0.sub_zone),
            _ => Value::Null,
        }
    }
}

impl<'a> View<'a> for Seen<'a, Endpoint> {
    fn get(&self, field: &str) -> Value<'a> {
        let of = self.0;
        match field {
            "index" => Value::int(of.index),
            "address" => Value::text(of.address.to_string()),
            "additional_addresses" => {
                Value::list(of.additional_addresses.iter().map(|one| Value::text(one.to_string())))
            }
            "load_balancing_weight" => Value::int(of.weight),
            "health_status" => text(of.health.name()),
            "hostname" => text(&of.hostname),
            "proxy" => optional(of.proxy.as_deref(), text),
            "hash_key" => optional(of.hash_key.as_deref(), text),
            _ => Value::Null,
        }
    }
}
