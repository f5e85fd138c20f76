//! Fields that gRPC never reads, and that somebody who sets them will miss: without them it behaves in another way.
//!
//! The decision for all fields that `proto/reads.txt` does not list: one in [`SECURITY`] is a `security-field-ignored`, one in
//! [`MISSED`] a `behaviour-field-ignored`, both warnings; every other is a `field-ignored`, a note. Statistics, logs, traces,
//! HTTP/1, browsers, sockets, and what asks for what gRPC does anyway are not missed.

use xdsctl_proto::tables::{self, Field, Kind, Message};

/// Fields whose loss changes who may do what: message, field, what is lost.
const SECURITY: &[(&str, &str, &str)] = &[
    (
        "envoy.config.listener.v3.Listener",
        "listener_filters",
        "listener filters do not run",
    ),
    (
        "envoy.config.listener.v3.FilterChainMatch",
        "direct_source_prefix_ranges",
        "the chain matches every direct source",
    ),
    (
        "envoy.config.route.v3.RouteMatch",
        "tls_context",
        "the route matches with and without a client certificate",
    ),
    (
        "envoy.config.route.v3.RouteMatch",
        "filter_state",
        "the route matches without it",
    ),
    (
        "envoy.config.route.v3.RouteMatch",
        "dynamic_metadata",
        "the route matches without it",
    ),
    (
        "envoy.config.route.v3.HeaderMatcher",
        "treat_missing_header_as_empty",
        "a missing header does not match",
    ),
    (
        "envoy.config.cluster.v3.Cluster",
        "transport_socket_matches",
        "connections use transport_socket, or plaintext",
    ),
    (
        "envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext",
        "match_typed_subject_alt_names",
        "the peer's name is not checked against it",
    ),
    (
        "envoy.extensions.filters.http.rbac.v3.RBAC",
        "matcher",
        "nothing is enforced unless `rules` is set",
    ),
    (
        "envoy.extensions.filters.http.rbac.v3.RBAC",
        "shadow_rules",
        "nothing is logged",
    ),
];

const STREAM_DURATION: &str =
    "for a deadline gRPC reads max_stream_duration, of the route or of common_http_protocol_options";
const NO_IDLE_TIMEOUT: &str = "gRPC has no idle timeout of an RPC; max_stream_duration bounds all of it";
const GRPC_TIMEOUT: &str =
    "of the deadline that the application sets gRPC reads max_stream_duration.grpc_timeout_header_max only";
const NO_TRY_TIMEOUT: &str =
    "gRPC has no timeout of a single attempt; max_stream_duration bounds all attempts together";
const RETRY_ON: &str =
    "gRPC retries the codes of retry_on: cancelled, deadline-exceeded, internal, resource-exhausted, unavailable";
const RETRY_POLICY: &str = "gRPC reads retry_policy of the virtual host and of the route's action";
const PUSHBACK: &str = "gRPC reads retry_back_off, and the server's grpc-retry-pushback-ms";
const NO_HEDGING: &str = "gRPC takes no hedging from xDS; retry_policy is what it has";
const NO_MIRROR: &str = "gRPC sends no copy of an RPC";
const NO_REWRITE: &str = "gRPC sends the path as the application gave it";
/// Of the other members of RouteAction.host_rewrite_specifier, too, which their converter reports.
pub const NO_HOST_REWRITE: &str =
    "gRPC reads auto_host_rewrite, from a server with the feature trusted_xds_server; else :authority is the channel's";
const NO_HEADERS: &str = "gRPC adds and removes no headers by route";
const NO_RATE_LIMIT: &str =
    "gRPC limits no rates by xDS; circuit_breakers.thresholds.max_requests is the limit that it reads";
const NO_SUBSET: &str = "gRPC has no subsets: make clusters of their own";
const EJECTION: &str = "gRPC ejects by success rate and by failure percentage: set enforcing_failure_percentage, or success_rate_stdev_factor and enforcing_success_rate";
const BREAKERS: &str = "gRPC reads max_requests of the thresholds, and nothing else";
const FAILOVER: &str =
    "gRPC goes to the next priority when no endpoint of this one can be connected to, however few there are";
const RING: &str =
    "the ring is made of the endpoints' addresses and weights; metadata envoy.lb hash_key names an endpoint";
const EVERY_FAULT: &str = "gRPC injects the fault into every RPC of the route";
const FILTER_LEVEL: &str = "gRPC reads typed_per_filter_config of virtual hosts, routes and weighted_clusters";
const PORT: &str = "gRPC compares domains with the whole authority, its port too";
const UPSTREAM: &str = "gRPC reads common_http_protocol_options of it, and nothing else";

/// Fields whose loss changes what becomes of RPCs: messages, fields, what gRPC does or reads instead.
///
/// No client reads any of them; a field that another client than C-core reads is none for this list.
const MISSED: &[(&[&str], &[&str], &str)] = &[
    (&["envoy.config.route.v3.RouteAction"], &["timeout"], STREAM_DURATION),
    (
        &["envoy.config.route.v3.RouteAction"],
        &["idle_timeout"],
        NO_IDLE_TIMEOUT,
    ),
    (
        &["envoy.config.route.v3.RouteAction"],
        &["max_grpc_timeout", "grpc_timeout_offset"],
        GRPC_TIMEOUT,
    ),
    (
        &["envoy.config.route.v3.RouteAction.MaxStreamDuration"],
        &["grpc_timeout_header_offset"],
        GRPC_TIMEOUT,
    ),
    (
        &["envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"],
        &["request_timeout"],
        STREAM_DURATION,
    ),
    (
        &["envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"],
        &["stream_idle_timeout"],
        NO_IDLE_TIMEOUT,
    ),
    (
        &["envoy.config.route.v3.RetryPolicy"],
        &["per_try_timeout", "per_try_idle_timeout"],
        NO_TRY_TIMEOUT,
    ),
    (
        &["envoy.config.route.v3.RetryPolicy"],
        &[
            "retriable_status_codes",
            "retriable_headers",
            "retriable_request_headers",
        ],
        RETRY_ON,
    ),
    (
        &["envoy.config.route.v3.RetryPolicy"],
        &["rate_limited_retry_back_off"],
        PUSHBACK,
    ),
    (&["envoy.config.route.v3.RetryPolicy"], &["retry_priority"], FAILOVER),
    (
        &["envoy.config.route.v3.RouteAction", "envoy.config.route.v3.VirtualHost"],
        &["retry_policy_typed_config"],
        RETRY_POLICY,
    ),
    (
        &["envoy.config.route.v3.RouteAction", "envoy.config.route.v3.VirtualHost"],
        &["hedge_policy"],
        NO_HEDGING,
    ),
    (
        &["envoy.config.route.v3.RouteAction", "envoy.config.route.v3.VirtualHost"],
        &["rate_limits"],
        NO_RATE_LIMIT,
    ),
    (
        &[
            "envoy.config.route.v3.RouteAction",
            "envoy.config.route.v3.VirtualHost",
            "envoy.config.route.v3.RouteConfiguration",
        ],
        &["request_mirror_policies"],
        NO_MIRROR,
    ),
    (
        &["envoy.config.route.v3.RouteAction"],
        &["prefix_rewrite", "regex_rewrite", "path_rewrite_policy", "path_rewrite"],
        NO_REWRITE,
    ),
    (
        &["envoy.config.route.v3.WeightedCluster.ClusterWeight"],
        &["host_rewrite_literal"],
        NO_HOST_REWRITE,
    ),
    (
        &[
            "envoy.config.route.v3.RouteConfiguration",
            "envoy.config.route.v3.VirtualHost",
            "envoy.config.route.v3.Route",
            "envoy.config.route.v3.WeightedCluster.ClusterWeight",
        ],
        &[
            "request_headers_to_add",
            "request_headers_to_remove",
            "response_headers_to_add",
            "response_headers_to_remove",
        ],
        NO_HEADERS,
    ),
    (
        &[
            "envoy.config.route.v3.RouteAction",
            "envoy.config.route.v3.WeightedCluster.ClusterWeight",
        ],
        &["metadata_match"],
        NO_SUBSET,
    ),
    (&["envoy.config.cluster.v3.Cluster"], &["lb_subset_config"], NO_SUBSET),
    (
        &["envoy.config.route.v3.WeightedCluster"],
        &["header_name", "use_hash_policy"],
        "gRPC draws the cluster of each RPC at random",
    ),
    (
        &["envoy.config.route.v3.RouteConfiguration"],
        &["typed_per_filter_config"],
        FILTER_LEVEL,
    ),
    (
        &["envoy.config.route.v3.RouteConfiguration"],
        &["vhds"],
        "gRPC reads virtual_hosts only",
    ),
    (
        &["envoy.config.route.v3.VirtualHost"],
        &["matcher"],
        "gRPC reads routes only",
    ),
    (
        &["envoy.config.route.v3.RouteConfiguration"],
        &["ignore_port_in_host_matching"],
        PORT,
    ),
    (
        &["envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"],
        &["strip_any_host_port", "strip_matching_host_port"],
        PORT,
    ),
    (
        &["envoy.config.cluster.v3.OutlierDetection"],
        &[
            "consecutive_5xx",
            "consecutive_gateway_failure",
            "consecutive_local_origin_failure",
        ],
        EJECTION,
    ),
    (
        &["envoy.config.cluster.v3.CircuitBreakers.Thresholds"],
        &["max_connections", "max_pending_requests", "max_retries", "retry_budget"],
        BREAKERS,
    ),
    (
        &["envoy.config.cluster.v3.CircuitBreakers"],
        &["per_host_thresholds"],
        BREAKERS,
    ),
    (
        &["envoy.config.cluster.v3.Cluster"],
        &["health_checks"],
        "gRPC does not probe by xDS: it takes health_status of the endpoints, and its own connections",
    ),
    (
        &["envoy.config.cluster.v3.Cluster.CommonLbConfig"],
        &["healthy_panic_threshold"],
        "gRPC has no panic mode: endpoints that EDS calls unhealthy get no RPC",
    ),
    (
        &["envoy.config.cluster.v3.Cluster.CommonLbConfig"],
        &["zone_aware_lb_config"],
        "gRPC picks a locality by load_balancing_weight, wherever the client is",
    ),
    (
        &["envoy.config.cluster.v3.Cluster.CommonLbConfig"],
        &["consistent_hashing_lb_config"],
        RING,
    ),
    (
        &["envoy.extensions.load_balancing_policies.ring_hash.v3.RingHash"],
        &[
            "use_hostname_for_hashing",
            "hash_balance_factor",
            "consistent_hashing_lb_config",
        ],
        RING,
    ),
    (
        &["envoy.extensions.load_balancing_policies.client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin"],
        &["slow_start_config"],
        "gRPC gives a new endpoint its share at once; blackout_period is how long its reports do not count",
    ),
    (
        &["envoy.config.endpoint.v3.ClusterLoadAssignment.Policy"],
        &["overprovisioning_factor", "weighted_priority_health"],
        FAILOVER,
    ),
    (
        &["envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext"],
        &["allow_expired_certificate", "trust_chain_verification"],
        "gRPC checks the peer's certificate in full",
    ),
    (
        &["envoy.extensions.upstreams.http.v3.HttpProtocolOptions"],
        &[
            "http_filters",
            "outlier_detection",
            "request_mirror_policies",
            "hash_policy",
            "retry_policy",
        ],
        UPSTREAM,
    ),
    (
        &["envoy.extensions.filters.http.fault.v3.HTTPFault"],
        &["upstream_cluster", "headers", "downstream_nodes"],
        EVERY_FAULT,
    ),
    (
        &["envoy.extensions.filters.http.fault.v3.HTTPFault"],
        &["response_rate_limit"],
        "gRPC injects delays and aborts only",
    ),
    (
        &["envoy.extensions.filters.http.stateful_session.v3.StatefulSession"],
        &["strict"],
        "gRPC sends an RPC elsewhere if the endpoint of its session is gone",
    ),
    (
        &["envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor"],
        &["message_timeout"],
        "gRPC reads timeout of grpc_service, which bounds the whole stream",
    ),
    (
        &["envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor"],
        &["allow_mode_override"],
        "gRPC reads processing_mode, which no answer of the processor changes",
    ),
];

/// What is lost with a field that restricts or secures traffic.
pub(super) fn security(message: &Message, field: &Field) -> Option<&'static str> {
    let mut listed = SECURITY.iter();
    let found = listed.find(|(name, lost, _)| *name == message.full_name && *lost == field.name);
    found.map(|(.., lost)| *lost)
}

/// What gRPC does or reads instead of a field that will be missed.
pub(super) fn instead(message: &Message, field: &Field) -> Option<&'static str> {
    let is_listed = |list: &[&str], name| list.contains(&name);
    let mut listed = MISSED.iter();
    let found =
        listed.find(|(messages, fields, _)| is_listed(messages, message.full_name) && is_listed(fields, field.name));
    found.map(|(.., instead)| *instead)
}

/// Says whether a value asks for nothing: a scalar in a message that is 0 (no timeout, no percentage), or a number without a limit.
pub(super) fn is_off(field: &Field, payload: &[u8]) -> bool {
    const NO_LIMIT: &[u8] = &[0x08, 0xff, 0xff, 0xff, 0xff, 0x0f];
    let Kind::Message(index) = field.kind else {
        return false;
    };
    let name = tables::MESSAGES[usize::from(index)].full_name;
    match name {
        "google.protobuf.UInt32Value" => payload.is_empty() || payload == NO_LIMIT,
        "google.protobuf.Duration" | "google.protobuf.BoolValue" | "envoy.type.v3.Percent" => payload.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_field_that_another_client_reads_is_missed_by_all() {
        for known in tables::MESSAGES {
            for field in known.fields.iter().filter(|field| field.generated && !field.judged) {
                assert_eq!(instead(known, field), None, "{}.{}", known.full_name, field.name);
            }
        }
    }

    #[test]
    fn each_name_is_a_field_that_no_reader_has() {
        let unread = |message: &str, field: &str| {
            let found = tables::MESSAGES.iter().find(|known| known.full_name == message);
            let found = found.unwrap_or_else(|| panic!("{message}"));
            found.fields.iter().any(|known| known.name == field && !known.read)
        };
        for (message, field, _) in SECURITY {
            assert!(unread(message, field), "{message}.{field}");
        }
        for (messages, fields, _) in MISSED {
            for field in *fields {
                assert!(
                    messages.iter().any(|message| unread(message, field)),
                    "{messages:?} {field}"
                );
            }
        }
    }
}
