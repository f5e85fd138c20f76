//! A control plane's snapshot, as kgateway prints it: lists of untyped resources under the plural of their type.

use xdsctl_proto::tables;

use super::Shape;
use super::walker::Place;

/// `{"clusters": [...], "endpoints": [...], "listeners": [...], "routes": [...]}`, in lower or capital letters.
pub(super) static SHAPE: Shape = Shape {
    // `endpoints` alone would be a ClusterLoadAssignment.
    claims: |clue| {
        ["clusters", "listeners", "routes"]
            .iter()
            .any(|list| clue.is(list, b'['))
    },
    walk: |walker| {
        walker.recognised = true;
        walker.fields(&mut |walker, key| {
            let type_name = match key {
                "clusters" => "envoy.config.cluster.v3.Cluster",
                "endpoints" => "envoy.config.endpoint.v3.ClusterLoadAssignment",
                "listeners" => "envoy.config.listener.v3.Listener",
                "routes" => "envoy.config.route.v3.RouteConfiguration",
                "secrets" => "envoy.extensions.transport_sockets.tls.v3.Secret",
                _ => return walker.skip(),
            };
            let place = Place {
                message: tables::message(type_name),
                ..Place::default()
            };
            walker.objects(&mut |walker| walker.bare(place))
        })
    },
};
