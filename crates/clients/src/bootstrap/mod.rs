//! The gRPC bootstrap file (A27, A47, A65, A71, A97): read and checked as the client does.
//!
//! Any error makes the client reject the whole file, and with it every xDS channel. Each family has
//! a file that reads a bootstrap in its own way, and [`dialect`] says how its JSON parser differs.
//! This file has what they share: the rules, the value that is kept, and the advice. The client
//! ignores unknown keys; xdsctl reports them, and what was probably meant.

pub mod client_json;
mod core;
mod creds;
mod dialect;
mod go;
mod go_files;
mod go_values;
mod java;
mod load;
mod node;
mod providers;
mod rust;

pub use providers::CertificateProvider;

use std::collections::{BTreeMap, BTreeSet};

use client_json::{ClientJson, JsonObject};
use dialect::BootstrapDialect;

use load::{field, text_or_absent};
use xdsctl_model::diag::{Diagnostic, Path, Validation, rules};
use xdsctl_model::profile::{Family, Feature, Profile, ServerFacts};

rules! {
    /// The bootstrap is not JSON as the client reads it.
    BOOTSTRAP_NOT_JSON = "bootstrap-not-json", Bootstrap, Nack, "C-core json_reader.cc";
    /// A bootstrap field has the wrong JSON type.
    BOOTSTRAP_WRONG_TYPE = "bootstrap-wrong-type", Bootstrap, Nack, "gRFC A27; C-core json_object_loader.cc";
    /// A required bootstrap field is missing.
    BOOTSTRAP_FIELD_MISSING = "bootstrap-field-missing", Bootstrap, Nack, "gRFC A27; C-core json_object_loader.cc";
    /// The bootstrap names no xDS server.
    BOOTSTRAP_WITHOUT_SERVERS = "bootstrap-without-servers", Bootstrap, Nack, "gRFC A27; C-core GrpcXdsBootstrap::JsonPostLoad";
    /// An authority's listener name template does not start with the authority's own prefix.
    BOOTSTRAP_AUTHORITY_TEMPLATE = "bootstrap-authority-template", Bootstrap, Nack, "gRFC A47; C-core GrpcXdsBootstrap::JsonPostLoad";
    /// The bootstrap has a key that the client does not know.
    BOOTSTRAP_UNKNOWN_KEY = "bootstrap-unknown-key", Bootstrap, Ignored as Warning, "C-core json_object_loader.cc";
    /// A gRPC server's bootstrap does not say by which name its listener is asked for.
    BOOTSTRAP_SERVER_TEMPLATE_MISSING = "bootstrap-server-template-missing", Bootstrap, Fails, "gRFC A36; C-core grpc_server_config_fetcher_xds_create";
    /// A server of the list is asked only while the one before it cannot be reached.
    BOOTSTRAP_SECOND_SERVER = "bootstrap-second-server", Bootstrap, Advice as Note, "gRFC A71; C-core XdsClient::MaybeFallbackLocked";
    /// The address of a server has no scheme, or one that does not agree with the credentials.
    BOOTSTRAP_SERVER_URI_SCHEME = "bootstrap-server-uri-scheme", Bootstrap, Fails, "tonic-xds bootstrap.rs validate_uri_scheme";
    /// A bootstrap field is read only with a switch that is off.
    BOOTSTRAP_FIELD_SWITCHED_OFF = "bootstrap-field-switched-off", Bootstrap, Ignored, "C-core xds_bootstrap_grpc.cc, xds_server_grpc.cc";
}

/// The rules of the credentials and of the certificate providers.
pub static PART_RULES: &[&[&xdsctl_model::diag::Rule]] = &[creds::RULES, providers::RULES];

/// What the client keeps of a bootstrap.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bootstrap {
    /// The management servers, in order.
    pub servers: Vec<Server>,
    /// `node.id`; empty if absent.
    pub node_id: String,
    /// The certificate providers by name.
    pub certificate_providers: BTreeMap<String, CertificateProvider>,
    /// `client_default_listener_resource_name_template`; empty for the default `%s`.
    pub client_default_listener_template: String,
    /// `server_listener_resource_name_template`.
    pub server_listener_template: String,
    /// Authorities by name.
    pub authorities: BTreeMap<String, Authority>,
    /// Allowed gRPC services by target URI, with the type of the channel credentials.
    pub allowed_grpc_services: BTreeMap<String, String>,
}

/// A management server that the bootstrap names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Server {
    /// `server_uri`.
    pub uri: String,
    /// The type of the channel credentials in use.
    pub channel_creds: String,
    /// The server features that the client knows, of those that are listed.
    pub features: BTreeSet<String>,
}

/// An authority of `xdstp:` names (A47).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Authority {
    /// The servers of the authority; empty for those of the bootstrap itself.
    pub servers: Vec<Server>,
    /// Listener name template; empty for the default.
    pub client_listener_template: String,
    /// The client falls back only when the server cannot be reached (A95).
    pub fallback_on_reachability_only: bool,
}

/// The server features that the client knows (A53, A81, A88).
const FEATURES: [&str; 4] = [
    "ignore_resource_deletion",
    "fail_on_data_errors",
    "resource_timer_is_transient_error",
    "trusted_xds_server",
];

/// Keys of the document.
const KEYS: [&str; 7] = [
    "xds_servers",
    "node",
    "certificate_providers",
    "server_listener_resource_name_template",
    "authorities",
    "client_default_listener_resource_name_template",
    "allowed_grpc_services",
];

/// Keys of a management server.
const SERVER_KEYS: [&str; 4] = ["server_uri", "channel_creds", "call_creds", "server_features"];

/// Keys of the node.
const NODE_KEYS: [&str; 4] = ["id", "cluster", "locality", "metadata"];

/// Keys of the node's locality.
const LOCALITY_KEYS: [&str; 3] = ["region", "zone", "sub_zone"];

/// Keys of an authority.
const AUTHORITY_KEYS: [&str; 3] = [
    "client_listener_resource_name_template",
    "xds_servers",
    "fallback_on_reachability_only",
];

/// In most families, an authority's listener template must begin with this, the authority's name
/// and a slash.
const XDSTP: &str = "xdstp://";

impl Bootstrap {
    /// Returns the facts that change how resources are validated.
    pub fn server_facts(&self) -> ServerFacts {
        let has = |feature: &str| self.servers.first().is_some_and(|s| s.features.contains(feature));
        ServerFacts {
            certificate_providers: Some(self.certificate_providers.keys().cloned().collect()),
            authorities: Some(self.authorities.keys().cloned().collect()),
            trusted_xds_server: has("trusted_xds_server"),
            ignore_resource_deletion: has("ignore_resource_deletion"),
            fail_on_data_errors: has("fail_on_data_errors"),
            allowed_grpc_services: self.allowed_grpc_services.clone(),
        }
    }
}

/// Reads a bootstrap; `None` when the client rejects it.
///
/// A syntax error carries its byte offset beside the findings.
pub fn validate(text: &[u8], profile: &Profile) -> (Option<Bootstrap>, Vec<Diagnostic>, Option<usize>) {
    let facts = ServerFacts::default();
    let mut cx = Validation::new(profile, &facts);
    let json = match client_json::parse_with(text, BootstrapDialect::of(profile).json) {
        Ok(json) => json,
        Err(fault) => {
            cx.report(&BOOTSTRAP_NOT_JSON, &Path::ROOT, format_args!("{fault}"));
            return (None, cx.finish(), Some(fault.offset));
        }
    };
    let read = match profile.client().family {
        Family::Cpp => core::document,
        Family::Go => go::document,
        Family::Java => java::document,
        Family::Node => node::document,
        Family::Rust => rust::document,
    };
    let bootstrap = read(&json, &mut cx);
    let bootstrap = if cx.nacked() { None } else { bootstrap };
    (bootstrap, cx.finish(), None)
}

/// Reads a list of servers with the function of a family, which also gets the index.
fn servers_of<T>(
    json: &ClientJson,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
    mut server: impl FnMut(usize, &ClientJson, &Path<'_>, &mut Validation<'_>) -> Option<T>,
) -> Vec<T> {
    let list = load::array(json, at, cx).into_iter().flatten().enumerate();
    let servers = list.filter_map(|(i, json)| {
        let at = at.index(i);
        if i == 1 {
            second_server(&at, cx);
        }
        server(i, json, &at, cx)
    });
    servers.collect()
}

/// Notes what the second server of a list is for.
fn second_server(at: &Path<'_>, cx: &mut Validation<'_>) {
    let message = match BootstrapDialect::of(cx.profile()).falls_back {
        true => "a fallback: it is asked only while the server before it cannot be reached and a resource that is wanted is not there; a \
         server that answers keeps it out, whatever it answers"
            .to_owned(),
        false => format!("{} asks the first server alone: this one is never asked", cx.profile().name()),
    };
    cx.report(&BOOTSTRAP_SECOND_SERVER, at, format_args!("{message}"));
}

/// Returns the finding on a bootstrap without server_listener_resource_name_template, from which a
/// server makes its Listener's name. `which` follows the words `a gRPC server`.
pub fn without_server_template(which: &str) -> Diagnostic {
    let message = format!("server_listener_resource_name_template is missing: a gRPC server {which} does not start");
    Diagnostic::of_whole(&BOOTSTRAP_SERVER_TEMPLATE_MISSING, message)
}

/// Reads an authority as grpc-java and grpc-js-xds do; `servers` are its own.
fn authority(
    name: &str,
    object: &JsonObject,
    servers: impl FnOnce(&mut Validation<'_>) -> Vec<Server>,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Authority {
    unknown_keys(object, &AUTHORITY_KEYS, at, cx);
    let mark = cx.mark();
    let template = text_or_absent(object, AUTHORITY_KEYS[0], at, cx);
    if object.contains_key(AUTHORITY_KEYS[0]) && !cx.nacked_since(mark) {
        check_template(&template, &format!("{XDSTP}{name}/"), &at.field(AUTHORITY_KEYS[0]), cx);
    }
    Authority {
        servers: servers(cx),
        client_listener_template: template,
        fallback_on_reachability_only: false,
    }
}

/// Reports an authority's template that does not begin with `prefix`.
fn check_template(template: &str, prefix: &str, at: &Path<'_>, cx: &mut Validation<'_>) {
    if !template.starts_with(prefix) {
        let why = format_args!("template `{template}` must start with `{prefix}`");
        cx.report(&BOOTSTRAP_AUTHORITY_TEMPLATE, at, why);
    }
}

/// Reports that the list of servers is empty.
fn without_servers(at: &Path<'_>, cx: &mut Validation<'_>) {
    let why = format_args!("xds_servers is empty, must name at least one server");
    cx.report(&BOOTSTRAP_WITHOUT_SERVERS, at, why);
}

/// Returns those of a server's features that the client knows.
fn known_features<'f>(features: impl IntoIterator<Item = &'f str>) -> BTreeSet<String> {
    let known = features.into_iter().filter(|name| FEATURES.contains(name));
    known.map(str::to_owned).collect()
}

/// Notes keys that the client does not look at.
fn unknown_keys(object: &JsonObject, known: &[&str], at: &Path<'_>, cx: &mut Validation<'_>) {
    for key in object.entries().into_keys().filter(|key| !known.contains(key)) {
        unknown_key(key, known, at, cx);
    }
}

/// Notes one unknown key; `known` are the keys that it may be a misspelling of.
fn unknown_key(key: &str, known: &[&str], at: &Path<'_>, cx: &mut Validation<'_>) {
    let why = format_args!("gRPC does not know the key `{key}`");
    let finding = cx.report(&BOOTSTRAP_UNKNOWN_KEY, &at.field(key), why);
    let elsewhere = [
        ("xds_servers[0]", &SERVER_KEYS[..]),
        ("node", &NODE_KEYS),
        ("the bootstrap itself", &KEYS),
    ];
    if let Some((place, _)) = elsewhere.iter().find(|(_, keys)| keys.contains(&key)) {
        finding.help(format!("`{key}` is a key of {place}"));
    } else if let Some(near) = xdsctl_model::text::nearest(key, known.iter().copied()) {
        finding.help(format!("did you mean `{near}`?"));
    }
}

/// Notes the fields of the document that the client reads only with a switch that is off.
fn unread_fields(object: &JsonObject, cx: &mut Validation<'_>) {
    for (name, feature) in [
        ("authorities", Feature::Federation),
        ("client_default_listener_resource_name_template", Feature::Federation),
        ("allowed_grpc_services", Feature::ExtProcOnClient),
    ] {
        if !cx.has(feature) {
            switched_off(object, name, feature, &Path::ROOT, cx);
        }
    }
}

fn switched_off(object: &JsonObject, name: &str, feature: Feature, at: &Path<'_>, cx: &mut Validation<'_>) {
    if field(object, name).is_some() {
        let why = format_args!(
            "gRPC reads `{name}` only with {}=true",
            feature.env().unwrap_or_default()
        );
        cx.report(&BOOTSTRAP_FIELD_SWITCHED_OFF, &at.field(name), why);
    }
}
