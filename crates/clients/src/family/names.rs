//! Names of messages and extensions that several families read.

pub(super) const AGGREGATE_NAME: &str = "envoy.clusters.aggregate";
pub(super) const ADDRESS: &str = "envoy.config.core.v3.Address";
pub(super) const WRAPPER: &str = "envoy.config.route.v3.FilterConfig";
pub(super) const AGGREGATE: &str = "envoy.extensions.clusters.aggregate.v3.ClusterConfig";
pub(super) const EXT_PROC_PER_ROUTE: &str = "envoy.extensions.filters.http.ext_proc.v3.ExtProcPerRoute";
pub(super) const EXT_PROC: &str = "envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor";
pub(super) const FAULT: &str = "envoy.extensions.filters.http.fault.v3.HTTPFault";
pub(super) const AUDIENCE: &str = "envoy.extensions.filters.http.gcp_authn.v3.Audience";
pub(super) const RBAC: &str = "envoy.extensions.filters.http.rbac.v3.RBAC";
pub(super) const RBAC_PER_ROUTE: &str = "envoy.extensions.filters.http.rbac.v3.RBACPerRoute";
pub(super) const ROUTER: &str = "envoy.extensions.filters.http.router.v3.Router";
pub(super) const HCM: &str = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
pub(super) const WRR: &str =
    "envoy.extensions.load_balancing_policies.client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin";
pub(super) const LEAST_REQUEST: &str = "envoy.extensions.load_balancing_policies.least_request.v3.LeastRequest";
pub(super) const PICK_FIRST: &str = "envoy.extensions.load_balancing_policies.pick_first.v3.PickFirst";
pub(super) const RING_HASH: &str = "envoy.extensions.load_balancing_policies.ring_hash.v3.RingHash";
pub(super) const ROUND_ROBIN: &str = "envoy.extensions.load_balancing_policies.round_robin.v3.RoundRobin";
pub(super) const WRR_LOCALITY: &str = "envoy.extensions.load_balancing_policies.wrr_locality.v3.WrrLocality";
pub(super) const DOWNSTREAM: &str = "envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext";
pub(super) const UPSTREAM: &str = "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext";
/// The only name of a transport socket.
pub(super) const SOCKET_NAME: &str = "envoy.transport_sockets.tls";
