//! An Envoy bootstrap file: its static resources, which are plain messages.

use xdsctl_proto::tables;

use super::raw::Label;
use super::walker::{Place, Walker};
use super::{Clue, Result, Shape};

/// `{"static_resources": {...}}`.
pub(super) static SHAPE: Shape = Shape {
    claims: |clue| {
        clue.is("static_resources", b'{')
            || clue.is("dynamic_resources", b'{')
            || clue.is("admin", b'{')
            || matches!(clue, Clue::Type("envoy.config.bootstrap.v3.Bootstrap"))
    },
    walk: |walker| {
        walker.recognised = true;
        walker.fields(&mut |walker, key| match key {
            "static_resources" => walk_static(walker),
            _ => walker.skip(),
        })
    },
};

fn walk_static(walker: &mut Walker<'_, '_>) -> Result<()> {
    walker.fields(&mut |walker, key| {
        let type_name = match key {
            "listeners" => "envoy.config.listener.v3.Listener",
            "clusters" => "envoy.config.cluster.v3.Cluster",
            "secrets" => "envoy.extensions.transport_sockets.tls.v3.Secret",
            _ => return walker.skip(),
        };
        let place = Place {
            message: tables::message(type_name),
            label: Label::Static,
            ..Place::default()
        };
        walker.elements(&mut |walker, _| walker.bare(place))
    })
}
