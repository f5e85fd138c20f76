//! What a control plane sent, response by response, as a client's log has it.

use std::collections::BTreeSet;

use bytes::Bytes;

use xdsctl_clients::judge::validate;
use xdsctl_document::load;
use xdsctl_document::source::{Source, SourceId, Span};
use xdsctl_model::diag::Effect;
use xdsctl_model::profile::{Profile, ServerFacts};
use xdsctl_model::resource::ResourceType;

/// A response of a control plane, as a log has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logged {
    /// Where it stands in the log.
    pub span: Span,
    /// The type of its resources.
    pub resource_type: ResourceType,
    /// The nonce; may be empty.
    pub nonce: String,
    /// The resources of the response, in its order.
    pub resources: Vec<LoggedResource>,
}

/// A resource of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedResource {
    /// Wire bytes of the message.
    pub bytes: Bytes,
    /// The rules by which C-core rejects it, each once.
    pub rules: Vec<&'static str>,
}

/// Reads the responses of a log, in its order. Also returns how many resources could not be read.
pub fn logged(id: SourceId, source: &Source) -> (Vec<Logged>, usize) {
    let loaded = load::run(
        Some(1),
        |loader, emit| loader.document(id, source, Default::default(), emit),
        |resource| resource,
    );
    let mut found: Vec<Logged> = Vec::new();
    for response in &loaded.loader.responses {
        let type_name = response.type_url.as_deref().and_then(|url| url.rsplit('/').next());
        let named = type_name.and_then(ResourceType::from_type_name);
        // Not every client prints the type.
        let inside = || {
            let is_inside = |start: usize| response.span.range().contains(&start);
            let mut inside = loaded.results.iter().filter(|raw| is_inside(raw.origin.span.start));
            inside.find_map(|raw| raw.resource_type)
        };
        found.extend(named.or_else(inside).map(|resource_type| Logged {
            span: response.span,
            resource_type,
            nonce: response.nonce.clone(),
            resources: Vec::new(),
        }));
    }
    found.sort_by_key(|response| response.span.start);
    let mut unreadable = 0;
    for raw in loaded.results {
        let origin = raw.origin.span;
        let place = found.partition_point(|response| response.span.start <= origin.start);
        let response = place.checked_sub(1).and_then(|place| found.get_mut(place));
        match (response, raw.bytes) {
            (Some(response), Some(bytes)) if origin.end <= response.span.end => {
                let rules = rules(response.resource_type, &bytes);
                response.resources.push(LoggedResource { bytes, rules });
            }
            _ => unreadable += usize::from(raw.resource_type.is_some()),
        }
    }
    (found, unreadable)
}

fn rules(resource_type: ResourceType, bytes: &Bytes) -> Vec<&'static str> {
    let checked = validate(resource_type, bytes, &Profile::default(), &ServerFacts::default());
    let nacked = checked.diagnostics.iter().filter(|found| found.effect == Effect::Nack);
    let ids: BTreeSet<&str> = nacked.map(|found| found.rule.id).collect();
    ids.into_iter().collect()
}
