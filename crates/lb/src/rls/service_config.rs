//! The service config that an RLS config has for the channel to its lookup service.
//!
//! It is only checked, never used: no lookup is made here. Follows C-core
//! `ServiceConfigImpl::Create` (service_config_impl.cc) with the parsers of a channel:
//! client_channel_service_config.cc, retry_service_config.cc, message_size_service_config.cc.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Map, Value};

use crate::config::number;
use crate::json::{self, ConfigPlace, Faults};
use crate::{by_name, child_list};
use xdsctl_model::diag::rules;
use xdsctl_model::profile::Profile;
use xdsctl_model::resource::Millis;
use xdsctl_model::status::Code;

rules! {
    /// The service config for an RLS channel has a value that gRPC rejects.
    RLS_SERVICE_CONFIG = "rls-service-config", Lb, Nack, "C-core ServiceConfigImpl::Create; client_channel_service_config.cc, retry_service_config.cc";
}

/// The number of decimals of `tokenRatio` that count.
const RATIO_DECIMALS: usize = 3;

/// Checks a service config at `at`.
pub(super) fn check(config: &Value, at: &ConfigPlace<'_>, profile: &Profile, faults: &mut Faults) {
    let Some(map) = json::object(config, at, faults) else {
        return;
    };
    client_channel(map, at, profile, faults);
    if let Some(value) = json::optional(map, "retryThrottling") {
        retry_throttling(value, &at.field("retryThrottling"), faults);
    }
    method_configs(map, at, faults);
}

#[cold]
fn reject(at: &ConfigPlace<'_>, message: fmt::Arguments<'_>, faults: &mut Faults) {
    at.fault(&RLS_SERVICE_CONFIG, message, faults);
}

fn client_channel(map: &Map<String, Value>, at: &ConfigPlace<'_>, profile: &Profile, faults: &mut Faults) {
    if let Some(value) = json::optional(map, "healthCheckConfig")
        && let at = at.field("healthCheckConfig")
        && let Some(health) = json::object(value, &at, faults)
        && let Some(name) = json::optional(health, "serviceName")
    {
        json::text(name, &at.field("serviceName"), faults);
    }
    if let Some(value) = json::optional(map, "connectionScaling")
        && let at = at.field("connectionScaling")
        && let Some(scaling) = json::object(value, &at, faults)
    {
        json::optional_u32(scaling, "maxConnectionsPerSubchannel", 0, &at, faults);
    }
    if let Some(list) = map.get("loadBalancingConfig") {
        child_list(list, &at.field("loadBalancingConfig"), profile, faults);
    }
    let at = at.field("loadBalancingPolicy");
    let name = json::optional(map, "loadBalancingPolicy").and_then(|value| json::text(value, &at, faults));
    let Some(name) = name.filter(|name| !name.is_empty()) else {
        return;
    };
    match by_name(&name.to_ascii_lowercase(), profile) {
        None => reject(&at, format_args!("LB policy `{name}` is unknown"), faults),
        Some(policy) if (policy.from_json)(&Map::new(), profile).is_err() => reject(
            &at,
            format_args!("LB policy `{name}` needs a config, must be in loadBalancingConfig"),
            faults,
        ),
        Some(_) => {}
    }
}

fn retry_throttling(value: &Value, at: &ConfigPlace<'_>, faults: &mut Faults) {
    let Some(map) = json::object(value, at, faults) else {
        return;
    };
    let at_tokens = at.field("maxTokens");
    match map.get("maxTokens") {
        None => json::missing(&at_tokens, faults),
        Some(value) => {
            let tokens = json::u32_of(value, 0, &at_tokens, faults);
            if tokens.sound && tokens.value == 0 {
                reject(&at_tokens, format_args!("is 0, must be at least 1"), faults);
            }
        }
    }
    let at_ratio = at.field("tokenRatio");
    match map.get("tokenRatio") {
        None => json::missing(&at_ratio, faults),
        Some(value) => match number::with_text(value, milli_ratio) {
            Some(Some(ratio)) if ratio > 0 => {}
            Some(Some(_)) => reject(&at_ratio, format_args!("must be greater than 0"), faults),
            Some(None) | None => at_ratio.fault(
                &json::LB_JSON_WRONG_TYPE,
                format_args!("is `{value}`, must be a number"),
                faults,
            ),
        },
    }
}

/// Returns the ratio in thousandths of a token. Without a point, the client forgets to multiply.
/// The number wraps around at 32 bits, as in the client.
fn milli_ratio(text: &str) -> Option<u32> {
    let part = |text: &str| {
        let parsed = number::parse_unsigned(text, u64::from(u32::MAX));
        u32::try_from(parsed.value).ok().filter(|_| parsed.sound)
    };
    let Some((whole, decimals)) = text.split_once('.') else {
        return part(text);
    };
    // A cut inside a character gives `None`. A text with such a character is no number, wherever it
    // is cut.
    let decimals = decimals.get(..RATIO_DECIMALS.min(decimals.len()))?;
    let mut thousandths = part(decimals)?;
    for _ in decimals.len()..RATIO_DECIMALS {
        thousandths = thousandths.wrapping_mul(10);
    }
    Some(part(whole)?.wrapping_mul(1000).wrapping_add(thousandths))
}

fn method_configs(map: &Map<String, Value>, at: &ConfigPlace<'_>, faults: &mut Faults) {
    let at = at.field("methodConfig");
    let Some(items) = map.get("methodConfig").and_then(|value| json::list(value, &at, faults)) else {
        return;
    };
    let before = faults.len();
    for (i, item) in items.iter().enumerate() {
        json::object(item, &at.index(i), faults);
    }
    if faults.len() > before {
        return;
    }
    let mut seen = BTreeSet::new();
    for (i, item) in items.iter().filter_map(Value::as_object).enumerate() {
        method_config(item, &mut seen, &at.index(i), faults);
    }
}

fn method_config(map: &Map<String, Value>, seen: &mut BTreeSet<String>, at: &ConfigPlace<'_>, faults: &mut Faults) {
    json::optional_duration(map, "timeout", Millis(0), at, faults);
    json::optional_bool(map, "waitForReady", at, faults);
    if let Some(value) = json::optional(map, "retryPolicy") {
        retry_policy(value, &at.field("retryPolicy"), faults);
    }
    for name in ["maxRequestMessageBytes", "maxResponseMessageBytes"] {
        json::optional_u32(map, name, 0, at, faults);
    }
    let at = at.field("name");
    let names = json::optional(map, "name").and_then(|value| json::list(value, &at, faults));
    for (i, name) in names.unwrap_or_default().iter().enumerate() {
        let at = at.index(i);
        // A name that cannot be read stands for all methods, as an empty one does.
        let path = method_path(name, &at, faults);
        if !seen.insert(path) {
            reject(&at, format_args!("its methods have a config already"), faults);
        }
    }
}

/// Returns the path of the methods that a name is for: all methods (empty), those of a service, or
/// one.
fn method_path(name: &Value, at: &ConfigPlace<'_>, faults: &mut Faults) -> String {
    let Some(map) = json::object(name, at, faults) else {
        return String::new();
    };
    let mut text = |name| json::optional(map, name).and_then(|value| json::text(value, &at.field(name), faults));
    match (text("service"), text("method")) {
        (Some(""), _) | (None, None) => String::new(),
        (Some(service), method) => format!("/{service}/{}", method.unwrap_or_default()),
        (None, Some(method)) => {
            reject(at, format_args!("method `{method}` has no service"), faults);
            String::new()
        }
    }
}

fn retry_policy(value: &Value, at: &ConfigPlace<'_>, faults: &mut Faults) {
    let Some(map) = json::object(value, at, faults) else {
        return;
    };
    let at_attempts = at.field("maxAttempts");
    if let Some(value) = json::required(map, "maxAttempts", at, faults) {
        let attempts = json::signed(value, 0, &at_attempts, faults);
        if attempts.sound && !(2..=i64::from(i32::MAX)).contains(&attempts.value) {
            let attempts = attempts.value;
            reject(&at_attempts, format_args!("is {attempts}, must be at least 2"), faults);
        }
    }
    for name in ["initialBackoff", "maxBackoff"] {
        let at_name = at.field(name);
        let backoff = json::required(map, name, at, faults).and_then(|value| json::duration(value, &at_name, faults));
        if backoff == Some(Millis(0)) {
            reject(&at_name, format_args!("is below 0.001s, must be greater"), faults);
        }
    }
    let at_multiplier = at.field("backoffMultiplier");
    let multiplier = json::required(map, "backoffMultiplier", at, faults)
        .and_then(|value| json::float(value, &at_multiplier, faults));
    if multiplier.is_some_and(|multiplier| multiplier <= 0.0) {
        reject(&at_multiplier, format_args!("must be greater than 0"), faults);
    }
    status_codes(map, &at.field("retryableStatusCodes"), faults);
}

/// Checks `retryableStatusCodes`. There must be at least one code; a value that is not a list is
/// reported once.
fn status_codes(map: &Map<String, Value>, at: &ConfigPlace<'_>, faults: &mut Faults) {
    let mut known = false;
    if let Some(value) = map.get("retryableStatusCodes") {
        let Some(codes) = json::list(value, at, faults) else {
            return;
        };
        let before = faults.len();
        for (i, code) in codes.iter().enumerate() {
            json::text(code, &at.index(i), faults);
        }
        let readable = faults.len() == before;
        for (i, code) in codes.iter().filter_map(Value::as_str).enumerate() {
            if !readable {
                break;
            }
            // The client compares C strings.
            let name = code.split('\0').next().unwrap_or_default();
            if Code::from_name(name).is_some() {
                known = true;
            } else {
                reject(&at.index(i), format_args!("status code `{code}` is unknown"), faults);
            }
        }
    }
    if !known {
        reject(at, format_args!("has no status code, must have one"), faults);
    }
}
