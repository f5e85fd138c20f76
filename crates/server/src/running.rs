//! A server over time: connections that stay, updates that drain them, resources that go away, files of certificates that are replaced.
//!
//! [`crate::admit`] answers for one moment. Here a connection keeps the chain that has taken it, and what was seen of its peer, until it
//! is drained: it takes no new RPC then, and closes when its last one has ended, or after the time of grace (A36). Time is simulated.

use std::collections::BTreeMap;

use crate::admit::{self, End, Handled};
use crate::connection::{Connection, Rpc, Transport};
use crate::dialect::{DrainsOn, Rotation, ServerDialect};
use crate::handshake::{self, Peer, Program, Provider, Roots};
use crate::policy::{Asked, Look};
use crate::serving::{NotServing, Serving, serving};
use xdsctl_channel::client::server::ListeningServer;
use xdsctl_channel::client::{Client, Nacked, SentTexts, Updated};
use xdsctl_channel::rpc::Draw;
use xdsctl_model::resource::listener::{FilterChain, TcpListener};
use xdsctl_model::resource::rbac::RbacCondition;
use xdsctl_model::resource::tls::CaCerts;
use xdsctl_model::resource::{Listener, ResourceType};
use xdsctl_model::status::Status;

/// What a program of Node says as it ends at an addition.
const NULL: &str = "Cannot read properties of null";

/// What it says as it ends at a range of IPv6.
const NO_NUMBER: &str = "Cannot convert an address of IPv4 to a BigInt";

/// What becomes of a connection over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionState {
    /// It takes RPCs.
    Open,
    /// It takes no new RPC, and ends after those that it has.
    Draining,
    /// It is closed, or never came about.
    Closed,
}

impl ConnectionState {
    /// All of them.
    pub const ALL: [ConnectionState; 3] = [
        ConnectionState::Open,
        ConnectionState::Draining,
        ConnectionState::Closed,
    ];

    /// The word of suites and reports.
    pub const fn name(self) -> &'static str {
        match self {
            ConnectionState::Open => "open",
            ConnectionState::Draining => "draining",
            ConnectionState::Closed => "closed",
        }
    }
}

/// What the program around a server is set to.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    /// It has no xDS credentials.
    pub has_no_credentials: bool,
    /// The time in seconds since 1970 at the beginning; without it, any time will do.
    pub at: Option<i64>,
    /// Its certificate providers by name; `None` if each has what it is used for.
    pub providers: Option<BTreeMap<String, Provider>>,
    /// Milliseconds of grace for drained connections, if the program says so.
    pub drain_grace: Option<i64>,
}

/// New files of a certificate provider.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewFiles {
    /// The server's own certificate, by a name; `Some(None)` if it cannot be used: its key is another one's, or it is none at all.
    pub identity: Option<Option<String>>,
    /// The names of the roots.
    pub roots: Option<Vec<String>>,
}

/// The files of a provider over time.
#[derive(Debug, Clone, Default)]
struct Files {
    newest: Provider,
    /// What both were when both had been written again.
    whole: Provider,
    /// What was written since.
    written: (bool, bool),
}

/// A connection that was taken.
#[derive(Debug, Clone)]
pub struct OpenConnection {
    /// Both ends.
    pub connection: Connection,
    /// The index of its chain; `None` for the default one.
    pub index: Option<usize>,
    /// Its chain, as it was when it took the connection.
    pub chain: FilterChain,
    /// The peer's certificate is seen.
    is_seen: bool,
    state: ConnectionState,
    /// When it is closed at the latest.
    until: Option<i64>,
}

impl OpenConnection {
    /// Who is at the other end.
    pub const fn peer(&self) -> Peer<'_> {
        match (&self.connection.transport, self.is_seen) {
            (Transport::Plaintext, _) => Peer::Plaintext,
            (Transport::Tls(Some(own)), true) => Peer::Tls(Some(own)),
            (Transport::Tls(_), _) => Peer::Tls(None),
        }
    }
}

/// An RPC that goes on.
#[derive(Debug, Clone)]
struct UnderWay {
    connection: String,
    rpc: Rpc,
    ended: Option<Handled>,
    end: End,
}

/// A server that runs.
pub struct RunningServer {
    /// What it holds.
    pub client: Client,
    /// Its address, and the Listener that it asks for.
    pub server: ListeningServer,
    /// Its ways.
    pub dialect: ServerDialect,
    setup: Setup,
    files: Option<BTreeMap<String, Files>>,
    connections: BTreeMap<String, OpenConnection>,
    calls: BTreeMap<String, UnderWay>,
    /// The Listener as it was last sent, if it was in an update.
    text: Option<String>,
    now: i64,
    has_gone: bool,
    ended: Option<String>,
}

/// What became of an RPC.
#[derive(Debug, Clone, PartialEq)]
pub struct Called {
    /// How it ends.
    pub end: End,
    /// What the layers did; `None` if it did not get to them.
    pub handled: Option<Handled>,
}

impl Called {
    const fn closed() -> Called {
        Called {
            end: End::Closed,
            handled: None,
        }
    }
}

impl RunningServer {
    /// A server that holds what `client` does.
    pub fn new(client: Client, server: ListeningServer, dialect: ServerDialect, setup: Setup) -> RunningServer {
        let files = setup.providers.as_ref().map(|providers| {
            let files = providers.iter().map(|(name, provider)| {
                let files = Files {
                    newest: provider.clone(),
                    whole: provider.clone(),
                    written: (false, false),
                };
                (name.clone(), files)
            });
            files.collect()
        });
        RunningServer {
            client,
            server,
            dialect,
            setup,
            files,
            connections: BTreeMap::new(),
            calls: BTreeMap::new(),
            text: None,
            now: 0,
            has_gone: false,
            ended: None,
        }
    }

    /// The simulated time in milliseconds.
    pub const fn now(&self) -> i64 {
        self.now
    }

    /// The Listener that it serves with.
    ///
    /// # Errors
    /// Why it does not serve.
    pub fn serving(&self) -> Result<Serving, NotServing> {
        if let Some(words) = &self.ended {
            return Err(NotServing::Ended(words.clone()));
        }
        let serving = serving(&self.server, &self.client, &self.dialect)?;
        match self.has_gone && self.dialect.lifetime.stays_away {
            true => Err(NotServing::CameBack),
            false => Ok(serving),
        }
    }

    /// Connects under a name, in place of an earlier connection of that name.
    pub fn connect(&mut self, name: &str, connection: Connection) -> End {
        self.connections.remove(name);
        let serving = match self.serving() {
            Ok(serving) => serving,
            Err(why) => return End::NotServing(why),
        };
        if self.is_fatal(&connection) && has_ipv6(&serving.listener) {
            self.end(NO_NUMBER);
            return End::Closed;
        }
        let chosen = crate::chain::choose(&serving.listener, &connection, &self.dialect).chosen;
        let providers = chosen.and_then(|(_, chain)| self.providers_of(chain));
        let program = self.program(providers.as_ref());
        let taken = admit::connect(&serving.listener, &connection, &program, &self.dialect);
        let (index, chain, is_seen) = match (&taken.peer, chosen) {
            (Ok(peer), Some((index, chain))) => (index, chain.clone(), matches!(peer, Peer::Tls(Some(_)))),
            (Err(end), _) => return end.clone(),
            (Ok(_), None) => return End::Closed,
        };
        let open = OpenConnection {
            connection,
            index,
            chain,
            is_seen,
            state: ConnectionState::Open,
            until: None,
        };
        self.connections.insert(name.to_owned(), open);
        End::Connected
    }

    /// The client closes a connection.
    pub fn close(&mut self, name: &str) {
        self.connections.remove(name);
    }

    /// A connection that was taken, by its name.
    pub fn connection(&self, name: &str) -> Option<&OpenConnection> {
        self.connections.get(name)
    }

    /// What has become of a connection.
    pub fn state(&self, name: &str) -> ConnectionState {
        let open = self.connections.get(name);
        open.map_or(ConnectionState::Closed, |open| open.state)
    }

    /// The certificate that the server shows on new connections that a chain takes, by its name.
    pub fn shows(&self, chain: &FilterChain) -> Option<String> {
        let providers = self.providers_of(chain);
        handshake::identity(chain, &self.program(providers.as_ref())).map(str::to_owned)
    }

    /// Sends an RPC on a connection, and waits for its end.
    pub fn call(&mut self, connection: &str, rpc: &Rpc, draw: &mut Draw<'_>) -> Called {
        let open = self.connections.get(connection);
        let Some(open) = open.filter(|open| open.state == ConnectionState::Open) else {
            return Called::closed();
        };
        let handled = admit::call(
            &open.chain,
            open.peer(),
            &open.connection,
            rpc,
            &self.dialect,
            &self.client,
            draw,
        );
        let asked = Asked {
            connection: &open.connection,
            peer: open.peer(),
            rpc,
            dialect: &self.dialect,
        };
        if self.is_fatal(&open.connection) && looks_at_ipv6(&handled, asked) {
            self.end(NO_NUMBER);
            return Called::closed();
        }
        Called {
            end: handled.end.clone(),
            handled: Some(handled),
        }
    }

    /// Says whether a range of IPv6 ends the program if it is compared with an address of this connection.
    const fn is_fatal(&self, connection: &Connection) -> bool {
        self.dialect.lifetime.ends_at_ipv6 && connection.from.is_ipv4()
    }

    /// Sends an RPC under a name, which ends with [`RunningServer::finish`] unless it is kept out at once.
    pub fn begin(&mut self, name: &str, connection: &str, rpc: &Rpc, draw: &mut Draw<'_>) {
        let Called { end, handled } = self.call(connection, rpc, draw);
        let under_way = UnderWay {
            connection: connection.to_owned(),
            rpc: rpc.clone(),
            ended: handled,
            end,
        };
        self.calls.insert(name.to_owned(), under_way);
    }

    /// Ends the RPC of a name: its connection, what was sent, and what became of it; `None` if there is none.
    pub fn finish(&mut self, name: &str) -> Option<(String, Rpc, Called)> {
        let UnderWay {
            connection,
            rpc,
            ended: handled,
            end,
        } = self.calls.remove(name)?;
        self.close_idle();
        Some((connection, rpc, Called { end, handled }))
    }

    /// Takes what the control plane sends. Another Listener drains the connections that came before.
    pub fn update(&mut self, sent: &SentTexts) -> Updated {
        let text = sent.named(ResourceType::Listener, &self.server.listener);
        let before = self.listener();
        let updated = self.client.take(sent);
        let is_own =
            |nacked: &Nacked| nacked.resource_type == ResourceType::Listener && nacked.name == self.server.listener;
        let text = text.filter(|_| !updated.nacked.iter().any(is_own));
        let is_other = text.is_some() && self.text.is_some() && text != self.text;
        if text.is_some() {
            self.text = text;
        }
        self.changed(before.as_ref(), is_other);
        updated
    }

    /// What the control plane no longer has. Routes stay in use, and so does a Listener where the bootstrap says so.
    pub fn remove(&mut self, names: &[(ResourceType, String)]) {
        let before = self.listener();
        for (kind, name) in names {
            let stays = *kind == ResourceType::RouteConfiguration || self.client.server.ignore_resource_deletion;
            if !stays {
                self.client.resources.remove(*kind, name);
            }
        }
        self.has_gone |= before.is_some() && self.listener().is_none();
        self.changed(before.as_ref(), false);
    }

    /// Replaces files of a certificate provider; new connections see them, as far as the server uses them.
    ///
    /// # Errors
    /// There is no such provider.
    pub fn rotate(&mut self, provider: &str, files: NewFiles) -> Result<(), String> {
        let all = self.files.get_or_insert_default();
        let Some(own) = all.get_mut(provider) else {
            return Err(format!("there is no certificate provider `{provider}`"));
        };
        let rotation = self.dialect.lifetime.rotation;
        if let Some(identity) = files.identity
            && (identity.is_some() || rotation == Rotation::AsTheyAre)
        {
            own.newest.identity = identity;
            own.written.0 = true;
        }
        if let Some(roots) = files.roots {
            own.newest.roots = Some(Roots::Of(roots));
            own.written.1 = true;
        }
        if own.written == (true, true) {
            own.whole = own.newest.clone();
            own.written = (false, false);
        }
        Ok(())
    }

    /// Lets time pass.
    pub fn sleep(&mut self, milliseconds: i64) {
        self.now = self.now.saturating_add(milliseconds);
        let now = self.now;
        let cut_off = match self.dialect.lifetime.cut_off {
            Some((code, words)) => End::Refused(Status::new(code, words)),
            None => End::Closed,
        };
        for (name, open) in &mut self.connections {
            if open.state == ConnectionState::Draining && open.until.is_some_and(|until| until <= now) {
                open.state = ConnectionState::Closed;
                let own = self.calls.values_mut().filter(|call| call.connection == *name);
                own.for_each(|call| call.end = cut_off.clone());
            }
        }
    }

    fn listener(&self) -> Option<TcpListener> {
        let held = self.client.resources.listeners.get(&self.server.listener)?;
        match &**held.value()? {
            Listener::Tcp(listener) => Some(listener.clone()),
            Listener::Api(_) => None,
        }
    }

    /// Drains connections if the Listener is another one.
    fn changed(&mut self, before: Option<&TcpListener>, is_other_text: bool) {
        let Some(before) = before else { return };
        let lifetime = self.dialect.lifetime;
        let after = self.listener();
        let is_same = after.as_ref().is_some_and(|after| match lifetime.drains_on {
            DrainsOn::Read => nameless(before) == nameless(after),
            DrainsOn::ReadAndNames => before == after,
            DrainsOn::Any => before == after && !is_other_text,
        });
        if is_same {
            return;
        }
        if let Some(after) = &after {
            if lifetime.keeps_at_other_address && !self.server.is_meant(&after.address) {
                return;
            }
            if lifetime.ends_at_additions && has_additions(before, after) {
                self.end(NULL);
                return;
            }
        }
        let grace = self.setup.drain_grace.or(lifetime.drain_grace);
        let until = grace
            .filter(|_| lifetime.drain_grace.is_some())
            .map(|grace| self.now.saturating_add(grace));
        for open in self.connections.values_mut() {
            if open.state == ConnectionState::Open {
                (open.state, open.until) = (ConnectionState::Draining, until);
            }
        }
        self.close_idle();
    }

    /// The program ends, and with it all connections.
    fn end(&mut self, words: &str) {
        self.ended = Some(words.to_owned());
        self.connections
            .values_mut()
            .for_each(|open| open.state = ConnectionState::Closed);
        self.calls.values_mut().for_each(|call| call.end = End::Closed);
    }

    /// Closes connections that are drained and have no RPC any more.
    fn close_idle(&mut self) {
        for (name, open) in &mut self.connections {
            let is_busy = || self.calls.values().any(|call| call.connection == *name);
            if open.state == ConnectionState::Draining && !is_busy() {
                open.state = ConnectionState::Closed;
            }
        }
    }

    /// What the providers have for a chain.
    fn providers_of(&self, chain: &FilterChain) -> Option<BTreeMap<String, Provider>> {
        let tls = chain.tls.as_ref();
        let uses_roots = tls.is_some_and(|tls| matches!(tls.common.ca_certs, CaCerts::Provider(_)));
        let is_whole = uses_roots && self.dialect.lifetime.rotation == Rotation::UsableAndWhole;
        let files = self.files.as_ref()?.iter().map(|(name, files)| {
            let provider = if is_whole { &files.whole } else { &files.newest };
            (name.clone(), provider.clone())
        });
        Some(files.collect())
    }

    fn program<'p>(&self, providers: Option<&'p BTreeMap<String, Provider>>) -> Program<'p> {
        Program {
            has_no_credentials: self.setup.has_no_credentials,
            at: self.setup.at.map(|at| at.saturating_add(self.now / 1000)),
            providers,
        }
    }
}

/// A Listener without the names of its chains.
fn nameless(listener: &TcpListener) -> TcpListener {
    let mut listener = listener.clone();
    let chains = listener.filter_chains.iter_mut();
    chains
        .chain(&mut listener.default_filter_chain)
        .for_each(|chain| chain.name.clear());
    listener
}

/// Says whether a chain is for a range of IPv6.
fn has_ipv6(listener: &TcpListener) -> bool {
    let sources = listener.filter_chains.iter().flat_map(|chain| &chain.source.prefixes);
    let destinations = listener.destinations.iter().filter_map(|one| one.prefix.as_ref());
    sources.chain(destinations).any(|range| range.address.is_ipv6())
}

/// Says whether a policy looked at a range of IPv6.
fn looks_at_ipv6(handled: &Handled, asked: Asked<'_>) -> bool {
    fn one(look: &Look<'_>) -> bool {
        let is_own = match look.condition {
            RbacCondition::Address(_, range) => range.range.is_some_and(|range| range.address.is_ipv6()),
            _ => false,
        };
        is_own || look.parts.iter().any(one)
    }
    let decisions = admit::decisions(handled, asked);
    let policies = decisions.iter().filter_map(|(_, decision)| decision.as_ref());
    let looks = policies.flat_map(|decision| &decision.policies);
    looks
        .flat_map(|policy| policy.permissions.iter().chain(&policy.principals))
        .any(one)
}

/// Says whether a comparison gets to where one of two Listeners has a default chain or TLS and the other has none. It ends with the
/// first difference, and looks at the default chains first.
fn has_additions(before: &TcpListener, after: &TcpListener) -> bool {
    let of_default = match (&before.default_filter_chain, &after.default_filter_chain) {
        (Some(before), Some(after)) => compared(before, after),
        (None, None) => Some(true),
        (Some(_), None) | (None, Some(_)) => None,
    };
    match of_default {
        None => return true,
        Some(is_same) if !is_same || before.filter_chains.len() != after.filter_chains.len() => return false,
        Some(_) => {}
    }
    let chains = before.filter_chains.iter().zip(&after.filter_chains);
    let first = chains
        .map(|(one, other)| compared(one, other))
        .find(|same| *same != Some(true));
    first == Some(None)
}

/// Whether two chains are the same; `None` if TLS is compared with none.
fn compared(before: &FilterChain, after: &FilterChain) -> Option<bool> {
    if before.http_connection_manager != after.http_connection_manager {
        return Some(false);
    }
    match (&before.tls, &after.tls) {
        (Some(one), Some(other)) => Some(one == other && before.source == after.source),
        (None, None) => Some(before.source == after.source),
        (Some(_), None) | (None, Some(_)) => None,
    }
}
