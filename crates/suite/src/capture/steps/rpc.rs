//! How a suite describes the RPCs of a log, and where they went.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use serde_json::Value as Json;

use super::super::calls::LoggedRpc;
use super::{StepShape, StepWriter};
use crate::draft::{Expected, headers as headers_of};
use xdsctl_document::source::node::JsonNode;
use xdsctl_model::resource::ResourceType;
use xdsctl_model::status::Code;

/// The most addresses that an expectation lists one by one.
const PLACES_TOLD: usize = 10;

impl StepWriter<'_> {
    pub(super) fn shape(&self, call: &LoggedRpc) -> StepShape {
        let mut headers = call.headers.clone();
        let mut members = vec![("method", Json::from(call.method.as_str()))];
        let failed = || call.attempts.iter().filter(|attempt| attempt.address.is_some());
        let codes: Vec<Code> = failed()
            .filter_map(|attempt| attempt.code)
            .filter(|code| *code != Code::Ok)
            .collect();
        let is_late = call.code == Some(Code::DeadlineExceeded) && place_of(call).is_some();
        match codes.first() {
            // The backend had not answered when the deadline passed.
            _ if is_late => headers.push(("x-hold".to_owned(), "3600".to_owned())),
            Some(code) if codes.iter().all(|other| other == code) => {
                headers.push(("x-fail".to_owned(), format!("{}:{}", code.name(), codes.len())));
            }
            _ => {}
        }
        if !headers.is_empty() {
            members.push(("headers", headers_of(&headers)));
        }
        if call.code == Some(Code::DeadlineExceeded) {
            let ms = (call.ended.unwrap_or(call.began) - call.began) / 1000;
            members.push(("timeout", Json::from(ms as f64 / 1000.0)));
        }
        if call.waits {
            members.push(("wait_for_ready", true.into()));
        }
        let client = self.draft.targets.iter().position(|target| *target == call.target);
        StepShape {
            client: client.filter(|_| self.draft.targets.len() > 1),
            members,
            hidden: call.hidden.clone(),
            code: call.code,
            attempts: call.attempts.len(),
        }
    }

    pub(super) fn expect(&self, shape: &StepShape, places: &[SocketAddr]) -> Vec<Expected> {
        let mut expect = Vec::new();
        match shape.code {
            Some(Code::Ok) if !places.is_empty() => {
                let mut addresses: Vec<SocketAddr> = Vec::new();
                for place in places {
                    if !addresses.contains(place) {
                        addresses.push(*place);
                    }
                }
                addresses.sort();
                if addresses.len() <= PLACES_TOLD {
                    let texts = addresses.iter().map(ToString::to_string);
                    expect.push(expected("address", one_or_list(texts.collect())));
                }
                let found: Vec<(String, String)> = addresses.iter().flat_map(|address| self.find(*address)).collect();
                for (member, names) in [
                    (
                        "cluster",
                        found.iter().map(|(cluster, _)| cluster).collect::<BTreeSet<_>>(),
                    ),
                    ("locality", found.iter().map(|(_, locality)| locality).collect()),
                ] {
                    // A list of all would say nothing.
                    let is_known = !names.is_empty() && names.iter().all(|name| !name.is_empty());
                    if is_known && found.len() == addresses.len() {
                        expect.push(Expected {
                            is_weaker: addresses.len() <= PLACES_TOLD,
                            ..expected(member, one_or_list(names.into_iter().cloned().collect()))
                        });
                    }
                }
            }
            Some(code) => expect.push(expected("status", code.name().into())),
            None => {}
        }
        if shape.code.is_some() && shape.attempts != 1 {
            expect.push(expected("attempts", shape.attempts.into()));
        }
        expect
    }

    /// Returns the clusters and localities that have an address.
    fn find(&self, address: SocketAddr) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let of = |wanted: ResourceType| self.held.iter().filter(move |((kind, _), _)| *kind == wanted);
        for ((_, service), resource) in of(ResourceType::Endpoints) {
            for locality in resource
                .node
                .get("endpoints")
                .and_then(JsonNode::list)
                .into_iter()
                .flatten()
            {
                if !has_address(locality, address) {
                    continue;
                }
                let part = |name: &str| {
                    let part = locality.get("locality").and_then(|locality| locality.get(name));
                    part.and_then(JsonNode::text).unwrap_or_default()
                };
                let name = ["region", "zone", "sub_zone"].map(part).join("/");
                let clusters = of(ResourceType::Cluster).filter(|((_, cluster), resource)| {
                    let config = resource.node.get("eds_cluster_config");
                    let named = config
                        .and_then(|config| config.get("service_name"))
                        .and_then(JsonNode::text);
                    config.is_some() && named.unwrap_or(cluster) == *service
                });
                let pair = |((_, cluster), _): (&(ResourceType, &str), _)| {
                    ((*cluster).to_owned(), name.trim_end_matches('/').to_owned())
                };
                found.extend(clusters.map(pair));
            }
        }
        // If there are several, it is not known which one is meant.
        if found.len() > 1 {
            found.clear();
        }
        found
    }
}

pub(super) fn expected(member: &'static str, value: Json) -> Expected {
    Expected {
        member,
        value,
        is_weaker: false,
    }
}

fn one_or_list(mut texts: Vec<String>) -> Json {
    match texts.len() {
        1 => texts.remove(0).into(),
        _ => texts.into(),
    }
}

/// Returns the address of an RPC's last attempt.
pub(super) fn place_of(call: &LoggedRpc) -> Option<SocketAddr> {
    call.attempts.last().and_then(|attempt| attempt.address)
}

pub(super) fn members_of(shape: &StepShape, count: usize) -> Vec<(&'static str, Json)> {
    let mut members = shape.members.clone();
    if count > 1 {
        members.push(("count", count.into()));
    }
    members
}

pub(super) fn comment_of(shape: &StepShape) -> String {
    match shape.hidden.as_slice() {
        [] => String::new(),
        [name] => format!("also sent: `{name}`, whose value the log does not show"),
        names => format!(
            "also sent: `{}`, whose values the log does not show",
            names.join("`, `")
        ),
    }
}

/// Says whether a locality has an endpoint with an address.
fn has_address(locality: &JsonNode, address: SocketAddr) -> bool {
    let mut left = vec![locality];
    while let Some(node) = left.pop() {
        left.extend(node.list().into_iter().flatten());
        left.extend(node.map().into_iter().flatten().map(|member| &member.node));
        let ip = node
            .get("address")
            .and_then(JsonNode::text)
            .and_then(|text| text.parse().ok());
        let port = node.get("port_value").and_then(JsonNode::whole);
        if ip == Some(address.ip()) && port == Some(address.port().into()) {
            return true;
        }
    }
    false
}
