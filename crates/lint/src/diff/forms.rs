//! Compares what the client keeps of two large resources, without building a tree of values for
//! each.
//!
//! A tree of the parsed form of a route table takes a hundred times the bytes of its text. So only
//! the keys of the elements of long lists are kept. Elements that are in both lists are built
//! again, two at a time, and compared as [`values`](super::values). Secrets are masked element by
//! element, as they are where a parsed form is printed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::lists::{ListStep, align};
use super::values::{
    ChangeKind, FieldChange, Identity, PASSED_OVER, ShownValue, below, identity, key, of_field, of_values, place, push,
};
use xdsctl_channel::parsed::{self, List};

/// A parsed form, or a part of it, taken apart for the comparison.
enum ComparedForm<'r> {
    /// A value that is built as a whole.
    Plain(Value),
    /// An object: its plain fields as one value, and the fields with lists, which are not built as
    /// a whole.
    Object(Value, Parts<'r>),
    /// A list, whose elements are built one by one.
    List(List<'r>),
}

type Parts<'r> = BTreeMap<String, parsed::ParsedValue<'r>>;

impl<'r> ComparedForm<'r> {
    fn of(shown: parsed::ParsedValue<'r>) -> ComparedForm<'r> {
        match shown {
            parsed::ParsedValue::Plain(value) => ComparedForm::Plain(value),
            parsed::ParsedValue::Object(fields) => {
                let mut plain = Map::new();
                let mut parts = BTreeMap::new();
                for (name, part) in fields {
                    match part {
                        parsed::ParsedValue::Plain(value) => _ = plain.insert(name, value),
                        part => _ = parts.insert(name, part),
                    }
                }
                let plain = Value::Object(plain);
                match parts.is_empty() {
                    true => ComparedForm::Plain(plain),
                    false => ComparedForm::Object(plain, parts),
                }
            }
            parsed::ParsedValue::List(list) => ComparedForm::List(list),
        }
    }

    /// Builds the whole value.
    fn into_value(self) -> Value {
        match self {
            ComparedForm::Plain(value) => value,
            ComparedForm::Object(mut plain, parts) => {
                if let Value::Object(fields) = &mut plain {
                    fields.extend(parts.iter().map(|(name, part)| (name.clone(), part.to_value())));
                }
                plain
            }
            ComparedForm::List(list) => list.iter().map(|element| element.to_value()).collect(),
        }
    }

    /// Returns the key by which the form is recognised as an element of a list.
    fn key(self, identity: Identity) -> String {
        match (identity, &self) {
            (Identity::Named(fields) | Identity::Ordered(fields), ComparedForm::Object(plain, parts))
                if !fields.iter().any(|field| parts.contains_key(*field)) =>
            {
                key(plain, identity)
            }
            _ => key(&self.into_value(), identity),
        }
    }
}

/// Finds the differences between two parsed forms. Their values are masked unless `shows_secrets`.
pub(super) fn compare(
    before: parsed::ParsedValue<'_>,
    after: parsed::ParsedValue<'_>,
    shows_secrets: bool,
) -> Vec<FieldChange> {
    let mut comparison = FormComparison {
        shows_secrets,
        out: Vec::new(),
    };
    comparison.of_forms("", ComparedForm::of(before), ComparedForm::of(after), "");
    comparison.out
}

struct FormComparison {
    shows_secrets: bool,
    out: Vec<FieldChange>,
}

impl FormComparison {
    fn shown<'a>(&self, value: &'a Value) -> ShownValue<'a> {
        ShownValue::root(value, self.shows_secrets)
    }

    fn of_forms(&mut self, path: &str, before: ComparedForm<'_>, after: ComparedForm<'_>, field: &str) {
        match (before, after) {
            (ComparedForm::Object(before, of_before), ComparedForm::Object(after, of_after)) => {
                self.of_objects(path, (before, of_before), (after, of_after));
            }
            (ComparedForm::List(before), ComparedForm::List(after)) => self.of_lists(path, &before, &after, field),
            (before, after) => self.of_values(path, &before.into_value(), &after.into_value(), field),
        }
    }

    fn of_values(&mut self, path: &str, before: &Value, after: &Value, field: &str) {
        let [before, after] = [before, after].map(|value| self.shown(value));
        of_values(path, before, after, field, &mut self.out);
    }

    fn of_objects(
        &mut self,
        path: &str,
        (before, mut of_before): (Value, Parts<'_>),
        (after, mut of_after): (Value, Parts<'_>),
    ) {
        let names_before = names(&before, &of_before);
        let mut all: Vec<String> = names_before.iter().map(|name| (*name).to_owned()).collect();
        let names_after = names(&after, &of_after);
        all.extend(names_after.difference(&names_before).map(|name| (*name).to_owned()));
        let [fields_before, fields_after] = [&before, &after].map(|value| self.shown(value).fields());
        for name in all.iter().filter(|name| !PASSED_OVER.contains(&name.as_str())) {
            let path = below(path, name);
            match (of_before.remove(name), of_after.remove(name)) {
                (Some(before), Some(after)) => {
                    self.of_forms(&path, ComparedForm::of(before), ComparedForm::of(after), name)
                }
                (None, None) => of_field(&path, name, &fields_before, &fields_after, &mut self.out),
                (before_part, after_part) => {
                    let value = |part: Option<parsed::ParsedValue<'_>>, plain: &Value| match part {
                        Some(part) => part.to_value(),
                        None => plain.get(name).cloned().unwrap_or_default(),
                    };
                    self.of_values(&path, &value(before_part, &before), &value(after_part, &after), name);
                }
            }
        }
    }

    fn of_lists(&mut self, path: &str, before: &List<'_>, after: &List<'_>, field: &str) {
        let identity = identity(field);
        let in_order = matches!(identity, Identity::Ordered(_) | Identity::Sequence);
        let alike = matches!(identity, Identity::Ordered(_));
        let keys =
            |list: &List<'_>| -> Vec<String> { list.iter().map(|e| ComparedForm::of(e).key(identity)).collect() };
        for step in align(&keys(before), &keys(after), in_order, alike) {
            let (b, a, position) = step.positions();
            let one = b.and_then(|b| before.get(b)).map(ComparedForm::of);
            let other = a.and_then(|a| after.get(a)).map(ComparedForm::of);
            match (one, other) {
                (Some(one), Some(other)) => {
                    let is_moved = matches!(step, ListStep::Moved(..));
                    if let (ComparedForm::Plain(one), ComparedForm::Plain(other)) = (&one, &other)
                        && one == other
                        && !is_moved
                    {
                        continue;
                    }
                    let path = self.place(path, &other, position, identity);
                    if is_moved {
                        push(&path, ChangeKind::Moved, &mut self.out);
                    }
                    self.of_forms(&path, one, other, field);
                }
                (Some(gone), None) => {
                    let path = self.place(path, &gone, position, identity);
                    let told = self.shown(&gone.into_value()).compared();
                    push(&path, ChangeKind::Removed(told), &mut self.out);
                }
                (None, Some(new)) => {
                    let path = self.place(path, &new, position, identity);
                    let told = self.shown(&new.into_value()).compared();
                    push(&path, ChangeKind::Added(told), &mut self.out);
                }
                (None, None) => {}
            }
        }
    }

    /// Returns the path of an element of the list at `path`.
    fn place(&self, path: &str, element: &ComparedForm<'_>, position: usize, identity: Identity) -> String {
        match element {
            ComparedForm::Plain(value) | ComparedForm::Object(value, _) => {
                place(path, self.shown(value), position, identity)
            }
            // A list is never an element of another list.
            ComparedForm::List(_) => place(path, self.shown(&Value::Null), position, identity),
        }
    }
}

fn names<'a>(plain: &'a Value, parts: &'a Parts<'_>) -> BTreeSet<&'a str> {
    let plain = plain.as_object().into_iter().flat_map(Map::keys);
    plain.chain(parts.keys()).map(String::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::values;
    use xdsctl_channel::parsed::ParsedValue;

    /// The name of a virtual host and its routes.
    type Host = (String, Vec<String>);

    /// Reads virtual hosts, each with its routes: `HOST=ROUTE>TO,...;...`.
    fn hosts(text: &str) -> Vec<Host> {
        let host = |text: &str| {
            let (name, routes) = text.split_once('=').unwrap();
            (name.to_owned(), routes.split(',').map(str::to_owned).collect())
        };
        text.split(';').map(host).collect()
    }

    fn shown(hosts: &[Host]) -> ParsedValue<'_> {
        ParsedValue::Object(BTreeMap::from([
            ("token".to_owned(), ParsedValue::Plain(hosts.len().into())),
            ("virtual_hosts".to_owned(), list(hosts, host)),
        ]))
    }

    fn list<'r, T>(of: &'r [T], make: impl Fn(usize, &'r T) -> ParsedValue<'r> + 'r) -> ParsedValue<'r> {
        let of = of.iter().enumerate().collect();
        ParsedValue::List(List::new(of, move |(index, one)| make(*index, *one)))
    }

    fn host(index: usize, host: &Host) -> ParsedValue<'_> {
        ParsedValue::Object(BTreeMap::from([
            ("index".to_owned(), ParsedValue::Plain(index.into())),
            ("name".to_owned(), ParsedValue::Plain(host.0.as_str().into())),
            ("routes".to_owned(), list(&host.1, |index, text| route(index, text))),
        ]))
    }

    fn route(index: usize, text: &str) -> ParsedValue<'_> {
        let (prefix, to) = text.split_once('>').unwrap();
        ParsedValue::Plain(serde_json::json!({"index": index, "match": {"prefix": prefix}, "to": to, "password": to}))
    }

    #[test]
    fn what_is_taken_apart_differs_as_the_whole_does() {
        let texts = [
            "a=/x>1,/y>2;b=/>3",
            "a=/y>2,/x>1;b=/>3",
            "b=/>3;a=/x>1,/y>2",
            "a=/x>1;c=/>3",
            "a=/x>2,/z>2;b=/>4",
            "c=/>1",
        ];
        let mut changed = 0;
        for one in texts {
            for other in texts {
                for shows_secrets in [false, true] {
                    let (before, after) = (hosts(one), hosts(other));
                    let values = [&before, &after].map(|hosts| shown(hosts).to_value());
                    let whole = values::compare(&values[0], &values[1], shows_secrets);
                    let apart = compare(shown(&before), shown(&after), shows_secrets);
                    assert_eq!(apart, whole, "{one} {other}");
                    changed += whole.len();
                }
            }
        }
        assert!(changed > 100, "{changed}");
    }

    #[test]
    fn what_is_too_deep_for_text_is_compared_too() {
        let deep = |leaf: &str| (0..300).fold(Value::from(leaf), |value, _| serde_json::json!({"a": value}));
        let compare = |one, other| compare(ParsedValue::Plain(deep(one)), ParsedValue::Plain(deep(other)), false);
        let changes = compare("x", "y");
        assert_eq!(changes, values::compare(&deep("x"), &deep("y"), false));
        assert_eq!(changes.len(), 1);
        assert_eq!(compare("x", "x"), []);
    }
}
