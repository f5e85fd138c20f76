//! The RLS cluster specifier plugin (internal/xds/clusterspecifier/rls, balancer/rls `ParseConfig`,
//! keys `MakeBuilderMap`).
//!
//! The plugin is part of xDS, but the LB policy that reads its config is a package that a program
//! imports. The client stops at the first fault.

use std::collections::BTreeSet;

use super::target::{SCHEMES, scheme};
use super::{is_url_of, unmarshal};
use crate::shared::names::RLS;
use crate::shared::rls::{config_to_json, policy_json};
use crate::shared::rules::{PLUGIN_TYPE_UNKNOWN, RLS_CONFIG_NOT_JSON, RLS_CONFIG_REJECTED};
use crate::shared::{Checked, reject};
use xdsctl_document::proto::pb::Any;
use xdsctl_document::proto::pb::grpc::lookup::v1::{GrpcKeyBuilder, RouteLookupClusterSpecifier, RouteLookupConfig};
use xdsctl_model::diag::{Effect, Path, Validation};
use xdsctl_model::profile::{Feature, Profile};
use xdsctl_model::resource::{LbPolicy, MAX_DURATION_SECONDS};

use crate::shared::ConverterStop;

/// Returns the LB policy that the plugin stands for; `None` if the program does not bring it.
pub(super) fn policy(any: &Any, profile: &Profile) -> Option<LbPolicy> {
    if !is_url_of(&any.type_url, RLS) || !profile.has(Feature::RlsLb) || !profile.has(Feature::RlsPolicy) {
        return None;
    }
    let message: RouteLookupClusterSpecifier = prost::Message::decode(any.value.clone()).ok()?;
    let json = policy_json(config_to_json(&message.route_lookup_config?).ok()?, profile);
    let config = xdsctl_lb::parse_list(&json, profile).ok()?;
    Some(LbPolicy {
        config,
        refusal: None,
        json,
    })
}

/// Checks the config of a plugin at `at` (`ParseClusterSpecifierConfig`).
pub(super) fn check(any: &Any, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    if !cx.has(Feature::RlsPolicy) {
        let message =
            format_args!("the program does not import balancer/rls, without which there is no plugin of type `{RLS}`");
        cx.report_as(Effect::Nack, &PLUGIN_TYPE_UNKNOWN, at, message)
            .help("import google.golang.org/grpc/balancer/rls in the program; --with rls answers for one that does");
        return Err(ConverterStop::Rejected);
    }
    let message: RouteLookupClusterSpecifier = unmarshal(&any.value, RLS, at, cx)?;
    let at = at.value(RLS);
    let config = message.route_lookup_config.unwrap_or_default();
    if let Err(field) = config_to_json(&config) {
        let message = format_args!(
            "{field} is not a Duration: seconds must be within {MAX_DURATION_SECONDS} of 0, nanos within 999999999, of the same sign"
        );
        return Err(reject(&RLS_CONFIG_NOT_JSON, &at, message, cx));
    }
    let at = at.field("route_lookup_config");
    key_builders(&config.grpc_keybuilders, &at.field("grpc_keybuilders"), cx)?;
    lookup(&config, &at, cx)
}

/// Stops at a fault of the config, if there is one.
fn refuse_if(is_fault: bool, at: &Path<'_>, why: std::fmt::Arguments<'_>, cx: &mut Validation<'_>) -> Checked {
    if is_fault {
        Err(reject(&RLS_CONFIG_REJECTED, at, why, cx))
    } else {
        Ok(())
    }
}

fn key_builders(builders: &[GrpcKeyBuilder], at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let why = format_args!("there is no grpc_keybuilder, must be at least one");
    refuse_if(builders.is_empty(), at, why, cx)?;
    let mut paths = BTreeSet::new();
    for (i, builder) in builders.iter().enumerate() {
        let at = at.index(i);
        keys(builder, &at, cx)?;
        let names = at.field("names");
        let why = format_args!("there is no name, must be at least one");
        refuse_if(builder.names.is_empty(), &names, why, cx)?;
        for (i, name) in builder.names.iter().enumerate() {
            let at = names.index(i);
            let (service, method) = (name.service.as_str(), name.method.as_str());
            let why = format_args!("the service is empty");
            refuse_if(service.is_empty(), &at.field("service"), why, cx)?;
            let why = format_args!("method `{method}` has a slash");
            let is_bad = method.contains('/') && cx.has(Feature::RlsMethodChecked);
            refuse_if(is_bad, &at.field("method"), why, cx)?;
            let why = format_args!("`/{service}/{method}` is that of an earlier name");
            refuse_if(!paths.insert(format!("/{service}/{method}")), &at, why, cx)?;
        }
    }
    Ok(())
}

/// Checks the keys of a builder: no key may be there twice.
fn keys<'b>(builder: &'b GrpcKeyBuilder, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let mut seen: BTreeSet<&'b str> = builder.constant_keys.keys().map(String::as_str).collect();
    let headers = at.field("headers");
    for (i, header) in builder.headers.iter().enumerate() {
        let at = headers.index(i);
        let why = format_args!("required_match is set, must not be");
        refuse_if(header.required_match, &at.field("required_match"), why, cx)?;
        let key = header.key.as_str();
        let why = format_args!("key `{key}` is that of an earlier one");
        refuse_if(!seen.insert(key), &at.field("key"), why, cx)?;
    }
    let empty = Default::default();
    let extra = builder.extra_keys.as_ref().unwrap_or(&empty);
    for (field, key) in [
        ("host", &extra.host),
        ("service", &extra.service),
        ("method", &extra.method),
    ] {
        let at = at.field("extra_keys");
        let why = format_args!("key `{key}` is that of an earlier one");
        refuse_if(seen.contains(key.as_str()), &at.field(field), why, cx)?;
    }
    Ok(())
}

/// Checks the lookup service, the ages and the size of the cache.
fn lookup(config: &RouteLookupConfig, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let service = config.lookup_service.as_str();
    let service_at = at.field("lookup_service");
    let why = format_args!("there is no lookup_service");
    refuse_if(service.is_empty(), &service_at, why, cx)?;
    match scheme(service) {
        None => return refuse_if(true, &service_at, format_args!("`{service}` is not a URI"), cx),
        Some(scheme) if !SCHEMES.contains(&scheme.as_str()) => {
            let message = format_args!("`{scheme}` of `{service}` is taken for a scheme, and has no resolver");
            cx.report_as(Effect::Nack, &RLS_CONFIG_REJECTED, &service_at, message)
                .help("write a host with its port as `dns:///HOST:PORT`");
            return Err(ConverterStop::Rejected);
        }
        Some(_) => {}
    }
    let is_set = |age: &Option<prost_types::Duration>| age.is_some_and(|age| age.seconds != 0 || age.nanos != 0);
    let why = format_args!("stale_age is set, and max_age is not");
    let is_alone = is_set(&config.stale_age) && !is_set(&config.max_age);
    refuse_if(is_alone, &at.field("stale_age"), why, cx)?;
    let why = format_args!("cache_size_bytes is {}, must be above 0", config.cache_size_bytes);
    refuse_if(config.cache_size_bytes <= 0, &at.field("cache_size_bytes"), why, cx)
}
