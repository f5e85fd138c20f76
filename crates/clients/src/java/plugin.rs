//! Cluster specifier plugins, as grpc-java reads them (XdsRouteConfigureResource
//! `parseClusterSpecifierPlugin`, RouteLookupServiceClusterSpecifierPlugin).
//!
//! The config of RLS is printed as JSON and kept. Its content is only checked when a channel uses
//! it.

use std::collections::BTreeSet;

use super::{is_url_of, is_valid, lb_config, unpack_as};
use crate::shared::names::RLS;
use crate::shared::rls::{config_to_json, policy_json};
use crate::shared::rules::{PLUGIN_NAME_DUPLICATE, PLUGIN_TYPE_UNKNOWN, RLS_CONFIG_MISSING, RLS_CONFIG_NOT_JSON};
use crate::shared::{Checked, reject};
use xdsctl_document::proto::any::{ANY_UNDECODABLE, TYPED_STRUCTS};
use xdsctl_document::proto::pb::Any;
use xdsctl_document::proto::pb::envoy::config::route::v3::ClusterSpecifierPlugin;
use xdsctl_document::proto::pb::grpc::lookup::v1::RouteLookupClusterSpecifier;
use xdsctl_document::proto::pb::xds::r#type::v3::TypedStruct;
use xdsctl_model::diag::{Path, Validation};
use xdsctl_model::profile::{Feature, Profile};
use xdsctl_model::resource::{LbConfig, LbPolicy};

/// The names of the declared plugins, including the optional ones that the client does not have.
pub(super) type JavaPlugins<'m> = BTreeSet<&'m str>;

/// Returns the LB policy that a plugin stands for; `None` if the client does not have it.
pub(super) fn policy(any: &Any, profile: &Profile) -> Option<LbPolicy> {
    if !is_url_of(&any.type_url, RLS) || !profile.has(Feature::RlsLb) {
        return None;
    }
    let message: RouteLookupClusterSpecifier = prost::Message::decode(any.value.clone()).ok()?;
    let json = policy_json(config_to_json(&message.route_lookup_config?).ok()?, profile);
    // The client reads the JSON that it has printed when a channel uses the plugin.
    let refusal = lb_config::read_list(&json, profile).err();
    let config = match xdsctl_lb::parse_list(&json, profile) {
        Ok(config) => config,
        Err(_) if refusal.is_some() => LbConfig::PickFirst(Default::default()),
        Err(_) => return None,
    };
    Some(LbPolicy { config, refusal, json })
}

/// Converts the plugins at `at`.
pub(super) fn parse_all<'m>(
    list: &'m [ClusterSpecifierPlugin],
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Checked<JavaPlugins<'m>> {
    let mut known = JavaPlugins::new();
    let mut passed_over = JavaPlugins::new();
    if !cx.has(Feature::RlsLb) {
        return Ok(known);
    }
    for (i, plugin) in list.iter().enumerate() {
        let at = at.index(i);
        let at = at.field("extension");
        let extension = plugin.extension.as_ref();
        let name = extension.map_or("", |extension| extension.name.as_str());
        if !parse(plugin, &at.field("typed_config"), cx)? {
            passed_over.insert(name);
        } else if !known.insert(name) {
            let message = format_args!("plugin name `{name}` is that of an earlier plugin");
            return Err(reject(&PLUGIN_NAME_DUPLICATE, &at.field("name"), message, cx));
        }
    }
    known.append(&mut passed_over);
    Ok(known)
}

/// Converts a plugin; says whether the client has it.
fn parse(plugin: &ClusterSpecifierPlugin, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked<bool> {
    let empty = Any::default();
    let extension = plugin.extension.as_ref();
    let any = extension
        .and_then(|extension| extension.typed_config.as_ref())
        .unwrap_or(&empty);
    let wrapper = TYPED_STRUCTS.into_iter().find(|name| is_url_of(&any.type_url, name));
    let inner = match wrapper {
        Some(wrapper) => Some(unpack_as::<TypedStruct>(any, wrapper, at, cx)?.type_url),
        None => None,
    };
    let url = inner.as_ref().unwrap_or(&any.type_url);
    if !is_url_of(url, RLS) {
        if plugin.is_optional {
            return Ok(false);
        }
        let message = format_args!("the client has no cluster specifier plugin of type `{url}`");
        return Err(reject(&PLUGIN_TYPE_UNKNOWN, at, message, cx));
    }
    if inner.is_some() {
        let message = format_args!("`{url}` is given as a TypedStruct, must be the message itself");
        return Err(reject(&ANY_UNDECODABLE, at, message, cx));
    }
    let message: RouteLookupClusterSpecifier = unpack_as(any, RLS, at, cx)?;
    let at = at.value(RLS);
    let at = at.field("route_lookup_config");
    let Some(config) = &message.route_lookup_config else {
        let message = format_args!("route_lookup_config is missing");
        return Err(reject(&RLS_CONFIG_MISSING, &at, message, cx));
    };
    for (field, duration) in [
        ("lookup_service_timeout", &config.lookup_service_timeout),
        ("max_age", &config.max_age),
        ("stale_age", &config.stale_age),
    ] {
        if let Some(duration) = duration.as_ref().filter(|duration| !is_valid(duration)) {
            let message = format_args!("{} s and {} ns are no duration", duration.seconds, duration.nanos);
            return Err(reject(&RLS_CONFIG_NOT_JSON, &at.field(field), message, cx));
        }
    }
    Ok(true)
}
