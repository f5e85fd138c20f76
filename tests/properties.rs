//! Tests of properties: generated messages mean the same in every form, and no bytes make a loader
//! fail.

#[path = "properties/spelling.rs"]
mod spelling;

use std::sync::LazyLock;

use proptest::prelude::*;
use prost_reflect::{
    Cardinality, DescriptorPool, DynamicMessage, FieldDescriptor, Kind, MapKey, MessageDescriptor, ReflectMessage,
    SerializeOptions, Value,
};
use xdsctl_clients::judge::validate;
use xdsctl_document::proto::pb::tables;
use xdsctl_document::proto::transcode::{self, TranscodeOptions};
use xdsctl_model::profile::{Profile, ServerFacts};
use xdsctl_model::resource::ResourceType;

use spelling::Speller;

static POOL: LazyLock<DescriptorPool> =
    LazyLock::new(|| DescriptorPool::decode(xdsctl_document::proto::pb::DESCRIPTOR_SET).unwrap());

/// Makes messages from a seed. When `left` is used up, the open ones are finished.
struct Maker {
    seed: u64,
    left: u32,
}

/// The types that are packed into an Any: plain ones, nested ones, and those with their own JSON
/// form.
const PACKED: &[&str] = &[
    "envoy.config.core.v3.TypedExtensionConfig",
    "envoy.extensions.load_balancing_policies.ring_hash.v3.RingHash",
    "envoy.extensions.filters.http.fault.v3.HTTPFault",
    "google.protobuf.Duration",
    "google.protobuf.Struct",
    "google.protobuf.StringValue",
    "xds.type.v3.TypedStruct",
];

impl Maker {
    fn next(&mut self) -> u32 {
        if self.left == 0 {
            return 0;
        }
        self.left -= 1;
        // This is Knuth's MMIX generator, whose high bits are the good ones.
        self.seed = self
            .seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.seed >> 32) as u32
    }

    fn message(&mut self, descriptor: MessageDescriptor, depth: u32) -> DynamicMessage {
        let mut message = DynamicMessage::new(descriptor.clone());
        match descriptor.full_name() {
            "google.protobuf.Any" => {
                let any = self.next() as usize;
                let name = if any.is_multiple_of(3) {
                    message_type(self.next() as usize % tables::MESSAGES.len())
                } else {
                    PACKED[any % PACKED.len()]
                };
                let inner = self.message(POOL.get_message_by_name(name).unwrap(), depth + 1);
                message.set_field_by_name("type_url", Value::String(format!("type.googleapis.com/{name}")));
                let bytes = prost::Message::encode_to_vec(&inner);
                message.set_field_by_name("value", Value::Bytes(bytes.into()));
            }
            "google.protobuf.Duration" => {
                let seconds = i64::from(self.next() % 1000) - 500;
                let nanos = (self.next() % 1_000_000_000) as i32;
                message.set_field_by_name("seconds", Value::I64(seconds));
                message.set_field_by_name("nanos", Value::I32(if seconds < 0 { -nanos } else { nanos }));
            }
            "google.protobuf.Timestamp" => {
                message.set_field_by_name("seconds", Value::I64(i64::from(self.next()) * 40 - 60_000_000_000));
                message.set_field_by_name("nanos", Value::I32((self.next() % 1_000_000_000) as i32));
            }
            "google.protobuf.Value" => {
                let fields: Vec<_> = descriptor.fields().collect();
                let field = &fields[self.next() as usize % if depth > 6 { 4 } else { fields.len() }];
                let value = match field.kind() {
                    Kind::Double => Value::F64(f64::from(self.next()) / 8.0),
                    Kind::Enum(_) => Value::EnumNumber(0),
                    kind => self.value(&kind, depth),
                };
                message.set_field(field, value);
            }
            // prost-reflect prints an infinity in a DoubleValue as `null`.
            "google.protobuf.DoubleValue" => {
                message.set_field_by_name("value", Value::F64(f64::from(self.next()) / 3.0));
            }
            "google.protobuf.FieldMask" => {
                let paths = vec![Value::String("a.b_c".into()), Value::String("d".into())];
                message.set_field_by_name("paths", Value::List(paths));
            }
            _ if depth > 8 => {}
            _ => {
                for field in descriptor.fields() {
                    if self.next() % 2 == 1 && !message.has_field(&field) {
                        self.field(&mut message, &field, depth);
                    }
                }
            }
        }
        message
    }

    fn field(&mut self, message: &mut DynamicMessage, field: &FieldDescriptor, depth: u32) {
        if field
            .containing_oneof()
            .is_some_and(|o| o.fields().any(|f| message.has_field(&f)))
        {
            return;
        }
        let value = if field.is_map() {
            let Kind::Message(entry) = field.kind() else { return };
            let count = self.next() % 3;
            let entries = (0..count).map(|i| {
                let value = self.value(&entry.map_entry_value_field().kind(), depth + 1);
                let key = match entry.map_entry_key_field().kind() {
                    Kind::String => MapKey::String(format!("key \"{i}\"")),
                    Kind::Bool => MapKey::Bool(i == 0),
                    Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => MapKey::I32(i as i32 - 1),
                    Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => MapKey::I64(i64::from(i) - 1),
                    Kind::Uint32 | Kind::Fixed32 => MapKey::U32(i),
                    _ => MapKey::U64(i.into()),
                };
                (key, value)
            });
            Value::Map(entries.collect())
        } else if field.cardinality() == Cardinality::Repeated {
            let count = self.next() % 4;
            let mut list: Vec<_> = (0..count).map(|_| self.value(&field.kind(), depth + 1)).collect();
            // Often there are several of one kind, and one that is nearly the same.
            if self.next().is_multiple_of(2)
                && let Some(Value::Message(first)) = list.first().cloned()
                && prost::Message::encoded_len(&first) < 1000
            {
                let mut other = first.clone();
                let fields: Vec<_> = first.fields().map(|(field, _)| field).collect();
                if let Some(field) = fields.get(self.next() as usize % fields.len().max(1))
                    && !first.descriptor().full_name().starts_with("google.protobuf.")
                {
                    other.clear_field(field);
                }
                list.extend([first.clone(), other, first].map(Value::Message));
            }
            Value::List(list)
        } else {
            self.value(&field.kind(), depth + 1)
        };
        message.set_field(field, value);
    }

    fn value(&mut self, kind: &Kind, depth: u32) -> Value {
        let n = self.next();
        let wide = u64::from(n) << 32 | u64::from(self.next());
        match kind {
            Kind::Double => Value::F64(if n.is_multiple_of(7) {
                f64::INFINITY
            } else {
                f64::from(n) / 3.0
            }),
            Kind::Float => Value::F32(n as f32 / 3.0),
            Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => Value::I32(n.cast_signed()),
            Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => Value::I64(wide.cast_signed()),
            Kind::Uint32 | Kind::Fixed32 => Value::U32(n),
            Kind::Uint64 | Kind::Fixed64 => Value::U64(wide),
            Kind::Bool => Value::Bool(n.is_multiple_of(2)),
            Kind::String => Value::String(["", "plain", "\"quoted\\\n\u{1}", "é€\u{1f600}"][n as usize % 4].into()),
            Kind::Bytes => Value::Bytes(wide.to_le_bytes()[..n as usize % 8].to_vec().into()),
            Kind::Enum(e) => Value::EnumNumber(e.values().nth(n as usize % e.values().len()).unwrap().number()),
            Kind::Message(m) => Value::Message(self.message(m.clone(), depth)),
        }
    }
}

fn print(message: &DynamicMessage, snake: bool) -> Vec<u8> {
    let mut out = Vec::new();
    let options = SerializeOptions::new()
        .use_proto_field_name(snake)
        .stringify_64_bit_integers(snake);
    message
        .serialize_with_options(&mut serde_json::Serializer::new(&mut out), &options)
        .unwrap();
    out
}

/// Returns the message without differences that mean nothing: lengths of padded Anys, and the order
/// of map entries.
fn normal(message: &DynamicMessage) -> serde_json::Value {
    serde_json::from_slice(&print(message, true)).unwrap()
}

const RESOURCES: [&str; 5] = [
    "envoy.config.listener.v3.Listener",
    "envoy.config.route.v3.RouteConfiguration",
    "envoy.config.cluster.v3.Cluster",
    "envoy.config.endpoint.v3.ClusterLoadAssignment",
    "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
];

/// Returns the number of cases with which a property is tested; PROPTEST_CASES overrides it.
fn cases() -> u32 {
    let given = std::env::var("PROPTEST_CASES").ok();
    given.and_then(|given| given.parse().ok()).unwrap_or(1000)
}

/// Returns a resource type, or any message type that can be in a resource.
fn message_type(which: usize) -> &'static str {
    let named = RESOURCES.get(which).copied();
    named.unwrap_or_else(|| {
        let from = which % tables::MESSAGES.len();
        let mut types = tables::MESSAGES[from..].iter().chain(tables::MESSAGES);
        types.find(|t| !t.map_entry).unwrap().full_name
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases()) })]

    #[test]
    fn every_spelling_of_a_message_is_read_alike(
        which in prop_oneof![0..RESOURCES.len(), any::<u16>().prop_map(usize::from)],
        seed in any::<u64>(),
        left in 0..5_000u32,
        spelling in any::<u64>(),
    ) {
        let name = message_type(which);
        let descriptor = POOL.get_message_by_name(name).unwrap();
        let message = Maker { seed, left }.message(descriptor.clone(), 0);
        let text = Speller::spell(spelling, &message);
        let read = transcode::json(text.as_bytes(), tables::message(name).unwrap(), TranscodeOptions::default());
        prop_assert_eq!(read.stop, None, "{} {}", name, text);
        let notes: Vec<_> = read.notes.iter().map(|note| &note.diagnostic.message).collect();
        prop_assert!(notes.is_empty(), "{:?} {} {}", notes, name, text);
        let ours = DynamicMessage::decode(descriptor.clone(), read.bytes.as_slice()).unwrap();
        prop_assert_eq!(normal(&ours), normal(&message), "{} {}", name, text);
        let mut deserializer = serde_json::Deserializer::from_str(&text);
        let theirs = DynamicMessage::deserialize(descriptor, &mut deserializer);
        let theirs = theirs.map_err(|e| TestCaseError::fail(format!("{e}: {name} {text}")))?;
        prop_assert_eq!(normal(&ours), normal(&theirs), "{} {}", name, text);
    }

    #[test]
    fn transcoding_agrees_with_prost_reflect(
        which in 0..RESOURCES.len(),
        seed in any::<u64>(),
        left in 0..20_000u32,
        snake in any::<bool>(),
    ) {
        let descriptor = POOL.get_message_by_name(RESOURCES[which]).unwrap();
        let message = Maker { seed, left }.message(descriptor.clone(), 0);
        let text = print(&message, snake);
        let read = transcode::json(&text, tables::message(RESOURCES[which]).unwrap(), TranscodeOptions::default());
        let shown = String::from_utf8_lossy(&text);
        prop_assert_eq!(read.stop, None, "{}", shown);
        prop_assert!(read.notes.is_empty(), "{:?} {}", read.notes, shown);
        let ours = DynamicMessage::decode(descriptor.clone(), read.bytes.as_slice()).unwrap();
        let mut deserializer = serde_json::Deserializer::from_slice(&text);
        let theirs = DynamicMessage::deserialize(descriptor, &mut deserializer).unwrap();
        prop_assert_eq!(normal(&ours), normal(&theirs), "{}", shown);
    }

    #[test]
    fn an_endpoint_is_the_same_whichever_way_it_is_read(
        endpoints in prop::collection::vec((
            prop::sample::select(vec!["10.0.0.1", "10.0.0.2", "::1", "::ffff:10.0.0.1", "fe80::1%1", "10.0.0.01", "host", ""]),
            prop::sample::select(vec![0, 1, 80, 81, 65_535, 65_536]),
            prop::sample::select(vec!["UNKNOWN", "HEALTHY", "UNHEALTHY", "DRAINING", "DEGRADED", "TIMEOUT"]),
            prop::sample::select(vec!["null", "0", "1", "7", "4294967295"]),
        ), 0..6),
    ) {
        // If the client reads metadata for load balancing, the rest of the endpoint is read, too.
        let read = |more: &str| {
            let endpoints: Vec<_> = endpoints.iter().map(|(host, port, health, weight)| format!(
                r#"{{"endpoint":{{"address":{{"socket_address":{{"address":"{host}","port_value":{port}}}}}}},
                "health_status":"{health}","load_balancing_weight":{weight}{more}}}"#
            )).collect();
            let text = format!(
                r#"{{"cluster_name":"a","endpoints":[{{"load_balancing_weight":1,"lb_endpoints":[{}]}}]}}"#,
                endpoints.join(",")
            );
            let message = tables::message(ResourceType::Endpoints.type_name()).unwrap();
            let read = transcode::json(text.as_bytes(), message, TranscodeOptions::default());
            validate(ResourceType::Endpoints, &read.bytes.into(), &Profile::default(), &ServerFacts::default())
        };
        let (plain, other) = (read(""), read(r#","metadata":{"filter_metadata":{"envoy.lb":{}}}"#));
        prop_assert_eq!(plain.value, other.value);
        prop_assert_eq!(plain.diagnostics, other.diagnostics);
    }

    #[test]
    fn any_bytes_in_a_dump_end_well(
        mut text in Just(DUMP.as_bytes().to_vec()),
        changes in prop::collection::vec((0..DUMP.len(), prop::sample::select(b"{}[]\",:\\0-.eE tn\0\xff@x".to_vec())), 1..6),
    ) {
        for (at, byte) in changes {
            text[at] = byte;
        }
        let mut sources = xdsctl_document::source::SourceMap::new();
        let id = sources.add("x", text);
        let source = sources.get(id).unwrap();
        let loaded = xdsctl_document::load::run(
            Some(1),
            |loader, emit| loader.json(id, source.bytes(), Default::default(), emit),
            |resource| {
                for note in &resource.notes {
                    prop_assert!(note.span.end <= source.bytes().len());
                    // The place of a note is found again by its path, or is around it.
                    let found = xdsctl_document::source::span::locate(source.bytes(), resource.origin.span, &note.diagnostic.path);
                    prop_assert!(resource.origin.span.start <= found.start && found.end <= resource.origin.span.end);
                }
                Ok(())
            },
        );
        for result in loaded.results {
            result?;
        }
    }
}

const DUMP: &str = r#"{"configs": [{"@type": "type.googleapis.com/envoy.admin.v3.ClustersConfigDump", "version_info": "1",
 "dynamic_active_clusters": [{"cluster": {"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "a\u00e9",
 "connectTimeout": "1.5s", "type": "EDS", "metadata": {"filter_metadata": {"x": {"y": [1, null, {"z": true}]}}},
 "load_balancing_policy": {"policies": [{"typed_extension_config": {"typed_config": {"minimum_ring_size": "7",
 "@type": "type.googleapis.com/envoy.extensions.load_balancing_policies.ring_hash.v3.RingHash"}}}]}},
 "client_status": "NACKED", "error_state": {"details": "no"}}]}, {"@type": "type.googleapis.com/acme.Other"}]}"#;
