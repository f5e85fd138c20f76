//! The JSON that clients make of the RLS plugin's message: canonical, without fields that have
//! their default value.

use std::collections::BTreeMap;

use prost_types::Duration;
use serde_json::{Value, json};

use super::is_valid;
use xdsctl_document::proto::pb::grpc::lookup::v1::{GrpcKeyBuilder, HttpKeyBuilder, NameMatcher, RouteLookupConfig};
use xdsctl_lb::cds::dynamic_field;
use xdsctl_lb::rls as policy;
use xdsctl_model::profile::Profile;

/// Returns the LB policy of a plugin with this config: the target of each lookup is a cluster.
pub(crate) fn policy_json(config: Value, profile: &Profile) -> Value {
    json!([{
        policy::NAME: {
            "routeLookupConfig": config,
            "childPolicy": [{"cds_experimental": {dynamic_field(profile): true}}],
            "childPolicyConfigTargetFieldName": "cluster",
        }
    }])
}

/// Returns an object without the fields that have their default value.
fn object(mut fields: Value) -> Value {
    if let Value::Object(fields) = &mut fields {
        fields.retain(|_, value| match value {
            Value::Null | Value::Bool(false) => false,
            Value::String(text) => !text.is_empty(),
            Value::Array(list) => !list.is_empty(),
            _ => true,
        });
    }
    fields
}

/// Prints the config as JSON; the error is the name of a Duration that cannot be printed.
pub(crate) fn config_to_json(config: &RouteLookupConfig) -> Result<Value, &'static str> {
    let time = |name, value: &Option<Duration>| {
        let text = value.as_ref().map(|value| duration_to_json(value).ok_or(name));
        text.transpose()
    };
    let http = config.http_keybuilders.iter().map(http_key_builder_to_json);
    let grpc = config.grpc_keybuilders.iter().map(key_builder_to_json);
    let size = config.cache_size_bytes;
    Ok(object(json!({
        "httpKeybuilders": http.collect::<Value>(),
        "grpcKeybuilders": grpc.collect::<Value>(),
        "lookupService": config.lookup_service,
        "lookupServiceTimeout": time("lookup_service_timeout", &config.lookup_service_timeout)?,
        "maxAge": time("max_age", &config.max_age)?,
        "staleAge": time("stale_age", &config.stale_age)?,
        "cacheSizeBytes": (size != 0).then(|| size.to_string()),
        "validTargets": config.valid_targets,
        "defaultTarget": config.default_target,
    })))
}

fn key_builder_to_json(builder: &GrpcKeyBuilder) -> Value {
    let names = builder.names.iter();
    let names = names.map(|name| object(json!({ "service": name.service, "method": name.method })));
    let extra = builder.extra_keys.as_ref();
    let extra = extra.map(|keys| object(json!({ "host": keys.host, "service": keys.service, "method": keys.method })));
    object(json!({
        "names": names.collect::<Value>(),
        "headers": matchers_to_json(&builder.headers),
        "extraKeys": extra,
        "constantKeys": map_to_json(&builder.constant_keys),
    }))
}

fn matchers_to_json(matchers: &[NameMatcher]) -> Value {
    let all = matchers.iter().map(|matcher| {
        object(json!({
            "key": matcher.key,
            "names": matcher.names,
            "requiredMatch": matcher.required_match,
        }))
    });
    all.collect()
}

fn map_to_json(map: &BTreeMap<String, String>) -> Option<Value> {
    (!map.is_empty()).then(|| json!(map))
}

fn http_key_builder_to_json(builder: &HttpKeyBuilder) -> Value {
    object(json!({
        "hostPatterns": builder.host_patterns,
        "pathPatterns": builder.path_patterns,
        "queryParameters": matchers_to_json(&builder.query_parameters),
        "headers": matchers_to_json(&builder.headers),
        "constantKeys": map_to_json(&builder.constant_keys),
        "method": builder.method,
    }))
}

/// Prints a Duration as protobuf does: seconds, then 0, 3, 6 or 9 decimals; `None` for an invalid
/// one.
///
/// A negative nanos with 0 seconds is printed with a sign, which the loader then reads as positive.
fn duration_to_json(value: &Duration) -> Option<String> {
    is_valid(value).then(|| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_printed_as_protobuf_prints_them() {
        for (seconds, nanos, text) in [
            (0, 0, Some("0s")),
            (1, 500_000_000, Some("1.500s")),
            (1, 1000, Some("1.000001s")),
            (0, 1, Some("0.000000001s")),
            (-1, -500_000_000, Some("-1.500s")),
            (0, -5, Some("-0.000000005s")),
            (1, -5, None),
            (0, 1_000_000_000, None),
            (315_576_000_001, 0, None),
        ] {
            let text = text.map(str::to_owned);
            assert_eq!(
                duration_to_json(&Duration { seconds, nanos }),
                text,
                "{seconds} {nanos}"
            );
        }
    }

    #[test]
    fn fields_with_their_default_are_left_out() {
        let config = RouteLookupConfig {
            lookup_service: "dns:///x".to_owned(),
            valid_targets: vec![String::new()],
            grpc_keybuilders: vec![GrpcKeyBuilder {
                extra_keys: Some(Default::default()),
                ..Default::default()
            }],
            ..Default::default()
        };
        assert_eq!(
            config_to_json(&config),
            Ok(json!({"lookupService": "dns:///x", "validTargets": [""], "grpcKeybuilders": [{"extraKeys": {}}]}))
        );
    }
}
