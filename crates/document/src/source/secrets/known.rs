//! Known keys of formats without descriptors: bootstraps, configurations of LB policies, suites and
//! Kubernetes objects.

/// The keys of a JSON format whose values may be printed. Everything else in the JSON is hidden.
/// Each string is a list of words.
#[derive(Debug)]
pub struct KnownKeys {
    /// Keys of scalars, and sometimes of objects.
    pub keys: &'static str,
    /// Keys of objects of the same format, or of lists of such objects.
    pub objects: &'static str,
    /// Keys of maps of such objects. The keys of the maps are names.
    pub maps: &'static str,
    /// Keys of resources. Each resource is an object with an `@type`.
    pub resources: &'static str,
    /// Whether this is a suite: texts and numbers may be in the place of objects, maps and
    /// resources, and the keys in [`NAMED`] are known, too.
    pub is_suite: bool,
}

impl KnownKeys {
    const NONE: KnownKeys = KnownKeys {
        keys: "",
        objects: "",
        maps: "",
        resources: "",
        is_suite: false,
    };

    /// Returns every known key.
    pub fn all(&self) -> impl Iterator<Item = &'static str> {
        let named = if self.is_suite { NAMED } else { "" };
        let lists = [self.keys, self.objects, self.maps, self.resources, named];
        lists.into_iter().flat_map(str::split_ascii_whitespace)
    }
}

/// Says whether a list of words has this word.
pub fn has(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == word)
}

/// Keys of a suite whose members may have the names of credentials.
pub const NAMED: &str = "env headers";

/// A bootstrap (gRFC A27 and later gRFCs).
pub static BOOTSTRAP: KnownKeys = KnownKeys {
    keys: "\
        ca_certificate_file certificate_file client_default_listener_resource_name_template \
        client_listener_resource_name_template cluster id jwt_token_file plugin_name \
        private_key_file refresh_interval region server_features \
        server_listener_resource_name_template server_uri sub_zone type user_agent_name \
        user_agent_version zone",
    objects: "call_creds channel_creds config locality node xds_servers",
    maps: "allowed_grpc_services authorities certificate_providers",
    ..KnownKeys::NONE
};

/// Configurations of gRPC's own LB policies, in the notation of C-core and of each other family,
/// and the objects around them.
pub static POLICY: KnownKeys = KnownKeys {
    keys: "\
        autoshardingTarget backoffMultiplier baseEjectionTime blackoutPeriod cacheSizeBytes \
        category childPolicyConfigTargetFieldName choiceCount cluster clusterName defaultTarget \
        dnsHostname edsServiceName enableFallback enableOobLoadReport enforcementPercentage \
        errorUtilizationPenalty host ignoreReresolution ignoreReresolutionRequests \
        ignore_reresolution_requests initialAssignmentTimeout initialBackoff interval isDynamic \
        key keyHeaderName loadBalancingPolicy lookupService lookupServiceTimeout maxAge \
        maxAttempts maxBackoff maxConcurrentRequests maxConnectionsPerSubchannel \
        maxEjectionPercent maxEjectionTime maxRingSize max_concurrent_requests method \
        metricNamesForComputingUtilization minRingSize minimumHosts name names oobReportingPeriod \
        overrideHostStatus priorities requestHashHeader requestVolume requests_per_million \
        requiredMatch retryableStatusCodes service serviceName shuffleAddressList staleAge \
        stdevFactor subsetSize threshold timeout type validTargets waitForReady weight \
        weightExpirationPeriod weightUpdatePeriod weight_set",
    objects: "\
        cds cds_experimental childPolicy child_policy cluster_impl_experimental \
        cluster_manager_experimental config connectionScaling discoveryMechanisms dropCategories \
        endpointPickingPolicy extraKeys failurePercentageEjection grpcKeybuilders grpclb headers \
        healthCheckConfig least_request_experimental loadBalancingConfig \
        localityWeightedLbConfig methodConfig outlierDetection outlier_detection \
        outlier_detection_experimental pick_first priority priority_experimental random_subsetting \
        retryPolicy retryThrottling ring_hash ring_hash_experimental rls_experimental round_robin \
        routeLookupConfig successRateEjection weighted_round_robin weighted_target \
        weighted_target_experimental wrrLocalityConfig wrr_locality_experimental xdsLbPolicy \
        xds_cluster_impl xds_cluster_impl_experimental xds_cluster_manager \
        xds_cluster_manager_experimental xds_cluster_resolver_experimental \
        xds_override_host_experimental xds_wrr_locality xds_wrr_locality_experimental",
    maps: "children targets",
    ..KnownKeys::NONE
};

/// grpc-java's LB policy that has a child for each cluster of a channel.
pub const MANAGER_NAME: &str = "cluster_manager_experimental";

/// The configuration of that policy. Its `childPolicy` is a map by the names of clusters; in other
/// policies it is a list.
pub static MANAGER: KnownKeys = KnownKeys {
    keys: "cluster",
    objects: "cds_experimental lbPolicy",
    maps: "childPolicy",
    ..KnownKeys::NONE
};

/// Envoy's answer at `/clusters?format=json` (envoy.admin.v3.Clusters, which the descriptor set
/// does not have).
pub static CLUSTERS: KnownKeys = KnownKeys {
    keys: "\
        address eds_health_status eds_service_name hostname max_connections max_pending_requests \
        max_requests max_retries name observability_name path port_value priority protocol region \
        sub_zone type value weight zone",
    objects: "\
        circuit_breakers cluster_statuses health_status host_statuses local_origin_success_rate \
        local_origin_success_rate_ejection_threshold locality pipe socket_address stats \
        success_rate success_rate_ejection_threshold thresholds",
    ..KnownKeys::NONE
};

/// The metadata that gRPC reads (gRFC A76, A79).
pub static METADATA: KnownKeys = KnownKeys {
    keys: "hash_key service_name service_namespace",
    ..KnownKeys::NONE
};

/// The keys of `filter_metadata` that hold this metadata.
pub const METADATA_NAMES: &str = "com.google.csm.telemetry_labels envoy.lb";

/// Says whether this is one of gRPC's own policies, by its name in a TypedStruct.
pub fn is_policy(name: &str) -> bool {
    let is_like_one = name.ends_with("_experimental") || matches!(name, "grpclb" | "pick_first" | "round_robin");
    (is_like_one || matches!(name, "random_subsetting" | "weighted_round_robin")) && has(POLICY.objects, name)
}

/// The members of a Kubernetes object around configuration.
pub static KUBERNETES: KnownKeys = KnownKeys {
    keys: "apiVersion kind name namespace",
    objects: "items metadata spec",
    maps: "data",
    resources: "resources",
    ..KnownKeys::NONE
};

/// A suite of tests, according to its schema. Members that hold resources and headers are not among
/// `keys`.
pub static SUITE: KnownKeys = KnownKeys {
    keys: "\
        address application_utilization at attempts authority backend begin bootstrap by call \
        chain client cluster connect cookie count cpu_utilization delay drain drain_grace drop \
        ends eps expect fails finish for from header_data identity idle_timeout issuer jar kind \
        latency listen load locality lookups mem_utilization message method moves nack name \
        never not_after not_before of_all on pick policy rate reach remove report_period reports \
        roots route route_config rps_fractional san seed server serves service session settle \
        share shows silence sleep speak start starts_idle status steps stop subject target targets tests \
        that timeout tls to tolerance tree tree_lacks unimplemented unprocessed virtual_host \
        wait_for_ready within xds_credentials",
    maps: "\
        backends certificates clients connections fleet health keys methods named_metrics orca \
        priority resolve rotate scale shares states utilization weight",
    resources: "update world",
    is_suite: true,
    ..KnownKeys::NONE
};
