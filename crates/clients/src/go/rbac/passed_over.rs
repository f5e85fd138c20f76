//! Rules that earlier versions of grpc-go pass over while they compile a policy.
//!
//! What is passed over is as if it were not in its list. A list of which one rule must hold matches
//! less without it, and one of which all must hold matches more. Whether that lets somebody in
//! depends on what the policy is for.

use super::{RBAC_RULE_NOT_APPLIED, permission_is_kept, principal_is_kept};
use xdsctl_document::proto::pb::envoy::config::rbac::v3::{Permission, Policy, Principal, permission, principal};
use xdsctl_model::diag::{Effect, Path, Validation};

/// What a list is to its policy.
#[derive(Debug, Clone, Copy)]
struct ListRole {
    /// The policy is for those who may come in, and not for those who may not.
    allows: bool,
    /// The policy matches more without a rule of the list.
    more: bool,
    /// The list stands in a negation.
    is_negated: bool,
}

impl ListRole {
    /// A list below, of which all rules must hold, or one.
    const fn below(self, all: bool) -> ListRole {
        ListRole {
            more: all != self.is_negated,
            ..self
        }
    }

    const fn negated(self) -> ListRole {
        ListRole {
            is_negated: !self.is_negated,
            ..self
        }
    }

    /// Reports that the rule at `at` is passed over.
    fn report(self, field: &str, at: &Path<'_>, cx: &mut Validation<'_>) {
        let is_open = self.more == self.allows;
        let (effect, who) = match is_open {
            true => (Effect::Open, "lets in whom it keeps out"),
            false => (Effect::Dropped, "keeps out whom it lets in"),
        };
        let action = if self.allows { "ALLOW" } else { "DENY" };
        let message = format_args!("grpc-go passes over `{field}`: without it, this {action} policy {who}");
        let found = cx.report_as(effect, &RBAC_RULE_NOT_APPLIED, &at.field(field), message);
        found.help("upgrade to a version that applies the rule, or leave the rule out of what this server gets");
    }
}

/// Reports the rules of a policy that are passed over. Of each list one rule must hold.
pub(super) fn report(policy: &Policy, allows: bool, at: &Path<'_>, cx: &mut Validation<'_>) {
    let role = ListRole {
        allows,
        more: false,
        is_negated: false,
    };
    let list = at.field("permissions");
    for (i, permission) in policy.permissions.iter().enumerate() {
        of_permission(permission, role, &list.index(i), cx);
    }
    let list = at.field("principals");
    for (i, principal) in policy.principals.iter().enumerate() {
        of_principal(principal, role, &list.index(i), cx);
    }
}

fn of_permission(permission: &Permission, role: ListRole, at: &Path<'_>, cx: &mut Validation<'_>) {
    use permission::Rule;
    let (field, set, all) = match &permission.rule {
        Some(Rule::AndRules(set)) => ("and_rules", set, true),
        Some(Rule::OrRules(set)) => ("or_rules", set, false),
        Some(Rule::NotRule(rule)) => return of_permission(rule, role.negated(), &at.field("not_rule"), cx),
        _ if permission_is_kept(permission) => return,
        Some(Rule::Metadata(_)) => return role.report("metadata", at, cx),
        Some(Rule::RequestedServerName(_)) => return role.report("requested_server_name", at, cx),
        Some(_) | None => return role.report("rule", at, cx),
    };
    let at = at.field(field);
    let list = at.field("rules");
    for (i, rule) in set.rules.iter().enumerate() {
        of_permission(rule, role.below(all), &list.index(i), cx);
    }
}

fn of_principal(principal: &Principal, role: ListRole, at: &Path<'_>, cx: &mut Validation<'_>) {
    use principal::Identifier;
    let (field, set, all) = match &principal.identifier {
        Some(Identifier::AndIds(set)) => ("and_ids", set, true),
        Some(Identifier::OrIds(set)) => ("or_ids", set, false),
        Some(Identifier::NotId(id)) => return of_principal(id, role.negated(), &at.field("not_id"), cx),
        _ if principal_is_kept(principal) => return,
        Some(Identifier::Metadata(_)) => return role.report("metadata", at, cx),
        Some(Identifier::SourceIp(_)) => return role.report("source_ip", at, cx),
        Some(_) | None => return role.report("identifier", at, cx),
    };
    let at = at.field(field);
    let list = at.field("ids");
    for (i, id) in set.ids.iter().enumerate() {
        of_principal(id, role.below(all), &list.index(i), cx);
    }
}
