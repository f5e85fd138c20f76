//! Lists the fields of what a client keeps, for those who want all of them or only one.
//!
//! Each value names its fields and their values to a [`Form`]. Nothing is made for a field that
//! nobody has asked for: a dump has hundreds of thousands of endpoints.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::rc::Rc;

use serde_json::{Map, Value};

use super::parsed_value::{List, ParsedValue};
use xdsctl_model::resource::Millis;

/// The key of the list of default fields. Every object of a parsed form has it, and no other JSON
/// inside has it.
pub(super) const DEFAULTS: &str = "defaults";

/// A value that has fields.
pub trait Fields {
    /// Names the fields to `form`, in the order of the list `defaults`.
    fn fields<'a>(&'a self, form: &mut Form<'a, '_>);
}

/// Names the fields of an object that the model has no type for.
pub type NameFields<'a> = Rc<dyn Fn(&mut Form<'a, '_>) + 'a>;

/// The value of a field.
#[derive(Clone)]
pub enum FieldValue<'a> {
    /// No value.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A text.
    Text(Cow<'a, str>),
    /// A duration.
    Time(Millis),
    /// An IP address and a port.
    Address(SocketAddr),
    /// JSON as the resource has it.
    Json(&'a Value),
    /// A list of values.
    List(Vec<FieldValue<'a>>),
    /// A list of objects, each of which is made only when it is printed.
    Objects(Vec<FieldValue<'a>>),
    /// Values under names that the resource chooses.
    Map(Vec<(&'a str, FieldValue<'a>)>),
    /// An object.
    Object(&'a dyn Fields),
    /// An object that the model has no type for.
    Named(NameFields<'a>),
}

/// The fields that are wanted.
#[derive(Clone, Copy)]
enum WantedFields<'w> {
    One(&'w str),
    Printed,
    All,
}

/// Collects the fields that are wanted, and the names of those that hold a default.
pub struct Form<'a, 'w> {
    wanted: WantedFields<'w>,
    /// The value of the one field that is wanted.
    found: Option<FieldValue<'a>>,
    fields: Vec<(&'a str, FieldValue<'a>)>,
    defaults: Vec<&'a str>,
}

impl<'a, 'w> Form<'a, 'w> {
    const fn new(wanted: WantedFields<'w>) -> Form<'a, 'w> {
        Form {
            wanted,
            found: None,
            fields: Vec::new(),
            defaults: Vec::new(),
        }
    }

    fn wants(&self, name: &str) -> bool {
        match self.wanted {
            WantedFields::One(wanted) => self.found.is_none() && wanted == name,
            WantedFields::Printed | WantedFields::All => true,
        }
    }

    /// Adds a field if it is wanted. `make` returns its value, and whether that is the default.
    fn take(&mut self, name: &'a str, make: impl FnOnce() -> (FieldValue<'a>, bool)) -> &mut Self {
        if !self.wants(name) {
            return self;
        }
        let (value, is_default) = make();
        if let WantedFields::One(_) = self.wanted {
            self.found = Some(value);
            return self;
        }
        self.fields.push((name, value));
        if is_default {
            self.defaults.push(name);
        }
        self
    }

    /// Adds a field that has no default.
    pub(super) fn put(&mut self, name: &'a str, value: impl Into<FieldValue<'a>>) -> &mut Self {
        self.mark(name, value, false)
    }

    /// Adds a field, and says whether it holds the default.
    pub(super) fn mark(&mut self, name: &'a str, value: impl Into<FieldValue<'a>>, is_default: bool) -> &mut Self {
        self.take(name, || (value.into(), is_default))
    }

    /// Adds a field that has a default.
    pub(super) fn set<T: PartialEq + Into<FieldValue<'a>>>(
        &mut self,
        name: &'a str,
        value: T,
        default: T,
    ) -> &mut Self {
        self.take(name, || {
            let is_default = value == default;
            (value.into(), is_default)
        })
    }

    /// Adds a field that may be missing; null is the default.
    pub(super) fn optional(&mut self, name: &'a str, value: Option<impl Into<FieldValue<'a>>>) -> &mut Self {
        match value {
            Some(value) => self.put(name, value),
            None => self.mark(name, FieldValue::Null, true),
        }
    }

    /// Adds a list that has no default.
    pub(super) fn items<V: Into<FieldValue<'a>>>(
        &mut self,
        name: &'a str,
        values: impl IntoIterator<Item = V>,
    ) -> &mut Self {
        self.take(name, || (FieldValue::list(values), false))
    }

    /// Adds a list that is empty by default.
    pub(super) fn list<V: Into<FieldValue<'a>>>(
        &mut self,
        name: &'a str,
        values: impl IntoIterator<Item = V>,
    ) -> &mut Self {
        self.take(name, || {
            let values = all(values);
            let is_default = values.is_empty();
            (FieldValue::List(values), is_default)
        })
    }

    /// Adds a map that is empty by default.
    pub(super) fn map<V: Into<FieldValue<'a>>>(
        &mut self,
        name: &'a str,
        entries: impl IntoIterator<Item = (&'a String, V)>,
    ) -> &mut Self {
        self.take(name, || {
            let entries = entries.into_iter();
            let entries: Vec<_> = entries.map(|(key, value)| (key.as_str(), value.into())).collect();
            let is_default = entries.is_empty();
            (FieldValue::Map(entries), is_default)
        })
    }

    /// Adds a long list of objects.
    pub(super) fn objects<V: Into<FieldValue<'a>>>(
        &mut self,
        name: &'a str,
        values: impl IntoIterator<Item = V>,
        is_default_when_empty: bool,
    ) -> &mut Self {
        self.take(name, || {
            let values = all(values);
            let is_default = is_default_when_empty && values.is_empty();
            (FieldValue::Objects(values), is_default)
        })
    }

    /// Adds an object that the model has no type for.
    pub(super) fn object(&mut self, name: &'a str, fields: impl Fn(&mut Form<'a, '_>) + 'a) -> &mut Self {
        self.take(name, || (FieldValue::named(fields), false))
    }

    /// Adds a field that is not printed, because it follows from others or stands elsewhere.
    pub(super) fn unprinted<V: Into<FieldValue<'a>>>(&mut self, name: &'a str, value: impl FnOnce() -> V) -> &mut Self {
        match self.wanted {
            WantedFields::Printed => self,
            WantedFields::One(_) | WantedFields::All => self.take(name, || (value().into(), false)),
        }
    }
}

/// The values of a list.
fn all<'a, V: Into<FieldValue<'a>>>(values: impl IntoIterator<Item = V>) -> Vec<FieldValue<'a>> {
    values.into_iter().map(Into::into).collect()
}

impl<'a> FieldValue<'a> {
    /// Makes a list.
    pub(super) fn list<V: Into<FieldValue<'a>>>(values: impl IntoIterator<Item = V>) -> FieldValue<'a> {
        FieldValue::List(all(values))
    }

    /// Makes an object that the model has no type for.
    pub(super) fn named(fields: impl Fn(&mut Form<'a, '_>) + 'a) -> FieldValue<'a> {
        FieldValue::Named(Rc::new(fields))
    }

    /// Names the fields of an object. A value that is no object has none.
    fn name_fields(&self, form: &mut Form<'a, '_>) {
        match self {
            FieldValue::Object(of) => of.fields(form),
            FieldValue::Named(fields) => fields(form),
            _ => {}
        }
    }

    /// The value of an object's field, printed or not; `None` if there is no field of this name.
    pub fn field(&self, name: &str) -> Option<FieldValue<'a>> {
        let mut form = Form::new(WantedFields::One(name));
        self.name_fields(&mut form);
        form.found
    }

    /// All fields of an object, printed or not.
    pub fn all(&self) -> Vec<(&'a str, FieldValue<'a>)> {
        let mut form = Form::new(WantedFields::All);
        self.name_fields(&mut form);
        form.fields
    }

    /// The value with the fields that are printed.
    pub fn printed(self) -> ParsedValue<'a> {
        self.shown(WantedFields::Printed)
    }

    /// The value with all its fields, including those that are not printed.
    pub fn unabridged(self) -> ParsedValue<'a> {
        self.shown(WantedFields::All)
    }

    fn shown(self, wanted: WantedFields<'static>) -> ParsedValue<'a> {
        let whole = |value: FieldValue<'a>| value.shown(wanted).into_value();
        ParsedValue::Plain(match self {
            FieldValue::Null => Value::Null,
            FieldValue::Bool(flag) => flag.into(),
            FieldValue::Int(number) => number.into(),
            FieldValue::Text(text) => text.into(),
            FieldValue::Time(time) => time.to_string().into(),
            FieldValue::Address(address) => address.to_string().into(),
            FieldValue::Json(json) => json.clone(),
            FieldValue::List(list) => list.into_iter().map(whole).collect(),
            FieldValue::Objects(list) => {
                return ParsedValue::List(List::new(list, move |one| one.clone().shown(wanted)));
            }
            FieldValue::Map(entries) => {
                let entries = entries.into_iter();
                entries.map(|(name, value)| (name.to_owned(), whole(value))).collect()
            }
            FieldValue::Object(_) | FieldValue::Named(_) => return self.object(wanted),
        })
    }

    /// Makes an object, with the list `defaults` of the fields that hold a default.
    fn object(&self, wanted: WantedFields<'static>) -> ParsedValue<'a> {
        let mut form = Form::new(wanted);
        self.name_fields(&mut form);
        let (mut plain, mut parts) = (Map::new(), BTreeMap::new());
        for (name, value) in form.fields {
            match value.shown(wanted) {
                ParsedValue::Plain(value) => _ = plain.insert(name.to_owned(), value),
                part => _ = parts.insert(name.to_owned(), part),
            }
        }
        plain.insert(DEFAULTS.to_owned(), form.defaults.into());
        if parts.is_empty() {
            return ParsedValue::Plain(plain.into());
        }
        parts.extend(plain.into_iter().map(|(name, value)| (name, ParsedValue::Plain(value))));
        ParsedValue::Object(parts)
    }
}

macro_rules! values {
    ($($from:ty => $kind:ident)*) => {$(
        impl<'a> From<$from> for FieldValue<'a> {
            fn from(value: $from) -> Self {
                FieldValue::$kind(value.into())
            }
        }
    )*};
}

values! {
    bool => Bool
    u32 => Int
    i64 => Int
    &'a str => Text
    &'a String => Text
    String => Text
    Millis => Time
    SocketAddr => Address
    &'a Value => Json
}

impl From<usize> for FieldValue<'_> {
    fn from(number: usize) -> Self {
        FieldValue::Int(number.try_into().unwrap_or(i64::MAX))
    }
}

impl<'a, T: Fields> From<&'a T> for FieldValue<'a> {
    fn from(of: &'a T) -> Self {
        FieldValue::Object(of)
    }
}
