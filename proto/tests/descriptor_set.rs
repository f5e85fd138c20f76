//! The descriptor set, the tables and the generated types agree.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use prost::Message as _;
use prost_reflect::{DescriptorPool, MessageDescriptor};
use xdsctl_proto::envoy::config::cluster::v3::Cluster;
use xdsctl_proto::envoy::config::core::v3::TransportSocket;
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
        // udpa's TypedStruct is parsed as the one of xds.
        if message.full_name != "udpa.type.v1.TypedStruct" {
            assert!(message.known_to_client || !used, "{}", message.full_name);
        }
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
    assert_eq!(other.is_packed(), field.packed, "{at}");
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

/// The pruned types by name, from the generated text: full message name to the numbers of its fields.
fn generated_numbers() -> BTreeMap<String, BTreeSet<u32>> {
    let mut numbers: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    let directory = std::path::Path::new(env!("XDSCTL_PROTO_OUT"));
    for entry in std::fs::read_dir(directory).expect("build output").flatten() {
        let path = entry.path();
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        let mut pending = BTreeSet::new();
        for line in text.lines().map(str::trim) {
            if line.contains("pub struct ") {
                pending.clear();
            }
            if let Some(list) = line.strip_prefix("#[prost(") {
                let tags = list
                    .rsplit_once("tags = \"")
                    .or_else(|| list.rsplit_once("tag = \""))
                    .map(|(_, tags)| tags);
                let tags = tags.and_then(|tags| tags.split('"').next()).unwrap_or_default();
                pending.extend(tags.split(", ").filter_map(|tag| tag.parse::<u32>().ok()));
            }
            let name = line
                .strip_prefix("fn full_name()")
                .and_then(|rest| rest.split('"').nth(1));
            if let Some(name) = name {
                numbers.entry(name.to_owned()).or_default();
            }
        }
    }
    numbers
}

#[test]
fn generated_types_cover_what_is_read() {
    let generated = generated_numbers();
    for message in MESSAGES.iter().filter(|message| message.listed != Listed::No) {
        let known = message.full_name.starts_with("google.protobuf.") || generated.contains_key(message.full_name);
        assert!(known, "{} is listed in reads.txt and has no type", message.full_name);
        for field in message.fields {
            assert!(field.generated || !field.read, "{}.{}", message.full_name, field.name);
        }
    }
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
        config_type: Some(
            xdsctl_proto::envoy::config::core::v3::transport_socket::ConfigType::TypedConfig(Any {
                type_url: "type.googleapis.com/x.Y".to_owned(),
                value: Bytes::from_static(b"payload"),
            }),
        ),
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
    let Some(xdsctl_proto::envoy::config::core::v3::transport_socket::ConfigType::TypedConfig(any)) =
        decoded.transport_socket.and_then(|socket| socket.config_type)
    else {
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
