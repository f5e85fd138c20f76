//! RBAC policies that nobody can meet on some connections (A41).
//!
//! Unless the answer is certain, a condition is assumed to be able both to hold and not to hold.

use xdsctl_model::resource::matcher::{StringMatch, StringMatcher};
use xdsctl_model::resource::rbac::{RbacCondition, RbacPolicy};

/// What is known of every connection of a filter chain.
#[derive(Debug, Clone, Copy, Default)]
pub struct KnownConnection {
    /// The connection has no TLS.
    pub is_plaintext: bool,
    /// The server has not asked for a certificate: over TLS the client's name is empty.
    pub is_without_certificate: bool,
    /// The port that the connection goes to, if it is known.
    pub port: Option<u16>,
}

/// Says whether a policy may match some RPC on such a connection.
pub fn may_match(policy: &RbacPolicy, known: KnownConnection) -> bool {
    let one_may = |list: &[RbacCondition]| list.iter().any(|one| may_be(one, true, known));
    one_may(&policy.permissions) && one_may(&policy.principals)
}

/// Says whether a policy may match, but only on a connection with TLS.
pub fn needs_tls(policy: &RbacPolicy) -> bool {
    let plaintext = KnownConnection {
        is_plaintext: true,
        ..KnownConnection::default()
    };
    !may_match(policy, plaintext) && may_match(policy, KnownConnection::default())
}

/// Says whether a condition may have the outcome `wanted`. Clients accept only trees of bounded
/// depth.
pub(crate) fn may_be(condition: &RbacCondition, wanted: bool, known: KnownConnection) -> bool {
    match condition {
        RbacCondition::All(list) if wanted => list.iter().all(|one| may_be(one, true, known)),
        RbacCondition::All(list) => list.iter().any(|one| may_be(one, false, known)),
        RbacCondition::OneOf(list) if wanted => list.iter().any(|one| may_be(one, true, known)),
        RbacCondition::OneOf(list) => list.iter().all(|one| may_be(one, false, known)),
        RbacCondition::Not(inner) => may_be(inner, !wanted, known),
        RbacCondition::Any => wanted,
        RbacCondition::Authenticated(_) if known.is_plaintext => !wanted,
        RbacCondition::Authenticated(Some(matcher)) if known.is_without_certificate => !wanted || may_be_empty(matcher),
        RbacCondition::Authenticated(_) => true,
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

/// Says whether a matcher may match an empty text.
fn may_be_empty(matcher: &StringMatcher) -> bool {
    match &matcher.kind {
        StringMatch::Exact(text)
        | StringMatch::Prefix(text)
        | StringMatch::Suffix(text)
        | StringMatch::Contains(text) => text.is_empty(),
        StringMatch::Regex(_) => true,
    }
}
