//! Endpoints as LB policies receive them, and the order in which some policies sort them.
//!
//! An endpoint has one address or several (A61), its place in the hierarchy (priority child,
//! locality) and its weights. Follows C-core endpoint_addresses.h and address_filtering.h.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::ops::Deref;
use std::sync::Arc;

use xdsctl_model::resource::cluster::HealthStatus;
use xdsctl_model::resource::endpoints::counted_weight;
use xdsctl_model::resource::pieces::Pieces;

/// An endpoint, with what the policies need to know about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Endpoint {
    /// The endpoint's addresses, the primary one first; never empty.
    pub addresses: Arc<[Address]>,
    /// The names from the root of the cluster's tree down: the priority child, the locality. All
    /// endpoints of a locality share it.
    pub path: Arc<[Arc<str>]>,
    /// The weight of the endpoint's locality, at least 1.
    pub locality_weight: u32,
    /// The locality weight times its own weight, in 32 bits with wrap-around (or by the formula of
    /// A113, with its switch).
    pub weight: u32,
    /// UNKNOWN, HEALTHY or DRAINING.
    pub health: HealthStatus,
    /// The name for authority rewriting; may be empty.
    pub hostname: Box<str>,
    /// The key on a hash ring in place of the address (A76); only with its switch.
    pub hash_key: Option<Box<str>>,
}

/// An address with its text. All that hold a connection to it share it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address(Arc<AddressText>);

/// The content of an [`Address`].
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AddressText {
    /// The IP address and port.
    pub socket: SocketAddr,
    /// `1.2.3.4:80` or `[::1]:80`.
    pub text: Arc<str>,
    /// Only connections of the same scope are shared.
    pub scope: Arc<SubchannelScope>,
}

/// What keeps connections to one address apart: the arguments of a subchannel in which the
/// endpoints of a channel differ (C-core `Subchannel::MakeSubchannelArgs`: `xds_cluster_name`,
/// `lb_locality`, `address_name`). Neither the priority nor the EDS service name is one of them. In
/// other clients the locality is not one either, and in grpc-js the cluster is the aggregate that
/// has the leaf, if there is one.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubchannelScope {
    /// The name of the leaf cluster that has the endpoint; empty where clusters share connections.
    pub cluster: Arc<str>,
    /// The name of the locality.
    pub locality: Arc<str>,
    /// The hostname of the endpoint; may be empty.
    pub hostname: Box<str>,
}

impl Deref for Address {
    type Target = AddressText;

    fn deref(&self) -> &AddressText {
        &self.0
    }
}

impl Address {
    /// Makes an address with the client's text for it, of no cluster.
    pub fn new(socket: SocketAddr) -> Address {
        Address::within(socket, &Arc::default())
    }

    /// Makes an address with the client's text for it, within a scope.
    pub fn within(socket: SocketAddr, scope: &Arc<SubchannelScope>) -> Address {
        let text = socket.to_string().into();
        let scope = scope.clone();
        Address(Arc::new(AddressText { socket, text, scope }))
    }

    /// Returns the address as a URI, as failure texts have it: `ipv4:1.2.3.4:80`,
    /// `ipv6:%5B::1%5D:80`.
    pub fn uri(&self) -> String {
        if self.socket.is_ipv4() {
            format!("ipv4:{}", self.text)
        } else {
            format!("ipv6:{}", self.text.replace('[', "%5B").replace(']', "%5D"))
        }
    }
}

/// The position of an address in the order of raw socket addresses: IPv4 first, then port, then
/// address.
pub type AddressKey = (bool, u16, u32, u128, u32);

/// The position of an endpoint: its addresses sorted, compared one after the other (C-core
/// `EndpointAddressSet`).
pub type AddressSet = Vec<AddressKey>;

fn set_of(addresses: &[Address]) -> AddressSet {
    let mut keys: AddressSet = addresses.iter().map(|address| key(&address.socket)).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

fn key(address: &SocketAddr) -> AddressKey {
    match address {
        SocketAddr::V4(v4) => (false, v4.port(), 0, u128::from(v4.ip().to_bits()), 0),
        SocketAddr::V6(v6) => (true, v6.port(), v6.flowinfo(), v6.ip().to_bits(), v6.scope_id()),
    }
}

impl Endpoint {
    /// Returns the text of the first address.
    pub fn name(&self) -> &Arc<str> {
        static NONE: std::sync::LazyLock<Arc<str>> = std::sync::LazyLock::new(|| "".into());
        self.addresses.first().map_or(&NONE, |address| &address.text)
    }

    /// Returns the name of its locality, the last name of its path.
    pub fn locality(&self) -> Option<&Arc<str>> {
        self.path.last()
    }

    /// Returns its position in the order of address sets.
    pub fn address_set(&self) -> AddressSet {
        set_of(&self.addresses)
    }

    /// Returns the weight as policies read it.
    pub fn positive_weight(&self) -> u32 {
        counted_weight(self.weight)
    }
}

/// Endpoints of one locality that follow each other in a list.
pub type Piece = Arc<[Arc<Endpoint>]>;

/// A list of endpoints, which several owners may share. The endpoints of a piece have the same
/// path.
pub type EndpointList = Arc<Pieces<Arc<Endpoint>>>;

/// Returns the list without endpoints, which all empty localities share.
pub fn none() -> &'static EndpointList {
    static NONE: std::sync::LazyLock<EndpointList> = std::sync::LazyLock::new(EndpointList::default);
    &NONE
}

/// Endpoints, by the name at one depth of their hierarchical paths.
pub type EndpointGroups = BTreeMap<Arc<str>, EndpointList>;

/// Groups endpoints by the name at `depth` of their path.
///
/// C-core never takes the last name off a path, so policies further down see it again. With
/// `consumes_names`, endpoints without a name at `depth` are in no group.
pub fn groups(endpoints: &EndpointList, depth: usize, consumes_names: bool) -> EndpointGroups {
    let mut groups: BTreeMap<Arc<str>, Vec<Piece>> = BTreeMap::new();
    for piece in endpoints.pieces() {
        let Some(first) = piece.first() else { continue };
        let last = first.path.last().filter(|_| !consumes_names);
        if let Some(name) = first.path.get(depth).or(last) {
            match groups.get_mut(&**name) {
                Some(group) => group.push(piece.clone()),
                None => drop(groups.insert(name.clone(), vec![piece.clone()])),
            }
        }
    }
    let lists = groups.into_iter();
    lists
        .map(|(name, pieces)| (name, Arc::new(Pieces::of(pieces))))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(texts: &[&str]) -> AddressSet {
        let addresses: Vec<Address> = texts.iter().map(|t| Address::new(t.parse().unwrap())).collect();
        set_of(&addresses)
    }

    #[test]
    fn ports_count_before_addresses() {
        let order = ["10.0.0.1:80", "10.0.0.2:80", "9.0.0.1:443", "10.0.0.1:8080", "[::1]:1"];
        for pair in order.windows(2) {
            assert!(set(&pair[..1]) < set(&pair[1..]), "{pair:?}");
        }
        assert_eq!(
            set(&["10.0.0.2:80", "10.0.0.1:80"]),
            set(&["10.0.0.1:80", "10.0.0.2:80"])
        );
    }

    #[test]
    fn uris_escape_brackets() {
        let uri = |text: &str| Address::new(text.parse().unwrap()).uri();
        assert_eq!(uri("1.2.3.4:80"), "ipv4:1.2.3.4:80");
        assert_eq!(uri("[::1]:80"), "ipv6:%5B::1%5D:80");
    }
}
