//! Rules that other families have and C-core has not, in the order of the resources.

use xdsctl_model::diag::rules;

rules! {
    /// A resource has no name of its own, whatever stands around it.
    RESOURCE_NAME_EMPTY = "resource-name-empty", Common, Nack, "grpc-go unmarshalListenerResource and its like";
    /// A string matcher's prefix, suffix or contains is empty.
    STRING_MATCHER_EMPTY = "string-matcher-empty", Common, Nack, "grpc-go StringMatcherFromProto";
    /// A transport socket has another name than `envoy.transport_sockets.tls`.
    TRANSPORT_SOCKET_NAME = "transport-socket-name", Tls, Nack, "gRFC A29; grpc-go securityConfigFromCluster";
    /// A listener has listener_filters, which gRPC does not run.
    LISTENER_FILTERS = "lds-listener-filters", Listener, Nack, "gRFC A36; grpc-go processServerSideListener";
    /// A network filter has no name, or that of an earlier one.
    NETWORK_FILTER_NAME = "lds-network-filter-name", Listener, Nack, "grpc-go processNetworkFilters";
    /// The route_config_name of an HttpConnectionManager is empty.
    RDS_NAME_MISSING = "hcm-rds-name-missing", Listener, Nack, "grpc-go processClientSideListener";
    /// The interval of a retry policy's back-off is not above 0.
    BACK_OFF_NOT_POSITIVE = "rds-retry-back-off-not-positive", RouteConfiguration, Nack, "gRFC A44; grpc-go generateRetryConfig";
    /// A cluster has transport_socket_matches, which choose its TLS by endpoint.
    TRANSPORT_SOCKET_MATCHES = "cds-transport-socket-matches", Cluster, Nack, "gRFC A29; grpc-go securityConfigFromCluster";
    /// least_request compares fewer than two endpoints.
    LEAST_REQUEST_CHOICES = "lb-least-request-choices", Lb, Nack, "gRFC A48; grpc-go leastrequest ParseConfig";
    /// An LB policy that needs a child has none, which the parser takes and the process dies of.
    LB_CONFIG_KILLS = "lb-without-child-kills", Lb, Fails, "grpc-go clusterimpl, outlierdetection ParseConfig";
    /// An xds_cluster_impl in an LB policy is for another cluster, or none, which the parser takes and the process dies of.
    OTHER_CLUSTER_KILLS = "lb-other-cluster-kills", Lb, Fails, "grpc-go clusterimpl UpdateClientConnState";
    /// The weights of a locality's endpoints add up to more than 4294967295.
    ENDPOINT_WEIGHT_SUM = "eds-endpoint-weight-sum", Endpoints, Nack, "grpc-go parseEndpoints";
    /// The address range of an RBAC policy is none.
    RBAC_ADDRESS = "rbac-address-range", Filter, Nack, "grpc-go internal/xds/rbac newRemoteIPMatcher";
}
