//! How the servers of one language differ from others.
//!
//! A family's file in `family` makes such a dialect, and the layers ask it; none of them names a
//! family.

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};

use crate::connection::{PeerCertificate, Rpc};
use xdsctl_channel::client::Client;
use xdsctl_model::resource::domain::DomainComparison;
use xdsctl_model::resource::listener::TcpListener;
use xdsctl_model::status::Code;

/// A kind of name in a certificate that is compared with a principal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameKind {
    /// An alternative name that is a URI.
    Uri,
    /// An alternative name that is a DNS name.
    Dns,
    /// The subject, or an empty text if there is no certificate.
    Subject,
}

/// Which source types a filter chain may have to take a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceTypes {
    /// ANY if no chain of the destination has another source type, or else the type of the
    /// connection.
    AnyAlone,
    /// The type of the connection, or ANY if no chain of the destination has that type.
    AnyElse,
    /// Both the type of the connection and ANY. If several chains are left, the connection is
    /// closed.
    AnyToo,
}

/// What a server does with chains whose routes come by RDS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoutesByRds {
    /// The server serves, and fails RPCs while there are no valid routes.
    Served,
    /// The server waits while the routes are rejected, and serves if they do not exist.
    GoodAwaited,
    /// The server does not serve: the first connection ends the program, or the server waits for
    /// the routes.
    Fatal,
}

/// What happens to an RPC without `:authority`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoAuthority {
    /// The RPC has an empty authority.
    Empty,
    /// The RPC fails with UNKNOWN.
    Unknown,
    /// The stream of the RPC is reset.
    Reset,
}

/// Which updates of a Listener count as changes. A change drains the connections before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DrainsOn {
    /// Updates that change what the client reads, apart from the names of chains.
    #[default]
    Read,
    /// Updates that change what the client reads.
    ReadAndNames,
    /// Updates that change the text of the Listener in any way.
    Any,
}

/// When a server uses new files of certificates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Rotation {
    /// The server uses new files at once. Connections are closed while a certificate and its key do
    /// not belong together.
    #[default]
    AsTheyAre,
    /// The server uses new files once they can be used, and the previous files until then.
    Usable,
    /// Once they can be used. If a chain uses both an identity and roots of a provider, only once
    /// both were written again.
    UsableAndWhole,
}

/// How a server behaves over time, where servers differ.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lifetime {
    /// Which updates drain connections.
    pub drains_on: DrainsOn,
    /// Milliseconds after which a drained connection is closed even if RPCs go on there; `None` for
    /// never.
    pub drain_grace: Option<i64>,
    /// The status of an RPC that is cut off by that; `None` if its stream is reset.
    pub cut_off: Option<(Code, &'static str)>,
    /// When new files of certificates are used.
    pub rotation: Rotation,
    /// Whether a Listener with RBAC policies counts as changed whenever it is sent.
    pub policies_differ: bool,
    /// Whether a Listener that is sent after a rejected one counts as changed.
    pub differs_after_rejection: bool,
    /// Compares an update (first) with the Listener before it, in servers that do not compare by
    /// value.
    pub compares: Option<fn(&TcpListener, &TcpListener) -> Comparison>,
    /// Whether a connection that several chains take ends the program.
    pub ends_at_several: bool,
    /// Whether an RPC that is let in, to a method that the server does not have, ends the program.
    pub ends_at_unimplemented: bool,
    /// Whether a filter chain with a source type that does not exist ends the program.
    pub ends_at_unknown_type: bool,
    /// Whether the program ends when an IPv6 range is compared with an IPv4 address.
    pub ends_at_ipv6: bool,
    /// Whether a Listener that has gone away and comes back as it was is not served.
    pub stays_away: bool,
    /// Whether a Listener for another address leaves connections as they are.
    pub keeps_at_other_address: bool,
}

/// The outcome of comparing a Listener with the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// Both count as the same: the earlier Listener stays in use.
    Same,
    /// The newer one counts as changed.
    Other,
    /// The comparison ends the program.
    Ends,
}

/// Why an RPC does not reach its filters, or is denied by them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal<'r> {
    /// There is no RouteConfiguration of this name.
    NoRoutes(&'r str),
    /// The RouteConfiguration of this name was rejected, for this reason.
    BadRoutes(&'r str, &'r str),
    /// The RPC has no `:authority`.
    NoAuthority,
    /// No virtual host has this authority.
    NoVirtualHost(&'r str),
    /// No route matches.
    NoRoute,
    /// The route's action is for clients.
    InappropriateAction,
    /// No ALLOW policy matches.
    NoPolicy,
    /// The DENY policy of this name matches.
    Policy(&'r str),
    /// The server does not have this method.
    Unimplemented(&'r str),
}

/// The names of a peer, each with its kind.
pub type PeerNames<'p> = Vec<(NameKind, Cow<'p, str>)>;

/// Returns what HTTP/2 has in the pseudo-headers that policies see.
pub(crate) fn pseudo_header<'r>(rpc: &'r Rpc, name: &str) -> Option<Cow<'r, str>> {
    match name {
        ":method" => Some(Cow::Borrowed("POST")),
        ":authority" => Some(Cow::Borrowed(&rpc.authority)),
        ":path" => Some(Cow::Borrowed(&rpc.method)),
        _ => None,
    }
}

/// Returns all URIs and DNS names of a certificate, then its subject; an empty subject without a
/// certificate.
pub(crate) fn all_names(peer: Option<&PeerCertificate>) -> PeerNames<'_> {
    let Some(peer) = peer else {
        return vec![(NameKind::Subject, Cow::Borrowed(""))];
    };
    let uris = peer.uris.iter().map(|uri| (NameKind::Uri, Cow::Borrowed(uri.as_str())));
    let dns = peer.dns_names.iter();
    let dns = dns.map(|name| (NameKind::Dns, Cow::Borrowed(name.as_str())));
    let subject = (NameKind::Subject, Cow::Borrowed(peer.subject.as_str()));
    uris.chain(dns).chain([subject]).collect()
}

/// Returns the names of the first kind that the certificate has.
pub(crate) fn names_of_first_kind(peer: Option<&PeerCertificate>) -> PeerNames<'_> {
    let mut names = all_names(peer);
    if let Some((first, _)) = names.first() {
        let first = *first;
        names.retain(|(kind, _)| *kind == first);
    }
    names
}

/// How the servers of a client behave.
#[derive(Clone)]
pub struct ServerDialect {
    /// Whether a Listener for another address than the server's own is not served.
    pub compares_address: bool,
    /// Returns where the server says that it listens, if its program asks for this address.
    pub listens: fn(&str) -> String,
    /// Whether a resource at which the client crashes, or its parser throws, ends the program.
    pub crashes_at_resources: bool,
    /// Whether the program serves without a template in the bootstrap, and then without xDS.
    pub serves_without_template: bool,
    /// What the server does with chains whose routes come by RDS.
    pub routes_by_rds: RoutesByRds,
    /// Whether an RPC whose authority any virtual host has gets the last virtual host of all;
    /// otherwise, it gets the one with the best domain for the authority.
    pub last_host_wins: bool,
    /// Whether the server does not begin to serve if two routes are equal.
    pub stops_at_equal_routes: bool,
    /// Returns an address in the form in which the server sees it.
    pub address: fn(SocketAddr) -> IpAddr,
    /// Whether a filter chain without a range of addresses is like one with a range of length 0;
    /// otherwise, it comes after such a chain.
    pub no_range_is_zero: bool,
    /// Whether source port 0 of a filter chain means any port.
    pub port_zero_is_any: bool,
    /// Whether several chains that are left close the connection; otherwise, the first one takes
    /// it.
    pub several_close: bool,
    /// Which source types of filter chains count.
    pub source_types: SourceTypes,
    /// Whether all of `127.0.0.0/8` is SAME_IP_OR_LOOPBACK, and not only `127.0.0.1`.
    pub loopback_is_net: bool,
    /// Returns the value of a header that policies see, if any.
    pub policy_header: for<'r> fn(&'r Rpc, &str) -> Option<Cow<'r, str>>,
    /// Returns the value of a header that the matchers of routes see, if any.
    pub route_header: for<'r> fn(&'r Rpc, &str) -> Option<Cow<'r, str>>,
    /// Returns the names of a peer that a principal may have, in order. `None` is a peer without a
    /// certificate.
    pub names: for<'p> fn(Option<&'p PeerCertificate>) -> PeerNames<'p>,
    /// Whether a peer is authenticated by its certificate, and otherwise by TLS alone. With a
    /// matcher, a name must match; the name of a peer without a certificate is empty.
    pub authenticates_by_certificate: bool,
    /// Whether a condition of a kind that the server does not implement is ignored; otherwise, it
    /// never matches.
    pub passes_over_unsupported: bool,
    /// Whether a metadata condition matches if it is inverted; otherwise, it never matches.
    pub inverted_metadata_matches: bool,
    /// Whether the principals of a policy are looked at before its permissions.
    pub principals_first: bool,
    /// How domains are compared with `:authority`.
    pub domains: DomainComparison,
    /// Whether a chain with roots asks for a certificate even if it requires none.
    pub asks_optionally: bool,
    /// Whether a certificate provider works only with both an identity and roots, whatever it is
    /// used for.
    pub needs_whole_provider: bool,
    /// Whether the roots of the identity's provider replace those of a provider without files.
    pub borrows_roots: bool,
    /// What happens to an RPC without `:authority`.
    pub no_authority: NoAuthority,
    /// The status code of RPCs while there are no routes.
    pub missing_routes: Code,
    /// Whether overrides of filters in virtual hosts and routes change nothing.
    pub ignores_overrides: bool,
    /// Whether a bad certificate counts as no certificate where one is asked for but not required.
    pub takes_bad_certificates: bool,
    /// Whether a method that the server does not have is refused before anything else is looked at.
    pub unimplemented_first: bool,
    /// Returns the message of a refusal, as far as it is known, for a client with this node and
    /// this profile.
    pub words: fn(Refusal<'_>, &Client) -> String,
    /// How the server behaves over time.
    pub lifetime: Lifetime,
}
