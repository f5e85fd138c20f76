//! Checks that the transcoder and prost-reflect accept the same JSON texts and make the same
//! message from them.
//!
//! The input is an Any, so that every message type of the descriptor set can occur. It is JSON if
//! it starts with `{`, otherwise wire bytes, which prost-reflect first prints as JSON. The
//! transcoder must also make the same message from the text with other white space.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use prost_reflect::{DescriptorPool, DynamicMessage, MessageDescriptor, SerializeOptions};
use xdsctl_document::proto::pb;
use xdsctl_document::proto::transcode::{Note, TranscodeOptions, Transcoded, json};
use xdsctl_document::source::json::Scanner;

const NAME: &str = "google.protobuf.Any";

/// The rules that report a name that is given twice.
const DUPLICATE: [&str; 2] = ["dump-duplicate-key", "dump-second-type"];

/// The rules that report an unknown type.
const UNKNOWN_TYPE: [&str; 2] = ["dump-unknown-any-type", "dump-misspelt-type"];

static ANY: LazyLock<MessageDescriptor> = LazyLock::new(|| {
    let pool = DescriptorPool::decode(pb::DESCRIPTOR_SET).expect("the descriptor set is whole");
    pool.get_message_by_name(NAME).expect("the descriptor set has it")
});

/// Texts that prost-reflect rejects and xdsctl accepts: a part of the error, and a part of the text
/// if the error alone says too little.
const WIDER: &[(&str, &str)] = &[
    // Rejecting these is the client's task.
    ("duration out of range", ""),
    ("missing at least one '/'", ""),
    // For every other reader, `{}` is an Any without a field.
    ("expected '@type' field", ""),
    // Go and C++ print the largest float in its shortest form, which as a double is larger than
    // that float.
    ("float value out of range", "402823"),
    // Python's json_format accepts every number without a fraction for an enum.
    ("Expected a string or integer", ""),
];

/// The depth of nested brackets that the reader below prost-reflect rejects (serde_json's limit of
/// recursion).
const READER_DEPTH: usize = 128;

/// Compares what both readers make of an Any.
pub fn transcode_differential(data: &[u8]) {
    if data.first() == Some(&b'{') {
        compare(data);
        return;
    }
    let Ok(message) = DynamicMessage::decode(ANY.clone(), data) else {
        return;
    };
    let Some(text) = print(&message, data.len().is_multiple_of(2)) else {
        return;
    };
    compare(&text);
}

fn print(message: &DynamicMessage, snake: bool) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let options = SerializeOptions::new()
        .use_proto_field_name(snake)
        .stringify_64_bit_integers(snake);
    message
        .serialize_with_options(&mut serde_json::Serializer::new(&mut out), &options)
        .ok()?;
    Some(out)
}

fn compare(text: &[u8]) {
    let ours = json(
        text,
        pb::tables::message(NAME).expect("the tables have it"),
        TranscodeOptions::default(),
    );
    let mut reader = serde_json::Deserializer::from_slice(text);
    let theirs =
        DynamicMessage::deserialize(ANY.clone(), &mut reader).and_then(|message| reader.end().map(|()| message));
    let shown = || String::from_utf8_lossy(text).into_owned();
    compare_spread(text, &ours);
    let is_ours_clean = ours.stop.is_none() && ours.notes.is_empty();
    match theirs {
        Ok(theirs) if is_ours_clean => {
            let ours = DynamicMessage::decode(ANY.clone(), ours.bytes.as_slice()).expect("the bytes are a message");
            // Compares them as JSON, which opens every Any: xdsctl pads the lengths inside, so its
            // bytes differ.
            let printed = |message| serde_json::to_value(message).map_err(|error: serde_json::Error| error.to_string());
            assert_eq!(printed(&ours), printed(&theirs), "{}", shown());
        }
        Ok(_) => {
            assert_eq!(ours.stop, None, "prost-reflect reads {}", shown());
            // Of two equal keys, the last one wins in prost-reflect, and sometimes it does not even
            // look at the first. xdsctl does not look for equal keys in a value of unknown type.
            let is_duplicate = |note: &Note| DUPLICATE.contains(&note.diagnostic.rule.id);
            if ours.notes.iter().any(is_duplicate) || has_equal_keys(&mut Scanner::new(text)) == Some(true) {
                return;
            }
            for note in &ours.notes {
                let message = &note.diagnostic.message;
                // prost-reflect ignores a dot before a type's name.
                let has_dot = UNKNOWN_TYPE.contains(&note.diagnostic.rule.id) && message.contains("/.");
                // It also ignores fractions that are finer than a nanosecond.
                let is_time = message.contains("is not a duration") || message.contains("is not an RFC 3339 time");
                let is_finer = is_time && fraction(message) > 9;
                assert!(has_dot || is_finer, "prost-reflect takes it: {message}: {}", shown());
            }
        }
        Err(error) if is_ours_clean => {
            let error = error.to_string();
            let is_wider = WIDER
                .iter()
                .any(|(words, part)| error.contains(words) && shown().contains(part));
            let is_wider = is_wider || (error.starts_with("recursion limit exceeded") && depth(text) >= READER_DEPTH);
            assert!(is_wider, "prost-reflect refuses it: {error}: {}", shown());
        }
        Err(_) => {}
    }
}

/// Compares with what is read from the same text with white space added: both must be equal.
fn compare_spread(text: &[u8], ours: &Transcoded) {
    let spread = spread(text);
    let message = pb::tables::message(NAME).expect("the tables have it");
    let other = json(&spread, message, TranscodeOptions::default());
    let shown = || String::from_utf8_lossy(text).into_owned();
    assert_eq!(ours.stop.is_some(), other.stop.is_some(), "{}", shown());
    let notes = |read: &Transcoded| -> Vec<_> {
        let notes = read.notes.iter().map(|note| &note.diagnostic);
        notes.map(|note| (note.rule.id, note.path.to_string())).collect()
    };
    assert_eq!(notes(ours), notes(&other), "{}", shown());
    // A value that is not understood is kept as text, with its white space.
    let is_kept =
        |rule: &str| UNKNOWN_TYPE.contains(&rule) || ["dump-any-without-type", "dump-limit-exceeded"].contains(&rule);
    if ours.stop.is_none() && !ours.notes.iter().any(|note| is_kept(note.diagnostic.rule.id)) {
        assert_eq!(ours.bytes, other.bytes, "{}", shown());
    }
}

/// Says whether an object in the value has a key twice; `None` if the value is not JSON.
fn has_equal_keys(scan: &mut Scanner<'_>) -> Option<bool> {
    let close = match scan.peek() {
        b'{' => b'}',
        b'[' => b']',
        _ => return scan.skip_value().ok().map(|()| false),
    };
    let mut keys = BTreeSet::new();
    let mut has_twice = false;
    let mut is_more = scan.open(close).ok()?;
    while is_more {
        if close == b'}' {
            let key = scan.key().ok()?;
            has_twice |= !keys.insert(scan.raw(key));
        }
        has_twice |= has_equal_keys(scan)?;
        is_more = scan.more(close).ok()?;
    }
    Some(has_twice)
}

/// Counts the digits after the first dot.
fn fraction(text: &str) -> usize {
    let behind = text.split_once('.').map_or("", |(_, behind)| behind);
    behind.bytes().take_while(u8::is_ascii_digit).count()
}

/// Returns the deepest nesting of brackets.
fn depth(text: &[u8]) -> usize {
    let (mut in_string, mut is_escaped, mut depth, mut most) = (false, false, 0_usize, 0);
    for byte in text {
        if in_string {
            in_string = is_escaped || *byte != b'"';
            is_escaped = !is_escaped && *byte == b'\\';
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        most = most.max(depth);
    }
    most
}

/// Adds some white space after brackets and separators.
fn spread(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() * 2);
    let (mut in_string, mut is_escaped, mut seed) = (false, false, text.len());
    for &byte in text {
        out.push(byte);
        if in_string {
            in_string = is_escaped || byte != b'"';
            is_escaped = !is_escaped && byte == b'\\';
        } else if byte == b'"' {
            in_string = true;
        } else if b"{[,:".contains(&byte) {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let spaces = [" ", "", "\n", "\t ", "  ", "\r\n ", "   ", "\n\t"];
            out.extend_from_slice(spaces[seed >> 40 & 7].as_bytes());
        }
    }
    out
}
