//! RBAC policies as the client keeps them (A41).

use serde_json::{Value, json};

use super::matcher::{header, string};
use super::object::ParsedObject;
use xdsctl_model::resource::rbac::{AuditCondition, RbacAction, RbacAudit, RbacCondition, RbacPolicy, RbacRules};

/// The parsed form of what is enforced.
pub(super) fn rules(rules: &RbacRules) -> Value {
    let action = match rules.action {
        RbacAction::Allow => "ALLOW",
        RbacAction::Deny => "DENY",
    };
    let policies = rules.policies.iter().map(|(name, own)| (name, policy(own)));
    let object = ParsedObject::new()
        .put("action", action)
        .map("policies", policies)
        .optional("audit_logging_options", rules.audit.as_ref().map(audit));
    match rules.ends_program {
        true => object.put("ends_program", true),
        false => object,
    }
    .done()
}

fn policy(policy: &RbacPolicy) -> Value {
    ParsedObject::new()
        .put("permissions", conditions(&policy.permissions, true))
        .put("principals", conditions(&policy.principals, false))
        .done()
}

fn conditions(list: &[RbacCondition], is_permission: bool) -> Value {
    list.iter().map(|one| condition(one, is_permission)).collect()
}

/// A condition under the name of its field; `{}` for one of no kind.
fn condition(condition: &RbacCondition, is_permission: bool) -> Value {
    let value = match condition {
        RbacCondition::All(list) | RbacCondition::OneOf(list) => conditions(list, is_permission),
        RbacCondition::Not(inner) => self::condition(inner, is_permission),
        RbacCondition::Any => json!(true),
        RbacCondition::Header(matcher) => header(matcher),
        RbacCondition::Path(matcher) | RbacCondition::ServerName(matcher) => string(matcher),
        RbacCondition::Address(_, range) => json!(range.text),
        RbacCondition::DestinationPort(port) => json!(port),
        RbacCondition::DestinationPortRange { start, end } => json!({ "start": start, "end": end }),
        RbacCondition::Metadata { invert } => json!({ "invert": invert }),
        RbacCondition::Authenticated(name) => match name {
            Some(name) => json!({ "principal_name": string(name) }),
            None => json!({}),
        },
        RbacCondition::Unsupported("") => return json!({}),
        RbacCondition::Unsupported(field) => return json!({ "unsupported": field }),
    };
    json!({ condition.field(is_permission): value })
}

fn audit(audit: &RbacAudit) -> Value {
    let condition = match audit.condition {
        AuditCondition::Never => "NONE",
        AuditCondition::OnDeny => "ON_DENY",
        AuditCondition::OnAllow => "ON_ALLOW",
        AuditCondition::Always => "ON_DENY_AND_ALLOW",
    };
    ParsedObject::new()
        .set("audit_condition", condition, "NONE")
        .put("logger_configs", audit.loggers.as_slice())
        .done()
}
