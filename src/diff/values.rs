//! What differs between two forms of what the client keeps of a resource ([`parsed`](crate::parsed)).
//!
//! Values are small here: long lists are taken apart in [`forms`](super::forms).
//!
//! Positions in the resource, marks of defaults and what only follows from other fields are no differences, nor is the order of
//! a list in which it has no meaning to the client.

use serde_json::{Map, Value};

use super::lists::{Step, align};

/// A difference at one place.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldChange {
    /// The place: field names, `[3]` for a position in the resource after, `[10.0.0.1:80]` for what is known by its name.
    pub path: String,
    /// What is different.
    pub kind: ChangeKind,
}

/// What is different at a place.
#[derive(Debug, Clone, PartialEq)]
pub enum ChangeKind {
    /// It is new.
    Added(Value),
    /// It is gone.
    Removed(Value),
    /// It has another value.
    Changed(Value, Value),
    /// An element of a list stands before or behind others than it did.
    Moved,
}

/// How elements of a list are known again.
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

/// How elements of the list in `field` are known again.
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

/// Fields that say nothing of their own: positions, marks, and what follows from the fields beside it.
pub(super) const PASSED_OVER: [&str; 3] = ["defaults", "index", "grpc"];

/// A value, and the same as it may be shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shown<'a> {
    pub value: &'a Value,
    pub shown: &'a Value,
}

impl<'a> Shown<'a> {
    pub fn field(self, name: &str) -> Option<Shown<'a>> {
        let value = self.value.get(name)?;
        let shown = self.shown.get(name).unwrap_or(self.shown);
        Some(Shown { value, shown })
    }

    fn elements(self) -> Vec<Shown<'a>> {
        let shown = |index| self.shown.get(index).unwrap_or(self.shown);
        let values = self.value.as_array().map_or(&[][..], Vec::as_slice);
        let values = values.iter().enumerate();
        values
            .map(|(index, value)| Shown {
                value,
                shown: shown(index),
            })
            .collect()
    }
}

/// What differs between two parsed forms; the values of the answer are masked unless `shows_secrets`.
///
/// ```
/// use serde_json::json;
/// use xdsctl::diff::values::{ChangeKind, compare};
/// let change = compare(&json!({"weight": 1}), &json!({"weight": 2}), false).remove(0);
/// assert_eq!((change.path.as_str(), change.kind), ("weight", ChangeKind::Changed(json!(1), json!(2))));
/// ```
pub fn compare(before: &Value, after: &Value, shows_secrets: bool) -> Vec<FieldChange> {
    let mut changes = Vec::new();
    let hidden = |value: &Value| {
        let mut hidden = value.clone();
        crate::secret::redact(&mut hidden);
        // A second form of a large resource is kept only if there is something to hide.
        (hidden != *value).then_some(hidden)
    };
    let [hidden_before, hidden_after] = match shows_secrets {
        true => [None, None],
        false => [before, after].map(hidden),
    };
    let before = Shown {
        value: before,
        shown: hidden_before.as_ref().unwrap_or(before),
    };
    let after = Shown {
        value: after,
        shown: hidden_after.as_ref().unwrap_or(after),
    };
    of_values("", before, after, "", &mut changes);
    changes
}

pub(super) fn of_values(path: &str, before: Shown<'_>, after: Shown<'_>, field: &str, out: &mut Vec<FieldChange>) {
    if before.value == after.value {
        return;
    }
    match (before.value, after.value) {
        (Value::Object(b), Value::Object(a)) => of_objects(path, (b, before), (a, after), out),
        (Value::Array(_), Value::Array(_)) => of_lists(path, before, after, field, out),
        (Value::Null, _) => push(path, ChangeKind::Added(tidy(after.shown)), out),
        (_, Value::Null) => push(path, ChangeKind::Removed(tidy(before.shown)), out),
        _ => push(path, ChangeKind::Changed(tidy(before.shown), tidy(after.shown)), out),
    }
}

pub(super) fn push(path: &str, kind: ChangeKind, out: &mut Vec<FieldChange>) {
    out.push(FieldChange {
        path: path.to_owned(),
        kind,
    });
}

type Fields<'a> = (&'a Map<String, Value>, Shown<'a>);

fn of_objects(path: &str, (b, before): Fields<'_>, (a, after): Fields<'_>, out: &mut Vec<FieldChange>) {
    let new = a.keys().filter(|name| !b.contains_key(*name));
    let names = b.keys().chain(new).filter(|name| !PASSED_OVER.contains(&name.as_str()));
    for name in names {
        let path = match path {
            "" => name.clone(),
            path => format!("{path}.{name}"),
        };
        match (before.field(name), after.field(name)) {
            (Some(before), Some(after)) => of_values(&path, before, after, name, out),
            (Some(before), None) => push(&path, ChangeKind::Removed(tidy(before.shown)), out),
            (None, Some(after)) => push(&path, ChangeKind::Added(tidy(after.shown)), out),
            (None, None) => {}
        }
    }
}

fn of_lists(path: &str, before: Shown<'_>, after: Shown<'_>, field: &str, out: &mut Vec<FieldChange>) {
    let (before, after) = (before.elements(), after.elements());
    let identity = identity(field);
    let keys = |elements: &[Shown<'_>]| elements.iter().map(|e| key(e.value, identity)).collect::<Vec<_>>();
    let (keys_before, keys_after) = (keys(&before), keys(&after));
    let in_order = matches!(identity, Identity::Ordered(_) | Identity::Sequence);
    let alike = matches!(identity, Identity::Ordered(_));
    for step in align(&keys_before, &keys_after, in_order, alike) {
        match step {
            Step::Same(b, a) => {
                if let (Some(b), Some(shown)) = (before.get(b), after.get(a)) {
                    of_values(&place(path, *shown, a, identity), *b, *shown, field, out);
                }
            }
            Step::Moved(b, a) => {
                if let (Some(b), Some(shown)) = (before.get(b), after.get(a)) {
                    let path = place(path, *shown, a, identity);
                    push(&path, ChangeKind::Moved, out);
                    of_values(&path, *b, *shown, field, out);
                }
            }
            Step::Removed(b) => {
                if let Some(shown) = before.get(b) {
                    push(
                        &place(path, *shown, b, identity),
                        ChangeKind::Removed(tidy(shown.shown)),
                        out,
                    );
                }
            }
            Step::Added(a) => {
                if let Some(shown) = after.get(a) {
                    push(
                        &place(path, *shown, a, identity),
                        ChangeKind::Added(tidy(shown.shown)),
                        out,
                    );
                }
            }
        }
    }
}

/// What an element is known by.
pub(super) fn key(element: &Value, identity: Identity) -> String {
    let fields = match identity {
        Identity::Named(fields) | Identity::Ordered(fields) => fields,
        Identity::Set | Identity::Sequence => return tidy(element).to_string(),
    };
    let mut key = String::new();
    for field in fields {
        let value = element.get(field).map(tidy).unwrap_or_default();
        key.push_str(&value.to_string());
        key.push('\u{0}');
    }
    key
}

/// The place of an element of the list at `path`.
pub(super) fn place(path: &str, element: Shown<'_>, position: usize, identity: Identity) -> String {
    let index = element.value.get("index").and_then(Value::as_u64);
    let index = index.map_or_else(|| position.to_string(), |index| index.to_string());
    let name = match identity {
        Identity::Named(fields) => fields.first().and_then(|field| element.shown.get(field)).map(name),
        Identity::Set => return path.to_owned(),
        Identity::Ordered(_) | Identity::Sequence => None,
    };
    match name.filter(|name| !name.is_empty()) {
        Some(name) => format!("{path}[{name}]"),
        None => format!("{path}[{index}]"),
    }
}

/// What an element is called: a text as it is, the parts of a locality's name with slashes.
fn name(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(fields) => {
            let part = |field| fields.get(field).and_then(Value::as_str).unwrap_or_default();
            let name = [part("region"), part("zone"), part("sub_zone")].join("/");
            name.trim_end_matches('/').to_owned()
        }
        other => other.to_string(),
    }
}

/// A value without what says nothing.
pub(super) fn tidy(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let defaults = fields.get("defaults").and_then(Value::as_array);
            let is_default = |name: &str| defaults.is_some_and(|list| list.iter().any(|d| d.as_str() == Some(name)));
            let kept = fields
                .iter()
                .filter(|(name, _)| !PASSED_OVER.contains(&name.as_str()) && !is_default(name));
            Value::Object(kept.map(|(name, value)| (name.clone(), tidy(value))).collect())
        }
        Value::Array(values) => values.iter().map(tidy).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn words(before: &Value, after: &Value) -> Vec<String> {
        let words = |change: FieldChange| match change.kind {
            ChangeKind::Added(value) => format!("+ {} {value}", change.path),
            ChangeKind::Removed(value) => format!("- {} {value}", change.path),
            ChangeKind::Changed(before, after) => format!("{} {before} > {after}", change.path),
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
        let changes = words(&json!({"password": "hunter2"}), &json!({"password": "hunter3"}));
        assert_eq!(changes.len(), 1);
        assert!(!changes[0].contains("hunter"), "{}", changes[0]);
    }
}
