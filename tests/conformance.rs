//! Compares xdsctl with the answers of the real client, resource by resource: the verdict and the
//! set of field paths.
//!
//! The rows in `fixtures/conformance` were recorded from gRPC C-core 1.85.1 (see the README there).
//! A row counts as equal if the verdict agrees and the paths of all `nack` findings are the
//! recorded ones. `fresh` was recorded after the rules were written: generated resources, the
//! limits of the client's protobuf parser (`PB-`) and each field that it knows (`PB-KNOWN`).
//!
//! `XDSCTL_ROWS=cds,LB-` restricts a run to rows whose kind or rule starts so;
//! `XDSCTL_ROWS_FILE=a.jsonl,b.jsonl` also compares the rows of those files.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use serde::Deserialize;
use xdsctl_model::diag::{Diagnostic, Effect};
use xdsctl_model::profile::{Profile, ServerFacts};
use xdsctl_model::resource::ResourceType;

use crate::support::recorded;

#[derive(Deserialize)]
pub struct Row {
    pub id: String,
    #[serde(default)]
    rule: String,
    pub kind: String,
    any_b64: String,
    /// The resource as protobuf JSON, where JSON can express it.
    resource: Option<Box<serde_json::value::RawValue>>,
    pub verdict: String,
    fields: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    bootstrap: Option<serde_json::Value>,
    #[serde(default)]
    wrapped: bool,
    /// The client's own error text.
    #[serde(default)]
    pub words: String,
}

/// Returns the rows of a fixture, or of another file.
pub fn rows(name: &str) -> Vec<Row> {
    let text = if name.ends_with(".jsonl") {
        std::fs::read_to_string(name).unwrap()
    } else {
        recorded(name)
    };
    let wanted: Vec<String> = std::env::var("XDSCTL_ROWS")
        .map(|v| v.split(',').map(str::to_owned).collect())
        .unwrap_or_default();
    text.lines()
        .map(|line| serde_json::from_str::<Row>(line).unwrap())
        // The verdict on these depends on the machine's network interfaces.
        .filter(|row| !row.id.starts_with("ADR-3/host-dependent"))
        .filter(|row| {
            wanted.is_empty()
                || wanted
                    .iter()
                    .any(|w| row.kind == *w || row.id.starts_with(w.as_str()) || row.rule.starts_with(w.as_str()))
        })
        .collect()
}

/// Returns the facts of `fixtures/conformance/bootstrap.json` with a row's additions.
fn server_facts(bootstrap: Option<&serde_json::Value>) -> ServerFacts {
    let providers = bootstrap
        .and_then(|b| b.get("certificate_providers"))
        .and_then(|p| p.as_object())
        .map_or_else(
            || BTreeSet::from(["id".to_owned(), "ca".to_owned()]),
            |p| p.keys().cloned().collect(),
        );
    let has_feature = |name: &str| {
        bootstrap
            .and_then(|b| b.get("server_features"))
            .and_then(|f| f.as_array())
            .is_some_and(|f| f.iter().any(|x| x == name))
    };
    let allowed = bootstrap
        .and_then(|b| b.get("allowed_grpc_services"))
        .and_then(|a| a.as_object())
        .into_iter()
        .flatten()
        .map(|(uri, _)| (uri.clone(), "insecure".to_owned()))
        .collect();
    ServerFacts {
        certificate_providers: Some(providers),
        trusted_xds_server: has_feature("trusted_xds_server"),
        allowed_grpc_services: allowed,
        ..ServerFacts::default()
    }
}

/// Returns the resource's bytes as the client received them.
fn received(row: &Row) -> bytes::Bytes {
    let bytes = base64::engine::general_purpose::STANDARD.decode(&row.any_b64).unwrap();
    let any = <xdsctl_document::proto::pb::Any as prost::Message>::decode(bytes.as_slice()).unwrap();
    if !row.wrapped && !any.type_url.ends_with("/envoy.service.discovery.v3.Resource") {
        return any.value;
    }
    let wrapper =
        <xdsctl_document::proto::pb::envoy::service::discovery::v3::Resource as prost::Message>::decode(any.value);
    wrapper.unwrap().resource.unwrap().value
}

/// Returns the resource's bytes as the loader reads them from JSON, if the row has JSON.
fn loaded(row: &Row) -> Option<bytes::Bytes> {
    // A Value without a kind would become null.
    if row.words.contains("No value set in Value proto") {
        return None;
    }
    let text = row.resource.as_ref()?.to_string();
    let mut sources = xdsctl_document::source::SourceMap::new();
    let id = sources.add("row", text.into_bytes());
    let text = sources.get(id).unwrap().bytes();
    let loaded = xdsctl_document::load::run(
        Some(1),
        |loader, emit| loader.json(id, text, Default::default(), emit),
        |resource| resource.bytes,
    );
    assert!(
        loaded.loader.findings.is_empty(),
        "{}: {:?}",
        row.id,
        loaded.loader.findings
    );
    loaded.results.into_iter().next().flatten()
}

fn resource_type(row: &Row) -> ResourceType {
    match row.kind.as_str() {
        "lds" => ResourceType::Listener,
        "rds" => ResourceType::RouteConfiguration,
        "cds" => ResourceType::Cluster,
        _ => ResourceType::Endpoints,
    }
}

/// Returns what xdsctl finds in the resource as the client received it.
pub fn findings(row: &Row) -> Vec<Diagnostic> {
    validated(row, &received(row))
}

fn validated(row: &Row, bytes: &bytes::Bytes) -> Vec<Diagnostic> {
    let mut profile = Profile::default();
    for (name, value) in &row.env {
        profile.set_env(name, value).unwrap();
    }
    let server = server_facts(row.bootstrap.as_ref());
    xdsctl_clients::judge::validate(resource_type(row), bytes, &profile, &server).diagnostics
}

fn answer(row: &Row, bytes: &bytes::Bytes) -> (String, BTreeSet<String>) {
    let diagnostics = validated(row, bytes);
    let fields: BTreeSet<String> = diagnostics
        .iter()
        // A rejection without a place is not among the recorded fields. An empty place that a
        // loader quotes is.
        .filter(|d| d.effect == Effect::Nack)
        .flat_map(Diagnostic::said)
        .filter(|(_, path)| !path.is_empty())
        .map(|(_, path)| path.to_string())
        .collect();
    let verdict = if diagnostics.iter().any(|d| d.effect == Effect::Nack) {
        "NACK"
    } else {
        "ACK"
    };
    (verdict.to_owned(), fields)
}

fn compare(name: &str) {
    let mut wrong = Vec::new();
    let rows = rows(name);
    for row in &rows {
        let expected: BTreeSet<String> = row.fields.iter().cloned().collect();
        let expected_verdict = if row.verdict == "CRASH" {
            "ACK"
        } else {
            row.verdict.as_str()
        };
        for (form, bytes) in [("bytes", Some(received(row))), ("JSON", loaded(row))] {
            let Some(bytes) = bytes else { continue };
            let (verdict, fields) = answer(row, &bytes);
            if verdict != expected_verdict || fields != expected {
                wrong.push(format!(
                    "{} [{}] from {form}: client {} {:?}, xdsctl {} {:?}",
                    row.id, row.rule, row.verdict, expected, verdict, fields
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} rows differ in {name}:\n{}",
        wrong.len(),
        rows.len(),
        wrong.iter().take(60).cloned().collect::<Vec<_>>().join("\n")
    );
}

#[test]
fn mutated_resources_agree() {
    compare("validate");
}

#[test]
fn listener_rules_agree() {
    compare("rules-lds");
}

#[test]
fn route_rules_agree() {
    compare("rules-rds");
}

#[test]
fn cluster_and_endpoint_rules_agree() {
    compare("rules-cds-eds");
}

#[test]
fn lb_configs_agree() {
    compare("lb-json");
}

#[test]
fn fresh_rows_agree() {
    compare("fresh");
}

#[test]
fn rows_of_other_files_agree() {
    let files = std::env::var("XDSCTL_ROWS_FILE").unwrap_or_default();
    files.split(',').filter(|file| !file.is_empty()).for_each(compare);
}

/// The JSON of every row, loaded, is the message that the client received.
///
/// A resource with an `Any` of a type that is not in the descriptor set cannot be printed, and is
/// left out.
#[test]
fn loaded_json_is_the_received_message() {
    let pool = prost_reflect::DescriptorPool::decode(xdsctl_document::proto::pb::DESCRIPTOR_SET).unwrap();
    let mut wrong = Vec::new();
    let (mut same, mut opaque) = (0, 0);
    for name in ["validate", "rules-lds", "rules-rds", "rules-cds-eds"] {
        for row in rows(name) {
            let Some(loaded) = loaded(&row) else { continue };
            let message = pool.get_message_by_name(resource_type(&row).type_name()).unwrap();
            let print = |bytes: bytes::Bytes| {
                let message = prost_reflect::DynamicMessage::decode(message.clone(), bytes).ok()?;
                serde_json::to_value(&message).ok()
            };
            match (print(received(&row)), print(loaded)) {
                (Some(received), Some(loaded)) if received == loaded => same += 1,
                (None, None) => opaque += 1,
                (received, loaded) => wrong.push(format!("{}: {received:?}\n    {loaded:?}", row.id)),
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {same} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(opaque <= same / 10, "{opaque} of {same} are not compared");
}
