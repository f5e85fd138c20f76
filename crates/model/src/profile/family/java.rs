//! grpc-java.

use super::{FamilyFacts, Feature, Measurement, changes, defects, unmodelled, versions};
use crate::profile::agent::only_version;

pub(super) const FACTS: FamilyFacts = FamilyFacts {
    name: "java",
    aliases: &[],
    project: "grpc-java",
    // The name is in `BootstrapperImpl`.
    user_agents: &["gRPC Java"],
    of_user_agent: only_version,
    measured: versions!["1.34.1" "1.36.0" "1.37.1" "1.38.1" "1.39.0" "1.40.0" "1.41.0" "1.42.0" "1.45.0" "1.46.0" "1.54.0" "1.63.0" "1.69.0" "1.71.0" "1.72.0" "1.73.0" "1.74.0" "1.75.0" "1.76.0" "1.77.0" "1.77.1" "1.78.0" "1.79.0" "1.80.0" "1.81.0" "1.83.1" "1.85.1"],
    picked: versions!["1.46.0" "1.54.0" "1.63.0" "1.69.0" "1.71.0" "1.76.0" "1.85.1"],
    measurement: Measurement {
        with: "XdsResourceType.parse, called directly",
        resources: 18_692,
    },
    log_marks: "io.grpc. status{code= [xds-client< [xds-server< [xds-cp-client< [channel< [subchannel<",
    wrappers: &[],
    // These are system properties. Any other variable is a property of the same name
    // (`GrpcUtil.getFlag`).
    properties: &[(
        "io.grpc.xds.experimentalEnableLeastRequest",
        "GRPC_EXPERIMENTAL_ENABLE_LEAST_REQUEST",
    )],
    unmodelled: unmodelled! {
        GRPC_EXPERIMENTAL_XDS_FALLBACK "1.71";
        GRPC_EXPERIMENTAL_ENABLE_PRIORITY_LB_CHILD_POLICY_CACHE "1.83.1";
        GRPC_EXPERIMENTAL_WRR_CUSTOM_METRICS "1.83.1";
        GRPC_EXPERIMENTAL_SPIFFE_TRUST_BUNDLE_MAP "1.71";
        GRPC_EXPERIMENTAL_XDS_MTLS_SPIFFE "1.74";
        GRPC_EXPERIMENTAL_XDS_DATA_ERROR_HANDLING "1.77";
        GRPC_EXPERIMENTAL_XDS_ORCA_LRS_PROPAGATION "1.77";
        GRPC_EXPERIMENTAL_XDS_EXT_PROC_ON_SERVER "1.83.1";
        GRPC_EXPERIMENTAL_XDS_EXT_AUTHZ_ON_CLIENT "1.85";
        GRPC_XDS_EXPERIMENTAL_CIRCUIT_BREAKING "1.37";
        GRPC_XDS_EXPERIMENTAL_ENABLE_RING_HASH "1.37";
        GRPC_XDS_EXPERIMENTAL_ENABLE_TIMEOUT "1.37";
        GRPC_XDS_EXPERIMENTAL_SECURITY_SUPPORT "1.37" until "1.63";
        GRPC_XDS_EXPERIMENTAL_FAULT_INJECTION "1.37" until "1.63";
        GRPC_XDS_EXPERIMENTAL_ENABLE_RETRY "1.37" until "1.63";
        GRPC_EXPERIMENTAL_ENABLE_NEW_PICK_FIRST "1.63";
        GRPC_PF_USE_HAPPY_EYEBALLS "1.71";
        GRPC_SERIALIZE_RETRIES "1.71";
    },
    defects: defects! {
        OtherAuthority until "1.63": "looks up virtual hosts by the Listener's name, not by the channel's authority",
            "grpc/grpc-java#10943, #10960";
        Priorities until "1.75": "fails the RPCs that wait when the fail-over timer of the last priority runs out, although it may be connected a moment later",
            "grpc/grpc-java#12240";
        RenewedAnswers since "1.63": "loses the answer of a lookup (RLS) that cannot be renewed: an outage of the lookup service is felt from stale_age on, not from max_age",
            "measured with 1.72.0 and 1.85.1; CachingRlsLbClient.java createBackOffEntry";
    },
    read_switch,
    changes: changes! {
        "1.34" always SocketRing HeadersOfApplication RangeWithEnd LongestDomain FractionAsWritten PathCaseFolded
            HostRetryUnread RetryOnTrimmed RetryOnUnderscored RetryPerRpc
            DisabledFiltersRun DnsPortThrows LastPriorityFails EscapedDollarGroups AggregateByLevels PathNamesConsumed SilentWithoutTargets
            LocalityOnce BreakerCountsReported RoutesAtOnce WeightsSigned ContainsExact LeastRequestPolicy BootstrapLastKey BootstrapFeatureTexts
            AggregateClusterBackwardCompat ClustersAlone RejectedAwaited ChannelGoesIdle;
        "1.34" always EndpointsInPlace ConnectionsApart IdleChildrenStay LocalitiesForgotten SwitchesWhenReady TypedStructChecked SourceTypeChecked RbacMatchersMade ClusterResolverPolicy ClusterImplByName
            OldProviderFields OldestProviderFields RewriteNeedsEngine Grpclb TrafficInbound
            RingNamesList RingNamesGrow RingTurns LoopsEndless LeavesTwiceKill HostByListener EmptyRoutesKill HashKeyUnread;
        "1.36" always AggregateAndDns StreamDurationFirst;
        "1.36" gone EmptyRoutesKill;
        "1.37" always FaultInjection RingHashPolicy;
        "1.39" always RbacRegistered ClusterRingChecked RingSizesChecked DnsClusterChecked;
        "1.40" always RbacFilter RetryPolicy ClusterTls FilterSides FilterNamesCompared NonForwardingKnown;
        "1.41" off RbacFilter;
        "1.41" always RouterRequired TlsOfToday ProvidersKnown ProxyFieldsChecked;
        "1.42" on RbacFilter;
        "1.45" off LeastRequest Federation RlsLb;
        "1.45" always FirstLookupConfig;
        "1.45" always SelfSource TypedStructOfXds;
        "1.46" always UnknownClustersSkipped;
        "1.54" off WeightedRoundRobinMessage;
        "1.54" on CustomLbConfig OutlierDetection;
        "1.54" always HeaderStringMatch RbacHeaderStringMatch LocalitiesCompared ClusterWeightsSummed RingWeightsChecked
            FailsAtOnce RejectionWaitedOut;
        "1.54" gone TrafficInbound ClusterRingChecked RingNamesGrow HostByListener;
        "1.56" on Federation;
        "1.58" always WrrLeastTenth;
        "1.63" on RlsLb DualstackEndpoints;
        "1.61" always SubjectOfRfc2253;
        "1.63" always RbacFilter CustomLbConfig OutlierDetection PickFirstMessage XdstpServiceName PickFirstJson WeightedRoundRobinMessage
            WrrPlainName PolicyExceptionsCaught StatusCodesEnd OuterName;
        "1.63" gone RingNamesList RingTurns LoopsEndless LeavesTwiceKill;
        "1.69" off AuthorityRewrite DualstackEndpoints;
        "1.71" off SystemRootCerts;
        "1.71" always ClusterMetadata WeightsUnsigned AngleGroups BrokenStreamUnheard FiltersMadeFirst;
        "1.71" gone BootstrapLastKey BootstrapFeatureTexts;
        "1.72" off HttpConnect RingHashSetRequestHashKey;
        "1.72" always ServerFallback EndpointMetadata ChainNamesCompared RangesAreLiterals;
        "1.72" gone RejectionWaitedOut SwitchesWhenReady;
        "1.73" off GcpAuthnFilter;
        "1.73" on LeastRequest;
        "1.73" always ListenerAddressChecked ListenerAddressCompared AudienceNeedsSwitch;
        "1.73" gone OldProviderFields OldestProviderFields RewriteNeedsEngine;
        "1.74" always EndpointAddressChecked;
        "1.75" always AggregateChecked AggregateFailsInPlace StaticClusterInternal AwaitsAll;
        "1.75" gone LastPriorityFails AggregateByLevels AggregateClusterBackwardCompat ClustersAlone RejectedAwaited;
        "1.77" on SystemRootCerts Sni;
        "1.77" always RootsOfTheirOwn GcpAuthnFilter OldProviderFields DynamicCluster;
        "1.77" gone AudienceNeedsSwitch Grpclb;
        "1.78" always RandomSubsetting ServesRejectedRoutes;
        "1.79" on PfWeightedShuffling;
        "1.79" always ParserExceptionCaught;
        "1.79" gone ClusterResolverPolicy BrokenStreamUnheard;
        "1.80" always Sni;
        "1.81" always BootstrapServicesRead HttpProxyByType WrrMetricNames;
        "1.83.1" off ExtProcOnClient;
        "1.83.1" always WrrPenaltyAsNumber;
        "1.83.1" gone ContainsExact;
        "1.85" always ExtAuthzRegistered;
    },
};

/// Reads the value of a switch: `true` in any case is true, and an empty text counts as not set.
fn read_switch(value: &str, _: Feature, default: bool) -> bool {
    match value.trim() {
        "" => default,
        value => value.eq_ignore_ascii_case("true"),
    }
}
