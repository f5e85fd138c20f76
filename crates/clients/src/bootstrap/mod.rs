//! The gRPC bootstrap file (A27, A47, A65, A71, A97): read and checked as the client does.
//!
//! Any error makes the client reject the whole file, and with it every xDS channel. Follows C-core
//! `GrpcXdsBootstrap::Create` (xds_bootstrap_grpc.cc), `GrpcXdsServer` (xds_server_grpc.cc), the
//! credentials registries and the file_watcher provider. Unknown keys are ignored by the client;
//! xdsctl says so, and what was probably meant.

pub mod client_json;
mod creds;
mod dialect;
mod load;
mod providers;

pub use providers::CertificateProvider;

use std::collections::{BTreeMap, BTreeSet};

use client_json::ClientJson;
use dialect::BootstrapDialect;

use load::{BootstrapObject, field, text_at};
use xdsctl_model::diag::{Diagnostic, Effect, Path, Validation, rules};
use xdsctl_model::profile::{Feature, Profile, ServerFacts};

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
    /// Type of the channel credentials in use.
    pub channel_creds: String,
    /// The features that the client knows.
    pub features: BTreeSet<String>,
}

/// An authority of `xdstp:` names (A47).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Authority {
    /// The servers of the authority; empty for those of the bootstrap itself.
    pub servers: Vec<Server>,
    /// Listener name template; empty for the default.
    pub client_listener_template: String,
    /// Fall back only when the server cannot be reached (A95).
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

impl Bootstrap {
    /// The facts that change how resources are validated.
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
    let bootstrap = document(&json, &mut cx);
    let bootstrap = if cx.nacked() { None } else { bootstrap };
    (bootstrap, cx.finish(), None)
}

fn document(json: &ClientJson, cx: &mut Validation<'_>) -> Option<Bootstrap> {
    let root = Path::ROOT;
    let object = load::object(json, &root, cx)?;
    unknown_keys(object, &KEYS, &root, cx);
    let mut bootstrap = Bootstrap::default();
    servers_field(object, &mut bootstrap, cx);
    match field(object, "node") {
        Some(node) => bootstrap.node_id = node_fields(node, &root.field("node"), cx),
        None if BootstrapDialect::of(cx.profile()).needs_node => load::missing(&root.field("node"), cx),
        None => {}
    }
    if let Some(json) = field(object, "certificate_providers") {
        let at = root.field("certificate_providers");
        for (name, entry) in load::object(json, &at, cx).into_iter().flatten() {
            let plugin = providers::provider(entry, &at.json_key(name), cx);
            let provider = CertificateProvider::of(plugin, entry);
            bootstrap.certificate_providers.insert(name.clone(), provider);
        }
    }
    let template = "server_listener_resource_name_template";
    bootstrap.server_listener_template = text_at(object, template, &root, cx);
    if cx.has(Feature::Federation) {
        authorities(object, &mut bootstrap, cx);
        let template = "client_default_listener_resource_name_template";
        bootstrap.client_default_listener_template = text_at(object, template, &root, cx);
    } else {
        for name in ["authorities", "client_default_listener_resource_name_template"] {
            switched_off(object, name, Feature::Federation, &root, cx);
        }
    }
    if cx.has(Feature::ExtProcOnClient) {
        allowed_services(object, &mut bootstrap, cx);
    } else {
        let name = "allowed_grpc_services";
        if let Some(json) = field(object, name).filter(|_| BootstrapDialect::of(cx.profile()).reads_services) {
            load::object(json, &root.field(name), cx);
        }
        switched_off(object, name, Feature::ExtProcOnClient, &root, cx);
    }
    Some(bootstrap)
}

fn servers_field(object: &BootstrapObject, bootstrap: &mut Bootstrap, cx: &mut Validation<'_>) {
    let root = Path::ROOT;
    let at = root.field("xds_servers");
    match field(object, "xds_servers") {
        None => load::missing(&at, cx),
        Some(ClientJson::Array(list)) if list.is_empty() => {
            let needs_servers = BootstrapDialect::of(cx.profile()).needs_servers;
            cx.report_as(
                if needs_servers { Effect::Nack } else { Effect::Fails },
                &BOOTSTRAP_WITHOUT_SERVERS,
                &at,
                format_args!("xds_servers is empty, must name at least one server"),
            );
        }
        Some(json) => bootstrap.servers = servers(json, &at, cx),
    }
}

fn servers(json: &ClientJson, at: &Path<'_>, cx: &mut Validation<'_>) -> Vec<Server> {
    load::array(json, at, cx)
        .into_iter()
        .flatten()
        .enumerate()
        .filter_map(|(i, entry)| {
            if i == 1 {
                second_server(&at.index(i), cx);
            }
            let is_read = i == 0 || !BootstrapDialect::of(cx.profile()).reads_first_server;
            is_read.then(|| server(entry, &at.index(i), cx))
        })
        .collect()
}

/// Says what the servers behind the first are for.
fn second_server(at: &Path<'_>, cx: &mut Validation<'_>) {
    if !BootstrapDialect::of(cx.profile()).falls_back {
        let name = cx.profile().name();
        let message = format_args!("{name} asks the first server alone: this one is never asked");
        cx.report(&BOOTSTRAP_SECOND_SERVER, at, message);
        return;
    }
    let message = format_args!(
        "a fallback: it is asked only while the server before it cannot be reached and a resource that is wanted is not there; a \
         server that answers keeps it out, whatever it answers"
    );
    cx.report(&BOOTSTRAP_SECOND_SERVER, at, message);
}

/// The finding on a bootstrap without the template by whose name a server asks for its listener;
/// `which` follows the words `a gRPC server`.
pub fn without_server_template(which: &str) -> Diagnostic {
    let message = format!("server_listener_resource_name_template is missing: a gRPC server {which} does not start");
    Diagnostic::of_whole(&BOOTSTRAP_SERVER_TEMPLATE_MISSING, message)
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
    let features = match object.get("server_features") {
        None => BTreeSet::new(),
        Some(json) => load::array(json, &at.field("server_features"), cx)
            .into_iter()
            .flatten()
            .enumerate()
            .filter_map(|(i, feature)| match feature {
                ClientJson::String(name) if FEATURES.contains(&name.as_str()) => Some(name.clone()),
                other => {
                    if BootstrapDialect::of(cx.profile()).needs_feature_texts {
                        load::text(other, &at.field("server_features").index(i), cx);
                    }
                    None
                }
            })
            .collect(),
    };
    let at_uri = at.field("server_uri");
    let uri = match object.get("server_uri") {
        None => {
            load::missing(&at_uri, cx);
            String::new()
        }
        Some(json) => load::text(json, &at_uri, cx).unwrap_or_default().to_owned(),
    };
    if uri.is_empty() && object.contains_key("server_uri") && BootstrapDialect::of(cx.profile()).needs_uri_text {
        load::missing(&at_uri, cx);
    }
    if BootstrapDialect::of(cx.profile()).needs_scheme {
        scheme(&uri, &channel_creds, &at_uri, cx);
    }
    Server {
        uri,
        channel_creds,
        features,
    }
}

/// Checks that the address of a server has a scheme that agrees with the credentials.
fn scheme(uri: &str, channel_creds: &str, at: &Path<'_>, cx: &mut Validation<'_>) {
    let scheme = uri.split_once("://").map(|(scheme, _)| scheme);
    match (scheme, channel_creds) {
        (None, "insecure") => {
            let why = "it has no scheme, so that the client never connects, must be like `http://xds.example.com:443`";
            cx.report(&BOOTSTRAP_SERVER_URI_SCHEME, at, format_args!("{why}"));
        }
        (Some("https"), "insecure") => {
            let why = format_args!("the scheme is https, and the credentials are `insecure`");
            cx.report_as(Effect::Nack, &BOOTSTRAP_SERVER_URI_SCHEME, at, why);
        }
        (Some(scheme), "tls") if scheme != "https" => {
            let why = format_args!("the scheme is {scheme}, and the credentials are `tls`, which need https or none");
            cx.report_as(Effect::Nack, &BOOTSTRAP_SERVER_URI_SCHEME, at, why);
        }
        _ => {}
    }
}

/// Checks `node` and returns its id.
fn node_fields(json: &ClientJson, at: &Path<'_>, cx: &mut Validation<'_>) -> String {
    let Some(object) = load::object(json, at, cx) else {
        return String::new();
    };
    unknown_keys(object, &NODE_KEYS, at, cx);
    if BootstrapDialect::of(cx.profile()).needs_node {
        for name in ["id", "locality"]
            .into_iter()
            .filter(|name| !object.contains_key(*name))
        {
            load::missing(&at.field(name), cx);
        }
    }
    let id = text_at(object, "id", at, cx);
    text_at(object, "cluster", at, cx);
    if let Some(json) = field(object, "locality") {
        let at = at.field("locality");
        if let Some(locality) = load::object(json, &at, cx) {
            unknown_keys(locality, &["region", "zone", "sub_zone"], &at, cx);
            for name in ["region", "zone", "sub_zone"] {
                text_at(locality, name, &at, cx);
            }
        }
    }
    if let Some(json) = field(object, "metadata") {
        load::object(json, &at.field("metadata"), cx);
    }
    id
}

fn authorities(object: &BootstrapObject, bootstrap: &mut Bootstrap, cx: &mut Validation<'_>) {
    let root = Path::ROOT;
    let at = root.field("authorities");
    let Some(json) = field(object, "authorities") else {
        return;
    };
    for (name, entry) in load::object(json, &at, cx).into_iter().flatten() {
        let at = at.json_key(name);
        let Some(object) = load::object(entry, &at, cx) else {
            continue;
        };
        let known = [
            "client_listener_resource_name_template",
            "xds_servers",
            "fallback_on_reachability_only",
        ];
        unknown_keys(object, &known, &at, cx);
        let template = text_at(object, known[0], &at, cx);
        let servers = field(object, "xds_servers").map_or_else(Vec::new, |json| {
            let at = at.field("xds_servers");
            match BootstrapDialect::of(cx.profile()).reads_first_server {
                // Whoever reads no list to its end does not look at what an authority's server
                // lacks.
                true => servers(json, &at, &mut Validation::new(cx.profile(), &ServerFacts::default())),
                false => servers(json, &at, cx),
            }
        });
        let at_flag = at.field("fallback_on_reachability_only");
        let flag = field(object, "fallback_on_reachability_only").and_then(|json| load::flag(json, &at_flag, cx));
        let prefix = format!("xdstp://{name}{}", BootstrapDialect::of(cx.profile()).after_authority);
        if !template.is_empty() && !template.starts_with(&prefix) {
            cx.report(
                &BOOTSTRAP_AUTHORITY_TEMPLATE,
                &at.field(known[0]),
                format_args!("template `{template}` must start with `{prefix}`"),
            );
        }
        let authority = Authority {
            servers,
            client_listener_template: template,
            fallback_on_reachability_only: flag.unwrap_or(false),
        };
        bootstrap.authorities.insert(name.clone(), authority);
    }
}

fn allowed_services(object: &BootstrapObject, bootstrap: &mut Bootstrap, cx: &mut Validation<'_>) {
    let root = Path::ROOT;
    let at = root.field("allowed_grpc_services");
    let Some(json) = field(object, "allowed_grpc_services") else {
        return;
    };
    for (uri, entry) in load::object(json, &at, cx).into_iter().flatten() {
        let at = at.json_key(uri);
        let Some(object) = load::object(entry, &at, cx) else {
            continue;
        };
        let channel = creds::channel(object, &at, cx);
        creds::call(object, &at, cx);
        bootstrap.allowed_grpc_services.insert(uri.clone(), channel);
    }
}

/// Notes keys that the client does not look at.
fn unknown_keys(object: &BootstrapObject, known: &[&str], at: &Path<'_>, cx: &mut Validation<'_>) {
    for key in object.keys().filter(|key| !known.contains(&key.as_str())) {
        let finding = cx.report(
            &BOOTSTRAP_UNKNOWN_KEY,
            &at.field(key),
            format_args!("gRPC does not know the key `{key}`"),
        );
        let elsewhere = [
            ("xds_servers[0]", &SERVER_KEYS[..]),
            ("node", &NODE_KEYS),
            ("the bootstrap itself", &KEYS),
        ];
        if let Some((place, _)) = elsewhere.iter().find(|(_, keys)| keys.contains(&key.as_str())) {
            finding.help(format!("`{key}` is a key of {place}"));
        } else if let Some(near) = xdsctl_model::text::nearest(key, known.iter().copied()) {
            finding.help(format!("did you mean `{near}`?"));
        }
    }
}

fn switched_off(object: &BootstrapObject, name: &str, feature: Feature, at: &Path<'_>, cx: &mut Validation<'_>) {
    if field(object, name).is_some() {
        cx.report(
            &BOOTSTRAP_FIELD_SWITCHED_OFF,
            &at.field(name),
            format_args!(
                "gRPC reads `{name}` only with {}=true",
                feature.env().unwrap_or_default()
            ),
        );
    }
}
