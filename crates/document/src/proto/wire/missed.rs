//! Fields that gRPC never reads and whose absence matters: gRPC behaves differently from what they
//! ask.
//!
//! This file decides about all fields that `proto/reads.txt` does not list. A field in `missed.txt`
//! is a `security-field-ignored` or a `behaviour-field-ignored`, both warnings. Every other field
//! is a `field-ignored`, a note. Not in the list are fields for statistics, logs, traces, HTTP/1,
//! browsers and sockets, and fields that ask for what gRPC does anyway.

use std::sync::LazyLock;

use xdsctl_proto::tables::{self, Field, Kind};

/// One line of `missed.txt`: the words about some fields of a message.
pub(super) struct Listed {
    message: &'static str,
    fields: &'static str,
    is_security: bool,
    text: &'static str,
}

/// The lines of `missed.txt`, by message.
static LISTED: LazyLock<Vec<Listed>> = LazyLock::new(|| {
    let (mut is_security, mut text) = (false, "");
    let lines = include_str!("missed.txt").lines().filter(|line| !line.starts_with('#'));
    let listed = lines.filter_map(|line| match line.strip_prefix("    ") {
        Some(of_message) => {
            let (message, fields) = of_message.split_once(": ")?;
            Some(Listed {
                message,
                fields,
                is_security,
                text,
            })
        }
        None => {
            is_security = line.starts_with("security: ");
            text = line.strip_prefix("security: ").unwrap_or(line);
            None
        }
    });
    let mut listed: Vec<Listed> = listed.collect();
    listed.sort_by_key(|listed| listed.message);
    listed
});

/// Returns the lines about fields of the message with this full name.
pub(super) fn of(message: &str) -> &'static [Listed] {
    let before = LISTED.partition_point(|listed| listed.message < message);
    let from = LISTED.get(before..).unwrap_or_default();
    let own = from.partition_point(|listed| listed.message == message);
    from.get(..own).unwrap_or_default()
}

fn listed(listed: &[Listed], is_security: bool, field: &str) -> Option<&'static str> {
    let is_it =
        |listed: &&Listed| listed.is_security == is_security && listed.fields.split(' ').any(|name| name == field);
    listed.iter().find(is_it).map(|listed| listed.text)
}

/// Returns what is lost if a field that restricts or secures traffic is not read.
pub(super) fn security(of_message: &[Listed], field: &Field) -> Option<&'static str> {
    listed(of_message, true, field.name)
}

/// Returns what gRPC does or reads instead of a field that matters.
pub(super) fn instead(of_message: &[Listed], field: &Field) -> Option<&'static str> {
    listed(of_message, false, field.name)
}

/// Returns what gRPC does instead of each member of `host_rewrite_specifier`. The converter of
/// route actions reports those of a route.
pub fn no_host_rewrite() -> &'static str {
    let cluster_weight = "envoy.config.route.v3.WeightedCluster.ClusterWeight";
    listed(of(cluster_weight), false, "host_rewrite_literal").unwrap_or_default()
}

/// The bytes of the largest `UInt32Value`.
pub(super) const NO_LIMIT: &[u8] = &[0x08, 0xff, 0xff, 0xff, 0xff, 0x0f];

/// Says whether a value asks for nothing: a message with a scalar that is 0 (no timeout, no
/// percentage), or a number that means no limit.
pub(super) fn is_off(field: &Field, payload: &[u8]) -> bool {
    let Kind::Message(index) = field.kind else {
        return false;
    };
    let name = tables::MESSAGES[usize::from(index)].full_name;
    match name {
        "google.protobuf.UInt32Value" => payload.is_empty() || payload == NO_LIMIT,
        "google.protobuf.Duration" | "google.protobuf.BoolValue" | "envoy.type.v3.Percent" => payload.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_field_that_another_client_reads_is_missed_by_all() {
        for known in tables::MESSAGES {
            for field in known.fields.iter().filter(|field| field.generated && !field.judged) {
                assert_eq!(
                    instead(of(known.full_name), field),
                    None,
                    "{}.{}",
                    known.full_name,
                    field.name
                );
            }
        }
    }

    #[test]
    fn each_name_is_a_field_that_no_reader_has() {
        let unread = |message: &str, field: &str| {
            let found = tables::MESSAGES.iter().find(|known| known.full_name == message);
            let found = found.unwrap_or_else(|| panic!("{message}"));
            found.fields.iter().any(|known| known.name == field && !known.read)
        };
        for Listed { message, fields, .. } in LISTED.iter() {
            for field in fields.split(' ') {
                let is_known = |listed: &Listed| {
                    listed.fields.split(' ').any(|name| name == field) && unread(listed.message, field)
                };
                assert!(LISTED.iter().any(is_known), "{message} {field}");
            }
        }
    }
}
