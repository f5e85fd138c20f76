//! Features that came with grpc-go.

macro_rules! go_features {
    ($next:ident $($then:ident)* => $($before:tt)*) => { $next! { $($then)* => $($before)*
    // What happens to RPCs, as one version was asked (`docs/clients.md`).

    /// Domains of virtual hosts are compared with regard to case, and their `*` may match nothing.
    DomainsExact;
    /// Matchers see the raw values of binary headers, but neither content-type nor :path nor grpc-timeout; a header with an empty value counts as absent.
    HeadersAsSent;
    /// Names of header matchers are converted to lower case.
    HeaderNamesFolded;
    /// Metadata is checked before anything else happens to an RPC.
    MetadataChecked;
    /// The substitution of a hash policy's regex_rewrite refers to a group as `$1`, not as `\\1`.
    DollarGroups;
    /// num_retries has no limit, and no back-off is too short.
    RetryUnlimited;
    /// The wait before a retry is drawn from all times up to the back-off.
    RetryFromZero;
    /// Words of retry_on may be in any case, and may have spaces around them.
    RetryOnTrimmed;
    /// A child of an aggregate cluster that cannot be used fails the whole aggregate.
    AggregateNeedsAll;
    /// HTTP filters run even if they are `disabled`, unless a switch is set.
    DisabledFiltersRun;

    /// `requestHashHeader` of the ring_hash JSON config is read (A76).
    RingHashRequestHeader;
    /// A Listener may have inline routes; before, they must come by RDS.
    InlineRoutes;
    /// The regular expressions of routes are compiled when they arrive; before, a channel whose routes have an invalid one has no routes.
    RegexCompiled;
    /// Filter chains are combined to one map and are read whole (A36); before, each is read alone: its match and its transport socket.
    ChainsMapped;
    /// A server's Listener is named `udpa.resource.listening_address=` followed by its address; only the transport socket of its only chain is read.
    ListenerNamed;
    /// Matchers of names in certificates may be of any kind; before, only exact ones are read.
    SanMatchersMade;
    /// A TLS transport socket without typed_config is an error; before, the parser panics.
    TypedConfigChecked;
    /// A panic in a parser is a NACK without a name; before, the process dies.
    ParserPanicRecovered = "GRPC_GO_EXPERIMENTAL_XDS_RESOURCE_PANIC_RECOVERY";
    /// The default filter chain is read before the others.
    DefaultChainFirst;
    /// The sum of the weights of a locality's endpoints must fit into 32 bits.
    EndpointWeightSum;
    /// Address ranges of filter chains are compared as texts.
    CidrAsText;
    /// Address ranges of filter chains are read by net/netip: zones are allowed, and IPv4 in IPv6 counts as IPv4.
    CidrByNetip;
    /// A resource without a name is an error; before, the client goes on as if the resource were empty.
    ResourceNameChecked;
    /// Regular expressions are compiled with anchors and a group around them.
    RegexAnchored;
    /// Names of LB policies are compared with regard to case.
    PolicyNamesExact = "GRPC_GO_EXPERIMENTAL_CASE_SENSITIVE_BALANCER_REGISTRIES";
    /// Policies are compared with a subject as RFC 2253 writes it; before, the subject has a space after each comma.
    SubjectOfRfc2253;
    /// A principal is compared with the URIs of a certificate; without URIs with its DNS names, and without these with its subject; before, with all of them.
    PrincipalNamesByKind;
    /// Ranges of addresses in policies are compared with the address; before, with the address and its port, which matches nothing.
    PolicyAddressesMatch;
    /// Header matchers of policies see `:path`.
    PoliciesSeePath;
    /// Header matchers of a server's routes see the headers of the RPC; before, they see none.
    ServerRoutesSeeHeaders;
    /// The best of a server's virtual hosts is used; before, the last one is used if any matches the authority.
    BestVirtualHostServes;
    /// A server accepts connections to chains with routes by RDS; before, the first such connection ends the program.
    ServesRoutesByRds;
    /// A filter chain that never matches is dropped entirely; before, its destinations still counted.
    ImpossibleChainsDropped;
    /// String matchers of policies ignore case if they are set to; before, they do so if they are not set to.
    PolicyCaseAsSet;
    /// Policies see `content-type`.
    PoliciesSeeContentType;
    /// Header matchers of a server's routes see `:scheme`, `te` and `host`.
    ServerRoutesSeeAll;
    /// RPCs to a server whose routes do not exist are UNAVAILABLE; before, NOT_FOUND.
    MissingRoutesUnavailable;
    /// A server serves although the routes of a chain were rejected, and fails RPCs; before, it waits for valid routes.
    ServesRejectedRoutes;
    /// RBAC rules of a kind that the client does not support are errors; before, they are ignored.
    RbacKindsChecked;
    /// Empty texts in the deprecated forms of a header matcher are errors, and `contains_match` is supported.
    HeaderTextChecked;
    /// An unknown denominator of a drop is an error.
    DropDenominatorChecked;
    /// An address range of RBAC may be without prefix_len; before, the parser panics.
    RbacPrefixOptional;
    /// Headers that RBAC must not use are also found in sets and negations, and in any case.
    RbacNestedHeaders;
    /// `disabled` of an HTTP filter and of an override, under the switch of ext_proc (A93).
    FilterDisabled = "GRPC_EXPERIMENTAL_XDS_EXT_PROC_ON_CLIENT";
    /// The LB policy cluster_resolver_experimental is registered.
    ClusterResolverPolicy;
    /// The grpc_service of an ext_proc filter is read (A102); before, every one is rejected.
    GrpcServiceRead;
    /// An aggregate cluster has one list of the priorities of all its leaves, and keeps no connections for sessions.
    AggregateIsFlat;
    /// Drops take effect only while an endpoint is connected.
    DropsOnceReady;
    /// A cluster that drops every RPC is READY whatever the state of its endpoints, so an aggregate cluster stays with it.
    DropAllIsReady;
    /// A name of an endpoint's path is gone once a policy has gone by it.
    PathNamesConsumed;
    /// In the outlier detection of a cluster, 0 means the default.
    OutlierDefaults;
    /// Each cluster in the routes is resolved alone: a cluster that occurs below another one is not left out.
    ClustersApart;
    /// An aggregate whose last child is too deep fails; if only an earlier child is, RPCs wait without an end.
    LastDepthCounts;
    /// A cluster below several clusters of the routes has the result of the last of them, and their order is random.
    RootsOverwritten;
    /// A policy passes on the failures of endpoints unchanged, and has a message of its own only if there are no endpoints.
    FailuresHandedOn;
    /// A cluster that no route names any more is dropped at once; elsewhere, it is kept for 15 minutes, with its connections.
    ClustersForgotten;
    /// A locality that is no longer listed is dropped at once; elsewhere, it is kept for 15 minutes.
    LocalitiesForgotten;
    /// A channel without an RPC for 30 minutes drops everything, and the next RPC starts it anew.
    ChannelGoesIdle;
    /// An answer to a lookup (RLS) is valid for one method, and cached by the texts of its keys alone; if a lookup fails, RPCs do not wait.
    AnswersByPath;
    /// The first config of lookups (RLS) stays in use until another lookup service is named, and a failed lookup ends the answer before it.
    FirstLookupConfig;
    /// The process dies when no route leads to a cluster specifier plugin (RLS) in use any more.
    LostPluginKills;
    /// While the client rejects the routes, a Listener that changes from inline routes to RDS has no effect.
    OwnRoutesGoOn;
    /// The node's id comes before the failure of a resource or route in messages.
    NodeIdFirst;
    /// weighted_target leaves an idle child idle, and RPCs wait in vain for it.
    IdleChildrenStay;
    /// A failed cluster keeps its connections, and takes RPCs again as soon as one of them changes.
    FailedClusterKept;
    /// The policy of a cluster goes on when the cluster fails, but not when a resource is removed.
    FailedClusterGoesOn;
    /// The policy of a cluster also goes on when a resource is removed, with the last endpoints.
    RemovedClusterGoesOn;
    /// The ring is built in the order of the hash keys, and among endpoints with the same key any may get the picks.
    RingByKey;
    /// The weight of an endpoint is unsigned; elsewhere, a weight of 2^31 or more counts as 1.
    WeightsOfEndpointsUnsigned;
    /// The name of a ring entry has no `_` between the address and the number.
    RingNamesPlain;
    /// The number in the name of a ring entry counts all entries; later, it counts those of its endpoint.
    RingCountsOn;
    /// A ring may have 8,388,608 entries; later, 4,096.
    RingUncapped;
    /// The name of a LOGICAL_DNS cluster is used as a host and a port; later, as the path of a URI.
    DnsNameAsIs;
    /// A slash before the name of a LOGICAL_DNS cluster is part of the name.
    DnsSlashKept;
    /// RPCs wait for an aggregate cluster without a leaf; later, they fail.
    LeaflessAwaited;
    /// A LOGICAL_DNS cluster whose name is an IP address hangs: its resolver answers while the policy holds its own lock.
    LiteralDnsHangs;
    /// An RPC on a route of a kind that gRPC does not support fails with INTERNAL.
    RouteKindsInternal;
    /// A new list of endpoints is in use at once, and endpoints that stay keep their connections; elsewhere, the old list serves until the new one can.
    EndpointsInPlace;
    /// Each pick_first makes its own connections; elsewhere, policies share the connections to an endpoint.
    ConnectionsApart;
    /// If the address of pick_first is removed from its list, pick_first connects to another one at once; elsewhere, it waits for an RPC.
    LostAddressReplaced;
    /// The channel waits for no cluster: each policy watches its own cluster, and also waits while it cannot use the LB policy.
    ClustersAlone;
    /// pick_first tries an address when the one before it has failed; later, also 250 ms after it began with the one before (A61).
    AddressesInTurn;
    /// No `hash_key` in the metadata of an endpoint is read (A76).
    HashKeyUnread;
    /// A cds policy for a cluster from a lookup subscribes to it and waits for the next configuration, even if this one has the cluster.
    SubscribesFirst;
    /// RPCs wait for a weighted_target without targets, although it has failed.
    QueuesWithoutTargets;
    /// Each priority of a cluster has its own outlier detection and limits; later, the cluster has them.
    LimitsByPriority;
    /// A LOGICAL_DNS cluster uses pick_first, whatever its LB policy is.
    DnsChildPickFirst;
    /// A LOGICAL_DNS cluster has the default limit of requests, whatever its circuit breakers say.
    DnsLimitsUnread;
    /// Weighted round robin also uses blackout_period as weight_expiration_period.
    BlackoutForExpiration;
    /// Weighted round robin orders endpoints by their addresses; other clients use the order of the list.
    WrrByAddress;
    /// Weighted round robin raises low weights to a tenth of the mean; other clients to a hundredth.
    WrrLeastTenth;
    /// Weighted round robin does not limit low or high weights, and each picker begins at a random endpoint.
    WrrUnlimited;
    /// Weighted round robin forgets the weight of an endpoint that connects again.
    WrrWeightsLost;
    /// Weighted round robin schedules by deadlines: an endpoint without a weight gets almost no RPCs once another one has a weight.
    WrrDeadlines;
    /// The weight of an endpoint is its share of the weights of all endpoints in its locality, including those that are dropped.
    SharesOfAll;
    /// The LB policy least_request_experimental is registered (A48).
    LeastRequestPolicy;
    /// The sizes of a ring_hash_lb_config must be at most 8,388,608, and the smallest not above the largest; later, the policy cuts them.
    ClusterRingChecked;
    /// A resource without a name that is otherwise valid kills the client; before, it is kept under an empty name.
    NamelessKills;
    /// The weights of weighted_clusters must add up to total_weight, which is 100 unless it is set; later, it is not read.
    TotalWeightChecked;
    /// No two endpoints may have one address, and the weights of the localities of a priority must fit into 32 bits.
    EndpointsCompared;
    /// An lrs_server must be `self`; before, any other is ignored.
    LrsServerChecked;
    /// The weight of an endpoint must be above 0.
    EndpointWeightChecked;
    /// A locality of weight 0 is skipped unchecked; before, its priority counts and its endpoints are checked.
    ZeroLocalitiesUnread;
    /// No two localities of a priority may have the same name.
    LocalitiesCompared;
    /// Aggregate and LOGICAL_DNS clusters (A37).
    AggregateAndDns = "GRPC_XDS_EXPERIMENTAL_ENABLE_AGGREGATE_AND_LOGICAL_DNS_CLUSTER";
    /// A route without a cluster that the client supports is left out, and so is a route to an optional plugin; before, it is an error.
    UnknownClustersSkipped;
    /// While plugins are switched off, a route to one is left out; before, it is an error.
    PluginRoutesSkipped;
    /// `self` is a config source as `ads` is (A47).
    SelfSource;
    /// The connection manager of a server must have routes.
    ServerRoutesRequired;
    /// Virtual hosts are searched by the name of the Listener; later, by the authority of the channel.
    HostByListener;
    /// `xds.type.v3.TypedStruct` is supported; before, only `udpa.type.v1.TypedStruct` is.
    TypedStructOfXds;
    /// Fields of a connection manager that only a proxy can support are errors (A41).
    ProxyFieldsChecked;
    /// A route action must have a cluster; before, an RPC on one that has none kills the client.
    SpecifierChecked;
    /// The last HTTP filter must be the router, and no other one may be (A39).
    RouterRequired;
    /// TLS contexts have their present fields, and those that the client does not support are errors; before, only the deprecated fields are read.
    TlsOfToday;
    /// A certificate provider instance must be in the bootstrap; before, RPCs to a cluster with an unknown one fail.
    ProvidersKnown;
    /// The total_weight of weighted_clusters is 0 unless it is set; later, 100.
    TotalWeightAsWritten;

    /// `tls` channel credentials in the bootstrap (A65).
    BootstrapTlsCreds;
    /// Of a list of servers in a bootstrap, only the first is read.
    BootstrapFirstServer;
    /// Of the channel credentials in a bootstrap, only the first supported ones are read.
    BootstrapFirstCreds;
    /// If a key occurs twice in an object of a bootstrap, the last one counts; later, the client rejects such a text.
    BootstrapLastKey;
    /// An element of server_features that is not a text is a fault; later, it is ignored.
    BootstrapFeatureTexts;
    /// allowed_grpc_services of a bootstrap are checked.
    BootstrapServicesRead;
    /// call_creds of a server in a bootstrap must have a type, even if they are not used.
    BootstrapCallCredsRead;
    /// The second server of a bootstrap is asked while the first cannot be reached (A71).
    ServerFallback;
    } };
}
