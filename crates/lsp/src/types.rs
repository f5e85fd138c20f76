//! The messages that an Any may contain at a place. They are from the client's registry for that
//! place, or else those of the right kind in the descriptors.

use lsp_types::CompletionItemKind;

use crate::completion::Item;
use xdsctl_clients::core::filter::{self, FilterPlace};
use xdsctl_document::proto::message_type::{FieldType, MessageType};
use xdsctl_document::proto::place::Place;
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::ResourceType;

/// For each field with an Any, or with a TypedExtensionConfig around one, the prefix of the names
/// of its messages.
static KINDS: &[(&str, &str)] = &[
    (
        "envoy.config.listener.v3.ApiListener.api_listener",
        "envoy.extensions.filters.network.http_connection_manager.",
    ),
    (
        "envoy.config.listener.v3.Filter.typed_config",
        "envoy.extensions.filters.network.",
    ),
    (
        "envoy.config.core.v3.TransportSocket.typed_config",
        "envoy.extensions.transport_sockets.",
    ),
    (
        "envoy.config.cluster.v3.Cluster.CustomClusterType.typed_config",
        "envoy.extensions.clusters.",
    ),
    (
        "envoy.extensions.filters.http.stateful_session.v3.StatefulSession.session_state",
        "envoy.extensions.http.stateful_session.",
    ),
    (
        "envoy.config.rbac.v3.RBAC.AuditLoggingOptions.AuditLoggerConfig.audit_logger",
        "envoy.extensions.rbac.audit_loggers.",
    ),
    (
        "envoy.config.route.v3.ClusterSpecifierPlugin.extension",
        "grpc.lookup.v1.RouteLookupClusterSpecifier",
    ),
    (
        "envoy.config.core.v3.GrpcService.GoogleGrpc.channel_credentials_plugin",
        "envoy.extensions.grpc_service.channel_credentials.",
    ),
    (
        "envoy.config.core.v3.GrpcService.GoogleGrpc.call_credentials_plugin",
        "envoy.extensions.grpc_service.call_credentials.",
    ),
    (
        "xds.type.matcher.v3.Matcher.OnMatch.action",
        "envoy.extensions.filters.http.composite.",
    ),
];

/// The message with a custom LB policy, which it names.
const TYPED_STRUCT: &str = "xds.type.v3.TypedStruct";

/// The prefix if nothing more is known about the field.
const EXTENSION: &str = "envoy.extensions.";

/// Returns the types that the Any at the place may contain.
pub fn of_types(place: &Place) -> Vec<Item> {
    if place.steps.len() == 1 {
        return ResourceType::ALL.map(|kind| item(kind.type_name(), None)).into();
    }
    let is_config = |field: &&FieldType| field.owner().name().ends_with("core.v3.TypedExtensionConfig");
    let holder = place.holders.iter().rev().find(|field| !is_config(field));
    let Some(holder) = holder else {
        return of_kind(EXTENSION);
    };
    let name = format!("{}.{}", holder.owner().name(), holder.name());
    match name.as_str() {
        "envoy.config.cluster.v3.LoadBalancingPolicy.Policy.typed_extension_config" => {
            let messages = xdsctl_lb::message_types().chain([TYPED_STRUCT]);
            messages.map(|name| item(name, None)).collect()
        }
        "envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter.typed_config"
        | "envoy.extensions.common.matching.v3.ExtensionWithMatcher.extension_config"
        | "envoy.extensions.filters.http.composite.v3.ExecuteFilterAction.typed_config" => {
            of_filters(FilterPlace::TopLevel)
        }
        _ if holder.name() == "typed_per_filter_config" => of_filters(FilterPlace::Override),
        _ => {
            let kind = KINDS.iter().find(|(field, _)| *field == name);
            of_kind(kind.map_or(EXTENSION, |(_, begin)| *begin))
        }
    }
}

fn of_filters(place: FilterPlace) -> Vec<Item> {
    filter::types(place).map(|(name, guard)| item(name, guard)).collect()
}

/// Returns the messages whose name begins like this and that can be packed in an Any.
fn of_kind(begin: &str) -> Vec<Item> {
    let read = MessageType::all().filter(|message| message.is_read() && message.is_packed());
    let names = read.map(MessageType::name).filter(|name| name.starts_with(begin));
    names.map(|name| item(name, None)).collect()
}

fn item(name: &str, guard: Option<Feature>) -> Item {
    let switch = guard.and_then(Feature::env);
    let detail = switch.map(|switch| format!("some versions need {switch}=true"));
    Item {
        kind: CompletionItemKind::CLASS,
        ..Item::value(
            &format!("type.googleapis.com/{name}"),
            detail.as_deref().unwrap_or_default(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// If a field is renamed in the API, it must not be skipped silently.
    #[test]
    fn every_kind_has_its_field_and_messages() {
        for (field, begin) in KINDS {
            let (owner, name) = field.rsplit_once('.').unwrap();
            let owner = MessageType::named(owner).unwrap_or_else(|| panic!("{owner}"));
            assert!(owner.field(name).is_some(), "{field}");
            assert!(!of_kind(begin).is_empty(), "{begin}");
        }
    }
}
