//! What stands at a place of a document, and what may stand there, by the descriptors.
//!
//! An editor asks about a place in a resource: which field it is, of which message, and which other
//! fields and values there are. The way from the resource down is that of
//! [`span`](crate::source::span): keys and elements of the JSON form, an Any by its `@type`.

use xdsctl_proto::tables::{self, Cardinality, WellKnown};

use crate::proto::message_type::{FieldType, MessageType, Shape, is_any, of_field, of_kind};
use crate::source::json::{Scanner, Syntax};
use crate::source::sniff::DocumentFormat;
use crate::source::{Source, Span};
use xdsctl_model::diag::FieldPath;

/// Levels that are followed: as many as protobuf reads.
const MAX_LEVELS: usize = 100;

/// A step from a resource down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlaceStep {
    /// A key of an object, as it is written.
    Key(String),
    /// An element of a list.
    Element(usize),
}

/// What stands at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// A key of an object.
    Key,
    /// A value that is neither an object nor a list.
    Scalar,
    /// An object or a list, and none of what is in it.
    Around,
}

/// A place of a resource.
#[derive(Debug, Clone)]
pub struct Place {
    /// The way to it.
    pub steps: Vec<PlaceStep>,
    /// What stands there.
    pub part: Part,
    /// The key or the value, in the document.
    pub span: Span,
    /// All that is around it, in the document: the resource first, the innermost last.
    pub around: Vec<Span>,
    /// The text of a key or scalar.
    pub text: String,
    /// The message in which it stands; `None` where the descriptors know nothing.
    pub message: Option<MessageType>,
    /// The field that it is the key of, or the value.
    pub field: Option<FieldType>,
    /// The fields of which the objects around it are values, the innermost last.
    pub holders: Vec<FieldType>,
    /// The keys of the object in which it stands, or which it is.
    pub keys: Vec<String>,
    /// The `@type` of the objects around it, the innermost last.
    pub types: Vec<String>,
}

/// Finds what stands at a byte of the document, in the resource at `resource` of the type
/// `type_name`.
pub fn at(source: &Source, resource: Span, type_name: &str, offset: usize) -> Option<Place> {
    if !matches!(
        source.format(),
        Some(DocumentFormat::Json | DocumentFormat::Yaml | DocumentFormat::Text)
    ) {
        return None;
    }
    let root = FieldPath::default();
    let (text, starts) = source.values(resource, &[&root]);
    let start = (*starts.first()?)?;
    let mut walk = Walk {
        source,
        scan: Scanner::new(text),
        offset,
        place: Place {
            steps: Vec::new(),
            part: Part::Around,
            span: resource,
            around: Vec::new(),
            text: String::new(),
            message: tables::message(type_name).map(MessageType),
            field: None,
            holders: Vec::new(),
            keys: Vec::new(),
            types: Vec::new(),
        },
    };
    walk.scan.set_pos(start);
    let mut shape = tables::message(type_name).map_or(Shape::Unknown, Shape::Message);
    for _ in 0..MAX_LEVELS {
        // Text that cannot be read any further ends the way: what is around it is known.
        match walk.level(shape) {
            Ok(Some(next)) => shape = next,
            Ok(None) | Err(_) => break,
        }
    }
    Some(walk.place)
}

/// Calls `each` with every scalar of a resource that is a field's value, or an element of its list:
/// the field, the text, and the bytes of the document. Text that cannot be read ends the walk.
pub fn scalars(source: &Source, resource: Span, type_name: &str, each: &mut dyn FnMut(FieldType, &str, Span)) {
    let is_text = matches!(
        source.format(),
        Some(DocumentFormat::Json | DocumentFormat::Yaml | DocumentFormat::Text)
    );
    let root = FieldPath::default();
    let (text, starts) = source.values(resource, &[&root]);
    let (Some(message), Some(Some(start))) = (tables::message(type_name).filter(|_| is_text), starts.first()) else {
        return;
    };
    let mut visit = Visit {
        source,
        scan: Scanner::new(text),
        each,
    };
    visit.scan.set_pos(*start);
    let _ = visit.value(Shape::Message(message), None, 0);
}

/// A walk over all that the descriptors know.
struct Visit<'s, 'e> {
    source: &'s Source,
    scan: Scanner<'s>,
    each: &'e mut dyn FnMut(FieldType, &str, Span),
}

impl Visit<'_, '_> {
    fn value(&mut self, shape: Shape, field: Option<FieldType>, level: usize) -> Result<(), Syntax> {
        let first = self.scan.peek();
        let start = self.scan.pos();
        let is_known = !matches!(shape, Shape::Unknown) || first == b'{';
        if level > MAX_LEVELS || !is_known {
            return self.scan.skip_value();
        }
        match first {
            b'{' => self.object(shape, level),
            b'[' => {
                let Shape::List(list) = shape else {
                    return self.scan.skip_value();
                };
                let of_element = of_kind(list.field.kind);
                let mut more = self.scan.open(b']')?;
                while more {
                    self.value(of_element, Some(list), level + 1)?;
                    more = self.scan.more(b']')?;
                }
                Ok(())
            }
            _ => {
                self.scan.skip_value()?;
                if let Some(field) = field {
                    let end = self.scan.pos();
                    let text = std::str::from_utf8(self.scan.slice(start, end)).unwrap_or_default();
                    let plain = serde_json::from_str::<String>(text);
                    let plain = plain.as_deref().unwrap_or(text);
                    (self.each)(field, plain, self.source.to_document(Span::new(start, end)));
                }
                Ok(())
            }
        }
    }

    fn object(&mut self, shape: Shape, level: usize) -> Result<(), Syntax> {
        let mut shape = shape;
        if is_any(shape) {
            let name = self.type_name()?;
            let message = name.and_then(|name| tables::message(&name));
            let Some(message) = message else {
                return self.scan.skip_value();
            };
            shape = Shape::Message(message);
        }
        let mut scratch = Vec::new();
        let mut more = self.scan.open(b'}')?;
        while more {
            let key = self.scan.key()?;
            let name = self.scan.text_of(key, &mut scratch).unwrap_or_default();
            let field = match shape {
                Shape::Message(owner) => owner.field_by_name(name).map(|field| FieldType { owner, field }),
                Shape::Map(field, _) => Some(field),
                _ => None,
            };
            let next = match (shape, field) {
                (Shape::Map(_, kind), _) => of_kind(kind),
                (_, Some(field)) => of_field(field),
                (_, None) => Shape::Unknown,
            };
            self.value(next, field, level + 1)?;
            more = self.scan.more(b'}')?;
        }
        Ok(())
    }

    /// The type that the `@type` of the object at the scanner names.
    fn type_name(&mut self) -> Result<Option<String>, Syntax> {
        let mut ahead = self.scan.clone();
        let mut more = ahead.open(b'}')?;
        while more {
            let key = ahead.key()?;
            ahead.peek();
            let start = ahead.pos();
            ahead.skip_value()?;
            if ahead.raw(key) == b"@type" {
                let text = std::str::from_utf8(ahead.slice(start, ahead.pos())).unwrap_or_default();
                let url = serde_json::from_str::<String>(text).unwrap_or_default();
                return Ok(url.rsplit('/').next().map(str::to_owned));
            }
            more = ahead.more(b'}')?;
        }
        Ok(None)
    }
}

struct Walk<'s> {
    source: &'s Source,
    scan: Scanner<'s>,
    offset: usize,
    place: Place,
}

impl Walk<'_> {
    fn has(&self, span: Span) -> bool {
        span.start <= self.offset && self.offset <= span.end
    }

    fn document(&self, start: usize, end: usize) -> Span {
        self.source.to_document(Span::new(start, end.max(start + 1)))
    }

    /// Looks at the value at the scanner, and moves to what of it is around the place; `None` if
    /// that is all.
    fn level(&mut self, shape: Shape) -> Result<Option<Shape>, Syntax> {
        let first = self.scan.peek();
        let start = self.scan.pos();
        let mut end = self.scan.clone();
        let is_whole = end.skip_value().is_ok();
        let span = self.document(start, if is_whole { end.pos() } else { start + 1 });
        self.place.around.push(span);
        match first {
            b'{' => self.object(shape),
            b'[' => self.list(shape),
            _ => {
                let text = self.scan.slice(start, end.pos());
                let text = std::str::from_utf8(text).unwrap_or_default();
                let plain = serde_json::from_str::<String>(text).unwrap_or_else(|_| text.to_owned());
                self.place.part = Part::Scalar;
                self.place.span = span;
                self.place.text = plain;
                Ok(None)
            }
        }
    }

    fn object(&mut self, shape: Shape) -> Result<Option<Shape>, Syntax> {
        let mut members = Vec::new();
        let mut type_url = None;
        let mut scratch = Vec::new();
        let mut more = self.scan.open(b'}')?;
        while more {
            let Ok(key) = self.scan.key() else { break };
            let name = self.scan.text_of(key, &mut scratch).unwrap_or_default().to_owned();
            self.scan.peek();
            let start = self.scan.pos();
            let is_read = self.scan.skip_value().is_ok();
            let end = self.scan.pos();
            if name == "@type" {
                let text = std::str::from_utf8(self.scan.slice(start, end)).unwrap_or_default();
                type_url = serde_json::from_str::<String>(text).ok();
            }
            members.push((name, Span::new(key.start - 1, key.end + 1), start, end));
            // What stands before the fault is known.
            more = is_read && self.scan.more(b'}').unwrap_or(false);
        }
        let mut shape = shape;
        if let Some(url) = &type_url {
            self.place.types.push(url.clone());
            if is_any(shape) {
                let name = url.rsplit('/').next().unwrap_or_default();
                shape = tables::message(name).map_or(Shape::Unknown, Shape::Message);
            }
        }
        self.place.keys = members.iter().map(|(name, ..)| name.clone()).collect();
        self.place.message = match shape {
            Shape::Message(message) => Some(MessageType(message)),
            _ => None,
        };
        self.place.part = Part::Around;
        self.place.holders.extend(self.place.field);
        for (name, key, start, end) in members {
            let field = match shape {
                Shape::Message(owner) => owner.field_by_name(&name).map(|field| FieldType { owner, field }),
                Shape::Map(field, _) => Some(field),
                _ => None,
            };
            let key = self.document(key.start, key.end);
            if self.has(key) {
                self.place.part = Part::Key;
                self.place.span = key;
                self.place.text.clone_from(&name);
                self.place.field = field.filter(|_| !matches!(shape, Shape::Map(..)));
                self.place.steps.push(PlaceStep::Key(name));
                return Ok(None);
            }
            let value = self.document(start, end);
            if !self.has(value) {
                continue;
            }
            let next = match (shape, field) {
                (Shape::Map(_, kind), _) => of_kind(kind),
                (_, Some(field)) => of_field(field),
                (_, None) => Shape::Unknown,
            };
            self.place.field = field;
            self.place.steps.push(PlaceStep::Key(name));
            self.scan.set_pos(start);
            return Ok(Some(next));
        }
        Ok(None)
    }

    fn list(&mut self, shape: Shape) -> Result<Option<Shape>, Syntax> {
        let next = match shape {
            Shape::List(field) => of_kind(field.field.kind),
            _ => Shape::Unknown,
        };
        self.place.part = Part::Around;
        let mut index = 0;
        let mut more = self.scan.open(b']')?;
        while more {
            self.scan.peek();
            let start = self.scan.pos();
            let is_read = self.scan.skip_value().is_ok();
            let value = self.document(start, self.scan.pos());
            if self.has(value) {
                self.place.steps.push(PlaceStep::Element(index));
                self.scan.set_pos(start);
                return Ok(Some(next));
            }
            if !is_read {
                return Ok(None);
            }
            index += 1;
            more = self.scan.more(b']')?;
        }
        Ok(None)
    }
}

/// The field that a path in the client's notation ends at, from a message of this type.
pub fn field_of(type_name: &str, path: &str) -> Option<FieldType> {
    let mut shape = Shape::Message(tables::message(type_name)?);
    let mut last = None;
    let mut rest = path;
    while !rest.is_empty() {
        let name_end = rest.find(['.', '[']).unwrap_or(rest.len());
        let (name, after) = rest.split_at(name_end);
        let (bracket, after) = match after.strip_prefix('[') {
            Some(inside) => inside.split_once(']').map(|(text, after)| (Some(text), after))?,
            None => (None, after),
        };
        rest = after.strip_prefix('.').unwrap_or(after);
        let Shape::Message(owner) = shape else { return None };
        if let Some(type_name) = bracket.filter(|_| name == "value" && owner.well_known == WellKnown::Any) {
            shape = Shape::Message(tables::message(type_name)?);
            continue;
        }
        let field = FieldType {
            owner,
            field: owner.field_by_name(name)?,
        };
        last = Some(field);
        let kind = match field.field.cardinality {
            Cardinality::Map { value, .. } => value,
            _ => field.field.kind,
        };
        shape = of_kind(kind);
        // A message that is a scalar in JSON has fields in the client's notation.
        if let (Shape::Scalar, Some(message)) = (shape, kind.message()) {
            if !rest.is_empty() {
                return Some(field);
            }
            shape = Shape::Message(message);
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envelope::{LoadOptions, Loader};
    use crate::source::SourceMap;

    const YAML: &str = "\
\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster
name: a
lb_policy: RING_HASH
load_balancing_policy:
  policies:
  - typed_extension_config:
      name: x
      typed_config:
        \"@type\": type.googleapis.com/envoy.extensions.load_balancing_policies.ring_hash.v3.RingHash
        minimum_ring_size: 5
";

    #[track_caller]
    fn place(word: &str) -> Place {
        let mut sources = SourceMap::new();
        let id = sources.add("a.yaml", YAML.as_bytes().to_vec());
        let source = sources.get(id).unwrap();
        let mut span = None;
        let mut loader = Loader::new();
        loader.document(id, source, LoadOptions::default(), &mut |resources| {
            span = resources.first().map(|resource| resource.origin.span);
        });
        let offset = YAML.find(word).unwrap() + 1;
        at(source, span.unwrap(), "envoy.config.cluster.v3.Cluster", offset).unwrap()
    }

    #[test]
    fn a_key_is_a_field_and_a_value_is_its() {
        let key = place("lb_policy");
        assert_eq!((key.part, key.text.as_str()), (Part::Key, "lb_policy"));
        let field = key.field.unwrap();
        assert_eq!(field.name(), "lb_policy");
        assert!(field.enum_values().iter().any(|(name, _)| *name == "RING_HASH"));
        let value = place("RING_HASH");
        assert_eq!((value.part, value.text.as_str()), (Part::Scalar, "RING_HASH"));
        assert_eq!(value.field.unwrap().name(), "lb_policy");
    }

    #[test]
    fn an_any_is_what_its_type_says() {
        let key = place("minimum_ring_size");
        assert_eq!(
            key.message.unwrap().name(),
            "envoy.extensions.load_balancing_policies.ring_hash.v3.RingHash"
        );
        assert_eq!(key.field.unwrap().type_words(), "google.protobuf.UInt64Value");
        assert_eq!(key.types.len(), 2);
        assert!(key.around.len() > 4);
    }

    #[test]
    fn a_path_of_a_client_leads_to_its_field() {
        let field = |path: &str| {
            let field = field_of("envoy.config.cluster.v3.Cluster", path)?;
            Some(format!("{} {}", field.owner().name(), field.name()))
        };
        let endpoint = "envoy.config.endpoint.v3.LbEndpoint load_balancing_weight";
        assert_eq!(
            field("load_assignment.endpoints[0].lb_endpoints[1].load_balancing_weight.value").as_deref(),
            Some(endpoint)
        );
        let ring = "envoy.extensions.load_balancing_policies.ring_hash.v3.RingHash minimum_ring_size";
        let path = "load_balancing_policy.policies[0].typed_extension_config.typed_config.value[envoy.extensions.load_balancing_policies.ring_hash.v3.RingHash].minimum_ring_size";
        assert_eq!(field(path).as_deref(), Some(ring));
        assert_eq!(field("nothing.here"), None);
    }
}
