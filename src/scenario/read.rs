//! Suites out of their YAML or JSON. Nothing that stands there is passed over; every fault of a file is found, one a test.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use super::expect::Sight;
use super::router_check;
use super::{Fault, Never, Part, PlannedClient, PlannedStart, PlannedStep, Suite, Test};
use crate::sim::Lookups;
use crate::sim::script::value::{address, one_or_more, text, unknown, wrong};
use crate::sim::script::{Located, Step, is_verb, lookups, read as read_step, settings};
use crate::source::node::{Broken, Member, Node, Why};
use crate::source::{Source, Span};

/// What can be said of a test, or of all tests of a file.
pub const TEST_MEMBERS: [&str; 16] = [
    "name",
    "world",
    "bootstrap",
    "env",
    "resolve",
    "target",
    "authority",
    "route_config",
    "cluster",
    "seed",
    "clients",
    "backends",
    "lookups",
    "never",
    "steps",
    "tests",
];

/// What can be said of a client.
const CLIENT: [&str; 5] = ["target", "authority", "route_config", "cluster", "seed"];

/// Members of a step beside what it does.
const BESIDE: [&str; 2] = ["expect", "client"];

/// Most clients of a test.
const MAX_CLIENTS: usize = 1000;

/// Most of what no RPC of a test may do: each RPC is held against all of it.
const MAX_NEVER: usize = 1000;

/// Most of what the tests of a file have in common, times the tests: every test begins with all of it.
const MAX_SHARED: usize = 1_000_000;

/// A value, or what is wrong with it.
pub(super) type Faulty<T> = Result<T, Fault>;

#[cold]
pub(super) const fn fault(span: Span, message: String) -> Fault {
    Fault { span, message }
}

/// Reads values of one document.
pub(super) struct Reader<'s> {
    source: &'s Source,
}

impl Suite {
    /// Reads a document.
    ///
    /// # Errors
    /// What is wrong with it: at most one fault in a test.
    pub fn read(source: &Source) -> Result<Suite, Vec<Fault>> {
        let node = match Node::of(source) {
            Ok(Some(node)) => node,
            Ok(None) => {
                let message = NOTHING;
                return Err(vec![fault(Span::default(), message.to_owned())]);
            }
            Err(Broken {
                why: Why::Several,
                span,
            }) => {
                let message = format!("a second document, and a suite is a single one: {TO_BEGIN}");
                return Err(vec![fault(span, message)]);
            }
            Err(broken) => return Err(vec![fault(broken.span, broken.why.to_string())]),
        };
        Reader { source }.suite(&node)
    }
}

/// Says whether a document is meant as a suite: it has, or nearly has, what makes one.
fn is_meant(node: &Node) -> bool {
    let is_near = |member: &Member| {
        let near = crate::text::nearest(&member.name, ["steps", "tests"].into_iter());
        TEST_MEMBERS.contains(&member.name.as_str()) && !is_common(&member.name) || near.is_some()
    };
    node.map()
        .is_some_and(|members| members.is_empty() || members.iter().any(is_near))
}

/// Members that resources have too.
fn is_common(name: &str) -> bool {
    matches!(name, "name" | "cluster")
}

/// What to do with a file that has nothing.
const NOTHING: &str = "there is no test in it: a suite has `steps`, or `tests` of which each has `steps`; `xdsctl test --init FILE` begins one for a dump";

/// What to do with a file that is none.
const TO_BEGIN: &str =
    "a suite has `steps`, and names what a control plane sends as its `world`; `xdsctl test --init FILE` begins one";

impl<'s> Reader<'s> {
    /// The place in the document.
    pub(super) fn place(&self, span: Span) -> Span {
        self.source.to_document(span)
    }

    /// A fault of a value, in the document.
    pub(super) fn located<T>(&self, read: Result<T, Located>) -> Faulty<T> {
        read.map_err(|located| fault(self.place(located.span), located.error.to_string()))
    }

    pub(super) fn members<'n>(&self, place: &'static str, node: &'n Node, known: &[&str]) -> Faulty<&'n [Member]> {
        self.located(crate::sim::script::value::members(place, node, known))
    }

    fn suite(&self, node: &Node) -> Result<Suite, Vec<Fault>> {
        let one = |fault: Fault| vec![fault];
        // The oldest files of router_check_tool are a list.
        let checks = node.list().or_else(|| node.get("tests").and_then(Node::list));
        if let Some(checks) = checks.filter(|list| list.first().is_some_and(router_check::is_one)) {
            return self.router_checks(checks);
        }
        if !is_meant(node) {
            return Err(vec![fault(
                self.head(node),
                format!("this is no suite, it has neither `steps` nor `tests`: {TO_BEGIN}"),
            )]);
        }
        self.misplaced(node).map_err(one)?;
        self.members("a suite", node, &TEST_MEMBERS).map_err(one)?;
        let common = Common::of(self, node).map_err(one)?;
        match (node.get("steps"), node.get("tests")) {
            (Some(_), None) => {
                let test = self.test(node, &common).map_err(one)?;
                Ok(Suite { tests: vec![test] })
            }
            (None, Some(tests)) => {
                let list = tests.list().filter(|list| !list.is_empty());
                let list = list.ok_or_else(|| wrong("tests", tests, "a list of tests, at least one"));
                let list = self.located(list).map_err(one)?;
                let shared = common.count();
                if shared.saturating_mul(list.len()) > MAX_SHARED {
                    let message = format!(
                        "each of {} tests would begin with {shared} backends, clients, switches, DNS names and `never`, the limit is \
                         {MAX_SHARED} in all: make several files",
                        list.len()
                    );
                    return Err(one(fault(self.place(tests.span), message)));
                }
                let (mut read, mut faults) = (Vec::new(), Vec::new());
                let mut names: BTreeMap<String, Span> = BTreeMap::new();
                for node in list {
                    match self.named(node, &common) {
                        Ok(test) => {
                            if names.insert(test.name.clone(), test.span).is_some() {
                                let message = format!("a test before it is called `{}` too", test.name);
                                faults.push(fault(test.span, message));
                            }
                            read.push(test);
                        }
                        Err(found) => faults.push(found),
                    }
                }
                match faults.is_empty() {
                    true => Ok(Suite { tests: read }),
                    false => Err(faults),
                }
            }
            (Some(steps), Some(_)) => {
                let message = "a suite has `steps` or `tests`, not both".to_owned();
                Err(vec![fault(self.place(steps.span), message)])
            }
            (None, None) => {
                let message = NOTHING;
                Err(vec![fault(self.place(node.span), message.to_owned())])
            }
        }
    }

    /// Finds what is said of a step where no step is, and lists with nothing in them.
    fn misplaced(&self, node: &Node) -> Faulty<()> {
        for member in node.map().unwrap_or_default() {
            let name = member.name.as_str();
            let is_of_step = is_verb(name) || BESIDE.contains(&name);
            if is_of_step && !TEST_MEMBERS.contains(&name) {
                let message = format!("`{name}` belongs to a step, and stands in the list `steps`");
                return Err(fault(self.place(member.at), message));
            }
            if matches!(name, "steps" | "tests") && member.node.value == crate::source::node::Value::Null {
                let message = format!("`{name}` has nothing in it, must be a list");
                return Err(fault(self.place(member.at), message));
            }
        }
        Ok(())
    }

    /// A test of a list.
    fn named(&self, node: &Node, common: &Common) -> Faulty<Test> {
        let known = TEST_MEMBERS.split_last().map_or(&[][..], |(_, known)| known);
        self.misplaced(node)?;
        self.members("a test", node, known)?;
        let own = common.with(self, node)?;
        let name = self.located(text(node, "name"))?.filter(|name| !name.is_empty());
        if name.is_none() {
            return Err(fault(self.head(node), "a test of several has a `name`".to_owned()));
        }
        if node.get("steps").is_none() {
            return Err(fault(self.head(node), "a test has `steps`".to_owned()));
        }
        self.test(node, &own)
    }

    /// Where an object begins: its first key.
    fn head(&self, node: &Node) -> Span {
        let first = node.map().and_then(|members| members.first());
        self.place(first.map_or(node.span, |member| member.at))
    }

    /// The members of an object, without its brackets.
    fn inside(&self, node: &Node) -> Span {
        let members = node.map().unwrap_or_default();
        match (members.first(), members.last()) {
            (Some(first), Some(last)) => self.place(Span::new(first.at.start, last.node.span.end)),
            _ => self.place(node.span),
        }
    }

    fn test(&self, node: &Node, common: &Common) -> Faulty<Test> {
        let mut common = common.clone();
        if common.clients.is_empty() {
            let span = self.head(node);
            common.clients = Arc::from([PlannedClient {
                span,
                ..common.client.clone()
            }]);
        }
        let alike = common
            .clients
            .len()
            .saturating_mul(common.backends.len() + common.resolve.len());
        if alike > MAX_SHARED {
            let message = format!(
                "each of {} clients would begin with {} backends and DNS names, the limit is {MAX_SHARED} in all",
                common.clients.len(),
                common.backends.len() + common.resolve.len()
            );
            return Err(fault(self.head(node), message));
        }
        let name = match node.get("name") {
            Some(name) => self.place(name.span),
            None => self.head(node),
        };
        let steps = node.get("steps").and_then(Node::list).filter(|list| !list.is_empty());
        let steps = match (steps, node.get("steps")) {
            (Some(steps), _) => steps,
            (None, steps) => {
                let steps = steps.unwrap_or(node);
                return self.located(Err(wrong("steps", steps, "a list of steps, at least one")));
            }
        };
        let steps = steps.iter().map(|step| self.step(step, &common.clients));
        Ok(Test {
            name: self.located(text(node, "name"))?.unwrap_or_default(),
            span: name,
            steps: steps.collect::<Faulty<_>>()?,
            world: common.world,
            bootstrap: common.bootstrap,
            env: common.env,
            resolve: common.resolve,
            clients: common.clients,
            backends: common.backends,
            lookups: common.lookups,
            never: common.never,
            notes: Vec::new(),
        })
    }

    fn step(&self, node: &Node, clients: &[PlannedClient]) -> Faulty<PlannedStep> {
        let members = node.map().ok_or_else(|| wrong("a step", node, "an object"));
        let members = self.located(members)?;
        let mut verbs = members.iter().filter(|member| !BESIDE.contains(&member.name.as_str()));
        let verb = verbs.next();
        if let Some(second) = verbs.next() {
            let known: Vec<&str> = crate::sim::script::VERBS.iter().chain(&BESIDE).copied().collect();
            let odd = [verb, Some(second)]
                .into_iter()
                .flatten()
                .find(|member| !is_verb(&member.name));
            return match odd {
                Some(odd) => self.located(Err(unknown("a step", odd, &known))),
                None => Err(fault(
                    self.place(second.at),
                    format!(
                        "a step has one verb, this one has a second, `{}`: make a step of it",
                        second.name
                    ),
                )),
            };
        }
        let step = self.located(verb.map(read_step).transpose())?;
        let step = step.map(|mut step| {
            if let (Step::Update { sent, .. }, Some(_)) = (&mut step, self.source.view()) {
                sent.of_yaml();
            }
            step
        });
        let sight = Sight {
            rpcs: matches!(step, Some(Step::Pick(_) | Step::Finish(_))),
            update: matches!(
                step,
                Some(Step::Update { .. } | Step::Remove(_) | Step::Endpoints(_) | Step::Scale(_))
            ),
        };
        let expect = node.get("expect");
        if step.is_none() && expect.is_none() {
            return Err(fault(self.place(node.span), "the step says nothing".to_owned()));
        }
        let span = Span::new(
            members.first().map_or(node.span.start, |member| member.at.start),
            members.first().map_or(node.span.end, |member| member.node.span.end),
        );
        Ok(PlannedStep {
            span: self.place(span),
            step,
            client: node
                .get("client")
                .map(|client| self.client_of(client, clients))
                .transpose()?,
            expect: expect
                .map(|expect| self.expect(expect, sight))
                .transpose()?
                .unwrap_or_default(),
        })
    }

    fn client_of(&self, node: &Node, clients: &[PlannedClient]) -> Faulty<usize> {
        let number = node
            .text()
            .and_then(|name| clients.iter().position(|client| client.name == name));
        number.ok_or_else(|| {
            let names: Vec<&str> = clients.iter().map(|client| client.name.as_str()).collect();
            let message = match names.as_slice() {
                [""] => "`client` names one of the `clients`, and the test has none of its own".to_owned(),
                _ => format!(
                    "`client` is {}, must be one of `{}`",
                    node.to_json(),
                    names.join("`, `")
                ),
            };
            fault(self.place(node.span), message)
        })
    }
}

/// What tests of a file have in common, or one test for itself.
#[derive(Debug, Clone, Default)]
struct Common {
    world: Arc<[Part]>,
    bootstrap: Option<String>,
    env: Arc<[(String, String)]>,
    resolve: Arc<BTreeMap<String, Vec<SocketAddr>>>,
    client: PlannedClient,
    clients: Arc<[PlannedClient]>,
    backends: Arc<[crate::sim::script::Setting]>,
    never: Arc<[Never]>,
    lookups: Lookups,
}

impl Common {
    fn of(reader: &Reader<'_>, node: &Node) -> Faulty<Common> {
        Common::default().with(reader, node)
    }

    /// How much of it there is, the world apart.
    fn count(&self) -> usize {
        let Common {
            env,
            resolve,
            clients,
            backends,
            never,
            ..
        } = self;
        env.len() + resolve.len() + clients.len() + backends.len() + never.len()
    }

    /// What a test says for itself goes before what all say, but for backends that it does not name, and `never`, of which both hold.
    fn with(&self, reader: &Reader<'_>, node: &Node) -> Faulty<Common> {
        let mut own = self.clone();
        if let Some(world) = node.get("world") {
            let mut parts = reader.located(one_or_more(world, part))?;
            for part in &mut parts {
                let (Part::Path(_, span) | Part::Inline(_, span)) = part;
                *span = reader.place(*span);
            }
            own.world = parts.into();
        }
        if let Some(bootstrap) = reader.located(text(node, "bootstrap"))? {
            own.bootstrap = Some(bootstrap);
        }
        if let Some(env) = node.get("env") {
            own.env = reader.located(switches(env))?.into();
        }
        if let Some(resolve) = node.get("resolve") {
            own.resolve = reader.located(answers(resolve))?.into();
        }
        reader.client(node, &mut own.client)?;
        if let Some(clients) = node.get("clients") {
            own.clients = reader.clients(clients, &own.client)?.into();
        } else if !own.clients.is_empty() && CLIENT.iter().any(|member| node.get(member).is_some()) {
            let mut clients = own.clients.to_vec();
            for client in &mut clients {
                reader.client(node, client)?;
            }
            own.clients = clients.into();
        }
        if let Some(backends) = node.get("backends") {
            let more = reader.located(settings("backends", backends))?;
            own.backends = own.backends.iter().cloned().chain(more).collect();
        }
        if let Some(answers) = node.get("lookups") {
            own.lookups = reader.located(lookups(answers))?;
        }
        if let Some(never) = node.get("never") {
            let list = match never.list() {
                Some(list) => list,
                None => std::slice::from_ref(never),
            };
            let more = list.iter().map(|one| {
                Ok(Never {
                    span: reader.inside(one),
                    checks: reader.never(one)?,
                })
            });
            let before = own.never.iter().cloned().map(Ok);
            own.never = before.chain(more).take(MAX_NEVER + 1).collect::<Faulty<_>>()?;
            if let Some(beyond) = own.never.get(MAX_NEVER) {
                let message = format!("a test has at most {MAX_NEVER} `never`");
                return Err(fault(beyond.span, message));
            }
        }
        Ok(own)
    }
}

impl Reader<'_> {
    fn clients(&self, node: &Node, common: &PlannedClient) -> Faulty<Vec<PlannedClient>> {
        let map = node.map().filter(|map| (1..=MAX_CLIENTS).contains(&map.len()));
        let map = self.located(map.ok_or_else(|| wrong("clients", node, "an object of clients by name, 1 to 1000")))?;
        let mut clients = Vec::new();
        for (number, member) in map.iter().enumerate() {
            let mut client = PlannedClient {
                name: member.name.clone(),
                span: self.place(member.at),
                // Each draws for itself.
                seed: common.seed.wrapping_add(number as u64),
                ..common.clone()
            };
            if member.node.value != crate::source::node::Value::Null {
                self.members("a client", &member.node, &CLIENT)?;
                self.client(&member.node, &mut client)?;
            }
            clients.push(client);
        }
        Ok(clients)
    }

    fn client(&self, node: &Node, client: &mut PlannedClient) -> Faulty<()> {
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
                let contradiction = crate::sim::script::value::contradict(member, before, node);
                return self.located(Err(contradiction));
            }
            before = Some(member);
            client.start = start(name);
        }
        if let Some(authority) = self.located(text(node, "authority"))? {
            client.authority = Some(authority);
        }
        if let Some(seed) = node.get("seed") {
            let whole = seed.whole().ok_or_else(|| wrong("seed", seed, "a whole number from 0"));
            client.seed = self.located(whole)?;
        }
        Ok(())
    }
}

fn part(node: &Node) -> Result<Part, Located> {
    if let Some(path) = node.text().filter(|path| !path.is_empty()) {
        return Ok(Part::Path(path.to_owned(), node.span));
    }
    match node.get("@type") {
        Some(_) => Ok(Part::Inline(node.to_json(), node.span)),
        None => Err(wrong("world", node, "paths of files, and resources with an `@type`")),
    }
}

fn switches(node: &Node) -> Result<Vec<(String, String)>, Located> {
    let map = node
        .map()
        .ok_or_else(|| wrong("env", node, "an object of switches by name"))?;
    let switch = |member: &Member| {
        let value = match member.node.flag() {
            Some(flag) => Some(flag.to_string()),
            None => member.node.word().map(str::to_owned),
        };
        let value = value.ok_or_else(|| wrong("env", &member.node, "a text"))?;
        Ok((member.name.clone(), value))
    };
    map.iter().map(switch).collect()
}

fn answers(node: &Node) -> Result<BTreeMap<String, Vec<SocketAddr>>, Located> {
    let map = node
        .map()
        .ok_or_else(|| wrong("resolve", node, "an object of addresses by HOST:PORT"))?;
    let answer = |member: &Member| {
        let addresses = one_or_more(&member.node, |one| address("resolve", one))?;
        Ok((member.name.clone(), addresses))
    };
    map.iter().map(answer).collect()
}
