//! RPCs on their way: dealt to channels that share one clock, one after the other or at a rate,
//! with cookies from jars.
//!
//! The channels do not affect each other, so each may run ahead by itself until something is done
//! to one of them. Then all are brought to the same time.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use super::jar::Jar;
use super::rpc::Sending;
use super::{MAX_STEPS_WORK, MAX_UNDER_WAY};
use crate::sim::{Channel, LimitReached, Outcome, Rpc, RpcId};
use xdsctl_lb::runtime::Time;

/// An RPC that has ended.
#[derive(Debug)]
pub struct Done<'d> {
    /// The RPC's channel, by its index.
    pub client: usize,
    /// The id that the channel gave the RPC.
    pub id: RpcId,
    /// The name of its `begin`; `None` for a `pick`.
    pub name: Option<&'d str>,
    /// The jar of its cookies.
    pub jar: Option<&'d str>,
    /// How the RPC ended.
    pub outcome: Outcome,
}

/// The most RPCs at a rate that may be under way at a time.
const MOST_UNDER_WAY: usize = MAX_UNDER_WAY as usize;

/// Gets RPCs as they end, and returns `false` to get no more.
pub(super) type Take<'t> = &'t mut dyn FnMut(Done<'_>) -> bool;

/// RPCs that are sent at a rate.
#[derive(Debug)]
struct RpcStream {
    /// The name of its `begin`; `None` for a `pick`.
    name: Option<String>,
    sending: Arc<Sending>,
    began: Time,
    sent: u64,
    clients: Range<usize>,
    under_way: BTreeSet<(usize, RpcId)>,
}

impl RpcStream {
    fn next_at(&self) -> Option<Time> {
        (self.sent < self.sending.count).then(|| self.began.saturating_add(self.sending.offset(self.sent)))
    }
}

/// Sends RPCs, and keeps cookies.
#[derive(Debug, Default)]
pub(super) struct Sender {
    /// The RPCs at a rate by number, in the order in which they began.
    streams: BTreeMap<usize, RpcStream>,
    next_stream: usize,
    /// When the next RPC of each stream that has one is due, the earliest first.
    arrivals: BTreeSet<(Time, usize)>,
    /// The streams of the RPCs at a rate that are under way; only looked up.
    owners: HashMap<(usize, RpcId), usize>,
    /// The streams by name.
    names: BTreeMap<String, usize>,
    jars: BTreeMap<String, Jar>,
    /// How many RPCs were dealt to the clients in turn.
    dealt: usize,
    /// The weight of each client, if RPCs are dealt by weights, and how far it is behind its share.
    weights: Vec<(u64, i64)>,
    /// The number of timers and changes of connections so far.
    worked: u64,
    is_over: bool,
    /// Why an RPC could not be sent as the step says.
    fault: Option<String>,
}

impl Sender {
    /// Deals RPCs by the weights of the clients, in their order.
    pub fn weigh(&mut self, weights: impl Iterator<Item = u64>) {
        self.weights = weights.map(|weight| (weight, 0)).collect();
    }

    /// Chooses the client for the next RPC from `clients`: in turn, or the one that is furthest
    /// behind its share.
    pub fn deal(&mut self, clients: &Range<usize>) -> usize {
        if let Some(weights) = self
            .weights
            .get_mut(clients.clone())
            .filter(|weights| weights.len() > 1)
        {
            let total: u64 = weights.iter().map(|(weight, _)| weight).sum();
            for (weight, behind) in &mut *weights {
                *behind = behind.saturating_add_unsigned(*weight);
            }
            // Among equals the first one is chosen.
            let next = weights.iter().enumerate().rev().max_by_key(|(_, (_, behind))| *behind);
            let next = next.map_or(0, |(number, _)| number);
            if let Some((_, behind)) = weights.get_mut(next) {
                *behind = behind.saturating_sub_unsigned(total);
            }
            return clients.start + next;
        }
        let turn = self.dealt;
        self.dealt = self.dealt.wrapping_add(1);
        clients.start + turn % clients.len().max(1)
    }

    fn fill(&mut self, sending: &Sending, channel: &Channel) -> Rpc {
        let mut rpc = sending.rpc.clone();
        if let Some(address) = &sending.session {
            match channel.session_cookie(&rpc, address) {
                Some(cookie) => rpc.headers.push(("cookie".to_owned(), cookie)),
                None => {
                    let method = &rpc.method;
                    let why = format!(
                        "`session` needs a stateful session filter that is active for `{method}`, there is none"
                    );
                    self.fault.get_or_insert(why);
                }
            }
        }
        let now = channel.now();
        if let Some(jar) = &sending.jar {
            self.jars.entry(jar.clone()).or_default().fill(&mut rpc, now);
        }
        rpc
    }

    /// Sends an RPC for which somebody waits.
    pub fn begin(&mut self, sending: &Sending, client: usize, channels: &mut [Channel]) -> Option<RpcId> {
        let channel = channels.get_mut(client)?;
        let rpc = self.fill(sending, channel);
        Some(channel.begin(rpc))
    }

    /// Hands on the outcome of an RPC, and puts its cookies into its jar.
    pub fn tell(&mut self, done: Done<'_>, take: Take<'_>) {
        if let Some(jar) = done.jar {
            let jar = self.jars.entry(jar.to_owned()).or_default();
            for cookie in &done.outcome.set_cookie {
                jar.take(cookie, done.outcome.ended);
            }
        }
        self.is_over = self.is_over || !take(done);
    }

    /// Returns why an RPC of the last step could not be sent as the step says.
    pub const fn take_fault(&mut self) -> Option<String> {
        self.fault.take()
    }

    /// Says whether nobody wants more outcomes.
    pub const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Begins to send RPCs at a rate. Returns the number of the stream.
    pub fn start(&mut self, name: Option<&str>, sending: &Sending, now: Time, clients: Range<usize>) -> usize {
        let number = self.next_stream;
        self.next_stream += 1;
        let stream = RpcStream {
            name: name.map(str::to_owned),
            sending: Arc::new(sending.clone()),
            began: now,
            sent: 0,
            clients,
            under_way: BTreeSet::new(),
        };
        self.arrivals.extend(stream.next_at().map(|at| (at, number)));
        self.names.extend(name.map(|name| (name.to_owned(), number)));
        self.streams.insert(number, stream);
        number
    }

    /// The number of the stream with this name.
    pub fn stream(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    /// Forgets a stream that has ended.
    pub fn forget(&mut self, number: usize) {
        let Some(stream) = self.streams.remove(&number) else {
            return;
        };
        if let Some(at) = stream.next_at() {
            self.arrivals.remove(&(at, number));
        }
        if let Some(name) = stream.name {
            self.names.remove(&name);
        }
        for key in &stream.under_way {
            self.owners.remove(key);
        }
    }

    fn next_arrival(&self) -> Option<Time> {
        self.arrivals.first().map(|(at, _)| *at)
    }

    /// Sends the RPCs that are due at `now`, which all channels have reached.
    fn send_due(&mut self, now: Time, channels: &mut [Channel]) {
        while let Some((at, number)) = self.arrivals.first().copied().filter(|(at, _)| *at <= now) {
            if self.owners.len() >= MOST_UNDER_WAY {
                let why = format!("more than {MAX_UNDER_WAY} RPCs at a rate are in progress at once");
                self.fault.get_or_insert(why);
                self.is_over = true;
                return;
            }
            self.arrivals.remove(&(at, number));
            let Some(stream) = self.streams.get_mut(&number) else {
                continue;
            };
            stream.sent += 1;
            self.arrivals.extend(stream.next_at().map(|at| (at, number)));
            let (clients, sending) = (stream.clients.clone(), stream.sending.clone());
            let client = self.deal(&clients);
            let Some(channel) = channels.get_mut(client) else {
                return;
            };
            let rpc = self.fill(&sending, channel);
            let key = (client, channel.let_go(rpc));
            self.owners.insert(key, number);
            if let Some(stream) = self.streams.get_mut(&number) {
                stream.under_way.insert(key);
            }
        }
    }

    /// Hands on the outcomes of the RPCs at a rate that have ended.
    fn collect(&mut self, channels: &mut [Channel], take: Take<'_>) {
        for (client, channel) in channels.iter_mut().enumerate() {
            for (id, outcome) in channel.take_ended() {
                let key = (client, id);
                let owner = self.owners.remove(&key);
                let Some(stream) = owner.and_then(|owner| self.streams.get_mut(&owner)) else {
                    continue;
                };
                stream.under_way.remove(&key);
                let (name, jar) = (stream.name.clone(), stream.sending.jar.clone());
                let done = Done {
                    client,
                    id,
                    name: name.as_deref(),
                    jar: jar.as_deref(),
                    outcome: *outcome,
                };
                self.tell(done, take);
            }
        }
    }

    /// Brings all channels to a time, and sends the RPCs that are due on the way.
    ///
    /// # Errors
    /// A limit of the simulation was reached.
    pub fn advance(&mut self, until: Time, channels: &mut [Channel], take: Take<'_>) -> Result<(), LimitReached> {
        loop {
            let next = self.next_arrival().filter(|at| *at <= until);
            let at = next.unwrap_or(until);
            for channel in channels.iter_mut() {
                channel.sleep_until(at)?;
                self.count(channel)?;
            }
            self.collect(channels, take);
            if next.is_none() || self.is_over {
                return Ok(());
            }
            self.send_due(at, channels);
        }
    }

    /// Counts the work of a channel that no RPC causes.
    const fn count(&mut self, channel: &mut Channel) -> Result<(), LimitReached> {
        self.worked = self.worked.saturating_add(channel.take_worked());
        let most = channel.max_events().saturating_mul(MAX_STEPS_WORK);
        if self.worked > most {
            return Err(LimitReached::Steps(most));
        }
        Ok(())
    }

    /// Waits for an RPC. All channels are then at the time of its end.
    ///
    /// # Errors
    /// A limit of the simulation was reached.
    pub fn wait(
        &mut self,
        client: usize,
        id: RpcId,
        channels: &mut [Channel],
        take: Take<'_>,
    ) -> Result<(), LimitReached> {
        loop {
            let next = self.next_arrival();
            let Some(channel) = channels.get_mut(client) else {
                return Ok(());
            };
            let is_over = channel.wait(id, next.unwrap_or(Time::MAX))?;
            self.count(channel)?;
            let now = channel.now();
            let has_ended = channel.has_ended(id);
            if has_ended || (is_over && next.is_none()) {
                return self.advance(now, channels, take);
            }
            self.advance(next.unwrap_or(now), channels, take)?;
            if self.is_over {
                return Ok(());
            }
        }
    }

    /// Waits until a stream has sent its last RPC and all its RPCs have ended.
    ///
    /// # Errors
    /// A limit of the simulation was reached.
    pub fn drain(&mut self, stream: usize, channels: &mut [Channel], take: Take<'_>) -> Result<(), LimitReached> {
        while !self.is_over {
            let Some(found) = self.streams.get(&stream) else {
                return Ok(());
            };
            if let Some(at) = found.next_at() {
                self.advance(at, channels, take)?;
                continue;
            }
            let Some((client, id)) = found.under_way.first().copied() else {
                return Ok(());
            };
            self.wait(client, id, channels, take)?;
            // An RPC that would wait for ever leaves the stream.
            if let Some(found) = self.streams.get_mut(&stream)
                && channels.get(client).is_some_and(|channel| !channel.has_ended(id))
            {
                found.under_way.remove(&(client, id));
                self.owners.remove(&(client, id));
            }
        }
        Ok(())
    }
}
