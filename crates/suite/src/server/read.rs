//! Reads the server of a test, its steps and what is expected of them from YAML.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use super::check::{ENDS, ExpectedEnd, ServerCheckKind};
use super::{Action, PlannedServer, ServerStep, ServerTest, TestRpc};
use crate::expect::{NONE, message, misnamed, names, rule, set};
use crate::read::{Faulty, SuiteReader, fault};
use xdsctl_channel::sim::script::value::{
    address, filled_object, flag, members, object, one_or_more, seconds, text, unknown, wrong,
};
use xdsctl_channel::sim::script::{Located, Step, code, pairs, read as read_step};
use xdsctl_document::source::node::{JsonMember, JsonNode, Value};
use xdsctl_model::profile;
use xdsctl_server::certificate::read_time;
use xdsctl_server::handshake::{Provider, Roots};
use xdsctl_server::running::{ConnectionState, NewFiles};
use xdsctl_server::{Connection, PeerCertificate, Rpc, Transport};

/// The members of a server.
const SERVER: [&str; 5] = ["listen", "xds_credentials", "certificates", "drain_grace", "at"];

/// The verbs of a server's steps.
const VERBS: [&str; 8] = [
    "connect", "call", "begin", "finish", "update", "remove", "rotate", "sleep",
];

const CONNECT: [&str; 9] = [
    "name",
    "from",
    "to",
    "tls",
    "san",
    "subject",
    "issuer",
    "not_before",
    "not_after",
];

const CALL: [&str; 5] = ["on", "method", "authority", "headers", "unimplemented"];

const EXPECT: [&str; 11] = [
    "ends",
    "policy",
    "chain",
    "virtual_host",
    "route",
    "status",
    "message",
    "shows",
    "nack",
    "connections",
    "serves",
];

/// Members of a test that are about channels.
const OF_CHANNELS: [&str; 10] = [
    "target",
    "authority",
    "route_config",
    "cluster",
    "seed",
    "clients",
    "fleet",
    "backends",
    "lookups",
    "never",
];

impl SuiteReader<'_> {
    /// Reads the `server` of a test, or of all tests of a file.
    pub(crate) fn server(&self, node: &JsonNode) -> Faulty<PlannedServer> {
        self.members("a server", node, &SERVER)?;
        let listen = self
            .located(text(node, "listen"))?
            .filter(|address| !address.is_empty());
        let Some(listen) = listen else {
            let message = "a server has `listen`, the address that it listens on, as in 0.0.0.0:8443".to_owned();
            return Err(fault(self.place(node.span), message));
        };
        let has_credentials = match node.get("xds_credentials") {
            Some(_) => self.located(flag(node, "xds_credentials"))?,
            None => true,
        };
        let providers = node.get("certificates").map(|node| self.located(providers(node)));
        Ok(PlannedServer {
            span: self.place(node.span),
            listen,
            has_no_credentials: !has_credentials,
            providers: providers.transpose()?,
            drain_grace: self.located(seconds(node, "drain_grace"))?,
            at: self.located(time(node, "at"))?,
        })
    }

    /// Reads a test of a server.
    pub(crate) fn server_test(
        &self,
        whole: Option<&JsonNode>,
        node: &JsonNode,
        server: &Arc<PlannedServer>,
        kind: Option<profile::Client>,
    ) -> Faulty<ServerTest> {
        for node in whole.into_iter().chain([node]) {
            for member in node.map().unwrap_or_default() {
                if OF_CHANNELS.contains(&member.name.as_str()) {
                    let message = format!("`{}` is about channels, and the test is of a `server`", member.name);
                    self.keep::<()>(Err(fault(self.place(member.at), message)));
                }
            }
        }
        let mut names = Names::default();
        let steps = self
            .steps(node)?
            .iter()
            .filter_map(|step| self.keep(self.server_step(step, &mut names)));
        Ok(ServerTest {
            server: Arc::clone(server),
            kind,
            steps: steps.collect(),
        })
    }

    fn server_step(&self, node: &JsonNode, names: &mut Names) -> Faulty<ServerStep> {
        let members = self.located(object("a step", node, "an object"))?;
        let mut verbs = members.iter().filter(|member| member.name != "expect");
        let verb = verbs.next();
        if let Some(second) = verbs.next() {
            return Err(self.second_verb(second));
        }
        let action = verb.map(|verb| self.located(action(verb, names))).transpose();
        let expect = node.get("expect");
        if verb.is_none() && expect.is_none() {
            return Err(self.empty_step(node));
        }
        let mut action = self.keep(action).flatten();
        if let (Some(Action::Update(sent)), true) = (&mut action, self.is_yaml()) {
            sent.of_yaml();
        }
        let mut checks = Vec::new();
        if let Some(expect) = expect {
            let own = self.members("expect", expect, &EXPECT)?;
            for member in own.iter().filter(|member| EXPECT.contains(&member.name.as_str())) {
                let read = self.located(expectation(member)).and_then(|what| {
                    let check = self.check_of(member, what);
                    match why_not(&check.what, verb.map(|verb| verb.name.as_str())) {
                        Some(why) => Err(fault(check.span, format!("nothing can be expected here: {why}"))),
                        None => Ok(check),
                    }
                });
                checks.extend(self.keep(read));
            }
        }
        Ok(ServerStep {
            span: self.place_of_step(node, members),
            action,
            expect: checks,
        })
    }
}

/// The names that earlier steps have given.
#[derive(Debug, Default)]
struct Names {
    last: Option<String>,
    connections: Vec<String>,
    begun: Vec<String>,
}

/// Says why a step with this verb, or without one, cannot have a check.
fn why_not(what: &ServerCheckKind, verb: Option<&str>) -> Option<&'static str> {
    let (verbs, why): (&[&str], _) = match what {
        ServerCheckKind::Ends(_) | ServerCheckKind::Chain(_) => (
            &["connect", "call", "finish"],
            "`connect`, `call` and `finish` end, other steps do not",
        ),
        ServerCheckKind::Policy(_)
        | ServerCheckKind::VirtualHost(_)
        | ServerCheckKind::Route(_)
        | ServerCheckKind::Status(_)
        | ServerCheckKind::Message(_) => (&["call", "finish"], "the step waits for no RPC: `call` and `finish` do"),
        ServerCheckKind::Shows(_) => (&["connect"], "the step makes no connection"),
        ServerCheckKind::Nack(_) => (&["update"], "the step sends no update"),
        // The server has these after any step.
        ServerCheckKind::Connections(_) | ServerCheckKind::Serves(_) => return None,
    };
    let Some(verb) = verb else {
        return Some("the step does nothing");
    };
    (!verbs.contains(&verb)).then_some(why)
}

fn action(verb: &JsonMember, names: &mut Names) -> Result<Action, Located> {
    let node = &verb.node;
    Ok(match verb.name.as_str() {
        "connect" => {
            members("connect", node, &CONNECT)?;
            let name = text(node, "name")?.unwrap_or_default();
            names.last = Some(name.clone());
            names.connections.push(name.clone());
            let connection = connection(node)?;
            Action::Connect { name, connection }
        }
        "call" => {
            members("call", node, &CALL)?;
            Action::Call {
                on: on(node, names)?,
                call: call(node)?,
            }
        }
        "begin" => {
            let known = [&CALL[..], &["name"]].concat();
            members("begin", node, &known)?;
            let name = text(node, "name")?.unwrap_or_default();
            names.begun.push(name.clone());
            Action::Begin {
                name,
                on: on(node, names)?,
                call: call(node)?,
            }
        }
        "finish" => {
            let name = node
                .text()
                .ok_or_else(|| wrong("finish", node, "the name of a `begin`"))?;
            match names.begun.iter().position(|begun| begun == name) {
                Some(index) => _ = names.begun.swap_remove(index),
                None => return Err(wrong("finish", node, "the name of a `begin` before it, each once")),
            }
            Action::Finish(name.to_owned())
        }
        "rotate" => {
            let map = filled_object("rotate", node, "an object of files by certificate provider")?;
            let files = map
                .iter()
                .map(|member| Ok((member.name.clone(), rotated(&member.node)?)));
            Action::Rotate(files.collect::<Result<_, Located>>()?)
        }
        "update" | "remove" | "sleep" => match read_step(verb)? {
            Step::Update { sent, .. } => Action::Update(sent),
            Step::Remove(names) => Action::Remove(names),
            Step::Sleep(milliseconds) => Action::Sleep(milliseconds),
            _ => return Err(wrong("remove", node, "a list of pairs of type URL and name")),
        },
        _ => return Err(unknown("a step of a server", verb, &[&VERBS[..], &["expect"]].concat())),
    })
}

/// Returns the connection of an RPC: the one that it names, or else the last one.
fn on(node: &JsonNode, names: &Names) -> Result<String, Located> {
    let named = text(node, "on")?;
    let is_known = |name: &String| names.connections.contains(name);
    match (named, node.get("on")) {
        (Some(name), _) if is_known(&name) => Ok(name),
        (Some(_), Some(at)) => Err(wrong("on", at, "the name of a `connect` before it")),
        _ => names
            .last
            .clone()
            .ok_or_else(|| wrong("call", node, "behind a `connect`: an RPC needs a connection")),
    }
}

fn connection(node: &JsonNode) -> Result<Connection, Located> {
    let ip = |member: &str| -> Result<Option<SocketAddr>, Located> {
        let Some(node) = node.get(member) else { return Ok(None) };
        let bare = node.text().and_then(|text| text.parse::<IpAddr>().ok());
        match bare {
            Some(ip) => Ok(Some(SocketAddr::new(ip, 0))),
            None => address(member, node).map(Some),
        }
    };
    let local = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
    let shown = CONNECT.iter().skip(4).any(|member| node.get(member).is_some());
    let speaks_tls = flag(node, "tls")?;
    if let (true, Some(tls), false) = (shown, node.get("tls"), speaks_tls) {
        return Err(wrong("tls", tls, "true where a certificate is shown"));
    }
    Ok(Connection {
        from: ip("from")?.unwrap_or(local),
        // 0.0.0.0 stands for the server's own address, which is known later.
        to: ip("to")?.unwrap_or(SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0)),
        transport: match (shown, speaks_tls) {
            (true, _) => Transport::Tls(Some(certificate(node)?)),
            (false, true) => Transport::Tls(None),
            (false, false) => Transport::Plaintext,
        },
    })
}

fn certificate(node: &JsonNode) -> Result<PeerCertificate, Located> {
    let mut own = PeerCertificate {
        subject: text(node, "subject")?.unwrap_or_default(),
        issuer: text(node, "issuer")?.unwrap_or_default(),
        not_before: time(node, "not_before")?,
        not_after: time(node, "not_after")?,
        ..PeerCertificate::default()
    };
    if let Some(names) = node.get("san") {
        let add = |one: &JsonNode| {
            let is_added = one.text().is_some_and(|name| own.add_name(name));
            is_added.then_some(()).ok_or_else(|| {
                wrong(
                    "san",
                    one,
                    "a name like dns:a.example, uri:spiffe://prod/cart, email: or ip:",
                )
            })
        };
        one_or_more(names, add)?;
    }
    Ok(own)
}

fn call(node: &JsonNode) -> Result<TestRpc, Located> {
    let method = text(node, "method")?.filter(|method| method.starts_with('/'));
    let method =
        method.ok_or_else(|| wrong("method", node.get("method").unwrap_or(node), "/package.Service/Method"))?;
    let headers = match node.get("headers") {
        Some(headers) => pairs(headers).ok_or_else(|| wrong("headers", headers, "a list of pairs of texts"))?,
        None => Vec::new(),
    };
    let authority = text(node, "authority")?;
    Ok(TestRpc {
        has_authority: authority.is_some(),
        rpc: Rpc {
            method,
            authority: authority.unwrap_or_default(),
            headers,
            is_unimplemented: flag(node, "unimplemented")?,
            is_https: false,
        },
    })
}

/// Reads a time as seconds since 1970.
fn time(node: &JsonNode, member: &str) -> Result<Option<i64>, Located> {
    let Some(node) = node.get(member) else { return Ok(None) };
    let time = node.text().and_then(read_time);
    time.map(Some)
        .ok_or_else(|| wrong(member, node, "a time like 2026-11-24T18:00:00Z"))
}

/// Reads the files that certificate providers have at first.
fn providers(node: &JsonNode) -> Result<BTreeMap<String, Provider>, Located> {
    let map = object("certificates", node, "an object of files by certificate provider")?;
    map.iter()
        .map(|member| {
            let files = rotated(&member.node)?;
            let provider = Provider {
                identity: files.identity.flatten(),
                roots: files.roots.map(Roots::Of),
            };
            Ok((member.name.clone(), provider))
        })
        .collect()
}

/// Reads the files of one provider: `{identity: NAME, roots: [NAME]}`. An identity of `null` cannot
/// be used.
fn rotated(node: &JsonNode) -> Result<NewFiles, Located> {
    members("a certificate provider", node, &["identity", "roots"])?;
    let identity = match node.get("identity") {
        None => None,
        Some(one) if one.value == Value::Null => Some(None),
        Some(one) => {
            let name = one
                .text()
                .ok_or_else(|| wrong("identity", one, "the name of a certificate, or null"))?;
            Some(Some(name.to_owned()))
        }
    };
    let name = |one: &JsonNode| {
        let name = one.text().map(str::to_owned);
        name.ok_or_else(|| wrong("roots", one, "the name of an authority, or a list of them"))
    };
    Ok(NewFiles {
        identity,
        roots: node.get("roots").map(|roots| one_or_more(roots, name)).transpose()?,
    })
}

fn expectation(member: &JsonMember) -> Result<ServerCheckKind, Located> {
    let node = &member.node;
    let name = member.name.as_str();
    let texts = |wanted| names(member, wanted);
    Ok(match name {
        "ends" => ServerCheckKind::Ends(set(node, |one| {
            one.text()
                .and_then(ExpectedEnd::of)
                .ok_or_else(|| misnamed("ends", one, format!(", there are `{}`", ENDS.join("`, `"))))
        })?),
        "policy" => ServerCheckKind::Policy(texts("the name of a policy, or none")?),
        "chain" => ServerCheckKind::Chain(texts("filter_chains[0], default_filter_chain, or the name of a chain")?),
        "virtual_host" => ServerCheckKind::VirtualHost(texts("the name of a virtual host")?),
        "route" => ServerCheckKind::Route(texts("the number of a route from 0, or its name")?),
        "status" => ServerCheckKind::Status(set(node, |one| code("status", one))?),
        "message" => ServerCheckKind::Message(message(node)?),
        "shows" => ServerCheckKind::Shows(texts("the name of a certificate of the server")?),
        "nack" => ServerCheckKind::Nack(match node.text() {
            Some(NONE) => Vec::new(),
            _ => one_or_more(node, rule)?,
        }),
        "connections" => {
            let map = filled_object(name, node, "an object of states by the name of a connection")?;
            let state = |member: &JsonMember| {
                let known = ConnectionState::ALL
                    .into_iter()
                    .find(|state| member.node.text() == Some(state.name()));
                let known = known.ok_or_else(|| wrong(name, &member.node, "open, draining or closed"))?;
                Ok((member.name.clone(), known))
            };
            ServerCheckKind::Connections(map.iter().map(state).collect::<Result<_, Located>>()?)
        }
        "serves" => ServerCheckKind::Serves(node.flag().ok_or_else(|| wrong(name, node, "true or false"))?),
        _ => return Err(unknown("expect", member, &EXPECT)),
    })
}
