//! Names of messages and extensions that several families read.

pub(crate) const AGGREGATE_NAME: &str = "envoy.clusters.aggregate";
pub(crate) const ADDRESS: &str = "envoy.config.core.v3.Address";
pub(crate) const WRAPPER: &str = "envoy.config.route.v3.FilterConfig";
pub(crate) const AGGREGATE: &str = "envoy.extensions.clusters.aggregate.v3.ClusterConfig";
pub(crate) const EXT_PROC_PER_ROUTE: &str = "envoy.extensions.filters.http.ext_proc.v3.ExtProcPerRoute";
pub(crate) const EXT_PROC: &str = "envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor";
pub(crate) const FAULT: &str = "envoy.extensions.filters.http.fault.v3.HTTPFault";
pub(crate) const AUDIENCE: &str = "envoy.extensions.filters.http.gcp_authn.v3.Audience";
pub(crate) const GCP_AUTHN: &str = "envoy.extensions.filters.http.gcp_authn.v3.GcpAuthnFilterConfig";
pub(crate) const RBAC: &str = "envoy.extensions.filters.http.rbac.v3.RBAC";
pub(crate) const RBAC_PER_ROUTE: &str = "envoy.extensions.filters.http.rbac.v3.RBACPerRoute";
pub(crate) const ROUTER: &str = "envoy.extensions.filters.http.router.v3.Router";
pub(crate) const HCM: &str = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
pub(crate) const WRR: &str =
    "envoy.extensions.load_balancing_policies.client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin";
pub(crate) const LEAST_REQUEST: &str = "envoy.extensions.load_balancing_policies.least_request.v3.LeastRequest";
pub(crate) const PICK_FIRST: &str = "envoy.extensions.load_balancing_policies.pick_first.v3.PickFirst";
pub(crate) const RING_HASH: &str = "envoy.extensions.load_balancing_policies.ring_hash.v3.RingHash";
pub(crate) const ROUND_ROBIN: &str = "envoy.extensions.load_balancing_policies.round_robin.v3.RoundRobin";
pub(crate) const WRR_LOCALITY: &str = "envoy.extensions.load_balancing_policies.wrr_locality.v3.WrrLocality";
/// The only audit logger of RBAC policies.
pub(crate) const STDOUT_LOGGER: &str = "envoy.extensions.rbac.audit_loggers.stream.v3.StdoutAuditLog";
pub(crate) const DOWNSTREAM: &str = "envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext";
pub(crate) const HTTP_11_PROXY: &str =
    "envoy.extensions.transport_sockets.http_11_proxy.v3.Http11ProxyUpstreamTransport";
pub(crate) const RLS: &str = "grpc.lookup.v1.RouteLookupClusterSpecifier";
pub(crate) const UPSTREAM: &str = "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext";
/// The only name that a transport socket may have.
pub(crate) const SOCKET_NAME: &str = "envoy.transport_sockets.tls";
/// The only transport_protocol that a gRPC server's connections have.
pub(crate) const RAW_BUFFER: &str = "raw_buffer";
/// Key of the only filter_state that a hash policy can name: the channel's own id.
pub(crate) const CHANNEL_ID_KEY: &str = "io.grpc.channel_id";
/// Metadata key of a proxy's address (A86).
pub(crate) const PROXY_METADATA: &str = "envoy.http11_proxy_transport_socket.proxy_address";
/// Metadata key of Envoy's load balancing settings, among them the ring hash key (A76).
pub(crate) const LB_METADATA: &str = "envoy.lb";
