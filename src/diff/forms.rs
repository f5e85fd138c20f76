//! What differs between what the client keeps of two large resources, without a tree of values for each.
//!
//! A tree of the parsed form of a route table takes a hundred times the bytes of its text. So the elements of long lists are kept as
//! JSON text, with what each is known by; those that are not the same are read again, two at a time, and compared as
//! [`values`](super::values). Secrets are masked element by element, as they are where a parsed form is printed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::lists::{Step, align};
use super::values::{
    ChangeKind, FieldChange, Identity, PASSED_OVER, Shown, identity, key, of_values, place, push, tidy,
};
use crate::parsed;
use crate::secret;

/// Levels of a value that is kept as text: one that is deeper cannot be read again.
const DEPTH_OF_TEXT: usize = 100;

/// A parsed form, or a part of it.
#[derive(Debug)]
pub(super) enum Form {
    /// A value as text.
    Text(Box<str>),
    /// A value that is too deep for that.
    Deep(Value),
    /// An object: its plain fields as one, and those with lists that are not made as a whole.
    Object(Box<Form>, BTreeMap<String, Form>),
    /// A list.
    List(Elements),
}

/// The elements of a list, and what each is known by.
#[derive(Debug, Default)]
pub(super) struct Elements {
    forms: Vec<Form>,
    keys: Vec<String>,
}

impl Form {
    /// Takes a parsed form apart, which stands in `field`.
    pub fn of(shown: parsed::Shown<'_>, field: &str) -> Form {
        match shown {
            parsed::Shown::Plain(value) => Form::plain(value),
            parsed::Shown::Object(fields) => {
                let mut plain = Map::new();
                let mut parts = BTreeMap::new();
                for (name, part) in fields {
                    match part {
                        parsed::Shown::Plain(value) => _ = plain.insert(name, value),
                        part => {
                            let form = Form::of(part, &name);
                            parts.insert(name, form);
                        }
                    }
                }
                let plain = Form::plain(Value::Object(plain));
                match parts.is_empty() {
                    true => plain,
                    false => Form::Object(Box::new(plain), parts),
                }
            }
            parsed::Shown::List(make) => {
                let identity = identity(field);
                let mut elements = Elements::default();
                for element in make() {
                    let form = Form::of(element, field);
                    elements.keys.push(form.key(identity));
                    elements.forms.push(form);
                }
                Form::List(elements)
            }
        }
    }

    fn plain(value: Value) -> Form {
        match is_shallow(&value, DEPTH_OF_TEXT) {
            true => Form::Text(value.to_string().into()),
            false => Form::Deep(value),
        }
    }

    /// The whole as a value.
    fn to_value(&self) -> Value {
        match self {
            Form::Text(text) => serde_json::from_str(text).unwrap_or_default(),
            Form::Deep(value) => value.clone(),
            Form::Object(plain, parts) => {
                let mut value = plain.to_value();
                if let Value::Object(fields) = &mut value {
                    fields.extend(parts.iter().map(|(name, part)| (name.clone(), part.to_value())));
                }
                value
            }
            Form::List(elements) => elements.forms.iter().map(Form::to_value).collect(),
        }
    }

    /// The plain fields of an object; any other value as it is.
    fn to_plain(&self) -> Value {
        match self {
            Form::Object(plain, _) => plain.to_value(),
            form => form.to_value(),
        }
    }

    /// What it is known by as an element of a list.
    fn key(&self, identity: Identity) -> String {
        match (identity, self) {
            (Identity::Named(fields) | Identity::Ordered(fields), Form::Object(_, parts))
                if !fields.iter().any(|field| parts.contains_key(*field)) =>
            {
                key(&self.to_plain(), identity)
            }
            _ => key(&self.to_value(), identity),
        }
    }
}

fn is_shallow(value: &Value, levels: usize) -> bool {
    let Some(below) = levels.checked_sub(1) else {
        return false;
    };
    match value {
        Value::Array(list) => list.iter().all(|item| is_shallow(item, below)),
        Value::Object(fields) => fields.values().all(|item| is_shallow(item, below)),
        _ => true,
    }
}

/// What differs between two forms; the values of the answer are masked unless `shows_secrets`.
pub(super) fn compare(before: &Form, after: &Form, shows_secrets: bool) -> Vec<FieldChange> {
    let mut comparison = Comparison {
        shows_secrets,
        out: Vec::new(),
    };
    comparison.of_forms("", before, after, "");
    comparison.out
}

struct Comparison {
    shows_secrets: bool,
    out: Vec<FieldChange>,
}

impl Comparison {
    /// The value as it may be shown.
    fn masked(&self, value: &Value) -> Value {
        let mut masked = value.clone();
        if !self.shows_secrets {
            secret::redact(&mut masked);
        }
        masked
    }

    fn of_forms(&mut self, path: &str, before: &Form, after: &Form, field: &str) {
        match (before, after) {
            (Form::Text(before), Form::Text(after)) if before == after => {}
            (Form::Object(b, of_before), Form::Object(a, of_after)) => {
                self.of_objects(path, (&b.to_value(), of_before), (&a.to_value(), of_after));
            }
            (Form::List(before), Form::List(after)) => self.of_lists(path, before, after, field),
            _ => self.of_values(path, &before.to_value(), &after.to_value(), field),
        }
    }

    fn of_values(&mut self, path: &str, before: &Value, after: &Value, field: &str) {
        let masked = [before, after].map(|value| self.masked(value));
        let [shown_before, shown_after] = &masked;
        let before = Shown {
            value: before,
            shown: shown_before,
        };
        let after = Shown {
            value: after,
            shown: shown_after,
        };
        of_values(path, before, after, field, &mut self.out);
    }

    fn of_objects(&mut self, path: &str, (b, of_before): Fields<'_>, (a, of_after): Fields<'_>) {
        let masked = [b, a].map(|value| self.masked(value));
        let [before, after] = [(b, &masked[0]), (a, &masked[1])].map(|(value, shown)| Shown { value, shown });
        let names_before = names(b, of_before);
        let names_after = names(a, of_after);
        let new = names_after.difference(&names_before);
        let all = names_before.iter().chain(new).copied();
        for name in all.filter(|name| !PASSED_OVER.contains(name)) {
            let path = match path {
                "" => name.to_owned(),
                path => format!("{path}.{name}"),
            };
            match (of_before.get(name), of_after.get(name)) {
                (Some(before), Some(after)) => self.of_forms(&path, before, after, name),
                (None, None) => match (before.field(name), after.field(name)) {
                    (Some(before), Some(after)) => of_values(&path, before, after, name, &mut self.out),
                    (Some(before), None) => push(&path, ChangeKind::Removed(tidy(before.shown)), &mut self.out),
                    (None, Some(after)) => push(&path, ChangeKind::Added(tidy(after.shown)), &mut self.out),
                    (None, None) => {}
                },
                (before_part, after_part) => {
                    let value = |part: Option<&Form>, plain: &Value| match part {
                        Some(part) => part.to_value(),
                        None => plain.get(name).cloned().unwrap_or_default(),
                    };
                    self.of_values(&path, &value(before_part, b), &value(after_part, a), name);
                }
            }
        }
    }

    fn of_lists(&mut self, path: &str, before: &Elements, after: &Elements, field: &str) {
        let identity = identity(field);
        let in_order = matches!(identity, Identity::Ordered(_) | Identity::Sequence);
        let alike = matches!(identity, Identity::Ordered(_));
        for step in align(&before.keys, &after.keys, in_order, alike) {
            let (form, position) = match step {
                Step::Removed(position) => (before.forms.get(position), position),
                Step::Same(_, position) | Step::Moved(_, position) | Step::Added(position) => {
                    (after.forms.get(position), position)
                }
            };
            let Some(form) = form else { continue };
            let one = match step {
                Step::Same(b, _) | Step::Moved(b, _) => before.forms.get(b),
                Step::Removed(_) | Step::Added(_) => None,
            };
            if let (Step::Same(..), Some(Form::Text(one)), Form::Text(form)) = (step, one, form)
                && one == form
            {
                continue;
            }
            let value = form.to_plain();
            let shown = self.masked(&value);
            let element = Shown {
                value: &value,
                shown: &shown,
            };
            let path = place(path, element, position, identity);
            match step {
                Step::Removed(_) | Step::Added(_) => {
                    let whole = match form {
                        Form::Object(..) => tidy(&self.masked(&form.to_value())),
                        _ => tidy(&shown),
                    };
                    let kind = match step {
                        Step::Removed(_) => ChangeKind::Removed(whole),
                        _ => ChangeKind::Added(whole),
                    };
                    push(&path, kind, &mut self.out);
                    continue;
                }
                Step::Moved(..) => push(&path, ChangeKind::Moved, &mut self.out),
                Step::Same(..) => {}
            }
            match (one, form) {
                (Some(one @ (Form::Text(_) | Form::Deep(_))), Form::Text(_) | Form::Deep(_)) => {
                    let one = one.to_value();
                    let masked = self.masked(&one);
                    let one = Shown {
                        value: &one,
                        shown: &masked,
                    };
                    of_values(&path, one, element, field, &mut self.out);
                }
                (Some(one), form) => self.of_forms(&path, one, form, field),
                (None, _) => {}
            }
        }
    }
}

/// The plain fields of an object, and the others.
type Fields<'a> = (&'a Value, &'a BTreeMap<String, Form>);

fn names<'a>(plain: &'a Value, parts: &'a BTreeMap<String, Form>) -> BTreeSet<&'a str> {
    let plain = plain.as_object().into_iter().flat_map(Map::keys);
    plain.chain(parts.keys()).map(String::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::values;
    use crate::parsed::Shown;

    /// A resource with hosts, each with routes: `HOST=ROUTE>TO,...;...`.
    fn shown(text: &str) -> Shown<'_> {
        let route = |(index, text): (usize, &str)| {
            let (prefix, to) = text.split_once('>').unwrap();
            Shown::Plain(serde_json::json!({"index": index, "match": {"prefix": prefix}, "to": to, "password": to}))
        };
        let host = move |(index, text): (usize, &'_ str)| {
            let (name, routes) = text.split_once('=').unwrap();
            let routes = routes.to_owned();
            Shown::Object(BTreeMap::from([
                ("index".to_owned(), Shown::Plain(index.into())),
                ("name".to_owned(), Shown::Plain(name.into())),
                (
                    "routes".to_owned(),
                    Shown::List(Box::new(move || {
                        let routes: Vec<_> = routes.split(',').enumerate().map(route).collect();
                        Box::new(routes.into_iter())
                    })),
                ),
            ]))
        };
        Shown::Object(BTreeMap::from([
            ("token".to_owned(), Shown::Plain(text.len().into())),
            (
                "virtual_hosts".to_owned(),
                Shown::List(Box::new(move || Box::new(text.split(';').enumerate().map(host)))),
            ),
        ]))
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
                    let whole = values::compare(&shown(one).to_value(), &shown(other).to_value(), shows_secrets);
                    let apart = compare(&Form::of(shown(one), ""), &Form::of(shown(other), ""), shows_secrets);
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
        let form = |leaf| Form::of(Shown::Plain(deep(leaf)), "");
        let changes = compare(&form("x"), &form("y"), false);
        assert_eq!(changes, values::compare(&deep("x"), &deep("y"), false));
        assert_eq!(changes.len(), 1);
        assert_eq!(compare(&form("x"), &form("x"), false), []);
    }
}
