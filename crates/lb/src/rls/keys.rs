//! The key builders of rls: which parts of an RPC go into a lookup.
//!
//! Follows C-core rls.cc `GrpcKeyBuilder` and `RouteLookupConfig::JsonPostLoad`.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::{KeyBuilder, RouteLookup, put_filled};
use crate::json::{self, ConfigPlace, Faults, LB_JSON_EMPTY};
use crate::metadata::Metadata;
use xdsctl_document::secret;
use xdsctl_model::diag::rules;

rules! {
    /// A header of an RLS key is required to match.
    RLS_REQUIRED_MATCH = "rls-required-match", Lb, Nack, "C-core rls.cc GrpcKeyBuilder::NameMatcher";
    /// Two parts of an RLS key have one name.
    RLS_DUPLICATE_KEY = "rls-duplicate-key", Lb, Nack, "C-core rls.cc GrpcKeyBuilder::JsonPostLoad";
    /// Two RLS key builders are for one method.
    RLS_DUPLICATE_NAME = "rls-duplicate-name", Lb, Nack, "C-core rls.cc RouteLookupConfig::JsonPostLoad";
}

/// Reads `grpcKeybuilders`, which must not be null. Duplicates are looked for only in a list
/// without faults.
pub(super) fn read_key_builders(
    map: &Map<String, Value>,
    at: &ConfigPlace<'_>,
    faults: &mut Faults,
) -> BTreeMap<String, KeyBuilder> {
    let at = at.field("grpcKeybuilders");
    let mut by_path = BTreeMap::new();
    let Some(value) = map.get("grpcKeybuilders") else {
        json::missing(&at, faults);
        return by_path;
    };
    let Some(items) = json::list(value, &at, faults) else {
        return by_path;
    };
    let before = faults.len();
    let builders: Vec<_> = items
        .iter()
        .enumerate()
        .filter_map(|(i, item)| read_key_builder(item, &at.index(i), faults))
        .collect();
    if faults.len() > before {
        return by_path;
    }
    for (i, (paths, builder)) in builders.into_iter().enumerate() {
        for path in paths {
            match by_path.entry(path) {
                Entry::Vacant(slot) => {
                    slot.insert(builder.clone());
                }
                Entry::Occupied(slot) => at.index(i).fault(
                    &RLS_DUPLICATE_NAME,
                    format_args!("`{}` has a key builder already", slot.key()),
                    faults,
                ),
            }
        }
    }
    by_path
}

/// Reads one key builder, and the paths that it is for.
fn read_key_builder(value: &Value, at: &ConfigPlace<'_>, faults: &mut Faults) -> Option<(Vec<String>, KeyBuilder)> {
    let map = json::object(value, at, faults)?;
    let at_names = at.field("names");
    let mut paths = Vec::new();
    let names = json::required(map, "names", at, faults).and_then(|value| json::list(value, &at_names, faults));
    for (i, name) in names.unwrap_or_default().iter().enumerate() {
        paths.extend(read_name(name, &at_names.index(i), faults));
    }
    let at_headers = at.field("headers");
    let headers: Vec<_> = json::optional(map, "headers")
        .and_then(|value| json::list(value, &at_headers, faults))
        .unwrap_or_default()
        .iter()
        .enumerate()
        .map(|(i, header)| read_header(header, &at_headers.index(i), faults))
        .collect();
    let at_extra = at.field("extraKeys");
    let extra = json::optional(map, "extraKeys")
        .and_then(|value| json::object(value, &at_extra, faults))
        .map(|extra| ["host", "service", "method"].map(|name| (name, read_extra_key(extra, name, &at_extra, faults))))
        .unwrap_or_default();
    let at_constant = at.field("constantKeys");
    let mut constant_keys = BTreeMap::new();
    let constants = json::optional(map, "constantKeys").and_then(|value| json::object(value, &at_constant, faults));
    for (key, value) in constants.into_iter().flatten() {
        let text = json::text(value, &at_constant.key(key), faults).unwrap_or_default();
        constant_keys.insert(key.clone(), text.to_owned());
    }
    if names.is_some_and(<[Value]>::is_empty) {
        json::empty(&at_names, faults);
    }
    if constant_keys.contains_key("") {
        at_constant
            .key("")
            .fault(&LB_JSON_EMPTY, format_args!("the key is empty, must not be"), faults);
    }
    let mut seen = BTreeSet::new();
    let mut check = |key: &str, at: &ConfigPlace<'_>| {
        if !key.is_empty() && !seen.insert(key.to_owned()) {
            at.fault(
                &RLS_DUPLICATE_KEY,
                format_args!("key `{key}` is in use already"),
                faults,
            );
        }
    };
    for (i, (key, _)) in headers.iter().enumerate() {
        check(key, &at_headers.index(i).field("key"));
    }
    for key in constant_keys.keys() {
        check(key, &at_constant.key(key));
    }
    for (name, key) in &extra {
        check(key, &at_extra.field(name));
    }
    let [host_key, service_key, method_key] = extra.map(|(_, key)| key);
    let mut header_keys = BTreeMap::new();
    for (key, names) in headers {
        header_keys.entry(key).or_insert(names);
    }
    let builder = KeyBuilder {
        header_keys,
        host_key,
        service_key,
        method_key,
        constant_keys,
    };
    Some((paths, builder))
}

/// Reads an entry of `names` as a path. The loader accepts an empty service.
fn read_name(value: &Value, at: &ConfigPlace<'_>, faults: &mut Faults) -> Option<String> {
    let map = json::object(value, at, faults)?;
    let service = json::required_text(map, "service", at, faults);
    let method = json::optional(map, "method")
        .and_then(|value| json::text(value, &at.field("method"), faults))
        .unwrap_or_default();
    Some(format!("/{}/{method}", service?))
}

/// Reads an entry of `headers`: its key and the headers' names. What cannot be read is empty.
fn read_header(value: &Value, at: &ConfigPlace<'_>, faults: &mut Faults) -> (String, Vec<String>) {
    let Some(map) = json::object(value, at, faults) else {
        return (String::new(), Vec::new());
    };
    let key = json::required_text(map, "key", at, faults);
    let at_names = at.field("names");
    let names = json::required(map, "names", at, faults).and_then(|value| json::list(value, &at_names, faults));
    let mut read = Vec::new();
    for (i, name) in names.unwrap_or_default().iter().enumerate() {
        let at = at_names.index(i);
        let name = json::text(name, &at, faults);
        if name == Some("") {
            json::empty(&at, faults);
        }
        read.push(name.unwrap_or_default().to_owned());
    }
    let at_match = at.field("requiredMatch");
    if let Some(value) = json::optional(map, "requiredMatch")
        && json::boolean(value, &at_match, faults).is_some()
    {
        at_match.fault(&RLS_REQUIRED_MATCH, format_args!("is set, must not be"), faults);
    }
    if key == Some("") {
        json::empty(&at.field("key"), faults);
    }
    if names.is_some_and(<[Value]>::is_empty) {
        json::empty(&at_names, faults);
    }
    (key.unwrap_or_default().to_owned(), read)
}

fn read_extra_key(map: &Map<String, Value>, name: &str, at: &ConfigPlace<'_>, faults: &mut Faults) -> String {
    let at = at.field(name);
    let text = json::optional(map, name).and_then(|value| json::text(value, &at, faults));
    if text == Some("") {
        at.fault(
            &LB_JSON_EMPTY,
            format_args!("is empty, must not be if it is set"),
            faults,
        );
    }
    text.unwrap_or_default().to_owned()
}

/// Returns the keys of an RPC, by the key builder of its method, else by that of its service.
/// Without a key builder there are no keys.
pub(super) fn keys(lookup: &RouteLookup, rpc: &Metadata<'_>) -> BTreeMap<String, String> {
    let (service, method) = rpc.path.rsplit_once('/').unwrap_or((rpc.path, ""));
    let of_service = || lookup.key_builders.get(&format!("{service}/"));
    let Some(builder) = lookup.key_builders.get(rpc.path).or_else(of_service) else {
        return BTreeMap::new();
    };
    let mut keys = BTreeMap::new();
    for (key, names) in &builder.header_keys {
        if let Some(value) = names.iter().find_map(|name| rpc.value(name)) {
            keys.insert(key.clone(), value.into_owned());
        }
    }
    for (key, value) in &builder.constant_keys {
        keys.entry(key.clone()).or_insert_with(|| value.clone());
    }
    let extra = [
        (&builder.host_key, rpc.authority),
        (&builder.service_key, service.strip_prefix('/').unwrap_or(service)),
        (&builder.method_key, method),
    ];
    for (key, value) in extra.into_iter().filter(|(key, _)| !key.is_empty()) {
        keys.insert(key.clone(), value.to_owned());
    }
    keys
}

/// Writes the keys of a lookup for people, without the values of headers that hold secrets.
pub(super) fn shown(lookup: &RouteLookup, keys: &BTreeMap<String, String>) -> String {
    let is_secret = |key: &str| {
        let mut headers = lookup
            .key_builders
            .values()
            .filter_map(|builder| builder.header_keys.get(key));
        secret::is_name(key) || headers.any(|names| names.iter().any(|name| secret::is_name(name)))
    };
    let shown = keys.iter().map(|(key, value)| match is_secret(key) {
        true => format!("{key}={}", secret::REDACTED),
        false => format!("{key}={value}"),
    });
    format!("{{{}}}", shown.collect::<Vec<_>>().join(","))
}

/// Writes a key builder for one path.
pub(super) fn builder_to_json(builder: &KeyBuilder, path: &str) -> Value {
    let path = path.strip_prefix('/').unwrap_or(path);
    let (service, method) = path.rsplit_once('/').unwrap_or((path, ""));
    let mut name = json!({ "service": service });
    put_filled(&mut name, "method", method);
    let headers: Vec<Value> = builder
        .header_keys
        .iter()
        .map(|(key, names)| json!({ "key": key, "names": names }))
        .collect();
    let mut extra = json!({});
    put_filled(&mut extra, "host", &builder.host_key);
    put_filled(&mut extra, "service", &builder.service_key);
    put_filled(&mut extra, "method", &builder.method_key);
    json!({ "names": [name], "headers": headers, "extraKeys": extra, "constantKeys": builder.constant_keys })
}
