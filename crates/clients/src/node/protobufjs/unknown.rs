//! Fields that the protos inside of grpc-js-xds do not have: it skips them, whatever is in them.
//!
//! The list comes from comparing the descriptors of 1.14.1, which are those of 1.13.0 too, with
//! `proto/xds.binpb`.

/// The messages by name, with the numbers of the fields that the client does not have.
const UNKNOWN: &[(&str, &[u32])] = &[
    ("envoy.config.cluster.v3.CircuitBreakers.Thresholds.RetryBudget", &[3]),
    ("envoy.config.cluster.v3.Cluster", &[58, 59, 60, 61, 62]),
    ("envoy.config.cluster.v3.Cluster.PreconnectPolicy", &[3]),
    ("envoy.config.cluster.v3.OutlierDetection", &[26]),
    ("envoy.config.core.v3.BindConfig", &[7]),
    ("envoy.config.core.v3.GrpcService.GoogleGrpc", &[9, 10]),
    ("envoy.config.core.v3.Http1ProtocolOptions", &[11]),
    ("envoy.config.core.v3.Http2ProtocolOptions", &[17, 18, 19, 20, 21, 22]),
    ("envoy.config.core.v3.Http3ProtocolOptions", &[7, 8, 9]),
    ("envoy.config.core.v3.HttpProtocolOptions", &[7, 8]),
    ("envoy.config.core.v3.KeyValueAppend", &[3]),
    ("envoy.config.core.v3.PathConfigSource", &[3]),
    ("envoy.config.core.v3.ProxyProtocolConfig", &[3]),
    ("envoy.config.core.v3.QuicProtocolOptions", &[9, 10, 11, 12, 13]),
    ("envoy.config.core.v3.SocketAddress", &[7]),
    ("envoy.config.core.v3.SocketOption", &[7, 8]),
    ("envoy.config.core.v3.WatchedDirectory", &[2]),
    ("envoy.config.endpoint.v3.Endpoint", &[5]),
    ("envoy.config.listener.v3.AdditionalAddress", &[3]),
    ("envoy.config.listener.v3.Listener", &[36, 37, 38, 39]),
    ("envoy.config.listener.v3.Listener.ConnectionBalanceConfig", &[3]),
    ("envoy.config.listener.v3.QuicProtocolOptions", &[12, 13, 14]),
    ("envoy.config.rbac.v3.Permission", &[14]),
    ("envoy.config.rbac.v3.Policy", &[5]),
    ("envoy.config.rbac.v3.Principal", &[13, 14]),
    ("envoy.config.route.v3.DirectResponseAction", &[3]),
    ("envoy.config.route.v3.RateLimit", &[5, 6, 7]),
    ("envoy.config.route.v3.RateLimit.Action", &[12, 13]),
    ("envoy.config.route.v3.RateLimit.Action.GenericKey", &[3]),
    ("envoy.config.route.v3.RateLimit.Action.HeaderValueMatch", &[5]),
    ("envoy.config.route.v3.RateLimit.Action.QueryParameterValueMatch", &[5]),
    ("envoy.config.route.v3.RateLimit.Override", &[2]),
    ("envoy.config.route.v3.RedirectAction", &[10]),
    ("envoy.config.route.v3.RetryPolicy", &[14]),
    ("envoy.config.route.v3.Route", &[20, 21]),
    ("envoy.config.route.v3.RouteAction", &[42, 44, 45]),
    ("envoy.config.route.v3.RouteAction.RequestMirrorPolicy", &[7, 8]),
    ("envoy.config.route.v3.RouteConfiguration", &[18, 19]),
    ("envoy.config.route.v3.RouteMatch", &[16, 17]),
    ("envoy.config.route.v3.Tracing", &[5, 6]),
    ("envoy.config.route.v3.VirtualHost", &[25, 26]),
    ("envoy.config.route.v3.WeightedCluster", &[5]),
    ("envoy.extensions.filters.http.fault.v3.FaultAbort", &[6]),
    (
        "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
        &[58, 59, 60, 61, 62],
    ),
    (
        "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.SetCurrentClientCertDetails",
        &[7, 8],
    ),
    (
        "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.Tracing",
        &[11, 12, 13],
    ),
    (
        "envoy.extensions.load_balancing_policies.client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin",
        &[7, 8, 9],
    ),
    (
        "envoy.extensions.load_balancing_policies.common.v3.ConsistentHashingLbConfig",
        &[3],
    ),
    (
        "envoy.extensions.load_balancing_policies.common.v3.LocalityLbConfig.ZoneAwareLbConfig",
        &[4, 5, 6],
    ),
    (
        "envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext",
        &[18],
    ),
    ("envoy.extensions.transport_sockets.tls.v3.CommonTlsContext", &[16]),
    ("envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext", &[11]),
    ("envoy.extensions.transport_sockets.tls.v3.GenericSecret", &[2]),
    ("envoy.extensions.transport_sockets.tls.v3.TlsCertificate", &[9]),
    ("envoy.extensions.transport_sockets.tls.v3.TlsParameters", &[6]),
    ("envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext", &[6, 7]),
    ("envoy.type.matcher.v3.FilterStateMatcher", &[3]),
    ("envoy.type.metadata.v3.MetadataKey.PathSegment", &[2]),
    ("envoy.type.tracing.v3.CustomTag", &[6]),
    ("google.api.expr.v1alpha1.CheckedExpr", &[6]),
    ("google.api.expr.v1alpha1.Decl.FunctionDecl", &[2]),
    ("google.api.expr.v1alpha1.Expr.Comprehension", &[8]),
    ("google.api.expr.v1alpha1.Expr.CreateList", &[2]),
    ("google.api.expr.v1alpha1.Expr.CreateStruct.Entry", &[5]),
    ("google.api.expr.v1alpha1.SourceInfo", &[6]),
    ("xds.type.matcher.v3.Matcher.OnMatch", &[3]),
    ("xds.type.matcher.v3.StringMatcher", &[8]),
];

/// Says whether the client does not have a field.
pub(super) fn is_unknown(message: &str, number: u32) -> bool {
    let found = UNKNOWN.binary_search_by(|(name, _)| (*name).cmp(message));
    found.is_ok_and(|index| UNKNOWN[index].1.contains(&number))
}

#[cfg(test)]
mod tests {
    use super::UNKNOWN;
    use xdsctl_document::proto::pb::tables;

    #[test]
    fn the_list_is_sorted_and_names_fields_that_there_are() {
        assert!(UNKNOWN.is_sorted_by_key(|(name, _)| *name));
        for (name, numbers) in UNKNOWN {
            let message = tables::message(name).unwrap_or_else(|| panic!("{name}"));
            assert!(numbers.iter().all(|number| message.field(*number).is_some()), "{name}");
        }
    }
}
