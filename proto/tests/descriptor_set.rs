//! The descriptor set, the tables and the generated types agree.

use bytes::Bytes;
use prost::Message as _;
use prost_reflect::{DescriptorPool, MessageDescriptor};
use xdsctl_proto::envoy::config::cluster::v3::Cluster;
use xdsctl_proto::envoy::config::core::v3::{TransportSocket, transport_socket::ConfigType};
use xdsctl_proto::envoy::config::route::v3::{RouteAction, route_action};
use xdsctl_proto::tables::{self, Cardinality, ENUMS, Field, Kind, Listed, MESSAGES, WellKnown};
use xdsctl_proto::{Any, DESCRIPTOR_SET};

fn pool() -> DescriptorPool {
    DescriptorPool::decode(DESCRIPTOR_SET).expect("the checked-in set is complete")
}

#[test]
fn every_named_message_is_there() {
    let missing: Vec<&str> = include_str!("named.txt")
        .lines()
        .filter(|line| !line.starts_with('#') && tables::message(line).is_none())
        .collect();
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn every_read_message_is_known_to_the_client() {
    for message in MESSAGES.iter().filter(|message| message.listed == Listed::Client) {
        let used = message.fields.iter().any(|field| field.read);
        assert!(message.known_to_client || !used, "{}", message.full_name);
    }
}

#[test]
fn tables_agree_with_a_second_reader() {
    let pool = pool();
    assert_eq!(pool.all_messages().count(), MESSAGES.len());
    assert_eq!(pool.all_enums().count(), ENUMS.len());
    for descriptor in pool.all_messages() {
        let message = tables::message(descriptor.full_name()).expect("same set");
        assert_eq!(message.map_entry, descriptor.is_map_entry());
        assert_eq!(
            message.fields.len(),
            descriptor.fields().count(),
            "{}",
            message.full_name
        );
        for (position, field) in message.fields.iter().enumerate() {
            agree(&descriptor, field);
            for name in [field.name, field.json_name] {
                assert_eq!(
                    message.position(name).map(usize::from),
                    Some(position),
                    "{}.{name}",
                    message.full_name
                );
            }
            assert!(std::ptr::eq(message.field(field.number).expect("own number"), field));
        }
        assert!(message.field(0).is_none() && message.field_by_name("no such field").is_none());
    }
    for descriptor in pool.all_enums() {
        let item = tables::enumeration(descriptor.full_name()).expect("same set");
        for value in descriptor.values() {
            assert_eq!(item.number(value.name()), Some(value.number()));
        }
    }
}

fn agree(descriptor: &MessageDescriptor, field: &Field) {
    let other = descriptor.get_field(field.number).expect("same set");
    let at = other.full_name();
    assert_eq!((other.name(), other.json_name()), (field.name, field.json_name), "{at}");
    assert_eq!(kind(&other.kind()), format!("{:?}", Named(field.kind)), "{at}");
    assert_eq!(
        other.is_map(),
        matches!(field.cardinality, Cardinality::Map { .. }),
        "{at}"
    );
    assert_eq!(other.is_list(), field.cardinality == Cardinality::Repeated, "{at}");
    if !other.is_list() && !other.is_map() {
        assert_eq!(other.supports_presence(), field.explicit_presence, "{at}");
    }
    let oneof = other.containing_oneof().filter(|oneof| !oneof.is_synthetic());
    let message = tables::message(descriptor.full_name()).expect("same set");
    let ours = field.oneof.and_then(|oneof| message.oneofs.get(usize::from(oneof)));
    assert_eq!(oneof.as_ref().map(|oneof| oneof.name()), ours.copied(), "{at}");
}

fn kind(kind: &prost_reflect::Kind) -> String {
    match kind {
        prost_reflect::Kind::Message(message) => format!("message {}", message.full_name()),
        prost_reflect::Kind::Enum(item) => format!("enum {}", item.full_name()),
        scalar => format!("{scalar:?}").to_lowercase(),
    }
}

struct Named(Kind);

impl std::fmt::Debug for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Kind::Message(_) => write!(f, "message {}", self.0.message().expect("index in range").full_name),
            Kind::Enum(_) => write!(f, "enum {}", self.0.enumeration().expect("index in range").full_name),
            scalar => f.write_str(&format!("{scalar:?}").to_lowercase()),
        }
    }
}

// `round_trip(full name, wire)`: decodes and encodes with the generated type of that name.
include!(concat!(env!("OUT_DIR"), "/round_trip.rs"));

#[test]
fn generated_types_have_the_fields_that_the_tables_promise() {
    let mut types = 0;
    for message in MESSAGES
        .iter()
        .filter(|message| !message.full_name.starts_with("google.protobuf."))
    {
        if round_trip(message.full_name, &[]).is_none() {
            assert!(
                message.map_entry || message.listed == Listed::No,
                "no type for {}",
                message.full_name
            );
            continue;
        }
        types += 1;
        for field in message.fields {
            let back = round_trip(message.full_name, &sample(field))
                .expect("asked before")
                .expect("valid wire");
            let number = prost::encoding::decode_key(&mut back.as_slice())
                .ok()
                .map(|(number, _)| number);
            assert!(field.generated || !field.read, "{}.{}", message.full_name, field.name);
            assert_eq!(
                number,
                field.generated.then_some(field.number),
                "{}.{}",
                message.full_name,
                field.name
            );
        }
    }
    assert!(types > 150, "{types}");
}

/// The wire bytes of one field that is set and not zero.
fn sample(field: &Field) -> Vec<u8> {
    use prost::encoding::{WireType, encode_key};
    let (wire_type, value): (WireType, &[u8]) = match field.kind {
        Kind::Double | Kind::Fixed64 | Kind::Sfixed64 => (WireType::SixtyFourBit, &[0, 0, 0, 0, 0, 0, 0xf0, 0x3f]),
        Kind::Float | Kind::Fixed32 | Kind::Sfixed32 => (WireType::ThirtyTwoBit, &[0, 0, 0x80, 0x3f]),
        Kind::String | Kind::Bytes => (WireType::LengthDelimited, &[1, b'a']),
        Kind::Message(_) => (WireType::LengthDelimited, &[0]),
        _ => (WireType::Varint, &[1]),
    };
    let mut wire = Vec::new();
    encode_key(field.number, wire_type, &mut wire);
    wire.extend_from_slice(value);
    wire
}

#[test]
fn oneof_siblings_survive_pruning() {
    // cluster_header (2) after cluster (1): the client sees cluster_header, so nobody may see the cluster.
    let wire: &[u8] = &[0x0a, 1, b'a', 0x12, 1, b'b'];
    let action = RouteAction::decode(wire).expect("valid wire");
    assert_eq!(
        action.cluster_specifier,
        Some(route_action::ClusterSpecifier::ClusterHeader("b".to_owned()))
    );
}

#[test]
fn any_shares_the_buffer() {
    let socket = TransportSocket {
        config_type: Some(ConfigType::TypedConfig(Any {
            type_url: "type.googleapis.com/x.Y".to_owned(),
            value: Bytes::from_static(b"payload"),
        })),
        ..Default::default()
    };
    let cluster = Cluster {
        name: "c".to_owned(),
        transport_socket: Some(socket),
        ..Default::default()
    };
    let wire = Bytes::from(cluster.encode_to_vec());
    let decoded = Cluster::decode(wire.clone()).expect("own encoding");
    assert_eq!(decoded, cluster);
    let Some(ConfigType::TypedConfig(any)) = decoded.transport_socket.and_then(|socket| socket.config_type) else {
        panic!("the typed_config is gone");
    };
    assert!(wire.as_ptr_range().contains(&any.value.as_ptr()));
}

#[test]
fn well_known_kinds() {
    let of = |name| tables::message(name).expect("well-known type").well_known;
    assert_eq!(of("google.protobuf.Any"), WellKnown::Any);
    assert_eq!(of("google.protobuf.UInt32Value"), WellKnown::Wrapper(Kind::Uint32));
    assert_eq!(of("envoy.config.cluster.v3.Cluster"), WellKnown::None);
}
