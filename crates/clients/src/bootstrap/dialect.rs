//! How the families differ in what they take for a bootstrap.
//!
//! C-core's reader is the rule, and this is where others part from it: measured with grpc-go 1.42
//! to 1.85 and grpc-java 1.46 to 1.85 as channels that start with a bootstrap, grpc-js-xds 1.14.1
//! read (`internal/xds/bootstrap`, `BootstrapperImpl`, `xds-bootstrap.ts`).

use super::client_json::JsonDialect;
use xdsctl_model::profile::{Family, Feature, Profile};

/// What a client does with a provider whose plugin it does not have, or whose config is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PluginRule {
    /// It rejects the bootstrap for a plugin that it does not have.
    Known,
    /// It takes any plugin.
    Any,
}

/// What a file_watcher provider needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileRule {
    /// A certificate with its key, or CA certificates; that a key is there counts.
    Core,
    /// The same, where an empty text is none, and certificate and key are in one directory.
    Go,
    /// All three files; nobody looks before a TLS context uses the provider.
    Java,
    /// As C-core, and a refresh_interval.
    Node,
}

/// How one client reads a bootstrap.
#[derive(Debug, Clone, Copy)]
pub struct BootstrapDialect {
    /// Types of channel credentials that it has.
    pub channel_types: &'static [&'static str],
    /// It reads the files of `tls` credentials.
    pub reads_tls_files: bool,
    /// An entry of channel_creds without a type is a fault.
    pub needs_type: bool,
    /// An empty server_uri counts as none.
    pub needs_uri_text: bool,
    /// A server_uri must have a scheme, which agrees with the credentials.
    pub needs_scheme: bool,
    /// `node` must be there, with an id and a locality.
    pub needs_node: bool,
    /// A plugin must be known.
    pub plugin: PluginRule,
    /// A provider must have a config.
    pub needs_config: bool,
    /// The files of a file_watcher.
    pub files: FileRule,
    /// What follows the authority in a template that must begin with it.
    pub after_authority: &'static str,
    /// What its JSON parser takes that C-core's does not.
    pub json: JsonDialect,
    /// The servers behind the first of a list are not looked at.
    pub reads_first_server: bool,
    /// Credentials behind the first that it has are not looked at.
    pub reads_first_creds: bool,
    /// Each of server_features must be a text.
    pub needs_feature_texts: bool,
    /// A list of servers must not be empty; else nobody can be asked, which fails later.
    pub needs_servers: bool,
    /// allowed_grpc_services must be an object, whatever is done with it.
    pub reads_services: bool,
    /// A second server is a fallback; else nobody ever asks it.
    pub falls_back: bool,
}

impl BootstrapDialect {
    /// The dialect of a client.
    pub fn of(profile: &Profile) -> BootstrapDialect {
        let core = BootstrapDialect {
            channel_types: &["google_default", "insecure", "tls", "fake"],
            reads_tls_files: true,
            needs_type: true,
            needs_uri_text: false,
            needs_scheme: false,
            needs_node: false,
            plugin: PluginRule::Known,
            needs_config: false,
            files: FileRule::Core,
            after_authority: "/",
            json: JsonDialect::default(),
            reads_first_server: false,
            reads_first_creds: false,
            needs_feature_texts: false,
            needs_servers: true,
            reads_services: false,
            falls_back: true,
        };
        match profile.client().family {
            Family::Cpp => core,
            Family::Go => BootstrapDialect {
                channel_types: match profile.has(Feature::BootstrapTlsCreds) {
                    true => &["google_default", "insecure", "tls"],
                    false => &["google_default", "insecure"],
                },
                needs_type: false,
                needs_uri_text: true,
                plugin: PluginRule::Any,
                files: FileRule::Go,
                after_authority: "",
                json: JsonDialect {
                    takes_last_key: true,
                    replaces_surrogates: true,
                    ..JsonDialect::default()
                },
                needs_feature_texts: true,
                reads_first_server: profile.has(Feature::BootstrapFirstServer),
                reads_first_creds: profile.has(Feature::BootstrapFirstCreds),
                falls_back: profile.has(Feature::ServerFallback),
                ..core
            },
            Family::Java => BootstrapDialect {
                channel_types: &["google_default", "insecure", "tls"],
                reads_tls_files: false,
                plugin: PluginRule::Any,
                needs_config: true,
                files: FileRule::Java,
                json: JsonDialect {
                    ends_with_value: true,
                    takes_last_key: profile.has(Feature::BootstrapLastKey),
                    replaces_surrogates: true,
                },
                needs_feature_texts: profile.has(Feature::BootstrapFeatureTexts),
                reads_services: profile.has(Feature::BootstrapServicesRead),
                falls_back: profile.has(Feature::ServerFallback),
                ..core
            },
            Family::Node => BootstrapDialect {
                channel_types: &["google_default", "insecure"],
                needs_node: true,
                needs_config: true,
                files: FileRule::Node,
                json: JsonDialect {
                    takes_last_key: true,
                    replaces_surrogates: true,
                    ..JsonDialect::default()
                },
                needs_servers: false,
                falls_back: false,
                ..core
            },
            Family::Rust => BootstrapDialect {
                channel_types: &["insecure", "tls"],
                needs_uri_text: true,
                needs_scheme: true,
                plugin: PluginRule::Any,
                falls_back: false,
                ..core
            },
        }
    }
}
