//! What identifies a finding across edits: its rule, its resource, its field and its words, and not where it stands.

use std::collections::HashMap;

use twox_hash::XxHash64;

use super::{Finding, ResourceReport};
use xdsctl::diag::{FieldPath, Seg};

/// Hands out fingerprints; equal findings are numbered in their order.
#[derive(Debug, Default)]
pub struct Fingerprints {
    /// How often there was each; only looked up.
    seen: HashMap<u64, usize>,
}

impl Fingerprints {
    /// The fingerprint of a finding in `file`: 16 hexadecimal digits, a colon and a number from 1.
    ///
    /// It stays the same when lines, elements or resources are added or removed elsewhere in the file.
    pub fn of(&mut self, file: &str, resource: Option<&ResourceReport>, finding: &Finding) -> String {
        let (type_name, name) = resource.map_or(("", ""), |r| (&r.type_name, &r.name));
        // An unnamed resource is named by its number, which changes with those before.
        let name = if name.starts_with("<unnamed #") { "" } else { name };
        let path = without_indices(&finding.path);
        let parts = [finding.rule.id, file, type_name, name, &path, &finding.message];
        let hash = XxHash64::oneshot(0, parts.join("\0").as_bytes());
        let number = self.seen.entry(hash).or_default();
        *number += 1;
        format!("{hash:016x}:{number}")
    }
}

/// The path, an element of a list being any.
fn without_indices(path: &FieldPath) -> String {
    let mut out = String::new();
    for seg in path.segs() {
        match seg {
            Seg::Index(_) => out.push_str("[]"),
            Seg::Field(text) => out.extend([".", text]),
            Seg::Key(text) | Seg::JsonKey(text) | Seg::Quoted(text) => out.extend(["[", text, "]"]),
            Seg::Value { type_name, .. } => out.extend(["<", type_name, ">"]),
        }
    }
    out
}
