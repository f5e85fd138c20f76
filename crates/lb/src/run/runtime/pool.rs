//! Subchannels: one for each address, scope and owner, shared by all policies that lead there.
//!
//! IDLE becomes CONNECTING on request, then READY or TRANSIENT_FAILURE. TRANSIENT_FAILURE becomes
//! IDLE after the back-off, and READY becomes IDLE when the connection is lost. A subchannel lives
//! as long as a handle on it. Follows C-core subchannel.cc.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use super::Time;
use super::backoff::Waits;
use crate::endpoint::{Address, SubchannelScope};
use crate::policy::TreePath;
use crate::run::looks::look;
use xdsctl_model::status::Status;

/// The state of a connection or policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Connectivity {
    /// Not connected, and nobody has asked for it.
    Idle,
    /// An attempt is under way.
    Connecting,
    /// Connected.
    Ready,
    /// The last attempt failed.
    TransientFailure,
}

impl Connectivity {
    /// Returns the state's name in upper case.
    pub const fn name(self) -> &'static str {
        match self {
            Connectivity::Idle => "IDLE",
            Connectivity::Connecting => "CONNECTING",
            Connectivity::Ready => "READY",
            Connectivity::TransientFailure => "TRANSIENT_FAILURE",
        }
    }

    /// Returns the state of this name, in any case.
    pub fn from_name(name: &str) -> Option<Connectivity> {
        [
            Connectivity::Idle,
            Connectivity::Connecting,
            Connectivity::Ready,
            Connectivity::TransientFailure,
        ]
        .into_iter()
        .find(|state| state.name().eq_ignore_ascii_case(name))
    }
}

impl fmt::Display for Connectivity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A connection to one address, or the wish for one.
#[derive(Debug, Clone)]
pub struct Subchannel {
    /// The address that it connects to.
    pub address: Address,
    /// The number of the only policy that uses it; 0 if any policy may.
    owner: u64,
    /// The connectivity of the subchannel.
    pub state: Connectivity,
    /// Why the last attempt failed, if it did.
    pub status: Option<Status>,
    /// The number of the attempt, so that outcomes of earlier attempts are not mistaken for its
    /// own.
    pub generation: u32,
    /// Subchannels to the same address in other scopes: the one made before, and the one made
    /// after.
    another: Option<u32>,
    newer: Option<u32>,
    waits: Waits,
    attempt_began: Time,
    watchers: Vec<Watcher>,
}

#[derive(Debug, Clone)]
struct Watcher {
    id: u64,
    at: TreePath,
    keeps_alive: bool,
}

/// The subchannels of a channel. Policies that ask for the same address share one.
#[derive(Debug, Clone, Default)]
pub struct Pool {
    // The last subchannel made for each address; `another` leads to the others. Only looked up in,
    // and never iterated over.
    by_address: HashMap<SocketAddr, u32>,
    /// The subchannels of addresses that have more than one: thousands of clusters may share an
    /// endpoint.
    by_scope: HashMap<SubchannelKey, u32>,
    subchannels: HashMap<u32, Subchannel>,
    next: u32,
    /// Subchannels that may have lost their last handle.
    unheld: Vec<u32>,
    /// The number of watchers of all subchannels.
    watches: usize,
    /// The number of READY subchannels that several handles hold.
    shared: usize,
    /// Policies that get no more updates: their subchannels are not shared with later policies.
    apart: BTreeSet<TreePath>,
}

/// The usual number of watchers: a policy, and most often a wrapper above it.
const USUAL_WATCHERS: usize = 2;

/// The key of a subchannel in [`Pool`]'s `by_scope`.
type SubchannelKey = (SocketAddr, Arc<SubchannelScope>, u64);

impl Subchannel {
    fn key(&self) -> SubchannelKey {
        (self.address.socket, self.address.scope.clone(), self.owner)
    }

    fn is_held(&self) -> bool {
        self.watchers.iter().any(|watcher| watcher.keeps_alive)
    }

    fn is_shared(&self) -> bool {
        let holders = self.watchers.iter().filter(|watcher| watcher.keeps_alive);
        self.state == Connectivity::Ready && holders.count() > 1
    }

    /// Returns the watchers of a change, wrappers before the policies that hold the subchannel.
    pub(super) fn watchers(&self) -> impl Iterator<Item = (u64, &TreePath)> {
        let of = |holds: bool| self.watchers.iter().filter(move |watcher| watcher.keeps_alive == holds);
        of(false).chain(of(true)).map(|watcher| (watcher.id, &watcher.at))
    }
}

impl Pool {
    /// Returns the subchannel of this number. Numbers are never used again.
    pub fn get(&self, number: u32) -> Option<&Subchannel> {
        self.subchannels.get(&number)
    }

    /// Returns the subchannels of an address, the last one made first.
    pub fn at(&self, address: &SocketAddr) -> impl Iterator<Item = u32> + '_ {
        let another = |number: &u32| {
            look(1);
            self.get(*number).and_then(|subchannel| subchannel.another)
        };
        std::iter::successors(self.by_address.get(address).copied(), another)
    }

    /// Returns the subchannel of an owner for an address in its scope.
    pub(super) fn find(&self, address: &Address, owner: u64) -> Option<u32> {
        let first = *self.by_address.get(&address.socket)?;
        let subchannel = self.get(first)?;
        if subchannel.address.scope == address.scope && subchannel.owner == owner {
            return Some(first);
        }
        subchannel.another?;
        let key = (address.socket, address.scope.clone(), owner);
        self.by_scope.get(&key).copied()
    }

    /// Returns a READY subchannel for an address in its scope.
    pub(super) fn ready(&self, address: &Address) -> Option<u32> {
        self.at(&address.socket).find(|number| {
            let subchannel = self.get(*number);
            subchannel.is_some_and(|s| s.state == Connectivity::Ready && s.address.scope == address.scope)
        })
    }

    /// Says whether an RPC can use the subchannel.
    pub fn is_ready(&self, number: u32) -> bool {
        self.get(number).is_some_and(|s| s.state == Connectivity::Ready)
    }

    /// Returns the state and the last failure. A subchannel that is gone is IDLE.
    pub fn state_of(&self, number: u32) -> (Connectivity, Option<Status>) {
        self.get(number)
            .map_or((Connectivity::Idle, None), |s| (s.state, s.status.clone()))
    }

    /// Returns the number of subchannels.
    pub fn len(&self) -> usize {
        self.subchannels.len()
    }

    /// Says whether there is no subchannel.
    pub fn is_empty(&self) -> bool {
        self.subchannels.is_empty()
    }

    /// Returns the handles that policies below a place have on the subchannels of an address.
    pub fn held_below(&self, at: &TreePath, address: &Address) -> Vec<(u64, TreePath)> {
        let subchannels = self.at(&address.socket).filter_map(|number| self.get(number));
        let watchers = subchannels.flat_map(|subchannel| &subchannel.watchers);
        watchers
            .filter(|watcher| watcher.keeps_alive && watcher.at.starts_with(at))
            .map(|watcher| (watcher.id, watcher.at.clone()))
            .collect()
    }

    /// Stops sharing what the policies below a place hold with anybody else.
    pub fn keep_apart(&mut self, at: TreePath) {
        self.apart.insert(at);
    }

    /// Undoes [`Pool::keep_apart`]. If the place was not kept apart, nothing changes.
    pub fn share_again(&mut self, at: &TreePath) {
        self.apart.remove(at);
    }

    fn is_apart(&self, number: u32) -> bool {
        let is_apart =
            |at: &TreePath| (0..=at.len()).any(|len| at.get(..len).is_some_and(|at| self.apart.contains(at)));
        let holders = self.get(number).into_iter().flat_map(|subchannel| &subchannel.watchers);
        !self.apart.is_empty()
            && holders
                .filter(|watcher| watcher.keeps_alive)
                .all(|watcher| is_apart(&watcher.at))
    }

    /// Gives a subchannel an owner of its own.
    fn set_apart(&mut self, number: u32) {
        let Some(subchannel) = self.subchannels.get_mut(&number) else {
            return;
        };
        let key = subchannel.key();
        subchannel.owner = u64::MAX - u64::from(number);
        let new_key = subchannel.key();
        if self.by_scope.remove(&key).is_some() {
            self.by_scope.insert(new_key, number);
        }
    }

    pub(super) fn join(&mut self, address: &Address, owner: u64) -> u32 {
        match self.find(address, owner) {
            Some(number) if self.is_apart(number) => self.set_apart(number),
            Some(number) => return number,
            None => {}
        }
        let number = self.next;
        self.next += 1;
        let another = self.by_address.insert(address.socket, number);
        if let Some(before) = another {
            if let Some(before) = self.subchannels.get_mut(&before) {
                before.newer = Some(number);
            }
            self.list(before);
        }
        self.subchannels.insert(
            number,
            Subchannel {
                address: address.clone(),
                owner,
                state: Connectivity::Idle,
                status: None,
                generation: 0,
                another,
                newer: None,
                waits: Waits::default(),
                attempt_began: 0,
                watchers: Vec::with_capacity(USUAL_WATCHERS),
            },
        );
        if another.is_some() {
            self.list(number);
        }
        number
    }

    fn list(&mut self, number: u32) {
        if let Some(subchannel) = self.subchannels.get(&number) {
            self.by_scope.insert(subchannel.key(), number);
        }
    }

    /// Returns the number of watchers of all subchannels.
    pub(super) const fn watches(&self) -> usize {
        self.watches
    }

    /// Returns the number of READY subchannels that several handles hold.
    pub const fn shared(&self) -> usize {
        self.shared
    }

    /// Changes a subchannel, and keeps the count of shared ones.
    fn change<T>(&mut self, number: u32, change: impl FnOnce(&mut Subchannel) -> T) -> Option<T> {
        let subchannel = self.subchannels.get_mut(&number)?;
        let before = subchannel.is_shared();
        let result = change(subchannel);
        match (before, subchannel.is_shared()) {
            (false, true) => self.shared += 1,
            (true, false) => self.shared -= 1,
            (false, false) | (true, true) => {}
        }
        Some(result)
    }

    pub(super) fn watch(&mut self, number: u32, id: u64, at: &TreePath, keeps_alive: bool) {
        let at = at.clone();
        let added = self.change(number, |subchannel| {
            subchannel.watchers.push(Watcher { id, at, keeps_alive });
        });
        self.watches += usize::from(added.is_some());
    }

    /// Ends what [`hold`](super::Runtime::hold) or [`watch`](super::Runtime::watch) returned.
    pub fn unwatch(&mut self, number: u32, id: u64) {
        let left = self.change(number, |subchannel| {
            let before = subchannel.watchers.len();
            subchannel.watchers.retain(|watcher| watcher.id != id);
            (before - subchannel.watchers.len(), subchannel.is_held())
        });
        let Some((gone, is_held)) = left else { return };
        self.watches -= gone;
        if !is_held {
            self.unheld.push(number);
        }
    }

    /// Drops the subchannels that nobody holds any more. This is not done at once, because a
    /// wrapper may take over what a policy below it has just released.
    pub(super) fn collect(&mut self, mut tell: impl FnMut(&Address)) {
        let mut unheld = std::mem::take(&mut self.unheld);
        for number in unheld.drain(..) {
            if self
                .subchannels
                .get(&number)
                .is_some_and(|subchannel| !subchannel.is_held())
                && let Some(gone) = self.subchannels.remove(&number)
            {
                tell(&gone.address);
                self.watches -= gone.watchers.len();
                self.unlink(&gone);
            }
        }
        self.unheld = unheld;
    }

    /// Removes a subchannel that is gone from those of its address.
    fn unlink(&mut self, gone: &Subchannel) {
        if !self.by_scope.is_empty() {
            self.by_scope.remove(&gone.key());
        }
        if let Some(before) = gone.another.and_then(|number| self.subchannels.get_mut(&number)) {
            before.newer = gone.newer;
        }
        match gone.newer.and_then(|number| self.subchannels.get_mut(&number)) {
            Some(after) => after.another = gone.another,
            None => match gone.another {
                Some(another) => drop(self.by_address.insert(gone.address.socket, another)),
                None => drop(self.by_address.remove(&gone.address.socket)),
            },
        }
    }

    pub(super) fn start_attempt(&mut self, number: u32, now: Time) -> bool {
        match self.subchannels.get_mut(&number) {
            Some(subchannel) if subchannel.state == Connectivity::Idle => {
                subchannel.state = Connectivity::Connecting;
                subchannel.generation += 1;
                subchannel.attempt_began = now;
                true
            }
            _ => false,
        }
    }

    /// Returns the subchannel, if its attempt of this number is still under way.
    fn attempting(&mut self, number: u32, generation: u32) -> Option<&mut Subchannel> {
        self.subchannels
            .get_mut(&number)
            .filter(|s| s.state == Connectivity::Connecting && s.generation == generation)
    }

    pub(super) fn succeed(&mut self, number: u32, generation: u32) -> bool {
        if self.attempting(number, generation).is_none() {
            return false;
        }
        self.change(number, |subchannel| {
            subchannel.state = Connectivity::Ready;
            subchannel.status = None;
            subchannel.waits.reset();
        });
        true
    }

    /// Returns when the subchannel may try again.
    pub(super) fn fail(&mut self, number: u32, generation: u32, status: Status, unit: f64) -> Option<Time> {
        let subchannel = self.attempting(number, generation)?;
        subchannel.state = Connectivity::TransientFailure;
        subchannel.status = Some(status);
        Some(subchannel.attempt_began + subchannel.waits.next_ms(unit))
    }

    /// Changes the state from `from` to IDLE.
    pub(super) fn rest(&mut self, number: u32, generation: u32, from: Connectivity) -> bool {
        let rested = self.change(number, |s| {
            let is_so = s.state == from && s.generation == generation;
            if is_so {
                s.state = Connectivity::Idle;
            }
            is_so
        });
        rested == Some(true)
    }

    pub(super) fn force(&mut self, number: u32, state: Connectivity, status: Option<Status>) {
        self.change(number, |subchannel| {
            subchannel.state = state;
            subchannel.status = status;
            subchannel.generation += 1;
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::looks;

    /// Makes the same address in the scope of a locality.
    fn address(locality: &str) -> Address {
        let locality = locality.into();
        Address::within(
            "10.0.0.1:80".parse().unwrap(),
            &Arc::new(SubchannelScope {
                locality,
                ..SubchannelScope::default()
            }),
        )
    }

    #[test]
    fn a_connection_is_found_without_a_look_at_those_of_other_scopes() {
        let addresses: Vec<Address> = (0..100).map(|i| address(&i.to_string())).collect();
        let mut pool = Pool::default();
        let looks = looks::during(|| {
            for address in addresses.iter().chain(&addresses) {
                pool.join(address, 0);
            }
        });
        assert_eq!(pool.len(), addresses.len());
        assert_eq!(looks, 0);
    }

    #[test]
    fn connections_of_other_scopes_stay_when_one_goes() {
        let socket = "10.0.0.1:80".parse().unwrap();
        let (at, names) = (TreePath::from([]), ["a", "b", "c"]);
        for gone in 0..names.len() {
            let mut pool = Pool::default();
            let numbers = names.map(|name| pool.join(&address(name), 0));
            assert_eq!(numbers, names.map(|name| pool.join(&address(name), 0)));
            pool.watch(numbers[gone], 1, &at, true);
            pool.unwatch(numbers[gone], 1);
            pool.collect(|_| ());
            let mut left = numbers.to_vec();
            left.remove(gone);
            left.reverse();
            assert_eq!(pool.at(&socket).collect::<Vec<_>>(), left);
            assert_eq!(pool.find(&address(names[gone]), 0), None);
        }
    }
}
