//! Rules that several families have and C-core has not.

use crate::diag::rules;

rules! {
    /// A cluster has transport_socket_matches, which choose its TLS by endpoint.
    TRANSPORT_SOCKET_MATCHES = "cds-transport-socket-matches", Cluster, Nack, "gRFC A29; grpc-go securityConfigFromCluster";
}
