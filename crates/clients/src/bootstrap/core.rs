//! C-core's bootstrap: `GrpcXdsBootstrap::Create` (xds_bootstrap_grpc.cc), `GrpcXdsServer`
//! (xds_server_grpc.cc), the credentials registries and the file_watcher provider.

use super::client_json::{ClientJson, JsonObject};
use super::load::{self, field, text_at};
use super::providers::{self, CertificateProvider};
use super::{
    AUTHORITY_KEYS, Authority, Bootstrap, KEYS, LOCALITY_KEYS, NODE_KEYS, SERVER_KEYS, Server, XDSTP, check_template,
    creds, known_features, servers_of, switched_off, unknown_keys, unread_fields, without_servers,
};
use xdsctl_model::diag::{Path, Validation};
use xdsctl_model::profile::Feature;

/// Reads a whole bootstrap.
pub(super) fn document(json: &ClientJson, cx: &mut Validation<'_>) -> Option<Bootstrap> {
    let root = Path::ROOT;
    let object = load::object(json, &root, cx)?;
    unknown_keys(object, &KEYS, &root, cx);
    let mut bootstrap = Bootstrap::default();
    let at = root.field("xds_servers");
    match field(object, "xds_servers") {
        None => load::missing(&at, cx),
        Some(ClientJson::Array(list)) if list.is_empty() => without_servers(&at, cx),
        Some(json) => bootstrap.servers = servers(json, &at, cx),
    }
    if let Some(node) = field(object, "node") {
        bootstrap.node_id = node_fields(node, &root.field("node"), cx);
    }
    if let Some(json) = field(object, "certificate_providers") {
        let at = root.field("certificate_providers");
        for (name, entry) in load::entries(json, &at, cx) {
            let plugin = providers::provider(entry, &at.json_key(name), cx);
            let bundle_map = cx.has(Feature::MtlsSpiffe).then_some("spiffe_bundle_map_file");
            let provider = CertificateProvider::of(plugin, entry, bundle_map);
            bootstrap.certificate_providers.insert(name.to_owned(), provider);
        }
    }
    let template = "server_listener_resource_name_template";
    bootstrap.server_listener_template = text_at(object, template, &root, cx);
    if cx.has(Feature::Federation) {
        authorities(object, &mut bootstrap, cx);
        let template = "client_default_listener_resource_name_template";
        bootstrap.client_default_listener_template = text_at(object, template, &root, cx);
    }
    unread_fields(object, cx);
    if cx.has(Feature::ExtProcOnClient) {
        allowed_services(object, &mut bootstrap, cx);
    }
    Some(bootstrap)
}

fn servers(json: &ClientJson, at: &Path<'_>, cx: &mut Validation<'_>) -> Vec<Server> {
    servers_of(json, at, cx, |_, json, at, cx| Some(server(json, at, cx)))
}

fn server(json: &ClientJson, at: &Path<'_>, cx: &mut Validation<'_>) -> Server {
    let Some(object) = load::object(json, at, cx) else {
        return Server::default();
    };
    unknown_keys(object, &SERVER_KEYS, at, cx);
    let channel_creds = creds::channel(object, at, cx);
    if cx.has(Feature::BootstrapCallCreds) {
        creds::call(object, at, cx);
    } else {
        switched_off(object, "call_creds", Feature::BootstrapCallCreds, at, cx);
    }
    // Unlike an ordinary field, null is not the same as absent here.
    let features = object.get("server_features");
    let features = features.and_then(|json| load::array(json, &at.field("server_features"), cx));
    let at_uri = at.field("server_uri");
    let uri = match object.get("server_uri") {
        None => {
            load::missing(&at_uri, cx);
            String::new()
        }
        Some(json) => load::text(json, &at_uri, cx).unwrap_or_default().to_owned(),
    };
    Server {
        uri,
        channel_creds,
        features: known_features(features.into_iter().flatten().filter_map(ClientJson::as_text)),
    }
}

/// Checks `node` and returns its id.
fn node_fields(json: &ClientJson, at: &Path<'_>, cx: &mut Validation<'_>) -> String {
    let Some(object) = load::object(json, at, cx) else {
        return String::new();
    };
    unknown_keys(object, &NODE_KEYS, at, cx);
    let id = text_at(object, "id", at, cx);
    text_at(object, "cluster", at, cx);
    if let Some(json) = field(object, "locality") {
        let at = at.field("locality");
        if let Some(locality) = load::object(json, &at, cx) {
            unknown_keys(locality, &LOCALITY_KEYS, &at, cx);
            for name in LOCALITY_KEYS {
                text_at(locality, name, &at, cx);
            }
        }
    }
    if let Some(json) = field(object, "metadata") {
        load::object(json, &at.field("metadata"), cx);
    }
    id
}

fn authorities(object: &JsonObject, bootstrap: &mut Bootstrap, cx: &mut Validation<'_>) {
    let root = Path::ROOT;
    let at = root.field("authorities");
    let Some(json) = field(object, "authorities") else {
        return;
    };
    for (name, entry) in load::entries(json, &at, cx) {
        let at = at.json_key(name);
        let Some(object) = load::object(entry, &at, cx) else {
            continue;
        };
        unknown_keys(object, &AUTHORITY_KEYS, &at, cx);
        let template = text_at(object, AUTHORITY_KEYS[0], &at, cx);
        let own = field(object, "xds_servers");
        let own = own.map_or_else(Vec::new, |json| servers(json, &at.field("xds_servers"), cx));
        let at_flag = at.field("fallback_on_reachability_only");
        let flag = field(object, "fallback_on_reachability_only").and_then(|json| load::flag(json, &at_flag, cx));
        if !template.is_empty() {
            check_template(&template, &format!("{XDSTP}{name}/"), &at.field(AUTHORITY_KEYS[0]), cx);
        }
        let authority = Authority {
            servers: own,
            client_listener_template: template,
            fallback_on_reachability_only: flag.unwrap_or(false),
        };
        bootstrap.authorities.insert(name.to_owned(), authority);
    }
}

fn allowed_services(object: &JsonObject, bootstrap: &mut Bootstrap, cx: &mut Validation<'_>) {
    let root = Path::ROOT;
    let at = root.field("allowed_grpc_services");
    let Some(json) = field(object, "allowed_grpc_services") else {
        return;
    };
    for (uri, entry) in load::entries(json, &at, cx) {
        let at = at.json_key(uri);
        let Some(object) = load::object(entry, &at, cx) else {
            continue;
        };
        let channel = creds::channel(object, &at, cx);
        creds::call(object, &at, cx);
        bootstrap.allowed_grpc_services.insert(uri.to_owned(), channel);
    }
}
