//! What versions of a client do and others do not.
//!
//! A feature came in some version of a family: behind an environment switch that is off (`off`) or on (`on`) by default, or without one
//! (`always`); and it may have gone (`gone`). The [family's file](super::family) says which, as measured by asking the versions
//! (`docs/clients.md`). Converters ask `cx.has(Feature::X)` and know no version.

pub use super::feature_set::Features;

features! {
    // Of gRFCs, with a switch in some client.
    /// `xdstp:` names, `authorities` in the bootstrap (A47).
    Federation = "GRPC_EXPERIMENTAL_XDS_FEDERATION";
    /// Cluster specifier plugins, that is RLS.
    RlsLb = "GRPC_EXPERIMENTAL_XDS_RLS_LB";
    /// `sni`, `auto_host_sni` and `auto_sni_san_validation` of UpstreamTlsContext (A101).
    Sni = "GRPC_EXPERIMENTAL_XDS_SNI";
    /// `additional_addresses` of an endpoint (A61).
    DualstackEndpoints = "GRPC_EXPERIMENTAL_XDS_DUALSTACK_ENDPOINTS";
    /// `lrs_report_endpoint_metrics` of a cluster (A85).
    OrcaLrsPropagation = "GRPC_EXPERIMENTAL_XDS_ORCA_LRS_PROPAGATION";
    /// A ring knows endpoints by their addresses alone, and `envoy.lb`/`hash_key` in their metadata is not read (A76).
    EndpointHashKeyBackwardCompat = "GRPC_XDS_ENDPOINT_HASH_KEY_BACKWARD_COMPAT";
    /// Http11ProxyUpstreamTransport and endpoint metadata (A86).
    HttpConnect = "GRPC_EXPERIMENTAL_XDS_HTTP_CONNECT";
    /// Http11ProxyUpstreamTransport in grpc-go, whose metadata came before (A86).
    HttpProxySocket = "GRPC_EXPERIMENTAL_XDS_HTTP_CONNECT";
    /// `resource_errors` and the data error handling of A88.
    DataErrorHandling = "GRPC_EXPERIMENTAL_XDS_DATA_ERROR_HANDLING";
    /// The composite HTTP filter (A103).
    CompositeFilter = "GRPC_EXPERIMENTAL_XDS_COMPOSITE_FILTER";
    /// The ext_proc HTTP filter and `allowed_grpc_services` (A93, A102).
    ExtProcOnClient = "GRPC_EXPERIMENTAL_XDS_EXT_PROC_ON_CLIENT";
    /// `audit_logging_options` of RBAC (A59).
    RbacAuditLogging = "GRPC_EXPERIMENTAL_XDS_RBAC_AUDIT_LOGGING";
    /// `spiffe_bundle_map_file` of the file_watcher provider (A87).
    MtlsSpiffe = "GRPC_EXPERIMENTAL_XDS_MTLS_SPIFFE";
    /// `call_creds` of an xDS server in the bootstrap (A97).
    BootstrapCallCreds = "GRPC_EXPERIMENTAL_XDS_BOOTSTRAP_CALL_CREDS";
    /// `requestHashHeader` of the ring_hash JSON config (A76).
    RingHashSetRequestHashKey = "GRPC_EXPERIMENTAL_RING_HASH_SET_REQUEST_HASH_KEY";
    /// Weighted shuffling in pick_first (A113).
    PfWeightedShuffling = "GRPC_EXPERIMENTAL_PF_WEIGHTED_SHUFFLING";
    /// Leaf clusters use the aggregate cluster's LB policy (A75).
    AggregateClusterBackwardCompat = "GRPC_XDS_AGGREGATE_CLUSTER_BACKWARD_COMPAT";
    /// `load_balancing_policy` of a cluster (A52, A58).
    CustomLbConfig = "GRPC_EXPERIMENTAL_XDS_CUSTOM_LB_CONFIG";
    /// The PickFirst message in a `load_balancing_policy` (A62).
    PickFirstMessage = "GRPC_EXPERIMENTAL_PICKFIRST_LB_CONFIG";
    /// Stateful session affinity and DRAINING endpoints (A55).
    OverrideHost = "GRPC_EXPERIMENTAL_XDS_ENABLE_OVERRIDE_HOST";
    /// `system_root_certs` (A82).
    SystemRootCerts = "GRPC_EXPERIMENTAL_XDS_SYSTEM_ROOT_CERTS";
    /// The GCP authentication filter and the Audience in a cluster's metadata (A83).
    GcpAuthnFilter = "GRPC_EXPERIMENTAL_XDS_GCP_AUTHENTICATION_FILTER";
    /// Not a boolean: a trace list that names `xds_client`, which makes the client print what it parses.
    TraceXdsClient = "GRPC_TRACE";
    /// The least_request LB policy (A48).
    LeastRequest = "GRPC_EXPERIMENTAL_ENABLE_LEAST_REQUEST";
    /// `auto_host_rewrite` counts from a server that is trusted (A81).
    AuthorityRewrite = "GRPC_EXPERIMENTAL_XDS_AUTHORITY_REWRITE";

    // C-core, without a switch.
    /// Virtual hosts need no routes, weights of clusters any sum; empty aggregates, hash policies and optional filters are checked.
    CollectsFaults;
    /// A TypedStruct's value must be JSON.
    TypedStructChecked;
    /// `string_match` of a header matcher (A63).
    HeaderStringMatch;
    /// A cluster specifier plugin without `extension` kills the client.
    PluginCrash;
    /// An EDS cluster with an xdstp name must have a service_name (A47).
    XdstpServiceName;
    /// The JSON config of pick_first is read (A62).
    PickFirstJson;
    /// `upstream_config` of a cluster (A75).
    UpstreamConfig;
    /// xds_cluster_impl looks everything up by the cluster's name (A75).
    ClusterImplByName;
    /// The process dies of a cluster in use that becomes an aggregate cluster, or is one no longer.
    ChangedKindKills;
    /// A LOGICAL_DNS name that is no URI kills the client.
    DnsNameCrash;
    /// A cluster's metadata is checked (A83).
    ClusterMetadata;
    /// `string_match` of a header matcher in RBAC (A63).
    RbacHeaderStringMatch;
    /// A target of weight 0 in weighted_target kills the client.
    WeightedTargetCrash;
    /// `string_match` of a header is checked as other string matchers are: no ignore_case beside a regex.
    HeaderStringChecked;
    /// The types of filter configs and of overrides are told apart.
    OverrideTypes;
    /// Permissions and principals of RBAC may be nested 16 deep only.
    RbacDepth;
    /// An unknown source_type is rejected; before, it kills the client.
    SourceTypeChecked;
    /// The words of a server's denial stand alone; before, the status of the policies is told in that of the RPC.
    DenialsPlain;
    /// An RPC that an xDS server lets in, to a method that it does not have, ends the program.
    UnknownMethodEnds;
    /// The matchers in RBAC policies are made, not only written as JSON.
    RbacMatchersMade;
    /// `metric_names_for_computing_utilization` of weighted round robin (A114).
    WrrMetricNames;
    /// The autosharding LB policy.
    Autosharding;
    /// A priority must be below the number of localities; before, the highest numbers take all memory.
    PriorityLimit;

    // What becomes of RPCs, in grpc-go: asked of one version only (`docs/clients.md`).

    /// Domains of virtual hosts count in their case, and their `*` may stand for nothing.
    DomainsExact;
    /// Matchers see binary headers by their raw value, and neither content-type nor :path nor grpc-timeout; a header with an empty value is not present.
    HeadersAsSent;
    /// Names of header matchers are in lower case, whatever is written.
    HeaderNamesFolded;
    /// Metadata is checked before anything else is done for an RPC.
    MetadataChecked;
    /// The substitution of a hash policy's regex_rewrite has `$1` for a group, and not `\\1`.
    DollarGroups;
    /// num_retries has no limit, and no back-off is too short.
    RetryUnlimited;
    /// The wait before a retry is drawn from all times up to the back-off.
    RetryFromZero;
    /// Words of retry_on may be in any case, with spaces around them.
    RetryOnTrimmed;
    /// A child of an aggregate cluster that cannot be used fails all of it.
    AggregateNeedsAll;
    /// HTTP filters run whether they are `disabled` or not, but for a switch.
    DisabledFiltersRun;

    // Of the program, not of a version.
    /// It has a server, to which other routes are fatal than to a channel (`Profile::serving`).
    ReadsAsServer;

    // grpc-go alone.
    /// `requestHashHeader` of the ring_hash JSON config has a place to be read into (A76).
    RingHashRequestHeader;
    /// A Listener may have its routes in it; before, they must come by RDS.
    InlineRoutes;
    /// The regular expressions of routes are compiled when they come; before, a channel that gets one which does not compile has no routes.
    RegexCompiled;
    /// Filter chains make one map and are read whole (A36); before, each is read alone: its match and its transport socket.
    ChainsMapped;
    /// A server's Listener is named by `udpa.resource.listening_address=` and its address; of its one chain the transport socket is read.
    ListenerNamed;
    /// Matchers of names in certificates may be of any kind; before, only those that are exact are read.
    SanMatchersMade;
    /// A TLS transport socket without typed_config is an error; before, the parser panics.
    TypedConfigChecked;
    /// A panic in a parser is a NACK without a name; before, the process dies.
    ParserPanicRecovered = "GRPC_GO_EXPERIMENTAL_XDS_RESOURCE_PANIC_RECOVERY";
    /// The default filter chain is read before the others.
    DefaultChainFirst;
    /// The weights of a locality's endpoints must fit into 32 bits.
    EndpointWeightSum;
    /// Address ranges of filter chains are compared as texts.
    CidrAsText;
    /// Address ranges of filter chains are read by net/netip: zones are fine, and IPv4 in IPv6 is IPv4.
    CidrByNetip;
    /// A resource without a name is an error. Before, the client goes on as if the resource were empty.
    ResourceNameChecked;
    /// Regular expressions are compiled with anchors and a group around them.
    RegexAnchored;
    /// Names of LB policies count in their case.
    PolicyNamesExact = "GRPC_GO_EXPERIMENTAL_CASE_SENSITIVE_BALANCER_REGISTRIES";
    /// Policies are compared with a subject as RFC 2253 writes it; before, with a space behind each comma.
    SubjectOfRfc2253;
    /// A principal is compared with the URIs of a certificate, else with its DNS names, else with its subject; before, with all of them.
    PrincipalNamesByKind;
    /// Ranges of addresses in policies are compared with the address; before, with the address and its port, which matches nothing.
    PolicyAddressesMatch;
    /// Header matchers of policies see `:path`.
    PoliciesSeePath;
    /// Header matchers of a server's routes see the headers of the RPC; before, they see none.
    ServerRoutesSeeHeaders;
    /// Of the virtual hosts of a server the best one is asked; before, the last one, if any has the authority.
    BestVirtualHostServes;
    /// A server takes connections to chains with routes by RDS; before, the first one ends the program.
    ServesRoutesByRds;
    /// A filter chain that never matches leaves nothing behind; before, its destinations were still set apart.
    ImpossibleChainsDropped;
    /// Texts in policies ignore case if they should; before, the other way round.
    PolicyCaseAsSet;
    /// Policies see `content-type`.
    PoliciesSeeContentType;
    /// Header matchers of a server's routes see `:scheme`, `te` and `host`.
    ServerRoutesSeeAll;
    /// RPCs to a server whose routes do not exist are UNAVAILABLE; before, NOT_FOUND.
    MissingRoutesUnavailable;
    /// A server serves although the routes of a chain were rejected, and fails RPCs; before, it waits for good ones.
    ServesRejectedRoutes;
    /// RBAC rules of a kind that the client does not have are errors; before, they are passed over.
    RbacKindsChecked;
    /// Empty texts in the old forms of a header matcher are errors, and `contains_match` is known.
    HeaderTextChecked;
    /// An unknown denominator of a drop is an error.
    DropDenominatorChecked;
    /// An address range of RBAC may be without prefix_len; before, the parser panics.
    RbacPrefixOptional;
    /// Headers that RBAC must not look at are found in sets and negations too, and in any case.
    RbacNestedHeaders;
    /// `disabled` of an HTTP filter and of an override, under the switch of ext_proc (A93).
    FilterDisabled = "GRPC_EXPERIMENTAL_XDS_EXT_PROC_ON_CLIENT";
    /// The LB policy cluster_resolver_experimental is registered.
    ClusterResolverPolicy;
    /// The grpc_service of an ext_proc filter is read (A102); before, none is taken.
    GrpcServiceRead;
    /// An aggregate cluster has one list of the priorities of all its leaves; nothing is kept for sessions.
    AggregateIsFlat;
    /// Drops count only while an endpoint is connected.
    DropsOnceReady;
    /// A cluster that drops everything is READY, whatever its endpoints are: an aggregate cluster stays with it.
    DropAllIsReady;
    /// A name of an endpoint's path is gone once a policy has gone by it.
    PathsEnd;
    /// A 0 in the outlier detection of a cluster is the default.
    OutlierDefaults;
    /// Each cluster that a route names is resolved as if it were alone: what another one has below it is not left out.
    ClustersApart;
    /// A cluster below several clusters of routes has what the last of them made of it, in an order that is another one each time.
    RootsOverwritten;
    /// A policy hands failures of endpoints on in their own words, and has words of its own where there is no endpoint.
    FailuresHandedOn;
    /// What is left of a cluster that no route names is gone at once; elsewhere, it is kept for 15 minutes, with its connections.
    ClustersForgotten;
    /// So it is with a locality that is no longer listed.
    LocalitiesForgotten;
    /// A channel without an RPC for 30 minutes lets go of all that it has, and the next RPC begins anew.
    ChannelGoesIdle;
    /// A lookup (RLS) is for the RPCs of one method alone, its texts alone count in the cache, and if it fails, RPCs do not wait.
    AnswersByPath;
    /// The first config of lookups (RLS) counts until another lookup service is named, and a lookup that fails ends the answer before.
    FirstLookupConfig;
    /// The process dies when no route leads any more to a cluster specifier plugin (RLS) that is in use.
    LostPluginKills;
    /// A Listener that turns from routes of its own to routes by RDS changes nothing while the client rejects these.
    OwnRoutesGoOn;
    /// Failures of resources and routes are told after the node's id.
    NodeIdFirst;
    /// weighted_target leaves an idle child idle, and RPCs wait for it in vain.
    IdleChildrenStay;
    /// A cluster that fails keeps its connections, and takes RPCs again as soon as one of them changes.
    FailedClusterKept;
    /// The policy that was made of a cluster goes on when the cluster fails, but not when a resource is gone.
    FailedClusterGoesOn;
    /// It goes on then, too, with its last endpoints.
    RemovedClusterGoesOn;
    /// The ring is built in the order of the hash keys, and of endpoints with one key any gets the picks.
    RingByKey;
    /// The weight of an endpoint is unsigned; elsewhere, one of 2^31 or more counts as 1.
    WeightsOfEndpointsUnsigned;
    /// The name of an entry of the ring has no `_` between the address and the number.
    RingNamesPlain;
    /// The number in the name of an entry of the ring counts all entries; later, those of its endpoint.
    RingCountsOn;
    /// A ring may have 8,388,608 entries; later, 4,096.
    RingUncapped;
    /// The name of a LOGICAL_DNS cluster is a host and a port as it stands; later, the path of a URI.
    DnsNameAsIs;
    /// A slash before the name of a LOGICAL_DNS cluster is a part of the name.
    DnsSlashKept;
    /// An aggregate cluster without a leaf is waited for; later, its RPCs fail.
    LeaflessAwaited;
    /// A LOGICAL_DNS cluster whose name is an IP address hangs: its resolver answers while the policy holds its own lock.
    LiteralDnsHangs;
    /// An RPC on a route of a kind that gRPC does not have fails with INTERNAL.
    RouteKindsInternal;
    /// A new list of endpoints is in use at once, and those that stay keep their connections; elsewhere, the old list serves until the new one can.
    EndpointsInPlace;
    /// Each pick_first connects for itself; elsewhere, policies share the connections to an endpoint.
    ConnectionsApart;
    /// pick_first whose address is gone from its list connects to another one at once; elsewhere, it waits for an RPC.
    LostAddressReplaced;
    /// The channel waits for no cluster: each policy watches its own, and waits too while it cannot take the LB policy.
    ClustersAlone;
    /// pick_first tries an address when the one before it has failed; later, also 250 ms after the one before it (A61).
    AddressesInTurn;
    /// No `hash_key` in the metadata of an endpoint is read (A76).
    HashKeyUnread;
    /// A cds policy of a cluster that a lookup leads to asks for it and waits for the next configuration, though the cluster be in this one.
    SubscribesFirst;
    /// RPCs wait for a weighted_target without targets, although it has failed.
    QueuesWithoutTargets;
    /// Each priority of a cluster has outlier detection and limits of its own; later, the cluster has.
    LimitsByPriority;
    /// A LOGICAL_DNS cluster has pick_first, whatever its LB policy.
    DnsPickFirst;
    /// A LOGICAL_DNS cluster has the default limit of requests, whatever its circuit breakers.
    DnsLimitsUnread;
    /// Weighted round robin takes blackout_period for weight_expiration_period too.
    BlackoutForExpiration;
    /// Weighted round robin takes endpoints in the order of their addresses; others take them in the order of their list.
    WrrByAddress;
    /// Weighted round robin raises a weight to a tenth of the mean; others to a hundredth.
    WrrLeastTenth;
    /// Weighted round robin raises no low weight and lowers no high one, and begins at any endpoint with each picker.
    WrrUnlimited;
    /// Weighted round robin forgets the weight of an endpoint that is connected again.
    WrrWeightsLost;
    /// Weighted round robin goes by deadlines: an endpoint without a weight gets next to nothing once another has one.
    WrrDeadlines;
    /// The weight of an endpoint is a share of those of all endpoints of its locality, kept or not.
    SharesOfAll;
    /// The LB policy least_request_experimental is registered (A48).
    LeastRequestPolicy;
    /// A ring_hash_lb_config must have sizes of at most 8,388,608, the smallest not above the largest; later, the policy cuts them.
    ClusterRingChecked;
    /// A resource without a name that is good in all else kills the client; before, it is kept under its empty name.
    NamelessKills;
    /// The weights of weighted_clusters must add up to total_weight, which is 100 unless it is set; later, it is not read.
    TotalWeightChecked;
    /// No two endpoints may have one address, and the weights of the localities of a priority must fit into 32 bits.
    EndpointsCompared;
    /// An lrs_server must be `self`; before, any other is passed over.
    LrsServerChecked;
    /// The weight of an endpoint must be above 0.
    EndpointWeightChecked;
    /// A locality of weight 0 is passed over unseen; before, its priority counts and its endpoints are checked.
    ZeroLocalitiesUnread;
    /// No two localities of a priority may have one name.
    LocalitiesCompared;
    /// Aggregate and LOGICAL_DNS clusters (A37).
    AggregateAndDns = "GRPC_XDS_EXPERIMENTAL_ENABLE_AGGREGATE_AND_LOGICAL_DNS_CLUSTER";
    /// A route without a cluster that the client knows is left out, and so is one to an optional plugin; before, it is an error.
    UnknownClustersSkipped;
    /// While plugins are switched off, a route to one is left out; before, it is an error.
    PluginRoutesSkipped;
    /// `self` is a config source as `ads` is (A47).
    SelfSource;
    /// The connection manager of a server must have routes.
    ServerRoutesRequired;
    /// Virtual hosts are looked up by the name of the Listener; later, by the authority of the channel.
    HostByListener;
    /// An `xds.type.v3.TypedStruct` is one; before, only a `udpa.type.v1.TypedStruct` is.
    TypedStructOfXds;
    /// What only a proxy has in a connection manager is an error (A41).
    ProxyFieldsChecked;
    /// A route action must have a cluster; before, an RPC on one that has none kills the client.
    SpecifierChecked;
    /// The last HTTP filter must be the router, and no other one may be (A39).
    RouterRequired;
    /// TLS contexts have the fields of today, and what the client cannot do is an error; before, the deprecated fields alone are read.
    TlsOfToday;
    /// A certificate provider instance must be in the bootstrap; before, RPCs to a cluster with another one fail.
    ProvidersKnown;
    /// The total_weight of weighted_clusters is 0 unless it is set; later, 100.
    TotalWeightAsWritten;

    /// `tls` channel credentials in the bootstrap (A65).
    BootstrapTlsCreds;
    /// Of a list of servers in a bootstrap, the first alone is read.
    BootstrapFirstServer;
    /// Of the channel credentials in a bootstrap, the first that the client has are read alone.
    BootstrapFirstCreds;
    /// Of a key that stands twice in an object of a bootstrap the last counts; later, the client takes no such text.
    BootstrapLastKey;
    /// What is no text in the list of server_features is a fault; later, it is passed over.
    BootstrapFeatureTexts;
    /// allowed_grpc_services of a bootstrap are checked.
    BootstrapServicesRead;
    /// call_creds of a bootstrap's server must have their types, whatever is done with them.
    BootstrapCallCredsRead;
    /// The second server of a bootstrap is asked while the first cannot be reached (A71).
    ServerFallback;

    // grpc-java alone.
    /// The max_stream_duration of a connection manager is read before its routes.
    StreamDurationFirst;
    /// A route_config without virtual hosts in a Listener is an exception that leaves the client's parser.
    EmptyRoutesKill;
    /// The RBAC filter is known, which servers run; before, its type is not.
    RbacRegistered;
    /// Two HTTP filters of a chain may not have one name.
    FilterNamesCompared;
    /// A route may have a `non_forwarding_action`.
    NonForwardingKnown;
    /// A ring_hash_lb_config must have sizes that a ring can have.
    RingSizesChecked;
    /// The endpoint of a LOGICAL_DNS cluster is looked at.
    DnsClusterChecked;
    /// A server takes roots from their own provider alone; before, those of the identity's provider count until it has some.
    RootsOfTheirOwn;
    /// Certificate providers in the fields that A29 used first are read too.
    OldProviderFields;
    /// Certificate providers in the fields that came before those of A29 are rejected; later they are not read.
    OldestProviderFields;
    /// A regex_rewrite is read only if its pattern names its engine, google_re2.
    RewriteNeedsEngine;
    /// A weighted cluster is drawn below total_weight, which is 100 unless it is set; later, below the sum of the weights.
    TotalWeightDrawn;
    /// A TLS context with faults in its new and its deprecated fields is rejected for that in the new ones.
    NewTlsFaultFirst;
    /// The RLS LB policy is registered: in no version of grpc-go unless the program imports it (`--with rls`).
    RlsPolicy;
    /// TLS is built in: in no version of tonic-xds unless the program says so (`--with tls`).
    ProgramTls;
    /// A method in a key builder of RLS has no slash.
    RlsMethodChecked;
    /// A server listener's address must not be empty, its port not a name.
    ListenerAddressChecked;
    /// A server serves only with a listener for the very address that it listens on.
    ListenerAddressCompared;
    /// An Audience in metadata is rejected while the switch of gcp_authn is off (A83).
    AudienceNeedsSwitch;
    /// An endpoint's address must be an IP address; before, it is looked up by DNS.
    EndpointAddressChecked;
    /// An aggregate cluster must have a child.
    AggregateChecked;
    /// `is_dynamic` of the cds_experimental JSON config is read.
    DynamicCluster;
    /// The LB policy random_subsetting_experimental is registered (A68).
    RandomSubsetting;
    /// An exception in a parser is a NACK; before, it leaves the client's resource parser.
    ParserExceptionCaught;
    /// A transport socket is an HTTP proxy by its type; before, by a name that nobody gives it (A86).
    HttpProxyByType;
    /// `errorUtilizationPenalty` of a weighted_round_robin JSON config is a number; before, only a text is read as one.
    WrrPenaltyAsNumber;
    /// Overrides of the HTTP filter ext_authz are taken (A92).
    ExtAuthzRegistered;
    /// A hash ring knows endpoints by the text of a Java socket address, has them in the order of a HashMap, and compares hashes as signed numbers.
    SocketRing;
    /// Matchers and hash policies see the application's headers and a content-type, names in any case; a request hash is a signed number when it is turned.
    HeadersOfApplication;
    /// A range of a header matcher has its end in it.
    RangeWithEnd;
    /// The longest domain with a `*` wins, whether it begins or ends with it, and one with a second `*` matches nothing.
    LongestDomain;
    /// A runtime_fraction is compared in its own denominator, with a signed numerator.
    FractionAsWritten;
    /// Without case_sensitive, a path is compared in any case.
    PathCaseFolded;
    /// Aggregates below aggregates are walked for each root; what is too deep or leads back to itself fails where it stands, with INTERNAL.
    AggregateFailsInPlace;
    /// An aggregate has the leaves below it level by level, as deep as they go, and fails if it leads back to itself.
    AggregateByLevels;
    /// The retry policy of a virtual host is not read.
    HostRetryUnread;
    /// Words of retry_on may have `_` for `-`.
    RetryOnUnderscored;
    /// The substitution of a hash policy's regex_rewrite has `$1` for a group, and a backslash makes the next character itself.
    EscapedDollarGroups;
    /// A channel without a configuration fails RPCs that wait for ready too, and one that cannot take it is dead for ever.
    FailsAtOnce;
    /// A cds policy of a cluster that is not in the configuration fails RPCs with INTERNAL.
    StaticClusterInternal;
    /// A locality is in one priority only, the last that names it.
    LocalityOnce;
    /// A weighted_target policy without targets reports nothing.
    SilentWithoutTargets;
    /// Back-offs are at least one millisecond, a num_retries that the method config cannot have fails the RPCs of its route alone, and a server that asks for a delay is obeyed whatever the code is.
    RetryPerRpc;
    /// A circuit breaker looks after the pick, and counts RPCs only where the cluster's load is reported.
    BreakerCountsReported;
    /// The LB policy grpclb is on the class path of grpc-xds.
    Grpclb;
    /// The metadata of localities and endpoints is checked, and addresses in metadata are (A83, A86).
    EndpointMetadata;
    /// No two filter chains of a listener may have one name.
    ChainNamesCompared;
    /// The address of a range is an IP literal; before, it is whatever the JDK takes or finds in DNS.
    RangesAreLiterals;
    /// The weights of weighted_clusters are numbers up to 4,294,967,295; before, one of 2^31 or more is negative.
    WeightsUnsigned;
    /// A named group of a regular expression may be written `(?<name>`.
    AngleGroups;
    /// The policy of A58 is registered as weighted_round_robin; before, as weighted_round_robin_experimental.
    WrrPlainName;
    /// An exception in the parser of an LB policy's JSON config is an error of that config; before, it leaves the parser of some policies.
    PolicyExceptionsCaught;
    /// What was asked for since the last configuration is waited for, even if nothing names it any more.
    AwaitsAll;
    /// New routes are in use whether the LB config that comes with them is taken or not.
    RoutesAtOnce;
    /// The name of a discovery Resource counts, and not that of the resource in it; before, it is not looked at.
    OuterName;
    /// Routes, endpoints and members of aggregates that are rejected are waited for, as if they had not come.
    RejectedAwaited;
    /// The weight of a locality is signed: one of 2^31 or more is below 0, and the locality is left out.
    WeightsSigned;
    /// `contains` in the string matcher of a header counts in its case, whatever ignore_case says.
    ContainsExact;
    /// A gRPC status of 17 is unknown; before, the parser throws an exception.
    StatusCodesEnd;
    /// A priority whose time to connect is over fails RPCs until it reports anew, and if none is left the last one has them all.
    LastPriorityFails;
    /// The entries of a hash ring are named by all addresses of their endpoint, in brackets; later, by the first one.
    RingNamesList;
    /// The name of a ring's entry begins with all but the last digit of what stood before, from the eleventh entry of an endpoint on.
    RingNamesGrow;
    /// Behind the last entry of a hash ring is the first; later, what is behind the last goes to the last.
    RingTurns;
    /// A ring takes no weights of endpoints, each with that of its locality, that do not fit into 32 bits, nor such a sum.
    RingWeightsChecked;
    /// RPCs to an aggregate that leads back to itself wait for ever; later, they fail.
    LoopsEndless;
    /// A channel dies of a leaf that two aggregates below one root name; later, the leaf counts once.
    LeavesTwiceKill;
    /// The traffic_direction of a server's Listener must be INBOUND; later, it may be unset.
    TrafficInbound;
    /// The weights of weighted_clusters must add up to more than 0 and at most 4,294,967,295; before, any will do.
    ClusterWeightsSummed;
    /// RPCs that wait for ready wait while the Listener or the routes are rejected; later, they fail.
    RejectionWaitedOut;
    /// A stream that ends behind a response is no error: what the parser throws an exception over is waited for, as if it had not come.
    BrokenStreamUnheard;
    /// The filters of all routes are made when the routes are taken, and the channel dies of an override that is of another filter.
    FiltersMadeFirst;
    /// A policy takes the place of another one when it is READY; later, when it is no longer CONNECTING.
    SwitchesWhenReady;
    /// A DNS name with a port above 65,535 has no answer for ever: an exception is thrown where nobody hears of it.
    DnsPortThrows;

    // grpc-js-xds alone.
    /// HTTP filters are looked at; before the fault filter (A33) there were none.
    FaultInjection = "GRPC_XDS_EXPERIMENTAL_FAULT_INJECTION";
    /// `retry_policy` is checked (A44).
    RetryPolicy = "GRPC_XDS_EXPERIMENTAL_ENABLE_RETRY";
    /// `outlier_detection` and the LB policy of the name (A50).
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
    /// Routes may have non_forwarding_action, no cluster, and header matchers without a kind.
    LenientRoutes;
    /// The base_interval of a retry policy must be above 0.
    BaseIntervalChecked;
    /// The xds_cluster_impl JSON config has no more than a cluster and a child.
    ClusterImplSmall;
    /// HTTP filters are told apart by whether clients or servers have them.
    FilterSides;
    /// WrrLocality is registered without a prefix too, for a policy that there is not.
    WrrLocalityTwice;
    /// Matchers and hash policies see the application's metadata and a content-type. A missing header matches what is inverted,
    /// present_match is true of every header that is there, and a request hash is not cut off at 64 bits when it is turned.
    HeadersOfMetadata;
    /// A domain that is none is passed over; in other clients that compare exactly, nothing matches beside it.
    BadDomainsPassed;
    /// `query_parameters` of a route are not read; in other clients such a route is left out.
    QueryParametersUnread;
    /// A runtime_fraction has no limit, and matches always without a value.
    FractionUnbounded;
    /// A pattern is compiled between `^` and `$` without a group around it, so that only the first and last alternative have them.
    RegexAnchorsLoose;
    /// A regex_rewrite with an empty substitution does nothing.
    EmptyRewriteUnread;
    /// The seconds of a back-off are a text to which the rest is appended: 1 s is 10 s, and 1.5 s is 10.5 s.
    SecondsTenfold;
    /// Five attempts, and nothing else is asked of a retry policy.
    RetryUnchecked;
    /// `idle_timeout` of a connection manager is the timeout of RPCs, and max_stream_duration is not read.
    IdleTimeoutOfRpcs;
    /// A Listener or cluster that was taken away and comes back as it was stays missing while the client watches it.
    WithdrawnRemembered;
    /// What an update only adds is not seen: an override, an outlier detection, a timeout of the connection manager.
    AdditionsUnseen;
    /// A Listener that changes and names the same RouteConfiguration takes effect with the next change of another resource.
    ListenerAloneUnseen;
    /// RPCs wait for a configuration as long as there is none, whatever is wrong with it.
    WaitsForConfiguration;
    /// EDS that is missing or rejected and a DNS name without an address hold up the channel: each cluster needs endpoints or an error.
    EndpointsAwaited;
    /// An aggregate cluster that is too deep somewhere, or leads back to itself, fails as a whole; a missing one is tried in its turn.
    AggregateFailsWhole;
    /// An aggregate cluster that becomes too deep keeps its child policy, whose next report takes the place of the failure.
    TooDeepGoesOn;
    /// A locality with a weight of 0 counts, one without an endpoint to use does not, and weights of 0 leave a hash ring empty.
    ZeroWeightsCount;
    /// The first two of a list of addresses that is shuffled do not change places.
    ShuffleSparesFirst;
    /// The LB policy of a LOGICAL_DNS cluster is pick_first, whatever it says.
    DnsPicksFirst;
    /// In outlier_detection only times and the share to eject have defaults; if no endpoint can be compared, the process dies.
    OutlierDefaultsLost;
    /// New endpoints take the place of the old ones at once in round_robin; in other clients when they are connected or have failed.
    ListsReplacedAtOnce;
    /// A circuit breaker counts an RPC when it is on its way: RPCs that begin at the same moment do not see each other.
    BreakerCountsLate;
    /// weighted_target does nothing with endpoints that have no name left for it.
    PathsNeeded;
    /// Clusters share connections to an endpoint, and a policy takes one that stands at once, before the RPC waits that asked for it.
    ConnectionsPooled;
    // tonic-xds alone.
    /// RPCs wait for routes, clusters and endpoints that are not there or were rejected, and nothing is forgotten that was there once.
    WaitsForResources;
    /// An RPC that no virtual host or route takes fails with UNKNOWN, whichever comes first.
    UnroutedUnknown;
    /// An attempt connects by itself. One that finds no connection is retried, once without a policy; a server's delay is not read.
    AttemptsConnect;
    /// Header matchers see one value of each header of the HTTP request, in any case; with `invert_match` a missing header matches.
    HeadersOfRequest;
}
