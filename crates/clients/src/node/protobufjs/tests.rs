//! What protobuf.js reads of bytes that no serializer writes. Each case was tried with protobuf.js
//! 7.6.6.

use bytes::Bytes;
use prost::Message as _;

use super::{Thrown, read};
use xdsctl_document::proto::pb::envoy::config::cluster::v3::Cluster;
use xdsctl_document::proto::pb::envoy::config::core::v3::config_source::ConfigSourceSpecifier;
use xdsctl_document::proto::pb::tables;

const CLUSTER: &str = "envoy.config.cluster.v3.Cluster";

/// Returns the cluster that the client reads.
fn cluster(bytes: &[u8]) -> Result<Cluster, Thrown> {
    let bytes = Bytes::copy_from_slice(bytes);
    let read = read(&bytes, tables::message(CLUSTER).unwrap())?;
    Ok(Cluster::decode(read.unwrap_or(bytes)).unwrap())
}

fn name(bytes: &[u8]) -> Result<String, Thrown> {
    cluster(bytes).map(|cluster| cluster.name)
}

#[test]
fn what_a_serializer_writes_is_not_written_anew() {
    let cluster = Cluster {
        name: "c".to_owned(),
        lb_policy: -1,
        ..Cluster::default()
    };
    let bytes = cluster.encode_to_vec().into();
    assert_eq!(read(&bytes, tables::message(CLUSTER).unwrap()), Ok(None));
}

#[test]
fn a_field_is_read_as_it_is_declared() {
    // The name (1) as a varint: the value is taken for a length.
    assert_eq!(name(b"\x08\x01c"), Ok("c".to_owned()));
    // lb_policy (6) with a length is a varint.
    assert_eq!(cluster(b"\x32\x02").map(|cluster| cluster.lb_policy), Ok(2));
}

#[test]
fn a_string_ends_where_the_bytes_end() {
    assert_eq!(name(b"\x0a\x05ab"), Ok("ab".to_owned()));
    assert_eq!(name(b"\x0a"), Err(Thrown::OutOfRange));
}

#[test]
fn bad_utf8_is_replaced() {
    assert_eq!(name(b"\x0a\x02a\xff"), Ok("a\u{fffd}".to_owned()));
}

#[test]
fn a_second_part_of_a_message_replaces_the_first() {
    // lrs_server (42): ads (3), then nothing.
    let both = cluster(b"\xd2\x02\x02\x1a\x00\xd2\x02\x00").unwrap();
    assert_eq!(both.lrs_server.unwrap().config_source_specifier, None);
}

#[test]
fn of_ads_and_self_in_either_order_both_are_there() {
    // lrs_server (42): self (5) and then ads (3).
    let both = cluster(b"\xd2\x02\x04\x2a\x00\x1a\x00").unwrap();
    let source = both.lrs_server.unwrap().config_source_specifier;
    assert!(matches!(source, Some(ConfigSourceSpecifier::Self_(_))));
}

#[test]
fn a_number_of_six_bytes_takes_ten() {
    // lb_policy (6) in six bytes, then a name, of which four bytes are skipped with the number.
    let bytes = b"\x30\x82\x80\x80\x80\x80\x00\x0a\x02\x0a\x01\x0a\x01n";
    assert_eq!(
        cluster(bytes).map(|cluster| (cluster.lb_policy, cluster.name)),
        Ok((2, "n".to_owned()))
    );
}

#[test]
fn an_entry_of_a_map_needs_a_value() {
    // typed_extension_protocol_options (36): an entry with a key alone.
    assert_eq!(name(b"\xa2\x02\x03\x0a\x01k"), Err(Thrown::MapValue));
    // A second entry of the key has one.
    assert_eq!(
        name(b"\xa2\x02\x03\x0a\x01k\xa2\x02\x05\x0a\x01k\x12\x00"),
        Ok(String::new())
    );
}

#[test]
fn unknown_fields_are_skipped_by_their_wire_type() {
    // Field 1000: a group with a varint in it, and one that is not closed.
    assert_eq!(name(b"\xc3\x3e\x08\x01\xc4\x3e\x0a\x01n"), Ok("n".to_owned()));
    assert_eq!(name(b"\xc3\x3e\x08\x01"), Err(Thrown::OutOfRange));
    assert_eq!(name(b"\xc7\x3e"), Err(Thrown::WireType));
}
