//! What the servers of one language do in their own ways.
//!
//! A family's file in `family` has one of these, and the layers ask it; none of them names a family.

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};

use crate::connection::{PeerCertificate, Rpc};
use xdsctl_channel::client::Client;
use xdsctl_model::resource::domain::DomainComparison;
use xdsctl_model::resource::listener::TcpListener;
use xdsctl_model::status::Code;

/// What kind of name of a certificate is compared with a principal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameKind {
    /// An alternative name that is a URI.
    Uri,
    /// An alternative name that is a DNS name.
    Dns,
    /// The subject, or an empty text where there is no certificate.
    Subject,
}

/// What a server makes of a condition that it takes and does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnsupportedCondition {
    /// It never matches.
    Never,
    /// It is as if it were not there.
    PassedOver,
}

/// What becomes of metadata conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetadataCondition {
    /// They match if they are inverted.
    Inverted,
    /// They never match.
    Never,
}

/// Which source types of filter chains count for a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceTypes {
    /// ANY where no chain of the destination has another one, else that of the connection.
    AnyAlone,
    /// That of the connection, and ANY where no chain of the destination has it.
    AnyElse,
    /// That of the connection, and ANY beside it. Several chains that are left close the connection.
    AnyToo,
}

/// What a server makes of chains whose routes come by RDS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoutesByRds {
    /// It serves, and fails RPCs while there are no good ones.
    Served,
    /// It waits while they are rejected, and serves if they do not exist.
    GoodAwaited,
    /// They end the program with the first connection, or are waited for.
    Fatal,
}

/// Which virtual host an RPC gets to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostChoice {
    /// The one with the best domain for its authority.
    Best,
    /// The last one of all, if any has the authority.
    LastIfAny,
}

/// What `authenticated` asks of a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Authentication {
    /// TLS, and with a matcher a name that matches.
    Tls,
    /// A certificate; with a matcher a name that matches, which is empty for a peer without a certificate.
    Certificate,
}

/// What becomes of an RPC without `:authority`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoAuthority {
    /// It has an empty one.
    Empty,
    /// It fails with UNKNOWN.
    Unknown,
    /// Its stream is reset.
    Reset,
}

/// Which of two ranges of addresses is the more specific one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RangeRanks {
    /// The longer one; a match without a range is behind a range of length 0.
    NoneLast,
    /// The longer one; a match without a range is like a range of length 0.
    NoneIsZero,
}

/// Which updates of a Listener are changes, so that the connections before them are drained.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DrainsOn {
    /// Another value of what the client reads, names of chains apart.
    #[default]
    Read,
    /// Another value of what the client reads.
    ReadAndNames,
    /// Any other text.
    Any,
}

/// When new files of certificates are used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Rotation {
    /// As they are: connections are closed while a certificate and its key do not belong together.
    #[default]
    AsTheyAre,
    /// Those that can be used; before that, the ones before.
    Usable,
    /// Those that can be used, and where a chain uses both an identity and roots of a provider, only once both were written again.
    UsableAndWhole,
}

/// What a server does over time that others do not.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lifetime {
    /// Which updates drain connections.
    pub drains_on: DrainsOn,
    /// Milliseconds after which a drained connection is closed, whatever goes on there; `None` for never.
    pub drain_grace: Option<i64>,
    /// What an RPC ends with that is cut off then; `None` if its stream is reset.
    pub cut_off: Option<(Code, &'static str)>,
    /// When new files of certificates are used.
    pub rotation: Rotation,
    /// A Listener with RBAC policies is another one whenever it is sent.
    pub policies_differ: bool,
    /// A Listener that is sent after one that was rejected is another one.
    pub differs_after_rejection: bool,
    /// How an update is compared with the Listener before it, newer one first, where that is not by value.
    pub compares: Option<fn(&TcpListener, &TcpListener) -> Comparison>,
    /// A connection that several chains take ends the program.
    pub ends_at_several: bool,
    /// An RPC that is let in, to a method that the server does not have, ends the program.
    pub ends_at_unimplemented: bool,
    /// A filter chain with a source type that does not exist ends the program.
    pub ends_at_unknown_type: bool,
    /// A range of IPv6 that an address of IPv4 is compared with ends the program.
    pub ends_at_ipv6: bool,
    /// A Listener that has gone away and comes back as it was is not served.
    pub stays_away: bool,
    /// A Listener for another address leaves connections as they are.
    pub keeps_at_other_address: bool,
}

/// What comes of comparing a Listener with the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// They count as the same: the one before stays in use.
    Same,
    /// The newer one is another.
    Other,
    /// The comparison ends the program.
    Ends,
}

/// Which addresses are of the loopback interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loopback {
    /// `127.0.0.1` and `::1`.
    One,
    /// `127.0.0.0/8` and `::1`.
    Net,
}

/// Why an RPC does not get to its filters, or is kept out by them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal<'r> {
    /// The RouteConfiguration of this name is not there.
    NoRoutes(&'r str),
    /// That of this name was rejected, for this reason.
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
    /// The server has no such method.
    Unimplemented(&'r str),
}

/// Names of a peer, each with its kind.
pub type PeerNames<'p> = Vec<(NameKind, Cow<'p, str>)>;

/// Every URI and DNS name of a certificate, then its subject; an empty subject without a certificate.
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

/// The names of the first kind of which there is one.
pub(crate) fn names_of_first_kind(peer: Option<&PeerCertificate>) -> PeerNames<'_> {
    let mut names = all_names(peer);
    if let Some((first, _)) = names.first() {
        let first = *first;
        names.retain(|(kind, _)| *kind == first);
    }
    names
}

/// The ways of one server.
#[derive(Clone)]
pub struct ServerDialect {
    /// A Listener for another address than the server's own is not served.
    pub compares_address: bool,
    /// Where the server listens, as it says itself, if its program asks for this address.
    pub listens: fn(&str) -> String,
    /// A resource to which the client does not answer ends the program.
    pub ends_at_resources: bool,
    /// Without a template in the bootstrap the program serves all the same, and without xDS.
    pub serves_without_template: bool,
    /// Chains whose routes come by RDS.
    pub routes_by_rds: RoutesByRds,
    /// The virtual host of an RPC.
    pub hosts: HostChoice,
    /// A server does not begin to serve with two routes that are equal.
    pub stops_at_equal_routes: bool,
    /// The form in which it sees an address.
    pub address: fn(SocketAddr) -> IpAddr,
    /// Which ranges of filter chains are more specific.
    pub ranges: RangeRanks,
    /// Source port 0 of a filter chain is any.
    pub port_zero_is_any: bool,
    /// Several chains that are left close the connection; otherwise, the first one takes it.
    pub several_close: bool,
    /// Which source types of filter chains count.
    pub source_types: SourceTypes,
    /// What SAME_IP_OR_LOOPBACK is, besides the server's own address.
    pub loopback: Loopback,
    /// The value of a header that policies see, if any.
    pub policy_header: for<'r> fn(&'r Rpc, &str) -> Option<Cow<'r, str>>,
    /// The value of a header that the matchers of routes see, if any.
    pub route_header: for<'r> fn(&'r Rpc, &str) -> Option<Cow<'r, str>>,
    /// The names of a peer that a principal may have, in order. `None` is a peer without a certificate.
    pub names: for<'p> fn(Option<&'p PeerCertificate>) -> PeerNames<'p>,
    /// What makes a peer an authenticated one.
    pub authentication: Authentication,
    /// Conditions of kinds that the server does not have.
    pub unsupported: UnsupportedCondition,
    /// Metadata conditions.
    pub metadata: MetadataCondition,
    /// The principals of a policy are looked at before its permissions.
    pub principals_first: bool,
    /// How domains are compared with `:authority`.
    pub domains: DomainComparison,
    /// A chain with roots asks for a certificate where it requires none, too.
    pub asks_optionally: bool,
    /// A certificate provider works only with both an identity and roots, whatever it is used for.
    pub needs_whole_provider: bool,
    /// Roots of the identity's provider stand in for those of a provider whose files are not there.
    pub borrows_roots: bool,
    /// An RPC without `:authority`.
    pub no_authority: NoAuthority,
    /// What the code is while there are no routes.
    pub missing_routes: Code,
    /// Overrides of filters in virtual hosts and routes change nothing.
    pub ignores_overrides: bool,
    /// Where a certificate is asked for and not required, a bad one is as good as none.
    pub takes_bad_certificates: bool,
    /// A method that the server does not have is refused before anything else is looked at.
    pub unimplemented_first: bool,
    /// The words of a refusal, as far as they are known, for a client with this node and this profile.
    pub words: fn(Refusal<'_>, &Client) -> String,
    /// What it does over time.
    pub lifetime: Lifetime,
}
