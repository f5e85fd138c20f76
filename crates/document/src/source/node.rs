//! Files that people write (scripts and suites), as a tree in which each value knows its place.
//!
//! JSON is read as it is, YAML by way of its [`View`](super::View). A key that occurs twice in one
//! object is a fault, because reading one of them would ignore the other. The tree is for files
//! that fit into memory; resources are read by `envelope`.

use std::collections::BTreeSet;

use super::json::{Scanner, Str, Syntax, is_number};
use super::sniff::DocumentFormat;
use super::view::View;
use super::{Source, Span, yaml};

/// The number of nested objects and lists that are read.
pub const MAX_NESTING: usize = 500;

/// A value and its place in the JSON text.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonNode {
    /// The span in the JSON text. [`Source::to_document`] maps it to the document.
    pub span: Span,
    /// The value.
    pub value: Value,
}

/// A value of JSON.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as it is written.
    Number(Box<str>),
    /// A string.
    Text(String),
    /// A list.
    List(Vec<JsonNode>),
    /// An object, with its members in the order of the text.
    Map(Vec<JsonMember>),
}

/// A member of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonMember {
    /// The key of the member.
    pub name: String,
    /// The span of the key.
    pub at: Span,
    /// The value of the member.
    pub node: JsonNode,
}

/// Why a text cannot be read as a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The place of the fault in the JSON text.
    pub span: Span,
    /// The kind of fault.
    pub why: Why,
}

/// The kind of fault in a text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// The text cannot be parsed.
    #[error("{0}")]
    Syntax(String),
    /// A key occurs twice in one object.
    #[error("`{0}` occurs twice in one object, where only one can count")]
    Twice(String),
    /// There is a second YAML document.
    #[error("a second document: there can be one")]
    Several,
}

/// Returns the JSON form of a document. Returns `None` if it is JSON itself.
pub fn view(source: &Source) -> Option<&View> {
    if source.name().ends_with(".json") || source.format() == Some(DocumentFormat::Json) {
        return None;
    }
    source.set_format(DocumentFormat::Yaml);
    source
        .view()
        .or_else(|| Some(source.set_view(yaml::view_bytes(source.bytes()))))
}

impl JsonNode {
    /// Reads JSON text that is one value.
    ///
    /// # Errors
    /// The text cannot be read; the error says where and why.
    pub fn of_json(text: &str) -> Result<JsonNode, Broken> {
        let mut scan = Scanner::new(text.as_bytes());
        let node = value(&mut scan, 0)?;
        if scan.at_end() {
            return Ok(node);
        }
        Err(syntax(scan.pos(), "there is more text after the value"))
    }

    /// Reads a document of JSON or YAML. Returns `None` if it is empty.
    ///
    /// # Errors
    /// The document cannot be read; the error says where and why.
    pub fn of(source: &Source) -> Result<Option<JsonNode>, Broken> {
        let Some(view) = view(source) else {
            let text = std::str::from_utf8(source.bytes());
            let text = text.map_err(|error| syntax(error.valid_up_to(), "bytes that are not UTF-8"))?;
            return match text.trim_start().is_empty() {
                true => Ok(None),
                false => JsonNode::of_json(text).map(Some),
            };
        };
        if let Some(fault) = view.faults.first() {
            return Err(Broken {
                span: fault.span,
                why: Why::Syntax(fault.message.clone()),
            });
        }
        let Some(first) = view.parts.first() else {
            return Ok(None);
        };
        let located = |broken: Broken| Broken {
            span: view.to_document(broken.span),
            ..broken
        };
        if let Some(second) = view.parts.get(1) {
            return Err(located(Broken {
                span: Span::new(second.text.start, second.text.start + 1),
                why: Why::Several,
            }));
        }
        let mut scan = Scanner::new(&view.json);
        scan.set_pos(first.text.start);
        value(&mut scan, 0).map(Some).map_err(located)
    }

    /// Returns the text, if the value is a string.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the text of a string, or a number as it is written.
    pub fn word(&self) -> Option<&str> {
        match &self.value {
            Value::Number(text) => Some(text),
            _ => self.text(),
        }
    }

    /// Returns the number, if the value is one.
    pub fn number(&self) -> Option<f64> {
        match &self.value {
            Value::Number(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// Returns the number, if the value is a whole number from 0 on.
    pub fn whole(&self) -> Option<u64> {
        match &self.value {
            Value::Number(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// Returns the boolean, if the value is one.
    pub const fn flag(&self) -> Option<bool> {
        match self.value {
            Value::Bool(flag) => Some(flag),
            _ => None,
        }
    }

    /// Returns the elements, if the value is a list.
    pub fn list(&self) -> Option<&[JsonNode]> {
        match &self.value {
            Value::List(list) => Some(list),
            _ => None,
        }
    }

    /// Returns the members, if the value is an object.
    pub fn map(&self) -> Option<&[JsonMember]> {
        match &self.value {
            Value::Map(members) => Some(members),
            _ => None,
        }
    }

    /// Returns the value of a member of an object. A member that is null counts as missing.
    pub fn get(&self, name: &str) -> Option<&JsonNode> {
        let found = self.map()?.iter().find(|member| member.name == name)?;
        (found.node.value != Value::Null).then_some(&found.node)
    }

    /// Returns the value as JSON without white space.
    pub fn to_json(&self) -> String {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        match &self.value {
            Value::Null => "null".to_owned(),
            Value::Bool(flag) => flag.to_string(),
            Value::Number(text) => text.to_string(),
            Value::Text(text) => quoted(text),
            Value::List(list) => {
                let elements: Vec<String> = list.iter().map(JsonNode::to_json).collect();
                format!("[{}]", elements.join(","))
            }
            Value::Map(members) => {
                let written = |member: &JsonMember| format!("{}:{}", quoted(&member.name), member.node.to_json());
                let members: Vec<String> = members.iter().map(written).collect();
                format!("{{{}}}", members.join(","))
            }
        }
    }
}

#[cold]
fn syntax(at: usize, what: &str) -> Broken {
    Broken {
        span: Span::new(at, at + 1),
        why: Why::Syntax(what.to_owned()),
    }
}

impl From<Syntax> for Broken {
    fn from(error: Syntax) -> Broken {
        syntax(error.at, error.what)
    }
}

fn value(scan: &mut Scanner<'_>, depth: usize) -> Result<JsonNode, Broken> {
    let first = scan.peek();
    let start = scan.pos();
    if depth > MAX_NESTING {
        return Err(syntax(start, &format!("more than {MAX_NESTING} levels")));
    }
    let value = match first {
        b'{' => object(scan, depth)?,
        b'[' => {
            let mut list = Vec::new();
            let mut more = scan.open(b']')?;
            while more {
                list.push(value(scan, depth + 1)?);
                more = scan.more(b']')?;
            }
            Value::List(list)
        }
        b'"' => {
            let token = scan.string()?;
            Value::Text(text(scan, token)?)
        }
        _ => bare(scan, start)?,
    };
    let span = Span::new(start, scan.pos());
    Ok(JsonNode { span, value })
}

fn object(scan: &mut Scanner<'_>, depth: usize) -> Result<Value, Broken> {
    let mut members: Vec<JsonMember> = Vec::new();
    let mut names = BTreeSet::new();
    let mut more = scan.open(b'}')?;
    while more {
        let token = scan.key()?;
        let at = Span::new(token.start - 1, token.end + 1);
        let name = text(scan, token)?;
        if !names.insert(name.clone()) {
            return Err(Broken {
                span: at,
                why: Why::Twice(name),
            });
        }
        let node = value(scan, depth + 1)?;
        members.push(JsonMember { name, at, node });
        more = scan.more(b'}')?;
    }
    Ok(Value::Map(members))
}

fn bare(scan: &mut Scanner<'_>, start: usize) -> Result<Value, Broken> {
    let token = scan.bare();
    match token {
        b"null" => Ok(Value::Null),
        b"true" => Ok(Value::Bool(true)),
        b"false" => Ok(Value::Bool(false)),
        number if is_number(number) => Ok(Value::Number(String::from_utf8_lossy(number).into())),
        _ => {
            scan.set_pos(start);
            scan.error("expected a value").map_err(Broken::from)
        }
    }
}

fn text(scan: &Scanner<'_>, token: Str) -> Result<String, Broken> {
    let mut scratch = Vec::new();
    let text = scan.text_of(token, &mut scratch);
    let text = text.map_err(|bad| syntax(token.start, &format!("a string with {}", bad.what())))?;
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceMap;

    #[test]
    fn places_are_those_of_the_document() {
        let mut sources = SourceMap::new();
        let text = "a: 1\nb:\n- {c: x}\n";
        let id = sources.add("x.yaml", text.as_bytes().to_vec());
        let source = sources.get(id).unwrap();
        let node = JsonNode::of(source).unwrap().unwrap();
        assert_eq!(node.to_json(), r#"{"a":1,"b":[{"c":"x"}]}"#);
        let c = &node.get("b").unwrap().list().unwrap()[0];
        let place = source.to_document(c.get("c").unwrap().span);
        assert_eq!(&text[place.range()], "x");
    }

    #[test]
    fn what_is_no_tree_says_where() {
        let broken = |text: &str| {
            let Broken { span, why } = JsonNode::of_json(text).unwrap_err();
            (span.start, why.to_string())
        };
        assert_eq!(broken("{\"a\": }"), (6, "expected a value".to_owned()));
        assert_eq!(broken("{} x"), (3, "there is more text after the value".to_owned()));
        assert_eq!(broken("{\"a\""), (4, "the text ends inside a value".to_owned()));
        let twice = "`a` occurs twice in one object, where only one can count";
        assert_eq!(broken(r#"{"a": 1, "\u0061": 2}"#), (9, twice.to_owned()));
        let deep = "[".repeat(MAX_NESTING + 2);
        assert_eq!(broken(&deep).1, format!("more than {MAX_NESTING} levels"));
    }
}
