//! Files of Envoy's router_check_tool: which cluster and virtual host a route table gives a
//! request.
//!
//! A file has `tests[]` with `test_name`, `input` and `validate` (envoy
//! test/tools/router_check/validation.proto). A gRPC client reads the same RouteConfiguration, and
//! does less with it: a note says of members for a proxy that they have no meaning, and they do not
//! fail a test.

use std::sync::Arc;

use super::check::{CheckKind, RpcCheck};
use super::read::{Faulty, SuiteReader, fault};
use super::{PlannedClient, PlannedStep, Suite, Test};
use xdsctl_channel::session::PlannedStart;
use xdsctl_channel::sim::Rpc;
use xdsctl_channel::sim::script::value::{members, text, wrong};
use xdsctl_channel::sim::script::{Located, Sending, Step};
use xdsctl_document::source::node::{JsonMember, JsonNode};

/// The members of a test.
const TEST: [&str; 3] = ["test_name", "input", "validate"];

/// The members of an input.
const INPUT: [&str; 11] = [
    "authority",
    "path",
    "method",
    "random_value",
    "ssl",
    "internal",
    "additional_headers",
    "additional_request_headers",
    "additional_response_headers",
    "runtime",
    ":authority",
];

/// The members of what is validated.
const VALIDATE: [&str; 10] = [
    "cluster_name",
    "virtual_cluster_name",
    "virtual_host_name",
    "host_rewrite",
    "path_rewrite",
    "path_redirect",
    "header_fields",
    "custom_header_fields",
    "request_header_matches",
    "response_header_matches",
];

/// Why some members have no meaning for a gRPC client.
const MEANINGLESS: [(&str, &str); 13] = [
    ("virtual_cluster_name", "virtual clusters are statistics of a proxy"),
    ("host_rewrite", "a client rewrites no authority by a route"),
    ("path_rewrite", "a client rewrites no path"),
    ("path_redirect", "a route that redirects fails the RPC"),
    ("header_fields", "routes add no headers"),
    ("custom_header_fields", "routes add no headers"),
    ("request_header_matches", "routes add no headers"),
    ("response_header_matches", "routes add no headers"),
    ("additional_response_headers", "routes read no headers of answers"),
    ("random_value", "chance is drawn from a seed"),
    ("ssl", "`x-forwarded-proto` is a proxy's"),
    ("internal", "`x-envoy-internal` is a proxy's"),
    ("runtime", "runtime keys are not read, their default values are"),
];

/// Says whether a test is one of router_check_tool.
pub(super) fn is_one(test: &JsonNode) -> bool {
    test.get("test_name").is_some()
}

impl SuiteReader<'_> {
    /// Reads a whole file. Such a file names no world.
    pub(super) fn router_checks(&self, tests: &[JsonNode]) -> Suite {
        let tests = tests.iter().filter_map(|node| self.keep(self.router_check(node)));
        Suite { tests: tests.collect() }
    }

    fn router_check(&self, node: &JsonNode) -> Faulty<Test> {
        self.members("a test of router_check_tool", node, &TEST)?;
        let part = |name: &str| {
            let missing = || {
                fault(
                    self.place(node.span),
                    format!("a test of router_check_tool has `{name}`"),
                )
            };
            node.get(name).ok_or_else(missing)
        };
        let (name, input, validate) = (part("test_name")?, part("input")?, part("validate")?);
        self.members("input", input, &INPUT)?;
        let wanted = self.members("validate", validate, &VALIDATE)?;
        let authority = self.located(text(input, "authority"))?;
        let path = self.located(text(input, "path"))?.unwrap_or_default();
        let rpc = Rpc {
            method: path.split('?').next().unwrap_or_default().to_owned(),
            headers: self.located(headers(input))?,
            ..Rpc::default()
        };
        let mut notes = Vec::new();
        let input_members = input.map().unwrap_or_default();
        for member in input_members.iter().chain(wanted).filter(|member| is_set(member)) {
            if let Some((name, why)) = MEANINGLESS.iter().find(|(name, _)| *name == member.name) {
                notes.push((self.place(member.at), format!("`{name}` has no meaning in gRPC: {why}")));
            }
        }
        if let Some(method) = input
            .get("method")
            .filter(|method| method.text().is_none_or(|text| text != "POST"))
        {
            let message = "every RPC is a POST, whatever `method` says".to_owned();
            notes.push((self.place(method.span), message));
        }
        let mut checks = Vec::new();
        for member in wanted {
            let value = || {
                member
                    .node
                    .text()
                    .ok_or_else(|| wrong(member.name.as_str(), &member.node, "a text"))
            };
            let list = |value: &str| {
                if value.is_empty() {
                    Vec::new()
                } else {
                    vec![value.to_owned()]
                }
            };
            let what = match member.name.as_str() {
                "cluster_name" => RpcCheck::Cluster(list(self.located(value())?)),
                "virtual_host_name" => RpcCheck::VirtualHost(list(self.located(value())?)),
                _ => continue,
            };
            checks.push(self.check_of(member, CheckKind::Rpc(what)));
        }
        let span = self.place(name.span);
        Ok(Test {
            name: name.text().unwrap_or_default().to_owned(),
            span,
            clients: Arc::from([PlannedClient {
                span,
                start: PlannedStart::OnlyRoutes,
                authority,
                ..PlannedClient::default()
            }]),
            notes,
            steps: vec![PlannedStep {
                span: self.place(input.span),
                step: Some(Step::Pick(Sending {
                    rpc,
                    count: 1,
                    rate: None,
                    jar: None,
                    session: None,
                })),
                client: None,
                of_all: Vec::new(),
                expect: checks,
            }],
            ..Test::default()
        })
    }
}

/// Says whether a member is set: an empty text, `false` and 0 are defaults.
fn is_set(member: &JsonMember) -> bool {
    let node = &member.node;
    let is_default = node.text() == Some("") || node.flag() == Some(false) || node.number() == Some(0.0);
    !is_default && node.list().is_none_or(|list| !list.is_empty())
}

/// Reads the additional headers, each as `{key, value}`, or in older files as `{field, value}`.
fn headers(input: &JsonNode) -> Result<Vec<(String, String)>, Located> {
    let mut headers = Vec::new();
    for member in ["additional_headers", "additional_request_headers"] {
        let Some(node) = input.get(member) else { continue };
        let list = node.list().ok_or_else(|| wrong(member, node, "a list of headers"))?;
        for header in list {
            members(member, header, &["key", "field", "value"])?;
            let key = header
                .get("key")
                .or_else(|| header.get("field"))
                .and_then(JsonNode::text);
            let key = key.ok_or_else(|| wrong(member, header, "a `key` and a `value`"))?;
            let value = header.get("value").and_then(JsonNode::word).unwrap_or_default();
            headers.push((key.to_ascii_lowercase(), value.to_owned()));
        }
    }
    Ok(headers)
}
