//! The JSON that clients make of the RLS plugin's message: canonical, without fields that have
//! their default value.

use prost_types::Duration;
use serde_json::{Map, Value, json};

use xdsctl_document::proto::pb::grpc::lookup::v1::{GrpcKeyBuilder, HttpKeyBuilder, NameMatcher, RouteLookupConfig};
use xdsctl_lb::cds::dynamic_field;
use xdsctl_lb::rls as policy;
use xdsctl_model::profile::Profile;
use xdsctl_model::resource::MAX_DURATION_SECONDS;

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

/// Collects the fields of a JSON object, and leaves out those that have their default value.
#[derive(Default)]
struct RlsObject(Map<String, Value>);

impl RlsObject {
    fn text(&mut self, name: &str, value: &str) {
        if !value.is_empty() {
            self.0.insert(name.to_owned(), Value::from(value));
        }
    }

    fn texts(&mut self, name: &str, values: &[String]) {
        self.list(name, values, |value| Value::from(value.as_str()));
    }

    fn list<T>(&mut self, name: &str, values: &[T], to_json: impl Fn(&T) -> Value) {
        if !values.is_empty() {
            self.0.insert(name.to_owned(), values.iter().map(to_json).collect());
        }
    }

    fn map(&mut self, name: &str, values: &std::collections::BTreeMap<String, String>) {
        if !values.is_empty() {
            self.0.insert(name.to_owned(), json!(values));
        }
    }
}

/// Prints the config as JSON; the error is the name of a Duration that cannot be printed.
pub(crate) fn config_to_json(config: &RouteLookupConfig) -> Result<Value, &'static str> {
    let mut object = RlsObject::default();
    object.list("httpKeybuilders", &config.http_keybuilders, http_key_builder_to_json);
    object.list("grpcKeybuilders", &config.grpc_keybuilders, key_builder_to_json);
    object.text("lookupService", &config.lookup_service);
    for (name, json_name, value) in [
        (
            "lookup_service_timeout",
            "lookupServiceTimeout",
            &config.lookup_service_timeout,
        ),
        ("max_age", "maxAge", &config.max_age),
        ("stale_age", "staleAge", &config.stale_age),
    ] {
        if let Some(value) = value {
            object.text(json_name, &duration_to_json(value).ok_or(name)?);
        }
    }
    if config.cache_size_bytes != 0 {
        object.text("cacheSizeBytes", &config.cache_size_bytes.to_string());
    }
    object.texts("validTargets", &config.valid_targets);
    object.text("defaultTarget", &config.default_target);
    Ok(Value::Object(object.0))
}

fn key_builder_to_json(builder: &GrpcKeyBuilder) -> Value {
    let mut object = RlsObject::default();
    object.list("names", &builder.names, |name| {
        let mut object = RlsObject::default();
        object.text("service", &name.service);
        object.text("method", &name.method);
        Value::Object(object.0)
    });
    object.list("headers", &builder.headers, name_matcher_to_json);
    if let Some(extra) = &builder.extra_keys {
        let mut keys = RlsObject::default();
        keys.text("host", &extra.host);
        keys.text("service", &extra.service);
        keys.text("method", &extra.method);
        object.0.insert("extraKeys".to_owned(), Value::Object(keys.0));
    }
    object.map("constantKeys", &builder.constant_keys);
    Value::Object(object.0)
}

fn name_matcher_to_json(matcher: &NameMatcher) -> Value {
    let mut object = RlsObject::default();
    object.text("key", &matcher.key);
    object.texts("names", &matcher.names);
    if matcher.required_match {
        object.0.insert("requiredMatch".to_owned(), Value::Bool(true));
    }
    Value::Object(object.0)
}

fn http_key_builder_to_json(builder: &HttpKeyBuilder) -> Value {
    let mut object = RlsObject::default();
    object.texts("hostPatterns", &builder.host_patterns);
    object.texts("pathPatterns", &builder.path_patterns);
    object.list("queryParameters", &builder.query_parameters, name_matcher_to_json);
    object.list("headers", &builder.headers, name_matcher_to_json);
    object.map("constantKeys", &builder.constant_keys);
    object.text("method", &builder.method);
    Value::Object(object.0)
}

/// Prints a Duration as protobuf does: seconds, then 0, 3, 6 or 9 decimals; `None` for an invalid
/// one.
///
/// A negative nanos with 0 seconds is printed with a sign, which the loader then reads as positive.
fn duration_to_json(value: &Duration) -> Option<String> {
    let (seconds, nanos) = (value.seconds.unsigned_abs(), value.nanos.unsigned_abs());
    let signs_differ = value.seconds != 0 && value.nanos != 0 && (value.seconds < 0) != (value.nanos < 0);
    if seconds > MAX_DURATION_SECONDS.unsigned_abs() || nanos > 999_999_999 || signs_differ {
        return None;
    }
    let sign = if value.seconds < 0 || value.nanos < 0 { "-" } else { "" };
    let (millis, micros) = (nanos / 1_000_000, nanos / 1000);
    Some(if nanos == 0 {
        format!("{sign}{seconds}s")
    } else if nanos.is_multiple_of(1_000_000) {
        format!("{sign}{seconds}.{millis:03}s")
    } else if nanos.is_multiple_of(1000) {
        format!("{sign}{seconds}.{micros:06}s")
    } else {
        format!("{sign}{seconds}.{nanos:09}s")
    })
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
