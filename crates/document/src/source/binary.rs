//! Rewrites wire format as JSON text: the messages around the resources as objects, each resource
//! as its bytes.
//!
//! A resource is neither decoded nor copied here. It becomes `{"@type": ..., "@value":
//! "@START-END"}`, which says where its bytes are in the document ([`place`]). So the client's
//! parser sees exactly the bytes that were sent, including invalid ones. Nothing in wire format
//! says which message it is, so the types that a control plane or a client sends are tried.

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use xdsctl_proto::tables::{self, Cardinality, Kind, Message, WellKnown};

use super::Span;
use super::view::{FaultKind, MAX_VIEWED_BYTES, View};
use super::wire::{WireFields, WireValue};

/// The types that a file may have, the most likely first.
const CANDIDATES: &[&str] = &[
    "google.protobuf.Any",
    "envoy.service.discovery.v3.DiscoveryResponse",
    "envoy.service.status.v3.ClientStatusResponse",
    "envoy.admin.v3.ConfigDump",
    "envoy.service.discovery.v3.DeltaDiscoveryResponse",
    "envoy.service.discovery.v3.Resource",
    "envoy.service.status.v3.ClientConfig",
    "envoy.config.bootstrap.v3.Bootstrap",
    "envoy.config.cluster.v3.Cluster",
    "envoy.config.endpoint.v3.ClusterLoadAssignment",
    "envoy.config.route.v3.RouteConfiguration",
    "envoy.config.listener.v3.Listener",
];

/// Messages that are kept as bytes.
const RESOURCES: &[&str] = &[
    "envoy.config.listener.v3.Listener",
    "envoy.config.route.v3.RouteConfiguration",
    "envoy.config.cluster.v3.Cluster",
    "envoy.config.endpoint.v3.ClusterLoadAssignment",
    "envoy.extensions.transport_sockets.tls.v3.Secret",
];

/// Packages whose messages are around resources. They are decoded even if they come in an Any.
const ENVELOPES: &[&str] = &["envoy.admin.v3.", "envoy.service.", "envoy.config.bootstrap.v3."];

/// The number of nested messages that are decoded. The messages around resources have fewer than
/// ten levels.
const MAX_DEPTH: usize = 32;

/// The number of levels of fields that are compared with a type.
const FIT_DEPTH: usize = 3;

/// The number of fields of one message that are compared with a type.
const FIT_BREADTH: usize = 64;

/// Rewrites wire bytes as JSON. They are a message of the type that fits best, or one bare resource
/// if `message` is given and the bytes do not prove another type.
///
/// ```
/// use xdsctl_document::source::binary;
/// let view = binary::view(b"\x12\x07\x0a\x05t/a.B", None);
/// assert_eq!(view.json, b"{\"resources\":[{\"@type\":\"t/a.B\",\"@value\":\"@9-9\"}]}\n");
/// ```
pub fn view(bytes: &[u8], message: Option<&'static Message>) -> View {
    let mut view = View::default();
    let whole = Span::new(0, bytes.len());
    if bytes.len() > MAX_VIEWED_BYTES {
        let message = format!("a binary document has more than {MAX_VIEWED_BYTES} bytes");
        view.fault(FaultKind::Limit, Span::default(), message);
        return view;
    }
    let mut writer = BinaryWriter {
        view,
        bytes,
        broken: false,
    };
    match envelope(bytes).or(message).or_else(|| find(bytes)) {
        Some(message) if message.well_known == WellKnown::Any => writer.any(message, whole, 0),
        Some(message) => writer.message(message, whole, 0),
        None => writer.view.json.extend_from_slice(b"{\"bytes\":null}"),
    }
    if writer.view.tokens.is_empty() {
        writer.view.token_from(whole);
    }
    // A document that is cut off may have no known shape. The fault already says why.
    let broken = writer.broken;
    writer.view.end_part(0, broken);
    writer.view
}

/// Returns where the bytes of a message are that a view has as `@START-END`, which is not base64.
/// Returns `None` for any other text.
pub fn place(text: &[u8]) -> Option<Range<usize>> {
    let (start, end) = std::str::from_utf8(text.strip_prefix(b"@")?).ok()?.split_once('-')?;
    Some(start.parse().ok()?..end.parse().ok()?)
}

/// Returns the type of a message around resources, if it is certain: every field fits it, and a
/// type URL in it names a message. A resource has no type URL in the same place.
fn envelope(bytes: &[u8]) -> Option<&'static Message> {
    find(bytes).filter(|message| {
        (message.well_known == WellKnown::Any || is_envelope(message))
            && misfits(bytes, message, FIT_DEPTH) == 0
            && names_message(bytes, message, FIT_DEPTH)
    })
}

/// Says whether a string in the message is the type URL of a known message.
fn names_message(bytes: &[u8], message: &'static Message, depth: usize) -> bool {
    WireFields::new(bytes).take(FIT_BREADTH).flatten().any(|item| {
        let (Some(field), WireValue::Bytes(inner)) = (message.field(item.number), item.value) else {
            return false;
        };
        match field.kind {
            Kind::String => is_type_url(inner) && tables::message(last_segment(inner)).is_some(),
            Kind::Message(_) if depth > 0 => field.kind.message().is_some_and(|m| names_message(inner, m, depth - 1)),
            _ => false,
        }
    })
}

/// Returns the text after the last slash, or nothing if it is not UTF-8.
fn last_segment(url: &[u8]) -> &str {
    let start = memchr::memrchr(b'/', url).map_or(0, |slash| slash + 1);
    std::str::from_utf8(url.get(start..).unwrap_or_default()).unwrap_or_default()
}

/// Returns the type that fits the bytes best, if one fits well enough.
fn find(bytes: &[u8]) -> Option<&'static Message> {
    let total = WireFields::new(bytes).take(FIT_BREADTH).count();
    CANDIDATES
        .iter()
        .filter_map(|name| tables::message(name))
        .map(|message| (misfits(bytes, message, FIT_DEPTH), message))
        // If several fit equally well, the first one counts.
        .min_by_key(|(misfits, _)| *misfits)
        .filter(|(misfits, _)| *misfits < total.max(1))
        .map(|(_, message)| message)
}

/// Returns how many fields do not fit this type. A cut end does not count.
fn misfits(bytes: &[u8], message: &'static Message, depth: usize) -> usize {
    let mut count = 0;
    let mut has_type = false;
    for item in WireFields::new(bytes).take(FIT_BREADTH).flatten() {
        let Some(field) = message.field(item.number) else {
            count += 1;
            continue;
        };
        count += match (field.kind, item.value) {
            (Kind::Message(_), WireValue::Bytes(inner)) => match field.kind.message() {
                Some(message) if depth > 0 => {
                    let broken = WireFields::new(inner).any(|item| item.is_err());
                    // A misfit in the fields below counts less than one in the message itself, but
                    // bytes that are not fields count fully.
                    usize::from(broken || misfits(inner, message, depth - 1) > 0)
                }
                _ => 0,
            },
            // A string that is really a message would have control characters, from its tags and
            // lengths.
            (Kind::String, WireValue::Bytes(text)) => {
                usize::from(std::str::from_utf8(text).map_or(true, |text| text.chars().any(char::is_control)))
            }
            (Kind::Bytes, WireValue::Bytes(_)) => 0,
            (Kind::Message(_) | Kind::String | Kind::Bytes, _) => 1,
            (Kind::Fixed32 | Kind::Sfixed32 | Kind::Float, WireValue::Fixed32(_)) => 0,
            (Kind::Fixed64 | Kind::Sfixed64 | Kind::Double, WireValue::Fixed64(_)) => 0,
            (_, WireValue::Varint(_)) => 0,
            (_, WireValue::Bytes(_)) => usize::from(field.cardinality != Cardinality::Repeated),
            _ => 1,
        };
        if let WireValue::Bytes(url) = item.value {
            has_type |= item.number == 1 && is_type_url(url);
        }
    }
    count + usize::from(message.well_known == WellKnown::Any && !has_type)
}

/// Says whether a text is a URL that ends in the full name of a message.
fn is_type_url(url: &[u8]) -> bool {
    let Some(slash) = memchr::memrchr(b'/', url) else {
        return false;
    };
    let name = url.get(slash + 1..).unwrap_or_default();
    name.first().is_some_and(u8::is_ascii_alphabetic) && name.contains(&b'.')
}

/// The number of a field, and the offset of the first byte of its tag in the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct FieldPlace {
    number: u32,
    at: u32,
}

struct BinaryWriter<'b> {
    view: View,
    bytes: &'b [u8],
    /// Whether the fault has been reported.
    broken: bool,
}

impl<'b> BinaryWriter<'b> {
    fn slice(&self, span: Span) -> &'b [u8] {
        self.bytes.get(span.range()).unwrap_or_default()
    }

    fn close(&mut self, bracket: u8, span: Span) {
        self.view.bracket(bracket, Span::new(span.end, span.end));
    }

    /// Writes a message that is kept as bytes.
    fn packed(&mut self, url: &[u8], span: Span) {
        self.view.bracket(b'{', span);
        self.view.key(b"@type", span);
        self.view.string(url, span);
        self.view.key(b"@value", span);
        self.view
            .string(format!("@{}-{}", span.start, span.end).as_bytes(), span);
        self.close(b'}', span);
    }

    /// Returns the known fields of the message at `span`, sorted by number and then by place.
    /// Reports a fault for bytes that cannot be read.
    ///
    /// Only places are kept: a field may have two bytes on the wire, and its decoded value fifty
    /// times as many.
    fn items(&mut self, message: &'static Message, span: Span) -> Vec<FieldPlace> {
        let mut places = Vec::new();
        for item in WireFields::new(self.slice(span)) {
            match item {
                Ok(item) => {
                    // A document has fewer than 2^32 bytes.
                    if let (Some(_), Ok(at)) = (message.field(item.number), u32::try_from(span.start + item.start)) {
                        places.push(FieldPlace {
                            number: item.number,
                            at,
                        });
                    }
                }
                Err(at) => {
                    if !std::mem::replace(&mut self.broken, true) {
                        let at = span.start + at;
                        let name = message.full_name.rsplit('.').next().unwrap_or_default();
                        let message = if super::wire::is_cut(self.slice(span), at - span.start) {
                            format!("the {name} ends inside the field that starts here, which is not read")
                        } else {
                            format!("not a field of a {name}, the rest of it is not read")
                        };
                        self.view.fault(FaultKind::Syntax, Span::new(at, at + 1), message);
                    }
                }
            }
        }
        places.sort_unstable();
        places
    }

    /// Reads the field at a place. Returns its value and the span of the value.
    fn item(&self, place: FieldPlace) -> Option<(WireValue<'b>, Span)> {
        let start = place.at as usize;
        let item = WireFields::new(self.bytes.get(start..)?).next()?.ok()?;
        Some((item.value, Span::new(start + item.body, start + item.end)))
    }

    fn message(&mut self, message: &'static Message, span: Span, depth: usize) {
        if RESOURCES.contains(&message.full_name) || (depth == 0 && !is_envelope(message)) {
            return self.packed(format!("type.googleapis.com/{}", message.full_name).as_bytes(), span);
        }
        self.view.bracket(b'{', span);
        self.fields(message, span, depth);
        self.close(b'}', span);
    }

    fn fields(&mut self, message: &'static Message, span: Span, depth: usize) {
        if depth >= MAX_DEPTH {
            return;
        }
        let items = self.items(message, span);
        for group in items.chunk_by(|a, b| a.number == b.number) {
            let Some((field, (_, first))) = group
                .first()
                .and_then(|place| Some((message.field(place.number)?, self.item(*place)?)))
            else {
                continue;
            };
            match field.cardinality {
                Cardinality::Singular => {
                    // As in a parser, the last value counts.
                    if let Some((value, body)) = group.last().and_then(|place| self.item(*place)) {
                        self.view.key(field.name.as_bytes(), body);
                        self.value(field.kind, value, body, depth);
                    }
                }
                Cardinality::Repeated => {
                    self.view.key(field.name.as_bytes(), first);
                    self.view.bracket(b'[', first);
                    for place in group {
                        let Some((value, body)) = self.item(*place) else {
                            continue;
                        };
                        self.view.comma();
                        self.value(field.kind, value, body, depth);
                    }
                    self.close(b']', first);
                }
                // The messages around resources have nothing relevant in maps.
                Cardinality::Map { .. } => {}
            }
        }
    }

    #[expect(clippy::cast_possible_wrap, reason = "two's complement is what the wire has")]
    fn value(&mut self, kind: Kind, value: WireValue<'b>, body: Span, depth: usize) {
        match (kind, value) {
            (Kind::Message(_), WireValue::Bytes(_)) => match kind.message() {
                Some(message) => self.inner(message, body, depth + 1),
                None => self.view.json.extend_from_slice(b"null"),
            },
            (Kind::String, WireValue::Bytes(text)) => {
                let text = String::from_utf8_lossy(text);
                self.view.string(text.as_bytes(), body);
            }
            (Kind::Bytes, WireValue::Bytes(bytes)) => {
                let text = STANDARD.encode(bytes);
                self.view.string(text.as_bytes(), body);
            }
            (Kind::Bool, WireValue::Varint(value)) => self.view.raw(if value == 0 { b"false" } else { b"true" }, body),
            (Kind::Enum(_), WireValue::Varint(value)) => {
                let name = i32::try_from(value as i64)
                    .ok()
                    .and_then(|number| kind.enumeration()?.name(number));
                match name {
                    Some(name) => self.view.string(name.as_bytes(), body),
                    None => self.view.raw((value as i64).to_string().as_bytes(), body),
                }
            }
            (Kind::Uint32 | Kind::Uint64, WireValue::Varint(value)) => {
                self.view.raw(value.to_string().as_bytes(), body)
            }
            (_, WireValue::Varint(value)) => self.view.raw((value as i64).to_string().as_bytes(), body),
            _ => self.view.raw(b"null", body),
        }
    }

    /// Writes a message that is inside another.
    fn inner(&mut self, message: &'static Message, span: Span, depth: usize) {
        match message.well_known {
            WellKnown::Any => self.any(message, span, depth),
            WellKnown::None | WellKnown::Duration | WellKnown::Timestamp | WellKnown::Empty => {
                self.message(message, span, depth);
            }
            // Node metadata and similar messages.
            _ => self.view.raw(b"null", span),
        }
    }

    fn any(&mut self, message: &'static Message, span: Span, depth: usize) {
        let items = self.items(message, span);
        let last = |number| {
            let place = items.iter().rfind(|place| place.number == number);
            place.and_then(|place| self.item(*place))
        };
        let url = match last(1) {
            Some((WireValue::Bytes(url), _)) => url,
            _ => b"",
        };
        let value = last(2).map_or(Span::new(span.end, span.end), |(_, body)| body);
        let url = String::from_utf8_lossy(url);
        match tables::message(url.rsplit('/').next().unwrap_or_default()) {
            Some(message) if is_envelope(message) && depth < MAX_DEPTH => {
                self.view.bracket(b'{', value);
                self.view.key(b"@type", value);
                self.view.string(url.as_bytes(), value);
                self.fields(message, value, depth + 1);
                self.close(b'}', value);
            }
            _ if url.is_empty() && value.start == value.end => self.view.raw(b"{}", value),
            _ => self.packed(url.as_bytes(), value),
        }
    }
}

/// Says whether messages of this type are around resources.
pub(super) fn is_envelope(message: &'static Message) -> bool {
    ENVELOPES.iter().any(|package| message.full_name.starts_with(package))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
        [&[number << 3 | 2, u8::try_from(bytes.len()).unwrap()], bytes].concat()
    }

    fn any(url: &str, value: &[u8]) -> Vec<u8> {
        [field(1, url.as_bytes()), field(2, value)].concat()
    }

    fn json(bytes: &[u8]) -> String {
        let view = view(bytes, None);
        assert_eq!(view.faults, [], "{bytes:?}");
        spelled(&view, bytes)
    }

    /// Returns the text of a view, with base64 in place of the references to bytes.
    fn spelled(view: &View, bytes: &[u8]) -> String {
        let text = std::str::from_utf8(&view.json).unwrap().trim_end();
        let parts = text.split('"').map(|part| {
            let place = place(part.as_bytes());
            place.map_or_else(|| part.to_owned(), |place| STANDARD.encode(&bytes[place]))
        });
        parts.collect::<Vec<_>>().join("\"")
    }

    const CLUSTER: &str = "t/envoy.config.cluster.v3.Cluster";

    #[test]
    fn envelopes_are_taken_apart_and_resources_are_not() {
        let cluster = any(CLUSTER, b"\x0a\x01a");
        let held = format!(r#"{{"@type":"{CLUSTER}","@value":"CgFh"}}"#);
        let response = [field(1, b"7"), field(2, &cluster), field(2, &cluster)].concat();
        assert_eq!(
            json(&response),
            format!(r#"{{"version_info":"7","resources":[{held},{held}]}}"#)
        );
        assert_eq!(json(&cluster), held);
        let resource = [field(3, b"n"), field(2, &cluster)].concat();
        let wrapped = any("t/envoy.service.discovery.v3.Resource", &resource);
        assert_eq!(
            json(&field(2, &wrapped)),
            format!(
                r#"{{"resources":[{{"@type":"t/envoy.service.discovery.v3.Resource","resource":{held},"name":"n"}}]}}"#
            )
        );
        let generic = [field(1, CLUSTER.as_bytes()), field(4, &cluster), b"\x38\x02".to_vec()].concat();
        let status = field(1, &field(3, &generic));
        assert!(json(&status).contains(&held), "{}", json(&status));
        let entry = field(2, &cluster);
        let section = any("t/envoy.admin.v3.ClustersConfigDump", &field(3, &entry));
        assert!(json(&field(1, &section)).contains(&format!(r#""dynamic_active_clusters":[{{"cluster":{held}"#)));
        assert_eq!(json(b"\x0a\x01a\x10\x03\x22\x02\x08\x05"), {
            r#"{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","@value":"CgFhEAMiAggF"}"#
        });
    }

    #[test]
    fn a_given_type_is_for_bare_resources_only() {
        let cluster = any(CLUSTER, b"\x0a\x01a");
        let response = [field(1, b"7"), field(2, &cluster)].concat();
        let held = format!(r#"{{"@type":"{CLUSTER}","@value":"CgFh"}}"#);
        let listener = tables::message("envoy.config.listener.v3.Listener");
        let json = |bytes: &[u8]| spelled(&view(bytes, listener), bytes);
        assert_eq!(json(&cluster).trim_end(), held);
        assert!(json(&response).contains(&held), "{}", json(&response));
        for bare in [
            &b"\x0a\x01a"[..],
            b"\x0a\x03t/a",
            b"\x0a\x01a\x12\x07\x0a\x05\x12\x03t/a",
            b"\x12\x00",
        ] {
            assert!(json(bare).contains(".Listener\",\"@value\""), "{}", json(bare));
        }
    }

    #[test]
    fn a_resource_is_at_its_bytes() {
        let response = [field(1, b"7"), field(2, &any(CLUSTER, b"\x0a\x01a"))].concat();
        let view = view(&response, None);
        let json = std::str::from_utf8(&view.json).unwrap();
        let start = json.find("{\"@type\"").unwrap();
        let place = view.to_document(Span::new(start, json.rfind(']').unwrap()));
        assert_eq!(&response[place.range()], b"\x0a\x01a");
    }

    #[test]
    fn every_prefix_yields_the_resources_that_it_holds() {
        let cluster = any(CLUSTER, b"\x0a\x01a");
        let response = [field(1, b"7"), field(2, &cluster), field(2, &cluster)].concat();
        for end in 1..response.len() {
            let view = view(&response[..end], None);
            let held = String::from_utf8_lossy(&view.json).matches(r#""@value":"@"#).count();
            let whole = end.saturating_sub(3) / (cluster.len() + 2);
            assert!(held >= whole, "{end}: {}", String::from_utf8_lossy(&view.json));
        }
    }
}
