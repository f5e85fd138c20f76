//! A ClusterLoadAssignment as the client keeps it.

use super::fields::{FieldValue, Fields, Form};
use xdsctl_model::resource::Endpoints;
use xdsctl_model::resource::cluster::HealthStatus;
use xdsctl_model::resource::endpoints::{DropCategory, DropConfig, Endpoint, Locality, LocalityName};

impl Fields for Endpoints {
    fn fields<'a>(&'a self, form: &mut Form<'a, '_>) {
        let priority = |(priority, localities): (usize, &'a Vec<Locality>)| {
            FieldValue::named(move |form| {
                form.put("priority", priority).objects("localities", localities, false);
            })
        };
        let priorities = self.priorities.iter().enumerate().map(priority);
        form.optional("drop_overloads", self.drops.as_ref())
            .objects("priorities", priorities, false);
    }
}

impl Fields for Locality {
    fn fields<'a>(&'a self, form: &mut Form<'a, '_>) {
        form.put("index", self.index)
            .put("locality", &self.name)
            .put("load_balancing_weight", self.weight)
            .objects("lb_endpoints", &self.endpoints, false);
    }
}

impl Fields for LocalityName {
    fn fields<'a>(&'a self, form: &mut Form<'a, '_>) {
        form.set("region", self.region.as_str(), "")
            .set("zone", self.zone.as_str(), "")
            .set("sub_zone", self.sub_zone.as_str(), "");
    }
}

impl Fields for Endpoint {
    fn fields<'a>(&'a self, form: &mut Form<'a, '_>) {
        form.put("index", self.index)
            .put("address", self.address)
            .list("additional_addresses", self.additional_addresses.iter().copied())
            .mark("load_balancing_weight", self.weight, self.weight_is_default)
            .set("health_status", self.health.name(), HealthStatus::default().name())
            .set("hostname", self.hostname.as_str(), "")
            .optional("proxy", self.proxy.as_deref())
            .optional("hash_key", self.hash_key.as_deref());
    }
}

impl Fields for DropConfig {
    fn fields<'a>(&'a self, form: &mut Form<'a, '_>) {
        form.items("categories", &self.categories)
            .set("drop_all", self.drop_all, false);
    }
}

impl Fields for DropCategory {
    fn fields<'a>(&'a self, form: &mut Form<'a, '_>) {
        form.put("category", &self.category)
            .put("drop_per_million", self.per_million);
    }
}
