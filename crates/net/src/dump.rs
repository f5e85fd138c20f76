//! The one form of what was fetched: a `ClientStatusResponse` as JSON, which every command reads, a field a line as Envoy prints.

use std::io::{self, Write};

use prost::Message as _;
use xdsctl::proto::print::{Printer, quoted};

use crate::Options;
use crate::messages::ClientConfig;

/// Text is handed on when it is longer.
const CHUNK_BYTES: usize = 256 << 10;

/// Levels that are indented: what is deeper would be mostly blanks.
const MAX_INDENT: usize = 24;

/// What was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Written {
    /// Entries: resources, and names that stand for none.
    pub entries: usize,
    /// Clients.
    pub clients: usize,
    /// Resources that lost some bytes, because secrets are masked.
    pub lossy: usize,
}

/// Where a dump comes from and when: an object that other readers pass over.
#[derive(Debug, Clone, Default)]
pub struct Origin {
    /// The address.
    pub source: String,
    /// When, in the form of protobuf JSON.
    pub fetched: String,
    /// The last nonce and version of each type: type URL, version, nonce.
    pub responses: Vec<(String, String, String)>,
}

struct Writer<'w> {
    out: &'w mut dyn Write,
    printer: Printer,
    written: Written,
}

/// Writes a dump.
///
/// # Errors
/// Those of `out`.
pub fn write(clients: &[ClientConfig], origin: &Origin, options: &Options, out: &mut dyn Write) -> io::Result<Written> {
    if options.is_wire {
        return write_wire(clients, out);
    }
    let redacts = options.redacts;
    let mut writer = Writer {
        out,
        printer: Printer::new(redacts),
        written: Written::default(),
    };
    writer.all(clients, origin)?;
    writer.hand_on(0)?;
    let lossy = writer.printer.lossy();
    Ok(Written {
        lossy,
        ..writer.written
    })
}

/// Writes a serialized ClientStatusResponse, entry by entry.
fn write_wire(clients: &[ClientConfig], out: &mut dyn Write) -> io::Result<Written> {
    let mut head = Vec::new();
    let mut written = Written::default();
    for client in clients {
        // Fields 1 of the response and 3 of the client, each with its length.
        let bare = ClientConfig {
            generic_xds_configs: Vec::new(),
            ..client.clone()
        };
        let entries = client.generic_xds_configs.iter();
        let size: usize = entries
            .map(|entry| 1 + prost::length_delimiter_len(entry.len()) + entry.len())
            .sum();
        head.clear();
        head.push(0x0a);
        prost::encode_length_delimiter(bare.encoded_len() + size, &mut head)?;
        head.extend(bare.encode_to_vec());
        out.write_all(&head)?;
        for entry in &client.generic_xds_configs {
            head.clear();
            head.push(0x1a);
            prost::encode_length_delimiter(entry.len(), &mut head)?;
            out.write_all(&head)?;
            out.write_all(entry)?;
        }
        written.entries += client.generic_xds_configs.len() + client.xds_config.len();
        written.clients += 1;
    }
    Ok(written)
}

impl Writer<'_> {
    fn all(&mut self, clients: &[ClientConfig], origin: &Origin) -> io::Result<()> {
        self.text("{\"config\":[");
        for (index, client) in clients.iter().enumerate() {
            self.text(if index == 0 { "\n" } else { ",\n" });
            self.client(client)?;
            self.written.clients += 1;
        }
        self.text("],\n\"xdsctl\":{\"source\":");
        quoted(&mut self.printer.out, &origin.source);
        self.text(",\"fetched\":");
        quoted(&mut self.printer.out, &origin.fetched);
        for (index, (type_url, version, nonce)) in origin.responses.iter().enumerate() {
            self.text(if index == 0 { ",\"responses\":[" } else { "," });
            for (key, value) in [
                ("{\"type_url\":", type_url),
                (",\"version_info\":", version),
                (",\"nonce\":", nonce),
            ] {
                self.text(key);
                quoted(&mut self.printer.out, value);
            }
            self.text("}");
        }
        self.text(if origin.responses.is_empty() { "}}\n" } else { "]}}\n" });
        Ok(())
    }

    fn client(&mut self, client: &ClientConfig) -> io::Result<()> {
        self.text("{");
        let mut separator = "";
        if let Some(node) = &client.node {
            self.text("\"node\":");
            self.printer.named(node, "envoy.config.core.v3.Node");
            separator = ",";
        }
        if !client.client_scope.is_empty() {
            self.text(separator);
            self.text("\"client_scope\":");
            quoted(&mut self.printer.out, &client.client_scope);
            separator = ",";
        }
        for (key, entries, name) in [
            (
                "\"xds_config\":[",
                &client.xds_config,
                "envoy.service.status.v3.PerXdsConfig",
            ),
            (
                "\"generic_xds_configs\":[",
                &client.generic_xds_configs,
                "envoy.service.status.v3.ClientConfig.GenericXdsConfig",
            ),
        ] {
            // A client that holds nothing says so.
            let is_shown = !entries.is_empty() || name.ends_with("GenericXdsConfig");
            if is_shown {
                self.text(separator);
                self.text(key);
                self.entries(entries, name)?;
                self.text("]");
                separator = ",";
            }
        }
        self.text("}");
        Ok(())
    }

    fn entries(&mut self, entries: &[bytes::Bytes], type_name: &str) -> io::Result<()> {
        for (index, entry) in entries.iter().enumerate() {
            self.text(if index == 0 { "\n" } else { ",\n" });
            let start = self.printer.out.len();
            self.printer.named(entry, type_name);
            let entry = self.printer.out.split_off(start);
            indented(&entry, &mut self.printer.out);
            self.written.entries += 1;
            self.hand_on(CHUNK_BYTES)?;
        }
        Ok(())
    }

    fn text(&mut self, text: &str) {
        self.printer.out.push_str(text);
    }

    /// Writes what there is, if it is more than `least` bytes.
    fn hand_on(&mut self, least: usize) -> io::Result<()> {
        if self.printer.out.len() > least {
            self.out.write_all(self.printer.out.as_bytes())?;
            self.printer.out.clear();
        }
        Ok(())
    }
}

/// Appends JSON text that has no blanks, with a line for each field and element.
fn indented(text: &str, out: &mut String) {
    let bytes = text.as_bytes();
    let (mut level, mut from, mut at) = (0_usize, 0, 0);
    let break_line = |out: &mut String, level: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', level.min(MAX_INDENT)));
    };
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at += 1;
                while let Some(byte) = bytes.get(at).filter(|byte| **byte != b'"') {
                    at += if *byte == b'\\' { 2 } else { 1 };
                }
            }
            b'{' | b'[' if !matches!(bytes.get(at + 1), Some(b'}' | b']')) => {
                out.push_str(text.get(from..=at).unwrap_or_default());
                level += 1;
                break_line(out, level);
                from = at + 1;
            }
            b'{' | b'[' => at += 1,
            b'}' | b']' => {
                out.push_str(text.get(from..at).unwrap_or_default());
                level = level.saturating_sub(1);
                break_line(out, level);
                from = at;
            }
            b',' => {
                out.push_str(text.get(from..=at).unwrap_or_default());
                break_line(out, level);
                from = at + 1;
            }
            b':' => {
                out.push_str(text.get(from..=at).unwrap_or_default());
                out.push(' ');
                from = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    out.push_str(text.get(from..).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_a_line() {
        let mut out = String::new();
        indented(r#"{"a":{},"b":[1,{"c":"x,{\"y:"}],"d":[]}"#, &mut out);
        assert_eq!(
            out,
            "{\n \"a\": {},\n \"b\": [\n  1,\n  {\n   \"c\": \"x,{\\\"y:\"\n  }\n ],\n \"d\": []\n}"
        );
    }
}
