//! grpc-js-xds.

use super::{FamilyFacts, Feature, Measurement, changes, defects, versions};
use crate::profile::agent::only_version;

pub(super) const FACTS: FamilyFacts = FamilyFacts {
    name: "node",
    aliases: &[],
    project: "grpc-js-xds",
    // The name is in `xds-client.ts`.
    user_agents: &["gRPC Node Pure JS"],
    of_user_agent: only_version,
    // These versions could be installed; 1.14.0 and 1.14.1 answer alike.
    measured: versions!["1.10.1" "1.13.0" "1.14.0" "1.14.1"],
    picked: versions!["1.13.0" "1.14.1"],
    measurement: Measurement {
        with: "its own decode functions, called directly",
        resources: 18_025,
    },
    log_marks: "|xds_client| |xds_resolver| @grpc/grpc-js |load_balancing_call| |resolving_call|",
    wrappers: &[],
    properties: &[],
    unmodelled: &[],
    defects: defects! {
        Dns: "uses pick_first for a LOGICAL_DNS cluster, whatever LB policy it has", "load-balancer-cds.ts of 1.14.1";
        RingOfShared since "1.14": "may leave the first RPC to an endpoint of a ring waiting for its deadline, if another cluster is connected there",
            "load-balancer-ring-hash.ts of 1.14.1 connects within the pick, and the RPC is queued behind the news";
    },
    read_switch,
    // RPCs were measured with 1.14.1. The channels of 1.10.1 and 1.13.0, which were asked too,
    // differ where they have no configuration.
    changes: changes! {
        "1.10.1" off Federation PickFirstMessage;
        "1.10.1" on CustomLbConfig FaultInjection RetryPolicy OutlierDetection RingHashPolicy;
        "1.10.1" always HeadersOfMetadata DomainsExact BadDomainsPassed QueryParametersUnread FractionUnbounded
            RegexAnchorsLoose EmptyRewriteUnread SecondsTenfold RetryUnchecked IdleTimeoutOfRpcs
            EndpointsAwaited AggregateFailsWhole TooDeepGoesOn ZeroWeightsCount ShuffleSparesFirst PathNamesConsumed PathsNeeded DnsPolicyReplaced
            DisabledFiltersRun WithdrawnRemembered AdditionsUnseen ListenerAloneUnseen OutlierDefaultsLost ListsReplacedAtOnce BreakerCountsLate
            EndpointHashKeyBackwardCompat ChannelGoesIdle;
        "1.10.1" always TotalWeightDrawn TypedStructChecked HeaderStringMatch ClusterResolverPolicy ClusterImplByName;
        "1.13" off AggregateClusterBackwardCompat;
        "1.13" on DualstackEndpoints;
        "1.13" always FilterChains ClusterTls LenientRoutes BaseIntervalChecked ClusterImplSmall;
        "1.13" gone ClusterResolverPolicy;
        "1.14" off RbacFilter WeightedRoundRobinMessage;
        "1.14" on Federation;
        "1.14" always WaitsForConfiguration ConnectionsPooled ClustersForgotten OwnRoutesGoOn;
        "1.14" always WeightedRoundRobin WrrDeadlines FilterSides WrrLocalityTwice;
        "1.14.1" gone TotalWeightDrawn;
    },
};

/// Reads the value of a switch: only `true` is true.
fn read_switch(value: &str, _: Feature, _: bool) -> bool {
    value == "true"
}
