//! Weights of localities and endpoints that the cluster's LB policy does not use (gRFCs A48, A52).
//!
//! `round_robin` and `least_request` outside of `wrr_locality` get one list of endpoints. Inside
//! it, the locality's weight counts but the endpoint's does not. `weighted_round_robin` takes its
//! weights from load reports. Only policies for which this is certain are checked.

use super::Findings;
use xdsctl_channel::client::{ClusterFacts, EndpointsFacts, Facts, PolicyFacts, PolicyKind, ResourceId, World};
use xdsctl_model::diag::{FieldPath, rules};
use xdsctl_model::profile::Family;
use xdsctl_model::resource::ResourceType;

rules! {
    /// A cluster's endpoints have different weights, or its localities, and its LB policy does not look at them.
    WEIGHTS_UNUSED = "cds-weights-unused", Snapshot, Advice as Note, "gRFC A52; C-core round_robin.cc, weighted_round_robin.cc, cds.cc",
        every "these policies look at the same weights in every client that has them; it is C-core's alone where the list of policies has others before";
}

pub(super) fn check(world: &World, findings: &mut Findings) {
    for (name, entry) in world.all(ResourceType::Cluster) {
        let Some(Facts::Cluster(ClusterFacts::Eds {
            service_name, policy, ..
        })) = entry.facts()
        else {
            continue;
        };
        let wanted = service_name.as_deref().unwrap_or(name);
        if let Some(resource) = world.get(ResourceType::Endpoints, wanted)
            && let Some(Facts::Endpoints(endpoints)) = resource.facts()
        {
            report(entry.id, wanted, *policy, *endpoints, findings);
        }
    }
}

fn report(cluster: ResourceId, wanted: &str, policy: PolicyFacts, endpoints: EndpointsFacts, findings: &mut Findings) {
    let name = match policy.kind {
        PolicyKind::LeastRequest => "least_request",
        PolicyKind::RoundRobin => "round_robin",
        PolicyKind::WeightedRoundRobin => "weighted_round_robin",
        PolicyKind::PickFirst | PolicyKind::RingHash | PolicyKind::Other => return,
    };
    let what = match (
        endpoints.locality_weights_differ && !policy.in_wrr_locality,
        endpoints.endpoint_weights_differ,
    ) {
        (true, true) => "neither weights of localities nor of endpoints",
        (true, false) => "no weights of localities",
        (false, true) => "no weights of endpoints",
        (false, false) => return,
    };
    let message = format!("{name} looks at {what}, and those of ClusterLoadAssignment `{wanted}` differ");
    findings
        .add(cluster, &WEIGHTS_UNUSED, FieldPath::default(), message)
        .shared_with(who_has(policy));
}

/// Returns the families that choose this policy as well. Other families may support an earlier one
/// of the list, and Node has no weighted_round_robin by default. Only Go and Java have
/// least_request.
const fn who_has(policy: PolicyFacts) -> &'static [Family] {
    match policy.kind {
        PolicyKind::LeastRequest => &[Family::Go, Family::Java],
        _ if policy.passes_over => &[Family::Cpp],
        PolicyKind::WeightedRoundRobin => &[Family::Cpp, Family::Go, Family::Java],
        _ => &Family::ALL,
    }
}
