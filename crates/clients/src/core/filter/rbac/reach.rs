//! Policies that make no difference beside another, and filters that let nobody in (A41).

use crate::shared::reach::{KnownConnection, may_be};
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::resource::rbac::{RbacAction, RbacCondition, RbacPolicy, RbacRules};

rules! {
    /// The action is ALLOW and there are no policies, so nobody is let in.
    RBAC_NOBODY_LET_IN = "rbac-nobody-let-in", Filter, Advice, "gRFC A41; C-core GrpcAuthorizationEngine::Evaluate",
        also [Go Java] "each lets in what an ALLOW policy matches, and nothing else";
    /// A policy makes no difference, because another one matches every RPC.
    RBAC_POLICY_SHADOWED = "rbac-policy-shadowed", Filter, Advice, "gRFC A41; C-core GrpcAuthorizationEngine::Evaluate",
        also [Go Java] "in each a policy that matches decides alone";
}

/// Looks at the policies of a filter.
pub(super) fn check(rules: &RbacRules, at: &Path<'_>, cx: &mut Validation<'_>) {
    if rules.action == RbacAction::Allow && rules.policies.is_empty() {
        let message = format_args!("action is ALLOW and there are no policies, so nobody is let in");
        cx.report(&RBAC_NOBODY_LET_IN, at, message);
        return;
    }
    let nothing = KnownConnection::default();
    let always = |list: &[RbacCondition]| list.iter().any(|one| !may_be(one, false, nothing));
    let is_for_all = |policy: &RbacPolicy| always(&policy.permissions) && always(&policy.principals);
    let Some((winner, _)) = rules.policies.iter().find(|(_, policy)| is_for_all(policy)) else {
        return;
    };
    let end = match rules.action {
        RbacAction::Allow => "lets everybody in",
        RbacAction::Deny => "keeps everybody out",
    };
    let policies_at = at.field("policies");
    for name in rules.policies.keys().filter(|name| *name != winner) {
        let message = format_args!("the policy makes no difference: policy `{winner}` {end}");
        cx.report(&RBAC_POLICY_SHADOWED, &policies_at.key(name), message);
    }
}
