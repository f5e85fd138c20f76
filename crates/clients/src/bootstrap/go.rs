//! grpc-go's bootstrap: encoding/json decodes it into structs
//! (internal/xds/bootstrap/bootstrap.go).
//!
//! A key matches a field of a struct in any case, and each occurrence of a repeated key is applied
//! in turn. A null leaves the field as it is. Before 1.66 the document, its authorities and its
//! node matched keys exactly, and the node was read as the message that it is in the protocol.

use super::client_json::{ClientJson, JsonObject};
use super::load::{self, wrong};
use super::providers::CertificateProvider;
use super::{
    AUTHORITY_KEYS, Authority, Bootstrap, KEYS, LOCALITY_KEYS, NODE_KEYS, SERVER_KEYS, Server, check_template, creds,
    go_files, go_values, known_features, servers_of, switched_off, unknown_key, unread_fields, without_servers,
};
use xdsctl_model::diag::{Path, Validation};
use xdsctl_model::profile::Feature;

/// Reads a whole bootstrap.
pub(super) fn document(json: &ClientJson, cx: &mut Validation<'_>) -> Option<Bootstrap> {
    let root = Path::ROOT;
    let is_old = cx.has(Feature::BootstrapFirstServer);
    let mut bootstrap = Bootstrap::default();
    let mut listed = Vec::new();
    for member in members(json, &KEYS, is_old, &root, cx) {
        let (at, json) = (root.field(member.key), member.json);
        match member.name {
            "xds_servers" => listed = servers(json, if is_old { 1 } else { usize::MAX }, &at, cx),
            "node" if is_old => bootstrap.node_id = go_values::old_node(json, &at, cx),
            "node" => node(json, &mut bootstrap.node_id, &at, cx),
            "certificate_providers" => providers(json, is_old, &mut bootstrap, &at, cx),
            "server_listener_resource_name_template" => text(json, &mut bootstrap.server_listener_template, &at, cx),
            "client_default_listener_resource_name_template" if cx.has(Feature::Federation) => {
                text(json, &mut bootstrap.client_default_listener_template, &at, cx);
            }
            "authorities" if cx.has(Feature::Federation) => authorities(json, is_old, &mut bootstrap, &at, cx),
            "allowed_grpc_services" if cx.has(Feature::ExtProcOnClient) => services(json, &mut bootstrap, &at, cx),
            _ => {}
        }
    }
    if let ClientJson::Object(object) = json {
        unread_fields(object, cx);
        let at = root.field("xds_servers");
        match listed.first() {
            _ if cx.nacked() => {}
            None if members_of(object, &KEYS, is_old).any(|member| member.name == "xds_servers") => {
                without_servers(&at, cx)
            }
            None => load::missing(&at, cx),
            Some(_) => alive(&listed, is_old, &at, cx),
        }
    }
    bootstrap.servers = listed.into_iter().flatten().collect();
    Some(bootstrap)
}

/// A key of an object that sets a field of a struct.
struct Member<'j> {
    name: &'static str,
    key: &'j str,
    json: &'j ClientJson,
}

/// Returns the fields that the keys of an object set, in turn; none for null. Notes unknown keys.
fn members<'j>(
    json: &'j ClientJson,
    names: &'static [&'static str],
    is_exact: bool,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Vec<Member<'j>> {
    let Some(object) = nullable(json, at, cx, load::object) else {
        return Vec::new();
    };
    let is_unknown = |key: &&str| field_of(key, names, is_exact).is_none();
    for key in object.entries().into_keys().filter(is_unknown) {
        unknown_key(key, names, at, cx);
    }
    members_of(object, names, is_exact).collect()
}

/// Returns the entries of an object that count: all of them, or with `lasts` the last one of each
/// key.
fn counting(object: &JsonObject, lasts: bool) -> Vec<(&str, &ClientJson)> {
    match lasts {
        true => object.entries().into_iter().collect(),
        false => object.pairs().collect(),
    }
}

/// Returns the fields that the keys of an object set. With `is_exact`, only the last value of a
/// repeated key is read.
fn members_of<'j>(
    object: &'j JsonObject,
    names: &'static [&'static str],
    is_exact: bool,
) -> impl Iterator<Item = Member<'j>> {
    counting(object, is_exact).into_iter().filter_map(move |(key, json)| {
        let name = field_of(key, names, is_exact)?;
        Some(Member { name, key, json })
    })
}

/// Returns the field that a key sets. Without `is_exact`, case does not count (encoding/json
/// `foldName`).
fn field_of(key: &str, names: &'static [&'static str], is_exact: bool) -> Option<&'static str> {
    let is_field = |name: &&&str| match is_exact {
        true => **name == key,
        false => key.chars().map(folded).eq(name.chars()),
    };
    names.iter().find(is_field).copied()
}

/// Folds the case of a letter. Two letters outside of ASCII fold to `s` and `k`.
fn folded(letter: char) -> char {
    match letter {
        'ſ' => 's',
        '\u{212a}' => 'k',
        other => other.to_ascii_lowercase(),
    }
}

/// Reads a value that may be null; a null counts as absent.
fn nullable<'j, T>(
    json: &'j ClientJson,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
    read: impl FnOnce(&'j ClientJson, &Path<'_>, &mut Validation<'_>) -> Option<T>,
) -> Option<T> {
    match json {
        ClientJson::Null => None,
        other => read(other, at, cx),
    }
}

fn text(json: &ClientJson, into: &mut String, at: &Path<'_>, cx: &mut Validation<'_>) {
    if let Some(text) = nullable(json, at, cx, load::text) {
        text.clone_into(into);
    }
}

/// Returns the elements of a list; none for null.
fn list<'j>(json: &'j ClientJson, at: &Path<'_>, cx: &mut Validation<'_>) -> &'j [ClientJson] {
    nullable(json, at, cx, load::array)
        .map(Vec::as_slice)
        .unwrap_or_default()
}

/// Reads a list of servers, of which the first `whole` must be complete. A null is `None`.
fn servers(json: &ClientJson, whole: usize, at: &Path<'_>, cx: &mut Validation<'_>) -> Vec<Option<Server>> {
    if *json == ClientJson::Null {
        return Vec::new();
    }
    servers_of(json, at, cx, |i, json, at, cx| {
        Some((*json != ClientJson::Null).then(|| server(json, i < whole, at, cx)))
    })
}

/// Reports servers that are null: the client's process dies once the document is read. With
/// `is_old`, the client looks at the first server alone.
fn alive(servers: &[Option<Server>], is_old: bool, at: &Path<'_>, cx: &mut Validation<'_>) {
    let looked_at = if is_old { 1 } else { servers.len() };
    let looked_at = servers.iter().take(looked_at).enumerate();
    for (i, _) in looked_at.filter(|(_, server)| server.is_none()) {
        null_kills(&at.index(i), cx);
    }
}

fn null_kills(at: &Path<'_>, cx: &mut Validation<'_>) {
    load::refuse(at, format_args!("is null: the client's process dies of it"), cx);
}

/// Reads a server. With `is_whole`, it must have a `server_uri` and credentials that the client
/// has.
fn server(json: &ClientJson, is_whole: bool, at: &Path<'_>, cx: &mut Validation<'_>) -> Server {
    let mark = cx.mark();
    let (mut server, mut channel, mut calls) = (Server::default(), Vec::new(), Vec::new());
    for member in members(json, &SERVER_KEYS, false, at, cx) {
        let (at, json) = (at.field(member.key), member.json);
        match member.name {
            "server_uri" => text(json, &mut server.uri, &at, cx),
            "channel_creds" => channel = entries(json, &at, cx),
            "call_creds" if cx.has(Feature::BootstrapCallCredsRead) => calls = entries(json, &at, cx),
            "server_features" => {
                let features = list(json, &at, cx).iter().enumerate().map(|(i, json)| {
                    let mut feature = String::new();
                    text(json, &mut feature, &at.index(i), cx);
                    feature
                });
                let features: Vec<String> = features.collect();
                server.features = known_features(features.iter().map(String::as_str));
            }
            _ => {}
        }
    }
    if let ClientJson::Object(object) = json
        && !cx.has(Feature::BootstrapCallCreds)
    {
        switched_off(object, "call_creds", Feature::BootstrapCallCreds, at, cx);
    }
    if cx.nacked_since(mark) {
        return server;
    }
    server.channel_creds = chosen(&channel, is_whole, &at.field("channel_creds"), cx);
    if cx.has(Feature::BootstrapCallCreds) {
        call_creds(&calls, &at.field("call_creds"), cx);
    }
    if is_whole && server.uri.is_empty() {
        load::missing(&at.field("server_uri"), cx);
    }
    server
}

/// An entry of a list of credentials: its type, and its config as it stands in the text.
#[derive(Default)]
struct Entry<'j> {
    kind: String,
    config: Option<&'j ClientJson>,
}

fn entries<'j>(json: &'j ClientJson, at: &Path<'_>, cx: &mut Validation<'_>) -> Vec<Entry<'j>> {
    let entries = list(json, at, cx).iter().enumerate().map(|(i, json)| {
        let (at, mut entry) = (at.index(i), Entry::default());
        for member in members(json, &["type", "config"], false, &at, cx) {
            match member.name {
                "type" => text(member.json, &mut entry.kind, &at.field(member.key), cx),
                _ => entry.config = Some(member.json),
            }
        }
        entry
    });
    entries.collect()
}

/// Returns the first type of credentials that the client has. Newer clients build all entries of
/// such types, so all their configs are checked.
fn chosen(entries: &[Entry<'_>], must_be: bool, at: &Path<'_>, cx: &mut Validation<'_>) -> String {
    let types = super::dialect::BootstrapDialect::of(cx.profile()).channel_types;
    let is_known = |(_, entry): &(usize, &Entry<'_>)| types.contains(&entry.kind.as_str());
    let known = || entries.iter().enumerate().filter(is_known);
    let makes_one = cx.has(Feature::BootstrapFirstCreds);
    let made = if makes_one { 1 } else { usize::MAX };
    for (i, entry) in known().take(made).filter(|(_, entry)| entry.kind == "tls") {
        go_files::tls(entry.config, &at.index(i).field("config"), cx);
    }
    let first = known().next();
    if first.is_none() && must_be {
        creds::none_known(at, cx);
    }
    first.map_or_else(String::new, |(_, entry)| entry.kind.clone())
}

fn call_creds(entries: &[Entry<'_>], at: &Path<'_>, cx: &mut Validation<'_>) {
    let entries = entries.iter().enumerate();
    for (i, entry) in entries.filter(|(_, entry)| entry.kind == creds::CALL_TYPE) {
        let (at, mut file) = (at.index(i), String::new());
        let at = at.field("config");
        let mark = cx.mark();
        let config = entry
            .config
            .map(|json| members(json, &[creds::CALL_TYPE], false, &at, cx));
        for member in config.into_iter().flatten() {
            text(member.json, &mut file, &at.field(member.key), cx);
        }
        if file.is_empty() && !cx.nacked_since(mark) {
            load::missing(&at.field(creds::CALL_TYPE), cx);
        }
    }
}

fn node(json: &ClientJson, id: &mut String, at: &Path<'_>, cx: &mut Validation<'_>) {
    for member in members(json, &NODE_KEYS, false, at, cx) {
        let (at, json) = (at.field(member.key), member.json);
        match member.name {
            "id" => text(json, id, &at, cx),
            "cluster" => text(json, &mut String::new(), &at, cx),
            "locality" => {
                for member in members(json, &LOCALITY_KEYS, false, &at, cx) {
                    text(member.json, &mut String::new(), &at.field(member.key), cx);
                }
            }
            _ => go_values::metadata(json, true, &at, cx),
        }
    }
}

fn providers(json: &ClientJson, is_old: bool, bootstrap: &mut Bootstrap, at: &Path<'_>, cx: &mut Validation<'_>) {
    let Some(object) = nullable(json, at, cx, load::object) else {
        return;
    };
    for (name, json) in counting(object, is_old) {
        let (at, mut plugin, mut config) = (at.json_key(name), String::new(), None);
        for member in members(json, &["plugin_name", "config"], false, &at, cx) {
            match member.name {
                "plugin_name" => text(member.json, &mut plugin, &at.field(member.key), cx),
                _ => config = Some(member.json),
            }
        }
        // A plugin that the client does not have is ignored.
        if plugin == super::providers::FILE_WATCHER {
            go_files::provider(config, &at.field("config"), cx);
        }
        let bundle_map = cx.has(Feature::MtlsSpiffe).then_some("spiffe_trust_bundle_map_file");
        let provider = CertificateProvider::of(plugin, json, bundle_map);
        bootstrap.certificate_providers.insert(name.to_owned(), provider);
    }
}

fn authorities(json: &ClientJson, is_old: bool, bootstrap: &mut Bootstrap, at: &Path<'_>, cx: &mut Validation<'_>) {
    let Some(object) = nullable(json, at, cx, load::object) else {
        return;
    };
    for (name, json) in object.pairs() {
        let at = at.json_key(name);
        if *json == ClientJson::Null {
            null_kills(&at, cx);
            continue;
        }
        let (mut authority, at_template) = (Authority::default(), at.field(AUTHORITY_KEYS[0]));
        for member in members(json, &AUTHORITY_KEYS, is_old, &at, cx) {
            let (at, json) = (at.field(member.key), member.json);
            match member.name {
                "xds_servers" => {
                    let listed = servers(json, if is_old { 0 } else { usize::MAX }, &at, cx);
                    if is_old && listed.is_empty() && !cx.nacked() {
                        without_servers(&at, cx);
                    }
                    // Later clients look at the servers of all authorities when they start.
                    if !cx.has(Feature::BootstrapFirstCreds) {
                        alive(&listed, is_old, &at, cx);
                    }
                    authority.servers = listed.into_iter().flatten().collect();
                }
                "client_listener_resource_name_template" => {
                    text(json, &mut authority.client_listener_template, &at, cx)
                }
                _ => {}
            }
        }
        if !authority.client_listener_template.is_empty() {
            let prefix = format!("{}{}", super::XDSTP, go_values::path_escaped(name));
            check_template(&authority.client_listener_template, &prefix, &at_template, cx);
        }
        bootstrap.authorities.insert(name.to_owned(), authority);
    }
}

fn services(json: &ClientJson, bootstrap: &mut Bootstrap, at: &Path<'_>, cx: &mut Validation<'_>) {
    let Some(object) = nullable(json, at, cx, load::object) else {
        return;
    };
    for (uri, json) in object.pairs() {
        let (at, mut channel, mut calls) = (at.json_key(uri), Vec::new(), Vec::new());
        if *json == ClientJson::Null {
            _ = wrong::<()>(json, "an object", &at, cx);
            continue;
        }
        for member in members(json, &["channel_creds", "call_creds"], false, &at, cx) {
            let (at, json) = (at.field(member.key), member.json);
            match member.name {
                "channel_creds" => channel = entries(json, &at, cx),
                _ => calls = entries(json, &at, cx),
            }
        }
        let chosen = chosen(&channel, true, &at.field("channel_creds"), cx);
        call_creds(&calls, &at.field("call_creds"), cx);
        bootstrap.allowed_grpc_services.insert(uri.to_owned(), chosen);
    }
}
