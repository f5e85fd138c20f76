//! A parsed form whose long lists are made one element at a time, while they are printed.
//!
//! A resource of 10 MB has a parsed form of 70 MB. As a tree of JSON values that would take ten
//! times as much memory.

use std::collections::BTreeMap;

use serde_json::Value;

use xdsctl_document::source::secrets::SecretPlace;

/// The parsed form of a resource, or a part of it. [`to_value`](ParsedValue::to_value) makes its
/// JSON.
pub enum ParsedValue<'r> {
    /// JSON that is made already.
    Plain(Value),
    /// An object with parts that are not made yet.
    Object(BTreeMap<String, ParsedValue<'r>>),
    /// A list of objects that are not kept.
    List(List<'r>),
}

/// A list whose elements are made one at a time, anew for each access.
pub struct List<'r> {
    len: usize,
    make: Box<dyn Fn(usize) -> Option<ParsedValue<'r>> + 'r>,
}

impl<'r> List<'r> {
    /// Makes a list in which `make` makes each element.
    pub fn new<T: 'r>(elements: Vec<T>, make: impl Fn(&T) -> ParsedValue<'r> + 'r) -> List<'r> {
        List {
            len: elements.len(),
            make: Box::new(move |position| elements.get(position).map(&make)),
        }
    }

    /// How many elements the list has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Says whether the list has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The element at a position.
    pub fn get(&self, position: usize) -> Option<ParsedValue<'r>> {
        (self.make)(position)
    }

    /// The elements in order.
    pub fn iter(&self) -> impl Iterator<Item = ParsedValue<'r>> {
        (0..self.len).filter_map(|position| self.get(position))
    }

    fn redacted(self, place: SecretPlace) -> List<'r> {
        List {
            len: self.len,
            make: Box::new(move |position| Some(self.get(position)?.redacted_at(place))),
        }
    }
}

impl<'r> ParsedValue<'r> {
    /// Replaces what may not be printed by [`REDACTED`](xdsctl_document::secret::REDACTED).
    pub fn redacted(self) -> ParsedValue<'r> {
        self.redacted_at(SecretPlace::PARSED)
    }

    /// Redacts each object by itself. This is safe because no list of objects is in a field named
    /// after a credential.
    fn redacted_at(self, place: SecretPlace) -> ParsedValue<'r> {
        match self {
            ParsedValue::Plain(mut value) => {
                place.redact(&mut value);
                ParsedValue::Plain(value)
            }
            ParsedValue::Object(fields) => {
                let of_field = |(name, part): (String, ParsedValue<'r>)| {
                    let part = part.redacted_at(place.field(&name));
                    (name, part)
                };
                ParsedValue::Object(fields.into_iter().map(of_field).collect())
            }
            ParsedValue::List(list) => ParsedValue::List(list.redacted(place)),
        }
    }

    /// Makes the JSON of the whole, and consumes it.
    pub fn into_value(self) -> Value {
        match self {
            ParsedValue::Plain(value) => value,
            part => part.to_value(),
        }
    }

    /// Makes the JSON of the whole.
    pub fn to_value(&self) -> Value {
        match self {
            ParsedValue::Plain(value) => value.clone(),
            ParsedValue::Object(fields) => fields
                .iter()
                .map(|(name, part)| (name.clone(), part.to_value()))
                .collect(),
            ParsedValue::List(list) => list.iter().map(|element| element.to_value()).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use xdsctl_document::secret::REDACTED;

    fn shown<'r>(names: &'r [&'r str]) -> ParsedValue<'r> {
        let element = |name: &&str| ParsedValue::Plain(json!({"name": name, "value": "v"}));
        ParsedValue::Object(BTreeMap::from([
            ("a".to_owned(), ParsedValue::Plain(json!("b"))),
            ("list".to_owned(), ParsedValue::List(List::new(names.to_vec(), element))),
            ("password".to_owned(), ParsedValue::Plain(json!("p"))),
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
    fn what_is_hidden_is_redacted_in_each_part() {
        let shown = || {
            let metadata = json!({"m": {"type": "Struct", "value": {"user": "u"}}});
            let mut whole = BTreeMap::from([("metadata".to_owned(), ParsedValue::Plain(metadata))]);
            whole.insert("of".to_owned(), shown(&["x", "y"]));
            ParsedValue::Object(whole)
        };
        let value = shown().redacted().to_value();
        let mut whole = shown().to_value();
        SecretPlace::PARSED.redact(&mut whole);
        assert_eq!(value, whole);
        assert_eq!(value["metadata"]["m"]["value"], REDACTED);
        assert_eq!(value["of"]["list"][1]["value"], "v");
    }
}
