//! A gRPC server that is configured by xDS: the address on which it listens, and the Listener for
//! which it asks (A36).
//!
//! The name comes from `server_listener_resource_name_template` of the bootstrap, with the address
//! for `%s`. The address is text: `0.0.0.0:PORT` in grpc-java, and in grpc-go what its listener
//! says of itself, `[::]:PORT` for `:PORT`.

use super::target::percent_encode;
use xdsctl_clients::bootstrap::Bootstrap;
use xdsctl_clients::core::convert::resource_name::is_path;

/// A server, by its address and the Listener for which it asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListeningServer {
    /// The address, as `host:port`.
    pub address: String,
    /// The name of the Listener to ask for.
    pub listener: String,
}

impl ListeningServer {
    /// The server at an address; `None` if the bootstrap has no template, without which no server starts.
    ///
    /// In a template for `xdstp:` names the address is percent-encoded (A47).
    pub fn of(address: &str, bootstrap: &Bootstrap) -> Option<ListeningServer> {
        let template = bootstrap.server_listener_template.as_str();
        let listener = match template {
            "" => return None,
            _ if template.starts_with("xdstp:") => template.replace("%s", &percent_encode(address, is_path)),
            _ => template.replace("%s", address),
        };
        Some(ListeningServer {
            address: address.to_owned(),
            listener,
        })
    }

    /// Says whether a Listener with the address `own` is for this server. A port of 0 stands for
    /// any port (grpc-go).
    pub fn is_meant(&self, own: &str) -> bool {
        let of_any_port = own.strip_suffix(":0");
        let host = || self.address.rsplit_once(':').map(|(host, _)| host);
        own == self.address || of_any_port.is_some() && of_any_port == host()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(template: &str, address: &str, listener: Option<&str>) {
        let bootstrap = Bootstrap {
            server_listener_template: template.into(),
            ..Bootstrap::default()
        };
        let found = ListeningServer::of(address, &bootstrap).map(|server| server.listener);
        assert_eq!(found.as_deref(), listener, "{template}");
    }

    #[test]
    fn the_template_makes_the_name() {
        check("grpc/server?address=%s", "[::]:80", Some("grpc/server?address=[::]:80"));
        check("xdstp://a/l/%s", "[::]:80", Some("xdstp://a/l/%5B::%5D:80"));
        check("", "[::]:80", None);
    }
}
