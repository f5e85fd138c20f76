//! tonic-xds, hyperium's xDS client for tonic.

use super::{FamilyFacts, Measurement, changes, defects, versions};
use crate::profile::agent::only_version;

pub(super) const FACTS: FamilyFacts = FamilyFacts {
    name: "rust",
    aliases: &["tonic"],
    project: "tonic-xds",
    // The names are in `bootstrap.rs`; the shorter one is that of the first alphas.
    user_agents: &["gRPC Rust tonic-xds", "tonic-xds"],
    of_user_agent: only_version,
    // 0.1.0-alpha.1 asks no control plane. 0.1.0-alpha.2 was only read: it has no retry policies,
    // and its matchers do not see the path.
    measured: versions!["0.1.0-alpha.3" "0.1.0-alpha.4"],
    picked: versions!["0.1.0-alpha.4"],
    measurement: Measurement {
        with: "its own Resource implementations, called directly",
        resources: 18_692,
    },
    log_marks: "tonic_xds:: xds_client:: resourcevalidationfailed: decodeerror:failedtodecodeprotobufmessage:",
    wrappers: &[],
    properties: &[],
    unmodelled: &[],
    defects: defects! {
        Priorities: "sends RPCs to the endpoints of all priorities alike",
            "endpoint_manager.rs of every version";
    },
    // No variable switches anything in tonic-xds.
    read_switch: |_, _, _| false,
    changes: changes! {
        "0.1.0-alpha.3" always HostByListener WaitsForResources UnroutedUnknown AttemptsConnect HeadersOfRequest;
    },
};
