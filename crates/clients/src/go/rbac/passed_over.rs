//! Rules that earlier versions of grpc-go pass over while they compile a policy.
//!
//! A rule that is passed over counts as if it were not in its list. A list of which one rule must
//! hold matches less without it, and a list of which all must hold matches more. Whether that lets
//! somebody in depends on what the policy is for.

use super::{RBAC_RULE_NOT_APPLIED, is_kept};
use crate::shared::conditions::{self, Condition, ConditionKind, Conditions};
use xdsctl_document::proto::pb::envoy::config::rbac::v3::Policy;
use xdsctl_model::diag::{Effect, Path, Validation};

/// How a list of rules affects its policy.
#[derive(Debug, Clone, Copy)]
struct ListRole {
    /// The policy lets in whoever matches it (ALLOW); otherwise it keeps them out (DENY).
    allows: bool,
    /// The policy matches more without a rule of the list.
    more: bool,
    /// The list is inside of a negation.
    is_negated: bool,
}

impl ListRole {
    /// Returns the role of a list inside of this one. With `all`, every rule of it must hold,
    /// otherwise one.
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

/// Reports the rules of a policy that are passed over. Of its permissions and its principals, one
/// each must hold.
pub(super) fn report(policy: &Policy, allows: bool, at: &Path<'_>, cx: &mut Validation<'_>) {
    let role = ListRole {
        allows,
        more: false,
        is_negated: false,
    };
    for (field, list) in conditions::lists(policy) {
        of_list(list, role, &at.field(field), cx);
    }
}

fn of_list(list: Conditions<'_>, role: ListRole, at: &Path<'_>, cx: &mut Validation<'_>) {
    for (i, one) in list.iter().enumerate() {
        of_condition(one, role, &at.index(i), cx);
    }
}

fn of_condition(condition: Condition<'_>, role: ListRole, at: &Path<'_>, cx: &mut Validation<'_>) {
    let fields = condition.fields();
    let (field, list, all) = match condition.kind() {
        ConditionKind::All(list) => (fields.all, list, true),
        ConditionKind::OneOf(list) => (fields.one_of, list, false),
        ConditionKind::Not(inner) => return of_condition(inner, role.negated(), &at.field(fields.not), cx),
        _ if is_kept(condition) => return,
        ConditionKind::Metadata(_) => return role.report("metadata", at, cx),
        ConditionKind::ServerName(_) => return role.report("requested_server_name", at, cx),
        ConditionKind::Address(which, _) => return role.report(which.field(), at, cx),
        _ => return role.report(fields.oneof, at, cx),
    };
    of_list(list, role.below(all), &at.field(field).field(fields.list), cx);
}
