//! What the control plane sent, from the trace `xds_client`: each DiscoveryResponse with its time,
//! and which resources the client rejected.

use std::collections::BTreeMap;

use super::line::CapturedLine;
use xdsctl_channel::client::logged::logged;
use xdsctl_document::proto::print::Printer;
use xdsctl_document::source::node::JsonNode;
use xdsctl_document::source::{Source, SourceId};
use xdsctl_model::resource::ResourceType;

/// A resource as the control plane sent it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CapturedResource {
    pub name: String,
    /// The resource, with its `@type`.
    pub node: JsonNode,
    /// Whether the client said that it rejects the resource.
    pub is_rejected: bool,
    /// The ids of the rules by which it has to be rejected.
    pub rules: Vec<&'static str>,
}

impl CapturedResource {
    /// Says whether another resource is the same, apart from its place in the log.
    pub fn is_same(&self, other: &CapturedResource) -> bool {
        self.node.to_json() == other.node.to_json()
    }
}

/// A response of the control plane, as the log shows it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CapturedResponse {
    /// When the response was sent, in microseconds.
    pub at: i64,
    pub resource_type: ResourceType,
    pub resources: Vec<CapturedResource>,
    /// Whether the log would show a rejection, as that of C-core does.
    pub tells_verdicts: bool,
    nonce: String,
}

/// The responses in a log.
#[derive(Debug, Default)]
pub(super) struct SentResponses {
    pub sent: Vec<CapturedResponse>,
    /// The number of resources that the log does not hold in a form that can be read.
    pub unreadable: usize,
    /// The number of resources of which something is masked.
    pub masked: usize,
}

/// Reads the responses of a log. `shows_secrets` leaves secrets as they are.
pub(super) fn responses(
    id: SourceId,
    source: &Source,
    lines: &[CapturedLine<'_>],
    shows_secrets: bool,
) -> SentResponses {
    let (logged, unreadable) = logged(id, source);
    let time_of = |at: usize| {
        let before = lines.partition_point(|line| line.start <= at);
        before
            .checked_sub(1)
            .and_then(|before| lines.get(before))
            .map(|line| line.at)
    };
    let mut found = SentResponses {
        unreadable,
        ..SentResponses::default()
    };
    let tells_verdicts = lines.iter().any(|line| line.file == "xds_client.cc");
    let mut printer = Printer::new(!shows_secrets);
    for response in logged {
        // Without times in the log, only the order is known.
        let before = found.sent.last().map_or(0, |sent: &CapturedResponse| sent.at);
        let resource_type = response.resource_type;
        let mut resources = Vec::new();
        for resource in response.resources {
            printer.out.clear();
            printer.named(&resource.bytes, resource_type.type_name());
            let text = printer.text();
            let text = text.strip_prefix('{').unwrap_or(&text);
            let comma = if text == "}" { "" } else { "," };
            let text = format!("{{\"@type\":\"{}\"{comma}{text}", resource_type.type_url());
            let Ok(node) = JsonNode::of_json(&text) else {
                found.unreadable += 1;
                continue;
            };
            let name_field = match resource_type {
                ResourceType::Endpoints => "cluster_name",
                _ => "name",
            };
            resources.push(CapturedResource {
                name: node
                    .get(name_field)
                    .and_then(JsonNode::text)
                    .unwrap_or_default()
                    .to_owned(),
                node,
                is_rejected: false,
                rules: resource.rules,
            });
        }
        found.sent.push(CapturedResponse {
            at: time_of(response.span.start).unwrap_or(before + 1),
            resource_type,
            resources,
            tells_verdicts,
            nonce: response.nonce,
        });
    }
    found.masked = printer.lossy();
    rejected(&mut found.sent, lines);
    found
}

/// Notes which resources the client rejected, by lines such as `... will NACK: nonce=15 status=...:
/// [resource index 4: pay: ...; ...]`.
fn rejected(sent: &mut [CapturedResponse], lines: &[CapturedLine<'_>]) {
    let by_nonce: BTreeMap<(ResourceType, String), usize> = sent
        .iter()
        .enumerate()
        .map(|(number, sent)| ((sent.resource_type, sent.nonce.clone()), number))
        .collect();
    let of_client = lines.iter().filter(|line| line.file == "xds_client.cc");
    for line in of_client {
        let parts = || {
            let (head, rest) = line
                .words
                .split_once("ADS response invalid for resource type ")?
                .1
                .split_once(" version ")?;
            let (nonce, errors) = rest.split_once("will NACK: nonce=")?.1.split_once(" status=")?;
            Some((ResourceType::from_type_name(head)?, nonce.to_owned(), errors))
        };
        let Some((resource_type, nonce, errors)) = parts() else {
            continue;
        };
        let number = by_nonce.get(&(resource_type, nonce)).copied();
        let Some(sent) = number.and_then(|number| sent.get_mut(number)) else {
            continue;
        };
        for error in errors.split("resource index ").skip(1) {
            let index = error.split(':').next().and_then(|index| index.parse::<usize>().ok());
            if let Some(resource) = index.and_then(|index| sent.resources.get_mut(index)) {
                resource.is_rejected = true;
            }
        }
    }
}
