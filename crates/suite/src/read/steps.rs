//! Reads a step of a test: its verb, the client that it is for, and what is expected.

use super::{BESIDE, Faulty, SuiteReader, fault};
use crate::expect::Sight;
use crate::{PlannedClient, PlannedStep, SuiteFault};
use xdsctl_channel::sim::script::value::{object, unknown};
use xdsctl_channel::sim::script::{Step, VERBS, is_verb, read as read_step};
use xdsctl_document::source::Span;
use xdsctl_document::source::node::{JsonMember, JsonNode};

impl SuiteReader<'_> {
    /// Reads a step of a test with these clients, or for this fleet.
    pub(super) fn step(
        &self,
        node: &JsonNode,
        (clients, fleet): (&[PlannedClient], &[PlannedClient]),
    ) -> Faulty<PlannedStep> {
        let clients = if fleet.is_empty() { clients } else { fleet };
        let members = object("a step", node, "an object");
        let members = self.located(members)?;
        let mut verbs = members.iter().filter(|member| !BESIDE.contains(&member.name.as_str()));
        let verb = verbs.next();
        if let Some(second) = verbs.next() {
            let known: Vec<&str> = VERBS.iter().chain(&BESIDE).copied().collect();
            let odd = [verb, Some(second)]
                .into_iter()
                .flatten()
                .find(|member| !is_verb(&member.name));
            return match odd {
                Some(odd) => self.located(Err(unknown("a step", odd, &known))),
                None => Err(self.second_verb(second)),
            };
        }
        let step = verb.and_then(|verb| self.keep(self.located(read_step(verb))));
        let is_faulty = verb.is_some() && step.is_none();
        let step = step.map(|mut step| {
            if let (Step::Update { sent, .. }, true) = (&mut step, self.is_yaml()) {
                sent.of_yaml();
            }
            step
        });
        let sight = Sight {
            rpcs: is_faulty || matches!(step, Some(Step::Pick(_) | Step::Finish(_))),
            update: is_faulty
                || matches!(
                    step,
                    Some(Step::Update { .. } | Step::Remove(_) | Step::Endpoints(_) | Step::Scale(_))
                ),
        };
        let (expect, of_all) = (node.get("expect"), node.get("of_all"));
        if let Some(of_all) = of_all.filter(|_| fleet.is_empty()) {
            let message = "`of_all` is expected of all RPCs of a `fleet`, and the test has none".to_owned();
            return Err(fault(self.place(of_all.span), message));
        }
        if verb.is_none() && expect.is_none() && of_all.is_none() {
            return Err(self.empty_step(node));
        }
        Ok(PlannedStep {
            span: self.place_of_step(node, members),
            step,
            client: node
                .get("client")
                .map(|client| self.client_of(client, clients))
                .transpose()?,
            expect: expect
                .map(|expect| self.expect(expect, sight))
                .transpose()?
                .unwrap_or_default(),
            of_all: of_all
                .map(|of_all| self.expect(of_all, sight))
                .transpose()?
                .unwrap_or_default(),
        })
    }

    /// Returns the fault of a step that has two verbs.
    pub(crate) fn second_verb(&self, second: &JsonMember) -> SuiteFault {
        let message = format!(
            "a step has one verb, this one has a second, `{}`: make it a step of its own",
            second.name
        );
        fault(self.place(second.at), message)
    }

    /// Returns the fault of a step that neither does nor expects anything.
    pub(crate) fn empty_step(&self, node: &JsonNode) -> SuiteFault {
        fault(self.place(node.span), "the step says nothing".to_owned())
    }

    /// Returns where a step is shown: at its first member, which is its verb as people write it.
    pub(crate) fn place_of_step(&self, node: &JsonNode, members: &[JsonMember]) -> Span {
        self.place(Span::new(
            members.first().map_or(node.span.start, |member| member.at.start),
            members.first().map_or(node.span.end, |member| member.node.span.end),
        ))
    }

    fn client_of(&self, node: &JsonNode, clients: &[PlannedClient]) -> Faulty<usize> {
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
