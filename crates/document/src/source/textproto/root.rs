//! Decides which message a document in text format is.

use xdsctl_proto::tables::{self, Cardinality, Kind, Message, WellKnown};

use super::parse::{TextValue, TextprotoTree};

/// The messages that people keep in text format, the most likely first.
const CANDIDATES: &[&str] = &[
    "envoy.config.cluster.v3.Cluster",
    "envoy.config.endpoint.v3.ClusterLoadAssignment",
    "envoy.config.route.v3.RouteConfiguration",
    "envoy.config.listener.v3.Listener",
    "google.protobuf.Any",
    "envoy.service.discovery.v3.DiscoveryResponse",
    "envoy.service.discovery.v3.DeltaDiscoveryResponse",
    "envoy.service.discovery.v3.Resource",
    "envoy.service.status.v3.ClientStatusResponse",
    "envoy.service.status.v3.ClientConfig",
    "envoy.admin.v3.ConfigDump",
    "envoy.config.bootstrap.v3.Bootstrap",
];

/// The number of levels of fields that are compared with a type.
const DEPTH: usize = 4;

/// The number of fields of one message that are compared with a type.
const BREADTH: usize = 64;

/// Returns the type of a document: the one in its header, else `preferred` if it fits, else the
/// type that fits best.
pub(super) fn find(tree: &TextprotoTree<'_>, preferred: Option<&'static Message>) -> Option<&'static Message> {
    if let Some(header) = tree.header
        && let Ok(name) = std::str::from_utf8(tree.slice(header))
        && let Some(message) = tables::message(name.rsplit('/').next().unwrap_or_default())
    {
        return Some(message);
    }
    let candidates = CANDIDATES.iter().filter_map(|name| tables::message(name));
    let total = tree.fields(tree.first).take(BREADTH).count();
    preferred
        .into_iter()
        .chain(candidates)
        .map(|message| (misfits(tree, tree.first, message, DEPTH), message))
        // If several fit equally well, the first one counts.
        .min_by_key(|(misfits, _)| *misfits)
        // A single field that fits by chance proves nothing.
        .filter(|((top, _), _)| total == 0 || top * 2 < total || preferred.is_some() && *top < total)
        .map(|(_, message)| message)
}

/// Returns how many fields do not fit this type: fields of the message itself, and fields below it.
fn misfits(tree: &TextprotoTree<'_>, first: u32, message: &'static Message, depth: usize) -> (usize, usize) {
    let (mut here, mut below) = (0, 0);
    for node in tree.fields(first).take(BREADTH) {
        let name = std::str::from_utf8(tree.slice(node.name)).unwrap_or_default();
        if node.bracketed {
            here += usize::from(message.well_known != WellKnown::Any);
            continue;
        }
        let Some(field) = message.field_by_name(name) else {
            here += 1;
            continue;
        };
        let kind = match (field.cardinality, field.kind) {
            // Map entries are messages.
            (Cardinality::Map { .. }, _) | (_, Kind::Message(_)) => field.kind.message(),
            _ => None,
        };
        match (node.value, kind) {
            (TextValue::Message { first, .. }, Some(inner)) if depth > 0 => {
                let (top, deep) = misfits(tree, first, inner, depth - 1);
                below += top + deep;
            }
            (TextValue::Message { .. }, Some(_)) => {}
            (TextValue::Message { .. }, None) | (_, Some(_)) => below += 1,
            _ => {}
        }
    }
    (here, below)
}
