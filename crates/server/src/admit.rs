//! The whole way of a connection and an RPC through a server, layer by layer.

use crate::chain::{self, ChainChoice};
use crate::connection::{Connection, PeerCertificate, Rpc, Transport};
use crate::dialect::{NoAuthority, Refusal, ServerDialect};
use crate::fatal;
use crate::handshake::{self, Asks, HandshakeFault, Peer, Program};
use crate::policy::{self, Asked, Decision};
use crate::routing::{self, RouteChoice, Routes};
use crate::serving::{NotServing, Serving};
use xdsctl_channel::client::Client;
use xdsctl_channel::rpc::chain::{self as overrides, Chain, ChainFilter};
use xdsctl_channel::rpc::{Draw, Level};
use xdsctl_model::resource::filter::{FilterConfig, HttpFilter};
use xdsctl_model::resource::listener::{FilterChain, TcpListener};
use xdsctl_model::resource::route::Action;
use xdsctl_model::status::{Code, Status};

/// How a connection and an RPC end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The server does not serve at all.
    NotServing(NotServing),
    /// No filter chain takes the connection, which is closed.
    Closed,
    /// The handshake fails.
    HandshakeFailed(HandshakeFault),
    /// A filter chain takes the connection, and there is no RPC.
    Connected,
    /// The RPC reaches the application.
    Served,
    /// The stream of the RPC is reset.
    Reset,
    /// The RPC fails before it reaches the application.
    Refused(Status),
    /// The server's program ends, with these words.
    Ended(&'static str),
}

impl End {
    /// Says whether the connection, and the RPC on it if there is one, is let in.
    pub const fn is_let_in(&self) -> bool {
        matches!(self, End::Served | End::Connected)
    }

    /// Returns the words for reports.
    pub const fn name(&self) -> &'static str {
        match self {
            End::NotServing(_) => "not serving",
            End::Closed => "closed",
            End::HandshakeFailed(_) => "handshake failed",
            End::Connected => "connected",
            End::Served => "served",
            End::Reset => "reset",
            End::Ended(_) => "program ended",
            End::Refused(status) => match status.code {
                Code::PermissionDenied => "denied",
                _ => "refused",
            },
        }
    }
}

/// What happens to a connection.
#[derive(Debug, Clone, PartialEq)]
pub struct Taken<'a> {
    /// The filter chain, and how it was found.
    pub chain: ChainChoice<'a>,
    /// What the chain asks of the client; `None` without a chain.
    pub asks: Option<Asks>,
    /// The peer, or why there is no connection.
    pub peer: Result<Peer<'a>, End>,
}

/// An RPC on a connection that a chain has taken.
#[derive(Debug, Clone, PartialEq)]
pub struct Handled {
    /// The routes of the chain.
    pub routes: Routes,
    /// The route that takes the RPC; `None` without routes.
    pub route: Option<RouteChoice>,
    /// The filters with their overrides, in order.
    pub filters: Option<Chain>,
    /// How many of the filters the RPC reaches.
    pub reached: usize,
    /// How the RPC ends.
    pub end: End,
}

/// The answers of all layers.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer<'a> {
    /// The connection; `None` if the server does not serve.
    pub taken: Option<Taken<'a>>,
    /// The RPC; `None` if there is none, or if it has no connection.
    pub handled: Option<Handled>,
    /// How the connection or the RPC ends.
    pub end: End,
}

/// Connects: chooses the filter chain, and shakes hands.
pub fn connect<'a>(
    listener: &'a TcpListener,
    connection: &'a Connection,
    program: &Program<'_>,
    dialect: &ServerDialect,
) -> Taken<'a> {
    let chain = chain::choose(listener, connection, dialect);
    let fatal = fatal::of_connection(listener, connection, &chain, dialect);
    let (asks, peer) = match (fatal, chain.chosen) {
        (Some(words), _) => (None, Err(End::Ended(words))),
        (None, None) => (None, Err(End::Closed)),
        (None, Some((_, chosen))) => {
            let peer = handshake::shake(chosen, connection, program, dialect);
            let asks = Asks::of(chosen, program, dialect);
            (Some(asks), peer.map_err(End::HandshakeFailed))
        }
    };
    Taken { chain, asks, peer }
}

/// Handles an RPC on a connection that a chain has taken.
pub fn call(
    chain: &FilterChain,
    peer: Peer<'_>,
    connection: &Connection,
    rpc: &Rpc,
    dialect: &ServerDialect,
    client: &Client,
    draw: &mut Draw<'_>,
) -> Handled {
    let manager = &chain.http_connection_manager;
    let asked = Asked {
        connection,
        peer,
        rpc,
        dialect,
    };
    let mut handled = Handled {
        routes: Routes::of(&manager.routes, client),
        route: None,
        filters: None,
        reached: 0,
        end: End::Served,
    };
    if let Err(end) = handled.pass(&manager.http_filters, asked, client, draw) {
        handled.end = end;
    }
    handled
}

impl Handled {
    /// Takes the RPC through routes and filters.
    ///
    /// # Errors
    /// Fails if the RPC does not reach the application, and says how it ends.
    fn pass(
        &mut self,
        http_filters: &[HttpFilter],
        asked: Asked<'_>,
        client: &Client,
        draw: &mut Draw<'_>,
    ) -> Result<(), End> {
        let Asked { rpc, dialect, .. } = asked;
        let refuse = |refusal: Refusal<'_>| Err(refused(dialect, client, refusal));
        if rpc.is_unimplemented && dialect.unimplemented_first {
            return refuse(Refusal::Unimplemented(&rpc.method));
        }
        if rpc.authority.is_empty() && dialect.no_authority == NoAuthority::Reset {
            return Err(End::Reset);
        }
        let held = match &self.routes {
            Routes::Held(held) => std::sync::Arc::clone(held),
            Routes::Missing(name) => return refuse(Refusal::NoRoutes(name)),
            Routes::Rejected(name, why) => return refuse(Refusal::BadRoutes(name, why)),
        };
        if rpc.authority.is_empty() && dialect.no_authority == NoAuthority::Unknown {
            return refuse(Refusal::NoAuthority);
        }
        let choice = self.route.insert(routing::choose(&held, rpc, dialect, draw));
        let Some(host) = choice.virtual_host(&held) else {
            return refuse(Refusal::NoVirtualHost(&rpc.authority));
        };
        let Some(route) = choice.chosen(&held) else {
            return refuse(Refusal::NoRoute);
        };
        if route.action != Action::NonForwarding {
            return refuse(Refusal::InappropriateAction);
        }
        let levels = [
            (Level::VirtualHost, &host.typed_per_filter_config),
            (Level::Route, &route.typed_per_filter_config),
        ];
        let levels = if dialect.ignores_overrides {
            &[][..]
        } else {
            &levels[..]
        };
        let filters = overrides::build(http_filters, levels);
        let mut outcome = self.run(&filters, asked, client);
        self.filters = Some(filters);
        if rpc.is_unimplemented && outcome.is_ok() {
            outcome = match fatal::of_unimplemented(rpc, dialect) {
                Some(words) => Err(End::Ended(words)),
                None => refuse(Refusal::Unimplemented(&rpc.method)),
            };
        }
        let decided = decisions(self, asked);
        match fatal::of_decisions(decided.iter().filter_map(|(_, decision)| decision.as_ref()), asked) {
            Some(words) => Err(End::Ended(words)),
            None => outcome,
        }
    }

    /// Runs the filters until one denies the RPC.
    fn run(&mut self, filters: &Chain, asked: Asked<'_>, client: &Client) -> Result<(), End> {
        for filter in filters.iter() {
            self.reached += 1;
            if filter.disabled {
                continue;
            }
            if let Some(words) = fatal::of_filter(&filter.config) {
                return Err(End::Ended(words));
            }
            let decision = decision(&filter.config, asked);
            if let Some(denial) = decision.filter(|decision| !decision.is_allowed) {
                let refusal = denial
                    .matched()
                    .map_or(Refusal::NoPolicy, |policy| Refusal::Policy(policy.name));
                return Err(refused(asked.dialect, client, refusal));
            }
        }
        Ok(())
    }
}

/// Returns what a filter decides; `None` if it decides nothing.
pub fn decision<'a>(config: &'a FilterConfig, asked: Asked<'a>) -> Option<Decision<'a>> {
    Some(policy::decide(config.rbac_rules()?, asked))
}

/// Returns the filters that an RPC reached, each with its decision. The decision is `None` if the
/// filter is disabled or decides nothing.
pub fn decisions<'a>(handled: &'a Handled, asked: Asked<'a>) -> Vec<(&'a ChainFilter, Option<Decision<'a>>)> {
    let filters = handled.filters.iter().flat_map(|chain| chain.iter());
    let decided = filters.take(handled.reached).map(|filter| match filter.disabled {
        true => (filter, None),
        false => (filter, decision(&filter.config, asked)),
    });
    decided.collect()
}

fn refused(dialect: &ServerDialect, client: &Client, refusal: Refusal<'_>) -> End {
    let code = match refusal {
        Refusal::NoRoutes(_) => dialect.missing_routes,
        Refusal::BadRoutes(..) | Refusal::NoVirtualHost(_) | Refusal::NoRoute | Refusal::InappropriateAction => {
            Code::Unavailable
        }
        Refusal::NoAuthority => Code::Unknown,
        Refusal::NoPolicy | Refusal::Policy(_) => Code::PermissionDenied,
        Refusal::Unimplemented(_) => Code::Unimplemented,
    };
    End::Refused(Status::new(code, (dialect.words)(refusal, client)))
}

/// What a server is asked: a connection, and maybe an RPC on it.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The connection.
    pub connection: &'a Connection,
    /// The RPC on it, if there is one.
    pub rpc: Option<&'a Rpc>,
    /// The program around the server.
    pub program: Program<'a>,
}

/// Asks all layers of a server.
pub fn admit<'a>(
    serving: &'a Result<Serving, NotServing>,
    question: Question<'a>,
    dialect: &ServerDialect,
    client: &Client,
    draw: &mut Draw<'_>,
) -> Answer<'a> {
    let serving = match serving {
        Ok(serving) => serving,
        Err(why) => {
            return Answer {
                taken: None,
                handled: None,
                end: End::NotServing(why.clone()),
            };
        }
    };
    let connection = question.connection;
    let taken = connect(&serving.listener, connection, &question.program, dialect);
    let handled = match (&taken.peer, taken.chain.chosen, question.rpc) {
        (Ok(peer), Some((_, chain)), Some(rpc)) => Some(call(chain, *peer, connection, rpc, dialect, client, draw)),
        _ => None,
    };
    let end = match (&handled, &taken.peer) {
        (Some(handled), _) => handled.end.clone(),
        (None, Err(end)) => end.clone(),
        (None, Ok(_)) => End::Connected,
    };
    Answer {
        taken: Some(taken),
        handled,
        end,
    }
}

/// Returns the certificate that a client shows on a connection.
pub const fn shown(connection: &Connection) -> Option<&PeerCertificate> {
    match &connection.transport {
        Transport::Plaintext | Transport::Tls(None) => None,
        Transport::Tls(Some(certificate)) => Some(certificate),
    }
}
