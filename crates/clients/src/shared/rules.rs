//! Rules that several families know, in the order of the resources.

use xdsctl_model::diag::rules;

rules! {
    /// The bytes of a resource are not a message of its type.
    RESOURCE_UNDECODABLE = "resource-undecodable", Common, Nack, "C-core XdsResourceTypeImpl::Decode; upb";
    /// A resource has no name of its own, whatever stands around it.
    RESOURCE_NAME_EMPTY = "resource-name-empty", Common, Nack, "grpc-go unmarshalListenerResource and its like";
    /// A string matcher's prefix, suffix or contains is empty.
    STRING_MATCHER_EMPTY = "string-matcher-empty", Common, Nack, "grpc-go StringMatcherFromProto";
    /// A GrpcService has no google_grpc.
    GRPC_SERVICE_NOT_GOOGLE_GRPC = "grpc-service-not-google-grpc", Common, Nack, "gRFC A102; C-core ParseXdsGrpcService";
    /// The target_uri of a GrpcService is one that no resolver of the client takes.
    GRPC_SERVICE_TARGET_INVALID = "grpc-service-target-unresolvable", Common, Nack, "gRFC A102; C-core ResolverRegistry::IsValidTarget";
    /// The xDS server is not trusted, and the target_uri of a GrpcService is not in the bootstrap's allowed_grpc_services.
    GRPC_SERVICE_NOT_ALLOWED = "grpc-service-not-allowed", Common, Nack, "gRFC A102; C-core ParseXdsGrpcService";
    /// A duration that must be positive is not.
    DURATION_NOT_POSITIVE = "duration-not-positive", Common, Nack, "gRFC A93, A102; C-core ParseXdsGrpcService, xds_http_ext_proc_filter.cc";
    /// A StringMatcher has no pattern that the client knows.
    STRING_MATCHER_WITHOUT_PATTERN = "string-matcher-without-pattern", Common, Nack, "C-core StringMatcherParse";
    /// A regex is not one that RE2 compiles.
    REGEX_NOT_RE2 = "regex-not-re2", Common, Nack, "C-core StringMatcher::Create, HeaderMatcher::Create; RE2";
    /// A header matcher has no kind of match.
    HEADER_MATCHER_WITHOUT_KIND = "header-matcher-without-kind", Common, Nack, "gRFC A28; C-core ParseHeaderMatcher";
    /// A header name has an upper-case letter and so never matches.
    HEADER_NAME_UPPER_CASE = "header-name-upper-case", Common, Advice, "C-core xds_routing.cc GetHeaderValue; grpc-go matcher_header.go";
    /// An Address is missing.
    ADDRESS_MISSING = "address-missing", Common, Nack, "gRFC A27; C-core ParseXdsAddress";
    /// An Address is not a socket_address.
    ADDRESS_NOT_SOCKET = "address-not-socket-address", Common, Nack, "gRFC A27; C-core ParseXdsAddress";
    /// A port is greater than 65535.
    PORT_OUT_OF_RANGE = "port-out-of-range", Common, Nack, "gRFC A27; C-core ParseXdsAddress";
    /// The text of an address is not an IPv4 or IPv6 literal.
    ADDRESS_NOT_IP = "address-not-ip", Common, Nack, "gRFC A27; C-core ParseXdsAddress, StringToSockaddr";
    /// An address has no port_value, which this client takes for port 0.
    PORT_UNSET = "address-port-unset", Common, Spec, "gRFC A27; C-core ParseXdsAddress";
    /// An address has port 0, where nothing can be reached.
    PORT_ZERO = "address-port-zero", Common, Advice, "C-core ParseXdsAddress",
        every "nobody can connect to port 0";
    /// The audience in a cluster's metadata has no URL.
    METADATA_AUDIENCE_WITHOUT_URL = "metadata-audience-without-url", Common, Nack, "gRFC A83; C-core ParseGcpAuthnAudience";
    /// A Struct in filter_metadata cannot be turned into JSON.
    METADATA_NOT_JSON = "metadata-not-json", Common, Nack, "gRFC A83; C-core ParseXdsMetadataMap, ParseProtobufStructToJson";
    /// No channel credentials of a GrpcService can be used.
    CHANNEL_CREDENTIALS_MISSING = "channel-credentials-missing", Common, Nack, "gRFC A102; C-core ParseXdsGrpcService";
    /// TLS credentials have no root certificate provider.
    TLS_CREDENTIALS_WITHOUT_ROOT = "tls-credentials-without-root", Common, Nack, "gRFC A102; C-core TlsConfig::ParseProto";
    /// TLS credentials name a certificate provider that the bootstrap does not have.
    TLS_CREDENTIALS_PROVIDER_UNKNOWN = "tls-credentials-provider-unknown", Common, Nack, "gRFC A102; C-core TlsConfig::ParseProto";
    /// xDS credentials have no fallback.
    XDS_CREDENTIALS_WITHOUT_FALLBACK = "xds-credentials-without-fallback", Common, Nack, "gRFC A102; C-core XdsChannelCredsFactory";
    /// Access token credentials have no token.
    ACCESS_TOKEN_EMPTY = "access-token-empty", Common, Nack, "gRFC A102; C-core AccessTokenCallCredsFactory";
    /// A header's key is one that gRPC keeps to itself.
    HEADER_KEY_RESERVED = "header-key-reserved", Common, Nack, "gRFC A102; C-core ParseXdsHeader";
    /// A header's value is too long, or that of a text header has a character outside printable ASCII.
    HEADER_VALUE_ILLEGAL = "header-value-illegal", Common, Nack, "C-core ValidateNonBinaryHeaderValueIsLegal";
    /// A transport socket has another name than `envoy.transport_sockets.tls`.
    TRANSPORT_SOCKET_NAME = "transport-socket-name", Tls, Nack, "gRFC A29; grpc-go securityConfigFromCluster";
    /// A matcher of names in certificates is for a kind of name that is not compared.
    SAN_TYPE_UNSUPPORTED = "tls-san-type-unsupported", Tls, Nack, "gRFC A29; tonic-xds san_matcher.rs";
    /// A server takes the system's roots to check clients.
    SYSTEM_ROOTS = "lds-tls-system-roots", Tls, Nack, "gRFC A82; C-core DownstreamTlsContextParse";
    /// A server matches the names in a client's certificate.
    SAN_MATCH = "lds-tls-san-match", Tls, Nack, "gRFC A29; C-core DownstreamTlsContextParse";
    /// A server has no certificate provider instance for its own certificate.
    NO_IDENTITY = "lds-tls-no-identity", Tls, Nack, "gRFC A29; C-core DownstreamTlsContextParse";
    /// A server demands client certificates and has no provider of roots to check them against.
    CLIENT_CERTIFICATE_WITHOUT_CA = "lds-tls-client-certificate-without-ca", Tls, Nack, "gRFC A29; C-core DownstreamTlsContextParse";
    /// A server demands SNI.
    REQUIRE_SNI = "lds-tls-require-sni", Tls, Nack, "gRFC A29; C-core DownstreamTlsContextParse";
    /// The OCSP staple policy is not LENIENT_STAPLING.
    OCSP_STAPLE_POLICY = "lds-tls-ocsp-staple-policy", Tls, Nack, "gRFC A29; C-core DownstreamTlsContextParse";
    /// A certificate provider instance is not one of the bootstrap's.
    TLS_UNKNOWN_PROVIDER_INSTANCE = "tls-unknown-provider-instance", Tls, Nack, "gRFC A29; C-core CertificateProviderPluginInstanceParse";
    /// Certificates or roots come inline or by SDS.
    TLS_SECRET_NOT_FROM_PROVIDER = "tls-secret-not-from-provider", Tls, Nack, "gRFC A29; C-core CommonTlsContextParse";
    /// A TLS context uses a feature that gRPC does not have.
    TLS_UNSUPPORTED_FEATURE = "tls-unsupported-feature", Tls, Nack, "gRFC A29; C-core CertificateValidationContextParse, CommonTlsContextParse";
    /// A certificate provider is named in a deprecated field, which other clients reject or do not read.
    TLS_DEPRECATED_PROVIDER_FIELD = "tls-deprecated-provider-field", Tls, Advice, "C-core CommonTlsContextParse; grpc-java 1.73.0 to 1.77.0";
    /// A filter chain's transport socket is not a DownstreamTlsContext.
    LISTENER_SOCKET_UNSUPPORTED = "lds-transport-socket-unsupported", Tls, Nack, "gRFC A29; C-core DownstreamTlsContextParse";
    /// A listener has listener_filters, which gRPC does not run.
    LISTENER_FILTERS = "lds-listener-filters", Listener, Nack, "gRFC A36; grpc-go processServerSideListener";
    /// A network filter has no name, or that of an earlier one.
    NETWORK_FILTER_NAME = "lds-network-filter-name", Listener, Nack, "grpc-go processNetworkFilters";
    /// The route_config_name of an HttpConnectionManager is empty.
    RDS_NAME_MISSING = "hcm-rds-name-missing", Listener, Nack, "grpc-go processClientSideListener";
    /// Two filter chains match the same connections, or one matches them twice.
    DUPLICATE_MATCH = "lds-filter-chain-duplicate-match", Listener, Nack, "gRFC A36; C-core AddFilterChainDataForSourcePort";
    /// A Listener has neither api_listener nor address.
    NEITHER_CLIENT_NOR_SERVER = "lds-neither-api-listener-nor-address", Listener, Nack, "gRFC A27, A36; C-core LdsResourceParse";
    /// A server's address is not an IP address, but is compared with the server's own as text.
    ADDRESS_NOT_LITERAL = "lds-address-not-literal", Listener, Advice, "C-core ListenerAddressMatches (xds_server_config_fetcher.cc)";
    /// A server's address has no port, and suits a server on any port.
    ADDRESS_WITHOUT_PORT = "lds-address-without-port", Listener, Advice, "C-core ListenerAddressMatches (xds_server_config_fetcher.cc)";
    /// use_original_dst is true.
    USE_ORIGINAL_DST = "lds-use-original-dst", Listener, Nack, "gRFC A36; C-core LdsResourceParseServer";
    /// A server listener has no filter chain.
    NO_FILTER_CHAIN = "lds-no-filter-chain", Listener, Nack, "gRFC A36; C-core LdsResourceParseServer";
    /// A filter chain does not have exactly one network filter.
    NETWORK_FILTERS_NOT_ONE = "lds-network-filters-not-one", Listener, Nack, "gRFC A36; C-core FilterChainParse";
    /// A source_type is not ANY, SAME_IP_OR_LOOPBACK or EXTERNAL.
    SOURCE_TYPE_UNKNOWN = "lds-source-type-unknown", Listener, Nack, "gRFC A36; C-core FilterChainMatchParse";
    /// A listener's network filter is not an HttpConnectionManager.
    NETWORK_FILTER_UNSUPPORTED = "lds-network-filter-unsupported", Listener, Nack, "gRFC A27, A36; C-core HttpConnectionManagerParse";
    /// xff_num_trusted_hops is not 0.
    XFF_NUM_TRUSTED_HOPS = "hcm-xff-num-trusted-hops", Listener, Nack, "gRFC A41; C-core HttpConnectionManagerParse";
    /// original_ip_detection_extensions is not empty.
    ORIGINAL_IP_DETECTION = "hcm-original-ip-detection", Listener, Nack, "gRFC A41; C-core HttpConnectionManagerParse";
    /// An HTTP filter has no name.
    FILTER_UNNAMED = "hcm-filter-unnamed", Listener, Nack, "gRFC A39; C-core HttpConnectionManagerParse";
    /// Two HTTP filters have the same name.
    FILTER_NAME_TWICE = "hcm-filter-name-twice", Listener, Nack, "gRFC A39; C-core HttpConnectionManagerParse";
    /// The client does not have an HTTP filter that is not optional.
    FILTER_UNSUPPORTED = "hcm-filter-unsupported", Listener, Nack, "gRFC A39; C-core HttpConnectionManagerParse";
    /// An HTTP filter is for the other side: for clients in a server's listener, or for servers in a client's.
    FILTER_ON_WRONG_SIDE = "hcm-filter-on-wrong-side", Listener, Nack, "gRFC A39; C-core HttpConnectionManagerParse";
    /// No HTTP filter is left to run.
    NO_FILTER = "hcm-no-filter", Listener, Nack, "gRFC A39; C-core HttpConnectionManagerParse";
    /// A terminal HTTP filter is not the last one.
    TERMINAL_FILTER_NOT_LAST = "hcm-terminal-filter-not-last", Listener, Nack, "gRFC A39; C-core HttpConnectionManagerParse";
    /// The last HTTP filter is not a terminal one.
    LAST_FILTER_NOT_TERMINAL = "hcm-last-filter-not-terminal", Listener, Nack, "gRFC A39; C-core HttpConnectionManagerParse";
    /// There is neither route_config nor rds.
    NO_ROUTES = "hcm-no-routes", Listener, Nack, "gRFC A27; C-core HttpConnectionManagerParse";
    /// The config_source of rds is missing, or neither ads nor self.
    RDS_NOT_FROM_ADS = "hcm-rds-not-from-ads", Listener, Nack, "gRFC A27, A30; C-core HttpConnectionManagerParse";
    /// A prefix_len is longer than the address, and is cut.
    CIDR_PREFIX_LEN_TOO_LONG = "cidr-prefix-len-too-long", Listener, Advice, "C-core CidrRangeParse; grpc-go rejects it";
    /// The address range of an RBAC policy is none.
    RBAC_ADDRESS = "rbac-address-range", Filter, Nack, "grpc-go internal/xds/rbac newRemoteIPMatcher";
    /// A mode for messages is neither NONE nor GRPC.
    EXT_PROC_BODY_MODE_UNSUPPORTED = "ext-proc-body-mode-unsupported", Filter, Nack, "gRFC A93; C-core ParseBodyProcessingMode";
    /// Response messages are sent to the server, and the trailers are not.
    EXT_PROC_TRAILERS_NOT_SENT = "ext-proc-trailers-not-sent", Filter, Nack, "gRFC A93; C-core ParseProcessingMode";
    /// The token cache of the GCP authentication filter has size 0.
    GCP_AUTHN_CACHE_SIZE_ZERO = "gcp-authn-cache-size-zero", Filter, Nack, "gRFC A83; C-core xds_http_gcp_authn_filter.cc";
    /// An optional HTTP filter that the client does not have is left out.
    OPTIONAL_FILTER_DROPPED = "hcm-optional-filter-dropped", Listener, Dropped, "gRFC A39; C-core HttpConnectionManagerParse";
    /// An optional entry of typed_per_filter_config has a type that no filter of the client takes as an override.
    FILTER_OVERRIDE_DROPPED = "filter-override-dropped", Filter, Dropped, "gRFC A39; C-core ParseTypedPerFilterConfig";
    /// An entry of typed_per_filter_config has a type that no filter of the client takes as an override.
    FILTER_OVERRIDE_TYPE_UNKNOWN = "filter-override-type-unknown", Filter, Nack, "gRFC A39; C-core ParseTypedPerFilterConfig";
    /// A FilterConfig in typed_per_filter_config has no config.
    FILTER_OVERRIDE_WITHOUT_CONFIG = "filter-override-without-config", Filter, Nack, "gRFC A39; C-core ParseTypedPerFilterConfig";
    /// A fault's grpc_status is not a gRPC status code.
    FAULT_STATUS_UNKNOWN = "fault-status-unknown", Filter, Nack, "gRFC A33; C-core xds_http_fault_filter.cc";
    /// An RBAC header matcher names a header that policies must not look at.
    RBAC_HEADER_FORBIDDEN = "rbac-header-forbidden", Filter, Nack, "gRFC A41; C-core xds_http_rbac_filter.cc ParseHeaderMatcher";
    /// An RBAC url_path has no path.
    RBAC_PATH_MISSING = "rbac-path-missing", Filter, Nack, "gRFC A41; C-core ParsePathMatcher";
    /// A principal has no identifier, or one that gRPC does not support.
    RBAC_PRINCIPAL_UNSUPPORTED = "rbac-principal-unsupported", Filter, Nack, "gRFC A41; C-core ParsePrincipal";
    /// An audit logger config has no logger.
    RBAC_AUDIT_LOGGER_MISSING = "rbac-audit-logger-missing", Filter, Nack, "gRFC A59; C-core ParseXdsAuditLoggerConfig";
    /// An audit logger is one that the client does not have.
    RBAC_AUDIT_LOGGER_UNKNOWN = "rbac-audit-logger-unknown", Filter, Nack, "gRFC A59; C-core ParseXdsAuditLoggerConfig";
    /// A permission has no rule, or one that gRPC does not support.
    RBAC_PERMISSION_UNSUPPORTED = "rbac-permission-unsupported", Filter, Nack, "gRFC A41; C-core ParsePermission";
    /// An RBAC config's action is not one of the enum's.
    RBAC_ACTION_UNKNOWN = "rbac-action-unknown", Filter, Nack, "gRFC A41; C-core xds_http_rbac_filter.cc";
    /// An RBAC config's action is LOG, which gRPC takes for no RBAC at all.
    RBAC_ACTION_LOG = "rbac-action-log", Filter, Dropped, "gRFC A41; C-core ParseXdsRbac",
        also [Go Java] "they make an RBAC filter without rules of it too (parseConfig; RbacFilter.parseRbacConfig)";
    /// A policy has a condition in CEL.
    RBAC_CONDITION_UNSUPPORTED = "rbac-condition-unsupported", Filter, Nack, "gRFC A41; C-core ParsePolicy";
    /// The interval of a retry policy's back-off is not above 0.
    BACK_OFF_NOT_POSITIVE = "rds-retry-back-off-not-positive", RouteConfiguration, Nack, "gRFC A44; grpc-go generateRetryConfig";
    /// A route's cluster, or an entry of its weighted clusters, has no name.
    CLUSTER_NAME_EMPTY = "rds-cluster-name-empty", RouteConfiguration, Nack, "gRFC A28; C-core RouteActionParse";
    /// No entry of weighted_clusters has a weight above 0.
    WEIGHTED_CLUSTERS_EMPTY = "rds-weighted-clusters-empty", RouteConfiguration, Nack, "gRFC A28; C-core RouteActionParse";
    /// The weights of weighted_clusters add up to more than 32 bits hold.
    WEIGHTED_CLUSTERS_SUM = "rds-weighted-clusters-sum", RouteConfiguration, Nack, "gRFC A28; C-core RouteActionParse";
    /// A route names a cluster specifier plugin that is not declared, or none.
    ROUTE_PLUGIN_UNKNOWN = "rds-route-plugin-unknown", RouteConfiguration, Nack, "C-core RouteActionParse";
    /// A route with a cluster specifier that the client does not know is dropped.
    ROUTE_SPECIFIER_UNSUPPORTED = "rds-route-specifier-unsupported", RouteConfiguration, Dropped, "gRFC A28; C-core RouteActionParse",
        also [Go Java] "both leave the route out if they take the resource";
    /// A virtual host has no domains.
    DOMAINS_EMPTY = "rds-domains-empty", RouteConfiguration, Nack, "gRFC A28; C-core XdsRouteConfigResourceParse";
    /// A RouteConfiguration has no virtual hosts.
    VIRTUAL_HOSTS_EMPTY = "rds-virtual-hosts-empty", RouteConfiguration, Fails, "gRFC A28; C-core xds_resolver.cc",
        every "without a virtual host no client finds a route";
    /// A domain pattern is empty or has its only `*` inside.
    DOMAIN_PATTERN_BAD = "rds-domain-pattern", RouteConfiguration, Nack, "gRFC A28; C-core XdsRouting::IsValidDomainPattern";
    /// A second `*` in a domain pattern is an ordinary character.
    DOMAIN_STAR_LITERAL = "rds-domain-second-star", RouteConfiguration, Advice, "C-core xds_routing.cc DomainMatch";
    /// A route has an action that a gRPC client cannot take.
    ROUTE_ACTION_UNKNOWN = "rds-route-action-unknown", RouteConfiguration, Advice, "gRFC A28; gRFC A36; C-core ParseRoute",
        also [Go] "grpc-go keeps the route and fails its RPCs with UNAVAILABLE (errUnsupportedClientRouteAction)";
    /// A retry policy has num_retries of 0.
    NUM_RETRIES_ZERO = "rds-num-retries-zero", RouteConfiguration, Nack, "gRFC A44; C-core RetryPolicyParse";
    /// A num_retries that does not fit a signed 32-bit number breaks the whole channel.
    NUM_RETRIES_TOO_BIG = "rds-num-retries-too-big", RouteConfiguration, Fails, "C-core CreateMethodConfig, RetryMethodConfig";
    /// A retry_back_off has no base_interval.
    BASE_INTERVAL_MISSING = "rds-base-interval-missing", RouteConfiguration, Nack, "gRFC A44; C-core RetryPolicyParse";
    /// A retry back-off is 0 or below one millisecond.
    BACK_OFF_BELOW_1MS = "rds-retry-back-off-below-1ms", RouteConfiguration, Spec, "gRFC A44, section on converting RetryPolicy";
    /// A retry max_interval is below its base_interval.
    MAX_INTERVAL_BELOW_BASE = "rds-max-interval-below-base", RouteConfiguration, Spec, "gRFC A44, section on converting RetryPolicy";
    /// A maximum back-off of ten times the base is longer than a Duration can be and breaks the whole channel.
    BACK_OFF_TOO_LONG = "rds-retry-back-off-too-long", RouteConfiguration, Fails, "C-core CreateMethodConfig, RetryMethodConfig";
    /// A route has no match.
    ROUTE_WITHOUT_MATCH = "rds-route-without-match", RouteConfiguration, Nack, "gRFC A28; C-core ParseRoute";
    /// A route match has no path specifier that the client knows.
    PATH_SPECIFIER_UNSUPPORTED = "rds-path-specifier-unsupported", RouteConfiguration, Nack, "gRFC A28; C-core RoutePathMatchParse";
    /// A runtime_fraction has a denominator that is not in the enum.
    FRACTION_DENOMINATOR_UNKNOWN = "rds-fraction-denominator-unknown", RouteConfiguration, Nack, "gRFC A28; C-core RouteRuntimeFractionParse";
    /// Two cluster specifier plugins have the same name.
    PLUGIN_NAME_DUPLICATE = "rds-plugin-name-duplicate", RouteConfiguration, Nack, "C-core ClusterSpecifierPluginParse";
    /// A cluster specifier plugin has a type that the client does not have.
    PLUGIN_TYPE_UNKNOWN = "rds-plugin-type-unknown", RouteConfiguration, Nack, "C-core ClusterSpecifierPluginParse";
    /// An RLS plugin has no route_lookup_config.
    RLS_CONFIG_MISSING = "rls-config-missing", RouteConfiguration, Nack, "C-core xds_cluster_specifier_plugin.cc";
    /// A Duration in an RLS plugin cannot be written as JSON.
    RLS_CONFIG_NOT_JSON = "rls-config-not-json", RouteConfiguration, Nack, "C-core xds_cluster_specifier_plugin.cc; upb json/encode.c";
    /// The LB policy of an RLS plugin rejects the config.
    RLS_CONFIG_REJECTED = "rls-config-rejected", RouteConfiguration, Nack, "C-core ClusterSpecifierPluginParse; rls.cc";
    /// An RBAC policy asks for something that gRPC does not have, so that the answer is always the same.
    RBAC_CONDITION_CONSTANT = "rbac-condition-constant", Filter, Advice, "gRFC A41; C-core MetadataAuthorizationMatcher, ReqServerNameAuthorizationMatcher";
    /// A cluster has transport_socket_matches, which choose its TLS by endpoint.
    TRANSPORT_SOCKET_MATCHES = "cds-transport-socket-matches", Cluster, Nack, "gRFC A29; grpc-go securityConfigFromCluster";
    /// The lb_policy enum is neither ROUND_ROBIN nor RING_HASH.
    LB_POLICY_UNSUPPORTED = "cds-lb-policy-unsupported", Cluster, Nack, "gRFC A27, A42; C-core ParseLbPolicyConfig";
    /// A LOGICAL_DNS cluster has no load_assignment.
    DNS_LOAD_ASSIGNMENT_MISSING = "cds-dns-load-assignment-missing", Cluster, Nack, "gRFC A37; C-core LogicalDnsParse";
    /// A LOGICAL_DNS cluster does not have exactly one locality with exactly one endpoint.
    DNS_NOT_ONE_ENDPOINT = "cds-dns-not-one-endpoint", Cluster, Nack, "gRFC A37; C-core LogicalDnsParse";
    /// A LOGICAL_DNS cluster names a resolver.
    DNS_RESOLVER_NAME = "cds-dns-resolver-name", Cluster, Nack, "gRFC A37; C-core LogicalDnsParse";
    /// A LOGICAL_DNS cluster has no name to resolve.
    DNS_NAME_EMPTY = "cds-dns-name-empty", Cluster, Nack, "gRFC A37; C-core LogicalDnsParse";
    /// A LOGICAL_DNS cluster has no port_value.
    DNS_PORT_UNSET = "cds-dns-port-unset", Cluster, Nack, "gRFC A37; C-core LogicalDnsParse";
    /// A cluster is neither EDS nor LOGICAL_DNS nor an aggregate.
    DISCOVERY_UNSUPPORTED = "cds-discovery-unsupported", Cluster, Nack, "gRFC A27, A37; C-core CdsResourceParse";
    /// An EDS cluster has no eds_cluster_config.
    EDS_CONFIG_MISSING = "cds-eds-cluster-config-missing", Cluster, Nack, "gRFC A27; C-core EdsConfigParse";
    /// Endpoints of an EDS cluster come from a source other than `ads` or `self`.
    EDS_SOURCE_UNSUPPORTED = "cds-eds-source-unsupported", Cluster, Nack, "gRFC A27, A30; C-core EdsConfigParse";
    /// An EDS cluster with an xdstp name has no service_name.
    EDS_SERVICE_NAME_MISSING = "cds-eds-service-name-missing", Cluster, Nack, "gRFC A47; C-core EdsConfigParse";
    /// cluster_type holds something other than an aggregate cluster's config.
    CLUSTER_TYPE_UNSUPPORTED = "cds-cluster-type-unsupported", Cluster, Nack, "gRFC A37; C-core CdsResourceParse";
    /// An aggregate cluster has no children.
    AGGREGATE_EMPTY = "cds-aggregate-empty", Cluster, Nack, "gRFC A37; C-core AggregateClusterParse";
    /// A field is set on an aggregate cluster, whose children bring their own.
    AGGREGATE_FIELD_UNUSED = "cds-aggregate-field-unused", Cluster, Ignored, "gRFC A75; C-core cds.cc, grpc-java CdsLoadBalancer2, grpc-js-xds load-balancer-cds.ts";
    /// A cluster's load reports go to a server other than the one that sent it.
    LRS_SERVER_NOT_SELF = "cds-lrs-server-not-self", Cluster, Nack, "gRFC A27; C-core CdsResourceParse";
    /// The server name for SNI is longer than 255 bytes.
    SNI_TOO_LONG = "cds-tls-sni-too-long", Cluster, Nack, "gRFC A101; C-core UpstreamTlsContextParse";
    /// A cluster's TLS context has no source of CA certificates.
    WITHOUT_CA = "cds-tls-without-ca", Cluster, Nack, "gRFC A29; C-core UpstreamTlsContextParse";
    /// A percentage of outlier detection is above 100.
    PERCENTAGE_ABOVE_100 = "cds-outlier-percentage-above-100", Cluster, Nack, "gRFC A50; C-core CdsResourceParse";
    /// failure_percentage_threshold is above 100, which this client does not check.
    THRESHOLD_ABOVE_100 = "cds-outlier-threshold-above-100", Cluster, Spec, "gRFC A50; C-core CdsResourceParse";
    /// A cluster's transport socket is not an UpstreamTlsContext.
    TRANSPORT_SOCKET_UNSUPPORTED = "cds-transport-socket-unsupported", Cluster, Nack, "gRFC A29, A86; C-core CdsResourceParse";
    /// least_request compares fewer than two endpoints.
    LEAST_REQUEST_CHOICES = "lb-least-request-choices", Lb, Nack, "gRFC A48; grpc-go leastrequest ParseConfig";
    /// An LB policy that needs a child has none, which the parser takes and the process dies of.
    LB_CONFIG_KILLS = "lb-without-child-kills", Lb, Fails, "grpc-go clusterimpl, outlierdetection ParseConfig";
    /// An xds_cluster_impl in an LB policy is for another cluster, or none, which the parser takes and the process dies of.
    OTHER_CLUSTER_KILLS = "lb-other-cluster-kills", Lb, Fails, "grpc-go clusterimpl UpdateClientConnState";
    /// The weights of a locality's endpoints add up to more than 4294967295.
    ENDPOINT_WEIGHT_SUM = "eds-endpoint-weight-sum", Endpoints, Nack, "grpc-go parseEndpoints";
    /// An endpoint's load_balancing_weight is 0.
    ENDPOINT_WEIGHT_ZERO = "eds-endpoint-weight-zero", Endpoints, Nack, "gRFC A42; C-core EndpointAddressesParse";
    /// An lb_endpoint has no endpoint message.
    ENDPOINT_MISSING = "endpoint-missing", Endpoints, Nack, "gRFC A27; C-core EndpointAddressesParse, LogicalDnsParse";
    /// An address occurs twice in the resource.
    ENDPOINT_ADDRESS_DUPLICATE = "eds-endpoint-address-duplicate", Endpoints, Nack, "gRFC A27, A61; C-core LocalityParse";
    /// A locality with a weight has no locality message.
    LOCALITY_MISSING = "eds-locality-missing", Endpoints, Nack, "gRFC A27; C-core LocalityParse";
    /// A locality's priority is not less than the number of localities, so that the priorities cannot be contiguous.
    PRIORITY_TOO_HIGH = "eds-priority-too-high", Endpoints, Nack, "gRFC A27; C-core EdsResourceParse";
    /// The same locality is given twice in one priority.
    LOCALITY_DUPLICATE = "eds-locality-duplicate", Endpoints, Nack, "gRFC A27; C-core EdsResourceParse";
    /// A priority below the highest one has no locality.
    PRIORITY_GAP = "eds-priority-gap", Endpoints, Nack, "gRFC A27; C-core EdsResourceParse";
    /// The weights of the localities of one priority add up to more than 4294967295.
    LOCALITY_WEIGHT_SUM = "eds-locality-weight-sum", Endpoints, Nack, "gRFC A27; C-core EdsResourceParse";
    /// A drop_percentage has an unknown denominator.
    DROP_DENOMINATOR_UNKNOWN = "eds-drop-denominator-unknown", Endpoints, Nack, "gRFC A27; C-core DropParseAndAppend";
    /// A resource name begins with `xdstp:` and is no URI with the resource's type in its path.
    XDSTP_NAME_MALFORMED = "xdstp-name-malformed", Dump, Nack, "gRFC A47; C-core XdsClient::ParseXdsResourceName";
}
