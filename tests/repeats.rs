//! Checks that a text that repeats itself is read as if each resource were alone.
//!
//! Where the text repeats a value, the transcoder copies the result of its last occurrence. Here,
//! resources of every kind are in one text, in turns with others, changed at one place, and laid
//! out differently. Each must become what it becomes alone.

use xdsctl_document::envelope::LoadOptions;
use xdsctl_document::source::SourceMap;
use xdsctl_document::source::json::Scanner;

use crate::support::{recorded, sample};

/// Returns the resources of a recording as JSON texts.
fn resources(name: &str) -> Vec<String> {
    let resource = |line: &str| {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        row.get("resource")
            .filter(|resource| resource.get("@type").is_some())
            .map(serde_json::Value::to_string)
    };
    recorded(name).lines().filter_map(resource).collect()
}

/// The result for each resource of a document: its bytes, what is known of them, and the notes with
/// their places in the resource.
type Read = (
    Option<Vec<u8>>,
    xdsctl_model::diag::BytesKnowledge,
    Vec<(String, usize, usize)>,
);

fn read(text: &str) -> Vec<Read> {
    let mut sources = SourceMap::new();
    let id = sources.add("-", text.as_bytes().to_vec());
    let loaded = xdsctl_document::load::run(
        Some(1),
        |loader, emit| loader.json(id, text.as_bytes(), LoadOptions::default(), emit),
        |raw| {
            let base = raw.origin.span.start;
            let notes = raw.notes.iter().map(|note| {
                let said = format!("{} {}", note.diagnostic.path, note.diagnostic.message);
                (said, note.span.start - base, note.span.end - base)
            });
            (raw.bytes.map(|bytes| bytes.to_vec()), raw.known, notes.collect())
        },
    );
    loaded.results
}

/// Returns the text with one byte of a string or a number changed, at about `place`.
fn changed(text: &str, place: usize) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let found =
        (place..bytes.len() - 2).find(|i| bytes[*i].is_ascii_alphanumeric() && bytes[i + 1].is_ascii_alphanumeric());
    if let Some(i) = found {
        bytes[i] = if bytes[i] == b'a' || bytes[i] == b'1' {
            b'2'
        } else {
            b'1'
        };
    }
    String::from_utf8(bytes).unwrap()
}

/// Returns the text with white space after every colon and comma outside of strings.
fn spread(text: &str) -> String {
    let (mut out, mut in_string, mut escaped) = (String::new(), false, false);
    for c in text.chars() {
        out.push(c);
        match c {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            ':' if !in_string => out.push(' '),
            ',' | '{' if !in_string => out.push_str("\n  "),
            _ => {}
        }
    }
    out
}

fn is_json(text: &str) -> bool {
    let mut scanner = Scanner::new(text.as_bytes());
    scanner.skip_value().is_ok() && scanner.at_end()
}

#[test]
fn neighbours_do_not_change_what_a_resource_becomes() {
    let mut all = Vec::new();
    for name in ["validate", "rules-cds-eds", "rules-lds", "rules-rds", "fresh"] {
        all.extend(resources(name));
    }
    assert!(all.len() > 4000, "{}", all.len());
    let mut compared = 0;
    for (chunk_number, chunk) in sample(all.chunks(40).enumerate().collect(), 12) {
        let mut texts = Vec::new();
        for (i, text) in chunk.iter().enumerate() {
            let other = &chunk[(i * 7 + 3) % chunk.len()];
            let spread_one = spread(text);
            let place = (chunk_number * 31 + i * 17) % text.len();
            let variants = [
                text.clone(),
                text.clone(),
                other.clone(),
                changed(text, place),
                text.clone(),
                spread_one.clone(),
                spread_one,
            ];
            texts.extend(variants.into_iter().filter(|text| is_json(text)));
        }
        let together = read(&format!("[{}]", texts.join(",\n")));
        let alone: Vec<Read> = texts.iter().flat_map(|text| read(&format!("[{text}]"))).collect();
        assert_eq!(together.len(), alone.len());
        for ((together, alone), text) in together.iter().zip(&alone).zip(&texts) {
            assert_eq!(together, alone, "{text}");
            compared += 1;
        }
    }
    assert!(compared > 1_000, "{compared}");
}
