//! grpc-go.

use super::{FamilyFacts, Feature, Measurement, changes, defects, unmodelled, versions};
use crate::profile::agent::only_version;

pub(super) const FACTS: FamilyFacts = FamilyFacts {
    name: "go",
    aliases: &[],
    project: "grpc-go",
    // The name is in `internal/xds/bootstrap`.
    user_agents: &["gRPC Go"],
    of_user_agent: only_version,
    // Every minor release is here; 1.74.0 and 1.74.1 are retracted.
    measured: versions!["1.35.0" "1.36.0" "1.37.0" "1.38.0" "1.39.0" "1.40.0" "1.41.0" "1.42.0" "1.43.0" "1.44.0" "1.45.0" "1.46.0" "1.47.0" "1.48.0" "1.49.0"
        "1.50.0" "1.51.0" "1.52.0" "1.54.0" "1.55.0" "1.56.3" "1.57.0" "1.58.0" "1.59.0"
        "1.60.0" "1.61.0" "1.62.0" "1.63.0" "1.64.0" "1.65.0" "1.66.0" "1.67.0" "1.68.0" "1.69.0"
        "1.70.0" "1.71.0" "1.72.0" "1.73.0" "1.74.2" "1.75.0" "1.76.0" "1.77.0" "1.78.0" "1.79.0" "1.80.0" "1.81.0"
        "1.82.0" "1.82.1" "1.83.0" "1.84.0" "1.85.0"],
    picked: versions!["1.41.0" "1.42.0" "1.48.0" "1.54.0" "1.60.0" "1.85.0"],
    measurement: Measurement {
        with: "its own decoders, called directly",
        resources: 18_692,
    },
    log_marks: "rpcerror:code= [xds][xds- [xds][xdsdepmgr [xds-client0x [xdsnodeid: [ads-stream0x [pemfile]",
    wrappers: &[],
    properties: &[],
    unmodelled: unmodelled! {
        GRPC_EXPERIMENTAL_XDS_FALLBACK "1.66" until "1.75";
        GRPC_EXPERIMENTAL_ENABLE_PRIORITY_LB_CHILD_POLICY_CACHE "1.80";
        GRPC_EXPERIMENTAL_XDS_EXT_AUTHZ_ON_CLIENT "1.84";
        GRPC_XDS_EXPERIMENTAL_CIRCUIT_BREAKING "1.35" until "1.39";
        GRPC_XDS_EXPERIMENTAL_ENABLE_TIMEOUT "1.35" until "1.39";
        GRPC_XDS_EXPERIMENTAL_SECURITY_SUPPORT "1.37" until "1.60";
        GRPC_EXPERIMENTAL_GOOGLE_C2P_RESOLVER "1.37" until "1.43";
        GRPC_RING_HASH_CAP "1.53";
        GRPC_EXPERIMENTAL_ENABLE_NEW_PICK_FIRST "1.68" until "1.77";
    },
    defects: defects! {
        OtherAuthority until "1.62.1": "looks up virtual hosts by the Listener's name, not by the channel's authority",
            "grpc/grpc-go#6996; xds_resolver.go of both versions";
        DnsLbPolicy until "1.80": "ignores the LB policy of a LOGICAL_DNS cluster and uses pick_first",
            "grpc/grpc-go#8733; configbuilder.go of both versions";
        Dns until "1.72": "has no circuit breakers and no load reports for a LOGICAL_DNS cluster",
            "grpc/grpc-go#8169, #8170; configbuilder.go of both versions";
        DnsLiteral until "1.58": "hangs with a LOGICAL_DNS cluster whose host name is an IP address: RPCs wait until their deadline",
            "measured with 1.48 and 1.54; resource_resolver.go of 1.57 and 1.58", fatal;
        WeightPeriods since "1.56" until "1.80": "takes blackout_period for weight_expiration_period",
            "grpc/grpc-go#8915; converter.go of both versions";
        RingOfPriorities until "1.67": "may stay with a later priority although endpoints of an earlier one are back",
            "grpc/grpc-go#7363, #7364; ringhash.go of both versions";
        Ring until "1.65": "keeps the weight that an endpoint had when it first came, so that the rings of two clients may differ",
            "grpc/grpc-go#6927, #7156; ring.go of 1.62 and 1.70";
        SharedService since "1.48": "keeps a core busy without end where leaves of an aggregate cluster have one EDS service",
            "measured with seven versions from 1.48 to 1.85; balancer_priority.go syncPriority";
        NestedRoot since "1.80": "lets chance decide which leaves an aggregate cluster of a route has that is also below another: all, or those left there",
            "measured with 1.85; xds_dependency_manager.go maybeSendUpdateLocked of 1.80 to 1.85";
        ServerRoutes since "1.42" until "1.61": "dies with its first connection where the routes of a server's filter chain come by RDS",
            "grpc/grpc-go#6683, #6788; measured with 1.42, 1.58, 1.60 and 1.61", fatal;
        NoServerRoutes since "1.42" until "1.43": "takes a server's filter chain without routes, and fails its RPCs",
            "grpc/grpc-go#4924; listener_wrapper.go of 1.42", fatal;
        ServerApi since "1.42" until "1.83": "dies when a server gets a Listener with an api_listener",
            "measured with eight versions from 1.42 to 1.82.1, and 1.84; listener_wrapper.go of 1.82.1 and 1.83", fatal;
    },
    read_switch,
    changes: changes! {
        "1.35" always BootstrapFirstServer BootstrapFirstCreds AggregateClusterBackwardCompat TypedStructChecked PickFirstJson SourceTypeChecked CidrAsText
            ClusterResolverPolicy ClusterImplByName ClusterRingChecked TotalWeightChecked TotalWeightAsWritten;
        "1.35" always DomainsExact HeadersAsSent DollarGroups RetryUnlimited RetryOnTrimmed
            AggregateNeedsAll DisabledFiltersRun AggregateIsFlat DropsOnceReady PathNamesConsumed
            RingByKey WeightsOfEndpointsUnsigned RingNamesPlain RingCountsOn RingUncapped DnsNameAsIs DnsSlashKept OutlierDefaults ClustersApart FailuresHandedOn ClustersForgotten LocalitiesForgotten
            AnswersByPath IdleChildrenStay FailedClusterGoesOn RemovedClusterGoesOn HostByListener EndpointsInPlace ConnectionsApart LostAddressReplaced LeaflessAwaited LiteralDnsHangs
            RouteKindsInternal LimitsByPriority RetryFromZero AddressesInTurn ClustersAlone HashKeyUnread DnsChildPickFirst DnsLimitsUnread BlackoutForExpiration;
        "1.35" always ClusterTls ListenerNamed;
        "1.37" on FaultInjection;
        "1.37" always SanMatchersMade;
        "1.37" gone ClusterTls ListenerNamed;
        "1.38" off AggregateAndDns;
        "1.38" always InlineRoutes RegexCompiled ChainsMapped;
        "1.39" always FaultInjection;
        "1.39" off RingHashPolicy;
        "1.39" gone TotalWeightAsWritten;
        "1.41" off RbacFilter;
        "1.41" on RetryPolicy RingHashPolicy;
        "1.41" always ClusterTls RouterRequired TlsOfToday;
        "1.42" on RbacFilter;
        "1.42" always TypedStructOfXds ProxyFieldsChecked SpecifierChecked ProvidersKnown;
        "1.43" off Federation;
        "1.43" always RbacMatchersMade RetryPolicy RlsLb RlsMethodChecked ServerRoutesRequired;
        "1.44" off RlsLb;
        "1.45" off OutlierDetection;
        "1.45" always SelfSource;
        "1.46" always UnknownClustersSkipped MetadataChecked;
        "1.47" always LocalitiesCompared;
        "1.48" on AggregateAndDns;
        "1.48" always ZeroLocalitiesUnread;
        "1.49" gone RingCountsOn;
        "1.49" always EndpointWeightChecked;
        "1.50" on OutlierDetection;
        "1.50" always LrsServerChecked PluginRoutesSkipped;
        "1.51" always EndpointsCompared;
        "1.52" gone RingUncapped;
        "1.53" gone DnsNameAsIs;
        "1.54" always NamelessKills AggregateChecked;
        "1.54" gone TotalWeightChecked RingNamesPlain;
        "1.55" on Federation;
        "1.56" off PickFirstMessage;
        "1.56" on CustomLbConfig RlsLb;
        "1.56" always HeaderStringMatch RbacAuditLogging QueuesWithoutTargets;
        "1.56" gone ClusterRingChecked;
        "1.57" always XdstpServiceName RbacHeaderStringMatch WeightedRoundRobin WrrUnlimited;
        "1.58" gone RouteKindsInternal LiteralDnsHangs RemovedClusterGoesOn;
        "1.58" off LeastRequest;
        "1.58" on PickFirstMessage;
        "1.58" always LeastRequestPolicy;
        "1.59" always LastDepthCounts ChannelGoesIdle;
        "1.59" gone LeaflessAwaited;
        "1.60" always Federation CustomLbConfig RlsLb PickFirstMessage AggregateAndDns OutlierDetection
            RingHashPolicy RbacFilter;
        "1.61" always BootstrapTlsCreds ServesRoutesByRds;
        "1.62.1" gone HostByListener;
        "1.66" gone BootstrapFirstServer;
        "1.67" always WrrWeightsLost;
        "1.68" always BestVirtualHostServes;
        "1.69" gone RetryFromZero;
        "1.70" always ServerFallback PoliciesSeePath;
        "1.71" gone QueuesWithoutTargets;
        "1.71" off SystemRootCerts;
        "1.71" on DualstackEndpoints;
        "1.71" always NewTlsFaultFirst;
        "1.72" gone AddressesInTurn DnsLimitsUnread HashKeyUnread;
        "1.72" off RingHashSetRequestHashKey;
        "1.72" on EndpointHashKeyBackwardCompat;
        "1.72" always RingHashRequestHeader NodeIdFirst;
        "1.73" off MtlsSpiffe;
        "1.73" on LeastRequest;
        "1.74" always LeastRequest;
        "1.75" always TypedConfigChecked;
        "1.75" gone BootstrapFirstCreds;
        "1.76" off HttpConnect;
        "1.77" off BootstrapCallCreds;
        "1.77" always BootstrapCallCredsRead;
        "1.78" off AuthorityRewrite;
        "1.79" on PfWeightedShuffling;
        "1.79" always SharesOfAll;
        "1.80" off EndpointHashKeyBackwardCompat PolicyNamesExact;
        "1.80" on RingHashSetRequestHashKey ParserPanicRecovered;
        "1.80" always RootsOverwritten FailedClusterKept SubscribesFirst DefaultChainFirst EndpointWeightSum PolicyAddressesMatch ImpossibleChainsDropped;
        "1.80" gone LastDepthCounts FailedClusterGoesOn CidrAsText ClustersAlone DnsChildPickFirst BlackoutForExpiration;
        "1.81" off Sni OrcaLrsPropagation;
        "1.81" always CidrByNetip ResourceNameChecked;
        "1.81" gone ClusterResolverPolicy;
        "1.82" off GcpAuthnFilter FilterDisabled;
        "1.82" on PolicyNamesExact;
        "1.82" always RegexAnchored;
        "1.82.1" always RbacKindsChecked PrincipalNamesByKind;
        "1.83" off HttpProxySocket;
        "1.83" on OrcaLrsPropagation;
        "1.83" always HeaderTextChecked;
        "1.84" off ExtProcOnClient;
        "1.84" always DropDenominatorChecked RbacPrefixOptional RbacNestedHeaders ServerRoutesSeeHeaders DenialsPlain;
        "1.85" always GrpcServiceRead HeaderNamesFolded;
        "1.85" gone LimitsByPriority;
    },
};

/// Reads the value of a switch: only the opposite of the default, in any case, changes it
/// (`envconfig.boolFromEnv`).
fn read_switch(value: &str, _: Feature, default: bool) -> bool {
    match default {
        true => !value.eq_ignore_ascii_case("false"),
        false => value.eq_ignore_ascii_case("true"),
    }
}
