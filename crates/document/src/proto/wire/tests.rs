//! Bytes that the client's parser accepts although prost does not, and the places of ignored
//! fields.

use super::*;
use crate::proto::any::try_decode;
use crate::proto::pb::envoy::config::cluster::v3::Cluster;
use xdsctl_model::profile::{Profile, ServerFacts};

const CLUSTER: &str = "envoy.config.cluster.v3.Cluster";

/// Returns the cluster's name, and the places of its ignored fields.
fn read(bytes: &[u8]) -> Result<(String, Vec<String>), Malformed> {
    let (profile, server) = (Profile::default(), ServerFacts::default());
    let mut cx = Validation::new(&profile, &server);
    let cluster: Cluster = try_decode(&Bytes::copy_from_slice(bytes), CLUSTER, &Path::ROOT, &mut cx)?;
    let places = cx.finish().iter().map(|d| d.path.to_string()).collect();
    Ok((cluster.name, places))
}

#[test]
fn field_number_0_is_fine_inside_an_unknown_group_only() {
    // Group 1000 with a varint of field 0 in it, then the name.
    let inside = b"\xc3\x3e\x00\x00\xc4\x3e\x0a\x01a";
    assert_eq!(read(inside), Ok(("a".to_owned(), Vec::new())));
    assert_eq!(read(b"\x00\x00\x0a\x01a"), Err(Malformed::Tag));
}

#[test]
fn both_parts_of_a_message_that_is_kept_as_bytes_count() {
    // Metadata (25) twice, each with an entry of filter_metadata.
    let bytes = b"\xca\x01\x05\x0a\x03\x0a\x01a\x0a\x01n\xca\x01\x05\x0a\x03\x0a\x01b";
    let (profile, server) = (Profile::default(), ServerFacts::default());
    let mut cx = Validation::new(&profile, &server);
    let cluster: Cluster = try_decode(&Bytes::from_static(bytes), CLUSTER, &Path::ROOT, &mut cx).unwrap();
    let metadata =
        crate::proto::kept::<crate::proto::pb::envoy::config::core::v3::Metadata>(&cluster.metadata.unwrap());
    assert_eq!(metadata.filter_metadata.keys().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(cluster.name, "n");
}

#[test]
fn elements_that_are_not_in_one_run_have_their_own_indices() {
    let thresholds = |priority: u8, unread: bool| {
        // Thresholds{priority, max_connections if unread}.
        let mut out = vec![0x08, priority];
        if unread {
            out.extend([0x12, 0x00]);
        }
        out
    };
    let mut breakers = Vec::new();
    for (i, element) in [(0, true), (1, false), (2, true)] {
        let inner = thresholds(i, element);
        breakers.extend([0x0a, inner.len() as u8]);
        breakers.extend(inner);
        // An element of per_host_thresholds (2) in between.
        breakers.extend([0x12, 0x00]);
    }
    let mut cluster = vec![0x52, breakers.len() as u8];
    cluster.extend(breakers);
    let (_, places) = read(&cluster).unwrap();
    assert_eq!(
        places,
        [
            "circuit_breakers.thresholds[0].max_connections",
            "circuit_breakers.per_host_thresholds",
            "circuit_breakers.thresholds[2].max_connections"
        ]
    );
}

#[test]
fn fields_by_turns_take_linear_time() {
    // 300,000 pairs of thresholds and per_host_thresholds would take minutes if each were counted from the start.
    let breakers: Vec<u8> = [0x0a, 0x00, 0x12, 0x00].repeat(300_000);
    let mut cluster = vec![0x52];
    prost::encoding::encode_varint(breakers.len() as u64, &mut cluster);
    cluster.extend(breakers);
    assert_eq!(
        read(&cluster).unwrap().1,
        [
            "circuit_breakers.per_host_thresholds",
            "circuit_breakers",
            "circuit_breakers"
        ]
    );
}

#[test]
fn elements_beyond_the_limit_are_left_out_and_said() {
    let cluster = |before: usize, after: usize| {
        // Empty thresholds, a per_host_thresholds, and empty thresholds again; then the name.
        let breakers = [
            [0x0a, 0x00].repeat(before),
            vec![0x12, 0x00],
            [0x0a, 0x00].repeat(after),
        ]
        .concat();
        let mut cluster = vec![0x52];
        prost::encoding::encode_varint(breakers.len() as u64, &mut cluster);
        [cluster, breakers, b"\x0a\x01n".to_vec()].concat()
    };
    for (before, after, kept, is_beyond) in [
        (MAX_ELEMENTS - 1, 1, MAX_ELEMENTS, false),
        (MAX_ELEMENTS - 1, 3, MAX_ELEMENTS, true),
        (MAX_ELEMENTS + 1, 0, MAX_ELEMENTS, true),
    ] {
        let (profile, server) = (Profile::default(), ServerFacts::default());
        let mut cx = Validation::new(&profile, &server);
        let bytes = Bytes::from(cluster(before, after));
        let cluster: Cluster = try_decode(&bytes, CLUSTER, &Path::ROOT, &mut cx).unwrap();
        assert_eq!(cluster.name, "n");
        assert_eq!(cluster.circuit_breakers.unwrap().thresholds.len(), kept);
        let found = cx.finish();
        let limits: Vec<_> = found.iter().filter(|d| d.rule.id == LIMIT_EXCEEDED.id).collect();
        assert_eq!(limits.len(), usize::from(is_beyond), "{before} and {after}");
        for limit in limits {
            assert_eq!(limit.path.to_string(), "circuit_breakers");
            assert!(limit.message.contains("more than 200000 elements"), "{}", limit.message);
        }
    }
}
