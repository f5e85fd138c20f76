//! Documents with a secret in every form that xdsctl reads.

use std::fmt::Write as _;

use serde_json::{Value, json};
use xdsctl::proto::pb::tables;
use xdsctl::proto::transcode;

/// How a document is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Compact,
    Pretty,
    Yaml(Scalar),
    Text,
    Binary,
}

/// How YAML writes the secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    Plain,
    Double,
    Single,
    Literal,
    Folded,
    NextLine,
    DoubleFolded,
    Explicit,
    Flow,
    FlowComma,
    Alias,
    Anchor,
    BrokenFlow,
}

pub const FORMS: &[Form] = &[
    Form::Compact,
    Form::Pretty,
    Form::Text,
    Form::Binary,
    Form::Yaml(Scalar::Plain),
    Form::Yaml(Scalar::Double),
    Form::Yaml(Scalar::Single),
    Form::Yaml(Scalar::Literal),
    Form::Yaml(Scalar::Folded),
    Form::Yaml(Scalar::NextLine),
    Form::Yaml(Scalar::DoubleFolded),
    Form::Yaml(Scalar::Explicit),
    Form::Yaml(Scalar::Flow),
    Form::Yaml(Scalar::FlowComma),
    Form::Yaml(Scalar::Alias),
    Form::Yaml(Scalar::Anchor),
    Form::Yaml(Scalar::BrokenFlow),
];

/// Writes block YAML; strings that have a secret in the style asked for.
fn yaml(value: &Value, indent: usize, style: Scalar, secrets: &[String], out: &mut String) {
    let pad = " ".repeat(indent);
    match value {
        Value::Object(map) if map.is_empty() => out.push_str(" {}\n"),
        Value::Object(map) => {
            out.push('\n');
            for (key, value) in map {
                match value {
                    Value::String(text) if secrets.iter().any(|secret| text.contains(secret)) => {
                        secret_yaml(key, text, &pad, style, out);
                    }
                    _ => {
                        let _ = write!(out, "{pad}{}:", json!(key));
                        yaml(value, indent + 2, style, secrets, out);
                    }
                }
            }
        }
        Value::Array(list) => {
            out.push('\n');
            for item in list {
                let _ = write!(out, "{pad}-");
                yaml(item, indent + 2, style, secrets, out);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            let _ = writeln!(out, " {value}");
        }
    }
}

fn secret_yaml(key: &str, text: &str, pad: &str, style: Scalar, out: &mut String) {
    let (head, tail) = text.split_at(text.len() / 2);
    let quoted = json!(text).to_string();
    let _ = match style {
        Scalar::Plain => writeln!(out, "{pad}{key}: {text}"),
        Scalar::Double => writeln!(out, "{pad}{key}: {quoted} # {text} is the secret"),
        Scalar::Single => writeln!(out, "{pad}{key}: 'it''s {}'", text.replace('\'', "''")),
        Scalar::Literal => writeln!(out, "{pad}{key}: |\n{pad}  {text}\n{pad}  name: {text}"),
        Scalar::Folded => writeln!(out, "{pad}{key}: >-\n{pad}  {head}\n{pad}  {tail}"),
        Scalar::NextLine => writeln!(out, "{pad}{key}:\n{pad}  {text}"),
        Scalar::DoubleFolded => writeln!(out, "{pad}{key}: \"{head}\\\n{pad}  {tail}\""),
        Scalar::Explicit => writeln!(out, "{pad}? {key}\n{pad}: {text}"),
        Scalar::Flow => writeln!(out, "{pad}{key}: !!str {quoted}"),
        Scalar::FlowComma => writeln!(out, "{pad}{key}: {text}, {text}"),
        Scalar::Alias => writeln!(out, "{pad}{key}: *{text}"),
        Scalar::Anchor => writeln!(out, "{pad}{key}: &a{pad}{text}\n{pad}other: *a", pad = ""),
        Scalar::BrokenFlow => writeln!(out, "{pad}{key}: {{{text}: [{text}"),
    };
}

/// A resource as text format, through its bytes.
fn textproto(value: &Value) -> Option<Vec<u8>> {
    let (type_name, bytes) = bytes(value)?;
    let message = tables::message(&type_name)?;
    let text = xdsctl::source::textproto::print(&bytes, message);
    Some(format!("resources {{\n  [type.googleapis.com/{type_name}] {{\n{text}\n  }}\n}}\n").into_bytes())
}

pub fn bytes(value: &Value) -> Option<(String, Vec<u8>)> {
    let type_name = value["@type"].as_str()?.rsplit('/').next()?.to_owned();
    let mut value = value.clone();
    value.as_object_mut()?.remove("@type");
    let message = tables::message(&type_name)?;
    let read = transcode::json(value.to_string().as_bytes(), message, transcode::Options::default());
    Some((type_name, read.bytes))
}

/// A DiscoveryResponse with one resource.
fn binary(value: &Value) -> Option<Vec<u8>> {
    let (type_name, bytes) = bytes(value)?;
    let field = |number: u8, bytes: &[u8]| {
        let mut out = vec![number << 3 | 2];
        let mut len = bytes.len();
        while len >= 0x80 {
            out.push(len as u8 | 0x80);
            len >>= 7;
        }
        out.push(len as u8);
        out.extend_from_slice(bytes);
        out
    };
    let url = format!("type.googleapis.com/{type_name}");
    let any = [field(1, url.as_bytes()), field(2, &bytes)].concat();
    Some([field(1, b"1"), field(2, &any), field(4, url.as_bytes())].concat())
}

pub fn write(value: &Value, form: Form, secrets: &[String]) -> Option<Vec<u8>> {
    let document = json!({ "resources": [value] });
    Some(match form {
        Form::Compact => document.to_string().into_bytes(),
        Form::Pretty => serde_json::to_vec_pretty(&document).unwrap(),
        Form::Text => textproto(value)?,
        Form::Binary => binary(value)?,
        Form::Yaml(style) => {
            let mut out = String::new();
            yaml(&document, 0, style, secrets, &mut out);
            out.into_bytes()
        }
    })
}
