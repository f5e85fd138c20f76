//! Writes what was fetched in one form: a `ClientStatusResponse` as JSON, which every command
//! reads, with one field per line as Envoy prints it.
//!
//! Resources are printed from their bytes one by one, on several threads, and written in order.
//! Besides the answer, only a few pieces of text are in memory.

use std::io::{self, Write};

use bytes::Bytes;
use prost::Message as _;
use xdsctl_document::proto::print::{Printer, quoted};

use crate::FetchOptions;
use crate::messages::ClientConfig;
use crate::ordered;

/// How many bytes of entries are printed as one piece. A few pieces are in memory at a time.
const PIECE_BYTES: usize = 32 << 10;

/// The entries of a client, each a serialized message.
pub trait Entries: Sync {
    /// Returns the number of entries.
    fn count(&self) -> usize;
    /// Returns the bytes of an entry.
    fn entry(&self, index: usize) -> Bytes;
    /// Returns the number of bytes of an entry.
    fn size(&self, index: usize) -> usize;
}

impl Entries for Vec<Bytes> {
    fn count(&self) -> usize {
        self.len()
    }

    fn entry(&self, index: usize) -> Bytes {
        self.as_slice().get(index).cloned().unwrap_or_default()
    }

    fn size(&self, index: usize) -> usize {
        self.as_slice().get(index).map_or(0, Bytes::len)
    }
}

/// A client, and what it holds.
pub struct DumpedClient<'c> {
    /// The client without the entries.
    pub bare: ClientConfig,
    /// The entries in the deprecated form, PerXdsConfig.
    pub deprecated: &'c Vec<Bytes>,
    /// The entries in the form GenericXdsConfig.
    pub entries: &'c dyn Entries,
}

impl DumpedClient<'_> {
    /// Returns a client as it was received.
    pub fn of(config: &ClientConfig) -> DumpedClient<'_> {
        DumpedClient {
            bare: ClientConfig {
                node: config.node.clone(),
                client_scope: config.client_scope.clone(),
                ..ClientConfig::default()
            },
            deprecated: &config.xds_config,
            entries: &config.generic_xds_configs,
        }
    }
}

/// The contents of a dump that was written, as counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DumpCounts {
    /// The number of entries: resources, and names without a resource.
    pub entries: usize,
    /// The number of resources that lost some bytes because secrets are masked.
    pub lossy: usize,
}

/// The origin and time of a dump: an object that other readers skip.
#[derive(Debug, Clone, Default)]
pub struct DumpOrigin {
    /// The address that the dump was fetched from.
    pub source: String,
    /// The time at which it was fetched, in the form of protobuf JSON.
    pub fetched: String,
    /// The last version and nonce of each type, as (type URL, version, nonce).
    pub responses: Vec<(String, String, String)>,
}

/// Writes a dump.
///
/// # Errors
/// Writing to `out` fails.
pub fn write(
    clients: &[DumpedClient<'_>],
    origin: &DumpOrigin,
    options: &FetchOptions,
    out: &mut dyn Write,
) -> io::Result<DumpCounts> {
    if options.is_wire {
        return write_wire(clients, out);
    }
    let mut writer = DumpWriter {
        out,
        text: Vec::new(),
        redacts: options.redacts,
        written: DumpCounts::default(),
    };
    writer.all(clients, origin)?;
    writer.hand_on()?;
    Ok(writer.written)
}

/// Writes a serialized ClientStatusResponse, entry by entry.
fn write_wire(clients: &[DumpedClient<'_>], out: &mut dyn Write) -> io::Result<DumpCounts> {
    // Larger pieces are not buffered.
    let mut out = io::BufWriter::with_capacity(PIECE_BYTES, out);
    let mut head = Vec::new();
    let mut written = DumpCounts::default();
    for client in clients {
        // Field 1 of the response, and fields 2 and 3 of the client, each with its length.
        let lists: [(u8, &dyn Entries); 2] = [(0x12, client.deprecated), (0x1a, client.entries)];
        let sizes = lists
            .iter()
            .flat_map(|(_, entries)| (0..entries.count()).map(|index| entries.size(index)));
        let size: usize = sizes.map(|size| 1 + prost::length_delimiter_len(size) + size).sum();
        head.clear();
        head.push(0x0a);
        prost::encode_length_delimiter(client.bare.encoded_len() + size, &mut head)?;
        head.extend(client.bare.encode_to_vec());
        out.write_all(&head)?;
        for (tag, entries) in lists {
            for index in 0..entries.count() {
                let entry = entries.entry(index);
                head.clear();
                head.push(tag);
                prost::encode_length_delimiter(entry.len(), &mut head)?;
                out.write_all(&head)?;
                out.write_all(&entry)?;
            }
            written.entries += entries.count();
        }
    }
    out.flush()?;
    Ok(written)
}

struct DumpWriter<'w> {
    out: &'w mut dyn Write,
    /// The text around the entries that has not been written yet.
    text: Vec<u8>,
    redacts: bool,
    written: DumpCounts,
}

impl DumpWriter<'_> {
    fn all(&mut self, clients: &[DumpedClient<'_>], origin: &DumpOrigin) -> io::Result<()> {
        self.text("{\"config\":[");
        for (index, client) in clients.iter().enumerate() {
            self.text(if index == 0 { "\n" } else { ",\n" });
            self.client(client)?;
        }
        self.text("],\n\"xdsctl\":{\"source\":");
        quoted(&mut self.text, &origin.source);
        self.text(",\"fetched\":");
        quoted(&mut self.text, &origin.fetched);
        for (index, (type_url, version, nonce)) in origin.responses.iter().enumerate() {
            self.text(if index == 0 { ",\"responses\":[" } else { "," });
            for (key, value) in [
                ("{\"type_url\":", type_url),
                (",\"version_info\":", version),
                (",\"nonce\":", nonce),
            ] {
                self.text(key);
                quoted(&mut self.text, value);
            }
            self.text("}");
        }
        self.text(if origin.responses.is_empty() { "}}\n" } else { "]}}\n" });
        Ok(())
    }

    fn client(&mut self, client: &DumpedClient<'_>) -> io::Result<()> {
        self.text("{");
        let mut separator = "";
        if let Some(node) = &client.bare.node {
            self.text("\"node\":");
            let mut printer = Printer::new(self.redacts);
            printer.named(node, "envoy.config.core.v3.Node");
            self.text.append(&mut printer.out);
            separator = ",";
        }
        if !client.bare.client_scope.is_empty() {
            self.text(separator);
            self.text("\"client_scope\":");
            quoted(&mut self.text, &client.bare.client_scope);
            separator = ",";
        }
        for (key, entries, name) in [
            (
                "\"xds_config\":[",
                client.deprecated as &dyn Entries,
                "envoy.service.status.v3.PerXdsConfig",
            ),
            (
                "\"generic_xds_configs\":[",
                client.entries,
                "envoy.service.status.v3.ClientConfig.GenericXdsConfig",
            ),
        ] {
            // A client that holds nothing has an empty list.
            let is_shown = entries.count() > 0 || name.ends_with("GenericXdsConfig");
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

    fn entries(&mut self, entries: &dyn Entries, type_name: &str) -> io::Result<()> {
        self.hand_on()?;
        let pieces = ordered::pieces(entries.count(), PIECE_BYTES, |index| entries.size(index));
        let redacts = self.redacts;
        let print = |range: std::ops::Range<usize>, out: &mut Vec<u8>| {
            let mut printer = Printer::new(redacts).with_lines();
            std::mem::swap(&mut printer.out, out);
            for index in range {
                printer.out.extend_from_slice(if index == 0 { b"\n" } else { b",\n" });
                printer.named(&entries.entry(index), type_name);
            }
            std::mem::swap(&mut printer.out, out);
            printer.lossy()
        };
        self.written.lossy += ordered::write(&pieces, &print, self.out)?;
        self.written.entries += entries.count();
        Ok(())
    }

    fn text(&mut self, text: &str) {
        self.text.extend_from_slice(text.as_bytes());
    }

    /// Writes the text so far.
    fn hand_on(&mut self) -> io::Result<()> {
        self.out.write_all(&self.text)?;
        self.text.clear();
        Ok(())
    }
}
