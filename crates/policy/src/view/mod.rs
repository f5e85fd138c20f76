//! `parsed`: what a client keeps, with the fields that `--show parsed` has.
//!
//! Each object makes a field when it is asked for, from the value that the client keeps: a dump has
//! hundreds of thousands of endpoints. For a message, which may show no secret, the same is made of
//! the JSON of `--show parsed`, where secrets are masked. Tests hold the two against each other,
//! field by field.

mod cluster;
mod endpoints;
mod listener;
pub(crate) mod route;

use std::net::SocketAddr;
use std::rc::Rc;

use serde_json::Value as Json;

use crate::cel::{Record, Text, Value};
use crate::schema::{Kind, typed};
pub(crate) use cluster::lb_policies;
use xdsctl_channel::parsed::{self, ParsedValue};
use xdsctl_model::resource::endpoints::{Endpoint, Locality, LocalityName};
use xdsctl_model::resource::filter::{Fault, FilterConfig, HttpFilter};
use xdsctl_model::resource::listener::FilterChain;
use xdsctl_model::resource::route::{Route, RouteAction, VirtualHost};
use xdsctl_model::resource::{Cluster, Endpoints, Listener, Millis, RouteConfiguration};

/// A value and the name of its resource.
#[derive(Debug)]
pub(crate) struct Named<'a, T>(pub &'a str, pub &'a T);

/// A value with its number.
struct Numbered<'a, T: ?Sized>(usize, &'a T);

pub(crate) fn text(text: &str) -> Value<'_> {
    Value::Text(Text::Borrowed(text))
}

/// An address as it is printed: a dump has many, and most are of IPv4.
pub(crate) fn address<'a>(of: SocketAddr) -> Value<'a> {
    let SocketAddr::V4(v4) = of else {
        return Value::text(of.to_string());
    };
    let [a, b, c, d] = v4.ip().octets().map(u16::from);
    // From the end on: `255.255.255.255:65535` has 21 bytes.
    let mut bytes = [0; 21];
    let mut at = bytes.len();
    let mut put = |byte: u8| {
        at -= 1;
        bytes[at] = byte;
    };
    for (mut number, before) in [(v4.port(), b':'), (d, b'.'), (c, b'.'), (b, b'.'), (a, 0)] {
        loop {
            put(b'0' + (number % 10) as u8);
            number /= 10;
            if number == 0 {
                break;
            }
        }
        if before != 0 {
            put(before);
        }
    }
    Value::text(std::str::from_utf8(&bytes[at..]).unwrap_or_default())
}

pub(crate) fn optional<'a, T>(of: Option<T>, make: impl FnOnce(T) -> Value<'a>) -> Value<'a> {
    of.map_or(Value::Null, make)
}

pub(crate) const fn duration<'a>(millis: Millis) -> Value<'a> {
    Value::Duration(millis.0 as i128 * 1_000_000)
}

pub(crate) fn texts<'a, 't: 'a>(texts: impl IntoIterator<Item = &'t String>) -> Value<'a> {
    Value::list(texts.into_iter().map(|one| text(one)))
}

/// An object for each of some values.
fn objects<'a, T: Record + 'static>(all: impl IntoIterator<Item = &'a T>) -> Value<'a> {
    Value::list(all.into_iter().map(|one| object(one)))
}

fn object<T: Record + 'static>(of: &T) -> Value<'_> {
    Value::Record(of)
}

/// What the schema has of JSON.
pub(crate) fn of_json<'a>(json: &Json, kind: &'static str) -> Value<'a> {
    typed(json, &Kind::Object(kind))
}

/// The same of a parsed form, without what may not be printed.
fn redacted<'a>(shown: ParsedValue<'_>, kind: &'static str) -> Value<'a> {
    let mut json = shown.redacted().to_value();
    route::add_schedules(&mut json);
    name_routes(&mut json);
    of_json(&json, kind)
}

/// Gives routes that stand in a listener their name, which is not shown.
fn name_routes(json: &mut Json) {
    match json {
        Json::Array(list) => list.iter_mut().for_each(name_routes),
        Json::Object(fields) => {
            if let Some(Json::Object(routes)) = fields.get_mut("route_config") {
                routes.insert("name".to_owned(), "".into());
            }
            fields.values_mut().for_each(name_routes);
        }
        _ => {}
    }
}

/// The same value with a few fields more.
fn with<'a>(value: Value<'a>, fields: impl IntoIterator<Item = (&'a str, Value<'a>)>) -> Value<'a> {
    let Value::Map(map) = value else {
        return value;
    };
    let mut map = Rc::unwrap_or_clone(map);
    map.extend(fields.into_iter().map(|(name, value)| (Text::Borrowed(name), value)));
    Value::Map(map.into())
}

fn map<'a>(fields: impl IntoIterator<Item = (&'static str, Value<'a>)>) -> Value<'a> {
    let fields = fields.into_iter();
    Value::Map(Rc::new(
        fields.map(|(name, value)| (Text::Borrowed(name), value)).collect(),
    ))
}

/// The config of fault injection, which many routes have.
fn faults<'a>(kind: &'static str, of: &Fault) -> Value<'a> {
    let share = |numerator: u32, denominator: u32| ("percentage", Value::text(format!("{numerator}/{denominator}")));
    let abort = |of: &Fault| {
        map([
            ("grpc_status", Value::int(of.abort_code)),
            ("header_abort", Value::Bool(of.abort_from_header)),
            share(of.abort_numerator, of.abort_denominator),
        ])
    };
    let delay = |of: &Fault| {
        map([
            ("fixed_delay", duration(of.delay)),
            ("header_delay", Value::Bool(of.delay_from_header)),
            share(of.delay_numerator, of.delay_denominator),
        ])
    };
    map([
        ("type", text(kind)),
        ("abort", optional(of.has_abort().then_some(of), abort)),
        ("delay", optional(of.has_delay().then_some(of), delay)),
        ("max_active_faults", Value::int(of.max_active_faults)),
    ])
}

/// The config of an HTTP filter: few things have one, and few policies ask for it.
pub(crate) fn filter_config<'a>(config: &FilterConfig, redacts: bool) -> Value<'a> {
    let shown = match config {
        FilterConfig::Fault(of) if !redacts => return faults(config.kind(), of),
        _ => parsed::filter_config(config),
    };
    let shown = match redacts {
        true => ParsedValue::Plain(shown).redacted().to_value(),
        false => shown,
    };
    of_json(&shown, "filter_config")
}

pub(crate) fn listener<'a>(name: &'a str, of: &'a Listener, redacts: bool) -> Value<'a> {
    match redacts {
        true => {
            let value = with(redacted(parsed::listener(of), "listener"), [("name", text(name))]);
            match of {
                // A client's shows none.
                Listener::Api(_) => with(value, [("filter_chains", Value::list([]))]),
                Listener::Tcp(_) => value,
            }
        }
        false => Value::object(Named(name, of)),
    }
}

pub(crate) fn filter_chain(of: &FilterChain, redacts: bool) -> Value<'_> {
    match redacts {
        true => redacted(parsed::filter_chain(of), "filter_chain"),
        false => object(of),
    }
}

pub(crate) fn filter<'a>(of: &'a HttpFilter, redacts: bool) -> Value<'a> {
    match redacts {
        true => redacted(ParsedValue::Plain(parsed::filter(of)), "filter"),
        false => object(of),
    }
}

pub(crate) fn route_configuration<'a>(name: &'a str, of: &'a RouteConfiguration, redacts: bool) -> Value<'a> {
    match redacts {
        true => {
            let value = redacted(parsed::route_configuration(of), "route_configuration");
            with(value, [("name", text(name))])
        }
        false => Value::object(Named(name, of)),
    }
}

pub(crate) fn virtual_host<'a>(of: &'a VirtualHost, redacts: bool) -> Value<'a> {
    match redacts {
        true => redacted(parsed::virtual_host(of), "virtual_host"),
        false => object(of),
    }
}

pub(crate) fn route<'a>(of: &'a Route, redacts: bool) -> Value<'a> {
    match redacts {
        true => redacted(ParsedValue::Plain(parsed::route(of)), "route"),
        false => object(of),
    }
}

/// The retry policy of a route; null if it has none.
pub(crate) fn retry_policy(of: &RouteAction) -> Value<'_> {
    // There is nothing in it that could be secret.
    optional(of.retry_policy.as_ref(), |_| Value::object(route::Retries(of)))
}

pub(crate) fn cluster<'a>(name: &'a str, of: &'a Cluster, redacts: bool) -> Value<'a> {
    match redacts {
        true => {
            let policies = lb_policies(&of.lb_policy.config);
            let value = redacted(parsed::cluster(of), "cluster");
            with(value, [("name", text(name)), ("lb_policies", policies)])
        }
        false => Value::object(Named(name, of)),
    }
}

pub(crate) fn endpoints<'a>(name: &'a str, of: &'a Endpoints, redacts: bool) -> Value<'a> {
    match redacts {
        true => with(redacted(parsed::endpoints(of), "endpoints"), [("name", text(name))]),
        false => Value::object(Named(name, of)),
    }
}

pub(crate) fn locality<'a>(of: &'a Locality, redacts: bool) -> Value<'a> {
    match redacts {
        true => redacted(parsed::locality(of), "locality"),
        false => object(of),
    }
}

pub(crate) fn locality_name(of: &LocalityName) -> Value<'_> {
    object(of)
}

pub(crate) fn endpoint<'a>(of: &'a Endpoint, redacts: bool) -> Value<'a> {
    match redacts {
        true => redacted(ParsedValue::Plain(parsed::endpoint(of)), "endpoint"),
        false => object(of),
    }
}

#[cfg(test)]
mod tests {
    use super::{Fault, FilterConfig, Millis, address, filter_config};
    use xdsctl_model::resource::filter::FaultHeaders;

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
            let kind = |of: &super::Value<'_>| of.field("delay").and_then(|of| Some(of.field("fixed_delay")?.kind()));
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
