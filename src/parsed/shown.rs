//! A parsed form in the making: its long lists are made one element at a time, while they are printed.
//!
//! A resource of 10 MB has a parsed form of 70 MB, which as a tree of JSON values would take ten times as much.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::secret;

/// The parsed form of a resource, or a part of it; as JSON it is what [`to_value`](Shown::to_value) makes of it.
pub enum Shown<'r> {
    /// What is made already.
    Plain(Value),
    /// An object with parts that are not.
    Object(BTreeMap<String, Shown<'r>>),
    /// A list of objects, none of which is kept.
    List(List<'r>),
}

/// A list whose elements are made one at a time, each time anew.
pub struct List<'r> {
    len: usize,
    make: Box<dyn Fn(usize) -> Option<Shown<'r>> + 'r>,
}

impl<'r> List<'r> {
    /// The list of what `make` makes of each element and its position.
    pub fn new<T: 'r>(
        elements: impl IntoIterator<Item = &'r T>,
        make: impl Fn(usize, &'r T) -> Shown<'r> + 'r,
    ) -> List<'r> {
        let elements: Vec<&'r T> = elements.into_iter().collect();
        List {
            len: elements.len(),
            make: Box::new(move |position| Some(make(position, elements.get(position)?))),
        }
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Says whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The element at a position.
    pub fn get(&self, position: usize) -> Option<Shown<'r>> {
        (self.make)(position)
    }

    /// The elements in order.
    pub fn iter(&self) -> impl Iterator<Item = Shown<'r>> {
        (0..self.len).filter_map(|position| self.get(position))
    }

    fn redacted(self) -> List<'r> {
        List {
            len: self.len,
            make: Box::new(move |position| self.get(position).map(Shown::redacted)),
        }
    }
}

impl<'r> Shown<'r> {
    /// The same with [`REDACTED`](secret::REDACTED) for what may be a secret.
    ///
    /// Each object is looked at by itself: none of those with a list of objects holds a secret by its name.
    pub fn redacted(self) -> Shown<'r> {
        match self {
            Shown::Plain(mut value) => {
                secret::redact(&mut value);
                Shown::Plain(value)
            }
            Shown::Object(fields) => {
                let mut plain = Map::new();
                let mut redacted = BTreeMap::new();
                for (name, part) in fields {
                    match part {
                        Shown::Plain(value) => _ = plain.insert(name, value),
                        part => _ = redacted.insert(name, part.redacted()),
                    }
                }
                let mut plain = Value::Object(plain);
                secret::redact(&mut plain);
                if let Value::Object(plain) = plain {
                    redacted.extend(plain.into_iter().map(|(name, value)| (name, Shown::Plain(value))));
                }
                Shown::Object(redacted)
            }
            Shown::List(list) => Shown::List(list.redacted()),
        }
    }

    /// The whole as JSON.
    pub fn to_value(&self) -> Value {
        match self {
            Shown::Plain(value) => value.clone(),
            Shown::Object(fields) => fields
                .iter()
                .map(|(name, part)| (name.clone(), part.to_value()))
                .collect(),
            Shown::List(list) => list.iter().map(|element| element.to_value()).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown<'r>(names: &'r [&'r str]) -> Shown<'r> {
        let element = |_, name: &&str| Shown::Plain(json!({"name": name, "value": "v"}));
        Shown::Object(BTreeMap::from([
            ("a".to_owned(), Shown::Plain(json!("b"))),
            ("list".to_owned(), Shown::List(List::new(names, element))),
            ("password".to_owned(), Shown::Plain(json!("p"))),
        ]))
    }

    #[test]
    fn what_is_made_one_by_one_is_there() {
        let shown = shown(&["x", "y"]);
        let expected =
            json!({"a": "b", "list": [{"name": "x", "value": "v"}, {"name": "y", "value": "v"}], "password": "p"});
        assert_eq!(shown.to_value(), expected);
    }

    #[test]
    fn secrets_are_redacted_in_each_part() {
        let value = shown(&["x", "api_key"]).redacted().to_value();
        let mut whole = shown(&["x", "api_key"]).to_value();
        secret::redact(&mut whole);
        assert_eq!(value, whole);
        assert_eq!(value["list"][1]["value"], "[redacted]");
        assert_eq!(value["password"], "[redacted]");
    }
}
