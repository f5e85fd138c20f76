//! Detects the format of a document.
//!
//! The content decides. The extension of the name matters only where the content leaves a choice. A
//! name is whatever the shell passes (`x.yaml`, `-`), and a pipe has none, so a document must be
//! readable without it.

use super::log;
use super::textproto;
use super::wire;

/// The format in which a document is written.
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

/// The result of looking at a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sniffed {
    /// The document can be read in this format.
    Format(DocumentFormat),
    /// The document is empty or has only white space.
    Empty,
    /// The document is something else, which the string names with its article.
    Other(&'static str),
}

/// The first bytes of files that people mistake for configuration.
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

/// How many bytes of a document are looked at, if the first bytes do not show the format.
const LOOK: usize = 64 << 10;

/// Detects what `bytes` are; `name` is the document's name.
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
        // A message without fields also has no bytes, but nobody means that.
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
    // These characters do not occur in text, but are likely as a tag or a length in a message.
    let odd = look
        .iter()
        .any(|byte| matches!(byte, 0..=8 | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f));
    let unreadable = odd || std::str::from_utf8(look).is_err_and(|error| error.error_len().is_some());
    // A line feed may be the tag of a first string. It is nearly impossible that every byte of a
    // text then fits a message.
    let tagged = bytes.first() == Some(&b'\n') && wire::is_whole_message(bytes);
    // A text with a byte that is not UTF-8 would look like a message that was cut off, if only it
    // had odd characters.
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

/// Says whether the document is text format rather than wire format. The extension `.pb` is used
/// for both, and `address {` could be the beginning of a message in wire format.
fn is_text_format(head: &[u8]) -> bool {
    let look = head.get(..LOOK).unwrap_or(head);
    let is_plain = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\r' | 0x20..=0x7e | 0x80..);
    look.iter().all(is_plain) && std::str::from_utf8(head).is_ok() && textproto::looks_like(look)
}

/// Returns the format that the extension of the name stands for.
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

/// Decides about a document that begins with `{`: it is JSON, unless the first key has no quotes
/// (YAML in flow style).
fn braces(head: &[u8], extension: Option<DocumentFormat>) -> DocumentFormat {
    match head.iter().skip(1).find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'"' | b'}') | None if extension != Some(DocumentFormat::Yaml) => DocumentFormat::Json,
        Some(b'"' | b'}') | None => yaml_or_json(head),
        _ if extension == Some(DocumentFormat::Json) => DocumentFormat::Json,
        _ => DocumentFormat::Yaml,
    }
}

/// Decides about JSON in a file that is named YAML. It is YAML only if it cannot be read as JSON,
/// because reading JSON is ten times as fast.
fn yaml_or_json(head: &[u8]) -> DocumentFormat {
    let mut scan = super::json::Scanner::new(head);
    if scan.skip_value().is_ok() && scan.at_end() {
        DocumentFormat::Json
    } else {
        DocumentFormat::Yaml
    }
}

/// Decides about a document that begins with `[`. It may be the type of an Any in text format;
/// otherwise it is JSON, unless YAML is more likely.
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

/// Converts UTF-16 text to UTF-8, if it has a byte order mark of UTF-16. Unpaired surrogates are
/// replaced.
///
/// Windows shells write UTF-16 when output is redirected to a file.
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
