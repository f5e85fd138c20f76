//! Finds the known name that an unknown one certainly means: the same letters in another spelling.
//!
//! A name that is only similar is a guess, and not an answer here.

use super::pb::tables::{self, Message};
use xdsctl_model::diag::{FieldPath, Seg};

/// Fields that were removed from the API because they had no meaning any more: a client without
/// them does what they asked for. Their names are reserved in the protos. Other reserved fields
/// (`tls_context`, `regex_match`) asked for something that is now lost, so people must replace
/// them.
pub const EMPTY_FIELDS: [(&str, &str); 4] = [
    // The only value was FIXED.
    ("envoy.extensions.filters.common.fault.v3.FaultDelay", "type"),
    // gRPC has never supported overprovisioning.
    (
        "envoy.config.endpoint.v3.ClusterLoadAssignment.Policy",
        "disable_overprovisioning",
    ),
    // The listener itself has a direction.
    (
        "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.Tracing",
        "operation_name",
    ),
    // The service has one version only.
    ("envoy.extensions.filters.http.ext_authz.v3.ExtAuthz", "use_alpha"),
];

/// Returns the name in lower case, without hyphens and underscores.
pub fn letters(name: &str) -> String {
    letters_of(name).collect()
}

fn letters_of(name: &str) -> impl Iterator<Item = char> {
    let letters = name.chars().filter(|c| !matches!(c, '-' | '_'));
    letters.map(|c| c.to_ascii_lowercase())
}

/// Says whether two names have the same [`letters`].
pub fn has_same_letters(one: &str, other: &str) -> bool {
    letters_of(one).eq(letters_of(other))
}

/// Returns the message at a path in a message of the type `type_name`.
fn message_at(type_name: &str, path: &FieldPath) -> Option<&'static Message> {
    let mut message = tables::message(type_name)?;
    for step in path.located() {
        message = match step {
            Seg::Field(name) => message.field_by_name(name)?.value_kind().message()?,
            Seg::Value { type_name, .. } => tables::message(type_name)?,
            Seg::Index(_) | Seg::Key(_) | Seg::JsonKey(_) | Seg::Quoted(_) => message,
        };
    }
    Some(message)
}

/// Returns the field of the message at `path` that `written` spells in another way. The name is in
/// camelCase if `written` is. Returns `None` if no field has the same letters, or several have.
pub fn field(type_name: &str, path: &FieldPath, written: &str) -> Option<&'static str> {
    let message = message_at(type_name, path)?;
    let mut same = message
        .fields
        .iter()
        .filter(|field| has_same_letters(field.name, written));
    let field = same.next().filter(|_| same.next().is_none())?;
    let is_camel = !written.contains(['-', '_']) && written.bytes().any(|byte| byte.is_ascii_uppercase());
    Some(if is_camel { field.json_name } else { field.name })
}

/// Says whether the message at `path` had a field of this name that was removed as meaningless
/// ([`EMPTY_FIELDS`]).
pub fn is_empty_field(type_name: &str, path: &FieldPath, written: &str) -> bool {
    message_at(type_name, path).is_some_and(|message| {
        EMPTY_FIELDS
            .iter()
            .any(|(of, name)| *of == message.full_name && has_same_letters(name, written))
    })
}

/// Returns the name as which an enum value at `path` is read: the name with other capital letters,
/// or the name of a number in quotes.
pub fn enum_value(type_name: &str, path: &FieldPath, written: &str) -> Option<&'static str> {
    let field = message_at(type_name, &path.holder())?.field_by_name(path.segs().last_field()?)?;
    let names = field.kind.enumeration()?.values;
    let number = written.parse::<i32>().ok();
    let mut found = names
        .iter()
        .filter(|(name, value)| name.eq_ignore_ascii_case(written) || Some(*value) == number);
    found.next().map(|(name, _)| *name)
}

/// Says whether this is the full name of a message.
pub fn is_message(name: &str) -> bool {
    tables::message(name).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLUSTER: &str = "envoy.config.cluster.v3.Cluster";

    #[test]
    fn the_same_letters_are_certain_and_near_ones_are_not() {
        let root = FieldPath::default();
        for (written, expected) in [
            ("lb-policy", Some("lb_policy")),
            ("LbPolicy", Some("lbPolicy")),
            ("LB_POLICY", Some("lb_policy")),
            ("lbpolicy", Some("lb_policy")),
            ("lb_polcy", None),
            ("hosts", None),
        ] {
            assert_eq!(field(CLUSTER, &root, written), expected, "{written}");
        }
    }

    #[test]
    fn enum_values_are_what_the_reader_takes_them_for() {
        let at = xdsctl_model::diag::Path::ROOT;
        let path = at.field("lb_policy").to_owned();
        for (written, expected) in [
            ("round_robin", Some("ROUND_ROBIN")),
            ("2", Some("RING_HASH")),
            ("ROUND_ROBBIN", None),
            ("77", None),
        ] {
            assert_eq!(enum_value(CLUSTER, &path, written), expected, "{written}");
        }
    }
}
