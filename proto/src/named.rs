//! Names of the message types of the xDS APIs, most of which no gRPC client reads.
//!
//! [`tables`] has what xdsctl reads. A type that is in neither is a type of somebody else, or a misspelt one.

use std::sync::LazyLock;

use crate::tables;

/// A package a line: `envoy.config.cluster.v3: CircuitBreakers Cluster ...`.
static LISTED: &str = include_str!("../type-names.txt");

/// The full names, sorted.
static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let lines = LISTED.lines().filter(|line| !line.starts_with('#'));
    let packages = lines.filter_map(|line| line.split_once(": "));
    let listed = packages.flat_map(|(package, names)| names.split(' ').map(move |name| format!("{package}.{name}")));
    let read = tables::MESSAGES.iter().map(|message| message.full_name.to_owned());
    let mut names: Vec<String> = listed.chain(read).collect();
    names.sort_unstable();
    names.dedup();
    names
});

/// Every name, sorted.
pub fn all() -> impl Iterator<Item = &'static str> {
    NAMES.iter().map(String::as_str)
}

/// Says whether a message of this full name is known.
///
/// ```
/// use xdsctl_proto::named::is_known;
/// assert!(is_known("envoy.extensions.filters.http.lua.v3.Lua"));
/// assert!(!is_known("envoy.extensions.filters.http.lua.v3.Lau"));
/// ```
pub fn is_known(full_name: &str) -> bool {
    NAMES.binary_search_by(|name| name.as_str().cmp(full_name)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_every_origin_are_known() {
        for name in [
            "envoy.extensions.filters.http.lua.v3.Lua",
            "envoy.config.filter.network.thrift_proxy.v2alpha1.ThriftProxy",
            "envoy.extensions.filters.network.kafka_broker.v3.KafkaBroker",
            "envoy.config.cluster.v3.Cluster.CommonLbConfig",
            "google.protobuf.Empty",
            "xds.type.matcher.v3.Matcher",
            "xds.service.orca.v3.OrcaLoadReportRequest",
        ] {
            assert!(is_known(name), "{name}");
        }
        assert!(!is_known("envoy.config.cluster.v3") && !is_known(""));
        assert!(all().count() > 1_500);
    }
}
