//! Audit logging of RBAC decisions (A59). Behind a switch.
//!
//! Follows C-core `XdsAuditLoggerRegistry` (xds_audit_logger_registry.cc). The client has one
//! logger, to standard output; its config is not read. An application's own loggers are given as a
//! TypedStruct with their registered name. Which loggers there are is not known here, so only the
//! built-in name counts.

use serde_json::{Map, Value, json};

use crate::shared::names::STDOUT_LOGGER;
use crate::shared::rules::{RBAC_AUDIT_LOGGER_MISSING, RBAC_AUDIT_LOGGER_UNKNOWN};
use xdsctl_document::proto::any::{Extension, Payload, extract};
use xdsctl_document::proto::pb::envoy::config::rbac::v3::rbac::AuditLoggingOptions;
use xdsctl_document::proto::pb::envoy::config::rbac::v3::rbac::audit_logging_options::{
    AuditCondition, AuditLoggerConfig,
};
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::profile::Feature;

rules! {
    /// RBAC audit logging is configured, and the client has it switched off.
    RBAC_AUDIT_IGNORED = "rbac-audit-ignored", Filter, Ignored as Warning, "gRFC A59; C-core xds_http_rbac_filter.cc";
    /// The audit_condition is not one of the enum's.
    RBAC_AUDIT_CONDITION_UNKNOWN = "rbac-audit-condition-unknown", Filter, Nack, "gRFC A59; C-core xds_http_rbac_filter.cc";
    /// An optional audit logger is one that the client does not have.
    RBAC_AUDIT_LOGGER_DROPPED = "rbac-audit-logger-dropped", Filter, Dropped, "gRFC A59; C-core ParseXdsAuditLoggerConfig";
}

/// The built-in logger's registered name.
const STDOUT_NAME: &str = "stdout_logger";

/// Checks the options at `at` and adds their JSON to that of the rules.
pub(super) fn convert(
    options: &AuditLoggingOptions,
    json: &mut Map<String, Value>,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    if !cx.has(Feature::RbacAuditLogging) {
        cx.report(
            &RBAC_AUDIT_IGNORED,
            at,
            format_args!(
                "not read: audit logging is off unless {}=true",
                Feature::RbacAuditLogging.env().unwrap_or_default()
            ),
        );
        return;
    }
    let condition = AuditCondition::try_from(options.audit_condition).ok();
    let why = format_args!("audit_condition is {}, must be 0 to 3", options.audit_condition);
    let condition_at = at.field("audit_condition");
    cx.required(condition, &RBAC_AUDIT_CONDITION_UNKNOWN, &condition_at, why);
    json.insert("audit_condition".to_owned(), options.audit_condition.into());
    let at = at.field("logger_configs");
    let loggers: Vec<Value> = options
        .logger_configs
        .iter()
        .enumerate()
        .map(|(i, config)| logger(config, &at.index(i), cx))
        .collect();
    if !loggers.is_empty() {
        json.insert("audit_loggers".to_owned(), loggers.into());
    }
}

/// Returns the JSON of one logger; null for one that is dropped.
fn logger(config: &AuditLoggerConfig, at: &Path<'_>, cx: &mut Validation<'_>) -> Value {
    let at = at.field("audit_logger");
    let (logger, why) = (config.audit_logger.as_ref(), "missing, must say which logger");
    let Some(logger) = cx.required(logger, &RBAC_AUDIT_LOGGER_MISSING, &at, why) else {
        return Value::Null;
    };
    let at = at.field("typed_config");
    let Some(extension) = extract(logger.typed_config.as_ref(), &at, cx) else {
        return Value::Null;
    };
    if let Some(json) = known(&extension) {
        return json;
    }
    let at = extension.at(&at);
    let (rule, what) = match config.is_optional {
        true => (&RBAC_AUDIT_LOGGER_DROPPED, "the optional entry is dropped".to_owned()),
        false => (&RBAC_AUDIT_LOGGER_UNKNOWN, format!("must be `{STDOUT_LOGGER}`")),
    };
    let why = format_args!("gRPC has no audit logger `{}`, {what}", extension.type_name);
    cx.report(rule, &at, why);
    Value::Null
}

fn known(extension: &Extension<'_>) -> Option<Value> {
    match &extension.payload {
        Payload::Wire(_) => (extension.type_name == STDOUT_LOGGER).then(|| json!({ STDOUT_NAME: {} })),
        Payload::Json(config) => (extension.type_name == STDOUT_NAME).then(|| json!({ STDOUT_NAME: config })),
    }
}
