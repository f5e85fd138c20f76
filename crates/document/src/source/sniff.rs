//! Which format a document has.
//!
//! The content decides; the extension of the name only where the content leaves a choice. Names are
//! what a shell gives (`x.yaml`, `-`), and a pipe has none, so a document must be readable without.

use super::log;
use super::textproto;
use super::wire;

/// What a document is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DocumentFormat {
    /// JSON, one value or several.
    Json,
    /// YAML, one document or several.
    Yaml,
    /// Protobuf text format, one message.
    Text,
    /// Protobuf wire format, one message.
    Binary,
    /// A log of a gRPC client with xDS messages in it.
    Log,
}

/// What looking at a document shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sniffed {
    /// It can be read.
    Format(DocumentFormat),
    /// There is nothing in it but white space.
    Empty,
    /// It is something else; what, with an article.
    Other(&'static str),
}

/// First bytes of files that people mistake for configuration.
const MAGIC: &[(&[u8], &str)] = &[
    (b"\x1f\x8b", "a gzip file"),
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"PK\x03\x04", "a zip file"),
    (b"\x28\xb5\x2f\xfd", "a zstd file"),
    (b"BZh", "a bzip2 file"),
    (b"\xfd7zXZ\0", "an xz file"),
    (b"\x7fELF", "a program"),
    (b"%PDF-", "a PDF file"),
    (b"GIF8", "a GIF image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"<!DOCTYPE html", "an HTML page"),
    (b"<html", "an HTML page"),
    (b"<?xml", "an XML file"),
];

/// How much of a document is looked at, in bytes, where the format is not plain at once.
const LOOK: usize = 64 << 10;

/// Says what `bytes` are; `name` is the document's name.
///
/// ```
/// use xdsctl_document::source::sniff::{DocumentFormat, Sniffed, sniff};
/// assert_eq!(sniff("-", b"{\"resources\": []}"), Sniffed::Format(DocumentFormat::Json));
/// assert_eq!(sniff("-", b"resources:\n- name: a"), Sniffed::Format(DocumentFormat::Yaml));
/// assert_eq!(sniff("-", b"resources { type_url: \"a\" }"), Sniffed::Format(DocumentFormat::Text));
/// assert_eq!(sniff("-", b"\x0a\x011\x22\x03a/b"), Sniffed::Format(DocumentFormat::Binary));
/// assert_eq!(sniff("-", b"\n"), Sniffed::Empty);
/// ```
pub fn sniff(name: &str, bytes: &[u8]) -> Sniffed {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let Some(start) = text.iter().position(|byte| !byte.is_ascii_whitespace()) else {
        // A message without fields has no bytes, but nobody means that.
        return Sniffed::Empty;
    };
    let head = text.get(start..).unwrap_or_default();
    let extension = named(name);
    if let Some((_, what)) = MAGIC.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Sniffed::Other(what);
    }
    if matches!(extension, Some(DocumentFormat::Binary)) && wire::starts_message(bytes) && !is_text_format(head) {
        return Sniffed::Format(DocumentFormat::Binary);
    }
    if !head.starts_with(b"{") && log::looks_like(head) {
        return Sniffed::Format(DocumentFormat::Log);
    }
    match head.first() {
        Some(b'{') => return Sniffed::Format(braces(head, extension)),
        Some(b'[') => return Sniffed::Format(brackets(head, extension)),
        _ => {}
    }
    let look = head.get(..LOOK).unwrap_or(head);
    // Characters that no text has. A tag or a length of a message is likely to be one.
    let odd = look
        .iter()
        .any(|byte| matches!(byte, 0..=8 | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f));
    let unreadable = odd || std::str::from_utf8(look).is_err_and(|error| error.error_len().is_some());
    // A line feed is the tag of a first string; text of which every byte then fits a message is as
    // good as impossible.
    let tagged = bytes.first() == Some(&b'\n') && wire::is_whole_message(bytes);
    // Text with a byte that is not UTF-8 in it looks like a message that was cut off, but for its
    // lack of odd characters.
    let is_named_text = matches!(
        extension,
        Some(DocumentFormat::Yaml | DocumentFormat::Json | DocumentFormat::Text)
    );
    let may_be_cut = odd && !is_named_text && wire::is_message(bytes);
    if tagged || unreadable && (may_be_cut || wire::is_whole_message(bytes)) {
        return Sniffed::Format(DocumentFormat::Binary);
    }
    if odd && !is_named_text {
        return Sniffed::Other("binary data, and no protobuf message");
    }
    if matches!(extension, Some(DocumentFormat::Text)) || textproto::looks_like(look) {
        return Sniffed::Format(DocumentFormat::Text);
    }
    match extension {
        Some(format @ (DocumentFormat::Json | DocumentFormat::Log)) => Sniffed::Format(format),
        _ => Sniffed::Format(DocumentFormat::Yaml),
    }
}

/// `.pb` is an old name for text format too, and `address {` is a fine beginning of a message on
/// the wire.
fn is_text_format(head: &[u8]) -> bool {
    let look = head.get(..LOOK).unwrap_or(head);
    let is_plain = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\r' | 0x20..=0x7e | 0x80..);
    look.iter().all(is_plain) && std::str::from_utf8(head).is_ok() && textproto::looks_like(look)
}

/// The format that the name speaks of.
pub fn named(name: &str) -> Option<DocumentFormat> {
    let (_, extension) = name.rsplit_once('.')?;
    match extension.to_ascii_lowercase().as_str() {
        "json" | "jsonl" | "ndjson" => Some(DocumentFormat::Json),
        "yaml" | "yml" => Some(DocumentFormat::Yaml),
        "textproto" | "prototext" | "textpb" | "txtpb" | "pbtxt" | "prototxt" | "pb_text" | "txtproto" => {
            Some(DocumentFormat::Text)
        }
        "pb" | "binpb" | "binarypb" | "bin" => Some(DocumentFormat::Binary),
        "log" => Some(DocumentFormat::Log),
        _ => None,
    }
}

/// `{`: JSON, unless the first key has no quotes (YAML in flow style).
fn braces(head: &[u8], extension: Option<DocumentFormat>) -> DocumentFormat {
    match head.iter().skip(1).find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'"' | b'}') | None if extension != Some(DocumentFormat::Yaml) => DocumentFormat::Json,
        Some(b'"' | b'}') | None => yaml_or_json(head),
        _ if extension == Some(DocumentFormat::Json) => DocumentFormat::Json,
        _ => DocumentFormat::Yaml,
    }
}

/// JSON in a file that is named YAML is YAML only if JSON cannot read it: JSON is read ten times as
/// fast.
fn yaml_or_json(head: &[u8]) -> DocumentFormat {
    let mut scan = super::json::Scanner::new(head);
    if scan.skip_value().is_ok() && scan.at_end() {
        DocumentFormat::Json
    } else {
        DocumentFormat::Yaml
    }
}

/// `[`: the type of an Any in text format, else JSON unless YAML is more likely.
fn brackets(head: &[u8], extension: Option<DocumentFormat>) -> DocumentFormat {
    let inner = head.get(1..).unwrap_or_default().trim_ascii_start();
    let name = inner
        .iter()
        .position(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'/' | b'-')))
        .unwrap_or(inner.len());
    let after = inner.get(name..).unwrap_or_default().trim_ascii_start();
    if name > 0
        && inner.get(..name).is_some_and(|name| name.contains(&b'/'))
        && let Some(after) = after.strip_prefix(b"]")
        && matches!(after.trim_ascii_start().first(), Some(b'{' | b':' | b'<'))
    {
        return DocumentFormat::Text;
    }
    match inner.first() {
        Some(b'"' | b'{' | b'[' | b']') | None if extension != Some(DocumentFormat::Yaml) => DocumentFormat::Json,
        _ => match extension {
            Some(DocumentFormat::Json) => DocumentFormat::Json,
            _ => yaml_or_json(head),
        },
    }
}

/// UTF-16 text as UTF-8, if it says by its mark that it is UTF-16; half pairs are replaced.
///
/// Windows shells write it when output is redirected to a file.
pub(super) fn from_utf16(bytes: &[u8]) -> Option<Vec<u8>> {
    let (body, unit): (_, fn([u8; 2]) -> u16) = match bytes.split_first_chunk::<2>()? {
        ([0xff, 0xfe], body) => (body, u16::from_le_bytes),
        ([0xfe, 0xff], body) => (body, u16::from_be_bytes),
        _ => return None,
    };
    let units = body.as_chunks::<2>().0.iter().map(|pair| unit(*pair));
    let text: String = char::decode_utf16(units)
        .map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect();
    Some(text.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_decides_and_the_extension_breaks_ties() {
        use DocumentFormat::{Binary, Json, Text, Yaml};
        for (name, bytes, expected) in [
            ("-", &b"{\"a\": 1}"[..], Json),
            ("x.yaml", b"{\"a\": 1}", Json),
            ("x.yaml", b"{\"a\": 1} # end", Yaml),
            ("-", b"{a: 1}", Yaml),
            ("x.json", b"{a: 1}", Json),
            ("-", b"  [{\"a\": 1}]", Json),
            ("-", b"[a, b]", Yaml),
            ("-", b"[type.googleapis.com/a.B] { }", Text),
            ("-", b"[type.googleapis.com/a.B]: { }", Text),
            ("-", b"\xef\xbb\xbf{\"a\": 1}", Json),
            ("-", b"---\na: 1", Yaml),
            ("-", b"# proto-message: a.B\nname: \"x\"", Text),
            ("-", b"# a comment\nname: x", Yaml),
            ("-", b"name: \"x\"\ntype: EDS\n", Yaml),
            ("x.textproto", b"name: \"x\"\ntype: EDS\n", Text),
            ("-", b"name: \"x\" type: EDS", Text),
            ("-", b"name: \"x\"\nconnect_timeout { seconds: 1 }\n", Text),
            ("-", b"name: 'x'\nconnect_timeout: {seconds: 1}\n", Yaml),
            ("-", b"a: {b: 1}\nb:\n- c\n", Yaml),
            ("x.pb", b"\x0a\x01a", Binary),
            ("-", b"\x0a\x01a", Binary),
            ("-", b"\x12\x04name", Binary),
            (
                "-",
                b"\n\x3ctype.googleapis.com/envoy.config.route.v3.RouteConfiguration",
                Binary,
            ),
            ("-", b"\n<a: b", Yaml),
            ("x.yaml", b"a: \"\x01\"", Yaml),
            ("x.yaml", b"\"@type\": t/a.B\nname: \"a\xff\"\ntype: EDS\n", Yaml),
            ("-", b"\"@type\": t/a.B\nname: \"a\xff\"\ntype: EDS\n", Yaml),
            ("x.pb", b"\x0a\x01a\x12\x20abc", Binary),
            ("x.pb", b"\x0a\x20abc", Binary),
            ("x.log", b"10:00 INFO: started\n", DocumentFormat::Log),
            ("x.log", b"{\"a\": 1}", Json),
            ("x.pb", b"address {\n  pipe { path: \"x\" }\n}\n", Text),
            ("x.pb", b"name: \"x\"\nfilter_chains {\n}\n", Text),
        ] {
            assert_eq!(
                sniff(name, bytes),
                Sniffed::Format(expected),
                "{name} {:?}",
                bytes.escape_ascii().to_string()
            );
        }
    }

    #[test]
    fn what_is_no_configuration_is_named() {
        for (bytes, expected) in [
            (&b""[..], Sniffed::Empty),
            (b" \n\t", Sniffed::Empty),
            (b"\xef\xbb\xbf", Sniffed::Empty),
            (b"\x1f\x8b\x08\0\0", Sniffed::Other("a gzip file")),
            (b"\x89PNG\r\n\x1a\n\0", Sniffed::Other("a PNG image")),
            (b"\0\0\0\0", Sniffed::Other("binary data, and no protobuf message")),
        ] {
            assert_eq!(sniff("-", bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn utf16_becomes_utf8() {
        assert_eq!(from_utf16(b"\xff\xfe{\0\xe9\0"), Some("{é".into()));
        assert_eq!(from_utf16(b"\xfe\xff\0{\xd8\x3d\xde\0"), Some("{\u{1f600}".into()));
        assert_eq!(from_utf16(b"\xff\xfe{"), Some(Vec::new()));
        assert_eq!(from_utf16(b"{}"), None);
    }
}
