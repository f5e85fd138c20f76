//! Reads steps from their JSON. Nothing in it is ignored.

use std::net::SocketAddr;

use super::fault::{listed, shown};
use super::value::{Located, address, contradict, members, one_or_more, seconds, text, time, unknown, wrong};
use super::{MAX_COUNT, MAX_RATED, MAX_UNDER_WAY, Step, StepError, VERBS, backend, endpoints, load_reports, rpc};
use crate::client::SentTexts;
use crate::sim::network::canonical;
use xdsctl_document::source::node::{JsonMember, JsonNode};
use xdsctl_model::resource::ResourceType;

/// The time from the start of RPCs to the next step, in milliseconds.
const SETTLE_MS: i64 = 300;

/// The most RPCs of a `pick`, as a number and in words.
const PICKS: (u64, &str) = (MAX_COUNT, "a number up to 10,000,000");

/// The most RPCs at a rate, as a number and in words.
const RATED: (u64, &str) = (MAX_RATED, "a number up to 1,000,000,000");

/// The most RPCs of a `begin` without a rate: all of them are under way at once.
const BEGUN: (u64, &str) = (MAX_UNDER_WAY, "a number up to 100,000");

impl Step {
    /// Reads a step from a line of a script.
    ///
    /// # Errors
    /// What is wrong with the step. A key that occurs twice in one object is a fault too.
    pub fn read(line: &str) -> Result<Step, StepError> {
        let read = JsonNode::of_json(line).map_err(Located::from);
        let step = read.and_then(|node| Step::of(&node));
        step.map_err(|located| located.error)
    }

    /// Reads a step.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn of(node: &JsonNode) -> Result<Step, Located> {
        let error = |error| Located { span: node.span, error };
        match node.map() {
            Some([verb]) => read(verb),
            Some(members @ [_, ..]) => {
                let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
                Err(match members.iter().find(|member| !is_verb(&member.name)) {
                    Some(member) => unknown("a step", member, &VERBS),
                    None => error(StepError::Several(listed(&names))),
                })
            }
            Some([]) | None => Err(error(StepError::NoStep { found: shown(node) })),
        }
    }
}

/// Says whether a name is the verb of a step.
pub fn is_verb(name: &str) -> bool {
    VERBS.contains(&name)
}

/// Reads a step by its only member.
///
/// # Errors
/// What is wrong with it, and where.
pub fn read(verb: &JsonMember) -> Result<Step, Located> {
    let node = &verb.node;
    Ok(match verb.name.as_str() {
        "pick" => {
            members("pick", node, &rpc::MEMBERS)?;
            Step::Pick(rpc::read(node, if is_rated(node) { RATED } else { PICKS })?)
        }
        "begin" => begin(node)?,
        "finish" => match node.text() {
            Some(name) => Step::Finish(name.to_owned()),
            None => return Err(wrong("finish", node, "the name of a `begin`")),
        },
        "sleep" => Step::Sleep(time("sleep", node)?),
        "at" => Step::At(time("at", node)?),
        "stop" => Step::Stop(addresses("stop", node)?),
        "start" => Step::Start(addresses("start", node)?),
        "silence" => Step::Silence(addresses("silence", node)?),
        "speak" => Step::Stop(addresses("speak", node)?),
        "drop" => Step::Drop(addresses("drop", node)?),
        "orca" => Step::Load(load_reports(node)?),
        "backend" => Step::Backend(backend::settings("backend", node)?),
        "lookups" => Step::Lookups(super::lookups(node)?),
        "update" => {
            let list = node.list().filter(|list| list.iter().all(is_resource));
            list.ok_or_else(|| wrong("update", node, "a list of resources, each an object with an `@type`"))?;
            Step::Update {
                sent: SentTexts::of_list(&node.to_json(), list.map_or(0, <[JsonNode]>::len)),
                addresses: addresses_in(node),
            }
        }
        "remove" => match endpoints::removals(node) {
            Some(changes) => Step::Endpoints(changes),
            None => {
                let names = node.list().and_then(|list| list.iter().map(removed).collect());
                let wanted = "an address like 10.0.0.1:80, or a list of pairs of type URL and name";
                Step::Remove(names.ok_or_else(|| wrong("remove", node, wanted))?)
            }
        },
        "drain" => Step::Endpoints(endpoints::drain(node)?),
        "health" => Step::Endpoints(endpoints::health(node)?),
        "weight" => Step::Endpoints(endpoints::weight(node)?),
        "scale" => Step::Scale(endpoints::scale(node)?),
        _ => return Err(unknown("a step", verb, &VERBS)),
    })
}

fn is_rated(node: &JsonNode) -> bool {
    node.get("rate").is_some()
}

fn begin(node: &JsonNode) -> Result<Step, Located> {
    let mut known = rpc::MEMBERS.to_vec();
    known.extend(["name", "settle"]);
    members("begin", node, &known)?;
    let has_rate = is_rated(node);
    let sending = rpc::read(node, if has_rate { RATED } else { BEGUN })?;
    let settle_ms = seconds(node, "settle")?;
    if let (true, Some(settle)) = (has_rate, node.get("settle")) {
        return Err(contradict("settle", "rate", settle));
    }
    Ok(Step::Begin {
        name: text(node, "name")?.unwrap_or_default(),
        sending,
        settle_ms: settle_ms.unwrap_or(if has_rate { 0 } else { SETTLE_MS }),
    })
}

fn addresses(member: &str, node: &JsonNode) -> Result<Vec<SocketAddr>, Located> {
    one_or_more(node, |one| address(member, one))
}

fn is_resource(node: &JsonNode) -> bool {
    node.get("@type").is_some_and(|value| value.text().is_some())
}

fn removed(pair: &JsonNode) -> Option<(ResourceType, String)> {
    let [url, name] = pair.list()? else {
        return None;
    };
    let resource_type = ResourceType::from_type_name(url.text()?.rsplit('/').next()?)?;
    Some((resource_type, name.text()?.to_owned()))
}

/// Finds the socket addresses anywhere in resources.
fn addresses_in(node: &JsonNode) -> Vec<SocketAddr> {
    let mut found = Vec::new();
    let mut left = vec![node];
    while let Some(node) = left.pop() {
        left.extend(node.list().into_iter().flatten());
        let Some(map) = node.map() else { continue };
        let port = node.get("port_value").or_else(|| node.get("portValue"));
        let ip = node
            .get("address")
            .and_then(JsonNode::text)
            .and_then(|text| text.parse().ok());
        if let (Some(ip), Some(port)) = (ip, port.and_then(JsonNode::whole)) {
            let port = u16::try_from(port).unwrap_or(0);
            found.push(canonical(SocketAddr::new(ip, port)));
        }
        left.extend(map.iter().map(|member| &member.node));
    }
    found.shrink_to_fit();
    found
}
