//! What override_host knows about one address.

use std::sync::Arc;

use crate::endpoint::{Address, Endpoint};
use crate::runtime::{Connectivity, Handle};

/// What override_host knows about one address (A55).
#[derive(Debug)]
pub(super) struct HostEntry {
    pub address: Address,
    pub endpoint: Arc<Endpoint>,
    /// This address first, then the others of its endpoint. The list is made when a pick first
    /// needs it: the lists of all addresses of an endpoint take the square of their number.
    pub list: Option<Arc<str>>,
    pub state: Connectivity,
    pub last_used: Option<i64>,
    pub connection: HeldSubchannel,
}

/// Who holds the subchannel of an address.
#[derive(Debug)]
pub(super) enum HeldSubchannel {
    /// Nobody holds a subchannel.
    None,
    /// The policies below hold it; `watch` is the watch that reports its state.
    Child { handle: Handle, watch: u64 },
    /// The policy itself holds it for sessions.
    Owned(Handle),
}

impl HeldSubchannel {
    /// Returns the number of the watch that reports the subchannel's state.
    pub const fn watch(&self) -> Option<u64> {
        match self {
            HeldSubchannel::None => None,
            HeldSubchannel::Child { watch, .. } => Some(*watch),
            HeldSubchannel::Owned(handle) => Some(handle.id),
        }
    }
}

impl HostEntry {
    /// Makes an entry without a connection.
    pub fn new(address: &Address, endpoint: &Arc<Endpoint>) -> HostEntry {
        HostEntry {
            address: address.clone(),
            endpoint: endpoint.clone(),
            list: None,
            state: Connectivity::Idle,
            last_used: None,
            connection: HeldSubchannel::None,
        }
    }

    /// Takes over another version of the endpoint.
    pub fn set(&mut self, address: &Address, endpoint: &Arc<Endpoint>) {
        self.address = address.clone();
        self.endpoint = endpoint.clone();
        self.list = None;
    }

    /// Returns the address list of the endpoint, for a cookie.
    pub fn list(&mut self) -> Arc<str> {
        let list = self
            .list
            .get_or_insert_with(|| address_list(&self.address.text, &self.endpoint));
        list.clone()
    }
}

/// Lists an address, then the others of its endpoint in order, separated by commas.
pub(super) fn address_list(first: &Arc<str>, endpoint: &Endpoint) -> Arc<str> {
    if endpoint.addresses.len() == 1 {
        return first.clone();
    }
    let mut list = first.to_string();
    for address in endpoint.addresses.iter().filter(|address| address.text != *first) {
        list.push(',');
        list.push_str(&address.text);
    }
    list.into()
}
