//! An Envoy bootstrap file: its static resources, which are plain messages, and the files from
//! which it takes others.

use xdsctl_proto::tables;

use super::raw::Label;
use super::slot::SlotPlace;
use super::walker::Walker;
use super::{Clue, Result, Shape, csds};
use crate::proto::transcode::BAD_VALUE;
use crate::source::Span;

/// The shape `{"static_resources": {...}}`.
pub(super) static SHAPE: Shape = Shape {
    claims: |clue| {
        clue.is("static_resources", b'{')
            || clue.is("dynamic_resources", b'{')
            || clue.is("admin", b'{')
            || matches!(clue, Clue::Type("envoy.config.bootstrap.v3.Bootstrap"))
    },
    walk: |walker| {
        walker.recognised = true;
        walker.tc.scan.peek();
        path_sources(walker)?;
        walk_bootstrap(walker, &[])
    },
};

/// Reads the static resources of the bootstrap at the scanner, except the lists in `shown`, which
/// other sections repeat.
pub(super) fn walk_bootstrap(walker: &mut Walker<'_, '_>, shown: &[&str]) -> Result<()> {
    walker.fields(&mut |walker, key| match key {
        "static_resources" => walk_static(walker, shown),
        "node" => csds::walk_node(walker).map(drop),
        "dynamic_resources" | "admin" => walker.skip(),
        key => walker.beside(key),
    })
}

fn walk_static(walker: &mut Walker<'_, '_>, shown: &[&str]) -> Result<()> {
    walker.fields(&mut |walker, key| {
        let type_name = match key {
            _ if shown.contains(&key) => return walker.skip(),
            "listeners" => "envoy.config.listener.v3.Listener",
            "clusters" => "envoy.config.cluster.v3.Cluster",
            "secrets" => "envoy.extensions.transport_sockets.tls.v3.Secret",
            _ => return walker.skip(),
        };
        let place = SlotPlace {
            message: tables::message(type_name),
            label: Label::Static,
            ..SlotPlace::default()
        };
        if walker.tc.scan.peek() == b'{' {
            let start = walker.pos();
            let message = "this is an object, must be a list: it is read as a list of one, as Envoy does";
            walker.report(&BAD_VALUE, Span::new(start, start + 1), message.to_owned());
            return walker.bare(place);
        }
        walker.objects(&mut |walker| walker.bare(place))
    })
}

/// How deeply objects are searched for paths.
const MAX_NESTING: usize = 64;

/// Records every path-based config source in the value at the scanner, which stays where it is.
pub(super) fn path_sources(walker: &mut Walker<'_, '_>) -> Result<()> {
    let start = walker.pos();
    search(walker, "", MAX_NESTING)?;
    walker.tc.scan.set_pos(start);
    Ok(())
}

fn search(walker: &mut Walker<'_, '_>, holder: &str, nesting: usize) -> Result<()> {
    match walker.tc.scan.peek() {
        b'[' if nesting > 0 => walker.elements(&mut |walker, _| search(walker, holder, nesting - 1)),
        b'{' if nesting > 0 => walker.fields(&mut |walker, key| {
            match key {
                "path" if is_config_source(holder) && walker.tc.scan.peek() == b'"' => {
                    let start = walker.pos();
                    let path = walker.text()?.unwrap_or_default();
                    let span = Span::new(start, walker.pos());
                    walker.path_source(path, span);
                    Ok(())
                }
                // Sources of secrets: gRPC does not ask for them, and a check should not open them.
                "sds_config" => walker.skip(),
                _ => search(walker, key, nesting - 1),
            }
        }),
        _ => walker.skip(),
    }
}

/// Says whether a field of this name is a ConfigSource, or the part of one that holds the path.
fn is_config_source(field: &str) -> bool {
    field.ends_with("config_source") || matches!(field, "lds_config" | "cds_config" | "eds_config" | "rds_config")
}
