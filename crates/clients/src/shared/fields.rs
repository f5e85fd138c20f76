//! How all clients open a field: the kinds of a oneof that gRPC knows, and the name of a locality.

use xdsctl_document::proto::pb::Any;
use xdsctl_document::proto::pb::envoy::config::core::v3::config_source::ConfigSourceSpecifier;
use xdsctl_document::proto::pb::envoy::config::core::v3::socket_address::PortSpecifier;
use xdsctl_document::proto::pb::envoy::config::core::v3::{
    Address, ConfigSource, HealthStatus as HealthPb, SocketAddress, TransportSocket, address, transport_socket,
};
use xdsctl_document::proto::pb::envoy::config::endpoint::v3::lb_endpoint::HostIdentifier;
use xdsctl_document::proto::pb::envoy::config::endpoint::v3::{Endpoint, LbEndpoint, LocalityLbEndpoints};
use xdsctl_document::proto::pb::envoy::config::listener::v3::{Filter, filter};
use xdsctl_document::proto::pb::envoy::extensions::filters::network::http_connection_manager::v3::{
    HttpFilter, http_filter,
};
use xdsctl_document::proto::wire;
use xdsctl_model::host_port::join_host_port;
use xdsctl_model::resource::cluster::HealthStatus;
use xdsctl_model::resource::endpoints::LocalityName;

/// Returns the fields that are set, in their order.
pub(crate) fn set_of<const N: usize>(fields: [(&'static str, bool); N]) -> impl Iterator<Item = &'static str> {
    fields.into_iter().filter_map(|(field, is_set)| is_set.then_some(field))
}

/// Returns how many parts per million one part of a FractionalPercent is; `None` for a denominator
/// that is not in the enum.
pub(crate) const fn per_million(denominator: i32) -> Option<u32> {
    match denominator {
        0 => Some(10_000),
        1 => Some(100),
        2 => Some(1),
        _ => None,
    }
}

/// Returns the health in which some client keeps an endpoint: UNKNOWN, HEALTHY or DRAINING; `None`
/// for every other number of the enum.
pub(crate) fn health_status(number: i32) -> Option<HealthStatus> {
    match HealthPb::try_from(number) {
        Ok(HealthPb::Unknown) => Some(HealthStatus::Unknown),
        Ok(HealthPb::Healthy) => Some(HealthStatus::Healthy),
        Ok(HealthPb::Draining) => Some(HealthStatus::Draining),
        Ok(HealthPb::Unhealthy | HealthPb::Timeout | HealthPb::Degraded) | Err(_) => None,
    }
}

/// Says whether metadata has an entry with one of these names, typed or not. Reads nothing but the
/// names.
pub(crate) fn has_metadata(metadata: &[u8], names: &[&str]) -> bool {
    wire::map_keys(metadata).any(|key| names.iter().any(|name| name.as_bytes() == key))
}

/// Returns the socket address in an address, if it is one.
pub(crate) fn socket(address: Option<&Address>) -> Option<&SocketAddress> {
    match address?.address.as_ref()? {
        address::Address::SocketAddress(socket) => Some(socket),
        _ => None,
    }
}

/// Returns the endpoint in an entry of a locality; `None` if the entry only names one.
pub(crate) fn endpoint(entry: &LbEndpoint) -> Option<&Endpoint> {
    match entry.host_identifier.as_ref()? {
        HostIdentifier::Endpoint(endpoint) => Some(endpoint),
        HostIdentifier::EndpointName(_) => None,
    }
}

/// Returns host and port in one text. A port is printed as a signed number, and is 0 if there is
/// none.
pub(crate) fn host_port(socket: &SocketAddress) -> String {
    join_host_port(&socket.address, port(socket).unwrap_or(0).cast_signed())
}

/// Returns the port, if it is a number.
pub(crate) fn port(socket: &SocketAddress) -> Option<u32> {
    match socket.port_specifier {
        Some(PortSpecifier::PortValue(port)) => Some(port),
        Some(PortSpecifier::NamedPort(_)) | None => None,
    }
}

/// Says whether a source is the server that sent the resource.
pub(crate) fn is_self(source: &ConfigSource) -> bool {
    matches!(source.config_source_specifier, Some(ConfigSourceSpecifier::Self_(_)))
}

/// Says whether a source is ADS, or the server that sent the resource.
pub(crate) fn is_ads_or_self(source: Option<&ConfigSource>) -> bool {
    is_ads(source, true)
}

/// Says whether a source is ADS, or with `takes_self` the server that sent the resource.
pub(crate) fn is_ads(source: Option<&ConfigSource>, takes_self: bool) -> bool {
    source.is_some_and(|source| match source.config_source_specifier {
        Some(ConfigSourceSpecifier::Ads(_)) => true,
        _ => takes_self && is_self(source),
    })
}

/// Returns the config of a transport socket.
pub(crate) fn socket_config(socket: &TransportSocket) -> Option<&Any> {
    let transport_socket::ConfigType::TypedConfig(any) = socket.config_type.as_ref()?;
    Some(any)
}

/// Returns the config of a network filter, if it is in the message.
pub(crate) fn network_config(filter: &Filter) -> Option<&Any> {
    match filter.config_type.as_ref()? {
        filter::ConfigType::TypedConfig(any) => Some(any),
        filter::ConfigType::ConfigDiscovery(_) => None,
    }
}

/// Returns the config of an HTTP filter, if it is in the message.
pub(crate) fn http_config(filter: &HttpFilter) -> Option<&Any> {
    match filter.config_type.as_ref()? {
        http_filter::ConfigType::TypedConfig(any) => Some(any),
        http_filter::ConfigType::ConfigDiscovery(_) => None,
    }
}

/// Returns the name of a locality; empty if it has none.
pub(crate) fn locality_name(message: &LocalityLbEndpoints) -> LocalityName {
    let name = message.locality.clone().unwrap_or_default();
    LocalityName {
        region: name.region,
        zone: name.zone,
        sub_zone: name.sub_zone,
    }
}
