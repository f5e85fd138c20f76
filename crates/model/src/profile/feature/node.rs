//! Features of grpc-js-xds alone.

macro_rules! node_features {
    ($next:ident $($then:ident)* => $($before:tt)*) => { $next! { $($then)* => $($before)*
    /// HTTP filters are read; before the fault filter (A33), the client has none.
    FaultInjection = "GRPC_XDS_EXPERIMENTAL_FAULT_INJECTION";
    /// `retry_policy` is checked (A44).
    RetryPolicy = "GRPC_XDS_EXPERIMENTAL_ENABLE_RETRY";
    /// `outlier_detection` is read, and its LB policy is registered (A50).
    OutlierDetection = "GRPC_EXPERIMENTAL_ENABLE_OUTLIER_DETECTION";
    /// The ring_hash LB policy (A42).
    RingHashPolicy = "GRPC_XDS_EXPERIMENTAL_ENABLE_RING_HASH";
    /// The RBAC HTTP filter (A41).
    RbacFilter = "GRPC_XDS_EXPERIMENTAL_RBAC";
    /// The ClientSideWeightedRoundRobin message in a `load_balancing_policy` (A58).
    WeightedRoundRobinMessage = "GRPC_EXPERIMENTAL_XDS_WRR_LB";
    /// The weighted_round_robin LB policy (A58).
    WeightedRoundRobin;
    /// Filter chains are read, for servers (A36); before, a Listener must have an api_listener.
    FilterChains;
    /// The transport socket of a cluster is read (A29); before, all connections are plaintext.
    ClusterTls;
    /// Routes may have a non_forwarding_action, no cluster, or header matchers without a kind.
    LenientRoutes;
    /// The base_interval of a retry policy must be above 0.
    BaseIntervalChecked;
    /// The xds_cluster_impl JSON config has only a cluster and a child.
    ClusterImplSmall;
    /// HTTP filters are distinguished by whether clients or servers support them.
    FilterSides;
    /// WrrLocality is also registered without a prefix, for a policy that does not exist.
    WrrLocalityTwice;
    /// Matchers and hash policies see the application's metadata and a content-type. A missing header matches what is inverted,
    /// present_match is true of every header that is there, and a request hash is not cut off at 64 bits when it is turned.
    HeadersOfMetadata;
    /// An invalid domain is skipped; in other clients that compare exactly, no domain of the virtual hosts then matches.
    BadDomainsPassed;
    /// `query_parameters` of a route are not read; in other clients such a route is left out.
    QueryParametersUnread;
    /// A runtime_fraction has no limit, and always matches without a value.
    FractionUnbounded;
    /// A pattern is compiled between `^` and `$` without a group, so that only its first and last alternatives are anchored.
    RegexAnchorsLoose;
    /// A regex_rewrite with an empty substitution does nothing.
    EmptyRewriteUnread;
    /// The fraction of a back-off is appended to the text of its seconds: 1 s is 10 s, and 1.5 s is 10.5 s.
    SecondsTenfold;
    /// A retry policy is limited to five attempts, and nothing else in it is checked.
    RetryUnchecked;
    /// `idle_timeout` of a connection manager is used as the timeout of RPCs, and max_stream_duration is not read.
    IdleTimeoutOfRpcs;
    /// A Listener or cluster that is removed and comes back unchanged stays missing while the client watches it.
    WithdrawnRemembered;
    /// Fields that an update only adds go unnoticed: an override, an outlier detection, a timeout of the connection manager.
    AdditionsUnseen;
    /// A Listener that changes but names the same RouteConfiguration takes effect with the next change of another resource.
    ListenerAloneUnseen;
    /// While there is no configuration, RPCs wait, whatever the reason.
    WaitsForConfiguration;
    /// EDS resources that are missing or rejected and DNS names without an address hold up the channel: each cluster needs endpoints or an error.
    EndpointsAwaited;
    /// An aggregate cluster that is too deep somewhere, or leads back to itself, fails as a whole; a missing cluster is tried in its turn.
    AggregateFailsWhole;
    /// An aggregate cluster that becomes too deep keeps its child policy, whose next report replaces the failure.
    TooDeepGoesOn;
    /// A locality with a weight of 0 counts, a locality without a usable endpoint does not, and weights of 0 leave a hash ring empty.
    ZeroWeightsCount;
    /// When a list of addresses is shuffled, the first two do not swap places.
    ShuffleSparesFirst;
    /// The LB policy of a LOGICAL_DNS cluster is pick_first, whatever the cluster says.
    DnsPolicyReplaced;
    /// In outlier_detection, only times and the share to eject have defaults; if no endpoint can be compared, the process dies.
    OutlierDefaultsLost;
    /// In round_robin, new endpoints replace the old ones at once; in other clients, when they are connected or have failed.
    ListsReplacedAtOnce;
    /// A circuit breaker counts an RPC only once it is on its way, so RPCs that begin at the same moment do not see each other.
    BreakerCountsLate;
    /// weighted_target ignores endpoints whose path has no name left for it.
    PathsNeeded;
    /// Clusters share the connections to an endpoint. A policy uses an existing connection at once, before the RPC that asked for it waits.
    ConnectionsPooled;
    } };
}
