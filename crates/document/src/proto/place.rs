//! What is at a place in a resource, and what may be there according to the descriptors.
//!
//! An editor asks which field is at a place, of which message, and which other fields and values
//! are possible. The steps from the resource to the place are those of
//! [`span`](crate::source::span): keys and elements of the JSON form, with an Any opened by its
//! `@type`.

use xdsctl_proto::tables::{self, WellKnown};

use crate::proto::message_type::{FieldType, MessageType, Shape, is_any, member, of_kind};
use crate::source::json::{Scanner, Syntax};
use crate::source::sniff::DocumentFormat;
use crate::source::{Source, Span};
use xdsctl_model::diag::FieldPath;

/// The number of levels that are followed, which is the number that protobuf reads.
const MAX_LEVELS: usize = 100;

/// One step from a value to a member of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlaceStep {
    /// A key of an object, as it is written.
    Key(String),
    /// An element of a list.
    Element(usize),
}

/// The kind of thing at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// A key of an object.
    Key,
    /// A value that is neither an object nor a list.
    Scalar,
    /// An object or a list itself, rather than something in it.
    Around,
}

/// A place in a resource.
#[derive(Debug, Clone)]
pub struct Place {
    /// The steps from the resource to the place.
    pub steps: Vec<PlaceStep>,
    /// The kind of thing at the place.
    pub part: Part,
    /// The span of the key or value in the document.
    pub span: Span,
    /// The spans of the values around the place, the resource first and the innermost last.
    pub around: Vec<Span>,
    /// The text, if there is a key or a scalar at the place.
    pub text: String,
    /// The message that has the place; `None` where the descriptors know nothing.
    pub message: Option<MessageType>,
    /// The field whose key or value is at the place.
    pub field: Option<FieldType>,
    /// The fields whose values are the objects around the place, the innermost last.
    pub holders: Vec<FieldType>,
    /// The keys of the object that has the place, or of the object at the place.
    pub keys: Vec<String>,
    /// The `@type`s of the objects around the place, the innermost last.
    pub types: Vec<String>,
}

/// Returns what is at the byte `offset` of the document. `resource` is the span of the resource
/// there, and `type_name` is its type.
pub fn at(source: &Source, resource: Span, type_name: &str, offset: usize) -> Option<Place> {
    let message = tables::message(type_name);
    let mut walk = Walk {
        source,
        scan: begin(source, resource)?,
        offset,
        place: Place {
            steps: Vec::new(),
            part: Part::Around,
            span: resource,
            around: Vec::new(),
            text: String::new(),
            message: message.map(MessageType),
            field: None,
            holders: Vec::new(),
            keys: Vec::new(),
            types: Vec::new(),
        },
    };
    let mut shape = message.map_or(Shape::Unknown, Shape::Message);
    for _ in 0..MAX_LEVELS {
        // If the text cannot be read any further, the result is what is known of the text before.
        match walk.level(shape) {
            Ok(Some(next)) => shape = next,
            Ok(None) | Err(_) => break,
        }
    }
    Some(walk.place)
}

/// Calls `each` with every scalar of a resource that is the value of a field, or an element of its
/// list: the field, the text, and the span in the document. Stops at text that cannot be read.
pub fn scalars(source: &Source, resource: Span, type_name: &str, each: &mut dyn FnMut(FieldType, &str, Span)) {
    if let (Some(message), Some(scan)) = (tables::message(type_name), begin(source, resource)) {
        let mut visit = Visit { source, scan, each };
        let _ = visit.value(Shape::Message(message), None, 0);
    }
}

/// Returns a scanner at the beginning of a resource. Returns `None` for documents without places.
fn begin(source: &Source, resource: Span) -> Option<Scanner<'_>> {
    let format = source.format()?;
    if matches!(format, DocumentFormat::Binary | DocumentFormat::Log) {
        return None;
    }
    let (text, starts) = source.values(resource, &[&FieldPath::default()]);
    let mut scan = Scanner::new(text);
    scan.set_pos((*starts.first()?)?);
    Some(scan)
}

/// Returns the text of the value from `start` to the scanner: of a string without its quotes and
/// escapes, of another value as it is written.
fn plain(scan: &Scanner<'_>, start: usize) -> String {
    let text = std::str::from_utf8(scan.slice(start, scan.pos())).unwrap_or_default();
    serde_json::from_str(text).unwrap_or_else(|_| text.to_owned())
}

/// A walk over all values that the descriptors know.
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
                    let span = self.source.to_document(Span::new(start, self.scan.pos()));
                    (self.each)(field, &plain(&self.scan, start), span);
                }
                Ok(())
            }
        }
    }

    fn object(&mut self, mut shape: Shape, level: usize) -> Result<(), Syntax> {
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
            let (field, next) = member(shape, name);
            self.value(next, field, level + 1)?;
            more = self.scan.more(b'}')?;
        }
        Ok(())
    }

    /// Returns the type in the `@type` of the object at the scanner.
    fn type_name(&mut self) -> Result<Option<String>, Syntax> {
        let mut ahead = self.scan.clone();
        let mut more = ahead.open(b'}')?;
        while more {
            let key = ahead.key()?;
            ahead.peek();
            let start = ahead.pos();
            ahead.skip_value()?;
            if ahead.raw(key) == b"@type" {
                return Ok(plain(&ahead, start).rsplit('/').next().map(str::to_owned));
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

    /// Looks at the value at the scanner, and moves to the member around the place. Returns `None`
    /// if no member is around it.
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
                self.place.part = Part::Scalar;
                self.place.span = span;
                self.place.text = plain(&end, start);
                Ok(None)
            }
        }
    }

    fn object(&mut self, mut shape: Shape) -> Result<Option<Shape>, Syntax> {
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
            // The members before the fault are known.
            more = is_read && self.scan.more(b'}').unwrap_or(false);
        }
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
            let (field, next) = member(shape, &name);
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

/// Returns the field at the end of a path in the client's notation. The path starts at a message of
/// the type `type_name`.
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
        let field = MessageType(owner).field(name)?;
        last = Some(field);
        let kind = field.field.value_kind();
        shape = of_kind(kind);
        // A message that is a scalar in JSON still has fields in the client's notation.
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
