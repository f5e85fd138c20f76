//! Why a channel has no configuration, in the words of clients that hand failures on (grpc-go xds_resolver.go).

use super::Client;
use super::config::ChannelFailureClass;
use super::resolve::Absent;
use xdsctl_model::profile::Feature;

/// What a client that hands failures on says of a resource that cannot be used.
pub(super) fn absent_in_words(kind: &str, name: &str, absent: &Absent) -> String {
    match absent.class {
        ChannelFailureClass::Missing => format!("xds: resource \"{name}\" of type \"{kind}\" has been removed"),
        _ => absent.text.clone(),
    }
}

/// The failure of a channel in the words of clients that hand failures on.
pub(super) fn in_words(client: &Client, kind: &str, (name, authority): (&str, &str), absent: &Absent) -> String {
    let has_node_id = client.profile.has(Feature::NodeIdFirst);
    let (of, resource) = match kind {
        "LDS" => ("listener", "ListenerResource"),
        _ => ("route", "RouteConfigResource"),
    };
    let inner = match absent.class {
        ChannelFailureClass::NoVirtualHost if !has_node_id => {
            return format!("no matching virtual host found for \"{authority}\"");
        }
        _ if !has_node_id => return absent_in_words(resource, name, absent),
        ChannelFailureClass::NoVirtualHost => {
            client.with_node_id(&format!("could not find VirtualHost for \"{authority}\""))
        }
        _ => {
            let words = client.with_node_id(&absent_in_words(resource, name, absent));
            format!("{of} resource error: {words}")
        }
    };
    client.with_node_id(&format!("rpc error: code = Unavailable desc = {inner}"))
}
