//! Features of grpc-java alone.

macro_rules! java_features {
    ($next:ident $($then:ident)* => $($before:tt)*) => { $next! { $($then)* => $($before)*
    /// The max_stream_duration of a connection manager is read before its routes.
    StreamDurationFirst;
    /// A Listener with a route_config without virtual hosts causes an exception that leaves the client's parser.
    EmptyRoutesKill;
    /// The RBAC filter, which servers run, is supported; before, its type is unknown.
    RbacRegistered;
    /// Two HTTP filters of a chain may not have one name.
    FilterNamesCompared;
    /// A route may have a `non_forwarding_action`.
    NonForwardingKnown;
    /// The sizes of a ring_hash_lb_config must be possible for a ring.
    RingSizesChecked;
    /// The endpoint of a LOGICAL_DNS cluster is checked.
    DnsClusterChecked;
    /// A server takes roots only from their own provider; before, it uses those of the identity's provider until its own has some.
    RootsOfTheirOwn;
    /// Certificate providers are also read from the fields that A29 used first.
    OldProviderFields;
    /// Certificate providers in the fields that preceded those of A29 are rejected; later, they are not read.
    OldestProviderFields;
    /// A regex_rewrite is read only if its pattern names the engine google_re2.
    RewriteNeedsEngine;
    /// A weighted cluster is drawn from total_weight, which is 100 unless it is set; later, from the sum of the weights.
    TotalWeightDrawn;
    /// If a TLS context has faults in its new and in its deprecated fields, the rejection names the new ones.
    NewTlsFaultFirst;
    /// The RLS LB policy is registered: in no version of grpc-go unless the program imports it (`--with rls`).
    RlsPolicy;
    /// TLS is built in: in no version of tonic-xds unless the program says so (`--with tls`).
    ProgramTls;
    /// A method in a key builder of RLS has no slash.
    RlsMethodChecked;
    /// A server listener's address must not be empty, its port not a name.
    ListenerAddressChecked;
    /// A server serves only with a listener for exactly the address that it listens on.
    ListenerAddressCompared;
    /// An Audience in metadata is rejected while the switch of gcp_authn is off (A83).
    AudienceNeedsSwitch;
    /// An endpoint's address must be an IP address; before, it is resolved by DNS.
    EndpointAddressChecked;
    /// An aggregate cluster must have a child.
    AggregateChecked;
    /// `is_dynamic` of the cds_experimental JSON config is read.
    DynamicCluster;
    /// The LB policy random_subsetting_experimental is registered (A68).
    RandomSubsetting;
    /// An exception in a parser is a NACK; before, it leaves the client's resource parser.
    ParserExceptionCaught;
    /// A transport socket is an HTTP proxy by its type; before, by a name that nobody uses (A86).
    HttpProxyByType;
    /// `errorUtilizationPenalty` of a weighted_round_robin JSON config is a number; before, only a string is read.
    WrrPenaltyAsNumber;
    /// Overrides of the HTTP filter ext_authz are accepted (A92).
    ExtAuthzRegistered;
    /// A hash ring identifies endpoints by the text of a Java socket address, has them in the order of a HashMap, and compares hashes as signed numbers.
    SocketRing;
    /// Matchers and hash policies see the application's headers and a content-type, by names in any case; a request hash is rotated as a signed number.
    HeadersOfApplication;
    /// A range of a header matcher includes its end.
    RangeWithEnd;
    /// The longest domain with a `*` wins, whether the `*` is at its beginning or its end, and a domain with a second `*` matches nothing.
    LongestDomain;
    /// A runtime_fraction is evaluated in its own denominator, with a signed numerator.
    FractionAsWritten;
    /// Without case_sensitive, paths are compared without regard to case.
    PathCaseFolded;
    /// Aggregates below aggregates are walked for each root; in the order of a HashSet; one that is too deep or leads back to itself fails where it is, with INTERNAL.
    AggregateFailsInPlace;
    /// An aggregate uses the leaves below it level by level, at any depth, and fails if it leads back to itself.
    AggregateByLevels;
    /// The retry policy of a virtual host is not read.
    HostRetryUnread;
    /// Words of retry_on may have `_` in place of `-`.
    RetryOnUnderscored;
    /// The substitution of a hash policy's regex_rewrite refers to a group as `$1`, and a backslash makes the next character literal.
    EscapedDollarGroups;
    /// A channel without a configuration also fails RPCs that wait for ready, and a channel that rejects its configuration never works again.
    FailsAtOnce;
    /// A cds policy for a cluster that the configuration lacks fails RPCs with INTERNAL.
    StaticClusterInternal;
    /// A locality is in one priority only: the last that names it.
    LocalityOnce;
    /// A weighted_target policy without targets reports nothing.
    SilentWithoutTargets;
    /// Back-offs are at least one millisecond, a num_retries that the method config cannot hold fails only the RPCs of its route, and a server that asks for a delay is obeyed whatever the code is.
    RetryPerRpc;
    /// A circuit breaker checks after the pick, and counts RPCs only where the cluster's load is reported.
    BreakerCountsReported;
    /// The LB policy grpclb is on the class path of grpc-xds.
    Grpclb;
    /// The metadata of localities and endpoints is checked, and so are addresses in metadata (A83, A86).
    EndpointMetadata;
    /// No two filter chains of a listener may have one name.
    ChainNamesCompared;
    /// The address of a range is an IP literal; before, it is whatever the JDK accepts or finds in DNS.
    RangesAreLiterals;
    /// The weights of weighted_clusters are unsigned, up to 4,294,967,295; before, a weight of 2^31 or more is negative.
    WeightsUnsigned;
    /// A named group of a regular expression may be written `(?<name>`.
    AngleGroups;
    /// The policy of A58 is registered as weighted_round_robin; before, as weighted_round_robin_experimental.
    WrrPlainName;
    /// An exception in the parser of an LB policy's JSON config is an error of that config; before, it leaves the parser of some policies.
    PolicyExceptionsCaught;
    /// The channel waits for everything that was requested since the last configuration, even if nothing names it any more.
    AwaitsAll;
    /// New routes are in use even if the LB config that comes with them is rejected.
    RoutesAtOnce;
    /// The name of a discovery Resource counts, not that of the resource in it; before, that name is not read.
    OuterName;
    /// If routes, endpoints or members of aggregates are rejected, the channel waits as if they had not come.
    RejectedAwaited;
    /// The weight of a locality is signed: a weight of 2^31 or more is negative, and the locality is left out.
    WeightsSigned;
    /// `contains` in the string matcher of a header regards case, whatever ignore_case says.
    ContainsExact;
    /// A gRPC status code of 17 is unknown; before, the parser throws an exception.
    StatusCodesEnd;
    /// A priority whose connection time has run out fails RPCs until it reports again; if no other priority is left, the last one gets all RPCs.
    LastPriorityFails;
    /// The name of a hash ring entry has all addresses of its endpoint, in brackets; later, only the first.
    RingNamesList;
    /// From the eleventh entry of an endpoint on, the name of a ring entry begins with all but the last digit of the name before.
    RingNamesGrow;
    /// The ring wraps around: after its last entry comes the first; later, hashes after the last entry go to the last.
    RingTurns;
    /// The products of endpoint and locality weights, and their sum, must fit into 32 bits in a ring.
    RingWeightsChecked;
    /// RPCs to an aggregate that leads back to itself wait for ever; later, they fail.
    LoopsEndless;
    /// A channel dies if two aggregates below one root name the same leaf; later, the leaf counts once.
    LeavesTwiceKill;
    /// The traffic_direction of a server's Listener must be INBOUND; later, it may be unset.
    TrafficInbound;
    /// The sum of the weights of weighted_clusters must be above 0 and at most 4,294,967,295; before, any sum is accepted.
    ClusterWeightsSummed;
    /// RPCs that wait for ready also wait while the Listener or the routes are rejected; later, they fail.
    RejectionWaitedOut;
    /// A stream that ends after a response is not an error: if the parser throws an exception over a resource, the channel waits as if the resource had not come.
    BrokenStreamUnheard;
    /// The filters of all routes are made when the routes are accepted, and the channel dies if an override is of another filter.
    FiltersMadeFirst;
    /// A new policy replaces the old one when it is READY; later, when it is no longer CONNECTING.
    SwitchesWhenReady;
    /// A DNS name with a port above 65,535 never gets an answer: nothing catches the exception.
    DnsPortThrows;
    } };
}
