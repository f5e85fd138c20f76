//! Reads expectations from their YAML.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::check::{Check, CheckKind, Cookie, RpcCheck, StatePlace};
use super::read::{Faulty, SuiteReader, fault};
use super::shares::ExpectedShares;
use xdsctl_channel::sim::script::value::{
    address, address_key, filled_object, one_or_more, share, time, unknown, wrong,
};
use xdsctl_channel::sim::script::{Located, StepError, code};
use xdsctl_document::source::Span;
use xdsctl_document::source::node::{JsonMember, JsonNode};
use xdsctl_lb::runtime::Connectivity;
use xdsctl_lint::catalogue;
use xdsctl_model::diag::Rule;
use xdsctl_model::text;
use xdsctl_policy::cel::Program;

/// Members about each RPC.
const OF_RPC: [&str; 14] = [
    "status",
    "message",
    "fails",
    "address",
    "cluster",
    "virtual_host",
    "authority",
    "locality",
    "route",
    "attempts",
    "within",
    "cookie",
    "moves",
    "that",
];

/// Members about all RPCs of a step, about an update, or about the channel after it.
const OF_STEP: [&str; 9] = [
    "shares",
    "tolerance",
    "backends",
    "count",
    "nack",
    "states",
    "priority",
    "tree",
    "tree_lacks",
];

/// Other words that people use for members.
const MEANT: [(&str, &str); 15] = [
    ("backend", "address"),
    ("endpoint", "address"),
    ("host", "address"),
    ("code", "status"),
    ("error", "message"),
    ("details", "message"),
    ("region", "locality"),
    ("zone", "locality"),
    ("latency", "within"),
    ("timeout", "within"),
    ("retries", "attempts"),
    ("session", "cookie"),
    ("policy", "tree"),
    ("priorities", "priority"),
    ("rejected", "nack"),
];

/// The word for nothing: no cookie, no rejection, no connection.
pub(super) const NONE: &str = "none";

/// What a step produces that expectations can check.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sight {
    /// Whether the step waits for RPCs.
    pub rpcs: bool,
    /// Whether the step is an update.
    pub update: bool,
}

impl SuiteReader<'_> {
    /// Reads what is expected of a step.
    pub(super) fn expect(&self, node: &JsonNode, sight: Sight) -> Faulty<Vec<Check>> {
        let checks = self.checks(node, "expect", &[&OF_RPC[..], &OF_STEP].concat())?;
        for check in &checks {
            let why = match &check.what {
                what if what.is_of_rpcs() && !sight.rpcs => "the step waits for no RPC: `pick` and `finish` do",
                CheckKind::Nack(_) if !sight.update => "the step sends no update",
                _ => continue,
            };
            self.keep::<()>(Err(fault(check.span, format!("nothing can be expected here: {why}"))));
        }
        Ok(checks)
    }

    /// Reads what no RPC may do.
    pub(super) fn never(&self, node: &JsonNode) -> Faulty<Vec<Check>> {
        let checks = self.checks(node, "never", &OF_RPC)?;
        match node.map().is_some_and(<[JsonMember]>::is_empty) {
            true => Err(fault(self.place(node.span), "`never` says nothing".to_owned())),
            false => Ok(checks),
        }
    }

    fn checks(&self, node: &JsonNode, place: &'static str, known: &[&str]) -> Faulty<Vec<Check>> {
        let Some(members) = node.map() else {
            return self.members(place, node, known).map(|_| Vec::new());
        };
        let is_known = |member: &&JsonMember| known.contains(&member.name.as_str());
        for member in members.iter().filter(|member| !is_known(member)) {
            let meant = MEANT.iter().find(|(other, _)| *other == member.name);
            self.keep::<()>(match meant {
                Some((other, meant)) => {
                    let message = format!("{place} has no `{other}`, did you mean `{meant}`?");
                    Err(fault(self.place(member.at), message))
                }
                None => self.located(Err(unknown(place, member, known))),
            });
        }
        let tolerance = node.get("tolerance");
        if let (Some(tolerance), None) = (tolerance, node.get("shares")) {
            let span = self.place(tolerance.span);
            return Err(fault(
                span,
                "`tolerance` is about `shares`, and there are none".to_owned(),
            ));
        }
        let mut checks = Vec::new();
        let said = members.iter().filter(is_known);
        for member in said.filter(|member| member.name != "tolerance") {
            let read = self.keep(self.located(read(member, tolerance)));
            let all = read.into_iter().flatten();
            checks.extend(all.map(|what| self.check_of(member, what)));
        }
        Ok(checks)
    }

    /// Makes the check that a member says.
    pub(super) fn check_of<K>(&self, member: &JsonMember, what: K) -> Check<K> {
        Check {
            span: self.place(Span::new(member.at.start, member.node.span.end)),
            value: self.place(member.node.span),
            what,
        }
    }
}

fn read(member: &JsonMember, tolerance: Option<&JsonNode>) -> Result<Vec<CheckKind>, Located> {
    let node = &member.node;
    let name = member.name.as_str();
    let texts = |wanted| names(member, wanted);
    let is = |what: CheckKind| Ok(vec![what]);
    let rpc = |what: RpcCheck| is(CheckKind::Rpc(what));
    match name {
        "status" => rpc(RpcCheck::Status(set(node, |one| code("status", one))?)),
        "message" => rpc(RpcCheck::Message(message(node)?)),
        "fails" => rpc(RpcCheck::Fails(literal(member)?)),
        "moves" => rpc(RpcCheck::Moves(literal(member)?)),
        "that" => rpc(RpcCheck::That(Box::new(expression(node)?))),
        "address" => rpc(RpcCheck::Address(set(node, |one| address("address", one))?)),
        "cluster" => rpc(RpcCheck::Cluster(texts("the name of a cluster, or a list of them")?)),
        "virtual_host" => rpc(RpcCheck::VirtualHost(texts(
            "the name of a virtual host, or a list of them",
        )?)),
        "authority" => rpc(RpcCheck::Authority(texts("an authority, or a list of them")?)),
        "locality" => {
            let wanted = "a locality like REGION/ZONE, or a list of them";
            rpc(RpcCheck::Locality(set(node, |one| {
                let name = one.word().ok_or_else(|| wrong(name, one, wanted))?;
                Ok(name.trim_end_matches('/').to_owned())
            })?))
        }
        "route" => rpc(RpcCheck::Route(texts("the number of a route from 0, or its name")?)),
        "attempts" => match node.list() {
            Some(list) => {
                let list = list.iter().map(|one| address("attempts", one));
                rpc(RpcCheck::AttemptsAt(list.collect::<Result<_, _>>()?))
            }
            None => rpc(RpcCheck::Attempts(range(member)?)),
        },
        "within" => rpc(RpcCheck::Within(time("within", node)?)),
        "cookie" => rpc(RpcCheck::Cookie(match node.text() {
            Some(NONE) => Cookie::None,
            Some("set") => Cookie::Set,
            _ => {
                let wanted = "`none`, `set`, or an address like 10.0.0.1:80";
                Cookie::For(address("cookie", node).map_err(|_| wrong("cookie", node, wanted))?)
            }
        })),
        "shares" => is(CheckKind::Shares(shares(node, tolerance)?)),
        "backends" => is(CheckKind::Backends(range(member)?)),
        "count" => is(CheckKind::Count(range(member)?)),
        "nack" => is(CheckKind::Nack(match node.text() {
            Some(NONE) => Vec::new(),
            _ => {
                let mut rules = one_or_more(node, rule)?;
                rules.sort_by_key(|rule| rule.id);
                rules.dedup_by_key(|rule| rule.id);
                rules
            }
        })),
        "states" => is(CheckKind::States(states(node)?)),
        "priority" => is(CheckKind::Priority(priorities(node)?)),
        "tree" => Ok(set(node, policy)?.into_iter().map(CheckKind::Has).collect()),
        "tree_lacks" => Ok(set(node, policy)?.into_iter().map(CheckKind::Lacks).collect()),
        _ => Err(unknown("expect", member, &[&OF_RPC[..], &OF_STEP].concat())),
    }
}

/// Reads names any of which may occur.
pub(super) fn names(member: &JsonMember, wanted: &'static str) -> Result<Vec<String>, Located> {
    set(&member.node, |one| {
        let name = one.word().ok_or_else(|| wrong(member.name.as_str(), one, wanted))?;
        Ok(name.to_owned())
    })
}

/// Reads a part of a message.
pub(super) fn message(node: &JsonNode) -> Result<String, Located> {
    let text = node.text().filter(|text| !text.is_empty());
    Ok(text
        .ok_or_else(|| wrong("message", node, "a part of the message"))?
        .to_owned())
}

/// Reads an expression about an RPC.
fn expression(node: &JsonNode) -> Result<Program, Located> {
    let wanted = "an expression in CEL, as in \"rpc.attempts <= 3\"";
    let text = node.text().ok_or_else(|| wrong("that", node, wanted))?;
    xdsctl_policy::of_rpc(text).map_err(|fault| {
        let part = text.get(fault.span).filter(|part| !part.is_empty() && *part != text);
        let part = part.map(|part| format!(", at `{part}`")).unwrap_or_default();
        Located {
            span: node.span,
            error: StepError::NotJson(format!("`that`: {}{part}", fault.message)),
        }
    })
}

/// Reads values any of which may occur, sorted.
pub(super) fn set<T: Ord>(node: &JsonNode, read: impl Fn(&JsonNode) -> Result<T, Located>) -> Result<Vec<T>, Located> {
    let mut values = one_or_more(node, read)?;
    values.sort_unstable();
    values.dedup();
    Ok(values)
}

fn literal(member: &JsonMember) -> Result<bool, Located> {
    let flag = member.node.flag();
    flag.ok_or_else(|| wrong(member.name.as_str(), &member.node, "true or false"))
}

/// Reads a whole number, or a range: `2`, `1..3`, `2..`.
fn range(member: &JsonMember) -> Result<RangeInclusive<u64>, Located> {
    let node = &member.node;
    if let Some(number) = node.whole() {
        return Ok(number..=number);
    }
    let ends = node.text().and_then(|text| text.split_once(".."));
    let range = ends.and_then(|(least, most)| {
        let or = |text: &str, other| match text.trim() {
            "" => Some(other),
            text => text.parse::<u64>().ok(),
        };
        Some(or(least, 0)?..=or(most, u64::MAX)?)
    });
    let range = range.filter(|range| range.start() <= range.end());
    range.ok_or_else(|| {
        wrong(
            member.name.as_str(),
            node,
            "a whole number, or a range like 1..3 or 2..",
        )
    })
}

fn shares(node: &JsonNode, tolerance: Option<&JsonNode>) -> Result<ExpectedShares, Located> {
    let wanted = "an object of shares by address, cluster, locality or status";
    let map = filled_object("shares", node, wanted)?;
    let of = map.iter().map(|member| {
        let label = member.name.trim_end_matches('/').to_owned();
        Ok((label, share(&member.name, &member.node)?))
    });
    let of: BTreeMap<String, f64> = of.collect::<Result<_, Located>>()?;
    let total: f64 = of.values().sum();
    if total > 1.0 + 1e-9 {
        return Err(wrong("shares", node, "100% together at most"));
    }
    let tolerance = tolerance.map(|tolerance| share("tolerance", tolerance));
    Ok(ExpectedShares {
        of,
        tolerance: tolerance.transpose()?,
    })
}

/// Reads a rule by its id.
pub(super) fn rule(node: &JsonNode) -> Result<&'static Rule, Located> {
    let known = node.text().and_then(catalogue::find);
    known.ok_or_else(|| match node.text().and_then(catalogue::nearest) {
        Some(near) => misnamed("nack", node, format!(", did you mean `{near}`?")),
        None => wrong("nack", node, "`none` or the id of a rule, see `xdsctl explain --list`"),
    })
}

/// Makes the fault of a name that does not exist, which stands in place of a value.
pub(super) fn misnamed(place: &'static str, node: &JsonNode, hint: String) -> Located {
    let name = node.text().unwrap_or_default().to_owned();
    Located {
        span: node.span,
        error: StepError::Unknown { place, name, hint },
    }
}

fn states(node: &JsonNode) -> Result<BTreeMap<StatePlace, Option<Connectivity>>, Located> {
    let map = filled_object("states", node, "an object of states by address, or `channel`")?;
    map.iter()
        .map(|member| {
            let place = match member.name.as_str() {
                "channel" => StatePlace::Channel,
                _ => StatePlace::Address(address_key("states", member)?),
            };
            let state = match member.node.text() {
                Some(NONE) => None,
                text => {
                    let state = text.and_then(Connectivity::from_name);
                    let wanted = "IDLE, CONNECTING, READY, TRANSIENT_FAILURE or `none`";
                    Some(state.ok_or_else(|| wrong("states", &member.node, wanted))?)
                }
            };
            Ok((place, state))
        })
        .collect()
}

fn priorities(node: &JsonNode) -> Result<BTreeMap<String, Option<u64>>, Located> {
    let map = filled_object("priority", node, "an object of priorities by cluster")?;
    map.iter()
        .map(|member| {
            let wanted = "the number of a priority from 0, or `none`";
            let number = match member.node.text() {
                Some(NONE) => None,
                _ => Some(
                    member
                        .node
                        .whole()
                        .ok_or_else(|| wrong("priority", &member.node, wanted))?,
                ),
            };
            Ok((member.name.clone(), number))
        })
        .collect()
}

/// Reads the registered name of an LB policy, of which `_experimental` may be missing.
fn policy(node: &JsonNode) -> Result<String, Located> {
    let wanted = "the name of an LB policy, such as round_robin";
    let name = node.text().ok_or_else(|| wrong("tree", node, wanted))?;
    let is_meant = |known: &&'static str| *known == name || known.strip_suffix("_experimental") == Some(name);
    if let Some(known) = xdsctl_lb::names().find(is_meant) {
        return Ok(known.to_owned());
    }
    Err(match text::nearest(name, xdsctl_lb::names()) {
        Some(near) => misnamed("tree", node, format!(", did you mean `{near}`?")),
        None => wrong("tree", node, wanted),
    })
}
