//! The transcoder and prost-reflect take the same JSON texts, and make the same message of them.
//!
//! The input is an Any, so that every message type of the descriptor set is within reach: its JSON if it starts with `{`,
//! otherwise its wire bytes, which prost-reflect prints first. The transcoder also has to make the same of the text with other
//! white space, where nothing is laid out as it was before.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use prost_reflect::{DescriptorPool, DynamicMessage, MessageDescriptor, SerializeOptions};
use xdsctl_document::proto::pb;
use xdsctl_document::proto::transcode::{Note, TranscodeOptions, Transcoded, json};
use xdsctl_document::source::json::Scanner;

const NAME: &str = "google.protobuf.Any";

/// What is noted of a name that is given twice.
const DUPLICATE: [&str; 2] = ["dump-duplicate-key", "dump-second-type"];

/// What is noted of a type that is not known.
const UNKNOWN_TYPE: [&str; 2] = ["dump-unknown-any-type", "dump-misspelt-type"];

static ANY: LazyLock<MessageDescriptor> = LazyLock::new(|| {
    let pool = DescriptorPool::decode(pb::DESCRIPTOR_SET).expect("the descriptor set is whole");
    pool.get_message_by_name(NAME).expect("the descriptor set has it")
});

/// What prost-reflect refuses and xdsctl takes: a part of its words, and of the text if they say too little.
const WIDER: &[(&str, &str)] = &[
    // Refusing it is the client's business.
    ("duration out of range", ""),
    ("missing at least one '/'", ""),
    // `{}` is an Any without a field for every other reader.
    ("expected '@type' field", ""),
    // The shortest form of the largest float, which Go and C++ print, is larger than it as a double.
    ("float value out of range", "402823"),
    // Python's json_format takes every number without a fraction for an enum.
    ("Expected a string or integer", ""),
];

/// Brackets inside of each other that the reader below prost-reflect refuses (serde_json's limit of recursion).
const READER_DEPTH: usize = 128;

/// Compares what both make of an Any.
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
            // As JSON, which opens every Any: the lengths inside are padded on our side, so that its bytes differ.
            let printed = |message| serde_json::to_value(message).map_err(|error: serde_json::Error| error.to_string());
            assert_eq!(printed(&ours), printed(&theirs), "{}", shown());
        }
        Ok(_) => {
            assert_eq!(ours.stop, None, "prost-reflect reads {}", shown());
            // Of two equal keys the last one wins in prost-reflect, and sometimes the first is not even looked at. In a value
            // that nothing is known of, xdsctl does not look for them either.
            let is_duplicate = |note: &Note| DUPLICATE.contains(&note.diagnostic.rule.id);
            if ours.notes.iter().any(is_duplicate) || has_equal_keys(&mut Scanner::new(text)) == Some(true) {
                return;
            }
            for note in &ours.notes {
                let message = &note.diagnostic.message;
                // prost-reflect passes a dot in front of a type's name.
                let has_dot = UNKNOWN_TYPE.contains(&note.diagnostic.rule.id) && message.contains("/.");
                // It passes over what is finer than a nanosecond, too.
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

/// Compares with what is read of the text with white space added, as long as it repeats nothing.
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
    // What is not understood is kept as text, white space and all.
    let is_kept =
        |rule: &str| UNKNOWN_TYPE.contains(&rule) || ["dump-any-without-type", "dump-limit-exceeded"].contains(&rule);
    if ours.stop.is_none() && !ours.notes.iter().any(|note| is_kept(note.diagnostic.rule.id)) {
        assert_eq!(ours.bytes, other.bytes, "{}", shown());
    }
}

/// Says whether an object in the value has a key twice; `None` if it is no JSON.
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

/// Digits behind the first dot.
fn fraction(text: &str) -> usize {
    let behind = text.split_once('.').map_or("", |(_, behind)| behind);
    behind.bytes().take_while(u8::is_ascii_digit).count()
}

/// Brackets inside of each other, at most.
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

/// Adds white space, more or less of it, behind what opens and what parts.
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
