//! What a client keeps, as values. An object makes a field when it is asked for.

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

use super::value::{Text, Value, View};
use crate::schema::SCHEMA;
use xdsctl_channel::parsed::{FieldValue, Fields};
use xdsctl_model::resource::Millis;

impl<'a> View<'a> for FieldValue<'a> {
    fn get(&self, field: &str) -> Value<'a> {
        match self.field(field) {
            None => Value::Null,
            // Only an object can need more than its own fields.
            Some(value @ (FieldValue::Object(_) | FieldValue::Named(_) | FieldValue::Map(_))) => match field {
                "config" => filter_config(value),
                "metadata" | "regex_rewrite" => of_field(value, true),
                _ => of_field(value, false),
            },
            Some(value) => of_field(value, false),
        }
    }
}

impl<'a> From<FieldValue<'a>> for Value<'a> {
    fn from(value: FieldValue<'a>) -> Value<'a> {
        of_field(value, false)
    }
}

/// Returns the value of a field. With `is_whole`, the objects in it have all their fields.
fn of_field(value: FieldValue<'_>, is_whole: bool) -> Value<'_> {
    match value {
        FieldValue::Null => Value::Null,
        FieldValue::Bool(flag) => Value::Bool(flag),
        FieldValue::Int(number) => Value::Int(number),
        FieldValue::Text(Cow::Borrowed(text)) => Value::Text(Text::Borrowed(text)),
        FieldValue::Text(Cow::Owned(text)) => Value::text(text),
        FieldValue::Time(time) => duration(time),
        FieldValue::Address(of) => address(of),
        FieldValue::Json(json) => Value::of_json(json),
        FieldValue::List(list) | FieldValue::Objects(list) => {
            Value::list(list.into_iter().map(|one| of_field(one, is_whole)))
        }
        FieldValue::Map(entries) => map(entries, is_whole),
        object if is_whole => map(object.all(), true),
        FieldValue::Object(of) => Value::Record(of),
        FieldValue::Named(_) => Value::object(value),
    }
}

fn map<'a>(entries: impl IntoIterator<Item = (&'a str, FieldValue<'a>)>, is_whole: bool) -> Value<'a> {
    let entries = entries.into_iter();
    let entries = entries.map(|(name, value)| (Text::Borrowed(name), of_field(value, is_whole)));
    Value::Map(Rc::new(entries.collect()))
}

/// Returns the config of an HTTP filter, without fields that the schema does not have.
pub(crate) fn filter_config(config: FieldValue<'_>) -> Value<'_> {
    if let FieldValue::Null = config {
        return Value::Null;
    }
    let is_known = |name: &str| SCHEMA.fields("filter_config").any(|(known, _)| known == name);
    map(config.all().into_iter().filter(|(name, _)| is_known(name)), true)
}

/// Returns the address in a field, which need not be printed to be compared with a range.
pub(super) fn ip_address(of: &dyn Fields, field: &str) -> Option<IpAddr> {
    match FieldValue::Object(of).field(field)? {
        FieldValue::Address(address) => Some(address.ip()),
        _ => None,
    }
}

pub(crate) const fn duration<'a>(millis: Millis) -> Value<'a> {
    Value::Duration(millis.0 as i128 * 1_000_000)
}

pub(crate) fn address<'a>(of: SocketAddr) -> Value<'a> {
    Value::text(of.to_string())
}

#[cfg(test)]
mod tests {
    use super::{Millis, Value, address};
    use crate::view::filter_config;
    use xdsctl_model::resource::filter::{Fault, FaultHeaders, FilterConfig};

    #[test]
    fn faults_are_what_their_printed_form_says() {
        let whole = Fault {
            abort_code: 14,
            abort_from_header: false,
            abort_numerator: 5,
            abort_denominator: 100,
            delay: Millis(1_500),
            delay_from_header: true,
            delay_numerator: 7,
            delay_denominator: 10_000,
            max_active_faults: 9,
            aborts_with_ok: false,
            headers: FaultHeaders::Core,
        };
        let without_abort = Fault {
            abort_code: 0,
            ..whole.clone()
        };
        let without_delay = Fault {
            delay: Millis(0),
            delay_from_header: false,
            ..whole.clone()
        };
        for fault in [whole, without_abort, without_delay] {
            let config = FilterConfig::Fault(fault);
            let [direct, printed] = [false, true].map(|redacts| filter_config(&config, redacts));
            assert_eq!(direct.to_string(), printed.to_string());
            let kind = |of: &Value<'_>| of.field("delay").and_then(|of| Some(of.field("fixed_delay")?.kind()));
            assert_eq!(kind(&direct), kind(&printed));
        }
    }

    #[test]
    fn an_address_is_printed_as_ever() {
        for text in [
            "0.0.0.0:0",
            "255.255.255.255:65535",
            "10.200.3.40:8080",
            "[fe80::1%3]:443",
        ] {
            assert_eq!(address(text.parse().unwrap()).to_string(), text);
        }
    }
}
