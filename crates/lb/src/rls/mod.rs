//! rls: asks a lookup service which child policy an RPC goes to.
//!
//! The config comes from a cluster specifier plugin of the routes, whose message becomes this JSON,
//! or from a TypedStruct. The child policies get the answer of the lookup in the field that
//! `childPolicyConfigTargetFieldName` names. Validation puts the default target there, or a made-up
//! one.
//!
//! `machine` has the policy at work, `cache` the answers that it keeps, and `throttle` how it
//! spares a service that fails.

mod cache;
mod keys;
mod machine;
mod service_config;
mod target;
mod throttle;

use serde_json::{Map, Value, json};

use super::child_list;
use super::json::{self, ConfigPlace, Faults, LB_JSON_EMPTY};
use crate::metadata::Metadata;
use keys::read_key_builders;
pub use machine::RlsPolicy;
use xdsctl_model::diag::rules;
use xdsctl_model::profile::Profile;
use xdsctl_model::resource::Millis;
pub use xdsctl_model::resource::lb_policy::{KeyBuilder, RlsConfig, RouteLookup};
use xdsctl_model::target_uri;

rules! {
    /// The lookup service is not a target that the client can resolve.
    RLS_LOOKUP_SERVICE_NOT_A_TARGET = "rls-lookup-service-not-a-target", Lb, Nack, "C-core rls.cc; resolver_registry.cc IsValidTarget";
    /// An RLS stale age is set without a maximum age.
    RLS_STALE_AGE_ALONE = "rls-stale-age-alone", Lb, Nack, "C-core rls.cc RouteLookupConfig::JsonPostLoad";
    /// The RLS cache has no size.
    RLS_CACHE_SIZE = "rls-cache-size", Lb, Nack, "C-core rls.cc RouteLookupConfig::JsonPostLoad";
}

/// The name under which gRPC registers the policy, and which configs use.
pub const NAME: &str = "rls_experimental";

/// The longest `staleAge`, and the longest `maxAge` if `staleAge` is not set (C-core rls.h
/// `kMaxMaxAge`).
pub const MAX_AGE: Millis = Millis(300_000);

/// The largest cache, in bytes (C-core rls.cc `kMaxCacheSizeBytes`).
pub const MAX_CACHE_SIZE: i64 = 5 * 1024 * 1024;

/// The default of `lookupServiceTimeout` (C-core rls.h).
pub const DEFAULT_LOOKUP_SERVICE_TIMEOUT: Millis = Millis(10_000);

/// The target with which child policies are validated if there is no default target (C-core
/// rls.cc).
const FAKE_TARGET: &str = "fake_target_field_value";

/// Reads the JSON config.
///
/// # Errors
/// Fails with the faults that the client's loader finds.
pub fn from_json(config: &Map<String, Value>, profile: &Profile) -> Result<RlsConfig, Faults> {
    let mut faults = Faults::new();
    let at = ConfigPlace::TOP;
    let route_lookup = json::required(config, "routeLookupConfig", &at, &mut faults)
        .and_then(|value| read_route_lookup(value, &at.field("routeLookupConfig"), &mut faults));
    let target_field_name = json::required_text(config, "childPolicyConfigTargetFieldName", &at, &mut faults);
    let channel_service_config = config.get("routeLookupChannelServiceConfig");
    if let Some(service_config) = channel_service_config {
        let at = at.field("routeLookupChannelServiceConfig");
        service_config::check(service_config, &at, profile, &mut faults);
    }
    if target_field_name == Some("") {
        json::empty(&at.field("childPolicyConfigTargetFieldName"), &mut faults);
    }
    let target_field_name = target_field_name.unwrap_or_default();
    let default_target = route_lookup
        .as_ref()
        .map_or("", |lookup| lookup.default_target.as_str());
    let child = child_policy(config, target_field_name, default_target, profile, &mut faults);
    match (route_lookup, child) {
        (Some(route_lookup), Some((child_policy_json, child_policy))) if faults.is_empty() => Ok(RlsConfig {
            route_lookup,
            channel_service_config: channel_service_config.cloned(),
            child_policy_json,
            child_policy,
            target_field_name: target_field_name.to_owned(),
        }),
        (_, _) => Err(faults),
    }
}

/// Reads the child policies, with a target set in each.
fn child_policy(
    config: &Map<String, Value>,
    field: &str,
    default_target: &str,
    profile: &Profile,
    faults: &mut Faults,
) -> Option<(Value, Box<super::LbConfig>)> {
    let at = ConfigPlace::TOP.field("childPolicy");
    let Some(list) = config.get("childPolicy") else {
        json::missing(&at, faults);
        return None;
    };
    let target = if default_target.is_empty() {
        FAKE_TARGET
    } else {
        default_target
    };
    let list = with_target(list, field, target, &at, faults)?;
    let chosen = child_list(&list, &at, profile, faults)?;
    let Value::Array(entries) = list else { return None };
    let entry = entries
        .into_iter()
        .find(|entry| entry.get(super::name_of(&chosen)).is_some())?;
    Some((Value::Array(vec![entry]), chosen))
}

/// Returns the list of policies with `field` set to `target` in each. All entries must be
/// well-formed.
pub fn with_target(
    list: &Value,
    field: &str,
    target: &str,
    at: &ConfigPlace<'_>,
    faults: &mut Faults,
) -> Option<Value> {
    let entries = json::list(list, at, faults)?;
    let mut filled = Vec::with_capacity(entries.len());
    for (i, entry) in entries.iter().enumerate() {
        let at = at.index(i);
        let Some(entry) = json::object(entry, &at, faults) else {
            continue;
        };
        let mut pairs = entry.iter();
        let (Some((name, config)), None) = (pairs.next(), pairs.next()) else {
            at.fault(
                &super::LB_JSON_LIST_MALFORMED,
                format_args!("names {} policies, must name 1", entry.len()),
                faults,
            );
            continue;
        };
        if let Some(config) = json::object(config, &at.key(name), faults) {
            let mut config = config.clone();
            config.insert(field.to_owned(), Value::String(target.to_owned()));
            filled.push(json!({ name.as_str(): config }));
        }
    }
    (filled.len() == entries.len()).then_some(Value::Array(filled))
}

/// Reads `routeLookupConfig`. After a fault, only the default target of the result has a meaning.
fn read_route_lookup(value: &Value, at: &ConfigPlace<'_>, faults: &mut Faults) -> Option<RouteLookup> {
    let map = json::object(value, at, faults)?;
    let lookup_service = json::required_text(map, "lookupService", at, faults);
    let lookup_service_timeout =
        json::optional_duration(map, "lookupServiceTimeout", DEFAULT_LOOKUP_SERVICE_TIMEOUT, at, faults);
    let mut max_age = json::optional_duration(map, "maxAge", MAX_AGE, at, faults);
    let mut stale_age = json::optional_duration(map, "staleAge", MAX_AGE, at, faults);
    let at_cache = at.field("cacheSizeBytes");
    let cache_size =
        json::required(map, "cacheSizeBytes", at, faults).map(|value| json::signed(value, 0, &at_cache, faults));
    let at_default = at.field("defaultTarget");
    let default_target = json::optional(map, "defaultTarget").map(|value| json::text(value, &at_default, faults));
    let key_builders = read_key_builders(map, at, faults);
    if let Some(service) = lookup_service
        && let Err(fault) = target_uri::check(service)
    {
        at.field("lookupService").fault(
            &RLS_LOOKUP_SERVICE_NOT_A_TARGET,
            format_args!("`{service}` is not a target URI: {fault}"),
            faults,
        );
    }
    // A null counts as set here, although it is read as absent.
    let stale_age_set = map.contains_key("staleAge");
    if stale_age_set && !map.contains_key("maxAge") {
        at.field("maxAge").fault(
            &RLS_STALE_AGE_ALONE,
            format_args!("missing, must be set beside staleAge"),
            faults,
        );
    }
    stale_age = stale_age.min(MAX_AGE);
    if !stale_age_set {
        max_age = max_age.min(MAX_AGE);
    }
    stale_age = stale_age.min(max_age);
    if let Some(size) = cache_size
        && size.sound
        && size.value <= 0
    {
        at_cache.fault(
            &RLS_CACHE_SIZE,
            format_args!("cache size is {}, must be at least 1 byte", size.value),
            faults,
        );
    }
    let is_empty = match default_target {
        Some(text) => text == Some(""),
        None => map.contains_key("defaultTarget"),
    };
    if is_empty {
        at_default.fault(
            &LB_JSON_EMPTY,
            format_args!("is empty, must not be if it is set"),
            faults,
        );
    }
    Some(RouteLookup {
        key_builders,
        lookup_service: lookup_service.unwrap_or_default().to_owned(),
        lookup_service_timeout,
        max_age,
        stale_age,
        cache_size_bytes: cache_size.map_or(0, |size| size.value).min(MAX_CACHE_SIZE),
        default_target: default_target.flatten().unwrap_or_default().to_owned(),
    })
}

/// Writes the keys of an RPC's lookup for people, without the values of headers that hold secrets.
pub fn shown_keys(lookup: &RouteLookup, rpc: &Metadata<'_>) -> String {
    keys::shown(lookup, &keys::keys(lookup, rpc))
}

/// Writes the config as the client does.
pub fn to_json(config: &RlsConfig) -> Value {
    let lookup = &config.route_lookup;
    let builders: Vec<Value> = lookup
        .key_builders
        .iter()
        .map(|(path, builder)| keys::builder_to_json(builder, path))
        .collect();
    let mut route_lookup = json!({
        "grpcKeybuilders": builders,
        "lookupService": lookup.lookup_service,
        "lookupServiceTimeout": json::duration_to_json(lookup.lookup_service_timeout),
        "maxAge": json::duration_to_json(lookup.max_age),
        "staleAge": json::duration_to_json(lookup.stale_age),
        "cacheSizeBytes": lookup.cache_size_bytes,
    });
    put_filled(&mut route_lookup, "defaultTarget", &lookup.default_target);
    let mut written = json!({
        "routeLookupConfig": route_lookup,
        "childPolicy": config.child_policy_json,
        "childPolicyConfigTargetFieldName": config.target_field_name,
    });
    if let Some(service_config) = &config.channel_service_config {
        written["routeLookupChannelServiceConfig"] = service_config.clone();
    }
    written
}

/// Adds a text to an object unless it is empty.
fn put_filled(object: &mut Value, name: &str, text: &str) {
    if !text.is_empty() {
        object[name] = text.into();
    }
}

/// The rules of the other files of this folder.
pub static PART_RULES: &[&[&xdsctl_model::diag::Rule]] = &[keys::RULES, service_config::RULES];

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> Value {
        json!({
            "routeLookupConfig": {
                "lookupService": "rls.example:443",
                "cacheSizeBytes": "10000000",
                "maxAge": "400s",
                "grpcKeybuilders": [{"names": [{"service": "s"}, {"service": "s", "method": "m"}]}],
            },
            "childPolicy": [{"no_such_policy": {}}, {"cds_experimental": {"isDynamic": true}}],
            "childPolicyConfigTargetFieldName": "cluster",
        })
    }

    fn read(config: &Value) -> Result<RlsConfig, Vec<String>> {
        from_json(config.as_object().unwrap(), &Profile::default())
            .map_err(|faults| faults.into_iter().map(|f| f.path).collect())
    }

    #[test]
    fn ages_and_cache_size_are_clamped() {
        let lookup = |config: &Value| read(config).unwrap().route_lookup;
        let mut config = config();
        assert_eq!(lookup(&config).max_age, MAX_AGE);
        assert_eq!(lookup(&config).cache_size_bytes, MAX_CACHE_SIZE);
        config["routeLookupConfig"]["staleAge"] = json!("500s");
        assert_eq!(lookup(&config).max_age, Millis(400_000));
        assert_eq!(lookup(&config).stale_age, MAX_AGE);
        config["routeLookupConfig"]["maxAge"] = json!("100s");
        assert_eq!(lookup(&config).stale_age, Millis(100_000));
    }

    #[test]
    fn the_target_is_put_into_the_chosen_child() {
        let config = read(&config()).unwrap();
        let wanted = json!([{"cds_experimental": {"cluster": FAKE_TARGET, "isDynamic": true}}]);
        assert_eq!(config.child_policy_json, wanted);
        assert_eq!(
            config.route_lookup.key_builders.keys().collect::<Vec<_>>(),
            ["/s/", "/s/m"]
        );
        assert_eq!(read(&to_json(&config)), Ok(config));
    }

    #[test]
    fn null_counts_as_set_for_the_stale_age_and_the_default_target() {
        let mut config = config();
        config["routeLookupConfig"]["staleAge"] = Value::Null;
        config["routeLookupConfig"].as_object_mut().unwrap().remove("maxAge");
        config["routeLookupConfig"]["defaultTarget"] = Value::Null;
        assert_eq!(
            read(&config).unwrap_err(),
            ["routeLookupConfig.maxAge", "routeLookupConfig.defaultTarget"]
        );
    }

    #[test]
    fn every_child_entry_is_checked_before_one_is_chosen() {
        let mut config = config();
        config["childPolicy"] = json!([{"cds_experimental": {}}, {"round_robin": []}, 5, {}]);
        assert_eq!(
            read(&config).unwrap_err(),
            ["childPolicy[1][\"round_robin\"]", "childPolicy[2]", "childPolicy[3]"]
        );
    }

    #[test]
    fn keys_of_one_builder_differ() {
        let mut config = config();
        config["routeLookupConfig"]["grpcKeybuilders"] = json!([{
            "names": [{"service": "s"}],
            "headers": [{"key": "a", "names": ["h"]}, {"key": "a", "names": ["i"]}],
            "constantKeys": {"b": "v"},
            "extraKeys": {"host": "b", "service": "a", "method": "c"},
        }]);
        let at = |rest: &str| format!("routeLookupConfig.grpcKeybuilders[0].{rest}");
        assert_eq!(
            read(&config).unwrap_err(),
            [at("headers[1].key"), at("extraKeys.host"), at("extraKeys.service")]
        );
    }
}
