//! The transcoder and prost-reflect make the same message of every JSON text that both accept without a word.
//!
//! The first byte chooses the message type; the rest is the text, or from 128 on wire bytes that prost-reflect prints first.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use prost_reflect::{DescriptorPool, DynamicMessage};
use xdsctl::proto::pb;
use xdsctl::proto::transcode::{Options, json};

static POOL: LazyLock<DescriptorPool> =
    LazyLock::new(|| DescriptorPool::decode(pb::DESCRIPTOR_SET).expect("the descriptor set is whole"));

const TYPES: &[&str] = &[
    "envoy.config.cluster.v3.Cluster",
    "envoy.config.endpoint.v3.ClusterLoadAssignment",
    "envoy.config.route.v3.RouteConfiguration",
    "envoy.config.listener.v3.Listener",
    "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
    "envoy.service.discovery.v3.DiscoveryResponse",
];

fuzz_target!(|data: &[u8]| {
    let Some((choice, input)) = data.split_first() else { return };
    let name = TYPES[usize::from(*choice & 0x7f) % TYPES.len()];
    let descriptor = POOL.get_message_by_name(name).expect("the descriptor set has it");
    let printed;
    let text = if *choice & 0x80 == 0 {
        input
    } else {
        let Ok(message) = DynamicMessage::decode(descriptor.clone(), input) else { return };
        let Ok(text) = serde_json::to_vec(&message) else { return };
        printed = text;
        &printed
    };
    let message = pb::tables::message(name).expect("the tables have it");
    let ours = json(text, message, Options::default());
    if ours.stop.is_some() || !ours.notes.is_empty() {
        return;
    }
    let mut reader = serde_json::Deserializer::from_slice(text);
    let Ok(theirs) = DynamicMessage::deserialize(descriptor.clone(), &mut reader) else { return };
    let ours = DynamicMessage::decode(descriptor, ours.bytes.as_slice()).expect("the bytes are a message");
    // As JSON, which opens every Any: the lengths inside are padded on our side, so that its bytes differ.
    if let (Ok(ours), Ok(theirs)) = (serde_json::to_value(&ours), serde_json::to_value(&theirs)) {
        assert_eq!(ours, theirs);
    }
});
