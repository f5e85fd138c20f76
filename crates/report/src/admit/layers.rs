//! The layers of a server in words, in the order in which the server applies them.

use super::{Outcome, Sentence, cells, conditions};
use xdsctl_channel::client::server::ListeningServer;
use xdsctl_channel::rpc::chain::ChainFilter;
use xdsctl_channel::rpc::{Mismatch, words};
use xdsctl_document::secret;
use xdsctl_model::resource::filter::FilterConfig;
use xdsctl_model::resource::listener::Cidr;
use xdsctl_model::resource::listener::chain_place;
use xdsctl_model::resource::route::{Action, Route};
use xdsctl_server::admit::{Handled, Taken, decisions, shown};
use xdsctl_server::chain::ChainStep;
use xdsctl_server::dialect::ServerDialect;
use xdsctl_server::handshake::Peer;
use xdsctl_server::policy::{Asked, Decision};
use xdsctl_server::routing::Routes;
use xdsctl_server::words as words_of;
use xdsctl_server::{Answer, Connection, End, PeerCertificate, Rpc};

/// The question and the answer.
pub struct AdmitAnswer<'a> {
    /// The server.
    pub server: &'a ListeningServer,
    /// Why a newer version of the server's Listener is not in use, if there is such a version.
    pub rejected: Option<&'a str>,
    /// The connection.
    pub connection: &'a Connection,
    /// The RPC.
    pub rpc: Option<&'a Rpc>,
    /// What this family of servers does differently from others.
    pub dialect: &'a ServerDialect,
    /// What happened to the connection and the RPC.
    pub answer: &'a Answer<'a>,
    /// Whether values of headers that hold secrets are printed.
    pub shows_secrets: bool,
}

/// Returns the answer as sentences, one for each layer.
pub fn told(answer: &AdmitAnswer<'_>) -> Vec<Sentence> {
    let mut layers = vec![listener(answer)];
    let Some(taken) = &answer.answer.taken else {
        return layers;
    };
    layers.push(chain(taken));
    layers.extend(handshake(taken, answer.connection));
    if let (Some(handled), Some(rpc)) = (&answer.answer.handled, answer.rpc) {
        layers.extend(routes(handled, rpc, answer));
        layers.extend(filters(answer));
    }
    layers
}

fn listener(answer: &AdmitAnswer<'_>) -> Sentence {
    match &answer.answer.end {
        End::NotServing(why) => Sentence::new("listener", Outcome::No, words_of::not_serving(answer.server, why)),
        _ => serving(answer.server, answer.rejected),
    }
}

/// Says that a server serves; `rejected` says why a newer version of its Listener is not in use.
pub(super) fn serving(server: &ListeningServer, rejected: Option<&str>) -> Sentence {
    let ListeningServer { address, listener } = server;
    let update = rejected.map(|why| {
        let what = format!("a newer version is not taken, the one before it stays in use: {why}");
        Sentence::new("update", Outcome::Told, what)
    });
    let what = format!("`{listener}` is for the server at {address}");
    Sentence::new("listener", Outcome::Yes, what).with(update.into_iter().collect())
}

fn chains(indices: &[usize]) -> String {
    let names = indices.iter().map(|index| chain_place(Some(*index)));
    match indices {
        [] => "no chain".to_owned(),
        _ => crate::listed(names.collect::<Vec<_>>().into_iter(), 8),
    }
}

fn range(range: Option<Cidr>) -> String {
    range.map_or_else(|| "any".to_owned(), |range| range.to_string())
}

fn chain(taken: &Taken<'_>) -> Sentence {
    let some = |found: &[usize]| if found.is_empty() { Outcome::No } else { Outcome::Yes };
    let longest = |prefix, found: &[usize]| format!("{}, the longest that fits: {}", range(prefix), chains(found));
    let none = |whose: String| (Outcome::No, format!("no chain is for {whose}"));
    let steps = taken.chain.steps.iter().map(|step| {
        let (part, (outcome, what)) = match step {
            ChainStep::Destination(prefix, found) => ("destination", (some(found), longest(*prefix, found))),
            ChainStep::NoDestination(to) => ("destination", none(format!("connections to {to}"))),
            ChainStep::SourceType(kind, found) => {
                let what = format!("{}: {}", kind.name(), chains(found));
                ("source type", (some(found), what))
            }
            ChainStep::Source(prefix, found) => ("source", (Outcome::Yes, longest(*prefix, found))),
            ChainStep::NoSource(from) => ("source", none(format!("connections from {from}"))),
            ChainStep::Port(0) => ("source port", (Outcome::Yes, "any".to_owned())),
            ChainStep::Port(port) => ("source port", (Outcome::Yes, port.to_string())),
            ChainStep::NoPort(port) => ("source port", none(format!("port {port}"))),
            ChainStep::Several(left) => {
                let what = format!("more than one is left: {}", chains(left));
                ("chains", (Outcome::No, what))
            }
        };
        Sentence::new(part, outcome, what)
    });
    let (outcome, what) = match taken.chain.chosen {
        Some((index, _)) => (Outcome::Yes, format!("{} takes the connection", chain_place(index))),
        None => (Outcome::No, "none takes the connection, it is closed".to_owned()),
    };
    Sentence::new("filter chain", outcome, what).with(steps.collect())
}

/// Describes a certificate by its names.
fn certificate(certificate: &PeerCertificate) -> String {
    let kinds = [
        ("uri", &certificate.uris),
        ("dns", &certificate.dns_names),
        ("email", &certificate.emails),
    ];
    let names = kinds
        .into_iter()
        .flat_map(|(kind, names)| names.iter().map(move |name| format!("{kind} `{name}`")));
    let ips = certificate.ips.iter().map(|ip| format!("ip {ip}"));
    let subject = match certificate.subject.as_str() {
        "" => None,
        subject => Some(format!("subject `{subject}`")),
    };
    let all: Vec<String> = names.chain(ips).chain(subject).collect();
    match all.is_empty() {
        true => "no name".to_owned(),
        false => all.join(", "),
    }
}

fn handshake(taken: &Taken<'_>, connection: &Connection) -> Option<Sentence> {
    let asks = taken.asks?;
    let wants = cells::asked(asks);
    let own = shown(connection).map(certificate);
    let what = match &taken.peer {
        Ok(Peer::Plaintext) => wants.to_owned(),
        Ok(Peer::Tls(Some(own))) => format!("{wants}; it shows {}", certificate(own)),
        Ok(Peer::Tls(None)) => match own {
            Some(own) => format!("{wants}; that of the client is not seen: {own}"),
            None => format!("{wants}; the client has none"),
        },
        Err(End::HandshakeFailed(fault)) => format!("{wants}, and {}", words_of::handshake_fault(fault)),
        Err(_) => return None,
    };
    let outcome = if taken.peer.is_ok() { Outcome::Yes } else { Outcome::No };
    Some(Sentence::new("handshake", outcome, what))
}

fn routes(handled: &Handled, rpc: &Rpc, answer: &AdmitAnswer<'_>) -> Vec<Sentence> {
    let lacks = |part: &str, what: String| vec![Sentence::new(part, Outcome::No, what)];
    let held = match &handled.routes {
        Routes::Held(held) => held,
        Routes::Missing(name) => return lacks("routes", format!("RouteConfiguration `{name}` is not there")),
        Routes::Rejected(name, why) => {
            return lacks("routes", format!("RouteConfiguration `{name}` is not taken: {why}"));
        }
    };
    let Some(choice) = &handled.route else {
        return Vec::new();
    };
    let Some(host) = choice.virtual_host(held) else {
        return lacks("virtual host", format!("none has the authority `{}`", rpc.authority));
    };
    let domain = choice.host.and_then(|found| host.domains.get(found.domain));
    let domain = domain.map_or("", String::as_str);
    let (index, authority) = (host.index, &rpc.authority);
    let what = format!("virtual_hosts[{index}]: domain `{domain}` takes `{authority}`");
    let of_host = Sentence::new("virtual host", Outcome::Yes, what);
    let tried = choice.tried.iter().filter_map(|(position, why)| {
        let route = host.routes.get(*position)?;
        let what = mismatch(route, *why, rpc, answer);
        Some(Sentence::new(format!("routes[{}]", route.index), Outcome::No, what))
    });
    let (outcome, what) = match choice.chosen(held) {
        None => (Outcome::No, "none takes the RPC".to_owned()),
        Some(route) => {
            let asks = words::route_match(route, !answer.shows_secrets);
            match &route.action {
                Action::NonForwarding => (Outcome::Yes, format!("routes[{}] takes the RPC: {asks}", route.index)),
                Action::Route(_) | Action::Unknown => (
                    Outcome::No,
                    format!(
                        "routes[{}] takes the RPC, and has no non_forwarding_action: {asks}",
                        route.index
                    ),
                ),
            }
        }
    };
    let of_route = Sentence::new("route", outcome, what).with(tried.collect());
    vec![of_host, of_route]
}

fn mismatch(route: &Route, why: Mismatch, rpc: &Rpc, answer: &AdmitAnswer<'_>) -> String {
    match why {
        Mismatch::Path => format!("{}, it is `{}`", words::of_path(&route.path), rpc.method),
        Mismatch::Header(index) => {
            let Some(matcher) = route.headers.get(index) else {
                return String::new();
            };
            let value = (answer.dialect.route_header)(rpc, &matcher.name);
            let is_hidden = !answer.shows_secrets && secret::is_name(&matcher.name);
            let value = match value {
                None => "it is missing".to_owned(),
                Some(_) if is_hidden => "it has another".to_owned(),
                Some(value) => format!("it is `{value}`"),
            };
            format!("{}, {value}", words::of_header(matcher, !answer.shows_secrets))
        }
        Mismatch::Fraction { drawn, below } => format!("{drawn} of a million was drawn, below {below} matches"),
    }
}

/// Returns the filters that the RPC reaches, each with its decision; `None` for a filter that is
/// off or decides nothing.
pub(super) fn looks<'a>(answer: &'a AdmitAnswer<'_>) -> Vec<(&'a ChainFilter, Option<Decision<'a>>)> {
    let handled = answer.answer.handled.as_ref();
    let peer = answer.answer.taken.as_ref().and_then(|taken| taken.peer.as_ref().ok());
    let (Some(handled), Some(peer), Some(rpc)) = (handled, peer, answer.rpc) else {
        return Vec::new();
    };
    let asked = Asked {
        connection: answer.connection,
        peer: *peer,
        rpc,
        dialect: answer.dialect,
    };
    decisions(handled, asked)
}

/// Says whether a filter has `shadow_rules`, which no server evaluates.
pub(super) fn has_shadow_rules(filter: &ChainFilter) -> bool {
    matches!(&filter.config, FilterConfig::Rbac(rbac) if rbac.has_shadow_rules)
}

fn filters(answer: &AdmitAnswer<'_>) -> Vec<Sentence> {
    let looks = looks(answer).into_iter();
    let looks = looks.filter(|(look, _)| look.config.kind() != "router");
    let sentences = looks.map(|(look, decided)| {
        let part = format!("{} `{}`", look.config.kind(), look.name);
        let origin = format!("config of the {}", look.config_level.name());
        let shadow = has_shadow_rules(look).then(|| {
            let what = "no server of gRPC evaluates them, nothing is logged of what they would decide";
            Sentence::new("shadow_rules", Outcome::Told, what)
        });
        let mut sentence = match decided {
            _ if look.disabled => {
                let what = format!("switched off by the {}", look.disabled_level.name());
                Sentence::new(part, Outcome::Told, what)
            }
            None => Sentence::new(part, Outcome::Yes, format!("keeps nobody out, {origin}")),
            Some(decided) => {
                let outcome = if decided.is_allowed { Outcome::Yes } else { Outcome::No };
                let what = format!("{}, {origin}", conditions::decision(&decided));
                let parts = conditions::policies(&decided, answer.shows_secrets);
                Sentence::new(part, outcome, what).with(parts)
            }
        };
        sentence.parts.extend(shadow);
        sentence
    });
    sentences.collect()
}
