//! Outlier detection among too few endpoints to eject any (gRFC A50).

use super::Findings;
use xdsctl_channel::client::{ClusterFacts, Facts, World};
use xdsctl_model::diag::{Path, rules};
use xdsctl_model::resource::ResourceType;

rules! {
    /// A cluster has fewer endpoints than its outlier detection needs to eject one.
    TOO_FEW_ENDPOINTS = "cds-outlier-detection-too-few-endpoints", Snapshot, Advice as Note, "gRFC A50; C-core outlier_detection.cc",
        also [Go Java Node] "they have A50's formula, and one without outlier detection ejects nothing either";
}

pub(super) fn check(world: &World, findings: &mut Findings) {
    for (name, entry) in world.all(ResourceType::Cluster) {
        let Some(Facts::Cluster(ClusterFacts::Eds {
            service_name,
            ejects_from: Some(needed),
            ..
        })) = entry.facts()
        else {
            continue;
        };
        let wanted = service_name.as_deref().unwrap_or(name);
        let Some(Facts::Endpoints(endpoints)) = world
            .get(ResourceType::Endpoints, wanted)
            .and_then(|resource| resource.facts())
        else {
            continue;
        };
        // A cluster without any endpoint has a finding already.
        let there = endpoints.endpoints as u64;
        if there == 0 || there >= *needed {
            continue;
        }
        let finding = findings.add(
            entry.id,
            &TOO_FEW_ENDPOINTS,
            Path::ROOT.field("outlier_detection").to_owned(),
            format!("outlier detection ejects no endpoint: ClusterLoadAssignment `{wanted}` has {there}, and it needs at least {needed}"),
        );
        finding.help("failure_percentage ejection works among few endpoints: set `enforcing_failure_percentage`, and a low `failure_percentage_minimum_hosts`");
    }
}
