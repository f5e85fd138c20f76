//! Reads suites from YAML or JSON. Nothing in a file is skipped silently, and all its faults are
//! reported.

mod fleet;
mod shared;
mod steps;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use self::shared::Common;
use super::fleet::tests as fleet_tests;
use super::{PlannedClient, Suite, SuiteFault, Test};
use super::{doubt, router_check};
use xdsctl_channel::sim::script::value::{contradict, text, unknown, wrong};
use xdsctl_channel::sim::script::{Located, is_verb};
use xdsctl_document::source::node::{Broken, JsonMember, JsonNode, Why};
use xdsctl_document::source::{Source, Span};

/// The members of a test, or of all tests of a file.
pub const TEST_MEMBERS: [&str; 21] = [
    "name",
    "world",
    "bootstrap",
    "env",
    "resolve",
    "target",
    "authority",
    "route_config",
    "cluster",
    "kind",
    "idle_timeout",
    "starts_idle",
    "server",
    "seed",
    "clients",
    "fleet",
    "backends",
    "lookups",
    "never",
    "steps",
    "tests",
];

/// The members of a step besides its verb.
const BESIDE: [&str; 3] = ["expect", "of_all", "client"];

/// The limit of what the tests of a file have in common, times the number of tests: every test
/// begins with all of it.
const MAX_SHARED: usize = 1_000_000;

/// A value, or what is wrong with it.
pub(super) type Faulty<T> = Result<T, SuiteFault>;

#[cold]
pub(super) const fn fault(span: Span, message: String) -> SuiteFault {
    SuiteFault { span, message }
}

/// How many faults of a file are reported; the others are counted.
const MAX_FAULTS: usize = 100;

/// Reads values of one document.
pub(super) struct SuiteReader<'s> {
    source: &'s Source,
    /// The faults that were found so far, and how many more there were.
    faults: RefCell<(Vec<SuiteFault>, usize)>,
}

impl Suite {
    /// Reads a document.
    ///
    /// # Errors
    /// Fails with the faults of the document, in its order. Of each value, only the first fault is
    /// reported.
    pub fn read(source: &Source) -> Result<Suite, Vec<SuiteFault>> {
        let node = match JsonNode::of(source) {
            Ok(Some(node)) => node,
            Ok(None) => return Err(vec![fault(Span::default(), NOTHING.to_owned())]),
            Err(Broken {
                why: Why::Several,
                span,
            }) => {
                let message = format!("a second document, and a suite is a single one: {TO_BEGIN}");
                return Err(vec![fault(span, message)]);
            }
            Err(broken) => return Err(vec![fault(broken.span, broken.why.to_string())]),
        };
        let reader = SuiteReader {
            source,
            faults: RefCell::default(),
        };
        let suite = reader.keep(reader.suite(&node));
        match (suite, reader.found()) {
            (Some(suite), faults) if faults.is_empty() => Ok(suite),
            (_, faults) => Err(faults),
        }
    }
}

/// Says whether a document is meant as a suite: it has a member of a suite, or one with a similar
/// name.
fn is_meant(node: &JsonNode) -> bool {
    let is_near = |member: &JsonMember| {
        let near = xdsctl_model::text::nearest(&member.name, ["steps", "tests"].into_iter());
        TEST_MEMBERS.contains(&member.name.as_str()) && !is_common(&member.name) || near.is_some()
    };
    node.map()
        .is_some_and(|members| members.is_empty() || members.iter().any(is_near))
}

/// Says whether resources have the member, too.
fn is_common(name: &str) -> bool {
    matches!(name, "name" | "cluster")
}

/// Help for a suite without a test.
const NOTHING: &str = "there is no test in it: a suite has `steps`, or `tests` of which each has `steps`; `xdsctl test --init FILE` begins one for a dump";

/// Help for a file that is not a suite.
const TO_BEGIN: &str =
    "a suite has `steps`, and names what a control plane sends as its `world`; `xdsctl test --init FILE` begins one";

impl<'s> SuiteReader<'s> {
    /// Says whether the document is YAML, where a number may be the text of a field.
    pub(super) fn is_yaml(&self) -> bool {
        self.source.view().is_some()
    }

    /// Returns the place in the document.
    pub(super) fn place(&self, span: Span) -> Span {
        self.source.to_document(span)
    }

    /// Turns the fault of a value into a fault in the document.
    pub(super) fn located<T>(&self, read: Result<T, Located>) -> Faulty<T> {
        read.map_err(|located| fault(self.place(located.span), located.error.to_string()))
    }

    /// Notes a fault. What is around it is read all the same.
    fn note(&self, fault: SuiteFault) {
        let (faults, more) = &mut *self.faults.borrow_mut();
        match faults.len() < MAX_FAULTS {
            true => faults.push(fault),
            false => *more += 1,
        }
    }

    /// Returns the value. After a fault, notes the fault and returns `None`.
    pub(super) fn keep<T>(&self, read: Faulty<T>) -> Option<T> {
        read.map_err(|fault| self.note(fault)).ok()
    }

    /// Returns the faults that were noted, in the order of the document.
    fn found(self) -> Vec<SuiteFault> {
        let (mut faults, more) = self.faults.into_inner();
        faults.sort_by_key(|fault| fault.span.start);
        if let (1.., Some(last)) = (more, faults.last()) {
            let message = format!("{more} more faults are not shown, the limit is {MAX_FAULTS}");
            faults.push(fault(last.span, message));
        }
        faults
    }

    /// Returns the members of an object, and notes those that are not known.
    pub(super) fn members<'n>(
        &self,
        place: &'static str,
        node: &'n JsonNode,
        known: &[&str],
    ) -> Faulty<&'n [JsonMember]> {
        if let Some(members) = node.map() {
            for member in members.iter().filter(|member| !known.contains(&member.name.as_str())) {
                self.keep(self.located::<()>(Err(unknown(place, member, known))));
            }
            return Ok(members);
        }
        self.located(xdsctl_channel::sim::script::value::members(place, node, known))
    }

    fn suite(&self, node: &JsonNode) -> Faulty<Suite> {
        // In the oldest files of router_check_tool, the document is a list.
        let checks = node.list().or_else(|| node.get("tests").and_then(JsonNode::list));
        if let Some(checks) = checks.filter(|list| list.first().is_some_and(router_check::is_one)) {
            return Ok(self.router_checks(checks));
        }
        if !is_meant(node) {
            let message = format!("this is not a suite, it has neither `steps` nor `tests`: {TO_BEGIN}");
            return Err(fault(self.head(node), message));
        }
        if !self.misplaced(node) {
            self.members("a suite", node, &TEST_MEMBERS)?;
        }
        let common = Common::of(self, node);
        match (node.get("steps"), node.get("tests")) {
            (Some(_), None) => {
                let test = self.test(None, node, common)?;
                Ok(doubt::of(fleet_tests(test)))
            }
            (None, Some(tests)) => {
                let list = tests.list().filter(|list| !list.is_empty());
                let list = list.ok_or_else(|| wrong("tests", tests, "a list of tests, at least one"));
                let list = self.located(list)?;
                let shared = common.count();
                if shared.saturating_mul(list.len()) > MAX_SHARED {
                    let message = format!(
                        "each of {} tests would begin with {shared} backends, clients, switches, DNS names and `never`, the limit is \
                         {MAX_SHARED} in all: make several files",
                        list.len()
                    );
                    return Err(fault(self.place(tests.span), message));
                }
                let mut read = Vec::new();
                let mut names: BTreeMap<String, Span> = BTreeMap::new();
                let whole = node;
                for node in list {
                    let Some(test) = self.keep(self.named(node, whole, &common)) else {
                        continue;
                    };
                    if names.insert(test.name.clone(), test.span).is_some() {
                        let message = format!("a test before it is called `{}` too", test.name);
                        self.note(fault(test.span, message));
                    }
                    read.extend(fleet_tests(test));
                }
                Ok(doubt::of(read))
            }
            (Some(steps), Some(_)) => {
                let message = "a suite has `steps` or `tests`, not both".to_owned();
                Err(fault(self.place(steps.span), message))
            }
            (None, None) => Err(fault(self.place(node.span), NOTHING.to_owned())),
        }
    }

    /// Notes members of a step that are outside of a step, and lists that have nothing in them.
    /// Says whether there are any.
    fn misplaced(&self, node: &JsonNode) -> bool {
        let mut is_misplaced = false;
        for member in node.map().unwrap_or_default() {
            let name = member.name.as_str();
            let is_of_step = is_verb(name) || BESIDE.contains(&name);
            if is_of_step && !TEST_MEMBERS.contains(&name) {
                let message = format!("`{name}` belongs to a step, and stands in the list `steps`");
                self.note(fault(self.place(member.at), message));
                is_misplaced = true;
            }
            if matches!(name, "steps" | "tests") && member.node.value == xdsctl_document::source::node::Value::Null {
                let message = format!("`{name}` has nothing in it, must be a list");
                self.note(fault(self.place(member.at), message));
                is_misplaced = true;
            }
        }
        is_misplaced
    }

    /// Reads one test of a list.
    fn named(&self, node: &JsonNode, whole: &JsonNode, common: &Common) -> Faulty<Test> {
        let known = TEST_MEMBERS.split_last().map_or(&[][..], |(_, known)| known);
        if !self.misplaced(node) {
            self.members("a test", node, known)?;
        }
        let own = common.with(self, node);
        let name = self.located(text(node, "name"))?.filter(|name| !name.is_empty());
        if name.is_none() {
            return Err(fault(self.head(node), "a test of several has a `name`".to_owned()));
        }
        if node.get("steps").is_none() {
            return Err(fault(self.head(node), "a test has `steps`".to_owned()));
        }
        self.test(Some(whole), node, own)
    }

    /// Returns where an object begins: at its first key.
    fn head(&self, node: &JsonNode) -> Span {
        let first = node.map().and_then(|members| members.first());
        self.place(first.map_or(node.span, |member| member.at))
    }

    /// Returns the place of the members of an object, without its brackets.
    fn inside(&self, node: &JsonNode) -> Span {
        let members = node.map().unwrap_or_default();
        match (members.first(), members.last()) {
            (Some(first), Some(last)) => self.place(Span::new(first.at.start, last.node.span.end)),
            _ => self.place(node.span),
        }
    }

    /// Returns the steps of a test.
    pub(super) fn steps<'n>(&self, node: &'n JsonNode) -> Faulty<&'n [JsonNode]> {
        let steps = node.get("steps");
        let list = steps.and_then(JsonNode::list).filter(|list| !list.is_empty());
        self.located(list.ok_or_else(|| wrong("steps", steps.unwrap_or(node), "a list of steps, at least one")))
    }

    /// Reads a test; `whole` is the object that has it, if that is another one.
    fn test(&self, whole: Option<&JsonNode>, node: &JsonNode, mut common: Common) -> Faulty<Test> {
        let name_at = match node.get("name") {
            Some(name) => self.place(name.span),
            None => self.head(node),
        };
        if let Some(server) = &common.server {
            let own = self.server_test(whole, node, server, common.client.kind)?;
            return Ok(Test {
                name: self.located(text(node, "name"))?.unwrap_or_default(),
                span: name_at,
                steps: Vec::new(),
                server: Some(Arc::new(own)),
                ..common.test
            });
        }
        if let (Some(clients), Some(fleet)) = (node.get("clients"), node.get("fleet")) {
            let second = if clients.span < fleet.span { fleet } else { clients };
            return self.located(Err(contradict("clients", "fleet", second)));
        }
        if common.test.clients.is_empty() {
            let span = self.head(node);
            common.test.clients = Arc::from([PlannedClient {
                span,
                ..common.client.clone()
            }]);
        }
        let (clients, alike) = (
            common.test.clients.len(),
            common.test.backends.len() + common.test.resolve.len(),
        );
        if clients.saturating_mul(alike) > MAX_SHARED {
            let message = format!(
                "each of {clients} clients would begin with {alike} backends and DNS names, the limit is {MAX_SHARED} in all"
            );
            return Err(fault(self.head(node), message));
        }
        let steps = self
            .steps(node)?
            .iter()
            .filter_map(|step| self.keep(self.step(step, (&common.test.clients, &common.test.fleet))));
        Ok(Test {
            name: self.located(text(node, "name"))?.unwrap_or_default(),
            span: name_at,
            steps: steps.collect(),
            ..common.test
        })
    }
}
