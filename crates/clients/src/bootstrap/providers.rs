//! Certificate providers of the bootstrap (A29, A87): the `file_watcher` plugin.

use super::client_json::ClientJson;
use super::dialect::{BootstrapDialect, FileRule, PluginRule};
use super::load::{self, BootstrapObject, field, text_at};
use super::{creds, unknown_keys};
use xdsctl_model::diag::{Effect, Path, Validation, rules};
use xdsctl_model::profile::Feature;

rules! {
    /// A certificate provider names a plugin that the client does not have.
    BOOTSTRAP_UNKNOWN_PLUGIN = "bootstrap-unknown-plugin", Bootstrap, Nack, "gRFC A29; C-core CertificateProviderStore::PluginDefinition";
    /// A certificate provider has an empty plugin_name.
    BOOTSTRAP_PLUGIN_NAME_EMPTY = "bootstrap-plugin-name-empty", Bootstrap, Fails, "C-core CertificateProviderStore::CreateCertificateProviderLocked";
    /// A file_watcher provider has no file to watch.
    BOOTSTRAP_PROVIDER_WITHOUT_FILES = "bootstrap-provider-without-files", Bootstrap, Nack, "gRFC A29; C-core FileWatcherCertificateProviderFactory";
}

/// The only plugin that every client has.
const FILE_WATCHER: &str = "file_watcher";

/// A certificate provider of the bootstrap.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CertificateProvider {
    /// Its plugin.
    pub plugin: String,
    /// It can have a certificate and its key: their files are named, or the plugin is another one.
    pub has_identity: bool,
    /// It can have roots, likewise.
    pub has_roots: bool,
}

impl CertificateProvider {
    /// What a provider with this plugin can have.
    pub(super) fn of(plugin: String, json: &ClientJson) -> CertificateProvider {
        let is_other = plugin != FILE_WATCHER;
        let config = match json {
            ClientJson::Object(object) => field(object, "config"),
            _ => None,
        };
        let names = |file: &str| match config {
            Some(ClientJson::Object(config)) => field(config, file).is_some(),
            _ => false,
        };
        CertificateProvider {
            has_identity: is_other || names("certificate_file") && names("private_key_file"),
            has_roots: is_other || names("ca_certificate_file") || names("spiffe_bundle_map_file"),
            plugin,
        }
    }
}

/// Checks one provider and returns its plugin.
pub fn provider(json: &ClientJson, at: &Path<'_>, cx: &mut Validation<'_>) -> String {
    let Some(object) = load::object(json, at, cx) else {
        return String::new();
    };
    unknown_keys(object, &["plugin_name", "config"], at, cx);
    let at_name = at.field("plugin_name");
    let dialect = BootstrapDialect::of(cx.profile());
    let name = match field(object, "plugin_name") {
        // grpc-go has no plugin of that name, as of any other that it does not know.
        None if dialect.files == FileRule::Go => "",
        None => {
            load::missing(&at_name, cx);
            ""
        }
        Some(json) => match load::text(json, &at_name, cx) {
            Some("") => {
                cx.report(
                    &BOOTSTRAP_PLUGIN_NAME_EMPTY,
                    &at_name,
                    format_args!("plugin_name is empty: TLS contexts that use this provider cannot connect"),
                );
                ""
            }
            other => other.unwrap_or_default(),
        },
    };
    if dialect.needs_config && object.get("config").is_none_or(|config| *config == ClientJson::Null) {
        load::missing(&at.field("config"), cx);
        return name.to_owned();
    }
    if !name.is_empty() && name != FILE_WATCHER {
        if dialect.plugin == PluginRule::Any {
            return name.to_owned();
        }
        cx.report(
            &BOOTSTRAP_UNKNOWN_PLUGIN,
            &at_name,
            format_args!("plugin `{name}` is unknown, must be `{FILE_WATCHER}` or one that the application registers"),
        );
        return name.to_owned();
    }
    let at_config = at.field("config");
    let empty = BootstrapObject::new();
    // Unlike an ordinary field, null is not the same as absent here.
    let config = match object.get("config") {
        None => Some(&empty),
        Some(json) => load::object(json, &at_config, cx),
    };
    if let Some(config) = config
        && name == FILE_WATCHER
    {
        file_watcher(config, &at_config, cx);
    }
    name.to_owned()
}

fn file_watcher(config: &BootstrapObject, at: &Path<'_>, cx: &mut Validation<'_>) {
    const FILES: [&str; 4] = [
        "certificate_file",
        "private_key_file",
        "ca_certificate_file",
        "spiffe_bundle_map_file",
    ];
    let rule = BootstrapDialect::of(cx.profile()).files;
    if rule == FileRule::Java {
        return all_three(config, at, cx);
    }
    for name in FILES {
        text_at(config, name, at, cx);
    }
    if let Some(json) = field(config, "refresh_interval") {
        load::duration(json, &at.field("refresh_interval"), cx);
    }
    if rule == FileRule::Node && field(config, "refresh_interval").is_none() {
        load::missing(&at.field("refresh_interval"), cx);
    }
    creds::key_pair(config, at, cx);
    let spiffe = cx.has(Feature::MtlsSpiffe);
    let watched = |name: &str| creds::file(config, name, rule).is_some();
    if !(watched("certificate_file") || watched("ca_certificate_file") || (spiffe && watched("spiffe_bundle_map_file")))
    {
        cx.report(
            &BOOTSTRAP_PROVIDER_WITHOUT_FILES,
            at,
            format_args!("no file to watch, must have certificate_file or ca_certificate_file"),
        );
    }
}

/// grpc-java makes a provider once a TLS context uses it, and wants all files then
/// (`FileWatcherCertificateProviderProvider`).
fn all_three(config: &BootstrapObject, at: &Path<'_>, cx: &mut Validation<'_>) {
    const FILES: [&str; 3] = ["certificate_file", "private_key_file", "ca_certificate_file"];
    let has_map = config.contains_key("spiffe_trust_bundle_map_file");
    let is_missing = |name: &&str| field(config, name).is_none() && !(has_map && *name == "ca_certificate_file");
    let missing: Vec<&str> = FILES.into_iter().filter(is_missing).collect();
    if !missing.is_empty() {
        let message = format_args!(
            "grpc-java needs {} too: TLS contexts that use this provider cannot connect",
            missing.join(" and ")
        );
        cx.report_as(Effect::Fails, &BOOTSTRAP_PROVIDER_WITHOUT_FILES, at, message);
    }
}
