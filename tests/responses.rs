//! Compares xdsctl with the answers of the real client to whole DiscoveryResponses: ACK, NACK or
//! nothing, and the entries that it blamed.
//!
//! The rows in `fixtures/conformance/discovery.jsonl.gz` were recorded from gRPC C-core 1.85.1.
//! `XDSCTL_RESPONSES_FILE` may name another file of such rows.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use serde::Deserialize;
use xdsctl_clients::discovery;
use xdsctl_clients::judge::Validated;
use xdsctl_document::proto::pb::envoy::service::discovery::v3::{DiscoveryResponse, Resource};
use xdsctl_document::proto::{any, pb};
use xdsctl_model::diag::{Diagnostic, Effect, Path, Validation};
use xdsctl_model::profile::{Profile, ServerFacts};
use xdsctl_model::resource::ResourceType;

use crate::support::recorded;

#[derive(Deserialize)]
struct Row {
    id: String,
    kind: String,
    env: BTreeMap<String, String>,
    responses: Vec<Sent>,
    /// The client's final state of each resource that it asked for.
    resources: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Sent {
    b64: String,
    outcome: String,
    #[serde(default)]
    words: String,
}

fn rows() -> Vec<Row> {
    let text = match std::env::var("XDSCTL_RESPONSES_FILE") {
        Ok(file) => std::fs::read_to_string(file).unwrap(),
        Err(_) => recorded("discovery"),
    };
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the entries that the client's words blame: `resource index 3` and the like.
fn blamed(words: &str) -> BTreeSet<String> {
    ["resource index ", "resource_errors index "]
        .into_iter()
        .flat_map(|kind| {
            words.split(kind).skip(1).map(move |rest| {
                let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
                format!("{kind}{digits}")
            })
        })
        .collect()
}

fn is_nack(diagnostic: &Diagnostic) -> bool {
    diagnostic.effect == Effect::Nack
}

/// A response after validation.
struct ValidatedResponse {
    /// The type, if a gRPC client asks for it.
    resource_type: Option<ResourceType>,
    /// The resources in order, each under the name that counts.
    resources: Vec<Validated>,
    /// Findings that belong to no resource.
    diagnostics: Vec<Diagnostic>,
}

/// Validates a response as if each of the four types were asked for; `None` if the bytes are not a
/// response.
fn read(sent: &Sent, profile: &Profile) -> Option<ValidatedResponse> {
    let bytes = base64::engine::general_purpose::STANDARD.decode(&sent.b64).unwrap();
    let server = ServerFacts::default();
    let mut cx = Validation::new(profile, &server);
    let name = "envoy.service.discovery.v3.DiscoveryResponse";
    let message: DiscoveryResponse = any::try_decode(&bytes.into(), name, &Path::ROOT, &mut cx).ok()?;
    let resource_type = discovery::check_response_type(&message.type_url, &mut cx);
    let mut resources = Vec::new();
    if let Some(resource_type) = resource_type {
        let packed = message.resources.iter();
        resources.extend(packed.map(|any| entry(any, resource_type, profile)));
        for (index, error) in message.resource_errors.iter().enumerate() {
            let name = error.resource_name.as_ref().map_or("", |name| &name.name);
            let is_ok = error.error_detail.as_ref().is_none_or(|status| status.code == 0);
            let reported = (name, is_ok);
            if !discovery::check_error(index, reported, resource_type, &mut cx) {
                break;
            }
        }
    }
    Some(ValidatedResponse {
        resource_type,
        resources,
        diagnostics: cx.finish(),
    })
}

const WRAPPER: &str = "envoy.service.discovery.v3.Resource";

/// Validates an entry of a response. A wrapper that cannot be read, or is empty, is rejected.
fn entry(outer: &pb::Any, resource_type: ResourceType, profile: &Profile) -> Validated {
    let server = ServerFacts::default();
    let mut cx = Validation::new(profile, &server);
    let url = outer.type_url.as_str();
    let (name, inner) = match url.strip_prefix("type.googleapis.com/").unwrap_or(url) {
        WRAPPER => {
            let wrapper: Result<Resource, _> = any::try_decode(&outer.value, WRAPPER, &Path::ROOT, &mut cx);
            let wrapper = wrapper.unwrap_or_default();
            (Some(wrapper.name), wrapper.resource.unwrap_or_default())
        }
        _ => (None, outer.clone()),
    };
    if discovery::check_resource_type(&inner.type_url, resource_type.type_name(), &mut cx) {
        let cx = Validation::new(profile, &server);
        return discovery::resource(resource_type, &inner.value, name.as_deref(), &[], cx);
    }
    let mut rejected = Validated::default();
    rejected.name = name.unwrap_or_default();
    rejected.diagnostics = cx.finish();
    rejected
}

/// Returns the answer, and the entries that a rejection is about.
fn answer(response: Option<&ValidatedResponse>, kind: &str) -> (&'static str, BTreeSet<String>) {
    // A client whose listeners do not lead to other resources yet asks only for listeners.
    let is_asked_for = |t: ResourceType| kind != "lds" || t == ResourceType::Listener;
    let Some(response) = response.filter(|r| r.resource_type.is_some_and(is_asked_for)) else {
        return ("IGNORED", BTreeSet::new());
    };
    let resources = response
        .resources
        .iter()
        .enumerate()
        .filter(|(_, r)| r.diagnostics.iter().any(is_nack))
        .map(|(index, _)| format!("resource index {index}"));
    let errors = response.diagnostics.iter().filter(|d| is_nack(d)).map(|d| {
        let path = d.path.to_string();
        path.replace('[', " index ").trim_end_matches(']').to_owned()
    });
    let blamed: BTreeSet<String> = resources.chain(errors).collect();
    (if blamed.is_empty() { "ACK" } else { "NACK" }, blamed)
}

fn profile(row: &Row) -> Profile {
    let mut profile = Profile::default();
    for (name, value) in &row.env {
        profile.set_env(name, value).unwrap();
    }
    profile
}

#[test]
fn responses_are_answered_as_the_client_does() {
    let mut wrong = Vec::new();
    for row in rows() {
        let profile = profile(&row);
        let mut is_frozen = false;
        for sent in &row.responses {
            let mut found = answer(read(sent, &profile).as_ref(), &row.kind);
            // After a response that it drops, the client reads no other one.
            if is_frozen {
                found = ("IGNORED", BTreeSet::new());
            }
            is_frozen |= found.0 == "IGNORED";
            let expected = (sent.outcome.as_str(), blamed(&sent.words));
            if found != expected {
                wrong.push(format!("{}: client {expected:?}, xdsctl {found:?}", row.id));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// The name that counts decides whether a resource is used; of two resources with one name, the
/// later one does.
#[test]
fn resources_go_by_the_name_that_counts() {
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for row in rows().iter().filter(|row| row.responses.len() == 1) {
        let Some(response) = read(&row.responses[0], &profile(row)) else {
            continue;
        };
        // xdstp names are compared in parts, and errors that the server reports change states.
        let names = row.resources.iter().filter(|(name, _)| !name.starts_with("xdstp:"));
        for (name, state) in names.filter(|(_, state)| matches!(state.as_str(), "ACKED" | "NACKED")) {
            compared += 1;
            let last = response.resources.iter().rfind(|r| r.name == *name);
            let found = last.map(|r| if r.value.is_some() { "ACKED" } else { "NACKED" });
            if found != Some(state) {
                wrong.push(format!("{}: {name} is {state}, xdsctl {found:?}", row.id));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > 100, "{compared}");
}
