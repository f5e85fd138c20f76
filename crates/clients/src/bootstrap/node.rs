//! grpc-js-xds's bootstrap: xds-bootstrap.ts, which looks up keys in any JavaScript object.
//!
//! A list is an object without keys; null and strings are no objects. A key that is there must have
//! the right type. A falsy value counts as no map at all.

use super::client_json::{ClientJson, JsonObject};
use super::creds::{self, half_pair};
use super::dialect::BootstrapDialect;
use super::load::{self, field, text_or_absent, wrong};
use super::providers::{self, CertificateProvider, FILE_WATCHER};
use super::{
    Authority, BOOTSTRAP_WITHOUT_SERVERS, Bootstrap, KEYS, LOCALITY_KEYS, NODE_KEYS, SERVER_KEYS, Server,
    known_features, servers_of, switched_off, unknown_keys,
};
use xdsctl_model::diag::{Effect, Path, Validation};
use xdsctl_model::profile::Feature;

/// Names that every JavaScript object inherits. The client takes them for registered plugins, which
/// accept any config.
const INHERITED: [&str; 9] = [
    "constructor",
    "hasOwnProperty",
    "__lookupGetter__",
    "__lookupSetter__",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toString",
    "valueOf",
    "toLocaleString",
];

/// Reads a whole bootstrap.
pub(super) fn document(json: &ClientJson, cx: &mut Validation<'_>) -> Option<Bootstrap> {
    let root = Path::ROOT;
    let object = object(json, &root, cx)?;
    unknown_keys(object, &KEYS, &root, cx);
    let mut bootstrap = Bootstrap::default();
    let at = root.field("xds_servers");
    match object.get("xds_servers") {
        None => load::missing(&at, cx),
        Some(json) => bootstrap.servers = servers(json, &at, cx),
    }
    if let Some(ClientJson::Array(list)) = object.get("xds_servers")
        && list.is_empty()
    {
        let why = format_args!("xds_servers is empty, must name at least one server");
        cx.report_as(Effect::Fails, &BOOTSTRAP_WITHOUT_SERVERS, &at, why);
    }
    match object.get("node") {
        None => load::missing(&root.field("node"), cx),
        Some(json) => bootstrap.node_id = node(json, &root.field("node"), cx),
    }
    bootstrap.server_listener_template = text_or_absent(object, "server_listener_resource_name_template", &root, cx);
    if cx.has(Feature::Federation) {
        let template = "client_default_listener_resource_name_template";
        bootstrap.client_default_listener_template = text_or_absent(object, template, &root, cx);
        for (name, json) in map(object, "authorities", &root, cx) {
            let authority = authority(&name, json, &root.field("authorities").json_key(&name), cx);
            bootstrap.authorities.insert(name, authority);
        }
    } else {
        for name in ["authorities", "client_default_listener_resource_name_template"] {
            switched_off(object, name, Feature::Federation, &root, cx);
        }
    }
    for (name, json) in map(object, "certificate_providers", &root, cx) {
        let plugin = provider(json, &root.field("certificate_providers").json_key(&name), cx);
        let provider = CertificateProvider::of(plugin, json, None);
        bootstrap.certificate_providers.insert(name, provider);
    }
    switched_off(object, "allowed_grpc_services", Feature::ExtProcOnClient, &root, cx);
    Some(bootstrap)
}

/// Returns the object in which keys are looked up; a list counts as one without keys.
fn object<'j>(json: &'j ClientJson, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<&'j JsonObject> {
    match json {
        ClientJson::Array(_) => Some(JsonObject::EMPTY),
        other => load::object(other, at, cx),
    }
}

/// Returns the entries of a value (`Object.entries`). A number or a boolean has none. A string has
/// its letters, which the client never accepts as values, so it is reported.
fn map<'j>(
    object: &'j JsonObject,
    name: &str,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Vec<(String, &'j ClientJson)> {
    match object.get(name) {
        None | Some(ClientJson::Null | ClientJson::Bool(_) | ClientJson::Number(_)) => Vec::new(),
        Some(ClientJson::Array(list)) => list.iter().enumerate().map(|(i, json)| (i.to_string(), json)).collect(),
        Some(ClientJson::Object(map)) => {
            let entries = map.entries().into_iter();
            entries.map(|(key, json)| (key.to_owned(), json)).collect()
        }
        Some(other) => {
            if other.as_text() != Some("") {
                _ = wrong::<()>(other, "an object", &at.field(name), cx);
            }
            Vec::new()
        }
    }
}

fn servers(json: &ClientJson, at: &Path<'_>, cx: &mut Validation<'_>) -> Vec<Server> {
    servers_of(json, at, cx, |_, json, at, cx| {
        Some(server(object(json, at, cx)?, at, cx))
    })
}

fn server(object: &JsonObject, at: &Path<'_>, cx: &mut Validation<'_>) -> Server {
    unknown_keys(object, &SERVER_KEYS, at, cx);
    load::require(object, ["server_uri", "channel_creds"], at, cx);
    let channel_creds = channel_creds(object, at, cx);
    switched_off(object, "call_creds", Feature::BootstrapCallCreds, at, cx);
    let features = object.get("server_features");
    let features = features.and_then(|json| load::array(json, &at.field("server_features"), cx));
    Server {
        uri: text_or_absent(object, "server_uri", at, cx),
        channel_creds,
        features: known_features(features.into_iter().flatten().filter_map(ClientJson::as_text)),
    }
}

/// Checks all channel credentials, and returns the first type that the client has.
fn channel_creds(server: &JsonObject, at: &Path<'_>, cx: &mut Validation<'_>) -> String {
    let (mark, at) = (cx.mark(), at.field("channel_creds"));
    let list = server.get("channel_creds").and_then(|json| load::array(json, &at, cx));
    let mut chosen = None;
    for (i, json) in list.into_iter().flatten().enumerate() {
        let at = at.index(i);
        let Some(entry) = object(json, &at, cx) else { continue };
        let kind = text_or_absent(entry, "type", &at, cx);
        if !entry.contains_key("type") {
            load::missing(&at.field("type"), cx);
        }
        if let Some(config) = entry.get("config") {
            object(config, &at.field("config"), cx);
        }
        let types = BootstrapDialect::of(cx.profile()).channel_types;
        chosen = chosen.or(types.iter().find(|known| **known == kind));
    }
    if chosen.is_none() && list.is_some() && !cx.nacked_since(mark) {
        creds::none_known(&at, cx);
    }
    chosen.copied().unwrap_or_default().to_owned()
}

fn node(json: &ClientJson, at: &Path<'_>, cx: &mut Validation<'_>) -> String {
    let Some(node) = object(json, at, cx) else {
        return String::new();
    };
    unknown_keys(node, &NODE_KEYS, at, cx);
    load::require(node, ["id", "locality"], at, cx);
    text_or_absent(node, "cluster", at, cx);
    if let Some(json) = node.get("metadata") {
        object(json, &at.field("metadata"), cx);
    }
    let at_locality = at.field("locality");
    if let Some(locality) = node.get("locality").and_then(|json| object(json, &at_locality, cx)) {
        unknown_keys(locality, &LOCALITY_KEYS, &at_locality, cx);
        for name in LOCALITY_KEYS {
            text_or_absent(locality, name, &at_locality, cx);
        }
    }
    text_or_absent(node, "id", at, cx)
}

fn authority(name: &str, json: &ClientJson, at: &Path<'_>, cx: &mut Validation<'_>) -> Authority {
    let Some(object) = object(json, at, cx) else {
        return Authority::default();
    };
    let own = field(object, "xds_servers");
    let own = |cx: &mut Validation<'_>| own.map_or_else(Vec::new, |own| servers(own, &at.field("xds_servers"), cx));
    super::authority(name, object, own, at, cx)
}

/// Checks a provider and returns its plugin's name.
fn provider(json: &ClientJson, at: &Path<'_>, cx: &mut Validation<'_>) -> String {
    let Some(provider) = object(json, at, cx) else {
        return String::new();
    };
    unknown_keys(provider, &["plugin_name", "config"], at, cx);
    let mark = cx.mark();
    let plugin = text_or_absent(provider, "plugin_name", at, cx);
    if !provider.contains_key("plugin_name") {
        load::missing(&at.field("plugin_name"), cx);
    }
    let is_inherited = INHERITED.contains(&plugin.as_str());
    if !cx.nacked_since(mark) && plugin != FILE_WATCHER && !is_inherited {
        providers::unknown_plugin(&plugin, &at.field("plugin_name"), cx);
    }
    let at = at.field("config");
    match provider.get("config") {
        None => load::missing(&at, cx),
        Some(json) if is_false(json) => _ = wrong::<()>(json, "an object", &at, cx),
        Some(json) if plugin == FILE_WATCHER => file_watcher(json, &at, cx),
        Some(_) => {}
    }
    plugin
}

/// Says whether a value is falsy in JavaScript.
fn is_false(json: &ClientJson) -> bool {
    match json {
        ClientJson::Null | ClientJson::Bool(false) => true,
        ClientJson::Number(text) => text.parse::<f64>().is_ok_and(|number| number == 0.0),
        other => other.as_text() == Some(""),
    }
}

fn file_watcher(json: &ClientJson, at: &Path<'_>, cx: &mut Validation<'_>) {
    let Some(config) = object(json, at, cx) else { return };
    for name in ["certificate_file", "private_key_file", "ca_certificate_file"] {
        text_or_absent(config, name, at, cx);
    }
    let at_interval = at.field("refresh_interval");
    match config.get("refresh_interval") {
        None => load::missing(&at_interval, cx),
        // grpc-js reads it with `parseDuration`.
        Some(json) => match load::text(json, &at_interval, cx) {
            Some(text) if load::seconds(text).is_none() => {
                load::refuse(
                    &at_interval,
                    format_args!("`{text}` is no duration such as `12.5s`"),
                    cx,
                );
            }
            _ => {}
        },
    }
    let has = |name: &str| config.contains_key(name);
    half_pair(has("certificate_file"), has("private_key_file"), at, cx);
    if !has("private_key_file") && !has("ca_certificate_file") {
        providers::without_files(at, cx);
    }
}
