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

/// Makes the elements of a list, each time anew.
pub type List<'r> = Box<dyn Fn() -> Elements<'r> + 'r>;

/// The elements of a list.
pub type Elements<'r> = Box<dyn Iterator<Item = Shown<'r>> + 'r>;

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
            Shown::List(list) => Shown::List(Box::new(move || Box::new(list().map(Shown::redacted)))),
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
            Shown::List(list) => list().map(|element| element.to_value()).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown<'r>(names: &'r [&'r str]) -> Shown<'r> {
        let element = |name: &&str| Shown::Plain(json!({"name": name, "value": "v"}));
        Shown::Object(BTreeMap::from([
            ("a".to_owned(), Shown::Plain(json!("b"))),
            (
                "list".to_owned(),
                Shown::List(Box::new(move || Box::new(names.iter().map(element)))),
            ),
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
