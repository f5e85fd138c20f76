//! A server over time: connections that stay, updates that drain them, resources that are removed,
//! files of certificates that are replaced.
//!
//! [`crate::admit`] answers for one moment. Here a connection keeps the chain that has taken it,
//! and what was seen of its peer, until it is drained. Then it takes no new RPC, and closes when
//! its last RPC has ended or the time of grace is over (A36). Time is simulated.

use std::collections::BTreeMap;

use crate::admit::{self, End, Handled};
use crate::connection::{Connection, Rpc, Transport};
use crate::dialect::{Comparison, DrainsOn, Rotation, ServerDialect};
use crate::handshake::{self, Peer, Program, Provider, Roots};
use crate::serving::{NotServing, Serving, serving};
use xdsctl_channel::client::server::ListeningServer;
use xdsctl_channel::client::{Client, SentTexts, Updated};
use xdsctl_channel::rpc::Draw;
use xdsctl_model::resource::ResourceType;
use xdsctl_model::resource::listener::{FilterChain, TcpListener};
use xdsctl_model::resource::tls::CaCerts;
use xdsctl_model::status::Status;

/// What a Node program prints when it ends at the comparison of an update.
const NULL: &str = "Cannot read properties of null";

/// The state of a connection over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionState {
    /// The connection accepts RPCs.
    Open,
    /// The connection accepts no new RPC, and closes after those that it has.
    Draining,
    /// The connection is closed, or was never made.
    Closed,
}

impl ConnectionState {
    /// All states.
    pub const ALL: [ConnectionState; 3] = [
        ConnectionState::Open,
        ConnectionState::Draining,
        ConnectionState::Closed,
    ];

    /// Returns the word for suites and reports.
    pub const fn name(self) -> &'static str {
        match self {
            ConnectionState::Open => "open",
            ConnectionState::Draining => "draining",
            ConnectionState::Closed => "closed",
        }
    }
}

/// The settings of the program around a server.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    /// Whether the program has no xDS credentials.
    pub has_no_credentials: bool,
    /// Whether the program's bootstrap has no template for the names of Listeners.
    pub has_no_template: bool,
    /// The time at the beginning, in seconds since 1970. Without it, the validity of certificates
    /// is not checked.
    pub at: Option<i64>,
    /// The program's certificate providers by name; `None` if each has whatever it is used for.
    pub providers: Option<BTreeMap<String, Provider>>,
    /// The grace for drained connections in milliseconds, if the program sets one.
    pub drain_grace: Option<i64>,
}

/// New files of a certificate provider.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewFiles {
    /// The name of the server's new certificate; `None` if the certificate is not replaced.
    /// `Some(None)` is a certificate that cannot be used: its key belongs to another one, or the
    /// file has none at all.
    pub identity: Option<Option<String>>,
    /// The names of the new roots; `None` if they are not replaced.
    pub roots: Option<Vec<String>>,
}

/// The files of a provider over time.
#[derive(Debug, Clone, Default)]
struct Files {
    newest: Provider,
    /// The identity and the roots as they were when both had last been written again.
    whole: Provider,
    /// Whether the identity was written since then, and whether the roots were.
    written: (bool, bool),
}

/// A connection that a filter chain has taken.
#[derive(Debug, Clone)]
pub struct OpenConnection {
    /// The connection, with the addresses of both ends.
    pub connection: Connection,
    /// The index of the connection's chain; `None` for the default chain.
    pub index: Option<usize>,
    /// The connection's chain, as it was when it took the connection.
    pub chain: FilterChain,
    /// Whether the server has seen the peer's certificate.
    is_seen: bool,
    state: ConnectionState,
    /// The time at which the connection is closed at the latest; `None` for no such time.
    until: Option<i64>,
}

impl OpenConnection {
    /// Returns who is at the other end.
    pub const fn peer(&self) -> Peer<'_> {
        match (&self.connection.transport, self.is_seen) {
            (Transport::Plaintext, _) => Peer::Plaintext,
            (Transport::Tls(Some(own)), true) => Peer::Tls(Some(own)),
            (Transport::Tls(_), _) => Peer::Tls(None),
        }
    }
}

/// An RPC in flight.
#[derive(Debug, Clone)]
struct UnderWay {
    connection: String,
    rpc: Rpc,
    called: Called,
}

/// A running server.
pub struct RunningServer {
    /// The client, with the resources that it holds.
    pub client: Client,
    /// The address of the server, and the Listener that it asks for.
    pub server: ListeningServer,
    /// How the server behaves.
    pub dialect: ServerDialect,
    setup: Setup,
    files: Option<BTreeMap<String, Files>>,
    connections: BTreeMap<String, OpenConnection>,
    calls: BTreeMap<String, UnderWay>,
    /// The text of the Listener that was last sent; `None` if no update has had it.
    text: Option<String>,
    now: i64,
    /// The Listener as it was when it went away.
    gone: Option<TcpListener>,
    /// The Listener that stays in use, because an update counted as the same.
    kept: Option<TcpListener>,
    ended: Option<String>,
}

/// The outcome of an RPC.
#[derive(Debug, Clone, PartialEq)]
pub struct Called {
    /// How the RPC ends.
    pub end: End,
    /// What the layers did; `None` if the RPC did not reach them.
    pub handled: Option<Handled>,
}

impl RunningServer {
    /// Makes a server with the resources that `client` holds.
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
            gone: None,
            kept: None,
            ended: None,
        }
    }

    /// Returns the simulated time in milliseconds.
    pub const fn now(&self) -> i64 {
        self.now
    }

    /// Returns the Listener that the server uses.
    ///
    /// # Errors
    /// Fails if the server does not serve, and says why.
    pub fn serving(&self) -> Result<Serving, NotServing> {
        if let Some(words) = &self.ended {
            return Err(NotServing::Ended(words.clone()));
        }
        if self.setup.has_no_template && self.dialect.serves_without_template {
            return Ok(Serving::without_xds());
        }
        let mut serving = serving(&self.server, &self.client, &self.dialect)?;
        if self.dialect.lifetime.stays_away && self.gone.as_ref() == Some(&serving.listener) {
            return Err(NotServing::CameBack);
        }
        if let Some(kept) = &self.kept {
            serving.listener = kept.clone();
        }
        Ok(serving)
    }

    /// Connects under a name. An earlier connection of that name is replaced.
    pub fn connect(&mut self, name: &str, connection: Connection) -> End {
        self.connections.remove(name);
        let serving = match self.serving() {
            Ok(serving) => serving,
            Err(why) => return End::NotServing(why),
        };
        let chosen = crate::chain::choose(&serving.listener, &connection, &self.dialect).chosen;
        let providers = chosen.and_then(|(_, chain)| self.providers_of(chain));
        let program = self.program(providers.as_ref());
        let taken = admit::connect(&serving.listener, &connection, &program, &self.dialect);
        let (index, chain, is_seen) = match (&taken.peer, chosen) {
            (Ok(peer), Some((index, chain))) => (index, chain.clone(), matches!(peer, Peer::Tls(Some(_)))),
            (Err(end), _) => {
                let end = end.clone();
                if let End::Ended(words) = end {
                    self.end(words);
                }
                return end;
            }
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

    /// Closes a connection, as its client may.
    pub fn close(&mut self, name: &str) {
        self.connections.remove(name);
    }

    /// Returns the connection of a name.
    pub fn connection(&self, name: &str) -> Option<&OpenConnection> {
        self.connections.get(name)
    }

    /// Returns the state of the connection of a name.
    pub fn state(&self, name: &str) -> ConnectionState {
        let open = self.connections.get(name);
        open.map_or(ConnectionState::Closed, |open| open.state)
    }

    /// Returns the name of the certificate that the server shows on new connections of a chain.
    pub fn shows(&self, chain: &FilterChain) -> Option<String> {
        let providers = self.providers_of(chain);
        handshake::identity(chain, &self.program(providers.as_ref())).map(str::to_owned)
    }

    /// Sends an RPC on a connection, and waits for its end.
    pub fn call(&mut self, connection: &str, rpc: &Rpc, draw: &mut Draw<'_>) -> Called {
        let open = self.connections.get(connection);
        let Some(open) = open.filter(|open| open.state == ConnectionState::Open) else {
            return Called {
                end: End::Closed,
                handled: None,
            };
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
        if let End::Ended(words) = handled.end {
            self.end(words);
        }
        Called {
            end: handled.end.clone(),
            handled: Some(handled),
        }
    }

    /// Sends an RPC under a name. It ends with [`RunningServer::finish`], unless it is denied at
    /// once.
    pub fn begin(&mut self, name: &str, connection: &str, rpc: &Rpc, draw: &mut Draw<'_>) {
        let under_way = UnderWay {
            connection: connection.to_owned(),
            rpc: rpc.clone(),
            called: self.call(connection, rpc, draw),
        };
        self.calls.insert(name.to_owned(), under_way);
    }

    /// Ends the RPC of a name. Returns its connection, what was sent, and its outcome; `None` if
    /// there is no such RPC.
    pub fn finish(&mut self, name: &str) -> Option<(String, Rpc, Called)> {
        let call = self.calls.remove(name)?;
        self.close_idle();
        Some((call.connection, call.rpc, call.called))
    }

    /// Takes an update of the control plane. A Listener that has changed drains the connections
    /// before it.
    pub fn update(&mut self, sent: &SentTexts) -> Updated {
        let text = sent.named(ResourceType::Listener, &self.server.listener);
        let before = self.listener();
        let held = self.client.resources.listeners.get(&self.server.listener);
        let was_rejected = held.is_some_and(|held| held.rejected().is_some());
        let updated = self.client.take(sent);
        let mut rejected = updated.nacked.iter();
        let own = rejected
            .find(|nacked| nacked.resource_type == ResourceType::Listener && nacked.name == self.server.listener);
        if own.is_some_and(|own| own.is_unnamed) && !self.client.server.ignore_resource_deletion {
            self.client.resources.lose_listener(&self.server.listener);
        }
        let text = text.filter(|_| own.is_none());
        let is_sent = text.is_some();
        let is_told_again = was_rejected && self.dialect.lifetime.differs_after_rejection;
        let is_other = is_sent && self.text.is_some() && (text != self.text || is_told_again);
        if text.is_some() {
            self.text = text;
        }
        self.changed(before.as_ref(), is_sent, is_other);
        updated
    }

    /// Removes what the control plane no longer has. Routes stay in use, and so does a Listener if
    /// the bootstrap says so.
    pub fn remove(&mut self, names: &[(ResourceType, String)]) {
        let before = self.listener();
        for (kind, name) in names {
            let stays = *kind == ResourceType::RouteConfiguration || self.client.server.ignore_resource_deletion;
            if !stays {
                self.client.resources.remove(*kind, name);
            }
        }
        self.changed(before.as_ref(), false, false);
    }

    /// Replaces files of a certificate provider. New connections get them, as far as the server
    /// uses them.
    ///
    /// # Errors
    /// Fails if there is no such provider.
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
                own.for_each(|call| call.called.end = cut_off.clone());
            }
        }
    }

    /// Returns the Listener that is in use, if it can be used.
    fn listener(&self) -> Option<TcpListener> {
        self.kept.clone().or_else(|| self.newest())
    }

    fn newest(&self) -> Option<TcpListener> {
        let held = self.client.resources.listeners.get(&self.server.listener)?;
        held.value()?.tcp().cloned()
    }

    /// Drains connections if the Listener has changed.
    fn changed(&mut self, before: Option<&TcpListener>, is_sent: bool, is_other_text: bool) {
        if let Err(NotServing::Ended(words)) = self.serving() {
            self.end(&words);
            return;
        }
        let Some(before) = before else { return };
        let lifetime = self.dialect.lifetime;
        let after = self.newest();
        let is_same = after.as_ref().is_some_and(|after| match lifetime.drains_on {
            DrainsOn::Read => nameless(before) == nameless(after),
            DrainsOn::ReadAndNames => before == after,
            DrainsOn::Any => before == after && !is_other_text,
        });
        let is_same = is_same && !(is_sent && lifetime.policies_differ && before.has_policies());
        if is_same {
            return;
        }
        if let Some(after) = &after {
            if lifetime.keeps_at_other_address && !self.server.is_meant(&after.address) {
                return;
            }
            match lifetime.compares.map(|compares| compares(after, before)) {
                Some(Comparison::Ends) => return self.end(NULL),
                Some(Comparison::Same) => {
                    self.kept = Some(before.clone());
                    return;
                }
                Some(Comparison::Other) | None => {}
            }
        }
        self.kept = None;
        if after.is_none() {
            self.gone = Some(before.clone());
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

    /// Ends the program, and with it all connections.
    fn end(&mut self, words: &str) {
        self.ended = Some(words.to_owned());
        self.connections
            .values_mut()
            .for_each(|open| open.state = ConnectionState::Closed);
        let calls = self.calls.values_mut();
        calls.for_each(|call| call.called.end = End::Closed);
    }

    /// Closes connections that are drained and have no RPC left.
    fn close_idle(&mut self) {
        for (name, open) in &mut self.connections {
            let is_busy = || self.calls.values().any(|call| call.connection == *name);
            if open.state == ConnectionState::Draining && !is_busy() {
                open.state = ConnectionState::Closed;
            }
        }
    }

    /// Returns what the providers have for a chain.
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

/// Returns a Listener without the names of its chains.
fn nameless(listener: &TcpListener) -> TcpListener {
    let mut listener = listener.clone();
    let chains = listener.filter_chains.iter_mut();
    chains
        .chain(&mut listener.default_filter_chain)
        .for_each(|chain| chain.name.clear());
    listener
}
