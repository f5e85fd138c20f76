//! A control plane's snapshot, as kgateway prints it: lists of untyped resources under the plural
//! of their type's name.

use xdsctl_proto::tables;

use super::slot::SlotPlace;
use super::walker::Walker;
use super::{Result, Shape, UNKNOWN_SHAPE, wrapper};
use crate::source::Span;
use xdsctl_model::resource::ResourceType;

/// `{"clusters": [...], "endpoints": [...], "listeners": [...], "routes": [...]}`, in lower or
/// capital letters.
pub(super) static SHAPE: Shape = Shape {
    // `endpoints` alone would be a ClusterLoadAssignment.
    claims: |clue| {
        ["clusters", "listeners", "routes"]
            .iter()
            .any(|list| clue.is(list, b'['))
    },
    walk: walk_snapshot,
};

/// Returns the type of the resources in a list with this name.
pub(super) fn listed(key: &str) -> Option<ResourceType> {
    match key {
        "clusters" => Some(ResourceType::Cluster),
        "endpoints" => Some(ResourceType::Endpoints),
        "listeners" => Some(ResourceType::Listener),
        "routes" => Some(ResourceType::RouteConfiguration),
        _ => None,
    }
}

/// Says whether one of the words of a key, such as `lds` or `prod-listeners`, names the type.
pub(super) fn is_named(key: &str, resource_type: ResourceType) -> bool {
    let names: &[&str] = match resource_type {
        ResourceType::Listener => &["lds", "listener", "listeners"],
        ResourceType::RouteConfiguration => &["rds", "route", "routes"],
        ResourceType::Cluster => &["cds", "cluster", "clusters"],
        ResourceType::Endpoints => &["eds", "endpoint", "endpoints"],
    };
    key.split(['-', '_', '.', '/']).any(|word| names.contains(&word))
}

/// Reads the lists whose first element fits the type. Many other tools have lists called
/// `clusters`, `listeners` or `routes`.
fn walk_snapshot(walker: &mut Walker<'_, '_>) -> Result<()> {
    let start = walker.pos();
    let mut lists = 0;
    let mut passed = Vec::new();
    walker.fields(&mut |walker, key| {
        let type_name = match (key, listed(key)) {
            (_, Some(resource_type)) => resource_type.type_name(),
            ("secrets", None) => "envoy.extensions.transport_sockets.tls.v3.Secret",
            (key, _) => return walker.beside(key),
        };
        let place = SlotPlace {
            message: tables::message(type_name),
            ..SlotPlace::default()
        };
        // Only the names of secrets are read.
        if let Some(message) = place.message
            && !walker.may_hold(message)?
        {
            let start = walker.pos();
            let is_list = walker.tc.scan.peek() == b'[';
            walker.skip()?;
            let span = Span::new(start, walker.pos());
            passed.extend(is_list.then(|| (key.to_owned(), span)));
            return Ok(());
        }
        lists += usize::from(key != "secrets");
        walker.objects(&mut |walker| walker.bare(place))
    })?;
    if lists > 0 {
        walker.recognised = true;
        // A single list may be a file with the resources of one type, which is not a whole dump.
        walker.loader.dumps.extend(walker.world.filter(|_| lists > 1));
        for (key, span) in passed {
            let message = format!("the first of `{key}` is no such resource, the list is not checked");
            walker.report(&UNKNOWN_SHAPE, span, message);
        }
        return Ok(());
    }
    walker.tc.scan.set_pos(start);
    (wrapper::SHAPE.walk)(walker)
}
