//! Features of gRFCs, with a switch in some client.

macro_rules! grfc_features {
    ($next:ident $($then:ident)* => $($before:tt)*) => { $next! { $($then)* => $($before)*
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
    /// A ring distinguishes endpoints by their addresses alone, and `envoy.lb`/`hash_key` in their metadata is not read (A76).
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
    /// `auto_host_rewrite` takes effect if it comes from a trusted server (A81).
    AuthorityRewrite = "GRPC_EXPERIMENTAL_XDS_AUTHORITY_REWRITE";
    } };
}
