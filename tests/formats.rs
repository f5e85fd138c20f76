//! Checks that one resource has the same findings in every format.
//!
//! Each recorded row is written as YAML (block and flow style mixed), as text format (by the
//! printer of xdsctl and that of prost-reflect) and as a binary Any. It is loaded from there and
//! validated. The findings must be those of the bytes that the client received, or of the JSON from
//! which the YAML was made. `fixtures/conformance` describes the rows.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use base64::Engine as _;
use bytes::Bytes;
use prost::Message as _;
use prost_reflect::{DescriptorPool, DynamicMessage};
use serde::Deserialize;
use serde_json::Value;
use xdsctl_document::envelope::{LoadOptions, RawResource};
use xdsctl_document::proto::pb::{Any, tables};
use xdsctl_document::source::{SourceMap, textproto};
use xdsctl_model::profile::{Profile, ServerFacts};
use xdsctl_model::resource::ResourceType;

use crate::support::{recorded, sample};

#[derive(Deserialize)]
struct Row {
    id: String,
    kind: String,
    any_b64: String,
    #[serde(default)]
    env: BTreeMap<String, String>,
    resource: Option<Value>,
    #[serde(default)]
    wrapped: bool,
}

fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for name in ["validate", "rules-lds", "rules-rds", "rules-cds-eds"] {
        rows.extend(
            recorded(name)
                .lines()
                .map(|line| serde_json::from_str::<Row>(line).unwrap()),
        );
    }
    sample(rows, 8)
}

impl Row {
    fn resource_type(&self) -> ResourceType {
        match self.kind.as_str() {
            "lds" => ResourceType::Listener,
            "rds" => ResourceType::RouteConfiguration,
            "cds" => ResourceType::Cluster,
            _ => ResourceType::Endpoints,
        }
    }

    /// Returns the Any that the client received, and its content.
    fn received(&self) -> (Bytes, Any) {
        let bytes = base64::engine::general_purpose::STANDARD.decode(&self.any_b64).unwrap();
        let bytes = Bytes::from(bytes);
        let any = Any::decode(bytes.clone()).unwrap();
        (bytes, any)
    }

    /// Returns the findings on a resource, one in each line.
    fn findings(&self, bytes: &Bytes) -> Vec<String> {
        let mut profile = Profile::default();
        for (name, value) in &self.env {
            profile.set_env(name, value).unwrap();
        }
        let server = ServerFacts::default();
        let validated = xdsctl_clients::judge::validate(self.resource_type(), bytes, &profile, &server);
        let line = |d: &xdsctl_model::diag::Diagnostic| format!("{} {}: {}", d.rule.id, d.path, d.message);
        let mut lines: Vec<String> = validated.diagnostics.iter().map(line).collect();
        // The order of some findings depends on the order of fields on the wire.
        lines.sort();
        lines
    }
}

/// Returns the resources in a document, and the findings on the document.
fn load(name: &str, text: Vec<u8>, options: LoadOptions) -> (Vec<RawResource>, Vec<String>) {
    let mut sources = SourceMap::new();
    let id = sources.add(name, text);
    let source = sources.get(id).unwrap();
    let loaded = xdsctl_document::load::run(Some(1), |l, emit| l.document(id, source, options, emit), |r| r);
    let findings = loaded.loader.findings.iter();
    let findings = findings
        .map(|f| format!("{} {}", f.diagnostic.rule.id, f.diagnostic.message))
        .collect();
    (loaded.results, findings)
}

fn notes(resource: &RawResource) -> Vec<String> {
    let note = |n: &xdsctl_document::proto::transcode::Note| format!("{} {}", n.diagnostic.rule.id, n.diagnostic.path);
    resource.notes.iter().map(note).collect()
}

/// Writes JSON as YAML: block style down to the depth `block`, then flow style.
fn yaml(value: &Value, indent: usize, block: usize, out: &mut String) {
    let pad = "  ".repeat(indent);
    match value {
        Value::Object(fields) if block > 0 && !fields.is_empty() => {
            for (key, value) in fields {
                write!(out, "\n{pad}{}:", scalar(key)).unwrap();
                yaml(value, indent + 1, block - 1, out);
            }
        }
        Value::Array(elements) if block > 0 && !elements.is_empty() => {
            for element in elements {
                write!(out, "\n{pad}-").unwrap();
                yaml(element, indent + 1, block - 1, out);
            }
        }
        Value::Object(fields) => {
            out.push_str(" {");
            for (key, value) in fields {
                write!(out, "{}:", scalar(key)).unwrap();
                yaml(value, 0, 0, out);
                out.push(',');
            }
            out.push('}');
        }
        Value::Array(elements) => {
            out.push_str(" [");
            for element in elements {
                yaml(element, 0, 0, out);
                out.push(',');
            }
            out.push(']');
        }
        Value::String(text) => write!(out, " {}", scalar(text)).unwrap(),
        other => write!(out, " {other}").unwrap(),
    }
}

/// Writes a string as a plain scalar where YAML reads it as text, otherwise in quotes.
fn scalar(text: &str) -> String {
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '/' | '-'))
        && !matches!(text, "true" | "false" | "null");
    if is_plain {
        text.to_owned()
    } else if text.chars().any(needs_escape) {
        let escape = |c: char| match c {
            c if needs_escape(c) => format!("\\U{:08x}", u32::from(c)),
            '"' | '\\' => format!("\\{c}"),
            c => c.to_string(),
        };
        format!("\"{}\"", text.chars().map(escape).collect::<String>())
    } else {
        format!("'{}'", text.replace('\'', "''"))
    }
}

/// Says whether YAML needs an escape for a character.
fn needs_escape(c: char) -> bool {
    c.is_control() || matches!(c, '\u{feff}' | '\u{fffe}' | '\u{ffff}' | '\u{2028}' | '\u{2029}')
}

fn check(what: &str, wrong: &[String], total: usize) {
    let shown = wrong.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
    assert!(
        wrong.is_empty(),
        "{what}: {} of {total} rows differ:\n{shown}",
        wrong.len()
    );
    assert!(total > 500, "{what}: only {total} rows");
}

#[test]
fn yaml_is_read_as_the_json_that_it_was_made_of() {
    let (mut wrong, mut total) = (Vec::new(), 0);
    for (number, row) in rows().iter().enumerate() {
        let Some(resource) = &row.resource else { continue };
        total += 1;
        let (json, json_findings) = load("-", resource.to_string().into_bytes(), LoadOptions::default());
        let mut text = String::new();
        yaml(resource, 0, number % 9, &mut text);
        let (read, findings) = load("x.yaml", text.clone().into_bytes(), LoadOptions::default());
        let same = read.len() == json.len()
            && findings == json_findings
            && read
                .iter()
                .zip(&json)
                .all(|(a, b)| a.bytes == b.bytes && notes(a) == notes(b));
        if !same {
            wrong.push(format!("{}: {findings:?}\n{text}", row.id));
        }
    }
    check("YAML", &wrong, total);
}

#[test]
fn a_binary_any_is_passed_on_as_it_is() {
    let (mut wrong, mut total) = (Vec::new(), 0);
    for row in rows().iter().filter(|row| !row.wrapped) {
        let (bytes, any) = row.received();
        if any.type_url.rsplit('/').next() != Some(row.resource_type().type_name()) {
            continue;
        }
        total += 1;
        let (read, findings) = load("-", bytes.to_vec(), LoadOptions::default());
        let held = read
            .first()
            .and_then(|resource| resource.bytes.clone())
            .unwrap_or_default();
        if read.len() != 1 || !findings.is_empty() || held != any.value {
            wrong.push(format!("{}: {findings:?} {read:?}", row.id));
        }
    }
    check("binary", &wrong, total);
}

#[test]
fn printed_text_format_is_the_received_message() {
    let pool = DescriptorPool::decode(xdsctl_document::proto::pb::DESCRIPTOR_SET).unwrap();
    let (mut wrong, mut total, mut reflected) = (Vec::new(), 0, 0);
    for row in rows().iter().filter(|row| !row.wrapped) {
        let (_, any) = row.received();
        let type_name = row.resource_type().type_name();
        if any.type_url.rsplit('/').next() != Some(type_name) {
            continue;
        }
        let expected = row.findings(&any.value);
        if any.value.is_empty() || expected.iter().any(|line| line.contains("undecodable")) {
            // Bytes that are not a message have no text form, and an empty text is not a message.
            continue;
        }
        total += 1;
        let message = tables::message(type_name).unwrap();
        let mut forms = vec![("ours", textproto::print(&any.value, message))];
        let descriptor = pool.get_message_by_name(type_name).unwrap();
        if let Ok(message) = DynamicMessage::decode(descriptor, any.value.clone()) {
            reflected += 1;
            forms.push(("prost-reflect's", message.to_text_format()));
        }
        let options = LoadOptions {
            assume: Some(row.resource_type()),
            ..LoadOptions::default()
        };
        for (whose, text) in forms {
            let (read, findings) = load("x.textproto", text.clone().into_bytes(), options);
            let held = read.first().and_then(|resource| resource.bytes.clone());
            if read
                .iter()
                .flat_map(notes)
                .any(|note| note.starts_with("dump-two-oneof-members"))
            {
                // On the wire the last member of a oneof counts; in a text a second one is an
                // error.
                continue;
            }
            let answer = held.as_ref().map(|bytes| row.findings(bytes));
            if answer.as_ref() != Some(&expected) || !findings.is_empty() {
                let notes = read.first().map(notes);
                wrong.push(format!(
                    "{} {whose}: {findings:?} {notes:?}\n{expected:?}\n{answer:?}\n{text}",
                    row.id
                ));
            }
        }
    }
    assert!(reflected > 500);
    check("text format", &wrong, total);
}
