//! Certificate providers of the bootstrap (A29, A87): the `file_watcher` plugin, as C-core reads it.

use super::client_json::{ClientJson, JsonObject};
use super::load::{self, field, text_at};
use super::{creds, unknown_keys};
use xdsctl_model::diag::{Path, Validation, rules};
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
pub(super) const FILE_WATCHER: &str = "file_watcher";

/// A certificate provider of the bootstrap.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CertificateProvider {
    /// The plugin's name.
    pub plugin: String,
    /// The provider can have a certificate and its private key: the config names both files, or the
    /// plugin is not `file_watcher`.
    pub has_identity: bool,
    /// The provider can have root certificates: the config names a file of them, or the plugin is
    /// not `file_watcher`.
    pub has_roots: bool,
}

impl CertificateProvider {
    /// Returns what a provider of this plugin and this config can have. `bundle_map` is the key of
    /// the file of SPIFFE bundles (A87), if the client reads one.
    pub(super) fn of(plugin: String, json: &ClientJson, bundle_map: Option<&str>) -> CertificateProvider {
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
            has_roots: is_other || names("ca_certificate_file") || bundle_map.is_some_and(names),
            plugin,
        }
    }
}

/// Checks one provider and returns its plugin's name.
pub fn provider(json: &ClientJson, at: &Path<'_>, cx: &mut Validation<'_>) -> String {
    let Some(object) = load::object(json, at, cx) else {
        return String::new();
    };
    unknown_keys(object, &["plugin_name", "config"], at, cx);
    let at_name = at.field("plugin_name");
    let name = match field(object, "plugin_name") {
        None => {
            load::missing(&at_name, cx);
            None
        }
        Some(json) => load::text(json, &at_name, cx),
    };
    if name == Some("") {
        let why = format_args!("plugin_name is empty: TLS contexts that use this provider cannot connect");
        cx.report(&BOOTSTRAP_PLUGIN_NAME_EMPTY, &at_name, why);
    }
    let name = name.unwrap_or_default();
    if !name.is_empty() && name != FILE_WATCHER {
        unknown_plugin(name, &at_name, cx);
        return name.to_owned();
    }
    let at_config = at.field("config");
    // Unlike an ordinary field, null is not the same as absent here.
    let config = match object.get("config") {
        None => Some(JsonObject::EMPTY),
        Some(json) => load::object(json, &at_config, cx),
    };
    if let Some(config) = config
        && name == FILE_WATCHER
    {
        file_watcher(config, &at_config, cx);
    }
    name.to_owned()
}

fn file_watcher(config: &JsonObject, at: &Path<'_>, cx: &mut Validation<'_>) {
    const FILES: [&str; 4] = [
        "certificate_file",
        "private_key_file",
        "ca_certificate_file",
        "spiffe_bundle_map_file",
    ];
    for name in FILES {
        text_at(config, name, at, cx);
    }
    if let Some(json) = field(config, "refresh_interval") {
        load::duration(json, &at.field("refresh_interval"), cx);
    }
    creds::key_pair(config, at, cx);
    let spiffe = cx.has(Feature::MtlsSpiffe);
    let watched = |name: &str| config.contains_key(name);
    if !(watched("certificate_file") || watched("ca_certificate_file") || (spiffe && watched("spiffe_bundle_map_file")))
    {
        without_files(at, cx);
    }
}

/// Reports that the client does not have a plugin.
pub fn unknown_plugin(name: &str, at: &Path<'_>, cx: &mut Validation<'_>) {
    let why =
        format_args!("plugin `{name}` is unknown, must be `{FILE_WATCHER}` or one that the application registers");
    cx.report(&BOOTSTRAP_UNKNOWN_PLUGIN, at, why);
}

/// Reports that a provider has no file to watch.
pub fn without_files(at: &Path<'_>, cx: &mut Validation<'_>) {
    let why = format_args!("no file to watch, must have certificate_file or ca_certificate_file");
    cx.report(&BOOTSTRAP_PROVIDER_WITHOUT_FILES, at, why);
}

#[cfg(test)]
mod tests {
    use crate::bootstrap::validate;
    use xdsctl_model::profile::{Client, Feature, Profile};

    #[test]
    fn a_file_of_bundles_is_one_of_roots_by_the_key_that_the_client_reads() {
        let has_roots = |client: &str, switch: bool, key: &str| {
            let mut profile = Profile::of(Client::parse_one(client).unwrap());
            if switch {
                profile.set_env(Feature::MtlsSpiffe.env().unwrap(), "true").unwrap();
            }
            let text = format!(
                r#"{{"node": {{"id": "n"}}, "xds_servers": [{{"server_uri": "xds:1", "channel_creds": [{{"type": "insecure"}}]}}],
                "certificate_providers": {{"p": {{"plugin_name": "file_watcher", "config": {{
                "certificate_file": "a", "private_key_file": "b", "refresh_interval": "9s", "{key}": "c"}}}}}}}}"#
            );
            let (bootstrap, findings, _) = validate(text.as_bytes(), &profile);
            bootstrap
                .unwrap_or_else(|| panic!("{findings:?}"))
                .certificate_providers["p"]
                .has_roots
        };
        let (of_core, of_others) = ("spiffe_bundle_map_file", "spiffe_trust_bundle_map_file");
        assert!(has_roots("cpp", true, of_core));
        assert!(!has_roots("cpp", false, of_core));
        assert!(!has_roots("cpp", true, of_others));
        assert!(has_roots("go", true, of_others));
        assert!(!has_roots("go", false, of_others));
        assert!(has_roots("java", false, of_others));
    }
}
