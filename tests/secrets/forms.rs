//! Writes documents with a secret in every form that xdsctl reads.

use std::fmt::Write as _;

use serde_json::{Value, json};
use xdsctl_document::proto::pb::tables;
use xdsctl_document::proto::transcode;

/// The form of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Compact,
    Pretty,
    /// JSON with one resource in each line, beside other resources.
    Lines,
    /// YAML in a text of a ConfigMap, with comments around it.
    ConfigMap,
    Yaml(Scalar),
    Text,
    Binary,
    /// JSON and text format in which the secret and its key are written as escapes.
    Escaped,
    Octal,
}

/// The style in which YAML writes the secret.
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
    Hex,
}

pub const FORMS: &[Form] = &[
    Form::Compact,
    Form::Pretty,
    Form::Lines,
    Form::ConfigMap,
    Form::Text,
    Form::Binary,
    Form::Escaped,
    Form::Octal,
    Form::Yaml(Scalar::Hex),
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

/// Writes block YAML; strings that contain a secret have the given style.
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
        // A name that is cut in two is not a name.
        Scalar::Folded if text.contains("token=") => writeln!(out, "{pad}{key}: >-\n{pad}  {text}"),
        Scalar::Folded => writeln!(out, "{pad}{key}: >-\n{pad}  {head}\n{pad}  {tail}"),
        Scalar::NextLine => writeln!(out, "{pad}{key}:\n{pad}  {text}"),
        Scalar::DoubleFolded => writeln!(out, "{pad}{key}: \"{head}\\\n{pad}  {tail}\""),
        Scalar::Explicit => writeln!(out, "{pad}? {key}\n{pad}: {text}"),
        Scalar::Flow => writeln!(out, "{pad}{key}: !!str {quoted}"),
        Scalar::FlowComma => writeln!(out, "{pad}{key}: {text}, {text}"),
        Scalar::Alias => writeln!(out, "{pad}{key}: *{text}"),
        Scalar::Anchor => writeln!(out, "{pad}{key}: &a{pad}{text}\n{pad}other: *a", pad = ""),
        Scalar::Hex => writeln!(
            out,
            "{pad}{key}: \"{}\"",
            escaped(text, |byte| format!("\\x{byte:02x}"))
        ),
        Scalar::BrokenFlow => writeln!(out, "{pad}{key}: {{{text}: [{text}"),
    };
}

/// Writes a text with its letters and digits as escapes.
fn escaped(text: &str, escape: impl Fn(u8) -> String) -> String {
    let quoted = json!(text).to_string();
    let inside = &quoted[1..quoted.len() - 1];
    let mut out = String::new();
    let mut is_escape = 0;
    for c in inside.chars() {
        let is_plain = c.is_ascii_alphanumeric() || matches!(c, '&' | '/');
        // What JSON has already escaped stays.
        is_escape = match c {
            '\\' if is_escape == 0 => 2,
            'u' if is_escape == 1 => 5,
            _ => is_escape,
        };
        if is_plain && is_escape == 0 {
            out += &escape(c as u8);
        } else {
            out.push(c);
        }
        is_escape = usize::saturating_sub(is_escape, 1);
    }
    out
}

/// Writes the secrets in a whole document as escapes.
fn with_escapes(document: &str, secrets: &[String], escape: impl Fn(u8) -> String) -> Vec<u8> {
    let mut document = document.to_owned();
    for secret in secrets {
        let escaped: String = secret.bytes().map(&escape).collect();
        document = document.replace(&format!("Bearer {secret}"), &format!("{}earer {escaped}", escape(b'B')));
        document = document.replace(&format!("&token={secret}"), &format!("{}token={escaped}", escape(b'&')));
        document = document.replace(secret, &escaped);
    }
    document.into_bytes()
}

/// Returns a text with its escapes decoded, in any format.
pub fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let digits = |from: usize, len: usize, radix: u32| {
            let number = u32::from_str_radix(after.get(from..from + len)?, radix).ok()?;
            Some((char::from_u32(number)?, from + len))
        };
        let read = match after.as_bytes().first() {
            Some(b'u') => digits(1, 4, 16),
            Some(b'x') => digits(1, 2, 16),
            _ => digits(0, 3, 8),
        };
        let (c, len) = read.unwrap_or(('\\', 0));
        out.push(c);
        rest = &after[len..];
    }
    out + rest
}

/// Writes a resource as text format, by way of its bytes.
fn textproto(value: &Value) -> Option<Vec<u8>> {
    let (type_name, bytes) = bytes(value)?;
    let message = tables::message(&type_name)?;
    let text = xdsctl_document::source::textproto::print(&bytes, message);
    Some(format!("resources {{\n  [type.googleapis.com/{type_name}] {{\n{text}\n  }}\n}}\n").into_bytes())
}

pub fn bytes(value: &Value) -> Option<(String, Vec<u8>)> {
    let type_name = value["@type"].as_str()?.rsplit('/').next()?.to_owned();
    let mut value = value.clone();
    value.as_object_mut()?.remove("@type");
    let message = tables::message(&type_name)?;
    let read = transcode::json(
        value.to_string().as_bytes(),
        message,
        transcode::TranscodeOptions::default(),
    );
    Some((type_name, read.bytes))
}

/// Makes a DiscoveryResponse with one resource.
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
        Form::Lines => format!(
            "{value}\n{value}\n{{\"@type\":{},\"bogus\":1}}\n{value}\n",
            value["@type"]
        )
        .into_bytes(),
        Form::ConfigMap => {
            let mut text = String::new();
            yaml(&document, 4, Scalar::Plain, secrets, &mut text);
            let [secret, other] = secrets else { return None };
            let head =
                format!("# {secret}\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: n, labels: {{a: {other}}}}}");
            format!("{head}\ndata: # not {other}\n  a: {other}\n  x.yaml: |{text}    # was {other}\n").into_bytes()
        }
        Form::Text => textproto(value)?,
        Form::Binary => binary(value)?,
        Form::Escaped => with_escapes(&document.to_string(), secrets, |byte| format!("\\u{:04x}", byte)),
        Form::Octal => with_escapes(&String::from_utf8(textproto(value)?).ok()?, secrets, |byte| {
            format!("\\{byte:03o}")
        }),
        Form::Yaml(style) => {
            let mut out = String::new();
            yaml(&document, 0, style, secrets, &mut out);
            out.into_bytes()
        }
    })
}
