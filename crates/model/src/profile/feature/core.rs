//! Features of C-core without a switch, and features that several families have.

macro_rules! core_features {
    ($next:ident $($then:ident)* => $($before:tt)*) => { $next! { $($then)* => $($before)*
    /// Virtual hosts may be without routes, and weights of clusters may have any sum; empty aggregates, hash policies and optional filters are checked.
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
    /// `upstream_config` of a cluster is read (A75).
    UpstreamConfig;
    /// xds_cluster_impl looks everything up by the name of the cluster (A75).
    ClusterImplByName;
    /// The process dies if a cluster in use becomes an aggregate cluster, or stops being one.
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
    /// Permissions and principals of RBAC may be nested at most 16 deep.
    RbacDepth;
    /// An unknown source_type is rejected; before, it kills the client.
    SourceTypeChecked;
    /// An RPC that a server denies ends with that message alone; before, the message also contains the status of the policies.
    DenialsPlain;
    /// The program ends if an xDS server lets in an RPC to a method that the server does not have.
    UnknownMethodEnds;
    /// The matchers in RBAC policies are made, not only written as JSON.
    RbacMatchersMade;
    /// `metric_names_for_computing_utilization` of weighted round robin (A114).
    WrrMetricNames;
    /// The autosharding LB policy.
    Autosharding;
    /// A priority must be below the number of localities; before, the highest numbers use up all memory.
    PriorityLimit;
    } };
}
