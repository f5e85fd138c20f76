//! Differences between two values in the form that the client keeps of a resource
//! ([`parsed`](xdsctl_channel::parsed)).
//!
//! The values are small here: long lists are taken apart in [`forms`](super::forms).
//!
//! Positions in the resource, marks of defaults, and fields that only follow from others are no
//! differences. Neither is the order of a list if it has no meaning to the client.

use serde_json::{Map, Value};

use super::compared_value::{ComparedValue, text};
use super::lists::{ListStep, align};
use xdsctl_document::source::secrets::SecretPlace;
use xdsctl_model::resource::endpoints::short_name;

/// A difference at one place.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldChange {
    /// Path of the place: field names, `[3]` for a position in the resource after, `[10.0.0.1:80]`
    /// for an element with a name.
    pub path: String,
    /// What differs at the place.
    pub kind: ChangeKind,
}

/// The kinds of differences at a place.
#[derive(Debug, Clone, PartialEq)]
pub enum ChangeKind {
    /// The value is new.
    Added(ComparedValue),
    /// The value is gone.
    Removed(ComparedValue),
    /// The value before, and the value after.
    Changed(ComparedValue, ComparedValue),
    /// An element of a list has another order among the elements than before.
    Moved,
}

/// How elements of a list are recognised.
#[derive(Debug, Clone, Copy)]
pub(super) enum Identity {
    /// By these fields; the order has no meaning.
    Named(&'static [&'static str]),
    /// By these fields; the order has a meaning.
    Ordered(&'static [&'static str]),
    /// By their whole value; the order has no meaning.
    Set,
    /// By their whole value; the order has a meaning.
    Sequence,
}

/// Returns how elements of the list in `field` are recognised.
pub(super) fn identity(field: &str) -> Identity {
    match field {
        "virtual_hosts" => Identity::Named(&["name"]),
        "localities" => Identity::Named(&["locality"]),
        "lb_endpoints" => Identity::Named(&["address"]),
        "weighted_clusters" => Identity::Named(&["name"]),
        "categories" => Identity::Named(&["category"]),
        "destinations" => Identity::Named(&["prefix_range"]),
        "routes" => Identity::Ordered(&["match"]),
        "http_filters" => Identity::Ordered(&["name"]),
        "priorities" => Identity::Ordered(&["priority"]),
        "filter_chains" => Identity::Ordered(&["source_type", "source_prefix_ranges", "source_ports"]),
        "domains" | "headers" | "retry_on" | "override_host_status" | "source_prefix_ranges" | "source_ports" => {
            Identity::Set
        }
        _ => Identity::Sequence,
    }
}

/// Fields that carry no information: positions, marks of defaults, and what follows from
/// neighbouring fields.
pub(super) const PASSED_OVER: [&str; 3] = ["defaults", "index", "grpc"];

/// A value, and how it may be shown. Most values are never shown, so a value is masked only when a
/// difference is reported.
#[derive(Debug, Clone, Copy)]
pub(super) struct ShownValue<'a> {
    pub value: &'a Value,
    /// The place of the value, which decides what is masked; `None` if everything is shown.
    place: Option<SecretPlace>,
}

impl<'a> ShownValue<'a> {
    /// Makes the outermost value.
    pub fn root(value: &'a Value, shows_secrets: bool) -> ShownValue<'a> {
        ShownValue {
            value,
            place: (!shows_secrets).then_some(SecretPlace::PARSED),
        }
    }

    /// Returns the fields of an object; any other value has none.
    pub fn fields(self) -> ShownFields<'a> {
        let object = self.value.as_object();
        ShownFields {
            object,
            place: self.place.zip(object).map(|(place, object)| place.inside(object)),
        }
    }

    fn elements(self) -> Vec<ShownValue<'a>> {
        let values = self.value.as_array().map_or(&[][..], Vec::as_slice);
        let element = |value| ShownValue {
            value,
            place: self.place,
        };
        values.iter().map(element).collect()
    }

    fn masked(self) -> Value {
        let mut value = self.value.clone();
        if let Some(place) = self.place {
            place.redact(&mut value);
        }
        value
    }

    pub fn compared(self) -> ComparedValue {
        match self.place {
            Some(_) => ComparedValue::from(&self.masked()),
            None => ComparedValue::from(self.value),
        }
    }
}

/// The fields of an object, and how they may be shown.
pub(super) struct ShownFields<'a> {
    object: Option<&'a Map<String, Value>>,
    place: Option<SecretPlace>,
}

impl<'a> ShownFields<'a> {
    pub fn get(&self, name: &str) -> Option<ShownValue<'a>> {
        Some(ShownValue {
            value: self.object?.get(name)?,
            place: self.place.map(|place| place.field(name)),
        })
    }

    /// Returns the name of a field as it may be printed.
    pub fn name<'n>(&self, name: &'n str) -> &'n str {
        self.place.map_or(name, |place| place.member(name).0)
    }
}

/// Finds the differences between two parsed forms. Their values are masked unless `shows_secrets`.
#[cfg(test)]
pub(super) fn compare(before: &Value, after: &Value, shows_secrets: bool) -> Vec<FieldChange> {
    let mut changes = Vec::new();
    let [before, after] = [before, after].map(|value| ShownValue::root(value, shows_secrets));
    of_values("", before, after, "", &mut changes);
    changes
}

pub(super) fn of_values(
    path: &str,
    before: ShownValue<'_>,
    after: ShownValue<'_>,
    field: &str,
    out: &mut Vec<FieldChange>,
) {
    if before.value == after.value {
        return;
    }
    match (before.value, after.value) {
        (Value::Object(b), Value::Object(a)) => of_objects(path, (b, a), (before.fields(), after.fields()), out),
        (Value::Array(_), Value::Array(_)) => of_lists(path, before, after, field, out),
        (Value::Null, _) => push(path, ChangeKind::Added(after.compared()), out),
        (_, Value::Null) => push(path, ChangeKind::Removed(before.compared()), out),
        _ => push(path, ChangeKind::Changed(before.compared(), after.compared()), out),
    }
}

pub(super) fn push(path: &str, kind: ChangeKind, out: &mut Vec<FieldChange>) {
    out.push(FieldChange {
        path: path.to_owned(),
        kind,
    });
}

fn of_objects(
    path: &str,
    (b, a): (&Map<String, Value>, &Map<String, Value>),
    (before, after): (ShownFields<'_>, ShownFields<'_>),
    out: &mut Vec<FieldChange>,
) {
    let new = a.keys().filter(|name| !b.contains_key(*name));
    let names = b.keys().chain(new).filter(|name| !PASSED_OVER.contains(&name.as_str()));
    for name in names.filter(|name| b.get(*name) != a.get(*name)) {
        of_field(&below(path, before.name(name)), name, &before, &after, out);
    }
}

/// Returns the path of a field of the object at `path`.
pub(super) fn below(path: &str, name: &str) -> String {
    match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    }
}

/// Adds the differences in a field of two objects; `path` is the path of the field.
pub(super) fn of_field(
    path: &str,
    name: &str,
    before: &ShownFields<'_>,
    after: &ShownFields<'_>,
    out: &mut Vec<FieldChange>,
) {
    match (before.get(name), after.get(name)) {
        (Some(before), Some(after)) => of_values(path, before, after, name, out),
        (Some(before), None) => push(path, ChangeKind::Removed(before.compared()), out),
        (None, Some(after)) => push(path, ChangeKind::Added(after.compared()), out),
        (None, None) => {}
    }
}

fn of_lists(path: &str, before: ShownValue<'_>, after: ShownValue<'_>, field: &str, out: &mut Vec<FieldChange>) {
    let (before, after) = (before.elements(), after.elements());
    let identity = identity(field);
    let keys = |elements: &[ShownValue<'_>]| elements.iter().map(|e| key(e.value, identity)).collect::<Vec<_>>();
    let (keys_before, keys_after) = (keys(&before), keys(&after));
    let in_order = matches!(identity, Identity::Ordered(_) | Identity::Sequence);
    let alike = matches!(identity, Identity::Ordered(_));
    for step in align(&keys_before, &keys_after, in_order, alike) {
        let (b, a, position) = step.positions();
        let (one, other) = (b.and_then(|b| before.get(b)), a.and_then(|a| after.get(a)));
        let Some(told) = other.or(one) else { continue };
        let path = place(path, *told, position, identity);
        if let ListStep::Moved(..) = step {
            push(&path, ChangeKind::Moved, out);
        }
        match (one, other) {
            (Some(one), Some(other)) => of_values(&path, *one, *other, field, out),
            (Some(gone), None) => push(&path, ChangeKind::Removed(gone.compared()), out),
            (None, _) => push(&path, ChangeKind::Added(told.compared()), out),
        }
    }
}

/// Returns the key by which an element is recognised.
pub(super) fn key(element: &Value, identity: Identity) -> String {
    let fields = match identity {
        Identity::Named(fields) | Identity::Ordered(fields) => fields,
        Identity::Set | Identity::Sequence => return text(element),
    };
    let mut key = String::new();
    for field in fields {
        key.push_str(&text(element.get(field).unwrap_or(&Value::Null)));
        key.push('\u{0}');
    }
    key
}

/// Returns the path of an element of the list at `path`.
pub(super) fn place(path: &str, element: ShownValue<'_>, position: usize, identity: Identity) -> String {
    let index = element.value.get("index").and_then(Value::as_u64);
    let index = index.map_or_else(|| position.to_string(), |index| index.to_string());
    let name = match identity {
        Identity::Named(fields) => {
            let named = fields.first().and_then(|field| element.fields().get(field));
            named.map(|named| name(&named.masked()))
        }
        Identity::Set => return path.to_owned(),
        Identity::Ordered(_) | Identity::Sequence => None,
    };
    match name.filter(|name| !name.is_empty()) {
        Some(name) => format!("{path}[{name}]"),
        None => format!("{path}[{index}]"),
    }
}

/// Returns the name of an element: a text as it is, the parts of a locality's name joined by
/// slashes.
fn name(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(fields) => {
            let part = |field| fields.get(field).and_then(Value::as_str).unwrap_or_default();
            short_name(part("region"), part("zone"), part("sub_zone"))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn words(before: &Value, after: &Value) -> Vec<String> {
        let words = |change: FieldChange| match change.kind {
            ChangeKind::Added(value) => format!("+ {} {}", change.path, value.to_value()),
            ChangeKind::Removed(value) => format!("- {} {}", change.path, value.to_value()),
            ChangeKind::Changed(before, after) => {
                format!("{} {} > {}", change.path, before.to_value(), after.to_value())
            }
            ChangeKind::Moved => format!("~ {}", change.path),
        };
        compare(before, after, false).into_iter().map(words).collect()
    }

    #[test]
    fn what_has_no_meaning_is_no_difference() {
        for (before, after) in [
            (
                json!({"a": 1, "defaults": ["a"], "index": 4}),
                json!({"a": 1, "defaults": [], "index": 5}),
            ),
            (json!({"domains": ["a", "b"]}), json!({"domains": ["b", "a"]})),
            (
                json!({"lb_endpoints": [{"address": "a", "w": 1}, {"address": "b"}]}),
                json!({"lb_endpoints": [{"address": "b"}, {"address": "a", "w": 1}]}),
            ),
        ] {
            assert_eq!(words(&before, &after), [""; 0], "{before} {after}");
        }
    }

    #[test]
    fn elements_are_known_again_by_name_or_place() {
        let before = json!({"lb_endpoints": [{"address": "a", "w": 1, "index": 0}, {"address": "b", "index": 1}]});
        let after = json!({"lb_endpoints": [{"address": "c", "index": 0}, {"address": "a", "w": 2, "index": 1}]});
        let expected = [
            "+ lb_endpoints[c] {\"address\":\"c\"}",
            "lb_endpoints[a].w 1 > 2",
            "- lb_endpoints[b] {\"address\":\"b\"}",
        ];
        assert_eq!(words(&before, &after), expected);
        let route = |prefix: &str, index: u64, to: &str| json!({"match": {"prefix": prefix}, "to": to, "index": index});
        let before = json!({"routes": [route("/a", 0, "x"), route("/b", 1, "y"), route("/", 2, "z")]});
        let after = json!({"routes": [route("/b", 0, "y"), route("/a", 1, "w"), route("/", 2, "z")]});
        assert_eq!(words(&before, &after), ["~ routes[0]", "routes[1].to \"x\" > \"w\""]);
    }

    #[test]
    fn a_changed_match_is_one_route_that_changed() {
        let before = json!({"routes": [{"match": {"prefix": "/a"}, "to": "x"}, {"match": {"prefix": "/"}}]});
        let after = json!({"routes": [{"match": {"prefix": "/b"}, "to": "x"}, {"match": {"prefix": "/"}}]});
        assert_eq!(words(&before, &after), ["routes[0].match.prefix \"/a\" > \"/b\""]);
    }

    #[test]
    fn a_secret_that_changes_is_said_and_not_shown() {
        let of = |text: &str| json!({"metadata": {"m": {"type": "Struct", "value": {"user": text}}}});
        let changes = words(&of("hunter2"), &of("hunter3"));
        assert_eq!(changes.len(), 1);
        assert!(!changes[0].contains("hunter"), "{}", changes[0]);
    }
}
