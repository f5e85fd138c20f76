//! Policies that nobody can meet, and those that make no difference beside another (A41).
//!
//! A condition is taken for one that may hold and may not, unless it is certain.

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

/// What is known of every connection.
#[derive(Debug, Clone, Copy, Default)]
pub struct KnownConnection {
    /// It has no TLS.
    pub is_plaintext: bool,
    /// The port that it is to.
    pub port: Option<u16>,
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

/// Says whether a policy may match some RPC on such a connection.
pub fn may_match(policy: &RbacPolicy, known: KnownConnection) -> bool {
    let one_may = |list: &[RbacCondition]| list.iter().any(|one| may_be(one, true, known));
    one_may(&policy.permissions) && one_may(&policy.principals)
}

/// Says whether a policy may match, and none of a connection without TLS does.
pub fn needs_tls(policy: &RbacPolicy) -> bool {
    let plaintext = KnownConnection {
        is_plaintext: true,
        port: None,
    };
    !may_match(policy, plaintext) && may_match(policy, KnownConnection::default())
}

/// Says whether a condition may hold (`true`), or may not hold (`false`). A client takes only trees
/// of a bounded depth.
fn may_be(condition: &RbacCondition, wanted: bool, known: KnownConnection) -> bool {
    match condition {
        RbacCondition::All(list) if wanted => list.iter().all(|one| may_be(one, true, known)),
        RbacCondition::All(list) => list.iter().any(|one| may_be(one, false, known)),
        RbacCondition::OneOf(list) if wanted => list.iter().any(|one| may_be(one, true, known)),
        RbacCondition::OneOf(list) => list.iter().all(|one| may_be(one, false, known)),
        RbacCondition::Not(inner) => may_be(inner, !wanted, known),
        RbacCondition::Any => wanted,
        RbacCondition::Authenticated(_) => !(known.is_plaintext && wanted),
        RbacCondition::DestinationPort(port) => known.port.is_none_or(|own| (u32::from(own) == *port) == wanted),
        RbacCondition::DestinationPortRange { start, end } => known
            .port
            .is_none_or(|own| (*start..*end).contains(&i32::from(own)) == wanted),
        RbacCondition::Header(_)
        | RbacCondition::Path(_)
        | RbacCondition::Address(..)
        | RbacCondition::ServerName(_)
        | RbacCondition::Metadata { .. }
        | RbacCondition::Unsupported(_) => true,
    }
}
