//! What the tests of a file have in common, and what a test sets for itself: world, clients,
//! backends, `never`.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use super::{Faulty, SuiteReader, fault};
use crate::{InitialConfig, Never, PlannedClient, PlannedServer, Test};
use xdsctl_channel::session::PlannedStart;
use xdsctl_channel::sim::script::value::{address, contradict, object, one_or_more, seconds, text, wrong};
use xdsctl_channel::sim::script::{Located, lookups, settings};
use xdsctl_document::source::node::{JsonMember, JsonNode, Value};
use xdsctl_model::profile;

/// The members of a client.
const CLIENT: [&str; 8] = [
    "target",
    "authority",
    "route_config",
    "cluster",
    "kind",
    "idle_timeout",
    "starts_idle",
    "seed",
];

/// The most clients of a test.
const MAX_CLIENTS: usize = 1000;

/// The most entries of `never` in a test: each RPC is held against all of them.
const MAX_NEVER: usize = 1000;

/// What the tests of a file have in common, or what one test sets for itself.
#[derive(Debug, Clone, Default)]
pub(super) struct Common {
    /// A test with these settings, and nothing else yet.
    pub test: Test,
    /// What all clients have.
    pub client: PlannedClient,
    pub server: Option<Arc<PlannedServer>>,
}

impl Common {
    pub fn of(reader: &SuiteReader<'_>, node: &JsonNode) -> Common {
        Common::default().with(reader, node)
    }

    /// Returns how many entries there are, without those of the world.
    pub fn count(&self) -> usize {
        let Test {
            env,
            resolve,
            clients,
            backends,
            never,
            ..
        } = &self.test;
        env.len() + resolve.len() + clients.len() + backends.len() + never.len()
    }

    /// Returns these settings with those that a test sets for itself. They replace the common ones,
    /// but backends that the test does not name stay, and both lists of `never` hold. What cannot
    /// be read is noted, and stays as it was.
    pub fn with(&self, reader: &SuiteReader<'_>, node: &JsonNode) -> Common {
        let mut own = self.clone();
        let said = |member: &str| node.get(member);
        if let Some(world) = said("world")
            && let Some(mut parts) = reader.keep(reader.located(one_or_more(world, part)))
        {
            for part in &mut parts {
                let (InitialConfig::Path(_, span) | InitialConfig::Inline(_, span)) = part;
                *span = reader.place(*span);
            }
            own.test.world = parts.into();
        }
        if let Some(Some(bootstrap)) = reader.keep(reader.located(text(node, "bootstrap"))) {
            own.test.bootstrap = Some(bootstrap);
        }
        if let Some(env) = said("env").and_then(|env| reader.keep(reader.located(switches(env)))) {
            own.test.env = env.into();
        }
        if let Some(resolve) = said("resolve").and_then(|resolve| reader.keep(reader.located(answers(resolve)))) {
            own.test.resolve = resolve.into();
        }
        if let Some(server) = said("server") {
            // The steps are those of a server, even if its members have faults.
            own.server = Some(Arc::new(reader.keep(reader.server(server)).unwrap_or_default()));
        }
        reader.keep(reader.client(node, &mut own.client));
        if let Some(clients) = said("clients") {
            let clients = reader.keep(reader.clients(clients, &own.client));
            own.test.clients = clients.unwrap_or_default().into();
        } else if CLIENT.iter().any(|member| said(member).is_some()) {
            reader.client_of_all(node, &mut own.test.clients);
        }
        if let Some(fleet) = said("fleet") {
            let fleet = reader.keep(reader.fleet(fleet, &own.client));
            own.test.fleet = fleet.unwrap_or_default().into();
        } else if CLIENT.iter().any(|member| said(member).is_some()) {
            let kinds: Vec<_> = own.test.fleet.iter().map(|client| client.kind).collect();
            reader.client_of_all(node, &mut own.test.fleet);
            // A fleet takes the place of `kind`.
            let clients = Arc::make_mut(&mut own.test.fleet).iter_mut();
            clients.zip(kinds).for_each(|(client, kind)| client.kind = kind);
        }
        if let Some(backends) = said("backends")
            && let Some(mut more) = reader.keep(reader.located(settings("backends", backends)))
        {
            for setting in &mut more {
                setting.span = reader.place(setting.span);
            }
            own.test.backends = own.test.backends.iter().cloned().chain(more).collect();
        }
        if let Some(answers) = said("lookups").and_then(|answers| reader.keep(reader.located(lookups(answers)))) {
            own.test.lookups = answers;
        }
        if let Some(never) = said("never") {
            let list = match never.list() {
                Some(list) => list,
                None => std::slice::from_ref(never),
            };
            let more = list.iter().filter_map(|one| {
                Some(Never {
                    span: reader.inside(one),
                    checks: reader.keep(reader.never(one))?,
                })
            });
            own.test.never = own.test.never.iter().cloned().chain(more).take(MAX_NEVER + 1).collect();
            if let Some(beyond) = own.test.never.get(MAX_NEVER) {
                let message = format!("a test has at most {MAX_NEVER} `never`");
                reader.note(fault(beyond.span, message));
            }
        }
        own
    }
}

impl SuiteReader<'_> {
    fn clients(&self, node: &JsonNode, common: &PlannedClient) -> Faulty<Vec<PlannedClient>> {
        let map = node.map().filter(|map| (1..=MAX_CLIENTS).contains(&map.len()));
        let map = self.located(map.ok_or_else(|| wrong("clients", node, "an object of clients by name, 1 to 1000")))?;
        let mut clients = Vec::new();
        for (number, member) in map.iter().enumerate() {
            let mut client = PlannedClient {
                name: member.name.clone(),
                span: self.place(member.at),
                // Each client draws its own random numbers.
                seed: common.seed.wrapping_add(number as u64),
                ..common.clone()
            };
            if member.node.value != Value::Null {
                self.members("a client", &member.node, &CLIENT)?;
                self.client(&member.node, &mut client)?;
            }
            clients.push(client);
        }
        Ok(clients)
    }

    /// Applies what one test sets for its client to the clients that all tests have.
    fn client_of_all(&self, node: &JsonNode, clients: &mut Arc<[PlannedClient]>) {
        let mut own = clients.to_vec();
        for client in &mut own {
            // Faults in `node` were noted where the test's own client was read.
            let _ = self.client(node, client);
        }
        *clients = own.into();
    }

    fn client(&self, node: &JsonNode, client: &mut PlannedClient) -> Faulty<()> {
        let starts = [
            ("target", PlannedStart::Target as fn(String) -> PlannedStart),
            ("route_config", PlannedStart::RouteConfig),
            ("cluster", PlannedStart::Cluster),
        ];
        let mut before: Option<&'static str> = None;
        for (member, start) in starts {
            let Some(name) = self.located(text(node, member))? else {
                continue;
            };
            if let (Some(before), Some(node)) = (before, node.get(member)) {
                let contradiction = contradict(member, before, node);
                return self.located(Err(contradiction));
            }
            before = Some(member);
            client.start = start(name);
        }
        if let Some(authority) = self.located(text(node, "authority"))? {
            client.authority = Some(authority);
        }
        if let (Some(name), Some(node)) = (self.located(text(node, "kind"))?, node.get("kind")) {
            let kind = profile::Client::parse_one(&name);
            client.kind = Some(kind.map_err(|error| fault(self.place(node.span), format!("`kind`: {error}")))?);
        }
        if let Some(idle_timeout_ms) = self.located(seconds(node, "idle_timeout"))? {
            client.idle_timeout_ms = Some(idle_timeout_ms);
        }
        if let Some(starts_idle) = node.get("starts_idle") {
            let flag = starts_idle
                .flag()
                .ok_or_else(|| wrong("starts_idle", starts_idle, "true or false"));
            client.starts_idle = self.located(flag)?;
        }
        if let Some(seed) = node.get("seed") {
            let whole = seed.whole().ok_or_else(|| wrong("seed", seed, "a whole number from 0"));
            client.seed = self.located(whole)?;
        }
        Ok(())
    }
}

fn part(node: &JsonNode) -> Result<InitialConfig, Located> {
    if let Some(path) = node.text().filter(|path| !path.is_empty()) {
        return Ok(InitialConfig::Path(path.to_owned(), node.span));
    }
    match node.get("@type") {
        Some(_) => Ok(InitialConfig::Inline(node.to_json(), node.span)),
        None => Err(wrong("world", node, "paths of files, and resources with an `@type`")),
    }
}

fn switches(node: &JsonNode) -> Result<Vec<(String, String)>, Located> {
    let map = object("env", node, "an object of switches by name")?;
    let switch = |member: &JsonMember| {
        let value = match member.node.flag() {
            Some(flag) => Some(flag.to_string()),
            None => member.node.word().map(str::to_owned),
        };
        let value = value.ok_or_else(|| wrong("env", &member.node, "a text"))?;
        Ok((member.name.clone(), value))
    };
    map.iter().map(switch).collect()
}

fn answers(node: &JsonNode) -> Result<BTreeMap<String, Vec<SocketAddr>>, Located> {
    let map = object("resolve", node, "an object of addresses by HOST:PORT")?;
    let answer = |member: &JsonMember| {
        let addresses = one_or_more(&member.node, |one| address("resolve", one))?;
        Ok((member.name.clone(), addresses))
    };
    map.iter().map(answer).collect()
}
