//! grpc-java's bootstrap: `BootstrapperImpl`, `GrpcBootstrapperImpl` and `JsonUtil`.
//!
//! A field that the client reads must have the right type if it is there, and null is no type. A
//! field that the client does not read, such as the credentials behind the first that it has, may
//! be anything.

use super::client_json::{ClientJson, JsonObject};
use super::dialect::BootstrapDialect;
use super::load::{self, text_or_absent};
use super::providers::{BOOTSTRAP_PROVIDER_WITHOUT_FILES, CertificateProvider, FILE_WATCHER};
use super::{
    Bootstrap, KEYS, LOCALITY_KEYS, NODE_KEYS, SERVER_KEYS, Server, creds, known_features, servers_of, switched_off,
    unknown_keys, without_servers,
};
use xdsctl_model::diag::{Effect, Path, Validation};
use xdsctl_model::profile::Feature;

/// The key of a provider's file of SPIFFE bundles (A87).
const BUNDLE_MAP: &str = "spiffe_trust_bundle_map_file";

/// Reads a whole bootstrap.
pub(super) fn document(json: &ClientJson, cx: &mut Validation<'_>) -> Option<Bootstrap> {
    let root = Path::ROOT;
    let object = load::object(json, &root, cx)?;
    unknown_keys(object, &KEYS, &root, cx);
    let mut bootstrap = Bootstrap::default();
    let at = root.field("xds_servers");
    match object.get("xds_servers") {
        None => load::missing(&at, cx),
        Some(json) => bootstrap.servers = servers(json, &at, cx),
    }
    if bootstrap.servers.is_empty() && !cx.nacked() {
        without_servers(&at, cx);
    }
    if let Some(json) = object.get("node") {
        bootstrap.node_id = node(json, &root.field("node"), cx);
    }
    if let Some(json) = object.get("certificate_providers") {
        let at = root.field("certificate_providers");
        for (name, json) in load::entries(json, &at, cx) {
            let plugin = provider(json, &at.json_key(name), cx);
            let provider = CertificateProvider::of(plugin, json, Some(BUNDLE_MAP));
            bootstrap.certificate_providers.insert(name.to_owned(), provider);
        }
    }
    bootstrap.server_listener_template = text_or_absent(object, "server_listener_resource_name_template", &root, cx);
    if cx.has(Feature::Federation) {
        let template = "client_default_listener_resource_name_template";
        bootstrap.client_default_listener_template = text_or_absent(object, template, &root, cx);
        if let Some(json) = object.get("authorities") {
            authorities(json, &mut bootstrap, &root.field("authorities"), cx);
        }
    } else {
        for name in ["authorities", "client_default_listener_resource_name_template"] {
            switched_off(object, name, Feature::Federation, &root, cx);
        }
    }
    let services = object.get("allowed_grpc_services");
    if let Some(json) = services.filter(|_| cx.has(Feature::BootstrapServicesRead)) {
        let at = root.field("allowed_grpc_services");
        for (uri, json) in load::entries(json, &at, cx) {
            let at = at.json_key(uri);
            if let Some(object) = load::object(json, &at, cx) {
                let channel = channel_creds(object, &at, cx);
                objects(object, "call_creds", &at, cx);
                bootstrap.allowed_grpc_services.insert(uri.to_owned(), channel);
            }
        }
    }
    if !cx.has(Feature::ExtProcOnClient) {
        bootstrap.allowed_grpc_services.clear();
        switched_off(object, "allowed_grpc_services", Feature::ExtProcOnClient, &root, cx);
    }
    Some(bootstrap)
}

/// Returns the objects in a list; the list may be absent.
fn objects<'j>(object: &'j JsonObject, name: &str, at: &Path<'_>, cx: &mut Validation<'_>) -> Vec<&'j JsonObject> {
    let at = at.field(name);
    let list = object.get(name).and_then(|json| load::array(json, &at, cx));
    let list = list.into_iter().flatten().enumerate();
    list.filter_map(|(i, json)| load::object(json, &at.index(i), cx))
        .collect()
}

fn servers(json: &ClientJson, at: &Path<'_>, cx: &mut Validation<'_>) -> Vec<Server> {
    servers_of(json, at, cx, |_, json, at, cx| {
        Some(server(load::object(json, at, cx)?, at, cx))
    })
}

fn server(object: &JsonObject, at: &Path<'_>, cx: &mut Validation<'_>) -> Server {
    unknown_keys(object, &SERVER_KEYS, at, cx);
    let channel_creds = channel_creds(object, at, cx);
    switched_off(object, "call_creds", Feature::BootstrapCallCreds, at, cx);
    let at_features = at.field("server_features");
    let features = object.get("server_features");
    let features = features.and_then(|json| load::array(json, &at_features, cx));
    if cx.has(Feature::BootstrapFeatureTexts) {
        for (i, feature) in features.into_iter().flatten().enumerate() {
            load::text(feature, &at_features.index(i), cx);
        }
    }
    if !object.contains_key("server_uri") {
        load::missing(&at.field("server_uri"), cx);
    }
    Server {
        uri: text_or_absent(object, "server_uri", at, cx),
        channel_creds,
        features: known_features(features.into_iter().flatten().filter_map(ClientJson::as_text)),
    }
}

/// Checks the credentials up to the first of a type that the client has, and returns that type.
fn channel_creds(object: &JsonObject, at: &Path<'_>, cx: &mut Validation<'_>) -> String {
    let (mark, types) = (cx.mark(), BootstrapDialect::of(cx.profile()).channel_types);
    let entries = objects(object, "channel_creds", at, cx);
    let at = at.field("channel_creds");
    if !object.contains_key("channel_creds") {
        load::missing(&at, cx);
    }
    for (i, entry) in entries.into_iter().enumerate() {
        if cx.nacked_since(mark) {
            break;
        }
        let at = at.index(i);
        let kind = text_or_absent(entry, "type", &at, cx);
        if !entry.contains_key("type") {
            load::missing(&at.field("type"), cx);
        } else if types.contains(&kind.as_str()) {
            if let Some(config) = entry.get("config") {
                load::object(config, &at.field("config"), cx);
            }
            return kind;
        }
    }
    if !cx.nacked_since(mark) {
        creds::none_known(&at, cx);
    }
    String::new()
}

fn node(json: &ClientJson, at: &Path<'_>, cx: &mut Validation<'_>) -> String {
    let Some(object) = load::object(json, at, cx) else {
        return String::new();
    };
    unknown_keys(object, &NODE_KEYS, at, cx);
    text_or_absent(object, "cluster", at, cx);
    if let Some(json) = object.get("metadata") {
        load::object(json, &at.field("metadata"), cx);
    }
    if let Some(json) = object.get("locality") {
        let at = at.field("locality");
        if let Some(locality) = load::object(json, &at, cx) {
            unknown_keys(locality, &LOCALITY_KEYS, &at, cx);
            for name in LOCALITY_KEYS {
                text_or_absent(locality, name, &at, cx);
            }
        }
    }
    text_or_absent(object, "id", at, cx)
}

/// Checks a provider of any plugin, and returns the plugin's name.
fn provider(json: &ClientJson, at: &Path<'_>, cx: &mut Validation<'_>) -> String {
    let Some(object) = load::object(json, at, cx) else {
        return String::new();
    };
    unknown_keys(object, &["plugin_name", "config"], at, cx);
    load::require(object, ["plugin_name", "config"], at, cx);
    let plugin = text_or_absent(object, "plugin_name", at, cx);
    let at = at.field("config");
    if let Some(config) = object.get("config").and_then(|json| load::object(json, &at, cx)) {
        // The client copies the config into a map that cannot hold null.
        let is_null = |(_, json): &(&str, &ClientJson)| **json == ClientJson::Null;
        let nulls = config.entries().into_iter().filter(is_null);
        for (key, _) in nulls {
            load::refuse(&at.field(key), format_args!("is null, which a config cannot hold"), cx);
        }
        if plugin == FILE_WATCHER {
            all_three(config, &at, cx);
        }
    }
    plugin
}

/// Reports the files that a provider lacks: once a TLS context uses the provider, it needs all of
/// them (`FileWatcherCertificateProviderProvider`).
fn all_three(config: &JsonObject, at: &Path<'_>, cx: &mut Validation<'_>) {
    const FILES: [&str; 3] = ["certificate_file", "private_key_file", "ca_certificate_file"];
    let has_map = config.contains_key(BUNDLE_MAP);
    let is_there = |name: &str| config.contains_key(name) || has_map && name == "ca_certificate_file";
    let missing: Vec<&str> = FILES.into_iter().filter(|name| !is_there(name)).collect();
    if !missing.is_empty() {
        let message = format_args!(
            "grpc-java needs {} too: TLS contexts that use this provider cannot connect",
            missing.join(" and ")
        );
        cx.report_as(Effect::Fails, &BOOTSTRAP_PROVIDER_WITHOUT_FILES, at, message);
    }
}

fn authorities(json: &ClientJson, bootstrap: &mut Bootstrap, at: &Path<'_>, cx: &mut Validation<'_>) {
    for (name, json) in load::entries(json, at, cx) {
        let at = at.json_key(name);
        let Some(object) = load::object(json, &at, cx) else {
            continue;
        };
        let own = object.get("xds_servers");
        let own = |cx: &mut Validation<'_>| own.map_or_else(Vec::new, |own| servers(own, &at.field("xds_servers"), cx));
        let authority = super::authority(name, object, own, &at, cx);
        bootstrap.authorities.insert(name.to_owned(), authority);
    }
}
