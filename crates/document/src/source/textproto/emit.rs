//! Writes the tree of a document as JSON, guided by the descriptor tables.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use xdsctl_proto::tables::{self, Cardinality, Field, Kind, Message, WellKnown};

use super::parse::{NONE, TextNode, TextValue, TextprotoTree};
use super::scalar::{float, integer};
use crate::source::Span;
use crate::source::binary::is_envelope;
use crate::source::json::is_number;
use crate::source::view::{FaultKind, View};

/// The beginning of type URLs.
pub(super) const PREFIX: &str = "type.googleapis.com/";

/// Writes a document of type `root`, or of no known type.
pub(super) fn write(tree: &TextprotoTree<'_>, root: Option<&'static Message>, view: View) -> View {
    let mut writer = TextprotoWriter { tree, view };
    if tree.open && root.is_none_or(is_leaf) {
        // The resource itself is cut off, so nothing in it can be judged.
        return writer.view;
    }
    let start = tree.fields(tree.first).next().map_or(Span::default(), |node| node.name);
    let end = tree.text.len();
    match root {
        None => writer.untyped(tree.first, Span::new(start.start, end)),
        Some(message) if message.well_known == WellKnown::Any => writer.any(tree.first, Span::new(start.start, end)),
        Some(message) => {
            writer.view.bracket(b'{', start);
            if is_leaf(message) {
                writer.type_url(&format!("{PREFIX}{}", message.full_name), start);
            }
            writer.fields(message, tree.first);
            writer.view.bracket(b'}', Span::new(end, end));
        }
    }
    writer.view.end_part(0, false);
    writer.view
}

/// Says whether a message of this type is lost as a whole if the text ends inside it.
fn is_leaf(message: &'static Message) -> bool {
    !is_envelope(message)
}

struct TextprotoWriter<'t, 'v> {
    tree: &'v TextprotoTree<'t>,
    view: View,
}

impl TextprotoWriter<'_, '_> {
    fn type_url(&mut self, url: &str, span: Span) {
        self.view.key(b"@type", span);
        self.view.string(url.as_bytes(), span);
    }

    /// Writes the fields of a message. Fields with the same name are joined.
    fn fields(&mut self, message: &'static Message, first: u32) {
        let tree = self.tree;
        let (mut known, mut unknown) = (Vec::new(), Vec::new());
        for node in tree.fields(first) {
            let name = std::str::from_utf8(tree.slice(node.name)).unwrap_or_default();
            match message.field_by_name(name).filter(|_| !node.bracketed) {
                Some(field) => known.push((field, node)),
                None => unknown.push(node),
            }
        }
        known.sort_by_key(|(field, _)| field.number);
        for group in known.chunk_by(|(a, _), (b, _)| a.number == b.number) {
            let Some((field, _)) = group.first() else { continue };
            let nodes = group.iter().map(|(_, node)| *node);
            match field.cardinality {
                Cardinality::Singular => {
                    for node in nodes {
                        if !self.is_lost(node, field.kind) {
                            self.view.key(field.name.as_bytes(), node.name);
                            self.value(field.kind, node);
                        }
                    }
                }
                Cardinality::Repeated => self.repeated(field, nodes),
                Cardinality::Map { key, value } => self.map(field.name, key, value, nodes),
            }
        }
        self.unknown(unknown);
    }

    /// Says whether the text ends inside this resource.
    fn is_lost(&self, node: &TextNode, kind: Kind) -> bool {
        let TextValue::Message { first, open: true } = node.value else {
            return false;
        };
        let Some(message) = kind.message() else {
            return false;
        };
        if message.well_known != WellKnown::Any {
            return is_leaf(message);
        }
        let inner = self.tree.fields(first).find(|node| node.bracketed);
        inner
            .and_then(|node| std::str::from_utf8(self.tree.slice(node.name)).ok())
            .and_then(|url| tables::message(url.rsplit('/').next().unwrap_or_default()))
            .is_none_or(is_leaf)
    }

    fn repeated<'n>(&mut self, field: &'static Field, nodes: impl Iterator<Item = &'n TextNode> + Clone) {
        let Some(first) = nodes.clone().next() else { return };
        self.view.key(field.name.as_bytes(), first.name);
        self.view.bracket(b'[', first.span);
        let mut end = first.span;
        for node in nodes {
            end = node.span;
            if !self.is_lost(node, field.kind) {
                self.view.comma();
                self.value(field.kind, node);
            }
        }
        self.view.bracket(b']', end);
    }

    fn map<'n>(&mut self, name: &str, key: Kind, value: Kind, nodes: impl Iterator<Item = &'n TextNode> + Clone) {
        let Some(first) = nodes.clone().next() else { return };
        self.view.key(name.as_bytes(), first.name);
        self.entries(key, value, nodes, first.span);
    }

    /// Writes map entries as an object.
    fn entries<'n>(&mut self, key: Kind, value: Kind, nodes: impl Iterator<Item = &'n TextNode>, start: Span) {
        let tree = self.tree;
        self.view.bracket(b'{', start);
        let mut end = start;
        for node in nodes {
            end = node.span;
            let member = |wanted: &[u8]| {
                let fields = tree.children(node);
                fields.filter(|node| tree.slice(node.name) == wanted).last()
            };
            match member(b"key") {
                Some(given) if given.value == TextValue::Text => self.view.key(&tree.unescaped(given), given.span),
                Some(given) => {
                    let text = tree.slice(given.span);
                    let text = integer(text).map_or_else(|| text.to_vec(), |value| value.to_string().into_bytes());
                    self.view.key(&text, given.span);
                }
                None => self
                    .view
                    .key(without_quotes(default(key).trim_ascii_start()), node.span),
            }
            match member(b"value") {
                Some(given) => self.value(value, given),
                None => self.view.raw(default(value), node.span),
            }
        }
        self.view.bracket(b'}', end);
    }

    fn value(&mut self, kind: Kind, node: &TextNode) {
        match (kind, node.value) {
            (Kind::Message(_), TextValue::Message { first, .. }) => match kind.message() {
                Some(message) => self.message(message, first, node.span),
                None => self.untyped(first, node.span),
            },
            (_, TextValue::Message { first, .. }) => self.untyped(first, node.span),
            (Kind::Message(_), _) => self.untyped_scalar(node),
            _ => self.scalar(kind, node),
        }
    }

    fn message(&mut self, message: &'static Message, first: u32, span: Span) {
        let tree = self.tree;
        let last = |name: &[u8]| {
            let fields = tree.fields(first);
            fields.filter(|node| tree.slice(node.name) == name).last()
        };
        match message.well_known {
            WellKnown::Any => self.any(first, span),
            WellKnown::Wrapper(kind) => match last(b"value") {
                Some(node) => self.value(kind, node),
                None => self.view.raw(default(kind), span),
            },
            WellKnown::Struct => {
                let Some(Cardinality::Map { key, value }) = message.fields.first().map(|field| field.cardinality)
                else {
                    return self.untyped(first, span);
                };
                self.entries(key, value, tree.fields(first), span);
            }
            WellKnown::ListValue => {
                self.view.bracket(b'[', span);
                for node in tree.fields(first) {
                    self.view.comma();
                    self.value(message.fields.first().map_or(Kind::String, |field| field.kind), node);
                }
                self.view.bracket(b']', Span::new(span.end.saturating_sub(1), span.end));
            }
            WellKnown::Value => self.dynamic(message, first, span),
            WellKnown::FieldMask => {
                let mut paths = Vec::new();
                for node in tree.fields(first) {
                    if !paths.is_empty() {
                        paths.push(b',');
                    }
                    paths.extend(tree.unescaped(node));
                }
                self.view.string(&paths, span);
            }
            WellKnown::None | WellKnown::Duration | WellKnown::Timestamp | WellKnown::Empty => {
                self.view.bracket(b'{', Span::new(span.start, span.start + 1));
                self.fields(message, first);
                self.view.bracket(b'}', Span::new(span.end.saturating_sub(1), span.end));
            }
        }
    }

    /// Writes a `google.protobuf.Value`. If it has several members, the last one counts.
    fn dynamic(&mut self, message: &'static Message, first: u32, span: Span) {
        let tree = self.tree;
        let member = tree.fields(first).last();
        let field = member.and_then(|node| {
            let name = std::str::from_utf8(tree.slice(node.name)).ok()?;
            Some((node, message.field_by_name(name)?))
        });
        match field {
            Some((node, field)) if field.name == "null_value" => self.view.raw(b"null", node.span),
            Some((node, field)) if field.name == "number_value" => match float(tree.slice(node.span)) {
                Some(value) if !value.is_finite() => {
                    let mut wire = vec![field.number.to_le_bytes()[0] << 3 | 1];
                    wire.extend_from_slice(&value.to_le_bytes());
                    self.wire(&wire, node.span);
                }
                _ => self.value(field.kind, node),
            },
            Some((node, field)) => self.value(field.kind, node),
            // A Value without a kind, which JSON cannot express.
            None => self.wire(&[], span),
        }
    }

    /// Writes a message as its bytes.
    fn wire(&mut self, bytes: &[u8], span: Span) {
        self.view.bracket(b'{', span);
        self.view.key(b"@wire", span);
        self.view.string(STANDARD.encode(bytes).as_bytes(), span);
        self.view.bracket(b'}', span);
    }

    /// Writes an Any, which is given by a type in brackets or by its two fields.
    fn any(&mut self, first: u32, span: Span) {
        let tree = self.tree;
        let start = Span::new(span.start, (span.start + 1).min(span.end));
        let end = Span::new(span.end.saturating_sub(1).max(span.start), span.end);
        self.view.bracket(b'{', start);
        if let Some(node) = tree.fields(first).find(|node| node.bracketed) {
            let url = String::from_utf8_lossy(tree.slice(node.name)).into_owned();
            self.type_url(&url, node.name);
            let inner = match node.value {
                TextValue::Message { first, .. } => first,
                TextValue::Bare | TextValue::Text => NONE,
            };
            match tables::message(url.rsplit('/').next().unwrap_or_default()) {
                Some(message) if message.well_known == WellKnown::None => self.fields(message, inner),
                Some(message) => {
                    self.view.key(b"value", node.name);
                    self.message(message, inner, node.span);
                }
                None => self.unknown(tree.fields(inner).collect()),
            }
        } else {
            let mut rest = Vec::new();
            for node in tree.fields(first) {
                match tree.slice(node.name) {
                    b"type_url" if node.value == TextValue::Text => {
                        self.type_url(&String::from_utf8_lossy(&tree.unescaped(node)), node.span);
                    }
                    b"value" if node.value == TextValue::Text => {
                        self.view.key(b"@value", node.name);
                        self.view
                            .string(STANDARD.encode(tree.unescaped(node)).as_bytes(), node.span);
                    }
                    _ => rest.push(node),
                }
            }
            self.unknown(rest);
        }
        self.view.bracket(b'}', end);
    }

    /// Writes fields that are in no table. Fields with the same name become a list.
    fn unknown(&mut self, mut nodes: Vec<&TextNode>) {
        let tree = self.tree;
        nodes.sort_by_key(|node| tree.slice(node.name));
        for group in nodes.chunk_by(|a, b| tree.slice(a.name) == tree.slice(b.name)) {
            let Some(first) = group.first() else { continue };
            self.view.key(tree.slice(first.name), first.name);
            if group.len() == 1 {
                self.untyped_value(first);
                continue;
            }
            self.view.bracket(b'[', first.span);
            for node in group {
                self.view.comma();
                self.untyped_value(node);
            }
            self.view.bracket(b']', first.span);
        }
    }

    fn untyped_value(&mut self, node: &TextNode) {
        match node.value {
            TextValue::Message { first, .. } => self.untyped(first, node.span),
            TextValue::Bare | TextValue::Text => self.untyped_scalar(node),
        }
    }

    /// Writes a message of an unknown type. It is an Any if it has a type in brackets.
    fn untyped(&mut self, first: u32, span: Span) {
        if self.tree.fields(first).any(|node| node.bracketed) {
            return self.any(first, span);
        }
        self.view
            .bracket(b'{', Span::new(span.start, (span.start + 1).min(span.end)));
        self.unknown(self.tree.fields(first).collect());
        self.view
            .bracket(b'}', Span::new(span.end.saturating_sub(1).max(span.start), span.end));
    }

    fn untyped_scalar(&mut self, node: &TextNode) {
        let text = self.tree.slice(node.span);
        if node.value == TextValue::Text {
            let text = self.tree.unescaped(node);
            self.view.string(&text, node.span);
        } else if is_number(text) || matches!(text, b"true" | b"false") {
            self.view.raw(text, node.span);
        } else {
            self.view.string(text, node.span);
        }
    }

    fn scalar(&mut self, kind: Kind, node: &TextNode) {
        let text = self.tree.slice(node.span);
        match (kind, node.value) {
            (Kind::Bytes, TextValue::Text) => {
                let text = STANDARD.encode(self.tree.unescaped(node));
                self.view.string(text.as_bytes(), node.span);
            }
            (Kind::String | Kind::Bytes, TextValue::Bare) => {
                let message = "a string must be in quotes".to_owned();
                self.view.fault(FaultKind::Syntax, node.span, message);
                self.view.string(text, node.span);
            }
            (_, TextValue::Text) => {
                let text = self.tree.unescaped(node);
                self.view.string(&text, node.span);
            }
            (Kind::Bool, _) => match text {
                b"true" | b"True" | b"t" | b"1" => self.view.raw(b"true", node.span),
                b"false" | b"False" | b"f" | b"0" => self.view.raw(b"false", node.span),
                _ => self.view.string(text, node.span),
            },
            (Kind::Double | Kind::Float, _) => match float(text) {
                Some(value) if value.is_nan() => self.view.string(b"NaN", node.span),
                Some(f64::INFINITY) => self.view.string(b"Infinity", node.span),
                Some(f64::NEG_INFINITY) => self.view.string(b"-Infinity", node.span),
                Some(_) if is_number(text) => self.view.raw(text, node.span),
                Some(value) => self.view.raw(format!("{value:?}").as_bytes(), node.span),
                None => self.view.string(text, node.span),
            },
            _ => match integer(text) {
                Some(value) => self.view.raw(value.to_string().as_bytes(), node.span),
                None => self.view.string(text, node.span),
            },
        }
    }
}

/// Returns the JSON of a value that is not given.
fn default(kind: Kind) -> &'static [u8] {
    match kind {
        Kind::String | Kind::Bytes => b"\"\"",
        Kind::Bool => b"false",
        Kind::Message(_) => match kind.message().map(|message| message.well_known) {
            Some(WellKnown::Value) => b"{\"@wire\":\"\"}",
            Some(WellKnown::ListValue) => b"[]",
            Some(WellKnown::FieldMask) => b"\"\"",
            Some(WellKnown::Wrapper(inner)) => default(inner),
            _ => b"{}",
        },
        _ => b"0",
    }
}

fn without_quotes(text: &[u8]) -> &[u8] {
    let inner = text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\""));
    inner.unwrap_or(text)
}
