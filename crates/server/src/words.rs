//! Words for servers that do not serve, and for handshakes that fail.

use crate::certificate::time_text;
use crate::handshake::HandshakeFault;
use crate::serving::NotServing;
use xdsctl_channel::client::server::ListeningServer;

/// Says why a server does not serve.
pub fn not_serving(server: &ListeningServer, why: &NotServing) -> String {
    let ListeningServer { address, listener } = server;
    let name = format!("`{listener}`");
    let why = match why {
        NotServing::NotAskedFor(why) => format!("{name} cannot be asked for: {why}"),
        NotServing::Missing { near: None } => format!("{name} is not there"),
        NotServing::Missing { near: Some(near) } => format!("{name} is not there; did you mean `{near}`?"),
        NotServing::Rejected(why) => format!("{name} is not taken: {why}"),
        NotServing::ApiListener => format!("{name} has an api_listener, which is for clients"),
        NotServing::EqualRoutes { host, route } => {
            format!("in its routes virtual_hosts[{host}].routes[{route}] is equal to one before it")
        }
        NotServing::RoutesByRds(routes) => {
            format!("routes `{routes}` come by RDS, which ends such a server with the first connection")
        }
        NotServing::RoutesRejected(routes, why) => {
            format!("RouteConfiguration `{routes}` is not taken, and the server waits for a good one: {why}")
        }
        NotServing::OtherAddress(own) => format!("{name} is for {own}"),
        NotServing::CameBack => {
            format!("{name} came back as it was before it had gone away, which such a server does not hear of")
        }
        NotServing::Ended(words) => format!("the program has ended ({words})"),
    };
    format!("{why}, so a server at {address} does not serve")
}

/// Says why a handshake fails.
pub fn handshake_fault(fault: &HandshakeFault) -> String {
    match fault {
        HandshakeFault::TlsToPlaintext => "the client speaks TLS".to_owned(),
        HandshakeFault::PlaintextToTls => "the client speaks plaintext".to_owned(),
        HandshakeFault::NoProvider(name) => {
            format!("certificate provider `{name}` lacks what the chain needs of it")
        }
        HandshakeFault::NoHttp2 => "alpn_protocols has no h2".to_owned(),
        HandshakeFault::NoCertificate => "it has none".to_owned(),
        HandshakeFault::Untrusted => "no root that the server trusts is above its own".to_owned(),
        HandshakeFault::ForOthers => "its own is not for clients, as its extended key usage says".to_owned(),
        HandshakeFault::NotYetValid(from) => format!("its own is valid only from {}", time_text(*from)),
        HandshakeFault::Expired(until) => format!("its own has expired at {}", time_text(*until)),
    }
}
