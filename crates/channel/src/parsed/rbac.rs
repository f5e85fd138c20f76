//! RBAC policies as the client keeps them (A41).

use super::fields::{FieldValue, Fields, Form};
use xdsctl_model::resource::rbac::{AuditCondition, RbacAction, RbacAudit, RbacCondition, RbacPolicy, RbacRules};

impl Fields for RbacRules {
    fn fields<'a>(&'a self, form: &mut Form<'a, '_>) {
        let action = match self.action {
            RbacAction::Allow => "ALLOW",
            RbacAction::Deny => "DENY",
        };
        form.put("action", action)
            .map("policies", &self.policies)
            .optional("audit_logging_options", self.audit.as_ref());
        if self.ends_program {
            form.put("ends_program", true);
        }
    }
}

impl Fields for RbacPolicy {
    fn fields<'a>(&'a self, form: &mut Form<'a, '_>) {
        form.put("permissions", conditions(&self.permissions, true))
            .put("principals", conditions(&self.principals, false));
    }
}

fn conditions(list: &[RbacCondition], is_permission: bool) -> FieldValue<'_> {
    FieldValue::list(list.iter().map(|one| condition(one, is_permission)))
}

/// Makes an object with a condition under the name of its field; `{}` if the condition has no kind.
fn condition(condition: &RbacCondition, is_permission: bool) -> FieldValue<'_> {
    let value = match condition {
        RbacCondition::All(list) | RbacCondition::OneOf(list) => conditions(list, is_permission),
        RbacCondition::Not(inner) => self::condition(inner, is_permission),
        RbacCondition::Any => true.into(),
        RbacCondition::Header(matcher) => matcher.into(),
        RbacCondition::Path(matcher) | RbacCondition::ServerName(matcher) => matcher.into(),
        RbacCondition::Address(_, range) => (&range.text).into(),
        RbacCondition::DestinationPort(port) => (*port).into(),
        RbacCondition::DestinationPortRange { start, end } => FieldValue::Map(vec![
            ("start", i64::from(*start).into()),
            ("end", i64::from(*end).into()),
        ]),
        RbacCondition::Metadata { invert } => FieldValue::Map(vec![("invert", (*invert).into())]),
        RbacCondition::Authenticated(name) => {
            let name = name.iter().map(|name| ("principal_name", name.into()));
            FieldValue::Map(name.collect())
        }
        RbacCondition::Unsupported("") => return FieldValue::Map(Vec::new()),
        RbacCondition::Unsupported(field) => return FieldValue::Map(vec![("unsupported", (*field).into())]),
    };
    FieldValue::Map(vec![(condition.field(is_permission), value)])
}

impl Fields for RbacAudit {
    fn fields<'a>(&'a self, form: &mut Form<'a, '_>) {
        let condition = match self.condition {
            AuditCondition::Never => "NONE",
            AuditCondition::OnDeny => "ON_DENY",
            AuditCondition::OnAllow => "ON_ALLOW",
            AuditCondition::Always => "ON_DENY_AND_ALLOW",
        };
        form.set("audit_condition", condition, "NONE")
            .items("logger_configs", &self.loggers);
    }
}
