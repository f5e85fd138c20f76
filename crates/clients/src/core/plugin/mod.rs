//! Cluster specifier plugins: extensions that choose a cluster per RPC, and their place in a
//! RouteConfiguration.
//!
//! There is one, RLS; `plugin/rls.rs` turns it into the LB policy config that the channel uses.
//! Follows C-core `ClusterSpecifierPluginParse` (xds_route_config_parser.cc): every plugin is
//! validated, used or not; one with a fault still counts as declared, so that routes that name it
//! get no finding of their own.

pub mod rls;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::shared::names::RLS;
use crate::shared::read::used_plugins;
use crate::shared::rules::{PLUGIN_NAME_DUPLICATE, PLUGIN_TYPE_UNKNOWN};
use xdsctl_document::proto::any::extract;
use xdsctl_document::proto::pb::envoy::config::core::v3::TypedExtensionConfig;
use xdsctl_document::proto::pb::envoy::config::route::v3::ClusterSpecifierPlugin as Pb;
use xdsctl_model::diag::Effect;
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::LbPolicy;
use xdsctl_model::resource::route::VirtualHost;

rules! {
    /// A cluster specifier plugin has no extension.
    PLUGIN_WITHOUT_EXTENSION = "rds-plugin-without-extension", RouteConfiguration, Nack, "C-core ClusterSpecifierPluginParse";
    /// An optional cluster specifier plugin of a type that the client does not have is dropped, with its routes.
    PLUGIN_OPTIONAL_DROPPED = "rds-plugin-dropped", RouteConfiguration, Dropped, "C-core ClusterSpecifierPluginParse",
        also [Go Java] "an optional plugin that the client does not have is left out (A28)";
    /// A cluster specifier plugin that no kept route uses is dropped.
    PLUGIN_UNUSED = "rds-plugin-unused", RouteConfiguration, Advice as Note, "C-core XdsRouteConfigResourceParse";
    /// Cluster specifier plugins are switched off.
    PLUGINS_SWITCHED_OFF = "rds-plugins-switched-off", RouteConfiguration, Ignored as Warning, "C-core XdsRlsEnabled";
}

/// The plugins of a RouteConfiguration while its routes are converted.
#[derive(Debug, Default)]
pub struct Plugins(BTreeMap<String, Entry>);

#[derive(Debug)]
struct Entry {
    index: usize,
    state: State,
}

/// What is known of a plugin.
#[derive(Debug)]
enum State {
    /// The plugin has a fault, which is reported.
    Faulty,
    /// The plugin is optional and unknown: routes to it are dropped.
    Dropped,
    /// The plugin is valid, and stands for this LB policy.
    Policy(Arc<LbPolicy>),
}

impl Plugins {
    /// Says whether a plugin of this name is declared, faulty or not.
    pub fn is_declared(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Says whether routes to this plugin are dropped.
    pub fn is_dropped(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|e| matches!(e.state, State::Dropped))
    }

    /// Returns the names of the declared plugins, in their order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Returns the LB policy of each plugin that a kept route uses; `at` is the path of the field.
    ///
    /// Plugins that no route uses are noted, unless a route was `rejected`: it may have been the
    /// one that uses them.
    pub fn into_used(
        self,
        (hosts, rejected): (&[VirtualHost], bool),
        at: &Path<'_>,
        cx: &mut Validation<'_>,
    ) -> BTreeMap<String, Arc<LbPolicy>> {
        let names = used_plugins(hosts);
        let mut used = BTreeMap::new();
        for (name, entry) in self.0 {
            match entry.state {
                State::Policy(policy) if names.contains(name.as_str()) => {
                    used.insert(name, policy);
                }
                State::Policy(_) if !rejected => {
                    cx.report(
                        &PLUGIN_UNUSED,
                        &at.index(entry.index),
                        format_args!("no route that the client keeps uses plugin `{name}`"),
                    );
                }
                State::Policy(_) | State::Faulty | State::Dropped => {}
            }
        }
        used
    }
}

/// Converts `cluster_specifier_plugins` at `list_at`.
pub fn from_proto(messages: &[Pb], list_at: &Path<'_>, cx: &mut Validation<'_>) -> Plugins {
    let mut plugins = Plugins::default();
    if !cx.has(Feature::RlsLb) {
        if !messages.is_empty() {
            cx.report(
                &PLUGINS_SWITCHED_OFF,
                list_at,
                format_args!("not read, because {} is off", Feature::RlsLb.env().unwrap_or_default()),
            );
        }
        return plugins;
    }
    for (index, message) in messages.iter().enumerate() {
        let at = list_at.index(index);
        let at = at.field("extension");
        let Some(extension) = &message.extension else {
            let effect = match cx.has(Feature::PluginCrash) {
                true => Effect::Fails,
                false => Effect::Nack,
            };
            cx.report_as(
                effect,
                &PLUGIN_WITHOUT_EXTENSION,
                &at,
                format_args!("missing, must hold a name and a typed_config"),
            );
            continue;
        };
        if let Some(first) = plugins.0.get(&extension.name) {
            let first_at = list_at.index(first.index);
            cx.report(
                &PLUGIN_NAME_DUPLICATE,
                &at.field("name"),
                format_args!("plugin name `{}` is not unique", extension.name),
            )
            .related(first_at.field("extension").field("name").to_owned(), "first used here");
        }
        let state = config(extension, message.is_optional, &at.field("typed_config"), cx);
        plugins
            .0
            .entry(extension.name.clone())
            .or_insert(Entry { index, state });
    }
    plugins
}

/// Converts the plugin's config at `at`, the path of its `typed_config`.
fn config(extension: &TypedExtensionConfig, is_optional: bool, at: &Path<'_>, cx: &mut Validation<'_>) -> State {
    let Some(plugin) = extract(extension.typed_config.as_ref(), at, cx) else {
        return State::Faulty;
    };
    let value_at = plugin.at(at);
    if plugin.type_name != RLS {
        let (rule, what, state) = match is_optional {
            true => (
                &PLUGIN_OPTIONAL_DROPPED,
                " and it is optional: it is dropped, with the routes that use it".to_owned(),
                State::Dropped,
            ),
            false => (&PLUGIN_TYPE_UNKNOWN, format!(", must be `{RLS}`"), State::Faulty),
        };
        let name = &plugin.type_name;
        cx.report(rule, &value_at, format_args!("the client has no plugin `{name}`{what}"));
        return state;
    }
    rls::lb_policy(&plugin, &value_at, at, cx).map_or(State::Faulty, State::Policy)
}
