//! Endpoints, by priority and locality.

use std::net::IpAddr;

use super::{Named, Numbered, address, object, objects, optional, text};
use crate::cel::{Record, Value, View};
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

impl Record for DropConfig {
    fn get<'a>(&'a self, field: &str) -> Value<'a> {
        match field {
            "categories" => objects(&self.categories),
            "drop_all" => Value::Bool(self.drop_all),
            _ => Value::Null,
        }
    }
}

impl Record for DropCategory {
    fn get<'a>(&'a self, field: &str) -> Value<'a> {
        match field {
            "category" => text(&self.category),
            "drop_per_million" => Value::int(self.per_million),
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

impl Record for Locality {
    fn get<'a>(&'a self, field: &str) -> Value<'a> {
        match field {
            "index" => Value::int(self.index),
            "locality" => object(&self.name),
            "load_balancing_weight" => Value::int(self.weight),
            "lb_endpoints" => objects(&self.endpoints),
            _ => Value::Null,
        }
    }
}

impl Record for LocalityName {
    fn get<'a>(&'a self, field: &str) -> Value<'a> {
        match field {
            "region" => text(&self.region),
            "zone" => text(&self.zone),
            "sub_zone" => text(&self.sub_zone),
            _ => Value::Null,
        }
    }
}

impl Record for Endpoint {
    fn get<'a>(&'a self, field: &str) -> Value<'a> {
        let of = self;
        match field {
            "index" => Value::int(of.index),
            "address" => address(of.address),
            "additional_addresses" => Value::list(of.additional_addresses.iter().copied().map(address)),
            "load_balancing_weight" => Value::int(of.weight),
            "health_status" => text(of.health.name()),
            "hostname" => text(&of.hostname),
            "proxy" => optional(of.proxy.as_deref(), text),
            "hash_key" => optional(of.hash_key.as_deref(), text),
            _ => Value::Null,
        }
    }

    fn address(&self, field: &str) -> Option<IpAddr> {
        (field == "address").then(|| self.address.ip())
    }
}
