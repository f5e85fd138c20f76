//! HTTP filters and their overrides as the client keeps them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::object::ParsedObject;
use super::rbac;
use xdsctl_clients::core::filter::fault;
use xdsctl_model::resource::Millis;
use xdsctl_model::resource::filter::{Description, Fault, FilterConfig, FilterOverride, HttpFilter, SessionCookie};

/// The parsed form of an HTTP filter.
pub fn http_filter(filter: &HttpFilter) -> Value {
    ParsedObject::new()
        .put("index", filter.index)
        .put("name", filter.name.as_str())
        .set("disabled", filter.disabled, false)
        .put("config", config(&filter.config))
        .done()
}

/// Adds `typed_per_filter_config` to an object.
pub(super) fn overrides(object: ParsedObject, overrides: &BTreeMap<String, FilterOverride>) -> ParsedObject {
    object.map(
        "typed_per_filter_config",
        overrides.iter().map(|(name, entry)| {
            let value = ParsedObject::new()
                .set("disabled", entry.disabled, false)
                .optional("config", entry.config.as_deref().map(config))
                .done();
            (name, value)
        }),
    )
}

/// The parsed form of an HTTP filter's config.
pub fn config(config: &FilterConfig) -> Value {
    let object = ParsedObject::new().put("type", config.kind());
    match config {
        FilterConfig::Router => object,
        FilterConfig::Fault(fault) => faults(object, fault),
        FilterConfig::Described(description) => described(object, description),
        FilterConfig::Rbac(own) => object.optional("rules", own.rules.as_deref().map(rbac::rules)),
        FilterConfig::StatefulSession(None) => object.put("cookie", Value::Null),
        FilterConfig::StatefulSession(Some(session)) => object.put("cookie", cookie(session)),
    }
    .done()
}

fn described(object: ParsedObject, description: &Description) -> ParsedObject {
    let kept = description.kept.iter();
    kept.fold(object, |object, (name, value, is_default)| {
        object.mark(name, value.clone(), *is_default)
    })
}

fn cookie(session: &SessionCookie) -> Value {
    ParsedObject::new()
        .put("name", session.name.as_str())
        .set("path", session.path.as_str(), "")
        .time("ttl", session.ttl, Millis(0))
        .done()
}

fn faults(object: ParsedObject, fault: &Fault) -> ParsedObject {
    let percentage = |numerator: u32, denominator: u32| json!(format!("{numerator}/{denominator}"));
    let abort = fault.has_abort().then(|| {
        ParsedObject::new()
            .set("grpc_status", fault.abort_code, 0)
            .set("header_abort", fault.abort_from_header, false)
            .put("percentage", percentage(fault.abort_numerator, fault.abort_denominator))
            .done()
    });
    let delay = fault.has_delay().then(|| {
        ParsedObject::new()
            .time("fixed_delay", fault.delay, Millis(0))
            .set("header_delay", fault.delay_from_header, false)
            .put("percentage", percentage(fault.delay_numerator, fault.delay_denominator))
            .done()
    });
    object.optional("abort", abort).optional("delay", delay).set(
        "max_active_faults",
        fault.max_active_faults,
        fault::MAX_ACTIVE_FAULTS,
    )
}
